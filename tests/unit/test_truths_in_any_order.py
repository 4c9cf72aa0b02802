"""What is told of a slot, in whatever order it arrives: at each moment the value that was told last before it, and one that stands."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import permutations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from memory_core.evolution.tellings import MAX_TELLINGS, kept

from memory_core.domain.endings import ends, is_ending, value_told
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT, TRUE_ONCE
from memory_core.domain.models import Memory, MemoryType, OnConflict
from memory_core.evolution.decide import Verdict, judge
from memory_core.evolution.page import Page
from memory_core.evolution.strategies import begun, resolve
from memory_core.ledger.commit import Look
from memory_core.ports import Neighbour
from tests.builders import ALICE, NOW, memory

LATER = NOW + timedelta(days=400)
Telling = tuple[int, str]
"""A day, and the value that was told then."""


def day(number: float) -> datetime:
    return NOW + timedelta(days=number)


def truth(telling: Telling, number: int) -> Memory:
    moment = day(telling[0])
    fields: dict[str, Any] = {"id": f"mem_{number}", "event_timestamp": moment, "valid_from": moment, "subject": "Ana", "attribute": "city"}
    return memory(f"Ana lives in {telling[1]}", type=MemoryType.SEMANTIC, value=value_told(telling[1]), **fields)


def told(tellings: Sequence[Telling]) -> dict[str, Memory]:
    """All memories there are after these tellings, in the order in which they arrive, a commit each."""
    held: dict[str, Memory] = {}
    for number, telling in enumerate(tellings, 1):
        new = truth(telling, number)
        near = tuple(Neighbour(one, 0.5) for one in held.values() if one.status in FOUND_BY_DEFAULT or one.status_reason in TRUE_ONCE)
        page = Page(ALICE, Look(None, {}, (near,)), LATER, weighs=False)
        judgement = judge(new, near, 0.98)
        if judgement.verdict is Verdict.SAME and judgement.old is not None:
            page.retell(judgement.old, new, judgement.truths)
        elif judgement.verdict is Verdict.NEW:
            held[new.id] = new.model_copy(update={"sequence": number * 100})
        else:
            page.apply(resolve(new, judgement, OnConflict.AUTO, LATER).changes)
        for place, one in enumerate(page.states.values()):
            held[one.id] = one.model_copy(update={"sequence": one.sequence or number * 100 + place, "revision": number * 100 + place})
    return held


def check(tellings: Sequence[Telling]) -> None:
    held = told(tellings)
    in_order = sorted(tellings)
    for number, (moment, value) in enumerate(in_order):
        until = in_order[number + 1][0] if number + 1 < len(in_order) else moment + 10
        for at in (day(moment), day((moment + until) / 2)):
            found = [one.value for one in held.values() if one.valid_from <= at and (one.valid_until is None or at < one.valid_until)]
            assert found == [value], (tellings, at, found)
    before = day(in_order[0][0] - 1)
    assert not [one for one in held.values() if one.valid_from <= before]
    (standing,) = (one for one in held.values() if one.status in FOUND_BY_DEFAULT)
    assert standing.value == in_order[-1][1]
    assert standing.next_id is None
    check_chain(held, standing)


def check_chain(held: dict[str, Memory], standing: Memory) -> None:
    """From the truth that stands back to the first, every one once, in the order in which they held."""
    chain, step = [standing], standing
    while step.supersedes_id is not None:
        step = held[step.supersedes_id]
        assert step.next_id == chain[-1].id
        assert step not in chain
        chain.append(step)
    assert len(chain) == len(held)
    assert [one.valid_from for one in chain] == sorted((one.valid_from for one in chain), reverse=True)


def test_a_truth_and_its_return_are_right_at_every_moment_in_each_of_the_orders_of_their_arrival() -> None:
    for values in ("ABAB", "ABAC", "AABA", "ABBA", "AAAB"):
        for order in permutations(enumerate(values)):
            check(order)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from("ABC")), min_size=1, max_size=9, unique_by=lambda one: one[0]))
def test_whatever_is_told_in_whatever_order_is_right_at_every_moment(tellings: list[Telling]) -> None:
    check(tellings)


@given(st.lists(st.integers(0, 500), min_size=1))
def test_a_memory_remembers_the_first_and_the_latest_of_its_tellings(days: list[int]) -> None:
    moments = kept(day(one) for one in days)
    every = sorted({day(one) for one in days})
    assert moments == sorted(set(moments))
    assert len(moments) <= MAX_TELLINGS
    if len(every) > 1:
        assert (moments[0], moments[-1]) == (every[0], every[-1])


def test_a_past_truth_that_is_told_of_again_as_of_now_takes_over() -> None:
    """Said in June of a life that began in May: it comes after what was said in between, however early it holds from."""
    held = told([(0, "A"), (10, "B")])
    new = truth((20, "A"), 3).model_copy(update={"valid_from": day(5)})
    assert judge(new, [Neighbour(one, 0.5) for one in held.values()], 0.98).verdict is Verdict.CONTRADICTS


def test_a_stay_that_is_over_before_the_present_one_began_is_history_of_its_own() -> None:
    held = told([(20, "A")])
    stay = truth((0, "A"), 2).model_copy(update={"valid_until": day(5)})
    judgement = judge(stay, [Neighbour(one, 0.5) for one in held.values()], 0.98)
    assert judgement.verdict is Verdict.CONTRADICTS
    made = {one.after.id: one.after for one in resolve(stay, judgement, OnConflict.AUTO, LATER).changes}
    assert (made["mem_2"].status.value, made["mem_2"].valid_until, made["mem_2"].next_id) == ("superseded", day(5), "mem_1")


def states(tellings: Sequence[Telling]) -> list[tuple[int, Any]]:
    """What holds from which day on, by what was told until then: an ending of something else changes nothing."""
    held: list[tuple[int, Any]] = []
    before: Memory | None = None
    for telling in sorted(tellings):
        one = truth(telling, 0)
        if before is None or not is_ending(one) or is_ending(before) or ends(one, before):
            before = one
        held.append((telling[0], before.value))
    return held


def check_with_endings(tellings: Sequence[Telling]) -> dict[str, Memory]:
    held = told(tellings)
    line = states(tellings)
    for number, (moment, value) in enumerate(line):
        until = line[number + 1][0] if number + 1 < len(line) else moment + 10
        for at in (day(moment), day((moment + until) / 2)):
            found = [one.value for one in held.values() if one.valid_from <= at and (one.valid_until is None or at < one.valid_until)]
            assert found == [value], (tellings, at, found)
    (standing,) = (one for one in held.values() if one.status in FOUND_BY_DEFAULT)
    assert (standing.value, standing.next_id) == (line[-1][1], None)
    for one in held.values():
        steps = 0
        while one.next_id is not None and steps <= len(held):
            one, steps = held[one.next_id], steps + 1
        assert one is standing
    return held


TOLD = st.sampled_from(["A", "B", "C", "no longer A", "no longer B", "no longer"])


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), TOLD), min_size=1, max_size=9, unique_by=lambda one: one[0]))
def test_endings_among_truths_that_are_told_again_are_right_at_every_moment(tellings: list[Telling]) -> None:
    check_with_endings(tellings)


def test_an_ending_that_changes_nothing_is_one_memory_however_often_it_is_told() -> None:
    held = check_with_endings([(0, "A"), (1, "no longer B"), (2, "no longer B"), (3, "A"), (4, "no longer B"), (5, "no longer C")])
    assert [one.value for one in held.values()] == ["A", {"no_longer": "B"}, {"no_longer": "C"}]
    assert held["mem_2"].reinforcement_count == 2


def test_an_ending_told_late_between_two_tellings_of_what_it_ends_tells_them_apart() -> None:
    held = check_with_endings([(0, "A"), (10, "A"), (5, "no longer A")])
    assert len(held) == 3
    assert (held["mem_1"].valid_from, held["mem_1"].supersedes_id) == (day(10), "mem_3")


def test_endings_that_were_passed_over_and_are_no_more_hold_when_they_were_told() -> None:
    check_with_endings([(0, "A"), (5, "no longer B"), (7, "no longer B"), (9, "A"), (6, "B"), (4, "B")])


def says(number: int, telling: tuple[int, int]) -> Memory:
    """A truth of its own value, told on a day, that holds from another one."""
    return truth((telling[0], f"city {number}"), number).model_copy(update={"valid_from": day(telling[1])})


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=2, max_size=6, unique_by=lambda each: each[0]), st.data())
@settings(max_examples=40, deadline=None)
def test_at_each_moment_holds_what_was_told_last_of_what_had_begun_whoever_is_gone(
    tellings: list[tuple[int, int]], data: st.DataObject
) -> None:
    """Each says from when it holds, before or after it was told; some are deleted, and it is as if they had never been told."""
    held: dict[str, Memory] = {}
    said: dict[str, Memory] = {}
    for number, telling in enumerate(tellings, 1):
        new = says(number, telling)
        near = tuple(Neighbour(one, 0.5) for one in held.values())
        judgement = judge(new, near, 0.98)
        page = Page(ALICE, Look(None, {}, (near,)), LATER, weighs=False)
        fresh = judgement.verdict is Verdict.NEW
        page.apply(begun(new, judgement.truths, LATER) if fresh else resolve(new, judgement, OnConflict.AUTO, LATER).changes)
        said[new.id] = new
        for place, one in enumerate(page.states.values()):
            held[one.id] = one.model_copy(update={"sequence": one.sequence or number * 100 + place})
        if data.draw(st.booleans(), label="somebody goes"):
            gone = data.draw(st.sampled_from(sorted(held)), label="who")
            del held[gone], said[gone]
        for at in (day(number + 0.5) for number in range(32)):
            found = [one.id for one in held.values() if one.valid_from <= at and (one.valid_until is None or at < one.valid_until)]
            begun_by_then = [one for one in said.values() if one.valid_from <= at]
            assert len(found) <= 1, (found, at)
            if len(said) == number:
                assert found == [max(begun_by_then, key=lambda one: one.event_timestamp).id] if begun_by_then else not found
