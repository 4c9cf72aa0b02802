"""What later messages and open conflicts say against the results of a retrieve.

Results are marked by what marks the lines of a context. It takes the most relevant later messages
and the other sides of open conflicts, which are read with the results' passages. The records of
conflicts cost a read, and only if a result is in an open conflict.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

import numpy as np

from memory_core.domain.errors import Damaged
from memory_core.domain.memory import MemoryType
from memory_core.domain.messages import is_message
from memory_core.domain.ranking.learned_order import ASSISTANTS
from memory_core.domain.ranking.selection import Piece
from memory_core.domain.results import Passage
from memory_core.domain.scope import Owner
from memory_core.domain.serialized_memory import SerializedMemory
from memory_core.domain.transitions import FOUND_BY_DEFAULT
from memory_core.ledger.readable import readable_shown
from memory_core.ports import LongTermStore
from memory_core.recollection.disputes import is_disputed
from memory_core.recollection.query_round import QueryRound
from memory_core.recollection.quotations import (
    is_other_side,
    open_conflicts,
    person_of,
    shown_at,
    tells_only_what_has_ended,
)
from memory_core.recollection.replaced_lines import Replaced, find_replaced_pieces, may_replace

log = logging.getLogger(__name__)
MOST_LATER = 8
"""The most later messages that are read for the results of a query, the most relevant."""
LONGEST = 400
"""The most characters of a text that marks another, or is marked. To read what a text of 2,000 says
takes some 5 ms, and a long one has words of most questions.
"""


@dataclass(frozen=True, slots=True)
class Beside:
    """What may speak against results.

    Attributes:
        messages: The ids of later messages of people.
        sides: By a result's row, the other side of each open conflict by the conflict's id.

    """

    messages: tuple[str, ...] = ()
    sides: Mapping[int, Mapping[str, str]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The ids of all these memories."""
        sides = (name for of_result in self.sides.values() for name in of_result.values())
        return list(dict.fromkeys([*self.messages, *sides]))


@dataclass(frozen=True, slots=True)
class ResultMarks:
    """What is said against a result.

    Attributes:
        replaced_by: Later messages that replace a statement of it.
        disputed_by: The other sides of its open conflicts, the latest first.
        tellers: The ids of the memories with the statements that `replaced_by` replaces, in order.

    """

    replaced_by: tuple[dict[str, Any], ...] = ()
    disputed_by: tuple[dict[str, Any], ...] = ()
    tellers: tuple[str, ...] = ()

    @property
    def names(self) -> set[str]:
        """The ids of all messages that `replaced_by` tells words of."""
        return {*self.tellers, *(later["memory_id"] for later in self.replaced_by)}

    def without(self, silenced: Collection[str]) -> ResultMarks:
        """The marks without the words of messages that must not be told."""
        by = tuple(
            later
            for later, teller in zip(self.replaced_by, self.tellers, strict=True)
            if later["memory_id"] not in silenced and teller not in silenced
        )
        return ResultMarks(by, self.disputed_by)


def later_messages(look: QueryRound, since: float, known: Collection[str], most: int) -> list[int]:
    """Return the most relevant messages that were said after a moment.

    Args:
        look: The round.
        since: The moment, in seconds.
        known: The ids of messages to leave out.
        most: The most messages.

    """
    candidates = look.candidates
    ranked = np.argsort(-look.relevant.score, kind="stable")
    later = ranked[(candidates.event_at[ranked] > since) & candidates.turns[ranked]].tolist()
    unknown = (
        row for row in later if is_message(name := candidates.ids[row]) and name not in known
    )
    return [*islice(unknown, most)]


async def find_beside(
    store: LongTermStore, owner: Owner, look: QueryRound, results: Mapping[int, SerializedMemory]
) -> Beside:
    """Find what may speak against results.

    Args:
        store: The long-term store; only results in an open conflict cost a read.
        owner: Whose memories they are.
        look: The round that found the results.
        results: The memories of the results by row.

    Raises:
        Unavailable: The long-term store is down.

    """
    if not results:
        return Beside()
    candidates = look.candidates
    since = float(candidates.event_at[[*results]].min())
    known = {candidates.ids[row] for row in results} | look.left_out
    people = [
        candidates.ids[row]
        for row in later_messages(look, since, known, MOST_LATER)
        if (candidates.actor[row] or "").casefold() not in ASSISTANTS
    ]
    disputed = {row: document.memory for row, document in results.items() if is_disputed(document)}
    conflicts = await open_conflicts(store, owner, disputed.values())
    sides = {
        row: {
            record.id: other
            for record in conflicts.get(memory.id, ())
            if (other := record.beside(memory.id)) is not None
        }
        for row, memory in disputed.items()
    }
    return Beside(tuple(people), sides)


def results_of_talk(
    look: QueryRound, results: Collection[int], passages: Mapping[int, Sequence[Passage]]
) -> list[int]:
    """Return the results with words of a conversation, which alone may be replaced by others.

    Args:
        look: The round that found the results.
        results: Their rows.
        passages: The passages of each row.

    """
    candidates = look.candidates
    return [
        row
        for row in results
        if is_message(candidates.ids[row]) or candidates.cell[row] is not None or passages.get(row)
    ]


