"""What replaced a memory and what it replaced, over HTTP: as a list and as a drawing."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.host import problem, save

SLOT = {"type": "semantic", "category": "fact", "subject": "Ana", "attribute": "home"}
MEDIA = {"mermaid": "text/vnd.mermaid", "dot": "text/vnd.graphviz", "html": "text/html"}


@pytest.fixture
def homes(host: httpx.Client, user: str) -> list[str]:
    """Ids of where Ana lived, the earliest first; the second was told last."""
    homes_and_days = [("Berlin", "2026-01-01"), ("Porto", "2026-09-01"), ("Lisbon", "2026-05-01")]
    saved = [
        save(
            host,
            user,
            f"Ana lives in {town}",
            value=town,
            event_timestamp=f"{day}T12:00:00Z",
            **SLOT,
        )
        for town, day in homes_and_days
    ]
    return [saved[0]["id"], saved[2]["id"], saved[1]["id"]]


def evolution(host: httpx.Client, user: str, memory_id: str, **query: str) -> dict[str, Any]:
    response = host.get(
        f"/api/v1/memories/{memory_id}/evolution", params={"user_id": user, **query}
    )
    assert response.status_code == 200, response.text
    evolution_found: dict[str, Any] = response.json()
    assert evolution_found.keys() == {"memories", "complete"}
    return evolution_found


def test_a_memory_is_followed_forward_backward_and_both_ways(
    host: httpx.Client, user: str, homes: list[str]
) -> None:
    expected = {None: homes[1:], "forward": homes[1:], "backward": homes[1::-1], "both": homes}
    for direction, ids in expected.items():
        answer = evolution(host, user, homes[1], **({"direction": direction} if direction else {}))
        assert [memory["id"] for memory in answer["memories"]] == ids
        assert answer["complete"] is True
    first, *_, last = evolution(host, user, homes[0], direction="both")["memories"]
    assert (first["status"], first["status_reason"], first["next_id"]) == (
        "superseded",
        "contradicted",
        homes[1],
    )
    assert (last["status"], last["next_id"], last["content"]) == (
        "active",
        None,
        "Ana lives in Porto",
    )
    assert not {"embedding", "lexical", "epoch"} & first.keys()


def test_a_memory_alone_is_its_own_evolution(host: httpx.Client, user: str) -> None:
    alone = save(host, user, "Ana plays the violin")["id"]
    for direction in ("forward", "backward", "both"):
        assert [
            memory["id"] for memory in evolution(host, user, alone, direction=direction)["memories"]
        ] == [alone]


def test_an_edit_makes_a_version_and_no_successor(host: httpx.Client, user: str) -> None:
    memory = save(host, user, "Ana lives in Lisboa", **SLOT)
    body = {"user_id": user, "content": "Ana lives in Lisbon"}
    edited = host.put(f"/api/v1/memories/{memory['id']}", json=body, headers={"If-Match": "*"})
    assert edited.status_code == 200
    assert [
        version["content"]
        for version in evolution(host, user, memory["id"], direction="both")["memories"]
    ] == ["Ana lives in Lisbon"]
    assert problem(
        host.get(f"/api/v1/memories/{memory['id']}.v1/evolution", params={"user_id": user}), 404
    )


@pytest.mark.parametrize("form", [None, "mermaid", "dot", "html"])
def test_the_drawing_shows_the_whole_tree_in_each_format(
    host: httpx.Client, user: str, homes: list[str], form: str | None
) -> None:
    query = {"user_id": user, **({"format": form} if form else {})}
    for memory_id in homes:
        response = host.get(f"/api/v1/memories/{memory_id}/evolution/graph", params=query)
        assert response.status_code == 200
        assert response.headers["content-type"] == f"{MEDIA[form or 'mermaid']}; charset=utf-8"
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["cache-control"] == "no-store"
        for town in ("Berlin", "Lisbon", "Porto"):
            assert f"Ana lives in {town}" in response.text
        assert response.text.count("contradicted") >= 2


def test_the_page_comes_with_a_policy_that_allows_it_nothing(
    host: httpx.Client, user: str, homes: list[str]
) -> None:
    response = host.get(
        f"/api/v1/memories/{homes[0]}/evolution/graph", params={"user_id": user, "format": "html"}
    )
    policy = response.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "frame-ancestors 'none'" in policy
    assert "sandbox" in policy
    assert response.headers["referrer-policy"] == "no-referrer"
    assert response.text.startswith("<!doctype html>")
    for other in ("mermaid", "dot"):
        plain = host.get(
            f"/api/v1/memories/{homes[0]}/evolution/graph",
            params={"user_id": user, "format": other},
        )
        assert "content-security-policy" not in plain.headers


def test_what_people_wrote_stays_text(host: httpx.Client, user: str) -> None:
    memory = save(
        host, user, "</script><script>alert('x')</script> \"]; n0 --> n1", category='"]; <b>'
    )
    path = f"/api/v1/memories/{memory['id']}/evolution/graph"
    texts = {form: host.get(path, params={"user_id": user, "format": form}).text for form in MEDIA}
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;" in texts["html"]
    assert "<script" not in texts["html"]
    assert "<script" not in texts["mermaid"]
    assert '\\"]; n0 --> n1' in texts["dot"]


@pytest.mark.parametrize(
    ("path", "field", "value"),
    [("evolution", "direction", "up"), ("evolution/graph", "format", "png")],
)
def test_an_unknown_direction_or_format_is_refused_by_name(
    host: httpx.Client, user: str, path: str, field: str, value: str
) -> None:
    memory = save(host, user, "Ana plays the violin")
    address = f"/api/v1/memories/{memory['id']}/{path}"
    assert problem(host.get(address, params={"user_id": user, field: value}), 422, field)
    assert problem(host.get(address, params={"user_id": user, "depth": "3"}), 422, "depth")
    assert problem(host.get(address), 422, "user_id")


@pytest.mark.parametrize("path", ["evolution", "evolution/graph"])
def test_another_users_memory_has_no_evolution(host: httpx.Client, user: str, path: str) -> None:
    mine = save(host, user, "Ana plays the violin")
    cities = [
        problem(host.get(f"/api/v1/memories/{name}/{path}", params={"user_id": f"not-{user}"}), 404)
        for name in (mine["id"], "mem_0")
    ]
    assert cities[0]["detail"].replace(mine["id"], "mem_0") == cities[1]["detail"]
