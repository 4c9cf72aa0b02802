"""What an agent is told before its turn: what is asked for, and what comes of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from memory_core.domain.chat_input import ShownMessages
from memory_core.domain.fields import DEFAULT_MAX_TOKENS, Fraction, Input, Labels, Name, Query, Tokens
from memory_core.domain.models import MemoryType
from memory_core.domain.moments import Moment
from memory_core.domain.time_zone import TimeZone

PartKind = Literal["instructions", "profile", "foresight", "memories", "turns"]


class ContextInput(Input):
    """What the turn is about and whose session it is in. at: as it was true then. time_zone: whose days are shown; None: the user's.

    messages: the last few that the model is shown anyway; the query is found in them where none is given. parts: all where none is named.
    exclude_session_id: the session whose messages the model has itself. The thresholds, types, tags and include_decayed are those of
    a retrieve.
    """

    query: Query | None = None
    messages: ShownMessages | None = None
    session_id: Name | None = None
    exclude_session_id: Name | None = None
    parts: Annotated[list[PartKind], Field(min_length=1, max_length=5)] | None = None
    max_tokens: Tokens = DEFAULT_MAX_TOKENS
    similarity_threshold: Fraction | None = None
    answer_threshold: Fraction | None = None
    types: Annotated[list[MemoryType], Field(max_length=3)] | None = None
    tags: Labels | None = None
    at: Moment | None = None
    time_zone: TimeZone | None = None
    include_decayed: bool | None = None

    def wants(self, kind: PartKind) -> bool:
        """Whether a kind is asked for."""
        return self.parts is None or kind in self.parts


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
