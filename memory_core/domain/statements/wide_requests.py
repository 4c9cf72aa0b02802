"""Requests to forget that are told by the kinds of their words alone.

They name no topic: all that is known of the speaker, and what was just said. No word may be left
that names something else.
"""

from __future__ import annotations

from typing import Final

from memory_core.domain.statements.forget_topics import names_all
from memory_core.domain.statements.wish_marks import BREAK, WishMark
from memory_core.domain.statements.wish_signs import MarkedSentence

_OPENS: Final = frozenset({"LEAD", "PLEASE", "FUNC", "WISH", "YOU", BREAK})
_FORGETS: Final = frozenset({"FORGET", "VERGESSEN"})
_REMOVES: Final = _FORGETS | {"DELETE"}
_SAYS: Final = frozenset({"TOLD", "NEVER_TOLD"})
_POINTING: Final = (
    _OPENS | _FORGETS | _SAYS | {"ME", "PRON", "LAST", "STAND", "PASTI", "ABOUT_JA", "AGAIN", "ALL"}
)
"""Kinds of the words of "please forget that I ever said that"."""
_PRETENDS: Final = frozenset({"PRETEND", "NEVER_TOLD"})
"""Kinds of the words of "let's pretend I never said that"."""
_UNHEARD: Final = "聞かなかったことにして"
_WIDE: Final = (
    _OPENS
    | _REMOVES
    | {"ALL", "KNOW", "MEMORY", "KEEP", "ME", "MY", "TOLD", "STAND", "PASTI", "ABOUT_JA"}
)
"""Kinds of the words of "delete everything that you know about me"."""
_IDIOMS: Final = frozenset({"it", "es"})
"""Pronouns after which "forget it" dismisses a matter."""
_TOGETHER: Final = frozenset(
    {"let's", "lets", "can we", "could we", "could we agree that", "tun wir so"}
)
"""Proposals to drop a matter: "let's forget that"."""
_THIS: Final = ("ONEOFF", "this")
"""A further kind of the pronoun."""
_DATA: Final = frozenset(
    {"data", "details", "information", "daten", "angaben", "informationen", "データ", "情報"}
)
_EVERY: Final = frozenset({"alle", "all", "every", "ever", "je", "jemals"})


def points_at_last(reading: MarkedSentence) -> bool:
    """Whether a message only asks to forget what was said just before it.

    For example "actually, forget I said that", "vergiss, was ich gerade gesagt habe". A pronoun
    before the speaker only opens a clause: "forget that I told you" points at nothing.
    """
    before, unheard, _ = reading.text.partition(_UNHEARD)
    if unheard and "jask" in reading.signs:
        return {mark.kind for mark in reading.marks if mark.start < len(before)} <= _POINTING
    kinds = {mark.kind for mark in reading.marks if (mark.kind, mark.text) != _THIS}
    if kinds >= _PRETENDS and kinds <= _POINTING | _PRETENDS and not reading.asks:
        return not reading.japanese or "jask" in reading.signs
    if kinds.isdisjoint(_FORGETS) or not kinds <= _POINTING or not _is_requested(reading):
        return False
    pointing = [
        mark
        for mark, after in zip(reading.marks, (*reading.marks[1:], None), strict=True)
        if mark.kind == "PRON" and (after is None or not _is_of_speaker(after))
    ]
    if kinds.isdisjoint(_SAYS):
        named = any(mark.text not in _IDIOMS for mark in pointing)
        return "LAST" in kinds or (named and all(mark.text != "about" for mark in reading.marks))
    return bool(pointing) or "LAST" in kinds or _said_anything(reading)


def asks_for_all(reading: MarkedSentence) -> bool:
    """Whether a sentence asks to forget all that is known of the speaker.

    For example "forget everything you know about me", "lösch bitte alle meine Daten".
    """
    marks = [mark for mark in reading.marks if mark.text not in _DATA]
    kinds = {mark.kind for mark in marks if mark.text not in _EVERY}
    if (
        kinds.isdisjoint(_REMOVES)
        or not kinds <= _WIDE
        or not _is_requested(reading)
        or kinds.isdisjoint({"ME", "MY"})
    ):
        return False
    body = [mark.kind for mark in marks if mark.kind not in _OPENS]
    every = names_all(reading) or any(mark.text in _EVERY for mark in reading.marks)
    about_all = len(marks) < len(reading.marks) or not kinds.isdisjoint(
        {"KNOW", "MEMORY", "KEEP", "TOLD", "ABOUT_JA"}
    )
    return (every and about_all) or body in (["FORGET", "ME"], ["ME", "FORGET"])


def _is_requested(reading: MarkedSentence) -> bool:
    """Whether the verb that removes is an order, or asks with a "please"."""
    signs = reading.signs
    if any(mark.text in _TOGETHER for mark in reading.marks):
        return False
    if signs & {"neg", "subj", "how0"} or (reading.asks and "PLEASE" not in reading.kind_set):
        return False
    verb = next(place for place, kind in enumerate(reading.kinds) if kind in _REMOVES)
    before = set(reading.kinds[:verb])
    if not reading.japanese and "PLEASE" not in before and before & {"WISH", "YOU"}:
        return False
    return "imp" in signs or "jask" in signs


def _is_of_speaker(mark: WishMark) -> bool:
    return mark.kind == "ME" or mark.text.startswith(("i ", "i've ", "i'd "))


def _said_anything(reading: MarkedSentence) -> bool:
    """Whether "anything" is the object: "forget I said anything"."""
    return any(mark.text in ("anything", "etwas", "was") for mark in reading.marks[-2:])
