"""Whether a sentence with a time is about the speaker's own life.

It is if it names the speaker or a thing due, if an appointment heads it ("Dinner with Paul tonight
at 8"), if a person has one or goes to one ("Ella has a recital"), if something or someone comes to
the speaker ("The plumber is coming on Thursday"), or if it asks for a reminder. Trains, films and
the weather are not the speaker's. Note: only forms of sentences are read here. Whether a sentence
asserts anything, and of which time, `foresight` decides.
"""

from __future__ import annotations

import re

from memory_core.adapters.offline.clauses import KIN

_SELF = re.compile(
    r"\b(?:I|i|my|My|We|we|our|Our|ich|Ich|wir|Wir|mein\w*|Mein\w*|unser\w*|Unser\w*|je|Je|j'|J'|mon"
    r"|ma|yo|mi|estoy|Estoy|tengo|Tengo|suis|bin)\b|\AHabe?\b"
)
_EVENTS = (
    "appointment|meeting|interview|exam|test|flight|wedding|funeral|surgery|operation|viewing"
    "|presentation|demo|deadline|class|course|lesson|lecture|seminar|workshop|training|practice"
    "|rehearsal|audition|party|dinner|lunch|brunch|breakfast|supper|barbecue|bbq|picnic|drinks"
    "|coffee|date|(?:phone|video|zoom|conference) call|call(?= with)|check-?up|scan|x-?ray"
    "|screening|vaccination|jab|mot|inspection|haircut|massage|recital|concert|gig|tournament"
    "|tutorial|playdate|sleepover|parents['’]? evening|open day|sports day|school play|drill"
    "|reunion|anniversary|birthday|graduation|christening|baptism|baby shower|stag do|hen do"
    "|ceremony|visit(?= (?:to|from))|trip|excursion|reservation|booking|delivery|pick-?up"
    "|handover|conference|stand-?up|catch-?up|kick-?off|hearing|shift|school|nursery|daycare"
    "|dentist|doctor|gp|vet|physio|hairdresser|barber|optician|therapist|therapy|chiropractor"
    "|midwife|tutor|yoga|pilates|half-?term|holidays|(?:code|deploy(?:ment)?|release|change"
    "|feature|content|holiday) freeze|go-?live|cut-?over|maintenance window"
)
_COMMANDS = (
    "ask|add|arrange|book|buy|call|cancel|change|check|choose|compare|confirm|create|delete|draft"
    "|explain|find|fix|get|give|help|invent|list|look|make|move|name|note|open|order|organi[sz]e"
    "|pick|plan|play|postpone|prepare|read|recommend|remove|reschedule|reserve|schedule|search|send"
    "|set|show|suggest|summari[sz]e|tell|translate|update|write|imagine|suppose|let|try|use|put"
)
_NO_PART = (
    r"(?!(?:an?|for|of|to|in|at|on|with|is|are|was|were|what|which|how|when|where|who|why|any|not"
    r"|no|if|like|best|good|great|happy|merry|nice|cheap|see|until|till|after|before|every|some"
    rf"|most|all|more|{_COMMANDS})\b)"
)
"""No modifier of an appointment: "piano recital" has one, "book dinner" and "for dinner" none."""
_MODIFIERS = rf"(?:{_NO_PART}[\w'’-]{{1,20}} ){{0,3}}?"
_EVENT = (
    rf"(?:{_EVENTS})(?=[,.:!]?\Z|, | \d| (?:with|at|for|on|in|to|about|between|from|and|is|starts?"
    r"|begins?|takes|will|this|next|today|tomorrow|tonight|the|again"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b)"
)
"""An appointment that heads its words: "dinner ideas" are none."""
_COMES_HERE = (
    r"(?:coming(?! out\b| to (?:cinemas?|theat|netflix|an? end))|arriving|visiting|stopping by"
    r"|popping|dropping|picking|collecting|delivering|bringing|being|delivered|collected|picked|installed"
    r"|repaired|serviced)\b"
)
_ARRIVES = (
    r"(?:comes?(?! out\b)|arrives?|gets? (?:here|back|home|in)|visits?|picks? up"
    r"|drops? (?:off|by|in)|stops? by|brings?|delivers?|moves? (?:in|out)|collects?)\b"
)
_PEOPLE = (
    rf"(?:(?:[Tt]he )?(?:{KIN}|kids|children|parents|grandparents|twins|in-laws|girls|boys|guests"
    r"|plumber|electrician|landlord|landlady|cleaner|gardener|nanny|babysitter|builders?|movers?"
    r"|courier|postman|engineer|technician|handyman|painters?|decorators?|surveyor|nurse|carer)s?"
    r"|[A-Z][a-z]{1,20}(?: and [A-Z][a-z]{1,20})?)"
)
_NOT_THE_SPEAKERS = re.compile(
    r"\b(?:storm|rain|snow|sun|winter|spring|summer|autumn|train|bus|tram|ferry|film|movie|episode"
    r"|season|series|album|president|pope|minister|king|queen)\b",
    re.IGNORECASE,
)
_ENGLISH = re.compile(
    rf"\A(?:[Tt]he )?{_MODIFIERS}(?i:{_EVENT})"
    rf"|\b(?:has|have|having|got|is|are|[Tt]here's|goes|go|going|off) (?:(?:in|out|at|to|for|an?"
    rf"|the|his|her|their|its|no) ){{0,3}}{_MODIFIERS}(?i:{_EVENT})"
    r"|\b(?:expires?|lapses?|runs? out)\b|\b[Dd]eadline\b|\b(?:is|are) due\b"
    r"|\b(?:goes|going) in for (?:an?|the|its|his|her)\b"
)
_VISITS = re.compile(
    rf"(?:\b(?:is|are)|['’](?:s|re)) (?:\w{{1,15}} ){{0,2}}?{_COMES_HERE}|\A{_PEOPLE} {_ARRIVES}"
)
_GERMAN_EVENTS = (
    "termin|prüfung|klausur|gespräch|besichtigung|übergabe|abgabe|essen|frühstück|feier|party"
    "|fest|hochzeit|beerdigung|taufe|elternabend|sprechstunde|klavierstunde|reitstunde|fahrstunde"
    "|training|kurs|seminar|vorlesung|workshop|unterricht|probe|konzert|turnier|treffen"
    "|verabredung|date|besprechung|meeting|sitzung|konferenz|telefonat|call|untersuchung|vorsorge"
    "|impfung|operation|op|röntgen|massage|inspektion|tüv|lieferung|umzug|flug|reservierung"
    "|grillen|picknick|ausflug|klassenfahrt|aufführung|einschulung|geburtstag|jubiläum|friseur"
    "|friseurin|arzt|ärztin|physio|physiotherapie|optiker|therapie|schulfrei|schule|kita|schicht"
    "|führung|verhandlung|besuch"
    "|ferien|freeze|wartungsfenster"
)
_GERMAN_EVENT = rf"\b[\w-]{{0,20}}(?:{_GERMAN_EVENTS})(?:e|s|es)?\b"
_GERMAN = re.compile(
    rf"\A(?:(?:der|die|das|\w{{2,20}}s) )?{_GERMAN_EVENT}"
    rf"|\b(?:ist|sind|hat|haben|habe|findet|beginn(?:t|en)|startet|fängt|steht|geht|gehen|muss|müssen)\b"
    rf"[^.!?;]{{0,60}}{_GERMAN_EVENT}"
    r"|\b(?:kommt|kommen|besucht|besuchen)\b(?![^.!?]{0,60}\b(?:ins kino|raus|heraus|im fernsehen"
    r"|auf den markt)\b)|\bwird[^.!?]{0,60}(?:geliefert|abgeholt|repariert|eingebaut|installiert"
    r"|operiert|eingeschult)\b|\b(?:liefert|liefern)\b|\b(?:holt|holen|bringt|bringen)\b"
    r"|\b(?:bei|zu) uns\b|\bist fällig\b|\b(?:läuft|laufen)\b[^!?;]{0,60}\bab(?=[.!,]|\Z)",
    re.IGNORECASE,
)
_COMMANDED = re.compile(
    rf"\A(?:please )?(?:{_COMMANDS})\b(?! (?:with|day|club|group)\b)"
    r"|\A(?:bitte )?(?:schreib|such|buch|bestell|erzähl|zeig|sag|mach|gib|finde?|nenn|plan|stell"
    r"|übersetz|fass|trag|erfinde?|erstell|erklär|empfiehl|reservier|verschieb|sag|lies|hilf)e?\b",
    re.IGNORECASE,
)
"""A sentence that asks the assistant for something."""
_JAPANESE = re.compile(
    r"(?:予定|予約|出張|旅行|引っ越し|面接|試験|会議|打ち合わせ|締め切り|夕食|食事|ランチ|ディナー|飲み会"
    r"|デート|美容院|歯医者|病院|検査|健診|健康診断|内見|教室|レッスン|練習|試合|訪問|納品|配達|授業"
    r"|発表会|パーティー|[結同送歓大]\w{0,3}[式会]"
    r"|(?:予約|約束|申し込み?)(?:を取り|を入れ|を取っ|を入れ|し)(?:ました|た|ている|てある)"
    r"|です|ます|[うくぐすつむぶる](?:ん(?:だ|です)(?:よ|ね|よね|けど)?)?|(?<![んい])だ"
    r"|時(?:半|\d{1,2}分)?から|(?:時|半|分|日)になりました)[。！!]?\Z"
)
"""The end of a Japanese sentence about the future.

Its subject, the speaker, is mostly left out.
"""
_JAPANESE_OTHERWISE = re.compile(
    "もし|かも|でしょう|だろう|たら、|なら、|れば、|らしい|と思[うい]|てくれ|てもらえ|てください|た[のん]?です"
)
_UNSURE = re.compile(
    r"\b(?:might|may|maybe|perhaps|possibly|probably|vielleicht|eventuell|womöglich"
    r"|möglicherweise)\b"
)
_REMINDER = re.compile(
    r"(?:\A|(?<=[,;:] ))(?:(?:can|could|will|would) you )?(?:please )?(?:remember to )?"
    r"(?:remind me(?! of (?:my|a|an|the)\b)(?! (?:\w+ ){0,3}(?:what|who|whom|where|when|how"
    r"|which|why|whether)\b)|(?:do not|don['’]t) let me forget|(?:set|add|create|make) (?:me )?an? "
    r"(?:reminder|alarm)(?: for me)?|make sure (?:that )?I (?:do not|don['’]t) forget)"
    r"(?P<link> to| about| that| for)?\b"
    r"|\bI (?:must not|mustn['’]t|can ?not|can['’]t|should not|shouldn['’]t) forget(?: to)?\b",
    re.IGNORECASE,
)
_GERMAN_REMINDER = re.compile(
    r"\A(?:bitte )?(?:erinner[en]? mich|(?:kannst|könntest|würdest) du mich"
    r"(?=[^.!]{0,80}\berinnern\b))(?: bitte)?\b(?![^.!]{0,60}\b(?:was|wer|wie|wo|wann|warum)\b)",
    re.IGNORECASE,
)
_JAPANESE_REMINDER = re.compile(
    "(?:のを|ことを|を|って)?(?:リマインド|思い出させ|忘れないように(?:言っ|教え|知らせ))(?:し)?て"
    "(?:ください|ほしい|くれ(?:る|ますか|ませんか)?)?[。！!?？]?\\Z"
)


def without_reminder(text: str) -> str:
    """Rewrite a request for a reminder as what it is about.

    "Remind me to call mum" becomes "I have to call mum".
    """
    text = _REMINDER.sub("I have to", text)
    text = _GERMAN_REMINDER.sub("Ich muss", text)
    return _JAPANESE_REMINDER.sub("の予定", text)


def is_own(text: str, *, german: bool, japanese: bool) -> bool:
    """Whether a sentence is about the speaker's own life.

    Args:
        text: The sentence.
        german: Whether it is German.
        japanese: Whether it is Japanese.

    """
    if japanese:
        return _JAPANESE.search(text) is not None and _JAPANESE_OTHERWISE.search(text) is None
    if _SELF.search(text):
        return True
    if _UNSURE.search(text) or _COMMANDED.match(text):
        return False
    if german:
        return _GERMAN.search(text) is not None
    return _ENGLISH.search(text) is not None or (
        _VISITS.search(text) is not None and _NOT_THE_SPEAKERS.search(text) is None
    )
