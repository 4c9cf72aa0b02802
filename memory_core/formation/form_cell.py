"""Form one cell: compare, ask, commit.

Nothing is searchable before that commit, and the commit advances the conversation in the same
batch; so a worker that repeats this, at any point, finds either nothing done or all of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from memory_core.domain.agent_schemas import FormationCalls
from memory_core.domain.conversation import Cell, CellRecord, Conversation, Path
from memory_core.domain.errors import HeadMoved
from memory_core.domain.memory import Head, HeadFields, Memory, MemoryType, Status
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.domain.statements.change_messages import tells_change
from memory_core.domain.statements.wishes import only_asks_to_forget
from memory_core.domain.truth.slots import marked, slot_name, slot_of
from memory_core.evolution.agent_rulings import (
    ConflictPrompt,
    MergedNote,
    Questions,
    Ruled,
    Rulings,
)
from memory_core.evolution.links import CANDIDATES, Linked, LinkRules
from memory_core.evolution.reads import LookedElsewhere
from memory_core.evolution.versions import embed_memories
from memory_core.formation.agent_calls import Asking
from memory_core.formation.cell_plan import (
    LEFT_OUT,
    MOST_MARKED,
    NOTHING_TOLD,
    CellOutcome,
    ReadyCell,
    links_of,
    made_of,
    merge_wanted,
    plan_cell,
    tell_again,
    told_before,
)
from memory_core.formation.cells import (
    CUT_BY_RULE,
    BoundaryRules,
    CellMemories,
    cell_id,
    cell_memories,
    cells_of,
    cut_into_cells,
    whole_cell,
    words_memory,
)
from memory_core.formation.joint_calls import JointAsking, asking_of
from memory_core.formation.message_memories import MessageWriter
from memory_core.formation.without_messages import deleted_since
from memory_core.ledger.batch import Changes
from memory_core.ledger.commit import Ledger, Mirror, ReadSet, WriteTurn, WriteTurns
from memory_core.ledger.documents import cleared_since, message_ids, state_of, unread
from memory_core.ledger.ids import session_document_id, slot_document_id
from memory_core.ports import Agents, Clock, Document, Embedder, Near
from memory_core.tasks.agent_steps import Steps
from memory_core.tasks.store import counted, unfinished

_MADE: Mapping[Path, frozenset[MemoryType]] = {
    "converse": frozenset({MemoryType.EPISODIC, MemoryType.SEMANTIC}),
    "agent": frozenset({MemoryType.EPISODIC}),
}
"""What is made of a conversation."""
SHORT = 4_000
"""Characters of a cell's messages that are read in 10 ms at most; more are read in a thread."""
MAX_LOOKS = 5
"""How often a cell is compared again because others wrote meanwhile; then the task waits
and comes back.
"""


KeepInstructions = Callable[[Owner, Conversation, Sequence[tuple[int, str]], Call], Awaitable[None]]
"""Keeps the standing instructions that an agent found, each with the number of its message,
once however often it is asked to.
"""


class MessagesGone(Exception):
    """Messages of a cell were deleted before it is formed: the conversation has to go on
    without them.
    """


@dataclass(frozen=True, slots=True)
class FormingRules:
    """Thresholds on the embedder's scale, when a silence ends a cell, and in which calls a
    model is asked.
    """

    links: LinkRules
    contradiction_floor: float
    boundary: BoundaryRules = field(default_factory=BoundaryRules)
    calls: FormationCalls = "separate"


CHANGE_FLOOR, CHANGE_CANDIDATES = 0.3, 40
"""What a change is about is looked for further away, and among more: "sold the Golf" lies far from
"drives a 2014 Golf".
"""


