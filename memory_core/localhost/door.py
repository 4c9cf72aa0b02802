"""The socket that a development host listens on, and its lines on the terminal.

Modules that take long to import are not imported here: a parent of workers needs no more.
"""

from __future__ import annotations

import errno
import os
import socket
import sys
from contextlib import suppress


def say(text: str) -> None:
    """Print a line at once, since the reader of a pipe waits for it.

    A host does not end because its terminal is gone, the disk under its output is full, or the
    output's encoding lacks a character, which becomes a question mark.
    """
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    with suppress(OSError):
        print(text.encode(encoding, "replace").decode(encoding), flush=True)


def address_of(server_socket: socket.socket) -> str:
    """The URL of a listening socket, with the port that it really got."""
    host, port = server_socket.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def failed(why: object, code: int) -> int:
    """Print why the host did not start, and return the exit code.

    Args:
        why: The reason.
        code: The exit code.

    """
    sys.stderr.write(f"Memory Core did not start: {' '.join(str(why).split())}\n")
    return code


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket.

    Args:
        host: Address to listen on.
        port: Port to listen on; 0 for any free port.

    Raises:
        OSError: The port is taken or can't be opened; the message is for the person starting the
            host.

    """
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
