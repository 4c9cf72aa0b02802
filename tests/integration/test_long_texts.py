"""Texts of the largest size with the local embedder: found by any of their words,
refused honestly where there are too many.
"""

from __future__ import annotations

from pathlib import Path

from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.requests.memories import RetrieveInput, SaveInput
from memory_core.domain.scope import Owner
from tests.host import memories, problem, running

ANA = Owner("local", "ana")
CHATTER = (
    "The harbour was quiet this morning and the ferry came in late because of the fog over "
    "the bay. "
)
LONG = CHATTER * 300


async def test_a_long_text_is_found_by_a_sentence_that_no_embedded_window_holds(
    tmp_path: Path,
) -> None:
    """31,000 characters are some 30 windows, of which eight make the vector; words are all of them
    in the index.
    """
    tenth = len(LONG) // 10
    text = LONG[:tenth] + "Marta's saxophone is kept in the cellar. " + LONG[tenth:30_000]
    async with MemoryCore(Settings(embedding_provider="minilm", data=tmp_path)) as core:
        long = await core.save(ANA, SaveInput(content=text))
        for number in range(20):
            await core.save(ANA, SaveInput(content=f"Ana bought {number} postcards of the harbour"))
        asked = RetrieveInput(
            query="Where is Marta's saxophone kept?", answer_threshold=0.0, similarity_threshold=0.0
        )
        assert (await core.retrieve(ANA, asked)).results[0].memory.id == long.memory.id


def test_a_bulk_that_takes_longer_than_a_request_may_is_a_503_and_is_done_when_it_is_sent_again(
    tmp_path: Path,
) -> None:
    """Nothing of it is stored before all of it is embedded, and what was embedded meanwhile
    is not lost. The texts share no window, so that none is embedded once for all.
    """
    items = [
        {"content": (CHATTER.replace("quiet", f"quiet for {number} hours") * 300)[:30_000]}
        for number in range(10, 40)
    ]
    with running(tmp_path, EMBEDDING_PROVIDER="minilm", MEMORY_DEADLINE_S="1") as client:
        body, key = {"user_id": "ana", "memories": items}, {"Idempotency-Key": "once"}
        answer = client.post("/api/v1/memories/bulk", json=body, headers=key)
        problem(answer, 503)
        assert memories(client, "ana") == []
        while answer.status_code == 503:
            assert client.get("/health").status_code == 200
            answer = client.post("/api/v1/memories/bulk", json=body, headers=key)
        assert answer.status_code == 207
        assert {result["status"] for result in answer.json()["results"]} == {201}
        assert len(memories(client, "ana")) == len(items)
