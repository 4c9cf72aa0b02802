"""The log of a file that is brought in: whether it has no hole, and whether it tells of the memories what the file says they are.

A memory that was changed in a file, with a new hash, is found out here, unless the log was changed to match. Note:
a memory is not compared with the end of the log only. What lies in the archive and old versions are what the log told at their revision.
To hold little, each field is kept as eight bytes of its hash: some 400 bytes a memory, however long its text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final, cast

import orjson

from memory_core.consolidation.cold_lines import memories_of
from memory_core.consolidation.import_lines import Entry, Refused, told_fields
from memory_core.domain.cold_copy import ColdCopy
from memory_core.domain.errors import PlainError
from memory_core.domain.messages import is_message
from memory_core.domain.models import UNLOGGED_FIELDS, Event, Memory
from memory_core.domain.versions import base_id, is_version

_UNTOLD: Final = UNLOGGED_FIELDS | {"app_id", "user_id", "archival_location"}
"""Of these the log says nothing, or what was right where the file comes from."""
_FIELDS: Final = tuple(sorted(Memory.model_fields.keys() - _UNTOLD))
_PLACES: Final = {name: slice(8 * number, 8 * number + 8) for number, name in enumerate(_FIELDS)}
_OF_A_VERSION: Final = ("id", "status", "status_reason", "next_id", "valid_until")
"""What a version says otherwise than the memory did when it was one (`versions.kept_version`)."""
_NONE: Final = bytes(8)
_DEFAULTS: Final = {
    name: orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    for name, value in cast(Any, Memory).model_construct().model_dump(mode="json", exclude=set(UNLOGGED_FIELDS)).items()
}


class Log:
    """Takes first what the file says of memories, then the events in their order.

    told_of: the line that tells of a memory first. forgotten: of whom events were redacted.
    """

    def __init__(self) -> None:
        self.sequence = 0
        self.told_of: dict[str, int] = {}
        self.forgotten: set[str] = set()
        self._last: datetime | None = None
        self._states: dict[str, bytearray] = {}
        self._claims: dict[tuple[str, int], list[tuple[bytes, bool, int]]] = {}
        self._belied: Refused | None = None

    def claim(self, memory: Memory, line: int) -> None:
        """The line says that at its revision this memory was, or old version had been, what it says. Raises ValueError."""
        if self.sequence:
            raise PlainError("comes after the log, and should before")
        old = is_version(memory.id)
        if old and memory.archived_at is not None:
            return  # the beginning of what lies in the archive whole, and is looked at there
        fields = memory.model_dump(mode="json", exclude=set(_UNTOLD))
        claims = self._claims.setdefault((base_id(memory.id), memory.revision), [])
        claims.append((bytes(_changed(bytearray(8 * len(_FIELDS)), fields)), old, line))

    def claim_copy(self, copy: ColdCopy, line: int) -> None:
        """The same of everything that a copy in the archive holds."""
        for memory in memories_of(copy):
            self.claim(memory, line)

    def take(self, entry: Entry, event: Event) -> None:
        """The next event. Raises ValueError for one that is not."""
        if event.sequence != self.sequence + 1:
            raise PlainError(f"sequence: is {event.sequence}, where the log goes on with {self.sequence + 1}")
        if self._last is not None and event.occurred_at <= self._last:
            raise PlainError("occurred_at: is not later than that of the event before")
        self.sequence, self._last = event.sequence, event.occurred_at
        self.told_of.setdefault(event.memory_id, entry.line)
        if event.redacted:
            self.forgotten.add(event.memory_id)
            self._states.pop(event.memory_id, None)
        elif event.memory_id in self._states or "id" in event.after:
            state = self._states.setdefault(event.memory_id, bytearray(8 * len(_FIELDS)))
            _changed(state, told_fields(event.after))
        self._compare(event)

    def end(self) -> None:
        """There are no more events. Raises Refused for a claim that one of them belied, or that none told of."""
        if self._belied is not None:
            raise self._belied
        for (name, revision), claims in self._claims.items():
            if name not in self.forgotten:
                raise Refused(claims[0][2], f"no event {revision} of the log tells of {name}")

    def tells(self, memory_id: str) -> bool:
        """At its end it says what this memory is: its beginning is in it, and it was not forgotten for good since."""
        return memory_id in self._states

    def head(self) -> dict[str, Any]:
        """What the user's head says of the log."""
        last = None if self._last is None else self._last.isoformat()
        return {"sequence": self.sequence, "last_occurred_at": last, "last_removal_sequence": self.sequence}

    def _compare(self, event: Event) -> None:
        claims = self._claims.pop((event.memory_id, event.sequence), [])
        state = self._states.get(event.memory_id)
        if state is None or event.memory_id in self.forgotten:
            return
        beside = ("cell_id",) if is_message(event.memory_id) else ()
        for claimed, old, line in claims:
            unlike = _unlike(state, claimed, _OF_A_VERSION if old else beside)
            if unlike is not None and self._belied is None:
                self._belied = Refused(line, f"{event.memory_id}: {unlike}: is not what the log tells of it")


def _changed(state: bytearray, fields: Mapping[str, Any]) -> bytearray:
    for name, value in fields.items():
        if name in _PLACES:
            state[_PLACES[name]] = _hash(name, value)
    return state


def _hash(name: str, value: Any) -> bytes:
    """Nothing for a default value, which the log may leave out."""
    serialised = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return _NONE if serialised == _DEFAULTS.get(name) else hashlib.blake2b(serialised, digest_size=8).digest()


def _unlike(state: bytes | bytearray, claimed: bytes, but: Iterable[str]) -> str | None:
    """The first field in which the two differ."""
    return next((name for name, place in _PLACES.items() if state[place] != claimed[place] and name not in but), None)
