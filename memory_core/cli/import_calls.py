"""The calls of an import: their items, which were acknowledged, and how they are sent."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any

import orjson

from memory_core.cli.command import CommandRun
from memory_core.cli.import_formats.formats import FORMATS
from memory_core.cli.import_formats.items import ChatMessage, Item, SavedMemory, Skipped
from memory_core.cli.service import CallFailed, MemoryService, key_of_call

Json = dict[str, Any]
CALL_MESSAGES, CALL_MEMORIES, CALL_BYTES = 200, 100, 900_000
"""Limits of a call, below the service's own limits."""
ACTOR_CHARACTERS = 200
EXAMPLES = 5
"""Places that are named for each reason why items were left out."""
UNPROCESSABLE, TOO_LARGE = 422, 413


@dataclass(slots=True)
class SkippedCounts:
    """The items that were left out: a count for each reason, and the first places."""

    counts: Counter[str] = field(default_factory=Counter)
    places: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, place: str) -> None:
        """Count an item that is left out.

        Args:
            reason: The reason.
            place: The place of the item in the file.

        """
        self.counts[reason] += 1
        examples = self.places.setdefault(reason, [])
        if len(examples) < EXAMPLES:
            examples.append(place)

    def public(self) -> list[Json]:
        """The counts as a report has them, the most frequent reason first."""
        return [
            {"reason": reason, "count": count, "examples": self.places[reason]}
            for reason, count in self.counts.most_common()
        ]


