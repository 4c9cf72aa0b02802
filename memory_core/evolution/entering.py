"""An edit that gives a memory another slot, or its first: what it meets there.

Like a save, it meets whoever stands in the slot. One would get wrong: nobody has said which of the two holds, for who edits may have
meant to put a name right. So both stay, and their conflict waits to be decided; only the past of the slot gives way at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Memory
from memory_core.domain.requests import UpdateInput
from memory_core.domain.slots import same_value, slot_of
from memory_core.evolution.key_line import line_nears
from memory_core.evolution.overlap import overruling, without_overlap
from memory_core.evolution.page import Page
from memory_core.evolution.pairs import document_of, pair_ids, question
from memory_core.evolution.ruled import LookedElsewhere
from memory_core.evolution.tellings import over
from memory_core.ledger.changes import Change
from memory_core.ports import Near

_WHY = "edited by hand into a slot where another truth stands"
_SAME = "edited by hand into a slot where another memory says the same"


def renamed(old: Memory, fields: Mapping[str, Any]) -> Memory:
    """The memory in the slot that an edit leaves it in. fields: what is edited."""
    return old.model_copy(update={name: fields[name] for name in ("subject", "attribute") if name in fields})


def enters(old: Memory, edited: Memory) -> bool:
    """Whether it fills a slot that it did not fill before."""
    return slot_of(edited) not in (None, slot_of(old))


def leaves(old: Memory, edited: Memory) -> bool:
    """Whether it no longer fills the slot that it filled."""
    return slot_of(old) not in (None, slot_of(edited))


def around(old: Memory, change: UpdateInput) -> list[Near]:
    """What of slots has to be seen for an edit: whom it meets in one that is new to it, who stays in the one that it leaves, and of whom
    a correction of the past takes the time.
    """
    after = renamed(old, {name: getattr(change, name) for name in change.model_fields_set})
    seen = [old] if leaves(old, after) else []
    seen += [after] if enters(old, after) or (change.valid_from is not None and not seen) else []
    return [near for one in seen for near in line_nears(one)]


def entered(page: Page, edit: Change, truths: Sequence[Memory]) -> None:
    """Put the edit onto the page, among the `truths` of the slot that it gives its memory, past ones too.

    The past ends where the edited memory begins. Of those that stand and share a moment with it, the one that was told last, best one that
    says another thing, stays beside it: both `pending`, or kept where they say the same. Raises LookedElsewhere for records that were not
    asked for.
    """
    new = edit.after
    rivals = [one for one in truths if one.status in FOUND_BY_DEFAULT and not over(one, new) and not over(new, one)]
    if rivals:
        held = max(rivals, key=lambda one: (not same_value(new, one), one.event_timestamp, one.sequence))
        record = _recorded(page, held, new)
        about, state = {"conflict_id": record.id}, {"conflict_state": record.status}
        edit = replace(edit, after=new.model_copy(update=state), metadata={**edit.metadata, **about})
        page.apply([Change("conflict_marked", held.model_copy(update=state), held, about)])
    page.apply(without_overlap([edit, *overruling(new, truths)], truths))


def _recorded(page: Page, held: Memory, new: Memory) -> ConflictRecord:
    """The record about the two, put onto the page."""
    if missing := [name for name in pair_ids(held.id, new.id) if name not in page.asked]:
        raise LookedElsewhere(missing)
    record, opened = question(page.look.documents, held.id, new.id, _WHY, page.now)
    if opened and same_value(new, held):
        record, opened = record.model_copy(update={"status": "resolved", "strategy": "keep_both", "reason": _SAME}), 0
    page.puts[record.id] = document_of(record, page.look.documents)
    page.pending += opened
    return record
