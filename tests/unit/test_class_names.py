"""One name, one idea: no two classes of the package share a name."""

from __future__ import annotations

import ast
from collections import defaultdict

from tests.host import ROOT


def test_no_two_classes_of_modules_share_a_name() -> None:
    """Who reads a name in a signature should not have to look which one it is. Those that begin
    with an underscore are their module's own.
    """
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "memory_core").rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(ROOT)))
    assert {name: files for name, files in places.items() if len(files) > 1} == {}
