"""Is a new statement the same as one we hold, against one we hold, or new? By rule, without a model.

Certain is only what a slot says: one subject and attribute with another value. Near-equal texts that differ in a number or a
negation are an uncertain contradiction; those that differ in anything else are two statements ("port 8080" and "port 8081" stay
apart, whatever an embedding makes of them).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from memory_core.domain.endings import is_ending
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Memory, Status
from memory_core.domain.sameness import differences, normalised
from memory_core.domain.slots import same_value, slot_of
from memory_core.domain.versions import is_version
from memory_core.evolution.tellings import first_telling, following, over
from memory_core.evolution.truth_line import holder, passed_over
from memory_core.ports import Neighbour

_MAY_CONTRADICT = frozenset({"numbers", "negation", "opposites", "values"})
"""Differences that turn a statement against another; names, words or order make it one about something else."""


_TOLD_AGAIN = FOUND_BY_DEFAULT | {Status.DECAYED}
"""A memory that has faded comes back where it is told again. It contradicts nothing: by itself it is not offered any more."""


class Verdict(StrEnum):
    """What a new memory is to what is held."""

    NEW = "new"
    SAME = "same"
    CONTRADICTS = "contradicts"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and its grounds. `truths`: every memory that ever stood in the slot by contradiction, the standing ones included."""

    verdict: Verdict
    old: Memory | None = None
    similarity: float | None = None
    confidence: float = 1.0
    reason: str = ""
    truths: tuple[Memory, ...] = ()

    @property
    def certain(self) -> bool:
        """Whether a rule alone may act on it."""
        return self.confidence >= 1.0


def judge(new: Memory, neighbours: Sequence[Neighbour], duplicate_threshold: float) -> Judgement:
    """The verdict on `new` against its neighbours, nearest first. Superseded neighbours count only as past truths of the slot.

    Who stands in a slot says the same as a new truth with its value only where no other value was told between the two.
    """
    slot = slot_of(new)
    standing = [one for one in neighbours if one.memory.status in FOUND_BY_DEFAULT]
    in_slot = [one for one in standing if slot is not None and slot_of(one.memory) == slot]
    if in_slot:
        first = in_slot[0]
        truths = tuple(one.memory for one in neighbours if slot_of(one.memory) == slot)
        if (held := holding(new, truths)) is not None:
            similarity = next(one.similarity for one in neighbours if one.memory is held)
            return Judgement(Verdict.SAME, held, similarity, reason="same slot, same value", truths=truths)
        return Judgement(Verdict.CONTRADICTS, first.memory, first.similarity, 1.0, "same slot, other value or time", truths)
    uncertain: Judgement | None = None
    for one in (one for one in neighbours if one.memory.status in _TOLD_AGAIN):
        if (slot_of(one.memory) not in (None, slot) and slot is not None) or over(one.memory, new) or _says_more(new, one.memory):
            continue
        if normalised(one.memory.content) == normalised(new.content):
            return Judgement(Verdict.SAME, one.memory, one.similarity, reason="same words")
        if one.similarity < duplicate_threshold:
            continue
        found = differences(one.memory.content, new.content)
        if not found:
            return Judgement(Verdict.SAME, one.memory, one.similarity, reason="near-equal, no difference that counts")
        if uncertain is None and found <= _MAY_CONTRADICT and one.memory.status in FOUND_BY_DEFAULT:
            reason = f"near-equal, but different in {' and '.join(sorted(found))}"
            uncertain = Judgement(Verdict.CONTRADICTS, one.memory, one.similarity, 0.5, reason, (one.memory,))
    past = tuple(one.memory for one in neighbours if slot is not None and slot_of(one.memory) == slot)
    return uncertain or Judgement(Verdict.NEW, truths=past)


def holding(new: Memory, truths: Sequence[Memory]) -> Memory | None:
    """The truth of the slot that has the value of the new one and held when that was told, or was told next after it.

    Values that stand come first; of others only the one that was told last before it held then. An ending that changes nothing says
    what any earlier one of its value said. Old versions of a memory are history: nothing is told of them again.
    """
    earlier = [one for one in truths if first_telling(one) <= new.event_timestamp]
    if passed_over(new, truths):
        return max(
            (one for one in earlier if one.value == new.value and not is_version(one.id)),
            key=lambda one: (one.event_timestamp, one.sequence),
            default=None,
        )
    last = holder(truths, new.event_timestamp)
    for one in earlier:
        if is_version(one.id):
            continue
        if (one is last or (one.status in FOUND_BY_DEFAULT and not is_ending(one))) and same_value(new, one) and not over(one, new):
            return one
    later = following(new, truths)
    if later is None or is_version(later.id):
        return None
    return later if same_value(new, later) and not over(new, later) else None


def _says_more(new: Memory, old: Memory) -> bool:
    """Whether the new one has, beside its words, a value or entities that the old one has not, and that would be lost in it."""
    entities = [frozenset(name.casefold() for name in one.entities) for one in (new, old)]
    return (new.value is not None and new.value != old.value) or (all(entities) and entities[0] != entities[1])
