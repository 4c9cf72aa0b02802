"""Agents' answers, frozen before they are used.

So work that is repeated, at any time and on any machine, uses the same answers. Note: if two
workers asked at once, the first to write wins, and the other worker throws its own answer away. All
ids derive from frozen answers, so both go on to the same memories.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import TypeVar

from pydantic import BaseModel

from memory_core.domain.agent_schemas import Answered, Provenance
from memory_core.domain.errors import HeadMoved, NotFound, Unavailable
from memory_core.domain.scope import Owner
from memory_core.ledger.ids import derived
from memory_core.ports import Clock, Document, LongTermStore
from memory_core.tasks.store import put_with_retry

LIFETIME = timedelta(days=7)
Value = TypeVar("Value", bound=BaseModel)
_spent: ContextVar[Counter[str] | None] = ContextVar("spent", default=None)


@contextmanager
def spending() -> Iterator[Counter[str]]:
    """Count the tokens of answers that are frozen within the block.

    The keys are `prompt_tokens` and `completion_tokens`.
    """
    counted: Counter[str] = Counter()
    entered = _spent.set(counted)
    try:
        yield counted
    finally:
        _spent.reset(entered)


class Steps:
    """The frozen answers of all work."""

    def __init__(self, store: LongTermStore, clock: Clock) -> None:
        self._store, self._clock = store, clock

    async def frozen(
        self,
        owner: Owner,
        work_id: str,
        name: str,
        ask: Callable[[], Awaitable[Answered[Value]]],
        kind: type[Value],
    ) -> Answered[Value]:
        """The answer of a step: the stored answer, else that of `ask`, stored first.

        An answer that was read has tokens (0, 0), since they were counted when it was given.

        Args:
            owner: Owner for whom the work is done.
            work_id: Id of the work, such as a conversation.
            name: Name of the step within the work.
            ask: Asks the agent; called if there is no stored answer.
            kind: The model class of the answer.

        Raises:
            NotFound: The user was erased meanwhile.
            HeadMoved: Memories were deleted for good meanwhile; the answer may mention them.
            Unavailable: The store is down.
            Exception: Any error that `ask` raises.

        """
        identity = derived("stp", work_id, name)
        read_set = await self._store.snapshot(owner, [identity])
        if read_set.head is None or read_set.head.state == "erasing":
            raise NotFound("the user whose conversation this was is gone")
        stored = read_set.documents.get(identity)
        if stored is not None and stored.body["epoch"] == read_set.head.epoch:
            return _answered(stored, kind)
        given = await ask()
        spent = _spent.get()
        if spent is not None and any(given.tokens):
            spent.update(prompt_tokens=given.tokens[0], completion_tokens=given.tokens[1])
        now = (await self._store.snapshot(owner)).head
        if now is not None and now.redactions != read_set.head.redactions:
            raise HeadMoved(
                "something was forgotten for good while the agents answered; they have to be "
                "asked again",
                retry_after_s=1,
            )
        body = {
            "work_id": work_id,
            "name": name,
            "epoch": read_set.head.epoch,
            "value": given.value.model_dump(mode="json"),
            "provenance": [
                given.provenance.model,
                given.provenance.prompt_id,
                given.provenance.prompt_version,
            ],
            "by_rule": given.by_rule,
        }
        document = Document(
            identity,
            "step",
            body,
            expires_at=self._clock.now() + LIFETIME,
            tag=None if stored is None else stored.tag,
        )
        if await put_with_retry(self._store, owner, document) is not None:
            return given
        return await self._rivals(owner, identity, kind)

    async def stored(
        self, owner: Owner, work_id: str, name: str, kind: type[Value]
    ) -> Answered[Value] | None:
        """The frozen answer of a step; None if there is none.

        Args:
            owner: Owner for whom the work is done.
            work_id: Id of the work, such as a conversation.
            name: Name of the step within the work.
            kind: The model class of the answer.

        Raises:
            Unavailable: The store is down.

        """
        identity = derived("stp", work_id, name)
        read_set = await self._store.snapshot(owner, [identity])
        document = read_set.documents.get(identity)
        if (
            document is None
            or read_set.head is None
            or document.body["epoch"] != read_set.head.epoch
        ):
            return None
        return _answered(document, kind)

    async def _rivals(self, owner: Owner, identity: str, kind: type[Value]) -> Answered[Value]:
        """The answer that another worker froze meanwhile."""
        winner = (await self._store.snapshot(owner, [identity])).documents.get(identity)
        if winner is None:
            raise Unavailable("long_term", "a frozen answer was there and is gone")
        return _answered(winner, kind)


def _answered(document: Document, kind: type[Value]) -> Answered[Value]:
    return Answered(
        kind.model_validate(document.body["value"]),
        Provenance(*document.body["provenance"]),
        by_rule=document.body.get("by_rule", False),
    )
