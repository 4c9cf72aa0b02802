"""Whether two statements about one thing exclude each other, by their words: a negation, opposites,
another number, time or value.

The two are laid side by side, word by word. Note: most statements that differ in one word are both
true: "likes tea" and "likes coffee", "my brother lives in Rome" and "my sister ...". So a
difference counts only where the rest is the same, after what is spoken of, and, for numbers, times
and values, where the words before it leave room for one only: lives in, works at, starts at,
the ... is; not likes, met, paid.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from memory_core.domain.statements.contradiction_words import (
    ADDING,
    ARTICLES,
    ATTRIBUTES,
    BEING,
    CALLED,
    COMPARING,
    CONTRACTED,
    COUNTS,
    DEFINITE,
    EMPTY,
    HABITS,
    HAVING,
    JAPANESE_ATTRIBUTES,
    JAPANESE_ONE_ONLY,
    JAPANESE_ORIGINS,
    JAPANESE_SEVERAL,
    LASTING_PASTS,
    LIGHT,
    NAMING,
    ONE_ONLY,
    ONE_ROLE,
    PASTS,
    PETS,
    PIVOTS,
    PLACES,
    POSTURES,
    PREPOSITIONS,
    SEVERAL,
    SOME,
    TIMES,
    TITLES,
    UNITS,
    USING,
    are_of_one_class,
    are_of_one_kind,
    denies,
    share_kind_of_time,
    share_kind_of_unit,
)
from memory_core.domain.text.polarity import NEGATIONS, exclude_each_other, is_form_of, opposites_of
from memory_core.domain.text.spelling import one_spelling, plain_digits
from memory_core.domain.text.unicode_forms import normal_form

MOST_WORDS = 40
"""Of a statement; a longer one says more than one thing."""
MOST_LONGER = 3
"""Words by which a statement that says the same in the same order may be longer."""
MOST_OF_VALUE = 5
MOST_OF_JAPANESE = 8
"""Words of a value on one side, and of a Japanese one, whose characters stand alone."""
_CJK = "\u3005\u3041-\u30ff\u4e00-\u9fff"
_JAPANESE = re.compile(rf"[{_CJK}]")
_DENIED = re.compile(r"ませんでした|ません|なくなった|なかった|ない(?:です)?(?![\u3041-\u309f])")
_DENIED_BEING = re.compile(r"(?:では|じゃ)(?:ありません|ない)(?:です)?")
_TOKEN = re.compile(
    r"[\u3041-\u309f]++|[\u30a0-\u30ff]++|[一二三四五六七八九十百千万]++|[\u3005\u4e00-\u9fff]"
    rf"|\d++(?:[.,:/]\d++)*+|(?:(?![{_CJK}])[^\W\d_])++(?:['’.-](?:(?![{_CJK}])\w)++)*+[+#]*+"
    r"|[%€$£¥=:]"
)
_WITHOUT_NOT = {"can't": "can", "cannot": "can", "won't": "will", "shan't": "shall"}


@dataclass(frozen=True, slots=True)
class _Words:
    """A statement's tokens, case-folded and in order; `weighty` are the places of those that say
    something, `compared` their stems.
    """

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
    their_before: tuple[str, ...]

    @property
    def says_it_alike(self) -> bool:
        """Whether each side has words there, one thing's, and about as many as the other."""
        return (
            bool(self.ours and self.theirs)
            and not self.says_two
            and abs(len(self.ours) - len(self.theirs)) < MOST_LONGER
        )

    @property
    def says_two(self) -> bool:
        """Whether a preposition within both sides makes two differences of it: "tabs in Go",
        "spaces in Python".
        """
        return all(not PREPOSITIONS.isdisjoint(each[1:-1]) for each in (self.ours, self.theirs))


def contradiction(first: str, second: str) -> str | None:
    """What makes two statements about one thing exclude each other: "negation", "opposites",
    "numbers", "times" or "values".

    Symmetric. None where both can be true, or where the words don't tell.
    """
    both = [
        one_spelling(normal_form("NFKC", text).replace("’", "'").casefold())
        for text in (first, second)
    ]
    if any(text.rstrip().endswith("?") for text in both):
        return None
    tokens = [_TOKEN.findall(plain_digits(text)[: 20 * MOST_WORDS]) for text in both]
    if not all(0 < len(statement_tokens) <= MOST_WORDS for statement_tokens in tokens):
        return None
    ours, theirs = _words(tokens[0], tokens[1]), _words(tokens[1], tokens[0])
    sign, other_way = _found(ours, theirs), _found(theirs, ours)
    sign = sign if sign == other_way else _by_residue(ours, theirs)
    if sign is None:
        return "negation" if _JAPANESE.search(both[0]) and denies(*both) else None
    return None if sign != "negation" and _adds(ours, theirs) else sign


