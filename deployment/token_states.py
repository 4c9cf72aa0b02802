"""Makes the table that reduces tokens' states: `python -m deployment.token_states SET.json… --rare SET.json…`.

Each SET is a file of conversations as `bench.locomo_data` reads it. The directions are those in which the states of word pieces differ most
in 150 turns of each set's first conversation; how rare a piece is, is counted over all turns of the sets behind `--rare`, whose turns
should be short. Note: states that were kept with another table can't be compared with those of a new one.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.locomo_data import Turn, read
from memory_core.adapters.minilm.model import DIMENSIONS as STATE_NUMBERS
from memory_core.adapters.minilm.model import MiniLM
from memory_core.adapters.minilm.reducer import RAREST, TABLE
from memory_core.domain.bm25 import idf
from memory_core.domain.lexical import embedding_text
from memory_core.domain.models import MemoryType
from memory_core.domain.token_states import DIMENSIONS

TURNS, PIECES = 150, 120
"""Of a set that directions are taken from, and of a turn."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the table."""
    parser = argparse.ArgumentParser(prog="python -m deployment.token_states", description="Makes the table that reduces tokens' states.")
    parser.add_argument("data", type=Path, nargs="+", help="conversations that directions are taken from")
    parser.add_argument("--rare", type=Path, nargs="+", required=True, help="conversations that pieces are counted in")
    options = parser.parse_args(arguments)
    model = MiniLM()
    basis = directions(model, (model.tokens(turn.text)[:PIECES] for file in options.data for turn in read(file)[0].turns[:TURNS]))
    worth = rareness(model, (turn for file in options.rare for conversation in read(file) for turn in conversation.turns))
    np.savez_compressed(TABLE, basis=basis.astype(np.float16), worth=np.rint(np.minimum(worth, RAREST) / RAREST * 255).astype(np.uint8))


def pieces(model: MiniLM, turn: Turn) -> list[int]:
    """The word pieces of a turn as it is embedded."""
    at = datetime.fromisoformat(turn.at)
    return model.tokens(embedding_text(MemoryType.EPISODIC, turn.text, actor=turn.actor, event_timestamp=at))


def directions(model: MiniLM, texts: Iterable[list[int]]) -> npt.NDArray[np.float64]:
    """The leading directions of the states, each made as long as any other."""
    whole = np.eye(STATE_NUMBERS, dtype=np.float32)
    total = np.zeros((STATE_NUMBERS, STATE_NUMBERS))
    for text in texts:
        if text:
            ((_, states),) = model.read([text], whole)
            total += states.T.astype(np.float64) @ states
    found: npt.NDArray[np.float64] = np.linalg.eigh(total)[1][:, ::-1][:, :DIMENSIONS]
    return found


def rareness(model: MiniLM, turns: Iterable[Turn]) -> npt.NDArray[np.float64]:
    """The inverse document frequency of each word piece over the turns."""
    texts = [set(pieces(model, turn)) for turn in turns]
    counted = Counter(piece for text in texts for piece in text)
    return idf((counted[piece] for piece in range(model.vocabulary)), len(texts), floor=0)


if __name__ == "__main__":
    main()
