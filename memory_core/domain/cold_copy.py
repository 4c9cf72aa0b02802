"""What a cold copy holds, and its bytes: the memories of one chain, whole, with their vectors and their old versions.

Bytes: gzip of canonical JSON, so the same copy always has the same bytes. What is found by words (`lexical`, `search_text`) is left
out: it stays with the stub, and it may hold words of neighbouring turns, which are nothing of this chain's. Note: a
compressed memory is short text here too; what it was before is its `original`.
"""

from __future__ import annotations

import base64
import gzip
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
from pydantic import ValidationError

from memory_core.domain.described import described
from memory_core.domain.errors import PlainError
from memory_core.domain.models import Memory, Vector

FORMAT = 1
LEFT_OUT = frozenset({"lexical", "search_text"})
COMPRESSION = 6


@dataclass(frozen=True, slots=True)
class Kept:
    """One memory as it was, its old versions, and for a compressed one the original. Each has its vector, where it had one."""

    memory: Memory
    versions: tuple[Memory, ...] = ()
    original: Memory | None = None

    @property
    def whole(self) -> Memory:
        """The memory with its full text: the original where it was compressed."""
        return self.original or self.memory


@dataclass(frozen=True, slots=True)
class ColdCopy:
    """The memories of one chain (or one memory before it was compressed), all of one owner and epoch. chain_id: the last one's id."""

    epoch: str
    chain_id: str
    members: tuple[Kept, ...]

    @property
    def revision(self) -> int:
        """The sequence of the last event that any of the members had."""
        return max(one.memory.revision for one in self.members)

    @property
    def ids(self) -> tuple[str, ...]:
        """The members' ids, that of the chain first."""
        return (self.chain_id, *sorted(one.memory.id for one in self.members if one.memory.id != self.chain_id))

    def member(self, memory_id: str) -> Kept | None:
        """The member of this id."""
        return next((one for one in self.members if one.memory.id == memory_id), None)

    def memory(self, memory_id: str) -> Memory | None:
        """A member, or an old version of one (`mem_x.v2`), by its id."""
        every = (one for kept in self.members for one in (kept.memory, *kept.versions))
        return next((one for one in every if one.id == memory_id), None)


def encoded(copy: ColdCopy) -> bytes:
    """The copy's bytes."""
    body = {
        "format": FORMAT,
        "epoch": copy.epoch,
        "chain_id": copy.chain_id,
        "members": [
            {
                "memory": _body(one.memory),
                "versions": [_body(version) for version in one.versions],
                "original": None if one.original is None else _body(one.original),
            }
            for one in copy.members
        ],
    }
    return gzip.compress(orjson.dumps(body, option=orjson.OPT_SORT_KEYS), COMPRESSION, mtime=0)


def decoded(data: bytes) -> ColdCopy:
    """The copy in these bytes. ValueError when they hold none that this code can read."""
    try:
        body = orjson.loads(gzip.decompress(data))
        if body["format"] != FORMAT:
            raise PlainError(f"is of another format; this version reads {FORMAT}")
        members = tuple(
            Kept(
                _memory(one["memory"]),
                tuple(_memory(version) for version in one["versions"]),
                None if one["original"] is None else _memory(one["original"]),
            )
            for one in body["members"]
        )
        return ColdCopy(body["epoch"], body["chain_id"], members)
    except (OSError, EOFError, zlib.error, KeyError, TypeError, ValidationError) as error:
        raise PlainError(f"is not a cold copy: {described(error)}") from error


def _body(memory: Memory) -> dict[str, Any]:
    body = memory.model_dump(mode="json", exclude=set(LEFT_OUT))
    vector = memory.embedding
    body["embedding"] = None if vector is None else base64.b64encode(np.ascontiguousarray(vector, dtype="<f4").tobytes()).decode()
    return body


def _memory(body: Mapping[str, Any]) -> Memory:
    memory = Memory.model_validate({name: value for name, value in body.items() if name != "embedding"})
    memory.embedding = _vector(body["embedding"])
    return memory


def _vector(text: str | None) -> Vector | None:
    return None if text is None else np.frombuffer(base64.b64decode(text), dtype="<f4").astype(np.float32)
