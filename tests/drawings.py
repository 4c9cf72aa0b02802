"""Graphs for tests of drawings: a plain story, shapes that are hard to lay out, and texts that
would break out if they could.
"""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

from memory_core.domain.memory import AtomicFact, Link, Memory, MemoryType, Status
from memory_core.recollection.graph.model import Graph, of_memories
from tests.builders import NOW, memory

HOSTILE = [
    "say \"hi\", it's & \\n <b>bold</b> \\",
    "</script><script>document.title = 'pwned'</script>",
    "</style></svg></foreignObject></title><img src=x onerror=\"document.title='pwned'\">",
    "a [b] (c) {d} <e> |f| /g/ #h; ~i~ ^j^ `k` *l* _m_ $$n^2$$ @{o: p}",
    '"]; n0 --> n1; n9["x',
    "end",
    "subgraph x\n  end",
    'click n0 "javascript:alert(1)"',
    "style n0 fill:#f00;",
    "classDef asked fill:#f00;",
    '%%{init: {"theme": "forest", "securityLevel": "loose"}}%%',
    "1. a list",
    "- a list",
    "[a link](javascript:alert(1)) https://example.com/a?b=c&d=e#f",
    "&lt;b&gt; &amp;amp; &#60; #35; #quot; \ufb02°lt¶ß",
    "fa:fa-ban :::asked --> -.-> ==>",
    "\\N \\G \\l \\r \\\" \\",
    "line one\nline two\r\n\r\n\tline three\x0b\x85\u2028four",
    "🎻 emoji 👨‍👩‍👧‍👦 and 🇵🇹",
    "مرحبا بالعالم، انتقلت آنا (إلى) لشبونة!",
    "\u202edesrever\u202c and \u2066isolated",
    "w" * 10_000,
    "東京の庭" * 3000,
    "a\u0301" * 5000,
    "\u200f",
]  # fmt: skip


def fact(name: str, day: int = 0, content: str = "", **fields: Any) -> Memory:
    """A semantic memory of that day, superseded when it leads to another."""
    fallen = (
        {"status": Status.SUPERSEDED, "status_reason": "contradicted"}
        if fields.get("next_id")
        else {}
    )
    given = {
        "type": MemoryType.SEMANTIC,
        "category": "fact",
        "event_timestamp": NOW + timedelta(days=day),
    }
    return memory(content or f"what {name} says", id=name, **{**given, **fallen, **fields})


def story() -> Graph:
    """Ana moves twice; three cells told of it, and a note is linked with where she lives now."""
    cells = {
        "c1": (0, (
            "Ana lives in Berlin with her sister, works as a nurse and likes Thai food; her flat "
            "is small, the rent is high."
        )),
        "c2": (90, (
            "Ana moved from Berlin to Lisbon last week; she looks for a language school and finds "
            "the hills tiring."
        )),
        "c3": (300, "Ana has signed a contract for a flat in Porto."),
    }  # fmt: skip
    memories = [
        memory(text, id=name, category="cell", event_timestamp=NOW + timedelta(days=day))
        for name, (day, text) in cells.items()
    ]
    memories[0] = memories[0].model_copy(
        update={
            "atomic_facts": [AtomicFact(text="lives in Berlin", fact_id="f1", superseded_by="f2")]
        }
    )
    link = Link(
        memory_id="n1",
        similarity_score=0.8,
        composite_score=0.8,
        link_strength=0.8,
        relationship_type="related",
    )
    asked = fact("f2", 90, "Ana lives in Lisbon", next_id="f3", source_ids=["c2"])
    tree = [
        fact("f1", 0, "Ana lives in Berlin", next_id="f2", source_ids=["c1"]),
        asked,
        fact("f3", 300, "Ana lives in Porto", source_ids=["c3"], links=[link]),
    ]
    note = fact(
        "n1",
        40,
        "Ana and the Douro: she has always liked rivers, and Porto has one.",
        category="note",
    )
    return of_memories(asked, tree, [*memories, note], complete=True)


