"""The reduction of token states, learned of questions and their evidence:
`python -m bench.learn_tokens SET.json… --keep DIR [--write]`.

Each SET is a file of conversations as `bench.locomo_data` reads it. The states of a text's tokens
have 384 numbers, of which `DIMENSIONS` combinations are kept with a memory. A direction in which
states differ much need not tell an answer from what merely sounds alike, so the combinations start
as the directions of most variance and are then moved until the evidence of a question has a higher
score than other turns of its conversation. The score is late interaction (MaxSim, Khattab and
Zaharia 2020, "ColBERT"): the mean, over the query's tokens, of the cosine with the nearest token of
the turn, weighed by how much each word piece says.

DIR gets a table for each fold, learned without that fold's conversations, for `bench.learn_order`.
Note: what is said of left-out conversations is what to expect elsewhere. States that were kept with
another table can't be compared with those of a new one: raise `token_states.VERSION` when a new
table is written.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.locomo_data import Conversation, read
from bench.tables import show
from memory_core.adapters.embedders.minilm_model import DIMENSIONS as STATE_NUMBERS
from memory_core.adapters.embedders.minilm_model import (
    MAX_TOKENS,
    RAREST,
    TABLE,
    MiniLM,
    sampled_tokens,
)
from memory_core.domain.memory import MemoryType
from memory_core.domain.ranking.index_terms import EMBEDDED_CHARACTERS, embedding_text
from memory_core.domain.ranking.passages import idf
from memory_core.domain.ranking.vectors import DIMENSIONS, MOST_TOKENS

Floats = npt.NDArray[np.float32]
FOLDS, NO_FOLD = 5, -1
LEADING = 160
"""Directions of most variance that combinations are made of."""
EPOCHS, BATCH = 2, 16
NEGATIVES, BESIDE = 240, 3
"""Of a question: turns of its conversation that are no evidence, and of these surely how many
before and after each evidence.
"""
RATE, WORTH_RATE, SCALE_RATE, LEAST_RATE = 2e-3, 1e-2, 1e-2, 0.05
"""Steps of the combinations, of the pieces' worth, of the scores' scale, and the share of them that
is left at the end.
"""
RIDGE, WORTH_RIDGE = 20.0, 2e-3
"""How strongly combinations and worth are drawn back to where they started."""
SHARE = 20.0
"""How much all questions of a set count together, by the root of their number."""
FIRST_SCALE = 20.0
LEAST_WORTH = 1e-3
TOP = 10
ADVERSARIAL = "adversarial"


@dataclass(frozen=True, slots=True)
class Text:
    """A turn or a question. pieces: its word pieces, n. states: theirs, each of length 1,
    n × numbers.
    """

    pieces: npt.NDArray[np.int64]
    states: Floats


@dataclass(frozen=True, slots=True)
class Example:
    """A question of a conversation. of: the place of its set. evidence: places of turns. fold:
    the one that leaves it out.
    """

    of: int
    fold: int
    kind: str
    asked: Text
    turns: Sequence[Text]
    evidence: Sequence[int]


@dataclass
class Reduction:
    """What is learned. combinations: LEADING × DIMENSIONS. worth: the logarithm of what each word
    piece says more than its rareness.
    """

    combinations: Floats
    worth: Floats
    scale: float


class Encoder:
    """Reads texts with MiniLM, whole states in half precision."""

    def __init__(self, model: MiniLM) -> None:
        self._model = model
        self._whole = np.eye(STATE_NUMBERS, dtype=np.float32)

    def text(self, content: str) -> Text:
        """The states that would be kept of a text, not yet reduced."""
        pieces = self._model.tokens(content)
        windows = [
            pieces[start : start + MAX_TOKENS] for start in range(0, len(pieces), MAX_TOKENS)
        ]
        states = [self._model.read([window], self._whole)[0][1] for window in windows]
        sampled = sampled_tokens(len(pieces))
        every = np.concatenate(states) if states else np.zeros((0, STATE_NUMBERS), dtype=np.float32)
        return Text(np.array(pieces, dtype=np.int64)[sampled], every[sampled].astype(np.float16))


def examples_of(encoder: Encoder, file: Path, of: int, *, is_left_out: bool) -> Iterator[Example]:
    """The questions of a set whose evidence can be found at all. is_left_out: whether its
    conversations have folds.
    """
    conversations = read(file)
    in_fold = fold_size(len(conversations))
    for place, conversation in enumerate(conversations):
        turns = [encoder.text(turn) for turn in embedded_turns(conversation)]
        known = {
            turn.id: row for row, turn in enumerate(conversation.turns) if len(turns[row].pieces)
        }
        for question in conversation.questions:
            evidence = sorted(known[turn] for turn in question.evidence if turn in known)
            asked = encoder.text(question.text)
            if evidence and len(asked.pieces):
                fold = place // in_fold % FOLDS if is_left_out else NO_FOLD
                yield Example(of, fold, question.kind, asked, turns, evidence)
        print(f"{file.stem}: {conversation.name}, {len(turns)} turns", flush=True)


def fold_size(conversations: int) -> int:
    """How many conversations of a set a fold leaves out, one after the other."""
    return -(-conversations // FOLDS)


def embedded_turns(conversation: Conversation) -> list[str]:
    """The turns as they are embedded when they are saved."""
    return [
        embedding_text(
            MemoryType.EPISODIC,
            turn.text[:EMBEDDED_CHARACTERS],
            actor=turn.actor,
            event_timestamp=datetime.fromisoformat(turn.at),
        )
        for turn in conversation.turns
    ]


def leading_directions(sets: Iterable[Sequence[Text]]) -> Floats:
    """The directions in which states differ most, numbers × LEADING, the most first. Each set of
    texts counts as much as any other.
    """
    total = np.zeros((STATE_NUMBERS, STATE_NUMBERS))
    for texts in sets:
        states = sum(
            (text.states.astype(np.float64).T @ text.states.astype(np.float64) for text in texts),
            np.zeros_like(total),
        )
        total += states / np.trace(states)
    directions: Floats = np.linalg.eigh(total)[1][:, ::-1][:, :LEADING].astype(np.float32)
    return directions


def rareness(texts: Sequence[Text], vocabulary: int) -> Floats:
    """The inverse document frequency of each word piece over the short texts: a long one has words
    of everything.
    """
    short = [text for text in texts if len(text.pieces) < MOST_TOKENS]
    counted = Counter(int(piece) for text in short for piece in np.unique(text.pieces))
    rare: Floats = idf((counted[piece] for piece in range(vocabulary)), len(short), floor=0).astype(
        np.float32
    )
    worth: Floats = np.minimum(rare, RAREST) + np.float32(LEAST_WORTH)
    return worth


def led(text: Text, directions: Floats) -> Text:
    """The text's states on the leading directions."""
    return Text(text.pieces, text.states.astype(np.float32) @ directions)


