"""Whatever users write, their conversations are formed, and nothing that they write is a 5xx; on both profiles."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from bench.odd_conversations import Tally, consolidate, tell
from tests.e2e.test_http_conversations import ended

A_USER = 8
MOMENT = "2026-05-08T13:56:00Z"


@pytest.mark.parametrize("start", [100_000, 100_100, 100_200])
async def test_odd_conversations_are_formed_and_their_texts_are_taken_everywhere(host: httpx.Client, start: int) -> None:
    tally = Tally()
    async with httpx.AsyncClient(base_url=host.base_url, timeout=120) as client:
        for seed in range(start, start + A_USER):
            await tell(client, seed, f"odd {start}", tally)
        await consolidate(client, start, f"odd {start}", tally)
    assert tally.failures == []
    assert tally.counts["formed"] == A_USER


@pytest.mark.parametrize("actor", ["CORP\\jdoe", "CORP\\nina", "C:\\Users\\x", "\\", "🙂", "Y" * 128])
def test_any_name_may_speak(host: httpx.Client, actor: str) -> None:
    told = [{"role": "user", "content": "I live in Oslo.", "timestamp": MOMENT, "actor": actor}]
    summary = host.post("/api/v1/agent/summaries", json={"user_id": "named", "messages": told})
    assert summary.status_code == 200, summary.text
    assert summary.json()["summary"] == f"{actor[:60]} lives in Oslo."
    answer = host.post("/api/v1/memories", json={"user_id": "named", "messages": told})
    assert ended(host, answer.headers["location"])["status"] == "succeeded"


async def test_many_users_are_told_at_once(host: httpx.Client) -> None:
    """None of them waits in vain, or gets what another one's text did."""
    tally = Tally()
    async with httpx.AsyncClient(base_url=host.base_url, timeout=120) as client:
        await asyncio.gather(*(tell(client, seed, f"one of many {seed}", tally) for seed in range(100_300, 100_304)))
    assert tally.failures == []
