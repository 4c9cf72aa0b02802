"""What kind of value a word is: a colour, a quality, a unit of money, a day of the week.

Two values exclude each other only where they are of one kind: "The car is red" and "The car is electric" are both true.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory_core.domain.opposite_words import EXCLUSIVE

_COLOURS = """
    red orange yellow green blue purple violet pink brown black white grey gray teal turquoise beige gold silver navy maroon cyan magenta
    rot gelb grün blau lila violett rosa braun schwarz weiß grau türkis silbern golden
    赤 青 緑 黄 黄色 白 黒 茶 茶色 紫 灰 灰色 紺 金色 銀色 水色 桃色 ピンク オレンジ
"""
_QUALITIES = """
    spicy tasty delicious pretty beautiful ugly nice kind mean great fine lovely cozy tiny huge ancient modern electric wooden metal
    fresh tall smart clever stupid funny boring tired ill sick injured pregnant retired vegan wild tame round square flat steep sticky
    shiny cracked haunted tidy lost sold empty stable unstable critical minor urgent ready done late slow upstairs downstairs here there
    popular famous rare common local global krank müde nett lecker hübsch schön hässlich modern elektrisch rund eckig flach steil kaputt
    fertig bereit berühmt beliebt selten streng klug dumm lustig langweilig schwanger locker stabil dringend da hier dort weg neu
    freundlich 新 古 明 暗 便利 不便 有名 人気 親切 元気 病気 綺麗 美 静 高 安 大 小 広 狭 長 短 重 軽 速 遅 優 厳 暇 忙 危険 安全 簡単
    複雑 好 嫌 得意 苦手
"""
_ENDINGS = ("able", "ible", "ful", "ous", "less", "ing", "ed", "ant", "ent", "ig", "lich", "isch", "bar", "sam", "haft")
LEAST_LETTERS = 5
"""Of a word that an ending makes a quality."""
_TIMES = {
    "weekday": """
        monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag sonntag 曜
    """,
    "month": """
        january february march april may june july august september october november december januar februar märz mai juni juli oktober
        dezember
    """,
    "season": "spring summer autumn winter frühling frühjahr sommer herbst",
    "relative": "today tomorrow heute 今 明 来",
    "part": "morning afternoon evening noon midnight vormittag nachmittag abend 朝 昼 夜 午",
    "clock": "時 分",
}
_UNITS = {
    "money": "€ $ £ ¥ euro euros dollar dollars pound pounds franc francs yen cent cents 円 万円",
    "share": "% percent prozent",
    "span": "second seconds minute minutes hour hours day days week weeks month months sekunden minuten stunden tage wochen monate",
    "age": "years jahre old alt 歳 才",
    "length": "mm cm km m metre metres meter meters mile miles kilometer kilometers kilometre kilometres foot feet inch inches",
    "mass": "g kg gram grams kilo kilos pound pounds gramm tonne tonnes",
    "data": "kb mb gb tb",
    "persons": "人 名",
    "clock": "am pm a.m p.m uhr o'clock 時",
}
_QUALITY = frozenset(word for pair in EXCLUSIVE.split(";") for word in pair.split()) | frozenset(_QUALITIES.split())
_COLOUR = frozenset(_COLOURS.split())
_TIME_KINDS = {word: kind for kind, words in _TIMES.items() for word in words.casefold().split()}
_UNIT_KINDS: dict[str, frozenset[str]] = {
    word: frozenset(kind for kind, units in _UNITS.items() if word in units.split()) for units in _UNITS.values() for word in units.split()
}


def are_of_one_kind(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether one thing has one only of both: two colours, two names; not two qualities, nor a name and a number."""
    ours, theirs = _kind_of_value(first), _kind_of_value(second)
    return ours == theirs != "quality"


def _kind_of_value(words: Sequence[str]) -> str:
    joined = "".join(words)
    said = [joined] if not joined.isascii() and joined in _COLOUR | _QUALITY else list(words)
    if not _COLOUR.isdisjoint(said):
        return "colour"
    if any(word[0].isdigit() for word in said):
        return "number"
    return "quality" if said and _is_quality(said[-1]) else "name"


def _is_quality(word: str) -> bool:
    return word in _QUALITY or (len(word) >= LEAST_LETTERS and word.endswith(_ENDINGS))


def share_kind_of_time(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether both are days of the week, both months, both times of day; true where a word isn't known."""
    return _share(
        *({_TIME_KINDS[each] for word in side for each in (word, word.rstrip("s")) if each in _TIME_KINDS} for side in (first, second))
    )


def share_kind_of_unit(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether both are lengths, both sums of money; true where one has no unit."""
    return _share(*({kind for word in side for kind in _UNIT_KINDS.get(word, ())} for side in (first, second)))


def _share(ours: set[str], theirs: set[str]) -> bool:
    return not ours or not theirs or not ours.isdisjoint(theirs)
