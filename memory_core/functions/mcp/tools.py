"""The tools: names, descriptions and implementations, all by calls of `MemoryCore`.

Models read the descriptions in every conversation, so each says when to use the tool and no more
than that needs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel

from memory_core.domain.conversation import Message
from memory_core.domain.errors import FieldError, Invalid, NotFound
from memory_core.domain.fields import Input
from memory_core.domain.requests.maintenance import ForgetInput, TimelineInput
from memory_core.domain.requests.memories import (
    ContextInput,
    ConverseInput,
    RetrieveInput,
    SaveInput,
)
from memory_core.domain.results import Accepted
from memory_core.domain.statements.sentence_wishes import Wish
from memory_core.domain.statements.wishes import INSTRUCTION, key_for, said_wishes
from memory_core.functions.callers import Right
from memory_core.functions.mcp.answers import (
    accepted_conversation_text,
    counts_text,
    forgotten_lines,
    one_line,
    saved_text,
    search_text,
    timeline_text,
)
from memory_core.functions.mcp.arguments import (
    ContextArguments,
    ConverseArguments,
    ForgetArguments,
    SaveArguments,
    SearchArguments,
    TimelineArguments,
    checked_arguments,
)
from memory_core.functions.mcp.callers import ToolCaller
from memory_core.functions.request_parsing import invalid

Request = TypeVar("Request", bound=BaseModel)
LATELY = timedelta(days=7)
MOST_SHOWN = 10
"""Memories whose texts a question shows before they are forgotten."""
HIDDEN = (
    "They ask to forget something: what that surely names is hidden soon, not gone. "
    "memory_timeline then lists it as deleted; if the user did not mean it, they can restore it "
    "(POST /api/v1/memories/{id}/restore)."
)
ASKED_BACK = (
    "They may ask to forget something, which is not done without a yes: ask the user what is "
    "meant, find it with memory_search, and call memory_forget with its ids, which shows what "
    "would go."
)
MOST_NAMED = 200
"""Memories whose versions the code of a question names.

If more memories match, the code names the end of the log as well.
"""


@dataclass(frozen=True, slots=True)
class Question:
    """A question that has to be agreed to before a tool works.

    Attributes:
        text: The question.
        code: Names exactly this question.
        confirmed_by: The code that the model sent; None for no code.
        refused: The answer after a no.
        agreement: Label of a yes.
        needs_answer: False if the tool goes on without an answer.

    """

    text: str
    code: str
    confirmed_by: str | None = None
    refused: str = "The user did not agree: nothing was done."
    agreement: str = "Forget this"
    needs_answer: bool = True


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool.

    Attributes:
        right: The right that a caller needs.
        arguments: Model of the arguments.
        run: Does the work, and returns a text.
        ask: Returns the question that has to be agreed to first, a text if there is no work to do,
            or None if there is no question.

    """

    name: str
    title: str
    description: str
    right: Right
    arguments: type[Input]
    run: Callable[[ToolCaller, Any], Awaitable[str]]
    ask: Callable[[ToolCaller, Any], Awaitable[Question | str | None]] | None = None
    destructive: bool = False
    idempotent: bool = False


async def save(caller: ToolCaller, asked: SaveArguments) -> str:
    """Save a memory.

    Args:
        caller: The caller of the tool.
        asked: The arguments.

    """
    given = {**_given(asked), "type": asked.type, "source": "mcp"}
    if asked.type == INSTRUCTION:
        kind = {"type": "procedural", "category": INSTRUCTION}
        given = {"key": key_for(asked.content), **given, **kind}
    item = _request(caller, SaveInput, given)
    return saved_text(await caller.core.save(caller.owner, item, caller.call))


async def search(caller: ToolCaller, asked: SearchArguments) -> str:
    """Find memories.

    Args:
        caller: The caller of the tool.
        asked: The arguments.

    """
    query = _request(
        caller, RetrieveInput, {**_given(asked, without=("detail",)), "limit": asked.limit}
    )
    moment = query.at or caller.core.clock.now()
    return search_text(
        await caller.core.retrieve(caller.owner, query), whole=asked.detail == "full", moment=moment
    )


