"""Extract foresight: states that hold for a while or will begin, and until when.

A time that a sentence names comes first (`forward_dates`). Otherwise the usual duration of a state
that passes by itself counts (`PASSING`). Note: times are relative to the message's own time, so the
foresight of a conversation that is saved a year late is over when it is saved. Only users' own
statements count, as with facts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from memory_core.adapters.offline.clauses import asserted_clauses, expanded, without_fillers
from memory_core.adapters.offline.german_facts import is_german
from memory_core.adapters.offline.japanese_facts import is_japanese
from memory_core.adapters.offline.own_plans import is_own, without_reminder
from memory_core.adapters.offline.retractions import says_wrong
from memory_core.adapters.offline.running_rules import checkpoint, fitted
from memory_core.adapters.offline.voice import is_past, third_person
from memory_core.domain.agent_schemas import SaidForesight
from memory_core.domain.conversation import Message
from memory_core.domain.statements.corrected import TAKES_BACK, with_correction
from memory_core.domain.statements.own_words import may_tell, name_of_speaker, own_statements
from memory_core.domain.text.foreign_dates import names_german_time, with_english_times
from memory_core.domain.text.forward_dates import Ahead, ahead
from memory_core.domain.text.spelled_out import spelled_out
from memory_core.domain.text.spelling import NUMBER_WORDS

MAX_FORESIGHT = 20
"""Foresights of a conversation."""
_NOT_NOW = re.compile(
    r"\b(?:last|ago|yesterday|used to|back in|no longer|not|never|recovered|over (?:it|the)"
    r"|as a (?:child|kid)|when i was|if|wish|nicht"
    r"|kein\w*(?! (?:schule|kita|unterricht|training)\b)|pas|would)\b|n't\b",
    re.IGNORECASE,
)
_KEPT = re.compile(
    r"\b(?:[Ww]e|I|[Tt]hey|[Ii]t|[Hh]e|[Ss]he)(?: (?:always|usually|only|just)){0,2}"
    r" (?:keep|store|retain|archive|cache)s? (?!(?:the|my|his|her|their|your) )"
    r"(?:[\w-]{2,20} ){0,2}?\w{2,20}s for\b"
    r"|\b(?:is|are) (?:always |only )?(?:kept|stored|retained|archived|cached) for\b"
    r"|\b(?:[Ww]ir|[Ii]ch) (?:behalten?|speichern?|bewahren?|archivieren?) [^.!?]{0,40}"
    r"\b(?:für|for)\b"
)
"""How long things are kept each time, which does not end: "we keep backups for 14 days"."""
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_FORWARD = re.compile(
    r"\b(?:will|am|are|is|going to|gonna|plan(?:s|ning)?|flying|leaving|start(?:s|ing)?"
    r"|have (?:an?|my|the|to)|has (?:an?|to)|booked|scheduled|reserved|signed up|registered"
    r"|got (?:tickets?|an? (?:appointment|interview))|invited|want to|need to|hope to|intend to"
    r"|must|expect(?:ing)?|on until|due|moving|bin|werde|suis|vais|estoy|voy)\b",
    re.IGNORECASE,
)
_HAVE_GOT = re.compile(r"\b(have|has) got\b", re.IGNORECASE)
"""The present of "have"; "got" is a past elsewhere."""
_FIRST_VERB = re.compile(
    r"\b(?:I|[Ww]e|[Yy]ou|[Tt]hey|[Hh]e|[Ss]he|[Ii]t)\s+(?:(?:just|also|really|finally|recently"
    r"|already|even|then|have)\s+)*(?P<verb>[a-z]+)"
)
_BARE_PAST = re.compile(
    r"\A(?:(?:just|then|only|finally)\s++)*(?P<verb>[a-z]+ed|came|went|left|got)\b"
)
_LASTED = re.compile(
    r"\b(?:have|has)\s+(?:\w+\s+)?been\s+(?!told|asked|advised|given|prescribed|put|signed|ordered"
    r"|invited|booked|assigned|sent|banned|suspended|grounded)",
    re.IGNORECASE,
)
"""A state that has lasted until now.

