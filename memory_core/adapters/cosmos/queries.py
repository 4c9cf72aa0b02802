"""The few queries that the store asks, each of one user.

Note: none but those for a decision reads the vector. It is nine tenths of an item's bytes, and a
search needs only what `VectorDistance` makes of it, which for the function cosine is the
similarity itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from memory_core.adapters.cosmos.conditions import Conditions, Query, under
from memory_core.adapters.cosmos.event_pages import EVENT_KINDS, WIDTH
from memory_core.adapters.cosmos.items import MEMORY_FIELDS, MEMORY_KINDS, numbers
from memory_core.adapters.memory_index.columns import SLICE_FIELDS
from memory_core.domain.fading import Fading
from memory_core.domain.memory import MemoryType, Vector
from memory_core.domain.ranking.candidates import listed
from memory_core.domain.ranking.query_parts import MOST_SENTENCES
from memory_core.domain.scope import Owner
from memory_core.ports import EventFilter, Filter, Kind, Near, Place, Search

MAX_TERMS = 30
"""What the service scores in one FullTextScore."""
MAX_VECTORS = 3
"""Sentences of one query whose nearest are asked for, the most telling ones: each is a query of
some 30 request units.
"""
SLOT_MATES = 200
SIMILARITIES = tuple(f"similarity_{place}" for place in range(MOST_SENTENCES))
"""By sentence, under which name a row has its similarity."""

_FIELDS = ", ".join(f'"{name}": c["{name}"]' for name in ("kind", *MEMORY_FIELDS))
_COLUMNS = ", ".join(f'"{name}": c["{name}"]' for name in ("id", "embedding", *SLICE_FIELDS))
CANDIDATE_FIELDS = tuple(name for name in MEMORY_FIELDS if name != "search_text")
"""Of a candidate: the text that is searched through is a second copy of its words,
a tenth of what it weighs.
"""
_OF_THE_OWNER = frozenset({"app_id", "user_id"})
SHORT_NAMES = {
    name: "id" if name == "id" else f"{place:x}"
    for place, name in enumerate(CANDIDATE_FIELDS)
    if name not in _OF_THE_OWNER
}
"""What each field of a candidate is called in a row: a third of what a row weighed was names.
The owner's ids are known.
"""
_LONG_NAMES = {short: name for name, short in SHORT_NAMES.items()}
_CANDIDATE = ", ".join(f'"{short}": c["{name}"]' for name, short in SHORT_NAMES.items())
_MEMORY = f"VALUE {{{_FIELDS}}}"
_PLACED = '"id": c.id, "epoch": c.epoch'
BRIEF = "c.id, c.kind, c.body, c.expires_at, c._etag"
FOUND = ("active", "compressed")
"""Statuses that stand."""


def by_ids(owner: Owner, ids: Sequence[str]) -> Query:
    """Documents of any kind by id, whole."""
    asked = Conditions(owner)
    asked.among("c.id", ids)
    return asked.query("*")


def existing(owner: Owner, ids: Sequence[str]) -> Query:
    """Which of the ids are there."""
    asked = Conditions(owner)
    asked.among("c.id", ids)
    return asked.query("VALUE c.id")


def last_accesses(owner: Owner, ids: Sequence[str]) -> Query:
    """Which of these memories are there, and when each was accessed last."""
    asked = Conditions(owner, ("memory",))
    asked.among("c.id", ids)
    return asked.query("c.id, c.last_accessed_at")


def to_show(owner: Owner, ids: Sequence[str], where: Filter | None) -> Query:
    """Memories and versions by id, those that the filter lets through, without vectors."""
    asked = Conditions(owner, MEMORY_KINDS)
    asked.among("c.id", ids)
    asked.within(where)
    return asked.query(_MEMORY)


def nearest(owner: Owner, near: Near, vector: Vector, only: str | None = None) -> Query:
    """The `limit` nearest memories of the types that a decision looks at, whole;
    the floor is for the reader to apply.

    only: the model whose vectors count, where others' stand beside them.
    """
    asked = _decided_on(owner, near, only)
    return asked.query(
        f"TOP {int(near.limit)} *",
        f"ORDER BY VectorDistance(c.embedding, {asked.value(numbers(vector))})",
    )


def closest(owner: Owner, nears: Sequence[Near], only: str | None, *, of_all: bool) -> Query:
    """The same by id, with their similarities to several vectors: of all memories,
    or the `limit` nearest to the first vector.
    """
    asked = _decided_on(owner, nears[0], only)
    distances = [_distance(asked, near.vector) for near in nears if near.vector is not None]
    columns = [f'"similarity_{place}": {distance}' for place, distance in enumerate(distances)]
    select = f"VALUE {{{', '.join((_PLACED, *columns))}}}"
    if of_all:
        return asked.query(select)
    return asked.query(f"TOP {int(nears[0].limit)} {select}", f"ORDER BY {distances[0]}")


def comparable(owner: Owner, near: Near, only: str | None = None) -> Query:
    """All memories among which `nearest` chooses, whole. only: as there."""
    return _decided_on(owner, near, only).query("*")


def _decided_on(owner: Owner, near: Near, only: str | None) -> Conditions:
    asked = Conditions(owner, ("memory",))
    asked.among("c.status", sorted(near.statuses))
    if near.types:
        asked.among("c.type", near.types)
    if MemoryType.EPISODIC.value in near.types:
        asked.no_messages()
    _with_vector(asked, only)
    return asked


def in_slot(owner: Owner, slot: tuple[str, str], near: Near) -> Query:
    """The memories that fill the slot (subject, attribute): the latest 200, whole."""
    asked = Conditions(owner, ("memory",))
    asked.equal("c.slot_subject", slot[0])
    asked.equal("c.slot_attribute", slot[1])
    return _truths(asked, near)


def of_key(owner: Owner, key: str, near: Near) -> Query:
    """The values of a key: the latest 200, whole."""
    asked = Conditions(owner, ("memory",))
    asked.equal('c["key"]', key)
    return _truths(asked, near)


def _truths(asked: Conditions, near: Near) -> Query:
    if not near.past:
        asked.among("c.status", FOUND)
    if near.types:
        asked.among("c.type", near.types)
    return asked.query(f"TOP {SLOT_MATES} *", "ORDER BY c.event_at DESC")


def by_vector(
    owner: Owner, search: Search, vector: Vector, epoch: str | None = None, only: str | None = None
) -> Query:
    """The `limit` nearest within the filter, nearest first. only: as in `nearest`."""
    asked = _searched(owner, search, epoch)
    _with_vector(asked, only)
    return asked.query(
        f"TOP {int(search.limit)} {_with_similarities(asked, search)}",
        f"ORDER BY {_distance(asked, vector)}",
    )


def candidate_in(row: Mapping[str, Any], owner: Owner) -> dict[str, Any]:
    """A row of a search as the item that it is of, its similarities with it."""
    named = {_LONG_NAMES.get(name, name): value for name, value in row.items()}
    return {**named, "app_id": owner.app_id, "user_id": owner.user_id}


def most_of_small(search: Search) -> int:
    """As many memories as the two lists of a search may bring together."""
    return 2 * int(search.limit)


def of_a_small_user(owner: Owner, search: Search, epoch: str | None = None) -> Query:
    """Everything within the filter, with its similarities: a row too many tells that the user
    is not small.
    """
    asked = _searched(owner, search, epoch)
    return asked.query(f"TOP {most_of_small(search) + 1} {_with_similarities(asked, search)}")


def by_words(
    owner: Owner, search: Search, epoch: str | None = None, *, with_similarities: bool = True
) -> Query:
    """The `limit` best by the service's BM25 that hold any of the terms, within the filter."""
    asked = _searched(owner, search, epoch)
    terms = asked.listed(listed(search.terms[:MAX_TERMS], search.related))
    # FullTextScore only orders: without this, documents that hold no term would fill the list up.
    asked.add(f"FullTextContainsAny(c.search_text, {terms})")
    limit = search.limit * min(max(len(search.sentences), 1), MAX_VECTORS)
    columns = _with_similarities(asked, search) if with_similarities else f"VALUE {{{_CANDIDATE}}}"
    return asked.query(
        f"TOP {int(limit)} {columns}", f"ORDER BY RANK FullTextScore(c.search_text, {terms})"
    )


