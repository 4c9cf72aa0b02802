"""The order of results by a learned sum of features.

It takes the place of `Measures.ordering` in the order alone: relevance and thresholds don't use it.
`learned_order.json` has the weights and their training data; `python -m bench.learn_order` makes
it. A memory without token states is weighed by weights that were learned without them. Its sum is
then shifted by the mean difference of both sums among the memories that have token states.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np

from memory_core.domain.ranking.candidates import CandidateSet, Flags, Floats, Ints
from memory_core.domain.ranking.measures import Measures
from memory_core.domain.ranking.query import QueryPart
from memory_core.domain.ranking.questions import asks_of_assistant
from memory_core.domain.ranking.relevance import Relevance, in_rows, rescaled
from memory_core.domain.ranking.vectors import States, TokenStates, nearest_tokens

WEIGHTS = Path(__file__).with_name("learned_order.json")
MOST_LOGIT = 60.0
"""The largest difference of sums that counts; larger differences count as this."""
DOUBT, LEAST_CHANCE, CHANCE_COUNTS, DISTANCE_COUNTS = 2.0, 0.05, 0.1, 0.05
"""Numbers of `shared_order`, chosen on pairs of questions. `DOUBT` divides the differences of sums,
which are too sure of the answer.
"""


@dataclass(frozen=True, slots=True)
class Weights:
    """The learned weights of F features.

    Attributes:
        names: Of the features.
        mean: Of each feature in the training data.
        scale: Of each feature in the training data.
        weight: Of each feature.
        long_weight: The weight that is added where turns are long.

    """

    names: tuple[str, ...]
    mean: Floats
    scale: Floats
    weight: Floats
    long_weight: Floats

    def sums(self, features: Mapping[str, Floats], long: float, shape: tuple[int, ...]) -> Floats:
        """The weighted sum of all features; an unknown feature adds 0.

        Args:
            features: By name.
            long: How long turns are (`long_turns`).
            shape: Of the sums.

        """
        scaled = self._scaled(features, shape)
        total: Floats = self._weights(long) @ scaled.reshape(len(scaled), -1)
        return total.reshape(shape)

    def shares(self, features: Mapping[str, Floats], long: float) -> Floats:
        """The addend of each feature in the sum of a candidate, F.

        Args:
            features: By name, of a single candidate.
            long: How long turns are (`long_turns`).

        """
        of_each: Floats = self._weights(long) * self._scaled(features, (1,))[:, 0]
        return of_each

    def _weights(self, long: float) -> Floats:
        return self.weight + long * self.long_weight

    def _scaled(self, features: Mapping[str, Floats], shape: tuple[int, ...]) -> Floats:
        """The features, less their means and over their scales, F × shape; 0 for unknown."""
        values = table(features, self.names, shape)
        columns = (-1, *(1 for _ in shape))
        values -= self.mean.reshape(columns)
        values /= self.scale.reshape(columns)
        values[np.isnan(values)] = 0.0
        return values


@dataclass(frozen=True, slots=True)
class LearnedOrder:
    """The learned weights of the order.

    Attributes:
        with_tokens: For candidates with token states.
        without_tokens: For candidates without token states.
        steepness: How steeply the order decreases with the sum.

    """

    with_tokens: Weights
    without_tokens: Weights
    steepness: float


@dataclass(frozen=True, slots=True)
class AskedTokens:
    """The tokens of a query's sentences against those of each candidate.

    Attributes:
        known: Whether a candidate has states, U.
        near: The cosine of the candidate's nearest token, Q × U; 0 without states.
        around: The highest of `near` of the candidate and the turns beside it, Q × U.
        worth: Of each token to each part, P × Q; the sum over a part is 1, and 0 for a part
            without tokens.

    """

    known: Flags
    near: States
    around: States
    worth: States

    @classmethod
    def of(
        cls, parts: Sequence[QueryPart], asked: Sequence[TokenStates], candidates: CandidateSet
    ) -> Self | None:
        """Compare the tokens of a query's sentences with those of candidates.

        Args:
            parts: Of the query.
            asked: The token states of each sentence.
            candidates: With their states.

        Returns:
            None where the sentences have no tokens.

        """
        sizes = [len(sentence.worth) for sentence in asked]
        if not sum(sizes):
            return None
        near = nearest_tokens(asked, candidates.states or [None] * len(candidates))
        known: Flags = np.logical_not(np.isnan(near).any(axis=0))
        near = np.where(known, near, 0.0)
        around = near
        for rows in (candidates.before, candidates.after):
            around = np.maximum(around, np.where((rows >= 0) & known[rows], near[:, rows], -1.0))
        is_asked = np.zeros((len(parts), len(sizes)), dtype=np.float32)
        for row, part in enumerate(parts):
            is_asked[row, list(part.sentences)] = 1.0
        worth = np.repeat(is_asked, sizes, axis=1) * np.concatenate(
            [sentence.worth for sentence in asked]
        )
        return cls(known, near, around, worth / np.maximum(worth.sum(axis=1, keepdims=True), 1e-9))


@lru_cache(maxsize=1)
def learned_order() -> LearnedOrder:
    """The learned order that is part of the product, read once."""
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
    measures: Measures, relevant: Relevance, order: Floats, tokens: AskedTokens | None = None
) -> dict[str, Floats]:
    """Every feature of U candidates by its name, U numbers each or P × U.

    Args:
        measures: Of the query's candidates.
        relevant: Their relevance, not weighted.
        order: The result of `ordering` for that relevance.
        tokens: The query's tokens against those of the candidates.

    """
    candidates, parameters = measures.candidates, measures.parameters
    score, cosine = relevant.score, measures.cosine
    before, after = (
        rescaled(np.where(np.isnan(cosines), 0.0, cosines), parameters.fusion)
        for cosines in measures.cosines[1:]
    )
    sessions = Sessions.of(candidates)
    features: dict[str, Floats] = {
        "relevance": score,
        "relevance_below": _below(score),
        "order": order,
        "cosine_before": np.maximum(before, 0.0),
        "cosine_after": np.maximum(after, 0.0),
        **place_features(candidates),
        "relevance_before": in_rows(score, candidates.before, axis=1),
        "relevance_two_away": np.maximum(
            *(
                in_rows(score, _again(rows), axis=1)
                for rows in (candidates.before, candidates.after)
            )
        ),
        **_request_features(measures),
        "session_best": sessions.best(score),
        "session_three": sessions.best_three(score),
        "session_words": np.zeros_like(score),
        "session_cosine": sessions.best(cosine),
    }
    if measures.has_terms:
        features |= word_features(measures)
        features |= {
            "around": measures.around,
            "session_words": sessions.share_of_words(measures.columns.own, measures.worth.most),
        }
    if tokens is not None:
        features |= token_features(candidates, sessions, tokens)
    by_assistant = features["assistant"]
    return features | {
        "first_person_named": features["first_person"] * _named(measures),
        "assistant_asked": by_assistant * _asks_of_assistant(measures),
        "assistant_relevance": by_assistant * score,
        "assistant_cosine_before": by_assistant * features["cosine_before"],
    }


def _below(values: Floats) -> Floats:
    """How far each value is below the part's best, P × U."""
    below: Floats = values - values.max(axis=1, keepdims=True, initial=0.0)
    return below


