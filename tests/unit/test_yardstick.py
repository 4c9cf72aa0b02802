"""The yardstick's arithmetic: intervals, what is in a context, packing, fusing,
and how a session is cut into calls.
"""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest

from bench.counted import write_units
from bench.loads import PRICES
from bench.locomo_data import Turn
from bench.peers import StoredTurns, which, why_not
from bench.yardstick.bills import RUNS, Cost, month
from bench.yardstick.contexts import packed, packed_in_order, share_standing
from bench.yardstick.figures import Row, figure
from bench.yardstick.frames import pairs
from bench.yardstick.peers import bm25, by_reciprocal_rank, ranked
from bench.yardstick.sentences import messages_of_six, rarest_words
from bench.yardstick.told import calls_of
from bench.yardstick.turns import OURS, asked_peers, report_contexts, report_found
from bench.yardstick.unrelated import is_lost
from bench.yardstick.ways import Measured
from bench.yardstick.wire import Meter


def turn(number: int, text: str, actor: str = "Ana", session: str = "session-1") -> Turn:
    return Turn(f"D{number}", session, actor, text, f"2026-05-08T13:{number % 60:02}:00+00:00")


def test_a_figure_of_equal_values_has_no_width() -> None:
    made = figure([0.5] * 8, [0, 0, 1, 1, 2, 2, 3, 3])
    assert (made.mean, made.low, made.high, made.count) == (0.5, 0.5, 0.5, 8)


