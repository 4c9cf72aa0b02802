"""Each set told to a host, and what is asked of it afterwards. Every item has a user of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.knowledge.service import Service

Item = Mapping[str, Any]
_OVER = re.compile(
    r"no longer true|superseded|replaced|until \d{4}|deleted|former|not sure|in conflict|called off"
    r"|changed on",
    re.IGNORECASE,
)
"""What a context says of a statement that does not hold any more."""
_EXPECTED = re.compile(r"from \d{4}\S* until \d{4}\S*")
"""The time of what is foreseen."""


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
        for item in items[kind]:
            user = f"pair-{item['id']}-{kind}"
            for text in (item["first"], item["second"]):
                service.post("/api/v1/memories/save", user_id=user, type="semantic", content=text)
            records = service.conflicts(user)
            met = any(record["status"] == "pending" for record in records)
            yield Outcome(
                kind,
                item["lang"],
                item["id"],
                met is wanted,
                f"{item['first']} | {item['second']} | {_reasons(records)}",
            )


def changes(service: Service, items: Mapping[str, Sequence[Item]]) -> Iterator[Outcome]:
    """Two things said twenty days apart: the change is noticed, and a harmless pair is none."""
    for kind, wanted in (("changes", True), ("harmless", False)):
        for item in items[kind]:
            user = f"change-{item['id']}-{kind}"
            for day, text in (("02", item["first"]), ("22", item["second"])):
                service.tell(user, f"day-{day}", _said(text, f"2026-03-{day}T18:00:00Z"))
            records = [
                conflict for conflict in service.conflicts(user) if conflict["strategy"] != "merge"
            ]
            over = [
                fact["content"] for fact in service.facts(user) if fact["status"] == "superseded"
            ]
            seen = f"{item['first']} | {item['second']} | {_reasons(records)} | over: {over}"
            yield Outcome(kind, item["lang"], item["id"], bool(records or over) is wanted, seen)


def statements(service: Service, items: Mapping[str, Sequence[Item]]) -> Iterator[Outcome]:
    """One message each: the durable thing in it becomes a right fact; of the others
    none is made.
    """
    for item in items["durable"]:
        user = f"said-{item['id']}"
        service.tell(user, "first", _said(item["message"], "2026-03-02T18:00:00Z"))
        facts = [fact["content"] for fact in service.facts(user)]
        rules = [memory["content"] for memory in service.memories(user, type="procedural")]
        right = any(
            _has_all(fact, item["must"]) and not _has_any(fact, item["wrong"])
            for fact in (*facts, *rules)
        )
        seen = f"{item['message']} | must {item['must']} | {facts}"
        yield Outcome("durable", item["lang"], item["id"], right, seen)
        yield Outcome(
            "not wrong",
            item["lang"],
            item["id"],
            not any(_has_any(fact, item["wrong"]) for fact in facts),
            seen,
        )
    for item in items["not_durable"]:
        user = f"passing-{item['id']}"
        service.tell(user, "first", _said(item["message"], "2026-03-02T18:00:00Z"))
        facts = [fact["content"] for fact in service.facts(user)]
        yield Outcome(
            "not durable", item["lang"], item["id"], not facts, f"{item['message']} | {facts}"
        )


def questions(service: Service, items: Mapping[str, Sequence[Item]]) -> Iterator[Outcome]:
    """Talks of half a year, then questions: the answer is in the context; what holds no more is
    marked, or is not there.
    """
    for talk in items["talks"]:
        user = f"talk-{talk['id']}"
        for number, session in enumerate(talk["sessions"]):
            messages = [
                {**message, "timestamp": _later(session["date"], place)}
                for place, message in enumerate(session["messages"])
            ]
            service.tell(user, f"session-{number}", messages)
        for question in talk["questions"]:
            context = service.context(user, question["ask"])
            results = service.found(user, question["ask"])
            good = any(_has_all(context, words) for words in question["good"])
            stale = [
                line
                for line in context.splitlines()
                if _has_any(line, question["outdated"]) and not _OVER.search(line)
            ]
            seen = f"{question['ask']} | {question['good']} | {context!r} | found {results[:3]}"
            yield Outcome("good", talk["lang"], question["id"], good, seen)
            yield Outcome("not empty", talk["lang"], question["id"], bool(results), question["ask"])
            yield Outcome(
                "nothing outdated",
                talk["lang"],
                question["id"],
                not stale,
                f"{question['ask']} | {stale}",
            )


def forget(service: Service, items: Mapping[str, Sequence[Item]]) -> Iterator[Outcome]:
    """Requests to forget, words that sound like them, and standing wishes."""
    yield from _requests(service, items["requests"])
    yield from _harmless(service, items["harmless"])
    yield from _wishes(service, items["wishes"])
    yield from _instructions(service, items["instructions"])


def _requests(service: Service, items: Sequence[Item]) -> Iterator[Outcome]:
    for item in items:
        user = f"forget-{item['id']}"
        _told(service, user, item["told"])
        task = service.tell(user, "later", _said(item["ask"], "2026-03-22T18:00:00Z"))
        left = _live(service, user)
        gone = not any(_has_any(text, item["gone"]) for text in left if text != item["ask"])
        rest_stays = all(any(_has_any(text, [word]) for text in left) for word in item["kept"])
        asked = any(
            request["status"] == "pending"
            for request in (task.get("result") or {}).get("forgetting", ())
        )
        seen = (
            f"{item['ask']} | gone {item['gone']} {gone} | kept {item['kept']} {rest_stays} | "
            f"asked back {asked} | {task.get('result')}"
        )
        yield Outcome("requests", item["lang"], item["id"], (gone and rest_stays) or asked, seen)
        yield Outcome("what stays is there", item["lang"], item["id"], rest_stays, seen)


def _harmless(service: Service, items: Sequence[Item]) -> Iterator[Outcome]:
    for item in items:
        user = f"harmless-{item['id']}"
        _told(service, user, item["told"])
        message = {
            "role": item["role"],
            "content": item["message"],
            "timestamp": "2026-03-22T18:00:00Z",
        }
        task = service.tell(user, "later", [message])
        result = (task.get("result") or {}).get("forgetting")
        yield Outcome(
            "harmless",
            item["lang"],
            item["id"],
            not result and not _forgotten(service, user),
            f"{item['role']}: {item['message']} | {result}",
        )


def _wishes(service: Service, items: Sequence[Item]) -> Iterator[Outcome]:
    for item in items:
        user = f"wish-{item['id']}"
        _told(service, user, item["told"])
        service.tell(user, "later", _said(item["message"], "2026-03-22T18:00:00Z"))
        rules = [memory["content"] for memory in service.memories(user, type="procedural")]
        yield Outcome(
            "wishes",
            item["lang"],
            item["id"],
            bool(rules) and not _forgotten(service, user),
            f"{item['message']} | {rules}",
        )


def _instructions(service: Service, items: Sequence[Item]) -> Iterator[Outcome]:
    for item in items:
        user = f"instruction-{item['id']}"
        service.tell(user, "first", _said(item["message"], "2026-03-02T18:00:00Z"))
        context = service.context(user, "What is the capital of France?")
        rules = [memory["content"] for memory in service.memories(user, type="procedural")]
        stands = _has_all(context, item["must"]) and any(
            _has_all(text, item["must"]) for text in rules
        )
        yield Outcome(
            "instructions",
            item["lang"],
            item["id"],
            stands,
            f"{item['message']} | {item['must']} | {context!r}",
        )
        if item["withdraw"]:
            service.tell(user, "later", _said(item["withdraw"], "2026-03-22T18:00:00Z"))
            rules = [memory["content"] for memory in service.memories(user, type="procedural")]
            stays = any(_has_all(text, item["must"]) for text in rules)
            yield Outcome(
                "withdrawn",
                item["lang"],
                item["id"],
                stands and not stays,
                f"{item['withdraw']} | {rules}",
            )


def scenes(service: Service, items: Mapping[str, Sequence[Item]]) -> Iterator[Outcome]:
    """Everyday talks, and a question of a later moment: its context says what holds then.

    A line with what is over has a mark, and no line of a harmless scene has one.
    """
    for item in items["scenes"]:
        user = f"scene-{item['id']}"
        for number, talk in enumerate(item["talks"]):
            messages = [
                {**message, "timestamp": _later(talk["at"], place)}
                for place, message in enumerate(talk["messages"])
            ]
            service.tell(user, f"talk-{number}", messages)
        context = service.context(user, item["query"], at=item["at"])
        missing = [words for words in item["good"] if not re.search(words, context, re.I)]
        marked = item.get("harmless", False)
        lines = [
            (line, bool(_OVER.search(_EXPECTED.sub("", line)))) for line in context.splitlines()
        ]
        wrong = [
            line
            for line, over in lines
            if over is marked
            and any(re.search(words, line, re.I) for words in item["good" if marked else "bad"])
        ]
        seen = f"{item['talks']} | {item['query']} | missing {missing} | wrong {wrong}"
        for kind in (item["topic"], "all"):
            yield Outcome(f"{kind}: told", item["lang"], item["id"], not missing, seen)
            yield Outcome(f"{kind}: nothing wrong", item["lang"], item["id"], not wrong, seen)


MEASURES: Mapping[str, Callable[[Service, Mapping[str, Sequence[Item]]], Iterator[Outcome]]] = {
    "pairs": pairs,
    "changes": changes,
    "statements": statements,
    "questions": questions,
    "forget": forget,
    "scenes": scenes,
}


def _said(text: str, at: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text, "timestamp": at}]


def _told(service: Service, user: str, texts: Sequence[str]) -> None:
    for number, text in enumerate(texts, 1):
        service.tell(user, f"told-{number}", _said(text, f"2026-03-{number:02}T18:00:00Z"))


def _live(service: Service, user: str) -> list[str]:
    """The texts that are still told: of memories that stand, and of what a cell says."""
    texts = []
    for memory in service.memories(user):
        texts += [
            memory["content"],
            memory.get("episode") or "",
            *(fact["text"] for fact in memory.get("atomic_facts") or ()),
        ]
    return texts


def _forgotten(service: Service, user: str) -> bool:
    return any(
        memory["status_reason"] == "forgotten"
        for memory in service.memories(user, status="deleted")
    )


def _later(date: str, minutes: int) -> str:
    return f"{date[:14]}{(int(date[14:16]) + minutes) % 60:02}{date[16:]}"


def _reasons(records: Sequence[Mapping[str, Any]]) -> str:
    return "; ".join(
        f"{record['status']} {record['strategy']}: {record['reason']}" for record in records
    )


def _has_all(text: str, words: Sequence[str]) -> bool:
    return all(word.casefold() in text.casefold() for word in words)


def _has_any(text: str, words: Sequence[str]) -> bool:
    return any(word and word.casefold() in text.casefold() for word in words)
