"""Send a request to a chat model, in the dialect of its server.

`Unavailable` is for problems that pass (down, slow, throttled, wrong key): the work waits.
`AgentFailed` is for problems that another request would only repeat (refused, filtered, too long,
an empty answer). Note: a try that the server turned down cost no tokens, but a try that timed out
may have been paid. Therefore all tries of a call share a deadline.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from memory_core.adapters.openai.answers import strict_schema
from memory_core.adapters.openai.client import ModelConnection, Retries, Service, service_code
from memory_core.adapters.openai.tokens import CHARACTERS_A_TOKEN
from memory_core.domain.errors import AgentFailed, Unavailable
from memory_core.ports import Clock
from memory_core.prompts import Prompt

if TYPE_CHECKING:
    from openai import APIStatusError


log = logging.getLogger(__name__)
DEPENDENCY = "agents"
CHECK_TIMEOUT_S = 5.0
PROOF_TIMEOUT_S = 30.0
PROOF_TOKENS = 512
"""Tokens of the single word that readiness asks for.

A model that reasons in spite of its setting needs room, or the request is refused.
"""
_REFUSED = frozenset({400, 413, 422})


@dataclass(frozen=True, slots=True)
class Sampling:
    """Parameters of how the model writes.

    Attributes:
        temperature: Sampling temperature.
        top_p: Nucleus sampling.
        max_tokens: Longest reasoning and answer together, as services count.
        effort: How much the model may reason first; None if the request does not say.

    """

    temperature: float = 0.4
    top_p: float = 0.9
    max_tokens: int = 3000
    effort: str | None = "none"


@dataclass(frozen=True, slots=True)
class Reply:
    """Reply of the model, complete or not.

    Attributes:
        text: The text; empty if there was a failure.
        tokens: Tokens of prompt and completion.
        cut: Whether the answer was cut off at its limit of tokens.
        failure: Why there is no usable text; None if there is.
        reasoning: Tokens of the completion that were spent before the answer.

    """

    text: str
    tokens: tuple[int, int]
    cut: bool = False
    failure: str | None = None
    reasoning: int = 0


class Chat:
    """A model behind the chat completions API.

    `deployment` is the model's name in Azure, if it is another. `timeout_s` bounds a call with all
    its tries, and `concurrency` the calls under way.

    Attributes:
        model: Name of the model.
        provider: Provider of the service.
        last_ok: Time of the last successful call; None before the first.
        last_error: Why the last call failed; None if it succeeded.

    """

    def __init__(
        self,
        service: Service,
        model: str,
        clock: Clock,
        *,
        deployment: str | None = None,
        sampling: Sampling | None = None,
        timeout_s: float = 60.0,
        concurrency: int = 8,
        retries: Retries | None = None,
    ) -> None:
        self.model = model
        self._deployment = deployment or model
        self.provider = service.provider
        self._clock = clock
        self._sampling = sampling or Sampling()
        self._timeout_s = timeout_s
        self._retries = retries or Retries(tries=3, deadline_s=timeout_s)
        self._concurrency = concurrency
        self._slots = asyncio.Semaphore(concurrency)
        self._under_way = 0
        self._dialect = Dialect(effort=self._sampling.effort)
        self._proof: asyncio.Task[None] | None = None
        self._connection = ModelConnection(DEPENDENCY, service, timeout_s)
        self.last_ok: datetime | None = None
        self.last_error: str | None = None

    async def open(self) -> None:
        """Make the client, without sending a request."""
        await self._connection.open()

    async def close(self) -> None:
        """Close the client."""
        proof, self._proof = self._proof, None
        if proof is not None:
            proof.cancel()
            await asyncio.wait([proof])
        await self._connection.close()

    def pool(self) -> tuple[int, int]:
        """Calls that may be under way at once, and calls that are."""
        return self._concurrency, self._under_way

    async def ask(self, prompt: Prompt[Any], record: str) -> Reply:
        """Send a prompt and a record to the model, and return its reply.

        Args:
            prompt: The instructions and the schema of the answer.
            record: The data that the instructions are about.

        Raises:
            Unavailable: The service is down, or did not answer in time.
            AgentFailed: The service refused the request itself.

        """
        async with self._slots:
            self._under_way += 1
            try:
                answer = await self._retries.run(
                    DEPENDENCY,
                    partial(self._send, partial(self._asked, prompt, record)),
                    setting="LLM_TIMEOUT",
                )
            except (Unavailable, AgentFailed) as error:
                self.last_error = error.detail
                raise
            finally:
                self._under_way -= 1
        self.last_ok, self.last_error = self._clock.now(), None
        return _reply(answer, len(prompt.text) + len(record))

    @property
    def is_proven(self) -> bool:
        """Whether a call of this process has succeeded or failed, so the model is known."""
        return self.last_ok is not None or self.last_error is not None

    async def prove(self) -> None:
        """Make the model answer a single word. Raises Unavailable, AgentFailed.

        A list of models proves no deployment. If a caller stops waiting, the next caller gets the
        answer.
        """
        if self._proof is None or (
            self._proof.done() and (self._proof.cancelled() or self._proof.exception() is not None)
        ):
            self._proof = asyncio.ensure_future(self._prove())
        await asyncio.shield(self._proof)

    async def _prove(self) -> None:
        def fields(dialect: Dialect) -> dict[str, Any]:
            return {
                "messages": [{"role": "user", "content": "Answer with the word ready."}],
                **dialect.limits(PROOF_TOKENS),
            }

        await Retries(tries=1, deadline_s=min(PROOF_TIMEOUT_S, self._timeout_s)).run(
            DEPENDENCY, partial(self._send, fields)
        )
        self.last_ok, self.last_error = self._clock.now(), None

    async def reach(self) -> None:
        """Check whether the service answers at all, by its list of models.

        This costs no token. Raises Unavailable.
        """

        async def models() -> None:
            from openai import NotFoundError

            client = await self._connection.client()
            try:
                await client.models.list()
            except NotFoundError:
                log.debug("the service has no list of models, but it answers")

        await Retries(tries=1, deadline_s=min(CHECK_TIMEOUT_S, self._timeout_s)).run(
            DEPENDENCY, models
        )

    async def _send(self, fields_in: Callable[[Dialect], dict[str, Any]]) -> Any:
        from openai import APIStatusError

        client = await self._connection.client()
        while True:
            dialect = self._dialect
            try:
                return await client.chat.completions.create(
                    model=self._deployment, **fields_in(dialect)
                )
            except APIStatusError as error:
                self._learn(dialect, error)

    def _asked(self, prompt: Prompt[Any], record: str, dialect: Dialect) -> dict[str, Any]:
        instructions = (
            f"{prompt.text}\n{_prompt_text(prompt)}" if dialect.tells_schema else prompt.text
        )
        sampling = self._sampling
        fields = dialect.fields(
            prompt.answer,
            sampling.max_tokens,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
        )
        return {
            "messages": [
                {"role": "system", "content": instructions},
                {"role": "user", "content": record},
            ],
            **fields,
        }

    def _learn(self, asked: Dialect, error: APIStatusError) -> None:
        """Return if another way of asking may succeed; else raise the error of the refusal."""
        refusal = _refusal(error)
        simpler = asked.after(refusal)
        if simpler is not None:
            if self._dialect == asked:
                log.info(
                    "the model's server refused %s; asking in another way from now on",
                    service_code(refusal.parameter or refusal.code),
                )
                self._dialect = simpler
            return
        if error.status_code in _REFUSED:
            raise AgentFailed(
                f"the request was refused: HTTP {refusal.status} ({service_code(refusal.code)})"
            ) from error
        raise error


def _prompt_text(prompt: Prompt[Any]) -> str:
    kind: type[BaseModel] = prompt.answer
    schema = strict_schema(kind, bounded=True)
    return (
        f"The JSON object has exactly this schema:\n{json.dumps(schema, separators=(',', ':'))}\n"
    )


def _refusal(error: APIStatusError) -> Refusal:
    """Parse a refusal, whatever shape the server gave it."""
    body = error.body if isinstance(error.body, dict) else {}
    texts = {
        name: str(body.get(name) or getattr(error, name, None) or "")
        for name in ("code", "param", "message")
    }
    return Refusal(error.status_code, texts["code"], texts["param"], texts["message"] or str(error))


def _reply(answer: Any, asked_characters: int) -> Reply:
    """Parse an answer, whatever shape it has; the SDK builds its objects of any answer."""
    try:
        choice = answer.choices[0]
        finish, message = choice.finish_reason, choice.message
        text, refusal = message.content, getattr(message, "refusal", None)
    except (AttributeError, TypeError, IndexError, KeyError):
        return Reply(
            "", _tokens(answer, asked_characters, 0), failure="it answered without a choice"
        )
    answer_text = text if isinstance(text, str) else ""
    tokens, reasoning = _tokens(answer, asked_characters, len(answer_text)), _reasoning(answer)
    if refusal:
        return Reply("", tokens, failure="it refused to answer", reasoning=reasoning)
    if finish == "content_filter":
        return Reply(
            "", tokens, failure="its content filter took the answer away", reasoning=reasoning
        )
    if not answer_text.strip():
        return Reply(
            "", tokens, failure=_nothing(reasoning, cut=finish == "length"), reasoning=reasoning
        )
    return Reply(answer_text, tokens, cut=finish == "length", reasoning=reasoning)


def _nothing(reasoning: int, *, cut: bool) -> str:
    if not cut:
        return "it answered nothing"
    spent = f", of which reasoning took {reasoning} (LLM_REASONING_EFFORT)" if reasoning else ""
    return f"it answered nothing within its limit of tokens{spent}"


def _tokens(answer: Any, asked_characters: int, said_characters: int) -> tuple[int, int]:
    """Tokens of prompt and completion as the service counted them.

    Where it did not count, a token is taken to be four characters. The completion includes the
    tokens of reasoning, even where the service counts these in the total only.
    """
    usage = getattr(answer, "usage", None)
    prompt = _count(usage, "prompt_tokens")
    completion, total = _count(usage, "completion_tokens"), _count(usage, "total_tokens")
    if prompt is not None and completion is not None and total is not None:
        completion = max(completion, total - prompt)
    return (
        asked_characters // CHARACTERS_A_TOKEN if prompt is None else prompt,
        said_characters // CHARACTERS_A_TOKEN if completion is None else completion,
    )


def _reasoning(answer: Any) -> int:
    """Tokens spent before the answer, if the service reports them."""
    return (
        _count(
            getattr(getattr(answer, "usage", None), "completion_tokens_details", None),
            "reasoning_tokens",
        )
        or 0
    )


def _count(counts: Any, name: str) -> int | None:
    count = getattr(counts, name, None)
    return count if isinstance(count, int) and count >= 0 else None


# The features that a server supports in a chat request, learned from its refusals once per process.
#
# Servers that call themselves OpenAI-compatible may know no JSON schema, or take it beside
# `json_object`. Azure refuses bounds in a schema. Some models take `max_completion_tokens` and no
# temperature. A refused request costs no tokens, so a simpler request is no second call of the
# model.


class Form(IntEnum):
    """Form in which the answer is requested, the strictest first."""

    BOUNDED_SCHEMA = 0
    SCHEMA = 1
    OBJECT_WITH_SCHEMA = 2
    JSON_OBJECT = 3
    WORDS = 4


_ABOUT_FORM = re.compile(r"response[_ ]?format|json|schema|grammar|structured", re.IGNORECASE)
_NOT_OUR_WORDS = frozenset(
    {"content_filter", "context_length_exceeded", "string_above_max_length", "rate_limit_exceeded"}
)
_OPTIONAL = ("temperature", "top_p")
_EFFORTS = ("none", "minimal", "low")
"""Words for little reasoning, the least first.

