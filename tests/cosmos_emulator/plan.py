"""Query plans: what the SDK asks for when one request can not answer, and runs itself,
range by range.

It sends the rewritten query to each range, merges the ordered streams (or adds up the aggregates,
or fuses the ranks) and applies TOP, OFFSET and LIMIT again.
"""

from __future__ import annotations

from typing import Any

from tests.cosmos_emulator.aggregates import aggregates_of
from tests.cosmos_emulator.keys import canonical
from tests.cosmos_emulator.policies import Policies
from tests.cosmos_emulator.query import SCORES, check_search_terms, score_calls
from tests.cosmos_emulator.refused import bad_request
from tests.cosmos_emulator.sql_eval import Compiler
from tests.cosmos_emulator.sql_tree import (
    Call,
    Expression,
    Literal,
    Operation,
    Parameter,
    Query,
    Reference,
)
from tests.cosmos_emulator.sql_values import UNDEFINED
from tests.cosmos_emulator.sql_writer import payload, write, write_from, write_where

DOCUMENTS = "{documentdb-formattablehybridsearchquery-totaldocumentcount}"
WORDS = "{{documentdb-formattablehybridsearchquery-totalwordcount-{0}}}"
HITS = "{{documentdb-formattablehybridsearchquery-hitcountsarray-{0}}}"
NAMES = {"COUNT": "Count", "SUM": "Sum", "MIN": "Min", "MAX": "Max", "AVG": "Average"}
COMPONENT_TOP = 120
"""How many of each component are fused at least."""
NO_SCORE = 999_999
"""What ranks a document last that has no vector."""


def needs_plan(query: Query) -> bool:
    """Whether a query over more than one partition key needs the client's help."""
    merged = (
        query.order
        or query.distinct
        or query.rank is not None
        or query.top is not None
        or query.offset is not None
    )
    return bool(merged) or bool(aggregates_of(payload(query)))


def plan(query: Query, parameters: dict[str, Any], policies: Policies) -> dict[str, Any]:
    """The plan of a query, as the SDK reads it."""
    compiler = Compiler(query, parameters, policies)
    top, offset, limit = (
        None if expression is None else compiler.constant(expression)
        for expression in (query.top, query.offset, query.limit)
    )
    whole: dict[str, Any] = {
        "partitionedQueryExecutionInfoVersion": 2,
        "queryRanges": _ranges(query, compiler, policies),
    }
    if query.rank is not None:
        check_search_terms(query, policies, parameters)
        whole["hybridSearchQueryInfo"] = _hybrid(
            query, compiler, offset or 0, limit if limit is not None else top
        )
        return whole
    aggregates = aggregates_of(payload(query))
    whole["queryInfo"] = {
        "distinctType": "Unordered" if query.distinct else "None",
        "top": top,
        "offset": offset,
        "limit": limit,
        "orderBy": [
            _direction(listed.expression, listed.descending, compiler) for listed in query.order
        ],
        "orderByExpressions": [write(listed.expression) for listed in query.order],
        "groupByExpressions": [],
        "groupByAliases": [],
        "aggregates": [NAMES[call.name] for call in aggregates],
        "groupByAliasToAggregateType": {},
        "rewrittenQuery": _rewritten(query, aggregates, offset, limit),
        "hasSelectValue": query.value,
        "hasNonStreamingOrderBy": any(_is_score(listed.expression) for listed in query.order),
    }
    return whole


def _rewritten(query: Query, aggregates: list[Call], offset: int | None, limit: int | None) -> str:
    tail = f" OFFSET 0 LIMIT {offset + limit}" if offset is not None and limit is not None else ""
    top = f"TOP {write(query.top)} " if query.top is not None else ""
    if aggregates:
        if not query.value or any(call.name == "AVG" for call in aggregates):
            raise bad_request(
                "Across partitions the emulator serves SELECT VALUE COUNT, SUM, MIN or MAX only"
            )
        items = ", ".join(f'{{"item": {write(call)}}}' for call in aggregates)
        return f"SELECT VALUE [{items}] FROM {write_from(query)}{write_where(query)}"
    if query.order:
        items = ", ".join(f'{{"item": {write(listed.expression)}}}' for listed in query.order)
        columns = (
            f"{query.alias}._rid AS _rid, [{items}] AS orderByItems, {write(payload(query))} "
            "AS payload"
        )
        orders = ", ".join(
            write(listed.expression) + (" DESC" if listed.descending else "")
            for listed in query.order
        )
        return (
            f"SELECT {top}{columns} FROM {write_from(query)}{write_where(query)} "
            f"ORDER BY {orders}{tail}"
        )
    if offset is not None:
        distinct = "DISTINCT " if query.distinct else ""
        return (
            f"SELECT {distinct}VALUE {write(payload(query))} "
            f"FROM {write_from(query)}{write_where(query)}{tail}"
        )
    return ""


