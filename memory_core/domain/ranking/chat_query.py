"""The query in the last messages of a chat.

Note: the user's last message is not always a question by itself ("and hers?"), so the query of a
short message, or of a message that points back, includes the message before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory_core.domain.chat.read_message import ReadMessage
from memory_core.domain.statements.worth import SMALL_TALK, is_small_talk
from memory_core.domain.text.analyzer import FUNCTION_WORDS, QUERY_WORDS, words
from memory_core.domain.text.fence import visible
from memory_core.domain.text.sameness import normalised
from memory_core.domain.text.sentences import sentences

FEW_WORDS = 2
"""Content words below which a message is not understood without the message before it."""
LEAST_TELLING = 3
"""Content words below which a message that is no question is a remark."""
SHORT = 12
"""Words of a message that may point back to the message before it; a longer message is
understood by itself.
"""
MOST_CHARACTERS = 10_000
"""The last characters of a query that are used: a question comes at the end of a long message."""
_POINTING = frozenset(
    {
        "he", "him", "his", "she", "her", "hers", "it", "its", "they", "them", "their", "theirs",
        "that", "this", "those", "these", "there", "er", "ihn", "ihm", "sein", "seine", "sie",
        "ihr", "ihre", "es", "das", "dort", "davon", "il", "elle", "lui", "leur", "ça", "cela",
        "él", "ella", "su", "sus", "eso", "esto", "lei", "suo", "sua",
    }
)  # fmt: skip


def query_in(messages: Sequence[ReadMessage]) -> str | None:
    """The query of a chat: the user's last message.

    The message before it is included where it is needed to understand the last. Thanks and goodbyes
    don't need it, because they don't repeat a question. None if the user has written no text.
    """
    texts = [
        text
        for message in messages
        if message.role == "user" and (text := visible(message.content).strip())
    ]
    if not texts:
        return None
    last = texts[-1]
    query = (
        f"{texts[-2]}\n{last}"
        if len(texts) > 1 and points_back(last) and not is_small_talk(last)
        else last
    )
    return query[-MOST_CHARACTERS:].strip() or None


def is_remark(query: str) -> bool:
    """Whether a query is no question and has hardly a content word: "ok, thanks!"."""
    asks = any(sentence.asks for sentence in sentences(query))
    telling = [word for word in _content_words(words(query)) if word not in SMALL_TALK]
    return is_small_talk(query) or (len(telling) < LEAST_TELLING and not asks)


def points_back(text: str) -> bool:
    """Whether a message needs the message before it to be understood.

    It does with few content words, or when it is short and says "her" or "that".
    """
    text_words = words(text)
    return len(_content_words(text_words)) < FEW_WORDS or (
        len(text_words) <= SHORT and not _POINTING.isdisjoint(text_words)
    )


def _content_words(text_words: Sequence[str]) -> list[str]:
    """The words that are neither function words nor words of questions."""
    return [word for word in text_words if word not in FUNCTION_WORDS and word not in QUERY_WORDS]


def texts_said(messages: Iterable[ReadMessage]) -> frozenset[str]:
    """The texts of messages and of their parts, `normalised`."""
    return frozenset(
        normalised(text)
        for message in messages
        for text in (message.content, *message.parts, *message.unnamed)
    )
