"""Refuse docstrings of the package that are hard to read: `python -m tests.docstrings [FILE…]`.

Four things are refused: a first line that is no short sentence by itself, a public function of two
or more parameters that does not say what each of them is, rules of a phase that do not say what
each of their settings is, and more pronouns than a few in a thousand words, where a noun would tell
which memory, caller or document is meant.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE, PORTS = ROOT / "memory_core", ROOT / "memory_core" / "ports"
MAX_WORDS = 15
MAX_PRONOUNS = 4.0
"""In 1,000 words of docstrings; two admired packages of this field have 0.7 and 2.4."""
PRONOUNS = re.compile(
    r"\b(?:one|ones|who|whoever|what|nobody|somebody|nothing|everything|others)\b", re.IGNORECASE
)
CODE = re.compile(r"``?[^`]+``?")
SECTION = re.compile(r"^(?:Args|Returns|Yields|Raises|Note|Example):$", re.MULTILINE)
Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a docstring, and in which line it begins."""

    line: int
    text: str


def faults(source: str, inherited: frozenset[str] = frozenset()) -> list[Fault]:
    """The faults of a file's docstrings, in the order of its lines.

    Args:
        source: Of a Python file.
        inherited: Names of methods that are documented elsewhere, at a port.

    """
    tree = ast.parse(source)
    found_faults = [
        *(fault for node in ast.walk(tree) for fault in _faults_of_first_line(node)),
        *_faults_of_parameters(tree, inherited),
        *_faults_of_rules(tree),
    ]
    return sorted(found_faults, key=lambda fault: (fault.line, fault.text))


def pronouns(source: str) -> tuple[int, int]:
    """How many pronouns and how many words the docstrings and texts beneath constants have."""
    texts = [CODE.sub("", text) for text in _texts(source)]
    words = sum(len(text.split()) for text in texts)
    return sum(len(PRONOUNS.findall(text)) for text in texts), words


def _faults_of_first_line(node: ast.AST) -> Iterator[Fault]:
    if not isinstance(node, Documented) or (text := ast.get_docstring(node)) is None:
        return
    first, *rest = text.split("\n")
    line = node.body[0].lineno
    if len(first.split()) > MAX_WORDS:
        yield Fault(line, f"the first line has more than {MAX_WORDS} words")
    if first[-1:] not in ".!?:":
        yield Fault(line, "the first line is no sentence by itself")
    if rest and rest[0]:
        yield Fault(line, "no blank line after the first")


def _faults_of_parameters(tree: ast.Module, inherited: frozenset[str]) -> Iterator[Fault]:
    for node, overrides in _public_functions(tree, inherited):
        parameters = _parameters(node)
        if len(parameters) < 2 or overrides:
            continue
        text = ast.get_docstring(node)
        line = node.lineno if text is None else node.body[0].lineno
        described = _described("" if text is None else text, "Args")
        if described is None:
            yield Fault(line, f"no Args: of {node.name}")
        elif described != parameters:
            yield Fault(line, f"Args: of {node.name} are {described}, not {parameters}")


def _faults_of_rules(tree: ast.Module) -> Iterator[Fault]:
    """Settings in the rules of a phase that `Attributes:` does not describe."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name.endswith("Rules"):
            described = _described(ast.get_docstring(node) or "", "Attributes") or []
            for field in node.body:
                if (
                    isinstance(field, ast.AnnAssign)
                    and isinstance(field.target, ast.Name)
                    and field.target.id not in described
                ):
                    yield Fault(field.lineno, f"no {field.target.id} in Attributes: of {node.name}")


def _public_functions(
    tree: ast.Module, inherited: frozenset[str]
) -> Iterator[tuple[Function, bool]]:
    """Functions and methods without an underscore, each with whether it is documented where it is
    inherited from.
    """
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for method in node.body:
                if isinstance(method, Function) and not method.name.startswith("_"):
                    overrides = any(
                        isinstance(mark, ast.Name) and mark.id == "override"
                        for mark in method.decorator_list
                    )
                    yield method, overrides or method.name in inherited
        elif isinstance(node, Function) and not node.name.startswith("_"):
            yield node, _is_command(node)


def _is_command(node: Function) -> bool:
    """Whether its docstring is the help of a command; its options have texts of their own."""
    marks = (mark.func for mark in node.decorator_list if isinstance(mark, ast.Call))
    return any(
        (isinstance(mark, ast.Name) and mark.id == "command")
        or (isinstance(mark, ast.Attribute) and mark.attr == "command")
        for mark in marks
    )


def _parameters(node: Function) -> list[str]:
    """Names of a function's parameters but for `self` and `cls`."""
    arguments = node.args
    names = [
        *(argument.arg for argument in (*arguments.posonlyargs, *arguments.args)),
        *(() if arguments.vararg is None else (arguments.vararg.arg,)),
        *(argument.arg for argument in arguments.kwonlyargs),
        *(() if arguments.kwarg is None else (arguments.kwarg.arg,)),
    ]
    return [name for name in names if name not in ("self", "cls") and not name.startswith("_")]


def _described(text: str, section_name: str) -> list[str] | None:
    """Names in a section of a docstring, as `Args`; None where it has none."""
    begin = re.search(rf"^{section_name}:$", text, re.MULTILINE)
    if begin is None:
        return None
    rest = text[begin.end() :]
    end = SECTION.search(rest)
    section = rest if end is None else rest[: end.start()]
    lines = re.findall(r"^ {4}\*{0,2}(\w+(?:, \w+)*):", section, re.MULTILINE)
    return [name for line in lines for name in line.split(", ")]


def _texts(source: str) -> Iterator[str]:
    """Strings that are statements: docstrings, and texts beneath a constant."""
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node.value.value


def methods_of_ports(folder: Path = PORTS) -> frozenset[str]:
    """Names of the methods that the ports document for all their adapters."""
    return frozenset(
        method.name
        for path in folder.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
        for method in node.body
        if isinstance(method, Function)
    )


def main(paths: Iterable[Path] = ()) -> int:
    """Print each fault of the files, or of the whole package. Returns the exit code."""
    files: Sequence[Path] = sorted(paths) or sorted(PACKAGE.rglob("*.py"))
    inherited, lines, total, words = methods_of_ports(), list[str](), 0, 0
    for path in files:
        source = path.read_text(encoding="utf-8")
        adapter = "adapters" in path.parts
        lines += [
            f"{path}:{fault.line}: {fault.text}"
            for fault in faults(source, inherited if adapter else frozenset())
        ]
        counted = pronouns(source)
        total, words = total + counted[0], words + counted[1]
    rate = 1000 * total / max(words, 1)
    if rate > MAX_PRONOUNS:
        lines.append(f"{rate:.1f} pronouns in 1,000 words, more than {MAX_PRONOUNS:g}")
    if lines:
        print("\n".join(lines))  # noqa: T201
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main([Path(name) for name in sys.argv[1:]]))
