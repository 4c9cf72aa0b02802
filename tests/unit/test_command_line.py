"""The command line's own parts: which memory is meant, what a terminal is given,
and what the doctor sees.
"""

from __future__ import annotations

import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import httpx2
import pytest
from rich.console import Console
from typer.main import get_group

from memory_core.cli.__main__ import main
from memory_core.cli.application import OTHER_WORDS, app
from memory_core.cli.command import USAGE, CommandFailed
from memory_core.cli.doctor import file_checks, keys_checks, package_checks, settings_checks
from memory_core.cli.keys import check_route
from memory_core.cli.output import Output, printable
from memory_core.cli.service import CallFailed, MemoryService
from memory_core.cli.target import other_default_folder, target_of


def test_an_option_comes_before_a_variable_and_an_address_before_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    variables = {
        "MEMORY_CORE_URL": "https://there.example/",
        "MEMORY_CORE_USER": "ana",
        "MEMORYCORE_KEY": "mc_old",
        "MEMORY_DATA": "d",
    }
    there = target_of(None, None, None, None, variables)
    assert (there.url, there.key, there.user) == ("https://there.example", "mc_old", "ana")
    assert target_of(None, "mc_new", None, "ben", variables).key == "mc_new"
    here = target_of(None, None, "here", "ben", variables)
    assert (here.url, here.data, here.user) == (None, Path("here"), "ben")
    assert target_of(None, None, None, None, {"MEMORY_DATA": "d"}).data == Path("d")
    share = {"XDG_DATA_HOME": str(tmp_path / "share"), "LOCALAPPDATA": str(tmp_path / "share")}
    assert target_of(None, None, None, None, share).data != Path(".memory")
    (tmp_path / ".memory").mkdir()
    assert target_of(None, None, None, None, share).data == Path(".memory")
    assert other_default_folder(target_of(None, None, None, None, share), share) is None
    (Path(share["XDG_DATA_HOME"]) / "memory-core").mkdir(parents=True)
    (Path(share["XDG_DATA_HOME"]) / "memory-core" / "memory.db").touch()
    assert (
        other_default_folder(target_of(None, None, None, None, share), share)
        == Path(share["XDG_DATA_HOME"]) / "memory-core"
    )
    assert (
        other_default_folder(target_of("http://localhost", None, None, None, share), share) is None
    )


@pytest.mark.parametrize(
    ("url", "key", "data", "user"),
    [
        ("http://a", None, "b", None),
        (None, "mc_x", None, None),
        (None, None, "", None),
        ("ftp://a", None, None, None),
        ("http://a b", None, None, None),
        ("http://a:port", None, None, None),
        (None, None, None, ""),
        (None, None, None, "a/b"),
    ],
)
def test_what_can_not_be_meant_is_refused(
    url: str | None, key: str | None, data: str | None, user: str | None
) -> None:
    with pytest.raises(ValueError, match="--"):
        target_of(url, key, data, user, {})


def test_texts_neither_steer_a_terminal_nor_are_read_as_styles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert printable("a\x1b[2J\x07\u202eb\n\tc\x9b") == "a\ufffd[2J\ufffd\ufffdb\n\tc\ufffd"
    written, output = io.StringIO(), Output()
    monkeypatch.setattr(
        output,
        "_console",
        Console(file=written, force_terminal=True, color_system=None, markup=False, width=80),
    )
    output.table(("id", "content"), [("mem_1", "[bold red]not a style[/] \x1b[31m")])
    output.line("[link=http://a]click[/link]")
    assert "[bold red]not a style[/] \ufffd[31m" in written.getvalue()
    assert "[link=http://a]click[/link]" in written.getvalue()


