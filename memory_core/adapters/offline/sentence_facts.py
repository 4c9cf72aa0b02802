"""Make the facts of a sentence, each with its slot and its words.

They are facts of the table, in German and Japanese, and of relatives, beside which there may be a
plain statement (`plain_statements`). Which sentences are read, and what corrects them, is told in
`facts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from memory_core.adapters.offline import fact_patterns, german_facts, japanese_facts
from memory_core.adapters.offline.animals import is_animal
from memory_core.adapters.offline.casual import with_subject, written_out
from memory_core.adapters.offline.clause_facts import read_clauses
from memory_core.adapters.offline.clauses import without_fillers
from memory_core.adapters.offline.fact_matches import (
    FoundFact,
    fact_of_match,
    facts_of_table,
    is_pupil,
    matches_of_new_persons,
)
from memory_core.adapters.offline.fact_values import known_job, likes_in_sight
from memory_core.adapters.offline.introductions import with_owner
from memory_core.adapters.offline.labels import with_its_purpose
from memory_core.adapters.offline.lasting_facts import is_of_the_moment
from memory_core.adapters.offline.plain_statements import (
    has_markup,
    is_interrupted,
    lasting_statement,
    plain_statement,
    statement_of_change,
    statement_of_name,
)
from memory_core.adapters.offline.relatives import Relative, relatives, without_company
from memory_core.adapters.offline.retractions import PatternMatch, put_right, without_stopping
from memory_core.adapters.offline.running_rules import count_cut, fitted
from memory_core.adapters.offline.taken_back import put_straight
from memory_core.adapters.offline.voice import third_person, without_shouting
from memory_core.domain.agent_schemas import MAX_TERM, MAX_VALUE, SaidFact
from memory_core.domain.statements.attributes import PET, only_implies_pets
from memory_core.domain.statements.reported_speech import own_part
from memory_core.domain.text.sentences import Sentence
from memory_core.domain.truth.slots import NO_LONGER

_OWN_NOW = re.compile(
    r"(?:weight|rent) is (?:now \d{2,4}|\d{2,4}(?:[.,]\d)?(?: ?kg)? now)\b(?!,? for\b)",
    re.IGNORECASE,
)
"""Opens a message about the speaker; in a later sentence it may be about another person."""
_OWN_DOWN = re.compile(r"down to \d", re.IGNORECASE)
"""Opens one likewise: "Repacked the rucksack. Down to 9 kg." is about the rucksack."""
_LAUGH = re.compile(r"(?<=\w)[\s,]{0,2}(?:\s(?:lol|(?:ha){2,})|😂|🤣)[\s.!]{0,3}\Z", re.IGNORECASE)
_HAS_AGE = re.compile(r"(?:\A|, )\d{1,3}(?=,|\.?\Z)")
"""An age in a list: "Electrician, 41, divorced"."""
_COUNTED_ELSEWHERE = re.compile(
    r"\b(?:in|at|for|of) (?:my|the|our) (?:class|classroom|office|school|work|nursery|kindergarten"
    r"|team|course|group|shelter|clinic|farm)\b|\bat work\b|\b(?:year|grade) \d\b",
    re.IGNORECASE,
)
"""Places where children and animals are counted that belong to no family.

