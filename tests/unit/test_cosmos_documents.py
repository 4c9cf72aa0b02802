from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.adapters.cosmos.conditions import Conditions
from memory_core.adapters.cosmos.items import (
    document_of,
    item_of,
    memory_of,
    numbers,
    serialized_memory_of,
)
from memory_core.ports import Document
from tests.builders import ALICE, NOW, document, memory, unit, where


@given(
    st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=20)
)
def test_a_vector_is_sent_in_five_digits_that_keep_every_number_to_half_a_unit_of_the_last(values):
    sent = numbers(np.array(values, dtype=np.float32))
    assert sent == pytest.approx(values, rel=5.001e-5, abs=0)
    assert all(
        len(f"{number:e}".partition("e")[0].strip("-").replace(".", "").rstrip("0")) <= 5
        for number in sent
    )


def test_a_memory_comes_back_from_its_item_whole():
    stored_memory = memory(
        "tea",
        embedding=unit(1),
        subject="Ann",
        attribute="Home",
        metadata={"kind": "x", "ttl": 1},
        valid_until=NOW,
        value={"ttl": 2},
    )
    item = item_of(ALICE, document(stored_memory), NOW)
    assert (item["slot_subject"], item["slot_attribute"], item["valid_until_s"]) == (
        "ann",
        "home",
        NOW.timestamp(),
    )
    back = document_of(item)
    assert (back.id, back.kind, back.body) == (
        stored_memory.id,
        "memory",
        stored_memory.model_dump(mode="json"),
    )
    assert back.vector is not None
    assert back.vector == pytest.approx(unit(1), abs=5e-5)
    assert memory_of(item).public() == stored_memory.public()
    assert serialized_memory_of(item).memory == stored_memory.model_copy(update={"embedding": None})


def test_names_in_another_kinds_body_do_not_clash_with_the_items_own():
    body = {"id": "x", "kind": "y", "ttl": 5, "app_id": "other", "embedding": [1], "sequence": 3}
    item = item_of(ALICE, Document("op_1", "operation", body), NOW)
    assert (item["id"], item["kind"], item["app_id"], item["sequence"]) == (
        "op_1",
        "operation",
        ALICE.app_id,
        3,
    )
    assert "ttl" not in item
    assert document_of({**item, "_etag": "1"}) == Document("op_1", "operation", body)


def test_the_service_drops_an_expiring_document_no_later_than_our_clock_does():
    for seconds, ttl in ((60, 60), (59.9, 59), (0.2, 1), (-5, 1)):
        ending = Document("rcp_1", "receipt", {}, expires_at=NOW + timedelta(seconds=seconds))
        assert item_of(ALICE, ending, NOW)["ttl"] == ttl
    with pytest.raises(ValueError, match="does not expire"):
        item_of(
            ALICE,
            Document("mem_1", "memory", memory().model_dump(mode="json"), expires_at=NOW),
            NOW,
        )


@given(
    st.text(min_size=1),
    st.text(min_size=1),
    st.sets(st.text(min_size=1), max_size=3),
    st.text(min_size=1),
)
def test_no_value_ever_stands_in_a_statement(session, category, tags, successor):
    def statement(session, category, tags, successor):
        asked = Conditions(ALICE, ("memory",))
        narrow = {
            "categories": frozenset({category}),
            "tags": frozenset(tags),
            "next_ids": frozenset({successor}),
        }
        asked.within(where(session_id=session, at=NOW, since=NOW, **narrow))
        return asked.query("*")

    query = statement(session, category, tags, successor)
    plain = statement("s", "c", {str(number) for number in range(len(tags))}, "n")
    assert query.statement == plain.statement
    assert {session, category, successor, *tags} <= {
        parameter["value"] for parameter in query.parameters
    }
    assert [parameter["name"] for parameter in query.parameters] == [
        f"@p{number}" for number in range(len(query.parameters))
    ]
