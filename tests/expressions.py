"""Every regular expression of the package, and hostile texts for each.

Compiled ones are found by walking from every module's names; those that functions write in place
are found by their syntax trees.
"""

from __future__ import annotations

import ast
import gc
import importlib
import inspect
import pkgutil
import random
import re
import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from re import _compiler as compiler  # type: ignore[attr-defined]
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

import regex

import memory_core

PATTERNS = (re.Pattern, type(regex.compile("")))
CALLS = frozenset(
    {"compile", "search", "match", "sub", "subn", "findall", "split", "finditer", "fullmatch"}
)
LIBRARIES = re.compile(r"\bre(?:gex)?\b")
CHARACTER = (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN)
LEAF = (str, bytes, int, float, complex, bool, type(None), ModuleType)


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression and where it is."""

    where: str
    pattern: Any


@dataclass(frozen=True, slots=True)
class Inline:
    """A call of `re` or `regex` within a function: `pattern` is None where the expression is made
    of the function's own values.
    """

    where: str
    call: str
    pattern: Any


@cache
def modules() -> dict[str, ModuleType]:
    """Every module of the package by name."""
    names = [module.name for module in pkgutil.walk_packages(memory_core.__path__, "memory_core.")]
    return {name: importlib.import_module(name) for name in ["memory_core", *names]}


@cache
def compiled() -> list[Expression]:
    """Every compiled expression that a module keeps."""
    seen: set[int] = set()
    return [expression for module in modules().values() for expression in patterns_of(module, seen)]


def patterns_of(module: ModuleType, seen: set[int]) -> list[Expression]:
    """What can be reached from a module's names: globals, class attributes, containers,
    instances, closures, defaults. What other modules have led to is `seen` already.
    """
    expressions: list[Expression] = []
    left: list[tuple[str, Any]] = [
        (f"{module.__name__}.{key}", value)
        for key, value in vars(module).items()
        if key != "__builtins__"
    ]
    while left:
        where, value = left.pop()
        if id(value) in seen or isinstance(value, LEAF) or _is_foreign(value):
            continue
        seen.add(id(value))
        if isinstance(value, PATTERNS):
            expressions.append(Expression(where, value))
        elif isinstance(value, types.FunctionType):
            left += [
                (where, part)
                for part in (
                    value.__closure__,
                    value.__defaults__,
                    value.__kwdefaults__,
                    value.__dict__,
                )
            ]
        else:
            left += [(where, referent) for referent in gc.get_referents(value)]
    return expressions


def _is_foreign(value: Any) -> bool:
    """Whether it is a class or a function of another package."""
    return isinstance(value, (type, types.FunctionType)) and not (
        value.__module__ or ""
    ).startswith(("memory_core", "tests"))


@cache
def inline() -> list[Inline]:
    """The calls of `re` and `regex` within functions."""
    return [call for module in modules().values() for call in calls_in(module, tree_of(module))]


def imported_names() -> list[str]:
    """Modules that import functions of `re` or `regex` by name, or under another name:
    their calls would be overlooked here.
    """
    hidden = []
    for name, module in modules().items():
        for node in ast.walk(tree_of(module)):
            if isinstance(node, ast.ImportFrom) and node.module in ("re", "regex"):
                hidden.append(name)
            if isinstance(node, ast.Import) and any(
                alias.name in ("re", "regex") and alias.asname for alias in node.names
            ):
                hidden.append(name)
    return hidden


def tree_of(module: ModuleType) -> ast.Module:
    """The syntax of a module that names `re` or `regex`; of any other, an empty one."""
    source = Path(inspect.getsourcefile(module) or "").read_text(encoding="utf-8")
    return ast.parse(source if LIBRARIES.search(source) else "")


def calls_in(module: ModuleType, tree: ast.Module) -> Iterator[Inline]:
    """The calls of `re` and `regex` within a module's functions."""
    left: list[tuple[ast.AST, str | None]] = [(tree, None)]
    while left:
        node, function = left.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function = node.name
        elif isinstance(node, ast.Lambda):
            function = function or "lambda"
        if isinstance(node, ast.Call) and function and _library(node) and node.args:
            yield Inline(f"{module.__name__}.{function}", node.func.attr, _evaluated(module, node))  # type: ignore[attr-defined]
        left += [(child, function) for child in ast.iter_child_nodes(node)]


def _library(node: ast.Call) -> str | None:
    function = node.func
    named = (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.attr in CALLS
    )
    return function.value.id if named and function.value.id in ("re", "regex") else None  # type: ignore[attr-defined]


def _evaluated(module: ModuleType, node: ast.Call) -> Any:
    """The expression of a call, compiled with its flags; None when it needs a value that only the
    function has.
    """
    flags = [word.value for word in node.keywords if word.arg == "flags"]
    place = 1 if node.func.attr == "compile" else 3 if node.func.attr.startswith("sub") else 2  # type: ignore[attr-defined]
    if node.func.attr not in ("sub", "subn", "split"):  # type: ignore[attr-defined]
        flags += node.args[place : place + 1]
    try:
        text, *given = (_value(module, each) for each in [node.args[0], *flags])
    except NameError:
        return None
    return (re if _library(node) == "re" else regex).compile(text, *given)


