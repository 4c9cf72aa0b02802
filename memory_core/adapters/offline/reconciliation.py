"""Decide the effect of a new memory on stored memories, and merge notes, by rule.

A new memory contradicts an old memory (DELETE), repeats it (SKIP), adds to it (UPDATE), or leaves
it alone. Most certain is a slot: the same subject and attribute with another value. Next come a
negation and opposites in the same words, last a number.

Note: a DELETE says that the two exclude each other. Which of them is superseded depends on event
time, and the code that executes the decision compares that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from memory_core.adapters.offline.running_rules import checkpoint, fitted
from memory_core.adapters.offline.summary import content_terms
from memory_core.domain.agent_schemas import (
    ConsolidatedMemory,
    Decision,
    Decisions,
    Synthesis,
    SynthesisMetadata,
)
from memory_core.domain.errors import AgentFailed
from memory_core.domain.note import (
    BEHAVIOUR,
    EXPERIENCE,
    FOOTER,
    GUIDANCE,
    HEADINGS,
    SUMMARY,
    parts_of,
)
from memory_core.domain.statements.contradictions import contradiction
from memory_core.domain.text.analyzer import terms_of, words
from memory_core.domain.text.polarity import NEGATIONS
from memory_core.domain.text.sameness import differences, normalised
from memory_core.domain.text.sentences import sentences
from memory_core.domain.text.spelling import numbers_in
from memory_core.domain.truth.slots import folded
from memory_core.ports import DecisionItem

NOTE = "note"
COVERED = 0.9
"""Share of a new note's terms that an old note must have.

The new note then adds no content.
"""
SAME_TOPIC = 0.30
"""Cosine of two notes' terms from which they share a topic."""
_CONTRADICTING = frozenset({"numbers", "negation", "opposites", "values"})
"""Differences by which statements contradict each other.

With other names, words or order they are about different things.
"""
_NEGATION_WORDS = re.compile(
    r"\b(?:no longer|any ?more|not|never|stopped|quit|gave up|used to|does|do|did|was|were|is|has"
    r"|have|had)\b|n't\b",
    re.IGNORECASE,
)
_NEGATING = re.compile(
    r"\b(?:no longer|any ?more|stopped|quit|gave up|used to|not|never)\b|n't\b", re.IGNORECASE
)
_FRAME = re.compile(
    r"^(?:##.*|---.*)$|\b(?:User's style|Engages well with|Struggles with|Works best when"
    r"|Successful approaches|Approaches to avoid|Key insight"
    r"|Content depth|Follow-up areas|Tags|Keywords|Do|Don't):|\b(?:User|Assistant) (?:said|asked):",
    re.MULTILINE,
)
_SUMMARY = re.compile(r"## Summary\n(?P<summary>.*?)(?=\n## |\n---|\Z)", re.DOTALL)
_RELATIVE_TIME = re.compile(
    r"\b(?:today|yesterday|tomorrow|tonight|this (?:morning|afternoon|evening|week(?:end)?|month"
    r"|year)|(?:last|next) (?:night|week(?:end)?|month|year|summer|winter|spring|autumn|fall"
    r"|\w{3,6}day)|\w+ (?:days?|weeks?|months?|years?) ago|just now"
    r"|heute|gestern|vorgestern|morgen|übermorgen|letzte[nrs]? \w+|nächste[nrs]? \w+"
    r"|diese[nrs]? (?:Woche|Monat|Jahr|Morgen|Abend)|vor \w+ (?:Tagen|Wochen|Monaten|Jahren))\b"
    r"|今日|昨日|一昨日|明日|先週|来週|今週|先月|来月|今月|去年|来年|今年|今朝|今夜|昨夜",
    re.IGNORECASE,
)
"""A time relative to the day of a note, which loses its meaning in a note of another day."""
_SPEAKER = re.compile(r"\A\w+ (?:said|asked): ")
MOST_COMPARED = 6
"""Sentences of each of two summaries that are compared."""
_FOOTER = re.compile(r"^---\n(?P<footer>.*)\Z", re.DOTALL | re.MULTILINE)
_RANK = {"DELETE": 2, "SKIP": 1, "UPDATE": 0}


@dataclass(frozen=True, slots=True)
class _Verdict:
    operation: Literal["UPDATE", "DELETE", "SKIP"]
    confidence: float
    reasoning: str


