"""Lives drawn at random: a fact that was deleted or forgotten is told by nothing that was made of
what said it, at once, after the hourly work, and after another was restored.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from memory_core.core import MemoryCore
from memory_core.domain.memory import Memory, Status
from memory_core.domain.requests.maintenance import ConsolidateInput, ForgetInput
from memory_core.domain.requests.memories import ContextInput, RetrieveInput
from memory_core.domain.scope import Owner
from tests.builders import NOW
from tests.tasks import Hand
from tests.telling import talk
from tests.world import WordsEmbedder, World, listed

TOLD = (
    ("My salary is 54,000 euros.", "54,000", "What is my salary?"),
    ("My salary went up, it's 61,000 euros now.", "61,000", "What is my salary?"),
    ("I take warfarin 5 mg every evening.", "warfarin", "Which blood thinner do I take?"),
    ("I take apixaban 5 mg twice a day now.", "apixaban", "Which blood thinner do I take?"),
    ("I work at Hartwell as a nurse.", "Hartwell", "Where do I work?"),
    ("I work at Northgate now.", "Northgate", "Where do I work?"),
    ("I'm allergic to penicillin.", "penicillin", "What am I allergic to?"),
    ("My sister Judith is in rehab.", "Judith", "Who is in rehab?"),
)
"""What is said, the word that tells it, and a question for it."""
OVERVIEW = "What do you know about me?"
Turns = Sequence[tuple[int, int, bool]]
"""Which is said in which session, and whether an assistant repeats it."""
pytestmark = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)


@pytest.mark.parametrize(
    ("lines", "forgotten", "query", "answer"),
    [
        (
            [
                "I take warfarin every evening.",
                "I have a dentist appointment on 5 January at 9.",
                ("assistant", "Noted: warfarin, dentist on 5 January."),
            ],
            "warfarin",
            "When is my dentist appointment?",
            "dentist appointment",
        )
    ],
)
async def test_what_was_told_beside_a_deleted_fact_still_answers(
    rules: MemoryCore, lines: list[str], forgotten: str, query: str, answer: str
) -> None:
    owner = Owner("app", "beside")
    await rules.converse(owner, talk(*lines, at=NOW - timedelta(days=3), session="s1"))
    await Hand(rules).work_all()
    for memory in await listed(rules, owner):
        if memory.category == "fact" and forgotten in memory.content:
            await rules.delete(owner, memory.id)
    results = (await rules.retrieve(owner, RetrieveInput(query=query))).results
    contents = [hit.memory.content for hit in results]
    assert [text for text in contents if answer in text]
    assert [text for text in contents if forgotten in text] == []


@pytest.fixture
async def rules(world: World) -> MemoryCore:
    return await world.core_by_rules(embedder=WordsEmbedder(), consolidation_threshold=5)


async def live(core: MemoryCore, owner: Owner, turns: Turns) -> None:
    for day, (which, session, repeated) in enumerate(turns):
        text = TOLD[which][0]
        lines = [text, ("assistant", f"I see: {text}")] if repeated else [text]
        at = NOW - timedelta(days=40 - day)
        await core.converse(owner, talk(*lines, at=at, session=f"s{session}"))
        await Hand(core).work_all()
        if which % 3 == 0:
            await settle(core, owner)


async def settle(core: MemoryCore, owner: Owner) -> None:
    await core.consolidate(owner, ConsolidateInput())
    await Hand(core, "consolidation").work_all()


async def answers(core: MemoryCore, owner: Owner) -> dict[str, str]:
    """All that is told of the life unasked, or asked for by its questions, by where."""
    texts: dict[str, list[str]] = {}
    for query in (*dict.fromkeys(question for _, _, question in TOLD), OVERVIEW):
        for mode in ("fast", "reconstruct"):
            request = RetrieveInput.model_validate({"query": query, "mode": mode})
            answer = await core.retrieve(owner, request)
            texts.setdefault(mode, []).append(answer.context or "")
            texts[mode] += [str((hit.memory.content, hit)) for hit in answer.results]
        for session in (None, "s0"):
            asked = ContextInput(query=query, session_id=session)
            texts.setdefault("context", []).append((await core.context(owner, asked)).context)
    texts["context"].append((await core.context(owner, ContextInput())).context)
    texts["profile"] = [(await core.profile(owner)).model_dump_json()]
    scenes = (await core.scenes(owner)).scenes
    texts["scenes"] = [scene.model_dump_json() for scene in scenes]
    texts["scenes"] += [(await core.scene(owner, scene.id)).model_dump_json() for scene in scenes]
    texts["history"] = [
        str(await core.evolution(owner, fact.id)) for fact in await facts(core, owner)
    ]
    return {where: "\n".join(parts) for where, parts in texts.items()}


async def facts(core: MemoryCore, owner: Owner, **query: str) -> list[Memory]:
    return [memory for memory in await listed(core, owner, **query) if memory.category == "fact"]


async def all_that_tell(core: MemoryCore, owner: Owner, word: str) -> list[str]:
    return [
        fact.id
        for fact in await facts(core, owner, status="all")
        if word in fact.content and fact.status is not Status.DELETED
    ]


async def put_away(core: MemoryCore, owner: Owner, ids: Sequence[str], way: str) -> None:
    if way == "delete":
        for name in ids:
            await core.delete(owner, name)
    else:
        request = {"filter": {"ids": list(ids)}, "mode": "soft"}
        await core.forget(owner, ForgetInput.model_validate(request))
        await Hand(core, "consolidation").work_all()
        await Hand(core).work_all()


@settings(
    max_examples=8,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to shrink a life takes minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    turns=st.lists(
        st.tuples(st.integers(0, len(TOLD) - 1), st.integers(0, 2), st.booleans()),
        min_size=2,
        max_size=9,
    ),
    way=st.sampled_from(["delete", "forget"]),
)
async def test_a_fact_that_is_gone_is_told_by_nothing_that_was_made_of_it(
    rules: MemoryCore, turns: Turns, way: str
) -> None:
    owner = Owner("app", f"user-{uuid.uuid4().hex[:8]}")
    await live(rules, owner, turns)
    word, other = TOLD[turns[0][0]][1], TOLD[turns[-1][0]][1]
    gone = await all_that_tell(rules, owner, word)
    assert gone
    await put_away(rules, owner, gone, way)
    await nowhere(rules, owner, word)
    await settle(rules, owner)
    await nowhere(rules, owner, word)
    if other != word:
        others = await all_that_tell(rules, owner, other)
        await put_away(rules, owner, others, "delete")
        for name in others:
            await rules.restore(owner, name)
        await nowhere(rules, owner, word)
    for name in gone:
        await rules.restore(owner, name)
    assert word in (await answers(rules, owner))["fast"]


async def nowhere(core: MemoryCore, owner: Owner, word: str) -> None:
    texts = await answers(core, owner)
    assert [where for where, text in texts.items() if word in text] == []
