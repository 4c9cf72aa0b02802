"""New versions: the id stays, the old content is kept as `<id>.v<n>` and stays findable for the time it was valid."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

from memory_core.domain.conflict import Cut
from memory_core.domain.errors import FieldError, Invalid
from memory_core.domain.models import Memory, Status
from memory_core.domain.slots import slot_of
from memory_core.domain.versions import VERSIONS_END, base_id, cut_short, is_of_its_life, kept_version
from memory_core.evolution.old_versions import Versions
from memory_core.evolution.page import Page
from memory_core.evolution.tellings import ended, over
from memory_core.evolution.truth_line import place_of
from memory_core.ledger.changes import Change
from memory_core.ports import Document

MAX_CUT_SHORT = 40
"""Versions that one correction of the past may end; each is a document of the commit's hundred, with its vector."""
MAX_CHANGED = 30
"""Old versions, the latest ones, that a memory which comes back or falls may change; others share the commit."""
_NEVER = datetime.max.replace(tzinfo=timezone.utc)


def new_version(old: Memory, changed: Mapping[str, Any], now: datetime, older: Versions) -> tuple[Memory, tuple[Document, ...]]:
    """The memory with `changed` fields as its next version, and the documents of the old one and of those that it ends besides.

    The new version is valid from `changed["valid_from"]`, else from now; the old one until then. A `valid_until` that is past
    corrects when the truth ended, so that version is valid from where the old one was.
    """
    ended = changed.get("valid_until")
    begins = changed.get("valid_from") or (old.valid_from if ended is not None and ended <= now else max(now, old.valid_from))
    updated = old.model_copy(
        update={**changed, "version": old.version + 1, "valid_from": begins, "updated_at": now, "last_accessed_at": now}
    )
    if updated.valid_until is not None and updated.valid_until <= begins and "valid_until" not in changed:
        updated = updated.model_copy(update={"valid_until": None})
    kept = [kept_version(old, begins)]
    if begins < old.valid_from:
        kept += [shorter for one in older.before(old) if (shorter := cut_short(one, begins)) is not None]
    if len(kept) > MAX_CUT_SHORT:
        message = f"lies before more than {MAX_CUT_SHORT} versions, which it would end"
        raise Invalid("too many versions change", errors=(FieldError("valid_from", message),))
    return updated, tuple(map(version_document, kept))


def end_versions(page: Page, asked: Collection[str]) -> None:
    """Let old versions end with what this commit does to their memories, and say so in its events.

    A truth that falls, or turns out to begin earlier, takes its old versions with it from there on; one that another is told to have come
    before gives that its stretch, between two versions where need be. Raises LookedElsewhere for versions that were not read.
    """
    older = Versions(page.look, asked, page.puts)
    for number, change in enumerate([*page.changes]):
        if _arrives(change):
            _among_versions(page, number, older)
        if slot_of(change.after) is None and (change.before is None or _earlier_in_the_past(change)):
            _make_room(page, number, older)
        if change.before is None or change.after.version != change.before.version:
            continue
        if (moment := _taken_from(page, change)) is not None:
            _end(page, number, older, [one for one in (cut_short(one, moment) for one in older.before(change.after)) if one is not None])


def give_back(page: Page, cuts: Sequence[Cut], event: str, said: Mapping[str, Any]) -> None:
    """Let old versions hold again for the time that a decision took from them, as far as nothing has taken it since.

    event, said: what the log tells of a memory that is not on the page yet. Raises LookedElsewhere for versions that were not read.
    """
    older, ended = Versions(page.look, page.asked, page.puts), {cut.version_id: cut for cut in cuts}
    for name in dict.fromkeys(base_id(one) for one in ended):
        if (memory := page.memory(name)) is None:
            continue
        if not (longer := regained(memory, older.before(memory), ended)):
            continue
        told = [place for place, change in enumerate(page.changes) if change.after.id == name and change.before is not None]
        if not told:
            told = [len(page.changes)]
            page.apply([Change(event, memory, memory, said)])
        _say(page, told[-1], longer)


