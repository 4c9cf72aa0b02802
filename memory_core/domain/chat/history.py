"""Which messages of a call are new, where callers send a history again.

A session keeps a mark of each message: its speaker, words and time, and whether it has an id. A
message that was deleted for good leaves a hole among the marks. The hole holds its time and a seal:
a digest of its mark under a key that the store does not have. Holes of earlier versions, and holes
from an import, have no seal, and any message in their place fills them. Turns are recognised in
runs (`history_alignment.py`). System messages are instructions, not turns: they are recognised
singly and break no run.
"""

from __future__ import annotations

import base64
import hashlib
import re
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np

from memory_core.domain.chat.history_alignment import RepeatedMessage, aligned
from memory_core.domain.chat.read_message import ReadMessage
from memory_core.domain.text.spelling import ANY_MONTH
from memory_core.domain.text.unicode_forms import normal_form

MAX_MARKS: Final = 1_000
"""The most marks that are kept of a session: the latest.

Earlier messages are recognised by their ids alone. If a call begins with an earlier message and has
no ids, its messages are new from there on.
"""
MARK_CHARACTERS: Final = 9
_OF_SYSTEM: Final = "!"
"""The prefix of a system message's mark; no other mark has it."""
_HOLE: Final = "?" * MARK_CHARACTERS
"""The placeholder for the mark of a message that was forgotten."""
_SEAL_CHARACTERS: Final = 9
_WITH_ID: Final = "#"
"""The suffix of a message's mark that was sent with an id."""
_CLOCK: Final = re.compile(
    r"\d+(?:st|nd|rd|th)?|\b[ap]\.?m\b\.?|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    rf"|\b(?:{ANY_MONTH})\b"
    r"|\b(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)\b|(?<=\d)[TZ]",
    re.IGNORECASE,
)
"""The words of an instruction that change with the time of the call."""
_TOOL_NAMES: Final = re.compile(r"^(?:[\w.-]{1,64}: )+", re.MULTILINE)
_TOOL_CHARACTERS: Final = 1_000
"""Characters of a tool's result that its mark is made of.

A long result is cut when it is stored, and a little earlier with its tool's name.
"""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TIME_BYTES: Final = 6
_TIME_CHARACTERS: Final = _TIME_BYTES * 4 // 3
_LATEST: Final = 2 ** (8 * _TIME_BYTES - 1) - 1
"""The last moment that has room, in the year 6429."""


@dataclass(frozen=True, slots=True)
class CallMessage:
    """A message of a call, with the data that recognises it.

    Attributes:
        mark: Digest of role and content.
        at: When it was said, in milliseconds since 1970. It is the moment of the call where the
            sender gives no time.
        is_given: Whether the sender gives a time.
        id: The sender's id, or None.

    """

    mark: str
    at: int = 0
    is_given: bool = False
    id: str | None = None

    @classmethod
    def of(cls, message: ReadMessage, now: datetime) -> CallMessage:
        """The message as it was read from a call.

        Args:
            message: The message.
            now: The moment of the call.

        """
        at, is_given = message.timestamp or now, message.timestamp is not None
        return cls(
            message_mark(message.role or "user", message.content),
            _milliseconds(at),
            is_given,
            message.id,
        )

    @property
    def kept(self) -> str:
        """The mark, time and flag of an id that its session keeps."""
        time = base64.urlsafe_b64encode(self.at.to_bytes(_TIME_BYTES, "big", signed=True)).decode()
        return self.mark + time + (_WITH_ID if self.id is not None else "")

    @property
    def is_system(self) -> bool:
        """Whether it is an instruction and no turn."""
        return self.mark.startswith(_OF_SYSTEM)

    def repeats(self, other: str) -> bool:
        """Whether it may be a message that the session has.

        It may if the marks are equal, and if the given time is not later than the kept time.
        """
        return other.startswith(self.mark) and not (
            self.is_given and self.at > _time_of(other, self.at)
        )


@dataclass(frozen=True, slots=True)
class HistoryMatch:
    """The new messages of a call.

    Attributes:
        new: Indices of the new messages in the call, in order.
        marks: The session's marks after the call, the latest last. They follow the call where it is
            recognised: messages that it replaced or left out of the end are gone.

    """

    new: tuple[int, ...]
    marks: tuple[str, ...]


