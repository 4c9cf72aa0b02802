"""Files that can be imported, read piece by piece: exports of chat apps and of mem0, JSON Lines of messages or memories.

A reader yields messages and memories in the order of the file, and what it leaves out, with a reason. It holds one conversation in memory,
never the file. All ids come from the export, or are made of a place in the file, so that a second reading gives the same.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any

import ijson
from ijson.common import ObjectBuilder

Json = dict[str, Any]
MESSAGE_BYTES = 32 * 1024
"""Of one message, as the service keeps it."""
LINE_BYTES = 8 * 2**20
"""Of one line; a longer one is left out."""
OWN_EXPORT, EXPORT_FORMAT = "memory-core", "memory-core-export"
"""Our name for what `memory-core export` writes, and the name in the first line of such a file."""
ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "model": "assistant", "bot": "assistant"} | {
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}
MEMORY_FIELDS = frozenset(
    {
        "type",
        "content",
        "session_id",
        "agent_id",
        "category",
        "subject",
        "attribute",
        "key",
        "value",
        "actor",
        "action_type",
        "source",
        "entities",
        "foresight",
        "event_timestamp",
        "valid_from",
        "valid_until",
        "tags",
        "metadata",
        "importance",
        "confidence",
        "pinned",
        "searchable",
    }
)
"""Fields of a line that a save takes."""
MOST_NESTED = 200
"""Levels of objects and lists in a document."""
_DEPTH_CHANGES = {"start_map": 1, "start_array": 1, "end_map": -1, "end_array": -1}
_FIELD_NESTED, _LARGEST = 30, 2**63 - 1
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._:@-]+")
_TITLE_CHARACTERS = 200
_NAME_CHARACTERS = 128
_MADE_BY_SERVICE = frozenset({"id", "user_id", "app_id", "status", "version", "created_at", "updated_at", "embedding", "etag"})
"""Fields of a memory as the service shows it, which a save does not take."""


class UnreadableFile(ValueError):
    """A file that can't be read further; the text says where and why."""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message as `POST /api/v1/memories` takes it, in its session."""

    session: str
    fields: Json
    title: str | None = None


@dataclass(frozen=True, slots=True)
class SavedMemory:
    """A memory as `POST /api/v1/memories/bulk` takes it. place: where in the file it is."""

    fields: Json
    place: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """What is left out, and why."""

    reason: str
    place: str


Item = ChatMessage | SavedMemory | Skipped
Reader = Callable[[IO[bytes], str], Iterator[Item]]


@contextmanager
def open_export(path: Path) -> Iterator[IO[bytes]]:
    """The file, or conversations.json within it where it is a zip archive. Raises UnreadableFile, OSError."""
    if not zipfile.is_zipfile(path):
        with path.open("rb") as stream:
            yield stream
        return
    with ExitStack() as opened:
        try:
            archive = opened.enter_context(zipfile.ZipFile(path))
            names = [name for name in archive.namelist() if name.rpartition("/")[2] == "conversations.json"]
            if not names:
                raise UnreadableFile("there is no conversations.json in this archive")
            member = opened.enter_context(archive.open(min(names, key=len)))
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:  # damaged, encrypted, an unknown method
            raise _unreadable(error) from None
        try:
            yield member
        except zipfile.BadZipFile as error:  # found while it is read
            raise _unreadable(error) from None


def _unreadable(error: Exception) -> UnreadableFile:
    return UnreadableFile(f"this archive can't be read ({type(error).__name__})")


def detect_format(stream: IO[bytes]) -> str:
    """The format of a file, by its first entry: one of FORMATS, or OWN_EXPORT. Raises UnreadableFile."""
    begin = _begin(stream)
    if begin == b"[":
        first = next(_elements(stream), None)
        if first is None:
            raise UnreadableFile("the file is an empty list")
        return _format_of_entry(first, listed=True)
    if begin == b"{":
        line = stream.readline(LINE_BYTES)
        try:
            first = _parsed(line)
        except ValueError:
            first = None
        if isinstance(first, dict) and first.get("format") == EXPORT_FORMAT:
            return OWN_EXPORT
        if isinstance(first, dict) and not ("results" in first or "memories" in first):
            return _format_of_entry(first, listed=False)
        return "mem0"
    raise UnreadableFile("this is neither JSON nor JSON Lines")


