"""Decide what a wish means: its memories and instructions, and their fate.

A request to forget means the memories that have all of its words. Messages of assistants and tools
are meant only beside those of a person.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypedDict, Unpack

from pydantic import ConfigDict, Field

from memory_core.domain.conversation import Conversation, Message
from memory_core.domain.deferred_model import DeferredModel
from memory_core.domain.memory import FOUND_BY_DEFAULT, Memory, MemoryType
from memory_core.domain.messages import MESSAGE, messages_in
from memory_core.domain.profile import OF_THE_USER
from memory_core.domain.scope import Owner
from memory_core.domain.statements.attributes import canonical_subject
from memory_core.domain.statements.contradictions import contradiction
from memory_core.domain.statements.exclusive_instructions import (
    NEGATED,
    are_exclusive,
    is_instead_of,
    names_thing,
)
from memory_core.domain.statements.forget_topics import GENERAL_WORDS, japanese_words_of, topic_of
from memory_core.domain.statements.patterns import repeats
from memory_core.domain.statements.said_words import KIN_IN_JAPANESE, person_of
from memory_core.domain.statements.sentence_wishes import FORGETTING, Wish, stops_something
from memory_core.domain.statements.wish_signs import read
from memory_core.domain.statements.wishes import INSTRUCTION
from memory_core.domain.text.analyzer import QUESTION_WORDS, has_japanese, terms_of, words
from memory_core.domain.text.sentences import sentences
from memory_core.ledger.documents import message_ids
from memory_core.ledger.readable import readable
from memory_core.ports import Clock, Filter, LongTermStore

MACHINES = frozenset({"assistant", "tool", "system"})
"""The roles of those who ask for nothing and state nothing."""
MOST_FORGOTTEN = 30
"""Memories that a request deletes at most; a request for more is left to be confirmed."""
MOST_INSTRUCTIONS = 100
MOST_TO_CONFIRM = 20
MOST_GUESSED = 5
"""The nearest memories, which a request may mean if no memory has its words."""
NEAR_ENOUGH = 0.5
"""Share of the answer threshold: the least relevance of an instruction to a wish that ends it in
other words.
"""
LATEST_READ = 40
"""The latest messages among which the user's last words are searched for."""
JUST_BEFORE = timedelta(minutes=10)
"""How long ago the last message may be that a later call means by "forget that"."""
_LITTLE_WORDS = QUESTION_WORDS["german"]
"""Words that name nothing; the English ones are no terms of a topic."""
_OWN = re.compile(r"\b(?:my|our|mein\w{0,2}|unser\w{0,2})\b|(?:私|僕|俺|うち)の", re.IGNORECASE)
"""Says that something is the speaker's."""
_EPISODIC = frozenset({MemoryType.EPISODIC.value})
Finder = Callable[[Owner, str], Awaitable[Sequence[tuple[Memory, float]]]]
"""Finds memories by a text, best first, each with its relevance to the answer threshold: 1 and more
answers it.
"""


class WishEffectFields(TypedDict, total=False):
    """Fields of the answer to a wish that carrying it out replaces."""

    instructed: list[str]
    forgotten: list[str]
    to_confirm: list[str]


class WishEffects(DeferredModel):
    """The effects of a wish.

    Attributes:
        message_id: Id of the message with the wish.
        instructed: Ids of instructions that were kept.
        withdrawn: Ids of instructions that were ended.
        forgotten: Ids of memories that were soft-deleted.
        to_confirm: Ids of memories that may be meant.

    """

    model_config = ConfigDict(extra="forbid")

    message_id: str
    instructed: list[str] = Field(default_factory=list)
    withdrawn: list[str] = Field(default_factory=list)
    forgotten: list[str] = Field(default_factory=list)
    to_confirm: list[str] = Field(default_factory=list)

    def changed(self, **fields: Unpack[WishEffectFields]) -> WishEffects:
        """The answer with these ids replaced, without validation."""
        return self.model_copy(update=fields)


