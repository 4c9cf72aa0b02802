"""Shorter vectors, fewer digits, another embedder's thresholds:
`python -m bench.vectors shorten SET.json` and `… calibrate SET.json`.

SET as `bench.locomo_data` reads it. `shorten` needs no service: the local embedder's vectors are
lifted to 1,536 numbers by a fixed orthonormal map whose rows weigh less and less, so that the whole
vectors have the cosines that the local ones have, and a shortened one loses something, as a model's
own shortened vectors do. How fast rows weigh less is chosen so that vectors alone lose what was
published for text-embedding-3-small (62.3 on MTEB with 1,536 numbers, 61.6 with 512). `calibrate`
asks the embedder of the settings (`EMBEDDING_PROVIDER` …).

Note: the loss of the product is measured. That of the model is not: it is what was put in.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import orjson

from bench.locomo import asked, ranked, recalls, save
from bench.locomo_data import Conversation, read
from bench.tables import show
from memory_core.adapters.cosmos.items import numbers
from memory_core.adapters.embedders.minilm import MiniLMEmbedder
from memory_core.adapters.system import SystemClock
from memory_core.bootstrap.adapters import Adapters
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.memory import Vector
from memory_core.domain.ranking.recipes import CALIBRATIONS
from memory_core.domain.ranking.vectors import TokenStates
from memory_core.ports import Embedder, Health

Floats = npt.NDArray[np.float64]
WHOLE, SHORT = 1536, 512
LENGTHS = (1536, 1024, 768, 512, 384, 256)
DECAYS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
PUBLISHED = 61.6 / 62.3
TOP = 10
THRESHOLDS = {
    "MEMORY_COSINE_LOW": 0.0,
    "MEMORY_THEME_THRESHOLD": CALIBRATIONS["minilm"].theme_threshold,
    "MEMORY_CONTRADICTION_FLOOR": CALIBRATIONS["minilm"].contradiction_floor,
    "MEMORY_SCENE_THRESHOLD": CALIBRATIONS["minilm"].scene_threshold,
    "MEMORY_LINK_THRESHOLD": CALIBRATIONS["minilm"].link_threshold,
    "MEMORY_DUPLICATE_THRESHOLD": CALIBRATIONS["minilm"].duplicate_threshold,
}
"""What holds for the local embedder. Thresholds on relevance stay as they are,
once cosines mean the same.
"""


@dataclass(slots=True)
class Known:
    """An embedder that makes each text's vector once."""

    inner: Embedder
    vectors: dict[str, Vector]

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of texts, those made before from memory."""
        new = [text for text in dict.fromkeys(texts) if text not in self.vectors]
        for start in range(0, len(new), 64):
            part = new[start : start + 64]
            self.vectors.update(zip(part, await self.inner.embed(part), strict=True))
        return [self.vectors[text] for text in texts]


def lifted(decay: float, dimensions: int = WHOLE, source: int = 384) -> Floats:
    """A fixed orthonormal map to longer vectors; row i weighs about (i + 1) to the power
    of −decay / 2.
    """
    drawn = np.random.default_rng(7).standard_normal((dimensions, source))
    weighed = drawn * (np.arange(1, dimensions + 1)[:, None] ** (-decay / 2))
    made, _ = np.linalg.qr(weighed)
    return np.asarray(made, dtype=np.float64)


def shortened(vectors: Floats, length: int) -> Floats:
    """The first numbers, made a unit vector again."""
    cut = vectors[:, :length]
    return np.asarray(cut / np.linalg.norm(cut, axis=1, keepdims=True))


@dataclass(slots=True)
class Stand:
    """Stands in for a model with long vectors, at the port. digits: as Cosmos DB gets them;
    None = all.
    """

    known: Known
    turn: Floats
    dimensions: int
    digits: bool = False
    model: str = "simulated"
    whole_query: int = sys.maxsize

    async def open(self) -> None:
        """Nothing."""

    async def close(self) -> None:
        """Nothing."""

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """The lifted vectors, shortened."""
        if not texts:
            return []
        whole = np.array(await self.known.embed(texts), dtype=np.float64) @ self.turn.T
        made = list(shortened(whole, self.dimensions).astype(np.float32))
        return (
            [np.array(numbers(vector), dtype=np.float32) for vector in made]
            if self.digits
            else made
        )

    async def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """The same."""
        return await self.embed(texts)

    async def token_states(self, texts: Sequence[str]) -> list[TokenStates | None]:
        """None: a model behind a service has none to give."""
        return [None] * len(texts)

    async def check(self) -> Health:
        """Always."""
        return Health("simulated", "ok")


async def alone(
    conversations: Sequence[Conversation],
    known: Known,
    turn: Floats,
    length: int,
    *,
    digits: bool = False,
) -> float:
    """Recall@10 by the cosine alone."""
    recalls_at_ten = []
    for conversation in conversations:
        texts, names = (
            [turn.text for turn in conversation.turns],
            [turn.id for turn in conversation.turns],
        )
        asked_for = [question.text for question in conversation.questions]
        sides = [
            shortened(np.array(await known.embed(part), dtype=np.float64) @ turn.T, length)
            for part in (texts, asked_for)
        ]
        if digits:
            sides = [np.array([numbers(row.astype(np.float32)) for row in side]) for side in sides]
        order = np.argsort(-(sides[1] @ sides[0].T), axis=1)[:, :TOP]
        recalls_at_ten += [
            recalls(question, [names[place] for place in row])[1]
            for question, row in zip(conversation.questions, order, strict=True)
        ]
    return float(np.mean(recalls_at_ten))


async def by_product(conversations: Sequence[Conversation], stand: Stand) -> float:
    """Recall@10 of the default recipe, words and vectors, as with a model behind a service."""
    recalls_at_ten = []
    for conversation in conversations:
        with tempfile.TemporaryDirectory() as folder:
            settings = Settings(
                data=Path(folder),
                sqlite_synchronous="normal",
                learned_order=False,
                token_states=False,
            )
            adapters = Adapters.of(replaced(settings), SystemClock(), lambda units: None)
            with_ours = stored_by(replace(adapters, embedder=stand), Path(folder), stand)
            async with MemoryCore(settings, adapters=with_ours) as core:
                turns = await save(core, conversation)
                for question in conversation.questions:
                    look = await asked(core, conversation.name, question)
                    recalls_at_ten.append(
                        recalls(
                            question,
                            [turns[name] for name in ranked(core, look, lambda given: given)],
                        )[1]
                    )
    return float(np.mean(recalls_at_ten))


def replaced(settings: Settings) -> Settings:
    """The same with an embedder that loads nothing, since another takes its place."""
    return settings.model_copy(update={"embedding_provider": "hash"})


def stored_by(adapters: Adapters, folder: Path, stand: Stand) -> Adapters:
    """With a store for vectors of this length."""
    from memory_core.adapters.offline.thesaurus import RelatedWords
    from memory_core.adapters.sqlite.store import SqliteStore

    clock = SystemClock()
    store = SqliteStore(
        folder / "memory.db",
        clock=clock,
        embedding_model=stand.model,
        dimensions=stand.dimensions,
        synchronous="normal",
    )
    return replace(adapters, long_term=store, thesaurus=RelatedWords())


async def shorten(conversations: Sequence[Conversation]) -> None:
    """Print what shorter vectors and fewer digits cost."""
    known = Known(MiniLMEmbedder(), {})
    rows, losses = [], {}
    for decay in DECAYS:
        turn = lifted(decay)
        recall = [await alone(conversations, known, turn, length) for length in LENGTHS]
        losses[decay] = recall[LENGTHS.index(SHORT)] / recall[0]
        rows.append(
            [
                f"{decay:.1f}",
                f"{np.square(turn[:SHORT]).sum() / np.square(turn).sum():.2f}",
                *(f"{share:.4f}" for share in recall),
            ]
        )
    show(
        "Recall@10 by vectors alone, by how fast rows weigh less",
        ("decay", "of it in 512", *map(str, LENGTHS)),
        rows,
    )
    decay = min(DECAYS, key=lambda candidate: abs(losses[candidate] - PUBLISHED))
    turn = lifted(decay)
    print(
        f"\ndecay {decay}: vectors alone keep {losses[decay]:.4f} of their recall with 512 "
        f"numbers; published {PUBLISHED:.4f}",
        flush=True,
    )
    whole = np.array(list(known.vectors.values()), dtype=np.float64) @ turn.T
    lines = []
    for length, digits in ((WHOLE, False), (SHORT, False), (SHORT, True)):
        by_words = await by_product(conversations, Stand(known, turn, length, digits))
        by_vectors = await alone(conversations, known, turn, length, digits=digits)
        lines.append(
            [
                str(length),
                "5" if digits else "9",
                f"{by_vectors:.4f}",
                f"{by_words:.4f}",
                *map(str, wire(whole, length, digits=digits)),
            ]
        )
    headings = (
        "numbers",
        "digits",
        "vectors alone",
        "the product",
        "bytes a vector",
        "bytes a number",
        "largest error of a cosine",
    )
    show("Recall@10 and what a vector is as JSON", headings, lines)


def wire(whole: Floats, length: int, *, digits: bool) -> tuple[int, str, str]:
    """Mean bytes of a vector as JSON, of a number with its comma, and the largest error of
    20,000 cosines.
    """
    vectors = shortened(whole, length).astype(np.float32)[:2000]
    sent = [
        numbers(vector) if digits else [float(f"{value:.9g}") for value in vector.tolist()]
        for vector in vectors
    ]
    size = float(np.mean([len(orjson.dumps(body)) for body in sent]))
    drawn = np.random.default_rng(7).integers(0, len(vectors), (2, 20_000))
    exact, stored = vectors.astype(np.float64), np.array(sent, dtype=np.float32).astype(np.float64)
    errors = np.abs(
        (exact[drawn[0]] * exact[drawn[1]]).sum(axis=1)
        - (stored[drawn[0]] * stored[drawn[1]]).sum(axis=1)
    )
    return round(size), f"{size / length:.2f}", f"{errors.max():.1e}"


async def calibrate(conversations: Sequence[Conversation]) -> None:
    """Print the thresholds of the configured embedder at which as many pairs lie below as with the
    local embedder's own.
    """
    settings = Settings.from_env()
    adapters = Adapters.of(settings, SystemClock(), lambda units: None)
    pairs = drawn_pairs(conversations)
    ours, theirs = [
        await cosines(Known(embedder, {}), pairs)
        for embedder in (MiniLMEmbedder(), adapters.embedder)
    ]
    await adapters.embedder.close()
    rows = []
    for name, threshold in THRESHOLDS.items():
        share = float((ours < threshold).mean())
        rows.append([name, f"{threshold:.2f}", f"{share:.4f}", f"{np.quantile(theirs, share):.3f}"])
    show(
        f"Thresholds for {adapters.embedder.model}, {len(pairs)} pairs",
        ("setting", "minilm", "pairs below", "at the same share"),
        rows,
    )
    print(
        "\nMEMORY_COSINE_HIGH stays 1. Thresholds on relevance (MEMORY_ANSWER_THRESHOLD, "
        "MEMORY_RECALL_THRESHOLD) stay as they are."
    )


def drawn_pairs(conversations: Sequence[Conversation]) -> list[tuple[str, str]]:
    """Texts that follow each other, of different conversations, that ask and answer,
    and that say the same but for a word.
    """
    random = np.random.default_rng(7)
    pairs: list[tuple[str, str]] = []
    for place, conversation in enumerate(conversations):
        texts, by_id = (
            [turn.text for turn in conversation.turns],
            {turn.id: turn.text for turn in conversation.turns},
        )
        pairs += pairwise(texts)
        pairs += [
            (question.text, by_id[name])
            for question in conversation.questions
            for name in sorted(question.evidence)
        ]
        other = [turn.text for turn in conversations[place - 1].turns]
        pairs += [(text, other[random.integers(len(other))]) for text in texts]
        for text in texts[::2]:
            words = text.split()
            pairs.append(
                (
                    text,
                    " ".join(
                        words[: random.integers(len(words))] + words[random.integers(len(words)) :]
                    )
                    or text,
                )
            )
            left_out = random.integers(len(words))
            pairs.append((text, " ".join(words[:left_out] + words[left_out + 1 :]) or text))
    return pairs


async def cosines(known: Known, pairs: Sequence[tuple[str, str]]) -> Floats:
    """The cosine of each pair."""
    await known.embed([text for pair in pairs for text in pair])
    return np.array([float(known.vectors[text] @ known.vectors[other]) for text, other in pairs])


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=("shorten", "calibrate"))
    parser.add_argument("sets", nargs="+", type=Path, metavar="SET.json")
    given = parser.parse_args(arguments)
    conversations = [conversation for file in given.sets for conversation in read(file)]
    asyncio.run(shorten(conversations) if given.what == "shorten" else calibrate(conversations))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
