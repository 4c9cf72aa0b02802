"""Words and endings by which two statements contradict each other, in three languages."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_core.domain.text.polarity import EXCLUSIVE
from memory_core.domain.text.spelling import GERMAN_MONTHS, GERMAN_WEEKDAYS, MONTHS, WEEKDAYS

_EMPTY = """
    user user's i we my our me us
    a an the this that it its is am are was were be been being has have had having do does did will would of to as so very really just too
    also and then there currently now nowadays still actually these days already anymore any more longer again please by at in on for from
    with into than : =
    schon bereits ever je yet
    ich wir mein meine unser unsere der die das dem den des ein eine einen einem einer ist bin sind war hat habe haben wird werden am
    im um
    zum zur auf und jetzt noch mehr inzwischen nun aktuell derzeit doch eigentlich auch sehr
    は 私 です ます でした ました だ
"""  # noqa: E501
_BEING = """
    is are was were has have had will lives live works work uses use runs run likes like loves needs
    prefers wants goes takes starts costs ist sind war hat habe haben wird wohnt wohne lebt lebe
    arbeitet arbeite mag liebt braucht nutzt
"""
_HAVING = """
    has have hat habe haben own owns keep keeps employs at um weighs costs starts ends takes needs
    runs lasts dauert braucht kostet wiegt is sleep schlafe schläft trinkt trinke arbeitet arbeite
    works work spend spends gets get seats size schuhgrösse are ist sind sleeps drinks drink earns
    verdient pays zahlt uses every limit
"""
_ONE_ONLY = """
    lives in, live in, lives at, lives with, lives on, living in, works at, works for, works as,
    work at, work for, work as, works in, works from, is called, are called, is named, named,
    called, based in, located in, married to, engaged to, deployed on, deployed to, deploys to,
    deploy to, deploys on, deploys with, deploy with, hosted on, hosted in, hosted by, written in,
    stored in, stored on, set to,
    scheduled for, due on, due in, due by, assigned to, drives a, drives an, drives, drive a,
    reports to, report to, runs on, listens on, belongs to, prefers, prefer, starts at, starts on,
    starts in, begins at, begins on, ends at, ends on, opens at, closes at, costs, weighs, earns,
    takes place, wears size, moved to, switched to, born in, born on, studies, majors in,
    connects to, points to, defaults to, default to, expires on, expires in, comes from, come from,
    commutes by, gets up at, goes to bed at, banks with, bank with,
    authenticates with, backed by, owned by, led by, managed by, taught by, maintained by,
    wohnt in, wohne in, wohnt bei, wohnt mit, lebt in, lebe in, arbeitet bei, arbeite bei,
    arbeitet als, arbeite als, arbeitet für, arbeite für, heißt, heiße, fährt einen, fährt ein,
    fahre einen, gehört, bevorzugt, bevorzuge, beginnt um, beginnt am, endet um, endet am,
    öffnet um, schließt um, läuft auf, kostet, wiegt, verdient, studiert, kommt aus, komme aus,
    findet am, findet um, findet in, geboren in, geboren am, verheiratet mit, steht um, zahlt,
    steht, liegt, hängt, parkt, parks in, is parked, is kept, is stored, laptop runs, phone runs,
    server runs, machine runs, pc runs, computer runs, meet in, meets in, is from, am from,
    hails from, grew up in, resides in, headquartered in, school in, school at, studies at,
    graduated from,
    everything on, is dating, works under, bin aus, stamme aus, stammt aus, studiert in,
    studiert an, hängt, sitzt, befindet sich
"""
_SEVERAL = """
    brother brothers sister sisters friend friends colleague colleagues cousin cousins aunt uncle
    son sons daughter daughters child children
    kid kids pet pets dog dogs cat cats hobby hobbies neighbour neighbor neighbours one some another
    other reason reasons goal goals problem
    problems issue issues feature task tasks step idea
    bruder brüder schwester schwestern freund freundin freunde kollege kollegin kollegen tochter
    töchter sohn söhne kind kinder hund katze hobby hobbys tante onkel
"""
_PASTS = """
    went paid bought sold ran saw met read ate drank flew drove took gave sent got won lost found
    spent told said thought felt heard came wrote swam rode slept watched visited cooked kaufte ging
    fuhr traf sah las aß lief flog bezahlte besuchte
