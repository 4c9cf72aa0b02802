"""The query language of the Cosmos DB emulator: what it reads, what it makes of it,
and what it refuses.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cosmos_emulator.policies import Policies
from tests.cosmos_emulator.refused import Refused
from tests.cosmos_emulator.sql_eval import Compiler
from tests.cosmos_emulator.sql_lexer import tokens
from tests.cosmos_emulator.sql_operators import OPERATORS
from tests.cosmos_emulator.sql_parser import parse
from tests.cosmos_emulator.sql_tree import (
    ArrayOf,
    Call,
    Expression,
    Literal,
    ObjectOf,
    Operation,
    Parameter,
    Reference,
)
from tests.cosmos_emulator.sql_values import UNDEFINED, sort_key
from tests.cosmos_emulator.sql_writer import write

POLICIES = Policies(
    {"id": "c", "partitionKey": {"paths": ["/owner"], "kind": "Hash", "version": 2}}
)


def value_of(text: str, body: dict[str, Any] | None = None, **parameters: Any) -> Any:
    query = parse(f"SELECT VALUE {text} FROM c")
    compiler = Compiler(query, {f"@{name}": value for name, value in parameters.items()}, POLICIES)
    return compiler.compile(query.select[0].expression)({"c": body or {}})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 4 - 3", 3),
        ("-2 + 5", 3),
        ("1 / 0", UNDEFINED),
        ("1 < 2 AND 2 < 3", True),
        ("true OR false AND false", True),
        ("NOT 1 = 2 AND true", True),
        ("NOT (1 = 1 AND true)", False),
        ("5 BETWEEN 1 AND 5 AND true", True),
        ("5 NOT BETWEEN 1 AND 5", False),
        ("'b' IN ('a', 'b')", True),
        ("3 NOT IN (1, 2)", True),
        ("'a' || 'b'", "ab"),
        ("undefined ?? 'x'", "x"),
        ("null ?? 'x'", None),
        ("1 = 1 ? 'yes' : 'no'", "yes"),
        ("1 <> 1.0", False),
    ],
)
def test_operators_bind_as_in_the_service(text: str, expected: Any) -> None:
    assert value_of(text) == expected or value_of(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("c.missing = 1", UNDEFINED),
        ("c.missing != 1", UNDEFINED),
        ("NOT c.missing", UNDEFINED),
        ("c.missing = 1 AND false", False),
        ("false AND c.missing", False),
        ("c.missing = 1 AND true", UNDEFINED),
        ("c.missing = 1 OR true", True),
        ("c.missing OR false", UNDEFINED),
        ("c.missing IN (1, 2)", UNDEFINED),
        ("c.missing BETWEEN 1 AND 2", UNDEFINED),
        ("c.nothing = null", True),
        ("c.nothing = 'x'", False),
        ("c.nothing < 1", UNDEFINED),
        ("c.number < 'a'", UNDEFINED),
        ("c.number = '1'", False),
        ("c.number = true", False),
        ("IS_DEFINED(c.nothing)", True),
        ("IS_NULL(c.missing)", False),
    ],
)
def test_undefined_is_a_third_truth(text: str, expected: Any) -> None:
    assert value_of(text, {"nothing": None, "number": 1}) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('c.a.b[1]["long name"]', "here"),
        ("c.a.b[9]", UNDEFINED),
        ("c.a.b.c", UNDEFINED),
        ("c['a']['b'][0]", 0),
        ("c.a.b[@n]", 0),
        ("ARRAY_LENGTH(c.a.b)", 2),
        ("ARRAY_LENGTH(c.a)", UNDEFINED),
        ("LOWER('ÄB')", "äb"),
        ("LOWER(1)", UNDEFINED),
        ("CONTAINS('Morning', 'morn')", False),
        ("CONTAINS('Morning', 'morn', true)", True),
        ("STARTSWITH(c.missing, 'a')", UNDEFINED),
        ("ARRAY_CONTAINS([1, {'x': 1, 'y': 2}], {'x': 1})", False),
        ("ARRAY_CONTAINS([1, {'x': 1, 'y': 2}], {'x': 1}, true)", True),
        ("ARRAY_CONTAINS([true], 1)", False),
        ("FullTextContains('Tea in the morning', 'the morning')", True),
        ("FullTextContains('Tea in the morning', 'morning the')", False),
        ("FullTextContainsAll('tea and cups', 'TEA', 'cups')", True),
        ("{'kept': 1, 'dropped': c.missing}", {"kept": 1}),
        ("[1, c.missing, 2]", [1, 2]),
    ],
)
def test_paths_functions_and_constructors(text: str, expected: Any) -> None:
    body = {"a": {"b": [0, {"long name": "here"}]}}
    assert value_of(text, body, n=0) == expected


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ("'it\\'s'", "it's"),
        ('"it\'s"', "it's"),
        ("'say \"so\"'", 'say "so"'),
        ("'a\\\\b'", "a\\b"),
        ("'\\u00e9\\n'", "é\n"),
        ("1.5e3", 1500.0),
        (".5", 0.5),
    ],
)
def test_literals(literal: str, expected: Any) -> None:
    assert tokens(literal)[0].value == expected


@given(st.text())
def test_any_text_survives_as_a_literal_and_as_a_parameter(text: str) -> None:
    assert value_of(write(Literal(text))) == text
    assert value_of("@given", given=text) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "SELECT",
        "SELECT FROM c",
        "SELECT * FROM c WHERE",
        "SELECT * FROM c WHERE c.a =",
        "SELECT * FROM c ORDER c.a",
        "SELECT * FROM c LIMIT 1",
        "SELECT * FROM c GROUP BY c.a",
        "SELECT * FROM c WHERE c.a = 'open",
        "SELECT c.a; DROP",
        "SELECT (1 FROM c",
    ],
)
def test_what_is_no_query_is_refused_with_the_place(text: str) -> None:
    with pytest.raises(Refused, match="Syntax error"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("other.a", "could not be resolved"),
        ("NO_SUCH(c.a)", "not a recognized"),
        ("LOWER(c.a, c.b, c.d)", None),
        ("@absent", "is not given"),
        ("ARRAY_LENGTH()", "does not take 0 arguments"),
        ("FullTextScore(c.a, 'x')", "ORDER BY RANK"),
    ],
)
def test_what_means_nothing_is_refused(text: str, says: str | None) -> None:
    if says is None:
        assert value_of(text) is UNDEFINED
        return
    with pytest.raises(Refused, match=says):
        value_of(text)


def test_clauses_land_where_they_belong() -> None:
    query = parse(
        "select distinct top 5 value c.id from memories as c join t in c.tags where c.a = @a order "
        "by c.s desc, c.id offset 2 limit @n"
    )
    assert (query.distinct, query.value, query.alias) == (True, True, "c")
    assert query.top == Literal(5)
    assert query.joins == [("t", Reference("c", ("tags",)))]
    assert query.where == Operation("=", (Reference("c", ("a",)), Parameter("@a")))
    assert [(listed.expression, listed.descending) for listed in query.order] == [
        (Reference("c", ("s",)), True),
        (Reference("c", ("id",)), False),
    ]
    assert (query.offset, query.limit) == (Literal(2), Parameter("@n"))


def test_columns_are_named_by_their_last_step_or_as_they_are_told() -> None:
    query = parse("SELECT c.a.b, c['d'] AS e, c.value, LOWER(c.f) FROM c")
    assert [listed.name for listed in query.select] == ["b", "e", "value", ""]


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(0, 2**31), st.text(max_size=5), st.just(UNDEFINED)
).map(Literal)
NAMES = st.from_regex(r"[a-z]{1,5}_", fullmatch=True)
LEAVES = st.one_of(
    SCALARS,
    NAMES.map(lambda name: Parameter(f"@{name}")),
    st.builds(
        Reference, NAMES, st.lists(st.one_of(NAMES, st.integers(0, 9)), max_size=3).map(tuple)
    ),
)
BINARY = sorted({"AND", "OR", *OPERATORS} - {"NOT", "NEGATE", "BETWEEN", "?"})


def _larger(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.one_of(
        st.builds(
            lambda operator, left, right: Operation(operator, (left, right)),
            st.sampled_from(BINARY),
            inner,
            inner,
        ),
        st.builds(lambda operand: Operation("NOT", (operand,)), inner),
        st.builds(
            lambda left, rest: Operation("IN", (left, *rest)),
            inner,
            st.lists(inner, min_size=1, max_size=3),
        ),
        st.builds(lambda *three: Operation("BETWEEN", three), inner, inner, inner),
        st.builds(lambda *three: Operation("?", three), inner, inner, inner),
        st.builds(
            lambda name, arguments: Call(name.upper(), tuple(arguments)),
            NAMES,
            st.lists(inner, max_size=3),
        ),
        st.lists(inner, max_size=3).map(lambda members: ArrayOf(tuple(members))),
        st.lists(st.tuples(st.text(max_size=5), inner), max_size=3).map(
            lambda members: ObjectOf(tuple(members))
        ),
    )


@given(st.recursive(LEAVES, _larger, max_leaves=12))
def test_what_is_written_reads_back_as_the_same(expression: Expression) -> None:
    """A plan sends rewritten text to every range: it has to mean what the query meant."""
    assert parse(f"SELECT VALUE {write(expression)} FROM c").select[0].expression == expression


@given(
    st.lists(
        st.one_of(
            st.none(),
            st.booleans(),
            st.integers(),
            st.text(),
            st.lists(st.integers()),
            st.just(UNDEFINED),
        )
    )
)
def test_values_of_all_types_have_one_order(values: list[Any]) -> None:
    kinds = [sort_key(value)[0] for value in sorted(values, key=sort_key)]
    assert kinds == sorted(kinds)
