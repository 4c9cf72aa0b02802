"""Compare a new memory with existing memories, and apply the verdict.

Only a slot gives a certain contradiction: the same subject and attribute with another value. Texts
about the same thing that exclude each other, by a negation, an opposite, another number, time or
value, are an uncertain contradiction. Texts that differ in any other way are two statements.

On a contradiction, the new memory supersedes the old one, both are kept, the new one is rejected,
or they are merged. Each leaves a conflict record. In a slot it says no more than what is added to
the log; which memory holds when follows from that. Note: a memory without a slot has no log, so its
successor is written to both memories at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from memory_core.domain.conflict import MAX_OPEN, RULE, ConflictRecord
from memory_core.domain.memory import Link, Memory, OnConflict, Outcome, Status
from memory_core.domain.text.sameness import differences, normalised
from memory_core.domain.transitions import FOUND_BY_DEFAULT, ConflictState, mark_conflict
from memory_core.domain.truth.entries import Assertion, Retraction, Statement
from memory_core.domain.truth.slots import (
    RETRACTS_ANYTHING,
    SlotName,
    are_of_one_slot,
    is_named_short,
    is_retraction,
    retraction_of,
    retracts,
    slot_name,
    slot_of,
)
from memory_core.domain.truth.timeline import Interval
from memory_core.evolution.changeset import ChangeSet
from memory_core.evolution.decisions import merges
from memory_core.evolution.opinions import contradiction_by_rule
from memory_core.evolution.slot_log import Act, SlotLog, documents_of
from memory_core.evolution.succession import (
    MAX_JOINED_BYTES,
    joined,
    joined_length,
    moves_of,
    over,
    succeeded,
)
from memory_core.evolution.truth_commands import says, statement_in
from memory_core.ledger.changes import Change
from memory_core.ledger.ids import derived
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
        if unread := read_set.unread(documents_of(name)):
            wanted += unread
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
    names = _holding(new, slot) if is_retraction(new) else []
    truths = [truth for name in names if (truth := memory_of(name)) is not None]
    judgement = _in_slot(_with_whole_value(new, truths), slot)
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
    return _with_whole_value(new, [page.found(name) for name in _holding(new, slot)])


def _holding(new: Memory, slot: SlotLog) -> list[str]:
    """The ids of the members that hold when the validity of a new memory begins."""
    holding = slot.timeline.at(statement_in(slot, new).met_at)
    return [*dict.fromkeys(interval.memory_id for interval in holding)]


def _with_whole_value(new: Memory, truths: Sequence[Memory]) -> Memory:
    """Complete a retraction that names the retracted value in short.

    For example, "no longer Skoda" becomes the end of the grey Skoda Octavia that holds then. If it
    names words of the only truth, which has no value, it becomes the end of whatever holds then.
    Any other memory stays as it is. `truths` are the members that hold when its validity begins.
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
    reason = contradiction_by_rule(near.memory, new, told_apart)
    if reason is None:
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
    """Whether the same message tells both, so that neither is news."""
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


