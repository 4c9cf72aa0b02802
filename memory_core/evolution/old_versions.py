"""Old versions of a memory, as a decision may read them: those of a look, and over them those that its own commit is about to write."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from memory_core.domain.models import Memory
from memory_core.domain.versions import version_id
from memory_core.evolution.ruled import LookedElsewhere
from memory_core.ledger.commit import Look, as_memory
from memory_core.ports import Document


class Versions:
    """The old versions that a decision may see: those of a look, and over them those that its own commit is about to write.

    asked: ids that the look was asked for, whether it found them or not.
    """

    def __init__(self, look: Look, asked: Collection[str], pending: Mapping[str, Document] | None = None) -> None:
        self._look, self._asked, self._pending = look, asked, {} if pending is None else pending

    def with_pending(self, puts: Iterable[Document]) -> Versions:
        """The same, once these documents are written as well."""
        return Versions(self._look, self._asked, {**self._pending, **{one.id: one for one in puts}})

    def before(self, memory: Memory) -> list[Memory]:
        """All versions before this one, as far as there are any. Raises LookedElsewhere when some were not asked for."""
        names = [version_id(memory.id, number) for number in range(1, memory.version)]
        if missing := [name for name in names if name not in self._pending and name not in self._asked]:
            raise LookedElsewhere(missing)
        return [version for name in names if (version := self._version(name)) is not None]

    def _version(self, name: str) -> Memory | None:
        if name in self._pending:
            return Memory.model_validate({**self._pending[name].body, "embedding": self._pending[name].vector})
        found = self._look.documents.get(name)
        return None if found is None else as_memory(found, self._look.head)
