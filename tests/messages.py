"""What was said, for tests: lines with rare words of their own, told without forming,
and what shows of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from hashlib import shake_128
from typing import Any

from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory
from memory_core.domain.messages import MESSAGE, is_message
from memory_core.domain.requests.memories import RetrieveInput
from memory_core.domain.results import Accepted, Call, Hit
from memory_core.domain.scope import Owner
from tests.builders import ALICE, NOW
from tests.telling import talk
from tests.world import listed

MINUTE = timedelta(minutes=1)
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeou"


def rare_words(number: int, count: int = 5) -> str:
    """Words that nothing else says, the same for the same number."""
    memories = []
    for place in range(count):
        digest = shake_128(f"{number} {place}".encode()).digest(8)
        pairs = zip(digest[::2], digest[1::2], strict=True)
        memories.append(
            "".join(
                _CONSONANTS[first % len(_CONSONANTS)] + _VOWELS[second % len(_VOWELS)]
                for first, second in pairs
            )
        )
    return " ".join(memories)


def lines(count: int, first: int = 0) -> list[str]:
    """Messages that have rare words of their own, and common ones besides."""
    return [
        f"Yesterday we saw {rare_words(number)} on the way home"
        for number in range(first, first + count)
    ]


async def say(
    core: MemoryCore,
    contents: Sequence[str],
    *,
    of: int = 200,
    owner: Owner = ALICE,
    session: str | None = "s1",
    call: Call = Call(),  # noqa: B008
) -> list[Accepted]:
    """Tell a conversation in calls `of` so many messages, a minute between two messages;
    no worker takes it.
    """
    answers = []
    for start in range(0, len(contents), of):
        conversation = talk(*contents[start : start + of], at=NOW + start * MINUTE, session=session)
        answers.append(await core.converse(owner, conversation, call))
    return answers


async def messages(core: MemoryCore, owner: Owner = ALICE, **query: Any) -> list[Memory]:
    """The memories of messages, in the order in which they were written."""
    return (await listed(core, owner, **{"category": MESSAGE, "status": "all", **query}))[::-1]


async def results(
    core: MemoryCore, query: str, owner: Owner = ALICE, **fields: Any
) -> tuple[Hit, ...]:
    """The results of a query."""
    return (
        await core.retrieve(owner, RetrieveInput.model_validate({"query": query, **fields}))
    ).results


def shown(hit: Hit) -> list[str]:
    """What of that which was said a result shows, best first."""
    return (
        [hit.memory.content]
        if is_message(hit.memory.id)
        else [passage.text for passage in hit.passages]
    )


async def best_words(core: MemoryCore, query: str, owner: Owner = ALICE) -> str | None:
    """What was said that answers a query best."""
    hits = await results(core, query, owner)
    return next(iter(shown(hits[0])), None) if hits else None


async def lost(core: MemoryCore, count: int, owner: Owner = ALICE) -> list[int]:
    """Which of these lines are not the best answer to their own rare words."""
    contents = lines(count)
    return [
        number
        for number in range(count)
        if await best_words(core, rare_words(number), owner) != contents[number]
    ]