def normalised(states: Floats) -> tuple[Floats, Floats]:
    """Each state as long as any other, and how long it was, n × 1."""
    lengths = np.maximum(np.linalg.norm(states, axis=1, keepdims=True), 1e-9)
    return states / lengths, lengths


def learn(examples: Sequence[Example], rare: Floats) -> Reduction:
    """Combinations and worth by which evidence scores higher than what is none;
    steps by Adam (Kingma and Ba 2015).

    The loss of a piece of evidence is minus the logarithm of its share against all drawn turns
    that are none.
    """
    first = np.eye(LEADING, DIMENSIONS, dtype=np.float32)
    learned = Reduction(
        first.copy(), np.zeros(len(rare), dtype=np.float32), float(np.log(FIRST_SCALE))
    )
    counts = Counter(example.of for example in examples)
    random = np.random.default_rng(0)
    steps = _Adam(), _Adam(), _Adam()
    whole = EPOCHS * len(examples)
    order = np.concatenate([random.permutation(len(examples)) for _ in range(EPOCHS)])
    for start in range(0, whole - BATCH + 1, BATCH):
        slopes = [np.zeros_like(first), np.zeros_like(rare), np.zeros(1, dtype=np.float32)]
        for place in order[start : start + BATCH]:
            example = examples[place]
            counted = SHARE / np.sqrt(counts[example.of]) / BATCH
            for slope, part in zip(slopes, _slopes(learned, example, rare, random), strict=True):
                slope += counted * part
        slopes[0] += 2 * RIDGE / len(examples) * (learned.combinations - first)
        slopes[1] += 2 * WORTH_RIDGE * learned.worth / BATCH
        left = max(LEAST_RATE, 1 - start / whole)
        learned.combinations -= steps[0].step(slopes[0]) * np.float32(RATE * left)
        learned.worth -= steps[1].step(slopes[1]) * np.float32(WORTH_RATE * left)
        learned.scale -= float(steps[2].step(slopes[2])[0]) * SCALE_RATE
    return learned