def result_marks(
    look: QueryRound,
    results: Mapping[int, SerializedMemory],
    of_talk: Sequence[int],
    passages: Mapping[int, Sequence[Passage]],
    beside: Beside,
    documents: Mapping[str, SerializedMemory],
) -> dict[int, ResultMarks]:
    """Mark the results against which something is said.

    Args:
        look: The round that found the results.
        results: The memories of the results by row.
        of_talk: The rows of `results_of_talk`.
        passages: The passages of each row.
        beside: What may speak against the results.
        documents: By id, the messages of the passages and the memories of `beside`.

    """
    spoken = {row: results[row] for row in of_talk}
    replaced = _replaced(look, spoken, passages, beside, documents)
    return {
        row: ResultMarks(
            tuple(mark for mark, _ in replaced.get(row, {}).values()),
            _disputes(beside.sides.get(row, {}), documents, look),
            tuple(teller for _, teller in replaced.get(row, {}).values()),
        )
        for row in {*replaced, *beside.sides}
    }


def _replaced(
    look: QueryRound,
    results: Mapping[int, SerializedMemory],
    passages: Mapping[int, Sequence[Passage]],
    beside: Beside,
    documents: Mapping[str, SerializedMemory],
) -> dict[int, dict[tuple[str, str], tuple[dict[str, Any], str]]]:
    """Return what replaces statements of results, by row, each sentence once for a message.

    Each is given with the id of the memory whose statement it replaces.
    """
    later = [documents[name] for name in beside.messages if name in documents]
    texts = [
        *(document.fields["content"] for document in later),
        *(passage.text for row in results for passage in passages.get(row, ())),
        *(result.fields["content"] for result in results.values()),
    ]
    if not any(len(text) <= LONGEST and may_replace(text) for text in texts):
        return {}
    tellers: dict[str, list[int]] = {}
    statements: dict[str, Piece] = {}
    for row, result in results.items():
        for statement in _statements(result, passages.get(row, ()), documents, look):
            tellers.setdefault(statement.id, []).append(row)
            statements.setdefault(statement.id, statement)
    pieces = list(statements.values())
    not_shown = (
        _said_piece(document, document.fields["content"], look)
        for document in later
        if document.fields["id"] not in statements and document.fields["status"] in FOUND_BY_DEFAULT
    )
    untold = [message for message in not_shown if message is not None]
    replaced: dict[int, dict[tuple[str, str], tuple[dict[str, Any], str]]] = {}
    for change in find_replaced_pieces(pieces, look.moment, untold):
        teller = pieces[change.earlier].id
        for row in tellers[teller]:
            of_result = replaced.setdefault(row, {})
            of_result.setdefault((change.by, change.statement), (_told(change), teller))
    return replaced


def _statements(
    result: SerializedMemory,
    passages: Sequence[Passage],
    documents: Mapping[str, SerializedMemory],
    look: QueryRound,
) -> Iterator[Piece]:
    """Return what people say in a result: its own text, and its passages."""
    fields = result.fields
    quoted = [
        (message, passage.text)
        for passage in passages
        if passage.message != fields["id"]
        and (message := documents.get(passage.message)) is not None
    ]
    for teller, text in [(result, fields["content"]), *quoted]:
        statement = _said_piece(teller, text, look)
        if statement is not None:
            yield statement


def _said_piece(document: SerializedMemory, text: str, look: QueryRound) -> Piece | None:
    """Return what a person said as a piece of a context; None for other words.

    It is read of the fields, since to build thirty memories takes longer than to compare them. A
    damaged memory says nothing.
    """
    fields = document.fields
    try:
        person = person_of(fields["category"], fields["metadata"], fields["actor"])
        if person is None or len(text) > LONGEST:
            return None
        if fields["foresight"] and tells_only_what_has_ended(document.memory, look.moment):
            return None
        said_at = datetime.fromisoformat(fields["event_timestamp"])
        begins = datetime.fromisoformat(fields["valid_from"])
        is_truth = fields["type"] != MemoryType.EPISODIC.value
        return Piece(
            id=fields["id"],
            at=shown_at(said_at, look.moment),
            order=document.sequence,
            text=text,
            priority=0.0,
            said_by=person,
            begins=begins if is_truth and begins > said_at else None,
        )
    except (Damaged, KeyError, TypeError, ValueError):
        log.error("left out of what is compared: the damaged memory %s", fields.get("id"))
        return None


def _told(change: Replaced) -> dict[str, Any]:
    return {
        "replaced": change.quote,
        "text": change.statement,
        "at": change.at,
        "memory_id": change.by,
    }


def _disputes(
    sides: Mapping[str, str], documents: Mapping[str, SerializedMemory], look: QueryRound
) -> tuple[dict[str, Any], ...]:
    """Return the other sides of open conflicts as a result shows them, latest first."""
    memories, _ = readable_shown(
        {name: documents[name] for name in sides.values() if name in documents}
    )
    excluded = look.where.without_session_id
    others = [
        (conflict_id, other)
        for conflict_id, name in sides.items()
        if (other := memories.get(name)) is not None
        and is_other_side(other)
        and (excluded is None or other.session_id != excluded)
    ]
    return tuple(
        {
            "conflict_id": conflict_id,
            "memory_id": other.id,
            "text": other.content,
            "at": other.event_timestamp,
        }
        for conflict_id, other in sorted(
            others, key=lambda side: (side[1].event_timestamp, side[1].id), reverse=True
        )
    )
