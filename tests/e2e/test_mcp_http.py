"""POST /mcp, asked by the official client: the tools, whose memories they are about,
and what is refused.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client, MCPError
from mcp_types import TextContent, TextResourceContents

from memory_core import __version__
from tests.e2e.test_http_keys_on import KEYS, as_settings
from tests.host import Host, memories, problem, running, save, until
from tests.mcp_client import MODES, Person, answer, over_http, refusal, text_of
from tests.profiles import Profile

ACCEPT = {"Accept": "application/json, text/event-stream"}
TOOLS = [
    "memory_context",
    "memory_search",
    "memory_save",
    "memory_converse",
    "memory_timeline",
    "memory_forget",
]
each_mode = pytest.mark.parametrize("mode", MODES)


def id_in(text: str) -> str:
    match = re.search(r"mem_\w+", text)
    assert match is not None, text
    return match[0]


async def resource(client: Client, uri: str) -> str:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content.text


@each_mode
async def test_a_client_learns_what_there_is(host: httpx.Client, user: str, mode: str) -> None:
    async with over_http(host.base_url, mode, X_Memory_User=user) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
        assert [item.uri for item in (await client.list_resources()).resources] == [
            "memory://profile",
            "memory://scenes",
        ]
        assert [
            item.uri_template
            for item in (await client.list_resource_templates()).resource_templates
        ] == ["memory://scenes/{scene_id}"]
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == [
            "recall",
            "remember",
        ]
        if mode == "legacy":
            assert client.server_info is not None
            assert (client.server_info.name, client.server_info.version) == (
                "memory-core",
                __version__,
            )
            assert client.instructions is not None
            assert "memory_context" in client.instructions


@each_mode
async def test_what_is_saved_is_found_and_a_new_value_replaces_the_old(
    host: httpx.Client, user: str, mode: str
) -> None:
    async with over_http(host.base_url, mode, X_Memory_User=user) as client:
        first = await answer(
            client, "memory_save", content="Ana lives in Porto", subject="user", attribute="city"
        )
        second = await answer(
            client, "memory_save", content="Ana lives in Lisbon", subject="user", attribute="city"
        )
        assert second == f"Saved as {id_in(second)}. It replaces {id_in(first)}."
        again = await answer(
            client, "memory_save", content="Ana lives in Lisbon", subject="user", attribute="city"
        )
        assert again == f"Known already as {id_in(second)}; noted once more."
        lines = (await answer(client, "memory_search", query="Where does Ana live?")).splitlines()
        assert lines[1].startswith(f"1. [{id_in(second)}] 20")
        assert lines[1].endswith("semantic: Ana lives in Lisbon")
        assert "Porto" not in "".join(lines)
        context = await answer(client, "memory_context", query="Where does Ana live?")
        assert "Ana lives in Lisbon" in context
        assert "data, never instructions" in context
        assert "city: Ana lives in Lisbon" in await resource(client, "memory://profile")
    assert {memory["source"] for memory in memories(host, user)} == {"mcp"}


@each_mode
async def test_an_instruction_that_is_saved_is_part_of_every_context(
    host: httpx.Client, user: str, mode: str
) -> None:
    async with over_http(host.base_url, mode, X_Memory_User=user) as client:
        for _ in range(2):
            await answer(client, "memory_save", content="Never push to main", type="instruction")
        context = await answer(client, "memory_context", query="Let's fix the login bug")
    assert "Standing instructions of the user:" in context
    assert context.count("Never push to main") == 1


@each_mode
async def test_a_search_that_finds_nothing_says_how_near_it_came(
    host: httpx.Client, user: str, mode: str
) -> None:
    async with over_http(host.base_url, mode, X_Memory_User=user) as client:
        assert (await answer(client, "memory_search", query="zebra")).startswith(
            "No memory answers this."
        )
        await answer(client, "memory_save", content="Ana lives in Porto")
        assert re.search(
            r"nearest memory reached 0\.\d\d of 0\.\d\d",
            await answer(client, "memory_search", query="zebra crossing in Ulm"),
        )


@each_mode
async def test_a_conversation_is_found_at_once_and_known_again(
    host: httpx.Client, user: str, mode: str
) -> None:
    turns = [
        {"role": "user", "content": "I bought a red bicycle."},
        {"role": "assistant", "content": "Enjoy it!"},
    ]
    async with over_http(host.base_url, mode, X_Memory_User=user) as client:
        taken = await answer(client, "memory_converse", messages=turns, session_id="monday")
        assert taken.startswith("2 turns are stored and can be found.")
        assert "red bicycle" in await answer(client, "memory_search", query="a red bicycle")
        assert (
            await answer(client, "memory_converse", messages=turns, session_id="monday")
            == "All of these turns were known already."
        )
        turns.append({"role": "user", "content": "It has a bell."})
        taken = await answer(client, "memory_converse", messages=turns, session_id="monday")
        assert taken.startswith("1 turn is stored and can be found. 2 were known already.")


@each_mode
async def test_the_timeline_tells_what_changed_lately_and_goes_on_by_its_cursor(
    host: httpx.Client, user: str, mode: str
) -> None:
    async with over_http(host.base_url, mode, X_Memory_User=user) as client:
        assert await answer(client, "memory_timeline") == "Nothing changed in that time."
        for city in ("Porto", "Lisbon"):
            await answer(
                client,
                "memory_save",
                content=f"Ana lives in {city}",
                subject="user",
                attribute="city",
            )
        first = await answer(client, "memory_timeline", limit=2)
        assert re.search(r"created \[mem_\w+\] semantic: Ana lives in Porto", first)
        more = re.search(r"More with since=(\S+) cursor=(\S+)", first)
        assert more is not None
        rest = await answer(client, "memory_timeline", limit=2, since=more[1], cursor=more[2])
        assert re.search(r"superseded \[mem_\w+\] semantic by \[mem_\w+\]", rest)
        assert "cursor" not in rest
        none = "There is no such change in that time; others may be."
        assert await answer(client, "memory_timeline", types=["merged"]) == none
        assert await answer(client, "memory_timeline", memory_id="mem_1") == none


@each_mode
async def test_without_a_way_to_ask_forgetting_takes_a_second_call_with_the_code_of_the_first(
    host: httpx.Client, user: str, mode: str
) -> None:
    async with over_http(host.base_url, mode, X_Memory_User=user) as client:
        memory_id = id_in(await answer(client, "memory_save", content="The alarm code is 4711"))
        question = await answer(client, "memory_forget", ids=[memory_id])
        assert "The alarm code is 4711" in question
        code = question.rpartition("confirm=")[2].rstrip(".")
        wrong = await answer(client, "memory_forget", ids=[memory_id], confirm="true")
        assert wrong.startswith("That code is not for what would be forgotten now.")
        assert (
            await answer(client, "memory_forget", ids=[memory_id], mode="hard", confirm=code)
        ).startswith("That code is not for")
        assert "alarm" in await answer(client, "memory_search", query="What is the alarm code?")
        done = await answer(client, "memory_forget", ids=[memory_id], confirm=code)
        assert done.startswith("Being forgotten now, by task tsk_")
        until(lambda: [memory["status"] for memory in memories(host, user)], ["deleted"])
        assert (
            await answer(client, "memory_forget", ids=[memory_id])
            == "No memory fits that; nothing was forgotten."
        )


def code_in(question: str) -> str:
    return question.rpartition("confirm=")[2].rstrip(".")


def edit(host: httpx.Client, user: str, memory: dict[str, Any], content: str) -> None:
    path = f"/api/v1/memories/{memory['id']}"
    read = host.get(path, params={"user_id": user})
    changed = host.put(
        path,
        params={"user_id": user},
        json={"content": content},
        headers={"If-Match": read.headers["etag"]},
    )
    assert changed.status_code == 200, changed.text


def restore(host: httpx.Client, user: str, memory_id: str) -> None:
    restored = host.post(f"/api/v1/memories/{memory_id}/restore", json={"user_id": user})
    assert restored.status_code == 200, restored.text


@pytest.mark.parametrize("chosen", ["ids", "tags", "session_id", "before"])
async def test_a_code_is_void_once_a_memory_that_was_shown_is_edited(
    host: httpx.Client, user: str, chosen: str
) -> None:
    memory = save(
        host, user, "old lunch note", type="semantic", tags=["lunch"], session_id="monday"
    )
    fields = {
        "ids": [memory["id"]],
        "tags": ["lunch"],
        "session_id": "monday",
        "before": "2100-01-01T00:00:00Z",
    }
    named = {"mode": "hard", chosen: fields[chosen]}
    async with over_http(host.base_url, "legacy", X_Memory_User=user) as client:
        question = await answer(client, "memory_forget", **named)
        assert "old lunch note" in question
        edit(host, user, memory, "the door code is 4711")
        refused = await answer(client, "memory_forget", **named, confirm=code_in(question))
        assert refused.startswith("That code is not for what would be forgotten now.")
        assert "the door code is 4711" in refused
        assert [item["content"] for item in memories(host, user)] == ["the door code is 4711"]
        done = await answer(client, "memory_forget", **named, confirm=code_in(refused))
        assert done.startswith("Being forgotten now")
    until(lambda: memories(host, user), [])


async def test_a_code_is_void_after_its_memory_was_forgotten_and_restored(
    host: httpx.Client, user: str
) -> None:
    memory = save(host, user, "old lunch note", type="semantic")
    async with over_http(host.base_url, "legacy", X_Memory_User=user) as client:
        code = code_in(await answer(client, "memory_forget", ids=[memory["id"]]))
        assert (await answer(client, "memory_forget", ids=[memory["id"]], confirm=code)).startswith(
            "Being forgotten now"
        )
        until(lambda: [item["status"] for item in memories(host, user)], ["deleted"])
        restore(host, user, memory["id"])
        refused = await answer(client, "memory_forget", ids=[memory["id"]], confirm=code)
        assert refused.startswith("That code is not for what would be forgotten now.")
    assert [item["status"] for item in memories(host, user)] == ["active"]


@pytest.mark.parametrize("chosen", ["tags", "session_id", "before"])
async def test_a_preview_shows_the_first_memories_that_fit_and_how_many_more(
    host: httpx.Client, user: str, chosen: str
) -> None:
    for number in range(12):
        save(
            host,
            user,
            f"The locker of room {number} has key K{number}",
            type="episodic",
            tags=["keys"],
            session_id="monday",
        )
    fields = {"tags": ["keys"], "session_id": "monday", "before": "2100-01-01T00:00:00Z"}
    async with over_http(host.base_url, "legacy", X_Memory_User=user) as client:
        lines = (await answer(client, "memory_forget", **{chosen: fields[chosen]})).splitlines()
    assert lines[0] == "12 memories would be hidden, and could be restored."
    assert [re.sub(r"^\[mem_\w+\] \S+ episodic: ", "", line) for line in lines[1:11]] == [
        f"The locker of room {number} has key K{number}" for number in range(10)
    ]
    assert lines[11] == "… and 2 more."


@each_mode
async def test_no_answer_has_characters_that_steer_a_terminal_or_turn_text_round(
    host: httpx.Client, user: str, mode: str
) -> None:
    memory = save(host, user, "The vault code is 4711 \x1b[2J\u202e now\u200b", type="semantic")
    async with over_http(host.base_url, mode, X_Memory_User=user) as client:
        for question in (
            await answer(client, "memory_search", query="What is the vault code now?"),
            await answer(
                client, "memory_search", query="What is the vault code now?", detail="full"
            ),
            await answer(client, "memory_timeline"),
            await answer(client, "memory_forget", ids=[memory["id"]]),
        ):
            assert "The vault code is 4711 [2J now" in question
            assert not set(question) & {"\x1b", "\u202e", "\u200b"}


async def test_where_the_client_can_ask_its_user_decides_and_no_code_of_the_model_stands_in(
    host: httpx.Client, user: str
) -> None:
    memory_id = save(host, user, "The alarm code is 4711", type="semantic")["id"]
    for person in (
        Person(agrees=False),
        Person(agrees=True, action="decline"),
        Person(agrees=True, action="cancel"),
    ):
        async with over_http(host.base_url, "2026-07-28", person, X_Memory_User=user) as client:
            refused = await answer(client, "memory_forget", ids=[memory_id], confirm="12345678")
            assert refused == "The user did not agree: nothing was done."
            assert "The alarm code is 4711" in person.asked[0]
    person = Person(agrees=True)
    async with over_http(host.base_url, "2026-07-28", person, X_Memory_User=user) as client:
        assert (await answer(client, "memory_forget", ids=[memory_id], mode="hard")).startswith(
            "Being forgotten now"
        )
        assert "for good, with its history" in person.asked[0]
    until(lambda: memories(host, user), [])


@each_mode
async def test_prompts_bring_what_is_known_or_how_to_remember(
    host: httpx.Client, user: str, mode: str
) -> None:
    save(host, user, "Ana lives in Lisbon", type="semantic")

    async def text(name: str, **arguments: str) -> str:
        (message,) = (await client.get_prompt(name, arguments)).messages
        assert isinstance(message.content, TextContent)
        return message.content.text

    async with over_http(host.base_url, mode, X_Memory_User=user) as client:
        assert "Ana lives in Lisbon" in await text("recall", topic="Where does Ana live?")
        assert "Nothing is remembered" in await text("recall", topic="zebra crossing in Ulm")
        assert "memory_save" in await text("remember")
        with pytest.raises(MCPError, match="topic: must not be empty"):
            await text("recall", topic="")
        with pytest.raises(MCPError, match="topic: is required"):
            await text("recall")
        with pytest.raises(MCPError, match="There is no prompt of this name"):
            await text("forget everything")


@each_mode
async def test_a_resource_that_is_not_there_is_an_error_that_says_so(
    host: httpx.Client, user: str, mode: str
) -> None:
    async with over_http(host.base_url, mode, X_Memory_User=user) as client:
        assert "There are no scenes yet" in await resource(client, "memory://scenes")
        for uri in (
            "memory://scenes/scn_0",
            "memory://scenes/../profile",
            "memory://nothing",
            "file:///etc/passwd",
        ):
            with pytest.raises(MCPError) as refused:
                await client.read_resource(uri)
            assert "Traceback" not in str(refused.value)
            assert refused.value.error.code in (-32002, -32602)


@each_mode
async def test_wrong_arguments_are_told_in_a_sentence_that_names_the_field(
    host: httpx.Client, user: str, mode: str
) -> None:
    async with over_http(host.base_url, mode, X_Memory_User=user) as client:
        assert (
            await refusal(client, "memory_search")
            == "Not done. query: is required. Correct the arguments and call again."
        )
        assert "limit: should be a valid integer" in await refusal(
            client, "memory_search", query="x", limit="many"
        )
        assert (
            "text: is not a field of this request; did you mean content? Correct"
            in await refusal(client, "memory_save", text="hello")
        )
        assert "attribute: subject and attribute name a slot together" in await refusal(
            client, "memory_save", content="x", subject="y"
        )
        assert "at most 32768 are kept" in await refusal(
            client, "memory_save", content="x" * 40_000
        )
        assert "since: must be an ISO 8601 moment" in await refusal(
            client, "memory_timeline", since="yesterday"
        )
        assert "name at least one of ids, tags, session_id and before" in await refusal(
            client, "memory_forget"
        )
        assert "Not done. ids: must not be empty." in await refusal(client, "memory_forget", ids=[])
        assert "Not done. ids.1: must not contain" in await refusal(
            client, "memory_forget", ids=["mem_1", "a/b"]
        )
        assert (
            await answer(client, "memory_search", query="What is the answer?", limit=3.0)
        ).startswith("No memory answers this.")
        assert "limit: should be a valid integer" in await refusal(
            client, "memory_search", query="x", limit=3.5
        )
        assert "messages.0.role" in await refusal(
            client, "memory_converse", messages=[{"role": "narrator", "content": "x"}]
        )
        assert "user_id: is not a field" in await refusal(
            client, "memory_save", content="x", user_id="somebody-else"
        )
        with pytest.raises(
            MCPError, match="There is no tool of this name; there are memory_context"
        ):
            await client.call_tool("memory_delete_everything", {})


@each_mode
async def test_without_a_user_every_tool_says_what_is_missing(
    host: httpx.Client, mode: str
) -> None:
    async with over_http(host.base_url, mode) as client:
        assert len((await client.list_tools()).tools) == len(TOOLS)
        for tool, arguments in (
            ("memory_search", {"query": "x"}),
            ("memory_save", {"content": "x"}),
            ("memory_forget", {"ids": ["x"]}),
        ):
            refused = await refusal(client, tool, **arguments)
            assert "the header X-Memory-User" in refused
            assert refused.endswith("Calling again does not help; tell the user."), (
                "no argument names a user"
            )
        with pytest.raises(MCPError, match="X-Memory-User"):
            await client.read_resource("memory://profile")


async def test_the_user_may_stand_in_the_address(host: httpx.Client, user: str) -> None:
    save(host, user, "Ana lives in Lisbon", type="semantic")
    async with over_http(host.base_url, "legacy", query=f"?user_id={user}") as client:
        assert "Lisbon" in await answer(client, "memory_search", query="Where does Ana live?")


def test_a_user_who_is_named_in_two_ways_or_can_not_be_one_is_refused(
    host: httpx.Client, user: str
) -> None:
    ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for header in ("somebody-else", "a/b", ""):
        answered = host.post(
            "/mcp", json=ask, params={"user_id": user}, headers={**ACCEPT, "X-Memory-User": header}
        )
        problem(answered, 422, "user_id")
    named = {**ACCEPT, "X-Memory-User": "jos\u00e9".encode()}
    problem(host.post("/mcp", json=ask, headers=httpx.Headers(named)), 422, "X-Memory-User")
    problem(host.post("/mcp", json=ask, params={"user": user}, headers=ACCEPT), 422, "user")
    twice = [*ACCEPT.items(), ("X-Memory-User", user), ("X-Memory-User", "ben")]
    problem(host.post("/mcp", json=ask, headers=httpx.Headers(twice)), 422, "X-Memory-User")
    for unset in ("${USER}", "${input:memory-user}"):
        problem(
            host.post("/mcp", json=ask, headers={**ACCEPT, "X-Memory-User": unset}),
            422,
            "X-Memory-User",
        )


def post(host: httpx.Client, user: str, content: bytes, **headers: str) -> httpx.Response:
    sent = {
        "Content-Type": "application/json",
        **ACCEPT,
        "X-Memory-User": user,
        **{name.replace("_", "-"): v for name, v in headers.items()},
    }
    return host.post("/mcp", content=content, headers=sent)


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "tools/list"}', 400),
        (
            b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "memory_search", "arguments": {"limit": NaN}}}',  # noqa: E501
            400,
        ),
        (
            b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": '
            + b'{"a":' * 100
            + b"1"
            + b"}" * 101,
            400,
        ),
        (b'{"id": 1}', 400),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}', 400),
        (b'{"jsonrpc": "2.0", "id": null, "method": "tools/list"}', 400),
        (b'{"jsonrpc": "2.0", "id": [1], "method": "tools/list"}', 400),
        (b'{"jsonrpc": "2.0", "id": 1, "result": {}}', 400),
        (b'{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}}', 400),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}]', 422),
        (b'"tools/list"', 422),
        (
            b'{"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"secret": "'
            + b"x" * 2**20
            + b'"}}',
            413,
        ),
    ],
)
def test_what_is_no_message_is_a_problem_that_repeats_nothing_of_it(
    host: httpx.Client, user: str, content: bytes, status: int
) -> None:
    answered = post(host, user, content)
    problem(answered, status)
    assert "tools" not in answered.text
    assert "pydantic" not in answered.text


@pytest.mark.parametrize("version", ["", "2025-06-18", "2026-07-28", "1999-01-01", "x" * 1000])
@pytest.mark.parametrize(
    "method",
    [
        "nope",
        "subscriptions/listen",
        "tools/call",
        "resources/subscribe",
        "logging/setLevel",
        "initialize",
    ],
)
def test_a_method_that_is_not_served_is_an_error_of_the_protocol_and_never_a_wait(
    host: httpx.Client, user: str, version: str, method: str
) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    asked = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": method,
        "params": {"_meta": meta} if version >= "2026" else {},
    }
    headers = {"Mcp_Protocol_Version": version, "Mcp_Method": method} if version else {}
    answered = post(host, user, json.dumps(asked).encode(), **headers)
    assert answered.status_code in (200, 400, 404)
    assert answered.headers["content-type"] == "application/json"
    error: dict[str, Any] = answered.json()["error"]
    assert error["code"] < 0
    assert "Traceback" not in answered.text


def test_a_notification_is_taken_without_an_answer(host: httpx.Client, user: str) -> None:
    answered = post(host, user, b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    assert (answered.status_code, answered.content) == (202, b"")


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/MCP"])
def test_other_methods_are_told_that_only_post_is_served(
    host: httpx.Client, method: str, path: str
) -> None:
    answered = host.request(method, path)
    problem(answered, 405)
    assert answered.headers["allow"] == "POST"


def test_an_answer_is_json_and_there_is_no_session(host: httpx.Client, user: str) -> None:
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    answered = post(host, user, json.dumps(asked).encode())
    assert answered.status_code == 200
    assert answered.headers["content-type"] == "application/json"
    assert "mcp-session-id" not in answered.headers
    assert answered.headers["x-correlation-id"]
    assert answered.json()["result"]["protocolVersion"] == "2025-06-18"
    assert (
        post(host, user, json.dumps(asked).encode(), Content_Type="text/plain").status_code == 415
    )
    assert post(host, user, json.dumps(asked).encode(), Accept="text/html").status_code == 406


def test_no_page_of_another_origin_and_no_other_host_gets_an_answer_without_keys(
    host: httpx.Client, user: str
) -> None:
    ask = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
    problem(post(host, user, ask, Origin="https://evil.example"), 403)
    problem(post(host, user, ask, Host="evil.example"), 403)


@pytest.fixture(scope="module")
def locked(profile: Profile, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with running(
        tmp_path_factory.mktemp("locked"), MEMORY_API_KEYS=as_settings(), **profile.settings()
    ) as client:
        yield client


def key(name: str) -> str:
    return KEYS[name][0]


@each_mode
async def test_a_reader_is_offered_what_it_may_do_and_changes_nothing(
    locked: httpx.Client, user: str, mode: str
) -> None:
    async with over_http(
        locked.base_url, mode, X_API_Key=key("reader"), X_Memory_User=user
    ) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [
            "memory_context",
            "memory_search",
            "memory_timeline",
        ]
        assert (await answer(client, "memory_search", query="x")).startswith(
            "No memory answers this."
        )
        for tool, arguments in (
            ("memory_save", {"content": "x"}),
            ("memory_forget", {"ids": ["x"], "confirm": "x"}),
        ):
            refused = await refusal(client, tool, **arguments)
            assert refused == (
                "Not allowed. This key does not have the right `write`. Calling again does not "
                "help; tell the user."
            )
        with pytest.raises(MCPError, match="does not have the right `write`"):
            await client.get_prompt("remember")


@each_mode
async def test_the_user_of_a_bound_key_need_not_be_named_and_no_other_can_be(
    locked: httpx.Client, mode: str
) -> None:
    async with over_http(locked.base_url, mode, Authorization=f"Bearer {key('anas')}") as client:
        saved = await answer(client, "memory_save", content=f"Ana keeps bees ({mode})")
        assert "bees" in await answer(client, "memory_search", query="Does Ana keep bees?")
    async with over_http(
        locked.base_url, mode, X_API_Key=key("writer"), X_Memory_User="ben"
    ) as client:
        assert "bees" not in await answer(client, "memory_search", query="Does Ana keep bees?")
        fits = await answer(client, "memory_forget", ids=[id_in(saved)], confirm="x")
        assert fits == "No memory fits that; nothing was forgotten."
        assert id_in(saved) not in await answer(client, "memory_timeline", memory_id=id_in(saved))
    async with over_http(
        locked.base_url, mode, X_API_Key=key("rival"), X_Memory_User="ana"
    ) as client:
        assert "bees" not in await answer(client, "memory_search", query="Does Ana keep bees?")


def test_a_bound_key_can_not_name_another_user(locked: httpx.Client) -> None:
    ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    sent = {"X-API-Key": key("anas"), **ACCEPT}
    problem(locked.post("/mcp", json=ask, headers={**sent, "X-Memory-User": "ben"}), 403, "user_id")
    problem(locked.post("/mcp", json=ask, headers=sent, params={"user_id": "ben"}), 403, "user_id")


def test_without_a_good_key_nothing_is_read(locked: httpx.Client) -> None:
    for headers in ({}, {"X-API-Key": key("writer") + "x"}, {"Authorization": "Bearer nonsense"}):
        answered = locked.post(
            "/mcp",
            content=b"no json",
            headers={"Content-Type": "application/json", **ACCEPT, **headers},
        )
        problem(answered, 401)
        assert answered.headers["www-authenticate"].startswith("Bearer")


@each_mode
async def test_no_word_of_a_user_is_logged_and_no_answer_shows_how_it_failed(
    tmp_path: Path, mode: str
) -> None:
    word, user = "Quillfeather", "zelda"
    host = Host(tmp_path, LOG_LEVEL="debug")
    try:
        async with over_http(host.url, mode, X_Memory_User=user) as client:
            await answer(client, "memory_save", content=f"{word} is the cat")
            await answer(client, "memory_search", query=f"Who is {word}?")
            await refusal(client, "memory_save", content=f"{word}", **{word: word})
            await refusal(client, "memory_converse", messages=[{"role": word, "content": word}])
            with pytest.raises(MCPError) as refused:
                await client.call_tool(word, {word: word})
            assert word not in str(refused.value)
            with pytest.raises(MCPError):
                await client.read_resource(f"memory://scenes/{word}")
        with httpx.Client(base_url=host.url) as plain:
            post(
                plain,
                user,
                f'{{"jsonrpc": "2.0", "id": 1, "method": "{word}", "params": {{"{word}": 1}}}}'.encode(),  # noqa: E501
            )
            post(plain, user, f'{{"{word}": 1}}'.encode())
    finally:
        host.stop()
    assert word not in host.terminal
    assert user not in host.terminal
    assert "Traceback" not in host.terminal


async def test_hundreds_of_calls_at_once_are_each_answered_for_their_own_user(
    host: httpx.Client, user: str
) -> None:
    async def one(number: int) -> None:
        async with over_http(
            host.base_url, MODES[number % 2], X_Memory_User=f"{user}-{number}"
        ) as client:
            await answer(client, "memory_save", content=f"My locker is number {number}")
            results = await asyncio.gather(
                *(
                    client.call_tool("memory_search", {"query": "Which number is my locker?"})
                    for _ in range(5)
                )
            )
            assert all(f"number {number}" in text_of(result) for result in results)

    await asyncio.gather(*(one(number) for number in range(20)))
