"""What the conflict agent is shown, what its answer comes to, and which answers are credible.

Shown by small integers, never by ids, so that an agent can name nothing that it was not shown; what
it names beyond is dropped and counted. `key` names what was shown: the same again has the same
frozen answer, something else is asked again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from memory_core.domain.agent_schemas import ConversationRulings, Decision, Decisions, RuledPair
from memory_core.domain.memory import MAX_CONTENT_BYTES, Memory, MemoryType, Vector
from memory_core.domain.note import FOOTER, FRAME_WORDS, HEADINGS, SUMMARY, parts_of
from memory_core.domain.statements.change_messages import tells_change
from memory_core.domain.statements.changes import Ground, change
from memory_core.domain.statements.contradictions import contradiction
from memory_core.domain.text.analyzer import FUNCTION_WORDS, QUERY_WORDS, words
from memory_core.domain.text.fuzzy_dedup import normalise_token
from memory_core.domain.text.sameness import differences, names_in, normalised, words_in
from memory_core.domain.text.spelling import numbers_in
from memory_core.domain.truth.slots import family_of, is_retraction, same_value, slot_of
from memory_core.evolution.links import Linked
from memory_core.ledger.ids import derived
from memory_core.ports import DecisionItem

MAX_HELD = 20
SKIP_CONFIDENCE = 0.8
SHARED_BY_NOTES = 3
"""Telling words that two notes have in common at least when one is to stand for the other,
or against it.
"""
_FRAME = FRAME_WORDS | {"user", "assistant"}
_TELLING = frozenset({"numbers", "negation", "names", "values", "opposites"})


@dataclass(frozen=True, slots=True)
class ConflictPrompt:
    """New memories and older ones that they may contradict, numbered by their places here."""

    new: tuple[Memory, ...]
    older: tuple[Memory, ...]

    @classmethod
    def of(
        cls, linked: Sequence[tuple[Memory, Sequence[Linked]]], most: int = MAX_HELD
    ) -> ConflictPrompt:
        """The new memories that touch older ones, and at most `most` of these; of another cell
        only, the nearest first.

        In an order that time does not change, so that a second look asks the same.
        """
        pairs = [
            (new, link)
            for new, links in linked
            for link in links
            if link.memory.cell_id != new.cell_id or new.cell_id is None
        ]
        pairs.sort(key=lambda pair: (-pair[1].link.similarity_score, pair[1].memory.id))
        older = list({link.memory.id: link.memory for _, link in pairs}.values())[:most]
        known = {memory.id for memory in older}
        touched = {new.id for new, link in pairs if link.memory.id in known}
        return cls(tuple(new for new, _ in linked if new.id in touched), tuple(older))

    @property
    def key(self) -> str:
        """A name for exactly this, by ids, texts and states."""
        parts = [
            f"{memory.id} {memory.status.value} {memory.content}"
            for memory in (*self.new, *self.older)
        ]
        return derived("shown", str(len(self.new)), *parts)

    def items(self) -> tuple[list[DecisionItem], list[DecisionItem]]:
        """Both as the agent gets them."""
        return _items(self.new), _items(self.older)


@dataclass(frozen=True, slots=True)
class Rulings:
    """An agent's decisions by the ids of (new, held); `invented` counts those about what it was not
    shown. failed: there was no answer.

    model: who decided. by_rule: whether that is the rules, which can't disagree with themselves.
    """

    by_pair: dict[tuple[str, str], Decision]
    invented: int = 0
    failed: bool = False
    model: str = "agent"
    by_rule: bool = False

    @classmethod
    def of(
        cls, prompt: ConflictPrompt, answer: Decisions, model: str, *, by_rule: bool = False
    ) -> Rulings:
        """The decisions about what was shown; of two about one pair the first counts."""
        rulings: dict[tuple[str, str], Decision] = {}
        invented = 0
        for decision in answer.decisions:
            if decision.new >= len(prompt.new) or decision.memory >= len(prompt.older):
                invented += 1
                continue
            rulings.setdefault(
                (prompt.new[decision.new].id, prompt.older[decision.memory].id), decision
            )
        return cls(rulings, invented, model=model, by_rule=by_rule)

    def with_repeated(self, pairs: Sequence[tuple[str, str]]) -> Rulings:
        """These, and that of these pairs of (new, held) the new one says nothing new."""
        skipped = Decision(
            new=0, memory=0, operation="SKIP", confidence_score=1.0, reasoning="the same words"
        )
        return replace(self, by_pair={**self.by_pair, **dict.fromkeys(pairs, skipped)})

    def on(self, new: Memory, old: Memory) -> Decision | None:
        """What is to happen to the held one because of the new one, where code can agree to it."""
        decision = self.by_pair.get((new.id, old.id))
        return decision if decision is not None and _credible(decision, new, old) else None

    def denial(self, new: Memory, old: Memory) -> Decision | None:
        """The decision of a model that the two do not exclude each other."""
        decision = self.by_pair.get((new.id, old.id))
        return decision if not self.by_rule and denies_conflict(decision, new, old) else None

    def disputed(self, decision: Decision, new: Memory, old: Memory) -> str | None:
        """Both reasons, where a model says that the two exclude each other and the rules know why
        both can be true.
        """
        why = None if self.by_rule or decision.operation != "DELETE" else why_both_hold(new, old)
        return None if why is None else both_reasons(why, self.model, decision)


def _credible(decision: Decision, new: Memory, old: Memory) -> bool:
    """Whether the two memories themselves bear the decision out; an agent's word alone
    retires nothing.

    Both are semantic and of one category. None is retired that is about something else: the two
    share a slot or, beside whom they are about, words that say something; and a pinned one is not
    merged away. A SKIP needs that nothing told is lost (`_says_all`).
    """
    if old.type is not MemoryType.SEMANTIC or old.category != new.category:
        return False
    if decision.operation == "KEEP":
        return decision.confidence_score >= MIN_CONFIDENCE
    if decision.operation == "SKIP":
        return decision.confidence_score >= SKIP_CONFIDENCE and _says_all(old, new)
    if decision.confidence_score < MIN_CONFIDENCE if decision.operation == "DELETE" else old.pinned:
        return False
    slot = slot_of(new)
    if slot is not None and slot == slot_of(old) and (is_retraction(new) or is_retraction(old)):
        return False  # whether one ends the other is not a matter of words: the rules know
    shared = _telling_words(new) & _telling_words(old)
    return (slot is not None and slot == slot_of(old)) or len(shared) >= (
        SHARED_BY_NOTES if new.category == "note" else 1
    )


def _says_all(old: Memory, new: Memory) -> bool:
    """Whether the held one lacks no number, name or negation of the new one, and not what
    fills its slot.
    """
    if new.category == "note":
        known = words_in(old.content)
        return not (
            numbers_in(new.content).keys() - numbers_in(old.content).keys()
            or names_in(new.content) - known
        )
    slots = slot_of(new), slot_of(old)
    if None not in slots and slots[0] != slots[1]:
        return False
    lacks = words_in(new.value_text or "") - words_in(f"{old.content} {old.value_text or ''}")
    return not lacks and not differences(new.content, old.content) & _TELLING


def _telling_words(memory: Memory) -> frozenset[str]:
    """The words of a memory that say what it is about: not whom, and not the frame of a note."""
    return (
        words_in(memory.content)
        - words_in(memory.subject or "")
        - FUNCTION_WORDS
        - QUERY_WORDS
        - _FRAME
    )


def _items(memories: Sequence[Memory]) -> list[DecisionItem]:
    return [
        DecisionItem(
            number, memory.content, memory.category, memory.event_timestamp, slot_of(memory)
        )
        for number, memory in enumerate(memories)
    ]


# What an agent has to be asked where all cells of a conversation are asked about together:
# nothing that rules are certain about.


@dataclass(frozen=True, slots=True)
class Questions:
    """New memories with the links that only an agent can rule about.

    cells: of how many cells they are. repeated: notes in the very words of a held one, by the ids
    of (new, held); rules skip them.
    """

    linked: tuple[tuple[Memory, tuple[Linked, ...]], ...] = ()
    cells: int = 1
    repeated: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls, linked: Sequence[tuple[Memory, Sequence[Linked]]], proofs: Mapping[str, str]
    ) -> Questions:
        """Those among the links of one cell. proofs: by the ids of its facts, the words
        that prove them.
        """
        open_links = (
            (
                new,
                tuple(
                    link
                    for link in links
                    if not is_certain(new, link.memory, proofs.get(new.id, ""))
                ),
            )
            for new, links in linked
        )
        repeated = [
            (new.id, link.memory.id)
            for new, links in linked
            for link in links
            if _repeats(new, link.memory)
        ]
        return cls(
            tuple((new, links) for new, links in open_links if links), repeated=tuple(repeated)
        )

    def __add__(self, other: Questions) -> Questions:
        """Both together."""
        return Questions(
            (*self.linked, *other.linked),
            self.cells + other.cells,
            (*self.repeated, *other.repeated),
        )

    @property
    def prompt(self) -> ConflictPrompt:
        """What the agent is shown."""
        return ConflictPrompt.of(self.linked, MAX_HELD * self.cells)

    @property
    def pairs(self) -> list[tuple[Memory, Memory]]:
        """The pairs that are asked about, as far as they are shown."""
        shown_ids = {memory.id for memory in self.prompt.older}
        return [
            (new, link.memory)
            for new, links in self.linked
            for link in links
            if link.memory.id in shown_ids
        ]


def is_certain(new: Memory, old: Memory, proof: str = "") -> bool:
    """Whether rules alone say what a new memory and a held one are to each other. proof: the words
    in which the new one was said.

    Two of different categories are never ruled about. Equal statements are one. In a slot an equal
    value is no contradiction, and one that is told later, in words that say that something changed,
    takes the place of the other. What one conversation tells in two of its cells is left to the
    slots, and to runs.
    """
    if new.category != old.category or (
        new.conversation_id is not None and new.conversation_id == old.conversation_id
    ):
        return True
    if new.category == "note":
        return _repeats(new, old)
    if not differences(old.content, new.content):
        return True
    slot = slot_of(new)
    if slot is None or slot != slot_of(old):
        return False
    if same_value(new, old):
        return True
    is_told = (
        is_retraction(new)
        or tells_change(new.content)
        or tells_change(proof)
        or changed_by(old, new) is not None
    )
    return is_told and new.event_timestamp > old.event_timestamp


def _repeats(new: Memory, old: Memory) -> bool:
    """Whether a note of another cell says the same in the same words."""
    both_notes = new.category == old.category == "note" and new.cell_id != old.cell_id
    return both_notes and normalised(new.content) == normalised(old.content)


def pair_key(new: Memory, old: Memory) -> str:
    """A name for exactly these two, by ids, texts and states."""
    return derived(
        "pair", *(f"{memory.id} {memory.status.value} {memory.content}" for memory in (new, old))
    )


def ruled_pairs(questions: Questions, rulings: Rulings) -> ConversationRulings:
    """The pairs that were asked about, each with what was said of it, to be frozen."""
    asked = {
        (new.id, old.id): RuledPair(
            new=new.id,
            old=old.id,
            key=pair_key(new, old),
            decision=rulings.by_pair.get((new.id, old.id)),
        )
        for new, old in questions.pairs
    }
    return ConversationRulings(pairs=list(asked.values()), invented=rulings.invented)


# Whether a merged note has lost and invented nothing: the checks between a model's synthesis and
# the sources that it would replace.
#
# A model that merges drifts: it drops a number here, a name there, adds what it knows from
# elsewhere, and after ten merges nothing is left but phrases. So what can be checked by code is
# checked, and a merge that fails leaves its sources as they are.


CAP = int(0.6 * MAX_CONTENT_BYTES)
"""Bytes of a merged note; a merge that would pass them links instead."""
MAX_FOREIGN = 0.5
"""Share of a merged note's telling words that its sources need not have: who merges may find
words of his own.
"""
LEAST_LEFT = 0.5
_NAMED, _SHOWN = 8, 80


def fits(sources: Sequence[Memory]) -> bool:
    """Whether these notes may be merged into one at all."""
    return sum(len(source.content.encode()) for source in sources) <= CAP


def what_is_lost(merged: str, sources: Sequence[Memory]) -> list[str]:
    """What a merged note lacks, in words for its writer; empty when it may stand for its sources.

    Checked: every part that a source has, a length of at least the longest source, every number
    (dates are numbers and names), name, tag and keyword of the sources, and half of the words that
    only one of them has.
    """
    texts = [source.content for source in sources]
    parts = parts_of(merged)
    wanted = {SUMMARY} | {
        name for text in texts for name in parts_of(text) if name in HEADINGS or name == FOOTER
    }
    lost = [
        f"the part {name} is missing"
        for name in (*HEADINGS, FOOTER)
        if name in wanted and name not in parts
    ]
    longest = max(len(text) for text in texts)
    if len(merged) < min(longest, CAP):
        lost.append(f"it has {len(merged)} characters, its longest source {longest}")
    if len(merged.encode()) > CAP:
        lost.append(f"it is longer than {CAP} bytes")
    numbers = frozenset(numbers_in(merged))
    lost += _missing(
        "numbers", frozenset(number for text in texts for number in numbers_in(text)) - numbers
    )
    words = words_in(merged)
    lost += _missing(
        "names",
        frozenset(name for text in texts for name in names_in(text)) - names_in(merged) - words,
    )
    folded = normalise_token(merged)
    terms = frozenset(term for source in sources for term in (*source.tags, *source.keywords))
    lost += [f"next to nothing is left of: {text[:_SHOWN]}" for text in _hardly_in(merged, texts)]
    lost += _missing(
        "tags or keywords", frozenset(term for term in terms if normalise_token(term) not in folded)
    )
    return lost


def what_is_invented(merged: str, sources: Sequence[Memory]) -> list[str]:
    """What a merged note says that none of its sources does, in words for its writer:
    numbers, names, or most of its words.
    """
    texts = [
        text for source in sources for text in (source.content, *source.tags, *source.keywords)
    ]
    known = frozenset(word for text in texts for word in words_in(text)) | FRAME_WORDS
    complaints = _listed(
        "these numbers stand in no source",
        frozenset(numbers_in(merged)) - {number for text in texts for number in numbers_in(text)},
    )
    complaints += _listed("these names stand in no source", names_in(merged) - known)
    words = _telling(merged)
    if len(words - known) > MAX_FOREIGN * len(words):
        complaints.append("most of it stands in no source")
    return complaints


def _hardly_in(merged: str, texts: Sequence[str]) -> list[str]:
    """The texts of whose own words, those that no other text has, not even half are left."""
    words = [_telling(text) for text in texts]
    left = _telling(merged)
    own = [
        mine
        - frozenset(
            word
            for place, other_words in enumerate(words)
            if place != number
            for word in other_words
        )
        for number, mine in enumerate(words)
    ]
    return [
        text
        for text, mine in zip(texts, own, strict=True)
        if len(mine & left) < LEAST_LEFT * len(mine)
    ]


def _telling(text: str) -> frozenset[str]:
    return words_in(text) - FUNCTION_WORDS - QUERY_WORDS - FRAME_WORDS


def _missing(kind: str, lost: frozenset[str]) -> list[str]:
    return _listed(f"these {kind} of the sources are missing", lost)


def _listed(complaint: str, named: frozenset[str]) -> list[str]:
    names = ", ".join(sorted(named)[:_NAMED])
    return [f"{complaint}: {names}{' and more' if len(named) > _NAMED else ''}"] if named else []


# Where an agent and the rules say opposite things about two memories: whether these exclude each
# other, or can both be true.
#
# Neither is believed then: both memories stand, and the record waits for a person, with both
# reasons. Note: that the rules see no contradiction is no opinion; most contradictions are beyond
# them. They deny one only where they know why both can be true.


MAY_CONTRADICT = frozenset({"numbers", "negation", "opposites", "values"})
"""Differences that turn a statement against another; names, words or order make it one about
something else.
"""
MIN_CONFIDENCE = 0.7
"""From which on an agent's opinion counts."""
MOST_WORDS_APART = 3
"""Words by which two statements of one form may differ."""
FEWEST_ALIKE = 2
"""Words that say something which two statements of one form share at least."""
MAX_SAID = 300
"""Characters of an agent's reason that a record keeps beside that of the rules."""
CHANGED: Mapping[Ground, str] = {
    "ends": "the later one says that it is over",
    "value": "the later one has another time or number",
    "switch": "the later one says that something else took its place",
    "matter": "the later one says that it is otherwise now",
}
_ONE_OF_SEVERAL = frozenset({"words", "names"})
_WITHOUT_REASON = {
    "KEEP": "both can be true",
    "SKIP": "the new one says nothing new",
    "UPDATE": "the new one adds to the held one",
    "DELETE": "they can't both be true",
}


