"""Look for contradictions within scenes: new facts against the scene's other facts.

Formation compares a new fact with facts near its vector or in its slot. In this step agents see
facts that have only their scene in common.

Note: agents do not judge facts in the same slot, whose event times decide. A decision that a person
undid is not made again: if there is a record about two facts, this step leaves them alone.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final

from memory_core.consolidation.step import Proposal, Run
from memory_core.domain.agent_schemas import Answered, Decisions
from memory_core.domain.conflict import MAX_OPEN, ConflictRecord
from memory_core.domain.errors import AgentFailed, Conflict
from memory_core.domain.memory import Memory, MemoryType
from memory_core.domain.scenes import scene_in
from memory_core.domain.scope import Owner
from memory_core.domain.statements.wishes import INSTRUCTION
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from memory_core.domain.truth.slots import slot_of
from memory_core.evolution.agent_rulings import ConflictPrompt, Rulings
from memory_core.evolution.changeset import ChangeSet
from memory_core.evolution.decisions import assertion_order, decide_by_time, reads_of
from memory_core.ledger.ids import derived
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Agents
from memory_core.tasks.agent_steps import Steps
from memory_core.tasks.operation_records import Chunk

MOST_NEW: Final = 20
"""The most new facts of a scene that are looked at, the latest."""
MOST_HELD: Final = 20
"""The most facts that they are compared with, the latest asserted in the scene."""
UNSURE: Final = 0.5
"""The confidence of a record about two facts that an agent is not sure of."""
MOST_SCENES: Final = 5
"""The most scenes of a run, each with a question to the agents.

