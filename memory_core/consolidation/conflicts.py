"""Decide open conflicts: by rule if that is certain, else by an agent's checked answer.

Note: a pending conflict that can't be decided stays pending, and names the run that last read it.
It is read again when a side changes, or a day later. Each decision is a commit with its record, in
the order in which the later sides were asserted. Of three memories that contradict each other in
turn, the last is active, and the `next_id` of each other memory is the memory after it.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from memory_core.consolidation.step import Proposal, Run
from memory_core.domain.agent_schemas import Answered, Decision, Decisions
from memory_core.domain.conflict import RULE, ConflictRecord, record_in
from memory_core.domain.errors import AgentFailed, Conflict
from memory_core.domain.memory import Head, Memory, MemoryType
from memory_core.domain.requests.maintenance import ResolveInput
from memory_core.domain.skew import is_written_ahead
from memory_core.domain.text.sameness import differences
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from memory_core.domain.truth.slots import is_retraction, retracts, same_value, slot_of
from memory_core.evolution.agent_rulings import ConflictPrompt, Rulings
from memory_core.evolution.changeset import ChangeSet
from memory_core.evolution.decisions import (
    MAX_REASON,
    assertion_order,
    decide,
    decide_by_time,
    reads_of,
)
from memory_core.evolution.opinions import contradiction_by_rule, opinion
from memory_core.ledger.commit import Ledger
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Agents, Document, Filter, LongTermStore, Place
from memory_core.tasks.agent_steps import Steps
from memory_core.tasks.operation_records import Chunk

# Decide open conflicts by rule: whether the two memories exclude each other, and which of them
# holds.
#
# Note: the rules do not overrule a person. A conflict waits for a person if one of its memories was
# pinned or restored by a caller, or if a caller undid a decision about it.


LOOK_AGAIN = timedelta(hours=24)
"""How long a conflict that a run left open waits for the next look, while neither side changes."""


@dataclass(frozen=True, slots=True)
class ConflictVerdict:
    """A decision on two memories, with its reason.

    Attributes:
        decision: `last`: the memory that was asserted last supersedes the other; `both`: both
            coexist; `open`: the conflict stays pending.
        reason: The reason in words.
        by: The rule or the model that decided.
        disputed: A model's words against the rules. With them a person decides, and no run.

    """

    decision: Literal["last", "both", "open"]
    reason: str
    by: str = RULE
    disputed: str | None = None


def is_due(
    record: ConflictRecord, changed_ids: Collection[str], at: datetime, *, only_changed: bool
) -> bool:
    """Whether a run looks at a conflict.

    It does if no run has, if a side changed, or if the last look was a day ago. Conflicts that
    a person opened by undoing a decision are left to that person. So are those about which a model
    and the rules disagree.

    Args:
        record: The record of the conflict.
        changed_ids: The ids of changed memories.
        at: The time of the run.
        only_changed: Whether only a changed side counts.

    """
    if not record.open or record.new_id is None or record.previous is not None or record.by != RULE:
        return False
    if not {*record.sides}.isdisjoint(changed_ids):
        return True
    looked_at = record.looked_at
    if looked_at is None or is_written_ahead(looked_at, at):
        return not only_changed
    return not only_changed and at - looked_at >= LOOK_AGAIN


def by_rule(old: Memory, new: Memory) -> ConflictVerdict | None:
    """Decide on two active memories if a rule is certain, else return None.

    Args:
        old: The older side.
        new: The newer side.

    """
    earlier = min(old, new, key=assertion_order)
    if earlier.pinned:
        return ConflictVerdict("open", "the earlier memory is pinned")
    slot = slot_of(old)
    if slot is not None and slot == slot_of(new):
        return _in_one_slot(old, new)
    if not differences(old.content, new.content):
        return ConflictVerdict("both", "no difference is left that counts")
    return None


def by_agent_ruling(
    ruling: Decision | None, by: str, *, sure: bool, one_scene: bool, denied: bool = False
) -> ConflictVerdict:
    """Turn an agent's answer into a verdict.

    Args:
        ruling: The agent's answer about the two; None if it gave none.
        by: The name of the agent.
        sure: Whether code agrees to it.
        one_scene: Whether both were asserted within a single scene. Then the later memory is
            active even if the agent is not sure that they contradict: a scene is a single matter
            within a few days.
        denied: Whether a model says that the two do not exclude each other, although the rules
            see a contradiction.

    """
    if ruling is not None and denied:
        return ConflictVerdict("open", "the rules and a model disagree", by, opinion(by, ruling))
    if ruling is None:
        return ConflictVerdict("open", "no agent decided whether they exclude each other", by)
    reason = ruling.reasoning.replace("\0", "").strip() or ruling.operation
    if ruling.operation == "DELETE" and (sure or one_scene):
        return ConflictVerdict("last", reason if sure else f"{reason}; both in one scene", by)
    if ruling.operation == "DELETE":
        return ConflictVerdict("open", f"unsure: {reason}", by)
    return (
        ConflictVerdict("both", reason, by)
        if sure
        else ConflictVerdict("open", f"not confirmed: {reason}", by)
    )


def _in_one_slot(old: Memory, new: Memory) -> ConflictVerdict:
    if "restored" in (old.status_reason, new.status_reason):
        return ConflictVerdict("open", "a caller restored one of them")
    if is_retraction(old) or is_retraction(new):
        if retracts(old, new) or retracts(new, old):
            return ConflictVerdict("last", "one memory says that the other is over")
        return ConflictVerdict("both", "the value that is over is another value")
    if same_value(old, new):
        return ConflictVerdict("both", "the same value")
    if not (_begins_before_the_end(old, new) and _begins_before_the_end(new, old)):
        return ConflictVerdict("both", "they are valid at different times")
    return ConflictVerdict("last", "same slot, other value; the value stated last holds")


def _begins_before_the_end(first: Memory, second: Memory) -> bool:
    return second.valid_until is None or first.valid_from < second.valid_until


log = logging.getLogger(__name__)
MOST = 10
"""The most conflicts that a run looks at; the rest are left to the next runs.

