"""The order of results by a learned sum of features.

It takes the place of `relevance.ordering` in the order alone: relevance and thresholds know nothing
of it. The weights, and what they were learned of, stand in `learned_order.json`;
`python -m bench.learn_order` makes it. A memory whose tokens' states are not kept is weighed by
weights that were learned without them, and put among the others by what both come to on those
that have them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from memory_core.domain.ranking.candidates import CandidateSet, Flags, Floats, Ints
from memory_core.domain.ranking.passages import covered_share
from memory_core.domain.ranking.relevance import (
    Measures,
    Relevance,
    TermColumns,
    in_rows,
    passage_factor,
    rescaled,
)
from memory_core.domain.ranking.vectors import States

WEIGHTS = Path(__file__).with_name("learned_order.json")
MOST_LOGIT = 60.0
"""Beyond which a difference says no more."""
DOUBT, LEAST_CHANCE, CHANCE_COUNTS, DISTANCE_COUNTS = 2.0, 0.05, 0.1, 0.05
"""How much less sure than the sums say it is taken for who answers, and what `shared_order` makes
of that: chosen on pairs of questions.
"""


@dataclass(frozen=True, slots=True)
class Weights:
    """Of features by name: mean and scale where they were learned, what each weighs,
    and what more where turns are long.
    """

    names: tuple[str, ...]
    mean: Floats
    scale: Floats
    weight: Floats
    long_weight: Floats

    def shares(self, features: Mapping[str, Floats], long: float, rows: int) -> Floats:
        """U × F: what each feature adds; nothing where it is not known. long: how long turns are
        (`long_turns`).
        """
        values = table(features, self.names, rows)
        values -= self.mean
        values /= self.scale
        values[np.isnan(values)] = 0.0
        values *= self.weight + long * self.long_weight
        return values


@dataclass(frozen=True, slots=True)
class LearnedOrder:
    """Both weights, and how steeply the order decreases with their sum."""

    with_tokens: Weights
    without_tokens: Weights
    steepness: float


@dataclass(frozen=True, slots=True)
class AskedTokens:
    """The tokens of a query against those of each candidate.

    known: U, whether a candidate has states. near: U × Q, 0 without states; around: the best of it
    and the turns beside it. worth: of each token, Q.
    """

    known: Flags
    near: States
    around: States
    worth: States

    @classmethod
    def of(cls, near: States, worth: States, candidates: CandidateSet) -> AskedTokens:
        """near: as `nearest_tokens` gives it."""
        known: Flags = np.logical_not(np.isnan(near).any(axis=1))
        filled = np.where(known[:, None], near, 0.0)
        around = filled
        for rows in (candidates.before, candidates.after):
            around = np.maximum(
                around, np.where(((rows >= 0) & known[rows])[:, None], filled[rows], -1.0)
            )
        return cls(known, filled, around, worth)


@lru_cache(maxsize=1)
def learned_order() -> LearnedOrder:
    """What ships with the product, read once."""
    body = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return LearnedOrder(
        _weights(body["with_tokens"]), _weights(body["without_tokens"]), body["steepness"]
    )


def _weights(features: Mapping[str, Any]) -> Weights:
    columns = np.array(
        [
            [feature["mean"], feature["scale"], feature["weight"], feature["long_weight"]]
            for feature in features.values()
        ]
    ).T
    return Weights(tuple(features), *columns)


def order_features(
    measures: Measures,
    relevant: Relevance,
    order: Floats,
    places: PlaceFeatures,
    tokens: AskedTokens | None = None,
) -> dict[str, Floats]:
    """Every feature of U candidates by its name, each U numbers.

    Args:
        measures: Of the query's candidates.
        relevant: Their relevance, not weighted.
        order: What `ordering` gives for it.
        places: Of the same candidates, whatever part of a query they are measured by.
        tokens: Those of the query against theirs.

    """
    candidates, parameters = measures.candidates, measures.parameters
    score, cosine = relevant.score, measures.cosine
    near = (candidates.previous_cosine, candidates.next_cosine)
    beside = [
        rescaled(np.where(np.isnan(cosines), 0.0, cosines), parameters.fusion) for cosines in near
    ]
    sessions = places.sessions
    features: dict[str, Floats] = {
        "relevance": score,
        "relevance_below": score - score.max(initial=0.0),
        "order": order,
        "cosine": cosine,
        "cosine_below": cosine - cosine.max(initial=0.0),
        "cosine_before": np.maximum(beside[0], 0.0),
        "cosine_after": np.maximum(beside[1], 0.0),
        "passage_cosine": places.passage_factor * np.maximum(cosine, 0.0),
        "words": relevant.lexical,
        "words_raised": relevant.lexical**parameters.fusion.gamma,
        **places.columns,
        **places.beside(score),
        **_asked_features(measures),
    }
    own = worth = None
    if measures.query.terms:
        own, worth = measures.columns.own, measures.worth
        features |= word_features(measures.columns, worth)
        features["around"] = measures.around
        features["passage"] = measures.passages.share
    features |= session_features(sessions, score, cosine, own, worth)
    if tokens is not None and tokens.near.shape[1]:
        features |= token_features(candidates, sessions, tokens)
    features["first_person_named"] = features["first_person"] * features["named"]
    return features


def order_logits(
    features: Mapping[str, Floats], long: float, rows: int, learned: LearnedOrder
) -> Floats:
    """The sum that orders each of U candidates."""
    tokens = features.get("tokens")
    known = np.zeros(rows, dtype=np.bool_) if tokens is None else ~np.isnan(tokens)
    if rows and known.all():
        every: Floats = learned.with_tokens.shares(features, long, rows).sum(axis=1)
        return every
    without: Floats = learned.without_tokens.shares(features, long, rows).sum(axis=1)
    if not known.any():
        return without
    better = learned.with_tokens.shares(features, long, rows).sum(axis=1)
    logits: Floats = np.where(known, better, without + float((better - without)[known].mean()))
    return logits


def order_shares(
    features: Mapping[str, Floats], long: float, row: int, learned: LearnedOrder
) -> dict[str, float]:
    """What every feature added to the sum of one candidate."""
    of_row = {name: column[row : row + 1] for name, column in features.items()}
    tokens = of_row.get("tokens")
    weights = (
        learned.without_tokens if tokens is None or np.isnan(tokens[0]) else learned.with_tokens
    )
    return dict(zip(weights.names, weights.shares(of_row, long, 1)[0].tolist(), strict=True))


def decreasing_order(logits: Floats, highest: float, learned: LearnedOrder) -> Floats:
    """The order as numbers above 0: the best has `highest`, every other less by its distance."""
    below = np.maximum(logits - logits.max(initial=-np.inf), -MOST_LOGIT)
    order: Floats = highest * np.exp(learned.steepness * below)
    return order


def shared_order(logits: Floats) -> Floats:
    """The order among several questions that share the first places, at most 1.

    The chance that one of the first n answers grows with n; a place counts by what it adds to that,
    so a question that is surely answered by its first leaves more places to the others.
    """
    order = np.argsort(-logits, kind="stable")
    ranked = np.maximum(logits[order] - logits[order[0]], -MOST_LOGIT)
    chance = np.exp(ranked / DOUBT)
    chance /= chance.sum()
    shares = np.empty(len(logits))
    shares[order] = (chance / (np.cumsum(chance) + LEAST_CHANCE)) ** CHANCE_COUNTS * np.exp(
        DISTANCE_COUNTS * ranked
    )
    return shares


def joined_tokens(parts: Sequence[AskedTokens]) -> AskedTokens | None:
    """Those of several sentences as one query; None for none."""
    if len(parts) < 2:
        return parts[0] if parts else None
    return AskedTokens(
        parts[0].known,
        np.concatenate([sentence.near for sentence in parts], axis=1),
        np.concatenate([sentence.around for sentence in parts], axis=1),
        np.concatenate([sentence.worth for sentence in parts]),
    )


def _asked_features(measures: Measures) -> dict[str, Floats]:
    """What the query asks for besides its words: a person, a time, a date."""
    query, candidates, parameters = measures.query, measures.candidates, measures.parameters
    rows, theirs = len(candidates), measures.by_named_actor
    inside = np.zeros(rows, dtype=np.bool_)
    for window in query.windows:
        inside |= window.contains(candidates.event_at, parameters.window_slack_days)
    return {
        "named": np.zeros(rows) if theirs is None else theirs.astype(np.float64),
        "other_speaker": np.zeros(rows) if theirs is None else (~theirs).astype(np.float64),
        "short_question": (
            candidates.asks & (candidates.own_length < parameters.question_length)
        ).astype(np.float64),
        "asked_time": candidates.tells_time.astype(np.float64)
        if query.asks_time
        else np.zeros(rows),
        "window": inside.astype(np.float64),
    }


# What a learned order knows of each candidate: numbers that relevance has anyway, its neighbours',
# its session's, and its tokens'.
#
# Note: nothing here says whether a memory answers. Features are compared within one query,
# and only their weighted sum is used.


ASSISTANTS = frozenset({"assistant", "ai", "bot"})
"""Speakers who are the other side of a chat: what they say at length is rarely what a
person told.
"""
RANKS = 10
"""The rank in a list at which its feature is a half."""
BEST_OF_SESSION = 3
LONG, SHORT = 40, 8
"""Terms above which a text is long, and below which it is short."""
TOKEN_FEATURES = (
    "tokens",
    "tokens_below",
    "tokens_before",
    "tokens_after",
    "tokens_around",
    "session_tokens",
    "session_tokens_three",
)


def word_features(columns: TermColumns, worth: Floats) -> dict[str, Floats]:
    """What the words say. columns: of the query's terms; worth: of each term, T or U × T."""
    most_worth = worth if worth.ndim == 1 else worth.max(axis=0)
    return {
        "own_words": covered_share(columns.own, worth),
        "covered": covered_share(columns.with_before, worth),
        "near_words": covered_share(columns.near, worth),
        "said_or_before": covered_share(columns.said_or_before, worth),
        "words_after": covered_share(columns.own_after, worth),
        "words_before": covered_share(columns.own_before, worth),
        "own_terms": columns.own.mean(axis=1),
        "rarest": columns.own[:, int(np.argmax(most_worth))],
        "bm25": covered_share(columns.textbook, worth),
    }


