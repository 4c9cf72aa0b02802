"""What adapters of agent frameworks do with this API: a session of items, and a store of items in namespaces, in a few lines each.

`HttpSession` has the calls of the OpenAI Agents SDK's `Session`, `HttpStore` those of LangGraph's `BaseStore`, without either package.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

Item = dict[str, Any]
Namespace = tuple[str, ...]
PAGE = 100


@dataclass(frozen=True, slots=True)
class HttpSession:
    """A session of one user."""

    client: httpx.Client
    user: str
    name: str

    @property
    def _path(self) -> str:
        return f"/api/v1/sessions/{self.name}/messages"

    def get_items(self, limit: int | None = None) -> list[Item]:
        """The last `limit` items, or all, the oldest first."""
        items: list[Item] = []
        cursor: str | None = None
        while limit is None or len(items) < limit:
            most = PAGE if limit is None else min(PAGE, limit - len(items))
            query = {"user_id": self.user, "order": "desc", "limit": str(most), **({"cursor": cursor} if cursor else {})}
            answer = self.client.get(self._path, params=query)
            if answer.status_code == 404:
                return []
            page = _read(answer)
            items += [as_sent(message) for message in page["messages"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        return items[::-1]

    def add_items(self, items: Sequence[Item]) -> None:
        """Append items in order."""
        _read(self.client.post(self._path, json={"user_id": self.user, "messages": [*items]}))

    def pop_item(self) -> Item | None:
        """Take the last item out."""
        answer = self.client.delete(f"{self._path}/last", params={"user_id": self.user, "count": "1"})
        if answer.status_code == 404:
            return None
        messages = _read(answer)["messages"]
        return as_sent(messages[0]) if messages else None

    def clear_session(self) -> None:
        """Take all items out."""
        _read(self.client.post("/api/v1/memories/clear", json={"user_id": self.user, "session_id": self.name}))


def as_sent(message: Mapping[str, Any]) -> Item:
    """The item that a message was appended as."""
    return message.get("sent") or {"role": message["role"], "content": message["content"]}


@dataclass(frozen=True, slots=True)
class HttpStore:
    """A store of one user: an item is a procedural memory; its namespace, and each that this lies in, is a tag of it."""

    client: httpx.Client
    user: str

    def put(self, namespace: Namespace, key: str, value: Item | None, *, index: bool = True) -> None:
        """Keep a value, or take it out (None). What filters look at is kept as metadata."""
        if value is None:
            _read(self.client.post("/api/v1/memories/delete", json={"user_id": self.user, "keys": [key_of(namespace, key)]}))
            return
        plain = {name: field for name, field in value.items() if isinstance(field, str | int | float) and len(str(field)) <= COMPARED}
        place = {"namespace": [*namespace], "key": key}
        fields = {"type": "procedural", "key": key_of(namespace, key), "value": value, "searchable": index, "tags": _tags(namespace)}
        body = {"user_id": self.user, **fields, "metadata": {**plain, "place": place}, "category": "store"}
        _read(self.client.post("/api/v1/memories/save", json=body))

    def get(self, namespace: Namespace, *keys: str) -> list[Item | None]:
        """The values of some keys of a namespace."""
        body = {"user_id": self.user, "keys": [key_of(namespace, key) for key in keys]}
        memories = _read(self.client.post("/api/v1/memories/get", json=body))["memories"]
        values = {memory["key"]: memory["value"] for memory in memories}
        return [values.get(name) for name in body["keys"]]

    def search(
        self, prefix: Namespace, query: str | None = None, where: Item | None = None, limit: int = 10
    ) -> list[tuple[Namespace, str]]:
        """Namespace and key of the items under a prefix that a filter fits: those that answer the query, or all, newest first."""
        return [(tuple(found["namespace"]), found["key"]) for found in self._search(prefix, query, where, limit)]

    def _search(self, prefix: Namespace, query: str | None, where: Item | None, limit: int) -> Iterator[Item]:
        cursor, left = None, limit
        tags = [tag_of(prefix)] if prefix else []
        while left > 0:
            asked: Item = {"user_id": self.user, "limit": min(left, PAGE), **({"metadata": where} if where else {})}
            asked |= {"cursor": cursor} if cursor else {}
            if query is not None:
                body = {**asked, "query": query, **({"tags": tags} if tags else {}), "categories": ["store"], **OPEN}
                page = _read(self.client.post("/api/v1/memories/retrieve", json=body))
                memories = [result["memory"] for result in page["results"]]
            else:
                text = {**asked, "category": "store", "fields": "metadata", **({"tag": tags[0]} if tags else {})}
                page = _read(self.client.get("/api/v1/memories", params=_as_query(text)))
                memories = page["memories"]
            yield from (memory["metadata"]["place"] for memory in memories)
            left, cursor = left - len(memories), page["next_cursor"]
            if cursor is None:
                return

    def list_namespaces(self, prefix: Namespace = ()) -> list[Namespace]:
        """The namespaces that have items, under a prefix."""
        query = {"user_id": self.user, "prefix": f"in {tag_of(prefix)}" if prefix else "in ns:"}
        tags = _read(self.client.get("/api/v1/tags", params=query))["tags"]
        return [tuple(tag.removeprefix("in ns:").split("/")) for tag in tags]


COMPARED = 500
"""Characters of a field that a filter compares."""
OPEN = {"answer_threshold": 0, "similarity_threshold": 0}
"""A store's search ranks; it does not decide whether anything is an answer."""


def tag_of(namespace: Namespace) -> str:
    """The tag of a namespace."""
    return f"ns:{'/'.join(namespace)}"


def _tags(namespace: Namespace) -> list[str]:
    """The namespace that an item is in, and all that this lies in."""
    return [f"in {tag_of(namespace)}", *(tag_of(namespace[:length]) for length in range(1, len(namespace) + 1))]


def key_of(namespace: Namespace, key: str) -> str:
    """A key of at most 200 characters for an item of a namespace."""
    return hashlib.sha256("\0".join((*namespace, key)).encode()).hexdigest()


def _as_query(asked: Item) -> dict[str, str]:
    return {name: httpx.Response(200, json=value).text if isinstance(value, dict) else str(value) for name, value in asked.items()}


def _read(answer: httpx.Response) -> Any:
    assert answer.status_code < 300, answer.text
    return answer.json()
