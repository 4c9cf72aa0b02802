import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr, ValidationError

from memory_core.config import ConfigError, Settings, main, rows
from memory_core.core import MemoryCore
from memory_core.domain.ranking.recipes import CALIBRATIONS, ScoringParameters
from memory_core.setting_types import SECRETS, variable

TENANT = "11111111-2222-4333-8444-555555555555"
KEY = '[{"id": "k1", "app": "shop", "sha256": "' + "ab" * 32 + '", "rights": ["read", "write"]}]'
SECRET_VALUES = {
    "LLM_API_KEY": "llm-hush-hush",
    "EMBEDDING_API_KEY": "embedding-hush-hush",
    "MEMORY_COSMOS_KEY": "cosmos-hush-hush",
    "MEMORY_REDIS_URL": "rediss://:hush-hush@cache:6380/0",
    "MEMORY_REDIS_PASSWORD": "redis-hush-hush",
    "MEMORY_QUEUE_CONNECTION": "AccountName=memory;AccountKey=hush-hush",
    "MEMORY_ARCHIVE_CONNECTION": "AccountName=a;AccountKey=archive-hush-hush",
    "MEMORY_API_KEYS": KEY.replace("shop", "hush"),
    "MEMORY_SECRET": "cursor-hush-hush-hush",
    "MEMORY_WEBHOOK_SECRET": "webhook-hush-hush-hush",
    "MEMORY_RERANK_API_KEY": "rerank-hush-hush",
}


def settings(**environ):
    return Settings.from_env(environ)


def test_an_empty_environment_gives_the_defaults_that_run_on_a_laptop():
    given = settings()
    assert given == Settings()
    assert (given.embedding_provider, given.llm_provider, given.long_term, given.short_term) == (
        "minilm",
        "offline",
        "sqlite",
        "embedded",
    )
    assert given.data == Path(".memory")
    assert given.auth == "on"
    assert (given.chunk_tokens, given.chunk_overlap, given.chunk_edge_weight) == (500, 50, 1.15)
    assert (given.session_ttl_s, given.session_cap) == (24 * 3600, 500)


def test_seeds_names_stay_and_all_else_is_memory():
    names = {variable(name) for name in Settings.model_fields}
    assert {
        "LLM_PROVIDER",
        "LLM_TOP_P",
        "EMBEDDING_DIMENSIONS",
        "EMBEDDING_ENCODING_FORMAT",
        "LOG_LEVEL",
    } <= names
    assert {"MEMORY_RECALL_THRESHOLD", "MEMORY_LINK_THRESHOLD", "MEMORY_DEFAULT_N_RESULTS"} <= names
    assert all(
        name.startswith(("LLM_", "EMBEDDING_", "MEMORY_")) or name == "LOG_LEVEL" for name in names
    )


def test_the_environment_is_read_as_it_is_usually_written():
    given = settings(
        LLM_TEMPERATURE="0",
        EMBEDDING_PROVIDER="Hash",
        MEMORY_SQLITE_SYNCHRONOUS="NORMAL",
        LOG_LEVEL="debug",
        MEMORY_PORT=" 7100 ",
        MEMORY_DATA="~/m",
    )
    assert (given.llm_temperature, given.embedding_provider, given.sqlite_synchronous) == (
        0.0,
        "hash",
        "normal",
    )
    assert (given.log_level, given.port) == ("DEBUG", 7100)
    assert given.data == Path.home() / "m"


