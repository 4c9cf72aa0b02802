"""The page about deploying names what there is, and its picture is the one that its
source makes.
"""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from deployment import picture
from infra.scripts import idle_cost
from tests.infra import bicep
from tests.infra.arm import FACTS
from tests.infra.sources import ROOT, sources

PAGE = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")


def test_every_parameter_is_explained() -> None:
    params = bicep.parse(sources()["infra/main.bicep"]).params
    assert [name for name in params if f"`{name}`" not in PAGE] == []


def test_what_a_profile_costs_idle_is_what_the_page_says_and_the_smallest_less_than_a_dollar() -> (
    None
):
    prices, policy = (
        json.loads(sources()["infra/prices.json"]),
        json.loads(sources()["infra/policy.json"]),
    )
    columns = idle_cost.profiles(prices, policy)
    assert idle_cost.table(columns) in PAGE
    assert (
        sum(value for name, value in columns["small"].items() if not name.startswith("alerts")) < 1
    )
    assert "Inputs" in prices["statement"]


def test_what_costs_idle_follows_the_parameters() -> None:
    prices, policy = (
        json.loads(sources()["infra/prices.json"]),
        json.loads(sources()["infra/policy.json"]),
    )
    free = {"COSMOS_MODE": "autoscale", "COSMOS_FREE_TIER": "true", "COSMOS_MAX_THROUGHPUT": "1000"}
    assert idle_cost.rows(free, prices, policy)["Cosmos DB"] == 0
    private = idle_cost.rows({"PROFILE": "private"}, prices, policy)
    spread = idle_cost.rows(
        {"PROFILE": "private", "SECOND_LOCATION": "northeurope", "ZONE_REDUNDANT_APP": "true"},
        prices,
        policy,
    )
    assert spread["Cosmos DB"] == 2 * private["Cosmos DB"]
    assert spread["Functions"] == 16 * private["Functions"]
    brought = {
        "EXISTING_COSMOS": "c",
        "EXISTING_OPENAI": "o",
        "EXISTING_DNS_ZONES": "z",
        "NAT_GATEWAY": "true",
        "ENABLE_REDIS": "true",
    }
    theirs = idle_cost.rows({"PROFILE": "private", **brought}, prices, policy)
    assert theirs["private network"] == pytest.approx(730 * (5 * 0.01 + 0.05))
    assert theirs["Redis"] > 10


def test_every_value_of_a_profile_is_on_the_page() -> None:
    chosen = PAGE.split("## Profiles")[1].split("## What you need")[0]
    assert [
        name
        for name in json.loads(sources()["infra/profiles.json"])["small"]
        if f"`{name}`" not in chosen
    ] == []


def test_every_role_is_explained() -> None:
    policy = json.loads(sources()["infra/policy.json"])
    text = PAGE.replace(
        "Storage Blob and Queue Data Contributor",
        "Storage Blob Data Contributor, Storage Queue Data Contributor",
    )
    assert [
        assignment["role"] for assignment in policy["assignments"] if assignment["role"] not in text
    ] == []
    assert policy["cosmosRole"]["name"] in text


def test_every_alert_that_the_page_names_is_there() -> None:
    assert "`throttled`" in PAGE
    assert "throttled" in {
        alert["name"] for alert in json.loads(sources()["infra/policy.json"])["alerts"]
    }


def test_what_the_page_says_of_the_facts_is_so() -> None:
    assert f"{len(FACTS['types'])} resource types from {FACTS['source'].replace('==', ' ')}" in PAGE


def test_the_picture_is_the_one_that_its_source_makes() -> None:
    drawing = picture.TARGET.read_text(encoding="utf-8")
    assert drawing == picture.picture(), "run: .venv/bin/python -m deployment.picture"
    ElementTree.fromstring(drawing)


def test_nothing_in_the_picture_leaves_it_and_no_text_is_longer_than_its_box() -> None:
    for box in picture.boxes().values():
        assert box.x >= 0
        assert box.x + box.w <= picture.WIDTH
        assert box.y + box.h <= picture.HEIGHT
        assert all(len(line) * 6.4 <= box.w - 14 for line in box.lines)
