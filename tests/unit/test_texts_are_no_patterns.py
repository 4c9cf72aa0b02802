"""No text of a user becomes a pattern or a template, read off the syntax tree of the whole package.

A replacement of `sub` is a constant or a function. A pattern made from variables escapes them, or
is made of constants of its module. A template of `format` is a constant. What can't be seen that
way is listed with its reason.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

import memory_core

ROOT = Path(memory_core.__file__).parent
PATTERN_MAKERS = {
    "compile",
    "search",
    "match",
    "fullmatch",
    "finditer",
    "findall",
    "split",
    "sub",
    "subn",
}
REASONS = {
    (
        "domain/statements/exclusive_instructions.py: re.compile('|'.join(map(_written, "
        "sorted(kind, key=len, reverse=True))))"
    ): "spellings of its own module, each escaped",
    "adapters/offline/casual.py: expression.sub(written, plain)": (
        "a table of its own module, of constants"
    ),
    "domain/text/spelled_out.py: expression.sub(written, plain)": (
        "a table of its own module, of constants"
    ),
    "domain/statements/first_person.py: expression.sub(words, spoken)": (
        "a table of its own module, of constants"
    ),
    (
        'domain/redaction/named_secrets.py: re.compile(f"""(?<![\\\\w-])--(?:[a-z0-9]{{1,20}}-){{0,3}}(?:{nam'  # noqa: E501
        'es})\\\\s{{1,3}}[\\\\"\']?([^\\\\s\\\\"\'<>]{{4,500}})""")'
    ): "called with constants, by its own module",
    (
        "domain/redaction/named_secrets.py: "
        "re.compile(f'(?:{names})(?i:{_SUFFIX}{_TAG_ENDS})\\\\s{{0,3}}([^\\\\s<>]{{4,500}})\\\\s{{0,3}}</')"
    ): "called with constants, by its own module",
    "domain/redaction/named_secrets.py: re.compile(f'(?:{names})(?i:{_SUFFIX})\\\\Z')": (
        "called with constants, by its own module"
    ),
    "domain/redaction/said_secrets.py: re.compile(f'(?:{nouns})(?i:{_SAID})')": (
        "called with constants, by its own module"
    ),
    "domain/redaction/named_secrets.py: re.compile(f'(?:{names})(?i:{_SUFFIX}{_VALUE})')": (
        "called with constants, by its own module"
    ),
    "domain/redaction/issued_keys.py: re.compile(BEFORE + expression)": "the rows of its table",
    "domain/statements/change_sentences.py: re.compile(''.join(lower), cue.flags & ~re.IGNORECASE)": "of its own constants",  # noqa: E501
    "domain/statements/change_phrases.py: re.compile(expression, re.IGNORECASE)": (
        "called with constants, by its own module"
    ),
    "domain/statements/change_topics.py: re.compile(holds, re.IGNORECASE)": (
        "called with constants, by its own module"
    ),
    "domain/statements/change_topics.py: re.compile(changes, re.IGNORECASE)": (
        "called with constants, by its own module"
    ),
    "adapters/offline/announced_facts.py: expression.sub(turned, words)": "both stand in its table",
    "domain/text/foreign_dates.py: expression.sub(turned, text)": "both stand in its tables",
    "domain/text/foreign_dates.py: re.compile(f'\\\\b(?:{expression})\\\\b', re.IGNORECASE)": (
        "called with constants, by its own module"
    ),
    "domain/ranking/questions.py: re.compile('|'.join((*_ENGLISH, *_GERMAN, *_JAPANESE)), re.IGNORECASE)": "of its own constants",  # noqa: E501
    "adapters/offline/clauses.py: pattern.sub(written, plain)": "both stand in _CONTRACTIONS",
    "adapters/offline/behaviour.py: re.compile(f'\\\\b(?:{words})\\\\b', re.IGNORECASE)": (
        "called with constants, by its own module"
    ),
    "adapters/offline/foresight.py: re.compile(f'\\\\b(?:{expression})\\\\b', re.IGNORECASE)": (
        "called with constants only"
    ),
    "adapters/offline/retractions.py: re.compile(f'\\\\A{expression}$')": (
        "expression runs through constants"
    ),
    (
        "adapters/offline/fact_patterns.py: re.compile(f'\\\\A(?:{phrase})\\\\s*+', re.IGNORECASE "
        "if 'foreign' in self.of else 0)"
    ): "the rows of its table",
    "adapters/openai/chat.py: re.search(f'\\\\b{name}\\\\b', named)": "name is one of _OPTIONAL",
    "domain/importance.py: re.compile(f'(?<!\\\\w)(?:{phrases})(?!\\\\w)')": (
        "phrases are escaped in the line before"
    ),
    "adapters/offline/fact_matches.py: row.attribute.format(**{**parts, 'value': value.lower()})": "the rows of a table",  # noqa: E501
    "adapters/offline/fact_matches.py: row.template.format(**parts)": "the rows of a table",
    "adapters/offline/fact_matches.py: row.filled.format(value=value, of=of)": "the rows of a table",  # noqa: E501
    "adapters/offline/clause_facts.py: re.compile(self.pattern)": "the rows of its tables",
    "adapters/offline/clause_facts.py: row.subject.format(**parts)": "the rows of its tables",
    "adapters/offline/clause_facts.py: row.filled.format(value=value, of=groups.get('of', ''))": "the rows of its tables",  # noqa: E501
    "adapters/offline/clause_facts.py: row.attribute.format(**parts)": "the rows of its tables",
    (
        "domain/statements/short_answers.py: re.compile(f'(?:\\\\A|[、。！!])"
        "(?:では、?|それで|ちなみに、?)?(?:{expression}){_JA}')"
    ): "the rows of its tables",
    (
        "domain/statements/short_answers.py: "
        "re.compile(f'{_CLAUSE}(?:{expression}){_TAIL}', re.IGNORECASE)"
    ): "the rows of its tables",
    "domain/statements/short_answers.py: row.sentence.format(value, **match.groupdict())": "the rows of its tables",  # noqa: E501
    "domain/statements/short_answers.py: affirmed.format(**asked)": "the rows of its tables",
    "domain/statements/short_answers.py: denied.format(**asked)": "the rows of its tables",
    "adapters/offline/omissions.py: expression.sub(written, sentence, count=1)": "a table's words",
    "adapters/offline/omissions.py: is_in.sub(written, sentence[end:], count=1)": "a table's words",
    "domain/statements/worth.py: regex.compile(expression, regex.IGNORECASE)": "the rows of a table",  # noqa: E501
    "domain/statements/answers_for_others.py: expression.sub(written, turned)": (
        "the rows of a table"
    ),
    "adapters/offline/second_language.py: expression.sub(written, text)": "the rows of a table",
    "domain/statements/answers_for_others.py: re.compile(expression)": "the rows of a table",
    "domain/statements/answers_for_others.py: re.compile(expression, re.IGNORECASE)": (
        "the rows of a table"
    ),
    "domain/statements/answers_for_others.py: written.format(**match.groupdict())": (
        "the rows of a table; what is put in has no field"
    ),
    "domain/statements/worth.py: regex.compile(hint, regex.IGNORECASE)": "the rows of a table",
}


