"""Forget a statement softly, with all that was formed of it.

    named       goes
    a message   itself, and what an assistant or a tool answered or repeated of it in its
                episode; of the episode that was formed of it the text, the note, and the facts
                taken from it
    a fact      itself, the messages that it was taken from, and of their episodes the text and
                the note
    an episode  itself and its note; with its facts and all of its messages where none of these
                is named

The other messages of such an episode stay, each by itself, and so do its other facts. Each of
what goes is restored by its own id.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from memory_core.domain.archival import is_cold
from memory_core.domain.memory import AtomicFact, Memory, Status
from memory_core.domain.messages import REQUEST, is_cell, is_message, messages_of
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.domain.statements.attributes import PET
from memory_core.domain.statements.first_person import names_speaker
from memory_core.domain.statements.patterns import repeats
from memory_core.domain.statements.said_words import person_of
from memory_core.domain.text.analyzer import tokens
from memory_core.domain.transitions import delete
from memory_core.evolution.deletion import NoteUnmerger
from memory_core.evolution.reads import session_ids
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger
from memory_core.ledger.ids import note_id, session_document_id
from memory_core.ledger.read_set import ReadSet
from memory_core.ledger.sessions import Session
from memory_core.ports import Mark

AT_ONCE = 30
"""Memories of a commit: each takes two documents of its hundred, and each message that becomes
independent takes a single document.
"""


@dataclass(slots=True)
class _Going:
    """The memories to delete, by id."""

    memories: dict[str, Memory] = field(default_factory=dict)

    def add(self, memories: Iterable[Memory | None]) -> None:
        for memory in memories:
            if memory is not None and memory.status is not Status.DELETED and not is_cold(memory):
                self.memories.setdefault(memory.id, memory)


class ToldForgetter:
    """Forgets statements, for any owner."""

    def __init__(self, ledger: Ledger, unmerger: NoteUnmerger) -> None:
        self._ledger, self._unmerger = ledger, unmerger

    async def forget(
        self,
        owner: Owner,
        named: Sequence[str],
        call: Call,
        names: Callable[[str], bool] | None = None,
    ) -> list[str]:
        """Soft-delete memories with all memories that were formed of them.

        Args:
            owner: Whose memories they are.
            named: Their ids.
            call: Call on whose behalf it happens.
            names: Whether a text names the content that is to be forgotten; a fact of another
                sentence then stays. None deletes all.

        Returns:
            The ids of all deleted memories.

        Raises:
            Unavailable: The store is down.

        """
        going, alone = await self._with_what_they_made(owner, named, names)
        notes = [memory for memory in going if memory.category == "note"]
        await self._unmerger.unmerge_sources(owner, notes, call)
        gone = [memory.id for memory in going]
        await self._delete(owner, gone, "forgotten", call, alone)
        return gone

    async def along(
        self, owner: Owner, named: Sequence[str], names: Callable[[str], bool] | None
    ) -> list[str]:
        """The ids of all memories that `forget` would delete, without deleting them.

        Args:
            owner: Whose memories they are.
            named: Ids of the named memories.
            names: Whether a text names the content that is to be forgotten.

        Raises:
            Unavailable: The store is down.

        """
        going, _ = await self._with_what_they_made(owner, named, names)
        return [memory.id for memory in going]

    async def hide_requests(self, owner: Owner, names: Sequence[str], call: Call) -> None:
        """Soft-delete messages that ask to forget.

        What else they say is formed all the same, and memories that were formed of their
        conversation stay.

        Args:
            owner: Whose messages they are.
            names: Ids of the messages.
            call: Call on whose behalf it happens.

        Raises:
            Unavailable: The store is down.

        """
        await self._delete(owner, names, REQUEST, call)

    async def _delete(
        self, owner: Owner, names: Sequence[str], reason: str, call: Call, alone: Sequence[str] = ()
    ) -> None:
        for start in range(0, max(len(names), len(alone)), AT_ONCE):
            await self._commit(
                owner, names[start : start + AT_ONCE], reason, call, alone[start : start + AT_ONCE]
            )

    async def _with_what_they_made(
        self, owner: Owner, named: Sequence[str], names: Callable[[str], bool] | None
    ) -> tuple[list[Memory], list[str]]:
        """The memories to delete, and the ids of the messages of their episodes that stay."""
        asked = await self._read(owner, named)
        going, of_cells = _Going(), list[str]()
        going.add(asked.values())
        facts = [memory for memory in asked.values() if memory.category == "fact"]
        cells = [name for fact in facts for name in (fact.cell_id, *fact.source_ids)]
        cells += [memory.cell_id for memory in asked.values() if is_message(memory.id)]
        cells += [
            memory.id if is_cell(memory) else memory.cell_id
            for memory in asked.values()
            if memory.category in ("cell", "note")
        ]
        cells_by_id = await self._read(
            owner, [name for name in dict.fromkeys(cells) if name is not None]
        )
        messages = await self._read(
            owner, [name for cell in cells_by_id.values() for name in messages_of(cell)]
        )
        for cell in filter(is_cell, cells_by_id.values()):
            of_cell = [messages[name] for name in messages_of(cell) if name in messages]
            telling = [
                message
                for message in of_cell
                if message.id in asked or _tells(message, cell, asked)
            ]
            whole = not telling and not asked.keys().isdisjoint((cell.id, note_id(cell.id)))
            telling = of_cell if whole else [*telling, *messages_about(of_cell, telling)]
            going.add([cell, *telling])
            of_cells += [message.id for message in of_cell if message.status is not Status.DELETED]
            numbers = {message.metadata.get("message") for message in telling}
            made = {
                fact.fact_id: fact
                for fact in cell.atomic_facts
                if fact.fact_id is not None and (whole or fact.message in numbers)
            }
            formed = (await self._read(owner, [note_id(cell.id), *made])).values()
            going.add(
                memory
                for memory in formed
                if memory.id in asked
                or names is None
                or not _stays(
                    memory, made.get(memory.id), cells_by_id.keys(), names, _speakers(telling)
                )
            )
        return [*going.memories.values()], [
            name for name in dict.fromkeys(of_cells) if name not in going.memories
        ]

    async def _read(self, owner: Owner, names: Sequence[str]) -> dict[str, Memory]:
        wanted = list(dict.fromkeys(names))
        if not wanted:
            return {}
        read_set = await self._ledger.look(owner, wanted)
        return {name: memory for name in wanted if (memory := read_set.memory(name)) is not None}

    async def _commit(
        self, owner: Owner, names: Sequence[str], reason: str, call: Call, alone: Sequence[str]
    ) -> None:
        def left(seen: ReadSet) -> list[Memory]:
            memories = (seen.memory(name) for name in names)
            return [
                memory
                for memory in memories
                if memory is not None and memory.status is not Status.DELETED
            ]

        def reads(seen: ReadSet) -> list[str]:
            return session_ids(owner, left(seen))

        def decide(seen: ReadSet) -> Changes[None]:
            now = seen.now
            sessions: dict[str, Session] = {}
            changes = []
            for memory in left(seen):
                gone = delete(memory, reason, now)
                changes.append(Change("forgotten", gone, memory))
                if memory.session_id:
                    name = memory.session_id
                    session = sessions.setdefault(
                        name,
                        Session(owner, name, seen.documents.get(session_document_id(owner, name))),
                    )
                    session.count(memory, gone, now)
                    session.forget_turn(gone)
            puts = tuple(session.document for session in sessions.values())
            marks = {
                name: Mark(leaves_cell=True)
                for name in alone
                if (member := seen.memory(name)) is not None and member.cell_id is not None
            }
            return Changes(
                None,
                tuple(changes),
                puts,
                marks=marks,
                reads=frozenset([*names, *alone]),
                sessions=frozenset(sessions),
            )

        await self._ledger.commit(
            owner,
            decide,
            ids=[*names, *alone],
            reads=reads,
            call=replace(call, idempotency_key=None),
        )


_USER: Final = "user"
"""The subject of statements that speakers without a name make about themselves."""
_ABOUT_ANOTHER = re.compile(
    r"\b(?:he|she|they|him|her|his|hers|them|their|theirs|it|its|er|sie|ihm|ihn|ihnen|ihr\w{0,2}"
    r"|sein\w{0,2}|es|dort|there)\b|彼|彼女|その|それ",
    re.IGNORECASE,
)
"""A clause with such a word may be about something that another clause names."""
_SMALL_I = re.compile(r"\bi\b")
_CLAUSES = re.compile(r"[,;]\s|\s(?:and|but|also|und|aber|sowie)\s|[、。]")
"""What parts the clauses of a quote."""


def _speakers(messages: Iterable[Memory]) -> frozenset[str]:
    """The subjects of statements that the speakers of these messages make about themselves."""
    named = (" ".join((message.actor or "").split()).casefold() for message in messages)
    return frozenset({_USER, *named} - {""})


def _stays(
    memory: Memory,
    fact: AtomicFact | None,
    cells: Collection[str],
    names: Callable[[str], bool],
    speakers: Collection[str],
) -> bool:
    """Whether a fact stays when its message is deleted.

    It stays if it was also stated in another episode, or by a clause of its own. Such a clause is
    about the speaker or a person of theirs ("user's wife"), names no part of the content that is to
    be forgotten, and has no pronoun. A name of a relative stays, too: "my sister Clara is visiting"
    is to be forgotten, not that Clara is the sister.
    """
    if memory.category != "fact" or fact is None or fact.quote is None:
        return False
    if _gives_name(memory):
        return True
    if names(f"{fact.text} {memory.content}"):
        return False
    if not {memory.cell_id, *memory.source_ids} - {None} <= {*cells}:
        return not names(fact.quote)
    terms = frozenset(tokens(memory.content))
    clause = max(_CLAUSES.split(fact.quote), key=lambda part: len(terms.intersection(tokens(part))))
    subject = (memory.subject or "").casefold().partition("'s ")[0]
    about_speaker = subject in speakers or names_speaker(_SMALL_I.sub("I", clause), None)
    return about_speaker and not names(clause) and _ABOUT_ANOTHER.search(clause) is None


def _gives_name(memory: Memory) -> bool:
    """Whether a fact only gives the name of a relative or an animal."""
    attribute = (memory.attribute or "").casefold()
    if attribute == "name":
        return "'s " in (memory.subject or "")
    kind, _, name = attribute.partition(" ")
    return bool(name) and (kind == PET.strip() or bool(person_of(kind)))


def messages_about(of_cell: Sequence[Memory], telling: Sequence[Memory]) -> list[Memory]:
    """The messages of assistants and tools that answer or repeat other messages of their cell.

    An answer is the message right after, whatever its words are: "Congratulations!" tells too.

    Args:
        of_cell: All messages of the cell.
        telling: The messages in question.

    """
    texts = [message.content for message in telling]
    numbers = (message.metadata.get("message") for message in telling)
    after = {number + 1 for number in numbers if number is not None}
    by_machine = [
        message
        for message in of_cell
        if message not in telling and message.metadata.get("role") in ("assistant", "tool")
    ]
    return [
        message
        for message in by_machine
        if message.metadata.get("message") in after or repeats(message.content, texts)
    ]


def _tells(message: Memory, cell: Memory, asked: Collection[str]) -> bool:
    """Whether a named fact was taken from this message of the cell."""
    number = message.metadata.get("message")
    return any(fact.fact_id in asked and fact.message == number for fact in cell.atomic_facts)
