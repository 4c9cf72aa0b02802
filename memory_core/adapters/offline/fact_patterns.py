"""The table of patterns by which statements become facts.

It has English patterns, and the commonest of other languages. A row applies where the words after
the subject begin with `phrase`. The words that follow, in the given `shape`, are the value. The
fact's text is `template`, and its slot is `attribute` with `filled`.

Note: a slot has a single value at a time. So an attribute that may have many values names its
object ("opinion of rain": likes). With an attribute of None the fact fills no slot.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from memory_core.adapters.offline import fact_values as a
from memory_core.adapters.offline import names
from memory_core.adapters.offline.animals import IN_ENGLISH as ANIMAL
from memory_core.adapters.offline.belongings import CAR, COUNTED, COUNTED_ALONE, HAD
from memory_core.adapters.offline.fact_values import Shape
from memory_core.adapters.offline.occupations import NOT_AS_EMPLOYER
from memory_core.domain.text.spelling import ANY_MONTH, ANY_WEEKDAY
from memory_core.domain.truth.slots import NO_LONGER

Of = Literal["self", "we", "mine", "call", "other", "foreign"]
_MEANS = "Skype|Zoom|Teams|Slack|Discord|FaceTime|Email|E-?[Mm]ail|Phone|Bus|Train|Bike|Hand"
"""Means of work, which are no employers: "I work by Skype"."""
_LANDMARKS = (
    "Bridge|Park|Station|Street|Road|Avenue|Square|Lake|River|Beach|Airport|Church|Harbour"
    "|Cathedral|Tower"
)
"""Kinds of places beside which people work: "I work by Hyde Park"."""
_ADVERBS = (
    "currently|now|still|also|just|really|actually|recently|already|always|usually|absolutely|even"
    "|mostly|both|finally|officially|only|truly"
    "|totally|genuinely|especially|mainly|do|does|right now|very|happily|permanently|newly"
    "|since then|full[- ]time|part[- ]time|again|so|quite"
)
_SHORT = {
    "<living>": (
        r"(?:lives?|resides?|<be> (?:living|based|residing)|(?:have|has) <adv>(?:been living"
        r"|lived))"
    ),
    "<company>": r"(?: (?:with|by|at|bei) [\w' ]{2,30}?)?",
    "<moved>": r"<did>(?:moved|relocated)(?: (?:back|over|out|permanently|away|recently))?",
    "<working>": (
        r"(?:works?|<be> (?:working|employed)|(?:have|has) <adv>been working)(?: (?:part"
        r"|full)[- ]time)?"
    ),
    "<job>": r"(?: working| a new job)?",
    "<jobless>": (
        r"(?:<gave up>|<dismissed>|<did>(?:resigned|retired)|(?:<be>|(?:have|has) been)"
        r" (?:retired|unemployed|jobless|out of work|between jobs)"
        r"|(?:no longer have|have no|do not have) a(?:ny)? job(?: any ?more)?)"
    ),
    "<gave up>": r"<did>(?:quit|left|lost|resigned from|walked out of|gave up|given up|handed in|given|gave)"  # noqa: E501
    r" (?:my|his|her|their|our) (?:job|notice)",
    "<dismissed>": (
        r"<did>(?:was|were|got|been) (?:laid off|fired|let go|sacked|dismissed|made redundant"
        r"|the sack)"
    ),
    "<dismissing>": (
        r"(?:have |has )?(?:laid (?:me|us) off|fired (?:me|us)|let (?:me|us) go"
        r"|made (?:me|us) redundant)"
    ),
    "<studying>": r"(?:study|studies|<be> studying)",
    "<academic>": r"(?:[Uu]niversi|[Cc]ollege|[Ii]nstitut|[Aa]cadem)",
    "<fond>": r"(?:fan of|fond of|into|crazy about|passionate about|keen on|obsessed with)\b",
    "<rather>": r"(?:over|to|rather than|instead of)",
    "<kindly>": r"(?:lovely|little|big|small|older|younger|young|adult)",
    "<after a thing>": (
        r"(?=$| (?:last|this|yesterday|today|now|recently|finally|again|for|to|because|since|as|so"
        r"|after|when|before|with|at|on|in|via|through|and|but|two|three|an?|the|some|\d{1,4}"
        r"|already|ages|weeks|months|years)\b)"
    ),
    "<when>": r"(?:last|this|in|on|yesterday|today|now)\b.*",
    "<no>": (
        r"(?:(?:do|does) not (?:have|own)(?: any)?|(?:have|has|own|owns) no"
        r"|(?:have|has) not got(?: any)?)"
    ),
    "<smoking>": (
        r"(?:(?:do|does) not smoke|(?:never|no longer) smokes?|<did>(?:stopped|quit|gave up"
        r"|given up) smoking|<be> a non-?smoker)"
    ),
    "<sober>": (
        r"(?:(?:(?:do|does) not|never|no longer) drinks?|<did>(?:stopped|quit|gave up"
        r"|given up) drinking)(?: alcohol)?"
    ),
    "<jobs>": r"(?:(?:retired|unemployed|between jobs|out of work)\b)",
    "<degree>": (
        r"(?:PhD|phd|doctorate|[Mm]aster's|[Mm]asters|[Bb]achelor's|MBA"
        r"|degree)(?: degree)?"
    ),
    "<where>": r"(?:centre|center|heart|middle|outskirts|suburbs|north|south|east|west)",
    "<is>": r"(?:is|are|has always been|have always been)(?: (?:still|now))?\b",
    "<be>": rf"(?:am|is|are)(?: (?:{_ADVERBS}))*",
    "<adv>": rf"(?:(?:{_ADVERBS}) )*",
    "<have got>": r"(?:(?:have|has)(?: got)?)",
    "<have>": r"(?:have got|has got|have|has|own|owns)",
    "<did>": rf"(?:(?:have|has) )?(?:(?:{_ADVERBS}) )*",
    "<the>": r"(?: (?:der|die|das|den|le|la|les|el|los|las)\b)",
    "<at>": (
        rf"(?:at|for|bei|by(?! (?i:{ANY_MONTH}|{ANY_WEEKDAY}|christmas|easter|new year)\b)"
        rf"(?! (?:{_MEANS})\b| [\w'’ -]{{0,40}}\b(?:{_LANDMARKS})\b)"
        r"(?= [A-ZÀ-Þ][\w&.'’-]*(?: [A-ZÀ-Þ][\w&.'’-]*){0,3}"
        r"(?:$| (?:since|in|as|now|and|from|again|here|for)\b)))"
    ),
    "<fixed>": (
        r"(?:(?:new|monthly|weekly|yearly|total|overall|gross|net"
        r"|current) )?(?:[\w-]+ ){0,2}(?:budget|rent|salary|wage|deadline|due date|appointment"
        r"|meeting|interview|exam|flight|stand-?up|call|wedding|surgery|viewing|presentation|demo"
        r"|launch|release|password|pin|code|shift|class|course"
        r"|lesson|dose|weight|limit|party|dinner|mortgage|allowance|target|score|blood pressure"
        r"|address|phone|plan|tariff)(?: (?:date|day|time))?"
        r"(?: (?:for|with|at) (?:the |my |our )?[\w' -]{2,30}?)?"
    ),
    "<engaged>": (
        r"engaged(?! (?:in|with|on) (?!(?:(?:the|early|late|mid) )?(?:[Ss]pring|[Ss]ummer|[Aa]utumn"
        rf"|[Ff]all|[Ww]inter|(?i:{ANY_MONTH}|{ANY_WEEKDAY}))\b|[A-ZÀ-Þ\d]|one\b|two\b|three\b))"
    ),
    "<counted>": COUNTED_ALONE,
    "<for what>": r"for (?:the |my |our )?[\w' -]{2,30}?",
    "<amounts to>": (
        r"(?:is(?: now| currently)?(?: set (?:to|for|at)| on| at| in| due(?: on)?| scheduled for)?"
        r"|starts(?: at| on)?|begins(?: at| on)?|will be(?: on| at| in)?"
        r"|takes place(?: on| at| in)?|(?:(?:has|have) been|was|got|is being|just got|just"
        r"|has) (?:moved|pushed(?: back)?|postponed|rescheduled|brought forward"
        r"|raised|increased|cut|reduced|changed|lowered|bumped(?: up)?|shifted|went up"
        r"|gone up) (?:from .{1,30} )?(?:to|until)|went (?:up|down) (?:from .{1,30} )?to"
        r"|moved (?:from .{1,30} )?to)\b"
    ),
    "<car>": CAR,
    " ?": r"\s*+",
    " ": r"\s++",
}
"""Abbreviations in the expressions below, replaced in this order."""
MY_ANIMAL = re.compile(rf"my (?:\w+ )?(?:{ANIMAL}) [A-Z]")
_OWN = (
    "blood type|shoe size|height|weight|time ?zone|star sign|zodiac sign|native language"
    "|mother tongue|first language|nationality|middle name"
    "|last name|surname|maiden name|nickname|pronouns|job title|date of birth|address|lucky number"
    "|license plate|goal"
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A row of the table.

    Attributes:
        attribute: Of the slot; it may name groups of `phrase`. None if the fact fills no slot.
        template: The fact's text, with `{who}` and groups of `phrase`.
        phrase: A regular expression for the words after the subject; `of` and `value` may be groups
            of it.
        shape: Recognises the value in the words after it.
        of: The subjects that the row is for: "self" = I, "mine" = a thing of mine, "other" = my
            sister, a name.
        filled: The value of the slot.
        many: Whether a list may follow: "German and French".
        negative: Whether it reads only negated clauses; None for both kinds, since "quit" is a
            negation by itself.
        expression: `phrase` as a compiled expression.

    """

    attribute: str | None
    template: str
    phrase: str
    shape: Shape
    of: tuple[Of, ...] = ("self", "other")
    filled: str = "{value}"
    many: bool = False
    negative: bool | None = False
    expression: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        phrase = self.phrase
        for short, written in _SHORT.items():
            phrase = phrase.replace(short, written)
        object.__setattr__(
            self,
            "expression",
            re.compile(rf"\A(?:{phrase})\s*+", re.IGNORECASE if "foreign" in self.of else 0),
        )


