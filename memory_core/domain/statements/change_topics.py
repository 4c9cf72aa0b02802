"""Topics by which two messages are compared: states of life, synonyms, kinds of things.

Of a state of life (a home, a job) a person has one at a time, so a statement of a new one ends the
former.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from memory_core.domain.text.analyzer import has_japanese, terms_of
from memory_core.domain.text.spelling import (
    ANY_MONTH,
    ANY_WEEKDAY,
    GERMAN_MONTHS,
    GERMAN_WEEKDAYS,
    MONTHS,
    WEEKDAYS,
)
from memory_core.domain.text.towns import has_town


class Matter(NamedTuple):
    """A topic with one state at a time, such as a home or a job.

    Attributes:
        holds: Expressions that state it.
        changes: Expressions of a change of it.
        of_kin: Whether a sentence about the partner or the child is about the speaker, too.

    """

    holds: re.Pattern[str]
    changes: re.Pattern[str]
    of_kin: bool = False


_AGE = (
    r"(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen"
    r"|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|zwei|drei|vier|fünf|sechs|sieben|acht"
    r"|neun|zehn|elf|zwölf)"
)
_TRADE = (
    r"(?:[\w-]+ )?(?:[\w-]{2,20}(?:er|or|ist|ian|ant|eur|man|woman|erin|istin|orin)|nurse|cook"
    r"|vet|coach|arzt|ärztin|koch)\b"
)
"""The ends of most words for occupations."""


CARS_IN_JAPANESE = (
    "軽|N-BOX|プリウス|フィット|アクア|フリード|ノート|セレナ|ヤリス|アルファード|タント|ワゴンR|ヴェゼル"
    "|カローラ|スイフト|ハスラー|ジムニー|ムーヴ|リーフ|レクサス|ベンツ"
)


_MOVED_TO = re.compile(
    r"\b(?:[Mm]oved|[Rr]elocated) (?:back |over |out )?to (?P<where>[^;:!?]{1,40})"
    r"|\bnach (?P<town>[A-ZÄÖÜ][\w-]{1,30}(?: [A-ZÄÖÜ][\w-]{1,30}){0,2}) (?:um)?gezogen"
)
_DWELLING = re.compile(
    r"\b(?:flat|apartment|house|place|rooms?|studio|cottage|farm|street|road|floor|neighbou?rhood"
    r"|district|area|city|town|village|country|countryside|suburbs?|coast|island|mountains|outskirts"
    r"|parents|mum|mom|dad)\b",
    re.IGNORECASE,
)


FOR_SOFTWARE = re.compile(
    r" (?:for|as|on|in) (?:all )?(?:the|our|my|an?) (?:[\w-]{1,20} ){0,2}"
    r"(?:frameworks?|back-?ends?|front-?ends?|apis?|apps?|databases?|cloud|library|servers?"
    r"|code ?base|website|pipelines?|clusters?|stack|repo(?:sitory)?)\b"
    r"(?! (?:job|company|firm|startup|team|developer|course|role|position))",
    re.IGNORECASE,
)
"""What a tool is used for, to which software moves."""


_WITH_THING = re.compile(
    r"\bmit (?:der|dem|den|unser\w{2}|mein\w{2}) (?!(?:familie|kindern|ganzen|frau|mann|freund\w*"
    r"|hund|katze|eltern)\b)(?P<mover>[\w-]{2,30})(?= |,)[^.!?]{0,60}\b(?:um)?gezogen\b",
    re.IGNORECASE,
)
_THING_MOVED = re.compile(
    r"(?:\A|[,;] |\b(?:und|aber|and|but) )(?:mein\w{0,2}|unser\w{0,2}|my|our)"
    r" (?!(?:family|familie)\b)(?P<mover>[\w-]{2,30}(?: [\w-]{2,30}){0,3})"
    r" (?:(?:has|have|is|are|ist|sind|just|also) )?"
    r"(?:moved|relocated|nach\b[^.!?]{0,40}\b(?:um)?gezogen)\b",
    re.IGNORECASE,
)
_THING_MOVED_IN_JAPANESE = re.compile(
    r"(?:\A|[。、])(?!(?:私|僕|俺|うち|私たち|家族|今|最近|来月|先月|今月|先週|昨日|去年|今年|実|春|夏|秋|冬|\d)(?:達|たち)?)"
    r"(?P<mover>[^、。はがも]{1,12})[はが](?:(?!ので|から|、)[^。]){0,30}(?:引っ越し|引越し)"
)
_WITH_SPEAKER = re.compile(r"\A(?:i|me|ich|we|wir|and|und)\Z|[私僕俺]|うち|家族")


def moves_another(sentence: str, before: str = "") -> bool:
    """Whether not the speaker moves, but a thing or a person that the sentence names.

    For example "our club moved to Kassel", "wir sind mit dem Laden nach Kassel gezogen".

    Args:
        sentence: The sentence.
        before: An earlier sentence about a home; it may be the home of the one that moves.

    """
    movers = (_WITH_THING, _THING_MOVED, _THING_MOVED_IN_JAPANESE)
    for moved in filter(None, (expression.search(sentence) for expression in movers)):
        name = moved["mover"].casefold()
        parts = [name] if has_japanese(sentence) else name.split()
        if not any(part in before.casefold() or _WITH_SPEAKER.search(part) for part in parts):
            return True
    return False


def is_about_home(sentence: str, before: str = "") -> bool:
    """Whether a sentence about a move is about a home.

    A team moves to a tool, and a colleague to another team, in the same words.

    "We moved to Kassel", "We moved to a bigger flat"; not "We moved to Vitest", nor "We moved to
    Phoenix for the web framework", nor "Our club moved to Kassel": the subject, or what the
    speaker moved with ("mit dem Laden"), has a place of its own.

    Args:
        sentence: The sentence.
        before: The earlier sentence about a home, which may be that of the one that moves.

    """
    if moves_another(sentence, before):
        return False
    match = _MOVED_TO.search(sentence)
    if match is None:
        return True
    if FOR_SOFTWARE.search(sentence, match.start()) is not None:
        return False
    where = match["where"] or match["town"]
    near = [word.strip(",.") for word in where.split()]
    named = near[:3] if where.islower() else [word for word in near if not word.islower()]
    return _DWELLING.search(where) is not None or has_town(named)


def _matter(holds: str, changes: str, *, of_kin: bool = False) -> Matter:
    return Matter(
        re.compile(holds, re.IGNORECASE), re.compile(changes, re.IGNORECASE), of_kin=of_kin
    )


HOME = 0
"""Its place in `MATTERS`."""
MATTERS: tuple[Matter, ...] = (
    _matter(  # home
        r"\bhome city:|\b(?:live|lives|living|rent|renting) (?:a room |a flat |alone )?(?:in|at"
        r"|on|with|near)\b|\bzur miete\b|賃貸|\b(?:my|our) (?:flat|apartment"
        r"|house|place|address|room)\b"
        r"|\b(?:wohne|wohnen|wohnt|lebe|leben|lebt)\b|\b(?:meine|unsere) (?:wohnung|adresse)\b"
        r"|住んで|住まい|暮らし|実家",
        r"\b(?:moved|relocated) (?:house|home|in with|(?:back |over "
        rf"|out )?to (?!(?:the next|(?:{ANY_WEEKDAY})s?|\d|a later|an earlier|using|vs|the \d))"
        r"|into)"
        r"|\b(?:own|eigene[nr]?) (?:place|flat|apartment|house|wohnung|haus|bude)\b"
        r"|\bmoved in\b(?! (?:a|the|that|such)\b)|\bnew (?:address|flat|apartment|place"
        r"|house)\b|\bbought (?:a|our|my) (?:\w+ )?(?:house|flat|apartment)\b"
        r"|\b(?:haus|wohnung) gekauft\b|(?:家|マンション)を(?:買い|購入)"
        r"|\b(?:umgezogen|umzug|gezogen|neue adresse|neue wohnung|neuen wohnung|wohne jetzt"
        r"|wohnen jetzt)\b|一人暮らしを始め|実家に戻|引っ越し(?:ました|た|て)|引越し(?:ました|た)",
    ),
    _matter(  # work
        r"\bemployer:|(?<!\bto )(?<!\bof )(?<!\bat )\b(?:work|works|working) (?:at|for|as|in"
        r"|part-time|full-time)\b"
        rf"|\bi'?m an? [\w -]{{2,30}} (?:at|for)\b|\bi'?m an? {_TRADE}|\bich bin {_TRADE}"
        r"|\bi (?:do|run|teach|manage|handle|cook|bake|coach) (?:the )?(?:[\w-]+ ){1,3}(?:at|for)"
        r" (?-i:[A-Z])"
        r"|\bmy (?:job|employer) (?:is|at)\b|\b(?:arbeite|arbeitet|arbeiten|jobbe)\b"
        r"|\b(?:bin|ich) (?:\w+ )?(?:bei|beim) (?:der |dem )?[\w-]+|で働|に勤|勤務|バイト|部に(?:い"
        r"|所属)"
        r"|の仕事|ってます|やってます|をしています|で(?:営業|経理|事務|販売|接客|教師)(?:を)?(?:やって|して)",
        rf"\bi(?:'?m| work as) (?:now )?an? {_TRADE}(?= now| these days)|\bich bin jetzt {_TRADE}"
        r"|\bfirst (?:day|week|month|shift) (?:at|with) (?:the )?(?-i:[A-Z])[\w'& ]{1,40}"
        r"(?: (?:is |was )?(?:done|over|behind me)\b|$|[!.,])"
        r"|\berste[rn]? (?:tag|woche|monat) (?:bei|beim|in der) (?-i:[A-ZÄÖÜ])"
        r"|\bnew job\b|\bgot the job\b|\b(?:start|started|starting) (?:as|at|work)\b"
        r"|\b(?:handed|given|gave|put) in my (?:notice"
        r"|resignation|apron)\b|\b(?:quit|left|lost) my job\b|\b(?:got|been|was) (?:fired"
        r"|laid off|made redundant)\b(?! up)|"
        rf"\bfrom (?:{ANY_MONTH}) i'?m (?:at|with)\b"
        r"|\bi'?m (?:at|with) (?-i:[A-Z])[\w' ]{2,30} now\b|\bswitched jobs\b"
        r"|\bretired\b(?! to)|\b(?:ist|bin|sind) (?:\w+ ){0,4}(?:rentner(?:in)?|pensionär(?:in)?"
        r"|in (?:rente|pension)|pensioniert|im ruhestand)\b"
        r"|(?:(?:\A|[,;] |\b(?:ich|wir|er|sie|und|aber|gestern|heute|jetzt|endlich) )"
        r"(?:habe?|haben)|\bhat)(?: (?:ich|wir|gerade|heute|gestern|jetzt|endlich"
        r"|leider|letzte \w+|(?:meinen|den) job|(?:meine|die) stelle|bei [\w-]+)){0,4} gekündigt\b"
        r"|\bmir (?:\w+ )?gekündigt\b"
        r"|\b(?:neue stelle|neuen job|neuer job|job gewechselt"
        r"|angefangen bei|fange bei|bin jetzt bei)\b"
        r"|\bseit (?:dem )?(?:\d{1,2}\. )?\w{1,20} bin ich (?:bei|beim)\b|転職|退職|入社"
        r"|(?:今は|\d月から)[^。、]{1,10}部(?:に|で)|部に(?:異動|移り|配属)|辞めて(?:、|今は)"
        r"|今は[^。]{1,20}で(?:働|教|勤)"
        r"|(?:[今先来]月|[今先来]週|昨日|今日|[春夏秋冬]|\d{1,2}月|この[春夏秋冬])から[^。、]{1,20}(?:で働|に勤)",
    ),
    _matter(  # relationship
        r"\bmarital status: single|\b(?:i'?m|i am|user is|am|still) single\b"
        r"|\bbin (?:\w+ )?single\b|独身|彼女がい(?:ない|ません)|彼氏がい(?:ない|ません)",
        r"\bseeing someone\b|\b(?:got|getting|i'?m|am) (?:engaged|married)\b"
        r"|\b(?:have|got) a (?:new )?(?:girlfriend|boyfriend|partner)\b|\bdating\b|\bverlobt\b"
        r"|\bgeheiratet\b|\beine? (?:freundin|freund)\b|結婚し|婚約|彼女ができ|彼氏ができ"
        r"|付き合",
    ),
    _matter(  # couple
        r"\bmy (?:wife|husband|girlfriend|boyfriend|partner|fianc\w+)\b"
        r"|\b(?:i'?m|am|user is) (?:married|engaged)\b|\bmein(?:e|er|em|en)? (?:frau|mann"
        r"|freundin|freund|partner\w*)\b|\bverheiratet\b|妻|夫|旦那|彼女と|彼氏と",
        r"\b(?:we|i) (?:have |just |finally )?(?:broke up|split up|separated|got divorced"
        r"|are divorced|are getting divorced)\b|\b(?:divorced|newly single|single again)\b"
        r"|\b(?:uns|haben uns) (?:\w+ )?getrennt\b|\bgeschieden\b|\bscheidung\b|別れ(?:まし|た)"
        r"|離婚",
    ),
    _matter(  # meat
        r"\b(?:eat|eats|love|loves|like) (?:\w+ ){0,3}(?:meat|steak|beef|pork|chicken"
        r"|burgers?)\b|\bmeat[- ]?eater\b|\bcarnivore\b|\bfleischesser|\bfleisch\b"
        r"|\besse gern(?:e)? (?:fleisch|wurst)|(?:お?肉|焼肉|ステーキ)(?:が|は|も|を)(?:大?好き"
        r"|よく|毎日|食べ(?:ます|る))",
        r"\b(?:i'?m|i am|went|gone|going|turned|became|become|am|being"
        r"|user is) (?:\w+ )?(?:vegan|vegetarian|plant-based)\b"
        r"|\b(?:stopped|quit|gave up|given up) (?:eating )?meat\b"
        r"|\b(?:esse|ernähre|lebe|bin) [^.!?]{0,30}\b(?:vegetarisch|vegan|vegetarier\w*"
        r"|veganer\w*)\b|(?:ベジタリアン|ヴィーガン|菜食)(?:に|です)"
        r"|肉(?:は|を)(?:もう)?(?:食べません|食べない|やめ)",
    ),
    _matter(  # vegetarian
        r"\beats meat: no\b|(?:\bdiet: |\b(?:i've been|i'?m|i am|we'?re|we are|been|am"
        r"|user is) )"
        r"(?:a |an |strictly |strict )?(?:vegan|vegetarian|pescatarian|plant-based)\b"
        r"|\bbin (?:\w+ ){0,2}(?:vegan\w*|vegetari\w*)\b"
        r"|(?:ベジタリアン|ヴィーガン)(?:です|なので)",
        r"\b(?:eating|eat|started eating) (?:meat|fish|chicken|beef) (?:again|now)\b"
        r"|\bnot (?:a )?(?:vegan|vegetarian) any ?more\b|\bno longer (?:a )?(?:vegan"
        r"|vegetarian)\b|\besse (?:jetzt )?wieder (?:fleisch|fisch)\b|(?:また|再び)お?肉を食べ",
    ),
    _matter(  # health
        r"\b(?:hurts|broken|injured|sprained|in hospital|in the hospital|sick|ill|the flu|covid"
        r"|on crutches|in a cast|recovering|krank|verletzt|gebrochen"
        r"|im krankenhaus|krankgeschrieben)\b|入院|怪我|骨折|病気|風邪",
        r"\b(?:(?:is|'s|has|have|am|are|was|been|got) (?:\w+ )?(?:healed|cured|recovered"
        r"|discharged|released|out of (?:the )?hospital)"
        r"|home again|back at work|back on my feet|off crutches|wieder (?:gesund|fit)|verheilt"
        r"|aus dem krankenhaus)\b"
        r"|退院|治り|治った|完治|回復し",
    ),
    _matter(  # shift
        r"\b(?:work nights|night shifts?|late shift|early shift|nachtschicht|spätschicht"
        r"|frühschicht)\b|夜勤|日勤",
        r"\b(?:on|to|onto) (?:the )?(?:day|night|early|late) shifts?\b"
        r"|\bno more (?:night|day) shifts\b|\bin die \w{3,5}schicht\b|(?:日勤|夜勤)にな",
    ),
    _matter(  # without work
        r"\b(?:unemployed|jobless|out of work|between jobs|job[- ]hunting"
        r"|looking for (?:a job|work)|arbeitslos|arbeitssuchend)\b"
        r"|\bsuch\w{0,2} (?:\w+ )?(?:arbeit|job|stelle)\b|無職|求職|就活",
        r"\b(?:landed|found|got|started|starts|accepted|took|has) (?:\w+ )?(?:a|the|his|her"
        r"|my) (?:new )?(?:job|position|offer|role)\b"
        r"|\b(?:eine|die|den|einen) (?:neue[nr]? )?(?:job|stelle|arbeit) (?:gefunden"
        r"|bekommen)\b|内定|就職し|採用され",
    ),
    _matter(  # a child on the way
        r"\b(?:pregnant|expecting|baby is due|due date|schwanger|hochschwanger"
        r"|erwarten (?:ein|unser))\b|妊娠|出産予定|予定日",
        r"\b(?:our|my|her|the) (?!(?:niece|nephew|cousin|grand\w+|god\w+|sister|brother|friend"
        r"|colleague|boss|neighbou?r)\b)(?:\w+ ){1,3}(?:was|is) born\b"
        r"|\b(?:our|my|her|the) (?:\w+ ){0,2}(?:baby|son|daughter|girl|boy|twins|little one)"
        r"(?: \w+)? (?:has |have )?arrived\b"
        r"|(?:\A|(?<=[.!?,;:] )|(?<=\band )|(?<=\bbut ))(?-i:[A-ZÀ-Þ][a-zà-ÿ]{1,20}) was born"
        r" (?:on|yesterday|today|last|this|at"
        r"|early)\b|\b(?:lost (?:the|our) baby|(?:had a )?miscarr\w+|fehlgeburt)\b|流産"
        r"|\b(?:unser|das) (?:\w+ ){0,2}(?:sohn|baby|kind)(?: \w{2,20})? ist"
        r" (?:endlich |jetzt )?da\b"
        r"|\bunsere (?:\w+ ){0,2}(?:tochter|maus)(?: \w{2,20})? ist (?:endlich |jetzt )?da\b"
        r"|\b(?:gave|given) birth\b|\bhad (?:the|her|our|a) baby\b"
        r"|\bzur welt gekommen\b|\b(?:ist|wurde) (?:[\w-]+ ){0,4}geboren\b|\bentbunden\b"
        r"|生まれ(?:まし|た)|出産し|産まれ",
        of_kin=True,
    ),
    _matter(  # a name
        r"\b(?:my|our) (?:last |sur|family |full |maiden )?name (?:is|was)\b|\bsurname\b"
        r"|\bmein (?:nach|familien)?name ist\b|\bich heiße\b"
        r"|名字は|苗字は|旧姓",
        r"\b(?:took|taken|taking) (?:my|his|her|their) (?:[\w']+ )?(?:sur|last )?name\b"
        r"|\bchanged my (?:\w+ )?(?:sur)?name\b|\bi(?: now)? go by\b"
        r"|\bheiße (?:jetzt|nun|seit)\b|\bnamen (?:meines|meiner) \w+ angenommen\b"
        r"|(?:名字|苗字|姓)が変わ|改姓|改名",
    ),
    _matter(  # pay
        r"\b(?:get paid|earn|salary|wage) (?:\w+ ){0,3}[€$£]?\d|\bverdiene\b|\bgehalt\b|給料"
        r"|年収|月給|手取り|時給",
        r"\bgot (?:a|my) (?:\w+ )?(?:raise|rise|pay (?:raise|rise|cut))\b"
        r"|\bpay (?:cut|rise|raise)\b|\bgehaltserhöhung\b|\bmehr gehalt\b"
        r"|\bverdiene jetzt\b|昇給|給料が上が|減給",
    ),
    _matter(  # smoking
        r"\b(?:i|user) smokes?\b|\bsmoker\b|\brauche\b|\braucher(?:in)?\b"
        r"|(?:タバコ|煙草)(?:を|は)(?:吸|すっ)",
        r"\b(?:quit|stopped|gave up|given up) (?:smoking|cigarettes)\b"
        r"|\b(?:haven't|have not) (?:smoked|had a cigarette)\b|\bsmoke[- ]free\b"
        r"|\brauchfrei\b|\bnichtraucher\w*\b|\brauche nicht mehr\b|禁煙|吸っていません"
        r"|吸わなく",
    ),
    _matter(  # phone number
        r"\b(?:number|phone|reach me|handynummer|nummer|mobilnummer)\b[^.!?]{0,40}\d{3}"
        r"|電話番号|携帯番号",
        r"\b(?:new (?:sim|number|phone number|mobile)|changed my number|neue (?:handy)?nummer"
        r"|neue (?:mobil|telefon)nummer)\b|(?:新しい番号|番号が変わ|番号を変え)",
    ),
    _matter(  # boss
        r"\bmy (?:boss|manager|supervisor)\b|\bmeine? (?:chef|chefin)\b|上司",
        r"\bnew (?:boss|manager|supervisor)\b|\b(?:now (?:i'?m )?report(?:ing)?"
        r"|report(?:ing)? now) to\b|\bneuer? (?:chef|chefin)\b|新しい上司|上司が(?:変わ|代わ)",
    ),
    _matter(  # car
        r"\bcar:|\b(?:i|user) drives? an? \b|\bmy car is\b|\bfahre (?:jetzt )?einen\b"
        r"|\bmein auto ist\b|に乗って(?:い|ま)|車検|(?:うち|私|僕|俺)の(?:車|軽)",
        r"\b(?:(?:bought|got|ordered|leased|drive|driving) (?:an?"
        r"|(?:my|our|the) (?:new|first|own))|picked up (?:an?|my|our|the) (?:brand )?(?:new"
        r"|used|second-hand)) "
        r"(?:(?!(?:rental|rented|hire|hired|borrowed|toy|courtesy|loan"
        r"|replacement)\b)[\w-]+ ){0,3}(?:car|tesla|bmw|vw|golf|audi|toyota|honda|ford|skoda"
        r"|kia|volvo|mercedes|mazda|hyundai|renault|fiat|opel|corsa|polo|nissan|peugeot)\b"
        r"(?! (?:seat|wash|cover|charger|magazine|part|tyre|tire|insurance|key|stereo|radio"
        r"|battery|park|boot|wax|vacuum|poster)s?\b)|\bneues auto\b|\bjetzt fahre ich\b"
        r"|\bfahre jetzt\b|新しい車|車を買い替え|新しい(?:"
        + CARS_IN_JAPANESE
        + r")を(?:買|購入|契約|注文)",
    ),
    _matter(  # commute
        r"\b(?:commute|to work|zur arbeit|pendle|pendelt)\b|通勤"
        r"|\bi (?:cycle|bike|drive|walk|get the (?:bus|train)|take the (?:bus|train)) in\b(?! )"
        r"|\bi (?:cycle|bike|drive|walk) in (?:so|and|every|most|from|each)\b"
        r"|\bi (?:cycle|bike|walk) (?:now|these days)\b",
        r"\b(?:commute|commuting|cycle|cycling|bike|drive|driving"
        r"|take the \w+) (?:to work )?(?:by \w+ )?(?:now|instead|these days)\b"
        r"|(?:\A\W{0,9}|\b(?:tak(?:e|ing)|back (?:to|on)) )(?:the )?(?:bus|train|tram|tube|metro"
        r"|subway)(?: to work)? again(?=[.,!]|\Z| (?:now|since|and|because)\b)"
        r"|\bnow (?:i )?(?:commute|cycle|drive|take the)\b|\bpendle jetzt\b|\bfahre jetzt mit\b"
        r"|通勤(?:は|が)[^。]{0,12}に(?:変|なっ|し)",
    ),
    _matter(  # dentist
        r"\b(?:my|our) dentist\b|\bmein\w{0,2} zahn(?:arzt|ärztin)\b|歯医者|歯科",
        r"\b(?:now|these days) (?:i )?(?:go|see|am with) [^.!?]{0,40}\bdentist"
        r"|\bnew dentist\b|\bneue[rn]? zahn(?:arzt|ärztin)\b"
        r"|\bjetzt bei [^.!?]{1,40}zahn(?:arzt|ärztin)"
        r"|今は[^。、]{1,20}(?:歯科|歯医者)(?:に|へ)|(?:歯医者|歯科)を(?:変え|替え|かえ)"
        r"|新しい歯医者",
    ),
    _matter(  # age
        rf"\b(?:is|am|i'm|bin|ist|turned) {_AGE}(?= years old\b| jahre alt\b|\W*$)|\d{{1,3}}歳",
        rf"\bturned {_AGE}\b|\b(?:is|am|i'm) (?:now )?{_AGE} (?:years old )?now\b"
        rf"|\b{_AGE} geworden\b"
        r"|\d{1,3}歳になり",
    ),
    _matter(  # studies
        r"\b(?:student|studying|at (?:uni|university|college)|studiere|studentin)\b|大学生",
        r"\bgraduated\b|\bdropped out\b|\bfinished (?:my|her|his) (?:degree|studies)\b"
        r"|\b(?:studium|abschluss) (?:\w+ )?(?:fertig|beendet|geschafft|abgebrochen)\b"
        r"|卒業し|中退し|就職し|社会人にな",
    ),
    _matter(  # weight
        r"\b(?:weigh|weight|wiege|gewicht)\b[^.!?]{0,30}\d|\d{1,3} ?kg\b|体重",
        r"\b\d{1,3}(?:[.,]\d{1,2})? (?:kg |kilos? )?on the scales?\b"
        r"|\b(?:down|up) to \d{1,3}(?:[.,]\d{1,2})? ?(?:kg|kilos?|pounds|lbs)\b"
        r"|\bwiege (?:jetzt|nur noch)\b|体重が\d",
    ),
    _matter(  # working hours
        r"\b\d{1,3} (?:hours|stunden) (?:a|per|die|pro|in der) (?:week|woche)\b"
        r"|\b(?:vollzeit|full[- ]time)\b|週\d{1,2}日",
        r"\b(?:down|up) to \d{1,3} hours\b|\bauf \d{1,3} stunden\b|\bpart[- ]time now\b"
        r"|\b(?:jetzt|auf) teilzeit\b|\b(?:went|gone|going) part[- ]time\b|週\d{1,2}日に",
    ),
)
"""The topics with one state at a time, in three languages."""


_WEAK = """
    tried yet myself yourself himself herself together only anyway instead people
    user users assistant user's thing things way ways time times day days week weeks weekend month
    months year years today tonight tomorrow yesterday morning mornings afternoon evening evenings
    night nights noon hour hours minute minutes second first last next new old now then just really
    very still finally again back already ever never always usually often sometimes actually maybe
    also too much many lot lots bit more most less least some any all every each other another same
    one two three four five six seven eight nine ten go goes going went gone get gets getting got
    take takes taking took make makes making made do does doing did done have has had having be been
    am is are was were use uses using used work works working worked want wants wanted need needs
    needed like likes liked love loves know knows think thinks say says said tell tells told see
    look looks looking feel feels let put puts come comes came keep keeps try tries trying tried
    start starts starting started stop stopped stops move moves moved moving change changes changed
    switch switched give gives given gave up out off over in on at to from of for with about into
    since till until around before after because please thanks thank help idea ideas tip tips good
    great nice best better bad worse sure ok okay oh well yes no not dont cant im ive id ill its
    thats whats hi hello hey lol haha ugh phew can could would should will may might must shall if
    without so but and or as than there here what when where which who why how my your his her our
    their me you him them us we they she he it this that these those guy called name named people
    person someone somebody something anything everything nothing
    plan plans planned planning question
    questions even though however quite rather read reading sound sounds end ends ended feel feels
    felt own real life world start finish actual good enough interest interesting amazing awesome
    cute beautiful cool crazy early late later long short high low hot cold free full open close
    closed hold holding hear heard happen happened play playing watch watching talk talking speak
    call called ask asked answer show showed turn turned walk walking run running sleep wait hope
    care worry worried seem seems believe understand learn learned lose lost win won bring brought
    write wrote meet met pick picked stay stayed stuff kind sort part end side number case point
    fact reason problem issue story word words order experience future past present moment minute
    while course self body head hand face eye eyes heart mind world country state city town room
    door water food air light sound color colour size money pound pounds dollar dollars euros quid
    bucks cents pence mr mrs ms miss dr prof herr business company group team relationship
    actual literal probable definite total certain honest glad sad tired busy ready able different
    similar special important main whole totally literally probably definitely certainly exactly
    basically honestly especially usually normally outside inside everyday worth anymore same alone
    somewhere else besides apart sometime sort rest favorite favourite game
    yeah yep oh hmm wow idk anyway afternoon
    don won isn doesn didn couldn shouldn wouldn aren wasn weren hasn haven hadn ain ve ll re home
    place family life day job sit sitting chance hope dream dreams hard easy fun friend friends
    believe happy image photo photography
    recommend suggest recommendations message remind reminder remember forget mean means meant
    currently recently lately left right live lives living lived buy buys bought sell sold pay pays
    paid pretty quite whole little big small half
    ich du er sie es wir ihr mein meine meinen meinem meiner dein sein unser unsere unserem und oder
    aber denn weil dass der die das den dem
    des ein eine einen einem einer ist sind war waren bin habe hab hat haben hatte wird werden wurde
    wurden mit ohne für von bei zu zum zur ins aufs ans vom zur beim im in an am auf aus nach seit
    bis um
    über unter vor hinter nicht kein keine keinen mehr noch schon jetzt nun dann da hier auch nur
    sehr
    so wie was wer wo wann warum kann kannst können könnte bitte danke hallo tag tage woche wochen
    monat monate jahr jahre heute morgen gestern abend mittag nacht uhr gut neue neuen neuer neues
    neu alt alte alten letzte letzten letzter nächste nächsten mal doch ja nein geht gehe gehen ging
    mache macht machen gemacht weiß mag möchte will muss gerade endlich wieder immer oft viel viele
    wenig zwei drei vier fünf sechs sieben acht neun zehn man mir mich dir dich uns euch ihm ihn
    ihnen heißt heiße euro tipps tipp ideen idee
