"""How a run rests while calls are served: in proportion, until a lull, and not for ever."""

from __future__ import annotations

from memory_core.consolidation.throttle import (
    IN_ALL_S,
    LONGEST_S,
    LULL_S,
    TIMES,
    Throttle,
    UserCalls,
)


class Host:
    """A clock that only moves when a worker works or rests, and the calls that are
    served until then.
    """

    def __init__(self) -> None:
        self.now, self.rested = 0.0, 0.0
        self.calls = UserCalls(0, 7)
        self.busy_until = 0.0
        self.way = Throttle(lambda: self.calls, lambda: self.now, self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.rested += seconds
        if self.now <= self.busy_until:
            self.call()

    def call(self) -> None:
        self.calls = self.calls._replace(begun=self.calls.begun + 1)

    async def chunk(self, took: float, *, called: bool) -> float:
        """Work on a chunk for so many seconds; how long it rested after that."""
        before = self.rested
        async with self.way.chunk():
            self.now += took
            if called:
                self.call()
        return self.rested - before


async def test_whoever_is_alone_does_not_rest() -> None:
    host = Host()
    assert await host.chunk(0.04, called=False) == 0


async def test_beside_calls_it_rests_many_times_as_long_as_it_worked_but_not_longer_than_is_good() -> (  # noqa: E501
    None
):
    host = Host()
    host.busy_until = 1_000.0
    assert abs(await host.chunk(0.01, called=True) - 0.01 * TIMES) < 1e-9
    assert abs(await host.chunk(5.0, called=True) - LONGEST_S) < 1e-9


async def test_a_call_that_began_before_the_chunk_and_still_lasts_is_given_way_to() -> None:
    host = Host()
    host.calls = UserCalls(1, 7)
    assert abs(await host.chunk(0.01, called=False) - 0.01 * TIMES) < 1e-9


async def test_a_lull_ends_the_rest() -> None:
    host = Host()
    assert await host.chunk(1.0, called=True) == LULL_S


async def test_all_rests_together_end_so_that_the_run_does() -> None:
    host = Host()
    host.busy_until = 10 * IN_ALL_S
    rests = [await host.chunk(1.0, called=True) for _ in range(int(2 * IN_ALL_S / LONGEST_S))]
    assert abs(sum(rests) - IN_ALL_S) < 1e-6
    assert rests[-1] == 0
