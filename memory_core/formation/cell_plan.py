"""One forming commit, decided: what becomes of a cell, its note and its facts beside what is held, in one step.

Pure: the same cell over the same look with the same rulings gives the same changes. Rules decide what is certain (a slot with another
value, by event time); an agent's rulings decide the rest, as far as code can agree; all kinds of decision in one cell are all done.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Memory, MemoryType, Status
from memory_core.domain.scope import Owner
from memory_core.evolution.execute import Execution, LookedElsewhere, Ruled
from memory_core.evolution.links import MAX_FOR_SYNTHESIS, Linked, LinkRules, find_links
from memory_core.evolution.page import Page
from memory_core.evolution.shown import Rulings, Shown
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Look


@dataclass(frozen=True, slots=True)
class ReadyCell:
    """A cell's memories with their vectors; `compared` are those that were searched neighbours for, in the order of the look's."""

    cell: Memory
    note: Memory | None
    facts: tuple[Memory, ...]

    @property
    def compared(self) -> tuple[Memory, ...]:
        """The note and the facts."""
        return (*((self.note,) if self.note else ()), *self.facts)

    def fewer(self) -> ReadyCell:
        """Without the last fact, which stays in the cell's own list."""
        return replace(self, facts=self.facts[:-1])


@dataclass(frozen=True, slots=True)
class CellOutcome:
    """What the commit did: ids of the cell's memories, the cell first, and what happened to others, counted."""

    memory_ids: tuple[str, ...]
    counts: Mapping[str, int] = field(default_factory=dict)


def links_of(ready: ReadyCell, look: Look, rules: LinkRules, now: datetime) -> list[tuple[Memory, list[Linked]]]:
    """The links of the note and of each fact to what is held."""
    nears = [*look.near, *[()] * (len(ready.compared) - len(look.near))]
    return [(new, find_links(new, near, rules, now)) for new, near in zip(ready.compared, nears, strict=True)]


def merge_wanted(ready: ReadyCell, linked: Sequence[tuple[Memory, Sequence[Linked]]], rulings: Rulings) -> tuple[Memory, ...]:
    """The notes that are to be merged into this cell's, the strongest link first."""
    note = ready.note
    if note is None or not linked or linked[0][0].id != note.id:
        return ()
    notes = [one.memory for one in linked[0][1] if one.memory.category == "note"][:MAX_FOR_SYNTHESIS]
    ruled = [(old, rulings.on(note, old)) for old in notes if old.status is Status.ACTIVE]
    return tuple(old for old, decision in ruled if decision is not None and decision.operation == "UPDATE")


def plan_cell(
    owner: Owner, ready: ReadyCell, look: Look, asked: Collection[str], ruled: Ruled, rules: LinkRules, now: datetime
) -> Changes[CellOutcome]:
    """The changes of one forming commit. Raises LookedElsewhere when it has to be prepared again on a newer look.

    asked: the ids of the look's documents, those that are not there included. Facts that would pass the limits of a commit stay in the
    cell's own list only.
    """
    page = Page(owner, look, now, weighs=True)
    held = look.memory(ready.cell.id)
    if held is not None and held.status is not Status.DELETED:
        return _told_again(page, ready, held)
    linked = links_of(ready, look, rules, now)
    shown = Shown.of(linked)
    if ruled.shown_key != (shown.key if shown.held else None):
        raise LookedElsewhere
    execution = Execution(page, ready.cell.id, {new.id: links for new, links in linked}, ruled, rules)
    nears = dict(zip((one.id for one in ready.compared), look.near, strict=False))
    for fact in sorted(ready.facts, key=lambda one: one.event_timestamp):
        execution.place_fact(fact, nears.get(fact.id, ()))
    if ready.note is not None:
        execution.place_note(ready.note)
    execution.place_cell(ready.cell, held)
    execution.mark_fallen(asked)
    if page.full and ready.facts:
        shorter = replace(look, near=look.near[:-1])
        return plan_cell(owner, ready.fewer(), shorter, asked, _on(ruled, ready.fewer(), shorter, rules, now), rules, now)
    return _changes(page, CellOutcome((ready.cell.id, *dict.fromkeys(execution.made)), execution.counts))


def _on(ruled: Ruled, ready: ReadyCell, look: Look, rules: LinkRules, now: datetime) -> Ruled:
    """The same rulings for a cell with fewer facts: what was said about the others still holds."""
    shown = Shown.of(links_of(ready, look, rules, now))
    return replace(ruled, shown_key=shown.key if shown.held else None)


def _changes(page: Page, outcome: CellOutcome) -> Changes[CellOutcome]:
    return Changes(
        outcome,
        tuple(page.changes),
        (*page.puts.values(), *(session.document for session in page.sessions.values())),
        reads=frozenset(page.states),
        sessions=frozenset(page.sessions),
        types=frozenset({MemoryType.SEMANTIC.value}),
        head_fields=lambda head: {"pending_count": head.pending_count + page.pending},
    )


def _told_again(page: Page, ready: ReadyCell, held: Memory) -> Changes[CellOutcome]:
    """The very same words, told before: what they made and still stands is reinforced, nothing is made twice."""
    made = [held, *(found for one in ready.compared if (found := page.look.memory(one.id)) is not None)]
    standing = [one for one in made if one.status in FOUND_BY_DEFAULT]
    for one in standing:
        page.reinforce(one)
    return _changes(page, CellOutcome(tuple(one.id for one in standing), {"reinforced": len(standing)}))
