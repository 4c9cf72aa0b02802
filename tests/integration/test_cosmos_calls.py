"""What each operation asks of Cosmos DB: calls of the store, and requests on the wire,
each counted apart.

A process that has served a user before knows its head: it reads it again beside whatever else is
needed. One that has not reads it first, with the same number of requests.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from bench.formation import conversations
from memory_core.adapters.cosmos.store import CosmosStore
from memory_core.adapters.embedders.hash_embedder import HashEmbedder
from memory_core.adapters.redis.local import NullShortTermStore
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.conversation import Task
from memory_core.domain.requests.maintenance import DecayInput
from memory_core.domain.requests.memories import (
    AcrossInput,
    ConverseInput,
    ListInput,
    RetrieveInput,
    SaveInput,
    StatusInput,
    UpdateInput,
)
from memory_core.domain.results import Accepted, Call
from memory_core.domain.scope import Owner
from memory_core.ports import LongTermStore, Near, Neighbour
from memory_core.tasks.store import task_document
from tests.builders import ALICE, NOW, StillClock
from tests.cosmos_server import KEY, CosmosServer, running
from tests.cosmos_traffic import check_that_each_names_one_user
from tests.tasks import Hand
from tests.world import World, fact, listed, rule, turn

HOME = {"subject": "Ann", "attribute": "home"}
WORDS = ["plan", "query", "query"]
"""For a query by words the SDK asks for a plan, then for counts of the words,
then the query itself.
"""


@pytest.fixture(scope="module")
def server() -> Iterator[CosmosServer]:
    with running() as started:
        yield started


@dataclass
class Counting:
    """A store that notes its calls."""

    inner: LongTermStore
    calls: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.inner, name)
        if name not in ("snapshot", "commit", "search", "memories", "page", "events"):
            return attribute

        async def noted(*args: Any, **options: Any) -> Any:
            self.calls.append(name)
            return await attribute(*args, **options)

        return noted


@dataclass
class Traffic:
    """One process on a database of its own, and what its last call asked for."""

    server: CosmosServer
    core: MemoryCore
    store: Counting

    async def of(self, call: Awaitable[Any]) -> tuple[list[str], list[str]]:
        """The calls of the store, in order, and the requests that were answered well,
        in the order of their answers.
        """
        self.server.forget_requests()
        self.store.calls.clear()
        await call
        requests = self.server.requests()
        assert check_that_each_names_one_user(requests)
        return list(self.store.calls), [
            request["operation"] for request in requests if request["status"] < 300
        ]

    async def kinds(self, call: Awaitable[Any]) -> tuple[list[str], dict[str, int]]:
        """The same, with the requests counted by kind."""
        calls, requests = await self.of(call)
        return calls, Counter(requests)


Process = Callable[..., Awaitable[Traffic]]


@pytest.fixture
async def process(server: CosmosServer, tmp_path: Path) -> AsyncIterator[Process]:
    """Starts processes on one database."""
    database, opened = uuid4().hex, []

    def made(model: str, dimensions: int) -> CosmosStore:
        return CosmosStore(
            server.endpoint,
            database,
            clock=StillClock(),
            embedding_model=model,
            dimensions=dimensions,
            key=KEY,
        )

    async def start(*, by_rules: bool = False) -> Traffic:
        world = World(tmp_path, StillClock(), made)
        opened.append(world)
        counting: list[Counting] = []

        def counted(store: LongTermStore) -> Counting:
            counting.append(Counting(store))
            return counting[0]

        begin = world.core_by_rules if by_rules else world.core
        core = await begin(wrap=counted, short_term=NullShortTermStore(), embedder=HashEmbedder(64))
        return Traffic(server, core, counting[0])

    maker = made("hash", 64)
    await maker.provision()
    await maker.close()
    yield start
    server.heal()
    for world in opened:
        await world.close()


@pytest.fixture
async def warm(process: Process) -> Traffic:
    """A process that knows the user's head."""
    traffic = await process()
    await traffic.core.save(ALICE, turn("red boat", "s"))
    return traffic


