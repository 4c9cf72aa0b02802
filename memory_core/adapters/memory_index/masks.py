"""The meaning of a filter, as a mask over the rows of a slice.

Note: with `at`, a memory that was overtaken since (contradicted, consolidated, new version)
counts whatever its status is now, and old versions count too; without it neither does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime

import numpy as np

from memory_core.adapters.memory_index.columns import FINDABLE, STATUS_CODES, TYPE_CODES, Slice
from memory_core.domain.fading import (
    LEAST_IMPORTANCE,
    MOST_USES,
    USES_A_TELLING,
    USES_THAT_DOUBLE,
    Fading,
)
from memory_core.domain.messages import MESSAGE
from memory_core.domain.ranking.candidates import Flags, Ints
from memory_core.ports import Filter


def rows_by_status(user_slice: Slice, where: Filter) -> Flags:
    """The rows that a filter admits by status, validity and versions alone.

    Type, tag, session and further fields do not narrow them. Neighbouring turns must be admitted in
    this way too, or a deleted memory would still have an effect through the memory beside it.

    Args:
        user_slice: The slice.
        where: The filter.

    """
    if (
        where.statuses == FINDABLE
        and where.at is None
        and (where.now is None or not user_slice.expiring)
    ):
        return user_slice.column("findable").copy()
    standing = _among(user_slice, "status", [STATUS_CODES[status] for status in where.standing])
    until = user_slice.column("valid_until")
    if where.at is None:
        standing &= ~user_slice.column("version")
        if where.now is not None:
            standing &= ~(until <= where.now.timestamp())
    else:
        at = where.at.timestamp()
        standing |= user_slice.column("overtaken")
        standing &= user_slice.column("valid_from") <= at
        standing &= ~(until <= at)
    standing &= user_slice.column("alive")
    if (hidden := where.hides_faded) is not None:
        standing &= ~faded_rows(user_slice, np.arange(len(user_slice)), *hidden)
    return standing


def faded_rows(user_slice: Slice, rows: Ints, rules: Fading, now: datetime) -> Flags:
    """The rows that have faded at a moment, marked as decayed or not.

    It is `fading.has_faded` by columns.

    Args:
        user_slice: The slice.
        rows: The rows to check.
        rules: The rules of fading.
        now: The moment.

    """
    status = user_slice.column("status")[rows]
    uses = (
        user_slice.column("access_count")[rows]
        + USES_A_TELLING * user_slice.column("tellings")[rows]
    )
    worth = user_slice.column("worth_factor")[rows]
    lasts = np.where(np.isinf(worth), 0.0, worth) * (
        1.0 + np.minimum(uses, MOST_USES) / USES_THAT_DOUBLE
    )
    base, floor = (
        np.log2(np.maximum(user_slice.column("importance_base")[rows], LEAST_IMPORTANCE)),
        rules.bounds(now)["floor"],
    )
    fades_at = user_slice.column("accessed_at")[rows] + rules.half_life_s * lasts * np.maximum(
        base - floor, 0.0
    )
    fades_at[np.isinf(worth)] = np.inf
    faded: Flags = (status == STATUS_CODES["decayed"]) | (
        (status == STATUS_CODES["active"]) & (fades_at < now.timestamp())
    )
    return faded


def narrowed(user_slice: Slice, where: Filter, standing: Flags) -> Flags:
    """The rows of `standing` that match the rest of the filter.

    Args:
        user_slice: The slice.
        where: The filter.
        standing: The rows of `rows_by_status`.

    """
    mask = standing.copy()
    if where.types:
        mask &= _among(user_slice, "type", [TYPE_CODES[memory_type] for memory_type in where.types])
    if where.categories:
        mask &= _among(user_slice, "category", map(user_slice.categories.known, where.categories))
    if where.next_ids:
        mask &= _among(user_slice, "successor", map(user_slice.successors.known, where.next_ids))
    if where.session_id is not None:
        mask &= _among(user_slice, "session", [user_slice.sessions.known(where.session_id)])
    if where.without_session_id is not None:
        mask &= ~_among(
            user_slice, "session", [user_slice.sessions.known(where.without_session_id)]
        )
    if where.agent_id is not None:
        mask &= _among(user_slice, "agent", [user_slice.agents.known(where.agent_id)])
    if where.tags:
        tagged = np.zeros(len(mask), dtype=np.bool_)
        for tag in where.tags:
            tagged[user_slice.tagged(tag)] = True
        mask &= tagged
    if where.hide_formed_messages:
        mask &= ~(messages(user_slice) & (user_slice.column("cell") >= 0))
    if where.since is not None:
        mask &= user_slice.column("event_at") >= where.since.timestamp()
    if where.until is not None:
        mask &= user_slice.column("event_at") < where.until.timestamp()
    return mask


def rows_of(user_slice: Slice, ids: Collection[str]) -> Flags:
    """The rows of these memories.

    Args:
        user_slice: A user's slice.
        ids: Ids of memories.

    """
    named = np.zeros(len(user_slice), dtype=np.bool_)
    named[[row for name in ids if (row := user_slice.row(name)) >= 0]] = True
    return named


def messages(user_slice: Slice) -> Flags:
    """The rows of messages as they were said."""
    return _among(user_slice, "category", [user_slice.categories.known(MESSAGE)])


def _among(user_slice: Slice, column: str, wanted: Iterable[int]) -> Flags:
    """The rows with any of the wanted codes.

    A code below 0 (no row has that name) matches no row. A table is used, since np.isin takes 0.1
    ms more.
    """
    codes = user_slice.column(column)
    known = [code for code in wanted if code >= 0]
    table = np.zeros(max(known, default=-1) + 2, dtype=np.bool_)
    table[known] = True  # the last place stays False: for higher codes, and for -1 = none
    mask: Flags = table[np.minimum(codes, len(table) - 1)]
    return mask