def decided(new: Sequence[DecisionItem], old: Sequence[DecisionItem]) -> Decisions:
    """Decide about old memories: at most a single decision for each.

    There is no decision if no new memory is related. Of several new memories the memory with the
    gravest operation decides, then that with the highest confidence.

    Args:
        new: The new memories.
        old: The old memories.

    """
    decisions: list[Decision] = []
    for memory in old:
        checkpoint()
        verdicts = [
            (item, verdict) for item in new if (verdict := _verdict(item, memory)) is not None
        ]
        if verdicts:
            decisive, verdict = max(
                verdicts,
                key=lambda pair: (_RANK[pair[1].operation], pair[1].confidence, -pair[0].number),
            )
            decisions.append(
                fitted(
                    Decision,
                    new=decisive.number,
                    memory=memory.number,
                    operation=verdict.operation,
                    confidence_score=verdict.confidence,
                    reasoning=verdict.reasoning,
                )
            )
    return Decisions(decisions=decisions[:200])


def _verdict(new: DecisionItem, old: DecisionItem) -> _Verdict | None:
    """The verdict on a new and an old memory; None if they are unrelated."""
    if normalised(new.text) == normalised(old.text):
        return _Verdict("SKIP", 1.0, "the same words")
    if (new.category == NOTE) != (old.category == NOTE):
        return None
    if new.category == NOTE:
        return None if _are_separate(new, old) else _verdict_on_notes(new.text, old.text)
    if new.slot is None or old.slot is None:
        return _verdict_on_statements(new.text, old.text)
    return (
        _verdict_on_slots(new, old)
        if _folded_slot(new.slot) == _folded_slot(old.slot)
        else _negation_verdict(new.text, old.text)
    )


def _folded_slot(slot: tuple[str, str]) -> tuple[str, str]:
    return folded(slot[0]), folded(slot[1])


def _verdict_on_slots(new: DecisionItem, old: DecisionItem) -> _Verdict:
    """The verdict on statements that fill the same slot: a repetition, or another value."""
    attribute = new.slot[1] if new.slot else "it"
    if not differences(old.text, new.text):
        return _Verdict("SKIP", 1.0, f"says {attribute} again")
    earlier = ", although the new one is about an earlier time" if new.said_at < old.said_at else ""
    return _Verdict("DELETE", 1.0, f"says {attribute} otherwise{earlier}")


def _verdict_on_statements(new: str, old: str) -> _Verdict | None:
    """The verdict on statements of which at least either fills no slot."""
    differing = differences(old, new)
    if not differing:
        return _Verdict("SKIP", 0.95, "near-equal, no difference that counts")
    if (negation := _negation_verdict(new, old)) is not None:
        return negation
    if differing <= _CONTRADICTING and not _denies_another(new, old):
        confidence = 0.7 if differing & {"negation", "opposites"} else 0.5
        return _Verdict(
            "DELETE",
            confidence,
            f"the same words, but different in {' and '.join(sorted(differing))}",
        )
    return None


def _negation_verdict(new: str, old: str) -> _Verdict | None:
    """The verdict where a statement denies the other statement; None elsewhere."""
    new_negates, old_negates = _NEGATING.search(new), _NEGATING.search(old)
    if (
        bool(new_negates) == bool(old_negates)
        or _affirmed_terms(new) != _affirmed_terms(old)
        or numbers_in(new) != numbers_in(old)
    ):
        return None
    return (
        _Verdict("DELETE", 0.85, "says that it is not so, or no longer")
        if new_negates
        else _Verdict("DELETE", 0.75, "says that it is so after all")
    )


def _denies_another(new: str, old: str) -> bool:
    """Whether only one statement denies, and not the number that the other names.

    "I don't have type 1 diabetes" says nothing of type 2.
    """
    if bool(_NEGATING.search(new)) == bool(_NEGATING.search(old)):
        return False
    numbers, known = numbers_in(new), numbers_in(old)
    return not (numbers <= known or known <= numbers)


def _affirmed_terms(statement: str) -> frozenset[str]:
    """The terms of a statement without words of negation."""
    return frozenset(
        terms_of(
            word for word in words(_NEGATION_WORDS.sub(" ", statement)) if word not in NEGATIONS
        )
    )


