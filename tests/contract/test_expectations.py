"""What a context expects, by all that was said since: appointments that were moved have their
new time, those called off say so, and every line has its day and its hour.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from memory_core.core import MemoryCore
from memory_core.domain.memory import Foresight
from memory_core.domain.requests.memories import ContextInput
from memory_core.recollection.scenes import Profiles
from tests.builders import ALICE, NOW
from tests.contract.test_context import turn
from tests.contract.test_scenes import consolidated
from tests.telling import tell
from tests.world import Meanwhile, World

pytestmark = pytest.mark.parametrize("adapter", ["sqlite"], indirect=True)
HOUR = timedelta(hours=1)
HAIRCUT = "I have a haircut on Thursday at 3."
DENTIST = "I have a dentist appointment on Monday at 9."


@pytest.fixture
async def core(world: World) -> MemoryCore:
    return await world.core_by_rules()


async def expected(core: MemoryCore) -> list[str]:
    """The lines of what is expected; said on Friday 8 May."""
    text = (await core.context(ALICE, ContextInput(parts=["foresight"]))).context
    return [line.partition("] ")[2] for line in text.split("\n") if line.startswith("[")]


MOVED = [
    (HAIRCUT, "The haircut is on Friday instead.", "on 2026-05-15 at 15:00"),
    ("I'm flying to Lisbon on 2 June.", "The flight is on the 3rd, not the 2nd.", "on 2026-06-03"),
    (
        "I have a job interview at 9 tomorrow.",
        "The interview was moved to 11.",
        "on 2026-05-09 at 11:00",
    ),
    ("明日の15時に面接があります。", "面接は16時に変更になりました。", "on 2026-05-09 at 16:00"),
    ("My dentist appointment is on Monday at 9.", "No, I meant Tuesday.", "on 2026-05-12 at 09:00"),
    ("My exam is on Monday at 10.", "No, the exam is on Tuesday.", "on 2026-05-12 at 10:00"),
    (
        "My sister Anna is coming to visit on Saturday.",
        "Sorry, not Saturday, Sunday.",
        "on 2026-05-10",
    ),
    ("My mum's birthday is on 30 May.", "Sorry, I meant 29 May.", "on 2026-05-29"),
    (
        "Ich habe am Montag um 9 einen Zahnarzttermin.",
        "Nein, ich meinte Dienstag.",
        "on 2026-05-12 at 09:00",
    ),
    (
        "明日の14時に美容院の予約があります。",
        "すみません、15時の間違いでした。",
        "on 2026-05-09 at 15:00",
    ),
]


@pytest.mark.parametrize(("earlier", "later", "when"), MOVED)
async def test_what_was_moved_or_corrected_is_expected_at_its_new_time(
    core: MemoryCore, earlier: str, later: str, when: str
) -> None:
    await tell(core, earlier, later)
    (line,) = await expected(core)
    assert line.startswith(f"{when}: ")
    assert line.endswith(f"(changed on 2026-05-08: {later})")


@pytest.mark.parametrize(("earlier", "later", "when"), [MOVED[0], MOVED[2], MOVED[4], MOVED[9]])
async def test_what_another_conversation_moves_is_expected_at_its_new_time(
    core: MemoryCore, earlier: str, later: str, when: str
) -> None:
    await tell(core, earlier)
    await tell(core, later, at=NOW + HOUR)
    (line,) = await expected(core)
    assert line.startswith(f"{when}: ")


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (HAIRCUT, "My haircut got cancelled."),
        ("Am 5. Juni fliege ich nach Rom.", "Der Flug nach Rom ist storniert."),
        ("I have a piano lesson on Monday at 5.", "She is ill, so no lesson on Monday."),
        ("明日の15時に面接があります。", "面接は中止になりました。"),
        ("Am 5. Juni habe ich ein Treffen mit Jana.", "Das Treffen findet nicht statt."),
    ],
)
async def test_what_was_called_off_says_so_in_its_line(
    core: MemoryCore, earlier: str, later: str
) -> None:
    await tell(core, earlier, later)
    (line,) = await expected(core)
    assert line.endswith(f"(called off on 2026-05-08: {later})")


GERMAN_DENTIST = "Ich habe am Montag um 9 einen Zahnarzttermin."
JAPANESE_DENTIST = "月曜日の9時に歯医者の予約があります。"
PUT_OFF = [
    (DENTIST, "The dentist was postponed."),
    (HAIRCUT, "I had to put off my haircut."),
    ("My driving test is on 2 June at 10.", "My driving test has been pushed back."),
    ("I have a job interview at 9 tomorrow.", "It was postponed until further notice."),
    (GERMAN_DENTIST, "Der Zahnarzttermin wurde verschoben."),
    ("Am Samstag um 18 Uhr ist die Feier bei Jana.", "Die Feier ist auf unbestimmt vertagt."),
    ("Ich habe am Dienstag um 14 Uhr Fahrstunde.", "Ich musste die Fahrstunde verschieben."),
    (JAPANESE_DENTIST, "歯医者は延期になった。"),
    ("明日の15時に面接があります。", "面接が延期されました。"),
    ("来週の火曜日に遠足があります。", "雨で遠足は順延になりました。"),
]


@pytest.mark.parametrize(("earlier", "later"), PUT_OFF)
async def test_what_was_put_off_says_that_its_new_time_is_open(
    core: MemoryCore, earlier: str, later: str
) -> None:
    await tell(core, earlier)
    await tell(core, later, at=NOW + HOUR)
    (line,) = await expected(core)
    assert line.endswith(f"(put off on 2026-05-08, new time open: {later})")


async def test_what_was_put_off_takes_the_time_that_is_told_later(core: MemoryCore) -> None:
    await tell(core, DENTIST, "The dentist was postponed.", "The dentist is on Thursday at 3 now.")
    (line,) = await expected(core)
    assert line.startswith("on 2026-05-14 at 15:00: ")


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (HAIRCUT, "My sister's haircut got cancelled."),
        (DENTIST, "The dentist was not postponed."),
        (GERMAN_DENTIST, "Wurde der Zahnarzttermin verschoben?"),
        (JAPANESE_DENTIST, "歯医者は延期にならなかった。"),
        (HAIRCUT, "If the haircut gets cancelled I'll go swimming."),
        (DENTIST, "No, on Tuesday I'm working."),
        ("My exam is on Monday at 10.", "The exam results come out on Tuesday."),
        ("My exam is on Monday at 10.", "My exam on Wednesday was moved to 3."),
        ("I have a concert on Monday at 19:00.", "I cancelled the train to the concert."),
        ("Ich habe am Montag um 9 einen Zahnarzttermin.", "Nein, am Dienstag arbeite ich nicht."),
        ("明日の15時に面接があります。", "弟の面接は中止になりました。"),
    ],
)
async def test_what_is_said_of_another_thing_changes_nothing_that_is_expected(
    core: MemoryCore, earlier: str, later: str
) -> None:
    await tell(core, earlier)
    before = await expected(core)
    await tell(core, later, at=NOW + HOUR)
    assert before[0] in await expected(core)


async def test_another_speakers_words_move_nothing(core: MemoryCore) -> None:
    await tell(core, HAIRCUT, ("assistant", "The haircut is on Friday instead."))
    assert (await expected(core))[
        0
    ] == "on 2026-05-14 at 15:00: User has a haircut on Thursday at 3."


async def test_what_was_moved_can_be_called_off_and_a_correction_corrected(
    core: MemoryCore,
) -> None:
    await tell(core, HAIRCUT, "The haircut is on Friday instead.", "The haircut is cancelled.")
    await tell(core, DENTIST, "No, Tuesday.", "Sorry, Wednesday.", session="s2")
    dentist, haircut = await expected(core)
    assert dentist.startswith("on 2026-05-13 at 09:00: ")
    assert haircut.startswith("on 2026-05-15 at 15:00: ")
    assert "(called off" in haircut


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I have a meeting with Sarah on Monday.", "Sorry, I meant with Sandra."),
        ("Ich treffe mich am Montag mit Anna.", "Nein, ich meinte Hanna."),
        ("月曜日に佐藤さんと会議があります。", "すみません、加藤さんの間違いでした。"),
    ],
)
async def test_a_name_that_is_corrected_is_beside_what_is_expected(
    core: MemoryCore, earlier: str, later: str
) -> None:
    await tell(core, earlier, later)
    (line,) = await expected(core)
    assert line.startswith("on 2026-05-11: ")
    assert line.endswith(f"(changed on 2026-05-08: {later})")


@pytest.mark.parametrize("later", ["No, thanks.", "Sorry, I meant to ask about trains to Bristol."])
async def test_other_words_after_what_is_expected_change_nothing(
    core: MemoryCore, later: str
) -> None:
    await tell(core, "I have a meeting with Sarah on Monday.", later)
    assert await expected(core) == ["on 2026-05-11: User has a meeting with Sarah on Monday."]


async def test_a_memory_does_not_repeat_the_time_that_was_moved(
    core: MemoryCore, world: World
) -> None:
    await tell(core, "I have a job interview at 9 tomorrow.", "The interview was moved to 11.")
    world.clock.forward(22 * HOUR.total_seconds())
    context = await core.context(ALICE, ContextInput(query="my job interview"))
    assert "on 2026-05-09 at 11:00: " in context.context
    assert "at 09:00" not in context.context


async def test_a_message_that_the_query_finds_is_not_taken_for_a_later_correction(
    core: MemoryCore,
) -> None:
    await tell(core, "My exam is on Monday at 10.", "No, the exam is on Tuesday.", "I like tea.")
    context = await core.context(ALICE, ContextInput(query="My exam is on Monday at 10."))
    assert "] on 2026-05-12 at 10:00: User's exam" in context.context


async def test_an_appointment_that_is_told_anew_is_expected_once(core: MemoryCore) -> None:
    await tell(core, DENTIST, "My dentist appointment was moved to next Thursday.")
    (line,) = await expected(core)
    assert line.startswith("on 2026-05-14 at 09:00: User has a dentist appointment on Monday")
    assert line.endswith("moved to next Thursday.)")


async def test_words_that_mean_another_day_on_another_day_say_when_they_were_said(
    core: MemoryCore,
) -> None:
    await tell(core, "I have an interview at 9 tomorrow.", DENTIST)
    interview, dentist = await expected(core)
    assert interview.startswith("on 2026-05-09 at 09:00: ")
    assert interview.endswith("(said on 2026-05-08)")
    assert dentist == "on 2026-05-11 at 09:00: User has a dentist appointment on Monday at 9."


@pytest.mark.parametrize(
    ("hours", "lasts", "span"),
    [
        (21, 1, "on 2026-05-09 from 09:00 until 10:00"),
        (12, 24, "on 2026-05-09"),
        (26.5, 9.5, "on 2026-05-09 at 14:30"),
        (12, 72, "from 2026-05-09 until 2026-05-11"),
        (21, 200, "from 2026-05-09 until 2026-05-17"),
        (34, 4, "from 2026-05-09 at 22:00 until 2026-05-10 at 02:00"),
        (21, None, "from 2026-05-09 at 09:00"),
    ],
)
async def test_a_line_tells_the_days_and_of_a_short_time_the_hours(
    core: MemoryCore, hours: float, lasts: float | None, span: str
) -> None:
    start = NOW + hours * HOUR
    foresight = Foresight(
        description="a visit",
        start_time=start,
        end_time=None if lasts is None else start + lasts * HOUR,
    )
    await core.save(ALICE, turn("she spoke of a visit", "s1", foresight=[foresight]))
    assert await expected(core) == [f"{span}: a visit"]


QUOTED = [
    (
        "My job interview with Halden is on Monday at 2pm.",
        "Wait, no, I meant Tuesday. Tuesday at 2.",
        "my job interview",
        "changed on 2026-05-08: Wait, no, I meant Tuesday.",
    ),
    (
        "面接は月曜の午後2時から。緊張する…",
        "あ、ごめん、月曜じゃなくて火曜だ。火曜の2時ね。",
        "面接は何時から？",
        "changed on 2026-05-08: ",
    ),
    (HAIRCUT, "My haircut got cancelled.", "my haircut", "called off on 2026-05-08: My haircut"),
]


@pytest.mark.parametrize(("earlier", "later", "query", "mark"), QUOTED)
@pytest.mark.parametrize("session", [None, "s1"])
async def test_a_message_that_is_quoted_has_the_mark_of_what_is_expected(
    core: MemoryCore, earlier: str, later: str, query: str, mark: str, session: str | None
) -> None:
    await tell(core, earlier, ("assistant", "Good luck!"), later)
    asked = ContextInput(parts=["turns", "memories"], query=query, session_id=session)
    lines = (await core.context(ALICE, asked)).context.split("\n")
    quoted = [line for line in lines if earlier in line]
    assert quoted
    assert all(mark in line or "replaced on" in line for line in quoted)
    assert not any("(" in line for line in lines if f"user: {later}" in line)


async def test_a_message_about_another_appointment_has_no_mark(core: MemoryCore) -> None:
    await tell(core, DENTIST, HAIRCUT, ("assistant", "Noted."), "The haircut is on Friday instead.")
    asked = ContextInput(parts=["turns", "memories"], query="my dentist appointment")
    lines = (await core.context(ALICE, asked)).context.split("\n")
    (quoted,) = [line for line in lines if DENTIST in line]
    assert "(" not in quoted


async def test_a_message_that_changed_a_time_is_marked_when_the_time_changes_again(
    core: MemoryCore,
) -> None:
    await tell(core, HAIRCUT, "The haircut is on Friday instead.")
    await tell(core, "The haircut was moved to Tuesday.", at=NOW + HOUR, session="s2")
    asked = ContextInput(parts=["turns", "memories"], query="my haircut")
    lines = (await core.context(ALICE, asked)).context.split("\n")
    (quoted,) = [line for line in lines if "haircut is on Friday instead." in line and "(" in line]
    assert "The haircut was moved to Tuesday." in quoted


@pytest.mark.parametrize("year", [1, 9999])
async def test_a_context_of_the_end_of_all_days_is_answered(core: MemoryCore, year: int) -> None:
    await tell(core, "I have a haircut on Friday at 3.", session="s1")
    moment = datetime(year, 12, 30, tzinfo=timezone.utc)
    asked = ContextInput(query="When is my haircut?", at=moment)
    assert isinstance((await core.context(ALICE, asked)).context, str)


DATED = "My dentist appointment is on 18 May at 9."
GERMAN_DATED = "Mein Zahnarzttermin ist am 18. Mai um 9 Uhr."


async def known(core: MemoryCore, at: datetime | None = None) -> dict[str, Any]:
    return {fact.name: fact.value for fact in (await core.profile(ALICE, at)).explicit}


@pytest.mark.parametrize("is_run", [False, True])
@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (DATED, "The dentist appointment was postponed."),
        (DATED, "The dentist appointment got cancelled."),
        (GERMAN_DATED, "Der Zahnarzttermin wurde verschoben."),
        (GERMAN_DATED, "Der Zahnarzttermin am 18. Mai ist abgesagt."),
    ],
)
async def test_a_profile_leaves_out_an_appointment_that_does_not_take_place(
    core: MemoryCore, world: World, earlier: str, later: str, is_run: bool
) -> None:
    await tell(core, earlier)
    if is_run:
        await consolidated(core)
    assert len(await known(core)) == 1
    await tell(core, later, at=NOW + HOUR, session="s2")
    world.clock.forward(7_200)
    assert await known(core) == {}
    assert len(await known(core, NOW + HOUR / 2)) == 1
    context = await core.context(ALICE, ContextInput(parts=["profile", "foresight"]))
    assert "on 2026-05-08" in context.context
    assert "Profile:" not in context.context


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (DATED, "The dentist appointment was not postponed."),
        (DATED, "My sister's dentist appointment got cancelled."),
        (DATED, "The haircut was postponed."),
        ("My birthday is on 18 May.", "The birthday party was cancelled."),
        ("My birthday is on 18 May.", "My birthday was postponed."),
        (GERMAN_DATED, "Wurde der Zahnarzttermin verschoben?"),
    ],
)
async def test_a_profile_keeps_a_date_that_nothing_changed(
    core: MemoryCore, earlier: str, later: str
) -> None:
    await tell(core, earlier)
    before = await known(core)
    await tell(core, later, at=NOW + HOUR, session="s2")
    assert before.items() <= (await known(core)).items()


@pytest.mark.parametrize(
    "sentence",
    [
        "My birthday is on 18 May.",
        "My mother's birthday is on 18 May.",
        "My anniversary is 18 May.",
    ],
)
async def test_a_profile_keeps_a_day_that_comes_again(
    core: MemoryCore, world: World, sentence: str
) -> None:
    await tell(core, sentence)
    before = await known(core)
    world.clock.forward(25 * 86_400)
    assert await known(core) == before


@pytest.mark.parametrize("is_run", [False, True])
@pytest.mark.parametrize(
    "sentence",
    [
        DATED,
        GERMAN_DATED,
        "My dentist appointment is 18 May at 9.",
        "My dentist appointment is on May 18th.",
    ],
)
async def test_a_profile_leaves_out_an_appointment_after_its_day(
    core: MemoryCore, world: World, sentence: str, is_run: bool
) -> None:
    await tell(core, sentence)
    if is_run:
        await consolidated(core)
    assert len(await known(core)) == 1
    world.clock.forward(25 * 86_400)
    assert await known(core) == {}
    context = await core.context(ALICE, ContextInput(parts=["profile", "foresight"]))
    assert "18" not in context.context


async def test_a_profile_tells_an_appointment_that_takes_place_after_all(core: MemoryCore) -> None:
    await tell(core, DATED)
    await tell(core, "The dentist appointment got cancelled.", at=NOW + HOUR, session="s2")
    await tell(core, "The dentist appointment is on 20 May at 9.", at=NOW + 2 * HOUR, session="s3")
    assert await known(core, NOW + 3 * HOUR) == {"dentist appointment": "20 May at 9"}


async def test_only_a_profile_with_an_appointment_ahead_is_compared_with_the_newest_memories(
    core: MemoryCore, world: World
) -> None:
    await tell(core, "I live in Oslo. My phone number is 555 010 2030.")
    await consolidated(core)

    async def refused() -> None:
        raise AssertionError("a profile without an appointment reads no page of memories")

    store: Any = Meanwhile(await world.look_on(), "page", refused)
    assert len((await Profiles(store, world.clock).of(ALICE)).explicit) == 2
