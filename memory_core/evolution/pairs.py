"""The record of a pair of memories, whichever of the two came first: they are asked about in one record, for good.

One would get wrong: a question that is asked again is no new one. What was decided about it before stays to be read, as `previous`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from memory_core.domain.conflict import RULE, ConflictRecord, record_in
from memory_core.ledger.ids import derived
from memory_core.ports import Document


def pair_ids(one: str, other: str) -> tuple[str, str]:
    """The ids under which a record about these two may be: the one with `one` as the older side, and the other way round."""
    return derived("cft", one, other), derived("cft", other, one)


def document_of(record: ConflictRecord, documents: Mapping[str, Document]) -> Document:
    """The record as it is to be stored: what is there already keeps its place in lists."""
    known, body = documents.get(record.id), record.model_dump(mode="json")
    return Document(record.id, "conflict", body) if known is None else replace(known, body={**known.body, **body})


def record_of_pair(documents: Mapping[str, Document], one: str, other: str) -> ConflictRecord | None:
    """The record about these two among the documents, an open one before one that is decided; None where they were never asked about."""
    found = [record_in(documents[name].body) for name in pair_ids(one, other) if name in documents]
    return max(found, key=lambda record: (record.open, record.at), default=None)


def question(records: Mapping[str, Document], held: str, new: str, why: str, now: datetime) -> tuple[ConflictRecord, int]:
    """The open record about two that stand in one slot, `held` as the older side, and how many more questions are open with it: 0 or 1.

    records: by `pair_ids` of the two; where there is one, it is asked again in that.
    """
    known = record_of_pair(records, held, new)
    if known is not None:
        return (known, 0) if known.open else (known.asked_again(RULE, now, why), 1)
    identity = pair_ids(held, new)[0]
    record = ConflictRecord(
        id=identity, status="pending", confidence=1.0, strategy="keep_both", reason=why, old_id=held, new_id=new, at=now
    )
    return record, 1
