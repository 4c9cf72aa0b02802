"""Theorems 4 to 6 of SECMSA's note: complete, of one structure, normalised."""

from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.agent_schemas import NOT_AVAILABLE, ConversationSummary, EpisodeAnalysis
from memory_core.domain.note import (
    FOOTER,
    HEADINGS,
    non_empty_values,
    normalise,
    parts_of,
    render_note,
)

words = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8).filter(
    lambda word: word.casefold() not in {"na", "none", "null"}
)
sentences = st.lists(words, min_size=1, max_size=5).map(" ".join)
maybe = st.one_of(sentences, st.sampled_from([NOT_AVAILABLE, "n/a", "", " ", "N/A."]))
some = st.lists(maybe, max_size=2)


@st.composite
def episodes(draw: st.DrawFn) -> EpisodeAnalysis:
    return EpisodeAnalysis.model_validate(
        {
            "what_worked": {"strategies": draw(some), "pattern": draw(maybe)},
            "what_failed": {"strategies": draw(some), "pattern": draw(maybe)},
            "behavioral_profile": {
                name: draw(maybe)
                for name in ("communication", "learning", "problem_solving", "decision_making")
            },
            "interaction_insights": {
                name: draw(maybe)
                for name in ("engagement_triggers", "friction_points", "optimal_approach")
            },
            "future_guidance": {
                "recommended_approaches": draw(some),
                "avoid_approaches": draw(some),
                "adaptation_note": draw(maybe),
            },
        }
    )


@st.composite
def summaries(draw: st.DrawFn) -> ConversationSummary:
    return ConversationSummary.model_validate(
        {
            "narrative": draw(sentences),
            "retrieval": {"tags": draw(some), "keywords": draw(some), "queries": draw(some)},
            "metadata": {
                "depth": draw(st.sampled_from(["high", "medium", "low", "N/A"])),
                "follow_ups": draw(some),
            },
        }
    )


def rendered(episode: EpisodeAnalysis, summary: ConversationSummary) -> list[str]:
    """Every field that the section functions render; a pattern is rendered with its
    strategies only.
    """
    profile, insights, guidance = (
        episode.behavioral_profile,
        episode.interaction_insights,
        episode.future_guidance,
    )
    fields = [
        summary.narrative,
        *summary.retrieval.tags,
        *summary.retrieval.keywords,
        summary.metadata.depth,
        *summary.metadata.follow_ups,
    ]
    fields += [
        profile.communication,
        profile.learning,
        profile.problem_solving,
        profile.decision_making,
    ]
    fields += [insights.engagement_triggers, insights.friction_points, insights.optimal_approach]
    fields += [
        *guidance.recommended_approaches,
        *guidance.avoid_approaches,
        guidance.adaptation_note,
    ]
    for outcome in (episode.what_worked, episode.what_failed):
        fields += [
            *outcome.strategies,
            *([outcome.pattern] if non_empty_values(outcome.strategies) else []),
        ]
    return non_empty_values(fields)


@given(episodes(), summaries())
def test_every_field_that_says_something_stands_in_the_note(
    episode: EpisodeAnalysis, summary: ConversationSummary
) -> None:
    note = render_note(episode, summary)
    for text in rendered(episode, summary):
        assert text in note


@given(episodes(), summaries())
def test_nothing_that_is_not_available_stands_in_the_note(
    episode: EpisodeAnalysis, summary: ConversationSummary
) -> None:
    note = render_note(episode, summary)
    assert "n/a" not in note.casefold()
    assert not any(line.rstrip().endswith(":") for line in note.split("\n"))


@given(episodes(), summaries())
def test_parts_stand_in_one_order_each_under_its_heading(
    episode: EpisodeAnalysis, summary: ConversationSummary
) -> None:
    note = render_note(episode, summary)
    order = [name for name in (*HEADINGS, FOOTER) if name in parts_of(note)]
    assert list(parts_of(note)) == order
    assert note.startswith(HEADINGS[0])
    assert normalise(note) == note


@given(st.text(alphabet=" \n\tab#-"))
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert "\n\n\n" not in once
    assert "  " not in once
    assert once == once.strip()


def test_equal_answers_make_equal_notes_with_the_seeds_words() -> None:
    episode = EpisodeAnalysis.model_validate(
        {
            "what_worked": {
                "strategies": ["Short examples", "N/A"],
                "pattern": "They are concrete",
            },
            "interaction_insights": {"friction_points": "N/A", "optimal_approach": "time is short"},
            "future_guidance": {"avoid_approaches": ["Long theory"], "adaptation_note": "N/A"},
        }
    )
    summary = ConversationSummary.model_validate(
        {
            "narrative": "Ana fixed the build.",
            "retrieval": {"tags": ["build", "ci"], "keywords": ["make"]},
            "metadata": {"depth": "high"},
        }
    )
    assert render_note(episode, summary) == (
        "## Summary\nAna fixed the build.\n\n## Behavioral Patterns\nWorks best when: time "
        "is short\n\n"
        "## Experience Learnings\nSuccessful approaches: Short examples — They are concrete\n\n## "
        "Guidance\nDon't: Long theory\n\n"
        "---\nTags: build, ci | Keywords: make | Content depth: high"
    )