class Former:
    """Forms conversations. `rules` are the agents without a model, which answer where
    `agents` fail.
    """

    def __init__(
        self,
        ledger: Ledger,
        mirror: Mirror,
        messages: MessageWriter,
        embedder: Embedder,
        agents: Agents,
        rules: Agents,
        clock: Clock,
        forming: FormingRules,
        keep: KeepInstructions,
    ) -> None:
        self._messages = messages
        self._ledger, self._mirror, self._embedder, self._clock = ledger, mirror, embedder, clock
        self._agents, self._rules, self._forming, self._keep, self._turns = (
            agents,
            rules,
            forming,
            keep,
            WriteTurns(),
        )

    async def cells(self, owner: Owner, conversation: Conversation, steps: Steps) -> list[Cell]:
        """The conversation's cells; the same whenever it is asked again, because the
        boundaries are frozen.
        """
        if conversation.path == "agent":
            return [whole_cell(conversation)]
        if conversation.cuts is not None:
            cuts = dict.fromkeys(conversation.cuts, CUT_BY_RULE)
            return cells_of(conversation.messages, cuts, self._forming.boundary)
        asking = self._asking(owner, conversation, steps)
        return await cut_into_cells(
            conversation.messages, asking.boundaries, self._forming.boundary
        )

    def _asking(self, owner: Owner, conversation: Conversation, steps: Steps) -> Asking:
        return asking_of(self._forming.calls, owner, conversation, self._agents, self._rules, steps)

    async def form(
        self,
        owner: Owner,
        conversation: Conversation,
        cell: Cell,
        total: int,
        steps: Steps,
        call: Call,
        *,
        finish: Finish,
        report: Report,
        before: ReadSet | None = None,
    ) -> Formed | None:
        """Make the cell's memories and advance the conversation, once. None when it was cancelled,
        or erased, meanwhile.

        What is asked of models is asked before its turn among the user's other conversations; once
        that has come, they wait until this is done. Raises Unavailable while a dependency is down,
        HeadMoved when others write faster than this can decide, MessagesGone where messages of the
        cell were deleted since they were told.
        before: a look that has the conversation, which is not read again while the head is its.
        """
        work = Work(owner, conversation, cell, total, call, finish)
        async with self._turns.of(owner) as turn:
            return await self._formed(turn, work, steps, report, before)

    async def _formed(
        self, turn: WriteTurn, work: Work, steps: Steps, report: Report, before: ReadSet | None
    ) -> Formed | None:
        owner, conversation, cell = work.owner, work.conversation, work.cell
        asking = self._asking(owner, conversation, steps)
        identity, ready = cell_id(conversation, cell), None
        needed: set[str] = set()
        for _ in range(MAX_LOOKS):
            ids = [*work.state_ids, identity, *work.read_messages]
            if before is None:
                look = await self._ledger.look(owner, ids)
            else:
                look, before = await self._look_beside(owner, before, ids, ()), None
            if not work.reads_messages and not _still_stand(look, conversation):
                work = replace(work, reads_messages=True)
                continue
            done, earlier = formed_before(look, conversation.id, cell)
            if done:
                return earlier
            work = replace(work, cleared=cleared_since(look, owner, conversation))
            try:
                if work.cleared >= _MADE[conversation.path]:
                    return await self._commit(work, lambda seen: LEFT_OUT, work.state_ids)
                if deleted_since(look, work.read_messages):
                    raise MessagesGone
                if only_asks_to_forget(cell.messages):
                    return await self._commit(work, lambda seen: NOTHING_TOLD, work.state_ids)
                existing = look.memory(identity)
                if existing is not None and told_before(existing, conversation.created_at):
                    return await self._tell_again(work, existing)
                ready = ready or await self._ready(work, asking, report)
                await report("evolution", 0.7)
                return await self._compare(
                    work, ready.beside(work.cleared), asking, needed, turn, look
                )
            except LookedElsewhere as needs:
                needed |= {*needs.wanted}
                work = replace(work, reads_messages=True)
        raise HeadMoved(
            "this user's memories change faster than a cell can be compared with them",
            retry_after_s=2,
        )

    async def _ready(self, work: Work, asking: Asking, report: Report) -> ReadyCell:
        """The cell's memories, all embedded in one call."""
        await report("agents", 0.1)
        made = await self._made(work, asking)
        await self._keep(work.owner, work.conversation, made.instructions, work.call)
        await report("embedding", 0.5)
        return await self._embedded(_ready_cell(made, work.conversation))

    async def _made(self, work: Work, asking: Asking) -> CellMemories:
        """What the agents make of a cell; an agent's own words become one memory,
        which is compared with nothing.
        """
        owner, conversation, cell, now = work.owner, work.conversation, work.cell, self._clock.now()
        if conversation.path == "agent":
            summary = await asking.fast_summary(cell)
            words = words_memory(owner, conversation, cell, summary, now)
            return CellMemories(words, None, (), 0, by_rule=asking.is_by_rule(summary))
        answers = await asking.about(cell)
        if sum(len(message.content) for message in cell.messages) <= SHORT:
            made = cell_memories(owner, conversation, cell, answers, now)
        else:
            made = await asyncio.to_thread(cell_memories, owner, conversation, cell, answers, now)
        return replace(
            made, by_rule=asking.is_by_rule(answers.facts, answers.episode, answers.summary)
        )

    async def _embedded(self, ready: ReadyCell) -> ReadyCell:
        await embed_memories(self._embedder, [ready.cell, *ready.compared])
        return ready

    async def _tell_again(self, work: Work, cell: Memory) -> Formed | None:
        """Commit that the cell was told again. Raises LookedElsewhere when it is gone meanwhile."""
        told_at = work.conversation.created_at

        def plan(look: ReadSet) -> Changes[CellOutcome]:
            cell_now = look.memory(cell.id)
            if (
                cell_now is None
                or not told_before(cell_now, told_at)
                or set(made_of(cell_now)) - {*ids}
            ):
                raise LookedElsewhere
            return tell_again(
                work.owner, cell_now, work.message_ids[:MOST_MARKED], look, self._clock.now()
            )

        ids = [*work.state_ids, *made_of(cell), *work.message_ids]
        await self._mark_surplus(work, cell.id)
        return await self._commit(work, plan, ids)

    async def _mark_surplus(self, work: Work, cell_id: str) -> None:
        """Mark the messages of a long cell that its own commit has no room for, as late as can be:
        until that commit lists hide them.
        """
        if surplus := work.message_ids[MOST_MARKED:]:
            await self._messages.mark_ahead(work.owner, surplus, cell_id, work.call)

    async def _compare(
        self,
        work: Work,
        ready: ReadyCell,
        asking: Asking,
        needed: Collection[str],
        turn: WriteTurn,
        before: ReadSet,
    ) -> Formed | None:
        """Compare, ask, commit. needed: ids that turned out to be needed before. before:
        a look that has the cell's messages.

        Raises LookedElsewhere when what was compared has changed before the commit,
        or others are needed.
        """
        owner = work.owner
        slots = {
            slot_document_id(*name)
            for memory in ready.compared
            if (name := slot_name(memory)) is not None
        }
        ids = [
            *work.state_ids,
            ready.cell.id,
            *work.read_messages,
            *(memory.id for memory in ready.compared),
            *sorted(slots),
        ]
        nears = [self._near(memory) for memory in ready.compared]
        before = replace(before, asked=before.asked | _never_written(before, ready))
        look = await self._look_beside(owner, before, ids, nears)
        if look.head != before.head and not work.reads_messages:
            raise LookedElsewhere
        ruled = await self._ruled(work, ready, look, asking)
        asked = ids
        wanted = [
            name
            for name in dict.fromkeys([*_beside(owner, look, ruled), *needed])
            if name not in ids
        ]
        if wanted:
            more = await self._ledger.look(owner, wanted)
            look = replace(look, documents={**more.documents, **look.documents})
            asked = [*asked, *wanted]
        now = self._clock.now()

        def plan(seen: ReadSet) -> Changes[CellOutcome]:
            return plan_cell(owner, ready, seen, asked, ruled, self._forming.links, now)

        await turn.take()
        if ready.is_kept:
            await self._mark_surplus(work, ready.cell.id)
        return await self._commit(work, plan, asked, nears, look)

    async def _look_beside(
        self, owner: Owner, before: ReadSet, ids: Sequence[str], nears: Sequence[Near]
    ) -> ReadSet:
        """A look at these documents. What a look before has shown is not read again while the head
        is its.
        """
        rest = [name for name in ids if name not in before.asked]
        look = await self._ledger.look(owner, rest, nears)
        if look.head != before.head:
            return await self._ledger.look(owner, ids, nears)
        return replace(look, documents={**before.documents, **look.documents}, asked=frozenset(ids))

    async def _commit(
        self,
        work: Work,
        plan: Callable[[ReadSet], Changes[CellOutcome]],
        ids: Sequence[str],
        nears: Sequence[Near] = (),
        basis: ReadSet | None = None,
    ) -> Formed | None:
        """Commit the plan and the conversation's next state in one batch. Raises what `plan`
        raises, LookedElsewhere after a clear, or where it has to be decided again on messages
        that were not read, MessagesGone.
        """
        rounds = count()

        def decide(seen: ReadSet) -> Changes[Formed | None]:
            is_repeated = next(rounds) > 0
            done, earlier = formed_before(seen, work.conversation.id, work.cell)
            if done:
                return Changes(earlier)
            if cleared_since(seen, work.owner, work.conversation) != work.cleared:
                raise LookedElsewhere
            if is_repeated and not work.reads_messages:
                raise LookedElsewhere
            if deleted_since(seen, [name for name in work.message_ids if name in ids]):
                raise MessagesGone
            return advanced(plan(seen), seen, work)

        committed = await self._ledger.commit(
            work.owner, decide, ids=ids, nears=nears, basis=basis, call=work.call
        )
        await self._mirror.follow(work.owner, committed)
        return committed.result

    async def _ruled(self, work: Work, ready: ReadyCell, look: ReadSet, asking: Asking) -> Ruled:
        """What the agents say about what this look shows."""
        linked = links_of(ready, look, self._forming.links, self._clock.now())
        prompt = ConflictPrompt.of(linked)
        if not prompt.older:
            return Ruled(None, Rulings({}))
        rulings = await self._rulings(work, ready, linked, prompt, asking)
        sources = merge_wanted(ready, linked, rulings)
        if not sources or ready.note is None:
            return Ruled(prompt.key, rulings)
        text, complaint = await asking.synthesis(ready.note, sources, prompt.key)
        vector = None if text is None else (await self._embedder.embed([text]))[0]
        return Ruled(
            prompt.key,
            rulings,
            MergedNote(tuple(source.id for source in sources), text, vector, complaint),
        )

    async def _rulings(
        self,
        work: Work,
        ready: ReadyCell,
        linked: Sequence[tuple[Memory, Sequence[Linked]]],
        prompt: ConflictPrompt,
        asking: Asking,
    ) -> Rulings:
        """What the conflict agent says: of this cell, or of all that is left of the
        conversation at once.
        """
        if not isinstance(asking, JointAsking):
            return await asking.rulings(prompt)
        own = Questions.of(linked, ready.proofs)

        async def of_all() -> Questions:
            questions, cells = own, await self.cells(work.owner, work.conversation, asking.steps)
            for cell in cells[work.cell.number + 1 :]:
                questions += await self._questions(replace(work, cell=cell), asking)
            return questions

        return await asking.rulings_at_once(own, of_all)

    async def _questions(self, work: Work, asking: Asking) -> Questions:
        """What the conflict agent would be asked about a cell that is formed later."""
        identity = cell_id(work.conversation, work.cell)
        is_known = told_before(
            (await self._ledger.look(work.owner, [identity])).memory(identity),
            work.conversation.created_at,
        )
        if is_known or only_asks_to_forget(work.cell.messages):
            return Questions()
        made = await self._made(work, asking)
        ready = (await self._embedded(_ready_cell(made, work.conversation))).beside(work.cleared)
        look = await self._ledger.look(
            work.owner, [], [self._near(memory) for memory in ready.compared]
        )
        return Questions.of(
            links_of(ready, look, self._forming.links, self._clock.now()), ready.proofs
        )

    def _near(self, memory: Memory) -> Near:
        slot = slot_of(memory)
        floor = self._forming.contradiction_floor if slot else self._forming.links.link_threshold
        if memory.category == "fact" and tells_change(memory.content):
            return Near(
                memory.embedding,
                frozenset({"semantic"}),
                floor * CHANGE_FLOOR,
                slot,
                limit=CHANGE_CANDIDATES,
            )
        return Near(memory.embedding, frozenset({"semantic"}), floor, slot, limit=CANDIDATES)


