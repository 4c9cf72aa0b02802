"""Order results by a learned weighted sum of features.

It replaces `relevance.ordering` in the order alone; relevance and thresholds don't depend on it. The weights, and how they were learned,
are in `learned_order.json`, which `python -m bench.learn_order` writes. A memory without token states has the sum of weights that were
learned without these, plus the mean difference of both sums on the candidates that have states.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from memory_core.domain.ranking.candidates import CandidateSet, Floats, Ints, Statistics
from memory_core.domain.ranking.passages import ORDER_B, ORDER_K1, BestPassages, covered_share, saturation
from memory_core.domain.ranking.query import QueryAnalysis
from memory_core.domain.ranking.relevance import (
    Relevance,
    RelevanceParameters,
    around_share,
    asked_worth,
    by_named_actor,
    known_cosine,
    passage_factor,
    passages_of,
    rescaled,
    term_coverage,
)
from memory_core.domain.ranking.vectors import States

WEIGHTS = Path(__file__).with_name("learned_order.json")
MOST_LOGIT = 60.0
"""The greatest difference of two logits; a greater one changes nothing."""
DOUBT, LEAST_CHANCE, CHANCE_COUNTS, DISTANCE_COUNTS = 2.0, 0.05, 0.1, 0.05
"""Of `shared_order`: the temperature of the softmax, a floor of cumulated chances, and two exponents; chosen on pairs of questions."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of F features.

    mean, scale: of each feature in the training data. weight: of each. long_weight: what is added to it where turns are long.
    """

    names: tuple[str, ...]
    mean: Floats
    scale: Floats
    weight: Floats
    long_weight: Floats

    def shares(self, features: Mapping[str, Floats], long: float, rows: int) -> Floats:
        """The summands of the features, U × F; 0 for an unknown feature. long: `long_turns`."""
        values = (table(features, self.names, rows) - self.mean) / self.scale
        return np.nan_to_num(values) * (self.weight + long * self.long_weight)


@dataclass(frozen=True, slots=True)
class LearnedOrder:
    """Weights with and without token states; steepness: how fast the order decreases with the sum."""

    with_tokens: Weights
    without_tokens: Weights
    steepness: float


@dataclass(frozen=True, slots=True)
class AskedTokens:
    """The Q tokens of a query beside those of each candidate.

    near: U × Q cosines, NaN for a candidate without states. worth: of each token, Q.
    """

    near: States
    worth: States


@lru_cache(maxsize=1)
def learned_order() -> LearnedOrder:
    """The learned order in `learned_order.json`, read once."""
    body = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return LearnedOrder(_weights(body["with_tokens"]), _weights(body["without_tokens"]), body["steepness"])


def _weights(features: Mapping[str, Any]) -> Weights:
    columns = np.array([[feature["mean"], feature["scale"], feature["weight"], feature["long_weight"]] for feature in features.values()]).T
    return Weights(tuple(features), *columns)


def order_features(
    query: QueryAnalysis,
    relevant: Relevance,
    order: Floats,
    candidates: CandidateSet,
    statistics: Statistics,
    parameters: RelevanceParameters,
    tokens: AskedTokens | None = None,
) -> dict[str, Floats]:
    """The features of U candidates by name, U numbers each. order: of `ordering`."""
    score = relevant.score
    cosine = rescaled(known_cosine(candidates), parameters.fusion)
    beside = [rescaled(np.nan_to_num(cosines), parameters.fusion) for cosines in (candidates.previous_cosine, candidates.next_cosine)]
    sessions = session_numbers(candidates.sessions, len(candidates))
    features: dict[str, Floats] = {
        "relevance": score,
        "relevance_below": score - score.max(initial=0.0),
        "order": order,
        "cosine": cosine,
        "cosine_below": cosine - cosine.max(initial=0.0),
        "cosine_before": np.maximum(beside[0], 0.0),
        "cosine_after": np.maximum(beside[1], 0.0),
        "passage_cosine": passage_factor(candidates) * np.maximum(cosine, 0.0),
        "words": relevant.lexical,
        "words_raised": relevant.lexical**parameters.fusion.gamma,
        **place_features(candidates, score),
        **_asked_features(query, candidates, statistics, parameters),
    }
    own = worth = None
    if query.terms:
        own, worth = candidates.own.astype(np.float64), asked_worth(query, candidates, statistics, parameters)
        features |= word_features(
            candidates, own, term_coverage(candidates, statistics, parameters), worth, max(statistics.mean_length, 1.0)
        )
        features["around"] = around_share(query, candidates, statistics, parameters)
        best: BestPassages = passages_of(query, candidates, statistics, parameters)
        features["passage"] = best.share
    features |= session_features(sessions, score, cosine, own, worth)
    if tokens is not None and tokens.near.shape[1]:
        features |= token_features(candidates, sessions, tokens.near, tokens.worth)
    features["first_person_named"] = features["first_person"] * features["named"]
    return features


def order_logits(features: Mapping[str, Floats], long: float, rows: int, learned: LearnedOrder) -> Floats:
    """The weighted sum of features of each candidate, U numbers. long: `long_turns`; rows: U."""
    without: Floats = learned.without_tokens.shares(features, long, rows).sum(axis=1)
    if (tokens := features.get("tokens")) is None or not (known := ~np.isnan(tokens)).any():
        return without
    better = learned.with_tokens.shares(features, long, rows).sum(axis=1)
    logits: Floats = np.where(known, better, without + float((better - without)[known].mean()))
    return logits


def order_shares(features: Mapping[str, Floats], long: float, row: int, learned: LearnedOrder) -> dict[str, float]:
    """What every feature adds to the sum of the candidate in a row, by name."""
    of_row = {name: column[row : row + 1] for name, column in features.items()}
    tokens = of_row.get("tokens")
    weights = learned.without_tokens if tokens is None or np.isnan(tokens[0]) else learned.with_tokens
    return dict(zip(weights.names, weights.shares(of_row, long, 1)[0].tolist(), strict=True))


def decreasing_order(logits: Floats, highest: float, learned: LearnedOrder) -> Floats:
    """Logits as positive numbers: highest · exp(steepness · (logit - greatest logit))."""
    below = np.maximum(logits - logits.max(initial=-np.inf), -MOST_LOGIT)
    order: Floats = highest * np.exp(learned.steepness * below)
    return order


def shared_order(logits: Floats) -> Floats:
    """The order of one of several questions that share the first places, at most 1.

    The softmax of logits / DOUBT is the chance that a candidate answers. A candidate counts by the share that its chance adds to those
    before it, so a question whose first candidate surely answers leaves more places to the other questions:
    (chance / (cumulated chances + LEAST_CHANCE)) ** CHANCE_COUNTS · exp(DISTANCE_COUNTS · distance from the greatest logit).
    """
    order = np.argsort(-logits, kind="stable")
    ranked = np.maximum(logits[order] - logits[order[0]], -MOST_LOGIT)
    chance = np.exp(ranked / DOUBT)
    chance /= chance.sum()
    shares = np.empty(len(logits))
    shares[order] = (chance / (np.cumsum(chance) + LEAST_CHANCE)) ** CHANCE_COUNTS * np.exp(DISTANCE_COUNTS * ranked)
    return shares


def joined_tokens(parts: Sequence[AskedTokens]) -> AskedTokens | None:
    """The tokens of several sentences as one query; None for none."""
    if len(parts) < 2:
        return parts[0] if parts else None
    return AskedTokens(
        np.concatenate([sentence.near for sentence in parts], axis=1), np.concatenate([sentence.worth for sentence in parts])
    )


def _asked_features(
    query: QueryAnalysis, candidates: CandidateSet, statistics: Statistics, parameters: RelevanceParameters
) -> dict[str, Floats]:
    """Features of a person, a time and a date that the query asks for."""
    rows = len(candidates)
    theirs = by_named_actor(query, candidates, statistics)
    inside = np.zeros(rows, dtype=np.bool_)
    for window in query.windows:
        inside |= window.contains(candidates.event_at, parameters.window_slack_days)
    return {
        "named": np.zeros(rows) if theirs is None else theirs.astype(np.float64),
        "other_speaker": np.zeros(rows) if theirs is None else (~theirs).astype(np.float64),
        "short_question": (candidates.asks & (candidates.own_length < parameters.question_length)).astype(np.float64),
        "asked_time": candidates.tells_time.astype(np.float64) if query.asks_time else np.zeros(rows),
        "window": inside.astype(np.float64),
    }


# Features of candidates: numbers that relevance computes, of the candidate, its neighbours, its session and its tokens.
#
# Note: no feature says whether a memory answers. Features are compared within one query, and only their weighted sum is used.


ASSISTANTS = frozenset({"assistant", "ai", "bot"})
"""Speakers who are no person: what they say at length is rarely what the user asks for."""
RANKS = 10
"""The rank in a list at which its feature is a half."""
BEST_OF_SESSION = 3
LONG, SHORT = 40, 8
"""Terms above which a text is long, and below which it is short."""
TOKEN_FEATURES = ("tokens", "tokens_below", "tokens_before", "tokens_after", "tokens_around", "session_tokens", "session_tokens_three")


def word_features(candidates: CandidateSet, own: Floats, covered: Floats, worth: Floats, mean_length: float) -> dict[str, Floats]:
    """Features of the query's words in each candidate, U numbers each.

    Args:
        candidates: With the columns of the query's terms.
        own: U × T, whether the candidate says the term itself.
        covered: U × T, how well the candidate covers the term.
        worth: Of each term, T or U × T.
        mean_length: Of the user's memories, in terms, at least 1.

    """
    most_worth = worth if worth.ndim == 1 else worth.max(axis=0)
    textbook = saturation(candidates.tf, candidates.length, mean_length, ORDER_K1, ORDER_B)
    near = np.zeros(own.shape) if candidates.near is None else np.where(candidates.own, 0.0, candidates.near)
    return {
        "own_words": covered_share(own, worth),
        "covered": covered_share(covered, worth),
        "near_words": covered_share(near, worth),
        "said_or_before": covered_share((candidates.tf > 0).astype(np.float64), worth),
        "words_after": covered_share(_values_in(own, candidates.after), worth),
        "words_before": covered_share(_values_in(own, candidates.before), worth),
        "own_terms": own.mean(axis=1),
        "rarest": own[:, int(np.argmax(most_worth))],
        "bm25": covered_share(textbook, worth),
    }


def place_features(candidates: CandidateSet, score: Floats) -> dict[str, Floats]:
    """Features of a candidate's neighbours, length, ranks in the lists, and speaker."""
    beside = [_values_in(score, candidates.before), _values_in(score, candidates.after)]
    two_away = [_values_in(score, _rows_two_away(candidates.before)), _values_in(score, _rows_two_away(candidates.after))]
    length = np.log(np.maximum(candidates.own_length, 1.0))
    says_i = candidates.says_i if len(candidates.says_i) else np.full(len(candidates), np.nan)
    features = {
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
        ranks = {memory_id: rank for rank, memory_id in enumerate(candidates.lists.get(name, ()))}
        rank = np.array([ranks.get(memory_id, np.inf) for memory_id in candidates.ids], dtype=np.float64)
        features |= {f"{name}_rank": RANKS / (RANKS + rank), f"in_{name}": np.isfinite(rank).astype(np.float64)}
    return features


def session_features(sessions: Ints, score: Floats, cosine: Floats, own: Floats | None, worth: Floats | None) -> dict[str, Floats]:
    """Features of all candidates of a candidate's session.

    sessions: of each candidate the number of its session (`session_numbers`). own: U × T, worth: T or U × T; None without terms.
    """
    count = int(sessions.max(initial=-1)) + 1
    words = np.zeros(len(sessions))
    if own is not None and worth is not None:
        said_in_session = np.zeros((count, own.shape[1]))
        np.maximum.at(said_in_session, sessions, own)
        most_worth = worth if worth.ndim == 1 else worth.max(axis=0)
        words = (said_in_session @ (most_worth / max(float(most_worth.sum()), 1e-9)))[sessions]
    return {
        "session_best": _best_by_session(sessions, score, count)[sessions],
        "session_three": _mean_of_best(sessions, score, count)[sessions],
        "session_words": words,
        "session_cosine": _best_by_session(sessions, cosine, count)[sessions],
    }


def token_features(candidates: CandidateSet, sessions: Ints, near: States, worth: States) -> dict[str, Floats]:
    """Features of the nearest tokens of a candidate to those of the query.

    near: U × Q (`nearest_tokens`), NaN where unknown. worth: of the query's tokens, Q.
    """
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
        _values_in(tokens, candidates.before),
        _values_in(tokens, candidates.after),
        around @ share,
        _best_by_session(sessions, tokens, count)[sessions],
        _mean_of_best(sessions, tokens, count)[sessions],
    )
    return {name: np.where(known, value, np.nan) for name, value in zip(TOKEN_FEATURES, values, strict=True)}


