"""The table of what people say of themselves and of others, and which fact it is. English, and the commonest lines of three others.

Read a row so: when the words after the subject begin with `said`, what follows in the given shape is the value; the fact is
`told`, and `attribute` with `filled` is its slot. A reader would get wrong: only one thing can stand in a slot at a time, so what
one may have many of is part of the attribute itself ("opinion of rain": likes), and an attribute of None fills no slot.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from memory_core.adapters.offline import fact_values as a
from memory_core.adapters.offline.fact_values import Shape

Of = Literal["self", "we", "mine", "call", "other", "foreign"]
_ADVERBS = (
    "currently|now|still|also|just|really|actually|recently|already|always|usually|absolutely|even|mostly|both|finally|officially|only"
    "|truly"
    "|totally|genuinely|especially|mainly|do|does|right now|very|happily|permanently|newly|since then|full[- ]time|part[- ]time|again|so"
    "|quite"
)
_SHORT = {
    "<be>": rf"(?:am|is|are)(?:\s+(?:{_ADVERBS}))*",
    "<adv>": rf"(?:(?:{_ADVERBS})\s+)*",
    "<have>": r"(?:have got|has got|have|has|own|owns)",
    "<did>": rf"(?:(?:have|has)\s+)?(?:(?:{_ADVERBS})\s+)*",
    " ": r"\s+",
}
_COUNTED = (
    "kids|children|sons|daughters|brothers|sisters|siblings|dogs|cats|pets|cars|horses|grandchildren|grandkids|rabbits|chickens|houses"
    "|bikes"
    "|roommates|flatmates|cousins|nieces|nephews"
)
_HAD = (
    "dog|cat|puppy|kitten|pet|horse|rabbit|hamster|parrot|son|daughter|brother|sister|twin|baby|kid|child|garden|house|car|bike|motorbike"
    "|boat"
    "|piano|guitar|degree|phd|tattoo|licen[cs]e|business|company|shop|greenhouse|allotment|fish|tortoise|snake|roommate|flatmate|girlfriend"
    "|boyfriend|wife|husband|fiancee?"
)
_OWN = (
    "blood type|shoe size|height|weight|time ?zone|star sign|zodiac sign|native language|mother tongue|first language|nationality"
    "|middle name"
    "|last name|surname|maiden name|nickname|pronouns|job title|date of birth|address|lucky number|license plate|goal"
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """One row. of: the subjects that it is for ("self" = I, "mine" = something of mine, "other" = my sister, a name).

    said: a regular expression at the beginning of what follows the subject; `of` and `value` may be groups of it. many: a list goes
    on ("German and French"). negative: the row reads negated clauses, which no other row does.
    """

    attribute: str | None
    told: str
    said: str
    shape: Shape
    of: tuple[Of, ...] = ("self", "other")
    filled: str = "{value}"
    many: bool = False
    negative: bool = False
    expression: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        said = self.said
        for short, written in _SHORT.items():
            said = said.replace(short, written)
        object.__setattr__(self, "expression", re.compile(rf"(?:{said})\s*", re.IGNORECASE if "foreign" in self.of else 0))


_ALL: tuple[Of, ...] = ("self", "we", "other")
_LIVES, _LIKES, _DISLIKES = "{who} lives in {value}", "{who} likes {value}", "{who} dislikes {value}"
_OPINION = "opinion of {value}"

ENGLISH: tuple[Pattern, ...] = (
    # where one lives
    Pattern("home city", _LIVES, r"(?:lives?|resides?|<be> (?:living|based|residing)|(?:have|has) <adv>(?:been living|lived))(?: (?:alone"
        r"|now|here|currently))?(?: with [\w' ]{2,30}?)? in\b",
            a.place, _ALL),
    Pattern("home city", _LIVES, r"<did>(?:moved|relocated)(?: (?:back|over|out|permanently|away"
        r"|recently))?(?: from .{2,40}?)? to\b", a.place, _ALL),
    Pattern(None, "{who} used to live in {value}", r"<did>(?:moved|relocated)(?: (?:back|over"
        r"|away))?(?: to .{2,40}?)? from\b", a.place, _ALL),
    Pattern(None, "{who} used to live in {value}", r"(?:used to live|lived) in\b(?! .*\b(?:for|since)\b)", a.place, _ALL),
    Pattern("home town", "{who} grew up in {value}", r"(?:grew up|was raised) in\b", a.place),
    Pattern("birthplace", "{who} was born in {value}", r"was born(?: and raised)? in\b", a.place),
    Pattern("origin", "{who} comes from {value}", r"(?:comes?|<be>)(?: originally)? from\b", a.place, _ALL),
    Pattern("home town", "{who}'s home town is {value}", r"home ?town is", a.place, ("mine",)),
    # work and study
    Pattern("occupation", "{who} works as {a_value}", r"(?:works?|<be> (?:working|employed)|(?:have|has) <adv>been working)(?: (?:part"
        r"|full)[- ]time)?(?: (?:at|for) .{2,40}?)? as\b", a.job),
    Pattern("occupation", "{who} is {a_value}", r"<be> (?=an? )", a.known_job),
    Pattern("occupation", "{who} works as {a_value}", r"<did>(?:became|become|started(?: working| a new job)? as|been promoted to"
        r"|got promoted to)\b", a.known_job),
    Pattern("employer", "{who} works at {value}", r"(?:works?|<be> (?:working|employed)|(?:have|has) <adv>been working)(?: (?:part"
        r"|full)[- ]time)?(?: as .{2,40}?)? (?:at|for)\b", a.organisation),
    Pattern("employer", "{who} works at {value}", r"<be> an? [\w -]{3,30}? at (?=[A-ZÀ-Þ])", a.organisation),
    Pattern("employer", "{who} works at {value}", r"<did>(?:joined|started(?: working| a new job)? at|got a(?: new)? job at"
        r"|signed with) (?=[A-ZÀ-Þ])", a.organisation),
    Pattern("employer", "{who} works at {value}", r"<have> a(?: new)? job (?:at|with)", a.organisation),
    Pattern("school", "{who} studies at {value}", r"(?:study|studies|<be> studying|goes?|go)(?: [\w ]{2,40}?)? (?:at"
        r"|to)(?= .*(?:[Uu]niversi|[Cc]ollege|[Ii]nstitut|[Aa]cadem))", a.organisation),
    Pattern("field of study", "{who} studies {value}", r"(?:study|studies|<be> studying|majors? in|<be> majoring in)\b(?! (?:for|at|in"
        r"|with|hard|abroad|to|a lot|the|my)\b)", a.job),
    # who one is
    Pattern("name", "{who} is called {value}", r"name is(?: now)?", a.name, ("mine",)),
    Pattern("name", "{who} is called {value}", r"(?:<be> (?:called|named)|goes? by|'s name is)\b", a.name),
    Pattern("name", "{who} is called {value}", r"", a.name, ("call",)),
    Pattern("age", "{who} is {value} years old", r"(?:<be>|<did>turned) (?P<value>\d{1,3})(?: years? old)?(?: (?:last|this|in|on"
        r"|yesterday|today|now)\b.*)?$", a.number),
    Pattern("birthday", "{who}'s birthday is {value}", r"birthday is(?: on)?", a.day, ("mine",)),
    Pattern("birthday", "{who}'s birthday is {value}", r"was born on", a.day),
    Pattern("birth year", "{who} was born in {value}", r"was born in (?P<value>(?:19|20)\d\d)\b", a.anything),
    Pattern("email address", "{who}'s email address is {value}", r"e-?mail(?: address)? is", a.address, ("mine",)),
    Pattern("phone number", "{who}'s phone number is {value}", r"(?:tele|mobile )?(?:phone )?(?:number|phone"
        r"|mobile) is", a.telephone, ("mine",)),
    Pattern("{of}", "{who}'s {of} is {value}", rf"(?P<of>{_OWN}) is", a.anything, ("mine",)),
    # whom one belongs to
    Pattern("spouse", "{who} is married to {value}", r"(?:<be>|<did>(?:got|been))(?: happily)? married to\b", a.name),
    Pattern("marital status", "{who} is {value}", r"(?:<be>|<did>got) (?P<value>married|divorced|single|engaged|widowed)\b", a.anything),
    Pattern("number of {of}", "{who} has {value} {of}", rf"<have> (?=\w+ )(?P<value>\w+)(?: (?:lovely|little|big|small|older|younger"
        rf"|young|adult))* (?P<of>{_COUNTED})\b",
            a.number, _ALL, many=False),
    Pattern(None, "{who} has {value}", rf"(?:<have>|<did>(?:adopted|got|bought))(?= (?:an?"
        rf"|my own)(?: [\w-]+){{0,3}}? (?:{_HAD})\b)", a.thing, _ALL),
    # what one likes
    Pattern(_OPINION, _LIKES, r"<adv>(?:likes?|loves?|enjoys?|adores?)\b", a.activity, filled="likes", many=True),
    Pattern(_OPINION, _LIKES, r"<be>(?: a)?(?: (?:big|huge|great))? (?:fan of|fond of|into|crazy about|passionate about|keen on"
        r"|obsessed with)", a.thing, filled="likes", many=True),
    Pattern(_OPINION, _DISLIKES, r"<adv>(?:hates?|dislikes?|detests?|loathes?|despises?)\b", a.activity, filled="dislikes", many=True),
    Pattern("choice between {pair}", "{who} prefers {value} to {of}", r"<adv>prefers? (?!to\b)(?P<value>.{2,40}?) (?:over|to|rather than"
        r"|instead of) (?P<of>[^,;]{2,40})$", a.thing),
    Pattern(None, "{who} prefers {value}", r"<adv>prefers?\b(?!.* (?:over|to|rather than|instead of) )", a.thing),
    Pattern("favourite {of}", "{who}'s favourite {of} is {value}", r"(?:(?:all[- ]time|absolute"
        r"|new) )?favou?rite (?P<of>[\w -]{2,30}?) (?:is|are|has always been|have always been)(?: (?:still|now))?\b",
            a.anything, ("mine",)),
    # what one can, has and does
    Pattern("speaks {value}", "{who} speaks {value}", r"(?:speaks?|<be> fluent in"
        r"|<be> a native speaker of)\b", a.language, filled="yes", many=True),
    Pattern("learning {value}", "{who} is learning {value}", r"<be> (?:learning|studying)\b", a.language, filled="yes", many=True),
    Pattern("car", "{who} drives {value}", r"drives?(?= (?:an?|the|my) )", a.thing),
    Pattern(None, "{who} owns {value}", r"owns?(?= (?:an?|the) )", a.thing),
    Pattern("allergy to {value}", "{who} is allergic to {value}", r"<be>(?: severely| highly| deathly"
        r"| slightly)? allergic to\b", a.thing, filled="yes", many=True),
    Pattern("allergy to {value}", "{who} is allergic to {value}", r"<have> an allergy to\b", a.thing, filled="yes", many=True),
    Pattern("intolerance to {value}", "{who} is {value} intolerant", r"<be> (?P<value>lactose|gluten|histamine"
        r"|fructose)[- ]intolerant", a.anything, filled="yes"),
    Pattern("diet", "{who} is {value}", r"(?:<be>|<did>(?:went|gone|become|became|turned))(?: an?| strictly)? (?P<value>vegan|vegetarian"
        r"|pescatarian|keto)\b", a.anything, _ALL),
    Pattern("condition {value}", "{who} has {value}", r"(?:<have>|suffers? from|was diagnosed with|<did>been diagnosed with"
        r"|got diagnosed with)\b", a.condition, filled="yes", many=True),
    # negated clauses
    Pattern(_OPINION, "{who} does not like {value}", r"(?:(?:do|does) not <adv>(?:like|enjoy|love|care for)|can not stand"
        r"|<be> not(?: an?)?(?: (?:big|huge|great))? (?:fan of|fond of|into|keen on))\b",
            a.activity, filled="dislikes", negative=True),
    Pattern("eats {value}", "{who} does not eat {value}", r"(?:(?:do|does|can) not|never) eats?\b", a.thing, filled="no", negative=True),
    Pattern("drinks {value}", "{who} does not drink {value}", r"(?:(?:do|does|can) not"
        r"|never) drinks?\b", a.thing, filled="no", negative=True),
    Pattern("allergy to {value}", "{who} is not allergic to {value}", r"<be> not allergic to\b", a.thing, filled="no", negative=True),
    Pattern("speaks {value}", "{who} does not speak {value}", r"(?:do|does|can) not speak\b", a.language, filled="no", negative=True),
)  # fmt: skip

FOREIGN: tuple[Pattern, ...] = (
    Pattern("home city", _LIVES, r"(?:ich )?(?:wohne|lebe)(?: (?:jetzt|nun|derzeit|noch|wieder"
        r"|seit [\w ]{3,15}))* in\b", a.place, ("foreign",)),
    Pattern("home city", _LIVES, r"(?:ich bin|wir sind)(?: [\w ]{2,40}?)? nach(?= [\w .-]{2,40} (?:um)?gezogen)", a.place, ("foreign",)),
    Pattern("name", "{who} is called {value}", r"(?:ich )?hei(?:ß|ss)e\b|mein name ist", a.name, ("foreign",)),
    Pattern("occupation", "{who} works as {a_value}", r"(?:ich )?arbeite(?: \w+)? als\b|ich bin von beruf\b", a.job, ("foreign",)),
    Pattern("occupation", "{who} works as {a_value}", r"ich bin(?: eine?)?(?= \w+$)|je suis(?: une?)?(?= \w+$)"
        r"|soy(?: una?)?(?= \w+$)", a.known_job, ("foreign",)),
    Pattern("employer", "{who} works at {value}", r"(?:ich )?arbeite(?: \w+)? (?:bei|für)\b|je travaille (?:chez|pour)\b|trabajo (?:en"
        r"|para)\b", a.organisation, ("foreign",)),
    Pattern(_OPINION, _LIKES, r"(?:(?:ich )?(?:mag|liebe)\b|j'(?:aime|adore)\b|me gustan?(?: mucho)?\b|me encantan?\b)(?: (?:der|die|das"
        r"|den|le|la|les|el|los|las)\b)?", a.thing, ("foreign",), "likes"),
    Pattern(_OPINION, _DISLIKES, r"(?:(?:ich )?hasse\b|je déteste\b|odio\b)(?: (?:der|die|das|den|le|la|les|el|los"
        r"|las)\b)?", a.thing, ("foreign",), "dislikes"),
    Pattern("allergy to {value}", "{who} is allergic to {value}", r"(?:ich bin|bin) allergisch gegen\b|je suis allergique (?:à la|aux|au"
        r"|à)\b|soy alérgic[oa] (?:a la|a los|a las|al|a)\b",
            a.thing, ("foreign",), "yes"),
    Pattern("home city", _LIVES, r"j'habite(?: maintenant)? (?:à|en|au)\b|je vis(?: maintenant)? (?:à|en|au)\b"
        r"|(?:yo )?vivo(?: ahora)? en\b", a.place, ("foreign",)),
    Pattern("home city", _LIVES, r"j'ai déménagé(?: de .{2,40}?)? à\b|me (?:mudé|he mudado)(?: de .{2,40}?)? a\b", a.place, ("foreign",)),
    Pattern("name", "{who} is called {value}", r"je m'appelle\b|mon (?:pré)?nom est\b|me llamo\b|mi nombre es\b", a.name, ("foreign",)),
    Pattern("occupation", "{who} works as {a_value}", r"je travaille comme\b|trabajo (?:como|de)\b", a.job, ("foreign",)),
)  # fmt: skip
"""German, French and Spanish: the whole clause is matched, for these languages put the person into the verb."""
