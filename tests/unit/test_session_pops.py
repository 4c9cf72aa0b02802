"""The judgement of the bench of pops: what breaks a promise is found, and what overlapping calls
may do is not.
"""

from __future__ import annotations

import pytest

from bench.session_pops import Record, Span, faults


def record() -> Record:
    """Items a to d appended one after the other; d and b popped, so that a and c are left."""
    appended = {item: Span(place, place + 0.5) for place, item in enumerate("abcd")}
    return Record(
        appended,
        [["a"], ["b"], ["c"], ["d"]],
        [("d", Span(4, 4.5)), ("b", Span(1.6, 1.9))],
        left=["a", "c"],
    )


def broken(record: Record) -> set[str]:
    return {name for name, count in faults(record).items() if count}


def test_nothing_is_found_where_all_went_well() -> None:
    assert broken(record()) == set()


@pytest.mark.parametrize(
    ("popped", "left", "complaints"),
    [
        ([("d", Span(4, 4.5)), ("d", Span(5, 5.5))], ["a", "b", "c"], {"popped twice"}),
        ([("d", Span(4, 4.5))], ["a", "b", "c", "d"], {"popped and still there"}),
        ([], ["a", "b", "c", "d", "d"], {"twice in the session"}),
        ([], ["a", "b", "d"], {"lost"}),
        ([], ["a", "b", "c", "d", "e"], {"not appended by anybody"}),
        ([], ["a", "c", "b", "d"], {"left out of order"}),
        ([("b", Span(4, 4.5))], ["a", "c", "d"], {"popped below a later item"}),
    ],
)
def test_each_broken_promise_is_found(
    popped: list[tuple[str, Span]], left: list[str], complaints: set[str]
) -> None:
    whole = record()
    whole.popped, whole.left = popped, left
    assert broken(whole) == complaints


def test_the_items_of_one_call_keep_their_order() -> None:
    span = Span(0, 1)
    assert broken(Record({"a": span, "b": span}, [["a", "b"]], left=["b", "a"])) == {
        "left out of order"
    }
    assert broken(Record({"a": span, "b": span}, [["a"], ["b"]], left=["b", "a"])) == set(), (
        "two calls that overlapped"
    )


def test_a_pop_may_take_an_item_below_one_that_came_meanwhile() -> None:
    appended = {"a": Span(0, 1), "b": Span(2, 5)}
    assert broken(Record(appended, [["a"], ["b"]], [("a", Span(4, 6))], left=["b"])) == set()
