"""The log of a slot without a log, rebuilt from its members.

Earlier versions of the product stored members without a log. They kept only the outcome: where a
truth ended, not why. Note: an end at which the successor begins was not a stated end. Truths that
hold at the same time coexist on purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations
from typing import cast

from memory_core.domain.memory import Memory, Status
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from memory_core.domain.truth.entries import (
    Assertion,
    Entry,
    Hiding,
    Merge,
    Pair,
    Place,
    Retraction,
    Statement,
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

    def add(entry: Entry) -> Place:
        """Add an entry; its part is its number among all entries."""
        made.append(replace(entry, part=len(made)))
        return made[-1].place

    for memory in ordered:
        own = [each for each in older if _base_id(each) == memory.id]
        before = sorted(own, key=lambda version: version.version)
        statements = _statements([*before, memory], by_id, value_of)
        for entry in _fate(memory, [add(statement) for statement in statements]):
            add(entry)
    standing = (member for member in ordered if member.status in FOUND_BY_DEFAULT)
    for old, new in combinations(standing, 2):
        if _share_a_moment(old, new):
            shared = [name for name in old.conflict_ids if name in new.conflict_ids]
            conflict_id, sequence = next(iter(shared), None), max(old.revision, new.revision, 1)
            add(Pair(sequence=sequence, memory_ids=(old.id, new.id), conflict_id=conflict_id))
    return made


def _statements(
    versions: Sequence[Memory], known: Mapping[str, Memory], value_of: ValueOf
) -> Iterator[Statement]:
    """The statements of a memory's versions, for each moment at which one was said."""
    previous: Memory | None = None
    for version in versions:
        sequence = version.sequence if previous is None else previous.revision + 1
        until = _stated_end(version, known)
        moments = sorted({*version.told_at, version.event_timestamp})
        for number, moment in enumerate(moments):
            start = max(moment, version.valid_from) if number else version.valid_from
            if until is not None and start >= until and number:
                continue
            is_edit = previous is not None and version.key is None and not number
            is_first = version.version == 1 and not number
            yield (Retraction if is_retraction(version) else Assertion)(
                sequence=max(sequence, 1),
                memory_id=_base_id(version),
                version=version.version,
                value=cast("str", value_of(version)),
                asserted_at=min(moment, version.created_at) if is_first else moment,
                valid_from=start,
                valid_until=until,
                edits=previous.version if previous is not None and is_edit else None,
            )
        previous = version


def _fate(memory: Memory, places: Sequence[Place]) -> Iterator[Entry]:
    """What became of a memory whose statements have these places."""
    since = max(memory.revision, memory.sequence, 1)
    if memory.status is Status.DELETED and memory.status_reason == "contradicted":
        yield Withdrawal(sequence=since, places=tuple(places))
    elif memory.status is Status.DELETED:
        yield Hiding(sequence=since, memory_id=memory.id)
    elif memory.status is Status.UPDATED and memory.next_id is not None:
        yield Merge(sequence=since, memory_ids=(memory.id,), into=memory.next_id)


def _stated_end(version: Memory, known: Mapping[str, Memory]) -> datetime | None:
    """The end that was stated; None for an end that follows from another truth."""
    until, next_id = version.valid_until, version.next_id
    if until is None or until <= version.valid_from or next_id is None:
        return until if until is not None and until > version.valid_from else None
    follower = None if next_id == _base_id(version) else known.get(next_id)
    return None if follower is None or follower.valid_from <= until else until


def _base_id(version: Memory) -> str:
    """The id of the memory that it is a version of."""
    return version.id.rsplit(".v", 1)[0]


def _share_a_moment(old: Memory, new: Memory) -> bool:
    first, second = sorted((old, new), key=lambda each: each.valid_from)
    is_empty = any(
        each.valid_until is not None and each.valid_until <= each.valid_from for each in (old, new)
    )
    return not is_empty and (first.valid_until is None or second.valid_from < first.valid_until)
