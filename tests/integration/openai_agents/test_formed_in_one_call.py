"""Conversations formed in one call of a model or two: each part is believed, or left to its rule,
alone, and none is asked for twice.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from bench import formation_calls
from bench.formation import conversations
from memory_core.adapters.offline.agents import MODEL, OfflineAgents
from memory_core.core import MemoryCore
from memory_core.domain.agent_schemas import EpisodeAnalysis, EpisodeContext, SummaryContext
from memory_core.domain.memory import Memory
from memory_core.domain.requests.maintenance import ConsolidateInput
from memory_core.domain.requests.memories import ConverseInput
from memory_core.domain.results import Accepted
from memory_core.domain.scope import Owner
from memory_core.prompts import prompt
from tests.builders import ALICE, NOW
from tests.chat_server import ChatServer, completion, kind_of, refuses
from tests.model_calls import CALLS, Made
from tests.mortal import Moment, Mortal
from tests.reading_model import ReadingModel
from tests.tasks import Hand, finished, task_of, told
from tests.telling import talk
from tests.world import Killed, World, listed

TOLD = next(iter(conversations(7, 1)))
"""Ten messages about two things."""
LIVES = (
    "I live in Berlin and work as a nurse",
    "How is Berlin?",
    "Berlin is loud, and nurses in Berlin are few",
)
MOVES = (
    "I live in Oslo and work as a baker",
    "How is Oslo?",
    "Oslo is quiet, and bakers in Oslo are few",
)
Spoil = Callable[[dict[str, Any]], None]


@dataclass
class Model:
    """A model that reads its record as rules do, whose answers a test spoils. spoil:
    by the kind of answer.
    """

    spoil: dict[str, Spoil] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)

    async def __call__(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        response = await ReadingModel()(request, body)
        kind = kind_of(body)
        self.asked[kind] += 1
        if kind not in self.spoil:
            return response
        assert isinstance(response, web.Response)
        assert response.text is not None
        answer = json.loads(json.loads(response.text)["choices"][0]["message"]["content"])
        self.spoil[kind](answer)
        return completion(json.dumps(answer))


@pytest.fixture
def model(server: ChatServer) -> Model:
    model = Model()
    server.model = model
    return model


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    world = World(tmp_path)
    yield world
    await world.close()


async def core_of(world: World, made: Made, mode: str, **given: Any) -> MemoryCore:
    return await world.core(
        agents=made.agents(), rules=OfflineAgents(), formation_calls=mode, **given
    )


async def formed(
    world: World, core: MemoryCore, conversation: ConverseInput = TOLD, owner: Owner = ALICE
) -> list[Memory]:
    """What is made of a conversation."""
    accepted = await core.converse(owner, conversation)
    await finished(world, core, accepted, owner)
    return [
        memory
        for memory in await told(core, owner)
        if memory.conversation_id == (await task_of(core, accepted, owner)).subject_id
    ]


def by_category(memories: Sequence[Memory]) -> dict[str, set[str | None]]:
    """Who made the memories of each category: the story is the cell's, the behaviour the note's."""
    models: dict[str, set[str | None]] = {}
    for memory in memories:
        models.setdefault(str(memory.category), set()).add(memory.model)
    return models


def contents(memories: Sequence[Memory]) -> list[tuple[str | None, str]]:
    return sorted((memory.category, memory.content) for memory in memories)


@pytest.mark.parametrize(
    ("mode", "kinds"), [("one", {"FormedWindow": 1}), ("two", {"FormedCell": 2})]
)
async def test_a_joint_call_makes_what_separate_calls_make(
    world: World, made: Made, model: Model, mode: str, kinds: dict[str, int]
) -> None:
    separate = await formed(
        world, await core_of(world, made, "separate"), owner=Owner("app", "separate")
    )
    assert model.asked == {
        "Boundaries": 1,
        "ExtractedFacts": 2,
        "EpisodeAnalysis": 2,
        "ConversationSummary": 2,
    }
    model.asked.clear()
    joint = await formed(world, await core_of(world, made, mode), owner=Owner("app", "joint"))
    assert model.asked == kinds
    assert contents(joint) == contents(separate)
    assert by_category(joint) == {"cell": {"gpt-x"}, "note": {"gpt-x"}, "fact": {"gpt-x"}}
    assert {memory.prompt_id for memory in joint} == {
        "form_window" if mode == "one" else "form_cell"
    }


def set_in(*path: str, to: Any) -> Spoil:
    """Spoils one field, of every episode where it is theirs."""

    def spoil(answer: dict[str, Any]) -> None:
        for item in (
            answer.get("episodes", [answer])
            if path[0] in ("behaviour", "story", "first")
            else [answer]
        ):
            for name in path[:-1]:
                item = item[name]
            item[path[-1]] = to

    return spoil


OF_MODEL = {"cell": {"gpt-x"}, "note": {"gpt-x"}, "fact": {"gpt-x"}}
SPOILED = {
    "facts of another shape": (set_in("facts", to="many"), OF_MODEL | {"fact": {MODEL}}),
    "facts without a right one": (
        set_in("facts", to=[{"text": "half"}]),
        OF_MODEL | {"fact": {MODEL}},
    ),
    "behaviour of another shape": (set_in("behaviour", to="kind"), OF_MODEL | {"note": {MODEL}}),
    "no story": (set_in("story", to=None), OF_MODEL | {"cell": {MODEL}}),
    "an empty story": (set_in("story", "narrative", to=""), OF_MODEL | {"cell": {MODEL}}),
    "a story of something else": (
        set_in("story", "narrative", to="Quillon mended nets."),
        OF_MODEL | {"cell": {MODEL}},
    ),
    "a story in another language": (
        set_in(
            "story",
            "narrative",
            to=(
                "Der Mensch hat erzählt, dass er nun in einer kleinen Wohnung am Fluss lebt und "
                "dort sehr zufrieden ist."
            ),
        ),
        OF_MODEL | {"cell": {MODEL}},
    ),
    "a story that recites": (
        set_in("story", "narrative", to=prompt("form_cell").text[:900]),
        OF_MODEL | {"cell": {MODEL}},
    ),
}


@pytest.mark.parametrize("mode", ["one", "two"])
@pytest.mark.parametrize(("spoil", "models"), SPOILED.values(), ids=SPOILED.keys())
async def test_a_part_that_is_wrong_is_answered_by_its_rule_and_no_other_is(
    world: World, made: Made, model: Model, mode: str, spoil: Spoil, models: dict[str, set[str]]
) -> None:
    model.spoil = {"FormedWindow": spoil, "FormedCell": spoil}
    core = await core_of(world, made, mode)
    accepted = await core.converse(ALICE, TOLD)
    task = await finished(world, core, accepted)
    assert by_category(await told(core)) == models
    assert task.result is not None
    assert task.result["counts"]["by_rule"] == 2
    assert model.asked.total() == (1 if mode == "one" else 2)


@pytest.mark.parametrize("mode", ["one", "two", "separate"])
async def test_facts_that_a_model_leaves_out_are_those_of_the_rules(
    world: World, made: Made, model: Model, mode: str
) -> None:
    spoil = set_in("facts", to=[])
    model.spoil = {"FormedWindow": spoil, "FormedCell": spoil, "ExtractedFacts": spoil}
    memories = await formed(
        world, await core_of(world, made, mode), talk("I live in Berlin.", "It is loud here.")
    )
    facts = [memory for memory in memories if memory.category == "fact"]
    assert [(fact.attribute, fact.value, fact.model) for fact in facts] == [
        ("home city", "Berlin", MODEL)
    ]
    assert by_category(memories)["cell"] == {"gpt-x"}


@pytest.mark.parametrize(
    "cuts", [None, "none", [{"after": "the first"}]], ids=["null", "a word", "no number"]
)
async def test_wrong_cuts_leave_the_cutting_to_rules_and_the_other_parts_as_they_are(
    world: World, made: Made, model: Model, cuts: Any
) -> None:
    def spoil(answer: dict[str, Any]) -> None:
        if cuts is None:
            del answer["cuts"]
        else:
            answer["cuts"] = cuts

    model.spoil = {"FormedWindow": spoil}
    memories = await formed(world, await core_of(world, made, "one"))
    assert by_category(memories) == OF_MODEL
    assert sum(memory.category == "cell" for memory in memories) == 2
    assert model.asked == {"FormedWindow": 1}


@pytest.mark.parametrize(
    "spoil",
    [
        set_in("episodes", to=[]),
        set_in("episodes", to=None),
        set_in("first", to=3),
        set_in("first", to="0"),
    ],
    ids=["none", "null", "elsewhere", "no number"],
)
async def test_episodes_that_are_no_cells_leave_their_stories_to_rules(
    world: World, made: Made, model: Model, spoil: Spoil
) -> None:
    model.spoil = {"FormedWindow": spoil}
    memories = await formed(world, await core_of(world, made, "one"))
    assert by_category(memories) == {"cell": {MODEL}, "note": {MODEL}, "fact": {"gpt-x"}}
    assert model.asked == {"FormedWindow": 1}


@pytest.mark.parametrize("mode", ["one", "two"])
async def test_an_answer_of_which_nothing_is_right_is_asked_for_once(
    world: World, made: Made, server: ChatServer, mode: str
) -> None:
    asked: Counter[str] = Counter()

    async def refuse(_: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        asked[kind_of(body)] += 1
        return completion("I can't help with that.")

    server.model = refuse
    memories = await formed(world, await core_of(world, made, mode))
    assert by_category(memories) == {"cell": {MODEL}, "note": {MODEL}, "fact": {MODEL}}
    assert asked == ({"FormedWindow": 1} if mode == "one" else {"FormedCell": 2})


async def test_facts_without_a_literal_quote_are_dropped_and_counted_and_each_goes_to_its_own_cell(
    world: World, made: Made, model: Model
) -> None:
    def spoil(answer: dict[str, Any]) -> None:
        answer["facts"] += [
            {**answer["facts"][0], "quote": "I own a castle"},
            {**answer["facts"][0], "message": 99},
        ]

    model.spoil = {"FormedWindow": spoil}
    core = await core_of(world, made, "one")
    task = await finished(world, core, await core.converse(ALICE, TOLD))
    assert task.result is not None
    assert task.result["counts"]["without_proof"] == 2
    cells = sorted(
        (memory for memory in await told(core) if memory.category == "cell"),
        key=lambda cell: cell.event_timestamp,
    )
    places = [[fact.message for fact in cell.atomic_facts] for cell in cells]
    assert all(place is not None and place < 6 for place in places[0])
    assert all(place is not None and place >= 6 for place in places[1])
    assert all(places)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("mode", ["one", "two"])
async def test_killed_at_any_write_nothing_that_was_answered_is_asked_again(
    world: World, made: Made, model: Model, mode: str, after: bool
) -> None:
    """One story is wrong, so its rule's answer is a write of its own between those of the parts."""
    model.spoil = dict.fromkeys(("FormedWindow", "FormedCell"), set_in("story", "narrative", to=""))
    calls, expected = (1 if mode == "one" else 2), None
    number = written = 0
    while number <= written:
        owner, moment = Owner("app", f"user-{number}"), Moment(number, after, asleep=True)
        mortal = await core_of(world, made, mode, wrap=lambda inner, m=moment: Mortal(inner, m))
        accepted = await mortal.converse(owner, TOLD)
        moment.asleep = False
        model.asked.clear()
        with suppress(Killed):
            await Hand(mortal).work_all()
        written = max(written, len(moment.names))
        answered = model.asked.total()
        alive = await core_of(world, made, mode)
        world.clock.forward(3600)
        await alive.sweep()
        await finished(world, alive, accepted, owner)
        lost = 0 if after or not moment.dead or moment.names[-1] != "keep" else 1
        assert calls <= model.asked.total() <= calls + min(lost, answered)
        expected = expected or contents(await told(alive, owner))
        assert contents(await told(alive, owner)) == expected
        await world.end(mortal)
        await world.end(alive)
        number += 1
    assert number > 5


