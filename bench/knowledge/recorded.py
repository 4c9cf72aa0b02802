"""A model's answers on file: each prompt is answered once, and the same ever after.

A prompt is known by the record in it, so that other instructions get the same answer. What has no
answer yet is asked of a service, or written to `asked.jsonl` to be answered by hand, and gets no
usable answer until then.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from aiohttp import web

from bench.formation_calls import RemoteModel
from tests.served import Served

ANSWERS, ASKED = "answers.json", "asked.jsonl"


class RecordedModel(Served):
    """Chat completions from a folder. counts: how many requests were answered, by where from."""

    def __init__(self, folder: Path, service: RemoteModel | None = None) -> None:
        """Read the answers.

        Args:
            folder: Where `answers.json` is, by key.
            service: Is asked for what has no answer; None for no service.

        """
        self._folder, self._service = folder, service
        path = folder / ANSWERS
        self._answers: dict[str, Any] = (
            json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        )
        self._asked: set[str] = set()
        self.counts: Counter[str] = Counter()

    def routes(self) -> Iterator[web.RouteDef]:
        """The chat API."""
        yield web.post("/v1/chat/completions", self._complete)

    @property
    def settings(self) -> dict[str, str]:
        """The product's settings with which it asks this model."""
        return {
            "LLM_PROVIDER": "openai",
            "LLM_API_KEY": "recorded",
            "LLM_MODEL": "recorded",
            "LLM_BASE_URL": f"{self.root}/v1",
            "MEMORY_FORMATION_CALLS": "one",
        }

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        key = key_of(body)
        if key not in self._answers and self._service is not None:
            response = await self._service(request, body)
            if not isinstance(response, web.Response) or response.status != web.HTTPOk.status_code:
                return response
            self._record(key, json.loads(response.text or "{}"))
        known = key in self._answers
        self.counts["answered" if known else "missing"] += 1
        if not known:
            self._ask(key, body)
        content = json.dumps(self._answers[key], ensure_ascii=False) if known else "no answer"
        return web.json_response({
            "id": key,
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": content},
            }],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        })  # fmt: skip

    def _record(self, key: str, completion: dict[str, Any]) -> None:
        text = completion["choices"][0]["message"]["content"] or ""
        try:
            self._answers[key] = json.loads(text)
        except ValueError:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / ANSWERS).write_text(
            json.dumps(self._answers, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
        )

    def _ask(self, key: str, body: dict[str, Any]) -> None:
        if key in self._asked:
            return
        self._asked.add(key)
        instructions, record = _texts(body)
        line = {"key": key, "instructions": instructions, "record": record}
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / ASKED).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def key_of(body: dict[str, Any]) -> str:
    """The name of a request: that of the form it asks for, and a hash of its record."""
    form = body.get("response_format", {}).get("json_schema", {}).get("name", "text")
    return f"{form}:{sha256(_texts(body)[1].encode()).hexdigest()[:16]}"


def _texts(body: dict[str, Any]) -> tuple[str, str]:
    by_role = {"system": "", "user": ""}
    for message in body["messages"]:
        by_role[message["role"]] = by_role.get(message["role"], "") + message["content"]
    return by_role["system"], by_role["user"]
