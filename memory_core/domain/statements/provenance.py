"""Whether quotes and stories are taken from what people said.

Note: a quote may be proven by quoted words, too; which words are the speaker's own, `own_words`
tells.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from memory_core.domain.conversation import Message
from memory_core.domain.statements.own_words import may_tell, without_recalled
from memory_core.domain.text.analyzer import ENGLISH, language_of, tokens, votes_for, words
from memory_core.domain.text.sameness import names_in
from memory_core.domain.text.spelling import GERMAN_MONTHS, GERMAN_WEEKDAYS, MONTHS, WEEKDAYS
from memory_core.domain.text.unicode_forms import normal_form

# Whether a quote that an agent gives as proof was really said; this keeps out invented facts and
# examples of a prompt.
#
# Case, white space and the shape of quotation marks are ignored. The words must be equal, since a
# nearly right quote proves something else.


_MARKS = str.maketrans(
    {
        "’": "'",
        "‘": "'",
        "“": '"',
        "”": '"',
        "„": '"',
        "«": '"',
        "»": '"',
        "–": "-",
        "—": "-",
        "…": "...",
    }
)


class Proofs:
    """The text of messages without recalled memories, to prove quotes by.

    Each message is read once, however many quotes are searched in it.
    """

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._read: dict[int, str] = {}

    def prove(self, quote: str, number: int) -> bool:
        """Whether a message exists, may tell facts, and contains a quote.

        Args:
            quote: The words to prove.
            number: The message's place in the conversation.

        """
        if not 0 <= number < len(self._messages) or not may_tell(self._messages[number]):
            return False
        if number not in self._read:
            self._read[number] = _folded(without_recalled(self._messages[number].content))
        return _occurs(quote, self._read[number])


def folded_quote(quote: str) -> str:
    """A quote in the form in which quotes are compared, without marks around it."""
    return _folded(quote).strip(" .,;:!\"'")


def _occurs(quote: str, folded: str) -> bool:
    wanted = folded_quote(quote)
    return any(character.isalnum() for character in wanted) and wanted in folded


def _folded(text: str) -> str:
    return " ".join(normal_form("NFKC", text).translate(_MARKS).casefold().split())


# Whether a text is about the messages that it was made of; this keeps out invented stories,
# invented names and other languages.
#
# Note: this is no check of truth. A story in other words, or with one wrong word, passes. A story
# about something else, a repeated example, or the result of an injected order has hardly any of the
# words that were said.


DAYS = frozenset(tokens(" ".join((*WEEKDAYS, *MONTHS, *GERMAN_WEEKDAYS, *GERMAN_MONTHS))))
"""Terms of names of days and months: a calculated date names days and months that were not said."""
OTHER_SCRIPT = re.compile(r"[\u0370-\u1fff\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""A letter of a script that is not Latin."""
LEAST_VOTES = 2
"""Letters of a script, or function words of a language, that show that a text is in it."""
MOST_FOREIGN = 1
"""Names of a story that may be in no message, since a word may only look like a name."""
LEAST_SHARE = 0.2
"""The share of a story's terms, with names and numbers, that the messages must have."""
_TELLERS = frozenset(
    tokens("user assistant users assistants person they talked said asked told conversation")
)


def tells_of(story: str, messages: Sequence[Message]) -> bool:
    """Whether a story is made of words of the messages.

    At least a fifth of its terms were said, or name a speaker. True for a story without terms.

    Args:
        story: The text.
        messages: The messages that it was made of.

    """
    story_terms = frozenset(tokens(story)) - _TELLERS
    said_terms = frozenset(
        term for message in messages for term in tokens(f"{message.actor or ''} {message.content}")
    )
    return len(story_terms & said_terms) >= LEAST_SHARE * len(story_terms)


def invents_names(story: str, messages: Sequence[Message]) -> bool:
    """Whether a story names people, places or things that no message names.

    Args:
        story: The text.
        messages: The messages that it was made of.

    """
    said_terms = frozenset(
        term for message in messages for term in tokens(f"{message.actor or ''} {message.content}")
    )
    return len(unknown_names(story, said_terms | _TELLERS)) > MOST_FOREIGN


def unknown_names(text: str, known: Collection[str]) -> frozenset[str]:
    """The terms of a text's names that are not known.

    Empty for a text that is not English: in German every noun has a capital, so that a noun is no
    name.

    Args:
        text: The text.
        known: Terms that were said.

    """
    if language_of([word.casefold() for word in words(text)]) != ENGLISH:
        return frozenset()
    return frozenset(tokens(" ".join(names_in(text)))) - frozenset(known) - DAYS - {"user"}


def in_another_language(source: str, text: str) -> bool:
    """Whether a text is surely in another language than its source.

    Args:
        source: The text that it was made of.
        text: The new text.

    """
    source_is_other, written = (OTHER_SCRIPT.search(part) is not None for part in (source, text))
    if source_is_other != written:
        return len(OTHER_SCRIPT.findall(source if source_is_other else text)) >= LEAST_VOTES
    theirs, ours = ([word.casefold() for word in words(part)] for part in (source, text))
    told_in, written_in = language_of(theirs), language_of(ours)
    if (
        told_in == written_in
        or votes_for(told_in, theirs) < LEAST_VOTES
        or votes_for(written_in, theirs) >= votes_for(told_in, theirs)
    ):
        return False
    return votes_for(written_in, ours) > votes_for(told_in, ours)
