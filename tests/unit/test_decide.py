from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.memory import Memory, MemoryType, Status
from memory_core.domain.truth.entries import Account
from memory_core.domain.truth.sealing import Seal, sealed_timeline_of
from memory_core.domain.truth.slots import slot_name
from memory_core.domain.truth.timeline import Timeline
from memory_core.evolution import slot_log
from memory_core.evolution.judgements import Judgement, Verdict, judge
from memory_core.evolution.slot_log import SlotLog
from memory_core.ports import Neighbour
from tests.builders import NOW, memory


def semantic(content: str, **fields: object) -> Memory:
    return memory(content, type=MemoryType.SEMANTIC, **fields)


def near(content: str, similarity: float, **fields: object) -> Neighbour:
    return Neighbour(semantic(content, **fields), similarity)


JOB = {"subject": "Ann", "attribute": "employer"}


def slot(*neighbours: Neighbour) -> SlotLog:
    """The log of the slot of what is held."""
    members = [neighbour.memory for neighbour in neighbours]
    name = slot_name(members[0])
    assert name is not None
    return SlotLog.of_members(name, None, NOW, members=members)


def judged(new: Memory, *neighbours: Neighbour) -> Judgement:
    return judge(new, neighbours, 0.98, slot(*neighbours))


def test_another_value_in_the_same_slot_is_a_certain_contradiction_however_unlike_the_words() -> (
    None
):
    judgement = judged(
        semantic("Ann works at Contoso", **JOB), near("she is with Fabrikam now", 0.1, **JOB)
    )
    assert judgement.verdict is Verdict.CONTRADICTS
    assert judgement.certain


def test_a_decision_that_is_made_twice_resolves_a_log_no_second_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resolved: list[Timeline] = []

    def noted(account: Account, seal: Seal | None) -> Timeline:
        resolved.append(sealed_timeline_of(account, seal))
        return resolved[-1]

    monkeypatch.setattr(slot_log, "sealed_timeline_of", noted)
    known = near("she is with Fabrikam now", 0.1, value="Fabrikam", **JOB)
    log, new = slot(known), semantic("Ann works at Contoso", value="Contoso", **JOB)
    first = judge(new, [known], 0.98, log)
    assert len(resolved) == 2, "as it is, and with what is new"
    assert judge(new, [known], 0.98, log) == first
    assert len(resolved) == 2


def test_slots_are_compared_without_case() -> None:
    judgement = judged(semantic("x", subject="ANN", attribute="Employer"), near("y", 0.0, **JOB))
    assert judgement.verdict is Verdict.CONTRADICTS


def test_the_same_words_in_the_same_slot_are_the_same_whatever_the_similarity() -> None:
    judgement = judged(
        semantic("Ann works at Contoso.", **JOB), near("ann works at contoso", 0.2, **JOB)
    )
    assert judgement.verdict is Verdict.SAME


def test_equal_values_decide_over_unequal_words() -> None:
    judgement = judged(
        semantic("Contoso it is", value="Contoso", **JOB),
        near("works at Contoso", 0.2, value="Contoso", **JOB),
    )
    assert judgement.verdict is Verdict.SAME


def test_a_near_equal_text_with_another_number_is_an_uncertain_contradiction_and_never_the_same() -> (  # noqa: E501
    None
):
    judgement = judge(
        semantic("the server listens on port 8081"),
        [near("the server listens on port 8080", 0.995)],
        0.98,
    )
    assert judgement.verdict is Verdict.CONTRADICTS
    assert not judgement.certain
    assert "numbers" in judgement.reason


def test_a_near_equal_text_with_a_negation_is_an_uncertain_contradiction() -> None:
    judgement = judge(semantic("Ann does not eat meat"), [near("Ann does eat meat", 0.99)], 0.98)
    assert judgement.verdict is Verdict.CONTRADICTS
    assert not judgement.certain


def test_a_near_equal_text_about_someone_else_is_new() -> None:
    assert (
        judge(
            semantic("the cat belongs to Bob"), [near("the cat belongs to Ann", 0.99)], 0.98
        ).verdict
        is Verdict.NEW
    )


def test_below_the_duplicate_threshold_nothing_but_the_same_words_is_the_same() -> None:
    neighbour = near("Ann likes green tea", 0.9)
    assert judge(semantic("Ann is fond of green tea"), [neighbour], 0.98).verdict is Verdict.NEW
    assert judge(semantic("ann likes green tea"), [neighbour], 0.98).verdict is Verdict.SAME


def test_a_superseded_truth_of_the_slot_is_no_contradiction_and_no_double() -> None:
    over = {
        "valid_until": NOW - timedelta(hours=1),
        "status": Status.SUPERSEDED,
        "status_reason": "contradicted",
    }
    past = near("Ann works at Fabrikam", 0.99, **over, **JOB)
    assert (
        judged(semantic("Ann works at Fabrikam", valid_from=NOW, **JOB), past).verdict
        is Verdict.NEW
    )


def test_a_statement_in_another_slot_is_no_double_even_with_the_same_words() -> None:
    other = near("green", 1.0, subject="Ann", attribute="favourite colour")
    assert (
        judge(semantic("green", subject="Ann", attribute="eye colour"), [other], 0.98).verdict
        is Verdict.NEW
    )


def test_the_same_words_with_another_value_or_about_others_are_another_statement() -> None:
    neighbour = near("the limit is set", 1.0, value={"limit": 8080}, entities=["Gateway"])
    assert (
        judge(semantic("the limit is set", value={"limit": 8081}), [neighbour], 0.98).verdict
        is Verdict.NEW
    )
    assert (
        judge(semantic("the limit is set", entities=["Proxy"]), [neighbour], 0.98).verdict
        is Verdict.NEW
    )
    for plain in (
        semantic("the limit is set"),
        semantic("The limit is set.", value={"limit": 8080}, entities=["gateway"]),
    ):
        assert judge(plain, [neighbour], 0.98).verdict is Verdict.SAME


def test_a_statement_that_had_ended_is_no_double_of_its_return() -> None:
    over = near("Ann is on holiday", 1.0, valid_until=NOW - timedelta(days=1))
    assert judge(semantic("Ann is on holiday", valid_from=NOW), [over], 0.98).verdict is Verdict.NEW
    assert (
        judge(
            semantic("Ann is on holiday", valid_from=NOW - timedelta(days=2)), [over], 0.98
        ).verdict
        is Verdict.SAME
    )


@given(st.text(min_size=1, max_size=60), st.floats(0, 1))
def test_a_text_is_always_the_same_as_itself(text: str, similarity: float) -> None:
    assert judge(semantic(text), [near(text, similarity)], 0.98).verdict is Verdict.SAME


@given(st.text(min_size=1, max_size=60))
def test_nothing_held_means_new(text: str) -> None:
    assert judge(semantic(text), [], 0.98).verdict is Verdict.NEW
