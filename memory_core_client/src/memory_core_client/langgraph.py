"""LangGraph: a `BaseStore`, and two nodes that recall and remember.
`pip install 'memory-core-client[langgraph]'`.

An item of the store is a procedural memory: a hash of namespace and key is its key, its namespace
and all that this lies in are its tags, the fields that filters compare are its metadata. The
service searches, filters and lists; nothing of that is done here.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby, islice
from typing import Any, Literal

from memory_core_client.messages import portions, sendable
from memory_core_client.models import Memory
from memory_core_client.sync_client import MemoryCore, User

try:
    from langchain_core.messages import messages_to_dict
    from langchain_core.runnables import RunnableConfig
    from langgraph.graph import MessagesState
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        IndexConfig,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        get_text_at_path,
        validate_op_namespace,
    )
except ImportError as error:
    raise ImportError(
        "memory_core_client.langgraph needs LangGraph: pip install 'memory-core-client[langgraph]'"
    ) from error

Json = dict[str, Any]
Namespace = tuple[str, ...]
CATEGORY = "langgraph"
"""Of the memories that are items."""
AT_ONCE = 100
"""Memories of one call."""
COMPARED = 500
"""Characters of a text that filters compare."""
CONTENT_BYTES = 32 * 1024
"""Of an item's text that is searched."""
QUERY_CHARACTERS = 10_000
"""Of a query that is looked for."""
NOTHING = {"gt": 0, "lt": 0}
"""A condition that no value meets."""
OPEN = {"answer_threshold": 0, "similarity_threshold": 0}
"""A store's search ranks, and does not decide whether there is an answer."""
_FIELD = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
SHOWN = "value,metadata,created_at,updated_at"


# Nodes.


class MemoryState(MessagesState):
    """The state of a graph with both nodes: its messages, and what is known for the coming call
    of the model.
    """

    context: str


class MemoryNodes:
    """`recall` before the model and `remember` after it, for the user and thread that
    `config["configurable"]` names.
    """

    def __init__(
        self,
        service: MemoryCore,
        *,
        user_key: str = "user_id",
        context_messages: int = 20,
        saved_messages: int = 200,
        max_tokens: int | None = None,
    ) -> None:
        """Build the nodes.

        Args:
            service: Where the memories are.
            user_key: Whose memories, by the name that this has in `config["configurable"]`.
            context_messages: How many of the thread's last messages the context is made for.
            saved_messages: How many of the thread's last messages are sent after a turn. The
                service recognises those that it has.
            max_tokens: Length of a context, 100 to 16,000; the service's default where
                there is none.

        """
        self._service, self._user_key, self._max_tokens = service, user_key, max_tokens
        self._context_messages, self._saved_messages = context_messages, saved_messages

    def recall(self, state: Mapping[str, Any], config: RunnableConfig) -> Json:
        """`context`: what to know of the user beside what is in the thread."""
        thread = str(config["configurable"]["thread_id"])
        messages = sendable(_dated(messages_to_dict(state["messages"][-self._context_messages :])))
        running = {"session_id": thread, "exclude_session_id": thread}
        answer = self._user(config).context(
            messages=messages or None, max_tokens=self._max_tokens, **running
        )
        return {"context": answer.context}

    def remember(self, state: Mapping[str, Any], config: RunnableConfig) -> Json:
        """Tell the thread, of which only what is new is stored; memories are formed of it in
        the background.
        """
        messages = sendable(_dated(messages_to_dict(state["messages"][-self._saved_messages :])))
        if messages:
            self._user(config).tell(messages, str(config["configurable"]["thread_id"]))
        return {}

    def _user(self, config: RunnableConfig) -> User:
        return self._service.user(config["configurable"][self._user_key])


def _dated(dumps: Sequence[Json]) -> list[Json]:
    """The messages, each with the `timestamp` of its `additional_kwargs` where that is a moment;
    without one it is of now.
    """
    return [dump | {"data": dump["data"] | _moment_of(dump["data"])} for dump in dumps]


def _moment_of(data: Json) -> Json:
    value = (data.get("additional_kwargs") or {}).get("timestamp")
    try:
        moment = (
            value
            if isinstance(value, datetime)
            else datetime.fromisoformat(value)
            if isinstance(value, str)
            else None
        )
    except ValueError:
        moment = None
    return {} if moment is None or moment.tzinfo is None else {"timestamp": moment.isoformat()}


