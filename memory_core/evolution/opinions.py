"""Opposite opinions of an agent and the rules: can two memories both be true?

Neither is believed then: both memories stand, and the record waits for a person, with both
reasons. Note: that the rules see no contradiction is no opinion; most contradictions are beyond
them. They deny one only where they know why both can be true.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import SequenceMatcher

from memory_core.domain.agent_schemas import Decision
from memory_core.domain.memory import Memory
from memory_core.domain.statements.attributes import family_of
from memory_core.domain.statements.change_grounds import Ground
from memory_core.domain.statements.change_messages import as_users, is_about
from memory_core.domain.statements.changes import change
from memory_core.domain.statements.contradictions import contradiction
from memory_core.domain.statements.first_person import in_first_person
from memory_core.domain.text.analyzer import FUNCTION_WORDS, words
from memory_core.domain.text.sameness import differences
from memory_core.domain.truth.slots import is_retraction, slot_of

MAY_CONTRADICT = frozenset({"numbers", "negation", "opposites", "values"})
"""Differences that turn a statement against another. Differences in names, words or order make it a
statement about something else.
"""
MIN_CONFIDENCE = 0.7
"""The least confidence with which an agent's opinion counts."""
MOST_WORDS_APART = 3
"""Words by which two statements of the same form may differ."""
FEWEST_ALIKE = 2
"""Telling words that two statements of the same form share at least."""
MAX_SAID = 300
"""Characters of an agent's reason that a record keeps beside the rules' reason."""
CHANGED: Mapping[Ground, str] = {
    "ends": "the later one says that it is over",
    "value": "the later one has another time or number",
    "switch": "the later one says that something else took its place",
    "matter": "the later one says that it is otherwise now",
}
_ONE_OF_SEVERAL = frozenset({"words", "names"})
_WITHOUT_REASON = {
    "KEEP": "both can be true",
    "SKIP": "the new one says nothing new",
    "UPDATE": "the new one adds to the held one",
    "DELETE": "they can't both be true",
}


def denies_conflict(decision: Decision | None, new: Memory, old: Memory) -> bool:
    """Whether an agent says that two memories do not exclude each other.

    Retractions are decided by the rules alone.

    Args:
        decision: Decision of the agent; None if there is none.
        new: New memory that the agent was shown.
        old: Older memory that the agent was shown.

    """
    if (
        decision is None
        or decision.operation == "DELETE"
        or decision.confidence_score < MIN_CONFIDENCE
    ):
        return False
    return not (is_retraction(new) or is_retraction(old))


def contradiction_by_rule(
    first: Memory, second: Memory, told_apart: frozenset[str] | None
) -> str | None:
    """How two memories contradict each other by the rules, in words.

    Args:
        first: A memory.
        second: The other memory.
        told_apart: The differences of their texts; None for texts that are not near-equal.

    Returns:
        None if they don't.

    """
    if told_apart and told_apart <= MAY_CONTRADICT:
        return f"near-equal, but different in {' and '.join(sorted(told_apart))}"
    if (ground := contradiction(first.content, second.content)) is not None:
        return f"about the same, but different in {ground}"
    return changed_by(first, second)


def changed_by(old: Memory, new: Memory) -> str | None:
    """How the later statement says that the earlier statement is over, or has changed.

    Args:
        old: A memory.
        new: The other memory; the later event decides.

    Returns:
        None if both can hold.

    """
    if "note" in (old.category, new.category):
        return None
    earlier, later = sorted((old, new), key=lambda memory: memory.event_timestamp)
    # "Tom: I sold the car" tells its speaker's name, "Tom has a car" is about the same speaker
    name = later.content.partition(":")[0]
    speaker = name if all(is_about(memory.content, name) for memory in (old, new)) else ""
    before, now = as_users(earlier.content, speaker), as_users(later.content, speaker)
    moments = earlier.event_timestamp, later.event_timestamp
    spoken = in_first_person(before), in_first_person(now)
    change_told = change(before, now, moments)
    if change_told is None and spoken != (before, now):
        change_told = change(*spoken, moments)
    return None if change_told is None else CHANGED[change_told.ground]


def why_both_hold(new: Memory, old: Memory) -> str | None:
    """Why both memories can be true, by the rules; None if no rule says so.

    Args:
        new: A memory.
        old: The other memory.

    """
    if new.category == "note" or old.category == "note" or changed_by(old, new) is not None:
        return None
    slots = slot_of(new), slot_of(old)
    if slots[0] is not None and slots[1] is not None:
        if slots[0] == slots[1]:
            return None
        if slots[0][0] != slots[1][0]:
            return "they are about two people or things"
        families = family_of(slots[0][1]), family_of(slots[1][1])
        return (
            "one may have several of these"
            if families[0] is not None and families[0] == families[1]
            else None
        )
    return (
        "they differ in a word that leaves room for both"
        if _say_two_things(new.content, old.content)
        else None
    )


def both_reasons(by_rules: str, model: str, decision: Decision) -> str:
    """The reasons of the rules and of an agent.

    Args:
        by_rules: The reason of the rules.
        model: The agent's model.
        decision: Decision of the agent.

    """
    return f"{by_rules}; {opinion(model, decision)}"


def opinion(model: str, decision: Decision) -> str:
    """An agent's reason about two memories, with the model's name.

    Args:
        model: The agent's model.
        decision: Decision of the agent.

    """
    reasoning = " ".join(decision.reasoning.replace("\0", " ").split())[:MAX_SAID]
    return f"but {model} says: {reasoning or _WITHOUT_REASON[decision.operation]}"


def _say_two_things(first: str, second: str) -> bool:
    """Whether two statements of the same form differ in something that may be plural.

    For example: "likes tea", "likes coffee".
    """
    if (
        contradiction(first, second) is not None
        or not differences(first, second) <= _ONE_OF_SEVERAL
    ):
        return False
    ours, theirs = ([word.casefold() for word in words(text)] for text in (first, second))
    codes = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    apart = [code for code in codes if code[0] != "equal"]
    alike = [
        word
        for name, start, end, *_ in codes
        if name == "equal"
        for word in ours[start:end]
        if word not in FUNCTION_WORDS
    ]
    if len(apart) != 1 or apart[0][0] != "replace" or len(alike) < FEWEST_ALIKE:
        return False
    _, start, end, their_start, their_end = apart[0]
    return max(end - start, their_end - their_start) <= MOST_WORDS_APART
