"""One request to a chat model, in the dialect of its server.

`Unavailable` is for what passes (down, slow, throttled, wrong key): the work waits. `AgentFailed`
is for what asking again would only repeat (refused, filtered, too long, nothing in it). Note: a try
that the server turned down has cost nothing, but one that timed out may have been paid, so all
tries of a call share one deadline.
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
"""Of the one word that readiness asks for. A model that reasons in spite of its setting needs room,
or it is refused.
"""
_REFUSED = frozenset({400, 413, 422})


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the model writes: temperature, nucleus, the longest answer in tokens,
    and how much it may reason first.

    max_tokens: of reasoning and answer together, as services count. effort:
    None = nothing is said of it.
    """

    temperature: float = 0.4
    top_p: float = 0.9
    max_tokens: int = 3000
    effort: str | None = "none"


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said, whole or not: `failure` says why there is no usable text.

    tokens: prompt and completion. reasoning: how many of the completion's were spent
    before the answer.
    """

    text: str
    tokens: tuple[int, int]
    cut: bool = False
    failure: str | None = None
    reasoning: int = 0


class Chat:
    """A model behind the chat completions API; `model` is its name, `deployment` what Azure has it
    under, where that is another.

    timeout_s bounds a call with all its tries, `concurrency` the calls under way. last_error: why
    the last call failed, None when it did not.
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
        self._connection = ModelConnection(service, timeout_s)
        self.last_ok: datetime | None = None
        self.last_error: str | None = None

    async def open(self) -> None:
        """Make the client; nothing is sent."""
        await self._connection.client()

    async def close(self) -> None:
        """Close the client."""
        proof, self._proof = self._proof, None
        if proof is not None:
            proof.cancel()
            await asyncio.wait([proof])
        await self._connection.close()

    def pool(self) -> tuple[int, int]:
        """Calls that may be under way at once, and those that are."""
        return self._concurrency, self._under_way

    async def ask(self, prompt: Prompt[Any], record: str) -> Reply:
        """The model's reply to a prompt about a record. Raises Unavailable; AgentFailed when the
        request itself was refused.
        """
        async with self._slots:
            self._under_way += 1
            try:
                answer = await self._retries.run(
                    DEPENDENCY, partial(self._send, partial(self._asked, prompt, record))
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
        """Whether a call of this process has told something about the model, good or bad."""
        return self.last_ok is not None or self.last_error is not None

    async def prove(self) -> None:
        """One answer of one word. Raises Unavailable, AgentFailed.

        A list of models proves nothing about a deployment. A caller that stops waiting leaves the
        answer to the next.
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
        """Whether the service answers at all, without a token: its list of models.
        Raises Unavailable.
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
        instructions = f"{prompt.text}\n{_told(prompt)}" if dialect.tells_schema else prompt.text
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
        """Return when it is worth asking in another way; else raise what the refusal comes to."""
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


def _told(prompt: Prompt[Any]) -> str:
    kind: type[BaseModel] = prompt.answer
    schema = strict_schema(kind, bounded=True)
    return (
        f"The JSON object has exactly this schema:\n{json.dumps(schema, separators=(',', ':'))}\n"
    )


def _refusal(error: APIStatusError) -> Refusal:
    """The refusal in parts, whatever shape the server gave it."""
    body = error.body if isinstance(error.body, dict) else {}
    texts = {
        name: str(body.get(name) or getattr(error, name, None) or "")
        for name in ("code", "param", "message")
    }
    return Refusal(error.status_code, texts["code"], texts["param"], texts["message"] or str(error))


def _reply(answer: Any, asked_characters: int) -> Reply:
    """What an answer says, whatever shape it came in: the SDK builds its objects of anything."""
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
    """Prompt and completion tokens as the service counted them; where it did not,
    at four characters a token.

    The completion's include those of reasoning, of services too that count these in the total only.
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
    """Tokens spent before the answer, where the service says so."""
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


# What a server understands of a chat request: learnt from its refusals, once a process.
#
# "OpenAI-compatible" is said of servers that know no JSON schema, of Azure, which refuses bounds in
# one, and of models that want `max_completion_tokens` and no temperature. A refused request made no
# answer and cost no tokens, so asking again in simpler words is no second call of the model.


class Form(IntEnum):
    """How the answer's form is asked for, the strictest first."""

    BOUNDED_SCHEMA = 0
    SCHEMA = 1
    JSON_OBJECT = 2
    WORDS = 3


_ABOUT_FORM = re.compile(r"response[_ ]?format|json|schema|grammar|structured", re.IGNORECASE)
_NOT_OUR_WORDS = frozenset(
    {"content_filter", "context_length_exceeded", "string_above_max_length", "rate_limit_exceeded"}
)
_OPTIONAL = ("temperature", "top_p")
_EFFORTS = ("none", "minimal", "low")
"""The least reasoning first: no model takes all of these words, and those that can't do without
reasoning take only the last.
"""
_ABOUT_EFFORT = re.compile(r"reasoning|\beffort\b", re.IGNORECASE)
_REFUSALS = frozenset({400, 422, 501})


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a server said when it refused a request.

    message: matched with patterns, and never shown.
    """

    status: int
    code: str
    parameter: str
    message: str


@dataclass(frozen=True, slots=True)
class Dialect:
    """One way to ask. length: what the limit of an answer is called. without: parameters that
    are left out.

    effort: how much the model is asked to reason; None = nothing is said of it.
    """

    form: Form = Form.BOUNDED_SCHEMA
    length: str = "max_tokens"
    without: frozenset[str] = frozenset()
    effort: str | None = None

    def limits(self, max_tokens: int) -> dict[str, Any]:
        """The fields that bound what an answer costs."""
        return {
            self.length: max_tokens,
            **({} if self.effort is None else {"reasoning_effort": self.effort}),
        }

    def fields(self, kind: type[BaseModel], max_tokens: int, **sampling: float) -> dict[str, Any]:
        """The fields of a request that depend on the server."""
        fields = self.limits(max_tokens)
        fields |= {name: value for name, value in sampling.items() if name not in self.without}
        if self.form <= Form.SCHEMA:
            schema = strict_schema(kind, bounded=self.form is Form.BOUNDED_SCHEMA)
            fields["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": kind.__name__, "strict": True, "schema": schema},
            }
        elif self.form is Form.JSON_OBJECT:
            fields["response_format"] = {"type": "json_object"}
        return fields

    @property
    def tells_schema(self) -> bool:
        """Whether the schema has to stand in the prompt, since the request does not carry it."""
        return self.form > Form.SCHEMA

    def after(self, refusal: Refusal) -> Dialect | None:
        """The simpler way to ask that this refusal suggests; None when it is about
        something else.
        """
        if refusal.status not in _REFUSALS or refusal.code in _NOT_OUR_WORDS:
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
        """The next word for little reasoning where this one was refused; None where the server
        knows no such parameter.
        """
        named = refusal.code == "unsupported_value" or f"'{self.effort}'" in refusal.message
        if not named or self.effort not in _EFFORTS[:-1]:
            return None
        return _EFFORTS[_EFFORTS.index(self.effort) + 1]
