"""Say whether a statement is the same as one that is held, contradicts one, or is new;
and what is done then.

Certain is only what a slot says: one subject and attribute with another value. Texts about one
thing that exclude each other, by a negation, an opposite, another number, time or value, are an
uncertain contradiction; those that differ in anything else are two statements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from memory_core.domain.conflict import MAX_OPEN, RULE, ConflictRecord
from memory_core.domain.memory import FOUND_BY_DEFAULT, Link, Memory, OnConflict, Outcome, Status
from memory_core.domain.statements.contradictions import contradiction
from memory_core.domain.text.sameness import differences, normalised
from memory_core.domain.transitions import ConflictState, mark_conflict
from memory_core.domain.truth.entries import Assertion, Retraction, Statement
from memory_core.domain.truth.slots import slot_of
from memory_core.domain.truth.timeline import Interval
from memory_core.evolution.changeset import ChangeSet
from memory_core.evolution.decision_commands import merges
from memory_core.evolution.opinions import MAY_CONTRADICT, changed_by
from memory_core.evolution.slot_log import SlotLog
from memory_core.evolution.succession import (
    MAX_JOINED_BYTES,
    joined,
    joined_length,
    moves_of,
    over,
    succeeded,
)
from memory_core.evolution.truth_commands import says, statement_in
from memory_core.ledger.batch import Change
from memory_core.ledger.ids import derived
from memory_core.ports import Neighbour

_TOLD_AGAIN = FOUND_BY_DEFAULT | {Status.DECAYED}
"""A memory that has faded comes back where it is told again. It contradicts nothing:
by itself it is not offered any more.
"""


class Verdict(StrEnum):
    """What a new memory is to what is held."""

    NEW = "new"
    SAME = "same"
    CONTRADICTS = "contradicts"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and its grounds.

    old_id: the memory that says the same, or that is contradicted. old: the memory itself, where it
    is a neighbour. version: which version of it says the same. rivals: ids of all in the slot that
    hold then, or whose time it takes.
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
    """The verdict on `new` by its slot and its neighbours, as a commit in the making leaves these.

    Returns:
        The verdict, with the memory that it is about. What is in the archive says nothing again.

    Raises:
        LookedElsewhere: more has to be read.

    """
    judgement = judge(new, page.neighbours(new, near), duplicate_threshold, page.slot(new))
    if judgement.old_id is None:
        return judgement
    old = judgement.old or page.found(judgement.old_id)
    if judgement.verdict is Verdict.SAME and old.status is Status.ARCHIVED:
        return Judgement(Verdict.NEW)
    return replace(judgement, old=old)


def judge(
    new: Memory,
    neighbours: Sequence[Neighbour],
    duplicate_threshold: float,
    slot: SlotLog | None = None,
) -> Judgement:
    """The verdict on `new` against its neighbours, nearest first.

    Args:
        new: what is said.
        neighbours: what is held, in its state of now, nearest first.
        duplicate_threshold: the similarity from which on two texts may say the same.
        slot: the log of its slot, if it is in one. The log alone decides whether a member there
            says the same or another thing.

    Returns:
        The verdict. Of a truth that is said again, the version that holds.

    """
    if slot is not None and (judgement := _in_slot(new, slot)) is not None:
        near = (near for near in neighbours if near.memory.id == judgement.old_id)
        return replace(judgement, similarity=next((each.similarity for each in near), None))
    own = slot_of(new)
    uncertain: Judgement | None = None
    for neighbour in neighbours:
        old, similarity = neighbour.memory, neighbour.similarity
        if (
            old.status not in _TOLD_AGAIN
            or (own is not None and slot_of(old) is not None)
            or over(old, new)
            or _says_more(new, old)
        ):
            continue
        reason, told_apart = "same words", None
        if normalised(old.content) != normalised(new.content):
            reason = "near-equal, no difference that counts"
            if similarity >= duplicate_threshold:
                told_apart = differences(old.content, new.content)
            if told_apart != frozenset():
                if uncertain is None and old.status in FOUND_BY_DEFAULT:
                    uncertain = _uncertain(new, neighbour, told_apart)
                continue
        return Judgement(Verdict.SAME, old.id, old, similarity, reason=reason)
    return uncertain or Judgement(Verdict.NEW)


def _uncertain(new: Memory, near: Neighbour, told_apart: frozenset[str] | None) -> Judgement | None:
    """Whether the new one may contradict a neighbour that no slot settles. told_apart: what tells
    them apart, where they are near-equal.
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


