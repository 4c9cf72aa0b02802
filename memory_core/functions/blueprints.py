"""The blueprints that make up the app. One that is missing here is not served, and nothing but a test would notice."""

from __future__ import annotations

from memory_core.functions import http_memories, http_sessions, http_system

BLUEPRINTS = (http_memories.blueprint, http_sessions.blueprint, http_system.blueprint)
