"""What may fill a fact: the shape of a place, a name, a job, a thing that somebody likes.

Each shape takes the words after a pattern and gives the value, or None when they are no such thing ("I live in fear", "I like
it"). A reader would get wrong: a value is cut short rather than let grow, because what follows belongs to something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from memory_core.adapters.offline.cities import CITIES
from memory_core.adapters.offline.voice import is_past
from memory_core.domain.text import tokens
from memory_core.domain.themes import themes

Shape = Callable[[str], str | None]

_COUNTRIES = """
    afghanistan, albania, algeria, andorra, angola, argentina, armenia, australia, austria, azerbaijan, bahamas, bahrain, bangladesh,
    barbados, belarus, belgium, belize, benin, bhutan, bolivia, bosnia, botswana, brazil, brunei, bulgaria, burkina faso, burundi,
    cambodia, cameroon, canada, chad, chile, china, colombia, congo, costa rica, croatia, cuba, cyprus, czech republic, czechia,
    denmark, dominican republic, ecuador, egypt, el salvador, england, eritrea, estonia, ethiopia, europe, fiji, finland, france,
    gabon, gambia, georgia, germany, ghana, great britain, greece, guatemala, guinea, guyana, haiti, honduras, hungary, iceland,
    india, indonesia, iran, iraq, ireland, israel, italy, ivory coast, jamaica, japan, jordan, kazakhstan, kenya, kosovo, kuwait,
    laos, latvia, lebanon, liberia, libya, liechtenstein, lithuania, luxembourg, madagascar, malawi, malaysia, mali, malta, mauritius,
    mexico, moldova, monaco, mongolia, montenegro, morocco, mozambique, myanmar, namibia, nepal, netherlands, new zealand, nicaragua,
    niger, nigeria, north korea, north macedonia, northern ireland, norway, oman, pakistan, palestine, panama, paraguay, peru,
    philippines, poland, portugal, qatar, romania, russia, rwanda, saudi arabia, scotland, senegal, serbia, singapore, slovakia,
    slovenia, somalia, south africa, south korea, korea, spain, sri lanka, sudan, sweden, switzerland, syria, taiwan, tajikistan,
    tanzania, thailand, togo, tunisia, turkey, uganda, uk, ukraine, united arab emirates, united kingdom, united states, uruguay, us,
    usa, uzbekistan, venezuela, vietnam, wales, yemen, zambia, zimbabwe, america, africa, asia, deutschland, österreich, schweiz,
    frankreich, spanien, italien, allemagne, espagne, suisse, belgique, italie, españa, alemania, francia, suiza, méxico
"""
COUNTRIES = frozenset(" ".join(name.split()) for name in _COUNTRIES.split(","))
"""Names that are of no city, so that "in Germany" does not stand against "in Berlin"."""
_TRADES = """
    accountant actor actress analyst architect artist attorney author baker banker barber barista bartender biologist bookseller
    builder butcher carer carpenter cashier chef chemist cleaner clerk coach composer consultant contractor cook dancer dentist
    designer developer director doctor driver economist editor electrician engineer entrepreneur farmer firefighter florist freelancer
    gardener geologist hairdresser historian housewife illustrator instructor interpreter janitor jeweller journalist judge lawyer
    lecturer librarian lifeguard locksmith manager mathematician mechanic midwife model musician nurse nanny optician painter
    paramedic pastor pensioner pharmacist photographer physicist physiotherapist pilot plumber policeman policewoman postman potter
    priest producer professor programmer psychiatrist psychologist receptionist recruiter reporter researcher roofer sailor salesman
    salesperson scientist secretary singer soldier statistician student surgeon surveyor tailor teacher technician therapist toolmaker
    trainer translator tutor vet veterinarian violinist volunteer waiter waitress web-developer welder writer lehrer lehrerin arzt
    ärztin ingenieur ingenieurin student studentin bäcker krankenpfleger professeur infirmier infirmière médecin ingénieur étudiant
    étudiante boulanger profesor profesora médico médica ingeniero ingeniera enfermera enfermero estudiante panadero
