"""How many requests are at work at once, how many wait and for how long, and whose turn it is."""

from __future__ import annotations

import asyncio

import pytest

from memory_core.access.admission import Admission, AdmissionRules
from memory_core.domain.errors import Overloaded


class Work:
    """A request that works until `end` is set. steps: of all requests, in the order in
    which they began.
    """

    def __init__(self, admission: Admission, app_id: str, begun: list[str]) -> None:
        self.end = asyncio.Event()
        self.task = asyncio.create_task(self._run(admission, app_id, begun))

    async def _run(self, admission: Admission, app_id: str, begun: list[str]) -> None:
        async with admission.place(app_id):
            begun.append(app_id)
            await self.end.wait()


async def begin(admission: Admission, apps: str, begun: list[str]) -> list[Work]:
    works = [Work(admission, app_id, begun) for app_id in apps]
    await asyncio.sleep(0)
    return works


async def finish(works: list[Work]) -> None:
    for work in works:
        work.end.set()
    await asyncio.gather(*(work.task for work in works), return_exceptions=True)


async def test_apps_take_turns_and_one_beyond_the_waiting_is_refused_with_a_time() -> None:
    admission, begun = Admission(AdmissionRules(at_once=1, waiting=4, wait_s=60)), list[str]()
    works = await begin(admission, "aaaab", begun)
    assert begun == ["a"]
    assert admission.pool() == (1, 5)
    with pytest.raises(Overloaded) as refused:
        async with admission.place("c"):
            pass
    assert (refused.value.status, refused.value.retry_after_s) == (503, 60)
    await finish(works)
    assert begun == ["a", "a", "b", "a", "a"]
    assert admission.pool() == (1, 0)


async def test_an_app_leaves_a_quarter_of_the_places_to_others() -> None:
    admission, begun = Admission(AdmissionRules(at_once=1, waiting=4, wait_s=60)), list[str]()
    works = await begin(admission, "aaaaaa", begun)
    assert [work.task.done() for work in works] == [False] * 4 + [True] * 2
    works += await begin(admission, "b", begun)
    await finish(works)
    assert begun == ["a", "a", "b", "a", "a"]


async def test_an_app_leaves_a_quarter_of_the_places_at_work_to_others() -> None:
    admission, begun = Admission(AdmissionRules(at_once=4, waiting=8, wait_s=60)), list[str]()
    works = await begin(admission, "aaaaab", begun)
    assert begun == ["a", "a", "a", "b"], (
        "b has a place at once, though two of a wait for their turn"
    )
    works += await begin(admission, "bc", begun)
    works[5].end.set()
    await works[5].task
    await asyncio.sleep(0)
    assert begun == ["a", "a", "a", "b", "b"], "the place goes to b, since a has its share"
    works[0].end.set()
    await works[0].task
    await asyncio.sleep(0)
    assert begun == ["a", "a", "a", "b", "b", "a"]
    await finish(works)
    assert sorted(begun) == sorted("aaaaabbc")
    assert admission.pool() == (4, 0)


async def test_who_waits_too_long_or_is_cancelled_gives_the_place_up_and_work_goes_on() -> None:
    admission, begun = Admission(AdmissionRules(at_once=1, waiting=4, wait_s=0.02)), list[str]()
    works = await begin(admission, "ab", begun)
    with pytest.raises(Overloaded):
        await works[1].task
    patient = Admission(AdmissionRules(at_once=1, waiting=4, wait_s=60))
    more = await begin(patient, "abc", begun)
    more[1].task.cancel()
    more[0].end.set()  # the turn may reach the cancelled one at this very moment
    await asyncio.gather(more[0].task, more[1].task, return_exceptions=True)
    await asyncio.sleep(0)
    assert begun[-1] == "c"
    await finish([*works, *more])
    assert (admission.pool(), patient.pool()) == ((1, 0), (1, 0))
