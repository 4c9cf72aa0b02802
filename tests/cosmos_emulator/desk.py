"""What is answered to whom: faults on the way, the answer of `resources`, the headers that every
answer has, and the log; whatever brings the requests.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping
from urllib.parse import unquote

from tests.cosmos_emulator import charges
from tests.cosmos_emulator.control import ROOT, Control
from tests.cosmos_emulator.exchange import CONSISTENCY, KEY, RANGE, Answer, Asked
from tests.cosmos_emulator.faults import Rule
from tests.cosmos_emulator.items import dumps
from tests.cosmos_emulator.refused import Refused
from tests.cosmos_emulator.resources import handle
from tests.cosmos_emulator.store import Account

STATEMENT = 8_000
"""Characters of a query that the log keeps."""


class Desk:
    """Where the requests for an account arrive."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._control = Control(account)

    async def respond(self, asked: Asked) -> Answer | None:
        """The answer; None: the connection is cut."""
        if asked.path[:1] == (ROOT,):
            return self.steer(asked)
        rule = self._control.faults.for_(asked)
        if rule is not None and rule.delay_ms:
            await asyncio.sleep(rule.delay_ms / 1000)
        if rule is not None and rule.kind == "cut_before":
            self._note(asked, Answer(0), rule)
            return None
        made = _or_refusal(lambda: self._answer(asked, rule))
        self._note(asked, made, rule)
        if rule is not None and rule.kind == "cut_after":
            return None
        return _finished(asked, made)

    def steer(self, asked: Asked) -> Answer:
        """The answer of the emulator's own door."""
        return _or_refusal(lambda: self._control.handle(asked))

    def _answer(self, asked: Asked, rule: Rule | None) -> Answer:
        refusal = rule.refusal() if rule is not None else None
        if refusal is not None:
            raise refusal
        return handle(asked, self._account)

    def _note(self, asked: Asked, made: Answer, rule: Rule | None) -> None:
        self._control.log.append(
            {
                "operation": asked.operation,
                "path": "/".join(asked.path),
                "key": asked.headers.get(KEY),
                "range": asked.headers.get(RANGE),
                "behind": asked.behind,
                "consistency": asked.headers.get(CONSISTENCY),
                "status": made.status,
                "charge": made.charge,
                "fault": rule.kind if rule is not None else None,
                "statement": _statement(asked) if asked.operation in ("query", "plan") else None,
            }
        )


def asked_of(
    method: str, raw_path: str, headers: Mapping[str, str], body: bytes, behind: bool, url: str
) -> Asked:
    """A request as it came: of a path that is still quoted, and headers of any case."""
    return Asked(
        method,
        tuple(unquote(part) for part in raw_path.split("/") if part),
        {name.casefold(): value for name, value in headers.items()},
        body,
        behind,
        url,
    )


def _statement(asked: Asked) -> str:
    try:
        return str(asked.json()["query"])[:STATEMENT]
    except (Refused, KeyError, TypeError):
        return ""  # it was refused for that


def _or_refusal(make: Callable[[], Answer]) -> Answer:
    try:
        return make()
    except Refused as refused:
        substatus = {"x-ms-substatus": str(refused.substatus)} if refused.substatus else {}
        return Answer(
            refused.status, dumps(refused.body), {**refused.headers, **substatus}, charges.REFUSED
        )


def _finished(asked: Asked, made: Answer) -> Answer:
    """The answer with the headers that all have."""
    made.headers |= {
        "x-ms-activity-id": str(uuid.uuid4()),
        "x-ms-request-charge": str(made.charge),
        "x-ms-version": "2020-07-15",
    }
    if len(asked.path) >= 4:
        made.headers["x-ms-alt-content-path"] = "/".join(asked.path[:4])
    return made
