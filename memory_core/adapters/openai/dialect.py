"""What a server understands of a chat request: learnt from its refusals, once a process.

"OpenAI-compatible" is said of servers that know no JSON schema, of Azure, which refuses bounds in one, and of models that want
`max_completion_tokens` and no temperature. A refused request made no answer and cost no tokens, so asking again in simpler words is no
second call of the model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from pydantic import BaseModel

from memory_core.adapters.openai.structured import strict_schema


class Form(IntEnum):
    """How the answer's form is asked for, the strictest first."""

    BOUNDED_SCHEMA = 0
    SCHEMA = 1
    JSON_OBJECT = 2
    WORDS = 3


_ABOUT_FORM = re.compile(r"response[_ ]?format|json|schema|grammar|structured", re.IGNORECASE)
_NOT_OUR_WORDS = frozenset({"content_filter", "context_length_exceeded", "string_above_max_length", "rate_limit_exceeded"})
_OPTIONAL = ("temperature", "top_p")
_REFUSALS = frozenset({400, 422, 501})


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a server said when it refused a request.

    message: matched with patterns, and never shown.
    """

    status: int
    code: str
    parameter: str
    message: str


@dataclass(frozen=True, slots=True)
class Dialect:
    """One way to ask. length: what the limit of an answer is called. without: parameters that are left out."""

    form: Form = Form.BOUNDED_SCHEMA
    length: str = "max_tokens"
    without: frozenset[str] = frozenset()

    def fields(self, kind: type[BaseModel], max_tokens: int, **sampling: float) -> dict[str, Any]:
        """The fields of a request that depend on the server."""
        fields: dict[str, Any] = {self.length: max_tokens}
        fields |= {name: value for name, value in sampling.items() if name not in self.without}
        if self.form <= Form.SCHEMA:
            schema = strict_schema(kind, bounded=self.form is Form.BOUNDED_SCHEMA)
            fields["response_format"] = {"type": "json_schema", "json_schema": {"name": kind.__name__, "strict": True, "schema": schema}}
        elif self.form is Form.JSON_OBJECT:
            fields["response_format"] = {"type": "json_object"}
        return fields

    @property
    def tells_schema(self) -> bool:
        """Whether the schema has to stand in the prompt, since the request does not carry it."""
        return self.form > Form.SCHEMA

    def after(self, refusal: Refusal) -> Dialect | None:
        """The simpler way to ask that this refusal suggests; None when it is about something else."""
        if refusal.status not in _REFUSALS or refusal.code in _NOT_OUR_WORDS:
            return None
        named = refusal.parameter or refusal.message
        if self.length == "max_tokens" and re.search(r"\bmax_tokens\b", named):
            return replace(self, length="max_completion_tokens")
        for name in _OPTIONAL:
            if name not in self.without and re.search(rf"\b{name}\b", named):
                return replace(self, without=self.without | {name})
        if self.form < Form.WORDS and _ABOUT_FORM.search(f"{refusal.parameter} {refusal.message}"):
            return replace(self, form=Form(self.form + 1))
        return None