def _are_separate(new: DecisionItem, old: DecisionItem) -> bool:
    """Whether two notes can't be merged.

    They can't if either has a relative time and the other is of another day, or if their sentences
    contradict each other.
    """
    days = {item.said_at.date() for item in (new, old)}
    new_summary, old_summary = _summary(new.text), _summary(old.text)
    if len(days) > 1 and (_RELATIVE_TIME.search(new_summary) or _RELATIVE_TIME.search(old_summary)):
        return True
    new_statements, old_statements = (
        [_without_speaker(sentence.text) for sentence in sentences(summary)[:MOST_COMPARED]]
        for summary in (new_summary, old_summary)
    )
    return any(
        contradiction(statement, old_statement) is not None
        for statement in new_statements
        for old_statement in old_statements
    )


def _summary(note: str) -> str:
    match = _SUMMARY.search(note)
    return match["summary"] if match else note


def _without_speaker(sentence: str) -> str:
    return _SPEAKER.sub("", sentence)


def _verdict_on_notes(new: str, old: str) -> _Verdict | None:
    """The verdict on notes; None if the new note is unrelated."""
    new_terms, old_terms = _note_terms(new), _note_terms(old)
    if not new_terms or not old_terms:
        return None
    shared = new_terms & old_terms
    covered = len(shared) / len(new_terms)
    if covered >= COVERED and _is_contained(new, old):
        return _Verdict("SKIP", round(covered, 2), "all that it says is said there")
    near = len(shared) / (len(new_terms) * len(old_terms)) ** 0.5
    if near >= SAME_TOPIC:
        return _Verdict(
            "UPDATE", round(min(0.95, 0.5 + near / 2), 2), "of the same topic, and adds to it"
        )
    return None


def _note_terms(note: str) -> frozenset[str]:
    """The terms of a note's summary and footer; of all of it without these."""
    parts = [
        match.group(match.lastgroup or 0)
        for match in (_SUMMARY.search(note), _FOOTER.search(note))
        if match
    ]
    return frozenset(content_terms(_FRAME.sub(" ", "\n".join(parts) if parts else note)))


def _is_contained(new: str, old: str) -> bool:
    """Whether every number, name and negation of the new note is in the old note."""
    if numbers_in(new) - numbers_in(old):
        return False
    known = frozenset(words(old))
    negations = frozenset(words(new)) & NEGATIONS
    return negations <= known and all(name.casefold() in known for name in _names(new))


def _names(text: str) -> Iterable[str]:
    return re.findall(r"(?<=[a-zà-ÿ,;] )[A-ZÀ-Þ]\w+", _FRAME.sub(" ", text))


# Merge notes part by part, the oldest first.
#
# A note has five parts: `## Summary`, `## Behavioral Patterns`, `## Experience Learnings`, `##
# Guidance`, and after `---` a footer of tags, keywords, depth and follow-ups. The merged note has
# each sentence, item and tag of all notes once. No text is reworded or shortened.


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
    """Merge notes. Raises AgentFailed when together they are longer than a note may be."""
    ordered = sorted(notes, key=lambda note: (note.said_at, note.number))
    parsed = [parts_of(note.text) for note in ordered]
    dropped = 0
    sections: list[str] = []
    for heading in HEADINGS:
        texts = [parts.get(heading, "") for parts in parsed]
        if heading == SUMMARY:  # a text without headings is one
            texts = [
                text for parts in parsed for text in (parts.get("", ""), parts.get(heading, ""))
            ]
        text, doubles = _merge_section(heading, texts)
        dropped += doubles
        sections += [f"{heading}\n{text}"] if text else []
    footer = _merge_footers([parts.get(FOOTER, "") for parts in parsed])
    text = "\n\n".join([*sections, *([f"{FOOTER}\n{footer}"] if footer else [])])
    if not text.strip() or len(text) > MAX_CHARACTERS:
        raise AgentFailed(
            f"{len(notes)} notes of {sum(len(note.text) for note in notes)} characters do not fit "
            "into one"
        )
    new_sentences = _count_new_sentences(ordered) if len(parsed) > 1 else 0
    added = "low" if not new_sentences else "medium" if new_sentences < 3 else "high"
    return Synthesis(
        consolidated_memory=ConsolidatedMemory(natural_memory_note=text),
        synthesis_metadata=SynthesisMetadata(
            memories_merged=len(notes),
            new_information_added=added,
            deduplication_count=dropped,
            quality_check="pass",
            notes="Merged by rule, sentence by sentence.",
        ),
    )


