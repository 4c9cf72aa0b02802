"""A memory on its way out, as the JSON that the API shows.

The memory behind it is there only for those who look. A query's ten results would else be parsed,
checked and written again, which took a third of a retrieve, to say what the store already holds as
text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from pydantic import ValidationError

from memory_core.domain.errors import damaged_memory
from memory_core.domain.memory import Memory


class SerializedMemory:
    """A memory on its way out: the JSON that the API shows.

    The `Memory` object is built when a caller first asks for it. `json` is the memory as
    `Memory.public` shows it.

    The constructor takes `rest`, the internal fields as JSON that complete the memory, and
    `memory_id`, the id that an error names when the memory can't be read.
    """

    __slots__ = ("_fields", "_memory", "_memory_id", "_rest", "json")

    def __init__(
        self, json: bytes, rest: bytes = b"{}", memory: Memory | None = None, *, memory_id: str = ""
    ) -> None:
        self.json = json
        self._fields: Mapping[str, Any] | None = None
        self._rest = rest
        self._memory = memory
        self._memory_id = memory_id

    @classmethod
    def of(cls, memory: Memory) -> SerializedMemory:
        """Serialize a memory that is in hand already."""
        return cls(orjson.dumps(memory.public()), memory=memory)

    @property
    def fields(self) -> Mapping[str, Any]:
        """The public fields, parsed once. Raises JSONDecodeError for damaged JSON."""
        if self._fields is None:
            self._fields = orjson.loads(self.json)
        return self._fields

    @property
    def is_json(self) -> bool:
        """Whether the public fields are valid JSON; a stored document may be damaged."""
        try:
            return self.fields is not None
        except orjson.JSONDecodeError:
            return False

    @property
    def sequence(self) -> int:
        """The memory's sequence, which `json` lacks. Raises KeyError or JSONDecodeError."""
        if self._memory is not None:
            return self._memory.sequence
        sequence: int = orjson.loads(self._rest)["sequence"]
        return sequence

    @property
    def memory(self) -> Memory:
        """The memory itself, without its vector where it came from a store.

        Raises Damaged when the memory can't be read.
        """
        if self._memory is None:
            try:
                self._memory = Memory.model_validate({**self.fields, **orjson.loads(self._rest)})
            except (orjson.JSONDecodeError, ValidationError) as error:
                raise damaged_memory(self._memory_id) from error
        return self._memory