def session_numbers(sessions: Sequence[str | None], count: int) -> Ints:
    """Number the sessions of candidates; without a session a candidate has its own number."""
    numbers: dict[object, int] = {}
    names: Sequence[str | None] = sessions or [None] * count
    return np.array([numbers.setdefault(row if name is None else name, len(numbers)) for row, name in enumerate(names)], dtype=np.int64)


def table(features: Mapping[str, Floats], names: Sequence[str], rows: int) -> Floats:
    """Features as U × F in the order of names; NaN where missing."""
    return np.array([features.get(name, np.full(rows, np.nan)) for name in names]).T.reshape(rows, len(names))


def _values_in(column: Floats, rows: Ints) -> Floats:
    """The values of a column in other rows, 0 for row -1."""
    there = rows >= 0
    return np.where(there if column.ndim == 1 else there[:, None], column[rows], 0.0)


def _rows_two_away(rows: Ints) -> Ints:
    return np.where(rows >= 0, rows[rows], -1)


def _best_by_session(sessions: Ints, values: Floats, count: int) -> Floats:
    best = np.full(count, -np.inf)
    np.maximum.at(best, sessions, values)
    return best


def _mean_of_best(sessions: Ints, values: Floats, count: int) -> Floats:
    """Of each session the sum of its `BEST_OF_SESSION` best values, over that number."""
    order = np.lexsort((-values, sessions))
    of = sessions[order]
    first = np.searchsorted(of, of)
    among_best = np.arange(len(of)) - first < BEST_OF_SESSION
    return np.bincount(of[among_best], weights=values[order][among_best], minlength=count) / BEST_OF_SESSION
