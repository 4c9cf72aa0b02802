"""A memory's content: its old versions, and its vector.

An old version ends at the latest where the memory's successor begins. For the members of a slot,
its log decides that. Note: for a memory without a slot, the end that follows from later versions is
computed again when the memory is reactivated, so no decision has to remember the ends that it
changed. Only versions that had ended with the successor get it back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from memory_core.domain.event_log import VERSIONS, kept_version, version_id
from memory_core.domain.memory import Memory, MemoryFields, Status, fields_of
from memory_core.domain.ranking.index_terms import text_to_embed
from memory_core.domain.truth.slots import slot_name, text_of_key
from memory_core.ledger.changes import Change, Changes, Result
from memory_core.ledger.read_set import Shelf
from memory_core.ports import Document, Embedder, Mark

MAX_VERSIONS = 40
"""The latest versions; each that changes is a document of the commit's hundred."""
_REPLACED = frozenset({Status.SUPERSEDED, Status.UPDATED})


def new_version(old: Memory, changed: MemoryFields, now: datetime) -> tuple[Memory, Document]:
    """The memory with `changed` fields as its next version, and the document of the old.

    The new version is valid from `changed["valid_from"]`, else from now; the old version is valid
    until then. A past `valid_until` corrects when the truth ended, so that version is valid from
    the old version's start. In a slot, the log decides further.

    Args:
        old: The memory as it is.
        changed: Fields to set.
        now: The present time.

    """
    ended = changed.get("valid_until")
    begins = changed.get("valid_from") or (
        old.valid_from if ended is not None and ended <= now else max(now, old.valid_from)
    )
    next_version: MemoryFields = {
        **changed,
        "version": old.version + 1,
        "valid_from": begins,
        "updated_at": now,
        "last_accessed_at": now,
    }
    updated = old.changed(**next_version)
    if (
        updated.valid_until is not None
        and updated.valid_until <= begins
        and "valid_until" not in changed
    ):
        updated = updated.changed(valid_until=None)
    return updated, version_document(kept_version(old, begins))


def value_for(content: str, old: Memory) -> Any:
    """The value of a memory whose text is edited, and no value is given.

    A value that the old text contains, and the new text does not, is read in its place:
    "User works at Siemens" edited into "User works at Bosch" gives "Bosch".

    Args:
        content: The new text.
        old: The memory as it is.

    Returns:
        The old value if the edit leaves it as it is; None if no value can be read.

    """
    value, before = old.value, old.content
    if value is None or content.strip() == before.strip():
        return value
    if before == text_of_key(old.key or "", old.value_text):  # the text only repeats the value
        return value if _contains(content, old.value_text or "") else None
    if not isinstance(value, str) or not _contains(before, value) or _contains(content, value):
        return value
    start = before.casefold().find(value.casefold())
    beginning, end = before[:start], before[start + len(value) :]
    is_same_around = (
        before[start : start + len(value)].casefold() == value.casefold()
        and len(content) > len(beginning) + len(end)
        and content.startswith(beginning)
        and content.endswith(end)
    )
    return content[len(beginning) : len(content) - len(end)].strip() if is_same_around else None


def _contains(text: str, value: str) -> bool:
    """Whether a text has the value as words of its own, whatever their case."""
    value, text = value.strip().casefold(), text.casefold()
    start = text.find(value)
    while start >= 0:
        end = start + len(value)
        if not (_joins(text[start - 1 : start], value[:1]) or _joins(value[-1:], text[end:][:1])):
            return True
        start = text.find(value, start + 1)
    return False


def _joins(first: str, second: str) -> bool:
    """Whether two characters side by side are of one word; those of Japanese never are."""
    return all(
        character.isdigit() or character.upper() != character for character in (first, second)
    )


def old_version(old: Memory) -> Memory:
    """The old version of a slot's member; the log decides when it holds."""
    return old.changed(
        id=version_id(old.id, old.version), status=Status.SUPERSEDED, status_reason="new_version"
    )


def version_document(version: Memory) -> Document:
    """An old version as it is stored."""
    return Document(version.id, "version", version.model_dump(mode="json"), version.embedding)


_WORDS = (
    "category", "content", "episode", "value", "value_text", "atomic_facts", "foresight",
    "entities", "actor", "action_type", "source", "metadata", "tags", "keywords",
    "semantic_queries", "lexical", "search_text", "embedding", "embedding_model",
    "embedding_dimensions", "confidence", "worth", "event_timestamp", "told_at", "source_ids",
)  # fmt: skip
"""The fields of a memory that say what it states, and when it was said."""