def _value(module: ModuleType, node: ast.expr) -> Any:
    return eval(compile(ast.Expression(node), module.__name__, "eval"), vars(module))


RUNS = [
    *". \n\taA1_-'’\"“`<>()[]{},:;/\\@#*=+!?…。日あア한й",
    "a.", "a ", "A ", "a_", "1,", "1.", "a-", "a'", "1 ", ". ", " .", "..a", " \n", "a\n", "> a\n",
    "'a", '"a', "“a", "(a", "(1", "<a", "</", "{a:", "[a", "a@", "日a", "aA", "::", "a: b\n",
    "also ", "now ", "do ", "as ", "I ", "my ", "and ", "the ", "oh no ", "A. ", "http://a/",
]  # fmt: skip
CHARACTERS = frozenset("".join(RUNS))
SPOILERS = ("", "a", "\x01")
MOST_PUMPS = 12
"""Of one expression; the draws find the same ones again and again."""


@cache
def hostile(pattern: Any) -> list[tuple[str, str, str]]:
    """(before, pumped, after): runs of each kind of character, and of what each part of the
    expression takes, and what spoils them.

    Note: of a run from which no endless part takes a character, each place costs at most as much as
    the bounded parts: it is left out.
    """
    taken = _taken_endlessly(pattern)
    texts = {
        (before, pumped, after): None for before, pumped in _pumps(pattern) for after in SPOILERS
    }
    texts |= {
        ("", run, after): None
        for run in RUNS
        if not taken.isdisjoint(run)
        for after in ("", "\x01")
    }
    return list(texts)


@cache
def is_bounded(pattern: Any) -> bool:
    """Whether no part of the expression may repeat without end: then each place of a text costs as
    much as any other.
    """
    return isinstance(pattern, re.Pattern) and not any(
        most == codes.MAXREPEAT for most in _limits(_tree_of(pattern))
    )


def _taken_endlessly(pattern: Any) -> frozenset[str]:
    """Which characters of the runs some part takes that may repeat without end."""
    if not isinstance(pattern, re.Pattern):
        return CHARACTERS
    tree = _tree_of(pattern)
    leaves = [leaf for body in _endless(tree) for leaf in _leaves(body)]
    if any(code in (codes.GROUPREF, codes.GROUPREF_IGNORE) for code, _ in leaves):
        return CHARACTERS
    kinds = {repr(leaf): leaf for leaf in leaves if leaf[0] in CHARACTER}
    takers = [
        _matcher(tree, leaf, flags)
        for leaf in kinds.values()
        for flags in (0, re.IGNORECASE | re.DOTALL)
    ]
    return frozenset(each for each in CHARACTERS if any(taker.match(each) for taker in takers))


def _endless(tree: Any) -> Iterator[Any]:
    """The parts that may repeat without end."""
    for code, argument in tree:
        if (
            code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
            and argument[1] == codes.MAXREPEAT
        ):
            yield argument[2]
        for inner in _inner(code, argument):
            yield from _endless(inner)


def _leaves(tree: Any) -> Iterator[Any]:
    """All that a parsed part is made of."""
    for code, argument in tree:
        yield code, argument
        for inner in _inner(code, argument):
            yield from _leaves(inner)


def _matcher(tree: Any, leaf: Any, flags: int) -> re.Pattern[str]:
    """An expression of one character; flags: beside those of the whole, since a part may have
    some of its own.
    """
    own = parser.SubPattern(tree.state, [leaf])
    matcher: re.Pattern[str] = compiler.compile(
        own, (tree.state.flags | flags) & ~(re.ASCII | re.LOCALE) | re.UNICODE
    )
    return matcher


def repeats_more_than_a_character(pattern: Any) -> bool:
    """Whether a possessive quantifier repeats more than one character: CPython before 3.11.5 then
    keeps what a repetition that failed had taken.
    """
    return isinstance(pattern, re.Pattern) and any(
        code is codes.POSSESSIVE_REPEAT and [part in CHARACTER for part, _ in argument[2]] != [True]
        for code, argument in _leaves(_tree_of(pattern))
    )


def _limits(tree: Any) -> Iterator[int]:
    """The most repetitions of each repeated part."""
    for code, argument in tree:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            yield argument[1]
        for inner in _inner(code, argument):
            yield from _limits(inner)


def _inner(code: Any, argument: Any) -> list[Any]:
    """The parts of a parsed part."""
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        return [argument[2]]
    if code is codes.SUBPATTERN:
        return [argument[3]]
    if code is codes.ATOMIC_GROUP:
        return [argument]
    if code is codes.BRANCH:
        return list(argument[1])
    if code in (codes.ASSERT, codes.ASSERT_NOT):
        return [argument[1]]
    if code is codes.GROUPREF_EXISTS:
        return [part for part in argument[1:] if part]
    return []