def similarities(owner: Owner, ids: Sequence[str], search: Search) -> Query:
    """How near memories by id are to the vectors of a search."""
    asked = Conditions(owner, MEMORY_KINDS)
    asked.among("c.id", ids)
    asked.add("IS_DEFINED(c.embedding)")
    return asked.query(f'VALUE {{"id": c.id, {", ".join(_distances(asked, search))}}}')


def deleted_turns(owner: Owner, sessions: Collection[str], epoch: str) -> Query:
    """The places in their sessions of the deleted turns of these sessions; the place itself is
    not indexed.
    """
    asked = Conditions(owner, ("memory",))
    asked.equal("c.status", "deleted")
    asked.among("c.session_id", sessions)
    asked.of(epoch)
    return asked.query("c.id, c.session_id, c.lexical.turn")


def to_hold(owner: Owner, after: Place | None, limit: int, epoch: str) -> Query:
    """One page of all memories by (sequence, id): what a slice is made of, vectors and all,
    but for the text itself.
    """
    asked = Conditions(owner, ("memory",))
    asked.of(epoch)
    after_place(asked, after, newest_first=False)
    return asked.query(
        f"TOP {int(limit)} VALUE {{{_COLUMNS}}}", "ORDER BY c.sequence ASC, c.id ASC"
    )


