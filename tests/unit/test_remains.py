"""What the receipt of an erasure says is left: only of stores that are in use."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from memory_core.bootstrap.rules import erase_rules
from memory_core.config import Settings


@pytest.fixture
def laptop(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path)


def test_on_a_laptop_no_store_of_azure_is_named(laptop: Settings) -> None:
    remains = " ".join(erase_rules(laptop).remains)
    for absent in ("Redis", "queues", "soft delete", "backups"):
        assert absent not in remains
    assert "in the memory of the running service" in remains
    assert "data folder" in remains


def test_without_a_short_term_nothing_is_said_of_one(laptop: Settings) -> None:
    remains = " ".join(erase_rules(laptop.model_copy(update={"short_term": "none"})).remains)
    assert "memory of the running service" not in remains
    assert "Redis" not in remains


def test_beside_cosmos_the_key_in_redis_the_queues_and_the_backups_are_named(
    laptop: Settings,
) -> None:
    azure = laptop.model_copy(
        update={"long_term": "cosmos", "short_term": "redis", "queue": "storage"}
    )
    rules = erase_rules(azure)
    remains = " ".join(rules.remains)
    assert "one key in Redis" in remains
    assert "messages in queues" in remains
    assert "soft delete" in remains
    assert rules.settle == timedelta(seconds=600)


def test_the_laptop_waits_no_longer_than_a_file_takes_and_a_setting_overrides_it(
    laptop: Settings,
) -> None:
    assert erase_rules(laptop).settle == timedelta(seconds=2)
    assert erase_rules(laptop.model_copy(update={"erase_settle_s": 0.0})).settle == timedelta(0)
