"""Recognise values of facts: jobs, employers, likings, amounts.

Each shape takes the words after a pattern and returns the value. It returns None where they are no
such value ("I live in fear", "I like it"). Note: where the end of a value is unclear, the earlier
end is taken, because the words after it mostly belong to another phrase.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from memory_core.adapters.offline.occupations import JOBS
from memory_core.adapters.offline.voice import is_past
from memory_core.domain.text.spelling import ANY_MONTH, ANY_WEEKDAY, NUMBER_WORDS

Shape = Callable[[str], str | None]

_TONGUES = """
    arabic bengali bulgarian catalan chinese croatian czech danish dutch english esperanto estonian
    farsi finnish french german greek hebrew hindi hungarian icelandic indonesian irish italian
    japanese korean latin latvian lithuanian mandarin cantonese norwegian persian polish portuguese
    punjabi romanian russian serbian slovak slovenian spanish swahili swedish tagalog tamil thai
    turkish ukrainian urdu vietnamese welsh
"""
LANGUAGES = frozenset(_TONGUES.split())
_CONDITIONS = re.compile(
    r"\A(?:(?:a|an|mild|severe|chronic|type [12]|high|low|my)\s++)*(?:asthma|diabetes|adhd|add"
    r"|autism|epilepsy|migraines?|blood pressure|insomnia"
    r"|arthritis|eczema|psoriasis|c(?:o)?eliac disease|crohn's disease|hay fever|depression|anxiety"
    r"|dyslexia|endometriosis|hypothyroidism|tinnitus"
    r"|sleep apn(?:o)?ea|ibs|scoliosis|pacemaker|peanut allergy|nut allergy|food allergy)\b",
    re.IGNORECASE,
)
_JOB_END = re.compile(
    r"(?<!\s)\s++(?:at|in|for|with|by|from|on|near|here|there|now|currently|these days|during|until"
    r"|till|of course|again|myself|too|bei|chez|en|para)\b.*",
    re.IGNORECASE,
)
_HOW = re.compile(
    r"(?:much|hard|little|long|often|well|fast|quickly|usual|before|if|I|we|he|she|they"
    r"|the (?:same|others))\b"
)
_THING_END = re.compile(
    r"(?<!\s)\s++(?:a lot|very much|so much|too much|anyway"
    r"|(?:the |even )?(?:more|most|better|best)|most of all|more than anything|as well|too"
    r"|these days|nowadays|right now|now|at the moment|lately"
    r"|any ?more|at all|(?:since|during|until|till|whenever|every (?:day|morning|evening|week"
    r"|weekend))\b(?s:.*)|after all|of course|sehr"
    r"|beaucoup|mucho)$|(?<!\s)\s++(?:as\b|cause\b|than\b|especially\b).*",
    re.IGNORECASE,
)
_NO_THING = re.compile(
    r"(?:it|this|that|these|those|them|him|her|you|your|he|she|they|how|what|when|where|why|whether"
    r"|to|the (?:idea|way|sound|look|first|second|third"
    r"|other|last|option|plan|part|fact|thought|one)|one of|one|both|all|some|something|anything"
    r"|everything|nothing|me|us|es|das|dich|ihn|sie|te|ça"
    r"|cela|que|lo|la idea|working on|here|there|not|no|so|being able|much|a lot|often|enough"
    r"|every (?:day|time|week|weekend|month|year|morning|evening|night|spring|summer|autumn|winter"
    r"|\w+day)|always|last|usual|before)\b",
    re.IGNORECASE,
)
_LIKED_ANYWHERE = (
    "sea|seaside|ocean|beach|coast|mountains|hills|forest|woods|countryside|country|city|outdoors"
    "|outside|rain|snow|sun|sunshine|cold|heat|summer|winter|spring|autumn|fall|gym|theatre|theater"
    "|opera|cinema|movies|guitar|piano|violin|drums|saxophone|clarinet|flute|cello|news|arts"
    "|classics|nineties|eighties|dark"
)
_IN_SIGHT = rf"the (?!(?:{_LIKED_ANYWHERE})\b)[a-z][a-z-]*"
_THING_IN_SIGHT = re.compile(_IN_SIGHT)
_LIKES_IN_SIGHT = re.compile(
    rf"\b(?:love|loves|like|likes|enjoy|enjoys|adore|adores) {_IN_SIGHT}(?=[,;.!?]|\Z"
    r"| (?:and|but|so)\b)"
)
_MARKUP = frozenset("{}<>|\\=")
_OFTEN = (
    r"(?: (?:almost |nearly |mostly |only |about )?(?:every (?:single )?(?:day|morning|evening"
    r"|night|week|weekend)|daily|in the (?:morning|evening|afternoon)s?"
    r"|all the time|a lot|regularly|often|sometimes|at (?:lunch|dinner|breakfast|night|work)"
    r"|for (?:lunch|dinner|breakfast)|again|now|(?:once|twice|three times|\w{1,12} times) a (?:day"
    r"|week|month)|on (?:weekends|sundays))){0,3}"
)
_FOOD = re.compile(
    r"((?:red )?meat|fish|pork|beef|chicken|lamb|veal|poultry|dairy|cheese|milk|eggs?|gluten|sugar"
    r"|seafood|shellfish|honey|wheat|bread|nuts"
    rf"|carbs|sweets|chocolate){_OFTEN}",
    re.IGNORECASE,
)
_DRINK = re.compile(
    r"(?:lots of |a lot of |a |some |too much |(?:\w{1,12} )?cups? of "
    r"|(?:\w{1,12} )?glass(?:es)? of )?"
    r"((?:black |green |decaf |herbal |oat |red |white )?(?:coffee|tea|espresso|matcha|alcohol|beer"
    rf"|wine|milk|cola|coke|soda|juice|energy drinks|whisky|water|lattes?)){_OFTEN}",
    re.IGNORECASE,
)
MOMENT = (
    r"\b(?:yesterday|today|recently|lately|now|again|too|sadly|(?:a|an|two|three|four|five|six|\d+"
    r"|a few|some|a couple of) \w+ ago|(?:last|this) \w+|in (?:early |late "
    rf"|mid[- ])?(?:{ANY_MONTH}|\d{{4}}|spring|summer|autumn|fall|winter)|on (?:{ANY_WEEKDAY})"
    r"|since \w+"
    r"|yet|either|at all|any ?more|at the (?:start|beginning|end) of (?:the|last|this) \w+"
    r"|after (?:\w+ ){1,3}years|for good)"
)
_WHEN = re.compile(rf"\A(?:\s*+{MOMENT})*", re.IGNORECASE)
_WHEN_LAST = re.compile(rf"(?<!\s)(?:\s++{MOMENT}){{1,8}}$", re.IGNORECASE)
_ARTICLE = re.compile(r"(?:an?|the|ein(?:e|en|em|er)?|une?|una?)\s+", re.IGNORECASE)
OLDEST = 120
"""Years that a person can be old."""
_NUMBERS = {word: str(number) for number, word in enumerate(NUMBER_WORDS[:13]) if number}
_ANY_NUMBER = "|".join(_NUMBERS)


def job(words: str) -> str | None:
    """A job of up to six words, without its article and place."""
    return (
        None
        if _HOW.match(words)
        else _short_phrase(
            _ARTICLE.sub("", _WHEN_LAST.sub("", _JOB_END.sub("", words)), count=1), 6
        )
    )


def known_job(words: str) -> str | None:
    """A job after "I am a" whose last word is a known job."""
    candidate = job(words)
    last = candidate.split()[-1].lower() if candidate else ""
    return candidate if last in JOBS else None


def job_of_activity(words: str) -> str | None:
    """The known job whose work the first word names, if only a time follows: "nursing"."""
    activity, _, rest = words.removesuffix(" for me").partition(" ")
    if not activity.endswith("ing") or nothing(rest) is None:
        return None
    stem = activity.removesuffix("ing")
    return next((stem + end for end in ("e", "er", "", "or") if stem + end in JOBS), None)


_ENDS_NAME = r"as|in|on|since|for|now|near|from|where|until|with|too|these|right|and"
_AFTER_NAME = re.compile(rf"(?<!\s)\s++(?:{_ENDS_NAME})\b.*")
_NOUN_AFTER = re.compile(rf" (?!(?:{_ENDS_NAME}|at|but|who|which|that|again|part|full)\b)[a-z]")
"""A noun of which capitals before it are no name: "the API layer"."""


def organisation(words: str) -> str | None:
    """An employer or a school: capitalised words, or a few plain words ("a small bakery")."""
    capital = re.match(
        r"(?:the\s+)?[A-ZÀ-Þ0-9][\w&'’.-]*(?:\s+(?:(?:of|and|for|the|de"
        r"|und)\s+)*[A-ZÀ-Þ&][\w&'’.-]*){0,5}",
        words,
    )
    if capital:
        is_modifier = words.startswith("the ") and _NOUN_AFTER.match(words, capital.end())
        return None if is_modifier else capital.group().rstrip(".")
    cut = _AFTER_NAME.sub("", words)
    return (
        _short_phrase(cut, 5)
        if re.match(
            r"(?:an?|the(?! (?:last|past|next|first|same)\b)|my (?:own|father's|family's)|eine[rm]?"
            r"|une?|una?)\s",
            cut,
        )
        else None
    )


def thing(words: str) -> str | None:
    """A thing that a person likes or has: up to eight words.

    A reference ("it", "your idea") is no such thing.
    """
    cut = _THING_END.sub("", unquoted(words)).strip()
    return None if _NO_THING.match(cut) or _THING_IN_SIGHT.fullmatch(cut) else _short_phrase(cut, 8)


def likes_in_sight(sentence: str) -> bool:
    """Whether a speaker likes a thing at hand ("the theme"), which is no taste."""
    return _LIKES_IN_SIGHT.search(sentence) is not None


def lasting(words: str) -> str | None:
    """As `thing`, without a time after it: "bike" of "bike last week"."""
    return thing(_WHEN_LAST.sub("", words))


def activity(words: str) -> str | None:
    """As `thing`, or an infinitive: "to swim"."""
    return _short_phrase(words, 8) if words.startswith("to ") else thing(words)


def food(words: str) -> str | None:
    """A food that people give up or return to, if no words follow it."""
    match = _FOOD.fullmatch(words) or _FOOD.fullmatch(_THING_END.sub("", words))
    return match[1].lower() if match else None


def nothing(words: str) -> str | None:
    """The empty value where only a time or no word follows; None otherwise."""
    return "" if _WHEN.fullmatch(words.strip()) else None


def recently(words: str) -> str | None:
    """As `nothing`, but not in a year long ago: "retired in 1998"."""
    return None if _LONG_AGO.search(words) else nothing(words)


_LONG_AGO = re.compile(r"\bin (?:19\d\d|20[01]\d)\b")


def language(words: str) -> str | None:
    """A known language."""
    match = re.match(
        r"(?:some |any |a little (?:bit of )?|a bit of |fluent |basic )?([^\W\d_]+)\b", words
    )
    return match[1].capitalize() if match and match[1].lower() in LANGUAGES else None


def condition(words: str) -> str | None:
    """A known lasting condition of health."""
    match = _CONDITIONS.match(words)
    return _ARTICLE.sub("", match.group(), count=1) if match else None


def always(words: str) -> str | None:
    """The empty value, whatever follows."""
    return ""


def drink(words: str) -> str | None:
    """A drink of habit, without how often."""
    match = _DRINK.fullmatch(words) or _DRINK.fullmatch(
        _THING_END.sub("", _WHEN_LAST.sub("", words))
    )
    return match[1].lower() if match else None


def number(words: str) -> str | None:
    """A number in digits, of digits or of a word up to twelve."""
    word = words.split()[0].lower() if words.split() else ""
    return str(int(word)) if word.isdecimal() and len(word) < 4 else _NUMBERS.get(word)


def age(words: str) -> str | None:
    """A number of years that a person can be old."""
    years = number(words)
    return years if years is not None and int(years) <= OLDEST else None


def day(words: str) -> str | None:
    """A date as it is written, with a digit or the name of a month."""
    cut = re.sub(r"^(?:on|the)\s+(?:the\s+)?|(?<!\s)\s++(?:in|at|near)\s.*", "", words)
    return (
        _short_phrase(cut, 5)
        if re.search(
            r"\d|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", cut, re.IGNORECASE
        )
        else None
    )


def address(words: str) -> str | None:
    """A mail address."""
    match = re.match(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", words)
    return match.group() if match else None


def telephone(words: str) -> str | None:
    """A telephone number of at least six digits."""
    match = re.match(r"\+?[\d(][\d ()/.-]{5,20}\d", words)
    return match.group() if match else None


def anything(words: str) -> str | None:
    """Up to ten words, as they are."""
    return None if _NO_THING.match(words) else _short_phrase(unquoted(words), 10)


def amount(words: str) -> str | None:
    """A number, date or hour with a few words: "8,000 euros", "Thursday at 9"."""
    phrase = anything(
        re.sub(r"(?<!\s)\s++(?:so|because|now|instead|please|and (?:I|we|it|the))\b.*", "", words)
    )
    return phrase if phrase and _AMOUNT.search(phrase) else None


_AMOUNT = re.compile(
    rf"\d|\b(?:{ANY_WEEKDAY}|{ANY_MONTH}|noon|midnight|{_ANY_NUMBER}|half past)\b", re.IGNORECASE
)


_BUSY_WORDS = "is was are were has am there then my it not do does please maybe want would will"
_BUSY = frozenset(_BUSY_WORDS.split())
"""Words of clauses, which no item of a list has."""


def listed(piece: str) -> bool:
    """Whether words can be a further item of a list: "and climbing".

    There may be no verb, pronoun or remark ("by the way") among them.
    """
    piece_words = piece.split()
    if _REMARK.match(piece):
        return False
    return (
        0 < len(piece_words) <= 3
        and not any(word.lower() in _BUSY or is_past(word) for word in piece_words)
        and not _NO_THING.match(piece)
    )


CLOSED: frozenset[Shape] = frozenset({language, condition, food})
"""Shapes of known words alone.

A part of a list with a value of such a shape is a further item, whatever words are around it.
"""
_REMARK = re.compile(
    r"\A(?:(?:by the way|btw|obviously|actually|honestly|frankly|sadly|unfortunately|luckily"
    r"|basically|apparently|naturally|clearly|slowly"
    r"|though|too|also|of course|for sure|for example|hands down|no doubt|more or less"
    r"|in (?:general|fact|particular)|after all|at least|e?specially|mainly|mostly|sometimes"
    r"|usually|only|even|just|either|or so|and so on|and such|etc|among others|lol|haha|thanks"
    r"|sorry|if|as|to be|believe me|trust me|mind you|go figure)\b|.*\b(?:and|or|but)$)",
    re.IGNORECASE,
)
"""Words after a comma that are no further item of a list."""


def _short_phrase(words: str, most: int) -> str | None:
    """The words without quotation marks and punctuation, if there are 1 to `most`."""
    split_words = words.strip(" '\"“”‘’«».").split()
    return (
        " ".join(split_words)
        if 0 < len(split_words) <= most and _MARKUP.isdisjoint(words)
        else None
    )


def unquoted(words: str) -> str:
    """The words without the quotation marks around them."""
    return words.strip(' "“”„«»').strip()
