"""Makes the table of related words: `python -m deployment.related_words WORDS NAMES`.

Both are lists with one word a line, such as Debian's packages `wamerican-small` and `wamerican`
install (SCOWL). To the words of the first come those that the embedder has a piece of its own for.
A stem that the second list knows with a capital only is a name and stays out.

Note: all word vectors share one direction, which is subtracted first. With it, everything is near
everything, and a likeness above 0.35 means nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memory_core.adapters.embedders.minilm_model import MiniLM
from memory_core.adapters.offline.thesaurus import SCALE, TABLE
from memory_core.domain.text.analyzer import tokens

MOST, LEAST, ZERO = 24, 0.35, 0.3
"""Neighbours kept of a stem; the least cosine of one; the cosine that counts as 0."""
FORMS = 3
"""Forms of a stem whose mean is its vector: "move", "moved", "moving"."""
_WORD = re.compile(r"[a-z]{2,}")


def main(arguments: Sequence[str]) -> int:
    """Make the table."""
    model = MiniLM(2)
    pieces = sorted(model._tokenizer.get_vocab().items(), key=lambda piece: piece[1])
    plain = [word for word, _ in pieces] + Path(arguments[0]).read_text().split()
    names = _names(Path(arguments[1]).read_text().split())
    forms = {
        stem: of[:FORMS]
        for stem, of in _forms(word for word in plain if _WORD.fullmatch(word)).items()
        if stem not in names
    }
    vectors = _vectors(model, [word for of in forms.values() for word in of])
    stems = list(forms)
    matrix = np.array([np.mean([vectors[word] for word in forms[stem]], axis=0) for stem in stems])
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    matrix -= matrix.mean(axis=0)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    lists = [_nearest(matrix, row) for row in range(len(stems))]
    np.savez_compressed(
        TABLE,
        stems=np.frombuffer(" ".join(stems).encode("ascii"), dtype=np.uint8),
        ends=np.cumsum([len(rows) for rows, _ in lists]),
        words=np.concatenate([rows for rows, _ in lists]).astype(np.uint16),
        likeness=np.concatenate([likeness for _, likeness in lists]),
    )
    print(
        f"{len(stems):,} stems, {sum(len(rows) for rows, _ in lists):,} neighbours, "
        f"{TABLE.stat().st_size:,} bytes"
    )
    return 0


def _names(known: Iterable[str]) -> set[str]:
    capital, lower = set(), set()
    for word in known:
        if word.isalpha() and word.isascii():
            (lower if word.islower() else capital).update(tokens(word))
    return capital - lower


def _forms(plain: Iterable[str]) -> dict[str, list[str]]:
    """Stem → its forms, those first that came first."""
    forms: dict[str, list[str]] = {}
    for word in dict.fromkeys(plain):
        for stem in tokens(word):
            forms.setdefault(stem, []).append(word)
    return forms


def _vectors(model: MiniLM, plain: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
    pieces = {word: model.tokens(word) for word in plain}
    ordered = sorted(pieces, key=lambda word: len(pieces[word]))
    made: dict[str, npt.NDArray[np.float32]] = {}
    for start in range(0, len(ordered), 64):
        batch = ordered[start : start + 64]
        made.update(zip(batch, model.vectors([pieces[word] for word in batch]), strict=True))
    return made


def _nearest(
    matrix: npt.NDArray[np.float32], row: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    cosine = matrix @ matrix[row]
    cosine[row] = -1.0
    best = np.argpartition(-cosine, MOST)[:MOST]
    best = best[cosine[best] > LEAST]
    best = best[np.argsort(-cosine[best], kind="stable")]
    return best, np.rint(SCALE * np.clip((cosine[best] - ZERO) / (1.0 - ZERO), 0.0, 1.0)).astype(
        np.uint8
    )


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
