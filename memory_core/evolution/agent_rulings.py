"""What the conflict agent sees, and which of its answers are credible.

Memories are shown by small integers, never by ids, so that an agent can't name a memory that it did
not see. Any other number is dropped and counted. `key` names the shown memories: the same memories
get the same frozen answer, and changed memories are asked about again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memory_core.domain.agent_schemas import ConversationRulings, Decision, Decisions, RuledPair
from memory_core.domain.memory import Memory, MemoryType, Vector
from memory_core.domain.statements.change_messages import tells_change
from memory_core.domain.text.sameness import differences, names_in, normalised, words_in
from memory_core.domain.text.spelling import numbers_in
from memory_core.domain.truth.slots import is_retraction, same_value, slot_of
from memory_core.evolution.links import Linked, telling_words
from memory_core.evolution.opinions import (
    MIN_CONFIDENCE,
    both_reasons,
    changed_by,
    denies_conflict,
    opinion,
    why_both_hold,
)
from memory_core.ledger.ids import derived
from memory_core.ports import DecisionItem

MAX_HELD = 20
SKIP_CONFIDENCE = 0.8
LEAST_DOUBT = 0.5
"""The least confidence with which an agent's DELETE leaves two facts for a person to look at."""
SHARED_BY_NOTES = 3
"""Telling words that two notes share at least, when a note is to stand for the other note or
against it.
"""
_TELLING = frozenset({"numbers", "negation", "names", "values", "opposites"})


@dataclass(frozen=True, slots=True)
class ConflictPrompt:
    """New memories and older memories that they may contradict.

    They are numbered by their places here.
    """

    new: tuple[Memory, ...]
    older: tuple[Memory, ...]

    @classmethod
    def of(
        cls, linked: Sequence[tuple[Memory, Sequence[Linked]]], most: int = MAX_HELD
    ) -> ConflictPrompt:
        """The new memories with older memories to compare with, and these older memories.

        The nearest come first. Their order does not change with time, so that a repeated read asks
        the same.

        Args:
            linked: New memories, each with what it is compared with.
            most: Older memories at most.

        """
        pairs = [(new, link) for new, links in linked for link in links]
        pairs.sort(key=lambda pair: (-pair[1].link.similarity_score, pair[1].memory.id))
        older = list({link.memory.id: link.memory for _, link in pairs}.values())[:most]
        known = {memory.id for memory in older}
        touched = {new.id for new, link in pairs if link.memory.id in known}
        return cls(tuple(new for new, _ in linked if new.id in touched), tuple(older))

    @property
    def key(self) -> str:
        """A name for exactly these memories, by ids, texts and states."""
        parts = [
            f"{memory.id} {memory.status.value} {memory.content}"
            for memory in (*self.new, *self.older)
        ]
        return derived("shown", str(len(self.new)), *parts)

    def items(self) -> tuple[list[DecisionItem], list[DecisionItem]]:
        """The new and the older memories as the agent gets them."""
        return _items(self.new), _items(self.older)