def order_logits(
    features: Mapping[str, Floats], long: float, shape: tuple[int, ...], learned: LearnedOrder
) -> Floats:
    """The learned sum of each candidate for each part.

    A candidate without token states has the sum of the weights without tokens, plus the mean
    difference of both sums among the candidates with states.

    Args:
        features: By name, U numbers each or P × U.
        long: How long turns are (`long_turns`).
        shape: Of the result, P × U or U.
        learned: The weights.

    """
    tokens = features.get("tokens")
    known = np.zeros(shape, dtype=np.bool_) if tokens is None else ~np.isnan(tokens)
    if known.all() and known.size:
        return learned.with_tokens.sums(features, long, shape)
    without = learned.without_tokens.sums(features, long, shape)
    if not known.any():
        return without
    better = learned.with_tokens.sums(features, long, shape)
    count = np.maximum(known.sum(axis=-1, keepdims=True), 1)
    apart = np.where(known, better - without, 0.0).sum(axis=-1, keepdims=True) / count
    logits: Floats = np.where(known, better, without + apart)
    return logits


def order_shares(
    features: Mapping[str, Floats], long: float, row: int, learned: LearnedOrder
) -> dict[str, float]:
    """The addend of every feature in the sum of a single candidate.

    Args:
        features: Of a single part, U numbers each.
        long: How long turns are (`long_turns`).
        row: The candidate's.
        learned: The weights.

    """
    of_row = {name: column[row : row + 1] for name, column in features.items()}
    tokens = of_row.get("tokens")
    weights = (
        learned.without_tokens if tokens is None or np.isnan(tokens[0]) else learned.with_tokens
    )
    return dict(zip(weights.names, weights.shares(of_row, long).tolist(), strict=True))


