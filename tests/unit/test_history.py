"""A history that is sent again is known again, whatever was said in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.chat.history import (
    MARK_CHARACTERS,
    MAX_MARKS,
    CallMessage,
    HistoryMatch,
    before_message,
    is_hole,
    is_sealed,
    kept_mark,
    match_history,
    message_mark,
    without_message,
    without_messages,
    without_seals,
)
from memory_core.domain.chat.history_alignment import RepeatedMessage, aligned
from memory_core.domain.chat.read_message import ReadMessage
from memory_core.domain.text.unicode_forms import normal_form

MARKS = st.lists(st.sampled_from("abc"), max_size=12)
DISTINCT = st.lists(st.text("abcdefgh", min_size=2, max_size=4), unique=True, max_size=20)
KEY = b"a key that the store does not have"
BEGINNING = datetime(2026, 5, 8, 8, tzinfo=UTC)
PROMPT = ReadMessage("system", "You are a helpful assistant.")


def of(letters: Sequence[str | None], ids: Sequence[str | None] | None = None) -> list[CallMessage]:
    """A call of messages whose marks are these letters, without times."""
    names = ids or [None] * len(letters)
    return [
        CallMessage((letter or "").ljust(MARK_CHARACTERS, "."), id=name)
        for letter, name in zip(letters, names, strict=True)
    ]


def kept_of(letters: Sequence[str]) -> list[str]:
    return [message.kept for message in of(letters)]


def matched(
    kept_contents: Sequence[str],
    call: Sequence[str],
    ids: Sequence[str | None] | None = None,
    known_ids: frozenset[str] = frozenset(),
) -> HistoryMatch:
    return match_history(kept_of(kept_contents), of(call, ids), known_ids)


def rank_by_definition(
    kept_contents: Sequence[str], call: Sequence[str]
) -> tuple[int, int, int] | None:
    """What the best chain counts, how many marks it leaves behind it (less is more),
    and its differences (the same).
    """

    @cache
    def run(place: int, mark: int) -> int:
        return (
            1 + run(place + 1, mark + 1)
            if place < len(call)
            and mark < len(kept_contents)
            and call[place] == kept_contents[mark]
            else 0
        )

    def may_follow(place: int, mark: int, least: int = 2) -> bool:
        length = run(place, mark)
        return length >= 3 or (length >= least and mark + length == len(kept_contents))

    @cache
    def chain(place: int, mark: int) -> tuple[int, int]:
        """The best chain that ends with this pair: what it counts, and its differences, negated."""
        ways = [(0, 0)] if place == 0 else []
        if place and may_follow(
            place, mark, 1 if place == mark and len(call) > len(kept_contents) else 2
        ):
            ways.append((-1, -1))
        for earlier, before in product(range(place), range(mark)):
            if not run(earlier, before):
                continue
            count, differences = chain(earlier, before)
            new, left_out = place - earlier - 1, mark - before - 1
            if new == left_out:
                passed = any(run(earlier + by, before + by) for by in range(1, new + 1))
                ways += [] if passed else [(count - (new > 0), differences - (new > 0))]
            elif may_follow(place, mark, 1 if new == 0 and count >= 2 else 2):
                ways.append((count - (1 if new == 0 else 2), differences - 1))
        if not ways:
            return -1_000, 0
        count, differences = max(ways)
        return count + 1, differences

    ranks = list[tuple[int, int, int]]()
    for place, mark in product(range(len(call)), range(len(kept_contents))):
        (count, differences), left, has_more = (
            chain(place, mark) if run(place, mark) else (-1_000, 0),
            len(kept_contents) - mark - 1,
            True,
        )
        has_more = place + 1 < len(call)
        if count >= 0 and (
            not left or (count >= max(2, left) if has_more else count > left or count >= 8)
        ):
            ranks.append((count, -left, differences))
    return max(ranks, default=None)


def rank_of(
    steps: Sequence[RepeatedMessage], kept_contents: Sequence[str], call: Sequence[str]
) -> tuple[int, int, int] | None:
    """The same of a chain that was found."""
    if not steps:
        return None
    count, differences = len(steps) - (steps[0].call > 0), -(steps[0].call > 0)
    for before, after in pairwise(steps):
        new, left_out = after.call - before.call - 1, after.mark - before.mark - 1
        count -= 0 if new == left_out == 0 else 1 if new in (0, left_out) else 2
        differences -= (new, left_out) != (0, 0)
    assert all(call[step.call] == kept_contents[step.mark] for step in steps)
    return count, steps[-1].mark + 1 - len(kept_contents), differences


class Session:
    """What a session has been told, in calls at moments that are each a minute later than
    the one before.
    """

    def __init__(self, key: bytes | None = None) -> None:
        """key: what it seals the holes with that forgotten messages leave."""
        self.now, self.kept, self.stored, self.key = BEGINNING, (), list[str](), key
        self.kept: tuple[str, ...]

    def tell(self, messages: Sequence[ReadMessage], known_ids: frozenset[str] = frozenset()) -> int:
        """Tell a call: how many of its messages are new."""
        self.now += timedelta(minutes=1)
        match = match_history(
            self.kept,
            [CallMessage.of(message, self.now) for message in messages],
            known_ids,
            self.key,
        )
        self.kept = match.marks
        self.stored += [messages[place].content for place in match.new]
        return len(match.new)

    def forget(self, message: ReadMessage) -> None:
        """Forget a message for good."""
        forgotten = CallMessage.of(message, self.now)
        self.kept = (*without_message(self.kept, forgotten, self.now, self.key),)

    def take_back(self, message: ReadMessage) -> None:
        """Take a message back."""
        self.kept = (*before_message(self.kept, CallMessage.of(message, self.now), self.now),)


@st.composite
def histories(draw: st.DrawFn, contents: st.SearchStrategy[list[str]]) -> list[ReadMessage]:
    """Messages of changing roles, with a time each or with none."""
    texts, timed = draw(contents), draw(st.booleans())
    roles = [draw(st.sampled_from(["user", "assistant", "tool"])) for _ in texts]
    return [
        ReadMessage(role, text, BEGINNING + timedelta(seconds=number) if timed else None)
        for number, (role, text) in enumerate(zip(roles, texts, strict=True))
    ]


@given(MARKS, MARKS)
def test_what_is_known_is_the_best_chain_by_its_definition(
    kept_contents: list[str], call: list[str]
) -> None:
    repeats = np.array(
        [[content == other for other in kept_contents] for content in call], bool
    ).reshape(len(call), len(kept_contents))
    steps = (
        aligned(repeats, np.zeros_like(repeats), np.zeros(len(kept_contents), bool))
        if kept_contents and call
        else []
    )
    assert rank_of(steps, kept_contents, call) == rank_by_definition(kept_contents, call)


@given(histories(DISTINCT.filter(bool)), st.data())
def test_whatever_is_forgotten_of_a_growing_history_the_rest_is_known_and_it_stays_away(
    messages: list[ReadMessage], data: st.DataObject
) -> None:
    session = Session()
    end = data.draw(st.integers(1, len(messages)))
    session.tell(messages[:end])
    places = data.draw(st.sets(st.integers(0, end - 1), max_size=end - 1))
    left = [place for place in range(end) if place not in places]
    for place in places:
        session.forget(messages[place])
    more = data.draw(st.integers(end, len(messages)))
    # one answer behind holes makes no history, if nothing more is told
    is_new = more == end and len(left) == 1 and left[0] > 0
    assert session.tell(messages[:more]) == (end if is_new else more - end)


@given(histories(MARKS.filter(bool)), st.booleans(), st.data())
def test_a_growing_history_adds_each_message_once(
    messages: list[ReadMessage], has_prompt: bool, data: st.DataObject
) -> None:
    """Whatever is said twice in it: each call is the whole history, so what is kept is always
    its beginning.
    """
    session, front = Session(), [PROMPT] * has_prompt
    for end in sorted(data.draw(st.sets(st.integers(1, len(messages)))) | {len(messages)}):
        session.tell([*front, *messages[:end]])
    assert session.stored == [message.content for message in [*front, *messages]]


@given(histories(DISTINCT), st.integers(1, 6), st.booleans(), st.data())
def test_a_window_that_slides_adds_what_came_into_it(
    messages: list[ReadMessage], overlap: int, has_prompt: bool, data: st.DataObject
) -> None:
    session, front, end = Session(), [PROMPT] * has_prompt, 0
    while end < len(messages):
        step = data.draw(st.integers(1, 4))
        session.tell([*front, *messages[max(0, end - overlap) : end + step]])
        end += step
    assert session.stored == [message.content for message in [*front, *messages] if messages]


@given(histories(DISTINCT), st.integers(2, 4), st.integers(2, 6), st.data())
def test_so_does_one_whose_first_messages_stay(
    messages: list[ReadMessage], first: int, window: int, data: st.DataObject
) -> None:
    session, end = Session(), 0
    while end < len(messages):
        end = min(len(messages), end + data.draw(st.integers(1, window - 1)))
        session.tell(
            messages[:end]
            if end <= first + window
            else [*messages[:first], *messages[:end][-window:]]
        )
    assert session.stored == [message.content for message in messages]


@given(
    histories(DISTINCT.filter(bool)), st.lists(st.text("xyz", min_size=5), min_size=1, max_size=4)
)
def test_a_prompt_that_changes_breaks_no_run(
    messages: list[ReadMessage], prompts: list[str]
) -> None:
    session = Session()
    for end in range(1, len(messages) + 1):
        prompt = ReadMessage("system", prompts[end % len(prompts)])
        session.tell(
            [
                prompt,
                *messages[: end // 2],
                ReadMessage("system", f"{prompt.content} in between"),
                *messages[end // 2 : end],
            ]
        )
    contents = [message.content for message in messages]
    assert [content for content in session.stored if content in contents] == contents
    assert len(session.stored) == len(set(session.stored))


@given(MARKS.filter(bool), MARKS.filter(bool))
def test_a_call_given_later_times_than_all_before_is_new(
    before: list[str], call: list[str]
) -> None:
    session = Session()
    session.tell([ReadMessage("user", content) for content in before])
    later = session.now + timedelta(milliseconds=1)
    assert session.tell([ReadMessage("user", content, later) for content in call]) == len(call)


def u(content: str, at: str | None = None) -> ReadMessage:
    return ReadMessage("user", content, _moment(at))


def a(content: str, at: str | None = None) -> ReadMessage:
    return ReadMessage("assistant", content, _moment(at))


def s(content: str, at: str | None = None) -> ReadMessage:
    return ReadMessage("system", content, _moment(at))


def tool(content: str) -> ReadMessage:
    return ReadMessage("tool", content)


def _moment(at: str | None) -> datetime | None:
    return None if at is None else datetime.fromisoformat(f"2026-05-{at}+00:00")


STORIES: dict[str, tuple[list[list[ReadMessage]], list[int]]] = {
    "a history from its first message on": (
        [[u("I live in Rome")], [u("I live in Rome"), a("Nice")]],
        [1, 1],
    ),
    "a window that overlaps by one": (
        [[u("q1"), a("b1")], [a("b1"), u("q2")], [u("q2"), a("b2")]],
        [2, 1, 1],
    ),
    "a call whose answer was lost": ([[u("I live in Rome")], [u("I live in Rome")]], [1, 0]),
    "a turn whose answer was lost": ([[u("q1"), a("b1")], [u("q1"), a("b1")]], [2, 0]),
    "new messages alone": ([[u("q1")], [a("b1")], [u("q2")], [a("b2")]], [1, 1, 1, 1]),
    "new turns alone": ([[u("q1"), a("b1")], [u("q2"), a("b2")]], [2, 2]),
    "ok after an answer": (
        [[u("ok")], [a("b1")], [u("ok")], [a("b2")], [u("ok")]],
        [1, 1, 1, 1, 1],
    ),
    "the same answer each time": (
        [[u("q1"), a("Noted.")], [u("q2"), a("Noted.")], [u("q3"), a("Noted.")]],
        [2, 2, 2],
    ),
    "ok to nobody, without times": ([[u("ok")], [u("ok")]], [1, 0]),
    "ok to nobody, at another time": ([[u("ok", "08T10:00")], [u("ok", "08T10:01")]], [1, 1]),
    "a pill a day": (
        [
            [u("Took my pill.", f"0{n}T08:00"), a("Well done!", f"0{n}T08:00:05")]
            for n in range(7, 10)
        ],
        [2, 2, 2],
    ),
    "a pill a day in a growing history": (
        [
            [
                message
                for n in range(7, last)
                for message in (
                    u("Took my pill.", f"0{n}T08:00"),
                    a("Well done!", f"0{n}T08:00:05"),
                )
            ]
            for last in (8, 9, 10)
        ],
        [2, 2, 2],
    ),
    "a pill a day, of the user alone": (
        [[u("Took my pill.", f"0{n}T08:00")] for n in range(7, 10)],
        [1, 1, 1],
    ),
    "a checklist of ten each week": (
        [[u(f"done {n}", f"{day}T08:00") for n in range(10)] for day in ("01", "08")],
        [10, 10],
    ),
    "a checklist of ten sent again": (
        [[u(f"done {n}") for n in range(10)], [u("bye")], [u(f"done {n}") for n in range(10)]],
        [10, 1, 0],
    ),
    "an answer without a time that has one later": (
        [[u("q1", "08T08:00"), a("b1")], [u("q1", "08T08:00"), a("b1", "08T08:00:05")]],
        [2, 0],
    ),
    "times that come with the second call": (
        [[u("q1"), a("b1")], [u("q1", "08T08:00"), a("b1", "08T08:00:09"), u("q2")]],
        [2, 1],
    ),
    "a prompt and each turn": (
        [[s("Be nice"), u("q1"), a("b1")], [s("Be nice"), u("q2"), a("b2")]],
        [3, 2],
    ),
    "a prompt and a growing history": (
        [[s("Be nice"), u("q1")], [s("Be nice"), u("q1"), a("b1"), u("q2")]],
        [2, 2],
    ),
    "a prompt and a window": (
        [
            [s("Be nice"), u("q1"), a("b1")],
            [s("Be nice"), a("b1"), u("q2")],
            [s("Be nice"), u("q2"), a("b2")],
        ],
        [3, 1, 1],
    ),
    "a prompt that comes later": (
        [[u("q1"), a("b1")], [s("Be nice"), u("q1"), a("b1"), u("q2")]],
        [2, 2],
    ),
    "a prompt with a clock": (
        [
            [s("It is 8"), u("q1")],
            [s("It is 9"), u("q1"), a("b1")],
            [s("It is 10"), u("q1"), a("b1"), u("q2")],
        ],
        [2, 1, 1],
    ),
    "a prompt that is stamped at each call": (
        [[s("Be nice", "08T08:00"), u("q1")], [s("Be nice", "08T09:00"), u("q1"), a("b1")]],
        [2, 1],
    ),
    "two prompts": (
        [[s("Be nice"), s("Be brief"), u("q1")], [s("Be brief"), s("Be nice"), u("q1"), a("b1")]],
        [3, 1],
    ),
    "a summary in front of the last two": (
        [
            [u("q1"), a("b1"), u("q2")],
            [s("So far: q1"), u("q2"), a("b2")],
            [s("So far: q1, q2"), a("b2"), u("q3")],
        ],
        [3, 2, 2],
    ),
    "a context before the last question": (
        [
            [u("q1")],
            [u("q1"), a("b1"), s("You know: x"), u("q2")],
            [u("q1"), a("b1"), u("q2"), a("b2"), s("You know: y"), u("q3")],
        ],
        [1, 3, 3],
    ),
    "what happened twice": (
        [
            [u("hi", "08T08:00"), s("Bo joins", "08T08:01")],
            [u("yes", "08T09:00"), s("Bo joins", "08T09:01")],
        ],
        [2, 2],
    ),
    "first two and last two": (
        [
            [u("q1"), a("b1"), u("q2"), a("b2")],
            [u("q1"), a("b1"), u("q2"), a("b2"), u("q3")],
            [u("q1"), a("b1"), a("b2"), u("q3"), a("b3")],
        ],
        [4, 1, 1],
    ),
    "an answer made anew": (
        [[u("q1"), a("b1"), u("q2"), a("b2")], [u("q1"), a("b1"), u("q2"), a("other b2"), u("q3")]],
        [4, 2],
    ),
    "a question that was edited": (
        [[u("q1"), a("b1"), u("q2"), a("b2")], [u("q1"), a("b1"), u("other q2")]],
        [4, 1],
    ),
    "a late call of an earlier state": (
        [[u("q1"), a("b1"), u("q2"), a("b2")], [u("q1"), a("b1"), u("q2")]],
        [4, 0],
    ),
    "hi again": ([[u("hi"), a("Hello!")], [u("hi")]], [2, 1]),
    "hi again, and something else": (
        [[u("hi"), a("Hello!"), u("q1"), a("b1"), u("bye")], [u("hi"), a("Hello!"), u("q2")]],
        [5, 3],
    ),
    "a tool whose call is cut off": (
        [
            [
                u("q1"),
                tool('get_weather({"city": "Porto"})'),
                tool("get_weather: 18"),
                a("It is 18."),
            ],
            [tool("18"), a("It is 18."), u("Thanks")],
        ],
        [4, 1],
    ),
    "a tool's result before its answer": (
        [
            [tool('get_weather({"city": "Porto"})'), tool("get_weather: temp: 18")],
            [tool("temp: 18"), a("It is 18.")],
        ],
        [2, 1],
    ),
}


@pytest.mark.parametrize("story", STORIES)
def test_what_is_new_in_everyday_stories(story: str) -> None:
    calls, expected = STORIES[story]
    session = Session()
    assert [session.tell(call) for call in calls] == expected


def talk(turns: int, first: int = 0) -> list[ReadMessage]:
    """Questions and answers that differ."""
    return [
        message
        for n in range(first, first + turns)
        for message in (u(f"question {n}"), a(f"answer {n}"))
    ]


def changed(
    messages: Sequence[ReadMessage], place: int, content: str = "something else"
) -> list[ReadMessage]:
    """The messages with another text at a place."""
    return [
        replace(message, content=content) if number == place else message
        for number, message in enumerate(messages)
    ]


def told(*calls: Sequence[ReadMessage]) -> list[int]:
    """How many messages of each call are new in a session of their own."""
    session = Session()
    return [session.tell(call) for call in calls]


@pytest.mark.parametrize("place", [0, 1, 6, 20, 30, 36, 37, 38, 39])
def test_a_message_that_was_changed_is_new_alone_wherever_it_stands(place: int) -> None:
    """A picture left out, a tool's result cleared, a text cut; what was changed once settles."""
    edited = changed(talk(20), place)
    assert told(
        talk(20), [*edited, *talk(1, 20)], [*edited, *talk(2, 20)], [*edited, *talk(2, 20)]
    ) == [40, 3, 2, 0]