def regained(memory: Memory, versions: Sequence[Memory], cuts: Mapping[str, Cut]) -> list[Memory]:
    """Of all versions before a memory those that get back what they lost, each up to where a later one begins at most."""
    longer, following = [], memory.valid_from
    for one in reversed(versions):
        cut = cuts.get(one.id)
        until = one.valid_from if cut is None else max(one.valid_from, min(cut.before, following))
        if cut is not None and one.valid_until == cut.after and cut.after < until:
            longer.append(one.model_copy(update={"valid_until": until}))
        following = min(following, one.valid_from)
    return longer


def holding_again(back: Memory, begun: Collection[datetime], older: Versions) -> list[Memory]:
    """The old versions of a memory that holds again, as far as they had ended with it: each until the next one.

    begun: when what replaced it began, each version of it. Raises LookedElsewhere for versions that were not read.
    """
    versions = older.before(back)
    ended = [one for one in versions if one.valid_until in {one.valid_from, *(max(moment, one.valid_from) for moment in begun)}]
    cuts = {one.id: Cut(version_id=one.id, before=_NEVER, after=one.valid_until) for one in ended if one.valid_until is not None}
    return regained(back, versions, cuts)


def with_versions(change: Change, versions: Sequence[Memory], puts: list[Document]) -> Change:
    """The change, which says that old versions end elsewhere since; their documents join `puts`, as far as there is room."""
    if not (some := [*reversed(versions)][: max(0, MAX_CHANGED - len(puts))]):
        return change
    puts += [version_document(one) for one in some]
    return replace(change, metadata={**change.metadata, VERSIONS_END: {**change.metadata.get(VERSIONS_END, {}), **_ends_told(some)}})


def _ends_told(versions: Iterable[Memory]) -> dict[str, str]:
    return {str(one.version): one.valid_until.isoformat() for one in versions if one.valid_until is not None}


def _earlier_in_the_past(change: Change) -> bool:
    """Whether a past truth turns out to have held from before it did."""
    return change.before is not None and change.after.status is Status.SUPERSEDED and change.after.valid_from < change.before.valid_from


def _taken_from(page: Page, change: Change) -> datetime | None:
    """From when on a change takes the time from old versions; None when it takes none from them."""
    assert change.before is not None
    if change.after.version == 1:
        return None
    if change.after.valid_from < change.before.valid_from:
        return change.after.valid_from
    successor = None if change.after.next_id in (None, change.before.next_id) else page.memory(change.after.next_id or "")
    return successor.valid_from if successor is not None and successor.valid_from < change.after.valid_from else None


def _arrives(change: Change) -> bool:
    """Whether it brings a truth into a slot, or lets one hold there from before it did, or for longer."""
    before, after = change.before, change.after
    if (slot := slot_of(after)) is None or after.status is Status.DELETED:
        return False
    if before is None or slot_of(before) != slot or after.valid_from < before.valid_from:
        return True
    return before.valid_until is not None and (after.valid_until is None or before.valid_until < after.valid_until)


def _among_versions(page: Page, number: int, older: Versions) -> None:
    """For a truth that arrives in a slot, among the old versions of the others there.

    Those that were told before it end where it begins, and all where it stands; where it is past, it ends where the first begins of those
    that were told later.
    """
    late = page.states[page.changes[number].after.id]
    mates = {one.id: page.memory(one.id) or one for near in page.look.near for one in (shown.memory for shown in near)} | page.states
    there = [one for one in mates.values() if one.id != late.id and slot_of(one) == slot_of(late) and late.valid_from < one.valid_from]
    for mate in [one for one in there if one.version > 1 and one.status is not Status.DELETED]:
        held = [one for one in older.before(mate) if slot_of(one) == slot_of(late) and is_of_its_life(one, mate) and not over(one, late)]
        held = [one for one in held if one.valid_from != one.valid_until and not over(late, one)]
        later = [one.valid_from for one in held if place_of(one) > place_of(late)]
        if later and late.status is Status.SUPERSEDED:
            late = _shorter(page, number, min(later))
        if late.valid_until != late.valid_from:
            stands = late.status is not Status.SUPERSEDED
            earlier = [one for one in held if (stands or place_of(one) < place_of(late)) and not over(late, one)]
            _cut(page, number, mate, older, [shorter for one in earlier if (shorter := cut_short(one, late.valid_from)) is not None])


