"""How texts are put into batches for the model."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_core.adapters.embedders.minilm import (
    BATCH_TEXTS,
    BATCH_TOKENS,
    SHARE_TOKENS,
    _batches,
    _shares,
)

LENGTHS = st.lists(st.integers(0, 254), min_size=1, max_size=12).map(sorted)


def windows(*lengths: int) -> list[list[int]]:
    return [[0] * length for length in lengths]


def test_the_sentences_of_a_message_are_shared_among_the_threads() -> None:
    given = windows(15, 16, 21, 22, 23, 26)
    assert _shares(range(6), given, 2) == [[0, 1, 2], [3, 4, 5]]
    assert _shares(range(6), given, 1) == [[0, 1, 2, 3, 4, 5]]


def test_a_short_question_is_one_batch_however_many_threads_there_are() -> None:
    assert _shares(range(2), windows(8, 10), 4) == [[0, 1]]
    assert SHARE_TOKENS > (8 + 10 + 4)


@given(LENGTHS, st.integers(1, 4))
def test_shares_hold_every_text_once_within_the_bounds_of_a_batch(
    lengths: list[int], threads: int
) -> None:
    shares = _shares(range(len(lengths)), windows(*lengths), threads)
    assert [place for share in shares for place in share] == list(range(len(lengths)))
    assert len(shares) <= max(threads, len(_batches(range(len(lengths)), windows(*lengths))))
    for share in shares:
        assert len(share) <= BATCH_TEXTS
        assert len(share) == 1 or len(share) * (lengths[share[-1]] + 2) <= BATCH_TOKENS
