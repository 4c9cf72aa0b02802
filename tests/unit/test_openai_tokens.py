"""How long texts are cut for the OpenAI embedder, with a tokenizer's vocabulary at hand and
without one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.adapters.openai import tokens

TEXT = "кофе 日本語 🙂 and plain words " * 300


@pytest.fixture(autouse=True)
def forget_the_tokenizer() -> Iterator[None]:
    tokens.encoding.cache_clear()
    yield
    tokens.encoding.cache_clear()


def test_windows_are_cut_out_of_the_text_itself_and_cover_it() -> None:
    windows = tokens.pieces(TEXT)
    assert len(windows) > 1
    assert TEXT.startswith(windows[0])
    assert TEXT.endswith(windows[-1])
    assert all(window in TEXT for window in windows)


def test_without_a_vocabulary_a_token_is_four_characters_and_that_is_said_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    with caplog.at_level(logging.WARNING):
        windows = tokens.pieces(TEXT)
        tokens.pieces(TEXT)
    assert {len(window) for window in windows[:-1]} == {2000}
    assert windows[0][-200:] == windows[1][:200]
    assert len(caplog.records) == 1


def test_of_a_long_text_eight_windows_are_asked_for_its_edges_always() -> None:
    text = TEXT * 4
    windows = tokens.pieces(text)
    assert len(windows) == 8
    assert text.startswith(windows[0])
    assert text.endswith(windows[-1])
    assert all(window in text for window in windows)


@settings(max_examples=50)
@given(st.text(max_size=3000))
def test_any_text_is_covered_by_its_windows(text: str) -> None:
    windows = tokens.pieces(text)
    assert windows[0] == text[: len(windows[0])]
    assert windows[-1] == text[len(text) - len(windows[-1]) :]
    assert sum(map(len, windows)) >= len(text)
