"""The facts of some messages: what people said of themselves and of others, each with the words
that prove it.

Two kinds: those of the table (`fact_patterns`), which may fill a slot, and plain statements in the
third person, which never do. Note: a fact is made only of what a user himself asserts; questions,
suppositions, quotations, pasted or recalled text, and what systems, tools and nameless assistants
say make none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from memory_core.adapters.offline import fact_patterns, german_facts, japanese_facts
from memory_core.adapters.offline.clause_facts import read_clauses
from memory_core.adapters.offline.clauses import (
    SINGULAR,
    Clause,
    asserted_clauses,
    conjugated,
    quotes,
    third_person,
    told_and_owner,
    told_of,
    without_fillers,
)
from memory_core.adapters.offline.fact_patterns import Of, Pattern
from memory_core.adapters.offline.fact_values import CLOSED, likes_in_sight, listed
from memory_core.adapters.offline.lasting_facts import is_of_the_moment, lasting_words
from memory_core.adapters.offline.names import COUNTRIES
from memory_core.adapters.offline.retractions import PatternMatch, over, put_right
from memory_core.adapters.offline.running_rules import checkpoint, count_cut, fitted
from memory_core.domain.agent_schemas import MAX_TERM, MAX_VALUE, SaidFact
from memory_core.domain.conversation import Message
from memory_core.domain.statements.change_messages import tells_change
from memory_core.domain.statements.empty_facts import says_nothing
from memory_core.domain.statements.fact_checks import last_word_wins
from memory_core.domain.statements.provenance import Proofs, may_tell, own_words
from memory_core.domain.text.analyzer import QUERY_WORDS, terms_of, tokens, words
from memory_core.domain.text.polarity import NEGATIONS
from memory_core.domain.text.sentences import Sentence, breaks_off, goes_on, sentences, without_dots
from memory_core.domain.text.shortening import beginning
from memory_core.domain.truth.slots import NO_LONGER, canonical_attribute

MAX_FACTS = 40
MAX_NAME = 60
"""Characters of the name by which a person is told of."""
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
_HEDGED = re.compile(
    r"\A(?:\w+,\s+)?I\s+(?:just\s+|really\s+|also\s+|do\s+)?(?:think|guess|mean|see|know|hope"
    r"|wonder|suppose|feel like|appreciate|understand|agree|bet"
    r"|swear|promise|wish|would|could|can|might|may|should|am (?:sorry|asking|wondering|sure|good"
    r"|fine|ok|okay|back|here|done|curious)|was wondering|need (?:help|to ask)"
    r"|have (?:a|another|one|some) (?:\w+ )?questions?|said|told|asked|say|repeat|order|command"
    r"|instruct|authori[sz]e)\b",
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
"""Those that turn the whole clause: coffee without milk is liked all the same."""
_MARKUP = frozenset("<>{}|\\")
_GAVE_UP = re.compile(r"(?:(?:have|has) )?(?:gave|given) up ")
_NO_MORE = re.compile(r"\b(?:no longer|any ?more|stopped|quit|gave up|given up)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Found:
    """One match of a row: the fact's parts, before its quote is known."""

    text: str
    subject: str | None
    attribute: str | None
    value: str | None
    confidence: float
    lasting: bool = False


def said_facts(messages: Sequence[Message]) -> list[SaidFact]:
    """At most `MAX_FACTS` facts in the order they were said, without doubles; those of the table go
    before plain statements.
    """
    reading = _Reading()
    for number, message in enumerate(messages):
        if may_tell(message):
            reading.read(message, number)
    # A sentence may run over a block of recalled memories, and then its quote is no
    # person's own words.
    proofs = Proofs(messages)
    facts = [*islice((fact for fact in reading.facts if _is_kept(fact, proofs)), MAX_FACTS)]
    return last_word_wins(sorted(facts, key=lambda fact: fact.message))


