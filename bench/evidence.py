"""`python -m bench.evidence DATA…`: whether the words of what answers a question stand in the context that it is answered with.

DATA are files that `bench.locomo_data` reads. Every turn is saved as one episodic memory, in this process and without a language model;
every question is asked in the mode `reconstruct`. A turn stands in a context when at least 80 % of its words of four or more letters do.
Beside it plain BM25 packs whole turns into the same budget. What a reader would get wrong: "foreign" questions are the next
conversation's, asked here, so that their contexts should be short; `sufficient` is right when all of a question's evidence stands there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from bench.locomo import save
from bench.locomo_data import Conversation, Question, Turn, read
from bench.tables import percentile, show
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.fields import DEFAULT_MAX_TOKENS
from memory_core.domain.requests import RetrieveInput
from memory_core.domain.scope import Owner

STANDS = 0.8
"""The share of a turn's words that must be in a context for the turn to stand there."""
CHARACTERS_A_TOKEN, MARK_TOKENS, SHORTEST, MOST_PACKED = 4.2, 8, 40, 200
ADVERSARIAL = 5
"""LoCoMo's category of questions that nothing answers."""
_WORD, _LONG_WORD = re.compile(r"\w\w+"), re.compile(r"\w{4,}")


@dataclass(frozen=True, slots=True)
class Answered:
    """What one question came to. share: of its evidence in the context; plain: in BM25's; words: of the context."""

    share: float
    plain: float
    words: int
    sufficient: bool
    seconds: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.evidence", description="Measures contexts by the evidence that stands in them.")
    parser.add_argument("data", type=Path, nargs="+", help="conversations in a form that bench.locomo_data reads")
    parser.add_argument("--keep", type=Path, help="folder for the saved turns, which a second run takes as they are")
    parser.add_argument("--max-tokens", type=int, default=DEFAULT_MAX_TOKENS)
    parser.add_argument("--only-save", action="store_true", help="save the turns and ask nothing")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="memory-core-bench-") as folder:
        figures = asyncio.run(_measure(options.data, options.keep or Path(folder), options.max_tokens, asks=not options.only_save))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))
    return 0


async def _measure(files: Sequence[Path], folder: Path, max_tokens: int, *, asks: bool) -> dict[str, dict[str, float]]:
    figures: dict[str, dict[str, float]] = {}
    for file in files:
        conversations = read(file)
        async with opened(folder / file.stem, conversations) as core:
            if asks:
                own, foreign = await _asked(core, conversations, max_tokens)
                figures[file.stem] = _figures(own, foreign)
    _report(figures)
    return figures


class opened:
    """A MemoryCore that holds every turn of the conversations. What its folder holds already is taken as it is."""

    def __init__(self, folder: Path, conversations: Sequence[Conversation]) -> None:
        self._folder, self._conversations = folder, conversations
        folder.mkdir(parents=True, exist_ok=True)
        self._core = MemoryCore(Settings(embedding_provider="minilm", data=folder, vector_cache_entries=20_000))

    async def __aenter__(self) -> MemoryCore:
        core = await self._core.__aenter__()
        await core.warm_up()
        for conversation in self._conversations:
            saved = self._folder / f"{conversation.name}.saved"
            if not saved.exists():
                await save(core, conversation)
                saved.touch()
        return core

    async def __aexit__(self, *error: object) -> None:
        await self._core.__aexit__(None, None, None)


async def _asked(core: MemoryCore, conversations: Sequence[Conversation], max_tokens: int) -> tuple[list[Answered], list[Answered]]:
    """Of every conversation its own questions, and the next one's."""
    own: list[Answered] = []
    foreign: list[Answered] = []
    for here, following in pairwise([*conversations, conversations[0]]):
        texts = {one.id: one.text for one in here.turns}
        plain = bm25(here.turns)
        for question in _answerable(here.questions):
            evidence = [texts[one] for one in question.evidence]
            own.append(await _answered(core, here.name, question, evidence, plain, list(texts.values()), max_tokens))
        if following is not here:
            for question in _answerable(following.questions):
                foreign.append(await _answered(core, here.name, question, (), plain, (), max_tokens))
    return own, foreign


