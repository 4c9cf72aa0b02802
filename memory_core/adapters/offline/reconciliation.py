"""What becomes of a stored memory beside a new one, and several notes in one.

It is contradicted, said already, added to, or left alone.
The surest ground is a slot: one subject and attribute with another value. Next come a negation and opposites about the same words,
last a number. Note: a DELETE says that the two exclude each other; which of them is superseded is a matter of event
time and of the code that executes it, for the new one may be about an earlier day.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from memory_core.adapters.offline.running_rules import checkpoint, fitted
from memory_core.adapters.offline.summary import content_terms
from memory_core.domain.agent_schemas import ConsolidatedMemory, Decision, Decisions, Synthesis, SynthesisMetadata
from memory_core.domain.errors import AgentFailed
from memory_core.domain.note import BEHAVIOUR, EXPERIENCE, FOOTER, GUIDANCE, HEADINGS, SUMMARY, parts_of
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
"""Share of a new note's words that a held one must have for the new one to add nothing."""
SAME_TOPIC = 0.30
"""Cosine of two notes' words from which they are of one topic."""
_TURNED = frozenset({"numbers", "negation", "opposites", "values"})
"""Differences that set a statement against another; names, words or order make it one about something else."""
_NO_MORE = re.compile(
    r"\b(?:no longer|any ?more|not|never|stopped|quit|gave up|used to|does|do|did|was|were|is|has|have|had)\b|n't\b", re.IGNORECASE
)
_ENDED = re.compile(r"\b(?:no longer|any ?more|stopped|quit|gave up|used to|not|never)\b|n't\b", re.IGNORECASE)
_FRAME = re.compile(
    r"^(?:##.*|---.*)$|\b(?:User's style|Engages well with|Struggles with|Works best when|Successful approaches|Approaches to avoid"
    r"|Key insight"
    r"|Content depth|Follow-up areas|Tags|Keywords|Do|Don't):|\b(?:User|Assistant) (?:said|asked):",
    re.MULTILINE,
)
_SUMMARY = re.compile(r"## Summary\n(?P<summary>.*?)(?=\n## |\n---|\Z)", re.DOTALL)
_TOLD_FROM_NOW = re.compile(
    r"\b(?:today|yesterday|tomorrow|tonight|this (?:morning|afternoon|evening|week(?:end)?|month|year)"
    r"|(?:last|next) (?:night|week(?:end)?|month|year|summer|winter|spring|autumn|fall|\w{3,6}day)"
    r"|\w+ (?:days?|weeks?|months?|years?) ago|just now"
    r"|heute|gestern|vorgestern|morgen|übermorgen|letzte[nrs]? \w+|nächste[nrs]? \w+|diese[nrs]? (?:Woche|Monat|Jahr|Morgen|Abend)"
    r"|vor \w+ (?:Tagen|Wochen|Monaten|Jahren))\b|今日|昨日|一昨日|明日|先週|来週|今週|先月|来月|今月|去年|来年|今年|今朝|今夜|昨夜",
    re.IGNORECASE,
)
"""A time that is counted from when it was said, and lost when told beside what was said another day."""
_SAID = re.compile(r"\A\w+ (?:said|asked): ")
MOST_COMPARED = 6
"""Sentences of each of two summaries that are compared."""
_FOOTER = re.compile(r"^---\n(?P<footer>.*)\Z", re.DOTALL | re.MULTILINE)
_RANK = {"DELETE": 2, "SKIP": 1, "UPDATE": 0}


@dataclass(frozen=True, slots=True)
class _Verdict:
    operation: Literal["UPDATE", "DELETE", "SKIP"]
    confidence: float
    reasoning: str


def decided(new: Sequence[DecisionItem], held: Sequence[DecisionItem]) -> Decisions:
    """One decision at most for each held memory: the gravest, the surest among equals; none for what is unrelated."""
    found: list[Decision] = []
    for memory in held:
        checkpoint()
        verdicts = [(one, verdict) for one in new if (verdict := _verdict(one, memory)) is not None]
        if verdicts:
            one, verdict = max(verdicts, key=lambda pair: (_RANK[pair[1].operation], pair[1].confidence, -pair[0].number))
            found.append(
                fitted(
                    Decision,
                    new=one.number,
                    memory=memory.number,
                    operation=verdict.operation,
                    confidence_score=verdict.confidence,
                    reasoning=verdict.reasoning,
                )
            )
    return Decisions(decisions=found[:200])


def _verdict(new: DecisionItem, held: DecisionItem) -> _Verdict | None:
    if normalised(new.text) == normalised(held.text):
        return _Verdict("SKIP", 1.0, "the same words")
    if (new.category == NOTE) != (held.category == NOTE):
        return None
    if new.category == NOTE:
        return None if _stand_apart(new, held) else _of_notes(new.text, held.text)
    if new.slot is None or held.slot is None:
        return _of_statements(new.text, held.text)
    return _of_slots(new, held) if _slot(new.slot) == _slot(held.slot) else _ending(new.text, held.text)


