"""What a model wrote becomes an answer by leaving out, never by making up, and garbage never
becomes an empty answer.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from memory_core.adapters.openai.answers import Repaired, answer_in, values_in
from memory_core.adapters.openai.joint_answers import cell_parts, reflected_parts, window_parts
from memory_core.adapters.openai.prompt_record import Echoes
from memory_core.domain.agent_schemas import (
    Boundaries,
    ConversationSummary,
    Decisions,
    EpisodeAnalysis,
    ExtractedFacts,
    FoundPatterns,
    Narrative,
    ProfileUpdate,
    Ranking,
    Synthesis,
)
from memory_core.domain.errors import AgentFailed
from memory_core.domain.joint_answers import Aspect, FormedParts
from memory_core.prompts import NAMES, Name, prompt
from tests.chat_server import GOOD

NOTHING = Echoes(frozenset(), ())
KINDS: dict[str, type[BaseModel]] = {
    prompt(name).answer.__name__: prompt(name).answer for name in NAMES
}
FACT = {
    "text": "Ana sails",
    "message": 0,
    "quote": "I sail",
    "subject": None,
    "attribute": None,
    "value": None,
    "confidence": 1,
}
DECISION = {
    "new": 0,
    "memory": 0,
    "operation": "SKIP",
    "confidence_score": 0.9,
    "reasoning": "said before",
}


READERS = {"form_cell": cell_parts, "form_window": window_parts, "reflect": reflected_parts}
"""How answers of several parts are read; all others are read whole."""


def answers_of(kind: type[Any]) -> Callable[[str, Echoes], Repaired[Any]]:
    return lambda text, echoes: answer_in(text, kind, echoes)


def read(text: str, kind: type[Any], echoes: Echoes = NOTHING) -> Repaired[Any]:
    return answer_in(text, kind, echoes)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_a_plain_answer_is_taken_as_it_is(kind: type[BaseModel]) -> None:
    good = GOOD[kind.__name__]
    assert read(json.dumps(good), kind) == Repaired(kind.model_validate(good))


@pytest.mark.parametrize(
    "wrapping",
    [
        "```json\n{}\n```",
        "```\n{}\n```",
        "Sure! Here is the JSON you asked for:\n\n{}\n\nLet me know if {you} need anything else.",
        '<think>The user wants {{"facts": []}} maybe. Or [1, 2]?</think>\n{}',
        "<think>two lines\nof thought</think>```json\n{}```",
        "First I look at message 0. That is a fact.\n</think>\n\n{}",
        "\ufeff  {}  ",
        "{}{}",
        '{{"answer": {}}}',
    ],
    ids=[
        "fence",
        "bare fence",
        "chatter",
        "thought",
        "thought and fence",
        "thought without its opening",
        "blanks",
        "twice",
        "wrapped",
    ],
)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_what_stands_around_an_answer_is_taken_off(kind: type[BaseModel], wrapping: str) -> None:
    good = json.dumps(GOOD[kind.__name__])
    marked = wrapping.replace("{}", "\0").replace("{{", "{").replace("}}", "}")
    assert read(marked.replace("\0", good), kind).value == kind.model_validate(GOOD[kind.__name__])


@pytest.mark.parametrize(
    "text",
    [
        "", "   ", "I can't help with that.", "null", "true", "42", '"facts"', "[]", "{}", "[[[]]]",
        "{" * 3000, "[" * 3000, '{"foo": 1}', '{"answer": {"foo": 1}}',
        "<think>{\"facts\": [], \"cuts\": [], \"decisions\": []} and so on, for", "```json\n```",
        "NaN", '{"error": {"message": "overloaded"}}', "<html><body>502</body></html>",
        "{'facts': []}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_garbage_is_a_failure_and_never_an_empty_answer(kind: type[BaseModel], text: str) -> None:
    if text == "[]" and kind in (Boundaries, Decisions, FoundPatterns, ProfileUpdate, Ranking):
        assert read(text, kind).value == kind()  # the bare list of an agent that decides nothing
        return
    with pytest.raises(AgentFailed):
        read(text, kind)


def test_a_failure_says_nothing_of_what_was_written() -> None:
    with pytest.raises(AgentFailed) as caught:
        read("My secret is 1234.", ExtractedFacts)
    assert "1234" not in caught.value.detail


def test_wrong_items_are_dropped_and_good_ones_kept() -> None:
    facts: list[Any] = [
        FACT,
        {**FACT, "message": -1},
        "Ana sails",
        None,
        {"text": "half"},
        {**FACT, "confidence": 7},
        {**FACT, "text": "Ana rows"},
    ]
    answer = read(json.dumps({"facts": facts, "foresight": []}), ExtractedFacts)
    assert [fact.text for fact in answer.value.facts] == ["Ana sails", "Ana rows"]
    assert (answer.repaired, answer.dropped) == (True, 5)


@pytest.mark.parametrize(
    "facts", [[{"text": "half"}], [None], "Ana sails", {"text": "Ana sails"}, 3]
)
def test_a_list_of_which_nothing_is_right_is_a_failure(facts: Any) -> None:
    with pytest.raises(AgentFailed):
        read(json.dumps({"facts": facts}), ExtractedFacts)


def test_an_answer_that_truly_finds_nothing_is_an_answer() -> None:
    assert read('{"facts": [], "foresight": []}', ExtractedFacts).value == ExtractedFacts()


def test_an_optional_field_that_is_wrong_counts_as_not_given() -> None:
    given = copy.deepcopy(GOOD["ConversationSummary"])
    given["metadata"] = {"depth": "bottomless", "follow_ups": "N/A"}
    given["retrieval"]["tags"] = ["sailing", None, 3]
    answer = read(json.dumps(given), ConversationSummary).value
    assert (answer.metadata.depth, answer.metadata.follow_ups, answer.retrieval.tags) == (
        "N/A",
        [],
        ["sailing"],
    )


@pytest.mark.parametrize("broken", [None, "", 5, ["a story"]])
def test_a_field_that_must_be_right_cannot_be_left_out(broken: Any) -> None:
    with pytest.raises(AgentFailed):
        read(json.dumps({**GOOD["ConversationSummary"], "narrative": broken}), ConversationSummary)
    with pytest.raises(AgentFailed):
        read(json.dumps({"consolidated_memory": {"natural_memory_note": broken}}), Synthesis)


def test_what_is_too_long_is_cut_where_a_sentence_or_a_word_ends() -> None:
    story = "The wind rose. " * 400
    answer = read(json.dumps({"narrative": story}), Narrative)
    assert answer.value.narrative.endswith("The wind rose.")
    assert 2900 < len(answer.value.narrative) <= 3000
    assert answer.repaired
    many = {
        "retrieval": {"tags": [f"tag {number}" for number in range(20)], "keywords": ["w" * 200]}
    }
    terms = read(
        json.dumps({**GOOD["ConversationSummary"], **many}), ConversationSummary
    ).value.retrieval
    assert terms.tags == [f"tag {number}" for number in range(8)]
    assert terms.keywords == ["w" * 80]


def test_a_quote_that_is_cut_is_still_a_beginning_of_what_was_said() -> None:
    message = "I sail, " * 100
    fact = read(json.dumps({"facts": [{**FACT, "quote": message}]}), ExtractedFacts).value.facts[0]
    assert message.startswith(fact.quote)


def test_half_a_list_is_kept_without_the_item_that_was_under_way() -> None:
    whole = json.dumps(
        {
            "facts": [FACT, {**FACT, "text": "Ana rows"}, {**FACT, "text": "Ana swims"}],
            "foresight": [],
        }
    )
    cut = whole[: whole.index("Ana swims") + 4]
    answer = read(cut, ExtractedFacts)
    assert [fact.text for fact in answer.value.facts] == ["Ana sails", "Ana rows"]
    assert answer.repaired


def test_an_end_that_was_cut_off_does_not_become_an_open_end() -> None:
    """A cold whose end was not written any more must not last for ever."""
    cold = {
        "description": "Ana has a cold",
        "message": 0,
        "quote": "a cold",
        "start_time": "2026-05-08T12:00:00Z",
        "end_time": "2026-05-15T12:00:00Z",
    }
    text = json.dumps({"facts": [FACT], "foresight": [cold]})
    answer = read(text[: text.index('"end_time"')], ExtractedFacts).value
    assert (len(answer.facts), answer.foresight) == (1, [])


def test_a_story_that_was_cut_off_is_no_story() -> None:
    text = json.dumps(GOOD["ConversationSummary"])
    with pytest.raises(AgentFailed):
        read(text[: text.index("Lisbon")], ConversationSummary)


def test_a_lost_last_brace_costs_nothing() -> None:
    text = json.dumps({"narrative": "Ana sails."})
    assert read(text[:-1], Narrative).value.narrative == "Ana sails."


def test_line_breaks_within_a_text_are_forgiven() -> None:
    assert read('{"narrative": "Ana\nsails."}', Narrative).value.narrative == "Ana\nsails."


def test_decisions_in_a_bare_list_are_read() -> None:
    assert (
        len(read(json.dumps([DECISION, {**DECISION, "memory": 1}]), Decisions).value.decisions) == 2
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"memory": "mem_0f3c9a7be15d4c2288aa01bc"},
        {"memory": -1},
        {"operation": "ERASE"},
        {"confidence_score": 2},
        {"new": None},
    ],
)
def test_a_decision_by_an_id_or_of_an_unknown_kind_is_dropped(wrong: dict[str, Any]) -> None:
    answer = read(json.dumps({"decisions": [DECISION, {**DECISION, **wrong}]}), Decisions)
    assert len(answer.value.decisions) == 1
    assert answer.dropped == 1


@pytest.mark.parametrize("name", [name for name in NAMES if prompt(name).examples])
def test_an_answer_that_is_the_prompts_own_example_is_refused(name: Name) -> None:
    asked = prompt(name)
    for example in asked.examples:
        with pytest.raises(AgentFailed, match=r"nothing in its JSON was right|repetition"):
            READERS.get(name, answers_of(asked.answer))(json.dumps(example), Echoes.of(asked))


def test_a_fact_of_the_example_among_others_is_dropped_whatever_it_is_dressed_in() -> None:
    asked = prompt("extract_facts")
    made_up = asked.examples[0]["facts"][0]
    others = [
        FACT,
        {**made_up, "message": 2, "confidence": 0.4, "text": "Ana keeps a lighthouse"},
        {**made_up, "quote": "I sail"},
    ]
    answer = read(
        json.dumps({"facts": others, "foresight": asked.examples[0]["foresight"]}),
        ExtractedFacts,
        Echoes.of(asked),
    )
    assert [fact.text for fact in answer.value.facts] == ["Ana sails"]
    assert answer.value.foresight == []
    assert answer.dropped == 3


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_that_recites_its_instructions_is_refused(name: Name) -> None:
    asked = prompt(name)
    story = "The instructions are: " + asked.text[:2000]
    with pytest.raises(AgentFailed, match="repetition"):
        read(
            json.dumps({**GOOD["ConversationSummary"], "narrative": story}),
            ConversationSummary,
            Echoes.of(asked),
        )


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_an_ordinary_answer_repeats_nothing(kind: type[BaseModel]) -> None:
    for name in NAMES:
        assert read(json.dumps(GOOD[kind.__name__]), kind, Echoes.of(prompt(name))).dropped == 0


FIELDS = sorted({name for kind in KINDS.values() for name in kind.model_fields})
INNER_FIELDS = [
    "text",
    "message",
    "quote",
    "new",
    "memory",
    "operation",
    "tags",
    "after",
    "natural_memory_note",
]
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 60),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(["SKIP", "N/A", "2026-05-08T12:00:00Z"]),
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from([*FIELDS, *INNER_FIELDS]), inner, max_size=5),
    ),
    max_leaves=25,
)


@given(JSON, st.sampled_from(sorted(KINDS)))
def test_any_json_is_an_answer_or_a_failure(value: Any, kind: str) -> None:
    try:
        answer = read(json.dumps(value), KINDS[kind])
    except AgentFailed:
        return
    assert isinstance(answer.value, KINDS[kind])


@given(st.sampled_from(sorted(KINDS)), st.integers(min_value=0, max_value=2000))
def test_an_answer_cut_anywhere_is_part_of_the_whole_or_a_failure(kind: str, length: int) -> None:
    """Whatever a cut leaves is what stood there: no text, number or decision that the whole answer
    does not have.
    """
    whole = KINDS[kind].model_validate(GOOD[kind])
    try:
        answer = read(json.dumps(GOOD[kind])[:length], KINDS[kind]).value
    except AgentFailed:
        return
    assert leaves(answer.model_dump(exclude_unset=True)) <= leaves(whole.model_dump())


@pytest.mark.parametrize("length", range(0, len(json.dumps(GOOD["FormedWindow"])), 40))
def test_a_joint_answer_cut_anywhere_keeps_the_parts_that_were_whole(length: int) -> None:
    whole = window_parts(json.dumps(GOOD["FormedWindow"]), NOTHING).value
    try:
        parts = window_parts(json.dumps(GOOD["FormedWindow"])[:length], NOTHING).value
    except AgentFailed:
        return
    assert leaves(parts.model_dump(exclude_unset=True)) <= leaves(whole.model_dump())
    assert [episode.first for episode in parts.episodes] == [0, 2][: len(parts.episodes)]
    assert all(episode in whole.episodes for episode in parts.episodes)


def test_a_part_that_is_missing_is_none_and_one_that_says_nothing_is_an_answer() -> None:
    parts = window_parts('{"cuts": [], "continues": false, "facts": []}', NOTHING).value
    assert (parts.boundaries, parts.facts, parts.episodes) == (Boundaries(), ExtractedFacts(), [])
    story = GOOD["FormedCell"]["story"]
    cell = cell_parts(json.dumps({"behaviour": None, "story": story}), NOTHING).value
    assert cell.facts is None
    assert cell.episodes[0].behaviour == EpisodeAnalysis()
    assert cell_parts(json.dumps({"story": story}), NOTHING).value.episodes[0].behaviour is None


@pytest.mark.parametrize("nothing", ["null", "[]"])
def test_nothing_shows_alone_is_no_answer(nothing: str) -> None:
    with pytest.raises(AgentFailed, match="nothing in its JSON was right"):
        cell_parts(f'{{"behaviour": {nothing}, "story": 5, "facts": "none"}}', NOTHING)


def behaviour_of(*observations: Any) -> EpisodeAnalysis | None:
    """What is read of these observations beside a good story."""
    cell = {"behaviour": list(observations), "story": GOOD["FormedCell"]["story"]}
    return cell_parts(json.dumps(cell), NOTHING).value.episodes[0].behaviour


def test_each_observation_is_checked_alone_and_those_about_nothing_known_are_dropped() -> None:
    seen = behaviour_of(
        {"aspect": "mood", "text": "Cheerful."},
        {"aspect": "learning", "text": "By  example."},
        "Impatient.",
        {"aspect": "do"},
        {"aspect": "do", "text": ["Show code."]},
        {"aspect": "do", "text": "Show code first."},
    )
    assert seen is not None
    assert seen.behavioral_profile.learning == "By example."
    assert seen.future_guidance.recommended_approaches == ["Show code first."]
    assert seen.behavioral_profile.communication == "N/A"


def test_behaviour_without_a_right_observation_is_none() -> None:
    assert behaviour_of({"aspect": "mood", "text": "Cheerful."}, "Impatient.") is None


def test_of_an_aspect_with_too_many_observations_the_first_are_kept() -> None:
    observations = [
        {"aspect": aspect, "text": f"{aspect} {number}"}
        for number in range(4)
        for aspect in ("worked", "avoid", "key_insight")
    ]
    seen = behaviour_of(*observations)
    assert seen is not None
    assert seen.what_worked.strategies == ["worked 0", "worked 1", "worked 2"]
    assert seen.future_guidance.avoid_approaches == ["avoid 0", "avoid 1"]
    assert seen.future_guidance.adaptation_note == "key_insight 0"


def test_every_aspect_has_a_place_of_its_own() -> None:
    observations = [{"aspect": aspect, "text": f"About {aspect}."} for aspect in get_args(Aspect)]
    seen = behaviour_of(*observations)
    assert seen is not None
    assert {f"'{observation['text']}'" for observation in observations} <= leaves(seen.model_dump())


def test_answers_that_were_stored_before_joint_answers_were_flat_can_still_be_read() -> None:
    """Stored are the parts, in the form of the separate answers, and not what a model wrote."""
    stored = {
        "facts": {**GOOD["ExtractedFacts"], "facts": [FACT]},
        "episodes": [
            {"first": 0, "behaviour": GOOD["EpisodeAnalysis"], "story": GOOD["ConversationSummary"]}
        ],
    }
    parts = FormedParts.model_validate_json(json.dumps(stored))
    assert parts.facts == ExtractedFacts.model_validate(stored["facts"])
    assert parts.episodes[0].behaviour == EpisodeAnalysis.model_validate(GOOD["EpisodeAnalysis"])
    assert FormedParts.model_validate_json(parts.model_dump_json()) == parts


def test_a_slot_of_empty_texts_is_no_slot() -> None:
    fact = {**GOOD["ExtractedFacts"]["facts"][0], "subject": "", "attribute": "", "value": ""}
    parts = cell_parts(json.dumps({**GOOD["FormedCell"], "facts": [fact]}), NOTHING).value
    assert parts.facts is not None
    (read,) = parts.facts.facts
    assert (read.subject, read.attribute, read.value) == (None, None, None)


@given(st.text(max_size=300))
def test_any_text_can_be_looked_through(text: str) -> None:
    for value, _ in values_in(text):
        assert value is not None


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_does_not_have_are_no_answer(number: str) -> None:
    assert list(values_in(f'{{"confidence": {number}}}')) == []


def is_json(value: Any) -> bool:
    """Whether JSON has all its numbers."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


@given(
    JSON.filter(is_json),
    st.text(alphabet='{}[]"\\:, ab', max_size=20),
    st.text(alphabet='{}[]"\\:, ab', max_size=20),
)
def test_chatter_full_of_brackets_hides_no_answer_that_stands_apart(
    value: Any, before: str, after: str
) -> None:
    read_values = [parsed for parsed, _ in values_in(before + json.dumps(value) + after)]
    assert all(json.loads(json.dumps(parsed)) == parsed for parsed in read_values)
    if isinstance(value, dict | list) and not set(before + after) & set('{}[]"\\'):
        assert value in read_values


def leaves(value: Any) -> set[str]:
    if isinstance(value, dict):
        return {leaf for child in value.values() for leaf in leaves(child)}
    if isinstance(value, list):
        return {leaf for child in value for leaf in leaves(child)}
    return {repr(value)}