"""
_LASTING_PASTS = """
    preferred moved raised lowered changed scheduled rescheduled postponed shifted named called
    located based married divorced allowed enabled
    disabled supposed need hundred closed hosted deployed stored used assigned switched increased
    reduced installed engaged retired limited capped estimated dedicated planned fixed encrypted
    locked gesetzt geplant geöffnet geschlossen geschieden gehostet gespeichert genutzt gesperrt
    gestern gegen gegenüber gehören gemeinsam gelegen geboren gehalt gewicht geschäft geburtstag
    gebaut geschrieben
"""
_HABITS = """
    every each often usually weekdays weekends jeden jede 毎週
"""
_TIMES = """
    today tomorrow morning afternoon evening noon midnight spring summer autumn winter
    heute vormittag nachmittag abend frühling frühjahr sommer herbst
    月 火 水 木 金 土 日 曜 朝 昼 夜 午 前 後 今 来 週 明 時 分 年
"""
_COUNTS = """
    one two three four five six seven eight nine ten eleven twelve thirteen fifteen twenty thirty
    forty fifty sixty hundred thousand million
    once twice half first second third fourth fifth
    zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig vierzig fünfzig
    hundert tausend einmal zweimal dreimal 一 二 三 四 五 六 七 八 九 十 百 千 万
"""
_ARTICLES = "user's the a an my our your his her their der die das ein eine mein meine unser unsere"
_DEFINITE = """
    preferred favorite default primary main current official native standard usual bevorzugte
    aktuelle the my our his her their its user's next der die das dem den mein meine meinem meinen
    unser unsere unserem sein seine ihr ihre
"""
_NAMING = "is are : = ist sind lautet equals will"
_PREPOSITIONS = (
    "since until seit bis ab wegen in for with at on by from during über bei mit für von aus"
)
_UNITS = (
    "% € $ £ ¥ am pm a.m p.m euro euros dollars uhr o'clock th st nd rd k : = . 時 月 日 円 分 歳 "
    "人 匹 年"
)

_LIGHT = """
    there's there' there comes come with is are planned scheduled set due findet statt gibt es hat
    has have had pays pay zahlt costs kostet beträgt liegt
    bei takes take place owns own switched turned employed the a of in von für per pro month monthly
    monat monatlich currently supports offers includes provides contains gets unterstützt bietet
    enthält bekommt can could able kann können steht stands stays bleibt remains kept be will starts
    start begins beginnt
"""
LIGHT = frozenset(_LIGHT.split())
"""Words that hardly say more than that something is so: two statements may differ in them."""
_PETS = """
    cat cats dog dogs pet kitten puppy hamster rabbit horse parrot hund hündin katze kater hamster
    kaninchen pferd 犬 猫