async def test_a_model_that_goes_away_before_the_conflicts_is_not_asked_for_the_parts_again(
    world: World, made: Made, server: ChatServer, model: Model
) -> None:
    core = await core_of(world, made, "one")
    await formed(world, core, talk(*LIVES, at=NOW - timedelta(days=30)))
    model.asked.clear()

    async def goes_away(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return await (refuses(503) if kind_of(body) == "Decisions" else model)(request, body)

    server.model = goes_away
    accepted = await core.converse(ALICE, talk(*MOVES, at=NOW - timedelta(days=1)))
    await Hand(core).work_all()
    assert (await task_of(core, accepted)).status == "accepted"
    server.model = model
    await finished(world, core, accepted)
    assert model.asked == {"FormedWindow": 1, "Decisions": 1}


async def test_conflicts_of_all_cells_are_asked_at_once_and_not_again_by_who_takes_over(
    world: World, made: Made, model: Model
) -> None:
    two_cells = (
        *MOVES,
        "By the way, I don't like old maps at all",
        "What is wrong with old maps?",
        "Old maps smell, and old maps are wrong",
    )
    core = await core_of(world, made, "one")
    await formed(
        world,
        core,
        talk(
            *LIVES,
            "By the way, I love old maps",
            "Why old maps?",
            "Old maps are what I do on every free day",
            at=NOW - timedelta(days=30),
        ),
    )
    model.asked.clear()
    moment = Moment(None)
    mortal = await core_of(world, made, "one", wrap=lambda inner: Mortal(inner, moment))
    accepted = await mortal.converse(
        ALICE, talk(*two_cells, at=NOW - timedelta(days=1), session="s2")
    )
    moment.names.clear()

    def dies_when_a_cell_is_committed(name: str) -> bool:
        moment.names.append(name)
        return name == "commit" and model.asked["Decisions"] > 0

    moment.comes, moment.after = dies_when_a_cell_is_committed, True  # type: ignore[method-assign]
    with suppress(Killed):
        await Hand(mortal).work_all()
    assert model.asked == {"FormedWindow": 1, "Decisions": 1}
    alive = await core_of(world, made, "one")
    world.clock.forward(3600)
    await alive.sweep()
    task = await finished(world, alive, accepted)
    assert model.asked == {"FormedWindow": 1, "Decisions": 1}
    assert task.result is not None
    assert len(task.result["cells"]) == 2
    values = {
        memory.content
        for memory in await told(alive)
        if memory.category == "fact" and memory.status.value == "active"
    }
    assert {"User lives in Oslo", "User does not like old maps"} <= values
    assert not {"User lives in Berlin", "User likes old maps"} & values


@pytest.mark.parametrize(
    "again",
    [
        ("I live in Berlin now and like it here", "Good"),
        ("I moved to Oslo last week, away from Berlin", "Good luck"),
    ],
    ids=["said again", "said to have changed"],
)
async def test_what_rules_are_certain_of_is_not_asked(
    world: World, made: Made, model: Model, again: tuple[str, str]
) -> None:
    core = await core_of(world, made, "one")
    await formed(world, core, talk("I live in Berlin", "How is it?", at=NOW - timedelta(days=30)))
    await formed(world, core, talk(*again, at=NOW - timedelta(days=1), session="s2"))
    assert model.asked == {"FormedWindow": 2}


@pytest.mark.parametrize(
    ("conversation", "boundaries"),
    [
        (talk(*(f"I said {number} about the garden" for number in range(14))), 0),
        (talk(*(f"I said {number} about the garden" for number in range(15))), 1),
        (talk("I live in Berlin", "Berlin is loud", apart=timedelta(hours=2)), 1),
    ],
    ids=["short", "long", "with a pause"],
)
async def test_rules_cut_what_is_short_and_without_a_pause(
    world: World, made: Made, model: Model, conversation: ConverseInput, boundaries: int
) -> None:
    await formed(world, await core_of(world, made, "two"), conversation)
    assert model.asked["Boundaries"] == boundaries
    assert set(model.asked) <= {"Boundaries", "FormedCell"}


async def test_a_cell_over_two_windows_is_asked_about_by_itself(
    world: World, made: Made, model: Model
) -> None:
    """No answer about one window tells its story, and no rule need tell it."""
    model.spoil = {
        "FormedWindow": lambda answer: answer.update(
            cuts=[{"after": 44, "reason": "x"}] if len(answer["facts"]) else [], continues=True
        )
    }
    lines = [f"The garden wall has {number} stones more" for number in range(60)]
    memories = await formed(
        world, await core_of(world, made, "one"), talk("I live in Lisbon", *lines[1:])
    )
    assert model.asked == {"FormedWindow": 2, "FormedCell": 1}
    assert {memory.model for memory in memories if memory.category == "cell"} <= {"gpt-x", MODEL}
    assert (
        sum(memory.category == "cell" and memory.prompt_id == "form_cell" for memory in memories)
        == 1
    )


async def test_all_joint_calls_begin_with_the_same_long_text(
    world: World, made: Made, server: ChatServer, model: Model
) -> None:
    await formed(world, await core_of(world, made, "one"), owner=Owner("app", "one"))
    await formed(world, await core_of(world, made, "two"), owner=Owner("app", "two"))
    window, cell, _ = server.systems
    assert window.startswith(cell.rstrip())
    assert len(cell) / 4 > 1024, "services cache no shorter beginning"
    assert not any(message.content in window for message in TOLD.messages)


async def test_calls_and_tokens_of_a_conversation(few_authorities: None, tmp_path: Path) -> None:
    measured = await formation_calls.compare(tmp_path, 20, 4, runs=False)
    calls = {mode: len(measurement.forming) / 20 for mode, measurement in measured.items()}
    assert calls["separate"] > 7
    assert calls["one"] <= 1.5
    assert calls["two"] <= 3
    tokens = {
        mode: formation_calls.tokens(measurement.forming) for mode, measurement in measured.items()
    }
    assert tokens["one"] <= 0.45 * tokens["separate"]
    assert tokens["two"] <= 0.45 * tokens["separate"]
    for mode in ("one", "two"):
        assert formation_calls.differences(measured, mode) == (Counter(), Counter())


async def test_a_model_behind_an_address_is_measured_like_the_one_of_the_bench(
    few_authorities: None, tmp_path: Path, server: ChatServer
) -> None:
    server.model = ReadingModel()
    remote = formation_calls.RemoteModel(f"{server.root}/v1", "real-model", "key")
    own = await formation_calls.compare(tmp_path / "own", 4, 2, runs=False)
    measured = await formation_calls.compare(tmp_path / "far", 4, 2, runs=False, remote=remote)
    assert [measurement.made for measurement in measured.values()] == [
        measurement.made for measurement in own.values()
    ]
    assert measured["one"].results == own["one"].results
    assert measured["one"].results["created"] > 0
    assert {body["model"] for body in server.bodies} == {"real-model"}


RUNS = (
    "I went running in the park this morning", "I went running in the park after work",
    "I went running in the park in the rain", "I went running in the park with music",
)  # fmt: skip


async def consolidated(world: World, core: MemoryCore) -> dict[str, int]:
    accepted = await core.consolidate(ALICE, ConsolidateInput())
    assert isinstance(accepted, Accepted)
    await Hand(core, "consolidation").work_all()
    task = await task_of(core, accepted)
    assert (task.status, task.error) == ("succeeded", None)
    return dict((task.result or {}).get("counts", {}))


async def run_of(world: World, core: MemoryCore, *lines: str) -> dict[str, int]:
    for day, line in enumerate(lines):
        await formed(world, core, talk(line, at=NOW - timedelta(days=9 - day), session=f"s{day}"))
    return await consolidated(world, core)


REFLECTED = {
    "both right": (lambda answer: None, "gpt-x"),
    "patterns wrong": (set_in("patterns", to="running"), MODEL),
    "traits wrong": (set_in("traits", to="a runner"), "gpt-x"),
}


@pytest.mark.parametrize("mode", ["one", "two"])
@pytest.mark.parametrize(("spoil", "found_by"), REFLECTED.values(), ids=REFLECTED.keys())
async def test_a_run_asks_for_patterns_and_traits_once_and_each_part_falls_to_its_rule_alone(
    world: World, made: Made, model: Model, mode: str, spoil: Spoil, found_by: str
) -> None:
    model.spoil = {"Reflection": spoil}
    core = await core_of(world, made, mode)
    await run_of(world, core, *RUNS)
    assert {
        kind: count
        for kind, count in model.asked.items()
        if kind in ("Reflection", "FoundPatterns", "ProfileUpdate")
    } == {"Reflection": 1}
    assert {memory.model for memory in await listed(core) if memory.category == "pattern"} == {
        found_by
    }


async def test_a_run_asks_nothing_where_nothing_new_touches_what_is_known(
    world: World, made: Made, model: Model
) -> None:
    core = await core_of(world, made, "one")
    await run_of(
        world, core, "I planted tomatoes behind the shed", "Gerda repairs violins in Cremona"
    )
    assert not {"Reflection", "FoundPatterns", "ProfileUpdate"} & set(model.asked)


async def test_good_answers_of_each_kind_are_read_whole(made: Made, server: ChatServer) -> None:
    """The separate checks are the ones that are used: a window's answer has what the separate
    answers have.
    """
    agents = made.agents()
    window = (await CALLS["form_window"](agents)).value
    assert window.boundaries == (await CALLS["detect_boundary"](agents)).value
    assert window.facts == (await CALLS["extract_facts"](agents)).value
    assert [episode.first for episode in window.episodes] == [0, 2]
    behaviour = (await CALLS["analyse_episode"](agents)).value
    story = (await CALLS["summarise"](agents)).value
    assert window.episodes[0].behaviour == behaviour.model_copy(
        update={"context": EpisodeContext()}
    )
    assert window.episodes[1].behaviour == EpisodeAnalysis()
    assert window.episodes[0].story == story.model_copy(update={"context": SummaryContext()})
    cell = (await CALLS["form_cell"](agents)).value
    assert (cell.boundaries, cell.facts, len(cell.episodes)) == (None, window.facts, 1)
