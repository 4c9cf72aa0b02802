"""Whether two statements about one thing exclude each other, by their words: a negation, opposites, another number, time or value.

The two are laid side by side, word by word. What a reader would get wrong: most statements that differ in one word are both true: "likes
tea" and "likes coffee", "my brother lives in Rome" and "my sister ...". So a difference counts only where the rest is the same, after what
is spoken of, and, for numbers, times and values, where the words before it leave room for one only: lives in, works at, starts at, the ...
is; not likes, met, paid.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from memory_core.domain.contradiction_words import (
    ARTICLES,
    BEING,
    COUNTS,
    DEFINITE,
    EMPTY,
    HABITS,
    HAVING,
    JAPANESE_ONE_ONLY,
    JAPANESE_SEVERAL,
    LASTING_PASTS,
    NAMING,
    ONE_ONLY,
    PASTS,
    PREPOSITIONS,
    SEVERAL,
    TIMES,
    UNITS,
)
from memory_core.domain.normal_form import normal_form
from memory_core.domain.numerals import plain_digits
from memory_core.domain.polarity import NEGATIONS, exclude_each_other, opposites_of

MOST_WORDS = 40
"""Of a statement; a longer one says more than one thing."""
MOST_OF_VALUE = 5
"""Words of a value on one side."""
_CJK = "\u3005\u3041-\u30ff\u4e00-\u9fff"
_JAPANESE = re.compile(rf"[{_CJK}]")
_DENIED = re.compile(r"ませんでした|ません|なくなった|なかった|ない(?:です)?(?![\u3041-\u309f])")
_TOKEN = re.compile(
    r"[\u3041-\u309f]++|[\u30a0-\u30ff]++|[一二三四五六七八九十百千万]++|[\u3005\u4e00-\u9fff]"
    rf"|\d++(?:[.,:/]\d++)*+|(?:(?![{_CJK}])[^\W\d_])++(?:['’.-](?:(?![{_CJK}])\w)++)*+[+#]*+|[%€$£¥=:]"
)
_WITHOUT_NOT = {"can't": "can", "cannot": "can", "won't": "will", "shan't": "shall"}


@dataclass(frozen=True, slots=True)
class _Words:
    """A statement's tokens, case-folded and in order; `weighty` are the places of those that say something, `compared` their stems."""

    tokens: tuple[str, ...]
    weighty: tuple[int, ...]
    compared: tuple[str, ...]
    negated: bool

    def between(self, start: int, end: int) -> tuple[str, ...]:
        """All tokens from one weighty one up to another, by their numbers among these."""
        return self.tokens[self.weighty[start] : self.weighty[end - 1] + 1] if start < end else ()


@dataclass(frozen=True, slots=True)
class _Parting:
    """Where the two part: the tokens of each there, and what the first says before and after."""

    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def says_two(self) -> bool:
        """Whether a preposition within both sides makes two differences of it: "tabs in Go", "spaces in Python"."""
        return all(not PREPOSITIONS.isdisjoint(each[1:-1]) for each in (self.ours, self.theirs))


def contradiction(first: str, second: str) -> str | None:
    """What makes two statements about one thing exclude each other: "negation", "opposites", "numbers", "times" or "values".

    Symmetric. None where both can be true, or where the words don't tell.
    """
    both = [normal_form("NFKC", text).replace("’", "'").casefold() for text in (first, second)]
    if any(text.rstrip().endswith("?") for text in both):
        return None
    tokens = [_TOKEN.findall(plain_digits(text)[: 20 * MOST_WORDS]) for text in both]
    if not all(0 < len(one) <= MOST_WORDS for one in tokens):
        return None
    ours, theirs = _words(tokens[0], tokens[1]), _words(tokens[1], tokens[0])
    codes = SequenceMatcher(None, ours.compared, theirs.compared, autojunk=False).get_opcodes()
    partings = [_parting(ours, theirs, *code[1:]) for code in codes if code[0] != "equal"]
    if len(partings) == len(codes):
        return None
    turned = ours.negated != theirs.negated
    if not partings:
        return "negation" if turned else None
    if any(not one.ours or not one.theirs or one.says_two for one in partings):
        return None
    if all(exclude_each_other(one.ours, one.theirs) for one in partings):
        return None if turned else "opposites"
    kinds = {_kind(one, ours) for one in partings}
    return kinds.pop() if not turned and len(kinds) == 1 and (len(partings) == 1 or kinds == {"times"}) else None


