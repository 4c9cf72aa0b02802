"""What each group of features earns in the learned order: `python -m bench.order_groups SET.json…
--keep DIR --tables TABLES`.

The options are those of `bench.learn_order`. Weights are learned without the group, and its worth
is what recall@10 loses, question by question, with the 95 % interval over conversations: left out,
where no conversation is ordered by weights that learned of it, and in sample.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.learn_order import Example, gather_sets, learn, left_out, recall
from bench.learn_tokens import ADVERSARIAL
from bench.tables import show
from bench.yardstick.figures import figure
from memory_core.domain.ranking.learned_order import TOKEN_FEATURES

GROUPS = {
    "tokens": TOKEN_FEATURES,
    "sessions": ("session_best", "session_three", "session_words", "session_cosine"),
    "turns beside": (
        "cosine_before",
        "cosine_after",
        "relevance_before",
        "relevance_two_away",
        "covered",
        "said_or_before",
        "words_before",
        "around",
    ),
    "first person": ("first_person", "first_person_named"),
    "length": ("length", "long", "short"),
    "what is asked for": ("question", "short_question", "tells_time", "asked_time", "window"),
    "an assistant's turns": (
        "assistant",
        "assistant_asked",
        "assistant_relevance",
        "assistant_cosine_before",
    ),
    "words": ("own_words", "own_terms", "rarest"),
    "places in the lists": ("vector_rank", "lexical_rank", "in_lexical"),
}
SEVERAL_TURNS = "multi-hop"
Chosen = Callable[[Example], bool]


def in_sample(examples: Sequence[Example], names: tuple[str, ...]) -> list[float]:
    """The recall of each question by weights that learned of it."""
    learned = learn(examples, names)
    return [recall(example, learned.logits(example)) for example in examples]


def columns(sets: Sequence[str]) -> dict[str, Chosen]:
    """By heading, which questions count; kinds apart are those of the first set."""

    def of_set(place: int) -> Chosen:
        return lambda example: example.of == place and example.kind != ADVERSARIAL

    def of_kind(kind: str) -> Chosen:
        return lambda example: example.of == 0 and example.kind == kind

    kinds = {f"{sets[0]}, {kind}": of_kind(kind) for kind in (SEVERAL_TURNS, ADVERSARIAL)}
    return {name: of_set(place) for place, name in enumerate(sets)} | kinds


def print_table(
    title: str,
    examples: Sequence[Example],
    sets: Sequence[str],
    recalls: Callable[[Sequence[Example], tuple[str, ...]], list[float]],
) -> None:
    """Print what each group earns. recalls: of examples by an order of named features."""
    every = max((example.names for example in examples), key=len)
    whole, rows = recalls(examples, every), []
    chosen = columns(sets)
    for group, members in {"all": (), **GROUPS}.items():
        names = tuple(name for name in every if name not in members)
        without = recalls(examples, names) if members else [0.0] * len(examples)
        row = [group, str(len(every) - len(names)) if members else str(len(every))]
        for counts in chosen.values():
            places = [place for place, example in enumerate(examples) if counts(example)]
            earned = figure(
                [whole[place] - without[place] for place in places],
                [examples[place].conversation for place in places],
            )
            row.append(earned.difference() if members else earned.shown())
        rows.append(row)
    show(title, ("", "features", *chosen), rows)


def main() -> None:
    """Gather and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--tables", type=Path)
    options = parser.parse_args()
    sets = [file.stem for file in options.data]
    examples = gather_sets(options.data, options.keep, options.tables)
    print_table("recall@10 that a group earns, left out", examples, sets, left_out)
    print_table("recall@10 that a group earns, in sample", examples, sets, in_sample)


if __name__ == "__main__":
    main()
