"""The pieces that each part of an agent's context may tell, a piece per line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

import orjson

from memory_core.domain.memory import Memory
from memory_core.domain.ranking.selection import Piece
from memory_core.domain.scenes import Profile, ProfileFact, profile_line
from memory_core.domain.text import remarks
from memory_core.domain.text.analyzer import tokens
from memory_core.domain.text.excerpts import excerpt
from memory_core.recollection.quotations import shown_at
from memory_core.recollection.replaced_lines import MARK_TOKENS

MOST_TRAITS = 2
"""The most traits that are told beside memories that answer a query, the surest."""
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
            speaker=memory.actor,
            said_by="",
        )
        for place, memory in enumerate(memories)
    ]


def profile_pieces(
    profile: Profile, terms: Collection[str], moment: datetime, most_traits: int | None
) -> list[Piece]:
    """Make a line for each fact of a profile, and then for each trait.

    Facts that are near to the query come first, then the most important. A word of the query counts
    the less, the more facts have it. A trait has the date of the moment.

    Args:
        profile: The person's profile.
        terms: The query's terms.
        moment: The time of the query, in the caller's time zone.
        most_traits: The most traits, the surest; None for all.

    """
    lines = [f"{fact.name}: {shown_value(fact.value)}" for fact in profile.explicit]
    shared = [frozenset(tokens(line)).intersection(terms) for line in lines]
    common = Counter(term for terms_of_line in shared for term in terms_of_line)
    facts = [
        Piece(
            fact.memory_id,
            shown_at(fact.since, moment),
            place,
            line,
            2.0 + max((1.0 / common[term] for term in near), default=0.0) - place / len(lines),
            mark=_dispute(fact, moment),
            said_by="",
        )
        for place, (fact, line, near) in enumerate(
            zip(profile.explicit, lines, shared, strict=True)
        )
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

    Empty if no statement disputes the fact: older words are what it replaced.
    """
    if not fact.disputed_by or fact.disputed_by[0].at < fact.since:
        return ""
    latest = fact.disputed_by[0]
    day = shown_at(latest.at, moment).date().isoformat()
    return remarks.disputed(day, excerpt(latest.text, (), MARK_TOKENS))


def shown_value(value: object) -> str:
    """A value of a profile as a text."""
    return value if isinstance(value, str) else orjson.dumps(value).decode()