def message_mark(role: str, content: str) -> str:
    """A digest of a message's role and content.

    Times, names, ids, white space and Unicode forms do not count, and neither do numbers in a
    system message. A tool's name before its result does not count: it is known only where the
    tool's call is in the same request.

    Args:
        role: The message's role.
        content: Its content.

    """
    if role == "tool":
        content = _TOOL_NAMES.sub("", content)[:_TOOL_CHARACTERS]
    if role == "system":
        content = _CLOCK.sub("", content)
    text = " ".join(normal_form("NFC", content).split())
    digest = hashlib.sha256(f"{role}\0{text}".encode("utf-8", "surrogatepass")).digest()
    mark = base64.urlsafe_b64encode(digest).decode()
    return (_OF_SYSTEM + mark if role == "system" else mark)[:MARK_CHARACTERS]


def kept_mark(role: str, content: str, at: datetime, message_id: str | None = None) -> str:
    """The mark that a session keeps of a message.

    Args:
        role: The message's role.
        content: Its content.
        at: When it was said.
        message_id: The sender's id, or None.

    """
    return CallMessage(message_mark(role, content), _milliseconds(at), id=message_id).kept


def match_history(
    session_marks: Sequence[str],
    call: Sequence[CallMessage],
    known_ids: Collection[str] = frozenset(),
    seal_key: bytes | None = None,
) -> HistoryMatch:
    """Find the messages of a call that are new in its session.

    Three kinds of messages are recognised: messages with a known id, in any place; turns that are
    aligned with the kept marks; and system messages whose text the session has, unless they have a
    later time and come after the first turn. A turn with a new id is never a message that was sent
    with an id, whatever it says, unless that message was deleted for good.

    Args:
        session_marks: Marks of the session, the latest last.
        call: The call's messages in order.
        known_ids: Ids of messages that are kept.
        seal_key: The key of the session's seals. Without it, and for a call of a single turn, a
            sealed hole matches no message.

    Returns:
        The new messages, and the marks to keep from now on, at most `MAX_MARKS`.

    """
    marks = [place for place, mark in enumerate(session_marks) if not mark.startswith(_OF_SYSTEM)]
    turns = [place for place, message in enumerate(call) if not message.is_system]
    steps = _known_turns(
        [session_marks[place] for place in marks],
        [call[place] for place in turns],
        known_ids,
        seal_key,
    )
    pairs = {turns[step.call]: marks[step.mark] for step in steps}
    known = {*pairs, *_known_systems(session_marks, call)}
    seen, new = {call[place].id for place in known}, list[int]()
    for place, message in enumerate(call):
        if place not in known and (
            message.id is None or (message.id not in known_ids and message.id not in seen)
        ):
            new.append(place)
        seen.add(message.id)
    return HistoryMatch(
        tuple(new), tuple(_kept_after(session_marks, call, pairs, new)[-MAX_MARKS:])
    )


def without_message(
    session_marks: Sequence[str],
    message: CallMessage,
    told_at: datetime,
    seal_key: bytes | None = None,
) -> list[str]:
    """The marks after a message was deleted for good.

    A turn leaves a hole in its place, a system message leaves none.

    Args:
        session_marks: Marks of its session, the latest last.
        message: The message as it was kept.
        told_at: When it was sent.
        seal_key: The key of the hole's seal; without it the hole has no seal.

    """
    marks, place = [*session_marks], _place_of(session_marks, message, told_at)
    if place is not None and message.is_system:
        del marks[place]
    elif place is not None:
        marks[place] = _hole_of(marks[place], seal_key)
    return _with_fillable_holes(marks)


def without_messages(session_marks: Sequence[str], seal_key: bytes) -> list[str]:
    """The marks after all messages of a session were deleted for good.

    Each turn leaves a sealed hole.

    Args:
        session_marks: Marks of the session, the latest last.
        seal_key: The key of the seals.

    """
    turns = [mark for mark in session_marks if not mark.startswith(_OF_SYSTEM)]
    return _with_fillable_holes(
        [mark if is_hole(mark) else _hole_of(mark, seal_key) for mark in turns]
    )


