"""Recognise names of people and of places.

In "I'm Sarah" only the capital shows that Sarah is a name, as in "I'm Austrian" and "I'm Vegan".
Note: words with another known meaning are no names, and the list of such words can't be complete.
"""

from __future__ import annotations

import re

from memory_core.adapters.offline.fact_values import (
    LANGUAGES,
    known_job,
    nothing,
    organisation,
    unquoted,
)
from memory_core.domain.scene_assignment import themes
from memory_core.domain.statements.change_topics import FOR_SOFTWARE
from memory_core.domain.text.analyzer import FUNCTION_WORDS, QUERY_WORDS, tokens
from memory_core.domain.text.spelling import ANY_MONTH, MONTHS, WEEKDAYS
from memory_core.domain.text.towns import has_town

# Places: words that may name a place, known places, and both homes in "I left Berlin for Lisbon".
#
# The list has large and well-known cities. Note: a name that is not in the list may be a place too.


_COUNTRIES = """
    afghanistan, albania, algeria, andorra, angola, argentina, armenia, australia, austria,
    azerbaijan, bahamas, bahrain, bangladesh, barbados, belarus, belgium, belize, benin, bhutan,
    bolivia, bosnia, botswana, brazil, brunei, bulgaria, burkina faso, burundi, cambodia, cameroon,
    canada, chad, chile, china, colombia, congo, costa rica, croatia, cuba, cyprus, czech republic,
    czechia, denmark, dominican republic, ecuador, egypt, el salvador, england, eritrea, estonia,
    ethiopia, europe, fiji, finland, france, gabon, gambia, georgia, germany, ghana, great britain,
    greece, guatemala, guinea, guyana, haiti, honduras, hungary, iceland, india, indonesia, iran,
    iraq, ireland, israel, italy, ivory coast, jamaica, japan, jordan, kazakhstan, kenya, kosovo,
    kuwait, laos, latvia, lebanon, liberia, libya, liechtenstein, lithuania, luxembourg, madagascar,
    malawi, malaysia, mali, malta, mauritius, mexico, moldova, monaco, mongolia, montenegro,
    morocco, mozambique, myanmar, namibia, nepal, netherlands, new zealand, nicaragua, niger,
    nigeria, north korea, north macedonia, northern ireland, norway, oman, pakistan, palestine,
    panama, paraguay, peru, philippines, poland, portugal, qatar, romania, russia, rwanda,
    saudi arabia, scotland, senegal, serbia, singapore, slovakia, slovenia, somalia, south africa,
    south korea, korea, spain, sri lanka, sudan, sweden, switzerland, syria, taiwan, tajikistan,
    tanzania, thailand, togo, tunisia, turkey, uganda, uk, ukraine, united arab emirates,
    united kingdom, united states, uruguay, us, usa, uzbekistan, venezuela, vietnam, wales, yemen,
    zambia, zimbabwe, america, africa, asia, deutschland, österreich, schweiz, frankreich, spanien,
    italien, allemagne, espagne, suisse, belgique, italie, españa, alemania, francia, suiza, méxico
"""
TITLE = r"(?:(?:Mrs?|Ms|Miss|Dr|Frau|Herr)\.? )?"
"""A title before a person's name, or nothing."""
COUNTRIES = frozenset(" ".join(name.split()) for name in _COUNTRIES.split(","))
"""Names of countries and regions, so that "in Germany" does not contradict "in Berlin"."""
_CITIES = """
    aachen, aarhus, aberdeen, abidjan, abu dhabi, accra, adelaide, ahmedabad, albuquerque, algiers,
    alicante, amman, amsterdam, ankara, antwerp, athens, atlanta, auckland, austin, baghdad, baku,
    baltimore, bangalore, bengaluru, bangkok, barcelona, basel, bath, beijing, beirut, belfast,
    belgrade, bergen, berlin, bern, bilbao, birmingham, bochum, bogota, bogotá, bologna, bombay,
    bonn, bordeaux, boston, brasilia, bratislava, bremen, brighton, brisbane, bristol, brno,
    brooklyn, bruges, brussels, bucharest, budapest, buenos aires, buffalo, cairo, calgary,
    cambridge, canberra, cape town, caracas, cardiff, casablanca, charlotte, chennai, chicago,
    chongqing, christchurch, cincinnati, cleveland, cologne, colombo, columbus, copenhagen, cordoba,
    cork, dakar, dallas, damascus, dar es salaam, delhi, denver, detroit, dhaka, doha, dortmund,
    dresden, dubai, dublin, duisburg, durban, düsseldorf, edinburgh, edmonton, eindhoven, erfurt,
    essen, exeter, florence, frankfurt, freiburg, fukuoka, galway, gdansk, geneva, genoa, ghent,
    glasgow, gothenburg, granada, graz, grenoble, groningen, guadalajara, guangzhou, haifa, hamburg,
    hanoi, hannover, hanover, havana, heidelberg, helsinki, hiroshima, ho chi minh city, hong kong,
    honolulu, houston, hyderabad, ibadan, indianapolis, innsbruck, istanbul, izmir, jakarta, jeddah,
    jerusalem, johannesburg, kampala, kansas city, karachi, karlsruhe, kathmandu, kiel, kigali,
    kingston, kinshasa, kobe, kolkata, krakow, kraków, kuala lumpur, kuwait city, kyiv, kiev, kyoto,
    lagos, lahore, las vegas, lausanne, leeds, leicester, leiden, leipzig, lille, lima, limerick,
    linz, lisbon, lisboa, liverpool, ljubljana, lodz, london, los angeles, luanda, lusaka,
    luxembourg, lviv, lyon, madrid, málaga, malaga, malmö, manchester, manila, mannheim, maputo,
    marrakesh, marseille, medellín, melbourne, memphis, mexico city, miami, milan, milwaukee,
    minneapolis, minsk, monterrey, montevideo, montpellier, montreal, moscow, mumbai, munich,
    münster, nagoya, nairobi, nantes, naples, nashville, new delhi, new orleans, new york,
    new york city, newcastle, nice, nicosia, nottingham, nuremberg, oakland, odessa, oporto, osaka,
    oslo, ottawa, oxford, padua, palermo, palma, paris, perth, philadelphia, phoenix, pisa,
    pittsburgh, portland, porto, potsdam, prague, pretoria, pune, quebec, quito, rabat, regensburg,
    rennes, reykjavik, riga, rio de janeiro, riyadh, rome, rostock, rotterdam, sacramento,
    salt lake city, salzburg, san antonio, san diego, san francisco, san jose, santiago, são paulo,
    sao paulo, sapporo, sarajevo, seattle, seoul, seville, shanghai, sheffield, shenzhen, singapore,
    skopje, sofia, southampton, st petersburg, stockholm, strasbourg, stuttgart, sydney, taipei,
    tallinn, tampa, tampere, tashkent, tbilisi, tehran, tel aviv, the hague, thessaloniki, tirana,
    tokyo, toronto, toulouse, trieste, trondheim, tucson, tunis, turin, turku, tübingen, ulm,
    uppsala, utrecht, valencia, vancouver, venice, verona, vienna, vilnius, warsaw, washington,
    weimar, wellington, wroclaw, wuhan, würzburg, yerevan, yokohama, york, zagreb, zaragoza, zürich,
    zurich
"""
CITIES = frozenset(" ".join(name.split()) for name in _CITIES.split(","))
_PLACE = re.compile(
    r"(?:the\s+)?[A-ZÀ-ÞĀ-ſ][\w'’.-]*(?:\s+(?:(?:de|del|la|le|of|am|an|upon|sur|der|den|do"
    r"|da)\s+)?[A-ZÀ-ÞĀ-ſ][\w'’.-]*){0,3}"
)
_LOWER_PLACE = re.compile(
    r"\A[a-zà-ÿ][\w'’-]{2,}(?:\s+(?:york|francisco|angeles|city|aires|janeiro|paulo|delhi|diego"
    r"|town))?(?=\s*(?:$|now\b|with\b))"
)
_REGION_AFTER = re.compile(r",? (?:in |near )?([A-ZÀ-Þ][\w'’-]*(?: [A-ZÀ-Þ][\w'’-]*){0,2})")
_NOWHERE = """
    the a an my this that his her our your their general fact peace fear hope harmony denial exile
    luxury poverty misery silence sin concert love case person town charge need debt pain bed here
    there it them spring summer autumn winter
"""
NOWHERE = frozenset((*_NOWHERE.split(), *MONTHS, *WEEKDAYS))
_LEFT_FOR = re.compile(
    rf"\A(\S.{{1,40}}?) for (\S.{{1,40}}?)(?:\s+(?:last|this|in (?:{ANY_MONTH}|\d)"
    r"|(?:a|two|three|\d+) \w+ ago).*)?",
    re.IGNORECASE,
)
_FOR_GOOD = re.compile(
    r"\A(\S.{1,40}?) (?:for good|for ever|forever|permanently|behind)\b.*", re.IGNORECASE
)


