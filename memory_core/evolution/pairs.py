"""The record of a pair of memories, whichever of the two came first: they are asked about in one record, for good."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from memory_core.domain.conflict import ConflictRecord, record_in
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
