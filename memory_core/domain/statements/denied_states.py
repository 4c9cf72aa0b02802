"""Read clauses that deny a state which held: "I no longer work at Otto".

A clause denies in several forms, which mean the same: "no longer", "not … any more", "not … since
May", and a verb of stopping before another verb ("gave up working"). A time beside it says since
when, and belongs neither to the state nor to what the clause denies. Note: a clause with more words
than the state denies only the state with these words: "I no longer drive the Golf to work".
"""

from __future__ import annotations

import re

from memory_core.domain.text.spelling import (
    ANY_GERMAN_WEEKDAY,
    ANY_MONTH,
    ANY_WEEKDAY,
    GERMAN_NUMBER_WORDS,
    NUMBER_WORDS,
)

_NO_TIME = "I|im|we|you|he|hes|she|shes|it|its|they|there|that|thats|user|yet"
SINCE_WHEN = (
    rf"(?:(?:since|as of|as from) (?!(?:{_NO_TIME})\b)[\w'’]|from (?:[\w'’]{{1,12}} ){{1,3}}on\b)"
)
"""Opens a time since when something is so, or is so no more, and no clause that gives a reason."""
_SEASON = "spring|summer|autumn|fall|winter"
_PERIOD = f"week|weekend|month|year|{_SEASON}|night|{ANY_WEEKDAY}|{ANY_MONTH}"
_MOMENT = (
    r"any ?(?:more|longer)|yesterday|today|tonight|recently|lately|now|these days|nowadays"
    r"|at the moment|at all|either|though|sadly|unfortunately|thankfully|I['’]m afraid|for good"
    r"|already|(?:an?|a few|some|a couple of|\w{1,8}) (?:day|week|month|year)s? ago"
    rf"|(?:(?:earlier|early|late|later) )?(?:last|this) (?:{_PERIOD})"
    rf"|in (?:the )?(?:(?:early|late|mid)[ -])?(?:{ANY_MONTH}|{_SEASON}|\d{{4}})(?: \d{{4}})?"
    rf"|on (?:{ANY_WEEKDAY}|the \d{{1,2}}(?:st|nd|rd|th)(?: of (?:{ANY_MONTH}))?)"
    rf"|on (?:\d{{1,2}} )?(?:{ANY_MONTH})(?: \d{{1,2}})?(?:st|nd|rd|th)?"
    r"|from (?:[\w'’]{1,12} ){1,3}on(?:wards)?"
    r"|at the (?:start|beginning|end) of (?:the|last|this) \w{1,10}"
)
TIMES_LAST = re.compile(
    rf"(?:(?<=\w),? (?:{_MOMENT})){{0,3}}(?<=\w),? (?:{_MOMENT}|(?:since|as of|as from)\b.{{1,80}})"
    rf"(?:(?<=\w),? (?:{_MOMENT})){{0,3}}[ .!]*\Z",
    re.IGNORECASE,
)
"""The times at the end of a clause."""
TIME_FIRST = re.compile(
    rf"\A\W{{0,3}}(?:{_MOMENT}|{SINCE_WHEN}[^,;:.!?]{{0,30}}?),?"
    rf"(?= (?!(?:{ANY_WEEKDAY}|{ANY_MONTH})\b)"
    r"(?:I|we|my|our|user|user['’]s|(?-i:[A-ZÀ-Þ])[\w-]+)\b)",
    re.IGNORECASE,
)
"""The time that opens a sentence, before its subject."""
SAYS_OVER = re.compile(rf"\b(?:any ?(?:more|longer)|{SINCE_WHEN})", re.IGNORECASE)
"""Words of such times that make "not" a "no longer"."""
_HOUR = "|".join((*NUMBER_WORDS[1:13], "noon", "midnight", "half past", "quarter"))
_HOUR_IN_GERMAN = f"{'|'.join(GERMAN_NUMBER_WORDS[1:13])}|halb|mitternacht"
_DAILY = "work|breakfast|lunch|dinner|school|bed|dark|sunset|sunrise|noon|midnight"
NAMES_TIME = re.compile(rf"\b(?:{_MOMENT}|since|as of|as from)\b", re.IGNORECASE)
"""A time anywhere in some words."""
HALTS = re.compile(
    rf"\b(?:at|around|about|by|until|till|since) (?:about )?(?:\d{{1,2}}(?![\w-])|(?:{_HOUR})\b)"
    r"(?! (?:day|week|month|year)s?\b)"
    rf"|\bum (?:\d{{1,2}}|{_HOUR_IN_GERMAN})\b"
    r"|\b(?:\w{1,8}) (?:second|minute|hour)s? ago\b|\bearly(?=[.,!]|\Z| today\b)"
    r"|\bfor (?:the (?:day|night|evening|moment)|today|lunch|dinner|(?:a|an|the) (?:moment|minute"
    r"|second|while|bit|break|rest|coffee|drink|snack))\b",
    re.IGNORECASE,
)
"""What stops at an hour of a day, or for a while, goes on on another day."""
_DENIES = re.compile(
    r"\b(?:no longer|any ?(?:more|longer)"
    r"|(?:stopped|quit|ceased|gave up|given up) [a-z]{3,20}ing)\b"
    r"|\b(?:nicht|kein\w{0,2})\b(?=.{0,80}\bmehr\b)",
    re.IGNORECASE,
)
NOT_OF_SPEAKER = re.compile(
    r"\b(?:I|we|user)(?: \w{2,12}ly| just| also| now)?"
    r"(?: (?:do|does|am|are|is)(?:n['’]t| not)|['’](?:m|re) not)\b"
    r"(?! (?:think|know|mind|believe|mean|remember|care|guess|recall|(?:have|need|want) to)\b)",
    re.IGNORECASE,
)
"""A state of the speaker that is denied: "I don't", which means "no longer" with "since"."""
_SINCE = re.compile(rf"\b{SINCE_WHEN}", re.IGNORECASE)
_DENIED_VERB = re.compile(
    r"(?:\b(?:no longer|quit|stopped|ceased|gave up|given up|not)|n['’]t)(?: \w{1,12}ly)? ",
    re.IGNORECASE,
)
_IN_PART = re.compile(
    r"\b(?:only|alone|late|early|nights|mornings|evenings|afternoons|weekends|overtime"
    rf"|full[- ]time|part[- ]time|(?:{ANY_WEEKDAY})s|every \w+|(?:after|before) (?:about )?"
    rf"(?:\d{{1,2}}(?![\w-])|(?:{_HOUR}|{_DAILY})\b))",
    re.IGNORECASE,
)
"""Words for a part of what is done, which alone may be over."""
_HOW_OR_WHERE = re.compile(
    r" (?:to|on|with|at|in|from|by|during|without) (?P<adjunct>[^,;.!?]{1,60}?)"
    r"(?= (?:to|on|with|at|in|from|by|during|without|since|because|as|for|any ?more)\b|[,;.!?]|\Z)",
    re.IGNORECASE,
)
_TO = re.compile(r"\w{1,20} to\b", re.IGNORECASE)
_AFTER_NICHT_MEHR = re.compile(
    r"\bmehr (?P<adjunct>(?:zur?|zum|nach|mit|vor|ohne|am|ans?|im|ins?|um|aufs?|bei|beim) "
    r"(?:\w{3,5} (?=[A-ZÄÖÜ]))?[\w-]{2,40})"
)
_IN_PART_IN_GERMAN = re.compile(
    rf"\b(?:(?:{ANY_GERMAN_WEEKDAY}|nacht|abend|morgen|mittag|vormittag|nachmittag|wochentag)s"
    rf"|allein|spät|(?:nach|vor|ab) (?:\d{{1,2}}|(?:{_HOUR_IN_GERMAN})\b))",
    re.IGNORECASE,
)
_DENIED_IN_JAPANESE = re.compile(
    r"(?P<verb>[^\s、。はがをにで]{1,8}?)(?:て|で)(?:は)?い(?:ません|ない|なかった)"
)
_WHERE_IN_JAPANESE = re.compile(r"(?P<where>[^\s、。はがをにの]{1,12}?)で(?=は|も|[^はも])")
_KANA = re.compile(r"[ぁ-ん]+")
_ARTICLES = """
    the a an my our his her their its this that der die das dem den des ein eine einen einem einer
    mein meine meinen meinem meiner
"""
_PREPOSITIONS = """
    zu zur zum nach mit vor ohne am an ans im in ins um auf aufs bei beim after before about
"""
_SMALL = frozenset((*_ARTICLES.split(), *_PREPOSITIONS.split()))


