"""Explicit changes: a new version, a status, a deletion, a copy for another agent.

Each change reads the memory, checks it, and commits against the head that it read. If-Match names
the revision that the caller saw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NoReturn

from memory_core.domain.errors import Conflict, FieldError, Invalid, PreconditionFailed
from memory_core.domain.event_log import is_version
from memory_core.domain.memory import Memory, MemoryType, Status, Vector
from memory_core.domain.messages import is_message
from memory_core.domain.ranking.index_terms import with_lexical
from memory_core.domain.requests.memories import CopyInput, UpdateInput
from memory_core.domain.results import Call, Deleted
from memory_core.domain.scope import Owner
from memory_core.domain.text.sameness import normalised
from memory_core.domain.transitions import BY_HAND, FOUND_BY_DEFAULT, delete
from memory_core.domain.truth.slots import slot_name
from memory_core.evolution.deletion import (
    Along,
    NoteUnmerger,
    changes_along,
    count_along,
    gone_along,
)
from memory_core.evolution.edited_memory import (
    changed_fields,
    check_validity,
    edited,
    ended_versions,
    with_status,
)
from memory_core.evolution.judgements import (
    Judgement,
    SaveRules,
    asked_by_edit,
    met_by_edit,
    records_between,
)
from memory_core.evolution.slot_log import old_version_ids
from memory_core.evolution.truth_commands import copies, withdraws
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import NO_SEARCH, Ledger
from memory_core.ledger.ids import derived, session_document_id
from memory_core.ledger.read_set import Reads, ReadSet, no_further
from memory_core.ledger.receipts import Receipt, earlier_result, receipt_ids
from memory_core.ledger.sessions import Session
from memory_core.ports import Clock, Document, Embedder, Near

_IN_USE = FOUND_BY_DEFAULT | {Status.DECAYED}
"""Statuses of memories that may be edited and copied. A faded memory becomes active by that."""
_TEXT_FIELDS = frozenset({"content", "subject", "attribute", "tags", "category", "event_timestamp"})
"""Fields by which a memory is found: if any changes, the memory is analysed again."""


@dataclass(frozen=True, slots=True)
class _Edit:
    """The content of an edit's commit.

    Attributes:
        memory_id: Id of the memory that answers.
        changes: Changes of memories.
        puts: Documents to write.
        pending: How many conflicts become pending.
        outcome: A word for the answer; None if it has none.

    """

    memory_id: str
    changes: tuple[Change, ...] = ()
    puts: tuple[Document, ...] = ()
    pending: int = 0
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class _Update:
    """The next version of a memory, as its commit decides it.

    Attributes:
        memory_id: Id of the memory.
        change: The fields to set.
        if_match: The ETag that the memory must have.
        vector: Vector of the new content; None if it has none.
        rules: When the new content contradicts a neighbour.
        clock: Gives the time of the change.

    """

    memory_id: str
    change: UpdateInput
    if_match: str | None
    vector: Vector | None
    rules: SaveRules
    clock: Clock

    def decide(self, seen: ReadSet) -> _Edit:
        """The changes of the commit, by this read set."""
        old = _editable(seen, self.memory_id, self.if_match)
        now = self.clock.now()
        wanted = with_status(old, changed_fields(old, self.change), now)
        updated, old_versions, says = edited(old, wanted, now)
        if slot_name(old) is None and updated.valid_from < old.valid_from:
            old_versions += ended_versions(seen, old, updated.valid_from)
        check_validity(updated, wanted)
        if _TEXT_FIELDS & wanted.keys():
            updated = with_lexical(updated)
        if self.vector is not None:
            updated.embedding = self.vector
        reason = {"change_reason": self.change.change_reason}
        edit = Change("updated", updated, old, reason, says=says)
        changes, records = asked_by_edit(edit, self._met(updated, seen), seen, now)
        puts = [Document(each.id, "conflict", each.model_dump(mode="json")) for each in records]
        return _Edit(updated.id, changes, (*old_versions, *puts), len(puts))

    def reads(self, seen: ReadSet) -> list[str]:
        """The records about a neighbour that it meets, and versions.

        A correction of the past may end versions before the last one.
        """
        old = seen.memory(self.memory_id)
        if old is None:
            return []
        edited = old.changed(content=self.change.content or old.content)
        met = self._met(edited, seen)
        records = [] if met is None or met.old is None else records_between(met.old, edited)
        begins = self.change.valid_from
        if begins is None or slot_name(old) is not None or begins >= old.valid_from:
            return records
        return [*records, *old_version_ids([old])]

    def _met(self, edited: Memory, seen: ReadSet) -> Judgement | None:
        """The verdict on the words of an edit, if its neighbours were read."""
        is_over = edited.valid_until is not None and edited.valid_until <= self.clock.now()
        if edited.id not in seen.near or is_over:
            return None
        return met_by_edit(edited, seen, self.rules)


@dataclass(frozen=True, slots=True)
class _Committed:
    """The memory that answers an edit, and the word for its outcome."""

    memory: Memory
    outcome: str | None


_RECEIPT: Receipt[tuple[str, Memory | None, str | None]] = Receipt(
    lambda result: {"memory_id": result[0]} | ({"outcome": result[2]} if result[2] else {}),
    lambda earlier, seen: (earlier["memory_id"], None, earlier.get("outcome")),
)


class Editor:
    """Edits memories of any owner."""

    def __init__(
        self,
        ledger: Ledger,
        embedder: Embedder,
        unmerger: NoteUnmerger,
        clock: Clock,
        rules: SaveRules,
    ) -> None:
        self._ledger, self._embedder, self._clock = ledger, embedder, clock
        self._rules = rules
        self._unmerger = unmerger
        self._along = Along(ledger)

    async def update(
        self, owner: Owner, memory_id: str, change: UpdateInput, if_match: str | None, call: Call
    ) -> Memory:
        """Make the next version of a memory.

        New words that may contradict another memory open a conflict, as at a save.

        Args:
            owner: Whose memory it is.
            memory_id: Id of the memory.
            change: The fields to set.
            if_match: The ETag that the memory must have; it is required.
            call: Call with its idempotency key, if any.

        Raises:
            NotFound: The owner has no such memory.
            PreconditionFailed: The memory has another ETag, or `if_match` is None.
            Conflict: The memory is episodic, or its status forbids edits.
            Invalid: A field can't be cleared, a value is too long, the memory would leave its slot,
                or its validity would be empty.
            Unavailable: The store or the embedder is down.

        """
        read_set = await self._ledger.look(owner, [memory_id, *receipt_ids(owner, call)])
        vector, nears = None, dict[str, Near]()
        if earlier_result(read_set.documents, owner, call) is None:
            current = _editable(read_set, memory_id, if_match)
            fields = changed_fields(current, change)
            if "content" in fields and current.searchable:
                vector = (await self._embedder.embed([fields["content"]]))[0]
                if _is_compared(current, fields["content"]):
                    nears = {memory_id: _near(vector, self._rules)}
        update = _Update(memory_id, change, if_match, vector, self._rules, self._clock)
        basis = None if nears else read_set
        return (
            await self._commit(
                owner, [memory_id], update.decide, call, basis, update.reads, nears=nears
            )
        ).memory

    async def delete(
        self,
        owner: Owner,
        memory_id: str,
        call: Call,
        *,
        reason: str | None = None,
        if_match: str | None = None,
        never_so: bool = False,
    ) -> Deleted:
        """Soft-delete a memory; of a cell also its messages.

        A memory that is deleted already is returned as it is.

        Args:
            owner: Whose memory it is.
            memory_id: Id of the memory.
            call: Call with its idempotency key, if any.
            reason: Reason for the events; None for none.
            if_match: The ETag that the memory must have; None for any.
            never_so: Whether a truth of a slot is also withdrawn, as if it had never been asserted.

        Raises:
            NotFound: The owner has no such memory.
            PreconditionFailed: The memory has another ETag.

        """
        read_set, along = (
            await self._ledger.look(owner, [memory_id, *receipt_ids(owner, call)]),
            list[str](),
        )
        earlier = earlier_result(read_set.documents, owner, call)
        memory = read_set.existing_memory(memory_id)
        if earlier is None and memory.status is not Status.DELETED:
            if if_match is not None:
                _check_match(memory, if_match)
            along = await self._along.ahead(owner, memory, call, gone_along, self._clock.now())
            if memory.category == "note" and memory.next_id is not None:
                await self._unmerger.unmerge_sources(owner, [memory], call)
                # it was compared; the memory may have changed by this very call since
                if_match = None

        def decide(seen: ReadSet) -> _Edit:
            memory = seen.existing_memory(memory_id)
            if if_match is not None:
                _check_match(memory, if_match)
            if memory.status is Status.DELETED:
                return _Edit(memory_id, outcome="already_deleted")
            gone = _deleted(memory, reason, self._clock.now())
            change = Change(
                "deleted",
                gone,
                memory,
                {"reason": reason},
                says=withdraws(memory.id) if never_so else None,
            )
            changes_of_messages = changes_along(seen, along, memory, gone_along, self._clock.now())
            return _Edit(
                memory_id,
                (change, *changes_of_messages),
                self._session(owner, seen, memory, gone, changes_of_messages),
                outcome="deleted",
            )

        committed = await self._commit(owner, [*_ids_of(owner, memory), *along], decide, call)
        return Deleted(
            committed.memory,
            "already_deleted" if committed.outcome == "already_deleted" else "deleted",
        )

    async def check_key(self, owner: Owner, calls: Sequence[Call]) -> None:
        """Check the idempotency key of a request with several deletions before the first of them.

        Args:
            owner: Whose memories they are.
            calls: The calls of all deletions that a request may have.

        Raises:
            KeyReused: The key was used for another request.

        """
        names = [name for call in calls for name in receipt_ids(owner, call)]
        if names:
            read_set = await self._ledger.look(owner, names)
            for call in calls:
                earlier_result(read_set.documents, owner, call)

    async def refuse_status(self, owner: Owner, memory_id: str) -> NoReturn:
        """Raise Conflict, naming the statuses that a caller may set.

        Args:
            owner: Whose memory it is.
            memory_id: Id of the memory.

        Raises:
            NotFound: The owner has no such memory.
            Conflict: In any other case.

        """
        memory = (await self._ledger.look(owner, [memory_id])).existing_memory(memory_id)
        message = (
            f"a memory that is {memory.status.value} can be set by hand to: {', '.join(BY_HAND)}"
        )
        raise Conflict(message, errors=(FieldError("status", message),))

    async def copy(self, owner: Owner, memory_id: str, to: CopyInput, call: Call) -> Memory:
        """Copy a memory for another agent.

        Copying the same revision twice gives the same copy.

        Args:
            owner: Whose memory it is.
            memory_id: Id of the memory.
            to: The agent.
            call: Call with its idempotency key, if any.

        Raises:
            NotFound: The owner has no such memory.
            Conflict: The memory's status forbids copies.
            Invalid: The memory belongs to that agent already.

        """

        def decide(seen: ReadSet) -> _Edit:
            source = seen.existing_memory(memory_id)
            if source.status not in _IN_USE:
                raise Conflict(f"a memory that is {source.status.value} can't be copied")
            if source.agent_id == to.to_agent_id:
                raise Invalid(
                    "nothing to copy",
                    errors=(FieldError("to_agent_id", "is the agent that the memory belongs to"),),
                )
            identity = derived("mem", "copy", memory_id, str(source.revision), to.to_agent_id)
            existing = seen.memory(identity)
            if existing is not None and existing.status is not Status.DELETED:
                return _Edit(identity)
            now = self._clock.now()
            copied = _copy(source, identity, to.to_agent_id, now, call)
            act = copies(copied, memory_id)
            change = Change("copied", copied, existing, {"copied_from": memory_id}, says=act)
            return _Edit(identity, (change,), self._session(owner, seen, existing, copied))

        read_set = await self._ledger.look(owner, [memory_id])
        source = read_set.existing_memory(memory_id)
        identity = derived("mem", "copy", memory_id, str(source.revision), to.to_agent_id)
        return (await self._commit(owner, [*_ids_of(owner, source), identity], decide, call)).memory

    async def _commit(
        self,
        owner: Owner,
        ids: list[str],
        decide: Callable[[ReadSet], _Edit],
        call: Call,
        basis: ReadSet | None = None,
        reads: Reads = no_further,
        *,
        nears: Mapping[str, Near] = NO_SEARCH,
    ) -> _Committed:
        def decided(seen: ReadSet) -> Changes[tuple[str, Memory | None, str | None]]:
            edit = decide(seen)
            return Changes(
                (edit.memory_id, seen.memory(edit.memory_id), edit.outcome),
                edit.changes,
                edit.puts,
                (),
                frozenset({*ids, *reads(seen), edit.memory_id}),
                _sessions_of(edit),
                frozenset({MemoryType.SEMANTIC.value} if nears else ()),
                head_fields=lambda head: {"pending_count": head.pending_count + edit.pending},
            )

        committed = await self._ledger.commit(
            owner,
            decided,
            ids=ids,
            reads=reads,
            nears=nears,
            basis=basis,
            call=call,
            receipt=_RECEIPT,
        )
        memory_id, unchanged, outcome = committed.result
        answer = committed.memories.get(memory_id) or unchanged
        return _Committed(
            answer or (await self._ledger.look(owner, [memory_id])).existing_memory(memory_id),
            outcome,
        )

    def _session(
        self,
        owner: Owner,
        seen: ReadSet,
        before: Memory | None,
        after: Memory,
        changes_of_messages: Sequence[Change] = (),
    ) -> tuple[Document, ...]:
        if after.session_id is None:
            return ()
        session = Session(
            owner,
            after.session_id,
            seen.documents.get(session_document_id(owner, after.session_id)),
        )
        session.count(before, after, self._clock.now())
        if after.status is Status.DELETED:
            session.forget_turn(after)
        count_along(session, changes_of_messages, self._clock.now())
        return (session.document,)


def _ids_of(owner: Owner, memory: Memory) -> list[str]:
    return [
        memory.id,
        *([session_document_id(owner, memory.session_id)] if memory.session_id else []),
    ]


def _sessions_of(edit: _Edit) -> frozenset[str]:
    return frozenset(
        change.after.session_id for change in edit.changes if change.after.session_id and edit.puts
    )


def _is_compared(memory: Memory, content: str) -> bool:
    """Whether an edit's new words are compared with other memories.

    In a slot the log decides.
    """
    is_fact = memory.type is MemoryType.SEMANTIC and slot_name(memory) is None
    return is_fact and normalised(content) != normalised(memory.content)


def _near(vector: Vector, rules: SaveRules) -> Near:
    types = frozenset({MemoryType.SEMANTIC.value})
    return Near(vector=vector, types=types, floor=rules.contradiction_floor)


def _editable(read_set: ReadSet, memory_id: str, if_match: str | None) -> Memory:
    memory = read_set.existing_memory(memory_id)
    if if_match is None:
        raise PreconditionFailed(
            f"an update needs If-Match with the memory's ETag; the current one is {memory.etag}"
        )
    _check_match(memory, if_match)
    if memory.type is MemoryType.EPISODIC:
        raise Conflict(
            "an episodic memory says what happened and is never edited; save what is true now as a "
            "semantic one"
        )
    was_true = (
        memory.status is Status.SUPERSEDED
        and slot_name(memory) is not None
        and not is_version(memory_id)
    )
    if memory.status not in _IN_USE and not was_true:
        raise Conflict(f"a memory that is {memory.status.value} can't be updated")
    return memory


def _check_match(memory: Memory, if_match: str) -> None:
    tags = {tag.strip().removeprefix("W/") for tag in if_match.split(",")}
    if "*" not in tags and memory.etag not in tags:
        deletion = ": it is deleted" if memory.status is Status.DELETED else ""
        raise PreconditionFailed(
            f"If-Match does not name the memory as it is now{deletion}; its current ETag is "
            f"{memory.etag}"
        )


def _copy(source: Memory, identity: str, agent_id: str, now: datetime, call: Call) -> Memory:
    """The memory as another agent gets it, with a life of its own.

    Args:
        source: The memory to copy.
        identity: The id of the copy.
        agent_id: The agent that the copy belongs to.
        now: When it is made.
        call: The call that asks for it.

    """
    return source.changed(
        id=identity,
        agent_id=agent_id,
        copied_from=source.id,
        created_at=now,
        updated_at=now,
        version=1,
        status=Status.ACTIVE,
        status_reason="created",
        links=[],
        supersedes_id=None,
        sequence=0,
        last_accessed_at=None,
        conflict_state="none",
        conflict_ids=[],
        cell_id=None if is_message(source.id) else source.cell_id,
        lexical=source.lexical.changed(turn=None),
        correlation_id=call.correlation_id,
    )


def _deleted(memory: Memory, reason: str | None, now: datetime) -> Memory:
    return delete(memory, "manual_delete", now, change_reason=reason)