def test_several_messages_changed_apart_are_new_alone() -> None:
    edited = changed(changed(changed(talk(20), 3), 10), 11)
    assert told(talk(20), [*edited, *talk(1, 20)], [*edited, *talk(1, 20)]) == [40, 5, 0]


def test_messages_put_in_between_are_new_alone() -> None:
    told_so, tools = talk(4), [tool("look: up"), tool("18 degrees")]
    assert told(
        told_so,
        [*told_so[:3], *tools, *told_so[3:], *talk(1, 4)],
        [*told_so[:3], *tools, *told_so[3:], *talk(1, 4)],
    ) == [8, 4, 0]
    assert told(
        [*told_so[:3], *tools, *told_so[3:]], [*told_so, *talk(1, 4)], [*told_so, *talk(2, 4)]
    ) == [10, 2, 2]


@pytest.mark.parametrize("window", [2, 4, 6, 8])
@pytest.mark.parametrize(
    "front",
    [
        [u("So far: much.")],
        [u("So far: much."), a("Understood.")],
        [u("So far"), a("Yes"), u("Go on")],
    ],
)
def test_a_summary_in_the_place_of_the_beginning_hides_nothing_behind_it(
    window: int, front: list[ReadMessage]
) -> None:
    messages = talk(20)
    calls = [
        messages[:30],
        [*front, *messages[30 - window : 32]],
        [*front, *messages[30 - window : 34]],
    ]
    assert told(*calls) == [30, len(front) + 2, 2]
    other = changed(front, 0, "So far: more.")
    assert told(*calls, [*other, *messages[34 - window : 36]]) == [
        30,
        len(front) + 2,
        2,
        len(front) + 2,
    ]


