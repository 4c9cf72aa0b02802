"""Later statements come before those they update, where a question asks how something is.

Such questions ask how many, how much, when. Scores stay what they are; only the order changes, and what comes in from behind the limit
takes the last place's room. A question about what once was ("What did I pay …?") leaves the order alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory_core.domain.asks_of_oneself import QUESTION
from memory_core.domain.changes import updates
from memory_core.domain.changes_read import read
from memory_core.domain.sentences import sentences

MOST_UPDATED = 10
"""Results, from the best, before which something later may come."""
MOST_BEHIND = 30
"""Statements behind the results that are read."""
AS_NEAR = 0.8
"""Of several that update one, the part of the best one's relevance from which the latest may be chosen."""
LEAST_SHARE = 0.5
"""The part of the best one's relevance that a statement behind the results must reach."""
_OF_THE_PAST = re.compile(
    r"\b(?:did|was|were|had|ago|used to|first|originally|initially|before|last|yesterday|hatte|war|waren|damals|früher|zuerst|gestern"
    r"|letzte\w*)\b"
    r"|(?:ました|でした|かった|った)(?:か|の|っけ)?[?？。]?$|前は|最初",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """What a person said.

    row: of the candidates. result: the row of the result that it is in, or would be in.
    by: who said it. relevance: to the query. leads: whether it is what its result shows first.
    """

    row: int
    result: int
    text: str
    by: str | None
    at: datetime
    relevance: float
    leads: bool = False


def asks_how_it_is(query: str) -> bool:
    """Whether a message is one question, about how something is at the moment asked for."""
    said = sentences(query)
    return len(said) == 1 and (said[0].asks or QUESTION.match(said[0].text) is not None) and _OF_THE_PAST.search(query) is None


def later_first(order: Sequence[int], said: Sequence[Statement], query: str, asked: Collection[str]) -> tuple[list[int], dict[int, int]]:
    """The results' rows with what updates one of them before it.

    With it, by row, the statement's row that is to lead there.
    order: rows of the results, best first. said: what they contain, and what is behind them.
    """
    ordered, leading = list(order), dict[int, int]()
    leads = {one.result: one for one in said if one.leads}
    told = [one for one in said if one.by is not None]
    for row in order[:MOST_UPDATED]:
        held = leads.get(row)
        if held is None or held.by is None:
            continue
        ahead = {*ordered[: ordered.index(row)]} if row in ordered else set()
        later = [one for one in told if one.at > held.at and one.by == held.by and one.row != held.row and one.result not in ahead]
        message = read(held.text)
        found = [one for one in later if updates(message, read(one.text), query, asked)]
        if found:
            least = AS_NEAR * max(one.relevance for one in found)
            _place(max((one for one in found if one.relevance >= least), key=lambda one: one.at), row, ordered, leading)
    return ordered[: len(order)], leading


def _place(one: Statement, before: int, ordered: list[int], leading: dict[int, int]) -> None:
    row = one.result
    leading.setdefault(row, one.row)
    if row == before:
        return
    if row in ordered:
        ordered.remove(row)
    ordered.insert(ordered.index(before), row)
