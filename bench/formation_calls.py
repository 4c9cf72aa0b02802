"""`python -m bench.formation_calls`: calls and tokens of a conversation in each mode of
`MEMORY_FORMATION_CALLS`, and what is lost.

The model is a server on this machine that speaks the chat API and answers as the rules do. So the
modes differ in what they ask, not in how well a model answers. With `--url` a real model answers in
its place. Conversations have ten messages; after them each user has one run of consolidation.

Note: tokens are characters / 4, of the texts, of the schema, which services count as prompt, and of
the answer. A real model's story is longer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any, get_args

from aiohttp import ClientSession, ClientTimeout, web

from bench.formation import conversations
from bench.loads import DAYS, PRICES
from bench.tables import show
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.joint_answers import FormationCalls
from memory_core.domain.requests.maintenance import ConsolidateInput
from memory_core.domain.requests.memories import ConverseInput, ListInput
from memory_core.domain.scope import Owner
from memory_core.ports.infrastructure import QueueName
from tests.chat_server import ChatServer, is_proof, kind_of
from tests.reading_model import ReadingModel

MODES: tuple[FormationCalls, ...] = get_args(FormationCalls)
CHARACTERS_A_TOKEN = 4
CACHED_FROM, CACHED_IN = 1024, 128
"""Tokens of a common beginning from which services cache it, and in which steps."""
USERS = (1_000, 100_000)
ANSWER_S = 600.0
"""How long a call may take, since a model on two cores reads some hundred tokens a second."""
Made = tuple[str | None, str, str]
"""A memory without its ids: category, status, content."""
Model = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Call:
    """One request: what it asked for, and its tokens. record: of what was told. cached: of the
    instructions, those that an earlier request began with as well.
    """

    kind: str
    instructions: int
    record: int
    schema: int
    answer: int
    cached: int

    @property
    def tokens(self) -> int:
        """All of them."""
        return self.instructions + self.record + self.schema + self.answer


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """A real model behind the chat API. url: up to and with `/v1`."""

    url: str
    name: str
    key: str

    async def __call__(self, _: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        """The answer of the service to the same request."""
        async with (
            ClientSession(timeout=ClientTimeout(ANSWER_S)) as session,
            session.post(
                f"{self.url.rstrip('/')}/chat/completions",
                json=body | {"model": self.name},
                headers={"Authorization": f"Bearer {self.key}"},
            ) as answer,
        ):
            return web.Response(
                text=await answer.text(), status=answer.status, content_type="application/json"
            )


@dataclass
class CountingModel:
    """A model that counts what it is asked. model: answers; by default as the rules do."""

    calls: list[Call] = field(default_factory=list)
    model: Model = field(default_factory=ReadingModel)
    _instructions: set[str] = field(default_factory=set)

    async def __call__(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        """Answer, and count."""
        response = await self.model(request, body)
        assert isinstance(response, web.Response)
        assert response.text is not None
        if response.status != HTTPStatus.OK:
            return response
        answer = json.loads(response.text)["choices"][0]["message"]["content"] or ""
        instructions, record = (message["content"] for message in body["messages"])
        schema = json.dumps(_schema(body), separators=(",", ":"))
        same = max((_common(instructions, earlier) for earlier in self._instructions), default=0)
        self._instructions.add(instructions)
        same //= CHARACTERS_A_TOKEN
        cached = same // CACHED_IN * CACHED_IN if same >= CACHED_FROM else 0
        instructed, record_tokens, asked, written = (
            len(text) // CHARACTERS_A_TOKEN for text in (instructions, record, schema, answer)
        )
        self.calls.append(Call(kind_of(body), instructed, record_tokens, asked, written, cached))
        return response


@dataclass(frozen=True, slots=True)
class Measured:
    """What one mode asked for conversations and in runs, and made of conversations, by user.

    results: what tasks counted of conversations, such as facts without proof.
    """

    forming: Sequence[Call]
    runs: Sequence[Call]
    made: Sequence[Counter[Made]]
    results: Counter[str]


def _schema(body: dict[str, Any]) -> dict[str, Any]:
    """The schema that a request carries; empty if the instructions alone contain it."""
    form = body.get("response_format", {})
    schema: dict[str, Any] = form.get("json_schema", form).get("schema", {})
    return schema


def _common(text: str, before: str) -> int:
    """Characters with which both begin."""
    return next(
        (
            place
            for place, (character, other) in enumerate(zip(text, before, strict=False))
            if character != other
        ),
        min(len(text), len(before)),
    )


def owner(number: int) -> Owner:
    """The `number`-th user."""
    return Owner("local", f"user{number}")


async def measure(
    mode: FormationCalls,
    folder: Path,
    conversations: Sequence[ConverseInput],
    users: int,
    *,
    runs: bool = True,
    remote: RemoteModel | None = None,
) -> Measured:
    """Form the conversations of so many users in one mode, then consolidate each user once if that
    is asked for.
    """
    model = CountingModel() if remote is None else CountingModel(model=remote)
    server = ChatServer(model=model)
    await server.start()
    settings = Settings(
        llm_provider="openai",
        llm_base_url=f"{server.root}/v1",
        llm_model="m",
        embedding_provider="hash",
        data=folder,
        formation_calls=mode,
        consolidation_threshold=10_000,
        sqlite_synchronous="normal",
        llm_timeout=60.0 if remote is None else ANSWER_S,
        llm_concurrency=8 if remote is None else 1,
    )
    results = Counter[str]()
    try:
        async with MemoryCore(settings) as core:
            for number, conversation in enumerate(conversations):
                accepted = await core.converse(owner(number % users), conversation)
                await _work(core, "formation")
                results += await _counted(core, owner(number % users), accepted.task_id)
                if remote is not None:
                    print(f"{mode}: {number + 1} of {len(conversations)}", flush=True)
            made = [await _made(core, owner(number)) for number in range(users)]
            forming = len(model.calls)
            for number in range(users if runs else 0):
                await core.consolidate(owner(number), ConsolidateInput())
                await _work(core, "consolidation")
    finally:
        await server.stop()
    assert not any(is_proof(body) for body in server.bodies)
    return Measured(model.calls[:forming], model.calls[forming:], made, results)


async def _counted(core: MemoryCore, of: Owner, task_id: str) -> Counter[str]:
    """What a task counted of its conversation."""
    result = (await core.task(of, task_id)).result or {}
    return Counter(result.get("counts", {}))


async def _work(core: MemoryCore, queue: QueueName) -> None:
    while taken := await core.queue.receive(queue, 1, timedelta(minutes=5)):
        await core.work(taken[0].body, queue)
        await core.queue.complete(queue, taken[0])


async def _made(core: MemoryCore, of: Owner) -> Counter[Made]:
    made: Counter[Made] = Counter()
    cursor = None
    while True:
        page = await core.list(of, ListInput(status="all", limit=100, cursor=cursor))
        made.update(
            (memory.category, memory.status.value, memory.content) for memory in page.memories
        )
        cursor = page.next_cursor
        if cursor is None:
            return made


async def compare(
    folder: Path, count: int, users: int, *, runs: bool = True, remote: RemoteModel | None = None
) -> dict[FormationCalls, Measured]:
    """The same conversations in each mode."""
    told_conversations = list(conversations(7, count))
    return {
        mode: await measure(
            mode, folder / mode, told_conversations, users, runs=runs, remote=remote
        )
        for mode in MODES
    }


def tokens(calls: Sequence[Call]) -> int:
    """Of all of them."""
    return sum(call.tokens for call in calls)


def lines(measured: dict[FormationCalls, Measured], count: int) -> list[list[str]]:
    """A line for each mode: what a conversation takes."""
    whole = tokens(measured["separate"].forming)
    table = []
    for mode, measurement in measured.items():
        calls = measurement.forming
        parts = [
            sum(getattr(call, name) for call in calls) / count
            for name in ("instructions", "record", "schema", "answer", "tokens", "cached")
        ]
        share = f"{100 * tokens(calls) / whole:.0f} %" if whole else "-"
        table.append(
            [
                mode,
                f"{len(calls) / count:.2f}",
                *(f"{part:,.0f}" for part in parts[:5]),
                share,
                f"{parts[5]:,.0f}",
            ]
        )
    return table


def dollars(calls: Sequence[Call], conversations: float) -> float:
    """What conversations cost at the example prices, if these calls are of one."""
    read = sum(call.tokens - call.answer for call in calls)
    written = sum(call.answer for call in calls)
    price = read * PRICES["prompt_million"] + written * PRICES["completion_million"]
    return conversations * price / 1e6


def bills(measured: dict[FormationCalls, Measured], count: int) -> list[list[str]]:
    """A line for each mode: what a month costs users who have one conversation a day."""
    return [
        [mode, *(f"{dollars(measurement.forming, users * DAYS / count):,.2f}" for users in USERS)]
        for mode, measurement in measured.items()
    ]


def differences(
    measured: dict[FormationCalls, Measured], mode: FormationCalls
) -> tuple[Counter[Made], Counter[Made]]:
    """What only separate calls made, and what only this mode made."""
    lost, added = Counter[Made](), Counter[Made]()
    for before, now in zip(measured["separate"].made, measured[mode].made, strict=True):
        lost += before - now
        added += now - before
    return lost, added


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.formation_calls", description="Counts calls and tokens of each mode."
    )
    parser.add_argument("--conversations", type=int, default=24)
    parser.add_argument("--users", type=int, default=4)
    parser.add_argument(
        "--shown", type=int, default=5, help="differences that are printed of each kind"
    )
    parser.add_argument("--url", help="a real model's chat API, up to and with /v1")
    parser.add_argument("--model", default="m", help="its name there")
    parser.add_argument(
        "--key-from", default="OPENAI_API_KEY", help="the environment variable with its key"
    )
    parser.add_argument("--no-runs", action="store_true", help="without runs of consolidation")
    options = parser.parse_args(arguments)
    remote = options.url and RemoteModel(
        options.url, options.model, os.environ.get(options.key_from, "none")
    )
    with tempfile.TemporaryDirectory(prefix="memory-core-bench-") as folder:
        measured = asyncio.run(
            compare(
                Path(folder),
                options.conversations,
                options.users,
                runs=not options.no_runs,
                remote=remote,
            )
        )
    headings = (
        *("mode", "calls", "instructions", "record", "schema", "answer", "tokens"),
        *("of separate", "cached"),
    )
    show("A conversation of ten messages", headings, lines(measured, options.conversations))
    show(
        "A month of one conversation a user and day in dollars, at EXAMPLE prices",
        ("mode", *(f"{users:,} users" for users in USERS)),
        bills(measured, options.conversations),
    )
    runs = [
        [
            mode,
            f"{len(measurement.runs) / options.users:.2f}",
            f"{tokens(measurement.runs) / options.users:,.0f}",
        ]
        for mode, measurement in measured.items()
    ]
    show("A run of consolidation", ("mode", "calls", "tokens"), runs)
    names = sorted({name for measurement in measured.values() for name in measurement.results})
    show(
        "What tasks counted",
        ("count", *MODES),
        [[name, *(str(measured[mode].results[name]) for mode in MODES)] for name in names],
    )
    _show_kinds(measured)
    _print_differences(measured, options.shown)
    return 0


def _show_kinds(measured: dict[FormationCalls, Measured]) -> None:
    kinds = sorted(
        {
            call.kind
            for measurement in measured.values()
            for call in (*measurement.forming, *measurement.runs)
        }
    )
    counted = {
        mode: Counter(call.kind for call in (*measurement.forming, *measurement.runs))
        for mode, measurement in measured.items()
    }
    show(
        "Calls by answer",
        ("answer", *MODES),
        [[kind, *(str(counted[mode][kind]) for mode in MODES)] for kind in kinds],
    )


def _print_differences(measured: dict[FormationCalls, Measured], most: int) -> None:
    for mode in MODES[1:]:
        lost, added = differences(measured, mode)
        whole = sum(memories.total() for memories in measured["separate"].made)
        print(
            f"\n{mode}: {lost.total()} of {whole} memories are not made, {added.total()} others are"
        )
        for sign, some in (("-", lost), ("+", added)):
            print(
                f"  {sign} by category: "
                f"{dict(Counter(category for category, _, _ in some.elements()))}"
            )
            for category, status, content in sorted(some, key=str)[:most]:
                print(f"  {sign} {category} {status}: {content[:160]!r}")


if __name__ == "__main__":
    raise SystemExit(main())
