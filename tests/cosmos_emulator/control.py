"""The emulator's own door, /_emulator/…: faults, lag, the clock, more containers, and a log of
what was asked.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from tests.cosmos_emulator.exchange import Answer, Asked, answer
from tests.cosmos_emulator.faults import Faults
from tests.cosmos_emulator.refused import Refused
from tests.cosmos_emulator.store import Account, Lag

ROOT = "_emulator"
KEPT = 50_000


class Control:
    """What tests steer and look at."""

    def __init__(self, account: Account) -> None:
        self.faults = Faults()
        self.log: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._account = account

    def handle(self, asked: Asked) -> Answer:
        """The answer to a request under /_emulator."""
        match (asked.method, *asked.path[1:]):
            case ("GET", "ready"):
                return answer(200, {"ready": True})
            case ("GET", "faults"):
                return answer(200, [rule.shown() for rule in self.faults.rules])
            case ("POST", "faults"):
                return answer(201, self.faults.add(asked.json()).shown())
            case ("DELETE", "faults"):
                self.faults.rules.clear()
                return Answer(204)
            case ("GET", "requests"):
                return answer(200, list(self.log))
            case ("DELETE", "requests"):
                self.log.clear()
                return Answer(204)
            case ("POST", "lag"):
                self._account.set_lag(Lag(**asked.json()))
                return Answer(204)
            case ("DELETE", "lag"):
                self._account.set_lag(None)
                return Answer(204)
            case ("POST", "containers"):
                asked_for = asked.json()
                self._account.copy_container(asked_for["of"], asked_for["to"])
                return Answer(204)
            case ("POST", "clock"):
                self._account.clock.ahead_s += asked.json()["advance_s"]
                return Answer(204)
        raise Refused(404, f"The emulator's control has no {asked.method} {'/'.join(asked.path)}")
