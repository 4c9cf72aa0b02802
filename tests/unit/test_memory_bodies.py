"""What a commit computes of a memory's body is what it would compute of the memory."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.memory import (
    BYTES_EACH,
    UNLOGGED_FIELDS,
    AtomicFact,
    Foresight,
    Memory,
    Status,
    stored_bytes_of,
)
from memory_core.ledger.batch import created_fields
from tests.builders import NOW, memory

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text("ab\n\"é"), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
FORESIGHT = Foresight(description="on a diet", start_time=NOW)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"foresight": [FORESIGHT]},
        {"foresight": [FORESIGHT.model_copy(update={"end_time": NOW, "confidence": 0.5})]},
        {"atomic_facts": [AtomicFact(text="Ana lives in Oslo", message=1, lasting=True)]},
        {"tags": ["work"], "pinned": True, "searchable": False, "status": Status.DECAYED},
        {"told_at": [NOW], "confidence": 0.5, "importance_base": 0.5, "version": 2},
    ],
)
def test_the_event_of_a_new_memory_leaves_out_defaults(fields: dict[str, Any]) -> None:
    """In the order of the fields, and within its foresight and facts, too."""
    new = memory("Ana lives in Oslo").changed(**fields)
    expected = new.model_dump(mode="json", exclude=set(UNLOGGED_FIELDS), exclude_defaults=True)
    made = created_fields(new, new.model_dump(mode="json"))
    assert orjson.dumps(made) == orjson.dumps(expected)


@given(value=JSON, metadata=st.dictionaries(st.text("ab"), JSON, max_size=2), content=st.text())
def test_a_memory_counts_the_bytes_of_its_texts_as_json(
    value: Any, metadata: dict[str, Any], content: str
) -> None:
    new: Memory = memory(content).changed(value=value, metadata=metadata, tags=["é"])
    counted = {
        "content", "episode", "value", "value_text", "atomic_facts", "foresight", "entities",
        "metadata", "tags", "keywords", "semantic_queries"
    }  # fmt: skip
    size = len(new.model_dump_json(include=counted).encode())
    assert stored_bytes_of(new.model_dump(mode="json")) == BYTES_EACH + size
