"""LangGraph's store and nodes on a real development host; `python -m bench.frameworks` runs
LangGraph's own suites.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.store.base import GetOp, InvalidNamespaceError, PutOp, SearchOp

from memory_core_client import Invalid, MemoryCore
from memory_core_client.langgraph import MemoryCoreStore, MemoryNodes, MemoryState


@pytest.fixture(scope="module")
def url(host: httpx.Client) -> str:
    return str(host.base_url)


@pytest.fixture(scope="module")
def service(url: str) -> Iterator[MemoryCore]:
    with MemoryCore(url) as made:
        yield made


@pytest.fixture
def store(service: MemoryCore) -> MemoryCoreStore:
    return MemoryCoreStore(service.user(uuid.uuid4().hex))


def keys(items: list[Any]) -> list[str]:
    return sorted(item.key for item in items)


def test_items_are_put_read_replaced_and_taken_out(store: MemoryCoreStore) -> None:
    value = {
        "name": "tea",
        "cups": 2,
        "hot": True,
        "from": {"country": "Japan"},
        "notes": ["green", 1.5, None],
    }
    store.put(("users", "ana"), "drink", value)
    item = store.get(("users", "ana"), "drink")
    assert item is not None
    assert (item.value, item.key, item.namespace) == (value, "drink", ("users", "ana"))
    store.put(("users", "ana"), "drink", {"name": "coffee"})
    again = store.get(("users", "ana"), "drink")
    assert again is not None
    assert (again.value, again.created_at) == ({"name": "coffee"}, item.created_at)
    assert again.updated_at > item.updated_at
    assert store.get(("users", "bo"), "drink") is None
    store.delete(("users", "ana"), "drink")
    assert store.get(("users", "ana"), "drink") is None


def test_a_search_ranks_filters_and_skips(store: MemoryCoreStore) -> None:
    for number, text in enumerate(
        ["green tea from Japan", "black tea from India", "coffee from Peru"]
    ):
        store.put(
            ("drinks",),
            f"d{number}",
            {"text": text, "price": number, "by": {"kind": "tea" if "tea" in text else "bean"}},
        )
    assert [item.key for item in store.search(("drinks",), query="coffee from Peru", limit=1)] == [
        "d2"
    ]
    assert keys(store.search(("drinks",), filter={"price": {"$gte": 1, "$lt": 5}})) == ["d1", "d2"]
    assert keys(store.search(("drinks",), query="tea", filter={"by": {"kind": "tea"}})) == [
        "d0",
        "d1",
    ]
    first, second = store.search(("drinks",), limit=2), store.search(("drinks",), limit=2, offset=2)
    assert keys([*first, *second]) == ["d0", "d1", "d2"]
    assert store.search(("drink",)) == []


def test_what_is_not_indexed_is_listed_and_not_found_by_a_query(store: MemoryCoreStore) -> None:
    store.put(("a",), "hidden", {"text": "the safe is behind the mirror"}, index=False)
    store.put(("a",), "title", {"title": "mirror", "text": "safe"}, index=["title"])
    assert keys(store.search(("a",), query="safe mirror")) == ["title"]
    assert keys(store.search(("a",))) == ["hidden", "title"]


def test_messages_are_of_the_moment_that_they_bring(service: MemoryCore) -> None:
    nodes, user = MemoryNodes(service), uuid.uuid4().hex
    times = ["2026-03-02T09:00:00+01:00", "yesterday", "2026-03-02T09:00:00"]
    before = datetime.now(UTC)
    stored = []
    for time in times:
        errand = HumanMessage("I fetched the parcel.", additional_kwargs={"timestamp": time})
        nodes.remember(
            {"messages": [errand]}, {"configurable": {"user_id": user, "thread_id": time}}
        )
        stored += [message.timestamp for message in service.user(user).messages(time)]
    assert stored[0] == datetime(2026, 3, 2, 8, tzinfo=UTC)
    assert all(moment is not None and moment >= before for moment in stored[1:])


def test_namespaces_are_listed_by_prefix_suffix_and_depth(store: MemoryCoreStore) -> None:
    for namespace in [("a", "b", "c"), ("a", "bc"), ("a", "b", "d", "c"), ("x", "c")]:
        store.put(namespace, "k", {"v": 1})
    assert store.list_namespaces(prefix=("a", "b")) == [("a", "b", "c"), ("a", "b", "d", "c")]
    assert store.list_namespaces(suffix=("c",), max_depth=2) == [("a", "b"), ("x", "c")]
    assert store.list_namespaces(prefix=("*", "c")) == [("x", "c")]
    assert store.list_namespaces(limit=2, offset=1) == [("a", "b", "d", "c"), ("a", "bc")]


async def test_a_batch_is_done_in_order_and_a_wrong_name_stops_all_of_it(
    store: MemoryCoreStore,
) -> None:
    values = [PutOp(("n",), f"k{number}", {"v": number}) for number in range(120)]
    results = await store.abatch(
        [
            *values,
            GetOp(("n",), "k119"),
            SearchOp(("n",), filter={"v": 7}),
            PutOp(("n",), "k7", None),
            GetOp(("n",), "k7"),
        ]
    )
    assert results[:120] == [None] * 120
    assert results[120].value == {"v": 119}  # type: ignore[union-attr]
    assert keys(results[121]) == ["k7"]  # type: ignore[arg-type]
    assert results[123] is None
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("n",), "new", {"v": 1}), GetOp(("a.b",), "k")])
    assert await store.aget(("n",), "new") is None


def test_what_can_not_be_stored_or_filtered_by_says_so(store: MemoryCoreStore) -> None:
    with pytest.raises(ValueError, match="value"):
        store.put(("n",), "large", {"text": "a" * 300_000})
    with pytest.raises(ValueError, match="Invalid filter key"):
        store.search(("n",), filter={"a'b": 1})
    with pytest.raises(Invalid):
        store.search(("n",), filter={"text": "a" * 501})
    narrow = MemoryCoreStore(store._user, filtered=["kind"])
    narrow.put(("n",), "wide", {"kind": "x", **{f"f{number}": "a" * 400 for number in range(40)}})
    assert keys(narrow.search(("n",), filter={"kind": "x"})) == ["wide"]


def test_the_nodes_recall_in_a_new_thread_what_was_said_in_another_with_two_calls_a_turn(
    url: str,
) -> None:
    seen: list[str] = []
    sent: list[str] = []
    http = httpx.Client(
        base_url=url, event_hooks={"request": [lambda asked: sent.append(asked.url.path)]}
    )

    def answer(state: MemoryState) -> dict[str, Any]:
        seen.append(state["context"])
        return {"messages": [AIMessage("Fine.")]}

    with http:
        nodes = MemoryNodes(MemoryCore(url, http=http))
        steps = [("recall", nodes.recall), ("answer", answer), ("remember", nodes.remember)]
        graph = (
            StateGraph(MemoryState)
            .add_sequence(steps)
            .add_edge(START, "recall")
            .compile(checkpointer=InMemorySaver())
        )
        user = uuid.uuid4().hex
        for thread, text in [
            ("monday", "I am allergic to peanuts."),
            ("tuesday", "What am I allergic to?"),
        ]:
            graph.invoke(
                {"messages": [HumanMessage(text)]},
                {"configurable": {"thread_id": thread, "user_id": user}},
            )
    assert "peanuts" not in seen[0]
    assert "I am allergic to peanuts." in seen[1]
    assert sent == ["/api/v1/context", "/api/v1/memories"] * 2


async def test_a_store_may_be_used_from_several_loops_at_once(store: MemoryCoreStore) -> None:
    await asyncio.gather(
        *(
            asyncio.to_thread(asyncio.run, store.aput(("n",), f"k{number}", {"v": number}))
            for number in range(8)
        )
    )
    assert len(await store.asearch(("n",))) == 8


def test_the_longest_namespace_that_the_docs_allow_is_kept_and_listed(
    store: MemoryCoreStore,
) -> None:
    for namespace in [("n" * 190,), tuple(f"l{number:02}" for number in range(48))]:
        store.put(namespace, "k", {"v": 1})
        assert [item.namespace for item in store.search(namespace)] == [namespace]
        assert namespace in store.list_namespaces()


def test_a_deep_value_is_stored_in_no_time(store: MemoryCoreStore) -> None:
    value: dict[str, Any] = {"n": 1}
    for _ in range(24):
        value = {"a": value}
    store.put(("deep",), "k", value)
    item = store.get(("deep",), "k")
    assert item is not None
    assert item.value == value


def test_a_batch_and_a_query_may_be_longer_than_a_call_takes(store: MemoryCoreStore) -> None:
    store.batch(
        [
            PutOp(("files",), str(n), {"text": "tea " * 50_000, "n": n}, index=["n"])
            for n in range(6)
        ]
    )
    assert [
        item and item.value["n"]
        for item in store.batch([GetOp(("files",), str(n)) for n in range(6)])
    ] == [*range(6)]
    assert len(store.search(("files",), query="what is it about tea? " * 1000)) == 6
    assert len(store.search(("files",), query=" ")) == 6


def test_a_message_that_the_service_refuses_does_not_end_a_thread(url: str) -> None:
    with MemoryCore(url) as service:
        nodes = MemoryNodes(service)
        steps = [
            ("recall", nodes.recall),
            ("answer", lambda _: {"messages": [AIMessage("")]}),
            ("remember", nodes.remember),
        ]
        graph = (
            StateGraph(MemoryState)
            .add_sequence(steps)
            .add_edge(START, "recall")
            .compile(checkpointer=InMemorySaver())
        )
        config: Any = {"configurable": {"thread_id": 7, "user_id": uuid.uuid4().hex}}
        picture: Any = [
            {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 1_500_000}}
        ]
        for content in ("a\0b", "long " * 20_000, "", picture, "I keep bees."):
            graph.invoke({"messages": [HumanMessage(content)]}, config)
        config = {"configurable": {**config["configurable"], "thread_id": "other"}}
        state = graph.invoke({"messages": [HumanMessage("What do I keep?")]}, config)
    assert "bees" in state["context"]
