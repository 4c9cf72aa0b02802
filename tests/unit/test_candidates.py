from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.memory import Lexical, Memory, MemoryType
from memory_core.domain.ranking.candidates import (
    from_memories,
    joined,
    weighted_length,
    weighted_tokens,
)
from memory_core.domain.ranking.index_terms import analyse

MOMENT = datetime(2026, 5, 8, 12, tzinfo=timezone.utc)
TERMS = ("dog", "cat", "may")


def memory(name, *, lexical=None, vector=None, session="s", **fields):
    times = {
        "created_at": MOMENT,
        "updated_at": MOMENT,
        "event_timestamp": MOMENT,
        "valid_from": MOMENT,
    }
    return Memory(
        id=name, app_id="app", user_id="user", session_id=session, type=MemoryType.EPISODIC,
        content=name, lexical=lexical or Lexical(),
        embedding=None if vector is None else np.array(vector, dtype=np.float32),
        **(times | fields),
    )  # fmt: skip


QUERY = np.array([1.0, 0.0], dtype=np.float32)
THREE_TURNS = [
    memory("a", lexical=Lexical(turn=0, own={"dog": 1}, asks=True), vector=[1.0, 0.0], actor="Ann"),
    memory(
        "b",
        lexical=Lexical(
            turn=1, own={"cat": 2}, previous={"dog": 1}, previous_asks=True, tells_time=True
        ),
        vector=[0.6, 0.8],
    ),
    memory(
        "c",
        lexical=Lexical(turn=2, date={"may": 1}, previous={"cat": 2}, before_previous={"dog": 1}),
        vector=[0.0, 1.0],
        cell_id="a",
    ),
]


def test_context_counts_less_than_own_words_and_more_after_a_question():
    assert weighted_tokens(THREE_TURNS[1].lexical) == pytest.approx({"cat": 2.0, "dog": 0.5})
    assert weighted_tokens(THREE_TURNS[2].lexical) == pytest.approx(
        {"may": 1.0, "cat": 0.4, "dog": 0.3}
    )


def test_a_set_from_memories_has_every_column():
    candidates = from_memories(THREE_TURNS, TERMS, QUERY)
    assert candidates.ids == ["a", "b", "c"]
    assert candidates.tf == pytest.approx(np.array([[1, 0, 0], [0.5, 2, 0], [0.3, 0.4, 1]]))
    assert candidates.own.tolist() == [
        [True, False, False],
        [False, True, False],
        [False, False, True],
    ]
    assert candidates.length == pytest.approx([1.0, 2.5, 1.7])
    assert candidates.cosine == pytest.approx([1.0, 0.6, 0.0])
    assert (candidates.asks.tolist(), candidates.tells_time.tolist()) == (
        [True, False, False],
        [False, True, False],
    )
    assert (candidates.actor, candidates.cell) == (["Ann", None, None], [None, None, "a"])
    assert candidates.memories["b"] is THREE_TURNS[1]


def test_turns_are_messages_and_what_has_a_turn_in_its_session():
    others = [
        memory("msg_1", session=None),
        memory("msg_2", cell_id="mem_1"),
        memory("mem_1"),
        memory("mem_2", session=None),
    ]
    candidates = joined(
        from_memories(THREE_TURNS, TERMS, QUERY), from_memories(others, TERMS, QUERY)
    )
    assert candidates.turns.tolist() == [True, True, True, True, True, False, False]


def test_neighbours_are_the_turns_beside_in_the_same_session():
    other = memory("x", lexical=Lexical(turn=1), session="other", vector=[1.0, 0.0])
    alone = memory("y", session=None, vector=[1.0, 0.0])
    candidates = from_memories(
        [THREE_TURNS[2], other, THREE_TURNS[0], alone, THREE_TURNS[1]], TERMS, QUERY
    )
    assert candidates.before.tolist() == [4, -1, -1, -1, 2]
    assert candidates.after.tolist() == [-1, -1, 4, -1, 0]
    assert candidates.previous_cosine == pytest.approx(
        [0.6, np.nan, np.nan, np.nan, 1.0], nan_ok=True
    )
    assert candidates.next_cosine == pytest.approx([np.nan, np.nan, 0.6, np.nan, 0.0], nan_ok=True)


def test_the_stores_cosine_wins_and_a_memory_without_vector_has_none():
    bare = memory("d")
    candidates = from_memories([THREE_TURNS[0], bare], TERMS, QUERY, {"a": 0.25})
    assert candidates.cosine == pytest.approx([0.25, np.nan], nan_ok=True)
    assert np.isnan(from_memories([THREE_TURNS[0]], TERMS, None).cosine).all()


