"""Split sentences into clauses with their subjects.

"I live in Berlin, work as a baker and love ramen" has three clauses about "I". Note: a pattern that
matches the beginning of `Clause.rest` can't match "I think I live", "I would live" or "if I lived",
where the verb is not right after the subject. English; clauses of other languages have no subject.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory_core.adapters.offline.casual import written_out
from memory_core.adapters.offline.second_language import SINCE
from memory_core.domain.statements.denied_states import SINCE_WHEN
from memory_core.domain.statements.reported_speech import own_part
from memory_core.domain.text.spelling import ANY_MONTH, ANY_WEEKDAY
from memory_core.domain.text.text_cache import keep_texts

_NEAREST = (
    "wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|mother|mom|mum|mam|father|dad"
    "|mother-in-law|father-in-law|stepmother|stepfather"
)
SINGULAR = f"{_NEAREST}|boss|manager|landlord|landlady"
"""Relations of which a person has only a single relative, whose name fills a slot."""
_THE_ONLY = re.compile(SINGULAR)
_NEAR = (
    "sister|brother|son|daughter|kid|child|baby|grandmother|grandma|grandfather|grandpa|aunt|uncle"
    "|cousin|niece|nephew|friend|best friend|roommate|flatmate|colleague|coworker|neighbou?r"
)
FAMILY_OR_FRIEND = f"{_NEAREST}|{_NEAR}"
"""Relations whose lives a person tells beside the own."""
KIN = (
    f"{SINGULAR}|{_NEAR}|doctor|dentist|therapist|teacher|dog|cat|puppy|kitten|horse|rabbit"
    "|hamster|parrot|pet"
)
"""Relations, and others of a person: a doctor, a dog."""
_SURELY_OWN = (
    "husband|wife|partner|girlfriend|boyfriend|son|daughter|boss|roommate|flatmate|colleague"
)
"""Relations that are no titles: "partner Lou" is the speaker's, "Sister Mary" may be a nun."""
_RELATION = (
    r"(?:(?:older|younger|little|big|elder|twin|best|oldest|youngest|new|late"
    rf"|ex-?)\s*)?(?:{KIN})"
)
_FILLER = (
    r"well|yes|yeah|yep|no(?=[,:]|\s+(?:I|my|we|our)\b)|nope"
    r"|hi|hello|hey|oh|ok|okay|btw|by the way|anyways?|so|and|but|then|fyi|sure|right|great|thanks"
    r"|sorry|as i (?:said|mentioned)|as you (?:may )?know|you know|just so you know|for the record"
    r"|the truth is|turns out|(?:please )?(?:remember|note|keep in mind)(?: that)?"
    r"|i (?:just |also )?(?:want(?:ed)? to|should|must|forgot to) (?:mention|say|tell you"
    r"|add)(?: that)?|i (?:already )?(?:told you|said)(?: that)?"
)
_SETTING = (
    rf"also|actually|by now|these days|currently|now|nowadays|today|recently|lately|yesterday"
    rf"|{SINCE}|in \d{{4}}|since \d{{4}}"
    rf"|last (?:week|month|year|summer|winter|spring|autumn|fall|weekend|night|{ANY_WEEKDAY})"
    r"|this (?:week|month|year|morning)"
    rf"|(?:as of|as from) (?:(?:last|this) )?(?:{ANY_WEEKDAY}|{ANY_MONTH}|week|month|year)"
    rf"|in (?:spring|summer|autumn|fall|winter)|on (?:{ANY_WEEKDAY})"
    r"|in fact|to be honest|honestly|unfortunately|luckily|finally"
)
_FILLERS = re.compile(rf"\A(?:(?:{_FILLER})[,:]?\s++)+(?=\S)", re.IGNORECASE)
_LEAD = re.compile(rf"\A(?:(?:{_FILLER}|{_SETTING})[,:]?\s++)+(?=\S)", re.IGNORECASE)
_DATE = (
    r"(?:in|since|on) (?:(?:early |late |mid[- ])?(?:the )?(?:\d{1,2}(?:st|nd|rd|th)? (?:of )?)?"
    rf"(?:{ANY_MONTH})(?: \d{{1,2}}(?:st|nd|rd|th)?(?!\d))?(?:,? \d{{4}})?|\d{{4}})"
    r"|(?:\w{1,10} ){1,3}(?:day|week|month|year)s? ago"
)
_PAST_DATE = re.compile(
    rf"\A(?:{_DATE}),? (?=(?:I|we|my \w+) (?:have )?(?:\w+ly )?(?:\w+ed|been|got|became|began|quit"
    r"|left|went|took|gone|taken|gave|given)\b)",
    re.IGNORECASE,
)
"""A day before a clause that tells of the past: "In May I moved"."""
_SPLIT = re.compile(
    r"(?:(?<!\s)\s*+|(?<=\s)(?=\S))(?P<mark>,(?!\d{3}\b)|:(?!\s?[\d+])|[;()])\s*+"
    r"|(?<!\s)\s++[–—-]\s++|(?:(?<!\s)\s++|(?<=\s)(?=\S))(?P<word>and|but|because|so|although"
    r"|though|while|whereas|where|since(?=\s++(?:I|my|we)\b)|if|unless|whether|that|who|which|when"
    r"|in case|und|aber|et|mais|y|pero)\s++",
    re.IGNORECASE,
)
_SPEAKERS = frozenset({"I", "we", "call me"})
_SUPPOSING = frozenset({"if", "unless", "whether", "in case"})
_NOT_ASSERTING = frozenset({"that", "who", "which", "when"})
_SUPPOSED = re.compile(
    r"\A\s*+(?:and\s++|but\s++|so\s++|well,?\s++)?(?:if|suppose|supposing|imagine|pretend"
    r"|say\b(?=,?\s+i\b)|let'?s say|assum(?:e|ing)|what if|i wish|wish"
    r"|would|could|should|maybe|perhaps|in case|unless|whether|hypothetically|as if|wenn|falls|si"
    r"|angenommen|stell dir vor|nehmen wir an|vielleicht|womöglich"
    r"|in (?:my|a|an|the|this|that|some|your|his|her|our) (?:\w+ )?(?:dreams?|nightmare|fantasy"
    r"|imagination|game|story|novel|book|movie|film|play|simulation|role-?play|scenario"
    r"|thought experiment)(?=,|\s+(?:I|we|my|the|an?|he|she|it|they|there)\b))\b",
    re.IGNORECASE,
)
_NOT_HERE = re.compile(
    r"\bin (?:my|a|an|the|this|that) (?:\w+ )?(?:dreams?|nightmare|fantasy|game|story|novel"
    r"|simulation|role-?play)"
    r"(?: (?:last night|yesterday|today|again|once))?$",
    re.IGNORECASE,
)
_UNREAL = re.compile(
    r"\A.*\b(?:dreamt|dreamed|(?:dream|nightmare)s?|imagin(?:e|ed|ing)|pretend(?:ed|ing)?"
    r"|fanta[sz]i[sz](?:e|ed|ing)|daydream(?:ed|ing)?)\b",
    re.IGNORECASE,
)
"""A clause after which no clause asserts a fact."""
_QUOTES = re.compile(
    r"\A.*\b(?:said|says|wrote|writes|told|tells|texted|posted|tweeted|asked|replied|answered"
    r"|shouted|whispered|claims?|claimed|announced|quoted"
    r"|goes|was like|is like)(?: (?:to )?(?:me|us|him|her|them|everyone|everybody|\w+))?$",
    re.IGNORECASE,
)
"""The end of a clause about another person, after which that person is quoted."""
_ASKS = re.compile(
    r"(?:do|does|did|is|are|am|was|were|can|could|would|will|shall|should|have|has|had|may|might"
    r"|what|where|when|which|who|whom|whose|why|how"
    r"|any|right|isn't|don't|okay|ok)\b",
    re.IGNORECASE,
)
_OURS = (
    "budget|rent|deadline|due date|appointment|meeting|interview|exam|flight|stand-?up|wedding"
    "|surgery|viewing|presentation|demo|launch|release|shift|class|course|lesson|party|dinner"
    "|mortgage"
)
"""Things of the speaker's, also without "my": "the meeting is on Tuesday"."""
_NAME = (
    r"(?!(?:I|The|A|An|My|Your|His|Her|Their|Our|This|That|These|Those|It|He|She|They|We|You|Who"
    r"|What|There|Here|Everyone|Everybody|Someone"
    r"|Somebody|Nobody|Anyone|One|Most|Some|Many|People|All|And|But|So|Then|Also|Yes|No|Well|Now"
    r"|Today|Just|Recently|Finally|Please|User|Assistant|When|Whenever|Where|While|If|Unless|Until"
    r"|Since|Because|Although|Though|Once|After|Before|As|For|In|On|At|With|How|Why|Such|Each|Every"
    r"|Both|Other|Others|Several|Few|Whether|Everything|Something|Nothing|Weight|Height|Rent|Salary"
    r"|Budget|Price|Number|Address|Port|Version|Work|Life|School|Sleep|Training)\b)[A-Z][\w'-]*(?:\s[A-Z][\w'-]*)?"
)
"""A name that begins a clause.

"User" and "Assistant" are no names. Memories call speakers so, and a speaker that pastes a memory
asserts no fact by it.
"""
_ROLE = (
    r"(?:(?:best|new|class|key|social|piano|maths?) )?"
    r"(?:teacher|doctor|dentist|coach|trainer|therapist|nurse|carer|boss|friend|worker|tutor)"
)
"""Relations of a person to another one, of whom a clause tells: "Theo's teacher"."""
_THEIR_ROLE = re.compile(rf"(?:his|her) (?P<role>{_ROLE}) (?=is\b)")
_SUBJECT = re.compile(
    r"\A(?:(?P<self>I\b|(?:[Jj]ust|[Rr]ecently|[Ff]inally)\s+(?=[a-z]+ed\b|got\b|became\b"
    r"|started\b))\s*|(?P<us>[Ww]e)\b\s*|(?:(?:[Mm]y"
    rf"|[Oo]ur)\s+(?!mother tongue)|(?=(?i:{_SURELY_OWN})\s[A-Z]))"
    rf"(?P<relation>(?i:{_RELATION}))(?P<called>\s+{_NAME})?(?=\s"
    r"|'s)(?!\s(?:appointment|visit|bill|surgery|office|food|show|party)\b)\s*"
    rf"|(?P<own>[Mm]y|(?:[Tt]he|[Oo]ur)(?=\s(?:[\w-]+\s){{0,3}}(?:{_OURS})\b))\b\s+|"
    r"(?:[Pp]lease\s+|[Yy]ou can\s+|[Jj]ust\s+)?(?P<call>[Cc]all\s+me)\b\s*"
    r"|(?P<of>(?!(?:It|That|This|There|What|He|She|Today)\b)[A-Z][\w-]*)['’]s"
    rf" (?P<role>{_ROLE})(?=\s+is\b)\s*"
    rf"|(?P<name>{_NAME})\s+(?=(?:[a-z]+(?:s|ed)|was|had|has|is|got|grew|went|can)\b))"
)
_KIN_AS_NAME = frozenset(("Dad", "Mum", "Mom", "Mother", "Father", "Grandma", "Grandpa"))
"""Relatives whom a person calls by the relation, as by a name."""
_PROJECT = (
    rf"(?!(?i:{ANY_MONTH}|{ANY_WEEKDAY})\b)[A-ZÀ-Þ][\w&-]{{1,30}}(?: [A-ZÀ-Þ][\w&-]{{1,30}})?"
)
_NAMED_THING = re.compile(
    rf"(?P<named>{_PROJECT}) "
    r"(?P<thing>(?:[a-z-]{2,20} )?(?:budget|deadline|due date|launch|release)\b)"
    rf"|(?P<head>budget|deadline|due date) for (?:the )?(?P<of>{_PROJECT})"
    r"(?P<part> (?!(?:is|was|has|will|got|went|moved|slipped|starts|begins)\b)[a-z-]{2,20})?(?= )"
)
"""A thing of a client or a project with a name: "Contoso budget", "deadline for the Helios bid"."""
_RELATIVE_OF = re.compile(rf"'s (?:[a-z]{{2,10}} )?(?:{KIN})\b", re.IGNORECASE)
"""Follows a relative whose own relative a clause is about: "my brother's wife"."""
_REPLACED = re.compile(
    r"\b([Mm]y [\w -]{2,30}?) (?:is not|was|used to be) [^,;]{1,40}[,;] ?(?:but "
    r"|and )?(?:now )?it is (?:now )?(?!not\b)",
    re.IGNORECASE,
)
"""A value that is replaced in the same sentence.

An example is "My name is not Tom, it is Thomas".
"""
_YEARS_OLD = re.compile(
    r"(?P<before>\bI am |, )an? (?P<age>\d{1,3})[ -]years?[ -]old (?=[a-z])"
    r"(?!(?:at|in|on|with|for|from|who|and)\b)"
)
"""An age before a noun, which is a part of its own: "I am a 52-year-old plumber"."""
_OTHERS = re.compile(
    r"(?:he|she|it|they|you|this|that|there|these|those|who|which|what|everyone|people|his|her"
    r"|their|your|our|the)\b",
    re.I,
)


