"""What a process keeps of its last commits has a bound over all users, however many there are."""

from __future__ import annotations

from typing import Any, cast

from memory_core.domain.memory import Event, Head
from memory_core.domain.scope import Owner
from memory_core.ledger.recent_commits import RecentCommits

EVENTS = cast(list[Event], [object() for _ in range(10)])


def head(epoch: str = "e1") -> Any:
    return Head.model_construct(epoch=epoch)


def owner(number: int) -> Owner:
    return Owner("shop", f"user-{number}")


def test_events_of_all_users_together_have_a_bound_and_the_oldest_go_first() -> None:
    recent = RecentCommits(of_a_user=6, of_all=20)
    for number in range(100):
        recent.add(owner(number), head(), EVENTS)
        assert recent.count <= 20
    assert [number for number in range(100) if recent.head(owner(number)) is not None] == [
        97,
        98,
        99,
    ]
    assert list(recent.events(owner(99))) == EVENTS[-6:]
    assert list(recent.events(owner(0))) == []


def test_the_user_that_commits_is_kept_however_many_events_it_has() -> None:
    recent = RecentCommits(of_a_user=10, of_all=4)
    recent.add(owner(1), head(), EVENTS)
    assert list(recent.events(owner(1))) == EVENTS


def test_what_is_of_another_epoch_or_forgotten_is_not_kept() -> None:
    recent = RecentCommits(of_a_user=20, of_all=100)
    recent.add(owner(1), head("e1"), EVENTS)
    recent.add(owner(1), head("e2"), EVENTS[:1])
    assert list(recent.events(owner(1))) == EVENTS[:1]
    recent.forget(owner(1))
    recent.forget(owner(2))
    assert (recent.head(owner(1)), recent.count) == (None, 0)
