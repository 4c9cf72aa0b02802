import pytest

from memory_core.domain.memory import MemoryType
from memory_core.evolution.synthesis_checks import CAP, fits, what_is_invented, what_is_lost
from tests.builders import memory

FIRST = (
    "## Summary\nOn 5 May Ana moved from Berlin to Lisbon with 2 cats.\n\n"
    "## Guidance\nDo: ask about the cats\n\n---\nTags: moving | Keywords: Lisbon"
)
SECOND = (
    "## Summary\nLater that month she began to work at Pingo.\n\n---\nTags: work | Keywords: Pingo"
)
MERGED = (
    "## Summary\nOn 5 May Ana moved from Berlin to Lisbon with 2 cats. Later that month she began "
    "to work at Pingo.\n\n"
    "## Guidance\nDo: ask about the cats\n\n---\nTags: moving, work | Keywords: Lisbon, Pingo"
)


def note(text: str, *tags: str):  # type: ignore[no-untyped-def]
    return memory(text, type=MemoryType.SEMANTIC, category="note", tags=list(tags))


SOURCES = [note(FIRST, "moving"), note(SECOND, "work")]


def test_a_merge_that_keeps_everything_has_lost_nothing() -> None:
    assert what_is_lost(MERGED, SOURCES) == []


@pytest.mark.parametrize(
    ("dropped", "complaint_part"),
    [
        ("Berlin", "names"),
        ("2 cats", "numbers"),
        ("5 May", "numbers"),
        ("Pingo", "names"),
        ("moving, ", "tags"),
        ("## Guidance", "## Guidance"),
        ("---\n", "---"),
    ],
)
def test_what_a_merge_drops_is_named(dropped: str, complaint_part: str) -> None:
    lost = what_is_lost(MERGED.replace(dropped, ""), SOURCES)
    assert any(complaint_part in complaint for complaint in lost), lost


def test_a_merge_shorter_than_its_longest_source_is_refused() -> None:
    assert any(
        "longest source" in complaint
        for complaint in what_is_lost("## Summary\nShe moved.", SOURCES)
    )


def test_notes_that_are_too_long_together_are_not_merged() -> None:
    long = note("x" * (CAP // 2))
    assert fits([long, note("y")])
    assert not fits([long, long, note("y")])


@pytest.mark.parametrize(
    ("added", "complaint"),
    [
        ("", None),
        (" User also enjoys it.", None),
        (" It was with Petra.", "these names stand in no source: petra"),
        (" It cost 1,900 euros.", "these numbers stand in no source: 1900"),
        (
            " " + " ".join(f"lorem{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"),
            "most of it stands in no source",
        ),
    ],
)
def test_what_no_source_says_is_named(added: str, complaint: str | None) -> None:
    source = memory(
        "## Summary\nUser lives in Lisbon since 2019 and bakes bread.\n\n---\nTags: bread",
        tags=["bread"],
    )
    complaints = what_is_invented(source.content.replace("bread.", f"bread.{added}"), [source])
    assert complaints == ([] if complaint is None else [complaint])


def test_of_two_sources_each_keeps_what_only_it_says() -> None:
    wall, gate = (
        memory("## Summary\nThe garden has a stone wall"),
        memory("## Summary\nThe garden has a broken gate"),
    )
    assert (
        what_is_lost("## Summary\nThe garden has a stone wall and a broken gate", [wall, gate])
        == []
    )
    (complaint,) = what_is_lost(
        "## Summary\nThe garden has a stone wall, and it is large and old", [wall, gate]
    )
    assert complaint.startswith(
        "next to nothing is left of: ## Summary\nThe garden has a broken gate"
    )
