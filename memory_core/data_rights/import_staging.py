"""Prepare the documents of an import for the store.

They get the importing owner and new vectors, and waiting work gets its tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from memory_core.data_rights.export_format import (
    COLD,
    copy_in,
    document_of,
    has_vector,
    memories_of,
    owned_copy,
)
from memory_core.data_rights.import_parse import ImportedDocument
from memory_core.domain.conversation import Conversation, Task
from memory_core.domain.memory import Memory
from memory_core.domain.ranking.index_terms import text_to_embed
from memory_core.domain.scope import Owner
from memory_core.ledger.archive_files import ColdCopies
from memory_core.ledger.documents import Buffer, HeldBuffer
from memory_core.ports import Clock, Document, Embedder
from memory_core.tasks.operation_records import Operation
from memory_core.tasks.store import task_document

TASKS: Final[dict[str, str]] = {"converse": "converse", "agent": "agent_memory"}
"""The kind of the task that forms a conversation, by the path that it came by."""


class Staging:
    """Prepares documents for an epoch that no reader sees yet."""

    def __init__(self, embedder: Embedder, copies: ColdCopies, clock: Clock) -> None:
        self._embedder, self._copies, self._clock = embedder, copies, clock

    async def frozen(
        self, owner: Owner, operation: Operation, entries: list[ImportedDocument]
    ) -> dict[str, str]:
        """Write copies into the archive.

        After a kill they are written again, and are the same.

        Args:
            owner: The importing owner.
            operation: The import's operation.
            entries: The copies of the file.

        Returns:
            The locations of the copies, by their names in the file.

        Raises:
            Unavailable: The archive or the embedder is down.

        """
        places: dict[str, str] = {}
        for entry in entries:
            copy, embedded = copy_in(entry.body)
            wanted = [memory for memory in memories_of(copy) if has_vector(memory, embedded)]
            vectors = (
                await self._embedder.embed([text_to_embed(memory) for memory in wanted])
                if wanted
                else []
            )
            for memory, vector in zip(wanted, vectors, strict=True):
                memory.embedding, memory.embedding_model, memory.embedding_dimensions = (
                    vector,
                    self._embedder.model,
                    self._embedder.dimensions,
                )
            copy = owned_copy(copy, owner, operation.cursor["epoch"])
            places[f"{COLD}/{entry.id}"] = await self._copies.write(owner, operation.id, copy)
        return places

    async def documents(
        self, owner: Owner, entries: list[ImportedDocument], epoch: str, cold: Mapping[str, str]
    ) -> list[Document]:
        """Make the documents as they are stored, with their vectors.

        Tasks are added for conversations and batches that wait to be formed.

        Args:
            owner: The importing owner.
            entries: The documents of the file.
            epoch: The epoch of the import.
            cold: The locations of the archive's copies, by name.

        Raises:
            Unavailable: The embedder is down.

        """
        made, texts = list[Document](), dict[int, str]()
        for entry in entries:
            model = entry.model()
            document = document_of(owner, entry.kind, entry.id, entry.stored(model), epoch, cold)
            if isinstance(model, Memory) and entry.embedded:
                texts[len(made)] = text_to_embed(model)
            made.append(document)
            task = self._task_of(owner, document, model)
            if task is not None:
                made.append(_staged_task(task, epoch))
        vectors = await self._embedder.embed(list(texts.values())) if texts else []
        for place, vector in zip(texts, vectors, strict=True):
            of = {
                "embedding_model": self._embedder.model,
                "embedding_dimensions": self._embedder.dimensions,
            }
            made[place] = replace(made[place], body={**made[place].body, **of}, vector=vector)
        return made

    def _task_of(self, owner: Owner, document: Document, model: object) -> Task | None:
        """Return the task of a pending conversation or of a waiting batch."""
        now = self._clock.now()
        asked: dict[str, Any] = {
            "created_at": now,
            "updated_at": now,
            "next_enqueue_at": now,
            "subject_id": document.id,
        }
        if isinstance(model, Conversation) and model.state == "pending":
            return Task.model_validate(
                {"task_id": model.task_id, "kind": TASKS[model.path], **asked}
            )
        if isinstance(model, Buffer) and model.messages:
            return Task.model_validate(
                {
                    "task_id": HeldBuffer(owner, model, None).task_id,
                    "kind": "flush",
                    "step": "gathering",
                    **asked,
                }
            )
        return None


def _staged_task(task: Task, epoch: str) -> Document:
    document = task_document(task)
    return replace(document, body={**document.body, "epoch": epoch})
