"""Forgetting for good: the memories themselves, what was made of them, every mention in what stays,
and what the log says of them.

In steps, each in as many commits as it takes. The memories go first, so nothing is found any more
and nothing is made of them; then come, in one pass each, what mentions them, the log, and the texts
that they came from. Note: a worker decides by what it reads within the commit, never by what it
found before it. Memories are merged, edited and told again while this goes on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory_core.data_rights.forget_plan import Progress, Role, counted
from memory_core.data_rights.forget_selection import Chosen, page
from memory_core.data_rights.redaction_passes import Sweeping
from memory_core.domain.errors import Unavailable
from memory_core.domain.event_log import version_id
from memory_core.domain.memory import Memory, Status
from memory_core.domain.messages import is_message
from memory_core.domain.results import Foreseen
from memory_core.domain.scope import Owner
from memory_core.ledger.archive_files import OwnerNames, Parts
from memory_core.ledger.batch import Change, Portion, size_of
from memory_core.ledger.commit import Look
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.readable import as_memory, readable, readable_shown
from memory_core.ledger.sessions import Session
from memory_core.ports import Clock, LongTermStore, Place, ShortTermStore, Stamp
from memory_core.tasks.leases import Lease
from memory_core.tasks.operations import Chunk, Operation, Operations

FOUND_AT_ONCE = 200
LOOKED_AT = 30
SCRUBS = 5
PAGE = 100
EVER = 2**53
"""A sequence that no log reaches: a dry run asks what would go now, whenever it began."""


@dataclass(frozen=True, slots=True)
class _Looked:
    """The next that are to be looked at, and what was asked for with them: the documents of
    sessions and the keys of their histories, old versions, tellers of facts.
    """

    names: Sequence[tuple[str, Role]]
    sessions: Mapping[str, bytes]
    versions: frozenset[str]
    tellers: frozenset[str]

    def suffices_for(self, memory: Memory) -> bool:
        """Whether all that is needed to let a memory go was asked for with it."""
        session = memory.session_id is None or memory.session_id in self.sessions
        return (
            session
            and self.versions.issuperset(_version_ids(memory))
            and self.tellers.issuperset(_tellers(memory))
        )


class ForGood:
    """Forgets memories of any owner for good."""

    def __init__(
        self,
        store: LongTermStore,
        short_term: ShortTermStore,
        parts: Parts,
        operations: Operations,
        sweeping: Sweeping,
        names: OwnerNames,
        clock: Clock,
    ) -> None:
        self._store, self._short_term, self._parts, self._operations = (
            store,
            short_term,
            parts,
            operations,
        )
        self._sweeping, self._names, self._clock = sweeping, names, clock

    async def work(self, lease: Lease, operation: Operation) -> None:
        """Go on from where the operation is. Raises Unavailable while a tier can't be reached."""
        while operation.state == "pending":
            progress = Progress.model_validate(operation.cursor or {})
            if progress.step == "begin":
                operation = await self._begin(lease, operation)
            elif progress.step == "remove":
                operation = await self._remove(lease, operation, progress)
            elif progress.step == "last":
                operation = await self._finish(lease, operation, progress)
            else:
                operation = await self._sweeping.sweep(lease, operation, progress)
            if operation.state == "pending":
                await lease.report(
                    f"forget: {progress.step}",
                    lease.task.progress,
                    result={"counts": operation.counts},
                )

    async def plan(self, owner: Owner, chosen: Chosen) -> dict[str, Any]:
        """The memories that are meant, by their ids: none can be changed so that the filter no
        longer fits, and no word of it is kept.
        """
        ids, capped = await self._found(owner, chosen)
        named = {} if chosen.session_id is None else {"session": chosen.session_id}
        return {"mode": "hard", "ids": ids, "capped": capped, **named}

    async def foresee(self, owner: Owner, chosen: Chosen) -> Foreseen:
        """How many would be forgotten, and how many of what was made of them or told them
        would go along.
        """
        ids, capped = await self._found(owner, chosen)
        progress = Progress(capped=capped, session=chosen.session_id).asking(ids, "asked")
        staying = set[str]()
        while progress.todo:
            progress = await self._looked_at(owner, progress, staying)
            if not progress.todo:
                progress = await self._made_of_it(owner, progress, staying)
        forgotten = len(progress.gone.keys() & {*ids})
        counts = {
            "forgotten": forgotten,
            "derived": len(progress.gone) - forgotten,
            **progress.along,
        }
        return Foreseen(counts, capped)

    async def _found(self, owner: Owner, chosen: Chosen) -> tuple[list[str], bool]:
        ids, after = list[str](), None
        while places := await page(self._store, owner, chosen, after, FOUND_AT_ONCE):
            ids, after = [*ids, *(candidate.place.id for candidate in places)], places[-1].place
            if len(ids) > chosen.cap:
                return ids[: chosen.cap], True
        return ids, False

    async def _begin(self, lease: Lease, operation: Operation) -> Operation:
        plan = operation.plan
        scope = {name: plan.get(name) for name in ("session", "whole")}
        progress = Progress(step="remove", capped=plan["capped"], **scope).asking(
            plan["ids"], "asked"
        )
        chunk = Chunk(
            cursor=progress.document,
            counts={"forgotten": 0, "derived": 0, "struck": 0},
            plan={"mode": "hard"},
        )
        return await self._operations.advance(lease, operation, [], lambda look, stored: chunk)

    async def _looked_at(self, owner: Owner, progress: Progress, staying: set[str]) -> Progress:
        """After a look at the next ones; ids of those that another cell keeps are added
        to `staying`.
        """
        names, left = progress.todo[:PAGE], progress.todo[PAGE:]
        memories, _ = readable_shown(await self._store.memories(owner, [name for name, _ in names]))
        progress = progress.model_copy(update={"todo": left})
        old, _ = readable_shown(
            await self._store.memories(
                owner, [name for memory in memories.values() for name in _version_ids(memory)]
            )
        )
        told_by = {name for memory in memories.values() for name in _tellers(memory)}
        cells, _ = readable_shown(await self._store.memories(owner, sorted(told_by)))
        for name, role in names:
            if name in progress.gone:
                continue
            if name in memories and progress.goes(memory := memories[name], role):
                if progress.another_teller(memory, role, cells.values()) is not None:
                    staying.add(name)
                    progress = progress.keeping(memory) if role == "asked" else progress
                    continue
                progress = progress.without(
                    memory,
                    role,
                    EVER,
                    [old[version] for version in _version_ids(memory) if version in old],
                )
            elif name in memories and role == "beside":
                progress = progress.leaving(memories[name])
        return progress if progress.todo else progress.in_doubt()

    async def _made_of_it(
        self, owner: Owner, progress: Progress, staying: Collection[str]
    ) -> Progress:
        after: Place | None = None
        made: list[str] = []
        while documents := await self._store.page(
            owner, "memory", None, after, PAGE, newest_first=False
        ):
            memories, _ = readable(documents)
            made += [
                memory.id
                for memory in memories
                if memory.id not in progress.gone
                and memory.id not in staying
                and progress.was_made_of_it(memory)
            ]
            after = Place(documents[-1].body["sequence"], documents[-1].id)
        return progress.asking(made, "made")

    async def _remove(self, lease: Lease, operation: Operation, progress: Progress) -> Operation:
        names = progress.todo[:LOOKED_AT]
        memories, damaged = readable_shown(
            await self._store.memories(lease.owner, [name for name, _ in names])
        )
        tellers = frozenset(name for memory in memories.values() for name in _tellers(memory))
        cells, _ = readable_shown(await self._store.memories(lease.owner, sorted(tellers)))
        concerned = (*memories.values(), *cells.values())
        sessions = {
            memory.session_id: await self._names.session_key(lease.owner, memory.session_id)
            for memory in concerned
            if memory.session_id is not None
        }
        versions = frozenset(name for memory in memories.values() for name in _version_ids(memory))
        old, _ = readable_shown(await self._store.memories(lease.owner, sorted(versions)))
        looked = _Looked(
            [(name, role) for name, role in names if name not in damaged],
            sessions,
            versions,
            tellers,
        )
        progress = progress.passing_over(damaged)
        progress = progress.model_copy(update={"todo": [*looked.names, *progress.todo[LOOKED_AT:]]})

        def decide(look: Look, stored: Operation) -> Chunk:
            return self._removed(lease.owner, look, progress, looked)

        ids = [
            *(name for name, _ in looked.names),
            *(session_document_id(lease.owner, session) for session in sessions),
            *sorted(old),
            *sorted(tellers),
        ]
        return await self._operations.advance(lease, operation, ids, decide)

    def _removed(self, owner: Owner, look: Look, progress: Progress, looked: _Looked) -> Chunk:
        portion, changes, sessions, passed = Portion(), list[Change](), dict[str, Session](), 0
        going, staying, left, seen = (
            list[tuple[Memory, Role]](),
            list[Memory](),
            list[Memory](),
            set[str](),
        )
        messages = False
        for name, role in looked.names:
            memory = None if name in seen else look.memory(name)
            if memory is not None and role == "beside" and not is_message(name) and messages:
                break  # which of them stay is known with the next look
            if memory is not None and role == "beside" and is_message(name):
                messages = True
                if not progress.goes(memory, role):
                    left.append(memory)
            if (
                memory is not None
                and role == "beside"
                and memory.category == "fact"
                and not progress.goes(memory, role)
            ):
                change = _told_by_messages(memory, progress, self._clock.now())
                if change is not None:
                    if not portion.takes(2, size_of(change.after)):
                        break
                    changes.append(change)
                    seen.add(name)
            elif memory is not None and progress.goes(memory, role):
                if not looked.suffices_for(memory):
                    # it was saved, told again or edited since they were asked for;
                    # the next look asks again
                    break
                teller = progress.another_teller(memory, role, _cells(look, memory))
                change = (
                    Change("forgotten", memory, memory, removed=True)
                    if teller is None
                    else _given_to(teller, memory, self._clock.now())
                )
                fresh = {
                    state.session_id
                    for state in (memory, change.after)
                    if state.session_id is not None
                } - sessions.keys()
                if not portion.takes(2 + len(fresh), size_of(memory)):
                    break
                for session in fresh:
                    sessions[session] = Session(
                        owner, session, look.documents.get(session_document_id(owner, session))
                    )
                if memory.session_id is not None:
                    sessions[memory.session_id].drop(
                        memory, self._clock.now(), looked.sessions[memory.session_id]
                    )
                if teller is not None and change.after.session_id is not None:
                    deleted = memory.model_copy(update={"status": Status.DELETED})
                    sessions[change.after.session_id].count(
                        deleted, change.after, self._clock.now()
                    )
                changes.append(change)
                if teller is None:
                    going.append((memory, role))
                elif role == "asked":
                    staying.append(memory)
                seen.add(name)
            passed += 1
        by = (look.head.sequence if look.head is not None else 0) + len(changes)
        further = progress.model_copy(update={"todo": progress.todo[passed:]})
        for memory in staying:
            further = further.keeping(memory)
        for memory, role in going:
            further = further.without(memory, role, by, _versions(look, memory))
        for memory in left:
            further = further.leaving(memory)
        further = further if further.todo else further.in_doubt()
        if not further.todo:
            further = further.at(
                "memories" if further.gone else "last" if further.whole is None else "messages"
            )
        asked = sum(role == "asked" for _, role in going)
        along: dict[str, int] = {}
        for memory, role in going:
            along = along if role == "asked" else counted(along, memory)
        return Chunk(
            tuple(changes),
            puts=tuple(session_document.document for session_document in sessions.values()),
            cursor=further.document,
            counts={"forgotten": asked, "derived": len(going) - asked, **along},
            sessions=frozenset(sessions),
        )

    async def _finish(self, lease: Lease, operation: Operation, progress: Progress) -> Operation:
        """The short term and the files must be clean before anybody is told that it is done."""
        await self._empty_short_term(lease.owner, progress)
        if progress.gone:
            # exports that wait to be fetched tell of it too
            await self._parts.remove_all(lease.owner)
        for attempt in range(SCRUBS):
            if await self._store.scrub():
                break
            if attempt == SCRUBS - 1:
                raise Unavailable(
                    "long_term",
                    "what was forgotten is in a file that somebody still reads",
                    retry_after_s=5,
                )
        damaged = {"damaged": progress.damaged} if progress.damaged else {}
        chunk = Chunk(
            cursor=None, done=True, result={"mode": "hard", "capped": progress.capped, **damaged}
        )
        return await self._operations.advance(lease, operation, [], lambda look, stored: chunk)

    async def _empty_short_term(self, owner: Owner, progress: Progress) -> None:
        head = (await self._store.snapshot(owner)).head
        if head is None or not progress.sessions:
            return
        stamp = Stamp(head.epoch, head.sequence, head.last_removal_sequence)
        await self._short_term.drop(
            owner, progress.sessions, list(progress.gone), stamp, head.last_removal_sequence
        )
        if self._short_term.degraded:
            raise Unavailable("short_term", "can't be emptied while it is down", retry_after_s=30)


