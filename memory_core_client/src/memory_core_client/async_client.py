"""The async client. `sync_client.py` is made of this file by `generate_sync.py`.

Every call that changes something carries an idempotency key, the same one however often it is sent:
so it has its effect once.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from types import TracebackType
from typing import Any, BinaryIO

import httpx

from memory_core_client.errors import MemoryCoreError, TaskFailed, Unavailable, error_of
from memory_core_client.messages import without_bytes
from memory_core_client.models import (
    Accepted,
    Appended,
    BulkResult,
    Context,
    Erased,
    Fetched,
    Forgotten,
    Imported,
    Memory,
    Message,
    Result,
    Retrieved,
    Saved,
    Task,
)
from memory_core_client.retries import TRY_AGAIN, Retries, new_key

Json = dict[str, Any]
SCOPE = frozenset({"app_id", "user_id"})
"""What says whose memories are meant."""
PART_BYTES = 1_048_576
"""How much of a file one call may bring."""


class AsyncMemoryCore:
    """A connection to a service. Use it with `async with`, or call `aclose` in the end."""

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        timeout_s: float = 65.0,
        retries: Retries | None = None,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        """Build, without connecting.

        Args:
            base_url: Of the service, such as "http://127.0.0.1:7071".
            api_key: `mc_…`; None on loopback.
            timeout_s: Seconds that an answer may take; the service gives up after 60.
            retries: When calls are sent again.
            http: A client to send with, which is not closed here.

        Raises:
            ValueError: The address does not begin with http:// or https://.

        """
        if http is None and not base_url.lower().startswith(("http://", "https://")):
            raise ValueError("base_url has to begin with http:// or https://")
        headers = {} if api_key is None else {"X-API-Key": api_key}
        self._own = http is None
        self._http = (
            http if http is not None else httpx.AsyncClient(base_url=base_url, timeout=timeout_s)
        )
        self._headers, self._retries = headers, retries if retries is not None else Retries()

    def user(self, user_id: str) -> AsyncUser:
        """The memories of one user."""
        return AsyncUser(self, user_id)

    async def ready(self) -> Json:
        """Whether the service and what it depends on work."""
        return (await self.request("GET", "/health/ready")).json()  # type: ignore[no-any-return]

    async def request(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        content: bytes | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        writes: bool = False,
    ) -> httpx.Response:
        """Send a call, again where that may help; its answer, which is a success.

        Args:
            method: GET, POST, PUT, PATCH or DELETE.
            path: From the service's root.
            body: The JSON object to send; moments as `datetime` too.
            content: Bytes to send in place of a body; `headers` then say of which type.
            query: The query string; what is None is left out.
            headers: Further headers.
            idempotency_key: For a call that writes; a new one where none is given.
            writes: Whether the call changes something.

        Raises:
            MemoryCoreError: The service refused it, by the class of the status.
            Unavailable: It did not answer, or asked to try again, after all retries.

        """
        sent = {**self._headers, **(headers or {})}
        if writes:
            sent["Idempotency-Key"] = idempotency_key or new_key()
        if body is not None:
            content = _encoded(body)
        if content is not None and "content-type" not in {name.lower() for name in sent}:
            sent["Content-Type"] = "application/json"
        asked = {name: value for name, value in (query or {}).items() if value is not None}
        number = 0
        while True:
            retry_after: str | None = None
            try:
                answer = await self._http.request(
                    method, path, content=content, params=asked, headers=sent
                )
                if answer.status_code < 400:
                    return answer
                retry_after = answer.headers.get("retry-after")
                failure: Exception = error_of(
                    answer.status_code, _json(answer), answer.headers.get("x-correlation-id")
                )
                again = answer.status_code in TRY_AGAIN
            except httpx.TransportError as error:
                failure, again = Unavailable(f"the service does not answer: {error}"), True
            if not again or number >= self._retries.most:
                raise failure
            await asyncio.sleep(self._retries.wait_s(number, retry_after))
            number += 1

    async def aclose(self) -> None:
        """Hang up."""
        if self._own:
            await self._http.aclose()

    async def __aenter__(self) -> AsyncMemoryCore:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


class AsyncUser:
    """The memories of one user. Keyword arguments that are not named here go into the request
    as they are.
    """

    def __init__(self, service: AsyncMemoryCore, user_id: str) -> None:
        self._service, self.user_id = service, user_id

    # Single memories.

    async def save(
        self, content: str | None = None, *, idempotency_key: str | None = None, **fields: Any
    ) -> Saved:
        """Save one memory; `content` may be left out where `key` and `value` are given."""
        body = {**({} if content is None else {"content": content}), **fields}
        answer = await self._post("/api/v1/memories/save", body, idempotency_key)
        saved = Saved.model_validate(answer.json())
        saved.memory.etag = answer.headers.get("etag")
        return saved

    async def save_many(
        self,
        memories: Sequence[Mapping[str, Any]],
        *,
        atomic: bool = False,
        idempotency_key: str | None = None,
    ) -> list[BulkResult]:
        """Save up to 100 memories, each with its result; with `atomic` all or none."""
        body = {"memories": [dict(memory) for memory in memories], "atomic": atomic}
        answer = await self._post("/api/v1/memories/bulk", body, idempotency_key)
        return [BulkResult.model_validate(result) for result in answer.json()["results"]]

    async def get(self, memory_id: str, **query: Any) -> Memory:
        """One memory, every field of it. Raises NotFound."""
        return _memory(await self._get(f"/api/v1/memories/{_quoted(memory_id)}", query))

    async def get_many(
        self, ids: Sequence[str] = (), keys: Sequence[str] = (), *, view: str = "brief"
    ) -> Fetched:
        """Up to 100 memories by id, procedural ones by key."""
        body = {"ids": [*ids], "keys": [*keys], "view": view}
        answer = await self._service.request(
            "POST", "/api/v1/memories/get", body=self._scoped(body)
        )
        return Fetched.model_validate(answer.json())

    async def procedure(self, key: str) -> Memory:
        """The procedural memory of a key. Raises NotFound."""
        return _memory(await self._get(f"/api/v1/procedures/{_quoted(key)}", {}))

    async def update(
        self,
        memory_id: str,
        *,
        if_match: str = "*",
        idempotency_key: str | None = None,
        **fields: Any,
    ) -> Memory:
        """The memory's next version. if_match: the ETag that it replaces. Raises
        PreconditionFailed, Conflict.
        """
        path, headers = f"/api/v1/memories/{_quoted(memory_id)}", {"If-Match": if_match}
        return _memory(await self._write("PUT", path, fields, idempotency_key, headers))

    async def delete(
        self, memory_id: str, *, if_match: str | None = None, idempotency_key: str | None = None
    ) -> Memory:
        """Soft-delete a memory. if_match: the ETag that it must still have. Raises NotFound,
        PreconditionFailed.
        """
        answer = await self._service.request(
            "DELETE",
            f"/api/v1/memories/{_quoted(memory_id)}",
            query={"user_id": self.user_id},
            headers={} if if_match is None else {"If-Match": if_match},
            idempotency_key=idempotency_key,
            writes=True,
        )
        return _memory(answer)

    async def delete_many(
        self,
        ids: Sequence[str] = (),
        keys: Sequence[str] = (),
        *,
        idempotency_key: str | None = None,
    ) -> list[BulkResult]:
        """Soft-delete up to 100 memories by id or key, each with its result."""
        answer = await self._post(
            "/api/v1/memories/delete", {"ids": [*ids], "keys": [*keys]}, idempotency_key
        )
        return [BulkResult.model_validate(result) for result in answer.json()["results"]]

    async def restore(self, memory_id: str, *, idempotency_key: str | None = None) -> Memory:
        """Bring a memory into use again. Raises NotFound, Conflict."""
        return _memory(
            await self._post(f"/api/v1/memories/{_quoted(memory_id)}/restore", {}, idempotency_key)
        )

    # Finding.

    async def retrieve(self, query: str, **fields: Any) -> Retrieved:
        """One page of the memories that answer a query, best first."""
        body = self._scoped({"query": query, **fields})
        answer = await self._service.request("POST", "/api/v1/memories/retrieve", body=body)
        return Retrieved.model_validate(answer.json())

    async def results(self, query: str, **fields: Any) -> AsyncIterator[Result]:
        """All results of a query, best first, page after page."""
        cursor: str | None = None
        while True:
            page = await self.retrieve(
                query, **fields, **({} if cursor is None else {"cursor": cursor})
            )
            for result in page.results:
                yield result
            cursor = page.next_cursor
            if cursor is None:
                return

    async def memories(self, **query: Any) -> AsyncIterator[Memory]:
        """All memories of a list, page after page; `metadata` is a dict as in a retrieve."""
        async for memory in self._pages("/api/v1/memories", "memories", query):
            yield Memory.model_validate(memory)

    async def tags(self, prefix: str = "") -> AsyncIterator[str]:
        """All tags that begin with a prefix, in order."""
        async for tag in self._pages("/api/v1/tags", "tags", {"prefix": prefix}):
            yield str(tag)

    async def context(
        self, query: str | None = None, *, max_tokens: int | None = None, **fields: Any
    ) -> Context:
        """One text with what an agent should know before its turn. max_tokens: its length;
        None: the service's default.
        """
        given = {
            name: value
            for name, value in (("query", query), ("max_tokens", max_tokens))
            if value is not None
        }
        if fields.get("messages") is not None:
            fields["messages"] = without_bytes(fields["messages"])
        body = self._scoped({**given, **fields})
        return Context.model_validate(
            (await self._service.request("POST", "/api/v1/context", body=body)).json()
        )

    # Conversations and sessions.

    async def tell(
        self,
        messages: Sequence[Mapping[str, Any]],
        session_id: str | None = None,
        *,
        idempotency_key: str | None = None,
        **fields: Any,
    ) -> Accepted:
        """Tell a conversation, which a task forms into memories; `wait_for_task` waits for that.

        Contents of pictures and files are not sent, since the service keeps none of them.
        """
        body = {
            "messages": [without_bytes(message) for message in messages],
            **({} if session_id is None else {"session_id": session_id}),
            **fields,
        }
        return Accepted.model_validate(
            (await self._post("/api/v1/memories", body, idempotency_key)).json()
        )

    async def append(
        self,
        session_id: str,
        messages: Sequence[Mapping[str, Any]],
        *,
        idempotency_key: str | None = None,
        **fields: Any,
    ) -> Appended:
        """Append items to a session as they are; with `form=True` memories are formed
        of them too.
        """
        body = {"messages": [dict(message) for message in messages], **fields}
        return Appended.model_validate(
            (
                await self._post(
                    f"/api/v1/sessions/{_quoted(session_id)}/messages", body, idempotency_key
                )
            ).json()
        )

    async def messages(self, session_id: str, *, order: str = "asc") -> AsyncIterator[Message]:
        """All messages of a session, page after page. Raises NotFound."""
        async for message in self._pages(
            f"/api/v1/sessions/{_quoted(session_id)}/messages", "messages", {"order": order}
        ):
            yield Message.model_validate(message)

    async def take_back(
        self, session_id: str, count: int | None = None, *, idempotency_key: str | None = None
    ) -> list[Message]:
        """Take back the last messages of a session, the last turn without a count; each is given
        once, however many ask at once.
        """
        answer = await self._service.request(
            "DELETE",
            f"/api/v1/sessions/{_quoted(session_id)}/messages/last",
            query={"user_id": self.user_id, "count": count},
            idempotency_key=idempotency_key,
            writes=True,
        )
        return [Message.model_validate(message) for message in answer.json()["messages"]]

    async def clear(self, session_id: str, *, idempotency_key: str | None = None) -> int:
        """Soft-delete what a session holds; how many memories."""
        answer = await self._post(
            "/api/v1/memories/clear", {"session_id": session_id}, idempotency_key
        )
        return int(answer.json()["cleared"])

    # Forgetting, and a person's rights. Each of these calls waits for the task that it begins.

    async def forget(
        self,
        *,
        mode: str = "soft",
        dry_run: bool = False,
        timeout_s: float = 600.0,
        idempotency_key: str | None = None,
        **which: Any,
    ) -> Forgotten:
        """Forget the memories that fit all of `ids`, `types`, `tags`, `session_id` and `before`
        that are given.

        Args:
            mode: "soft", which `restore` takes back, or "hard", which is for good and takes along
                what was made of them.
            dry_run: Only count.
            timeout_s: How long to wait.
            idempotency_key: A new one where none is given.
            which: At least one of the five.

        Raises:
            Invalid: Nothing says which memories.
            TaskFailed: It was given up or cancelled.
            TimeoutError: It is still under way.

        """
        body = {"filter": self._unscoped(which), "mode": mode, "dry_run": dry_run}
        answer = (await self._post("/api/v1/forget", body, idempotency_key)).json()
        if not dry_run:
            answer = (await self.wait_for_task(answer["task_id"], timeout_s=timeout_s)).result
        return Forgotten.model_validate(answer)

    async def export(self, *, timeout_s: float = 600.0) -> AsyncIterator[bytes]:
        """Everything that is kept of the user, as parts of one file of JSON Lines.

        Raises:
            NotFound: The user is not known.
            TaskFailed: It was given up or cancelled.
            TimeoutError: The file is still being written after `timeout_s` seconds.

        """
        path = f"{self._path}/export"
        begun = (await self._service.request("POST", path, writes=True)).json()
        task = await self.wait_for_task(begun["task_id"], timeout_s=timeout_s)
        for number in range(1, (task.result or {})["parts"] + 1):
            part = await self._service.request(
                "GET", f"{path}/{_quoted(task.task_id)}", query={"part": number}
            )
            yield part.content

    async def import_file(
        self, file: BinaryIO, *, of: str = "export", timeout_s: float = 600.0
    ) -> Imported:
        """Import a file of JSON Lines.

        Args:
            file: Open in binary mode; it is read to its end.
            of: "export", whole or not at all, into a user without memories; or "conversations",
                each as `tell` takes it.
            timeout_s: How long to wait once the file is sent.

        Raises:
            Conflict: The user has something already, or work is under way.
            TaskFailed: The file was refused; the message says which line, and why.
            TimeoutError: It is still under way.

        """
        path = f"{self._path}/import"
        begun = await self._service.request("POST", path, query={"of": of}, writes=True)
        task_id = begun.json()["task_id"]
        try:
            await self._send_file(f"{path}/{_quoted(task_id)}", file)
        except Exception:
            with suppress(MemoryCoreError, TimeoutError):  # it would be in the next import's way
                await self._post(f"/api/v1/tasks/{_quoted(task_id)}/cancel", {}, None)
                await self.wait_for_task(task_id, timeout_s=30.0)
            raise
        task = await self.wait_for_task(task_id, timeout_s=timeout_s)
        return Imported.model_validate(task.result or {})

    async def erase(self, *, timeout_s: float = 1800.0) -> Erased:
        """Erase the user for good, everywhere; the receipt.

        From the begin on nothing of the user is read, and a save is a Conflict. With Cosmos DB it
        takes ten minutes at least. A key that is bound to this user is withdrawn with the rest: it
        then gets Unauthenticated in place of the receipt.

        Raises:
            Forbidden: The key has not the right.
            TimeoutError: It goes on after `timeout_s` seconds.

        """
        begun = (await self._service.request("DELETE", self._path, writes=True)).json()
        task = await self.wait_for_task(begun["task_id"], timeout_s=timeout_s)
        return Erased.model_validate(task.result)

    @property
    def _path(self) -> str:
        return f"/api/v1/users/{_quoted(self.user_id)}"

    async def _send_file(self, path: str, file: BinaryIO) -> None:
        """Send the parts of a file, and then how many these were."""
        digest, number, lines = hashlib.sha256(), 0, {"Content-Type": "application/x-ndjson"}
        while part := file.read(PART_BYTES):
            number += 1
            digest.update(part)
            await self._service.request(
                "PUT", path, content=part, query={"part": number}, headers=lines, writes=True
            )
        whole = {"parts": number, "sha256": digest.hexdigest()}
        await self._service.request("POST", f"{path}/commit", body=whole, writes=True)

    # Tasks.

    async def task(self, task_id: str) -> Task:
        """A task as it is now. Raises NotFound."""
        return Task.model_validate(
            (await self._get(f"/api/v1/tasks/{_quoted(task_id)}", {})).json()
        )

    async def wait_for_task(
        self,
        task_id: str,
        *,
        timeout_s: float = 120.0,
        first_s: float = 0.05,
        longest_s: float = 2.0,
    ) -> Task:
        """The task once it has succeeded, looked at less and less often.

        Raises:
            TaskFailed: It failed, was given up or cancelled.
            TimeoutError: It is still under way after `timeout_s` seconds.

        """
        pause, until = first_s, time.monotonic() + timeout_s
        while not (task := await self.task(task_id)).finished:
            if time.monotonic() + pause > until:
                raise TimeoutError(f"the task {task_id} is {task.status} after {timeout_s:g} s")
            await asyncio.sleep(pause)
            pause = min(2 * pause, longest_s)
        if task.status != "succeeded":
            raise TaskFailed(f"the task {task_id} is {task.status}: {task.error}")
        return task

    # How calls are sent.

    def _scoped(self, fields: Mapping[str, Any]) -> Json:
        """The fields of a call, for this user. Raises TypeError where they name one:
        fields may come from a model.
        """
        return {**self._unscoped(fields), "user_id": self.user_id}

    def _unscoped(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        if not SCOPE.isdisjoint(fields):
            raise TypeError(
                "whose memories are meant is said by `user(…)`; user_id and app_id are no fields "
                "of a call"
            )
        return fields

    async def _get(self, path: str, query: Mapping[str, Any]) -> httpx.Response:
        return await self._service.request("GET", path, query=self._scoped(query))

    async def _post(
        self, path: str, body: Mapping[str, Any], idempotency_key: str | None
    ) -> httpx.Response:
        return await self._write("POST", path, body, idempotency_key)

    async def _write(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any],
        idempotency_key: str | None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        return await self._service.request(
            method,
            path,
            body=self._scoped(body),
            headers=headers,
            idempotency_key=idempotency_key,
            writes=True,
        )

    async def _pages(self, path: str, items: str, query: Mapping[str, Any]) -> AsyncIterator[Any]:
        """The items of all pages of a list."""
        asked, cursor = _query(query), None
        while True:
            page = (await self._get(path, {"limit": 100, **asked, "cursor": cursor})).json()
            for item in page[items]:
                yield item
            cursor = page["next_cursor"]
            if cursor is None:
                return


def _memory(answer: httpx.Response) -> Memory:
    memory = Memory.model_validate(answer.json())
    memory.etag = answer.headers.get("etag")
    return memory


def _query(asked: Mapping[str, Any]) -> Json:
    """Values as a query string has them: objects as JSON, moments as ISO 8601."""
    return {
        name: _text(value) for name, value in asked.items() if value is not None and value != ""
    }


def _text(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _encoded(value).decode()
    return value.isoformat() if isinstance(value, date) else value


def _encoded(value: Mapping[str, Any]) -> bytes:
    """An object as JSON. Raises TypeError, ValueError for what JSON has nothing for."""
    return json.dumps(
        dict(value), default=_json_value, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    ).encode()


def _json_value(value: Any) -> Any:
    """How JSON writes a value that it has no type for: ISO 8601 for a moment."""
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} can't be sent as JSON")


def _quoted(name: str) -> str:
    """A name as one step of a path. Raises ValueError for one that would lead elsewhere."""
    if name in ("", ".", ".."):
        raise ValueError("an id or a key may not be empty, nor dots alone")
    return "".join(
        character if character.isalnum() and character.isascii() else _percent(character)
        for character in name
    )


def _percent(character: str) -> str:
    return (
        "".join(f"%{byte:02X}" for byte in character.encode())
        if character not in "-_.~"
        else character
    )


def _json(answer: httpx.Response) -> Any:
    try:
        return answer.json()
    except ValueError:
        return None
