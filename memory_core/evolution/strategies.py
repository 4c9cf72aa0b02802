"""What is done when a new memory contradicts one that is held: supersede, keep both, reject the new one, or merge.

Every way leaves a conflict record. The order of truth is event time, not arrival: a fact that arrives late is stored already
superseded, between its predecessor and its successor in the slot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory_core.domain.chunks import joint_vector
from memory_core.domain.conflict import MAX_OPEN, ConflictRecord
from memory_core.domain.endings import is_ending
from memory_core.domain.indexing import with_lexical
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import MAX_CONTENT_BYTES, Link, Memory, OnConflict, Outcome, Status
from memory_core.domain.versions import is_version
from memory_core.evolution.decide import Judgement
from memory_core.evolution.overlap import without_overlap
from memory_core.evolution.tellings import ended, first_telling, following, interrupted, kept, next_telling, preceding, tellings
from memory_core.evolution.truth_line import MAX_REPLACED, SPLIT, joined, superseded_by, time_of_its_own
from memory_core.ledger.changes import Change
from memory_core.ledger.ids import derived

MERGE_SHARE = 0.6
"""A merge whose text would pass this share of the content cap keeps both and links them instead."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """What to commit, and what to answer: the outcome, the id of the memory that stands for it, the record.

    besides: the record of others that it replaced, while `conflict` is about one that stands.
    """

    outcome: Outcome
    memory_id: str
    changes: tuple[Change, ...]
    conflict: ConflictRecord | None = None
    besides: ConflictRecord | None = None

    @property
    def records(self) -> tuple[ConflictRecord, ...]:
        """What is to be stored of it."""
        return tuple(one for one in (self.conflict, self.besides) if one is not None)


def resolve(new: Memory, judgement: Judgement, on_conflict: OnConflict, now: datetime) -> Resolution:
    """Apply the caller's strategy; `auto` supersedes what a rule is certain of and keeps both, pending, otherwise.

    What somebody pinned by hand falls to nothing but an explicit `supersede` or `merge`: `auto` leaves it, and a person decides.
    """
    if on_conflict is OnConflict.AUTO:
        if judgement.certain and (pinned := _pinned_in_the_way(new, judgement)):
            return _beside_pinned(new, judgement, pinned, now)
        on_conflict = OnConflict.SUPERSEDE if judgement.certain else OnConflict.KEEP_BOTH
        pending = not judgement.certain and len(_old(judgement).conflict_ids) < MAX_OPEN
    else:
        pending = False
    if on_conflict is OnConflict.SUPERSEDE:
        return _supersede(new, judgement, now)
    if on_conflict is OnConflict.REJECT_NEW:
        return _reject(new, judgement, now)
    if on_conflict is OnConflict.MERGE and _fits(new, judgement):
        return _merge(new, judgement, now)
    made = _keep_both(new, judgement, now, pending=pending)
    return replace(made, changes=tuple(without_overlap(made.changes, judgement.truths)))


def begun(new: Memory, truths: Sequence[Memory], now: datetime, before: Memory | None = None) -> list[Change]:
    """What a memory changes that contradicts none that stands: in a slot with a past it is history where others were told later.

    truths: that past. before: the memory as it was, deleted, where it begins anew.
    """
    if interrupted(new, truths) is not None:
        placed, changes = joined(new, truths, now)
        return without_overlap(in_order(Change("created", placed, before), *changes), truths)
    later = following(new, truths)
    kept = new if later is None else superseded_by(new, later, now).model_copy(update={"updated_at": new.updated_at})
    return without_overlap([Change("created", kept, before)], truths)


def _pinned_in_the_way(new: Memory, judgement: Judgement) -> list[Memory]:
    """The pinned truths that would fall, or would have been interrupted; none where the new one only adds to the past."""
    if (held := interrupted(new, judgement.truths)) is not None:
        return [held] if held.pinned and held.status in FOUND_BY_DEFAULT else []
    if following(new, judgement.truths) is not None:
        return []
    return [one for one in judgement.truths if one.pinned and one.status in FOUND_BY_DEFAULT]


def _beside_pinned(new: Memory, judgement: Judgement, pinned: list[Memory], now: datetime) -> Resolution:
    """`new` takes the place of whoever else stands in the slot, and stays beside what is pinned until somebody decides."""
    others = tuple(one for one in judgement.truths if one not in pinned)
    standing = [one for one in others if one.status in FOUND_BY_DEFAULT]
    among = Resolution(Outcome.CREATED, new.id, (Change("created", new),))
    if standing:
        among = _supersede(new, replace(judgement, old=standing[0], truths=others), now)
    made = next(change.after for change in among.changes if change.after.id == new.id)
    if made.status not in FOUND_BY_DEFAULT:
        return among
    because = f"{judgement.reason}; the held one is pinned"
    kept_both = _keep_both(made, replace(judgement, old=pinned[0], reason=because), now, pending=True)
    rest = tuple(change for change in among.changes if change.after.id != new.id)
    return replace(kept_both, changes=(*kept_both.changes, *rest), besides=among.conflict)


def _record(new: Memory, judgement: Judgement, strategy: str, now: datetime, *, pending: bool = False, kept: bool = True) -> ConflictRecord:
    old = _old(judgement)
    return ConflictRecord(
        id=derived("cft", old.id, new.id),
        status="pending" if pending else "resolved",
        similarity=None if judgement.similarity is None else round(judgement.similarity, 6),
        confidence=judgement.confidence,
        strategy=strategy,
        reason=judgement.reason,
        old_id=old.id,
        new_id=new.id if kept else None,
        at=now,
    )


def _supersede(new: Memory, judgement: Judgement, now: datetime) -> Resolution:
    made = _in_its_place(new, judgement, now)
    return replace(made, changes=tuple(without_overlap(made.changes, judgement.truths)))


def _in_its_place(new: Memory, judgement: Judgement, now: datetime) -> Resolution:
    record = _record(new, judgement, "supersede", now)
    if any(is_ending(one) or is_version(one.id) for one in (new, *judgement.truths)):
        return _join(new, judgement, record, now)
    if (held := interrupted(new, judgement.truths)) is not None:
        return _interrupt(new, judgement, held, record, now)
    if (later := following(new, judgement.truths)) is not None:
        return _insert_late(new, judgement, later, record, now)
    replaced = [truth for truth in judgement.truths if truth.status in FOUND_BY_DEFAULT][:MAX_REPLACED]
    new = new.model_copy(update={"supersedes_id": _old(judgement).id, "conflict_state": "resolved"})
    changes = [Change("created", new)]
    changes += [Change("superseded", superseded_by(old, new, now), old, {"conflict_id": record.id}) for old in replaced]
    return Resolution(Outcome.SUPERSEDED, new.id, tuple(changes), record)


def _join(new: Memory, judgement: Judgement, record: ConflictRecord, now: datetime) -> Resolution:
    """One of them says that a truth has ended, or was edited since: which falls, and what holds, their whole line says."""
    placed, changes = joined(new, judgement.truths, now)
    changes = [replace(change, metadata={"conflict_id": record.id}) for change in changes[:MAX_REPLACED]]
    if placed.status not in FOUND_BY_DEFAULT:
        record = record.model_copy(update={"reason": f"{record.reason}; another holds, or came later"})
    fell = placed.status in FOUND_BY_DEFAULT and any(change.event_type == "superseded" for change in changes)
    outcome = Outcome.SUPERSEDED if fell else Outcome.CREATED
    return Resolution(outcome, placed.id, tuple(in_order(Change("created", placed), *changes)), record)


def in_order(*changes: Change) -> list[Change]:
    """The changes, first those that split off what was before: of two that were told at once, the one written first was."""
    return sorted(changes, key=lambda change: change.event_type != SPLIT)


def _insert_late(new: Memory, judgement: Judgement, successor: Memory, record: ConflictRecord, now: datetime) -> Resolution:
    """`new` is older than the truth in force: it is history on arrival, between a predecessor and the successor that now follows it."""
    late = superseded_by(new, successor, now).model_copy(update={"updated_at": new.updated_at, "conflict_state": "resolved"})
    changes = []
    before_it = [one for one in preceding(successor, judgement.truths) if first_telling(one) <= new.event_timestamp][:MAX_REPLACED]
    if before_it:
        late = late.model_copy(update={"supersedes_id": before_it[0].id})
    for one in before_it:
        ends = ended(one, late.valid_from).model_copy(update={"next_id": late.id})
        changes.append(Change("superseded", ends, one, {"conflict_id": record.id}))
    follows = successor.model_copy(update={"supersedes_id": late.id})
    changes.append(Change("preceded", follows, successor, {"conflict_id": record.id}))
    return Resolution(Outcome.CREATED, late.id, (Change("created", late), *changes), _about_earlier(record))


def _interrupt(new: Memory, judgement: Judgement, held: Memory, record: ConflictRecord, now: datetime) -> Resolution:
    """`new` held between two tellings of one truth: that one, under its id, holds again from its next telling, and what it was before
    `new` is history of its own.
    """
    again = next_telling(held, new.event_timestamp) or held.event_timestamp
    told = tellings(held)
    until = [moment for moment in told if moment <= new.event_timestamp]
    ends = None if held.valid_until is None else max(held.valid_until, again)
    from_then = {"valid_from": again, "valid_until": ends, "told_at": kept(moment for moment in told if moment >= again)}
    resumed = held.model_copy(update={**from_then, "supersedes_id": new.id})
    before = superseded_by(time_of_its_own(held, until, new, now), new, now)
    late = superseded_by(new, resumed, now).model_copy(update={"updated_at": new.updated_at, "supersedes_id": before.id})
    changes = in_order(Change("created", late), Change(SPLIT, before), Change("preceded", resumed, held, {"conflict_id": record.id}))
    for one in preceding(held, judgement.truths)[:MAX_REPLACED]:
        changes.append(Change("superseded", one.model_copy(update={"next_id": before.id}), one, {"conflict_id": record.id}))
    return Resolution(Outcome.CREATED, late.id, tuple(changes), _about_earlier(record))


def _about_earlier(record: ConflictRecord) -> ConflictRecord:
    return record.model_copy(update={"reason": f"{record.reason}; the new one is about an earlier time"})


def _reject(new: Memory, judgement: Judgement, now: datetime) -> Resolution:
    old = _old(judgement)
    record = _record(new, judgement, "reject_new", now, kept=False)
    kept = old.model_copy(update={"conflict_state": "resolved"})
    return Resolution(Outcome.REJECTED, old.id, (Change("rejected", kept, old, {"conflict_id": record.id}),), record)


def _keep_both(new: Memory, judgement: Judgement, now: datetime, *, pending: bool) -> Resolution:
    old, state = _old(judgement), "pending" if pending else "resolved"
    record = _record(new, judgement, "keep_both", now, pending=pending)
    similarity = judgement.similarity or 0.0
    link = Link(
        memory_id=old.id,
        similarity_score=round(similarity, 6),
        composite_score=round(similarity, 6),
        link_strength=round(similarity, 6),
        relationship_type="contradicts",
    )
    new = new.model_copy(update={"conflict_state": state, "links": [*new.links, link]})
    marked = old.model_copy(update={"conflict_state": state})
    return Resolution(
        Outcome.KEPT_BOTH, new.id, (Change("created", new), Change("conflict_marked", marked, old, {"conflict_id": record.id})), record
    )


def _fits(new: Memory, judgement: Judgement) -> bool:
    both = len(new.content.encode()) + len(_old(judgement).content.encode()) + 1
    return both <= MERGE_SHARE * MAX_CONTENT_BYTES


def _merge(new: Memory, judgement: Judgement, now: datetime) -> Resolution:
    """One text with both statements, oldest first. Its vector is that of a text of two chunks.

    Its time is that of the later one, or a truth told between the two would follow it, and lead back to it.
    """
    old = _old(judgement)
    record = _record(new, judgement, "merge", now)
    first, second = sorted((old, new), key=lambda memory: memory.event_timestamp)
    content = f"{first.content}\n{second.content}"
    tags = list(dict.fromkeys([*old.tags, *new.tags]))[:50]
    merged = new.model_copy(
        update={
            "content": content,
            "value": None,
            "value_text": None,
            "tags": tags,
            "entities": list(dict.fromkeys([*old.entities, *new.entities]))[:50],
            "source_ids": [old.id],
            "event_timestamp": second.event_timestamp,
            "valid_from": max(old.valid_from, new.valid_from),
            "valid_until": latest_end(old, new),
            "supersedes_id": old.id,
            "conflict_state": "resolved",
            "embedding": joint_vector(first, second),
        }
    )
    updated = {
        "status": Status.UPDATED,
        "status_reason": "consolidated",
        "next_id": new.id,
        "updated_at": now,
        "conflict_state": "resolved",
    }
    into = [*old.consolidated_into_ids, new.id]
    retired = ended(old, merged.valid_from).model_copy(update={**updated, "consolidated_into_ids": into})
    changes = (Change("created", with_lexical(merged)), Change("merged", retired, old, {"conflict_id": record.id}))
    return Resolution(Outcome.MERGED, new.id, changes, record)


def latest_end(old: Memory, new: Memory) -> datetime | None:
    """When a memory that says both ends: with the later of the two, if both end."""
    ends = [one.valid_until for one in (old, new) if one.valid_until is not None]
    return max(ends) if len(ends) == 2 else None


def _old(judgement: Judgement) -> Memory:
    if judgement.old is None:
        raise ValueError("a contradiction names the memory that it contradicts")
    return judgement.old