@dataclass(slots=True)
class _Reading:
    """The facts of messages that are read in order.

    Attributes:
        certain, plain: Facts of the table and plain statements, by their texts.
        matches: By speaker, what the table found in the last sentence, for one that puts it right.
        broken_off: By speaker, the last sentence if it breaks off ("I moved to…").

    """

    certain: dict[str, SaidFact] = field(default_factory=dict)
    plain: dict[str, SaidFact] = field(default_factory=dict)
    matches: dict[str, list[PatternMatch]] = field(default_factory=dict)
    broken_off: dict[str, str] = field(default_factory=dict)

    @property
    def facts(self) -> list[SaidFact]:
        """Those of the table before plain statements, each in the order they were said."""
        return [*self.certain.values(), *self.plain.values()]

    def read(self, message: Message, number: int) -> None:
        """Read one message. number: its place among the messages."""
        name = speaker(message)
        begun = self.broken_off.pop(name, "") if goes_on(message.content) else ""
        before_it = ""
        for sentence in sentences(own_words(message.content)):
            checkpoint()
            quote = message.content[sentence.start : sentence.end]
            if begun:
                for dots in ("…", "..."):
                    self.plain.pop((third_person(f"{begun}{dots}", name) or "").casefold(), None)
                sentence = replace(sentence, text=f"{begun} {without_dots(sentence.text)}")
            begun = ""
            self.broken_off[name] = without_dots(sentence.text) if breaks_off(sentence.text) else ""
            with_topic = japanese_facts.with_topic(sentence.text, before_it)
            before_it = sentence.text
            self._read_sentence(sentence, with_topic, name, number, quote)

    def _read_sentence(
        self, sentence: Sentence, with_topic: str, name: str, number: int, quote: str
    ) -> None:
        abroad = list(_abroad(replace(sentence, text=with_topic), name))
        for fact in abroad:
            (self.certain if fact.attribute else self.plain).setdefault(
                f"{fact.text.casefold()} {fact.attribute}", _said(fact, number, quote)
            )
        of_table = [_found(match, name) for match in self._matches(sentence.text, name, abroad)]
        for fact in of_table:
            self.certain.setdefault(fact.text.casefold(), _said(fact, number, quote))
        statement = None if abroad else _statement(sentence, name, [fact.text for fact in of_table])
        if not abroad and not of_table:
            statement = _in_own_words(sentence, name) or statement
        stated = [] if statement is None else [statement]
        changed = _changing(sentence, name, [*of_table, *abroad, *stated])
        for plain_fact in (statement, changed):
            if plain_fact is not None:
                self.plain.setdefault(plain_fact.text.casefold(), _said(plain_fact, number, quote))

    def _matches(self, text: str, name: str, abroad: Sequence[_Found]) -> list[PatternMatch]:
        """What the table finds in a sentence, which may put right the one before."""
        matches = [] if abroad else list(_of_table(text))
        slip = put_right(text, self.matches.get(name, []))
        if slip is not None:
            self.certain.pop(_found(slip[0], name).text.casefold(), None)
            matches = [slip[1]]
        self.matches[name] = matches
        likes, elsewhere = likes_in_sight(text), _COUNTED_ELSEWHERE.search(text) is not None
        return [
            *(
                match
                for match in matches
                if not _POINTS.search(match.groups["value"])
                and not (likes and match.row.attribute == fact_patterns.OPINION)
                and not (elsewhere and (match.row.attribute or "").startswith("number of"))
            ),
            *_newcomers(text),
        ]


def _is_kept(fact: SaidFact, proofs: Proofs) -> bool:
    return not says_nothing(fact) and proofs.prove(fact.quote, fact.message)


def _abroad(sentence: Sentence, speaker_name: str) -> Iterator[_Found]:
    """What a German or Japanese sentence says, each fact in the words in which it was said."""
    text = without_fillers(sentence.text)
    if not _MARKUP.isdisjoint(text):
        return
    if japanese_facts.is_japanese(text):
        clauses = japanese_facts.clauses(text, asks=sentence.asks)
        readings = read_clauses(clauses, japanese_facts.JAPANESE)
    elif german_facts.is_german(text):
        clauses = german_facts.clauses(text, asks=sentence.asks)
        readings = read_clauses(clauses, german_facts.GERMAN)
    else:
        return
    owner = speaker_name.lower() if speaker_name == "User" else speaker_name
    for reading in readings:
        text_of_fact = f"{speaker_name}: {reading.clause[:1].upper()}{reading.clause[1:]}"
        if (reading.attribute is None and is_of_the_moment(reading.clause)) or _POINTS.search(
            f"{reading.attribute or ''} {reading.value or ''}"
        ):
            continue
        if reading.attribute is None:
            yield _Found(text_of_fact, None, None, None, 0.6, lasting=True)
        else:
            yield _Found(
                text_of_fact,
                f"{owner}'s {reading.of}" if reading.related else reading.of or owner,
                reading.attribute,
                reading.value,
                0.9,
            )