class _Adam:
    """Of one parameter: each number's mean slope over the root of its mean square."""

    def __init__(self) -> None:
        self._mean: Floats | float = 0.0
        self._square: Floats | float = 0.0
        self._steps = 0

    def step(self, slope: Floats) -> Floats:
        self._steps += 1
        self._mean = 0.9 * self._mean + 0.1 * slope
        self._square = 0.999 * self._square + 0.001 * slope**2
        mean, square = self._mean / (1 - 0.9**self._steps), self._square / (1 - 0.999**self._steps)
        stepped: Floats = (mean / (np.sqrt(square) + 1e-8)).astype(np.float32)
        return stepped


def _slopes(
    learned: Reduction, example: Example, rare: Floats, random: np.random.Generator
) -> tuple[Floats, Floats, float]:
    """Of the loss of one question by combinations, worth and the scores' scale."""
    rows = [*example.evidence, *_drawn(example, random)]
    count = len(example.evidence)
    leading = np.concatenate([example.turns[row].states for row in rows])
    lengths = [len(example.turns[row].pieces) for row in rows]
    starts = np.cumsum([0, *lengths[:-1]])
    states, state_lengths = normalised(leading @ learned.combinations)
    asked, asked_lengths = normalised(example.asked.states @ learned.combinations)
    near = states @ asked.T
    nearest = np.maximum.reduceat(near, starts, axis=0)
    pieces = example.asked.pieces
    worth = rare[pieces] * np.exp(learned.worth[pieces])
    worth /= worth.sum()
    scores = nearest @ worth
    scale = np.exp(learned.scale)
    to_scores = scale * _loss_slope(scale * scores, count)
    to_near = (near == np.repeat(nearest, lengths, axis=0)) * np.repeat(
        to_scores[:, None] * worth, lengths, axis=0
    )
    by_combinations = leading.T @ _before_normalised(to_near @ asked, states, state_lengths)
    by_combinations += example.asked.states.T @ _before_normalised(
        to_near.T @ states, asked, asked_lengths
    )
    by_worth = np.zeros_like(learned.worth)
    np.add.at(by_worth, pieces, worth * ((nearest - scores[:, None]).T @ to_scores))
    return by_combinations, by_worth, float(scores @ to_scores)


def _drawn(example: Example, random: np.random.Generator) -> list[int]:
    """Turns that are no evidence: those beside it, and others by chance."""
    worded = [row for row, turn in enumerate(example.turns) if len(turn.pieces)]
    others = [row for row in worded if row not in example.evidence]
    beside = {
        row + step for row in example.evidence for step in range(-BESIDE, BESIDE + 1)
    }.intersection(others)
    by_chance = random.choice(others, min(NEGATIVES, len(others)), replace=False).tolist()
    return list(dict.fromkeys([*sorted(beside), *by_chance]))


def _loss_slope(scores: Floats, count: int) -> Floats:
    """Of the mean loss of the first `count` scores, each against all that follow these."""
    top = float(scores.max())
    powers = np.exp(scores - top)
    others = float(powers[count:].sum())
    shares = powers[:count] / (powers[:count] + others)
    slope = np.empty_like(scores)
    slope[:count] = (shares - 1) / count
    slope[count:] = powers[count:] * float((1 / (powers[:count] + others)).sum()) / count
    return slope


def _before_normalised(slope: Floats, unit: Floats, lengths: Floats) -> Floats:
    """The slope by the states before they were made of one length."""
    before: Floats = (slope - unit * (slope * unit).sum(axis=1, keepdims=True)) / lengths
    return before


def scores_of(turns: Sequence[Text], asked: Text, reduction: Reduction, rare: Floats) -> Floats:
    """The late interaction of a question with each of n turns, none of them empty: n numbers."""
    states, _ = normalised(np.concatenate([turn.states for turn in turns]) @ reduction.combinations)
    query, _ = normalised(asked.states @ reduction.combinations)
    starts = np.cumsum([0, *(len(turn.pieces) for turn in turns[:-1])])
    worth = rare[asked.pieces] * np.exp(reduction.worth[asked.pieces])
    scores: Floats = np.maximum.reduceat(states @ query.T, starts, axis=0) @ (worth / worth.sum())
    return scores


