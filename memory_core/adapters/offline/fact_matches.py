"""Facts read in a sentence by rows of the table of facts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memory_core.adapters.offline import fact_patterns, names
from memory_core.adapters.offline.animals import BREED
from memory_core.adapters.offline.animals import IN_ENGLISH as ANIMAL
from memory_core.adapters.offline.casual import is_opening
from memory_core.adapters.offline.clauses import SINGULAR, Clause, asserted_clauses
from memory_core.adapters.offline.fact_patterns import Of, Pattern
from memory_core.adapters.offline.fact_values import CLOSED, amount, listed
from memory_core.adapters.offline.names import COUNTRIES
from memory_core.adapters.offline.omissions import is_about_another
from memory_core.adapters.offline.retractions import PatternMatch, over
from memory_core.adapters.offline.voice import conjugated, in_third_person, subject_and_owner
from memory_core.domain.statements.attributes import PET, canonical_attribute
from memory_core.domain.statements.denied_states import NAMES_TIME
from memory_core.domain.text.polarity import NEGATIONS
from memory_core.domain.truth.slots import NO_LONGER

_BY_SUBJECT: dict[Of, tuple[Pattern, ...]] = {
    of: tuple(row for row in fact_patterns.ENGLISH + fact_patterns.FOREIGN if of in row.of)
    for of in ("self", "we", "mine", "call", "other", "foreign")
}
_ADVERBS = re.compile(
    r"(?:(?:currently|now|still|also|just|really|actually|recently|already|always|usually"
    r"|absolutely|even|mostly|both|finally|only|truly|do|does"
    r"|totally|especially|mainly|basically|originally)\s+)+(?!not\b)",
    re.IGNORECASE,
)
_NEGATIONS = NEGATIONS - {
    "without",
    "except",
    "unless",
    "former",
    "formerly",
    "ohne",
    "sans",
    "sin",
    "sem",
}
"""Negations that negate the whole clause: coffee without milk is liked all the same."""
_GAVE_UP = re.compile(r"(?:(?:have|has) )?(?:(?:gave|given) up|ceased) ")


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A match of a row: the fact's parts, before its quote is known."""

    text: str
    subject: str | None
    attribute: str | None
    value: str | None
    confidence: float
    lasting: bool = False


def facts_of_table(sentence: str, *, introduced: bool = False) -> Iterator[PatternMatch]:
    """Matches of the table's rows in a sentence.

    A part without a verb says more of the speaker where the part before said who they are.

    Args:
        sentence: The sentence.
        introduced: Whether the sentence before said who the speaker is.

    """
    before: tuple[Pattern, str] | None = None
    verb = ""
    for clause in asserted_clauses(sentence):
        matches = list(_matches(clause, sentence))
        is_bare = not matches and introduced and clause.carried
        if is_bare:
            matches = _without_verb(clause)
        introduced = _says_who(clause, matches) or (is_bare and _goes_on(clause, matches))
        if (
            not matches
            and before is not None
            and clause.carried
            and (more := _one_more(before[0], clause)) is not None
        ):
            yield PatternMatch(*more, before[1])
            continue
        if not matches and verb and clause.carried:
            matches = _with_verb(clause, verb)
        if not matches and clause.carried and clause.subject == "I" and _GOES_ON.match(clause.rest):
            matches = list(_matches(replace(clause, rest=f"am {clause.rest}"), sentence))
        shared = _SHARED.match(clause.rest) if matches else None
        verb = shared.group() if shared else verb if matches else ""
        before = None
        for row, groups in matches:
            yield PatternMatch(row, groups, "I" if is_bare else clause.subject)
            before = (row, clause.subject) if row.many else before


def _says_who(clause: Clause, matches: Sequence[tuple[Pattern, dict[str, str]]]) -> bool:
    """Whether a clause describes the speaker and names no other person."""
    attributes = {row.attribute for row, _ in matches}
    if clause.subject == "I" and clause.rest.startswith("am "):
        return _OTHER_PERSON.isdisjoint(attributes) and (
            bool(matches) or _OF_A_KIND.fullmatch(clause.rest) is not None
        )
    return "name" in attributes and clause.subject in ("I", "my", "call me", "")


