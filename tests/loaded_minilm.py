"""The local embedder for tests that ask for its vectors, and not how it loads."""

from __future__ import annotations

from functools import cache

from memory_core.adapters.embedders.minilm import MiniLM, MiniLMEmbedder


class LoadedMiniLM(MiniLMEmbedder):
    """One of several on a model that the process loads once, since loading takes a quarter
    of a second.
    """

    def _loaded(self) -> MiniLM:
        return _model()


@cache
def _model() -> MiniLM:
    return MiniLM()
