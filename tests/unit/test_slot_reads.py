"""What a decision on new memories of slots names to be read."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memory_core.domain.memory import Head, Memory, MemoryType
from memory_core.domain.truth.entries import Account
from memory_core.domain.truth.sealing import Seal, sealed_timeline_of
from memory_core.domain.truth.slots import SlotName, retraction_of, slot_name
from memory_core.domain.truth.timeline import Timeline
from memory_core.evolution import slot_log
from memory_core.evolution.judgements import slot_reads
from memory_core.evolution.slot_log import SlotLog, documents_of
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Neighbour
from tests.builders import NOW, memory

DAY = timedelta(days=1)
HEAD = Head(epoch="epoch-1", sequence=9)


def car(name: str, value: Any, days: int, **fields: Any) -> Memory:
    at = NOW + (days - 100) * DAY
    return memory(
        name,
        type=MemoryType.SEMANTIC,
        subject="Ana",
        attribute="car",
        value=value,
        event_timestamp=at,
        valid_from=at,
        **fields,
    )


def name_of(member: Memory) -> SlotName:
    name = slot_name(member)
    assert name is not None
    return name


def read(*members: Memory, near: dict[str, tuple[Neighbour, ...]] | None = None) -> ReadSet:
    """A read set with the log of the members, of which none is among its documents."""
    now = NOW
    log = SlotLog.of_members(name_of(members[0]), HEAD, now, members=members)
    documents = {
        made.id: replace(made, body={**made.body, "epoch": HEAD.epoch})
        for made in log.documents()[0]
    }
    return ReadSet(HEAD, documents, near or {}, frozenset(documents), now=now)


def test_the_log_is_read_before_its_members() -> None:
    new = car("new", "VW", 9)
    look = ReadSet(HEAD, {}, now=NOW)
    assert slot_reads(look, [new]) == documents_of(name_of(new))


def test_the_member_that_holds_is_read_for_another_value() -> None:
    golf = car("golf", "Golf", 0)
    assert slot_reads(read(golf), [car("new", "VW", 9)]) == [golf.id]


def test_a_neighbour_is_not_read_again() -> None:
    golf, new = car("golf", "Golf", 0), car("new", "VW", 9)
    assert slot_reads(read(golf, near={new.id: (Neighbour(golf, 0.9),)}), [new]) == []


def test_of_several_new_values_all_members_since_the_first_are_read() -> None:
    golf = car("golf", "Golf", 0, valid_until=NOW - 97 * DAY)
    members = [golf, car("polo", "Polo", 5), car("audi", "Audi", 20)]
    news = [car("new", "VW", 9), car("newer", "Seat", 30)]
    assert {*slot_reads(read(*members), news)} == {members[1].id, members[2].id}


def test_of_several_new_values_the_log_is_resolved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    resolved: list[Timeline] = []

    def noted(account: Account, seal: Seal | None) -> Timeline:
        resolved.append(sealed_timeline_of(account, seal))
        return resolved[-1]

    monkeypatch.setattr(slot_log, "sealed_timeline_of", noted)
    slot_reads(read(car("golf", "Golf", 0)), [car(f"new {n}", f"VW {n}", 9 + n) for n in range(9)])
    assert len(resolved) == 1, "which of them changes what is decided with those before it"


def test_a_value_of_several_that_began_before_it_was_said_has_its_members_read() -> None:
    members = [car("golf", "Golf", 0, valid_until=NOW - 97 * DAY), car("polo", "Polo", 5)]
    ids = {member.id for member in members}
    since = car("new", "VW", 9).changed(valid_from=members[0].valid_from)
    assert {*slot_reads(read(*members), [since, car("newer", "Seat", 30)])} == ids


def test_a_retraction_in_short_of_a_neighbour_is_completed_before_its_reads_are_named() -> None:
    skoda = car("skoda", "a grey Skoda Octavia", 0)
    ending = car("ending", retraction_of("a grey Skoda Octavia"), 20)
    ending = ending.changed(valid_from=NOW - 40 * DAY)
    new = car("new", retraction_of("Skoda"), 30)
    look = read(skoda, ending, near={new.id: (Neighbour(skoda, 0.9),)})
    assert slot_reads(look, [new]) == [ending.id]
