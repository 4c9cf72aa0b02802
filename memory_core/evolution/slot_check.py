"""Compare what is stored of the members of slots with the logs of the slots."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory_core.domain.event_log import is_version
from memory_core.domain.memory import Memory, Status
from memory_core.domain.scope import Owner
from memory_core.domain.truth.codec import entries_in
from memory_core.domain.truth.entries import Entry
from memory_core.domain.truth.resolve import resolve
from memory_core.domain.truth.slots import SlotName, slot_name
from memory_core.evolution.truth_projection import Projection, project
from memory_core.ledger.ids import slot_document_id, slot_of_part
from memory_core.ledger.readable import as_memory
from memory_core.ports import Clock, Document, Filter, LongTermStore, Place

_PAGE = 100
_EVERY = Filter(frozenset(status.value for status in Status))


@dataclass(frozen=True, slots=True)
class Difference:
    """A member whose stored fields differ from the timeline of its slot.

    Attributes:
        memory_id: Id of the member.
        slot_id: Id of the slot's document.
        fields: By name, the stored value and the value of the timeline. It is empty if a member is
            not stored, or is not in the log.

    """

    memory_id: str
    slot_id: str
    fields: dict[str, tuple[Any, Any]]


class SlotCheck:
    """Reads stores, and names every member that differs."""

    def __init__(self, store: LongTermStore, clock: Clock) -> None:
        self._store, self._clock = store, clock

    async def lines(self, app_id: str | None, only: Owner | None) -> AsyncIterator[str]:
        """A line for each difference.

        A line has the app, user, slot and memory, and its fields as they are stored and as they
        should be.

        Args:
            app_id: The app whose users are read; None for every app.
            only: A single user to read; None for all.

        """
        async for owner in self._owners(app_id, only):
            for difference in await differences(self._store, owner, self._clock.now()):
                fields = ", ".join(
                    f"{name} {stored} should be {wanted}"
                    for name, (stored, wanted) in difference.fields.items()
                )
                yield (
                    f"{owner.app_id} {owner.user_id} {difference.slot_id} {difference.memory_id}: "
                    f"{fields or 'is not in both'}"
                )

    async def _owners(self, app_id: str | None, only: Owner | None) -> AsyncIterator[Owner]:
        if only is not None:
            yield only
            return
        after: Owner | None = None
        while page := await self._store.owners(after, _PAGE, app_id):
            for owner, _ in page:
                yield owner
            after = page[-1][0]


async def differences(store: LongTermStore, owner: Owner, now: datetime) -> list[Difference]:
    """The differences among the members of an owner's slots that have a log.

    Args:
        store: Store to read from.
        owner: Whose slots they are.
        now: The moment at which statuses are compared. A status whose end came since the last
            commit is no difference: a run changes it.

    Returns:
        A difference for each member that differs, in the order of slots and members.

    Raises:
        Unavailable: The store is down.

    """
    head = (await store.snapshot(owner)).head
    logs = {
        document.id: document
        async for document in _documents(store, owner, "slot")
        if head is not None and document.body["epoch"] == head.epoch
    }
    if head is None or not logs:
        return []
    members: dict[str, dict[str, Memory]] = {}
    for kind in ("memory", "version"):
        async for document in _documents(store, owner, kind):
            memory = None if document.damaged else as_memory(document, head)
            name: SlotName | None = None if memory is None else slot_name(memory)
            if memory is not None and name is not None:
                members.setdefault(slot_document_id(*name), {})[memory.id] = memory
    entries: dict[str, list[Entry]] = {}
    for document_id, log in sorted(logs.items()):
        entries.setdefault(slot_of_part(document_id), []).extend(entries_in(log.body["entries"]))
    made: list[Difference] = []
    for slot_id, slot_entries in entries.items():
        rows = project(resolve(slot_entries), now)
        made += differences_in(slot_id, rows, members.get(slot_id, {}), now)
    return made


def differences_in(
    slot_id: str, rows: Mapping[str, Projection], stored: Mapping[str, Memory], now: datetime
) -> list[Difference]:
    """The differences between the rows of a log and the stored members.

    Args:
        slot_id: Id of the slot's document.
        rows: By the timeline of the log, by id.
        stored: The stored members, by id.
        now: The moment at which statuses are compared.

    """
    made = list[Difference]()
    for name, row in sorted(rows.items()):
        member = stored.get(name)
        fields = {} if member is None else row.differences(member)
        is_due = row.valid_until is not None and row.valid_until <= now
        if member is not None and member.status is Status.ACTIVE and is_due:
            fields = {name: pair for name, pair in fields.items() if not name.startswith("status")}
        if member is None or fields:
            made.append(Difference(name, slot_id, fields))
    return made + [
        Difference(name, slot_id, {})
        for name, memory in sorted(stored.items())
        if name not in rows and not is_version(name) and not _never_was(memory)
    ]


def _never_was(memory: Memory) -> bool:
    """Whether it is an earlier interval of a memory that no longer holds."""
    return memory.status is Status.DELETED and memory.status_reason == "contradicted"


async def _documents(store: LongTermStore, owner: Owner, kind: Any) -> AsyncIterator[Document]:
    after: Place | None = None
    where = _EVERY if kind in ("memory", "version") else None
    while True:
        page = await store.page(owner, kind, where, after, _PAGE, newest_first=False)
        for document in page:
            yield document
        if len(page) < _PAGE:
            return
        after = Place(int(page[-1].body["sequence"]), page[-1].id)
