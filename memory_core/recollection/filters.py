"""The filter as a predicate on one memory: the same meaning as in a store, for documents that came another way."""

from __future__ import annotations

from memory_core.domain.lifecycle import TRUE_ONCE
from memory_core.domain.models import Memory, Status
from memory_core.ports import Filter


def taken_back(memory: Memory | None) -> bool:
    """Whether a memory was deleted, cleared or forgotten: then its old versions are not shown either, whatever time is looked at."""
    return memory is None or (memory.status is Status.DELETED and memory.status_reason not in TRUE_ONCE)


def shows(where: Filter, memory: Memory) -> bool:
    """Whether the filter lets this memory through."""
    return _stands(where, memory) and _is_one_of(where, memory) and _is_in_time(where, memory)


def _stands(where: Filter, memory: Memory) -> bool:
    if memory.status.value in where.statuses:
        return True
    return where.at is not None and memory.status_reason in TRUE_ONCE


def _is_one_of(where: Filter, memory: Memory) -> bool:
    return (
        (not where.types or memory.type.value in where.types)
        and (not where.categories or memory.category in where.categories)
        and (not where.tags or not where.tags.isdisjoint(memory.tags))
        and (not where.next_ids or memory.next_id in where.next_ids)
        and (where.session_id is None or memory.session_id == where.session_id)
        and (where.agent_id is None or memory.agent_id == where.agent_id)
    )


def _is_in_time(where: Filter, memory: Memory) -> bool:
    if where.since is not None and memory.event_timestamp < where.since:
        return False
    if where.until is not None and memory.event_timestamp >= where.until:
        return False
    if where.at is not None:
        return memory.valid_from <= where.at and (memory.valid_until is None or where.at < memory.valid_until)
    return where.now is None or memory.valid_until is None or where.now < memory.valid_until
