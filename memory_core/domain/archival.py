"""When a memory is archived, the stub that stays, and the next due moments.

A stub keeps the memory's type, its session, and the words and the vector by which it is found, but
only the beginning of its text. Note: a stub may change while the whole memory is in the archive: it
may be deleted, said again or accessed. The restored memory keeps these changes. All other fields
are restored as they were.
"""

from __future__ import annotations

import base64
import gzip
import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import numpy as np
import orjson
from pydantic import ValidationError

from memory_core.domain.errors import PlainError, described
from memory_core.domain.importance import HOUR_S
from memory_core.domain.memory import Memory, MemoryFields, MemoryType, Status, Vector, fields_of
from memory_core.domain.statements.worth import kept_for_good

LEAST_RECENCY = 0.01
"""Recency under which a memory may be archived.

It is compared with SECMSA's recency without that formula's floor of 0.01. The floor would hide that
a memory is older than that: 5.75 years by default.
"""
HOURS_A_YEAR = 365.25 * 24
STUB_CHARACTERS = 200
NEVER = frozenset({Status.DELETED, Status.ARCHIVED})

_WHOLE_ONLY: MemoryFields = {"episode": None, "value": None, "value_text": None}
_KEPT_BY_STUB: Final = ("epoch", "sequence", "revision", "lexical", "search_text")
_VECTOR: MemoryFields = {"embedding": None, "embedding_model": None, "embedding_dimensions": None}
"""Lists that are empty in a stub, as its metadata is."""
_OF_THE_ARCHIVE = frozenset(
    {
        "status",
        "status_reason",
        "updated_at",
        "archived_at",
        "archival_location",
        "epoch",
        "sequence",
        "revision",
        "lexical",
        "search_text",
    }
    | _VECTOR.keys()
)
"""Fields that a stub has for itself, or that differ because it is a stub."""


def is_due(memory: Memory, now: datetime, *, age_years: float, recency_hours: float) -> bool:
    """Whether a memory may be archived.

    It may have any status but deleted and archived, must not have changed for `age_years`, and its
    recency must be under 0.01. An access counts as a change. Pinned memories stay, and so do
    memories that are worth keeping for good, such as an allergy. Procedures stay as well: a rule
    must be whole whenever its key is named, however old it is.

    Args:
        memory: The memory.
        now: The current moment.
        age_years: Least age in years of 365.25 days.
        recency_hours: Age in hours that leaves 37 % of SECMSA's recency.

    """
    if (
        memory.status in NEVER
        or memory.pinned
        or memory.type is MemoryType.PROCEDURAL
        or kept_for_good(memory.worth)
    ):
        return False
    hours = (
        now
        - max(memory.created_at, memory.updated_at, memory.last_accessed_at or memory.created_at)
    ).total_seconds() / HOUR_S
    return (
        hours >= age_years * HOURS_A_YEAR
        and math.exp(-max(hours, 0.0) / recency_hours) < LEAST_RECENCY
    )


def least_age(age_years: float, recency_hours: float) -> timedelta:
    """The age from which `is_due` accepts a memory.

    Args:
        age_years: Least age in years of 365.25 days.
        recency_hours: Age in hours that leaves 37 % of SECMSA's recency.

    """
    return timedelta(hours=max(age_years * HOURS_A_YEAR, recency_hours * -math.log(LEAST_RECENCY)))


def is_cold(memory: Memory) -> bool:
    """Whether a memory is a stub, whatever its status: a stub can be deleted, too."""
    return memory.archived_at is not None


def was_cold(before: Mapping[str, Any]) -> bool:
    """Whether a memory was a stub before an event, by the fields that changed."""
    return before.get("archived_at") is not None


def stub_of(memory: Memory, location: str, now: datetime) -> Memory:
    """The stub of a memory or an old version whose whole is archived.

    Args:
        memory: The whole memory.
        location: Name of its copy in the archive.
        now: When it is archived.

    """
    stub: MemoryFields = {
        **_WHOLE_ONLY,
        "atomic_facts": [],
        "foresight": [],
        "semantic_queries": [],
        "follow_up_potential": [],
        "metadata": {},
        "content": beginning(memory.content),
        "status": Status.ARCHIVED,
        "status_reason": "age_decay",
        "archived_at": now,
        "archival_location": location,
    }
    # An old version is history: that it has moved is no news of it, and no search asks for it
    # by its vector.
    stub |= _VECTOR if "." in memory.id else {"updated_at": now}
    return memory.changed(**stub)


