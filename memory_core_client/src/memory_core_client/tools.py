"""Plain functions that a model may call, for any framework that makes tools of functions
with docstrings.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from memory_core_client.errors import BadRequest, Conflict, Invalid, TooLarge
from memory_core_client.sync_client import User

Tool = Callable[[str], Awaitable[str]]


def memory_functions(user: User, *, max_tokens: int | None = None) -> list[Tool]:
    """`recall` and `remember`, by which a model looks things up and keeps them.

    Args:
        user: Whose memories.
        max_tokens: Length of a context that `recall` answers with, 100 to 16,000;
            the service's default where there is none.

    """

    async def recall(query: str) -> str:
        """What is known about something that was said or happened earlier.

        Args:
            query: A question in plain words.

        """
        return await asyncio.to_thread(
            answered,
            lambda: (
                user.context(query, max_tokens=max_tokens).context or "Nothing is known about it."
            ),
        )

    async def remember(fact: str) -> str:
        """Keep a fact for later conversations.

        Args:
            fact: One sentence that can be understood by itself.

        """
        return await asyncio.to_thread(answered, lambda: user.save(fact, type="semantic").outcome)

    return [recall, remember]


def answered(call: Callable[[], str]) -> str:
    """What a call answers; where the service refuses what the model wrote, the reason,
    so that it can write something else.
    """
    try:
        return call()
    except (BadRequest, Conflict, Invalid, TooLarge) as error:
        return f"Not done: {error.detail}"