_SIGNS = frozenset({",", "(", ":", ";", "-"})
_JOINS = frozenset({"and", "but"})
"""Words after which a clause without a subject has that of the clause before."""
_COMPARES = re.compile(r"(?:just |much |more |something |a lot )?like\b", re.IGNORECASE)
"""Opens an example or a comparison after a sign: "tools, like Zotero".

There "like" is no verb.
"""


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a sentence.

    Attributes:
        subject: "I", "my" (a thing of the speaker), "we", "call me", "my sister", "my sister Lena",
            "the Contoso" (a thing of a named client or project), a name, or "" for none.
        rest: The words after the subject.
        joined: The word or sign before the clause: "and", ",".
        carried: Whether the subject is that of an earlier clause.
        lead: Whether words like "Hi," or "last week" are before it.
        called: The name of a relative whose relation fills a slot: "Julia" of "my wife Julia".

    """

    subject: str
    rest: str
    joined: str = ""
    carried: bool = False
    lead: bool = False
    called: str = ""


def asserted_clauses(sentence: str) -> list[Clause]:
    """The clauses of a sentence that assert a fact, in order.

    Questions and suppositions are left out, and clauses that `that`, `who`, `which` or `when`
    joins.
    """
    plain = re.sub(r"^i\b|(?<=\s)i\b", "I", expanded(own_part(sentence)).strip().rstrip(".!…"))
    plain = with_time_behind(_REPLACED.sub(r"\1 is ", plain))
    plain = _YEARS_OLD.sub(r"\g<before>\g<age> years old, a ", plain)
    asks = plain.endswith("?")
    if _SUPPOSED.match(plain) or _NOT_HERE.search(plain):
        return []
    clauses: list[Clause] = []
    subject = ""
    bare = _drop_lead(plain)
    pieces, lead = _split_clauses(bare), bare != plain
    for joined, piece in pieces:
        if (
            joined in _SUPPOSING
            or (asks and _ASKS.match(piece))
            or (clauses and _SUPPOSED.match(piece))
        ):
            break
        if joined in _NOT_ASSERTING:
            subject = ""
            continue
        clause = _clause(piece.rstrip("?"), joined, subject, lead)
        is_thing = clause.subject == "my" or clause.subject.startswith("the ")
        subject = "" if is_thing and not clause.carried else clause.subject
        clauses.append(clause)
        if _UNREAL.match(piece) or quotes(clause):
            break
        lead = lead or not clause.subject
    # A question without a word that opens it ("I live in Rome?") asserts nothing at all.
    return clauses if not asks or len(clauses) < len(pieces) else []


_TIME_FIRST = re.compile(
    rf"(?P<time>{SINCE_WHEN}[^,;:.!?()]{{0,40}}?),? "
    r"(?P<clause>(?:I|we) (?:\w{2,12}ly |just |also )?"
    r"(?:(?:do|am|are|have) not|no longer) [^,;:.!?()]{2,80}?)"
    r"(?=[,;:.!?()]|\Z| (?:and|but|so|because|as) )",
    re.IGNORECASE,
)


def with_time_behind(sentence: str) -> str:
    """Put the time since when a state is denied behind the clause.

    Args:
        sentence: "Since Friday I do not work at Otto", without contractions.

    Returns:
        "I do not work at Otto since Friday"; another sentence as it is.

    """
    lead = _FILLERS.match(sentence)
    start = 0 if lead is None else lead.end()
    match = _TIME_FIRST.match(sentence, start)
    if match is None:
        return sentence
    time = match["time"][:1].lower() + match["time"][1:]
    return f"{sentence[:start]}{match['clause']} {time}{sentence[match.end() :]}"


def quotes(clause: Clause) -> bool:
    """Whether another person's words follow the clause: "Anna said: I moved"."""
    return clause.subject not in _SPEAKERS and _QUOTES.match(clause.rest) is not None


