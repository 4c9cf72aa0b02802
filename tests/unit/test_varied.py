"""Repeats stand behind, whether their memories were looked at before or never."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import orjson
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.ranking.repeats import Telling, repeats
from memory_core.domain.serialized_memory import SerializedMemory
from memory_core.recollection.reorder import put_repeats_behind

CONTENTS = (
    "I like tea.",
    "I like the tea",
    "I like coffee.",
    "Tea!",
    "",
    "我喜欢茶",
    "Went to Rome for tea",
)
tellings = st.tuples(
    st.sampled_from(CONTENTS),
    st.sampled_from((None, "Ana", "Ben")),
    st.sampled_from(("2026-05-08", "2026-05-09")),
)


def shown(content: str, actor: str | None, day: str, kind: str) -> SerializedMemory:
    body = {
        "content": content,
        "actor": actor,
        "key": None,
        "type": kind,
        "event_timestamp": f"{day}T10:00:00Z",
    }
    return SerializedMemory(orjson.dumps(body))


@given(
    st.lists(tellings, max_size=12), st.sampled_from(("episodic", "semantic")), st.integers(1, 12)
)
async def test_who_repeats_is_told_from_all_that_was_read_however_often_it_is_asked(
    results: list[tuple[str, str | None, str]], kind: str, limit: int
) -> None:
    memories = {row: shown(*result, kind) for row, result in enumerate(results)}

    async def read(rows: Sequence[int]) -> Mapping[int, SerializedMemory]:
        return {row: memories[row] for row in rows}

    def rank(most: int | None) -> list[int]:
        return list(memories)[:most]

    answers = [await put_repeats_behind(rank, limit, read) for _ in range(2)]
    assert answers[0] == answers[1]
    rows, read_rows = answers[0]
    looked_at = [row for row in sorted(rows) if row in read_rows]
    days = [None if kind == "semantic" else results[row][2] for row in looked_at]
    behind = repeats(
        [
            Telling(results[row][0], results[row][1], day)
            for row, day in zip(looked_at, days, strict=True)
        ]
    )
    repeating = [looked_at[place] for place in behind]
    assert rows == [row for row in looked_at if row not in repeating] + repeating + [
        row for row in rows if row not in read_rows
    ]
