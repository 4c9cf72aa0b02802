"""Make a cell's episode, note and facts.

All ids derive from what was said, so the same words become the same memories when they are sent
again. A quote that was not said drops its fact; how many were dropped is counted, because an agent
that invents must be seen.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory_core.domain.agent_schemas import (
    Answered,
    ConversationSummary,
    EpisodeAnalysis,
    ExtractedFacts,
    Provenance,
    SaidFact,
    SaidForesight,
)
from memory_core.domain.conversation import Cell, Conversation, Message, as_named, only_person
from memory_core.domain.importance import importance_by_interaction, importance_by_type
from memory_core.domain.memory import (
    MAX_CONTENT_BYTES,
    AtomicFact,
    Foresight,
    Memory,
    MemoryFields,
    MemoryType,
    Worth,
)
from memory_core.domain.messages import zone_metadata
from memory_core.domain.note import FOOTER, SUMMARY, non_empty_values, parts_of, render_note
from memory_core.domain.profile import OF_THE_USER
from memory_core.domain.ranking.index_terms import with_lexical
from memory_core.domain.scope import Owner
from memory_core.domain.statements.announced import begins_at, is_announced
from memory_core.domain.statements.begun import began_at
from memory_core.domain.statements.change_messages import tells_change
from memory_core.domain.statements.fact_checks import asserted_facts
from memory_core.domain.statements.slot_facts import add_rule_facts
from memory_core.domain.statements.wishes import asks_only, without_marks
from memory_core.domain.statements.worth import (
    asks_to_keep,
    most_lasting,
    worth_of,
    worth_of_messages,
)
from memory_core.domain.text.fuzzy_dedup import fuzzy_dedup
from memory_core.domain.text.sameness import normalised
from memory_core.domain.truth.slots import value_or_retraction
from memory_core.ledger.documents import message_ids
from memory_core.ledger.ids import derived, note_id

MAX_FACTS = 37
"""Memories that a cell's facts become, beside the cell and its note: 40 in all. Further facts stay
in the cell alone.
"""
MAX_EPISODE_BYTES = 16 * 1024
_COMPLEXITY = {"low": 1, "medium": 3, "high": 5}


@dataclass(frozen=True, slots=True)
class CellAnswers:
    """The answers of the three agents about a cell.

    Attributes:
        facts: Facts, foresight and instructions.
        episode: The behaviour of the people.
        summary: The story.
        read: What the rules extract in addition to a model; None if the rules are the agents.

    """

    facts: Answered[ExtractedFacts]
    episode: Answered[EpisodeAnalysis]
    summary: Answered[ConversationSummary]
    read: Answered[ExtractedFacts] | None = None


@dataclass(frozen=True, slots=True)
class CellMemories:
    """The memories of a cell, analysed but without vectors.

    Attributes:
        cell: The episode.
        note: None if the cell has none.
        facts: Facts of the cell.
        dropped: How many facts and foresights had no proof.
        instructions: Numbers of the conversation's messages with standing instructions, and the
            words of these.
        by_rule: Whether rules answered in the place of a model that failed, or whose tokens are
            used up.

    """

    cell: Memory
    note: Memory | None
    facts: tuple[Memory, ...]
    dropped: int
    instructions: tuple[tuple[int, str], ...] = ()
    by_rule: bool = False


def cell_memories(
    owner: Owner, conversation: Conversation, cell: Cell, answers: CellAnswers, now: datetime
) -> CellMemories:
    """The memories of a cell; their events happen when its messages were sent.

    Args:
        owner: Whose memories they are.
        conversation: Conversation of the cell.
        cell: The cell.
        answers: Answers of the agents.
        now: The present time.

    """
    named = as_named(cell.messages, conversation.messages)
    asserted = asserted_facts(answers.facts.value, named)
    read_by_rules: dict[int, Provenance] = {}
    if answers.read is not None:
        read = asserted_facts(answers.read.value, named)
        asserted = add_rule_facts(asserted, read)
        read_by_rules = {id(fact): answers.read.provenance for fact in read.facts}
    facts = _distinct(asserted.facts)
    foresight = [expectation for expectation in asserted.foresight if _is_ahead(expectation)]
    dropped = (
        asserted.dropped
        + len(asserted.facts)
        - len(facts)
        + len(asserted.foresight)
        - len(foresight)
    )
    identity = cell_id(conversation, cell)
    hints = answers.summary.value.retrieval
    terms = fuzzy_dedup(non_empty_values(hints.tags)), fuzzy_dedup(non_empty_values(hints.keywords))
    stored = _stored_facts(facts)
    ids = {
        id(fact): derived(
            "mem", identity, "fact", fact.text, fact.subject or "", fact.attribute or ""
        )
        for fact in stored
    }
    own = [
        AtomicFact(
            text=fact.text,
            message=cell.first + fact.message,
            quote=fact.quote,
            fact_id=ids.get(id(fact)),
            lasting=fact.lasting and id(fact) in ids and not _fills_slot(fact),
        )
        for fact in facts
    ]
    made = _Maker(owner, conversation, cell, identity, answers, terms, now)
    return CellMemories(
        cell=made.cell(own, [_foresight(expectation) for expectation in foresight]),
        note=made.note(),
        facts=tuple(
            made.fact(ids[id(fact)], fact, read_by_rules.get(id(fact), answers.facts.provenance))
            for fact in stored
        ),
        dropped=dropped,
        instructions=tuple(
            (cell.first + instruction.message, " ".join(instruction.quote.split()))
            for instruction in asserted.instructions
        ),
        by_rule=answers.facts.by_rule or answers.episode.by_rule or answers.summary.by_rule,
    )


def _stored_facts(facts: Iterable[SaidFact]) -> list[SaidFact]:
    """The facts that become memories of their own, at most `MAX_FACTS`."""
    worth_storing = [
        fact for fact in facts if _fills_slot(fact) or fact.lasting or tells_change(fact.text)
    ]
    return sorted(worth_storing, key=_rank, reverse=True)[:MAX_FACTS]


def _rank(fact: SaidFact) -> tuple[bool, bool]:
    return _fills_slot(fact), fact.lasting


def _fills_slot(fact: SaidFact) -> bool:
    return bool(fact.subject and fact.attribute and fact.value)


def cell_id(conversation: Conversation, cell: Cell) -> str:
    """The id of a cell.

    It derives from the session, the agent, and every word in the cell with its times.

    Args:
        conversation: Conversation of the cell.
        cell: The cell.

    """
    digest = hashlib.sha256()
    for message in cell.messages:
        digest.update(
            f"{message.role}\0{message.actor or ''}\0{message.timestamp.isoformat()}\0{message.content}\1".encode()  # noqa: E501
        )
    speakers = conversation.session_id or "", conversation.agent_id or "", conversation.path
    return derived("mem", "cell", *speakers, digest.hexdigest())


@dataclass(frozen=True, slots=True)
class _Maker:
    owner: Owner
    conversation: Conversation
    cell_of: Cell
    cell_id: str
    answers: CellAnswers
    terms: tuple[list[str], list[str]]
    now: datetime

    def cell(self, facts: list[AtomicFact], foresight: list[Foresight]) -> Memory:
        summary = self.answers.summary.value
        tags, keywords = self.terms
        made = self._memory(
            self.cell_id,
            MemoryType.EPISODIC,
            "cell",
            within(summary.narrative, MAX_CONTENT_BYTES),
            self.answers.summary.provenance,
        )
        fields: MemoryFields = {
            "episode": within(as_text(self._said() or self.cell_of.messages), MAX_EPISODE_BYTES),
            "source_ids": message_ids(self.conversation, self.cell_of),
            "atomic_facts": facts,
            "foresight": foresight,
            "tags": tags,
            "keywords": keywords,
            "entities": list(
                dict.fromkeys(message.actor for message in self.cell_of.messages if message.actor)
            )[:50],
            **self._weight(tags, keywords),
        }
        return with_lexical(made.changed(**fields))

    def note(self) -> Memory | None:
        """The Zettelkasten note of the cell.

        None if it would say no more than the narrative: the depth of a greeting is no knowledge.
        """
        summary = self.answers.summary.value
        text = render_note(self.answers.episode.value, summary)
        tags, keywords = self.terms
        if parts_of(text).keys() <= {SUMMARY, FOOTER} and not (
            tags or keywords or non_empty_values(summary.metadata.follow_ups)
        ):
            return None
        made = self._memory(
            note_id(self.cell_id),
            MemoryType.SEMANTIC,
            "note",
            within(text, MAX_CONTENT_BYTES),
            self.answers.episode.provenance,
        )
        fields: MemoryFields = {
            "tags": tags,
            "keywords": keywords,
            "semantic_queries": non_empty_values(summary.retrieval.queries),
            "source_ids": [self.cell_id],
            **self._weight(tags, keywords),
        }
        return with_lexical(made.changed(**fields))

    def fact(self, identity: str, statement: SaidFact, source: Provenance) -> Memory:
        moment = self.cell_of.messages[statement.message].timestamp
        made = self._memory(identity, MemoryType.SEMANTIC, "fact", statement.text, source)
        person = only_person(self.conversation.messages)
        fields: MemoryFields = {
            "subject": statement.subject,
            "attribute": statement.attribute,
            "value": value_or_retraction(statement.value),
            "value_text": statement.value,
            "confidence": statement.confidence,
            "source_ids": [self.cell_id],
            "event_timestamp": moment,
            "valid_from": self._begins(statement) or moment,
            "importance_base": importance_by_type(MemoryType.SEMANTIC, statement.text, "fact"),
            "importance_basis": "type",
            "worth": self._worth_of_fact(statement),
            "foresight": self._until_it_is_over(statement),
            "metadata": made.metadata
            | (OF_THE_USER if person and (statement.subject or "").casefold() == person else {}),
        }
        return with_lexical(made.changed(**fields))

    def _said(self) -> list[Message]:
        """The messages without those of the system, which are an agent's own texts."""
        return [message for message in self.cell_of.messages if message.role != "system"]

    def _begins(self, fact: SaidFact) -> datetime | None:
        """When a truth begins or began, by its quote.

        None for a truth that holds at once.
        """
        said_at = self.cell_of.messages[fact.message].timestamp
        return begins_at(fact.quote, said_at) if is_announced(fact) else began_at(fact, said_at)

    def _until_it_is_over(self, fact: SaidFact) -> list[Foresight]:
        """The foresight of a fact without a slot that says the same.

        For example: "User is on a diet for two weeks".
        """
        if _fills_slot(fact):
            return []
        text = normalised(fact.text)
        ahead = (
            expectation
            for expectation in self.answers.facts.value.foresight
            if expectation.message == fact.message and expectation.quote == fact.quote
        )
        same = [
            expectation
            for expectation in ahead
            if text == normalised(_AS_SAID.sub(":", expectation.description))
            and _is_ahead(expectation)
        ]
        return [_foresight(expectation.described(fact.text)) for expectation in same[:1]]

    def _memory(
        self, identity: str, kind: MemoryType, category: str, content: str, source: Provenance
    ) -> Memory:
        return Memory(
            id=identity,
            app_id=self.owner.app_id,
            user_id=self.owner.user_id,
            session_id=self.conversation.session_id,
            agent_id=self.conversation.agent_id,
            cell_id=self.cell_id,
            conversation_id=self.conversation.id,
            type=kind,
            category=category,
            content=content,
            source="conversation",
            searchable=bool(self._said()),
            created_at=self.now,
            updated_at=self.now,
            event_timestamp=self.cell_of.ended_at,
            valid_from=self.cell_of.started_at,
            prompt_id=source.prompt_id,
            prompt_version=source.prompt_version,
            model=source.model,
            correlation_id=self.conversation.correlation_id,
            metadata={**zone_metadata(self.conversation)},
        )

    def _weight(self, tags: Sequence[str], keywords: Sequence[str]) -> MemoryFields:
        metadata = self.answers.summary.value.metadata
        quality = None if metadata.depth == "N/A" else metadata.depth
        follow_ups = non_empty_values(metadata.follow_ups)
        return {
            "interaction_quality": quality,
            "conversation_complexity": _COMPLEXITY.get(metadata.depth),
            "follow_up_potential": follow_ups,
            "importance_base": importance_by_interaction(
                quality, len(follow_ups), len(tags) + len(keywords)
            ),
            "importance_basis": "secmsa",
            "worth": worth_of_messages(self.cell_of.messages, metadata.worth),
        }

    def _worth_of_fact(self, fact: SaidFact) -> Worth | None:
        message = self.cell_of.messages[fact.message]
        if message.by_person and asks_to_keep(message.content):
            return "asked_to_keep"
        return most_lasting([worth_of(fact.text), worth_of(fact.quote)])


