"""Apply all decisions about a cell's memories in a single commit.

The decisions are UPDATE, DELETE and SKIP. Rules come before agents: in a slot with another value
event time decides, unless an agent denies it. If an agent and the rules say opposite things about
two facts, both stay active, and the conflict is pending with both reasons. A merged source becomes
`updated`, a contradicted note `deleted`, a contradicted fact `superseded`, and each names its
successor. The cells that stated a superseded fact are changed to name its successor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memory_core.domain.agent_schemas import Decision
from memory_core.domain.conflict import MAX_OPEN, RULE, ConflictRecord
from memory_core.domain.memory import Memory, MemoryFields, OnConflict, Outcome, Status
from memory_core.domain.note import FIRST_AT
from memory_core.domain.ranking.index_terms import with_lexical
from memory_core.domain.text.fuzzy_dedup import fuzzy_dedup
from memory_core.domain.transitions import FOUND_BY_DEFAULT, touch
from memory_core.domain.truth.slots import are_of_one_slot
from memory_core.evolution.agent_rulings import MergedNote, Ruled
from memory_core.evolution.changeset import ChangeSet
from memory_core.evolution.judgements import (
    Judgement,
    Verdict,
    contradict,
    is_told_late,
    judged,
    naming_what_holds,
)
from memory_core.evolution.links import Linked, LinkRules, fallen_in, marks_of, successor_of
from memory_core.evolution.opinions import opinion
from memory_core.evolution.succession import moves_of, succeeded
from memory_core.ledger.changes import Change
from memory_core.ledger.ids import derived
from memory_core.ports import Neighbour

MAX_QUERIES = 12
MAX_SOURCES = 40
"""The latest cells in which a fact was stated that the fact remembers."""
MAX_NOTE_SOURCES = 200
"""Cells, and notes merged into it, that a note remembers."""


@dataclass(slots=True)
class Execution:
    """Applies decisions of agents and rules to the change set of a commit.

    New facts and notes are placed; older memories are superseded, joined or merged.

    Attributes:
        page: The change set.
        cell_id: Id of the cell that is formed.
        links: Links of each new memory, by id.
        compared: What agents compared each new memory with, by id.
        ruled: Decisions of the agents.
        rules: Thresholds.
        made: Ids of the memories that now hold the cell's statements.
        stands_for: By the id of a new memory, the older memory that says the same.
        counts: Counts of outcomes, by name.
        replacing: Ids of facts that supersede other memories.
        asked: Ids of memories that a person is asked about, with the time of the message whose fact
            is in conflict with them. Another fact of this message asks nothing more.

    """

    page: ChangeSet
    cell_id: str
    links: Mapping[str, Sequence[Linked]]
    compared: Mapping[str, Sequence[Linked]]
    ruled: Ruled
    rules: LinkRules
    made: list[str] = field(default_factory=list)
    stands_for: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    replacing: set[str] = field(default_factory=set)
    asked: set[tuple[str, datetime]] = field(default_factory=set)

    def place_fact(self, fact: Memory, near: Sequence[Neighbour]) -> None:
        """Create a fact, reinforce an equal memory, or replace a contradicted memory.

        Event time decides which of two contradicting facts is true.

        Args:
            fact: Fact of the cell.
            near: Its neighbours.

        """
        known = self.page.memory(fact.id)
        if known is not None and known.status is not Status.DELETED:
            self._stands_for(fact, known)
            return
        compared = self.compared.get(fact.id, ())
        fact = fact.changed(links=[link.link for link in self.links.get(fact.id, ())])
        fact = naming_what_holds(self.page, fact)
        judgement = judged(self.page, fact, near, self.rules.duplicate_threshold)
        old_id = judgement.old_id or ""
        is_asked = (old_id, fact.event_timestamp) in self.asked
        if not judgement.certain and (is_asked or self.ruled.rulings.passes_over(fact, old_id)):
            judgement = Judgement(Verdict.NEW)
        ruled = [
            (old, decision)
            for link in compared
            if (old := self._standing(link)) and (decision := self.ruled.rulings.on(fact, old))
        ]
        met = judgement.old_id if judgement.verdict is Verdict.CONTRADICTS else None
        said_by = next(
            (old for old, decision in ruled if decision.operation == "SKIP" and old.id != met), None
        )
        doubts = {
            old.id: why
            for link in compared
            if (old := self._standing(link))
            and old.id != met
            and (why := self.ruled.rulings.doubt(fact, old)) is not None
        }
        contradicted = [
            (old, decision)
            for old, decision in ruled
            if decision.operation == "DELETE" and old.id not in doubts
        ]
        if judgement.verdict is Verdict.SAME and judgement.old is not None:
            self._stands_for(fact, judgement.old, judgement.version)
        elif met is not None and (
            judgement.certain or not (said_by or any(old.id == met for old, _ in contradicted))
        ):
            self._contradict(fact, known, judgement)
        elif said_by is not None:
            self._stands_for(fact, said_by)
        else:
            self._create(_succeeding(fact, contradicted), known)
        for old, decision in contradicted:
            self._settle(self.stands_for.get(fact.id, fact.id), old.id, decision)
        for name, why in doubts.items():
            self._leave_pending(fact, name, "keep_both", why, by=self.ruled.rulings.model)

    def _standing(self, link: Linked) -> Memory | None:
        """The older memory of a link, as this commit leaves it.

        None if it is not active.
        """
        old = self.page.memory(link.memory.id) or link.memory
        return old if old.status in FOUND_BY_DEFAULT else None

    def _stand(self, names: Sequence[str]) -> bool:
        """Whether all these memories are still active.

        A note that was put into a slot may be superseded by a fact of this very cell.
        """
        return all(
            (memory := self.page.memory(name)) is not None and memory.status in FOUND_BY_DEFAULT
            for name in names
        )

    def _contradict(self, fact: Memory, known: Memory | None, judgement: Judgement) -> None:
        """Decide by rule: certain contradictions are settled.

        Otherwise both memories coexist until a person decides.
        """
        rulings = self.ruled.rulings

        def denied(old: Memory) -> str | None:
            decision = rulings.denial(fact, old)
            return None if decision is None else opinion(rulings.model, decision)

        resolution = contradict(
            self.page, fact, judgement, OnConflict.AUTO, rulings.model, known, denied
        )
        self.made.append(fact.id)
        if resolution.outcome is Outcome.SUPERSEDED:
            self.replacing.add(fact.id)
        if resolution.conflict.open:
            self.asked.add((judgement.old_id or "", fact.event_timestamp))
        self._count("pending" if resolution.conflict.open else resolution.outcome.value)

    def _settle(self, new_id: str, old_id: str, decision: Decision) -> None:
        """Supersede the earlier of two memories that exclude each other by an agent's decision.

        A pinned memory stays until a person decides.
        """
        new, old = self.page.memory(new_id), self.page.memory(old_id)
        if new is None or old is None or new.id == old.id or old.status not in FOUND_BY_DEFAULT:
            return
        falls, stays = (new, old) if old.event_timestamp > new.event_timestamp else (old, new)
        # what holds in a slot is for its log to say
        if falls.status not in FOUND_BY_DEFAULT or are_of_one_slot(stays, falls):
            return
        if falls.pinned:
            self._leave_pending(
                new,
                old.id,
                "auto",
                f"the held one is pinned; {decision.reasoning or 'contradicted'}",
            )
            return
        record = self._record(
            old, new, decision.confidence_score, "supersede", decision.reasoning or "contradicted"
        )
        status = Status.DELETED if falls.category == "note" else Status.SUPERSEDED
        fallen = self._retire(falls, stays, status, record.id)
        self.page.record(record.changed(moves=moves_of([fallen])))

    def least_telling(self, facts: Sequence[Memory]) -> list[str]:
        """The ids of placed facts, ordered so that the most dispensable facts come first."""
        kept_last = self.replacing | {fact.next_id for fact in fallen_in(self.page.changes)}
        return sorted(
            (fact.id for fact in reversed(facts)),
            key=lambda name: (name in kept_last) - (name in self.stands_for),
        )

    def place_note(self, note: Memory, facts: Sequence[Memory]) -> None:
        """Create a note, join it to an equal note, merge it, or replace contradicted notes.

        The note lists the superseded facts of its cell, which are placed before.

        Args:
            note: Note of the cell.
            facts: Facts of the cell.

        """
        placed = [
            placed_memory
            for fact in facts
            if (placed_memory := self.page.memory(self.stands_for.get(fact.id, fact.id)))
        ]
        note = note.changed(atomic_facts=marks_of(placed))
        known = self.page.memory(note.id)
        if known is not None and known.status is not Status.DELETED:
            self._stands_for(note, known)
            return
        notes = self.compared.get(note.id, ())
        ruled = [(link, self.ruled.rulings.on(note, link.memory)) for link in notes]
        skipped = [
            link
            for link, decision in ruled
            if decision is not None and decision.operation == "SKIP"
        ]
        if notes and len(skipped) == len(notes):
            self._join(note, [link.memory for link in skipped])
            return
        merged = self.ruled.merged
        note = note.changed(links=[link.link for link in self.links.get(note.id, ())])
        alone, retired = note, list[Change]()
        if merged is not None and self._stand(merged.source_ids):
            note, retired = self._merge(note, merged)
        contradicted = [
            (link.memory, decision)
            for link, decision in ruled
            if decision is not None and decision.operation == "DELETE"
        ]
        created = self._create(_succeeding(note, contradicted), known)
        if retired:
            self._record_merge(alone, created, retired)
        for old, decision in contradicted:
            self._settle(note.id, old.id, decision)
        for link in skipped:
            self._touch(link.memory)

    def _record_merge(self, alone: Memory, created: Change, retired: Sequence[Change]) -> None:
        """Record a merge: a single record, named by the first of the merged notes.

        `alone` is the note without them.
        """
        first = retired[0].after
        decision = self.ruled.rulings.by_pair.get((alone.id, first.id))
        confidence, reason = (
            (decision.confidence_score, decision.reasoning) if decision else (1.0, "")
        )
        record = self._record(first, alone, confidence, "merge", reason or "the new one adds to it")
        self.page.record(record.changed(moves=moves_of([created, *retired], alone)))

    def _merge(self, note: Memory, merged: MergedNote) -> tuple[Memory, list[Change]]:
        sources = [
            source
            for source_id in merged.source_ids
            if (source := self.page.memory(source_id)) is not None
        ]
        tags, keywords = (
            fuzzy_dedup([term for memory in (note, *sources) for term in getattr(memory, name)])
            for name in ("tags", "keywords")
        )
        queries = list(
            dict.fromkeys(query for memory in (note, *sources) for query in memory.semantic_queries)
        )[:MAX_QUERIES]
        fields: MemoryFields = {
            "content": merged.text,
            "tags": tags,
            "keywords": keywords,
            "semantic_queries": queries,
            "source_ids": list(
                dict.fromkeys([*note.source_ids, *(source.id for source in sources)])
            ),
            "atomic_facts": list(
                {
                    fact.fact_id: fact
                    for memory in (*sources, note)
                    for fact in memory.atomic_facts
                }.values()
            ),
            "event_timestamp": max(memory.event_timestamp for memory in (note, *sources)),
            "metadata": note.metadata
            | {FIRST_AT: min(_first_at(memory) for memory in (note, *sources))},
            "supersedes_id": sources[0].id,
            "status_reason": "consolidated",
            "embedding": merged.vector,
        }
        record_id = _record_id(sources[0], note)
        retired = [self._retire(source, note, Status.UPDATED, record_id) for source in sources]
        return with_lexical(note.changed(**fields)), retired

    def _join(self, note: Memory, skipped_notes: Sequence[Memory]) -> None:
        """Add the cell to the sources of the note that says the same.

        The other skipped notes are touched.
        """
        best = self.page.memory(skipped_notes[0].id) or skipped_notes[0]
        joined = best.changed(
            source_ids=self._with_this_cell(best, MAX_NOTE_SOURCES), updated_at=self.page.now
        )
        self.page.apply([Change("joined", joined, best)])
        for skipped in skipped_notes[1:]:
            self._touch(skipped)
        self.made.append(best.id)
        self._count("joined")

    def _retire(self, old: Memory, new: Memory, status: Status, record_id: str) -> Change:
        current = self.page.memory(old.id) or old
        leaves = status is not Status.UPDATED or not are_of_one_slot(current, new)
        change = succeeded(current, new, status, record_id, self.page.now, leaves_slot=leaves)
        self.page.apply([change])
        self._count(status.value)
        return change

    def _touch(self, old: Memory) -> None:
        current = self.page.memory(old.id) or old
        self.page.apply([Change("touched", touch(current, self.page.now), current)])
        self._count("skipped")

    def _leave_pending(
        self, new: Memory, old_id: str, strategy: str, reason: str, by: str = RULE
    ) -> None:
        old, current = self.page.memory(old_id), self.page.memory(new.id)
        if (
            old is None
            or current is None
            or not {old.status, current.status} <= FOUND_BY_DEFAULT
            or len(old.conflict_ids) >= MAX_OPEN
        ):
            return
        record = self._record(old, new, 0.5, strategy, reason, pending=True).changed(by=by)
        if is_told_late(new, old):
            record = record.changed(old_id=new.id, new_id=old.id)
        self.page.leave_pending(record, (old, current))
        self._count("pending")

    def _record(
        self,
        old: Memory,
        new: Memory,
        confidence: float,
        strategy: str,
        reason: str,
        *,
        pending: bool = False,
    ) -> ConflictRecord:
        return ConflictRecord(
            id=_record_id(old, new),
            status="pending" if pending else "resolved",
            similarity=next(
                (
                    link.link.similarity_score
                    for link in self.compared.get(new.id, ())
                    if link.memory.id == old.id
                ),
                None,
            ),
            confidence=confidence,
            strategy=strategy,
            reason=reason[:500],
            old_id=old.id,
            new_id=new.id,
            by=RULE if pending else self.ruled.rulings.model,
            at=self.page.now,
        )

    def _create(self, memory: Memory, before: Memory | None) -> Change:
        change = Change("created", memory, before)
        self.page.apply([change])
        self.made.append(memory.id)
        self._count("created")
        return change

    def _stands_for(self, new: Memory, old: Memory, version: int | None = None) -> None:
        """Reinforce the older memory that says the same, even if it is a past truth."""
        current = self.page.memory(old.id) or old
        if current.status in FOUND_BY_DEFAULT or current.status is Status.SUPERSEDED:
            self.page.retell(
                current, new, version, source_ids=self._with_this_cell(current, MAX_SOURCES)
            )
            self._count("reinforced")
        self.stands_for[new.id] = old.id
        self.made.append(old.id)

    def _with_this_cell(self, memory: Memory, most: int) -> list[str]:
        return list(dict.fromkeys([*memory.source_ids, self.cell_id]))[-most:]

    def place_cell(self, cell: Memory, before: Memory | None) -> None:
        """Add the episode itself, which is always kept.

        Its facts name the memories that hold them, and the memories that replaced these.

        Args:
            cell: The episode.
            before: The stored episode; None for a new episode.

        """
        made = frozenset(self.made)
        facts = []
        for fact in cell.atomic_facts:
            fact_id = self.stands_for.get(fact.fact_id or "", fact.fact_id)
            fact_id = fact_id if fact_id in made else None
            memory = None if fact_id is None else self.page.memory(fact_id)
            fallen = memory is not None and memory.status is Status.SUPERSEDED
            facts.append(fact.held_by(fact_id, successor_of(memory) if memory and fallen else None))
        self.page.apply([Change("created", cell.changed(atomic_facts=facts), before)])
        self._count("created")

    def _count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1


def _succeeding(new: Memory, contradicted: Sequence[tuple[Memory, Decision]]) -> Memory:
    """The new memory, as successor of the latest earlier memory that it contradicts."""
    earlier = [
        old
        for old, _ in contradicted
        if old.event_timestamp <= new.event_timestamp and not old.pinned
    ]
    if new.supersedes_id is not None or not earlier:
        return new
    return new.changed(supersedes_id=max(earlier, key=lambda old: old.event_timestamp).id)


def _record_id(old: Memory, new: Memory) -> str:
    return derived("cft", old.id, new.id)


def _first_at(note: Memory) -> str:
    """The moment of a note's earliest source, in ISO 8601."""
    first: str = note.metadata.get(FIRST_AT, note.event_timestamp.isoformat())
    return first