No model takes all of these words. Models that can't do without reasoning take only the last.
"""
_ABOUT_EFFORT = re.compile(r"reasoning|\beffort\b", re.IGNORECASE)
_REFUSALS = frozenset({400, 422, 501})
_UNREAD = 500
"""Status by which some servers refuse a value that they don't know.

It also means a fault that passes. So it is a refusal only where it names `response_format`.
"""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Content of a server's refusal.

    Attributes:
        message: Matched with patterns, and never shown.

    """

    status: int
    code: str
    parameter: str
    message: str


@dataclass(frozen=True, slots=True)
class Dialect:
    """A way to ask a server.

    Attributes:
        form: The form in which the answer is requested.
        length: Name of the parameter that limits an answer.
        without: Parameters that are left out.
        effort: How much the model is asked to reason; None if the request does not say.

    """

    form: Form = Form.BOUNDED_SCHEMA
    length: str = "max_tokens"
    without: frozenset[str] = frozenset()
    effort: str | None = None

    def limits(self, max_tokens: int) -> dict[str, Any]:
        """Fields of a request that bound the cost of an answer."""
        return {
            self.length: max_tokens,
            **({} if self.effort is None else {"reasoning_effort": self.effort}),
        }

    def fields(self, kind: type[BaseModel], max_tokens: int, **sampling: float) -> dict[str, Any]:
        """Fields of a request that depend on the server.

        Args:
            kind: The schema of the answer.
            max_tokens: Longest answer in tokens.
            **sampling: Parameters of sampling, unless the server refuses them.

        """
        fields = self.limits(max_tokens)
        fields |= {name: value for name, value in sampling.items() if name not in self.without}
        if self.form <= Form.SCHEMA:
            schema = strict_schema(kind, bounded=self.form is Form.BOUNDED_SCHEMA)
            fields["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": kind.__name__, "strict": True, "schema": schema},
            }
        elif self.form is Form.OBJECT_WITH_SCHEMA:
            # bounds make a grammar that such servers can't parse
            schema = strict_schema(kind, bounded=False)
            fields["response_format"] = {"type": "json_object", "schema": schema}
        elif self.form is Form.JSON_OBJECT:
            fields["response_format"] = {"type": "json_object"}
        return fields

    @property
    def tells_schema(self) -> bool:
        """Whether the prompt has to contain the schema.

        The request does not carry it, or the server may pass over it.
        """
        return self.form > Form.SCHEMA

    def after(self, refusal: Refusal) -> Dialect | None:
        """Simpler way to ask that a refusal suggests.

        None if the refusal has another cause.
        """
        unread = refusal.status == _UNREAD and "response_format" in refusal.message
        if not (unread or refusal.status in _REFUSALS) or refusal.code in _NOT_OUR_WORDS:
            return None
        named = refusal.parameter or refusal.message
        if self.length == "max_tokens" and re.search(r"\bmax_tokens\b", named):
            return replace(self, length="max_completion_tokens")
        if self.effort is not None and _ABOUT_EFFORT.search(
            f"{refusal.parameter} {refusal.message}"
        ):
            return replace(self, effort=self._next_effort(refusal))
        for name in _OPTIONAL:
            if name not in self.without and re.search(rf"\b{name}\b", named):
                return replace(self, without=self.without | {name})
        if self.form < Form.WORDS and _ABOUT_FORM.search(f"{refusal.parameter} {refusal.message}"):
            return replace(self, form=Form(self.form + 1))
        return None

    def _next_effort(self, refusal: Refusal) -> str | None:
        """The next word for little reasoning after the current word was refused.

        None if the server does not know the parameter.
        """
        named = refusal.code == "unsupported_value" or f"'{self.effort}'" in refusal.message
        if not named or self.effort not in _EFFORTS[:-1]:
            return None
        return _EFFORTS[_EFFORTS.index(self.effort) + 1]
