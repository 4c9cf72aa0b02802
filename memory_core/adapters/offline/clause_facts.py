"""Facts of languages that are read clause by clause: a table's row, and what it makes of a clause.

The fact's text is the clause as it was said, after who said it: no word is translated,
so none can be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

MAX_CLAUSE = 200
"""Characters of a clause that is read."""
_SPEAKERS = frozenset({"ich", "wir", "私", "僕", "俺"})
_KIN = frozenset(
    {"妻", "夫", "娘", "息子", "母", "父", "姉", "妹", "兄", "弟", "子ども", "子供", "彼女", "彼氏"}
)


@dataclass(frozen=True)
class Row:
    """One row.

    attribute: of the slot, with {value} and {of} of the clause; None: it fills none. pattern: the
    expression of the clause. filled: what fills the slot, with {value}; "" for the value. subject:
    whose slot it is, with {of}; "" for the speaker's. denies: whether a clause that denies is read.
    """

    attribute: str | None
    pattern: str
    filled: str = ""
    subject: str = ""
    denies: bool = False
    expression: re.Pattern[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "expression", re.compile(self.pattern))


@dataclass(frozen=True)
class ClauseLanguage:
    """The rows of a language, and what its clauses are read by.

    unasserted: what is in a clause that states nothing. denied: in one that denies. later: in one
    of what only begins later. another: the topic of a clause about another person than the speaker,
    as the group `other`; None where a row's own expression excludes it.
    """

    rows: tuple[Row, ...]
    unasserted: re.Pattern[str]
    denied: re.Pattern[str]
    later: re.Pattern[str]
    another: re.Pattern[str] | None = None

    def fills_slot(self, clause: str, read: re.Match[str]) -> bool:
        """Whether what a row reads in a clause holds, and of whom it says: not of what begins
        later, nor of a topic that it leaves out.
        """
        if self.later.search(clause) is not None:
            return False
        topic = None if self.another is None else self.another.search(clause)
        return topic is None or (
            read.start() <= topic.start("other") and topic.end("other") <= read.end()
        )


@dataclass(frozen=True, slots=True)
class ClauseFact:
    """What one row reads in one clause.

    clause: as it was said. attribute, value: None where it fills no slot. of: whom it is about; ""
    for the speaker. related: whether `of` is what that one is to the speaker ("Frau"), and no name.
    """

    clause: str
    attribute: str | None
    value: str | None
    of: str = ""
    related: bool = False


def read_clauses(clauses: Sequence[str], language: ClauseLanguage) -> Iterator[ClauseFact]:
    """The facts of the clauses of one sentence; a clause that fills slots makes no further fact
    without one.
    """
    for clause in clauses:
        statement = clause.strip(" \t.!,;:。、！")
        if not statement or len(statement) > MAX_CLAUSE or language.unasserted.search(statement):
            continue
        negative = language.denied.search(statement) is not None
        readings = [
            reading
            for row in language.rows
            if (row.denies or not negative)
            and (reading := _read(row, statement, language)) is not None
        ]
        slotted = [reading for reading in readings if reading.attribute is not None]
        seen: dict[str, ClauseFact] = {}
        for reading in slotted or readings[:1]:
            seen.setdefault(reading.attribute or "", reading)
        yield from seen.values()


def _read(row: Row, clause: str, language: ClauseLanguage) -> ClauseFact | None:
    match = row.expression.search(clause)
    if match is None:
        return None
    groups = {
        name.rstrip("2"): text.strip(" 「」『』\"'")
        for name, text in match.groupdict().items()
        if text
    }
    value = groups.get("value", "")
    if row.attribute is None or not language.fills_slot(clause, match):
        return ClauseFact(clause, None, None)
    if "value" in row.expression.groupindex and not value:
        return None
    parts = {"value": value.casefold(), "of": groups.get("of", "").casefold()}
    speaker = groups.get("who", "")
    of = row.subject.format(**parts) or ("" if speaker in _SPEAKERS else speaker)
    return ClauseFact(
        clause,
        row.attribute.format(**parts),
        row.filled.format(value=value) or value,
        of,
        related=bool(row.subject) or of in _KIN,
    )
