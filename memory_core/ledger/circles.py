"""Chains end: no commit leads a memory, along `next_id`, back to itself.

Whoever sets a `next_id` has reasons why that can't happen, most of them about times; here it is looked at, whatever the reasons were. One
would get wrong: looking costs next to nothing. Nearly always the successor is new, or was read for the decision, so the walk ends in what
is known; only where it does not is something read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from memory_core.domain.errors import Conflict, HeadMoved
from memory_core.domain.scope import Owner
from memory_core.domain.versions import is_version
from memory_core.ledger.changes import Changes, Result
from memory_core.ports import Document, LongTermStore

MAX_STEPS = 200
"""How far a chain is followed; the walks that answer callers end earlier."""


async def without_circles(
    store: LongTermStore, owner: Owner, changes: Changes[Result], documents: Mapping[str, Document], sequence: int
) -> Changes[Result]:
    """The changes, resting on all that was walked over besides: whoever changes that voids the decision.

    documents: what was read for the decision, at this sequence. Raises Conflict where a memory would lead back to itself; HeadMoved where
    that is because somebody changed the chain since; Unavailable.
    """
    following = {one.after.id: None if one.removed else one.after.next_id for one in changes.changes}
    led = {one.before.id: one.before.next_id for one in reversed(changes.changes) if one.before is not None}
    moved = [name for name, after in following.items() if after is not None and after != led.get(name)]
    walked, newer = set[str](), False
    for start in moved:
        way, at = [start], following[start]
        while at is not None and at not in way and not is_version(at) and len(way) < MAX_STEPS:
            way.append(at)
            if at not in following:
                found = documents.get(at)
                if found is None:
                    found = (await store.snapshot(owner, [at])).documents.get(at)
                    newer |= found is not None and int(found.body["revision"]) > sequence
                following[at] = None if found is None or found.kind != "memory" else found.body["next_id"]
            walked.add(at)
            at = following[at]
        if at == start:
            if newer:
                raise HeadMoved("this chain of memories has changed meanwhile; try again", retry_after_s=1)
            over = f", over {' and '.join(way[1:])}," if way[1:] else ""
            raise Conflict(f"{start} would lead{over} back to itself")
    return replace(changes, reads=changes.reads | walked) if walked - changes.reads else changes