@pytest.mark.parametrize(
    ("item", "reads", "queries"),
    [
        pytest.param(turn("green tea", None), 2, 0, id="episodic: the head, the memory's own id"),
        pytest.param(turn("green tea", "s"), 3, 0, id="a turn: the session, too"),
        pytest.param(fact("Ann likes tea"), 1, 1, id="semantic: its neighbours"),
        pytest.param(
            fact("Ann lives in Oslo", **HOME),
            2,
            1,
            id="a slot never filled: its log, its neighbours",
        ),
        pytest.param(fact("Ann likes tea", session_id="s"), 2, 1, id="semantic in a session"),
    ],
)
async def test_a_save_is_one_look_with_at_most_one_query_and_one_batch(
    warm: Traffic, item: SaveInput, reads: int, queries: int
) -> None:
    # Counted are answers of 200: of point reads for what is not there yet, 404s come beside them.
    calls, _ = await warm.of(warm.core.save(ALICE, item))
    assert calls == ["snapshot", "commit"]
    asked = Counter(request["operation"] for request in warm.server.requests())
    assert asked == {
        "batch": 1,
        **({"read": reads} if reads else {}),
        **({"query": queries} if queries else {}),
    }
    assert [request["operation"] for request in warm.server.requests()][-1] == "batch"


@pytest.mark.parametrize("session_id", [None, "s"])
async def test_a_value_of_a_key_is_saved_with_one_look_the_first_time_too(
    warm: Traffic, session_id: str | None
) -> None:
    """More than three documents are read by one query, as with a session; three cost less one
    by one.
    """
    calls, _ = await warm.kinds(warm.core.save(ALICE, rule("drink", "tea", session_id=session_id)))
    assert calls == ["snapshot", "commit"]
    calls, _ = await warm.kinds(
        warm.core.save(ALICE, rule("drink", "coffee", session_id=session_id))
    )
    assert calls == ["snapshot", "commit"]
    queries = Counter(request["operation"] for request in warm.server.requests())["query"]
    assert queries == (0 if session_id is None else 1)


async def test_looks_that_begin_together_read_the_head_once_and_a_later_one_anew(
    warm: Traffic,
) -> None:
    async def looked_at(*names: str) -> list[Any]:
        return list(await asyncio.gather(*(warm.store.snapshot(ALICE, [name]) for name in names)))

    _, requests = await warm.of(looked_at("none", "neither", "nor"))
    assert requests == ["read"], "answers of 200: the head's"
    before = (await looked_at("none"))[0].head
    await warm.core.save(ALICE, turn("green tea", "s"))
    cancelled = asyncio.create_task(warm.store.snapshot(ALICE))
    others = asyncio.create_task(looked_at("none", "neither"))
    await asyncio.sleep(0)
    cancelled.cancel()
    first, second = await others
    assert first.head == second.head != before
    assert await asyncio.gather(cancelled, return_exceptions=True) != [first]


async def test_what_a_commit_without_events_wrote_is_looked_at_once(warm: Traffic) -> None:
    """Its sequence was that of the next event, so it was taken for a later commit's than the
    head's, and looked at three times.
    """
    begun = await warm.core.decay(ALICE, DecayInput())
    assert isinstance(begun, Accepted)
    operations = warm.core._services.task_services.operations
    _, requests = await warm.of(operations.task_and_operation(ALICE, begun.task_id, "decay"))
    assert requests == ["read"] * 3, "the head, the task, the operation"


async def test_truths_of_a_user_with_few_memories_are_compared_with_all_of_them_by_one_query(
    warm: Traffic,
) -> None:
    """The same neighbours in the same order as each truth finds alone, cut where its limit is."""
    for content in ("Ann likes tea", "Ann likes green tea", "Ann sails a red boat"):
        await warm.core.save(ALICE, fact(content))
    vectors = await HashEmbedder(64).embed(["Ann drinks tea", "a boat", "Ann likes tea"])
    nears = [
        Near(vector, frozenset({"semantic"}), -1.0, limit=limit)
        for vector, limit in zip(vectors, (1, 2, 3), strict=True)
    ]
    alone = [(await warm.store.snapshot(ALICE, (), near)).near for near in nears]
    assert [len(near) for near in alone] == [1, 2, 3]

    def named(near: Sequence[Neighbour]) -> list[tuple[str, float]]:
        return [(neighbour.memory.id, neighbour.similarity) for neighbour in near]

    together: list[Any] = []

    async def look() -> None:
        together.extend(
            await asyncio.gather(*(warm.store.snapshot(ALICE, (), near) for near in nears))
        )

    assert (await warm.of(look()))[1] == ["read", "query"]
    assert [named(seen.near) for seen in together] == [named(near) for near in alone]