def _adds(ours: _Words, theirs: _Words) -> bool:
    """Whether one of the two says that its value is one of several: also, as well."""
    return ADDING.isdisjoint(ours.tokens) != ADDING.isdisjoint(theirs.tokens)


def _found(ours: _Words, theirs: _Words) -> str | None:
    """What parts two statements, read by the words that stand before it in the first."""
    codes = SequenceMatcher(None, ours.compared, theirs.compared, autojunk=False).get_opcodes()
    partings = [_parting(ours, theirs, *code[1:]) for code in codes if code[0] != "equal"]
    in_order = len(partings) <= 1 and all(parting.says_it_alike for parting in partings)
    alone = len(partings) == len(codes) and not (
        len(codes) == 1 and partings[0].before == partings[0].their_before != ()
    )
    sign = None if alone else _in_order(ours, theirs, partings)
    return sign if in_order or sign is not None else _by_residue(ours, theirs)


def _in_order(ours: _Words, theirs: _Words, partings: Sequence[_Parting]) -> str | None:
    """What parts two statements that say the rest in the same order."""
    turned = ours.negated != theirs.negated
    if not partings:
        return "negation" if turned else None
    if turned and all(
        len(parting.ours) == len(parting.theirs) == 1
        and _is_alike(parting.ours[0], parting.theirs[0])
        for parting in partings
    ):
        return "negation"
    if not turned and _is_swapped(ours, theirs):
        return "opposites"
    if any(not parting.ours or not parting.theirs or parting.says_two for parting in partings):
        return None
    if all(exclude_each_other(parting.ours, parting.theirs) for parting in partings):
        return "opposites" if not turned and _is_opposite(partings, ours) else None
    kinds = {_kind(parting, ours) for parting in partings}
    return (
        kinds.pop()
        if not turned and len(kinds) == 1 and (len(partings) == 1 or kinds == {"times"})
        else None
    )


def _is_swapped(ours: _Words, theirs: _Words) -> bool:
    """Whether the two compare the same things the other way round: "tea to coffee" and
    "coffee to tea".
    """
    if sorted(ours.compared) != sorted(theirs.compared):
        return False
    pair, other = _beside_pivot(ours), _beside_pivot(theirs)
    return pair is not None and other is not None and pair == other[::-1] != other


def _beside_pivot(statement: _Words) -> tuple[str, str] | None:
    """The words before and after "to", "over" or "than" in a statement that compares."""
    if COMPARING.isdisjoint(statement.tokens) and not any(
        token.endswith("er") for token in statement.tokens
    ):
        return None
    place = next((place for place, token in enumerate(statement.tokens) if token in PIVOTS), None)
    if place is None:
        return None
    before = [
        stem for at, stem in zip(statement.weighty, statement.compared, strict=True) if at < place
    ]
    after = [
        stem for at, stem in zip(statement.weighty, statement.compared, strict=True) if at > place
    ]
    return (before[-1], after[0]) if before and after else None


def _is_opposite(partings: Sequence[_Parting], ours: _Words) -> bool:
    """Whether opposite words make opposite statements: said of all, of the same thing,
    and once or in turn.
    """
    if not SOME.isdisjoint(ours.tokens) or ours.negated:
        return False
    if len(partings) > 1:
        return {word for parting in partings for word in parting.ours} == {
            word for parting in partings for word in parting.theirs
        }
    (parting,) = partings
    if parting.before[:1] in _INDEFINITE:
        return False
    is_event = _tells_event(ours.tokens) and parting.after and parting.before[-1:] in _INDEFINITE
    return not is_event


_INDEFINITE = (("a",), ("an",), ("ein",), ("eine",), ("einen",))


