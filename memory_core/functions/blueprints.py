"""The blueprints that make up the app.

Note: a blueprint that is missing here is not served.
"""

from __future__ import annotations

from memory_core.functions import (
    http_console,
    http_conversations,
    http_docs,
    http_keys,
    http_maintenance,
    http_mcp,
    http_memories,
    http_people,
    http_system,
    triggers,
)
from memory_core.functions.registered import register

BLUEPRINTS = register(
    http_conversations.blueprint,
    http_memories.blueprint,
    http_people.blueprint,
    http_keys.blueprint,
    http_maintenance.blueprint,
    http_mcp.blueprint,
    http_docs.blueprint,
    http_console.blueprint,
    triggers.blueprint,
    http_system.blueprint,  # the last, as it has the function for wrong paths
)