def decreasing_order(logits: Floats, highest: Floats | float, learned: LearnedOrder) -> Floats:
    """The order as numbers above 0, from the learned sums.

    The best candidate of a part has `highest`; all other candidates have less, by their distance
    from its sum.

    Args:
        logits: The sums, P × U or U.
        highest: P × 1, or a single number.
        learned: Has the steepness.

    """
    best = logits.max(axis=-1, keepdims=True, initial=-np.inf)
    below = np.maximum(logits - best, -MOST_LOGIT)
    order: Floats = highest * np.exp(learned.steepness * below)
    return order


def shared_order(logits: Floats) -> Floats:
    """The order among several questions that share the first places, at most 1.

    The chance that any of the first n candidates answers grows with n. A place counts by the
    chance that it adds, so a question that is surely answered by its first candidate leaves more
    places to the other questions.
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


def _request_features(measures: Measures) -> dict[str, Floats]:
    """Features of a part's requests besides its words: a time, a date; P × U."""
    candidates = measures.candidates
    asks_time = np.array([part.analysis.asks_time for part in measures.parts])
    is_short = candidates.own_length < measures.parameters.question_length
    flags = {
        "short_question": candidates.asks & is_short,
        "asked_time": asks_time[:, None] & candidates.tells_time,
        "window": measures.in_window,
    }
    return {name: column.astype(np.float64) for name, column in flags.items()}


def _named(measures: Measures) -> Floats:
    """P × U: 1 where a part names the candidate's speaker."""
    none = np.zeros(len(measures.candidates), dtype=np.float64)
    return np.array(
        [none if of_part is None else of_part for of_part in measures.by_named_speaker],
        dtype=np.float64,
    )


def _asks_of_assistant(measures: Measures) -> Floats:
    """P × 1: 1 for a part that asks for the assistant's words, else 0."""
    asks = [asks_of_assistant(part.analysis.text) for part in measures.parts]
    return np.array(asks, dtype=np.float64)[:, None]


# The features of a candidate for the learned order: numbers of its relevance, its neighbours, its
# session and its tokens.
#
# Note: no feature says whether a memory answers. Features are compared within a query, and only
# their weighted sum is used.


ASSISTANTS = frozenset({"assistant", "ai", "bot"})
"""Speakers that are the other side of a chat. Their long texts rarely are statements of a person.
"""
RANKS = 10
"""The rank in a list at which its feature is a half."""
BEST_OF_SESSION = 3
LONG, SHORT = 40, 8
"""Terms above which a text is long, and below which it is short."""
TOKEN_FEATURES = (
    "tokens",
    "tokens_below",
    "tokens_after",
    "tokens_around",
    "session_tokens",
    "session_tokens_three",
)
"""All features that need token states."""


def word_features(measures: Measures) -> dict[str, Floats]:
    """The features that need the words of the query, P × U."""
    columns, worth = measures.columns, measures.worth
    shares = {
        "own_words": columns.own,
        "covered": columns.with_before,
        "said_or_before": columns.said_or_before,
        "words_before": columns.own_before,
    }
    # of two rarest ones the one that the part says first
    rarest = [
        part.places[int(np.argmax(most[list(part.places)]))]
        for part, most in zip(measures.parts, worth.most, strict=True)
    ]
    asked = measures.asked / measures.asked.sum(axis=1, keepdims=True)
    return {name: worth.share_of(column) for name, column in shares.items()} | {
        "own_terms": asked @ columns.own.T,
        "rarest": columns.own[:, rarest].T,
    }


def place_features(candidates: CandidateSet) -> dict[str, Floats]:
    """Features that don't depend on the query's words, U each.

    These are lengths, speakers, and ranks in the candidate lists.
    """
    length = np.log(np.maximum(candidates.own_length, 1.0))
    says_i = candidates.says_i if len(candidates.says_i) else np.full(len(candidates), np.nan)
    assistants = {
        actor for actor in set(candidates.actor) if (actor or "").casefold() in ASSISTANTS
    }
    features = {
        "question": candidates.asks.astype(np.float64),
        "tells_time": candidates.tells_time.astype(np.float64),
        "length": length,
        "long": np.maximum(length - np.log(LONG), 0.0),
        "short": (candidates.own_length < SHORT).astype(np.float64),
        "assistant": np.array(
            [actor in assistants for actor in candidates.actor], dtype=np.float64
        ),
        "first_person": says_i,
    }
    for name in ("vector", "lexical"):
        ranks = {memory_id: rank for rank, memory_id in enumerate(candidates.lists.get(name, ()))}
        rank = np.array([ranks.get(memory_id, np.inf) for memory_id in candidates.ids])
        features[f"{name}_rank"] = RANKS / (RANKS + rank)
    return features | {"in_lexical": np.isfinite(rank).astype(np.float64)}


