"""Bring memories back into use.

A restored member of a slot adds an entry to the slot's log. When it holds follows from the log, so
it need not be `active` then. Note: a memory without a shared slot that had been superseded before
it was deleted is history, and stays history; only its place in the chain says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from memory_core.domain.archival import is_cold
from memory_core.domain.errors import Conflict, Damaged, FieldError, NotFound, Unavailable
from memory_core.domain.memory import Memory, Status
from memory_core.domain.messages import comes_along, messages_of
from memory_core.domain.ranking.index_terms import reread, text_to_embed
from memory_core.domain.requests.memories import StatusInput
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.domain.transitions import FOUND_BY_DEFAULT, TRUE_ONCE, allowed, delete, restore
from memory_core.domain.truth.slots import are_of_one_slot, slot_name
from memory_core.evolution.changeset import ChangeSet
from memory_core.evolution.deletion import Along, alone, back_along, changes_along, joined_again
from memory_core.evolution.reads import session_ids
from memory_core.evolution.restore_archived import ArchiveRestorer
from memory_core.evolution.truth_commands import undoes
from memory_core.ledger.archive_files import ColdCopies
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.receipts import MEMORY_RECEIPT
from memory_core.ports import Clock, Embedder, Mark

_RESTORED: Final = "restored"


class Restorer:
    """Restores memories of any owner.

    The commit that restores a memory sees its present state.
    """

    def __init__(
        self,
        ledger: Ledger,
        uncompress: Uncompress,
        archive_restorer: ArchiveRestorer,
        clock: Clock,
    ) -> None:
        self._ledger, self._uncompress, self._thaw, self._clock = (
            ledger,
            uncompress,
            archive_restorer,
            clock,
        )
        self._along = Along(ledger)

    async def restore(self, owner: Owner, memory_id: str, call: Call) -> Memory:
        """Restore a memory; a memory in use is returned as it is.

        A deleted or faded memory becomes as it was. A superseded memory becomes active, and its
        successor is superseded. A compressed memory gets its whole text. An archived memory comes
        back with its whole chain, each member as it was; a further call leaves it so, even if it
        was superseded before.

        Args:
            owner: Whose memory it is.
            memory_id: Id of the memory.
            call: Call with its idempotency key, if any.

        Raises:
            NotFound: The owner has no such memory.
            Conflict: The memory can't be restored from its status.
            Damaged: The archived copy can't be read.
            Unavailable: The store, the archive or the embedder is down.

        """
        memory = (await self._ledger.look(owner, [memory_id])).existing_memory(memory_id)
        is_archived = await self._thaw.is_for(owner, memory)
        return await self._restored(owner, memory, _RESTORED, call, is_archived=is_archived)

    async def activate(
        self, owner: Owner, memory_id: str, change: StatusInput, call: Call
    ) -> Memory:
        """Restore a memory by setting its status; otherwise as `restore`.

        Args:
            owner: Whose memory it is.
            memory_id: Id of the memory.
            change: Change with the reason.
            call: Call with its idempotency key, if any.

        Raises:
            NotFound: The owner has no such memory.
            Conflict: The memory can't be restored from its status.
            Damaged: The archived copy can't be read.
            Unavailable: The store, the archive or the embedder is down.

        """
        memory = (await self._ledger.look(owner, [memory_id])).existing_memory(memory_id)
        return await self._restored(owner, memory, change.reason, call, is_archived=is_cold(memory))

    async def undo(self, owner: Owner, memory_id: str, reason: str, call: Call) -> Memory:
        """Make a superseded or merged memory active again; an active memory stays as it is.

        In a slot, all later assertions that meet its time are withdrawn; without a slot, its
        successor is withdrawn.

        Args:
            owner: Whose memory it is.
            memory_id: Id of the memory.
            reason: Reason for the events.
            call: Call with its idempotency key, if any.

        Raises:
            NotFound: The owner has no such memory.
            Conflict: The memory was not superseded, or too many statements came since; the message
                names the allowed changes.

        """

        def put(page: ChangeSet, memory: Memory) -> Mapping[str, Mark]:
            if memory.status in FOUND_BY_DEFAULT:  # another caller was faster
                return {}
            if memory.status not in (Status.SUPERSEDED, Status.UPDATED) or is_cold(memory):
                choices = ", ".join(sorted(status.value for status in allowed(memory.status)))
                raise _refusal(
                    f"a memory that is {memory.status.value} was replaced by none; it may "
                    f"become: {choices}"
                )
            successor = None if memory.next_id is None else page.read_set.memory(memory.next_id)
            page.apply(_undone(memory, successor, reason, page.now))
            return {}

        return await self._commit(owner, memory_id, [], put, call)

    async def _restored(
        self, owner: Owner, memory: Memory, reason: str, call: Call, *, is_archived: bool
    ) -> Memory:
        if is_archived:
            back = await self._thaw.restore_archived(owner, memory.id, call)
        elif memory.status in (Status.SUPERSEDED, Status.UPDATED):
            back = await self.undo(owner, memory.id, reason, call)
        elif memory.status is Status.COMPRESSED:
            back = await self._uncompress.uncompress(owner, memory, reason, call)
        else:
            back = await self._reactivate(owner, memory, reason, call)
        await self._bring_messages(owner, memory, call)
        return back

    async def _bring_messages(self, owner: Owner, cell: Memory, call: Call) -> None:
        """Restore the messages of a cell that are archived or were deleted with it.

        `cell` is as it was before it was restored.
        """
        names = messages_of(cell)
        if not names:
            return
        read_set, without_key = (
            await self._ledger.look(owner, names),
            replace(call, idempotency_key=None),
        )
        for message in [
            member
            for name in names
            if (member := read_set.memory(name)) is not None and member.cell_id == cell.id
        ]:
            if is_cold(message) and (
                message.status is Status.ARCHIVED or comes_along(message, cell)
            ):
                await self._thaw.restore_archived(owner, message.id, without_key)
            elif not is_cold(message) and comes_along(message, cell):
                await self._reactivate(owner, message, _RESTORED, without_key)

    async def _reactivate(self, owner: Owner, memory: Memory, reason: str, call: Call) -> Memory:
        """Restore a deleted or faded memory, and the messages of a cell with it."""
        names = session_ids(owner, [memory])
        names += [] if memory.cell_id is None else [memory.cell_id]
        along = list[str]()
        if memory.status is Status.DELETED and not is_cold(memory):
            along = await self._along.ahead(owner, memory, call, back_along, self._clock.now())

        def put(page: ChangeSet, memory_now: Memory) -> Mapping[str, Mark]:
            if memory_now.status is not Status.ACTIVE:
                changes = _back(_checked(memory_now), reason, page.now)
                page.apply(
                    [_for_itself(change) for change in changes]
                    if alone(memory_now, page.read_set)
                    else changes
                )
                page.apply(changes_along(page.read_set, along, memory_now, back_along, page.now))
            return joined_again(page.read_set, along, memory_now)

        return await self._commit(owner, memory.id, [*names, *along], put, call)

    async def _commit(
        self,
        owner: Owner,
        memory_id: str,
        ids: Sequence[str],
        put: Callable[[ChangeSet, Memory], Mapping[str, Mark]],
        call: Call,
    ) -> Memory:
        """Commit the changes of `put` to the memory as it is now."""
        names = list(dict.fromkeys([memory_id, *ids]))

        def reads(seen: ReadSet) -> list[str]:
            """The memory's successor, and the sessions of all memories that may change."""
            memory = seen.memory(memory_id)
            following = [] if memory is None or memory.next_id is None else [memory.next_id]
            return [
                *following,
                *session_ids(owner, map(seen.memory, [memory_id, *ids, *following])),
            ]

        def decide(seen: ReadSet) -> Changes[Memory]:
            memory = seen.existing_memory(memory_id)
            page = ChangeSet(owner, seen, seen.now, weighs=False)
            marks = put(page, memory)
            return Changes(
                memory, **page.written(), reads=frozenset({*names, *reads(seen)}), marks=marks
            )

        committed = await self._ledger.commit(
            owner, decide, ids=names, reads=reads, call=call, receipt=MEMORY_RECEIPT
        )
        return committed.memories.get(memory_id) or committed.result