def read_chatgpt(stream: IO[bytes], name: str) -> Iterator[Item]:
    """Messages of conversations.json of ChatGPT: of each conversation, the branch that it ended with."""
    _begin(stream)
    for number, conversation in enumerate(_elements(stream), 1):
        yield from _chatgpt_conversation(conversation, f"conversation {number}")


def read_claude(stream: IO[bytes], name: str) -> Iterator[Item]:
    """Messages of conversations.json of Claude."""
    _begin(stream)
    for number, conversation in enumerate(_elements(stream), 1):
        place = f"conversation {number}"
        messages = conversation.get("chat_messages") if isinstance(conversation, dict) else None
        if not isinstance(messages, list):
            yield Skipped("not a conversation", place)
            continue
        session = _name("claude", conversation.get("uuid"), place)
        for index, message in enumerate(messages, 1):
            at = f"{place}, message {index}"
            if not isinstance(message, dict):
                yield Skipped("not a message", at)
                continue
            text = _claude_text(message)
            files = [
                item.get("file_name") for key in ("attachments", "files") for item in _list(message.get(key)) if isinstance(item, dict)
            ]
            named = "".join(f"\n[file: {_text(file)}]" for file in files if isinstance(file, str) and file)
            words, when, own = (text + named).strip(), message.get("created_at"), message.get("uuid")
            yield from _messages(session, message.get("sender"), words, when, own, at, title=conversation.get("name"))


def read_messages(stream: IO[bytes], name: str) -> Iterator[Item]:
    """Messages, a line each, with `role` and `content`; or conversations, a line each, with `messages`."""
    default = _name("import", name, "file")
    counts: dict[str, int] = {}
    for place, entry in _entries(stream):
        if isinstance(entry, Skipped):
            yield entry
            continue
        messages = entry.get("messages")
        several = isinstance(messages, list)
        for index, message in enumerate(messages if isinstance(messages, list) else [entry], 1):
            at = f"{place}, message {index}" if several else place
            if not isinstance(message, dict):
                yield Skipped("not a message", at)
                continue
            given = entry.get("session_id") or entry.get("conversation_id") or message.get("session_id")
            session = default if not given and not several else _name("", given, f"{default}-{place}")
            counts[session] = counts.get(session, 0) + 1
            own = message.get("id") or f"{session}-{counts[session]}"
            when = message.get("timestamp") or message.get("created_at")
            actor = message.get("actor") or message.get("name")
            title = entry.get("title") or entry.get("session_title")
            yield from _messages(session, message.get("role"), _content_text(message.get("content")), when, own, at, actor, title)


def read_memories(stream: IO[bytes], name: str) -> Iterator[Item]:
    """Memories, a line each, with the fields of a save. Other fields go into their metadata."""
    for place, entry in _entries(stream):
        if isinstance(entry, Skipped):
            yield entry
            continue
        fields = {field: value for field, value in entry.items() if field in MEMORY_FIELDS and value is not None}
        if not fields.get("content") and fields.get("value") is None:
            yield Skipped("no content", place)
            continue
        others = {field: value for field, value in entry.items() if field not in MEMORY_FIELDS | _MADE_BY_SERVICE and value is not None}
        metadata = fields.get("metadata")
        if others or metadata:
            fields["metadata"] = {**others, **(metadata if isinstance(metadata, dict) else {"metadata": metadata} if metadata else {})}
        yield SavedMemory(_cleaned({"type": "semantic", "source": "import", **fields}), place)


