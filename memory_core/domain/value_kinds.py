"""What kind of value a word is: a colour, a quality, a unit of money, a day of the week.

Two values exclude each other only where they are of one kind: "The car is red" and "The car is electric" are both true.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory_core.domain.calendar_names import GERMAN_MONTHS, GERMAN_WEEKDAYS, MONTHS, WEEKDAYS
from memory_core.domain.japanese_denial import HIRAGANA
from memory_core.domain.opposite_words import EXCLUSIVE

_COLOURS = """
    red orange yellow green blue purple violet pink brown black white grey gray teal turquoise beige gold silver navy maroon cyan magenta
    rot gelb grün blau lila violett rosa braun schwarz weiß grau türkis silbern golden
    赤 青 緑 黄 黄色 白 黒 茶 茶色 紫 灰 灰色 紺 金色 銀色 水色 桃色 ピンク オレンジ
"""
_QUALITIES = """
    due about sold 駅前 近 隣 郊外 市内 中心 一人 独身
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
_TIMES_BY_KIND = {
    "weekday": " ".join((*WEEKDAYS, *GERMAN_WEEKDAYS, "曜")),
    "month": " ".join((*MONTHS, *GERMAN_MONTHS)),
    "season": "spring summer autumn winter frühling frühjahr sommer herbst",
    "relative": "today tomorrow heute 今 明 来",
    "part": "morning afternoon evening noon midnight vormittag nachmittag abend 朝 昼 夜 午",
    "clock": "時 分",
}
_UNITS_BY_KIND = {
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
_FIELDS = """
    sales marketing accounting finance engineering healthcare education it hr consulting retail logistics construction advertising law
    medicine
    research design support banking insurance publishing vertrieb einkauf buchhaltung entwicklung pflege verwaltung forschung
"""
_FIELD = frozenset(_FIELDS.split())
_CLASSES = (
    """
    plumber electrician carpenter baker butcher teacher nurse doctor dentist lawyer architect engineer accountant journalist pilot farmer
    chef
    cook waiter waitress cashier mechanic pharmacist vet veterinarian translator librarian firefighter paramedic barber hairdresser optician
    surgeon judge tailor postman gardener developer programmer welder physicist chemist biologist economist psychologist
    bäcker tischler lehrer lehrerin arzt ärztin krankenpfleger krankenschwester anwalt anwältin architekt architektin ingenieur ingenieurin
    koch köchin kellner kellnerin mechaniker apotheker apothekerin elektriker klempner maurer friseur friseurin metzger gärtner polizist
    polizistin journalist journalistin pilot bauer maler schreiner optiker tierarzt tierärztin zahnarzt zahnärztin richter richterin
    教師 医師 医者 看護師 弁護士 会計士 警察官 消防士 美容師 大工 農家 薬剤師 記者 建築家 歯科医 獣医 運転手 料理人
    """,
    """
    aries taurus gemini cancer leo virgo libra scorpio sagittarius capricorn aquarius pisces widder stier zwilling krebs löwe jungfrau waage
    skorpion schütze steinbock wassermann fische
    """,
    "catholic protestant muslim jewish buddhist hindu atheist katholisch evangelisch muslimisch jüdisch buddhistisch atheist",
    """
    german french italian spanish portuguese polish dutch swedish danish norwegian finnish russian turkish greek chinese japanese korean
    american canadian mexican brazilian british irish scottish deutscher franzose italiener spanier pole schweizer österreicher
    """,
)
_CLASS = {word: number for number, words in enumerate(_CLASSES) for word in words.casefold().split()}
TITLES = frozenset(["dr", "mr", "mrs", "ms", "prof", "professor", "herr", "frau", "miss"])
_LEADING = """
    over under above below before after inside outside on off near in up down with without vor nach mit ohne über unter auf zu an aus
"""
_QUALITY = frozenset((*EXCLUSIVE.replace(";", " ").split(), *_QUALITIES.casefold().split())) - frozenset(_LEADING.casefold().split())
_COLOUR = frozenset(_COLOURS.split())
_TIME_KINDS = {word: kind for kind, words in _TIMES_BY_KIND.items() for word in words.casefold().split()}
_UNIT_KINDS: dict[str, frozenset[str]] = {
    word: frozenset(kind for kind, units in _UNITS_BY_KIND.items() if word in units.split())
    for units in _UNITS_BY_KIND.values()
    for word in units.split()
}


def are_of_one_kind(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether one thing has one only of both: two colours, two names; not two qualities, nor a name and a number."""
    ours, theirs = _kind_of_value(first), _kind_of_value(second)
    return ours == theirs != "quality"


def are_of_one_class(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether both are one word of a class of which a person is one only: trades, signs, faiths, nations."""
    if len(first) != 1 or len(second) != 1 or first == second:
        return False
    return first[0] in _CLASS and _CLASS[first[0]] == _CLASS.get(second[0])


def _kind_of_value(words: Sequence[str]) -> str:
    joined = "".join(words)
    said = list(words) if joined.isascii() or len(words) == 1 else [joined.strip(HIRAGANA) or joined]
    said = said if "\u3041" <= joined[-1:] <= "\u9fff" else list(words)
    if not _COLOUR.isdisjoint(said):
        return "colour"
    if any(word[0].isdigit() for word in said):
        return "number"
    if len(said) == 1 and said[0] in _FIELD:
        return "field"
    return "quality" if said and (_is_quality(said[-1]) or said[0] in _QUALITY) else "name"


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