def _merge_section(heading: str, texts: Sequence[str]) -> tuple[str, int]:
    """Merge the texts of the same part: (text, number of repeats that were left out)."""
    labels = _LABELS.get(heading, ())
    gathered: dict[str, list[str]] = {"": [], **{label: [] for label in labels}}
    reasons: dict[str, list[str]] = {label: [] for label in gathered}
    for text in texts:
        for label, content in _split_by_label(text, labels):
            listed, _, reason = (
                content.rpartition(_REASON)
                if label in _LISTS and _REASON in content
                else (content, "", "")
            )
            gathered[label] += _items(label, listed)
            reasons[label] += _items("", reason)
    dropped, pieces = 0, []
    for label, items in gathered.items():
        distinct_items, distinct_reasons = _without_repeats(items), _without_repeats(reasons[label])
        dropped += len(items) - len(distinct_items) + len(reasons[label]) - len(distinct_reasons)
        joined = ("; " if label in _LISTS else " ").join(distinct_items)
        content = _REASON.join(filter(None, (joined, " ".join(distinct_reasons))))
        if content:
            pieces.append(f"{label} {content}" if label else content)
    return " ".join(pieces), dropped


def _without_repeats(items: Iterable[str]) -> list[str]:
    """The items in order, each once (`normalised`)."""
    distinct: dict[str, str] = {}
    for item in items:
        distinct.setdefault(normalised(item), item)
    return list(distinct.values())


def _split_by_label(text: str, labels: Sequence[str]) -> list[tuple[str, str]]:
    """Split a text into (label, text after it).

    The text before the first label has the label "". A label out of the order of `labels`, or
    without text after it, is a word of the text.
    """
    pairs: list[tuple[str, str]] = []
    label, start, least = "", 0, 0
    for match in (
        re.finditer(
            rf"(?:^|(?<=\s))({'|'.join(re.escape(label) for label in labels)})(?=\s+\S)", text
        )
        if labels
        else ()
    ):
        place = labels.index(match[1])
        if place >= least and (match.start() == 0 or text[start : match.start()].strip()):
            pairs.append((label, text[start : match.start()]))
            label, start, least = match[1], match.end(), place + 1
    return [pair for pair in [*pairs, (label, text[start:])] if pair[1].strip()]


def _items(label: str, text: str) -> list[str]:
    """The items of a list; of another part its sentences, and the texts between them."""
    if label in _LISTS:
        return [item for part in text.split("; ") if (item := " ".join(part.split()))]
    pieces: list[str] = []
    end = 0
    for sentence in sentences(text):
        between = text[end : sentence.start].strip()
        pieces += [between] if between else []
        pieces.append(" ".join(sentence.text.split()))
        end = sentence.end
    rest = " ".join(text[end:].split())
    return [*pieces, rest] if rest else pieces


def _merge_footers(footers: Sequence[str]) -> str:
    """Merge footers: sorted tags and keywords, the greatest depth, every follow-up, other text."""
    fields: dict[str, list[str]] = {
        "Tags": [],
        "Keywords": [],
        "Content depth": [],
        "Follow-up areas": [],
        "": [],
    }
    for footer in footers:
        for part in filter(None, (part.strip() for part in footer.split(" | "))):
            name, _, value = part.partition(": ")
            known = name in fields and bool(value)
            separator = "; " if name == "Follow-up areas" else ", "
            fields[name if known else ""] += value.split(separator) if known else [part]
    unique = {
        name: list(
            {value.strip().casefold(): value.strip() for value in reversed(values)}.values()
        )[::-1]
        for name, values in fields.items()
    }
    depths = [depth for depth in _DEPTHS if depth in unique["Content depth"]]
    parts = [
        f"{name}: {', '.join(sorted(unique[name], key=str.casefold))}"
        for name in ("Tags", "Keywords")
        if unique[name]
    ]
    parts += [f"Content depth: {depths[0]}"] if depths else []
    parts += (
        [f"Follow-up areas: {'; '.join(unique['Follow-up areas'])}"]
        if unique["Follow-up areas"]
        else []
    )
    return " | ".join([*parts, *unique[""]])


def _count_new_sentences(ordered: Sequence[DecisionItem]) -> int:
    """Count the sentences of the newest note that no older note has."""
    older = {
        normalised(sentence.text) for note in ordered[:-1] for sentence in sentences(note.text)
    }
    return sum(normalised(sentence.text) not in older for sentence in sentences(ordered[-1].text))
