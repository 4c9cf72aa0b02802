"""The client against a real development host, and its retries against answers that a test writes at
the edge of HTTP.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
from collections.abc import AsyncIterator, Callable
from datetime import datetime, timedelta, timezone
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest

from memory_core_client import (
    AsyncMemoryCore,
    AsyncUser,
    Conflict,
    Invalid,
    MemoryCore,
    NotFound,
    PreconditionFailed,
    Retries,
    TaskFailed,
    TooLarge,
    Unavailable,
)
from memory_core_client.retries import seconds_of
from tests.host import ROOT

AT_ONCE = Retries(most=3, first_s=0.0)
FOLDER = ROOT / "memory_core_client"


@pytest.fixture(scope="module")
def url(host: httpx.Client) -> str:
    return str(host.base_url)


@pytest.fixture
async def service(url: str) -> AsyncIterator[AsyncMemoryCore]:
    async with AsyncMemoryCore(url) as made:
        yield made


@pytest.fixture
def user(service: AsyncMemoryCore, request: pytest.FixtureRequest) -> AsyncUser:
    return service.user(request.node.name[:100])


# Calls.


async def test_a_memory_is_saved_found_changed_and_deleted(user: AsyncUser) -> None:
    saved = await user.save(
        "Ana lives in Lisbon", type="semantic", subject="Ana", attribute="city", metadata={"n": 1}
    )
    assert (saved.outcome, saved.memory.metadata) == ("created", {"n": 1})
    (result,) = (await user.retrieve("Where does Ana live?", metadata={"n": {"gte": 1}})).results
    assert result.memory.id == saved.memory.id
    read = await user.get(saved.memory.id)
    assert read.etag == saved.memory.etag
    changed = await user.update(read.id, if_match=read.etag or "", content="Ana lives in Porto")
    assert (changed.content, changed.version) == ("Ana lives in Porto", 2)
    with pytest.raises(PreconditionFailed):
        await user.update(read.id, if_match=read.etag or "", content="Ana lives in Rome")
    with pytest.raises(PreconditionFailed):
        await user.delete(read.id, if_match=read.etag)
    assert (await user.delete(read.id, if_match=changed.etag)).status == "deleted"
    assert (await user.restore(read.id)).status == "active"
    assert "Porto" in (await user.context("Where does Ana live?")).context


async def test_a_result_has_what_speaks_against_it(user: AsyncUser, url: str) -> None:
    day, texts = timedelta(days=1), ("I take warfarin every evening.", "I no longer take warfarin.")
    for ago, text in zip((2, 1), texts, strict=True):
        message = {
            "role": "user",
            "content": text,
            "timestamp": datetime.now(timezone.utc) - ago * day,
        }
        await user.wait_for_task((await user.tell([message], f"{ago} days ago")).task_id)
    results = (await user.retrieve("Do I take warfarin every evening?")).results
    marks = [by for result in results for by in result.replaced_by]
    assert {(by.replaced, by.text) for by in marks} == {texts}
    assert {(await user.get(by.memory_id)).content for by in marks} == {texts[1]}
    cello, harp = [
        await user.save(text, type="semantic", subject="user", attribute="instrument")
        for text in ("I play the cello", "I play the harp")
    ]
    assert harp.conflict is not None
    undo = f"{url}/api/v1/conflicts/{harp.conflict['id']}/undo"
    async with httpx.AsyncClient() as client:
        (await client.post(undo, json={"user_id": user.user_id})).raise_for_status()
    (result,) = (await user.retrieve("I play the harp", limit=1)).results
    assert [(other.memory_id, other.text, other.at) for other in result.disputed_by] == [
        (cello.memory.id, cello.memory.content, cello.memory.event_timestamp)
    ]


async def test_moments_are_taken_as_they_are_given_back(user: AsyncUser) -> None:
    moment = datetime(2026, 3, 2, 18, tzinfo=timezone(timedelta(hours=2)))
    saved = await user.save("Ana met Ben", event_timestamp=moment, metadata={"seen": [moment]})
    assert saved.memory.event_timestamp == moment
    (memory,) = [memory async for memory in user.memories(since=saved.memory.event_timestamp)]
    assert memory.metadata == {"seen": ["2026-03-02T18:00:00+02:00"]}
    await user.tell([{"role": "user", "content": "hi", "timestamp": moment}], "s")
    assert [message.timestamp async for message in user.messages("s")] == [moment]
    with pytest.raises(Invalid, match="time zone"):
        await user.save("Ana met Ben", event_timestamp=moment.replace(tzinfo=None))
    with pytest.raises(TypeError):
        await user.save("Ana met Ben", metadata={"a": {1}})


async def test_many_are_saved_read_and_deleted(user: AsyncUser) -> None:
    results = await user.save_many(
        [{"type": "procedural", "key": f"style/{n} ä", "value": {"n": n}} for n in range(3)],
        atomic=True,
    )
    assert [result.outcome for result in results if result.ok] == ["created"] * 3
    fetched = await user.get_many(keys=["style/2 ä", "none"])
    assert ([memory.value for memory in fetched.memories], fetched.missing) == (
        [{"n": 2}],
        ["none"],
    )
    assert (await user.procedure("style/2 ä")).value == {"n": 2}
    deleted = await user.delete_many(keys=["style/2 ä", "none"])
    assert [(result.ok, result.status) for result in deleted] == [(True, 200), (False, 404)]
    with pytest.raises(TooLarge):
        await user.save_many([{"content": str(n)} for n in range(60)], atomic=True)


async def test_lists_results_and_tags_are_walked_to_their_end(user: AsyncUser) -> None:
    for start in (0, 100):
        items = [
            {"content": f"the green parrot says {n}", "tags": [f"t{n:03}"], "metadata": {"n": n}}
            for n in range(start, start + 75)
        ]
        await user.save_many(items)
    listed = [
        memory.metadata["n"]
        async for memory in user.memories(order="asc", metadata={"n": {"gte": 60}})
    ]
    assert listed == [*range(60, 75), *range(100, 175)]
    assert len([tag async for tag in user.tags("t1")]) == 75
    results = [
        result
        async for result in user.results(
            "green parrot", limit=40, answer_threshold=0, similarity_threshold=0
        )
    ]
    assert len({result.memory.id for result in results}) == len(results) == 150
    assert [result.rank for result in results] == [*range(1, 151)]


async def test_a_conversation_is_told_and_waited_for(user: AsyncUser) -> None:
    accepted = await user.tell(
        [{"role": "user", "content": "I am allergic to peanuts."}], session_id="monday"
    )
    assert accepted.messages == {"new": 1, "known": 0}
    task = await user.wait_for_task(accepted.task_id)
    assert (task.status, task.finished) == ("succeeded", True)
    assert "peanuts" in (await user.context("What am I allergic to?")).context
    with pytest.raises(NotFound):
        await user.wait_for_task("tsk_none")


async def test_a_session_is_appended_to_read_and_popped(user: AsyncUser) -> None:
    items: list[dict[str, Any]] = [{"role": "user", "content": f"number {n}"} for n in range(120)]
    items.append({"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"})
    await user.append("s 1", items)
    assert [message.item async for message in user.messages("s 1")] == items
    assert [message.item for message in await user.take_back("s 1", 2)] == items[-2:]
    assert await user.clear("s 1") > 0
    assert [message async for message in user.messages("s 1")] == []


async def test_memories_are_forgotten_softly_and_for_good(user: AsyncUser) -> None:
    bees, kites = [
        (await user.save(text, type="semantic", tags=[tag])).memory
        for text, tag in (("Ana keeps bees", "bees"), ("Ana flies kites", "kites"))
    ]
    foreseen = await user.forget(ids=[bees.id, "mem_none"], mode="hard", dry_run=True)
    assert (foreseen.counts["forgotten"], foreseen.not_found) == (1, ["mem_none"])
    assert (await user.forget(tags=["kites"])).counts["forgotten"] == 1
    assert (await user.restore(kites.id)).status == "active"
    assert (await user.forget(ids=[bees.id], mode="hard")).counts["forgotten"] == 1
    with pytest.raises(NotFound):
        await user.restore(bees.id)
    assert [memory.id async for memory in user.memories()] == [kites.id]
    with pytest.raises(Invalid, match="says nothing"):
        await user.forget()


async def test_a_user_moves_to_another_service_and_is_erased_here(
    service: AsyncMemoryCore, user: AsyncUser
) -> None:
    bees = (await user.save("Ana keeps bees", type="semantic")).memory
    export = b"".join([part async for part in user.export()])
    new = service.user(f"{user.user_id}-moved")
    with pytest.raises(TaskFailed, match="line 1"):
        await new.import_file(BytesIO(b"{}\n"))
    with pytest.raises(Invalid):  # an empty file: the next import does not find it in the way
        await new.import_file(BytesIO())
    assert (await new.import_file(BytesIO(export))).counts["memory"] == 1
    assert (await new.get(bees.id)).content == "Ana keeps bees"
    with pytest.raises(Conflict):
        await new.import_file(BytesIO(export))
    talk = {"messages": [{"role": "user", "content": "I fly kites."}], "session_id": "monday"}
    brought = await new.import_file(BytesIO(json.dumps(talk).encode()), of="conversations")
    assert (brought.conversations, brought.messages) == (1, {"new": 1, "known": 0})

    with pytest.raises(TimeoutError):  # this host waits for its last worker
        await user.erase(timeout_s=0.0)
    assert [memory async for memory in user.memories(status="all")] == []
    with pytest.raises(Conflict, match="being erased"):  # and is not sent again after it
        await user.save("Ana keeps bees")


async def test_an_erasure_that_has_ended_gives_its_receipt() -> None:
    result = {
        "user": "0c9e6a",
        "counts": {"memory": 812},
        "began_at": "2026-05-08T13:56:00Z",
        "erased_at": "2026-05-08T14:06:01Z",
        "remains": ["the head of nobody"],
    }
    task = {"task_id": "tsk_1", "kind": "erase", "status": "succeeded", "result": result}
    asked: list[tuple[str, str]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append((request.method, request.url.raw_path.decode().partition("?")[0]))
        return httpx.Response(200, json=task)

    receipt = await answering(answer).user("ana b").erase()
    assert (receipt.counts, receipt.remains) == (result["counts"], result["remains"])
    assert receipt.erased_at - receipt.began_at == timedelta(seconds=601)
    assert asked == [("DELETE", "/api/v1/users/ana%20b"), ("GET", "/api/v1/tasks/tsk_1")]


async def test_what_is_refused_is_an_error_with_what_the_service_said(user: AsyncUser) -> None:
    with pytest.raises(Invalid) as refused:
        await user.save("a", memory_type="semantic")
    assert refused.value.errors[0]["field"] == "memory_type"
    assert refused.value.did_you_mean == "type"
    assert refused.value.correlation_id
    await user.save("a", idempotency_key="k")
    with pytest.raises(Conflict):
        await user.save("b", idempotency_key="k")


def test_the_sync_client_does_the_same(url: str) -> None:
    with MemoryCore(url) as service:
        user = service.user("sync")
        saved = user.save("Ana lives in Lisbon", type="semantic")
        assert [memory.id for memory in user.memories()] == [saved.memory.id]
        assert [result.memory.id for result in user.results("Lisbon")] == [saved.memory.id]
        task = user.wait_for_task(
            user.tell([{"role": "user", "content": "I live in Oslo."}], session_id="s").task_id
        )
        assert task.status == "succeeded"
        assert [message.content for message in user.messages("s")] == ["I live in Oslo."]
        assert user.forget(session_id="s").counts["forgotten"] > 0
        user.save("Ana lives in Porto", type="semantic")
        assert b"Ana lives in Porto" in b"".join(user.export())
        assert service.ready()["status"] == "ready"


def test_the_sync_client_is_made_of_the_async_one() -> None:
    spec = importlib.util.spec_from_file_location("generate_sync", FOLDER / "generate_sync.py")
    assert spec is not None
    assert spec.loader is not None
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    source = FOLDER / "src" / "memory_core_client"
    made = generator.formatted(generator.sync_text((source / "async_client.py").read_text()))
    assert (source / "sync_client.py").read_text() == made


def test_it_needs_nothing_but_httpx_and_pydantic() -> None:
    text = "\n".join(path.read_text() for path in Path(FOLDER / "src").rglob("*.py"))
    assert "memory_core." not in text.replace("memory_core_client.", "")


# Retries.


Answering = Callable[[httpx.Request], httpx.Response]


def answering(answer: Answering, retries: Retries = AT_ONCE) -> AsyncMemoryCore:
    http = httpx.AsyncClient(base_url="http://memory", transport=httpx.MockTransport(answer))
    return AsyncMemoryCore("http://memory", http=http, retries=retries)


SAVED = {"outcome": "created", "memory": {"id": "mem_1"}, "conflict": None, "degraded": []}


async def test_a_call_is_sent_again_with_the_same_key_until_it_succeeds() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        if len(seen) == 1:
            return httpx.Response(503, json={"detail": "down"}, headers={"Retry-After": "0"})
        if len(seen) == 2:
            raise httpx.ReadError("cut", request=request)
        return httpx.Response(201, json=SAVED)

    assert (await answering(answer).user("ana").save("a")).memory.id == "mem_1"
    assert len(seen) == 3
    assert len({request.headers["idempotency-key"] for request in seen}) == 1
    await answering(lambda request: httpx.Response(201, json=SAVED)).user("ana").save("a")


@pytest.mark.parametrize(
    ("status", "times"), [(503, 4), (429, 4), (502, 4), (500, 1), (404, 1), (422, 1), (409, 1)]
)
async def test_only_what_may_help_is_sent_again(status: int, times: int) -> None:
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.path)
        return httpx.Response(status, json={"detail": "no"}, headers={"Retry-After": "0"})

    with pytest.raises(Exception, match="no"):
        await answering(answer).user("ana").get("mem_1")
    assert len(seen) == times


async def test_a_service_that_never_answers_is_unavailable() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    with pytest.raises(Unavailable, match="refused"):
        await answering(answer).user("ana").save("a")


async def test_a_content_type_of_the_caller_is_the_only_one() -> None:
    sent: list[list[str]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers.get_list("content-type"))
        return httpx.Response(200, json={})

    await answering(answer).request(
        "PATCH", "/v1", body={}, headers={"content-type": "application/merge-patch+json"}
    )
    assert sent == [["application/merge-patch+json"]]


@pytest.mark.parametrize("address", ["127.0.0.1:7071", "localhost", "ftp://127.0.0.1", ""])
def test_an_address_that_is_none_of_http_is_refused_at_once(address: str) -> None:
    with pytest.raises(ValueError, match="http://"):
        MemoryCore(address)


def test_the_wait_is_what_the_service_asks_for_or_grows() -> None:
    retries = Retries(first_s=1.0, longest_s=20.0)
    assert retries.wait_s(0, "7") == 7.0
    assert retries.wait_s(3, "900") == 20.0
    assert 2.0 <= retries.wait_s(2, None) <= 4.0
    assert retries.wait_s(9, None) <= 20.0
    assert seconds_of("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert seconds_of("soon") is None


async def test_an_answer_that_gets_lost_leaves_one_memory(url: str) -> None:
    """The transport delivers the request and loses the first answer."""

    class Losing(httpx.AsyncHTTPTransport):
        lost = False

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            answer = await super().handle_async_request(request)
            if not self.lost:
                self.lost = True
                await answer.aread()
                raise httpx.ReadError("the answer is lost", request=request)
            return answer

    async with httpx.AsyncClient(base_url=url, transport=Losing()) as http:
        user = AsyncMemoryCore(url, http=http, retries=AT_ONCE).user("lossy")
        await user.append("s", [{"role": "user", "content": "hi"}])
        await user.save("one")
        assert [message.content async for message in user.messages("s")] == ["hi"]
        assert len([memory async for memory in user.memories()]) == 2


async def test_a_task_that_fails_and_one_that_takes_too_long_are_told() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        failed = request.url.path.endswith("bad")
        task = {
            "task_id": "t",
            "kind": "converse",
            "status": "poisoned" if failed else "running",
            "error": "RuntimeError",
        }
        return httpx.Response(200, json=task)

    user = answering(answer).user("ana")
    with pytest.raises(TaskFailed, match="poisoned: RuntimeError"):
        await user.wait_for_task("bad")
    with pytest.raises(TimeoutError):
        await user.wait_for_task("slow", timeout_s=0.05)


async def test_many_calls_at_once_share_a_connection_pool(user: AsyncUser) -> None:
    saved = await asyncio.gather(*(user.save(f"memory {n}") for n in range(30)))
    assert len({result.memory.id for result in saved}) == 30


# What a model may send as arguments.


@pytest.mark.parametrize(
    "name",
    ["../users/someone", "../sessions/s/messages/last", "a/b", "%2e%2e", "x?user_id=other", "x#y"],
)
async def test_an_id_is_one_step_of_a_path_whatever_is_in_it(
    service: AsyncMemoryCore, name: str
) -> None:
    user = service.user("someone")
    result = await user.save("It stays", type="semantic")
    for call in (user.get, user.delete, user.restore, user.task, user.procedure):
        with pytest.raises((NotFound, Invalid)):
            await call(name)
    with pytest.raises((NotFound, Invalid)):
        await user.update(name, content="changed")
    assert (await user.get(result.memory.id)).content == "It stays"


@pytest.mark.parametrize("name", ["", ".", ".."])
async def test_an_id_that_is_no_step_of_a_path_is_refused_before_it_is_sent(
    user: AsyncUser, name: str
) -> None:
    for call in (user.get, user.delete, user.task, user.procedure):
        with pytest.raises(ValueError, match="empty"):
            await call(name)


@pytest.mark.parametrize("field", ["user_id", "app_id"])
async def test_no_argument_names_another_user(
    service: AsyncMemoryCore, user: AsyncUser, field: str
) -> None:
    await service.user("somebody else").save("The vault's code is 4711", type="semantic")
    other: dict[str, Any] = {field: "somebody else"}
    calls = (
        lambda: user.retrieve("vault code", **other),
        lambda: user.context("vault code", **other),
        lambda: user.save("a", type="semantic", **other),
        lambda: user.tell([{"role": "user", "content": "a"}], **other),
        lambda: user.append("s", [{"role": "user", "content": "a"}], **other),
        lambda: user.update("mem_1", content="a", **other),
        lambda: user.get("mem_1", **other),
        lambda: user.forget(**other),
    )
    for call in calls:
        with pytest.raises(TypeError, match="user_id"):
            await call()
    with pytest.raises(TypeError, match="user_id"):
        _ = [memory async for memory in user.memories(**other)]
