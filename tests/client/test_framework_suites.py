"""LangGraph's and the Agents SDK's own suites on the adapters; fetched, so not for every time. What
does not pass is named in the docs.
"""

from __future__ import annotations

import pytest

from bench.frameworks.__main__ import outcomes, read_outcome
from tests.host import ROOT


@pytest.mark.long
def test_all_of_the_suites_pass_but_what_the_docs_name() -> None:
    *stores, sessions = [outcome for _, outcome in outcomes()]
    page = (ROOT / "docs" / "langgraph.md").read_text()
    assert sum(outcome.passed for outcome in stores) >= 216
    assert [
        name for outcome in stores for name in outcome.failed if name.split("[")[0] not in page
    ] == []
    assert sessions.passed >= 54


def test_a_summary_is_read_and_a_run_without_one_is_an_error() -> None:
    outcome = read_outcome(
        "..F\nFAILED tests/test_store.py::test_a[b] - assert 1\nERROR tests/test_store.py::test_c\n"
        "1 failed, 2 passed, 1 error in 0.1s\n"
    )
    assert (outcome.passed, outcome.failed) == (2, ["test_a[b]", "test_c"])
    with pytest.raises(RuntimeError):
        read_outcome("ModuleNotFoundError: No module named 'x'\n")