def _ready_cell(made: CellMemories, conversation: Conversation) -> ReadyCell:
    """The cell's memories, which have no vectors yet."""
    return ReadyCell(
        made.cell,
        made.note,
        made.facts,
        conversation.created_at,
        made.dropped,
        by_rule=made.by_rule,
    )


def _never_written(look: ReadSet, ready: ReadyCell) -> set[str]:
    """Ids of documents that are certainly not there, by what a look shows of the cell and the head.

    A cell's note and facts are written with it, and stay without it only where something was
    forgotten for good. The head knows which slots were ever filled.
    """
    if look.head is None or look.head.redactions:
        return set()
    made = set[str]()
    if ready.cell.id in look.asked and ready.cell.id not in look.documents:
        made |= {memory.id for memory in ready.compared}
    if look.head.slots is not None:
        made |= {
            slot_document_id(*name)
            for memory in ready.compared
            if (name := slot_name(memory)) is not None
            and (slot := slot_of(memory)) is not None
            and not marked(look.head.slots, slot)
        }
    return made


def _beside(owner: Owner, look: ReadSet, ruled: Ruled) -> list[str]:
    """What else a plan needs: the sessions that what is ruled out may be taken from."""
    ruled_out = {old_id for _, old_id in ruled.rulings.by_pair}
    sessions = {
        neighbour.memory.session_id
        for near in look.near
        for neighbour in near
        if neighbour.memory.id in ruled_out
    }
    return [session_document_id(owner, name) for name in sorted(filter(None, sessions))]