@dataclass(frozen=True, slots=True)
class EffectFinder:
    """Finds the memories and instructions that wishes of any owner mean."""

    store: LongTermStore
    find: Finder
    clock: Clock

    async def decide(
        self, owner: Owner, conversation: Conversation, wish: Wish, message_id: str
    ) -> WishEffects:
        """Decide the effects of a wish, without carrying them out.

        Args:
            owner: Whose wish it is.
            conversation: Conversation in which it was said.
            wish: What was asked for.
            message_id: Id of its message.

        Raises:
            Unavailable: A dependency is down.

        """
        if wish.kind == "forget":
            return await self._named_memories(owner, conversation, wish, message_id)
        instructions = await self._instructions_of(owner, conversation.messages[wish.message])
        if wish.kind == "withdrawal":
            return WishEffects(
                message_id=message_id,
                withdrawn=[
                    instruction.id
                    for instruction in await self._find_ended(owner, wish, instructions)
                ],
            )
        return WishEffects(
            message_id=message_id,
            withdrawn=[
                instruction.id
                for instruction in instructions
                if contradiction(instruction.content, wish.text) is not None
                or are_exclusive(instruction.content, wish.text)
            ],
        )

    async def _named_memories(
        self, owner: Owner, conversation: Conversation, wish: Wish, message_id: str
    ) -> WishEffects:
        """The memories and instructions that a request to forget names.

        They have all its words; the request itself is left out.
        """
        names = message_ids(conversation)
        before = [
            names[place]
            for place in range(wish.message)
            if conversation.messages[place].role == "user"
        ]
        if wish.extent == "all_memories":
            latest = await self._latest(owner, frozenset(names[wish.message :]), MOST_TO_CONFIRM)
            return WishEffects(message_id=message_id, to_confirm=[memory.id for memory in latest])
        if not wish.about and wish.surety == "sure":
            meant = before[-1:] or await self._just_before(owner, conversation, wish, names)
            if meant:
                return WishEffects(
                    message_id=message_id,
                    forgotten=[*meant, *_repeated(conversation, names, wish.message, meant)],
                )
        named_by = NamedContent.of(wish.about)
        hits = [
            memory
            for memory, _ in await self.find(owner, wish.about or wish.text)
            if memory.id not in names[wish.message :]
        ]
        candidates = [
            memory for memory in hits if memory.category != INSTRUCTION and not _by_machine(memory)
        ]
        instructions = [
            memory
            for memory in await self._instructions_of(owner, conversation.messages[wish.message])
            if named_by.has_all_words_in(memory)
        ]
        named = [
            memory
            for memory in candidates
            if named_by.has_all_words_in(memory) and not _states_any(memory, instructions)
        ]
        of_others = _ids_of_others(named, hits, conversation.messages[wish.message].actor or "user")
        named = [memory for memory in named if memory.id not in of_others] or named
        earlier = conversation.messages[wish.message].content[: wish.start]
        own = [message_id] if not named and named_by.has_all_words(earlier) else []
        if wish.surety == "perhaps" or (wish.surety == "known" and not named):
            meant = own or [memory.id for memory in named[:MOST_TO_CONFIRM]]
            return WishEffects(message_id=message_id, to_confirm=meant)
        withdrawn = [memory.id for memory in instructions]
        if instructions and not named:
            return WishEffects(message_id=message_id, withdrawn=withdrawn)
        clear = (wish.extent == "topic" or _is_single(named)) and not any(
            memory.id in of_others or _is_of_another(memory, wish, named_by) for memory in named
        )
        if wish.surety in ("sure", "known") and clear and 0 < len(named) <= MOST_FORGOTTEN:
            forgotten = [memory.id for memory in (*named, *_answers(named, hits, named_by))]
            forgotten += _repeated(conversation, names, wish.message, forgotten)
            return WishEffects(message_id=message_id, withdrawn=withdrawn, forgotten=forgotten)
        likely = (
            named
            or candidates[:MOST_GUESSED]
            or await self._latest(owner, frozenset(names[wish.message :]))
        )
        meant = [*own, *(memory.id for memory in likely)]
        return WishEffects(message_id=message_id, to_confirm=meant[:MOST_TO_CONFIRM])

    async def _just_before(
        self, owner: Owner, conversation: Conversation, wish: Wish, names: Sequence[str]
    ) -> list[str]:
        """The id of the user's last message in an earlier call of this session.

        It is empty if that was more than `JUST_BEFORE` ago.
        """
        asked_at = conversation.messages[wish.message].timestamp
        return [
            memory.id
            for memory in await self._latest(owner, frozenset(names[wish.message :]))
            if memory.session_id == conversation.session_id
            and timedelta(0) <= asked_at - memory.event_timestamp <= JUST_BEFORE
        ][:1]

    async def _latest(
        self, owner: Owner, request: frozenset[str], most: int = MOST_GUESSED
    ) -> list[Memory]:
        """The user's latest messages, the newest first.

        They may be meant if the search finds no memory.
        """
        statuses = frozenset(status.value for status in FOUND_BY_DEFAULT)
        where = Filter(
            statuses, types=_EPISODIC, categories=frozenset({MESSAGE}), now=self.clock.now()
        )
        memories, _ = readable(await self.store.page(owner, "memory", where, None, LATEST_READ))
        return [
            memory for memory in memories if memory.id not in request and not _by_machine(memory)
        ][:most]

    async def _find_ended(
        self, owner: Owner, wish: Wish, instructions: Sequence[Memory]
    ) -> list[Memory]:
        """The instructions that a wish ends: those that share the most words with it.

        A permission ends what excludes it: "you may answer at length" ends "answer briefly". A wish
        for the end of all instructions ends all. Without shared words it is the nearest
        instruction, unless the wish may be none, is an instruction by itself, or names another
        thing: "you may push to main again" ends only what is about pushing or main. "Stop pushing
        to main" forbids once more what is forbidden, and ends nothing.
        """
        if wish.extent == "all_instructions":
            return list(instructions)
        if wish.extent == "instead":
            return [each for each in instructions if is_instead_of(each.content, wish.text)]
        if excluded := [
            instruction
            for instruction in instructions
            if are_exclusive(instruction.content, wish.text)
        ]:
            return excluded
        reading = read(wish.text)
        shared = _sharing_most_words(wish.text, instructions)
        if stops_something(reading):
            shared = [each for each in shared if not _forbids(each.content, wish.text)]
        elif wish.surety == "perhaps" and not FORGETTING.isdisjoint(reading.kind_set):
            named_by = NamedContent.of(topic_of(reading))
            shared = [each for each in shared if named_by.has_all_words_in(each)]
        if (
            shared
            or wish.instructs
            or wish.surety == "perhaps"
            or not instructions
            or names_thing(reading)
        ):
            return shared
        names = {instruction.id: instruction for instruction in instructions}
        return [
            names[memory.id]
            for memory, share in await self.find(owner, wish.text)
            if memory.id in names and share >= NEAR_ENOUGH
        ][:1]

    async def _instructions_of(self, owner: Owner, message: Message) -> list[Memory]:
        """The active instructions that may be those of a message's actor."""
        return [
            memory
            for memory in await self.instructions(owner)
            if _may_be_of(memory.actor, message.actor)
        ]

    async def instructions(self, owner: Owner) -> list[Memory]:
        """The active instructions, the newest first."""
        statuses = frozenset(status.value for status in FOUND_BY_DEFAULT)
        types, categories = frozenset({MemoryType.PROCEDURAL.value}), frozenset({INSTRUCTION})
        where = Filter(statuses, types=types, categories=categories, now=self.clock.now())
        memories, _ = readable(
            await self.store.page(owner, "memory", where, None, MOST_INSTRUCTIONS)
        )
        return memories


