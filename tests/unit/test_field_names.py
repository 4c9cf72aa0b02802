"""What a caller probably meant by a field that a call does not know."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

import memory_core.functions.blueprints  # noqa: F401  (registers the calls)
from memory_core.config import Settings
from memory_core.domain.errors import FieldError, Invalid
from memory_core.domain.requests.maintenance import (
    ArchiveInput,
    DecayInput,
    ForgetInput,
    ReplayInput,
    TimelineInput,
)
from memory_core.domain.requests.memories import (
    AppendInput,
    ClearInput,
    ContextInput,
    ConverseInput,
    ListInput,
    RetrieveInput,
    SaveInput,
    StatusInput,
    UpdateInput,
)
from memory_core.functions.gate import SCOPE
from memory_core.functions.registered import http_functions
from memory_core.functions.request_parsing import QueryInput, from_json, from_query
from memory_core.functions.suggestions import OTHER_MEANINGS, WORDS, suggest_field
from memory_core.setting_types import variable

MESSAGE = {"role": "user", "content": "a", "timestamp": "2026-05-08T13:56:00Z"}

ALONE = "the messages without the parameters of a model"


def refused(model: type[BaseModel], given: dict[str, Any], **how: Any) -> dict[str, FieldError]:
    with pytest.raises(Invalid) as caught:
        from_json(model, given, also=SCOPE, **how)
    return {error.field: error for error in caught.value.errors}


@pytest.mark.parametrize(
    ("model", "given", "field", "meant"),
    [
        # the seeds
        (RetrieveInput, {"query": "a", "n_results": 3}, "n_results", "limit"),
        (SaveInput, {"content": "a", "memory_type": "semantic"}, "memory_type", "type"),
        (SaveInput, {"content": "a", "importance_score": 0.5}, "importance_score", "importance"),
        (SaveInput, {"content": "a", "importanceScore": 0.5}, "importanceScore", "importance"),
        (SaveInput, {"content": "a", "sessionId": "s"}, "sessionId", "session_id"),
        (ClearInput, {"session_id": "s", "memory_type": "semantic"}, "memory_type", "type"),
        (RetrieveInput, {"query": "a", "scoring_weights": {}}, "scoring_weights", "weights"),
        (
            RetrieveInput,
            {"query": "a", "half_life_days": 3},
            "half_life_days",
            "the setting MEMORY_RECENCY_HALF_LIFE_DAYS",
        ),
        (
            DecayInput,
            {"half_life_days": 3},
            "half_life_days",
            "the setting MEMORY_DECAY_HALF_LIFE_DAYS",
        ),
        (StatusInput, {"status": "active", "archive_reason": "x"}, "archive_reason", "reason"),
        (StatusInput, {"status": "active", "new_status": "x"}, "new_status", "status"),
        # peers
        (RetrieveInput, {"query": "a", "top_k": 3}, "top_k", "limit"),
        (RetrieveInput, {"query": "a", "userId": "ana"}, "userId", "user_id"),
        (
            RetrieveInput,
            {"query": "a", "filters": {"agent_id": "b"}},
            "filters",
            "session_id, agent_id, types, categories, tags",
        ),
        (RetrieveInput, {"query": "a", "threshold": 0.3}, "threshold", "similarity_threshold"),
        (RetrieveInput, {"query": "a", "namespace": "x"}, "namespace", "tags"),
        (RetrieveInput, {"query": "a", "topics": ["x"]}, "topics", "tags"),
        (RetrieveInput, {"query": "a", "scope": "edges"}, "scope", "types"),
        (RetrieveInput, {"text": "a"}, "text", "query"),
        (SaveInput, {"text": "a"}, "text", "content"),
        (SaveInput, {"memory": "a"}, "memory", "content"),
        (SaveInput, {"content": "a", "group_id": "g"}, "group_id", "user_id"),
        (SaveInput, {"content": "a", "thread_id": "t"}, "thread_id", "session_id"),
        (SaveInput, {"content": "a", "run_id": "t"}, "run_id", "session_id"),
        (SaveInput, {"messages": [MESSAGE]}, "messages", "POST /api/v1/memories"),
        (SaveInput, {"memories": []}, "memories", "POST /api/v1/memories/bulk"),
        (
            ConverseInput,
            {"messages": [MESSAGE], "infer": False},
            "infer",
            "POST /api/v1/memories/save",
        ),
        (SaveInput, {"content": "a", "created_at": "x"}, "created_at", "event_timestamp"),
        (
            SaveInput,
            {"content": "a", "foresight": [{"description": "b", "start": 1}]},
            "foresight.0.start",
            "start_time",
        ),
        (ForgetInput, {"memory_ids": ["m"]}, "memory_ids", "filter.ids"),
        (ForgetInput, {"filter": {"tag": "m"}}, "filter.tag", "tags"),
        (
            ForgetInput,
            {"query": "lock code"},
            "query",
            "POST /api/v1/memories/retrieve, and then filter.ids",
        ),
        (
            ForgetInput,
            {"filter": {"query": "lock code"}},
            "filter.query",
            "POST /api/v1/memories/retrieve, and then ids",
        ),
        (
            RetrieveInput,
            {"query": "a", "known_at": "2026-05-08T13:56:00Z"},
            "known_at",
            "POST /api/v1/replay or GET /api/v1/memories, which take known_at",
        ),
        # the bodies of chat APIs, of which only the messages are taken
        *(
            (model, {"messages": [MESSAGE], name: given}, name, meant)
            for model in (ConverseInput, ContextInput)
            for name, given, meant in (
                ("system", "You help.", "a message with the role system"),
                ("instructions", "You help.", "a message with the role system"),
                ("model", "m", ALONE),
                ("tools", [], ALONE),
                ("temperature", 0, ALONE),
                ("top_k", 3, ALONE),
            )
        ),
        (ConverseInput, {"messages": [MESSAGE], "max_tokens": 500}, "max_tokens", ALONE),
        (ContextInput, {"max_token": 500}, "max_token", "max_tokens"),
        (ReplayInput, {"timestamp": "x"}, "timestamp", "known_at"),
        (ArchiveInput, {"dryRun": True}, "dryRun", "dry_run"),
        # misspelt
        (SaveInput, {"content": "a", "importence": 1}, "importence", "importance"),
        (RetrieveInput, {"query": "a", "type": "semantic"}, "type", "types"),
        (UpdateInput, {"content": "a", "metdata": {}}, "metdata", "metadata"),
    ],
)
def test_an_unknown_field_is_told_what_was_meant(
    model: type[BaseModel], given: dict[str, Any], field: str, meant: str
) -> None:
    error = refused(model, given)[field]
    assert error.did_you_mean == meant
    assert error.message == f"is not a field of this request; did you mean {meant}?"


@pytest.mark.parametrize(
    ("model", "given", "meant"),
    [
        (ListInput, {"top_k": "3"}, "limit"),
        (QueryInput, {"query": "a", "limit": "3"}, "n_results"),
        (QueryInput, {"q": "a"}, "query"),
        (TimelineInput, {"from_date": "3"}, "since"),
        (ListInput, {"offset": "3"}, "cursor"),
        (ListInput, {"query": "a"}, "GET /api/v1/memories/query"),
    ],
)
def test_so_is_an_unknown_parameter_of_a_query_string(
    model: type[BaseModel], given: dict[str, str], meant: str
) -> None:
    with pytest.raises(Invalid) as caught:
        from_query(model, given)
    assert meant in [error.did_you_mean for error in caught.value.errors]


@pytest.mark.parametrize(
    ("model", "given", "field", "meant"),
    [
        (SaveInput, {"content": "a", "type": "fact"}, "type", "semantic"),
        (SaveInput, {"content": "a", "type": "Facts"}, "type", "semantic"),
        (SaveInput, {"content": "a", "type": "instruction"}, "type", "procedural"),
        (SaveInput, {"content": "a", "type": "event"}, "type", "episodic"),
        (SaveInput, {"content": "a", "type": "semantical"}, "type", "semantic"),
        (SaveInput, {"content": "a", "type": "Semantic"}, "type", "semantic"),
        (RetrieveInput, {"query": "a", "types": ["fact"]}, "types.0", "semantic"),
        (ForgetInput, {"filter": {"types": ["facts"]}}, "filter.types.0", "semantic"),
        (RetrieveInput, {"query": "a", "mode": "reconstruction"}, "mode", "reconstruct"),
    ],
)
def test_an_unknown_value_is_told_what_was_meant(
    model: type[BaseModel], given: dict[str, Any], field: str, meant: str
) -> None:
    error = refused(model, given)[field]
    assert error.did_you_mean == meant
    assert error.message.endswith(f"; did you mean {meant}?")


def test_a_value_of_two_kinds_is_told_once_what_was_meant() -> None:
    with pytest.raises(Invalid) as caught:
        from_query(ListInput, {"status": "delete"})
    (error,) = caught.value.errors
    assert error.did_you_mean == "deleted"
    assert error.message.count("did you mean") == 1
    assert error.message.endswith("or should be 'all'; did you mean deleted?")


@pytest.mark.parametrize("given", ["zork", "my salary is 4,200 euros", "", 7, None, ["fact"]])
def test_a_value_that_resembles_nothing_is_only_refused(given: object) -> None:
    error = refused(SaveInput, {"content": "a", "type": given})["type"]
    assert error.message == "should be 'episodic', 'semantic' or 'procedural'"
    assert error.did_you_mean is None


@pytest.mark.parametrize("given", ["I live in Rome", MESSAGE, 7])
@pytest.mark.parametrize("model", [ConverseInput, ContextInput, AppendInput])
def test_messages_that_are_no_list_are_shown_the_form(
    model: type[BaseModel], given: object
) -> None:
    error = refused(model, {"messages": given})["messages"]
    assert error.message == (
        'should be a list, such as [{"role": "user", "content": "I live in Rome"}]'
    )


def test_what_resembles_nothing_is_only_refused() -> None:
    error = refused(SaveInput, {"content": "a", "zork": 1})["zork"]
    assert (error.message, error.did_you_mean) == ("is not a field of this request", None)


@pytest.mark.parametrize(
    "name",
    ["my salary is 4,200 euros", "x" * 65, "ключ", "a\nb", "", "user id", "limit?", "<script>"],
    ids=lambda name: name[:12],
)
def test_a_name_that_is_no_identifier_is_not_repeated(name: str) -> None:
    for fields in (
        {"content": "a", name: 1},
        {
            "content": "a",
            "foresight": [{"description": "b", "start_time": "2026-05-08T00:00Z", name: 1}],
        },
    ):
        with pytest.raises(Invalid) as caught:
            from_json(SaveInput, fields)
        (error,) = caught.value.errors
        assert error.field in ("body", "foresight.0")
        assert error.message == "has a field that is not known"
        assert name == "" or name not in caught.value.detail
    with pytest.raises(Invalid) as caught:
        from_query(ListInput, {name: "1"})
    assert [error.field for error in caught.value.errors] == ["query string"]


def test_every_word_of_the_table_leads_to_something_that_is_there() -> None:
    calls = {f"{function.method} {function.path}" for function in http_functions()}
    fields = {
        *SCOPE,
        "filter.ids",
        "filter.before",
        "start_time",
        "end_time",
        "description",
        "role",
        "timestamp",
    }
    for function in http_functions():
        fields |= set(function.door.takes.model_fields)
    settings = {variable(name) for name in Settings.model_fields}
    for candidates in WORDS.values():
        for names in candidates:
            assert set(names.split(", ")) <= fields, names
    for meanings in OTHER_MEANINGS.values():
        for meaning in meanings:
            match = re.fullmatch(
                r"(?:the setting (?P<setting>[A-Z_]+)"
                r"|(?P<call>[A-Z]+ /[^\s,]+)(?: or (?P<other>[A-Z]+ /[^\s,]+))?"
                r"(?:, (?:and then|which take) (?P<field>\S+))?"
                r"|(?P<form>(?:a message|the messages|a new save) .+))",
                meaning.text,
            )
            assert match is not None, meaning
            assert match["form"] or match["setting"] in settings or match["call"] in calls
            assert match["other"] is None or match["other"] in calls
            assert match["field"] is None or match["field"] in {*fields, "ids"}


@given(
    name=st.text(max_size=80),
    fields=st.sets(st.sampled_from([*SaveInput.model_fields, *RetrieveInput.model_fields])),
)
def test_no_name_is_too_odd_to_be_compared(name: str, fields: set[str]) -> None:
    assert suggest_field(name, fields - {name}) != name
