"""Employers and jobs that begin ahead: "On 1 October I'm starting at Airbus as an engineer" fills the slots from then on.

The foresight of the same words says when. Of a place where a user "will be working", it must tell no end: "tomorrow" is a shift.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memory_core.adapters.offline.clauses import asserted_clauses, told_and_owner, without_fillers
from memory_core.adapters.offline.fact_values import job, organisation
from memory_core.adapters.offline.facts import speaker
from memory_core.adapters.offline.running_rules import fitted
from memory_core.domain.agent_schemas import MAX_TERM, MAX_VALUE, SaidFact, SaidForesight
from memory_core.domain.conversation import Message
from memory_core.domain.statements.announced import ANNOUNCES, is_announced

_PLACE = re.compile(r"\A(?: as (?P<job>.{2,60}?))? (?:at|for) (?=[A-ZÀ-Þ])")
_JOINED = re.compile(r"\A (?=[A-ZÀ-Þ])")
_JOB = re.compile(r" as (?P<job>(?:an?|the) .{2,60})")
_JOB_ALONE = re.compile(r"\A as (?P<job>(?:an?|the) .{2,60})")
_SCHOOL = re.compile(
    r"universit|college|school|academ|\buni\b|kindergarten|\bclass|\bcourse|degree|\bgym\b|\bPhD\b|master's", re.IGNORECASE
)
_DATE_AFTER = re.compile(r"(?<!\s)\s++(?:on|in|from|next|this|tomorrow|starting|after)\b.*", re.IGNORECASE)
CONFIDENCE = 0.8


def announced_facts(messages: Sequence[Message], foresight: Sequence[SaidForesight]) -> list[SaidFact]:
    """The employer and the job that users say they will begin with."""
    return [fact for ahead in foresight for fact in _facts(messages[ahead.message], ahead)]


def _facts(message: Message, ahead: SaidForesight) -> Iterator[SaidFact]:
    if ahead.start_time <= message.timestamp or _SCHOOL.search(ahead.quote) or not ANNOUNCES.search(ahead.quote):
        return
    name, owner, _ = told_and_owner("I", speaker(message))
    for clause in asserted_clauses(without_fillers(ahead.quote)):
        words = f"I {clause.rest}" if clause.subject == "I" else clause.rest if not clause.subject else ""
        employer, named_job = _work(words, lasts=ahead.end_time is None)
        if employer is not None:
            yield from _fact(ahead, owner, "employer", employer, f"{name} works at {employer}")
        if named_job is not None:
            article = "an" if named_job[0].lower() in "aeiou" else "a"
            yield from _fact(ahead, owner, "occupation", named_job, f"{name} works as {article} {named_job}")


def _work(clause: str, *, lasts: bool) -> tuple[str | None, str | None]:
    """The employer and the job that a clause announces. lasts: whether no end is told."""
    match = ANNOUNCES.search(clause)
    if match is None:
        return None, None
    rest = clause[match.end() :]
    place = (_JOINED if match["joins"] else _PLACE).match(rest)
    employer, named_job = None if place is None else organisation(rest[place.end() :]), _job_in(rest, place)
    is_work = lasts or match["starts"] or (match["joins"] and named_job is not None)
    return (employer, named_job) if is_work else (None, None)


def _job_in(rest: str, place: re.Match[str] | None) -> str | None:
    before = place.groupdict().get("job") if place is not None else None
    match = _JOB_ALONE.match(rest) if place is None else _JOB.search(rest, place.end())
    words = before or (match["job"] if match is not None else None)
    return None if words is None else job(_DATE_AFTER.sub("", words))


def _fact(ahead: SaidForesight, owner: str | None, attribute: str, value: str, text: str) -> Iterator[SaidFact]:
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
