"""How far a forgetting has come, as an operation stores it."""

from __future__ import annotations

from memory_core.data_rights.forget_plan import ForgetProgress


def test_what_an_earlier_version_has_stored_is_read_and_stored_under_the_same_names() -> None:
    stored = {"step": "remove", "told": ["cell_1"], "said": ["3f2a"]}
    progress = ForgetProgress.model_validate(stored)
    assert (progress.telling_cells, progress.marks_of_content) == (["cell_1"], ["3f2a"])
    assert {name: progress.at("memories").document[name] for name in ("told", "said")} == {
        "told": ["cell_1"],
        "said": ["3f2a"],
    }
    assert ForgetProgress.model_validate(progress.document) == progress