def place(words: str) -> str | None:
    """A place at the beginning of words, None for no place.

    It is capitalised words, or a single plain word where no word is capitalised. A season, tool or
    state of mind is no place.
    """
    match = _PLACE.match(words)
    if match is None and words == words.lower():
        match = _LOWER_PLACE.match(words)
    if match is None:
        return None
    candidate = match.group().rstrip(".'’").removeprefix("the ")
    candidate = candidate.title() if candidate.islower() else candidate
    first = candidate.split()[0].lower()
    if (
        first in NOWHERE
        or first.removesuffix("s") in WEEKDAYS
        or themes(tokens(candidate)).get("technology")
    ):
        return None
    return candidate


def origin_of_worker(words: str) -> str | None:
    """Leeds, of "a nurse from Leeds", after a known job alone."""
    worker, _, origin = words.partition(" from ")
    return place(origin) if known_job(worker) is not None else None


def known_place(words: str) -> str | None:
    """A place that is capitalised or known; None for "danger"."""
    candidate = place(words)
    return (
        candidate
        if candidate is not None and (candidate in words or _is_known(candidate))
        else None
    )


def home(words: str) -> str | None:
    """A place to which people move; None for a tool or a department.

    A capitalised name needs a known town or region in it ("North London"), or one after it ("Lorch,
    Germany"), since projects and colleagues move to other things in the same words. Phoenix is a
    tool where software moves to it: "Phoenix for the web framework".
    """
    candidate = place(words)
    if candidate is None:
        return None
    if candidate not in words:
        return candidate if _is_known(candidate) else None
    end = words.index(candidate) + len(candidate)
    if FOR_SOFTWARE.search(words, end) is not None:
        return None
    match = _REGION_AFTER.match(words, end)
    return candidate if _has_town(candidate) or (match and _has_town(match[1])) else None