def denies_conflict(decision: Decision | None, new: Memory, old: Memory) -> bool:
    """Whether an agent says that the two do not exclude each other. What is over is for the rules
    alone to say.
    """
    if (
        decision is None
        or decision.operation == "DELETE"
        or decision.confidence_score < MIN_CONFIDENCE
    ):
        return False
    return not (is_retraction(new) or is_retraction(old))


def contradict_by_rule(first: Memory, second: Memory) -> bool:
    """Whether the rules see two memories contradict each other by their words."""
    told_apart = differences(first.content, second.content)
    if (told_apart and told_apart <= MAY_CONTRADICT) or contradiction(
        first.content, second.content
    ) is not None:
        return True
    return changed_by(first, second) is not None


def changed_by(old: Memory, new: Memory) -> str | None:
    """What the one of two statements that was told later says of the other: that it is over, or
    otherwise now; None where both can hold.
    """
    if "note" in (old.category, new.category):
        return None
    earlier, later = sorted((old, new), key=lambda memory: memory.event_timestamp)
    change_told = change(earlier.content, later.content)
    return None if change_told is None else CHANGED[change_told.ground]


def why_both_hold(new: Memory, old: Memory) -> str | None:
    """Why both can be true, as the rules know it; None where they know nothing."""
    if new.category == "note" or old.category == "note" or changed_by(old, new) is not None:
        return None
    slots = slot_of(new), slot_of(old)
    if slots[0] is not None and slots[1] is not None:
        if slots[0] == slots[1]:
            return None
        if slots[0][0] != slots[1][0]:
            return "they are about two people or things"
        families = family_of(slots[0][1]), family_of(slots[1][1])
        return (
            "one may have several of these"
            if families[0] is not None and families[0] == families[1]
            else None
        )
    return (
        "they differ in a word that leaves room for both"
        if _say_two_things(new.content, old.content)
        else None
    )