def with_words(memory: Memory, other: Memory) -> Memory:
    """A memory with the words of another memory.

    Args:
        memory: The memory.
        other: An old version of it, or the memory of which it keeps an earlier time.

    """
    return memory.changed(**fields_of(other, _WORDS))


async def with_version_ends(shelf: Shelf, changes: Changes[Result]) -> Changes[Result]:
    """The changes, with new ends of the old versions of superseded or reactivated memories.

    Args:
        shelf: Where versions are read.
        changes: Changes to complete.

    Raises:
        Unavailable: The store is down.

    """
    made, puts = [*changes.changes], {document.id: document for document in changes.puts}
    states = {change.after.id: change.after for change in made}
    for place, change in enumerate(made):
        before, after = change.before, change.after
        if (
            before is None
            or change.removed
            or before.version < 2
            or slot_name(after) is not None
            or before.next_id == after.next_id
        ):
            continue
        names = [
            version_id(after.id, number)
            for number in range(max(1, before.version - MAX_VERSIONS), before.version)
        ]
        await shelf.read(
            [*names, *(state.next_id for state in (before, after) if state.next_id is not None)]
        )
        was, now = (_replaced_from(shelf, states, state) for state in (before, after))
        versions = [
            version
            for name in names
            if name not in puts and (version := shelf.memory(name)) is not None
        ]
        ends = [(version, _end(version, versions, after, was, now)) for version in versions]
        documents = {
            version.version: version_document(version.changed(valid_until=until))
            for version, until in ends
            if until != version.valid_until
        }
        if documents:
            puts |= {document.id: document for document in documents.values()}
            fields = {
                str(number): {"valid_until": document.body["valid_until"]}
                for number, document in documents.items()
            }
            made[place] = _told(change, fields)
    return (
        changes
        if len(puts) == len(changes.puts)
        else replace(changes, changes=tuple(made), puts=tuple(puts.values()))
    )


def _replaced_from(shelf: Shelf, states: dict[str, Memory], memory: Memory) -> datetime | None:
    """Where a memory's successor begins; None if it has no successor."""
    if memory.status not in _REPLACED or memory.next_id is None:
        return None
    successor = states.get(memory.next_id) or shelf.memory(memory.next_id)
    return None if successor is None else successor.valid_from


def _end(
    version: Memory,
    versions: list[Memory],
    memory: Memory,
    was: datetime | None,
    now: datetime | None,
) -> datetime | None:
    """When a version ends."""
    until = version.valid_until
    if was is not None and until == max(was, version.valid_from):
        later = [
            later_version.valid_from
            for later_version in (*versions, memory)
            if later_version.version > version.version
        ]
        until = max(min(later), version.valid_from)
    if now is not None and until is not None:
        until = max(min(until, now), version.valid_from)
    return until


def _told(change: Change, fields: dict[str, Any]) -> Change:
    known: dict[str, Any] = change.metadata.get(VERSIONS, {})
    return replace(change, metadata={**change.metadata, VERSIONS: {**known, **fields}})


async def embed_memories(embedder: Embedder, memories: Sequence[Memory]) -> None:
    """Embed all searchable memories in a single call.

    Args:
        embedder: Embedder for the vectors and the tokens' states.
        memories: Their embedding fields are set.

    Raises:
        Unavailable: The embedder is down.

    """
    memories = [memory for memory in memories if memory.searchable]
    if not memories:
        return
    marks = await embedding_marks(embedder, [text_to_embed(memory) for memory in memories])
    for memory, mark in zip(memories, marks, strict=True):
        memory.embedding = mark.embedding
        memory.embedding_model = mark.embedding_model
        memory.embedding_dimensions = embedder.dimensions
        if mark.states:
            memory.lexical = memory.lexical.changed(states=mark.states)


async def embedding_marks(embedder: Embedder, texts: Sequence[str]) -> list[Mark]:
    """The mark of each text that gives a memory its vector and its tokens' states.

    Args:
        embedder: Embedder for the vectors and the tokens' states.
        texts: Texts to embed.

    Raises:
        Unavailable: The embedder is down.

    """
    vectors = await embedder.embed(texts)
    states = await embedder.token_states(texts)
    return [
        Mark(
            embedding=vector,
            embedding_model=embedder.model,
            states=tokens.states if tokens is not None else "",
        )
        for vector, tokens in zip(vectors, states, strict=True)
    ]
