"""Which operations count as calls that runs give way to."""

from __future__ import annotations

import pytest

from memory_core.consolidation.throttle import UserCalls
from memory_core.telemetry import Telemetry


def test_a_call_is_under_way_until_it_ends_however_it_does() -> None:
    telemetry = Telemetry()
    with telemetry.operation("save"), telemetry.operation("query_memory"):
        assert telemetry.calls() == UserCalls(under_way=2, begun=2)
    with pytest.raises(ValueError, match="no"), telemetry.operation("save"):
        raise ValueError("no")
    assert telemetry.calls() == UserCalls(under_way=0, begun=3)


@pytest.mark.parametrize("name", ["work", "sweep", "tasks"])
def test_nobody_gives_way_to_what_runs_in_the_background_or_waits_for_a_run(name: str) -> None:
    telemetry = Telemetry()
    with telemetry.operation(name):
        assert telemetry.calls() == UserCalls(under_way=0, begun=0)