_POINTS = re.compile(
    r"\b(?:you|your|yours|this|these|code|bugs?|paragraph|question|dein\w*|diese\w?|helden?"
    r"|hauptfigur)\b|\Aopinion of (?:es|das|ihn|sie|dies)\b|主人公|キャラ|それ|これ|あれ|この|その",
    re.IGNORECASE,
)
"""What is no value of a slot: it points at what is before one's eyes."""


_COUNTED_ELSEWHERE = re.compile(
    r"\b(?:in|at|for|of) (?:my|the|our) (?:class|classroom|office|school|work|nursery|kindergarten"
    r"|team|course|group|shelter|clinic|farm)\b|\bat work\b|\b(?:year|grade) \d\b",
    re.IGNORECASE,
)
"""Where children and animals are counted that belong to no family: "30 kids in my class"."""


def speaker(message: Message) -> str:
    """How a message is told of: by the actor's name where there is one, else by its role:
    "User", "Assistant".
    """
    return beginning(" ".join((message.actor or "").split()), MAX_NAME) or message.role.capitalize()


def _said(fact: _Found, number: int, quote: str) -> SaidFact:
    slot = _slot(fact)
    return fitted(
        SaidFact,
        text=fact.text,
        message=number,
        quote=quote,
        subject=slot[0],
        attribute=slot[1],
        value=slot[2],
        confidence=fact.confidence,
        lasting=fact.lasting,
    )


def _slot(fact: _Found) -> tuple[str, str, str] | tuple[None, None, None]:
    """Subject, attribute and value; none where one is missing or too long, because a cut name or
    value is another one.
    """
    if fact.subject is None or fact.attribute is None or fact.value is None:
        return None, None, None
    for name, text, limit in (
        ("subject", fact.subject, MAX_TERM),
        ("attribute", fact.attribute, MAX_TERM),
        ("value", fact.value, MAX_VALUE),
    ):
        if len(text) > limit:
            count_cut(name)
            return None, None, None
    return fact.subject, fact.attribute, fact.value


def _of_table(sentence: str) -> Iterator[PatternMatch]:
    """What rows of the table read in one sentence."""
    before: tuple[Pattern, str] | None = None
    for clause in asserted_clauses(sentence):
        matches = list(_matches(clause, sentence))
        if (
            not matches
            and before is not None
            and clause.carried
            and (more := _one_more(before[0], clause)) is not None
        ):
            yield PatternMatch(*more, before[1])
            continue
        before = None
        for row, groups in matches:
            yield PatternMatch(row, groups, clause.subject)
            before = (row, clause.subject) if row.many else before


def _newcomers(sentence: str) -> Iterator[PatternMatch]:
    """A person who is new, and named after it: "I have a new boss, her name is Petra"; or named in
    passing: "my husband Ben and I".
    """
    for match in _WHERE_WE_LIVE.finditer(sentence):
        yield PatternMatch(
            _LIVES_IN, {"value": match["place"]}, "we" if match["who"] == "we" else "I"
        )
    for match in (*_NEWCOMER.finditer(sentence), *_IN_PASSING.finditer(sentence)):
        yield PatternMatch(_NAMED, {"value": match["name"]}, f"my {match['kind']}")


_WHERE_WE_LIVE = re.compile(
    r"\b[FfIi](?:rom|n) (?P<place>[A-ZÀ-Þ]\w{1,30}(?:[ -][A-ZÀ-Þ]\w{1,30}){0,2}),? "
    r"(?:that is|that's|which is) where (?P<who>I|we) (?:now )?live\b"
)
_LIVES_IN = next(row for row in fact_patterns.ENGLISH if row.attribute == "home city")
_NEWCOMER = re.compile(
    rf"\b(?:have|has|got|hired) an? new (?P<kind>{SINGULAR})(?: now)?(?:[,.]? (?:and )?(?:her|his"
    r"|their) name(?:'s| is)|,? (?:called|named)) (?P<name>[A-Z][a-z]+)\b"
)
_IN_PASSING = re.compile(
    rf"\b[Mm]y (?P<kind>{SINGULAR}),? (?P<name>(?!I\b)[A-Z][a-zà-ÿ]+)(?=,| and I\b)"
)