def _back(memory: Memory, reason: str, now: datetime) -> list[Change]:
    """The changes that restore a deleted or faded memory; the last is its final state."""
    # A restored memory was looked at: it would else fade again within the hour.
    back = restore(memory, now, change_reason=reason)
    first = Change(_RESTORED, back, memory, {"reason": reason})
    if (
        slot_name(memory) is not None
        or memory.status is not Status.DELETED
        or memory.next_id is None
    ):
        return [first]
    # an agent took it for contradicted; restoring it says that it was not
    if memory.status_reason in TRUE_ONCE:
        return [replace(first, after=back.changed(next_id=None, valid_until=None))]
    merged = memory.next_id in memory.consolidated_into_ids
    history = back.changed(
        status=Status.UPDATED if merged else Status.SUPERSEDED,
        status_reason="consolidated" if merged else "contradicted",
    )
    return [first, Change("updated" if merged else "superseded", history, back)]


def _undone(memory: Memory, successor: Memory | None, reason: str, now: datetime) -> list[Change]:
    """The changes that make a superseded or merged memory active again.

    Args:
        memory: As it is now.
        successor: The memory of `next_id`, if it exists.
        reason: Reason for the events.
        now: The time of the commit.

    Returns:
        The memory's own change. Also that of a successor without a shared slot, or in another slot,
            which is then withdrawn.

    """
    replaced = (
        memory.status is Status.SUPERSEDED
        and successor is not None
        and successor.status in (Status.ACTIVE, Status.COMPRESSED)
    )
    ends_there = successor is None or memory.valid_until == max(
        successor.valid_from, memory.valid_from
    )
    until = None if ends_there or memory.status is Status.UPDATED else memory.valid_until
    back = restore(memory, now, change_reason=reason, next_id=None, valid_until=until)
    changes = [Change(_RESTORED, back, memory, {"reason": reason}, says=undoes(memory.id))]
    if replaced and successor is not None and not are_of_one_slot(successor, memory):
        changes.append(
            Change("contradicted", _never_so(successor, back, now), successor, {"reason": "undone"})
        )
    return changes


