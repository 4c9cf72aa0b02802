"""The order of results by a learned sum of features.

It takes the place of `Measures.ordering` in the order alone: relevance and thresholds know nothing
of it. The weights, and what they were learned of, stand in `learned_order.json`;
`python -m bench.learn_order` makes it. A memory whose tokens' states are not kept is weighed by
weights that were learned without them, and put among the others by what both come to on those
that have them.
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
from memory_core.domain.ranking.query import Part, asks_of_assistant
from memory_core.domain.ranking.relevance import Relevance, in_rows, rescaled
from memory_core.domain.ranking.vectors import States, TokenStates, nearest_tokens

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

    def sums(self, features: Mapping[str, Floats], long: float, shape: tuple[int, ...]) -> Floats:
        """What all features add together, in that shape; one that is not known adds nothing.
        long: how long turns are (`long_turns`).
        """
        scaled = self._scaled(features, shape)
        total: Floats = self._weights(long) @ scaled.reshape(len(scaled), -1)
        return total.reshape(shape)

    def shares(self, features: Mapping[str, Floats], long: float) -> Floats:
        """F: what each feature adds to the sum of one candidate."""
        of_each: Floats = self._weights(long) * self._scaled(features, (1,))[:, 0]
        return of_each

    def _weights(self, long: float) -> Floats:
        return self.weight + long * self.long_weight

    def _scaled(self, features: Mapping[str, Floats], shape: tuple[int, ...]) -> Floats:
        """F × shape."""
        values = table(features, self.names, shape)
        columns = (-1, *(1 for _ in shape))
        values -= self.mean.reshape(columns)
        values /= self.scale.reshape(columns)
        values[np.isnan(values)] = 0.0
        return values


@dataclass(frozen=True, slots=True)
class LearnedOrder:
    """Both weights, and how steeply the order decreases with their sum."""

    with_tokens: Weights
    without_tokens: Weights
    steepness: float


@dataclass(frozen=True, slots=True)
class AskedTokens:
    """The tokens of a query's sentences against those of each candidate.

    known: U, whether a candidate has states. near: Q × U, 0 without states; around: the best of it
    and the turns beside it. worth: of each token to each part, P × Q, 1 together; all 0 for a part
    without tokens.
    """

    known: Flags
    near: States
    around: States
    worth: States

    @classmethod
    def of(
        cls, parts: Sequence[Part], asked: Sequence[TokenStates], candidates: CandidateSet
    ) -> Self | None:
        """Compare them. None for no tokens. asked: of each sentence."""
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
    measures: Measures, relevant: Relevance, order: Floats, tokens: AskedTokens | None = None
) -> dict[str, Floats]:
    """Every feature of U candidates by its name, U numbers each or P × U.

    Args:
        measures: Of the query's candidates.
        relevant: Their relevance, not weighted.
        order: What `ordering` gives for it.
        tokens: Those of the query against theirs.

    """
    candidates, parameters = measures.candidates, measures.parameters
    score = relevant.score
    before, after = (
        rescaled(np.where(np.isnan(cosines), 0.0, cosines), parameters.fusion)
        for cosines in measures.cosines[1:]
    )
    sessions = Sessions.of(candidates)
    features: dict[str, Floats] = {
        "relevance": score,
        "relevance_before": in_rows(score, candidates.before, axis=1),
        "order": order,
        "cosine_before": np.maximum(before, 0.0),
        "cosine_after": np.maximum(after, 0.0),
        **text_features(candidates),
        **asked_features(measures),
        "session_best": sessions.best(score),
        "session_words": np.zeros_like(score),
    }
    if measures.has_terms:
        features |= word_features(measures)
        features |= {
            "around": measures.around,
            "session_words": sessions.share_of_words(measures.columns.own, measures.worth.most),
        }
    if tokens is not None:
        features |= token_features(sessions, tokens)
    return features


def order_logits(
    features: Mapping[str, Floats], long: float, shape: tuple[int, ...], learned: LearnedOrder
) -> Floats:
    """The sum that orders each of U candidates, of each of P parts. shape: P × U, or U."""
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
    """What every feature added to the sum of one candidate. features: of one part, U each."""
    of_row = {name: column[row : row + 1] for name, column in features.items()}
    tokens = of_row.get("tokens")
    weights = (
        learned.without_tokens if tokens is None or np.isnan(tokens[0]) else learned.with_tokens
    )
    return dict(zip(weights.names, weights.shares(of_row, long).tolist(), strict=True))


def decreasing_order(logits: Floats, highest: Floats | float, learned: LearnedOrder) -> Floats:
    """The order as numbers above 0: of each part the best has `highest`, every other less by its
    distance. logits: P × U or U; highest: P × 1 or one.
    """
    best = logits.max(axis=-1, keepdims=True, initial=-np.inf)
    below = np.maximum(logits - best, -MOST_LOGIT)
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


def asked_features(measures: Measures) -> dict[str, Floats]:
    """What a part asks for besides its words: a person, a time, what the assistant said; P × U."""
    candidates, parameters = measures.candidates, measures.parameters
    none = np.zeros(len(candidates), dtype=np.bool_)
    is_named = np.array(
        [none if of_part is None else of_part for of_part in measures.by_named_speaker]
    )
    asks_time, asks_assistant = (
        np.array(asked, dtype=np.float64)[:, None]
        for asked in (
            [part.analysis.asks_time for part in measures.parts],
            [asks_of_assistant(part.analysis.text) for part in measures.parts],
        )
    )
    by_assistant = [(actor or "").casefold() in ASSISTANTS for actor in candidates.actor]
    is_short_question = candidates.asks & (candidates.own_length < parameters.question_length)
    return {
        "first_person_named": _says_i(candidates) * is_named,
        "short_question": is_short_question.astype(np.float64),
        "asked_time": asks_time * candidates.tells_time,
        "assistant_asked": asks_assistant * np.array(by_assistant, dtype=np.float64),
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
SHORT = 8
"""Terms below which a text is short."""
TOKEN_FEATURES = ("tokens", "tokens_below", "tokens_around", "session_tokens")
"""What is known only of what has token states."""


def word_features(measures: Measures) -> dict[str, Floats]:
    """What the words say, P × U."""
    columns, worth = measures.columns, measures.worth
    asked = measures.asked / measures.asked.sum(axis=1, keepdims=True)
    return {
        "own_words": worth.share_of(columns.own),
        "said_or_before": worth.share_of(columns.said_or_before),
        "own_terms": asked @ columns.own.T,
    }


def text_features(candidates: CandidateSet) -> dict[str, Floats]:
    """What candidates are whatever is asked, U: length, who is spoken of, places in the lists."""
    places = {
        name: {memory_id: rank for rank, memory_id in enumerate(candidates.lists.get(name, ()))}
        for name in ("vector", "lexical")
    }
    return {
        "length": np.log(np.maximum(candidates.own_length, 1.0)),
        "short": (candidates.own_length < SHORT).astype(np.float64),
        "first_person": _says_i(candidates),
    } | {
        f"{name}_rank": RANKS
        / (RANKS + np.array([ranks.get(id_, np.inf) for id_ in candidates.ids]))
        for name, ranks in places.items()
    }


def _says_i(candidates: CandidateSet) -> Floats:
    """Whether each speaks in the first person, U; NaN where that is not known."""
    return candidates.says_i if len(candidates.says_i) else np.full(len(candidates), np.nan)


@dataclass(frozen=True, slots=True)
class Sessions:
    """What the candidates of each one's session come to together.

    number: of each candidate its session's, U. by_session: the candidates, session by session.
    starts: where in that order each session begins.
    """

    number: Ints
    by_session: Ints
    starts: Ints

    @classmethod
    def of(cls, candidates: CandidateSet) -> Self:
        """Number the sessions; a candidate of no session has one of its own."""
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
        return cls(number, by_session, starts)

    def best(self, values: Floats) -> Floats:
        """The best value of each candidate's session. values: P × U."""
        if not len(self.number):
            return values
        best = np.maximum.reduceat(values[:, self.by_session], self.starts, axis=1)
        return best[:, self.number]

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


def token_features(sessions: Sessions, asked: AskedTokens) -> dict[str, Floats]:
    """How near tokens come to those of each part, P × U."""
    tokens = (asked.worth @ asked.near).astype(np.float64)
    best = np.where(asked.known, tokens, 0.0).max(axis=1, keepdims=True, initial=0.0)
    values = (tokens, tokens - best, asked.worth @ asked.around, sessions.best(tokens))
    has_tokens: Flags = asked.worth.max(axis=1, keepdims=True) > 0
    known = asked.known & has_tokens
    return {
        name: np.where(known, value, np.nan)
        for name, value in zip(TOKEN_FEATURES, values, strict=True)
    }


def table(features: Mapping[str, Floats], names: Sequence[str], shape: tuple[int, ...]) -> Floats:
    """The features of these names in a shape, F × shape; NaN for one that the query has not."""
    values = np.empty((len(names), *shape))
    for place, name in enumerate(names):
        values[place] = features.get(name, np.nan)
    return values