def read_mem0(stream: IO[bytes], name: str) -> Iterator[Item]:
    """Memories as mem0 lists them: a list, or one below `results` or `memories`. Of several users, only the first one's."""
    first_user: Any = None
    for number, entry in enumerate(_mem0_entries(stream), 1):
        place = f"memory {number}"
        text = (entry.get("memory") or entry.get("text") or entry.get("data")) if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or not isinstance(text, str) or not text.strip():
            yield Skipped("no content", place)
            continue
        user = entry.get("user_id")
        first_user = first_user if first_user is not None else user
        if user is not None and user != first_user:
            yield Skipped("of another user than the first memory", place)
            continue
        own = entry.get("metadata")
        labels = {"mem0_id": entry["id"]} if isinstance(entry.get("id"), str) else {}
        fields: Json = {
            "type": "semantic",
            "source": "mem0",
            "content": text,
            "metadata": {**(own if isinstance(own, dict) else {}), **labels},
        }
        fields["event_timestamp"] = _moment(entry.get("created_at"))
        fields["tags"] = [tag for tag in _list(entry.get("categories")) if isinstance(tag, str) and tag.strip()] or None
        fields["agent_id"] = _name("", entry["agent_id"], place) if entry.get("agent_id") else None
        fields["session_id"] = _name("", entry["run_id"], place) if entry.get("run_id") else None
        yield SavedMemory(_cleaned({field: value for field, value in fields.items() if value is not None}), place)


FORMATS: Mapping[str, Reader] = {
    "chatgpt": read_chatgpt,
    "claude": read_claude,
    "mem0": read_mem0,
    "memories": read_memories,
    "messages": read_messages,
}


# ChatGPT.


def _chatgpt_conversation(conversation: Any, place: str) -> Iterator[Item]:
    mapping = conversation.get("mapping") if isinstance(conversation, dict) else None
    if not isinstance(mapping, dict):
        yield Skipped("not a conversation", place)
        return
    session = _name("chatgpt", conversation.get("conversation_id") or conversation.get("id"), place)
    branch = _branch(mapping, conversation.get("current_node"))
    given_up = sum(1 for key, node in mapping.items() if key not in branch and isinstance(node, dict) and _is_said(node.get("message")))
    for _ in range(given_up):
        yield Skipped("on a branch that was given up", place)
    for index, key in enumerate(branch, 1):
        message = mapping[key].get("message")
        if not isinstance(message, dict):
            continue
        at = f"{place}, message {index}"
        content, author = message.get("content"), message.get("author")
        role = author.get("role") if isinstance(author, dict) else None
        if not _is_said(message):
            kind = content.get("content_type") if isinstance(content, dict) else None
            hidden = role in ("system", "tool") or not isinstance(kind, str)
            yield Skipped(f"of the {role}" if hidden and isinstance(role, str) and role in ROLES else "not said by anybody", at)
            continue
        when, own = message.get("create_time"), message.get("id") or key
        yield from _messages(session, role, _chatgpt_text(content), when, own, at, title=conversation.get("title"))


def _branch(mapping: Json, current: Any) -> dict[str, None]:
    """The keys from the root to the current node; where that is not named, to the last one without children."""
    if not isinstance(current, str) or current not in mapping:
        leaves = [key for key, node in mapping.items() if isinstance(node, dict) and not node.get("children")]
        current = leaves[-1] if leaves else None
    keys: dict[str, None] = {}
    while isinstance(current, str) and current not in keys and isinstance(mapping.get(current), dict):
        keys[current] = None
        current = mapping[current].get("parent")
    return dict.fromkeys(reversed(keys))


def _is_said(message: Any) -> bool:
    """Whether a person or the assistant said it, to be read."""
    if not isinstance(message, dict):
        return False
    author, content, metadata = message.get("author"), message.get("content"), message.get("metadata")
    role = author.get("role") if isinstance(author, dict) else None
    kind = content.get("content_type") if isinstance(content, dict) else None
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
    return role in ("user", "assistant") and kind in ("text", "multimodal_text") and not hidden


def _chatgpt_text(content: Any) -> str:
    texts = []
    for part in _list(content.get("parts")) if isinstance(content, dict) else []:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            kind = part.get("content_type")
            text = part.get("text")
            texts.append(text if isinstance(text, str) else "[image]" if kind == "image_asset_pointer" else "[attachment]")
    return "\n".join(texts).strip()


# Claude.


