"""A memory's states and versions, computed from its events.

The fold is pure and works in steps: to fold some events now and the rest later gives the same
states as to fold all at once. So states may be kept as a snapshot and continued from there. Note:
events do not hold old versions. The writer of a new version keeps the old version by a rule that
this module shares with the writers (`kept_version`), so the log need not repeat it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import orjson

from memory_core.domain.archival import stub_of
from memory_core.domain.memory import UNLOGGED_FIELDS, Event, Memory, MemoryFields, Status
from memory_core.domain.messages import PREFIX
from memory_core.domain.transitions import TRUE_ONCE


@dataclass(frozen=True, slots=True)
class LoggedState:
    """A memory, or an old version of a memory: its logged fields as JSON.

    Fields with default values may be left out. The state is JSON, since all states of a user are in
    memory at once.

    Attributes:
        sequence: Sequence of the memory's first event.
        revision: Sequence of the memory's last event.
        cold: For an old version in the archive, the location of its whole and the time of
            archiving. `json` is that of the whole, which may be restored.

    """

    json: bytes
    sequence: int
    revision: int
    cold: tuple[str, str] | None = None

    @classmethod
    def of(
        cls,
        fields: Mapping[str, Any],
        sequence: int,
        revision: int,
        cold: tuple[str, str] | None = None,
    ) -> LoggedState:
        """A state with these fields.

        Args:
            fields: JSON-ready fields.
            sequence: Sequence of the memory's first event.
            revision: Sequence of the memory's last event.
            cold: Location and time of an archived version, or None.

        """
        # A copy: orjson writes into 1 KB and gives back what it did not need, and these gaps
        # together took four times what the states do (64,000: 264 MB, as dictionaries 104, so 48).
        return cls(bytes(memoryview(orjson.dumps(fields))), sequence, revision, cold)

    @property
    def fields(self) -> dict[str, Any]:
        """The logged fields, parsed again at each access."""
        fields: dict[str, Any] = orjson.loads(self.json)
        return fields

    def memory(self, epoch: str) -> Memory:
        """The memory itself; for an archived version, its stub.

        Fields that no event records (`UNLOGGED_FIELDS`) have their default values.
        """
        whole = self.whole(epoch)
        return (
            whole
            if self.cold is None
            else stub_of(whole, self.cold[0], datetime.fromisoformat(self.cold[1]))
        )

    def whole(self, epoch: str) -> Memory:
        """The memory itself; for an archived version, its whole."""
        return Memory.model_validate(
            {**self.fields, "epoch": epoch, "sequence": self.sequence, "revision": self.revision}
        )

    def row(self) -> list[Any]:
        """The state as a JSON-ready row of a snapshot; `of_row` reads it."""
        return [
            self.sequence,
            self.revision,
            self.fields,
            *([] if self.cold is None else [list(self.cold)]),
        ]

    @classmethod
    def of_row(cls, row: Sequence[Any]) -> LoggedState:
        """Read a state from a row of a snapshot."""
        sequence, revision, fields, *cold = row
        return cls.of(fields, sequence, revision, (cold[0][0], cold[0][1]) if cold else None)


_MESSAGES = f'"source_ids":["{PREFIX}_'.encode()
"""Precedes the ids of messages in the JSON of a memory formed of them."""

States = dict[str, LoggedState]
"""By id, each memory and each old version in the log."""


def fold(states: Mapping[str, LoggedState], events: Iterable[Event]) -> States:
    """The states after these events.

    A memory with a redacted event is left out, at whatever time, until a later event creates it
    again.

    Args:
        states: The states before the events.
        events: The next events after those of `states`, in order.

    """
    folded = dict(states)
    for event in events:
        before = folded.get(event.memory_id)
        if event.redacted:
            _drop(folded, event.memory_id, before)
        elif before is not None:
            _change(folded, event, before)
        elif "id" in event.after:  # the others are about a memory whose beginning was redacted
            folded[event.memory_id] = LoggedState.of(event.after, event.sequence, event.sequence)
    return folded


def cells_of_messages(states: Mapping[str, LoggedState]) -> dict[str, str]:
    """The cell of each message, which no event of the message records.

    If several cells name a message, the cell that was formed last counts. A message belongs to no
    cell when its cell was deleted and the message was not.
    """
    cells = [
        (name, state)
        for name, state in states.items()
        if _MESSAGES in state.json and base_id(name) == name
    ]
    belongs: dict[str, str] = {}
    for name, state in sorted(cells, key=lambda cell: (cell[1].sequence, cell[0])):
        fields = state.fields
        if fields.get("cell_id") != name:
            continue
        gone = fields.get("status") == Status.DELETED.value
        for message in fields["source_ids"]:
            if not gone or _is_deleted(states.get(message)):
                belongs[message] = name
    return belongs


def _is_deleted(state: LoggedState | None) -> bool:
    return state is not None and state.fields.get("status") == Status.DELETED.value


def _change(states: States, event: Event, before: LoggedState) -> None:
    fields = before.fields
    after = {**fields, **event.after}
    version = fields.get("version", 1)
    if after.get("version", 1) > version:
        begins = datetime.fromisoformat(after["valid_from"])
        states[version_id(event.memory_id, version)] = _versioned(
            before, kept_version(before.memory(""), begins)
        )
        # by the log of a slot, which says of each version what became of it
        is_told = str(version) in event.metadata.get(VERSIONS, {})
        if begins < datetime.fromisoformat(fields["valid_from"]) and not is_told:
            _cut_short(states, event.memory_id, version, begins)
    for number, changed in event.metadata.get(VERSIONS, {}).items():
        if (older := states.get(version_id(event.memory_id, int(number)))) is not None:
            states[version_id(event.memory_id, int(number))] = LoggedState.of(
                {**older.fields, **changed}, older.sequence, older.revision, older.cold
            )
    if "archived_at" in event.after:
        _move_versions(states, event.memory_id, version, after)
    states[event.memory_id] = LoggedState.of(after, before.sequence, event.sequence)


def _move_versions(states: States, memory_id: str, versions: int, after: Mapping[str, Any]) -> None:
    """Move old versions into the archive and back together with their memory."""
    cold = (
        None if after["archived_at"] is None else (after["archival_location"], after["archived_at"])
    )
    for name in (version_id(memory_id, number) for number in range(1, versions)):
        if name in states:
            states[name] = replace(states[name], cold=cold)


def _cut_short(states: States, memory_id: str, versions: int, begins: datetime) -> None:
    for name in (version_id(memory_id, number) for number in range(1, versions)):
        older = states.get(name)
        shorter = None if older is None else cut_short(older.whole(""), begins)
        if older is not None and shorter is not None:
            states[name] = _versioned(older, shorter)


def _versioned(state: LoggedState, version: Memory) -> LoggedState:
    fields = version.model_dump(mode="json", exclude=set(UNLOGGED_FIELDS), exclude_defaults=True)
    return LoggedState.of(fields, state.sequence, state.revision, state.cold)


def _drop(states: States, memory_id: str, before: LoggedState | None) -> None:
    if before is not None:
        for number in range(1, before.fields.get("version", 1)):
            states.pop(version_id(memory_id, number), None)
        del states[memory_id]


# Old versions of a memory: their names, and how a new version changes earlier versions.
#
# Note: an old version may be ended by a later version than its successor. A correction may begin
# before several earlier versions, and then it ends all of them. So at most one version of a memory
# holds at any time.


VERSIONS = "versions"
"""In the metadata of an event: fields of old versions that change with the memory.