def _answerable(questions: Iterable[Question]) -> list[Question]:
    return [one for one in questions if one.category != ADVERSARIAL]


async def _answered(
    core: MemoryCore,
    user: str,
    question: Question,
    evidence: Sequence[str],
    plain: Callable[[str], list[float]],
    texts: Sequence[str],
    max_tokens: int,
) -> Answered:
    asking = RetrieveInput(query=question.text, mode="reconstruct", max_tokens=max_tokens)
    began = time.perf_counter()
    answer = await core.retrieve(Owner("local", user), asking)
    took = time.perf_counter() - began
    context = answer.context or ""
    beside = share_standing(packed(plain(question.text), texts, max_tokens), evidence) if texts else 0.0
    return Answered(share_standing(context, evidence), beside, len(context.split()), answer.sufficient, took)


def share_standing(context: str, evidence: Sequence[str]) -> float:
    """The share of the turns of whose long words `STANDS` or more are in the context; 0 without turns."""
    there = long_words(context)
    standing = [len(long_words(text) & there) >= STANDS * len(long_words(text)) for text in evidence]
    return sum(standing) / len(standing) if standing else 0.0


def long_words(text: str) -> set[str]:
    """The words of four or more letters, in lower case."""
    return set(_LONG_WORD.findall(text.lower()))


def bm25(turns: Sequence[Turn]) -> Callable[[str], list[float]]:
    """Plain BM25 over turns (k1 1.2, b .75, no stemming): from a query to each turn's score."""
    texts = [_WORD.findall(f"{one.actor}: {one.text} {one.at[:10]}".lower()) for one in turns]
    frequency, mean = Counter(word for text in texts for word in set(text)), sum(map(len, texts)) / len(texts)
    counts = [Counter(text) for text in texts]

    def scores(query: str) -> list[float]:
        asked = set(_WORD.findall(query.lower()))
        worth = {word: math.log(1 + (len(texts) - frequency[word] + 0.5) / (frequency[word] + 0.5)) for word in asked}
        length = [1.2 * (0.25 + 0.75 * len(text) / mean) for text in texts]
        return [
            sum(value * count[word] * 2.2 / (count[word] + most) for word, value in worth.items() if word in count)
            for count, most in zip(counts, length, strict=True)
        ]

    return scores


def packed(scores: Sequence[float], texts: Sequence[str], budget: float) -> str:
    """Whole turns within the budget, the best score by the square root of its tokens first: what a few lines of code do."""
    sizes = [len(text) / CHARACTERS_A_TOKEN + MARK_TOKENS for text in texts]
    kept: list[str] = []
    for place in sorted(range(len(texts)), key=lambda place: -scores[place] / math.sqrt(max(SHORTEST, sizes[place])))[:MOST_PACKED]:
        if sizes[place] <= budget:
            budget -= sizes[place]
            kept.append(texts[place])
    return "\n".join(kept)


def _figures(own: Sequence[Answered], foreign: Sequence[Answered]) -> dict[str, float]:
    said = [one for one in own if one.sufficient]
    right = [one for one in said if one.share == 1.0]
    complete = [one for one in own if one.share == 1.0]
    times = sorted(one.seconds for one in own)
    return {
        "questions": len(own),
        "in context": _mean([one.share for one in own]),
        "bm25": _mean([one.plain for one in own]),
        "words": _mean([one.words for one in own]),
        "sufficient": len(said) / len(own),
        "precision": len(right) / max(1, len(said)),
        "recall": len(right) / max(1, len(complete)),
        "foreign empty": _mean([one.words == 0 for one in foreign]),
        "foreign <= 120 words": _mean([one.words <= 120 for one in foreign]),
        "foreign sufficient": _mean([one.sufficient for one in foreign]),
        "p50 ms": 1000 * percentile(times, 0.5),
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(1, len(values))


def _report(figures: dict[str, dict[str, float]]) -> None:
    if figures:
        headings = list(next(iter(figures.values())))
        show("Evidence in contexts", ("", *headings), [[name, *(f"{row[one]:.3f}" for one in headings)] for name, row in figures.items()])


if __name__ == "__main__":
    raise SystemExit(main())
