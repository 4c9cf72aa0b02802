"""Instructions that exclude each other: languages, units, lengths, tones and names.

Two instructions exclude each other where each names a value of the same kind, the values differ,
and the rest of their informative words is the same. "Answer in German" ends "answer in French", and
leaves "write my emails in French" alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from memory_core.domain.statements.forget_topics import GENERAL_WORDS
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
_LENGTHS: Final = (
    ("brief", "briefly", "short", "concise", "concisely", "kurz", "knapp", "短く", "簡潔に"),
    ("detailed", "long", "lengthy", "thoroughly", "ausführlich", "lang", "詳しく", "長く"),
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
    {spelling: number for number, value in enumerate(kind) for spelling in value}
    for kind in (_LANGUAGES, _UNITS, _LENGTHS, _TONES)
)
"""By kind of value, the value that each spelling means."""
_BESIDE: Final = GENERAL_WORDS | {"auf", "mit", "必", "常", "今", "今後", "下", "話"}
"""Words that are no part of what an instruction is about."""
_WRITTEN = re.compile(r"[\u30a1-\u30ff\u4e00-\u9fff]+")
"""Words of a Japanese text that are not in hiragana alone."""
_NAMED = re.compile(
    r"\b(?:call|address) me (?:by |as )?(?P<called>[^\s,.;!?]{1,40})"
    r"|\b(?:nenn|nenne) mich (?:bitte )?(?P<genannt>[^\s,.;!?]{1,40})"
    r"|(?P<yobu>[^\s、。]{1,20}?)と呼んで",
    re.IGNORECASE,
)


def exclude_each_other(first: str, second: str) -> bool:
    """Whether only one of two instructions can be followed.

    Args:
        first: An instruction, in its words.
        second: Another instruction.

    """
    names = _name_in(first), _name_in(second)
    if all(names):
        return names[0] != names[1]
    for kind in _KINDS:
        values = _values(first, kind), _values(second, kind)
        if all(len(value) == 1 for value in values) and values[0] != values[1]:
            return _rest(first, kind) == _rest(second, kind)
    return False


def _name_in(text: str) -> str:
    match = _NAMED.search(text)
    return "" if match is None else match[match.lastgroup or 0].casefold()


def _values(text: str, kind: dict[str, int]) -> frozenset[int]:
    """The values of a kind that a text names."""
    found_words = frozenset(words(text))
    return frozenset(
        value
        for spelling, value in kind.items()
        if spelling in found_words or (not spelling.isascii() and spelling in text.casefold())
    )


def _rest(text: str, kind: Collection[str]) -> frozenset[str]:
    """The informative terms of a text besides the values of a kind."""
    left = text.casefold()
    for spelling in kind:
        if not spelling.isascii():
            left = left.replace(spelling, " ")
    if has_japanese(text):
        return frozenset(_WRITTEN.findall(left)) - _BESIDE
    return frozenset(
        terms_of(word for word in words(left) if word not in _BESIDE and word not in kind)
    )