@dataclass(frozen=True, slots=True)
class Rulings:
    """An agent's decisions about pairs of memories.

    Attributes:
        by_pair: By the ids of the new and the older memory.
        seen: These ids of all pairs that the agent was shown.
        invented: How many decisions were about memories that the agent did not see.
        model: Model that decided.
        by_rule: Whether the rules decided, which can't disagree with themselves.

    """

    by_pair: dict[tuple[str, str], Decision]
    seen: frozenset[tuple[str, str]] = frozenset()
    invented: int = 0
    model: str = "agent"
    by_rule: bool = False

    @classmethod
    def of(
        cls, prompt: ConflictPrompt, answer: Decisions, model: str, *, by_rule: bool = False
    ) -> Rulings:
        """The decisions about the shown memories; the first decision about a pair counts.

        Args:
            prompt: Prompt that the agent was shown.
            answer: Answer of the agent.
            model: Model that answered.
            by_rule: Whether the rules answered.

        """
        rulings: dict[tuple[str, str], Decision] = {}
        invented = 0
        for decision in answer.decisions:
            if decision.new >= len(prompt.new) or decision.memory >= len(prompt.older):
                invented += 1
                continue
            rulings.setdefault(
                (prompt.new[decision.new].id, prompt.older[decision.memory].id), decision
            )
        seen = frozenset((new.id, old.id) for new in prompt.new for old in prompt.older)
        return cls(rulings, seen, invented, model=model, by_rule=by_rule)

    def with_repeated(self, pairs: Sequence[tuple[str, str]]) -> Rulings:
        """These decisions, and a SKIP for each of these pairs, which say the same.

        `pairs` are ids of the new and the older memory.
        """
        skipped = Decision(
            new=0, memory=0, operation="SKIP", confidence_score=1.0, reasoning="the same words"
        )
        return replace(self, by_pair={**self.by_pair, **dict.fromkeys(pairs, skipped)})

    def on(self, new: Memory, old: Memory) -> Decision | None:
        """The decision about an older memory because of a new memory, if it is credible.

        Args:
            new: New memory that the agent was shown.
            old: Older memory that the agent was shown.

        """
        decision = self.by_pair.get((new.id, old.id))
        return decision if decision is not None and _credible(decision, new, old) else None

    def passes_over(self, new: Memory, old_id: str) -> bool:
        """Whether a model was shown two memories and says nothing of them.

        Args:
            new: New memory that the agent was shown.
            old_id: Id of the older memory.

        """
        pair = new.id, old_id
        return not self.by_rule and pair in self.seen and pair not in self.by_pair

    def denial(self, new: Memory, old: Memory) -> Decision | None:
        """A model's decision that two memories do not exclude each other, if any.

        Args:
            new: New memory that the agent was shown.
            old: Older memory that the agent was shown.

        """
        decision = self.by_pair.get((new.id, old.id))
        return decision if not self.by_rule and denies_conflict(decision, new, old) else None

    def doubt(self, new: Memory, old: Memory) -> str | None:
        """The reasons to leave a pair that a model decided to a person.

        The rules know why both can be true; or the model is not sure; or the two have no word in
        common ("wants no children", "tries for a baby").

        Args:
            new: New memory that the agent was shown.
            old: Older memory that the agent was shown.

        Returns:
            The reasons; None where the model's decision counts, or says too little.

        """
        decision = self.by_pair.get((new.id, old.id))
        if (
            self.by_rule
            or decision is None
            or decision.operation != "DELETE"
            or decision.confidence_score < LEAST_DOUBT
            or not _are_comparable(new, old)
        ):
            return None
        why = why_both_hold(new, old)
        if why is not None:
            is_sure = decision.confidence_score >= MIN_CONFIDENCE
            return both_reasons(why, self.model, decision) if is_sure else None
        if _ends_in_slot(new, old) or _credible(decision, new, old):
            return None
        return opinion(self.model, decision)


def _are_comparable(new: Memory, old: Memory) -> bool:
    """Whether a word of an agent about the two counts at all."""
    return old.type is MemoryType.SEMANTIC and old.category == new.category


def _credible(decision: Decision, new: Memory, old: Memory) -> bool:
    """Whether the two memories themselves support the decision.

    An agent's word alone retires no memory. Both memories must be semantic and of the same
    category. A memory about something else is never retired: the two must share a slot, or telling
    words beside their subjects. A pinned memory is not merged away. A SKIP needs that no statement
    is lost (`_says_all`).
    """
    if not _are_comparable(new, old):
        return False
    if decision.operation == "KEEP":
        return decision.confidence_score >= MIN_CONFIDENCE
    if decision.operation == "SKIP":
        return decision.confidence_score >= SKIP_CONFIDENCE and _says_all(old, new)
    if decision.confidence_score < MIN_CONFIDENCE if decision.operation == "DELETE" else old.pinned:
        return False
    if _ends_in_slot(new, old):
        return False
    slot = slot_of(new)
    shared = _topic_words(new) & _topic_words(old)
    return (slot is not None and slot == slot_of(old)) or len(shared) >= (
        SHARED_BY_NOTES if new.category == "note" else 1
    )


