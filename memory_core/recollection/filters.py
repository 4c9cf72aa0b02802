"""A filter as a predicate on a memory: the same meaning as in a store.

For documents that were not read by a query of the store.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from memory_core.domain.event_log import is_of_its_life
from memory_core.domain.fading import Fading
from memory_core.domain.memory import Memory, Status
from memory_core.domain.messages import MESSAGE
from memory_core.domain.metadata_filter import matches
from memory_core.domain.requests.memories import ListInput
from memory_core.domain.transitions import FOUND_BY_DEFAULT, TRUE_ONCE
from memory_core.ports import Filter

_ANY_STATUS = frozenset(status.value for status in Status)


def of_list(query: ListInput, now: datetime | None = None, fading: Fading | None = None) -> Filter:
    """Build the filter of a list.

    Args:
        query: The list's filters.
        now: The time by which expired and faded memories are left out, unless the query names a
            status or a moment; None for no such limit.
        fading: The rules by which memories fade; None if none fade.

    """
    if query.status is None:
        statuses = frozenset(status.value for status in FOUND_BY_DEFAULT)
    else:
        statuses = _ANY_STATUS if query.status == "all" else frozenset({query.status.value})
    return Filter(
        statuses=statuses,
        types=frozenset({query.type.value} if query.type else ()),
        categories=frozenset({query.category} if query.category else ()),
        tags=frozenset({query.tag} if query.tag else ()),
        session_id=query.session_id,
        agent_id=query.agent_id,
        since=query.since,
        until=query.until,
        at=query.at,
        now=now if query.status is None and query.at is None else None,
        hide_formed_messages=query.category != MESSAGE,
        fading=fading,
        metadata=query.metadata or (),
    )


def of_everything(at: datetime | None, *, hide_formed_messages: bool = False) -> Filter:
    """Build a filter for memories of all statuses.

    Args:
        at: Only memories that were true at this time; None for any.
        hide_formed_messages: Whether messages that belong to a cell are left out, as in a list.

    """
    return Filter(statuses=_ANY_STATUS, at=at, hide_formed_messages=hide_formed_messages)


def as_it_was(memory: Memory, versions: Iterable[Memory], at: datetime) -> Memory | None:
    """Return the version of a memory that was true at a moment.

    Args:
        memory: The memory as it is.
        versions: Its earlier versions, in any order.
        at: The moment.

    Returns:
        The version under the memory's id; None if no version was true then, or if the memory was
        deleted since.

    """
    where = of_everything(at)
    if shows(where, memory):
        return memory
    for version in sorted(versions, key=lambda old_version: -old_version.version):
        if is_of_its_life(version, memory) and shows(where, version):
            return version.shown_as(memory.id)
    return None


def shows(where: Filter, memory: Memory) -> bool:
    """Whether a filter lets a memory through.

    Args:
        where: The filter.
        memory: The memory.

    """
    return _stands(where, memory) and _is_one_of(where, memory) and _is_in_time(where, memory)


def _stands(where: Filter, memory: Memory) -> bool:
    if where.hides_faded is not None and where.has_faded(memory):
        return False
    return memory.status.value in where.standing or (
        where.at is not None and memory.status_reason in TRUE_ONCE
    )


def _is_one_of(where: Filter, memory: Memory) -> bool:
    return (
        (not where.types or memory.type.value in where.types)
        and (not where.categories or memory.category in where.categories)
        and (not where.tags or not where.tags.isdisjoint(memory.tags))
        and (not where.next_ids or memory.next_id in where.next_ids)
        and (where.session_id is None or memory.session_id == where.session_id)
        and (where.without_session_id is None or memory.session_id != where.without_session_id)
        and (where.agent_id is None or memory.agent_id == where.agent_id)
        and not (
            where.hide_formed_messages and memory.category == MESSAGE and memory.cell_id is not None
        )
        and matches(where.metadata, memory.metadata)
    )


def _is_in_time(where: Filter, memory: Memory) -> bool:
    if where.since is not None and memory.event_timestamp < where.since:
        return False
    if where.until is not None and memory.event_timestamp >= where.until:
        return False
    if where.at is not None:
        return memory.valid_from <= where.at and (
            memory.valid_until is None or where.at < memory.valid_until
        )
    return where.now is None or memory.valid_until is None or where.now < memory.valid_until
