"""The queries that the store sends, each for a single user.

Note: only the queries for a decision read the vector. It is nine tenths of an item's bytes, and a
search needs only the result of `VectorDistance`, which for the function cosine is the similarity
itself.
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
"""The most terms that the service scores in a FullTextScore."""
MAX_VECTORS = 3
"""Sentences of a query with a list of nearest memories, the most informative first.

Each list is a query of some 30 request units.
"""
SLOT_MATES = 200
SIMILARITIES = tuple(f"similarity_{place}" for place in range(MOST_SENTENCES))
"""Names under which a row has its similarities, by sentence."""

_FIELDS = ", ".join(f'"{name}": c["{name}"]' for name in ("kind", *MEMORY_FIELDS))
_COLUMNS = ", ".join(f'"{name}": c["{name}"]' for name in ("id", "embedding", *SLICE_FIELDS))
CANDIDATE_FIELDS = tuple(name for name in MEMORY_FIELDS if name != "search_text")
"""Fields of a candidate.

The text for full-text search is left out. It is a second copy of the memory's words, a tenth of its
size.
"""
_OF_THE_OWNER = frozenset({"app_id", "user_id"})
SHORT_NAMES = {
    name: "id" if name == "id" else f"{place:x}"
    for place, name in enumerate(CANDIDATE_FIELDS)
    if name not in _OF_THE_OWNER
}
"""The name of each field of a candidate in a row.

