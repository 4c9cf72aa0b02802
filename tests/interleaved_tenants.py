"""Tenants who use one service at the same time, and a watch that sees when an answer shows one of
them what is another's.

Each tenant is a user of an app. Every text and name that a tenant sends holds a word of its own,
and every id belongs to the tenant whose answer showed it first. So an answer leaks where it holds
another's word, or an id that the caller neither has nor sent.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import httpx

STAMP = "2026-05-08T13:{minute:02}:00Z"
AT_ONCE = 4
"""Steps that are under way together."""
FOREIGN = 0.25
"""The share of ids that a tenant takes from another one."""
BUSY = 503
_ID = re.compile(r"\b[a-z]{2,5}_[0-9a-f]{20,40}\b")


@dataclass
class Tenant:
    """A user of an app. word: is in everything that it sends, and in nothing that others do."""

    app: str
    user: str
    key: str
    word: str
    ids: list[str] = field(default_factory=list)
    cursors: list[str] = field(default_factory=list)


class Call(NamedTuple):
    """A request. target: an id in its path, if there is any."""

    name: str
    method: str
    path: str
    query: dict[str, Any]
    body: dict[str, Any] | None
    target: str | None


class Watch:
    """Knows which word and which id is whose. leaks: what tenants saw of others."""

    def __init__(self, tenants: list[Tenant]) -> None:
        self.tenants = tenants
        self.owners: dict[str, Tenant] = {}
        self.leaks: list[str] = []
        self.counts: Counter[str] = Counter()

    def look(self, tenant: Tenant, call: Call, status: int, text: str) -> None:
        """Compare an answer with what is another's; what it shows for the first time is the
        tenant's from now on.
        """
        sent = f"{call.path} {json.dumps(call.query)} {json.dumps(call.body)}"
        seen = json.loads(text) if text.startswith("{") else {}
        text_shown = (
            text.replace(json.dumps(seen["instance"])[1:-1], "") if "instance" in seen else text
        )
        for other in self.tenants:
            if other is not tenant and other.word in text_shown:
                self._accuse(
                    tenant, call, status, f"the word of {other.app}/{other.user}: {text[:500]}"
                )
        for name in set(_ID.findall(text_shown)):
            if name in sent and self.owners.get(name) is not tenant:
                continue
            owner = self.owners.setdefault(name, tenant)
            if owner is not tenant:
                self._accuse(tenant, call, status, f"{name} of {owner.app}/{owner.user}")
            elif name not in tenant.ids:
                tenant.ids.append(name)
        if isinstance(seen.get("next_cursor"), str):
            tenant.cursors.append(seen["next_cursor"])
        self.counts[f"{call.name} {status}"] += 1
        self._look_at_target(tenant, call, status)

    def _look_at_target(self, tenant: Tenant, call: Call, status: int) -> None:
        """Nothing is done to what is another's."""
        owner = self.owners.get(call.target or "")
        if owner is None or owner is tenant:
            return
        self.counts["foreign targets"] += 1
        if status < 400:
            self._accuse(
                tenant, call, status, f"{call.target} of {owner.app}/{owner.user} was reached"
            )

    def _accuse(self, tenant: Tenant, call: Call, status: int, accusation: str) -> None:
        self.leaks.append(
            f"{tenant.app}/{tenant.user}: {call.method} {call.path} {call.query} {call.body}: "
            f"{status}, {accusation}"
        )


