"""Form a cell: compare, ask, commit.

No memory of the cell is searchable before that commit, and the commit advances the conversation in
the same batch. So a worker that repeats this, at any point, finds either none of it done or all of
it.

Cells whose answers are there at once are formed by one commit, if none of them would be decided
otherwise after those before it. Each of them is formed by its own commit if a model is asked about
it alone: no cell waits for the answers about another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from memory_core.domain.conversation import Cell, Conversation, Path
from memory_core.domain.errors import HeadMoved, TooLarge
from memory_core.domain.joint_answers import FormationCalls
from memory_core.domain.memory import Memory, MemoryType
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.domain.statements.wishes import only_asks_to_forget
from memory_core.domain.truth.slots import slot_name, slot_of
from memory_core.evolution.agent_rulings import (
    ConflictPrompt,
    MergedNote,
    Questions,
    Ruled,
    Rulings,
)
from memory_core.evolution.judgements import slot_reads
from memory_core.evolution.links import CANDIDATES, Linked, LinkRules, is_news
from memory_core.evolution.versions import embed_memories
from memory_core.formation.agent_calls import AgentCalls
from memory_core.formation.boundaries import (
    CUT_BY_RULE,
    WINDOW_MESSAGES,
    BoundaryRules,
    cells_of,
    cut_into_cells,
    whole_cell,
)
from memory_core.formation.cell_plan import (
    LEFT_OUT,
    MOST_MARKED,
    NO_CONTENT,
    CellOutcome,
    CellOutdated,
    ReadyCell,
    compared_of,
    ids_made_of,
    is_formed_already,
    merge_wanted,
    plan_cell,
    reinforce_cell,
)
from memory_core.formation.cell_work import (
    Finish,
    Formed,
    Report,
    Work,
    WriteTurn,
    WriteTurns,
    are_messages_active,
    certainly_missing_ids,
    finished_cell,
    session_ids_of,
    with_formed_cells,
)
from memory_core.formation.cells import CellMemories, cell_id, cell_memories, words_memory
from memory_core.formation.joint_calls import JointAgentCalls, agent_calls_of
from memory_core.formation.joint_plan import Entangled, RuledCell, are_apart, plan_cells
from memory_core.formation.message_memories import MessageWriter
from memory_core.formation.without_messages import deleted_since
from memory_core.ledger.changes import Changes
from memory_core.ledger.commit import NO_SEARCH, Ledger
from memory_core.ledger.documents import cleared_since
from memory_core.ledger.ids import slot_document_id
from memory_core.ledger.read_set import Reads, ReadSet, no_further
from memory_core.ports import Agents, Clock, Embedder, Near
from memory_core.tasks.agent_steps import Steps

_MADE: Mapping[Path, frozenset[MemoryType]] = {
    "converse": frozenset({MemoryType.EPISODIC, MemoryType.SEMANTIC}),
    "agent": frozenset({MemoryType.EPISODIC}),
}
"""The types of memories that are made of a conversation."""
SHORT = 4_000
"""Characters of a cell's messages that are read in 10 ms at most; longer cells are read in a
thread.
"""
MAX_LOOKS = 5
"""How often a cell is compared again because of other commits; after that the task waits and comes
back.
"""


KeepInstructions = Callable[[Owner, Conversation, Sequence[tuple[int, str]], Call], Awaitable[None]]
"""Keeps the standing instructions that an agent found, each with the number of its message. A
repeated call keeps them once.
"""


class MessagesGone(Exception):
    """Messages of a cell were deleted before it is formed.

    The conversation has to go on without them.
    """


@dataclass(frozen=True, slots=True)
class FormingRules:
    """Thresholds and choices of forming.

    Attributes:
        links: Thresholds on the embedder's scale, and boosts.
        contradiction_floor: The least similarity of neighbours of a memory with a slot.
        boundary: When a silence ends a cell.
        calls: In which calls a model is asked.

    """

    links: LinkRules
    contradiction_floor: float
    boundary: BoundaryRules = field(default_factory=BoundaryRules)
    calls: FormationCalls = "separate"


CHANGE_FLOOR, CHANGE_CANDIDATES = 0.3, 40
"""Factor of the threshold, and number of candidates, for the memory that a change is about. It is
searched for further away, and among more memories.
"""


class Former:
    """Forms conversations.

    `rules` are the agents without a model; they answer if `agents` fail.
    """

    def __init__(
        self,
        ledger: Ledger,
        messages: MessageWriter,
        embedder: Embedder,
        agents: Agents,
        rules: Agents,
        clock: Clock,
        forming: FormingRules,
        keep: KeepInstructions,
    ) -> None:
        self._messages = messages
        self._ledger, self._embedder, self._clock = ledger, embedder, clock
        self._agents, self._rules, self._forming, self._keep, self._turns = (
            agents,
            rules,
            forming,
            keep,
            WriteTurns(),
        )

    async def cells(self, owner: Owner, conversation: Conversation, steps: Steps) -> list[Cell]:
        """The cells of a conversation.

        They are always the same, because the boundaries are frozen.

        Args:
            owner: Whose conversation it is.
            conversation: Conversation to cut.
            steps: Freeze the agents' answers.

        Raises:
            Unavailable: A model or the store is down.

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

    def _asking(self, owner: Owner, conversation: Conversation, steps: Steps) -> AgentCalls:
        return agent_calls_of(
            self._forming.calls, owner, conversation, self._agents, self._rules, steps
        )

    async def form(
        self,
        owner: Owner,
        conversation: Conversation,
        cells: Sequence[Cell],
        total: int,
        steps: Steps,
        call: Call,
        *,
        finish: Finish,
        report: Report,
        before: ReadSet | None = None,
        prepared: MutableMapping[int, ReadyCell] | None = None,
    ) -> Sequence[Formed]:
        """Make the memories of the next cells and advance the conversation, once.

        All cells of a conversation are formed together if their answers are there at once and no
        cell depends on another; otherwise the first of these cells is formed.
        Models are asked before the turn among the user's other conversations; once the turn has
        come, these wait until this is done.

        Args:
            owner: Whose conversation it is.
            conversation: Conversation of the cells.
            cells: Cells that are left to form, in order.
            total: The number of the conversation's cells.
            steps: Freeze the agents' answers.
            call: Call on whose behalf it happens.
            finish: Makes the documents that end the task, with the last cell.
            report: Receives a cell, the name of a step, and the share of the cell that is done.
            before: A read set with the conversation, which is not read again while the head is the
                same.
            prepared: Receives memories by the numbers of cells that were made ready and not formed,
                for the next call.

        Returns:
            Empty if the conversation was cancelled or erased meanwhile.

        Raises:
            Unavailable: A dependency is down.
            HeadMoved: Other writers are faster than this can decide.
            MessagesGone: Messages of the cell were deleted since they came.

        """
        works = [Work(owner, conversation, cell, total, call, finish) for cell in cells]
        prepared = {} if prepared is None else prepared
        async with self._turns.of(owner) as turn:
            if len(cells) == total > 1 and self._answers_at_once(conversation):
                read_set = await self._look_from(works[0], before, works)
                together = await self._together(turn, works, steps, report, read_set, prepared)
                if together:
                    return together
                before = read_set
            ready = prepared.get(cells[0].number)
            formed = await self._formed(turn, works[0], steps, report, before, ready)
            return () if formed is None else (formed,)

    def _answers_at_once(self, conversation: Conversation) -> bool:
        """Whether the answers about all cells are there once the conversation is cut."""
        if conversation.path == "agent":
            return False
        return self._agents is self._rules or (
            self._forming.calls == "one" and len(conversation.messages) <= WINDOW_MESSAGES
        )

    async def _look_from(
        self, work: Work, before: ReadSet | None, works: Sequence[Work]
    ) -> ReadSet:
        """The state of a conversation, with its cells if they are formed already."""
        ids = [*work.state_ids, *(cell_id(each.conversation, each.cell) for each in works)]
        if before is None:
            return await self._ledger.look(work.owner, ids)
        return await self._look_beside(work.owner, before, ids, NO_SEARCH)

    async def _together(
        self,
        turn: WriteTurn,
        works: Sequence[Work],
        steps: Steps,
        report: Report,
        before: ReadSet,
        prepared: MutableMapping[int, ReadyCell],
    ) -> Sequence[Formed]:
        """All cells by a single commit; empty if they need one each."""
        first = works[0]
        owner, conversation = first.owner, first.conversation
        if not _may_go_together(works, before):
            return ()
        asking = self._asking(owner, conversation, steps)
        for work in works:
            prepared[work.cell.number] = await self._ready(work, asking, report)
            await report(work.cell, "evolution", 0.7)
        cells = [prepared[work.cell.number] for work in works]
        compared = [memory for ready in cells for memory in ready.compared]
        ids = [*first.state_ids, *(ready.cell.id for ready in cells), *_compared_ids(compared)]
        nears = {memory.id: self._near(memory) for memory in compared}
        if not are_apart(cells, nears):
            return ()
        known = before.asked.union(*(certainly_missing_ids(before, ready) for ready in cells))
        read_set = await self._look_beside(owner, replace(before, asked=known), ids, nears)
        if read_set.head != before.head:
            return ()
        ruled = [
            RuledCell(ready, await self._ruled(work, ready, read_set, asking))
            for work, ready in zip(works, cells, strict=True)
        ]

        def reads(seen: ReadSet) -> list[str]:
            beside = (session_ids_of(owner, seen, cell.ruled) for cell in ruled)
            return [*(name for names in beside for name in names), *slot_reads(seen, compared)]

        rounds = count()

        def decide(seen: ReadSet) -> Changes[tuple[Formed, ...]]:
            if (
                next(rounds) > 0
                or finished_cell(seen, conversation.id, first.cell)[0]
                or cleared_since(seen, owner, conversation)
            ):
                raise CellOutdated
            plans = plan_cells(owner, ruled, seen, nears, self._forming.links)
            return with_formed_cells([*zip(works, plans, strict=True)], seen)

        await turn.take()
        try:
            return (
                await self._ledger.commit(
                    owner,
                    decide,
                    ids=ids,
                    reads=reads,
                    nears=nears,
                    basis=read_set,
                    call=first.call,
                )
            ).result
        except (CellOutdated, Entangled, TooLarge):
            return ()

    async def _formed(
        self,
        turn: WriteTurn,
        work: Work,
        steps: Steps,
        report: Report,
        before: ReadSet | None,
        ready: ReadyCell | None,
    ) -> Formed | None:
        owner, conversation, cell = work.owner, work.conversation, work.cell
        asking = self._asking(owner, conversation, steps)
        identity = cell_id(conversation, cell)
        for _ in range(MAX_LOOKS):
            ids = [*work.state_ids, identity, *work.read_messages]
            if before is None:
                read_set = await self._ledger.look(owner, ids)
            else:
                read_set, before = await self._look_beside(owner, before, ids, NO_SEARCH), None
            if not work.reads_messages and not are_messages_active(read_set, conversation):
                work = replace(work, reads_messages=True)
                continue
            done, earlier = finished_cell(read_set, conversation.id, cell)
            if done:
                return earlier
            work = replace(work, cleared=cleared_since(read_set, owner, conversation))
            try:
                if work.cleared >= _MADE[conversation.path]:
                    return await self._commit(work, lambda seen: LEFT_OUT, work.state_ids)
                if deleted_since(read_set, work.read_messages):
                    raise MessagesGone
                if only_asks_to_forget(cell.messages):
                    return await self._commit(work, lambda seen: NO_CONTENT, work.state_ids)
                existing = read_set.memory(identity)
                if existing is not None and is_formed_already(existing, conversation.created_at):
                    return await self._reinforce(work, existing)
                if ready is None:
                    ready = await self._ready(work, asking, report)
                    await report(cell, "evolution", 0.7)
                return await self._compare(work, ready.beside(work.cleared), asking, turn, read_set)
            except CellOutdated:
                work = replace(work, reads_messages=True)
        raise HeadMoved(
            "this user's memories change faster than a cell can be compared with them",
            retry_after_s=2,
        )

    async def _ready(self, work: Work, asking: AgentCalls, report: Report) -> ReadyCell:
        """The cell's memories, all embedded in a single call."""
        await report(work.cell, "agents", 0.1)
        made = await self._made(work, asking)
        await self._keep(work.owner, work.conversation, made.instructions, work.call)
        await report(work.cell, "embedding", 0.5)
        return await self._embedded(_ready_cell(made, work.conversation))

    async def _made(self, work: Work, asking: AgentCalls) -> CellMemories:
        """The memories that the agents make of a cell.

        An agent's own words become a single memory, which is not compared.
        """
        owner, conversation, cell, now = work.owner, work.conversation, work.cell, self._clock.now()
        if conversation.path == "agent":
            summary = await asking.fast_summary(cell)
            words = words_memory(owner, conversation, cell, summary, now)
            return CellMemories(words, None, (), 0, by_rule=summary.by_rule)
        answers = await asking.about(cell)
        if sum(len(message.content) for message in cell.messages) <= SHORT:
            return cell_memories(owner, conversation, cell, answers, now)
        return await asyncio.to_thread(cell_memories, owner, conversation, cell, answers, now)

    async def _embedded(self, ready: ReadyCell) -> ReadyCell:
        await embed_memories(self._embedder, [ready.cell, *ready.compared])
        return ready

    async def _reinforce(self, work: Work, cell: Memory) -> Formed | None:
        """Commit that the cell was sent again. Raises CellOutdated if it is gone meanwhile."""
        sent_at = work.conversation.created_at

        def plan(read_set: ReadSet) -> Changes[CellOutcome]:
            cell_now = read_set.memory(cell.id)
            if (
                cell_now is None
                or not is_formed_already(cell_now, sent_at)
                or set(ids_made_of(cell_now)) - {*ids}
            ):
                raise CellOutdated
            return reinforce_cell(
                work.owner, cell_now, work.message_ids[:MOST_MARKED], read_set, self._clock.now()
            )

        ids = [*work.state_ids, *ids_made_of(cell), *work.message_ids]
        await self._mark_surplus(work, cell.id)
        return await self._commit(work, plan, ids)

    async def _mark_surplus(self, work: Work, cell_id: str) -> None:
        """Mark messages of a long cell for which its own commit has no room.

        This is done as late as possible, because lists hide the messages until that commit.
        """
        if surplus := work.message_ids[MOST_MARKED:]:
            await self._messages.mark_ahead(work.owner, surplus, cell_id, work.call)

    async def _compare(
        self, work: Work, ready: ReadyCell, asking: AgentCalls, turn: WriteTurn, before: ReadSet
    ) -> Formed | None:
        """Compare the cell with its neighbours, ask the conflict agent, and commit.

        `before` is a read set with the cell's messages. Raises CellOutdated if the compared
        memories change before the commit.
        """
        owner = work.owner
        ids = [*work.state_ids, ready.cell.id, *work.read_messages, *_compared_ids(ready.compared)]
        nears = {memory.id: self._near(memory) for memory in ready.compared}
        before = replace(before, asked=before.asked | certainly_missing_ids(before, ready))
        read_set = await self._look_beside(owner, before, ids, nears)
        if read_set.head != before.head and not work.reads_messages:
            raise CellOutdated
        ruled = await self._ruled(work, ready, read_set, asking)

        def reads(seen: ReadSet) -> list[str]:
            return [*session_ids_of(owner, seen, ruled), *slot_reads(seen, ready.compared)]

        def plan(seen: ReadSet) -> Changes[CellOutcome]:
            return plan_cell(owner, ready, seen, ruled, self._forming.links)

        await turn.take()
        if ready.is_kept:
            await self._mark_surplus(work, ready.cell.id)
        return await self._commit(work, plan, ids, nears, read_set, reads)

    async def _look_beside(
        self, owner: Owner, before: ReadSet, ids: Sequence[str], nears: Mapping[str, Near]
    ) -> ReadSet:
        """Read documents, except those in an earlier read set while the head is the same."""
        rest = [name for name in ids if name not in before.asked]
        read_set = await self._ledger.look(owner, rest, nears)
        if read_set.head != before.head:
            return await self._ledger.look(owner, ids, nears)
        return replace(
            read_set, documents={**before.documents, **read_set.documents}, asked=frozenset(ids)
        )

    async def _commit(
        self,
        work: Work,
        plan: Callable[[ReadSet], Changes[CellOutcome]],
        ids: Sequence[str],
        nears: Mapping[str, Near] = NO_SEARCH,
        basis: ReadSet | None = None,
        reads: Reads = no_further,
    ) -> Formed | None:
        """Commit the plan and the conversation's next state in a single batch.

        Raises CellOutdated after a clear, or if it must be decided again on messages that were
        not read. Raises MessagesGone, and any error of `plan`.
        """
        rounds = count()

        def decide(seen: ReadSet) -> Changes[tuple[Formed, ...]]:
            is_repeated = next(rounds) > 0
            done, earlier = finished_cell(seen, work.conversation.id, work.cell)
            if done:
                return Changes(() if earlier is None else (earlier,))
            if cleared_since(seen, work.owner, work.conversation) != work.cleared:
                raise CellOutdated
            if is_repeated and not work.reads_messages:
                raise CellOutdated
            if deleted_since(seen, [name for name in work.message_ids if name in ids]):
                raise MessagesGone
            return with_formed_cells([(work, plan(seen))], seen)

        committed = await self._ledger.commit(
            work.owner, decide, ids=ids, reads=reads, nears=nears, basis=basis, call=work.call
        )
        return next(iter(committed.result), None)

    async def _ruled(
        self, work: Work, ready: ReadyCell, read_set: ReadSet, asking: AgentCalls
    ) -> Ruled:
        """The agents' decisions about the memories of this read set."""
        linked = compared_of(ready, read_set, self._forming.links, self._clock.now())
        prompt = ConflictPrompt.of(linked)
        if not prompt.older:
            return Ruled(None, Rulings({}))
        rulings = await self._rulings(work, ready, linked, prompt, asking)
        sources = merge_wanted(ready, linked, rulings)
        if not sources or ready.note is None:
            return Ruled(prompt.key, rulings)
        text = await asking.synthesis(ready.note, sources, prompt.key)
        if text is None:
            return Ruled(prompt.key, rulings)
        (vector,) = await self._embedder.embed([text])
        merged = MergedNote(tuple(source.id for source in sources), text, vector)
        return Ruled(prompt.key, rulings, merged)

    async def _rulings(
        self,
        work: Work,
        ready: ReadyCell,
        linked: Sequence[tuple[Memory, Sequence[Linked]]],
        prompt: ConflictPrompt,
        asking: AgentCalls,
    ) -> Rulings:
        """The conflict agent's decisions: about this cell, or about all remaining cells at once."""
        if not isinstance(asking, JointAgentCalls):
            return await asking.rulings(prompt)
        own = Questions.of(linked, ready.proofs)

        async def of_all() -> Questions:
            questions, cells = own, await self.cells(work.owner, work.conversation, asking.steps)
            for cell in cells[work.cell.number + 1 :]:
                questions += await self._questions(replace(work, cell=cell), asking)
            return questions

        return await asking.rulings_at_once(own, of_all)

    async def _questions(self, work: Work, asking: AgentCalls) -> Questions:
        """The questions for the conflict agent about a cell that is formed later."""
        identity = cell_id(work.conversation, work.cell)
        is_known = is_formed_already(
            (await self._ledger.look(work.owner, [identity])).memory(identity),
            work.conversation.created_at,
        )
        if is_known or only_asks_to_forget(work.cell.messages):
            return Questions()
        made = await self._made(work, asking)
        ready = (await self._embedded(_ready_cell(made, work.conversation))).beside(work.cleared)
        nears = {memory.id: self._near(memory) for memory in ready.compared}
        read_set = await self._ledger.look(work.owner, [], nears)
        return Questions.of(
            compared_of(ready, read_set, self._forming.links, self._clock.now()), ready.proofs
        )

    def _near(self, memory: Memory) -> Near:
        slot = slot_of(memory)
        floor = self._forming.contradiction_floor if slot else self._forming.links.link_threshold
        if is_news(memory):
            return Near(
                memory.embedding,
                frozenset({"semantic"}),
                floor * CHANGE_FLOOR,
                slot,
                limit=CHANGE_CANDIDATES,
            )
        return Near(memory.embedding, frozenset({"semantic"}), floor, slot, limit=CANDIDATES)


def _may_go_together(works: Sequence[Work], read_set: ReadSet) -> bool:
    """Whether a single commit may form all cells of a conversation."""
    first = works[0]
    return (
        are_messages_active(read_set, first.conversation)
        and not finished_cell(read_set, first.conversation.id, first.cell)[0]
        and not cleared_since(read_set, first.owner, first.conversation)
        and not any(read_set.memory(cell_id(work.conversation, work.cell)) for work in works)
        and not any(only_asks_to_forget(work.cell.messages) for work in works)
    )


def _compared_ids(compared: Sequence[Memory]) -> list[str]:
    """The ids of new memories, and of the logs of their slots."""
    slots = {
        slot_document_id(*name) for memory in compared if (name := slot_name(memory)) is not None
    }
    return [*(memory.id for memory in compared), *sorted(slots)]


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
