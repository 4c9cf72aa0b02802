"""Whether a text tells of what it was made of: what keeps invented stories and names, and other languages, from being remembered.

Note: this is no check of truth. A story in other words, or with one wrong word, passes; one about something else, an
example that a model repeats or an order that it obeyed, has next to none of the words that were said.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from memory_core.domain.calendar_names import GERMAN_MONTHS, GERMAN_WEEKDAYS, MONTHS, WEEKDAYS
from memory_core.domain.conversation import Message
from memory_core.domain.languages import ENGLISH, language_of, votes_for
from memory_core.domain.sameness import names_in
from memory_core.domain.text import tokens, words

DAYS = frozenset(tokens(" ".join((*WEEKDAYS, *MONTHS, *GERMAN_WEEKDAYS, *GERMAN_MONTHS))))
"""Terms of names of days and months: who reckons a date names one that was not said."""
OTHER_SCRIPT = re.compile(r"[\u0370-\u1fff\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""A letter that is none of the Latin ones."""
LEAST_VOTES = 2
"""Letters of a script, or little words of a language, that show a text to be in it."""
MOST_FOREIGN = 1
"""Names of a story that may be in no message.

One may be a word that only looks like a name.
"""
LEAST_SHARE = 0.2
"""Of a story's terms, names and numbers included, that stand in the messages."""
_TELLERS = frozenset(tokens("user assistant users assistants person they talked said asked told conversation"))


def tells_of(story: str, messages: Sequence[Message]) -> bool:
    """Whether at least a fifth of the story's terms were said, or name who spoke. A story without a term tells of anything."""
    told = frozenset(tokens(story)) - _TELLERS
    said = frozenset(term for message in messages for term in tokens(f"{message.actor or ''} {message.content}"))
    return len(told & said) >= LEAST_SHARE * len(told)


def invents_names(story: str, messages: Sequence[Message]) -> bool:
    """Whether a story names people, places or things that stand in none of the messages."""
    said = frozenset(term for message in messages for term in tokens(f"{message.actor or ''} {message.content}"))
    return len(unknown_names(story, said | _TELLERS)) > MOST_FOREIGN


def unknown_names(text: str, known: Collection[str]) -> frozenset[str]:
    """The terms of a text's names that are not known. Of German, where every noun is a capital, none: a noun is no name there."""
    if language_of([word.casefold() for word in words(text)]) != ENGLISH:
        return frozenset()
    return frozenset(tokens(" ".join(names_in(text)))) - frozenset(known) - DAYS - {"user"}


def in_another_language(said: str, text: str) -> bool:
    """Whether a text is surely not in the language of what it was made of."""
    told, written = (OTHER_SCRIPT.search(one) is not None for one in (said, text))
    if told != written:
        return len(OTHER_SCRIPT.findall(said if told else text)) >= LEAST_VOTES
    theirs, ours = ([word.casefold() for word in words(one)] for one in (said, text))
    told_in, written_in = language_of(theirs), language_of(ours)
    if told_in == written_in or votes_for(told_in, theirs) < LEAST_VOTES or votes_for(written_in, theirs) >= votes_for(told_in, theirs):
        return False
    return votes_for(written_in, ours) > votes_for(told_in, ours)
