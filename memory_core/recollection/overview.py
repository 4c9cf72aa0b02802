"""All that is known of a person, the most important first.

These are the facts that hold, and the person's own messages that state something durable of which
no fact was formed. A memory comes first by its worth (a name, an allergy), then if it is about the
person, then by its attribute's place in the table of attributes (a home before a taste), then if it
is a fact; the newest comes first among equals.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from memory_core.domain.conversation import Message
from memory_core.domain.memory import Memory, MemoryType
from memory_core.domain.messages import MESSAGE
from memory_core.domain.scope import Owner
from memory_core.domain.statements.attributes import canonical_subject, place_of_attribute
from memory_core.domain.statements.durability import durability
from memory_core.domain.statements.provenance import is_text_to_work_on
from memory_core.domain.statements.wishes import said_wishes
from memory_core.domain.statements.worth import place_of_worth
from memory_core.domain.text.analyzer import has_japanese
from memory_core.domain.text.sameness import normalised
from memory_core.domain.text.sentences import sentences
from memory_core.ledger.readable import readable, readable_shown
from memory_core.ports import Filter, LongTermStore
from memory_core.recollection.quotations import said_by

MOST_FACTS = 200
"""The most facts that are read, the newest."""
MOST_MESSAGES = 200
"""The most messages that are read, the newest."""
MOST_CHARACTERS = 260
"""Characters of a message that states something by itself, at most."""
SURELY_DURABLE = 0.8
"""The probability that a sentence of a message must have.

Of sentences of authors whose own the model has not seen, 62 to 100 % that reach it are durable.
"""
_FACT = "fact"


class Overview:
    """Reads all that is known, for any owner."""

    def __init__(self, store: LongTermStore) -> None:
        self._store = store

    async def known(self, owner: Owner, where: Filter, others: Collection[str]) -> list[Memory]:
        """Read what is known of a person, the most important first.

        It costs two bounded pages, and one more read for messages and for facts that these pages
        lack.

        Args:
            owner: Whose memories are read.
            where: The filter of facts; messages have its conditions except for the type.
            others: The ids of further facts, which a search has found.

        Raises:
            Unavailable: The long-term store is down.

        """
        facts, messages = await asyncio.gather(
            self._newest(owner, where, MemoryType.SEMANTIC, _FACT, MOST_FACTS),
            self._newest(owner, where, MemoryType.EPISODIC, MESSAGE, MOST_MESSAGES),
        )
        stated = await asyncio.to_thread(
            lambda: [message for message in messages if _states_something_durable(message)]
        )
        missing = frozenset(others).difference(fact.id for fact in facts)
        cells = {message.cell_id for message in stated if message.cell_id is not None}
        names = sorted(missing | cells)
        read, _ = readable_shown(await self._store.memories(owner, names) if names else {})
        facts += [read[name] for name in sorted(missing) if name in read]
        return sorted([*facts, *_without_facts(stated, read)], key=_place)

    async def _newest(
        self, owner: Owner, where: Filter, kind: MemoryType, category: str, limit: int
    ) -> list[Memory]:
        """Return the newest memories of a category, if the filter allows it."""
        if where.categories and category not in where.categories:
            return []
        where = replace(where, types=frozenset({kind.value}), categories=frozenset({category}))
        memories, _ = readable(await self._store.page(owner, "memory", where, None, limit))
        return [memory for memory in memories if memory.searchable]


def _place(memory: Memory) -> tuple[int, bool, int, bool, int]:
    """The place of a memory among all that is known: a lower one comes first."""
    return (
        place_of_worth(memory.worth),
        canonical_subject(memory.subject or "user") != "user",
        place_of_attribute(memory.attribute),
        memory.category == MESSAGE,
        -memory.sequence,
    )


def _states_something_durable(message: Memory) -> bool:
    """Whether a message is the user's own, about the user, and surely durable.

    Not so a message that asks, wishes or has a text to work on, nor one of a day or an hour. A
    Japanese sentence about its speaker need not name them.
    """
    content, lexical = message.content, message.lexical
    return (
        len(content) <= MOST_CHARACTERS
        and not (lexical.asks or lexical.tells_time)
        and said_by(message) == ""
        and (bool(lexical.says_i) or has_japanese(content))
        and not is_text_to_work_on(content)
        and any(durability(sentence.text) >= SURELY_DURABLE for sentence in sentences(content))
        and not said_wishes(
            [Message(role="user", content=content, timestamp=message.event_timestamp)]
        )
    )


def _without_facts(messages: Iterable[Memory], cells: Mapping[str, Memory]) -> list[Memory]:
    """Return the messages of which no fact was formed, each text once.

    Such a fact is told itself, or is over.
    """
    by_text: dict[str, Memory] = {}
    for message in messages:
        cell = cells.get(message.cell_id or "")
        number = message.metadata.get("message")
        facts = () if cell is None else cell.atomic_facts
        if not any(fact.fact_id is not None and fact.message == number for fact in facts):
            by_text.setdefault(normalised(message.content), message)
    return list(by_text.values())