def _by_residue(ours: _Words, theirs: _Words) -> str | None:
    """What parts two statements that say the rest in other words or in another order;
    little words don't count.
    """
    if any(_JAPANESE.search(token) for token in (*ours.tokens, *theirs.tokens)):
        return None
    left, right = _weighty(ours), _weighty(theirs)
    common = [word for word in left if _has_alike(word, right)]
    ours_alone = [word for word in left if word not in common]
    theirs_alone = [word for word in right if not _has_alike(word, left)]
    if not common:
        return None
    if ours.negated != theirs.negated:
        return (
            "negation"
            if not ours_alone and not theirs_alone and len(common) >= LEAST_COMMON
            else None
        )
    if (
        not ours_alone
        or not theirs_alone
        or _tells_event(ours.tokens)
        or _tells_event(theirs.tokens)
    ):
        return None
    tokens = {*ours.tokens, *theirs.tokens}
    if not _WAS.isdisjoint(tokens):
        return None
    if _owner(ours) != _owner(theirs) and None not in (_owner(ours), _owner(theirs)):
        return None
    if ours.negated and theirs.negated:
        return None
    if (
        len(ours_alone) == len(theirs_alone) == 1
        and SOME.isdisjoint(tokens)
        and exclude_each_other(ours_alone, theirs_alone)
    ):
        return "opposites" if len(common) >= LEAST_COMMON else None
    if not _one_number(ours_alone) or not _one_number(theirs_alone):
        pass
    elif _is_number(ours_alone) and _is_number(theirs_alone):
        return (
            None
            if _one_spelled(ours_alone) == _one_spelled(theirs_alone)
            or not HABITS.isdisjoint(tokens)
            else "numbers"
        )
    elif _is_time(ours_alone) and _is_time(theirs_alone):
        return (
            "times"
            if HABITS.isdisjoint(tokens)
            and not any(word.endswith("s") and word[:-1] in TIMES for word in tokens)
            else None
        )
    names_role = any(
        word.removesuffix("s") in ONE_ROLE for word in common
    ) and not NAMING.isdisjoint(tokens)
    return (
        "values"
        if names_role
        and max(len(ours_alone), len(theirs_alone)) <= MOST_OF_VALUE
        and SEVERAL.isdisjoint(tokens)
        else None
    )


def _owner(statement: _Words) -> str | None:
    """Whose a thing is, where a genitive tells it, or "my", "his", "her"."""
    genitives = [word for word in statement.tokens if word.endswith("'s")]
    return next(iter((*genitives, *(word for word in statement.tokens if word in _WHOSE))), None)


_WHOSE = frozenset(["my", "his", "her", "our", "their"])
_WAS = frozenset(["was", "were", "war", "waren"])


def _one_number(words: Sequence[str]) -> bool:
    """Whether it tells of one number at most, and no ordinal or version beside a time."""
    numbers = [word for word in words if word[0].isdigit() or word in COUNTS]
    return (
        len(numbers) <= 1
        and not any(word in TIMES for word in words if "." in "".join(numbers))
        and not any(word in _ORDINALS for word in words)
    )


_ORDINALS = frozenset(["first", "second", "third", "fourth", "fifth", "half", "once", "twice"])


def _weighty(statement: _Words) -> list[str]:
    return [word for word in statement.compared if word not in LIGHT and word not in ARTICLES]


def _one_spelled(numbers: Sequence[str]) -> list[str]:
    return sorted(word for word in numbers if word[0].isdigit())


def _has_alike(word: str, others: Sequence[str]) -> bool:
    """Whether one of others is the same word; such words have the same first letter."""
    first = word[:1]
    return any(other[:1] == first and _is_alike(word, other) for other in others)


def _is_alike(word: str, other: str) -> bool:
    """Whether two words are one, but for an ending: rent and rental, Mia and Mias."""
    shorter, longer = (word, other) if len(word) <= len(other) else (other, word)
    if shorter == longer or (
        longer.endswith("ing")
        and len(longer) > LEAST_STEM + 3
        and longer[:-3] == shorter.removesuffix("e")
    ):
        return True
    ending = longer.removeprefix(shorter)
    return (
        len(shorter) >= LEAST_STEM
        and longer.startswith(shorter)
        and ending in _ENDINGS
        and shorter.isalpha()
    )


_ENDINGS = frozenset(["s", "'s", "al", "in", "n", "e", "en", "es"])
LEAST_STEM, LEAST_COMMON = 3, 2
"""Letters of a word that may have an ending; words that two statements have in common which only a
negation parts.
"""


def _words(tokens: Sequence[str], others: Sequence[str]) -> _Words:
    opposites = opposites_of(others)
    plain: list[str] = []
    weighty: list[int] = []
    compared: list[str] = []
    negated = False
    for token in tokens:
        word = token
        if _JAPANESE.match(token):
            word, denied_being = _DENIED_BEING.subn("です", token)
            word, denied = _DENIED.subn("ます", word)
            negated = negated != ((denied + denied_being) % 2 == 1)
        elif token.endswith("n't") or token in _WITHOUT_NOT:
            word = _WITHOUT_NOT.get(token, token.removesuffix("n't"))
            negated = not negated
        plain.append(word)
        if not is_form_of(word, opposites):
            negated = negated != (word in NEGATIONS)
            if word in NEGATIONS or word in EMPTY:
                continue
        weighty.append(len(plain) - 1)
        compared.append(_stem(word))
    return _Words(tuple(plain), tuple(weighty), tuple(compared), negated)