def test_what_stands_last_may_be_decorated_when_it_is_sent() -> None:
    """The last message of the user carries a clock then, and none in the next call;
    that never grows.
    """
    messages, calls = talk(10), list[list[ReadMessage]]()
    for n in range(0, 20, 2):
        calls.append([*changed(messages[: n + 2], n, f"<now>10:{n}</now> question {n}")])
    assert told(*calls) == [2, *[3] * 9]


def test_a_clock_before_the_first_message_makes_that_alone_new() -> None:
    messages = talk(10)
    calls = [changed(messages[: 2 * n], 0, f"[It is 10:{n}] question 0") for n in range(1, 8)]
    assert told(*calls) == [2, *[3] * 6]


def test_the_same_answer_at_the_same_places_makes_no_history() -> None:
    def turns(first: int) -> list[ReadMessage]:
        return [
            message
            for n in range(first, first + 2)
            for message in (u(f"question {n}"), a("Noted."))
        ]

    assert told(*(turns(first) for first in range(0, 10, 2))) == [4] * 5
    assert told([u("ok"), a("b1"), u("ok"), a("b2")], [u("ok"), a("b3"), u("ok"), a("b4")]) == [
        4,
        4,
    ]


def test_the_same_pair_again_is_new_in_a_call_that_goes_on_from_the_end() -> None:
    pair = [u("ok"), a("Done.")]
    assert told([*pair, *talk(2), *pair], [*pair, *talk(1, 5), *pair]) == [8, 4]


