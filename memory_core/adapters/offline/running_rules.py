"""How rules are run: in their own thread, with answers fitted to their schema.

Note: a thread can't be stopped from outside. A rule calls `checkpoint` for each message or sentence, and that ends it.
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
from memory_core.domain.text.excerpts import beginning

TURN_S, PAUSE_S = 0.005, 0.0005
"""How long a rule computes at a time, and how long it leaves the processor to the event loop and to other rules then."""
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
_computing = threading.Lock()
"""Held by the one rule that computes: each more of them would take as much of the interpreter's time as the event loop gets."""


class Stopped(Exception):
    """The result of a rule is not waited for any more."""


class Turns:
    """When the rule of a thread computes, and when it lets others do so."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self._began = 0.0

    def run(self, rule: Callable[[], Result]) -> Result:
        """The result of the rule. Raises Stopped when it is not waited for any more."""
        with _computing:
            self._began = time.monotonic()
            token = _turns.set(self)
            try:
                self.take()
                return rule()
            finally:
                _turns.reset(token)

    def take(self) -> None:
        """Go on, after a pause when it is time for one. Raises Stopped."""
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


_turns: ContextVar[Turns | None] = ContextVar("turns", default=None)


def checkpoint() -> None:
    """Let others compute, or end the rule of this thread when its result is not waited for any more. Raises Stopped."""
    turns = _turns.get()
    if turns is not None:
        turns.take()


class RuleThread:
    """Runs rules one after the other, in a thread that begins with the first of them and ends with `close`."""

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None

    async def run(self, rule: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        """The result of the rule. When the awaiting task is cancelled, the rule ends at its next checkpoint."""
        self._executor = self._executor or ThreadPoolExecutor(1, "rules")
        turns = Turns()
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


# Fits the answers of rules to the schema of the answer.
#
# What is too long is cut, and what still does not fit is answered by a plainer rule. Rules count words and sentences, schemas count
# characters, and a user's text may have a word of 30,000 of them. Cutting is done here alone, so that no rule has to think of it. Note:
# what was cut is said with the answer, because a cut that is not counted hides a wrong rule.


SchemaFields = ParamSpec("SchemaFields")
Answer = TypeVar("Answer")
Schema = TypeVar("Schema", bound=BaseModel)
_ROUNDS = 4
"""Fixing one error may uncover another: a cut list may hold a text that is too long."""
_TOO_LONG = frozenset({"string_too_long", "too_long"})
_cut_fields: ContextVar[list[str] | None] = ContextVar("cut_fields", default=None)
"""What was cut of the answer that is being made."""


@dataclass(frozen=True, slots=True)
class Fitted(Generic[Answer]):
    """An answer within its schema.

    cut: the fields that were cut, by name, one entry for each cut. failure: the type of the error for which the plainer rule answered.
    """

    value: Answer
    cut: tuple[str, ...] = ()
    failure: str | None = None


def answer_within_schema(rule: Callable[[], Answer], plainer: Callable[[], Answer]) -> Fitted[Answer]:
    """What the rule answers, or where it fails on a text what the plainer rule does. Raises MemoryCoreError where the rule does.

    A rule fails on a text only by a mistake of ours; the text's user must not lose a conversation for it.
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


def fitted(schema: Callable[SchemaFields, Schema], *args: SchemaFields.args, **fields: SchemaFields.kwargs) -> Schema:
    """Make a part of an answer, with texts and lists over their limits cut.

    Raises ValidationError for anything else that is wrong.
    """
    given: dict[str, Any] = dict(fields)
    for _ in range(_ROUNDS):
        try:
            return schema(*args, **given)
        except ValidationError as error:
            for excess in error.errors(include_url=False, include_input=False):
                if excess["type"] not in _TOO_LONG:
                    raise
                given[str(excess["loc"][0])] = _cut(given[str(excess["loc"][0])], excess["loc"][1:], excess["ctx"]["max_length"])
                count_cut(str(excess["loc"][0]))
    return schema(*args, **given)


def count_cut(field: str) -> None:
    """Record that a field of the answer being made was cut or left out."""
    fields = _cut_fields.get()
    if fields is not None:
        fields.append(field)


def _cut(value: Any, place: Sequence[int | str], limit: int) -> Any:
    """Cut a value, or the item of a list in it that `place` names, to `limit`."""
    if place:
        number = int(place[0])
        return [*value[:number], _cut(value[number], place[1:], limit), *value[number + 1 :]]
    return beginning(value, limit) if isinstance(value, str) else value[:limit]
