"""Turns that only acknowledge or offer help: "OK.", "Noted, thanks!", 「了解です。」.

They are found by the words of the turns around them, and say nothing.
"""

from __future__ import annotations

import regex

from memory_core.domain.statements.worth import (
    MAX_SMALL_TALK,
    SMALL_TALK,
    is_small_talk,
    offers_help,
)

_RECEIPT = regex.compile(
    r"\b(?:noted|understood|gotcha|roger|acknowledged|got it|i see|i understand|sure|will do"
    r"|of course|sounds good|makes sense|good to know|fair enough|letting me know"
    r"|(?:i'll|i will) (?:remember|note)|in mind|notiert|vermerkt|gemerkt|verstanden|verstehe"
    r"|mach ich|merke? ich mir|geht klar|in ordnung|ist gut|gut zu wissen|kein problem"
    r"|für (?:die info|den hinweis))\b"
)
"""Words by which a listener says that something was heard."""
_WORDS_OF_RECEIPTS = (
    "noted understood gotcha roger acknowledged got it i see understand sure will do of course "
    "sounds good makes sense know fair enough letting me i'll i've remember note down keep in mind "
    "made this notiert vermerkt gemerkt verstanden verstehe mach mache ich merk merke mir hab habe "
    "es das geht ordnung ist gut zu wissen kein problem für den die info hinweis"
)
_BESIDE = SMALL_TALK | frozenset(_WORDS_OF_RECEIPTS.split())
_RECEIPT_IN_JAPANESE = regex.compile(
    r"(?:(?:了解|承知)(?:です|(?:いた)?しました)?|(?:わか|分か|かしこま)りました|わかった"
    r"|分かった|(?:メモ|記録)しました|覚えておきます(?:ね)?|(?:オッケー|OK)(?:です)?|そうですか"
    r"|教えてくれてありがとう(?:ございます)?)",
    regex.IGNORECASE,
)
_YES_IN_JAPANESE = "はい"
"""An answer where it is alone."""
_WORD = regex.compile(r"[\w']+")
_CLAUSE = regex.compile(r"[\w'’]+")


def only_acknowledges(text: str) -> bool:
    """Whether a text only confirms, thanks, greets or offers help."""
    if offers_help(text):
        return True
    if len(text) > MAX_SMALL_TALK:
        return False
    if is_small_talk(text):
        return True
    words = _WORD.findall(text.casefold().replace("’", "'"))
    if _BESIDE.issuperset(words) and _RECEIPT.search(" ".join(words)) is not None:
        return True
    clauses = [clause for clause in _CLAUSE.findall(text) if clause != _YES_IN_JAPANESE]
    return bool(clauses) and all(
        is_small_talk(clause) or _RECEIPT_IN_JAPANESE.fullmatch(clause) is not None
        for clause in clauses
    )
