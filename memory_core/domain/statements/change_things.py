"""Which words of a sentence that tells a change name something else than the thing that changes.

    "Freya's violin has been moved"     the violin, not Freya
    "the choir outing has been moved"   the outing, not the choir's rehearsal

Two sentences that share only such words are about two things.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from memory_core.domain.statements.change_phrases import AFTER_NOUN, ENDS_OF_SUBJECT, MOVES
from memory_core.domain.statements.change_sentences import SaidSentence
from memory_core.domain.statements.change_topics import ALIKE
from memory_core.domain.text.analyzer import has_japanese, terms_of

MOST_THING_WORDS = 3
"""Words behind an owner that may name what is owned."""
_OWNER = re.compile(r"\b(?P<owner>\w{2,40}?)(?:['\u2019]s|(?<=s)['\u2019])\s")
_OWNER_IN_GERMAN = re.compile(r"\b(?P<owner>[A-ZÄÖÜ][a-zäöüß]{1,30}s)\s(?=[A-ZÄÖÜ])")
_PAIR = re.compile(r"(?<![\w'-])(?P<first>[\w'-]+)(?=\s(?P<head>[\w'-]+))")
_TELLS_OF_IT = """
    is are am be been was were isn't a an the not no so gone going goes got gets coming
    left died starts start started begins begin ends lasts takes costs cost meets meet happens runs
    comes ist sind war wird wurde wurden beginnt fängt endet dauert kostet findet geht
    um am ab von bis im in zu auf
"""
_NO_NOUN = AFTER_NOUN | frozenset(_TELLS_OF_IT.split())
"""Words that don't go on the name of a thing: "choir is", "choir starts", "choir on"."""


class _Owned(NamedTuple):
    """Whose something is, as terms, and the words for the thing."""

    owner: frozenset[str]
    thing: frozenset[str]


def named_besides(before: SaidSentence, now: SaidSentence) -> frozenset[str]:
    """Terms of a changing sentence that an earlier one shares without naming what changes.

    Args:
        before: The earlier sentence.
        now: The one that tells a change.

    Returns:
        Owners whose thing the earlier one doesn't name, and first words of compounds of which it
        names another thing.

    """
    if has_japanese(now.text):
        return frozenset()
    theirs = before.words | before.terms
    owners = {
        term
        for owner, thing in _owned(now)
        if not _named(thing, theirs, now.language)
        for term in owner
    }
    others = {
        term
        for first, head in _compounds(now)
        if not _named((head,), theirs, now.language) and _names_another(before, first)
        for term in terms_of([first], now.language)
    }
    return frozenset(owners | others)


def _owned(sentence: SaidSentence) -> list[_Owned]:
    """What belongs to whom in a sentence. No owner is in "the standup's moved"."""
    text, owned = sentence.text, list[_Owned]()
    matches = [*_OWNER.finditer(text)]
    if sentence.language == "german":
        matches += _OWNER_IN_GERMAN.finditer(text)
    for match in matches:
        thing: list[str] = []
        for word in re.finditer(r"[\w'-]+", text[match.end() :]):
            place = match.end() + word.start()
            if len(thing) == MOST_THING_WORDS or _ends_name(text, place, word.group()):
                break
            thing.append(word.group().casefold())
        if thing:
            owner = match["owner"].casefold()
            owned.append(
                _Owned(frozenset([owner, *terms_of([owner], sentence.language)]), frozenset(thing))
            )
    return owned


def _ends_name(text: str, place: int, word: str) -> bool:
    """Whether a word at a place goes on otherwise than a name of a thing does."""
    return (
        word.casefold() in _NO_NOUN
        or MOVES.match(text, place) is not None
        or ENDS_OF_SUBJECT.match(text, place) is not None
    )


def _compounds(sentence: SaidSentence) -> list[tuple[str, str]]:
    """The pairs of telling words that stand beside each other in a sentence; in German they are
    one word.
    """
    if sentence.language == "german":
        return []
    return [
        (first, head)
        for clause in sentence.clauses
        for match in _PAIR.finditer(clause.text)
        if _is_telling(first := match["first"].casefold(), sentence)
        and _is_telling(head := match["head"].casefold(), sentence)
        and not _ends_name(clause.text, match.start("head"), match["head"])
    ]


def _is_telling(word: str, sentence: SaidSentence) -> bool:
    return not sentence.terms.isdisjoint(terms_of([word], sentence.language))


def _named(thing: Iterable[str], theirs: frozenset[str], language: str) -> bool:
    """Whether one of the words for a thing, or one for the same matter, is among others."""
    ours = {*thing, *terms_of(thing, language)}
    matters = {ALIKE[word] for word in ours if word in ALIKE}
    return not ours.isdisjoint(theirs) or any(ALIKE.get(word) in matters for word in theirs)


def _names_another(before: SaidSentence, first: str) -> bool:
    """Whether a word is in a sentence only as the first of a compound: the choir of "the choir
    rehearsal".
    """
    after = [
        following
        for clause in before.clauses
        for word, following in pairwise((*clause.words, ""))
        if word == first
    ]
    return bool(after) and all(word and word not in _NO_NOUN for word in after)