def _goes_on(clause: Clause, matches: Sequence[tuple[Pattern, dict[str, str]]]) -> bool:
    """Whether a part without a verb, too, may be followed by more of its kind."""
    attributes = {row.attribute for row, _ in matches}
    if not _OTHER_PERSON.isdisjoint(attributes) or _COMPANY.match(clause.rest):
        return False
    return bool(matches) or (clause.rest.islower() and listed(clause.rest))


_OTHER_PERSON = frozenset({"spouse"})
"""Attributes whose value is a person, whom the next part of a list may be about."""
_OF_A_KIND = re.compile(r"am an? [a-z][a-z -]{2,40}")
_COMPANY = re.compile(r"(?:with|to|and|for)\b")


def _without_verb(clause: Clause) -> list[tuple[Pattern, dict[str, str]]]:
    """Matches of a clause without a verb: "34" of "I'm Ana, 34"."""
    if not listed(clause.rest) and not _STATE.fullmatch(clause.rest):
        return []
    for verb, attributes in _VERBS_LEFT_OUT:
        small = clause.rest[:1].lower() + clause.rest[1:]
        whole = replace(clause, subject="I", rest=f"{verb} {small}")
        matches = [
            match
            for match in _matches(whole, "")
            if match[0].attribute in attributes and match[0].filled != NO_LONGER
        ]
        if matches:
            return matches
    return []


def _with_verb(clause: Clause, verb: str) -> list[tuple[Pattern, dict[str, str]]]:
    """Matches of a clause that shares a verb: "and a cat" after "has a dog"."""
    rest = clause.rest
    if clause.joined != "and" or _OWN_VERB.search(rest):
        return []
    if not (verb.startswith("ha") or listed(rest) or _STATE.fullmatch(rest)):
        return []
    whole = replace(clause, rest=f"{verb} {rest}")
    return [match for match in _matches(whole, "") if match[0].attribute in _OF_BARE_PARTS]


_GOES_ON = re.compile(
    r"(?:now )?(?:living|working|based|studying) (?:in|at|as|for)\b"
    r"(?=.{2,60}\b(?:now|these days|since|currently)\b)|now (?:living|working|studying) "
)
"""A state of the speaker without its verb: "moved out, living in Hull now"."""
_SHARED = re.compile(r"(?:am|is|are|have got|has got|have|has)(?= )")
"""Verbs that two parts of a sentence may share."""
_OWN_VERB = re.compile(r"\b(?:is|are|was|were|has|have|can|will|do|does|did)\b")
_STATE = re.compile(
    r"(?:happily )?(?:married|engaged)(?: to \S+(?: [A-Z]\S+)?)?|divorced|widowed"
    r"|(?:(?:currently |now )?(?:living|working|based)|an?) "
    r"(?!.*\b(?:is|are|was|were|has|can|will)\b).+"
    r"|studying [a-z]+ (?:in|at) [A-Z]\S+|allergic to .{2,30}"
)
_OF_BARE_PARTS = frozenset(
    row.attribute for row in fact_patterns.ENGLISH if row.attribute is not None
) - {"name", "employer"}
_VERBS_LEFT_OUT = (
    ("am", _OF_BARE_PARTS),
    ("am a", frozenset({"occupation"})),
    ("was", frozenset({"birthplace"})),
)
"""The verbs that a part of a list may leave out, and the attributes that are read with each.

The others read too much where there is no verb.
"""


def matches_of_new_persons(sentence: str) -> Iterator[PatternMatch]:
    """Matches for a new person with a name.

    An example is "I have a new boss, her name is Petra".
    """
    for where in (_WHERE_WE_LIVE, _MOVED_HERE):
        for match in where.finditer(sentence):
            yield PatternMatch(
                _LIVES_IN, {"value": match["place"]}, "I" if match["who"] == "I" else "we"
            )
    if _PROPOSED.search(sentence) is not None:
        yield PatternMatch(_STATUS, {"value": "engaged"}, "I")
    newcomers = (
        (_NEW_BOSS, _IS_MY) if is_about_another(sentence) else (_NEWCOMER, _NEW_BOSS, _IS_MY)
    )
    for newcomer in newcomers:
        for match in newcomer.finditer(sentence):
            yield PatternMatch(_NAMED, {"value": match["name"]}, f"my {match['kind']}")
    if (named := _BORN.match(sentence)) is not None:
        yield PatternMatch(_NAMED, {"value": named["name"]}, f"my {named['kind']}")
    for pets in (_CALLED_PET, _OLD_PET, _PET_NOT_CALLED):
        for match in pets.finditer(sentence):
            if names.is_given_name(match["name"]) and not is_opening(match["name"]):
                yield PatternMatch(_HAS_PET, {"value": match["name"], "of": match["of"]}, "I")
    raised = _RAISED.match(sentence)
    if raised is not None and (value := amount(raised["value"].rstrip("."))) is not None:
        subject = f"the {raised['its']}" if raised["its"] else "my"
        yield PatternMatch(_AMOUNTS_TO, {"of": raised["of"], "value": value}, subject)


