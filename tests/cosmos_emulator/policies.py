"""What a container was created with: key, time to live, index, vectors, full text. Checked,
echoed, enforced.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.cosmos_emulator.items import check_id
from tests.cosmos_emulator.keys import KeyDefinition
from tests.cosmos_emulator.refused import bad_request

MAX_DIMENSIONS = {"flat": 505, "quantizedFlat": 4096, "diskANN": 4096}
FUNCTIONS = ("cosine", "dotproduct", "euclidean")
DEFAULT_INDEX = {
    "indexingMode": "consistent",
    "automatic": True,
    "includedPaths": [{"path": "/*"}],
    "excludedPaths": [{"path": '/"_etag"/?'}],
}
FIXED = ("partitionKey", "vectorEmbeddingPolicy")
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Embedding:
    """One vector path of a policy."""

    dimensions: int
    function: str


class Policies:
    """A container's definition, as given and as understood."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = {"indexingPolicy": DEFAULT_INDEX, **given}
        self.id = check_id(given.get("id"))
        self.key = KeyDefinition(given.get("partitionKey") or {})
        self.default_ttl: int | None = _default_ttl(given.get("defaultTtl"))
        index = self.given["indexingPolicy"]
        self._included = [_steps(entry["path"]) for entry in index.get("includedPaths", [])]
        self._excluded = [_steps(entry["path"]) for entry in index.get("excludedPaths", [])]
        self._composite = [
            [
                (_steps(entry["path"]), entry.get("order", "ascending") == "descending")
                for entry in composite
            ]
            for composite in index.get("compositeIndexes", [])
        ]
        self.embeddings = _embeddings(given.get("vectorEmbeddingPolicy") or {})
        self.texts = {
            _steps(entry["path"])
            for entry in (given.get("fullTextPolicy") or {}).get("fullTextPaths", [])
        }
        self._check_indexes(index)

    def replaced_by(self, given: dict[str, Any]) -> Policies:
        """The new definition of the same container; refused where the service never lets it change,
        kept where it is silent about that.
        """
        for name in FIXED:
            if given.get(name, self.given.get(name)) != self.given.get(name):
                raise bad_request(f"{name} of a container can not be changed")
        return Policies(
            {**{name: self.given[name] for name in FIXED if name in self.given}, **given}
        )

    def can_order_by(self, path: Path) -> bool:
        """Whether one ORDER BY expression has an index: `id` and `_ts` always, else the most
        specific rule decides.
        """
        if path in (("id",), ("_ts",)):
            return True
        return _most_specific(self._included, path) > _most_specific(self._excluded, path)

    def can_order_by_all(self, orders: list[tuple[Path, bool]]) -> bool:
        """Whether several have a composite index: the same paths and directions,
        or all directions turned.
        """
        turned = [(path, not descending) for path, descending in orders]
        return any(order in (orders, turned) for order in self._composite)

    def _check_indexes(self, index: dict[str, Any]) -> None:
        for entry in index.get("vectorIndexes", []):
            path, kind = _steps(entry["path"]), entry.get("type")
            if path not in self.embeddings:
                raise bad_request(
                    f"The vector index {entry['path']} has no entry in vectorEmbeddingPolicy"
                )
            if self.embeddings[path].dimensions > MAX_DIMENSIONS.get(kind, 0):
                raise bad_request(
                    f"A {kind} index can not hold {self.embeddings[path].dimensions} dimensions"
                )
            if len(entry.get("vectorIndexShardKey", ())) > 1:
                raise bad_request(
                    f"The vector index {entry['path']} can be divided by one path only"
                )
        for entry in index.get("fullTextIndexes", []):
            if _steps(entry["path"]) not in self.texts:
                raise bad_request(
                    f"The full text index {entry['path']} has no entry in fullTextPolicy"
                )


def _default_ttl(given: Any) -> int | None:
    if given is not None and (type(given) is not int or (given != -1 and given < 1)):
        raise bad_request(
            f"The value of defaultTtl must be -1 or a positive integer, not {given!r}"
        )
    return given


def _embeddings(policy: dict[str, Any]) -> dict[Path, Embedding]:
    embeddings = {}
    for entry in policy.get("vectorEmbeddings", []):
        dimensions, function = entry.get("dimensions"), entry.get("distanceFunction")
        if type(dimensions) is not int or not 1 <= dimensions <= max(MAX_DIMENSIONS.values()):
            raise bad_request(f"vectorEmbeddingPolicy: {dimensions!r} dimensions")
        if function not in FUNCTIONS:
            raise bad_request(f"vectorEmbeddingPolicy: unknown distanceFunction {function!r}")
        embeddings[_steps(entry["path"])] = Embedding(dimensions, function)
    return embeddings


def _steps(path: str) -> Path:
    """`/a/"b"/?` → (a, b), `/a/*` → (a, *)."""
    steps = tuple(step.strip('"') for step in path.strip("/").split("/"))
    return steps[:-1] if steps[-1] == "?" else steps


def _most_specific(rules: list[Path], path: Path) -> int:
    """How specific the rule is that covers a path: `/a/?` more than `/a/*`, and that
    more than `/*`.
    """
    return max(
        (2 * len(rule) - (rule[-1:] == ("*",)) for rule in rules if _covers(rule, path)), default=0
    )


def _covers(rule: Path, path: Path) -> bool:
    if rule[-1:] == ("*",):
        return path[: len(rule) - 1] == rule[:-1]
    return rule == path
