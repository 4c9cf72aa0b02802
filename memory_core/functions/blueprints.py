"""The blueprints that make up the app. One that is missing here is not served, and nothing but a test would notice."""

from __future__ import annotations

from memory_core.functions import (
    http_agent,
    http_batches,
    http_conflicts,
    http_conversations,
    http_memories,
    http_sessions,
    http_system,
    http_tasks,
    queue_consolidation,
    queue_formation,
    queue_webhooks,
    timer_hourly,
)

BLUEPRINTS = (
    http_agent.blueprint,
    http_batches.blueprint,
    http_conflicts.blueprint,
    http_conversations.blueprint,
    http_memories.blueprint,
    http_sessions.blueprint,
    http_system.blueprint,
    http_tasks.blueprint,
    queue_consolidation.blueprint,
    queue_formation.blueprint,
    queue_webhooks.blueprint,
    timer_hourly.blueprint,
)
