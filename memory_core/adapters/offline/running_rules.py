"""Run rules in a thread of their own, and fit their answers to the schema.

Note: a thread can't be stopped from outside. A rule calls `checkpoint` for each message or
sentence, which ends it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, ParamSpec, TypeVar

from pydantic import BaseModel, ValidationError

from memory_core.domain.errors import MemoryCoreError
from memory_core.domain.text.shortening import beginning

TURN_S, PAUSE_S = 0.005, 0.0005
"""Seconds that a rule computes at a time, and for which it then pauses.

In the pause the event loop and other rules compute.
"""
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
_computing = threading.Lock()
"""The lock of the rule that computes.

Each further rule would take as much of the interpreter's time as the event loop gets.
"""


class Stopped(Exception):
    """The caller of a rule no longer waits for its result."""


class RuleTurns:
    """The turns of a rule's thread: when it computes, and when it pauses."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self._began = 0.0

    def run(self, rule: Callable[[], Result]) -> Result:
        """Run a rule. Raises Stopped when no caller waits for its result."""
        with _computing:
            self._began = time.monotonic()
            token = _turns.set(self)
            try:
                self.take()
                return rule()
            finally:
                _turns.reset(token)

    def take(self) -> None:
        """Pause when it is time for it. Raises Stopped when no caller waits."""
        if self.stop.is_set():
            raise Stopped
        if time.monotonic() - self._began < TURN_S:
            return
        _computing.release()
        try:
            time.sleep(PAUSE_S)
        finally:
            _computing.acquire()
        self._began = time.monotonic()


_turns: ContextVar[RuleTurns | None] = ContextVar("turns", default=None)


def checkpoint() -> None:
    """Let other threads compute. Raises Stopped when no caller waits for this thread's rule."""
    turns = _turns.get()
    if turns is not None:
        turns.take()


class RuleThread:
    """A thread that runs rules in turn.

    It starts with the first rule and ends with `close`.
    """

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None

    async def run(
        self,
        rule: Callable[Parameters, Result],
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> Result:
        """Run a rule. It ends at its next checkpoint when the awaiting task is cancelled.

        Args:
            rule: The rule.
            *args: Its arguments.
            **kwargs: Its arguments by name.

        """
        self._executor = self._executor or ThreadPoolExecutor(1, "rules")
        turns = RuleTurns()
        call = partial(copy_context().run, turns.run, partial(rule, *args, **kwargs))
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, call)
        except asyncio.CancelledError:
            turns.stop.set()
            raise

    async def close(self) -> None:
        """Wait for the rules that still run."""
        executor, self._executor = self._executor, None
        if executor is not None:
            await asyncio.to_thread(executor.shutdown)


# Fit the answers of rules to their schemas.
#
# A text or list that is too long is cut. If an answer is invalid in another way, a simpler rule
# answers. Rules count words and sentences, schemas count characters, and a user's text may have a
# word of 30,000 characters. Only this module cuts, so no rule has to. Note: the answer names the
# cut fields, because an uncounted cut would hide a mistake in a rule.


SchemaFields = ParamSpec("SchemaFields")
Answer = TypeVar("Answer")
Schema = TypeVar("Schema", bound=BaseModel)
_ROUNDS = 4
"""How often an answer is cut.

A list that was cut may still have a text that is too long.
"""
_TOO_LONG = frozenset({"string_too_long", "too_long"})
_cut_fields: ContextVar[list[str] | None] = ContextVar("cut_fields", default=None)
"""The fields of the answer being made that were cut."""


@dataclass(frozen=True, slots=True)
class Fitted(Generic[Answer]):
    """An answer within its schema.

    Attributes:
        value: The answer.
        cut: Names of the fields that were cut, an entry for each cut.
        failure: Type of the error for which the plainer rule answered; None if the rule answered.

    """

    value: Answer
    cut: tuple[str, ...] = ()
    failure: str | None = None


def answer_within_schema(
    rule: Callable[[], Answer], plainer: Callable[[], Answer]
) -> Fitted[Answer]:
    """Answer by a rule, or by the plainer rule where the first fails.

    A rule fails on a text only by a mistake in the rule, for which a user must not lose a
    conversation.

    Args:
        rule: The rule.
        plainer: The plainer rule.

    Raises:
        MemoryCoreError: The rule raised it.
        Stopped: The rule raised it.

    """
    fields: list[str] = []
    entered = _cut_fields.set(fields)
    try:
        return Fitted(rule(), tuple(fields))
    except (MemoryCoreError, Stopped):
        raise
    except Exception as error:  # noqa: BLE001  # the answer says that the rule failed, and it is counted
        return Fitted(plainer(), tuple(fields), type(error).__name__)
    finally:
        _cut_fields.reset(entered)


def fitted(
    schema: Callable[SchemaFields, Schema], *args: SchemaFields.args, **fields: SchemaFields.kwargs
) -> Schema:
    """Build a part of an answer, with texts and lists over their limits cut.

    Args:
        schema: The model of the part.
        *args: Its arguments.
        **fields: Its fields.

    Raises:
        ValidationError: A field is wrong in another way.

    """
    given: dict[str, Any] = dict(fields)
    for _ in range(_ROUNDS):
        try:
            return schema(*args, **given)
        except ValidationError as error:
            for excess in error.errors(include_url=False, include_input=False):
                if excess["type"] not in _TOO_LONG:
                    raise
                given[str(excess["loc"][0])] = _cut(
                    given[str(excess["loc"][0])], excess["loc"][1:], excess["ctx"]["max_length"]
                )
                count_cut(str(excess["loc"][0]))
    return schema(*args, **given)


def count_cut(field: str) -> None:
    """Record that a field of the answer being made was cut or left out."""
    fields = _cut_fields.get()
    if fields is not None:
        fields.append(field)


def _cut(value: Any, place: Sequence[int | str], limit: int) -> Any:
    """Cut a value, or the list item in it that `place` names."""
    if place:
        number = int(place[0])
        return [*value[:number], _cut(value[number], place[1:], limit), *value[number + 1 :]]
    return beginning(value, limit) if isinstance(value, str) else value[:limit]
