"""One forming commit, decided: what becomes of a cell, its note and its facts beside what is held,
in one step.

Pure: the same cell over the same look with the same rulings gives the same changes. Rules decide
what is certain (a slot with another value, by event time); an agent's rulings decide the rest, as
far as code can agree; all kinds of decision in one cell are all done.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import orjson

from memory_core.domain.memory import FOUND_BY_DEFAULT, Memory, MemoryType, Status
from memory_core.domain.scope import Owner
from memory_core.domain.truth.slots import (
    RETRACTS_ANYTHING,
    are_of_one_slot,
    is_retraction,
    slot_of,
)
from memory_core.evolution.agent_rulings import ConflictPrompt, Ruled, Rulings
from memory_core.evolution.apply_rulings import Execution
from memory_core.evolution.changeset import ChangeSet
from memory_core.evolution.links import MAX_FOR_SYNTHESIS, Linked, LinkRules, find_links
from memory_core.evolution.opinions import changed_by
from memory_core.evolution.reads import LookedElsewhere
from memory_core.formation.cells import MAX_FACTS
from memory_core.formation.message_memories import cell_marks
from memory_core.ledger.batch import Changes
from memory_core.ledger.commit import ReadSet
from memory_core.ledger.ids import note_id
from memory_core.ports import Neighbour

BESIDE = 4
"""Documents that a forming commit writes besides at most: the conversation, its task,
a delivery and the task of that.
"""
MOST_MARKED = 40
"""Messages that the forming commit marks as the cell's; those of a longer cell are
marked before it.
"""

MOST_MESSAGES = 200
"""Messages that a cell names which is told again and again; later ones stand for themselves."""


@dataclass(frozen=True, slots=True)
class ReadyCell:
    """A cell's memories with their vectors; `compared` are those that were searched neighbours for,
    in the order of the look's.

    told_at: when the conversation was accepted. without_proof: how many facts were dropped.
    is_kept: whether the cell itself is to be kept; cleared: how many memories, it included, are not
    made because the session was cleared of them since. by_rule: as `CellMemories` has it.
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
        """The note and the facts."""
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
        """What is left of it in a session that was cleared of these types after it was told."""
        semantic = MemoryType.SEMANTIC in cleared
        is_kept = self.cell.type not in cleared
        left = replace(self, note=None, facts=()) if semantic else self
        return replace(left, is_kept=is_kept, cleared=len(self.compared) * semantic + (not is_kept))


@dataclass(frozen=True, slots=True)
class CellOutcome:
    """What the commit did: ids of the cell's memories, the cell first, and what happened to
    others, counted.
    """

    memory_ids: tuple[str, ...]
    counts: Mapping[str, int] = field(default_factory=dict)


def links_of(
    ready: ReadyCell, look: ReadSet, rules: LinkRules, now: datetime
) -> list[tuple[Memory, list[Linked]]]:
    """The links of the note and of each fact to what is held."""
    nears = [*look.near, *[()] * (len(ready.compared) - len(look.near))]
    return [
        (new, find_links(new, near, rules, now))
        for new, near in zip(ready.compared, nears, strict=True)
    ]


def merge_wanted(
    ready: ReadyCell, linked: Sequence[tuple[Memory, Sequence[Linked]]], rulings: Rulings
) -> tuple[Memory, ...]:
    """The notes that are to be merged into this cell's, the strongest link first."""
    note = ready.note
    if note is None or not linked or linked[0][0].id != note.id:
        return ()
    notes = [link.memory for link in linked[0][1] if link.memory.category == "note"][
        :MAX_FOR_SYNTHESIS
    ]
    ruled = [(old, rulings.on(note, old)) for old in notes if old.status is Status.ACTIVE]
    return tuple(
        old for old, decision in ruled if decision is not None and decision.operation == "UPDATE"
    )


def plan_cell(
    owner: Owner,
    ready: ReadyCell,
    look: ReadSet,
    asked: Collection[str],
    ruled: Ruled,
    rules: LinkRules,
    now: datetime,
) -> Changes[CellOutcome]:
    """The changes of one forming commit. Raises LookedElsewhere when it has to be prepared again on
    a newer look.

    asked: the ids of the look's documents, those that are not there included. Facts that would pass
    the limits of a commit stay in the cell's own list only: first those that only tell again,
    last those that change a truth.
    """
    messages = ready.cell.source_ids[:MOST_MARKED] if ready.is_kept else []
    marks = cell_marks(look, messages, ready.cell.id, {*messages} - {*asked})
    page = _page(owner, ready, look, now, asked, len(marks))
    existing = look.memory(ready.cell.id)
    if told_before(existing, ready.told_at):
        raise LookedElsewhere
    linked = links_of(ready, look, rules, now)
    prompt = ConflictPrompt.of(linked)
    if ruled.shown_key != (prompt.key if prompt.older else None):
        raise LookedElsewhere
    execution = Execution(
        page, ready.cell.id, {new.id: links for new, links in linked}, ruled, rules
    )
    nears = dict(zip((memory.id for memory in ready.compared), look.near, strict=False))
    idle = _ending_nothing(ready, page) | _changing_nothing(ready, nears)
    for fact in _in_order(ready.facts):
        if fact.id not in idle:
            execution.place_fact(fact, nears.get(fact.id, ()))
    if ready.note is not None:
        execution.place_note(ready.note, ready.facts)
    if ready.is_kept:
        execution.place_cell(ready.cell, existing)
    page.check_sessions(asked)
    if page.full and ready.facts:
        dropped = execution.least_telling(ready.facts)[: page.surplus(len(ready.facts))]
        near = tuple(
            near
            for memory, near in zip(ready.compared, look.near, strict=False)
            if memory.id not in dropped
        )
        shorter, fewer = replace(look, near=near), ready.without(dropped)
        return plan_cell(
            owner, fewer, shorter, asked, _on(ruled, fewer, shorter, rules, now), rules, now
        )
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