_APPOSITION = (
    r"(?:that's |that is )?(?:my|our) (?:[\w'-]{1,20} ){0,3}[\w'-]{1,20}, "
    r"(?!(?:always|perhaps|sometimes|besides|thus|yes|plus|whereas|this)\b)(?:who|has|had|is|was"
    r"|will|got|went|[a-z]{2,20}s|[a-z]{2,20}ed)\b"
)
"""An apposition: the name in "Saoirse, our seven-year-old, has swimming" is no address."""
_SPOKEN_TO = re.compile(
    rf"(?!I\b)[A-ZÀ-Þ][^\W\d_]{{1,20}}, (?!{_APPOSITION})"
    r"(?=(?:I|I'm|I've|I'd|I'll|[Mm]y|[Ww]e|[Oo]ur|[Ii]t|[Tt]hey|[Tt]hat|[Tt]his|[Yy]ou)\b)"
)


def without_fillers(text: str) -> str:
    """Drop fillers and an address: "Hi Ana, by the way, I moved" → "I moved"."""
    match = _FILLERS.match(text)
    rest = text[match.end() :] if match else text
    spoken_to = _SPOKEN_TO.match(rest)
    return rest[spoken_to.end() :] if spoken_to else rest


def _drop_lead(text: str) -> str:
    match = _LEAD.match(text)
    rest = text[match.end() :] if match else text
    return _PAST_DATE.sub("", rest)