async def context(caller: ToolCaller, asked: ContextArguments) -> str:
    """Return the context for a turn.

    Args:
        caller: The caller of the tool.
        asked: The arguments.

    """
    request = _request(caller, ContextInput, {**_given(asked), "max_tokens": asked.max_tokens})
    return (
        await caller.core.context(caller.owner, request)
    ).context or "Nothing is known that matters here."


async def ask_to_heed(caller: ToolCaller, asked: ConverseArguments) -> Question | None:
    """Ask about new requests in the turns to forget something.

    Args:
        caller: The caller of the tool.
        asked: The arguments.

    Returns:
        None if the turns have no new request to forget.

    """
    requests = [wish.text for wish in await _new_requests(caller, asked) if _is_plain(wish)]
    if not requests:
        return None
    lines = [f"- {one_line(request)}" for request in requests]
    return Question(
        "\n".join(
            [
                (
                    "The conversation asks the memory to forget. What these sentences name would "
                    "be hidden, and could be restored:"
                ),
                *lines,
            ]
        ),
        hashlib.sha256(orjson.dumps(requests)).hexdigest()[:8],
        refused="The user did not agree: nothing was stored. Leave those turns out and call again.",
        agreement="Hide this",
        needs_answer=False,
    )


async def converse(caller: ToolCaller, asked: ConverseArguments) -> str:
    """Accept a conversation.

    Args:
        caller: The caller of the tool.
        asked: The arguments.

    """
    requests = await _new_requests(caller, asked)
    conversation = _request(caller, ConverseInput, _given(asked))
    text = accepted_conversation_text(
        await caller.core.converse(caller.owner, conversation, caller.call)
    )
    if any(map(_is_plain, requests)):
        text = f"{text} {HIDDEN}"
    return text if all(map(_is_plain, requests)) else f"{text} {ASKED_BACK}"


def _is_plain(request: Wish) -> bool:
    """Whether a request would be carried out, not asked back."""
    return request.surety in ("sure", "known")


async def _new_requests(caller: ToolCaller, asked: ConverseArguments) -> list[Wish]:
    """The requests to forget that would be carried out or asked back.

    Those of turns that the session already has are left out.
    """
    now = caller.core.clock.now()
    messages = [
        Message(
            role=turn.role,
            content=caller.core.redact(turn.content),
            actor=turn.actor,
            timestamp=now,
        )
        for turn in asked.messages
    ]
    requests = [
        wish for wish in said_wishes(messages) if wish.kind == "forget" and wish.surety != "perhaps"
    ]
    if not requests or asked.session_id is None:
        return requests
    try:
        page = await caller.core.session_messages(
            caller.owner, asked.session_id, limit=100, newest_first=True
        )
    except NotFound:
        return requests
    known = {message.content for message in page.messages}
    return [wish for wish in requests if messages[wish.message].content not in known]


async def timeline(caller: ToolCaller, asked: TimelineArguments) -> str:
    """List changes.

    Args:
        caller: The caller of the tool.
        asked: The arguments.

    """
    fields = {**_given(asked), "limit": asked.limit}
    if asked.since is None and asked.memory_id is None:
        fields["since"] = (caller.core.clock.now() - LATELY).isoformat(timespec="seconds")
    page = await caller.core.timeline(caller.owner, _request(caller, TimelineInput, fields))
    return timeline_text(
        page, since=fields.get("since"), narrowed=bool(asked.types or asked.memory_id)
    )


async def ask_to_forget(caller: ToolCaller, asked: ForgetArguments) -> Question | str:
    """Ask whether the memories that a dry run finds shall be forgotten.

    Args:
        caller: The caller of the tool.
        asked: The arguments.

    Returns:
        A text if no memory matches.

    """
    request = _forget_request(caller, asked, dry_run=True)
    fitting = await caller.core.foresee_forgotten(caller.owner, request, MOST_NAMED)
    foreseen = await caller.core.forget(caller.owner, request)
    if isinstance(foreseen, Accepted) or not any(foreseen.counts.values()):
        return "No memory fits that; nothing was forgotten."
    how = (
        "forgotten for good, with their history"
        if asked.mode == "hard"
        else "hidden, and could be restored"
    )
    head = (
        f"These memories would be {how}: "
        f"{counts_text(foreseen)}{' and more' if foreseen.capped else ''}."
    )
    text = "\n".join([head, *forgotten_lines(fitting.memories[:MOST_SHOWN], foreseen)])
    subject = {
        "owner": [*caller.owner],
        "filter": request.chosen.model_dump(mode="json"),
        "mode": asked.mode,
        "counts": dict(foreseen.counts),
        "memories": [[memory.id, memory.etag] for memory in fitting.memories],
        "more_until": fitting.more_until,
    }
    return Question(
        text,
        hashlib.sha256(orjson.dumps(subject, option=orjson.OPT_SORT_KEYS)).hexdigest()[:8],
        asked.confirm,
    )