def _has_town(name: str) -> bool:
    return _is_known(name) or has_town(name.split())


def new_home(words: str) -> str | None:
    """Lisbon, of "Berlin for Lisbon" after "left".

    At least Berlin or Lisbon must be a known place, since people leave companies in these words,
    too.
    """
    homes = _homes(words)
    return homes[1] if homes else None


def old_home(words: str) -> str | None:
    """Berlin, of "Berlin for Lisbon" or "Berlin for good" after "left"."""
    homes = _homes(words)
    if homes:
        return homes[0]
    match = _FOR_GOOD.fullmatch(words)
    if match is None or place(match[1]) != match[1] or not _is_known(match[1]):
        return None
    return match[1]


def left_company(words: str) -> str | None:
    """An employer after "left", followed by no more than a time.

    A known place is none: people leave towns, too.
    """
    name = organisation(words)
    if name is None or not words.startswith(name) or _is_known(name):
        return None
    return name if nothing(words[len(name) :].lstrip(".")) is not None else None


def _homes(words: str) -> tuple[str, str] | None:
    """(Berlin, Lisbon) of "Berlin for Lisbon", where at least either is known."""
    match = _LEFT_FOR.fullmatch(words)
    if match is None:
        return None
    homes = place(match[1]), place(match[2])
    if homes[0] is None or homes[1] is None or (homes[0], homes[1]) != match.groups()[:2]:
        return None
    return (homes[0], homes[1]) if _is_known(homes[0]) or _is_known(homes[1]) else None


def _is_known(place: str) -> bool:
    return place.lower() in CITIES or place.lower() in COUNTRIES