A task that was given ("have been told to") is no such state.
"""
_PAST_WORD = re.compile(
    r"(?<!\bthe )(?<!\ba )(?<!\ban )(?<!\bmy )(?<!\bour )(?<!\bof )(?<!\bnew )(?<!\bget )"
    r"(?<!\bgets )(?<!\bbe )\b(?!\A(?:set|put|let|cut|read|hit|shut|quit)\b)"
    r"(?!(?:bed|red|shed|seed|weed|breed|hundred|indeed|sacred)\b)(?P<verb>[a-z]{3,})\b"
)
"""A word that is a verb if it is a past tense; after an article it is none ("the united team")."""
_NEVER_PAST = re.compile(
    r"\btomorrow\b|(?<!\bthe )\bnext (?:week|weekend|month|year|[a-z]{3,6}day)\b", re.IGNORECASE
)
"""Times that lie ahead, whatever the verb: "she said she's free tomorrow"."""
_CLAUSES = re.compile(
    r"[,;]\s*|(?<!\s)\s++(?:and|but|because|so|that(?= (?:I|he|she|it|we|they|the|my)\b))\s++"
)
_MODALS = frozenset({"will", "shall", "can", "may", "might", "must", "should", "could", "would"})
_REQUEST = re.compile(
    r"\b(?:(?:could|can|would|will) you|please|(?:kannst|könntest|würdest) du|bitte)\b",
    re.IGNORECASE,
)
_OWN_BUSINESS = re.compile(r"\b(?:I|[Ww]e|[Ii]ch|[Ww]ir)(?:'|’|\b)")
_OBJECT_LEFT_OUT = re.compile(
    r"\b(?:cancel|reschedule|postpone|confirm|book|order) (?:for|on|by|before|until|this|next|today"
    r"|tomorrow|tonight)\b",
    re.IGNORECASE,
)
"""A task without its object, which another sentence names."""
_MONTHS_PREGNANT = re.compile(
    r"\b(?P<count>\d{1,2}|one|two|three|four|five|six|seven|eight|nine)\s+(?P<unit>weeks?"
    r"|months?)\s+pregnant\b",
    re.IGNORECASE,
)
_PREGNANCY_DAYS = 280


def said_foresight(messages: Sequence[Message]) -> list[SaidForesight]:
    """At most `MAX_FORESIGHT` foresights of messages, in their order, without repeats."""
    foresights: dict[str, SaidForesight] = {}
    for number, message in enumerate(messages):
        if not may_tell(message):
            continue
        before, before_key, takes_back = "", "", ""
        for sentence in own_statements(message.content):
            checkpoint()
            if says_wrong(sentence.text) == "":
                takes_back = "Sorry, "
                continue
            written = spelled_out(sentence.text)
            text = without_fillers(written)
            corrected = with_correction(before, takes_back + written)
            before, slip, takes_back = corrected or text, before_key, ""
            if corrected is not None:
                foresights.pop(slip, None)
                text = corrected
            elif slip and TAKES_BACK.match(text) is not None:
                foresights.pop(slip, None)
            before_key = ""
            span = _foreseen(text, message.timestamp, asks=sentence.asks)
            if span is None:
                continue
            name = name_of_speaker(message)
            described = third_person(text, name) or f"{name} said: {corrected or sentence.text}"
            quote = message.content[sentence.start : sentence.end]
            foresight = fitted(
                SaidForesight,
                description=described,
                message=number,
                quote=quote,
                start_time=span[0],
                end_time=span[1],
                confidence=span[2],
            )
            before_key = described.casefold()
            foresights.setdefault(before_key, foresight)
    return list(foresights.values())[:MAX_FORESIGHT]


def _foreseen(
    text: str, said_at: datetime, *, asks: bool
) -> tuple[datetime, datetime | None, float] | None:
    """(start, end, confidence) of a sentence that foresees something of the speaker's life."""
    plan = without_reminder(text)
    reminds = plan != text
    japanese = is_japanese(plan)
    german = not japanese and (is_german(plan) or names_german_time(plan))
    if (asks and not reminds) or not is_own(plan, german=german, japanese=japanese):
        return None
    plan = plan.rstrip("?？") if reminds else plan
    if not (japanese or asserted_clauses(plan)) or _OBJECT_LEFT_OUT.search(plan):
        return None
    plain = _HAVE_GOT.sub(r"\1", expanded(plan))
    span = _span(with_english_times(plain, german=german, japanese=japanese), said_at)
    return None if span is None or (not reminds and _is_request(text, said_at)) else span


def _span(text: str, said_at: datetime) -> tuple[datetime, datetime | None, float] | None:
    """(start, end, confidence) in UTC; None for no foresight.

    The end is None where the sentence names none. None also for times outside the calendar's
    years, 1 to 9999.
    """
    try:
        span = _span_in_zone(text, said_at)
        if span is None:
            return None
        start, end, confidence = span
        return (
            start.astimezone(timezone.utc),
            None if end is None else end.astimezone(timezone.utc),
            confidence,
        )
    except (OverflowError, ValueError):  # what `timedelta` and `datetime` raise there
        return None