# The store.


class MemoryCoreStore(BaseStore):
    """The items of one user of the service."""

    __slots__ = ("_filtered", "_score", "_user", "index_config")

    def __init__(
        self,
        user: User,
        *,
        index: IndexConfig | None = None,
        filtered: Sequence[str] | None = None,
        score: Literal["similarity_score", "relevance_score"] = "similarity_score",
    ) -> None:
        """Build the store.

        Args:
            user: Whose memories the items are: of an agent, or of a person.
            index: Its `fields` are searched where a `put` names none; the service embeds them, so
                `embed` and `dims` are not used.
            filtered: The fields at the top of a value that filters compare; all by default.
            score: What `score` of a result is: the cosine, which LangGraph's own stores tell, or
                the relevance that results are ordered by.

        """
        self._user, self.index_config, self._filtered, self._score = user, index, filtered, score

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the operations in order; neighbours of one kind together."""
        asked = list(ops)
        for op in asked:
            validate_op_namespace(op)
        return [
            result
            for kind, group in groupby(asked, type)
            for result in self._of_kind(kind, list(group))
        ]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """`batch`, in a thread."""
        return await asyncio.to_thread(self.batch, ops)

    def _of_kind(self, kind: type[Any], ops: list[Any]) -> list[Result]:
        if kind is GetOp:
            return self._get(ops)
        if kind is PutOp:
            return self._put(ops)
        if kind is SearchOp:
            return [self._search(op) for op in ops]
        if kind is ListNamespacesOp:
            return [self._namespaces(op) for op in ops]
        raise ValueError(f"an operation {kind.__name__} is not known")

    def _get(self, ops: list[GetOp]) -> list[Result]:
        names = [name_of(op.namespace, op.key) for op in ops]
        memories_by_key = {
            memory.key: memory
            for some in portions(names, AT_ONCE)
            for memory in self._user.get_many(keys=some, view="full").memories
        }
        return [_item(memories_by_key[name]) if name in memories_by_key else None for name in names]

    def _put(self, ops: list[PutOp]) -> list[Result]:
        last = {name_of(op.namespace, op.key): op for op in ops}
        gone = [name for name, op in last.items() if op.value is None]
        for memories in portions(
            [self._memory(name, op) for name, op in last.items() if op.value is not None], AT_ONCE
        ):
            refused = [result.problem for result in self._user.save_many(memories) if not result.ok]
            if refused:
                raise ValueError(
                    f"{len(refused)} of {len(memories)} items were not stored: "
                    f"{(refused[0] or {}).get('detail')}"
                )
        for names in portions(gone, AT_ONCE):
            self._user.delete_many(keys=names)
        return [None] * len(ops)

    def _memory(self, name: str, op: PutOp) -> Json:
        value = dict(op.value or {})
        texts = [] if op.index is False else self._texts(value, op.index)
        compared = {
            field: value[field]
            for field in (value if self._filtered is None else self._filtered)
            if field in value
        }
        return {
            "type": "procedural",
            "key": name,
            "value": value,
            "content": _within("\n".join(texts), CONTENT_BYTES) if texts else name,
            "searchable": bool(texts),
            "category": CATEGORY,
            "tags": tags_of(op.namespace),
            "metadata": {"namespace": [*op.namespace], "key": op.key, "item": comparable(compared)},
        }

    def _texts(self, value: Json, fields: Sequence[str] | None) -> list[str]:
        paths = fields or (self.index_config or {}).get("fields") or ["$"]
        return [text for path in paths for text in get_text_at_path(value, path) if text.strip()]

    def _search(self, op: SearchOp) -> list[SearchItem]:
        where = conditions_of(op.filter or {})
        fields: Json = {
            "limit": min(op.limit + op.offset, AT_ONCE),
            **({"metadata": where} if where else {}),
        }
        tag = tag_of(op.namespace_prefix) if op.namespace_prefix else None
        if op.limit < 1:
            return []
        query = (op.query or "").strip()[:QUERY_CHARACTERS]
        if not query:
            listed = self._user.memories(category=CATEGORY, tag=tag, fields=SHOWN, **fields)
            return [_searched(memory) for memory in islice(listed, op.offset, op.offset + op.limit)]
        fields |= {
            "categories": [CATEGORY],
            "view": "full",
            **OPEN,
            **({"tags": [tag]} if tag else {}),
        }
        results = self._user.results(query, **fields)
        return [
            _searched(result.memory, getattr(result, self._score))
            for result in islice(results, op.offset, op.offset + op.limit)
        ]

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        fixed = [
            condition.path
            for condition in conditions
            if condition.match_type == "prefix" and "*" not in condition.path
        ]
        tags = self._user.tags(prefix=f"in {tag_of(fixed[0])}" if fixed else "in ns:")
        every = {tuple(tag.removeprefix("in ns:").split(".")) for tag in tags}
        fitting = {
            namespace[: op.max_depth]
            for namespace in every
            if all(fits(condition, namespace) for condition in conditions)
        }
        return sorted(fitting)[op.offset : op.offset + op.limit]


# How items are told.


def name_of(namespace: Namespace, key: str) -> str:
    """The key of an item's memory."""
    return hashlib.sha256("\0".join((*namespace, key)).encode()).hexdigest()


