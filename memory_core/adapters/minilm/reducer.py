"""From the model's states of word pieces to what is kept of them: fewer numbers, fewer pieces, and what each piece says.

The table beside it has the combinations of a state's numbers that are kept, and how much each word piece says, both learned of questions
about conversations by `python -m bench.learn_tokens`. It holds numbers alone. Read when the first text is embedded.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memory_core.domain.ranking.vectors import MOST_TOKENS, States, TokenStates, encoded

TABLE = Path(__file__).with_name("token_states.npz")
RAREST = 10.0
"""What the rarest piece says; kept in one byte as a share of this."""


class Reducer:
    """Reduces states by a table, which is read when it is first needed."""

    def __init__(self, table: Path = TABLE) -> None:
        self._table = table

    @cached_property
    def basis(self) -> npt.NDArray[np.float32]:
        """States × this are the reduced states."""
        with np.load(self._table) as parts:
            return np.ascontiguousarray(parts["basis"], dtype=np.float32)

    @cached_property
    def worth(self) -> npt.NDArray[np.float32]:
        """By word piece, how much it says."""
        with np.load(self._table) as parts:
            worth: npt.NDArray[np.float32] = parts["worth"].astype(np.float32) * np.float32(RAREST / 255)
            return worth

    def kept(self, windows: Sequence[Sequence[int]], states: Sequence[States]) -> TokenStates:
        """What is kept of a text, given as its windows and the reduced states of each."""
        pieces = np.array([piece for window in windows for piece in window], dtype=np.int64)
        every = np.concatenate(states)
        kept = sampled_tokens(len(pieces))
        return TokenStates(encoded(every[kept]), self.worth[pieces[kept]])


def sampled_tokens(count: int) -> npt.NDArray[np.int64]:
    """Places of the tokens that are kept of `count`: all, or MOST_TOKENS evenly from the first to the last."""
    return np.arange(count) if count <= MOST_TOKENS else np.linspace(0, count - 1, MOST_TOKENS).astype(np.int64)
