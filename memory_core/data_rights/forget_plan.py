"""The progress of a hard delete, and its extent; a pure module.

These memories are deleted with a memory: the memories that were made of it (notes and facts of a
cell, merged memories, copies), the messages of a cell, and, for a memory that was said in a
conversation, the cells that state it. Its earlier times, which are separate memories, are deleted
too, and memories of the same slot or key with the same content as the memory or an old version.

Note: this does not spread without end. The cell that states a forgotten fact is deleted with its
note. Of its messages and its other facts, those are deleted that state the forgotten fact as well:
the message that the fact was taken from, and all that have the words of its value. If no message of
the cell can be identified, all its messages are deleted. The other facts stay, and name their
messages in the place of the cell. A cell that was formed of a forgotten message is deleted with the
facts from that message. Its other messages stay, as separate memories. A cell of a forgotten
note is deleted with all its messages and facts.

A memory that is only beside a forgotten memory stays: the other sources of a merged note stay, and
are active again. If a session is forgotten, memories from other sessions stay. A fact that a
remaining cell states belongs to that cell from then on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict, Unpack

from pydantic import ConfigDict, Field

from memory_core.domain.deferred_model import DeferredModel
from memory_core.domain.forgetting import (
    Marks,
    is_made_of_others,
    lends,
    marks_of_quote,
    marks_of_value,
    says,
    states_value,
)
from memory_core.domain.memory import Memory, MemoryType, Status
from memory_core.domain.messages import is_cell, is_message, messages_of
from memory_core.domain.text.sameness import normalised
from memory_core.ledger.ids import note_id

Role = Literal["asked", "told", "source", "said", "own", "beside", "made"]
"""The reason why a memory is looked at.