def test_the_same_turns_at_a_later_time_are_new_in_a_history_with_an_edit() -> None:
    morning = [u(f"Took pill {n}.", f"07T08:0{n}") for n in range(8)]
    evening = [u(f"Took pill {n}.", f"07T20:0{n}") for n in range(8)]
    assert told(morning, [*changed(morning, 2), *evening]) == [8, 9]


def test_turns_of_other_ids_are_others() -> None:
    """Whether they come alone or in a history, and whatever they say."""
    session = Session()
    assert session.tell([with_id(u("I feed the cat at 7."), "e1")]) == 1
    assert session.tell([with_id(u("I feed the cat at 7."), "e2")]) == 1
    assert session.tell([with_id(u("I feed the cat at 7."), "e3")]) == 1


def with_id(message: ReadMessage, name: str) -> ReadMessage:
    return replace(message, id=name)


def numbered(messages: Sequence[ReadMessage]) -> list[ReadMessage]:
    return [with_id(message, f"m{number}") for number, message in enumerate(messages)]


def test_ids_may_come_later_and_stay_away() -> None:
    messages = talk(10)
    session = Session()
    assert session.tell(messages[:8]) == 8
    assert session.tell(numbered(messages)[:10]) == 2
    assert session.tell(messages[:12]) == 2
    known = frozenset({"m8", "m9"})
    assert session.tell(numbered(messages)[:14], known) == 2
    assert session.tell(numbered(messages)[:14], known | {"m12", "m13"}) == 0


