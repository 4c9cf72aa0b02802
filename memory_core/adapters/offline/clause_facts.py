"""Facts of languages that are read clause by clause, by the rows of a table.

The fact's text is the clause as it was said, after its speaker's name. No word is translated, so
none can be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from memory_core.adapters.offline.fact_values import Shape
from memory_core.domain.statements.attributes import canonical_attribute, only_implies_pets
from memory_core.domain.truth.slots import NO_LONGER

MAX_CLAUSE = 200
"""Characters of a clause that is read."""
_SPEAKERS = frozenset({"ich", "wir", "私", "僕", "俺"})
_KIN = frozenset(
    {"妻", "夫", "娘", "息子", "母", "父", "姉", "妹", "兄", "弟", "子ども", "子供", "彼女", "彼氏"}
)


@dataclass(frozen=True)
class Row:
    """A row of the table.

    Attributes:
        attribute: Of the slot, with {value} and {of} of the clause; None if it fills no slot.
        pattern: The expression of the clause.
        filled: Content of the slot, with {value} and {of}; "" for the value.
        subject: Subject of the slot, with {of}; "" for the speaker.
        denies: Whether a clause that denies is read.
        shape: Recognises the value; None if the expression says enough.

    """

    attribute: str | None
    pattern: str
    filled: str = ""
    subject: str = ""
    denies: bool = False
    shape: Shape | None = None
    expression: re.Pattern[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "expression", re.compile(self.pattern))


@dataclass(frozen=True)
class ClauseLanguage:
    """The rows of a language, and the expressions for its clauses.

    Attributes:
        rows: The rows.
        unasserted: Found in a clause that asserts no fact.
        denied: Found in a clause that denies.
        later: Found in a clause about the future.
        another: The topic of a clause about another person than the speaker, as the group `other`;
            None if a row's own expression excludes it.

    """

    rows: tuple[Row, ...]
    unasserted: re.Pattern[str]
    denied: re.Pattern[str]
    later: re.Pattern[str]
    another: re.Pattern[str] | None = None

    def fills_slot(self, clause: str, read: re.Match[str]) -> bool:
        """Whether a row's reading of a clause holds now and is about the right person.

        It does not hold if it begins later, or if the reading leaves out the clause's topic.

        Args:
            clause: The clause.
            read: The match of the row's expression.

        """
        if self.later.search(clause) is not None:
            return False
        topic = None if self.another is None else self.another.search(clause)
        return topic is None or (
            read.start() <= topic.start("other") and topic.end("other") <= read.end()
        )


@dataclass(frozen=True, slots=True)
class ClauseFact:
    """A row's reading of a clause.

    Attributes:
        clause: As it was said.
        attribute: None if it fills no slot.
        value: None if it fills no slot.
        of: Person or thing that the fact is about; "" for the speaker.
        related: Whether `of` is a relation to the speaker ("Frau"), and no name.

    """

    clause: str
    attribute: str | None
    value: str | None
    of: str = ""
    related: bool = False


def read_clauses(clauses: Sequence[str], language: ClauseLanguage) -> Iterator[ClauseFact]:
    """Read the facts of a sentence's clauses.

    A clause that fills slots makes no further fact without a slot. A value has priority over what
    the same clause says is over: "nicht mehr bei Bosch, sondern bei Otto".

    Args:
        clauses: The clauses of the sentence.
        language: The table of the language.

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
        slotted = sorted(
            (reading for reading in readings if reading.attribute is not None), key=_ends
        )
        seen: dict[str, ClauseFact] = {}
        stated = [reading for reading in slotted if not _only_implies(reading)]
        for reading in slotted if stated else [*slotted, *_plain(readings)]:
            seen.setdefault(reading.attribute or "", reading)
        yield from seen.values()


def _only_implies(reading: ClauseFact) -> bool:
    return only_implies_pets(reading.attribute or "", reading.value or "")


def _plain(readings: Sequence[ClauseFact]) -> list[ClauseFact]:
    """The first reading that fills no slot."""
    return [reading for reading in readings if reading.attribute is None][:1]


def _ends(reading: ClauseFact) -> bool:
    """Whether a reading says that something is over."""
    return (reading.value or "").startswith(NO_LONGER)


def _read(row: Row, clause: str, language: ClauseLanguage) -> ClauseFact | None:
    match = row.expression.search(clause)
    if match is None:
        return None
    groups = {
        name.rstrip("234"): text.strip(" 「」『』\"'")
        for name, text in match.groupdict().items()
        if text
    }
    value = groups.get("value", "")
    if row.attribute is None or not language.fills_slot(clause, match):
        return ClauseFact(clause, None, None)
    if "value" in row.expression.groupindex and not value:
        return None
    if row.shape is not None and row.shape(value) is None:
        return None
    parts = {"value": value.casefold(), "of": groups.get("of", "").casefold()}
    attribute = canonical_attribute(row.attribute.format(**parts))
    if "what" in groups:
        attribute = f"{groups['what'].casefold()} {attribute}"
    speaker = groups.get("who", "")
    of = row.subject.format(**parts) or ("" if speaker in _SPEAKERS else speaker)
    return ClauseFact(
        clause,
        attribute,
        row.filled.format(value=value, of=groups.get("of", "")) or value,
        of,
        related=bool(row.subject) or of in _KIN,
    )
