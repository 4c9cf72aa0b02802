"""Read the relatives that a sentence names in passing.

For example "with my wife Laura and our two kids". A relative's name beside the relation is no
assertion of the sentence and true even where it denies or asks. The people who live with a speaker
are taken out of a sentence, so that its other words are read like those of a person alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memory_core.adapters.offline import german_facts, japanese_facts, names
from memory_core.adapters.offline.animals import IN_ENGLISH as ANIMAL
from memory_core.adapters.offline.clauses import SINGULAR
from memory_core.domain.text.spelling import GERMAN_NUMBER_WORDS, NUMBER_WORDS


@dataclass(frozen=True, slots=True)
class Relative:
    """A relative with a name.

    Attributes:
        kind: The relation, in the sentence's language: "wife", "Tochter".
        name: The name.
        is_only: Whether a person has a single relative of the kind, whose name fills a slot.
        is_english: Whether the relation is an English word.
        joint: What is between the relation and the name.
        quote: The words that name the relative.
        end: "died" or "parted" if the sentence says so of this partner, else "".

    """

    kind: str
    name: str
    is_only: bool
    is_english: bool
    joint: str
    quote: str
    end: str = ""


@dataclass(frozen=True, slots=True)
class _Language:
    """How a language names relatives.

    Attributes:
        named: Finds a relation with names; the groups are `only` or `one` with `name`, or `many`
            with `names` and perhaps their `count`.
        owned: Found before a relation without "my", where the speaker is who has the relative.
        company: The people with whom the speaker is or lives, as part of a sentence.
        singular: The relation of each of many ("kids": "child").
        numbers: Numbers by their words.
        is_name: Whether a word may be a name.

    """

    named: re.Pattern[str]
    owned: re.Pattern[str]
    company: re.Pattern[str]
    singular: dict[str, str]
    numbers: dict[str, int]
    is_name: Callable[[str], bool]


def relatives(text: str) -> Iterator[Relative]:
    """The relatives that a sentence names, in order, each once.

    Args:
        text: The sentence, without words of other people.

    """
    if _NOT_OWN.search(text):
        return
    language = _language_of(text)
    seen: set[tuple[str, str]] = set()
    for match in language.named.finditer(text):
        if match["my"] is None and not language.owned.search(text, 0, match.start()):
            continue
        for kind, name, is_only in _named(match, language):
            key = (kind.casefold(), name.casefold())
            if key not in seen and language.is_name(name):
                seen.add(key)
                joint = "の" if language is _JAPANESE else " "
                yield Relative(
                    kind,
                    name,
                    is_only,
                    language is _ENGLISH,
                    joint,
                    match.group().strip(),
                    _end_of(text, match, kind),
                )


def without_company(text: str) -> str:
    """A sentence about a home without the relatives with whom the speaker lives.

    Other sentences are left as they are: who likes hiking with their father may not like it alone.
    So are those that deny: who doesn't live in Rome with their mother may live in Rome.

    Args:
        text: The sentence.

    """
    if _DENIES.search(text) or not _LIVES.search(text):
        return text
    return _language_of(text).company.sub("", text)


_LIVES = re.compile(
    r"\b(?:live[sd]?|living|reside|moved|moving|settled|based|wohn(?:e|en|st|t|te)|leb(?:e|en)"
    r"|ziehe|ziehen|gezogen)\b|住|暮ら",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\b(?:not|never|no longer|any ?more|nicht|kein\w*|nie)\b|n['’]t\b|ない|ません|なかった",
    re.IGNORECASE,
)


_NOT_OWN = re.compile(
    r"\b(?:novel|story|stories|dream\w*|nightmare|character|game|movie|film|series|poem|song|roman"
    r"|geschichte|traum|geträumt|figur|spiel|serie|gedicht|lied)\b"
    r"|\b(?:said|says|wrote|writes|told (?:me|us)|sagte|sagt|meinte|schrieb)\b ?:"
    r"|小説|物語|夢|映画|ドラマ|アニメ|ゲーム|と言",
    re.IGNORECASE,
)
"""Words of a sentence in which "my wife" may be another person's."""


def _named(match: re.Match[str], language: _Language) -> Iterator[tuple[str, str, bool]]:
    """(relation, name, whether it is the only relative of its kind), in order."""
    groups = match.groupdict()
    if groups.get("many") is not None:
        listed = [part for part in _AND.split(groups["names"]) if part]
        count = groups["count"]
        if count is None or language.numbers.get(count.casefold()) == len(listed):
            kind = language.singular[groups["many"].casefold()]
            yield from ((kind, name, False) for name in listed)
    elif groups.get("only") is not None:
        yield groups["only"], groups["name"], True
    else:
        yield groups["one"], groups["name2"], False


