"""Over HTTP, in both profiles: agent frameworks keep their sessions and their stores here,
and answers are short.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from langgraph.store.base import GetOp

from memory_core_client import MemoryCore
from memory_core_client.langgraph import MemoryCoreStore
from memory_core_client.openai_agents import MemoryCoreSession
from tests.host import memories, problem, save

TOOL_ITEMS: list[dict[str, Any]] = [
    {"role": "user", "content": "How is the weather in Oslo?"},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"},
    {
        "type": "function_call",
        "call_id": "c1",
        "name": "weather",
        "arguments": '{"city": "Oslo"}',
        "id": "__fake_id__",
    },
    {"type": "function_call_output", "call_id": "c1", "output": "cold"},
    {
        "role": "assistant",
        "type": "message",
        "content": [{"type": "output_text", "text": "It is cold."}],
        "id": "__fake_id__",
    },
]


# A framework's session.


@pytest.fixture
def service(host: httpx.Client) -> Iterator[MemoryCore]:
    with MemoryCore(str(host.base_url)) as client:
        yield client


@pytest.fixture
def session(service: MemoryCore, user: str) -> MemoryCoreSession:
    return MemoryCoreSession(service.user(user), "thread-1")


async def test_a_session_gives_back_what_was_added_in_order(session: MemoryCoreSession) -> None:
    assert await session.get_items() == []
    assert await session.pop_item() is None
    await session.add_items(TOOL_ITEMS)
    await session.add_items(TOOL_ITEMS[:1])
    assert await session.get_items() == [*TOOL_ITEMS, TOOL_ITEMS[0]]
    assert await session.get_items(limit=2) == [TOOL_ITEMS[4], TOOL_ITEMS[0]]
    assert [await session.pop_item() for _ in range(3)] == [
        TOOL_ITEMS[0],
        TOOL_ITEMS[4],
        TOOL_ITEMS[3],
    ]
    assert await session.get_items() == TOOL_ITEMS[:3]
    await session.clear_session()
    assert await session.get_items() == []
    assert await session.pop_item() is None
    await session.add_items(TOOL_ITEMS[:1])
    assert await session.get_items() == TOOL_ITEMS[:1]


async def test_clients_who_pop_and_append_at_once_lose_and_double_nothing(
    session: MemoryCoreSession,
) -> None:
    clients, rounds = 6, 5
    popped: list[str] = []

    async def work(number: int) -> None:
        for turn in range(rounds):
            await session.add_items(
                [{"role": "user", "content": f"{number}-{turn}-{half}"} for half in "ab"]
            )
            item: Any = await session.pop_item()
            popped.append(item["content"])

    await asyncio.gather(*map(work, range(clients)))
    items: Any = await session.get_items()
    stay = [item["content"] for item in items]
    every = {
        f"{number}-{turn}-{half}"
        for number in range(clients)
        for turn in range(rounds)
        for half in "ab"
    }
    assert len(popped) == clients * rounds
    assert sorted([*popped, *stay]) == sorted(every)
    for number in range(clients):
        own = [name for name in stay if name.startswith(f"{number}-")]
        assert own == sorted(own)


def test_what_is_appended_is_told_by_its_answer(host: httpx.Client, user: str) -> None:
    path, body = "/api/v1/sessions/monday/messages", {"user_id": user, "messages": TOOL_ITEMS[:1]}
    answer = host.post(path, json=body, headers={"Idempotency-Key": "append"})
    assert answer.status_code == 201
    assert answer.json().keys() == {"memory_ids", "degraded"}
    assert host.post(path, json=body, headers={"Idempotency-Key": "append"}).json() == answer.json()
    formed = host.post(path, json={**body, "form": True})
    assert host.get(formed.headers["location"]).json()["task_id"] == formed.json()["task_id"]
    assert len(host.get(path, params={"user_id": user}).json()["messages"]) == 2


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"messages": []}, "messages"),
        ({"messages": [{}]}, "messages.0"),
        ({"messages": ["hi"]}, "messages.0"),
        ({"messages": [{"role": "moderator", "content": "hi"}]}, "messages.0.role"),
        ({"messages": [{"role": "user", "content": "x" * 262_144}]}, "messages.0"),
        (
            {"messages": [{"role": "user", "content": "hi", "timestamp": "yesterday"}]},
            "messages.0.timestamp",
        ),
        ({"messages": [{"role": "user", "content": "hi"}], "session_id": "s"}, "session_id"),
    ],
)
def test_what_can_not_be_appended_is_named(
    host: httpx.Client, user: str, body: dict[str, Any], field: str
) -> None:
    problem(
        host.post("/api/v1/sessions/monday/messages", json={"user_id": user, **body}), 422, field
    )
    problem(host.get("/api/v1/sessions/monday/messages", params={"user_id": user}), 404)


# A framework's store.


@pytest.fixture
def store(service: MemoryCore, user: str) -> MemoryCoreStore:
    return MemoryCoreStore(service.user(user))


def test_a_store_puts_gets_and_deletes(store: MemoryCoreStore) -> None:
    def values(*names: str) -> list[Any]:
        return [
            None if item is None else item.value
            for item in store.batch([GetOp(space, name) for name in names])
        ]

    space = ("users", "42")
    value = {"text": "prefers tea to coffee", "count": 3, "nested": {"list": [1, None]}}
    store.put(space, "a", value)
    store.put(space, "b", {"text": "x" * 100_000})
    assert values("b", "none", "a") == [{"text": "x" * 100_000}, None, value]
    assert store.get(("users", "43"), "a") is None
    store.put(space, "a", {"text": "prefers coffee"})
    store.delete(space, "b")
    store.delete(space, "b")
    assert values("a", "b") == [{"text": "prefers coffee"}, None]
    store.put(space, "b", {"text": "again"})
    assert values("b") == [{"text": "again"}]


def test_a_store_searches_by_prefix_filter_and_words(store: MemoryCoreStore) -> None:
    for number in range(12):
        kind, owner = ("drink", "42") if number % 2 else ("food", "43")
        store.put(
            ("users", owner, kind),
            str(number),
            {"text": f"item about tea number {number}", "score": number, "kind": kind},
        )
    store.put(("users", "4"), "kept apart", {"text": "item about tea", "score": 99}, index=False)
    assert [(item.namespace, item.key) for item in store.search(("users", "42"), limit=3)] == [
        (("users", "42", "drink"), name) for name in ("11", "9", "7")
    ]
    high = store.search(("users",), filter={"score": {"$gte": 9, "$lt": 2**70}}, limit=100)
    assert {item.key for item in high} == {"9", "10", "11", "kept apart"}
    assert store.search(("users", "43"), filter={"kind": "drink"}) == []
    assert store.search(("users",), filter={"score": {"$lt": float("nan")}}) == []
    items = store.search(
        ("users",), query="item about tea", filter={"score": {"$gte": 4}}, limit=50
    )
    assert sorted(item.key for item in items) == sorted(map(str, range(4, 12)))
    assert {item.namespace for item in store.search(("users", "42"), query="tea")} == {
        ("users", "42", "drink")
    }
    assert store.list_namespaces() == [
        ("users", "4"),
        ("users", "42", "drink"),
        ("users", "43", "food"),
    ]
    assert store.list_namespaces(prefix=("users", "42")) == [("users", "42", "drink")]


def test_a_search_goes_on_page_by_page_and_shows_each_result_once(
    host: httpx.Client, user: str
) -> None:
    items = [{"content": f"the green parrot says sentence {number}"} for number in range(60)]
    host.post("/api/v1/memories/bulk", json={"user_id": user, "memories": items})
    asked = {
        "user_id": user,
        "query": "green parrot",
        "limit": 7,
        "answer_threshold": 0,
        "similarity_threshold": 0,
    }
    seen: list[str] = []
    ranks: list[int] = []
    cursor = None
    for _ in range(20):
        page = host.post(
            "/api/v1/memories/retrieve", json={**asked, **({"cursor": cursor} if cursor else {})}
        ).json()
        seen += [result["memory"]["id"] for result in page["results"]]
        ranks += [result["rank"] for result in page["results"]]
        if (cursor := page["next_cursor"]) is None:
            break
    assert len(seen) == len(set(seen)) == 60
    assert ranks == [*range(1, 61)]
    first = host.post("/api/v1/memories/retrieve", json=asked).json()["next_cursor"]
    problem(
        host.post("/api/v1/memories/retrieve", json={**asked, "query": "another", "cursor": first}),
        400,
        "cursor",
    )
    problem(
        host.post(
            "/api/v1/memories/retrieve", json={**asked, "user_id": f"{user}-2", "cursor": first}
        ),
        400,
        "cursor",
    )
    problem(
        host.post(
            "/api/v1/memories/retrieve", json={**asked, "mode": "reconstruct", "cursor": first}
        ),
        422,
        "cursor",
    )


# Many at once, all or nothing.


def test_a_bulk_is_all_or_nothing_where_that_is_asked_for(host: httpx.Client, user: str) -> None:
    path, fine = "/api/v1/memories/bulk", {"content": "fine"}
    problem(
        host.post(
            path, json={"user_id": user, "atomic": True, "memories": [fine, {"content": ""}]}
        ),
        422,
        "memories.1.content",
    )
    problem(
        host.post(
            path,
            json={
                "user_id": user,
                "atomic": True,
                "memories": [{"content": str(n)} for n in range(60)],
            },
        ),
        413,
    )
    assert host.get("/api/v1/memories", params={"user_id": user}).json()["memories"] == []
    answer = host.post(path, json={"user_id": user, "atomic": True, "memories": [fine] * 3})
    assert [result["outcome"] for result in answer.json()["results"]] == ["created"] * 3
    assert len({result["memory"]["id"] for result in answer.json()["results"]}) == 3


def test_many_are_read_and_deleted_by_one_call_each(host: httpx.Client, user: str) -> None:
    ids = [save(host, user, f"memory {number}")["id"] for number in range(3)]
    answer = host.post(
        "/api/v1/memories/get", json={"user_id": user, "ids": [ids[2], "mem_none", ids[0]]}
    ).json()
    assert [memory["id"] for memory in answer["memories"]] == [ids[2], ids[0]]
    assert answer["missing"] == ["mem_none"]
    deleted = host.post(
        "/api/v1/memories/delete", json={"user_id": user, "ids": [*ids[:2], "mem_none"]}
    )
    assert deleted.status_code == 207
    assert [result["status"] for result in deleted.json()["results"]] == [200, 200, 404]
    assert deleted.json()["results"][0] == {"id": ids[0], "status": 200, "outcome": "deleted"}
    assert [
        memory["id"]
        for memory in host.get("/api/v1/memories", params={"user_id": user}).json()["memories"]
    ] == [ids[2]]
    problem(host.post("/api/v1/memories/get", json={"user_id": user}), 422, "ids")
    problem(
        host.post(
            "/api/v1/memories/get", json={"user_id": user, "ids": [f"m{n}" for n in range(101)]}
        ),
        422,
        "ids",
    )


# Views.


def test_a_save_answers_in_600_bytes_and_a_search_of_ten_in_6_kilobytes_beside_the_texts(
    host: httpx.Client, user: str
) -> None:
    for number in range(12):
        content = f"Ana moved to Lisbon in May and told her sister about street number {number}"
        body = {"user_id": user, "content": content, "session_id": "s1", "actor": "ana"}
        answer = host.post("/api/v1/memories/save", json=body)
        assert len(answer.content) <= 600
    response = host.post(
        "/api/v1/memories/retrieve",
        json={"user_id": user, "query": "Where did Ana move to in May?"},
    )
    results = response.json()["results"]
    assert len(results) == 10
    texts = sum(len(result["memory"]["content"].encode()) for result in results)
    texts += sum(
        len(passage["text"].encode())
        for result in results
        for passage in result.get("passages", ())
    )
    assert len(response.content) - texts <= 6_000


def test_a_save_does_not_send_a_long_value_back(host: httpx.Client, user: str) -> None:
    item = {"type": "procedural", "key": "k", "value": {"text": "x" * 250_000}}
    answer = host.post("/api/v1/memories/save", json={"user_id": user, **item})
    assert len(answer.content) <= 600
    assert answer.json()["memory"]["key"] == "k"
    both = {"user_id": user, "memories": [item, {**item, "key": "short", "value": {"a": 1}}]}
    results = host.post("/api/v1/memories/bulk", json=both).json()["results"]
    assert ["value" in result["memory"] for result in results] == [False, True]
    whole = host.post(
        "/api/v1/memories/save", json={"user_id": user, "view": "full", **item}
    ).json()["memory"]
    assert whole["value"] == item["value"]
    assert (
        host.get("/api/v1/procedures/k", params={"user_id": user}).json()["value"] == item["value"]
    )


def test_a_result_names_no_successor_that_is_kept_apart(host: httpx.Client, user: str) -> None:
    slot = {"type": "semantic", "subject": "ana", "attribute": "city"}
    save(host, user, "Ana lives in Oslo", valid_from="2026-01-01T00:00:00Z", **slot)
    apart = save(
        host, user, "Ana lives in Bern", valid_from="2026-06-01T00:00:00Z", searchable=False, **slot
    )["id"]
    asked = {
        "user_id": user,
        "query": "Where does Ana live?",
        "at": "2026-02-01T00:00:00Z",
        "answer_threshold": 0,
        "view": "full",
    }
    results = host.post("/api/v1/memories/retrieve", json=asked).json()["results"]
    assert [result["memory"]["content"] for result in results] == ["Ana lives in Oslo"]
    assert results[0]["memory"]["next_id"] is None
    listed = memories(host, user, at="2026-02-01T00:00:00Z", status="all")
    assert apart in [memory["next_id"] for memory in listed], (
        "a list has it, as it has what is kept apart"
    )


def test_views_show_what_was_asked_for(host: httpx.Client, user: str) -> None:
    body = {
        "user_id": user,
        "content": "Ana moved to Lisbon",
        "tags": ["move"],
        "metadata": {"a": {"b": 1}},
        "confidence": 0.5,
    }
    brief = host.post("/api/v1/memories/save", json=body).json()["memory"]
    assert brief.keys() == {
        "id",
        "type",
        "content",
        "event_timestamp",
        "status",
        "tags",
        "metadata",
        "confidence",
    }
    whole = host.get(f"/api/v1/memories/{brief['id']}", params={"user_id": user}).json()
    assert brief.items() <= whole.items()
    listed = "/api/v1/memories"
    assert host.get(listed, params={"user_id": user}).json()["memories"] == [brief]
    assert host.get(listed, params={"user_id": user, "view": "full"}).json()["memories"] == [whole]
    assert host.get(listed, params={"user_id": user, "fields": "content, version"}).json()[
        "memories"
    ] == [{"id": brief["id"], "content": brief["content"], "version": 1}]
    for view, memory in (("brief", brief), ("full", whole)):
        asked = {"user_id": user, "query": "Lisbon", "view": view}
        (result,) = host.post("/api/v1/memories/retrieve", json=asked).json()["results"]
        assert result["memory"] == memory
        (queried,) = host.get("/api/v1/memories/query", params=asked).json()["results"]
        assert (queried["memory"], queried.keys()) == (memory, result.keys())
        assert host.post(
            "/api/v1/memories/get", json={"user_id": user, "ids": [brief["id"]], "view": view}
        ).json()["memories"] == [memory]
    problem(
        host.get(listed, params={"user_id": user, "fields": "content,embedding"}), 422, "fields"
    )
    problem(host.get(listed, params={"user_id": user, "fields": "zork"}), 422, "fields")
    problem(host.post("/api/v1/memories/save", json={**body, "view": "long"}), 422, "view")


def test_a_list_is_filtered_by_metadata_and_in_the_order_that_is_asked_for(
    host: httpx.Client, user: str
) -> None:
    for number in range(4):
        save(host, user, f"number {number}", metadata={"n": number})
    asked = {
        "user_id": user,
        "metadata": '{"n": {"gte": 1}}',
        "order": "asc",
        "limit": "2",
        "fields": "content",
    }
    page = host.get("/api/v1/memories", params=asked).json()
    assert [memory["content"] for memory in page["memories"]] == ["number 1", "number 2"]
    rest = host.get("/api/v1/memories", params={**asked, "cursor": page["next_cursor"]}).json()
    assert [memory["content"] for memory in rest["memories"]] == ["number 3"]
    problem(host.get("/api/v1/memories", params={**asked, "metadata": "n=1"}), 422, "metadata")
    problem(
        host.get("/api/v1/memories", params={**asked, "metadata": '{"a]": 1}'}), 422, "metadata"
    )


def test_who_deletes_with_an_old_etag_is_told(host: httpx.Client, user: str) -> None:
    saved = host.post("/api/v1/memories/save", json={"user_id": user, "content": "one"})
    path = f"/api/v1/memories/{saved.json()['memory']['id']}"
    problem(host.delete(path, params={"user_id": user}, headers={"If-Match": '"ep_0.9"'}), 412)
    assert (
        host.delete(
            path, params={"user_id": user}, headers={"If-Match": saved.headers["etag"]}
        ).status_code
        == 200
    )
