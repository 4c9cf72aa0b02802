"""The bench of saves into a slot: it counts what the product asks of its store."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from bench.counted import CountedStore
from bench.slot_saves import measured
from bench.users import Hands, owner
from memory_core.bootstrap.adapters import Adapters
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.requests.memories import SaveInput, UpdateInput
from memory_core.telemetry import Telemetry


async def test_a_save_asks_the_store_as_often_after_forty_statements_as_after_one(
    tmp_path: Path,
) -> None:
    few, many = await measured(tmp_path, (1, 40))
    assert few["requests"] == many["requests"] > 0
    assert few["units"] > 0
    beside = await measured(tmp_path / "beside", (1, 40), "keep_both")
    assert beside[0]["requests"] == beside[1]["requests"] == few["requests"]
    assert beside[1]["units"] < 2 * beside[0]["units"], "not by the square of those that hold"
    assert (few["size"], many["size"]) == (1, 40)


async def test_a_save_into_a_slot_with_a_sealed_part_reads_neither_it_nor_the_members(
    tmp_path: Path,
) -> None:
    few, many = await measured(tmp_path, (20, 210))
    assert few["requests"] == many["requests"]
    assert many["units"] < 1.25 * few["units"]


async def _edit_milliunits(folder: Path, said_before: int) -> int:
    """What an edit of the last memory of a slot reads of the store."""
    given = {"embedding_provider": "hash", "llm_provider": "offline", "data": folder}
    settings, clock, telemetry = Settings.model_validate(given), Hands(), Telemetry()
    made, counts = Adapters.of(settings, clock, telemetry.charged, telemetry), Counter[str]()
    store = CountedStore(made.long_term, counts, dimensions=made.embedder.dimensions)
    began = clock.now() - timedelta(days=1000)
    async with MemoryCore(settings, clock=clock, adapters=replace(made, long_term=store)) as core:
        for number in range(said_before + 1):
            fields = {
                "type": "semantic",
                "content": f"Ann lives in town {number}",
                "subject": "Ann",
                "attribute": "home",
                "event_timestamp": began + timedelta(hours=number),
            }
            last = (await core.save(owner(0), SaveInput.model_validate(fields))).memory
        counts.clear()
        await core.update(owner(0), last.id, UpdateInput(content="Ann lives in Bonn"), "*")
    return counts["snapshot.milliunits"]


async def test_an_edit_reads_no_member_of_its_slot_that_stays_as_it_is(tmp_path: Path) -> None:
    few, many = [await _edit_milliunits(tmp_path / f"{before}", before) for before in (1, 40)]
    assert many < 1.5 * few, "its log is longer, and nothing else is read"
