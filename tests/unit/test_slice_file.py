"""The file of a slice: what is written is read again, and what is not whole is not read."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timezone
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core.adapters.memory_index.columns import CODED, FINDABLE, Slice
from memory_core.adapters.memory_index.rough import LEAST_ROWS, coded, is_usable
from memory_core.adapters.memory_index.search import find, neighbours
from memory_core.adapters.memory_index.slice_file import (
    FORMAT,
    Identity,
    Unfit,
    read_slice,
    write_slice,
)
from memory_core.adapters.memory_index.word_scores import LEAST_PRUNED
from memory_core.domain.memory import Lexical
from memory_core.ports import Filter, Near, Search
from tests.builders import NOW, memory, unit

IDENTITY = Identity("app", "alice", "one", 8, 0)
WORDS = ["tea", "cup", "rain", "moon", "日本", "é"]
STATUSES = ["active", "active", "decayed", "deleted", "superseded"]
FOUND = Filter(FINDABLE)


def put(user_slice: Slice, name: str, vector: int | None, **fields: Any) -> None:
    stored = memory(id=name, **fields)
    blob = None if vector is None else unit(vector, user_slice.vectors.dimensions).tobytes()
    user_slice.put(stored.id, "memory", stored.model_dump(mode="json"), blob)


@contextmanager
def written(
    user_slice: Slice, identity: Identity = IDENTITY, path: Path | None = None
) -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        path = path or Path(folder) / "slice"
        with path.open("wb") as file:
            write_slice(file, user_slice.snapshot(), identity)
        yield path


def packed(user_slice: Slice, identity: Identity = IDENTITY) -> Slice:
    """The slice as another process opens it."""
    opened = Slice(identity.dimensions)
    with written(user_slice, identity) as path:
        opened.load(read_slice(path, identity))
    return opened


def said(user_slice: Slice) -> dict[str, Any]:
    """All that a slice says, whatever the numbers of its rows."""
    rows = user_slice.column("alive").nonzero()[0].tolist()
    ids = [user_slice.ids[row] for row in rows]
    named: dict[str, Any] = {
        identity: {
            name: repr(user_slice.column(name)[row].item())
            for name in user_slice._columns
            if name not in (*CODED, "beside", "numbers", "previous", "next")
        }
        for identity, row in zip(ids, rows, strict=True)
    }
    for identity, row in zip(ids, rows, strict=True):
        of_row = named[identity]
        assert user_slice.row(identity) == row
        for column, codes in CODED.items():
            code = user_slice.column(column)[row]
            of_row[column] = None if code < 0 else getattr(user_slice, codes).names[code]
        for column in ("previous", "next"):
            beside = user_slice.column(column)[row]
            alive = beside >= 0 and user_slice.column("alive")[beside]
            of_row[column] = user_slice.ids[beside] if alive else None
        of_row["vector"] = (
            user_slice.vectors.blocks
            and [vector.tolist() for block in user_slice.vectors.blocks for vector in block][row]
        )
        of_row["order"] = user_slice.orders([row]).get(0)
        of_row["states"] = (user_slice.states([row]) or [None])[0]
        of_row["tags"] = [tag for tag in WORDS if row in user_slice.tagged(tag).tolist()]
        postings = user_slice.index.find(WORDS)
        at = (postings.rows == row).nonzero()[0]
        of_row["words"] = [
            (int(postings.term[each]), float(postings.tf[each]), bool(postings.own[each]))
            for each in at
        ]
    return {
        "memories": named,
        "order": ids,
        "epoch": (user_slice.epoch, user_slice.change),
        "counts": (user_slice.documents, user_slice.turns, user_slice.expiring),
        "lengths": (user_slice.total_length, user_slice.total_log_length),
        "actors": user_slice.known_actors,
        "types": [user_slice.findable_of([kind]) for kind in ("episodic", "semantic")],
    }


@st.composite
def operations(draw: st.DrawFn) -> list[tuple[str, dict[str, Any]]]:
    """Memories that are put, put again with a change, or dropped, by few names."""
    made = []
    for _ in range(draw(st.integers(0, 14))):
        name = f"m{draw(st.integers(0, 8))}"
        if draw(st.integers(0, 4)) == 0:
            made.append((name, {}))
            continue
        own = draw(st.dictionaries(st.sampled_from(WORDS), st.integers(1, 3), max_size=3))
        lexical = Lexical(
            own=own,
            previous=draw(st.dictionaries(st.sampled_from(WORDS), st.integers(1, 2), max_size=2)),
            turn=draw(st.none() | st.integers(0, 3)),
            order=draw(st.sampled_from(["", "AAEAAg=="])),
            states=draw(st.sampled_from(["", "2" + "a" * 48, "2" + "b" * 96])),
        )
        fields = {
            "lexical": lexical,
            "status": draw(st.sampled_from(STATUSES)),
            "type": draw(st.sampled_from(["episodic", "semantic"])),
            "tags": draw(st.lists(st.sampled_from(WORDS), max_size=2, unique=True)),
            "session_id": draw(st.sampled_from([None, "s", "t"])),
            "actor": draw(st.sampled_from([None, "Ana", "Bruno"])),
            "cell_id": draw(st.sampled_from([None, "cell"])),
            "valid_until": draw(st.sampled_from([None, NOW])),
            "access_count": draw(st.integers(0, 3)),
            "vector": draw(st.none() | st.integers(0, 5)),
        }
        made.append((name, fields))
    return made


def apply(user_slice: Slice, operations: list[tuple[str, dict[str, Any]]]) -> None:
    for name, fields in operations:
        if fields:
            put(user_slice, name, **fields)
        else:
            user_slice.drop(name)
        user_slice.epoch, user_slice.change = "epoch-1", user_slice.change + 1


@settings(deadline=None, max_examples=30)
@given(operations(), operations(), operations())
def test_a_slice_is_what_it_was_after_a_file_and_goes_on_as_it_would_have(
    before: list[Any], between: list[Any], after: list[Any]
) -> None:
    usual = Slice(8)
    apply(usual, before)
    opened = packed(usual)
    assert said(opened) == said(usual)
    for more in (between, after):
        apply(usual, more)
        apply(opened, more)
        assert said(opened) == said(usual)
        opened = packed(opened)
        assert said(opened) == said(usual)
        assert opened.fallen == 0


def sample() -> Slice:
    user_slice = Slice(8)
    for number in range(6):
        put(
            user_slice,
            f"mem_{number}",
            number,
            session_id="s",
            actor="Ana",
            tags=["tea"],
            lexical=Lexical(
                own={"tea": 1, f"word{number}": 2},
                previous={"cup": 1},
                before_previous={"rain": 1},
                previous_asks=True,
                turn=number,
            ),
            subject="Ana",
            attribute="city",
            worth="health",
        )
    user_slice.epoch, user_slice.change = "epoch-1", 6
    return user_slice


def test_a_file_with_any_byte_changed_is_refused() -> None:
    with written(sample()) as path:
        content = path.read_bytes()
        for place in (*range(64), *range(64, len(content), 5), len(content) - 1):
            damaged = bytearray(content)
            damaged[place] ^= 1 << place % 8
            path.write_bytes(damaged)
            with pytest.raises(Unfit):
                read_slice(path, IDENTITY)
        path.write_bytes(content)
        read_slice(path, IDENTITY)


def test_a_file_that_is_cut_anywhere_or_longer_is_refused() -> None:
    with written(sample()) as path:
        content = path.read_bytes()
        for size in (*range(0, len(content), 37), len(content) - 1):
            path.write_bytes(content[:size])
            with pytest.raises(Unfit):
                read_slice(path, IDENTITY)
        path.write_bytes(content + b"\0")
        with pytest.raises(Unfit):
            read_slice(path, IDENTITY)


@pytest.mark.parametrize(
    "other",
    [
        IDENTITY._replace(app_id="other"),
        IDENTITY._replace(user_id="bob"),
        IDENTITY._replace(model="two"),
        IDENTITY._replace(dimensions=4),
        IDENTITY._replace(redactions=1),
    ],
)
def test_a_file_of_another_user_embedder_or_time_before_a_redaction_is_refused(
    other: Identity,
) -> None:
    with written(sample()) as path, pytest.raises(Unfit):
        read_slice(path, other)


def test_nothing_of_what_was_dropped_or_changed_is_in_the_file() -> None:
    user_slice = sample()
    put(user_slice, "secret", 77, session_id="hidden", actor="Zed", tags=["quiet"],
        cell_id="lair", lexical=Lexical(own={"swordfish": 1, "tea": 1}))  # fmt: skip
    put(user_slice, "mem_3", 88, lexical=Lexical(own={"clean": 1}))
    user_slice.drop("secret")
    for again in (user_slice, packed(user_slice)):
        with written(again) as path:
            content = path.read_bytes()
        hidden = (b"secret", b"swordfish", b"hidden", b"Zed", b"quiet", b"lair", b"word3")
        assert [word for word in hidden if word in content] == []
        assert unit(77).tobytes() not in content
        assert unit(3).tobytes() not in content
        assert unit(88).tobytes() in content
        assert b"clean" in content


def test_what_slices_make_of_memories_has_the_number_of_the_format() -> None:
    """Where this fails, files of earlier versions say something else than slices now: raise FORMAT,
    and write the new digest here.
    """
    user_slice = sample()
    user_slice._columns["stamp"][:] = 0  # of all fields, also those that no search looks at
    memories = said(user_slice)["memories"]
    for of_memory in memories.values():
        del of_memory["vector"]  # whose last bits are the processor's
    digest = blake2b(repr(sorted(memories.items())).encode(), digest_size=8).hexdigest()
    assert (FORMAT, digest) == (1, "3d02d3595b5c6187")


@pytest.mark.parametrize("number", [np.inf, np.nan])
def test_vectors_with_a_number_that_is_none_are_not_compared_by_codes(number: float) -> None:
    vectors = np.stack([unit(each) for each in range(3)])
    assert is_usable(coded(vectors)) == is_installed()
    vectors[1, 2] = number
    assert not is_usable(coded(vectors))


def test_the_error_of_codes_covers_every_vector() -> None:
    vectors = np.stack([unit(each, 24) * (1 + each % 3) for each in range(200)])
    vectors[7] = 0
    in_codes = coded(vectors)
    errors = vectors - in_codes.codes * in_codes.scales[:, None]
    assert np.linalg.norm(errors, axis=1).max() <= in_codes.error * (1 + 1e-5)
    assert np.linalg.norm(vectors, axis=1).max() <= in_codes.length * (1 + 1e-5)


def is_installed() -> bool:
    return importlib.util.find_spec("simsimd") is not None


def crowd(rows: int, dimensions: int) -> Slice:
    """Memories in some clusters, many of them equal, a few without a vector; frequent words and
    rare ones.
    """
    chance = np.random.default_rng(4)
    centres = chance.standard_normal((9, dimensions))
    user_slice = Slice(dimensions)
    body = memory(id="mem").model_dump(mode="json")
    for row in range(rows):
        vector = centres[row % 9] + chance.standard_normal(dimensions) * (0.3 * (row % 3))
        vector = (vector / np.linalg.norm(vector)).astype(np.float32)
        own = {"everywhere": 1} if chance.random() < 0.8 else {}
        own |= {f"rare{int(word)}": 1 for word in chance.integers(0, 40, 2)}
        user_slice.put(
            f"mem_{row}",
            "memory",
            body
            | {
                "sequence": row,
                "status": "deleted" if row % 11 == 0 else "active",
                "type": "semantic" if row % 37 == 0 else "episodic",
                "lexical": Lexical(own=own).model_dump(mode="json"),
            },
            None if row % 13 == 0 else vector.tobytes(),
        )
    user_slice.epoch, user_slice.change = "epoch-1", 1
    return user_slice


@pytest.fixture(scope="module")
def both() -> tuple[Slice, Slice]:
    """A slice, and the same from a file with some memories added."""
    identity = IDENTITY._replace(dimensions=24)
    assert LEAST_ROWS > LEAST_PRUNED
    plain = crowd(LEAST_ROWS * 11 // 10, 24)
    opened = packed(plain, identity)
    assert opened.vectors.is_coded == is_installed()
    for user_slice in (plain, opened):
        for number in range(200):
            put(user_slice, f"late{number}", number, lexical=Lexical(own={"rare3": 1}),
                sequence=50_000 + number)  # fmt: skip
    return plain, opened


@pytest.mark.parametrize("limit", [1, 5, 50, 400])
def test_a_search_of_a_slice_from_a_file_finds_what_one_of_the_memories_finds(
    both: tuple[Slice, Slice], limit: int
) -> None:
    for number in range(12):
        terms = tuple(["everywhere", f"rare{number}", f"rare{number + 7}"][: 1 + number % 3])
        kinds = frozenset({"semantic"} if number % 4 == 3 else ())
        asked = Search(unit(number, 24), terms, limit, replace(FOUND, types=kinds))
        first, second = (find(user_slice, asked) for user_slice in both)
        assert first[0].ids == second[0].ids
        assert first[0].lists == second[0].lists
        assert first[1] == second[1]
        for name in ("cosine", "previous_cosine", "next_cosine", "tf", "own", "length"):
            np.testing.assert_array_equal(getattr(first[0], name), getattr(second[0], name))


@pytest.mark.parametrize("kind", ["episodic", "semantic"])
@pytest.mark.parametrize("floor", [-1.0, 0.3, 0.8, 0.999])
def test_neighbours_in_a_slice_from_a_file_are_those_of_the_memories(
    both: tuple[Slice, Slice], floor: float, kind: str
) -> None:
    for number in range(8):
        near = Near(unit(number, 24), frozenset({kind}), floor, limit=20)
        assert neighbours(both[0], near, ["mem_1"]) == neighbours(both[1], near, ["mem_1"])


def test_frequent_words_are_scored_where_they_matter_and_rank_as_if_everywhere(
    both: tuple[Slice, Slice],
) -> None:
    """By BM25 of every memory, worked out one by one."""
    user_slice = both[0]
    for number in range(10):
        terms = ("everywhere", f"rare{number}", f"rare{number + 20}")
        listed = find(user_slice, Search(None, terms, 30, FOUND))[0].lists["lexical"]
        whole = find(user_slice, Search(None, terms, len(user_slice), FOUND))[0].lists["lexical"]
        assert listed == whole[:30]


def test_times_are_those_that_were_written() -> None:
    user_slice = Slice(8)
    at = datetime(2024, 2, 29, 23, 59, 59, 123_456, tzinfo=timezone.utc)
    put(user_slice, "leap", 1, event_timestamp=at)
    opened = packed(user_slice)
    assert opened.column("event_at")[opened.row("leap")] == at.timestamp()