An example is "30 kids in my class".
"""


class SentenceFacts(NamedTuple):
    """The facts of a sentence.

    Attributes:
        certain: Facts that may fill a slot, each with the words that prove it, "" for the sentence.
        plain: Plain statements.
        matches: The table's matches, which the next sentence may correct.
        slip: The fact of the sentence before that this sentence puts right, or None.

    """

    certain: Sequence[tuple[FoundFact, str]]
    plain: Sequence[FoundFact]
    matches: Sequence[PatternMatch]
    slip: FoundFact | None


class _TableReading(NamedTuple):
    """What the table says of a sentence.

    Attributes:
        facts: Of the matches that count.
        matches: The table's matches, which the next sentence may correct.
        slip: The fact of the sentence before that this sentence puts right, or None.

    """

    facts: Sequence[FoundFact]
    matches: Sequence[PatternMatch]
    slip: FoundFact | None


def read_sentence(
    sentence: Sentence, whole: str, with_topic: str, name: str, before: Sequence[PatternMatch]
) -> SentenceFacts:
    """Read the facts of a sentence.

    Args:
        sentence: The sentence, as the tables read it.
        whole: The same, with its topic and what else it leaves out.
        with_topic: The same, with its topic.
        name: Name of the speaker.
        before: The table's matches in the speaker's last sentence.

    """
    own = own_part(whole)
    abroad = list(facts_abroad(replace(sentence, text=own), name))
    if whole != with_topic:
        own_text = f"{name}: {sentence.text.strip(' .!')}"
        abroad = [replace(fact, text=own_text) for fact in abroad]
    table = _read_table(own, name, abroad, before)
    slotted = {fact.text for fact in table.facts if fact.attribute}
    of_table = [fact for fact in table.facts if fact.attribute or fact.text not in slotted]
    named = list(facts_of_relatives(own if own != whole else sentence.text, name))
    stating = [fact for fact in (*of_table, *abroad) if not _only_implies(fact)]
    statement = (
        None if abroad else plain_statement(sentence, name, [fact.text for fact in of_table])
    )
    if not stating:
        statement = lasting_statement(sentence, name) or statement
        if statement is not None and statement.text in _namings(named, name):
            statement = None
    if statement is not None:
        statement = replace(statement, text=statement_of_name(statement.text))
    stated = [] if statement is None else [statement]
    changed = statement_of_change(sentence, name, [*stating, *stated])
    return SentenceFacts(
        [
            *_in_passing(named, of_table, abroad),
            *((fact, "") for fact in abroad if fact.attribute),
            *((fact, "") for fact in of_table),
        ],
        [
            *(fact for fact in abroad if not fact.attribute),
            *stated,
            *([] if changed is None else [changed]),
        ],
        table.matches,
        table.slip,
    )


def read_answer(meant: str, name: str, before: Sequence[PatternMatch]) -> SentenceFacts:
    """Read the facts of a short answer; of its speaker those that fill a slot.

    Args:
        meant: The sentence that the answer means.
        name: Name of the speaker.
        before: The table's matches in the speaker's last sentence.

    """
    abroad = list(facts_abroad(Sentence(meant, 0, len(meant)), name))
    table = _read_table(meant, name, abroad, before)
    named = [fact for _, fact in facts_of_relatives(meant, name)]
    of_another = answers_for_another(meant)
    answering = [
        fact for fact in (*abroad, *table.facts, *named) if of_another or fact.attribute is not None
    ]
    return SentenceFacts([(fact, "") for fact in answering], [], table.matches, table.slip)


def answers_for_another(meant: str) -> bool:
    """Whether the meaning of an answer is not about the speaker alone."""
    return _OF_ANOTHER.match(meant) is not None


_OF_ANOTHER = re.compile(
    r"(?:My|Meine?) \w|[母父娘妻夫兄姉弟妹](?:さん)?は|(?:息子|子ども|祖[母父])は"
)


def _read_table(
    text: str, name: str, abroad: Sequence[FoundFact], before: Sequence[PatternMatch]
) -> _TableReading:
    """What the table says of a sentence, which may correct the sentence before.

    Args:
        text: The sentence.
        name: Name of the speaker.
        abroad: Its facts as a German or Japanese sentence.
        before: The table's matches in the speaker's last sentence.

    """
    introduced = _HAS_AGE.search(text) is not None and any(
        match.row.attribute == "name" for match in before
    )
    matches = list(facts_of_table(without_company(text), introduced=introduced))
    if abroad:  # the table knows jobs of other languages: "ich bin Bäcker"
        known = {fact.attribute for fact in abroad} | {None}
        matches = [
            match
            for match in matches
            if match.row.shape is known_job and match.row.attribute not in known
        ]
    slip = put_right(text, before)
    if slip is not None:
        matches = [slip[1]]
    likes, elsewhere = likes_in_sight(text), _COUNTED_ELSEWHERE.search(text) is not None
    counting = [
        *(
            match
            for match in matches
            if not POINTS.search(match.groups["value"])
            and not (likes and match.row.attribute == fact_patterns.OPINION)
            and not is_pupil(match)
            and not (elsewhere and (match.row.attribute or "").startswith("number of"))
        ),
        *matches_of_new_persons(text),
    ]
    return _TableReading(
        [fact_of_match(match, name) for match in counting],
        matches,
        None if slip is None else fact_of_match(slip[0], name),
    )


def _in_passing(
    named: Iterable[tuple[Relative, FoundFact]],
    of_table: Sequence[FoundFact],
    abroad: Sequence[FoundFact],
) -> Iterator[tuple[FoundFact, str]]:
    """Facts of relatives of whom the sentence says nothing else, each with its words.

    The rest of the sentence is another statement, which may tell of a change.

    Args:
        named: The relatives, each with the fact about them.
        of_table: The facts of the table.
        abroad: The facts of a German or Japanese sentence.

    """
    subjects = {fact.subject for fact in of_table}
    names_given = {fact.subject for fact in of_table if fact.attribute == "name"}
    pets = {(fact.attribute or "").casefold() for fact in (*of_table, *abroad)}
    for relative, fact in named:
        is_pet = (fact.attribute or "").startswith(PET)
        has_name = fact.attribute == "name" and fact.subject in names_given
        if (
            not has_name
            and relative.name not in subjects
            and not (is_pet and fact.attribute in pets)
        ):
            yield fact, relative.quote


def _only_implies(fact: FoundFact) -> bool:
    return only_implies_pets(fact.attribute or "", fact.value or "")


def _ends_of_partners(speaker_name: str, relative: Relative) -> str:
    """The fact that a partner died, or is a partner no longer."""
    kind, name = relative.kind, relative.name
    if relative.is_english:
        if relative.end == "died":
            return f"{speaker_name}'s {kind} {name} has died"
        return f"{name} is no longer {speaker_name}'s {kind}"
    has_died = relative.end == "died"
    return f"{speaker_name}: {kind} {name} {'ist gestorben' if has_died else 'ist es nicht mehr'}"


def _namings(
    named: Iterable[tuple[Relative, FoundFact]], speaker_name: str
) -> frozenset[str | None]:
    """The statements that only name a relative: "User's wife Laura".

    Args:
        named: The relatives, each with the fact about them.
        speaker_name: The speaker's name, as facts have it.

    """
    quotes_of_all = {relative.quote for relative, _ in named}
    return frozenset(
        text
        for quote in quotes_of_all
        for text in (
            third_person(quote, speaker_name),
            f"{speaker_name}: {quote[:1].upper()}{quote[1:]}",
        )
    )


def prepare_sentence(sentence: Sentence, *, opens: bool) -> Sentence:
    """A sentence as the tables read it: with its subject, and without laughs and shouting.

    Args:
        sentence: As it was said.
        opens: Whether it is the first of its message.

    """
    text = with_subject(written_out(without_shouting(_LAUGH.sub("", sentence.text))))
    text = without_stopping(with_its_purpose(put_straight(text)))
    if opens and _OWN_NOW.match(text):
        text = f"My {text}"
    elif opens and _OWN_DOWN.match(text):
        text = f"I'm {text[:1].lower()}{text[1:]}"
    return replace(sentence, text=text[:1].upper() + text[1:])


def facts_abroad(sentence: Sentence, speaker_name: str) -> Iterator[FoundFact]:
    """Facts of a German or Japanese sentence, each in its original words.

    What fills a slot is read without the people who are with the speaker, if there are any.

    Args:
        sentence: The sentence.
        speaker_name: The speaker's name, as facts have it.

    """
    text = without_fillers(sentence.text)
    if has_markup(text):
        return
    alone = without_company(text)
    facts = list(_read_abroad(alone, sentence, speaker_name))
    if alone != text and all(fact.attribute is None for fact in facts):
        facts = list(_read_abroad(text, sentence, speaker_name))
    yield from facts


def _read_abroad(text: str, sentence: Sentence, speaker_name: str) -> Iterator[FoundFact]:
    if japanese_facts.is_japanese(text):
        clauses = japanese_facts.clauses(text, asks=sentence.asks)
        readings = read_clauses(clauses, japanese_facts.JAPANESE)
    elif german_facts.is_german(text):
        clauses = german_facts.clauses(with_owner(text), asks=sentence.asks)
        readings = read_clauses(clauses, german_facts.GERMAN)
    else:
        return
    owner = _owner(speaker_name)
    for reading in readings:
        text_of_fact = f"{speaker_name}: {reading.clause[:1].upper()}{reading.clause[1:]}"
        if (reading.attribute is None and is_of_the_moment(reading.clause)) or POINTS.search(
            f"{reading.attribute or ''} {reading.value or ''}"
        ):
            continue
        if reading.attribute is None:
            yield FoundFact(text_of_fact, None, None, None, 0.6, lasting=True)
        else:
            yield FoundFact(
                text_of_fact,
                f"{owner}'s {reading.of}" if reading.related else reading.of or owner,
                reading.attribute,
                reading.value,
                0.9,
            )


def facts_of_relatives(text: str, speaker_name: str) -> Iterator[tuple[Relative, FoundFact]]:
    """The relatives whom a sentence names in passing, each with the fact about them.

    Args:
        text: The sentence.
        speaker_name: The speaker's name, as facts have it.

    """
    if is_interrupted(text):
        return
    owner = _owner(speaker_name)
    for relative in relatives(text):
        kind, name = relative.kind, relative.name
        if not relative.is_english:
            fact_text = f"{speaker_name}: {kind[:1].upper()}{kind[1:]}{relative.joint}{name}"
        elif relative.is_only:
            fact_text = f"{speaker_name}'s {kind} is called {name}"
        else:
            fact_text = f"{speaker_name} has a {kind} called {name}"
        if relative.end:
            ended = f"{NO_LONGER} {name}"
            fact_text = _ends_of_partners(speaker_name, relative)
            fact = FoundFact(fact_text, f"{owner}'s {kind.casefold()}", "name", ended, 0.9)
        elif relative.is_only:
            fact = FoundFact(fact_text, f"{owner}'s {kind.casefold()}", "name", name, 0.9)
        elif is_animal(kind):
            fact = FoundFact(fact_text, owner, f"{PET}{name}".casefold(), kind, 0.9)
        else:
            fact = FoundFact(fact_text, owner, f"{kind} {name}".casefold(), "yes", 0.9)
        yield relative, fact


def _owner(speaker_name: str) -> str:
    return speaker_name.lower() if speaker_name == "User" else speaker_name


POINTS = re.compile(
    r"\b(?:you|your|yours|this|these|code|bugs?|paragraph|question|dein\w*|diese\w?|helden?"
    r"|hauptfigur)\b|\Aopinion of (?:es|das|ihn|sie|dies)\b|主人公|キャラ|それ|これ|あれ|この|その",
    re.IGNORECASE,
)
"""Words that can't be a slot's value: they point at a thing in sight."""


class SourceSentence(NamedTuple):
    """Where a fact was said.

    Attributes:
        name: Name of the speaker.
        number: Place of the message.
        quote: The words that prove it, as they were written.

    """

    name: str
    number: int
    quote: str


def said_fact(fact: FoundFact, source: SourceSentence) -> SaidFact:
    """A fact with its proof.

    Args:
        fact: The fact.
        source: Where it was said.

    """
    slot = _slot(fact)
    return fitted(
        SaidFact,
        text=fact.text,
        message=source.number,
        quote=source.quote,
        subject=slot[0],
        attribute=slot[1],
        value=slot[2],
        confidence=fact.confidence,
        lasting=fact.lasting,
    )


def _slot(fact: FoundFact) -> tuple[str, str, str] | tuple[None, None, None]:
    """Subject, attribute and value of a fact.

    All are None if a part is missing or too long, because a cut name or value would be another name
    or value.
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
