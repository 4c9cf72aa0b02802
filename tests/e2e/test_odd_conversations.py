"""Whatever users write, their conversations are formed, and nothing that they write is a 5xx;
on both profiles.
"""

from __future__ import annotations

import asyncio

import httpx
import pytest

from bench.odd_conversations import Tally, consolidate, tell
from tests.host import ended_task

SEEDS = range(100_000, 100_012)
MOMENT = "2026-05-08T13:56:00Z"


async def test_odd_conversations_are_formed_and_their_texts_are_taken_everywhere(
    host: httpx.Client,
) -> None:
    tally = Tally()
    async with httpx.AsyncClient(base_url=host.base_url, timeout=120) as client:
        await asyncio.gather(*(tell(client, seed, "odd", tally) for seed in SEEDS))
        await consolidate(client, SEEDS[0], "odd", tally)
    assert tally.failures == []
    assert tally.counts["formed"] == len(SEEDS)


@pytest.mark.parametrize("actor", ["CORP\\jdoe", "C:\\Users\\x", "\\", "🙂", "Y" * 128])
def test_any_name_may_speak(host: httpx.Client, actor: str) -> None:
    messages = [{"role": "user", "content": "I live in Oslo.", "timestamp": MOMENT, "actor": actor}]
    summary = host.post("/api/v1/agent/summaries", json={"user_id": "named", "messages": messages})
    assert summary.status_code == 200, summary.text
    assert summary.json()["summary"] == f"{actor[:60]} lives in Oslo."
    answer = host.post("/api/v1/memories", json={"user_id": "named", "messages": messages})
    assert ended_task(host, answer.headers["location"])["status"] == "succeeded"
