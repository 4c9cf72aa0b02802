"""Carry out the wishes that people say in a conversation.

A wish is a standing instruction, the end of an instruction, or a request to forget. Wishes are
carried out before memories are formed of the messages, and once for each wish, however often the
work is repeated. A request to forget soft-deletes all memories that have all the words which it
names. It is left to be confirmed if no memory has them, if several memories have them and the
request is not for all of them, or if the sentence is not surely a request. Words of assistants, of
tools and of quotations are never obeyed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from typing import Any, TypedDict, Unpack

from pydantic import ConfigDict, Field

from memory_core.domain.agent_schemas import Answered, Provenance
from memory_core.domain.conversation import Conversation
from memory_core.domain.deferred_model import DeferredModel
from memory_core.domain.errors import MemoryCoreError, NotFound
from memory_core.domain.fields import local, zone_of
from memory_core.domain.memory import FOUND_BY_DEFAULT, Memory, MemoryType
from memory_core.domain.messages import MESSAGE, messages_in
from memory_core.domain.requests.memories import SaveInput
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.domain.statements.contradictions import contradiction
from memory_core.domain.statements.exclusive_instructions import are_exclusive
from memory_core.domain.statements.forget_topics import GENERAL_WORDS, japanese_words_of
from memory_core.domain.statements.patterns import repeats
from memory_core.domain.statements.wish_limits import holds_until
from memory_core.domain.statements.wishes import (
    INSTRUCTION,
    Wish,
    key_for,
    only_requests,
    said_wishes,
    without_requests,
)
from memory_core.domain.text.analyzer import has_japanese, terms_of, words
from memory_core.evolution.edit import Editor
from memory_core.evolution.soft_forget import ToldForgetter
from memory_core.formation.save import Saver
from memory_core.ledger.documents import message_ids
from memory_core.ledger.ids import keyed
from memory_core.ledger.instructions import MADE_OF
from memory_core.ledger.readable import readable
from memory_core.ports import Clock, Filter, LongTermStore
from memory_core.tasks.agent_steps import Steps

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
FIRST_FOUND = 1_000
"""The number of the first wish that an agent found; wishes that rules read have smaller numbers."""
_EPISODIC = frozenset({MemoryType.EPISODIC.value})
RULES = Provenance("rules")
Finder = Callable[[Owner, str], Awaitable[Sequence[tuple[Memory, float]]]]
"""Finds memories by a text, best first, each with its relevance to the answer threshold: 1 and more
answers it.
"""


class WishEffectFields(TypedDict, total=False):
    """Fields of the answer to a wish that carrying it out replaces."""

    instructed: list[str]
    forgotten: list[str]


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
class Wishes:
    """Carries out the wishes in conversations of any owner."""

    store: LongTermStore
    saver: Saver
    editor: Editor
    forgetter: ToldForgetter
    find: Finder
    steps: Steps
    clock: Clock

    async def carry_out(
        self, owner: Owner, conversation: Conversation, call: Call
    ) -> tuple[Conversation, dict[str, Any]]:
        """Carry out the wishes in a conversation.

        Args:
            owner: Whose conversation it is.
            conversation: Conversation with its messages, all of which are written.
            call: Call on whose behalf it happens.

        Returns:
            The conversation as it is to be formed, without the words of requests by which memories
                were deleted; and the effects, for the task's result.

        Raises:
            Unavailable: A dependency is down; the wishes that were carried out by then are not
                repeated.

        """
        wishes = said_wishes(conversation.messages) if conversation.path == "converse" else []
        if all(map(_may_lift, wishes)) and not (wishes and await self._held(owner)):
            return conversation, {}
        names = message_ids(conversation)
        done = [
            await self._once(owner, conversation, number, wish, names[wish.message], call)
            for number, wish in enumerate(wishes)
        ]
        result: dict[str, Any] = {}
        instructions = {
            name: [memory_id for each in done for memory_id in getattr(each, name)]
            for name in ("instructed", "withdrawn")
        }
        if any(instructions.values()):
            result["instructions"] = {name: ids for name, ids in instructions.items() if ids}
        requests = [
            (wish, each)
            for wish, each in zip(wishes, done, strict=True)
            if wish.kind == "forget" and not _only_lifts(each)
            if wish.surety != "perhaps" or each.to_confirm
        ]
        if not requests:
            return conversation, result
        result["forgetting"] = [_request_result(each) for _, each in requests]
        acted = [wish for wish, each in requests if each.forgotten]
        return await self._without_requests(
            owner, conversation, acted, call
        ) if acted else conversation, result

    async def keep_found_instructions(
        self,
        owner: Owner,
        conversation: Conversation,
        instructions: Sequence[tuple[int, str]],
        call: Call,
    ) -> None:
        """Keep standing instructions that an agent found, unless they were ended later.

        They are kept like the instructions that the rules read.

        Args:
            owner: Whose conversation it is.
            conversation: Conversation with its messages.
            instructions: The number of each instruction's message, and its words.
            call: Call on whose behalf it happens.

        Raises:
            Unavailable: A dependency is down.

        """
        if not instructions:
            return
        names = message_ids(conversation)
        lifting = [
            wish
            for wish in said_wishes(conversation.messages)
            if wish.kind == "withdrawal" and wish.surety == "sure"
        ]
        for number, (place, text) in enumerate(instructions, FIRST_FOUND):
            if not any(
                wish.message >= place and _terms(wish.text) & _terms(text) for wish in lifting
            ):
                await self._once(
                    owner,
                    conversation,
                    number,
                    Wish("instruction", place, text, 0, 0),
                    names[place],
                    call,
                )

    async def _without_requests(
        self, owner: Owner, conversation: Conversation, wishes: Sequence[Wish], call: Call
    ) -> Conversation:
        """The conversation without the words of requests that were carried out.

        Messages that consist only of such requests are hidden.
        """
        names = message_ids(conversation)
        left = without_requests(conversation.messages, wishes)
        hidden = [
            names[number]
            for number in {wish.message for wish in wishes if wish.kind == "forget"}
            if only_requests(left[number])
        ]
        await self.forgetter.hide_requests(owner, sorted(hidden), call)
        named = [message.changed(memory_id=name) for message, name in zip(left, names, strict=True)]
        return conversation.changed(messages=named)

    async def _once(
        self,
        owner: Owner,
        conversation: Conversation,
        number: int,
        wish: Wish,
        message_id: str,
        call: Call,
    ) -> WishEffects:
        """Carry out a wish; the same wish always has the same effects.

        The effects are decided, and frozen, before they are carried out.
        """

        async def ask() -> Answered[WishEffects]:
            return Answered(await self._settled(owner, conversation, wish, message_id), RULES)

        settled = (
            await self.steps.frozen(owner, message_id, f"wish {number}", ask, WishEffects)
        ).value
        for name in settled.withdrawn:
            await self._end_instruction(owner, name, call)
        if settled.forgotten:
            names = _Named.of(wish.about).is_in if wish.about else None
            settled = settled.changed(
                forgotten=await self.forgetter.forget(owner, settled.forgotten, call, names)
            )
        if wish.kind == "instruction" or (wish.instructs and not settled.withdrawn):
            settled = settled.changed(
                instructed=[await self._keep(owner, conversation, wish, number, call)]
            )
        return settled

    async def _settled(
        self, owner: Owner, conversation: Conversation, wish: Wish, message_id: str
    ) -> WishEffects:
        if wish.kind == "forget":
            return await self._named_memories(owner, conversation, wish, message_id)
        instructions = await self._held(owner)
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
        named_by = _Named.of(wish.about)
        hits = [
            memory
            for memory, _ in await self.find(owner, wish.about or wish.text)
            if memory.id not in names[wish.message :]
        ]
        candidates = [
            memory for memory in hits if memory.category != INSTRUCTION and not _by_machine(memory)
        ]
        instructions = [
            memory for memory in await self._held(owner) if named_by.has_all_words_in(memory)
        ]
        named = [
            memory
            for memory in candidates
            if named_by.has_all_words_in(memory) and not _states_any(memory, instructions)
        ]
        if wish.surety == "perhaps":
            meant = [memory.id for memory in named[:MOST_TO_CONFIRM]]
            return WishEffects(message_id=message_id, to_confirm=meant)
        withdrawn = [memory.id for memory in instructions]
        if instructions and not named:
            return WishEffects(message_id=message_id, withdrawn=withdrawn)
        clear = (
            wish.extent == "topic" or len({memory.cell_id or memory.id for memory in named}) == 1
        )
        if wish.surety == "sure" and clear and 0 < len(named) <= MOST_FORGOTTEN:
            forgotten = [memory.id for memory in (*named, *_answers(named, hits, named_by))]
            forgotten += _repeated(conversation, names, wish.message, forgotten)
            return WishEffects(message_id=message_id, withdrawn=withdrawn, forgotten=forgotten)
        likely = (
            named
            or candidates[:MOST_GUESSED]
            or await self._latest(owner, frozenset(names[wish.message :]))
        )
        return WishEffects(
            message_id=message_id, to_confirm=[memory.id for memory in likely[:MOST_TO_CONFIRM]]
        )

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
        instruction, unless the wish may be none, or an instruction by itself.
        """
        if wish.extent == "all_instructions":
            return list(instructions)
        if excluded := [
            instruction
            for instruction in instructions
            if are_exclusive(instruction.content, wish.text)
        ]:
            return excluded
        if (
            (shared := _sharing_most_words(wish.text, instructions))
            or wish.instructs
            or wish.surety == "perhaps"
            or not instructions
        ):
            return shared
        names = {instruction.id: instruction for instruction in instructions}
        return [
            names[memory.id]
            for memory, share in await self.find(owner, wish.text)
            if memory.id in names and share >= NEAR_ENOUGH
        ][:1]

    async def _held(self, owner: Owner) -> list[Memory]:
        """The active instructions, the newest first."""
        statuses = frozenset(status.value for status in FOUND_BY_DEFAULT)
        types, categories = frozenset({MemoryType.PROCEDURAL.value}), frozenset({INSTRUCTION})
        where = Filter(statuses, types=types, categories=categories, now=self.clock.now())
        memories, _ = readable(
            await self.store.page(owner, "memory", where, None, MOST_INSTRUCTIONS)
        )
        return memories

    async def _end_instruction(self, owner: Owner, name: str, call: Call) -> None:
        with suppress(NotFound):
            await self.editor.delete(owner, name, call, reason="the user lifted it")

    async def _keep(
        self, owner: Owner, conversation: Conversation, wish: Wish, number: int, call: Call
    ) -> str:
        key, said_at = key_for(wish.text), conversation.messages[wish.message].timestamp
        until = holds_until(wish.text, local(said_at, zone_of(conversation.time_zone)))
        item = SaveInput(
            type=MemoryType.PROCEDURAL,
            key=key,
            value=wish.text,
            content=wish.text,
            category=INSTRUCTION,
            session_id=conversation.session_id,
            agent_id=conversation.agent_id,
            source="conversation",
            event_timestamp=said_at,
            valid_until=until,
            metadata={MADE_OF: message_ids(conversation)[wish.message]},
        )
        once = Call(call.correlation_id, f"{said_at.isoformat()} {number} {key}", actor=call.actor)
        (saved,) = await self.saver.save(owner, [item], keyed(once, "instruction", item))
        if isinstance(saved, MemoryCoreError):
            raise saved
        return saved.memory.id


