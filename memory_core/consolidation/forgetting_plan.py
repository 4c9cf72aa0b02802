"""How far the forgetting of something for good has come, and what else has to go with it. Pure.

What goes with a memory: what was made of it (notes and facts of a cell, what it was merged into, copies), the messages of a cell, and, of
what was told in a conversation, the cells that tell it. What says in its slot, or of its key, what it or an old version of it said goes
too, as earlier times of it may be memories of their own. One would get wrong: that does not go on for ever. What told a forgotten fact
goes, the other facts of that cell stay, as somebody else may have told them too, and lose only their mention of it. What was formed of a
forgotten message goes with what it took from that; its other messages stay, and stand for themselves.

Nothing goes that stands beside it: the other sources of a merged note stay, and hold again. Where a session is forgotten, what other
sessions told stays theirs. A fact that a cell tells which stays is that cell's from then on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from memory_core.domain.forgetting import is_made_of_others, lends, says
from memory_core.domain.messages import is_cell, is_message, messages_of
from memory_core.domain.models import Memory, MemoryType, Status
from memory_core.domain.sameness import normalised
from memory_core.ledger.ids import note_id

Role = Literal["asked", "told", "source", "said", "own", "made"]
"""Why a memory is looked at: it was asked for; it told one that was; it is a source of a merged note that was; it was formed of a message
that was; it may be a fact or a message of a cell that goes; it was made of one."""
Step = Literal["begin", "remove", "memories", "version", "log", "conflict", "scene", "profile", "messages", "step", "copies", "last"]


class Progress(BaseModel):
    """Where an operation stands. place: in what the step goes through. todo: what is to be looked at, and why.

    gone: what is removed, each with a sequence that its removal had at most; what has the same id and began later is another memory.
    cells: those of them that were cells and asked for; told: cells that told them; parted: of these, with the messages that stay, those
    that only a message of theirs was asked for of; said_at: of messages that are gone, conversation and number.
    lent, said: marks of what they said, no words.
    damaged: ids of memories and old versions that can't be read: whether they tell of the forgotten is not known.
    log_from: the sequence of the first event that is redacted. session: the one that was asked for; what others told stays.
    whole: the session that is forgotten with all that it has yet to form.
    """

    model_config = ConfigDict(extra="forbid")

    step: Step = "begin"
    place: tuple[int, str] | None = None
    todo: list[tuple[str, Role]] = Field(default_factory=list)
    gone: dict[str, int] = Field(default_factory=dict)
    cells: list[str] = Field(default_factory=list)
    told: list[str] = Field(default_factory=list)
    parted: dict[str, list[str]] = Field(default_factory=dict)
    said_at: dict[str, tuple[str | None, int]] = Field(default_factory=dict)
    conversations: list[str] = Field(default_factory=list)
    sessions: list[str] = Field(default_factory=list)
    lent: list[str] = Field(default_factory=list)
    said: list[str] = Field(default_factory=list)
    damaged: list[str] = Field(default_factory=list)
    log_from: int | None = None
    session: str | None = None
    whole: str | None = None
    capped: bool = False

    @property
    def document(self) -> dict[str, Any]:
        """As the operation keeps it."""
        return self.model_dump(mode="json")

    def at(self, step: Step, place: tuple[int, str] | None = None) -> Progress:
        """The same at another step, or further in it."""
        return self.model_copy(update={"step": step, "place": place})

    def asking(self, names: Collection[str], role: Role) -> Progress:
        """With more to look at, but for what is gone or stands there already."""
        stronger = role in ("asked", "told", "source")
        todo = [(name, why) for name, why in self.todo if not (stronger and why == "said" and name in names)]
        known = {name for name, why in todo if why != "own" or role == "own"} | self.gone.keys()
        return self.model_copy(update={"todo": [*todo, *((name, role) for name in dict.fromkeys(names) if name not in known)]})

    def passing_over(self, damaged: Collection[str]) -> Progress:
        """With more that can't be read."""
        return self.model_copy(update={"damaged": sorted({*self.damaged, *damaged})}) if damaged else self

    def goes(self, memory: Memory, role: Role) -> bool:
        """Whether a memory that was looked at has to go."""
        if role in ("told", "source") and self._is_of_others(memory):
            return False
        if role == "source":
            return is_cell(memory)
        return role != "own" or memory.cell_id in self.cells or memory.cell_id in (self.told if is_message(memory.id) else self.parted)

    def another_teller(self, memory: Memory, role: Role, cells: Iterable[Memory]) -> Memory | None:
        """The cell that a fact belongs to from now on, as it tells the same and stays; None where the fact goes.

        Args:
            memory: what was asked for, or is of a cell that goes.
            role: why it was looked at.
            cells: those that told it, as far as they are there.

        """
        if role not in ("asked", "own") or (role == "asked" and self.session is None) or memory.category != "fact":
            return None
        going = self.gone.keys() | {name for name, why in self.todo if why != "own"}
        stay = [one for one in cells if one.id in memory.source_ids and one.id not in going and self._stays(one)]
        return next((one for one in stay if _tells(one, memory)), None)

    def _stays(self, cell: Memory) -> bool:
        return is_cell(cell) and cell.status is not Status.DELETED and (self.session is None or self._is_of_others(cell))

    def _is_of_others(self, memory: Memory) -> bool:
        """Whether a session was asked for, and a memory is not of that."""
        return self.session is not None and memory.session_id != self.session

    def keeping(self, memory: Memory) -> Progress:
        """With a fact that stays, as another cell tells it: what told it among what goes is looked at all the same."""
        return self.asking([name for name in (memory.cell_id, *memory.source_ids) if name is not None], "told")

    def without(self, memory: Memory, role: Role, by: int, versions: Sequence[Memory] = ()) -> Progress:
        """After its removal, in a commit that ended at sequence `by`: with what goes along, and marks of what it leaves behind.

        versions: its old ones, which said other things perhaps, in other slots.
        """
        cell = is_cell(memory)
        if role == "source":
            role = "told"
        if role == "told" and not cell:
            role = "asked"
        elif role == "made" and cell:
            role = "said"
        left = {memory.id: messages_of(memory)} if cell and role == "said" else {}
        further = self.model_copy(
            update={
                "gone": {**self.gone, memory.id: by},
                "cells": _with(self.cells, memory.id if cell and role == "asked" else None),
                "told": _with(self.told, memory.id if cell and role in ("told", "said") else None),
                "parted": {**self.parted, **left},
                "said_at": {**self.said_at, **_said_at(memory)},
                "conversations": _with(self.conversations, memory.conversation_id),
                "sessions": _with(self.sessions, memory.session_id),
                "lent": _with(self.lent, lends(memory) if _is_turn(memory) else None),
                "said": list(dict.fromkeys([*self.said, *(said for one in (memory, *versions) if (said := says(one)) is not None)])),
            }
        )
        for names, why in _along(memory, role, further):
            further = further.asking(names, why)
            for messages in (self.parted[name] for name in names if why == "told" and name in self.parted):
                further = further.asking(messages, "own")
        return further

    def was_made_of_it(self, memory: Memory) -> bool:
        """Whether a memory that is still there was made of one that is gone, in a way that only it tells.

        What began after a removal was not made of what was removed, though it may have been told anew under the same id.
        """
        gone = {name for name, by in self.gone.items() if memory.sequence <= by}
        sources = gone.intersection(memory.source_ids)
        return bool(gone) and (
            memory.copied_from in gone
            or (memory.cell_id in gone and memory.cell_id in self.cells)
            or (memory.category == "pattern" and bool(sources))
            or bool(sources - {*self.cells, *self.told})
            or (says(memory) in self.said and not self._is_of_others(memory))
        )

    def is_gone(self, memory_id: str, sequence: int) -> bool:
        """Whether this is a memory that is removed, or something of it; not another one that was begun under its id since."""
        return sequence <= self.gone.get(memory_id, -1)


