"""A port of this machine that stays a server's own while the server is dead."""

from __future__ import annotations

import os
import socket
import sys
import weakref


def kept_for(server: object) -> int:
    """A free port on 127.0.0.1 that no other test gets while this object lives; the program
    that it starts can listen there.

    Note: a port that was free a moment ago is not free for long. Of
    thousands of connections of tests that run beside, one gets it as its own end while the server
    is down, and the server can't come back. So a socket stays bound to it, without listening: Linux
    gives the port to no connection and to no program that asks for any free one, but lets a program
    listen there which names it and says SO_REUSEADDR, as servers do. A connection to it is refused
    meanwhile, as to a server that is down. Other systems have other rules, so there the port is
    only one that was free.
    """
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind(("127.0.0.1", 0))
    port: int = bound.getsockname()[1]
    if sys.platform == "linux":
        weakref.finalize(server, os.close, bound.detach())
    else:
        bound.close()
    return port
