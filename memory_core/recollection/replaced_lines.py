"""Mark lines of contexts and results of retrieves that a later message replaces.

The mark says so, and when, in the words in which it was said. Of everything that is about to be
told, what one person said is compared: a later message that says that an earlier one holds no
more, or has another value now, marks it. Note: nothing is left out. What was so is often what is
asked for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import pairwise

from memory_core.domain.messages import is_message
from memory_core.domain.ranking.selection import Piece
from memory_core.domain.statements.announced import change_begins_at
from memory_core.domain.statements.change_messages import (
    SpeakerMessage,
    as_named,
    as_users,
    is_about,
    read,
)
from memory_core.domain.statements.changes import LaterChange, Line, change_between, change_of_line
from memory_core.domain.statements.closest_statement import is_left_to_closer
from memory_core.domain.statements.values_said import values_in
from memory_core.domain.text import remarks
from memory_core.domain.text.analyzer import tokens
from memory_core.domain.text.excerpts import excerpt
from memory_core.domain.text.text_cache import CachedNumbers

MOST_NAME_WORDS = 4
"""The most words of the name of a profile's line."""
MOST_REPLACED = 3
"""The most lines that a later message marks.

A turn, its fact and the profile's line tell the same thing.
"""
MOST_PARTS = 3
"""The most changes of a line's parts with which it is marked."""
MARK_TOKENS = 30
"""The most tokens of the later message that a mark repeats."""
PART_TOKENS = 12
"""The most tokens of the replaced sentence that a mark repeats."""
WHOLE = 0.6
"""The part of a piece's characters from which on its replaced sentence is the piece."""
SAME_TALK = timedelta(hours=1)
"""How long after a message an assistant's turn may be that repeats it."""
_NAMES_AND_NUMBERS = re.compile(
    r"(?<=[\w,;:'’\")] )(?!I\b|I['’])[A-ZÀ-Þ][^\W\d_]{2,30}"
    r"|\d[\d.,:]{0,12}\d|(?<![\d.,:])[2-9](?![\d.,:])"
    r"|[\u30a1-\u30fa\u4e00-\u9fff][\u30a1-\u30fc\u4e00-\u9fff]{2,11}"
)
"""Names and numbers of a sentence: the words of its value."""
KEPT_PAIRS = 98_304
"""The most pairs of texts that are remembered as unchanged; they take some 8 MB.

In such a pair, the later text changes no truth of the earlier.
"""
KEPT_TEXTS = 16_384
"""The most texts of which is remembered whether they tell a change; they take some 4 MB."""


class _Unchanged:
    """Pairs of texts without a change, each by a number; no text is kept.

    The same lines are compared turn after turn.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._pairs = set[int]()

    def __contains__(self, pair: int) -> bool:
        return pair in self._pairs

    def add(self, pair: int) -> None:
        if len(self._pairs) >= self._most:
            self._pairs.clear()
        self._pairs.add(pair)


_UNCHANGED = _Unchanged(KEPT_PAIRS)
_TELLS_CHANGE = CachedNumbers[bool](KEPT_TEXTS)


def may_replace(text: str) -> bool:
    """Whether any part of a text might change an earlier statement.

    Only that is kept of the text for the next time.
    """
    known = _TELLS_CHANGE.get(text)
    if known is None:
        known = read(text).tells_change
        _TELLS_CHANGE.put(text, value=known)
    return known


def _narrated(piece: Piece, speakers: Sequence[str]) -> str:
    """Return the name of the speaker whom a line in the third person is about.

    A memory that is formed of the words of a named speaker begins with the name; before it are the
    days of an expectation. Empty for another line, and for a speaker's own words.
    """
    if piece.said_by:
        return ""
    text = piece.text.partition(": ")[2] if piece.said_at is not None else piece.text
    return next((text[: len(name)] for name in speakers if is_about(text, name)), "")


@dataclass(frozen=True)
class _ComparedPiece:
    """A piece that is compared with other pieces.

    Attributes:
        place: Its place among all pieces.
        piece: The piece.
        narrator: The name of its speaker if it tells of them in the third person, else "".
        asked: What an assistant asked right before, or "".
        text: Its text as its speaker would say it.
        speaker: The person whose words it tells, "" for the user.
        at: When it was said.
        turn: Its order if it is a turn, else None.
        number: The number of its text and moment.

    """

    place: int
    piece: Piece
    narrator: str
    asked: str
    text: str
    speaker: str
    at: datetime
    turn: int | None
    number: int

    @classmethod
    def of(cls, place: int, piece: Piece, speakers: Sequence[str], asked: str) -> _ComparedPiece:
        at, order = piece.said
        narrator = _narrated(piece, speakers)
        text = as_users(piece.text, narrator)
        return cls(
            place,
            piece,
            narrator,
            asked,
            text,
            piece.said_by or narrator.casefold(),
            at,
            order if is_message(piece.id) else None,
            hash((text, at, asked)),
        )

    @cached_property
    def message(self) -> SpeakerMessage:
        """Its text, parsed when it is first needed."""
        return read(self.text)

    def as_told(self, statement: str) -> str:
        """A sentence of it with the speaker's name, as its piece has it."""
        return as_named(statement, self.narrator)

    def is_after(self, other: _ComparedPiece) -> bool:
        """Whether it was said after another piece.

        At the same moment only turns have an order; memories formed of them have none.
        """
        if self.at != other.at:
            return self.at > other.at
        return self.turn is not None and other.turn is not None and self.turn > other.turn