def test_messages_told_without_ids_between_others_are_known_with_them() -> None:
    messages, session = talk(5), Session()
    known = frozenset(f"m{number}" for number in range(6))
    assert session.tell(numbered(messages)[:6]) == 6
    assert session.tell(messages[6:8]) == 2
    assert session.tell(numbered(messages), known) == 2


@pytest.mark.parametrize("place", range(8))
def test_a_message_that_was_forgotten_does_not_come_back_with_its_history(place: int) -> None:
    messages, session = talk(10), Session()
    session.tell(messages[:8])
    session.forget(messages[place])
    assert [session.tell(messages[:end]) for end in (8, 9, 10, 12)] == [0, 1, 1, 2]
    assert not any(
        mark.startswith(message_mark(messages[place].role or "", messages[place].content))
        for mark in session.kept
    )
    assert sum(map(is_hole, session.kept)) == 1


@pytest.mark.parametrize("places", [(0, 1), (0, 7), (2, 3, 4), (3, 5, 6, 7), (0, 1, 2, 3, 4, 5)])
def test_nor_do_several(places: tuple[int, ...]) -> None:
    messages, session = talk(10), Session()
    session.tell(messages[:8])
    for place in places:
        session.forget(messages[place])
    assert [session.tell(messages[:end]) for end in (8, 10)] == [0, 2]
    window = messages[max(0, min(places) - 1) : 12]
    assert session.tell(window) == 2


