"""Reads of the long-term file: documents, pages, reads of an admin.

Note: an expired document is gone for every read, although its row may still be in the file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from memory_core.adapters.sqlite.conditions import conditions, event_conditions
from memory_core.adapters.sqlite.database import CHANGED, HAS_TAGS, IS_POISONED, KEY
from memory_core.adapters.sqlite.rows import READ_COLUMNS, decoded, decoded_or_damaged, listed
from memory_core.domain.archival import NextDue, moment_in
from memory_core.domain.fading import Fading
from memory_core.domain.memory import Event, Head
from memory_core.domain.messages import MESSAGE
from memory_core.domain.scope import Owner
from memory_core.domain.serialized_memory import SerializedMemory
from memory_core.ports import AgentCount, Document, EventFilter, Filter, Kind, Near, Place

_OWNED = "app_id = :app_id AND user_id = :user_id AND (expires_at IS NULL OR expires_at > :now)"
_BY_ID = (
    f"SELECT {READ_COLUMNS} FROM documents WHERE id IN (SELECT value FROM json_each(:ids)) "  # noqa: S608
    f"AND {_OWNED}"
)
_HEAD_AND_BY_ID = (
    "SELECT NULL, 'head', body, NULL, NULL, NULL FROM heads WHERE app_id = :app_id "  # noqa: S608
    f"AND user_id = :user_id UNION ALL {_BY_ID}"
)
# Read along in the same statement: a transaction and a read of its own cost 0.02 ms.
_EPOCH = (
    "(SELECT json_extract(CAST(body AS TEXT), '$.epoch') FROM heads WHERE app_id = :app_id "
    "AND user_id = :user_id)"
)
_OF_THE_HEAD = f"(epoch IS NULL OR epoch = {_EPOCH})"
_STRAYS = (
    "SELECT id, kind FROM documents WHERE app_id = :app_id AND user_id = :user_id "  # noqa: S608 - our own names
    f"AND epoch IS NOT {_EPOCH} AND (:epoch IS NULL OR epoch = :epoch) LIMIT :limit"
)
_TRUTHS = (
    f"AND {_OF_THE_HEAD} "  # noqa: S608 - our own names
    "AND kind = 'memory' AND (:past OR status IN ('active', 'compressed')) "
    "AND (:all_types OR type IN (SELECT value FROM json_each(:types))) ORDER BY event_at DESC "
    "LIMIT 200"
)
_BY_SLOT = (
    "SELECT id FROM documents WHERE app_id = :app_id AND user_id = :user_id AND subject = :subject "  # noqa: S608
    f"AND attribute = :attribute {_TRUTHS}"
)
# What the index of keys is made for is said in full, or it is not known to do.
_BY_KEY = (
    "SELECT id FROM documents WHERE app_id = :app_id AND user_id = :user_id "  # noqa: S608
    f"AND type = 'procedural' AND {KEY} = :key {_TRUTHS}"
)

# From the index alone: 20 ms among 100,000 memories of a user, whether any is due or none.
_FADED = (
    "SELECT sequence, id FROM documents INDEXED BY documents_by_fading WHERE app_id = :app_id "  # noqa: S608
    f"AND user_id = :user_id AND epoch = {_EPOCH} "
    "AND idle_since <= :now AND (:session_id IS NULL OR session_id = :session_id) "
    "AND (sequence, id) > (:after_sequence, :after_id) "
    "AND (idle_since + :half_life * COALESCE(lasts, 1) * (halvings - :floor) < :now + 1 "
    "OR characters >= :long_characters AND created_at < :long_before "
    "AND idle_since + :half_life * COALESCE(lasts, 1) * (halvings - :long_floor) < :now + 1) "
    "ORDER BY sequence, id LIMIT :limit"
)

# Of what is idle, only decayed memories have no `halvings`: these stand in the index once they
# were accessed.
_RECALLED = (
    "SELECT sequence, id FROM documents INDEXED BY documents_by_fading WHERE app_id = :app_id "  # noqa: S608
    f"AND user_id = :user_id AND epoch = {_EPOCH} AND idle_since IS NOT NULL AND halvings IS NULL "
    "AND status = 'decayed' AND idle_since >= ages_from "
    "AND (sequence, id) > (:after_sequence, :after_id) ORDER BY sequence, id LIMIT :limit"
)

# The first from the same index; the others by looking one entry up. An aggregate of one argument
# has its row where nothing is found too.
_COMING = (
    "SELECT MIN(CASE WHEN fades > :after THEN fades END), MIN(CASE "  # noqa: S608 - our own names
    "WHEN shrinks > :after THEN shrinks END), (SELECT MIN(ages_from) "
    "FROM documents INDEXED BY documents_by_age WHERE app_id = :app_id AND user_id = :user_id "
    f"AND ages_from > :after - :archive_after AND epoch = {_EPOCH}), "
    "(SELECT MIN(foresees_until) FROM documents INDEXED BY documents_by_foresight "
    "WHERE app_id = :app_id AND user_id = :user_id AND foresees_until > :after "
    f"AND epoch = {_EPOCH}) "
    "FROM (SELECT idle_since + :half_life * COALESCE(lasts, 1) * MAX(halvings - :floor, 0) "
    "AS fades, "
    "CASE WHEN characters >= :long_characters "
    "THEN MAX(created_at + :long_age, idle_since + :half_life * COALESCE(lasts, 1) * MAX(halvings "
    "- :long_floor, 0)) END AS shrinks FROM documents INDEXED BY documents_by_fading "
    "WHERE app_id = :app_id AND user_id = :user_id AND idle_since IS NOT NULL "
    f"AND epoch = {_EPOCH})"
)
_FORESEEN = (
    "SELECT COUNT(*) FROM documents INDEXED BY documents_by_foresight WHERE app_id = :app_id "  # noqa: S608
    "AND user_id = :user_id AND foresees_until > :since AND foresees_until <= :until "
    f"AND epoch = {_EPOCH}"
)


class SliceStanding(NamedTuple):
    """An owner's head, with the counters by which a slice detects missed changes.

    Attributes:
        head: The head.
        change: Grows with each commit.
        removal: The change that last deleted a memory.

    """

    head: Head
    change: int
    removal: int


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Make all reads inside see a single state of the file, despite later commits.

    Inside another transaction they see the state of the outer transaction.
    """
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def standing_of(connection: sqlite3.Connection, owner: Owner) -> SliceStanding | None:
    """The owner's head, last change and last removal; None for an unknown owner.

    Args:
        connection: The connection that reads.
        owner: The owner.

    """
    row = connection.execute(
        "SELECT body, change, removal FROM heads WHERE app_id = ? AND user_id = ?", owner
    ).fetchone()
    return None if row is None else SliceStanding(head_of(row[0]), row[1], row[2])


