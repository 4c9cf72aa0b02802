"""The log of a slot as it is stored."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.truth.codec import entries_in, renumbered, rows, seal_in, seal_row
from memory_core.domain.truth.entries import Assertion, Entry, Pair, Withdrawal
from memory_core.domain.truth.sealing import seal_oldest
from tests.truth_logs import day
from tests.unit.test_truth_properties import logs


@given(logs)
def test_a_log_is_read_as_it_was_written(log: list[Entry]) -> None:
    stored_rows = orjson.loads(orjson.dumps(rows(log)))
    assert entries_in(stored_rows) == sorted(log, key=lambda entry: entry.place)


def test_a_log_of_memories_side_by_side_grows_with_their_number_and_not_with_its_square() -> None:
    names = [f"mem_{number:032}" for number in range(100)]
    log: list[Entry] = [
        Pair(sequence=number, memory_ids=tuple(names[: number + 1])) for number in range(1, 100)
    ]
    stored = orjson.dumps(rows(log))
    assert entries_in(orjson.loads(stored)) == log
    assert len(stored) < 100 * 70
    assert entries_in(rows(log[50:])) == log[50:], "no row refers to one of another document"


def test_a_mention_takes_less_than_a_hundred_and_fifty_bytes() -> None:
    assertion = Assertion(
        sequence=12345,
        memory_id=f"mem_{'a' * 32}",
        value="0" * 18,
        asserted_at=day(3),
        valid_from=day(3),
    )
    assert len(orjson.dumps(rows([assertion]))) < 120


def test_entries_of_a_commit_get_its_sequence_and_others_keep_theirs() -> None:
    assertions = [
        Assertion(sequence=number, memory_id="m", value="v", asserted_at=day(3), valid_from=day(3))
        for number in (4, 9)
    ]
    body = renumbered({"salt": "00", "pending": 9, "entries": rows(assertions)}, 30)
    assert [entry.sequence for entry in entries_in(body["entries"])] == [4, 30]
    assert "pending" not in body


def test_what_withdraws_an_entry_of_its_own_commit_follows_it() -> None:
    log = [
        Assertion(sequence=9, memory_id="m", value="v", asserted_at=day(3), valid_from=day(3)),
        Withdrawal(sequence=9, part=1, places=((4, 0), (9, 0))),
    ]
    moved = entries_in(renumbered({"pending": 9, "entries": rows(log)}, 30)["entries"])
    assert moved[1] == Withdrawal(sequence=30, part=1, places=((4, 0), (30, 0)))


def test_a_row_of_no_known_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="no entry"):
        entries_in([["x", 1, 0, "m"]])


def test_a_few_rows_that_stand_for_millions_of_names_are_refused() -> None:
    with pytest.raises(ValueError, match="side by side"):
        entries_in([["p", number, 0, [0, *("abcdefgh" * 10)]] for number in range(1, 1000)])


@given(logs, st.integers(1, 20))
def test_a_seal_is_read_as_it_was_written(log: list[Entry], keep: int) -> None:
    sealed = seal_oldest(log, keep, 100)
    if sealed is not None:
        assert seal_in(orjson.loads(orjson.dumps(seal_row(sealed[0])))) == sealed[0]
