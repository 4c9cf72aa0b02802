"""COUNT, SUM, MIN, MAX, AVG over all selected rows, and the statistics of words that a
FullTextScore needs first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.cosmos_emulator import fulltext
from tests.cosmos_emulator.copies import Partition
from tests.cosmos_emulator.refused import bad_request
from tests.cosmos_emulator.sql_eval import Compiler
from tests.cosmos_emulator.sql_functions import AGGREGATES
from tests.cosmos_emulator.sql_operators import Row
from tests.cosmos_emulator.sql_tree import ArrayOf, Call, Expression, Literal, ObjectOf, Query
from tests.cosmos_emulator.sql_values import UNDEFINED, kind, sort_key
from tests.cosmos_emulator.sql_writer import payload

STATISTICS = "_FULLTEXTSTATISTICS"


def aggregates_of(expression: Expression) -> list[Call]:
    """The aggregates in an expression of SELECT."""
    match expression:
        case Call(name, _) if name in (*AGGREGATES, STATISTICS):
            return [expression]
        case ArrayOf(members):
            return [call for member in members for call in aggregates_of(member)]
        case ObjectOf(named):
            return [call for _, member in named for call in aggregates_of(member)]
    return []


def has_aggregates(query: Query) -> bool:
    """Whether the query has one result for all its rows."""
    return bool(aggregates_of(payload(query)))


def aggregated(
    query: Query, compiler: Compiler, rows: Sequence[Row], partitions: Sequence[Partition]
) -> Any:
    """The one result."""

    def worked_out(expression: Expression) -> Expression:
        match expression:
            case Call(name, _) if name == STATISTICS:
                return Literal(_statistics(expression, compiler, partitions))
            case Call(name, _) if name in AGGREGATES:
                return Literal(_aggregate(expression, compiler, rows))
            case ArrayOf(members):
                return ArrayOf(tuple(worked_out(member) for member in members))
            case ObjectOf(named):
                return ObjectOf(tuple((name, worked_out(member)) for name, member in named))
        return expression

    return compiler.constant(worked_out(payload(query)))


def _aggregate(call: Call, compiler: Compiler, rows: Sequence[Row]) -> Any:
    if len(call.arguments) != 1:
        raise bad_request(f"{call.name} takes one argument")
    evaluate = compiler.compile(call.arguments[0])
    values = [value for row in rows if (value := evaluate(row)) is not UNDEFINED]
    if call.name == "COUNT":
        return len(values)
    if call.name in ("MIN", "MAX"):
        return (min if call.name == "MIN" else max)(values, key=sort_key, default=UNDEFINED)
    if any(kind(value) != "number" for value in values):
        return UNDEFINED
    if call.name == "SUM":
        return sum(values)
    return sum(values) / len(values) if values else UNDEFINED


def _statistics(call: Call, compiler: Compiler, partitions: Sequence[Partition]) -> dict[str, Any]:
    path = compiler.path(call.arguments[0])
    terms = [fulltext.words(term) for term in compiler.constant(call.arguments[1])]
    indexes = [partition.texts(path) for partition in partitions]
    return {
        "totalWordCount": sum(index.total_words for index in indexes),
        "hitCounts": [sum(len(index.matches(term)) for index in indexes) for term in terms],
    }