def mark_replaced_pieces(
    pieces: Sequence[Piece], moment: datetime, untold: Sequence[Piece] = ()
) -> list[Piece]:
    """Mark pieces that a later piece of the same person replaces.

    The mark names the latest such piece. A later piece replaces at most `MOST_REPLACED` pieces,
    those with the most words in common, since it speaks of a single thing. A piece that announces a
    change ("from January on") replaces no piece until its day. An assistant's answers that repeat
    what was replaced are marked, too.

    Args:
        pieces: The pieces that are about to be told.
        moment: The time of the context.
        untold: Further pieces, which are not told but may replace others.

    Returns:
        The pieces that are told, in their order.

    """
    marks: dict[int, list[str]] = {}
    repeating: dict[int, str] = {}
    changes = find_replaced_pieces(pieces, moment, untold)
    for change in sorted(changes, key=lambda change: change.at):
        marks.setdefault(change.earlier, []).append(change.mark)
        for place in _repeating(change, pieces):
            repeating.setdefault(place, f"about what was {change.mark}")
    every = repeating | {place: "; ".join(of_piece) for place, of_piece in marks.items()}
    return [
        replace(piece, mark=every[place]) if place in every else piece
        for place, piece in enumerate(pieces)
    ]


def find_replaced_pieces(
    pieces: Sequence[Piece], moment: datetime, untold: Sequence[Piece] = ()
) -> list[Replaced]:
    """Find the pieces that `mark_replaced_pieces` marks, without the answers that repeat them.

    Args:
        pieces: The pieces that are about to be told.
        moment: The time of the context.
        untold: Further pieces, which are not told but may replace others.

    """
    speakers = sorted(
        {piece.said_by for piece in (*pieces, *untold) if piece.said_by}, key=len, reverse=True
    )
    asked = _asked_before((*pieces, *untold))
    every = [
        _ComparedPiece.of(place, piece, speakers, asked.get(piece.id, ""))
        for place, piece in enumerate((*pieces, *untold))
        if piece.said_by is not None
    ]
    changing = sorted(
        (compared for compared in every if may_replace(compared.text)),
        key=lambda compared: compared.piece.said,
        reverse=True,
    )
    earlier_lines = (compared for compared in every if compared.place < len(pieces))
    changes = [
        change
        for earlier in earlier_lines
        for change in _replaced(earlier, changing, moment)
        if not _is_left_to_closer(change, every)
    ]
    chosen, times = list[Replaced](), Counter[int]()
    for change in sorted(changes, key=lambda change: -change.likeness):
        times[change.later] += 1
        if times[change.later] <= MOST_REPLACED:
            chosen.append(change)
    return chosen


def _is_left_to_closer(change: Replaced, every: Sequence[_ComparedPiece]) -> bool:
    """Whether a change is about what another earlier piece tells, which it names more closely."""
    before, now = (
        next(iter(read(text, is_own=True).sentences), None)
        for text in (change.words, change.statement)
    )
    later = next(piece for piece in every if piece.place == change.later)
    earlier = (
        sentence
        for piece in every
        if piece.speaker == later.speaker and later.is_after(piece) and piece is not later
        for sentence in piece.message.sentences
    )
    return before is not None and now is not None and is_left_to_closer(before, now, earlier)


def _asked_before(pieces: Iterable[Piece]) -> dict[str, str]:
    """By the id of a turn, what an assistant asked right before it."""
    turns = sorted(
        (piece for piece in pieces if is_message(piece.id)), key=lambda piece: piece.said
    )
    return {
        turn.id: before.text
        for before, turn in pairwise(turns)
        if before.said_by is None and before.text.rstrip().endswith(("?", "？"))
    }