def _split_clauses(sentence: str) -> list[tuple[str, str]]:
    """(word or sign before the clause, clause), in order."""
    pieces: list[tuple[str, str]] = []
    joined, start = "", 0
    for match in _SPLIT.finditer(sentence):
        if piece := sentence[start : match.start()].strip():
            pieces.append((joined, piece))
            joined = ""
        joined = (
            joined if match["mark"] and joined else (match["word"] or match["mark"] or "-").lower()
        )
        start = match.end()
    if piece := sentence[start:].strip():
        pieces.append((joined, piece))
    return pieces


def _clause(piece: str, joined: str, subject: str, lead: bool) -> Clause:
    """Read the subject of a clause, else carry over `subject`, that of the clause before."""
    bare = _drop_lead(piece)
    match = _SUBJECT.match(bare)
    role = _THEIR_ROLE.match(bare) if subject and subject not in (*_SPEAKERS, "my") else None
    if role is not None:
        return Clause(f"{subject}'s {role['role']}", bare[role.end() :], joined, lead=lead)
    if match is None or (joined in _JOINS and (match["self"] or "I") != "I"):
        if _OTHERS.match(bare) or (joined in _SIGNS and _COMPARES.match(bare)):
            return Clause("", bare, joined, lead=lead)
        return Clause(subject, bare, joined, carried=True, lead=lead)
    rest = bare[match.end() :]
    lead = lead or bare != piece
    if match["relation"]:
        is_of_work = match["called"] is not None and match["called"].isupper()  # my partner API
        if _RELATIVE_OF.match(rest) or is_of_work:
            return Clause("", bare, joined, lead=lead)
        kind, called = (
            " ".join(match["relation"].split()).lower().removeprefix("new "),
            " ".join((match["called"] or "").split()),
        )
        if _THE_ONLY.fullmatch(kind):
            return Clause(f"my {kind}", rest, joined, lead=lead, called=called)
        return Clause(f"my {kind} {called}".rstrip(), rest, joined, lead=lead)
    if match["of"]:
        return Clause(f"{match['of']}'s {match['role']}", rest, joined, lead=lead)
    if match["name"]:
        by_kin = match["name"] in _KIN_AS_NAME
        subject = f"my {match['name'].lower()}" if by_kin else match["name"]
        return Clause(subject, rest, joined, lead=lead)
    if match["own"] and match["own"].casefold() != "my":
        thing = _NAMED_THING.match(rest)
        if thing is not None:
            of_thing = thing["thing"] or f"{thing['part'] or ''} {thing['head']}".strip()
            named = thing["named"] or thing["of"]
            return Clause(f"the {named}", f"{of_thing}{rest[thing.end() :]}", joined, lead=lead)
    if match["own"] == "":
        rest = rest[:1].lower() + rest[1:]
    named = "I" if match["self"] else "we" if match["us"] else "call me" if match["call"] else "my"
    return Clause(named, rest, joined, lead=lead)


