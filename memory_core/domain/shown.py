"""A memory on its way out: the JSON that the API shows, and the memory behind it only for those who look.

A query's ten results would else be parsed, checked and written again, which took a third of a retrieve, to say what the store
already holds as text.
"""

from __future__ import annotations

import orjson
from pydantic import ValidationError

from memory_core.domain.errors import damaged_memory
from memory_core.domain.models import Memory


class Shown:
    """`json`: the memory as `Memory.public` shows it. `rest`: the internal fields, as JSON too, from which `memory` is completed.

    memory_id: names what can't be read.
    """

    __slots__ = ("_memory", "_memory_id", "_rest", "json")

    def __init__(self, json: bytes, rest: bytes = b"{}", memory: Memory | None = None, *, memory_id: str = "") -> None:
        self.json = json
        self._rest = rest
        self._memory = memory
        self._memory_id = memory_id

    @classmethod
    def of(cls, memory: Memory) -> Shown:
        """A memory that is at hand anyway."""
        return cls(orjson.dumps(memory.public()), memory=memory)

    @property
    def is_json(self) -> bool:
        """Whether what is to be shown is JSON at all: what a store keeps may be damaged."""
        try:
            orjson.loads(self.json)
        except orjson.JSONDecodeError:
            return False
        return True

    @property
    def memory(self) -> Memory:
        """The memory itself, without its vector where it came from a store. Raises Damaged."""
        if self._memory is None:
            try:
                self._memory = Memory.model_validate({**orjson.loads(self.json), **orjson.loads(self._rest)})
            except (orjson.JSONDecodeError, ValidationError) as error:
                raise damaged_memory(self._memory_id) from error
        return self._memory