def _claude_text(message: Json) -> str:
    parts = [part.get("text") for part in _list(message.get("content")) if isinstance(part, dict) and part.get("type") == "text"]
    text = "\n".join(part for part in parts if isinstance(part, str))
    plain = message.get("text")
    return text if text.strip() or not isinstance(plain, str) else plain


# What readers share.


def _messages(
    session: str, role: Any, text: str, when: Any, own_id: Any, place: str, actor: Any = None, title: Any = None
) -> Iterator[Item]:
    """The message, or its pieces where it is longer than one may be; or why it is left out."""
    known_role = ROLES.get(role) if isinstance(role, str) else None
    if known_role is None:
        yield Skipped("no role that is known", place)
        return
    if not text.strip():
        yield Skipped("without words", place)
        return
    identity = _name("", own_id, place)
    for number, piece in enumerate(_pieces(_text(text))):
        fields: Json = {
            "role": known_role,
            "content": piece,
            "id": identity if not number else f"{identity[: _NAME_CHARACTERS - 8]}.{number}",
        }
        moment = _moment(when)
        if moment is not None:
            fields["timestamp"] = moment
        if isinstance(actor, str) and actor.strip():
            fields["actor"] = _text(actor)[:200]
        yield ChatMessage(session, fields, _title(title))


def _title(given: Any) -> str | None:
    """The title of a chat in one line; None where it has none."""
    words = " ".join(_text(given).split()) if isinstance(given, str) else ""
    return words[:_TITLE_CHARACTERS].strip() or None


def _pieces(text: str) -> Iterator[str]:
    """A text in pieces that fit, cut at white space where there is some."""
    rest = text.strip()
    while len(rest.encode()) > MESSAGE_BYTES:
        head = rest.encode()[: MESSAGE_BYTES - 4].decode(errors="ignore")
        cut = max(head.rfind(" "), head.rfind("\n"))
        head = head[:cut] if cut > len(head) // 2 else head
        if head.strip():
            yield head.strip()
        rest = rest[len(head) :].strip()
    if rest:
        yield rest


def _content_text(content: Any) -> str:
    """The text of a message's content, which may be a list of parts as chat APIs have them."""
    if isinstance(content, str):
        return content
    texts = []
    for part in _list(content):
        text = part if isinstance(part, str) else part.get("text") if isinstance(part, dict) else None
        if isinstance(text, str):
            texts.append(text)
        elif isinstance(part, dict) and isinstance(part.get("type"), str):
            texts.append(f"[{part['type'][:40]}]")
    return "\n".join(texts)


def _moment(value: Any) -> str | None:
    """A moment as ISO 8601 with a time zone: of seconds since 1970, or of a text; None where there is none."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, timezone.utc).isoformat()
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            return (moment if moment.tzinfo is not None else moment.replace(tzinfo=timezone.utc)).astimezone(timezone.utc).isoformat()
    except (ValueError, OverflowError, OSError):
        return None
    return None


def _name(prefix: str, given: Any, place: str) -> str:
    """An id that the service takes, from one of the export: as it is where it fits, else with a hash of it."""
    own = str(given) if isinstance(given, str | int) and str(given).strip() else place
    plain = _NOT_IN_NAMES.sub("-", own).strip("-.")
    whole = "-".join(part for part in (prefix, plain) if part)
    if plain == own and len(whole) <= _NAME_CHARACTERS:
        return whole
    digest = hashlib.sha256(own.encode("utf-8", "replace")).hexdigest()[:12]
    return "-".join(part for part in (prefix, plain[:80].strip("-."), digest) if part)


def _text(text: str) -> str:
    """A text that UTF-8 and the stores can hold."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


