"""The attributes of a person that facts are filed under, so that two ways of saying it meet in one slot.

A slot is (subject, attribute), and only one value is true of it at a time. So what one may have many of is part of the attribute
itself: "opinion of rain": likes, "speaks german": yes. Other attributes are allowed; they meet only when they are spelt alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Attribute:
    """One name. `value` says what fills it. also: other names that mean the same; a name that ends with " …" takes any words there."""

    name: str
    value: str
    also: tuple[str, ...] = ()


def _attribute(name: str, value: str, also: str = "") -> Attribute:
    return Attribute(name, value, tuple(one.strip() for one in also.split(",") if one.strip()))


ATTRIBUTES: tuple[Attribute, ...] = (
    # who one is
    _attribute("name", "what the person is called", "full name, first name, called, given name"),
    _attribute("age", "years, in digits", "years old, age in years"),
    _attribute("birthday", "the day, with the year if it was told", "date of birth, birth date, born on, dob"),
    _attribute("birth year", "the year", "year of birth, born in year"),
    _attribute("birthplace", "the place", "place of birth, born in, city of birth"),
    _attribute("nationality", "the nationality", "citizenship, citizen of"),
    _attribute("origin", "the place or country one comes from", "from, country of origin, comes from"),
    _attribute("native language", "the language", "mother tongue, first language"),
    _attribute("pronouns", "as they were told"),
    _attribute("email address", "the address", "email, e mail, mail address, e mail address"),
    _attribute("phone number", "the number", "phone, telephone, telephone number, mobile number"),
    # where one lives
    _attribute("home city", "the city or town", "city, lives in, residence, current city, location, city of residence, place of residence,"
               " home, current location, living in, moved to, home location"),
    _attribute("home country", "the country", "country, country of residence, lives in country"),
    _attribute("home town", "where one grew up", "hometown, grew up in, raised in"),
    _attribute("address", "street and number", "home address, street address"),
    _attribute("time zone", "as it was told", "timezone"),
    # work and study
    _attribute("occupation", "the job, without an article", "job, job title, profession, works as, role, work, career, position"),
    _attribute("employer", "the company or organisation", "company, works at, works for, workplace, employed at, employed by"),
    _attribute("school", "the school or university", "university, college, studies at"),
    _attribute("field of study", "the subject", "studies, major, degree, subject of study"),
    # whom one belongs to
    _attribute("marital status", "married, single, engaged, divorced or widowed", "relationship status"),
    _attribute("spouse", "the name", "husband, wife, married to"),
    _attribute("number of …", "how many, in digits"),
    # health and food
    _attribute("diet", "vegan, vegetarian, keto and the like", "dietary preference, eating habits"),
    _attribute("allergy to …", "yes or no", "allergic to …, … allergy"),
    _attribute("intolerance to …", "yes or no", "… intolerance, intolerant of …"),
    _attribute("condition …", "yes or no", "has condition …, diagnosed with …, suffers from …"),
    _attribute("eats …", "yes or no"),
    _attribute("drinks …", "yes or no"),
    # what one likes, can and does
    _attribute("opinion of …", "likes or dislikes", "likes …, loves …, enjoys …, dislikes …, hates …, feeling about …, attitude towards …"),
    _attribute("favourite …", "what it is", "favorite …, preferred …"),
    _attribute("choice between … and …", "the one that is preferred"),
    _attribute("speaks …", "yes or no", "language …"),
    _attribute("learning …", "yes or no"),
    _attribute("car", "the make", "drives, vehicle"),
)  # fmt: skip
_OPEN = " …"


def canonical_attribute(name: str) -> str:
    """The name that an attribute is filed under: its own of the table when it is one of the other names, else itself, tidied."""
    tidy = " ".join(name.casefold().replace("_", " ").replace("-", " ").split())
    closed, openings, endings = _names()
    if tidy in closed:
        return closed[tidy]
    for opening, filed in openings:
        if tidy.startswith(opening) and len(tidy) > len(opening):
            return filed + tidy.removeprefix(opening)
    for ending, filed in endings:
        if tidy.endswith(ending) and len(tidy) > len(ending):
            return filed + tidy.removesuffix(ending)
    return tidy


def also_called(name: str) -> tuple[str, ...]:
    """All names of the attribute that a name is filed under, so that "job" finds an occupation; none for one that takes words."""
    return _also().get(canonical_attribute(name), ())


def family_of(name: str) -> str | None:
    """The opening of an attribute that may occur many times.

    "opinion of " for "opinion of rain"; None for an attribute that belongs to no such family.
    """
    filed = canonical_attribute(name)
    families = (opening for _, opening in _names()[1] if len(opening) < len(filed))
    return next((opening for opening in families if filed.startswith(opening)), None)


def canonical_subject(name: str) -> str:
    """The person or thing as slots name it, without articles and forms of address.

    A speaker without a name is "user".
    """
    tidy = " ".join(name.split()).removeprefix("the ").removeprefix("The ")
    first, mark, rest = tidy.partition("'s ")
    return ("user" if first.casefold() in _SPEAKERS else first) + mark + rest


_SPEAKERS = frozenset({"i", "me", "myself", "user", "speaker", "the user", "the speaker"})


@lru_cache(maxsize=1)
def _also() -> dict[str, tuple[str, ...]]:
    return {one.name: (one.name, *one.also) for one in ATTRIBUTES if "…" not in one.name}


@lru_cache(maxsize=1)
def _names() -> tuple[dict[str, str], list[tuple[str, str]], list[tuple[str, str]]]:
    """Whole names → what they are filed under; beginnings, the longest first, and endings, of those that take words."""
    closed: dict[str, str] = {}
    openings: dict[str, str] = {}
    endings: dict[str, str] = {}
    for one in ATTRIBUTES:
        filed = one.name.split("…")[0]
        for name in (one.name, *one.also):
            if name.endswith(_OPEN) and name.count("…") == 1:
                openings[name.removesuffix("…")] = filed
            elif name.startswith("… "):
                endings[name.removeprefix("…")] = filed
            elif "…" not in name:
                closed[name] = one.name
    return closed, sorted(openings.items(), key=lambda pair: -len(pair[0])), sorted(endings.items(), key=lambda pair: -len(pair[0]))