`asked`: the caller requested it. `told`: it states a requested memory. `source`: it is a source of
a requested merged note. `said`: it was formed of a requested message. `own`: it may be a fact or a
message of a deleted cell. `beside`: it may state a requested fact, since it was with the fact in a
cell. `made`: it was made of a deleted memory.
"""
Said = tuple[str | None, int]
"""Where a message was said: the conversation and the number."""
Step = Literal[
    "begin",
    "remove",
    "memories",
    "version",
    "log",
    "conflict",
    "scene",
    "profile",
    "messages",
    "step",
    "copies",
    "last",
]


_KINDS = {
    "message": "messages",
    "cell": "episodes",
    "note": "notes",
    "fact": "facts",
    "pattern": "patterns",
}


class ProgressFields(TypedDict, total=False):
    """Fields of the progress of a forgetting that a step replaces."""

    step: Step
    place: tuple[int, str] | None
    todo: list[tuple[str, Role]]
    gone: dict[str, int]
    cells: list[str]
    telling_cells: list[str]
    parted: dict[str, list[str]]
    wholly: list[str]
    telling: dict[str, dict[str, Marks]]
    quoted: dict[str, Marks]
    told_at: dict[str, list[Said]]
    heard: dict[str, list[str]]
    along: dict[str, int]
    stays: dict[str, Said | None]
    said_at: dict[str, Said]
    conversations: list[str]
    sessions: list[str]
    lent: list[str]
    marks_of_content: list[str]
    damaged: list[str]
    log_from: int | None


class ForgetProgress(DeferredModel):
    """The progress of an operation.

    Attributes:
        step: The current step.
        place: The place within the step.
        todo: The memories to look at, with the reason of each.
        gone: The removed memories, each with a sequence that its removal had at most. A memory of
            the same id that began later is another memory.
        cells: The removed cells that the caller asked for.
        telling_cells: The removed cells and messages that stated requested memories.
        parted: The messages of removed cells of which only some messages are deleted, by cell; for
            a fact that only messages state, these messages, by the fact.
        wholly: Cells that state a memory other than a fact; all their messages are deleted.
        telling: The marks of each forgotten fact's value, by the memory that states it (a cell, a
            conversation, or the fact itself if only messages state it) and by fact.
        quoted: The marks of the words in which a fact was said, by fact.
        told_at: Where a fact was said, by fact.
        heard: By cell, the facts that its deleted messages stated.
        along: The number of memories that are deleted along, by kind.
        stays: Remaining messages of such cells, and where they were said.
        said_at: Where deleted messages were said.
        conversations: The conversations of deleted memories.
        sessions: The sessions of deleted memories.
        lent: Marks of the words that deleted turns lent to later turns, without words.
        marks_of_content: Marks of the content of deleted memories, without words.
        damaged: Ids of memories and old versions that can't be read, so that it is unknown whether
            they state a forgotten memory.
        log_from: The sequence of the first event that is redacted.
        session: The requested session; memories of other sessions stay.
        whole: The session that is forgotten with all its messages that are not formed yet.
        capped: Whether the filter fits more memories than a task forgets.

    """

    # as earlier versions stored them
    model_config = ConfigDict(extra="forbid", serialize_by_alias=True)

    step: Step = "begin"
    place: tuple[int, str] | None = None
    todo: list[tuple[str, Role]] = Field(default_factory=list)
    gone: dict[str, int] = Field(default_factory=dict)
    cells: list[str] = Field(default_factory=list)
    telling_cells: list[str] = Field(default_factory=list, alias="told")
    parted: dict[str, list[str]] = Field(default_factory=dict)
    wholly: list[str] = Field(default_factory=list)
    telling: dict[str, dict[str, Marks]] = Field(default_factory=dict)
    quoted: dict[str, Marks] = Field(default_factory=dict)
    told_at: dict[str, list[Said]] = Field(default_factory=dict)
    heard: dict[str, list[str]] = Field(default_factory=dict)
    along: dict[str, int] = Field(default_factory=dict)
    stays: dict[str, Said | None] = Field(default_factory=dict)
    said_at: dict[str, Said] = Field(default_factory=dict)
    conversations: list[str] = Field(default_factory=list)
    sessions: list[str] = Field(default_factory=list)
    lent: list[str] = Field(default_factory=list)
    marks_of_content: list[str] = Field(default_factory=list, alias="said")
    damaged: list[str] = Field(default_factory=list)
    log_from: int | None = None
    session: str | None = None
    whole: str | None = None
    capped: bool = False

    def changed(self, **fields: Unpack[ProgressFields]) -> ForgetProgress:
        """The progress with these fields replaced, without validation."""
        return self.model_copy(update=fields)

    @property
    def document(self) -> dict[str, Any]:
        """The progress as an operation stores it."""
        return self.model_dump(mode="json")

    def at(self, step: Step, place: tuple[int, str] | None = None) -> ForgetProgress:
        """Return the progress at another step, or further in the step.

        Args:
            step: The step.
            place: The place within the step; None for its beginning.

        """
        return self.changed(step=step, place=place)

    def with_requested(self, names: Collection[str], role: Role) -> ForgetProgress:
        """Return the progress with further memories to look at.

        Memories that are removed, or on the list already, are ignored.

        Args:
            names: The ids of the memories.
            role: Why they are looked at.

        """
        weaker = {"beside"} if role != "beside" else set()
        weaker |= {"said"} if role in ("asked", "told", "source") else set()
        todo = [(name, why) for name, why in self.todo if not (why in weaker and name in names)]
        known = {
            name for name, why in todo if why != "own" or role in ("own", "beside")
        } | self.gone.keys()
        return self.changed(
            todo=[*todo, *((name, role) for name in dict.fromkeys(names) if name not in known)]
        )

    def with_unreadable(self, damaged: Collection[str]) -> ForgetProgress:
        """Return the progress with further ids that can't be read."""
        return self.changed(damaged=sorted({*self.damaged, *damaged})) if damaged else self

    def must_be_deleted(self, memory: Memory, role: Role) -> bool:
        """Whether a memory that was looked at has to be deleted.

        Args:
            memory: The memory.
            role: Why it was looked at.

        """
        if role in ("told", "source") and self._is_of_others(memory):
            return False
        if role == "source":
            return is_cell(memory)
        if role == "beside":
            return bool(self._forgotten_facts_in(memory))
        return (
            role != "own"
            or memory.cell_id in self.cells
            or memory.cell_id in (self.telling_cells if is_message(memory.id) else self.parted)
        )

    def remaining_cell(self, memory: Memory, role: Role, cells: Iterable[Memory]) -> Memory | None:
        """Return the cell that a fact belongs to from now on.

        Such a cell states the same fact, and stays.

        Args:
            memory: The requested memory, or a memory of a deleted cell.
            role: Why it was looked at.
            cells: The stored cells that state it.

        Returns:
            The cell; None if the fact is deleted.

        """
        if (
            role not in ("asked", "own", "beside")
            or (role == "asked" and self.session is None)
            or memory.category != "fact"
        ):
            return None
        going = self.gone.keys() | {name for name, why in self.todo if why != "own"}
        stay = [
            cell
            for cell in cells
            if cell.id in memory.source_ids and cell.id not in going and self._stays(cell)
        ]
        return next((cell for cell in stay if _states_fact(cell, memory)), None)

    def _stays(self, cell: Memory) -> bool:
        return (
            is_cell(cell)
            and cell.status is not Status.DELETED
            and (self.session is None or self._is_of_others(cell))
        )

    def _is_of_others(self, memory: Memory) -> bool:
        """Whether a session was requested, and the memory is of another."""
        return self.session is not None and memory.session_id != self.session

    def _forgotten_facts_in(self, memory: Memory) -> list[tuple[str, str]]:
        """Return the forgotten facts that a message or a fact states, each with its cell."""
        place = _place(memory) if is_message(memory.id) else None
        pairs: list[tuple[str, str]] = []
        for cell in self._cells_with(memory):
            for fact, marks in self.telling[cell].items():
                at = place is not None and place in self.told_at.get(fact, ())
                if at or states_value(
                    memory.content,
                    marks,
                    self.quoted.get(fact, ()) if is_message(memory.id) else (),
                ):
                    pairs.append((cell, fact))
        return pairs

    def _cells_with(self, memory: Memory) -> list[str]:
        """Return the memories that state a forgotten fact and belong to this memory.

        They are made of this message, or state this fact.
        """
        named = [
            name
            for name in (memory.cell_id, *memory.source_ids)
            if name is not None and name in self.telling
        ]
        if not is_message(memory.id):
            return list(dict.fromkeys(named))
        return list(
            dict.fromkeys(
                [
                    *named,
                    *(
                        name
                        for name, messages in self.parted.items()
                        if name in self.telling and memory.id in messages
                    ),
                ]
            )
        )

    def with_remaining_message(self, memory: Memory) -> ForgetProgress:
        """Return the progress with a message that stays beside a forgotten fact."""
        if not is_message(memory.id) or memory.cell_id not in (None, *self.gone):
            return self
        return self.changed(stays={**self.stays, memory.id: _place(memory)})

    def remaining_messages(self, fact: Memory) -> list[str]:
        """Return the remaining messages of a fact whose cell is deleted.

        It is the message that the fact was taken from, or all messages of the cell if that is
        unknown.
        """
        cells = [
            name
            for name in dict.fromkeys((fact.cell_id, *fact.source_ids))
            if name in self.parted and name in self.gone
        ]
        left = [message for name in cells for message in self.parted[name] if message in self.stays]
        places = self.told_at.get(fact.id, [])
        if any(place in places for place in (*self.said_at.values(), *self.stays.values())):
            left = [message for message in left if self.stays[message] in places]
        return list(dict.fromkeys(left))

    def with_doubtful_messages(self) -> ForgetProgress:
        """Return the progress with all messages of cells in doubt.

        These are cells of which it is unknown which message stated a forgotten fact.
        """
        gone = {*self.said_at.values()}
        unheard = [
            name
            for name, facts in self.telling.items()
            if name in self.parted
            for fact in facts
            if fact not in self.heard.get(name, ()) and gone.isdisjoint(self.told_at.get(fact, ()))
        ]
        return self.with_requested(
            [
                message
                for name in dict.fromkeys(unheard)
                for message in self.parted[name]
                if message in self.stays
            ],
            "told",
        )

    def with_kept_fact(self, memory: Memory) -> ForgetProgress:
        """Return the progress with a fact that stays because another cell states it.

        The deleted memories that state the fact are looked at all the same.
        """
        return self.with_requested(
            [name for name in (memory.cell_id, *memory.source_ids) if name is not None], "told"
        )

    def without(
        self, memory: Memory, role: Role, by: int, versions: Sequence[Memory] = ()
    ) -> ForgetProgress:
        """Return the progress after the removal of a memory.

        It has the memories that are deleted along, and marks of the remaining mentions.

        Args:
            memory: The removed memory.
            role: Why it was looked at.
            by: The sequence at the end of the commit that removed it.
            versions: Its old versions, which may have had other contents and slots.

        """
        cell, came = is_cell(memory), role
        if cell and role == "told" and memory.id in self.wholly:
            role = "asked"  # all of its messages go, so nothing would tell its facts
        if role == "source":
            role = "told"
        if role == "told" and not cell:
            role = "asked"
        elif role == "made" and cell:
            role = "said"
        beside = (
            cell and role == "told" and memory.id in self.telling and memory.id not in self.wholly
        )
        left = {memory.id: messages_of(memory)} if beside or (cell and role == "said") else {}
        heard = self._forgotten_facts_in(memory) if is_message(memory.id) else []
        is_telling = (cell and role in ("told", "said")) or (
            is_message(memory.id) and came in ("told", "beside")
        )
        further = self.changed(
            gone={**self.gone, memory.id: by},
            cells=_with(self.cells, memory.id if cell and role == "asked" else None),
            telling_cells=_with(self.telling_cells, memory.id if is_telling else None),
            parted={**self.parted, **left},
            along=self.along if came == "asked" else counted(self.along, memory),
            heard=_with_names(self.heard, heard),
            said_at={**self.said_at, **_said_at(memory)},
            conversations=_with(self.conversations, memory.conversation_id),
            sessions=_with(self.sessions, memory.session_id),
            lent=_with(self.lent, lends(memory) if _is_turn(memory) else None),
            marks_of_content=list(
                dict.fromkeys(
                    [
                        *self.marks_of_content,
                        *(
                            mark
                            for state in (memory, *versions)
                            if (mark := says(state)) is not None
                        ),
                    ]
                )
            ),
        )
        if role == "asked" and memory.category == "fact":
            further = further._with_words_of(memory, versions)
        if beside:
            return further._with_parted_cell(memory)
        if role == "beside" and is_message(memory.id):
            role = "asked"
        for names, why in _along(memory, role, further):
            further = further.with_requested(names, why)
            if why in ("told", "source") and memory.category != "fact":
                further = further.changed(wholly=[*further.wholly, *names])
            for name in names if why == "told" else ():
                further = further.with_requested(
                    self.parted.get(name, ()), "beside" if memory.category == "fact" else "own"
                )
        return further

    def _with_words_of(self, fact: Memory, versions: Sequence[Memory]) -> ForgetProgress:
        """Return the progress with the words of a forgotten fact.

        If no cell states the fact, its messages are to be looked at.
        """
        marks = [part for state in (fact, *versions) for part in marks_of_value(state)]
        messages = [name for name in fact.source_ids if is_message(name)]
        names = [
            name
            for name in (fact.cell_id, *fact.source_ids)
            if name is not None and not is_message(name)
        ]
        names += [fact.id, *messages] if messages else []
        names += (
            [fact.conversation_id]
            if fact.conversation_id is not None and fact.cell_id is None
            else []
        )
        telling = {
            **self.telling,
            **{name: {**self.telling.get(name, {}), fact.id: marks} for name in names},
        }
        parted = {**self.parted, fact.id: messages} if messages else self.parted
        return self.changed(telling=telling, parted=parted).with_requested(messages, "beside")

    def _with_parted_cell(self, cell: Memory) -> ForgetProgress:
        """Return the progress with a cell that states a forgotten fact.

        Of the cell's memories, only those are deleted that state the fact as well.
        """
        told_at, quoted = dict(self.told_at), dict(self.quoted)
        facts = [(fact.fact_id, fact) for fact in cell.atomic_facts if fact.fact_id is not None]
        for name, fact in facts:
            if fact.message is not None:
                told_at[name] = [*told_at.get(name, ()), (cell.conversation_id, fact.message)]
            if (
                fact.quote is not None
                and name in self.telling[cell.id]
                and (quote := marks_of_quote(fact.quote))
            ):
                quoted[name] = [*quoted.get(name, ()), quote]
        further = self.changed(told_at=told_at, quoted=quoted).with_requested(
            [note_id(cell.id), *_merged_into_ids(cell)], "made"
        )
        # Messages first, since the remaining facts name the remaining messages.
        further = further.with_requested(messages_of(cell), "beside").with_requested(
            _facts_taken_from(cell, further), "own"
        )
        return further.with_requested([name for name, _ in facts], "beside")

    def is_derived_from_removed(self, memory: Memory) -> bool:
        """Whether a remaining memory was made of a removed memory, and only it tells so.

        A memory that began after a removal was not made of the removed memory, though that may have
        been saved once more under the same id.
        """
        gone = {name for name, by in self.gone.items() if memory.sequence <= by}
        sources = gone.intersection(memory.source_ids)
        if memory.category == "fact" and any(
            not is_message(name) and name not in self.gone for name in memory.source_ids
        ):
            sources = {name for name in sources if not is_message(name)}
        return bool(gone) and (
            memory.copied_from in gone
            or (memory.cell_id in gone and memory.cell_id in self.cells)
            or (memory.category == "pattern" and bool(sources))
            or bool(sources - {*self.cells, *self.telling_cells})
            or (
                memory.category == "fact"
                and any(map(is_message, sources))
                and bool(self._forgotten_facts_in(memory))
            )
            or self._states_outlived_fact(memory)
            or (
                says(memory) in self.marks_of_content
                and (not self._is_of_others(memory) or _was_earlier_interval(memory))
            )
        )

    def _states_outlived_fact(self, memory: Memory) -> bool:
        """Whether a message without a cell tells a forgotten fact that outlived its cell."""
        if not is_message(memory.id) or memory.cell_id is not None or self._is_of_others(memory):
            return False
        facts = self.telling.get(memory.conversation_id or "", {})
        return any(
            self.is_removed(fact, memory.sequence) and states_value(memory.content, marks)
            for fact, marks in facts.items()
        )

    def is_removed(self, memory_id: str, sequence: int) -> bool:
        """Whether a memory is removed, or is a part of a removed memory.

        Another memory that began later under its id is not.

        Args:
            memory_id: The id.
            sequence: The sequence at which the memory or its part began.

        """
        return sequence <= self.gone.get(memory_id, -1)