They are the scenes with the latest facts.
"""
MAX_REASON = 160
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Case:
    """Two facts that exclude each other, the earlier first, as the agents say.

    Attributes:
        old_id: The fact that was asserted earlier.
        new_id: The fact that was asserted later.
        confidence: The agent's confidence.
        reason: The agent's reason.
        by: The name of the agent.
        disputed: Whether the rules say otherwise.

    """

    old_id: str
    new_id: str
    confidence: float
    reason: str
    by: str
    disputed: bool = False

    @property
    def ids(self) -> list[str]:
        """The ids of both memories, and of the records that may be about them."""
        return [
            self.old_id,
            self.new_id,
            *(
                derived("cft", *pair)
                for pair in ((self.old_id, self.new_id), (self.new_id, self.old_id))
            ),
        ]

    def record(self, now: datetime) -> ConflictRecord:
        """The pending record about both."""
        return ConflictRecord(
            id=self.ids[2],
            status="pending",
            old_id=self.old_id,
            new_id=self.new_id,
            confidence=self.confidence,
            strategy="supersede",
            reason=self.reason,
            at=now,
        )


class SceneConflictStep:
    """Lets the later of two contradicting facts of a scene supersede the earlier.

    The agent `rules` works without a model.
    """

    name = "scene conflicts"
    counted = "scene_conflicts"

    def __init__(self, agents: Agents, rules: Agents, steps: Steps) -> None:
        self._agents, self._rules, self._steps = agents, rules, steps

    async def propose(self, run: Run, cursor: Any) -> Proposal | None:
        """Return the next contradiction.

        Args:
            run: The run.
            cursor: The contradictions that are left; None for the beginning.

        Raises:
            Unavailable: The long-term store or an agent is down.

        """
        left = await self._cases(run) if cursor is None else [Case(**fields) for fields in cursor]
        return await self._proposal(run, left) if left else None

    async def dry_run(self, run: Run) -> Mapping[str, int]:
        """Count no work: only agents could tell, and a forecast asks none."""
        return {}

    async def _proposal(self, run: Run, left: Sequence[Case]) -> Proposal:
        case = left[0]

        def reads(read_set: ReadSet) -> list[str]:
            return reads_of(run.owner, case.record(read_set.now), read_set)

        def decide(read_set: ReadSet) -> Chunk:
            return self._chunk(run.owner, left, read_set)

        return Proposal(case.ids, decide, reads=reads)

    def _chunk(self, owner: Owner, left: Sequence[Case], read_set: ReadSet) -> Chunk:
        """Settle the first of the contradictions: the earlier fact is superseded, with a record."""
        case, rest = left[0], [asdict(left_case) for left_case in left[1:]]
        over = Chunk(cursor=rest, done=not rest)
        old, new = read_set.memory(case.old_id), read_set.memory(case.new_id)
        if (
            old is None
            or new is None
            or not (_may_be_superseded(old) and _may_be_superseded(new))
            or any(name in read_set.documents for name in case.ids[2:])
        ):
            return over
        page, record = (
            ChangeSet(owner, read_set, read_set.now, weighs=True),
            case.record(read_set.now),
        )
        if case.disputed:
            return _keep_pending(
                over, page, record.changed(strategy="keep_both", by=case.by), (old, new)
            )
        page.record(record)
        try:
            record = decide_by_time(page, page.puts[record.id], case.reason, case.by)
        except Conflict as refused:
            log.info("two memories are left side by side: %s", refused.detail)
            return over
        return replace(over, **page.written(), counts={self.counted: 1})

    async def _cases(self, run: Run) -> list[Case]:
        changed = await self._facts(run, run.changed_ids(MemoryType.SEMANTIC.value))
        facts = {name: fact for name, fact in changed.items() if fact.cell_id is not None}
        if not facts:
            return []
        cells = await run.reads.memories(
            sorted({fact.cell_id for fact in facts.values() if fact.cell_id is not None})
        )
        by_scene: dict[str, list[Memory]] = {}
        for fact in sorted(facts.values(), key=assertion_order):
            cell = cells.get(fact.cell_id or "")
            if cell is not None and cell.scene_id is not None:
                by_scene.setdefault(cell.scene_id, []).append(fact)
        chosen = sorted(by_scene, key=lambda name: assertion_order(by_scene[name][-1]))[
            -MOST_SCENES:
        ]
        cases: dict[frozenset[str], Case] = {}
        for scene_id in chosen:
            new = by_scene[scene_id][-MOST_NEW:]
            for case in await self._contradictions(run, scene_id, new):
                cases.setdefault(frozenset((case.old_id, case.new_id)), case)
        return list(cases.values())

    async def _contradictions(self, run: Run, scene_id: str, new: Sequence[Memory]) -> list[Case]:
        """Return the facts of a scene that new facts exclude; only the latest are compared."""
        document = (await run.reads.look([scene_id])).documents.get(scene_id)
        if document is None:
            return []
        cells = await run.reads.memories(scene_in(document.body).cell_ids)
        names = {
            fact.fact_id
            for cell in cells.values()
            for fact in cell.atomic_facts
            if fact.fact_id is not None
        }
        older = sorted((await self._facts(run, sorted(names))).values(), key=assertion_order)[
            -MOST_HELD:
        ]
        new = [fact for fact in new if any(_is_comparable(fact, each) for each in older)]
        older = [each for each in older if any(_is_comparable(fact, each) for fact in new)]
        if not new:
            return []
        prompt = ConflictPrompt(tuple(new), tuple(older))
        rulings = await self._rulings(run, prompt)
        cases: list[Case] = []
        for fact, older_fact in (
            (fact, older_fact)
            for fact in new
            for older_fact in older
            if _is_comparable(fact, older_fact)
        ):
            ruling, doubt = rulings.on(fact, older_fact), rulings.doubt(fact, older_fact)
            if doubt is None and (ruling is None or ruling.operation != "DELETE"):
                continue
            first, last = sorted((fact, older_fact), key=assertion_order)
            reasoning = "" if ruling is None else ruling.reasoning.replace("\0", "").strip()
            cases.append(
                Case(
                    first.id,
                    last.id,
                    UNSURE if ruling is None else ruling.confidence_score,
                    doubt or f"{reasoning[:MAX_REASON] or 'contradicted'}; both in one scene",
                    rulings.model,
                    doubt is not None,
                )
            )
        return cases

    async def _rulings(self, run: Run, prompt: ConflictPrompt) -> Rulings:
        """Ask the agents, with an answer that is frozen for this run.

        Rules answer if a model fails, or if there is no model.
        """
        new, older = prompt.items()
        if self._agents is not self._rules:

            async def ask() -> Answered[Decisions]:
                return await self._agents.decide_conflicts(run.owner, new, older)

            try:
                answer = await self._steps.frozen(
                    run.owner, run.id, f"{self.name}:{prompt.key}", ask, Decisions
                )
                return Rulings.of(prompt, answer.value, answer.provenance.model)
            except AgentFailed as error:
                log.warning("contradictions within a scene are left to the rules: %s", error.detail)
        answer = await self._rules.decide_conflicts(run.owner, new, older)
        return Rulings.of(prompt, answer.value, answer.provenance.model, by_rule=True)

    async def _facts(self, run: Run, names: Sequence[str]) -> dict[str, Memory]:
        """Return those of these memories that may be superseded."""
        memories = await run.reads.memories(names)
        return {name: memory for name, memory in memories.items() if _may_be_superseded(memory)}


def _keep_pending(
    over: Chunk, page: ChangeSet, record: ConflictRecord, sides: Sequence[Memory]
) -> Chunk:
    """Leave both facts active until a person decides."""
    if max(len(side.conflict_ids) for side in sides) >= MAX_OPEN:
        return over
    page.leave_pending(record, sides)
    return replace(over, **page.written(), counts={"scene_conflicts_left_open": 1})


def _may_be_superseded(memory: Memory) -> bool:
    return (
        memory.type is not MemoryType.EPISODIC
        and memory.category in ("fact", INSTRUCTION)
        and memory.status in FOUND_BY_DEFAULT
    )


def _is_comparable(first: Memory, second: Memory) -> bool:
    """Whether agents are to compare two facts.

    They are not compared if they are the same fact, or of the same cell or slot.
    """
    return (
        first.id != second.id
        and first.cell_id != second.cell_id
        and (slot_of(first) is None or slot_of(first) != slot_of(second))
    )