_HEADS: dict[bytes, Head] = {}
_MOST_HEADS = 1024


def head_of(body: bytes) -> Head:
    """The head in a stored body.

    A request reads it several times; heads are never changed in place.
    """
    return _HEADS.get(body) or known_head(body, Head.model_validate_json(body))


def known_head(body: bytes, head: Head) -> Head:
    """Cache a head by its body, for `head_of`, and return the head.

    Args:
        body: The stored body.
        head: The head in it.

    """
    if len(_HEADS) >= _MOST_HEADS:
        _HEADS.clear()
    _HEADS[body] = head
    return head


def to_show(
    connection: sqlite3.Connection, owner: Owner, ids: Sequence[str], where: Filter | None
) -> dict[str, SerializedMemory]:
    """The memories and versions of the present epoch by id, as they are stored.

    Args:
        connection: The connection that reads.
        owner: The owner of the memories.
        ids: The ids to look up.
        where: Restricts the memories; None for no restriction.

    """
    restriction, parameters = conditions(where)
    parameters.update(app_id=owner.app_id, user_id=owner.user_id, ids=listed(set(ids)))
    # The plus keeps SQLite from going through all memories of a status instead of ten ids:
    # 0.06 ms, not 0.4.
    statement = (
        "SELECT id, body, inner FROM documents WHERE app_id = :app_id AND user_id = :user_id "  # noqa: S608 - our own names
        "AND id IN (SELECT value FROM json_each(:ids)) AND +kind IN ('memory', 'version') "
        f"AND +epoch = {_EPOCH} {restriction}"
    )
    return {
        identity: SerializedMemory(body, inner, memory_id=identity)
        for identity, body, inner in connection.execute(statement, parameters)
    }


