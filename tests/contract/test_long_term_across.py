"""What every long-term store promises about looks over the users of an app: owners,
poisoned tasks, a user's agents.
"""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from memory_core.domain.memory import Status
from memory_core.domain.scope import Owner
from memory_core.ports import AgentCount, Document, LongTermStore, Place
from tests.builders import NOW, commit, memory, save

HOUR = timedelta(hours=1)


@pytest.fixture
def app_id() -> str:
    """An app of this test alone: a real account's container may hold what other
    tests have left.
    """
    return f"app-{uuid4().hex}"


def task(identity: str, sequence: int, status: str) -> Document:
    return Document(identity, "task", {"epoch": "epoch-1", "sequence": sequence, "status": status})


async def test_the_owners_of_one_app_are_found_page_by_page_in_order(
    store: LongTermStore, app_id: str
) -> None:
    owners = [Owner(app_id, name) for name in ("zoë", "ana", "Bob", "日本")] + [
        Owner(f"{app_id}0", "ana")
    ]
    for owner in owners:
        await commit(store, owner)
    owners_read: list[Owner] = []
    while page := await store.owners(owners_read[-1] if owners_read else None, 2, app_id):
        owners_read += [owner for owner, _ in page]
    assert owners_read == sorted(owner for owner in owners if owner.app_id == app_id)
    assert await store.owners(None, 9, "nobody") == []


async def test_poisoned_tasks_of_an_apps_users_are_paged_newest_first(
    store: LongTermStore, app_id: str
) -> None:
    ana, bob, theirs = Owner(app_id, "ana"), Owner(app_id, "bob"), Owner(f"{app_id}0", "ana")
    for owner in (ana, bob, theirs):
        await commit(store, owner)
    dues = {}
    for owner, identity, sequence, status in (
        (ana, "tsk_1", 5, "poisoned"), (bob, "tsk_2", 5, "poisoned"), (ana, "tsk_3", 9, "poisoned"),
        (bob, "tsk_4", 7, "failed"), (bob, "tsk_5", 1, "poisoned"),
        (theirs, "tsk_6", 8, "poisoned"),
    ):  # fmt: skip
        dues[identity] = await store.keep(owner, task(identity, sequence, status))
    assert (
        await store.keep(
            ana,
            Document(
                "dlv_1", "delivery", {"epoch": "epoch-1", "sequence": 3, "status": "poisoned"}
            ),
        )
        is not None
    )
    documents: list[tuple[Owner, Document]] = []
    after = None
    while page := await store.poisoned(app_id, after, 2):
        documents += page
        after = Place(page[-1][1].body["sequence"], page[-1][1].id)
    assert documents == [
        (ana, dues["tsk_3"]),
        (bob, dues["tsk_2"]),
        (ana, dues["tsk_1"]),
        (bob, dues["tsk_5"]),
    ]
    assert [document.tag for _, document in documents] == [
        dues[document.id].tag for _, document in documents
    ], "so that it can be changed as it was read"


async def test_agents_of_a_user_are_counted_and_paged_by_their_ids(
    store: LongTermStore, app_id: str
) -> None:
    ana, bob = Owner(app_id, "ana"), Owner(app_id, "bob")
    later = {"updated_at": NOW + HOUR + timedelta(seconds=1, microseconds=1)}
    await save(
        store,
        memory(owner=ana, agent_id="b"),
        memory(owner=ana, agent_id="b", status=Status.COMPRESSED, updated_at=NOW + HOUR),
        memory(owner=ana, agent_id="b", status=Status.SUPERSEDED, **later),
        memory(owner=ana, agent_id="é"),
        memory(owner=ana, agent_id="a", status=Status.DELETED),
        memory(owner=ana),
    )
    await save(store, memory(owner=bob, agent_id="a"))
    expected = [
        AgentCount("a", 0, NOW),
        AgentCount("b", 2, later["updated_at"]),
        AgentCount("é", 1, NOW),
    ]
    assert await store.agents(ana, None, 9) == expected
    counts: list[AgentCount] = []
    while page := await store.agents(ana, counts[-1].agent_id if counts else None, 1):
        counts += page
    assert counts == expected
    assert await store.agents(bob, None, 9) == [AgentCount("a", 1, NOW)]
    assert await store.agents(Owner(app_id, "nobody"), None, 9) == []
