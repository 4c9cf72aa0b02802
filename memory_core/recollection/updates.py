"""Put later statements before those that they update, where a question asks how something is.

Such questions ask how many, how much, when. Scores stay what they are; only the order changes, and
what comes in from behind the limit takes the last place's room. A question about what once was
("What did I pay …?") leaves the order alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory_core.domain.ranking.questions import QUESTION
from memory_core.domain.statements.change_messages import read
from memory_core.domain.statements.changes import update_closeness
from memory_core.domain.statements.values_said import AskedKind
from memory_core.domain.text.sentences import sentences

MOST_UPDATED = 10
"""The most results, from the best, before which a later statement may come."""
MOST_BEHIND = 10
"""The most statements behind the results that are read."""
MOST_UPDATES = 3
"""The most later statements that come before the statement they update, the latest first."""
AS_NEAR = 0.8
"""The part of the best update's relevance that other updates of the same statement must reach."""
LEAST_SHARE = 0.5
"""The part of the best relevance that a statement behind the results must reach."""
_OF_THE_PAST = re.compile(
    r"\b(?:did|was|were|had|ago|used to|(?<!the )(?<!my )(?<!our )first|originally|initially|before"
    r"|last|yesterday|hatte|war|waren|damals|früher|zuerst|gestern|letzte\w*"
    r"|gewohnt|gelebt|gearbeitet|gehabt|gewesen|geheißen|verdient|gekostet|wohnten?|lebten?"
    r"|arbeiteten?|verdienten?|hieß(?:en)?|(?:be|ge)zahlt)\b"
    r"|(?:ました|でした|かった|った)(?:か|の|っけ)?[?？。]?$|(?<!名)前は|最初",
    re.IGNORECASE,
)
_ENGLISH_SUBJECT = (
    "i|you|he|she|it|we|they|there|this|that|the|an?|any|all|my|our|your|his|her|their|its"
)
_GERMAN_WHAT = re.compile(
    rf"(?:\A\W{{0,3}}|[,;:] |\b(?:und|oder|mal|noch|mir) )was (?!(?:{_ENGLISH_SUBJECT})\b)"
    r"(?=(?-i:[a-zäöüß]))"
    r"|\bwas (?=(?:ich|du|er|sie|es|wir|ihr|man)\b)",
    re.IGNORECASE,
)
"""The German word for "what", which is a past form in English."""
_WAS = re.compile(r"\b(?:was|were|war|waren)\b", re.IGNORECASE)
_AGAIN = re.compile(r"\bagain\W{0,9}\Z|\bnoch ?(?:ein)?mal\b|\bnoch gleich\b", re.IGNORECASE)
"""Asks for what was told before, which may hold still: "What was his name again?"."""


@dataclass(frozen=True, slots=True)
class SaidStatement:
    """A person's statement.

    Attributes:
        row: Its row among the candidates.
        result: The row of the result that contains it, or would contain it.
        text: Its words.
        by: The speaker, "" for the user; None for no person.
        at: When it was said.
        relevance: How much of the query it answers.
        leads: Whether its result shows it first.

    """

    row: int
    result: int
    text: str
    by: str | None
    at: datetime
    relevance: float
    leads: bool = False


def asks_of_the_past(query: str) -> bool:
    """Whether what a query asks for is what was so."""
    return any(_is_of_the_past(text) for text in _asking(query) or [query])


def _is_of_the_past(text: str) -> bool:
    text = _GERMAN_WHAT.sub(" ", text)
    if _AGAIN.search(text) is not None:
        text = _WAS.sub(" ", text, count=1)
    return _OF_THE_PAST.search(text) is not None


def asks_of_the_present(query: str) -> bool:
    """Whether a query has a question, and none about what was so."""
    return bool(_asking(query)) and not asks_of_the_past(query)


def _asking(query: str) -> list[str]:
    return [
        sentence.text
        for sentence in sentences(query)
        if sentence.asks or QUESTION.match(sentence.text) is not None
    ]


def put_updates_first(
    order: Sequence[int], statements: Sequence[SaidStatement], query: str, asked: Collection[str]
) -> tuple[list[int], dict[int, int]]:
    """Put updates before the results that they update.

    Args:
        order: Rows of the results, best first.
        statements: The statements of the results, and those behind the results.
        query: The query.
        asked: The query's terms.

    Returns:
        As many rows as before; and by row, the row of the statement that must lead its passages.

    """
    ordered, leading, kind = list(order), dict[int, int](), AskedKind.of(query, asked)
    leads = {statement.result: statement for statement in statements if statement.leads}
    by_people = [statement for statement in statements if statement.by is not None]
    for row in order[:MOST_UPDATED]:
        lead = leads.get(row)
        if lead is None or lead.by is None or row in leading:
            continue
        ahead = {*ordered[: ordered.index(row)]} if row in ordered else set()
        later = [
            statement
            for statement in by_people
            if statement.at > lead.at
            and statement.by == lead.by
            and statement.row != lead.row
            and statement.result not in ahead
        ]
        before = row
        for update in _updates(lead, later, kind):
            _place(update, before, ordered, leading)
            before = update.result
    return ordered[: len(order)], leading


def _updates(
    earlier: SaidStatement, later: Sequence[SaidStatement], asked: AskedKind
) -> list[SaidStatement]:
    """Return the later statements that update an earlier statement, the latest last.

    Of the relevant updates, the closest to the statement count. They are read from the best on,
    since a long statement takes milliseconds.
    """
    message = read(earlier.text)
    updating: list[tuple[int, SaidStatement]] = []
    for statement in sorted(later, key=lambda statement: -statement.relevance):
        if updating and statement.relevance < AS_NEAR * updating[0][1].relevance:
            break
        if closeness := update_closeness(message, read(statement.text), asked):
            updating.append((closeness, statement))
    closest = max((closeness for closeness, _ in updating), default=0)
    close = [statement for closeness, statement in updating if closeness == closest]
    return sorted(close[:MOST_UPDATES], key=lambda statement: statement.at)


def _place(update: SaidStatement, before: int, ordered: list[int], leading: dict[int, int]) -> None:
    row = update.result
    leading.setdefault(row, update.row)
    if row == before:
        return
    if row in ordered:
        ordered.remove(row)
    ordered.insert(ordered.index(before), row)