_WHERE_WE_LIVE = re.compile(
    r"\b[FfIi](?:rom|n) (?P<place>[A-ZÀ-Þ]\w{1,30}(?:[ -][A-ZÀ-Þ]\w{1,30}){0,2}),? "
    r"(?:that is|that's|which is) where (?P<who>I|we) (?:now )?live\b"
)
_MOVED_HERE = re.compile(
    r"\b(?P<who>I|[Ww]e)(?:['’]m|['’]re| am| are) (?:now )?in (?P<place>[A-ZÀ-Þ]\w{1,30}"
    r"(?:[ -][A-ZÀ-Þ]\w{1,30}){0,2})(?: now)?(?:,|;| [–-])? (?:and )?"
    r"(?:(?:I|we)(?:['’]ve| have)? )?(?:just )?moved here\b"
)
_BORN = re.compile(
    r"(?:[Mm]y|[Oo]ur) (?P<kind>daughter|son|niece|nephew|granddaughter|grandson|baby) was born"
    r"[^.!?]{0,40}, (?:and )?(?:she|he|(?:her|his) name) is (?:called )?(?P<name>[A-Z][a-zà-ÿ]+)"
)
_CALLED_PET = re.compile(
    rf"\A(?:[\w'’]{{1,12}},? ){{0,3}}(?:I|[Ww]e)(?:['’]\w+)? [^.!?]{{0,80}}, "
    rf"an? (?:[\w-]+ ){{0,3}}?(?P<of>{ANIMAL}|{BREED}),? (?:called|named)"
    r" (?P<name>[A-Z][a-z]{1,20})\b"
)
_OLD_PET = re.compile(
    r"(?:\A|, )(?P<name>(?!(?:\w+(?:ly|day|times?)|And|But|So|Now|Then|Well|When|Because|While"
    r"|Since|Tonight|Tomorrow|Was|Has|Yes|If)\b)[A-Z][a-z]{1,20})"
    rf"(?:(?:,| is) my (?:[\w-]+ ){{0,2}}| my old )(?P<of>{ANIMAL}|{BREED})"
    r"(?=[.,;!]|\Z| (?:who|from|and|for|since)\b| (?:is|has|was) (?!called\b|named\b))"
)
_PET_NOT_CALLED = re.compile(
    rf"\b(?:[Mm]y|[Oo]ur) (?:[\w-]+ )?(?P<of>{ANIMAL}|{BREED})"
    r"(?:['’]s name is| is (?:called|named)) (?P<name>[A-Z][a-z]{1,20}),? (?:and )?not"
    r" [A-Z][a-z]{1,20}(?=[.!]|\Z)"
)
_ANIMAL_OF_SPEAKER = re.compile(rf"(?:my|our) (?:[\w-]+ )?(?P<kind>{ANIMAL})")
"""A clause's subject that is an animal without its name: "my dog"."""
_HAS_PET = next(row for row in fact_patterns.ENGLISH if row.filled == "{of}")
_TITLE = names.TITLE
_NEW_BOSS = re.compile(
    r"(?:\A|[,;] |\b(?:and|but) )(?:[Mm]y |[Oo]ur )?[Nn]ew (?P<kind>boss|manager|landlord|landlady)"
    r"(?: is|'s) (?:called |named )?"
    rf"(?P<name>{_TITLE}[A-Z][a-z]+)(?=[.!,;]|\Z| (?:now|since|and)\b)"
)
_PROPOSED = re.compile(
    r"\bproposed\b[^.!?]{0,60} I said yes\b"
    r"|\A(?![^.!?]{0,60}\b(?i:if|when|hope|wish)\b)[^.!?]{0,60}\bproposed to me\b"
    r"|\bI proposed\b[^.!?]{0,60} (?:he|she|they) said yes\b"
)
_STATUS = next(row for row in fact_patterns.ENGLISH if row.attribute == "marital status")
_IS_MY = re.compile(
    rf"\A(?P<name>[A-Z][a-z]+) is (?:now )?my new (?P<kind>{SINGULAR})"
    r"(?=[.!,;]|\Z| (?:now|since|and)\b)"
)
_RAISED = re.compile(
    r"(?:(?:[Tt]he|[Mm]y|[Oo]ur) (?:landlord|landlady|client|customer)"
    r"|(?P<its>[A-ZÀ-Þ][\w&-]{1,30})(?=[a-z ]{4,40} its ))(?: has| just){0,2}"
    r" (?:raised|increased|put up|lowered|reduced|cut|moved|pushed|postponed|extended)"
    r" (?:my|our|the|its) (?P<of>rent|budget|deadline|due date|launch|release)"
    r" (?:from [^;!?]{1,30}? )?to (?P<value>(?:[^,;!?]|,(?=\d)){1,40})"
)
_AMOUNTS_TO = next(row for row in fact_patterns.ENGLISH if row.shape is amount)
_LIVES_IN = next(row for row in fact_patterns.ENGLISH if row.attribute == "home city")
_NEWCOMER = re.compile(
    rf"\b(?:have|has|got|hired) an? new (?P<kind>{SINGULAR})(?: now)?(?:[,.]? (?:and )?(?:her|his"
    r"|their) name(?:'s| is)|,? (?:and )?(?:she|he) is called|,? (?:called|named))"
    rf" (?P<name>{_TITLE}[A-Z][a-z]+)\b"
)


