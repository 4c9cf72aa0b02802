"""Slots, and a small record of which ones an owner has ever filled.

A slot is the (subject, attribute) that a truth fills. The record is a Bloom filter in the owner's head, so that a decision about a new
truth knows, before it asks the store, whether there can be older ones. Note: a mark says "perhaps", its absence says "never"; marks are not
taken back, since a slot that was emptied has a past.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable
from hashlib import blake2b

from memory_core.domain.models import Memory
from memory_core.domain.normal_form import normal_form
from memory_core.domain.sameness import normalised

Slot = tuple[str, str]

BITS = 8192
"""1 KB, 1.4 as text. Of slots never filled it takes 0.2 % for filled after 500 slots, 2 % after 1,000, 15 % after 2,000 (then the
store is asked one query more): (1 − e^(−HASHES·n / BITS))^HASHES, Bloom 1970."""
HASHES = 4


def slot_of(memory: Memory) -> Slot | None:
    """The slot a memory fills: (subject, attribute), folded; None when it fills none."""
    if memory.subject is None or memory.attribute is None:
        return None
    return folded(memory.subject), folded(memory.attribute)


def folded(name: str) -> str:
    """A subject or an attribute as slots compare it: without case, and the same however its letters are composed ("ë", "e" and "¨")."""
    return normal_form("NFC", normal_form("NFC", name).casefold())


def same_value(one: Memory, other: Memory) -> bool:
    """Whether two of a slot say the same: by their values where one has any, else by their words."""
    if one.value is not None or other.value is not None:
        return bool(one.value == other.value)
    return normalised(one.content) == normalised(other.content)


def marked(marks: str, slot: Slot) -> bool:
    """Whether the slot may have been filled. False is certain."""
    bits = _bits(marks)
    return all(bits >> place & 1 for place in _places(slot))


def with_marks(marks: str, slots: Iterable[Slot]) -> str:
    """The marks, with those of further slots; the same text when they bring nothing new. No marks at all are ""."""
    before = bits = _bits(marks)
    for slot in slots:
        for place in _places(slot):
            bits |= 1 << place
    return marks if bits == before else b64encode(bits.to_bytes(BITS // 8, "little")).decode()


def _bits(marks: str) -> int:
    return int.from_bytes(b64decode(marks), "little")


def _places(slot: Slot) -> list[int]:
    subject, attribute = (part.encode() for part in slot)
    # The length keeps ("ab", "c") and ("a", "bc") apart.
    digest = blake2b(b"%d:%b%b" % (len(subject), subject, attribute), digest_size=2 * HASHES).digest()
    return [int.from_bytes(digest[at : at + 2], "little") % BITS for at in range(0, 2 * HASHES, 2)]
