import numpy as np
import pytest

from bench import learn_tokens
from bench.learn_tokens import LEADING, Example, Reduction, Text, learn, recall, write_table
from memory_core.adapters.embedders.minilm_model import Reducer
from memory_core.domain.ranking.vectors import DIMENSIONS, state_bytes

VOCABULARY = 50


def text(random, count, direction=None):
    states = random.normal(size=(count, LEADING)).astype(np.float32)
    if direction is not None:
        states[:, direction] += 3.0
    return Text(random.integers(0, VOCABULARY, count), states)


def example(random, *, fold=0, turns=40):
    """A question whose evidence is alike in a direction that the first combinations leave out."""
    texts = [
        text(random, int(random.integers(2, 6)), DIMENSIONS + 5 if turn == 7 else None)
        for turn in range(turns)
    ]
    return Example(0, fold, "", text(random, 4, DIMENSIONS + 5), texts, [7])


@pytest.fixture
def random():
    return np.random.default_rng(5)


def test_the_slopes_are_those_of_the_loss(random, monkeypatch):
    question, rare = example(random), np.ones(VOCABULARY, dtype=np.float32)
    monkeypatch.setattr(
        learn_tokens, "_drawn", lambda example, random: [row for row in range(40) if row != 7]
    )
    started = Reduction(
        np.eye(LEADING, DIMENSIONS, dtype=np.float32), np.zeros(VOCABULARY, dtype=np.float32), 1.0
    )
    by_combinations, by_worth, by_scale = learn_tokens._slopes(started, question, rare, random)

    def loss(combinations, worth, scale):
        scores = np.exp(scale) * learn_tokens.scores_of(
            question.turns, question.asked, Reduction(combinations, worth, scale), rare
        )
        return float(np.log(np.exp(scores).sum()) - scores[7])

    at, step = (started.combinations, started.worth, started.scale), 1e-2
    for place in ((DIMENSIONS + 5, 3), (2, 2), (9, 40)):
        moved = [np.copy(at[0]), np.copy(at[0])]
        moved[0][place] += step
        moved[1][place] -= step
        expected = (loss(moved[0], *at[1:]) - loss(moved[1], *at[1:])) / (2 * step)
        assert by_combinations[place] == pytest.approx(expected, rel=0.05, abs=2e-3)
    piece = int(question.asked.pieces[0])
    moved = [np.copy(at[1]), np.copy(at[1])]
    moved[0][piece] += step
    moved[1][piece] -= step
    assert by_worth[piece] == pytest.approx(
        (loss(at[0], moved[0], at[2]) - loss(at[0], moved[1], at[2])) / (2 * step),
        rel=0.05,
        abs=2e-3,
    )
    assert by_scale == pytest.approx(
        (loss(*at[:2], at[2] + step) - loss(*at[:2], at[2] - step)) / (2 * step), rel=0.05, abs=2e-3
    )


def test_what_tells_answers_apart_is_learned_although_it_differs_little(random, monkeypatch):
    monkeypatch.setattr(learn_tokens, "EPOCHS", 6)
    monkeypatch.setattr(learn_tokens, "RATE", 4e-2)
    rare = np.ones(VOCABULARY, dtype=np.float32)
    seen, unseen = [example(random) for _ in range(40)], [example(random) for _ in range(20)]
    first = Reduction(
        np.eye(LEADING, DIMENSIONS, dtype=np.float32), np.zeros(VOCABULARY, dtype=np.float32), 0.0
    )
    learned = learn(seen, rare)
    assert (
        np.mean([recall(question, learned, rare) for question in unseen])
        > np.mean([recall(question, first, rare) for question in unseen]) + 0.3
    )


def test_a_written_table_is_what_the_embedder_reduces_by(random, tmp_path):
    directions = np.linalg.qr(random.normal(size=(384, LEADING)))[0].astype(np.float32)
    reduction = Reduction(
        np.eye(LEADING, DIMENSIONS, dtype=np.float32), np.zeros(VOCABULARY, dtype=np.float32), 0.0
    )
    write_table(
        tmp_path / "table.npz", directions, reduction, np.full(VOCABULARY, 5.0, dtype=np.float32)
    )
    reducer = Reducer(tmp_path / "table.npz")
    assert reducer.basis.shape == (384, DIMENSIONS)
    states = reducer.encode_states([3, 4], random.normal(size=(2, DIMENSIONS)).astype(np.float32))
    assert state_bytes(states.states) is not None
    assert states.worth == pytest.approx([5.0, 5.0], abs=0.03)
