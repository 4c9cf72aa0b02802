"""Decide which of several facts fills a slot.

The last word of a conversation is before its earlier words, and a model's fact before what rules
read in the same words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from memory_core.domain.agent_schemas import SaidFact, SaidForesight
from memory_core.domain.statements.change_topics import moves_another
from memory_core.domain.statements.fact_checks import AssertedFacts
from memory_core.domain.statements.provenance import folded_quote
from memory_core.domain.truth.slots import NO_LONGER, folded

_USER, _NAME = "user", "name"


def add_rule_facts(asserted: AssertedFacts, read: AssertedFacts) -> AssertedFacts:
    """Add what rules read, and an agent's answer lacks.

    Added are facts that fill a slot and foresight, since rules are certain of few other facts. An
    answer has a fact if it fills its slot, or if the same words of the same message fill another
    slot; it has a foresight if the same words prove one.

    Args:
        asserted: The agent's answer.
        read: What the rules read in the same messages.

    Returns:
        The agent's answer first, so that its words stay. A subject with a name that the user alone
            has is "user", as in the rules' slots.

    """
    names = _names_of_user(read.facts)
    facts = [_of_user(fact, names) for fact in asserted.facts]
    filling = [fact for fact in facts if fact.value]
    slots = {_slot(fact) for fact in filling}
    facts += [
        fact
        for fact in read.facts
        if fact.value and _slot(fact) not in slots and not _is_proven(fact, filling)
    ]
    foresight = [ahead for ahead in read.foresight if not _is_proven(ahead, asserted.foresight)]
    return replace(asserted, facts=facts, foresight=asserted.foresight + foresight)


_SINGLE = frozenset(["employer", "occupation", "car", "home city"])
"""Slots of the user with a single value, to which something may be added all the same."""
_PART_OF_TIME = (
    r"(?:(?:on|at) (?:the )?(?:weekends?|saturdays?|sundays?)|in the evenings?"
    r"|am wochenende|samstags|sonntags|abends)"
)
"""Times beside those of the main job or home."""
_IS_ADDED = re.compile(
    r"\bi also (?:work|drive)\b|\bwork(?:ing)? also\b"
    r"|\b(?:second|side|weekend) (?:job|car|gig|home)\b"
    r"|\blive (?:in|at) # in (?:the )?(?:summers?|winters?)\b|\A"
    + _PART_OF_TIME
    + r" (?:i(?: also)? work|arbeite ich)\b"
    r"|\b(?:ich arbeite|arbeite ich|ich fahre) auch\b|\bnebenbei\b|\bzweit(?:job|wagen|auto)\b"
    r"|\bzweite[nrs]? (?:job|auto|wagen|stelle)\b"
    r"|\A(?:週末|[土日]曜日?|土日)[はに].*働|#でも働|二台目|2台目|副業",
    re.IGNORECASE,
)
"""A clause that tells a job, car or home beside the main one; "#" stands for its value."""
_GOES_BESIDE = re.compile(
    r"\bi(?:['’]m| am)? also\b|\b(?:ich (?:wohne|bin)|fahre|lebe) auch\b|\b(?:too|as well|"
    + _PART_OF_TIME
    + r")\Z",
    re.IGNORECASE,
)
"""A clause that does so only after the main one, and else is a plain statement."""
_IS_IN_PLACE = re.compile(
    r"\b(?:now|nowadays|these days|instead|moved|sold|quit|left|switched"
    r"|jetzt|inzwischen|stattdessen|gezogen|verkauft|gekündigt)\b|引っ越|転職|買い替え|今は",
    re.IGNORECASE,
)
"""Words for a change, beside which "also" only goes on with the talk."""
_START, _END = r"(?<![a-zß-ÿ\d])", r"(?![a-zß-ÿ\d])"
_LIKE_ANOTHER = re.compile(r"\A\W*(?:just )?(?:like|same as|wie)\b", re.IGNORECASE)
_BETWEEN_CLAUSES = re.compile(
    r"[;:.!?。、]|,(?! (?:an?|ein(?:e[nrm]?)?) )"
    r"|\b(?:and|but|where|which|because|und|aber|wo|weil)\b",
    re.IGNORECASE,
)


def without_other_holders(facts: Sequence[SaidFact]) -> list[SaidFact]:
    """Return facts of which only those fill a slot that take its place.

    A second job or car leaves the first in its place: "I also work at a gym". What moved with the
    user is not the user: "wir sind mit dem Laden nach Altona gezogen".

    Args:
        facts: Facts that rules read, in the order of their messages.

    """
    remaining = list[SaidFact]()
    for fact in facts:
        if fact.subject != _USER or fact.attribute not in _SINGLE:
            remaining.append(fact)
        elif fact.attribute == "home city" and moves_another(fact.quote):
            continue
        elif _is_added(fact, remaining):
            added = fact.without_slot().changed(text=f"User: {fact.quote}", lasting=True)
            if all(other.text != added.text for other in remaining):
                remaining.append(added)
        else:
            remaining.append(fact)
    return remaining


def _is_added(fact: SaidFact, before: Sequence[SaidFact]) -> bool:
    """Whether the clause of a fact tells a value beside another one."""
    value = fact.value or ""
    if not value or _IS_IN_PLACE.search(fact.quote) or _LIKE_ANOTHER.match(fact.quote):
        return False
    known = [other for other in before if other.attribute == fact.attribute and other.value]
    if any(other.subject != _USER and other.value == value for other in known):
        return False
    beside = [_IS_ADDED]
    if any(
        other.subject == _USER
        and other.value != value
        and not folded(other.value or "").startswith(NO_LONGER)
        for other in known
    ):
        beside.append(_GOES_BESIDE)
    named = re.sub(rf"{_START}{re.escape(value)}{_END}", "#", fact.quote, flags=re.IGNORECASE)
    clauses = [clause.strip() for clause in _BETWEEN_CLAUSES.split(named) if "#" in clause]
    return bool(clauses) and all(
        any(expression.search(clause) for expression in beside) for clause in clauses
    )


def last_word_wins(facts: list[SaidFact]) -> list[SaidFact]:
    """Empty the slot of each fact that a later fact of the same slot replaces.

    A home that is first Berlin and then Lisbon is Lisbon. A fact that only says that another
    value is over replaces no value: "I work at Contoso, I quit my job at Fabrikam".
    """
    remaining = list(facts)
    holders: dict[tuple[str, str], int] = {}
    for number, fact in sorted(enumerate(facts), key=lambda pair: pair[1].message):
        if fact.subject is None or fact.attribute is None:
            continue
        slot = _slot(fact)
        holder = holders.get(slot)
        loser = number if holder is not None and _is_of_another(fact, facts[holder]) else holder
        if loser != number:
            holders[slot] = number
        if loser is not None:
            remaining[loser] = remaining[loser].without_slot()
    return remaining


def _is_of_another(fact: SaidFact, holder: SaidFact) -> bool:
    """Whether a fact only ends another value than the holder's."""
    value, held_value = folded(fact.value or ""), folded(holder.value or "")
    if not value.startswith(NO_LONGER) or held_value.startswith(NO_LONGER):
        return False
    named = value.removeprefix(NO_LONGER).strip()
    return named != held_value if named else fact.quote == holder.quote


