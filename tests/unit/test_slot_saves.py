"""The bench of saves into a slot: it counts what the product asks of its store."""

from __future__ import annotations

from pathlib import Path

from bench.slot_saves import measured


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
