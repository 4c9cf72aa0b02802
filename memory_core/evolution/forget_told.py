"""What was told, forgotten softly with all that was formed of it, and nothing that only stands beside it.

    named       goes
    a message   itself, and what an assistant or a tool repeated of it in its episode; of the episode that was formed of it the text,
                the note, and the facts taken from it
    a fact      itself, the messages that it was taken from, and of their episodes the text and the note
    an episode  itself and its note; with its facts and all of its messages where none of these is named

The other messages of such an episode stay, each by itself, and so do its other facts. Each of what goes is restored by its own id.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from memory_core.domain.archival import is_cold
from memory_core.domain.messages import REQUEST, is_cell, is_message, messages_of
from memory_core.domain.models import Memory, Status
from memory_core.domain.repetition import repeats
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.evolution.ruled import LookedElsewhere
from memory_core.evolution.unmerge import NoteUnmerger
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.commit import Ledger, Look
from memory_core.ledger.ids import note_id, session_document_id
from memory_core.ledger.mirror import Mirror
from memory_core.ledger.sessions import Session
from memory_core.ports import Clock, Mark

AT_ONCE = 30
"""Memories of one commit: each is two documents of its hundred, and each message that stays alone is one."""


@dataclass(slots=True)
class _Going:
    """What goes, by id, and what was read to find that out."""

    memories: dict[str, Memory] = field(default_factory=dict)

    def add(self, found: Iterable[Memory | None]) -> None:
        for one in found:
            if one is not None and one.status is not Status.DELETED and not is_cold(one):
                self.memories.setdefault(one.id, one)


class ToldForgetter:
    """Forgets what was told, for any owner."""

    def __init__(self, ledger: Ledger, mirror: Mirror, unmerger: NoteUnmerger, clock: Clock) -> None:
        self._ledger, self._mirror, self._unmerger, self._clock = ledger, mirror, unmerger, clock

    async def forget(self, owner: Owner, named: Sequence[str], call: Call) -> list[str]:
        """Delete these softly, with what was formed of them; the ids of all that went. Raises Unavailable."""
        going, alone = await self._with_what_they_made(owner, named)
        notes = [one for one in going if one.category == "note"]
        await self._unmerger.unmerge_sources(owner, notes, call)
        names = [one.id for one in going]
        await self._delete(owner, names, "forgotten", call, alone)
        return names

    async def hide_requests(self, owner: Owner, names: Sequence[str], call: Call) -> None:
        """Delete messages that say nothing but what is to be forgotten. What is formed of their conversation stays. Raises Unavailable."""
        await self._delete(owner, names, REQUEST, call)

    async def _delete(self, owner: Owner, names: Sequence[str], reason: str, call: Call, alone: Sequence[str] = ()) -> None:
        for start in range(0, max(len(names), len(alone)), AT_ONCE):
            await self._commit(owner, names[start : start + AT_ONCE], reason, call, alone[start : start + AT_ONCE])

    async def _with_what_they_made(self, owner: Owner, named: Sequence[str]) -> tuple[list[Memory], list[str]]:
        """What goes; and the messages of its episodes that stay."""
        asked = await self._read(owner, named)
        going, of_cells = _Going(), list[str]()
        going.add(asked.values())
        facts = [one for one in asked.values() if one.category == "fact"]
        cells = [name for one in facts for name in (one.cell_id, *one.source_ids)]
        cells += [one.cell_id for one in asked.values() if is_message(one.id)]
        cells += [one.id if is_cell(one) else one.cell_id for one in asked.values() if one.category in ("cell", "note")]
        told = await self._read(owner, [name for name in dict.fromkeys(cells) if name is not None])
        messages = await self._read(owner, [name for cell in told.values() for name in messages_of(cell)])
        for cell in filter(is_cell, told.values()):
            of_cell = [messages[name] for name in messages_of(cell) if name in messages]
            telling = [one for one in of_cell if one.id in asked or _tells(one, cell, asked)]
            whole = not telling and not asked.keys().isdisjoint((cell.id, note_id(cell.id)))
            telling = of_cell if whole else [*telling, *_repeating(of_cell, telling)]
            going.add([cell, *telling])
            of_cells += [one.id for one in of_cell if one.status is not Status.DELETED]
            numbers = {one.metadata.get("message") for one in telling}
            made = [one.fact_id for one in cell.atomic_facts if one.fact_id is not None and (whole or one.message in numbers)]
            going.add((await self._read(owner, [note_id(cell.id), *made])).values())
        return [*going.memories.values()], [name for name in dict.fromkeys(of_cells) if name not in going.memories]

    async def _read(self, owner: Owner, names: Sequence[str]) -> dict[str, Memory]:
        wanted = list(dict.fromkeys(names))
        if not wanted:
            return {}
        look = await self._ledger.look(owner, wanted)
        return {name: one for name in wanted if (one := look.memory(name)) is not None}

    async def _commit(self, owner: Owner, names: Sequence[str], reason: str, call: Call, alone: Sequence[str]) -> None:
        extra: list[str] = []

        def decide(seen: Look) -> Changes[None]:
            now = self._clock.now()
            left = [one for name in names if (one := seen.memory(name)) is not None and one.status is not Status.DELETED]
            wanted = [session_document_id(owner, one.session_id) for one in left if one.session_id]
            if missing := [name for name in dict.fromkeys(wanted) if name not in extra]:
                raise LookedElsewhere(missing)
            sessions: dict[str, Session] = {}
            changes = []
            for one in left:
                gone = one.model_copy(update={"status": Status.DELETED, "status_reason": reason, "updated_at": now})
                changes.append(Change("forgotten", gone, one))
                if one.session_id:
                    name = one.session_id
                    session = sessions.setdefault(name, Session(owner, name, seen.documents.get(session_document_id(owner, name))))
                    session.count(one, gone, now)
                    session.forget_turn(gone)
            puts = tuple(session.document for session in sessions.values())
            marks = {name: Mark(leaves_cell=True) for name in alone if (one := seen.memory(name)) is not None and one.cell_id is not None}
            return Changes(None, tuple(changes), puts, marks=marks, reads=frozenset([*names, *alone]), sessions=frozenset(sessions))

        while True:
            try:
                committed = await self._ledger.commit(owner, decide, ids=[*names, *alone, *extra], call=replace(call, idempotency_key=None))
                break
            except LookedElsewhere as needs:
                extra += needs.wanted
        await self._mirror.follow(owner, committed)


def _repeating(of_cell: Sequence[Memory], telling: Sequence[Memory]) -> list[Memory]:
    """The messages of assistants and tools that say again what the telling ones say."""
    told = [message.content for message in telling]
    others = [message for message in of_cell if message not in telling and message.metadata.get("role") in ("assistant", "tool")]
    return [message for message in others if repeats(message.content, told)]


def _tells(message: Memory, cell: Memory, asked: Collection[str]) -> bool:
    """Whether one of the named facts was taken from this message of the cell."""
    number = message.metadata.get("message")
    return any(one.fact_id in asked and one.message == number for one in cell.atomic_facts)