def test_without_a_terminal_the_progress_is_a_line_each_half_minute(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An import of a quarter of an hour, in a pipe or a log, printed nothing until its end."""
    for as_json, printed in ((False, "later\nlast\n"), (True, "")):
        moments = iter((0.0, 5.0, 31.0, 32.0, 62.0))
        output = Output(as_json=as_json, seconds_now=lambda moments=moments: next(moments))
        for text in ("first", "later", "again", "last"):
            output.progress_line(text)
        assert capsys.readouterr().err == printed


def test_the_doctor_names_each_wrong_and_each_unknown_setting() -> None:
    settings, checks = settings_checks(
        {
            "MEMORY_PORT": "many",
            "MEMORY_LONG_TERM": "paper",
            "MEMORY_GRANDMOTHER": "1",
            "MEMORY_CORE_URL": "x",
        }
    )
    assert settings is None
    assert [
        (check.status, check.detail.split(":")[0].split("=")[0].split(" ")[0]) for check in checks
    ] == [
        ("warning", "MEMORY_GRANDMOTHER"),
        *(("wrong", name) for name in sorted(["MEMORY_LONG_TERM", "MEMORY_PORT"])),
    ]
    assert all(check.advice for check in checks)


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"MEMORY_AUTH": "off", "MEMORY_HOST": "0.0.0.0"}, ["MEMORY_API_KEYS"]),
        ({"MEMORY_AUTH": "on"}, ["MEMORY_API_KEYS"]),
        ({"MEMORY_AUTH": "off"}, []),
    ],
)
def test_the_doctor_says_that_a_host_without_a_key_would_let_nobody_in(
    environment: dict[str, str], named: list[str]
) -> None:
    settings, _ = settings_checks(environment)
    assert settings is not None
    checks = keys_checks(settings)
    assert [check.detail.split(" ")[0] for check in checks] == named
    assert all(check.status == "warning" and check.advice for check in checks)


def test_the_doctor_names_a_damaged_file_and_what_helps(tmp_path: Path) -> None:
    settings, _ = settings_checks({"MEMORY_DATA": str(tmp_path)})
    assert settings is not None
    assert file_checks(settings) == []
    with closing(sqlite3.connect(tmp_path / "memory.db")) as file:
        file.execute("CREATE TABLE kept (text)")
    (tmp_path / "queue.db").write_bytes(b"not a database" * 1000)
    sound, damaged = file_checks(settings)
    assert (sound.name, sound.status) == ("memory.db", "ok")
    assert (damaged.name, damaged.status) == ("queue.db", "wrong")
    assert "remove it" in damaged.advice


def test_the_doctor_says_where_packages_are_not_installed() -> None:
    (check,) = package_checks("no-such-distribution")
    assert check.status == "warning"


async def test_a_call_that_meets_an_outage_is_sent_again_under_the_same_key() -> None:
    keys: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        keys.append(request.headers["Idempotency-Key"])
        if len(keys) == 1:
            raise httpx2.ConnectError("gone")
        return (
            httpx2.Response(503, headers={"Retry-After": "0"})
            if len(keys) == 2
            else httpx2.Response(200, json={"user": json.loads(request.content)})
        )

    async with httpx2.AsyncClient(
        transport=httpx2.MockTransport(answer), base_url="http://there"
    ) as http:
        assert await MemoryService(http, "ana").post("/x", {"left": None}, "same") == {
            "user": {"user_id": "ana"}
        }
    assert keys == ["same"] * 3


@pytest.mark.parametrize("content", [b"<html>", b"[]", b"\xff"])
async def test_an_address_where_something_else_answers_is_named_as_such(content: bytes) -> None:
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, content=content))
    async with httpx2.AsyncClient(transport=transport, base_url="http://there") as http:
        with pytest.raises(CallFailed, match="not as Memory Core does"):
            await MemoryService(http, "ana").get("/x")


async def test_a_service_without_calls_for_keys_is_named_as_such() -> None:
    async with httpx2.AsyncClient(
        transport=httpx2.MockTransport(lambda request: httpx2.Response(404)),
        base_url="http://there",
    ) as http:
        with pytest.raises(CommandFailed, match="MEMORY_API_KEYS"):
            await check_route(MemoryService(http, "ana"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--url", "http://a", "search", "x"], "--url belongs after the command"),
        (["--user=ana", "search", "x"], "--user belongs after the command"),
        (["ask", "x"], "No such command 'ask'. Did you mean 'search'?"),
        (["retrieve", "x"], "No such command 'retrieve'. Did you mean 'search'?"),
        (["add", "x"], "No such command 'add'. Did you mean 'save'?"),
        (["serach", "x"], "No such command 'serach'. Did you mean 'search'?"),
        (["zork"], "No such command 'zork'."),
    ],
)
def test_a_wrong_command_is_told_which_is_meant(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == USAGE
    assert f"Error: {message}" in capsys.readouterr().err


def test_the_words_for_commands_are_no_commands_and_lead_to_some() -> None:
    names = set(get_group(app).list_commands(None))  # type: ignore[arg-type]
    assert names.isdisjoint(OTHER_WORDS)
    assert set(OTHER_WORDS.values()) <= names
