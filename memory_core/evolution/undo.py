"""Undoing a replacement: what was superseded holds again, and what took its place turns out never to have held.

One would get wrong: the loser of an undo does not become `superseded`. That says that it was true for a while, and a truth that arrives
late would be put in order beside it. It is `deleted` as `contradicted`, valid at no moment, and leads on to what holds again; so the chain
still ends in one truth, and nobody walks in a circle. So it is with what had been overtaken in between, too: a past that was true while
something else was would answer for it, and what is told late of that time would be put in order before it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from memory_core.domain.archival import is_cold
from memory_core.domain.errors import Conflict, FieldError, NotFound
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT, allowed
from memory_core.domain.models import AtomicFact, Memory, Status
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.domain.slots import slot_of
from memory_core.domain.versions import cut_short, is_version, version_id
from memory_core.evolution.apart import apart
from memory_core.evolution.key_line import key_of, line_nears, truths_of
from memory_core.evolution.marks import told_in
from memory_core.evolution.old_versions import Versions
from memory_core.evolution.overlap import without_overlap
from memory_core.evolution.pairs import document_of, pair_ids
from memory_core.evolution.restore import beside
from memory_core.evolution.ruled import LookedElsewhere
from memory_core.evolution.tellings import first_telling
from memory_core.evolution.versions import MAX_CHANGED, holding_again, with_versions
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger, Look
from memory_core.ledger.ids import procedure_id, session_document_id
from memory_core.ledger.mirror import Mirror
from memory_core.ledger.receipts import earlier_result, receipt, receipt_id
from memory_core.ledger.sessions import Session
from memory_core.ports import Clock, Document

MAX_FALLING = 4
"""Truths of one slot that may have to fall; more than one stand there only while their conflicts wait."""
MAX_OVERTAKEN = 12
"""Truths told since, overtaken themselves, that fall with them: each is two documents of a commit's hundred, and its session's."""
MAX_MARKED = 20
"""Cells and notes that learn of it: each is two documents of the commit's hundred."""


@dataclass(frozen=True, slots=True)
class _Undone:
    """What an undo commits. falling: what took its place. puts: old versions that it changes, the record of two that are left.

    opened: how many questions are open then that were not.
    """

    changes: tuple[Change, ...]
    falling: tuple[Memory, ...] = ()
    puts: tuple[Document, ...] = ()
    opened: int = 0


