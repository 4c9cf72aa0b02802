"""Messages and stories that are not quoted, since they tell a deleted fact.

The cell, its note and its messages stay what they are, and are listed and read by their ids;
restored, the fact is told again by all of them. Costs nothing for a user who has deleted nothing;
else a read of the cells that were found, and one of their facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memory_core.domain.memory import Head, Memory, Status
from memory_core.domain.messages import MESSAGE, REQUEST, is_message, messages_in
from memory_core.domain.scope import Owner
from memory_core.domain.text.sentences import sentences
from memory_core.ledger.readable import readable_shown
from memory_core.ports import LongTermStore
from memory_core.recollection.quotations import STORIES

Silenced = Mapping[str, frozenset[int]]
"""By cell, the numbers of the messages that must not be told."""
_CONTRADICTED = "contradicted"
"""The reason of a superseded fact without a slot, which is deleted.

The memories that told such a fact say so, so they need not be silenced.
"""


class Untold:
    """Finds out for any owner."""

    def __init__(self, store: LongTermStore) -> None:
        self._store = store

    async def of_cells(
        self, owner: Owner, head: Head | None, cells: Iterable[str | None]
    ) -> Silenced:
        """Find the cells among these that tell a deleted or forgotten fact.

        Args:
            owner: Whose cells are read.
            head: The owner's head; without deleted memories there is no read.
            cells: The ids of cells; None is ignored.

        Returns:
            The numbers of the messages that told such a fact, by cell.

        Raises:
            Unavailable: The long-term store is down.

        """
        names = sorted({name for name in cells if name is not None})
        if not names or head is None or not head.counts.get(Status.DELETED.value):
            return {}
        read, _ = readable_shown(await self._store.memories(owner, names))
        facts = {
            fact.fact_id
            for cell in read.values()
            for fact in cell.atomic_facts
            if fact.fact_id is not None
        }
        memories, _ = readable_shown(
            await self._store.memories(owner, sorted(facts)) if facts else {}
        )
        gone = {
            name
            for name, fact in memories.items()
            if fact.status is Status.DELETED and fact.status_reason != _CONTRADICTED
        }
        return {
            name: frozenset(
                fact.message
                for fact in cell.atomic_facts
                if fact.fact_id in gone and fact.message is not None
            )
            for name, cell in read.items()
            if any(fact.fact_id in gone for fact in cell.atomic_facts)
        }

    async def left_of_requests(
        self, owner: Owner, head: Head | None, cells: Iterable[str]
    ) -> dict[str, Memory]:
        """Find what cells tell of messages that are hidden for a request.

        Args:
            owner: Whose cells are read.
            head: The owner's head; without deleted memories there is no read.
            cells: The ids of cells.

        Returns:
            By its id, each such cell as a message that has only the rest of these messages.

        Raises:
            Unavailable: The long-term store is down.

        """
        names = sorted(set(cells))
        if not names or head is None or not head.counts.get(Status.DELETED.value):
            return {}
        read, _ = readable_shown(await self._store.memories(owner, names))
        sources = sorted(
            {name for cell in read.values() for name in filter(is_message, cell.source_ids)}
        )
        messages, _ = readable_shown(await self._store.memories(owner, sources) if sources else {})
        left = dict[str, Memory]()
        for cell in read.values():
            asked = [
                message.content
                for name in cell.source_ids
                if (message := messages.get(name)) is not None
                and message.status is Status.DELETED
                and message.status_reason == REQUEST
            ]
            rest = [
                (actor, text)
                for actor, text in messages_in(cell)
                if any(all(each.text in whole for each in sentences(text)) for whole in asked)
            ]
            if rest:
                left[cell.id] = cell.changed(
                    content="\n".join(text for _, text in rest),
                    episode=None,
                    category=MESSAGE,
                    actor=rest[0][0],
                )
        return left

    async def among(
        self, owner: Owner, head: Head | None, memories: Iterable[Memory]
    ) -> frozenset[str]:
        """Return the ids of those memories that must not be told.

        Args:
            owner: Whose memories they are.
            head: The owner's head.
            memories: The memories in question.

        Raises:
            Unavailable: The long-term store is down.

        """
        candidates = [*memories]
        silenced = await self.of_cells(owner, head, (memory.cell_id for memory in candidates))
        return frozenset(memory.id for memory in candidates if is_silenced(memory, silenced))


def is_silenced(memory: Memory, silenced: Silenced) -> bool:
    """Whether a memory tells a fact that must not be told.

    That is a message that said the fact, or a story or note of its cell.

    Args:
        memory: The memory.
        silenced: The silenced messages by cell.

    """
    numbers = silenced.get(memory.cell_id or "")
    if numbers is None:
        return False
    return (
        memory.metadata.get("message") in numbers
        if is_message(memory.id)
        else memory.category in STORIES
    )
