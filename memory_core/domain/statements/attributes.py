"""The attributes of a person that facts are filed under.

Two ways of saying the same meet in one slot. A slot is (subject, attribute), and only one value is
true of it at a time. So what one may have many of is part of the attribute itself: "opinion of
rain": likes, "speaks german": yes. Other attributes are allowed; they meet only when they are spelt
alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from memory_core.domain.truth.slots import NO_LONGER


@dataclass(frozen=True, slots=True)
class Attribute:
    """A name under which facts are filed.

    Attributes:
        name: The name. It may end with " …" for any words.
        value: A description of the value.
        also: Other names that mean the same; a name that ends with " …" takes any words there.
        german: Names in German questions. Facts told in that language are found by these names, and
            no fact is filed under them.
        japanese: The same in Japanese.

    """

    name: str
    value: str
    also: tuple[str, ...] = ()
    german: tuple[str, ...] = ()
    japanese: tuple[str, ...] = ()


def _attribute(
    name: str, value: str, also: str = "", *, german: str = "", japanese: str = ""
) -> Attribute:
    return Attribute(
        name,
        value,
        *(
            tuple(part.strip() for part in names.split(",") if part.strip())
            for names in (also, german, japanese)
        ),
    )


ATTRIBUTES: tuple[Attribute, ...] = (
    # who one is
    _attribute("name", "what the person is called", "full name, first name, called, given name",
               german="Name, heiße, heißt", japanese="名前"),
    _attribute("age", "years, in digits", "years old, age in years",
               german="Alter, alt", japanese="年齢"),
    _attribute("birthday", "the day, with the year if it was told",
        "date of birth, birth date, born on, dob",
               german="Geburtstag, Geburtsdatum, geboren", japanese="誕生日, 生年月日"),
    _attribute("birth year", "the year", "year of birth, born in year"),
    _attribute("birthplace", "the place", "place of birth, born in, city of birth",
               german="Geburtsort, geboren", japanese="出身地"),
    _attribute("nationality", "the nationality", "citizenship, citizen of",
               german="Nationalität, Staatsangehörigkeit", japanese="国籍"),
    _attribute("origin", "the place or country one comes from",
        "from, country of origin, comes from",
               german="Herkunft, komme, kommt", japanese="出身"),
    _attribute("native language", "the language", "mother tongue, first language",
               german="Muttersprache", japanese="母語"),
    _attribute("pronouns", "as they were told"),
    _attribute("email address", "the address", "email, e mail, mail address, e mail address",
               german="E-Mail-Adresse, Mailadresse", japanese="メールアドレス"),
    _attribute("phone number", "the number", "phone, telephone, telephone number, mobile number",
               german="Telefonnummer, Handynummer", japanese="電話番号"),
    # where one lives
    _attribute("home city", "the city or town",
        "city, lives in, residence, current city, location, city of residence, place of residence,"
               " home, current location, living in, moved to, home location",
               german="Wohnort, Stadt, Zuhause, wohne, wohnt, lebe, lebt, wohnte, gewohnt,"
               " gelebt",
               japanese="住所, 住まい, 住んで"),
    _attribute("home country", "the country", "country, country of residence, lives in country",
               german="Land", japanese="国"),
    _attribute("home town", "where one grew up", "hometown, grew up in, raised in",
               german="Heimatstadt, Heimat, aufgewachsen", japanese="故郷"),
    _attribute("address", "street and number", "home address, street address",
               german="Adresse, Anschrift", japanese="住所"),
    _attribute("time zone", "as it was told", "timezone"),
    # work and study
    _attribute("occupation", "the job, without an article",
        "job, job title, profession, works as, role, work, career, position",
               german="Beruf, Job, arbeite, arbeitet, gearbeitet", japanese="職業, 仕事, 働いて"),
    _attribute("employer", "the company or organisation",
        "company, works at, works for, workplace, employed at, employed by",
               german="Arbeitgeber, Firma, arbeite, arbeitet, gearbeitet",
               japanese="勤務先, 会社, 働いて"),
    _attribute("school", "the school or university", "university, college, studies at",
               german="Schule, Universität", japanese="学校, 大学"),
    _attribute("field of study", "the subject", "studies, major, degree, subject of study",
               german="Studienfach, Studium", japanese="専攻"),
    # whom one belongs to
    _attribute("marital status", "married, single, engaged, divorced or widowed",
        "relationship status",
               german="Familienstand", japanese="結婚"),
    _attribute("spouse", "the name", "husband, wife, married to",
               german="Ehemann, Ehefrau", japanese="夫, 妻"),
    _attribute("number of …", "how many, in digits"),
    # health and food
    _attribute("diet", "vegan, vegetarian, keto and the like", "dietary preference, eating habits",
               german="Ernährung", japanese="食事"),
    _attribute("allergy to …", "yes or no", "allergic to …, … allergy",
               german="Allergie, allergisch", japanese="アレルギー"),
    _attribute("intolerance to …", "yes or no", "… intolerance, intolerant of …"),
    _attribute("condition …", "yes or no", "has condition …, diagnosed with …, suffers from …"),
    _attribute("eats …", "yes or no"),
    _attribute("drinks …", "yes or no"),
    # what one likes, can and does
    _attribute("opinion of …", "likes or dislikes",
        "likes …, loves …, enjoys …, dislikes …, hates …, feeling about …, attitude towards …"),
    _attribute("favourite …", "what it is", "favorite …, preferred …"),
    _attribute("choice between … and …", "the one that is preferred"),
    _attribute("speaks …", "yes or no", "language …"),
    _attribute("learning …", "yes or no"),
    _attribute("car", "the make", "drives, vehicle",
               german="Auto, Wagen, fahre, fährt", japanese="車"),
)  # fmt: skip
_OPEN = " …"
_IN_ENGLISH = {
    name.casefold(): english
    for english, names in {
        "address": "adresse, anschrift, 住所",
        "phone number": "telefonnummer, handynummer, mobilnummer, 電話番号, 携帯番号",
        "email address": "e mail adresse, mailadresse, メールアドレス",
        "height": "größe, körpergröße, 身長",
        "weight": "gewicht, körpergewicht, 体重",
        "shoe size": "schuhgröße, 靴のサイズ",
        "clothing size": "kleidergröße, konfektionsgröße",
        "blood type": "blutgruppe, 血液型",
        "rent": "miete, 家賃",
        "salary": "gehalt, 給料",
        "annual salary": "jahresgehalt, 年収",
        "budget": "予算",
        "deadline": "abgabetermin, 締め切り, 締切, 納期",
        "time zone": "zeitzone",
        "password": "passwort, パスワード",
        "wifi password": "wlan passwort",
        "pin": "暗証番号",
        "children": "kinder, 子供, 子ども",
        "sons": "söhne",
        "daughters": "töchter",
        "cats": "katzen",
        "dogs": "hunde",
        "brothers": "brüder",
        "sisters": "schwestern",
        "siblings": "geschwister",
        "grandchildren": "enkel",
        "horses": "pferde",
        "cars": "autos",
        "chickens": "hühner",
        "rabbits": "kaninchen",
        "food": "essen, 食べ物",
        "colour": "color, farbe, 色",
        "film": "映画",
        "book": "buch, 本",
        "music": "musik, 音楽",
        "animal": "tier, 動物",
        "drink": "getränk, 飲み物",
        "season": "jahreszeit, 季節",
    }.items()
    for name in names.split(", ")
}
"""English names by those that sentences in other languages give a slot, so that both meet there."""
_COUNTED_OR_LIKED = ("number of ", "favourite ", "favorite ")
"""Openings after which such a name may be."""


PET = "pet "
"""Opening of the attribute of an animal with a name: "pet rufus": dog."""
NUMBER_OF_PETS = "number of pets"


def is_of_pets(attribute: str) -> bool:
    """Whether an attribute is of an animal with a name, or of having any."""
    return attribute.startswith(PET) or attribute == NUMBER_OF_PETS


def only_implies_pets(attribute: str, value: str) -> bool:
    """Whether a slot's new content only ends what is known of pets.

    It is implied by a sentence with another content: "Bo died", or "we got a puppy", which ends any
    number of them.

    Args:
        attribute: The attribute.
        value: Its value by an agent's words.

    """
    return is_of_pets(attribute) and value.startswith(NO_LONGER)


def canonical_attribute(name: str) -> str:
    """The name that an attribute is filed under.

    It is the table's own name for any of its other names, and else the given name, tidied. A German
    or Japanese name of `_IN_ENGLISH` is filed under the English one.
    """
    tidy = " ".join(name.casefold().replace("_", " ").replace("-", " ").split())
    opening = next((each for each in _COUNTED_OR_LIKED if tidy.startswith(each)), "")
    noun = tidy.removeprefix(opening)
    tidy = opening + _IN_ENGLISH.get(noun, noun)
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
    """All names of an attribute, so that "job" finds an occupation.

    There are none for an attribute that takes words.
    """
    return _also().get(canonical_attribute(name), ())


def called_in(language: str, name: str) -> tuple[str, ...]:
    """The names of an attribute in a language, so that "Beruf" finds an occupation.

    Args:
        language: `german` or `japanese`; any other language has no names.
        name: Any name of the attribute.

    """
    if language not in ("german", "japanese"):
        return ()
    family = family_of(name)
    filed = _filed().get(canonical_attribute(name) if family is None else f"{family}…")
    names: tuple[str, ...] = getattr(filed, language, ())
    return names


def family_of(name: str) -> str | None:
    """The opening of an attribute that may occur many times.

    It is "opinion of " for "opinion of rain", and None for an attribute that belongs to no such
    family.
    """
    filed = canonical_attribute(name)
    families = (opening for _, opening in _names()[1] if len(opening) < len(filed))
    return next((opening for opening in families if filed.startswith(opening)), None)


def place_of_attribute(name: str | None) -> int:
    """The place of an attribute in the table; its end for another or None."""
    family = None if name is None else family_of(name)
    filed = None if name is None else canonical_attribute(name)
    return _places().get(filed if family is None else f"{family}…", len(ATTRIBUTES))


def canonical_subject(name: str) -> str:
    """The person or thing as slots name it, without articles and forms of address.

    A speaker without a name is "user".
    """
    tidy = " ".join(name.split()).removeprefix("the ").removeprefix("The ")
    first, mark, rest = tidy.partition("'s ")
    return ("user" if first.casefold() in _SPEAKERS else first) + mark + rest


_SPEAKERS = frozenset({"i", "me", "myself", "user", "speaker", "the user", "the speaker"})


@lru_cache(maxsize=1)
def _filed() -> dict[str, Attribute]:
    return {attribute.name: attribute for attribute in ATTRIBUTES}


@lru_cache(maxsize=1)
def _places() -> dict[str | None, int]:
    return {name: place for place, name in enumerate(_filed())}


@lru_cache(maxsize=1)
def _also() -> dict[str, tuple[str, ...]]:
    return {known.name: (known.name, *known.also) for known in ATTRIBUTES if "…" not in known.name}


@lru_cache(maxsize=1)
def _names() -> tuple[dict[str, str], list[tuple[str, str]], list[tuple[str, str]]]:
    """The names of attributes and the names that they are filed under.

    Returns:
        Whole names; beginnings of names that take words, the longest first; and endings of such
            names.

    """
    closed: dict[str, str] = {}
    openings: dict[str, str] = {}
    endings: dict[str, str] = {}
    for known in ATTRIBUTES:
        filed = known.name.split("…")[0]
        for name in (known.name, *known.also):
            if name.endswith(_OPEN) and name.count("…") == 1:
                openings[name.removesuffix("…")] = filed
            elif name.startswith("… "):
                endings[name.removeprefix("…")] = filed
            elif "…" not in name:
                closed[name] = known.name
    return (
        closed,
        sorted(openings.items(), key=lambda pair: -len(pair[0])),
        sorted(endings.items(), key=lambda pair: -len(pair[0])),
    )