# Turn the first person into the third: "I moved to Lisbon" becomes "User moved to Lisbon".
#
# `third_person` returns None where this is not simple, and its caller quotes the sentence. Note:
# only pronouns and the verb after "I" change, so the sentence asserts nothing new. English only.


_PERSON = r"(?!(?:Let|Here)\b)[A-ZÀ-Þ][a-zà-ÿ]{1,20}"
_BEGINS = (
    r"(?P<before>\A|[,;:.!?(–—-] ?|\b(?:and|but|so|because|that|as|since|now) "
    r"|\b[Mm]y (?:(?:best|old|older|younger|little|big|twin|new) )?"
    r"(?!(?:at|to|from|in|of|with|near|by|best|old|new)\b)[a-z]{2,12} )"
)
"""Where a clause begins; elsewhere a name has things: "at Tom's on Friday"."""
_CONTRACTIONS = (
    (re.compile(r"\b(I)['’]m\b", re.I), r"\1 am"),
    (re.compile(r"\b(you|we|they)['’]re\b", re.I), r"\1 are"),
    (re.compile(r"\b(I|you|we|they)['’]ve\b", re.I), r"\1 have"),
    (re.compile(r"\b(I|you|he|she|it|we|they)['’]ll\b", re.I), r"\1 will"),
    (re.compile(r"\b(I|you|he|she|we|they)['’]d\b", re.I), r"\1 would"),
    (
        re.compile(
            r"\b(he|she|it|that|there|what|who|name|birthday|favou?rite \w+)['’]s\b(?=\s)", re.I
        ),
        r"\1 is",
    ),
    (
        re.compile(
            rf"{_BEGINS}(?P<who>{_PERSON}|[Mm]y [a-z]{{2,12}})['’]s (?=(?:allergic|co?eliac|vegan"
            r"|vegetarian|diabetic|asthmatic|autistic|dyslexic|married|pregnant|not|now|still|also|moving|going"
            r"|starting|turning|(?:in(?!-)|at|from|on(?!-))(?! \w+ (?:is|was|has|opens|closes)\b)"
            r"|an?|the|\d{1,3}(?=[,.;!]|\Z| now| and))\b)"
        ),
        r"\g<before>\g<who> is ",
    ),
    (
        re.compile(rf"{_BEGINS}(?P<who>{_PERSON})['’]s (?=(?:got|gone|been|started|outgrown)\b)"),
        r"\g<before>\g<who> has ",
    ),
    (
        re.compile(
            rf"(?P<who>{_PERSON}) \((?P<age>\d{{1,2}})\) (?=(?:is|has|can|[a-z]{{2,12}}s)\b)"
        ),
        r"\g<who> is \g<age> and ",
    ),
    (re.compile(r"\bcan['’]?t\b|\bcannot\b", re.I), "can not"),
    (re.compile(r"\bwon['’]t\b", re.I), "will not"),
    (re.compile(r"\b(\w+)n['’]t\b", re.I), r"\1 not"),
    (re.compile(r"(?<=[a-z]) n (?=[a-z])"), " and "),
)


@keep_texts(1_024)
def expanded(sentence: str) -> str:
    """Write out contractions: "I'm" → "I am", "don't" → "do not"."""
    plain = written_out(sentence.replace("’", "'"))
    if any(part in plain for part in ("'", "cannot", "cant", " n ", " (")):
        for pattern, written in _CONTRACTIONS:
            plain = pattern.sub(written, plain)
    return plain