@dataclass(slots=True)
class ImportState:
    """The progress of an import.

    Attributes:
        file: The name of the file.
        format: The format of the file.
        calls: The number of acknowledged calls.
        new: The number of new items.
        known: The number of items that the service had already.
        refused: The refused items, each with its reason and place.
        again: Whether items that were sent before are sent again.
        task_id: The task of an import of an own export.
        finished_at: When the import was finished; None before.

    """

    file: str
    format: str
    calls: int = 0
    new: int = 0
    known: int = 0
    refused: list[Json] = field(default_factory=list)
    again: bool = False
    task_id: str | None = None
    finished_at: str | None = None

    @classmethod
    def read(cls, path: Path, file: str, kind: str) -> ImportState:
        """Read the state from a file. Without a readable file it is new.

        Args:
            path: The state file.
            file: The name of the imported file.
            kind: Its format.

        """
        try:
            return cls(**orjson.loads(path.read_bytes()))
        except (OSError, ValueError, TypeError):
            return cls(file, kind)

    def write(self, path: Path) -> None:
        """Replace the file, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        unfinished = path.with_suffix(".part")
        unfinished.write_bytes(orjson.dumps(asdict(self)))
        os.replace(unfinished, path)


@dataclass(frozen=True, slots=True)
class ImportCall:
    """Items that are sent in a single call.

    Attributes:
        session: The session of messages; None for memories.
        items: The fields of the items.
        places: The place of each item in the file.
        title: The title of the session, if any.

    """

    session: str | None
    items: list[Json]
    places: list[str]
    title: str | None = None


@dataclass(frozen=True, slots=True)
class ImportSource:
    """The file to import.

    Attributes:
        file: The path of the file.
        stream: The opened file.
        kind: Its format.
        actor: The name of the user of its messages, where a message does not name its actor.

    """

    file: Path
    stream: IO[bytes]
    kind: str
    actor: str | None

    def items(self) -> Iterator[Item]:
        """The items of the file, from its beginning."""
        self.stream.seek(0)
        for item in FORMATS[self.kind](self.stream, self.file.stem):
            if (
                self.actor is not None
                and isinstance(item, ChatMessage)
                and item.fields["role"] == "user"
            ):
                item.fields.setdefault("actor", self.actor.strip()[:ACTOR_CHARACTERS])
            yield item


def calls_of(items: Iterator[Item], skipped: SkippedCounts) -> Iterator[ImportCall]:
    """Divide items into calls, each as large as allowed.

    The messages of a call are all of a single session.

    Args:
        items: The items in the order of the file.
        skipped: Counts items that are left out.

    """
    call, size = ImportCall(None, [], []), 0
    for item in items:
        if isinstance(item, Skipped):
            skipped.add(item.reason, item.place)
            continue
        session, title = (
            (item.session, item.title) if isinstance(item, ChatMessage) else (None, None)
        )
        place = (
            item.place
            if isinstance(item, SavedMemory)
            else f"{session}, message {item.fields['id']}"
        )
        length = len(orjson.dumps(item.fields)) + 1
        if length > CALL_BYTES:
            skipped.add("larger than a call may be", place)
            continue
        most = CALL_MEMORIES if session is None else CALL_MESSAGES
        if call.items and (
            session != call.session or len(call.items) == most or size + length > CALL_BYTES
        ):
            yield call
            call, size = ImportCall(session, [], [], title), 0
        elif not call.items:
            call = ImportCall(session, [], [], title)
        call.items.append(item.fields)
        call.places.append(place)
        size += length
    if call.items:
        yield call


async def send_all(
    run: CommandRun,
    service: MemoryService,
    source: ImportSource,
    state: ImportState,
    path: Path,
    skipped: SkippedCounts,
) -> int:
    """Send the calls that were not acknowledged before.

    Args:
        run: The command's output and settings.
        service: The service that takes the calls.
        source: Reads the items of the file.
        state: The calls that were acknowledged, kept beside the file.
        path: The file.
        skipped: Counts items that are left out, by reason.

    Returns:
        The number of items that were sent.

    Raises:
        CallFailed: A call was refused, or failed for good.
        UnreadableFile: The file is damaged.

    """
    stream = source.stream
    total = max(1, stream.seek(0, os.SEEK_END))
    sent, started = 0, time.monotonic()
    with run.output.progress() as progress:
        bar = progress.add_task(source.file.name, total=total, detail="")
        for number, call in enumerate(calls_of(source.items(), skipped)):
            if number >= state.calls:
                await _send(service, call, state)
                state.calls = number + 1
                state.write(path)
                sent += len(call.items)
            rate = sent / max(time.monotonic() - started, 1e-6)
            detail = f"{state.new + state.known} items, {rate:.0f}/s"
            progress.update(bar, completed=min(total, stream.tell()), detail=detail)
            run.output.progress_line(f"{source.file.name}: {detail}")
    state.finished_at = datetime.now(timezone.utc).isoformat()
    state.write(path)
    return sent


async def _send(service: MemoryService, call: ImportCall, state: ImportState) -> None:
    if call.session is None:
        await _send_memories(service, call, state)
    else:
        await _send_messages(service, call, state)


async def _send_messages(service: MemoryService, call: ImportCall, state: ImportState) -> None:
    """Send messages of a session, without those that are refused."""
    items = list(zip(call.items, call.places, strict=True))
    while items:
        body: dict[str, Any] = {
            "session_id": call.session,
            "messages": [fields for fields, _ in items],
        }
        if call.title is not None:
            body["session_title"] = call.title
        try:
            # Sent again on purpose, messages are known by their ids; with the earlier key, the
            # earlier answer would be repeated.
            key = None if state.again else key_of_call(service.user, "messages", orjson.dumps(body))
            answer = await service.post("/api/v1/memories", body, key)
        except CallFailed as error:
            if error.status not in (UNPROCESSABLE, TOO_LARGE):
                raise
            reasons = _reasons_by_index(error, len(items))
            for index, (_, place) in enumerate(items):
                if index in reasons:
                    state.refused.append({"reason": f"refused: {reasons[index]}", "place": place})
            items = [item for index, item in enumerate(items) if index not in reasons]
            continue
        counts = answer.get("messages") or {"new": len(items), "known": 0}
        state.new += counts["new"]
        state.known += counts["known"]
        return


async def _send_memories(service: MemoryService, call: ImportCall, state: ImportState) -> None:
    body = {"memories": call.items}
    try:
        answer = await service.post(
            "/api/v1/memories/bulk", body, key_of_call(service.user, "memories", orjson.dumps(body))
        )
    except CallFailed as error:
        if error.status not in (UNPROCESSABLE, TOO_LARGE):
            raise
        state.refused += [
            {"reason": f"refused: {error.detail[:200]}", "place": place} for place in call.places
        ]
        return
    for result, place in zip(answer["results"], call.places, strict=True):
        if result["status"] >= 400:
            state.refused.append(
                {"reason": f"refused: {result['problem'].get('detail', '')[:200]}", "place": place}
            )
        elif result.get("outcome") in ("reinforced", "rejected", "upserted"):
            state.known += 1
        else:
            state.new += 1


def _reasons_by_index(error: CallFailed, count: int) -> dict[int, str]:
    """The reason of each refused message, by its index.

    Where the answer names no message, all messages are refused.
    """
    reasons = {}
    for entry in error.problem.get("errors") or ():
        path = str(entry.get("field", "")).split(".")
        if len(path) > 1 and path[0] == "messages" and path[1].isdecimal() and int(path[1]) < count:
            reasons[int(path[1])] = f"{'.'.join(path[2:])}: {entry.get('message', '')}"[
                :200
            ].removeprefix(": ")
    return reasons or dict.fromkeys(range(count), error.detail[:200])
