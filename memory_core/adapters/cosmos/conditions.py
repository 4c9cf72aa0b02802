"""WHERE clauses that name the owner, the kinds and a filter, with values as parameters.

Note: the partition key in the request already confines a query to its user. The clause still names
both ids, so that a request that lost its key finds no documents of other users. It also names the
key: with it the service finds the single range, and the user's own part of the vector index.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory_core.adapters.cosmos.event_pages import PAGE, WIDTH, WIDTH_S
from memory_core.adapters.cosmos.items import partition_of
from memory_core.domain.fading import MOST_USES, USES_A_TELLING, USES_THAT_DOUBLE
from memory_core.domain.messages import MESSAGE
from memory_core.domain.metadata_filter import MetadataCondition, Scalar, kind_of
from memory_core.domain.scope import Owner
from memory_core.ports import EventFilter, Filter

OVERTAKEN = ("contradicted", "consolidated", "new_version")
"""Status reasons of memories that still count at the past moments when they were valid."""
_USES = f"(c.access_count + {USES_A_TELLING} * c.reinforcement_count)"
LASTS = (
    f"(c.worth_factor ?? 1) * (1 + ({_USES} > {MOST_USES} ? {MOST_USES} : {_USES}) / "
    f"{USES_THAT_DOUBLE})"
)
"""The factor of a memory's half-life, as in `fading.half_life_multiplier`.