def _never_so(memory: Memory, back: Memory, now: datetime) -> Memory:
    """The memory as never true: no query at an earlier time finds it."""
    supersedes_id = None if memory.supersedes_id == back.id else memory.supersedes_id
    return delete(
        memory,
        "contradicted",
        now,
        conflict_state="resolved",
        next_id=back.id,
        supersedes_id=supersedes_id,
        valid_until=memory.valid_from,
    )


def _for_itself(change: Change) -> Change:
    return replace(change, after=change.after.changed(cell_id=None))


def _checked(memory: Memory) -> Memory:
    if is_cold(memory):
        raise _refusal(f"{memory.id} is in the archive; restore brings it back")
    if memory.status not in (Status.DELETED, Status.DECAYED):
        raise _refusal(f"a memory that is {memory.status.value} can be set by hand to: deleted")
    return memory


def _refusal(message: str) -> Conflict:
    return Conflict(message, errors=(FieldError("status", message),))


# A compressed memory as it was before: its original comes back from the archive,
# in its place and under its id.
#
# Note: a caller that writes another text over the short one makes the memory active by that, and
# its original history. So a memory that is still compressed at the place where its original was
# read says what that says.


ROUNDS = 4


class _Elsewhere(Exception):
    """The original is no longer where the memory said; `memory` is the present state."""

    def __init__(self, memory: Memory) -> None:
        super().__init__()
        self.memory = memory


