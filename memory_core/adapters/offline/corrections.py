"""Slips that a speaker puts right: "No, I meant Hannah" after "My sister is called Anna".

One would get wrong: it corrects what the same speaker said in the sentence just before, and nothing earlier. Between "I live in Berlin"
and "No, I meant Tuesday" there was something else that was meant.
"""

from __future__ import annotations

import re

_SLIP = re.compile(
    r"(?:(?:no|nope|sorry|oops|wait|ah|oh|oh no|my mistake|correction|actually|pardon)\b[\s,.!:;–—-]*)+"
    r"I (?:meant to (?:say|write|type)|meant|mean|should have (?:said|written))[:,]?\s+(?P<value>[^,;]+?)"
    r"(?:[,;]?\s+(?:and\s+)?not (?P<slip>[^,;]+?))?[.!…]*$",
    re.IGNORECASE,
)


def corrected(sentence: str) -> tuple[str, str | None] | None:
    """What was meant, and what was said by mistake where that is named; None for a sentence that corrects nothing."""
    match = _SLIP.match(sentence.strip())
    if match is None:
        return None
    return match["value"].strip(" \"'“”"), (match["slip"] or "").strip(" \"'“”") or None
