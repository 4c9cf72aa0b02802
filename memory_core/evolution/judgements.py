"""Compare a new memory with existing memories: same, contradiction, or new.

Only a slot gives a certain contradiction: the same subject and attribute with another value. Texts
about the same thing that exclude each other, by a negation, an opposite, another number, time or
value, are an uncertain contradiction. Texts that differ in any other way are two statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from memory_core.domain.memory import Memory, Status
from memory_core.domain.statements.contradictions import contradiction
from memory_core.domain.text.sameness import differences, normalised
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from memory_core.domain.truth.entries import Assertion, Retraction, Statement
from memory_core.domain.truth.slots import (
    RETRACTS_ANYTHING,
    SlotName,
    is_named_short,
    is_retraction,
    retraction_of,
    retracts,
    slot_name,
    slot_of,
)
from memory_core.domain.truth.timeline import Interval
from memory_core.evolution.changeset import ChangeSet
from memory_core.evolution.opinions import MAY_CONTRADICT, changed_by
from memory_core.evolution.slot_log import SlotLog, documents_of
from memory_core.evolution.succession import over
from memory_core.evolution.truth_commands import says, statement_in
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Neighbour

_TOLD_AGAIN = FOUND_BY_DEFAULT | {Status.DECAYED}
"""A faded memory becomes active again where it is asserted again. It contradicts no memory: by
itself it is not shown any more.
"""


@dataclass(frozen=True, slots=True)
class SaveRules:
    """The thresholds of saving and editing, on the embedder's scale of similarity.

    Attributes:
        duplicate_threshold: The least similarity of texts that may say the same.
        contradiction_floor: The least similarity of texts that may contradict each other.

    """

    duplicate_threshold: float
    contradiction_floor: float


class Verdict(StrEnum):
    """How a new memory relates to existing memories."""

    NEW = "new"
    SAME = "same"
    CONTRADICTS = "contradicts"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and its grounds.

    Attributes:
        verdict: The relation.
        old_id: Id of the memory that says the same, or that is contradicted; None for a new
            statement.
        old: That memory, if it is a neighbour.
        similarity: Similarity of the two memories; None if it was not measured.
        confidence: 1.0 if the verdict is certain.
        reason: In words.
        version: The version of the old memory that says the same; None for the latest.
        rivals: Ids of all members of the slot that hold then, or whose time the new memory takes.

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


def judged(
    page: ChangeSet, new: Memory, near: Sequence[Neighbour], duplicate_threshold: float
) -> Judgement:
    """The verdict on a new memory, by its slot and neighbours in a commit.

    Args:
        page: The change set of the commit.
        new: The new memory.
        near: Its neighbours, as they were read.
        duplicate_threshold: The least similarity of texts that may say the same.

    Returns:
        The verdict, with the memory that it is about. An archived memory is never the same.

    """
    slot = page.slot(new)
    judgement = judge(new, page.neighbours(new, near), duplicate_threshold, slot)
    if slot is not None and judgement.verdict is Verdict.CONTRADICTS:
        names = (judgement.old_id, *judgement.rivals)
        judgement = _in_same_words(new, slot, names, page.found) or judgement
    if judgement.old_id is None:
        return judgement
    old = judgement.old or page.found(judgement.old_id)
    if judgement.verdict is Verdict.SAME and old.status is Status.ARCHIVED:
        return Judgement(Verdict.NEW)
    return replace(judgement, old=old)


def _in_same_words(
    new: Memory, slot: SlotLog, names: Sequence[str | None], memory_of: Callable[[str], Memory]
) -> Judgement | None:
    """The verdict that a truth is told again, with or without its value.

    None if none is in the same words, or if both have a value: "User lives in Oslo" may be saved
    with the value "Oslo", and again without a value. `names` are members that it may repeat.
    """
    statement = statement_in(slot, new)
    if isinstance(statement, Retraction):
        return None
    for each in slot.timeline.intervals:
        if each.memory_id not in names or each.value is None:
            continue
        old = memory_of(each.memory_id)
        if (
            each.version == old.version
            and (old.value is None) is not (new.value is None)
            and old.copied_from is None
            and normalised(old.content) == normalised(new.content)
            and (again := repeated(replace(statement, value=each.value), slot)) is not None
            and again.memory_id == old.id
        ):
            reason = "same slot, same words"
            return Judgement(Verdict.SAME, old.id, version=again.version, reason=reason)
    return None


def judge(
    new: Memory,
    neighbours: Sequence[Neighbour],
    duplicate_threshold: float,
    slot: SlotLog | None = None,
) -> Judgement:
    """The verdict on a new memory against its neighbours.

    Args:
        new: The new memory.
        neighbours: Existing memories in their present state, the nearest first.
        duplicate_threshold: The least similarity of texts that may say the same.
        slot: The log of its slot; None if it has no slot. The log alone decides whether a member
            there says the same.

    Returns:
        The verdict. For a truth that is asserted again, it names the version that holds.

    """
    if slot is not None and (judgement := _in_slot(new, slot)) is not None:
        near = (near for near in neighbours if near.memory.id == judgement.old_id)
        return replace(judgement, similarity=next((each.similarity for each in near), None))
    own, words = slot_of(new), normalised(new.content)
    uncertain: Judgement | None = None
    for neighbour in neighbours:
        old, similarity = neighbour.memory, neighbour.similarity
        if (
            old.status not in _TOLD_AGAIN
            or (own is not None and slot_of(old) is not None)
            or over(old, new)
            or _names_others(new, old)
        ):
            continue
        reason, told_apart = "same words", None
        says_more = new.value is not None and new.value != old.value
        if says_more or normalised(old.content) != words:
            reason = "near-equal, no difference that counts"
            if similarity >= duplicate_threshold:
                told_apart = differences(old.content, new.content)
            if says_more or told_apart != frozenset():
                if (
                    uncertain is None
                    and old.status in FOUND_BY_DEFAULT
                    and not _told_at_once(new, old)
                ):
                    uncertain = _uncertain(new, neighbour, told_apart)
                continue
        return Judgement(Verdict.SAME, old.id, old, similarity, reason=reason)
    return uncertain or Judgement(Verdict.NEW)


def slot_reads(read_set: ReadSet, memories: Iterable[Memory]) -> list[str]:
    """The ids of the documents that a decision on new memories of slots needs.

    As far as they are known, these are the logs of their slots, and the members that a new memory
    may repeat or contradict. If several new memories are of one slot, each is decided on after
    those before it. So all members are read that hold after the earliest start.

    Args:
        read_set: What was read so far, and the time of the decision.
        memories: The new memories.

    """
    by_slot: dict[SlotName, list[Memory]] = {}
    for memory in memories:
        if (name := slot_name(memory)) is not None:
            by_slot.setdefault(name, []).append(memory)
    known = {neighbour.memory.id: neighbour.memory for neighbour in read_set.neighbours()}
    wanted: list[str] = []
    for name, of_slot in by_slot.items():
        documents = documents_of(name)
        if read_set.unread(documents):
            wanted += documents
            continue
        slot = SlotLog.read(name, read_set)
        if len(of_slot) > 1:
            start = min(new.valid_from for new in of_slot)
            wanted += (
                each.memory_id for each in slot.timeline.intervals if each.lasts_beyond(start)
            )
            of_slot = [*filter(is_retraction, of_slot)]  # these may repeat one that never holds
        for new in of_slot:
            wanted += _members_met(new, slot, lambda each: read_set.memory(each) or known.get(each))
    return [name for name in dict.fromkeys(wanted) if name not in known]


def _members_met(
    new: Memory, slot: SlotLog, memory_of: Callable[[str], Memory | None]
) -> list[str]:
    """The ids of the members that a new memory may repeat or contradict.

    `memory_of` gives the members that were read.
    """
    holding = slot.timeline.at(statement_in(slot, new).met_at) if is_retraction(new) else []
    names = [interval.memory_id for interval in holding]
    truths = [truth for name in names if (truth := memory_of(name)) is not None]
    judgement = _in_slot(with_whole_value(new, truths), slot)
    if judgement is not None and judgement.old_id is not None:
        names += [judgement.old_id, *judgement.rivals]
    return names


def naming_what_holds(page: ChangeSet, new: Memory) -> Memory:
    """Complete a retraction by the memories of its slot that hold when its validity begins.

    Args:
        page: The change set of the commit.
        new: A new memory; one that is no retraction stays as it is.

    """
    slot = page.slot(new)
    if slot is None or not is_retraction(new):
        return new
    holding = slot.timeline.at(statement_in(slot, new).met_at)
    names = dict.fromkeys(interval.memory_id for interval in holding)
    return with_whole_value(new, [page.found(name) for name in names])


def with_whole_value(new: Memory, truths: Sequence[Memory]) -> Memory:
    """Complete a retraction that names the retracted value in short.

    For example, "no longer Skoda" becomes the end of the grey Skoda Octavia that holds then. If it
    names words of the only truth, which has no value, it becomes the end of whatever holds then.
    Any other memory stays as it is.

    Args:
        new: A new memory of a slot.
        truths: The members that hold when its validity begins.

    """
    if not is_retraction(new) or new.value == RETRACTS_ANYTHING:
        return new
    if any(retracts(new, truth) for truth in truths):
        is_alone = len(truths) == 1 and truths[0].value is None
        return new.changed(value=RETRACTS_ANYTHING) if is_alone else new
    named = [
        truth.value
        for truth in truths
        if isinstance(truth.value, str) and is_named_short(new, truth)
    ]
    return new.changed(value=retraction_of(named[0])) if len(named) == 1 else new


def _uncertain(new: Memory, near: Neighbour, told_apart: frozenset[str] | None) -> Judgement | None:
    """The verdict that a new memory may contradict a neighbour without a common slot.

    `told_apart` are the differences of near-equal texts.
    """
    if told_apart and told_apart <= MAY_CONTRADICT:
        reason = f"near-equal, but different in {' and '.join(sorted(told_apart))}"
    elif (ground := contradiction(near.memory.content, new.content)) is not None:
        reason = f"about the same, but different in {ground}"
    elif (changed := changed_by(near.memory, new)) is not None:
        reason = changed
    else:
        return None
    return Judgement(Verdict.CONTRADICTS, near.memory.id, near.memory, near.similarity, 0.5, reason)


def repeated(new: Memory | Statement, slot: SlotLog) -> Interval | Statement | None:
    """What a new memory of a slot only repeats; None for another statement.

    That is the interval of its value that holds at its start. If the value begins just where the
    new memory would end, the new memory tells an earlier start of it, unless this takes time from
    another value.

    Args:
        new: The memory, or what it states.
        slot: The log of its slot.

    """
    statement = statement_in(slot, new)
    if isinstance(statement, Retraction):
        return _same_retraction(statement, slot)
    same = [each for each in slot.timeline.intervals if each.value == statement.value]
    holding = [each for each in same if each.covers(statement.met_at)]
    if holding or not same or statement.valid_until is not None:
        return holding[-1] if holding else None
    alone = replace(statement, memory_id=f"~{statement.memory_id}")  # a key's values share an id
    after = slot.added(says(alone))
    if with_other_validity(slot, after):
        return None
    ends = [each.ends for each in after.timeline.intervals if each.key == alone.key]
    return next((each for each in same if each.begins in ends), None)


def _in_slot(new: Memory, slot: SlotLog) -> Judgement | None:
    """The verdict of the slot.

    None if no value holds when the new memory's validity begins, and none begins later.
    """
    statement, same = statement_in(slot, new), repeated(new, slot)
    if same is not None:
        reason = "same slot, same value"
        return Judgement(Verdict.SAME, same.memory_id, version=same.version, reason=reason)
    later = [each for each in slot.timeline.intervals if each.lasts_beyond(statement.met_at)]
    if not later:
        return None
    holding = slot.timeline.at(statement.met_at)
    old = max(holding, key=lambda each: each.order, default=later[0])
    rivals = {interval.memory_id for interval in holding}
    rivals |= with_other_validity(slot, slot.added(says(new)))
    names = dict.fromkeys(each.memory_id for each in later if each.memory_id in rivals)
    reason = "same slot, other value or time"
    return Judgement(Verdict.CONTRADICTS, old.memory_id, reason=reason, rivals=tuple(names))


def with_other_validity(before: SlotLog, after: SlotLog) -> set[str]:
    """The ids of members whose validity differs in the other log.

    Args:
        before: The log of a slot.
        after: The same log with more entries.

    """
    return {
        name
        for name, row in before.rows.items()
        if (new := after.rows.get(name)) is None
        or (row.valid_from, row.valid_until) != (new.valid_from, new.valid_until)
    }


def _same_retraction(retraction: Retraction, slot: SlotLog) -> Statement | None:
    """An earlier retraction of the value, after which the value was not asserted again.

    It is the same statement, unless it was deleted.
    """
    about = [
        statement
        for statement in slot.account.statements
        if statement.order < retraction.order
        and (
            statement.value == retraction.value
            or (retraction.value is None and isinstance(statement, Assertion))
        )
    ]
    last = about[-1] if about else None
    is_same = isinstance(last, Retraction) and last.place not in slot.account.hidden_at
    return last if is_same else None


def _told_at_once(new: Memory, old: Memory) -> bool:
    """Whether one message tells both: then the one is not news of the other."""
    return (
        new.cell_id is not None
        and new.cell_id == old.cell_id
        and new.event_timestamp == old.event_timestamp
    )


def _names_others(new: Memory, old: Memory) -> bool:
    """Whether a new memory has other entities than the old memory.

    They would be lost if the new memory were taken as the same.
    """
    entities = [frozenset(name.casefold() for name in memory.entities) for memory in (new, old)]
    return all(entities) and entities[0] != entities[1]


# What is done when a new memory contradicts one that is held: supersede, keep both,
# reject the new one, or merge.
#
# Every way leaves a conflict record. In a slot a strategy says no more than what is added to its
# log; who holds when follows from that. Note: a memory without a slot has no log. What replaces it,
# or is merged with it, is written to both at once.