def by_id(
    connection: sqlite3.Connection, owner: Owner, ids: Sequence[str], now: datetime
) -> dict[str, Document]:
    """The documents that exist among `ids`, with their vectors.

    Args:
        connection: The connection that reads.
        owner: The owner of the documents.
        ids: The ids to look up.
        now: The present moment; expired documents are left out.

    """
    if not ids:
        return {}
    return {
        row[0]: decoded(row)
        for row in connection.execute(_BY_ID, _by_id_parameters(owner, ids, now))
    }


def _by_id_parameters(owner: Owner, ids: Sequence[str], now: datetime) -> dict[str, Any]:
    return {
        "app_id": owner.app_id,
        "user_id": owner.user_id,
        "ids": listed(set(ids)),
        "now": now.timestamp(),
    }


def head_and_documents(
    connection: sqlite3.Connection, owner: Owner, ids: Sequence[str], now: datetime
) -> tuple[Head | None, dict[str, Document]]:
    """The owner's head, and the documents that exist among `ids`, with their vectors.

    Args:
        connection: The connection that reads.
        owner: The owner of the documents.
        ids: The ids to look up.
        now: The present moment; expired documents are left out.

    Returns:
        The head, which is None for an unknown owner, and the documents by id.

    """
    head: Head | None = None
    documents: dict[str, Document] = {}
    for row in connection.execute(_HEAD_AND_BY_ID, _by_id_parameters(owner, ids, now)):
        if row[0] is None:
            head = head_of(row[2])
        else:
            documents[row[0]] = decoded(row)
    return head, documents


def truths(connection: sqlite3.Connection, owner: Owner, near: Near) -> list[str]:
    """Ids of the latest 200 memories that fill the slot or have the key.

    Args:
        connection: The connection that reads.
        owner: The owner of the memories.
        near: The slot, the key and the types.

    """
    parameters = {
        "app_id": owner.app_id,
        "user_id": owner.user_id,
        "all_types": int(not near.types),
        "types": listed(near.types),
        "past": int(near.past),
    }
    identities: list[str] = []
    if near.slot is not None:
        slot = {"subject": near.slot[0], "attribute": near.slot[1]}
        identities += [
            identity for (identity,) in connection.execute(_BY_SLOT, {**parameters, **slot})
        ]
    if near.key is not None:
        identities += [
            identity for (identity,) in connection.execute(_BY_KEY, {**parameters, "key": near.key})
        ]
    return identities


