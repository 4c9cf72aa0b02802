"""Keys and audit entries of an app: what each store keeps of them, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memory_core.access.lookup import KeyLookup, KeyTags
from memory_core.domain.errors import TooManyRequests
from memory_core.domain.rate_limits import Rate
from memory_core.domain.scope import Owner
from memory_core.ports import Document, EntryFilter, KeyStore, LongTermStore, Place, sequence_of
from tests.builders import NOW, StillClock
from tests.contract.conftest import StoreFactory

pytestmark = pytest.mark.parametrize("adapter", ["sqlite", "cosmos"], indirect=True)


def key(name: str, number: int = 0, **fields: Any) -> Document:
    return Document(name, "key", {"sequence": number, "key_id": name, **fields})


def entry(name: str, number: int, action: str = "key_made", **target: str) -> Document:
    return Document(
        name,
        "audit",
        {"sequence": sequence_of(NOW) + number * 1_000_000, "action": action, "target": target},
    )


async def ids(store: KeyStore, app_id: str = "shop", **asked: Any) -> list[str]:
    return [
        document.id
        for document in await store.page(
            app_id, **{"kind": "audit", "after": None, "limit": 100, **asked}
        )
    ]


async def test_a_key_is_written_once_read_by_its_id_and_replaced_only_as_it_was_read(
    store_factory: StoreFactory,
) -> None:
    store = (await store_factory()).key_store()
    elsewhere = (await store_factory()).key_store()
    assert await store.read("shop", "k1") is None
    assert await store.write("shop", [key("k1"), entry("a1", 1)])
    assert await elsewhere.write("shop", [key("k1"), entry("a1", 1)]), (
        "the same again, as after a lost answer"
    )
    assert not await elsewhere.write("shop", [key("k1", label="other"), entry("a2", 2)])
    stored = await elsewhere.read("shop", "k1")
    assert stored is not None
    assert (stored.kind, stored.body) == ("key", key("k1").body)
    assert await store.write("shop", [replace(stored, body={**stored.body, "label": "first"})])
    late = replace(stored, body={**stored.body, "label": "second"})
    assert not await elsewhere.write("shop", [key("k2"), late, entry("a3", 3)]), (
        "all of them or none"
    )
    assert await store.read("shop", "k2") is None
    assert await ids(store) == ["a1"]
    seen = await elsewhere.read("shop", "k1")
    assert seen is not None
    assert seen.body["label"] == "first"


async def test_an_app_sees_its_own_keys_and_entries_newest_first_page_by_page(
    store: LongTermStore,
) -> None:
    keys = store.key_store()
    entries = [
        entry(f"a{number}", number // 2, "user_erased" if number % 3 == 0 else "key_made")
        for number in range(6)
    ]
    assert await keys.write("shop", [*entries, key("k1")])
    assert await keys.write("rival", [key("k1"), entry("a9", 9)])
    assert await ids(keys) == ["a5", "a4", "a3", "a2", "a1", "a0"]
    assert await ids(keys, "rival") == ["a9"]
    assert await ids(keys, "nobodys") == []
    assert await ids(keys, kind="key") == ["k1"]
    first = await keys.page("shop", "audit", None, 3)
    rest = await ids(keys, after=Place(first[-1].body["sequence"], first[-1].id), limit=3)
    assert [document.id for document in first] + rest == ["a5", "a4", "a3", "a2", "a1", "a0"]
    second = NOW + timedelta(seconds=1)
    assert await ids(keys, where=EntryFilter(since=second)) == ["a5", "a4", "a3", "a2"]
    assert await ids(keys, where=EntryFilter(until=second)) == ["a1", "a0"]
    assert await ids(keys, where=EntryFilter(since=second, until=second)) == []
    assert await ids(keys, where=EntryFilter(action="user_erased")) == ["a3", "a0"]
    assert (await store.owners(None, 100)) == [], "they make nobody a user"
    assert (await store.snapshot(Owner("shop", "k1"))).head is None


async def test_entries_about_a_user_are_those_of_the_app_that_name_them(
    store: LongTermStore,
) -> None:
    keys = store.key_store()
    about = [
        entry("a1", 1, user_id="ana"),
        entry("a2", 2, user_id="anabel"),
        entry("a3", 3, key_id="ana"),
        entry("a4", 4, user_id="ana"),
    ]
    assert await keys.write("shop", about)
    assert await keys.write("rival", about[:1])
    documents = await keys.about("shop", "ana", 10)
    assert {document.id for document in documents} == {"a1", "a4"}
    assert len(await keys.about("shop", "ana", 1)) == 1
    assert await keys.write(
        "shop",
        [
            replace(document, body={**document.body, "target": {"user": "0c9e"}})
            for document in documents
        ],
    )
    assert await keys.about("shop", "ana", 10) == []
    assert len(await keys.about("rival", "ana", 10)) == 1


async def test_a_key_whose_time_is_over_is_gone(store: LongTermStore, clock: StillClock) -> None:
    keys = store.key_store()
    assert await keys.write(
        "shop", [replace(key("k1"), expires_at=clock.now() + timedelta(days=1))]
    )
    assert await ids(keys, kind="key") == ["k1"]
    clock.forward(86_401)
    assert await keys.read("shop", "k1") is None
    assert await ids(keys, kind="key") == []


async def test_invented_ids_cost_a_bounded_number_of_reads_and_lock_no_made_key_out(
    store: LongTermStore, clock: StillClock
) -> None:
    keys, tags = store.key_store(), KeyTags(b"0123456789abcdef")
    record = {
        "app_id": "shop",
        "rights": ["read"],
        "created_at": NOW.isoformat(),
        "salt": "",
        "digest": "",
    }
    made, earlier = (
        tags.tagged("shop", "key1"),
        KeyTags(b"the secret before it").tagged("shop", "key2"),
    )
    await keys.write(
        "shop",
        [
            Document(name, "key", {**record, "sequence": 1, "key_id": name})
            for name in (made, earlier)
        ],
    )
    lookup = KeyLookup(keys, clock, tags, Rate(20, 20))
    for number in range(20):
        assert await lookup.find(f"app{number % 7}", f"guess{number}") is None
    for app_id, name in (
        ("shop", "guess"),
        ("shop", ""),
        ("shop", "key1"),
        ("shop", made[:-1] + "g"),
        ("bank", made),
        ("shop", earlier),
    ):
        with pytest.raises(TooManyRequests):
            await lookup.find(app_id, name)
    stored_key = await lookup.find("shop", made)
    assert stored_key is not None
    assert stored_key.key_id == made
    clock.forward(1)
    assert await lookup.find("shop", earlier) is not None, (
        "a key of an earlier secret is read as soon as there is room"
    )
    assert await lookup.find("shop", earlier) is not None, "and then needs none"
