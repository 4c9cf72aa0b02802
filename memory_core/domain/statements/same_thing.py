"""Whether two sentences tell of the same thing, and of the same subject."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from itertools import product, takewhile

from memory_core.domain.statements.change_clauses import LEAST_COMPOUND
from memory_core.domain.statements.change_sentences import MOST_OF_SHORT, SaidSentence
from memory_core.domain.statements.change_topics import ALIKE
from memory_core.domain.statements.japanese_persons import person_of
from memory_core.domain.statements.labels import are_labelled_apart
from memory_core.domain.statements.naming_words import IS_LABEL, naming_words
from memory_core.domain.statements.said_things import SELF, Thing, is_same
from memory_core.domain.statements.things_in_common import in_common, is_another
from memory_core.domain.text.analyzer import has_japanese
from memory_core.domain.text.text_cache import keep_texts

LEAST_COVERED = 0.33
"""The share of informative words, of the sentence that has fewer of them, that both sentences have
if the later sentence ends or changes the earlier.
"""
LEAST_COVERED_BY_NAME = 0.15
"""The same share if a name is among the words, and in Japanese, whose words are cut into pairs."""
LEAST_COVERED_BY_SUBJECT = 0.5
"""The same share, of the sentence with more informative words, if both begin with their only shared
word: all facts about a person begin with the name.
"""


def are_of_one_thing(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether two sentences are about the same thing, by shared words or names.

    A single shared word is not enough in long sentences. Compared with all that a person said
    before, a sentence that tells a change shares some word with a hundred sentences.

    Args:
        before: The earlier sentence.
        now: The later sentence.

    """
    if before.keys.isdisjoint(now.keys) or _names_another_person(before.text, now.text):
        return False
    fewer = min(len(before.terms), len(now.terms))
    shared = shared_terms(before.terms, now.terms)
    covered = len(shared) / fewer if fewer else 0.0
    if has_japanese(now.text):
        return covered >= LEAST_COVERED_BY_NAME
    if len(shared) == 1 and shared == before.first & now.first:
        return len(shared) >= LEAST_COVERED_BY_SUBJECT * max(len(before.terms), len(now.terms))
    if covered >= LEAST_COVERED:
        return True
    return (
        fewer <= MOST_OF_SHORT
        and covered >= LEAST_COVERED_BY_NAME
        and not shared.isdisjoint(before.names | now.names)
    )


def shared_terms(ours: Collection[str], theirs: Collection[str]) -> frozenset[str]:
    """The terms that two sentences share, with compounds and words for the same matter.

    Args:
        ours: Terms of the first sentence.
        theirs: Terms of the second sentence.

    """
    of_others = frozenset(theirs)
    both = of_others.intersection(ours)
    matters = {ALIKE[term] for term in of_others if term in ALIKE}
    alike = (
        frozenset(term for term in ours if term in ALIKE and ALIKE[term] in matters)
        if matters
        else frozenset()
    )
    heads = {head for term in of_others for head in _heads(term)}
    compounds = frozenset(
        term for term in ours if term in heads or not of_others.isdisjoint(_heads(term))
    )
    return both | alike | compounds


def shared_names(ours: Collection[str], theirs: Collection[str]) -> frozenset[str]:
    """The naming words that two texts share; labels only as they are written.

    Args:
        ours: Naming words of the first text.
        theirs: Naming words of the second text.

    """
    labels = frozenset(word for word in ours if word.endswith(IS_LABEL))
    of_others = frozenset(word for word in theirs if not word.endswith(IS_LABEL))
    return shared_terms(frozenset(ours) - labels, of_others) | labels.intersection(theirs)


LONGEST_COMPOUND = 40
"""Letters of the longest compound whose beginnings are compared."""


@keep_texts(4_096)
def _heads(term: str) -> tuple[str, ...]:
    """The beginnings of a term that could be the first word of a compound."""
    beginnings = (
        term[:end]
        for end in range(LEAST_COMPOUND, min(len(term), LONGEST_COMPOUND) - LEAST_COMPOUND + 1)
    )
    return tuple(beginning for beginning in beginnings if beginning.isalpha())


def same_thing(before: SaidSentence, now: SaidSentence, shared: Collection[str]) -> frozenset[str]:
    """The shared terms of two sentences that name the same thing in both.

    Args:
        before: The earlier sentence.
        now: The later sentence.
        shared: Terms of both, from `shared_terms`.

    """
    return in_common(before.named, now.named.things, frozenset(shared), shared_terms)


