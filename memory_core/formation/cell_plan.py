"""Plan the commit that forms a cell: its episode, note and facts.

The plan is pure: the same cell over the same read set with the same decisions gives the same
changes. Rules decide the certain cases (a slot with another value, by event time). Decisions of
agents apply to the rest, as far as code can agree. All kinds of decisions in a cell are applied
together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import orjson

from memory_core.domain.memory import Memory, MemoryType, Status
from memory_core.domain.scope import Owner
from memory_core.domain.statements.attributes import family_of, is_of_pets
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from memory_core.domain.truth.slots import (
    RETRACTS_ANYTHING,
    are_of_one_slot,
    is_retraction,
    slot_of,
)
from memory_core.evolution.agent_rulings import ConflictPrompt, Ruled, Rulings
from memory_core.evolution.apply_rulings import Execution
from memory_core.evolution.changeset import ChangeSet
from memory_core.evolution.links import Linked, LinkRules, find_compared, find_links
from memory_core.evolution.opinions import changed_by
from memory_core.formation.cells import MAX_FACTS
from memory_core.formation.message_memories import cell_marks
from memory_core.ledger.changes import Changes
from memory_core.ledger.ids import note_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Neighbour

BESIDE = 4
"""Documents that a forming commit writes besides at most: the conversation, its task, a delivery
and the delivery's task.
"""
MOST_MARKED = 40
"""Messages that the forming commit marks as the cell's; the messages of a longer cell are marked
before it.
"""

MOST_MESSAGES = 200
"""Messages that a cell names when it is sent again and again; later messages are independent."""


class CellOutdated(Exception):
    """What a cell was prepared on has changed; it has to be prepared again."""


@dataclass(frozen=True, slots=True)
class ReadyCell:
    """A cell's memories with their vectors.

    Attributes:
        cell: The episode.
        note: None if the cell has none.
        facts: Facts of the cell.
        told_at: When the conversation was accepted.
        without_proof: How many facts were dropped.
        is_kept: Whether the cell itself is kept.
        cleared: How many memories, with the cell, are not made because the session was cleared of
            them since.
        by_rule: As in `CellMemories`.

    """

    cell: Memory
    note: Memory | None
    facts: tuple[Memory, ...]
    told_at: datetime
    without_proof: int = 0
    is_kept: bool = True
    cleared: int = 0
    by_rule: bool = False

    @property
    def compared(self) -> tuple[Memory, ...]:
        """The note and the facts, whose neighbours were searched for in this order."""
        return (*((self.note,) if self.note else ()), *self.facts)

    @property
    def proofs(self) -> dict[str, str]:
        """By the ids of the facts, the words that prove them."""
        return {
            fact.fact_id: fact.quote
            for fact in self.cell.atomic_facts
            if fact.fact_id is not None and fact.quote is not None
        }

    def without(self, dropped: Collection[str]) -> ReadyCell:
        """Without the facts of these ids, which stay in the cell's own list."""
        return replace(self, facts=tuple(fact for fact in self.facts if fact.id not in dropped))

    def beside(self, cleared: Collection[MemoryType]) -> ReadyCell:
        """The memories that are left if the session was cleared of these types since."""
        semantic = MemoryType.SEMANTIC in cleared
        is_kept = self.cell.type not in cleared
        left = replace(self, note=None, facts=()) if semantic else self
        return replace(left, is_kept=is_kept, cleared=len(self.compared) * semantic + (not is_kept))


@dataclass(frozen=True, slots=True)
class CellOutcome:
    """The result of a forming commit.

    Attributes:
        memory_ids: Ids of the cell's memories, the cell first.
        counts: Counts of effects on other memories, by name.

    """

    memory_ids: tuple[str, ...]
    counts: Mapping[str, int] = field(default_factory=dict)


def compared_of(
    ready: ReadyCell, read_set: ReadSet, rules: LinkRules, now: datetime
) -> list[tuple[Memory, list[Linked]]]:
    """The note and each fact, with the existing memories that an agent compares it with.

    Args:
        ready: The cell.
        read_set: A read set with the neighbours.
        rules: Thresholds and boosts.
        now: The present time.

    """
    return [
        (new, find_compared(new, read_set.near.get(new.id, ()), rules, now))
        for new in ready.compared
    ]


def merge_wanted(
    ready: ReadyCell, linked: Sequence[tuple[Memory, Sequence[Linked]]], rulings: Rulings
) -> tuple[Memory, ...]:
    """The notes that are to be merged into the cell's note, the strongest link first.

    Args:
        ready: The cell.
        linked: As `compared_of` returned them.
        rulings: Rulings of the conflict agent.

    """
    note = ready.note
    if note is None or not linked or linked[0][0].id != note.id:
        return ()
    return tuple(
        link.memory
        for link in linked[0][1]
        if link.memory.status is Status.ACTIVE
        and (decision := rulings.on(note, link.memory)) is not None
        and decision.operation == "UPDATE"
    )