def _is_score(expression: Expression) -> bool:
    return isinstance(expression, Call) and expression.name in SCORES


def _direction(expression: Expression, descending: bool, compiler: Compiler) -> str:
    if isinstance(expression, Call) and expression.name == "VECTORDISTANCE":
        descending = compiler.vector_function(expression) != "euclidean"
    return "Descending" if descending else "Ascending"


def _hybrid(query: Query, compiler: Compiler, skip: int, take: int | None) -> dict[str, Any]:
    calls = score_calls(query)
    texts = [call for call in calls if call.name == "FULLTEXTSCORE"]
    scores = [_score(call, number) for number, call in enumerate(calls)]
    directions = [_direction(call, call.name == "FULLTEXTSCORE", compiler) for call in calls]
    sure = ", ".join(
        f"({score} ?? {-NO_SCORE if direction == 'Descending' else NO_SCORE})"
        for score, direction in zip(scores, directions, strict=True)
    )
    most = max(COMPONENT_TOP, 2 * (skip + (take or 0)))
    columns = (
        f'{{"payload": {write(payload(query))}, "componentScores": [{sure}]}} AS payload FROM '
        f"{write_from(query)}"
    )
    return {
        "requiresGlobalStatistics": bool(texts),
        "globalStatisticsQuery": _statistics_query(query, texts),
        "componentQueryInfos": [
            {
                "distinctType": "None",
                "top": most,
                "orderBy": [direction],
                "orderByExpressions": [score],
                "aggregates": [],
                "hasSelectValue": False,
                "hasNonStreamingOrderBy": True,
                "rewrittenQuery": f'SELECT TOP {most} {query.alias}._rid AS _rid, [{{"item": {score}}}] AS orderByItems, '  # noqa: E501
                f"{columns}{write_where(query)} ORDER BY {score}",
            }
            for score, direction in zip(scores, directions, strict=True)
        ],
        "componentWeights": _weights(query, compiler, len(calls)),
        "skip": skip,
        "take": take,
    }


def _weights(query: Query, compiler: Compiler, count: int) -> list[float]:
    assert isinstance(query.rank, Call)
    given = (
        [argument for argument in query.rank.arguments if not isinstance(argument, Call)]
        if query.rank.name == "RRF"
        else []
    )
    weights = compiler.constant(given[0]) if given else [1.0] * count
    if (
        not isinstance(weights, list)
        or len(weights) != count
        or any(type(weight) not in (int, float) or weight < 0 for weight in weights)
    ):
        raise bad_request("RRF takes as many weights as scores; the emulator takes none below 0")
    return weights


def _terms(call: Call) -> str:
    return ", ".join(write(argument) for argument in call.arguments[1:])


def _score(call: Call, number: int) -> str:
    if call.name == "VECTORDISTANCE":
        return write(call)
    statistics = f"{DOCUMENTS}, {WORDS.format(number)}, {HITS.format(number)}"
    return f"_FullTextScore({write(call.arguments[0])}, [{_terms(call)}], {statistics})"


def _statistics_query(query: Query, texts: list[Call]) -> str:
    wanted = ", ".join(
        f"_FullTextStatistics({write(call.arguments[0])}, [{_terms(call)}])" for call in texts
    )
    return f"SELECT COUNT(1) AS documentCount, [{wanted}] AS fullTextStatistics FROM {query.alias}"


def _ranges(query: Query, compiler: Compiler, policies: Policies) -> list[dict[str, Any]]:
    """The hashes a query can concern: one when WHERE fixes the whole key, those of a prefix when it
    fixes a prefix, else all.
    """
    fixed = dict(_equalities(query.where, query.alias)) if query.where is not None else {}
    components = []
    for path in policies.key.paths:
        value = compiler.constant(fixed[path]) if path in fixed else UNDEFINED
        if value is UNDEFINED:
            break
        components.append(value)
    if len(components) == len(policies.key.paths):
        place = policies.key.hash(canonical(components))
        return [{"min": place, "max": place, "isMinInclusive": True, "isMaxInclusive": True}]
    place = policies.key.prefix_hash(components) if components else ""
    return [{"min": place, "max": place + "FF", "isMinInclusive": True, "isMaxInclusive": False}]


def _equalities(where: Expression, alias: str) -> list[tuple[tuple[Any, ...], Expression]]:
    """Path = constant, for each such term that must hold."""
    match where:
        case Operation("AND", operands):
            return [equality for operand in operands for equality in _equalities(operand, alias)]
        case Operation("=", (Reference(name, steps), Literal() | Parameter() as value)) if (
            name == alias
        ):
            return [(steps, value)]
    return []
