"""Which messages of a call are new, where callers send a history again."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from memory_core.domain.normal_form import normal_form

MAX_MARKS = 1_000
"""Marks that are kept of a session, the latest ones. Messages before them are known again by their ids alone: whatever call begins with
one of these and has no ids is new from there on.
"""
MARK_CHARACTERS = 12
SHORTEST_EDITED_RUN = 2
"""Messages that a history must share with what is kept before a difference behind them is taken for an edit of its end."""
SHORTEST_REPEATED_CALL = 8
"""Messages of a call that is known again wherever it stands whole in what is kept: a long history is sent again in several calls."""


@dataclass(frozen=True, slots=True)
class HistoryMatch:
    """What of a call is new.

    new: places in the call, in order. kept: the marks of the session after it, the latest last. dropped: how many of the marks that were
    kept stand no longer at the history's end, because it was edited (an answer was made anew).
    """

    new: tuple[int, ...]
    kept: tuple[str, ...]
    dropped: int = 0


def message_mark(role: str, content: str) -> str:
    """A digest of who says what: 12 characters. Times, names and ids don't count, and neither does white space or the form of letters."""
    text = " ".join(normal_form("NFC", content).split())
    digest = hashlib.sha256(f"{role}\0{text}".encode("utf-8", "surrogatepass")).digest()
    return base64.urlsafe_b64encode(digest)[:MARK_CHARACTERS].decode()


def known_prefix(kept: Sequence[str], call: Sequence[str | None]) -> int:
    """The length of the longest run that begins the call and ends what is kept.

    So a growing history and a sliding window are known again, and a second "hi" later is new. Linear in both.

    Args:
        kept: Marks of the session, the latest last.
        call: Marks of the call in order; None matches nothing.

    """
    return next(reversed(_runs(kept, call)), 0)


def edited_prefix(kept: Sequence[str], call: Sequence[str | None]) -> tuple[int, int]:
    """The longest run that begins the call and comes before an end of what is kept that the call has edited.

    A call is an edited history where it goes on differently after a run of at least `SHORTEST_EDITED_RUN` messages, which is no shorter
    than what it leaves out of the end of what is kept. Linear in both.

    Args: as `known_prefix` has them.

    Returns:
        The run's length, and how many marks of the end of `kept` it leaves out; (0, 0) where the call is none.

    """
    best = (0, 0)
    for place, run in enumerate(_runs(kept, call[:-1])):
        dropped = len(kept) - 1 - place
        if 0 < dropped <= run and run >= max(SHORTEST_EDITED_RUN, best[0]):
            best = (run, dropped)
    return best


def is_repeated_call(kept: Sequence[str], call: Sequence[str | None]) -> bool:
    """Whether a call of at least `SHORTEST_REPEATED_CALL` messages stands in what is kept, whole and in order. Linear in both."""
    return len(call) >= SHORTEST_REPEATED_CALL and len(call) in _runs(kept, call)


def match_history(
    kept: Sequence[str], call: Sequence[str], ids: Sequence[str | None] = (), known_ids: Collection[str] = frozenset()
) -> HistoryMatch:
    """Find what of a call is new in its session.

    Known again are messages whose id is known, wherever they stand, and the longest run of role and text that begins the call and ends
    what is kept, or comes before an end that was edited; so is a long call that is kept whole. Once ids of the session are known, a message
    with another id is no other's repetition, whatever it says.

    Args:
        kept: Marks of the session, the latest last.
        call: Marks of the call in order.
        ids: The ids of the call's messages, None for one without; empty where none has one.
        known_ids: Ids of messages that are kept.

    Returns:
        The new ones, and the marks to keep from now on, at most `MAX_MARKS`.

    """
    names: Sequence[str | None] = ids or [None] * len(call)
    marks = [None if name is not None and known_ids and name not in known_ids else mark for mark, name in zip(call, names, strict=True)]
    run, dropped = len(call) if is_repeated_call(kept, marks) else known_prefix(kept, marks), 0
    edited_run, edited_dropped = edited_prefix(kept, marks)
    if edited_run > run:
        run, dropped = edited_run, edited_dropped
    seen, new = set(names[:run]), []
    for place in range(run, len(call)):
        name = names[place]
        if name is None or (name not in known_ids and name not in seen):
            new.append(place)
        seen.add(name)
    after = [*kept[: len(kept) - dropped], *(call[place] for place in new)]
    return HistoryMatch(tuple(new), tuple(after[-MAX_MARKS:]), dropped)


def _runs(kept: Iterable[str], call: Sequence[str | None]) -> list[int]:
    """For each place of `kept`, the length of the longest run that begins the call and ends there (Knuth, Morris, Pratt)."""
    borders = _borders(call)
    runs, run = [], 0
    for mark in kept:
        while run and (run == len(call) or call[run] != mark):
            run = borders[run - 1]
        if run < len(call) and call[run] == mark:
            run += 1
        runs.append(run)
    return runs


def _borders(call: Sequence[str | None]) -> list[int]:
    """For each place of the call, the length of the longest proper beginning of the call that ends there."""
    borders, border = [0] * len(call), 0
    for place in range(1, len(call)):
        mark = call[place]
        while border and (call[border] != mark or mark is None):
            border = borders[border - 1]
        if mark is not None and call[border] == mark:
            border += 1
        borders[place] = border
    return borders