async def test_truths_that_are_compared_with_fewer_than_there_are_ask_for_their_nearest(
    warm: Traffic,
) -> None:
    for content in ("Ann likes tea", "Ann likes green tea", "Ann sails a red boat"):
        await warm.core.save(ALICE, fact(content))
    (vector,) = await HashEmbedder(64).embed(["Ann drinks tea"])
    near = Near(vector, frozenset({"semantic"}), -1.0, limit=1)

    async def look() -> None:
        await asyncio.gather(*(warm.store.snapshot(ALICE, (), near) for _ in range(3)))

    assert (await warm.kinds(look()))[1] == {"read": 1, "query": 3}


async def test_a_new_truth_in_a_slot_that_is_held_asks_for_the_slot_alone(warm: Traffic) -> None:
    await warm.core.save(ALICE, fact("Ann lives in Oslo", **HOME))
    saved: list[Any] = []

    async def move() -> None:
        saved.append(await warm.core.save(ALICE, fact("Ann lives in Rome", **HOME)))

    assert await warm.kinds(move()) == (["snapshot", "commit"], {"read": 2, "query": 1, "batch": 1})
    assert saved[0].outcome == "superseded"
    (asked,) = [
        request["statement"]
        for request in warm.server.requests()
        if request["operation"] == "query"
    ]
    assert "VectorDistance" not in asked


async def test_only_a_slot_that_was_emptied_costs_a_second_query_and_a_look_at_who_left_it(
    warm: Traffic,
) -> None:
    result = await warm.core.save(ALICE, fact("Ann lives in Oslo", **HOME))
    await warm.core.delete(ALICE, result.memory.id)
    calls, asked = await warm.kinds(warm.core.save(ALICE, fact("Ann lives in Rome", **HOME)))
    assert (calls, asked) == (
        ["snapshot", "snapshot", "commit"],
        {"read": 4, "query": 2, "batch": 1},
    )


async def test_a_page_of_agents_is_one_query_over_the_apps_users_and_three_an_agent(
    warm: Traffic,
) -> None:
    """And one a user, which finds that no agent follows. No memory is read, and no
    vector travels.
    """
    core, server = warm.core, warm.server
    for name in ("alice", "bob"):
        for number in range(5):
            await core.save(Owner("app", name), turn(f"plan {number}", agent_id="planner"))
    await core.save(Owner("another", "zed"), turn("plan", agent_id="planner"))
    _, asked = await warm.of(core.agents("app", AcrossInput()))
    queries = [
        request
        for request in server.requests()
        if request["operation"] == "query" and request["status"] == 200
    ]
    assert Counter(bool(query["key"]) for query in queries) == {False: 1, True: 2 * 3 + 2}
    assert set(asked) - {"ranges"} == {"plan", "query"}
    assert not [
        query["statement"]
        for query in queries
        if "embedding" in query["statement"] or "*" in query["statement"]
    ]
    assert sum(query["charge"] for query in queries) < 2 * 40, (
        "reads of a Strong account count twice"
    )


async def test_a_page_of_poisoned_tasks_is_one_query_over_the_apps_users_and_a_head_for_each_of_them(  # noqa: E501
    warm: Traffic,
) -> None:
    core, store = warm.core, warm.core._services.adapters.long_term
    for owner in (ALICE, Owner("app", "bob"), Owner("another", "zed")):
        await core.save(owner, turn("tea"))
        head = (await store.snapshot(owner)).head
        assert head is not None
        for number in range(3):
            task = Task(
                task_id=f"tsk_{owner.user_id}_{number}",
                kind="decay",
                status="poisoned",
                created_at=NOW,
                updated_at=NOW,
                subject_id="op_1",
            )
            document = task_document(task)
            await store.keep(owner, replace(document, body={**document.body, "epoch": head.epoch}))
    poisoned: list[Any] = []

    async def listed() -> None:
        poisoned.extend((await core.poisoned_tasks("app", AcrossInput())).tasks)

    calls, asked = await warm.kinds(listed())
    assert len(poisoned) == 6
    assert (calls, {**asked, "ranges": 0}) == (
        ["snapshot"] * 2,
        {"plan": 1, "query": 1, "read": 2, "ranges": 0},
    )
    assert not [
        request
        for request in warm.server.requests()
        if request["operation"] == "query" and "embedding" in request["statement"]
    ]


