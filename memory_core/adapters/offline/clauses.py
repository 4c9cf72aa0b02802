"""A sentence in clauses: of whom each one speaks, and whether it asserts anything.

"I live in Berlin, work as a baker and love ramen" is three clauses about "I". Note: a rule that matches a
pattern against `Clause.rest` from its beginning has already left out "I think I live", "I would live" and "if I lived", because
the verb does not stand right after the subject there. English; a clause of another language comes with no subject.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory_core.adapters.offline.voice import expanded

SINGULAR = (
    "wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|mother|mom|mum|mam|father|dad|boss|manager|landlord|landlady"
    "|mother-in-law"
    "|father-in-law|stepmother|stepfather"
)
"""Of these a person has one, so their name fills a slot."""
_THE_ONLY = re.compile(SINGULAR)
_MANY = (
    "sister|brother|son|daughter|kid|child|baby|grandmother|grandma|grandfather|grandpa|aunt|uncle|cousin|niece|nephew|friend|best friend"
    "|roommate|flatmate|colleague|coworker|neighbou?r|doctor|dentist|therapist|teacher|dog|cat|puppy|kitten|horse"
    "|rabbit|hamster|parrot|pet"
)
_RELATION = rf"(?:(?:older|younger|little|big|elder|twin|best|oldest|youngest|new|late|ex-?)\s*)?(?:{SINGULAR}|{_MANY})"
_FILLER = (
    r"well|yes|yeah|yep|no(?=[,:]|\s+(?:I|my|we|our)\b)|nope"
    r"|hi|hello|hey|oh|ok|okay|btw|by the way|anyways?|so|and|but|then|fyi|sure|right|great|thanks|sorry"
    r"|as i (?:said|mentioned)|as you (?:may )?know|you know|just so you know|for the record|the truth is|turns out"
    r"|(?:please )?(?:remember|note|keep in mind)(?: that)?"
    r"|i (?:just |also )?(?:want(?:ed)? to|should|must|forgot to) (?:mention|say|tell you|add)(?: that)?"
    r"|i (?:already )?(?:told you|said)(?: that)?"
)
_SETTING = (
    r"also|actually|by now|these days|currently|now|nowadays|today|recently|lately|yesterday|in \d{4}|since \d{4}"
    r"|last (?:week|month|year|summer|winter|spring|autumn|fall|weekend|night)|this (?:week|month|year|morning)"
    r"|in fact|to be honest|honestly|unfortunately|luckily|finally"
)
_FILLERS = re.compile(rf"\A(?:(?:{_FILLER})[,:]?\s++)+(?=\S)", re.IGNORECASE)
_LEAD = re.compile(rf"\A(?:(?:{_FILLER}|{_SETTING})[,:]?\s++)+(?=\S)", re.IGNORECASE)
_SPLIT = re.compile(
    r"(?:(?<!\s)\s*+|(?<=\s)(?=\S))(?P<mark>,(?!\d{3}\b)|:(?!\s?[\d+])|[;()])\s*+|(?<!\s)\s++[–—-]\s++"
    r"|(?:(?<!\s)\s++|(?<=\s)(?=\S))(?P<word>and|but|because|so|although|though|while|whereas|where|since(?=\s++(?:I|my|we)\b)"
    r"|if|unless|whether|that|who|which|when|in case|und|aber|et|mais|y|pero)\s++",
    re.IGNORECASE,
)
_SPEAKERS = frozenset({"I", "we", "call me"})
_SUPPOSING = frozenset({"if", "unless", "whether", "in case"})
_NOT_ASSERTING = frozenset({"that", "who", "which", "when"})
_SUPPOSED = re.compile(
    r"\A\s*+(?:and\s++|but\s++|so\s++|well,?\s++)?(?:if|suppose|supposing|imagine|pretend|say\b(?=,?\s+i\b)|let'?s say|assum(?:e|ing)"
    r"|what if|i wish|wish"
    r"|would|could|should|maybe|perhaps|in case|unless|whether|hypothetically|as if|wenn|falls|si"
    r"|in (?:my|a|an|the|this|that|some|your|his|her|our) (?:\w+ )?(?:dreams?|nightmare|fantasy|imagination|game|story|novel|book|movie"
    r"|film|play|simulation|role-?play|scenario|thought experiment)(?=,|\s+(?:I|we|my)\b))\b",
    re.IGNORECASE,
)
_NOT_HERE = re.compile(
    r"\bin (?:my|a|an|the|this|that) (?:\w+ )?(?:dreams?|nightmare|fantasy|game|story|novel|simulation|role-?play)"
    r"(?: (?:last night|yesterday|today|again|once))?$",
    re.IGNORECASE,
)
_UNREAL = re.compile(
    r"\A.*\b(?:dreamt|dreamed|(?:dream|nightmare)s?|imagin(?:e|ed|ing)|pretend(?:ed|ing)?|fanta[sz]i[sz](?:e|ed|ing)"
    r"|daydream(?:ed|ing)?)\b",
    re.IGNORECASE,
)
"""A clause after which nothing that is told was so."""
_QUOTES = re.compile(
    r"\A.*\b(?:said|says|wrote|writes|told|tells|texted|posted|tweeted|asked|replied|answered|shouted|whispered"
    r"|claims?|claimed|announced|quoted"
    r"|goes|was like|is like)(?: (?:to )?(?:me|us|him|her|them|everyone|everybody|\w+))?$",
    re.IGNORECASE,
)
"""A clause about another person that ends like this is continued in that person's words."""
_ASKS = re.compile(
    r"(?:do|does|did|is|are|am|was|were|can|could|would|will|shall|should|have|has|had|may|might|what|where|when|which|who|whom|whose|why"
    r"|how"
    r"|any|right|isn't|don't|okay|ok)\b",
    re.IGNORECASE,
)
_OURS = (
    "budget|rent|deadline|due date|appointment|meeting|interview|exam|flight|stand-?up|wedding|surgery|viewing|presentation|demo|launch"
    "|release|shift|class|course|lesson|party|dinner|mortgage"
)
"""Things of the speaker's that go without "my": "the meeting is on Tuesday"."""
_NAME = (
    r"(?!(?:I|The|A|An|My|Your|His|Her|Their|Our|This|That|These|Those|It|He|She|They|We|You|Who|What|There|Here"
    r"|Everyone|Everybody|Someone"
    r"|Somebody|Nobody|Anyone|One|Most|Some|Many|People|All|And|But|So|Then|Also|Yes|No|Well|Now|Today|Just|Recently|Finally"
    r"|Please|User|Assistant|When|Whenever|Where|While|If|Unless|Until|Since|Because|Although|Though|Once|After|Before|As|For|In|On|At"
    r"|With|How|Why|Such|Each|Every|Both|Other|Others|Several|Few|Whether)\b)[A-Z][\w'-]*(?:\s[A-Z][\w'-]*)?"
)
"""A name that begins a clause.

"User" and "Assistant" are none: memories call people so, and a speaker who pastes a memory says nothing.
"""
_SUBJECT = re.compile(
    rf"\A(?:(?P<self>I\b|(?:[Jj]ust|[Rr]ecently|[Ff]inally)\s+(?=[a-z]+ed\b|got\b|became\b|started\b))\s*|(?P<us>[Ww]e)\b\s*"
    rf"|(?:[Mm]y|[Oo]ur)\s+(?!mother tongue)(?P<relation>{_RELATION})(?P<called>\s+{_NAME})?(?=\s"
    rf"|'s)(?!\s(?:appointment|visit|bill|surgery|office|food|show|party)\b)\s*|(?P<own>[Mm]y|(?:[Tt]he"
    rf"|[Oo]ur)(?=\s(?:[\w-]+\s){{0,3}}(?:{_OURS})\b)|(?=(?i:{_OURS})\s(?:got|is|was|has|moved|will be|starts)\b))(?:\b\s+|(?=\w))|"
    rf"(?:[Pp]lease\s+|[Yy]ou can\s+|[Jj]ust\s+)?(?P<call>[Cc]all\s+me)\b\s*"
    rf"|(?P<name>{_NAME})\s+(?=(?:[a-z]+(?:s|ed)|was|had|has|is|got|grew|went)\b))"
)
_REPLACED = re.compile(
    r"\b([Mm]y [\w -]{2,30}?) (?:is not|was|used to be) [^,;]{1,40}[,;] ?(?:but |and )?(?:now )?it is (?:now )?(?!not\b)", re.IGNORECASE
)
"""What is named and replaced in one breath: "My name is not Tom, it is Thomas"."""
_OTHERS = re.compile(
    r"(?:he|she|it|they|you|this|that|there|these|those|who|which|what|everyone|people|his|her|their|your|our|the)\b", re.I
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause.

    subject: "I", "my" (something of the speaker's), "we", "call me", "my sister", "my sister Lena", a name, or "" for none.
    called: the name beside one of whom there is one, "my wife Julia". rest: what follows the subject.
    carried: the subject is that of an earlier clause. joined: the word or sign before it ("and", ",").
    lead: whether words like "Hi," or "last week" stood before it.
    """

    subject: str
    rest: str
    joined: str = ""
    carried: bool = False
    lead: bool = False
    called: str = ""


def asserted_clauses(sentence: str) -> list[Clause]:
    """The clauses of a sentence that assert something, in order: no question, nothing supposed, nothing told of by "that" or "who"."""
    plain = _REPLACED.sub(r"\1 is ", re.sub(r"^i\b|(?<=\s)i\b", "I", expanded(sentence).strip().rstrip(".!…")))
    asks = plain.endswith("?")
    if _SUPPOSED.match(plain) or _NOT_HERE.search(plain):
        return []
    found: list[Clause] = []
    subject = ""
    bare = _without_lead(plain)
    pieces, lead = _split(bare), bare != plain
    for joined, piece in pieces:
        if joined in _SUPPOSING or (asks and _ASKS.match(piece)) or (found and _SUPPOSED.match(piece)):
            break
        if joined in _NOT_ASSERTING:
            subject = ""
            continue
        clause = _clause(piece.rstrip("?"), joined, subject, lead)
        subject = clause.subject if clause.subject != "my" or clause.carried else ""
        found.append(clause)
        if _UNREAL.match(piece) or quotes(clause):
            break
        lead = lead or not clause.subject
    # A question without a word that opens it ("I live in Rome?") asserts nothing at all.
    return found if not asks or len(found) < len(pieces) else []


def quotes(clause: Clause) -> bool:
    """Whether another person's words follow the clause: "Anna said: I moved"."""
    return clause.subject not in _SPEAKERS and _QUOTES.match(clause.rest) is not None


_SPOKEN_TO = re.compile(
    r"(?!I\b)[A-ZÀ-Þ][^\W\d_]{1,20}, (?=(?:I|I'm|I've|I'd|I'll|[Mm]y|[Ww]e|[Oo]ur|[Ii]t|[Tt]hey|[Tt]hat|[Tt]his|[Yy]ou)\b)"
)


def without_fillers(text: str) -> str:
    """The text without the words before it that say nothing, and who is spoken to: "Hi Ana, by the way, I moved" → "I moved"."""
    match = _FILLERS.match(text)
    told = text[match.end() :] if match else text
    spoken_to = _SPOKEN_TO.match(told)
    return told[spoken_to.end() :] if spoken_to else told


def _without_lead(text: str) -> str:
    match = _LEAD.match(text)
    return text[match.end() :] if match else text


def _split(sentence: str) -> list[tuple[str, str]]:
    """(what joins it to the clause before, clause) in order."""
    pieces: list[tuple[str, str]] = []
    joined, start = "", 0
    for match in _SPLIT.finditer(sentence):
        if piece := sentence[start : match.start()].strip():
            pieces.append((joined, piece))
            joined = ""
        joined = joined if match["mark"] and joined else (match["word"] or match["mark"] or "-").lower()
        start = match.end()
    if piece := sentence[start:].strip():
        pieces.append((joined, piece))
    return pieces


def _clause(piece: str, joined: str, subject: str, lead: bool) -> Clause:
    bare = _without_lead(piece)
    match = _SUBJECT.match(bare)
    if match is None:
        if _OTHERS.match(bare):
            return Clause("", bare, joined, lead=lead)
        return Clause(subject, bare, joined, carried=True, lead=lead)
    rest = bare[match.end() :]
    lead = lead or bare != piece
    if match["relation"]:
        kind, called = " ".join(match["relation"].split()).lower().removeprefix("new "), " ".join((match["called"] or "").split())
        if _THE_ONLY.fullmatch(kind):
            return Clause(f"my {kind}", rest, joined, lead=lead, called=called)
        return Clause(f"my {kind} {called}".rstrip(), rest, joined, lead=lead)
    if match["name"]:
        return Clause(match["name"], rest, joined, lead=lead)
    named = "I" if match["self"] else "we" if match["us"] else "my" if match["own"] else "call me"
    return Clause(named, rest, joined, lead=lead)
