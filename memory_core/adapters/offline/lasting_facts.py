"""Extract lasting facts that people state beside a question, and estimate how durable they are.

A lasting fact is a habit, a relative, a possession, a circumstance: "Our dog Biscuit is a whippet,
does she need a coat?" A sentence is cut where it begins to ask or to request, and the rest is the
fact, word for word. English, German, Japanese. Note: left out are moods, wishes, guesses and other
states that pass by themselves, matters of the moment, statements that begin with a pronoun which
only the sentence before explains, and statements that a model of durable sentences finds improbable
(`durability`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory_core.adapters.offline.german_facts import is_german
from memory_core.adapters.offline.japanese_facts import is_japanese
from memory_core.domain.statements.durability import durability
from memory_core.domain.text.spelling import ANY_GERMAN_WEEKDAY, ANY_MONTH, ANY_WEEKDAY

LEAST, MOST = 8, 260
"""Characters of a lasting fact."""
LEAST_DURABLE = 0.3
"""Probability of a durable sentence below which the sentence has no lasting fact."""


@dataclass(frozen=True, slots=True)
class _Language:
    """The expressions of a language by which lasting facts are recognised.

    Attributes:
        parts: Where a sentence is cut.
        asks: The beginning (in Japanese the end) of a part that asks.
        own: Words about the speaker.
        lasts: Words for a state or a habit.
        passes: Words for something that passes by itself.
        related: A person's name beside the relation to the speaker.

    """

    parts: re.Pattern[str]
    asks: re.Pattern[str]
    own: re.Pattern[str]
    lasts: re.Pattern[str]
    passes: re.Pattern[str]
    related: re.Pattern[str]


_KIN = (
    "wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|mother|mom|mum|father|dad|stepmum"
    "|stepmom|stepdad|stepfather|stepmother|sister|brother"
    "|son|daughter|kids?|children|child|baby|twins?|youngest|oldest|eldest|grandmother|grandma|gran"
    "|nana|grandfather|grandpa|aunt|uncle|cousin|niece"
    "|nephew|(?:mother|father|sister|brother|son|daughter)-in-law|in-laws|parents|boss|manager"
    "|supervisor|advisor|landlord|landlady|colleague|coworker"
    "|roommate|flatmate|neighbou?r|friend|doctor|dentist|therapist|trainer|coach|teacher|dog|cat"
    "|puppy|kitten|horse|rabbit|hamster|parrot|tortoise|pet"
    "|other half|lodger|tenant|caretaker|accountant|lawyer|babysitter|nanny|cleaner|hairdresser"
    "|tutor|mentor|godson|goddaughter|ex"
)
_WHEN = (
    rf"(?:(?:{ANY_WEEKDAY})s?|{ANY_MONTH}"
    r"|the \d|\d|noon|next (?:week|month|year|spring|summer|autumn|fall|winter)|q[1-4]\b|every)"
)
_EVENT = (
    "report|deadline|wedding|party|meeting|standup|stand-up|conference|launch|release|exam|test"
    "|class|lesson|course|training|practice|appointment|flight|interview|presentation|review|demo"
    "|concert|match|race|trip|move|delivery|surgery|birthday|anniversary|dinner|retro|sync|workshop"
    "|essay|thesis|assignment|homework|rent|bill|invoice|payment|sprint|ceremony|funeral|festival"
    "|shift|visit|tournament|recital|rehearsal|reunion|barbecue"
)
_ARRANGED = (
    # an event with its time, a thing with its place or person: "the report is due on Friday",
    # "it is led by Nadia"
    rf"\A(?:[Tt]he|[Hh]er|[Hh]is) (?:[\w'-]+ ){{0,3}}(?:{_EVENT}) (?:is"
    r"|are) (?i:(?:due |planned |scheduled |set |booked )?"
    rf"(?:on |at |for |by |in )?{_WHEN})"
    r"|\A[Tt]he (?:[\w'-]+ ){1,3}(?:(?:is|are) (?:led|run|hosted|managed|owned|taught|organi[sz]ed"
    r"|sponsored|maintained) (?:by|on|at) [A-Z]"
    r"|takes place (?:in|on|at)\b"
    r"|(?:room|venue|location|contact|caterer|photographer|coach"
    r"|teacher) is [A-Z][a-z]{2,20}\Z)|\A[Tt]he (?:kids|children|twins|boys|girls) (?:have|go|share"
    r"|play|take|attend)\b"
    r"|\A(?:Grandpa|Grandma|Granny|Mum|Mom|Dad)(?:'s)? (?:is |in )|\bcosts? (?i:me|us)\b"
    r"|\A[Tt]he (?:code|combination|password) (?:for|to|of) the [\w' -]{2,30} is"
    r"|\A(?:The )?[\w' -]{2,30} (?:code|combination|password) is \S{0,20}\d"
    # what recurs, and what something costs: "pub quiz is on Wednesdays", "the hall costs 80 euros"
    rf"|\A[\w' -]{{2,40}} (?:is|are|meets|takes place|starts|comes) (?:on |every )"
    rf"(?i:(?:{ANY_WEEKDAY})s?)\b"
    r"|\A[\w' -]{2,40} costs? [€$£]?\d"
    r"|\A[\w' -]{2,40} (?:is|are) (?:[€$£]\d|\d[\d.,]{0,8} ?(?i:euros?|pounds?|dollars?|quid|€)\b)"
    r"|\A[Tt]he [\w' -]{2,30} (?:should|will) be (?:done|ready|finished|open) (?:by|in|on|at)\b"
)
_UNDERTAKING = (
    "buy|learn|become|study|visit|travel|move|live|retire|quit|give up|adopt|build|sell|apply|enrol"
    "|enroll|marry|get married|open|train|renovate|emigrate|have (?:a baby|another (?:baby|child))"
    "|be an?"
)
"""Verbs of acts that take weeks or are for good: a plan to do them is a state of its own."""
_UNDER_WAY = (
    "living|working|studying|learning|expecting|training|saving|getting married|moving|renting"
    "|retiring|planning(?! to (?:ask|say|reply|write))|renovating|restoring|building|reading|using"
    "|writing(?! (?:an? )?(?:\\w+ )?(?:e-?mail|message|letter|card|reply|note|post|this|to)\\b)"
    "|taking(?! an?\\b)|staying|dating|seeing|teaching|running|organi[sz]ing|raising|growing"
    "|subscribing|volunteering|paying|caring|commuting|playing|practi[sc]ing"
    rf"|(?:going|looking) to (?={_UNDERTAKING})"
    "|having (?:the|our|a) (?:\\w+ )?(?:party|wedding|dinner|barbecue|baby|reunion|ceremony"
    "|meeting)"
)
"""What a person does for weeks."""
_ENGLISH = _Language(
    parts=re.compile(
        r"(?<=[,;:!?.)])\s+|\s[–—-]{1,2}\s|\s(?=(?:so|but|and) (?:what|how|which|is|are|can|could"
        r"|would|do|does)\b)",
        re.IGNORECASE,
    ),
    asks=re.compile(
        r"(?:(?:so|and|but|now|then|also|ok|okay|btw|hi|hey|hello|well"
        r"|quick question)\b[,:]?\s*){0,3}(?:what|whats|how|why|when|where|which|who|whose|is|are"
        r"|am i|do|does|did|can|could|would|will|should|shall|may|any|got any|have you|has anyone"
        r"|please|pls|help|give|tell|write|suggest|recommend"
        r"|explain|remind|find|show|let's|lets|translate|summari[sz]e|draft|compare|list|another"
        r"|something|thoughts|ideas|thanks|thank you|wondering)\b",
        re.IGNORECASE,
    ),
    own=re.compile(
        rf"{_ARRANGED}|\b(?:I|(?i:im|ive|my|our|we|mine|at home)|us)\b"
        rf"|\b(?i:my|our)\s(?:\w+\s)?(?:{_KIN})\b|(?:\A|[:,]\s)(?!User|Assistant"
        r"|System)[A-Z][a-zà-ÿ]+(?:'s)? (?:is|has|can't|cannot|doesn't|does not|loves|hates"
        r"|likes|lives|works"
        r"|plays"
        r"|needs|eats|drinks|speaks|goes|turned)\b"
    ),
    lasts=re.compile(
        r"\b(?:am|is|are|has|have|own|owns|keep|keeps|run|runs|live|lives|work|works|use|uses|play"
        r"|plays|go|goes|drive|drives|speak|speaks|study|studies|teach"
        r"|teaches|collect|collects|eat|eats|drink|drinks|cook|cooks|bake|bakes|prefer|prefers"
        r"|avoid|avoids|wear|wears|sleep|sleeps|wake|wakes|get up|gets up"
        r"|sing|sings|paint|paints|read|reads|train|trains|swim|swims|hike|hikes|cycle|cycles|climb"
        r"|climbs|commute|commutes|volunteer|volunteers|rent|rents|smoke|smokes|coach|coaches|vape"
        r"|vapes|jog|jogs|dance|dances|meditate|meditates|knit|knits|ski|skis"
        r"|earn|earns|weigh|weighs|manage|manages|foster|fosters|bike|bikes"
        r"|(?:should|will) be|takes place|led|hosted|held|due|comes (?:on|every|in)|ship with"
        r"|deploy to|host|hosts"
        r"|order|orders|get (?:my|our|all)|buy|buys|share|shares|pay|pays|bank|like|likes|love"
        r"|loves|hate|hates|enjoy|enjoys|support|supports|follow|follows|attend|attends|practise"
        r"|practice|grow|grows"
        r"|deploy|deploys|subscribe|visit|visits|can't|cannot|can not|don't|doesn't|do not|does not"
        r"|never|always|usually|every|used to|gave up|given up|quit"
        r"|switched|moved|left \w+ for|lost (?:my|our|[A-Z])|adopted|inherited|got married"
        r"|got divorced|divorced|separated|broke up|retired|was born|grew up|diagnosed|rebuilt"
        r"|had (?:surgery|a stroke|an operation)"
        r"|'m|'re|'ve|'s|im|into|allergic|intolerant|turned|starts|begins|expecting|take|takes"
        r"|do mine|born|want|wants|plan|plans|sit|sits|stay|stays|cost|costs|end|ends"
        r"|sees? (?:my|our|an?) [\w' -]{3,40} (?:every|each|once|twice|on)|get paid"
        r"|put (?:me|us|him|her) on|meet (?:at|on|every)|owe|owes|chair|captain|breed|lease|sublet"
        r"|moderate|ride|rides|walk to|walks to)\b"
        r"|\A(?:my|our) (?:[a-z'-]{2,20} ){1,2}(?!(?:as|is|was|this|his|its|yes)\b)[a-z]{2,20}s\b",
        re.IGNORECASE,
    ),
    passes=re.compile(
        rf"\b(?:i'm|im|we're|i am|we are) (?!(?:{_UNDER_WAY})\b)\w+ing\b|"
        r"\b(?:got|have|has|had) an? (?:[\w'-]{1,30} )?going\b|"
        r"\bas \w{2,12} as\b|\b(?:it|that|this|these|those)(?: too)?\Z|\bthat (?:idea|sounds|works"
        r"|one)\b|"
        r"\b(?:code(?! (?:for|to|of) the\b| is \d)|status|function|script|loop|variable|regex"
        r"|crash\w*|returns|prints|throws|undefined"
        r"|train of thought|i'd|we'd|found|never mind|today|tonight|yesterday"
        r"|this (?:morning|afternoon|evening|minute)|last night|just now|right now|at the moment"
        r"|a minute|for now|currently trying"
        r"|in a hurry|trying to|try to|wanna"
        rf"|looking (?:for|to(?! (?:{_UNDERTAKING})\b)|at)|want to(?! (?:{_UNDERTAKING})\b)"
        r"|need (?:to|a|an|some|help|your)|have to|has to|got to|gotta|going to (?:ask|try|say)"
        r"|think|guess|maybe|perhaps"
        r"|probably|wonder(?:ing)?|hope|wish|would|could|might|should(?! be (?:done|ready|finished"
        r"|open)\b)|if|sure|sorry|mean|kidding"
        r"|joking|laughing|lol that|tired|bored|hungry|thirsty|confused|stuck|lost here|happy|sad"
        r"|glad|grateful|thankful|blessed|loved ones|come (?:so far|a long way)"
        r"|means? (?:so much|a lot|the world)|excited|worried|curious|stressed|busy|angry|annoyed"
        r"|(?<!\bmy )(?<!\bour )(?<!\bhis )(?<!\bher )back|here|done|ready|question|questions"
        r"|idea what|no idea"
        r"|don't (?:know|get|understand|see|think|care|worry|want|mind|have time)"
        r"|doesn't (?:work|make sense|matter|help)|error|exception|traceback|imagine|pretend"
        r"|suppose|dream(?:t|ed)?|film|movie|novel|story|character|the hero|said|says|told me"
        r"|asked|wrote|heard|got an? (?:error|message|email)|you|your"
        r"|it's (?:fine|ok|okay|great|good|true|been|not|a|so|too|just|all|like)|that's|this is"
        r"|there's|there is|there are)\b",
        re.IGNORECASE,
    ),
    related=re.compile(
        rf"\b[Mm]y (?:\w+ ){{0,2}}(?:{_KIN}),? (?!I\b)[A-ZÀ-Þ][a-zà-ÿ]+\b"
        rf"|\b[Oo]ur (?:\w+ ){{0,2}}(?:{_KIN}),? (?!I\b)[A-ZÀ-Þ][a-zà-ÿ]+\b"
        r"|\b(?:Dr\.? |Mr\.? |Mrs\.? |Ms\.? )?(?!I\b)[A-ZÀ-Þ][a-zà-ÿ]+, (?:my"
        rf"|our) (?:\w+ ){{0,2}}(?:{_KIN})\b"
        r"|\A(?:Dr\.? |Mr\.? |Mrs\.? |Ms\.? )?(?!(?:I|This|That|It|He|She|Here|There|Who|What"
        r"|Everyone|Everybody|Someone|Nobody)\b)"
        r"[A-ZÀ-Þ][a-zà-ÿ]+(?: is|'s) (?:my|our)"
        rf" (?:\w+ ){{0,2}}(?:{_KIN})\b"
    ),
)
_VERWANDT = (
    "Frau|Mann|Ehemann|Ehefrau|Partner(?:in)?|Freund(?:in)?|Mutter|Mama|Vater|Papa|Eltern|Schwester"
    "|Bruder|Sohn|Tochter|Kind(?:er)?|Kleine[rn]?|Oma|Opa|Großeltern"
    "|Tante|Onkel|Cousine?|Nichte|Neffe|Schwager|Schwägerin|Schwieger\\w+|Chef(?:in)?"
    "|Vermieter(?:in)?|Kolleg(?:e|in|en)|Nachbar(?:in|n)?|Hausarzt|Hausärztin|Zahnarzt"
    "|Zahnärztin|Therapeut(?:in)?|Hund|Hündin|Katze|Kater|Pferd|Patenkind|Patentochter|Patensohn"
    "|Enkel(?:in)?|WG|Mitbewohner(?:in)?|Ex"
)
_EREIGNIS = (
    "Hochzeit|Training|Abgabe|Abgabetermin|Frist|Termin|Besprechung|Meeting|Feier|Fest|Party"
    "|(?:[A-Z][a-zäöüß]{1,20})?[Gg]eburtstag|Prüfung"
    "|Klausur|Kurs|Probe|Konferenz|Release|Server|Budget|Eintritt|Beitrag|Flug|Umzug|Reise|Urlaub"
    "|OP|Turnier|Konzert|Sitzung|Lieferung|Projekt|Vortrag|Workshop"
)
_VORHABEN = (
    r" [^.!?]{0,60}(?:(?<=nach )[A-ZÄÖÜ][a-zäöüß-]+|\b(?:kaufen|lernen|werden|heiraten|studieren"
    r"|(?:um|weg|aus|zusammen)?ziehen|anschaffen|verkaufen|bauen|auswandern|reisen|aufhören"
    r"|adoptieren))[.!]?\Z"
)
"""The end of a plan that takes weeks or is for good: a place to go to, or such a verb."""
_GESUCHT = r" [^.!?]{0,40}\b(?:\w*wohnung|haus|stelle|job|arbeit|praktikum|kita\w*)\b"
_GERMAN = _Language(
    parts=re.compile(r"(?<=[,;:!?.)])\s+|\s[–—-]{1,2}\s"),
    asks=re.compile(
        r"(?:(?:also|und|aber|dann|jetzt|nun|übrigens|oder|so|hallo|hi|hey|kurze frage|danke"
        r"|ok)\b[,:]?\s*){0,3}(?:was|wie|wer|wo|wann|warum|wieso|weshalb|welche\w*|womit|wofür"
        r"|wieviel"
        r"|kannst|könntest|kann|können|gibt es|gibts|gibt's|hast|habt|hättest|ist das|ist es|geht"
        r"|brauche? ich|muss|müssen|darf|soll|sollte|bitte|schreibe?|gib|zeig|hilf|erklär|sag|mach"
        r"|such|empfiehl|nenn|übersetz|formulier|weißt|kennst|fehlt|reicht|lohnt|passt|stimmt|duz"
        r"|erstell|hab ich|irgendwelche|irgendeine)\b",
        re.IGNORECASE,
    ),
    own=re.compile(
        rf"\A(?:Der|Die|Das) (?:{_EREIGNIS}) (?:(?:ist|liegt|beginnt|startet|endet|läuft|findet"
        rf"|fängt)"
        rf" (?:am|um|im|in|bei|der|den|unter|auf|(?:{ANY_GERMAN_WEEKDAY})s|statt)\b|kostet \d)"
        r"|\A(?:(?:Der|Die|Das) )?[A-ZÄÖÜ][\w-]{2,30} (?:(?:ist|sind|trifft sich|probt|läuft"
        rf"|findet) (?:immer |jeden )?(?:{ANY_GERMAN_WEEKDAY})s?\b|kostet \d|kosten \d)"
        r"|\b(?:Termin|Treffen|Miete)\b|\b(?i:ich|wir|mein\w*|unser\w*|mir|mich|uns)\b"
        rf"|\b(?:{_VERWANDT})\b|\A(?:Hab|Bin|Wohne|Arbeite|Trinke|Esse|Fahre)\b"
        r"|\A(?!(?:Das|Es|Der|Die|Dies\w*|Was|Hier|So|Er|Sie|Man|Wer|Alles"
        r"|Nichts)\b)[A-ZÄÖÜ][a-zäöüß]+ (?:ist|hat|mag|isst|trinkt|wohnt|lebt|arbeitet|geht|spielt"
        r"|kann|verträgt|lernt|heißt|bekommt)\b"
    ),
    lasts=re.compile(
        r"\b(?:bin|ist|sind|hab|habe|hat|haben|heißt|heiße|wohne|wohnt|wohnen|lebe|lebt|leben"
        r"|arbeite|arbeitet|arbeiten|esse|isst|essen|trinke|trinkt|trinken|mag|mögen|liebe|liebt"
        r"|hasse|hasst|spiele|spielt|spielen|sammle|sammelt|fahre|fährt|fahren|gehe|geht|gehen"
        r"|nehme|nimmt|nutze|nutzt|nutzen|verwende|verwenden|lerne|lernt|studiere|studiert|spreche"
        r"|spricht|sprechen|rede|redet|reden|lese|liest|koche|kocht|stricke|strickt|nähe|näht|singe"
        r"|singt|male|malt|züchtet|züchte|halte|hält|führe|führt|besitze|vertrage|verträgt|kann"
        r"|liegt|kostet|kosten|fängt|wiege|wiegt|rauche|raucht|trage|trägt|heize|heizt|heizen|plane"
        r"|planen"
        r"|setzen|treffen|treffe|beginnt|startet|endet|beziehe|beziehen|bestelle|bestellen|verdiene"
        r"|verdient"
        r"|laufe|läuft|schwimme|steht|stehe|schläft|schlafe|zahle|zahlt|kommt|komme|fliege|flieg"
        r"|fliegt|findet|heirate|heiraten|ziehe|ziehen|erwarte|erwarten|bekommt|gibts|gibt"
        r"|möchten?|will|wollen|suchen?|aufgegeben|aufgehört|gezogen|gewechselt|umgestiegen|geboren"
        r"|aufgewachsen|verheiratet"
        r"|geschieden|getrennt|adoptiert|operiert|bekommen|Jahrgang|immer|nie|jeden|jede|deployt"
        r"|deployen)\b"
        r"|\A(?:ich [a-zäöüß]{2,20}e|wir [a-zäöüß]{2,20}en"
        r"|(?:mein|unser)\w{0,2} [a-zäöüß]{2,20} (?:[a-zäöüß]{2,20} )?[a-zäöüß]{2,20}t)\b",
        re.IGNORECASE,
    ),
    passes=re.compile(
        r"\b(?:hab|habe|haben|hast)\b.{0,60}\b(?:vergessen|gesehen|gelesen|gegessen|gemacht|gekauft"
        r"|gehört|gefunden|versucht|getrunken|geschlafen|gedacht)\b|"
        r"\b(?:heute|gestern|morgen früh"
        r"|(?<!\blese )(?<!\blerne )(?<!\bbauen )(?<!\bsanieren )gerade|gleich|eben|vorhin|würde"
        r"|würden"
        rf"|(?:möchten?|will|wollen)(?!{_VORHABEN})|suchen?(?!{_GESUCHT})"
        r"|könnte|hätte|wäre|wenn|falls|vielleicht|glaube|denke|meine,|hoffe|überlege"
        r"|versuche|brauche|brauchen|müsste|weiß nicht|verstehe|keine ahnung|müde"
        r"|langweilig|hungrig|stress|traurig|froh|gespannt|sicher|fertig|fehler|du|dir|dich|dein\w*"
        r"|film|roman"
        r"|geschichte|sagte|sagt|meinte|schrieb|geträumt|stell dir)\b",
        re.IGNORECASE,
    ),
    related=re.compile(
        rf"\b(?i:mein\w{{0,2}}|unser\w{{0,2}}) (?:\w+ )?(?:{_VERWANDT}),? [A-ZÄÖÜ][a-zäöüß]+\b"
        rf"|\b(?:Frau |Herr |Dr\. ){{0,2}}[A-ZÄÖÜ][a-zäöüß]+ ist (?:übrigens )?(?:mein\w{{0,2}}"
        rf"|unser\w{{0,2}}) (?:\w+ )?(?:{_VERWANDT})"
    ),
)
_PLANS_IN_JAPANESE = """
    行き 住み 飼い 買い になり 習い 始め 学び 登り 開き 辞め やめ 建て 留学し 移住し 旅行し 結婚し