async def test_a_key_costs_one_look_at_its_receipt_before(warm: Traffic) -> None:
    call = Call(idempotency_key="k", route="save")
    calls, _ = await warm.of(warm.core.save(ALICE, fact("Ann likes tea"), call))
    assert calls == ["snapshot", "snapshot", "commit"]
    again, requests = await warm.of(warm.core.save(ALICE, fact("Ann likes tea"), call))
    assert "commit" not in again
    assert "batch" not in requests


async def test_the_head_is_read_beside_the_query_of_a_save_and_not_before_it(warm: Traffic) -> None:
    warm.server.fault("slow", operations=["read"], times=1, delay_ms=300)
    _, requests = await warm.of(warm.core.save(ALICE, fact("Ann likes tea")))
    # the query was answered while the head was waited for
    assert requests == ["query", "read", "batch"]


async def fill(traffic: Traffic) -> None:
    """More memories than a list of a retrieve takes, so that the service ranks them."""
    for first in range(0, 120, 40):
        items = [
            SaveInput(content=f"plan {number} of a trip", type="episodic")
            for number in range(first, first + 40)
        ]
        await traffic.core.bulk(ALICE, items)


async def test_the_head_is_read_beside_both_queries_of_a_retrieve(warm: Traffic) -> None:
    await fill(warm)
    await warm.core.retrieve(ALICE, RetrieveInput(query="warm up"))
    warm.server.fault("slow", operations=["read"], times=1, delay_ms=300)
    _, requests = await warm.of(warm.core.retrieve(ALICE, RetrieveInput(query="red boat")))
    assert requests == [*requests[:-1], "read"]
    assert Counter(requests[:-1]) == Counter(["query", *WORDS])


async def test_a_process_that_never_saw_the_user_reads_the_head_first_and_asks_no_more(
    warm: Traffic, process: Process
) -> None:
    cold = await process()
    calls, requests = await cold.of(cold.core.save(ALICE, fact("Ann likes tea")))
    assert calls == ["snapshot", "commit"]
    assert [request for request in requests if request in ("read", "query", "batch")] == [
        "read",
        "query",
        "batch",
    ]


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"session_id": "s"},
        {"types": ["episodic"], "tags": ["x"], "categories": ["note"], "agent_id": "a"},
        {"include_decayed": True, "limit": 50},
        {"explain": True},
        {"at": NOW},
    ],
    ids=lambda asked: " ".join(asked) or "plain",
)
async def test_a_retrieve_of_a_small_user_is_one_search_of_the_head_and_one_query(
    warm: Traffic, asked: dict[str, Any]
) -> None:
    """All memories come in one list. A look back has versions too, which the head does not count:
    there are two lists then.
    """
    await warm.core.retrieve(ALICE, RetrieveInput(query="warm up"))
    calls, requests = await warm.of(
        warm.core.retrieve(ALICE, RetrieveInput(query="red boat", **asked))
    )
    assert calls == ["search"]
    assert Counter(requests) == Counter(["read", "query", *(WORDS if "at" in asked else [])])


async def test_all_that_is_known_costs_two_pages_and_no_search(warm: Traffic) -> None:
    await fill(warm)
    query = RetrieveInput(query="What do you know about me?")
    await warm.core.retrieve(ALICE, RetrieveInput(query="warm up"))
    calls, _ = await warm.of(warm.core.retrieve(ALICE, query))
    assert calls == ["snapshot", "page", "page", "search"], "nothing is known: asked like any other"
    await warm.core.save(ALICE, fact("Ann collects stamps"))
    calls, requests = await warm.of(warm.core.retrieve(ALICE, query))
    assert calls == ["snapshot", "page", "page"]
    assert Counter(requests) == Counter(["read", "query", "query"])


async def test_after_a_deletion_turns_that_lent_words_are_looked_up_in_one_query_more(
    warm: Traffic,
) -> None:
    await fill(warm)
    secret = (await warm.core.save(ALICE, turn("the code is swordfish", "s"))).memory
    await warm.core.save(ALICE, turn("yes", "s"))
    query = RetrieveInput(query="swordfish", similarity_threshold=0.1)
    await warm.core.retrieve(ALICE, RetrieveInput(query="warm up"))
    _, requests = await warm.of(warm.core.retrieve(ALICE, query))
    assert Counter(requests) == Counter(["read", "query", *WORDS])
    await warm.core.delete(ALICE, secret.id)
    calls, requests = await warm.of(warm.core.retrieve(ALICE, query))
    assert calls == ["search"]
    assert Counter(requests) == Counter(["read", "query", *WORDS, "query"])
    _, requests = await warm.of(warm.core.retrieve(ALICE, RetrieveInput(query="jasmine")))
    assert Counter(requests) == Counter(["read", "query", *WORDS]), "no term of it was lent"