"""
_JOBS = frozenset(_TRADES.split())
_TONGUES = """
    arabic bengali bulgarian catalan chinese croatian czech danish dutch english esperanto estonian farsi finnish french german greek
    hebrew hindi hungarian icelandic indonesian irish italian japanese korean latin latvian lithuanian mandarin cantonese norwegian
    persian polish portuguese punjabi romanian russian serbian slovak slovenian spanish swahili swedish tagalog tamil thai turkish
    ukrainian urdu vietnamese welsh
"""
_LANGUAGES = frozenset(_TONGUES.split())
_CONDITIONS = re.compile(
    r"(?:(?:a|an|mild|severe|chronic|type [12]|high|low|my)\s+)*(?:asthma|diabetes|adhd|add|autism|epilepsy|migraines?|blood pressure"
    r"|insomnia"
    r"|arthritis|eczema|psoriasis|c(?:o)?eliac disease|crohn's disease|hay fever|depression|anxiety|dyslexia|endometriosis|hypothyroidism"
    r"|tinnitus"
    r"|sleep apn(?:o)?ea|ibs|scoliosis|pacemaker|peanut allergy|nut allergy|food allergy)\b",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"(?:the\s+)?[A-ZÀ-ÞĀ-ſ][\w'’.-]*(?:\s+(?:(?:de|del|la|le|of|am|an|upon|sur|der|den|do|da)\s+)?[A-ZÀ-ÞĀ-ſ][\w'’.-]*){0,3}"
)
_LOWER_PLACE = re.compile(
    r"[a-zà-ÿ][\w'’-]{2,}(?:\s+(?:york|francisco|angeles|city|aires|janeiro|paulo|delhi|diego|town))?(?=\s*(?:$|now\b|with\b))"
)
_NOWHERE = """
    the a an my this that his her our your their general fact peace fear love case person town charge need debt pain bed here there it
    them january february march april may june july august september october november december spring summer autumn winter monday
    tuesday wednesday thursday friday saturday sunday