_PARTNERS = re.compile(
    r"husband|wife|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|(?:ehe)?frau|(?:ehe)?mann"
    r"|partnerin|freund|freundin|verlobter?n?|lebensgefährt\w{1,3}",
    re.IGNORECASE,
)
_PARTED_FROM = re.compile(
    r"\b(?:br(?:oke|oken|eak|eaking) up with|split(?:ting)?(?: up)? (?:with|from)"
    r"|(?:have|has|had|'ve|am|is|'m) (?:just |finally )?(?:finished|done|through) with"
    r"|separated from|parted (?:ways )?(?:with|from)|divorced(?: from)?|dumped|lost|buried"
    r"|ended (?:it|things) with|schluss (?:gemacht )?mit|getrennt von|geschieden von) \Z",
    re.IGNORECASE,
)
_DIED = re.compile(
    r" (?:(?:has |have )?(?:sadly |suddenly )?(?:died|passed away)\b(?! laughing| (?:his|her)\b)"
    r"|is dead\b|ist\b[^,;.!?]{0,40} (?:gestorben|verstorben|tot)\b)",
    re.IGNORECASE,
)
_PARTED = re.compile(
    r" (?:left me|dumped me|broke up with me|ended it|and I (?:(?:have|are|got|just|recently) )?"
    r"(?:broke up|broken up|split(?: up)?|separated|divorced|no longer together)"
    r"|(?:hat|hatte|und ich)\b[^,;.!?]{0,40} (?:mich verlassen|schluss gemacht|getrennt))\b",
    re.IGNORECASE,
)
_FROM_WHOM = re.compile(r"\b(?:mich|uns) (?:\w{1,12} ){0,3}von \Z", re.IGNORECASE)
_TO_PART = re.compile(r"[^,;.!?]{0,20} (?:getrennt|scheiden lassen)\b", re.IGNORECASE)


def _end_of(text: str, named: re.Match[str], kind: str) -> str:
    """How a sentence ends a partnership: "died" or "parted"; else ""."""
    if _PARTNERS.fullmatch(kind) is None:
        return ""
    if _DIED.match(text, named.end()):
        return "died"
    near = (text, max(0, named.start() - 40), named.start())
    parted = (
        _PARTED_FROM.search(*near)
        or _PARTED.match(text, named.end())
        or (_FROM_WHOM.search(*near) and _TO_PART.match(text, named.end()))
    )
    return "parted" if parted else ""


_AND = re.compile(r",? (?:and|und) |, ")


def _language_of(text: str) -> _Language:
    if japanese_facts.is_japanese(text):
        return _JAPANESE
    return _GERMAN if german_facts.is_german(text) else _ENGLISH