def _along(memory: Memory, role: Role, progress: Progress) -> list[tuple[list[str], Role]]:
    cell = is_cell(memory)
    made = list(memory.consolidated_into_ids)
    if memory.status is Status.UPDATED and memory.next_id is not None:
        made.append(memory.next_id)
    if cell and role in ("asked", "told", "said"):
        made.append(note_id(memory.id))
    along: list[tuple[list[str], Role]] = [(made, "made")]
    if cell and role in ("asked", "told"):
        along.append((messages_of(memory), "own"))
    if role == "asked" and cell:
        along.append(([fact.fact_id for fact in memory.atomic_facts if fact.fact_id is not None], "own"))
    elif role == "said":
        along.append((_taken_from(memory, progress), "own"))
    elif role == "asked" and is_message(memory.id):
        along.append(([memory.cell_id] if memory.cell_id is not None else [], "said"))
    elif role == "asked" and memory.category != "pattern":
        why: Role = "source" if memory.category == "note" and is_made_of_others(memory) else "told"
        along.append(([name for name in (memory.cell_id, *memory.source_ids) if name is not None], why))
    return along


def _tells(cell: Memory, fact: Memory) -> bool:
    """Whether a cell says of itself, in the same words, what a fact says."""
    return any(one.fact_id == fact.id and normalised(one.text) == normalised(fact.content) for one in cell.atomic_facts)


def _is_turn(memory: Memory) -> bool:
    """Whether later turns may be found by its words: those of its session, or of its conversation."""
    return memory.type is MemoryType.EPISODIC and (memory.session_id is not None or is_message(memory.id))


def _said_at(memory: Memory) -> dict[str, tuple[str | None, int]]:
    number = memory.metadata.get("message")
    return {memory.id: (memory.conversation_id, number)} if is_message(memory.id) and isinstance(number, int) else {}


def _taken_from(cell: Memory, progress: Progress) -> list[str]:
    """The facts that a cell took from messages that are gone; all of its facts where it is not known which of its messages these are."""
    places = [progress.said_at.get(name) for name in messages_of(cell) if name in progress.gone]
    numbers = {place[1] for place in places if place is not None and place[0] == cell.conversation_id}
    certain = len(numbers) == len(places)
    return [one.fact_id for one in cell.atomic_facts if one.fact_id is not None and (one.message in numbers or not certain)]


def _with(known: list[str], one: str | None) -> list[str]:
    return known if one is None or one in known else [*known, one]