"""
PETS = frozenset(_PETS.split())
CALLED = ("is called", "is named", "name is", "heisst")
"""Words before a pet's name. A pet that is spoken of with "the" has a single name."""
_ONE_ROLE = """
    teacher boss manager doctor dentist therapist coach trainer landlord tutor supervisor head
    captain ceo lead klassenlehrer klassenlehrerin lehrer lehrerin chef chefin hausarzt hausärztin
    zahnarzt zahnärztin vermieter vermieterin leiter leiterin
"""
ONE_ROLE = frozenset(_ONE_ROLE.split())
"""Roles that a single person at a time fills for another: a boss, a dentist."""
EMPTY = frozenset(_EMPTY.casefold().split())
"""Words that may be added or left out without a change of meaning."""
ARTICLES = frozenset(_ARTICLES.split())
DEFINITE = frozenset(_DEFINITE.split())
NAMING = frozenset(_NAMING.split())
"""Words between a thing and its only value."""
BEING = frozenset(_BEING.split())
"""Frequent verbs; the words before them name the subject of a statement."""
HAVING = frozenset(_HAVING.split())
"""Verbs that, before a number, tell how many or how much there is."""
ONE_ONLY = tuple(" ".join(verbs.casefold().split()) for verbs in _ONE_ONLY.split(","))
"""Verbs to which a single value at a time belongs."""
SEVERAL = frozenset(_SEVERAL.split())
"""Things of which a person may have several, so that another name does not exclude the first."""
PREPOSITIONS = frozenset(_PREPOSITIONS.split())
PASTS = frozenset(_PASTS.split())
LASTING_PASTS = frozenset(_LASTING_PASTS.split())
"""Words that look like a past tense, but tell a state."""
HABITS = frozenset((*_HABITS.split(), *(f"{day}s" for day in (*WEEKDAYS, *GERMAN_WEEKDAYS))))
TIMES = frozenset((*_TIMES.split(), *WEEKDAYS, *MONTHS, *GERMAN_WEEKDAYS, *GERMAN_MONTHS))
COUNTS = frozenset(_COUNTS.split())
UNITS = frozenset(_UNITS.split())
JAPANESE_ONE_ONLY = (
    "です", "だ", "になり", "に変", "に住", "で働", "に勤", "で暮", "に引っ越", "という", "と呼",
    "と申", "から", "まで", "に始", "に行わ",
    "が担当", "を使って", "で動", "に決ま", "である", "に設定", "に所属", "出身", "に通って",
    "にある", "にあり", "に置",
)  # fmt: skip
JAPANESE_SEVERAL = (
    "も", "好き", "嫌い", "行った", "行きま", "食べ", "買", "会っ", "会い", "会う", "見", "読",
    "友達", "兄弟", "姉妹", "趣味", "アレルギー",
)  # fmt: skip
"""Words for statements that may be true of many things at once."""
_ADDING = "also too well auch ebenfalls zusätzlich additionally sometimes manchmal"
ADDING = frozenset(_ADDING.split())
"""Words that say that there is another value."""
_SOME = "some several certain sometimes manche einige manchmal teils few many"
SOME = frozenset(_SOME.split())
"""Words for a part of a group: opposite statements can be true of different parts."""
_ATTRIBUTES = """
    name status state mode color colour level priority setting type size default theme nationality
    version format plan tier language lautet heißt called named farbe status modus stufe priorität
    größe thema sprache format
"""
ATTRIBUTES = frozenset(_ATTRIBUTES.casefold().split())
"""Attributes that have a single value at a time, whatever word the value is."""
_USING = (
    "use uses using nutze nutzt nutzen verwende verwendet verwenden benutze benutzt benutzen nehme "
    "nimmt have has habe hat"
)
USING = frozenset(_USING.split())
_PLACES = """
    vor in on at under behind beside near above below inside by im in am auf unter hinter neben bei
    über
"""
PLACES = frozenset(_PLACES.split())
_POSTURES = """
    is are liegt liegen steht stehen hängt hängen ist sind sits kept stored parked located parkt
"""
POSTURES = frozenset(_POSTURES.split())
"""Verbs that tell where something is."""
CONTRACTED = {"im": "in", "am": "auf", "beim": "bei", "vom": "von", "zum": "zu", "zur": "zu"}
_COMPARING = """
    prefer prefers preferred rather more less better bevorzugt bevorzuge lieber mehr weniger besser
"""
COMPARING = frozenset(_COMPARING.split())
PIVOTS = frozenset(["to", "over", "than", "als", "vor"])
_JAPANESE_ATTRIBUTES = "名前 職業 仕事 血液型 色は 言語 国籍 母国語 母語 専攻 苗字 名字 出身"
JAPANESE_ATTRIBUTES = tuple(_JAPANESE_ATTRIBUTES.split())
"""Attributes that have a single value at a time, whatever word the value is."""
JAPANESE_ORIGINS = ("出身", "在住", "勤務", "生まれ", "育ち")


# Whether one of two Japanese statements denies the other, by the ending of its last predicate.
#
# The okurigana after the last character that is not hiragana express polarity, politeness and
# tense. The text before them has to be equal, except for particles, which change in a denial:
# 車を持っている, 車は持っていません.


HIRAGANA = "".join(map(chr, range(0x3041, 0x30A0)))
_PARTICLES = str.maketrans("", "", "はがを、。 　")
_NEGATION = re.compile(r"ません|ない|なかった|なく(?!て)|ず(?:に(?:いる|います)?)?\Z")
_NO_NEGATION = (
    "なければ", "なくては", "なくちゃ", "かもしれ", "しかな", "だけでな", "わけでは", "わけじゃ",
    "とは限", "つまらな", "くだらな", "もったいな", "たまらな", "たくな", "たくあり", "ませんか",
    "ないと", "いけな", "ないで", "すくな", "あぶな", "きたな",
)  # fmt: skip
_ADJECTIVES_IN_NAI = ("少", "危", "幼", "切", "情", "汚", "儚")
"""Characters of adjectives that end in ない: 少ない is no denial."""
_IS_THERE = """
    ある あります あった ありました ない ないです なかった なかったです
    ありません ありませんでした
"""
_EXISTING = frozenset(_IS_THERE.split())
_FUNCTIONS = (
    ("でき", "can"), ("いる", "stay"), ("いま", "stay"), ("いな", "stay"),
    ("では", "be"), ("じゃ", "be"), ("です", "be"), ("だ", "be"),
)  # fmt: skip
_ADDED = re.compile(r"[\u30a0-\u9fff]も(?![のう])")


