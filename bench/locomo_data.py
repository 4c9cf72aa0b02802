"""Conversations, their turns and their questions, from LoCoMo's own file or from the plainer form
that `bench.retrieval` reads.

Note: evidence that names no turn of the conversation is dropped, and a question that is left
without any is not asked; the published file has a few of both.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

_SESSION = re.compile(r"session_(\d+)")
_TURN = re.compile(r"D\d+:\d+")
KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
"""What LoCoMo's categories mean. Nothing answers an adversarial question."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that was said. at: ISO-8601, aware."""

    id: str
    session: str
    actor: str
    text: str
    at: str

    def saved(self) -> dict[str, Any]:
        """As the body of a save."""
        return {
            "type": "episodic",
            "session_id": self.session,
            "actor": self.actor,
            "content": self.text,
            "event_timestamp": self.at,
        }


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and the turns that answer it. kind: what the category means. answer:
    the set's own, where it has one.
    """

    text: str
    category: int
    evidence: frozenset[str]
    kind: str = ""
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns in order, and the questions about them."""

    name: str
    turns: list[Turn]
    questions: list[Question]


def read(file: Path) -> list[Conversation]:
    """Every conversation of a file in either form."""
    return [
        _plain(conversation) if "turns" in conversation else _published(conversation)
        for conversation in json.loads(file.read_text(encoding="utf-8"))
    ]


def _plain(body: dict[str, Any]) -> Conversation:
    turns = [
        Turn(
            turn["id"],
            f"session-{turn['session']}",
            turn["speaker"],
            _said(turn["text"], turn.get("caption")),
            turn["at"],
        )
        for turn in body["turns"]
    ]
    return Conversation(
        body["conv_id"],
        turns,
        _asked(
            (
                question["q"],
                question.get("cat", 0),
                question["evidence"],
                question.get("kind"),
                question.get("answer"),
            )
            for question in body["questions"]
        ),
    )


def _published(body: dict[str, Any]) -> Conversation:
    talk = body["conversation"]
    turns = []
    for name in sorted(
        (key for key in talk if _SESSION.fullmatch(key)), key=lambda key: int(key.partition("_")[2])
    ):
        began = datetime.strptime(talk[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(
            tzinfo=timezone.utc
        )
        for place, message in enumerate(talk[name]):
            at = (began + timedelta(seconds=place)).isoformat()
            turns.append(
                Turn(
                    message["dia_id"],
                    name,
                    message["speaker"],
                    _said(message["text"], message.get("blip_caption")),
                    at,
                )
            )
    known = {turn.id for turn in turns}
    asked = (
        (
            question["question"],
            question["category"],
            known & set(_TURN.findall(" ".join(question["evidence"]))),
            None,
            question.get("answer"),
        )
        for question in body["qa"]
    )
    return Conversation(body["sample_id"], turns, _asked(asked))


def _asked(questions: Any) -> list[Question]:
    return [
        Question(
            text,
            category,
            frozenset(evidence),
            kind or KINDS.get(category, str(category)),
            None if answer is None else str(answer),
        )
        for text, category, evidence, kind, answer in questions
        if evidence
    ]


def _said(text: str, caption: str | None) -> str:
    return f"{text} [image: {caption}]" if caption else text
