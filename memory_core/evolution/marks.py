"""What is said beside a cell, and its note, when a fact that it told has fallen: the text stays as it was, the mark names the successor.

One would get wrong: marks are as many as fit a commit, the first teller and the latest ones before others. The truth is in the facts
themselves; a mark only saves whoever reads an old episode from taking it for the present.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from memory_core.domain.archival import is_cold
from memory_core.domain.models import AtomicFact, Memory, Status
from memory_core.evolution.page import Page
from memory_core.evolution.ruled import LookedElsewhere
from memory_core.evolution.truth_line import SPLIT
from memory_core.ledger.changes import Change
from memory_core.ledger.ids import note_id, session_document_id

MAX_MARKED = 12
"""Cells of those that told a fact that learn when it falls: each, and its note, is a document of the commit."""

MAX_ASKED = 400
"""Documents from which on it is not looked further for what stands for merged notes."""
MAX_HOPS = 20
"""Merges, one after the other, that are followed to it: a look each where nobody has read them."""


def told_in(fact: Memory) -> tuple[str, ...]:
    """The cells that are to learn when this fact falls, with their notes: the one that told it first, and those that told it last."""
    cells = [name for name in (fact.cell_id, *reversed(fact.source_ids[-MAX_MARKED + 1 :])) if name is not None]
    return tuple(dict.fromkeys(name for cell in cells for name in (cell, note_id(cell))))


def fallen_in(page: Page) -> list[Memory]:
    """The facts that this commit lets fall, gives another successor, or lets rise again (`next_id` is None then), as it leaves them."""
    return [page.states[name] for name in dict.fromkeys(one.after.id for one in page.changes if _turns(one))]


def _turns(change: Change) -> bool:
    """Whether those who told it have to learn of this; what a truth was before it held again is told by the truth itself."""
    old, new = change.before, change.after
    if change.event_type == SPLIT or (old is not None and (old.status, old.next_id) == (new.status, new.next_id)):
        return False
    return _fallen(new) or (old is not None and _fallen(old))


def _fallen(memory: Memory) -> bool:
    return memory.status is Status.SUPERSEDED and memory.next_id is not None


def mark_fallen(page: Page, asked: Collection[str]) -> None:
    """Mark the facts that fall in the cells that told them.

    Raises LookedElsewhere for those that were not `asked` for, hence not read; and for the session that counts a truth once more.
    """
    fallen = [fact for fact in fallen_in(page) if told_in(fact)]
    wanted = [name for fact in fallen for name in told_in(fact)] + [name for one in page.changes for name in _counted_in(page, one)]
    missing = [name for name in wanted if name not in asked]
    if len(asked) <= MAX_ASKED:
        missing += [name for name in _unread_heirs(page, wanted) if name not in asked]
    if missing:
        raise LookedElsewhere(missing)
    if not fallen:
        return
    page.weigh()
    by_teller: dict[str, dict[str, Memory]] = {}
    for fact in fallen:
        for name in told_in(fact):
            chain = _chain(page, name)
            for teller in (*chain[:1], *chain[-1:]):  # a note that was merged into another may stand again
                by_teller.setdefault(teller.id, {})[fact.id] = fact
    for name, facts in by_teller.items():
        told = page.memory(name)
        if told is None or is_cold(told) or (marked := _marked(told, facts)) == told.atomic_facts:
            continue
        change = Change("fact_superseded", told.model_copy(update={"atomic_facts": marked}), told)
        if page.takes(change):
            page.apply([change])


def _counted_in(page: Page, change: Change) -> list[str]:
    """The document of the session that a truth's earlier time is counted in, where nobody had a reason to read it."""
    session = change.after.session_id if change.event_type == SPLIT else None
    name = None if session is None else session_document_id(page.owner, session)
    return [] if name is None or name in page.look.documents else [name]


def _unread_heirs(page: Page, names: Collection[str]) -> list[str]:
    """Of the notes that were merged into others, what comes after the last that was read."""
    chains = [_chain(page, name) for name in dict.fromkeys(names)]
    unread = [one[-1].next_id for one in chains if 0 < len(one) <= MAX_HOPS and one[-1].status is Status.UPDATED]
    return [name for name in dict.fromkeys(unread) if name is not None and page.memory(name) is None]


def _chain(page: Page, name: str) -> list[Memory]:
    """The memory and, of a note that was merged, those it was merged into one after the other, as far as they were read."""
    chain, following = list[Memory](), page.memory(name)
    while following is not None and len(chain) <= MAX_HOPS:
        chain.append(following)
        next_id = following.next_id if following.status is Status.UPDATED else None
        following = None if next_id is None else page.memory(next_id)
    return chain


def _marked(told: Memory, fallen: Mapping[str, Memory]) -> list[AtomicFact]:
    """The facts of a cell with the successors of those that have fallen. A note lists only such as have."""
    facts = [
        one.model_copy(update={"superseded_by": fallen[one.fact_id].next_id}) if one.fact_id is not None and one.fact_id in fallen else one
        for one in told.atomic_facts
    ]
    if told.category != "note":
        return facts
    known = {one.fact_id for one in facts}
    more = marks_of([fact for name, fact in fallen.items() if name not in known])
    return [*(one for one in facts if one.superseded_by is not None), *more]


def marks_of(facts: Sequence[Memory]) -> list[AtomicFact]:
    """What a note lists of these facts: those that have fallen, each with its successor."""
    return [AtomicFact(text=one.content, fact_id=one.id, superseded_by=one.next_id) for one in facts if _fallen(one)]
