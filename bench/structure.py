"""How a package is built: sizes, imports, prose and circles, `python -m bench.structure FOLDER…`.

Each FOLDER is a Python package; they become the columns of one table, so that two versions, or
other people's packages, stand side by side. `__init__.py` of at most one line is not counted.
Lines are physical lines.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.tables import percentile, show

SMALL, LARGE, LARGEST = 80, 300, 500
"""Lines under which a module is small, and over which it is large."""
PRONOUNS = re.compile(
    r"\b(?:one|ones|who|whoever|what|nobody|somebody|nothing|everything|others)\b", re.IGNORECASE
)
WORD = re.compile(r"[A-Za-z']+")
SECTIONS = ("Args:", "Returns:", "Raises:")
Function = ast.FunctionDef | ast.AsyncFunctionDef
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Module:
    """A file of a package. name: dotted, with the package's own name first."""

    name: str
    lines: int
    tree: ast.Module


def modules_of(folder: Path) -> list[Module]:
    """The modules of a package, but for empty `__init__.py`."""
    modules = []
    for file in sorted(folder.rglob("*.py")):
        source = file.read_text(encoding="utf-8")
        lines = len(source.splitlines())
        if file.name != "__init__.py" or lines > 1:
            parts = [folder.name, *file.relative_to(folder).with_suffix("").parts]
            modules.append(
                Module(
                    ".".join(part for part in parts if part != "__init__"), lines, ast.parse(source)
                )
            )
    return modules


def measures(modules: Sequence[Module]) -> dict[str, str]:
    """What the table says of a package, by row."""
    lines = sorted(module.lines for module in modules)
    functions = [
        node for module in modules for node in ast.walk(module.tree) if isinstance(node, Function)
    ]
    bodies = sorted(_lines_of(function) for function in functions) or [0]
    parameters = sorted(_parameters_of(function) for function in functions) or [0]
    total = sum(lines)
    imports = sum(
        _lines_of(node)
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    )
    docstrings = [text for module in modules for text in docstrings_of(module.tree)]
    words = sum(len(WORD.findall(text)) for text in docstrings)
    pronouns = sum(len(PRONOUNS.findall(text)) for text in docstrings)
    with_sections = sum(any(head in text for head in SECTIONS) for text in docstrings)
    graph = import_graph(modules)
    inside = sorted(len(targets) for targets in graph.values())
    return {
        "files, lines": f"{len(modules)}, {total:,}",
        "module lines: median, largest": f"{median(lines):.0f}, {lines[-1]:,}",
        f"modules under {SMALL} lines": _share(sum(count < SMALL for count in lines), len(lines)),
        f"modules over {LARGE}, over {LARGEST}": (
            f"{sum(count > LARGE for count in lines)}, {sum(count > LARGEST for count in lines)}"
        ),
        "functions; lines: median, p90, largest": (
            f"{len(functions):,}; {median(bodies):.0f}, {percentile(bodies, 0.9):.0f}, {bodies[-1]}"
        ),
        "parameters: p90, most": f"{percentile(parameters, 0.9):.0f}, {parameters[-1]}",
        "import lines": f"{100 * imports / total:.1f} %",
        "imports of own modules: median, p90, most": (
            f"{median(inside):.0f}, {percentile(inside, 0.9):.0f}, {inside[-1]}"
        ),
        "modules in circles of imports": str(len(modules_in_circles(graph))),
        "docstrings, with Args, Returns or Raises": f"{len(docstrings):,}, {with_sections}",
        "pronouns per 1,000 words of docstrings": f"{1000 * pronouns / max(words, 1):.1f}",
        "model_copy(update={…})": str(
            sum(_updates_copy(node) for module in modules for node in ast.walk(module.tree))
        ),
    }


def docstrings_of(tree: ast.Module) -> Iterator[str]:
    """The docstrings of a module, its classes and functions."""
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
            yield text


def import_graph(modules: Sequence[Module]) -> dict[str, set[str]]:
    """By module, the modules of the same package that it imports, wherever in the file it does."""
    names = {module.name for module in modules}
    return {module.name: set(_imported(module, names)) - {module.name} for module in modules}


def _imported(module: Module, names: set[str]) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(module, node)
            for alias in node.names:
                target = f"{base}.{alias.name}"
                if target in names:
                    yield target
                elif base in names:
                    yield base


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    """The dotted name that something is imported from."""
    if not node.level:
        return node.module or ""
    above = module.name.split(".")[: -node.level]
    return ".".join([*above, *([node.module] if node.module else [])])


def modules_in_circles(graph: Mapping[str, set[str]]) -> set[str]:
    """The modules from which imports lead back to themselves."""
    return {name for name in graph if _reaches(graph, name)}


def _reaches(graph: Mapping[str, set[str]], start: str) -> bool:
    seen: set[str] = set()
    waiting = [*graph[start]]
    while waiting:
        name = waiting.pop()
        if name == start:
            return True
        if name not in seen:
            seen.add(name)
            waiting += graph.get(name, ())
    return False


def _lines_of(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _parameters_of(function: Function) -> int:
    named = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return len([argument for argument in named if argument.arg not in ("self", "cls")])


def _updates_copy(node: ast.AST) -> bool:
    """Whether it copies a model with changes that are not validated."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "model_copy"
        and any(
            keyword.arg == "update" and isinstance(keyword.value, ast.Dict)
            for keyword in node.keywords
        )
    )


def _share(count: int, whole: int) -> str:
    return f"{count} ({100 * count / whole:.0f} %)"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.structure", description="Measures how packages are built."
    )
    parser.add_argument("folders", type=Path, nargs="+", help="Python packages")
    folders = parser.parse_args(arguments).folders
    columns = [measures(modules_of(folder.resolve())) for folder in folders]
    rows = [[name, *(column[name] for column in columns)] for name in columns[0]]
    show("How they are built", ("", *(str(folder) for folder in folders)), rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
