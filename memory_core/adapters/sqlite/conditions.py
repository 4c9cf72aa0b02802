"""What a filter means as SQL, for pages.

`memory_index.masks` says the same of a slice, for searches; the contract suite holds them
together.

Note: with `at`, a memory that was overtaken since (contradicted, consolidated, new version)
counts whatever its status is now, and old versions count too; without it neither does.
"""

from __future__ import annotations

from typing import Any

from memory_core.adapters.sqlite.database import NO_FORMED_MESSAGE
from memory_core.adapters.sqlite.rows import listed
from memory_core.domain.metadata_filter import MetadataCondition, kind_of
from memory_core.ports import EventFilter, Filter

_NOT_FADED = (
    "(status != 'active' OR halvings IS NULL "
    "OR idle_since + :fades_after * COALESCE(lasts, 1) * MAX(halvings - :fades_under, 0) >= "
    ":fades_by)"
)
"""`fading.has_faded` for active memories. Memories that do not fade have no `halvings`."""


def conditions(where: Filter | None) -> tuple[str, dict[str, Any]]:
    """A filter as SQL to append to a WHERE, with its parameters.

    Every piece begins with AND, and all parameters are named.
    """
    if where is None:
        return "", {}
    parts: list[str] = []
    parameters: dict[str, Any] = {"statuses": listed(where.standing)}
    has_status = "status IN (SELECT value FROM json_each(:statuses))"
    if where.at is None:
        parts.append(has_status)
        if where.now is not None:
            parts.append("(valid_until IS NULL OR valid_until > :valid_now)")
            parameters["valid_now"] = where.now.timestamp()
    else:
        parts.append(
            f"({has_status} OR status_reason IN ('contradicted', 'consolidated', 'new_version'))"
        )
        parts.append("valid_from <= :at AND (valid_until IS NULL OR valid_until > :at)")
        parameters["at"] = where.at.timestamp()
    if where.ended_by is not None:
        parts.append("valid_until <= :ended_by")
        parameters["ended_by"] = where.ended_by.timestamp()
    if (hidden := where.hides_faded) is not None:
        rules, now = hidden
        parts.append(_NOT_FADED)
        bounds = rules.bounds(now)
        parameters |= {
            "fades_after": bounds["half_life"],
            "fades_under": bounds["floor"],
            "fades_by": bounds["now"],
        }
    for column, values in (
        ("type", where.types),
        ("category", where.categories),
        ("next_id", where.next_ids),
    ):
        if values:
            parts.append(f"{column} IN (SELECT value FROM json_each(:{column}_values))")  # noqa: S608 - our own names
            parameters[f"{column}_values"] = listed(values)
    if where.tags:
        parts.append(
            "EXISTS (SELECT 1 FROM json_each(documents.tags) AS tag WHERE tag.value IN "
            "(SELECT value FROM json_each(:tags)))"
        )
        parameters["tags"] = listed(where.tags)
    for column, value in (("session_id", where.session_id), ("agent_id", where.agent_id)):
        if value is not None:
            parts.append(f"{column} = :{column}")
            parameters[column] = value
    if where.hide_formed_messages:
        parts.append(NO_FORMED_MESSAGE)
    if where.without_session_id is not None:
        parts.append("session_id IS NOT :without_session_id")
        parameters["without_session_id"] = where.without_session_id
    for name, moment, comparison in (("since", where.since, ">="), ("until", where.until, "<")):
        if moment is not None:
            parts.append(f"event_at {comparison} :{name}")
            parameters[name] = moment.timestamp()
    for number, condition in enumerate(where.metadata):
        parts.append(_of_metadata(condition, f"metadata_{number}", parameters))
    return "".join(f" AND {part}" for part in parts), parameters


_TEXT_OF_BODY = "CASE WHEN json_valid(CAST(body AS TEXT)) THEN CAST(body AS TEXT) END"
"""The body as text.

A body that cannot be parsed has no metadata: it must not fail a list.
"""
_COMPARISONS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_JSON_TYPES = {"number": "('integer', 'real')", "text": "('text')"}


def _of_metadata(condition: MetadataCondition, name: str, parameters: dict[str, Any]) -> str:
    """A condition on metadata as SQL. The path and all values are parameters."""
    parameters[f"{name}_path"] = "$." + ".".join(
        f'"{step}"' for step in ("metadata", *condition.path)
    )
    kind, value = (
        f"json_type({_TEXT_OF_BODY}, :{name}_path)",
        f"json_extract({_TEXT_OF_BODY}, :{name}_path)",
    )

    def equals(choice: Any, number: int) -> str:
        match kind_of(choice):
            case "null":
                return f"COALESCE({kind}, 'null') = 'null'"
            case "boolean":
                return f"{kind} = '{'true' if choice else 'false'}'"
            case known:
                parameters[f"{name}_{number}"] = choice
                return f"({kind} IN {_JSON_TYPES[known]} AND {value} = :{name}_{number})"

    match condition.operator:
        case "eq" | "in":
            return f"({' OR '.join(equals(choice, number) for number, choice in enumerate(condition.choices))})"  # noqa: E501
        case "ne":
            return f"NOT COALESCE({equals(condition.value, 0)}, 0)"
        case operator:
            parameters[f"{name}_0"] = condition.value
            return (
                f"({kind} IN {_JSON_TYPES[kind_of(condition.value)]} AND {value} "
                f"{_COMPARISONS[operator]} :{name}_0)"
            )


def event_conditions(where: EventFilter | None) -> tuple[str, dict[str, Any]]:
    """A filter of events as SQL to append to a WHERE, with its parameters."""
    if where is None:
        return "", {}
    parts: list[str] = []
    parameters: dict[str, Any] = {}
    for column, values in (("type", where.types), ("event_type", where.event_types)):
        if values:
            parts.append(f"{column} IN (SELECT value FROM json_each(:{column}_values))")  # noqa: S608 - our own names
            parameters[f"{column}_values"] = listed(values)
    compared = (
        ("memory_id", "=", where.memory_id),
        ("correlation_id", "=", where.correlation_id),
        ("event_at", ">=", None if where.since is None else where.since.timestamp()),
        ("event_at", "<", None if where.until is None else where.until.timestamp()),
        ("sequence", "<=", where.up_to),
    )
    for number, (column, comparison, value) in enumerate(compared):
        if value is not None:
            parts.append(f"{column} {comparison} :event_{number}")
            parameters[f"event_{number}"] = value
    return "".join(f" AND {part}" for part in parts), parameters
