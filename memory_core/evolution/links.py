"""Links to older memories, and marks on cells whose facts were superseded.

Links are kept on the newer memory only. A link's composite score is its similarity, raised by the
recency and importance of the older memory. So it is never below the threshold that the similarity
passed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal

from memory_core.domain.archival import is_cold
from memory_core.domain.importance import HOUR_S, LEAST_RECENCY, importance_at
from memory_core.domain.memory import AtomicFact, Link, Memory, Status
from memory_core.domain.note import FRAME_WORDS
from memory_core.domain.statements.change_messages import tells_change
from memory_core.domain.text.analyzer import FUNCTION_WORDS, QUERY_WORDS
from memory_core.domain.text.sameness import words_in
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from memory_core.domain.truth.slots import is_retraction, slot_name, slot_of
from memory_core.ledger.changes import Change, Changes, Result
from memory_core.ledger.ids import note_id
from memory_core.ledger.read_set import Shelf
from memory_core.ports import Neighbour

MAX_LINKS = 20
MAX_FOR_SYNTHESIS = 4
CANDIDATES = MAX_FOR_SYNTHESIS * 3
STRONG = 0.85
WORDS_WEIGHT = 0.3
"""What all words in common count beside a similarity of 1. Measured with facts that a model wrote,
each among 150 others: the one that a change is about is among the best four in 51 of 58; by vectors
alone in 48.
"""
_FRAME = FRAME_WORDS | {"user", "assistant"}

Kind = Literal["duplicate", "strong", "related", "contradicts", "same_scene"]


@dataclass(frozen=True, slots=True)
class LinkRules:
    """Thresholds on the embedder's scale, and the boosts of the composite score.

    Attributes:
        duplicate_threshold: The least similarity of a duplicate.
        link_threshold: The least similarity of a link.
        recency_boost: Share by which full recency raises the score.
        importance_boost: Share by which full importance raises the score.
        age_hours: Hours after which recency is 37 %: SECMSA's max_age_hours / half_life_factor.
        half_life_days: Half-life of importance, in days.

    """

    duplicate_threshold: float
    link_threshold: float
    recency_boost: float = 0.1
    importance_boost: float = 0.1
    age_hours: float = 10_950.0
    half_life_days: float = 30.0


@dataclass(frozen=True, slots=True)
class Linked:
    """A neighbour and the link to it."""

    neighbour: Neighbour
    link: Link

    @property
    def memory(self) -> Memory:
        """The older memory."""
        return self.neighbour.memory


def find_links(
    new: Memory, neighbours: Sequence[Neighbour], rules: LinkRules, now: datetime
) -> list[Linked]:
    """The links of a new memory, the strongest first, at most MAX_LINKS.

    A neighbour of the same slot is linked, or of a similarity at the threshold; never the memory
    itself.

    Args:
        new: The new memory.
        neighbours: Its neighbours.
        rules: Thresholds and boosts.
        now: The present time.

    """
    links = [
        _linked(near, rules, now)
        for near in neighbours
        if near.memory.id != new.id
        and near.memory.status in FOUND_BY_DEFAULT
        and _is_linked(new, near, rules)
    ]
    links.sort(key=lambda linked: (-linked.link.composite_score, linked.memory.id))
    return links[:MAX_LINKS]


def is_news(new: Memory) -> bool:
    """Whether a fact tells that something has changed or ended.

    What it ends may be far from its words: "sold the Golf" is far from "drives a 2014 Golf".

    Args:
        new: A fact or a note.

    """
    return new.category == "fact" and (is_retraction(new) or tells_change(new.content))


def _is_linked(new: Memory, near: Neighbour, rules: LinkRules) -> bool:
    return _fill_one_slot(new, near.memory) or near.similarity >= rules.link_threshold


def _fill_one_slot(new: Memory, old: Memory) -> bool:
    slot = slot_of(new)
    return slot is not None and slot == slot_of(old)


def _linked(near: Neighbour, rules: LinkRules, now: datetime) -> Linked:
    old = near.memory
    composite = near.similarity * (
        1
        + rules.recency_boost * _recency(old, rules, now)
        + rules.importance_boost * _importance(old, rules, now)
    )
    link = Link(
        memory_id=old.id,
        similarity_score=round(near.similarity, 6),
        composite_score=round(composite, 6),
        link_strength=round(composite, 6),
        relationship_type=_kind(near.similarity, rules),
    )
    return Linked(near, link)


def find_compared(
    new: Memory, neighbours: Sequence[Neighbour], rules: LinkRules, now: datetime
) -> list[Linked]:
    """The older memories that an agent compares a new memory with, the likeliest first.

    They are those of its slot, and at most MAX_FOR_SYNTHESIS others: nearest by vector, those with
    rare words in common before others. Without any at the link's threshold only a statement that
    tells a change is compared.

    Args:
        new: The new memory.
        neighbours: Its neighbours, as far away as they were searched for.
        rules: Thresholds and boosts.
        now: The present time.

    """
    near = [
        each
        for each in neighbours
        if each.memory.id != new.id
        and each.memory.status in FOUND_BY_DEFAULT
        and each.memory.category == new.category
        and (new.cell_id is None or each.memory.cell_id != new.cell_id)
    ]
    if not (is_news(new) or any(_is_linked(new, each, rules) for each in near)):
        return []
    shared = _shared_words(new, [each.memory for each in near])
    near.sort(
        key=lambda each: (
            -round(each.similarity + WORDS_WEIGHT * shared[each.memory.id], 6),
            each.memory.id,
        )
    )
    in_slot = [each for each in near if _fill_one_slot(new, each.memory)]
    others = [each for each in near if not _fill_one_slot(new, each.memory)]
    return [_linked(each, rules, now) for each in (*in_slot, *others[:MAX_FOR_SYNTHESIS])]


def telling_words(memory: Memory) -> frozenset[str]:
    """The words of a memory that tell its topic, without the frame of a note.

    Args:
        memory: A fact or a note.

    """
    return words_in(memory.content) - FUNCTION_WORDS - QUERY_WORDS - _FRAME


def _shared_words(new: Memory, older: Sequence[Memory]) -> dict[str, float]:
    """How much of its words each older memory shares with a new memory.

    A word counts less, the more of them have it.
    """
    own = telling_words(new)
    by_id = {memory.id: telling_words(memory) for memory in older}
    counts = Counter(word for words in by_id.values() for word in words)

    def weight(words: Iterable[str]) -> float:
        return math.fsum(math.log((len(by_id) + 1) / (counts[word] + 0.5)) for word in words)

    return {
        name: weight(words & own) / math.sqrt(weight(words) * weight(own)) if words & own else 0.0
        for name, words in by_id.items()
    }


def _kind(similarity: float, rules: LinkRules) -> Kind:
    if similarity >= rules.duplicate_threshold:
        return "duplicate"
    return "strong" if similarity >= STRONG else "related"


def _recency(old: Memory, rules: LinkRules, now: datetime) -> float:
    hours = (now - max(old.created_at, old.updated_at)).total_seconds() / HOUR_S
    return 1.0 if hours <= 0 else max(LEAST_RECENCY, math.exp(-hours / rules.age_hours))


def _importance(old: Memory, rules: LinkRules, now: datetime) -> float:
    return importance_at(
        old.importance_base, old.last_accessed_at or old.created_at, now, rules.half_life_days
    )


# What is said beside a cell, and its note, when a fact that it told is superseded: the text stays
# as it was, the mark names the successor.
#
# Note: marks are as many as fit a commit, the first teller and the latest ones before others. The
# truth is in the facts themselves; a mark only saves the reader of an old episode from taking it
# for the present.


SPLIT: Final = "split"
"""The event of a memory that keeps another memory's earlier interval."""
MAX_DOCUMENTS = 94
"""Documents, of the 100 operations of a batch; the rest is for the head, and the effects on pending
conflicts.
"""
MAX_MARKED = 12
"""Cells that are marked when a fact which they stated is superseded: each cell, and its note, is a
document of the commit.
"""

