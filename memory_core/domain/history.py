"""Which messages of a call are new, where callers send a history again.

A session keeps a mark of each message: who says what, and when. Turns are known in runs; system messages, which are instructions and no
turns, are known one by one and break no run. Note: a call has some hundred messages and a session at most `MAX_MARKS` marks; runs are
searched place by place.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from memory_core.domain.chat_messages import ReadMessage
from memory_core.domain.normal_form import normal_form

MAX_MARKS: Final = 1_000
"""Marks that are kept of a session, the latest ones. Messages before them are known again by their ids alone: whatever call begins with
one of these and has no ids is new from there on.
"""
MARK_CHARACTERS: Final = 9
SHORTEST_EDITED_RUN: Final = 2
"""Messages that a history must share with what is kept before a difference behind them is taken for an edit of its end."""
SHORTEST_REPEATED_CALL: Final = 8
"""Messages of a call that is known again wherever it stands whole in what is kept: a long history is sent again in several calls."""
SHORTEST_TRIMMED_RUN: Final = 3
"""Messages that the beginning and the end of a history share with what is kept where a call leaves out what was between them."""
_OF_SYSTEM: Final = "!"
"""What the mark of a system message begins with; no other mark does."""
_CLOCK: Final = re.compile(
    r"\d+(?:st|nd|rd|th)?|\b[ap]\.?m\b\.?|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    r"|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
    r"|\b(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)\b|(?<=\d)[TZ]",
    re.IGNORECASE,
)
"""What changes in an instruction with the time of the call."""
_TOOL_NAMES: Final = re.compile(r"^(?:[\w.-]{1,64}: )+", re.MULTILINE)
_TOOL_CHARACTERS: Final = 1_000
"""Of a tool's doing that its mark is made of: a long result is cut, and with its tool's name a little earlier."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TIME_BYTES: Final = 6
_LATEST: Final = 2 ** (8 * _TIME_BYTES - 1) - 1
"""The last moment that has room, in the year 6429."""


@dataclass(frozen=True, slots=True)
class CallMessage:
    """A message of a call, as far as it takes to know it again.

    at: when it was said, in milliseconds since 1970; the moment of the call where its teller says no time. is_given: whether he does.
    """

    mark: str
    at: int = 0
    is_given: bool = False
    id: str | None = None

    @classmethod
    def of(cls, message: ReadMessage, now: datetime) -> CallMessage:
        """The message as it was read from a call of this moment."""
        at, is_given = message.timestamp or now, message.timestamp is not None
        return cls(message_mark(message.role or "user", message.content), _milliseconds(at), is_given, message.id)

    @property
    def kept(self) -> str:
        """What its session keeps of it."""
        return self.mark + base64.urlsafe_b64encode(self.at.to_bytes(_TIME_BYTES, "big", signed=True)).decode()

    def repeats(self, kept: str) -> bool:
        """Whether it may be a message that the session has: of the same mark, and not given a later time."""
        return kept.startswith(self.mark) and not (self.is_given and self.at > _time_of(kept, self.at))


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
    """A digest of who says what, without times, names, ids, white space and the form of letters; of a system message without numbers, too.

    The name of a tool does not count before its result: it is known only where the tool's call is in the same request.
    """
    if role == "tool":
        content = _TOOL_NAMES.sub("", content)[:_TOOL_CHARACTERS]
    if role == "system":
        content = _CLOCK.sub("", content)
    text = " ".join(normal_form("NFC", content).split())
    digest = hashlib.sha256(f"{role}\0{text}".encode("utf-8", "surrogatepass")).digest()
    mark = base64.urlsafe_b64encode(digest).decode()
    return (_OF_SYSTEM + mark if role == "system" else mark)[:MARK_CHARACTERS]


def kept_mark(role: str, content: str, at: datetime) -> str:
    """What a session keeps of a message that was said at a moment."""
    return CallMessage(message_mark(role, content), _milliseconds(at)).kept


