"""The table of German statements that are facts, with their slots.

A row is matched with a single clause, whose words are the fact's text. Note: the verb may be before
its subject ("Seit 2012 bin ich Vegetarier"). A clause that supposes, asks or denies is matched only
by a row for such clauses.
"""

from __future__ import annotations

import re

from memory_core.adapters.offline import names
from memory_core.adapters.offline.animals import ANIMAL, GERMAN_PETS, MY, OWN
from memory_core.adapters.offline.belongings import CAR
from memory_core.adapters.offline.clause_facts import ClauseLanguage, Row
from memory_core.adapters.offline.introductions import GERMAN_VERB, german_clauses
from memory_core.adapters.offline.marriages import GERMAN_MARRIAGE_ENDS
from memory_core.adapters.offline.occupations import GERMAN_JOBLESS, GERMAN_TRADE, NOT_AS_EMPLOYER
from memory_core.domain.statements.appointment_words import PUT_ELSEWHERE_IN_GERMAN
from memory_core.domain.text.spelling import ANY_GERMAN_MONTH, ANY_GERMAN_WEEKDAY
from memory_core.domain.text.text_cache import keep_texts
from memory_core.domain.truth.slots import NO_LONGER

_SINCE = (
    r"(?:(?:jetzt|aber|gerade|seit (?:\w{1,15} )?\w{2,15}|momentan|derzeit|inzwischen|aktuell|nun"
    r"|auch|leider|zum glück|übrigens|immer noch|noch|schon|wieder) ){0,3}"
)
_ME = r"(?:ich|wir)"
_NAME = r"(?P<value>(?:Dr\. |Herr |Frau )?[A-ZÄÖÜ][\wäöüß'-]+(?: [A-ZÄÖÜ][\wäöüß'-]+)?)"
_ONE = (
    "(?i:frau|mann|ehefrau|ehemann|partner|partnerin|freundin|freund|mutter|mama|vater|papa|chef"
    "|chefin|vermieter|vermieterin|verlobter?)"
)
_MANY = (
    "(?i:sohn|tochter|bruder|schwester|oma|opa|tante|onkel|cousin|cousine|neffe|nichte|enkel"
    "|enkelin|kind|baby|kollege|kollegin|nachbar|nachbarin|hausarzt|hausärztin|zahnarzt"
    "|zahnärztin|therapeutin|therapeut|schwiegermutter"
    "|schwiegervater|schwager|schwägerin|beste freundin|bester freund)"
)
_THING = r"(?P<value>[^,;:!?]{2,60}?)"
_END = r"(?= (?:seit|weil|da|und ich|und wir|aber|obwohl|sehr|zum|beim|am|im|für|in der|mit)\b|\Z)"
_WHEN = (
    r"(?:jeden|jede|jedes|immer|täglich|meistens|meist|normalerweise|regelmäßig|oft"
    rf"|(?:{ANY_GERMAN_WEEKDAY})s|morgens|abends|zweimal|einmal|dreimal)"
)


def _i(verb: str) -> str:
    """An expression for a verb with its subject before or after it."""
    return rf"(?:\b{_ME} {_SINCE}{verb}|\b{verb} {_ME}) {_SINCE}"


