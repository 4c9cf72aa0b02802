"""What was formed of a note's text follows an edit of the text."""

from __future__ import annotations

from memory_core.domain.memory import Memory
from memory_core.domain.requests.memories import UpdateInput
from tests.builders import ALICE
from tests.telling import tell
from tests.world import World, listed

TALK = "My dog is called Momo. Momo loves the park near our house. I walk Momo every morning."
PUT_RIGHT = "User's dog is called Mimo. Mimo loves the park near the house."


def formed_terms(note: Memory) -> list[str]:
    return [*note.tags, *note.keywords, *note.semantic_queries]


async def test_a_word_that_a_note_lost_finds_it_no_more(world: World) -> None:
    core = await world.core_by_rules()
    await tell(core, TALK, session="s1")
    (note,) = await listed(core, category="note")
    assert any("Momo" in term for term in formed_terms(note))
    tagged = await core.update(ALICE, note.id, UpdateInput(tags=[*note.tags, "Momo's page"]), "*")
    edited = await core.update(ALICE, note.id, UpdateInput(content=PUT_RIGHT), tagged.etag)
    assert [term for term in formed_terms(edited) if "Momo" in term] == ["Momo's page"]
    for terms in (edited.tags, edited.keywords):
        assert {"dog", "park", "house"} <= {*terms}
    replaced = await core.update(
        ALICE, note.id, UpdateInput(content="User has a cat.", tags=["dog"]), edited.etag
    )
    assert (replaced.tags, replaced.keywords) == (["dog"], [])
