"""The partition key of an owner: one text for both ids, never the same for two owners."""

from __future__ import annotations

import orjson
from hypothesis import given
from hypothesis import strategies as st

from memory_core.adapters.cosmos.items import addressed, partition_of
from memory_core.domain.scope import Owner
from tests.cosmos_traffic import owner_of

MAX_KEY_BYTES = 2048
"""What the service takes as the value of a key."""
LONGEST_APP_ID, LONGEST_USER_ID = 64, 128
ids = st.text(
    st.one_of(st.sampled_from("/%2F5ab.-"), st.characters(exclude_categories=("Cs",))),
    min_size=1,
    max_size=LONGEST_USER_ID,
)
owners = st.builds(Owner, ids, ids)


@given(owners, owners)
def test_two_owners_have_two_keys_from_which_both_ids_can_be_read(
    owner: Owner, other: Owner
) -> None:
    assert owner_of(partition_of(owner)) == owner
    assert (partition_of(owner) == partition_of(other)) == (owner == other)


def test_the_ends_of_ids_do_not_run_into_each_other() -> None:
    pairs = [
        Owner("a/b", "c"),
        Owner("a", "b/c"),
        Owner("a%2Fb", "c"),
        Owner("a", "b%2Fc"),
        Owner("a%", "2Fb/c"),
        Owner("a", "%2Fb/c"),
    ]
    assert len({partition_of(owner) for owner in pairs}) == len(pairs)


def test_the_longest_ids_fit_into_a_key() -> None:
    widest = Owner("a" * LONGEST_APP_ID, "\N{GRINNING FACE}" * LONGEST_USER_ID)
    assert len(orjson.dumps([partition_of(widest)])) <= MAX_KEY_BYTES
    assert (
        len(orjson.dumps([partition_of(Owner("a" * LONGEST_APP_ID, "%" * LONGEST_USER_ID))]))
        <= MAX_KEY_BYTES
    )


def test_an_item_names_its_key_and_both_ids() -> None:
    assert addressed(Owner("shop", "ana"), "m", "memory") == {
        "id": "m", "owner": "shop/ana", "app_id": "shop", "user_id": "ana", "kind": "memory",
    }  # fmt: skip
