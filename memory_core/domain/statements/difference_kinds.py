"""The kind of difference that parts two statements which can't both be true."""

from __future__ import annotations

from collections.abc import Sequence

from memory_core.domain.statements.contradiction_words import (
    ARTICLES,
    ATTRIBUTES,
    BEING,
    CALLED,
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
    NAMING,
    ONE_ONLY,
    PETS,
    PLACES,
    POSTURES,
    PREPOSITIONS,
    SEVERAL,
    TIMES,
    TITLES,
    UNITS,
    USING,
    are_of_one_class,
    are_of_one_kind,
    share_kind_of_time,
    share_kind_of_unit,
)
from memory_core.domain.statements.statement_words import JAPANESE, Parting, StatementWords

MOST_OF_VALUE = 5
MOST_OF_JAPANESE = 8
"""Words of a value on each side (`MOST_OF_VALUE`), and of a Japanese value, whose characters count
as words.
"""


def difference_kind(parting: Parting, ours: StatementWords) -> str | None:
    """The kind of contradiction at a difference, where only a single value can be true.

    Args:
        parting: A place where two statements differ.
        ours: Words of the first statement.

    Returns:
        None where both statements can be true.

    """
    before = parting.before
    if max(len(parting.ours), len(parting.theirs)) > (
        MOST_OF_JAPANESE if JAPANESE.search(parting.ours[0]) else MOST_OF_VALUE
    ) or _names_subject(parting):
        return None
    if ours.in_japanese:
        return _kind_in_japanese(parting)
    if ours.tells_event:
        return None
    one_only = _leaves_one(before) or parting.after[:1] == ("as",) or _names_use(before)
    if any(words in f"{' '.join(before)}" for words in CALLED) and not PETS.isdisjoint(before):
        return (
            "values"
            if _is_definite(before) and len(parting.ours) == len(parting.theirs) == 1
            else None
        )
    if is_number(parting.ours) and is_number(parting.theirs):
        if not share_kind_of_unit(parting.ours, parting.theirs):
            return None
        return (
            "numbers"
            if one_only or not HAVING.isdisjoint(before) or not DEFINITE.isdisjoint(before)
            else None
        )
    if is_time(parting.ours) and is_time(parting.theirs):
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


def _lead_alike(parting: Parting) -> bool:
    """Whether the same preposition leads to both values: "works at", not "works from".

    The place of a thing may be told with any preposition of place.
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
    """Whether the words lead to a value that is used for a single purpose.

    For example "als Browser nutze ich", "as a shell I use".
    """
    return before[:1] in (("als",), ("as",), ("for",), ("für",)) and any(
        token in USING for token in before
    )


def _names_subject(parting: Parting) -> bool:
    """Whether the two differ in their subject.

    They do if a verb comes after the difference, and no verb before it.
    """
    if all(token in ARTICLES for token in parting.before):
        return True
    return not BEING.isdisjoint(parting.after) and BEING.isdisjoint(parting.before)


def _leaves_one(before: Sequence[str]) -> bool:
    """Whether the words before a value leave room for a single value.

    They do with a verb such as "lives in", or with "the ... is".
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


def _kind_in_japanese(parting: Parting) -> str | None:
    words_before, after = "".join(parting.before), "".join(parting.after)
    whole = words_before + "".join(parting.ours) + after
    if is_number(parting.ours) and is_number(parting.theirs):
        told_once = after.endswith(("ました", "った", "した", "んだ", "いた"))
        return (
            "numbers"
            if words_before and not told_once and share_kind_of_unit(parting.ours, parting.theirs)
            else None
        )
    several = "好きな" not in words_before and any(word in whole for word in JAPANESE_SEVERAL)
    if "は" not in words_before or several:
        return None
    if is_time(parting.ours) and is_time(parting.theirs):
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


def is_number(tokens: Sequence[str]) -> bool:
    """Whether some words are a number, with its units at most."""
    numbers = [token[0].isdigit() or token in COUNTS for token in tokens]
    return any(numbers) and all(
        number or token in UNITS for number, token in zip(numbers, tokens, strict=True)
    )


def is_time(tokens: Sequence[str]) -> bool:
    """Whether some words are a time."""
    times = [token in TIMES or token.rstrip("s") in TIMES for token in tokens]
    return any(times) and all(
        time or token[0].isdigit() or token in UNITS or token in EMPTY
        for time, token in zip(times, tokens, strict=True)
    )
