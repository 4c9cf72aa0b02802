"""Save memories, each decided by rule, and answer when they are durable.

Items are decided in order, over the changes that this very call is about to write, as many as fit
into a commit. So two equal items make a single memory, which is reinforced. The turns of a session
wait for each other before they are embedded, because a turn is read together with the turns before
it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from weakref import WeakValueDictionary

from memory_core.domain.conflict import record_in
from memory_core.domain.errors import Invalid, NotFound, QuotaExceeded, TooLarge
from memory_core.domain.memory import Memory, MemoryType, Status
from memory_core.domain.requests.memories import SaveInput
from memory_core.domain.results import Call, Saved
from memory_core.domain.scope import Owner
from memory_core.domain.truth.slots import slot_name, slot_of
from memory_core.evolution.judgements import SaveRules, slot_reads
from memory_core.formation.save_plan import (
    MAX_ITEMS,
    Draft,
    Planned,
    PlannedOutcome,
    Prepared,
    SessionGrew,
    draft,
    late_id,
    most_of_one_commit,
    numbered_draft,
    plan,
    prepare,
)
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.ids import session_document_id, slot_document_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.receipts import Receipt, earlier_result, receipt_id
from memory_core.ledger.sessions import Session
from memory_core.ports import Clock, Embedder, IdSource, Near

FEWEST_OFFERED = 4
"""Items that are looked up for a commit after a commit that took only a few of them."""
MORE_THAN_ONE_COMMIT = "all or nothing can't be promised for more than one commit holds"


class Saver:
    """Saves memories for any owner."""

    def __init__(
        self, ledger: Ledger, embedder: Embedder, clock: Clock, ids: IdSource, rules: SaveRules
    ) -> None:
        self._ledger, self._embedder, self._clock, self._ids, self._rules = (
            ledger,
            embedder,
            clock,
            ids,
            rules,
        )
        self._session_queues: WeakValueDictionary[tuple[Owner, str], asyncio.Lock] = (
            WeakValueDictionary()
        )

    async def save(
        self, owner: Owner, items: Sequence[SaveInput], call: Call, *, atomic: bool = False
    ) -> list[Saved | Invalid | QuotaExceeded]:
        """Save memories, and return an outcome for each item, in order.

        Args:
            owner: Whose memories they are.
            items: Items to save.
            call: Call with its idempotency key, if any.
            atomic: Whether all are written in a single commit, or none is.

        Returns:
            Invalid for an item that is wrong by itself; QuotaExceeded for items for which no room
                was left.

        Raises:
            Conflict: The idempotency key was used for another body.
            HeadMoved: Other writers were faster until the deadline.
            Unavailable: The store or the embedder is down.
            QuotaExceeded: There is no room for the first items.
            Invalid: An item is wrong, if `atomic`.
            TooLarge: A commit does not hold all items, if `atomic`.

        """
        answers: dict[int, Saved | Invalid | QuotaExceeded] = {
            **await self._answered_before(owner, call)
        }
        drafts = self._drafts(owner, items, call, answers)
        if atomic:
            _check_whole(drafts, answers)
        async with AsyncExitStack() as turn:
            for queue in self._queues(owner, drafts):
                await turn.enter_async_context(queue)
            read_set: ReadSet | None = None
            prepared: list[Prepared] = []
            offered = MAX_ITEMS
            while drafts := [draft for draft in drafts if draft.place not in answers]:
                if not prepared:
                    read_set = await self._first_look(owner, drafts)
                    prepared = await prepare(
                        drafts,
                        self._sessions(owner, drafts, read_set),
                        _stored_turn_ids(drafts, read_set),
                        self._embedder,
                    )
                part = sum(isinstance(answer, Saved) for answer in answers.values())
                most = offered if atomic else min(offered, most_of_one_commit(prepared))
                try:
                    some = await self._commit_some(
                        owner, prepared[:most], read_set, call, part, atomic=atomic
                    )
                    answers |= some
                    # items that do not fit would be read for each commit
                    offered = min(MAX_ITEMS, max(FEWEST_OFFERED, 2 * len(some)))
                except SessionGrew:
                    prepared = []
                except QuotaExceeded as error:
                    if not part:
                        raise
                    answers |= {draft.place: error for draft in drafts}
                prepared, read_set = [item for item in prepared if item.place not in answers], None
        return [answers[place] for place in range(len(items))]

    async def _answered_before(self, owner: Owner, call: Call) -> dict[int, Saved | Invalid]:
        """The outcomes of this very call before, by place.

        They come from its receipts of each commit, in a row.
        """
        answers: dict[int, Saved | Invalid] = {}
        while name := receipt_id(owner, call, len(answers)):
            read_set = await self._ledger.look(owner, [name])
            earlier = earlier_result(read_set.documents, owner, call, len(answers))
            if earlier is None:
                break
            answers |= await self._replayed(owner, Planned.of_receipt(earlier).outcomes)
        return answers

    def _drafts(
        self,
        owner: Owner,
        items: Sequence[SaveInput],
        call: Call,
        answers: dict[int, Saved | Invalid | QuotaExceeded],
    ) -> list[Draft]:
        """The drafts of items without an outcome; an invalid item gets its outcome."""
        now, drafts, seen = self._clock.now(), list[Draft](), Counter[str]()
        for place, item in enumerate(items):
            if place in answers and item.type is not MemoryType.EPISODIC:
                continue
            try:
                made = draft(owner, place, item, now, self._ids, call)
            except Invalid as error:
                answers[place] = error
                continue
            if made.memory.type is MemoryType.EPISODIC:
                made, identity = numbered_draft(made, seen[made.memory.id]), made.memory.id
                seen[identity] += 1
            if place not in answers:
                drafts.append(made)
        return drafts

    def _queues(self, owner: Owner, drafts: Sequence[Draft]) -> list[asyncio.Lock]:
        """The locks of the sessions into which this call saves turns.

        They are sorted, so that two calls can't wait for each other.
        """
        names = sorted({draft.memory.session_id or "" for draft in drafts if draft.is_turn})
        return [self._session_queues.setdefault((owner, name), asyncio.Lock()) for name in names]

    async def _first_look(self, owner: Owner, drafts: Sequence[Draft]) -> ReadSet | None:
        """The read set on which turns are prepared.

        Without turns no document is needed before embedding, and none is read.
        """
        if not any(draft.is_turn for draft in drafts):
            return None
        return await self._ledger.look(
            owner, self._ids_of(owner, [draft.memory for draft in drafts])
        )

    def _sessions(
        self, owner: Owner, drafts: Sequence[Draft], read_set: ReadSet | None
    ) -> dict[str, Session]:
        names = {draft.memory.session_id or "" for draft in drafts if draft.is_turn}
        return {
            name: Session(
                owner,
                name,
                read_set.documents.get(session_document_id(owner, name)) if read_set else None,
            )
            for name in names
        }

    async def _commit_some(
        self,
        owner: Owner,
        prepared: list[Prepared],
        read_set: ReadSet | None,
        call: Call,
        part: int,
        *,
        atomic: bool,
    ) -> dict[int, Saved | Invalid]:
        """Commit as many items as fit, and return their outcomes by place.

        `part` names the receipt: how many items were committed before. `atomic` commits all of
        them, or none. Raises TooLarge.
        """
        memories = [item.memory for item in prepared]
        nears = {
            memory.id: self._near(memory)
            for memory in memories
            if memory.type is MemoryType.SEMANTIC
        }
        committed = await self._ledger.commit(
            owner,
            lambda seen: self._decide(owner, prepared, seen, call, atomic=atomic),
            ids=self._ids_of(owner, memories),
            reads=lambda seen: slot_reads(seen, memories),
            nears=nears,
            basis=None if nears or call.idempotency_key is not None else read_set,
            call=call,
            receipt=Receipt(
                Planned.for_receipt, lambda earlier, seen: Planned.of_receipt(earlier), part
            ),
        )
        outcomes = committed.result.outcomes
        if committed.changes is None:
            return await self._replayed(owner, outcomes)
        return {
            planned.place: Saved(
                planned.outcome,
                committed.memories[planned.memory_id],
                planned.conflict,
                degraded=committed.degraded,
                body=committed.bodies[planned.memory_id],
            )
            for planned in outcomes
        }

    def _decide(
        self, owner: Owner, prepared: list[Prepared], seen: ReadSet, call: Call, *, atomic: bool
    ) -> Changes[Planned]:
        planned = plan(owner, prepared, seen, self._rules.duplicate_threshold, seen.now, call.actor)
        if atomic and len(planned.result.outcomes) < len(prepared):
            raise TooLarge(
                f"{MORE_THAN_ONE_COMMIT}: {len(planned.result.outcomes)} of these "
                f"{len(prepared)} fit"
            )
        return planned

    async def _replayed(
        self, owner: Owner, outcomes: Sequence[PlannedOutcome]
    ) -> dict[int, Saved | Invalid]:
        wanted = [
            name
            for planned in outcomes
            for name in (planned.memory_id, planned.conflict_id)
            if name
        ]
        read_set = await self._ledger.look(owner, wanted)
        answers: dict[int, Saved | Invalid] = {}
        for planned in outcomes:
            memory = read_set.memory(planned.memory_id)
            if memory is None:
                raise NotFound("the memory that this idempotency key made is gone")
            record = read_set.documents.get(planned.conflict_id or "")
            conflict = None if record is None else record_in(record.body)
            answers[planned.place] = Saved(planned.outcome, memory, conflict, replayed=True)
        return answers

    def _near(self, memory: Memory) -> Near:
        return Near(
            vector=memory.embedding,
            types=frozenset({MemoryType.SEMANTIC.value}),
            floor=self._rules.contradiction_floor,
            slot=slot_of(memory),
            faded=True,
        )

    @staticmethod
    def _ids_of(owner: Owner, memories: Sequence[Memory]) -> list[str]:
        """All ids that a decision on these memories reads."""
        ids = {memory.id for memory in memories if memory.type is not MemoryType.SEMANTIC}
        ids |= {late_id(memory) for memory in memories if memory.type is MemoryType.PROCEDURAL}
        ids |= {
            slot_document_id(*name)
            for memory in memories
            if (name := slot_name(memory)) is not None
        }
        return sorted(
            ids
            | {
                session_document_id(owner, memory.session_id)
                for memory in memories
                if memory.session_id
            }
        )


def _check_whole(
    drafts: Sequence[Draft], answers: Mapping[int, Saved | Invalid | QuotaExceeded]
) -> None:
    """Refuse drafts that can't be written together.

    Raises Invalid if an item is wrong, TooLarge if they are too many.
    """
    for place, answer in answers.items():
        if isinstance(answer, Invalid):
            raise Invalid(
                answer.detail,
                errors=tuple(
                    replace(error, field=f"memories.{place}.{error.field}")
                    for error in answer.errors
                ),
            )
    if len(drafts) > MAX_ITEMS:
        raise TooLarge(f"{MORE_THAN_ONE_COMMIT}: at most {MAX_ITEMS} memories fit")


def _stored_turn_ids(drafts: Sequence[Draft], read_set: ReadSet | None) -> set[str]:
    """Ids of the turns among the drafts that are stored and not deleted."""
    stored = (
        [read_set.memory(draft.memory.id) for draft in drafts if draft.is_turn] if read_set else []
    )
    return {
        memory.id for memory in stored if memory is not None and memory.status is not Status.DELETED
    }
