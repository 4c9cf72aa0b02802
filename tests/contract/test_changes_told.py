"""What is told changes what is known: a later message ends or changes what an earlier one told, in
the store, in contexts, in results.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import MemoryType, Status
from memory_core.domain.requests.memories import ContextInput, ListInput, RetrieveInput
from memory_core.domain.text.spelling import GERMAN_MONTHS
from tests.builders import ALICE, NOW
from tests.conflicts import asking
from tests.contract.test_scenes import consolidated
from tests.loaded_minilm import LoadedMiniLM
from tests.telling import tell
from tests.world import World, fact

WEEK = timedelta(days=7)
_GERMAN = [month.capitalize() for month in GERMAN_MONTHS]
SQLITE = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)


@pytest.fixture
async def rules(world: World) -> MemoryCore:
    """A core without a language model, with the vectors of the local embedder."""
    return await world.core_by_rules(embedder=LoadedMiniLM(), embedding_provider="minilm")


async def over(core: MemoryCore) -> list[str]:
    page = await core.list(ALICE, ListInput(type=MemoryType.SEMANTIC, status=Status.SUPERSEDED))
    return sorted(memory.content for memory in page.memories)


async def disputed(core: MemoryCore) -> int:
    return len((await core.conflicts(ALICE)).conflicts)


def line_with(context: str, words: str) -> str:
    return next(line for line in context.split("\n") if words in line and not line.startswith("  "))


@SQLITE
@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I drive a 2014 Golf.", "I sold the Golf and bought a Tesla."),
        ("I use an old ThinkPad for everything.", "The ThinkPad died, I bought a desktop."),
        ("My boss is Karen.", "I have a new boss, her name is Petra."),
        ("Mein Chor probt immer mittwochs.", "Mein Chor probt jetzt donnerstags."),
        ("Our CEO is Martin Frey.", "Martin Frey was fired."),
        ("The alarm code is 2255.", "I changed the alarm code to 9911."),
        ("Ich trinke abends gern ein Glas Wein.", "Ich trinke seit Januar keinen Wein mehr."),
        ("I keep my savings at Chase.", "I've moved all my savings to Ally."),
        ("葉巻を吸います。", "葉巻はやめました。"),
        ("I work at Otto.", "I stopped working at Otto last Friday."),
        ("I work at Otto.", "Since last Friday I don't work at Otto."),
        ("I work at Otto.", "My contract with Otto ended last Friday."),
        ("私の上司は佐藤部長です。", "佐藤部長が異動になって、新しい上司は中村さんです。"),
    ],
)
async def test_a_change_that_is_told_leaves_a_record_or_a_truth_that_is_over(
    rules: MemoryCore, earlier: str, later: str
) -> None:
    await tell(rules, earlier, session="s1")
    await tell(rules, later, session="s2", at=NOW + WEEK)
    assert await over(rules) or await disputed(rules)


@SQLITE
@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I drive a 2014 Golf.", "The Golf needs new tyres, what do they cost?"),
        ("I like tea.", "I like coffee."),
        ("My sister lives in Ghent.", "My brother moved to Antwerp."),
        ("I work at Otto.", "I stopped at Otto last Friday."),
        ("I drive a Golf.", "Since Monday I don't drive the Golf to work."),
    ],
)
async def test_what_changes_nothing_leaves_no_record(
    rules: MemoryCore, earlier: str, later: str
) -> None:
    await tell(rules, earlier, session="s1")
    await tell(rules, later, session="s2", at=NOW + WEEK)
    assert (await over(rules), await disputed(rules)) == ([], 0)


@SQLITE
async def test_an_ending_of_something_that_was_never_told_makes_no_fact(rules: MemoryCore) -> None:
    await tell(rules, "Finally got rid of the sofa!", session="s1")
    page = await rules.list(ALICE, ListInput(type=MemoryType.SEMANTIC))
    assert [memory.content for memory in page.memories if memory.category == "fact"] == []


async def test_a_context_says_of_a_message_that_a_later_one_replaced_it_and_when(
    core: MemoryCore,
) -> None:
    await tell(core, "What can we get for a kitchen budget of 8,000 euros?", session="s1")
    await tell(
        core, "We had to raise the kitchen budget to 11,500 euros.", session="s2", at=NOW + WEEK
    )
    context = (
        await core.context(
            ALICE, ContextInput(query="What is our kitchen budget?", session_id="s9")
        )
    ).context
    said_on = (NOW + WEEK).date().isoformat()
    assert (
        f"(replaced on {said_on}: We had to raise the kitchen budget to 11,500 euros.)"
        in line_with(context, "8,000")
    )
    assert "replaced" not in line_with(context, "user: We had to raise")


async def test_a_reconstructed_context_marks_what_was_replaced_as_well(core: MemoryCore) -> None:
    await tell(core, "The standup is at 9:30 each day.", session="s1")
    await tell(core, "The standup got moved to 10:15.", session="s2", at=NOW + WEEK)
    answer = await core.retrieve(
        ALICE, RetrieveInput(query="What time is the standup?", mode="reconstruct")
    )
    assert answer.context is not None
    assert "replaced on" in line_with(answer.context, "9:30")


async def test_a_message_that_a_context_does_not_quote_marks_what_it_replaced(
    core: MemoryCore,
) -> None:
    await tell(core, "The Golf needs a new radiator.", session="s1")
    await tell(core, "I sold the Golf to a neighbour.", session="s2", at=NOW + WEEK)
    query = "Which radiator was needed?"
    context = (await core.context(ALICE, ContextInput(query=query, parts=["memories"]))).context
    answer = await core.retrieve(ALICE, RetrieveInput(query=query, mode="reconstruct"))
    for text in (context, answer.context or ""):
        assert "replaced on" in line_with(text, "radiator")
        assert "I sold the Golf" in line_with(text, "radiator")


async def test_an_assistants_words_replace_nothing_and_are_replaced_by_nothing(
    core: MemoryCore,
) -> None:
    await tell(core, "The standup is at 9:30 each day.", session="s1")
    await tell(
        core,
        ("assistant", "The standup was moved to 10:15."),
        "Thanks for the summary.",
        session="s2",
        at=NOW + WEEK,
    )
    context = (
        await core.context(ALICE, ContextInput(query="What time is the standup?", session_id="s9"))
    ).context
    assert "replaced on" not in context


async def test_what_was_said_later_is_found_before_what_it_updates(core: MemoryCore) -> None:
    await tell(
        core, "My Zotero library has 45 sources in the library, tagged by theme.", session="s1"
    )
    await tell(core, "I have 52 sources in the Zotero library.", session="s2", at=NOW + WEEK)
    answer = await core.retrieve(
        ALICE, RetrieveInput(query="How many sources are in my Zotero library?")
    )
    texts = [
        result.passages[0].text if result.passages else result.memory.content
        for result in answer.results
    ]
    places = [
        next(place for place, text in enumerate(texts) if number in text) for number in ("52", "45")
    ]
    assert places == sorted(places)


async def test_what_a_person_said_leads_before_the_answer_that_repeats_it(core: MemoryCore) -> None:
    message = "I have 52 sources in my Zotero library, how do I keep them in order?"
    answer = (
        "To keep 52 sources in order in your Zotero library: make collections in the Zotero "
        "library, and tag the sources by theme."
    )
    await tell(core, message, ("assistant", answer), session="s1")
    retrieved_answer = await core.retrieve(
        ALICE, RetrieveInput(query="How many sources are in my Zotero library?")
    )
    assert [passage.text for passage in retrieved_answer.results[0].passages] == [message, answer]


async def test_a_question_about_the_past_finds_what_was_said_first_where_it_answers_better(
    core: MemoryCore,
) -> None:
    await tell(
        core,
        "My Zotero library has 45 sources in the Zotero library, tagged by theme.",
        session="s1",
    )
    await tell(core, "I have 52 sources in the library.", session="s2", at=NOW + WEEK)
    answer = await core.retrieve(
        ALICE, RetrieveInput(query="How many sources were in my Zotero library before?")
    )
    text = (
        answer.results[0].passages[0].text
        if answer.results[0].passages
        else answer.results[0].memory.content
    )
    assert "45" in text


@SQLITE
async def test_of_an_open_conflict_either_side_is_told_with_the_other(rules: MemoryCore) -> None:
    await rules.save(ALICE, fact("Ana has two dogs"))
    await rules.save(ALICE, fact("Ana has three dogs"))
    context = (
        await rules.context(
            ALICE, ContextInput(query="How many dogs does Ana have?", session_id="s9")
        )
    ).context
    lines = [line for line in context.split("\n") if "in conflict with what was said on" in line]
    assert sorted("two dogs" in line for line in lines) == [False, True]


@SQLITE
async def test_a_side_of_a_conflict_from_the_excluded_session_is_not_told_beside_the_other(
    rules: MemoryCore,
) -> None:
    await rules.save(ALICE, fact("Ana has two dogs", session_id="s1"))
    await rules.save(ALICE, fact("Ana has three dogs", session_id="s2"))
    asked = ContextInput(query="How many dogs does Ana have?", session_id="s9")
    assert "in conflict with" in (await rules.context(ALICE, asked)).context
    asked = asked.model_copy(update={"exclude_session_id": "s2"})
    context = (await rules.context(ALICE, asked)).context
    assert "two dogs" in context
    assert "three" not in context


@SQLITE
@pytest.mark.parametrize(
    ("earlier", "later", "values"),
    [
        (
            "I drive a grey Skoda Octavia, the boot takes two crates.",
            "I sold the Skoda last weekend.",
            {},
        ),
        (
            "I drive a grey Skoda Octavia.",
            "I sold the Skoda for 9,000 euros and picked up a used Kia.",
            {"car": "a used Kia"},
        ),
        (
            "I drive a grey Skoda Octavia.",
            "I sold the Skoda roof box.",
            {"car": "a grey Skoda Octavia"},
        ),
        (
            "I drive a grey Skoda Octavia.",
            "I sold the Golf last weekend.",
            {"car": "a grey Skoda Octavia"},
        ),
        ("I live in New York.", "I no longer live in York.", {"home city": "New York"}),
        ("I work as a paediatric nurse.", "I'm no longer a nurse.", {}),
        (
            "My mobile is 085 417 2290.",
            "So my number is now 087 663 9014, the old one is dead.",
            {"phone number": "087 663 9014"},
        ),
        (
            "My mobile is 085 417 2290.",
            "My order number is now 087 663 9014.",
            {"phone number": "085 417 2290"},
        ),
    ],
)
async def test_an_ending_or_a_new_value_reaches_the_truth_that_it_means_and_no_other(
    rules: MemoryCore, earlier: str, later: str, values: dict[str, str]
) -> None:
    await tell(rules, earlier, session="s1", at=NOW - 3 * WEEK)
    await tell(rules, later, session="s2", at=NOW - WEEK)
    assert {line.name: line.value for line in (await rules.profile(ALICE)).explicit} == values
    context = (
        await rules.context(ALICE, ContextInput(query=f"Is this so: {earlier}", session_id="s9"))
    ).context
    assert "no longer true: User no longer" not in context


@SQLITE
async def test_a_line_of_the_profile_names_the_statement_that_an_open_conflict_sets_against_it(
    rules: MemoryCore,
) -> None:
    await tell(rules, "I work at Otto.", session="s1", at=NOW - 3 * WEEK)
    await tell(rules, "I am through with Otto since last Friday.", session="s2", at=NOW - WEEK)
    (record,) = (await rules.conflicts(ALICE)).conflicts
    for consolidate in (False, True):
        if consolidate:
            await consolidated(rules)
        (line,) = (await rules.profile(ALICE)).explicit
        disputes = [
            (dispute.conflict_id, dispute.memory_id, dispute.text, dispute.at)
            for dispute in line.disputed_by
        ]
        assert disputes == [
            (record.id, record.new_id, "User is through with Otto since last Friday", NOW - WEEK)
        ]
    asked = ContextInput(query="Where do I work?", session_id="s9", parts=["profile"])
    mark = (
        f"employer: Otto (disputed on {(NOW - WEEK).date().isoformat()}: User is through with "
        "Otto since last Friday)"
    )
    assert mark in (await rules.context(ALICE, asked)).context
    assert (await rules.profile(ALICE, NOW - 2 * WEEK)).explicit[0].disputed_by == []
    asked = asked.model_copy(update={"exclude_session_id": "s2"})
    assert "disputed" not in (await rules.context(ALICE, asked)).context
    await rules.resolve_conflict(ALICE, record.id, asking("reject_new"))
    assert [(fact.value, fact.disputed_by) for fact in (await rules.profile(ALICE)).explicit] == [
        ("Otto", [])
    ]


@SQLITE
async def test_a_job_that_is_announced_holds_from_its_day_on_and_the_old_one_until_then(
    rules: MemoryCore,
) -> None:
    starts = NOW.replace(month=10, day=1, hour=0)
    await tell(rules, "I work at Siemens as a welder.", session="s1", at=NOW - 3 * WEEK)
    await tell(
        rules,
        "On 1 October I'm starting at Airbus as a machine learning engineer.",
        session="s2",
        at=NOW - WEEK,
    )
    for at, values in (
        (NOW, ("Siemens", "welder")),
        (starts, ("Airbus", "machine learning engineer")),
    ):
        values_at = {line.name: line.value for line in (await rules.profile(ALICE, at)).explicit}
        assert values_at == {"employer": values[0], "occupation": values[1]}
    context = (
        await rules.context(ALICE, ContextInput(query="Where do I work?", session_id="s9"))
    ).context
    assert "User works at Airbus (from 2026-10-01)" in context


@SQLITE
async def test_news_of_a_job_replaces_no_employer_before_the_day_on_which_it_begins(
    rules: MemoryCore,
) -> None:
    await tell(rules, "I work at Acme.", session="s1", at=NOW - 3 * WEEK)
    await tell(
        rules, "I got the job! I'll start at Globex on 1 October.", session="s2", at=NOW - WEEK
    )
    (line,) = (await rules.profile(ALICE)).explicit
    assert (line.value, line.disputed_by) == ("Acme", [])
    asked = ContextInput(query="What's the address of my employer?", session_id="s9")
    assert "replaced" not in (await rules.context(ALICE, asked)).context


@SQLITE
async def test_a_move_that_is_put_off_begins_on_its_new_day(rules: MemoryCore) -> None:
    day = NOW.replace(year=2027, month=1, day=1, hour=12)
    await tell(rules, "I live in Berlin.", session="s1", at=NOW - 3 * WEEK)
    await tell(rules, "I'm moving to Leipzig on 1 January 2027.", session="s2", at=NOW - 2 * WEEK)
    await tell(rules, "The move to Leipzig got pushed back to 1 April.", session="s3", at=NOW)
    for at, home in ((day, "Berlin"), (NOW.replace(year=2027, month=4, day=2), "Leipzig")):
        values = {line.name: line.value for line in (await rules.profile(ALICE, at)).explicit}
        assert values == {"home city": home}


@SQLITE
@pytest.mark.parametrize(
    ("before", "announced", "query"),
    [
        (
            "I live in Lisbon and I work as a nurse.",
            "From 1 January 2027 I live in Porto.",
            "Where do I live?",
        ),
        ("Ich wohne in Lissabon.", "Ab dem 1. Januar 2027 wohne ich in Porto.", "Wo wohne ich?"),
    ],
)
async def test_a_new_home_that_is_announced_replaces_the_old_one_from_its_day_on(
    rules: MemoryCore, before: str, announced: str, query: str
) -> None:
    day = NOW.replace(year=2027, month=1, day=1, hour=0)
    old = "Lissabon" if "Lissabon" in before else "Lisbon"
    await tell(rules, before, session="s1", at=NOW - 3 * WEEK)
    await tell(rules, announced, session="s2", at=NOW - WEEK)
    for at, home in (
        (None, old),
        (day - timedelta(days=1), old),
        (day, "Porto"),
        (day + timedelta(days=200), "Porto"),
    ):
        values = {line.name: line.value for line in (await rules.profile(ALICE, at)).explicit}
        assert values["home city"] == home
        context = (
            await rules.context(ALICE, ContextInput(query=query, session_id="s9", at=at))
        ).context
        assert ("no longer true" in context) == (home == "Porto")
        assert "replaced on" not in context or home == "Porto"
    first = (
        await rules.retrieve(ALICE, RetrieveInput(query=query, at=day + timedelta(days=200)))
    ).results[0]
    assert "Porto" in first.memory.content


@SQLITE
@pytest.mark.parametrize(
    ("before", "moved", "homes"),
    [
        ("I live in Oslo.", "I moved to Rome on {day}.", ("Oslo", "Rome")),
        ("Ich wohne in Oslo.", "Ich bin am {day} nach Rom gezogen.", ("Oslo", "Rom")),
    ],
)
async def test_a_new_home_replaces_the_old_one_from_the_day_that_is_told(
    rules: MemoryCore, before: str, moved: str, homes: tuple[str, str]
) -> None:
    day = (NOW - WEEK).replace(hour=0, minute=0, second=0, microsecond=0)
    named = f"{day:%-d}. {_GERMAN[day.month - 1]}" if "Ich" in before else f"{day:%-d %B}"
    await tell(rules, before, session="s1", at=NOW - 3 * WEEK)
    await tell(rules, moved.format(day=named), session="s2", at=NOW - timedelta(days=1))
    for at, home in ((day - timedelta(hours=1), homes[0]), (day, homes[1]), (None, homes[1])):
        values = {line.name: line.value for line in (await rules.profile(ALICE, at)).explicit}
        assert values == {"home city": home}


@SQLITE
async def test_an_announced_move_that_is_called_off_never_holds(rules: MemoryCore) -> None:
    day = NOW.replace(year=2027, month=1, day=1, hour=12)
    await tell(rules, "I live in Lisbon.", session="s1", at=NOW - 3 * WEEK)
    await tell(rules, "From 1 January 2027 I live in Porto.", session="s2", at=NOW - 2 * WEEK)
    await tell(
        rules, "The move to Porto is cancelled, I stay in Lisbon.", session="s3", at=NOW - WEEK
    )
    for at in (None, day, day + timedelta(days=400)):
        assert {line.name: line.value for line in (await rules.profile(ALICE, at)).explicit} == {
            "home city": "Lisbon"
        }


@SQLITE
async def test_older_words_do_not_dispute_a_line_of_the_profile(rules: MemoryCore) -> None:
    await tell(
        rules, "ich rauche seit 20 jahren und will aufhören", session="s1", at=NOW - 3 * WEEK
    )
    await tell(rules, "Seit drei wochen rauche ich nicht mehr", session="s2", at=NOW - WEEK)
    asked = ContextInput(query="Rauche ich?", session_id="s9", parts=["profile"])
    context = (await rules.context(ALICE, asked)).context
    assert "smokes: no" in context
    assert "disputed" not in context


@SQLITE
@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("What car do I drive?", "Tesla"),
        ("Yesterday was fine. What car do I drive?", "Tesla"),
        ("What car did I drive before?", "2014"),
    ],
)
async def test_of_two_sides_of_an_open_conflict_the_later_answers_what_is_so_now(
    rules: MemoryCore, query: str, first: str
) -> None:
    await tell(rules, "I drive a 2014 Golf.", session="s1")
    await tell(rules, "Traded the Golf in for a Tesla.", session="s2", at=NOW + WEEK)
    assert await disputed(rules)
    results = (await rules.retrieve(ALICE, RetrieveInput(query=query))).results
    assert first in results[0].memory.content


@SQLITE
async def test_a_message_that_says_that_something_changed_comes_before_what_it_changed(
    core: MemoryCore,
) -> None:
    await tell(core, "We use npm and vitest in the shop.", session="s1")
    await tell(
        core, "Heads up, we switched from npm to pnpm in the shop.", session="s2", at=NOW + WEEK
    )
    asked = RetrieveInput(query="Do we use npm in the shop?")
    results = (await core.retrieve(ALICE, asked)).results
    assert "pnpm" in results[0].memory.content
