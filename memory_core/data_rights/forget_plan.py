"""How far the forgetting of something for good has come, and what else has to go with it. Pure.

What goes with a memory: what was made of it (notes and facts of a cell, what it was merged into,
copies), the messages of a cell, and, of what was told in a conversation, the cells that tell it.
What says in its slot, or of its key, what it or an old version of it said goes too, as earlier
times of it may be memories of their own. Note: that does not go on for ever. The cell that told a
forgotten fact goes with its note. Of its messages and its other facts those go that tell the
forgotten fact too: the message that it was taken from, and all that have the words of its value. If
no message of the cell can be told to, all of them go. The other facts stay, and name their messages
in the place of the cell. What was formed of a forgotten message goes with what it took from that;
its other messages stay, and stand for themselves.

Nothing goes that is only beside it: other sources of a merged note stay, and are active again.
Where a session is forgotten, what other sessions told stays theirs. A fact that a cell tells which
stays is that cell's from then on.
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
    tells,
)
from memory_core.domain.memory import Memory, MemoryType, Status
from memory_core.domain.messages import is_cell, is_message, messages_of
from memory_core.domain.text.sameness import normalised
from memory_core.ledger.ids import note_id

Role = Literal["asked", "told", "source", "said", "own", "beside", "made"]
"""Why a memory is looked at: it was asked for; it told one that was; it is a source of a merged
note that was; it was formed of a message that was; it may be a fact or a message of a cell that
goes; it may tell a fact that was, as it stood beside it in a cell that told that;
it was made of one.
"""
Said = tuple[str | None, int]
"""Where a message was said: conversation and number."""
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
    """Where an operation is. place: in what the step goes through. todo: what is to be looked
    at, and why.

    gone: what is removed, each with a sequence that its removal had at most; what has the same id
    and began later is another memory. cells: those of them that were cells and asked for;
    telling_cells: cells that told them; parted: of these, with the messages that stay, those that
    only a message of theirs was asked for of; said_at: of messages that are gone, conversation and
    number. wholly: cells that told what is no fact, whose messages all go. telling: by what told a
    forgotten fact (a cell, a conversation, the fact itself where only messages told it), by fact
    the marks of its value. quoted: by fact the marks of what was said of it. told_at: by fact where
    it was said. heard: by cell the facts that a message of it that is gone told. stays: messages
    that such a cell leaves, and where they were said. along: how many go along, by their kind.
    lent, marks_of_content: marks of what they said, no words. damaged: ids of memories and old
    versions that can't be read: whether they tell of the forgotten is not known. log_from: the
    sequence of the first event that is redacted. session: the one that was asked for; what others
    told stays. whole: the session that is forgotten with all that it has yet to form.
    """

    # as earlier operations have stored them
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
        """As the operation keeps it."""
        return self.model_dump(mode="json")

    def at(self, step: Step, place: tuple[int, str] | None = None) -> ForgetProgress:
        """The same at another step, or further in it."""
        return self.changed(step=step, place=place)

    def asking(self, names: Collection[str], role: Role) -> ForgetProgress:
        """With more to look at, but for what is gone or is there already."""
        weaker = {"beside"} if role != "beside" else set()
        weaker |= {"said"} if role in ("asked", "told", "source") else set()
        todo = [(name, why) for name, why in self.todo if not (why in weaker and name in names)]
        known = {
            name for name, why in todo if why != "own" or role in ("own", "beside")
        } | self.gone.keys()
        return self.changed(
            todo=[*todo, *((name, role) for name in dict.fromkeys(names) if name not in known)]
        )

    def passing_over(self, damaged: Collection[str]) -> ForgetProgress:
        """With more that can't be read."""
        return self.changed(damaged=sorted({*self.damaged, *damaged})) if damaged else self

    def goes(self, memory: Memory, role: Role) -> bool:
        """Whether a memory that was looked at has to go."""
        if role in ("told", "source") and self._is_of_others(memory):
            return False
        if role == "source":
            return is_cell(memory)
        if role == "beside":
            return bool(self._told_by(memory))
        return (
            role != "own"
            or memory.cell_id in self.cells
            or memory.cell_id in (self.telling_cells if is_message(memory.id) else self.parted)
        )

    def another_teller(self, memory: Memory, role: Role, cells: Iterable[Memory]) -> Memory | None:
        """The cell that a fact belongs to from now on, as it tells the same and stays;
        None where the fact goes.

        Args:
            memory: what was asked for, or is of a cell that goes.
            role: why it was looked at.
            cells: those that told it, as far as they are there.

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
        return next((cell for cell in stay if _tells(cell, memory)), None)

    def _stays(self, cell: Memory) -> bool:
        return (
            is_cell(cell)
            and cell.status is not Status.DELETED
            and (self.session is None or self._is_of_others(cell))
        )

    def _is_of_others(self, memory: Memory) -> bool:
        """Whether a session was asked for, and a memory is not of that."""
        return self.session is not None and memory.session_id != self.session

    def _told_by(self, memory: Memory) -> list[tuple[str, str]]:
        """The forgotten facts that a message or a fact tells, each with the cell that told it."""
        place = _place(memory) if is_message(memory.id) else None
        pairs: list[tuple[str, str]] = []
        for cell in self._cells_with(memory):
            for fact, marks in self.telling[cell].items():
                at = place is not None and place in self.told_at.get(fact, ())
                if at or tells(
                    memory.content,
                    marks,
                    self.quoted.get(fact, ()) if is_message(memory.id) else (),
                ):
                    pairs.append((cell, fact))
        return pairs

    def _cells_with(self, memory: Memory) -> list[str]:
        """What told a forgotten fact and is made of this message or told this fact."""
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

    def leaving(self, memory: Memory) -> ForgetProgress:
        """With a message that stays beside a forgotten fact."""
        if not is_message(memory.id) or memory.cell_id not in (None, *self.gone):
            return self
        return self.changed(stays={**self.stays, memory.id: _place(memory)})

    def messages_telling(self, fact: Memory) -> list[str]:
        """The messages that stay of a fact whose cell goes: the one that it was taken from; all of
        the cell where that can't be told.
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

    def in_doubt(self) -> ForgetProgress:
        """With all messages of the cells of which it is not known who told a forgotten fact."""
        gone = {*self.said_at.values()}
        unheard = [
            name
            for name, facts in self.telling.items()
            if name in self.parted
            for fact in facts
            if fact not in self.heard.get(name, ()) and gone.isdisjoint(self.told_at.get(fact, ()))
        ]
        return self.asking(
            [
                message
                for name in dict.fromkeys(unheard)
                for message in self.parted[name]
                if message in self.stays
            ],
            "told",
        )

    def keeping(self, memory: Memory) -> ForgetProgress:
        """With a fact that stays, as another cell tells it: what told it among what goes is looked
        at all the same.
        """
        return self.asking(
            [name for name in (memory.cell_id, *memory.source_ids) if name is not None], "told"
        )

    def without(
        self, memory: Memory, role: Role, by: int, versions: Sequence[Memory] = ()
    ) -> ForgetProgress:
        """After its removal, in a commit that ended at sequence `by`: with what goes along, and
        marks of what it leaves behind.

        versions: its old ones, which said other things perhaps, in other slots.
        """
        cell, came = is_cell(memory), role
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
        heard = self._told_by(memory) if is_message(memory.id) else []
        is_telling = (cell and role in ("told", "said")) or (
            is_message(memory.id) and came in ("told", "beside")
        )
        further = self.changed(
            gone={**self.gone, memory.id: by},
            cells=_with(self.cells, memory.id if cell and role == "asked" else None),
            telling_cells=_with(self.telling_cells, memory.id if is_telling else None),
            parted={**self.parted, **left},
            along=self.along if came == "asked" else counted(self.along, memory),
            heard=_with_heard(self.heard, heard),
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
            further = further._telling(memory, versions)
        if beside:
            return further._parting(memory)
        if role == "beside" and is_message(memory.id):
            role = "asked"
        for names, why in _along(memory, role, further):
            further = further.asking(names, why)
            if why in ("told", "source") and memory.category != "fact":
                further = further.changed(wholly=[*further.wholly, *names])
            for name in names if why == "told" else ():
                further = further.asking(
                    self.parted.get(name, ()), "beside" if memory.category == "fact" else "own"
                )
        return further

    def _telling(self, fact: Memory, versions: Sequence[Memory]) -> ForgetProgress:
        """With the words of a fact that is forgotten, and its messages where no cell told it."""
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
        return self.changed(telling=telling, parted=parted).asking(messages, "beside")

    def _parting(self, cell: Memory) -> ForgetProgress:
        """With a cell that told a forgotten fact, of which only what tells that too goes along."""
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
        further = self.changed(told_at=told_at, quoted=quoted).asking(
            [note_id(cell.id), *_made_of(cell)], "made"
        )
        # The messages first: the facts that stay name those that do.
        further = further.asking(messages_of(cell), "beside").asking(
            _taken_from(cell, further), "own"
        )
        return further.asking([name for name, _ in facts], "beside")

    def was_made_of_it(self, memory: Memory) -> bool:
        """Whether a memory that is still there was made of one that is gone, in a way that
        only it tells.

        What began after a removal was not made of what was removed, though it may have been told
        again under the same id.
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
                and bool(self._told_by(memory))
            )
            or self._is_left_telling(memory)
            or (says(memory) in self.marks_of_content and not self._is_of_others(memory))
        )

    def _is_left_telling(self, memory: Memory) -> bool:
        """Whether a message of which nothing is formed tells a forgotten fact that has
        outlived its cell.
        """
        if not is_message(memory.id) or memory.cell_id is not None or self._is_of_others(memory):
            return False
        facts = self.telling.get(memory.conversation_id or "", {})
        return any(
            self.is_gone(fact, memory.sequence) and tells(memory.content, marks)
            for fact, marks in facts.items()
        )

    def is_gone(self, memory_id: str, sequence: int) -> bool:
        """Whether this is a memory that is removed, or something of it; not another one that was
        begun under its id since.
        """
        return sequence <= self.gone.get(memory_id, -1)


def _along(memory: Memory, role: Role, progress: ForgetProgress) -> list[tuple[list[str], Role]]:
    cell = is_cell(memory)
    made = _made_of(memory)
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
        along.append((_taken_from(memory, progress), "own"))
    elif role == "asked" and is_message(memory.id):
        along.append(([memory.cell_id] if memory.cell_id is not None else [], "said"))
    elif role == "asked" and memory.category != "pattern":
        why: Role = "source" if memory.category == "note" and is_made_of_others(memory) else "told"
        names = [name for name in (memory.cell_id, *memory.source_ids) if name is not None]
        along.append(
            ([name for name in names if not (memory.category == "fact" and is_message(name))], why)
        )
    return along


def _made_of(memory: Memory) -> list[str]:
    """What it was merged into."""
    replaced = memory.next_id if memory.status is Status.UPDATED else None
    return [*memory.consolidated_into_ids, *([replaced] if replaced is not None else [])]


def counted(kinds: Mapping[str, int], memory: Memory) -> dict[str, int]:
    """The counts with one more memory of a kind that conversations make; the same for any
    other memory.
    """
    kind = _KINDS.get(memory.category or "")
    return dict(kinds) if kind is None else {**kinds, kind: kinds.get(kind, 0) + 1}


def _tells(cell: Memory, fact: Memory) -> bool:
    """Whether a cell says of itself, in the same words, what a fact says."""
    return any(
        atomic_fact.fact_id == fact.id and normalised(atomic_fact.text) == normalised(fact.content)
        for atomic_fact in cell.atomic_facts
    )


def _is_turn(memory: Memory) -> bool:
    """Whether later turns may be found by its words: those of its session, or of its
    conversation.
    """
    return memory.type is MemoryType.EPISODIC and (
        memory.session_id is not None or is_message(memory.id)
    )


def _said_at(memory: Memory) -> dict[str, Said]:
    place = _place(memory) if is_message(memory.id) else None
    return {memory.id: place} if place is not None else {}


def _place(message: Memory) -> Said | None:
    """Where a message was said; None where it does not tell."""
    number = message.metadata.get("message")
    return (message.conversation_id, number) if isinstance(number, int) else None


def _with_heard(
    known: dict[str, list[str]], pairs: Collection[tuple[str, str]]
) -> dict[str, list[str]]:
    heard = dict(known)
    for cell, fact in pairs:
        heard[cell] = _with(heard.get(cell, []), fact)
    return heard


def _taken_from(cell: Memory, progress: ForgetProgress) -> list[str]:
    """The facts that a cell took from messages that are gone; all of its facts where it is not
    known which of its messages these are.
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
