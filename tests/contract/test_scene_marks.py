"""What a store does with scenes: the mark on a memory is part of the batch and of nothing else; a
centroid comes back as it was written.
"""

from __future__ import annotations

import numpy as np
import pytest

from memory_core.domain.errors import AlreadyExists, TooLarge
from memory_core.domain.memory import Memory
from memory_core.domain.results import Call
from memory_core.ledger.batch import assemble
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.read_set import ReadSet
from memory_core.ports import Document, LongTermStore, Mark
from tests.builders import ALICE, NOW, memory, unit


async def committed(store: LongTermStore, commit: str, changes: Changes[None]) -> None:
    head = (await store.snapshot(ALICE)).head
    await store.commit(
        ALICE, assemble(head, changes, commit_id=commit, epoch="ep_1", now=NOW, call=Call()).batch
    )


async def held(store: LongTermStore, name: str) -> Memory:
    seen = await store.snapshot(ALICE, [name])
    stored_memory = ReadSet(seen.head, dict(seen.documents)).memory(name)
    assert stored_memory is not None
    return stored_memory


async def test_a_memory_is_put_into_a_scene_and_stays_what_it_was(store: LongTermStore) -> None:
    stored_memory, other = (
        memory("grün 🙂", embedding=unit(1), confidence=0.1),
        memory("tea", embedding=unit(2)),
    )
    await committed(
        store, "cmt_1", Changes(None, (Change("created", stored_memory), Change("created", other)))
    )
    before = await held(store, stored_memory.id)
    scene = Document("scn_1", "scene", {"title": "tea"}, unit(3) * np.float32(0.5))
    await committed(
        store,
        "cmt_2",
        Changes(None, puts=(scene,), marks={stored_memory.id: Mark.of_scene("scn_1")}),
    )
    after = await held(store, stored_memory.id)
    assert after.scene_id == "scn_1"
    assert after.model_copy(update={"scene_id": None}) == before.model_copy(
        update={"embedding": after.embedding}
    )
    assert np.array_equal(after.embedding, before.embedding)  # type: ignore[arg-type]
    assert (await held(store, other.id)).scene_id is None
    documents = await store.memories(ALICE, [stored_memory.id])
    assert (documents[stored_memory.id].memory.scene_id, len(await store.events(ALICE, 0, 10))) == (
        "scn_1",
        2,
    )
    document = (await store.snapshot(ALICE, ["scn_1"])).documents["scn_1"]
    assert document.vector is not None
    assert np.allclose(document.vector, scene.vector, rtol=1e-4)  # type: ignore[arg-type]
    assert [document.vector for document in await store.page(ALICE, "scene", None, None, 10)] == [
        None
    ]
    await committed(
        store,
        "cmt_3",
        Changes(
            None,
            deletes=(Document("scn_1", "scene", {}),),
            marks={stored_memory.id: Mark.of_scene(None)},
        ),
    )
    assert (await held(store, stored_memory.id)).scene_id is None


async def test_a_memory_that_is_gone_refuses_the_whole_batch(store: LongTermStore) -> None:
    stored_memory = memory("tea", embedding=unit(1))
    await committed(store, "cmt_1", Changes(None, (Change("created", stored_memory),)))
    scene = Document("scn_1", "scene", {"title": "tea"})
    with pytest.raises(AlreadyExists, match="mem_gone"):
        await committed(
            store,
            "cmt_2",
            Changes(
                None,
                puts=(scene,),
                marks={
                    stored_memory.id: Mark.of_scene("scn_1"),
                    "mem_gone": Mark.of_scene("scn_1"),
                },
            ),
        )
    assert (await held(store, stored_memory.id)).scene_id is None
    assert "scn_1" not in (await store.snapshot(ALICE, ["scn_1"])).documents
    with pytest.raises(TooLarge):
        await committed(
            store,
            "cmt_3",
            Changes(
                None,
                puts=(scene,),
                marks={f"mem_{number}": Mark.of_scene("scn_1") for number in range(99)},
            ),
        )