class Uncompress:
    """Restores the long texts of any owner."""

    def __init__(
        self, ledger: Ledger, copies: ColdCopies, embedder: Embedder, clock: Clock
    ) -> None:
        self._ledger, self._copies, self._embedder, self._clock = (ledger, copies, embedder, clock)

    async def uncompress(self, owner: Owner, memory: Memory, reason: str, call: Call) -> Memory:
        """Make a compressed memory active, with its whole text.

        An active memory is returned as it is.

        Args:
            owner: Whose memory it is.
            memory: As it was read.
            reason: Reason for the events.
            call: Call with its idempotency key, if any.

        Raises:
            NotFound: The owner has no such memory.
            Conflict: The memory has another status by now.
            Damaged: The original can't be read; the short text stays.
            Unavailable: The store, the archive or the embedder is down.

        """
        for _ in range(ROUNDS):
            try:
                return await self._uncompressed(owner, memory, reason, call)
            except _Elsewhere as moved:
                memory = moved.memory
        raise Unavailable("archive", "the original moves between archive and store; try again")

    async def _uncompressed(self, owner: Owner, memory: Memory, reason: str, call: Call) -> Memory:
        original = (
            await self._original(owner, memory) if memory.status is Status.COMPRESSED else None
        )

        def decide(seen: ReadSet) -> Changes[Memory]:
            memory_now = seen.existing_memory(memory.id)
            if memory_now.status is Status.ACTIVE:
                return Changes(memory_now)
            if memory_now.status is not Status.COMPRESSED:
                message = (
                    f"a memory that is {memory_now.status.value} is not compressed any more; "
                    "try again"
                )
                raise Conflict(message, errors=(FieldError("status", message),))
            if original is None or memory_now.archival_location != memory.archival_location:
                raise _Elsewhere(memory_now)
            change = Change(
                "restored",
                _whole(memory_now, original, reason, self._clock.now()),
                memory_now,
                {"reason": reason},
            )
            return Changes(memory_now, (change,), reads=frozenset({memory_now.id}))

        committed = await self._ledger.commit(
            owner, decide, ids=[memory.id], call=call, receipt=MEMORY_RECEIPT
        )
        return committed.memories.get(memory.id) or committed.result

    async def _original(self, owner: Owner, memory: Memory) -> Memory:
        """The original, with a vector of the present embedder."""
        if memory.archival_location is None:
            raise Damaged(
                "archive", f"nothing tells where the original of {memory.id} is", retry_after_s=30
            )
        try:
            member = (await self._copies.read(owner, memory.archival_location)).member(memory.id)
        except NotFound as error:
            now = (await self._ledger.look(owner, [memory.id])).memory(memory.id)
            if now is not None and now.archival_location != memory.archival_location:
                raise _Elsewhere(now) from None
            raise Damaged(
                "archive", f"the original of {memory.id} is gone", retry_after_s=30
            ) from error
        if member is None:
            raise Damaged(
                "archive", f"the cold copy of {memory.id} holds another memory", retry_after_s=30
            )
        whole = member.whole
        if whole.embedding is not None and whole.embedding_model not in (
            None,
            self._embedder.model,
        ):
            (whole.embedding,) = await self._embedder.embed([text_to_embed(whole)])
            whole.embedding_model, whole.embedding_dimensions = (
                self._embedder.model,
                self._embedder.dimensions,
            )
        return whole


def _whole(memory: Memory, original: Memory, reason: str, now: datetime) -> Memory:
    fields = {
        name: getattr(original, name)
        for name in ("content", "episode", "embedding", "embedding_model", "embedding_dimensions")
    }
    return reread(restore(memory, now, change_reason=reason, archival_location=None, **fields))
