"""Where an episode belongs: by theme, by event time, by vectors; whatever order they come in,
no scene breaks its rules.
"""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.domain.memory import Vector
from memory_core.domain.note import BEHAVIOUR
from memory_core.domain.scene_assignment import (
    EVERYDAY,
    GAP,
    EpisodeToPlace,
    SceneRules,
    Thread,
    begun,
    cosine,
    place,
    theme_of,
)
from memory_core.domain.scenes import (
    MAX_LINE,
    MAX_SUMMARY,
    Scene,
    SceneMember,
    line_of,
    shown_in,
    with_words,
)
from tests.builders import NOW, memory, unit

WORDS = SceneRules(threshold=1.0, to_theme=1.0, most=50)
VECTORS = SceneRules(threshold=0.5, to_theme=0.5, most=50)


def cell(
    name: str, hours: float = 0, vector: Vector | None = None, line: str = "a line", **themes: float
) -> EpisodeToPlace:
    member = SceneMember(cell_id=name, at=NOW + timedelta(hours=hours), line=line, session_id="s")
    return EpisodeToPlace(member, themes, vector)


def near(vector: Vector, share: float) -> Vector:
    """A unit vector whose cosine with the given one is `share`."""
    other = unit(99)
    other = other - vector * np.float32(np.dot(vector, other))
    return (
        vector * np.float32(share)
        + other / np.linalg.norm(other) * np.float32(np.sqrt(1 - share**2))
    ).astype(np.float32)


@pytest.mark.parametrize(
    ("themes", "expected"),
    [
        ({}, EVERYDAY),
        ({"health": 1.0}, "health"),
        ({"health": 0.5}, EVERYDAY),
        ({"health": 2.0, "food": 1.0}, "health"),
        ({"health": 1.0, "food": 1.0}, "food"),
    ],
)
def test_words_say_the_theme(themes: dict[str, float], expected: str) -> None:
    assert theme_of(themes, None, {}, WORDS) == expected


def test_a_prototype_decides_where_words_do_not_and_vectors_mean_something() -> None:
    prototypes = {"food": unit(1), "health": unit(2)}
    assert theme_of({}, near(unit(2), 0.6), prototypes, VECTORS) == "health"
    assert theme_of({}, near(unit(2), 0.4), prototypes, VECTORS) == EVERYDAY
    assert theme_of({}, 0 * unit(2), prototypes, VECTORS) == EVERYDAY
    assert theme_of({}, unit(2), prototypes, WORDS) == EVERYDAY
    assert theme_of({"food": 3.0}, unit(2), prototypes, VECTORS) == "food"


@pytest.mark.parametrize(
    ("hours", "joins"),
    [(0, True), (167, True), (168, True), (168.001, False), (-168, True), (-168.001, False)],
)
def test_a_week_is_168_hours_of_event_time_on_both_sides(hours: float, joins: bool) -> None:
    thread = begun("scn_1", cell("a"), "health")
    assert (place(cell("b", hours), "health", [thread], WORDS) is thread) == joins


def test_of_two_scenes_of_a_theme_the_nearer_one_and_never_one_of_another_theme() -> None:
    here, there = (
        begun("scn_1", cell("a", vector=unit(1)), "health"),
        begun("scn_2", cell("b", vector=unit(2)), "health"),
    )
    food = begun("scn_3", cell("c", vector=unit(3)), "food")
    assert (
        place(cell("d", vector=near(unit(1), 0.9)), "health", [here, there, food], VECTORS) is here
    )
    assert place(cell("d", vector=unit(3)), "health", [here, there, food], VECTORS) in (here, there)
    assert place(cell("d", vector=unit(3)), "money", [here, there, food], VECTORS) is None


def test_what_is_everyday_goes_with_what_it_is_near_to_else_with_its_like() -> None:
    food, everyday = (
        begun("scn_1", cell("a", vector=unit(1)), "food"),
        begun("scn_2", cell("b", vector=unit(2)), EVERYDAY),
    )
    assert place(cell("c", vector=near(unit(1), 0.7)), EVERYDAY, [food, everyday], VECTORS) is food
    assert (
        place(cell("c", vector=near(unit(1), 0.4)), EVERYDAY, [food, everyday], VECTORS) is everyday
    )
    assert (
        place(cell("c", vector=near(unit(1), 0.7)), EVERYDAY, [food, everyday], WORDS) is everyday
    )
    assert place(cell("c", vector=unit(1)), "food", [everyday], VECTORS) is None


CELLS = st.lists(
    st.tuples(
        st.integers(0, 400), st.sampled_from(["health", "food", EVERYDAY]), st.integers(0, 5)
    ),
    min_size=1,
    max_size=25,
)