def _span_in_zone(text: str, said_at: datetime) -> tuple[datetime, datetime | None, float] | None:
    """(start, end, confidence) in the zone of `said_at`.

    Confidence is 0.9 where the sentence names the time, 0.6 where it is a usual duration.
    """
    if _NOT_NOW.search(text) or _KEPT.search(text):
        return None
    named = ahead(text, said_at)
    if named is not None and not _is_over(text, said_at):
        named = ahead(_without_past_clauses(text, said_at), said_at)
    elif named is not None:
        return None
    if named is not None and (named.intrinsic or _looks_ahead(text)):
        start = _not_before(named, text, said_at)
        return start, None if named.open else named.end, 0.9
    row = next((row for row in PASSING if row.pattern.search(text)), None)
    if (
        row is None
        or named is not None
        or any(int(year) < said_at.year for year in _YEAR.findall(text))
    ):
        return None
    months = _MONTHS_PREGNANT.search(text)
    days = row.days if months is None else max(7, _PREGNANCY_DAYS - _passed_days(months))
    return said_at, said_at + timedelta(days), 0.6


def _not_before(named: Ahead, text: str, said_at: datetime) -> datetime:
    """The start of a time; `said_at` where it has begun ("here until Friday")."""
    return said_at if named.start < said_at else named.start


def _looks_ahead(text: str) -> bool:
    """Whether a sentence is about the present or the future."""
    if _FORWARD.search(text):
        return True
    verb = _FIRST_VERB.search(text)
    return verb is None or not _is_past_verb(verb["verb"])


def _is_over(text: str, said_at: datetime) -> bool:
    """Whether all clauses with a time are past: "I ran here for nine years"."""
    timed = [clause for clause in _CLAUSES.split(text) if ahead(clause, said_at) is not None]
    return bool(timed) and all(_is_past_clause(clause) for clause in timed)


def _is_request(text: str, said_at: datetime) -> bool:
    """Whether all clauses with a time are requests: "could you check tomorrow's weather"."""
    timed = [clause for clause in _CLAUSES.split(text) if ahead(clause, said_at) is not None]
    asked = [
        match
        for clause in timed
        if (match := _REQUEST.search(clause)) and not _OWN_BUSINESS.search(clause, match.end())
    ]
    return bool(timed) and len(asked) == len(timed)


def _without_past_clauses(text: str, said_at: datetime) -> str:
    """Drop past clauses: "I came in March and start in October" is about October."""
    clauses = _CLAUSES.split(text)
    remaining = [
        clause
        for clause in clauses
        if ahead(clause, said_at) is None or not _is_past_clause(clause)
    ]
    return text if len(remaining) == len(clauses) else ", ".join(remaining)


def _is_past_clause(clause: str) -> bool:
    """Whether a clause is about the past, or a state that lasted until now."""
    if _NEVER_PAST.search(clause):
        return False
    if _LASTED.search(clause):
        return True
    first = _FIRST_VERB.search(clause) or _BARE_PAST.match(clause)
    verbs = [first] if first else _PAST_WORD.finditer(clause)
    return not _FORWARD.search(clause) and any(_is_past_verb(verb["verb"]) for verb in verbs)


def _is_past_verb(verb: str) -> bool:
    return verb == "were" or (verb not in _MODALS and is_past(verb))


def _passed_days(match: re.Match[str]) -> int:
    """Days of a pregnancy that are over."""
    count = match["count"].lower()
    number = int(count) if count.isdecimal() else NUMBER_WORDS.index(count)
    return number * (7 if match["unit"].lower().startswith("week") else 30)


# Temporary states with their usual duration: "I have a cold" is over in a week.
#
# They are used for sentences without a time. The durations are everyday experience, not medicine.
# Note: a state ends when it is no longer believed, so the end is late rather than early.


@dataclass(frozen=True, slots=True)
class Passing:
    """A pattern of sentences in the present, and the days for which they are believed."""

    pattern: re.Pattern[str]
    days: int


def _row(expression: str, days: int) -> Passing:
    return Passing(re.compile(rf"\b(?:{expression})\b", re.IGNORECASE), days)