def recall(example: Example, reduction: Reduction, rare: Floats) -> float:
    """The share of the evidence among the first ten turns by late interaction alone."""
    rows = [row for row, turn in enumerate(example.turns) if len(turn.pieces)]
    scores = scores_of([example.turns[row] for row in rows], example.asked, reduction, rare)
    best = np.argsort(-scores, kind="stable")[:TOP]
    return len({rows[row] for row in best}.intersection(example.evidence)) / len(example.evidence)


def write_table(file: Path, directions: Floats, reduction: Reduction, rare: Floats) -> None:
    """The table that `adapters.minilm.reducer` reads."""
    worth = rare * np.exp(reduction.worth)
    in_bytes = np.rint(np.minimum(worth, RAREST) / RAREST * 255).astype(np.uint8)
    np.savez_compressed(
        file, basis=(directions @ reduction.combinations).astype(np.float16), worth=in_bytes
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Read, learn, print and write."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.learn_tokens", description="Learns how token states are reduced."
    )
    parser.add_argument(
        "data", type=Path, nargs="+", help="conversations in a form that bench.locomo_data reads"
    )
    parser.add_argument(
        "--beside",
        type=Path,
        nargs="*",
        default=[],
        help="further conversations, only learned of: in no fold, not reported",
    )
    parser.add_argument(
        "--keep", type=Path, required=True, help="a folder for the tables of the folds"
    )
    parser.add_argument(
        "--write",
        type=Path,
        nargs="?",
        const=TABLE,
        help="write the table (default where the product reads it)",
    )
    options = parser.parse_args(arguments)
    model = MiniLM()
    encoder = Encoder(model)
    examples = [
        example
        for of, file in enumerate([*options.data, *options.beside])
        for example in examples_of(encoder, file, of, is_left_out=of < len(options.data))
    ]
    examples, directions, rare = prepared(examples, model.vocabulary)
    options.keep.mkdir(parents=True, exist_ok=True)
    before = Reduction(np.eye(LEADING, DIMENSIONS, dtype=np.float32), np.zeros_like(rare), 0.0)
    recalls: dict[str, list[tuple[Example, float]]] = {
        "directions of most variance": [],
        "learned, left out": [],
    }
    for fold in range(FOLDS):
        learned = learn([example for example in examples if example.fold != fold], rare)
        write_table(options.keep / table_name(fold), directions, learned, rare)
        for name, reduction in zip(recalls, (before, learned), strict=True):
            recalls[name] += [
                (example, recall(example, reduction, rare))
                for example in examples
                if example.fold == fold
            ]
        print(f"fold {fold} of {FOLDS}", flush=True)
    names = [file.stem for file in options.data]
    show(
        "recall@10 by late interaction alone",
        ("", *names),
        [[name, *_means(each, len(names))] for name, each in recalls.items()],
    )
    if options.write:
        write_table(options.write, directions, learn(examples, rare), rare)
    return 0


def prepared(examples: Sequence[Example], vocabulary: int) -> tuple[list[Example], Floats, Floats]:
    """The examples on the leading directions, these, and the rareness of word pieces,
    all of the turns of the examples.
    """
    talks = {id(example.turns): (example.of, example.turns) for example in examples}
    sets = [
        [text for of, turns in talks.values() if of == place for text in turns]
        for place in {of for of, _ in talks.values()}
    ]
    directions, rare = (
        leading_directions(sets),
        rareness([text for texts in sets for text in texts], vocabulary),
    )
    reduced = {
        name: [led(text, directions) for text in turns] for name, (_, turns) in talks.items()
    }
    on_directions = [
        replace(example, asked=led(example.asked, directions), turns=reduced[id(example.turns)])
        for example in examples
    ]
    return on_directions, directions, rare


def table_name(fold: int) -> str:
    """The file of the table that was learned without a fold's conversations."""
    return f"token_states_without_{fold}.npz"


def _means(recalls: Sequence[tuple[Example, float]], sets: int) -> list[str]:
    """By set, over questions that have an answer."""
    return [
        f"{np.mean([share for example, share in recalls if example.of == of and example.kind != ADVERSARIAL]):.3f}"  # noqa: E501
        for of in range(sets)
    ]


if __name__ == "__main__":
    raise SystemExit(main())
