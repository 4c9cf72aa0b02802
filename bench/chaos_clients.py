"""The clients of `bench.chaos`: they write, read, change and delete, and note what was
acknowledged.

A call is sent again until it is answered with something other than 503: with the same key where it
has one. What has no key may then be there twice, unless its content, session and event time name
it. Only what is there once is edited or deleted, since the late first try of a call without a key
would rightly save it again.
"""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

import httpx

from bench.chaos_servers import System
from bench.texts import text

USERS = 36
KEYS = SLOTS = 4
"""Of each user."""
MOST_CLIENTS = 1_000
"""At once; each has microseconds of its own in the moments that it writes."""
TIMEOUTS_S = (5.0, 15.0, 70.0)
"""How long a client waits for an answer: less and more than a commit may take (10 s),
and more than a request may take (60 s).
"""
IMPATIENT_S = 0.05
"""How long a client waits that hangs up early, one call in thirty."""
GIVE_UP_S = 60.0
"""How long after the time is over a call is still sent again."""
TRY_AGAIN = (429, 503, 504)
PLANNED = ("unavailable", "busy")
"""The types of problem that a 503 may have here."""
MEMORIES = "/api/v1/memories"


@dataclass
class Save:
    """An acknowledged save, which has to be there in the end. contents: what it may say;
    more than one while an edit is unclear.
    """

    user: str
    memory_id: str
    type: str
    contents: set[str]
    event: str | None
    slot: str | None
    once: bool
    deleted: bool = False
    unclear: bool = False


@dataclass
class Told:
    """An accepted conversation. marks: a word of each message. cells: ids of its cells that were
    deleted afterwards.
    """

    user: str
    task_id: str
    marks: list[str]
    once: bool
    deleted_cells: list[str] = field(default_factory=list)
    unclear: bool = False


class Reply(NamedTuple):
    """An answer, and how often the call was sent for it."""

    status: int
    body: Any
    headers: Mapping[str, str]
    tries: int


class Item(NamedTuple):
    """A memory to save. slot: the slot or key that it fills. named: its fields name it,
    so that it is the same memory each time.
    """

    mark: str
    body: dict[str, Any]
    slot: str | None
    named: bool


class Notebook:
    """What was acknowledged, and what was wrong with answers."""

    def __init__(self) -> None:
        self.saves: dict[str, Save] = {}
        """By the mark in the content."""
        self.told: list[Told] = []
        self.gone: defaultdict[str, set[str]] = defaultdict(set)
        """Ids of memories whose deletion was acknowledged, by user."""
        self.unclear: set[str] = set()
        """Slots and keys (with their user) about which a call was never answered."""
        self.counts: Counter[str] = Counter()
        self.answers: Counter[int] = Counter()
        """By the second of the monotonic clock, until the time is over."""
        self.accusations: defaultdict[str, list[str]] = defaultdict(list)

    def accuse(self, column: str, why: str) -> None:
        """Note something that must not be, under a column of the table."""
        self.accusations[column].append(why)