PASSING: tuple[Passing, ...] = (
    # illness and injury
    _row(r"food poisoning|stomach bug|upset stomach", 3),
    _row(r"hung ?over", 1),
    _row(r"headache|migraine attack|toothache", 2),
    _row(r"sore throat|a cough|feeling (?:sick|ill|unwell)|am (?:sick|ill)|under the weather", 5),
    _row(r"(?:a|bad|terrible|nasty) cold|caught a cold|runny nose|(?:the )?flu|tonsillitis|a fever"
        r"|bronchitis|sinus infection", 7),
    _row(r"covid(?:-19)?|corona|chicken ?pox|mumps|on antibiotics", 10),
    _row(r"concussion|back (?:is|went) out|pulled (?:a|my) muscle", 14),
    _row(r"sprained (?:my|an?) \w+|twisted my \w+", 21),
    _row(r"broke(?:n)? (?:my|an?) (?:\w+ )?(?:leg|arm|wrist|ankle|foot|hand|collarbone|finger|toe"
        r"|rib)|broken \w+|in a cast|on crutches|fractured", 42),
    _row(r"recovering from|had (?:\w+ )?surgery|had an operation|in rehab", 42),
    _row(r"in (?:the )?hospital|hospitali[sz]ed", 10),
    # life
    _row(r"(?:am|is|are|got) (?:\w+ ){0,3}pregnant|expecting (?:a baby|twins|our|my)", 280),
    _row(r"(?:maternity|paternity|parental) leave", 365),
    _row(r"sick leave|signed off sick", 14),
    _row(r"(?:on|sabbatical) sabbatical|taking a sabbatical", 180),
    _row(r"on (?:holiday|vacation|leave)|on a (?:trip|cruise|road trip)"
        r"|travell?ing (?:through|around|in|to)|visiting (?:my|a|the)|backpacking", 14),
    _row(r"jet[- ]?lag(?:ged)?", 4),
    _row(r"on (?:a|an?) (?:\w+ )?diet"
        r"|(?:start(?:ed|ing)|began|beginning|doing|trying|going on) (?:(?:a|an|the|my"
        r"|this) )?(?:(?:new|strict) )?"
        r"(?:low[- ]carb|\w+) diet|intermittent fasting", 30),
    _row(r"fasting (?:today|right now)|am fasting", 2),
    _row(r"training for (?:a|an|the|my)|preparing for (?:a|an|the|my) (?:marathon|race|triathlon"
        r"|competition|concert)", 90),
    _row(r"(?:studying|revising|preparing|cramming) for (?:my|the|an?) (?:\w+ )?(?:exams?|finals"
        r"|test|interview)|exam (?:week|period|season)", 21),
    _row(r"(?:looking|searching|hunting) for (?:a|an) (?:\w+ )?(?:job|flat|apartment|house|place"
        r"|roommate)|(?:job|flat|house|apartment)[- ]hunting", 90),
    _row(r"between jobs|unemployed|out of work", 90),
    _row(r"(?:moving|packing) (?:house|flat|apartments?|boxes)|in the middle of (?:a|the|my) move",
        30),
    _row(r"(?:renovating|redoing|painting) (?:my|our|the) \w+", 60),
    _row(r"planning (?:my|our|a|the) (?:\w+ )?(?:wedding|trip|party|move|holiday|vacation)", 120),
    _row(r"(?:night|late|early) shifts?", 14),
    _row(r"(?:very|so|super|extremely|really) (?:busy|stressed|tired|exhausted)|burn(?:ed|t) out"
        r"|swamped|on a deadline|crunch time", 7),
    _row(r"staying (?:with|at) (?:my|a|an|the)|house-?sitting|dog-?sitting"
        r"|cat-?sitting|babysitting", 14),
    _row(r"(?:car|bike|laptop|phone|washing machine|dishwasher|oven|heating|boiler) (?:is"
        r"|just) (?:broken|broke(?: down)?|in the shop|being repaired)", 14),
    # other languages
    _row(r"(?:ich bin|bin) (?:stark |total )?erkältet|habe eine erkältung|suis enrhumée?|un rhume"
        r"|tengo un resfriado|estoy resfriad[oa]|habe (?:die )?grippe", 7),
    _row(r"(?:ich bin|bin) (?:im urlaub|krank)|suis (?:en vacances|malade)"
        r"|estoy (?:de vacaciones|enferm[oa])", 10),
    _row(r"(?:ich bin|bin) schwanger|suis enceinte|estoy embarazada", 280),
)  # fmt: skip