def _may_be_of(actor: str | None, other: str | None) -> bool:
    """Whether two names may be those of one person; a missing name may be anyone's."""
    return not actor or not other or actor.casefold() == other.casefold()


def _sharing_most_words(text: str, instructions: Sequence[Memory]) -> list[Memory]:
    """The instructions that share the most topic words with a wish that ends them.

    It is empty if no word is shared.
    """
    wanted = topic_terms(" ".join(word for word in words(text) if word not in _LITTLE_WORDS))
    shared = {
        instruction.id: len(wanted & topic_terms(instruction.content))
        for instruction in instructions
    }
    most = max(shared.values(), default=0)
    return [instruction for instruction in instructions if most and shared[instruction.id] == most]


def _forbids(instruction: str, text: str) -> bool:
    """Whether an instruction forbids what a text names.

    It does if a word of the text is behind its negation.
    """
    match = NEGATED.search(instruction.casefold())
    forbidden = topic_terms("" if match is None else instruction[match.end() :])
    return not forbidden.isdisjoint(topic_terms(text))


def topic_terms(text: str) -> frozenset[str]:
    """The terms of a text that tell its topic."""
    return frozenset(terms_of(word for word in words(text) if word not in GENERAL_WORDS))


@dataclass(frozen=True, slots=True)
class NamedContent:
    """The content that a request names.

    Attributes:
        terms: Terms of a request that is not Japanese.
        written: Words of a Japanese request, as they are written.

    """

    terms: frozenset[str] = frozenset()
    written: Sequence[str] = ()

    @classmethod
    def of(cls, about: str) -> NamedContent:
        """The content that a request about this names."""
        return (
            cls(written=japanese_words_of(about))
            if has_japanese(about)
            else cls(terms=topic_terms(about))
        )

    def is_in(self, text: str) -> bool:
        """Whether a text has any of the named words."""
        if self.written:
            return any(word in text.casefold() for word in self.written)
        telling = (word for word in words(text) if word not in _LITTLE_WORDS)
        return not self.terms.isdisjoint(terms_of(telling))

    def has_all_words_in(self, memory: Memory) -> bool:
        """Whether a memory has all of the named words, an episode in what people said.

        A note has none: it tells its episode, and an assistant's words as well.
        """
        if memory.category == "note":
            return False
        own = memory.content
        if memory.episode is not None:
            own = "\n".join(text for actor, text in messages_in(memory) if actor not in MACHINES)
        return self.has_all_words("\n".join((own, memory.subject or "", memory.attribute or "")))

    def has_all_words(self, text: str) -> bool:
        """Whether a text has all of the named words."""
        if self.written:
            return all(word in text.casefold() for word in self.written)
        return bool(self.terms) and self.terms <= frozenset(terms_of(words(text)))


