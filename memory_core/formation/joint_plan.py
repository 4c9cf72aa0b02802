"""Plan one commit of several cells of a conversation.

Each cell is planned alone, on what was read before all of them. The plans are put together if each
cell would have been decided in the same way after the cells before it. Otherwise they are
`Entangled`, and each cell is formed by a commit of its own, in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memory_core.domain.memory import Memory, MemoryType
from memory_core.domain.scope import Owner
from memory_core.domain.truth.slots import slot_name
from memory_core.evolution.agent_rulings import Ruled
from memory_core.evolution.changeset import weight_of
from memory_core.evolution.links import LinkRules
from memory_core.formation.cell_plan import BESIDE, CellOutcome, ReadyCell, plan_cell
from memory_core.ledger.changes import Changes
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Near

MOST_DOCUMENTS = 80
"""Documents of a commit of several cells; the other operations of a batch are left to truths that
end by it.
"""
MOST_BYTES = 1_200_000


class Entangled(Exception):
    """A cell depends on a cell before it, or they don't fit a commit."""


@dataclass(frozen=True, slots=True)
class RuledCell:
    """A cell with the decisions of the agents about its memories."""

    ready: ReadyCell
    ruled: Ruled


def are_apart(cells: Sequence[ReadyCell], nears: Mapping[str, Near]) -> bool:
    """Whether cells' new memories share no slot and are no neighbours.

    Args:
        cells: The cells, in order.
        nears: The searches for the neighbours of their memories, by the new memory's id.

    """
    for place, cell in enumerate(cells):
        before = [memory for earlier in cells[:place] for memory in earlier.compared]
        slots = {slot_name(memory) for memory in before} - {None}
        for new in cell.compared:
            if slot_name(new) in slots or any(
                _are_near(new, nears[new.id], memory) for memory in before
            ):
                return False
    return True


def plan_cells(
    owner: Owner,
    cells: Sequence[RuledCell],
    read_set: ReadSet,
    nears: Mapping[str, Near],
    rules: LinkRules,
) -> list[Changes[CellOutcome]]:
    """The changes of each cell, to be committed together.

    Args:
        owner: Whose memories they are.
        cells: The cells, in order.
        read_set: A read set with the neighbours of all cells.
        nears: The searches for these neighbours, by the new memory's id.
        rules: Thresholds and boosts.

    Raises:
        Entangled: They can't be committed together.
        CellOutdated: As by `plan_cell`.

    """
    plans = list[Changes[CellOutcome]]()
    slots = set[tuple[str, ...]]()
    for cell in cells:
        planned = plan_cell(owner, cell.ready, read_set, cell.ruled, rules)
        compared = cell.ready.compared
        known = _slots(planned, compared)
        if not slots.isdisjoint(known) or any(
            _affects(before, planned, compared, read_set, nears) for before in plans
        ):
            raise Entangled
        plans.append(planned)
        slots |= known
        sessions = {put.id: put for put in planned.puts if put.kind == "session"}
        read_set = replace(read_set, documents={**read_set.documents, **sessions})
    if not _fit(plans):
        raise Entangled
    return plans


def _affects(
    before: Changes[CellOutcome],
    planned: Changes[CellOutcome],
    compared: Sequence[Memory],
    read_set: ReadSet,
    nears: Mapping[str, Near],
) -> bool:
    """Whether a plan changes what the plan of a later cell was decided on.

    That is a memory that the later one read, or a new neighbour.
    """
    changed = {change.after.id for change in before.changes}
    read = {near.memory.id for new in compared for near in read_set.near.get(new.id, ())}
    if not changed.isdisjoint(planned.reads | read):
        return True
    semantic = [
        change.after for change in before.changes if change.after.type is MemoryType.SEMANTIC
    ]
    return any(_are_near(new, nears[new.id], memory) for new in compared for memory in semantic)


def _slots(planned: Changes[CellOutcome], compared: Sequence[Memory]) -> set[tuple[str, ...]]:
    """The slots of the memories that a plan compares or changes."""
    changed = (memory for change in planned.changes for memory in (change.before, change.after))
    memories = [*compared, *(memory for memory in changed if memory is not None)]
    return {name for memory in memories if (name := slot_name(memory)) is not None}


def _are_near(new: Memory, near: Near, memory: Memory) -> bool:
    if new.embedding is None or memory.embedding is None:
        return True
    return float(np.dot(new.embedding, memory.embedding)) >= near.floor


def _fit(plans: Sequence[Changes[CellOutcome]]) -> bool:
    """Whether the plans fit a commit, with what it writes besides."""
    changes = [change for planned in plans for change in planned.changes]
    documents = len({change.after.id for change in changes}) + len(changes) + BESIDE
    documents += len({put.id for planned in plans for put in planned.puts})
    documents += sum(len(planned.marks) for planned in plans)
    return documents <= MOST_DOCUMENTS and sum(map(weight_of, changes)) <= MOST_BYTES
