"""What a run of `bench.answers` costs and remembers, without a model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.answers.model import configured
from bench.answers.plan import UNANSWERABLE, WAYS, cost_of, fingerprint, items_of, reference
from bench.answers.report import report, rows_of
from bench.answers.state import OtherRun, State
from bench.locomo_data import Conversation, Question, Turn, read
from memory_core.config import ConfigError

TURNS = [
    Turn(f"D1:{place}", "session-1", "Ana", text, "2026-05-08T13:00:00Z")
    for place, text in enumerate(["I sail.", "In Lisbon."])
]
EVIDENCE = frozenset({"D1:1"})
ASKED = [
    Question("Where does Ana sail?", 4, EVIDENCE, "single-hop"),
    Question("What does Ana do?", 4, EVIDENCE, "single-hop", "She sails"),
    Question("Where does Ben ski?", 5, EVIDENCE, "adversarial", "In Oslo"),
]
TALK = Conversation("talk", TURNS, ASKED)


def test_what_is_right_is_the_sets_answer_or_the_turns_that_hold_it() -> None:
    assert [reference(TALK, question) for question in ASKED] == [
        "[08 May 2026] Ana: In Lisbon.",
        "She sails",
        UNANSWERABLE,
    ]


def test_each_question_is_an_answer_and_a_judgement_in_each_way_and_what_is_known_costs_nothing() -> (  # noqa: E501
    None
):
    items = items_of([TALK], None)
    first = (items[0].key, WAYS[0])
    whole = cost_of(items, WAYS, {}, {})
    assert whole.calls == 4 * len(ASKED)
    answered, judged = cost_of(items, WAYS, {first}, {}), cost_of(items, WAYS, {first}, {first})
    assert (answered.calls, judged.calls) == (whole.calls - 1, whole.calls - 2)
    assert whole.prompt > answered.prompt > judged.prompt
    assert cost_of(items, WAYS[:1], {}, {}).calls == 2 * len(ASKED)
    assert whole.price(2.0, 8.0) == pytest.approx(
        (2 * whole.prompt + 8 * whole.completion) / 1_000_000
    )


def test_no_more_questions_of_a_conversation_than_wanted() -> None:
    assert [item.key for item in items_of([TALK, TALK], 2)] == ["talk#0", "talk#1"] * 2


def test_a_run_goes_on_from_what_it_wrote_also_where_the_last_line_is_half(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "state.jsonl"
    state = State.open(file, set="s", model="m")
    assert not file.exists()
    state.tell("talk", "user-1")
    state.answer(("talk#0", "BM25"), "Lisbon", (100, 10))
    state.judge(("talk#0", "BM25"), True, "as it says", (50, 5))
    with file.open("a") as raw:
        raw.write('{"question": "talk#1", "way"')
    again = State.open(file, set="s", model="m")
    assert (again.users, again.answers, again.verdicts) == (
        {"talk": "user-1"},
        {("talk#0", "BM25"): "Lisbon"},
        {("talk#0", "BM25"): True},
    )
    assert again.spent == [150, 15]
    again.answer(("talk#1", "BM25"), "sails", (1, 1))
    assert State.open(file, set="s", model="m").answers.keys() == {
        ("talk#0", "BM25"),
        ("talk#1", "BM25"),
    }


@pytest.mark.parametrize("other", [{"set": "t", "model": "m"}, {"set": "s", "model": "n"}])
def test_a_file_of_another_set_or_model_is_refused(tmp_path: Path, other: dict[str, str]) -> None:
    State.open(tmp_path / "state.jsonl", set="s", model="m").tell("talk", "user-1")
    with pytest.raises(OtherRun, match="differ"):
        State.open(tmp_path / "state.jsonl", **other)


def test_only_questions_that_are_judged_in_every_way_are_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = items_of([TALK], None)
    state = State.open(tmp_path / "state.jsonl", set="s")
    for item in items[1:]:
        for way in WAYS:
            state.judge((item.key, way), way == WAYS[0], "", (0, 0))
    state.judge((items[0].key, WAYS[0]), True, "", (0, 0))
    rows = rows_of(items, state, WAYS)
    assert [(row.kind, row.values) for row in rows] == [
        (kind, {WAYS[0]: 1.0, WAYS[1]: 0.0}) for kind in ("single-hop", "adversarial")
    ]
    report("talk", rows, WAYS)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    assert [line.split(" | ")[0].strip("| ") for line in lines[1:]] == [
        "single-hop", "all that have an answer", "adversarial, which nothing answers",
    ]  # fmt: skip
    assert "100.0 %" in lines[1]
    assert "+100.0" in lines[1]


def test_without_a_model_it_says_how_to_name_one() -> None:
    with pytest.raises(ConfigError, match="LLM_PROVIDER"):
        configured({})
    assert configured({"LLM_PROVIDER": "openai", "LLM_API_KEY": "k"}).llm_provider == "openai"


def test_answers_are_read_from_either_form(tmp_path: Path) -> None:
    turn = {
        "id": "D1:1",
        "session": 1,
        "speaker": "Ana",
        "text": "I sail.",
        "caption": "",
        "at": "2026-05-08T13:00:00Z",
    }
    asked = {"q": "What does Ana do?", "cat": 4, "evidence": ["D1:1"]}
    plain = [{"conv_id": "a", "turns": [turn], "questions": [asked, {**asked, "answer": 7}]}]
    turn_of_talk = {"dia_id": "D1:1", "speaker": "Ana", "text": "I sail."}
    talk = {"session_1": [turn_of_talk], "session_1_date_time": "1:56 pm on 8 May, 2023"}
    qa = [{"question": "What does Ana do?", "category": 4, "evidence": ["D1:1"], "answer": "sails"}]
    (tmp_path / "plain.json").write_text(json.dumps(plain))
    (tmp_path / "published.json").write_text(
        json.dumps([{"sample_id": "b", "conversation": talk, "qa": qa}])
    )
    answers = [
        [question.answer for question in read(tmp_path / name)[0].questions]
        for name in ("plain.json", "published.json")
    ]
    assert answers == [[None, "7"], ["sails"]]


def test_sets_are_told_apart() -> None:
    assert fingerprint([TALK]) != fingerprint([TALK, TALK])
