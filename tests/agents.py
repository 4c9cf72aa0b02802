"""Agents whose answers a test can follow: they cut where a message says so, tell what was said,
and count every call.

They stand at the port, in the place of a model. `down` makes them fail as a service would, `broken`
as a program would; `unsteady` ones never answer the same thing twice.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from memory_core.domain.agent_schemas import (
    Answered,
    Boundaries,
    ConsolidatedMemory,
    ConversationSummary,
    Cut,
    Decisions,
    EpisodeAnalysis,
    ExtractedFacts,
    FoundPatterns,
    ProfileUpdate,
    Provenance,
    SaidFact,
    Sufficiency,
    Synthesis,
)
from memory_core.domain.conversation import Message
from memory_core.domain.errors import Unavailable
from memory_core.domain.joint_answers import EpisodeParts, FormedParts, ReflectedParts
from memory_core.domain.scope import Owner
from memory_core.ports import DecisionItem, Health, LongTermStore, SceneItem

LIVES_IN = re.compile(r"I live in (\w+)")
NEW_TOPIC = "Now to something else:"
WHO = Provenance("scripted")


@dataclass
class ScriptedAgents:
    """before: called with the name of each call, before it answers; a test waits,
    fails or is killed there.

    rewritten: what they want to have asked instead, one after the other; then what was
    found is enough.
    """

    down: bool = False
    broken: bool = False
    unsteady: bool = False
    before: Callable[[str], Awaitable[None]] | None = None
    rewritten: Sequence[str] = ()
    calls: Counter[str] = field(default_factory=Counter)

    model = "scripted"

    async def open(self) -> None:
        """Nothing to load."""

    async def close(self) -> None:
        """Nothing to release."""

    def pool(self) -> tuple[int, int]:
        return 1, 0

    async def check(self) -> Health:
        return Health("scripted", "unavailable" if self.down else "ok")

    async def _asked(self, name: str) -> str:
        """Count the call, and answer what makes this answer unlike the others of
        unsteady agents.
        """
        if self.before is not None:
            await self.before(name)
        if self.down:
            raise Unavailable("agents", "do not answer")
        if self.broken:
            raise RuntimeError("the agents are broken")
        self.calls[name] += 1
        return f" (told{'!' * sum(self.calls.values())})" if self.unsteady else ""

    async def detect_boundary(
        self, owner: Owner, messages: Sequence[Message], previous: str | None
    ) -> Answered[Boundaries]:
        await self._asked("boundary")
        cuts = [
            Cut(after=place - 1)
            for place, message in enumerate(messages)
            if place and message.content.startswith(NEW_TOPIC)
        ]
        return Answered(Boundaries(cuts=cuts), WHO)

    async def analyse_episode(
        self, owner: Owner, messages: Sequence[Message]
    ) -> Answered[EpisodeAnalysis]:
        await self._asked("episode")
        return Answered(EpisodeAnalysis(), WHO)

    async def summarise(
        self, owner: Owner, messages: Sequence[Message], *, fast: bool = False
    ) -> Answered[ConversationSummary]:
        unlike = await self._asked("summary")
        return Answered(
            ConversationSummary(
                narrative=" ".join(message.content for message in messages) + unlike
            ),
            WHO,
        )

    async def extract_facts(
        self, owner: Owner, messages: Sequence[Message]
    ) -> Answered[ExtractedFacts]:
        unlike = await self._asked("facts")
        matches = [
            (place, LIVES_IN.search(message.content)) for place, message in enumerate(messages)
        ]
        slot = {"subject": "user", "attribute": "city"}
        facts = [
            SaidFact(
                text=f"The user lives in {match[1]}{unlike}",
                message=place,
                quote=match[0],
                value=match[1],
                **slot,
            )
            for place, match in matches
            if match is not None
        ]
        return Answered(ExtractedFacts(facts=facts), WHO)

    async def form(
        self, owner: Owner, messages: Sequence[Message], previous: str | None, *, cut: bool
    ) -> Answered[FormedParts]:
        """What the separate calls answer, as one that is counted as `form`."""
        await self._asked("form")
        calls, before, self.before = self.calls.copy(), self.before, None
        boundaries = (await self.detect_boundary(owner, messages, previous)).value if cut else None
        firsts = [0, *(cut.after + 1 for cut in boundaries.cuts)] if boundaries is not None else [0]
        parts = [(first, messages[first:end]) for first, end in pairwise([*firsts, len(messages)])]
        episodes = [
            EpisodeParts(
                first=first,
                behaviour=(await self.analyse_episode(owner, some)).value,
                story=(await self.summarise(owner, some)).value,
            )
            for first, some in parts
        ]
        facts = (await self.extract_facts(owner, messages)).value
        self.calls, self.before = calls, before
        return Answered(FormedParts(boundaries=boundaries, facts=facts, episodes=episodes), WHO)

    async def reflect(
        self, owner: Owner, episodes: Sequence[DecisionItem], scenes: Sequence[SceneItem]
    ) -> Answered[ReflectedParts]:
        """What the separate calls answer, as one that is counted as `reflect`."""
        await self._asked("reflect")
        calls, before, self.before = self.calls.copy(), self.before, None
        patterns, profile = (
            await self.find_patterns(owner, episodes),
            await self.update_profile(owner, scenes),
        )
        self.calls, self.before = calls, before
        return Answered(ReflectedParts(patterns=patterns.value, profile=profile.value), WHO)

    async def decide_conflicts(
        self, owner: Owner, new: Sequence[DecisionItem], older: Sequence[DecisionItem]
    ) -> Answered[Decisions]:
        await self._asked("conflicts")
        return Answered(Decisions(), WHO)

    async def synthesise(self, owner: Owner, notes: Sequence[DecisionItem]) -> Answered[Synthesis]:
        await self._asked("synthesis")
        text = "\n".join(note.text for note in notes)
        return Answered(
            Synthesis(consolidated_memory=ConsolidatedMemory(natural_memory_note=text)), WHO
        )

    async def find_patterns(
        self, owner: Owner, episodes: Sequence[DecisionItem]
    ) -> Answered[FoundPatterns]:
        await self._asked("patterns")
        return Answered(FoundPatterns(), WHO)

    async def update_profile(
        self, owner: Owner, scenes: Sequence[SceneItem]
    ) -> Answered[ProfileUpdate]:
        await self._asked("profile")
        return Answered(ProfileUpdate(), WHO)

    async def judge_sufficiency(
        self, owner: Owner, query: str, asked: Sequence[str], results: Sequence[DecisionItem]
    ) -> Answered[Sufficiency]:
        await self._asked("sufficiency")
        rewritten = self.rewritten[len(asked) - 1] if len(asked) <= len(self.rewritten) else None
        return Answered(
            Sufficiency(
                sufficient=rewritten is None, why=f"{len(results)} found", rewritten=rewritten
            ),
            WHO,
        )


class Gate:
    """Holds each caller of `name` until it is opened, the first `skip` apart;
    `reached` is set when a caller waits there.
    """

    def __init__(self, name: str, skip: int = 0) -> None:
        self._name, self._skip = name, skip
        self.reached, self._open = asyncio.Event(), asyncio.Event()

    async def __call__(self, name: str) -> None:
        if name != self._name:
            return
        if self._skip > 0:
            self._skip -= 1
            return
        self.reached.set()
        await self._open.wait()

    def open(self) -> None:
        """Let them all through, from now on."""
        self._open.set()


@dataclass
class Gated:
    """A store with a gate before its writes."""

    inner: LongTermStore
    gate: Gate

    async def commit(self, *args: Any) -> None:
        await self.gate("commit")
        await self.inner.commit(*args)

    async def keep(self, *args: Any) -> Any:
        await self.gate("keep")
        return await self.inner.keep(*args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)
