"""Two instructions in one sentence, which can end one without the other.

"Call me Max and never use emojis" are two. They are one where a condition or a pronoun joins them,
or where the second has no word of permanence or negation of its own: "never swear and use slang".
"""

from __future__ import annotations

import re
from typing import Final

from memory_core.domain.statements.wish_signs import ACTS, MarkedSentence, read

_JOINT: Final = re.compile(r",? (?:and|und) |、")
_CONDITION: Final = re.compile(
    r"\b(?:when|whenever|if|unless|until|while|before|after|wenn|falls|sobald|solange|bis|bevor"
    r"|nachdem)\b|とき|時|たら|場合|なら|まで"
)
_LASTS: Final = frozenset({"STAND", "NOT"})
_REFERS: Final = frozenset({"PRON", "OTHER"})
_BEFORE_ORDER: Final = frozenset({"LEAD", "PLEASE", "FUNC", "STAND", "NOT", "YOU", ","})


def separate_orders(text: str) -> list[str]:
    """The instructions of a sentence that is an instruction, each in its words.

    The sentence itself if its parts can't stand alone.
    """
    if _CONDITION.search(text.casefold()) is not None:
        return [text]
    parts = [part.strip() for part in _JOINT.split(text)]
    first, *later = map(read, parts)
    if (
        later
        and _orders(first)
        and all(
            _orders(reading) and reading.kind_set & _LASTS and reading.kind_set.isdisjoint(_REFERS)
            for reading in later
        )
    ):
        return parts
    return [text]


def _orders(reading: MarkedSentence) -> bool:
    """Whether a part orders an action of the assistant, with its object."""
    if reading.japanese:
        return bool(reading.kind_set & ACTS and reading.signs & {"jask", "jforbid"})
    order = [mark for mark in reading.marks if mark.kind not in _BEFORE_ORDER]
    if [mark.kind for mark in order[:2]] == ["ME", "ADDRESS_ME"]:  # "magst du mich … duzen"
        order = order[1:]
    verb = [mark for mark in order if mark.start == order[0].start]
    addresses = any(mark.kind == "ADDRESS_ME" for mark in verb)
    return not ACTS.isdisjoint(mark.kind for mark in verb) and (addresses or len(order) > len(verb))
