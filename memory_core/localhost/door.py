"""The socket that a development host listens on, and what it says on the terminal.

Nothing that takes long to import is imported here: a parent of workers needs no more.
"""

from __future__ import annotations

import errno
import os
import socket
import sys
from contextlib import suppress


def say(text: str) -> None:
    """Print, at once: a reader at the end of a pipe waits for it. A terminal that is gone, or a
    disk that is full under the output, is no reason to end a host.
    """
    with suppress(OSError):
        print(text, flush=True)


def address_of(server_socket: socket.socket) -> str:
    """The URL of a listening socket, with the port that it really got."""
    host, port = server_socket.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def failed(why: object, code: int) -> int:
    """Say why the host did not start; the exit code."""
    sys.stderr.write(f"Memory Core did not start: {' '.join(str(why).split())}\n")
    return code


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises OSError with a message for the person who started the host."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    server = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # on Windows the option would let two hosts share one port
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((host, port))
        server.listen(2048)
    except OSError as error:
        server.close()
        if error.errno == errno.EADDRINUSE:
            raise OSError(
                f"port {port} is taken: stop what uses it, or choose another with --port "
                f"{port + 1} (make run PORT={port + 1})"
            ) from None
        raise OSError(f"can't listen on {host}:{port}: {error.strerror or error}") from None
    server.setblocking(False)
    return server
