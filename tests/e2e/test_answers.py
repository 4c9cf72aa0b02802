"""`python -m bench.answers` over a running host and a scripted model: what it asks,
where it goes on, what it says.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from bench.answers.__main__ import FAILED, REFUSED, STOPPED, main
from tests import fork_server
from tests.chat_server import (
    GOOD,
    Behaviour,
    ChatServer,
    completion,
    hangs,
    is_proof,
    kind_of,
    refuses,
)
from tests.host import answer_when
from tests.served import serving

ROOT = Path(__file__).parents[2]
SAID = [
    ("Ana", "I moved to Lisbon in May and live near the river now."),
    ("Ben", "How lovely! I have just bought a green bicycle."),
    ("Ana", "My new boss at the harbour office is called Petra."),
    ("Ben", "I play chess with my brother Tom every Sunday."),
]
ASKED = [("Where does Ana live?", 0), ("What did Ben buy?", 1), ("Who is Ana's boss?", 2)]


def conversation(name: str) -> dict[str, Any]:
    turns = [
        {
            "id": f"D1:{place}",
            "session": 1,
            "speaker": speaker,
            "text": text,
            "caption": "",
            "at": f"2026-05-08T13:0{place}:00Z",
        }
        for place, (speaker, text) in enumerate(SAID)
    ]
    questions = [
        {"q": text, "cat": 4, "kind": "single-hop", "evidence": [f"D1:{place}"]}
        for text, place in ASKED
    ]
    return {"conv_id": name, "turns": turns, "questions": questions}


@pytest.fixture
def model() -> Iterator[ChatServer]:
    server = ChatServer(model=reads())
    with serving(server):
        yield server


@pytest.fixture(autouse=True)
def hosts_are_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", fork_server.python())


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "talks.json"
    file.write_text(json.dumps([conversation("one"), conversation("two")]))
    return file


def reads() -> Behaviour:
    """A model that repeats what it is shown, and judges by whether the reference's words stand
    in the answer.
    """

    async def behave(_: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        record: str = body["messages"][1]["content"]
        if kind_of(body) not in ("Answer", "Verdict"):
            return completion(json.dumps(GOOD[kind_of(body)]))
        if kind_of(body) == "Answer":
            return completion(
                json.dumps({"answer": " ".join(record.split("| context]")[1].split())[:1900]})
            )
        reference, answer = record.split("| reference]")[1].split("| answer]")
        content = reference.split("] ", 1)[1].rsplit("\n", 1)[0].strip().partition(": ")[2]
        return completion(json.dumps({"why": "it does", "right": content in answer}))

    return behave


def environ(model: ChatServer, **more: str) -> dict[str, str]:
    return {
        "LLM_PROVIDER": "openai",
        "LLM_BASE_URL": f"{model.root}/v1",
        "LLM_API_KEY": "k",
        "LLM_MODEL": "m",
        "LLM_TIMEOUT": "20",
        **more,
    }


def run(data: Path, model: ChatServer, *more: str, reply: str = "y", **settings: str) -> int:
    """The whole bench with a host of its own."""
    arguments = [
        str(data),
        "--state",
        str(data.with_name("state.jsonl")),
        "--embedder",
        "hash",
        *more,
    ]
    return main(arguments, environ(model, **settings), lambda asked: reply)


def kinds(model: ChatServer) -> Counter[str]:
    return Counter(kind_of(body) for body in model.bodies if not is_proof(body))


def test_every_question_is_answered_from_both_contexts_and_judged_once(
    data: Path, model: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(data, model, "--price-in", "2", "--price-out", "8") == 0
    assert kinds(model) == {"Answer": 12, "Verdict": 12}
    out = capsys.readouterr().out
    assert out.startswith("24 calls of m: about ")
    assert "Cost: about 0.0" in out
    assert "6 of 6 questions are judged" in out
    row = next(line for line in out.splitlines() if line.startswith("| all that have an answer"))
    assert [cell.strip() for cell in row.strip("|").split("|")][1:3] == ["6", "100.0 %"]
    assert run(data, model) == 0
    assert model.bodies[24:] == [], "nothing is paid for twice"
    assert "6 of 6 questions are judged" in capsys.readouterr().out


def test_the_host_forms_with_the_model_where_that_is_wanted(
    data: Path, model: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(data, model, "--limit", "1", "--questions", "1", "--form-with-model") == 0
    assert {"Answer", "Verdict", "ExtractedFacts", "ConversationSummary"} <= kinds(model).keys()
    assert "Forming memories with the model comes on top" in capsys.readouterr().out


def test_the_judge_is_not_told_whose_context_it_was(data: Path, model: ChatServer) -> None:
    assert run(data, model, "--limit", "1", "--questions", "1") == 0
    judged = [body["messages"] for body in model.bodies if kind_of(body) == "Verdict"]
    assert len(judged) == 2
    assert not any(
        "BM25" in text["content"] or "Memory Core" in text["content"]
        for messages in judged
        for text in messages
    )


def test_a_model_that_goes_away_is_asked_only_what_is_left(
    data: Path, model: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    answers, well = Counter[str](), reads()

    async def goes_away(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if answers.total() >= 7:
            return await refuses(401)(request, body)
        answers[kind_of(body)] += 1
        return await well(request, body)

    model.model = goes_away
    assert run(data, model) == FAILED
    assert "The model can't be asked (agents: it answered HTTP 401" in capsys.readouterr().err
    model.bodies.clear()
    model.model = well
    assert run(data, model) == 0
    assert answers + kinds(model) == {"Answer": 12, "Verdict": 12}


def test_a_question_without_a_usable_answer_is_asked_again_next_time(
    data: Path, model: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    async def garbage(_: web.Request, __: dict[str, Any]) -> web.StreamResponse:
        return completion("I'd rather not.")

    model.script = [garbage]
    assert run(data, model) == 0
    captured = capsys.readouterr()
    assert "no usable answer" in captured.err
    assert "5 of 6 questions are judged" in captured.out
    model.bodies.clear()
    assert run(data, model) == 0
    assert kinds(model) == {"Answer": 1, "Verdict": 1}
    assert "6 of 6 questions are judged" in capsys.readouterr().out


def test_who_does_not_agree_to_the_price_pays_nothing(
    data: Path, model: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(data, model, reply="") == REFUSED
    captured = capsys.readouterr()
    assert "Cost: unknown" in captured.out
    assert "Nothing was asked." in captured.err
    assert model.bodies == []
    assert not data.with_name("state.jsonl").exists()


def test_without_a_model_or_a_set_it_says_what_is_missing(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = str(data.with_name("state.jsonl"))
    assert main([str(data), "--state", state], {}) == REFUSED
    assert "no model is configured: set LLM_PROVIDER" in capsys.readouterr().err
    absent = str(data.with_name("absent.json"))
    assert (
        main([absent, "--state", state], {"LLM_PROVIDER": "openai", "LLM_API_KEY": "k"}) == REFUSED
    )
    assert capsys.readouterr().err == f"{absent}: No such file or directory\n"


def test_nothing_of_a_set_is_written_into_the_repository(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([str(data), "--state", str(ROOT / "answers.jsonl")], {})
    assert "not kept within this repository" in capsys.readouterr().err


def test_a_run_that_is_interrupted_goes_on(
    data: Path, model: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    answers, well = Counter[str](), reads()

    async def stops(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if answers.total() >= 5:
            return await hangs()(request, body)
        answers[kind_of(body)] += 1
        return await well(request, body)

    model.model = stops
    state = data.with_name("state.jsonl")
    command = fork_server.command(
        "bench.answers", str(data), "--state", str(state), "--embedder", "hash", "--yes"
    )
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MEMORY_", "EMBEDDING_", "LLM_"))
    }
    child = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**environment, **environ(model), fork_server.PYTHON: fork_server.python()},
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # a shell starts what runs behind it with Ctrl-C ignored
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    try:
        answer_when(
            lambda: len(state.read_text().splitlines()) if state.exists() else 0,
            lambda lines: lines >= 7,
            60,
        )
    finally:
        child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, "Stopped; start it again to go on." in err) == (STOPPED, True), (
        out,
        err,
    )
    model.bodies.clear()
    model.model = well
    assert run(data, model) == 0
    assert answers + kinds(model) == {"Answer": 12, "Verdict": 12}
    assert "6 of 6 questions are judged" in capsys.readouterr().out
