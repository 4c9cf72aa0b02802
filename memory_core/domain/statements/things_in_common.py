"""What two sentences speak of together, by the things that each names."""

from __future__ import annotations

from collections.abc import Callable, Collection

from memory_core.domain.statements.said_things import KIND, PERSON, SELF, UNKNOWN, Thing, ThingsSaid
from memory_core.domain.statements.said_words import PART


def in_common(
    before: ThingsSaid,
    now: Collection[Thing],
    shared: frozenset[str],
    alike: Callable[[Collection[str], Collection[str]], frozenset[str]],
) -> frozenset[str]:
    """The shared terms of two sentences that name the same thing in both.

    Args:
        before: The earlier sentence.
        now: Things of the later sentence.
        shared: The terms that both sentences have.
        alike: Returns the terms of a set that are in another set, or like a term in it.

    """
    known = frozenset[str]().union(*(thing.words | thing.pre for thing in before.things))
    named: set[str] = set()
    same, apart = set[str](), set[str]()
    for ours in now:
        for theirs in before.things:
            if not _agree(theirs, ours, known):
                continue
            common: set[str] = set()
            heads = theirs.words & ours.words if theirs.does and ours.does else frozenset[str]()
            if _tells_apart(theirs, ours, _KINDS):
                apart |= heads
            else:
                same |= heads
            for their_name, name in _names_of_both(theirs, ours, known):
                if their_name and name:
                    common |= alike(their_name, name) | alike(name, their_name)
            if common and common.isdisjoint(shared):  # Mia's hearing, in both
                owner = f" {ours.owner}"
                common |= {term for term in shared if f" {term}" in owner}
            named |= common
    return shared & (named - (apart - same))


def is_another(before: Thing, now: Thing, known: frozenset[str]) -> bool:
    """Whether a thing of the same name is another one.

    For example "my sister's flight", "the talk with Anna".

    Args:
        before: The earlier thing.
        now: The later thing.
        known: The terms of all things of the earlier sentence.

    """
    return not _agree(before, now, known) or _tells_apart(before, now, _KINDS)


_KINDS = (PART, "in", "from", "to", "with", "does", "object", KIND, PERSON)


def _names_of_both(
    before: Thing, now: Thing, known: frozenset[str]
) -> list[tuple[frozenset[str], frozenset[str]]]:
    """The parts of two things' names that may be the same: violin, and violin lesson."""
    names = []
    if not _tells_apart(before, now, ("pre",)):
        names += [(before.pre, now.words), (before.words, now.pre - now.parts)]
    if not (_tells_apart(before, now, _KINDS) or _is_anothers(before, now, known)):
        names += [(before.words, now.words)]
        names += [(before.pre, now.pre)] if before.words & now.words else []
    return names


def _agree(before: Thing, now: Thing, known: frozenset[str]) -> bool:
    """Whether two things may have the same owner.

    Where no owner is named, a thing of the earlier sentence is the speaker's, and a thing of the
    later sentence belongs to the thing told of before. known: the terms of all things of the
    earlier sentence.
    """
    if not now.owner or before.owner == now.owner:
        return True
    owners = set(now.owner.split())
    if not before.owner:
        return now.owner == SELF or not owners.isdisjoint(known)
    if now.owner == UNKNOWN:
        return before.owner != SELF
    return not owners.isdisjoint(before.owner.split())


def _is_anothers(before: Thing, now: Thing, known: frozenset[str]) -> bool:
    """Whether the later thing belongs to something that the earlier sentence does not name.

    The earlier thing has to be the speaker's: "my rent", "the rent of the shop". known: the terms
    of all things of the earlier sentence.
    """
    is_own = before.does and before.owner == SELF
    if not is_own or before.which or before.pre or now.owner:
        return False
    of = {term for kind, term in now.which if kind == PART}
    return bool(of) and of.isdisjoint(known)


def _tells_apart(before: Thing, now: Thing, kinds: Collection[str]) -> bool:
    """Whether words of some kind are told of both things, and differ."""
    for kind in kinds:
        ours = {word for of, word in now.which if of == kind}
        theirs = {word for of, word in before.which if of == kind}
        if ours and theirs and ours.isdisjoint(theirs):
            return True
    return False
