"""Messages and stories that are not quoted, since they tell a deleted fact.

The cell, its note and its messages stay what they are, and are listed and read by their ids;
restored, the fact is told again by all of them. Costs nothing for a user who has deleted nothing;
else a read of the cells that were found, and one of their facts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from memory_core.domain.memory import AtomicFact, Head, Memory, Status
from memory_core.domain.messages import MESSAGE, REQUEST, is_message, messages_in, messages_of
from memory_core.domain.scope import Owner
from memory_core.domain.text.analyzer import FUNCTION_WORDS, QUERY_WORDS, tokens, words
from memory_core.domain.text.sentences import sentences
from memory_core.evolution.soft_forget import messages_about
from memory_core.ledger.readable import readable_shown
from memory_core.ports import LongTermStore
from memory_core.recollection.quotations import STORIES

_SUBJECT = frozenset(tokens("User"))
"""The word of a fact for the speaker, who says "I"."""
Silenced = Mapping[str, frozenset[int]]
"""By cell, the numbers of the messages that must not be told."""
_LITTLE = FUNCTION_WORDS | QUERY_WORDS
_MACHINES = frozenset({"assistant", "tool"})
_NOTE, _PATTERN = "note", "pattern"
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
        if not names or not has_deleted(head):
            return {}
        read, _ = readable_shown(await self._store.memories(owner, names))
        gone = await self._gone_facts(owner, read.values())
        telling = {
            cell.id: facts
            for cell in read.values()
            if (facts := [fact for fact in cell.atomic_facts if fact.fact_id in gone])
        }
        sources = sorted({name for cell in telling for name in messages_of(read[cell])})
        messages, _ = readable_shown(await self._store.memories(owner, sources) if sources else {})
        return {
            cell: _silenced_numbers(
                facts, [messages[name] for name in messages_of(read[cell]) if name in messages]
            )
            for cell, facts in telling.items()
        }

    async def _gone_facts(self, owner: Owner, memories: Iterable[Memory]) -> frozenset[str]:
        """The ids of the deleted and forgotten facts that these memories tell."""
        names = {
            fact.fact_id
            for memory in memories
            for fact in memory.atomic_facts
            if fact.fact_id is not None
        }
        facts, _ = readable_shown(await self._store.memories(owner, sorted(names)) if names else {})
        return frozenset(
            name
            for name, fact in facts.items()
            if fact.status is Status.DELETED and fact.status_reason != _CONTRADICTED
        )

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
        if not names or not has_deleted(head):
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
        if not has_deleted(head):
            return frozenset()
        candidates = [*memories]
        made_of = await self._sources_of(owner, candidates)
        cells = {memory.cell_id for memory in candidates}.union(*made_of.values())
        silenced = await self.of_cells(owner, head, cells)
        return frozenset(
            memory.id
            for memory in candidates
            if is_silenced(memory, silenced)
            or (memory.id in made_of and _is_of_silenced(memory, made_of[memory.id], silenced))
        )

    async def _sources_of(self, owner: Owner, memories: Iterable[Memory]) -> dict[str, set[str]]:
        """By memory that was made of several, the ids of these."""
        made = [memory for memory in memories if is_made_of_several(memory)]
        made_of = {memory.id: {*memory.source_ids} for memory in made}
        asked = {memory.cell_id for memory in made if memory.cell_id is not None}
        while wanted := sorted(set[str]().union(*made_of.values()) - asked):
            read, _ = readable_shown(await self._store.memories(owner, wanted))
            asked |= {*wanted}
            for sources in made_of.values():
                sources |= {
                    source
                    for name in wanted
                    if name in sources and name in read and read[name].category == _NOTE
                    for source in read[name].source_ids
                }
        return made_of


def has_deleted(head: Head | None) -> bool:
    """Whether a user has deleted memories; if not, nothing of theirs is untold."""
    return head is not None and bool(head.counts.get(Status.DELETED.value))


def is_made_of_several(memory: Memory) -> bool:
    """Whether a memory is a pattern, or a note of more than its own cell."""
    return memory.category == _PATTERN or (
        memory.category == _NOTE and memory.source_ids != [memory.cell_id]
    )


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


def _is_of_silenced(memory: Memory, sources: Collection[str], silenced: Silenced) -> bool:
    """Whether any cell of a note, or every cell of a pattern, is silenced."""
    if memory.category == _NOTE:
        return not silenced.keys().isdisjoint(sources)
    return bool(sources) and silenced.keys() >= {*sources}


def _topic_of(fact: AtomicFact) -> set[str]:
    """The terms of a fact without its little words, which a machine's answer says otherwise."""
    telling = (word for word in words(fact.text) if word not in _LITTLE)
    return {*tokens(" ".join(telling))} - _SUBJECT


def _silenced_numbers(facts: Sequence[AtomicFact], messages: Sequence[Memory]) -> frozenset[int]:
    """The numbers of a cell's messages that tell one of these facts."""
    numbers = {fact.message for fact in facts if fact.message is not None}
    telling = [message for message in messages if message.metadata.get("message") in numbers]
    of_facts = [set(tokens(fact.text)) - _SUBJECT for fact in facts]
    topics = [_topic_of(fact) for fact in facts]
    again = [
        message
        for message in messages
        for terms in [{*tokens(message.content)}]
        if any(spoken and spoken <= terms for spoken in of_facts)
        or (
            message.metadata.get("role") in _MACHINES
            and any(topic and topic <= terms for topic in topics)
        )
    ]
    return frozenset(
        numbers
        | {message.metadata["message"] for message in (*messages_about(messages, telling), *again)}
    )