"""
_NO_PLAN = "".join(f"(?<!{verb})" for verb in _PLANS_IN_JAPANESE.split())
"""Not after the verb of a plan that takes weeks or is for good."""
_JAPANESE = _Language(
    parts=re.compile(
        r"(?<=[、。！!])|(?<=んだけど)|(?<=んですけど)|(?<=ですけど)|(?<=んですが)|(?<=ますが)"
        r"|(?<=ですが)|(?<=ので)(?=[^、])"
    ),
    asks=re.compile(
        r"(?:か|かな|かね|の|は|って|？|\?|ください|下さい|教えて(?:ください)?|考えて"
        r"|お願い(?:します)?|ほしい|欲しい|でしょう"
        rf"|{_NO_PLAN}たい(?:です|んです|んだけど|んですが|な)?"
        r"|だろう|どう|探して(?:る|ます|いる)(?:みたい)?|して|みて|作って|書いて|訳して|まとめて"
        r"|出して)[。、！!笑w…]*\Z"
    ),
    own=re.compile(
        r"私|僕|俺|うち|我が家|自分|妻|夫|旦那|嫁|父|母|両親|祖父|祖母|兄|姉|弟|妹|息子|娘|長男"
        r"|長女|次男|次女|子ども"
        r"|子供|孫|彼女|彼氏|友人|友達|親友|上司|同僚|先輩|後輩|実家|犬|猫|飼|ペット|趣味"
        r"|アレルギー"
        r"|花粉症|持病|手術|仕事|職場|会社|勤|大学|高校|毎朝|毎日|毎晩|毎週|毎月|週に|いつも|普段"
        r"|歳|年生|さん|ちゃん|くん|住"
        r"|加入|契約し|通勤|通学|通って|タバコ|お酒|時給|バイト|よく行|予定です|で連絡し|予算"
        r"|締め切り"
        r"|薬|妊娠|ジム|教室|家賃|体重|会議|習い事|引っ越|予約|結婚|離婚|出身|誕生日|車|家計簿|はやめて"
        r"|に夢中|を使って|で働|派です|苦手|好き|嫌い|習|\A[一-龯]{2,3}は"
        r"|\A[^、。]{1,20}[をにへでと][^、。]{1,12}(?:てい?ます|ている|てる|ます|たいです)\Z"
        r"|\A(?P<topic>[一-龯ァ-ヶー]{2,8})は(?!(?P=topic)です)[^、。]{1,15}です\Z"
        r"|\A[一-龯ァ-ヶーぁ-ん]{1,8}は(?:[^、。]{0,8}の)?[^、。]{0,6}\d{1,2}(?:時|月|日)"
    ),
    lasts=re.compile(
        r"(?:です|ます|ません|ない|てる|ている|ています|てて|ていて|んで|いで"
        r"|(?:引っ越し|妊娠し|転職し|結婚し|離婚し|退職し|入社し|入学し|卒業し|始め|始まり|やめ|辞め"
        r"|生まれ|亡くな|手術し|診断され|になり|なくな|変わ)(?:まし|っ)?た|中|年目|なので|ので|から"
        r"|けど|が|し|で|だ|んです|んだ|ある|あり|いる|おり|る)(?:ね|よ|よね|んですよね|んですけど"
        r"|んだけど|んですが|が|けど|笑)?[、。！!]*\Z"
    ),
    passes=re.compile(
        r"今日|昨日|さっき|(?:待っ|探し|向かっ|迷っ|困っ)て|並んで|今から|疲れ|眠い|眠た|お腹|忙し"
        r"|暇|エラー|バグ|もし|たら|なら|かもしれ"
        rf"|と思|{_NO_PLAN}たい"
        r"|つもり|だろう|でしょう|らしい|みたい|夢(?!中)|つきで|」って|映画では|小説"
        r"|アニメ|ドラマ|って言|と言|笑った|ありがとう|すみません|なるほど|冗談|「"
    ),
    related=re.compile(
        r"(?:妻|夫|父|母|兄|姉|弟|妹|息子|娘|長男|長女|友人|同僚|上司|犬|猫|柴犬|愛犬"
        r"|うちの\w{1,6})の[一-龯ぁ-んァ-ヶ]{2,6}(?=[、。はがもにをと])"
    ),
)


_MATTER = re.compile(
    # a task at hand, a thing in sight, words that point
    r"\b(?:files?|folders?|columns?|rows?|paragraphs?|sentences?|chapters? \d|page \d+|step \d+"
    r"|item \d+|level (?:again|\d+)|line \d+"
    r"|(?:second|third|first|last|next) (?:chapter|part|one|option|step)|syntax|bugs?|endpoints?"
    r"|buttons?|quer(?:y|ies)|test suite"
    r"|options?\b(?! trad)|suggestions?|of (?:these|those|them)|these two|both of"
    r"|how (?:this|that|it)|(?:this|that) way"
    r"|this (?!is\b|year|month|summer|semester|term|spring|winter|autumn|fall|city|town|village"
    r"|country|house|flat|street|company|job)\w+"
    r"|(?:these|those) (?!days|weeks|months|years|summers|winters)\w+"
    r"|formulas?|cell [A-Z]\d|links?|(?:my|the|our) (?:essay|proof|text|draft|paper|character"
    r"|email)|too (?:long|short)|(?:my|our) words"
    r"|speak for|play along|when I say|thought"
    # states of minutes or hours
    r"|in (?:an?|half an|\d+|five|ten|fifteen|twenty|thirty|a few|two|three) (?:min(?:ute)?s?"
    r"|hours?|hour|seconds?|sec)\b"
    r"|takes? \d+ (?:seconds?|minutes?)|(?:minutes?|hours?|seconds?) left"
    r"|batter(?:y|ies)|wi-?fi(?! is from\b)|(?:is|are|was) (?:so |very |really |still "
    r"|already )?(?:late|down"
    r"|slow"
    r"|red now|broken|loading|asleep|ringing|calling|asking|waiting|crying|barking|frozen|empty"
    r"|full)|just (?:walked|came|left|called)"
    r"|one sec|ran? out of|runs? out of|ugh|finally|again|(?:i|we) read that|never thought"
    r"|no longer see|then(?=[.,!]?\Z)|on page"
    r"|stop at)\b",
    re.IGNORECASE,
)
_MATTER_GERMAN = re.compile(
    r"\b(?:Variante|Möglichkeit(?:en)?|Option(?:en)?|Vorschlag|Vorschläge|Datei(?:en)?|Ordner"
    r"|Absatz|Absätze|Seite \d+|Zeile|Spalte|Satz|Kapitel|Link|(?:mein|der|unser) Text"
    r"|zu (?:lang|kurz)"
    r"|Helden?|Hauptfigur|keine Zeit"
    r"|(?:bin|sind|ist) jetzt (?:im|in|am|auf|beim)|(?:meine|die|unsere|diese) Frage|Verspätung"
    r"|Akku|Drucker|WLAN|Internet|Rechner|schon wieder|immer noch|dann mal|gleich"
    r"|hier|funktioniert nicht|geht nicht|diese[nmrs]? (?!Jahr|Monat|Sommer|Semester|Stadt"
    r"|Firma))\b",
    re.IGNORECASE,
)
_MATTER_JAPANESE = re.compile(
    "この(?!辺|街|町|会社|家)|その|それ|これ|あれ|質問|コード|ファイル|文章|遅れ|電車が|バスが|番目"
    "|案が|続き|動きません|動かない"
    "|エラー|ちょっと|から電話|今、|主人公|キャラ|分しか|時間がな|トイレ|資料を|宿題を"
)


_NEEDS_CONTEXT = re.compile(
    r"\A\W{0,9}(?:(?:and|but|so|well|yeah|yes|oh|also|plus|honestly|actually|und|aber|naja"
    r"|ja)\b\W{1,9}){0,4}"
    r"(?:it|it's|its|they|they're|they've|their|them|he|she|he's|she's|this|that|that's|these|those"
    r"|there|here|been|es|er|das ist|das war|dies\w{0,2})\b",
    re.IGNORECASE,
)
"""The beginning of a statement that only the sentence before explains."""


def is_of_the_moment(text: str) -> bool:
    """Whether a statement is about a matter of the moment, as a text at hand."""
    matter = (
        _MATTER_JAPANESE if is_japanese(text) else _MATTER_GERMAN if is_german(text) else _MATTER
    )
    return matter.search(text) is not None


def lasting_words(text: str, *, asks: bool) -> str | None:
    """The part of a sentence that states something lasting of its speaker; None for none.

    Args:
        text: The sentence.
        asks: Whether it ends as a question.

    """
    plain = " ".join(text.replace("’", "'").split())
    language = _JAPANESE if is_japanese(plain) else _GERMAN if is_german(plain) else _ENGLISH
    parts = _stating_parts(plain, language, asks=asks)
    for end in range(len(parts), 0, -1):
        lasting = (" " if language is not _JAPANESE else "").join(parts[:end]).strip(" \t,;:.!、。")
        if len(lasting.encode()) >= LEAST and len(lasting) <= MOST and _lasts(lasting, language):
            if durability(plain) >= LEAST_DURABLE:
                return lasting
            break
    match = language.related.search(plain)
    return None if match is None else match.group()


def _stating_parts(text: str, language: _Language, *, asks: bool) -> list[str]:
    """The parts of a sentence that neither ask nor request, in order."""
    parts = [part.strip() for part in language.parts.split(text) if part and part.strip()]
    if language is _JAPANESE:
        while parts and (asks or language.asks.search(parts[-1]) is not None):
            parts, asks = parts[:-1], False
        return parts
    if any(part.endswith(":") and language.asks.match(part) for part in parts):
        return []  # the text of a task follows
    asking = [
        language.asks.match(part) is not None or (asks and place == len(parts) - 1)
        for place, part in enumerate(parts)
    ]
    first = next((place for place, is_asking in enumerate(asking) if not is_asking), len(parts))
    last = next((place for place in range(first, len(parts)) if asking[place]), len(parts))
    return parts[first:last]


def _lasts(statement: str, language: _Language) -> bool:
    """Whether a statement is about its speaker, lasts, and is understood by itself."""
    quoted = any(mark in statement for mark in '"“”„')
    return (
        not (quoted or is_of_the_moment(statement) or _NEEDS_CONTEXT.match(statement))
        and language.own.search(statement) is not None
        and language.lasts.search(statement) is not None
        and language.passes.search(statement) is None
    )
