"""Conversations told to Memory Core and formed at once, and agents whose answers a test writes.

`Tellers` find facts in "Ana's city is Oslo", so that a test can fill any slot, and make a note of
every cell; what they decide and merge, and where they fail, is the test's.
They stand at the port, in the place of a model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from memory_core.core import MemoryCore
from memory_core.domain.agent_schemas import (
    Answered,
    ConsolidatedMemory,
    ConversationSummary,
    Decision,
    Decisions,
    ExtractedFacts,
    RetrievalHints,
    SaidFact,
    SummaryMetadata,
    Synthesis,
)
from memory_core.domain.conversation import Message, Task
from memory_core.domain.memory import Memory
from memory_core.domain.requests.memories import ConverseInput
from memory_core.domain.results import Accepted
from memory_core.domain.scope import Owner
from memory_core.ports import DecisionItem
from tests.agents import WHO, ScriptedAgents
from tests.builders import ALICE, NOW
from tests.tasks import Hand, told

SLOT = re.compile(r"(\w+)'s ([\w ]+?) is ([\w ]+?)(?=[.,;]|$| and )")
Items = Sequence[DecisionItem]
Line = str | tuple[str, str]


@dataclass
class Tellers(ScriptedAgents):
    """rulings: what the conflict agent decides. merged: what the synthesis agent writes. failing:
    by the name of a call, the errors that it raises before it answers, one a call. notes:
    whether cells get a note.
    """

    rulings: Callable[[Items, Items], list[Decision]] = lambda new, older: []
    merged: Callable[[Items], str] = lambda notes: "\n".join(note.text for note in notes)
    failing: dict[str, list[BaseException]] = field(default_factory=dict)
    facts: Callable[[Sequence[Message]], list[SaidFact]] | None = None
    notes: bool = True
    conflict_calls: list[tuple[list[str], list[str]]] = field(default_factory=list)

    async def _asked(self, name: str) -> str:
        if self.failing.get(name):
            raise self.failing[name].pop(0)
        return await super()._asked(name)

    async def summarise(
        self, app_id: str, messages: Sequence[Message], *, fast: bool = False
    ) -> Answered[ConversationSummary]:
        await self._asked("summary")
        story = " ".join(message.content for message in messages)[:3000]
        hints = (
            RetrievalHints(tags=["talk"], queries=["what was said"])
            if self.notes
            else RetrievalHints()
        )
        return Answered(
            ConversationSummary(
                narrative=story, retrieval=hints, metadata=SummaryMetadata(depth="medium")
            ),
            WHO,
        )

    async def extract_facts(
        self, app_id: str, messages: Sequence[Message]
    ) -> Answered[ExtractedFacts]:
        await self._asked("facts")
        return Answered(ExtractedFacts(facts=(self.facts or said)(messages)), WHO)

    async def decide_conflicts(self, app_id: str, new: Items, older: Items) -> Answered[Decisions]:
        await self._asked("conflicts")
        self.conflict_calls.append(([item.text for item in new], [item.text for item in older]))
        return Answered(Decisions(decisions=self.rulings(new, older)), WHO)

    async def synthesise(self, app_id: str, notes: Items) -> Answered[Synthesis]:
        await self._asked("synthesis")
        return Answered(
            Synthesis(
                consolidated_memory=ConsolidatedMemory(natural_memory_note=self.merged(notes))
            ),
            WHO,
        )


def said(messages: Sequence[Message]) -> list[SaidFact]:
    """Every "Ana's city is Oslo" as a fact that fills its slot."""
    return [
        SaidFact(
            text=match[0],
            message=place,
            quote=match[0],
            subject=match[1],
            attribute=match[2],
            value=match[3],
        )
        for place, message in enumerate(messages)
        for match in SLOT.finditer(message.content)
    ][:40]


def on_all(
    operation: str, *, category: str | None = None, confidence: float = 1.0
) -> Callable[[Items, Items], list[Decision]]:
    """Rulings that do the same to every pair of one category."""

    def rule(new: Items, older: Items) -> list[Decision]:
        pairs = [
            (item, old)
            for item in new
            for old in older
            if item.category == old.category and category in (None, item.category)
        ]
        return [decision(item.number, old.number, operation, confidence) for item, old in pairs]

    return rule


def decision(new: int, memory: int, operation: str, confidence: float = 1.0) -> Decision:
    """A decision by numbers."""
    return Decision.model_validate(
        {"new": new, "memory": memory, "operation": operation, "confidence_score": confidence}
    )


def talk(
    *lines: Line,
    at: datetime = NOW,
    session: str | None = "s1",
    apart: timedelta = timedelta(minutes=1),
) -> ConverseInput:
    """A conversation of lines, each a user's or (role, text), `apart` from each other."""
    messages = [
        {
            "role": "user" if isinstance(line, str) else line[0],
            "content": line if isinstance(line, str) else line[1],
            "timestamp": (at + place * apart).isoformat(),
        }
        for place, line in enumerate(lines)
    ]
    return ConverseInput.model_validate({"session_id": session, "messages": messages})


async def tell(
    core: MemoryCore,
    *lines: Line,
    owner: Owner = ALICE,
    at: datetime = NOW,
    session: str | None = "s1",
) -> Task:
    """Tell it, work on it, and look at the task."""
    return await formed(
        core, await core.converse(owner, talk(*lines, at=at, session=session)), owner
    )


async def formed(core: MemoryCore, accepted: Accepted, owner: Owner = ALICE) -> Task:
    """Work on what waits; the task as it is then."""
    await Hand(core).work_all()
    return await core.task(owner, accepted.task_id)


async def facts_of(core: MemoryCore, owner: Owner = ALICE) -> dict[str, Memory]:
    """The facts that conversations made, by their text, whatever became of them."""
    return {
        memory.content: memory for memory in await told(core, owner) if memory.category == "fact"
    }


async def of_category(core: MemoryCore, category: str, owner: Owner = ALICE) -> list[Memory]:
    """The cells, or the notes, in the order of what they tell."""
    return sorted(
        (memory for memory in await told(core, owner) if memory.category == category),
        key=lambda memory: (memory.event_timestamp, memory.id),
    )


def statuses(memories: Mapping[str, Memory]) -> dict[str, str]:
    """What became of each."""
    return {name: memory.status.value for name, memory in memories.items()}
