"""What has been superseded, has expired, was deleted or is another user's is told nowhere,
unless a caller asks for it.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_core.core import MemoryCore
from memory_core.domain.memory import Foresight
from memory_core.domain.requests.maintenance import ConsolidateInput
from memory_core.domain.requests.memories import ContextInput, ListInput, RetrieveInput
from memory_core.domain.scope import Owner
from tests.builders import NOW
from tests.contract.test_profile import user_fact
from tests.tasks import Hand
from tests.world import fact, turn

HOUR = timedelta(hours=1)
STEPS = ("turn", "truth", "expired", "foreseen", "foreign", "delete", "settle")
DATED = ("What happened four weeks ago?", "What did we say the day before the boat sailed?")
"""The first finds all of a life by its date, whatever its words; the second reads memories for the
day of an event.
"""
pytestmark = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)


@dataclass
class Life:
    """One user's: the words that may be told, those that may not, and which memory told which."""

    core: MemoryCore
    owner: Owner
    standing: dict[str, str] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    truth: str | None = None
    steps: int = 0

    async def step(self, kind: str, which: int) -> None:
        self.steps += 1
        word, at = f"zorkmid{self.steps}x", NOW - timedelta(days=30) + self.steps * HOUR
        if kind == "turn":
            await self._keep(
                word, turn(f"the boat {word} sailed", f"s{which % 2}", event_timestamp=at)
            )
        elif kind == "truth":
            if self.truth in self.standing:
                self.hidden.add(self.truth)
                del self.standing[self.truth]
            await self._keep(word, user_fact("home city", word, at))
            self.truth = word
        elif kind == "expired":
            self.hidden.add(word)
            statement, until = f"the boat {word} is for sale", at + HOUR
            fields: dict[str, Any] = {"event_timestamp": at, "valid_from": at, "valid_until": until}
            await self.core.save(
                self.owner,
                turn(statement, "s0", **fields) if which % 2 else fact(statement, **fields),
            )
        elif kind == "foreseen":
            self.hidden.add(word)
            ended = Foresight(
                description=f"the boat {word} is away", start_time=at, end_time=at + HOUR
            )
            await self.core.save(
                self.owner,
                turn(f"the boat leaves {self.steps}", "s0", event_timestamp=at, foresight=[ended]),
            )
        elif kind == "foreign":
            self.hidden.add(word)
            other = Owner(self.owner.app_id, f"{self.owner.user_id}-other")
            await self.core.save(other, turn(f"the boat {word} sailed", "s0", event_timestamp=at))
        elif kind == "delete" and self.standing:
            gone = sorted(self.standing)[which % len(self.standing)]
            await self.core.delete(self.owner, self.standing.pop(gone))
            self.hidden.add(gone)
        elif kind == "settle":
            await self.settle()

    async def settle(self) -> None:
        """Let consolidation run."""
        await self.core.consolidate(self.owner, ConsolidateInput())
        await Hand(self.core, "consolidation").work_all()

    async def _keep(self, word: str, item: object) -> None:
        self.standing[word] = (await self.core.save(self.owner, item)).memory.id  # type: ignore[arg-type]

    async def told(self) -> dict[str, str]:
        """All texts that anybody is shown, by where."""
        query = f"the boat home city {' '.join(sorted(self.hidden))}"[:2000]
        everything = {"similarity_threshold": 0.0, "limit": 100}
        fast = await self.core.retrieve(
            self.owner, RetrieveInput.model_validate({"query": query, **everything})
        )
        deep = await self.core.retrieve(
            self.owner,
            RetrieveInput.model_validate({"query": query, "mode": "reconstruct", **everything}),
        )
        dated = [RetrieveInput.model_validate({"query": query, **everything}) for query in DATED]
        by_date = [await self.core.retrieve(self.owner, request) for request in dated]
        briefs = [
            await self.core.context(self.owner, ContextInput(query=asked, session_id=s))
            for asked, s in ((query, "s0"), (None, None))
        ]
        page = await self.core.list(self.owner, ListInput(limit=100))
        return {
            "fast": " ".join(hit.memory.content for hit in fast.results),
            "reconstruct": f"{deep.context} {' '.join(hit.memory.content for hit in deep.results)}",
            "by date": " ".join(hit.memory.content for answer in by_date for hit in answer.results),
            "context": " ".join(brief.context for brief in briefs),
            "list": " ".join(memory.content for memory in page.memories),
            "scenes": " ".join(
                f"{scene.title} {scene.summary}"
                for scene in (await self.core.scenes(self.owner)).scenes
            ),
            "profile": (await self.core.profile(self.owner)).model_dump_json(
                exclude={"explicit": {"__all__": {"previous"}}}
            ),
        }


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    steps=st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 5)), min_size=3, max_size=12)
)
async def test_what_does_not_hold_is_told_nowhere(
    words: MemoryCore, steps: list[tuple[str, int]]
) -> None:
    life = Life(words, Owner("app", f"user-{uuid.uuid4().hex[:8]}"))
    for kind, which in steps:
        await life.step(kind, which)
    await life.settle()
    texts = await life.told()
    for where, text in texts.items():
        assert not [word for word in life.hidden if word in text.casefold()], (where, text)
    assert all(word in texts["by date"].casefold() for word in life.standing)
    standing_words = {word for word in life.standing if word in " ".join(texts.values()).casefold()}
    assert standing_words == set(life.standing)