def merge() -> Graph:
    """Four notes, each from a cell, become one, which is then contradicted; the merged
    one is long.
    """
    notes = [
        fact(f"s{number}", number * 10,
            f"Note {number}: in the garden grow basil and {number} lemon trees.",
            next_id="m", source_ids=[f"c{number}"])
        for number in range(4)
    ]  # fmt: skip
    notes = [
        note.model_copy(
            update={"status": Status.UPDATED, "status_reason": "consolidated", "category": "note"}
        )
        for note in notes
    ]
    merged = fact(
        "m", 50, "The garden: tomatoes, basil, lemon trees. " * 20, next_id="end", category="note"
    )
    merged = merged.model_copy(update={"status": Status.DELETED})
    cells = [
        memory(
            f"They spoke of the garden, {number}",
            id=f"c{number}",
            event_timestamp=NOW + timedelta(days=number * 10),
        )
        for number in range(4)
    ]
    return of_memories(
        merged, [*notes, merged, fact("end", 90, "Ana gave her garden away")], cells, complete=True
    )


def one_alone() -> Graph:
    """A memory that nothing replaced."""
    alone = fact("m", 0, "Ana plays the violin")
    return of_memories(alone, [alone], [], complete=True)


def cell_with_facts() -> Graph:
    """A cell that was asked for, with six facts, one of them replaced since."""
    asserted_facts = [AtomicFact(text="x", fact_id=f"f{number}") for number in range(6)]
    cell = memory(
        "Ana told this and that about herself", id="c", category="cell", atomic_facts=asserted_facts
    )
    facts = [
        fact(
            f"f{number}",
            0,
            f"Ana has {number} cats",
            source_ids=["c"],
            next_id="now" if number == 0 else None,
        )
        for number in range(6)
    ]
    return of_memories(cell, [cell], [*facts, fact("now", 9, "Ana has no cats")], complete=True)


def chain(length: int) -> Graph:
    """One after the other."""
    links = [
        fact(
            f"m{number}",
            number,
            f"Ana has {number} lemons",
            next_id=f"m{number + 1}" if number < length - 1 else None,
        )
        for number in range(length)
    ]
    return of_memories(links[1], links, [], complete=True)


def circle(length: int) -> Graph:
    """What no writer makes: the last leads to the first."""
    links = [
        fact(f"m{number}", number, next_id=f"m{(number + 1) % length}") for number in range(length)
    ]
    return of_memories(links[0], links, [], complete=True)


def forest(count: int, seed: int = 1) -> Graph:
    """A bushy tree of so many memories, and more that are not shown."""
    rng = random.Random(seed)
    words = ["Ana", "moved", "garden", "Lisbon", "الحديقة", "東京の庭", "lemon", "piano"]
    made = []
    for number in range(count):
        text = f"Memory {number}: " + " ".join(rng.choice(words) for _ in range(rng.randint(2, 14)))
        following = (
            None if number == 0 else f"m{max(0, number - 1 - rng.randrange(min(number, 9)))}"
        )
        made.append(fact(f"m{number}", count - number, text, next_id=following))
    return of_memories(made[count // 2], made, [], complete=False)


def hostile() -> Graph:
    """Texts that would break out, as content, as category and as reason."""
    last = len(HOSTILE) - 1
    made = [
        fact(f"m{number}", number, text, category=text[:200],
            next_id=f"m{number + 1}" if number < last else None)
        for number, text in enumerate(HOSTILE)
    ]  # fmt: skip
    made = [
        memory.model_copy(update={"status_reason": text[:200]})
        for memory, text in zip(made, HOSTILE, strict=True)
    ]
    return of_memories(made[3], made, [], complete=True)


GRAPHS = {
    "story": story, "merge": merge, "one alone": one_alone, "cell with facts": cell_with_facts,
    "three": lambda: chain(3), "chain of 60": lambda: chain(60), "circle": lambda: circle(4),
    "forest of 60": lambda: forest(60), "hostile": hostile,
}  # fmt: skip
