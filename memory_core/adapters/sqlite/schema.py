"""The long-term file: its tables, and whose vectors it holds.

The embedder on record is that of the first vector that was committed. Vectors of another embedder may stand beside those: each memory
names the model of its own, and only vectors of the configured embedder are compared. The record moves once no other vector is left.
"""

from __future__ import annotations

import sqlite3

from memory_core.adapters.sqlite.file import Column, Layout
from memory_core.domain.fading import MOST_USES, USES_A_TELLING, USES_THAT_DOUBLE
from memory_core.domain.messages import MESSAGE
from memory_core.domain.ranking.vectors import VectorKind

DEPENDENCY = "long_term"

_BY_FADING = (
    "CREATE INDEX documents_by_fading ON documents "
    "(app_id, user_id, idle_since, halvings, lasts, characters, created_at, session_id, epoch, sequence, id) WHERE idle_since IS NOT NULL"
)
_TABLES = (
    """
    CREATE TABLE heads (
        app_id TEXT NOT NULL, user_id TEXT NOT NULL,
        body BLOB NOT NULL,
        change INTEGER NOT NULL,
        removal INTEGER NOT NULL,
        due_at REAL,
        PRIMARY KEY (app_id, user_id)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX heads_by_due ON heads (due_at, app_id, user_id) WHERE due_at IS NOT NULL",
    """
    CREATE TABLE documents (
        app_id TEXT NOT NULL, user_id TEXT NOT NULL, id TEXT NOT NULL,
        kind TEXT NOT NULL, sequence INTEGER NOT NULL, change INTEGER, expires_at REAL,
        type TEXT, status TEXT, status_reason TEXT, category TEXT, session_id TEXT, agent_id TEXT,
        event_at REAL, valid_from REAL, valid_until REAL, tags TEXT, subject TEXT, attribute TEXT, next_id TEXT,
        idle_since REAL, halvings REAL, characters INTEGER, created_at REAL, ages_from REAL, foresees_until REAL, lasts REAL,
        memory_id TEXT, event_type TEXT, correlation_id TEXT,
        epoch TEXT, body BLOB NOT NULL, inner BLOB, vector BLOB,
        PRIMARY KEY (app_id, user_id, id)
    )
    """,
    "CREATE INDEX documents_by_kind ON documents (app_id, user_id, kind, sequence, id)",
    "CREATE INDEX documents_by_session ON documents (app_id, user_id, kind, session_id, sequence, id) WHERE session_id IS NOT NULL",
    "CREATE INDEX documents_by_change ON documents (app_id, user_id, change) WHERE change IS NOT NULL",
    "CREATE INDEX documents_by_slot ON documents (app_id, user_id, subject, attribute) WHERE subject IS NOT NULL",
    "CREATE INDEX documents_by_successor ON documents (app_id, user_id, next_id) WHERE next_id IS NOT NULL",
    "CREATE INDEX conflicts_by_status ON documents (app_id, user_id, status, sequence, id) WHERE kind = 'conflict'",
    _BY_FADING,
    "CREATE INDEX documents_by_age ON documents (app_id, user_id, ages_from, epoch) WHERE ages_from IS NOT NULL",
    "CREATE INDEX documents_by_foresight ON documents (app_id, user_id, foresees_until, epoch) WHERE foresees_until IS NOT NULL",
    "CREATE INDEX events_by_memory ON documents (app_id, user_id, memory_id, sequence) WHERE memory_id IS NOT NULL",
    "CREATE INDEX events_by_moment ON documents (app_id, user_id, event_at) WHERE memory_id IS NOT NULL",
    "CREATE INDEX documents_by_expiry ON documents (app_id, user_id, expires_at) WHERE expires_at IS NOT NULL",
    "CREATE TABLE embedder (only INTEGER PRIMARY KEY CHECK (only = 1), model TEXT NOT NULL, dimensions INTEGER NOT NULL)",
)

IS_POISONED = "kind = 'task' AND json_extract(CAST(body AS TEXT), '$.status') = 'poisoned'"
CHANGED = "rtrim(json_extract(CAST(body AS TEXT), '$.updated_at'), 'Z')"
"""When a memory was last made or changed, as text that sorts as moments do: with the Z, a whole second would come after its fractions."""

KEY = "json_extract(CAST(body AS TEXT), '$.key')"
"""The key of a procedural memory."""

_CELL = "CASE WHEN json_valid(CAST(body AS TEXT)) THEN json_extract(CAST(body AS TEXT), '$.cell_id') END"
NO_FORMED_MESSAGE = f"(category IS NOT '{MESSAGE}' OR {_CELL} IS NULL)"
"""What is no message that belongs to a cell. A body that can't be parsed has no cell here: it must not fail a list, nor its writing."""

_ADDED = (
    "CREATE INDEX IF NOT EXISTS documents_but_formed_messages ON documents (app_id, user_id, sequence, id) "
    f"WHERE kind = 'memory' AND {NO_FORMED_MESSAGE}",
    f"CREATE INDEX IF NOT EXISTS documents_by_key ON documents (app_id, user_id, {KEY}) WHERE type = 'procedural' AND kind = 'memory'",
    f"CREATE INDEX IF NOT EXISTS tasks_poisoned ON documents (app_id, sequence, id) WHERE {IS_POISONED}",
    f"CREATE INDEX IF NOT EXISTS documents_by_agent ON documents (app_id, user_id, kind, agent_id, {CHANGED}, status, category) "
    "WHERE agent_id IS NOT NULL",
)

_LASTS = Column(
    "documents",
    "lasts",
    (
        "ALTER TABLE documents ADD COLUMN lasts REAL",
        "UPDATE documents SET lasts = 1 + MIN(COALESCE(json_extract(CAST(body AS TEXT), '$.access_count'), 0) "  # noqa: S608 - our own numbers
        f"+ {USES_A_TELLING} * COALESCE(json_extract(CAST(body AS TEXT), '$.reinforcement_count'), 0), {MOST_USES}) / {USES_THAT_DOUBLE}.0 "
        "WHERE idle_since IS NOT NULL AND json_valid(CAST(body AS TEXT))",
        "DROP INDEX documents_by_fading",
        _BY_FADING,
    ),
)
"""By what a memory's half-life is multiplied. Note: an earlier version writes none, and 1 is taken: such a memory is looked at too early,
and found not to be due.
"""

LAYOUT = Layout(DEPENDENCY, application_id=0x4D436F72, version=4, tables=_TABLES, added=_ADDED, columns=(_LASTS,))


_OTHER_VECTORS = (
    "SELECT 1 FROM documents WHERE vector IS NOT NULL AND kind IN ('memory', 'version') AND (length(vector) != 4 * :dimensions "
    "OR json_valid(CAST(body AS TEXT)) AND json_extract(CAST(body AS TEXT), '$.embedding_model') != :model) LIMIT 1"
)


def recorded_embedder(connection: sqlite3.Connection) -> VectorKind | None:
    """The embedder on record; None in a file without vectors."""
    row = connection.execute("SELECT model, dimensions FROM embedder").fetchone()
    return None if row is None else VectorKind(*row)


def record_embedder(connection: sqlite3.Connection, kind: VectorKind) -> None:
    """Write down who made this file's first vector, within the transaction that brings it; an earlier record stays."""
    connection.execute("INSERT INTO embedder (only, model, dimensions) VALUES (1, ?, ?) ON CONFLICT DO NOTHING", kind)


def has_other_vectors(connection: sqlite3.Connection, kind: VectorKind) -> bool:
    """Whether vectors of another embedder are left. Reads the file up to the first, hence all of it where there is none."""
    return connection.execute(_OTHER_VECTORS, kind._asdict()).fetchone() is not None


def replace_embedder(connection: sqlite3.Connection, kind: VectorKind) -> None:
    """Put another embedder on record, in place of one whose vectors are gone."""
    connection.execute("UPDATE embedder SET model = ?, dimensions = ?", kind)