def _in_order(facts: Sequence[Memory]) -> list[Memory]:
    """Facts as they were said, retractions first of those of one moment."""
    return sorted(
        facts, key=lambda fact: (fact.event_timestamp, not is_retraction(fact), fact.valid_from)
    )


def _ending_nothing(ready: ReadyCell, page: ChangeSet) -> frozenset[str]:
    """Of the endings that one sentence tells of several slots, naming nothing, those in whose slot
    nothing is known; all but one of them.

    Who quits a job ends an employment and a trade. Where only one of these was ever told,
    that is one truth, and one fact.
    """
    proofs = {
        atomic_fact.fact_id: (atomic_fact.message, atomic_fact.quote)
        for atomic_fact in ready.cell.atomic_facts
    }
    groups: dict[tuple[int | None, str | None], list[Memory]] = {}
    for fact in ready.facts:
        if fact.value == RETRACTS_ANYTHING and fact.id in proofs:
            groups.setdefault(proofs[fact.id], []).append(fact)
    idle: set[str] = set()
    for endings in groups.values():
        lone = [ending for ending in endings if not _is_known(ending, ready, page)]
        idle |= {ending.id for ending in (lone if len(lone) < len(endings) else lone[1:])}
    return frozenset(idle)


def _changing_nothing(ready: ReadyCell, nears: Mapping[str, Sequence[Neighbour]]) -> frozenset[str]:
    """Of what was kept only because it might change something that is held, that which does not:
    "sold the Golf" where no Golf is known.

    Nor what a fact of the very sentence says in a slot, whose log knows better.
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


def told_before(existing: Memory | None, told_at: datetime) -> bool:
    """Whether a conversation accepted at `told_at` brings nothing new with a cell of which this is
    what is held.

    A cell that was deleted after that moment stays deleted: only what is told after it was deleted
    is told again.
    """
    return existing is not None and (
        existing.status is not Status.DELETED or existing.updated_at >= told_at
    )


def _page(
    owner: Owner, ready: ReadyCell, look: ReadSet, now: datetime, asked: Collection[str], marks: int
) -> ChangeSet:
    """An empty page, on which the conversation, its task and the delivery of its end have their
    place: all name what it became so far.
    """
    conversation = look.documents.get(ready.cell.conversation_id or "")
    weight = 0 if conversation is None else 3 * len(orjson.dumps(conversation.body))
    return ChangeSet(
        owner, look, now, weighs=True, beside=BESIDE + marks, weight=weight, asked=asked
    )


def _on(ruled: Ruled, ready: ReadyCell, look: ReadSet, rules: LinkRules, now: datetime) -> Ruled:
    """The same rulings for a cell with fewer facts: what was said about the others still holds."""
    prompt = ConflictPrompt.of(links_of(ready, look, rules, now))
    return replace(ruled, shown_key=prompt.key if prompt.older else None)


def _changes(page: ChangeSet, outcome: CellOutcome) -> Changes[CellOutcome]:
    return Changes(
        outcome,
        **page.written(),
        reads=frozenset(page.states),
        types=frozenset({MemoryType.SEMANTIC.value}),
        slots=page.first_logs,
    )


LEFT_OUT: Changes[CellOutcome] = Changes(CellOutcome((), {"cleared": 1}))
"""A cell of a session that was cleared of all that it would be made into: nothing is made,
and no agent is asked.
"""

NOTHING_TOLD: Changes[CellOutcome] = Changes(CellOutcome(()))
"""A cell in which people only asked to forget something: nothing is made of it."""


def tell_again(
    owner: Owner, cell: Memory, message_ids: Collection[str], look: ReadSet, now: datetime
) -> Changes[CellOutcome]:
    """The same words, told before: what was made of them and is active is reinforced,
    nothing is made twice.

    message_ids: of the messages that tell it again, which belong to the cell too. The look has the
    memories that `made_of` names.
    """
    is_active = cell.status in FOUND_BY_DEFAULT
    sources = list(dict.fromkeys([*cell.source_ids, *message_ids]))[
        : max(len(cell.source_ids), MOST_MESSAGES)
    ]
    marks = (
        cell_marks(look, [name for name in message_ids if name in sources], cell.id)
        if is_active
        else {}
    )
    page = ChangeSet(owner, look, now, weighs=True, beside=BESIDE + len(marks))
    standing = [
        memory
        for name in made_of(cell)
        if (memory := look.memory(name)) is not None and memory.status in FOUND_BY_DEFAULT
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


def made_of(cell: Memory) -> tuple[str, ...]:
    """The ids of a cell, its note and the memories that hold its facts, at most as many as
    one cell makes.
    """
    facts = [fact.fact_id for fact in cell.atomic_facts if fact.fact_id is not None]
    return tuple(dict.fromkeys((cell.id, note_id(cell.id), *facts)))[: MAX_FACTS + 2]
