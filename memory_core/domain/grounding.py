"""Whether a story tells of the messages that it was made of: what keeps a wholly invented one from being remembered.

One would get wrong: this is no check of truth. A story in other words, or with one wrong word, passes; one about something else, an
example that a model repeats or an order that it obeyed, has next to none of the words that were said.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory_core.domain.conversation import Message
from memory_core.domain.text import tokens

LEAST_SHARE = 0.2
"""Of a story's terms, names and numbers included, that stand in the messages."""
_TELLERS = frozenset(tokens("user assistant users assistants person they talked said asked told conversation"))


def tells_of(story: str, messages: Sequence[Message]) -> bool:
    """Whether at least a fifth of the story's terms were said, or name who spoke. A story without a term tells of anything."""
    told = frozenset(tokens(story)) - _TELLERS
    said = frozenset(term for message in messages for term in tokens(f"{message.actor or ''} {message.content}"))
    return len(told & said) >= LEAST_SHARE * len(told)
