"""What holds when, of drawn logs: against the tables applied to single moments,
and what must be true of every timeline.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import combinations
from random import Random

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from memory_core.domain.truth.entries import (
    Account,
    Assertion,
    Entry,
    Retraction,
    Trimming,
    Withdrawal,
)
from memory_core.domain.truth.resolve import resolve
from memory_core.domain.truth.timeline import Interval, Timeline
from memory_core.evolution import decisions
from memory_core.evolution import truth_commands as commands
from memory_core.evolution.truth_commands import without_names
from memory_core.evolution.truth_projection import project
from tests.truth_by_moments import Grid, around, boundaries_of
from tests.truth_logs import (
    FIRST,
    KINDS,
    MAX_ACTS,
    MOMENTS,
    NUMBERS,
    Act,
    added,
    day,
    drawn,
    log_of,
    projections,
    slot_of,
)
from tests.truth_stories import values_at

number = st.integers(0, NUMBERS - 1)
logs = st.lists(
    st.tuples(st.integers(0, KINDS - 1), number, number, number), min_size=1, max_size=MAX_ACTS
).map(log_of)
drawn_settings = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.filter_too_much]
)
LATER = 1000
"""A sequence after all that are drawn."""
NOW = day(FIRST + MAX_ACTS + 1)


def differences(log: list[Entry], known_at: int | None = None) -> list[str]:
    """Where what was known is not what the tables say: at every boundary, the step before it, and
    between.
    """
    moments, made = around(boundaries_of(log)), list[str]()
    timeline, grid = resolve(log, known_at), Grid(log, moments, known_at)
    for moment in moments:
        at = timeline.at(moment)
        values = sorted(interval.value for interval in at if interval.value is not None)
        retractions = [interval.memory_id for interval in at if interval.value is None]
        expected, retraction = grid.values(moment), grid.retraction(moment)
        if values != expected:
            made.append(f"{moment}: {values}, by the tables {expected}")
        elif retractions != (
            [] if retraction is None or retraction.startswith("forgotten") else [retraction]
        ):
            made.append(f"{moment}: {retractions}, by the tables {retraction}")
    return made


def check(seeds: range) -> None:
    """Each drawn log is as the tables say, as known before and after each of its commits."""
    for seed in seeds:
        random = Random(seed)
        log = log_of(drawn(random, random.randint(1, MAX_ACTS)))
        for known_at in [None, 0, *sorted({entry.sequence for entry in log})[:-1]]:
            assert not differences(log, known_at), f"seed {seed}, known at {known_at}"


@pytest.mark.parametrize("part", range(4))
def test_of_drawn_logs_every_moment_is_as_the_tables_say(part: int) -> None:
    check(range(part * 500, part * 500 + 500))


@pytest.mark.parametrize(
    "seed", [586, 5357, 8034, 10385, 43089, 44944, 56993, 67777, 79549, 91462, 101832]
)
def test_a_log_that_once_differed_is_as_the_tables_say(seed: int) -> None:
    check(range(seed, seed + 1))


def test_a_hidden_repeat_leaves_what_was_saved_after_its_deletion_and_said_before_it() -> None:
    """Oslo is told on the 2nd and the 11th and deleted; then a letter of the 6th is saved
    that says Oslo too.
    """
    assertions = [
        Assertion(
            sequence=n,
            memory_id="m1",
            value="Oslo",
            asserted_at=day(day_told),
            valid_from=day(day_told),
        )
        for n, day_told in ((1, 1), (2, 10))
    ]
    letter = Assertion(
        sequence=4, memory_id="m2", value="Oslo", asserted_at=day(5), valid_from=day(5)
    )
    timeline = resolve([*added(assertions, commands.deletes("m1"), 3), letter])
    assert [
        (interval.memory_id, interval.begins, interval.ends) for interval in timeline.intervals
    ] == [("m2", day(5), None)]


def test_a_memory_edited_to_an_earlier_time_ends_no_other_one() -> None:
    """Rome is told on the 2nd for the 10th on, and Oslo on the 4th from then to the 10th; on the
    6th the user corrects that it was Bonn and not Rome, on the 2nd and the 3rd alone.
    """
    log: list[Entry] = [
        Assertion(sequence=1, memory_id="m1", value="Rome", asserted_at=day(1), valid_from=day(9)),
        Assertion(
            sequence=2,
            memory_id="m2",
            value="Oslo",
            asserted_at=day(3),
            valid_from=day(3),
            valid_until=day(9),
        ),
    ]
    bonn = Assertion(memory_id="m1", version=2, value="Bonn", asserted_at=day(5), valid_from=day(5))
    edited = resolve(added(log, commands.edits(bonn, day(1), day(3)), 3, day(5)))
    assert [(interval.value, interval.begins, interval.ends) for interval in edited.intervals] == [
        ("Bonn", day(1), day(3)),
        ("Oslo", day(3), day(9)),
    ]


def test_an_undo_of_what_was_said_again_leaves_the_merge_that_it_was_once_in() -> None:
    """Oslo and Rome are merged; then the memory of Rome says Bonn, and that comes back."""
    log: list[Entry] = [
        Assertion(sequence=n, memory_id=f"m{n}", value=value, asserted_at=day(n), valid_from=day(n))
        for n, value in ((1, "Oslo"), (2, "Rome"))
    ]
    both = Assertion(memory_id="m3", value="both", asserted_at=day(3), valid_from=day(3))
    log = added(log, decisions.merges(["m1", "m2"], both), 3)
    for number, name, version in ((4, "m2", 2), (5, "m5", 1)):
        statement = Assertion(
            sequence=number,
            memory_id=name,
            version=version,
            value=f"value {number}",
            asserted_at=day(number),
            valid_from=day(number),
        )
        log.append(statement)
    undone = Account.of(added(log, commands.undoes("m2"), LATER))
    assert undone.merged["m1"].into == "m3"


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_of_a_hundred_thousand_drawn_logs_every_moment_is_as_the_tables_say(part: int) -> None:
    check(range(4000 + part * 5000, 4000 + part * 5000 + 5000))


def overlapping(timeline: Timeline) -> list[tuple[Interval, Interval]]:
    return [
        (interval, two)
        for interval, two in combinations(timeline.intervals, 2)
        if interval.covers(two.begins) or two.covers(interval.begins)
    ]


@drawn_settings
@given(logs)
def test_no_two_hold_at_once_but_those_kept_side_by_side(log: list[Entry]) -> None:
    pairs, same = Account.of(log).pairs, dict[str | None, set[str]]()
    for entry in log:
        if isinstance(entry, Assertion):
            same.setdefault(entry.value, set()).add(entry.memory_id)

    def alike(interval: Interval) -> set[str]:
        """A repeat of another memory takes its place beside the same ones."""
        return same.get(interval.value, set()) | {interval.memory_id}

    for entry, two in overlapping(resolve(log)):
        assert any(pairs.get(name, frozenset()) & alike(two) for name in alike(entry))


@drawn_settings
@given(logs)
def test_at_most_one_has_no_end_where_none_are_kept_side_by_side(log: list[Entry]) -> None:
    assume(not Account.of(log).pairs)
    assert len([interval for interval in resolve(log).intervals if interval.ends is None]) <= 1


@drawn_settings
@given(logs, st.randoms(use_true_random=False))
def test_the_order_of_the_entries_does_not_matter(log: list[Entry], random: Random) -> None:
    shuffled = [*log]
    random.shuffle(shuffled)
    assert resolve(shuffled) == resolve(log)
    assert project(resolve(shuffled), NOW) == project(resolve(log), NOW)


plain = st.lists(
    st.tuples(st.sampled_from([0, 1, 5, 9]), number, number, number), min_size=1, max_size=MAX_ACTS
)


@drawn_settings
@given(plain, st.randoms(use_true_random=False))
def test_values_do_not_depend_on_the_order_of_arrival(acts: list[Act], random: Random) -> None:
    log = [
        replace(attempt, memory_id=f"m{attempt.sequence}")
        for attempt in log_of(acts)
        if isinstance(attempt, Assertion | Retraction)
    ]
    assume(len({retraction.asserted_at for retraction in log}) == len(log))
    places, before = [entry.sequence for entry in log], resolve(log)
    random.shuffle(places)
    otherwise = resolve(
        [replace(entry, sequence=place) for entry, place in zip(log, places, strict=True)]
    )
    for moment in MOMENTS:
        assert [interval.value for interval in otherwise.at(moment)] == [
            interval.value for interval in before.at(moment)
        ]


@drawn_settings
@given(logs, st.integers(0, MAX_ACTS))
def test_what_was_known_is_what_the_entries_until_then_say(log: list[Entry], known_at: int) -> None:
    assert resolve(log, known_at) == resolve([entry for entry in log if entry.sequence <= known_at])


@drawn_settings
@given(
    st.lists(st.tuples(st.integers(0, 25), number, number, number), min_size=2, max_size=MAX_ACTS),
    st.integers(1, MAX_ACTS),
)
def test_what_was_known_is_what_was_answered_then(acts: list[Act], known_at: int) -> None:
    assert resolve(log_of(acts), known_at) == resolve(log_of(acts[:known_at]))


@drawn_settings
@given(logs)
def test_every_chain_ends(log: list[Entry]) -> None:
    stored = project(resolve(log), NOW)
    for start in stored:
        passed, step = {start}, stored[start].next_id
        while step is not None and step in stored:
            assert step not in passed
            passed.add(step)
            step = stored[step].next_id


@drawn_settings
@given(logs)
def test_every_member_has_one_projection_of_its_own(log: list[Entry]) -> None:
    timeline = resolve(log)
    stored = project(timeline, NOW)
    assert len(projections(timeline, NOW)) == len(stored)
    assert all(name == projection.id for name, projection in stored.items())
    own = [
        (projection.memory_id, projection.version)
        for projection in stored.values()
        if projection.part == 0
    ]
    assert own == [(member.memory_id, member.version) for member in timeline.members]


def untouched(log: list[Entry]) -> list[str]:
    """Memories of which nothing is hidden, withdrawn, trimmed or merged."""
    account = Account.of(log)
    touched = {withdrawal.memory_id for withdrawal in account.withdrawn} | {
        statement.memory_id
        for statement in account.statements
        if statement.place in account.hidden_at or statement.place in account.trimmed
    }
    return sorted(
        {statement.memory_id for statement in account.statements} - touched - account.merged.keys()
    )


@drawn_settings
@given(logs, number)
def test_deleted_and_restored_all_is_as_it_was(log: list[Entry], choice: int) -> None:
    names = untouched(log)
    assume(names)
    name, before = names[choice % len(names)], resolve(log)
    deleted = added(log, commands.deletes(name), LATER)
    assert name not in {interval.memory_id for interval in resolve(deleted).intervals}
    assert resolve(added(deleted, commands.shows_again(name), LATER + 1)) == before


@drawn_settings
@given(logs, number)
# an edit of an announced truth takes time from the one before it
@example(log_of([(4, 10, 2, 7), (6, 11, 0, 1), (19, 2, 11, 0)]), 3)
def test_an_undo_leaves_no_memory_that_counts_by_a_version_before_its_edit_alone(
    log: list[Entry], choice: int
) -> None:
    names = untouched(log)
    assume(names)
    undone = Account.of(added(log, commands.undoes(names[choice % len(names)]), LATER))
    before = {statement.place for statement in Account.of(log).statements}
    counting = {statement.key for statement in undone.statements}
    for edit in undone.withdrawn:
        if edit.place in before and edit.edits is not None:
            assert (edit.memory_id, edit.edits) not in counting


@drawn_settings
@given(logs, number)
def test_undone_and_restored_all_is_as_it_was(log: list[Entry], choice: int) -> None:
    names = untouched(log)
    assume(names)
    undone = added(log, commands.undoes(names[choice % len(names)]), LATER)
    counted = {statement.place for statement in Account.of(log).statements}
    gone = sorted(
        {
            withdrawal.memory_id
            for withdrawal in Account.of(undone).withdrawn
            if withdrawal.place in counted
        }
    )
    assume(set(gone) <= set(names))
    trims = [entry.place for entry in undone if isinstance(entry, Trimming) if entry not in log]
    back = [*undone, Withdrawal(sequence=LATER + 1, places=tuple(trims))]
    for number_, name in enumerate(gone, LATER + 2):
        back = added(back, commands.shows_again(name), number_)
    assert resolve(back) == resolve(log)


@drawn_settings
@given(logs, number)
# of a memory that is withdrawn, edited to an earlier time
@example(log_of([(0, 0, 0, 0), (2, 0, 2, 0), (19, 0, 6, 0)]), 1)
# of one that was only announced when it was edited to an earlier time
@example(log_of([(4, 10, 2, 7), (6, 11, 0, 1), (19, 2, 11, 0)]), 3)
# it has the value of a memory that is kept beside another one, and of both that one was repeated
@example(log_of([(1, 0, 1, 3), (13, 9, 7, 6), (1, 9, 6, 8)]), 11)
@example(log_of([(1, 0, 1, 3), (13, 1, 7, 6), (1, 1, 6, 8), (1, 0, 6, 8)]), 1)
def test_what_is_undone_holds_again(log: list[Entry], choice: int) -> None:
    """A repeat takes the place of another memory of its value, and coexists with what that coexists
    with, or a repeat of it. So of those that hold beside what was undone each was said before it,
    and has a value that is kept beside its own.
    """
    account = Account.of(log)
    names = [memory_id for memory_id in untouched(log) if memory_id not in account.pairs]
    assume(names)
    name = names[choice % len(names)]
    statements = [statement for statement in account.statements if statement.memory_id == name]
    assume(
        len(statements) == 1
        and isinstance(statements[0], Assertion)
        and statements[0].edits is None
    )
    assume(
        statements[0].valid_until is None or statements[0].valid_until > statements[0].valid_from
    )
    moment = max(statements[0].asserted_at, statements[0].valid_from)
    if statements[0].valid_until is not None and statements[0].valid_until <= moment:
        moment = statements[0].valid_until - timedelta(days=1)
    undone = resolve(added(log, commands.undoes(name), LATER))
    since = [statement for statement in account.statements if statement.order > statements[0].order]
    # trips are spared
    assume(
        not any(
            statement.valid_until is not None
            and statement.valid_from <= moment < statement.valid_until
            for statement in since
        )
    )
    before = [
        statement for statement in account.statements if statement.order < statements[0].order
    ]
    alike = {interval.memory_id for interval in before if interval.value == statements[0].value}
    coexisting = {other for memory_id in alike for other in account.pairs.get(memory_id, ())}
    values = {interval.value for interval in before if interval.memory_id in coexisting} - {
        statements[0].value,
        None,
    }
    beside = {interval.memory_id for interval in before if interval.value in values}
    shown_ids = [interval.memory_id for interval in undone.at(moment)]
    assert shown_ids.count(name) == 1
    assert {*shown_ids} - {name} <= beside


@drawn_settings
@given(logs, number)
# of three the first was edited, and the second comes back
@example(log_of([(0, 0, 0, 0), (0, 1, 0, 0), (0, 2, 0, 0), (19, 0, 0, 1)]), 1)
def test_an_undo_takes_an_edit_alone_only_where_it_took_time(log: list[Entry], choice: int) -> None:
    names = untouched(log)
    assume(names)
    name = names[choice % len(names)]
    undone = added(log, commands.undoes(name), LATER)
    spans, keys = (
        [
            (interval.begins, interval.ends)
            for interval in resolve(undone).intervals
            if interval.memory_id == name
        ],
        {statement.key for statement in Account.of(undone).statements},
    )
    for edit in Account.of(log).statements:
        if edit.edits is not None and (edit.memory_id, edit.edits) in keys:
            spared = [
                replace(entry, places=tuple(place for place in entry.places if place != edit.place))
                if isinstance(entry, Withdrawal) and entry.sequence == LATER
                else entry
                for entry in undone
            ]
            again = resolve(spared).intervals
            assert edit.key in keys or spans != [
                (interval.begins, interval.ends) for interval in again if interval.memory_id == name
            ]


@drawn_settings
@given(logs, number, st.sampled_from(["supersede", "reject_new", "merge"]))
def test_a_decision_undone_leaves_all_as_it_was(
    log: list[Entry], choice: int, decision: str
) -> None:
    pairs = [pair for pair in Account.of(log).pairs.items() if pair[0] in untouched(log)]
    assume(pairs)
    new, others = pairs[choice % len(pairs)]
    old = sorted(others)[0]
    if decision == "supersede":
        command = decisions.supersedes(old, new, "cft")
    elif decision == "reject_new":
        command = commands.withdraws(new, "cft")
    else:
        merged = Assertion(
            sequence=LATER, memory_id="merged", value="merged", asserted_at=NOW, valid_from=NOW
        )
        command = decisions.merges([old, new], merged, "cft")
    decided = added(log, command, LATER, NOW)
    back = resolve(added(decided, decisions.undoes_decision("cft"), LATER + 1))
    assert back.intervals == resolve(log).intervals
    assert {
        name: projection
        for name, projection in projections(back, NOW).items()
        if name[0] != "merged"
    } == projections(resolve(log), NOW)


def said_at_all_moments(timeline: Timeline) -> list[list[str]]:
    return [sorted(interval.value or "" for interval in timeline.at(moment)) for moment in MOMENTS]


def test_an_old_value_that_holds_on_is_said_again_and_changes_nothing() -> None:
    """Of drawn logs with many new values of one memory."""
    restated = 0
    for seed in range(1000):
        random = Random(seed)
        acts = drawn(random, random.randint(2, MAX_ACTS))
        log = log_of([acts[0], *((random.choice([27, kind]), *rest) for kind, *rest in acts[1:])])
        slot = slot_of(log, LATER, NOW)
        for interval in commands.old_values(slot):
            slot = slot.added(commands.says_again(interval))
        before, after = resolve(log), resolve(slot.entries)
        assert said_at_all_moments(after) == said_at_all_moments(before), f"seed {seed}"
        restated += len(slot.entries) - len(log)
    assert restated > 5


@drawn_settings
@given(logs)
def test_a_mention_changes_nothing(log: list[Entry]) -> None:
    timeline = resolve(log)
    intervals = [interval for interval in timeline.at(NOW) if interval.value is not None]
    assume(intervals)
    mention = Assertion(
        sequence=LATER,
        memory_id=intervals[0].memory_id,
        value=intervals[0].value or "",
        asserted_at=NOW,
        valid_from=NOW,
    )
    assert said_at_all_moments(resolve([*log, mention])) == said_at_all_moments(timeline)


@drawn_settings
@given(logs, number)
def test_a_plain_save_changes_nothing_before_it(log: list[Entry], back: int) -> None:
    moment = NOW - timedelta(days=back)
    new = Assertion(
        sequence=LATER, memory_id="new", value="new", asserted_at=NOW, valid_from=moment
    )
    before, now = resolve(log), resolve([*log, new])
    for each in MOMENTS:
        if each < moment:
            assert {interval.memory_id for interval in now.at(each)} == {
                interval.memory_id for interval in before.at(each)
            }
        else:
            assert [interval.memory_id for interval in now.at(each)] == ["new"]


@drawn_settings
@given(logs, number, number)
def test_a_span_that_is_over_changes_nothing_outside_it(
    log: list[Entry], back: int, days: int
) -> None:
    begin, end = NOW - timedelta(days=back + days + 1), NOW - timedelta(days=back)
    new = Assertion(
        sequence=LATER,
        memory_id="new",
        value="new",
        asserted_at=NOW,
        valid_from=begin,
        valid_until=end,
    )
    before, now = resolve(log), resolve([*log, new])
    for moment in MOMENTS:
        names = (
            {"new"}
            if begin <= moment < end
            else {interval.memory_id for interval in before.at(moment)}
        )
        assert {interval.memory_id for interval in now.at(moment)} == names


@drawn_settings
@given(logs, number)
def test_what_is_forgotten_for_good_was_as_good_as_deleted(log: list[Entry], choice: int) -> None:
    names = untouched(log)
    assume(names)
    name = names[choice % len(names)]
    values = {
        entry.value
        for entry in log
        if isinstance(entry, Assertion | Retraction) and entry.memory_id != name
    }
    own = [entry.value for entry in log if isinstance(entry, Assertion) and entry.memory_id == name]
    assume(len(own) == len(set(own)) or set(own) <= values)  # of one that edits back, see `forget`
    forgotten = without_names(slot_of(log, LATER, NOW), name, "forgotten").entries
    assert name not in repr(forgotten).replace("'", " ").split()
    deleted = resolve(added(log, commands.deletes(name), LATER, NOW))
    assert [replace(interval, places=()) for interval in resolve(forgotten).intervals] == [
        replace(interval, places=()) for interval in deleted.intervals
    ]


def test_an_announcement_put_off_and_deleted_in_one_commit_is_restored_with_its_last_start() -> (
    None
):
    oslo = Assertion(
        sequence=1, memory_id="m1", value="Oslo", asserted_at=day(1), valid_from=day(1)
    )
    rome = Assertion(
        sequence=2, memory_id="m2", value="Rome", asserted_at=day(2), valid_from=day(9)
    )
    later = replace(rome, sequence=3, asserted_at=day(3), valid_from=day(20))
    postponed = slot_of([oslo, rome], 3, day(3)).added(commands.mentions("m2", 1, later))
    deleted = postponed.added(commands.deletes("m2"))
    restored = added(deleted.entries, commands.shows_again("m2"), 4, day(4))
    assert [(each.value, each.begins) for each in resolve(deleted.entries).intervals] == [
        ("Oslo", day(1))
    ]
    assert resolve(restored) == resolve(postponed.entries)


def announced(log: list[Entry], value: int, days: int) -> tuple[list[Entry], datetime]:
    """A log with an announcement of a value by the memory "new", and the moment of it."""
    now = day(FIRST + MAX_ACTS + 1) if not log else day(FIRST + log[-1].sequence)
    new = Assertion(
        sequence=LATER,
        memory_id="new",
        value="ABCDN"[value % 5],
        asserted_at=now,
        valid_from=now + timedelta(days=1 + days),
    )
    return [*log, new], now


@drawn_settings
@given(logs, number, number, number)
def test_an_announcement_deleted_before_it_begins_was_as_good_as_never_said(
    log: list[Entry], value: int, days: int, choice: int
) -> None:
    with_new, now = announced(log, value, days)
    if choice % 2:
        again = replace(with_new[-1], sequence=LATER + 1, asserted_at=now + timedelta(hours=1))
        with_new = added(with_new, commands.mentions("new", 1, again), LATER + 1, now)
    deleted = added(with_new, commands.deletes("new"), LATER + 2, now + timedelta(hours=2))
    moments = around(boundaries_of(with_new))
    before, after = Grid(log, moments), resolve(deleted)
    assert [sorted(values_at(after, each)) for each in moments] == [
        before.values(each) for each in moments
    ]
    restored = added(deleted, commands.shows_again("new"), LATER + 3, now + timedelta(days=40))
    assert resolve(restored) == resolve(with_new)


@drawn_settings
@given(logs, number, number, number)
def test_a_later_start_postpones_what_is_announced_and_changes_nothing_else(
    log: list[Entry], value: int, days: int, more: int
) -> None:
    with_new, now = announced(log, value, days)
    start = now + timedelta(days=2 + days + more)
    holders = {interval.memory_id for interval in resolve(with_new).at(start)}
    assume("new" in holders)
    later = replace(
        with_new[-1], sequence=LATER + 1, asserted_at=now + timedelta(hours=1), valid_from=start
    )
    postponed = resolve(added(with_new, commands.mentions("new", 1, later), LATER + 1, now))
    moments = around(boundaries_of([*with_new, later]))
    without, first = Grid(log, moments), Grid(with_new, moments)
    assert [sorted(values_at(postponed, each)) for each in moments] == [
        (without if each < start else first).values(each) for each in moments
    ]
