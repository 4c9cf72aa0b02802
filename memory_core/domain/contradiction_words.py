"""Words by which `contradiction` reads how two statements differ, in English, German and Japanese. Case-folded."""

from __future__ import annotations

from memory_core.domain.calendar_names import GERMAN_MONTHS, GERMAN_WEEKDAYS, MONTHS, WEEKDAYS

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
"""
_BEING = """
    is are was were has have had will lives live works work uses use runs run likes like loves needs prefers wants goes takes starts costs
    ist sind war hat habe haben wird wohnt wohne lebt lebe arbeitet arbeite mag liebt braucht nutzt
"""
_HAVING = """
    has have hat habe haben own owns keep keeps employs at um weighs costs starts ends takes needs runs lasts dauert braucht
    kostet wiegt is sleep schlafe schläft trinkt trinke arbeitet arbeite works work spend spends gets get seats size schuhgrösse
    are ist sind sleeps drinks drink earns verdient pays zahlt uses every limit
"""
_ONE_ONLY = """
    lives in, live in, lives at, lives with, lives on, living in, works at, works for, works as, work at, work for, work as, works in,
    works from, is called, are called, is named, named, called, based in, located in, married to, engaged to, deployed on, deployed to,
    deploys to, deploy to, deploys on, deploys with, deploy with, hosted on, hosted in, hosted by, written in, stored in, stored on,
    set to,
    scheduled for, due on, due in, due by, assigned to, drives a, drives an, drives, drive a, reports to, report to, runs on, listens on,
    belongs to, prefers, prefer, starts at, starts on, starts in, begins at, begins on, ends at, ends on, opens at, closes at, costs,
    weighs, earns, takes place, wears size, moved to, switched to, born in, born on, studies, majors in, connects to, points to,
    defaults to, default to, expires on, expires in, comes from, come from, commutes by, gets up at, goes to bed at, banks with,
    bank with,
    authenticates with, backed by, owned by, led by, managed by, taught by, maintained by,
    wohnt in, wohne in, wohnt bei, wohnt mit, lebt in, lebe in, arbeitet bei, arbeite bei, arbeitet als, arbeite als, arbeitet für,
    arbeite für, heißt, heiße, fährt einen, fährt ein, fahre einen, gehört, bevorzugt, bevorzuge, beginnt um, beginnt am, endet um,
    endet am, öffnet um, schließt um, läuft auf, kostet, wiegt, verdient, studiert, kommt aus, komme aus, findet am, findet um, findet in,
    geboren in, geboren am, verheiratet mit, steht um, zahlt, steht, liegt, hängt, parkt, parks in, is parked, is kept, is stored,
    laptop runs, phone runs, server runs, machine runs, pc runs, computer runs, meet in, meets in, is from, am from, hails from,
    grew up in, resides in, headquartered in, school in, school at, studies at, graduated from,
    everything on, is dating, works under, bin aus, stamme aus, stammt aus, studiert in, studiert an, hängt, sitzt, befindet sich
"""
_SEVERAL = """
    brother brothers sister sisters friend friends colleague colleagues cousin cousins aunt uncle son sons daughter daughters
    child children
    kid kids pet pets dog dogs cat cats hobby hobbies neighbour neighbor neighbours one some another other reason reasons goal
    goals problem
    problems issue issues feature task tasks step idea
    bruder brüder schwester schwestern freund freundin freunde kollege kollegin kollegen tochter töchter sohn söhne kind kinder hund katze
    hobby hobbys tante onkel
"""
_PASTS = """
    went paid bought sold ran saw met read ate drank flew drove took gave sent got won lost found spent told said thought felt heard came
    wrote swam rode slept watched visited cooked kaufte ging fuhr traf sah las aß lief flog bezahlte besuchte
"""
_LASTING_PASTS = """
    preferred moved raised lowered changed scheduled rescheduled postponed shifted named called located based married divorced allowed
    enabled
    disabled supposed need hundred closed hosted deployed stored used assigned switched increased reduced installed engaged retired
    limited capped estimated dedicated planned fixed encrypted locked gesetzt geplant geöffnet geschlossen geschieden gehostet
    gespeichert genutzt gesperrt gestern gegen gegenüber gehören gemeinsam gelegen geboren gehalt gewicht geschäft geburtstag gebaut
    geschrieben
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
    one two three four five six seven eight nine ten eleven twelve thirteen fifteen twenty thirty forty fifty sixty hundred
    thousand million
    once twice half first second third fourth fifth
    zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig vierzig fünfzig hundert tausend einmal zweimal dreimal
    一 二 三 四 五 六 七 八 九 十 百 千 万
"""
_ARTICLES = "user's the a an my our your his her their der die das ein eine mein meine unser unsere"
_DEFINITE = """
    preferred favorite default primary main current official native standard usual bevorzugte aktuelle the my our his her their its user's
    next der die das dem den mein meine meinem meinen unser unsere unserem sein seine ihr ihre
"""
_NAMING = "is are : = ist sind lautet equals will"
_PREPOSITIONS = "since until seit bis ab wegen in for with at on by from during über bei mit für von aus"
_UNITS = "% € $ £ ¥ am pm a.m p.m euro euros dollars uhr o'clock th st nd rd k : = . 時 月 日 円 分 歳 人 匹 年"

_LIGHT = """
    there's there' there comes come with is are planned scheduled set due findet statt gibt es hat has have had pays pay zahlt
    costs kostet beträgt liegt
    bei takes take place owns own switched turned employed the a of in von für per pro month monthly monat monatlich currently
    supports offers includes provides contains gets unterstützt bietet enthält bekommt can could able kann können
    steht stands stays bleibt remains kept be will starts start begins beginnt
