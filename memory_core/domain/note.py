"""The note of a cell, in five parts made of two agents' answers.

The answers are those of the episodic agent and of the summariser. `N/A` and blanks are dropped
before labels are added: in the other order "Struggles with: N/A" would stay. The contexts of the
two answers say which data the agents could see. They are no part of the note.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from memory_core.domain.agent_schemas import ConversationSummary, EpisodeAnalysis
from memory_core.domain.text.sameness import words_in

SUMMARY, BEHAVIOUR, EXPERIENCE, GUIDANCE = (
    "## Summary",
    "## Behavioral Patterns",
    "## Experience Learnings",
    "## Guidance",
)
HEADINGS = (SUMMARY, BEHAVIOUR, EXPERIENCE, GUIDANCE)
FOOTER = "---"
LABELS = (
    *HEADINGS, "User's style:", "Engages well with:", "Struggles with:", "Works best when:",
    "Successful approaches:", "Approaches to avoid:", "Do:", "Don't:", "Key insight:", "Tags:",
    "Keywords:", "Content depth: high medium low", "Follow-up areas:",
)  # fmt: skip
"""The headings and labels of every note."""
FIRST_AT: Final = "first_at"
"""The metadata field of a merged note with the moment of its earliest source, in ISO 8601."""
FRAME_WORDS = words_in(" ".join(LABELS))
"""Words that do not tell the topic of a note."""
_NOTHING = frozenset({"", "n/a", "na", "none", "null"})


def render_note(episode: EpisodeAnalysis, summary: ConversationSummary) -> str:
    """The note without parts that would be empty. Equal answers make equal notes.

    Args:
        episode: The episodic agent's answer.
        summary: The summariser's answer.

    """
    sections = (
        _summary(summary),
        _behaviour(episode),
        _experience(episode),
        _guidance(episode),
        _footer(summary),
    )
    return normalise("\n\n".join(section for section in sections if section))


def normalise(text: str) -> str:
    """The text without repeated spaces and blank lines, and with trimmed ends.

    The function is idempotent.
    """
    lines = [
        re.sub(r"[^\S\n]+", " ", line).strip() for line in text.replace("\r\n", "\n").split("\n")
    ]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def non_empty_values(values: Iterable[str]) -> list[str]:
    """The values with content, trimmed, in order."""
    return [
        " ".join(value.split())
        for value in values
        if value.strip().rstrip(".").casefold() not in _NOTHING
    ]


def parts_of(note: str) -> dict[str, str]:
    """The parts of a note by heading, trimmed.

    The footer is under `FOOTER`. A text before the first heading is under "".
    """
    parts: dict[str, str] = {}
    current = ""
    for line in note.split("\n"):
        name = line.strip()
        if name in HEADINGS or name == FOOTER:
            current = name
            parts.setdefault(current, "")
        else:
            parts[current] = f"{parts.get(current, '')}{line}\n"
    return {name: text.strip() for name, text in parts.items() if text.strip()}


def _one(value: str, prefix: str = "") -> list[str]:
    return [prefix + text for text in non_empty_values([value])]


def _summary(summary: ConversationSummary) -> str:
    return _section(SUMMARY, non_empty_values([summary.narrative]))


def _behaviour(episode: EpisodeAnalysis) -> str:
    profile, insights = episode.behavioral_profile, episode.interaction_insights
    style = non_empty_values(
        [profile.communication, profile.learning, profile.problem_solving, profile.decision_making]
    )
    parts = ["User's style: " + " ".join(style)] if style else []
    parts += _one(insights.engagement_triggers, "Engages well with: ")
    parts += _one(insights.friction_points, "Struggles with: ")
    parts += _one(insights.optimal_approach, "Works best when: ")
    return _section(BEHAVIOUR, parts)


def _experience(episode: EpisodeAnalysis) -> str:
    parts = []
    for prefix, outcome in (
        ("Successful approaches: ", episode.what_worked),
        ("Approaches to avoid: ", episode.what_failed),
    ):
        strategies = non_empty_values(outcome.strategies)
        if strategies:
            parts.append(
                " — ".join([prefix + "; ".join(strategies), *non_empty_values([outcome.pattern])])
            )
    return _section(EXPERIENCE, parts)


def _guidance(episode: EpisodeAnalysis) -> str:
    guidance = episode.future_guidance
    parts = []
    for prefix, approaches in (
        ("Do: ", non_empty_values(guidance.recommended_approaches)),
        ("Don't: ", non_empty_values(guidance.avoid_approaches)),
    ):
        if approaches:
            parts.append(prefix + "; ".join(approaches))
    parts += _one(guidance.adaptation_note, "Key insight: ")
    return _section(GUIDANCE, parts)


def _footer(summary: ConversationSummary) -> str:
    parts = []
    for prefix, terms in (
        ("Tags: ", non_empty_values(summary.retrieval.tags)),
        ("Keywords: ", non_empty_values(summary.retrieval.keywords)),
    ):
        if terms:
            parts.append(prefix + ", ".join(terms))
    parts += _one(summary.metadata.depth, "Content depth: ")
    follow_ups = non_empty_values(summary.metadata.follow_ups)
    if follow_ups:
        parts.append("Follow-up areas: " + "; ".join(follow_ups))
    return f"{FOOTER}\n{' | '.join(parts)}" if parts else ""


def _section(heading: str, parts: Sequence[str]) -> str:
    return f"{heading}\n{' '.join(parts)}" if parts else ""