def _cleaned(value: Any, depth: int = 0) -> Any:
    """A value as JSON for the service can hold it."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict | list) and depth >= _FIELD_NESTED:
        return "…"
    if isinstance(value, dict):
        return {_text(str(name)): _cleaned(field, depth + 1) for name, field in value.items()}
    if isinstance(value, list):
        return [_cleaned(item, depth + 1) for item in value]
    return str(value) if isinstance(value, int) and abs(value) > _LARGEST else value


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _begin(stream: IO[bytes]) -> bytes:
    """The first character that is no white space; the stream is put there. A byte order mark is left out."""
    stream.seek(0)
    if stream.read(3) != b"\xef\xbb\xbf":
        stream.seek(0)
    while (character := stream.read(1)).isspace():
        pass
    if character:
        stream.seek(-1, 1)
    return character


def _elements(stream: IO[bytes], key: str | None = None) -> Iterator[Any]:
    """The elements of a JSON list, or of the list below a key of a JSON object, one by one.

    Raises UnreadableFile where the JSON ends early, is broken or nested too deeply. Note: `ijson.items` would take memory that grows with
    the square of the depth.
    """
    count, depth, level, in_list, last_key = 0, 0, 1 if key is None else 2, False, None
    builder: Any = None
    try:
        for event, value in ijson.basic_parse(stream, use_float=True):
            change = _DEPTH_CHANGES.get(event, 0)
            depth += change
            if depth > MOST_NESTED:
                raise UnreadableFile(f"the JSON is nested too deeply after entry {count}")
            if builder is None and in_list and change >= 0 and depth - change == level:
                builder = ObjectBuilder()
            if builder is not None:
                builder.event(event, value)
                if depth == level:
                    count += 1
                    yield builder.value
                    builder = None
            elif event == "map_key":
                last_key = value if depth == 1 else last_key
            elif event == "start_array" and depth == level:
                in_list = key is None or last_key == key
            elif depth < level:
                in_list = False
    except (ijson.JSONError, UnicodeError):
        raise UnreadableFile(f"the JSON is broken or ends after entry {count}") from None


def _entries(stream: IO[bytes]) -> Iterator[tuple[str, Json | Skipped]]:
    """The objects of JSON Lines, or of a JSON list, each with its place; instead of one, why it can't be read."""
    if _begin(stream) == b"[":
        for number, element in enumerate(_elements(stream), 1):
            place = f"entry {number}"
            yield place, element if isinstance(element, dict) else Skipped("not an object", place)
        return
    for number, line in enumerate(_lines(stream), 1):
        place = f"line {number}"
        if line is None:
            yield place, Skipped(f"longer than {LINE_BYTES >> 20} MiB", place)
            continue
        if not line.strip():
            continue
        try:
            entry = _parsed(line)
        except ValueError:
            yield place, Skipped("not JSON", place)
            continue
        yield place, entry if isinstance(entry, dict) else Skipped("not an object", place)


def _lines(stream: IO[bytes]) -> Iterator[bytes | None]:
    """The lines; None for one that is too long."""
    while line := stream.readline(LINE_BYTES + 1):
        if len(line) <= LINE_BYTES:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(LINE_BYTES)
        yield None


def _parsed(line: bytes) -> Any:
    """The JSON of a line. Raises ValueError."""
    try:
        return json.loads(line.decode())
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _mem0_entries(stream: IO[bytes]) -> Iterator[Any]:
    if _begin(stream) == b"[":
        yield from _elements(stream)
        return
    line = stream.readline(LINE_BYTES)
    try:
        first = _parsed(line)
    except ValueError:
        first = None
    _begin(stream)
    if isinstance(first, dict) and "results" not in first and "memories" not in first:
        for _, entry in _entries(stream):
            yield {} if isinstance(entry, Skipped) else entry
        return
    place = stream.tell()
    yield from _elements(stream, "results")
    stream.seek(place)
    yield from _elements(stream, "memories")


def _format_of_entry(entry: Any, *, listed: bool) -> str:
    fields: Iterable[str] = entry if isinstance(entry, dict) else ()
    if "mapping" in fields and listed:
        return "chatgpt"
    if "chat_messages" in fields and listed:
        return "claude"
    if "role" in fields or "messages" in fields:
        return "messages"
    if "memory" in fields:
        return "mem0"
    if "content" in fields or "value" in fields:
        return "memories"
    raise UnreadableFile(f"the format can't be told from the first entry; name it with --format ({', '.join(FORMATS)})")