def _along(memory: Memory, role: Role, progress: ForgetProgress) -> list[tuple[list[str], Role]]:
    cell = is_cell(memory)
    made = _merged_into_ids(memory)
    if cell and role in ("asked", "told", "said"):
        made.append(note_id(memory.id))
    along: list[tuple[list[str], Role]] = [(made, "made")]
    if cell and role in ("asked", "told"):
        along.append((messages_of(memory), "own"))
    if role == "asked" and cell:
        along.append(
            ([fact.fact_id for fact in memory.atomic_facts if fact.fact_id is not None], "own")
        )
    elif role == "said":
        along.append((_facts_taken_from(memory, progress), "own"))
    elif role == "asked" and is_message(memory.id):
        along.append(([memory.cell_id] if memory.cell_id is not None else [], "said"))
    elif role == "asked" and memory.category != "pattern":
        why: Role = "source" if memory.category == "note" and is_made_of_others(memory) else "told"
        names = [name for name in (memory.cell_id, *memory.source_ids) if name is not None]
        along.append(
            ([name for name in names if not (memory.category == "fact" and is_message(name))], why)
        )
    return along


def _was_earlier_interval(memory: Memory) -> bool:
    """Whether a memory kept an interval of another memory, which it lost since.

    Note: it has no session, also where the other memory has.
    """
    return (
        memory.session_id is None
        and (memory.status, memory.status_reason) == (Status.DELETED, "contradicted")
        and memory.valid_until == memory.valid_from
        and (memory.conflict_state, memory.conflict_ids) == ("resolved", [])
    )


