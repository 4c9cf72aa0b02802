from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.ranking.vectors import (
    MOST_WINDOWS,
    Chunking,
    combine,
    covered,
    spread,
    windows,
)

sizes = st.integers(1, 60).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


def test_a_short_text_is_one_window_and_none_is_none():
    assert windows(500, 500, 50) == [(0, 500)]
    assert windows(3, 500, 50) == [(0, 3)]
    assert windows(0, 500, 50) == []


def test_windows_overlap_and_the_last_may_be_shorter():
    assert windows(1000, 500, 50) == [(0, 500), (450, 950), (900, 1000)]


def test_no_window_is_made_of_overlap_only():
    assert windows(950, 500, 50) == [(0, 500), (450, 950)]
    assert windows(951, 500, 50) == [(0, 500), (450, 950), (900, 951)]


@given(st.integers(1, 2000), sizes)
def test_windows_cover_every_token_and_each_adds_some(count, size_and_overlap):
    size, overlap = size_and_overlap
    chunks = windows(count, size, overlap)
    assert chunks[0][0] == 0
    assert chunks[-1][1] == count
    assert all(0 < end - start <= size for start, end in chunks)
    for (_, end), (start, next_end) in pairwise(chunks):
        assert end - start == overlap
        assert next_end > end


@given(st.integers(0, 200), st.integers(2, 20))
def test_few_of_many_are_spread_evenly_from_the_first_to_the_last(count, most):
    places = spread(count, most)
    assert len(places) == min(count, most)
    assert places[:1] + places[-1:] == ([0, count - 1] if count else [])
    gaps = [after - before for before, after in pairwise(places)]
    assert not gaps or 0 < max(gaps) <= min(gaps) + 1 + (count > most)


@given(st.integers(0, 40_000))
def test_of_a_text_so_many_windows_are_embedded_its_edges_always(count):
    chosen = Chunking(254, 50).cut(count)
    every = windows(count, 254, 50)
    assert chosen[:1] + chosen[-1:] == every[:1] + every[-1:]
    assert chosen == every if len(every) <= MOST_WINDOWS else len(chosen) == MOST_WINDOWS
    assert set(chosen) <= set(every)


@given(st.integers(1, 300), st.integers(0, 60), st.integers(1, 6))
def test_so_many_windows_cover_so_many_tokens_and_no_more(size, overlap, count):
    chunking = Chunking(size, min(overlap, size - 1))
    tokens = covered(count, chunking)
    assert len(windows(tokens, chunking.size, chunking.overlap)) == count
    assert len(windows(tokens + 1, chunking.size, chunking.overlap)) == count + 1


@pytest.mark.parametrize(("size", "overlap"), [(50, 50), (50, 60), (0, 0), (50, -1)])
def test_an_overlap_that_never_advances_is_refused(size, overlap):
    with pytest.raises(ValueError, match="overlap"):
        windows(100, size, overlap)


def test_one_vector_comes_back_unchanged():
    vector = np.array([0.6, 0.8], dtype=np.float32)
    assert combine([vector]) is vector


def test_the_edges_weigh_more():
    three = list(np.eye(3, dtype=np.float32))
    got = combine(three)
    assert got.dtype == np.float32
    assert got == pytest.approx(np.array([1.15, 1.0, 1.15]) / np.linalg.norm([1.15, 1.0, 1.15]))
    assert combine(three, edge_weight=1.0) == pytest.approx(np.full(3, 3**-0.5))


def test_vectors_that_cancel_out_leave_the_first_and_never_nan():
    first = np.array([1.0, 0.0], dtype=np.float32)
    assert combine([first, -first]) is first


def test_there_must_be_something_to_combine():
    with pytest.raises(ValueError, match="nothing"):
        combine([])


@given(
    st.lists(
        st.lists(st.floats(-1, 1, width=32), min_size=4, max_size=4).filter(
            lambda v: np.linalg.norm(v) > 0.1
        ),
        min_size=2,
        max_size=6,
    )
)
def test_what_comes_out_has_length_one(raw):
    vectors = [np.array(v, dtype=np.float32) / np.float32(np.linalg.norm(v)) for v in raw]
    assert float(np.linalg.norm(combine(vectors))) == pytest.approx(1.0, abs=1e-5)
