"""The documents of a container as one replica has them: partitions, each with the indexes that
searches have asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.cosmos_emulator.fulltext import TextIndex
from tests.cosmos_emulator.items import Item, step_into
from tests.cosmos_emulator.policies import Embedding, Path
from tests.cosmos_emulator.values import Equality, ValueIndex
from tests.cosmos_emulator.vectors import VectorIndex

TELLING = 0.25
"""Share of the documents up to which looking them up one by one is faster than running
through all.
"""


class Partition:
    """One logical partition."""

    def __init__(self, key: str, place: str) -> None:
        self.key = key
        self.place = place
        self.items: dict[str, Item] = {}
        self._vectors: dict[Path, VectorIndex] = {}
        self._texts: dict[Path, TextIndex] = {}
        self._values: dict[Path, ValueIndex] = {}

    def put(self, item: Item) -> None:
        """Add or replace."""
        self._unindex_values(item.id)
        self.items[item.id] = item
        for values in self._values.values():
            values.add(item)
        for vector_path, vectors in self._vectors.items():
            _index_vector(vectors, vector_path, item)
        for text_path, texts in self._texts.items():
            _index_text(texts, text_path, item)

    def remove(self, id_: str) -> None:
        """Forget a document, if it is here."""
        self._unindex_values(id_)
        self.items.pop(id_, None)
        for vectors in self._vectors.values():
            vectors.remove(id_)
        for texts in self._texts.values():
            texts.remove(id_)

    def narrowed(self, wanted: Sequence[Equality]) -> list[Item]:
        """The documents that the most telling equality leaves, in the order in which they were
        created; all, if it leaves many.
        """
        counted = [(self._values_at(path).count(values), path, values) for path, values in wanted]
        count, path, values = min(
            counted, key=lambda candidate: candidate[0], default=(len(self.items), (), frozenset())
        )
        if count > len(self.items) * TELLING:
            return list(self.items.values())
        return sorted(
            (self.items[id_] for id_ in self._values_at(path).holding(values)),
            key=lambda item: item.rid,
        )

    def vectors(self, path: Path, policy: Embedding) -> VectorIndex:
        """The matrix at a path, built when first asked for."""
        if path not in self._vectors:
            index = self._vectors[path] = VectorIndex(policy.dimensions, policy.function)
            for item in self.items.values():
                _index_vector(index, path, item)
        return self._vectors[path]

    def texts(self, path: Path) -> TextIndex:
        """The postings at a path, built when first asked for."""
        if path not in self._texts:
            index = self._texts[path] = TextIndex()
            for item in self.items.values():
                _index_text(index, path, item)
        return self._texts[path]

    def _values_at(self, path: Path) -> ValueIndex:
        if path not in self._values:
            self._values[path] = ValueIndex(path, self.items.values())
        return self._values[path]

    def _unindex_values(self, id_: str) -> None:
        if (item := self.items.get(id_)) is not None:
            for values in self._values.values():
                values.remove(item)


class Copy:
    """All partitions, by key."""

    def __init__(self) -> None:
        self.lsn = 0
        self._partitions: dict[str, Partition] = {}

    def get(self, key: str, id_: str) -> Item | None:
        """A document, or None."""
        partition = self._partitions.get(key)
        return partition.items.get(id_) if partition else None

    def put(self, item: Item, place: str) -> None:
        """Add or replace; `place` is the hash of its key."""
        if item.key not in self._partitions:
            self._partitions[item.key] = Partition(item.key, place)
        self._partitions[item.key].put(item)

    def remove(self, key: str, id_: str) -> None:
        """Forget a document, if it is here."""
        if partition := self._partitions.get(key):
            partition.remove(id_)
            if not partition.items:
                del self._partitions[key]

    def of_key(self, key: str) -> list[Partition]:
        """The partition of a full key, if it has documents."""
        return [self._partitions[key]] if key in self._partitions else []

    def between(self, minimum: str, maximum: str) -> list[Partition]:
        """The partitions whose place is in [minimum, maximum)."""
        return [
            partition
            for partition in self._partitions.values()
            if minimum <= partition.place < maximum
        ]

    def items(self) -> Iterator[Item]:
        """Every document."""
        for partition in self._partitions.values():
            yield from partition.items.values()


def _index_vector(index: VectorIndex, path: Path, item: Item) -> None:
    vector: Any = step_into(item.body, path)
    if isinstance(vector, np.ndarray):
        index.put(item.id, vector)
    else:
        index.remove(item.id)


def _index_text(index: TextIndex, path: Path, item: Item) -> None:
    text: Any = step_into(item.body, path)
    if isinstance(text, str):
        index.put(item.id, text)
    else:
        index.remove(item.id)