class Undo:
    """Undoes replacements, for any owner."""

    def __init__(self, ledger: Ledger, mirror: Mirror, clock: Clock) -> None:
        self._ledger, self._mirror, self._clock = ledger, mirror, clock

    async def undo(self, owner: Owner, memory_id: str, reason: str, call: Call) -> Memory:
        """Let a superseded memory hold again, or one that was merged stand beside what it was merged into. One that holds stays as it is.

        Raises NotFound; Conflict, naming what is allowed, for one that nothing replaced.
        """
        while True:
            with suppress(LookedElsewhere):  # it has another version since
                return await self._undo(owner, memory_id, reason, call)

    async def _undo(self, owner: Owner, memory_id: str, reason: str, call: Call) -> Memory:
        receipts = [name for name in [receipt_id(owner, call)] if name is not None]
        first = await self._ledger.look(owner, [memory_id, *receipts])
        memory = _present(first, memory_id)
        if earlier_result(first.documents, owner, call) is not None:
            return memory  # what it did then may be refused by now
        nears = line_nears(memory)
        keyed = [procedure_id(memory.key)] if memory.key is not None else []
        look = await self._ledger.look(owner, [memory_id, *([memory.next_id] if memory.next_id else []), *keyed], nears)
        others = _others(look, memory)
        tellers = [name for one in (memory, *others) for name in told_in(one)]
        sessions = [session_document_id(owner, one.session_id) for one in others if one.session_id]
        names = [memory_id, *(one.id for one in others), *tellers, *sessions, *keyed]
        names += [name for one in others for name in pair_ids(one.id, memory_id)]
        versioned = [memory, *others, *_successor(look, memory), *(truths_of(look).values() if key_of(memory) is not None else ())]
        names += [version_id(one.id, number) for one in versioned for number in range(1, one.version)]
        if memory.next_id:
            names.append(memory.next_id)
        names += receipts

        def decide(seen: Look) -> Changes[Memory]:
            held = _present(seen, memory_id)
            if earlier_result(seen.documents, owner, call) is not None:
                return Changes(held)
            if held.status in FOUND_BY_DEFAULT:  # somebody else was faster
                return Changes(held, creates=receipt(owner, call, self._clock.now(), {"memory_id": held.id}))
            undone = self._decided(seen, held, reason, Versions(seen, names))
            if not {session_document_id(owner, one.session_id) for one in undone.falling if one.session_id} <= {*names}:
                raise LookedElsewhere
            changes = self._changes(owner, seen, held, undone, call, frozenset(names))
            return replace(changes, types=frozenset(kind for near in nears for kind in near.types))

        committed = await self._ledger.commit(owner, decide, ids=list(dict.fromkeys(names)), nears=nears, call=call)
        await self._mirror.follow(owner, committed)
        return committed.memories.get(memory_id) or committed.result

    def _decided(self, seen: Look, memory: Memory, reason: str, older: Versions) -> _Undone:
        if memory.status not in (Status.SUPERSEDED, Status.UPDATED) or is_cold(memory):
            choices = ", ".join(sorted(status.value for status in allowed(memory.status)))
            message = f"a memory that is {memory.status.value} was replaced by none; it may become: {choices}"
            raise Conflict(message, errors=(FieldError("status", message),))
        now, standing = self._clock.now(), _others(seen, memory)
        if memory.status is Status.UPDATED:
            back = _back(memory, (), reason, now)
            rivals = [one for one in _standing(seen, memory) if slot_of(one) is not None and slot_of(one) == slot_of(memory)]
            if not rivals:
                return _Undone((Change("restored", back, memory, {"reason": reason}),))
            pending = beside(rivals[0], back, memory, reason, now, seen.documents)
            assert pending.conflict is not None
            return _Undone(pending.changes, puts=(document_of(pending.conflict, seen.documents),), opened=pending.opened)
        begun = {one.valid_from for held in (*_successor(seen, memory), *standing) for one in (held, *older.before(held))}
        back = _back(memory, begun, reason, now)
        fallen = tuple(_fallen(one, back, {other.id for other in standing}, now) for one in standing)
        changes = [Change("restored", back, memory, {"reason": reason})]
        changes += [Change("contradicted", after, before, {"reason": "undone"}) for after, before in zip(fallen, standing, strict=True)]
        changes += [Change("superseded", after, before, {"reason": "undone"}) for before, after in _longer(seen, back, standing)]
        again, others = holding_again(back, begun, older), [one for one in truths_of(seen).values() if one.id != back.id]
        if key_of(memory) is None:
            changes = without_overlap(changes, [*others, *older.before(memory)], again)
        puts = list[Document]()
        changes[0] = with_versions(changes[0], again, puts)
        for place, one in enumerate(fallen, start=1):
            since = [version for version in older.before(one) if key_of(memory) is None or _place(version) > _place(memory)]
            never = [cut_short(version, version.valid_from) for version in since]
            changes[place] = with_versions(changes[place], [version for version in never if version is not None], puts)
        if key_of(memory) is not None:
            _check_room(puts)
            left = truths_of(seen) | {change.after.id: change.after for change in changes}
            more, ends = apart(left.values(), older.with_pending(puts))
            changes, puts = [*changes, *more], [*({one.id: one for one in (*puts, *ends)}).values()]
        return _Undone((*changes, *_told(seen, back, fallen)), tuple(standing), tuple(puts))

    def _changes(self, owner: Owner, seen: Look, held: Memory, undone: _Undone, call: Call, reads: frozenset[str]) -> Changes[Memory]:
        now, sessions = self._clock.now(), dict[str, Session]()
        for one in undone.falling:
            if one.session_id is not None:
                name = one.session_id
                found = seen.documents.get(session_document_id(owner, name))
                sessions.setdefault(name, Session(owner, name, found)).drop(one, now)
        puts = [session.document for session in sessions.values()]
        puts += undone.puts
        return Changes(
            held,
            undone.changes,
            tuple(puts),
            receipt(owner, call, now, {"memory_id": held.id}),
            reads,
            frozenset(sessions),
            head_fields=lambda head: {"pending_count": head.pending_count + undone.opened},
        )


def _check_room(puts: Sequence[Document]) -> None:
    if len(puts) >= MAX_CHANGED:
        message = f"{MAX_CHANGED} old versions or more of what was told of this key since would fall with it; restore a later value before"
        raise Conflict(message, errors=(FieldError("status", message),))


def _present(look: Look, memory_id: str) -> Memory:
    memory = look.memory(memory_id)
    if memory is None:
        raise NotFound("no memory of this id for this user")
    return memory


def _standing(look: Look, memory: Memory) -> list[Memory]:
    """What stands in the memory's place: in its slot, under its key, or right after it in the chain."""
    found = truths_of(look)
    keyed = None if memory.key is None else look.memory(procedure_id(memory.key))
    found = {one.id: one for one in (*_successor(look, memory), *([keyed] if keyed is not None else []))} | found
    standing = [one for one in found.values() if one.status in FOUND_BY_DEFAULT and one.id != memory.id]
    return sorted(standing, key=lambda one: (one.event_timestamp, one.sequence), reverse=True)[:MAX_FALLING]


