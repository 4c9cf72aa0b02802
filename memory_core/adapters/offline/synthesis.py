"""Several notes in one, part by part, the oldest first.

Every sentence of every note is in it once.
A note has five parts: `## Summary`, `## Behavioral Patterns`, `## Experience Learnings`, `## Guidance`, and after `---` a footer of
tags, keywords, depth and follow-ups. Note: nothing is reworded or shortened. Only a sentence, an item of a
list or a tag that is there already, word for word, is not repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from memory_core.domain.agent_schemas import ConsolidatedMemory, Synthesis, SynthesisMetadata
from memory_core.domain.errors import AgentFailed
from memory_core.domain.note import BEHAVIOUR, EXPERIENCE, FOOTER, GUIDANCE, HEADINGS, SUMMARY, parts_of
from memory_core.domain.text.sameness import normalised
from memory_core.domain.text.sentences import sentences
from memory_core.ports import DecisionItem

MAX_CHARACTERS = 32_000
_LABELS = {
    BEHAVIOUR: ("User's style:", "Engages well with:", "Struggles with:", "Works best when:"),
    EXPERIENCE: ("Successful approaches:", "Approaches to avoid:"),
    GUIDANCE: ("Do:", "Don't:", "Key insight:"),
}
_LISTS = frozenset({"Successful approaches:", "Approaches to avoid:", "Do:", "Don't:"})
_REASON = " — "
_DEPTHS = ("high", "medium", "low")


def merged(notes: Sequence[DecisionItem]) -> Synthesis:
    """One note of several. Raises AgentFailed when together they are longer than a note may be."""
    ordered = sorted(notes, key=lambda note: (note.said_at, note.number))
    parsed = [parts_of(note.text) for note in ordered]
    dropped = 0
    sections: list[str] = []
    for heading in HEADINGS:
        texts = [parts.get(heading, "") for parts in parsed]
        if heading == SUMMARY:  # a text without headings is one
            texts = [text for parts in parsed for text in (parts.get("", ""), parts.get(heading, ""))]
        text, doubles = _section(heading, texts)
        dropped += doubles
        sections += [f"{heading}\n{text}"] if text else []
    footer = _merged_footer([parts.get(FOOTER, "") for parts in parsed])
    note = "\n\n".join([*sections, *([f"{FOOTER}\n{footer}"] if footer else [])])
    if not note.strip() or len(note) > MAX_CHARACTERS:
        raise AgentFailed(f"{len(notes)} notes of {sum(len(one.text) for one in notes)} characters do not fit into one")
    added = "low" if len(parsed) < 2 or not _adds(ordered) else "medium" if _adds(ordered) < 3 else "high"
    return Synthesis(
        consolidated_memory=ConsolidatedMemory(natural_memory_note=note),
        synthesis_metadata=SynthesisMetadata(
            memories_merged=len(notes),
            new_information_added=added,
            deduplication_count=dropped,
            quality_check="pass",
            notes="Merged by rule, sentence by sentence.",
        ),
    )


def _section(heading: str, texts: Sequence[str]) -> tuple[str, int]:
    """The texts of one part in one, and how many doubles were left out."""
    labels = _LABELS.get(heading, ())
    gathered: dict[str, list[str]] = {"": [], **{label: [] for label in labels}}
    reasons: dict[str, list[str]] = {label: [] for label in gathered}
    for text in texts:
        for label, said in _labelled(text, labels):
            listed, _, reason = said.rpartition(_REASON) if label in _LISTS and _REASON in said else (said, "", "")
            gathered[label] += _items(label, listed)
            reasons[label] += _items("", reason)
    dropped, pieces = 0, []
    for label, items in gathered.items():
        kept, why = _once(items), _once(reasons[label])
        dropped += len(items) - len(kept) + len(reasons[label]) - len(why)
        said = ("; " if label in _LISTS else " ").join(kept)
        pieces.append(" ".join(filter(None, (label, _REASON.join(filter(None, (said, " ".join(why))))))) if said or why else "")
    return " ".join(filter(None, pieces)), dropped


def _once(items: Iterable[str]) -> list[str]:
    """The items in order, without those that stand there already word for word."""
    kept: dict[str, str] = {}
    for item in items:
        kept.setdefault(normalised(item), item)
    return list(kept.values())


def _labelled(text: str, labels: Sequence[str]) -> list[tuple[str, str]]:
    """(label, what follows it) in order; "" for what comes before any label.

    In another order, or before nothing, it is a word.
    """
    found: list[tuple[str, str]] = []
    label, start, least = "", 0, 0
    for match in re.finditer(rf"(?:^|(?<=\s))({'|'.join(re.escape(one) for one in labels)})(?=\s+\S)", text) if labels else ():
        place = labels.index(match[1])
        if place >= least and (match.start() == 0 or text[start : match.start()].strip()):
            found.append((label, text[start : match.start()]))
            label, start, least = match[1], match.end(), place + 1
    return [pair for pair in [*found, (label, text[start:])] if pair[1].strip()]


def _items(label: str, text: str) -> list[str]:
    """The items of a list, else the sentences, and whatever is between them."""
    if label in _LISTS:
        return [item for part in text.split("; ") if (item := " ".join(part.split()))]
    found: list[str] = []
    end = 0
    for sentence in sentences(text):
        between = text[end : sentence.start].strip()
        found += [between] if between else []
        found.append(" ".join(sentence.text.split()))
        end = sentence.end
    rest = " ".join(text[end:].split())
    return [*found, rest] if rest else found


def _merged_footer(footers: Sequence[str]) -> str:
    fields: dict[str, list[str]] = {"Tags": [], "Keywords": [], "Content depth": [], "Follow-up areas": [], "": []}
    for footer in footers:
        for part in filter(None, (part.strip() for part in footer.split(" | "))):
            name, _, value = part.partition(": ")
            known = name in fields and bool(value)
            separator = "; " if name == "Follow-up areas" else ", "
            fields[name if known else ""] += value.split(separator) if known else [part]
    unique = {
        name: list({value.strip().casefold(): value.strip() for value in reversed(values)}.values())[::-1]
        for name, values in fields.items()
    }
    depths = [depth for depth in _DEPTHS if depth in unique["Content depth"]]
    parts = [f"{name}: {', '.join(sorted(unique[name], key=str.casefold))}" for name in ("Tags", "Keywords") if unique[name]]
    parts += [f"Content depth: {depths[0]}"] if depths else []
    parts += [f"Follow-up areas: {'; '.join(unique['Follow-up areas'])}"] if unique["Follow-up areas"] else []
    return " | ".join([*parts, *unique[""]])


def _adds(ordered: Sequence[DecisionItem]) -> int:
    """How many sentences the newest note has that no older one has."""
    older = {normalised(sentence.text) for note in ordered[:-1] for sentence in sentences(note.text)}
    return sum(normalised(sentence.text) not in older for sentence in sentences(ordered[-1].text))