def _make_room(page: Page, number: int, older: Versions) -> None:
    """For a value of a key that is history on arrival, among the versions of the first that follows it and has any."""
    late = page.changes[number].after
    successor, passed = _next(page, late), {late.id}
    while successor is not None and successor.version == 1 and successor.next_id is not None and successor.id not in passed:
        passed.add(successor.id)  # a chain that leads back to itself is refused by the commit, later
        successor = _next(page, successor)
    if successor is None or successor.version == 1 or late.valid_from >= successor.valid_from:
        return
    versions = older.before(successor)
    begin = [one.valid_from for one in versions if late.valid_from < one.valid_from and one.valid_from != one.valid_until]
    if begin and late.valid_until is not None and min(begin) < late.valid_until:
        late = _shorter(page, number, min(begin))
    cut = [shorter for one in versions if one.valid_from <= late.valid_from and (shorter := cut_short(one, late.valid_from)) is not None]
    _cut(page, number, successor, older, cut)


def _shorter(page: Page, number: int, until: datetime) -> Memory:
    """What a change brings, ending there at the latest."""
    change = page.changes[number]
    late = page.states[change.after.id] = ended(page.states[change.after.id], until)
    page.changes[number] = replace(change, after=ended(change.after, until))
    return late


def _cut(page: Page, number: int, memory: Memory, older: Versions, cut: Sequence[Memory]) -> None:
    """End versions of a memory because of a change, with what the page does to that memory, or on its own."""
    if not cut:
        return
    told = [place for place, change in enumerate(page.changes) if change.after.id == memory.id and change.before is not None]
    if not told:
        told = [len(page.changes)]
        page.apply([Change("preceded", memory, memory, page.changes[number].metadata)])
    _end(page, told[0], older, cut)


def _next(page: Page, memory: Memory) -> Memory | None:
    return None if memory.next_id is None else page.memory(memory.next_id)


def _end(page: Page, number: int, older: Versions, shorter: Sequence[Memory]) -> None:
    """End old versions with a change, and write down in the record of the decision that it is, if it is one, when they ended before."""
    change, latest = page.changes[number], sorted(shorter, key=lambda one: -one.version)[:MAX_CUT_SHORT]
    ends = {one.id: one.valid_until for one in latest}
    cuts = [
        Cut(version_id=one.id, before=one.valid_until, after=until)
        for one in older.before(change.after)
        if one.valid_until is not None and (until := ends.get(one.id)) is not None
    ]
    decided = page.puts.get(str(change.metadata.get("conflict_id")))
    if cuts and decided is not None and decided.body["status"] == "resolved":
        known = [*decided.body["cuts"], *(cut.model_dump(mode="json") for cut in cuts)]
        page.puts[decided.id] = replace(decided, body={**decided.body, "cuts": known})
    _say(page, number, latest)


def _say(page: Page, number: int, changed: Sequence[Memory]) -> None:
    if not changed:
        return
    change = page.changes[number]
    page.puts |= {one.id: version_document(one) for one in changed}
    ends = {**change.metadata.get(VERSIONS_END, {}), **_ends_told(changed)}
    page.changes[number] = replace(change, metadata={**change.metadata, VERSIONS_END: ends})


def version_document(version: Memory) -> Document:
    """An old version as it is stored."""
    return Document(version.id, "version", version.model_dump(mode="json"), version.embedding)