def test_times_are_the_latest_touch_and_the_last_access_or_the_creation():
    later = MOMENT + timedelta(hours=1)
    candidates = from_memories(
        [memory("a", updated_at=later), memory("b", last_accessed_at=later)], (), None
    )
    assert candidates.touched_at.tolist() == [later.timestamp(), MOMENT.timestamp()]
    assert candidates.accessed_at.tolist() == [MOMENT.timestamp(), later.timestamp()]


@pytest.mark.parametrize("terms", [TERMS, ()])
def test_an_empty_set_has_empty_columns_of_the_right_shape(terms):
    candidates = from_memories([], terms, QUERY)
    assert (
        len(candidates),
        candidates.tf.shape,
        candidates.own.shape,
        candidates.cosine.shape,
    ) == (0, (0, len(terms)), (0, len(terms)), (0,))
    assert len(joined(candidates, candidates)) == 0
    assert joined(candidates, from_memories(THREE_TURNS, terms, QUERY)).ids == ["a", "b", "c"]


@given(
    st.lists(st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 5)), min_size=4, max_size=4),
    st.booleans(),
)
def test_columns_hold_the_weighted_counts(parts, asked):
    own, date, previous, before_previous = parts
    note = memory(
        "m",
        lexical=Lexical(
            own=own,
            date=date,
            previous=previous,
            before_previous=before_previous,
            previous_asks=asked,
        ),
    )
    candidates = from_memories([note], tuple("abcdefg"), None)
    counts = weighted_tokens(note.lexical)
    assert weighted_length(note) == pytest.approx(sum(counts.values()))
    assert candidates.tf[0] == pytest.approx([counts.get(term, 0.0) for term in "abcdefg"])
    assert candidates.length[0] == pytest.approx(sum(counts.values()))


def test_joining_keeps_the_first_row_of_an_id_and_appends_the_rest():
    first = from_memories(THREE_TURNS[:2], TERMS, QUERY, {"a": 0.9, "b": 0.8})
    second = from_memories(THREE_TURNS, TERMS, QUERY)
    first.lists["vector"], second.lists["session"] = ["a", "b"], ["c"]
    both = joined(first, second)
    assert both.ids == ["a", "b", "c"]
    assert both.cosine == pytest.approx([0.9, 0.8, 0.0])
    assert both.tf.tolist() == second.tf.tolist()
    assert set(both.memories) == {"a", "b", "c"}
    assert both.lists == {"vector": ["a", "b"], "session": ["c"]}


def test_a_joined_row_finds_its_neighbour_where_it_ended_up():
    first = from_memories([THREE_TURNS[1]], TERMS, QUERY)
    second = from_memories(
        [THREE_TURNS[2], memory("z", session=None), THREE_TURNS[1], THREE_TURNS[0]], TERMS, QUERY
    )
    both = joined(first, second)
    assert both.ids == ["b", "c", "z", "a"]
    assert both.before.tolist() == [-1, 0, -1, -1]
    assert both.after.tolist() == [-1, -1, -1, 0]


def test_joining_changes_neither_set():
    first, second = (
        from_memories(THREE_TURNS, TERMS, QUERY),
        from_memories(THREE_TURNS[:1], TERMS, QUERY),
    )
    second.lists["session"] = ["a"]
    both = joined(first, second)
    assert both.lists == {"session": ["a"]}
    assert first.lists == {}


@given(st.lists(st.integers(0, 5), unique=True), st.lists(st.integers(0, 5), unique=True))
def test_a_join_of_any_two_sets_is_sound(left, right):
    turns = [
        memory(str(number), lexical=Lexical(turn=number), vector=[1.0, 0.0]) for number in range(6)
    ]
    both = joined(
        from_memories([turns[n] for n in left], TERMS, QUERY),
        from_memories([turns[n] for n in right], TERMS, QUERY),
    )
    assert set(both.ids) == {str(n) for n in left + right}
    assert len(both.ids) == len(set(both.ids)) == both.tf.shape[0] == len(both.actor)
    for row, (before, after) in enumerate(zip(both.before, both.after, strict=True)):
        assert before < 0 or int(both.ids[before]) == int(both.ids[row]) - 1
        assert after < 0 or int(both.ids[after]) == int(both.ids[row]) + 1


def test_places_of_terms_move_with_their_texts_when_sets_are_joined():
    def long(name, at):
        text = " ".join("dog" if place in at else "plain" for place in range(120))
        return memory(name, lexical=analyse(text, actor=None, event_timestamp=MOMENT))

    here = from_memories(
        [memory("a", lexical=Lexical(own={"cat": 1})), long("b", {3, 90})], TERMS, QUERY
    )
    there = from_memories([long("b", {3, 90}), long("c", {7})], TERMS, QUERY)
    assert [column.tolist() for column in joined(here, there).places] == [
        [1, 1, 2],
        [3, 90, 7],
        [0, 0, 0],
    ]
    assert [column.tolist() for column in joined(there, here).places] == [
        [0, 0, 1],
        [3, 90, 7],
        [0, 0, 0],
    ]
