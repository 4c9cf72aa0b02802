"""Carry out the wishes that people say in a conversation.

A wish is a standing instruction, the end of an instruction, or a request to forget. Wishes are
carried out before memories are formed of the messages, and once for each wish, however often the
work is repeated. A request to forget soft-deletes all memories that have all the words which it
names. It is left to be confirmed if no memory has them, if several memories have them and the
request is not for all of them, or if the sentence is not surely a request. Words of assistants, of
tools and of quotations are never obeyed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

from memory_core.domain.agent_schemas import Answered, Provenance
from memory_core.domain.conversation import Conversation
from memory_core.domain.errors import MemoryCoreError, NotFound
from memory_core.domain.fields import local, zone_of
from memory_core.domain.memory import MemoryType
from memory_core.domain.requests.memories import SaveInput
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.domain.statements.sentence_wishes import Wish
from memory_core.domain.statements.wish_limits import holds_until
from memory_core.domain.statements.wishes import INSTRUCTION, key_for, said_wishes, without_requests
from memory_core.evolution.edit import Editor
from memory_core.evolution.soft_forget import ToldForgetter
from memory_core.formation.save import Saver
from memory_core.formation.wish_effects import EffectFinder, NamedContent, WishEffects, topic_terms
from memory_core.ledger.documents import message_ids
from memory_core.ledger.ids import keyed
from memory_core.ledger.instructions import MADE_OF
from memory_core.tasks.agent_steps import Steps

FIRST_FOUND = 1_000
"""The number of the first wish that an agent found; wishes that rules read have smaller numbers."""
RULES = Provenance("rules")


@dataclass(frozen=True, slots=True)
class Wishes:
    """Carries out the wishes in conversations of any owner."""

    effects: EffectFinder
    saver: Saver
    editor: Editor
    forgetter: ToldForgetter
    steps: Steps

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
        if all(map(_may_lift, wishes)) and not (wishes and await self.effects.instructions(owner)):
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
            if wish.surety in ("sure", "asks") or each.forgotten or each.to_confirm
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
        names, wishes = message_ids(conversation), said_wishes(conversation.messages)
        lifting = [wish for wish in wishes if wish.kind == "withdrawal" and wish.surety == "sure"]
        for number, (place, text) in enumerate(instructions, FIRST_FOUND):
            if not _is_read(place, text, wishes) and not any(
                wish.message >= place and topic_terms(wish.text) & topic_terms(text)
                for wish in lifting
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

        The messages of such requests are hidden.
        """
        names = message_ids(conversation)
        left = without_requests(conversation.messages, wishes)
        hidden = {names[wish.message] for wish in wishes if wish.kind == "forget"}
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
        names = NamedContent.of(wish.about).is_in if wish.about else None

        async def ask() -> Answered[WishEffects]:
            effects = await self.effects.decide(owner, conversation, wish, message_id)
            if names is not None and effects.to_confirm:
                going = await self.forgetter.along(owner, effects.to_confirm, names)
                effects = effects.changed(to_confirm=going)
            return Answered(effects, RULES)

        settled = (
            await self.steps.frozen(owner, message_id, f"wish {number}", ask, WishEffects)
        ).value
        for name in settled.withdrawn:
            await self._end_instruction(owner, name, call)
        if settled.forgotten:
            settled = settled.changed(
                forgotten=await self.forgetter.forget(owner, settled.forgotten, call, names)
            )
        if wish.kind == "instruction" or (wish.instructs and not settled.withdrawn):
            settled = settled.changed(
                instructed=[await self._keep(owner, conversation, wish, number, call)]
            )
        return settled

    async def _end_instruction(self, owner: Owner, name: str, call: Call) -> None:
        with suppress(NotFound):
            await self.editor.delete(owner, name, call, reason="the user lifted it")

    async def _keep(
        self, owner: Owner, conversation: Conversation, wish: Wish, number: int, call: Call
    ) -> str:
        message = conversation.messages[wish.message]
        key, said_at = key_for(wish.text, message.actor), message.timestamp
        until = holds_until(wish.text, local(said_at, zone_of(conversation.time_zone)))
        item = SaveInput(
            type=MemoryType.PROCEDURAL,
            key=key,
            value=wish.text,
            content=wish.text,
            category=INSTRUCTION,
            actor=message.actor,
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


def _is_read(message: int, text: str, wishes: Sequence[Wish]) -> bool:
    """Whether rules read an instruction of a message in these words, or around them."""
    return any(
        wish.kind == "instruction"
        and wish.message == message
        and (text in wish.text or wish.text in text)
        for wish in wishes
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