def _literals(tree: Any) -> Iterator[str]:
    """The characters that the expression names by themselves."""
    for code, argument in tree:
        if code is codes.LITERAL:
            yield chr(argument)
        for inner in _inner(code, argument):
            yield from _literals(inner)


def _takes_any(body: Any) -> bool:
    """Whether what repeats is one character, of all but a few."""
    code, argument = body[0]
    return len(body) == 1 and (
        code is codes.ANY or (code is codes.IN and argument[0][0] is codes.NEGATE)
    )


@cache
def _tree_of(pattern: re.Pattern[Any]) -> Any:
    text = (
        pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    )
    return parser.parse(
        text, pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    )


def _pumps(pattern: Any) -> list[tuple[str, str]]:
    """What each repetition of the expression takes, after what comes before it,
    and together with that.
    """
    if not isinstance(pattern, re.Pattern):
        return []
    tree = _tree_of(pattern)
    pairs: dict[tuple[str, str], None] = {}
    marks = sorted({mark for mark in _literals(tree) if not mark.isalnum()})[:6]
    draw = random.Random(24)
    for _ in range(2):
        for before, body in _repeats(tree, "", draw):
            taken = _sample(body, draw)
            pairs |= {(before, mark): None for mark in marks if _takes_any(body)}
            if taken:
                pairs |= {("", taken): None, (before, taken): None, ("", before + taken): None}
        whole = _sample(tree, draw)
        pairs |= {("", part): None for part in (whole, whole[:-1], whole[1:]) if part}
    return list(pairs)[:MOST_PUMPS]


def _repeats(tree: Any, before: str, draw: random.Random) -> Iterator[tuple[str, Any]]:
    """What comes before each repeated part, and that part."""
    for code, argument in tree:
        if (
            code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
            and argument[1] > 3
        ):
            yield before, argument[2]
        for inner in _inner(code, argument):
            yield from _repeats(inner, before, draw)
        before += _sample([(code, argument)], draw)


def _sample(tree: Any, draw: random.Random) -> str:
    """A text that the parsed expression takes, but for look-arounds."""
    parts: list[str] = []
    for code, argument in tree:
        if code is codes.LITERAL:
            parts.append(chr(argument))
        elif code in (codes.NOT_LITERAL, codes.ANY):
            parts.append(draw.choice("a 1."))
        elif code is codes.IN:
            parts.append(_member(argument, draw))
        elif code is codes.BRANCH:
            parts.append(_sample(draw.choice(argument[1]), draw))
        elif code is codes.SUBPATTERN:
            parts.append(_sample(argument[3], draw))
        elif code is codes.ATOMIC_GROUP:
            parts.append(_sample(argument, draw))
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            least, most = argument[0], min(argument[1], argument[0] + 2)
            parts += [
                _sample(argument[2], draw)
                for _ in range(draw.randint(max(least, min(1, most)), most))
            ]
    return "".join(parts)


def _member(argument: Any, draw: random.Random) -> str:
    negated = argument[0][0] is codes.NEGATE
    text = "".join(_class(code, value) for code, value in argument)
    if not negated:
        return draw.choice(text) if text else "a"
    other = [
        character for character in "a1 .\n,-\"'日" if not re.match(_negation(argument), character)
    ]
    return draw.choice(other) if other else "§"


def _class(code: Any, value: Any) -> str:
    if code is codes.LITERAL:
        return chr(value)
    if code is codes.RANGE:
        return chr(value[0]) + chr(value[1])
    return {
        codes.CATEGORY_DIGIT: "1", codes.CATEGORY_SPACE: " ", codes.CATEGORY_WORD: "a",
        codes.CATEGORY_NOT_DIGIT: "a", codes.CATEGORY_NOT_SPACE: "a", codes.CATEGORY_NOT_WORD: ". ",
    }.get(value, "") if code is codes.CATEGORY else ""  # fmt: skip


def _negation(argument: Any) -> str:
    """What a negated class leaves out, as an expression."""
    names = {
        codes.CATEGORY_DIGIT: r"\d", codes.CATEGORY_SPACE: r"\s", codes.CATEGORY_WORD: r"\w",
        codes.CATEGORY_NOT_DIGIT: r"\D", codes.CATEGORY_NOT_SPACE: r"\S",
        codes.CATEGORY_NOT_WORD: r"\W",
    }  # fmt: skip
    parts = []
    for code, value in argument[1:]:
        if code is codes.LITERAL:
            parts.append(re.escape(chr(value)))
        elif code is codes.RANGE:
            parts.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
        elif code is codes.CATEGORY:
            parts.append(names[value])
    return f"[{''.join(parts)}]" if parts else r"(?!)"
