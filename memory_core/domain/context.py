"""What an agent is told before its turn: what is asked for, and what comes of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from memory_core.domain.fields import DEFAULT_MAX_TOKENS, Input, Name, Query, Tokens
from memory_core.domain.moments import Moment

PartKind = Literal["profile", "foresight", "memories", "turns"]


class ContextInput(Input):
    """What the turn is about and whose session it is in. at: as it was true then."""

    query: Query | None = None
    session_id: Name | None = None
    max_tokens: Tokens = DEFAULT_MAX_TOKENS
    at: Moment | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """Memories of one kind, in the order of their numbers, and the tokens that they take."""

    kind: PartKind
    ids: tuple[str, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Context:
    """context: the text, empty when nothing is known. Its numbers count through the parts' ids. left_out: what did not fit."""

    context: str
    parts: tuple[Part, ...]
    left_out: tuple[Part, ...]
    degraded: tuple[str, ...] = ()

    def public(self) -> dict[str, Any]:
        """As the API shows it."""
        return asdict(self)
