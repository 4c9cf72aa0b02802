"""Instructions that exclude each other: languages, units, money, forms, lengths, tones, names.

Two instructions exclude each other where each names a value of the same kind, the values differ,
and the rest of their informative words is the same; words that only order ("give", "show") do not
count. "Answer in German" ends "answer in French", and
leaves "write my emails in French" alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from memory_core.domain.statements.forget_topics import GENERAL_WORDS
from memory_core.domain.statements.wish_marks import OTHER_WORDS
from memory_core.domain.statements.wish_signs import ACTS, MarkedSentence, read
from memory_core.domain.text.analyzer import has_japanese, terms_of, words

_LANGUAGES: Final = (
    ("english", "englisch", "英語"),
    ("german", "deutsch", "ドイツ語"),
    ("french", "französisch", "フランス語"),
    ("spanish", "spanisch", "スペイン語"),
    ("italian", "italienisch", "イタリア語"),
    ("portuguese", "portugiesisch", "ポルトガル語"),
    ("dutch", "niederländisch", "オランダ語"),
    ("japanese", "japanisch", "日本語"),
    ("chinese", "chinesisch", "中国語"),
    ("korean", "koreanisch", "韓国語"),
    ("polish", "polnisch", "ポーランド語"),
    ("turkish", "türkisch", "トルコ語"),
    ("russian", "russisch", "ロシア語"),
)
"""The spellings of each language; the further tables have the spellings of each value, too."""
_UNITS: Final = (("metric", "metrische", "metrischen", "celsius"), ("imperial", "fahrenheit"))
_MONEY: Final = (
    ("euro", "euros", "eur", "ユーロ"),
    ("dollar", "dollars", "usd", "ドル"),
    ("pound", "pounds", "sterling", "gbp", "pfund", "ポンド"),
    ("franc", "francs", "chf", "franken", "フラン"),
    ("yen", "jpy", "円"),
)
_DISTANCES: Final = (
    ("kilometre", "kilometres", "kilometer", "kilometers", "kilometern", "km", "キロ"),
    ("mile", "miles", "meile", "meilen", "マイル"),
)
_WEIGHTS: Final = (
    ("gram", "grams", "gramm", "kilo", "kilos", "kilogram", "kilograms", "kg", "グラム", "キロ"),
    ("pounds", "ounces", "lbs", "pfund", "ポンド", "オンス"),
    ("cup", "cups", "tassen", "カップ"),
)
_CLOCKS: Final = (("24-hour", "24 hour", "24-stunden", "24時間"), ("12-hour", "12 hour", "12時間"))
_FORMS: Final = (
    ("bullet points", "bullets", "stichpunkten", "stichpunkte", "箇条書き"),
    ("prose", "paragraphs", "full sentences", "fließtext", "ganzen sätzen", "文章"),
    ("table", "tables", "tabelle", "tabellen", "表"),
)
_LENGTHS: Final = (
    (
        *("brief", "briefly", "short", "concise", "concisely", "kurz", "kürzer", "knapp"),
        *("短く", "短くて", "短め", "簡潔に"),
    ),
    (
        *("detailed", "long", "lengthy", "thoroughly", "at length", "ausführlich"),
        *("ausführlicher", "lang", "länger", "詳しく", "長く", "長め"),
    ),
)
_TONES: Final = (
    ("formal", "formally", "förmlich", "siezen", "sieze", "丁寧に", "敬語で", "敬語を使って"),
    (
        "informal",
        "informally",
        "casual",
        "casually",
        "locker",
        "duzen",
        "duze",
        "気軽に",
        "敬語を使わないで",
        "敬語は使わないで",
        "敬語をやめて",
        "敬語はやめて",
        "タメ口で",
        "ため口で",
    ),
)
_KINDS: Final = tuple(
    {spelling.casefold(): number for number, value in enumerate(kind) for spelling in value}
    for kind in (
        *(_LANGUAGES, _UNITS, _MONEY, _DISTANCES, _WEIGHTS),
        *(_CLOCKS, _FORMS, _LENGTHS, _TONES),
    )
)
"""By kind of value, the value that each spelling means."""


def _written(spelling: str) -> str:
    return re.escape(spelling) if has_japanese(spelling) else rf"(?<!\w){re.escape(spelling)}(?!\w)"


_PATTERNS: Final = tuple(
    (kind, re.compile("|".join(map(_written, sorted(kind, key=len, reverse=True)))))
    for kind in _KINDS
)
NEGATED = re.compile(r"\b(?:never|not|no|stop|without|nie|niemals|nicht|keine?n?|ohne)\b|n't\b")
"""What is not wanted excludes no other value: "never answer in German"."""
_ORDERS: Final = frozenset(
    {
        *("DO_ANSWER", "ANSWERV", "REPLY", "STAND", "PLEASE", "FUNC", "LEAD", "YOU", "ME"),
        *("AGAIN_OK", "AGAIN"),
    }
)
"""Kinds of words that order, whatever the instruction is about."""
_OF_ADDRESS: Final = _ORDERS | {"MENTION", "MUST", "OTHER", "ADDRESS_ME", "WISH", "LIMITS"}
"""Kinds of words in an instruction that says only how to address the speaker."""
_BESIDE: Final = GENERAL_WORDS | {
    *("auf", "mit", "uns", "un", "必", "常", "今", "今後", "下", "話", "説明", "答", "教")
}
"""Words that are no part of what an instruction is about."""
_WRITTEN = re.compile(r"[\u30a1-\u30ff\u4e00-\u9fff]+")
"""Words of a Japanese text that are not in hiragana alone."""
_NAMED = re.compile(
    r"\b(?<!\bnot )(?<!n['’]t )(?<!\bnever )(?<!\bever )"
    r"(?:call me (?!back\b)(?:as )?|address me (?:by |as )?)(?P<called>[^\s,.;!?]{1,40})"
    r"|\b(?:nenn|nenne) mich (?:bitte )?(?P<genannt>[^\s,.;!?]{1,40})"
    r"|(?P<yobu>[^\s、。]{1,20}?)と呼んで",
    re.IGNORECASE,
)


_ADDRESSED = re.compile(
    r"\b(?:(?P<sie>siez(?:e|en|t)?|(?:mit|per) [„\"]?sie)|(?P<du>duz(?:e|en|t)?|(?:mit|per|beim)"
    r" [„\"]?du))\b",
    re.IGNORECASE,
)
"""How a German speaker wants to be addressed, in whatever words."""
_FROM_TODAY = re.compile(
    r"\b(?:from (?:today|now|here) on(?:wards)?|ab (?:heute|jetzt|sofort|nun)"
    r"|von (?:heute|jetzt|nun) an)\b|(?:今日|今|これ)から"
)
_AGAIN = re.compile(r"\b(?:again|once more|wieder)\b|また|もう一度")
_TELLS = re.compile(r"\b(?:i|we|he|she|they|it|you|ich|wir|er|es|man|du)\b")


def wants_value_again(reading: MarkedSentence) -> bool:
    """Whether a sentence without a verb wants a value once more, from now on.

    For example "Spanish again please, from today on".
    """
    text = reading.text.strip().casefold()
    return (
        not reading.asks
        and _AGAIN.search(text) is not None
        and _FROM_TODAY.search(text) is not None
        and _TELLS.search(text) is None
        and reading.kind_set.isdisjoint({"AGAIN_OK", "NO_NEED", "NOT", "STOP"})
        and any(pattern.search(text) is not None for _, pattern in _PATTERNS)
    )


def names_thing(reading: MarkedSentence) -> bool:
    """Whether a permission names a thing, and nothing of the assistant's answers: "main".

    A return names what was before in its own words: "you can go back to feet and inches".
    """
    returns = any(mark.kind == "AGAIN" and mark.text not in ONCE_MORE for mark in reading.marks)
    if returns or reading.kind_set & (ACTS - {"DO_ANSWER"}):
        return False
    return not reading.kind_set.isdisjoint({OTHER_WORDS, "THING"})


ONCE_MORE = frozenset({"again", "wieder", "また"})
"""Words for once more that say nothing of what was before."""
_INSTEAD = re.compile(
    r"\b(?:instead of|rather than|in place of|not|statt|anstatt|anstelle von|nicht) "
)
_INSTEAD_IN_JAPANESE: Final = ("ではなく", "じゃなく", "の代わり", "をやめて")


def is_instead_of(instruction: str, thing: str) -> bool:
    """Whether an instruction wants something in the place of a thing.

    Args:
        instruction: "Use bun instead of pnpm."
        thing: "pnpm".

    """
    text, name = instruction.casefold(), thing.strip().casefold()
    if any(f"{name}{word}" in text for word in _INSTEAD_IN_JAPANESE):
        return True
    rests = (text[match.end() :] for match in _INSTEAD.finditer(text))
    return any(rest.startswith(name) and not rest[len(name) :][:1].isalnum() for rest in rests)


_MEANT_FOR = re.compile(
    r"\b(?P<word>in|for|to|with|at|from|für|bei|mit|an|zu)"
    r" (?:(?:the|my|our|dem|der|den|die|das) )?(?P<name>[^\W\d_][\w'-]{1,30})"
    r"(?=\W*\Z|[,;.!?]| (?:on|before|after|until|when|if|again|now|is|are|repo|project|account"
    r"|repository|branch|app|ist|vor|nach|darf\w*|you|we|always|never)\b)"
    r"|\b(?P<title>Herrn?|Frau|Mr|Mrs|Ms)\.? (?P<person>[^\W\d_][\w'-]{1,30})",
    re.IGNORECASE,
)
"""What an instruction is meant for: "in atlas", "to Osei", "in the docs repo"."""


def are_of_two_things(first: str, second: str) -> bool:
    """Whether two instructions are meant for different things: "in atlas", "in beacon".

    Args:
        first: An instruction, in its words.
        second: Another instruction, or the words that end one.

    """
    meant = [
        {
            ((match["word"] or "").casefold(), (match["name"] or match["person"]).casefold())
            for match in _MEANT_FOR.finditer(text)
        }
        for text in (first, second)
    ]
    texts = frozenset(words(first)), frozenset(words(second))
    return any(
        led == other_led and name not in texts[1] and other not in texts[0]
        for led, name in meant[0]
        for other_led, other in meant[1]
    )


def are_exclusive(first: str, second: str) -> bool:
    """Whether only one of two instructions can be followed.

    Args:
        first: An instruction, in its words.
        second: Another instruction.

    """
    names = _name_in(first), _name_in(second)
    if all(names):
        return names[0] != names[1]
    if NEGATED.search(first.casefold()) or NEGATED.search(second.casefold()):
        return False
    forms = _ADDRESSED.search(first), _ADDRESSED.search(second)
    if forms[0] is not None and forms[1] is not None:
        return forms[0].lastgroup != forms[1].lastgroup and all(
            not _rest(text, _ADDRESSED, _OF_ADDRESS) for text in (first, second)
        )
    for kind, pattern in _PATTERNS:
        values = _values(first, kind, pattern), _values(second, kind, pattern)
        if (
            all(len(value) == 1 for value in values)
            and values[0] != values[1]
            and _rest(first, pattern) == _rest(second, pattern)
        ):
            return True
    return False


def _name_in(text: str) -> str:
    """How the speaker wants to be called.

    It is "" for "call me at night" and "never call me Max".
    """
    match = _NAMED.search(text)
    name = "" if match is None else match[match.lastgroup or 0].casefold()
    return "" if name in GENERAL_WORDS or NEGATED.fullmatch(name) is not None else name


def _values(text: str, kind: Mapping[str, int], pattern: re.Pattern[str]) -> frozenset[int]:
    """The values of a kind that a text names."""
    return frozenset(kind[spelling] for spelling in pattern.findall(text.casefold()))


def _rest(
    text: str, pattern: re.Pattern[str], ordering: frozenset[str] = _ORDERS
) -> frozenset[str]:
    """The informative terms of a text besides the values of a kind."""
    left = pattern.sub(" ", text.casefold())
    if has_japanese(text):
        return frozenset(_WRITTEN.findall(left)) - _BESIDE
    marks = read(left).marks
    orders = {mark.start for mark in marks if mark.kind in ordering}
    about = " ".join(mark.text for mark in marks if mark.start not in orders)
    return frozenset(terms_of(word for word in words(about) if word not in _BESIDE))
