"""A small server that speaks the chat completions API over real sockets, and misbehaves
when told to.

Each request takes the next behaviour from `script`; when that is empty it behaves as `model`, or
gives a good answer of the kind that was asked for.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.served import Served

Behaviour = Callable[[web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]

GOOD: dict[str, Any] = {
    "Boundaries": {"cuts": [{"after": 1, "reason": "from the move to the dinner"}],
        "continues": False},
    "EpisodeAnalysis": {
        "context": {"available_data": "Four short messages.", "user_intent": "To tell the news.",
            "analysis_limitation": "N/A"},
        "what_worked": {"strategies": ["Asking one question at a time."],
            "pattern": "It kept the talk going."},
        "what_failed": {"strategies": [], "pattern": "N/A"},
        "behavioral_profile": {"communication": "Brief and warm.", "learning": "N/A",
            "problem_solving": "N/A", "decision_making": "N/A"},
        "interaction_insights": {"engagement_triggers": "interest in people",
            "friction_points": "N/A", "optimal_approach": "N/A"},
        "future_guidance": {"recommended_approaches": ["Ask about Lisbon."], "avoid_approaches": [],
            "adaptation_note": "N/A"},
    },
    "ConversationSummary": {
        "context": {"available_data": "Four messages.", "content_scope": "A move and a dinner."},
        "narrative": "Ana told that she had moved from Berlin to Lisbon and planned a dinner.",
        "retrieval": {"tags": ["moving"], "keywords": ["Lisbon", "Berlin"],
            "queries": ["Where does Ana live?"]},
        "metadata": {"depth": "low", "follow_ups": []},
    },
    "Narrative": {"narrative": "Ana moved to Lisbon."},
    "ExtractedFacts": {
        "facts": [
            {"text": "Ana lives in Lisbon", "message": 0, "quote": "I moved to Lisbon",
                "subject": "Ana", "attribute": "lives_in",
             "value": "Lisbon", "confidence": 1},
        ],
        "foresight": [
            {"description": "Ana has a cold", "message": 0, "quote": "I have a cold",
                "start_time": "2026-05-08T12:00:00Z",
             "end_time": "2026-05-15T12:00:00Z", "confidence": 0.7},
        ],
    },
    "Sufficiency": {"sufficient": False, "why": "No boat is named.",
        "rewritten": "the name of Ana's boat"},
    "Ranking": {"ranked": [1]},
    "Decisions": {"decisions": [{"new": 0, "memory": 0, "operation": "DELETE",
        "confidence_score": 0.9, "reasoning": "She moved."}]},
    "FoundPatterns": {
        "patterns": [
            {"summary": "Ana sails", "pattern": "habit", "memory_type": "semantic", "key": None,
                "importance_score": 0.6,
             "confidence": 0.7, "extracted_facts": [], "sources": [0, 1]},
        ],
    },
    "ProfileUpdate": {"traits": [{"trait": "Ana sails whenever there is wind.", "scenes": [0],
        "confidence": 0.7}]},
    "Synthesis": {
        "consolidated_memory": {"natural_memory_note": (
            "## Summary\nAna moved to Lisbon.\n\n"
            "---\nTags: moving"
        )},
        "synthesis_metadata": {"memories_merged": 2, "new_information_added": "low",
            "deduplication_count": 0, "quality_check": "pass",
                               "notes": "N/A"},
    },
}  # fmt: skip
GOOD["FormedCell"] = {
    **GOOD["ExtractedFacts"],
    "instructions": [],
    "behaviour": [
        {"aspect": "worked", "text": "Asking one question at a time."},
        {"aspect": "why_worked", "text": "It kept the talk going."},
        {"aspect": "communication", "text": "Brief and warm."},
        {"aspect": "engages_with", "text": "interest in people"},
        {"aspect": "do", "text": "Ask about Lisbon."},
    ],
    "story": {
        "narrative": GOOD["ConversationSummary"]["narrative"],
        **GOOD["ConversationSummary"]["retrieval"],
        **GOOD["ConversationSummary"]["metadata"],
    },
}
GOOD["FormedWindow"] = {
    "cuts": [{"after": 1, "reason": "from the move to the dinner"}],
    "continues": False,
    **GOOD["ExtractedFacts"],
    "instructions": [],
    "episodes": [
        {
            "first": 0,
            "behaviour": GOOD["FormedCell"]["behaviour"],
            "story": GOOD["FormedCell"]["story"],
        },
        {"first": 2, "behaviour": [], "story": GOOD["FormedCell"]["story"]},
    ],
}
GOOD["Reflection"] = {**GOOD["FoundPatterns"], **GOOD["ProfileUpdate"]}


@dataclass
class ChatServer(Served):
    """`bodies`, `paths` and `headers` keep what was asked, in order; `lookups` counts requests for
    the list of models.
    """

    script: list[Behaviour] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    lookups: int = 0
    models_status: int = 200
    model: Behaviour | None = None
    knows: Callable[[dict[str, Any]], str | dict[str, Any] | None] = lambda _: None
    """What the server refuses of a body, in its own words or as the error that it sends;
    None when nothing.
    """

    def routes(self) -> Iterator[web.RouteDef]:
        for prefix in ("/v1", "/gateway/llm/v1", "/openai/v1"):
            yield web.post(f"{prefix}/chat/completions", self._answer)
        for path in ("/v1/models", "/gateway/llm/v1/models", "/openai/v1/models"):
            yield web.get(path, self._models)

    @property
    def systems(self) -> list[str]:
        """The system texts that were sent."""
        return [body["messages"][0]["content"] for body in self.bodies]

    @property
    def records(self) -> list[str]:
        """The user texts that were sent."""
        return [body["messages"][1]["content"] for body in self.bodies]

    async def _models(self, _: web.Request) -> web.StreamResponse:
        self.lookups += 1
        return web.json_response({"object": "list", "data": []}, status=self.models_status)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.bodies.append(body)
        self.paths.append(request.path_qs)
        self.headers.append(dict(request.headers))
        refusal = self.knows(body)
        if isinstance(refusal, str):
            refusal = {"message": refusal, "code": None}
        if refusal is not None:
            return web.json_response(
                {"error": {"type": "invalid_request_error", **refusal}}, status=400
            )
        if self.script:
            return await self.script.pop(0)(request, body)
        if is_proof(body):
            return completion("ready")
        if self.model is not None:
            return await self.model(request, body)
        return completion(json.dumps(GOOD[kind_of(body)]))


def reasoning_model(*efforts: str) -> Callable[[dict[str, Any]], dict[str, Any] | None]:
    """A model that takes these words for `reasoning_effort`, as Azure's say it: no `max_tokens`,
    and no temperature beside reasoning.
    """

    def refuses(body: dict[str, Any]) -> dict[str, Any] | None:
        if "max_tokens" in body:
            message = (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                "'max_completion_tokens' instead."
            )
            return {"message": message, "param": "max_tokens", "code": "unsupported_parameter"}
        effort = body.get("reasoning_effort", efforts[-1])
        if effort not in efforts:
            known = ", ".join(f"'{word}'" for word in efforts)
            message = (
                f"Unsupported value: '{effort}' is not supported with the 'm' model. Supported "
                f"values are: {known}."
            )
            return {"message": message, "param": "reasoning_effort", "code": "unsupported_value"}
        for name in ("temperature", "top_p"):
            if name in body and effort != "none":
                message = (
                    f"Unsupported value: '{name}' does not support {body[name]} with this model. "
                    "Only the default (1) value is supported."
                )
                return {"message": message, "param": name, "code": "unsupported_value"}
        return None

    return refuses


def is_proof(body: dict[str, Any]) -> bool:
    """Whether only one word is asked for, by which readiness sees that the model answers."""
    return bool(body["messages"][-1]["content"] == "Answer with the word ready.")


def kind_of(body: dict[str, Any]) -> str:
    """Which answer a request asks for."""
    schema = body.get("response_format", {}).get("json_schema")
    if schema:
        return str(schema["name"])
    instructions = body["messages"][0]["content"]
    return max(
        (
            name
            for name, answer in GOOD.items()
            if all(f'"{field}":' in instructions for field in answer)
        ),
        key=lambda name: len(GOOD[name]),
    )


def completion(
    text: str | None, finish: str = "stop", usage: dict[str, Any] | None = None, **message: Any
) -> web.Response:
    """A well-formed answer that says `text`. usage: the tokens that it took."""
    return web.json_response(
        {
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m-2026",
            "choices": [{"index": 0, "finish_reason": finish,
                "message": {"role": "assistant", "content": text, **message}}],
            "usage": usage or {"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150},
        }
    )  # fmt: skip


def says(text: str | None, finish: str = "stop", **message: Any) -> Behaviour:
    """HTTP 200 with a text."""

    async def behave(_: web.Request, __: dict[str, Any]) -> web.StreamResponse:
        return completion(text, finish, **message)

    return behave


def sends(content: Any, status: int = 200) -> Behaviour:
    """This JSON, whatever it is."""

    async def behave(_: web.Request, __: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(content, status=status)

    return behave


def refuses(status: int, code: str | None = None, **headers: str) -> Behaviour:
    """An error as the API sends it; its message quotes what must not be passed on."""

    async def behave(request: web.Request, _: dict[str, Any]) -> web.StreamResponse:
        error = {
            "message": f"no, {request.headers.get('Authorization', '')}!",
            "type": "some_error",
            "code": code,
        }
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.json_response({"error": error}, status=status, headers=named)

    return behave


def hangs() -> Behaviour:
    """No answer until the client gives up."""

    async def behave(_: web.Request, __: dict[str, Any]) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    return behave


def is_cut() -> Behaviour:
    """Half an answer, and the connection is gone."""

    async def behave(request: web.Request, _: dict[str, Any]) -> web.StreamResponse:
        response = web.StreamResponse(
            headers={"Content-Length": "100000", "Content-Type": "application/json"}
        )
        await response.prepare(request)
        await response.write(b'{"id": "chatcmpl-1", "choices": [{"index": 0, "mess')
        assert request.transport is not None
        request.transport.close()
        return response

    return behave
