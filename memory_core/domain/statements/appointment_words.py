"""Words for what becomes of something expected, in English, German and Japanese.

It is called off, put to another time, or missed. Each list has alternatives of an expression, and
all rules that read such words make their expressions of these lists.
"""

from __future__ import annotations

import re

CANCELLED_IN_ENGLISH = "cancell?ed|called off"
CANCELLED_IN_GERMAN = (
    "abgesagt|storniert|gecancelt|ausgefallen|geplatzt|gestrichen|abgeblasen|flachgefallen"
    r"|ins wasser gefallen|entfällt|entfiel|findet (?:[\w-]+ ){0,4}nicht statt"
    r"|(?:fällt|fallen|fiel|fielen) (?:[\w-]+ ){0,4}(?:aus|flach|ins wasser)"
)
CANCELLED_IN_JAPANESE = "キャンセル|中止|取りやめ|取り消"
PUT_ELSEWHERE_IN_ENGLISH = (
    "rescheduled|postponed|rearranged|rebooked|moved (?:up|back|forward)|brought forward"
    "|pushed back"
)
PUT_ELSEWHERE_IN_GERMAN = "verschoben|verlegt|vorverlegt|vorgezogen|geändert"
PUT_ELSEWHERE_IN_JAPANESE = "変更|延期|ずれ"

_CANCELLED = (
    rf"{CANCELLED_IN_ENGLISH}|cancel(?:l?ing|s)?|call(?:ing|s)? off|scrapped"
    r"|(?:is|are) (?:now |all )?off\b(?! (?:to|the|of)\b)"
    r"|(?:isn't|aren't|not) (?:happening|taking place|going ahead)|won't (?:happen|take place)"
    rf"|{CANCELLED_IN_GERMAN}|absagen|stornieren|(?:sagt|sage|sagte) (?:[\w-]+ ){{0,4}}ab"
)
_IN_JAPANESE = rf"{CANCELLED_IN_JAPANESE}|休講|なくなりまし|なくなった"
CANCELLED = re.compile(rf"\b(?:{_CANCELLED})\b|{_IN_JAPANESE}", re.IGNORECASE)
"""Words that say that something does not take place."""
MISSED = re.compile(
    rf"\b(?:{_CANCELLED}|(?:gave|given) (?:[\w'-]+ ){{1,3}}a miss|skipped|missed|didn't make"
    rf"|geschwänzt|verpasst)\b|{_IN_JAPANESE}|休み|休ん",
    re.IGNORECASE,
)
"""Words for an event that does not take place this once, or without the speaker."""