Uses are read here, since an access is counted in place.
"""


_COMPARISONS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_TYPE_CHECKS = {"number": "IS_NUMBER", "text": "IS_STRING", "boolean": "IS_BOOL"}


@dataclass(frozen=True, slots=True)
class Query:
    """A statement and its parameters, as the SDK takes them."""

    statement: str
    parameters: list[dict[str, Any]]


def under(bounds: Mapping[str, str], level: str) -> str:
    """The moment at which importance drops below a level, as `Fading.passed_at`.

    It is an expression in epoch seconds.

    Args:
        bounds: The names of the parameters with `Fading.bounds`.
        level: The name of the bound that is the level.

    """
    above = f"(c.halvings > {bounds[level]} ? c.halvings - {bounds[level]} : 0)"
    return f"(c.idle_since_s + {bounds['half_life']} * {LASTS} * {above})"


class Conditions:
    """Conditions that must all hold, with their parameters."""

    def __init__(self, owner: Owner, kinds: Collection[str] = ()) -> None:
        self._values: list[Any] = []
        self._parts: list[str] = []
        self.equal("c.app_id", owner.app_id)
        self.equal("c.user_id", owner.user_id)
        self.equal("c.owner", partition_of(owner))
        if kinds:
            self.among("c.kind", kinds)

    def value(self, value: Any) -> str:
        """Add a parameter with this value and return its name."""
        self._values.append(value)
        return f"@p{len(self._values) - 1}"

    def listed(self, values: Iterable[Any]) -> str:
        """Add a parameter for each value and return their names, separated by commas."""
        return ", ".join(self.value(value) for value in values)

    def add(self, condition: str) -> None:
        """Add a condition, made of this project's own text and names of parameters."""
        self._parts.append(f"({condition})")

    def equal(self, path: str, value: Any) -> None:
        """Require that a path has a value.

        Args:
            path: The path in the item.
            value: The value.

        """
        self.add(f"{path} = {self.value(value)}")

    def among(self, path: str, values: Iterable[str] | Iterable[int]) -> None:
        """Require that a path has any of several values.

        Args:
            path: The path in the item.
            values: The values; without a value no item matches.

        """
        self.add(self.is_among(path, values))

    def is_among(self, path: str, values: Iterable[str] | Iterable[int]) -> str:
        """The condition that `among` adds; `false` without a value.

        Args:
            path: The path in the item.
            values: The values.

        """
        ordered = sorted(values)
        return f"{path} IN ({self.listed(ordered)})" if ordered else "false"

    def unexpired(self, now: datetime) -> None:
        """Require that the document has not expired by this process's clock."""
        self.add(f"NOT IS_DEFINED(c.expires_at) OR c.expires_at > {self.value(now.timestamp())}")

    def of(self, epoch: str | None) -> None:
        """Require that the document is of this epoch, unless the epoch is None.

        The epoch is not indexed, so it is requested only after documents of another epoch were
        found.
        """
        if epoch is not None:
            self.equal("c.epoch", epoch)

    def within(self, where: Filter | None) -> None:
        """Apply a filter of memories and versions."""
        if where is not None:
            self._status_conditions(where)
            self._narrowed(where)

    def about(self, where: EventFilter | None) -> None:
        """Apply a filter of events."""
        if where is None:
            return
        for path, values in (
            ("c.type", where.types),
            ("c.body.event_type", where.event_types),
            ("c.memory_id", [where.memory_id]),
            ("c.body.correlation_id", [where.correlation_id]),
        ):
            if asked := [value for value in values if value is not None]:
                tags = (f"ARRAY_CONTAINS(c.tags, {self.value(value)})" for value in sorted(asked))
                self.add(f"{self.is_among(path, asked)} OR {' OR '.join(tags)}")
        if where.since is not None:
            self.add(f"c.event_at >= {self.value(where.since.timestamp())}")
        if where.until is not None:
            self.before("c.event_at", "<", where.until.timestamp(), WIDTH_S)
        if where.up_to is not None:
            self.before("c.sequence", "<=", where.up_to, WIDTH)

    def before(self, path: str, comparison: str, value: float, width: float) -> None:
        """Require that an event is before a place in the log.

        A page may have events before the place although it ends after it. Its first event is less
        than `width` before its last.

        Args:
            path: The path that is compared.
            comparison: `<` or `<=`.
            value: The place.
            width: The greatest distance between the events of a page.

        """
        page_at = f"c.kind = {self.value(PAGE)} AND {path} < {self.value(value + width)}"
        self.add(f"{path} {comparison} {self.value(value)} OR ({page_at})")

    def _status_conditions(self, where: Filter) -> None:
        has_status = self.is_among("c.status", where.standing)
        if where.at is None:
            self.add(has_status)
            if where.now is not None:
                self._valid_after(where.now)
        else:
            self.add(f"{has_status} OR {self.is_among('c.status_reason', OVERTAKEN)}")
            self.add(f"c.valid_from_s <= {self.value(where.at.timestamp())}")
            self._valid_after(where.at)

        if where.ended_by is not None:
            self.add(f"c.valid_until_s <= {self.value(where.ended_by.timestamp())}")
        if (hidden := where.hides_faded) is not None:
            rules, now = hidden
            bounds = {
                name: self.value(value)
                for name, value in rules.bounds(now).items()
                if name in ("half_life", "floor", "now")
            }
            self.add(
                f"c.status != 'active' OR NOT IS_DEFINED(c.fades) OR {under(bounds, 'floor')} >= "
                f"{bounds['now']}"
            )

    def _valid_after(self, moment: datetime) -> None:
        self.add(
            f"NOT IS_DEFINED(c.valid_until_s) OR c.valid_until_s > {self.value(moment.timestamp())}"
        )

    def _narrowed(self, where: Filter) -> None:
        for path, values in (
            ("c.type", where.types),
            ("c.category", where.categories),
            ("c.next_id", where.next_ids),
        ):
            if values:
                self.among(path, values)
        for path, value in (("c.session_id", where.session_id), ("c.agent_id", where.agent_id)):
            if value is not None:
                self.equal(path, value)
        if where.without_session_id is not None:
            other_session = f"c.session_id != {self.value(where.without_session_id)}"
            self.add(f"NOT IS_DEFINED(c.session_id) OR IS_NULL(c.session_id) OR {other_session}")
        if where.tags:
            self.add(
                " OR ".join(
                    f"ARRAY_CONTAINS(c.tags, {self.value(tag)})" for tag in sorted(where.tags)
                )
            )
        if where.hide_formed_messages:
            unformed = "NOT IS_DEFINED(c.cell_id) OR IS_NULL(c.cell_id)"
            if where.unformed:
                unformed += f" OR {self.is_among('c.id', where.unformed)}"
            if where.later_than is not None:
                unformed += f" OR c.sequence > {self.value(where.later_than)}"
            self.add(f"{self._is_no_message()} OR {unformed}")
        for moment, comparison in ((where.since, ">="), (where.until, "<")):
            if moment is not None:
                self.add(f"c.event_at {comparison} {self.value(moment.timestamp())}")

        for condition in where.metadata:
            self.add(self._of_metadata(condition))

    def _of_metadata(self, condition: MetadataCondition) -> str:
        """A condition on metadata.

        The steps of its path are names without quotes or escapes. Values are parameters.
        """
        field = "c.metadata" + "".join(f'["{step}"]' for step in condition.path)
        match condition.operator:
            case "eq" | "in":
                return " OR ".join(self._is_equal(field, choice) for choice in condition.choices)
            case "ne":
                kind = kind_of(condition.value)
                if kind == "null":
                    return f"IS_DEFINED({field}) AND NOT IS_NULL({field})"
                # Values of two types may compare as neither true nor false, so that the type is
                # asked for apart.
                return (
                    f"NOT IS_DEFINED({field}) OR NOT {_TYPE_CHECKS[kind]}({field}) OR {field} != "
                    f"{self.value(condition.value)}"
                )
            case operator:
                is_of_type = f"{_TYPE_CHECKS[kind_of(condition.value)]}({field})"
                return (
                    f"{is_of_type} AND {field} {_COMPARISONS[operator]} "
                    f"{self.value(condition.value)}"
                )

    def _is_equal(self, field: str, choice: Scalar) -> str:
        return (
            f"(NOT IS_DEFINED({field}) OR IS_NULL({field}))"
            if choice is None
            else f"{field} = {self.value(choice)}"
        )

    def no_messages(self) -> None:
        """Leave messages out."""
        self.add(self._is_no_message())

    def _is_no_message(self) -> str:
        # Unlike values of two types may compare as neither true nor false, so that null is
        # asked for apart.
        return (
            "NOT IS_DEFINED(c.category) OR IS_NULL(c.category) OR c.category != "
            f"{self.value(MESSAGE)}"
        )

    def query(self, select: str, order: str = "", joined: str = "") -> Query:
        """The query for the documents that meet all conditions.

        Args:
            select: The text after SELECT.
            order: The ORDER BY clause; empty for no order.
            joined: A JOIN with members of arrays in the documents; empty for none.

        """
        parameters = [
            {"name": f"@p{number}", "value": value} for number, value in enumerate(self._values)
        ]
        source = f"c {joined}" if joined else "c"
        statement = f"SELECT {select} FROM {source} WHERE {' AND '.join(self._parts)} {order}"  # noqa: S608 - our own text, values are parameters
        return Query(statement.rstrip(), parameters)
