"""Is a new statement the same as one we hold, against one we hold, or new? By rule, without a model.

Certain is only what a slot says: one subject and attribute with another value. Texts about one thing that exclude each other, by a
negation, an opposite, another number, time or value, are an uncertain contradiction; those that differ in anything else are two statements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from memory_core.domain.contradiction import contradiction
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Memory, Status
from memory_core.domain.sameness import differences, normalised
from memory_core.domain.slots import slot_of
from memory_core.domain.truth.entries import Account, Assertion, Retraction, Statement
from memory_core.domain.truth.timeline import Interval
from memory_core.evolution.disagreement import MAY_CONTRADICT, changed_by
from memory_core.evolution.slot_log import SlotLog
from memory_core.evolution.succession import over
from memory_core.ports import Neighbour

_TOLD_AGAIN = FOUND_BY_DEFAULT | {Status.DECAYED}
"""A memory that has faded comes back where it is told again. It contradicts nothing: by itself it is not offered any more."""


class Verdict(StrEnum):
    """What a new memory is to what is held."""

    NEW = "new"
    SAME = "same"
    CONTRADICTS = "contradicts"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and its grounds.

    old_id: the memory that says the same, or that is contradicted. old: the memory itself, where it is a neighbour. version: which version
    of it says the same. rivals: ids of all in the slot that hold then or later.
    """

    verdict: Verdict
    old_id: str | None = None
    old: Memory | None = None
    similarity: float | None = None
    confidence: float = 1.0
    reason: str = ""
    version: int | None = None
    rivals: tuple[str, ...] = ()

    @property
    def certain(self) -> bool:
        """Whether a rule alone may act on it."""
        return self.confidence >= 1.0


def judge(new: Memory, neighbours: Sequence[Neighbour], duplicate_threshold: float, slot: SlotLog | None = None) -> Judgement:
    """The verdict on `new` against its neighbours, nearest first.

    Args:
        new: what is said.
        neighbours: what is held, in its state of now, nearest first.
        duplicate_threshold: the similarity from which on two texts may say the same.
        slot: the log of its slot, if it is in one. The log alone decides whether a member there says the same or another thing.

    Returns:
        The verdict. Of a truth that is said again, the version that holds.

    """
    if slot is not None and (judgement := _in_slot(new, slot)) is not None:
        return replace(
            judgement, similarity=next((neighbour.similarity for neighbour in neighbours if neighbour.memory.id == judgement.old_id), None)
        )
    own = slot_of(new)
    uncertain: Judgement | None = None
    for neighbour in (neighbour for neighbour in neighbours if neighbour.memory.status in _TOLD_AGAIN):
        if (own is not None and slot_of(neighbour.memory) is not None) or over(neighbour.memory, new) or _says_more(new, neighbour.memory):
            continue
        if normalised(neighbour.memory.content) == normalised(new.content):
            return Judgement(Verdict.SAME, neighbour.memory.id, neighbour.memory, neighbour.similarity, reason="same words")
        told_apart = differences(neighbour.memory.content, new.content) if neighbour.similarity >= duplicate_threshold else None
        if told_apart == frozenset():
            reason = "near-equal, no difference that counts"
            return Judgement(Verdict.SAME, neighbour.memory.id, neighbour.memory, neighbour.similarity, reason=reason)
        if uncertain is None and neighbour.memory.status in FOUND_BY_DEFAULT:
            uncertain = _uncertain(new, neighbour, told_apart)
    return uncertain or Judgement(Verdict.NEW)


def _uncertain(new: Memory, near: Neighbour, told_apart: frozenset[str] | None) -> Judgement | None:
    """Whether the new one may contradict a neighbour that no slot settles. told_apart: what tells them apart, where they are near-equal."""
    if told_apart and told_apart <= MAY_CONTRADICT:
        reason = f"near-equal, but different in {' and '.join(sorted(told_apart))}"
    elif (ground := contradiction(near.memory.content, new.content)) is not None:
        reason = f"about the same, but different in {ground}"
    elif (changed := changed_by(near.memory, new)) is not None:
        reason = changed
    else:
        return None
    return Judgement(Verdict.CONTRADICTS, near.memory.id, near.memory, near.similarity, 0.5, reason)


def _in_slot(new: Memory, slot: SlotLog) -> Judgement | None:
    """The verdict of the slot; None where nothing holds there when the new one begins, nor is announced."""
    statement = slot.statement(new)
    moment = max(statement.asserted_at, statement.valid_from)
    holding = slot.timeline.at(moment)
    same: Interval | Statement | None = next((interval for interval in reversed(holding) if interval.value == statement.value), None)
    if isinstance(statement, Retraction):
        same = _same_retraction(statement, slot)
    if same is not None:
        return Judgement(Verdict.SAME, same.memory_id, version=same.version, reason="same slot, same value")
    later = [interval for interval in slot.timeline.intervals if interval.ends is None or interval.ends > moment]
    if not later:
        return None
    old = max(holding, key=lambda interval: interval.order) if holding else min(later, key=lambda interval: interval.begins)
    names = tuple(dict.fromkeys(interval.memory_id for interval in later))
    return Judgement(Verdict.CONTRADICTS, old.memory_id, reason="same slot, other value or time", rivals=names)


def _same_retraction(retraction: Retraction, slot: SlotLog) -> Retraction | None:
    """An earlier retraction of the value, since when that value was not said again: it is the same statement, unless it was deleted."""
    account = Account.of(slot.entries)
    earlier = [
        statement
        for statement in account.statements
        if isinstance(statement, Assertion | Retraction) and statement.order < retraction.order
    ]
    last = next(
        (
            statement
            for statement in reversed(earlier)
            if statement.value == retraction.value or (retraction.value is None and isinstance(statement, Assertion))
        ),
        None,
    )
    return last if isinstance(last, Retraction) and last.place not in account.hidden_at else None


def _says_more(new: Memory, old: Memory) -> bool:
    """Whether the new one has, beside its words, a value or entities that the old one has not, and that would be lost in it."""
    entities = [frozenset(name.casefold() for name in memory.entities) for memory in (new, old)]
    return (new.value is not None and new.value != old.value) or (all(entities) and entities[0] != entities[1])