def plan_cell(
    owner: Owner, ready: ReadyCell, read_set: ReadSet, ruled: Ruled, rules: LinkRules
) -> Changes[CellOutcome]:
    """The changes of a forming commit.

    Facts that exceed the limits of a commit stay in the cell's own list only: first facts that only
    repeat, last facts that change a truth.

    Args:
        owner: Whose memories they are.
        ready: The cell.
        read_set: The read set, with the neighbours and what `slot_reads` names.
        ruled: Decisions of the agents.
        rules: Thresholds and boosts.

    Raises:
        CellOutdated: The cell has been formed meanwhile, or the agents saw other memories.

    """
    messages = ready.cell.source_ids[:MOST_MARKED] if ready.is_kept else []
    marks = cell_marks(read_set, messages, ready.cell.id, {*read_set.unread(messages)})
    page = _empty_change_set(owner, ready, read_set, len(marks))
    existing = read_set.memory(ready.cell.id)
    if is_formed_already(existing, ready.told_at):
        raise CellOutdated
    compared = compared_of(ready, read_set, rules, read_set.now)
    prompt = ConflictPrompt.of(compared)
    if ruled.shown_key != (prompt.key if prompt.older else None):
        raise CellOutdated
    links = {
        new.id: find_links(new, read_set.near.get(new.id, ()), rules, read_set.now)
        for new in ready.compared
    }
    execution = Execution(
        page, ready.cell.id, links, {new.id: older for new, older in compared}, ruled, rules
    )
    idle = _idle_retractions(ready, page)
    idle |= _idle_changes(ready.without(idle), read_set.near)
    for fact in _in_asserted_order(ready.facts):
        if fact.id not in idle:
            execution.place_fact(fact, read_set.near.get(fact.id, ()))
    if ready.note is not None:
        execution.place_note(ready.note, ready.facts)
    if ready.is_kept:
        execution.place_cell(ready.cell, existing)
    if page.full and ready.facts:
        dropped = execution.least_telling(ready.facts)[: page.surplus(len(ready.facts))]
        fewer = ready.without(dropped)
        return plan_cell(owner, fewer, read_set, _rulings_for(ruled, fewer, read_set, rules), rules)
    counts = {
        **execution.counts,
        "without_proof": ready.without_proof,
        "invented": ruled.rulings.invented,
        "cleared": ready.cleared,
        "by_rule": int(ready.by_rule),
    }
    memory_ids = (*([ready.cell.id] if ready.is_kept else []), *dict.fromkeys(execution.made))
    return replace(
        _changes(
            page, CellOutcome(memory_ids, {name: count for name, count in counts.items() if count})
        ),
        marks=marks,
    )


def _in_asserted_order(facts: Sequence[Memory]) -> list[Memory]:
    """Facts as they were said, retractions first of those of one moment."""
    return sorted(
        facts, key=lambda fact: (fact.event_timestamp, not is_retraction(fact), fact.valid_from)
    )


def _idle_retractions(ready: ReadyCell, page: ChangeSet) -> frozenset[str]:
    """Retractions without a named value, by a single sentence, of slots without known values.

    If no slot is known at all, a single retraction is kept. For example, quitting a job ends an
    employment and a trade. If only a single slot of these was ever asserted, that is a single
    truth, and a single fact. Endings of pets, of having none, of diets, of one of many
    (`family_of`) and of names of other people are only implied ("Bo died", "it isn't coeliac",
    "Tom and I broke up"), so none is kept where no such thing is known.
    """
    proofs = {
        atomic_fact.fact_id: (atomic_fact.message, atomic_fact.quote)
        for atomic_fact in ready.cell.atomic_facts
    }
    groups: dict[tuple[int | None, str | None], list[Memory]] = {}
    for fact in ready.facts:
        if fact.value == RETRACTS_ANYTHING and fact.id in proofs:
            groups.setdefault(proofs[fact.id], []).append(fact)
    stating = {
        proofs.get(fact.id)
        for fact in ready.facts
        if slot_of(fact) is not None and not is_retraction(fact)
    }
    idle = {
        fact.id
        for fact in ready.facts
        if is_retraction(fact) and _may_be_implied(fact, beside=proofs.get(fact.id) in stating)
        if not _is_known(fact, ready, page)
    }
    for endings in groups.values():
        lone = [ending for ending in endings if not _is_known(ending, ready, page)]
        idle |= {ending.id for ending in (lone if len(lone) < len(endings) else lone[1:])}
    return frozenset(idle)


def _may_be_implied(ending: Memory, *, beside: bool) -> bool:
    """Whether an ending is only one of the things that its words may end.

    beside: Whether its words fill another slot: "I eat cheese again".
    """
    attribute = ending.attribute or ""
    if is_of_pets(attribute) or attribute == "allergy" or _is_name_of_another(ending):
        return True
    if attribute == "diet":
        return beside
    return ending.value == RETRACTS_ANYTHING and family_of(attribute) is not None


def _is_name_of_another(memory: Memory) -> bool:
    """Whether a memory's slot is the name of a person of the user's."""
    return memory.attribute == "name" and (memory.subject or "").casefold() not in ("", "user")


