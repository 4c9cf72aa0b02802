"""Where a conversation is cut into cells.

By topic (an agent says), by a long silence, and at fifty messages at the latest. The agent sees
at most fifty messages at once and says for each later window whether it goes on with the one
before, so no topic is cut because a window ended. One call a window, frozen.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from memory_core.domain.agent_schemas import Boundaries
from memory_core.domain.conversation import Cell, Conversation, Message, as_named, in_its_zone
from memory_core.domain.scope import Owner
from memory_core.domain.statements.wishes import without_marks
from memory_core.formation.cells import as_text
from memory_core.ports import Agents

WINDOW_MESSAGES = 50
"""Messages of a cell, and of a window that the agent is shown."""
MAX_PREVIOUS = 1_500
"""Characters of the episode before that a window is compared with."""
CUT_BY_RULE = "topic changed"
_LIMIT, _SILENCE, _END = "fifty messages", "long silence", "end of the conversation"

AskBoundaries = Callable[[int, Sequence[Message], str | None], Awaitable[Boundaries]]


@dataclass(frozen=True, slots=True)
class BoundaryRules:
    """When a cell ends by rule.

    Attributes:
        silence: A pause between two messages that ends a cell of any topic.

    """

    silence: timedelta = timedelta(hours=6)


async def cut_into_cells(
    messages: Sequence[Message], ask: AskBoundaries, rules: BoundaryRules
) -> list[Cell]:
    """The cells of a conversation, in order, covering each message once.

    A window of a single message is not worth a call.

    Args:
        messages: Messages of the conversation.
        ask: Returns where a window changes its topic, from the window's number, its messages, and
            the episode before it (None for the first window).
        rules: When a cell ends by rule.

    """
    cuts: dict[int, str] = {}
    before: str | None = None
    for number, start in enumerate(range(0, len(messages), WINDOW_MESSAGES)):
        window = messages[start : start + WINDOW_MESSAGES]
        if len(messages) > 1:
            answer = await ask(number, window, before)
            if start and not answer.continues:
                cuts[start - 1] = "topic changed"
            cuts |= {
                start + cut.after: cut.reason for cut in answer.cuts if cut.after < len(window) - 1
            }
        last = max((place + 1 for place in cuts if place + 1 < start + len(window)), default=0)
        before = as_text(messages[last : start + len(window)])[-MAX_PREVIOUS:]
    return cells_of(messages, cuts, rules)


def cells_of(
    messages: Sequence[Message], cuts: Mapping[int, str], rules: BoundaryRules
) -> list[Cell]:
    """The cells that end by cuts, after a long silence, and after WINDOW_MESSAGES.

    Args:
        messages: Messages of the conversation.
        cuts: By the place of a cell's last message, the reason.
        rules: When a cell ends by rule.

    """
    cells: list[Cell] = []
    first = 0
    for place in range(len(messages)):
        reason = cuts.get(place)
        if place == len(messages) - 1:
            reason = _END
        elif messages[place + 1].timestamp - messages[place].timestamp >= rules.silence:
            reason = _SILENCE
        elif place - first + 1 == WINDOW_MESSAGES:
            reason = reason or _LIMIT
        if reason is not None:
            cells.append(Cell(len(cells), first, tuple(messages[first : place + 1]), reason))
            first = place + 1
    return cells


def as_shown(messages: Sequence[Message], conversation: Conversation) -> list[Message]:
    """Messages as agents are shown them: in their time zone, without requests to forget.

    Args:
        messages: Messages of the conversation.
        conversation: Conversation with its time zone.

    """
    return in_its_zone(
        as_named(without_marks(messages), conversation.messages), conversation.time_zone
    )


async def expected_cells(
    owner: Owner, conversation: Conversation, agents: Agents, rules: BoundaryRules
) -> list[Cell]:
    """The cells of a conversation by these agents; no answer is stored.

    Args:
        owner: Whose conversation it is.
        conversation: Conversation to cut.
        agents: Agents that cut it.
        rules: When a cell ends by rule.

    """
    if conversation.path == "agent":
        return [whole_cell(conversation)]

    async def ask(window: int, messages: Sequence[Message], previous: str | None) -> Boundaries:
        in_zone = as_shown(messages, conversation)
        return (await agents.detect_boundary(owner, in_zone, previous)).value

    return await cut_into_cells(conversation.messages, ask, rules)


def whole_cell(conversation: Conversation) -> Cell:
    """An agent's own words, which are a single cell."""
    return Cell(0, 0, tuple(conversation.messages), "an agent's own words")
