"""A model behind the wire that reads its record: the rules answer it.

So whatever rules can tell of messages has to survive the way there and back: headings,
marks, schema, JSON and repair.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from aiohttp import web

from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.domain.agent_schemas import Answered, ConversationSummary
from memory_core.domain.conversation import Message
from memory_core.domain.errors import AgentFailed
from memory_core.domain.note import FOOTER, SUMMARY, parts_of, render_note
from memory_core.ports import DecisionItem, SceneItem
from tests.chat_server import completion, kind_of

NO_STORY = ConversationSummary(narrative="-")


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

    async def _answer(self, kind: str, found: list[tuple[list[str], str]]) -> dict[str, Any]:
        messages = [
            message for heading, text in found if (message := message_of(heading, text)) is not None
        ]
        previous = next((text for heading, text in found if heading[0] == "previous episode"), None)
        items = {
            name: [
                item_of(heading, text)
                for heading, text in found
                if heading[0].startswith(f"{name} ")
            ]
            for name in ("new", "held", "note", "episode")
        }
        scenes = [
            scene_of(heading, text) for heading, text in found if heading[0].startswith("scene ")
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
        told: dict[str, Any] = (await calls[kind]()).value.model_dump(mode="json")
        return {"narrative": told["narrative"]} if kind == "Narrative" else told

    async def _formed(
        self, messages: list[Message], previous: str | None, *, cut: bool
    ) -> dict[str, Any]:
        """A joint answer, in which a behaviour that does not show is null."""
        parts = (await self._rules.form("app", messages, previous, cut=cut)).value
        episodes = [
            episode.model_dump(
                mode="json", exclude={"behaviour": {"context"}, "story": {"context"}}
            )
            for episode in parts.episodes
        ]
        for told, episode in zip(episodes, parts.episodes, strict=True):
            if episode.behaviour is not None and not parts_of(
                render_note(episode.behaviour, NO_STORY)
            ).keys() - {SUMMARY, FOOTER}:
                told["behaviour"] = None
        facts = parts.facts.model_dump(mode="json") if parts.facts is not None else {}
        if parts.boundaries is None:
            return {**facts, "behaviour": episodes[0]["behaviour"], "story": episodes[0]["story"]}
        return {**parts.boundaries.model_dump(mode="json"), **facts, "episodes": episodes}

    async def _reflected(
        self, episodes: list[DecisionItem], scenes: list[SceneItem]
    ) -> dict[str, Any]:
        parts = (await self._rules.reflect("app", episodes, scenes)).value
        assert parts.patterns is not None
        assert parts.profile is not None
        return {**parts.patterns.model_dump(mode="json"), **parts.profile.model_dump(mode="json")}


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
    said = next(part.removeprefix("said ") for part in heading if part.startswith("said "))
    category = heading[1] if not heading[1].startswith("said ") else None
    number = int(heading[0].split(" ")[1])
    actor = next((part.removeprefix("by ") for part in heading[2:] if part.startswith("by ")), None)
    return DecisionItem(
        number,
        text,
        category,
        datetime.fromisoformat(said),
        (slot[0], slot[1]) if slot else None,
        actor,
    )
