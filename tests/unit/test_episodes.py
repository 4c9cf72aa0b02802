"""Which episodes are shown together: those of one session and time, as many as fit,
each of them once.
"""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.consolidation.pattern_commit import (
    CALLS_A_RUN,
    GAP,
    NEW_AT_ONCE,
    TEXT,
    as_items,
    grouped,
    in_parts,
)
from memory_core.domain.memory import Memory
from tests.builders import NOW, memory

EPISODES = st.lists(st.tuples(st.sampled_from([None, "a", "b"]), st.integers(0, 200)), max_size=250)


def made(given: list[tuple[str | None, int]]) -> list[Memory]:
    stored_memory = memory("text")
    return [
        stored_memory.model_copy(
            update={
                "id": f"mem_{number}",
                "session_id": session,
                "event_timestamp": NOW + timedelta(hours=hour),
                "sequence": number,
            }
        )
        for number, (session, hour) in enumerate(given)
    ]


@given(EPISODES)
@settings(max_examples=40, deadline=None)
def test_groups_are_of_one_session_and_time_and_hold_each_episode_once(
    given: list[tuple[str | None, int]],
) -> None:
    episodes = made(given)
    groups = grouped(episodes)
    assert sorted(memory.id for group in groups for memory in group) == sorted(
        episode.id for episode in episodes
    )
    for group in groups:
        assert len({memory.session_id for memory in group}) == 1
        assert all(
            later.event_timestamp - memory.event_timestamp <= GAP
            for memory, later in pairwise(group)
        )


@given(EPISODES)
@settings(max_examples=40, deadline=None)
def test_no_part_is_larger_than_a_call_takes_and_there_are_no_more_than_a_run_makes(
    given: list[tuple[str | None, int]],
) -> None:
    episodes = made(given)
    parts = in_parts(episodes)
    ids = [episode.id for part in parts for episode in part]
    assert len(parts) <= CALLS_A_RUN
    assert all(0 < len(part) <= NEW_AT_ONCE for part in parts)
    assert len(ids) == len(set(ids))
    assert parts == in_parts(episodes[::-1])
    if len(episodes) <= NEW_AT_ONCE:
        assert len(ids) == len(episodes)


def test_what_an_agent_is_shown_is_numbered_and_short_and_names_who_said_it() -> None:
    (turn, cell) = as_items(
        [
            memory("x" * 9_000, actor="Ana"),
            memory("a story", actor="Ana", cell_id="mem_c", category="cell"),
        ]
    )
    assert (turn.number, len(turn.text), turn.actor) == (0, TEXT, "Ana")
    assert (cell.number, cell.text, cell.actor) == (1, "a story", None)
