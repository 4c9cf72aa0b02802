"""Each set told to a host, and what is asked of it afterwards. Every item has a user of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.knowledge.service import Service

Item = Mapping[str, Any]
_OVER = re.compile(
    r"no longer true|superseded|replaced|until \d{4}|deleted|former|not sure|in conflict",
    re.IGNORECASE,
)
"""What a context says of a statement that does not hold any more."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One item measured. kind: what it is counted under; good: whether it came out as it should;
    seen: what was seen, for a reader.
    """

    kind: str
    lang: str
    id: str
    good: bool
    seen: str


def pairs(service: Service, items: Mapping[str, Sequence[Item]]) -> Iterator[Outcome]:
    """Two notes saved one after the other: pending where they exclude each other,
    and only there.
    """
    for kind, wanted in (("contradictory", True), ("compatible", False)):
        for one in items[kind]:
            user = f"pair-{one['id']}-{kind}"
            for text in (one["first"], one["second"]):
                service.post("/api/v1/memories/save", user_id=user, type="semantic", content=text)
            records = service.conflicts(user)
            met = any(record["status"] == "pending" for record in records)
            yield Outcome(
                kind,
                one["lang"],
                one["id"],
                met is wanted,
                f"{one['first']} | {one['second']} | {_reasons(records)}",
            )


def changes(service: Service, items: Mapping[str, Sequence[Item]]) -> Iterator[Outcome]:
    """Two things said twenty days apart: the change is noticed, and a harmless pair is none."""
    for kind, wanted in (("changes", True), ("harmless", False)):
        for one in items[kind]:
            user = f"change-{one['id']}-{kind}"
            for day, text in (("02", one["first"]), ("22", one["second"])):
                service.tell(user, f"day-{day}", _said(text, f"2026-03-{day}T18:00:00Z"))
            records = [one for one in service.conflicts(user) if one["strategy"] != "merge"]
            over = [
                fact["content"] for fact in service.facts(user) if fact["status"] == "superseded"
            ]
            seen = f"{one['first']} | {one['second']} | {_reasons(records)} | over: {over}"
            yield Outcome(kind, one["lang"], one["id"], bool(records or over) is wanted, seen)


def statements(service: Service, items: Mapping[str, Sequence[Item]]) -> Iterator[Outcome]:
    """One message each: the durable thing in it becomes a right fact; of the others
    none is made.
    """
    for one in items["durable"]:
        user = f"said-{one['id']}"
        service.tell(user, "first", _said(one["message"], "2026-03-02T18:00:00Z"))
        facts = [fact["content"] for fact in service.facts(user)]
        rules = [memory["content"] for memory in service.memories(user, type="procedural")]
        right = any(
            _has_all(fact, one["must"]) and not _has_any(fact, one["wrong"])
            for fact in (*facts, *rules)
        )
        seen = f"{one['message']} | must {one['must']} | {facts}"
        yield Outcome("durable", one["lang"], one["id"], right, seen)
        yield Outcome(
            "not wrong",
            one["lang"],
            one["id"],
            not any(_has_any(fact, one["wrong"]) for fact in facts),
            seen,
        )
    for one in items["not_durable"]:
        user = f"passing-{one['id']}"
        service.tell(user, "first", _said(one["message"], "2026-03-02T18:00:00Z"))
        facts = [fact["content"] for fact in service.facts(user)]
        yield Outcome(
            "not durable", one["lang"], one["id"], not facts, f"{one['message']} | {facts}"
        )


def questions(service: Service, items: Mapping[str, Sequence[Item]]) -> Iterator[Outcome]:
    """Talks of half a year, then questions: the answer stands in the context; what holds no more is
    marked, or is not there.
    """
    for talk in items["talks"]:
        user = f"talk-{talk['id']}"
        for number, session in enumerate(talk["sessions"]):
            messages = [
                {**one, "timestamp": _later(session["date"], place)}
                for place, one in enumerate(session["messages"])
            ]
            service.tell(user, f"session-{number}", messages)
        for one in talk["questions"]:
            context = service.context(user, one["ask"])
            found = service.found(user, one["ask"])
            good = any(_has_all(context, words) for words in one["good"])
            stale = [
                line
                for line in context.splitlines()
                if _has_any(line, one["outdated"]) and not _OVER.search(line)
            ]
            seen = f"{one['ask']} | {one['good']} | {context!r} | found {found[:3]}"
            yield Outcome("good", talk["lang"], one["id"], good, seen)
            yield Outcome("not empty", talk["lang"], one["id"], bool(found), one["ask"])
            yield Outcome(
                "nothing outdated", talk["lang"], one["id"], not stale, f"{one['ask']} | {stale}"
            )


def forget(service: Service, items: Mapping[str, Sequence[Item]]) -> Iterator[Outcome]:
    """Requests to forget, words that sound like them, and standing wishes."""
    for one in items["requests"]:
        user = f"forget-{one['id']}"
        _told(service, user, one["told"])
        task = service.tell(user, "later", _said(one["ask"], "2026-03-22T18:00:00Z"))
        left = _live(service, user)
        gone = not any(_has_any(text, one["gone"]) for text in left if text != one["ask"])
        kept = all(any(_has_any(text, [word]) for text in left) for word in one["kept"])
        asked = any(
            one["status"] == "pending" for one in (task.get("result") or {}).get("forgetting", ())
        )
        seen = (
            f"{one['ask']} | gone {one['gone']} {gone} | kept {one['kept']} {kept} | asked back "
            f"{asked} | {task.get('result')}"
        )
        yield Outcome("requests", one["lang"], one["id"], (gone and kept) or asked, seen)
        yield Outcome("what stays is there", one["lang"], one["id"], kept, seen)
    for one in items["harmless"]:
        user = f"harmless-{one['id']}"
        _told(service, user, one["told"])
        message = {
            "role": one["role"],
            "content": one["message"],
            "timestamp": "2026-03-22T18:00:00Z",
        }
        task = service.tell(user, "later", [message])
        result = (task.get("result") or {}).get("forgetting")
        yield Outcome(
            "harmless",
            one["lang"],
            one["id"],
            not result and not _forgotten(service, user),
            f"{one['role']}: {one['message']} | {result}",
        )
    for one in items["wishes"]:
        user = f"wish-{one['id']}"
        _told(service, user, one["told"])
        service.tell(user, "later", _said(one["message"], "2026-03-22T18:00:00Z"))
        rules = [memory["content"] for memory in service.memories(user, type="procedural")]
        yield Outcome(
            "wishes",
            one["lang"],
            one["id"],
            bool(rules) and not _forgotten(service, user),
            f"{one['message']} | {rules}",
        )
    for one in items["instructions"]:
        user = f"instruction-{one['id']}"
        service.tell(user, "first", _said(one["message"], "2026-03-02T18:00:00Z"))
        context = service.context(user, "What is the capital of France?")
        rules = [memory["content"] for memory in service.memories(user, type="procedural")]
        stands = _has_all(context, one["must"]) and any(
            _has_all(text, one["must"]) for text in rules
        )
        yield Outcome(
            "instructions",
            one["lang"],
            one["id"],
            stands,
            f"{one['message']} | {one['must']} | {context!r}",
        )
        if one["withdraw"]:
            service.tell(user, "later", _said(one["withdraw"], "2026-03-22T18:00:00Z"))
            rules = [memory["content"] for memory in service.memories(user, type="procedural")]
            stays = any(_has_all(text, one["must"]) for text in rules)
            yield Outcome(
                "withdrawn",
                one["lang"],
                one["id"],
                stands and not stays,
                f"{one['withdraw']} | {rules}",
            )


MEASURES: Mapping[str, Callable[[Service, Mapping[str, Sequence[Item]]], Iterator[Outcome]]] = {
    "pairs": pairs,
    "changes": changes,
    "statements": statements,
    "questions": questions,
    "forget": forget,
}


def _said(text: str, at: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text, "timestamp": at}]


def _told(service: Service, user: str, texts: Sequence[str]) -> None:
    for number, text in enumerate(texts, 1):
        service.tell(user, f"told-{number}", _said(text, f"2026-03-{number:02}T18:00:00Z"))


def _live(service: Service, user: str) -> list[str]:
    """The texts that are still told: of memories that stand, and of what a cell says."""
    found = []
    for one in service.memories(user):
        found += [
            one["content"],
            one.get("episode") or "",
            *(fact["text"] for fact in one.get("atomic_facts") or ()),
        ]
    return found


def _forgotten(service: Service, user: str) -> bool:
    return any(
        memory["status_reason"] == "forgotten"
        for memory in service.memories(user, status="deleted")
    )


def _later(date: str, minutes: int) -> str:
    return f"{date[:14]}{(int(date[14:16]) + minutes) % 60:02}{date[16:]}"


def _reasons(records: Sequence[Mapping[str, Any]]) -> str:
    return "; ".join(f"{one['status']} {one['strategy']}: {one['reason']}" for one in records)


def _has_all(text: str, words: Sequence[str]) -> bool:
    return all(word.casefold() in text.casefold() for word in words)


def _has_any(text: str, words: Sequence[str]) -> bool:
    return any(word and word.casefold() in text.casefold() for word in words)