def _in_slot(new: Memory, slot: SlotLog) -> Judgement | None:
    """The verdict of the slot; None where nothing holds there when the new one begins,
    nor is announced.
    """
    statement = statement_in(slot, new)
    holding = slot.timeline.at(statement.met_at)
    same: Interval | Statement | None = next(
        (interval for interval in reversed(holding) if interval.value == statement.value), None
    )
    if isinstance(statement, Retraction):
        same = _same_retraction(statement, slot)
    if same is not None:
        reason = "same slot, same value"
        return Judgement(Verdict.SAME, same.memory_id, version=same.version, reason=reason)
    later = [each for each in slot.timeline.intervals if each.lasts_beyond(statement.met_at)]
    if not later:
        return None
    old = max(holding, key=lambda each: each.order, default=later[0])
    rivals = {interval.memory_id for interval in holding}
    rivals |= _changed(slot, slot.added(says(new)))
    names = dict.fromkeys(each.memory_id for each in later if each.memory_id in rivals)
    reason = "same slot, other value or time"
    return Judgement(Verdict.CONTRADICTS, old.memory_id, reason=reason, rivals=tuple(names))


def _changed(before: SlotLog, after: SlotLog) -> set[str]:
    """The members that hold at other times by another log."""
    return {
        name
        for name, row in before.rows.items()
        if (new := after.rows.get(name)) is None
        or (row.valid_from, row.valid_until) != (new.valid_from, new.valid_until)
    }


def _same_retraction(retraction: Retraction, slot: SlotLog) -> Statement | None:
    """An earlier retraction of the value, since when that value was not said again: it is the same
    statement, unless it was deleted.
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


def _says_more(new: Memory, old: Memory) -> bool:
    """Whether the new one has, beside its words, a value or entities that the old one has not,
    and that would be lost in it.
    """
    entities = [frozenset(name.casefold() for name in memory.entities) for memory in (new, old)]
    return (new.value is not None and new.value != old.value) or (
        all(entities) and entities[0] != entities[1]
    )


# What is done when a new memory contradicts one that is held: supersede, keep both,
# reject the new one, or merge.
#
# Every way leaves a conflict record. In a slot a strategy says no more than what is added to its
# log; who holds when follows from that. Note: a memory without a slot has no log. What replaces it,
# or is merged with it, is written to both at once.


@dataclass(frozen=True, slots=True)
class Resolution:
    """What to commit, and what to answer: the outcome, the id of the memory that stands for it,
    the record.

    besides: the record of another one that it replaced, while `conflict` is about one that stays
    beside it. disputed: whether it is left to a person because an agent says otherwise
    than the rules.
    """

    outcome: Outcome
    memory_id: str
    changes: tuple[Change, ...]
    conflict: ConflictRecord
    besides: ConflictRecord | None = None
    disputed: bool = False

    @property
    def records(self) -> tuple[ConflictRecord, ...]:
        """What is to be stored of it."""
        return (self.conflict,) if self.besides is None else (self.conflict, self.besides)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A new memory and the one that it contradicts.

    slot: the log of their slot; None where they are in none. rivals: as in `Judgement`. before: the
    new memory as it was, deleted, where it begins again. denied: by the ids of held ones, what an
    agent says against it.
    """

    new: Memory
    old: Memory
    judgement: Judgement
    now: datetime
    slot: SlotLog | None = None
    rivals: Sequence[Memory] = ()
    before: Memory | None = None
    denied: Mapping[str, str] = field(default_factory=dict)