def _one_more(row: Pattern, clause: Clause) -> tuple[Pattern, dict[str, str]] | None:
    """Read a further item of the list that a clause began: "German and French".

    The item may also be excluded: "but no English".
    """
    words = clause.rest
    without = re.match(
        r"(?:no|not)\s+(?:to\s+)?(?!(?:with|without|in|on|at|for|from|when|if)\b)(?=\S)", words
    )
    if without is not None and clause.joined == "but":
        row = _NOT_SO.get((row.attribute or "", row.filled), row)
        words = words[without.end() :] if row.negative else words
    value = row.shape(words) if listed(words) or row.shape in CLOSED else None
    return None if value is None else (row, {"value": value})


def _matches(clause: Clause, sentence: str) -> Iterator[tuple[Pattern, dict[str, str]]]:
    rest = clause.rest
    adverbs = _ADVERBS.match(rest)
    rest = rest[adverbs.end() :] if adverbs else rest
    negated = is_negated(rest)
    matches = [
        match
        for row in _BY_SUBJECT[_kind(clause)]
        if row.negative in (negated, None) and (match := _read(row, rest)) is not None
    ]
    yield from matches
    if (negated or _GAVE_UP.match(rest)) and not matches:
        yield from _over(clause, rest)
    if clause.lead and _GREETS.match(sentence):
        if clause.subject == "I":
            name = re.fullmatch(r"am ([A-Z][a-zà-ÿ'-]+)", clause.rest)
        else:
            name = re.fullmatch(r"(?:this is )?(\S+)(?: here)?", clause.rest)
            name = name if name and name[0] != name[1] and names.own_name(name[1]) else None
        if name is not None:
            yield _NAMED, {"value": name[1]}


_DUE = re.compile(r"\b(?:deadline|due date)\b", re.IGNORECASE)
_CLOCK_ALONE = re.compile(
    r"(?:midnight|noon|midday|\d{1,2}(?:[:.]\d{2})?(?: ?[ap]\.?m\.?| o'clock)?)", re.IGNORECASE
)
"""A time of day without a day.

A deadline at such a time is due today, and no fact to keep of a person.
"""


_OF_MARRIAGE = frozenset({"marital status", "spouse"})
_PARTED_FROM = re.compile(r"from (?P<name>[A-ZÀ-Þ]\w{1,30})")
"""Whom or what a speaker is divorced from: a person, or a tool."""