@dataclass(frozen=True, slots=True)
class Replaced:
    """A piece that a later piece replaces.

    Attributes:
        earlier: The place of the piece.
        later: The place of the later piece.
        by: The id of the later piece's memory.
        at: When it was replaced.
        statement: The words of the later piece that replace it.
        likeness: The part of their words that both sentences share.
        words: The sentence that no longer holds, as its piece has it.
        is_part: Whether the piece tells more than that.

    """

    earlier: int
    later: int
    by: str
    at: datetime
    statement: str
    likeness: float
    words: str
    is_part: bool

    @property
    def quote(self) -> str:
        """The sentence that no longer holds, as a remark quotes it."""
        return excerpt(self.words, (), PART_TOKENS)

    @property
    def mark(self) -> str:
        """The mark on the piece's line; it quotes what is only a part."""
        quote = self.quote if self.is_part else ""
        return remarks.replaced(self.at.date().isoformat(), self.statement, quote)


def _replaced(
    earlier: _ComparedPiece, changing: Sequence[_ComparedPiece], moment: datetime
) -> list[Replaced]:
    """Find the pieces that replace a piece, or parts of it, at a moment.

    `changing` has the latest first. Of each part the latest change counts.
    """
    changes: list[Replaced] = []
    text = earlier.piece.text
    name, value = _name_and_value(text)
    # The name of a line of the profile begins with a small letter, as no speaker's does.
    line = Line.of(name, value) if name and name[0] == name[0].casefold() else None
    for later in changing:
        if later.at < earlier.at:
            break
        if later.speaker != earlier.speaker or not later.is_after(earlier):
            continue
        change = _change(earlier, line, later)
        if change is not None:
            # "car: a Tesla", "bought a Tesla"
            says_value = value and value.casefold() in later.piece.text.casefold()
            if says_value and change.ground != "ends":
                continue
            begins = _announced_day(change, later.piece)
            if begins is not None and begins > moment:
                continue
            words = earlier.as_told(change.replaced)
            if any(words in newer.words or newer.words in words for newer in changes):
                continue
            replaced = Replaced(
                earlier.place,
                later.place,
                later.piece.id,
                begins or later.at,
                excerpt(later.as_told(change.statement), (), MARK_TOKENS),
                _likeness(change.replaced, change.statement),
                words,
                is_part=change.is_part or len(words) <= WHOLE * len(earlier.piece.text),
            )
            changes.append(replaced)
            if not replaced.is_part or len(changes) == MOST_PARTS:
                break
    return changes


def _repeating(change: Replaced, pieces: Sequence[Piece]) -> list[int]:
    """Return the places of an assistant's turns that repeat a replaced turn.

    They repeat a name or number of it, and were said soon after it.
    """
    earlier = pieces[change.earlier]
    repeated = is_message(earlier.id) and _NAMES_AND_NUMBERS.findall(change.words)
    if not repeated:
        return []
    at, order = earlier.said
    return [
        place
        for place, piece in enumerate(pieces)
        if piece.said_by is None
        and is_message(piece.id)
        and timedelta() <= piece.said[0] - at <= SAME_TALK
        and piece.said[1] > order
        and any(
            _has_word(piece.text, word) if word.isascii() else word in piece.text
            for word in repeated
        )
    ]


def _has_word(text: str, word: str) -> bool:
    """Return whether a text has a word that is no part of a longer one."""
    place = text.find(word)
    while place >= 0:
        around = text[place - 1 : place] + text[place + len(word) :][:1]
        if not any(sign.isalnum() or sign == "_" for sign in around):
            return True
        place = text.find(word, place + 1)
    return False


def _change(
    earlier: _ComparedPiece, line: Line | None, later: _ComparedPiece
) -> LaterChange | None:
    """Find a change that a later piece makes to an earlier piece or its line.

    Most pairs have none; that is remembered for the next time. `line` is the profile's line that
    the earlier piece is, if it is such a line.
    """
    pair = hash((earlier.number, later.number))
    if pair in _UNCHANGED:
        return None
    moments = earlier.at, later.at
    change = change_between(earlier.message, later.message, moments, later.asked) or (
        None if line is None else change_of_line(line, later.message)
    )
    if change is None:
        _UNCHANGED.add(pair)
    return change


def _announced_day(change: LaterChange, later: Piece) -> datetime | None:
    """Return the day from which an announced change is true.

    None for a change that is true at once, such as a date or time that is corrected.
    """
    said_at = later.said[0]
    if later.begins is not None:
        return later.begins
    if change.ground == "value" and values_in(change.replaced).whens:
        return None
    begins = change_begins_at(change.statement, said_at)
    return None if begins is None else begins.astimezone(said_at.tzinfo)


def _likeness(first: str, second: str) -> float:
    """Return the part of the words of two sentences that both have (Jaccard)."""
    ours, theirs = set(tokens(first)), set(tokens(second))
    return len(ours & theirs) / max(1, len(ours | theirs))


def _name_and_value(line: str) -> tuple[str, str]:
    """Split a profile's line "name: value"; both are empty for another text."""
    name, _, value = line.partition(": ")
    return (
        (name, value)
        if value and "\n" not in line and len(name.split()) <= MOST_NAME_WORDS
        else ("", "")
    )