_NAME = re.compile(
    r"(?:Dr\.?\s+|Mr\.?\s+|Mrs\.?\s+|Ms\.?\s+)?[^\W\d_a-z][\w'’-]*(?:\s+(?:(?:van|von|de|der|la|el"
    r"|bin|al)\s+)*[^\W\d_a-z][\w'’.-]*){0,3}"
)
_LOWER_NAME = re.compile(r"[a-z][a-z'-]{1,20}$")
_AFTER_NAME = re.compile(
    r"$|(?<!\s)\s++(?:from|by|since|for|in|now|too|btw|here|at|with|without|actually|though"
    r"|please)\b"
)
_OWN_NAME = re.compile(r"[A-ZÀ-Þ][a-zà-ÿ'-]+(?: [A-ZÀ-Þ][a-zà-ÿ'-]+){0,2}")
_PEOPLES = """
    african american argentinian argentine asian australian austrian bangladeshi belgian bolivian
    bosnian brazilian british canadian chilean colombian cuban cypriot dominican dutch ecuadorian
    egyptian emirati ethiopian european filipino ghanaian indian iranian iraqi israeli jamaican
    jordanian kazakh kenyan kosovan kuwaiti lebanese libyan luxembourgish malaysian maltese mexican
    moldovan mongolian moroccan nepali nepalese nigerian pakistani palestinian paraguayan peruvian
    puerto rican salvadoran saudi scottish senegalese singaporean somali sudanese swiss syrian
    taiwanese tanzanian tunisian ugandan uruguayan uzbek venezuelan zambian zimbabwean new zealander
"""
_NATIONS = (frozenset(_PEOPLES.split()) | LANGUAGES) - {
    "latin",
    "esperanto",
    "mandarin",
    "cantonese",
    "new",
    "puerto",
}
_IN_NATIONS = _NATIONS | {"new", "puerto", "north", "south"}
_NO_NAMES = """
    atheist baptist buddhist catholic caucasian christian hindu hispanic jewish latina latino
    lutheran methodist mormon muslim orthodox protestant sikh democrat republican liberal
    conservative vegan vegetarian pescatarian aries taurus gemini cancer virgo libra scorpio
    sagittarius capricorn aquarius pisces alone angry awake back better bored busy curious cold done
    dead deaf depressed exhausted excited fine free gay glad good great happy home hot hungry ill
    interested late lesbian lost mad married nervous new ok okay old pregnant ready retired right
    sad safe scared sick single sleepy sober sorry straight stressed stuck sure thirsty tired trans
    upset well worried wrong your their his her not just still admin administrator root system
    operator developer moderator user assistant batman god
    again anytime asap later passed soon sometime today tomorrow tonight
"""
_NOBODY = frozenset((*_NO_NAMES.split(), *WEEKDAYS)) | FUNCTION_WORDS | QUERY_WORDS
_NEVER = _NOBODY | _IN_NATIONS | CITIES | COUNTRIES
_PRONOUNS = re.compile(r"(?:he|she|they|it|xe|ze|any|her|him|them)(?:/[a-z]+){1,3}", re.IGNORECASE)


_POLITE = frozenset({"please", "thanks", "bitte", "danke", "ok", "okay"})
"""Words beside a name that are no name: "call me Max, please"."""


def name(words: str) -> str | None:
    """A name: up to four capitalised words, or a single plain word without any other."""
    plain = unquoted(words)
    match = _NAME.match(plain) or _LOWER_NAME.match(plain)
    if (
        match is None
        or match.group().lower() in NOWHERE
        or match.group() in _NOBODY  # "call me later"
        or match.group().lower() in _POLITE
        or not _AFTER_NAME.match(plain, match.end())
    ):
        return None
    return match.group()


def name_alone(words: str) -> str | None:
    """A single capitalised name, if no more than a time follows."""
    first, _, rest = words.partition(" ")
    if not first[:1].isupper() or not first.isalpha() or nothing(rest) is None:
        return None
    return name(first)


def own_name(words: str) -> str | None:
    """A name after "I am": capitalised words alone, none of them with another known meaning."""
    alone = words.removesuffix(" now")
    match = _OWN_NAME.fullmatch(alone)
    return alone if match and _NEVER.isdisjoint(alone.lower().split()) else None


def is_given_name(word: str) -> bool:
    """Whether a word beside a relation may be a name.

    "Sofia" of "my daughter Sofia" may, though it is a city, too.
    """
    match = _OWN_NAME.fullmatch(word)
    return match is not None and word.lower() not in (_NEVER - CITIES) | NOWHERE | _POLITE


def nationality(words: str) -> str | None:
    """A capitalised nationality, without words after it."""
    people = words.lower().split()
    known = bool(people) and people[-1] in _NATIONS and _IN_NATIONS.issuperset(people)
    return words if known and len(people) <= 2 and words[:1].isupper() else None


def pronouns(words: str) -> str | None:
    """Pronouns as people state theirs: "they/them"."""
    match = _PRONOUNS.match(words)
    return match.group() if match else None