def _ends_in_slot(new: Memory, old: Memory) -> bool:
    """Whether one tells an end in their slot, about which rules decide."""
    slot = slot_of(new)
    return slot is not None and slot == slot_of(old) and (is_retraction(new) or is_retraction(old))


def _topic_words(memory: Memory) -> frozenset[str]:
    return telling_words(memory) - words_in(memory.subject or "")


def _says_all(old: Memory, new: Memory) -> bool:
    """Whether the older memory has all numbers, names and negations of the new memory.

    It must also have the words of the value that fills the new memory's slot.
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
    """New memories with the links that only an agent can decide about.

    Attributes:
        linked: New memories with these links.
        cells: The number of their cells.
        repeated: By the ids of the new and the older memory, notes with exactly the words of an
            older note; rules skip them.

    """

    linked: tuple[tuple[Memory, tuple[Linked, ...]], ...] = ()
    cells: int = 1
    repeated: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls, linked: Sequence[tuple[Memory, Sequence[Linked]]], proofs: Mapping[str, str]
    ) -> Questions:
        """The pairs of a cell that the rules are not certain about.

        Args:
            linked: The cell's new memories with their links.
            proofs: By the ids of the cell's facts, the words that prove them.

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
        """The questions of both, together."""
        return Questions(
            (*self.linked, *other.linked),
            self.cells + other.cells,
            (*self.repeated, *other.repeated),
        )

    @property
    def prompt(self) -> ConflictPrompt:
        """The memories that the agent is shown."""
        return ConflictPrompt.of(self.linked, MAX_HELD * self.cells)

    @property
    def pairs(self) -> list[tuple[Memory, Memory]]:
        """The pairs to decide about, as far as they are shown."""
        shown_ids = {memory.id for memory in self.prompt.older}
        return [
            (new, link.memory)
            for new, links in self.linked
            for link in links
            if link.memory.id in shown_ids
        ]


def is_certain(new: Memory, old: Memory, proof: str = "") -> bool:
    """Whether rules alone decide how a new memory relates to an older memory.

    Two memories of different categories are never decided about. Equal statements are a single
    statement. In a slot an equal value is no contradiction, and a later statement in words of
    change takes the place of the earlier statement. Statements from two cells of the same
    conversation are left to the slots, and to runs.

    Args:
        new: A new memory.
        old: An older memory.
        proof: The words in which the new memory was said.

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
    """Whether a note of another cell has the same words."""
    both_notes = new.category == old.category == "note" and new.cell_id != old.cell_id
    return both_notes and normalised(new.content) == normalised(old.content)


def pair_key(new: Memory, old: Memory) -> str:
    """A name for exactly these two memories, by ids, texts and states.

    Args:
        new: A new memory.
        old: An older memory.

    """
    return derived(
        "pair", *(f"{memory.id} {memory.status.value} {memory.content}" for memory in (new, old))
    )


def ruled_pairs(questions: Questions, rulings: Rulings) -> ConversationRulings:
    """The pairs that were asked about, each with its decision, to be frozen.

    Args:
        questions: Questions that were asked.
        rulings: Rulings of the agent.

    """
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
    """A note that replaces other notes.

    Attributes:
        source_ids: Ids of the replaced notes.
        text: The text.
        vector: Vector of the text.

    """

    source_ids: tuple[str, ...]
    text: str
    vector: Vector | None = None


@dataclass(frozen=True, slots=True)
class Ruled:
    """The agents' decisions about exactly the memories of `shown_key`."""

    shown_key: str | None
    rulings: Rulings
    merged: MergedNote | None = None