def page(
    connection: sqlite3.Connection, owner: Owner, kind: Kind, where: Filter | None,
    after: Place | None, limit: int, newest_first: bool, now: datetime,
) -> list[Document]:  # fmt: skip
    """A page of documents by (sequence, id).

    At an earlier moment (`where.at`), memories and their versions form a single list.

    Args:
        connection: The connection that reads.
        owner: The owner of the documents.
        kind: The kind of the documents.
        where: Restricts memories. Its statuses restrict conflicts too.
        after: The last place of the previous page; None for the first page.
        limit: The most documents to return.
        newest_first: Whether the order is descending.
        now: The present moment; expired documents are left out.

    """
    kinds = (
        (kind, "version")
        if kind == "memory" and where is not None and where.at is not None
        else (kind,)
    )
    restriction, parameters = conditions(where)
    parameters.update(app_id=owner.app_id, user_id=owner.user_id, now=now.timestamp(), limit=limit)
    beyond, order = ("<", "DESC") if newest_first else (">", "ASC")
    if after is not None:
        restriction += f" AND (sequence, id) {beyond} (:after_sequence, :after_id)"
        parameters.update(after_sequence=after.sequence, after_id=after.id)
    # Few memories lead to one, few conflicts are open: the plus makes SQLite look these up instead
    # of going through all of a kind. 0.1 ms, not 25, among 20,000. What the indexes of conflicts
    # and of all but formed messages are made for is said in full, or they are not known to do.
    of_conflicts = kind == "conflict" and where is not None
    of_shown = (
        where is not None
        and where.hide_formed_messages
        and kinds == ("memory",)
        and not (where.next_ids or where.session_id)
    )
    by_kind = "+kind" if where is not None and (where.next_ids or of_conflicts) else "kind"
    looked_up = " INDEXED BY documents_but_formed_messages" if of_shown else ""
    restriction += " AND kind = 'memory'" * of_shown
    if where is not None and of_conflicts:
        restriction += " AND kind = 'conflict'" + " AND status = :status" * (
            len(where.statuses) == 1
        )
        parameters["status"] = min(where.statuses, default="")
    statement = (
        "SELECT id, kind, body, inner, expires_at, NULL, sequence, next_id "  # noqa: S608 - our own names
        f"FROM documents{looked_up} WHERE {by_kind} = :kind AND {_OWNED} "
        f"AND {_OF_THE_HEAD} {restriction} "
        f"ORDER BY sequence {order}, id {order} LIMIT :limit"
    )
    rows = [
        row for kind in kinds for row in connection.execute(statement, {**parameters, "kind": kind})
    ]
    if len(kinds) > 1:
        rows.sort(key=lambda row: (row[6], row[0]), reverse=newest_first)
    return [decoded_or_damaged(row[:6], row[6], row[7]) for row in rows[:limit]]


def faded(
    connection: sqlite3.Connection,
    owner: Owner,
    rules: Fading,
    now: datetime,
    session_id: str | None,
    after: Place | None,
    limit: int,
) -> list[Place]:
    """The next places of memories for which a step of fading is due.

    They are read from an index.

    Args:
        connection: The connection that reads.
        owner: The owner of the memories.
        rules: The rules of fading.
        now: The moment at which the step is due.
        session_id: The only session; None for all memories.
        after: The last place of the previous page; None for the first page.
        limit: The most places to return.

    """
    parameters = {
        "app_id": owner.app_id, "user_id": owner.user_id, "session_id": session_id, "limit": limit,
        "after_sequence": after.sequence if after else -1, "after_id": after.id if after else "",
        **rules.bounds(now),
    }  # fmt: skip
    return [
        Place(sequence, identity) for sequence, identity in connection.execute(_FADED, parameters)
    ]


def recalled(
    connection: sqlite3.Connection, owner: Owner, after: Place | None, limit: int
) -> list[Place]:
    """The next places of decayed memories that were read after they decayed.

    Args:
        connection: The connection that reads.
        owner: The owner of the memories.
        after: The last place of the previous page; None for the first page.
        limit: The most places to return.

    """
    parameters = {
        "app_id": owner.app_id, "user_id": owner.user_id, "limit": limit,
        "after_sequence": after.sequence if after else -1, "after_id": after.id if after else "",
    }  # fmt: skip
    return [
        Place(sequence, identity)
        for sequence, identity in connection.execute(_RECALLED, parameters)
    ]


