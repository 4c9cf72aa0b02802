"""The page about deploying names what there is, and its picture is the one that its source makes."""

from __future__ import annotations

import json
from xml.etree import ElementTree

from deployment import picture
from tests.infra import bicep
from tests.infra.arm import FACTS
from tests.infra.sources import ROOT, sources

PAGE = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")


def test_every_parameter_is_explained() -> None:
    params = bicep.parse(sources()["infra/main.bicep"]).params
    assert [name for name in params if f"`{name}`" not in PAGE] == []


def test_every_role_is_explained() -> None:
    policy = json.loads(sources()["infra/policy.json"])
    text = PAGE.replace("Storage Blob and Queue Data Contributor", "Storage Blob Data Contributor, Storage Queue Data Contributor")
    assert [one["role"] for one in policy["assignments"] if one["role"] not in text] == []
    assert policy["cosmosRole"]["name"] in text


def test_every_alert_that_the_page_names_is_there() -> None:
    assert "`throttled`" in PAGE
    assert "throttled" in {one["name"] for one in json.loads(sources()["infra/policy.json"])["alerts"]}


def test_what_the_page_says_of_the_facts_is_so() -> None:
    assert f"{len(FACTS['types'])} resource types from {FACTS['source'].replace('==', ' ')}" in PAGE


def test_the_picture_is_the_one_that_its_source_makes() -> None:
    shown = picture.TARGET.read_text(encoding="utf-8")
    assert shown == picture.picture(), "run: .venv/bin/python -m deployment.picture"
    ElementTree.fromstring(shown)


def test_nothing_in_the_picture_leaves_it_and_no_text_is_longer_than_its_box() -> None:
    for one in picture.boxes().values():
        assert one.x >= 0
        assert one.x + one.w <= picture.WIDTH
        assert one.y + one.h <= picture.HEIGHT
        assert all(len(line) * 6.4 <= one.w - 14 for line in one.lines)
