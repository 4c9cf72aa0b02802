"""Announced work: a job that begins on a day ahead, "On 1 October I'm starting at Airbus as an engineer"."""

from __future__ import annotations

import re

from memory_core.domain.agent_schemas import SaidFact

ATTRIBUTES = frozenset({"employer", "occupation"})
_ADVERBS = r"(?: (?:also|finally|officially|actually)){0,2}"
_GOING = r"(?:['’]ll| will|(?:['’]m| am) going to)"
ANNOUNCES = re.compile(
    rf"\bI(?:(?P<starts>(?:{_GOING}|['’]m| am)?{_ADVERBS}(?: be)? start(?:ing)?(?: (?:work|working|(?:a|my)(?: new)? job))?)"
    rf"|(?P<works>{_GOING}{_ADVERBS}(?: be working| work))"
    rf"|(?P<joins>(?:{_GOING}|['’]m| am)?{_ADVERBS}(?: be)? join(?:ing)?))\b"
)
"""The words before the employer or the job."""


def is_announced(fact: SaidFact) -> bool:
    """Whether a fact about work names what its quote says will begin; when, the foresight of the same words tells."""
    match = ANNOUNCES.search(fact.quote) if fact.attribute in ATTRIBUTES and fact.value else None
    return match is not None and (fact.value or "").casefold() in fact.quote[match.end() :].casefold()