def _given_to(cell: Memory, fact: Memory, now: datetime) -> Change:
    """A fact as it belongs to another cell that told it: in that one's session and conversation."""
    place = {
        "session_id": cell.session_id,
        "conversation_id": cell.conversation_id,
        "agent_id": cell.agent_id,
        "cell_id": cell.id,
    }
    return Change("redacted", fact.model_copy(update={**place, "updated_at": now}), fact)


def _told_by_messages(fact: Memory, progress: Progress, now: datetime) -> Change | None:
    """A fact that stays when its cell goes: from then on it names the messages that tell it;
    None where none is left.
    """
    sources = list(dict.fromkeys([*fact.source_ids, *progress.messages_telling(fact)]))
    return (
        None
        if sources == fact.source_ids
        else Change(
            "redacted", fact.model_copy(update={"source_ids": sources, "updated_at": now}), fact
        )
    )


def _tellers(memory: Memory) -> Sequence[str]:
    """The cells that told a fact; none of what is no fact."""
    return memory.source_ids if memory.category == "fact" else ()


def _cells(look: Look, fact: Memory) -> list[Memory]:
    """Those of a look."""
    return [cell for name in _tellers(fact) if (cell := look.memory(name)) is not None]


def _version_ids(memory: Memory) -> list[str]:
    return [version_id(memory.id, number) for number in range(1, memory.version)]


def _versions(look: Look, memory: Memory) -> list[Memory]:
    """The old versions of a memory that a look was asked for."""
    documents = (look.documents.get(name) for name in _version_ids(memory))
    return [
        version
        for document in documents
        if document is not None and (version := as_memory(document, look.head)) is not None
    ]