def denies(first: str, second: str) -> bool:
    """Whether two Japanese statements are equal but for a negative ending.

    The order of the two statements makes no difference.

    Args:
        first: A statement.
        second: Another statement.

    """
    ours, theirs = _predicate(first), _predicate(second)
    return (
        ours is not None and theirs is not None and ours[:2] == theirs[:2] and ours[2] != theirs[2]
    )


def _predicate(text: str) -> tuple[str, str, bool] | None:
    """The text before the last okurigana, the kind of predicate, and whether it is denied."""
    predicate = text.rstrip("。.!！ 　").rstrip("ねよわ")
    head = predicate.rstrip(HIRAGANA)
    ending = predicate[len(head) :]
    if not head or any(word in ending for word in _NO_NEGATION) or _ADDED.search(predicate):
        return None
    if head.endswith(_ADJECTIVES_IN_NAI) and ending.startswith("ない"):
        return head.translate(_PARTICLES), "quality", len(_NEGATION.findall(ending)) == 2
    negated = len(_NEGATION.findall(ending)) % 2 == 1
    return head.translate(_PARTICLES), _kind(ending), negated


def _kind(ending: str) -> str:
    bare = ending.lstrip("はがを")
    if bare in _EXISTING:
        return "exist"
    for start, kind in _FUNCTIONS:
        if bare.startswith(start):
            return kind
    if not ending:
        return "be"
    return bare[:2] if bare != ending else "verb"


# The kind of value that a word is: a colour, a quality, a unit of money, a day of the week.
#
# Two values exclude each other only if they are of the same kind: "The car is red" and "The car is
# electric" are both true.


_COLOURS = """
    red orange yellow green blue purple violet pink brown black white grey gray teal turquoise beige
    gold silver navy maroon cyan magenta rot gelb grün blau lila violett rosa braun schwarz weiß
    grau türkis silbern golden
    赤 青 緑 黄 黄色 白 黒 茶 茶色 紫 灰 灰色 紺 金色 銀色 水色 桃色 ピンク オレンジ
"""
_QUALITIES = """
    due about sold 駅前 近 隣 郊外 市内 中心 一人 独身
    spicy tasty delicious pretty beautiful ugly nice kind mean great fine lovely cozy tiny huge
    ancient modern electric wooden metal fresh tall smart clever stupid funny boring tired ill sick
    injured pregnant retired vegan wild tame round square flat steep sticky shiny cracked haunted
    tidy lost sold empty stable unstable critical minor urgent ready done late slow upstairs
    downstairs here there popular famous rare common local global krank müde nett lecker hübsch
    schön hässlich modern elektrisch rund eckig flach steil kaputt fertig bereit berühmt beliebt
    selten streng klug dumm lustig langweilig schwanger locker stabil dringend da hier dort weg neu
    freundlich 新 古 明 暗 便利 不便 有名 人気 親切 元気 病気 綺麗 美 静 高 安 大 小 広 狭 長 短 重
    軽 速 遅 優 厳 暇 忙 危険 安全 簡単 複雑 好 嫌 得意 苦手
"""
_QUALITY_ENDS = "able ible ful ous less ing ed ant ent ig lich isch bar sam haft"
_ENDINGS = tuple(_QUALITY_ENDS.split())
LEAST_LETTERS = 5
"""Letters of a word whose ending makes it a quality."""
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
    "span": (
        "second seconds minute minutes hour hours day days week weeks month months sekunden "
        "minuten stunden tage wochen monate"
    ),
    "age": "years jahre old alt 歳 才",
    "length": (
        "mm cm km m metre metres meter meters mile miles kilometer kilometers kilometre kilometres "
        "foot feet inch inches"
    ),
    "mass": "g kg gram grams kilo kilos pound pounds gramm tonne tonnes",
    "data": "kb mb gb tb",
    "persons": "人 名",
    "clock": "am pm a.m p.m uhr o'clock 時",
}
_FIELDS = """
    sales marketing accounting finance engineering healthcare education it hr consulting retail
    logistics construction advertising law medicine
    research design support banking insurance publishing vertrieb einkauf buchhaltung entwicklung
    pflege verwaltung forschung
"""
_FIELD = frozenset(_FIELDS.split())
_CLASSES = (
    """
    plumber electrician carpenter baker butcher teacher nurse doctor dentist lawyer architect
    engineer accountant journalist pilot farmer chef
    cook waiter waitress cashier mechanic pharmacist vet veterinarian translator librarian
    firefighter paramedic barber hairdresser optician surgeon judge tailor postman gardener
    developer programmer welder physicist chemist biologist economist psychologist bäcker tischler
    lehrer lehrerin arzt ärztin krankenpfleger krankenschwester anwalt anwältin architekt
    architektin ingenieur ingenieurin koch köchin kellner kellnerin mechaniker apotheker apothekerin
    elektriker klempner maurer friseur friseurin metzger gärtner polizist polizistin journalist
    journalistin pilot bauer maler schreiner optiker tierarzt tierärztin zahnarzt zahnärztin richter
    richterin 教師 医師 医者 看護師 弁護士 会計士 警察官 消防士 美容師 大工 農家 薬剤師 記者 建築家
    歯科医 獣医 運転手 料理人
    """,
    """
    aries taurus gemini cancer leo virgo libra scorpio sagittarius capricorn aquarius pisces widder
    stier zwilling krebs löwe jungfrau waage skorpion schütze steinbock wassermann fische
    """,
    (
        "catholic protestant muslim jewish buddhist hindu atheist katholisch evangelisch "
        "muslimisch jüdisch buddhistisch atheist"
    ),
    """
    german french italian spanish portuguese polish dutch swedish danish norwegian finnish russian
    turkish greek chinese japanese korean american canadian mexican brazilian british irish scottish
    deutscher franzose italiener spanier pole schweizer österreicher
    """,
)
_CLASS = {
    word: number for number, words in enumerate(_CLASSES) for word in words.casefold().split()
}
TITLES = frozenset(["dr", "mr", "mrs", "ms", "prof", "professor", "herr", "frau", "miss"])
_LEADING = """
    over under above below before after inside outside on off near in up down with without vor nach
    mit ohne über unter auf zu an aus
"""
_QUALITY = frozenset(
    (*EXCLUSIVE.replace(";", " ").split(), *_QUALITIES.casefold().split())
) - frozenset(_LEADING.casefold().split())
_COLOUR = frozenset(_COLOURS.split())
_TIME_KINDS = {
    word: kind for kind, words in _TIMES_BY_KIND.items() for word in words.casefold().split()
}
_UNIT_KINDS: dict[str, frozenset[str]] = {
    word: frozenset(kind for kind, units in _UNITS_BY_KIND.items() if word in units.split())
    for units in _UNITS_BY_KIND.values()
    for word in units.split()
}