MAX_HOPS = 20
"""Merges in a row that are followed from a note: each takes a read, unless it was read before."""


def told_in(fact: Memory) -> tuple[str, ...]:
    """The cells to mark when a fact is superseded, with their notes.

    They are the first cell that stated it and the cells that stated it last.
    """
    cells = [
        name
        for name in (fact.cell_id, *reversed(fact.source_ids[-MAX_MARKED + 1 :]))
        if name is not None
    ]
    return tuple(dict.fromkeys(name for cell in cells for name in (cell, note_id(cell))))


def fallen_in(changes: Iterable[Change]) -> list[Memory]:
    """The facts whose successor these changes set or clear, as the changes leave them.

    A fact that is superseded gets a successor; `next_id` of a reactivated fact is None.
    """
    made = [*changes]
    states = {change.after.id: change.after for change in made}
    return [
        states[name] for name in dict.fromkeys(change.after.id for change in made if _turns(change))
    ]


def _turns(change: Change) -> bool:
    """Whether the cells that stated the memory must be marked for this change.

    An earlier interval of a truth that was reactivated is told by the truth itself.
    """
    old, new = change.before, change.after
    if change.event_type == SPLIT or (
        old is not None and (old.status, old.next_id) == (new.status, new.next_id)
    ):
        return False
    return _fallen(new) or (old is not None and _fallen(old))


