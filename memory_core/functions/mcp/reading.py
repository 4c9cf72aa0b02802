"""Resources and prompts, which a person attaches to a conversation or begins it with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from memory_core.domain.errors import NotFound
from memory_core.domain.requests.memories import ContextInput
from memory_core.functions.mcp.answers import profile_text, scene_text, scenes_text
from memory_core.functions.mcp.arguments import RecallArguments, checked_arguments
from memory_core.functions.mcp.callers import ToolCaller

PROFILE = "memory://profile"
SCENES = "memory://scenes"
SCENE = f"{SCENES}/"
MEDIA = "text/plain"


@dataclass(frozen=True, slots=True)
class Readable:
    """A resource, or a template of resources, as a client lists it."""

    uri: str
    name: str
    title: str
    description: str


RESOURCES = (
    Readable(
        PROFILE,
        "profile",
        "Profile",
        "What is known of the user: facts that hold now, and traits that show.",
    ),
    Readable(
        SCENES,
        "scenes",
        "Scenes",
        "The threads of the user's life, the latest twenty, each with its address.",
    ),
)
TEMPLATES = (
    Readable(
        f"{SCENE}{{scene_id}}",
        "scene",
        "Scene",
        "One thread of the user's life: its story, and the episodes in it.",
    ),
)


async def read_resource(caller: ToolCaller, uri: str) -> str:
    """Read the text of a resource.

    Args:
        caller: The caller of the request.
        uri: Address of the resource.

    Raises:
        NotFound: There is no such resource.

    """
    caller.check("read")
    if uri == PROFILE:
        return profile_text(await caller.core.profile(caller.owner))
    if uri == SCENES:
        return scenes_text(await caller.core.scenes(caller.owner), SCENE)
    if uri.startswith(SCENE):
        return scene_text(await caller.core.scene(caller.owner, uri.removeprefix(SCENE)))
    raise NotFound(
        f"There is no such resource; there are {PROFILE}, {SCENES} and {SCENE}{{scene_id}}"
    )


@dataclass(frozen=True, slots=True)
class McpPrompt:
    """A prompt as a client lists it.

    Attributes:
        arguments: Name → description; all are required.

    """

    name: str
    title: str
    description: str
    text: Callable[[ToolCaller, Mapping[str, str]], Awaitable[str]]
    arguments: Mapping[str, str] = field(default_factory=dict)


async def recall(caller: ToolCaller, given: Mapping[str, str]) -> str:
    """Write the memories about a topic as a message.

    Args:
        caller: The caller of the request.
        given: The argument `topic`.

    """
    caller.check("read")
    asked = checked_arguments(
        RecallArguments, {name: text for name, text in given.items() if name == "topic"}
    )
    known = (await caller.core.context(caller.owner, ContextInput(query=asked.topic))).context
    if not known:
        return "Nothing is remembered about this topic. Say so, and ask me for what you need."
    return (
        "Below is what is remembered that matters to my topic. Tell me in a few sentences what you "
        f"know, with dates.\n\n{known}"
    )


async def remember(caller: ToolCaller, given: Mapping[str, str]) -> str:
    """Write instructions to save all that will matter later.

    Args:
        caller: The caller of the request.
        given: No arguments.

    """
    caller.check("write")
    return (
        "Go through our conversation. Save with memory_save each fact, preference, decision and "
        "instruction that will matter in later conversations: one statement a call, understood "
        "alone, with names and dates. Leave out secrets and what is only of the moment. Then list "
        "what you have saved."
    )


PROMPTS = (
    McpPrompt(
        "recall",
        "What do you remember about …?",
        "Begin with what is remembered about a topic.",
        recall,
        {"topic": "What it is about."},
    ),
    McpPrompt(
        "remember",
        "Remember this conversation",
        "Save what will matter later out of this conversation.",
        remember,
    ),
)
