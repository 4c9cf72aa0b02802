"""A model behind the wire that reads its record: the rules answer it.

So whatever rules can tell of messages has to survive the way there and back: headings,
marks, schema, JSON and repair.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from aiohttp import web

from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.domain.agent_schemas import (
    NOT_AVAILABLE,
    Answered,
    ConversationSummary,
    EpisodeAnalysis,
)
from memory_core.domain.conversation import Message
from memory_core.domain.errors import AgentFailed
from memory_core.domain.scenes import line_of
from memory_core.ports import DecisionItem, SceneItem
from tests.chat_server import completion, kind_of


class ReadingModel:
    """A behaviour of `ChatServer` for any number of requests."""

    def __init__(self) -> None:
        self._rules = OfflineAgents()

    async def __call__(self, _: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        try:
            value = await self._answer(kind_of(body), entries(body["messages"][1]["content"]))
        except AgentFailed:
            return completion("I can't do that.")
        return completion(json.dumps(value))

    async def _answer(
        self, kind: str, record_entries: list[tuple[list[str], str]]
    ) -> dict[str, Any]:
        messages = [
            message
            for heading, text in record_entries
            if (message := message_of(heading, text)) is not None
        ]
        previous = next(
            (text for heading, text in record_entries if heading[0] == "previous episode"), None
        )
        items = {
            name: [
                item_of(heading, text)
                for heading, text in record_entries
                if heading[0].startswith(f"{name} ")
            ]
            for name in ("new", "held", "note", "episode")
        }
        scenes = [
            scene_of(heading, text)
            for heading, text in record_entries
            if heading[0].startswith("scene ")
        ]
        calls: dict[str, Callable[[], Awaitable[Answered[Any]]]] = {
            "Boundaries": lambda: self._rules.detect_boundary("app", messages, previous),
            "EpisodeAnalysis": lambda: self._rules.analyse_episode("app", messages),
            "ConversationSummary": lambda: self._rules.summarise("app", messages),
            "Narrative": lambda: self._rules.summarise("app", messages, fast=True),
            "ExtractedFacts": lambda: self._rules.extract_facts("app", messages),
            "Decisions": lambda: self._rules.decide_conflicts("app", items["new"], items["held"]),
            "FoundPatterns": lambda: self._rules.find_patterns("app", items["episode"]),
            "ProfileUpdate": lambda: self._rules.update_profile("app", scenes),
            "Synthesis": lambda: self._rules.synthesise("app", items["note"]),
        }
        joint: dict[str, Callable[[], Awaitable[dict[str, Any]]]] = {
            "FormedCell": lambda: self._formed(messages, None, cut=False),
            "FormedWindow": lambda: self._formed(messages, previous, cut=True),
            "Reflection": lambda: self._reflected(items["episode"], scenes),
        }
        if kind in joint:
            return await joint[kind]()
        answer: dict[str, Any] = (await calls[kind]()).value.model_dump(mode="json")
        return {"narrative": answer["narrative"]} if kind == "Narrative" else answer

    async def _formed(
        self, messages: list[Message], previous: str | None, *, cut: bool
    ) -> dict[str, Any]:
        """A joint answer, in which a behaviour that does not show is null."""
        parts = (await self._rules.form("app", messages, previous, cut=cut)).value
        episodes = [
            {
                "first": episode.first,
                "behaviour": observed(episode.behaviour),
                "story": flat(episode.story),
            }
            for episode in parts.episodes
        ]
        facts = parts.facts.model_dump(mode="json") if parts.facts is not None else {}
        for fact in facts.get("facts", ()):
            fact |= {name: fact[name] or "" for name in ("subject", "attribute", "value")}
        if parts.boundaries is None:
            return {**facts, "behaviour": episodes[0]["behaviour"], "story": episodes[0]["story"]}
        return {**parts.boundaries.model_dump(mode="json"), **facts, "episodes": episodes}

    async def _reflected(
        self, episodes: list[DecisionItem], scenes: list[SceneItem]
    ) -> dict[str, Any]:
        scenes_with_lines = [with_lines(scene, episodes) for scene in scenes]
        parts = (await self._rules.reflect("app", episodes, scenes_with_lines)).value
        assert parts.patterns is not None
        assert parts.profile is not None
        return {**parts.patterns.model_dump(mode="json"), **parts.profile.model_dump(mode="json")}


def observed(behaviour: EpisodeAnalysis | None) -> list[dict[str, str]]:
    """What shows of a speaker's behaviour, as a joint answer tells it."""
    if behaviour is None:
        return []
    worked, failed = behaviour.what_worked, behaviour.what_failed
    profile, insights = behaviour.behavioral_profile, behaviour.interaction_insights
    guidance = behaviour.future_guidance
    statements = [
        *(("worked", text) for text in worked.strategies), ("why_worked", worked.pattern),
        *(("failed", text) for text in failed.strategies), ("why_failed", failed.pattern),
        ("communication", profile.communication), ("learning", profile.learning),
        ("problem_solving", profile.problem_solving), ("decision_making", profile.decision_making),
        ("engages_with", insights.engagement_triggers),
        ("struggles_with", insights.friction_points), ("best_when", insights.optimal_approach),
        *(("do", text) for text in guidance.recommended_approaches),
        *(("avoid", text) for text in guidance.avoid_approaches),
        ("key_insight", guidance.adaptation_note),
    ]  # fmt: skip
    return [
        {"aspect": aspect, "text": text} for aspect, text in statements if text != NOT_AVAILABLE
    ]


