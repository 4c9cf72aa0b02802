"""Changes by hand: a new version, a status, a deletion, a copy for another agent.

Each reads the memory, checks, and commits against the head it read; If-Match names the revision that the caller saw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn, cast

from memory_core.domain.errors import Conflict, FieldError, Invalid, NotFound, PreconditionFailed
from memory_core.domain.indexing import with_lexical
from memory_core.domain.lifecycle import BY_HAND, FOUND_BY_DEFAULT, back_in_use
from memory_core.domain.messages import is_message
from memory_core.domain.models import Memory, MemoryType, Status
from memory_core.domain.requests import NEVER_CLEARED, CopyInput, UpdateInput
from memory_core.domain.results import Call, Deleted
from memory_core.domain.scope import Owner
from memory_core.domain.slots import slot_of
from memory_core.domain.value import text_of_value
from memory_core.domain.worth import most_lasting, worth_of
from memory_core.evolution.along import Along, changes_along, count_along, gone_along
from memory_core.evolution.apart import set_apart
from memory_core.evolution.entering import around, entered, enters, leaves, renamed
from memory_core.evolution.key_line import key_of
from memory_core.evolution.leaving import left
from memory_core.evolution.old_versions import Versions
from memory_core.evolution.overlap import overruling, without_overlap
from memory_core.evolution.page import Page
from memory_core.evolution.ruled import LookedElsewhere
from memory_core.evolution.unmerge import NoteUnmerger
from memory_core.evolution.versions import end_versions, new_version
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger, Look
from memory_core.ledger.ids import derived, session_document_id
from memory_core.ledger.mirror import Mirror
from memory_core.ledger.receipts import earlier_result, receipt, receipt_id
from memory_core.ledger.sessions import Session
from memory_core.ports import Clock, Document, Embedder, Near

_IN_USE = FOUND_BY_DEFAULT | {Status.DECAYED}
"""Statuses of what may be edited and copied: what has faded comes back by it."""
_TEXT_FIELDS = frozenset({"content", "subject", "attribute", "tags", "category", "event_timestamp"})
"""Fields that a memory is found by: changing one means analysing it again."""
_STATEMENT = ("content", "value")
"""Fields that say something: who changes one, or the slot that it is about, says something else, and says it now."""


@dataclass(frozen=True, slots=True)
class _Edit:
    """What one edit commits, and the id of the memory that answers. pending: how many conflicts it leaves to be decided.

    outcome: the word for what was done, where the answer has one.
    """

    memory_id: str
    changes: tuple[Change, ...] = ()
    puts: tuple[Document, ...] = ()
    pending: int = 0
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class _Committed:
    """The memory that answers an edit, and the word for what was done."""

    memory: Memory
    outcome: str | None


class Editor:
    """Edits memories of any owner."""

    def __init__(self, ledger: Ledger, mirror: Mirror, embedder: Embedder, unmerger: NoteUnmerger, clock: Clock) -> None:
        self._ledger, self._mirror, self._embedder, self._clock = ledger, mirror, embedder, clock
        self._unmerger = unmerger
        self._along = Along(ledger, mirror)

    async def update(self, owner: Owner, memory_id: str, change: UpdateInput, if_match: str | None, call: Call) -> Memory:
        """The next version. Raises PreconditionFailed, Conflict (episodic, or not current), NotFound."""
        look = await self._ledger.look(owner, _with_receipt([memory_id], owner, call))
        vector = None
        if earlier_result(look.documents, owner, call) is None:
            fields = _changed_fields(_editable(look, memory_id, if_match), change)
            if "content" in fields:
                vector = (await self._embedder.embed([fields["content"]]))[0]

        def decide(seen: Look) -> _Edit:
            old = _editable(seen, memory_id, if_match)
            if around(old, change) != nears:
                raise LookedElsewhere
            now = self._clock.now()
            wanted = _changed_fields(old, change)
            wanted |= _when_said(old, wanted, now)
            if old.status is Status.COMPRESSED and "content" in wanted:
                wanted |= {"status": Status.ACTIVE, "archival_location": None}
            if old.status is Status.DECAYED:
                wanted |= back_in_use(now)
            if wanted.get("status", old.status) is Status.ACTIVE:
                wanted |= {"status_reason": "manual_update"}
            updated, kept = new_version(old, wanted, now, Versions(seen, ids))
            if updated.valid_until is not None and updated.valid_until <= updated.valid_from:
                message = f"must be later than valid_from, which is {updated.valid_from.isoformat()} for the new version"
                raise Invalid("the validity is empty", errors=(FieldError("valid_until", message),))
            if _TEXT_FIELDS & wanted.keys():
                updated = with_lexical(updated)
            if vector is not None:
                updated.embedding = vector
            edit = Change("updated", updated, old, {"change_reason": change.change_reason})
            page = Page(owner, seen, now, weighs=False, puts={one.id: one for one in kept}, asked=ids)
            return _placed(page, edit, _others(seen, memory_id))

        ids, basis = [memory_id], cast("Look | None", look)
        while True:
            nears = around(_present(look, memory_id), change)
            try:
                return (await self._commit(owner, ids, decide, call, None if nears else basis, nears)).memory
            except LookedElsewhere as needs:  # a correction of the past: versions before the last one end with it; or it is elsewhere now
                ids, basis = [*ids, *needs.wanted], None
                look = look if needs.wanted else await self._ledger.look(owner, [memory_id])

    async def delete(self, owner: Owner, memory_id: str, call: Call, *, reason: str | None = None, if_match: str | None = None) -> Deleted:
        """Soft-delete, of a cell its messages too; one that is deleted already answers as it is.

        Raises NotFound; PreconditionFailed for another ETag.
        """
        look, along = await self._ledger.look(owner, _with_receipt([memory_id], owner, call)), list[str]()
        memory = _present(look, memory_id)
        if earlier_result(look.documents, owner, call) is None and memory.status is not Status.DELETED:
            if if_match is not None:
                _check_match(memory, if_match)
            along = await self._along.ahead(owner, memory, call, gone_along, self._clock.now())
            if memory.category == "note" and memory.next_id is not None:
                await self._unmerger.unmerge_sources(owner, [memory], call)
                if_match = None  # it was compared; the memory may have changed by this very call since

        def decide(seen: Look) -> _Edit:
            memory = _present(seen, memory_id)
            if if_match is not None:
                _check_match(memory, if_match)
            if memory.status is Status.DELETED:
                return _Edit(memory_id, outcome="already_deleted")
            gone = _deleted(memory, reason, self._clock.now())
            change = Change("deleted", gone, memory, {"reason": reason})
            others = changes_along(seen, along, memory, gone_along, self._clock.now())
            return _Edit(memory_id, (change, *others), self._session(owner, seen, memory, gone, others), outcome="deleted")

        committed = await self._commit(owner, [*_ids_of(owner, memory), *along], decide, call)
        return Deleted(committed.memory, "already_deleted" if committed.outcome == "already_deleted" else "deleted")

    async def refuse_status(self, owner: Owner, memory_id: str) -> NoReturn:
        """Raises Conflict, naming the statuses that a caller may set; NotFound where there is no such memory."""
        memory = _present(await self._ledger.look(owner, [memory_id]), memory_id)
        message = f"a memory that is {memory.status.value} can be set by hand to: {', '.join(BY_HAND)}"
        raise Conflict(message, errors=(FieldError("status", message),))

    async def copy(self, owner: Owner, memory_id: str, to: CopyInput, call: Call) -> Memory:
        """A copy for another agent; copying the same revision twice gives the same copy. Raises Conflict, NotFound."""

        def decide(seen: Look) -> _Edit:
            source = _present(seen, memory_id)
            if source.status not in _IN_USE:
                raise Conflict(f"a memory that is {source.status.value} can't be copied")
            if source.agent_id == to.to_agent_id:
                raise Invalid("nothing to copy", errors=(FieldError("to_agent_id", "is the agent that the memory belongs to"),))
            identity = derived("mem", "copy", memory_id, str(source.revision), to.to_agent_id)
            held = seen.memory(identity)
            if held is not None and held.status is not Status.DELETED:
                return _Edit(identity)
            now = self._clock.now()
            made = {"id": identity, "agent_id": to.to_agent_id, "copied_from": memory_id, "created_at": now, "updated_at": now}
            fresh = {"version": 1, "status": Status.ACTIVE, "status_reason": "created", "links": [], "supersedes_id": None, "sequence": 0}
            fresh |= {"last_accessed_at": None}
            fresh |= {"conflict_state": "none", "conflict_ids": [], **({"cell_id": None} if is_message(memory_id) else {})}
            lexical = source.lexical.model_copy(update={"turn": None})
            copied = source.model_copy(update={**made, **fresh, "lexical": lexical, "correlation_id": call.correlation_id})
            change = Change("copied", copied, held, {"copied_from": memory_id})
            return _Edit(identity, (change,), self._session(owner, seen, held, copied))

        look = await self._ledger.look(owner, [memory_id])
        source = _present(look, memory_id)
        identity = derived("mem", "copy", memory_id, str(source.revision), to.to_agent_id)
        return (await self._commit(owner, [*_ids_of(owner, source), identity], decide, call)).memory

    async def _commit(
        self,
        owner: Owner,
        ids: list[str],
        decide: Callable[[Look], _Edit],
        call: Call,
        basis: Look | None = None,
        nears: Sequence[Near] = (),
    ) -> _Committed:
        def decided(seen: Look) -> Changes[tuple[str, Memory | None, str | None]]:
            earlier = earlier_result(seen.documents, owner, call)
            if earlier is not None:
                return Changes((earlier["memory_id"], None, earlier.get("outcome")))
            edit = decide(seen)
            outcome = {"outcome": edit.outcome} if edit.outcome is not None else {}
            creates = receipt(owner, call, self._clock.now(), {"memory_id": edit.memory_id, **outcome})
            reads, types = frozenset({*ids, edit.memory_id}), frozenset(kind for near in nears for kind in near.types)
            return Changes(
                (edit.memory_id, seen.memory(edit.memory_id), edit.outcome),
                edit.changes,
                edit.puts,
                creates,
                reads,
                _sessions_of(edit),
                types,
                head_fields=lambda head: {"pending_count": head.pending_count + edit.pending},
            )

        committed = await self._ledger.commit(owner, decided, ids=_with_receipt(ids, owner, call), nears=nears, basis=basis, call=call)
        await self._mirror.follow(owner, committed)
        memory_id, unchanged, outcome = committed.result
        answer = committed.memories.get(memory_id) or unchanged
        return _Committed(answer or _present(await self._ledger.look(owner, [memory_id]), memory_id), outcome)

    def _session(
        self, owner: Owner, seen: Look, before: Memory | None, after: Memory, others: Sequence[Change] = ()
    ) -> tuple[Document, ...]:
        if after.session_id is None:
            return ()
        session = Session(owner, after.session_id, seen.documents.get(session_document_id(owner, after.session_id)))
        session.count(before, after, self._clock.now())
        if after.status is Status.DELETED:
            session.forget_turn(after)
        count_along(session, others, self._clock.now())
        return (session.document,)


def _with_receipt(ids: list[str], owner: Owner, call: Call) -> list[str]:
    identity = receipt_id(owner, call)
    return [*ids, *([identity] if identity else [])]


def _ids_of(owner: Owner, memory: Memory) -> list[str]:
    return [memory.id, *([session_document_id(owner, memory.session_id)] if memory.session_id else [])]


def _others(look: Look, memory_id: str) -> list[Memory]:
    """The other truths of the slot that was looked at."""
    return [one.memory for near in look.near for one in near if one.memory.id != memory_id]


def _sessions_of(edit: _Edit) -> frozenset[str]:
    return frozenset(change.after.session_id for change in edit.changes if change.after.session_id and edit.puts)


def _present(look: Look, memory_id: str) -> Memory:
    memory = look.memory(memory_id)
    if memory is None:
        raise NotFound("no memory of this id for this user")
    return memory


def _editable(look: Look, memory_id: str, if_match: str | None) -> Memory:
    memory = _present(look, memory_id)
    if if_match is None:
        raise PreconditionFailed(f"an update needs If-Match with the memory's ETag; the current one is {memory.etag}")
    _check_match(memory, if_match)
    if memory.type is MemoryType.EPISODIC:
        raise Conflict("an episodic memory says what happened and is never edited; save what is true now as a semantic one")
    if memory.status not in _IN_USE:
        raise Conflict(f"a memory that is {memory.status.value} can't be updated")
    return memory


def _check_match(memory: Memory, if_match: str) -> None:
    tags = {tag.strip().removeprefix("W/") for tag in if_match.split(",")}
    if "*" not in tags and memory.etag not in tags:
        deletion = ": it is deleted" if memory.status is Status.DELETED else ""
        raise PreconditionFailed(f"If-Match does not name the memory as it is now{deletion}; its current ETag is {memory.etag}")


def _placed(page: Page, edit: Change, others: Sequence[Memory]) -> _Edit:
    """An edit, with what it does to others of its slot: those of the past, if it says that it held before, and all in a slot that is new
    to it. Raises LookedElsewhere for what was not read.
    """
    old, new = edit.before, edit.after
    assert old is not None
    if slot_of(old) != slot_of(new) and new.type is MemoryType.SEMANTIC:
        here = [one for one in others if slot_of(new) is not None and slot_of(one) == slot_of(new)]
        if leaves(old, new):
            edit = left(page, edit, [one for one in others if one not in here])
        entered(page, edit, here)
    else:
        earlier = new.valid_from < old.valid_from
        page.apply(without_overlap([edit, *overruling(new, (others or page.before(old)) if earlier else [])], others))
        if earlier and key_of(new) is not None:
            set_apart(page, [old, *others])
    end_versions(page, page.asked)
    if unread := page.unread_sessions(page.asked):
        raise LookedElsewhere(unread)
    puts = (*page.puts.values(), *(session.document for session in page.sessions.values()))
    return _Edit(new.id, tuple(page.changes), puts, page.pending)


def _changed_fields(old: Memory, change: UpdateInput) -> dict[str, Any]:
    """The fields to set on the memory. Null means: clear it, where a memory may be without it."""
    given = {name: getattr(change, name) for name in change.model_fields_set}
    importance = given.pop("importance", None)
    if importance is not None:
        given |= {"importance_base": importance, "importance_basis": "given"}
    for name in NEVER_CLEARED:
        if name in given and given[name] is None:
            raise Invalid(f"{name} can't be cleared", errors=(FieldError(name, "can't be null"),))
    subject, attribute = given.get("subject", old.subject), given.get("attribute", old.attribute)
    if (subject is None) != (attribute is None):
        missing = "attribute" if attribute is None else "subject"
        raise Invalid("half a slot", errors=(FieldError(missing, "subject and attribute name a slot together; give both or neither"),))
    if "value" in given:
        given["value_text"] = text_of_value(given["value"])
        if "content" not in given and old.key is not None:
            if given["value"] is None:
                raise Invalid("nothing would be left", errors=(FieldError("value", "can't be null unless content is given too"),))
            given["content"] = f"{old.key}: {given['value_text']}"
    if given.get("content") is not None:
        given["worth"] = most_lasting([old.worth, worth_of(given["content"])])
    given.setdefault("change_reason", None)
    return given


def _when_said(old: Memory, wanted: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """An edit that says something else is a statement of now, or of when it is said to be true from: what was told before does not undo it.

    Nothing for one that only corrects when a truth ended, which is still about that time.
    """
    says = any(name in wanted and wanted[name] != getattr(old, name) for name in _STATEMENT) or enters(old, renamed(old, wanted))
    until, begins = wanted.get("valid_until"), wanted.get("valid_from")
    if not says or (begins is None and until is not None and until <= now):
        return {}
    return {"event_timestamp": begins or now, "told_at": []}


def _deleted(memory: Memory, reason: str | None, now: datetime) -> Memory:
    gone = {"status": Status.DELETED, "status_reason": "manual_delete", "change_reason": reason, "updated_at": now}
    return memory.model_copy(update=gone)
