"""Times that a query tells from now or from an event: what happened then is found,
though no word of it is in the query.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from memory_core.core import MemoryCore
from memory_core.domain.requests.memories import ContextInput, RetrieveInput
from memory_core.domain.results import Retrieved
from tests.builders import ALICE, NOW
from tests.world import WordsEmbedder, World, fact, find, turn

DAY = timedelta(days=1)
WEDDING = NOW - 40 * DAY


def day(days_ago: float) -> datetime:
    return NOW - days_ago * DAY


async def ask(core: MemoryCore, query: str, **fields: object) -> Retrieved:
    return await core.retrieve(
        ALICE, RetrieveInput.model_validate({"query": query, "explain": True, **fields})
    )


async def lived(world: World) -> MemoryCore:
    """Sixty days, each with the same breakfast, and a few things besides."""
    core = await world.core(embedder=WordsEmbedder())
    items = [turn(f"Porridge, bowl {n}", None, event_timestamp=day(n + 0.1)) for n in range(2, 62)]
    items += [
        turn(text, None, event_timestamp=day(1.1))
        for text in ("Sushi with Tom", "A green kite for Lea")
    ]
    items += [
        turn("Paid the rent", None, event_timestamp=day(11.1)),
        turn("Called the plumber", None, event_timestamp=day(0.01)),
    ]
    items += [
        turn("The wedding was lovely", None, event_timestamp=WEDDING),
        turn("Travelled to Crete", None, event_timestamp=WEDDING + DAY),
    ]
    await core.bulk(ALICE, items)
    return core


async def test_yesterday_is_found_by_its_day_alone_whatever_was_done(world: World) -> None:
    core = await lived(world)
    answer = await ask(core, "What did I do yesterday?")
    assert {hit.memory.content for hit in answer.results} == {
        "Sushi with Tom",
        "A green kite for Lea",
    }
    assert all("date" in hit.matched_by for hit in answer.results)
    assert set(await find(core, "What happened yesterday?", at=day(10))) == {
        "Paid the rent",
        "Porridge, bowl 11",
    }
    context = await core.context(
        ALICE, ContextInput(query="What did I do yesterday?", parts=["memories"])
    )
    assert "Sushi with Tom" in context.context
    assert "Porridge" not in context.context


async def test_a_time_does_not_answer_what_is_asked_beside_it(world: World) -> None:
    core = await lived(world)
    assert await find(core, "Did the president resign yesterday?") == []
    assert await find(core, "How are you today?") == []
    assert (await find(core, "Who had sushi yesterday?"))[0] == "Sushi with Tom"


async def test_two_weeks_before_a_birthday_are_counted_from_the_memory_that_dates_it(
    world: World,
) -> None:
    core = await lived(world)
    birthday = (await core.save(ALICE, fact(f"Maria's birthday is on {day(20):%d %B}"))).memory
    others = (await core.save(ALICE, fact(f"Paul's birthday is on {day(300):%d %B}"))).memory
    await core.save(
        ALICE, turn("Ordered a cake shaped like a whale", None, event_timestamp=day(34))
    )
    answer = await ask(core, "What did we do two weeks before Maria's birthday?")
    assert "Ordered a cake shaped like a whale" in [hit.memory.content for hit in answer.results]
    assert answer.explain is not None
    (dated,) = answer.explain["dated"]
    assert dated["by"] == birthday.id != others.id
    assert dated["window"]["start"] <= day(34).date() < dated["window"]["end"]
    await core.delete(ALICE, birthday.id)
    gone = await ask(core, "What did we do two weeks before Maria's birthday?")
    assert birthday.id not in str(gone.explain)


async def test_the_day_after_an_event_that_nobody_dated_is_the_one_after_it_was_told(
    world: World,
) -> None:
    core = await lived(world)
    answer = await ask(core, "What did we do the day after the wedding?")
    contents = [hit.memory.content for hit in answer.results]
    assert "Travelled to Crete" in contents
    assert len([content for content in contents if content.startswith("Porridge")]) == 1
    (travelled,) = [hit for hit in answer.results if hit.memory.content == "Travelled to Crete"]
    assert travelled.explain is not None
    assert travelled.explain["boosts"]["window"] == 1.2
    assert travelled.explain["terms"]["wed"]["excused"]
    assert await find(core, "What did we do the day after the funeral?") == []
