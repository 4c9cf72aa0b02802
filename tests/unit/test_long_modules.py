"""Which modules may be long: those that `long_modules.toml` lists, each with a reason.

Lines of docstrings do not count: documentation is no reason to split a module.
"""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

from tests.host import ROOT

LONG, STEP = 500, 25
"""Lines over which a module is listed, and to the next multiple of which a ceiling is rounded."""
LEAST_REASON = 40
"""Characters of a reason."""


def lines_by_module(folder: Path) -> dict[str, int]:
    return {
        str(path.relative_to(folder)): lines_of_code(path.read_text(encoding="utf-8"))
        for path in folder.rglob("*.py")
    }


def lines_of_code(source: str) -> int:
    """Lines of a file but for those of docstrings and of texts beneath constants."""
    texts = (
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
    lines_of_texts = sum((text.end_lineno or text.lineno) - text.lineno + 1 for text in texts)
    return len(source.splitlines()) - lines_of_texts


def complaints(lines: dict[str, int], listed: dict[str, dict[str, object]]) -> list[str]:
    """What is wrong with the list."""
    wrong = [
        f"{name} has {count} lines: split it by idea, or list it with a reason"
        for name, count in lines.items()
        if count > LONG and name not in listed
    ]
    for name, entry in listed.items():
        count, ceiling, reason = lines.get(name, 0), entry.get("ceiling"), entry.get("reason")
        if count <= LONG:
            wrong.append(f"{name} has {count} lines: take it off the list")
        elif not isinstance(ceiling, int) or count > ceiling:
            wrong.append(
                f"{name} has {count} lines, its ceiling is {ceiling}: split it, or raise that"
            )
        elif ceiling % STEP or ceiling - count >= 2 * STEP:
            wrong.append(f"{name}: its ceiling is to be {-(-count // STEP) * STEP}")
        if not isinstance(reason, str) or len(reason) < LEAST_REASON:
            wrong.append(f"{name} has no reason")
    return wrong


def test_long_modules_are_listed_with_a_ceiling_and_a_reason() -> None:
    """Split by idea, never by quota: a long module is one idea, and the list says which."""
    listed = tomllib.loads((ROOT / "tests/unit/long_modules.toml").read_text(encoding="utf-8"))
    assert complaints(lines_by_module(ROOT / "memory_core"), listed) == []


def test_lines_of_docstrings_do_not_count() -> None:
    source = '"""Module."""\n\nLIMIT = 3\n"""Of memories,\nat most.\n"""\nNAME = "text"\n'
    assert lines_of_code(source) == 3


@pytest.mark.parametrize(
    ("lines", "entry", "complaint"),
    [
        (501, None, "split it by idea"),
        (520, {"ceiling": 500, "reason": "r" * LEAST_REASON}, "its ceiling is 500"),
        (500, {"ceiling": 500, "reason": "r" * LEAST_REASON}, "take it off"),
        (501, {"ceiling": 600, "reason": "r" * LEAST_REASON}, "its ceiling is to be 525"),
        (501, {"ceiling": 525, "reason": "long"}, "has no reason"),
    ],
)
def test_each_fault_of_the_list_is_reported(
    lines: int, entry: dict[str, object] | None, complaint: str
) -> None:
    (fault,) = complaints({"a.py": lines}, {} if entry is None else {"a.py": entry})
    assert complaint in fault