def contradict(
    page: ChangeSet,
    new: Memory,
    judgement: Judgement,
    on_conflict: OnConflict,
    actor: str,
    before: Memory | None = None,
    denied: Callable[[Memory], str | None] = lambda old: None,
) -> Resolution:
    """Put onto the page what is done about a memory that contradicts what is held.

    Args:
        page: the commit in the making.
        new: the memory.
        judgement: the verdict on it.
        on_conflict: what the caller wants done.
        actor: the caller, or the agent that denies.
        before: the new memory as it was, deleted, where it begins again.
        denied: what an agent says against it, of one that is held.

    """
    old, rivals = judgement.old, page.all_of(judgement.rivals)
    assert old is not None
    reasons = {each.id: why for each in (old, *rivals) if (why := denied(each)) is not None}
    met = Contradiction(new, old, judgement, page.now, page.slot(new), rivals, before, reasons)
    resolution = resolve(met, on_conflict, actor)
    page.apply(resolution.changes)
    for record in resolution.records:
        page.record(record)
    return resolution


def resolve(met: Contradiction, on_conflict: OnConflict, actor: str = RULE) -> Resolution:
    """Apply the caller's strategy; `auto` supersedes what a rule is certain of and keeps both,
    pending, otherwise.

    What is pinned by hand is superseded by nothing but an explicit `supersede` or `merge`: `auto`
    leaves it, and a person decides. So it does with what an agent denies. Every event names the
    record, and the record how to take it back. actor: the caller who named the strategy,
    or the agent that denies.
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
    """Those that hold when the new one begins."""
    if met.slot is None:
        return [met.old]
    moment = statement_in(met.slot, met.new).met_at
    holding = {interval.memory_id for interval in met.slot.timeline.at(moment)}
    return [rival for rival in met.rivals if rival.id in holding] or [met.old]


def _stays_by_hand(met: Contradiction) -> list[Memory]:
    """The truths of the slot that would end earlier than now and are pinned, or that an agent says
    can be true beside the new one.
    """
    asked_about = [rival for rival in met.rivals if rival.pinned or rival.id in met.denied]
    if met.slot is None or not asked_about:
        return []
    taken = _changed(met.slot, met.slot.added(says(met.new)))
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
    return ConflictRecord(
        id=derived("cft", old.id, met.new.id),
        status="pending" if pending else "resolved",
        similarity=None if judgement.similarity is None else round(judgement.similarity, 6),
        confidence=judgement.confidence,
        strategy=strategy,
        reason="; ".join(filter(None, (f"{judgement.reason}{because}", denied))),
        old_id=old.id,
        new_id=met.new.id if is_stored else None,
        at=met.now,
    )


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
    """The rivals that are active by one log, and not by the other."""
    gone = before.active() - after.active()
    return [rival for rival in met.rivals if rival.id in gone]


def _reject(met: Contradiction) -> Resolution:
    """Nothing, where another value holds at the start of the new one."""
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
    created = Change("created", new, met.before, says=act if names else None)
    marked = Change("conflict_marked", mark_conflict(old, state), old)
    besides = None
    if met.slot is not None:
        ended = _no_longer_active(met, met.slot, met.slot.added(act))
        besides = _record(met, ended[0], "supersede") if ended else None
    return Resolution(Outcome.KEPT_BOTH, new.id, (created, marked), record, besides)


def _merge(met: Contradiction) -> Resolution:
    """One text with both statements."""
    new, old = met.new, met.old
    record = _record(met, old, "merge")
    merged = joined(old, new, {"source_ids": [old.id]})
    act = merges([old.id], merged, record.id, at_save=True) if met.slot is not None else None
    created = Change("created", merged, met.before, says=act)
    merging = succeeded(
        old, merged, Status.UPDATED, record.id, met.now, leaves_slot=met.slot is None
    )
    return Resolution(Outcome.MERGED, new.id, (created, merging), record)
