"""Cold copies in the file of an export: a line for each, before the memories that point to it.

Where a copy lies depends on whose it is; in the file it is called `cold/<chain>-<revision>` wherever it is named. Note: an
event may name a copy that is long gone, because the memory came back. Such a place is `cold/gone`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from memory_core.domain.cold_copy import LEFT_OUT, ColdCopy, Kept
from memory_core.domain.errors import PlainError
from memory_core.domain.models import Memory
from memory_core.domain.scope import Owner

COLD: Final = "cold"
GONE: Final = "cold/gone"
_LEFT_OUT: Final = LEFT_OUT | {"app_id", "user_id", "epoch", "embedding_model", "embedding_dimensions", "archival_location"}
_SCOPE: Final = {"app_id": "app", "user_id": "user"}


def name_of(copy: ColdCopy) -> str:
    """How the file calls a copy."""
    return f"{_chain_of(copy)}-{copy.revision}"


def _chain_of(copy: ColdCopy) -> str:
    """By whose id the file calls the chain: the last one's, where that is in the copy. Who was deleted before the rest went stayed hot."""
    if copy.member(copy.chain_id) is not None:
        return copy.chain_id
    return max(copy.members, key=lambda member: member.memory.sequence).memory.id


def fields_of(copy: ColdCopy) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a copy's line says of it, and its body, without vectors."""
    members = [
        {
            "memory": _shown(member.memory),
            "versions": [_shown(version) for version in member.versions],
            "original": None if member.original is None else _shown(member.original),
        }
        for member in copy.members
    ]
    return {"kind": COLD, "id": name_of(copy)}, {"sequence": copy.revision, "chain_id": _chain_of(copy), "members": members}


def copy_in(body: Mapping[str, Any]) -> tuple[ColdCopy, frozenset[str]]:
    """The copy in a line's body, without an owner yet and without vectors; and the ids of those that had one.

    Raises ValueError, TypeError, KeyError for a body that is none.
    """
    embedded: set[str] = set()

    def memory(stored: Mapping[str, Any]) -> Memory:
        read = Memory.model_validate({**stored["body"], **_SCOPE})
        if stored["embedded"]:
            embedded.add(_key(read))
        return read

    members = tuple(
        Kept(
            memory(member["memory"]),
            tuple(memory(version) for version in member["versions"]),
            None if member["original"] is None else memory(member["original"]),
        )
        for member in body["members"]
    )
    copy = ColdCopy("", str(body["chain_id"]), members)
    if copy.member(copy.chain_id) is None:
        raise PlainError("chain_id: is none of its members")
    return copy, frozenset(embedded)


def brought(copy: ColdCopy, owner: Owner, epoch: str) -> ColdCopy:
    """The copy as this owner's, under an epoch."""

    def mine(memory: Memory) -> Memory:
        changed = memory.model_copy(update={"app_id": owner.app_id, "user_id": owner.user_id, "epoch": epoch})
        changed.embedding = memory.embedding
        return changed

    members = (
        Kept(mine(member.memory), tuple(map(mine, member.versions)), None if member.original is None else mine(member.original))
        for member in copy.members
    )
    return ColdCopy(epoch, copy.chain_id, tuple(members))


def memories_of(copy: ColdCopy) -> Iterator[Memory]:
    """Everything that a copy holds: members, old versions, originals."""
    for member in copy.members:
        yield member.memory
        yield from member.versions
        if member.original is not None:
            yield member.original


def has_vector(memory: Memory, embedded: frozenset[str]) -> bool:
    """Whether this memory of a copy had a vector."""
    return _key(memory) in embedded


def _key(memory: Memory) -> str:
    """A compressed memory and its original have one id, and two texts."""
    return f"{memory.id} {len(memory.content)} {memory.status.value}"


def _shown(memory: Memory) -> dict[str, Any]:
    return {"embedded": memory.embedding is not None, "body": memory.model_dump(mode="json", exclude=set(_LEFT_OUT))}