@dataclass(frozen=True, slots=True)
class Resolution:
    """The changes and the answer for a contradiction.

    Attributes:
        outcome: Outcome for the caller.
        memory_id: Id of the memory that answers the save.
        changes: Changes to commit.
        conflict: Its record.
        besides: The record about another memory that was superseded, while `conflict` is about a
            memory that coexists.
        disputed: Whether it is left to a person because an agent and the rules disagree.

    """

    outcome: Outcome
    memory_id: str
    changes: tuple[Change, ...]
    conflict: ConflictRecord
    besides: ConflictRecord | None = None
    disputed: bool = False


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A new memory and the memory that it contradicts.

    Attributes:
        new: The new memory.
        old: The contradicted memory.
        judgement: The verdict.
        now: The present time.
        slot: The log of their slot; None if they have no slot.
        rivals: As in `Judgement`.
        before: The new memory as it was before, deleted; None for a new id.
        denied: By the ids of existing memories, an agent's reason against the contradiction.

    """

    new: Memory
    old: Memory
    judgement: Judgement
    now: datetime
    slot: SlotLog | None = None
    rivals: Sequence[Memory] = ()
    before: Memory | None = None
    denied: Mapping[str, str] = field(default_factory=dict)


def met_by_edit(edited: Memory, read_set: ReadSet, rules: SaveRules) -> Judgement | None:
    """The verdict that an edit without a slot may contradict a neighbour.

    Args:
        edited: The memory as edited.
        read_set: The read set, with its neighbours.
        rules: The thresholds.

    """
    near = [each for each in read_set.near.get(edited.id, ()) if each.memory.id != edited.id]
    judgement = judge(edited, near, rules.duplicate_threshold)
    return judgement if judgement.verdict is Verdict.CONTRADICTS else None


def records_between(first: Memory, second: Memory) -> list[str]:
    """The ids that a record about two memories may have.

    Args:
        first: A memory.
        second: The other memory.

    """
    pairs = ((first.id, second.id), (second.id, first.id))
    return [derived("cft", old_id, new_id) for old_id, new_id in pairs]


def asked_by_edit(
    edit: Change, judgement: Judgement | None, read_set: ReadSet, now: datetime
) -> tuple[tuple[Change, ...], tuple[ConflictRecord, ...]]:
    """The changes of an edit, and the record of the conflict it opens.

    Two memories about which a record exists are not asked about again.

    Args:
        edit: The edit.
        judgement: As `met_by_edit` gives it.
        read_set: The read set, with the records about the two memories.
        now: The present time.

    """
    edited, before = edit.after, edit.before
    old = None if judgement is None else judgement.old
    if judgement is None or old is None or before is None:
        return (edit,), ()
    if any(name in read_set.documents for name in records_between(old, edited)):
        return (edit,), ()
    met = Contradiction(edited, old, judgement, now, before=before)
    done = resolve(met, OnConflict.AUTO)
    if not done.conflict.open or len(edited.conflict_ids) >= MAX_OPEN:
        return (edit,), ()
    created, *others = done.changes
    return (replace(edit, after=created.after), *others), (done.conflict,)


def contradict(
    page: ChangeSet,
    new: Memory,
    judgement: Judgement,
    on_conflict: OnConflict,
    actor: str,
    before: Memory | None = None,
    denied: Callable[[Memory], str | None] = lambda old: None,
) -> Resolution:
    """Apply a contradiction to the change set.

    Args:
        page: The change set.
        new: The new memory.
        judgement: The verdict on it.
        on_conflict: The strategy that the caller wants.
        actor: The caller, or the agent that denies.
        before: The new memory as it was before, deleted; None for a new id.
        denied: Gives an agent's reason against the contradiction of an existing memory, or None.

    """
    old, rivals = judgement.old, [page.found(name) for name in judgement.rivals]
    assert old is not None
    reasons = {each.id: why for each in (old, *rivals) if (why := denied(each)) is not None}
    met = Contradiction(new, old, judgement, page.now, page.slot(new), rivals, before, reasons)
    resolution = resolve(met, on_conflict, actor)
    page.apply(resolution.changes)
    for record in filter(None, (resolution.conflict, resolution.besides)):
        page.record(record)
    return resolution


def resolve(met: Contradiction, on_conflict: OnConflict, actor: str = RULE) -> Resolution:
    """Apply the caller's strategy to a contradiction.

    `auto` supersedes if a rule is certain; otherwise both memories coexist, and the conflict is
    pending. A pinned memory is superseded only by an explicit `supersede` or `merge`: with `auto` a
    person decides. The same applies to a memory for which an agent denies the contradiction. Every
    event names the record, and the record tells how to undo it.

    Args:
        met: The contradiction.
        on_conflict: The strategy.
        actor: The caller that named the strategy, or the agent that denies.

    """
    resolution = _resolution_of(met, on_conflict)
    record = resolution.conflict
    changes = tuple(
        replace(change, metadata={"conflict_id": record.id, **change.metadata})
        for change in resolution.changes
    )
    by = actor if on_conflict is not OnConflict.AUTO or resolution.disputed else RULE
    done = record.changed(by=by, moves=[] if record.open else moves_of(changes, met.new))
    return replace(resolution, changes=changes, conflict=done)


def _resolution_of(met: Contradiction, on_conflict: OnConflict) -> Resolution:
    if on_conflict is OnConflict.AUTO:
        certain = met.judgement.certain
        if stays := _stays_by_hand(met) if certain else [met.old]:
            first, disputed = stays[0], stays[0].id in met.denied
            pending = len(first.conflict_ids) < MAX_OPEN or (certain and not disputed)
            because = "; the held one is pinned" if certain and first.pinned else ""
            resolution = _keep_both(met, stays, pending=pending, because=because)
            return replace(resolution, disputed=disputed)
        on_conflict = OnConflict.SUPERSEDE
    if on_conflict is OnConflict.SUPERSEDE:
        return _supersede_held(met)
    if on_conflict is OnConflict.REJECT_NEW:
        return _reject(met)
    if on_conflict is OnConflict.MERGE and joined_length(met.old, met.new) <= MAX_JOINED_BYTES:
        return _merge(met)
    names = () if met.slot is None else _holding(met.new, met.slot)
    holding = [rival for rival in met.rivals if rival.id in names]
    return _keep_both(met, holding or [met.old], pending=False)


def _stays_by_hand(met: Contradiction) -> list[Memory]:
    """Truths of the slot that would end earlier, but need a person's decision.

    They are pinned, or an agent says that they can be true beside the new memory.
    """
    asked_about = [rival for rival in met.rivals if rival.pinned or rival.id in met.denied]
    if met.slot is None or not asked_about:
        return []
    taken = with_other_validity(met.slot, met.slot.added(says(met.new)))
    return [rival for rival in asked_about if rival.id in taken]


def _record(
    met: Contradiction, old: Memory, strategy: str, *, pending: bool = False, because: str = ""
) -> ConflictRecord:
    judgement, denied = met.judgement, met.denied.get(old.id) if pending else None
    sides = (old.id, met.new.id)
    if is_told_late(met.new, old) and strategy == "keep_both":
        sides = (met.new.id, old.id)
    return ConflictRecord(
        id=derived("cft", old.id, met.new.id),
        status="pending" if pending else "resolved",
        similarity=None if judgement.similarity is None else round(judgement.similarity, 6),
        confidence=judgement.confidence,
        strategy=strategy,
        reason="; ".join(filter(None, (f"{judgement.reason}{because}", denied))),
        old_id=sides[0],
        new_id=sides[1],
        at=met.now,
    )


def is_told_late(new: Memory, old: Memory) -> bool:
    """Whether a new memory tells of an earlier time than the memory beside it.

    Then it is the old side of their conflict. In a slot the old side is the memory that was held,
    since the log decides when each holds.

    Args:
        new: The memory that came.
        old: The memory that was held.

    """
    return not are_of_one_slot(old, new) and new.event_timestamp < old.event_timestamp


def _supersede_held(met: Contradiction) -> Resolution:
    new, old = met.new, met.old
    record = _record(met, old, "supersede")
    if met.slot is None:
        made = mark_conflict(new, "resolved", supersedes_id=old.id)
        superseded = succeeded(old, new, Status.SUPERSEDED, record.id, met.now)
        changes = (Change("created", made, met.before), superseded)
        return Resolution(Outcome.SUPERSEDED, new.id, changes, record)
    ended = _no_longer_active(met, says(new))
    if not ended:
        record = record.changed(reason=f"{record.reason}; another holds, or came later")
    is_active = new.id in met.slot.added(says(new)).active()
    outcome = Outcome.SUPERSEDED if ended and is_active else Outcome.CREATED
    created = Change("created", mark_conflict(new, "resolved"), met.before)
    return Resolution(outcome, new.id, (created,), record)


def _no_longer_active(met: Contradiction, act: Act) -> list[Memory]:
    """The rivals that are active, and not after an act on their slot."""
    gone = met.slot.active() - met.slot.added(act).active() if met.slot is not None else ()
    return [rival for rival in met.rivals if rival.id in gone]


def _reject(met: Contradiction) -> Resolution:
    """Reject the new memory, if another value holds when its validity begins."""
    if met.slot is not None and not met.slot.timeline.at(met.new.valid_from):
        return _supersede_held(met)
    record = _record(met, met.old, "reject_new").changed(new_id=None)
    rejected = Change("rejected", mark_conflict(met.old, "resolved"), met.old)
    return Resolution(Outcome.REJECTED, met.old.id, (rejected,), record)


def _keep_both(
    met: Contradiction, beside: Sequence[Memory], *, pending: bool, because: str = ""
) -> Resolution:
    old = beside[0]
    state: ConflictState = "pending" if pending else "resolved"
    record = _record(met, old, "keep_both", pending=pending, because=because)
    score = round(met.judgement.similarity or 0.0, 6)
    link = Link(
        memory_id=old.id,
        similarity_score=score,
        composite_score=score,
        link_strength=score,
        relationship_type="contradicts",
    )
    new = mark_conflict(met.new, state, links=[*met.new.links, link])
    act = says(new, beside=[memory.id for memory in beside], conflict_id=record.id)
    created = Change("created", new, met.before, says=act)
    marked = Change("conflict_marked", mark_conflict(old, state), old)
    ended = _no_longer_active(met, act)
    besides = _record(met, ended[0], "supersede") if ended else None
    return Resolution(Outcome.KEPT_BOTH, new.id, (created, marked), record, besides)


def _merge(met: Contradiction) -> Resolution:
    """Merge both statements into a single text."""
    new, old = met.new, met.old
    record = _record(met, old, "merge")
    merged = joined(old, new, {"source_ids": [old.id]})
    act = merges([old.id], merged, record.id, at_save=True)
    created = Change("created", merged, met.before, says=act)
    merging = succeeded(
        old, merged, Status.UPDATED, record.id, met.now, leaves_slot=met.slot is None
    )
    return Resolution(Outcome.MERGED, new.id, (created, merging), record)