_AS_SAID = re.compile(r"(?<=\w) said:")
"""How a description quotes a speaker; a fact in its speaker's own words has only the colon."""


def _foresight(expectation: SaidForesight) -> Foresight:
    return Foresight(
        description=expectation.description,
        start_time=expectation.start_time,
        end_time=expectation.end_time,
        confidence=expectation.confidence,
    )


def _is_ahead(expectation: SaidForesight) -> bool:
    return expectation.end_time is None or expectation.end_time > expectation.start_time


def _distinct(facts: Sequence[SaidFact]) -> list[SaidFact]:
    """The facts without repeats of the same words about the same slot."""
    seen: dict[tuple[str, str, str], SaidFact] = {}
    for fact in facts:
        seen.setdefault((fact.text.casefold(), fact.subject or "", fact.attribute or ""), fact)
    return list(seen.values())


def within(text: str, limit: int) -> str:
    """The text, cut at `limit` bytes of UTF-8 without breaking a character.

    Args:
        text: Text to cut.
        limit: In bytes.

    """
    raw = text.encode()
    return text if len(raw) <= limit else raw[: limit - 3].decode(errors="ignore").rstrip() + "…"


def as_text(messages: Sequence[Message]) -> str:
    """The messages as they were sent, a line for each.

    Requests to forget that were carried out are left out.
    """
    messages_left = without_marks([message for message in messages if not asks_only(message)])
    return "\n".join(
        f"{message.actor or message.role}: {message.content}" for message in messages_left
    )


