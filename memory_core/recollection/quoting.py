"""Which of the found memories are quoted where several tell the same.

That is the turns of a cell, or what was formed of them.

    found of a cell                      quoted
    turns                                the turns, and not the cell nor its note,
      but a shorter story covers them    the story, and of the turns those that are no longer than it
    no turn                              the better of the cell and its note
    a fact and a short turn that says it the turn

A story covers turns when it is at least as relevant as the best of them, has every word of the query that they have, and takes fewer tokens
than that best one; where turns of its cell are quoted anyway, as the last of a session, it never does. What a person said in a line is
quoted beside a story of the long answer to it: told two messages a call, .025 more of BEAM's evidence is in contexts. Note: a fact
that is in conflict, or that no turn of its cell says, is quoted for itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memory_core.domain.messages import MESSAGE
from memory_core.domain.models import Memory
from memory_core.domain.text import tokens
from memory_core.domain.tokens import count_tokens
from memory_core.recollection.stale import Fallen
from memory_core.recollection.telling import STORIES, text_for

FACT = "fact"
SHORT_TURN = 80
"""Tokens up to which a turn is quoted whole, and a fact beside it that has no word of its own says nothing more."""

LEAST_SHARED = 0.75
"""The part of its words that a turn has which tells a fact without a slot."""


@dataclass(frozen=True, slots=True)
class Found:
    """A memory on its way into a context. priority: how much it is wanted there. relevance: how much of the query it answers."""

    memory: Memory
    priority: float
    relevance: float = 0.0

    @property
    def cell(self) -> str:
        """The id of the cell that it came from, its own for what came from none."""
        return self.memory.cell_id or self.memory.id

    @property
    def is_story(self) -> bool:
        """Whether it was formed of a whole cell."""
        return self.memory.category in STORIES

    @property
    def is_message(self) -> bool:
        """Whether it is one turn of a conversation that was told."""
        return self.memory.category == MESSAGE


def quotable(found: Iterable[Found], terms: Collection[str], quoted: Collection[str] = ()) -> list[Found]:
    """The found memories without those that others tell better or shorter; the best first, as they came.

    quoted: cells whose turns are to be told anyway, so that no story covers them.
    """
    ordered = list(found)
    turns: dict[str, list[Found]] = {}
    for one in ordered:
        if one.is_message:
            turns.setdefault(one.cell, []).append(one)
    stories: dict[str, Found] = {}
    for one in ordered:
        if one.is_story and (one.cell not in turns or (one.cell not in quoted and covers(one, turns[one.cell], terms))):
            stories.setdefault(one.cell, one)
    longest = {cell: count_tokens(text_for(story.memory, terms)) for cell, story in stories.items() if cell in turns}

    def told_shorter(turn: Found) -> bool:
        return turn.cell in longest and count_tokens(turn.memory.content) > longest[turn.cell]

    def is_quoted(one: Found) -> bool:
        if one.is_story:
            return stories.get(one.cell) is one
        if one.is_message:
            return not told_shorter(one)
        return not said_by_turn(one.memory, turns.get(one.cell, ()))

    return [one for one in ordered if is_quoted(one)]


def covers(story: Found, turns: Sequence[Found], terms: Collection[str]) -> bool:
    """Whether a story says in fewer tokens what the turns say of the query."""
    best = max(turns, key=lambda one: one.relevance)
    told = text_for(story.memory, terms)
    if story.relevance < best.relevance or count_tokens(told) >= count_tokens(best.memory.content):
        return False
    wanted = set(terms)
    said = {term for one in turns for term in tokens(one.memory.content)}
    return said & wanted <= set(tokens(told))


def said_by_turn(fact: Memory, turns: Iterable[Found]) -> bool:
    """Whether the turns of its cell say what an undisputed fact says.

    That is, a short turn has all words of the fact, or, where the fact fills no slot, any turn three quarters of them: such a fact is a
    sentence of one of these turns in the third person, whose words are put another way in places.
    """
    if fact.category != FACT or fact.conflict_state == "pending":
        return False
    words = set(tokens(fact.content)) - set(tokens(f"{fact.subject or ''} {fact.actor or ''} User"))
    for turn in turns:
        shared = words & set(tokens(f"{turn.memory.content} {turn.memory.actor or ''}"))
        if fact.attribute is None and len(shared) >= LEAST_SHARED * len(words):
            return True
        if shared == words and count_tokens(turn.memory.content) <= SHORT_TURN:
            return True
    return False


def fallen_by_turn(found: Iterable[Found], fallen: Mapping[str, Sequence[Fallen]]) -> dict[str, tuple[Fallen, ...]]:
    """By the id of a turn, the superseded facts of its cell that it told.

    A fact counts as told by the turn that shares most of its words.

    Args:
        found: What is to be quoted.
        fallen: By the id of a cell, its superseded facts.

    """
    turns: dict[str, list[Found]] = {}
    for one in found:
        if one.is_message and one.cell in fallen:
            turns.setdefault(one.cell, []).append(one)
    told: dict[str, tuple[Fallen, ...]] = {}
    for cell, of_cell in turns.items():
        words = {one.memory.id: set(tokens(one.memory.content)) for one in of_cell}
        for fact in fallen[cell]:
            said = set(tokens(fact.text))
            teller = max(words, key=lambda name: len(words[name] & said))
            if words[teller] & said:
                told[teller] = (*told.get(teller, ()), fact)
    return told