_CAPITAL = r"[A-ZÀ-Þ](?:['’][A-ZÀ-Þ])?[a-zà-ÿ-]+"
_END_EN = r"(?!\w|-| [A-ZÀ-Þ])"
_ONE_EN = (
    f"{ANIMAL}|sister|brother|son|daughter|stepson|stepdaughter|grandson|granddaughter|niece|nephew"
    "|half-?sister|half-?brother"
)
_MANY_EN = {
    "kids": "child", "children": "child", "sons": "son", "boys": "son", "daughters": "daughter",
    "girls": "daughter", "brothers": "brother", "sisters": "sister", "twins": "child",
    "grandchildren": "grandchild", "grandkids": "grandchild",
}  # fmt: skip
_ADJ_EN = (
    r"(?:(?:older|younger|little|big|elder|twin|oldest|youngest|eldest|new|baby|late|lovely|adult"
    r"|small|grown-up|teenage|wonderful|beautiful|dear) ){0,2}"
)
_NUMBERS_EN = {word: number for number, word in enumerate(NUMBER_WORDS[:13]) if number} | {
    str(number): number for number in range(1, 13)
}
_AGED = r" \(\d{1,3}\)|, \d{1,3}(?: years? old| Jahre(?: alt)?)?(?:,|\Z)"
"""The age of a relative after their name."""
_COUNT_EN = "|".join(_NUMBERS_EN)
_LIST_EN = rf"{_CAPITAL}(?:, {_CAPITAL}){{0,8}},? and {_CAPITAL}{_END_EN}"
_CALLED_EN = r"(?:,? (?:called|named)|:|,)? "
_KIN_EN = (
    rf"{_ADJ_EN}(?:{SINGULAR}|{_ONE_EN}|family|parents|grandparents|in-laws|roommates?|flatmates?|friends?"
    rf"|best friend|dogs?|cats?|baby|{'|'.join(_MANY_EN)})\b"
    rf"(?:{_CALLED_EN}{_CAPITAL}(?:(?:, {_CAPITAL})*,? and {_CAPITAL})?\b)?"
)
_ENGLISH = _Language(
    named=re.compile(
        rf"\b(?:(?P<my>[Mm]y|[Oo]ur) |an? )?(?:(?P<count>{_COUNT_EN}) )?{_ADJ_EN}"
        rf"(?:(?P<only>{SINGULAR}),? (?P<name>{_CAPITAL}(?: {_CAPITAL})?){_END_EN}"
        rf"|(?P<one>{_ONE_EN}){_CALLED_EN}(?P<name2>{_CAPITAL}){_END_EN}"
        rf"|(?P<many>{'|'.join(_MANY_EN)}){_CALLED_EN}(?P<names>{_LIST_EN}))"
    ),
    owned=re.compile(r"\b(?:I|[Ww]e)(?:['’]ve|['’]m|['’]re| have| am| are)\b"),
    company=re.compile(
        rf",? (?:together )?with (?:my|our) (?:(?:{_COUNT_EN}) )?{_KIN_EN}"
        rf"(?:(?:,? and|,) (?:my |our |an? )?(?:(?:{_COUNT_EN}) )?{_KIN_EN})*"
        rf"(?:{_AGED}|(?=[ ,.;!]|\Z))"
    ),
    singular=_MANY_EN,
    numbers=_NUMBERS_EN,
    is_name=names.is_given_name,
)

_CAPITAL_DE = r"[A-ZÄÖÜ][a-zäöüßé]+"
_MY_DE = r"(?:[Mm]ein|[Uu]nser)(?:e|er|em|en|es)?"
_ADJ_DE = r"(?:(?:neu|klein|groß|älter|jünger|jüngst|ältest|alt|zweit|erst|lieb)\w{1,4} ){0,2}"
_ONE_DE = (
    "Frau|Mann|Ehefrau|Ehemann|Partnerin|Partner|Freundin|Freund|Mutter|Mama|Vater|Papa|Chefin"
    "|Chef|Vermieterin|Vermieter|Verlobter?n?|Lebensgefährtin|Lebensgefährten?"
)
_SOME_DE = (
    "Sohn|Tochter|Bruder|Schwester|Oma|Opa|Tante|Onkel|Cousine|Cousin|Neffen?|Nichte|Enkelin|Enkel"
    "|Kind|Baby|Hund|Hündin|Katze|Kater|Pferd|Hamster|Kollegin|Nachbarin"
)
_MANY_DE = {
    "kinder": "Kind", "kindern": "Kind", "söhne": "Sohn", "söhnen": "Sohn", "töchter": "Tochter",
    "töchtern": "Tochter", "brüder": "Bruder", "brüdern": "Bruder", "schwestern": "Schwester",
    "enkeln": "Enkel", "enkelkinder": "Enkel", "enkelkindern": "Enkel", "katzen": "Katze",
    "hunde": "Hund", "hunden": "Hund", "zwillinge": "Kind", "zwillingen": "Kind",
}  # fmt: skip
_KINDS_DE = "|".join(kind.capitalize() for kind in _MANY_DE)
_NUMBERS_DE = {
    word: number for number, word in enumerate(GERMAN_NUMBER_WORDS[:9]) if number > 1
} | {str(number): number for number in range(2, 9)}
_COUNT_DE = "|".join(_NUMBERS_DE)
_END_DE = r"(?![-'’]|\w| [A-ZÄÖÜ])"
_LIST_DE = rf"{_CAPITAL_DE}(?:, {_CAPITAL_DE}){{0,8}} und {_CAPITAL_DE}{_END_DE}"
_CALLED_DE = r"(?:,? namens|:|,)? "
_NOUN_DE = re.compile(
    r"[\w-]{0,40}(?:ung|heit|keit|schaft|ball|spiel\w?|isch|zeit|essen|abend|termin|probleme?n?)"
    r"|Urlaub|Tennis|Schach|Karten|Kaffee|Tee|Kuchen|Musik|Filme?|Streit|Ärger|Sport|Yoga|Gassi"
    r"|Spaß|Pizza|Eis|Rad|Auto|Ski|Deutsch|Blumen|Geschenke?|Schuhe|Hilfe|Ferien|Pläne|Sorgen"
    r"|Angst|Geld|Bücher|Mathe|Hausaufgaben|Krebs|Fieber|Husten|Schmerzen|Bescheid|Recht"
    r"|Ostern|Weihnachten|Silvester|Geburtstag|Herr|Frau|Dr|Heute|Gestern|Morgen|Zuhause",
    re.IGNORECASE,
)
"""Nouns that follow a person in German and are no name: "mit meiner Frau Urlaub machen"."""
_KIN_DE = (
    rf"{_ADJ_DE}(?:{_ONE_DE}|{_SOME_DE}|{_KINDS_DE}|Familie|Eltern|Großeltern|Freunden|Baby)\b"
    rf"(?:{_CALLED_DE}{_CAPITAL_DE}(?:(?:, {_CAPITAL_DE})* und {_CAPITAL_DE}\b)?)?"
)
_GERMAN = _Language(
    named=re.compile(
        rf"\b(?:(?P<my>{_MY_DE}) |[Ee]ine?[mnr]? )?(?:(?P<count>{_COUNT_DE}) )?{_ADJ_DE}"
        rf"(?:(?P<only>(?i:{_ONE_DE})),? (?P<name>{_CAPITAL_DE}){_END_DE}"
        rf"|(?P<one>(?i:{_SOME_DE})){_CALLED_DE}(?P<name2>{_CAPITAL_DE}){_END_DE}"
        rf"|(?P<many>{_KINDS_DE}){_CALLED_DE}(?P<names>{_LIST_DE}))"
    ),
    owned=re.compile(
        r"\b(?:ich|wir) (?:habe?|haben|bin|sind)\b|\b(?:habe?|haben|bin|sind) (?:ich|wir)\b"
        r"|\A(?:hab|habe|haben)\b",
        re.IGNORECASE,
    ),
    company=re.compile(
        rf" (?:zusammen |gemeinsam )?mit {_MY_DE} (?:(?:{_COUNT_DE}) )?{_KIN_DE}"
        rf"(?:(?: und|,) (?:{_MY_DE} |eine[mrn]? )?(?:(?:{_COUNT_DE}) )?{_KIN_DE})*"
        rf"(?:{_AGED}|(?=[ ,.;!]|\Z))"
    ),
    singular=_MANY_DE,
    numbers=_NUMBERS_DE,
    is_name=lambda word: names.is_given_name(word) and not _NOUN_DE.fullmatch(word),
)

