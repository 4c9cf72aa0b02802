"""The painting of a slot: each statement, in the order of saying, overwrites a part of the time.

Time is cut into cells, each with the layers that show there; more than one only where memories are kept side by side, or where a
hidden layer had to spare what was saved after its deletion. What a layer covers is gone. Note: whether a hidden statement repeats what
was saved before it was hidden may have to be asked of layers that are gone; then these statements are painted once more, alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from enum import Enum, auto

from memory_core.domain.truth.entries import Account, Assertion, Place, Retraction, Statement

BEGINNING = datetime.min.replace(tzinfo=timezone.utc)


class Kind(Enum):
    """What a layer shows: a value, a retraction where nothing else holds, or nothing (after a stated end)."""

    VALUE = auto()
    RETRACTION = auto()
    GAP = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A statement, where it has overwritten the time.

    begins: where the statement began to overwrite, which may be before the cell.
    until: the stated end, its own or that of the statement it repeats.
    wording: the version that it is an edit of, however often edited; its own version if it is no edit.
    hidden_at: the deletion that hides it.
    """

    memory_id: str
    version: int
    value: str | None
    kind: Kind
    order: tuple[datetime, Place]
    begins: datetime
    until: datetime | None = None
    wording: int = 1
    hidden_at: Place | None = None

    @property
    def place(self) -> Place:
        """The place of its statement in the log."""
        return self.order[1]

    def counts_for(self, statement: Statement) -> bool:
        """Whether a statement meets it as something that holds: a deletion before the statement was saved has ended it."""
        return self.kind is not Kind.GAP and (self.hidden_at is None or statement.place < self.hidden_at)


Cell = tuple[Layer, ...]
Keep = Callable[[Cell], Cell]
"""The layers that stay in a cell."""
Test = Callable[[Layer], bool]


@dataclass(slots=True)
class Cells:
    """Cells in the order of time: each from its start to the next start, the last one for ever."""

    starts: list[datetime]
    cells: list[Cell]

    def at(self, moment: datetime) -> Cell:
        """The cell of a moment; an empty one before the first start."""
        number = bisect_right(self.starts, moment) - 1
        return self.cells[number] if number >= 0 else ()

    def split(self, moment: datetime) -> int:
        """Let a cell start at a moment, and return its number."""
        number = bisect_right(self.starts, moment) - 1
        if self.starts[number] == moment:
            return number
        self.starts.insert(number + 1, moment)
        self.cells.insert(number + 1, self.cells[number])
        return number + 1

    def numbers(self, begin: datetime, end: datetime | None) -> range:
        """The numbers of the cells of an interval, split at its ends; none if it is empty."""
        if end is not None and end <= begin:
            return range(0)
        first = self.split(begin)
        return range(first, len(self.starts) if end is None else self.split(end))

    def run_end(self, moment: datetime, belongs: Callable[[Cell], bool]) -> datetime | None:
        """Where the cells from a moment's on first do not belong; the moment itself if its own does not, None for never."""
        number = bisect_right(self.starts, moment) - 1
        first = number
        while number < len(self.cells) and belongs(self.cells[number]):
            number += 1
        if number == first:
            return moment
        return self.starts[number] if number < len(self.starts) else None

    def last_run(self, belongs: Test) -> tuple[datetime, datetime | None] | None:
        """The last interval in which some layer belongs."""
        last = next((number for number in reversed(range(len(self.cells))) if any(map(belongs, self.cells[number]))), None)
        if last is None:
            return None
        first = last
        while first > 0 and any(map(belongs, self.cells[first - 1])):
            first -= 1
        return self.starts[first], self.starts[last + 1] if last + 1 < len(self.starts) else None


