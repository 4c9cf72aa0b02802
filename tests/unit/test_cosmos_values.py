"""The emulator's index of texts: whatever was written, replaced and removed, it leaves out no
document that an equality selects.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.cosmos_emulator.copies import Partition
from tests.cosmos_emulator.items import Item

NAMES, VALUES = ["kind", "status"], ["a", "b", "c", None, 1]
written = st.tuples(
    st.integers(0, 12),
    st.one_of(st.none(), st.tuples(st.sampled_from(VALUES), st.sampled_from(VALUES))),
)
asked = st.lists(
    st.tuples(st.sampled_from(NAMES), st.frozensets(st.sampled_from(["a", "b", "z"]), min_size=1)),
    min_size=1,
    max_size=2,
)


def item(id_: str, rid: int, values: tuple[object, object]) -> Item:
    return Item(id_, "key", {"id": id_, **dict(zip(NAMES, values, strict=True))}, 1, rid, rid, None)


@given(st.lists(written, max_size=40), asked)
def test_what_an_equality_selects_is_among_what_the_index_leaves(
    writes: list[tuple[int, tuple[object, object] | None]],
    equalities: list[tuple[str, frozenset[str]]],
) -> None:
    partition = Partition("key", "00")
    wanted = [((name,), values) for name, values in equalities]
    partition.narrowed(wanted)  # the index is there from the first query on
    for rid, (number, values) in enumerate(writes):
        if values is None:
            partition.remove(f"m{number}")
        else:
            partition.put(item(f"m{number}", rid, values))
    left = partition.narrowed(wanted)
    selected = [
        item
        for item in partition.items.values()
        if all(item.body[name] in values for name, values in equalities)
    ]
    assert {item.id for item in selected} <= {item.id for item in left} <= partition.items.keys()
    if len(left) < len(partition.items):
        assert [item.rid for item in left] == sorted(item.rid for item in left)
