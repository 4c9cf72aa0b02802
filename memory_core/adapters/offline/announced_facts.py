"""Facts that begin in the future: "On 1 October I'm starting at Airbus".

Such a fact fills its slots from that day on. There are employers and jobs, new homes, and all else
that is said to begin on a day. For a place where a user "will be working", the foresight of the
same words must name no end: "tomorrow" is a shift.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from memory_core.adapters.offline.clauses import asserted_clauses, without_fillers
from memory_core.adapters.offline.fact_values import job, organisation
from memory_core.adapters.offline.facts import said_facts
from memory_core.adapters.offline.names import home, place
from memory_core.adapters.offline.running_rules import fitted
from memory_core.adapters.offline.voice import subject_and_owner
from memory_core.domain.agent_schemas import MAX_TERM, MAX_VALUE, SaidFact, SaidForesight
from memory_core.domain.conversation import Message
from memory_core.domain.statements.announced import (
    ANNOUNCES,
    ATTRIBUTES,
    FROM_THEN_ON,
    MOVES,
    ON_A_DAY,
    RISES,
    begins_at,
    is_announced,
)
from memory_core.domain.statements.appointment_words import (
    CANCELLED_IN_ENGLISH,
    CANCELLED_IN_GERMAN,
)
from memory_core.domain.statements.own_words import may_tell, name_of_speaker, own_statements
from memory_core.domain.text.analyzer import tokens
from memory_core.domain.text.spelling import ANY_MONTH, ANY_WEEKDAY
from memory_core.domain.truth.slots import NO_LONGER

_PLACE = re.compile(r"\A(?: as (?P<job>.{2,60}?))? (?:at|for) (?=[A-ZÀ-Þ])")
_JOINED = re.compile(r"\A (?=[A-ZÀ-Þ])")
_JOB = re.compile(r" as (?P<job>(?:an?|the) .{2,60})")
_JOB_ALONE = re.compile(r"\A as (?P<job>(?:an?|the) .{2,60})")
_SCHOOL = re.compile(
    r"universit|college|school|academ|\buni\b|kindergarten|\bclass|\bcourse|degree|\bgym\b|\bPhD\b"
    r"|master's",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:might|(?-i:may)|maybe|perhaps|probably|hope|want|would|could|if|unless|plan|planning|thinking"
    r"|considering|sure|vielleicht|würde|könnte|wenn|falls|möchte|hoffe|überlege)\b",
    re.IGNORECASE,
)
"""Words of sentences that are not yet an announcement."""
_TOWN = r"([A-ZÀ-Þ][\w-]{1,30}(?: [A-ZÀ-Þ][\w-]{1,30}){0,2})"
_CANCELS = re.compile(
    rf"\b(?:[Mm]y|[Oo]ur|[Tt]he) (?:move|relocation) to {_TOWN}(?: (?:on|in"
    rf"|next)\b[^,.;:!?]{{2,30}})?"
    rf"(?:['’]s| is| was| has been| got)(?: been)? (?:{CANCELLED_IN_ENGLISH}|off\b|not happening)"
    rf"|\b(?:I['’]m|I am|[Ww]e['’]re|[Ww]e are) not moving to {_TOWN}"
    rf"|\b(?:I|[Ww]e) (?:won['’]t|will not) (?:be moving|move) to {_TOWN}"
    rf"|\b(?:[Dd]er|[Mm]ein|[Uu]nser) Umzug nach {_TOWN}(?: [^,.;:!?]{{2,30}})?"
    rf" (?:(?:ist|wurde|wird) )?(?:{CANCELLED_IN_GERMAN})"
    r"|\b(?:[Ii]ch ziehe|[Ww]ir ziehen|ziehe ich|ziehen wir)(?: jetzt| nun"
    rf"| doch){{0,2}} nicht nach {_TOWN}"
)
"""An announced move that is called off."""
_WILL_BE = (
    (re.compile(r"(?:['’]ll| will| am going to|['’]m going to) be (living|working)\b"), r" am \1"),
    (
        re.compile(
            r"(?:['’]ll| will| am going to|['’]m going to) (live|work|have|drive|eat|drink|take"
            r"|speak)\b"
        ),
        r" \1",
    ),
    (re.compile(r"\b(I)(?:['’]ll| will) be\b"), r"\1 am"),
    (re.compile(r"\bwill be\b"), "is"),
    (re.compile(r"\A(\w{2,20}) ([Ii]ch|[Ww]ir)\b"), r"\2 \1"),
    (
        re.compile(r"\A(ist|sind|beträgt|lautet|heißt) ((?:mein|unser)\w* [\w-]+)", re.IGNORECASE),
        r"\2 \1",
    ),
    (
        re.compile(r"\b(?:werde|werden) (ich|wir) ([^,;:!?]{1,60}?) (wohne|lebe|arbeite)n\b"),
        r"\1 \3 \2",
    ),
    (
        re.compile(
            r"\b(ich|wir) (?:werde|werden) ([^,;:!?]{1,60}?) (wohne|lebe|arbeite)n\b", re.IGNORECASE
        ),
        r"\1 \3 \2",
    ),
)
_BEGINS = (
    (re.compile(r"\b(?:steigt|sinkt|erhöht sich)\b"), "ist"),
    (re.compile(r"\bist\b([^,;:!?]{0,30}?) auf\b"), r"ist\1"),
    (RISES, " is "),
    (
        re.compile(
            r"\b(?:ich fange|fange ich)\b([^,;:!?]{2,60}?) an\b"
            r"|\b(?:ich beginne|beginne ich)\b([^,;:!?]{2,60})",
            re.IGNORECASE,
        ),
        r"ich arbeite\1\2",
    ),
)
"""What begins on a day, as if it had begun."""
_WORK = re.compile(r"\b(?:notice|job|offer|contract|position|role|resigned|quit)\b", re.IGNORECASE)
_WORK_NEWS = re.compile(
    r"\b(?:got|landed|took|accepted|signed) (?:the|a|\w+'s)(?: new)? (?:job|offer|contract|position"
    r"|role)\b|\b(?:handed in|gave|given) \w+'s notice\b",
    re.IGNORECASE,
)
"""News of a job, which change nothing before the day that is announced beside them."""
_AT_WORK = re.compile(r"\bI(?:['’]m| am) (?:at|with) (?=[A-ZÀ-Þ])")
_IN_A_MONTH = re.compile(rf" (?:in|from) (?:{ANY_MONTH})(?: \d{{4}})?", re.IGNORECASE)
_NO_NEWS = re.compile(
    r"\b(?:on|in|next|at|will|be|is|am|are|moving|going|move|relocating|to|start|starting|joining"
    rf"|goes|up|{ANY_MONTH}|{ANY_WEEKDAY})\b|\d+(?:st|nd|rd|th)?",
    re.IGNORECASE,
)
"""Words of a sentence that announces, besides what it announces."""
_DATE_AFTER = re.compile(
    r"(?<!\s)\s++(?:on|in|from|next|this|tomorrow|starting|after)\b.*", re.IGNORECASE
)
CONFIDENCE = 0.8


def announced_facts(
    messages: Sequence[Message], foresight: Sequence[SaidForesight]
) -> list[SaidFact]:
    """Extract announced facts: employers, jobs, homes, and all that begins on a day.

    Args:
        messages: The messages.
        foresight: Their foresight, from which employers and jobs are read.

    """
    work = [fact for ahead in foresight for fact in _facts(messages[ahead.message], ahead)]
    others = [
        fact
        for number, message in enumerate(messages)
        if may_tell(message)
        for fact in _from_a_day_on(number, message)
    ]
    quotes = {(fact.message, fact.quote) for fact in work}
    return [*work, *(fact for fact in others if (fact.message, fact.quote) not in quotes)]


def without_announced(facts: Iterable[SaidFact], announced: Sequence[SaidFact]) -> list[SaidFact]:
    """Leave out plain sentences that only repeat an announced fact and its day.

    Args:
        facts: The facts.
        announced: The announced facts of the same messages.

    """
    texts = {(fact.message, fact.quote): frozenset(tokens(fact.text)) for fact in announced}
    of_work = {fact.message for fact in announced if fact.attribute in ATTRIBUTES}
    return [
        fact
        for fact in facts
        if fact.attribute is not None
        or (
            not (fact.message in of_work and _WORK_NEWS.search(fact.text))
            and (
                (fact.message, fact.quote) not in texts
                or frozenset(tokens(_NO_NEWS.sub(" ", FROM_THEN_ON.sub(" ", fact.text))))
                - texts[fact.message, fact.quote]
            )
        )
    ]


def _from_a_day_on(number: int, message: Message) -> Iterator[SaidFact]:
    """Facts that a message says will begin on a day, and moves of its speaker.

    The sentences are read without that day.
    """
    name = name_of_speaker(message)
    for sentence in own_statements(message.content):
        quote = message.content[sentence.start : sentence.end]
        if not sentence.asks and (cancelled := _CANCELS.search(quote)) is not None:
            yield from _called_off(number, name, quote, cancelled)
        if sentence.asks or _UNSURE.search(quote) or begins_at(quote, message.timestamp) is None:
            continue
        moves = MOVES.search(quote)
        words = " ".join(FROM_THEN_ON.sub(" ", quote).split()).lstrip(", ")
        if moves is not None and (town := home(quote[moves.end() :])) is not None:
            german = moves.group().casefold().endswith("nach ")
            words = f"Ich wohne in {town}." if german else f"I live in {town}."
        elif words == quote:
            words = _begun(quote)
        if words == quote:
            continue
        for fact in said_facts([message.changed(content=_as_if_begun(words))]):
            text = (
                f"{name}: {quote.strip(' .!')}" if fact.text.startswith(f"{name}: ") else fact.text
            )
            announced = fact.changed(text=text, message=number, quote=quote)
            if is_announced(announced):
                yield announced


def _called_off(number: int, name: str, quote: str, cancelled: re.Match[str]) -> Iterator[SaidFact]:
    """Yield the fact that an announced move does not take place."""
    _, owner, _ = subject_and_owner("I", name)
    town = place(next(group for group in cancelled.groups() if group is not None))
    if town is None or owner is None or _UNSURE.search(quote):
        return
    fact = fitted(
        SaidFact,
        text=f"{name}: {quote.strip(' .!')}",
        message=number,
        quote=quote,
        subject=owner,
        attribute="home city",
        value=f"{NO_LONGER} {town}",
        confidence=CONFIDENCE,
    )
    if len(owner) <= MAX_TERM:
        yield fact


def _begun(quote: str) -> str:
    """The sentence without its day, if it says that something begins; else as it is."""
    words = undated = " ".join(ON_A_DAY.sub(" ", quote).split())
    for expression, turned in _BEGINS:
        words = expression.sub(turned, words)
    return quote if words == undated else words.replace(" .", ".")


def _as_if_begun(words: str) -> str:
    """Rewrite a sentence about the future as a sentence about the present.

    "I will be living in Porto" becomes "I live in Porto".
    """
    for expression, turned in _WILL_BE:
        words = expression.sub(turned, words)
    if _WORK.search(words):
        words = _AT_WORK.sub("I work at ", words)
    return words[:1].upper() + words[1:]


def _facts(message: Message, ahead: SaidForesight) -> Iterator[SaidFact]:
    if (
        ahead.start_time <= message.timestamp
        or _SCHOOL.search(ahead.quote)
        or not ANNOUNCES.search(ahead.quote)
    ):
        return
    name, owner, _ = subject_and_owner("I", name_of_speaker(message))
    for clause in asserted_clauses(without_fillers(ahead.quote)):
        words = (
            f"I {clause.rest}"
            if clause.subject == "I"
            else clause.rest
            if not clause.subject
            else ""
        )
        employer, named_job = _work(words, lasts=ahead.end_time is None)
        if employer is not None:
            yield from _fact(ahead, owner, "employer", employer, f"{name} works at {employer}")
        if named_job is not None:
            article = "an" if named_job[0].lower() in "aeiou" else "a"
            yield from _fact(
                ahead, owner, "occupation", named_job, f"{name} works as {article} {named_job}"
            )


def _work(clause: str, *, lasts: bool) -> tuple[str | None, str | None]:
    """The employer and the job that a clause announces.

    lasts: Whether no end is named.
    """
    match = ANNOUNCES.search(clause)
    if match is None:
        return None, None
    rest = clause[match.end() :]
    place = (_JOINED if match["joins"] else _PLACE).match(rest)
    employer, named_job = (
        None if place is None else organisation(rest[place.end() :]),
        _job_in(rest, place),
    )
    after = rest[place.end() + len(employer) :] if place and employer else ""
    is_work = (
        lasts
        or match["starts"]
        or (match["joins"] and (named_job is not None or _IN_A_MONTH.fullmatch(after)))
    )
    return (employer, named_job) if is_work else (None, None)


def _job_in(rest: str, place: re.Match[str] | None) -> str | None:
    before = place.groupdict().get("job") if place is not None else None
    match = _JOB_ALONE.match(rest) if place is None else _JOB.search(rest, place.end())
    words = before or (match["job"] if match is not None else None)
    return None if words is None else job(_DATE_AFTER.sub("", words))


def _fact(
    ahead: SaidForesight, owner: str | None, attribute: str, value: str, text: str
) -> Iterator[SaidFact]:
    if owner is not None and len(owner) <= MAX_TERM and len(value) <= MAX_VALUE:
        fact = fitted(
            SaidFact,
            text=text,
            message=ahead.message,
            quote=ahead.quote,
            subject=owner,
            attribute=attribute,
            value=value,
            confidence=CONFIDENCE,
        )
        if is_announced(fact):
            yield fact
