from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.localhost.routing import Route, Router

TEMPLATES = {
    "one": ("GET", "api/v1/memories/{memory_id}"),
    "query": ("GET", "api/v1/memories/query"),
    "save": ("POST", "api/v1/memories/save"),
    "status": ("PATCH", "api/v1/memories/{memory_id}/status"),
    "list": ("GET", "api/v1/memories"),
    "root": ("GET", "/"),
}
ROUTER = Router(
    [Route.parse(name, method, template, print) for name, (method, template) in TEMPLATES.items()]
)


def found(method: str, path: str) -> tuple[str, dict[str, str]] | None:
    match = ROUTER.match(method, path.encode())
    return match and (match.route.function, match.parameters)


@pytest.mark.parametrize(
    ("method", "path", "function", "parameters"),
    [
        ("GET", "/", "root", {}),
        ("GET", "/api/v1/memories", "list", {}),
        ("GET", "/api/v1/memories/", "list", {}),
        ("GET", "/API/V1/Memories/QUERY", "query", {}),
        ("GET", "/api/v1/memories/query", "query", {}),
        ("GET", "/api/v1/memories/save", "one", {"memory_id": "save"}),
        ("GET", "/api/v1/memories/Mem_A", "one", {"memory_id": "Mem_A"}),
        ("GET", "/api/v1/memories/%D0%BA%20b", "one", {"memory_id": "к b"}),
        ("GET", "/api/v1/memories/a%2fb%2F%41", "one", {"memory_id": "a%2fb%2FA"}),
        ("PATCH", "/api/v1/memories/x/status", "status", {"memory_id": "x"}),
    ],
)
def test_a_path_finds_its_function(
    method: str, path: str, function: str, parameters: dict[str, str]
) -> None:
    assert found(method, path) == (function, parameters)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "/api/v1/memories/save"),
        ("HEAD", "/api/v1/memories"),
        ("PATCH", "/api/v1/memories//status"),
        ("GET", "/api/v1/memories/a/b"),
        ("GET", "/api/v1"),
        ("GET", "//"),
        ("GET", "*"),
    ],
)
def test_a_wrong_method_or_an_unknown_path_finds_nothing(method: str, path: str) -> None:
    assert found(method, path) is None


def test_a_route_for_all_paths_takes_what_no_other_route_fits() -> None:
    router = Router(
        [
            Route.parse("a_rest", "GET", "{*path}", print),
            Route.parse("z_one", "GET", "a/{b}", print),
        ]
    )
    for path, function, parameters in (
        ("/a/x", "z_one", {"b": "x"}),
        ("/a", "a_rest", {"path": "a"}),
        ("/a/x/y%20z/", "a_rest", {"path": "a/x/y z"}),
        ("/", "a_rest", {"path": ""}),
    ):
        match = router.match("GET", path.encode())
        assert match is not None
        assert (match.route.function, match.parameters) == (function, parameters)
    assert router.match("POST", b"/a") is None


def test_a_path_that_is_no_utf8_is_told_apart_from_an_unknown_one() -> None:
    with pytest.raises(UnicodeDecodeError):
        ROUTER.match("GET", b"/api/v1/memories/%ff")


@pytest.mark.parametrize("template", ["a/{b?}", "a/{*rest}", "a/{b:int}", "a/x{b}"])
def test_templates_that_this_host_cannot_serve_are_refused_at_start(template: str) -> None:
    with pytest.raises(ValueError, match="does not know"):
        Route.parse("f", "GET", template, print)


@given(value=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/"), min_size=1))
def test_any_parameter_arrives_as_it_was_sent(value: str) -> None:
    match = ROUTER.match("PATCH", f"/api/v1/memories/{quote(value, safe='')}/status".encode())
    assert match is not None
    assert match.parameters == {"memory_id": value}