_OVER = f"{NO_LONGER} {{value}}"
_OTHER = (
    r"\A(?P<who>(?!(?:Man|Er|Sie|Es|Das|Die|Der|Wer|Jeder|Ich|Wir|Wo|Was|Hier)\b)"
    r"[A-ZÄÖÜ][a-zäöüß]{1,20})"
)
"""A person with a name, of whom a clause tells."""
_NOW = r"(?:jetzt |nun |schon |inzwischen |mittlerweile ){0,2}"
_STREET = (
    r"(?:straße|strasse|str\.|weg|gasse|allee|platz|ring|damm|ufer|chaussee|graben|steig|markt|park"
    r"|berg|hof)"
)
_FOR_WHAT = r" für (?:(?:das|den|die) )?(?P<{}>[A-ZÄÖÜ][\w -]{{1,30}})"
"""What a thing is for, which makes it another thing: "das Budget für Contoso"."""
_ROWS: tuple[Row, ...] = (
    # home, work
    Row(
        "{of}",
        r"\b(?P<of>[A-ZÄÖÜ]\w{0,20}(?:arzt|ärztin|termin|prüfung|besprechung|klausur|gespräch|umzug"
        r"|flug|hochzeit|treffen|abgabe|kurs|training|physio|friseur))"
        r"(?:termin)? (?:hab|habe|ist|findet|wurde|geht|beginnt|war)\b.{0,30}?\b(?:am|um|auf den"
        r"|auf|erst am) (?P<value>\d.{2,25}?)"
        rf"(?= statt|,|\Z| (?:{PUT_ELSEWHERE_IN_GERMAN})\b)",
    ),
    Row(
        "employer",
        r"\A(?:bin|arbeite) (?:\w+ )?bei (?:der |dem )?"
        rf"(?P<value>{NOT_AS_EMPLOYER}[A-ZÄÖÜ][\w&äöüß.-]+)",
    ),
    Row("eats fleisch", r"\b[Ff]leischesser(?:in)?\b", filled="yes"),
    Row(
        "home city",
        r"\b(?:wohne|wohnen|lebe|leben) (?:ich |wir )?nicht mehr in (?P<value>[A-ZÄÖÜ][\wäöüß-]+)",
        filled=_OVER,
        denies=True,
    ),
    Row(
        "employer",
        r"\barbeite (?:ich )?nicht mehr (?:bei|für) (?:der |dem )?(?P<value>[A-ZÄÖÜ][\wäöüß-]+)"
        r"|\b(?:habe|hab) (?:ich )?bei (?:der |dem )?(?P<value2>[A-ZÄÖÜ][\wäöüß-]+)"
        r" (?:gekündigt|aufgehört)",
        filled=_OVER,
        denies=True,
    ),
    Row(
        "home city",
        _i("(?:wohne|wohnen|lebe|leben)")
        + r"(?:(?:zusammen )?mit [A-ZÄÖÜ][\wäöüß]+(?: und [A-ZÄÖÜ][\wäöüß]+)? )?(?:in einer WG )?"
        r"in (?P<value>[A-ZÄÖÜ][\wäöüß-]+(?: (?:am|an der|im) [A-ZÄÖÜ][\wäöüß]+)?)",
    ),
    Row(
        "home city",
        r"\b(?:bin|sind) (?:ich "
        r"|wir )?(?:[\w. ]{0,25} )?nach (?P<value>[A-ZÄÖÜ][\wäöüß-]+) (?:um)?gezogen",
        shape=names.home,
    ),
    Row(None, r"\b(?:ziehe|ziehen)\b.{0,40}\bnach (?P<value>[A-ZÄÖÜ][\wäöüß-]+)"),
    Row(
        "address",
        _i("(?:wohne|wohnen)")
        + r"(?:in der|im|am|an der) (?P<value>[A-ZÄÖÜ][\wäöüß-]{1,30}"
        + _STREET
        + r" \d{1,4}[a-z]?)\b",
    ),
    Row(
        "allergy to {value}",
        r"\b(?:ich bin|bin ich) (?:\w{1,12} )?gegen (?P<value>[A-ZÄÖÜ][\wäöüß-]+) allergisch\b",
        filled="yes",
    ),
    Row(
        "origin",
        _i("(?:komme|stamme|kommen)") + r"(?:ursprünglich )?aus (?P<value>[A-ZÄÖÜ][\wäöüß-]+)",
    ),
    Row("home town", r"\bin (?P<value>[A-ZÄÖÜ][\wäöüß-]+) aufgewachsen"),
    Row("birthplace", r"\b(?:ich bin|bin ich) (?:\d{4} )?in (?P<value>[A-ZÄÖÜ][\wäöüß-]+) geboren"),
    Row(
        "occupation",
        _i("(?:arbeite|jobbe)") + r"(?:[\w ]{0,25} )?als (?P<value>[A-ZÄÖÜ][\wäöüß-]+)",
    ),
    Row(
        "occupation",
        r"\b(?:ich bin|bin ich) (?:(?:von Beruf |gelernter? )(?P<value>[A-ZÄÖÜ][\wäöüß-]+)"
        rf"|{_SINCE}(?:[a-zäöüß]{{3,20}}er? )?(?P<value2>{GERMAN_TRADE})"
        r"(?=\Z| (?:bei|beim|in|im|an|am|für|aus)\b))",
    ),
    Row(
        "occupation",
        r"\barbeite (?:ich )?(?:jetzt |seit \w+ )?nicht mehr als (?P<value>[A-ZÄÖÜ][\wäöüß-]+)"
        r"|\b[Aa]ls (?P<value2>[A-ZÄÖÜ][\wäöüß-]+) arbeite ich (?:\w+ )?nicht mehr"
        rf"|\b(?:ich bin|bin ich) {_SINCE}(?:keine? (?P<value3>{GERMAN_TRADE}) mehr"
        rf"|nicht mehr (?P<value4>{GERMAN_TRADE}))",
        filled=_OVER,
        denies=True,
    ),
    Row(
        "employer",
        _i("(?:arbeite|bin)") + r"(?:\w+ )?(?:als [A-ZÄÖÜ][\wäöüß-]+ )?bei (?:der |dem )?"
        rf"(?P<value>{NOT_AS_EMPLOYER}[A-ZÄÖÜ][\w&äöüß.-]+(?: [A-ZÄÖÜ][\w&äöüß.-]+)*)",
    ),
    *(
        Row(
            attribute,
            rf"\b(?:ich habe?|habe? ich) {_SINCE}(?:eine?n? )?(?:neuen? )?(?:Arbeit|Job|Stelle)"
            rf" {at} (?P<value>[A-ZÄÖÜ][\w&äöüß.-]+) (?:gefunden|bekommen|angefangen)\b",
        )
        for attribute, at in (("employer", "bei(?: der| dem)?"), ("occupation", "als"))
    ),
    Row("field of study", _i("studiere") + r"(?P<value>[A-ZÄÖÜ][\wäöüß-]+)"),
    *(
        Row(attribute, GERMAN_JOBLESS, filled=NO_LONGER, denies=True)
        for attribute in ("employer", "occupation")
    ),
    # name, age, nationality
    Row(
        "name",
        r"\b(?:[Ii]ch heiße|heiße ich|[Mm]ein Name ist) (?:jetzt |nun |seitdem |übrigens )?"
        + _NAME,
    ),
    Row(
        "age",
        r"\b(?:ich bin|bin ich) (?:jetzt |schon |gerade "
        r"|übrigens )?(?P<value>\d{1,2}|1[01]\d)"
        r"(?: Jahre (?:alt|jung)| Jahre(?=\Z|,| und (?!\d)))?\b"
        r"(?!,\d|\.| [Jj]ahre? (?!alt|jung|und (?!\d))"
        r"| (?:mal|kilo|minuten|Tage|Stunden|Kilo|Minuten|cm|kg|km|%|Prozent|m\b|Uhr))",
    ),
    Row(
        "birthday",
        r"\bam (?P<value>\d{1,2}\. ?(?:\d{1,2}\.|[A-Z]\w+)) (?:[Gg]eburtstag|geboren)"
        r"|\b[Gg]eburtstag (?:ist (?:am|der)|habe ich am) "
        r"(?P<value2>\d{1,2}\. ?(?:\d{1,2}\.?|[A-Z]\w+))",
    ),
    Row(
        "marital status",
        r"\b(?:ich bin|bin ich|wir sind|und) "
        + _SINCE
        + r"(?P<value>verheiratet|geschieden|verlobt|ledig|verwitwet|single)\b",
    ),
    Row(
        "marital status",
        rf"\b(?:ich bin|bin ich) {_SINCE}mit [A-ZÄÖÜ]\w+ (?P<value>verheiratet|verlobt)\b",
    ),
    Row(
        "marital status",
        r"\b(?:wir haben|haben wir|ich habe?|habe? ich)\b[^,;]{0,30} geheiratet\b",
        filled="verheiratet",
    ),
    Row("spouse", rf"\bverheiratet mit {_NAME}(?= |\Z)"),
    *GERMAN_MARRIAGE_ENDS,
    Row("name", rf"\A{_NAME} ist (?:jetzt )?meine? neue[rs]? (?P<of>{_ONE})\b", subject="{of}"),
    Row(
        "handedness",
        r"\b(?:ich bin|bin ich) (?P<value>[Ll]inkshänder(?:in)?|[Rr]echtshänder(?:in)?)",
    ),
    # relatives and friends
    Row("name", rf"\b{OWN}(?P<of>{_ONE}) heißt (?:jetzt )?{_NAME}", subject="{of}"),
    Row("{of} {value}", rf"\b{OWN}(?P<of>{_MANY}) heißt {_NAME}(?= |,|\Z)", filled="yes"),
    Row(
        "{of} {value}",
        rf"\b(?:hat|haben|habe) (?:ich |wir )?(?:eine?n? )(?P<of>{_MANY}) (?:namens|der|die"
        rf"|das) (?:heißt )?{_NAME}(?: heißt)?",
        filled="yes",
    ),
    *GERMAN_PETS,
    Row(
        None,
        rf"\b{OWN}(?:{_ONE}|{_MANY}|{ANIMAL})(?: [A-ZÄÖÜ]\w+)? (?:ist|wird"
        r"|arbeitet|wohnt|lebt|hat"
        rf"|studiert|geht|kommt|spielt|mag|isst|trinkt|verträgt|macht|lernt|fährt|kann) .{{2,80}}",
    ),
    Row(
        "number of kinder",
        r"\b(?:ich bin|bin ich) (?:Vater|Mutter|Mama|Papa) von (?P<value>\w+) Kindern\b",
    ),
    Row(
        "number of {of}",
        r"\b(?:ich habe|habe ich|wir haben|haben wir) (?P<value>\d+|zwei|drei|vier|fünf|sechs"
        r"|keine) (?:\w+e )?(?P<of>(?i:kinder|söhne|töchter|katzen|hunde|brüder|schwestern"
        r"|geschwister|enkel|pferde|autos|hühner|kaninchen))\b",
    ),
    Row(
        None,
        r"\b(?:ich habe|habe ich|wir haben|haben wir) (?:jetzt "
        r"|seit \w+ )?(?:eine?n? )(?:\w+ ){0,2}(?i:hund|katze|kater|garten|auto|haus|wohnung|kind"
        r"|baby|sohn|tochter|pferd|klavier|balkon|boot|motorrad|wohnmobil|freundin|freund|schwester"
        r"|bruder|zwilling\w*|tattoo|führerschein)\b.*",
    ),
    # sizes and schools, mostly of children
    Row(
        "shoe size", rf"{_OTHER} (?:braucht|trägt|hat) {_NOW}Schuhgröße (?P<value>\d{{2}}(?:,5)?)\b"
    ),
    *(
        Row(
            attribute,
            rf"{_OTHER} (?:braucht|trägt|hat) {_NOW}(?:Kleider)?[Gg]röße (?P<value>{size})\b",
        )
        for attribute, size in (("shoe size", "[1-4]\\d"), ("size", "[5-9]\\d|1\\d\\d"))
    ),
    Row(
        "school",
        rf"{_OTHER} (?:geht|kommt|wechselt) {_NOW}(?:auf|in|an)(?: die| das| den|s) "
        r"(?P<value>[A-ZÄÖÜ][\w-]{0,30}(?:[Ss]chule|[Gg]ymnasium|[Kk]ita|[Kk]indergarten))\b",
    ),
    # health and food
    Row(
        "allergy to {value}",
        r"\ballergisch (?:gegen|auf) (?P<value>[A-ZÄÖÜ][\wäöüß-]+)",
        filled="yes",
    ),
    Row(
        "allergy",
        r"\b(?P<who>[A-ZÄÖÜ][\wäöüß]+|ich|wir) (?:hat|habe|haben) (?:leider "
        r"|seit \w+ )?(?:eine? )?(?:\w+ )?(?P<value>[A-ZÄÖÜ]?[\wäöüß]+allergie)\b",
    ),
    Row(
        "allergy",
        r"\b[Mm]eine (?P<value>[A-ZÄÖÜ][\wäöüß]+allergie) "
        r"(?:ist (?:\w+ )?(?:wieder da|zurück|schlimm\w*)|wird (?:\w+ )?schlimmer)\b",
    ),
    Row(
        "condition {value}",
        r"\b(?:ich habe|habe ich|ich leide an|leide ich an"
        r"|bei mir wurde) (?:seit \w+ )?(?P<value>Asthma|Diabetes|Migräne|Rheuma|Bluthochdruck"
        r"|Heuschnupfen|Neurodermitis|Epilepsie|ADHS|Zöliakie|Arthrose|Schlafapnoe|Depressionen"
        r"|Tinnitus|Endometriose)",
        filled="yes",
    ),
    Row(
        "intolerance to {value}",
        r"\bvertrage (?:ich )?(?:leider )?keine?n? (?P<value>[A-ZÄÖÜ]\w+)"
        r"|\b(?P<value2>(?i:laktose|gluten|histamin|fruktose))intoleran",
        filled="yes",
    ),
    Row(
        None,
        r"\b(?:ich nehme|nehme ich) (?=.{0,80}(?i:tablette|tropfen|täglich|jeden|morgens|abends"
        r"|gegen |mg\b|medikament|spray)).{3,80}",
    ),
    Row(
        "diet",
        r"\b(?:ich bin|bin ich|ernähre mich|ernähre ich mich|lebe|esse|ich esse) "
        + _SINCE
        + (
            r"(?P<value>[Vv]egan\w*|[Vv]egetari\w*|[Pp]escetari\w*|glutenfrei|ketogen|low carb"
            r"|halal|koscher)\b"
        ),
    ),
    Row(
        "intolerance to {value}",
        r"\bnicht (?P<value>(?i:laktose|gluten|histamin|fruktose))intolerant\b",
        filled="no",
        denies=True,
    ),
    Row(
        "eats {value}",
        r"\b(?:ich esse|esse ich|wir essen) " + _SINCE + r"keine?n? (?P<value>[A-ZÄÖÜ]?[\wäöüß]+)",
        filled="no",
        denies=True,
    ),
    Row(
        "eats {value}",
        r"\b(?:ich esse|esse ich) "
        + _SINCE
        + r"(?:(?:sehr |total )?gerne?|(?<=wieder )) ?(?P<value>[A-ZÄÖÜ]?[\wäöüß]+)",
        filled="yes",
    ),
    Row(
        "eats fleisch",
        r"\b(?:ich bin|bin ich|ernähre mich|lebe|ich esse) "
        + _SINCE
        + r"(?:[Vv]egan|[Vv]egetari)\w*",
        filled="no",
        denies=True,
    ),
    Row(
        "drinks {value}",
        r"\b(?:ich trinke|trinke ich) "
        + _SINCE
        + r"(?:sehr |jeden \w+ |viel |täglich )?(?:gerne? )?"
        r"(?P<value>Kaffee|Tee|Bier|Wein|Alkohol|Milch|Cola)\b",
        filled="yes",
    ),
    Row(
        "drinks {value}",
        r"\b(?:ich trinke|trinke ich) " + _SINCE + r"keine?n? (?P<value>[A-ZÄÖÜ]?[\wäöüß]+)",
        filled="no",
        denies=True,
    ),
    Row(
        "smokes",
        r"\b(?:ich rauche|rauche ich)(?: (?:seit (?:\w{1,15} )?\w{2,15}|wieder|noch|immer noch|viel"
        r"|täglich|leider|etwa|jetzt|auch)){0,3}(?=\Z|,| und\b| \d)",
        filled="yes",
    ),
    Row(
        "smokes",
        r"\b(?:ich rauche|rauche ich) (?:seit (?:\w{1,15} )?\w{2,15} )?nicht(?: mehr)?"
        r"(?! (?:mehr )?(?:im|in|am|auf|vor|nach|bei|beim|zu|drinnen|draußen|\w{4,10}s)\b)",
        filled="no",
        denies=True,
    ),
    # likes
    Row(
        "favourite {of}",
        r"\b(?:mein|meine) [Ll]ieblings-?(?P<of>[a-zäöüß]+) (?:ist|sind|heißt) " + _THING + r"\Z",
    ),
    Row(
        "opinion of {value}",
        _i("(?:mag|liebe)")
        + r"(?!kein|nicht)(?:(?:am liebsten|sehr|gern\w?|total|besonders|halt|echt|voll) ){0,4}"
        + _THING
        + _END,
        filled="likes",
    ),
    Row(
        "opinion of {value}",
        _i("(?:mag)") + r"(?:überhaupt |gar )?keine?n? " + _THING + _END,
        filled="dislikes",
        denies=True,
    ),
    Row(
        "opinion of {value}",
        _i("mag") + r"(?P<value>[^,;:!?]{2,40}?) (?:überhaupt |gar |leider )?nicht\b",
        filled="dislikes",
        denies=True,
    ),
    Row(
        "opinion of {value}",
        _i("(?:hasse|verabscheue)") + _THING + _END,
        filled="dislikes",
        denies=True,
    ),
    Row(
        "opinion of {value}",
        r"\A(?P<value>[A-ZÄÖÜ][\wäöüß-]+) (?:mag|esse|trinke) ich (?:überhaupt |gar )?nicht",
        filled="dislikes",
        denies=True,
    ),
    Row(
        None,
        r"\b(?:ich bevorzuge|bevorzuge ich|ich trinke am liebsten|ich esse am liebsten"
        r"|ich trinke (?:sehr )?gern|ich arbeite am liebsten|am liebsten \w+ ich"
        r"|ich fan\w? von) .{3,80}",
    ),
    # possessions, skills, habits, tools
    Row(
        "car", r"\b(?:ich fahre|fahre ich|wir fahren) (?:jetzt )?(?P<value>eine?n? .{2,40}?)" + _END
    ),
    Row(
        "car",
        rf"\b(?:[Dd]e[nr]|[Dd]as|[Mm]einen?|[Uu]nseren?) (?:\w+ )?(?P<value>{CAR})"
        r" (?:habe?|haben) (?:ich|wir)\b.{0,30} (?:verkauft|abgegeben|verschrottet|verschenkt)"
        r"|\b(?:ich habe?|habe? ich|wir haben|haben wir)\b.{0,30} (?:den|das|meinen?|unseren?)"
        rf" (?:\w+ )?(?P<value2>{CAR}) "
        r"(?:verkauft|abgegeben|verschrottet|verschenkt)",
        filled=_OVER,
    ),
    Row("car", rf"\b{MY} (?:neues )?Auto ist (?P<value>ein.{{2,40}})\Z"),
    Row(
        "speaks {value}",
        r"\b(?:ich spreche|spreche ich) (?:fließend |gut |auch |etwas )*(?P<value>[A-ZÄÖÜ]\w+isch"
        r"|Deutsch|Esperanto|Hindi|Farsi)",
        filled="yes",
    ),
    Row(
        "learning {value}",
        r"\b(?:ich lerne|lerne ich) " + _SINCE + r"(?P<value>[A-ZÄÖÜ]\w+isch|Deutsch)",
        filled="yes",
    ),
    Row(
        None,
        r"\b(?:ich lerne|lerne ich|ich spiele|spiele ich|ich sammle|sammle ich|ich singe|ich tanze"
        r"|ich male|ich trainiere) .{3,80}",
    ),
    Row(
        None,
        rf"\b(?:ich|wir) \w+ (?:mich |uns )?{_WHEN}\b.{{3,80}}|\b{_WHEN} (?:\w+ ){{0,3}}(?:\w+e"
        rf"|\w+en) (?:ich|wir)\b.{{0,80}}",
    ),
    Row(
        None,
        r"\b(?:wir|ich) (?:nutze|nutzen|verwende|verwenden|benutze|benutzen|deploye|deployen"
        r"|programmiere|programmieren|arbeiten mit|arbeite mit|entwickeln|hosten|bezahle|zahle"
        r"|zahlen|sind bei der|bin bei der) .{2,80}",
    ),
    Row(
        None,
        r"\b(?:mein|unser|meine|unsere)(?: \w+)? (?i:hobby|hobbys|projekt|backend|frontend|server"
        r"|datenbank|team|firma|hochzeit|urlaub|laptop|rechner|handy) (?:ist|sind|läuft|heißt|liegt"
        r"|besteht|hat|findet|beginnt|geht) .{2,80}",
    ),
    Row(
        "{of}",
        r"\b(?:mein|meine|unser|unsere) (?:neue[rs]? )?(?P<of>(?i:budget|adresse"
        r"|\w{2,20}nummer|schuhgröße|kleidergröße|blutgruppe|miete|gehalt|wlan-passwort|passwort|e-mail-adresse"
        r"|konfektionsgröße|größe|gewicht|zeitzone|deadline"
        rf"|abgabetermin))(?:{_FOR_WHAT.format('what')})? (?:ist|lautet|beträgt|liegt bei"
        rf"|sind) (?P<value>.{{1,60}}?)(?:{_FOR_WHAT.format('what2')})?\Z",
    ),
    # plans
    Row(
        None,
        rf"\b(?:am|ab dem|vom|im|nächste[nrs]? (?i:woche|monat|jahr|{ANY_GERMAN_WEEKDAY})"
        r"|übermorgen|in (?:zwei|drei|vier) Wochen)\b.{0,30}\b(?:habe|haben|fliege|fliegen|fahre"
        r"|fahren|ziehe|ziehen|heirate|heiraten|beginne|fange|muss|bekomme|bekommen|kommt|findet"
        r"|operiert|reise|reisen) .{3,80}",
    ),
    Row(
        None,
        r"\b(?:ich habe|habe ich|wir haben|ich fliege|wir fliegen|ich fahre|wir fahren|wir heiraten"
        rf"|ich heirate|ich werde) .{{0,40}}\b(?:am \d|im (?i:{ANY_GERMAN_MONTH})|nächste[nrs]? \w+"
        r"|übermorgen)\b.{0,60}",
    ),
)
"""Rows in the order in which they are tried; several may match a clause."""
GERMAN = ClauseLanguage(
    rows=_ROWS,
    unasserted=re.compile(
        r"\b(?:würde|würden|hätte|hätten|wäre|wären|könnte|könnten|sollte ich|soll ich|kann ich"
        r"|wenn|falls|ob|vielleicht|angenommen|stell dir vor"
        r"|traum|geträumt|sagte|sagt|meint|schrieb|glaube|überlege|möchte|will|wollte)\b",
        re.IGNORECASE,
    ),
    denied=re.compile(r"\b(?:nicht|kein\w*|nie|niemals|nichts)\b", re.IGNORECASE),
    later=re.compile(
        rf"\b(?:ab|vom) (?:dem )?(?:nächste[mnr]?|kommende[mnr]?|morgen|{ANY_GERMAN_MONTH}"
        rf"|{ANY_GERMAN_WEEKDAY}|\d{{1,2}}\.)|\bnächste[nrs]? (?:woche|monat|jahr|sommer|winter"
        r"|frühjahr|herbst)\b|\bbis dahin\b",
        re.IGNORECASE,
    ),
    another=re.compile(
        r"\A(?!.*\b(?:ich|wir|mir|mich|uns)\b)(?:(?:meine?|unsere?|der|die"
        r"|das) )?(?P<other>\S+(?: \S+){0,4}?)"
        r" (?:ist|war|hat|hatte|wird|wurde|leidet|bekam|bekommt|kommt|lebt|wohnt|arbeitet)\b",
        re.IGNORECASE,
    ),
)
_ASKS = re.compile(
    r"(?:kannst|könntest|hast|weißt|kennst|magst|willst|würdest|bist|soll|sollte|was|wie|wo|wer"
    r"|welche\w*|warum|wann|gibt es|hättest)\b",
    re.IGNORECASE,
)
_PARTS = re.compile(
    rf"\s(?:und|aber)\s(?=(?:will|möchte|muss|würde)\b)|(?:,(?!(?<=\d,)\d)|[;:–()])\s{{0,3}}(?:und\s(?={GERMAN_VERB}))?|\s(?:und|aber)\s(?={GERMAN_VERB})"
    r"|\s(?:und|aber|denn|weil|deshalb|daher)\s(?=(?:ich|wir|mein|meine|unser|unsere"
    r"|er|sie|jeden)\b)",
    re.IGNORECASE,
)
_BUT = re.compile(
    r" nicht(?: mehr)? (?:in|bei|aus|als|am|beim) [^,.;:!?]{2,40}, sondern (?=(?:in|bei|aus|als|am"
    r"|beim) )"
)
"""A correction: "nicht in Köln, sondern in Bonn" says Bonn."""
_SMALL = re.compile(
    r"(?:Ich|Wir|Mein\w*|Unser\w*|Seit|Am|Im|Bin|Jeden|Habe|Meistens|Nächste\w*|In|Ab|Und|Aber|Ja"
    r"|Also|Übrigens|Leider|Hallo|Hi|Montags|Sonntags)\b"
)
_GERMAN_WORDS = """
    ich und der die das ist wir mein meine ein eine einen nicht habe bin im für mit unser unsere hat
    heißt wohne arbeite mag kein keine seit zum zur dem den auf aus nach bei jeden immer auch sind
    haben meinem meiner trinke esse gern gerne sehr mir wurde jetzt braucht trägt geht kommt wohnt
    arbeitet
"""
_GERMAN = frozenset(_GERMAN_WORDS.split())
_ENGLISH = frozenset(
    [
        "the",
        "is",
        "my",
        "i",
        "and",
        "of",
        "to",
        "with",
        "have",
        "for",
        "at",
        "it",
        "that",
        "are",
        "a",
        "we",
        "our",
        "his",
        "her",
    ]
)


