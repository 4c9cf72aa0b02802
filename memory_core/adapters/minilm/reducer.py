"""From the model's states of word pieces to what is kept of them: fewer numbers, fewer pieces, and what each piece says.

The table beside it has the directions in which the states of word pieces differ most, and how rare each piece is, both counted over turns
of conversations by `python -m deployment.token_states`. It holds numbers alone. Read when the first text is embedded.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memory_core.domain.token_states import MOST_TOKENS, States, TokenStates, encoded

TABLE = Path(__file__).with_name("token_states.npz")
RAREST = 10.0
"""What the rarest piece says; kept in one byte as a share of this."""


class Reducer:
    """Reduces states by the table."""

    @cached_property
    def basis(self) -> npt.NDArray[np.float32]:
        """States × this are the reduced states."""
        with np.load(TABLE) as parts:
            return np.ascontiguousarray(parts["basis"], dtype=np.float32)

    @cached_property
    def worth(self) -> npt.NDArray[np.float32]:
        """By word piece, how much it says."""
        with np.load(TABLE) as parts:
            worth: npt.NDArray[np.float32] = parts["worth"].astype(np.float32) * np.float32(RAREST / 255)
            return worth

    def kept(self, windows: Sequence[Sequence[int]], states: Sequence[States]) -> TokenStates:
        """What is kept of a text, given as its windows and the reduced states of each."""
        pieces = np.array([piece for window in windows for piece in window], dtype=np.int64)
        every = np.concatenate(states)
        if len(pieces) > MOST_TOKENS:
            places = np.linspace(0, len(pieces) - 1, MOST_TOKENS).astype(np.int64)
            pieces, every = pieces[places], every[places]
        return TokenStates(encoded(every), self.worth[pieces])