def held_ones(owner: Owner, ids: Sequence[str], epoch: str) -> Query:
    """The same of memories by id."""
    asked = Conditions(owner, ("memory",))
    asked.among("c.id", ids)
    asked.of(epoch)
    return asked.query(f"VALUE {{{_COLUMNS}}}")


def held_since(owner: Owner, moment_s: int, limit: int, epoch: str) -> Query:
    """The same of the memories written since a moment of the service's clock, marks too: that clock
    is indexed in every container.
    """
    asked = Conditions(owner, ("memory",))
    asked.add(f"c._ts >= {asked.value(moment_s)}")
    asked.of(epoch)
    return asked.query(f"TOP {int(limit)} VALUE {{{_COLUMNS}}}")


def page(
    owner: Owner, kind: Kind, where: Filter | None, after: Place | None, limit: int,
    newest_first: bool, now: datetime, epoch: str | None = None,
) -> Query:  # fmt: skip
    """One page by (sequence, id). Looking back in time (`where.at`), memories and their versions
    make up one list.
    """
    asked = Conditions(
        owner,
        MEMORY_KINDS
        if kind == "memory" and where is not None and where.at is not None
        else (kind,),
    )
    if kind in MEMORY_KINDS:
        asked.within(where)
    else:
        asked.unexpired(now)
        if kind == "conflict" and where is not None:
            asked.among("c.status", where.statuses)
    asked.of(epoch)
    after_place(asked, after, newest_first=newest_first)
    direction = "DESC" if newest_first else "ASC"
    select = _MEMORY if kind in MEMORY_KINDS else BRIEF
    return asked.query(
        f"TOP {int(limit)} {select}", f"ORDER BY c.sequence {direction}, c.id {direction}"
    )


