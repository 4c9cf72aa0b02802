"""Whether a text says again what another one says."""

from __future__ import annotations

import pytest

from memory_core.domain.statements.patterns import repeats


@pytest.mark.parametrize(
    ("text", "earlier"),
    [
        ("Noted: 4,200 euros a month.", "My salary is 4,200 euros"),
        ("So it is 4,200 then.", "My salary at the harbour office is 4,200 euros a month"),
        ("So Jan snores loudly at night.", "Jan snores at night"),
        ("借金が120万円あるのですね。", "借金は120万円です"),
    ],
)
def test_a_number_or_most_of_the_words_repeat_a_text(text: str, earlier: str) -> None:
    assert repeats(text, [earlier])


@pytest.mark.parametrize(
    ("text", "earlier"),
    [
        ("Rex is a lovely name for a dog.", "My salary is 4,200 euros"),
        ("That is good to hear.", "That is good"),
        ("", "Jan snores at night"),
    ],
)
def test_little_words_repeat_nothing(text: str, earlier: str) -> None:
    assert not repeats(text, [earlier])