async def test_a_look_back_that_finds_old_versions_takes_a_second_round_of_one_query(
    warm: Traffic,
) -> None:
    memory = (await warm.core.save(ALICE, rule("drink", "tea", valid_from=NOW))).memory
    await warm.core.update(
        ALICE,
        memory.id,
        UpdateInput(content="coffee at noon", valid_from=NOW.replace(hour=13)),
        memory.etag,
    )
    query = RetrieveInput(
        query="drink tea", at=NOW.replace(hour=12, minute=30), similarity_threshold=0.0
    )
    await warm.core.retrieve(ALICE, query)
    calls, requests = await warm.of(warm.core.retrieve(ALICE, query))
    assert calls == ["search", "memories"]
    assert Counter(requests) == Counter(["read", "query", *WORDS, "read", "query"])


async def told(traffic: Traffic, *texts: str) -> None:
    """Conversations of a message each, formed by rules."""
    for number, text in enumerate(texts):
        conversation = ConverseInput(
            messages=[{"role": "user", "content": text, "timestamp": NOW - timedelta(9 - number)}],
            session_id=f"told-{number}",
        )
        await traffic.core.converse(ALICE, conversation)
    await Hand(traffic.core, "formation").work_all()


async def test_what_speaks_against_results_came_with_the_search(process: Process) -> None:
    query = RetrieveInput(query="warfarin", similarity_threshold=0.1)
    traffic = await process(by_rules=True)
    await fill(traffic)
    await told(
        traffic,
        "I take warfarin 5 mg every evening.",
        "I'm off warfarin, they put me on apixaban 5 mg twice a day.",
    )
    results = (await traffic.core.retrieve(ALICE, query)).results
    assert any(hit.replaced_by for hit in results)
    calls, requests = await traffic.of(traffic.core.retrieve(ALICE, query))
    assert calls == ["search"]
    assert Counter(requests) == Counter(["read", "query", *WORDS])


async def test_the_records_of_conflicts_are_read_where_a_result_is_in_an_open_one(
    warm: Traffic,
) -> None:
    core, query = warm.core, RetrieveInput(query="home", similarity_threshold=0.1)
    await core.save(ALICE, fact("Ann's home is Rome", **HOME))
    conflict = (await core.save(ALICE, fact("Ann's home is Bari", **HOME))).conflict
    assert conflict is not None
    assert (await warm.of(core.retrieve(ALICE, query)))[0] == ["search"]
    await core.undo_conflict(ALICE, conflict.id)
    assert all(hit.disputed_by for hit in (await core.retrieve(ALICE, query)).results)
    assert (await warm.of(core.retrieve(ALICE, query)))[0] == ["search", "snapshot"]


async def test_a_time_told_from_now_is_looked_into_in_the_same_round(warm: Traffic) -> None:
    await fill(warm)
    await warm.core.retrieve(ALICE, RetrieveInput(query="warm up"))
    calls, requests = await warm.of(
        warm.core.retrieve(ALICE, RetrieveInput(query="red boat yesterday"))
    )
    assert calls == ["snapshot", "search", "search"], (
        "the first look is for the zone in which it is yesterday"
    )
    assert Counter(requests) == Counter(["read", "read", *["query", *WORDS] * 2]), (
        "both begin together, the head is read for both"
    )


async def test_words_alone_or_a_vector_alone_take_one_query(warm: Traffic) -> None:
    await warm.core.retrieve(ALICE, RetrieveInput(query="warm up"))
    # no terms are left of it
    _, requests = await warm.of(warm.core.retrieve(ALICE, RetrieveInput(query="the of and")))
    assert Counter(requests) == Counter(["read", "query"])


