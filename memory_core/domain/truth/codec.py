"""The log of a slot as the body of its document.

Each entry is a short row, with moments in microseconds. Note: a document is written with each save
into its slot, so its length is its price. `rows` leaves out fields at their defaults.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from memory_core.domain.truth.entries import (
    Assertion,
    Entry,
    Hiding,
    Merge,
    Pair,
    Retraction,
    Statement,
    Trimming,
    Withdrawal,
)
from memory_core.domain.truth.sealing import Seal

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
_CORRECTS_PAST, _IS_FORGOTTEN = 1, 2
MAX_NAMES = 16_000_000
"""Names in the pairs of a document.

At most 8,000 rows fit a document, with 2,000 names each (`truth_commands.MAX_BESIDE`).
"""


def rows(log: Iterable[Entry]) -> list[list[Any]]:
    """The entries as JSON-ready rows, in their places; `entries_in` reads them.

    A row begins with the letter of its kind, sequence and part. The row of a statement continues
    with memory, version, value, `asserted_at`, `valid_from`, `valid_until`, the version that it
    edits, flags and conflict. The moments after the first are relative to it.
    """
    made, beside = list[list[Any]](), _Names()
    for entry in sorted(log, key=lambda entry: entry.place):
        row = _row(entry)
        if isinstance(entry, Pair):
            row[3] = beside.short(row[3])
        made.append(_short(row))
    return made


def entries_in(stored_rows: Iterable[Sequence[Any]]) -> list[Entry]:
    """The entries of some rows.

    Raises:
        ValueError: A row is of no known kind, or the pairs have more than `MAX_NAMES` names.

    """
    made, beside = list[Entry](), _Names()
    for row in stored_rows:
        made.append(_entry([*row[:3], beside.whole(row[3]), *row[4:]] if row[0] == "p" else row))
    return made


class _Names:
    """The names in the pairs of a log, in a short form.

    A row may begin with all names of the pair before it: 0 replaces these. Each of several
    coexisting memories names all before it. With the short form, a log grows with their number and
    not with its square.
    """

    def __init__(self) -> None:
        self._last: list[str] = []
        self._number = 0

    def short(self, names: list[str]) -> list[Any]:
        """The names as they are stored."""
        number, before = len(self._last), self._last
        self._last = names
        return (
            [0, *names[number:]] if 1 < number < len(names) and names[:number] == before else names
        )

    def whole(self, stored_names: Sequence[Any]) -> list[str]:
        """The names from their stored form.

        Raises ValueError for more names than any log has, which a few rows of a file could
        represent.
        """
        self._last = [*self._last, *stored_names[1:]] if stored_names[0] == 0 else [*stored_names]
        self._number += len(self._last)
        if self._number > MAX_NAMES:
            raise ValueError("too many memories are kept side by side")
        return self._last


def seal_row(seal: Seal) -> dict[str, Any]:
    """A seal as JSON-ready fields; `seal_in` reads them."""
    return {
        "through": [_number(seal.through[0]), *seal.through[1]],
        "latest": _number(seal.latest_start),
        "horizon": _number(seal.horizon),
        "first": None if seal.first is None else list(seal.first),
        "begins": [[*key, _number(moment)] for key, moment in seal.begins],
        "earlier": [[*key, number] for key, number in seal.earlier],
        "watched": sorted(list(key) for key in seal.watched),
    }


def seal_in(row: Mapping[str, Any]) -> Seal:
    """Read a seal from the fields of `seal_row`."""
    moment, sequence, part = row["through"]
    return Seal(
        through=(_moment(moment), (sequence, part)),
        latest_start=_moment(row["latest"]),
        horizon=_moment(row["horizon"]),
        first=None if row["first"] is None else (row["first"][0], row["first"][1], row["first"][2]),
        begins=tuple(((name, version), _moment(start)) for name, version, start in row["begins"]),
        earlier=tuple(((name, version), number) for name, version, number in row["earlier"]),
        watched=frozenset((name, version) for name, version in row["watched"]),
    )


def renumbered(body: Mapping[str, Any], sequence: int) -> dict[str, Any]:
    """The body of a slot's document after its commit has got its sequence.

    A decision is made before its commit has a sequence. Until then its entries have the number in
    `pending`, which no earlier entry has.

    Args:
        body: The body of the document.
        sequence: The sequence of the commit.

    """
    pending = body.get("pending")
    if pending is None:
        return dict(body)
    moved = [_moved(row, pending, sequence) for row in body["entries"]]
    return {**{name: value for name, value in body.items() if name != "pending"}, "entries": moved}


def _moved(row: Sequence[Any], pending: int, sequence: int) -> list[Any]:
    if row[1] < pending:
        return [*row]
    if row[0] in ("w", "t"):
        places = [[sequence if place[0] >= pending else place[0], place[1]] for place in row[3]]
        return [row[0], sequence, row[2], places, *row[4:]]
    return [row[0], sequence, *row[2:]]


_MOMENTS = ("asserted_at", "valid_from", "valid_until")
_KINDS: Mapping[str, tuple[type[Entry], tuple[str, ...]]] = {
    "a": (Assertion, ()),
    "r": (Retraction, ()),
    "h": (Hiding, ("memory_id",)),
    "p": (Pair, ("memory_ids",)),
    "m": (Merge, ("memory_ids", "into")),
    "t": (Trimming, ("places",)),
    "w": (Withdrawal, ("places",)),
}
"""For each letter, the kind and the fields of its rows.

