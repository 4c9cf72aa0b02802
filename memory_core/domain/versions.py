"""Old versions of a memory: how they are named, and what a new version makes of those before it.

Note: an old version's validity is not only ended by the one that follows it. A correction may begin earlier than several
versions before it, and then it ends them all; so at any moment at most one version of a memory holds.
"""

from __future__ import annotations

from datetime import datetime

from memory_core.domain.lifecycle import TRUE_ONCE
from memory_core.domain.models import Memory, Status

VERSIONS = "versions"
"""In the metadata of an event: by their numbers, the fields of old versions of the memory that change with it."""


def version_id(memory_id: str, version: int) -> str:
    """The document id of an old version."""
    return f"{memory_id}.v{version}"


def base_id(memory_id: str) -> str:
    """The memory's own id, of it or of one of its versions."""
    return memory_id.rsplit(".v", 1)[0]


def is_version(memory_id: str) -> bool:
    """Whether this is the id of an old version."""
    return memory_id != base_id(memory_id)


def kept_version(old: Memory, begins: datetime) -> Memory:
    """What is kept of a memory as it was before its next version, which is valid from `begins`.

    One that was deleted stays that: a look back in time must not bring it up again.
    """
    until = max(begins, old.valid_from)
    return old.model_copy(
        update={
            "id": version_id(old.id, old.version),
            **({} if old.status is Status.DELETED else {"status": Status.SUPERSEDED, "status_reason": "new_version"}),
            "next_id": old.id,
            "valid_until": until if old.valid_until is None else min(old.valid_until, until),
        }
    )


def cut_short(version: Memory, begins: datetime) -> Memory | None:
    """A version before the last one as it is once another is valid from `begins`; None when that changes nothing."""
    until = max(begins, version.valid_from)
    if version.valid_until is not None and version.valid_until <= until:
        return None
    return version.model_copy(update={"valid_until": until})


def taken_back(memory: Memory | None) -> bool:
    """Whether a memory was deleted, cleared or forgotten: then its old versions are not shown either, whatever time is looked at."""
    return memory is None or (memory.status is Status.DELETED and memory.status_reason not in TRUE_ONCE)


def is_of_its_life(version: Memory, memory: Memory | None) -> bool:
    """Whether a read of an earlier time may show this version.

    It may where its memory was not taken back, nor deleted and created again since.
    """
    return memory is not None and not taken_back(memory) and version.created_at == memory.created_at
