"""Webhooks over HTTP, by aiohttp: to addresses that callers chose, and therefore with care."""
