"""The agent that calls a tool, and errors that its model can act on."""

from __future__ import annotations

from dataclasses import dataclass

from memory_core.core import MemoryCore
from memory_core.domain.errors import (
    FieldError,
    Forbidden,
    Invalid,
    MemoryCoreError,
    NotFound,
    Unavailable,
)
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.functions.callers import Caller, Right

_NO_USER = (
    "nobody is named whose memories are meant. The person who set this server up has to add the "
    "header X-Memory-User, or ?user_id= to its address, or to use a key that is bound to one user"
)


class NoUser(Invalid):
    """Error for a request that names no user.

    No argument of a tool can name a user.
    """

    def __init__(self) -> None:
        super().__init__(f"user_id: {_NO_USER}", errors=(FieldError("user_id", _NO_USER),))


@dataclass(frozen=True, slots=True)
class ToolCaller:
    """Caller of tools, over a connection or by a request.

    Attributes:
        owner: App and user of the memories; without a user if the request names none.

    """

    core: MemoryCore
    owner: Owner
    caller: Caller
    call: Call

    def check(self, right: Right) -> None:
        """Raise Forbidden without the right, NoUser if no user is named."""
        self.caller.require(right)
        if not self.owner.user_id:
            raise NoUser


def advice(error: MemoryCoreError) -> str:
    """Describe an error in sentences for a model, with advice on how to go on."""
    detail = error.detail.rstrip(".")
    match error:
        case NoUser():
            return f"Not done. {detail}. Calling again does not help; tell the user."
        case Invalid():
            return (
                f"Not done. {detail}{'' if detail.endswith('?') else '.'} Correct the arguments "
                "and call again."
            )
        case Forbidden():
            return f"Not allowed. {detail}. Calling again does not help; tell the user."
        case NotFound():
            return f"Not found. {detail}. Look for the right id with memory_search."
        case Unavailable():
            return (
                f"The memory can't be reached just now ({detail}). Go on without it, or call again "
                f"in {error.retry_after_s} s."
            )
        case _:
            return f"Not done. {error.title}: {detail}."
