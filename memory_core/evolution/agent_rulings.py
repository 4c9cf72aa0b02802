"""What the conflict agent is shown, what its answer comes to, and which answers are credible.

Shown by small integers, never by ids, so that an agent can name nothing that it was not shown; what
it names beyond is dropped and counted. `key` names what was shown: the same again has the same
frozen answer, something else is asked again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memory_core.domain.agent_schemas import ConversationRulings, Decision, Decisions, RuledPair
from memory_core.domain.memory import Memory, MemoryType, Vector
from memory_core.domain.note import FRAME_WORDS
from memory_core.domain.statements.change_messages import tells_change
from memory_core.domain.text.analyzer import FUNCTION_WORDS, QUERY_WORDS
from memory_core.domain.text.sameness import differences, names_in, normalised, words_in
from memory_core.domain.text.spelling import numbers_in
from memory_core.domain.truth.slots import is_retraction, same_value, slot_of
from memory_core.evolution.links import Linked
from memory_core.evolution.opinions import (
    MIN_CONFIDENCE,
    both_reasons,
    changed_by,
    denies_conflict,
    why_both_hold,
)
from memory_core.ledger.ids import derived
from memory_core.ports import DecisionItem

MAX_HELD = 20
SKIP_CONFIDENCE = 0.8
SHARED_BY_NOTES = 3
"""Telling words that two notes have in common at least when one is to stand for the other,
or against it.
"""
_FRAME = FRAME_WORDS | {"user", "assistant"}
_TELLING = frozenset({"numbers", "negation", "names", "values", "opposites"})


@dataclass(frozen=True, slots=True)
class ConflictPrompt:
    """New memories and older ones that they may contradict, numbered by their places here."""

    new: tuple[Memory, ...]
    older: tuple[Memory, ...]

    @classmethod
    def of(
        cls, linked: Sequence[tuple[Memory, Sequence[Linked]]], most: int = MAX_HELD
    ) -> ConflictPrompt:
        """The new memories that touch older ones, and at most `most` of these; of another cell
        only, the nearest first.

        In an order that time does not change, so that a second look asks the same.
        """
        pairs = [
            (new, link)
            for new, links in linked
            for link in links
            if link.memory.cell_id != new.cell_id or new.cell_id is None
        ]
        pairs.sort(key=lambda pair: (-pair[1].link.similarity_score, pair[1].memory.id))
        older = list({link.memory.id: link.memory for _, link in pairs}.values())[:most]
        known = {memory.id for memory in older}
        touched = {new.id for new, link in pairs if link.memory.id in known}
        return cls(tuple(new for new, _ in linked if new.id in touched), tuple(older))

    @property
    def key(self) -> str:
        """A name for exactly this, by ids, texts and states."""
        parts = [
            f"{memory.id} {memory.status.value} {memory.content}"
            for memory in (*self.new, *self.older)
        ]
        return derived("shown", str(len(self.new)), *parts)

    def items(self) -> tuple[list[DecisionItem], list[DecisionItem]]:
        """Both as the agent gets them."""
        return _items(self.new), _items(self.older)


@dataclass(frozen=True, slots=True)
class Rulings:
    """An agent's decisions by the ids of (new, held); `invented` counts those about what it was not
    shown. failed: there was no answer.

    model: who decided. by_rule: whether that is the rules, which can't disagree with themselves.
    """

    by_pair: dict[tuple[str, str], Decision]
    invented: int = 0
    failed: bool = False
    model: str = "agent"
    by_rule: bool = False

    @classmethod
    def of(
        cls, prompt: ConflictPrompt, answer: Decisions, model: str, *, by_rule: bool = False
    ) -> Rulings:
        """The decisions about what was shown; of two about one pair the first counts."""
        rulings: dict[tuple[str, str], Decision] = {}
        invented = 0
        for decision in answer.decisions:
            if decision.new >= len(prompt.new) or decision.memory >= len(prompt.older):
                invented += 1
                continue
            rulings.setdefault(
                (prompt.new[decision.new].id, prompt.older[decision.memory].id), decision
            )
        return cls(rulings, invented, model=model, by_rule=by_rule)

    def with_repeated(self, pairs: Sequence[tuple[str, str]]) -> Rulings:
        """These, and that of these pairs of (new, held) the new one says nothing new."""
        skipped = Decision(
            new=0, memory=0, operation="SKIP", confidence_score=1.0, reasoning="the same words"
        )
        return replace(self, by_pair={**self.by_pair, **dict.fromkeys(pairs, skipped)})

    def on(self, new: Memory, old: Memory) -> Decision | None:
        """What is to happen to the held one because of the new one, where code can agree to it."""
        decision = self.by_pair.get((new.id, old.id))
        return decision if decision is not None and _credible(decision, new, old) else None

    def denial(self, new: Memory, old: Memory) -> Decision | None:
        """The decision of a model that the two do not exclude each other."""
        decision = self.by_pair.get((new.id, old.id))
        return decision if not self.by_rule and denies_conflict(decision, new, old) else None

    def disputed(self, decision: Decision, new: Memory, old: Memory) -> str | None:
        """Both reasons, where a model says that the two exclude each other and the rules know why
        both can be true.
        """
        why = None if self.by_rule or decision.operation != "DELETE" else why_both_hold(new, old)
        return None if why is None else both_reasons(why, self.model, decision)


def _credible(decision: Decision, new: Memory, old: Memory) -> bool:
    """Whether the two memories themselves bear the decision out; an agent's word alone
    retires nothing.

    Both are semantic and of one category. None is retired that is about something else: the two
    share a slot or, beside whom they are about, words that say something; and a pinned one is not
    merged away. A SKIP needs that nothing told is lost (`_says_all`).
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
    if slot is not None and slot == slot_of(old) and (is_retraction(new) or is_retraction(old)):
        return False  # whether one ends the other is not a matter of words: the rules know
    shared = _telling_words(new) & _telling_words(old)
    return (slot is not None and slot == slot_of(old)) or len(shared) >= (
        SHARED_BY_NOTES if new.category == "note" else 1
    )


