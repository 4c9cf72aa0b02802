import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.errors import Conflict
from memory_core.domain.memory import Memory, Status
from memory_core.domain.transitions import FOUND_BY_DEFAULT, REASONS, TRUE_ONCE, allowed, check_move

A, U, S, D, C, R, X = Status  # active, updated, superseded, decayed, compressed, archived, deleted

TABLE = {
    A: {A, U, S, D, C, R, X},
    U: {A, R, X},
    S: {A, R, X},
    D: {A, R, X},
    C: {A, S, R, X},
    R: {A, U, S, D, C, X},
    X: {A},
}


@pytest.mark.parametrize("current", list(Status))
def test_a_status_may_become_what_the_table_says_and_nothing_else(current):
    assert allowed(current) == TABLE[current]
    for wanted in set(Status) - TABLE[current]:
        with pytest.raises(Conflict):
            check_move(current, wanted)


def test_a_refused_move_names_both_ends_and_every_allowed_one():
    with pytest.raises(Conflict) as refused:
        check_move(Status.COMPRESSED, Status.DECAYED)
    assert refused.value.status == 409
    assert refused.value.detail == (
        "a memory that is compressed can't become decayed; allowed: active, superseded, "
        "archived, deleted"
    )


@given(st.lists(st.sampled_from(list(Status))))
def test_any_sequence_of_status_changes_follows_the_table(wishes):
    status = Status.ACTIVE
    for wanted in wishes:
        if wanted in TABLE[status]:
            check_move(status, wanted)
            status = wanted
        else:
            with pytest.raises(Conflict):
                check_move(status, wanted)


@given(st.lists(st.sampled_from(list(Status))))
def test_whatever_happened_a_memory_can_be_made_active_again(wishes):
    status = Status.ACTIVE
    for wanted in wishes:
        status = wanted if wanted in allowed(status) else status
    check_move(status, Status.ACTIVE)


def test_every_status_has_reasons_and_a_new_memory_has_one_of_them():
    assert set(REASONS) == set(Status)
    assert all(REASONS.values())
    assert Memory.model_fields["status_reason"].default in REASONS[Status.ACTIVE]


def test_a_truth_that_was_taken_back_by_hand_was_never_true():
    assert TRUE_ONCE.isdisjoint({"cleared", "forgotten", "manual_delete"})
    assert set().union(*REASONS.values()) >= TRUE_ONCE
    assert {Status.ACTIVE, Status.COMPRESSED} == FOUND_BY_DEFAULT
