"""The contract of a run's steps: what a step is given, and what it proposes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from memory_core.consolidation.run_reads import RunReads
from memory_core.domain.memory import Event
from memory_core.domain.scope import Owner
from memory_core.ledger.read_set import Reads, ReadSet, no_further
from memory_core.tasks.operation_records import Chunk


@dataclass(frozen=True, slots=True)
class Run:
    """The input of a step.

    Attributes:
        id: The id of the operation; a step derives the ids of its memories from it.
        owner: Whose memories the run settles.
        after: The sequence after which the new events are.
        to: The sequence of the last new event.
        at: When the run began, which is its present.
        session_id: The only session that the run is about; None for all.
        news: The new events in order, without events of runs. Events of messages are left out;
            they count by the memories that are formed of them.
        counts: The work done so far.
        reads: The user's documents, each read once.
        since: The present of the last run over all sessions; None for the first run.
        earlier: Whether messages of an earlier version are to be looked for.

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

    def changed_ids(self, memory_type: str | None = None) -> tuple[str, ...]:
        """Return the ids of the memories that the new events are about.

        The ids are in the order of the events, each once. Memories that were saved as not
        searchable are left out. With `memory_type`, only memories of this type are returned.
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
    """A step's next chunk.

    The step gives the cursor of its chunk. If the chunk is `done`, the step has ended.

    Attributes:
        ids: The documents that `decide` gets.
        reads: Names the documents that `decide` gets besides, by what was read.
        decide: Makes the chunk. It may be called again if the user's memories changed meanwhile,
            and then gets them as they are.
        waits: Whether the chunk may be committed with those of later steps, because it changes
            no memory but by marks.

    """

    ids: Sequence[str]
    decide: Callable[[ReadSet], Chunk]
    waits: bool = False
    reads: Reads = no_further


class Step(Protocol):
    """A step of a run."""

    @property
    def name(self) -> str:
        """The step's name in tasks and reports."""

    async def propose(self, run: Run, cursor: Any) -> Proposal | None:
        """Return the next chunk; None if no work is left.

        A step may ask agents; their answers are frozen by `run.id`.

        Args:
            run: The run.
            cursor: The end of the last chunk; None for the beginning.

        Raises:
            Unavailable: The long-term store or an agent is down.

        """

    async def dry_run(self, run: Run) -> Mapping[str, int]:
        """Count the step's work, without asking a model and without writing."""