_ONE_JA = "妻|夫|旦那|奥さん|嫁|彼女|彼氏|婚約者"
_SOME_JA = "娘|息子|長女|長男|次女|次男|姉|妹|兄|弟|孫|犬|猫|愛犬|愛猫"
_NAME_JA = r"[^、。はがのをにとやで\s]{1,6}?"
_KIN_JA = (
    r"両親|父親?|母親?|実家|家族?|親|親戚|友[人達]|会社|仕事|学校|子ども|子供|連れ子|写真|話|誕生日"
    rf"|方|ため|おかげ|{_ONE_JA}|{_SOME_JA}"
)
_PERSON_JA = (
    rf"(?:(?:\d{{1,3}}歳の)?(?:{_ONE_JA}|{_SOME_JA})(?:の(?!(?:{_KIN_JA})[とや]){_NAME_JA}|[一二三四五2-5]人)?|家族|両親|父|母|祖父|祖母|子ども(?:たち)?|子供"
    r"(?:たち)?|友達|友人|ルームメイト)"
)
_LIVING_JA = r"(?=[^、。]{0,20}(?:住ん|住み|暮らし))"
_JAPANESE = _Language(
    named=re.compile(
        rf"(?P<my>)(?:(?P<only>{_ONE_JA})の(?P<name>{_NAME_JA})"
        rf"|(?P<one>{_SOME_JA})の(?P<name2>{_NAME_JA}))[とや](?=[^。]{{0,30}}(?:住ん|住み|暮らし))"
    ),
    owned=re.compile(r"\A"),
    company=re.compile(
        rf"(?:{_PERSON_JA}(?:と、?|や)){{1,4}}(?:[二三四五六七2-7]人で|一緒に|ともに)?{_LIVING_JA}"
    ),
    singular={},
    numbers={},
    is_name=lambda word: re.fullmatch(_KIN_JA, word) is None,
)
