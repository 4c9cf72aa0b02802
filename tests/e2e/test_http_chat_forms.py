"""Messages in every documented form of the usual chat APIs, told over HTTP; on both profiles."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import httpx
import pytest

from tests.chat_forms import (
    ANTHROPIC,
    FRAMEWORKS,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    OTHERS,
    PDF,
    PNG,
    ChatForm,
)
from tests.e2e.test_http_people import ended, exported
from tests.host import problem

GROUPS = {
    "openai-chat": OPENAI_CHAT,
    "openai-responses": OPENAI_RESPONSES,
    "anthropic": ANTHROPIC,
    "others": OTHERS,
    "frameworks": FRAMEWORKS,
}


def kept(client: httpx.Client, user: str) -> dict[str, list[dict[str, Any]]]:
    """The messages of each session of a user, as they are stored."""
    lines = [json.loads(line) for part in exported(client, user) for line in part.splitlines()]
    bodies = {line["id"]: line["body"] for line in lines if "body" in line}
    sessions: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for name, body in bodies.items():
        if f"{name}_messages" in bodies:
            sessions[body["session_id"]] += bodies[f"{name}_messages"]["messages"]
    return sessions


def tell(
    client: httpx.Client, user: str, messages: list[dict[str, Any]], **fields: Any
) -> httpx.Response:
    return client.post("/api/v1/memories", json={"user_id": user, "messages": messages, **fields})


@pytest.mark.parametrize("group", GROUPS)
def test_lists_of_other_apis_are_taken_as_they_are(
    host: httpx.Client, user: str, group: str
) -> None:
    forms: list[ChatForm] = GROUPS[group]
    answers = [tell(host, user, form.messages, session_id=form.name) for form in forms]
    for form, answer in zip(forms, answers, strict=True):
        assert answer.status_code == 202, (form.name, answer.text)
        assert "ignored" not in answer.json(), form.name
        assert ended(host, answer)["status"] == "succeeded", form.name
    sessions = kept(host, user)
    for form in forms:
        stored = [
            (message["role"], message["actor"], message["content"])
            for message in sessions[form.name]
        ]
        assert stored == form.expected, form.name
    assert PNG not in json.dumps(sessions)
    assert PDF not in json.dumps(sessions)


@pytest.mark.parametrize("group", GROUPS)
def test_a_context_takes_the_same_lists(host: httpx.Client, user: str, group: str) -> None:
    for form in GROUPS[group]:
        answer = host.post("/api/v1/context", json={"user_id": user, "messages": form.messages})
        assert (answer.status_code, answer.json()["context"]) == (200, ""), (form.name, answer.text)
        assert "ignored" not in answer.json(), form.name


def test_what_is_ignored_is_named_and_the_rest_is_kept(host: httpx.Client, user: str) -> None:
    message = {"role": "user", "content": "I keep bees.", "foo": 1, "mood": "good"}
    answer = tell(host, user, [message, message])
    assert answer.status_code == 202
    assert answer.json()["ignored"] == ["messages.*.foo", "messages.*.mood"]
    batch = host.post(
        "/api/v1/memories/batch", json={"user_id": user, "session_id": "s", "messages": [message]}
    )
    assert (batch.status_code, batch.json()["ignored"]) == (
        202,
        ["messages.*.foo", "messages.*.mood"],
    )
    summary = host.post("/api/v1/agent/summaries", json={"messages": [message]})
    assert (summary.status_code, summary.json()["ignored"]) == (
        200,
        ["messages.*.foo", "messages.*.mood"],
    )
    words = host.post("/api/v1/agent/memories", json={"user_id": user, "messages": [message]})
    assert (words.status_code, words.json()["ignored"]) == (
        202,
        ["messages.*.foo", "messages.*.mood"],
    )
    context = host.post(
        "/api/v1/context",
        json={"user_id": user, "messages": [message, {"role": "user", "content": None}]},
    )
    assert (context.status_code, context.json()["ignored"]) == (
        200,
        ["messages.*.foo", "messages.*.mood"],
    )
    ended(host, answer)
    ended(host, words)


def test_an_ignored_field_that_resembles_one_is_told_what_was_meant(
    host: httpx.Client, user: str
) -> None:
    message = {"role": "user", "content": "I keep bees.", "mood": "good"}
    date = "2024-03-01T00:00:00Z"
    answers = [
        tell(host, user, [{**message, **given}])
        for given in ({"date": date}, {"time": date, "eventTime": date, "sender": "Ana"}, {})
    ]
    assert [answer.json().get("did_you_mean") for answer in answers] == [
        "timestamp",
        "timestamp, actor",
        None,
    ]
    for answer in answers:
        ended(host, answer)


def test_a_field_of_the_call_that_is_not_known_is_still_refused(
    host: httpx.Client, user: str
) -> None:
    assert problem(
        tell(host, user, [{"role": "user", "content": "I keep bees."}], model="a-model"),
        422,
        "model",
    )


def test_messages_without_times_are_told_in_their_order_at_the_time_of_the_call(
    host: httpx.Client, user: str
) -> None:
    messages = [
        {"role": "user", "content": f"I have {number} bees.", "id": f"m{number}"}
        for number in range(3)
    ]
    messages[2]["timestamp"] = "2026-05-08T13:56:00Z"
    assert ended(host, tell(host, user, messages, session_id="late"))["status"] == "succeeded"
    assert ended(host, tell(host, user, messages[:2], session_id="now"))["status"] == "succeeded"
    sessions = kept(host, user)
    assert [message["content"] for message in sessions["late"]] == [
        message["content"] for message in messages
    ]
    assert {message["timestamp"] for message in sessions["late"]} == {"2026-05-08T13:56:00Z"}
    assert [message["id"] for message in sessions["late"]] == ["m0", "m1", "m2"]
    assert len({message["timestamp"] for message in sessions["now"]}) == 1
    assert sessions["now"][0]["timestamp"] > "2026-05-09"