def _one_more(row: Pattern, clause: Clause) -> tuple[Pattern, dict[str, str]] | None:
    """One more item of the list that a clause began, "German and French", or what is not:
    "but no English".
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
    negated = _negated(rest)
    matches = [
        match
        for row in _BY_SUBJECT[_kind(clause)]
        if row.negative in (negated, None) and (match := _read(row, rest)) is not None
    ]
    yield from matches
    if (negated or _GAVE_UP.match(rest)) and not matches:
        yield from _over(clause, rest)
    if clause.called:
        yield _NAMED, {"value": clause.called}
    if (
        clause.lead
        and clause.subject == "I"
        and (name := re.fullmatch(r"am ([A-Z][a-zà-ÿ'-]+)", clause.rest))
        and _GREETS.match(sentence)
    ):
        yield _NAMED, {"value": name[1]}


_DUE = re.compile(r"\b(?:deadline|due date)\b", re.IGNORECASE)
_CLOCK_ALONE = re.compile(
    r"(?:midnight|noon|midday|\d{1,2}(?:[:.]\d{2})?(?: ?[ap]\.?m\.?| o'clock)?)", re.IGNORECASE
)
"""What is due once, at an hour without a day, is due today, and nothing to keep of a person."""


def _read(row: Pattern, words: str) -> tuple[Pattern, dict[str, str]] | None:
    match = row.expression.match(words)
    if match is None:
        return None
    groups = {name: text for name, text in match.groupdict().items() if text}
    value = row.shape(groups.get("value") or words[match.end() :])
    if value is None or (_DUE.search(groups.get("of", "")) and _CLOCK_ALONE.fullmatch(value)):
        return None
    return row, {**groups, "value": value}


def _over(clause: Clause, words: str) -> Iterator[tuple[Pattern, dict[str, str]]]:
    """What a negated clause says has ended: what the other rows read in it, or else something that
    used to be done.
    """
    kind = _kind(clause)
    ended = over(words, of_another=kind == "other")
    if ended is None:
        return
    rows = [
        _read(row, ended.left)
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
        yield _USED_TO, {"value": ended.left, "over": ended.summary}


_NOT_SO = {
    (row.attribute, so): row
    for so in ("yes", "likes")
    for row in reversed(fact_patterns.ENGLISH)
    if row.negative and row.attribute is not None and "{value}" in row.attribute
}
"""The row that says the opposite of a row's attribute and what fills it."""
_USED_TO = Pattern("no longer {value}", "", "", lambda words: words, ("self", "we", "other"), "yes")
_ONE_NAME = {"kids": "children", "grandkids": "grandchildren"}
_GREETS = re.compile(r"(?:hi|hello|hey|good (?:morning|evening|afternoon))\b", re.IGNORECASE)
_NAMED = Pattern("name", "{who} is called {value}", "am", lambda words: words)


def _kind(clause: Clause) -> Of:
    kinds: dict[str, Of] = {"I": "self", "we": "we", "my": "mine", "call me": "call", "": "foreign"}
    return kinds.get(clause.subject, "other")


def _negated(words: str) -> bool:
    return not _NEGATIONS.isdisjoint(re.findall(r"[^\W\d_]+", words.casefold()))


def _found(match: PatternMatch, speaker_name: str) -> _Found:
    """The fact that a row makes of its match, about the speaker."""
    row, groups, subject = match.row, match.groups, match.subject
    value = told_of(groups["value"], speaker_name)
    of = groups.get("of", "").strip().lower()
    of = _thing_of(_ONE_NAME.get(of, of))
    named, owner, slotted = told_and_owner(subject, speaker_name)
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
        f"{named} {told_of(groups['over'], speaker_name)}"
        if "over" in groups
        else row.template.format(**parts)
    )
    filled = row.filled.format(value=value)
    if "over" in groups and row is not _USED_TO:
        filled = "no" if filled == "yes" else f"{NO_LONGER} {filled}"
    confidence = 0.9 if named == speaker_name else 0.8
    lasting = attribute is None and (row.attribute is None or not slotted)
    return _Found(
        text,
        owner if attribute else None,
        attribute,
        filled if attribute else None,
        confidence,
        lasting,
    )


