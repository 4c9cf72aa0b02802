"""Make the facts of a sentence, each with its slot and its words.

They are facts in German and Japanese, of relatives, and plain statements. Which sentences are read,
and what corrects them, is told in `facts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from memory_core.adapters.offline import german_facts, japanese_facts
from memory_core.adapters.offline.animals import is_animal
from memory_core.adapters.offline.clause_facts import read_clauses
from memory_core.adapters.offline.clauses import asserted_clauses, quotes, without_fillers
from memory_core.adapters.offline.fact_matches import FoundFact, is_negated
from memory_core.adapters.offline.fact_values import likes_in_sight
from memory_core.adapters.offline.introductions import with_owner
from memory_core.adapters.offline.lasting_facts import is_of_the_moment, lasting_words
from memory_core.adapters.offline.relatives import Relative, relatives, without_company
from memory_core.adapters.offline.running_rules import count_cut, fitted
from memory_core.adapters.offline.voice import third_person
from memory_core.domain.agent_schemas import MAX_TERM, MAX_VALUE, SaidFact
from memory_core.domain.statements.attributes import PET
from memory_core.domain.statements.change_messages import tells_change
from memory_core.domain.text.analyzer import QUERY_WORDS, terms_of, tokens, words
from memory_core.domain.text.sentences import Sentence

_HEDGED = re.compile(
    r"\A(?:\w+,\s+)?I\s+(?:just\s+|really\s+|also\s+|do\s+)?(?:think|guess|mean|see|know|hope"
    r"|wonder|suppose|feel like|appreciate|understand|agree|bet"
    r"|swear|promise|wish|would|could|can|might|may|should|am (?:sorry|asking|wondering|sure|good"
    r"|fine|ok|okay|back|here|done|curious)|was wondering|need (?:help|to ask)"
    r"|have (?:a|another|one|some) (?:\w+ )?questions?|said|told|asked|say|repeat|order|command"
    r"|instruct|authori[sz]e)\b",
    re.IGNORECASE,
)
_MARKUP = frozenset("<>{}|\\")
_NO_MORE = re.compile(r"\b(?:no longer|any ?more|stopped|quit|gave up|given up)\b", re.IGNORECASE)


def facts_abroad(sentence: Sentence, speaker_name: str) -> Iterator[FoundFact]:
    """Facts of a German or Japanese sentence, each in its original words.

    What fills a slot is read without the people who are with the speaker, if there are any.

    Args:
        sentence: The sentence.
        speaker_name: The speaker's name, as facts have it.

    """
    text = without_fillers(sentence.text)
    if not _MARKUP.isdisjoint(text):
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
    if not _MARKUP.isdisjoint(text) or _TAKEN_OUT in text:
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
        if relative.is_only:
            fact = FoundFact(fact_text, f"{owner}'s {kind.casefold()}", "name", name, 0.9)
        elif is_animal(kind):
            fact = FoundFact(fact_text, owner, f"{PET}{name}".casefold(), kind, 0.9)
        else:
            fact = FoundFact(fact_text, owner, f"{kind} {name}".casefold(), "yes", 0.9)
        yield relative, fact


def namings(
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


_NAMES_ONLY = re.compile(
    r"(?P<whose>[A-Z][\w-]{0,30}(?: [A-Z][\w-]{0,30}){0,2}'s"
    r" (?:(?!(?:is|are|was|has|lives?|works?|loves?|in|at|for|to|from) )[a-z-]{1,20} ){1,4})"
    r"(?P<name>[A-ZÀ-Þ][\w'-]{1,30})"
    r"|(?P<name2>[A-ZÀ-Þ][\w'-]{1,30}), (?P<whose2>[A-Z][\w -]{0,58}'s (?:[a-z-]{1,20} ?){1,4})"
)


def statement_of_name(text: str) -> str:
    """A person who is only named, as a statement: "Kat is User's friend"."""
    match = _NAMES_ONLY.fullmatch(text)
    if match is None:
        return text
    return f"{match['name'] or match['name2']} is {(match['whose'] or match['whose2']).strip()}"


def _owner(speaker_name: str) -> str:
    return speaker_name.lower() if speaker_name == "User" else speaker_name


POINTS = re.compile(
    r"\b(?:you|your|yours|this|these|code|bugs?|paragraph|question|dein\w*|diese\w?|helden?"
    r"|hauptfigur)\b|\Aopinion of (?:es|das|ihn|sie|dies)\b|主人公|キャラ|それ|これ|あれ|この|その",
    re.IGNORECASE,
)
"""Words that can't be a slot's value: they point at a thing in sight."""


def said_fact(fact: FoundFact, number: int, quote: str) -> SaidFact:
    """A fact with its proof.

    Args:
        fact: The fact.
        number: The place of its message among the messages.
        quote: The words that prove it.

    """
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


def plain_statement(
    sentence: Sentence, speaker_name: str, fact_texts: Iterable[str]
) -> FoundFact | None:
    """A plain statement in the third person.

    None if the facts of the table say as much, or if the sentence states no fact.

    Args:
        sentence: The sentence.
        speaker_name: The speaker's name, as facts have it.
        fact_texts: The facts of the table in the sentence.

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
    if is_negated(text.replace("n't", " not").replace("n’t", " not")) and not _NO_MORE.search(text):
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
        FoundFact(rewritten, None, None, None, 0.5)
        if len(new) >= (1 if known else 2) and len(terms - _THIN) >= 2
        else None
    )


def lasting_statement(sentence: Sentence, speaker_name: str) -> FoundFact | None:
    """The lasting part of a sentence, in the words in which it was said.

    None if the sentence supposes, quotes, or is no talk.

    Args:
        sentence: The sentence.
        speaker_name: The speaker's name, as facts have it.

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
    return FoundFact(fact_text, None, None, None, 0.6, lasting=True)


def statement_of_change(
    sentence: Sentence, speaker_name: str, facts: Sequence[FoundFact]
) -> FoundFact | None:
    """A sentence that may say that an earlier statement is over or has changed.

    None if a fact of the sentence says so already.

    Args:
        sentence: The sentence.
        speaker_name: The speaker's name, as facts have it.
        facts: The facts of the sentence.

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
    if rewritten is not None and not tells_change(rewritten):
        rewritten = None  # "I meant" corrects, "Ben meant" does not
    return FoundFact(
        rewritten or f"{speaker_name}: {text[:1].upper()}{text[1:]}", None, None, None, 0.5
    )


_TAKEN_OUT = "   "
"""Placeholder for words of other people."""
_THIN = frozenset(
    tokens(
        "favorite favourite"
        " just also really live living today well work love like hate dislike enjoy adore name "
        "called had have been im now very way btw course obviously honestly unfortunately "
        "sadly guess"
    )
)
"""Terms that make no statement worth keeping by themselves."""