def _words(tokens: Sequence[str], others: Sequence[str]) -> _Words:
    opposites = opposites_of(others)
    kept: list[str] = []
    weighty: list[int] = []
    compared: list[str] = []
    negated = False
    for token in tokens:
        said = token
        if _JAPANESE.match(token):
            said, denied = _DENIED.subn("ます", token)
            negated = negated != (denied % 2 == 1)
        elif token.endswith("n't") or token in _WITHOUT_NOT:
            said = _WITHOUT_NOT.get(token, token.removesuffix("n't"))
            negated = not negated
        kept.append(said)
        if said not in opposites:
            negated = negated != (said in NEGATIONS)
            if said in NEGATIONS or said in EMPTY:
                continue
        weighty.append(len(kept) - 1)
        compared.append(_stem(said))
    return _Words(tuple(kept), tuple(weighty), tuple(compared), negated)


def _stem(word: str) -> str:
    """The word without the ending of a third person or a plural."""
    if len(word) > 4 and word.isascii() and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-3] + "y" if word.endswith("ies") else word[:-1]
    return word


def _parting(ours: _Words, theirs: _Words, start: int, end: int, their_start: int, their_end: int) -> _Parting:
    first = ours.weighty[start] if start < len(ours.weighty) else len(ours.tokens)
    last = ours.weighty[end - 1] + 1 if end > start else first
    return _Parting(ours.between(start, end), theirs.between(their_start, their_end), ours.tokens[:first], ours.tokens[last:])


def _kind(parting: _Parting, ours: _Words) -> str | None:
    """What parts the two, where one only of both can be so."""
    before = parting.before
    if max(len(parting.ours), len(parting.theirs)) > MOST_OF_VALUE or _names_subject(parting):
        return None
    if any(_JAPANESE.search(token) for token in ours.tokens):
        return _kind_in_japanese(parting)
    if _tells_event(ours.tokens):
        return None
    one_only = _leaves_one(before) or parting.after[:1] == ("as",)
    if _is_number(parting.ours) and _is_number(parting.theirs):
        return "numbers" if one_only or not HAVING.isdisjoint(before) or not DEFINITE.isdisjoint(before) else None
    if _is_time(parting.ours) and _is_time(parting.theirs):
        return "times" if _is_definite(before) and HABITS.isdisjoint(ours.tokens) else None
    return "values" if one_only and SEVERAL.isdisjoint(before) else None


def _names_subject(parting: _Parting) -> bool:
    """Whether what parts the two is what they speak of: no verb stands before it, but one does after it."""
    if all(token in ARTICLES for token in parting.before):
        return True
    return not BEING.isdisjoint(parting.after) and BEING.isdisjoint(parting.before)


def _leaves_one(before: Sequence[str]) -> bool:
    """Whether the words before a value leave room for one only: a verb such as "lives in", or "the ... is"."""
    said = f" {' '.join(before)} "
    if any(f" {words} " in said for words in ONE_ONLY):
        return True
    places = [place for place, token in enumerate(before) if token in NAMING]
    return bool(places) and _is_definite(before[: places[-1]])


def _is_definite(before: Sequence[str]) -> bool:
    return any(token in DEFINITE or token.endswith("'s") for token in before)


def _tells_event(tokens: Sequence[str]) -> bool:
    """Whether it tells what somebody did once, which may be done again with another number or name."""
    for before, token in pairwise(["", *tokens]):
        if token in PASTS or (token.startswith("ge") and token.endswith(("t", "en")) and len(token) > 6 and token not in LASTING_PASTS):
            return True
        if token.isascii() and token.endswith("ed") and len(token) > 4 and token not in LASTING_PASTS and before not in BEING:
            return True
    return False


def _kind_in_japanese(parting: _Parting) -> str | None:
    said, after = "".join(parting.before), "".join(parting.after)
    whole = said + "".join(parting.ours) + after
    if _is_number(parting.ours) and _is_number(parting.theirs):
        return "numbers" if said and not after.endswith(("ました", "った", "した", "んだ", "いた")) else None
    if "は" not in said or any(word in whole for word in JAPANESE_SEVERAL):
        return None
    if _is_time(parting.ours) and _is_time(parting.theirs):
        return "times"
    return "values" if after.startswith(JAPANESE_ONE_ONLY) else None


def _is_number(tokens: Sequence[str]) -> bool:
    numbers = [token[0].isdigit() or token in COUNTS for token in tokens]
    return any(numbers) and all(number or token in UNITS for number, token in zip(numbers, tokens, strict=True))


def _is_time(tokens: Sequence[str]) -> bool:
    times = [token in TIMES or token.rstrip("s") in TIMES for token in tokens]
    return any(times) and all(
        time or token[0].isdigit() or token in UNITS or token in EMPTY for time, token in zip(times, tokens, strict=True)
    )