def flat(story: ConversationSummary | None) -> dict[str, Any] | None:
    """A story without the groups of its fields, as a joint answer tells it."""
    if story is None:
        return None
    story_fields = story.model_dump(mode="json", exclude={"context"})
    worth = story_fields["metadata"]["worth"] or "none"
    return {
        "narrative": story_fields["narrative"],
        **story_fields["retrieval"],
        **story_fields["metadata"],
        "worth": worth,
    }


def entries(record: str) -> list[tuple[list[str], str]]:
    """The headings of a record, in parts, each with its text."""
    mark = record.splitlines()[0].removeprefix("BEGIN ")
    pattern = rf"^\[{mark} \| ([^\n]*)\]\n(.*?)(?=\n\[{mark} \| |\nEND {mark}\n)"
    return [
        (heading.split(" | "), text)
        for heading, text in re.findall(pattern, record, re.MULTILINE | re.DOTALL)
    ]


def message_of(heading: list[str], text: str) -> Message | None:
    """The message of an entry; None when it is none."""
    if not heading[0].startswith("message "):
        return None
    role: Any = heading[1]
    actor = heading[2] if len(heading) == 4 else None
    return Message(
        role=role,
        content=text,
        timestamp=datetime.fromisoformat(heading[-1].split(" ")[1]),
        actor=actor,
    )


def scene_of(heading: list[str], text: str) -> SceneItem:
    """A scene as it was before it became an entry: a line for each episode, and behind it, in
    parentheses, what was observed.
    """
    lines = [line.partition(" (") for line in text.splitlines()]
    shows = tuple(
        tuple(seen.removesuffix(")").split(") (")) if seen else () for _, _, seen in lines
    )
    number, began = (
        int(heading[0].split(" ")[1]),
        datetime.fromisoformat(heading[2].removeprefix("began ")),
    )
    return SceneItem(number, heading[1], tuple(line for line, _, _ in lines), shows, began)


def with_lines(scene: SceneItem, episodes: list[DecisionItem]) -> SceneItem:
    """A scene with the lines of the episodes that it only names."""
    lines = {f"= episode {episode.number}": line_of(episode.text) for episode in episodes}
    return replace(scene, lines=tuple(lines.get(line, line) for line in scene.lines))


def item_of(heading: list[str], text: str) -> DecisionItem:
    """The memory of an entry."""
    slot = next(
        (
            part.removeprefix("slot ").split(" / ", 1)
            for part in heading
            if part.startswith("slot ")
        ),
        None,
    )
    statement = next(part.removeprefix("said ") for part in heading if part.startswith("said "))
    category = heading[1] if not heading[1].startswith("said ") else None
    number = int(heading[0].split(" ")[1])
    actor = next((part.removeprefix("by ") for part in heading[2:] if part.startswith("by ")), None)
    return DecisionItem(
        number,
        text,
        category,
        datetime.fromisoformat(statement),
        (slot[0], slot[1]) if slot else None,
        actor,
    )
