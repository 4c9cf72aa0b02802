"""Refuse private words in Python code and its docstrings: `python -m tests.private_words`.

Two things are refused: names bound in code that are pronouns or bare participles (`one`, `held`,
`told`), where a noun of what it is would tell more; and words of docstrings and comments that this
project uses in a sense of its own, for which docs/glossary.md has the standard ones.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = tuple(
    ROOT / name
    for name in ("memory_core", "bench", "deployment", "examples", "memory_core_client", "tests")
)
NAMES = frozenset(
    [
        "one",
        "ones",
        "found",
        "held",
        "told",
        "said",
        "kept",
        "shown",
        "who",
        "whoever",
        "what",
        "somebody",
        "nobody",
    ]
)
PHRASES = re.compile(
    r"\b(?:get wrong|gets wrong|anew|passed over|told meanwhile|holds? again|rises|whoever|somebody"
    r"|nobody"
    r"|stands(?! (?:for|in for)\b)"  # "stands for" is as good English as "means"
    r"|falls(?! (?:back|below|on|under|within|to a half)\b)|has fallen|have fallen)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PrivateWord:
    """A word, and the line that it is in."""

    line: int
    word: str


def private_words(source: str) -> list[PrivateWord]:
    """The private words of a Python file, in the order of its lines."""
    nodes = list(ast.walk(ast.parse(source)))
    words = [*_bound_names(nodes), *_words_of_prose(source, nodes)]
    return sorted(words, key=lambda word: (word.line, word.word))


def _bound_names(nodes: Iterable[ast.AST]) -> Iterator[PrivateWord]:
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in NAMES:
            yield PrivateWord(node.lineno, node.id)
        elif isinstance(node, ast.arg) and node.arg in NAMES:
            yield PrivateWord(node.lineno, node.arg)


def _words_of_prose(source: str, nodes: Iterable[ast.AST]) -> Iterator[PrivateWord]:
    for line, text in (*_docstrings(nodes), *_comments(source)):
        # a phrase may run over the end of a line
        for match in PHRASES.finditer(re.sub(r"\s", " ", text)):
            yield PrivateWord(line + text.count("\n", 0, match.start()), match[0].lower())


def _docstrings(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Strings that are statements: docstrings, and texts beneath a constant. With the line in which
    each begins.
    """
    for node in nodes:
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node.lineno, node.value.value


def _comments(source: str) -> Iterator[tuple[int, str]]:
    """Comments with their lines; none of a file that has no phrase after any "#", since taking a
    file apart is most of the work.
    """
    after_marks = (re.sub(r"\s", " ", line.partition("#")[2]) for line in source.split("\n"))
    if not any(map(PHRASES.search, after_marks)):
        return
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def words_by_file(folder: Path) -> dict[str, list[PrivateWord]]:
    """The private words of every Python file under a folder, by its path from the folder's parent
    on; files without any are left out.
    """
    words = {
        path.relative_to(folder.parent).as_posix(): private_words(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.py"))
    }
    return {path: words_of_file for path, words_of_file in words.items() if words_of_file}


def main(folders: Sequence[Path] = FOLDERS) -> int:
    """Print each private word of the folders with its file and line. Returns the exit code:
    1 where there is any.
    """
    lines = [
        f"{path}:{word.line}: {word.word}"
        for folder in folders
        for path, words_of_file in words_by_file(folder).items()
        for word in words_of_file
    ]
    if lines:
        print("\n".join(lines))  # noqa: T201
        print("Name what it is, in words of docs/glossary.md.")  # noqa: T201
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
