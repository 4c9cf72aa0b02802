"""The blueprints that make up the app. One that is missing here is not served, and nothing but a test would notice."""

from __future__ import annotations

from memory_core.functions import (
    http_admin,
    http_agent,
    http_batches,
    http_cold,
    http_conflicts,
    http_context,
    http_conversations,
    http_memories,
    http_people,
    http_scenes,
    http_sessions,
    http_system,
    http_tasks,
    http_time,
    http_upkeep,
    queue_consolidation,
    queue_formation,
    queue_webhooks,
    timer_hourly,
)

BLUEPRINTS = (
    http_admin.blueprint,
    http_agent.blueprint,
    http_batches.blueprint,
    http_cold.blueprint,
    http_conflicts.blueprint,
    http_context.blueprint,
    http_conversations.blueprint,
    http_memories.blueprint,
    http_people.blueprint,
    http_scenes.blueprint,
    http_sessions.blueprint,
    http_system.blueprint,
    http_tasks.blueprint,
    http_upkeep.blueprint,
    http_time.blueprint,
    queue_consolidation.blueprint,
    queue_formation.blueprint,
    queue_webhooks.blueprint,
    timer_hourly.blueprint,
)
