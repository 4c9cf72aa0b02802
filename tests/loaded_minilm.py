"""The local embedder for tests that ask for its vectors, and not how it loads."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from memory_core.adapters.embedders.minilm import MiniLM, MiniLMEmbedder
from memory_core.domain.memory import Vector
from memory_core.domain.ranking.vectors import States


class LoadedMiniLM(MiniLMEmbedder):
    """One of several on a model that the process loads once, since loading takes a quarter
    of a second, and that reads a text once: it has the same vector in any company.
    """

    def _loaded(self) -> MiniLM:
        return _model()

    def _run(
        self, windows: Sequence[Sequence[int]], sampled: Sequence[npt.NDArray[np.int64]]
    ) -> list[tuple[Vector, States]]:
        if self._reducer is not None:
            return super()._run(windows, sampled)
        unread = [place for place, window in enumerate(windows) if tuple(window) not in _READ]
        if unread:
            made = super()._run([windows[n] for n in unread], [sampled[n] for n in unread])
            for place, (vector, states) in zip(unread, made, strict=True):
                _READ[tuple(windows[place])] = vector.copy(), states.copy()
        return [_READ[tuple(window)] for window in windows]


_READ: dict[tuple[int, ...], tuple[Vector, States]] = {}


@cache
def _model() -> MiniLM:
    return MiniLM()