"""
_NO_PLACE = frozenset(_NOWHERE.split())
_NAME = re.compile(
    r"(?:Dr\.?\s+|Mr\.?\s+|Mrs\.?\s+|Ms\.?\s+)?[^\W\d_a-z][\w'’-]*(?:\s+(?:(?:van|von|de|der|la|el|bin|al)\s+)*[^\W\d_a-z][\w'’.-]*){0,3}"
)
_LOWER_NAME = re.compile(r"[a-z][a-z'-]{1,20}$")
_AFTER_NAME = re.compile(r"$|\s+(?:from|by|since|for|in|now|too|btw|here|at|with|actually|though|please)\b")
_JOB_END = re.compile(
    r"\s+(?:at|in|for|with|by|from|on|near|here|there|now|currently|these days|during|until|till|of course|again|myself|too|bei|chez|en"
    r"|para)\b.*",
    re.IGNORECASE,
)
_THING_END = re.compile(
    r"\s+(?:a lot|very much|so much|too much|the most|most of all|more than anything|as well|too|these days|nowadays|right now|now"
    r"|at the moment|lately"
    r"|any ?more|at all|since\b.*|during\b.*|until\b.*|till\b.*|whenever\b.*|every (?:day|morning|evening|week|weekend)\b.*|after all"
    r"|of course|sehr"
    r"|beaucoup|mucho)$|\s+(?:as\b|cause\b|than\b).*",
    re.IGNORECASE,
)
_NO_THING = re.compile(
    r"(?:it|this|that|these|those|them|him|her|you|your|he|she|they|how|what|when|where|why|whether|to|the (?:idea|way|sound|look|first"
    r"|second|third"
    r"|other|last|option|plan|part|fact|thought|one)|one of|one|both|all|some|something|anything|everything|nothing|me|us|es|das|dich|ihn"
    r"|sie|te|ça"
    r"|cela|que|lo|la idea|working on|here|there|not|no|so|being able)\b",
    re.IGNORECASE,
)
_MARKUP = frozenset("{}<>|\\=")
_FOOD = re.compile(
    r"((?:red )?meat|fish|pork|beef|chicken|lamb|veal|poultry|dairy|cheese|milk|eggs?|gluten|sugar|seafood|shellfish|honey|wheat|bread|nuts"
    r"|carbs|sweets|chocolate)(?: again)?(?: now)?",
    re.IGNORECASE,
)
_MONTH = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAY = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_WHEN = re.compile(
    rf"(?:\s*\b(?:yesterday|today|recently|lately|now|again|too|sadly|(?:a|an|two|three|four|five|six|\d+|a few|some|a couple of) \w+ ago"
    rf"|(?:last|this) \w+|in (?:early |late |mid[- ])?(?:{_MONTH}|\d{{4}}|spring|summer|autumn|fall|winter)|on (?:{_DAY})"
    r"|at the (?:start|beginning|end) of (?:the|last|this) \w+|after (?:\w+ ){1,3}years|for good))*",
    re.IGNORECASE,
)
_LEFT_FOR = re.compile(
    rf"(\S.{{1,40}}?) for (\S.{{1,40}}?)(?:\s+(?:last|this|in (?:{_MONTH}|\d)|(?:a|two|three|\d+) \w+ ago).*)?", re.IGNORECASE
)
_FOR_GOOD = re.compile(r"(\S.{1,40}?) (?:for good|for ever|forever|permanently|behind)\b.*", re.IGNORECASE)
_ARTICLE = re.compile(r"(?:an?|the|ein(?:e|en|em|er)?|une?|una?)\s+", re.IGNORECASE)
_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12,
}  # fmt: skip


def place(words: str) -> str | None:
    """A place: capitalised words, or one plain word where the writer never capitalises; no season, tool or state of mind."""
    match = _PLACE.match(words)
    if match is None and words == words.lower():
        match = _LOWER_PLACE.match(words)
    if match is None:
        return None
    found = match.group().rstrip(".'’").removeprefix("the ")
    found = found.title() if found.islower() else found
    if found.split()[0].lower() in _NO_PLACE or themes(tokens(found)).get("technology"):
        return None
    return found


def known_place(words: str) -> str | None:
    """A place that is written with a capital, or one that is known: what stands here may be anything ("my home is in danger")."""
    found = place(words)
    return found if found is not None and (found in words or _is_known(found)) else None


def new_home(words: str) -> str | None:
    """Lisbon, of "Berlin for Lisbon" after "left". One of the two must be known to be a place, for companies are left in these words too."""
    found = _homes(words)
    return found[1] if found else None


def old_home(words: str) -> str | None:
    """Berlin, of "Berlin for Lisbon" or "Berlin for good" after "left"."""
    found = _homes(words)
    if found:
        return found[0]
    match = _FOR_GOOD.fullmatch(words)
    left = place(match[1]) if match else None
    return left if left is not None and left == match[1] and _is_known(left) else None


def _homes(words: str) -> tuple[str, str] | None:
    match = _LEFT_FOR.fullmatch(words)
    if match is None:
        return None
    homes = place(match[1]), place(match[2])
    if homes[0] is None or homes[1] is None or (homes[0], homes[1]) != match.groups()[:2]:
        return None
    return (homes[0], homes[1]) if _is_known(homes[0]) or _is_known(homes[1]) else None


def _is_known(name: str) -> bool:
    return name.lower() in CITIES or name.lower() in COUNTRIES


def name(words: str) -> str | None:
    """A name: one to four capitalised words, or one plain word that stands alone."""
    plain = _unquoted(words)
    match = _NAME.match(plain) or _LOWER_NAME.match(plain)
    if match is None or match.group().lower() in _NO_PLACE or not _AFTER_NAME.match(plain, match.end()):
        return None
    return match.group()


def job(words: str) -> str | None:
    """A job as it is called, without its article: up to six words, until the place where it is done."""
    return _few(_ARTICLE.sub("", _JOB_END.sub("", words), count=1), 6)


def known_job(words: str) -> str | None:
    """A job after "I am a": its last word must be known to be one, since people are much else ("a morning person")."""
    found = job(words)
    last = found.split()[-1].lower() if found else ""
    return found if last in _JOBS else None


def organisation(words: str) -> str | None:
    """An employer or a school: capitalised words, or a few plain ones ("a small bakery")."""
    capital = re.match(r"(?:the\s+)?[A-ZÀ-Þ0-9][\w&'’.-]*(?:\s+(?:(?:of|and|for|the|de|und)\s+)*[A-ZÀ-Þ&][\w&'’.-]*){0,5}", words)
    if capital:
        return capital.group().rstrip(".")
    cut = re.sub(r"\s+(?:as|in|on|since|for|now|near|from|where|until|with|too|these|right|and)\b.*", "", words)
    return _few(cut, 5) if re.match(r"(?:an?|the|my (?:own|father's|family's)|eine[rm]?|une?|una?)\s", cut) else None


def thing(words: str) -> str | None:
    """What somebody likes or has: up to eight words, nothing that only points ("it", "your idea")."""
    cut = _THING_END.sub("", _unquoted(words)).strip()
    return None if _NO_THING.match(cut) else _few(cut, 8)


def activity(words: str) -> str | None:
    """Like `thing`, but an infinitive may stand there: "to swim"."""
    return _few(words, 8) if words.startswith("to ") else thing(words)


def food(words: str) -> str | None:
    """Something that people give up or return to, and nothing besides it."""
    match = _FOOD.fullmatch(_THING_END.sub("", words))
    return match[1].lower() if match else None


def nothing(words: str) -> str | None:
    """ "" where nothing more is said but when; None where there is more to it."""
    return "" if _WHEN.fullmatch(words.strip()) else None


def language(words: str) -> str | None:
    """A language that is known to be one."""
    match = re.match(r"(?:some |a little |a bit of |fluent |basic )?([^\W\d_]+)\b", words)
    return match[1].capitalize() if match and match[1].lower() in _LANGUAGES else None


def condition(words: str) -> str | None:
    """A lasting condition of health that is known to be one."""
    match = _CONDITIONS.match(words)
    return _ARTICLE.sub("", match.group(), count=1) if match else None


def number(words: str) -> str | None:
    """A number in digits, whether written so or in words up to twelve."""
    word = words.split()[0].lower() if words.split() else ""
    return str(int(word)) if word.isdecimal() and len(word) < 4 else str(_NUMBERS[word]) if word in _NUMBERS else None


def day(words: str) -> str | None:
    """A date as it was written: it holds a digit or the name of a month."""
    cut = re.sub(r"^(?:on|the)\s+(?:the\s+)?", "", words)
    return _few(cut, 5) if re.search(r"\d|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", cut, re.IGNORECASE) else None


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
    return None if _NO_THING.match(words) else _few(_unquoted(words), 10)


def listed(piece: str) -> bool:
    """Whether a few words can be one more item of a list ("and climbing"): no verb or pronoun among them."""
    found = piece.split()
    busy = {
        "is",
        "was",
        "are",
        "were",
        "has",
        "am",
        "there",
        "then",
        "my",
        "it",
        "not",
        "do",
        "does",
        "please",
        "maybe",
        "want",
        "would",
        "will",
    }
    return 0 < len(found) <= 3 and not any(word.lower() in busy or is_past(word) for word in found) and not _NO_THING.match(piece)


def _few(words: str, most: int) -> str | None:
    found = words.strip(" '\"“”‘’«».").split()
    return " ".join(found) if 0 < len(found) <= most and _MARKUP.isdisjoint(words) else None


def _unquoted(words: str) -> str:
    return words.strip(' "“”„«»').strip()