def _slot(slot: tuple[str, str]) -> tuple[str, str]:
    return folded(slot[0]), folded(slot[1])


def _of_slots(new: DecisionItem, held: DecisionItem) -> _Verdict:
    """Two statements that fill one slot: the same said again, or another value."""
    attribute = new.slot[1] if new.slot else "it"
    if not differences(held.text, new.text):
        return _Verdict("SKIP", 1.0, f"says {attribute} again")
    earlier = ", although the new one is about an earlier time" if new.said_at < held.said_at else ""
    return _Verdict("DELETE", 1.0, f"says {attribute} otherwise{earlier}")


def _of_statements(new: str, held: str) -> _Verdict | None:
    """Two statements of which at least one fills no slot."""
    told_apart = differences(held, new)
    if not told_apart:
        return _Verdict("SKIP", 0.95, "near-equal, no difference that counts")
    if (ending := _ending(new, held)) is not None:
        return ending
    if told_apart <= _TURNED:
        confidence = 0.7 if told_apart & {"negation", "opposites"} else 0.5
        return _Verdict("DELETE", confidence, f"the same words, but different in {' and '.join(sorted(told_apart))}")
    return None


def _ending(new: str, held: str) -> _Verdict | None:
    """One says of the very same that it is not so, or no longer."""
    ends, ended = _ENDED.search(new), _ENDED.search(held)
    if bool(ends) == bool(ended) or _bare(new) != _bare(held) or numbers_in(new) != numbers_in(held):
        return None
    return (
        _Verdict("DELETE", 0.85, "says that it is not so, or no longer")
        if ends
        else _Verdict("DELETE", 0.75, "says that it is so after all")
    )


def _bare(statement: str) -> frozenset[str]:
    """The terms of a statement without what denies it or ends it."""
    return frozenset(terms_of(word for word in words(_NO_MORE.sub(" ", statement)) if word not in NEGATIONS))


def _stand_apart(new: DecisionItem, held: DecisionItem) -> bool:
    """Whether two notes can't become one: "yesterday" is a day of its own note, and a price that was raised is told once by each."""
    told_on = {item.said_at.date() for item in (new, held)}
    ours, theirs = _summary(new.text), _summary(held.text)
    if len(told_on) > 1 and (_TOLD_FROM_NOW.search(ours) or _TOLD_FROM_NOW.search(theirs)):
        return True
    said, said_before = ([_bare_statement(one.text) for one in sentences(text)[:MOST_COMPARED]] for text in (ours, theirs))
    return any(contradiction(one, other) is not None for one in said for other in said_before)


def _summary(note: str) -> str:
    match = _SUMMARY.search(note)
    return match["summary"] if match else note


def _bare_statement(sentence: str) -> str:
    return _SAID.sub("", sentence)


def _of_notes(new: str, held: str) -> _Verdict | None:
    """Two notes: the new one adds nothing, or adds to the same topic, or is about something else."""
    ours, theirs = _note_terms(new), _note_terms(held)
    if not ours or not theirs:
        return None
    shared = ours & theirs
    covered = len(shared) / len(ours)
    if covered >= COVERED and _stands_in(new, held):
        return _Verdict("SKIP", round(covered, 2), "all that it says is said there")
    near = len(shared) / (len(ours) * len(theirs)) ** 0.5
    if near >= SAME_TOPIC:
        return _Verdict("UPDATE", round(min(0.95, 0.5 + near / 2), 2), "of the same topic, and adds to it")
    return None


def _note_terms(note: str) -> frozenset[str]:
    """What a note is about: the terms of its summary and footer, or of all of it where it has no parts."""
    parts = [match.group(match.lastgroup or 0) for match in (_SUMMARY.search(note), _FOOTER.search(note)) if match]
    return frozenset(content_terms(_FRAME.sub(" ", "\n".join(parts) if parts else note)))


def _stands_in(new: str, held: str) -> bool:
    """Whether the new note has no number, name or negation that the held one has not."""
    if numbers_in(new) - numbers_in(held):
        return False
    known = frozenset(words(held))
    negations = frozenset(words(new)) & NEGATIONS
    return negations <= known and all(name.casefold() in known for name in _names(new))


def _names(text: str) -> Iterable[str]:
    return re.findall(r"(?<=[a-zà-ÿ,;] )[A-ZÀ-Þ]\w+", _FRAME.sub(" ", text))


# Several notes in one, part by part, the oldest first.
#
# Every sentence of every note is in it once.
# A note has five parts: `## Summary`, `## Behavioral Patterns`, `## Experience Learnings`, `## Guidance`, and after `---` a footer of
# tags, keywords, depth and follow-ups. Note: nothing is reworded or shortened. Only a sentence, an item of a
# list or a tag that is there already, word for word, is not repeated.


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