"""
LIGHT = frozenset(_LIGHT.split())
"""Say hardly more than that something is so: two statements may differ in them."""
_PETS = """
    cat cats dog dogs pet kitten puppy hamster rabbit horse parrot hund hündin katze kater hamster kaninchen pferd 犬 猫
"""
PETS = frozenset(_PETS.split())
CALLED = ("is called", "is named", "name is", "heisst")
"""A pet that is spoken of as the one has one name."""
_ONE_ROLE = """
    teacher boss manager doctor dentist therapist coach trainer landlord tutor supervisor head captain ceo lead klassenlehrer
    klassenlehrerin lehrer lehrerin chef chefin hausarzt hausärztin zahnarzt zahnärztin vermieter vermieterin leiter leiterin
"""
ONE_ROLE = frozenset(_ONE_ROLE.split())
"""Roles that one person at a time fills for another: a boss, a dentist."""
EMPTY = frozenset(_EMPTY.casefold().split())
"""Come and go without changing what is said."""
ARTICLES = frozenset(_ARTICLES.split())
DEFINITE = frozenset(_DEFINITE.split())
NAMING = frozenset(_NAMING.split())
"""Stand between a thing and the one value that it has."""
BEING = frozenset(_BEING.split())
"""Frequent verbs; what one of them follows is what a statement speaks of."""
HAVING = frozenset(_HAVING.split())
"""With a number behind them they say how many or how much there is."""
ONE_ONLY = tuple(" ".join(one.casefold().split()) for one in _ONE_ONLY.split(","))
"""Verbs to which one value at a time belongs."""
SEVERAL = frozenset(_SEVERAL.split())
"""What a person may have more than one of, so that another name says nothing against the first."""
PREPOSITIONS = frozenset(_PREPOSITIONS.split())
PASTS = frozenset(_PASTS.split())
LASTING_PASTS = frozenset(_LASTING_PASTS.split())
"""Look like a past, and tell how something is."""
HABITS = frozenset((*_HABITS.split(), *(f"{day}s" for day in (*WEEKDAYS, *GERMAN_WEEKDAYS))))
TIMES = frozenset((*_TIMES.split(), *WEEKDAYS, *MONTHS, *GERMAN_WEEKDAYS, *GERMAN_MONTHS))
COUNTS = frozenset(_COUNTS.split())
UNITS = frozenset(_UNITS.split())
JAPANESE_ONE_ONLY = (
    "です", "だ", "になり", "に変", "に住", "で働", "に勤", "で暮", "に引っ越", "という", "と呼", "と申", "から", "まで", "に始",
    "に行わ",
    "が担当", "を使って", "で動", "に決ま", "である", "に設定", "に所属", "出身", "に通って", "にある", "にあり", "に置",
)  # fmt: skip
JAPANESE_SEVERAL = (
    "も", "好き", "嫌い", "行った", "行きま", "食べ", "買", "会っ", "会い", "会う", "見", "読", "友達", "兄弟", "姉妹", "趣味",
    "アレルギー",
)  # fmt: skip
"""What may be said of many things at once."""
_ADDING = "also too well auch ebenfalls zusätzlich additionally sometimes manchmal"
ADDING = frozenset(_ADDING.split())
"""Say that there is another one."""
_SOME = "some several certain sometimes manche einige manchmal teils few many"
SOME = frozenset(_SOME.split())
"""Of some one thing can be so, and of others the opposite."""
_ATTRIBUTES = """
    name status state mode color colour level priority setting type size default theme nationality version format plan tier language
    lautet heißt called named farbe status modus stufe priorität größe thema sprache format
"""
ATTRIBUTES = frozenset(_ATTRIBUTES.casefold().split())
"""Have one value at a time, whatever word it is."""
_USING = "use uses using nutze nutzt nutzen verwende verwendet verwenden benutze benutzt benutzen nehme nimmt have has habe hat"
USING = frozenset(_USING.split())
_PLACES = """
    vor in on at under behind beside near above below inside by im in am auf unter hinter neben bei über
"""
PLACES = frozenset(_PLACES.split())
_POSTURES = """
    is are liegt liegen steht stehen hängt hängen ist sind sits kept stored parked located parkt
"""
POSTURES = frozenset(_POSTURES.split())
"""Verbs that tell where something is."""
CONTRACTED = {"im": "in", "am": "auf", "beim": "bei", "vom": "von", "zum": "zu", "zur": "zu"}
COMPARING = frozenset(
    ["prefer", "prefers", "preferred", "rather", "more", "less", "better", "bevorzugt", "bevorzuge", "lieber", "mehr", "weniger", "besser"]
)
PIVOTS = frozenset(["to", "over", "than", "als", "vor"])
JAPANESE_ATTRIBUTES = ("名前", "職業", "仕事", "血液型", "色は", "言語", "国籍", "母国語", "母語", "専攻", "苗字", "名字", "出身")
"""Have one value at a time, whatever word it is."""
JAPANESE_ORIGINS = ("出身", "在住", "勤務", "生まれ", "育ち")
