"""What is asked in the last messages of a chat, and what they say.

Note: the last message of the user is not always the question by itself ("and hers?"), so a short one, or one that
points back, brings the one before it along.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory_core.domain.chat_messages import ReadMessage
from memory_core.domain.fence import visible
from memory_core.domain.sameness import normalised
from memory_core.domain.sentences import sentences
from memory_core.domain.stopwords import FUNCTION_WORDS, QUERY_WORDS
from memory_core.domain.text import words

FEW_WORDS = 2
"""A message with fewer words that say something is not understood without the one before it."""
LEAST_TELLING = 3
"""Words that say something, without which a message that asks nothing is a remark."""
SHORT = 12
"""Words of a message that may point back to what was said before it; a longer one says itself what it is about."""
MOST_CHARACTERS = 10_000
"""Of a query; a question comes at the end of a long message."""
_POINTING = frozenset(
    {
        "he", "him", "his", "she", "her", "hers", "it", "its", "they", "them", "their", "theirs", "that", "this", "those", "these", "there",
        "er", "ihn", "ihm", "sein", "seine", "sie", "ihr", "ihre", "es", "das", "dort", "davon", "il", "elle", "lui", "leur", "ça", "cela",
        "él", "ella", "su", "sus", "eso", "esto", "lei", "suo", "sua",
    }
)  # fmt: skip


def query_in(messages: Sequence[ReadMessage]) -> str | None:
    """What the user last asked, with the message before it where that is needed to understand it; None where the user says nothing."""
    said = [text for message in messages if message.role == "user" and (text := visible(message.content).strip())]
    if not said:
        return None
    last = said[-1]
    query = f"{said[-2]}\n{last}" if len(said) > 1 and points_back(last) else last
    return query[-MOST_CHARACTERS:].strip() or None


def is_remark(query: str) -> bool:
    """Whether it asks nothing, and has hardly a word that says something: "Noted!", "ok, thanks for telling me"."""
    return len(_telling(words(query))) < LEAST_TELLING and not any(one.asks for one in sentences(query))


def points_back(text: str) -> bool:
    """Whether a message needs the one before it: it has few words that say something, or it is short and says "her" or "that"."""
    said = words(text)
    return len(_telling(said)) < FEW_WORDS or (len(said) <= SHORT and not _POINTING.isdisjoint(said))


def _telling(said: Sequence[str]) -> list[str]:
    return [one for one in said if one not in FUNCTION_WORDS and one not in QUERY_WORDS]


def texts_said(messages: Iterable[ReadMessage]) -> frozenset[str]:
    """The texts of the messages, `normalised`: each as kept, and each of its parts."""
    return frozenset(normalised(text) for message in messages for text in (message.content, *message.parts))
