"""What a Filter means, once as SQL for pages and once as a mask over a slice for searches. The contract suite holds them together.

One would get wrong: with `at`, a memory that was overtaken since (contradicted, consolidated, new version) counts whatever its
status is now, and old versions count too; without it neither does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from memory_core.adapters.sqlite.rows import listed
from memory_core.adapters.sqlite.slice import FINDABLE, STATUS_CODES, TYPE_CODES, Slice
from memory_core.domain.candidates import Flags
from memory_core.ports import EventFilter, Filter


def conditions(where: Filter | None) -> tuple[str, dict[str, Any]]:
    """SQL to append to a WHERE (named parameters only, every piece starting with AND) and its parameters."""
    if where is None:
        return "", {}
    parts: list[str] = []
    parameters: dict[str, Any] = {"statuses": listed(where.standing)}
    has_status = "status IN (SELECT value FROM json_each(:statuses))"
    if where.at is None:
        parts.append(has_status)
        if where.now is not None:
            parts.append("(valid_until IS NULL OR valid_until > :valid_now)")
            parameters["valid_now"] = where.now.timestamp()
    else:
        parts.append(f"({has_status} OR status_reason IN ('contradicted', 'consolidated', 'new_version'))")
        parts.append("valid_from <= :at AND (valid_until IS NULL OR valid_until > :at)")
        parameters["at"] = where.at.timestamp()
    for column, values in (("type", where.types), ("category", where.categories), ("next_id", where.next_ids)):
        if values:
            parts.append(f"{column} IN (SELECT value FROM json_each(:{column}_values))")  # noqa: S608 - our own names
            parameters[f"{column}_values"] = listed(values)
    if where.tags:
        parts.append("EXISTS (SELECT 1 FROM json_each(documents.tags) AS tag WHERE tag.value IN (SELECT value FROM json_each(:tags)))")
        parameters["tags"] = listed(where.tags)
    for column, value in (("session_id", where.session_id), ("agent_id", where.agent_id)):
        if value is not None:
            parts.append(f"{column} = :{column}")
            parameters[column] = value
    for name, moment, comparison in (("since", where.since, ">="), ("until", where.until, "<")):
        if moment is not None:
            parts.append(f"event_at {comparison} :{name}")
            parameters[name] = moment.timestamp()
    return "".join(f" AND {part}" for part in parts), parameters


def event_conditions(where: EventFilter | None) -> tuple[str, dict[str, Any]]:
    """The same for events."""
    if where is None:
        return "", {}
    parts: list[str] = []
    parameters: dict[str, Any] = {}
    for column, values in (("type", where.types), ("event_type", where.event_types)):
        if values:
            parts.append(f"{column} IN (SELECT value FROM json_each(:{column}_values))")  # noqa: S608 - our own names
            parameters[f"{column}_values"] = listed(values)
    compared = (
        ("memory_id", "=", where.memory_id),
        ("correlation_id", "=", where.correlation_id),
        ("event_at", ">=", None if where.since is None else where.since.timestamp()),
        ("event_at", "<", None if where.until is None else where.until.timestamp()),
        ("sequence", "<=", where.up_to),
    )
    for number, (column, comparison, value) in enumerate(compared):
        if value is not None:
            parts.append(f"{column} {comparison} :event_{number}")
            parameters[f"event_{number}"] = value
    return "".join(f" AND {part}" for part in parts), parameters


def standing_rows(held: Slice, where: Filter) -> Flags:
    """The part of a filter that says what stands (status, validity, versions), without the narrowing by type, tag, session…

    Neighbouring turns must stand, too, or a deleted memory would still speak through the one beside it.
    """
    if where.statuses == FINDABLE and where.at is None and (where.now is None or not held.expiring):
        return held.column("findable").copy()
    standing = _among(held, "status", [STATUS_CODES[status] for status in where.standing])
    until = held.column("valid_until")
    if where.at is None:
        standing &= ~held.column("version")
        if where.now is not None:
            standing &= ~(until <= where.now.timestamp())
    else:
        at = where.at.timestamp()
        standing |= held.column("overtaken")
        standing &= held.column("valid_from") <= at
        standing &= ~(until <= at)
    standing &= held.column("alive")
    return standing


def narrowed(held: Slice, where: Filter, standing: Flags) -> Flags:
    """The rows of `standing` that the rest of the filter leaves."""
    mask = standing.copy()
    if where.types:
        mask &= _among(held, "type", [TYPE_CODES[one] for one in where.types])
    if where.categories:
        mask &= _among(held, "category", map(held.categories.known, where.categories))
    if where.next_ids:
        mask &= _among(held, "successor", map(held.successors.known, where.next_ids))
    if where.session_id is not None:
        mask &= _among(held, "session", [held.sessions.known(where.session_id)])
    if where.agent_id is not None:
        mask &= _among(held, "agent", [held.agents.known(where.agent_id)])
    if where.tags:
        tagged = np.zeros(len(mask), dtype=np.bool_)
        for tag in where.tags:
            tagged[held.tagged(tag)] = True
        mask &= tagged
    if where.since is not None:
        mask &= held.column("event_at") >= where.since.timestamp()
    if where.until is not None:
        mask &= held.column("event_at") < where.until.timestamp()
    return mask


def _among(held: Slice, column: str, wanted: Iterable[int]) -> Flags:
    """Which rows have one of the wanted codes; a code below 0 (nobody has it) is none. A table, since np.isin takes 0.1 ms more."""
    codes = held.column(column)
    known = [code for code in wanted if code >= 0]
    table = np.zeros(max(known, default=-1) + 2, dtype=np.bool_)
    table[known] = True  # the last place stays False: for higher codes, and for -1 = none
    mask: Flags = table[np.minimum(codes, len(table) - 1)]
    return mask
