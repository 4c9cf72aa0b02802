"""Write what is said in a second language as a native speaker says it.

"I live since 2 years in Munich" becomes "I live in Munich since 2 years", and "umgezieht" becomes
"umgezogen"; words of another language and Japanese words in kana are written as rules read them.
Rules read the sentence that is written so; a fact's quote stays as it was said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from memory_core.adapters.offline.occupations import JAPANESE_TRADE, JOBS
from memory_core.domain.text.given_names import is_given_name
from memory_core.domain.text.spelling import ANY_MONTH, ANY_WEEKDAY
from memory_core.domain.text.towns import is_town

_Repairs = Sequence[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]]


def _put_right(text: str, repairs: _Repairs) -> str:
    for expression, written in repairs:
        text = expression.sub(written, text)
    return text


# English

_NAME = r"[A-ZÀ-Þ][\w'’-]{1,30}"
_START = r"(?P<before>\A|[,;:.] |\b(?:and|but|because|so|now|Now|today|yes) )"
_ENDS = r"(?=[,;.!?()]|\Z| (?:and|but|because|so|where|which|who|when) )"
_LENGTH = (
    r"(?: about| over| more than)? (?:an?|one|two|three|four|five|six|seven|eight|nine|ten|many"
    r"|some|several|\d{1,3}) (?:days?|weeks?|months?|years?)"
)
SINCE: Final = (
    rf"since(?:{_LENGTH}| (?:(?:last|this|early|late) )?(?:(?i:{ANY_MONTH})(?: \d{{4}})?|\d{{4}}"
    rf"|(?i:{ANY_WEEKDAY})|week|month|year|spring|summer|autumn|fall|winter))"
)
"""A time that says since when something is so."""
_TIME_BEFORE_PLACE = re.compile(
    r"\b(?P<verb>(?:live|lives|living|work|works|working|study|studying))(?: already)?"
    rf" (?P<time>{SINCE}|for{_LENGTH})"
    rf" (?P<place>(?:in|at|as|by|with|for) [^,;.!?()]{{2,60}}?){_ENDS}",
    re.IGNORECASE,
)
_IS_IN = re.compile(
    r"\b(?P<who>I|[Ww]e)(?: am|'m| are|'re)(?: now)? in "
    rf"(?P<town>{_NAME}(?: {_NAME})?)(?= {SINCE}{_ENDS})"
)
_NO_ARTICLE = re.compile(
    r"\bI(?: am|'m) (?P<now>(?:now |currently |still )?)(?P<job>[a-z][a-z-]{2,20})"
    r"(?=[,.;!]|\Z| (?:of|in|at|by|for|with|since|and|but|from) )"
)
_RETURNED = re.compile(
    r"\b(?:(?:returned|went|came|gone|come)(?: back)?|am back) (?:in|to|into)"
    rf" my (?:home )?country[,:]? (?:in |to )?(?P<town>{_NAME})"
)
_MARRIED = re.compile(
    r"\bI(?: have|'ve) married(?: (?:in|on|last|this) \w{2,20}){0,2}"
    rf" with (?P<name>{_NAME})"
)
_HAS_YEARS = re.compile(
    r"\b(?P<who>(?:I|[Ww]e) have|(?:[Hh]e|[Ss]he|[Mm]y \w+) has) (?P<age>\d{1,3}) years"
    r"(?=[,.;!]|\Z| and (?:I|my|he|she|we|live|work|come|am)\b)"
)
_HAVE: Final = {"I have": "I am", "we have": "we are", "We have": "We are"}
_NO_JOBS: Final = frozenset({"lead", "model", "official", "volunteer"})
"""Jobs that are adjectives or verbs, too."""


def _of_age(match: re.Match[str]) -> str:
    subject = _HAVE.get(match["who"], f"{match['who'].removesuffix(' has')} is")
    return f"{subject} {match['age']} years old"


def _lives_in(match: re.Match[str]) -> str:
    return f"{match['who']} live in {match['town']}" if is_town(match["town"]) else match.group()


def _works_as(match: re.Match[str]) -> str:
    job = match["job"]
    is_job = job in JOBS and job not in _NO_JOBS
    return f"I {match['now']}work as {job}" if is_job else match.group()


_ENGLISH: _Repairs = (
    (re.compile(rf"{_START}I (?=(?:living|working|studying|learning) )"), r"\g<before>I am "),
    (
        re.compile(
            rf"{_START}(?P<who>I|[Ww]e) (?:no|not)"
            r" (?=(?:eat|drink|smoke|like|speak|work|live|have|drive)\b)"
        ),
        r"\g<before>\g<who> do not ",
    ),
    (
        re.compile(r"\b(?P<be>am|is|are|I'm) (?:not|no) more (?=[a-z]{3,20}ing\b)"),
        r"\g<be> no longer ",
    ),
    (_HAS_YEARS, _of_age),
    (_MARRIED, r"I am married to \g<name>"),
    (re.compile(r"\bI have married(?= (?:in|on|last|this|yesterday|today)\b)"), "I got married"),
    (re.compile(rf"\b(?P<be>married|engaged) with (?={_NAME})"), r"\g<be> to "),
    (re.compile(r"\ballergic (?:on|against|of) (?=[a-z])(?!course|and off)"), "allergic to "),
    (re.compile(r"\bI have (?:an )?allergic (?:to|reaction (?:to|on)) "), "I am allergic to "),
    (
        re.compile(
            r"(?P<who>(?:\A|(?<=[,;:.] )|(?<=and )|(?<=but ))(?P<my>[Mm]y)(?: [a-z]{2,12}){1,2}"
            r"(?: [A-Z][a-z]{1,20})?) (?:he|she) (?=[a-z]{1,15}s\b)"
        ),
        r"\g<who> ",
    ),
    (re.compile(rf"\bcalls (?:him|her)self (?={_NAME})"), "is called "),
    (re.compile(r"\bhas born\b"), "was born"),
    (re.compile(r"\b(?P<have>have|bought|drive) one (?=[A-Z])"), r"\g<have> a "),
    (re.compile(r"\bchilds\b"), "children"),
    (_RETURNED, r"moved back to \g<town>"),
    (_IS_IN, _lives_in),
    (_TIME_BEFORE_PLACE, r"\g<verb> \g<place> \g<time>"),
    (_NO_ARTICLE, _works_as),
)


def english_put_right(text: str) -> str:
    """Put right an English sentence: "married with Ana" → "married to Ana"."""
    return _put_right(text, _ENGLISH)


# German

_NAME_DE = r"[A-ZÄÖÜ][\wäöüß-]{1,30}"
_ENDS_DE = r"(?=[,;.!?()]|\Z| (?:und|aber|weil|dort|da) )"
_MISFORMED: Final = {
    "gezieht": "gezogen",
    "gezogt": "gezogen",
    "geziehen": "gezogen",
    "gefindet": "gefunden",
    "gefundet": "gefunden",
    "angefangt": "angefangen",
    "gesterbt": "gestorben",
    "gestorbt": "gestorben",
}
_PARTICIPLE_FIRST = re.compile(
    r"\b(?P<verb>(?:[Ii]ch|[Ww]ir) (?:habe?|bin|haben|sind)|(?:[Hh]abe?|[Bb]in|[Hh]aben|[Ss]ind)"
    r" (?:ich|wir))(?P<when>(?: (?:jetzt|nun|schon|endlich|gestern|heute|leider)){0,2})"
    r" (?P<participle>(?:um|zurück)?gezogen|gefunden|bekommen|geheiratet|angefangen|geboren)"
    rf" (?P<rest>[^,;.!?()\d]{{3,60}}?){_ENDS_DE}"
)
_INFINITIVE = re.compile(
    r"\b(?P<ich>[Ii]ch) bin (?P<now>(?:jetzt |nun |schon )?)(?:in|bei|by|an)"
    rf" (?P<at>{_NAME_DE}) (?:arbeiten|am arbeiten|arbeite)\b"
)
_VERBS_DE: Final = {"work": "arbeite", "live": "lebe", "study": "studiere", "like": "mag"}


def _participle_last(match: re.Match[str]) -> str:
    rest = match["rest"]
    into, _, town = rest.partition(" ")
    if match["participle"].endswith("gezogen") and into == "in" and is_town(town):
        rest = f"nach {town}"
    return f"{match['verb']}{match['when']} {rest} {match['participle']}"


def _works_at(match: re.Match[str]) -> str:
    at = match["at"]
    return match.group() if is_town(at) else f"{match['ich']} arbeite {match['now']}bei {at}"


_GERMAN: _Repairs = (
    (
        re.compile(rf"\b(?P<prefix>um|zurück)?(?P<form>{'|'.join(_MISFORMED)})\b"),
        lambda match: f"{match['prefix'] or ''}{_MISFORMED[match['form']]}",
    ),
    (_PARTICIPLE_FIRST, _participle_last),
    (_INFINITIVE, _works_at),
    (re.compile(rf"\b(?P<my>[Mm]ein Name) (?={_NAME_DE}(?:[,.;!]|\Z| und\b))"), r"\g<my> ist "),
    (re.compile(rf"\b(?P<work>[Ii]ch arbeite|arbeite ich) wie (?={_NAME_DE})"), r"\g<work> als "),
    (re.compile(rf"\b(?P<work>[Ii]ch arbeite|arbeite ich) by (?={_NAME_DE})"), r"\g<work> bei "),
    (
        re.compile(
            r"\b(?P<verb>[Ii]ch (?:esse|trinke)) nicht (?=[A-ZÄÖÜ])(?!Mittag|Abend|Frühstück)"
        ),
        r"\g<verb> kein ",
    ),
    (
        re.compile(r"\b(?P<ich>[Ii]ch) habe (?P<age>\d{1,3}) Jahre(?=[,.;!]|\Z| und\b)"),
        r"\g<ich> bin \g<age> Jahre alt",
    ),
    (
        re.compile(
            r"\b(?P<who>(?i:mein\w* \w{3,15}|er|sie)) hat (?P<age>\d{1,3}) Jahre"
            r"(?=[,.;!]|\Z| und\b)"
        ),
        r"\g<who> ist \g<age> Jahre alt",
    ),
    (
        re.compile(rf"\b(?P<ich>[Ii]ch) bin von (?P<at>{_NAME_DE}){_ENDS_DE}"),
        lambda m: f"{m['ich']} komme aus {m['at']}" if is_town(m["at"]) else m.group(),
    ),
    (
        re.compile(
            rf"\b(?P<who>[Ii]ch|und|jetzt) (?P<verb>{'|'.join(_VERBS_DE)})"
            r"(?= (?:bei|in|als|für)\b)"
        ),
        lambda match: f"{match['who']} {_VERBS_DE[match['verb']]}",
    ),
)


def german_put_right(text: str) -> str:
    """Put right a German sentence: "ich bin umgezieht" → "ich bin umgezogen"."""
    return _put_right(text, _GERMAN)


# Several languages in a sentence, and Japanese in kana

_IN_ENGLISH: Final = {
    "Chefin": "boss",
    "Vermieter": "landlord",
    "Vermieterin": "landlady",
    "Mann": "husband",
    "Frau": "wife",
    "Freund": "boyfriend",
    "Freundin": "girlfriend",
    "Sohn": "son",
    "Tochter": "daughter",
    "Bruder": "brother",
    "Schwester": "sister",
    "Mutter": "mother",
    "Vater": "father",
    "Oma": "grandma",
    "Opa": "grandpa",
    "Nachbar": "neighbour",
    "Nachbarin": "neighbour",
}
"""Relations that a speaker of German names in an English sentence."""
_MIXED: _Repairs = (
    (
        re.compile(
            r"\b(?P<whose>(?:[Mm]y|[Oo]ur|[Aa])(?: (?:new|old|little|big))?)"
            rf" (?P<kin>{'|'.join(_IN_ENGLISH)})\b(?!-)"
        ),
        lambda match: f"{match['whose']} {_IN_ENGLISH[match['kin']]}",
    ),
    (
        re.compile(
            r"\b(?P<who>[Ss]he|[Hh]e|[Tt]he new(?: one)?|[Mm]y(?: [a-z]{2,15}){1,2})"
            rf" hei(?:ß|ss)t (?={_NAME})"
        ),
        r"\g<who> is called ",
    ),
)
_KANJI: Final = {
    "しんゆう": "親友",
    "ともだち": "友達",
    "なまえ": "名前",
    "たんじょうび": "誕生日",
    "しごと": "仕事",
    "がっこう": "学校",
    "かぞく": "家族",
    "いもうと": "妹",
    "おとうと": "弟",
    "たべもの": "食べ物",
}
_KANA: _Repairs = (
    (re.compile("|".join(_KANJI)), lambda match: _KANJI[match.group()]),
    (re.compile(r"\Aわたし(?=[はがの、])"), "私"),
    (re.compile(r"\Aぼく(?=[はがの、])"), "僕"),
    (re.compile(r"\A(?:いま|今)(?=[のはも])"), "今"),
    (re.compile(r"(?<=\d)さい(?=[、。！!]|です|だ|になり|\Z)"), "歳"),
    (re.compile(r"(?<=を)かいはじめ(?=た|ま)"), "飼い始め"),
    (re.compile(r"(?<=を)かって(?=いま|いる|る|ます)"), "飼って"),
    (re.compile(r"(?<=に)すんで(?=い|る|ます)"), "住んで"),
    (re.compile(r"すき(?=な食べ物|なもの)|(?<=が)すき(?=です|だ|。|\Z)"), "好き"),
    (
        re.compile(r"\A(?:私|僕)[は、](?P<name>[A-ZÀ-Þ][a-zà-ÿ]{1,20})(?=です|だよ)"),
        lambda m: f"名前は{m['name']}" if is_given_name(m["name"]) else m.group(),
    ),
    (re.compile(rf"\A今は[^、。はがを]{{0,12}}{JAPANESE_TRADE}\Z"), r"\g<0>です"),
    (re.compile(r"\A今の(?P<who>親友)は(?P<name>[^、。はがを]{1,8})\Z"), r"\g<0>です"),
)
_JAPANESE_LETTERS = re.compile(r"[\u3041-\u30ff]")


def in_one_language(text: str) -> str:
    """Write words of another language, and kana, as the rules read them."""
    stem, end = text.rstrip("。！!"), text[len(text.rstrip("。！!")) :]
    if _JAPANESE_LETTERS.search(text) is not None:
        return _put_right(stem, _KANA) + end
    return _put_right(text, _MIXED)