_ALL: tuple[Of, ...] = ("self", "we", "other")
_MOST: tuple[Of, ...] = ("self", "other")
_LIVES, _LIVED, _CALLED = (
    "{who} lives in {value}",
    "{who} used to live in {value}",
    "{who} is called {value}",
)
_WORKS_AS, _WORKS_AT = "{who} works as {a_value}", "{who} works at {value}"
_LIKES, _DISLIKES, _ALLERGIC = (
    "{who} likes {value}",
    "{who} dislikes {value}",
    "{who} is allergic to {value}",
)
OPINION = "opinion of {value}"
PET_OF_SUBJECT = "pet {who}"
"""The attribute of the speaker's animal that a clause is about: "Rufus died"."""
STATUS_OF_SPEAKER, SPOUSE_OF_SPEAKER = "marital status of {who}", "spouse of {who}"
"""The speaker's attributes where a clause is about their husband or wife."""
_DIED = r"(?P<of><did>(?:died|passed away)|is dead)\b(?! (?:laughing|of laughter|inside))"
_NO_LONGER = f"{NO_LONGER} {{value}}"

ENGLISH: tuple[Pattern, ...] = (
    # home
    Pattern("home city", _LIVES, r"<living>(?: (?:alone|now|here"
        r"|currently))?<company> in\b", names.place),
    Pattern("home city", _LIVES, r"<living>(?: (?:alone|now|here"
        r"|currently))?<company> in\b", names.home, ("we",)),
    Pattern("home city", _LIVES, r"<living> in the <where> of\b", names.place, _ALL),
    Pattern(None, "{who} lives near {value}",
            r"<living>(?: in an? [\w ]{3,25}?)? (?:near|close to|just outside(?: of)?"
            r"|outside(?: of)?|not far from)\b", names.place, _ALL),
    Pattern("home city", _LIVES, r"<moved>(?: from .{2,40}?)? (?:to|into (?:an?|our"
        r"|my) [\w ]{3,30} in)\b", names.home, _ALL),
    Pattern("home city", _LIVES, r"<did>(?:settled(?: down)?) in\b", names.place, _ALL),
    Pattern("home city", _LIVES, r"(?:new )?home is(?: now)?(?: in)?\b", names.known_place,
        ("mine",)),
    Pattern("home city", _LIVES, r"<did>left\b", names.new_home, _ALL),
    Pattern("home city", _LIVED, r"<did>left\b", names.old_home, _ALL, _NO_LONGER),
    Pattern("home city", _LIVED, r"<moved>(?: to .{2,40}?)? (?:from|of)\b", names.home, _ALL,
        _NO_LONGER),
    Pattern(None, _LIVED, r"(?:used to live|lived) in\b(?! .*\b(?:for|since)\b)", names.place,
        _ALL),
    Pattern("home town", "{who} grew up in {value}", r"(?:grew up|was raised) in\b", names.place),
    Pattern("birthplace", "{who} was born in {value}",
        r"was born(?: and raised)?(?: (?:in|on) [\w ]*\d{4})? in\b", names.place),
    Pattern("origin", "{who} comes from {value}", r"(?:comes?|<be>)(?: originally)? from\b",
        names.known_place, _ALL),
    Pattern("origin", "{who} comes from {value}", r"<be> (?=an? [\w -]{3,40} from [A-ZÀ-Þ])",
        names.origin_of_worker),
    Pattern("home town", "{who}'s home town is {value}", r"home ?town is", names.place, ("mine",)),
    # work and study
    Pattern("occupation", _WORKS_AS,
            r"<working>(?: (?:nights|days|evenings|weekends|shifts|remotely|mostly))?(?: (?:at"
            r"|for|by|in) .{2,40}?)? as\b", a.job),
    Pattern("occupation", "{who} is {a_value}", r"(?:<be>|(?:have|has) <adv>been) (?=an? )",
        a.known_job),
    Pattern("occupation", _WORKS_AS,
        r"<did>(?:became|become|started<job> as|(?:been|got) promoted to)\b", a.known_job),
    Pattern("employer", _WORKS_AT, r"<working>(?: as .{2,40}?)? <at>(?=\W|$)", a.organisation),
    Pattern("employer", _WORKS_AT, r"<working> in .{2,30}? <at> (?=[A-ZÀ-Þ])",
        a.organisation),
    Pattern(None, "{who} works in {value}",
            r"<working>(?: again)? in (?=an? (?:[\w-]+ ){0,2}(?:school|hospital|nursery"
            r"|kindergarten|clinic|bakery|restaurant|hotel|shop|factory|library|caf[eé]|pharmacy|garage"
            r"|warehouse|care home)\b)", a.lasting),
    Pattern("employer", "{who} is {value}", r"<be> (?P<value>self[- ]employed)\b", a.anything),
    Pattern("employer", _WORKS_AT, r"<be> an? [\w -]{3,30}? at (?=[A-ZÀ-Þ])", a.organisation),
    Pattern("employer", _WORKS_AT,
            r"<did>(?:joined|started<job>(?: as .{2,40}?)? at|got a(?: new)? job at"
            r"|signed with) (?=[A-ZÀ-Þ])", a.organisation),
    Pattern("employer", _WORKS_AT, r"<have> a(?: new)? job (?:at|with)", a.organisation),
    Pattern("employer", _WORKS_AT,
        r"am (?:now |starting )?(?:at|with) (?=[A-ZÀ-Þ][\w.'’]+ [A-ZÀ-Þ])",
            a.organisation, ("self",)),
    Pattern("{of}", "{who}'s {of} is {value}",
        r"(?:<have>|<have got>) (?:the|our|my) (?P<of><fixed>) (?:at|on)\b",
            a.amount, ("self", "we")),
    Pattern("employer", "{who} no longer works at {value}",
            r"(?:<gave up> (?:at|with)|<did>(?:resigned|retired) from"
            r"|<dismissed> (?:from|by)) (?=[A-ZÀ-Þ])",
            a.organisation, filled=_NO_LONGER, negative=None),
    Pattern("occupation", "{who} no longer works as {a_value}",
            r"<did>(?:resigned|retired|stepped down) as\b", a.job, filled=_NO_LONGER),
    Pattern("occupation", "{who} no longer works as {a_value}",
            r"<gave up> as (?=an? |the )", a.known_job, filled=_NO_LONGER, negative=None),
    Pattern("employer", "{who} has left {value}", r"<did>left (?=[A-ZÀ-Þ])", names.left_company,
        filled=_NO_LONGER),
    Pattern("employer", "{who} has quit {value}", r"<did>quit (?=[A-ZÀ-Þ])", names.left_company,
        filled=_NO_LONGER, negative=None),
    Pattern("employer", "{who} has left {value}",
            r"last day (?:at|with) (?P<value>[A-ZÀ-Þ][\w'’& .-]{1,40}?) was\b", a.anything,
            ("mine",), _NO_LONGER),
    Pattern("employer", "{who} has left {value}", r"was my last day (?:at|with)\b",
        names.left_company, ("foreign",), _NO_LONGER),
    Pattern(None, "{who} retired in {value}", r"<did>retired in (?P<value>(?:19\d\d|20[01]\d))$",
        a.anything),
    *(
        Pattern("occupation", "{who} has given up {of}", phrase + r" (?=(?P<of>[a-z]{3,20}ing)\b)",
            a.job_of_activity, of, _NO_LONGER, negative=None)
        for phrase, of in (
            (r"<did>(?:gave up|given up|quit|stopped)", _MOST),
            # who is done with the cleaning may be a cleaner all the same
            (r"<be> (?:done|finished|through) with(?= (?:nurs|teach|act|lectur|farm)ing\b)", _MOST),
            (r"no more", ("foreign",)),
        )
    ),
    *(
        Pattern(attribute, template, phrase, a.recently, of, NO_LONGER, negative=None)
        for attribute, template in (
            ("employer", "{who} has left or lost their job"),
            ("occupation", "{who} no longer has the job they had"),
        )
        for phrase, of in (
            ("<jobless>", _MOST), (r"(?:company|employer|boss) <dismissing>", ("mine",)),
            (r"they <dismissing>", ("foreign",)),
        )
    ),
    Pattern(None, "{who} is {value}", r"(?:<be>|(?:have|has) been) (?P<value><jobs>)", a.anything),
    Pattern("school", "{who} studies at {value}",
        r"(?:<studying>|goes?|go)(?: [\w ]{2,40}?)? (?:at|to)(?= .*<academic>)", a.organisation),
    Pattern("field of study", "{who} studies {value}",
        r"<studying>\b(?! (?:for|at|in|with|hard|abroad|to|a lot|the|my)\b)", a.job),
    Pattern("field of study", "{who} studies {value}",
        r"(?:majors? in|<be> majoring in|<be> doing (?:an?|my) <degree> in)\b", a.job),
    # name, age, nationality
    Pattern("name", _CALLED, r"name is(?: now)?", names.name, ("mine",)),
    Pattern("name", _CALLED, r"(?:<be> (?:called|named)|go(?:es)? by|'s name is)\b", names.name),
    Pattern("name", _CALLED, r"", names.name, ("call",)),
    Pattern("name", _CALLED, r"<did>changed my name to\b", names.name, ("self",)),
    Pattern("name", _CALLED, r"am\b", names.own_name, ("self",)),
    Pattern("nickname", "{who}'s nickname is {value}",
        r"(?:friends|family|mates|colleagues|parents|sister|brother) (?:all )?calls? me"
        r"(?= [A-ZÀ-Þ])", names.name, ("mine",)),
    Pattern("nickname", "{who}'s nickname is {value}",
        r"(?:everyone|everybody) calls me(?= [A-ZÀ-Þ])", names.name, ("foreign", "self")),
    Pattern("nationality", "{who} is {value}", r"<be>(?: an?)?\b", names.nationality),
    Pattern("pronouns", "{who}'s pronouns are {value}", r"(?:preferred )?pronouns are\b",
        names.pronouns, ("mine",)),
    Pattern("height", "{who} is {value} tall", r"<be> (?P<value>\d[\w .,]{0,15}?) tall\b",
        a.anything),
    Pattern("age", "{who} is {value} years old",
        r"(?:<be>|<did>turned) (?P<value>\d{1,3})(?: years? old)?(?: <when>)?$", a.age),
    Pattern("age", "{who} is {value} years old", r"<be> (?P<value>[a-z]+) years? old\b", a.number),
    Pattern("birthday", "{who}'s birthday is {value}", r"birthday is(?: on)?", a.day, ("mine",)),
    Pattern("birthday", "{who}'s birthday is {value}",
        rf"was born on(?! (?i:{ANY_WEEKDAY}))", a.day),
    Pattern("birth year", "{who} was born in {value}", r"was born in (?P<value>(?:19|20)\d\d)\b",
        a.anything),
    Pattern("phone number", "{who}'s phone number is {value}",
            r"(?:<have>|<did>got|changed) (?:an?|my) (?:new )?(?:(?:tele|cell|mobile )?phone"
            r"|mobile)? ?number(?: now)?(?:,? (?:it is|which is|to)|:)?", a.telephone, ("self",)),
    Pattern("email address", "{who}'s email address is {value}", r"e-?mail(?: address)? is",
        a.address, ("mine",)),
    Pattern("{of}", "{who}'s {of} is {value}", r"(?P<of>e-?mail(?: address)? <for what>) is",
        a.address, ("mine",)),
    Pattern("{of}", "{who}'s {of} is {value}",
        r"(?P<of>(?:phone|mobile)?(?: ?number)? <for what>) is", a.telephone, ("mine",)),
    Pattern("phone number", "{who}'s phone number is {value}",
            r"(?:(?:new|current) )?(?:(?:tele|cell|mobile )?phone|mobile|cell)?(?: ?number)?(?:'s"
            r"| is)(?: now)?", a.telephone, ("mine",)),
    Pattern("{of}", "{who}'s {of} is {value}", rf"(?P<of>{_OWN}) is", a.anything, ("mine",)),
    Pattern("{of}", "{who}'s {of} is {value}", r"(?P<of><fixed>) <amounts to>", a.amount,
        ("mine",)),
    Pattern("{of}", "{who}'s {of} is {value}",
            r"<did>(?:raised|increased|cut|lowered|reduced|bumped(?: up)?|moved|pushed(?: back)?"
            r"|changed|postponed|rescheduled|shifted|set) "
            r"(?:my|our|the) (?P<of><fixed>) (?:from .{1,30} )?to\b", a.amount, ("self", "we")),
    # relatives and friends
    Pattern("spouse", "{who} is married to {value}",
        r"(?:<be>|<did>(?:got|been))(?: happily)? married to\b", names.name),
    Pattern("marital status", "{who} is {value}",
            r"(?:<be>|<did>got) (?P<value>married|divorced|single|<engaged>|widowed)\b"
            r"(?! to (?:my|his|her|their) (?:job|work|career|company|business|phone|laptop))",
            a.anything, _ALL),
    Pattern("marital status", "{who} is married",
            r"<be> back from (?:my|our|the) honeymoon\b"
            r"|<did>(?:tied the knot|got hitched|had (?:my|our) wedding)\b",
            a.always, ("self", "we"), "married"),
    Pattern("marital status", "{who} is not married", r"<be> not married$", a.nothing,
        filled="not married", negative=True),
    Pattern("spouse", "{who} is no longer married", r"(?:<be>|<did>got) (?:divorced|widowed)\b",
            a.always, ("self",), NO_LONGER),
    Pattern(STATUS_OF_SPEAKER, "{who} {of}", _DIED, a.always, ("other",), "widowed"),
    Pattern(SPOUSE_OF_SPEAKER, "{who} {of}", _DIED, a.always, ("other",), NO_LONGER),
    Pattern("number of children", "{who} has {value} children",
            r"<be> (?:an? |the )?(?:\w+ )?(?:mother|father|mum|mom|dad|parent) of (?P<value>\w+)$",
            a.number),
    Pattern("number of {of}", "{who} has {value} {of}",
            r"<be> (?:married|divorced|single|widowed"
            rf"|engaged) with (?P<value>\w+)(?: <kindly>)* (?P<of>{COUNTED})\b", a.number, _ALL),
    Pattern("number of {of}", "{who} has no {of}", rf"<no> (?P<of>{COUNTED})\b", a.nothing, _ALL,
        "0", negative=True),
    Pattern("number of pets", "{who} has no pets", r"<no>(?: an?)? pets?\b", a.nothing, _ALL, "0",
        negative=True),
    Pattern(None, "{who} does not have {value}",
        rf"<no>(?! an? pet$)(?= an?(?: [\w-]+){{0,2}}? (?:{HAD})$)",
        a.thing, _ALL, negative=True),
    Pattern("number of {of}", "{who} has {value} {of}",
        r"<have> (?P<value>\w+)(?: <kindly>)* (?P<of><counted>)", a.number, _ALL),
    Pattern("pet {value}", "{who} has a {of} called {value}",
            rf"(?:<have got>|<did>(?:adopted|got|bought)) an? (?:[\w-]+ ){{0,2}}?(?P<of>{ANIMAL})"
            r",? (?:called|named)", names.name_alone, _ALL, "{of}"),
    Pattern("number of {of}s", "{who} has {value} {of}",
        r"(?:<have>|<be> down to) (?P<value>one|1)(?: <kindly>)* (?P<of>dog|cat|horse|rabbit|pet)"
        r"(?= now| left|$)", a.number, _ALL),
    Pattern("number of {of}", "{who} has {value} {of}",
        rf"<be> down to (?P<value>\w+)(?: <kindly>)* (?P<of>{COUNTED})\b", a.number, _ALL),
    Pattern("number of pets", "{who} has a pet",
            rf"(?:<did>(?:adopted|got|bought) an?|<have got> an?(?=.* now$)) "
            rf"(?:(?!(?:hot|toy|stuffed|plush|cuddly|robot)\b)[\w-]+ ){{0,2}}?(?:{ANIMAL})"
            r"(?=$|,| (?:called|named|from|who|and|with|now|last|this|yesterday|today|on|in|for|at"
            r"|two|three|an?)\b)", a.always, _ALL, NO_LONGER),
    Pattern("weight", "{who} weighs {value}", r"(?:<adv>weighs? (?:about |around )?"
            r"|<be> (?:now )?(?:down to|up to|at) (?=[^,;]{2,16}(?:$|,| now)))"
            r"(?P<value>\d[\d.,]{0,5} ?(?:kg|kilos?|kilograms?|lbs?|pounds|stone))\b",
            a.anything, ("self", "other")),
    Pattern(PET_OF_SUBJECT, "{who} {of}",
            r"(?P<of>(?:<did>(?:died|passed away|run away|ran away|gone missing)|is (?:dead|gone)"
            r"|(?:was|had to be) (?:put down|put to sleep|rehomed)))\b", a.always, ("other",),
            NO_LONGER),
    Pattern("pet {value}", "{who} no longer has {value}",
            r"(?:had to|have|has) put (?P<value>[A-ZÀ-Þ][a-zà-ÿ]{1,20}) (?:to sleep|down)\b"
            r"(?! (?:for|in|as|on)\b)", names.name_alone, _ALL, NO_LONGER),
    Pattern("pet {value}", "{who} no longer has {value}",
            r"(?:<did>(?:lost|rehomed|gave away|given away)|no longer (?:have|has)"
            r"|had to (?:give away|rehome)|(?:do|does) not have(?= [A-Z]\w+ any ?more\b))",
            names.name_alone, _ALL, NO_LONGER, negative=None),
    Pattern(None, "{who} has {value}", rf"(?!.*\b(?:{ANIMAL}),? (?:called|named) [A-Z])"
            r"(?:<have got>|<did>(?:adopted|got|bought))(?= (?:an?"
            rf"|my own)(?: [\w-]+){{0,3}}? (?:{HAD})\b)", a.lasting, _ALL),
    # likes
    Pattern(OPINION, _LIKES, r"<adv>(?:likes?|loves?|enjoys?|adores?)\b", a.activity,
        filled="likes", many=True),
    Pattern(OPINION, _LIKES, r"<be>(?: an?)?(?: (?:big|huge|great))? <fond>", a.thing,
        filled="likes", many=True),
    Pattern(OPINION, _DISLIKES, r"<adv>(?:hates?|dislikes?|detests?|loathes?|despises?)\b",
        a.activity, filled="dislikes", many=True),
    Pattern("choice between {pair}", "{who} prefers {value} to {of}",
            r"<adv>prefers? (?!to\b)(?P<value>.{2,40}?) <rather> (?P<of>[^,;]{2,40})$", a.thing),
    Pattern(None, "{who} prefers {value}", r"<adv>prefers?\b(?!.*(?<!\s) <rather> )", a.thing),
    Pattern("favourite {of}", "{who}'s favourite {of} is {value}",
            r"(?:(?:all[- ]time|absolute|new) )?favou?rite (?P<of>[\w -]{2,30}?) <is>", a.anything,
            ("mine",)),
    # skills, possessions, habits
    Pattern("speaks {value}", "{who} speaks {value}",
            r"(?:speaks?|<be> fluent in|<be> a native speaker of)\b", a.language, filled="yes",
            many=True),
    Pattern("learning {value}", "{who} is learning {value}", r"<be> (?:learning|studying)\b",
        a.language, filled="yes", many=True),
    Pattern("car", "{who} drives {value}",
        r"drives?(?! \w+ company\b)(?= (?:an?|my) | the (?:[\w-]{1,20} ){0,2}<car>)", a.thing),
    Pattern("car", "{who} drives {value}",
        r"(?:new )?car is(?= (?:an?|the) (?:[\w-]+ ){0,3}[A-ZÀ-Þ])", a.thing, ("mine",)),
    Pattern("smokes", "{who} smokes", r"(?:smokes?|<be> a smoker)\b", a.nothing, filled="yes"),
    Pattern("smokes", "{who} smokes",
        r"smokes?(?= (?:an? pack|half a pack|\d+|one|two|cigarettes|too much|daily|again)\b)",
            a.always, filled="yes"),
    Pattern("drinks {value}", "{who} drinks {value}", r"drinks?\b", a.drink, filled="yes",
        many=True),
    Pattern("eats meat", "{who} does not eat meat",
            r"(?:<be>|<did>(?:went|gone|become|became|turned|been))(?: an?| strictly"
            r"| going)? (?:vegan|vegetarian)\b(?! again\b)", a.always, _ALL, "no"),
    Pattern("smokes", "{who} smokes",
        r"<did>(?:started|gone back to|went back to|took up) smoking\b",
        a.always, filled="yes"),
    Pattern("smokes", "{who} does not smoke",
        r"(?:<be>|(?:have|has) <adv>been)(?: \w+)? smoke[- ]free\b", a.always, filled="no"),
    Pattern("smokes", "{who} does not smoke", r"<smoking>\b", a.nothing, filled="no",
        negative=None),
    Pattern("drinks alcohol", "{who} does not drink alcohol", r"<sober>\b", a.nothing, filled="no",
        negative=True),
    Pattern(None, "{who} owns {value}", r"owns?(?= (?:an?|the) )", a.thing),
    Pattern("allergy to {value}", _ALLERGIC,
            r"<be>(?: (?:severely|highly|deathly|slightly))? allergic to\b", a.thing, filled="yes",
            many=True),
    Pattern("allergy to {value}", _ALLERGIC, r"<have> an allergy to\b", a.thing, filled="yes",
        many=True),
    Pattern("allergy to {value}", _ALLERGIC,
            r"<have> an? (?:severe |bad |mild |serious )?(?P<value>(?!food|bad"
            r"|severe)[\w -]{2,25}?) allergy\b", a.thing, filled="yes", many=True),
    Pattern("allergy to {value}", _ALLERGIC,
            r"(?P<value>[\w-]{2,20}(?: [\w-]{2,20})?) allergy (?:(?:is|<did>come|<did>came) back"
            r"|is (?:acting up|(?:getting )?(?:worse|bad))|<did>returned|<did>flared up)\b",
            a.thing, ("mine",), "yes"),
    Pattern("handedness", "{who} is {value}",
        r"<be> (?P<value>(?:left|right)[- ]handed|ambidextrous)\b", a.anything),
    Pattern("diet", "{who} is on a {value} diet",
            r"(?:<be> (?:starting|going on|trying|doing)|<did>(?:started|begun|began)) (?:an?|the"
            r"|my)(?: new| strict)? "
            r"(?P<value>vegan|vegetarian|keto|paleo|low[- ]carb|gluten[- ]free|halal|kosher"
            r"|mediterranean) diet", a.anything),
    Pattern("car", "{who} drives {value}",
            r"(?:<did>(?:bought|got|leased)|<have>|now drives?)(?= (?:an?|my|our) (?:new |used "
            r"|second-hand |old |red |blue |white |black |\d{4} )*<car>)", a.lasting, _ALL),
    Pattern("car", "{who} drives {value}",
            r"<did>picked up (?=an? (?:(?:nearly|brand) )?(?:new|used|second-hand) <car>)",
            a.lasting, _ALL),
    Pattern("car", "{who} no longer drives {value}",
            r"<did>(?:sold|scrapped|traded in|got rid of) (?:my|our|the) (?:old )?"
            r"(?P<value>(?:[\w-]{1,20} )?<car>(?: (?:<car>"
            r"|[A-Z0-9][\w-]{0,15})){0,3})<after a thing>", a.lasting, _ALL, _NO_LONGER),
    Pattern("name", "{who} is called {value}",
        r"is(?: now| called| named)?"
        r" (?P<value>(?:Mrs?|Ms|Miss|Dr|Frau|Herr)\.? [A-Z][\w'-]+)(?: now)?$",
        a.anything, ("other",)),
    Pattern("name", "{who} is called {value}",
        r"is(?: now| called| named)? (?=[A-Z][a-z]+(?: [A-Z][a-z]+)?$)",
            names.own_name, ("other",)),
    Pattern("intolerance to {value}", "{who} is {value} intolerant",
            r"<be> (?P<value>lactose|gluten|histamine|fructose)[- ]intolerant", a.anything,
            filled="yes"),
    Pattern("intolerance to {value}", "{who} is not {value} intolerant",
            r"<be> not (?P<value>lactose|gluten|histamine|fructose)[- ]intolerant", a.anything,
            filled="no", negative=True),
    Pattern("intolerance to {value}", "{who} is {value} intolerant", r"<be> intolerant (?:to|of)\b",
        a.thing, filled="yes", many=True),
    Pattern("diet", "{who} is on a {value} diet",
            r"(?:follows?|<be> on) an? (?:strict )?(?P<value>vegan|vegetarian|keto|paleo"
            r"|low[- ]carb|gluten[- ]free|halal|kosher) diet$", a.anything),
    Pattern("diet", "{who} is {value}",
            r"(?:<be>|<did>(?:went|gone|become|became|turned|been))(?: an?"
            r"| strictly)? (?P<value>vegan|vegetarian|pescatarian|keto)\b",
            a.anything, _ALL),
    Pattern("condition {value}", "{who} has {value}",
            r"(?:(?:was|got|<did>been) diagnosed with|suffers? from|<have>)\b", a.condition,
            filled="yes", many=True),
    Pattern("condition {value}", "{who} is {value}",
            r"<be>(?: an?)? (?P<value>co?eliac|diabetic|asthmatic|epileptic|autistic|dyslexic"
            r"|dyspraxic)(?=$| (?:and|since|so|like)\b)", a.anything, filled="yes"),
    # sizes, classes and teachers, mostly of children
    *(
        Pattern(attribute, "{who} takes {of}size {value}",
            r"(?:<adv>(?:takes?|wears?|needs?)|<be>|<have>|<did>(?:gone up|moved up|grown)"
            rf" (?:in)?to) (?:now )?(?:an? |the )?(?P<of>{of})size (?P<value>{size})"
            r"(?: (?:now|already))?$", a.anything, ("other",))
        for attribute, of, size in (
            ("shoe size", "shoe ", r"\d{1,2}(?:[.,]5)?"),
            ("shoe size", "", r"[1-4]?\d(?:[.,]5)?"),
            ("size", "", r"(?:[5-9]\d|1\d\d)"),
        )
    ),
    Pattern("{of} size", "{who} takes {of} size {value}",
            r"<adv>(?:takes?|wears?|needs?)(?: an?)? size (?P<value>\d{1,3}(?:[.,]5)?)"
            r" (?P<of>shoe|trouser|jacket|shirt|coat|dress)s?(?: now)?$", a.anything, ("other",)),
    Pattern("school year", "{who} is in Year {value}",
            r"<be> in (?:[Yy]ear|[Gg]rade|[Cc]lass) (?P<value>\d{1,2}[a-d]?)(?: now)?$",
            a.anything, ("other",)),
    Pattern(None, "{who} can not have {value}",
            r"can not (?:have|eat|drink)\b(?! (?:an?|the|any|my|more|another|it|that|this|kids"
            r"|children|friends|visitors|everything)\b)", a.lasting, ("other",), negative=True),
    Pattern("eats {value}", "{who} eats {value}", r"eats?\b", a.food, filled="yes", many=True),
    Pattern("eats {value}", "{who} does not eat {value}", r"<did>(?:gave up|given up|cut out)\b",
        a.food, filled="no", many=True),
    # negated clauses
    Pattern(OPINION, "{who} does not like {value}",
            r"(?:(?:do|does) not <adv>(?:like|enjoy|love|care for)|no longer (?:likes?|enjoys?"
            r"|loves?)|can not stand|<did>stopped (?:liking|enjoying|loving))\b", a.activity,
            filled="dislikes",
            negative=True),
    Pattern(OPINION, "{who} does not like {value}",
            r"<be> not(?: an?)?(?: (?:big|huge|great))? <fond>", a.activity, filled="dislikes",
            negative=True),
    Pattern("eats {value}", "{who} does not eat {value}",
            r"(?:(?:(?:do|does|can) not|never|no longer) eats?|<did>(?:stopped|quit) eating)\b",
            a.lasting, filled="no", negative=True),
    Pattern("drinks {value}", "{who} does not drink {value}",
            r"(?:(?:(?:do|does|can) not|never|no longer) drinks?|<did>(?:stopped"
            r"|quit) drinking)\b(?! (?:alcohol|about|for|in|since|last|a|an|\d{1,3})\b)",
            a.lasting, filled="no", negative=True),
    Pattern("allergy to {value}", "{who} is not allergic to {value}", r"<be> not allergic to\b",
        a.thing, filled="no", negative=True),
    Pattern("speaks {value}", "{who} does not speak {value}", r"(?:do|does|can) not speak\b",
        a.language, filled="no", negative=True),
)  # fmt: skip