def known_run(kept: Sequence[str], call: Sequence[CallMessage]) -> tuple[int, int]:
    """How many messages at the beginning of a call its session has; none of them is a system message.

    The longest run counts that begins the call and

    - ends what is kept (a growing history, a sliding window);
    - or comes before an end that the call has edited: it goes on differently after a run of at least `SHORTEST_EDITED_RUN` messages, which
      is no shorter than what it leaves out of the end of what is kept;
    - or is the whole call, and longer than what is kept after it, or of at least `SHORTEST_REPEATED_CALL` messages;
    - or has a gap: a beginning that stands anywhere, then what ends what is kept, together at least `SHORTEST_TRIMMED_RUN` messages.

    Args:
        kept: Marks of the session, the latest last.
        call: The call's messages in order.

    Returns:
        The run's length, and how many marks of the end of `kept` the call has edited.

    """
    best, dropped, heads = 0, 0, list[int]()  # heads: for each length of a run, where the first one ends that does not end what is kept
    for start in range(len(kept)):
        run = _run_at(kept, start, call)
        if not run:
            continue
        left = len(kept) - start - run
        if left:
            heads += [start + length for length in range(len(heads) + 1, run + 1)]
        is_known = not left or (run == len(call) and (left < run or run >= SHORTEST_REPEATED_CALL))
        is_edited = run < len(call) and run >= max(SHORTEST_EDITED_RUN, left)
        if (is_known or is_edited) and (run > best or (run == best and dropped)):
            best, dropped = run, 0 if is_known else left
    tails = _runs_at_the_end(kept, call) if heads else []
    for length, end in enumerate(heads, start=1):
        tail = max((tail for tail in tails[length] if tail < len(kept) - end), default=0)
        if tail and length + tail >= max(best + 1, SHORTEST_TRIMMED_RUN):
            best, dropped = length + tail, 0
    return best, dropped


def match_history(kept: Sequence[str], call: Sequence[CallMessage], known_ids: Collection[str] = frozenset()) -> HistoryMatch:
    """Find what of a call is new in its session.

    Known again are messages whose id is known, wherever they stand; of the turns, `known_run`; and system messages of a text that the
    session has, unless they are given a later time behind the first turn. Once ids of the session are known, a turn with another id is no
    other's repetition, whatever it says.

    Args:
        kept: Marks of the session, the latest last.
        call: The call's messages in order.
        known_ids: Ids of messages that are kept.

    Returns:
        The new ones, and the marks to keep from now on, at most `MAX_MARKS`.

    """
    kept_turns = [place for place, mark in enumerate(kept) if not mark.startswith(_OF_SYSTEM)]
    systems = {mark[:MARK_CHARACTERS]: mark for mark in kept if mark.startswith(_OF_SYSTEM)}
    turns = [place for place, message in enumerate(call) if not message.mark.startswith(_OF_SYSTEM)]
    run, dropped = known_run([kept[place] for place in kept_turns], [_with_ids(call[place], known_ids) for place in turns])
    known = {*turns[:run]}
    for place, message in enumerate(call):
        if message.mark.startswith(_OF_SYSTEM):
            timed = message if turns and place > turns[0] else replace(message, is_given=False)
            if timed.repeats(systems.get(message.mark, "")):
                known.add(place)
    seen, new = {call[place].id for place in known}, list[int]()
    for place, message in enumerate(call):
        if place not in known and (message.id is None or (message.id not in known_ids and message.id not in seen)):
            new.append(place)
        seen.add(message.id)
    edited = {*kept_turns[len(kept_turns) - dropped :]}
    after = [mark for place, mark in enumerate(kept) if place not in edited] + [call[place].kept for place in new]
    return HistoryMatch(tuple(new), tuple(after[-MAX_MARKS:]), dropped)


def _with_ids(message: CallMessage, known_ids: Collection[str]) -> CallMessage:
    """The message, with a mark that none has where its id is new and others of its call are known."""
    is_other = message.id is not None and known_ids and message.id not in known_ids
    return replace(message, mark="\0") if is_other else message


def _run_at(kept: Sequence[str], start: int, call: Sequence[CallMessage]) -> int:
    """How many messages from the beginning of the call repeat what is kept from `start` on."""
    run = 0
    for message in call[: len(kept) - start]:
        if not message.repeats(kept[start + run]):
            break
        run += 1
    return run


def _runs_at_the_end(kept: Sequence[str], call: Sequence[CallMessage]) -> list[set[int]]:
    """For each place of the call, and the one behind it, the lengths of the runs that begin there and end what is kept."""
    runs = [{0}]
    for message in reversed(call):
        longer = {run + 1 for run in runs[-1] if run < len(kept) and message.repeats(kept[-1 - run])}
        runs.append(longer | {0})
    return runs[::-1]


def _milliseconds(moment: datetime) -> int:
    return min((moment - _EPOCH) // timedelta(milliseconds=1), _LATEST)


def _time_of(kept: str, default: int) -> int:
    """The time of a message that is kept; the default where none is, as earlier versions did."""
    time = kept[MARK_CHARACTERS:]
    if len(time) * 3 != _TIME_BYTES * 4:
        return default
    return int.from_bytes(base64.urlsafe_b64decode(time), "big", signed=True)
