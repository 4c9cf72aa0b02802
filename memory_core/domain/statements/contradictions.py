"""Whether two statements exclude each other, by their words.

They do so by a negation, by opposites, or by another number, time or value. The two are compared
word by word. Note: most statements that differ in a word are both true: "likes tea" and "likes
coffee", "my brother lives in Rome" and "my sister ...". So a difference counts only where the rest
is the same, and only after the subject. For numbers, times and values the words before them must
also leave room for a single value: "lives in", "works at", "starts at", "the ... is"; not "likes",
"met", "paid".
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from memory_core.domain.statements.contradiction_words import (
    ADDING,
    COMPARING,
    COUNTS,
    HABITS,
    NAMING,
    ONE_ROLE,
    PIVOTS,
    SEVERAL,
    SOME,
    TIMES,
    denies,
)
from memory_core.domain.statements.difference_kinds import (
    MOST_OF_VALUE,
    difference_kind,
    is_number,
    is_time,
)
from memory_core.domain.statements.statement_words import (
    JAPANESE,
    LEAST_COMMON,
    Parting,
    StatementWords,
    is_alike,
    one_spelled,
    opcodes,
    parting_of,
    read_statement,
)
from memory_core.domain.text.polarity import exclude_each_other


def contradiction(first: str, second: str) -> str | None:
    """The kind of contradiction between two statements about the same thing.

    The order of the two statements makes no difference.

    Args:
        first: A statement.
        second: Another statement.

    Returns:
        "negation", "opposites", "numbers", "times" or "values"; None where both can be true, or
        where the words don't decide it.

    """
    left, right = read_statement(first), read_statement(second)
    if left is None or right is None:
        return None
    ours, theirs = left.beside(right), right.beside(left)
    sign = _sign(ours, theirs) if ours.has_any_of(theirs) else None
    if sign is None:
        return "negation" if JAPANESE.search(left.text) and denies(left.text, right.text) else None
    return None if sign != "negation" and _adds(ours, theirs) else sign


def _sign(ours: StatementWords, theirs: StatementWords) -> str | None:
    """The kind of contradiction of statements that have words in common.

    It is that of the words in order if both orders of the statements agree, else of the rest.
    """
    sign = _by_order(ours, theirs)
    is_open = sign == _OPEN or sign != _by_order(theirs, ours)
    return _by_residue(ours, theirs) if is_open else sign


def _adds(ours: StatementWords, theirs: StatementWords) -> bool:
    """Whether either statement says that there are several values: also, as well."""
    return ADDING.isdisjoint(ours.tokens) != ADDING.isdisjoint(theirs.tokens)


_OPEN = ""
"""The kind of contradiction where the words in their order don't decide it."""


def _by_order(ours: StatementWords, theirs: StatementWords) -> str | None:
    """The kind of contradiction, by the words before the difference in the first statement."""
    codes = opcodes(ours, theirs)
    partings = [parting_of(ours, theirs, *code[1:]) for code in codes if code[0] != "equal"]
    alone = len(partings) == len(codes) and not (
        len(codes) == 1 and partings[0].before == partings[0].their_before != ()
    )
    sign = None if alone else _in_order(ours, theirs, partings)
    in_order = len(partings) <= 1 and all(parting.says_it_alike for parting in partings)
    return sign if in_order or sign is not None else _OPEN


def _in_order(
    ours: StatementWords, theirs: StatementWords, partings: Sequence[Parting]
) -> str | None:
    """The kind of contradiction of statements that are otherwise equal, in the same order."""
    turned = ours.negated != theirs.negated
    if not partings:
        return "negation" if turned else None
    if turned and all(
        len(parting.ours) == len(parting.theirs) == 1
        and is_alike(parting.ours[0], parting.theirs[0])
        for parting in partings
    ):
        return "negation"
    if not turned and _is_swapped(ours, theirs):
        return "opposites"
    if any(not parting.ours or not parting.theirs or parting.says_two for parting in partings):
        return None
    if all(exclude_each_other(parting.ours, parting.theirs) for parting in partings):
        return "opposites" if not turned and _is_opposite(partings, ours) else None
    kinds = {difference_kind(parting, ours) for parting in partings}
    return (
        kinds.pop()
        if not turned and len(kinds) == 1 and (len(partings) == 1 or kinds == {"times"})
        else None
    )