def coming(
    connection: sqlite3.Connection,
    owner: Owner,
    rules: Fading,
    archive_after: timedelta,
    after: datetime,
) -> NextDue:
    """The next moments at which the passing of time makes work due, from indexes.

    Args:
        connection: The connection that reads.
        owner: The owner of the memories.
        rules: The rules of fading.
        archive_after: How long a memory must be unchanged before it is archived.
        after: The moment after which the moments are.

    """
    parameters = {
        "app_id": owner.app_id, "user_id": owner.user_id, "after": after.timestamp(),
        "archive_after": archive_after.total_seconds(), **rules.bounds(after),
    }  # fmt: skip
    fades, shrinks, ages, foresight = connection.execute(_COMING, parameters).fetchone()
    fading = min((moment for moment in (fades, shrinks) if moment is not None), default=None)
    return NextDue(moment_in(fading), moment_in(ages, archive_after), moment_in(foresight))


def foresight_ended(
    connection: sqlite3.Connection, owner: Owner, since: datetime, until: datetime
) -> int:
    """The number of memories whose last foresight ended in (since, until].

    Args:
        connection: The connection that reads.
        owner: The owner of the memories.
        since: The earlier bound, excluded.
        until: The later bound, included.

    """
    parameters = {
        "app_id": owner.app_id,
        "user_id": owner.user_id,
        "since": since.timestamp(),
        "until": until.timestamp(),
    }
    return int(connection.execute(_FORESEEN, parameters).fetchone()[0])


def events(
    connection: sqlite3.Connection,
    owner: Owner,
    after_sequence: int,
    limit: int,
    where: EventFilter | None,
) -> list[Event]:
    """Events after a sequence, in order.

    Args:
        connection: The connection that reads.
        owner: The owner of the events.
        after_sequence: The events have a higher sequence.
        limit: The most events to return.
        where: Restricts the events; None for no restriction.

    """
    restriction, parameters = event_conditions(where)
    parameters.update(app_id=owner.app_id, user_id=owner.user_id, after=after_sequence, limit=limit)
    # The plus makes SQLite look up the events of one memory, or go on from a moment, instead of
    # going through all of the user's: 0.05 ms, not 30, among 100,000. Events happen in the order of
    # their sequence.
    since = where is not None and where.since is not None
    narrow = where is not None and (where.memory_id is not None or since)
    statement = (
        "SELECT body FROM documents WHERE app_id = :app_id AND user_id = :user_id "  # noqa: S608
        f"AND {'+kind' if narrow else 'kind'} = 'event' AND sequence > :after "
        f"AND {_OF_THE_HEAD} {restriction} ORDER BY "
        f"{'event_at, sequence' if since else 'sequence'} LIMIT :limit"
    )
    return [
        Event.model_validate_json(body) for (body,) in connection.execute(statement, parameters)
    ]


def strays(
    connection: sqlite3.Connection, owner: Owner, limit: int, epoch: str | None
) -> list[Document]:
    """Documents that are not of the head's epoch, whether expired or not.

    Args:
        connection: The connection that reads.
        owner: The owner of the documents.
        limit: The most documents to return.
        epoch: The only epoch; None for all other epochs.

    """
    parameters = {"app_id": owner.app_id, "user_id": owner.user_id, "epoch": epoch, "limit": limit}
    return [
        Document(identity, kind, {}) for identity, kind in connection.execute(_STRAYS, parameters)
    ]


def matching(connection: sqlite3.Connection, owner: Owner, where: Filter) -> frozenset[str]:
    """The ids of the memories and versions that match a filter, metadata included.

    Args:
        connection: The connection that reads.
        owner: The owner of the memories.
        where: The filter.

    """
    restriction, parameters = conditions(where)
    statement = (
        "SELECT id FROM documents WHERE app_id = :app_id AND user_id = :user_id "  # noqa: S608 - our own names
        f"AND kind IN ('memory', 'version') AND {_OF_THE_HEAD} {restriction}"
    )
    rows = connection.execute(
        statement, {**parameters, "app_id": owner.app_id, "user_id": owner.user_id}
    )
    return frozenset(identity for (identity,) in rows)


