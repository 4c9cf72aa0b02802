"""Faults on demand: which request fails, and how.

`cut_after` is the one that finds bugs: the request is carried out, its answer is lost,
and the SDK sends it again by itself.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from tests.cosmos_emulator.exchange import KEY, READS, WRITES, Asked
from tests.cosmos_emulator.refused import RANGE_GONE, Refused, bad_request

REFUSALS = {
    "throttle": (429, 3200),
    "retry_with": (449, 0),
    "gone": (410, RANGE_GONE),
    "unavailable": (503, 0),
    "timeout": (408, 0),
}
KINDS = (*REFUSALS, "status", "slow", "cut_before", "cut_after")
GROUPS = {"reads": READS, "writes": WRITES, "documents": (*READS, *WRITES)}


@dataclass(slots=True)
class Rule:
    """One fault. It strikes the next `times` matching requests after the first `skip`, or each with
    `probability` (then without end).

    operations: words of `Asked.operation`, or reads, writes, documents. key: a piece of text that
    the partition key must contain. document: the id of the one document whose requests it is for.
    """

    kind: str
    operations: tuple[str, ...] = ("documents",)
    key: str = ""
    document: str | None = None
    times: int | None = None
    skip: int = 0
    probability: float = 1.0
    retry_after_ms: int = 10
    delay_ms: int = 0
    status: int = 503
    substatus: int = 0
    seed: int = 0
    struck: int = 0
    _random: random.Random = field(default_factory=random.Random)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise bad_request(f"Unknown fault {self.kind!r}; there are {', '.join(KINDS)}")
        self.operations = tuple(
            name for word in self.operations for name in GROUPS.get(word, (word,))
        )
        self._random = random.Random(self.seed)

    def strikes(self, asked: Asked) -> bool:
        """Whether this request is to fail; counts it."""
        if asked.operation not in self.operations or self.key not in asked.headers.get(KEY, ""):
            return False
        if self.document is not None and asked.path[-1:] != (self.document,):
            return False
        if self.times is not None and self.struck >= self.times:
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        if self._random.random() >= self.probability:
            return False
        self.struck += 1
        return True

    def refusal(self) -> Refused | None:
        """The answer in place of the true one, for the kinds that have one."""
        if self.kind == "status":
            return Refused(self.status, "A fault that was asked for", self.substatus)
        if self.kind not in REFUSALS:
            return None
        status, substatus = REFUSALS[self.kind]
        headers = (
            {"x-ms-retry-after-ms": str(self.retry_after_ms)} if self.kind == "throttle" else {}
        )
        return Refused(status, "A fault that was asked for", substatus, headers)

    def shown(self) -> dict[str, Any]:
        """The rule as JSON, with how often it has struck."""
        return {
            "kind": self.kind,
            "operations": self.operations,
            "times": self.times,
            "probability": self.probability,
            "struck": self.struck,
        }


class Faults:
    """The rules that are in force, the oldest first."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []

    def add(self, given: dict[str, Any]) -> Rule:
        """A rule from its JSON."""
        unknown = given.keys() - (Rule.__dataclass_fields__.keys() - {"struck", "_random"})
        if unknown or "kind" not in given:
            raise bad_request(f"A fault has a kind and none of {sorted(unknown)}")
        rule = Rule(**{**given, "operations": tuple(given.get("operations", ("documents",)))})
        self.rules.append(rule)
        return rule

    def for_(self, asked: Asked) -> Rule | None:
        """The first rule that strikes a request."""
        return next((rule for rule in self.rules if rule.strikes(asked)), None)