def _merged_into_ids(memory: Memory) -> list[str]:
    """Return the ids of the memories that it was merged into."""
    replaced = memory.next_id if memory.status is Status.UPDATED else None
    return [*memory.consolidated_into_ids, *([replaced] if replaced is not None else [])]


def counted(kinds: Mapping[str, int], memory: Memory) -> dict[str, int]:
    """Count another memory of a kind that conversations make.

    The counts stay the same for any other memory.

    Args:
        kinds: The counts by kind.
        memory: The memory.

    """
    kind = _KINDS.get(memory.category or "")
    return dict(kinds) if kind is None else {**kinds, kind: kinds.get(kind, 0) + 1}


def _states_fact(cell: Memory, fact: Memory) -> bool:
    """Whether a cell says a fact in the same words."""
    return any(
        atomic_fact.fact_id == fact.id and normalised(atomic_fact.text) == normalised(fact.content)
        for atomic_fact in cell.atomic_facts
    )


def _is_turn(memory: Memory) -> bool:
    """Whether later turns of its session or conversation may be found by its words."""
    return memory.type is MemoryType.EPISODIC and (
        memory.session_id is not None or is_message(memory.id)
    )


def _said_at(memory: Memory) -> dict[str, Said]:
    place = _place(memory) if is_message(memory.id) else None
    return {memory.id: place} if place is not None else {}


def _place(message: Memory) -> Said | None:
    """Return where a message was said; None if the message does not say."""
    number = message.metadata.get("message")
    return (message.conversation_id, number) if isinstance(number, int) else None


def _with_names(
    known: dict[str, list[str]], pairs: Collection[tuple[str, str]]
) -> dict[str, list[str]]:
    heard = dict(known)
    for cell, fact in pairs:
        heard[cell] = _with(heard.get(cell, []), fact)
    return heard


def _facts_taken_from(cell: Memory, progress: ForgetProgress) -> list[str]:
    """Return the facts that a cell took from removed messages.

    If it is unknown which of its messages these are, all its facts are returned.
    """
    places = [progress.said_at.get(name) for name in messages_of(cell) if name in progress.gone]
    numbers = {
        place[1] for place in places if place is not None and place[0] == cell.conversation_id
    }
    certain = len(numbers) == len(places)
    return [
        fact.fact_id
        for fact in cell.atomic_facts
        if fact.fact_id is not None and (fact.message in numbers or not certain)
    ]


def _with(known: list[str], name: str | None) -> list[str]:
    return known if name is None or name in known else [*known, name]
