"""How many bytes answers take: `python -m bench.answer_sizes SET.json [--limit 1]`, on a host of
its own with the local embedder.

SET as `bench.locomo_data` reads it. Each conversation belongs to two users: of one each turn is
saved, the other is told the sessions, of which cells are formed. Both are asked every question,
with default fields. The bytes of a search are without those of the texts in it.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import httpx
import orjson

from bench.host import Host
from bench.locomo_data import Conversation, Turn, read
from bench.tables import show

MOST_TOLD = 100
"""Messages of a call."""
WAIT_S = 0.2


def save_sizes(client: httpx.Client, user: str, turns: Sequence[Turn]) -> Iterator[tuple[int, int]]:
    """Bytes of each turn's save, and of these without its text."""
    for turn in turns:
        answer = _read(client.post("/api/v1/memories/save", json={"user_id": user, **turn.saved()}))
        yield (
            len(answer.content),
            len(answer.content) - len(orjson.dumps(answer.json()["memory"].get("content", ""))) + 2,
        )


def tell(client: httpx.Client, user: str, turns: Sequence[Turn]) -> None:
    """Tell the sessions, and wait until all is formed."""
    tasks = []
    for session, turns_of_session in groupby(turns, lambda turn: turn.session):
        messages = [
            {"role": "user", "actor": turn.actor, "content": turn.text, "timestamp": turn.at}
            for turn in turns_of_session
        ]
        for start in range(0, len(messages), MOST_TOLD):
            body = {
                "user_id": user,
                "session_id": session,
                "messages": messages[start : start + MOST_TOLD],
            }
            tasks.append(_read(client.post("/api/v1/memories", json=body)).headers["location"])
    for task in tasks:
        while _read(client.get(task)).json()["status"] in ("accepted", "running"):
            time.sleep(WAIT_S)


def search_sizes(client: httpx.Client, user: str, questions: Sequence[str]) -> Iterator[int]:
    """Bytes of each search that has ten results, without their texts."""
    for question in questions:
        answer = _read(
            client.post("/api/v1/memories/retrieve", json={"user_id": user, "query": question})
        )
        if len(answer.json()["results"]) == 10:
            yield len(answer.content) - text_bytes(answer.json())


def text_bytes(answer: dict[str, Any]) -> int:
    """Bytes that the texts of results take: of memories, of what they foresee, of passages."""
    texts = []
    for result in answer["results"]:
        memory = result["memory"]
        texts += [memory["content"], *(item["description"] for item in memory.get("foresight", ()))]
        texts += [passage["text"] for passage in result.get("passages", ())]
    return sum(len(orjson.dumps(text)) - 2 for text in texts)


def measure(client: httpx.Client, conversations: Sequence[Conversation]) -> dict[str, list[int]]:
    """The sizes of all answers, by what was asked."""
    sizes: dict[str, list[int]] = {
        "save, with its text": [],
        "save": [],
        "search of saved turns": [],
        "search of told sessions": [],
    }
    for conversation in conversations:
        questions = [question.text for question in conversation.questions]
        saves = list(save_sizes(client, f"{conversation.name}-saved", conversation.turns))
        sizes["save, with its text"] += [size for size, _ in saves]
        sizes["save"] += [size for _, size in saves]
        sizes["search of saved turns"] += search_sizes(
            client, f"{conversation.name}-saved", questions
        )
        tell(client, f"{conversation.name}-told", conversation.turns)
        sizes["search of told sessions"] += search_sizes(
            client, f"{conversation.name}-told", questions
        )
    return sizes


def _read(answer: httpx.Response) -> httpx.Response:
    if not answer.is_success:
        raise RuntimeError(f"{answer.status_code}: {answer.text[:500]}")
    return answer


def main() -> None:
    """Measure and print medians and the largest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--limit", type=int, default=None, help="conversations, all by default")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        host = Host(Path(folder), "minilm")
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{host.port}", timeout=60) as client:
                sizes = measure(client, read(options.data)[: options.limit])
        finally:
            host.stop()
    rows = [
        [name, f"{len(some):,}", f"{statistics.median(some):,.0f}", f"{max(some):,}"]
        for name, some in sizes.items()
        if some
    ]
    show("Bytes of answers", ["answer", "number", "median", "most"], rows)


if __name__ == "__main__":
    main()
