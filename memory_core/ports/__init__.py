"""The few protocols that the phases need from the world; adapters fulfil them, `core` chooses.

Every call names an `Owner`; none can reach across owners. Vectors are float32, length d, L2-normalised. Errors: a
dependency that is down raises `Unavailable`; never an empty result.
"""

from __future__ import annotations

from memory_core.ports.archive import Archive
from memory_core.ports.common import Charged, Clock, Health, IdSource, Meter, Pooled
from memory_core.ports.long_term import LongTermStore
from memory_core.ports.models import Agents, DecisionItem, Embedder, Reranker, SceneItem, Thesaurus
from memory_core.ports.records import (
    LOGGED,
    AgentCount,
    Asked,
    Batch,
    Document,
    Due,
    EventFilter,
    Filter,
    Found,
    Kind,
    Mark,
    Near,
    Neighbour,
    Place,
    Search,
    Snapshot,
    Touch,
    Write,
)
from memory_core.ports.short_term import ShortTermStore, Stamp, Taken
from memory_core.ports.work import POISON, Courier, Delivery, Posted, QueueName, TaskQueue

__all__ = [
    "LOGGED",
    "POISON",
    "AgentCount",
    "Agents",
    "Archive",
    "Asked",
    "Batch",
    "Charged",
    "Clock",
    "Courier",
    "DecisionItem",
    "Delivery",
    "Document",
    "Due",
    "Embedder",
    "EventFilter",
    "Filter",
    "Found",
    "Health",
    "IdSource",
    "Kind",
    "LongTermStore",
    "Mark",
    "Meter",
    "Near",
    "Neighbour",
    "Place",
    "Pooled",
    "Posted",
    "QueueName",
    "Reranker",
    "SceneItem",
    "Search",
    "ShortTermStore",
    "Snapshot",
    "Stamp",
    "Taken",
    "TaskQueue",
    "Thesaurus",
    "Touch",
    "Write",
]