def _read(row: Pattern, words: str) -> tuple[Pattern, dict[str, str]] | None:
    match = row.expression.match(words)
    if match is None:
        return None
    groups = {name: text for name, text in match.groupdict().items() if text}
    value = row.shape(groups.get("value") or words[match.end() :])
    parted = _PARTED_FROM.match(words, match.end()) if row.attribute in _OF_MARRIAGE else None
    if parted is not None and names.place(parted["name"]) is None:  # a tool
        return None
    if value is None or (_DUE.search(groups.get("of", "")) and _CLOCK_ALONE.fullmatch(value)):
        return None
    return row, {**groups, "value": value}


def _over(clause: Clause, words: str) -> Iterator[tuple[Pattern, dict[str, str]]]:
    """Matches of a negated clause, for a state that has ended.

    They are the other rows' matches in it, or else a past activity.
    """
    kind = _kind(clause)
    ended = over(words, of_another=kind == "other")
    if ended is None:
        return
    rows = [
        _read(row, ended.left) or (_read(row, ended.doing) if ended.doing else None)
        for row in _BY_SUBJECT[kind]
        if row.attribute is not None and not row.negative
    ]
    matches = [
        match
        for match in rows
        if match is not None and match[1]["value"] and ended.names(match[1]["value"])
    ]
    for row, groups in matches:
        yield row, {**groups, "over": ended.summary}
    if not matches and ended.lasting and kind in _USED_TO.of:
        fills_none = (
            ended.left.startswith("have ")
            or ended.in_part
            or NAMES_TIME.search(ended.left) is not None
        )
        used_to = _HAD if fills_none else _USED_TO
        yield used_to, {"value": ended.left, "over": ended.summary}


def denied(match: PatternMatch) -> PatternMatch | None:
    """The opposite of a match: "is not allergic to nuts"; None for no such row."""
    row = _NOT_SO.get((match.row.attribute or "", match.row.filled))
    return None if row is None else replace(match, row=row)


_NOT_SO = {
    (row.attribute, so): row
    for so in ("yes", "likes")
    for row in reversed(fact_patterns.ENGLISH)
    if row.negative and row.attribute is not None and "{value}" in row.attribute
}
"""The row that says the opposite of a row's attribute and value."""
_USED_TO = Pattern("no longer {value}", "", "", lambda words: words, ("self", "we", "other"), "yes")
_HAD = replace(_USED_TO, attribute=None)
"""What fills no slot: "I don't have the dog any more", and a part of what was done."""
_ONE_NAME = {"kids": "children", "grandkids": "grandchildren"}
_GREETS = re.compile(r"(?:hi|hello|hey|good (?:morning|evening|afternoon))\b", re.IGNORECASE)
_NAMED = Pattern("name", "{who} is called {value}", "am", lambda words: words)


def _kind(clause: Clause) -> Of:
    kinds: dict[str, Of] = {"I": "self", "we": "we", "my": "mine", "call me": "call", "": "foreign"}
    return kinds.get("my" if clause.subject.startswith("the ") else clause.subject, "other")


def is_negated(words: str) -> bool:
    """Whether some words say that something is not so."""
    return not _NEGATIONS.isdisjoint(re.findall(r"[^\W\d_]+", words.casefold()))


