"""The order of results as it was learned: a weighted sum of features of each candidate, with further weights where turns are long.

It takes the place of `relevance.ordering` in the order alone: relevance and thresholds know nothing of it. The weights, and what they were
learned of, stand in `learned_order.json`; `python -m bench.learn_order` makes it. A memory whose tokens' states are not kept is weighed
by weights that were learned without them, and put among the others by what both come to on those that have them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from memory_core.domain.candidates import CandidateSet, Floats, Statistics
from memory_core.domain.fusion import rescaled
from memory_core.domain.order_features import (
    place_features,
    session_features,
    session_numbers,
    table,
    token_features,
    word_features,
)
from memory_core.domain.passage_share import BestPassages
from memory_core.domain.query import QueryAnalysis
from memory_core.domain.relevance import (
    Relevance,
    RelevanceParameters,
    around_share,
    asked_worth,
    by_named_actor,
    known_cosine,
    passage_factor,
    passages_of,
    term_coverage,
)
from memory_core.domain.token_states import States

WEIGHTS = Path(__file__).with_name("learned_order.json")
MOST_LOGIT = 60.0
"""Beyond which a difference says no more."""
DOUBT, LEAST_CHANCE, CHANCE_COUNTS, DISTANCE_COUNTS = 2.0, 0.05, 0.1, 0.05
"""How much less sure than the sums say it is taken for who answers, and what `sharing` makes of that: chosen on pairs of questions."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Of features by name: mean and scale where they were learned, what each weighs, and what more where turns are long."""

    names: tuple[str, ...]
    mean: Floats
    scale: Floats
    weight: Floats
    long_weight: Floats

    def shares(self, features: Mapping[str, Floats], long: float, rows: int) -> Floats:
        """U × F: what each feature adds; nothing where it is not known. long: how long turns are (`long_turns`)."""
        values = (table(features, self.names, rows) - self.mean) / self.scale
        return np.nan_to_num(values) * (self.weight + long * self.long_weight)


@dataclass(frozen=True, slots=True)
class LearnedOrder:
    """Both weights, and how steeply the order decreases with their sum."""

    with_tokens: Weights
    without_tokens: Weights
    steepness: float


@dataclass(frozen=True, slots=True)
class AskedTokens:
    """The tokens of a query against those of each candidate. near: U × Q, NaN of a candidate without states; worth: of each token, Q."""

    near: States
    worth: States


@lru_cache(maxsize=1)
def learned_order() -> LearnedOrder:
    """What ships with the product, read once."""
    body = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return LearnedOrder(_weights(body["with_tokens"]), _weights(body["without_tokens"]), body["steepness"])


def _weights(features: Mapping[str, Any]) -> Weights:
    columns = np.array([[one["mean"], one["scale"], one["weight"], one["long_weight"]] for one in features.values()]).T
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
    """Every feature of U candidates by its name, each U numbers. order: what `ordering` gives."""
    score = relevant.score
    cosine = rescaled(known_cosine(candidates), parameters.fusion)
    beside = [rescaled(np.nan_to_num(one), parameters.fusion) for one in (candidates.previous_cosine, candidates.next_cosine)]
    sessions = session_numbers(candidates.sessions, len(candidates))
    found: dict[str, Floats] = {
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
        found |= word_features(candidates, own, term_coverage(candidates, statistics, parameters), worth, max(statistics.mean_length, 1.0))
        found["around"] = around_share(query, candidates, statistics, parameters)
        best: BestPassages = passages_of(query, candidates, statistics, parameters)
        found["passage"] = best.share
    found |= session_features(sessions, score, cosine, own, worth)
    if tokens is not None and tokens.near.shape[1]:
        found |= token_features(candidates, sessions, tokens.near, tokens.worth)
    found["first_person_named"] = found["first_person"] * found["named"]
    return found


def order_logits(features: Mapping[str, Floats], long: float, rows: int, learned: LearnedOrder) -> Floats:
    """The sum that orders each of U candidates."""
    without: Floats = learned.without_tokens.shares(features, long, rows).sum(axis=1)
    if (tokens := features.get("tokens")) is None or not (known := ~np.isnan(tokens)).any():
        return without
    better = learned.with_tokens.shares(features, long, rows).sum(axis=1)
    logits: Floats = np.where(known, better, without + float((better - without)[known].mean()))
    return logits


def order_shares(features: Mapping[str, Floats], long: float, row: int, learned: LearnedOrder) -> dict[str, float]:
    """What every feature added to the sum of one candidate."""
    of_row = {name: column[row : row + 1] for name, column in features.items()}
    tokens = of_row.get("tokens")
    weights = learned.without_tokens if tokens is None or np.isnan(tokens[0]) else learned.with_tokens
    return dict(zip(weights.names, weights.shares(of_row, long, 1)[0].tolist(), strict=True))


def falling(logits: Floats, highest: float, learned: LearnedOrder) -> Floats:
    """The order as numbers above 0: the best has `highest`, every other less by its distance."""
    below = np.maximum(logits - logits.max(initial=-np.inf), -MOST_LOGIT)
    order: Floats = highest * np.exp(learned.steepness * below)
    return order


def sharing(logits: Floats) -> Floats:
    """The order among several questions that share the first places, at most 1.

    The chance that one of the first n answers grows with n; a place counts by what it adds to that, so a question that is surely answered
    by its first leaves more places to the others.
    """
    order = np.argsort(-logits, kind="stable")
    ranked = np.maximum(logits[order] - logits[order[0]], -MOST_LOGIT)
    chance = np.exp(ranked / DOUBT)
    chance /= chance.sum()
    shares = np.empty(len(logits))
    shares[order] = (chance / (np.cumsum(chance) + LEAST_CHANCE)) ** CHANCE_COUNTS * np.exp(DISTANCE_COUNTS * ranked)
    return shares


def joined_tokens(parts: Sequence[AskedTokens]) -> AskedTokens | None:
    """Those of several sentences as one query; None for none."""
    if len(parts) < 2:
        return parts[0] if parts else None
    return AskedTokens(np.concatenate([one.near for one in parts], axis=1), np.concatenate([one.worth for one in parts]))


def _asked_features(
    query: QueryAnalysis, candidates: CandidateSet, statistics: Statistics, parameters: RelevanceParameters
) -> dict[str, Floats]:
    """What the query asks for besides its words: a person, a time, a date."""
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
