"""What an archive run goes by, frozen when it is asked for: so that every worker who takes it up decides alike."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from memory_core.domain.archival import is_due, least_age
from memory_core.domain.models import Memory, Status
from memory_core.ports import Filter

ARCHIVABLE = frozenset(status.value for status in Status if status not in (Status.DELETED, Status.ARCHIVED))
"""Statuses that a memory may be archived from."""


@dataclass(frozen=True, slots=True)
class ArchiveRules:
    """age_years: for how long a memory has to be untouched. recency_hours: the age that leaves 37 % of SECMSA's recency."""

    age_years: float
    recency_hours: float

    @property
    def least_age(self) -> timedelta:
        """For how long nothing may have changed a memory that the archive takes."""
        return least_age(self.age_years, self.recency_hours)


@dataclass(frozen=True, slots=True)
class Plan:
    """What one run goes by, frozen: the moment that ages are measured from, whose memories, up to which sequence."""

    now: datetime
    until: int
    session_id: str | None
    rules: ArchiveRules

    def body(self) -> dict[str, Any]:
        """As an operation keeps it."""
        rules = {"age_years": self.rules.age_years, "recency_hours": self.rules.recency_hours}
        return {"now": self.now.isoformat(), "until": self.until, "session_id": self.session_id, "rules": rules}

    @classmethod
    def of(cls, body: dict[str, Any]) -> Plan:
        """From an operation."""
        return cls(datetime.fromisoformat(body["now"]), int(body["until"]), body["session_id"], ArchiveRules(**body["rules"]))

    def is_due(self, memory: Memory) -> bool:
        """Whether a memory is old enough."""
        return is_due(memory, self.now, age_years=self.rules.age_years, recency_hours=self.rules.recency_hours)

    @property
    def where(self) -> Filter:
        """Which memories the run meets."""
        return Filter(ARCHIVABLE, session_id=self.session_id)