def _others(look: Look, memory: Memory) -> list[Memory]:
    """What falls when the memory holds again: what stands in its place, and what was told in its slot since and is overtaken itself."""
    if memory.status is not Status.SUPERSEDED or not line_nears(memory):
        return _standing(look, memory)
    past = [one for one in truths_of(look).values() if one.status is Status.SUPERSEDED and one.id != memory.id]
    since = [one for one in past if not is_version(one.id) and _place(one) > _place(memory)]
    if len(since) > MAX_OVERTAKEN:
        nearest = max(since, key=_place)
        place = "slot" if key_of(memory) is None else "key"
        message = f"more than {MAX_OVERTAKEN} truths of this {place} were overtaken since; restore a later one before, such as {nearest.id}"
        raise Conflict(message, errors=(FieldError("status", message),))
    return [*_standing(look, memory), *sorted(since, key=_place, reverse=True)]


def _longer(look: Look, back: Memory, falling: Sequence[Memory]) -> list[tuple[Memory, Memory]]:
    """Of what held before a memory, what ended where one began that falls now: it ends where the next begins that stays.

    One of those that come to hold again counts as the next for what was told before it.
    """
    gone = {back.id, *(one.id for one in falling)}
    stays = [one for one in truths_of(look).values() if one.id not in gone and one.status is Status.SUPERSEDED]
    begins = [(_place(one), one.valid_from) for one in (back, *stays) if one is back or one.valid_until != one.valid_from]
    longer = []
    for one in sorted(stays, key=_place, reverse=True):
        if is_version(one.id) or _place(one) > _place(back) or one.valid_until not in {max(f.valid_from, one.valid_from) for f in falling}:
            continue
        until = min(moment for place, moment in begins if place > _place(one))
        if until > one.valid_until:
            longer.append((one, one.model_copy(update={"valid_until": until})))
            begins.append((_place(one), one.valid_from))
    return longer[:MAX_OVERTAKEN]


def _place(memory: Memory) -> tuple[datetime, int]:
    return first_telling(memory), memory.sequence


def _successor(look: Look, memory: Memory) -> list[Memory]:
    """What comes right after it in the chain, if that is there."""
    found = None if memory.next_id is None else look.memory(memory.next_id)
    return [] if found is None else [found]


def _back(memory: Memory, begun: Collection[datetime], reason: str, now: datetime) -> Memory:
    """It holds again from where it began; its end goes, unless it had its own. begun: when what replaced it began, each version of it."""
    ended_by_it = not begun or memory.valid_until in {memory.valid_from, *(max(one, memory.valid_from) for one in begun)}
    return memory.model_copy(
        update={
            "status": Status.ACTIVE,
            "status_reason": "restored",
            "change_reason": reason,
            "next_id": None,
            "valid_until": None if ended_by_it else memory.valid_until,
            "updated_at": now,
            "last_accessed_at": now,
        }
    )


def _fallen(one: Memory, back: Memory, falling: Collection[str], now: datetime) -> Memory:
    return one.model_copy(
        update={
            "status": Status.DELETED,
            "status_reason": "contradicted",
            "next_id": one.next_id if one.next_id in falling else back.id,
            "supersedes_id": None if one.supersedes_id == back.id else one.supersedes_id,
            "valid_until": one.valid_from,
            "conflict_state": "resolved",
            "updated_at": now,
        }
    )


def _told(seen: Look, back: Memory, fallen: Sequence[Memory]) -> list[Change]:
    """The cells and notes that told them learn which of their facts holds again, and which fell."""
    by_fact: dict[str, str | None] = {back.id: None, **{one.id: back.id for one in fallen}}
    texts = {one.id: one.content for one in fallen}
    changes: list[Change] = []
    for name in dict.fromkeys(name for one in (back, *fallen) for name in told_in(one)):
        told = seen.memory(name)
        if told is None or is_cold(told) or told.id in by_fact:
            continue
        marked = _marked(told, by_fact, {one.id: texts[one.id] for one in fallen if name in told_in(one)})
        if marked != told.atomic_facts:
            changes.append(Change("fact_superseded", told.model_copy(update={"atomic_facts": marked}), told))
    return changes[:MAX_MARKED]


def _marked(told: Memory, by_fact: Mapping[str, str | None], texts: Mapping[str, str]) -> list[AtomicFact]:
    is_note = told.category == "note"
    facts = [
        one.model_copy(update={"superseded_by": by_fact[one.fact_id]}) if one.fact_id is not None and one.fact_id in by_fact else one
        for one in told.atomic_facts
    ]
    if not is_note:
        return facts
    known = {one.fact_id for one in facts}
    more = [AtomicFact(text=text, fact_id=name, superseded_by=by_fact[name]) for name, text in texts.items() if name not in known]
    return [*(one for one in facts if one.superseded_by is not None), *more]
