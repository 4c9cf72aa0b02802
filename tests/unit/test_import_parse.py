"""The lines of an export as they are read by an import."""

from __future__ import annotations

import orjson

from memory_core.data_rights.import_parse import Entries
from memory_core.domain.redaction.requests import Redactor

CARD = "4399438192247263"
"""A valid number of a payment card, and eight bytes in hex."""
MOMENT = 2_286_489_600_000_000
"""Microseconds of a day in 2042, and a valid number of a payment card."""


def body_of(kind: str, body: dict[str, object]) -> dict[str, object]:
    """The body that an import takes from a line."""
    line = {"kind": kind, "id": "one", "body": body}
    if kind == "memory":
        line["embedded"] = True
    entry = Entries(Redactor(("secrets",)).value).of(2, orjson.dumps(line))
    assert entry is not None
    return entry.body


def test_the_log_of_a_slot_is_taken_as_it_is() -> None:
    log: dict[str, object] = {"salt": CARD, "entries": [["s", 1, 0, "mem_a", 1, CARD, MOMENT]]}
    assert body_of("slot", log) == log


def test_secrets_of_a_memory_are_taken_out() -> None:
    body = {"content": f"My card is {CARD}", "terms": {"card": 1, CARD: 1}}
    assert CARD not in str(body_of("memory", body))
