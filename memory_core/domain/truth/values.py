"""Which slot a memory belongs to, and by what the values of one slot are compared.

Note: a log keeps hashes of values, salted in the document of its slot, so values that are the same must have the same form.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import orjson

from memory_core.domain.endings import ENDS_ANYTHING, is_ending, without_articles
from memory_core.domain.models import Memory, MemoryType
from memory_core.domain.sameness import normalised
from memory_core.domain.slots import slot_of

SlotName = tuple[str, ...]
"""("slot", subject, attribute) or ("key", key)."""
_HASH_BYTES = 9


def slot_name(memory: Memory) -> SlotName | None:
    """The slot that a memory is a member of; None for one that is alone in its own.

    A copy of a procedure for another agent has the key too, and is no value of it.
    """
    if memory.type is MemoryType.PROCEDURAL and memory.key is not None and memory.copied_from is None:
        return "key", memory.key
    slot = slot_of(memory) if memory.type is MemoryType.SEMANTIC else None
    return None if slot is None else ("slot", *slot)


def value_form(memory: Memory) -> str | None:
    """What makes two statements of a slot the same; of a retraction the form of the value that it names, None for whatever held.

    Case and articles do not matter. A procedure is what it says, to the letter. A copy for another agent says it for that one, so that it
    is no repeat of what it is a copy of.
    """
    form = _form(memory)
    return form if form is None or memory.copied_from is None else f"{form} for {memory.agent_id}"


def _form(memory: Memory) -> str | None:
    if memory.type is MemoryType.PROCEDURAL:
        return f"p {_json(memory.value)} {memory.content.strip()}"
    if is_ending(memory):
        return None if memory.value == ENDS_ANYTHING else form_of_value(next(iter(memory.value.values())))
    return form_of_text(memory.content) if memory.value is None else form_of_value(memory.value)


def form_of_value(value: Any) -> str:
    """The form of a value that is given as such."""
    return f"v {without_articles(value if isinstance(value, str) else _json(value))}"


def form_of_text(content: str) -> str:
    """The form of a memory that has no value but its words."""
    return f"c {normalised(content)}"


def hashed(form: str, salt: str) -> str:
    """What a log keeps of a form."""
    return blake2b(form.encode(), digest_size=_HASH_BYTES, key=bytes.fromhex(salt)).hexdigest()


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
