"""Unicode normal forms of texts, in time that grows with their length alone.

Python sorts a run of combining marks by insertion: 16,000 of them in a run take 0.6 s, during which
no other thread runs. So a long run is cut by a joiner that has no width, as in the Stream-Safe Text
Format (UAX #15, section 13).
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import regex


MAX_MARKS = 30
"""Marks in a run; no orthography needs more than 18."""
_JOINER = "\u034f"


def normal_form(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """The text in a Unicode normal form.

    Runs of more than `MAX_MARKS` combining marks are cut by joiners first.

    Args:
        form: The normal form.
        text: Of any length.

    """
    if text.isascii():
        return text
    return unicodedata.normalize(form, _long_run().sub(rf"\1{_JOINER}", text))


@cache
def _long_run() -> regex.Pattern[str]:
    import regex  # takes 20 ms, and input models import this module at a cold start

    return regex.compile(rf"((?:(?!{_JOINER})\p{{M}}){{{MAX_MARKS}}}+)(?=(?!{_JOINER})\p{{M}})")
