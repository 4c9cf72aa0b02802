"""The pieces that each part of an agent's context may tell, a piece per line."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import orjson

from memory_core.domain.memory import Foresight, Memory
from memory_core.domain.ranking.selection import Grant, Piece
from memory_core.domain.scenes import Profile, ProfileFact, profile_line
from memory_core.domain.text.analyzer import tokens
from memory_core.domain.text.excerpts import covered, excerpt
from memory_core.recollection.gather import Rounds
from memory_core.recollection.quotations import expected, holds, is_ahead, shown_at
from memory_core.recollection.superseded import MARK_TOKENS

MOST_TRAITS = 2
"""The most traits that are told beside memories that answer a query, the surest."""
SOON = timedelta(days=3)
"""The time from foresight's beginning or end within which a query without a sure answer gets it.

Other foresight is told then only if the query is about it.
"""
COMING = timedelta(days=30)
"""How long before its beginning foresight is told."""
_YES = ": yes"
_ASKS_AHEAD = re.compile(
    r"\b(?:coming up|upcoming|what(?:'s| is) (?:ahead|planned|next for me"
    r"|on my (?:calendar|schedule|agenda))|(?:my|any) (?:plans|appointments"
    r"|schedule|agenda)|anything planned|was steht (?:bei mir )?an|was habe ich vor|was ist geplant"
    r"|(?:meine|welche) (?:termine|pläne))\b|予定は|予定を|予定があり|今後",
    re.IGNORECASE,
)


def asks_ahead(query: str) -> bool:
    """Whether a query asks for the person's plans in general."""
    return _ASKS_AHEAD.search(query) is not None


def foreseeing(
    latest: Sequence[Memory], rounds: Rounds, grant: Grant, moment: datetime
) -> list[Memory]:
    """Return the memories whose foresight is told.

    If no memory surely answers, only foresight that is soon or has a word of the query is told.

    Args:
        latest: The newest memories.
        rounds: The query's findings.
        grant: The grant that the query has earned.
        moment: The time of the context.

    """
    hits = [hit.memory for hit in rounds.hits.values() if hit.memory.category != "fact"]
    if grant is not Grant.PERHAPS:
        return [*latest, *hits]
    soon = [
        (memory, [line for line in memory.foresight if _is_soon(line, moment)]) for memory in latest
    ]
    about = [
        (memory, [line for line in memory.foresight if covered(line.description, rounds.terms)])
        for memory in hits
    ]
    return [memory.changed(foresight=lines) for memory, lines in (*about, *soon) if lines]


def _is_soon(foresight: Foresight, moment: datetime) -> bool:
    """Whether foresight began or ends within `SOON` of the moment."""
    ends = foresight.end_time
    return abs(moment - foresight.start_time) <= SOON or (
        ends is not None and abs(ends - moment) <= SOON
    )


def instruction_pieces(
    memories: Sequence[Memory], terms: Collection[str], moment: datetime
) -> list[Piece]:
    """Make a line for each instruction.

    Those that share words with the query come first, and among equals the newest.

    Args:
        memories: The instructions, newest first.
        terms: The query's terms.
        moment: A time in the caller's time zone.

    """
    shared = {
        memory.id: len(frozenset(tokens(memory.content)) & frozenset(terms)) for memory in memories
    }
    return [
        Piece(
            memory.id,
            shown_at(memory.event_timestamp, moment),
            memory.sequence,
            memory.content,
            1.0 + shared[memory.id] + 1.0 / (2 + place),
            said_by="",
        )
        for place, memory in enumerate(memories)
    ]


def profile_pieces(
    profile: Profile, terms: Collection[str], moment: datetime, most_traits: int | None
) -> list[Piece]:
    """Make a line for each fact of a profile, and then for each trait.

    Facts with words of the query come first, then the surest. A trait has the date of the moment.

    Args:
        profile: The person's profile.
        terms: The query's terms.
        moment: The time of the query, in the caller's time zone.
        most_traits: The most traits, the surest; None for all.

    """
    facts = [
        Piece(
            fact.memory_id,
            shown_at(fact.since, moment),
            place,
            text,
            2.0 + fact.confidence + (1.0 if covered(text, terms) else 0.0),
            mark=_dispute(fact, moment),
            said_by="",
        )
        for place, fact in enumerate(profile.explicit)
        for text in (f"{fact.name}: {_shown(fact.value)}",)
    ]
    surest = sorted(
        (trait for trait in profile.implicit if trait.source_scene_ids),
        key=lambda trait: -trait.confidence,
    )[:most_traits]
    traits = [
        Piece(trait.source_scene_ids[0], moment, len(facts) + place, trait.trait, trait.confidence)
        for place, trait in enumerate(surest)
    ]
    return [*facts, *traits]


def in_words(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the lines of a profile without a "yes" that says nothing: "speaks german: yes"."""
    return [
        replace(piece, text=profile_line(piece.text.removesuffix(_YES), "yes"))
        if piece.text.endswith(_YES)
        else piece
        for piece in pieces
    ]


def _dispute(fact: ProfileFact, moment: datetime) -> str:
    """Return the mark of a disputed fact, with the latest words against it.

    Empty if no statement disputes the fact.
    """
    if not fact.disputed_by:
        return ""
    latest = fact.disputed_by[0]
    return (
        f"disputed on {shown_at(latest.at, moment).date().isoformat()}: "
        f"{excerpt(latest.text, (), MARK_TOKENS)}"
    )


def _shown(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def foresight_pieces(memories: Sequence[Memory], moment: datetime) -> list[Piece]:
    """Make a line for all foresight that holds at the moment or begins within `COMING`.

    Foresight that ends first comes first.

    Args:
        memories: The memories with the foresight.
        moment: The time of the context, in the caller's time zone.

    """
    pieces: dict[str, Piece] = {}
    for memory in memories:
        for expectation in memory.foresight:
            if holds(expectation, moment) or is_ahead(expectation, moment, COMING):
                left = (
                    (expectation.end_time - moment).total_seconds()
                    if expectation.end_time is not None
                    else float("inf")
                )
                line = Piece(
                    memory.id,
                    shown_at(expectation.start_time, moment),
                    memory.sequence,
                    expected(expectation, moment),
                    -left,
                    said_by="",
                    said_at=memory.event_timestamp,
                    begins=expectation.start_time
                    if expectation.start_time > memory.event_timestamp
                    else None,
                )
                pieces.setdefault(line.text, line)
    return list(pieces.values())