def with_earlier_effects(result: Mapping[str, Any], effects: Mapping[str, Any]) -> dict[str, Any]:
    """The effects of wishes, with those that a task's result has from before, each once.

    A request that is carried out takes its message out of the conversation, so that a second look
    at the conversation misses it.

    Args:
        result: The task's result so far.
        effects: Effects as `Wishes.carry_out` returns them.

    """
    instructions = [of.get("instructions", {}) for of in (result, effects)]
    merged = {
        name: ids
        for name in ("instructed", "withdrawn")
        if (ids := list(dict.fromkeys(chain(*(of.get(name, ()) for of in instructions)))))
    }
    requests = {
        request["message_id"]: request
        for of in (result, effects)
        for request in of.get("forgetting", ())
    }
    return ({"instructions": merged} if merged else {}) | (
        {"forgetting": list(requests.values())} if requests else {}
    )


def _may_lift(wish: Wish) -> bool:
    """Whether a wish does nothing without an active instruction."""
    return wish.kind == "withdrawal" and wish.surety == "perhaps"


def _only_lifts(heeded: WishEffects) -> bool:
    return bool(heeded.withdrawn) and not heeded.forgotten and not heeded.to_confirm


def _request_result(heeded: WishEffects) -> dict[str, Any]:
    """A request as the task's result shows it, with ids only."""
    status = "done" if heeded.forgotten else "pending" if heeded.to_confirm else "nothing_found"
    return {
        "message_id": heeded.message_id,
        "status": status,
        "memory_ids": heeded.forgotten or heeded.to_confirm,
    }