def are_of_one_kind(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether two values are of a kind of which a thing has a single value.

    Two colours or two names are; two qualities, or a name and a number, are not.

    Args:
        first: The words of a value.
        second: The words of another value.

    """
    ours, theirs = _kind_of_value(first), _kind_of_value(second)
    return ours == theirs != "quality"


def are_of_one_class(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether two different words are of a class such as trades or nations.

    A person has a single member of each class: a trade, a sign of the zodiac, a faith, a nation.

    Args:
        first: The words of a value.
        second: The words of another value.

    """
    if len(first) != 1 or len(second) != 1 or first == second:
        return False
    return first[0] in _CLASS and _CLASS[first[0]] == _CLASS.get(second[0])


def _kind_of_value(words: Sequence[str]) -> str:
    joined = "".join(words)
    parts = (
        list(words) if joined.isascii() or len(words) == 1 else [joined.strip(HIRAGANA) or joined]
    )
    parts = parts if "\u3041" <= joined[-1:] <= "\u9fff" else list(words)
    if not _COLOUR.isdisjoint(parts):
        return "colour"
    if any(word[0].isdigit() for word in parts):
        return "number"
    if len(parts) == 1 and parts[0] in _FIELD:
        return "field"
    return "quality" if parts and (_is_quality(parts[-1]) or parts[0] in _QUALITY) else "name"


def _is_quality(word: str) -> bool:
    return word in _QUALITY or (len(word) >= LEAST_LETTERS and word.endswith(_ENDINGS))


def share_kind_of_time(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether both are days of the week, both months, or both times of day.

    True where a word isn't known.

    Args:
        first: The words of a time.
        second: The words of another time.

    """
    return _share(
        *(
            {
                _TIME_KINDS[each]
                for word in side
                for each in (word, word.rstrip("s"))
                if each in _TIME_KINDS
            }
            for side in (first, second)
        )
    )


def share_kind_of_unit(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether both are lengths, or both sums of money; true where a unit is missing.

    Args:
        first: The words of a number.
        second: The words of another number.

    """
    return _share(
        *({kind for word in side for kind in _UNIT_KINDS.get(word, ())} for side in (first, second))
    )


def _share(ours: set[str], theirs: set[str]) -> bool:
    return not ours or not theirs or not ours.isdisjoint(theirs)
