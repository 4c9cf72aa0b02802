"""The file of an export, and the cold copies in it.

A line is `{"kind", "id", "body"}`. A memory's line says with `embedded` whether it has a vector;
the vector is left out.

Note: no line names its owner. Documents that the store names by their owner (sessions, buffers) are
named by their session here. So the files of two users with the same data are the same, except for
the first line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final, cast

import orjson

from memory_core.domain.archival import LEFT_OUT, ArchivedStates, ColdCopy
from memory_core.domain.chat.history import without_seals
from memory_core.domain.errors import PlainError
from memory_core.domain.memory import Memory
from memory_core.domain.scope import Owner
from memory_core.ledger.documents import buffer_id
from memory_core.ledger.ids import session_document_id
from memory_core.ports import Document, Kind
from memory_core.tasks.operations import RUN_REPORT_KEPT_FOR

# Archived copies in an export: a line for each, before the memories that point to it.
#
# The location of a copy depends on its owner. The file calls it `cold/<chain>-<revision>`
# everywhere. Note: an event may name a copy that was removed when its memory was restored; it is
# called `cold/gone`.


COLD: Final = "cold"
GONE: Final = "cold/gone"
_LEFT_OUT: Final = LEFT_OUT | {
    "app_id",
    "user_id",
    "epoch",
    "embedding_model",
    "embedding_dimensions",
    "archival_location",
}
_SCOPE_OF_A_COPY: Final = {"app_id": "app", "user_id": "user"}


def name_of(copy: ColdCopy) -> str:
    """Return the name of a copy in the file."""
    return f"{_chain_of(copy)}-{copy.revision}"


def _chain_of(copy: ColdCopy) -> str:
    """Return the id by which the file names a chain.

    It is the id of the chain's last memory, if the copy has it. A memory that was deleted before
    the rest was archived is not in the copy.
    """
    if copy.member(copy.chain_id) is not None:
        return copy.chain_id
    return max(copy.members, key=lambda member: member.memory.sequence).memory.id


def fields_of(copy: ColdCopy) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields of a copy's line, and its body, without vectors."""
    members = [
        {
            "memory": _public_fields(member.memory),
            "versions": [_public_fields(version) for version in member.versions],
            "original": None if member.original is None else _public_fields(member.original),
        }
        for member in copy.members
    ]
    return {"kind": COLD, "id": name_of(copy)}, {
        "sequence": copy.revision,
        "chain_id": _chain_of(copy),
        "members": members,
    }