Long names were a third of a row's size. The owner's ids are known.
"""
_LONG_NAMES = {short: name for name, short in SHORT_NAMES.items()}
_CANDIDATE = ", ".join(f'"{short}": c["{name}"]' for name, short in SHORT_NAMES.items())
_MEMORY = f"VALUE {{{_FIELDS}}}"
_PLACED = '"id": c.id, "epoch": c.epoch'
BRIEF = "c.id, c.kind, c.body, c.expires_at, c._etag"
FOUND = ("active", "compressed")
"""Statuses of memories that are active or compressed."""


def by_ids(owner: Owner, ids: Sequence[str]) -> Query:
    """Documents of any kind by id, whole.

    Args:
        owner: The owner of the documents.
        ids: The ids of the documents.

    """
    asked = Conditions(owner)
    asked.among("c.id", ids)
    return asked.query("*")


def existing(owner: Owner, ids: Sequence[str]) -> Query:
    """The ids among these that exist.

    Args:
        owner: The owner of the documents.
        ids: The ids to look up.

    """
    asked = Conditions(owner)
    asked.among("c.id", ids)
    return asked.query("VALUE c.id")


def last_accesses(owner: Owner, ids: Sequence[str]) -> Query:
    """The memories among these that exist, with their last access.

    Args:
        owner: The owner of the memories.
        ids: The ids to look up.

    """
    asked = Conditions(owner, ("memory",))
    asked.among("c.id", ids)
    return asked.query("c.id, c.last_accessed_at")


def to_show(owner: Owner, ids: Sequence[str], where: Filter | None) -> Query:
    """Memories and versions by id that match the filter, without vectors.

    Args:
        owner: The owner of the memories.
        ids: The ids of memories and versions.
        where: Restricts the memories; None for no restriction.

    """
    asked = Conditions(owner, MEMORY_KINDS)
    asked.among("c.id", ids)
    asked.within(where)
    return asked.query(_MEMORY)


def nearest(owner: Owner, near: Near, vector: Vector, only: str | None = None) -> Query:
    """The `limit` nearest memories for a decision, whole. The reader applies the floor.

    Args:
        owner: The owner of the memories.
        near: The types, the statuses and the limit.
        vector: The vector to compare with.
        only: The model whose vectors count, where vectors of another model are stored too.

    """
    asked = _decided_on(owner, near, only)
    return asked.query(
        f"TOP {int(near.limit)} *",
        f"ORDER BY VectorDistance(c.embedding, {asked.value(numbers(vector))})",
    )


def closest(owner: Owner, nears: Sequence[Near], only: str | None, *, of_all: bool) -> Query:
    """Ids of memories for a decision, with their similarities to several vectors.

    Args:
        owner: The owner of the memories.
        nears: The vectors. The types, the statuses and the limit are those of the first.
        only: The model whose vectors count, where vectors of another model are stored too.
        of_all: Return all memories instead of the `limit` nearest to the first vector.

    """
    asked = _decided_on(owner, nears[0], only)
    distances = [_distance(asked, near.vector) for near in nears if near.vector is not None]
    columns = [f'"similarity_{place}": {distance}' for place, distance in enumerate(distances)]
    select = f"VALUE {{{', '.join((_PLACED, *columns))}}}"
    if of_all:
        return asked.query(select)
    return asked.query(f"TOP {int(nears[0].limit)} {select}", f"ORDER BY {distances[0]}")


def comparable(owner: Owner, near: Near, only: str | None = None) -> Query:
    """All memories among which `nearest` chooses, whole.

    Args:
        owner: The owner of the memories.
        near: The types and the statuses.
        only: The model whose vectors count, where vectors of another model are stored too.

    """
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
    """The memories that fill a slot: the latest 200, whole.

    Args:
        owner: The owner of the memories.
        slot: (subject, attribute), both case-folded.
        near: The types, and whether memories of any status are included.

    """
    asked = Conditions(owner, ("memory",))
    asked.equal("c.slot_subject", slot[0])
    asked.equal("c.slot_attribute", slot[1])
    return _truths(asked, near)


def of_key(owner: Owner, key: str, near: Near) -> Query:
    """The values of a key: the latest 200, whole.

    Args:
        owner: The owner of the memories.
        key: The key as it is.
        near: The types, and whether memories of any status are included.

    """
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
    """The `limit` nearest memories within the filter, nearest first.

    Args:
        owner: The owner of the memories.
        search: The query.
        vector: The vector to compare with.
        epoch: The only epoch; None for all epochs.
        only: The model whose vectors count, where vectors of another model are stored too.

    """
    asked = _searched(owner, search, epoch)
    _with_vector(asked, only)
    return asked.query(
        f"TOP {int(search.limit)} {_with_similarities(asked, search)}",
        f"ORDER BY {_distance(asked, vector)}",
    )


def candidate_in(row: Mapping[str, Any], owner: Owner) -> dict[str, Any]:
    """A row of a search as the item that it shows, with its similarities.

    Args:
        row: The row, with the short names.
        owner: The owner of the memory.

    """
    named = {_LONG_NAMES.get(name, name): value for name, value in row.items()}
    return {**named, "app_id": owner.app_id, "user_id": owner.user_id}


def most_of_small(search: Search) -> int:
    """The most memories that the two lists of a search can return together."""
    return 2 * int(search.limit)


def of_a_small_user(owner: Owner, search: Search, epoch: str | None = None) -> Query:
    """All memories within the filter, with their similarities.

    A row more than `most_of_small` shows that the user is not small.

    Args:
        owner: The owner of the memories.
        search: The query.
        epoch: The only epoch; None for all epochs.

    """
    asked = _searched(owner, search, epoch)
    return asked.query(f"TOP {most_of_small(search) + 1} {_with_similarities(asked, search)}")


def by_words(
    owner: Owner, search: Search, epoch: str | None = None, *, with_similarities: bool = True
) -> Query:
    """The `limit` best memories by the service's BM25 within the filter.

    Each has any of the terms.

    Args:
        owner: The owner of the memories.
        search: The query.
        epoch: The only epoch; None for all epochs.
        with_similarities: Whether rows have their similarities to the vectors.

    """
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
    """The similarities of memories by id to the vectors of a search.

    Args:
        owner: The owner of the memories.
        ids: The ids of the memories.
        search: The query.

    """
    asked = Conditions(owner, MEMORY_KINDS)
    asked.among("c.id", ids)
    asked.add("IS_DEFINED(c.embedding)")
    return asked.query(f'VALUE {{"id": c.id, {", ".join(_distances(asked, search))}}}')


def deleted_turns(owner: Owner, sessions: Collection[str], epoch: str) -> Query:
    """Session and turn of the deleted turns of sessions. The turn itself is not indexed.

    Args:
        owner: The owner of the sessions.
        sessions: The ids of the sessions.
        epoch: The epoch of the memories.

    """
    asked = Conditions(owner, ("memory",))
    asked.equal("c.status", "deleted")
    asked.among("c.session_id", sessions)
    asked.of(epoch)
    return asked.query("c.id, c.session_id, c.lexical.turn")


def to_hold(owner: Owner, after: Place | None, limit: int, epoch: str) -> Query:
    """A page of all memories by (sequence, id), with the fields of a slice.

    These include the vectors, but not the text itself.

    Args:
        owner: The owner of the memories.
        after: The last place of the previous page; None for the first page.
        limit: The most memories to return.
        epoch: The epoch of the memories.

    """
    asked = Conditions(owner, ("memory",))
    asked.of(epoch)
    after_place(asked, after, newest_first=False)
    return asked.query(
        f"TOP {int(limit)} VALUE {{{_COLUMNS}}}", "ORDER BY c.sequence ASC, c.id ASC"
    )


def slice_rows_by_id(owner: Owner, ids: Sequence[str], epoch: str) -> Query:
    """Memories by id, with the fields of a slice.

    Args:
        owner: The owner of the memories.
        ids: The ids of the memories.
        epoch: The epoch of the memories.

    """
    asked = Conditions(owner, ("memory",))
    asked.among("c.id", ids)
    asked.of(epoch)
    return asked.query(f"VALUE {{{_COLUMNS}}}")


def slice_rows_since(owner: Owner, moment_s: int, limit: int, epoch: str) -> Query:
    """Memories that were written since a moment, with the fields of a slice.

    Writes of marks count too. The moment is of the service's clock, which is indexed in every
    container.

    Args:
        owner: The owner of the memories.
        moment_s: The earliest moment, in epoch seconds.
        limit: The most memories to return.
        epoch: The epoch of the memories.

    """
    asked = Conditions(owner, ("memory",))
    asked.add(f"c._ts >= {asked.value(moment_s)}")
    asked.of(epoch)
    return asked.query(f"TOP {int(limit)} VALUE {{{_COLUMNS}}}")


def page(
    owner: Owner, kind: Kind, where: Filter | None, after: Place | None, limit: int,
    newest_first: bool, now: datetime, epoch: str | None = None,
) -> Query:  # fmt: skip
    """A page of documents by (sequence, id).

    At an earlier moment (`where.at`), memories and their versions form a single list.

    Args:
        owner: The owner of the documents.
        kind: The kind of the documents.
        where: Restricts memories. Its statuses restrict conflicts too.
        after: The last place of the previous page; None for the first page.
        limit: The most documents to return.
        newest_first: Whether the order is descending.
        now: The present moment; expired documents are left out.
        epoch: The only epoch; None for all epochs.

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
    """Places of memories for which a step of fading is due, in order.

    Args:
        owner: The owner of the memories.
        rules: The rules of fading.
        now: The moment at which the step is due.
        session_id: The only session; None for all memories.
        after: The last place of the previous page; None for the first page.
        limit: The most places to return.
        epoch: The only epoch; None for all epochs.

    """
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
    """Places of decayed memories that were accessed after they decayed.

    Most decayed memories have no moment of a last access.

    Args:
        owner: The owner of the memories.
        after: The last place of the previous page; None for the first page.
        limit: The most places to return.
        epoch: The only epoch; None for all epochs.

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
    """Queries for the next moments at which the passing of time makes work due.

    They are for fading, a long text's shortening, ageing and a foresight's end. Each query returns
    a single number, or none where no such moment comes. A sum cannot be looked up, so the first two
    go through the index of all memories that fade, as `faded` does.

    Args:
        owner: The owner of the memories.
        rules: The rules of fading.
        archive_after: How long a memory must be unchanged before it is archived.
        after: The moment after which the moments are.
        epoch: The epoch of the memories.

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
    """The number of memories whose last foresight ended in (since, until].

    Args:
        owner: The owner of the memories.
        since: The earlier bound, excluded.
        until: The later bound, included.
        epoch: The epoch of the memories.

    """
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
    """Items of the log after a sequence, in order: single events or pages of events.

    Args:
        owner: The owner of the events.
        after_sequence: The items have a higher sequence.
        limit: The most items to return.
        where: Restricts the events; None for no restriction.
        epoch: The only epoch; None for all epochs.
        until: The highest sequence at which an item may end; None for no bound.

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
    """Items of the log before a place, newest first: single events or pages of events.

    A page may end after the place.

    Args:
        owner: The owner of the events.
        before: The place; None for the end of the log.
        limit: The most items to return.
        epoch: The only epoch; None for all epochs.

    """
    asked = Conditions(owner, EVENT_KINDS)
    asked.of(epoch)
    if before is not None:
        asked.before("c.sequence", "<", before.sequence, WIDTH)
    return asked.query(
        f"TOP {int(limit)} {BRIEF}, c.epoch, c.sequence", "ORDER BY c.sequence DESC, c.id DESC"
    )


def next_agent(owner: Owner, after: str) -> Query:
    """The next agent, in order of ids, that the user has memories of.

    Args:
        owner: The user.
        after: The agent before it.

    """
    asked = Conditions(owner, ("memory",))
    asked.add(f"c.agent_id > {asked.value(after)}")
    return asked.query("VALUE MIN(c.agent_id)")


def of_agent(owner: Owner, agent_id: str) -> tuple[Query, Query]:
    """The number of an agent's memories, and the moment of their last change.

    The number counts active and compressed memories without messages. The moment is of any memory,
    as the greatest text: a moment without a fraction of a second counts as after those of its
    second that have a fraction.

    Args:
        owner: The user.
        agent_id: The agent.

    """
    standing, all_of_them = Conditions(owner, ("memory",)), Conditions(owner, ("memory",))
    for asked in (standing, all_of_them):
        asked.equal("c.agent_id", agent_id)
    standing.among("c.status", FOUND)
    standing.no_messages()
    return standing.query("VALUE COUNT(1)"), all_of_them.query("VALUE MAX(c.updated_at)")


def tags(owner: Owner, prefix: str, after: str | None, epoch: str) -> Query:
    """Tags of active and compressed memories that begin with a prefix.

    Args:
        owner: The owner of the memories.
        prefix: The beginning of the tags.
        after: The tag after which they come; None for no bound.
        epoch: The epoch of the memories.

    """
    asked = Conditions(owner, ("memory",))
    asked.among("c.status", FOUND)
    asked.of(epoch)
    if prefix:
        asked.add(f"STARTSWITH(tag, {asked.value(prefix)})")
    asked.add(f"tag > {asked.value(after or '')}")
    return asked.query("DISTINCT VALUE tag", joined="JOIN tag IN c.tags")


def strays(owner: Owner, head_epoch: str | None, limit: int, epoch: str | None) -> Query:
    """Ids and kinds of documents that are not of the head's epoch.

    Args:
        owner: The owner of the documents.
        head_epoch: The head's epoch; None without a head.
        limit: The most documents to return.
        epoch: The only epoch; None for all other epochs.

    """
    asked = Conditions(owner)
    asked.add("c.kind != 'head'")
    if epoch is not None:
        asked.of(epoch)
    if head_epoch is not None:
        asked.add(f"NOT IS_DEFINED(c.epoch) OR c.epoch != {asked.value(head_epoch)}")
    return asked.query(f"TOP {int(limit)} c.id, c.kind")


def after_place(asked: Conditions, place: Place | None, *, newest_first: bool) -> None:
    """Restrict a query to documents after a place in the order of (sequence, id).

    Args:
        asked: The conditions of the query.
        place: The place; None for no restriction.
        newest_first: Whether the order is descending.

    """
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