def _says_all(old: Memory, new: Memory) -> bool:
    """Whether the held one lacks no number, name or negation of the new one, and not what
    fills its slot.
    """
    if new.category == "note":
        known = words_in(old.content)
        return not (
            numbers_in(new.content).keys() - numbers_in(old.content).keys()
            or names_in(new.content) - known
        )
    slots = slot_of(new), slot_of(old)
    if None not in slots and slots[0] != slots[1]:
        return False
    lacks = words_in(new.value_text or "") - words_in(f"{old.content} {old.value_text or ''}")
    return not lacks and not differences(new.content, old.content) & _TELLING


def _telling_words(memory: Memory) -> frozenset[str]:
    """The words of a memory that say what it is about: not whom, and not the frame of a note."""
    return (
        words_in(memory.content)
        - words_in(memory.subject or "")
        - FUNCTION_WORDS
        - QUERY_WORDS
        - _FRAME
    )


def _items(memories: Sequence[Memory]) -> list[DecisionItem]:
    return [
        DecisionItem(
            number, memory.content, memory.category, memory.event_timestamp, slot_of(memory)
        )
        for number, memory in enumerate(memories)
    ]


# What an agent has to be asked where all cells of a conversation are asked about together:
# nothing that rules are certain about.


@dataclass(frozen=True, slots=True)
class Questions:
    """New memories with the links that only an agent can rule about.

    cells: of how many cells they are. repeated: notes in the very words of a held one, by the ids
    of (new, held); rules skip them.
    """

    linked: tuple[tuple[Memory, tuple[Linked, ...]], ...] = ()
    cells: int = 1
    repeated: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls, linked: Sequence[tuple[Memory, Sequence[Linked]]], proofs: Mapping[str, str]
    ) -> Questions:
        """Those among the links of one cell. proofs: by the ids of its facts, the words
        that prove them.
        """
        open_links = (
            (
                new,
                tuple(
                    link
                    for link in links
                    if not is_certain(new, link.memory, proofs.get(new.id, ""))
                ),
            )
            for new, links in linked
        )
        repeated = [
            (new.id, link.memory.id)
            for new, links in linked
            for link in links
            if _repeats(new, link.memory)
        ]
        return cls(
            tuple((new, links) for new, links in open_links if links), repeated=tuple(repeated)
        )

    def __add__(self, other: Questions) -> Questions:
        """Both together."""
        return Questions(
            (*self.linked, *other.linked),
            self.cells + other.cells,
            (*self.repeated, *other.repeated),
        )

    @property
    def prompt(self) -> ConflictPrompt:
        """What the agent is shown."""
        return ConflictPrompt.of(self.linked, MAX_HELD * self.cells)

    @property
    def pairs(self) -> list[tuple[Memory, Memory]]:
        """The pairs that are asked about, as far as they are shown."""
        shown_ids = {memory.id for memory in self.prompt.older}
        return [
            (new, link.memory)
            for new, links in self.linked
            for link in links
            if link.memory.id in shown_ids
        ]


