"""Bookkeeping beside the log: one document at a time, created or replaced only as it was read,
and no other document.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memory_core.domain.errors import AlreadyExists, TooLarge
from memory_core.domain.memory import Head
from memory_core.domain.scope import Owner
from memory_core.ports import Document, LongTermStore, Write
from tests.builders import ALICE, StillClock, batch, commit, document, memory, save
from tests.contract.conftest import StoreFactory

BOB = Owner("app", "bob")


def task(identity: str = "tsk_1", **body: Any) -> Document:
    return Document(identity, "task", {"n": 0, "epoch": "epoch-1", **body})


async def stored(
    store: LongTermStore, identity: str = "tsk_1", owner: Owner = ALICE
) -> Document | None:
    return (await store.snapshot(owner, [identity])).documents.get(identity)


async def kept(store: LongTermStore, given: Document, owner: Owner = ALICE) -> Document:
    written = await store.keep(owner, given)
    assert written is not None
    return written


async def test_what_was_kept_is_read_back_with_the_tag_that_its_writer_got(
    store: LongTermStore,
) -> None:
    await commit(store, ALICE)
    written = await kept(store, task(said=["tea", {"deep": None}]))
    read = await stored(store)
    assert read == task(said=["tea", {"deep": None}])
    assert read is not None
    assert read.tag == written.tag is not None


async def test_a_create_takes_no_id_that_is_taken(store: LongTermStore) -> None:
    await commit(store, ALICE)
    await kept(store, task(n=1))
    assert await store.keep(ALICE, task(n=2)) is None
    assert (await stored(store)) == task(n=1)


async def test_a_replacement_finds_what_was_read_or_does_nothing(store: LongTermStore) -> None:
    await commit(store, ALICE)
    first = await kept(store, task(n=1))
    second = await kept(store, replace(first, body=task(n=2).body))
    assert second.tag != first.tag
    assert await store.keep(ALICE, replace(first, body=task(n=3).body)) is None
    assert (await stored(store)) == task(n=2)
    await kept(store, replace(second, body=task(n=4).body))
    assert (await stored(store)) == task(n=4)


async def test_nothing_is_replaced_where_nothing_is(store: LongTermStore) -> None:
    await commit(store, ALICE)
    gone = await kept(store, task())
    await commit(store, ALICE, Write("delete", task()))
    assert await store.keep(ALICE, replace(gone, body=task(n=1).body)) is None
    assert await stored(store) is None


async def test_of_many_who_read_the_same_state_one_wins(store_factory: StoreFactory) -> None:
    stores = [await store_factory(), await store_factory()]
    await commit(stores[0], ALICE)
    first = await kept(stores[0], task())
    answers = await asyncio.gather(
        *(stores[n % 2].keep(ALICE, replace(first, body=task(n=n).body)) for n in range(1, 9))
    )
    (winner,) = [answer for answer in answers if answer is not None]
    assert (await stored(stores[0])) == winner


async def test_of_many_who_create_one_wins(store_factory: StoreFactory) -> None:
    stores = [await store_factory(), await store_factory()]
    await commit(stores[0], ALICE)
    answers = await asyncio.gather(*(stores[n % 2].keep(ALICE, task(n=n)) for n in range(8)))
    (winner,) = [answer for answer in answers if answer is not None]
    assert (await stored(stores[1])) == winner


async def test_the_same_write_again_is_still_ours(store: LongTermStore) -> None:
    """Its first answer may have been lost; and a writer of the same has left what was wanted."""
    await commit(store, ALICE)
    first = await kept(store, task(n=1))
    assert (await kept(store, task(n=1))).tag == first.tag
    second = await kept(store, replace(first, body=task(n=2).body))
    assert (await kept(store, replace(first, body=task(n=2).body))).tag == second.tag


async def test_the_head_is_not_moved_and_a_commit_under_way_not_disturbed(
    store: LongTermStore,
) -> None:
    head = await save(store, memory())
    first = await kept(store, task())
    await kept(store, replace(first, body=task(n=1).body))
    assert (await store.snapshot(ALICE)).head == head
    await store.commit(ALICE, batch(head))
    assert (await store.events(ALICE, 0, 10))[-1].sequence == 2


async def test_another_owners_document_of_the_same_id_is_untouched(store: LongTermStore) -> None:
    await commit(store, ALICE)
    await commit(store, BOB)
    mine = await kept(store, task(n=1))
    theirs = await kept(store, task(n=2), BOB)
    assert await store.keep(BOB, replace(mine, body=task(n=3).body)) is None
    await kept(store, replace(mine, body=task(n=4).body))
    assert await stored(store, owner=BOB) == theirs


async def test_what_has_expired_is_gone_and_its_id_free(
    store: LongTermStore, clock: StillClock
) -> None:
    await commit(store, ALICE)
    until = clock.now() + timedelta(seconds=60)
    first = await kept(store, replace(task(n=1), expires_at=until))
    assert await stored(store) == replace(task(n=1), expires_at=until)
    clock.forward(61)
    assert await stored(store) is None
    assert await store.page(ALICE, "task", None, None, 10) == []
    assert await store.keep(ALICE, replace(first, body=task(n=2).body)) is None
    await kept(store, task(n=3))
    assert await stored(store) == task(n=3)


async def test_pages_have_tags_too(store: LongTermStore) -> None:
    await commit(store, ALICE)
    written = [await kept(store, task(f"tsk_{n}", sequence=n)) for n in range(3)]
    paged = await store.page(ALICE, "task", None, None, 10, newest_first=False)
    assert paged == written
    assert [document.tag for document in paged] == [document.tag for document in written]


async def test_a_commit_puts_under_a_tag_only_onto_what_was_read(store: LongTermStore) -> None:
    await commit(store, ALICE)
    first = await kept(store, task())
    second = await kept(store, replace(first, body=task(n=1).body))
    with pytest.raises(AlreadyExists):
        await commit(
            store,
            ALICE,
            Write("put", replace(first, body=task(n=2).body)),
            Write("put", document(memory(id="mem_1"))),
        )
    assert await stored(store) == task(n=1)
    assert await stored(store, "mem_1") is None
    await commit(store, ALICE, Write("put", replace(second, body=task(n=3).body)))
    assert await stored(store) == task(n=3)


async def test_a_commit_puts_under_a_tag_nothing_where_nothing_is(store: LongTermStore) -> None:
    await commit(store, ALICE)
    first = await kept(store, task())
    await commit(store, ALICE, Write("delete", task()))
    with pytest.raises(AlreadyExists):
        await commit(store, ALICE, Write("put", first))


@pytest.mark.parametrize("kind", ["memory", "version", "event", "head"])
async def test_what_the_log_speaks_of_is_written_by_commits_only(
    store: LongTermStore, kind: Any
) -> None:
    with pytest.raises(ValueError, match="commits only"):
        await store.keep(ALICE, Document("mem_1", kind, {}))


async def test_a_document_over_the_limit_is_refused(store: LongTermStore) -> None:
    with pytest.raises(TooLarge):
        await store.keep(ALICE, task(text="x" * 1_800_000))


async def test_whoever_waits_is_found_page_by_page_in_order(store: LongTermStore) -> None:
    owners = [Owner("app", name) for name in ("zoë", "ana", "bob", "eve")] + [
        Owner("another", "zed")
    ]
    for owner in owners:
        await store.commit(
            owner, batch(None, head={"pending_tasks": 0 if owner.user_id == "bob" else 2})
        )
    heads: list[tuple[Owner, Head]] = []
    while page := await store.waiting(heads[-1][0] if heads else None, 2):
        heads += page
    assert [owner for owner, _ in heads] == sorted(
        owner for owner in owners if owner.user_id != "bob"
    )
    assert {head.pending_tasks for _, head in heads} == {2}
    assert heads[0][1] == (await store.snapshot(heads[0][0])).head


async def test_all_owners_are_found_page_by_page_in_order(store: LongTermStore) -> None:
    owners = [Owner("app", name) for name in ("zoë", "ana", "bob")] + [Owner("another", "zed")]
    for owner in owners:
        await store.commit(owner, batch(None))
    heads: list[tuple[Owner, Head]] = []
    while page := await store.owners(heads[-1][0] if heads else None, 2):
        heads += page
    assert [owner for owner, _ in heads] == sorted(owners)
    assert heads[0][1] == (await store.snapshot(heads[0][0])).head


async def test_nobody_waits_at_first(store: LongTermStore) -> None:
    await commit(store, ALICE)
    assert await store.waiting(None, 10) == []
