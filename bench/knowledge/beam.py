"""BEAM's questions about standing instructions, preferences and what was updated, over HTTP:
`python -m bench.knowledge.beam SET`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

from bench.host import ROOT
from bench.knowledge.service import Service, hosted

A_CALL = 10
A_TURN = 2
"""A person's message and the answer to it."""
START = datetime(2026, 1, 5, 9, tzinfo=timezone.utc)
_PREFERS = re.compile(r"\bprefer\w* ([^,.?!]{8,60})|\bpreference (?:for|of) ([^,.?!]{8,60})")


def main(arguments: Sequence[str] | None = None) -> int:
    """Tell each conversation, ask its questions, print shares."""
    parser = argparse.ArgumentParser(prog="python -m bench.knowledge.beam", description=__doc__)
    parser.add_argument("set", type=Path)
    parser.add_argument("--limit", type=int, default=10, help="conversations")
    parser.add_argument("--code", type=Path, default=ROOT)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args(arguments)
    seen: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    with (
        tempfile.TemporaryDirectory() as folder,
        hosted(Path(folder), "minilm", app=options.code) as client,
    ):
        service = Service(client)
        for conversation in json.loads(options.set.read_text())[: options.limit]:
            _told(service, conversation)
            for kind, good, detail in _asked(service, conversation):
                asked[kind] += 1
                seen[kind] += good
                if options.show and not good:
                    print(f"  {kind}: {detail}")
    for kind, count in sorted(asked.items()):
        print(f"{kind:24} {seen[kind]:3}/{count:<3} {seen[kind] / count:6.1%}")
    return 0


def _told(service: Service, conversation: Mapping[str, Any]) -> None:
    turns = conversation["turns"]
    for start in range(0, len(turns), A_CALL):
        messages = [
            {
                "role": _role(turn),
                "content": turn["text"],
                "timestamp": (START + timedelta(minutes=start + place)).isoformat(),
            }
            for place, turn in enumerate(turns[start : start + A_CALL])
        ]
        service.tell(conversation["conv_id"], "s", messages)


def _asked(service: Service, conversation: Mapping[str, Any]) -> list[tuple[str, bool, str]]:
    user, turns = conversation["conv_id"], {str(turn["id"]): turn for turn in conversation["turns"]}
    places = {name: place for place, name in enumerate(turns)}
    outcomes = []
    for question in conversation["questions"]:
        names = [
            name for name in question["evidence"] if name in turns and _role(turns[name]) == "user"
        ]
        evidence = [turns[name]["text"] for name in names]
        kind = question["kind"]
        if not evidence or kind not in (
            "instruction following",
            "preference following",
            "knowledge update",
        ):
            continue
        context = " ".join(service.context(user, question["q"], exclude_session_id=None).split())
        if kind == "knowledge update":
            texts = [
                _passage(result)
                for result in service.post(
                    "/api/v1/memories/retrieve", user_id=user, query=question["q"], limit=20
                )["results"]
            ]
            first = next(
                (
                    text
                    for text in texts
                    for passage in evidence
                    if passage[:60] in text or text[:60] in passage
                ),
                "",
            )
            newest = evidence[-_number_of_newest([places[name] for name in names]) :]
            good = bool(first) and any(text[:60] in first or first[:60] in text for text in newest)
        elif kind == "instruction following":
            good = any(
                _stands(sentence, context)
                for passage in evidence
                for sentence in passage.split("\n")
                if re.match(r"(?:always|never)", sentence, re.I)
            )
        else:
            words = [
                next(filter(None, match.groups()))
                for passage in evidence
                for match in _PREFERS.finditer(passage)
            ]
            good = any(" ".join(word.split()[:6]) in context for word in words)
            if not words:
                continue
        outcomes.append((kind, good, f"{question['q'][:100]} | {evidence[-1][:160]}"))
    return outcomes


def _number_of_newest(places: Sequence[int]) -> int:
    """How many of a question's messages tell what is new, by their places.

    It may be told in the first message of a talk and only thanked for in the last. The first of
    all messages tells what was so before.
    """
    gaps = [later - earlier for earlier, later in pairwise(places)]
    of_last_talk = 1 + len([*takewhile(lambda gap: gap <= A_TURN, reversed(gaps))])
    return max(1, min(of_last_talk, len(places) - 1))


def _passage(result: Mapping[str, Any]) -> str:
    passages = result.get("passages") or []
    return str(passages[0]["text"] if passages else result["memory"]["content"])


def _stands(sentence: str, context: str) -> bool:
    return " ".join(sentence.split())[:80] in context


def _role(turn: Mapping[str, Any]) -> str:
    return (
        "assistant"
        if "assistant" in str(turn.get("role") or turn.get("speaker") or "").lower()
        else "user"
    )


if __name__ == "__main__":
    sys.exit(main())