Statements have rows of their own.
"""


def _row(entry: Entry) -> list[Any]:
    letter, names = next(
        (letter, names) for letter, (kind, names) in _KINDS.items() if isinstance(entry, kind)
    )
    fields: list[Any] = [_listed(getattr(entry, name)) for name in names]
    if isinstance(entry, Statement):
        asserted_at = _number(entry.asserted_at)
        until = None if entry.valid_until is None else _number(entry.valid_until) - asserted_at
        flags = _CORRECTS_PAST * entry.corrects_past + _IS_FORGOTTEN * entry.is_forgotten or None
        moments = [asserted_at, _number(entry.valid_from) - asserted_at or None, until]
        fields = [entry.memory_id, entry.version, entry.value, *moments, entry.edits, flags]
    return [letter, entry.sequence, entry.part, *fields, entry.conflict_id]


def _listed(value: Any) -> Any:
    if isinstance(value, str):
        return value
    return [list(item) if isinstance(item, tuple) else item for item in value]


def _short(row: list[Any]) -> list[Any]:
    while row[-1] is None and len(row) > 4:
        row.pop()
    return row


def _entry(row: Sequence[Any]) -> Entry:
    letter, sequence, part, *rest = row
    if letter not in _KINDS:
        raise ValueError(f"no entry of a log: {letter!r}")
    kind, names = _KINDS[letter]
    if not names:
        names = ("memory_id", "version", "value", *_MOMENTS, "edits", "flags")
        rest += [None] * (len(names) - len(rest))
    fields: dict[str, Any] = dict(zip((*names, "conflict_id"), rest, strict=False))
    if "flags" in fields:
        asserted_at, start, until = (fields[name] for name in _MOMENTS)
        moment, flags = _moment(asserted_at or 0), fields.pop("flags") or 0
        fields |= {
            "asserted_at": moment,
            "valid_from": moment + (start or 0) * _MICROSECOND,
            "valid_until": None if until is None else moment + until * _MICROSECOND,
            "corrects_past": bool(flags & _CORRECTS_PAST),
            "is_forgotten": bool(flags & _IS_FORGOTTEN),
        }
    if "memory_ids" in fields:
        fields["memory_ids"] = tuple(fields["memory_ids"])
    if "places" in fields:
        fields["places"] = tuple((place[0], place[1]) for place in fields["places"])
    return kind(sequence=sequence, part=part, **fields)


def _number(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def _moment(number: int) -> datetime:
    return _EPOCH + number * _MICROSECOND