def fact_of_match(match: PatternMatch, speaker_name: str) -> FoundFact:
    """The fact that a row makes of its match, about the speaker.

    Args:
        match: A row of the table and its match.
        speaker_name: Name of the speaker, for the fact's text.

    """
    match = _as_pet(match)
    row, groups, subject = match.row, match.groups, match.subject
    value = in_third_person(groups["value"], speaker_name)
    of = groups.get("of", "").strip().lower()
    of = _thing_of(_ONE_NAME.get(of, of))
    named, owner, slotted = subject_and_owner(subject, speaker_name)
    pair = " and ".join(sorted((value.lower(), of)))
    parts = {
        "who": named,
        "value": value,
        "of": of,
        "a_value": _with_article(value),
        "does": conjugated(value),
        "pair": pair,
    }
    attribute = (
        row.attribute.format(**{**parts, "value": value.lower()})
        if row.attribute and slotted
        else None
    )
    if attribute is not None and row.attribute == "{of}":
        attribute = canonical_attribute(attribute)
    if attribute == "home city" and value.lower() in COUNTRIES:
        attribute = "home country"
    text = (
        f"{named} {in_third_person(groups['over'], speaker_name)}"
        if "over" in groups
        else row.template.format(**parts)
    )
    if row.attribute == fact_patterns.PET_OF_SUBJECT:
        attribute, owner = _pet_of(subject, owner, speaker_name)
    elif row.attribute in (fact_patterns.STATUS_OF_SPEAKER, fact_patterns.SPOUSE_OF_SPEAKER):
        attribute = row.attribute.removesuffix(" of {who}") if subject in _SPOUSES else None
        _, owner, _ = subject_and_owner("I", speaker_name)
    filled = row.filled.format(value=value, of=of)
    if "over" in groups and row is not _USED_TO:
        filled = "no" if filled == "yes" else f"{NO_LONGER} {filled}"
    confidence = 0.9 if named == speaker_name else 0.8
    is_death = row.attribute == fact_patterns.STATUS_OF_SPEAKER
    lasting = attribute is None and (row.attribute is None or not slotted or is_death)
    return FoundFact(
        text,
        owner if attribute else None,
        attribute,
        filled if attribute else None,
        confidence,
        lasting,
    )


def _as_pet(match: PatternMatch) -> PatternMatch:
    """Read the name of the speaker's animal as "I have a dog called Rex".

    So "My dog is called Rex" fills the slot of Rex, and another dog fills another slot.
    """
    animal = _ANIMAL_OF_SPEAKER.fullmatch(match.subject)
    if animal is None or match.row.attribute != "name" or "over" in match.groups:
        return match
    return replace(match, row=_HAS_PET, groups={**match.groups, "of": animal["kind"]}, subject="I")


_SPOUSES = frozenset({"my husband", "my wife", "my spouse"})


def _pet_of(subject: str, name: str, speaker_name: str) -> tuple[str | None, str]:
    """The attribute of an animal in a clause, and its slot's subject.

    The attribute is None for a person of the speaker's, and for an animal without a name.
    """
    _, owner, _ = subject_and_owner("I", speaker_name)
    is_named = " " not in name and (
        subject == name or fact_patterns.MY_ANIMAL.match(subject) is not None
    )
    return (f"{PET}{name.lower()}" if is_named else None), owner


def _thing_of(of: str) -> str:
    """Unify the names of a thing: "budget for the kitchen" is the "kitchen budget".

    "new rent" is the "rent".
    """
    thing = _ITS_DAY.sub("", _QUALITY.sub("", of))
    match = _FOR_WHAT.fullmatch(thing)
    return f"{match['what']} {match['thing']}" if match else thing


_QUALITY = re.compile(r"\A(?:new|current|total|overall) ")
_ITS_DAY = re.compile(r"(?:(?<=\blaunch)|(?<=\brelease)) (?:date|day)\Z")
_FOR_WHAT = re.compile(
    r"(?P<thing>budget|limit|password|deadline|rent|code) (?:for|of|at) (?:the |my "
    r"|our )?(?P<what>[\w'-]+(?: [\w'-]+)?)"
)


def _with_article(value: str) -> str:
    if value[:1].isupper():
        return value
    return f"{'an' if value[:1].lower() in 'aeiou' else 'a'} {value}"


def is_pupil(match: PatternMatch) -> bool:
    """Whether a match takes a child's first day at a school for an employment."""
    return (
        match.row.attribute == "employer"
        and "<working>" not in match.row.phrase
        and _OF_ADULTS.match(match.subject) is None
        and _SCHOOLS.search(match.groups["value"]) is not None
    )


_OF_ADULTS = re.compile(rf"(?:I|we|my|my (?:{SINGULAR}|aunt|uncle|colleague|coworker))\Z")
_SCHOOLS = re.compile(
    r"\b(?:Primary|Nursery|Pre-?[Ss]chool|Kindergarten|Kita|Elementary|Infants?|Juniors?|School"
    r"|High|Secondary|Montessori|Academy|Grammar|Playgroup|Daycare|College|Uni(?:versity)?)\b"
)