Each is a commit, and perhaps a question to a model.
"""
MAX_READ = 500
"""The most open conflicts that a run chooses from, the latest met.

A user with more of them has to be asked anyway.
"""
_PAGE = 100


@dataclass(frozen=True, slots=True)
class _Case:
    """Two memories of a conflict, and its record."""

    record_id: str
    old_id: str
    new_id: str

    @property
    def ids(self) -> list[str]:
        return [self.record_id, self.old_id, self.new_id]


class ConflictStep:
    """Decides the open conflicts of a user, each by itself.

    The agent `rules` works without a model, and answers if the model fails.
    """

    name = "conflicts"

    def __init__(
        self, store: LongTermStore, ledger: Ledger, agents: Agents, rules: Agents, steps: Steps
    ) -> None:
        self._store, self._ledger, self._agents, self._rules, self._steps = (
            store,
            ledger,
            agents,
            rules,
            steps,
        )

    async def propose(self, run: Run, cursor: Any) -> Proposal | None:
        """Return the next conflict.

        Args:
            run: The run.
            cursor: The conflicts that are left, each as the ids of its record and its sides; None
                for the beginning.

        Raises:
            Unavailable: The long-term store or an agent is down.

        """
        left = await self._due(run) if cursor is None else [_Case(*ids) for ids in cursor]
        return await self._proposal(run, left) if left else None

    async def dry_run(self, run: Run) -> Mapping[str, int]:
        """Count the conflicts that the step would look at."""
        return {"conflicts": len(await self._due(run))}

    async def _proposal(self, run: Run, left: Sequence[_Case]) -> Proposal:
        case = left[0]
        read_set = await self._ledger.look(run.owner, case.ids)
        verdict = await self._verdict(run, case, read_set)

        def reads(read_set: ReadSet) -> list[str]:
            document = read_set.documents.get(case.record_id)
            return (
                [] if document is None else reads_of(run.owner, record_in(document.body), read_set)
            )

        def decided(read_set: ReadSet) -> Chunk:
            return self._chunk(run, left, read_set, verdict)

        return Proposal(case.ids, decided, reads=reads)

    def _chunk(
        self, run: Run, left: Sequence[_Case], read_set: ReadSet, decided: _Decided | None
    ) -> Chunk:
        """Decide the first of the conflicts, or mark it as looked at.

        It stays the first if its texts have changed since the verdict.
        """
        case, rest = left[0], [left_case.ids for left_case in left[1:]]
        over = Chunk(cursor=rest, done=not rest)
        page = ChangeSet(run.owner, read_set, read_set.now, weighs=True)
        document, sides = _open(page, case), _sides(read_set, case)
        if document is None or sides is None:
            return over
        if decided is None or decided.question != ConflictPrompt(sides[1:], sides[:1]).key:
            return Chunk(cursor=[left_case.ids for left_case in left])
        verdict, record = decided.verdict, record_in(document.body)
        try:
            if verdict.decision == "last":
                record = decide_by_time(page, document, verdict.reason, verdict.by)
            elif verdict.decision == "both":
                record = decide(
                    page,
                    document,
                    ResolveInput(decision="keep_both", reason=verdict.reason[:MAX_REASON]),
                    verdict.by,
                )
        except Conflict as refused:
            log.info("a conflict stays open: %s", refused.detail)
        if record.open:
            return self._keep_open(over, run.at, page, document, verdict)
        return replace(
            over,
            **page.written(),
            reads=frozenset({*page.states, *record.memory_ids}),
            counts={"conflicts_decided": 1},
        )

    def _keep_open(
        self,
        over: Chunk,
        at: datetime,
        page: ChangeSet,
        document: Document,
        verdict: ConflictVerdict,
    ) -> Chunk:
        """Write down that a conflict was looked at, and a model's words against it."""
        # in the models' format, so that an export is equal after an import
        looked_at = at.isoformat().replace("+00:00", "Z")
        noted = {"looked_at": looked_at}
        if verdict.disputed is not None:
            noted |= {"reason": f"{document.body['reason']}; {verdict.disputed}", "by": verdict.by}
        page.puts[document.id] = replace(document, body={**document.body, **noted})
        return replace(over, **page.written(), counts={"conflicts_left_open": 1})

    async def _verdict(self, run: Run, case: _Case, read_set: ReadSet) -> _Decided | None:
        """Return the decision on both memories as they are now.

        None if there is no conflict to decide any more. Raises Unavailable.
        """
        sides = _sides(read_set, case)
        if sides is None:
            return None
        old, new = sides
        prompt = ConflictPrompt((new,), (old,))
        if (certain := by_rule(old, new)) is not None:
            return _Decided(prompt.key, certain)
        cells = await run.reads.memories([side.cell_id for side in sides if side.cell_id])
        scenes = [
            None if cell is None else cell.scene_id
            for cell in (cells.get(side.cell_id or "") for side in sides)
        ]
        rulings = await self._ask(run, case, prompt)
        sure, one_scene = (
            rulings.on(new, old) is not None,
            scenes[0] is not None and scenes[0] == scenes[1],
        )
        ruling = rulings.by_pair.get((new.id, old.id))
        denied = (
            rulings.denial(new, old) is not None
            and contradiction_by_rule(new, old, differences(new.content, old.content)) is not None
        )
        return _Decided(
            prompt.key,
            by_agent_ruling(ruling, rulings.model, sure=sure, one_scene=one_scene, denied=denied),
        )

    async def _ask(self, run: Run, case: _Case, prompt: ConflictPrompt) -> Rulings:
        """Ask the agents about exactly these two texts, or the rules if a model fails.

        The answer is kept, so an agent is asked once.
        """
        new, older = prompt.items()
        for name, agents in (("model", self._agents), ("rules", self._rules)):

            async def ask(agents: Agents = agents) -> Answered[Decisions]:
                return await agents.decide_conflicts(run.owner, new, older)

            try:
                answer = await self._steps.frozen(
                    run.owner, case.record_id, f"conflict {prompt.key} {name}", ask, Decisions
                )
            except AgentFailed as error:
                log.warning("a conflict is left to the rules: %s", error.detail)
                continue
            return Rulings.of(
                prompt, answer.value, answer.provenance.model, by_rule=agents is self._rules
            )
        return Rulings({})

    async def _due(self, run: Run) -> list[_Case]:
        """Return the conflicts that this run decides, by when their later side was asserted."""
        head = (await run.reads.look([])).head
        if head is None:
            return []
        cases = await self._questions(run, head) if head.pending_count else []
        read_set = (
            await self._ledger.look(run.owner, [name for case in cases for name in case.ids[1:]])
            if cases
            else ReadSet(None, {})
        )
        times = {
            case: max(map(assertion_order, sides))
            for case in cases
            if (sides := _sides(read_set, case)) is not None
        }
        return sorted(times, key=lambda case: (times[case], case.record_id))[:MOST]

    async def _questions(self, run: Run, head: Head) -> list[_Case]:
        """Return open conflicts that are due, at most twice `MOST`."""
        changed_ids, cases = frozenset(run.changed_ids(MemoryType.SEMANTIC)), list[_Case]()
        after: Place | None = None
        for _ in range(MAX_READ // _PAGE):
            documents = await self._store.page(
                run.owner, "conflict", Filter(frozenset({"pending"})), after, _PAGE
            )
            records = [
                record_in(document.body)
                for document in documents
                if document.body["epoch"] == head.epoch
            ]
            due = [
                record
                for record in records
                if is_due(record, changed_ids, run.at, only_changed=run.session_id is not None)
            ]
            cases += [
                _Case(record.id, record.old_id, record.new_id)
                for record in due
                if record.new_id is not None
            ]
            if len(documents) < _PAGE or len(cases) >= 2 * MOST:
                break
            after = Place(int(documents[-1].body["sequence"]), documents[-1].id)
        return cases[: 2 * MOST]


@dataclass(frozen=True, slots=True)
class _Decided:
    """A verdict on the memories and texts that `question` is the digest of."""

    question: str
    verdict: ConflictVerdict


def _open(page: ChangeSet, case: _Case) -> Document | None:
    """Return the record of a case while it is open."""
    document, head = page.read_set.documents.get(case.record_id), page.read_set.head
    is_there = document is not None and head is not None and document.body["epoch"] == head.epoch
    return document if document is not None and is_there and record_in(document.body).open else None


def _sides(read_set: ReadSet, case: _Case) -> tuple[Memory, Memory] | None:
    """Return both memories while both are active."""
    old, new = read_set.memory(case.old_id), read_set.memory(case.new_id)
    if (
        old is None
        or new is None
        or old.status not in FOUND_BY_DEFAULT
        or new.status not in FOUND_BY_DEFAULT
    ):
        return None
    return old, new