def test_four_conversations_are_drawn_as_wholes() -> None:
    """Within a conversation all questions agree, so their number makes the interval no narrower."""
    few = figure([0.0, 0.0, 1.0, 1.0], [0, 1, 2, 3])
    many = figure([0.0] * 200 + [1.0] * 200, [number // 100 for number in range(400)])
    assert few.over == many.over == "conversations"
    assert (few.low, few.high) == (many.low, many.high)


def test_of_three_conversations_questions_are_drawn() -> None:
    made = figure([0.0] * 50 + [1.0] * 50, [number % 3 for number in range(100)])
    assert made.over == "questions"
    assert 0.38 < made.low < 0.45 < made.mean < 0.55 < made.high < 0.62


def test_the_interval_is_the_same_in_every_run() -> None:
    values, groups = [0.1, 0.9, 0.4, 0.3, 0.8], [0, 1, 2, 3, 3]
    assert figure(values, groups) == figure(values, groups)


def test_a_figure_of_nothing_is_no_number() -> None:
    assert figure([], []).count == 0
    assert figure([], []).mean != figure([], []).mean


def test_a_turn_stands_where_four_fifths_of_its_long_words_do() -> None:
    turn_text = "green apples taste better cold"
    assert share_standing("Green apples, they taste better!", [turn_text]) == 1.0
    assert share_standing("green apples taste", [turn_text]) == 0.0
    assert share_standing("green apples taste better", [turn_text, "nothing alike"]) == 0.5


def test_short_words_do_not_count() -> None:
    assert share_standing("the tower", ["it is the tower we all saw"]) == 1.0


def test_packing_stays_within_its_budget() -> None:
    texts = ["a" * 420, "b" * 420, "c" * 42]
    assert packed([3.0, 2.0, 1.0], texts, 130) == f"{texts[0]}\n{texts[2]}"


def test_packing_prefers_the_shorter_of_two_equally_good_turns() -> None:
    texts = ["long " * 200, "short " * 40]
    assert packed([1.0, 1.0], texts, 260).startswith("short")


def test_packing_in_order_takes_the_first_that_fit_whatever_their_length() -> None:
    texts = ["a" * 420, "b" * 42, "c" * 420, "d" * 42]
    assert packed_in_order(texts, 150) == f"{texts[0]}\n{texts[1]}\n{texts[3]}"
    assert packed_in_order(["e" * 420, "f"], 50) == "f"


def test_fusing_puts_first_what_both_lists_have_near_the_top() -> None:
    assert by_reciprocal_rank([9.0, 8.0, 1.0], [1.0, 8.0, 9.0]).index(
        max(by_reciprocal_rank([9.0, 8.0, 1.0], [1.0, 8.0, 9.0]))
    ) in (0, 2)
    fused = by_reciprocal_rank([3.0, 2.0, 1.0, 0.0], [3.0, 1.0, 2.0, 0.0])
    assert ranked(fused) == [0, 1, 2, 3]


def test_bm25_finds_the_turn_with_the_rare_word() -> None:
    turns = [
        turn(1, "we went to the lake"),
        turn(2, "we went to the museum"),
        turn(3, "the lake was cold"),
    ]
    assert ranked(bm25(turns)("Which museum?"))[0] == 1


def rows(**more: float) -> list[Row]:
    return [
        Row(
            0, "single-hop", {OURS: 1.0, "BM25": 0.5, "cosine": 0.5, "BM25 and cosine": 0.5, **more}
        )
    ]


def test_a_peer_that_was_not_asked_has_no_line() -> None:
    assert asked_peers(rows()) == ["BM25", "cosine", "BM25 and cosine"]
    assert asked_peers(rows(mem0=0.25)) == ["BM25", "cosine", "BM25 and cosine", "mem0"]


def test_mem0_stands_beside_the_others_in_what_is_found() -> None:
    measured = Measured()
    report_found(measured, "found", "turns", rows(mem0=0.25))
    assert measured.figures["tables"][0]["lines"][-1][:3] == ["mem0", "1", "0.250"]
    assert measured.figures["turns"]["mem0"]["ours less this"]["mean"] == 0.75


def test_mem0_stands_beside_the_others_in_contexts() -> None:
    measured = Measured()
    values = dict.fromkeys(
        (
            "standing",
            "words",
            "sufficient",
            *(f"standing, {peer}" for peer in asked_peers(rows(mem0=1.0))),
        ),
        0.5,
    )
    report_contexts(
        measured,
        "contexts",
        {"50 a call": [Row(0, "single-hop", {**values, "standing, mem0": 0.25})]},
    )
    table = measured.figures["tables"][0]
    assert table["lines"][0][table["headings"].index("mem0 packed")] == "0.250"
    assert measured.figures["contexts, 50 a call"]["ours less mem0"]["mean"] == 0.25


def test_tables_name_the_mem0_that_was_measured_or_how_to_install_it() -> None:
    measured = Measured()
    report_found(measured, "found", "turns", rows())
    assert measured.figures["tables"][0]["note"] == which()
    assert which().startswith("mem0 ")


def test_without_its_packages_mem0_is_skipped_in_a_line_that_says_how_to_install_them() -> None:
    reason = why_not(("json", "no_such_package"))
    assert (
        reason == "mem0 is skipped: no_such_package not installed here (pip install -e '.[bench]')"
    )
    assert why_not(("json",)) is None


@pytest.mark.skipif(why_not() is not None, reason="mem0 is not installed here")
@pytest.mark.filterwarnings("ignore")
def test_mem0_finds_the_turns_of_nearest_vectors(tmp_path: Path) -> None:
    axes = {"lake": 0, "museum": 1, "train": 2}

    def vector(text: str) -> list[float]:
        return [float(place == axes[text]) + 0.1 * (place == 0) for place in range(384)]

    stored = StoredTurns(tmp_path, {"D1": "lake", "D2": "museum", "D3": "train"}, vector)
    assert stored.search("museum", 2) == ["D2", "D1"]
    assert stored.search("train", 1) == ["D3"]
    stored.close()


def test_a_session_is_told_in_calls_of_so_many_messages() -> None:
    calls = calls_of([turn(number, f"text {number}") for number in range(5)], "2")
    assert [len(call) for call in calls] == [2, 2, 1]
    assert calls[0][0] == {
        "role": "user",
        "content": "text 0",
        "actor": "Ana",
        "timestamp": "2026-05-08T13:00:00+00:00",
    }


def test_histories_hold_all_that_was_said_so_far_without_names() -> None:
    calls = calls_of(
        [turn(number, f"text {number}", "Assistant") for number in range(25)], "histories"
    )
    assert [len(call) for call in calls] == [10, 20, 25]
    assert calls[1][0] == {
        "role": "assistant",
        "content": "text 0",
        "timestamp": "2026-05-08T13:00:00+00:00",
    }
    assert {"actor", "timestamp"} <= calls_of([turn(1, "text")], "named-histories")[0][0].keys()
    assert {"actor", "timestamp"} & calls_of([turn(1, "text")], "timeless-histories")[0][
        0
    ].keys() == {"actor"}


def test_a_long_history_is_told_by_its_last_two_hundred() -> None:
    calls = calls_of([turn(number, f"text {number}") for number in range(230)], "histories")
    assert [len(call) for call in calls][-3:] == [200, 200, 200]
    assert calls[-1][-1]["content"] == "text 229"


def test_pairs_are_of_two_halves() -> None:
    assert pairs([1, 2, 3, 4, 5]) == [(1, 3), (2, 4)]


@pytest.mark.parametrize(
    ("opened", "shipped", "lost"),
    [
        (["a", "b"], ["a", "b"], False),
        (["x", "b", "a"], ["x", "a"], True),
        (["x", "y"], [], None),
        ([*"0123456789", "a"], [], None),
    ],
)
def test_a_best_hit_is_lost_when_the_thresholds_leave_it_out(
    opened: list[str], shipped: list[str], lost: bool | None
) -> None:
    assert is_lost(opened, shipped, frozenset("ab")) is lost


def test_the_rarest_words_of_a_turn_are_those_of_fewest_turns() -> None:
    texts = ["the red fox jumps over lazy dogs", "the red fox sleeps", "the lazy cat"]
    assert rarest_words(texts[0], texts, 3) == ["jumps", "over", "dogs"]
    assert rarest_words("too short", texts, 5) is None


def test_a_message_of_six_sentences_has_the_question_in_it() -> None:
    texts = [
        f"This is sentence number {number} of that talk. And it goes on for {number} more."
        for number in range(10)
    ]
    first, second = messages_of_six(["Who won?", "Who lost?"], texts)
    assert "Who won?" in first
    assert first.count(".") == 5
    assert not set(first.split(". ")) & set(second.split(". "))


def document(name: str, size: int = 0, **more: object) -> dict[str, object]:
    return {"id": name, "text": "x" * size, **more}


def test_the_meter_counts_a_document_that_replaces_another_twice() -> None:
    meter = Meter(vector_numbers=4)
    meter.batch("user", [{"operationType": "Create", "resourceBody": document("a")}])
    created = meter.units
    meter.batch("user", [{"operationType": "Upsert", "resourceBody": document("a")}])
    assert meter.units == pytest.approx(3 * created)
    assert (meter.requests, meter.documents, meter.written) == (2, 1, 2)


def test_the_meter_counts_reads_twice_and_a_vector_once() -> None:
    meter = Meter(vector_numbers=4)
    meter.read(100)
    assert meter.units == 2.0
    meter.query(3.0)
    assert meter.units == 5.0, "the emulator has counted it twice"
    plain, vector = Meter(4), Meter(4)
    plain.write("user", document("a"))
    vector.write("user", document("a", embedding=[0.5, 0.5, 0.5, 0.5]))
    assert 4.0 < vector.units - plain.units < 4.1


@pytest.mark.parametrize("status", [200, 404])
def test_the_meter_counts_a_read_of_one_replica_once(status: int) -> None:
    meter = Meter(4)
    for level in ({}, {"x-ms-consistency-level": "Session"}):
        meter.note("GET", "/dbs/d/colls/c/docs/a", level, b"", status, b"{}", 0.0)
    assert (meter.requests, meter.units) == (2, 3.0)


def test_in_a_pause_the_meter_counts_nothing_and_knows_what_is_written() -> None:
    meter, key = Meter(4), {"x-ms-documentdb-partitionkey": "user"}
    path, body = "/dbs/d/colls/c/docs", json.dumps(document("a", 5_000)).encode()
    meter.counting = False
    meter.note("POST", path, key, body, 201, b"", 0.0)
    assert (meter.requests, meter.units, meter.bytes_in, meter.written) == (0, 0.0, 0, 0)
    assert not meter.spent
    assert not meter.counts
    meter.counting = True
    meter.note("PATCH", f"{path}/a", key, b"", 200, b"", 0.0)
    assert meter.units == pytest.approx(2 * write_units(len(orjson.dumps(document("a", 5_000)))))


def test_a_month_is_paid_for_conversations_and_for_the_runs_after_them() -> None:
    def cost(units: float, calls: float) -> Cost:
        counted = {"bytes stored": 0.0, "requests": 10.0, "request units": units}
        asked = {"model calls": calls, "tokens read": 1_000 * calls, "tokens written": 100 * calls}
        return Cost(counted | asked, {}, {})

    alone, both = month(cost(300, 2), cost(0, 0), 1_000), month(cost(300, 2), cost(100, 1), 1_000)
    assert alone["request units"] == pytest.approx(30_000 * 300 / 1e6 * PRICES["ru_million"])
    assert both["request units"] == pytest.approx(alone["request units"] * (300 + RUNS * 100) / 300)
    assert both["models"] == pytest.approx(alone["models"] * (2 + RUNS) / 2)
    assert both["Functions"] > alone["Functions"] > 0


def test_the_meter_says_what_units_are_for() -> None:
    meter = Meter(4)
    message = {**document("a"), "kind": "memory", "category": "message"}
    meter.read(100)
    meter.query(3.0)
    meter.batch(
        "user",
        [
            {"operationType": "Create", "resourceBody": message},
            {"operationType": "Patch", "id": "a"},
            {"operationType": "Upsert", "resourceBody": {**document("h"), "kind": "head"}},
            {"operationType": "Upsert", "resourceBody": {**document("h"), "kind": "head"}},
        ],
    )
    assert list(meter.spent) == [
        "reads",
        "queries",
        "message, created",
        "message, patched",
        "head, created",
        "head, replaced",
    ]
    assert sum(meter.spent.values()) == pytest.approx(meter.units)


def test_a_deleted_document_is_no_longer_stored() -> None:
    meter = Meter(4)
    meter.batch("user", [{"operationType": "Create", "resourceBody": document("a", 500)}])
    assert meter.stored > 500
    meter.batch("user", [{"operationType": "Delete", "id": "a"}])
    assert (meter.documents, meter.stored) == (0, 0)