@settings(max_examples=60, deadline=None)
@given(
    cells_in_order=CELLS,
    gone=st.sets(st.integers(0, 24), max_size=5),
    rules=st.sampled_from([WORDS, VECTORS]),
)
def test_in_whatever_order_each_cell_is_in_one_scene_of_one_theme_with_the_mean_of_its_vectors(
    cells_in_order: list[tuple[int, str, int]], gone: set[int], rules: SceneRules
) -> None:
    threads: list[Thread] = []
    cells = {
        f"c{number}": cell(f"c{number}", hours, unit(seed))
        for number, (hours, _, seed) in enumerate(cells_in_order)
    }
    for (name, added), (_, theme, _) in zip(cells.items(), cells_in_order, strict=True):
        found_thread = place(added, theme, threads, rules)
        if found_thread is None:
            threads.append(begun(f"scn_{name}", added, theme))
        else:
            assert found_thread.gap(added.member.at) <= GAP
            assert found_thread.scene.theme == theme or (
                theme == EVERYDAY and cosine(added.vector, found_thread.centroid) > rules.threshold
            )
            found_thread.add(added)
    for number in sorted(gone & {*range(len(cells_in_order))}):
        for thread in threads:
            thread.remove(f"c{number}", cells[f"c{number}"].vector)
    left = sorted(name for name in cells if int(name[1:]) not in gone)
    assert sorted(name for thread in threads for name in thread.scene.cell_ids) == left
    for thread in (thread for thread in threads if thread.scene.count):
        scene = thread.scene
        assert [member.at for member in scene.members] == sorted(
            member.at for member in scene.members
        )
        assert (scene.started_at, scene.ended_at) == (scene.members[0].at, scene.members[-1].at)
        mean = np.mean([cells[name].vector for name in scene.cell_ids], axis=0)
        assert thread.centroid is not None
        assert np.allclose(thread.centroid, mean, atol=1e-4)


@settings(max_examples=30, deadline=None)
@given(hours=st.lists(st.integers(0, 500), min_size=5, max_size=30))
def test_a_split_loses_no_cell_cuts_by_time_and_leaves_no_half_under_a_quarter(
    hours: list[int],
) -> None:
    cells = [cell(f"c{number}", hour, unit(number)) for number, hour in enumerate(hours)]
    thread = begun("scn_1", cells[0], "health")
    for added in cells[1:]:
        thread.add(added)
    later = thread.split("scn_2", {cell.member.cell_id: cell.vector for cell in cells})
    halves = thread.scene, later.scene
    assert sorted(name for half in halves for name in half.cell_ids) == sorted(
        cell.member.cell_id for cell in cells
    )
    assert halves[0].ended_at <= halves[1].started_at
    assert min(half.count for half in halves) >= max(1, len(cells) // 4)
    assert (later.scene.id, later.scene.theme, later.changed) == ("scn_2", "health", True)


def test_a_title_has_the_words_of_most_cells_and_a_summary_how_it_began_and_the_latest() -> None:
    lines = ["My knee hurts", "The knee again and the doctor", "The doctor saw the knee"]
    members = [
        SceneMember(cell_id=str(place), at=NOW + timedelta(hours=place), line=line)
        for place, line in enumerate(lines)
    ]
    scene = Scene(
        id="s",
        theme="health",
        title="",
        summary="",
        started_at=NOW,
        ended_at=NOW,
        cell_ids=[],
        count=0,
        members=members,
    )
    titled = with_words(scene)
    assert (titled.title, titled.summary) == ("Health: knee, doctor, hurts", " ".join(lines))
    many = [
        SceneMember(
            cell_id=str(place), at=NOW + timedelta(hours=place), line=f"{place} " + "x" * 200
        )
        for place in range(20)
    ]
    summary = with_words(scene.model_copy(update={"members": many})).summary
    assert len(summary) <= MAX_SUMMARY
    assert summary.startswith("0 xxx")
    assert "… 16 xxx" in summary
    assert "19 xxx" in summary


@given(text=st.text(max_size=2_000))
@settings(max_examples=60, deadline=None)
def test_a_line_of_any_text_is_short(text: str) -> None:
    assert len(line_of(text)) <= MAX_LINE


def test_only_what_is_cut_ends_in_dots() -> None:
    assert line_of("😀😀😀") == "😀😀😀"
    assert line_of("a" * 5_000).endswith("aa…")


def test_what_shows_of_a_person_is_kept_without_the_numbers_of_that_time() -> None:
    note = memory(
        f"## Summary\nTea.\n\n{BEHAVIOUR}\nUser's style: User writes short messages (11 words "
        "on average)."
    )
    assert shown_in(note) == ["User writes short messages."]


def test_a_title_leaves_out_what_any_scene_says_and_its_theme_and_writes_names_as_they_are_written() -> (  # noqa: E501
    None
):
    lines = [
        "User's cat is called Miso and likes every new box.",
        "Good morning! It was the last day of Miso at the vet.",
        "Pets sleep. The vet",
    ]
    members = [
        SceneMember(cell_id=str(place), at=NOW + timedelta(hours=place), line=line)
        for place, line in enumerate(lines)
    ]
    scene = Scene(
        id="s",
        theme="pets",
        title="",
        summary="",
        started_at=NOW,
        ended_at=NOW,
        cell_ids=[],
        count=0,
        members=members,
    )
    assert with_words(scene).title == "Pets: Miso, vet, cat"


def test_a_title_leaves_out_greetings_and_remarks() -> None:
    lines = [
        "User said: hey, also quick question about Bremen.",
        "Hey, ok so cool, thx! Anyway, the team goes to Bremen.",
        "Hiya, btw, hmm, lol: wow, the Bremen team.",
    ]
    members = [
        SceneMember(cell_id=str(place), at=NOW + timedelta(hours=place), line=line)
        for place, line in enumerate(lines)
    ]
    scene = Scene(
        id="s",
        theme="travel",
        title="",
        summary="",
        started_at=NOW,
        ended_at=NOW,
        cell_ids=[],
        count=0,
        members=members,
    )
    assert with_words(scene).title == "Travel: Bremen, team"