class Client:
    """One client: one deed after the other, chosen by its seed."""

    def __init__(
        self, number: int, seed: int, system: System, notebook: Notebook, until: float
    ) -> None:
        """number: below MOST_CLIENTS. until: on the monotonic clock."""
        self._name = f"{seed}c{number}"
        self._number, self._system, self._notebook, self._until = number, system, notebook, until
        self._chance = random.Random(f"client {seed} {number}")
        self._http = httpx.AsyncClient(
            limits=httpx.Limits(max_keepalive_connections=2),
            trust_env=False,
            verify=False,  # nothing is encrypted here, and the list of certificates is long
        )
        self._count, self._last = 0, datetime.min.replace(tzinfo=timezone.utc)
        self._saves: list[Save] = []
        self._told: list[Told] = []

    async def act(self) -> None:
        """Do one thing: the call that it takes, or those, until they are answered or given up."""
        deeds = {
            self._save: 52, self._bulk: 4, self._converse: 10, self._edit: 7, self._delete: 7,
            self._delete_cells: 2, self._read: 8, self._list: 3, self._retrieve: 7,
        }  # fmt: skip
        (deed,) = self._chance.choices(list(deeds), list(deeds.values()))
        await deed()

    async def close(self) -> None:
        """Let its connections go."""
        await self._http.aclose()

    # saves

    async def _save(self) -> None:
        user, item = self._user(), self._item()
        keyed = self._keyed()
        reply = await self._call(
            "POST", f"{MEMORIES}/save", {"user_id": user, "view": "full", **item.body}, key=keyed
        )
        if reply is None:
            self._note_unclear(user, item)
        elif self._expected(reply, 200, 201):
            self._note_save(user, item, reply.body["memory"], keyed is not None or reply.tries == 1)

    async def _bulk(self) -> None:
        user, items = self._user(), [self._item() for _ in range(self._chance.randint(2, 15))]
        keyed, tries = self._keyed(), 0
        while True:
            body = {"user_id": user, "view": "full", "memories": [item.body for item in items]}
            reply = await self._call("POST", f"{MEMORIES}/bulk", body, key=keyed)
            if reply is None:
                for item in items:
                    self._note_unclear(user, item)
                return
            tries += reply.tries
            if not self._expected(reply, 207):
                return
            results = reply.body["results"]
            self._check_results(results)
            if all(result["status"] not in TRY_AGAIN for result in results) or self._late():
                break
            await asyncio.sleep(self._chance.uniform(0.05, 1.0))
        self._notebook.counts["bulks"] += 1
        for item, result in zip(items, results, strict=True):
            if result["status"] in (200, 201):
                self._note_save(user, item, result["memory"], keyed is not None or tries == 1)
            else:
                self._note_unclear(user, item)

    def _check_results(self, results: list[dict[str, Any]]) -> None:
        """Each result of a bulk is a save's answer, or says that it could not be done now."""
        for result in results:
            status = result["status"]
            if status not in (200, 201, *TRY_AGAIN):
                self._notebook.accuse(
                    "other 5xx" if status >= 500 else "refused", f"an item of a bulk: {result}"
                )

    def _note_save(self, user: str, item: Item, memory: dict[str, Any], clean: bool) -> None:
        once = clean or item.named
        save = Save(
            user,
            memory["id"],
            item.body["type"],
            {item.body["content"]},
            item.body.get("event_timestamp"),
            item.slot,
            once,
        )
        if item.slot is None and memory["content"] != item.body["content"]:
            self._notebook.accuse(
                "lost",
                f"{user} {memory['id']}: another content was answered than was saved ({item.mark})",
            )
        self._notebook.saves[item.mark] = save
        self._notebook.counts["saves"] += 1
        if clean and item.slot is None:
            self._saves.append(save)

    def _note_unclear(self, user: str, item: Item) -> None:
        self._notebook.counts["never answered"] += 1
        if item.slot is not None:
            self._notebook.unclear.add(f"{user} {item.slot}")

    def _item(self) -> Item:
        """A memory of any type, with a mark of its own in its content."""
        mark = self._mark()
        body: dict[str, Any] = {"content": f"{text(self._chance)} Mark {mark}.", "type": "episodic"}
        kind, slot, named = self._chance.random(), None, True
        if kind < 0.2:
            body["type"] = "semantic"
        elif kind < 0.4:
            number = self._chance.randrange(SLOTS)
            slot = f"desk {number}"
            body |= {
                "type": "semantic",
                "subject": f"desk {number}",
                "attribute": "colour",
                "event_timestamp": self._now(),
            }
        elif kind < 0.55:
            number = self._chance.randrange(KEYS)
            slot = f"habit-{number}"
            body |= {
                "type": "procedural",
                "key": slot,
                "value": {"is": mark},
                "event_timestamp": self._now(),
            }
        elif kind < 0.8:
            body |= {
                "session_id": f"session-{self._chance.randrange(6)}",
                "actor": "Ana",
                "event_timestamp": self._now(),
            }
        else:
            named = False
            if self._chance.random() < 0.5:
                body["session_id"] = f"session-{self._chance.randrange(6)}"
        return Item(mark, body, slot, named)

    # conversations

    async def _converse(self) -> None:
        user, begun, marks, messages = (
            self._user(),
            datetime.now(timezone.utc) - timedelta(minutes=20),
            [],
            [],
        )
        for place in range(self._chance.randint(1, 6)):
            marks.append(self._mark())
            content = f"{text(self._chance)} Mark {marks[-1]}."
            if self._chance.random() < 0.3:
                content += (
                    f" I live in {self._chance.choice(('Lisbon', 'Oslo', 'Bergen', 'Rome'))}."
                )
            role = "user" if place % 2 == 0 else "assistant"
            messages.append(
                {
                    "role": role,
                    "content": content,
                    "timestamp": (begun + timedelta(minutes=place)).isoformat(),
                }
            )
        body = {
            "user_id": user,
            "session_id": f"talk-{self._chance.randrange(6)}",
            "messages": messages,
        }
        keyed = self._keyed()
        reply = await self._call("POST", MEMORIES, body, key=keyed)
        # the first try was heard, and its answer lost
        known = (200,) if reply is not None and reply.tries > 1 else ()
        if reply is not None and self._expected(reply, 202, *known):
            conversation = Told(
                user, reply.body["task_id"], marks, keyed is not None or reply.tries == 1
            )
            self._notebook.told.append(conversation)
            self._notebook.counts["conversations"] += 1
            self._told.append(conversation)

    async def _delete_cells(self) -> None:
        """Delete the cells of a conversation that was formed."""
        conversation = next(
            (
                candidate
                for candidate in self._chance.sample(self._told, len(self._told))
                if candidate.once and not candidate.deleted_cells
            ),
            None,
        )
        if conversation is None:
            return
        reply = await self._call(
            "GET", f"/api/v1/tasks/{conversation.task_id}", query={"user_id": conversation.user}
        )
        if reply is None or not self._expected(reply, 200) or reply.body["status"] != "succeeded":
            return
        conversation.unclear = True
        ids = [
            cell["memory_ids"][0] for cell in reply.body["result"]["cells"] if cell["memory_ids"]
        ]
        for memory_id in ids:
            if not await self._deleted(conversation.user, memory_id):
                return
            conversation.deleted_cells.append(memory_id)
        conversation.unclear = False

    # changes

    async def _edit(self) -> None:
        """Replace the content of a semantic memory; another content where the edit
        was overtaken.
        """
        save = self._own(lambda save: save.type == "semantic")
        if save is None:
            return
        content = f"{text(self._chance)} Mark {self._mark()}."
        save.unclear, before = True, save.contents
        save.contents = {*before, content}
        where, query = f"{MEMORIES}/{save.memory_id}", {"user_id": save.user}
        while not self._late():
            seen = await self._call("GET", where, query=query)
            if seen is None or not self._expected(seen, 200):
                return
            if seen.body["content"] == content:
                break
            if seen.body["status"] != "active":  # merged or superseded by a run of consolidation
                return
            body = {"user_id": save.user, "content": content}
            reply = await self._call(
                "PUT", where, body, key=self._keyed(), etag=seen.headers["etag"]
            )
            if reply is not None and reply.status == 200:
                break
            if reply is None or not self._expected(reply, 409, 412):
                return
        else:
            return
        save.contents, save.unclear = {content}, False
        self._notebook.counts["edits"] += 1

    async def _delete(self) -> None:
        save = self._own(lambda save: True)
        if save is None:
            return
        save.unclear = True
        if await self._deleted(save.user, save.memory_id):
            save.deleted, save.unclear = True, False

    async def _deleted(self, user: str, memory_id: str) -> bool:
        """Delete a memory; whether that was acknowledged, or seen to be done where the
        answer was lost.
        """
        where, query = f"{MEMORIES}/{memory_id}", {"user_id": user}
        reply = await self._call("DELETE", where, query=query, key=self._keyed())
        if reply is None:
            return False
        if reply.status != 200:
            if reply.tries == 1:
                self._expected(reply, 200)
                return False
            seen = await self._call("GET", where, query=query)
            if seen is None or not self._expected(seen, 200) or seen.body["status"] != "deleted":
                return False
        self._notebook.gone[user].add(memory_id)
        self._notebook.counts["deletions"] += 1
        return True

    # reads

    async def _read(self) -> None:
        """Read a memory again: what was acknowledged is there at once."""
        save = self._own(lambda save: True)
        if save is None:
            return
        reply = await self._call(
            "GET", f"{MEMORIES}/{save.memory_id}", query={"user_id": save.user}
        )
        if reply is None:
            return
        if reply.status == 404 or (
            reply.status == 200
            and (reply.body["content"] not in save.contents or reply.body["status"] == "deleted")
        ):
            self._notebook.accuse(
                "lost",
                f"{save.user} {save.memory_id}: read back after it was acknowledged: "
                f"{reply.status} {reply.body}",
            )
        elif self._expected(reply, 200):
            self._notebook.counts["reads"] += 1

    async def _list(self) -> None:
        user = self._user()
        gone = set(self._notebook.gone[user])
        reply = await self._call("GET", MEMORIES, query={"user_id": user, "limit": "100"})
        if reply is not None and self._expected(reply, 200):
            self._check_gone(
                user, gone, [memory["id"] for memory in reply.body["memories"]], "a list"
            )

    async def _retrieve(self) -> None:
        save = self._own(lambda save: True)
        if save is None:
            return
        gone = set(self._notebook.gone[save.user])
        words = min(save.contents).split()
        body: dict[str, Any] = {
            "user_id": save.user,
            "query": " ".join(self._chance.sample(words, 6)),
            "similarity_threshold": 0.0,
        }
        if self._chance.random() < 0.5:
            body["session_id"] = f"session-{self._chance.randrange(6)}"
        reply = await self._call("POST", f"{MEMORIES}/retrieve", body)
        if reply is not None and self._expected(reply, 200):
            self._check_gone(
                save.user,
                gone,
                [result["memory"]["id"] for result in reply.body["results"]],
                "a retrieve",
            )

    def _check_gone(self, user: str, gone: set[str], ids: list[str], where: str) -> None:
        self._notebook.counts["reads"] += 1
        for memory_id in gone.intersection(ids):
            self._notebook.accuse("back", f"{user} {memory_id}: deleted before, shown by {where}")

    # calls

    async def _call(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        *,
        query: dict[str, str] | None = None,
        key: str | None = None,
        etag: str | None = None,
    ) -> Reply | None:
        """Send until it is answered; None when that was not to be had before the end."""
        headers = {
            name: value
            for name, value in (("Idempotency-Key", key), ("If-Match", etag))
            if value is not None
        }
        tries = 0
        while not self._late():
            tries += 1
            self._notebook.counts["requests"] += 1
            timeout = (
                IMPATIENT_S if self._chance.random() < 0.03 else self._chance.choice(TIMEOUTS_S)
            )
            try:
                address = self._system.url(self._chance) + path
                response = await self._http.request(
                    method, address, json=body, params=query, headers=headers, timeout=timeout
                )
            except httpx.TransportError:
                self._notebook.counts["answers lost"] += 1
            else:
                if (now := time.monotonic()) < self._until:
                    self._notebook.answers[int(now)] += 1
                if not self._is_to_be_tried_again(response, method, path):
                    return Reply(response.status_code, response.json(), response.headers, tries)
            await asyncio.sleep(self._chance.uniform(0.05, min(0.1 * 2**tries, 1.0)))
        return None

    def _is_to_be_tried_again(self, response: httpx.Response, method: str, path: str) -> bool:
        status = response.status_code
        if status in TRY_AGAIN:
            self._notebook.counts["answers 503"] += 1
        is_problem = response.headers.get("content-type") == "application/problem+json"
        kind = response.json()["type"].rpartition(":")[2] if is_problem else "no problem"
        if status >= 500 and (status not in TRY_AGAIN or kind not in PLANNED):
            self._notebook.accuse("other 5xx", f"{method} {path}: {status} {response.text[:500]}")
        return status in TRY_AGAIN or status >= 500

    def _expected(self, reply: Reply, *statuses: int) -> bool:
        """Whether the answer has one of these statuses; anything else is a right call that
        was refused.
        """
        if reply.status not in statuses:
            self._notebook.accuse(
                "refused", f"{reply.status} after {reply.tries} tries: {str(reply.body)[:500]}"
            )
        return reply.status in statuses

    def _own(self, fits: Any) -> Save | None:
        """One of the last memories that this client saved cleanly and knows all about."""
        known = [
            save
            for save in self._saves[-200:]
            if not save.deleted and not save.unclear and fits(save)
        ]
        return self._chance.choice(known) if known else None

    def _late(self) -> bool:
        return time.monotonic() > self._until + GIVE_UP_S

    def _user(self) -> str:
        return f"user-{self._chance.randrange(USERS)}"

    def _mark(self) -> str:
        self._count += 1
        return f"mark{self._name}n{self._count}"

    def _keyed(self) -> str | None:
        return (
            uuid.UUID(int=self._chance.getrandbits(128)).hex
            if self._chance.random() < 0.5
            else None
        )

    def _now(self) -> str:
        """The present moment, never the same for two clients or two memories."""
        now = datetime.now(timezone.utc)
        now = now.replace(microsecond=now.microsecond // 1000 * 1000 + self._number)
        self._last = max(now, self._last + timedelta(milliseconds=1))
        return self._last.isoformat()