def beginning(text: str) -> str:
    """The first characters of a text, with an ellipsis if the text is longer."""
    return text if len(text) <= STUB_CHARACTERS else f"{text[: STUB_CHARACTERS - 1].rstrip()}…"


def as_found(stub: Memory, whole: Memory, vector: Vector | None) -> Memory:
    """A stub with the text and vector of its whole, as a query shows it.

    Its status is still archived.

    Args:
        stub: The memory as it is stored now.
        whole: The memory as it is in the archive.
        vector: The vector of the result, or None.

    """
    state_of_stub = fields_of(stub, _OF_THE_ARCHIVE - _VECTOR.keys())
    own: MemoryFields = {"id": stub.id, "embedding": vector}
    return whole.changed(**(state_of_stub | _changed_since(stub, whole) | own))


def brought_back(stub: Memory, archived: ArchivedStates, now: datetime) -> Memory:
    """The memory as it was, with the changes that its stub has had since.

    A memory that was deleted in the archive is restored as deleted. The restored memory is updated
    as of now, and an active memory counts as accessed now, or the next run would archive it again.
    The original of a compressed memory stays in the archive.

    Args:
        stub: The memory as it is stored now.
        archived: The memory as it is in the archive.
        now: When it is restored.

    """
    whole = archived.memory
    fields = fields_of(stub, _KEPT_BY_STUB)
    fields |= {
        "archived_at": None,
        "archival_location": None if archived.original is None else stub.archival_location,
        "updated_at": now,
    }
    if stub.status is not Status.ARCHIVED:
        fields |= {
            "status": stub.status,
            "status_reason": stub.status_reason,
            "updated_at": stub.updated_at,
        }
    elif whole.status is Status.ACTIVE:
        fields |= {"status_reason": "restored", "last_accessed_at": now}
    return whole.changed(**(fields | _changed_since(stub, whole)))


def version_brought_back(stub: Memory, whole: Memory) -> Memory:
    """An old version as it was, with the end that its stub has now.

    Its end may have changed since it was archived.

    Args:
        stub: The version as it is stored now.
        whole: The version as it is in the archive.

    """
    return whole.with_fields_of(stub, (*_KEPT_BY_STUB, "valid_until"))


def _changed_since(stub: Memory, whole: Memory) -> MemoryFields:
    """The fields of a stub that have changed since it was archived."""
    left = stub_of(whole, "", stub.archived_at or stub.updated_at)
    names = Memory.model_fields.keys() - _OF_THE_ARCHIVE
    return fields_of(stub, [name for name in names if getattr(stub, name) != getattr(left, name)])


# The content and bytes of an archived copy: the memories of a chain, with their vectors and old
# versions.
#
# The bytes are gzip of canonical JSON, so equal copies have equal bytes. The search terms
# (`lexical`, `search_text`) are left out: the stub keeps them, and they may contain words of
# neighbouring turns. Note: a compressed memory has its short text here too; its earlier text is its
# `original`.


FORMAT = 1
LEFT_OUT = frozenset({"lexical", "search_text"})
COMPRESSION = 6


@dataclass(frozen=True, slots=True)
class ArchivedStates:
    """A memory as it was, its old versions, and the original of a compressed memory.

    Each has its vector, if there was a vector.
    """

    memory: Memory
    versions: tuple[Memory, ...] = ()
    original: Memory | None = None

    @property
    def whole(self) -> Memory:
        """The memory with its full text: the original where it was compressed."""
        return self.original or self.memory


@dataclass(frozen=True, slots=True)
class ColdCopy:
    """The memories of a chain, or a single memory before it was compressed.

    All have the same owner and epoch. `chain_id` is the id of the chain's last memory.
    """

    epoch: str
    chain_id: str
    members: tuple[ArchivedStates, ...]

    @property
    def revision(self) -> int:
        """The sequence of the last event of any member."""
        return max(member.memory.revision for member in self.members)

    @property
    def ids(self) -> tuple[str, ...]:
        """The members' ids, with the chain's id first."""
        return (
            self.chain_id,
            *sorted(
                member.memory.id for member in self.members if member.memory.id != self.chain_id
            ),
        )

    def member(self, memory_id: str) -> ArchivedStates | None:
        """The member with this id, or None."""
        return next((member for member in self.members if member.memory.id == memory_id), None)

    def memory(self, memory_id: str) -> Memory | None:
        """A member, or an old version of a member (`mem_x.v2`), by its id."""
        every = (
            version for member in self.members for version in (member.memory, *member.versions)
        )
        return next((version for version in every if version.id == memory_id), None)