def without_seals(session_marks: Sequence[str]) -> list[str]:
    """The marks as they may leave the store, with only the times of forgotten messages."""
    return _with_fillable_holes(
        [_hole_of(mark, None) if is_hole(mark) else mark for mark in session_marks]
    )


def sealed_holes(session_marks: Sequence[str]) -> list[str]:
    """The marks of forgotten messages with a seal, without all other marks."""
    return [mark for mark in session_marks if is_sealed(mark)]


def before_message(
    session_marks: Sequence[str], message: CallMessage, told_at: datetime
) -> list[str]:
    """The marks after a message was taken back.

    Holes of later messages are removed as well if no later turn is left.

    Args:
        session_marks: Marks of the session, the latest last.
        message: The message as it was kept.
        told_at: When it was sent.

    """
    place = _place_of(session_marks, message, told_at)
    if place is None:
        return [*session_marks]
    after = [mark for mark in session_marks[place + 1 :] if not is_hole(mark)]
    return [
        *session_marks[:place],
        *(
            session_marks[place + 1 :]
            if any(not mark.startswith(_OF_SYSTEM) for mark in after)
            else after
        ),
    ]


def is_hole(mark: str) -> bool:
    """Whether a mark is the hole of a forgotten message."""
    return mark.startswith(_HOLE)


def is_sealed(mark: str) -> bool:
    """Whether a mark is a hole that only the forgotten message fills."""
    return is_hole(mark) and bool(_seal_in(mark))


def _seal_in(mark: str) -> str:
    return mark[MARK_CHARACTERS + _TIME_CHARACTERS :]


def _seal(mark: str, seal_key: bytes) -> str:
    message = mark[:MARK_CHARACTERS].encode()
    digest = hashlib.blake2b(message, digest_size=16, key=seal_key).digest()
    return base64.urlsafe_b64encode(digest).decode()[:_SEAL_CHARACTERS]


def _hole_of(mark: str, seal_key: bytes | None) -> str:
    time = mark[MARK_CHARACTERS:][:_TIME_CHARACTERS]
    if len(time) != _TIME_CHARACTERS or seal_key is None:  # earlier versions kept no time
        return _HOLE + time.removesuffix(_WITH_ID)
    return _HOLE + time + _seal(mark, seal_key)


def _with_fillable_holes(marks: list[str]) -> list[str]:
    """The marks without open holes if no message is left beside them.

    No mark then tells which message would fill such a hole.
    """
    if all(is_hole(mark) or mark.startswith(_OF_SYSTEM) for mark in marks):
        return [mark for mark in marks if not is_hole(mark) or is_sealed(mark)]
    return marks


def _known_turns(
    session_marks: Sequence[str],
    call: Sequence[CallMessage],
    known_ids: Collection[str],
    seal_key: bytes | None,
) -> list[RepeatedMessage]:
    """The turns that are aligned with the kept marks."""
    if not session_marks or not call:
        return []
    columns = {message.mark: np.zeros(len(session_marks), bool) for message in call}
    # a call of one turn is no history: it says the words once more
    opens = seal_key is not None and len(call) > 1 and any(map(is_sealed, session_marks))
    seals = {_seal(name, seal_key): name for name in columns} if opens and seal_key else {}
    for place, mark in enumerate(session_marks):
        name = seals.get(_seal_in(mark), mark) if is_hole(mark) else mark
        if (column := columns.get(name[:MARK_CHARACTERS])) is not None:
            column[place] = True
    if not any(column.any() for column in columns.values()):
        return []
    are_compared = any(message.is_given for message in call)  # else the times are not read
    times = np.array([_time_of(mark, _LATEST) for mark in session_marks if are_compared])
    has_id = np.array([mark.endswith(_WITH_ID) for mark in session_marks])
    is_hole_there = np.array([is_hole(mark) for mark in session_marks])
    is_open = np.array([is_hole(mark) and not is_sealed(mark) for mark in session_marks])
    repeats = np.array([columns[message.mark] for message in call]).reshape(
        len(call), len(session_marks)
    )
    fills = np.tile(is_open, (len(call), 1))
    for place, message in enumerate(call):
        if message.id is not None and message.id not in known_ids:
            repeats[place] &= ~has_id
        if message.is_given:
            repeats[place] &= times >= message.at
            fills[place] &= times >= message.at
    # where all was forgotten, its holes stand for the session as its messages did
    return aligned(repeats, fills, is_open if is_hole_there.all() else is_hole_there)


