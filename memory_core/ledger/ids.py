"""Deterministic ids.

Note: the id of a memory is made of its content, never of its owner. It is unique among the owner's
memories, and stays right when all of them are imported for another user.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import lru_cache

import orjson
from pydantic import BaseModel

from memory_core.domain.results import Call
from memory_core.domain.scope import Owner


def derived(prefix: str, *parts: str) -> str:
    """The id `<prefix>_<26 hex digits>` of the parts.

    Parts are length-prefixed, so ("a_b", "c") and ("a", "b_c") differ.

    Args:
        prefix: Prefix of the kind, such as "mem".
        *parts: Parts that are hashed, in order.

    """
    raw = [part.encode() for part in parts]
    digest = hashlib.sha256(b"".join(len(part).to_bytes(4, "big") + part for part in raw))
    return f"{prefix}_{digest.hexdigest()[:26]}"


def note_id(cell_id: str) -> str:
    """The id of the note that was made together with a cell."""
    return derived("mem", cell_id, "note")


@lru_cache(maxsize=1024)
def session_document_id(owner: Owner, session_id: str) -> str:
    """The id of a session's document.

    It is cached, because each save of a turn needs it several times.

    Args:
        owner: Whose session it is.
        session_id: Id of the session.

    """
    return derived("ses", *owner, session_id)


def procedure_id(key: str) -> str:
    """The id of the procedural memory of a key.

    A key has a single id, so an upsert finds the memory without a query.
    """
    return derived("mem", "procedure", key)


def out_of_order_id(key: str, event: str, content: str) -> str:
    """The id of an earlier value of a key that was asserted out of order.

    Args:
        key: Key of the procedure.
        event: Event time of the statement.
        content: Content of the memory.

    """
    return derived("mem", "procedure told late", key, event, content)


def snapshot_id(epoch: str, sequence: int, part: int) -> str:
    """The id of a part of the snapshot at a sequence.

    Args:
        epoch: Epoch of the owner.
        sequence: Sequence of the snapshot.
        part: Its number.

    """
    return derived("snp", epoch, str(sequence), str(part))


def marker_id(commit_id: str) -> str:
    """The id of a commit's first event, which proves that the commit was applied."""
    return event_id(commit_id, 0)


def event_id(commit_id: str, number: int) -> str:
    """The id of a commit's event.

    Args:
        commit_id: Id of the commit.
        number: Number of the event in the commit, from 0.

    """
    return f"evt_{commit_id.removeprefix('cmt_')}_{number}"


def begins_commit(event_name: str) -> bool:
    """Whether the id of an event is that of a commit's first event."""
    return event_name.endswith("_0")


def slot_document_id(*names: str) -> str:
    """The id of a slot's document: made of the slot's names, never of its owner."""
    return derived("slt", *names)


def slot_part_id(slot_id: str, number: int) -> str:
    """The id of the document of a sealed part of a slot's log.

    Args:
        slot_id: Id of the slot's document.
        number: Number of the part.

    """
    return f"{slot_id}.{number}"


def slot_of_part(name: str) -> str:
    """The id of the slot's document, given the id of a document of its log.

    The latter is the slot's document itself, or a sealed part.
    """
    return name.partition(".")[0]


def earlier_interval_id(memory_id: str, version: int, part: int) -> str:
    """The id of a memory for an earlier interval of another memory.

    Args:
        memory_id: Id of the memory.
        version: Version of the memory.
        part: Counts the intervals from 1.

    """
    return derived("mem", "earlier interval", memory_id, str(version), str(part))


def conflict_record_ids(first: str, second: str) -> tuple[str, str]:
    """The two ids under which the record about two memories may be stored.

    Args:
        first: Id of a memory; it is the older side in the first id.
        second: Id of the other memory; it is the older side in the second id.

    """
    return derived("cft", first, second), derived("cft", second, first)


# Receipts: the same call with the same Idempotency-Key has one effect and one answer.
#
# A receipt is created in the batch of the effect, and read before each decision. So there is never
# an effect without its receipt. This holds for every outcome, and does not need the short-term
# store.


def keyed(call: Call, name: str, *asked: str | BaseModel) -> Call:
    """The call, identified by its route and body if it has an idempotency key.

    By them another request with the same key is recognised. They are kept if the caller has set
    them already.

    Args:
        call: Call to complete.
        name: Name of the operation, as its route.
        *asked: Parts of the request.

    """
    if call.idempotency_key is None or call.body_hash:
        return call
    fields = [part if isinstance(part, str) else part.model_dump(mode="json") for part in asked]
    body_hash = hashlib.sha256(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)).hexdigest()
    return replace(call, route=call.route or name, body_hash=body_hash)