@keep_texts(1_024)
def is_german(text: str) -> bool:
    """Whether a sentence has more small words of German than of English."""
    plain_words = [word.strip(".,;:!?()\"'").casefold() for word in text.split()]
    german = sum(word in _GERMAN for word in plain_words)
    return german > sum(word in _ENGLISH for word in plain_words)


_DEPENDS = re.compile(
    r"\Aals\b|\b(?:wenn|falls|weil|dass|ob|obwohl|während|nachdem|bevor|bis|damit|sobald|solange)\b",
    re.IGNORECASE,
)


def clauses(sentence: str, *, asks: bool) -> list[str]:
    """Split a sentence into clauses; of a question only those before the last.

    A clause that begins with a function word begins with a small letter. A clause about the subject
    of the clause before gets it: "ich heiße Ina, bin 38" has "ich bin 38".

    Args:
        sentence: The sentence.
        asks: Whether it is a question.

    """
    whole = _BUT.sub(" ", sentence).rstrip(" .!")
    parts = [part.strip() for part in _PARTS.split(whole) if part.strip()]
    written = german_clauses(parts, _depends)
    statements = written[:-1] if asks else written
    return [
        part[:1].lower() + part[1:] if _SMALL.match(part) else part
        for part in statements
        if not _ASKS.match(part)
    ]


def _depends(clause: str) -> bool:
    return bool(_DEPENDS.search(clause) or GERMAN.unasserted.search(clause))
