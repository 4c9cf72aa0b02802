"""The stored fields of a slot's members, as they follow from its timeline."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memory_core.domain.errors import Conflict
from memory_core.domain.truth.entries import Assertion, Entry
from memory_core.domain.truth.resolve import resolve
from memory_core.evolution.truth_commands import MAX_WITHDRAWN, undoes
from memory_core.evolution.truth_projection import Projection
from tests.truth_logs import added, projections
from tests.truth_stories import day, played

Fields = dict[tuple[str, int, int], Projection]


def save(memory: str, value: str, date_said: str, **more: Any) -> dict[str, Any]:
    return {"do": "save", "memory": memory, "value": value, "said": date_said, **more}


def projected(steps: list[dict[str, Any]], now: str) -> Fields:
    return projections(resolve(played(steps)), day(now))


def row(projection: Projection) -> tuple[str, str | None, str, str | None, str | None]:
    until = None if projection.valid_until is None else f"{projection.valid_until:%Y-%m}"
    return (
        projection.status.value,
        projection.status_reason,
        f"{projection.valid_from:%Y-%m}",
        until,
        projection.next_id,
    )


def test_of_an_announced_truth_and_the_present_one_both_are_active() -> None:
    fields = projected(
        [save("m1", "Y", "2023-01"), save("m2", "X", "2024-04", **{"from": "2024-06"})], "2024-05"
    )
    assert row(fields["m1", 1, 0]) == ("active", None, "2023-01", "2024-06", "m2")
    assert row(fields["m2", 1, 0]) == ("active", None, "2024-06", None, None)


def test_once_the_announced_one_has_begun_the_other_is_superseded() -> None:
    fields = projected(
        [save("m1", "Y", "2023-01"), save("m2", "X", "2024-04", **{"from": "2024-06"})], "2024-06"
    )
    assert row(fields["m1", 1, 0]) == ("superseded", "contradicted", "2023-01", "2024-06", "m2")


def test_of_a_value_that_held_twice_the_earlier_time_is_a_part_of_its_own() -> None:
    steps = [
        save("m1", "A", "2021-01"),
        save("m1", "A", "2023-01"),
        save("m2", "B", "2022-01", arrives="2024-01"),
    ]
    fields = projected(steps, "2024-02")
    assert row(fields["m1", 1, 1]) == ("superseded", "contradicted", "2021-01", "2022-01", "m2")
    assert row(fields["m2", 1, 0]) == ("superseded", "contradicted", "2022-01", "2023-01", "m1")
    assert row(fields["m1", 1, 0]) == ("active", None, "2023-01", None, None)


def test_what_never_holds_leads_to_what_holds_where_it_would_begin() -> None:
    steps = [save("m1", "Bern", "2024-04"), save("m2", "Rome", "2024-05", **{"from": "2024-03"})]
    assert row(projected(steps, "2024-06")["m1", 1, 0]) == (
        "superseded",
        "contradicted",
        "2024-04",
        "2024-04",
        "m2",
    )


def test_an_edited_wording_is_an_old_version() -> None:
    steps = [
        save("m1", "Olso", "2020-01"),
        {"do": "edit", "memory": "m1", "value": "Oslo", "on": "2023-01"},
    ]
    fields = projected(steps, "2023-02")
    assert row(fields["m1", 1, 0]) == ("superseded", "new_version", "2020-01", "2023-01", "m1")
    assert row(fields["m1", 2, 0]) == ("active", None, "2023-01", None, None)


def test_what_is_undone_is_deleted_and_what_is_deleted_keeps_its_time() -> None:
    moved = [save("m1", "Oslo", "2019-01"), save("m2", "Rome", "2021-01")]
    undone = projected([*moved, {"do": "undo", "memory": "m1", "on": "2022-01"}], "2022-02")
    assert row(undone["m2", 1, 0]) == ("deleted", "contradicted", "2021-01", "2021-01", "m1")
    assert row(undone["m1", 1, 0]) == ("active", None, "2019-01", None, None)
    deleted = projected([*moved, {"do": "delete", "memory": "m2", "on": "2022-01"}], "2022-02")
    assert row(deleted["m2", 1, 0]) == ("deleted", None, "2021-01", None, None)
    assert row(deleted["m1", 1, 0]) == ("superseded", "contradicted", "2019-01", "2021-01", None)


def test_what_was_merged_is_updated_until_it_is_told_again() -> None:
    merge = {
        "do": "merge",
        "memory": "m2",
        "value": "tea and coffee",
        "said": "2024-03",
        "sources": ["m1"],
    }
    steps = [save("m1", "tea", "2024-01"), merge]
    assert row(projected(steps, "2024-04")["m1", 1, 0]) == (
        "updated",
        "consolidated",
        "2024-01",
        "2024-03",
        "m2",
    )
    again = projected([*steps, save("m1", "tea", "2024-05")], "2024-06")
    assert row(again["m1", 1, 0]) == ("active", None, "2024-05", None, None)


def test_a_retraction_into_an_empty_slot_is_active() -> None:
    fields = projected(
        [{"do": "retract", "memory": "m1", "value": "meat", "said": "2024-01"}], "2024-02"
    )
    assert row(fields["m1", 1, 0]) == ("active", None, "2024-01", None, None)


def test_a_retraction_of_what_does_not_hold_leads_to_what_does() -> None:
    steps = [
        save("m1", "Rome", "2022-01"),
        {"do": "retract", "memory": "m2", "value": "Oslo", "said": "2023-01"},
    ]
    assert row(projected(steps, "2024-02")["m2", 1, 0]) == (
        "superseded",
        "contradicted",
        "2023-01",
        "2023-01",
        "m1",
    )


def test_a_chain_runs_across_a_gap() -> None:
    steps = [
        save("m1", "Rome", "2024-01", **{"from": "2010-01", "until": "2014-01"}),
        save("m2", "Oslo", "2023-01", **{"from": "2020-01"}),
    ]
    assert projected(steps, "2024-02")["m1", 1, 0].next_id == "m2"


def test_an_undo_of_more_than_forty_names_a_later_memory_that_can_be_undone() -> None:
    first = day("2024-01-01")
    log: list[Entry] = [
        Assertion(
            sequence=number,
            memory_id=f"m{number}",
            value=str(number),
            asserted_at=moment,
            valid_from=moment,
        )
        for number in range(1, 60)
        for moment in [first + timedelta(days=number)]
    ]
    with pytest.raises(Conflict, match="restore a later one before, such as m19") as refused:
        added(log, undoes("m1"), 100)
    later = str(refused.value).rpartition(" ")[2]
    assert len(added(log, undoes(later), 100)) == len(log) + MAX_WITHDRAWN


def test_of_two_that_share_no_moment_the_question_can_be_closed() -> None:
    timeline = resolve(
        played(
            [
                save("m1", "A", "2024-01"),
                save("m2", "B", "2024-03", beside=["m1"]),
                save("m3", "C", "2024-02"),
            ]
        )
    )
    assert timeline.share_a_moment("m2", "m3") is False
    both = resolve(played([save("m1", "A", "2024-01"), save("m2", "B", "2024-03", beside=["m1"])]))
    assert both.share_a_moment("m1", "m2") is True


def test_a_deleted_retraction_of_two_that_held_side_by_side_has_one_time() -> None:
    steps = [
        save("m1", "A", "2024-01"),
        save("m2", "B", "2024-02", beside=["m1"]),
        {"do": "retract", "memory": "m3", "value": None, "said": "2024-03"},
        {"do": "delete", "memory": "m3", "on": "2024-04"},
    ]
    assert [member for member in projected(steps, "2024-05") if member[0] == "m3"] == [("m3", 1, 0)]