def _known_systems(session_marks: Sequence[str], call: Sequence[CallMessage]) -> set[int]:
    """The places of the system messages that the session has."""
    latest = {mark[:MARK_CHARACTERS]: mark for mark in session_marks if mark.startswith(_OF_SYSTEM)}
    known, is_first = set[int](), True
    for place, message in enumerate(call):
        is_first = is_first and message.is_system
        timed = replace(message, is_given=False) if is_first else message
        if message.is_system and timed.repeats(latest.get(message.mark, "")):
            known.add(place)
    return known


def _kept_after(
    session_marks: Sequence[str],
    call: Sequence[CallMessage],
    pairs: Mapping[int, int],
    new: Sequence[int],
) -> list[str]:
    """The marks after a call, with its new messages at their places.

    A message replaces a mark where there are as many new turns as marks between two recognised
    turns, or before the first of them. Other messages go before the next recognised turn, or last.
    Messages that go last replace an end that the call has edited.

    Args:
        session_marks: Marks of the session, the latest last.
        call: The call's messages in order.
        pairs: The places of the recognised turns, and the marks that they repeat.
        new: The places of the new messages.

    """
    after = dict(enumerate([mark] for mark in session_marks))
    marks = [place for place, mark in enumerate(session_marks) if not mark.startswith(_OF_SYSTEM)]
    last, rest, is_new = [*pairs.values()][-1] if pairs else len(session_marks), list[str](), {*new}
    if any(place > max(pairs, default=-1) and not call[place].is_system for place in new):
        after |= {
            place: [] for place in marks if place > last and not is_sealed(session_marks[place])
        }
    gap, begin = list[int](), 0
    for place in range(len(call)):
        if place not in pairs:
            gap.append(place)
            continue
        turns = [turn for turn in gap if not call[turn].is_system]
        end = bisect_left(marks, pairs[place])
        replaced = marks[begin:end]
        if len(turns) == len(replaced):
            after |= {
                mark: [call[turn].kept]
                for turn, mark in zip(turns, replaced, strict=True)
                if turn in is_new
            }
            gap = [turn for turn in gap if call[turn].is_system]
        after[pairs[place]] = [
            *(call[other].kept for other in gap if other in is_new),
            *after[pairs[place]],
        ]
        gap, begin = [], end + 1
    rest = [call[place].kept for place in gap if place in is_new]
    return [*(mark for place in range(len(session_marks)) for mark in after[place]), *rest]


def _place_of(session_marks: Sequence[str], message: CallMessage, told_at: datetime) -> int | None:
    """The place of a message's mark: the nearest in time, and the last of several.

    A mark of the same words is preferred if it has an id exactly when the message has an id.
    """
    places = [place for place, mark in enumerate(session_marks) if mark.startswith(message.mark)]
    moments = message.at, _milliseconds(told_at)

    def distance(place: int) -> tuple[bool, int, int]:
        has_id, time = (
            session_marks[place].endswith(_WITH_ID),
            _time_of(session_marks[place], message.at),
        )
        return (
            has_id != (message.id is not None),
            min(abs(time - moment) for moment in moments),
            -place,
        )

    return min(places, key=distance, default=None)


def _milliseconds(moment: datetime) -> int:
    return min((moment - _EPOCH) // timedelta(milliseconds=1), _LATEST)


def _time_of(mark: str, default: int) -> int:
    """The time of a kept message; the default for a mark without a time.

    Earlier versions kept no times.
    """
    time = mark[MARK_CHARACTERS:][:_TIME_CHARACTERS]
    if len(time) != _TIME_CHARACTERS:
        return default
    return int.from_bytes(base64.urlsafe_b64decode(time), "big", signed=True)
