"""A port stays a server's own while the server is dead: else a test's server can't come back, now
and then, where many run beside.
"""

from __future__ import annotations

import errno
import gc
import os
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.ports import kept_for

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux keeps a port that nobody listens at"
)

IP_LOCAL_PORT_RANGE = 51
"""Of what a socket may get for any free port: Linux 6.3 has it, Python no name for it."""


class Server:
    """The object that a port is kept for."""


@pytest.fixture
def elsewhere() -> Iterator[socket.socket]:
    """Something to connect to."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        yield listening


@pytest.fixture
def only() -> Iterator[tuple[Server, int, socket.socket]]:
    """A server, the port that is kept for it, and a socket that may get no other port."""
    server = Server()
    port = kept_for(server)
    with closing(socket.socket()) as stranger:
        try:
            stranger.setsockopt(
                socket.IPPROTO_IP, IP_LOCAL_PORT_RANGE, struct.pack("I", port << 16 | port)
            )
        except OSError:
            pytest.skip("this Linux is older than 6.3: a socket's free port can't be foretold")
        yield server, port, stranger


def test_a_connection_does_not_get_it_as_its_own_end(
    only: tuple[Server, int, socket.socket], elsewhere: socket.socket
) -> None:
    with pytest.raises(OSError, match=os.strerror(errno.EADDRNOTAVAIL)):
        only[2].connect(elsewhere.getsockname())


@pytest.mark.parametrize("again", [0, 1], ids=["a new port", "one that may be used again"])
def test_whoever_asks_for_any_free_port_does_not_get_it(
    only: tuple[Server, int, socket.socket], again: int
) -> None:
    only[2].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, again)
    with pytest.raises(OSError, match=os.strerror(errno.EADDRINUSE)):
        only[2].bind(("127.0.0.1", 0))


def test_it_is_free_again_when_its_server_is_forgotten() -> None:
    server = Server()
    port = kept_for(server)
    del server
    gc.collect()
    with closing(socket.socket()) as stranger:
        stranger.bind(("127.0.0.1", port))


def test_its_server_listens_there_dies_and_listens_there_again() -> None:
    server = Server()
    address = ("127.0.0.1", kept_for(server))
    for _ in range(2):
        with closing(socket.create_server(address)), closing(socket.create_connection(address)):
            pass
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address)
