"""The load of `bench.chaos`: calls that begin at a fixed rate, whatever became of those before.

Clients that wait for an answer before they ask again would be silent while no host answers, and
what then comes back would never meet what had piled up.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque

from bench.chaos_clients import Client, Notebook
from bench.chaos_servers import System


class Load:
    """A call's beginning `rate` times a second, each by a client that waits for none.

    There are as many clients as ever waited at once, up to `most`; beyond that a call is not
    begun, and counted.
    """

    def __init__(
        self, rate: float, most: int, seed: int, system: System, notebook: Notebook, until: float
    ) -> None:
        """until: on the monotonic clock."""
        self._rate, self._most, self._until = rate, most, until
        self._seed, self._system, self._notebook = seed, system, notebook
        self._idle: deque[Client] = deque()
        self.clients = 0
        """How many there are by now."""

    async def run(self) -> None:
        """Begin calls until the time is over, and wait until all are answered or given up."""
        due = time.monotonic()
        try:
            async with asyncio.TaskGroup() as group:
                while (due := due + 1 / self._rate) < self._until:
                    await asyncio.sleep(max(0.0, due - time.monotonic()))
                    if (client := self._free_client()) is None:
                        self._notebook.counts["not begun"] += 1
                    else:
                        group.create_task(self._act(client))
        finally:
            for client in self._idle:
                await client.close()

    def _free_client(self) -> Client | None:
        """The one that has waited longest for its turn; a new one where all are busy."""
        if self._idle:
            return self._idle.popleft()
        if self.clients == self._most:
            return None
        self.clients += 1
        return Client(self.clients - 1, self._seed, self._system, self._notebook, self._until)

    async def _act(self, client: Client) -> None:
        try:
            await client.act()
        finally:
            self._idle.append(client)