def encoded(copy: ColdCopy) -> bytes:
    """The copy's bytes."""
    body = {
        "format": FORMAT,
        "epoch": copy.epoch,
        "chain_id": copy.chain_id,
        "members": [
            {
                "memory": _body(member.memory),
                "versions": [_body(version) for version in member.versions],
                "original": None if member.original is None else _body(member.original),
            }
            for member in copy.members
        ],
    }
    return gzip.compress(orjson.dumps(body, option=orjson.OPT_SORT_KEYS), COMPRESSION, mtime=0)


def decoded(data: bytes) -> ColdCopy:
    """Read a copy from its bytes. Raises ValueError when this code can't read them."""
    try:
        body = orjson.loads(gzip.decompress(data))
        if body["format"] != FORMAT:
            raise PlainError(f"is of another format; this version reads {FORMAT}")
        members = tuple(
            ArchivedStates(
                _memory(member["memory"]),
                tuple(_memory(version) for version in member["versions"]),
                None if member["original"] is None else _memory(member["original"]),
            )
            for member in body["members"]
        )
        return ColdCopy(body["epoch"], body["chain_id"], members)
    except (OSError, EOFError, zlib.error, KeyError, TypeError, ValidationError) as error:
        raise PlainError(f"is not a cold copy: {described(error)}") from error


def _body(memory: Memory) -> dict[str, Any]:
    body = memory.model_dump(mode="json", exclude=set(LEFT_OUT))
    vector = memory.embedding
    body["embedding"] = (
        None
        if vector is None
        else base64.b64encode(np.ascontiguousarray(vector, dtype="<f4").tobytes()).decode()
    )
    return body


def _memory(body: Mapping[str, Any]) -> Memory:
    memory = Memory.model_validate(
        {name: value for name, value in body.items() if name != "embedding"}
    )
    memory.embedding = _vector(body["embedding"])
    return memory


def _vector(text: str | None) -> Vector | None:
    return (
        None
        if text is None
        else np.frombuffer(base64.b64decode(text), dtype="<f4").astype(np.float32)
    )


# Changes that time alone brings, and when: a memory fades, becomes old enough for the archive, or
# its foresight ends.
#
# The functions are pure. They return the columns that a store keeps for a memory, so that an index
# answers when the next change is due. Note: only times after a given time count. A memory may be
# past its time and not change (a text that does not get shorter, or a chain with a younger member).
# If such a memory counted again and again, its user would be due every hour.


_LAST_S = 253_402_300_799.0
"""The end of the year 9999; later moments never come."""


@dataclass(frozen=True, slots=True)
class NextDue:
    """The first moment of each kind after a given moment; None where there is none.

    Attributes:
        fades: When a memory is under the floor, or its long text may become short.
        ages: When a memory is old enough for the archive.
        foresight: When the last foresight of a memory ends. The next run counts it; it starts no
            run.

    """

    fades: datetime | None = None
    ages: datetime | None = None
    foresight: datetime | None = None

    def has_come(self, at: datetime) -> bool:
        """Whether any of these moments has passed."""
        moments = (self.fades, self.ages, self.foresight)
        return any(moment is not None and moment <= at for moment in moments)

    @property
    def first(self) -> datetime | None:
        """The earliest moment that requires work: a memory fades or ages."""
        return min(
            (moment for moment in (self.fades, self.ages) if moment is not None), default=None
        )


def due_columns(body: Mapping[str, Any]) -> dict[str, float]:
    """Columns that a store keeps beside a memory, in epoch seconds.

    Returns:
        ages_from: Last change of a memory that may be archived. An access may have put that off.
        foresees_until: When the last foresight of an active memory ends. Either name is left out
            where it does not apply.

    """
    made: dict[str, float] = {}
    may_go = (
        body["status"] not in NEVER and not body["pinned"] and body["type"] != MemoryType.PROCEDURAL
    )
    if may_go and not kept_for_good(body.get("worth")):
        made["ages_from"] = max(_seconds(body["created_at"]), _seconds(body["updated_at"]))
    ends = [
        line["end_time"] for line in body.get("foresight") or () if line.get("end_time") is not None
    ]
    if ends and body["status"] == "active":
        made["foresees_until"] = max(_seconds(end) for end in ends)
    return made


def moment_in(seconds: float | None, later: timedelta = timedelta(0)) -> datetime | None:
    """The moment of epoch seconds plus a delay, in UTC.

    Args:
        seconds: Epoch seconds; None gives None.
        later: The delay. A moment after the year 9999 gives None.

    """
    if seconds is None or seconds + later.total_seconds() > _LAST_S:
        return None
    return datetime.fromisoformat("1970-01-01T00:00:00+00:00") + timedelta(seconds=seconds) + later


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
