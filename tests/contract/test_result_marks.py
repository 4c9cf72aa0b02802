"""A result of a retrieve says what a context would: which later message replaces a statement of it,
and with what it is in an open conflict.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import MemoryType
from memory_core.domain.requests.memories import ContextInput, ListInput, RetrieveInput
from memory_core.domain.results import Hit
from memory_core.functions.mcp.answers import search_text
from tests.builders import ALICE, NOW
from tests.conflicts import asking
from tests.loaded_minilm import LoadedMiniLM
from tests.telling import tell
from tests.world import World

WEEK = timedelta(days=7)
EARLIER = "I take warfarin 5 mg every evening."
LATER = "I'm off warfarin, they put me on apixaban 5 mg twice a day."
ASKED = "Which blood thinner do I take?"


@pytest.fixture
async def rules(world: World) -> MemoryCore:
    """A core without a language model, with the vectors of the local embedder."""
    return await world.core_by_rules(embedder=LoadedMiniLM(), embedding_provider="minilm")


@pytest.fixture
async def patient(rules: MemoryCore) -> MemoryCore:
    """A user who took warfarin and takes another medicine since."""
    await tell(rules, EARLIER, session="s1", at=NOW - 9 * WEEK)
    await tell(rules, "I planted tomatoes.", session="s2", at=NOW - 5 * WEEK)
    await tell(rules, LATER, session="s3", at=NOW - WEEK)
    return rules


async def hits(core: MemoryCore, query: str = ASKED, **fields: object) -> list[Hit]:
    asked = RetrieveInput.model_validate({"query": query, "similarity_threshold": 0.0, **fields})
    return list((await core.retrieve(ALICE, asked)).results)


def telling(results: list[Hit], words: str) -> list[Hit]:
    return [hit for hit in results if words in hit.memory.content]


async def test_a_result_names_the_later_message_that_replaces_a_statement_of_it(
    patient: MemoryCore,
) -> None:
    results = await hits(patient)
    earlier = telling(results, "takes warfarin")
    assert earlier
    for hit in earlier:
        ((replaced, text, at),) = (
            (later["replaced"], later["text"], later["at"]) for later in hit.replaced_by
        )
        assert (replaced in (EARLIER, hit.memory.content), text, at) == (True, LATER, NOW - WEEK)
        assert (await patient.get(ALICE, hit.replaced_by[0]["memory_id"])).content == LATER
    assert [hit.replaced_by for hit in results if hit not in earlier] == [()] * (
        len(results) - len(earlier)
    )


async def test_the_words_are_those_of_a_context(patient: MemoryCore) -> None:
    mark = f"replaced on {(NOW - WEEK).date()}: {LATER}"
    context = (await patient.context(ALICE, ContextInput(query=ASKED, session_id="s9"))).context
    assert mark in context
    asked = RetrieveInput(query=ASKED, similarity_threshold=0.0)
    text = search_text(await patient.retrieve(ALICE, asked), whole=False, moment=NOW)
    assert mark in text
    (line,) = (line for line in context.split("\n") if "  in conflict with" in line)
    assert line in text


async def test_a_result_in_an_open_conflict_names_the_other_side_until_it_is_decided(
    rules: MemoryCore,
) -> None:
    await tell(rules, "I work at Otto.", session="s1", at=NOW - 3 * WEEK)
    await tell(rules, "I am through with Otto since last Friday.", session="s2", at=NOW - WEEK)
    (record,) = (await rules.conflicts(ALICE)).conflicts
    sides = {record.old_id: record.new_id, record.new_id: record.old_id}
    results = await hits(rules, "Otto", types=[MemoryType.SEMANTIC], categories=["fact"])
    assert {hit.memory.id for hit in results} == {*sides}
    for hit in results:
        other = await rules.get(ALICE, sides[hit.memory.id] or "")
        assert hit.disputed_by == (
            {
                "conflict_id": record.id,
                "memory_id": other.id,
                "text": other.content,
                "at": other.event_timestamp,
            },
        )
    (first,) = await hits(rules, "Where do I work?", types=[MemoryType.SEMANTIC], limit=1)
    assert len(first.disputed_by) == 1, "the other side need not be a result"
    (first,) = await hits(rules, "Otto", session_id="s1", categories=["fact"])
    assert len(first.disputed_by) == 1, "nor a candidate"
    (first,) = await hits(rules, "Otto", exclude_session_id="s2", categories=["fact"])
    assert first.disputed_by == ()
    await rules.resolve_conflict(ALICE, record.id, asking("keep_both"))
    assert not any(hit.disputed_by for hit in await hits(rules, "Otto"))


async def test_nothing_is_said_against_a_result_where_the_past_is_asked_for(
    patient: MemoryCore,
) -> None:
    for moment in (NOW - 8 * WEEK, NOW):
        results = await hits(patient, at=moment)
        assert telling(results, "takes warfarin")
        assert not any(hit.replaced_by or hit.disputed_by for hit in results)


async def test_what_is_announced_replaces_nothing_before_its_day(
    rules: MemoryCore, world: World
) -> None:
    await tell(rules, "I drive a 2014 Golf.", session="s1", at=NOW - 2 * WEEK)
    await tell(rules, "From 1 June on I no longer drive the Golf.", session="s2", at=NOW - WEEK)
    assert not any(hit.replaced_by for hit in await hits(rules, "What do I drive?"))
    world.clock.forward(timedelta(days=40).total_seconds())
    days = {
        later["at"].date().isoformat()
        for hit in await hits(rules, "What do I drive?")
        for later in hit.replaced_by
    }
    assert days == {"2026-06-01"}


async def test_an_assistant_replaces_nothing(rules: MemoryCore) -> None:
    await tell(rules, EARLIER, session="s1", at=NOW - 9 * WEEK)
    await tell(rules, ("assistant", LATER), session="s2", at=NOW - WEEK)
    assert not any(hit.replaced_by for hit in await hits(rules))


async def test_a_message_that_told_a_deleted_fact_is_not_named(patient: MemoryCore) -> None:
    page = await patient.list(ALICE, ListInput(type=MemoryType.SEMANTIC))
    for memory in page.memories:
        if "apixaban" in memory.content:
            await patient.delete(ALICE, memory.id)
    results = await hits(patient)
    assert telling(results, "takes warfarin")
    assert not any(hit.replaced_by or hit.disputed_by for hit in results)
