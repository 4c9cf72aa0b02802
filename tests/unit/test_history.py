"""What of a call is new, where histories are sent again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.history import MARK_CHARACTERS, MAX_MARKS, edited_prefix, known_prefix, match_history, message_mark
from memory_core.domain.normal_form import normal_form

MARKS = st.lists(st.sampled_from("abc"), max_size=12)
DISTINCT = st.lists(st.text("abcdefgh", min_size=2, max_size=4), unique=True, max_size=20)


def longest_run(kept: list[str], call: list[str | None]) -> int:
    """`known_prefix` by its definition."""
    return max(size for size in range(min(len(kept), len(call)) + 1) if kept[len(kept) - size :] == call[:size])


def longest_edited(kept: list[str], call: list[str | None]) -> tuple[int, int]:
    """`edited_prefix` by its definition; of equal runs the later one."""
    found = [
        (run, -dropped)
        for dropped in range(1, len(kept) + 1)
        for run in range(2, len(call))
        if dropped <= run <= len(kept) - dropped and kept[len(kept) - dropped - run : len(kept) - dropped] == call[:run]
    ]
    run, dropped = max(found, default=(0, 0))
    return run, -dropped


@given(MARKS, MARKS)
def test_the_run_is_the_longest_that_begins_the_call_and_ends_what_is_kept(kept: list[str], call: list[str]) -> None:
    assert known_prefix(kept, call) == longest_run(kept, list(call))


@given(MARKS, st.lists(st.sampled_from(["a", "b", None]), max_size=12))
def test_what_can_match_nothing_ends_each_run(kept: list[str], call: list[str | None]) -> None:
    assert known_prefix(kept, call) == longest_run(kept, call)
    assert edited_prefix(kept, call) == longest_edited(kept, call)


@given(MARKS, MARKS)
def test_an_edited_end_is_found_by_its_definition(kept: list[str], call: list[str]) -> None:
    assert edited_prefix(kept, call) == longest_edited(kept, list(call))


@given(DISTINCT, st.data())
def test_a_growing_history_adds_each_message_once(said: list[str], data: st.DataObject) -> None:
    kept: tuple[str, ...] = ()
    new: list[str] = []
    ends = sorted(data.draw(st.sets(st.integers(0, len(said)))) | {len(said)})
    for end in ends:
        match = match_history(kept, said[:end])
        new += [said[place] for place in match.new]
        kept = match.kept
    assert new == said
    assert list(kept) == said


@given(MARKS.filter(bool), st.data())
def test_so_does_one_that_repeats_itself(said: list[str], data: st.DataObject) -> None:
    """Whatever is said twice: each call is the whole history, so what is kept is always its beginning."""
    kept: tuple[str, ...] = ()
    for end in sorted(data.draw(st.sets(st.integers(1, len(said)))) | {len(said)}):
        kept = match_history(kept, said[:end]).kept
    assert list(kept) == said


@given(DISTINCT, st.integers(1, 6), st.data())
def test_a_window_that_slides_adds_what_came_into_it(said: list[str], overlap: int, data: st.DataObject) -> None:
    kept: tuple[str, ...] = ()
    end = 0
    while end < len(said):
        step = data.draw(st.integers(1, 4))
        window = said[max(0, end - overlap) : end + step]
        match = match_history(kept, window)
        assert len(match.new) == min(len(said), end + step) - end
        kept, end = match.kept, end + step
    assert list(kept) == said


def test_a_second_hi_later_is_new() -> None:
    assert match_history(["hi", "hello"], ["hi"]).new == (0,)
    assert match_history(["hi", "hello"], ["hi", "how are you?"]).new == (0, 1)
    assert match_history(["hi", "hello", "a", "b"], ["hi", "hello"]).new == (0, 1)


def test_the_same_again_is_known() -> None:
    match = match_history(["a", "b", "c"], ["a", "b", "c"])
    assert (match.new, match.kept, match.dropped) == ((), ("a", "b", "c"), 0)


def test_an_answer_made_anew_is_new_alone_and_takes_the_place_of_the_old_one() -> None:
    match = match_history(["u1", "a1", "u2", "a2"], ["u1", "a1", "u2", "other a2", "u3"])
    assert (match.new, match.dropped) == ((3, 4), 1)
    assert match.kept == ("u1", "a1", "u2", "other a2", "u3")
    assert match_history(match.kept, ["u1", "a1", "u2", "other a2", "u3", "a3"]).new == (5,)


def test_a_question_that_was_edited_goes_with_its_answer() -> None:
    match = match_history(["u1", "a1", "u2", "a2"], ["u1", "a1", "other u2"])
    assert (match.new, match.dropped) == ((2,), 2)


def test_a_call_longer_than_what_is_kept_is_known_as_far_as_that_reaches() -> None:
    assert match_history(["b", "c"], ["a", "b", "c", "d"]).new == (0, 1, 2, 3)
    assert match_history(["a", "b"], ["a", "b", "c", "d", "e"]).new == (2, 3, 4)


def test_a_known_id_is_known_wherever_it_stands() -> None:
    match = match_history(["a", "b"], ["x", "b", "y"], ["1", "2", "3"], {"2"})
    assert match.new == (0, 2)
    assert match.kept == ("a", "b", "x", "y")


def test_another_id_is_another_message_with_the_same_words() -> None:
    assert match_history(["ok"], ["ok"], ["2"], {"1"}).new == (0,)
    assert match_history(["ok"], ["ok"], ["2"]).new == ()
    assert match_history([], ["ok", "ok"], ["2", "2"]).new == (0,)


@given(MARKS, MARKS, st.data())
def test_known_and_new_make_up_the_call(kept: list[str], call: list[str], data: st.DataObject) -> None:
    ids = [data.draw(st.sampled_from([None, "1", "2", "3"])) for _ in call]
    match = match_history(kept, call, ids, {"1"})
    assert list(match.new) == sorted(set(match.new))
    assert not any(ids[place] == "1" for place in match.new)
    assert set(match.new) <= set(range(len(call)))


def test_the_latest_marks_are_kept() -> None:
    call = [str(number) for number in range(MAX_MARKS + 5)]
    assert match_history([], call).kept == tuple(call[5:])


def test_hostile_repetitions_take_time_of_their_length() -> None:
    """100,000 marks that nearly match everywhere: a quadratic search would take minutes."""
    assert known_prefix(["a"] * 100_000, ["a"] * 50_000 + ["b"]) == 50_000


def test_a_long_history_may_be_sent_again_in_several_calls() -> None:
    said = [str(number) for number in range(500)]
    assert match_history(said, said[:200]).new == ()
    assert match_history(said, said[200:400]).new == ()
    assert match_history(said, [*said[400:], "new"]).new == (100,)


@given(st.text(), st.text())
def test_a_mark_says_who_and_what(left: str, right: str) -> None:
    mark = message_mark("user", left)
    assert len(mark) == MARK_CHARACTERS
    assert mark != message_mark("assistant", left)
    assert mark == message_mark("user", f"  {left}\n")
    same = " ".join(normal_form("NFC", left).split()) == " ".join(normal_form("NFC", right).split())
    assert (mark == message_mark("user", right)) == same