def _thing_of(of: str) -> str:
    """One name for a thing however it is called: "budget for the kitchen" is the "kitchen budget",
    "new rent" the "rent".
    """
    thing = _QUALITY.sub("", of)
    match = _FOR_WHAT.fullmatch(thing)
    return f"{match['what']} {match['thing']}" if match else thing


_QUALITY = re.compile(r"\A(?:new|current|total|overall) ")
_FOR_WHAT = re.compile(
    r"(?P<thing>budget|limit|password|deadline|rent|code) (?:for|of|at) (?:the |my "
    r"|our )?(?P<what>[\w'-]+(?: [\w'-]+)?)"
)


def _with_article(value: str) -> str:
    if value[:1].isupper():
        return value
    return f"{'an' if value[:1].lower() in 'aeiou' else 'a'} {value}"


def _statement(sentence: Sentence, speaker_name: str, fact_texts: Iterable[str]) -> _Found | None:
    """A plain statement in the third person; None when the facts of the table say as much,
    or when nothing is stated.
    """
    text = without_fillers(sentence.text)
    if (
        sentence.asks
        or not _MARKUP.isdisjoint(text)
        or _HEDGED.match(re.sub(r"^i\b", "I", text))
        or not (clauses := asserted_clauses(text))
        or quotes(clauses[-1])
        or not 4 <= len(text.split()) <= 40
    ):
        return None
    if _negated(text.replace("n't", " not").replace("n’t", " not")) and not _NO_MORE.search(text):
        return None
    rewritten = third_person(text, speaker_name)
    if rewritten is None:
        return None
    terms, known = (
        set(terms_of(word for word in words(text) if word not in QUERY_WORDS)),
        {term for fact_text in fact_texts for term in tokens(fact_text)},
    )
    new = terms - known - _THIN
    return (
        _Found(rewritten, None, None, None, 0.5)
        if len(new) >= (1 if known else 2) and len(terms - _THIN) >= 2
        else None
    )


def _in_own_words(sentence: Sentence, speaker_name: str) -> _Found | None:
    """What of a sentence lasts, in the words in which it was said; None where it supposes,
    quotes, or is no talk.
    """
    text = without_fillers(sentence.text).strip()
    if not _MARKUP.isdisjoint(text) or _TAKEN_OUT in text or likes_in_sight(text):
        return None
    lasting = lasting_words(text, asks=sentence.asks)
    if lasting is None:
        return None
    fact_text = (
        third_person(lasting, speaker_name) or f"{speaker_name}: {lasting[:1].upper()}{lasting[1:]}"
    )
    return _Found(fact_text, None, None, None, 0.6, lasting=True)


def _changing(sentence: Sentence, speaker_name: str, facts: Sequence[_Found]) -> _Found | None:
    """A sentence that may say of something told before that it is over, or otherwise now; None
    where what it tells says so already.
    """
    text = without_fillers(sentence.text).strip()
    if not _MARKUP.isdisjoint(text) or _TAKEN_OUT in text:
        return None
    if not tells_change(text, is_own=True) and tells_change(sentence.text, is_own=True):
        text = sentence.text.strip()  # a "no" that corrects is no filler
    if (
        not tells_change(text, is_own=True)
        or any(tells_change(fact.text) for fact in facts)
        or not _MARKUP.isdisjoint(text)
        or _TAKEN_OUT in text
    ):
        return None
    rewritten = (
        None
        if japanese_facts.is_japanese(text) or german_facts.is_german(text)
        else third_person(text, speaker_name)
    )
    return _Found(
        rewritten or f"{speaker_name}: {text[:1].upper()}{text[1:]}", None, None, None, 0.5
    )


_TAKEN_OUT = "   "
"""In the place of words of other people."""
_THIN = frozenset(
    tokens(
        "favorite favourite"
        " just also really live living today well work love like hate dislike enjoy adore name "
        "called had have been im now very way btw course obviously honestly unfortunately "
        "sadly guess"
    )
)
"""Terms that make no statement worth keeping by themselves."""
