"""What the development host says on the terminal: where it is, which adapters it uses, and what to try next."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memory_core import __version__
from memory_core.functions.keys import LOCAL_APP

if TYPE_CHECKING:
    from memory_core.config import Settings


def say(text: str) -> None:
    """Print, at once: a reader at the end of a pipe waits for it."""
    print(text, flush=True)


def address_of(server_socket: socket.socket) -> str:
    """The URL of a listening socket, with the port that it really got."""
    host, port = server_socket.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def lines(settings: Settings, address: str, readiness: Mapping[str, Any]) -> str:
    """The start-up lines. `readiness`: what `MemoryCore.ready` answered."""
    notes = [readiness["status"], *(dependency["detail"] for dependency in readiness["dependencies"].values() if dependency["detail"])]
    adapters = " · ".join(
        f"{name.replace('_', ' ')} {dependency['adapter'] or 'not open'}" for name, dependency in readiness["dependencies"].items()
    )
    if settings.auth == "off":
        auth, key = f'off, because the address is loopback: every caller is the app "{LOCAL_APP}"', ""
    else:
        auth, key = "on: send a key of MEMORY_API_KEYS as X-API-Key", " -H 'X-API-Key: mc_…'"
    curl = f"curl -s -H 'Content-Type: application/json'{key} {address}/api/v1/memories"
    return "\n".join((
        f"Memory Core {__version__}: the development host, which stands in for Azure's on this machine",
        f"  address   {address}",
        f"  data      {settings.data.resolve()}",
        f"  adapters  {adapters}",
        f"  auth      {auth}",
        f"  status    {': '.join(notes)}",
        "Try:",
        f"""  {curl}/save -d '{{"user_id": "ana", "content": "Ana moved to Lisbon in May"}}'""",
        f"""  {curl}/retrieve -d '{{"user_id": "ana", "query": "Where did Ana move?"}}'""",
        "Stop with Ctrl+C.",
    ))  # fmt: skip
