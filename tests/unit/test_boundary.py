from collections.abc import Sequence
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.agent_schemas import Boundaries
from memory_core.domain.conversation import Message
from memory_core.formation.boundaries import (
    WINDOW_MESSAGES,
    BoundaryRules,
    cells_of,
    cut_into_cells,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
RULES = BoundaryRules(silence=timedelta(hours=6))


def messages(count: int, gaps: Sequence[float] = ()) -> list[Message]:
    """So many messages a minute apart, `gaps` hours more before those that it names."""
    moments, now = [], NOON
    for number in range(count):
        now += timedelta(minutes=1, hours=gaps[number] if number < len(gaps) else 0)
        moments.append(Message(role="user", content=f"message {number}", timestamp=now))
    return moments


class Asked:
    """Answers as written beforehand and remembers what was asked."""

    def __init__(self, *answers: Boundaries) -> None:
        self.answers = answers
        self.windows: list[tuple[int, int, str | None]] = []

    async def __call__(
        self, number: int, window: Sequence[Message], previous: str | None
    ) -> Boundaries:
        self.windows.append((number, len(window), previous))
        return self.answers[number] if number < len(self.answers) else Boundaries()


@given(
    st.integers(1, 200),
    st.dictionaries(st.integers(0, 220), st.just("topic"), max_size=20),
    st.lists(st.sampled_from([0.0, 7.0]), max_size=200),
)
def test_cells_cover_every_message_once_and_none_is_too_long(
    count: int, cuts: dict[int, str], gaps: list[float]
) -> None:
    sent = messages(count, gaps)
    cells = cells_of(sent, cuts, RULES)
    assert [message for cell in cells for message in cell.messages] == sent
    assert [cell.number for cell in cells] == list(range(len(cells)))
    assert all(1 <= len(cell.messages) <= WINDOW_MESSAGES for cell in cells)
    assert all(
        cell.first == sum(len(earlier.messages) for earlier in cells[: cell.number])
        for cell in cells
    )
    assert cells == cells_of(sent, cuts, RULES)


def test_a_long_silence_ends_a_cell_whatever_it_is_about() -> None:
    cells = cells_of(messages(4, [0, 0, 6]), {}, RULES)
    assert [(cell.first, cell.last, cell.reason) for cell in cells] == [
        (0, 1, "long silence"),
        (2, 3, "end of the conversation"),
    ]


async def test_one_message_costs_no_call() -> None:
    asked = Asked()
    assert len(await cut_into_cells(messages(1), asked, RULES)) == 1
    assert asked.windows == []


@pytest.mark.parametrize(("count", "calls"), [(2, 1), (50, 1), (51, 2), (200, 4)])
async def test_there_is_at_most_one_call_for_fifty_messages(count: int, calls: int) -> None:
    asked = Asked(*[Boundaries(continues=True)] * 4)
    await cut_into_cells(messages(count), asked, RULES)
    assert [size for _, size, _ in asked.windows] == [
        min(50, count - 50 * number) for number in range(calls)
    ]


async def test_a_topic_goes_on_over_the_end_of_a_window() -> None:
    asked = Asked(Boundaries.model_validate({"cuts": [{"after": 29}]}), Boundaries(continues=True))
    cells = await cut_into_cells(messages(60), asked, RULES)
    assert [(cell.first, cell.last) for cell in cells] == [(0, 29), (30, 59)]
    assert asked.windows[0][2] is None
    assert asked.windows[1][2] is not None
    assert "message 30" in asked.windows[1][2]
    assert "message 29" not in asked.windows[1][2]


async def test_a_window_that_begins_something_new_begins_a_cell() -> None:
    cells = await cut_into_cells(
        messages(60), Asked(Boundaries(), Boundaries(continues=False)), RULES
    )
    assert [(cell.first, cell.last) for cell in cells] == [(0, 49), (50, 59)]


async def test_a_cut_after_the_last_message_or_beyond_means_nothing() -> None:
    answer = Boundaries.model_validate({"cuts": [{"after": 4}, {"after": 400}]})
    assert len(await cut_into_cells(messages(5), Asked(answer), RULES)) == 1
