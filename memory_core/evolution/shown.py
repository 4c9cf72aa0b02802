"""What the conflict agent is shown of a cell's new memories and the older ones they touch, and what its answer comes to.

Shown by small integers, never by ids, so that an agent can name nothing that it was not shown; what it names beyond is dropped and
counted. `key` names what was shown: the same again has the same frozen answer, something else is asked again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory_core.domain.agent_answers import Decision, Decisions
from memory_core.domain.endings import is_ending
from memory_core.domain.models import Memory, MemoryType
from memory_core.domain.note import FRAME_WORDS
from memory_core.domain.numerals import numbers_in
from memory_core.domain.sameness import differences, names_in, words_in
from memory_core.domain.slots import slot_of
from memory_core.domain.stopwords import FUNCTION_WORDS, QUERY_WORDS
from memory_core.evolution.disagreement import MIN_CONFIDENCE, both_reasons, denies_conflict, why_both_hold
from memory_core.evolution.links import Linked
from memory_core.ledger.ids import derived
from memory_core.ports import DecisionItem

MAX_HELD = 20
SKIP_CONFIDENCE = 0.8
SHARED_BY_NOTES = 3
"""Telling words that two notes have in common at least when one is to stand for the other, or against it."""
_FRAME = FRAME_WORDS | {"user", "assistant"}
_TELLING = frozenset({"numbers", "negation", "names", "values", "opposites"})


@dataclass(frozen=True, slots=True)
class Shown:
    """New memories and held ones, numbered by their places here."""

    new: tuple[Memory, ...]
    held: tuple[Memory, ...]

    @classmethod
    def of(cls, linked: Sequence[tuple[Memory, Sequence[Linked]]]) -> Shown:
        """The new memories that touch older ones, and these; of another cell only, the nearest first.

        In an order that time does not change, so that a second look asks the same.
        """
        pairs = [(new, link) for new, links in linked for link in links if link.memory.cell_id != new.cell_id or new.cell_id is None]
        pairs.sort(key=lambda pair: (-pair[1].link.similarity_score, pair[1].memory.id))
        older = list({link.memory.id: link.memory for _, link in pairs}.values())[:MAX_HELD]
        known = {memory.id for memory in older}
        touched = {new.id for new, link in pairs if link.memory.id in known}
        return cls(tuple(new for new, _ in linked if new.id in touched), tuple(older))

    @property
    def key(self) -> str:
        """A name for exactly this, by ids, texts and states."""
        parts = [f"{memory.id} {memory.status.value} {memory.content}" for memory in (*self.new, *self.held)]
        return derived("shown", str(len(self.new)), *parts)

    def items(self) -> tuple[list[DecisionItem], list[DecisionItem]]:
        """Both as the agent gets them."""
        return _items(self.new), _items(self.held)


@dataclass(frozen=True, slots=True)
class Rulings:
    """An agent's decisions by the ids of (new, held); `invented` counts those about what it was not shown. failed: there was no answer.

    model: who decided. by_rule: whether that is the rules, which can't disagree with themselves.
    """

    by_pair: dict[tuple[str, str], Decision]
    invented: int = 0
    failed: bool = False
    model: str = "agent"
    by_rule: bool = False

    @classmethod
    def of(cls, prompt: Shown, answer: Decisions, model: str, *, by_rule: bool = False) -> Rulings:
        """The decisions about what was shown; of two about one pair the first counts."""
        rulings: dict[tuple[str, str], Decision] = {}
        invented = 0
        for decision in answer.decisions:
            if decision.new >= len(prompt.new) or decision.memory >= len(prompt.held):
                invented += 1
                continue
            rulings.setdefault((prompt.new[decision.new].id, prompt.held[decision.memory].id), decision)
        return cls(rulings, invented, model=model, by_rule=by_rule)

    def on(self, new: Memory, old: Memory) -> Decision | None:
        """What is to happen to the held one because of the new one, where code can agree to it."""
        decision = self.by_pair.get((new.id, old.id))
        return decision if decision is not None and _credible(decision, new, old) else None

    def denial(self, new: Memory, old: Memory) -> Decision | None:
        """The decision of a model that the two do not exclude each other."""
        decision = self.by_pair.get((new.id, old.id))
        return decision if not self.by_rule and denies_conflict(decision, new, old) else None

    def disputed(self, decision: Decision, new: Memory, old: Memory) -> str | None:
        """Both reasons, where a model says that the two exclude each other and the rules know why both can be true."""
        why = None if self.by_rule or decision.operation != "DELETE" else why_both_hold(new, old)
        return None if why is None else both_reasons(why, self.model, decision)


def _credible(decision: Decision, new: Memory, old: Memory) -> bool:
    """Whether the two memories themselves bear the decision out; an agent's word alone retires nothing.

    Both are semantic and of one category. None is retired that is about something else: the two share a slot or, beside whom they are
    about, words that say something; and a pinned one is not merged away. A SKIP needs that nothing told is lost (`_says_all`).
    """
    if old.type is not MemoryType.SEMANTIC or old.category != new.category:
        return False
    if decision.operation == "KEEP":
        return decision.confidence_score >= MIN_CONFIDENCE
    if decision.operation == "SKIP":
        return decision.confidence_score >= SKIP_CONFIDENCE and _says_all(old, new)
    if decision.confidence_score < MIN_CONFIDENCE if decision.operation == "DELETE" else old.pinned:
        return False
    slot = slot_of(new)
    if slot is not None and slot == slot_of(old) and (is_ending(new) or is_ending(old)):
        return False  # whether one ends the other is not a matter of words: the rules know
    shared = _telling_words(new) & _telling_words(old)
    return (slot is not None and slot == slot_of(old)) or len(shared) >= (SHARED_BY_NOTES if new.category == "note" else 1)


def _says_all(old: Memory, new: Memory) -> bool:
    """Whether the held one lacks no number, name or negation of the new one, and not what fills its slot."""
    if new.category == "note":
        known = words_in(old.content)
        return not (numbers_in(new.content).keys() - numbers_in(old.content).keys() or names_in(new.content) - known)
    slots = slot_of(new), slot_of(old)
    if None not in slots and slots[0] != slots[1]:
        return False
    lacks = words_in(new.value_text or "") - words_in(f"{old.content} {old.value_text or ''}")
    return not lacks and not differences(new.content, old.content) & _TELLING


def _telling_words(memory: Memory) -> frozenset[str]:
    """The words of a memory that say what it is about: not whom, and not the frame of a note."""
    return words_in(memory.content) - words_in(memory.subject or "") - FUNCTION_WORDS - QUERY_WORDS - _FRAME


def _items(memories: Sequence[Memory]) -> list[DecisionItem]:
    return [
        DecisionItem(number, memory.content, memory.category, memory.event_timestamp, slot_of(memory))
        for number, memory in enumerate(memories)
    ]