def faded(
    owner: Owner,
    rules: Fading,
    now: datetime,
    session_id: str | None,
    after: Place | None,
    limit: int,
    epoch: str | None,
) -> Query:
    """Places of memories for which something is due, in order."""
    asked = Conditions(owner, ("memory",))
    bounds = {name: asked.value(value) for name, value in rules.bounds(now).items()}
    asked.of(epoch)
    asked.add(f"c.fades AND c.idle_since_s <= {bounds['now']}")
    if session_id is not None:
        asked.equal("c.session_id", session_id)
    decays, shrinks = (
        f"{under(bounds, level)} < {bounds['now']} + 1" for level in ("floor", "long_floor")
    )
    long = f"c.characters >= {bounds['long_characters']} AND c.created_s < {bounds['long_before']}"
    asked.add(f"{decays} OR ({long} AND {shrinks})")
    after_place(asked, after, newest_first=False)
    return asked.query(
        f"TOP {int(limit)} c.sequence, c.id, c.epoch", "ORDER BY c.sequence ASC, c.id ASC"
    )


def recalled(owner: Owner, after: Place | None, limit: int, epoch: str | None) -> Query:
    """Places of decayed memories that were accessed since they decayed: most have no moment of
    their last access beside them.
    """
    asked = Conditions(owner, ("memory",))
    asked.of(epoch)
    asked.equal("c.status", "decayed")
    asked.add("c.idle_since_s > 0 AND c.idle_since_s >= c.ages_from")
    after_place(asked, after, newest_first=False)
    return asked.query(
        f"TOP {int(limit)} c.sequence, c.id, c.epoch", "ORDER BY c.sequence ASC, c.id ASC"
    )


def coming(
    owner: Owner, rules: Fading, archive_after: timedelta, after: datetime, epoch: str
) -> list[Query]:
    """What time alone brings next, each one number (none where nothing comes): fading, a long
    text's shortening, ageing, foresight's end.

    A sum can't be looked up, so the first two go through the index of all that fades,
    as `faded` does.
    """
    made = []
    for kind in ("fades", "shrinks", "ages", "foresight"):
        asked = Conditions(owner, ("memory",))
        asked.of(epoch)
        bounds = (
            {name: asked.value(value) for name, value in rules.bounds(after).items()}
            if kind in ("fades", "shrinks")
            else {}
        )
        moment = _moment_of(kind, bounds)
        if bounds:
            asked.add("c.fades")
        if kind == "shrinks":
            asked.add(f"c.characters >= {bounds['long_characters']}")
        since = after - archive_after if kind == "ages" else after
        asked.add(f"{moment} > {asked.value(since.timestamp())}")
        made.append(asked.query(f"VALUE MIN({moment})"))
    return made


def _moment_of(kind: str, bounds: Mapping[str, str]) -> str:
    if not bounds:
        return "c.ages_from" if kind == "ages" else "c.foresees_until"
    if kind == "fades":
        return under(bounds, "floor")
    old, shrinks = f"(c.created_s + {bounds['long_age']})", under(bounds, "long_floor")
    return f"({old} > {shrinks} ? {old} : {shrinks})"


def foresight_ended(owner: Owner, since: datetime, until: datetime, epoch: str) -> Query:
    """How many memories' last foresight ended in (since, until]."""
    asked = Conditions(owner, ("memory",))
    asked.of(epoch)
    asked.add(
        f"c.foresees_until > {asked.value(since.timestamp())} AND c.foresees_until <= "
        f"{asked.value(until.timestamp())}"
    )
    return asked.query("VALUE COUNT(1)")


def events(
    owner: Owner,
    after_sequence: int,
    limit: int,
    where: EventFilter | None,
    epoch: str | None = None,
    until: int | None = None,
) -> Query:
    """Events after a sequence, in order, alone or in pages: at most `limit` items.

    until: only items that end up to this sequence.
    """
    asked = Conditions(owner, EVENT_KINDS)
    asked.of(epoch)
    asked.add(f"c.sequence > {asked.value(after_sequence)}")
    if until is not None:
        asked.add(f"c.sequence <= {asked.value(until)}")
    asked.about(where)
    return asked.query(
        f"TOP {int(limit)} {BRIEF}, c.epoch, c.sequence", "ORDER BY c.sequence ASC, c.id ASC"
    )


