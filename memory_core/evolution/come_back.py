"""A value of a key that was deleted, taken away by an undo, or has faded, comes back to its place in time.

One would get wrong: who brings it back does not say that it holds now. What was told after it and stands makes it history again; only an
undo, which is asked of history, lets what was told since fall.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memory_core.domain.lifecycle import TRUE_ONCE
from memory_core.domain.models import Memory, Status
from memory_core.evolution.apart import set_apart
from memory_core.evolution.key_line import alive, standing
from memory_core.evolution.old_versions import Versions
from memory_core.evolution.page import Page
from memory_core.evolution.truth_line import joined
from memory_core.evolution.versions import holding_again, with_versions
from memory_core.ledger.changes import Change
from memory_core.ports import Document


def come_back(page: Page, memory: Memory, truths: Sequence[Memory], reason: str) -> None:
    """Put it onto the page among the other `truths` of its key, past and fallen ones too, as if it had been told late.

    One that was history when it was deleted stays that where nothing stands. Raises LookedElsewhere for versions that were not read.
    """
    older, said = Versions(page.look, page.asked, page.puts), {"reason": reason}
    taken_away = memory.status is Status.DELETED and memory.status_reason in TRUE_ONCE
    back = _active(memory, page, reason)
    if taken_away:
        back = back.model_copy(update={"next_id": None, "valid_until": None})
    versions = [version for one in truths for version in page.versions(one, since=back.event_timestamp)]
    placed, changes = joined(back, (*alive(truths), *versions), page.now)
    if placed.status is Status.ACTIVE and back.next_id is not None and not standing(truths):
        placed, changes = back.model_copy(update={"status": Status.SUPERSEDED, "status_reason": "contradicted"}), []
    elif placed.status is Status.ACTIVE:
        placed = placed.model_copy(update={"next_id": None, "valid_until": None if back.next_id is not None else back.valid_until})
    if placed.status is Status.ACTIVE:
        page.apply([Change("restored", placed, memory, said), *changes])
    else:
        page.apply([Change("restored", back, memory, said), Change("superseded", placed, back), *changes])
    if taken_away:
        puts = list[Document]()
        page.changes[0] = with_versions(page.changes[0], holding_again(placed, (), older), puts)
        page.puts |= {one.id: one for one in puts}
    set_apart(page, truths)


def _active(memory: Memory, page: Page, reason: str) -> Memory:
    # Who brings it back looks at it: it would else fade again within the hour.
    fields: dict[str, Any] = {"status": Status.ACTIVE, "status_reason": "restored", "change_reason": reason}
    return memory.model_copy(update={**fields, "updated_at": page.now, "last_accessed_at": page.now})
