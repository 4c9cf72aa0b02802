"""The contract of a run's steps: what a step is given, and what it proposes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from memory_core.consolidation.run_reads import RunReads
from memory_core.domain.memory import Event
from memory_core.domain.scope import Owner
from memory_core.ledger.commit import ReadSet
from memory_core.tasks.operation_records import Chunk


@dataclass(frozen=True, slots=True)
class Run:
    """What a step is given. id: of the operation; what a step makes derives its ids from it. at:
    when it began, which is its present.

    after, to: the sequences between which its news lie, (after, to]. news: the events of others
    than runs there, in order, of one session if `session_id` is given; none of messages, which
    count by what is formed of them. counts: what was done so far. reads: what is read
    of the user, once. since: the present of the last
    run that went over everything, None at first. earlier: whether messages of an earlier version
    are to be looked for.
    """

    id: str
    owner: Owner
    after: int
    to: int
    at: datetime
    session_id: str | None
    news: tuple[Event, ...]
    counts: Mapping[str, int]
    reads: RunReads
    since: datetime | None = None
    earlier: bool = False

    def touched(self, memory_type: str | None = None) -> tuple[str, ...]:
        """Ids of the memories that the news are about, each once, in the order in which they came
        up; of one type if that is given.

        What was saved as not searchable is left out.
        """
        kept_apart = {
            event.memory_id for event in self.news if event.after.get("searchable") is False
        }
        of_type = (
            event.memory_id for event in self.news if memory_type in (None, event.memory_type)
        )
        return tuple(dict.fromkeys(name for name in of_type if name not in kept_apart))


@dataclass(frozen=True, slots=True)
class Proposal:
    """A step's next chunk. ids: documents that `decide` is shown. Its chunk's cursor is the step's
    own; done: the step has ended.

    decide: may be asked again when the user's memories changed meanwhile, and then with what
    they are now. waits: its chunk changes no memory but by marks, so it may be committed with those
    of later steps.
    """

    ids: Sequence[str]
    decide: Callable[[ReadSet], Chunk]
    waits: bool = False


class Step(Protocol):
    """One thing that a run does."""

    @property
    def name(self) -> str:
        """Its name in tasks and reports."""

    async def propose(self, run: Run, cursor: Any) -> Proposal | None:
        """The next chunk after `cursor` (None: from the beginning); None when nothing is left to
        do. May ask agents, frozen by `run.id`.
        """

    async def foresee(self, run: Run) -> Mapping[str, int]:
        """What it would do, counted; without asking a model, and without writing."""