# One cell's work, and how far it got: whether it is still to be done, what it is not to make any
# more, the conversation's next state.
#
# All of it is read from the look that a commit is decided on, so that a worker that was cancelled,
# overtaken or cleared meanwhile finds out.


@dataclass(frozen=True, slots=True)
class Formed:
    """One cell's result; `last`: the conversation is formed."""

    cell: CellRecord
    last: bool


Finish = Callable[[Conversation], tuple[Document, ...]]
Report = Callable[[str, float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Work:
    """One cell's work: whose it is, of which conversation, and what its commit is told.

    cleared: the types of memories that the session was cleared of since the conversation was
    accepted, as far as was seen. reads_messages: whether the memories of the messages are read, and
    not taken to be as they were accepted.
    """

    owner: Owner
    conversation: Conversation
    cell: Cell
    total: int
    call: Call
    finish: Finish
    cleared: frozenset[MemoryType] = frozenset()
    reads_messages: bool = False

    @property
    def read_messages(self) -> list[str]:
        """Those of the messages' memories that are read."""
        return self.message_ids if self.reads_messages else []

    @property
    def message_ids(self) -> list[str]:
        """The memories of the cell's messages."""
        return message_ids(self.conversation)[self.cell.first : self.cell.last + 1]

    @property
    def state_ids(self) -> list[str]:
        """The documents that say how far the work is, and whether it is still to be done."""
        session = self.conversation.session_id
        return [
            self.conversation.id,
            *([session_document_id(self.owner, session)] if session is not None else []),
        ]


def _still_stand(look: ReadSet, conversation: Conversation) -> bool:
    """Whether the head alone tells that all messages of a conversation are there, none of them
    deleted: nothing that was there has changed since it was accepted.
    """
    document = look.documents.get(conversation.id)
    return (
        look.head is not None
        and document is not None
        and not look.head.counts.get(Status.DELETED.value)
        and look.head.last_removal_sequence < document.body["sequence"]
    )


def formed_before(look: ReadSet, conversation_id: str, cell: Cell) -> tuple[bool, Formed | None]:
    """Whether there is nothing to do for this cell, and then what it became; None for one that is
    cancelled or gone.
    """
    conversation = state_of(look, conversation_id)
    if conversation is None or conversation.state in ("cancelled", "poisoned"):
        return True, None
    if len(conversation.formed_cells) > cell.number:
        return True, Formed(conversation.formed_cells[cell.number], conversation.state == "formed")
    return False, None


def advanced(planned: Changes[CellOutcome], look: ReadSet, work: Work) -> Changes[Formed | None]:
    """The plan, and with it the conversation one cell further; with the last cell also what
    `finish` adds.

    The conversation is written onto the very state that was read: no event tells that it
    was cancelled.
    """
    conversation, document = (
        state_of(look, work.conversation.id),
        look.documents[work.conversation.id],
    )
    assert conversation is not None
    cell, last = work.cell, work.cell.number == work.total - 1
    result = planned.result
    formed_cell = CellRecord(
        first=cell.first,
        last=cell.last,
        memory_ids=list(result.memory_ids),
        counts=dict(result.counts),
    )
    further = conversation.changed(
        cells=work.total,
        formed_cells=[*conversation.formed_cells, formed_cell],
        state="formed" if last else conversation.state,
    )
    formed = Formed(formed_cell, last)
    body = {**document.body, **further.model_dump(mode="json", exclude={"messages"})}
    ended = work.finish(further) if last else ()

    def head_fields(head: Head) -> HeadFields:
        fields: HeadFields = {
            **planned.head_fields(head),
            "last_formed_sequence": head.sequence + len(planned.changes),
        }
        if last:
            fields |= counted(unfinished(ended) - 1)(head)
        return fields

    return Changes(
        formed,
        planned.changes,
        (*planned.puts, replace(document, body=body), *ended),
        marks=planned.marks,
        deletes=unread(body) if last else (),
        reads=planned.reads | {*work.message_ids},
        sessions=planned.sessions,
        types=planned.types,
        head_fields=head_fields,
    )
