"""Parse the lines of an import.

Note: the parsed model is stored, never the line itself. A number that came as text is a number
then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, cast

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, StrictInt

from memory_core.data_rights.export_format import FORMAT, KINDS, MAX_PART_BYTES, VERSION, copy_in
from memory_core.domain.conflict import ConflictRecord
from memory_core.domain.conversation import Conversation, Message
from memory_core.domain.deferred_model import DeferredModel
from memory_core.domain.errors import PlainError, shown_name
from memory_core.domain.memory import MAX_CONTENT_BYTES, MAX_METADATA_BYTES, Event, Memory
from memory_core.domain.requests.maintenance import UserSettings
from memory_core.domain.scenes import KnownPerson, Scene
from memory_core.domain.text.analyzer import counts
from memory_core.ledger.documents import Buffer

MAX_DOCUMENT_CHARACTERS: Final = 1_700_000
_SCOPE: Final = {"app_id": "app", "user_id": "user"}
_WHOLE, _PIECE = (
    frozenset({"kind", "id", "body"}),
    frozenset({"kind", "id", "piece", "pieces", "text"}),
)
_UNSEEN: Final = {"event": {"epoch"}, "conversation": {"messages"}}


def _moment(text: str) -> str:
    if datetime.fromisoformat(text).tzinfo is None:
        raise ValueError("must carry a time zone")
    return text


IsoText = Annotated[str, AfterValidator(_moment)]
"""A moment that is stored as the text that it came as."""


Redact = Callable[[Any], Any]
"""Takes secrets out of a request or of plain JSON, as `Redactor.value` does."""


class ImportRefused(Exception):
    """The file can't be imported.

    The error has the reason and its line; without a line it concerns the whole file.
    """

    def __init__(self, line: int | None, reason: str) -> None:
        super().__init__(reason if line is None else f"line {line}: {reason}")


@dataclass(frozen=True, slots=True)
class ImportedDocument:
    """A document of the file.

    Attributes:
        line: The line that it ends in.
        kind: Its kind.
        id: Its name in the file.
        body: Its body.
        embedded: Whether it gets a vector.

    """

    line: int
    kind: str
    id: str
    body: dict[str, Any]
    embedded: bool = False

    def model(self) -> BaseModel:
        """Parse and check the body.

        Raises ValueError (pydantic's included), TypeError, KeyError.
        """
        plain = {name: value for name, value in self.body.items() if name != "sequence"}
        match self.kind:
            case "memory" | "version":
                return _memory({**self.body, **_SCOPE})
            case "event":
                return _event(self.body)
            case "conversation":
                return _unfinished(Conversation.model_validate(plain))
            case "messages":
                return _Messages.model_validate(plain)
            case "conflict":
                return ConflictRecord.model_validate(plain)
            case "buffer":
                return Buffer.model_validate(plain)
            case "scene":
                return Scene.model_validate(plain)
            case "profile":
                return KnownPerson.model_validate(plain)
            case "settings":
                return UserSettings.model_validate(plain)
            case "session":
                return _Session.model_validate(plain)
            case "slot":
                return SlotBody.model_validate(plain)
            case "run":
                return _Report.model_validate(plain)
            case "cold":
                copy_in(self.body)
                return _Other()
            case _:
                return _Other.model_validate(plain)

    def stored(self, model: BaseModel) -> dict[str, Any]:
        """Return the body to store, without its owner."""
        dumped = model.model_dump(
            mode="json",
            exclude=_UNSEEN.get(self.kind),
            exclude_unset=self.kind in ("messages", "session", "slot"),
        )
        return {"sequence": self.body["sequence"], **dumped}


def _unfinished(conversation: Conversation) -> Conversation:
    """The conversation, to be formed again if it was given up.

    No file has its task, which could be retried otherwise.
    """
    given_up = conversation.state == "poisoned"
    return conversation.changed(state="pending") if given_up else conversation


class _Messages(DeferredModel):
    """The messages of a conversation, and the appends that brought them."""

    model_config = ConfigDict(extra="forbid")

    messages: list[Message]
    appends: list[str] = Field(default_factory=list)


class _Turn(DeferredModel):
    """A turn that the next turn is read together with.

    Exports of earlier versions have its text, too.
    """

    model_config = ConfigDict(extra="forbid")

    id: str
    text: str = ""
    counts: dict[str, StrictInt]
    asks: StrictBool


class _History(DeferredModel):
    """The last messages of a session, as marks.

    Exports of earlier versions have its latest moment, too.
    """

    model_config = ConfigDict(extra="forbid")

    marks: list[str]
    task_id: str
    last_at: IsoText | None = None


class _Session(DeferredModel):
    """The fields that a session's document needs."""

    model_config = ConfigDict(extra="allow")

    session_id: str
    counts: dict[str, StrictInt]
    started_at: IsoText
    last_active_at: IsoText
    turns: StrictInt = 0
    last_turns: list[_Turn] = Field(default_factory=list)
    history: _History | None = None
    title: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class SlotBody(DeferredModel):
    """The log of a slot, or a sealed part of it, which has entries alone."""

    model_config = ConfigDict(extra="forbid")

    entries: list[list[Any]]
    salt: str = Field("", pattern=r"^[0-9a-f]{0,64}$")
    sealed: dict[str, Any] | None = None


class _Report(DeferredModel):
    """The field that a run's report needs.

    The report is kept for a while from the end of the run.
    """

    model_config = ConfigDict(extra="allow")

    ended_at: IsoText


class _Other(DeferredModel):
    """A document of a kind that only its own phase understands."""

    model_config = ConfigDict(extra="allow")


class Entries:
    """Turns lines into entries.

    No entry may be found by the terms `gone`, which are those of redacted texts.
    """

    def __init__(self, redact: Redact, gone: Collection[str] = ()) -> None:
        self.gone = set(gone)
        self._redact = redact
        self._begun: dict[str, Any] | None = None
        self._texts: list[str] = []

    def of(self, number: int, line: bytes) -> ImportedDocument | None:
        """Return the entry that a line completes; None if its pieces are not complete.

        Args:
            number: The number of the line.
            line: The line.

        Raises:
            ImportRefused: The line is wrong.

        """
        parsed = object_in(number, line)
        embedded = parsed.pop("embedded", None)
        kind, name = parsed.get("kind"), parsed.get("id")
        if kind not in KINDS or not isinstance(name, str):
            raise ImportRefused(number, "is no document: `kind` and `id` should say which")
        if (kind in ("memory", "version")) != isinstance(embedded, bool):
            raise ImportRefused(
                number, "`embedded` should be true or false in a memory's line, and only there"
            )
        if parsed.keys() == _PIECE:
            body = self._piece(number, parsed)
            if body is None:
                return None
        elif parsed.keys() == _WHOLE and self._begun is None:
            body = parsed["body"]
        else:
            raise ImportRefused(
                number,
                "is no document: it should have kind, id and body, or be the next piece of one",
            )
        if not isinstance(body, dict):
            raise ImportRefused(number, "`body` should be a JSON object")
        return ImportedDocument(
            number, kind, name, self._without_secrets(kind, body), bool(embedded)
        )

    def _without_secrets(self, kind: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the body without secrets, if the export was made without redaction.

        No secret's words are among its terms either.

        The log of a slot has no words, only ids, moments and hashes. Some of these are also valid
        numbers of payment cards, and a log without them would be damaged.
        """
        if kind == "slot":
            return body
        clean: dict[str, Any] = self._redact(body)
        if clean is not body and kind in ("memory", "version"):
            self.gone |= counts(_texts_of(body)).keys() - counts(_texts_of(clean)).keys()
        return _without_terms(clean, self.gone) if self.gone else clean

    def end(self, number: int) -> None:
        """End the file.

        Raises ImportRefused for a document that lacks pieces.
        """
        if self._begun is not None:
            raise ImportRefused(number, "the file ends within a document")

    def _piece(self, number: int, parsed: dict[str, Any]) -> Any:
        identity = {name: parsed[name] for name in ("kind", "id", "pieces")}
        if (
            (self._begun or identity) != identity
            or parsed["piece"] != len(self._texts) + 1
            or not isinstance(parsed["text"], str)
        ):
            raise ImportRefused(number, "is not the next piece of its document")
        self._begun = identity
        self._texts.append(parsed["text"])
        if sum(map(len, self._texts)) > MAX_DOCUMENT_CHARACTERS:
            raise ImportRefused(number, "is of a document that is too large")
        if len(self._texts) != parsed["pieces"]:
            return None
        whole, self._begun, self._texts = "".join(self._texts), None, []
        return _json(number, whole.encode())


def _texts_of(body: Mapping[str, Any]) -> str:
    """Return all texts of a memory that its terms are made of."""
    return "\n".join(
        str(value) for name, value in body.items() if name not in ("lexical", "search_text")
    )


def _without_terms(value: Any, gone: Collection[str]) -> Any:
    """Return plain JSON without these terms.

    They are removed where they are counted, and from the text of the database's index.
    """
    if isinstance(value, dict):
        return {
            name: " ".join(term for term in item.split(" ") if term not in gone)
            if name == "search_text" and isinstance(item, str)
            else _without_terms(item, gone)
            for name, item in value.items()
            if not (name in gone and isinstance(item, int))
        }
    return [_without_terms(item, gone) for item in value] if isinstance(value, list) else value


def header_in(line: bytes) -> dict[str, Any]:
    """Parse the first line.

    Raises ImportRefused.
    """
    parsed = object_in(1, line)
    if parsed.get("format") != FORMAT:
        raise ImportRefused(1, f"this is not an export: `format` should be {FORMAT}")
    if parsed.get("version") != VERSION:
        version = parsed.get("version")
        raise ImportRefused(
            1,
            f"`version` is {version if isinstance(version, int) else 'no number'}; this program "
            f"reads {VERSION}",
        )
    counts, sequence = parsed.get("counts"), parsed.get("sequence")
    if (
        not isinstance(sequence, int)
        or not isinstance(counts, dict)
        or not all(isinstance(count, int) for count in counts.values())
    ):
        raise ImportRefused(1, "`sequence` should be a number and `counts` numbers by kind")
    if unknown := counts.keys() - set(KINDS):
        raise ImportRefused(
            1, f"`counts` names {shown_name(min(unknown))}, which this program does not know"
        )
    return parsed


def object_in(number: int, line: bytes) -> dict[str, Any]:
    """Parse the JSON object in a line.

    Args:
        number: The number of the line.
        line: The line.

    Raises:
        ImportRefused: The line is too long or is no JSON object.

    """
    if len(line) > MAX_PART_BYTES:
        raise ImportRefused(number, f"is longer than {MAX_PART_BYTES} bytes")
    parsed = _json(number, line)
    if not isinstance(parsed, dict):
        raise ImportRefused(number, "is no JSON object")
    return parsed


def _json(number: int, text: bytes) -> Any:
    if b"\\u0000" in text:
        raise ImportRefused(number, "holds the NUL character")
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ImportRefused(number, f"is not JSON: {error}") from None


def _memory(body: dict[str, Any]) -> Memory:
    memory = Memory.model_validate(body)
    if len(memory.content.encode()) > MAX_CONTENT_BYTES:
        raise PlainError(f"content: is longer than {MAX_CONTENT_BYTES} bytes")
    if len(orjson.dumps(memory.metadata)) > MAX_METADATA_BYTES:
        raise PlainError(f"metadata: is longer than {MAX_METADATA_BYTES} bytes as JSON")
    return memory


def _event(body: dict[str, Any]) -> Event:
    """Parse an event, whose changed fields must be valid fields of a memory.

    A replay makes memories of them.
    """
    if unknown := body.keys() - Event.model_fields.keys():
        raise PlainError(f"{shown_name(min(unknown))}: is not a field of an event")
    event = Event.model_validate(body)
    for where, fields in (("before", event.before), ("after", event.after)):
        if unknown := fields.keys() - Memory.model_fields.keys():
            raise PlainError(f"{where}: {shown_name(min(unknown))}: is not a field of a memory")
        stored_fields(fields)
    return event


_DEFAULTS = cast(Any, Memory).model_construct()
"""A memory with default values.

To construct a memory takes pydantic 1.4 ms, to copy it 2 µs.
"""


def stored_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields of a memory as a stored memory has them, JSON-ready.

    Raises ValueError, ValidationError for fields that no memory could have.
    """
    if not fields:
        return {}
    memory = _DEFAULTS.model_copy()  # assignment replaces values, and never changes a shared one
    for name, value in fields.items():
        Memory.__pydantic_validator__.validate_assignment(memory, name, value)
    return cast(dict[str, Any], memory.model_dump(mode="json", include=set(fields)))
