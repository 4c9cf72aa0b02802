"""Events folded are the memories and the old versions that the same commits stored,
however the log is cut.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from memory_core.domain.event_log import LoggedState, States, cut_short, fold, version_id
from memory_core.domain.memory import (
    UNLOGGED_FIELDS,
    Event,
    Foresight,
    Head,
    Memory,
    MemoryType,
    Status,
)
from memory_core.domain.results import Call
from memory_core.evolution.versions import new_version, version_document
from memory_core.ledger.batch import assemble
from memory_core.ledger.changes import Change, Changes
from memory_core.ledger.readable import as_memory
from memory_core.ports import Document
from tests.builders import NOW, memory

NAMES = st.sampled_from(["mem_a", "mem_b", "mem_c"])
DAYS = st.integers(-5, 5).map(lambda days: NOW + timedelta(days=days))


@dataclass
class Book:
    """What commits leave behind: the documents as a store keeps them, and the log."""

    head: Head | None = None
    documents: dict[str, Document] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)

    def memory(self, name: str) -> Memory | None:
        document = self.documents.get(name)
        return None if document is None else Memory.model_validate(document.body)

    def commit(self, *changes: Change, puts: tuple[Document, ...] = ()) -> None:
        number = len(self.events)
        made = assemble(
            self.head,
            Changes(None, changes, puts),
            commit_id=f"cmt_{number}",
            epoch="ep",
            now=NOW,
            call=Call(),
        ).batch
        self.head = made.head
        self.events += made.events
        self.documents |= {write.document.id: write.document for write in made.writes}

    def create(self, name: str) -> None:
        stored_memory = self.memory(name)
        if stored_memory is None or stored_memory.status is Status.DELETED:
            created_at = NOW + timedelta(seconds=len(self.events))
            foresight = [Foresight(description="rain", start_time=NOW)]
            made = memory(
                "green tea",
                id=name,
                type=MemoryType.SEMANTIC,
                created_at=created_at,
                epoch="",
                foresight=foresight,
            )
            self.commit(Change("created", made, stored_memory))

    def change(self, name: str, **fields: Any) -> None:
        stored_memory = self.memory(name)
        if stored_memory is not None and stored_memory.status is Status.ACTIVE:
            self.commit(Change("changed", stored_memory.model_copy(update=fields), stored_memory))

    def update(self, name: str, reinforced_too: bool, **fields: Any) -> None:
        stored_memory = self.memory(name)
        if stored_memory is None or stored_memory.status is not Status.ACTIVE:
            return
        changes: list[Change] = []
        if reinforced_too:
            changes = [
                Change(
                    "reinforced",
                    stored_memory.model_copy(
                        update={"reinforcement_count": stored_memory.reinforcement_count + 1}
                    ),
                    stored_memory,
                )
            ]
            stored_memory = changes[0].after
        after, document = new_version(
            stored_memory, fields, NOW + timedelta(seconds=len(self.events))
        )
        wanted = [
            version_id(name, number)
            for number in range(1, stored_memory.version)
            if after.valid_from < stored_memory.valid_from
        ]
        versions = [
            old_version
            for each in wanted
            if each in self.documents
            and (old_version := as_memory(self.documents[each], self.head)) is not None
        ]
        cut = [
            version_document(shortened)
            for version in versions
            if (shortened := cut_short(version, after.valid_from)) is not None
        ]
        self.commit(*changes, Change("updated", after, stored_memory), puts=(document, *cut))

    def redact(self, name: str) -> None:
        self.events = [
            event.model_copy(update={"redacted": True, "before": {}, "after": {}, "metadata": {}})
            if event.memory_id == name
            else event
            for event in self.events
        ]
        self.documents = {
            key: document for key, document in self.documents.items() if key.split(".")[0] != name
        }


ACTS = st.one_of(
    st.tuples(st.just("create"), NAMES, st.just({})),
    st.tuples(
        st.just("change"), NAMES, st.fixed_dictionaries({"tags": st.sampled_from([[], ["x"]])})
    ),
    st.tuples(
        st.just("change"),
        NAMES,
        st.just({"status": Status.DELETED, "status_reason": "manual_delete"}),
    ),
    st.tuples(
        st.just("update"),
        NAMES,
        st.fixed_dictionaries(
            {"reinforced_too": st.booleans()},
            optional={
                "content": st.sampled_from(["a", "b"]),
                "valid_from": DAYS,
                "valid_until": DAYS,
            },
        ),
    ),
    st.tuples(st.just("redact"), NAMES, st.just({})),
)


@given(st.lists(ACTS, max_size=25))
def test_the_log_tells_what_the_store_holds(acts: list[tuple[str, str, dict[str, Any]]]) -> None:
    book = Book()
    for act, name, fields in acts:
        getattr(book, act)(name, **fields)
        assert logged(fold({}, book.events)) == {
            key: as_logged(Memory.model_validate(document.body))
            for key, document in book.documents.items()
        }


@given(st.lists(ACTS, max_size=25), st.data())
def test_a_snapshot_may_stand_for_what_comes_before_it(
    acts: list[tuple[str, str, dict[str, Any]]], data: st.DataObject
) -> None:
    book = Book()
    for act, name, fields in acts:
        getattr(book, act)(name, **fields)
    cut = data.draw(st.integers(0, len(book.events)))
    before = fold({}, book.events[:cut])
    rows = orjson.loads(orjson.dumps({name: state.row() for name, state in before.items()}))
    snapshot = {name: LoggedState.of_row(row) for name, row in rows.items()}
    whole = fold({}, book.events)
    assert logged(fold(before, book.events[cut:])) == logged(whole)
    assert logged(fold(snapshot, book.events[cut:])) == logged(whole)
    assert fold(snapshot, []) == snapshot


def test_folding_leaves_the_states_it_begins_with_alone() -> None:
    book = Book()
    book.create("mem_a")
    states = fold({}, book.events)
    book.update("mem_a", reinforced_too=False, content="b")
    later = fold(states, book.events[1:])
    assert states.keys() == {"mem_a"}
    assert states["mem_a"].fields["content"] == "green tea"
    assert later.keys() == {"mem_a", "mem_a.v1"}


def test_what_is_told_anew_after_it_was_forgotten_is_a_memory_again() -> None:
    book = Book()
    book.create("mem_a")
    book.change("mem_a", tags=["x"])
    book.redact("mem_a")
    assert fold({}, book.events) == {}
    book.create("mem_a")
    states = fold({}, book.events)
    assert (states["mem_a"].sequence, states["mem_a"].revision) == (3, 3)


def as_logged(stored_memory: Memory) -> dict[str, Any]:
    """The fields that the log records, and the places in it that it gives."""
    fields = stored_memory.model_dump(mode="json", exclude=set(UNLOGGED_FIELDS))
    return {
        **fields,
        "sequence": stored_memory.sequence,
        "revision": stored_memory.revision,
        "epoch": stored_memory.epoch,
    }


def logged(states: States) -> dict[str, dict[str, Any]]:
    return {name: as_logged(state.memory("ep")) for name, state in states.items()}