@pytest.fixture(scope="module")
def made_of_texts() -> set[str]:
    """Every suspect of the package, with the path of its module."""
    paths = sorted(ROOT.rglob("*.py"))
    return {
        f"{path.relative_to(ROOT)}: {call}"
        for path in paths
        for call in suspects(ast.parse(path.read_text()))
    }


def is_constant(node: ast.expr) -> bool:
    """A literal, a name in capitals, or put together from these, `replace` and
    `join` among them.
    """
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Name):
        return node.id.isupper()
    if isinstance(node, ast.JoinedStr):
        return all(
            is_constant(part.value) for part in node.values if isinstance(part, ast.FormattedValue)
        )
    if isinstance(node, ast.IfExp):
        return is_constant(node.body) and is_constant(node.orelse)
    if isinstance(node, ast.BinOp):
        return is_constant(node.left) and is_constant(node.right)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("replace", "join")
    ):
        return all(is_constant(argument) for argument in (node.func.value, *node.args))
    return False


def is_escaped(node: ast.expr) -> bool:
    """A constant, `re.escape` of anything, or several of either joined by a constant."""
    if is_constant(node):
        return True
    if isinstance(node, ast.JoinedStr):
        return all(
            is_escaped(part.value) for part in node.values if isinstance(part, ast.FormattedValue)
        )
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if ast.unparse(node.func) == "re.escape":
        return True
    if node.func.attr == "join" and is_constant(node.func.value):
        joined = node.args[0]
        mapped = (
            isinstance(joined, ast.Call)
            and ast.unparse(joined.func) == "map"
            and ast.unparse(joined.args[0]) == "re.escape"
        )
        return (
            mapped
            or is_constant(joined)
            or (isinstance(joined, ast.GeneratorExp) and is_escaped(joined.elt))
        )
    return False


def is_replacement(node: ast.expr, functions: Collection[str]) -> bool:
    """A constant or a function."""
    return (
        is_constant(node)
        or isinstance(node, ast.Lambda)
        or (isinstance(node, ast.Name) and node.id in functions)
    )


def suspects(tree: ast.Module) -> Iterator[str]:
    """Calls whose pattern or template may be a text of a user."""
    functions = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        name, receiver, arguments = node.func.attr, node.func.value, node.args
        of_module = ast.unparse(receiver) in ("re", "regex")
        makes_pattern = (
            of_module
            and name in PATTERN_MAKERS
            and bool(arguments)
            and not is_escaped(arguments[0])
        )
        replaces = (
            name in ("sub", "subn")
            and len(arguments) > of_module
            and not is_replacement(arguments[of_module], functions)
        )
        if (
            makes_pattern
            or replaces
            or (name in ("format", "format_map") and not is_constant(receiver))
        ):
            yield ast.unparse(node)


def test_no_pattern_and_no_template_is_made_of_a_text(made_of_texts: set[str]) -> None:
    assert made_of_texts - REASONS.keys() == set()


def test_every_reason_is_still_needed(made_of_texts: set[str]) -> None:
    assert REASONS.keys() - made_of_texts == set()


@pytest.mark.parametrize(
    "code",
    [
        "re.sub(r'\\bI\\b', who, told)",
        "_I.sub(who, told)",
        "re.search(who, told)",
        "re.compile(rf'\\b{who}\\b')",
        "re.compile('|'.join(names))",
        "regex.findall(f'{who}', told)",
        "text.format(value=1)",
        "text.format_map(values)",
        "f'{who} lives'.format()",
    ],
)
def test_what_it_is_to_find_it_finds(code: str) -> None:
    assert list(suspects(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "re.sub('a', 'b', told)",
        "_I.sub(lambda match: who, told)",
        "re.search(re.escape(who), told)",
        "re.compile(rf'\\b(?:{_FORMS}|{re.escape(who)})\\b')",
        "re.compile('|'.join(map(re.escape, names)))",
        "'{}'.format(who)",
        "_TEXT.format(who)",
    ],
)
def test_what_is_safe_it_lets_pass(code: str) -> None:
    assert not list(suspects(ast.parse(code)))
