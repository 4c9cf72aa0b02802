"""Look for standing instructions that exclude each other: "answer in English", "write in German".

Rules end an instruction when another in nearly the same words is kept. Here a model compares those
that are kept in other words.
"""

from __future__ import annotations

from memory_core.consolidation.scene_conflicts import MAX_REASON, Case, SceneConflictStep
from memory_core.consolidation.step import Run
from memory_core.domain.memory import Memory, MemoryType
from memory_core.domain.statements.wishes import INSTRUCTION
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from memory_core.evolution.agent_rulings import ConflictPrompt
from memory_core.evolution.decisions import assertion_order
from memory_core.evolution.opinions import MIN_CONFIDENCE
from memory_core.ledger.readable import readable
from memory_core.ports import Agents, Filter, LongTermStore
from memory_core.tasks.agent_steps import Steps

_MOST = 20
"""The most instructions that are compared, the latest."""
_STANDING = Filter(
    frozenset(status.value for status in FOUND_BY_DEFAULT),
    types=frozenset({MemoryType.PROCEDURAL.value}),
    categories=frozenset({INSTRUCTION}),
)


class InstructionConflictStep(SceneConflictStep):
    """Lets the later of two instructions that can't both be followed supersede the earlier."""

    name = "instruction conflicts"
    counted = "instruction_conflicts"

    def __init__(self, store: LongTermStore, agents: Agents, rules: Agents, steps: Steps) -> None:
        super().__init__(agents, rules, steps)
        self._store = store

    async def _cases(self, run: Run) -> list[Case]:
        names = {*run.changed_ids(MemoryType.PROCEDURAL.value)}
        if self._agents is self._rules or not names:
            return []
        standing, _ = readable(await self._store.page(run.owner, "memory", _STANDING, None, _MOST))
        pairs = [
            (new, older)
            for new in standing
            for older in standing
            if new.id in names and _comes_after(new, older)
        ]
        if not pairs:
            return []
        new, older = ({memory.id: memory for memory in side} for side in zip(*pairs, strict=True))
        rulings = await self._rulings(
            run, ConflictPrompt(tuple(new.values()), tuple(older.values()))
        )
        return [
            Case(
                earlier.id,
                later.id,
                ruling.confidence_score,
                ruling.reasoning.replace("\0", "").strip()[:MAX_REASON] or "contradicted",
                rulings.model,
            )
            for later, earlier in pairs
            if not rulings.by_rule
            and (ruling := rulings.by_pair.get((later.id, earlier.id))) is not None
            and ruling.operation == "DELETE"
            and ruling.confidence_score >= MIN_CONFIDENCE
        ]


def _comes_after(new: Memory, older: Memory) -> bool:
    """Whether both are for one agent, and the new one was given later."""
    return new.agent_id == older.agent_id and assertion_order(new) > assertion_order(older)