def test_an_empty_variable_counts_as_not_given():
    assert settings(EMBEDDING_API_KEY="", MEMORY_PORT="  ") == Settings()


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("MEMORY_PORT", "abc", "integer"),
        ("MEMORY_PORT", "70000", "less than or equal to 65535"),
        ("EMBEDDING_PROVIDER", "opnai", "'openai', 'azure', 'minilm' or 'hash'"),
        ("MEMORY_ANSWER_THRESHOLD", "1.2", "less than or equal to 1"),
        ("MEMORY_DECAY_HALF_LIFE_DAYS", "0", "greater than 0"),
        ("MEMORY_RECENCY_BOOST", "nan", "finite"),
        ("MEMORY_AUTH", "maybe", "'on' or 'off'"),
        ("MEMORY_ARCHIVE_TIER", "archive", "'hot', 'cool' or 'cold'"),
        ("MEMORY_ARCHIVE_CONTAINER", "My_Box", "pattern"),
        ("EMBEDDING_BASE_URL", "localhost", "http"),
        ("LOG_LEVEL", "LOUD", "'DEBUG'"),
        ("MEMORY_DATA", "~nobody-of-this-name/m", "home of a user"),
        ("MEMORY_CHUNK_OVERLAP", "500", "less than MEMORY_CHUNK_TOKENS"),
        ("MEMORY_COSINE_LOW", "1.0", "less than MEMORY_COSINE_HIGH"),
        ("MEMORY_QUEUE_VISIBILITY_S", "604801", "less than or equal to 604800"),
        ("MEMORY_TASK_LEASE_S", "1e12", "less than or equal to 604800"),
        ("MEMORY_ARCHIVAL_AGE_YEARS", "1e9", "less than or equal to 1000"),
        ("MEMORY_HALF_LIFE_FACTOR", "1e-320", "greater than or equal to 0.01"),
        ("MEMORY_UPKEEP_CAP", "9" * 20, "less than or equal to"),
        ("LLM_BASE_URL", "http://[::1", "not an address"),
        ("EMBEDDING_BASE_URL", "http://a:99999", "not an address"),
        ("MEMORY_COSMOS_ENDPOINT", "https://:443", "no host in it"),
        ("MEMORY_ENTRA_TENANT_ID", "common", "the id of one tenant"),
        ("MEMORY_ENTRA_AUTHORITY", "http://login.example", "https://"),
        ("MEMORY_ENTRA_APP", "claim:", "claim:NAME"),
        ("MEMORY_ENTRA_USER", "oid", "claim:NAME"),
        ("MEMORY_ENTRA_RIGHTS", "Memory.Read", "Memory.Read=read"),
    ],
)
def test_a_wrong_value_names_its_variable_itself_and_what_is_allowed(name, value, allowed):
    with pytest.raises(ConfigError) as refused:
        settings(**{name: value})
    assert f"{name}={value}" in str(refused.value)
    assert allowed in str(refused.value)
    assert "\n" not in str(refused.value)


def test_every_wrong_value_is_named_at_once():
    with pytest.raises(ConfigError, match=r"LLM_TOP_P=7.*MEMORY_PORT=x") as refused:
        settings(LLM_TOP_P="7", MEMORY_PORT="x", MEMORY_PROT="1")
    assert "MEMORY_PROT: there is no such setting; did you mean MEMORY_PORT?" in str(refused.value)


@pytest.mark.parametrize(
    ("environ", "missing"),
    [
        ({"MEMORY_LONG_TERM": "cosmos"}, "MEMORY_COSMOS_ENDPOINT"),
        ({"MEMORY_SHORT_TERM": "redis"}, "MEMORY_REDIS_URL"),
        ({"MEMORY_QUEUE": "storage"}, "MEMORY_QUEUE_CONNECTION or MEMORY_QUEUE_ACCOUNT_URL"),
        ({"MEMORY_ARCHIVE": "blob"}, "MEMORY_ARCHIVE_CONNECTION or MEMORY_ARCHIVE_ACCOUNT_URL"),
        ({"MEMORY_ENTRA_TENANT_ID": TENANT}, "MEMORY_ENTRA_AUDIENCE"),
        ({"MEMORY_ENTRA_AUDIENCE": TENANT, "MEMORY_ENTRA_TENANT_ID": TENANT}, "MEMORY_ENTRA_APP"),
        ({"MEMORY_TRUST_PRINCIPAL_HEADER": "on"}, "MEMORY_ENTRA_TENANT_ID"),
        ({"EMBEDDING_PROVIDER": "openai"}, "EMBEDDING_API_KEY"),
        ({"EMBEDDING_PROVIDER": "azure", "EMBEDDING_API_KEY": "k"}, "EMBEDDING_BASE_URL"),
        ({"LLM_PROVIDER": "azure"}, "LLM_BASE_URL"),
        ({"LLM_PROVIDER": "openai"}, "LLM_API_KEY"),
    ],
)
def test_what_another_setting_needs_is_named_when_it_is_missing(environ, missing):
    with pytest.raises(ConfigError, match=f"^{missing} is required"):
        settings(**environ)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MEMORY_REDIS_URL", "redis://:hush-hush@cache:99999"),
        ("MEMORY_REDIS_URL", "redis://:hush/hush@cache:6379"),
        ("MEMORY_REDIS_URL", "redis://[::1"),
        ("MEMORY_REDIS_URL", "redis://cache/hush"),
        ("MEMORY_REDIS_URL", "unix://"),
        ("MEMORY_QUEUE_CONNECTION", "hush"),
        ("MEMORY_ARCHIVE_CONNECTION", "AccountName=a;hush"),
    ],
)
def test_an_address_with_a_secret_that_can_not_be_used_is_named_without_being_shown(name, value):
    with pytest.raises(ConfigError, match=f"^{name}: should be") as refused:
        settings(**{name: value})
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MEMORY_REDIS_URL", "redis://"),
        ("MEMORY_REDIS_URL", "rediss://:p%2Fw@cache.example:6380/0?socket_timeout=1"),
        ("MEMORY_REDIS_URL", "unix:///run/redis.sock?db=1"),
        ("MEMORY_QUEUE_CONNECTION", "UseDevelopmentStorage=true"),
        ("MEMORY_COSMOS_ENDPOINT", "https://[::1]:8081/"),
    ],
)
def test_an_address_in_any_usual_form_is_taken(name, value):
    setting = getattr(settings(**{name: value}), name.removeprefix("MEMORY_").lower())
    assert (setting if isinstance(setting, str) else setting.get_secret_value()) == value