def _stem(word: str) -> str:
    """The word without the ending of a third person or a plural."""
    if (
        len(word) > 3
        and word.isascii()
        and word.endswith("s")
        and not word.endswith(("ss", "us", "is"))
    ):
        return word[:-3] + "y" if word.endswith("ies") else word[:-1]
    return word


def _parting(
    ours: _Words, theirs: _Words, start: int, end: int, their_start: int, their_end: int
) -> _Parting:
    first = ours.weighty[start] if start < len(ours.weighty) else len(ours.tokens)
    last = ours.weighty[end - 1] + 1 if end > start else first
    their_first = (
        theirs.weighty[their_start] if their_start < len(theirs.weighty) else len(theirs.tokens)
    )
    return _Parting(
        ours.between(start, end),
        theirs.between(their_start, their_end),
        ours.tokens[:first],
        ours.tokens[last:],
        theirs.tokens[:their_first],
    )


def _kind(parting: _Parting, ours: _Words) -> str | None:
    """What parts the two, where one only of both can be so."""
    before = parting.before
    if max(len(parting.ours), len(parting.theirs)) > (
        MOST_OF_JAPANESE if _JAPANESE.search(parting.ours[0]) else MOST_OF_VALUE
    ) or _names_subject(parting):
        return None
    if any(_JAPANESE.search(token) for token in ours.tokens):
        return _kind_in_japanese(parting)
    if _tells_event(ours.tokens):
        return None
    one_only = _leaves_one(before) or parting.after[:1] == ("as",) or _names_use(before)
    if any(words in f"{' '.join(before)}" for words in CALLED) and not PETS.isdisjoint(before):
        return (
            "values"
            if _is_definite(before) and len(parting.ours) == len(parting.theirs) == 1
            else None
        )
    if _is_number(parting.ours) and _is_number(parting.theirs):
        if not share_kind_of_unit(parting.ours, parting.theirs):
            return None
        return (
            "numbers"
            if one_only or not HAVING.isdisjoint(before) or not DEFINITE.isdisjoint(before)
            else None
        )
    if _is_time(parting.ours) and _is_time(parting.theirs):
        of_one_kind = share_kind_of_time(parting.ours, parting.theirs)
        if "called" in before and before[-1] in PREPOSITIONS:
            return None
        return (
            "times"
            if of_one_kind
            and (_is_definite(before) or before[-1:] in (("is",), ("ist",)))
            and HABITS.isdisjoint(ours.tokens)
            else None
        )
    if ("of" in parting.ours) != ("of" in parting.theirs):
        return None
    if not _lead_alike(parting):
        return None
    if are_of_one_class(parting.ours, parting.theirs) and _is_copula(before):
        return "values"
    if not are_of_one_kind(parting.ours, parting.theirs) and not any(
        token in ATTRIBUTES or token in TITLES or token.endswith(_ATTRIBUTE_ENDS)
        for token in before
    ):
        return None
    return "values" if one_only and SEVERAL.isdisjoint(before) else None


_ATTRIBUTE_ENDS = ("sprache", "farbe", "status", "grösse", "name")


def _is_copula(before: Sequence[str]) -> bool:
    """Whether the words before a value end with "is" or "is a"."""
    last = [token for token in before if token not in _ARTICLES_BEFORE][-1:]
    return bool(last) and last[0] in ("is", "am", "are", "ist", "bin", "sind", "as", "als", ":")


_ARTICLES_BEFORE = frozenset(["a", "an", "ein", "eine", "the"])


def _lead_alike(parting: _Parting) -> bool:
    """Whether the same preposition leads to both values: "works at" and "works at",
    not "works from".

    Where something is may be told with any preposition of place.
    """
    ours, theirs = _lead(parting.before, parting.ours), _lead(parting.their_before, parting.theirs)
    if ours[1] != theirs[1] and ours[0] | theirs[0]:
        return False
    of_place = (
        bool(ours[0] and theirs[0])
        and ours[0] | theirs[0] <= PLACES
        and not POSTURES.isdisjoint(parting.before)
    )
    return ours[0] == theirs[0] or of_place


