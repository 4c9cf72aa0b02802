"""A fork of the server does what `python -m` does: each is tried both ways, and a stand-in
process as well.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from tests import child, fork_server
from tests.host import ROOT, answer_when

Start = Callable[..., fork_server.Program]
PROGRAM = "tests.integration.talking_child"
HERE = {**os.environ, "PYTHONPATH": str(ROOT)}
only_forked = pytest.mark.skipif(not fork_server.CAN_FORK, reason="forks are for Linux")


def by_a_stand_in(arguments: list[str], **options: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(fork_server.command(*arguments), bufsize=0, **options)


def by_an_interpreter(arguments: list[str], **options: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen([fork_server.python(), "-m", *arguments], bufsize=0, **options)


STARTS: dict[str, Start] = {
    "forked": fork_server.start,
    "afresh": fork_server.start_afresh,
    "by a stand-in": by_a_stand_in,
    "by an interpreter": by_an_interpreter,
}


@pytest.fixture(params=STARTS)
def start(request: pytest.FixtureRequest) -> Start:
    return STARTS[request.param]


@contextmanager
def ended(process: fork_server.Program) -> Iterator[Any]:
    """Kill a process after the block, and let go of its pipes."""
    try:
        yield process
    finally:
        child.end(process)


@pytest.fixture
def talking(start: Start, tmp_path: Path) -> Iterator[Any]:
    """A program that says who it is and then does what it is told."""
    environment = {**HERE, "NUMBER": "7"}
    with ended(
        start([PROGRAM, "one", "two"], cwd=tmp_path, env=environment, stdin=PIPE, stdout=PIPE)
    ) as process:
        yield process


def said(process: fork_server.Program) -> Any:
    """The next line of a process."""
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def tell(process: fork_server.Program, line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n".encode())
    process.stdin.flush()


def test_folder_arguments_and_environment_are_its_own(
    talking: fork_server.Program, tmp_path: Path
) -> None:
    first = said(talking)
    assert (first["folder"], first["path"]) == (str(tmp_path), str(tmp_path))
    assert (first["arguments"], first["name"], first["NUMBER"]) == (["one", "two"], "__main__", "7")
    assert first["pid"] != os.getpid()
    assert HERE.keys() <= set(first["variables"])
    assert not first["open"], "nothing of the server's is open in it"
    assert first["threads"] == 1
    ignored_here = {
        number.name for number in signal.Signals if signal.getsignal(number) is signal.SIG_IGN
    }
    # It hears Ctrl+C, also where the process that started the tests does not.
    assert {*first["ignored"]} == ignored_here - {"SIGINT"}


def test_a_variable_that_it_is_not_given_is_not_there(start: Start, tmp_path: Path) -> None:
    given = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    with ended(start([PROGRAM], cwd=tmp_path, env=given, stdin=PIPE, stdout=PIPE)) as process:
        assert (
            set(said(process)["variables"]) - {"LC_CTYPE", "OPENBLAS_NUM_THREADS"} == given.keys()
        )


@pytest.mark.parametrize("name", ["PYTHONASYNCIODEBUG", "SSL_CERT_FILE", "OTEL_PROPAGATORS"])
def test_with_a_variable_that_is_read_at_import_it_is_no_fork(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    fork_server.command()  # the server runs, without it
    monkeypatch.setenv(name, "1")
    environment = {**HERE, name: "1"}
    with ended(
        fork_server.start([PROGRAM], cwd=tmp_path, env=environment, stdin=PIPE, stdout=PIPE)
    ) as process:
        assert name in said(process)["variables"]
        assert isinstance(process, subprocess.Popen)


@pytest.mark.parametrize(
    ("how", "code"), [("end 0", 0), ("end 3", 3), ("fail", 1), ("say", 1), ("return", 0)]
)
def test_its_exit_code_is_the_programs(talking: fork_server.Program, how: str, code: int) -> None:
    said(talking)
    assert talking.poll() is None
    tell(talking, how)
    assert talking.wait(30) == code
    assert talking.poll() == code
    assert talking.stdout is not None
    assert b"last words" in talking.stdout.read(), "what was not flushed, and what is said at exit"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it(talking: fork_server.Program, how: signal.Signals) -> None:
    said(talking)
    talking.send_signal(how)
    assert talking.wait(30) == -how


@only_forked
def test_one_that_is_frozen_says_nothing_until_it_goes_on(tmp_path: Path) -> None:
    with ended(
        fork_server.start([PROGRAM], cwd=tmp_path, env=HERE, stdin=PIPE, stdout=PIPE)
    ) as process:
        pid = said(process)["pid"]
        assert pid == process.pid
        process.send_signal(signal.SIGSTOP)
        answer_when(lambda: state(pid), lambda letter: letter == "T")
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.01)
        process.send_signal(signal.SIGCONT)
        tell(process, "end 4")
        assert process.wait(30) == 4


@only_forked
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_with_its_stand_in(tmp_path: Path, how: signal.Signals) -> None:
    with ended(
        by_a_stand_in([PROGRAM], cwd=tmp_path, env=HERE, stdin=PIPE, stdout=PIPE)
    ) as process:
        pid = said(process)["pid"]
        process.send_signal(how)
        assert process.wait(30) == -how
        answer_when(lambda: state(pid), lambda letter: letter == "")


@only_forked
def test_it_ends_when_who_started_its_server_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OWNER, str(tmp_path)]
    with ended(subprocess.Popen(command, cwd=ROOT, env=HERE, stdout=PIPE, bufsize=0)) as owner:
        server = Path(said(owner))
        assert server.is_socket()
        pid = said(owner)["pid"]
        owner.kill()
        answer_when(lambda: state(pid), lambda letter: letter == "")
        answer_when(server.parent.exists, lambda there: not there)


OWNER = f"""
import json, os, signal, subprocess, sys
from pathlib import Path
from tests import fork_server
print(json.dumps(fork_server.command()[-1]), flush=True)
process = fork_server.start(["{PROGRAM}"], cwd=Path(sys.argv[1]), env=dict(os.environ), stdin=subprocess.PIPE, stdout=1)
signal.pause()
"""  # noqa: E501


def state(pid: int) -> str:
    """Linux's letter for what a process is doing; none where it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except FileNotFoundError:
        return ""
