"""The log of a slot without a log, rebuilt from its members.

Earlier versions of the product stored members without a log. They kept only the outcome: where a
truth ended, not why. Note: an end at which the successor begins was not a stated end. Truths that
hold at the same time coexist on purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations
from typing import cast

from memory_core.domain.memory import FOUND_BY_DEFAULT, Memory, Status
from memory_core.domain.truth.entries import (
    Assertion,
    Entry,
    Hiding,
    Merge,
    Pair,
    Place,
    Retraction,
    Withdrawal,
)
from memory_core.domain.truth.slots import is_retraction

ValueOf = Callable[[Memory], str | None]


def log_of_members(
    members: Iterable[Memory], versions: Iterable[Memory], value_of: ValueOf
) -> list[Entry]:
    """The log that would have led to these members, as far as they show it.

    Args:
        members: The memories of the slot, as stored.
        versions: Their old versions, with the ids of their memories or their own ids.
        value_of: Gives the value of a memory as the log compares it.

    Returns:
        Entries with places of their own, in the order in which the members were stored.

    """
    by_id, older = {member.id: member for member in members}, list(versions)
    ordered = sorted(by_id.values(), key=lambda member: (member.sequence, member.id))
    made: list[Entry] = []
    for memory in ordered:
        own = [each for each in older if each.id.rsplit(".v", 1)[0] == memory.id]
        before = sorted(own, key=lambda version: version.version)
        _tell(made, memory, before, by_id, value_of)
    standing = (member for member in ordered if member.status in FOUND_BY_DEFAULT)
    for old, new in combinations(standing, 2):
        if _share_a_moment(old, new):
            shared = [name for name in old.conflict_ids if name in new.conflict_ids]
            conflict_id, sequence = next(iter(shared), None), max(old.revision, new.revision, 1)
            pair = Pair(sequence=sequence, memory_ids=(old.id, new.id), conflict_id=conflict_id)
            _add(made, pair)
    return made


def _add(made: list[Entry], entry: Entry) -> Place:
    """Add an entry in a place of its own.

    Its part is its number among all entries.
    """
    made.append(replace(entry, part=len(made)))
    return made[-1].place


def _tell(
    made: list[Entry],
    memory: Memory,
    before: Sequence[Memory],
    known: Mapping[str, Memory],
    value_of: ValueOf,
) -> None:
    """Add the statements of a memory and its old versions, and their later fate."""
    places: list[Place] = []
    previous: Memory | None = None
    for version in (*before, memory):
        sequence = version.sequence if previous is None else previous.revision + 1
        is_edit = previous is not None and memory.key is None
        for number, statement in enumerate(
            _statements(version, memory.id, max(sequence, 1), known, value_of)
        ):
            edits = previous.version if previous is not None and is_edit and number == 0 else None
            places.append(_add(made, replace(statement, edits=edits)))
        previous = version
    since = max(memory.revision, memory.sequence, 1)
    if memory.status is Status.DELETED and memory.status_reason == "contradicted":
        _add(made, Withdrawal(sequence=since, places=tuple(places)))
    elif memory.status is Status.DELETED:
        _add(made, Hiding(sequence=since, memory_id=memory.id))
    elif memory.status is Status.UPDATED and memory.next_id is not None:
        _add(made, Merge(sequence=since, memory_ids=(memory.id,), into=memory.next_id))


def _statements(
    version: Memory, memory_id: str, sequence: int, known: Mapping[str, Memory], value_of: ValueOf
) -> list[Assertion | Retraction]:
    """The statements of a version, for each moment at which it was said."""
    moments = sorted({*version.told_at, version.event_timestamp})
    until = _stated_end(version, known)
    kind: type[Assertion] | type[Retraction] = Retraction if is_retraction(version) else Assertion
    made: list[Assertion | Retraction] = []
    for moment in moments:
        start = version.valid_from if not made else max(moment, version.valid_from)
        if until is not None and start >= until and made:
            continue
        is_first = version.version == 1 and not made
        made.append(
            kind(
                sequence=sequence,
                memory_id=memory_id,
                version=version.version,
                value=cast("str", value_of(version)),
                asserted_at=min(moment, version.created_at) if is_first else moment,
                valid_from=start,
                valid_until=until,
            )
        )
    return made


def _stated_end(version: Memory, known: Mapping[str, Memory]) -> datetime | None:
    """The end that was stated; None for an end that follows from another truth."""
    until = version.valid_until
    if (
        until is None
        or until <= version.valid_from
        or version.next_id == version.id.rsplit(".v", 1)[0]
    ):
        return None
    follower = None if version.next_id is None else known.get(version.next_id)
    if version.next_id is not None and (follower is None or follower.valid_from <= until):
        return None
    return until


def _share_a_moment(old: Memory, new: Memory) -> bool:
    first, second = sorted((old, new), key=lambda each: each.valid_from)
    is_empty = any(
        each.valid_until is not None and each.valid_until <= each.valid_from for each in (old, new)
    )
    return not is_empty and (first.valid_until is None or second.valid_from < first.valid_until)
