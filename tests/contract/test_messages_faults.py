"""Whatever fails between the answer and the rest, and however it was cut: each message is there
exactly once.
"""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_core.core import MemoryCore
from memory_core.domain.errors import HeadMoved, NotFound, Unavailable
from memory_core.domain.requests.memories import ClearInput
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner
from memory_core.formation.message_memories import MOST_AT_ONCE
from tests.builders import NOW
from tests.contract.test_forming_faults import Faulty
from tests.messages import MINUTE, best_words, lines, messages, rare_words, say
from tests.mortal import Moment, Mortal
from tests.tasks import Hand, finished, pending, stored, task_of
from tests.telling import Tellers, talk
from tests.world import Killed, WordsEmbedder, World, listed

MANY = 100
"""Messages that take three commits."""
FOR_GOOD = 1_000_000
"""Tries that fail: as many as anybody makes."""
ONCE = Call(idempotency_key="k1")


async def dies(world: World, owner: Owner, moment: Moment) -> None:
    """A process takes a conversation in, and dies at this moment."""
    core = await world.core(wrap=lambda store: Mortal(store, moment), embedder=WordsEmbedder())
    with suppress(Killed):
        await say(core, lines(MANY), owner=owner, call=ONCE)
    await world.end(core)


async def holds_all(world: World, core: MemoryCore, accepted: Accepted, owner: Owner) -> None:
    """All messages are there, each once and with its vector, and formed."""
    await finished(world, core, accepted, owner)
    memories = await messages(core, owner)
    assert [memory.content for memory in memories] == lines(MANY)
    assert len({memory.id for memory in memories}) == MANY
    assert all(memory.cell_id is not None for memory in memories)
    created = [event.memory_id for event in await world.log(owner) if event.event_type == "created"]
    assert len(created) == len(set(created))
    conversation = await stored(world, (await task_of(core, accepted, owner)).subject_id, owner)
    assert (conversation.written, conversation.embedded, conversation.state) == (
        MANY,
        MANY,
        "formed",
    )
    assert await pending(world, owner) == 0
    for number in (0, MANY - 1):
        assert await best_words(core, rare_words(number), owner) == lines(1, first=number)[0]


async def commits(world: World) -> int:
    """How many writes it takes."""
    whole = Moment()
    await dies(world, Owner("app", "whole"), whole)
    assert whole.names.count("commit") == 3
    return len(whole.names)


async def test_killed_at_any_write_before_the_answer_all_is_said_once(
    world: World, adapter: str
) -> None:
    """Told again with the same key, or left to its task: the same messages."""
    writes = 5 if adapter == "storm" else await commits(world)
    for at in range(1, writes + 1):
        for after in (False, True):
            owner, moment = Owner("app", f"{at} {after}"), Moment(at, after)
            await dies(world, owner, moment)
            core = await world.core(embedder=WordsEmbedder(), agents=Tellers(notes=False))
            began = await messages(core, owner)
            assert [memory.content for memory in began] == lines(len(began))
            (accepted,) = await say(core, lines(MANY), owner=owner, call=ONCE)
            if began:
                world.clock.forward(3600)
                await core.sweep()  # who was to tell the queue may be the one who died
            await holds_all(world, core, accepted, owner)
            await world.end(core)


async def test_what_a_session_was_cleared_of_is_not_written_by_its_task(
    world: World, adapter: str
) -> None:
    """The process died between two commits, so that most messages were to be written
    by the task.
    """
    if adapter == "storm":
        return
    owner = Owner("app", "cleared")
    await dies(world, owner, Moment(2))
    core = await world.core(embedder=WordsEmbedder(), agents=Tellers(notes=False))
    assert 0 < len(await messages(core, owner)) < MANY
    await core.clear(owner, ClearInput(session_id="s1"))
    world.clock.forward(3600)
    await core.sweep()
    for _ in range(3):
        await Hand(core).work_all()
        world.clock.forward(60)
    assert await pending(world, owner) == 0
    assert await listed(core, owner) == []
    assert {message.status.value for message in await messages(core, owner)} == {"deleted"}


async def test_a_store_that_fails_at_any_commit_delays_what_was_said_and_loses_none(
    world: World,
) -> None:
    for kind, times in (("503", 1), ("503", FOR_GOOD), ("cut", 1), ("cut", FOR_GOOD)):
        for at in (1, 2, 3):
            owner, faulty = Owner("app", f"{kind} {times} {at}"), list[Faulty]()

            def wrap(
                store: object,
                at: int = at,
                kind: str = kind,
                times: int = times,
                faulty: list[Faulty] = faulty,
            ) -> Faulty:
                faulty.append(Faulty(store, at, kind, times, asleep=False))  # type: ignore[arg-type]
                return faulty[0]

            core = await world.core(
                wrap=wrap,
                embedder=WordsEmbedder(),
                agents=Tellers(notes=False),
                commit_deadline_s=1,
            )
            try:
                (accepted,) = await say(core, lines(MANY), owner=owner, call=ONCE)
            except (Unavailable, HeadMoved):
                assert at == 1, (
                    "what is told is refused before anything of it is there, or not at all"
                )
                faulty[0].asleep = True
                (accepted,) = await say(core, lines(MANY), owner=owner, call=ONCE)
            faulty[0].asleep = True
            there = await messages(core, owner)
            assert [memory.content for memory in there] == lines(len(there))
            if at > 1:
                # of what was done, and its answer lost, each try finds out
                fails = kind == "503" and times == FOR_GOOD
                assert accepted.degraded == (("search",) if fails else ())
                assert len(there) == ((at - 1) * MOST_AT_ONCE if fails else MANY)
            await holds_all(world, core, accepted, owner)
            await world.end(core)


WORDS = st.sampled_from(["tea", "Oslo", "boat", "late", "rain", "soup", "green", "home"])
SAID = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant"]),
        st.lists(WORDS, min_size=1, max_size=5).map(" ".join),
    ),
    min_size=1,
    max_size=12,
)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(chat=SAID, cuts=st.lists(st.integers(0, 12), max_size=4), is_formed=st.booleans())
async def test_however_random_talk_is_cut_the_same_is_there(
    words: MemoryCore, chat: list[tuple[str, str]], cuts: list[int], *, is_formed: bool
) -> None:
    name = sha256(repr((chat, cuts, is_formed)).encode()).hexdigest()[:16]
    places = sorted({0, len(chat), *(cut for cut in cuts if cut < len(chat))})
    whole, cut = Owner("app", f"{name} whole"), Owner("app", f"{name} cut")
    await words.converse(whole, talk(*chat))
    for start, end in pairwise(places):
        await words.converse(cut, talk(*chat[start:end], at=NOW + start * MINUTE))
    if is_formed:
        await Hand(words).work_all()
    alike = []
    for owner in (whole, cut):
        memories = await messages(words, owner)
        assert [(memory.actor, memory.content) for memory in memories] == chat
        assert len({memory.id for memory in memories}) == len(chat)
        assert (await words.session(owner, "s1")).counts["messages"] == len(chat)
        alike.append(
            [(memory.actor, memory.content, memory.event_timestamp) for memory in memories]
        )
    assert alike[0] == alike[1]
    with suppress(NotFound):
        assert await messages(words, Owner("app", "nobody")) == []