FOREIGN: tuple[Pattern, ...] = (
    # German
    Pattern("home city", _LIVES,
            r"(?:ich )?(?:wohne|lebe)(?: (?:jetzt|nun|derzeit|noch"
            r"|wieder))*(?: seit [\w ]{3,15})? in\b", names.place, ("foreign",)),
    Pattern("home city", _LIVES,
            r"(?:ich bin|wir sind)(?: [\w ]{2,40}?)? nach(?= [\w .-]{2,40} (?:um)?gezogen)",
            names.home, ("foreign",)),
    Pattern("name", _CALLED, r"(?:ich )?hei(?:ß|ss)e\b|mein name ist", names.name, ("foreign",)),
    Pattern("occupation", _WORKS_AS, r"(?:ich )?arbeite(?: \w+)? als\b|ich bin von beruf\b", a.job,
        ("foreign",)),
    Pattern("occupation", _WORKS_AS, r"ich bin(?: eine?)?(?= \w+$)", a.known_job, ("foreign",)),
    Pattern("employer", _WORKS_AT,
            rf"(?:ich )?arbeite(?: \w+)? (?:bei|für)\b(?= {NOT_AS_EMPLOYER})", a.organisation,
            ("foreign",)),
    Pattern(OPINION, _LIKES, r"(?:ich )?(?:mag|liebe)\b<the>?", a.thing, ("foreign",), "likes"),
    Pattern(OPINION, _DISLIKES, r"(?:ich )?hasse\b<the>?", a.thing, ("foreign",), "dislikes"),
    Pattern("allergy to {value}", _ALLERGIC, r"(?:ich )?bin allergisch gegen\b", a.thing,
        ("foreign",), "yes"),
    # French
    Pattern("home city", _LIVES,
            r"(?:j'habite|je vis)(?: maintenant)? (?:à|en|au)\b|j'ai déménagé(?: de .{2,40}?)? à\b",
            names.place, ("foreign",)),
    Pattern("name", _CALLED, r"je m'appelle\b|mon (?:pré)?nom est\b", names.name, ("foreign",)),
    Pattern("occupation", _WORKS_AS, r"je travaille comme\b", a.job, ("foreign",)),
    Pattern("occupation", _WORKS_AS, r"je suis(?: une?)?(?= \w+$)", a.known_job, ("foreign",)),
    Pattern("employer", _WORKS_AT, r"je travaille (?:chez|pour)\b", a.organisation, ("foreign",)),
    Pattern(OPINION, _LIKES, r"j'(?:aime|adore)\b<the>?", a.thing, ("foreign",), "likes"),
    Pattern(OPINION, _DISLIKES, r"je déteste\b<the>?", a.thing, ("foreign",), "dislikes"),
    Pattern("allergy to {value}", _ALLERGIC, r"je suis allergique (?:à la|aux|au|à)\b", a.thing,
        ("foreign",), "yes"),
    # Spanish
    Pattern("home city", _LIVES, r"(?:yo )?vivo(?: ahora)? en\b|me (?:mudé"
        r"|he mudado)(?: de .{2,40}?)? a\b", names.place, ("foreign",)),
    Pattern("name", _CALLED, r"me llamo\b|mi nombre es\b", names.name, ("foreign",)),
    Pattern("occupation", _WORKS_AS, r"trabajo (?:como|de)\b", a.job, ("foreign",)),
    Pattern("occupation", _WORKS_AS, r"soy(?: una?)?(?= \w+$)", a.known_job, ("foreign",)),
    Pattern("employer", _WORKS_AT, r"trabajo (?:en|para)\b", a.organisation, ("foreign",)),
    Pattern(OPINION, _LIKES, r"me (?:gusta|encanta)n?(?: mucho)?\b<the>?", a.thing, ("foreign",),
        "likes"),
    Pattern(OPINION, _DISLIKES, r"odio\b<the>?", a.thing, ("foreign",), "dislikes"),
    Pattern("allergy to {value}", _ALLERGIC, r"soy alérgic[oa] (?:a la|a los|a las|al|a)\b",
        a.thing, ("foreign",), "yes"),
)  # fmt: skip
"""German, French and Spanish rows, which match whole clauses.

In these languages the verb shows the person.
"""
