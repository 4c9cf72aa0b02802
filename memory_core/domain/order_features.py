"""What a learned order knows of each candidate: numbers that relevance has anyway, its neighbours', its session's, and its tokens'.

Note: nothing here says whether a memory answers. Features are compared within one query, and only their weighted sum is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from memory_core.domain.bm25 import ORDER_B, ORDER_K1, saturation
from memory_core.domain.candidates import CandidateSet, Floats, Ints
from memory_core.domain.passage_share import covered_share
from memory_core.domain.token_states import States

ASSISTANTS = frozenset({"assistant", "ai", "bot"})
"""Speakers who are the other side of a chat: what they say at length is rarely what a person told."""
RANKS = 10
"""The rank in a list at which its feature is a half."""
BEST_OF_SESSION = 3
LONG, SHORT = 40, 8
"""Terms above which a text is long, and below which it is short."""
TOKEN_FEATURES = ("tokens", "tokens_below", "tokens_before", "tokens_after", "tokens_around", "session_tokens", "session_tokens_three")


def word_features(candidates: CandidateSet, own: Floats, covered: Floats, worth: Floats, mean_length: float) -> dict[str, Floats]:
    """What the words say.

    Args:
        candidates: With the columns of the query's terms.
        own: U × T, whether each says each term itself.
        covered: U × T, how well each covers each term.
        worth: Of each term, T or U × T.
        mean_length: Of the user's memories, at least 1.

    """
    most_worth = worth if worth.ndim == 1 else worth.max(axis=0)
    textbook = saturation(candidates.tf, candidates.length, mean_length, ORDER_K1, ORDER_B)
    near = np.zeros(own.shape) if candidates.near is None else np.where(candidates.own, 0.0, candidates.near)
    return {
        "own_words": covered_share(own, worth),
        "covered": covered_share(covered, worth),
        "near_words": covered_share(near, worth),
        "said_or_before": covered_share((candidates.tf > 0).astype(np.float64), worth),
        "words_after": covered_share(_of(own, candidates.after), worth),
        "words_before": covered_share(_of(own, candidates.before), worth),
        "own_terms": own.mean(axis=1),
        "rarest": own[:, int(np.argmax(most_worth))],
        "bm25": covered_share(textbook, worth),
    }


def place_features(candidates: CandidateSet, score: Floats) -> dict[str, Floats]:
    """What the turns beside a candidate come to, its length, its places in the lists, and who speaks how."""
    beside = [_of(score, candidates.before), _of(score, candidates.after)]
    two_away = [_of(score, _again(candidates.before)), _of(score, _again(candidates.after))]
    length = np.log(np.maximum(candidates.own_length, 1.0))
    says_i = candidates.says_i if len(candidates.says_i) else np.full(len(candidates), np.nan)
    found = {
        "relevance_before": beside[0],
        "relevance_after": beside[1],
        "relevance_two_away": np.maximum(*two_away),
        "question": candidates.asks.astype(np.float64),
        "tells_time": candidates.tells_time.astype(np.float64),
        "length": length,
        "long": np.maximum(length - np.log(LONG), 0.0),
        "short": (candidates.own_length < SHORT).astype(np.float64),
        "assistant": np.array([(actor or "").casefold() in ASSISTANTS for actor in candidates.actor], dtype=np.float64),
        "first_person": says_i,
    }
    for name in ("vector", "lexical"):
        ranks = {one: rank for rank, one in enumerate(candidates.lists.get(name, ()))}
        rank = np.array([ranks.get(one, np.inf) for one in candidates.ids], dtype=np.float64)
        found |= {f"{name}_rank": RANKS / (RANKS + rank), f"in_{name}": np.isfinite(rank).astype(np.float64)}
    return found


def session_features(sessions: Ints, score: Floats, cosine: Floats, own: Floats | None, worth: Floats | None) -> dict[str, Floats]:
    """What the candidates of each one's session come to together. sessions: of each a number (`session_numbers`)."""
    count = int(sessions.max(initial=-1)) + 1
    words = np.zeros(len(sessions))
    if own is not None and worth is not None:
        said = np.zeros((count, own.shape[1]))
        np.maximum.at(said, sessions, own)
        most_worth = worth if worth.ndim == 1 else worth.max(axis=0)
        words = (said @ (most_worth / max(float(most_worth.sum()), 1e-9)))[sessions]
    return {
        "session_best": _best(sessions, score, count)[sessions],
        "session_three": _three_best(sessions, score, count)[sessions],
        "session_words": words,
        "session_cosine": _best(sessions, cosine, count)[sessions],
    }


def token_features(candidates: CandidateSet, sessions: Ints, near: States, worth: States) -> dict[str, Floats]:
    """How near tokens come to those of the query. near: U × Q (`nearest_tokens`), NaN where unknown; worth: of the query's tokens."""
    known = ~np.isnan(near[:, 0])
    share = worth / max(float(worth.sum()), 1e-9)
    filled = np.where(known[:, None], near, 0.0)
    tokens = filled @ share
    around = filled
    for rows in (candidates.before, candidates.after):
        around = np.maximum(around, np.where(((rows >= 0) & known[rows])[:, None], filled[rows], -1.0))
    count = int(sessions.max(initial=-1)) + 1
    values = (
        tokens,
        tokens - tokens[known].max(initial=0.0),
        _of(tokens, candidates.before),
        _of(tokens, candidates.after),
        around @ share,
        _best(sessions, tokens, count)[sessions],
        _three_best(sessions, tokens, count)[sessions],
    )
    return {name: np.where(known, value, np.nan) for name, value in zip(TOKEN_FEATURES, values, strict=True)}


def session_numbers(sessions: Sequence[str | None], count: int) -> Ints:
    """Of each candidate the number of its session; one of no session has a number of its own."""
    numbers: dict[object, int] = {}
    names: Sequence[str | None] = sessions or [None] * count
    return np.array([numbers.setdefault(row if name is None else name, len(numbers)) for row, name in enumerate(names)], dtype=np.int64)


def table(features: Mapping[str, Floats], names: Sequence[str], rows: int) -> Floats:
    """U × F in the order of the names; NaN for a feature that the query has not."""
    return np.array([features.get(name, np.full(rows, np.nan)) for name in names]).T.reshape(rows, len(names))


def _of(column: Floats, rows: Ints) -> Floats:
    """The column's values in other rows, 0 for a row that is not there."""
    there = rows >= 0
    return np.where(there if column.ndim == 1 else there[:, None], column[rows], 0.0)


def _again(rows: Ints) -> Ints:
    return np.where(rows >= 0, rows[rows], -1)


def _best(sessions: Ints, values: Floats, count: int) -> Floats:
    best = np.full(count, -np.inf)
    np.maximum.at(best, sessions, values)
    return best


def _three_best(sessions: Ints, values: Floats, count: int) -> Floats:
    """By session the sum of its best values over `BEST_OF_SESSION`."""
    order = np.lexsort((-values, sessions))
    of = sessions[order]
    first = np.searchsorted(of, of)
    kept = np.arange(len(of)) - first < BEST_OF_SESSION
    return np.bincount(of[kept], weights=values[order][kept], minlength=count) / BEST_OF_SESSION
