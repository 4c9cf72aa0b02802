"""Whatever is wrong with a request: a 4xx problem that names the field, and nothing stored."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.host import memories, problem, save

SAVE = "/api/v1/memories/save"
RETRIEVE = "/api/v1/memories/retrieve"
GOOD: dict[str, Any] = {"content": "Ana moved to Lisbon"}


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"event_timestamp": "2026-05-08T13:56:00"}, "event_timestamp"),
        ({"event_timestamp": 1_700_000_000}, "event_timestamp"),
        ({"valid_until": "0001-01-01T00:00:00+14:00"}, "valid_until"),
        ({"zork": 1}, "zork"),
        ({"type": "semantical"}, "type"),
        ({"content": "x" * 40_000}, "content"),
        ({"content": "é" * 17_000}, "content"),
        ({"content": ""}, "content"),
        ({"content": "a\x00b"}, "content"),
        ({"content": None}, "content"),
        ({"importance": 1.1}, "importance"),
        ({"importance": "high"}, "importance"),
        ({"session_id": "a/b"}, "session_id"),
        ({"session_id": "x" * 129}, "session_id"),
        ({"agent_id": "a#b"}, "agent_id"),
        ({"tags": "one"}, "tags"),
        ({"metadata": {"app_id": "other"}}, "metadata.app_id"),
        ({"metadata": {"user_id": "other"}}, "metadata.user_id"),
        ({"metadata": [1]}, "metadata"),
        ({"metadata": {"a": "x" * 9_000}}, "metadata"),
        ({"metadata": {"a": 2**60}}, "metadata"),
        ({"on_conflict": "fight"}, "on_conflict"),
        ({"subject": "Ana"}, "attribute"),
        ({"type": "procedural"}, "key"),
    ],
)
def test_a_bad_field_of_a_save(
    host: httpx.Client, user: str, changed: dict[str, Any], field: str
) -> None:
    assert problem(host.post(SAVE, json={"user_id": user, **GOOD, **changed}), 422, field)
    assert memories(host, user) == []


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": "  "}, "query"),
        ({"query": "x" * 10_001}, "query"),
        ({"limit": 0}, "limit"),
        ({"limit": 101}, "limit"),
        ({"limit": True}, "limit"),
        ({"limit": "5"}, "limit"),
        ({"weights": {"recency": 2}}, "weights.recency"),
        ({"weights": {"zork": 1}}, "weights.zork"),
        ({"recipe": "stew"}, "recipe"),
        ({"mode": "reconstructive"}, "mode"),
        ({"known_at": "2026-05-08T13:56:00Z"}, "known_at"),
        ({"include_archived": "yes"}, "include_archived"),
        ({"max_tokens": 200}, "max_tokens"),
        ({"max_tokens": 99, "mode": "reconstruct"}, "max_tokens"),
        ({"max_tokens": 16_001, "mode": "reconstruct"}, "max_tokens"),
        ({"at": "2026-05-08"}, "at"),
        ({"types": ["semantic", "zork"]}, "types.1"),
        ({"tags": [f"tag {number}" for number in range(200)]}, "tags"),
    ],
)
def test_a_bad_field_of_a_retrieve(
    host: httpx.Client, user: str, changed: dict[str, Any], field: str
) -> None:
    assert problem(
        host.post(RETRIEVE, json={"user_id": user, "query": "Lisbon", **changed}), 422, field
    )


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": "x" * 10_001}, "query"),
        ({"max_tokens": 99}, "max_tokens"),
        ({"max_tokens": "many"}, "max_tokens"),
        ({"session_id": "a/b"}, "session_id"),
        ({"at": "noon"}, "at"),
        ({"limit": 3}, "limit"),
    ],
)
def test_a_bad_field_of_a_context(
    host: httpx.Client, user: str, changed: dict[str, Any], field: str
) -> None:
    assert problem(host.post("/api/v1/context", json={"user_id": user, **changed}), 422, field)


@pytest.mark.parametrize("call", ["memories", "timeline", "audit"])
def test_a_period_that_ends_before_it_begins_is_no_empty_answer(
    host: httpx.Client, user: str, call: str
) -> None:
    days = ("2026-05-09T00:00:00Z", "2026-05-08T00:00:00Z")
    scope = {} if call == "audit" else {"user_id": user}
    for since, until, status in ((*days, 422), (*days[::-1], 200), (days[0], days[0], 200)):
        answer = host.get(f"/api/v1/{call}", params={**scope, "since": since, "until": until})
        assert answer.status_code == status, answer.text
        if status == 422:
            assert problem(answer, 422, "until")["detail"] == "until: must not be before since"


MESSAGE: dict[str, Any] = {
    "role": "user",
    "content": "I moved to Lisbon",
    "timestamp": "2026-05-08T13:56:00Z",
}
TOLD = {"messages": [MESSAGE]}
AHEAD = {"description": "Ana is on a diet", "start_time": "2026-05-08T00:00:00Z"}


@pytest.mark.parametrize(
    ("call", "body", "field"),
    [
        (
            "memories/save",
            {**GOOD, "foresight": [{**AHEAD, "description": "a\x00b"}]},
            "foresight.0.description",
        ),
        (
            "memories/save",
            {**GOOD, "foresight": [{**AHEAD, "end_time": AHEAD["start_time"]}]},
            "foresight.0.end_time",
        ),
        ("consolidate", {"dry_run": "yes"}, "dry_run"),
        ("decay", {"session_id": "a/b"}, "session_id"),
        ("archive", {"before": "2026-05-08T13:56:00Z"}, "before"),
        ("forget", {}, "filter"),
        ("forget", {"filter": {"ids": []}}, "filter.ids"),
        ("forget", {"filter": {"ids": ["m"] * 1001}}, "filter.ids"),
        ("forget", {"filter": {"types": ["semantic", "zork"]}}, "filter.types.1"),
        ("forget", {"filter": {"before": "2026-05-08T13:56:00"}}, "filter.before"),
        ("forget", {"filter": {"user_id": "bob"}}, "filter.user_id"),
        ("forget", {"filter": {"tags": ["a"]}, "mode": "medium"}, "mode"),
        ("replay", {}, "known_at"),
        ("replay", {"sequence": 1}, "sequence"),
        ("replay", {"sequence": -1}, "sequence"),
        ("memories", {}, "messages"),
        ("memories", {"messages": [MESSAGE] * 201}, "messages"),
        ("memories", {"messages": [{**MESSAGE, "role": "bot"}]}, "messages.0.role"),
        (
            "memories",
            {"messages": [MESSAGE, {**MESSAGE, "timestamp": "2026-05-08T13:56:00"}]},
            "messages.1.timestamp",
        ),
        ("memories", {**TOLD, "callback_url": "http://127.0.0.1/"}, "callback_url"),
        ("memories", {**TOLD, "callback_url": "ftp://example.org/"}, "callback_url"),
        ("memories/batch", TOLD, "session_id"),
        ("memories/batch", {"session_id": "s", "messages": []}, "messages"),
        ("memories/batch/flush", {"session_id": "a#b"}, "session_id"),
        ("agent/memories", {"messages": " "}, "messages"),
        ("agent/memories", {"messages": [["a"]]}, "messages.0"),
        ("agent/summaries", {"messages": "a", "mode": "slow"}, "mode"),
        ("conflicts/cft_1/resolve", {"decision": "auto"}, "decision"),
        ("conflicts/cft_1/undo", {"zork": 1}, "zork"),
        ("tasks/tsk_1/retry", {"zork": 1}, "zork"),
        ("users/{user}/import/tsk_1/commit", {"parts": 1, "sha256": "zork"}, "sha256"),
    ],
)
def test_a_bad_field_of_any_other_call(
    host: httpx.Client, user: str, call: str, body: dict[str, Any], field: str
) -> None:
    scope = {} if "{user}" in call else {"user_id": user}
    assert problem(
        host.post(f"/api/v1/{call.replace('{user}', user)}", json={**scope, **body}), 422, field
    )
    assert (
        memories(host, user)
        == host.get("/api/v1/tasks", params={"user_id": user}).json()["tasks"]
        == []
    )
    assert (
        host.get("/api/v1/memories/batch", params={"user_id": user, "session_id": "s"}).json()[
            "buffered"
        ]
        == 0
    )


@pytest.mark.parametrize(
    "user_id",
    [None, "", " ana", "a/b", "a\\b", "a#b", "a?b", "a\nb", "x" * 129, 7, ["ana"], {"$ne": ""}],
)
def test_a_user_id_that_names_nobody(host: httpx.Client, user_id: object) -> None:
    scope = {} if user_id is None else {"user_id": user_id}
    assert problem(host.post(SAVE, json={**GOOD, **scope}), 422, "user_id")
    if user_id is None or isinstance(user_id, str):
        assert problem(host.get("/api/v1/memories", params=scope), 422, "user_id")  # type: ignore[arg-type]


def test_a_user_by_another_name_is_told_of_user_id(host: httpx.Client) -> None:
    for answer in (
        host.post(SAVE, json={**GOOD, "userId": "ana"}),
        host.get("/api/v1/memories", params={"group_id": "ana"}),
    ):
        assert problem(answer, 422, "user_id")["did_you_mean"] == "user_id"


def test_a_field_of_the_body_in_the_query_string_is_told_so(host: httpx.Client, user: str) -> None:
    answer = host.post(SAVE, params={"content": "x"}, json={"user_id": user, **GOOD})
    assert problem(answer, 422, "content")["did_you_mean"] == "content in the body"


def test_what_was_meant_stands_beside_the_detail_and_beside_each_field(
    host: httpx.Client, user: str
) -> None:
    answer = problem(
        host.post(
            RETRIEVE,
            json={"user_id": user, "query": "a", "n_results": 3, "sessionId": "s", "zork": 1},
        ),
        422,
    )
    assert answer["did_you_mean"] == "limit, session_id"
    assert [error.get("did_you_mean") for error in answer["errors"]] == [
        "limit",
        "session_id",
        None,
    ]
    bulk = host.post(
        "/api/v1/memories/bulk", json={"user_id": user, "memories": [{"text": "a"}]}
    ).json()
    assert bulk["results"][0]["problem"]["did_you_mean"] == "content"
    assert "did_you_mean" not in problem(host.post(RETRIEVE, json={"user_id": user}), 422)


def test_a_request_to_a_chat_model_is_told_to_send_its_messages(
    host: httpx.Client, user: str
) -> None:
    body = {"user_id": user, "messages": [MESSAGE], "model": "m", "max_tokens": 500, "system": "x"}
    answer = problem(host.post("/api/v1/memories", json=body), 422, "system")
    assert answer["did_you_mean"] == (
        "the messages without the parameters of a model, a message with the role system"
    )
    answer = problem(
        host.post("/api/v1/memories", json={"user_id": user, "messages": "I live in Rome"}), 422
    )
    assert answer["detail"] == (
        'messages: should be a list, such as [{"role": "user", "content": "I live in Rome"}]'
    )


def test_an_edit_of_what_is_fixed_says_how_it_is_set(host: httpx.Client, user: str) -> None:
    path = f"/api/v1/memories/{save(host, user, 'Ana keeps bees', type='semantic')['id']}"
    for field, value, call in (
        ("key", "bees", "a new save with it, since an edit leaves it as it is"),
        ("type", "episodic", "a new save with it, since an edit leaves it as it is"),
        ("status", "deleted", "PATCH /api/v1/memories/{memory_id}/status"),
    ):
        answer = host.put(path, json={"user_id": user, field: value}, headers={"If-Match": "*"})
        assert problem(answer, 422, field)["did_you_mean"] == call


def test_an_empty_object_is_no_body_where_a_call_takes_none(host: httpx.Client, user: str) -> None:
    save(host, user, "Ana keeps bees")
    path = f"/api/v1/users/{user}/export"
    assert host.post(path, json={}).status_code == 202
    answer = problem(host.post(path, json={"parts": 1}), 400, "body")
    assert answer["detail"].startswith(
        "body: this call takes none; its fields belong into the query"
    )


def test_a_type_in_other_words_is_told_which_is_meant(host: httpx.Client, user: str) -> None:
    answer = problem(host.post(SAVE, json={"user_id": user, **GOOD, "type": "fact"}), 422, "type")
    assert answer["detail"] == (
        "type: should be 'episodic', 'semantic' or 'procedural'; did you mean semantic?"
    )
    assert answer["did_you_mean"] == "semantic"
    listed = host.get("/api/v1/memories", params={"user_id": user, "type": "facts"})
    assert problem(listed, 422, "type")["did_you_mean"] == "semantic"


def test_a_weight_that_is_no_number_is_named(host: httpx.Client) -> None:
    content = b'{"user_id": "ana", "query": "a", "weights": {"recency": NaN}}'
    assert problem(
        host.post(RETRIEVE, content=content, headers={"Content-Type": "application/json"}),
        400,
        "weights.recency",
    )


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 400),
        (b'{"user_id": "ana", "content": "\xff"}', 400),
        (b'{"user_id": "ana", "content": "a"', 400),
        (b"[" * 100_000, 400),
        (b'{"user_id": "ana", "metadata": ' + b'{"a":' * 100_000, 400),
        (b'{"user_id": "ana", "user_id": "bob", "content": "a"}', 400),
        (b'[{"user_id": "ana", "content": "a"}]', 422),
        (b'"ana"', 422),
    ],
)
@pytest.mark.parametrize("path", [SAVE, RETRIEVE])
def test_a_body_that_is_no_object(
    host: httpx.Client, content: bytes, status: int, path: str
) -> None:
    assert problem(
        host.post(path, content=content, headers={"Content-Type": "application/json"}),
        status,
        "body",
    )


def test_a_body_of_another_type(host: httpx.Client, user: str) -> None:
    body = json.dumps({"user_id": user, **GOOD})
    for content_type in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/json; charset=utf-16",
    ):
        assert problem(
            host.post(SAVE, content=body, headers={"Content-Type": content_type}),
            415,
            "Content-Type",
        )
    assert problem(host.post(SAVE, content=body), 415, "Content-Type")
    assert memories(host, user) == []


def test_a_body_over_the_limit_declared_or_not(host: httpx.Client) -> None:
    headers = {"Content-Type": "application/json"}
    big = b'{"user_id": "ana", "content": "' + b"x" * (1 << 20) + b'"}'
    assert problem(host.post(SAVE, content=big, headers=headers), 413, "body")
    assert problem(
        host.post(SAVE, content=iter([big[:1000], big[1000:]]), headers=headers), 413, "body"
    )


def test_a_bulk_names_the_item_of_every_bad_field(host: httpx.Client, user: str) -> None:
    ended = {"content": "a", "valid_until": "2001-01-01T00:00:00Z"}
    too_much = {"type": "procedural", "key": "k", "value": 1, "importance": 2}
    results = host.post(
        "/api/v1/memories/bulk", json={"user_id": user, "memories": [GOOD, ended, too_much]}
    ).json()["results"]
    fields = [
        [error["field"] for error in result["problem"]["errors"]] if "problem" in result else []
        for result in results
    ]
    assert fields == [[], ["memories.1.valid_until"], ["memories.2.importance"]]
    assert results[1]["problem"]["detail"].startswith("memories.1.valid_until")
    assert len(memories(host, user)) == 1


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        ("/api/v1/memories", "limit=0", "limit"),
        ("/api/v1/memories", "limit=101", "limit"),
        ("/api/v1/memories", "limit=ten", "limit"),
        ("/api/v1/memories", "status=gone", "status"),
        ("/api/v1/memories", "type=semantical", "type"),
        ("/api/v1/memories", "since=2026-05-08T13:56:00", "since"),
        ("/api/v1/memories", "until=1700000000", "until"),
        ("/api/v1/memories", "known_at=2026-05-08T13:56:00", "known_at"),
        ("/api/v1/timeline", "since=1700000000", "since"),
        ("/api/v1/timeline", "types=a,,b", "types"),
        ("/api/v1/timeline", "types=superceded", "types"),
        ("/api/v1/tasks", "kind=zork", "kind"),
        ("/api/v1/tasks", "limit=101", "limit"),
        ("/api/v1/conflicts", "status=open", "status"),
        ("/api/v1/scenes", "limit=0", "limit"),
        ("/api/v1/scenes/a%2Fb", "", "scene_id"),
        ("/api/v1/profile", "at=yesterday", "at"),
        ("/api/v1/memories/batch", "", "session_id"),
        ("/api/v1/memories", "zork=1", "zork"),
        ("/api/v1/memories", "limit=1&limit=2", "limit"),
        ("/api/v1/memories/query", "query=", "query"),
        ("/api/v1/memories/query", "", "query"),
        ("/api/v1/memories/query", "query=a&n_results=0", "n_results"),
        ("/api/v1/sessions", "limit=0", "limit"),
        ("/api/v1/memories/a%2Fb", "", "memory_id"),
    ],
)
def test_a_bad_query_string(
    host: httpx.Client, user: str, path: str, query: str, field: str
) -> None:
    assert problem(host.get(f"{path}?user_id={user}&{query}"), 422, field)


@pytest.mark.parametrize(
    "path",
    [
        f"/api/v1/{resource}"
        for resource in ("memories", "sessions", "tasks", "conflicts", "scenes", "timeline")
    ],
)
@pytest.mark.parametrize(
    "cursor", ["x", "", "AAAA", "e30", "ä", "A" * 900, "_" * 40, "mem_6177b2f04975115a12ee83459a"]
)
def test_a_forged_cursor(host: httpx.Client, user: str, path: str, cursor: str) -> None:
    save(host, user, "a note", session_id="s")
    assert problem(host.get(path, params={"user_id": user, "cursor": cursor}), 400, "cursor")


def test_a_user_named_twice_in_different_ways(host: httpx.Client, user: str) -> None:
    memory = save(host, user, "a note", type="semantic")
    path = f"/api/v1/memories/{memory['id']}"
    assert problem(host.get(f"/api/v1/memories?user_id={user}&user_id=bob"), 422, "user_id")
    assert problem(
        host.put(path, params={"user_id": user}, json={"user_id": "bob", "content": "x"}),
        422,
        "user_id",
    )
    assert problem(
        host.post(SAVE, params={"user_id": user}, json={"user_id": user, **GOOD}), 422, "user_id"
    )


def test_a_body_where_none_belongs(host: httpx.Client, user: str) -> None:
    memory = save(host, user, "a note")
    assert problem(
        host.request(
            "DELETE",
            f"/api/v1/memories/{memory['id']}",
            params={"user_id": user},
            json={"user_id": user},
        ),
        400,
        "body",
    )
    assert memories(host, user)[0]["status"] == "active"


@pytest.mark.parametrize("key", ["", "a b", "x" * 201, "\u00e4".encode().decode("latin-1")])
def test_a_bad_idempotency_key(host: httpx.Client, user: str, key: str) -> None:
    headers = {"Idempotency-Key": key.encode("latin-1")}
    assert problem(
        host.post(SAVE, json={"user_id": user, **GOOD}, headers=headers), 422, "Idempotency-Key"
    )
    assert memories(host, user) == []


@pytest.mark.parametrize("address", ["[", "[::1", "a:b:c", "127.0.0.1:99999", "127.0.0.1:x"])
def test_a_host_that_is_no_address(host: httpx.Client, address: str) -> None:
    for path in ("/health", "/api/v1/memories?user_id=ana", "/nowhere"):
        assert problem(host.get(path, headers={"Host": address}), 400, "Host")


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
FIELDS = [
    "content", "type", "session_id", "agent_id", "category", "subject", "attribute", "key", "value",
    "actor", "entities", "foresight", "event_timestamp", "valid_from", "valid_until", "tags",
    "metadata", "importance", "confidence", "pinned", "query", "limit", "weights", "types",
    "recipe", "at", "memories", "to_agent_id", "status", "reason", "similarity_threshold",
    "messages", "filter", "mode", "known_at", "sequence", "cursor", "max_tokens", "decision",
]  # fmt: skip
POSTS: dict[str, dict[str, Any]] = {
    "memories/save": GOOD,
    "memories/bulk": {"memories": [GOOD]},
    "memories/retrieve": {"query": "Lisbon"},
    "memories/clear": {"session_id": "s"},
    "memories/batch": {"session_id": "s", **TOLD},
    "agent/summaries": TOLD,
    "context": {},
    "replay": {"sequence": 0},
    "forget": {"filter": {"tags": ["draft"]}, "dry_run": True},
    "consolidate": {"dry_run": True},
    "archive": {"dry_run": True},
    "conflicts/cft_1/resolve": {"decision": "merge"},
}


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    call=st.sampled_from(sorted(POSTS)),
    fields=st.dictionaries(st.sampled_from(FIELDS) | texts, anything, max_size=5),
    data=st.data(),
)
def test_no_body_makes_the_service_fail(
    host: httpx.Client, call: str, fields: dict[str, Any], data: st.DataObject
) -> None:
    body = (
        {"user_id": "fuzz", **POSTS[call], **fields}
        if data.draw(st.booleans())
        else {"user_id": "fuzz", **fields}
    )
    response = host.post(f"/api/v1/{call}", json=body)
    assert response.status_code < 500, (body, response.text)
    if response.status_code >= 400:
        assert problem(response, response.status_code)