def _slot(fact: SaidFact) -> tuple[str, str]:
    return folded(fact.subject or ""), folded(fact.attribute or "")


def _names_of_user(read: Sequence[SaidFact]) -> frozenset[str]:
    """The names that rules give to the user, and to no one else."""
    slots = [(*_slot(fact), folded(fact.value or "")) for fact in read]
    of_user = {value for owner, kind, value in slots if (owner, kind) == (_USER, _NAME)}
    of_others = {
        name
        for owner, kind, value in slots
        if owner != _USER
        for name in (owner.partition("'s ")[0], value if kind == _NAME else "")
    }
    return frozenset(of_user - of_others)


def _of_user(fact: SaidFact, names: Collection[str]) -> SaidFact:
    """The fact, in the user's slot if its subject has one of these names."""
    owner, mark, rest = (fact.subject or "").partition("'s ")
    return fact.changed(subject=f"user{mark}{rest}") if folded(owner) in names else fact


def _is_proven(
    statement: SaidFact | SaidForesight, others: Sequence[SaidFact | SaidForesight]
) -> bool:
    """Whether the words that prove a statement prove one of the others too."""
    quote = folded_quote(statement.quote)
    return any(
        quote in folded_quote(other.quote) or folded_quote(other.quote) in quote
        for other in others
        if other.message == statement.message
    )