def _sharing_most_words(text: str, instructions: Sequence[Memory]) -> list[Memory]:
    """The instructions that share the most topic words with a wish that ends them.

    It is empty if no word is shared.
    """
    wanted = _terms(text)
    shared = {
        instruction.id: len(wanted & _terms(instruction.content)) for instruction in instructions
    }
    most = max(shared.values(), default=0)
    return [instruction for instruction in instructions if most and shared[instruction.id] == most]


def _terms(text: str) -> frozenset[str]:
    """The terms of a text that tell its topic."""
    return frozenset(terms_of(word for word in words(text) if word not in GENERAL_WORDS))


@dataclass(frozen=True, slots=True)
class _Named:
    """The content that a request names.

    Attributes:
        terms: Terms of a request that is not Japanese.
        written: Words of a Japanese request, as they are written.

    """

    terms: frozenset[str] = frozenset()
    written: Sequence[str] = ()

    @classmethod
    def of(cls, about: str) -> _Named:
        """The content that a request about this names."""
        return (
            cls(written=japanese_words_of(about))
            if has_japanese(about)
            else cls(terms=_terms(about))
        )

    def is_in(self, text: str) -> bool:
        """Whether a text has any of the named words."""
        if self.written:
            return any(word in text.casefold() for word in self.written)
        return not self.terms.isdisjoint(terms_of(words(text)))

    def has_all_words_in(self, memory: Memory) -> bool:
        """Whether a memory has all of the named words, an episode in what people said.

        A note has none: it tells its episode, and an assistant's words as well.
        """
        if memory.category == "note":
            return False
        own = memory.content
        if memory.episode is not None:
            own = "\n".join(text for actor, text in messages_in(memory) if actor not in MACHINES)
        text = "\n".join((own, memory.subject or "", memory.attribute or ""))
        if self.written:
            return all(word in text.casefold() for word in self.written)
        return bool(self.terms) and self.terms <= frozenset(terms_of(words(text)))


def _states_any(memory: Memory, instructions: Sequence[Memory]) -> bool:
    """Whether any of these instructions was said in a memory.

    Such a memory stays when the instruction is ended.
    """
    text = f"{memory.content}\n{memory.episode or ''}"
    return any(instruction.content in text for instruction in instructions)


def _answers(named: Sequence[Memory], hits: Sequence[Memory], named_by: _Named) -> Iterator[Memory]:
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
    """The messages of assistants and tools that repeat the deleted messages.

    They come before the request, and from the same conversation.
    """
    texts = [
        message.content
        for name, message in zip(names, conversation.messages, strict=True)
        if name in forgotten
    ]
    before = list(zip(names, conversation.messages, strict=True))[:end]
    return [
        name
        for name, message in before
        if message.role in ("assistant", "tool") and repeats(message.content, texts)
    ]


def _by_machine(memory: Memory) -> bool:
    """Whether it is a message of an assistant, a tool or a system.

    Such a message is deleted with the episode of a person's words.
    """
    return memory.metadata.get("role") in MACHINES