@pytest.mark.parametrize("value", ["9" * 21, "1000000000", "1e9", "604800", "1000", "1e-320", "0"])
def test_a_number_that_is_taken_is_one_that_the_parts_can_be_made_with(value, tmp_path):
    for name, field in Settings.model_fields.items():
        if "int" not in str(field.annotation) and "float" not in str(field.annotation):
            continue
        try:
            given = settings(
                **{
                    variable(name): value,
                    "MEMORY_DATA": str(tmp_path),
                    "EMBEDDING_PROVIDER": "hash",
                }
            )
        except ConfigError:
            continue  # that it names the variable is what other tests say
        MemoryCore(given)


def test_a_compatible_service_needs_no_key():
    given = settings(EMBEDDING_PROVIDER="openai", EMBEDDING_BASE_URL="http://127.0.0.1:9000/v1")
    assert given.embedding_base_url == "http://127.0.0.1:9000/v1"


def test_an_unknown_variable_that_is_nearly_a_setting_is_an_error_and_a_strange_one_only_logged(
    caplog,
):
    with pytest.raises(
        ConfigError,
        match="MEMORY_LINK_TRESHOLD: there is no such setting; did you mean MEMORY_LINK_THRESHOLD",
    ):
        settings(MEMORY_LINK_TRESHOLD="0.8")
    with pytest.raises(ConfigError, match="LLM_PROVDER: there is no such setting; did you mean"):
        settings(LLM_PROVDER="openai")
    with pytest.raises(ConfigError, match="did you mean EMBEDDING_DIMENSIONS"):
        settings(EMBEDDING_DIMENSION="384")
    given = {"MEMORY_PRESSURE_WATCH": "/sys/fs/cgroup", "LLM_CACHE_OF_OTHERS": "1", "PATH": "/bin"}
    assert settings(**given) == Settings()
    assert "MEMORY_PRESSURE_WATCH is not a setting of Memory Core" in caplog.text
    assert "LLM_CACHE_OF_OTHERS is not a setting of Memory Core" in caplog.text
    assert "PATH is" not in caplog.text


def test_variables_of_other_memory_services_are_named_with_the_setting_that_means_the_same_and_never_with_their_value(  # noqa: E501
    caplog,
):
    given = {
        "OMNIMEMORY_RECALL_THRESHOLD": "0.123",
        "OMNIMEMORY_DEFAULT_MAX_MESSAGES": "s3cret",
        "OMNIMEMORY_METRICS_PORT": "s3cret",
        "QDRANT_HOST": "s3cret.example",
        "MEM0_API_KEY": "s3cret",
        "ZEP_API_KEY": "s3cret",
        "GRAPHITI_TELEMETRY_ENABLED": "s3cret",
    }
    assert settings(**given) == Settings()
    assert (
        "OMNIMEMORY_RECALL_THRESHOLD is not read: the setting is MEMORY_RECALL_THRESHOLD"
        in caplog.text
    )
    assert (
        "OMNIMEMORY_DEFAULT_MAX_MESSAGES is not read: the setting is MEMORY_BATCH_MESSAGES"
        in caplog.text
    )
    for name in (
        "OMNIMEMORY_METRICS_PORT",
        "QDRANT_HOST",
        "MEM0_API_KEY",
        "ZEP_API_KEY",
        "GRAPHITI_TELEMETRY_ENABLED",
    ):
        assert f"{name} is not read: Memory Core has no such setting" in caplog.text
    assert "MEMORY_HOST" not in caplog.text, (
        "the database of another service is not this service's address"
    )
    assert "s3cret" not in caplog.text
    assert "0.123" not in caplog.text
    assert len(caplog.records) == len(given)


def test_the_variables_of_the_live_tests_are_nobodys_misspelt_settings(caplog):
    assert settings(MEMORY_LIVE_COSMOS_ENDPOINT="https://a.example") == Settings()
    assert caplog.text == ""


def test_api_keys_come_as_json():
    (key,) = settings(MEMORY_API_KEYS=KEY).api_keys
    assert (key.id, key.app, key.rights, key.user) == ("k1", "shop", {"read", "write"}, None)