@dataclass(frozen=True)
class PlaceFeatures:
    """What candidates are whatever is asked, read once for all parts of a query: lengths, speakers,
    sessions, places in the lists.
    """

    candidates: CandidateSet

    @cached_property
    def columns(self) -> Mapping[str, Floats]:
        """By the feature's name."""
        candidates = self.candidates
        length = np.log(np.maximum(candidates.own_length, 1.0))
        says_i = candidates.says_i if len(candidates.says_i) else np.full(len(candidates), np.nan)
        features = {
            "question": candidates.asks.astype(np.float64),
            "tells_time": candidates.tells_time.astype(np.float64),
            "length": length,
            "long": np.maximum(length - np.log(LONG), 0.0),
            "short": (candidates.own_length < SHORT).astype(np.float64),
            "assistant": np.array(
                [(actor or "").casefold() in ASSISTANTS for actor in candidates.actor],
                dtype=np.float64,
            ),
            "first_person": says_i,
        }
        for name in ("vector", "lexical"):
            ranks = {
                memory_id: rank for rank, memory_id in enumerate(candidates.lists.get(name, ()))
            }
            rank = np.array(
                [ranks.get(memory_id, np.inf) for memory_id in candidates.ids], dtype=np.float64
            )
            features |= {
                f"{name}_rank": RANKS / (RANKS + rank),
                f"in_{name}": np.isfinite(rank).astype(np.float64),
            }
        return features

    @cached_property
    def sessions(self) -> Ints:
        """As `session_numbers`."""
        return session_numbers(self.candidates.sessions, len(self.candidates))

    @cached_property
    def passage_factor(self) -> Floats:
        """As the function of that name."""
        return passage_factor(self.candidates)

    @cached_property
    def _two_away(self) -> tuple[Ints, Ints]:
        return _again(self.candidates.before), _again(self.candidates.after)

    def beside(self, score: Floats) -> dict[str, Floats]:
        """What the turns beside each candidate come to."""
        before, after = self._two_away
        return {
            "relevance_before": in_rows(score, self.candidates.before),
            "relevance_after": in_rows(score, self.candidates.after),
            "relevance_two_away": np.maximum(in_rows(score, before), in_rows(score, after)),
        }