class Driver:
    """Takes the steps that its seed says, several at once."""

    def __init__(self, watch: Watch, client: httpx.AsyncClient, seed: int) -> None:
        self._watch, self._client = watch, client
        self._chance = random.Random(f"interleaved {seed}")
        self._count = 0

    async def run(self, steps: int) -> None:
        """Take this many steps."""
        for _ in range(0, steps, AT_ONCE):
            await asyncio.gather(*(self._step(*self._drawn()) for _ in range(AT_ONCE)))

    def _drawn(self) -> tuple[Tenant, Call]:
        tenant = self._chance.choice(self._watch.tenants)
        makers: list[Callable[[Tenant], Call]] = [
            self._write,
            self._write,
            self._read,
            self._read,
            self._single,
            self._single,
        ]
        return tenant, self._chance.choice(makers)(tenant)

    async def _step(self, tenant: Tenant, call: Call) -> None:
        headers = {
            "X-API-Key": tenant.key,
            "If-Match": "*",
            "Idempotency-Key": str(self._chance.randrange(10**6)),
        }
        response = await self._client.request(
            call.method, call.path, params=call.query, json=call.body, headers=headers
        )
        assert response.status_code < 500 or response.status_code == BUSY, (
            f"{call}: {response.status_code} {response.text}"
        )
        self._watch.look(tenant, call, response.status_code, response.text)

    def _write(self, tenant: Tenant) -> Call:
        text, session = self._text(tenant), self._name(tenant, "session")
        message = {
            "role": "user",
            "content": text,
            "timestamp": STAMP.format(minute=self._count % 60),
        }
        fact = {
            "type": "semantic",
            "subject": self._name(tenant, "boat"),
            "attribute": "colour",
            "value": text,
            "content": text,
        }
        rule = {
            "type": "procedural",
            "key": self._name(tenant, "habit"),
            "value": text,
            "content": text,
        }
        note = {
            "content": text,
            "session_id": session,
            "agent_id": self._name(tenant, "agent"),
            "tags": [self._name(tenant, "tag")],
        }
        path, body = self._chance.choice(
            [
                ("memories/save", note),
                (
                    "memories/save",
                    {
                        **note,
                        **fact,
                        "on_conflict": self._chance.choice(
                            ["supersede", "reject_new", "keep_both"]
                        ),
                    },
                ),
                ("memories/save", rule),
                ("memories/bulk", {"memories": [note, fact, rule]}),
                ("memories", {"session_id": session, "messages": [message]}),
                ("memories/batch", {"session_id": session, "messages": [message]}),
                ("memories/batch/flush", {"session_id": session}),
                ("agent/memories", {"messages": text}),
                ("agent/summaries", {"messages": text}),
                (f"sessions/{session}/messages", {"messages": [message]}),
                ("memories/clear", {"session_id": session}),
                ("consolidate", {}),
                ("decay", {}),
                ("archive", {}),
                (
                    "forget",
                    {
                        "filter": {"tags": [self._name(tenant, "tag")]},
                        "mode": self._chance.choice(["soft", "hard"]),
                    },
                ),
                (
                    "memories/delete",
                    {"ids": self._ids(tenant), "keys": [self._name(tenant, "habit")]},
                ),
            ]
        )
        return self._call(tenant, "POST", path, body=body)

    def _read(self, tenant: Tenant) -> Call:
        asked = {
            "query": f"which boat is it {self._chance.choice(['', tenant.word])}",
            "similarity_threshold": 0.0,
            "limit": 50,
        }
        cursors = {"cursor": cursor} if (cursor := self._cursor(tenant)) else {}
        if self._chance.random() < 0.5:
            path, body = self._chance.choice(
                [
                    ("memories/retrieve", asked),
                    (
                        "memories/retrieve",
                        {
                            **asked,
                            "mode": "reconstruct",
                            "session_id": self._name(tenant, "session"),
                        },
                    ),
                    ("memories/retrieve", {**asked, "explain": True, "include_archived": True}),
                    ("context", {"query": asked["query"]}),
                    (
                        "memories/get",
                        {"ids": self._ids(tenant), "keys": [self._name(tenant, "habit")]},
                    ),
                    ("replay", {"known_at": "2126-05-08T13:56:00Z", "limit": 100}),
                ]
            )
            return self._call(tenant, "POST", path, body=body)
        listed = ("memories", "sessions", "tags", "tasks", "timeline", "conflicts", "scenes")
        alone = (
            "profile",
            f"sessions/{self._name(tenant, 'session')}",
            f"procedures/{self._name(tenant, 'habit')}",
        )
        path = self._chance.choice(
            [
                *listed,
                *alone,
                "memories/query",
                f"sessions/{self._name(tenant, 'session')}/messages",
            ]
        )
        query: dict[str, Any] = {**cursors, "limit": 2} if path in listed else {}
        if path == "memories":
            query["status"] = "all"
        return self._call(
            tenant,
            "GET",
            path,
            query={"query": asked["query"]} if path == "memories/query" else query,
        )

    def _single(self, tenant: Tenant) -> Call:
        """About one memory, task, conflict or scene by its id, often another's."""
        target = self._ids(tenant)[0]
        kind = {"tsk": "tasks", "cft": "conflicts", "scn": "scenes"}.get(
            target.partition("_")[0], "memories"
        )
        text = self._text(tenant)
        by_kind: dict[str, list[tuple[str, str, dict[str, Any] | None]]] = {
            "tasks": [("GET", "", None), ("POST", "/cancel", {}), ("POST", "/retry", {})],
            "conflicts": [
                ("GET", "", None),
                ("POST", "/resolve", {"decision": "keep_both"}),
                ("POST", "/undo", {}),
            ],
            "scenes": [("GET", "", None)],
            "memories": [
                ("GET", "", None),
                ("GET", "/versions", None),
                ("GET", "/evolution", None),
                ("GET", "/evolution/graph", None),
                ("DELETE", "", None),
                ("PUT", "", {"content": text}),
                (
                    "PATCH",
                    "/status",
                    {"status": self._chance.choice(["active", "deleted"]), "reason": text},
                ),
                ("POST", "/copy", {"to_agent_id": self._name(tenant, "agent")}),
                ("POST", "/restore", {}),
            ],
        }
        method, rest, body = self._chance.choice(by_kind[kind])
        return self._call(tenant, method, f"{kind}/{target}{rest}", body=body, target=target)

    def _call(
        self,
        tenant: Tenant,
        method: str,
        path: str,
        *,
        query: dict[str, Any] | None = None,
        body: dict[str, Any] | None = None,
        target: str | None = None,
    ) -> Call:
        scope = {"user_id": tenant.user}
        name = f"{method} {path.replace(target or '-', '{id}').replace(tenant.word, '')}"
        if body is None:
            return Call(name, method, f"/api/v1/{path}", {**scope, **(query or {})}, None, target)
        return Call(name, method, f"/api/v1/{path}", {}, {**scope, **body}, target)

    def _text(self, tenant: Tenant) -> str:
        self._count += 1
        return (
            f"The boat number {self._count} is {self._chance.choice(['red', 'blue', 'green'])} and "
            f"belongs to {tenant.word}."
        )

    def _name(self, tenant: Tenant, kind: str) -> str:
        return f"{kind}{self._chance.randrange(3)}{tenant.word}"

    def _ids(self, tenant: Tenant) -> list[str]:
        """Up to three ids, its own and others'."""
        ids = []
        for _ in range(self._chance.randint(1, 3)):
            whose = (
                self._chance.choice(self._watch.tenants)
                if self._chance.random() < FOREIGN
                else tenant
            )
            ids.append(self._chance.choice(whose.ids[-300:] or ["mem_000000000000000000000000"]))
        return ids

    def _cursor(self, tenant: Tenant) -> str | None:
        whose = (
            self._chance.choice(self._watch.tenants) if self._chance.random() < FOREIGN else tenant
        )
        return (
            self._chance.choice(whose.cursors[-20:])
            if whose.cursors and self._chance.random() < 0.5
            else None
        )