CATEGORY = "agent"


def words_memory(
    owner: Owner,
    conversation: Conversation,
    cell: Cell,
    summary: Answered[ConversationSummary],
    now: datetime,
) -> Memory:
    """The memory of an agent's own words, analysed but without its vector.

    Its content is the summary, its `episode` the words themselves. Its id is the cell's, which
    derives from the speaker, the words and their times. So the same words sent again are the same
    memory.

    Args:
        owner: Whose memory it is.
        conversation: Conversation with the words.
        cell: Cell of the conversation.
        summary: Summary of the words.
        now: The present time.

    """
    identity = cell_id(conversation, cell)
    content = within(summary.value.narrative, MAX_CONTENT_BYTES)
    made = Memory(
        id=identity,
        app_id=owner.app_id,
        user_id=owner.user_id,
        session_id=conversation.session_id,
        agent_id=conversation.agent_id,
        cell_id=identity,
        conversation_id=conversation.id,
        type=MemoryType.EPISODIC,
        category=CATEGORY,
        content=content,
        episode=within(as_text(cell.messages), MAX_EPISODE_BYTES),
        entities=list(dict.fromkeys(message.actor for message in cell.messages if message.actor))[
            :50
        ],
        source="agent",
        source_ids=message_ids(conversation, cell),
        importance_base=importance_by_type(MemoryType.EPISODIC, content, CATEGORY),
        importance_basis="type",
        worth=worth_of_messages(cell.messages),
        created_at=now,
        updated_at=now,
        event_timestamp=cell.ended_at,
        valid_from=cell.started_at,
        prompt_id=summary.provenance.prompt_id,
        prompt_version=summary.provenance.prompt_version,
        model=summary.provenance.model,
        correlation_id=conversation.correlation_id,
        metadata={**zone_metadata(conversation)},
    )
    return with_lexical(made)