def _is_swapped(ours: StatementWords, theirs: StatementWords) -> bool:
    """Whether the two compare the same things in reverse order.

    For example "tea to coffee" and "coffee to tea".
    """
    if sorted(ours.compared) != sorted(theirs.compared):
        return False
    pair, other = _around_pivot(ours), _around_pivot(theirs)
    return pair is not None and other is not None and pair == other[::-1] != other


def _around_pivot(statement: StatementWords) -> tuple[str, str] | None:
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


def _is_opposite(partings: Sequence[Parting], ours: StatementWords) -> bool:
    """Whether opposite words make opposite statements.

    They do if they are said of all things, of the same thing, and of no single event.
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
    is_event = ours.tells_event and parting.after and parting.before[-1:] in _INDEFINITE
    return not is_event


_INDEFINITE = (("a",), ("an",), ("ein",), ("eine",), ("einen",))


def _by_residue(ours: StatementWords, theirs: StatementWords) -> str | None:
    """The kind of contradiction of statements whose other words differ in form or in order.

    Function words don't count.
    """
    if ours.in_japanese or theirs.in_japanese:
        return None
    turned = ours.negated != theirs.negated
    if not turned and (ours.negated or ours.tells_event or theirs.tells_event):
        return None
    common = [word for word in ours.content if theirs.has_alike(word)]
    ours_alone = [word for word in ours.content if word not in common]
    theirs_alone = [word for word in theirs.content if not ours.has_alike(word)]
    if turned:
        is_same = not ours_alone and not theirs_alone and len(common) >= LEAST_COMMON
        return "negation" if is_same else None
    if not common or not ours_alone or not theirs_alone:
        return None
    tokens = {*ours.tokens, *theirs.tokens}
    if not _WAS.isdisjoint(tokens):
        return None
    if _owner(ours) != _owner(theirs) and None not in (_owner(ours), _owner(theirs)):
        return None
    if (
        len(ours_alone) == len(theirs_alone) == 1
        and SOME.isdisjoint(tokens)
        and exclude_each_other(ours_alone, theirs_alone)
    ):
        return "opposites" if len(common) >= LEAST_COMMON else None
    if not _one_number(ours_alone) or not _one_number(theirs_alone):
        pass
    elif is_number(ours_alone) and is_number(theirs_alone):
        return (
            None
            if one_spelled(ours_alone) == one_spelled(theirs_alone) or not HABITS.isdisjoint(tokens)
            else "numbers"
        )
    elif is_time(ours_alone) and is_time(theirs_alone):
        return (
            "times"
            if HABITS.isdisjoint(tokens)
            and not any(word.endswith("s") and word[:-1] in TIMES for word in tokens)
            else None
        )
    is_short = max(len(ours_alone), len(theirs_alone)) <= MOST_OF_VALUE
    return "values" if is_short and _names_one_role(common, tokens) else None


def _names_one_role(common: Sequence[str], tokens: Collection[str]) -> bool:
    """Whether statements name the holder of a role that a single person has.

    Args:
        common: The words that both statements have.
        tokens: The words of either.

    """
    return (
        any(word.removesuffix("s") in ONE_ROLE for word in common)
        and not NAMING.isdisjoint(tokens)
        and SEVERAL.isdisjoint(tokens)
    )


def _owner(statement: StatementWords) -> str | None:
    """The word for the owner of a thing: a genitive, or "my", "his", "her"."""
    genitives = [word for word in statement.tokens if word.endswith("'s")]
    return next(iter((*genitives, *(word for word in statement.tokens if word in _WHOSE))), None)


_WHOSE = frozenset(["my", "his", "her", "our", "their"])
_WAS = frozenset(["was", "were", "war", "waren"])


def _one_number(words: Sequence[str]) -> bool:
    """Whether the words have at most a single number, and are otherwise comparable.

    They have no ordinal, and no version beside a time.
    """
    numbers = [word for word in words if word[0].isdigit() or word in COUNTS]
    return (
        len(numbers) <= 1
        and not any(word in TIMES for word in words if "." in "".join(numbers))
        and not any(word in _ORDINALS for word in words)
    )


_ORDINALS = frozenset(["first", "second", "third", "fourth", "fifth", "half", "once", "twice"])