def last_events(owner: Owner, before: Place | None, limit: int, epoch: str | None = None) -> Query:
    """Events before a place, newest first, alone or in pages; a page may end behind it."""
    asked = Conditions(owner, EVENT_KINDS)
    asked.of(epoch)
    if before is not None:
        asked.before("c.sequence", "<", before.sequence, WIDTH)
    return asked.query(
        f"TOP {int(limit)} {BRIEF}, c.epoch, c.sequence", "ORDER BY c.sequence DESC, c.id DESC"
    )


def next_agent(owner: Owner, after: str) -> Query:
    """The first agent after another, in order of their ids, that the user has memories of."""
    asked = Conditions(owner, ("memory",))
    asked.add(f"c.agent_id > {asked.value(after)}")
    return asked.query("VALUE MIN(c.agent_id)")


def of_agent(owner: Owner, agent_id: str) -> tuple[Query, Query]:
    """How many of an agent's memories stand, messages aside, and when any of them was last changed.

    The latter is the greatest text: a moment without fractions counts as after those of its second,
    which have some.
    """
    standing, all_of_them = Conditions(owner, ("memory",)), Conditions(owner, ("memory",))
    for asked in (standing, all_of_them):
        asked.equal("c.agent_id", agent_id)
    standing.among("c.status", FOUND)
    standing.no_messages()
    return standing.query("VALUE COUNT(1)"), all_of_them.query("VALUE MAX(c.updated_at)")


def tags(owner: Owner, prefix: str, after: str | None, epoch: str) -> Query:
    """The tags of the memories that stand which begin with a prefix and come after one."""
    asked = Conditions(owner, ("memory",))
    asked.among("c.status", FOUND)
    asked.of(epoch)
    if prefix:
        asked.add(f"STARTSWITH(tag, {asked.value(prefix)})")
    asked.add(f"tag > {asked.value(after or '')}")
    return asked.query("DISTINCT VALUE tag", joined="JOIN tag IN c.tags")


def strays(owner: Owner, head_epoch: str | None, limit: int, epoch: str | None) -> Query:
    """Which documents are of another epoch than the head's, or of `epoch`."""
    asked = Conditions(owner)
    asked.add("c.kind != 'head'")
    if epoch is not None:
        asked.of(epoch)
    if head_epoch is not None:
        asked.add(f"NOT IS_DEFINED(c.epoch) OR c.epoch != {asked.value(head_epoch)}")
    return asked.query(f"TOP {int(limit)} c.id, c.kind")


def after_place(asked: Conditions, place: Place | None, *, newest_first: bool) -> None:
    """Leave out what comes up to a place in the order of (sequence, id)."""
    if place is not None:
        beyond, sequence = "<" if newest_first else ">", asked.value(place.sequence)
        asked.add(
            f"c.sequence {beyond} {sequence} OR (c.sequence = {sequence} AND c.id {beyond} "
            f"{asked.value(place.id)})"
        )


def _searched(owner: Owner, search: Search, epoch: str | None) -> Conditions:
    asked = Conditions(owner, ("memory",) if search.where.at is None else MEMORY_KINDS)
    asked.within(search.where)
    asked.of(epoch)
    return asked


def _with_vector(asked: Conditions, only: str | None) -> None:
    asked.add("IS_DEFINED(c.embedding)")
    if only is not None:  # asked for only while two embedders' vectors are there, hence not indexed
        asked.add(
            "NOT IS_DEFINED(c.embedding_model) OR IS_NULL(c.embedding_model) OR c.embedding_model "
            f"= {asked.value(only)}"
        )


def _distance(asked: Conditions, vector: Vector) -> str:
    return f"VectorDistance(c.embedding, {asked.value(numbers(vector))})"


def _with_similarities(asked: Conditions, search: Search) -> str:
    return f"VALUE {{{', '.join((_CANDIDATE, *_distances(asked, search)))}}}"


def _distances(asked: Conditions, search: Search) -> list[str]:
    return [
        f'"{name}": {_distance(asked, vector)}'
        for name, vector in zip(SIMILARITIES, search.vectors, strict=False)
    ]