def test_one_that_was_forgotten_right_after_it_was_told_does_not_come_back() -> None:
    messages, session = talk(3), Session()
    session.tell(messages[:2])
    session.forget(messages[0])
    assert [session.tell(messages[:end]) for end in (4, 6)] == [2, 2]


def test_a_history_that_leaves_out_what_was_forgotten_is_known_too() -> None:
    messages, session = talk(10), Session()
    session.tell(messages[:8])
    session.forget(messages[3])
    assert [session.tell([*messages[:3], *messages[4:end]]) for end in (8, 10)] == [0, 2]


def test_only_the_place_of_what_was_forgotten_is_a_hole() -> None:
    session = Session()
    calls = [[u("ok")], [a("b1")], [u("ok")], [a("b2")], [u("ok")]]
    for call in calls:
        session.tell(call)
    before = session.kept
    session.kept = (
        *without_message(
            before, CallMessage.of(u("ok"), BEGINNING + timedelta(minutes=3)), BEGINNING
        ),
    )
    assert [is_hole(mark) for mark in session.kept] == [False, False, True, False, False]
    assert [mark for mark in session.kept if not is_hole(mark)] == [
        mark for number, mark in enumerate(before) if number != 2
    ]


def test_a_turn_is_no_hole_where_nothing_tells_so() -> None:
    """New turns alone, with the same answer as the one behind the hole."""
    session = Session()
    session.tell([u("q1"), a("Noted."), u("My PIN is 4471"), a("Noted.")])
    session.forget(u("My PIN is 4471"))
    assert session.tell([u("q3"), a("Noted.")]) == 2
    session = Session()
    session.tell([u("q1"), a("b1")])
    for message in (u("q1"), a("b1")):
        session.forget(message)
    assert session.kept == ()
    assert session.tell([u("q2"), a("b2")]) == 2


@given(histories(DISTINCT.filter(lambda messages: len(messages) > 1)), st.data())
def test_whatever_is_forgotten_under_a_key_stays_away_with_a_growing_history(
    messages: list[ReadMessage], data: st.DataObject
) -> None:
    """All of it, too, message by message or at once. A call of one message is no history."""
    session = Session(KEY)
    end = data.draw(st.integers(1, len(messages)))
    session.tell(messages[:end])
    places = data.draw(st.sets(st.integers(0, end - 1)))
    for place in places:
        session.forget(messages[place])
    if data.draw(st.booleans()):
        session.kept = (*without_messages(session.kept, KEY),)
    for more in sorted(data.draw(st.sets(st.integers(max(end, 2), len(messages))))):
        session.tell(messages[:more])
    assert session.stored == [message.content for message in messages[: len(session.stored)]]


def test_what_comes_behind_a_forgotten_message_is_not_taken_for_it() -> None:
    """Where the caller dropped it from its own history, too."""
    session = Session(KEY)
    session.tell([u("q1"), a("b1"), u("My PIN is 4471")])
    session.forget(u("My PIN is 4471"))
    assert session.tell([u("q1"), a("b1"), u("q2")]) == 1
    assert session.tell([u("q1"), a("b1"), u("My PIN is 4471"), u("q2")]) == 0


def test_a_greeting_is_new_in_a_session_that_began_with_it_and_was_forgotten() -> None:
    session = Session(KEY)
    session.tell([u("hi"), a("hello"), u("q1")])
    session.kept = (*without_messages(session.kept, KEY),)
    assert session.tell([u("hi")]) == 1
    assert session.tell([u("hi"), a("good morning")]) == 1