def names_another(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether what both sentences tell of is another thing in the later one.

    A word of both, but no name, names another thing: "the production database" after "the staging
    database", "my brother's phone" after "my phone". Or only a number is in both, and it is of
    another thing or person: "the suitcase is down to 22 kg" after "I weigh 85 kg".

    Args:
        before: The earlier sentence.
        now: The later sentence.

    """
    shared = shared_terms(before.terms, now.terms)
    people = before.names | before.first | now.names | now.first
    if not shared - people <= same_thing(before, now, shared):
        return True
    counted = before.values.numbers.keys() & now.values.numbers.keys()
    only_counts = bool(counted & shared) and not shared - counted - _actions(before)
    return (
        (only_counts and not _of_one_bearer(before, now))
        or _run_by_another(before, now, shared)
        or _are_of_one_kind(before, now)
    )


def topic(sentence: SaidSentence) -> frozenset[str]:
    """The words for the thing that a sentence tells of.

    Args:
        sentence: The sentence.

    """
    if has_japanese(sentence.text):
        end = _TOPIC_IN_JAPANESE.search(sentence.text)
        text = sentence.text[: end.start()] if end else ""
        return naming_words(text, sentence.language)
    things = [thing for thing in sentence.named.things if not thing.acts]
    ended = frozenset[str]().union(*sentence.ended)
    over = [thing for thing in things if not ended.isdisjoint(thing.words)]
    first = (over or [thing for thing in things if thing.does] or things)[:1]
    return frozenset[str]().union(*(names_of(thing, sentence.naming) for thing in first))


def names_of(thing: Thing, naming: frozenset[str]) -> frozenset[str]:
    """The naming words of a sentence that name one of its things.

    Args:
        thing: The thing.
        naming: The naming words of the sentence.

    """
    apart = ("does", "object") if thing.does else ("does", "object", "to", "from")
    which = {word for kind, word in thing.which if kind not in apart}
    words = thing.words | thing.pre | which
    labels = (name for name in naming if name.endswith(IS_LABEL))
    return (words & naming).union(
        label for label in labels if any(label.startswith(word) for word in words)
    )


def tells_of_another(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether the later sentence tells of another thing than the earlier, by its subjects.

    A subject of both has another owner or another companion: "my sister's flight", "the meeting
    with Anna". Or their labels name two things: "Contoso: …", "Fabrikam: …", "flat 2", "flat 4", or
    their names: "flying to Lisbon", "the Oslo flight". Or "it" goes on with a
    subject that the earlier sentence does not have: "Die Kaution wurde erhöht. Sie beträgt jetzt
    1050 Euro."

    Args:
        before: The earlier sentence.
        now: The later sentence.

    """
    if (
        are_labelled_apart(before.text, now.text)
        or are_named_apart(before, now)
        or _names_another_person(before.text, now.text)
    ):
        return True
    theirs = [thing for thing in before.named.things if thing.does]
    ours = [thing for thing in now.named.things if thing.does]
    known = frozenset[str]().union(*(thing.words | thing.pre for thing in before.named.things))
    same_name = [pair for pair in product(theirs, ours) if pair[0].words & pair[1].words]
    if same_name and all(is_another(*pair, known) for pair in same_name):
        return True
    it = now.named.subject()
    if not (
        it.is_thing
        and not it.person
        and now.text[: it.start].rstrip().endswith((".", "!"))
        and _IT.match(now.text, it.start)
        and any(thing.start < it.start for thing in ours)
    ):
        return False
    antecedents = (thing for thing in now.named.things if not thing.acts and thing.start < it.start)
    terms = frozenset[str]().union(*(thing.words | thing.pre for thing in antecedents))
    return not (shared_terms(terms, before.terms) | shared_terms(before.terms, terms))


def are_named_apart(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether a number or a name tells what both are about from each other.

    Args:
        before: The earlier sentence.
        now: The later sentence.

    """
    if now.corrects:
        return False
    theirs, ours = (_labels(topic(sentence)) for sentence in (before, now))
    apart = [head for head in theirs.keys() & ours.keys() if theirs[head].isdisjoint(ours[head])]
    if apart and not _goes_on_to_another(before, now, apart[0]):
        return True
    alike = [
        thing
        for thing in now.named.things
        if not thing.acts and shared_terms(thing.words, before.terms)
    ]
    return bool(before.names - now.terms) and (
        leads_elsewhere(before, (thing for thing in alike if thing.does))
        or any(
            (names := thing.pre & now.names) and names.isdisjoint(before.terms) for thing in alike
        )
    )


def _goes_on_to_another(before: SaidSentence, now: SaidSentence, head: str) -> bool:
    """Whether the speaker changed from a labelled thing to another: "I moved to flat 6"."""
    subject = now.named.subject()
    if subject.person != SELF or subject.is_thing:
        return False
    is_of_it = head in _labelled(_OF_LABELLED, before.text)
    return not is_of_it and head in _labelled(_GOES_ON, now.text)


def _labelled(expression: re.Pattern[str], text: str) -> set[str]:
    return {match[match.lastgroup or 0].casefold() for match in expression.finditer(text)}


def leads_elsewhere(before: SaidSentence, things: Iterable[Thing]) -> bool:
    """Whether a later thing leads to a place that the earlier sentence does not name.

    For example "the flight to Porto" after "I'm flying to Lisbon".

    Args:
        before: The earlier sentence.
        things: Things of the later sentence.

    """
    to = {word for thing in things for kind, word in thing.which if kind == "to"}
    return bool(to) and to.isdisjoint(before.terms)


def _labels(names: Collection[str]) -> dict[str, set[str]]:
    """The labels among naming words, by the word before each label."""
    labels: dict[str, set[str]] = {}
    for name in names:
        head, *label = name.split(IS_LABEL)
        if len(label) > 1:
            labels.setdefault(head, set()).add(name)
    return labels


def _names_another_person(before: str, now: str) -> bool:
    """Whether a Japanese sentence names a person, and the earlier one another or the speaker."""
    person = person_of(now) if has_japanese(now) else ""
    if not person or person in before or f"{person}が" in now:
        return False
    earlier = person_of(before)
    return not earlier or not (earlier.startswith(person) or person.startswith(earlier))


def _actions(sentence: SaidSentence) -> frozenset[str]:
    return frozenset[str]().union(*(thing.words for thing in sentence.named.things if thing.acts))


def _run_by_another(before: SaidSentence, now: SaidSentence, shared: frozenset[str]) -> bool:
    """Whether two sentences share only a name with a version, for different things.

    For example "the frontend is on React 18", "the admin is on React 19 now". A sentence that names
    nothing else goes on with what was told: "we're on React 19 now".
    """
    versioned = before.versioned & now.versioned
    if not versioned or shared - versioned - _actions(before):
        return False
    theirs, ours = (_doers(sentence) - versioned for sentence in (before, now))
    return bool(theirs) and bool(ours) and not shared_terms(theirs, ours)


def _doers(sentence: SaidSentence) -> frozenset[str]:
    """The terms of the subjects that are things, else of all things named."""
    things = [thing for thing in sentence.named.things if not thing.acts]
    doing = [thing for thing in things if thing.does] or things
    return sentence.terms & frozenset[str]().union(*(thing.words | thing.pre for thing in doing))


def _of_one_bearer(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether a number that both sentences tell is one of the same person or thing.

    Without a subject it is one of the things that the sentence names before it; a sentence without
    any goes on with what was told.
    """
    ours, theirs = _bearer(before), _bearer(now)
    if not theirs and (not now.named.subjects or _TOLD_BEFORE.search(now.text) is not None):
        return True
    return bool(shared_terms(ours, theirs)) if ours or theirs else same_subject(before, now)


_OF_LABELLED = re.compile(r"\b(?:of|for) (?P<head>[^\W\d_]{2,20}) \w{1,4}\b", re.IGNORECASE)
_GOES_ON = re.compile(
    r"\b(?:moved|switched|changed|upgraded|transferred|went|gone)(?: up| down| over)? to"
    r" (?P<other>[^\W\d_]{2,20}) \w{1,4}\b"
    r"|\b(?P<present>[^\W\d_]{2,20}) \w{1,4} (?:now|instead)\b",
    re.IGNORECASE,
)
_TOPIC_IN_JAPANESE = re.compile(r"[はがを]")
_IT = re.compile(r"(?:it|they|er|sie|es)\b", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_TOLD_BEFORE = re.compile(r"\w (?:it|them|es|ihn|me|mich)\b", re.IGNORECASE)
"""An object that names no thing: "I upgraded it to 32 GB", "she's put me up to 10 mg"."""


def _bearer(sentence: SaidSentence) -> frozenset[str]:
    """The things whose number a sentence tells; none for a person."""
    subject, things = sentence.named.subject(), sentence.named.things
    if subject.person and not subject.is_thing:
        return frozenset()
    number = _DIGIT.search(sentence.text)
    end = len(sentence.text) if number is None else number.start()
    doing = [thing for thing in things if thing.does]
    named = doing or [thing for thing in things if not thing.acts and thing.start < end]
    terms = frozenset[str]().union(*(thing.words | thing.pre for thing in named))
    return terms - sentence.values.numbers.keys()


def _are_of_one_kind(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether two sentences name two things of a kind, by German compounds.

    For example "Testdatenbank" and "Produktionsdatenbank", or "Datensatz A" and "Datensatz B".
    """
    if now.language != "german":
        return False
    ours, theirs = _nouns(before), _nouns(now)
    shared = shared_terms(ours, theirs) | shared_terms(theirs, ours)
    return any(_tell_kind(*pair) for pair in product(ours - shared, theirs - shared))


def _nouns(sentence: SaidSentence) -> frozenset[str]:
    things = (thing for thing in sentence.named.things if not thing.acts)
    return frozenset[str]().union(*(thing.words for thing in things))


def _tell_kind(ours: str, theirs: str) -> bool:
    """Whether two compounds have the same last noun after different first ones.

    Also true of two letters.
    """
    if len(ours) == len(theirs) == 1:
        return True
    signs = zip(reversed(ours), reversed(theirs), strict=False)
    length = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], signs))
    first = min(len(ours), len(theirs)) - length
    return first >= LEAST_FIRST and length >= LEAST_COMPOUND and not ours.endswith(_NO_NOUN)


LEAST_FIRST = 3
"""Letters of the first noun of a compound."""
_NO_NOUN = ("ung", "heit", "keit", "schaft", "tion")
"""The ends of words that may be no compounds."""


def same_subject(before: SaidSentence, now: SaidSentence) -> bool:
    """Whether two sentences have the same subject; it is the speaker where none is named.

    Args:
        before: The earlier sentence.
        now: The later sentence.

    """
    return is_same(before.named.subject().person or SELF, now.named.subject().person or SELF)