class Painting:
    """The cells of a slot while its statements are added."""

    def __init__(self, account: Account) -> None:
        """Begin with no statement. account: what counts in the log.

        Its wordings are, by memory and version, the version that it is an edit of, and the value of the last edit.
        """
        self.cells, self._account = Cells([BEGINNING], [()]), account
        self.wordings: dict[tuple[str, int], tuple[int, str | None]] = {}
        self._added: list[Statement] = []
        self._earlier: dict[Place, tuple[Painting, int]] = {}

    def add(self, statement: Statement) -> None:
        """Paint the next statement in the order of saying."""
        self._added.append(statement)
        kind = Kind.VALUE if isinstance(statement, Assertion) else Kind.RETRACTION
        if statement.edits is not None:
            self._edit(statement, kind)
        if isinstance(statement, Retraction):
            self._retract(statement)
        elif isinstance(statement, Assertion) and statement.edits is None and not self._repeat(statement):
            self._assert(statement)

    def _layer(self, statement: Statement, kind: Kind, begins: datetime, until: datetime | None) -> Layer:
        return Layer(
            memory_id=statement.memory_id,
            version=statement.version,
            value=statement.value if isinstance(statement, Assertion) and kind is Kind.VALUE else None,
            kind=kind,
            order=statement.order,
            begins=begins,
            until=until,
            wording=self.wordings.get((statement.memory_id, statement.version), (statement.version, None))[0],
            hidden_at=self._account.hidden_at.get(statement.place),
        )

    def _assert(self, statement: Assertion) -> None:
        begin, end = statement.valid_from, statement.valid_until
        layer = self._layer(statement, Kind.VALUE, begin, end)
        self._paint(layer, begin, end, self._keep(layer))
        if end is not None and end > statement.asserted_at:
            gap = replace(layer, kind=Kind.GAP, value=None, begins=end)
            self._paint(gap, end, None, lambda cell: tuple(one for one in cell if one.begins >= end or self._spares(layer, one)))

    def _repeat(self, statement: Assertion) -> bool:
        """Paint a statement of what holds already; False, and nothing painted, if it is none."""
        layer = self._layer(statement, Kind.VALUE, statement.valid_from, statement.valid_until)
        moment = max(statement.asserted_at, statement.valid_from)

        def same(one: Layer) -> bool:
            return one.value == statement.value and one.counts_for(statement)

        found = next((one for one in self._holders(layer, moment) if same(one)), None)
        if found is None or statement.valid_until not in (None, found.until):
            return False
        self._paint_over(replace(layer, until=found.until), layer.begins, self.cells.run_end(moment, _any(same)), same)
        return True

    def _edit(self, statement: Statement, kind: Kind) -> None:
        name, edited, end = statement.memory_id, statement.edits, statement.valid_until
        wording = self.wordings.get((name, edited or 0), (edited or 0, None))[0]
        value = statement.value if isinstance(statement, Assertion) else None
        self.wordings[name, statement.version] = self.wordings[name, wording] = wording, value
        layer = self._layer(statement, kind, statement.valid_from, end)
        moment = max(statement.asserted_at, statement.valid_from)

        def own(one: Layer) -> bool:
            return one.memory_id == name and one.counts_for(statement)

        found: Layer | None = None
        if statement.corrects_past:
            run = self.cells.last_run(lambda one: own(one) and one.version == edited)
            if run is None:
                return
            begin, last = run
            if statement.valid_from < statement.asserted_at and (last is None or statement.valid_from < last):
                begin = statement.valid_from  # a start that the edit names
            if last is not None and end is not None and end > last:
                end = last
        else:
            found = next((one for one in self._holders(layer, moment) if own(one)), None)
            begin, last = statement.valid_from, self._end_of_what_holds(moment) if found is None else self.cells.run_end(moment, _any(own))
        until = end if end is not None else None if found is None else found.until
        layer = replace(layer, begins=begin, until=until)
        self._paint_over(layer, begin, last if end is None else end, own)
        if end is not None and (last is None or end < last):
            self._paint_over(replace(layer, kind=Kind.GAP, value=None, begins=end), max(begin, end), last, own)

    def _end_of_what_holds(self, moment: datetime) -> datetime | None:
        """Where what holds at a moment ends, whatever it is; also nothing has an end."""
        values = {one.value for one in self.cells.at(moment) if one.kind is Kind.VALUE}
        return self.cells.run_end(moment, lambda cell: {one.value for one in cell if one.kind is Kind.VALUE} == values)

    def _paint_over(self, layer: Layer, begin: datetime, end: datetime | None, own: Test) -> None:
        """Paint a repeat or an edit: where its own layers are on top it takes their place alone, elsewhere that of all."""
        plain, limit = self._keep(layer), layer.hidden_at

        def ends(one: Layer) -> bool:
            """What was saved after its deletion says the same for itself."""
            return own(one) and (limit is None or one.place < limit)

        def leads(one: Layer) -> bool:
            """A hidden layer has nothing beside it by right: what shows there was spared by its deletion alone."""
            return ends(one) and (one.hidden_at is None or limit is not None)

        def kept(cell: Cell) -> Cell:
            if any(map(leads, cell)):
                return tuple(one for one in cell if not ends(one))
            return () if plain is None else plain(cell)

        self._paint(layer, begin, end, kept)

    def _retract(self, statement: Retraction) -> None:
        begin, end, value = statement.valid_from, statement.valid_until, statement.value
        layer = self._layer(statement, Kind.RETRACTION, begin, end)
        limit = layer.hidden_at

        def ends(one: Layer, value: str) -> bool:
            named = one.value == value or self.wordings.get((one.memory_id, one.wording), (0, None))[1] == value
            return named and one.kind is Kind.VALUE and (limit is None or one.place < limit)

        if value is not None:
            self._paint_retraction(layer, begin, end, lambda one: ends(one, value))
        else:
            for each in {one.value for one in self.cells.at(begin) if one.value is not None}:
                run = self.cells.run_end(begin, _any(lambda one, each=each: ends(one, each)))  # type: ignore[misc]
                last = run if end is None else end if run is None else min(run, end)
                self._paint_retraction(layer, begin, last, lambda one, each=each: ends(one, each))  # type: ignore[misc]
        if limit is None:
            self._hold_where_nothing_does(layer, begin, end)

    def _paint_retraction(self, layer: Layer, begin: datetime, end: datetime | None, ends: Test) -> None:
        for number in [*self.cells.numbers(begin, end)]:
            cell = self.cells.cells[number]
            if any(map(ends, cell)):
                self.cells.cells[number] = (*(one for one in cell if not ends(one)), layer)

    def _hold_where_nothing_does(self, layer: Layer, begin: datetime, end: datetime | None) -> None:
        for number in self.cells.numbers(begin, end):
            cell = self.cells.cells[number]
            if any(one.kind is Kind.VALUE and one.hidden_at is None for one in cell):
                break
            self.cells.cells[number] = (*(one for one in cell if not _is_shown_retraction(one)), layer)

    def _keep(self, layer: Layer) -> Keep | None:
        """What a layer without a kind of its own spares; None where it is nothing."""
        if layer.hidden_at is None and layer.memory_id not in self._account.pairs:
            return None
        return lambda cell: tuple(one for one in cell if self._spares(layer, one))

    def _spares(self, layer: Layer, other: Layer) -> bool:
        if layer.hidden_at is not None and other.place > layer.hidden_at:
            return True
        return other.memory_id in self._account.pairs.get(layer.memory_id, ()) and (layer.value is None or layer.value != other.value)

    def _paint(self, layer: Layer, begin: datetime, end: datetime | None, keep: Keep | None) -> None:
        numbers = self.cells.numbers(begin, end)
        if keep is None and numbers:
            span = slice(numbers.start, numbers.stop)
            self.cells.starts[span], self.cells.cells[span] = [self.cells.starts[numbers.start]], [(layer,)]
        elif keep is not None:
            for number in numbers:
                self.cells.cells[number] = (*keep(self.cells.cells[number]), layer)

    def _holders(self, layer: Layer, moment: datetime) -> Cell:
        """What a statement meets at a moment; a hidden one meets only what was saved before it was hidden."""
        cell, limit = self.cells.at(moment), layer.hidden_at
        if limit is None or all(one.place < limit for one in cell):
            return cell
        earlier, number = self._earlier.get(limit, (Painting(self._account), 0))
        for statement in self._added[number:-1]:
            if statement.place < limit:
                earlier.add(statement)
        self._earlier[limit] = earlier, len(self._added) - 1
        return earlier.cells.at(moment)


def _is_shown_retraction(layer: Layer) -> bool:
    return layer.kind is Kind.RETRACTION and layer.hidden_at is None


def _any(test: Test) -> Callable[[Cell], bool]:
    return lambda cell: any(map(test, cell))
