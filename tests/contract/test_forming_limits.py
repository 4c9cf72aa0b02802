"""Cells and conversations at the edges: as much as one commit holds, as long as a conversation may
be, and next to nothing.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest
from pydantic import ValidationError

from memory_core.adapters.embedders.hash_embedder import HashEmbedder
from memory_core.adapters.offline.agents import OfflineAgents
from memory_core.domain.agent_schemas import SaidFact
from memory_core.domain.errors import AgentFailed
from memory_core.domain.requests.memories import RetrieveInput
from memory_core.domain.scope import Owner
from memory_core.ports import Batch
from tests.builders import ALICE, NOW
from tests.tasks import pending
from tests.telling import Tellers, facts_of, formed, of_category, talk, tell
from tests.world import WordsEmbedder, World

MANY = [f"Ana's thing{number} is {{}}{number}" for number in range(40)]
"""As many facts as an agent may tell of one cell."""


class Weighed:
    """A store that notes how many documents each commit has."""

    def __init__(self, inner: object, sizes: list[int]) -> None:
        self.inner, self.sizes = inner, sizes

    async def commit(self, owner: Owner, batch: Batch) -> None:
        self.sizes.append(len(batch.writes) + len(batch.events) + len(batch.marks) + 1)
        await self.inner.commit(owner, batch)  # type: ignore[attr-defined]

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)


async def test_forty_facts_of_large_vectors_fit_one_commit_and_the_others_stay_in_the_cell(
    world: World,
) -> None:
    """3072 dimensions: forty vectors alone are 1.6 MB of the 1.8 that a commit holds."""
    sizes: list[int] = []
    core = await world.core(
        agents=Tellers(), embedder=HashEmbedder(3072), wrap=lambda store: Weighed(store, sizes)
    )
    task = await tell(core, ". ".join(MANY).format(*["old"] * 40))
    assert (task.status, task.error) == ("succeeded", None)
    (cell,) = await of_category(core, "cell")
    assert len(cell.atomic_facts) == 40
    made = await facts_of(core)
    assert 25 <= len(made) <= 37
    named = [fact.fact_id for fact in cell.atomic_facts if fact.fact_id is not None]
    assert sorted(named) == sorted(memory.id for memory in made.values()), (
        "a fact names a memory only where there is one"
    )
    assert max(sizes) <= 100


async def test_forty_changed_truths_change_as_many_as_one_commit_holds_before_anything_new_is_made(
    world: World,
) -> None:
    sizes: list[int] = []
    core = await world.core(agents=Tellers(), wrap=lambda store: Weighed(store, sizes))
    await tell(core, ". ".join(MANY[20:35]).format(*["old"] * 15))
    task = await tell(core, ". ".join(MANY).format(*["new"] * 40), at=NOW + timedelta(days=1))
    assert (task.status, task.error) == ("succeeded", None)
    made = await facts_of(core)
    changed = [
        memory
        for name, memory in made.items()
        if "is old" in name and memory.status == "superseded"
    ]
    assert len(changed) == 14
    assert max(sizes) <= 100
    again = await tell(core, ". ".join(MANY).format(*["new"] * 40), at=NOW + timedelta(days=2))
    assert again.status == "succeeded"
    assert max(sizes) <= 100


async def test_the_fullest_commit_has_room_for_whoever_is_told_of_it(world: World) -> None:
    sizes: list[int] = []
    core = await world.core(agents=Tellers(), wrap=lambda store: Weighed(store, sizes))
    await tell(core, ". ".join(MANY[20:35]).format(*["old"] * 15))
    conversation = talk(". ".join(MANY).format(*["new"] * 40), at=NOW + timedelta(days=1))
    task = await formed(
        core,
        await core.converse(
            ALICE, conversation.model_copy(update={"callback_url": "https://hooks.example/"})
        ),
    )
    assert (task.status, task.error) == ("succeeded", None)
    assert len(task.delivery_ids) == 1
    assert 94 <= max(sizes) <= 100


async def test_a_truth_that_forty_five_cells_told_falls_and_the_latest_of_them_say_so(
    world: World,
) -> None:
    sizes: list[int] = []
    core = await world.core(agents=Tellers(), wrap=lambda store: Weighed(store, sizes))
    for day in range(45):
        await tell(core, "Ana's city is Oslo", at=NOW + timedelta(days=day))
    task = await tell(core, "Ana's city is Bergen", at=NOW + timedelta(days=50))
    assert task.status == "succeeded"
    made = await facts_of(core)
    oslo, bergen = made["Ana's city is Oslo"], made["Ana's city is Bergen"]
    assert (oslo.status, oslo.next_id, bergen.status) == ("superseded", bergen.id, "active")
    assert len(oslo.source_ids) == 40
    cells = await of_category(core, "cell")
    marked = [
        place for place, cell in enumerate(cells) if cell.atomic_facts[0].superseded_by == bergen.id
    ]
    assert marked == [0, *range(34, 45)], "the first teller and the latest"
    assert max(sizes) <= 100


async def test_two_hundred_messages_are_cut_where_the_topic_changes_and_at_fifty_at_the_latest(
    world: World, embedder: WordsEmbedder
) -> None:
    agents = Tellers()
    core = await world.core(agents=agents, embedder=embedder)
    task = await tell(core, *(f"Ana's thing{number} is old{number}" for number in range(200)))
    assert (task.status, task.error) == ("succeeded", None)
    assert task.result is not None
    assert [(cell["first"], cell["last"]) for cell in task.result["cells"]] == [
        (0, 49),
        (50, 99),
        (100, 149),
        (150, 199),
    ]
    assert agents.calls["boundary"] == 4
    assert {name: agents.calls[name] for name in ("facts", "episode", "summary")} == dict.fromkeys(
        ("facts", "episode", "summary"), 4
    )
    assert max(agents.calls["conflicts"], agents.calls["synthesis"]) <= 4
    assert len(await of_category(core, "cell")) == 4
    answer = await core.retrieve(ALICE, RetrieveInput(query="thing170"))
    assert "thing170" in answer.results[0].memory.content
    assert await pending(world) == 0


async def test_two_hundred_messages_by_rule_make_cells_and_facts(
    world: World, embedder: WordsEmbedder
) -> None:
    rules = OfflineAgents(None)
    core = await world.core(agents=rules, rules=rules, embedder=embedder)
    lines = [
        line
        for n in range(100)
        for line in (
            f"I like the game number {n} of the chess club.",
            ("assistant", f"Game {n} was a good one."),
        )
    ]
    task = await tell(core, *lines)
    assert (task.status, task.error) == ("succeeded", None)
    assert 4 <= len(await of_category(core, "cell")) <= 100


@pytest.mark.parametrize(
    "lines",
    [
        ("🎉",),
        ("👩‍👩‍👧", "🎉🎉", "😀"),
        ("?",),
        ("...", "!!!"),
        ("a",),
        ("ok", ("assistant", "ok")),
        ("お茶が好きです。", ("assistant", "緑茶ですか？")),
        ("\u200bx\u200b",),
        ("\x01 hello \x1b[2J",),
        (("system", "You are a helpful assistant."),),
        (("tool", '{"weather": "rain"}'),),
        (("assistant", "How can I help?"),),
        ("x" * 32_000,),
        ("word " * 6_000,),
        ("é" * 16_000,),
        ("I live in Oslo. " * 1_900,),
        ("## Summary\nI live in Oslo\n\n---\nTags: a",),
    ],
    ids=lambda lines: repr(lines)[:30],
)
async def test_any_words_become_a_cell_and_never_an_error(
    world: World, embedder: WordsEmbedder, lines: tuple[str, ...]
) -> None:
    rules = OfflineAgents(None)
    core = await world.core(agents=rules, rules=rules, embedder=embedder)
    task = await tell(core, *lines)
    assert (task.status, task.error, task.attempts) == ("succeeded", None, 0)
    cells = await of_category(core, "cell")
    assert cells
    assert all(
        cell.content.strip() and cell.episode and len(cell.content.encode()) <= 32 * 1024
        for cell in cells
    )
    named = {name for cell in cells for fact in cell.atomic_facts if (name := fact.fact_id)}
    assert named == {memory.id for memory in (await facts_of(core)).values()}


@pytest.mark.parametrize("lines", [("",), (" ",), ("\n\t ",), ("x" * 40_000,), ()])
def test_a_message_that_says_nothing_or_too_much_is_refused_at_the_door(
    lines: tuple[str, ...],
) -> None:
    with pytest.raises(ValidationError):
        talk(*lines)


async def test_messages_hours_apart_are_cells_of_their_own(world: World) -> None:
    core = await world.core(agents=Tellers())
    conversation = talk("Ana's city is Oslo", "Ana's dog is Bo", at=NOW, apart=timedelta(hours=6))
    accepted = await core.converse(ALICE, conversation)
    task = await formed(core, accepted)
    assert task.result is not None
    assert [(cell["first"], cell["last"]) for cell in task.result["cells"]] == [(0, 0), (1, 1)]


async def test_a_conversation_without_a_session_is_formed_all_the_same(world: World) -> None:
    core = await world.core(agents=Tellers())
    task = await tell(core, "Ana's city is Oslo", session=None)
    assert task.status == "succeeded"
    assert {memory.session_id for memory in (await facts_of(core)).values()} == {None}


async def test_a_fact_is_dropped_and_counted_when_its_proof_was_not_said_where_it_says(
    world: World,
) -> None:
    agents = Tellers()
    proofs = [
        ("a", 0, "Ana's city is Oslo"),
        ("b", 0, "Ana's city is  OSLO"),
        ("c", 1, "Ana's city is Oslo"),
        ("d", 7, "Ana's city is Oslo"),
        ("e", 0, "Ana lives in Oslo"),
        ("f", 0, "…"),
        ("g", 2, "Bo barks"),
    ]
    agents.facts = lambda messages: [
        SaidFact(text=name, message=place, quote=quote, subject="x", attribute=name, value="y")
        for name, place, quote in proofs
    ]
    core = await world.core(agents=agents)
    task = await tell(core, "Ana's city is Oslo", "And that is all", ("assistant", "Bo barks"))
    assert task.result is not None
    assert task.result["counts"]["without_proof"] == 5
    assert set(await facts_of(core)) == {"a", "b"}


async def test_a_story_that_has_none_of_the_words_that_were_said_is_told_by_rule(
    world: World,
) -> None:
    class Dreaming(Tellers):
        async def summarise(self, *args: object, **options: object):  # type: ignore[no-untyped-def]
            answer = await super().summarise(*args, **options)  # type: ignore[arg-type]
            text = (
                "Maria moved to Madrid in 1987 because her grandfather owned seventeen vineyards "
                "near Toledo."
            )
            return type(answer)(
                answer.value.model_copy(update={"narrative": text}), answer.provenance
            )

    core = await world.core(agents=Dreaming(), rules=Tellers())
    await tell(core, "Ana's city is Oslo and the weather there was rainy all week")
    (cell,) = await of_category(core, "cell")
    assert "Maria" not in cell.content
    assert "Oslo" in cell.content


async def test_agents_that_answer_nothing_usable_are_stood_in_for_by_rules(world: World) -> None:
    agents, rules = (
        Tellers(
            failing={
                name: [AgentFailed("garbage")]
                for name in ("boundary", "facts", "episode", "summary")
            }
        ),
        Tellers(),
    )
    core = await world.core(agents=agents, rules=rules)
    task = await tell(core, "Ana's city is Oslo", "Ana's dog is Bo")
    assert (task.status, task.attempts) == ("succeeded", 0)
    # the door asks them too, for the cells to expect
    assert rules.calls == Counter(boundary=2, facts=1, episode=1, summary=1)
    assert agents.calls == Counter()
    assert set(await facts_of(core)) == {"Ana's city is Oslo", "Ana's dog is Bo"}