def _idle_changes(ready: ReadyCell, nears: Mapping[str, Sequence[Neighbour]]) -> frozenset[str]:
    """Facts that were kept only for a possible change, but change no memory.

    For example, "sold the Golf" where no Golf is known. Facts are also left out if a fact of the
    same sentence fills a slot, because the slot's log decides better.
    """
    proofs = {
        atomic_fact.fact_id: (atomic_fact.message, atomic_fact.quote)
        for atomic_fact in ready.cell.atomic_facts
    }
    passing = {
        atomic_fact.fact_id for atomic_fact in ready.cell.atomic_facts if not atomic_fact.lasting
    }
    slotted = {proofs.get(fact.id) for fact in ready.facts if slot_of(fact) is not None}
    alone = [fact for fact in ready.facts if fact.id in passing and slot_of(fact) is None]
    return frozenset(
        fact.id
        for fact in alone
        if proofs[fact.id] in slotted
        or not any(_is_changed(near.memory, fact) for near in nears.get(fact.id, ()))
    )


def _is_changed(old: Memory, new: Memory) -> bool:
    return old.id != new.id and old.status in FOUND_BY_DEFAULT and changed_by(old, new) is not None


def _is_known(fact: Memory, ready: ReadyCell, page: ChangeSet) -> bool:
    if any(other.id != fact.id and are_of_one_slot(other, fact) for other in ready.facts):
        return True
    slot = page.slot(fact)
    return slot is not None and any(row.status is not Status.DELETED for row in slot.rows.values())


def is_formed_already(existing: Memory | None, told_at: datetime) -> bool:
    """Whether a conversation brings no new content with a cell that exists already.

    A cell that was deleted after the conversation was accepted stays deleted. Only conversations
    after the deletion form it again.

    Args:
        existing: The stored cell; None if there is none.
        told_at: When the conversation was accepted.

    """
    return existing is not None and (
        existing.status is not Status.DELETED or existing.updated_at >= told_at
    )


def _empty_change_set(owner: Owner, ready: ReadyCell, read_set: ReadSet, marks: int) -> ChangeSet:
    """An empty change set that reserves room for the conversation, task and delivery.

    All three name the memories that the conversation became so far.
    """
    conversation = read_set.documents.get(ready.cell.conversation_id or "")
    weight = 0 if conversation is None else 3 * len(orjson.dumps(conversation.body))
    return ChangeSet(
        owner, read_set, read_set.now, weighs=True, beside=BESIDE + marks, weight=weight
    )


def _rulings_for(ruled: Ruled, ready: ReadyCell, read_set: ReadSet, rules: LinkRules) -> Ruled:
    """The same decisions for a cell with fewer facts; they still apply to the rest."""
    prompt = ConflictPrompt.of(compared_of(ready, read_set, rules, read_set.now))
    return replace(ruled, shown_key=prompt.key if prompt.older else None)


def _changes(page: ChangeSet, outcome: CellOutcome) -> Changes[CellOutcome]:
    return Changes(
        outcome,
        **page.written(),
        reads=frozenset(page.states),
        types=frozenset({MemoryType.SEMANTIC.value}),
    )


LEFT_OUT: Changes[CellOutcome] = Changes(CellOutcome((), {"cleared": 1}))
"""A cell of a session that was cleared of all its memories: no memory is made, and no agent is
asked.
"""

NO_CONTENT: Changes[CellOutcome] = Changes(CellOutcome(()))
"""A cell in which people only asked to forget something: no memory is made of it."""


def reinforce_cell(
    owner: Owner, cell: Memory, message_ids: Collection[str], read_set: ReadSet, now: datetime
) -> Changes[CellOutcome]:
    """Reinforce the active memories of a cell whose words are sent again.

    No memory is made twice.

    Args:
        owner: Whose memories they are.
        cell: The stored cell.
        message_ids: Ids of the messages that repeat it, which belong to the cell, too.
        read_set: A read set with the memories of `ids_made_of`.
        now: The present time.

    """
    is_active = cell.status in FOUND_BY_DEFAULT
    sources = list(dict.fromkeys([*cell.source_ids, *message_ids]))[
        : max(len(cell.source_ids), MOST_MESSAGES)
    ]
    marks = (
        cell_marks(read_set, [name for name in message_ids if name in sources], cell.id)
        if is_active
        else {}
    )
    page = ChangeSet(owner, read_set, now, weighs=True, beside=BESIDE + len(marks))
    standing = [
        memory
        for name in ids_made_of(cell)
        if (memory := read_set.memory(name)) is not None and memory.status in FOUND_BY_DEFAULT
    ]
    for memory in standing:
        if memory.id == cell.id:
            page.reinforce(memory, source_ids=sources)
        else:
            page.reinforce(memory)
    outcome = CellOutcome(
        tuple(memory.id for memory in standing), {"reinforced": len(standing)} if standing else {}
    )
    return replace(_changes(page, outcome), marks=marks)


def ids_made_of(cell: Memory) -> tuple[str, ...]:
    """The ids of a cell, its note and the memories that hold its facts.

    There are at most as many as a cell makes.
    """
    facts = [fact.fact_id for fact in cell.atomic_facts if fact.fact_id is not None]
    return tuple(dict.fromkeys((cell.id, note_id(cell.id), *facts)))[: MAX_FACTS + 2]
