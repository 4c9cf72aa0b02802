"""Plain statements of a sentence, which fill no slot.

They are what a sentence says in the third person, what lasts of it, and that something has changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from memory_core.adapters.offline import german_facts, japanese_facts
from memory_core.adapters.offline.clauses import asserted_clauses, quotes, without_fillers
from memory_core.adapters.offline.fact_matches import FoundFact, is_negated
from memory_core.adapters.offline.fact_values import likes_in_sight
from memory_core.adapters.offline.lasting_facts import lasting_words
from memory_core.adapters.offline.voice import third_person
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
_TAKEN_OUT = "   "
"""Placeholder for words of other people."""
_NO_MORE = re.compile(r"\b(?:no longer|any ?more|stopped|quit|gave up|given up)\b", re.IGNORECASE)
_THIN = frozenset(
    tokens(
        "favorite favourite"
        " just also really live living today well work love like hate dislike enjoy adore name "
        "called had have been im now very way btw course obviously honestly unfortunately "
        "sadly guess"
    )
)
"""Terms that make no statement worth keeping by themselves."""


def has_markup(text: str) -> bool:
    """Whether a text has signs of code or markup, as no talk has."""
    return not _MARKUP.isdisjoint(text)


def is_interrupted(text: str) -> bool:
    """Whether a text has markup, or blanks in the place of other people's words."""
    return has_markup(text) or _TAKEN_OUT in text


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
        or has_markup(text)
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
    if is_interrupted(text) or likes_in_sight(text):
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
    if is_interrupted(text):
        return None
    if not tells_change(text, is_own=True) and tells_change(sentence.text, is_own=True):
        text = sentence.text.strip()  # a "no" that corrects is no filler
    if (
        not tells_change(text, is_own=True)
        or any(tells_change(fact.text) for fact in facts)
        or is_interrupted(text)
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