def test_the_words_of_a_forgotten_message_alone_are_said_anew() -> None:
    for messages in ([u("I live in Graz")], [u("I live in Graz"), a("Noted.")]):
        session = Session(KEY)
        session.tell(messages)
        session.kept = (*without_messages(session.kept, KEY),)
        assert session.tell([messages[-1]]) == 1
        assert session.tell([*messages, u("q2")]) == 1


def test_with_another_key_nothing_tells_what_was_forgotten() -> None:
    messages, session = talk(3), Session(KEY)
    session.tell(messages)
    session.kept = (*without_messages(session.kept, KEY),)
    assert all(map(is_sealed, session.kept))
    assert without_seals(session.kept) == []
    session.key = b"another"
    assert session.tell(messages) == len(messages)


def test_a_message_given_a_later_time_is_not_what_left_a_hole() -> None:
    messages, session = [u("q1", "08T08:00"), a("b1", "08T08:01"), u("q2", "08T08:02")], Session()
    session.tell(messages)
    session.forget(messages[2])
    assert session.tell([*messages[:2], u("q3", "08T09:00")]) == 1


def test_what_was_taken_back_leaves_no_hole_nor_one_behind_it() -> None:
    messages, session = talk(4), Session()
    session.tell(messages)
    session.forget(messages[6])
    session.take_back(messages[7])
    assert session.tell(messages[:7]) == 0
    session.take_back(messages[5])
    assert session.tell([*messages[:5], a("another answer")]) == 1


def test_a_turn_is_taken_back_out_of_a_history_that_changed() -> None:
    messages, session = talk(4), Session()
    edited = changed(messages, 2)
    session.tell(messages[:6])
    session.tell(edited)
    for place in (7, 6):
        session.take_back(edited[place])
    assert session.tell(edited[:6]) == 0
    assert session.tell(edited) == 2


def test_a_system_message_that_was_forgotten_is_stored_when_it_is_told_again() -> None:
    session = Session()
    session.tell([s("Be nice"), u("q1"), a("b1")])
    session.forget(s("Be nice"))
    assert session.tell([s("Be nice"), u("q1"), a("b1"), u("q2")]) == 2


def test_marks_follow_the_order_of_the_call() -> None:
    match = matched(["a", "b", "c", "d", "e", "f"], ["a", "x", "c", "d", "y", "z", "e", "f", "g"])
    assert match.new == (1, 4, 5, 8)
    assert list(match.marks) == kept_of(["a", "x", "c", "d", "y", "z", "e", "f", "g"])
    match = matched(["a", "b", "c", "d"], ["x", "y", "c", "d", "e"])
    assert list(match.marks) == kept_of(["x", "y", "c", "d", "e"])
    match = matched(["a", "b", "c", "d"], ["x", "c", "d", "e"])
    assert list(match.marks) == kept_of(["a", "b", "x", "c", "d", "e"])


def test_a_second_hi_later_is_new() -> None:
    assert matched(["hi", "hello"], ["hi"]).new == (0,)
    assert matched(["hi", "hello"], ["hi", "how are you?"]).new == (0, 1)
    assert matched(["hi", "hello", "a", "b"], ["hi", "hello"]).new == (0, 1)


def test_the_same_again_is_known() -> None:
    match = matched(["a", "b", "c"], ["a", "b", "c"])
    assert (match.new, list(match.marks)) == ((), kept_of(["a", "b", "c"]))


def test_an_answer_made_anew_is_new_alone_and_takes_the_place_of_the_old_one() -> None:
    match = matched(["u1", "a1", "u2", "a2"], ["u1", "a1", "u2", "other", "u3"])
    assert match.new == (3, 4)
    assert list(match.marks) == kept_of(["u1", "a1", "u2", "other", "u3"])
    assert match_history(match.marks, of(["u1", "a1", "u2", "other", "u3", "a3"])).new == (5,)


@pytest.mark.parametrize(
    "clock",
    [
        "It is {:%A, %B %d, %Y, %I:%M %p}.",
        "Now: {:%Y-%m-%dT%H:%M:%SZ}",
        "{:%a %d %b, %H:%M}: help Ana.",
        "Today is the {:%-d}th of {:%B}.",
    ],
)
def test_a_prompt_with_a_clock_is_stored_once(clock: str) -> None:
    session, turns = Session(), [u("q1"), a("b1"), u("q2"), a("b2")]
    for end in range(1, 5):
        moment = datetime(2026, 2, 1, 9, 5, tzinfo=UTC) + timedelta(
            days=17 * end, hours=5 * end, minutes=end
        )
        assert session.tell([s(f"You are kind. {clock.format(moment, moment)}"), *turns[:end]]) == (
            2 if end == 1 else 1
        )