async def forget(caller: ToolCaller, asked: ForgetArguments) -> str:
    """Forget the memories, after the user has agreed.

    Args:
        caller: The caller of the tool.
        asked: The arguments.

    """
    answer = await caller.core.forget(
        caller.owner, _forget_request(caller, asked, dry_run=False), caller.call
    )
    return (
        f"Being forgotten now, by task {answer.task_id}."
        if isinstance(answer, Accepted)
        else counts_text(answer)
    )


TOOLS = (
    Tool(
        "memory_context",
        "What to know before answering",
        "Call this first in a conversation, and again when its subject changes: one text with what "
        "is known of the user that matters to the message at hand (profile, standing instructions, "
        "related memories, what was said last).",
        "read",
        ContextArguments,
        context,
    ),
    Tool(
        "memory_search",
        "Search memories",
        "Look up something specific about the user or earlier work, when you need a fact, its date "
        "or its id. Answers with the best memories, a line each; an empty answer means that "
        "nothing fits.",
        "read",
        SearchArguments,
        search,
    ),
    Tool(
        "memory_save",
        "Save a memory",
        "Keep one thing that will matter in later conversations: a fact, preference, decision, "
        "event or instruction, when the user states it or asks you to remember it. One statement a "
        "call. Not for secrets, nor for what is only of the moment.",
        "write",
        SaveArguments,
        save,
    ),
    Tool(
        "memory_converse",
        "Remember a conversation",
        "Hand over the turns of a conversation as they were said, at its end or every few turns; "
        "facts and episodes are formed from them in the background. Use memory_save instead for a "
        "single fact.",
        "write",
        ConverseArguments,
        converse,
        ask=ask_to_heed,
    ),
    Tool(
        "memory_timeline",
        "What changed when",
        "See what was saved, changed, replaced or forgotten, and when. Use it for questions about "
        "the memory itself (since when is that known, what was it before); for what the memories "
        "say use memory_search.",
        "read",
        TimelineArguments,
        timeline,
    ),
    Tool(
        "memory_forget",
        "Forget memories",
        "Forget memories, only when the user wants that. Name them by ids (from memory_search), "
        "tags, session_id or before. The first call forgets nothing: it shows what would go and "
        "asks the user, or answers with a code for a second call once they agreed.",
        "write",
        ForgetArguments,
        forget,
        ask=ask_to_forget,
        destructive=True,
        idempotent=True,
    ),
)
BY_NAME: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}


def _given(asked: BaseModel, *, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """The arguments that the model named."""
    return asked.model_dump(exclude_none=True, exclude_unset=True, exclude=set(without))


def _request(caller: ToolCaller, model: type[Request], fields: Mapping[str, Any]) -> Request:
    """Check the request of a call by the same rules as over HTTP. Raises Invalid."""
    return checked_arguments(model, fields, now=caller.core.clock.now())


def _forget_request(caller: ToolCaller, asked: ForgetArguments, *, dry_run: bool) -> ForgetInput:
    chosen = {
        name: value
        for name in ("ids", "tags", "session_id", "before")
        if (value := getattr(asked, name)) is not None
    }
    if not chosen:
        raise invalid(
            FieldError("arguments", "name at least one of ids, tags, session_id and before")
        )
    try:
        return _request(
            caller, ForgetInput, {"filter": chosen, "mode": asked.mode, "dry_run": dry_run}
        )
    except Invalid as error:
        raise invalid(
            *(
                replace(refused, field=refused.field.removeprefix("filter."))
                for refused in error.errors
            )
        ) from None