"""
_WEAK_IN_JAPANESE = (
    "今日 今月 今年 今週 先週 先月 去年 来週 来月 来年 最近 毎日 毎週 毎朝 毎月 昨日 明日 今朝 "
    "午前 午後 時間 場合 自分 今度 時半 月曜 火曜 水曜 木曜 金曜"
    " 土曜 日曜 曜日 予定 新し 大好 好き 食べ 飲み 行き 思う 教え 言う 使う 使い 買い 何か 一番 "
    "千円 万円 百円 本当 結局 変更 予約 少し 全部 先日 毎晩 一緒 家族 乗り 乗っ 換え 替え 名前"
)
_DAYS = (*WEEKDAYS, *GERMAN_WEEKDAYS)
_WEAK_WORDS = (*_WEAK.split(), *_DAYS, *(f"{day}s" for day in _DAYS), *MONTHS, *GERMAN_MONTHS)
WEAK = frozenset([*_WEAK_WORDS, *terms_of(_WEAK_WORDS)])
WEAK_IN_JAPANESE = frozenset(_WEAK_IN_JAPANESE.split())
"""Words so common that two messages which share them may be about different things."""

_ALIKE = (
    "due deadline fällig abgabe abgabetermin frist 締め切り 締切",
    "thesis topic dissertation masterarbeit thema 論文 テーマ",
    "gym membership fitnessstudio fitness ジム",
    "iphone phone smartphone cellphone handy android samsung galaxy 携帯 スマホ",
    "insurance insurer insurers insur versicherung versicherer 保険",
    "surname name nachname familienname 名字 苗字",
    "salary raise wage wages gehalt lohn 給料 年収 月給",
    "rent landlord flat apartment miete vermieter wohnung 家賃 大家",
    "wedding wed engaged engag married marry marri verlobt hochzeit heiraten 結婚 挙式",
    "coffee espresso caffeine caffein latte kaffee koffein コー ヒー 珈琲 カフ",
    "alcohol beer wine bier wein alkohol お酒 ビール 飲酒",
    (
        "smoke smoker smoking cigarette cigarett cigaret smok rauch rauche rauchen raucher "
        "raucherin zigarette zigaretten タバ バコ 煙草"
    ),
    "feier feiern fest geburtstagsfeier party パーティ",
    "flight flights fly flying flies flew flug flüge fliege fliegen geflogen フライト 飛行機",
    "meat steak beef chicken pork bacon fleisch fleischesser rind 肉食 お肉",
)
ALIKE = {
    term: place
    for place, words in enumerate(_ALIKE)
    for word in words.split()
    for term in (word, *terms_of([word], "english"), *terms_of([word], "german"))
}
"""By word, the number of its group of synonyms, across languages."""


_KINDS = (
    (
        "vim neovim emacs helix vscode sublime intellij pycharm webstorm zed nano eclipse xcode "
        "notepad++ cursor"
    ),
    "slack teams discord mattermost zulip whatsapp signal telegram threema line skype zoom",
    "firefox chrome safari edge brave opera vivaldi arc",
    "jira linear asana trello monday clickup notion basecamp redmine todoist things ticktick",
    "jenkins circleci travis gitlab github bitbucket",
    "heroku fly.io fly vercel netlify render aws azure gcp hetzner digitalocean",
    "postgres postgresql mysql mariadb sqlite mongodb oracle cassandra redis dynamodb",
    "lastpass bitwarden 1password keepass dashlane",
    "outlook thunderbird gmail mailbird protonmail",
    "windows macos linux ubuntu debian fedora nixos arch",
    (
        "vodafone giffgaff telekom o2 verizon t-mobile at&t ee three comcast congstar ソフトバンク "
        "楽天モバイル ドコモ ワイモバイル"
    ),
    "allianz axa huk ergo aviva geico progressive admiral zurich",
    "netflix disney hulu prime spotify deezer tidal",
    "iphone pixel samsung galaxy oneplus xiaomi fairphone huawei nokia xperia",
    (
        "honda toyota ford civic corolla golf polo tesla bmw audi volvo mazda skoda kia fiat opel "
        "seat prius rav4 プリウス フィット アクア"
    ),
    "sparkasse n26 ing dkb comdirect revolut monzo barclays hsbc lloyds natwest chase commerzbank",
    "npm pnpm yarn bun",
    "unittest pytest nose jest mocha vitest junit testng rspec minitest",
    "react vue angular svelte python rust golang java kotlin typescript javascript ruby elixir",
    "nikon canon sony fujifilm leica panasonic",
    "vegan vegetarian omnivore pescatarian",
)
KINDS = {word: place for place, words in enumerate(_KINDS) for word in words.split()}
KINDS_IN_JAPANESE = tuple(word for word in KINDS if has_japanese(word))
"""By name, the number of its kind of thing: editors, banks, cars.

Most people use one thing of a kind, so a speaker who switches to another one has left the former.
"""