def _fallen(memory: Memory) -> bool:
    """Whether another memory takes or will take its place, for a while or for good.

    A reader of the mark checks the time.
    """
    in_slot = slot_name(memory) is not None
    was_never = (
        memory.status is Status.DELETED and memory.status_reason == "contradicted" and in_slot
    )
    will_be = memory.status is Status.ACTIVE and memory.valid_until is not None and in_slot
    return (
        memory.status is Status.SUPERSEDED or was_never or will_be
    ) and memory.next_id is not None


async def marked(shelf: Shelf, changes: Changes[Result]) -> Changes[Result]:
    """The changes, with marks in the cells and notes of superseded or reactivated facts.

    Marks are set as far as there is room in the commit.

    Args:
        shelf: Where cells and notes are read.
        changes: Changes to complete.

    """
    fallen = [fact for fact in fallen_in(changes.changes) if told_in(fact)]
    if not fallen:
        return changes
    tellers = _Tellers(shelf, changes)
    by_teller: dict[str, dict[str, Memory]] = {}
    await shelf.read([name for fact in fallen for name in told_in(fact)])
    for fact in fallen:
        for name in told_in(fact):
            chain = await tellers.chain(name)
            # a note that was merged into another may stand again
            for teller in (*chain[:1], *chain[-1:]):
                by_teller.setdefault(teller.id, {})[fact.id] = fact
    made, room = [*changes.changes], MAX_DOCUMENTS - _documents(changes)
    for name, facts in by_teller.items():
        memory = tellers.memory(name)
        if (
            memory is None
            or is_cold(memory)
            or (marked_facts := _marked(memory, facts)) == memory.atomic_facts
        ):
            continue
        after = memory.changed(atomic_facts=marked_facts)
        place = next(
            (place for place in range(len(made) - 1, -1, -1) if made[place].after.id == name), None
        )
        if place is not None and made[place].before is None:
            made[place] = replace(made[place], after=after)
        elif room >= 2:
            made.append(Change("fact_superseded", after, memory))
            room -= 2
    return replace(changes, changes=tuple(made), reads=changes.reads | by_teller.keys())


def _documents(changes: Changes[Any]) -> int:
    written = {change.after.id for change in changes.changes}
    documents = (changes.puts, changes.creates, changes.deletes, changes.staged, changes.marks)
    return len(changes.changes) + len(written) + sum(len(group) for group in documents)


class _Tellers:
    """The cells and notes that stated facts, as the commit leaves them."""

    def __init__(self, shelf: Shelf, changes: Changes[Any]) -> None:
        self._shelf = shelf
        self._states = {change.after.id: change.after for change in changes.changes}

    def memory(self, name: str) -> Memory | None:
        return self._states.get(name) or self._shelf.memory(name)

    async def chain(self, name: str) -> list[Memory]:
        """The memory, and the notes that it was merged into, in order."""
        chain, following = list[Memory](), self.memory(name)
        while following is not None and len(chain) <= MAX_HOPS:
            chain.append(following)
            next_id = following.next_id if following.status is Status.UPDATED else None
            if next_id is not None and next_id not in self._states:
                await self._shelf.read([next_id])
            following = None if next_id is None else self.memory(next_id)
        return chain


def _marked(teller: Memory, fallen: Mapping[str, Memory]) -> list[AtomicFact]:
    """The facts of a cell, with the successors of superseded facts.

    A note lists only facts with a successor.
    """
    facts = [
        fact.held_by(fact.fact_id, successor_of(fallen[fact.fact_id]))
        if fact.fact_id is not None and fact.fact_id in fallen
        else fact
        for fact in teller.atomic_facts
    ]
    if teller.category != "note":
        return facts
    known = {fact.fact_id for fact in facts}
    more = marks_of([fact for name, fact in fallen.items() if name not in known])
    return [*(fact for fact in facts if fact.superseded_by is not None), *more]


def successor_of(fact: Memory) -> str | None:
    """The successor that cells name in place of a fact.

    None for a retraction that ended no value, since it made no untrue statement.
    """
    ended_nothing = (
        is_retraction(fact)
        and fact.status is Status.SUPERSEDED
        and fact.valid_until == fact.valid_from
    )
    return None if ended_nothing else fact.next_id


def marks_of(facts: Sequence[Memory]) -> list[AtomicFact]:
    """The superseded facts that a note lists, each with its successor."""
    return [
        AtomicFact(text=fact.content, fact_id=fact.id, superseded_by=by)
        for fact in facts
        if _fallen(fact) and (by := successor_of(fact))
    ]