async def test_what_reading_and_editing_ask_for(warm: Traffic) -> None:
    core = warm.core
    memory = (await core.save(ALICE, rule("drink", "tea"))).memory
    turn_of_session = (await core.save(ALICE, turn("green tea", "s"))).memory
    assert await warm.kinds(core.get(ALICE, memory.id)) == (["snapshot"], {"read": 2})
    assert await warm.kinds(core.procedure(ALICE, "drink")) == (["snapshot"], {"read": 2})
    # The head once more, for the sequence that the page is of.
    assert await warm.kinds(core.list(ALICE, ListInput())) == (
        ["snapshot", "page", "snapshot"],
        {"read": 2, "query": 1},
    )
    assert await warm.kinds(core.sessions(ALICE)) == (["snapshot", "page"], {"read": 1, "query": 1})
    edit = UpdateInput(content="drink: coffee")
    # Whose value it is, and so which log to read, is known once it is read.
    assert await warm.kinds(core.update(ALICE, memory.id, edit, memory.etag)) == (
        ["snapshot", "snapshot", "commit"],
        {"read": 4, "batch": 1},
    )
    assert await warm.kinds(core.versions(ALICE, memory.id)) == (
        ["snapshot", "snapshot"],
        {"read": 4},
    )
    # Which session a memory counts in is known once it is read.
    assert await warm.kinds(core.delete(ALICE, turn_of_session.id)) == (
        ["snapshot", "snapshot", "commit"],
        {"read": 5, "batch": 1},
    )
    # What brings it back is known once it is read.
    back = core.set_status(ALICE, turn_of_session.id, StatusInput(status="active"))
    assert await warm.kinds(back) == (["snapshot", "snapshot", "commit"], {"read": 5, "batch": 1})


async def test_ten_messages_about_two_things_are_accepted_and_formed_by_one_commit_each(
    process: Process,
) -> None:
    """In all at most 25 requests, with those for the task and its lease."""
    traffic = await process(by_rules=True)
    (conversation,) = conversations(7, 1)
    calls, _ = await traffic.of(traffic.core.converse(ALICE, conversation))
    assert calls.count("commit") == 1
    asked = len(traffic.server.requests())
    calls, _ = await traffic.of(Hand(traffic.core, "formation").work_all())
    assert calls.count("commit") == 1
    asked += len(traffic.server.requests())
    assert asked <= 25
    made = [memory.category for memory in await listed(traffic.core)]
    assert made.count("cell") == 2


async def test_metrics_count_the_units_that_each_operation_was_charged(
    server: CosmosServer, tmp_path: Path
) -> None:
    database = uuid4().hex
    chosen = {
        "MEMORY_LONG_TERM": "cosmos",
        "MEMORY_COSMOS_ENDPOINT": server.endpoint,
        "MEMORY_COSMOS_KEY": KEY,
    }
    # No user is held in memory: reading one goes on beside the calls, and is charged to the call
    # that began it.
    given = {
        "MEMORY_COSMOS_DATABASE": database,
        "EMBEDDING_PROVIDER": "hash",
        "MEMORY_DATA": str(tmp_path),
        "MEMORY_SLICE_BUDGET_MB": "0",
    }
    maker = CosmosStore(
        server.endpoint,
        database,
        clock=StillClock(),
        embedding_model="hash",
        dimensions=384,
        key=KEY,
    )
    await maker.provision()
    await maker.close()
    async with MemoryCore(Settings.from_env(chosen | given)) as core:

        async def charged(operation: str, call: Awaitable[Any]) -> tuple[float, float]:
            """By what the metric grew, and what the emulator charged, but for a query without a
            plan: the SDK hides that refusal.
            """
            before = _charge(core, operation)
            server.forget_requests()
            await call
            asked = [
                request
                for request in server.requests()
                if request["operation"] in ("read", "query", "batch") and request["status"] != 400
            ]
            return _charge(core, operation) - before, sum(request["charge"] for request in asked)

        saving = core.save(ALICE, SaveInput(content="Ann drinks jasmine tea"))
        counted, paid = await charged("save", saving)
        assert counted == pytest.approx(paid)
        assert paid > 10
        answers = []

        async def retrieve() -> None:
            answers.append(
                await core.retrieve(ALICE, RetrieveInput(query="jasmine tea", explain=True))
            )

        await retrieve()
        counted, paid = await charged("query_memory", retrieve())
        assert counted == pytest.approx(paid)
        assert paid > 4, "the head, of two replicas, and one query of one"
        assert answers[-1].explain["request_charge"] == pytest.approx(paid)
        counted, paid = await charged("list", core.list(ALICE, ListInput()))
        assert counted == pytest.approx(paid)
        assert paid > 2


def _charge(core: MemoryCore, operation: str) -> float:
    lines = core.metrics().decode().splitlines()
    lines_found = [
        line
        for line in lines
        if line.startswith(f'memory_core_request_charge_total{{operation="{operation}"}}')
    ]
    return float(lines_found[0].split()[-1]) if lines_found else 0.0
