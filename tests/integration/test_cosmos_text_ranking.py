"""Accounts that rank by words in a way other than documented: seen by known documents, asked
otherwise, with the same answer.
"""

from __future__ import annotations

import logging
from uuid import uuid4

import pytest

from memory_core.adapters.cosmos.store import CosmosStore
from tests.builders import ALICE, DIMENSIONS, StillClock, memory, query, save, unit
from tests.cosmos_client import client_of
from tests.cosmos_server import IGNORES_RANK, KEY, REFUSES_DISTANCE, running
from tests.cosmos_traffic import check_that_each_names_one_user

MEMORIES = 30
LIMIT = 5
WAYS = {
    (): "with the partition key",
    (IGNORES_RANK,): "across partitions",
    (REFUSES_DISTANCE,): "with the partition key, similarities apart",
    (IGNORES_RANK, REFUSES_DISTANCE): "across partitions, similarities apart",
}
"""What an account does, and how it is asked then."""


@pytest.mark.parametrize("flags", WAYS)
async def test_the_best_by_words_are_found_with_their_similarities_on_every_account(
    flags: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "memory_core.adapters.cosmos.text_ranking")
    with running(ranges=2, flags=flags) as server:
        store = CosmosStore(
            server.endpoint,
            uuid4().hex,
            clock=StillClock(),
            embedding_model="test",
            dimensions=DIMENSIONS,
            key=KEY,
        )
        await store.provision()
        await store.open()
        for first in range(0, MEMORIES, 10):
            numbers = range(first, first + 10)
            texts = [
                " ".join(["tea"] * (number + 1) + ["cup"] * (MEMORIES - number))
                for number in numbers
            ]
            await save(
                store,
                *(
                    memory(text, id=f"mem_{n:02}", embedding=unit(n))
                    for n, text in zip(numbers, texts, strict=True)
                ),
            )
        vector = unit(0)
        answers = [await store.search(ALICE, query("tea", vector, LIMIT)) for _ in range(2)]
        health = await store.check()
        assert check_that_each_names_one_user(server.requests())
        written = [
            request
            for request in server.requests()
            if request["operation"] == "batch" and "_/_" in request["key"]
        ]
        await store.close()
    best = [f"mem_{number:02}" for number in range(MEMORIES - 1, MEMORIES - 1 - LIMIT, -1)]
    for answer in answers:
        assert answer.candidates.lists["lexical"] == best
        cosines = dict(zip(answer.candidates.ids, answer.candidates.cosine.tolist(), strict=True))
        wanted = {name: float(unit(int(name[4:])) @ vector) for name in best}
        assert {name: cosines[name] for name in best} == pytest.approx(wanted, abs=1e-5)
    assert health.facts["text_ranking"] == WAYS[flags]
    assert len(written) == 2, "the record of the embedder, and the known documents once"
    assert len(caplog.records) == bool(flags), "told once"


async def test_known_documents_that_are_not_indexed_yet_leave_the_way_open() -> None:
    """The text index may take them in later than they are written: nothing is concluded from rows
    that are missing.
    """
    with running() as server:
        database = uuid4().hex
        store = CosmosStore(
            server.endpoint,
            database,
            clock=StillClock(),
            embedding_model="test",
            dimensions=DIMENSIONS,
            key=KEY,
        )
        await store.provision()
        await store.open()
        async with client_of(server.endpoint) as client:
            container = client.get_database_client(database).get_container_client("memories")
            names = [f"ranking_{number:02}" for number in range(16)]
            for name in names:
                await container.upsert_item(
                    {"id": name, "owner": "_/_", "app_id": "_", "user_id": "_", "kind": "memory"}
                )
            await save(store, memory("green tea", embedding=unit(1)))
            assert (await store.check()).facts[
                "text_ranking"
            ] == "across partitions, similarities apart"
            assert (await store.search(ALICE, query("tea", unit(1)))).candidates.lists["lexical"]
            await container.delete_item(names[0], "_/_")  # they are written again
        assert (await store.check()).facts["text_ranking"] == WAYS[()]
        await store.close()