def _lead(before: Sequence[str], value: Sequence[str]) -> tuple[frozenset[str], bool]:
    """The prepositions that directly lead to a value, and whether an indefinite article does."""
    lead = (
        list(value[:1])
        if len(value) > 1
        and (value[0] in PLACES or value[0] in PREPOSITIONS or value[0] in _INDEFINITES)
        else []
    )
    for token in reversed(before):
        if (
            token not in EMPTY and token not in PREPOSITIONS and token not in PLACES
        ) or token in BEING:
            break
        lead.append(token)
    words = frozenset(CONTRACTED.get(token, token) for token in lead)
    return words & (PREPOSITIONS | PLACES), not words.isdisjoint(_INDEFINITES)


_INDEFINITES = frozenset(["a", "an", "ein", "eine", "einen", "einem", "einer"])


def _names_use(before: Sequence[str]) -> bool:
    """Whether a value follows that is used as one thing: "als Browser nutze ich",
    "as a shell I use".
    """
    return before[:1] in (("als",), ("as",), ("for",), ("für",)) and any(
        token in USING for token in before
    )


def _names_subject(parting: _Parting) -> bool:
    """Whether the two differ in their subject: a verb after the difference, none before it."""
    if all(token in ARTICLES for token in parting.before):
        return True
    return not BEING.isdisjoint(parting.after) and BEING.isdisjoint(parting.before)


def _leaves_one(before: Sequence[str]) -> bool:
    """Whether the words before a value leave room for one only: a verb such as "lives in",
    or "the ... is".
    """
    words_before = f" {' '.join(before)} "
    if any(f" {words} " in words_before for words in ONE_ONLY):
        return True
    places = [place for place, token in enumerate(before) if token in NAMING]
    return bool(places) and _is_definite(before[: places[-1]])


def _is_definite(before: Sequence[str]) -> bool:
    return any(
        token in DEFINITE or token.endswith("'s") or token.startswith(_DEFINITE_STARTS)
        for token in before
    )


_DEFINITE_STARTS = ("lieblings", "standard", "haupt")


def _tells_event(tokens: Sequence[str]) -> bool:
    """Whether it tells an action, which may be repeated with another number or name."""
    for before, token in pairwise(["", *tokens]):
        if token in PASTS or (
            token.startswith("ge")
            and token.endswith(("t", "en"))
            and len(token) > 6
            and token not in LASTING_PASTS
        ):
            return True
        if (
            token.isascii()
            and token.endswith("ed")
            and len(token) > 4
            and token not in LASTING_PASTS
            and before not in BEING
        ):
            return True
    return False


def _kind_in_japanese(parting: _Parting) -> str | None:
    words_before, after = "".join(parting.before), "".join(parting.after)
    whole = words_before + "".join(parting.ours) + after
    if _is_number(parting.ours) and _is_number(parting.theirs):
        told_once = after.endswith(("ました", "った", "した", "んだ", "いた"))
        return (
            "numbers"
            if words_before and not told_once and share_kind_of_unit(parting.ours, parting.theirs)
            else None
        )
    several = "好きな" not in words_before and any(word in whole for word in JAPANESE_SEVERAL)
    if "は" not in words_before or several:
        return None
    if _is_time(parting.ours) and _is_time(parting.theirs):
        return (
            "times"
            if share_kind_of_time((*parting.ours, after[:1]), (*parting.theirs, after[:1]))
            else None
        )
    if any(
        word in "".join(side)
        for word in JAPANESE_ORIGINS
        for side in (parting.ours, parting.theirs)
    ):
        return None
    names_attribute = any(word in words_before for word in JAPANESE_ATTRIBUTES)
    if not names_attribute and not are_of_one_kind(parting.ours, parting.theirs):
        return None
    ends = (after, after.lstrip(_NO_HIRAGANA), *(after.removeprefix(title) for title in _TITLES))
    return "values" if any(end.startswith(JAPANESE_ONE_ONLY) for end in ends) else None


_TITLES = ("さん", "ちゃん", "くん", "君", "様", "氏", "先生")


_NO_HIRAGANA = "人者師員家士型色語県市区町州製派性系業長"
"""Last characters of words that name kinds of persons and things, which two values may share."""


def _is_number(tokens: Sequence[str]) -> bool:
    numbers = [token[0].isdigit() or token in COUNTS for token in tokens]
    return any(numbers) and all(
        number or token in UNITS for number, token in zip(numbers, tokens, strict=True)
    )


def _is_time(tokens: Sequence[str]) -> bool:
    times = [token in TIMES or token.rstrip("s") in TIMES for token in tokens]
    return any(times) and all(
        time or token[0].isdigit() or token in UNITS or token in EMPTY
        for time, token in zip(times, tokens, strict=True)
    )