def both_reasons(by_rules: str, model: str, decision: Decision) -> str:
    """What the rules say and what an agent says."""
    return f"{by_rules}; {opinion(model, decision)}"


def opinion(model: str, decision: Decision) -> str:
    """What an agent says about two memories, named."""
    reasoning = " ".join(decision.reasoning.replace("\0", " ").split())[:MAX_SAID]
    return f"but {model} says: {reasoning or _WITHOUT_REASON[decision.operation]}"


def _say_two_things(first: str, second: str) -> bool:
    """Whether two statements of one form differ in what one may have several of:
    "likes tea", "likes coffee".
    """
    if (
        contradiction(first, second) is not None
        or not differences(first, second) <= _ONE_OF_SEVERAL
    ):
        return False
    ours, theirs = ([word.casefold() for word in words(text)] for text in (first, second))
    codes = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    apart = [code for code in codes if code[0] != "equal"]
    alike = [
        word
        for name, start, end, *_ in codes
        if name == "equal"
        for word in ours[start:end]
        if word not in FUNCTION_WORDS
    ]
    if len(apart) != 1 or apart[0][0] != "replace" or len(alike) < FEWEST_ALIKE:
        return False
    _, start, end, their_start, their_end = apart[0]
    return max(end - start, their_end - their_start) <= MOST_WORDS_APART


# What agents made of exactly what they were shown, on its way from asking to the commit that
# executes it.


@dataclass(frozen=True, slots=True)
class MergedNote:
    """A note that stands for others: its text and vector. None for a text: the synthesis failed,
    and `complaint` says how.
    """

    source_ids: tuple[str, ...]
    text: str | None
    vector: Vector | None = None
    complaint: str = ""


@dataclass(frozen=True, slots=True)
class Ruled:
    """What the agents said about exactly `shown_key`."""

    shown_key: str | None
    rulings: Rulings
    merged: MergedNote | None = None