def copy_in(body: Mapping[str, Any]) -> tuple[ColdCopy, frozenset[str]]:
    """Return the copy in a line's body, without an owner and vectors.

    The second value has the keys of the memories that had a vector. Raises ValueError, TypeError,
    KeyError for a body that is no copy.
    """
    embedded: set[str] = set()

    def memory(stored: Mapping[str, Any]) -> Memory:
        read = Memory.model_validate({**stored["body"], **_SCOPE_OF_A_COPY})
        if stored["embedded"]:
            embedded.add(_key(read))
        return read

    members = tuple(
        ArchivedStates(
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


def owned_copy(copy: ColdCopy, owner: Owner, epoch: str) -> ColdCopy:
    """Return the copy as this owner's, under an epoch.

    Args:
        copy: The copy.
        owner: The owner.
        epoch: The epoch of the copy and its memories.

    """

    def mine(memory: Memory) -> Memory:
        changed = memory.changed(app_id=owner.app_id, user_id=owner.user_id, epoch=epoch)
        changed.embedding = memory.embedding
        return changed

    members = (
        ArchivedStates(
            mine(member.memory),
            tuple(map(mine, member.versions)),
            None if member.original is None else mine(member.original),
        )
        for member in copy.members
    )
    return ColdCopy(epoch, copy.chain_id, tuple(members))


def memories_of(copy: ColdCopy) -> Iterator[Memory]:
    """Return all memories of a copy: members, old versions, originals."""
    for member in copy.members:
        yield member.memory
        yield from member.versions
        if member.original is not None:
            yield member.original


def has_vector(memory: Memory, embedded: frozenset[str]) -> bool:
    """Whether a memory of a copy had a vector.

    Args:
        memory: The memory.
        embedded: The keys of memories with a vector, as `copy_in` returns them.

    """
    return _key(memory) in embedded


def _key(memory: Memory) -> str:
    """Return the key of a memory within a copy.

    A compressed memory and its original have the same id, and two texts.
    """
    return f"{memory.id} {len(memory.content)} {memory.status.value}"


def _public_fields(memory: Memory) -> dict[str, Any]:
    return {
        "embedded": memory.embedding is not None,
        "body": memory.model_dump(mode="json", exclude=set(_LEFT_OUT)),
    }


FORMAT: Final = "memory-core-export"
VERSION: Final = 1
GROWING: Final[tuple[Kind, ...]] = ("memory", "version", "event", "messages")
SMALL: Final[tuple[Kind, ...]] = (
    "session",
    "conversation",
    "buffer",
    "scene",
    "profile",
    "conflict",
    "slot",
    "run",
    "settings",
)
"""Kinds that are exported whole; the kinds of `GROWING` may be large, and are exported in pages."""
KINDS: Final[tuple[str, ...]] = (COLD, *GROWING, *SMALL)
MAX_PART_BYTES: Final = 1_048_576
"""The size limit of a request, so that a fetched part can be uploaded elsewhere as it is."""
PIECE_CHARACTERS: Final = 200_000
"""The length of a piece of a document that does not fit a line.

A character has at most 4 bytes as JSON within JSON.
"""
_SCOPE_FIELDS: Final = ("app_id", "user_id", "epoch")
_OF_THE_VECTOR: Final = ("embedding_model", "embedding_dimensions")
_MEMORIES: Final = frozenset({"memory", "version"})


def header(owner: Owner, counts: Mapping[str, int], sequence: int, at: datetime) -> bytes:
    """Return the first line of a file.

    Args:
        owner: The exported user.
        counts: The number of documents by kind.
        sequence: The sequence of the log that the file shows.
        at: The time of the export.

    """
    fields = {
        "format": FORMAT,
        "version": VERSION,
        "app_id": owner.app_id,
        "user_id": owner.user_id,
        "exported_at": at.isoformat(),
        "sequence": sequence,
        "counts": {kind: counts[kind] for kind in KINDS if counts.get(kind)},
    }
    return orjson.dumps(fields) + b"\n"


def line_id(document: Document) -> str:
    """Return the name of a document in the file."""
    return (
        str(document.body["session_id"]) if document.kind in ("session", "buffer") else document.id
    )


def lines_of(document: Document, cold: Mapping[str, str]) -> bytes:
    """Return the line of a document, or the lines of its pieces.

    Args:
        document: The document.
        cold: The names of the archive's copies, by location.

    """
    body = {name: value for name, value in document.body.items() if name not in _SCOPE_FIELDS}
    named: dict[str, Any] = {"kind": document.kind, "id": line_id(document)}
    if document.kind == "slot":
        body.pop("pending", None)
    if document.kind == "session" and "history" in body:
        # a hard-deleted memory is known only by its place and time
        history = body["history"]
        body["history"] = {**history, "marks": without_seals(history["marks"])}
    if document.kind in _MEMORIES:
        named["embedded"] = body["embedding_model"] is not None
        body = _with_location(
            {name: value for name, value in body.items() if name not in _OF_THE_VECTOR}, cold, GONE
        )
    elif document.kind == "event":
        for name in ("before", "after"):
            body[name] = _with_location(
                {key: value for key, value in body[name].items() if key not in _SCOPE_FIELDS},
                cold,
                GONE,
            )
    return in_pieces(named, body)


def in_pieces(named: Mapping[str, Any], body: Mapping[str, Any]) -> bytes:
    """Return the line of a body, or the lines of its pieces.

    Args:
        named: The fields beside the body.
        body: The body; a long body is divided into pieces.

    """
    whole = orjson.dumps({**named, "body": body}, option=orjson.OPT_SORT_KEYS) + b"\n"
    if len(whole) <= MAX_PART_BYTES:
        return whole
    text = orjson.dumps(body, option=orjson.OPT_SORT_KEYS).decode()
    texts = [text[at : at + PIECE_CHARACTERS] for at in range(0, len(text), PIECE_CHARACTERS)]
    pieces = (
        {**named, "piece": number, "pieces": len(texts), "text": piece_text}
        for number, piece_text in enumerate(texts, 1)
    )
    return b"".join(orjson.dumps(piece) + b"\n" for piece in pieces)


def in_parts(lines: bytes) -> list[bytes]:
    """Divide lines into parts; no line is longer than a part."""
    parts = [b""]
    for line in lines.splitlines(keepends=True):
        if parts[-1] and len(parts[-1]) + len(line) > MAX_PART_BYTES:
            parts.append(b"")
        parts[-1] += line
    return parts


def document_of(
    owner: Owner, kind: str, name: str, body: Mapping[str, Any], epoch: str, cold: Mapping[str, str]
) -> Document:
    """Return the document of a line as an owner stores it.

    A run's report expires when it would have expired in the user that it came from.

    Args:
        owner: The importing owner.
        kind: The kind of the document.
        name: The name of the document in the file.
        body: The body of the line.
        epoch: The epoch of the document.
        cold: The locations of the archive's copies, by name.

    """
    scope = {"app_id": owner.app_id, "user_id": owner.user_id}
    stored = {**body, "epoch": epoch}
    if kind in _MEMORIES:
        stored = _with_location({**stored, **scope}, cold)
    elif kind == "event":
        # the event `created` has all fields
        created = scope if "id" in body["after"] else {}
        stored |= {
            "before": _with_location(body["before"], cold),
            "after": _with_location({**body["after"], **created}, cold),
        }
    identity = name
    if kind == "session":
        identity = session_document_id(owner, name)
    elif kind == "buffer":
        identity = buffer_id(owner, name)
    ended_at = datetime.fromisoformat(body["ended_at"]) if kind == "run" else None
    return Document(
        identity,
        cast(Kind, kind),
        stored,
        expires_at=None if ended_at is None else ended_at + RUN_REPORT_KEPT_FOR,
    )


def _with_location(
    fields: Mapping[str, Any], names: Mapping[str, str], otherwise: str | None = None
) -> dict[str, Any]:
    """Return the fields with another name for the location in the archive.

    `otherwise` is used for a location without a name.
    """
    place = fields.get("archival_location")
    return (
        dict(fields)
        if place is None
        else {**fields, "archival_location": names.get(place, otherwise or place)}
    )