# An admin's reads: the poisoned tasks of an app's users, and agents user by user.
#
# Note: both use indexes that an older file may lack. Missing indexes are made when a file is
# opened.


_AFTER_ALL: Final = Place(2**62, "")
_POISONED = (
    f"SELECT user_id, {READ_COLUMNS} FROM documents INDEXED BY tasks_poisoned WHERE app_id = ? "  # noqa: S608 - our own names
    f"AND {IS_POISONED} AND (sequence, id) < (?, ?) ORDER BY sequence DESC, id DESC LIMIT ?"
)
_ITS_OWN = (
    "FROM documents INDEXED BY documents_by_agent WHERE app_id = ? AND user_id = ? "
    "AND kind = 'memory' AND agent_id"
)
_NEXT_AGENT = f"SELECT MIN(agent_id) {_ITS_OWN} > ?"
_COUNT = (
    f"SELECT COUNT(*) {_ITS_OWN} = ? AND status IN ('active', 'compressed') "
    f"AND category IS NOT '{MESSAGE}'"
)
_LAST_CHANGED = f"SELECT {CHANGED} {_ITS_OWN} = ? ORDER BY {CHANGED} DESC LIMIT 1"


_TAGS = (
    "SELECT DISTINCT tag.value FROM documents INDEXED BY documents_with_tags, "  # noqa: S608 - our own names
    "json_each(documents.tags) AS tag WHERE app_id = :app_id AND user_id = :user_id "
    f"AND {HAS_TAGS} AND status IN ('active', 'compressed') AND epoch = {_EPOCH} "
    "AND substr(tag.value, 1, length(:prefix)) = :prefix AND tag.value > :after ORDER BY tag.value "
    "LIMIT :limit"
)


def tags(
    connection: sqlite3.Connection, owner: Owner, prefix: str, after: str | None, limit: int
) -> list[str]:
    """The next tags of a user, from an index of the memories with tags.

    Args:
        connection: The connection that reads.
        owner: The user.
        prefix: The beginning of the tags.
        after: The last tag of the previous page; None for the first page.
        limit: The most tags to return.

    """
    parameters = {
        "app_id": owner.app_id,
        "user_id": owner.user_id,
        "prefix": prefix,
        "after": after or "",
        "limit": limit,
    }
    return [tag for (tag,) in connection.execute(_TAGS, parameters)]


def poisoned(
    connection: sqlite3.Connection, app_id: str, after: Place | None, limit: int
) -> list[tuple[Owner, Document]]:
    """The next poisoned tasks of an app's users, newest first.

    Args:
        connection: The connection that reads.
        app_id: The app of the users.
        after: The last place of the previous page; None for the first page.
        limit: The most tasks to return.

    """
    place = after or _AFTER_ALL
    rows = connection.execute(_POISONED, (app_id, place.sequence, place.id, limit))
    return [(Owner(app_id, user_id), decoded(row)) for user_id, *row in rows]


def agents(
    connection: sqlite3.Connection, owner: Owner, after: str | None, limit: int
) -> list[AgentCount]:
    """The next agents of a user.

    Each agent is looked up in an index, without reading the memories between two agents.

    Args:
        connection: The connection that reads.
        owner: The user.
        after: The last agent of the previous page; None for the first page.
        limit: The most agents to return.

    """
    counts: list[AgentCount] = []
    last = after or ""
    with transaction(connection):
        while len(counts) < limit:
            (agent_id,) = connection.execute(_NEXT_AGENT, (*owner, last)).fetchone()
            if agent_id is None:
                break
            (count,) = connection.execute(_COUNT, (*owner, agent_id)).fetchone()
            (changed,) = connection.execute(_LAST_CHANGED, (*owner, agent_id)).fetchone()
            counts.append(AgentCount(agent_id, count, datetime.fromisoformat(f"{changed}Z")))
            last = agent_id
    return counts