def session_features(
    sessions: Ints, score: Floats, cosine: Floats, own: Floats | None, worth: Floats | None
) -> dict[str, Floats]:
    """What the candidates of each one's session come to together. sessions: of each a number
    (`session_numbers`).
    """
    count = int(sessions.max(initial=-1)) + 1
    words = np.zeros(len(sessions))
    if own is not None and worth is not None:
        best = np.zeros((count, own.shape[1]))
        np.maximum.at(best, sessions, own)
        most_worth = worth if worth.ndim == 1 else worth.max(axis=0)
        words = (best @ (most_worth / max(float(most_worth.sum()), 1e-9)))[sessions]
    return {
        "session_best": _best(sessions, score, count)[sessions],
        "session_three": _three_best(sessions, score, count)[sessions],
        "session_words": words,
        "session_cosine": _best(sessions, cosine, count)[sessions],
    }


def token_features(
    candidates: CandidateSet, sessions: Ints, asked: AskedTokens
) -> dict[str, Floats]:
    """How near tokens come to those of the query."""
    known = asked.known
    share = asked.worth / max(float(asked.worth.sum()), 1e-9)
    tokens = asked.near @ share
    count = int(sessions.max(initial=-1)) + 1
    values = (
        tokens,
        tokens - tokens[known].max(initial=0.0),
        in_rows(tokens, candidates.before),
        in_rows(tokens, candidates.after),
        asked.around @ share,
        _best(sessions, tokens, count)[sessions],
        _three_best(sessions, tokens, count)[sessions],
    )
    return {
        name: np.where(known, value, np.nan)
        for name, value in zip(TOKEN_FEATURES, values, strict=True)
    }


def session_numbers(sessions: Sequence[str | None], count: int) -> Ints:
    """Of each candidate the number of its session; one of no session has a number of its own."""
    numbers: dict[object, int] = {}
    names: Sequence[str | None] = sessions or [None] * count
    return np.array(
        [
            numbers.setdefault(row if name is None else name, len(numbers))
            for row, name in enumerate(names)
        ],
        dtype=np.int64,
    )


def table(features: Mapping[str, Floats], names: Sequence[str], rows: int) -> Floats:
    """U × F in the order of the names; NaN for a feature that the query has not."""
    unknown = np.full(rows, np.nan)
    columns = np.concatenate([features.get(name, unknown) for name in names])
    return columns.astype(np.float64, copy=False).reshape(len(names), rows).T


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
    is_best = np.arange(len(of)) - first < BEST_OF_SESSION
    return (
        np.bincount(of[is_best], weights=values[order][is_best], minlength=count) / BEST_OF_SESSION
    )