def test_a_prompt_with_other_words_is_stored_again() -> None:
    session = Session()
    session.tell([s("Help Ana. Now: 10:05"), u("q1")])
    assert session.tell([s("Help Ben. Now: 10:06"), u("q1"), a("b1")]) == 2


def test_a_system_message_stays_known_where_the_turns_around_it_were_edited() -> None:
    session = Session()
    session.tell([s("Be nice"), u("q1"), a("b1"), s("Be brief"), u("q2")])
    assert session.tell([s("Be nice"), u("q1"), a("b1"), s("Be brief"), u("other q2")]) == 1
    assert (
        session.tell([s("Be nice"), s("Be brief"), u("q1"), a("b1"), u("other q2"), a("b2")]) == 1
    )


def test_a_call_longer_than_what_is_kept_is_known_as_far_as_that_reaches() -> None:
    assert matched(["b", "c"], ["a", "b", "c", "d"]).new == (0, 3)
    assert matched(["a", "b"], ["a", "b", "c", "d", "e"]).new == (2, 3, 4)


def test_a_known_id_is_known_wherever_it_stands() -> None:
    match = matched(["a", "b", "c"], ["x", "b", "y"], ["1", "2", "3"], frozenset("2"))
    assert match.new == (0, 2)
    assert list(match.marks) == [
        *kept_of(["a", "b", "c"]),
        *(message.kept for message in of(["x", "y"], ["1", "3"])),
    ]


def test_another_id_is_another_message_with_the_same_words() -> None:
    marks = [message.kept for message in of(["ok"], ["1"])]
    assert match_history(marks, of(["ok"], ["2"])).new == (0,)
    assert match_history(marks, of(["ok"], ["1"]), frozenset("1")).new == ()
    assert match_history(marks, of(["ok"])).new == ()
    assert matched(["ok"], ["ok"], ["2"]).new == ()
    assert matched([], ["ok", "ok"], ["2", "2"]).new == (0,)


@given(MARKS, MARKS, st.data())
def test_known_and_new_make_up_the_call(
    kept_contents: list[str], call: list[str], data: st.DataObject
) -> None:
    ids = [data.draw(st.sampled_from([None, "1", "2", "3"])) for _ in call]
    match = matched(kept_contents, call, ids, frozenset("1"))
    assert list(match.new) == sorted(set(match.new))
    assert not any(ids[place] == "1" for place in match.new)
    assert set(match.new) <= set(range(len(call)))


def test_the_latest_marks_are_kept() -> None:
    call = [str(number) for number in range(MAX_MARKS + 5)]
    assert list(matched([], call).marks) == kept_of(call[5:])


def test_a_long_history_may_be_sent_again_in_several_calls() -> None:
    contents = [str(number) for number in range(500)]
    assert matched(contents, contents[:200]).new == ()
    assert matched(contents, contents[200:400]).new == ()
    assert matched(contents, [*contents[400:], "new"]).new == (100,)


def test_marks_of_earlier_versions_are_of_no_time() -> None:
    older = [kept_mark("user", "ok", BEGINNING)[:MARK_CHARACTERS] + "abc"]
    assert match_history(older, [CallMessage.of(u("ok", "09T08:00"), BEGINNING)]).new == ()


@given(st.datetimes(max_value=BEGINNING.replace(year=6000, tzinfo=None), timezones=st.just(UTC)))
def test_any_moment_is_kept_with_a_mark(moment: datetime) -> None:
    mark = kept_mark("user", "ok", moment)
    assert (
        match_history([mark], [CallMessage.of(ReadMessage("user", "ok", moment), BEGINNING)]).new
        == ()
    )
    later = ReadMessage("user", "ok", moment + timedelta(milliseconds=1))
    assert match_history([mark], [CallMessage.of(later, BEGINNING)]).new == (0,)
    assert (
        match_history(
            [kept_mark("user", "ok", datetime.max.replace(tzinfo=UTC))],
            [CallMessage.of(later, BEGINNING)],
        ).new
        == ()
    )


@given(st.text(), st.text())
def test_a_mark_says_who_and_what(left: str, right: str) -> None:
    mark = message_mark("user", left)
    assert len(mark) == MARK_CHARACTERS == len(message_mark("system", left))
    assert mark != message_mark("assistant", left)
    assert mark == message_mark("user", f"  {left}\n")
    same = " ".join(normal_form("NFC", left).split()) == " ".join(normal_form("NFC", right).split())
    assert (mark == message_mark("user", right)) == same
    assert message_mark("user", "at 5") != message_mark("user", "at 6")


@given(st.text(min_size=1), st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True))
def test_the_mark_of_a_tools_result_is_the_same_with_and_without_its_name(
    result: str, name: str
) -> None:
    assert message_mark("tool", f"{name}: {result}") == message_mark("tool", result)