@pytest.mark.parametrize(
    "value",
    [
        "mc_shop_k1_secret",
        "{}",
        KEY.replace("ab", "xy"),
        KEY.replace("read", "root"),
        KEY.replace("shop", "a/b"),
    ],
)
def test_wrong_api_keys_are_refused_without_showing_them(value):
    with pytest.raises(ConfigError, match=r"^MEMORY_API_KEYS: ") as refused:
        settings(MEMORY_API_KEYS=value)
    assert value not in str(refused.value)


def test_secrets_appear_in_no_table_no_repr_and_no_error():
    given = settings(**SECRET_VALUES)
    text = "\n".join(" ".join(row) for row in rows(given)) + repr(given) + str(given)
    assert {
        name: value for name, _, value, _ in rows(given) if name in SECRET_VALUES
    } == dict.fromkeys(SECRET_VALUES, "********")
    assert "hush-hush" not in text
    with pytest.raises(ConfigError) as refused:
        settings(
            **SECRET_VALUES | {"MEMORY_SECRET": "hush-hush", "MEMORY_REDIS_URL": "http://hush-hush"}
        )
    assert "hush-hush" not in str(refused.value)
    with pytest.raises(ValidationError) as misbuilt:
        Settings(secret="hush-hush")
    assert "hush-hush" not in str(misbuilt.value)


def test_every_secret_field_is_known_as_one():
    secret_fields = {
        name
        for name, field in Settings.model_fields.items()
        if SecretStr.__name__ in str(field.annotation)
    }
    assert secret_fields | {"api_keys"} == SECRETS
    assert {variable(name) for name in SECRETS} == set(SECRET_VALUES)


def test_the_table_has_every_setting_with_its_default_and_its_meaning():
    table = rows(settings(MEMORY_PORT="7100"))
    assert [row[0] for row in table] == [variable(name) for name in Settings.model_fields]
    assert all(row[3] for row in table)
    assert ("MEMORY_PORT", "7071", "7100") in [row[:3] for row in table]


def test_the_command_prints_the_table(capsys, monkeypatch):
    for name in Settings.model_fields:
        monkeypatch.delenv(variable(name), raising=False)
    monkeypatch.setenv("MEMORY_LINK_THRESHOLD", "0.8")
    assert main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(Settings.model_fields) + 1
    assert ["MEMORY_LINK_THRESHOLD", "-", "0.8"] in [line.split()[:3] for line in lines]


def test_the_command_says_in_one_line_what_is_wrong_and_exits_with_two():
    done = subprocess.run(
        [sys.executable, "-m", "memory_core.config"],
        env={"MEMORY_PORT": "abc", "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "MEMORY_PORT=abc: should be a valid integer, unable to parse string as an integer"
    ]


def test_the_command_ends_quietly_where_nobody_reads_on():
    """As with `| head`: the reading end is closed before all is written."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as closed_pipe:
        command = [sys.executable, "-m", "memory_core.config"]
        done = subprocess.run(
            command,
            env={"PYTHONPATH": str(Path(__file__).parents[2])},
            stdout=closed_pipe,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")


def test_settings_do_not_change_and_know_no_other_names():
    given = Settings()
    with pytest.raises(ValidationError):
        given.port = 1
    with pytest.raises(ValidationError):
        Settings(prot=1)


def test_every_embedder_that_can_be_chosen_has_thresholds_of_its_own():
    choices = get_args(Settings.model_fields["embedding_provider"].annotation)
    assert len(choices) >= 4
    assert CALIBRATIONS.keys() == set(choices)


def test_thresholds_are_the_embedders_own_until_they_are_set():
    assert settings().calibrated == CALIBRATIONS["minilm"]
    assert settings(EMBEDDING_PROVIDER="hash").calibrated.duplicate_threshold == 0.98
    given = settings(MEMORY_ANSWER_THRESHOLD="0", MEMORY_DUPLICATE_THRESHOLD="0.9").calibrated
    assert (given.answer_threshold, given.duplicate_threshold) == (0.0, 0.9)
    assert given.recall_threshold == CALIBRATIONS["minilm"].recall_threshold
    assert {field.name for field in fields(given)} <= set(Settings.model_fields)


def test_the_defaults_of_scoring_are_the_defaults_of_the_settings():
    for field in fields(ScoringParameters):
        assert getattr(Settings(), field.name) == field.default


@given(
    st.sampled_from([variable(name) for name in Settings.model_fields]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
)
def test_a_value_is_taken_or_refused_by_name_and_never_fails_in_another_way(name, value):
    try:
        text = repr(settings(**{name: value}))
    except ConfigError as error:
        text = str(error)
    assert "port=" in text or name in text
    assert len(text.splitlines()) == 1