@dataclass(frozen=True, slots=True)
class Sessions:
    """The sessions of candidates, to aggregate values by session.

    Attributes:
        number: The session's number of each candidate, U.
        by_session: The candidates, session by session.
        starts: The places in that order where each session begins.
        rank: From 0, the place within its session of each place in that order.

    """

    number: Ints
    by_session: Ints
    starts: Ints
    rank: Ints

    @classmethod
    def of(cls, candidates: CandidateSet) -> Self:
        """Number the sessions; a candidate without a session gets its own number."""
        numbers: dict[object, int] = {}
        names: Sequence[str | None] = candidates.sessions or [None] * len(candidates)
        number = np.array(
            [
                numbers.setdefault(row if name is None else name, len(numbers))
                for row, name in enumerate(names)
            ],
            dtype=np.int64,
        )
        by_session = np.argsort(number, kind="stable")
        in_order = number[by_session]
        starts = np.searchsorted(in_order, np.arange(len(numbers)))
        return cls(number, by_session, starts, np.arange(len(number)) - starts[in_order])

    def best(self, values: Floats) -> Floats:
        """The best value of each candidate's session. values: P × U."""
        if not len(self.number):
            return values
        best = np.maximum.reduceat(values[:, self.by_session], self.starts, axis=1)
        return best[:, self.number]

    def best_three(self, values: Floats) -> Floats:
        """The sum of the best values of each candidate's session over `BEST_OF_SESSION`."""
        if not len(self.number):
            return values
        # Within each session in another order, while each begins at the same place.
        ranked = np.array([of_part.take(np.lexsort((-of_part, self.number))) for of_part in values])
        ranked[:, self.rank >= BEST_OF_SESSION] = 0.0
        total = np.add.reduceat(ranked, self.starts, axis=1) / BEST_OF_SESSION
        return total[:, self.number]

    def share_of_words(self, own: Floats, worth: Floats) -> Floats:
        """The share of each part that any turn of the session says, P × U.

        Args:
            own: 1 where a candidate says a term, U × T.
            worth: Of each term to each part, P × T.

        """
        if not len(self.number):
            return np.zeros((len(worth), 0))
        of_session = np.maximum.reduceat(own[self.by_session], self.starts, axis=0)
        total = np.maximum(worth.sum(axis=1, keepdims=True), 1e-9)
        share: Floats = (worth / total) @ of_session.T
        return share[:, self.number]


def token_features(
    candidates: CandidateSet, sessions: Sessions, asked: AskedTokens
) -> dict[str, Floats]:
    """How near tokens come to those of each part, P × U.

    Args:
        candidates: With their neighbours.
        sessions: Of the candidates.
        asked: The query's tokens against those of the candidates.

    """
    tokens = (asked.worth @ asked.near).astype(np.float64)
    values = (
        tokens,
        tokens - np.where(asked.known, tokens, 0.0).max(axis=1, keepdims=True, initial=0.0),
        in_rows(tokens, candidates.after, axis=1),
        asked.worth @ asked.around,
        sessions.best(tokens),
        sessions.best_three(tokens),
    )
    has_tokens: Flags = asked.worth.max(axis=1, keepdims=True) > 0
    known = asked.known & has_tokens
    return {
        name: np.where(known, value, np.nan)
        for name, value in zip(TOKEN_FEATURES, values, strict=True)
    }


def table(features: Mapping[str, Floats], names: Sequence[str], shape: tuple[int, ...]) -> Floats:
    """The features of some names, F × shape; NaN for a missing feature.

    Args:
        features: By name.
        names: Of the features wanted, F.
        shape: Of each feature.

    """
    values = np.empty((len(names), *shape))
    for place, name in enumerate(names):
        values[place] = features.get(name, np.nan)
    return values


def _again(rows: Ints) -> Ints:
    return np.where(rows >= 0, rows[rows], -1)
