"""Answers on file in the place of a model: known ones are given, unknown ones are asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx

from bench.knowledge.recorded import ANSWERS, ASKED, RecordedModel, key_of
from tests.served import serving


def request(record: str, instructions: str = "Do it") -> dict[str, Any]:
    return {
        "model": "recorded",
        "messages": [
            {"role": "system", "content": instructions},
            {"role": "user", "content": record},
        ],
        "response_format": {"type": "json_schema", "json_schema": {"name": "Decisions"}},
    }


def answer_to(model: RecordedModel, body: dict[str, Any]) -> str:
    response = httpx.post(f"{model.root}/v1/chat/completions", json=body)
    return str(response.raise_for_status().json()["choices"][0]["message"]["content"])


def test_a_known_record_gets_its_answer_whatever_the_instructions(tmp_path: Path) -> None:
    answers = {key_of(request("Ana moved")): {"decisions": []}}
    (tmp_path / ANSWERS).write_text(json.dumps(answers))
    model = RecordedModel(tmp_path)
    with serving(model):
        assert answer_to(model, request("Ana moved", "Do it well")) == '{"decisions": []}'
    assert model.counts == {"answered": 1}
    assert not (tmp_path / ASKED).exists()


def test_an_unknown_record_is_written_down_once_and_gets_no_usable_answer(tmp_path: Path) -> None:
    model = RecordedModel(tmp_path / "new")
    with serving(model):
        assert {answer_to(model, request("Ben left")) for _ in range(2)} == {"no answer"}
    (line,) = (tmp_path / "new" / ASKED).read_text().splitlines()
    assert json.loads(line) == {
        "key": key_of(request("Ben left")),
        "instructions": "Do it",
        "record": "Ben left",
    }
