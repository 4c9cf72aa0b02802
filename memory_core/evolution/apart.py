"""How no two values of a key hold at once, whatever was deleted, brought back and told late among them.

One would get wrong: their order is that in which they were told of, not that in which they begin, and old versions are in it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from memory_core.domain.lifecycle import FOUND_BY_DEFAULT
from memory_core.domain.models import Memory, Status
from memory_core.domain.versions import base_id, is_of_its_life, is_version
from memory_core.evolution.key_line import key_of
from memory_core.evolution.old_versions import Versions
from memory_core.evolution.page import Page
from memory_core.evolution.tellings import ended, over
from memory_core.evolution.truth_line import MAX_REPLACED, place_of
from memory_core.evolution.versions import with_versions
from memory_core.ledger.changes import Change
from memory_core.ports import Document


def apart(truths: Iterable[Memory], older: Versions, about: str | None = None) -> tuple[list[Change], list[Document]]:
    """What makes the values of a key, as a commit leaves them, share no moment; old versions with it, as documents.

    Each says what holds from where it begins: so what is past, and was told before it, ends there; where it stands, whatever is past.
    about: in a slot, where some stand side by side on purpose, the memory whose old versions alone share no moment with what was told
    before and after them. Raises LookedElsewhere for versions that were not read.
    """
    counted = {one.id: one for one in truths}
    changes, puts, shorter = list[Change](), list[Document](), _shorter(counted.values(), older, about)
    for name in list(dict.fromkeys(base_id(one.id) for one in shorter))[:MAX_REPLACED]:
        before = counted[name]
        after = next((one for one in shorter if one.id == name), before)
        change = Change("preceded" if after is before else "superseded", after, before)
        changes.append(with_versions(change, [one for one in shorter if is_version(one.id) and base_id(one.id) == name], puts))
    return changes, puts


def set_apart(page: Page, truths: Sequence[Memory], about: str | None = None) -> None:
    """Let no two of these values of a key, as the page leaves them, nor of those that it brings, share a moment; `about` as in `apart`."""
    keys = {key_of(one) for one in truths}
    states = {name: one for name, one in page.states.items() if key_of(one) in keys}
    left, older = {one.id: one for one in truths} | states, Versions(page.look, page.asked, page.puts)
    changes, puts = apart(left.values(), older, about)
    page.apply(changes)
    page.puts |= {one.id: one for one in puts}


def _shorter(truths: Iterable[Memory], older: Versions, about: str | None) -> list[Memory]:
    """Those that are past and reach into the time of one that stands, or was told later, as they end where that begins."""
    told = sorted(_told(truths, older, about), key=lambda each: each[0], reverse=True)
    ending = [one for _, one in told if one.status is not Status.SUPERSEDED] if about is None else []
    shorter = list[Memory]()
    for _, one in told:
        if one.status is Status.SUPERSEDED:
            ends = [other.valid_from for other in ending if not over(other, one) and _to_be_told_apart(one, other, about)]
            if ends and (one.valid_until is None or one.valid_until > max(min(ends), one.valid_from)):
                one = ended(one, min(ends))
                shorter.append(one)
        if one.valid_until is None or one.valid_from < one.valid_until:
            ending.append(one)
    return shorter


def _to_be_told_apart(one: Memory, other: Memory, about: str | None) -> bool:
    return about is None or any(is_version(each.id) and base_id(each.id) == about for each in (one, other))


def _told(truths: Iterable[Memory], older: Versions, about: str | None) -> Iterator[tuple[tuple[datetime, float, int], Memory]]:
    """All of them, and their old versions, with their places: a version is replaced by the next, whatever time either tells of."""
    for one in truths:
        latest, number = place_of(one)
        if one.status in FOUND_BY_DEFAULT or one.status is Status.SUPERSEDED:
            yield (latest, number, one.version), one
        versions = older.before(one) if about in (None, one.id) else []
        for version in sorted((old for old in versions if is_of_its_life(old, one)), key=lambda old: -old.version):
            latest = min(latest, place_of(version)[0])
            if version.status is Status.SUPERSEDED:
                yield (latest, number, version.version), version
