"""Answers of many documents: queries, plans, lists and changes, in pages."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import replace
from email.utils import parsedate_to_datetime
from itertools import islice
from typing import Any

import orjson

from tests.cosmos_emulator import charges
from tests.cosmos_emulator.exchange import KEY, Answer, Asked, answer
from tests.cosmos_emulator.items import dumps
from tests.cosmos_emulator.plan import needs_plan, plan
from tests.cosmos_emulator.query import Result, Run
from tests.cosmos_emulator.reading import copy_for, is_narrow, reads_of, scope, session_token
from tests.cosmos_emulator.refused import NEEDS_A_PLAN, bad_request
from tests.cosmos_emulator.sql_parser import parse
from tests.cosmos_emulator.sql_tree import Listed, Query, Reference
from tests.cosmos_emulator.sql_writer import payload, write
from tests.cosmos_emulator.store import Account, Container

DEFAULT_PAGE = 100
LARGEST_PAGE = 1000
PAGE_BYTES = 4 * 1024 * 1024
EVERYTHING = "SELECT * FROM c"


def query_plan(asked: Asked, account: Account, container: Container) -> Answer:
    """How the client is to run a query itself."""
    query, parameters = _asked_query(asked)
    _check_distance(query, account)
    return answer(200, plan(query, parameters, container.policies))


def query(asked: Asked, account: Account, container: Container) -> Answer:
    """One page of a query's results, or the 400 that says that a plan is needed."""
    parsed, parameters = _asked_query(asked)
    if parsed.rank is not None:
        plan(parsed, parameters, container.policies)  # what is wrong with it is said at once
        _check_distance(parsed, account)
        if account.ranking.ignores_with_key and KEY in asked.headers:
            by_id = [Listed(Reference(parsed.alias, ("id",)))]
            return _run(
                asked, account, container, replace(parsed, rank=None, order=by_id), parameters
            )
        raise bad_request("The query needs a plan", NEEDS_A_PLAN)
    if not is_narrow(asked):
        if not asked.flag("x-ms-documentdb-query-enablecrosspartition"):
            raise bad_request(
                "Cross partition query is required but disabled. Name a partition key or enable it"
            )
        if needs_plan(parsed):
            raise bad_request("The query needs a plan", NEEDS_A_PLAN)
    return _run(asked, account, container, parsed, parameters)


def _check_distance(parsed: Query, account: Account) -> None:
    if (
        parsed.rank is not None
        and account.ranking.refuses_distance
        and "VECTORDISTANCE" in write(payload(parsed)).upper()
    ):
        raise bad_request("VectorDistance can not be projected beside ORDER BY RANK")


def documents(asked: Asked, account: Account, container: Container) -> Answer:
    """One page of all documents."""
    return _run(asked, account, container, parse(EVERYTHING), {})


def changes(asked: Asked, account: Account, container: Container) -> Answer:
    """Documents by the commit that last wrote them, after the one in If-None-Match;
    304 when there are none yet.
    """
    copy = copy_for(asked, account, container)
    after, since = asked.headers.get("if-none-match", ""), asked.headers.get("if-modified-since")
    number = copy.lsn if after == "*" else int(after.strip('"') or 0)
    moment = parsedate_to_datetime(since).timestamp() if since else 0.0
    items = sorted(
        (
            item
            for partition in scope(asked, account, container, copy)
            for item in partition.items.values()
            if item.lsn > number
        ),
        key=lambda item: (item.lsn, item.rid),
    )
    changed = [item for item in items if item.body["_ts"] >= int(moment)]
    page = changed[: _page_size(asked)]
    while len(page) < len(changed) and changed[len(page)].lsn == page[-1].lsn:
        page.append(changed[len(page)])  # a commit's changes are never parted
    reached = page[-1].lsn if len(page) < len(changed) else copy.lsn
    made = _answer(
        container,
        [dumps(item.body) for item in page],
        charges.query(len(page), 0, len(page), sum(item.size for item in page)),
    )
    made.status = 200 if page else 304
    made.headers |= {
        "etag": f'"{reached}"',
        "x-ms-session-token": session_token(account, None, copy.lsn),
    }
    return made


def _run(
    asked: Asked, account: Account, container: Container, parsed: Query, parameters: dict[str, Any]
) -> Answer:
    copy = copy_for(asked, account, container)
    run = Run(parsed, parameters, container.policies, scope(asked, account, container, copy))
    rows, continuation = _page(run, asked)
    charge = charges.query(run.matched, run.scored, len(rows), sum(map(len, rows))) * reads_of(
        asked, account
    )
    made = _answer(container, rows, charge)
    made.headers["x-ms-session-token"] = session_token(
        account, asked.headers.get("x-ms-documentdb-partitionkeyrangeid"), copy.lsn
    )
    if continuation:
        made.headers["x-ms-continuation"] = continuation
    return made


def _page(run: Run, asked: Asked) -> tuple[list[bytes], str]:
    """The rows of one page as JSON, and where the next begins."""
    position = _position(asked.headers.get("x-ms-continuation", ""))
    results: Iterable[Result] = run.results(position.get("rid", 0))
    skip = position.get("skip", 0)
    most = 10**9 if run.by_score else _page_size(asked)
    rows: list[bytes] = []
    size, last = 0, 0
    for result in islice(results, skip, None):
        row = dumps(result.value)
        if rows and (len(rows) >= most or size + len(row) > PAGE_BYTES):
            return rows, _token({"rid": last} if run.streams else {"skip": skip + len(rows)})
        rows.append(row)
        size += len(row)
        last = result.rid
    return rows, ""


def _answer(container: Container, rows: list[bytes], charge: float) -> Answer:
    body = b'{"_rid":"%s","Documents":[%s],"_count":%d}' % (
        container.rid.encode(),
        b",".join(rows),
        len(rows),
    )
    return Answer(200, body, {"x-ms-item-count": str(len(rows))}, charge)


def _asked_query(asked: Asked) -> tuple[Query, dict[str, Any]]:
    body = asked.json()
    text, given = (
        (body.get("query"), body.get("parameters") or []) if isinstance(body, dict) else (body, [])
    )
    if not isinstance(text, str):
        raise bad_request("The body of a query is {query, parameters}")
    return parse(text), {parameter["name"]: parameter.get("value") for parameter in given}


def _page_size(asked: Asked) -> int:
    wanted = int(asked.headers.get("x-ms-max-item-count", DEFAULT_PAGE))
    return LARGEST_PAGE if wanted == -1 else max(1, wanted)


def _token(position: dict[str, int]) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(position)).decode()


def _position(token: str) -> dict[str, int]:
    if not token:
        return {}
    try:
        position: dict[str, int] = orjson.loads(base64.urlsafe_b64decode(token))
    except ValueError as error:
        raise bad_request("Invalid continuation token") from error
    return position
