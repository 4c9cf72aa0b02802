"""An edit that takes a memory out of a slot: what it held there stays, as memories of that slot.

Otherwise the slot's past would be old versions of a memory that is elsewhere, which nobody meets who tells of the slot. One would get
wrong: an old version then holds at no moment, though its text is still read; what it said at a time is a memory of that time alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from memory_core.domain.models import Memory, Status
from memory_core.domain.slots import slot_of
from memory_core.domain.versions import cut_short, is_of_its_life, is_version
from memory_core.evolution.old_versions import Versions
from memory_core.evolution.page import Page
from memory_core.evolution.tellings import first_telling
from memory_core.evolution.truth_line import SPLIT
from memory_core.evolution.versions import with_versions
from memory_core.ledger.changes import Change
from memory_core.ledger.ids import derived
from memory_core.ports import Document

MAX_LEFT = 15
"""Old versions, the latest ones, that stay as memories; each is three documents of a commit's hundred."""
MAX_LED = 15
"""Truths that led to the memory and lead on to what it left; each is two."""


def left(page: Page, edit: Change, truths: Sequence[Memory]) -> Change:
    """The edit, as it leaves the slot that its memory filled; what stays there joins the page. truths: the others of that slot.

    The page has the version that the edit makes. Raises LookedElsewhere for versions that were not read.
    """
    old, new = edit.before, edit.after
    assert old is not None
    versions = Versions(page.look, page.asked, page.puts).before(new)
    there = [one for one in versions if slot_of(one) == slot_of(old) and is_of_its_life(one, old) and one.status is not Status.DELETED]
    stays = [one for one in there if one.valid_until != one.valid_from or one is there[-1]][-MAX_LEFT:]
    names = [derived("mem", one.id, "left", str(old.revision)) for one in stays]
    before = [old.supersedes_id, *names]
    changes = [
        Change(SPLIT, _of_its_time(one, name, before[place], [*names, new.id][place + 1], page.now), None, edit.metadata)
        for place, (one, name) in enumerate(zip(stays, names, strict=True))
    ]
    for one in [one for one in truths if one.next_id == old.id and not is_version(one.id)][:MAX_LED]:
        follows = (name for name, version in zip(names, stays, strict=True) if first_telling(one) < first_telling(version))
        changes.append(Change("superseded", one.model_copy(update={"next_id": next(follows, names[-1])}), one))
    documents = list[Document]()
    ended = [shorter for one in stays if (shorter := cut_short(one, one.valid_from)) is not None]
    edit = Change(edit.event_type, new.model_copy(update={"supersedes_id": names[-1]}), old, edit.metadata)
    edit = with_versions(edit, ended, documents)
    page.puts |= {one.id: one for one in documents}
    page.apply(changes)
    return edit


def _of_its_time(version: Memory, name: str, follows: str | None, leads_to: str, now: datetime) -> Memory:
    """What a version was in its time, as a memory of that time alone."""
    fields: dict[str, Any] = {
        "id": name,
        "status": Status.SUPERSEDED,
        "status_reason": "contradicted",
        "supersedes_id": follows,
        "next_id": leads_to,
        "version": 1,
        "sequence": 0,
        "pinned": False,
        "conflict_ids": [],
        "conflict_state": "none",
        "created_at": now,
        "updated_at": now,
    }
    return version.model_copy(update=fields)