def denies_since(text: str) -> bool:
    """Whether a clause denies a state of its speaker since a time.

    Args:
        text: The clause, in English: "I don't smoke since May".

    """
    return NOT_OF_SPEAKER.search(text) is not None and _SINCE.search(text) is not None


def is_denial(text: str) -> bool:
    """Whether a clause says that a state is over by denying it.

    Args:
        text: The clause, in English or German.

    """
    return _DENIES.search(text) is not None or denies_since(text)


def narrowing(text: str) -> tuple[str, ...] | None:
    """What narrows a denial, so that only a part of the state is over.

    Args:
        text: The clause, which denies (`is_denial`).

    Returns:
        The words, case-folded: ("work",) of "I no longer drive the Golf to work"; empty or None
        where nothing narrows it.

    """
    plain = TIME_FIRST.sub("", TIMES_LAST.sub("", text))
    part = _IN_PART.search(plain) or _IN_PART_IN_GERMAN.search(plain)
    if part is not None:
        return _telling(part.group())
    verb = _DENIED_VERB.search(plain)
    adjunct = _AFTER_NICHT_MEHR.search(plain) or (
        None if verb is None else _HOW_OR_WHERE.search(plain, verb.end())
    )
    if adjunct is not None and verb is not None and _TO.match(plain, verb.end()):
        return None  # "engaged to Tom" is no part of being engaged
    return None if adjunct is None else _telling(adjunct["adjunct"])


def narrowing_in_japanese(text: str) -> tuple[str, ...]:
    """The verb and the places of what a Japanese clause denies, which narrow it.

    Args:
        text: The clause.

    """
    verb = _DENIED_IN_JAPANESE.search(text)
    if verb is None:
        return ()
    denied = text[: verb.start("verb")].rpartition("から")[2]
    places = (match["where"] for match in _WHERE_IN_JAPANESE.finditer(denied))
    return tuple(filter(None, (_KANA.sub("", verb["verb"]), *places)))


def _telling(words: str) -> tuple[str, ...]:
    return tuple(word for word in re.findall(r"[\w-]+", words.casefold()) if word not in _SMALL)