def is_certain(new: Memory, old: Memory, proof: str = "") -> bool:
    """Whether rules alone say what a new memory and a held one are to each other. proof: the words
    in which the new one was said.

    Two of different categories are never ruled about. Equal statements are one. In a slot an equal
    value is no contradiction, and one that is told later, in words that say that something changed,
    takes the place of the other. What one conversation tells in two of its cells is left to the
    slots, and to runs.
    """
    if new.category != old.category or (
        new.conversation_id is not None and new.conversation_id == old.conversation_id
    ):
        return True
    if new.category == "note":
        return _repeats(new, old)
    if not differences(old.content, new.content):
        return True
    slot = slot_of(new)
    if slot is None or slot != slot_of(old):
        return False
    if same_value(new, old):
        return True
    is_told = (
        is_retraction(new)
        or tells_change(new.content)
        or tells_change(proof)
        or changed_by(old, new) is not None
    )
    return is_told and new.event_timestamp > old.event_timestamp


def _repeats(new: Memory, old: Memory) -> bool:
    """Whether a note of another cell says the same in the same words."""
    both_notes = new.category == old.category == "note" and new.cell_id != old.cell_id
    return both_notes and normalised(new.content) == normalised(old.content)


def pair_key(new: Memory, old: Memory) -> str:
    """A name for exactly these two, by ids, texts and states."""
    return derived(
        "pair", *(f"{memory.id} {memory.status.value} {memory.content}" for memory in (new, old))
    )


def ruled_pairs(questions: Questions, rulings: Rulings) -> ConversationRulings:
    """The pairs that were asked about, each with what was said of it, to be frozen."""
    asked = {
        (new.id, old.id): RuledPair(
            new=new.id,
            old=old.id,
            key=pair_key(new, old),
            decision=rulings.by_pair.get((new.id, old.id)),
        )
        for new, old in questions.pairs
    }
    return ConversationRulings(pairs=list(asked.values()), invented=rulings.invented)


# What agents made of exactly what they were shown, on its way from asking to the commit that
# executes it.


@dataclass(frozen=True, slots=True)
class MergedNote:
    """A note that stands for others: its text and vector. None for a text: the synthesis failed,
    and `complaint` says how.
    """

    source_ids: tuple[str, ...]
    text: str | None
    vector: Vector | None = None
    complaint: str = ""


@dataclass(frozen=True, slots=True)
class Ruled:
    """What the agents said about exactly `shown_key`."""

    shown_key: str | None
    rulings: Rulings
    merged: MergedNote | None = None
