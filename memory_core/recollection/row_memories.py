"""The memories of a round's rows, checked once more before they are shown."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from memory_core.domain.event_log import base_id, is_of_its_life
from memory_core.domain.messages import is_message
from memory_core.domain.scope import Owner
from memory_core.domain.serialized_memory import SerializedMemory
from memory_core.ledger.readable import readable_shown
from memory_core.ports import Filter, LongTermStore
from memory_core.recollection.query_round import QueryRound
from memory_core.recollection.untold import (
    Silenced,
    Untold,
    has_deleted,
    is_made_of_several,
    is_silenced,
)

log = logging.getLogger(__name__)


class RowMemories:
    """Reads the memories of rows, for any owner."""

    def __init__(self, store: LongTermStore) -> None:
        self._store, self._untold = store, Untold(store)

    async def read_memories(
        self, owner: Owner, look: QueryRound, rows: Sequence[int], *, by_cells: bool = False
    ) -> dict[str, SerializedMemory]:
        """Read the memories of the chosen rows, and check them once more.

        A memory that was removed since the search is left out, and so is a version of it.

        Args:
            owner: Whose memories are read.
            look: The round that the rows are of.
            rows: The chosen rows.
            by_cells: Whether a message is shown by its cell, if that cell is stored.

        Returns:
            The memories by the id of their row; a message's id leads to its cell with `by_cells`.

        Raises:
            Unavailable: The long-term store is down.

        """
        candidates = look.candidates
        chosen = [candidates.ids[row] for row in rows]
        at_hand = {
            name: SerializedMemory.of(candidates.memories[name])
            for name in chosen
            if name in candidates.memories
        }
        silenced = await self._untold.of_cells(
            owner, look.search_answer.head, (candidates.cell[row] for row in rows)
        )
        messages = (
            [
                row
                for row in rows
                if is_message(candidates.ids[row]) and candidates.cell[row] not in silenced
            ]
            if by_cells
            else []
        )
        cells = {
            candidates.ids[row]: cell
            for row in messages
            if (cell := candidates.cell[row]) is not None
        }
        missing = [*(name for name in chosen if name not in cells), *dict.fromkeys(cells.values())]
        documents = at_hand | await self._read_intact(
            owner, [name for name in missing if name not in at_hand], look, look.where
        )
        alone = [
            name for name, cell in cells.items() if cell not in documents and name not in at_hand
        ]
        documents |= await self._read_intact(owner, alone, look, look.where)
        documents |= {name: documents[cell] for name, cell in cells.items() if cell in documents}
        documents = {name: documents[name] for name in chosen if name in documents}
        if has_deleted(look.search_answer.head):
            documents = await self._without_untold(owner, look, documents, silenced)
        return await self._without_lost_versions(owner, documents)

    async def read_named(
        self, owner: Owner, look: QueryRound, names: Sequence[str], where: Filter | None = None
    ) -> dict[str, SerializedMemory]:
        """Read memories that stand beside a round's results, or take them from its search.

        Those that tell a deleted fact are left out.

        Args:
            owner: Whose memories are read.
            look: The round.
            names: The ids of the memories.
            where: The filter that they must match if they are read.

        Raises:
            Unavailable: The long-term store is down.

        """
        at_hand = {
            name: SerializedMemory.of(memory)
            for name in names
            if (memory := look.candidates.memories.get(name)) is not None
        }
        missing = [name for name in names if name not in at_hand]
        documents = at_hand | await self._read_intact(owner, missing, look, where)
        if not has_deleted(look.search_answer.head):
            return documents
        memories, _ = readable_shown(documents)
        untold = await self._untold.among(owner, look.search_answer.head, memories.values())
        return {name: documents[name] for name in memories if name not in untold}

    async def _without_untold(
        self,
        owner: Owner,
        look: QueryRound,
        documents: dict[str, SerializedMemory],
        silenced: Silenced,
    ) -> dict[str, SerializedMemory]:
        """The documents without those that tell a deleted fact."""
        memories, _ = readable_shown(documents)
        made = [memory for memory in memories.values() if is_made_of_several(memory)]
        untold = await self._untold.among(owner, look.search_answer.head, made)
        return {
            name: documents[name]
            for name, memory in memories.items()
            if memory.id not in untold and not is_silenced(memory, silenced)
        }

    async def _without_lost_versions(
        self, owner: Owner, documents: dict[str, SerializedMemory]
    ) -> dict[str, SerializedMemory]:
        """The documents without old versions of a memory that was removed, or begun again."""
        versions = [name for name in documents if name != base_id(name)]
        standing = (
            await self._store.memories(owner, [base_id(name) for name in versions])
            if versions
            else {}
        )
        for name in versions:
            base, version = standing.get(base_id(name)), documents[name].memory
            if is_of_its_life(version, base.memory if base else None):
                documents[name] = SerializedMemory.of(version.shown_as(base_id(name)))
            else:
                del documents[name]
        return documents

    async def _read_intact(
        self, owner: Owner, names: Sequence[str], look: QueryRound, where: Filter | None
    ) -> dict[str, SerializedMemory]:
        """Read the named memories that a filter allows and that can be parsed.

        Raises Unavailable.
        """
        read = (
            await self._store.memories(owner, names, where, seen=look.search_answer.head)
            if names
            else {}
        )
        if damaged := [name for name, document in read.items() if not document.is_json]:
            log.error(
                "a search leaves out the memories %s: what is stored of them can't be read",
                ", ".join(damaged),
            )
        return {name: document for name, document in read.items() if name not in damaged}