They are keyed by the numbers of the versions.
"""


def version_id(memory_id: str, version: int) -> str:
    """The document id of an old version.

    Args:
        memory_id: The memory's own id.
        version: The version's number, from 1.

    """
    return f"{memory_id}.v{version}"


def base_id(memory_id: str) -> str:
    """The memory's own id, from its id or the id of an old version."""
    return memory_id.rsplit(".v", 1)[0]


def is_version(memory_id: str) -> bool:
    """Whether an id belongs to an old version."""
    return memory_id != base_id(memory_id)


def kept_version(old: Memory, begins: datetime) -> Memory:
    """The old version of a memory that has a new version.

    A deleted memory gives a deleted version, so that reads of earlier times do not show it again.

    Args:
        old: The memory before its new version.
        begins: The moment from which the new version is valid.

    """
    until = max(begins, old.valid_from)
    changed: MemoryFields = {
        "id": version_id(old.id, old.version),
        "next_id": old.id,
        "valid_until": until if old.valid_until is None else min(old.valid_until, until),
    }
    if old.status is not Status.DELETED:
        changed |= {"status": Status.SUPERSEDED, "status_reason": "new_version"}
    return old.changed(**changed)


def cut_short(version: Memory, begins: datetime) -> Memory | None:
    """An old version with its validity cut at the start of another version.

    Args:
        version: A version before the last version.
        begins: The moment from which the other version is valid.

    Returns:
        The shorter version; None when it already ends by then.

    """
    until = max(begins, version.valid_from)
    if version.valid_until is not None and version.valid_until <= until:
        return None
    return version.changed(valid_until=until)


def taken_back(memory: Memory | None) -> bool:
    """Whether a memory was deleted, cleared or forgotten.

    Then its old versions are not shown either, at whatever time.
    """
    return memory is None or (
        memory.status is Status.DELETED and memory.status_reason not in TRUE_ONCE
    )


def is_of_its_life(version: Memory, memory: Memory | None) -> bool:
    """Whether a read of an earlier time may show this version.

    It may where its memory was not taken back, nor deleted and created again since.

    Args:
        version: An old version.
        memory: The memory as it is now; None if it is gone.

    """
    return memory is not None and not taken_back(memory) and version.created_at == memory.created_at
