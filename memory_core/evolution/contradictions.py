"""Apply the verdict that a new memory contradicts existing memories, by the caller's strategy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory_core.domain.conflict import MAX_OPEN, RULE, ConflictRecord
from memory_core.domain.memory import Link, Memory, OnConflict, Outcome, Status
from memory_core.domain.transitions import ConflictState, mark_conflict
from memory_core.domain.truth.slots import are_of_one_slot
from memory_core.evolution.changeset import ChangeSet
from memory_core.evolution.decisions import merges
from memory_core.evolution.judgements import (
    Judgement,
    SaveRules,
    Verdict,
    judge,
    with_other_validity,
)
from memory_core.evolution.slot_log import SlotLog
from memory_core.evolution.succession import (
    MAX_JOINED_BYTES,
    joined,
    joined_length,
    moves_of,
    succeeded,
)
from memory_core.evolution.truth_commands import says, statement_in
from memory_core.ledger.changes import Change
from memory_core.ledger.ids import derived
from memory_core.ledger.read_set import ReadSet


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

    @property
    def records(self) -> tuple[ConflictRecord, ...]:
        """The records to store."""
        return (self.conflict,) if self.besides is None else (self.conflict, self.besides)


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
        first: One of them.
        second: The other one.

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
    for record in resolution.records:
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
    return _keep_both(met, _holding(met), pending=False)


def _holding(met: Contradiction) -> list[Memory]:
    """The memories that hold when the new memory's validity begins."""
    if met.slot is None:
        return [met.old]
    moment = statement_in(met.slot, met.new).met_at
    holding = {interval.memory_id for interval in met.slot.timeline.at(moment)}
    return [rival for rival in met.rivals if rival.id in holding] or [met.old]


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
    met: Contradiction,
    old: Memory,
    strategy: str,
    *,
    pending: bool = False,
    is_stored: bool = True,
    because: str = "",
) -> ConflictRecord:
    judgement, denied = met.judgement, met.denied.get(old.id) if pending else None
    sides = (old.id, met.new.id if is_stored else None)
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
    """Whether a new memory tells of an earlier time than the one beside it.

    Then it is the old side of their conflict. In a slot the sides are who was held and who came,
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
    after = met.slot.added(says(new))
    ended = _no_longer_active(met, met.slot, after)
    if not ended:
        record = record.changed(reason=f"{record.reason}; another holds, or came later")
    outcome = Outcome.SUPERSEDED if ended and new.id in after.active() else Outcome.CREATED
    created = Change("created", mark_conflict(new, "resolved"), met.before)
    return Resolution(outcome, new.id, (created,), record)


def _no_longer_active(met: Contradiction, before: SlotLog, after: SlotLog) -> list[Memory]:
    """The rivals that are active by the first log, and not by the second."""
    gone = before.active() - after.active()
    return [rival for rival in met.rivals if rival.id in gone]


def _reject(met: Contradiction) -> Resolution:
    """Reject the new memory, if another value holds when its validity begins."""
    if met.slot is not None and not met.slot.timeline.at(met.new.valid_from):
        return _supersede_held(met)
    record = _record(met, met.old, "reject_new", is_stored=False)
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
    names = [memory.id for memory in beside] if met.slot is not None else []
    act = says(new, beside=names, conflict_id=record.id)
    created = Change("created", new, met.before, says=act)
    marked = Change("conflict_marked", mark_conflict(old, state), old)
    besides = None
    if met.slot is not None:
        ended = _no_longer_active(met, met.slot, met.slot.added(act))
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