def tag_of(namespace: Namespace) -> str:
    """The tag of a namespace; no label has a dot in it."""
    return f"ns:{'.'.join(namespace)}"


def tags_of(namespace: Namespace) -> list[str]:
    """The namespace that an item is in, and each that this lies in."""
    return [
        f"in {tag_of(namespace)}",
        *(tag_of(namespace[:length]) for length in range(1, len(namespace) + 1)),
    ]


def comparable(value: Any) -> Any:
    """What filters compare: scalars, those of objects within, and lists as their JSON.
    Long texts and NaN are left out.
    """
    if isinstance(value, Mapping):
        return {
            name: scalar
            for name, field in value.items()
            if (scalar := comparable(field)) is not None
        }
    text = json.dumps(value) if isinstance(value, list | tuple) else value
    if isinstance(text, str):
        return text.replace("\0", "\ufffd") if len(text) <= COMPARED else None
    return None if isinstance(text, float) and not math.isfinite(text) else text


def conditions_of(asked: Mapping[str, Any], path: str = "item") -> Json:
    """A filter in the service's words: `{"a": {"$gt": 1}}` as `{"item.a": {"gt": 1}}`,
    objects by dotted paths.
    """
    conditions: Json = {}
    for name, wanted in asked.items():
        if not _FIELD.fullmatch(name):
            raise ValueError(
                f"Invalid filter key: {name!r} has other characters than letters, digits, _, - and "
                "dots between names"
            )
        field = f"{path}.{name}"
        if isinstance(wanted, Mapping) and not any(key.startswith("$") for key in wanted):
            conditions |= conditions_of(wanted, field)
        elif isinstance(wanted, Mapping):
            bounds = {
                operator.removeprefix("$"): bound
                for operator, bound in wanted.items()
                if not (operator == "$ne" and is_nan(bound))
            }
            if any(map(is_nan, bounds.values())):
                conditions[field] = NOTHING
            elif bounds:
                conditions[field] = {
                    operator: bound_of(bound) for operator, bound in bounds.items()
                }
        else:
            conditions[field] = NOTHING if is_nan(wanted) else bound_of(wanted)
    return conditions


def bound_of(value: Any) -> Any:
    """A value to compare with, as `comparable` keeps it; numbers beyond what the service compares
    as its largest.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value if abs(value) <= 2**53 else math.copysign(2**53, value)
    return comparable(value) if not isinstance(value, str) else value.replace("\0", "\ufffd")


def is_nan(value: Any) -> bool:
    """Whether a value is NaN, which no value equals, is below or above."""
    return isinstance(value, float) and math.isnan(value)


def fits(condition: MatchCondition, namespace: Namespace) -> bool:
    """Whether a namespace begins or ends with a path; `*` stands for any label."""
    path = condition.path
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return len(part) == len(path) and all(
        wanted in ("*", label) for wanted, label in zip(path, part, strict=True)
    )


def _item(memory: Memory) -> Item:
    return Item(**_fields(memory))


def _searched(memory: Memory, score: float | None = None) -> SearchItem:
    return SearchItem(**_fields(memory), score=score)


def _fields(memory: Memory) -> Json:
    extra = memory.model_extra or {}
    times = {name: str(extra[name]).replace("Z", "+00:00") for name in ("created_at", "updated_at")}
    return {
        "namespace": tuple(memory.metadata["namespace"]),
        "key": memory.metadata["key"],
        "value": memory.value,
        **times,
    }


def _within(text: str, most: int) -> str:
    return text.encode()[:most].decode(errors="ignore")