def _is_single(named: Sequence[Memory]) -> bool:
    """Whether memories are of a single episode, or of those that told a single fact."""
    cells = {memory.cell_id or memory.id for memory in named}
    return len(cells) == 1 or any(
        cells <= {memory.cell_id, *memory.source_ids}
        for memory in named
        if memory.category == "fact"
    )


def _is_of_another(memory: Memory, wish: Wish, named_by: NamedContent) -> bool:
    """Whether a memory tells of another person what a request names as the speaker's own.

    "My sister's address" is not what "forget my address" means for sure.
    """
    if _OWN.search(wish.text) is None:
        return False
    subject = canonical_subject(memory.subject or "user")
    if subject != "user" and not OF_THE_USER.items() <= memory.metadata.items():
        return not named_by.is_in(subject)
    telling = [
        sentence.text
        for sentence in sentences(memory.content)
        if named_by.has_all_words(sentence.text)
    ]
    meant = _persons_in(wish.text)
    return bool(telling) and all(_persons_in(text) - meant for text in telling)


def _ids_of_others(
    memories: Sequence[Memory], hits: Sequence[Memory], actor: str
) -> frozenset[str]:
    """The ids of what others of a shared account told, and of what it became.

    Args:
        memories: The memories that a request names.
        hits: What a search for the request found.
        actor: Who asks; "user" without a name.

    """
    speakers = {(hit.cell_id, hit.actor.casefold()) for hit in hits if hit.actor}
    theirs = {memory.id for memory in memories if not _may_be_of(_teller(memory, speakers), actor)}
    cells = {memory.id for memory in memories if not theirs.isdisjoint(memory.source_ids)}
    facts = {memory.id for memory in memories if not cells.isdisjoint(memory.source_ids)}
    return frozenset(theirs | cells | facts)


def _teller(memory: Memory, speakers: Container[tuple[str | None, str]]) -> str | None:
    """Who told a memory, if a name is known.

    Of a fact about a speaker of its cell it is the subject.
    """
    if memory.category != "fact" or canonical_subject(memory.subject or "user") == "user":
        return memory.actor
    name = (memory.subject or "").casefold()
    of_speaker = OF_THE_USER.items() <= memory.metadata.items()
    return name if of_speaker or (memory.cell_id, name) in speakers else memory.actor


def _persons_in(text: str) -> frozenset[str]:
    """The people whom a text names by what they are to another person."""
    return frozenset({*map(person_of, words(text)), *KIN_IN_JAPANESE.findall(text)} - {""})


def _states_any(memory: Memory, instructions: Sequence[Memory]) -> bool:
    """Whether any of these instructions was said in a memory.

    Such a memory stays when the instruction is ended.
    """
    text = f"{memory.content}\n{memory.episode or ''}"
    return any(instruction.content in text for instruction in instructions)


def _answers(
    named: Sequence[Memory], hits: Sequence[Memory], named_by: NamedContent
) -> Iterator[Memory]:
    """The messages of assistants and tools about named memories, in the cells of these.

    Args:
        named: The memories that a request names.
        hits: What a search for the request found.
        named_by: The content that the request names.

    """
    cells = {memory.cell_id for memory in named}
    for memory in hits:
        if _by_machine(memory) and memory.cell_id in cells and named_by.has_all_words_in(memory):
            yield memory


def _repeated(
    conversation: Conversation, names: Sequence[str], end: int, forgotten: Sequence[str]
) -> list[str]:
    """The messages of assistants and tools that answer or repeat the deleted messages.

    They come before the request, and from the same conversation; an answer is right after.
    """
    texts = [
        message.content
        for name, message in zip(names, conversation.messages, strict=True)
        if name in forgotten
    ]
    return [
        names[place]
        for place, message in enumerate(conversation.messages[:end])
        if message.role in ("assistant", "tool")
        and (names[max(place - 1, 0)] in forgotten or repeats(message.content, texts))
    ]


def _by_machine(memory: Memory) -> bool:
    """Whether it is a message of an assistant, a tool or a system.

    Such a message is deleted with the episode of a person's words.
    """
    return memory.metadata.get("role") in MACHINES
