"""`python -m bench.pictures [FOLDER]`: draws how the four recipes order the same candidates,
for docs/ranking.md.

Seven memories are saved at their ages, one question is asked, and the recipes of the product score
what the search found: relevance, recency and importance are measured, not made up.

Note: accesses are set here, because the product counts them minutes after they happen; and
importance has faded by then, halved every 30 days since a memory was last touched.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np

from memory_core.adapters.system import SystemClock
from memory_core.bootstrap.rules import retrieve_rules
from memory_core.config import Settings
from memory_core.core import MemoryCore
from memory_core.domain.ranking.candidates import CandidateSet, Floats
from memory_core.domain.ranking.measures import Measures
from memory_core.domain.ranking.query import QueryPart, analyse_query
from memory_core.domain.ranking.recipes import DEFAULT_WEIGHTS, Recipe, Scores, score
from memory_core.domain.requests.memories import SaveInput
from memory_core.domain.scope import Owner
from memory_core.ports import Filter, Search

QUERY = "Where does Dee sail her boat?"
TODAY = datetime(2026, 5, 8, 12, tzinfo=timezone.utc)
OWNER = Owner("local", "dee")
RECIPES: tuple[Recipe, ...] = ("composite", "balanced", "weighted", "linear")
PARTS = ("relevance", "recency", "importance", "frequency", "confidence")
PART_COLOURS = ("#4c6fb1", "#e0963c", "#4f9d69", "#a05195", "#b9b9c3")
COLOURS = ("#4c6fb1", "#d1495b", "#4f9d69", "#a05195", "#e0963c", "#2a9d9d", "#7d7d8a")
INK, SOFT = "#1d1d21", "#63636e"


@dataclass(frozen=True, slots=True)
class Told:
    """One memory: its text, how many days ago it was saved, its importance, its accesses and
    its confidence.
    """

    text: str
    days: int
    importance: float
    accesses: int
    confidence: float


MEMORIES = (
    Told("Dee sails her boat on the Tagus", 400, 0.5, 1, 0.9),
    Told("An uncle taught Dee to sail when she was nine", 900, 0.9, 2, 0.6),
    Told("Dee keeps the boat in a marina in Cascais", 90, 0.4, 20, 0.9),
    Told("Dee sold the old boat and bought a bigger one", 7, 0.9, 6, 0.8),
    Told("Dee will sail to Madeira in June", 2, 0.6, 1, 0.7),
    Told("The boat needs a new mast", 30, 0.3, 3, 1.0),
    Told("Dee had lunch with Bo at the harbour", 0, 0.2, 0, 1.0),
)


@dataclass
class Clock(SystemClock):
    """A clock that stays where it is put."""

    moment: datetime = TODAY

    def now(self) -> datetime:
        """The moment it was put to."""
        return self.moment


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw both pictures."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.pictures",
        description="Draws docs/ranking.md's pictures (needs matplotlib).",
    )
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=Path("docs/pictures"),
        help="where to (default docs/pictures)",
    )
    folder = parser.parse_args(arguments).folder
    texts, relevances, scores = asyncio.run(_scored())
    import matplotlib as mpl

    # Ids that are the same each time, and letters as text: a picture that is drawn again differs
    # only where something changed.
    mpl.rcParams.update(
        {
            "svg.hashsalt": "memory-core",
            "svg.fonttype": "path",
            "font.family": "DejaVu Sans",
            "text.color": INK,
        }
    )
    _draw_places(texts, relevances, scores, folder / "recipes-places.svg")
    _draw_parts(texts, relevances, scores, folder / "recipes-parts.svg")
    return 0


async def _scored() -> tuple[list[str], Floats, dict[Recipe, Scores]]:
    """The memories' texts, the relevance of each, and each recipe's scores; the most
    relevant first.
    """
    clock = Clock()
    with tempfile.TemporaryDirectory(prefix="memory-core-pictures-") as folder:
        async with MemoryCore(
            Settings(embedding_provider="minilm", data=Path(folder)), clock=clock
        ) as core:
            ids: dict[str, Told] = {}
            for memory in sorted(MEMORIES, key=lambda told_memory: -told_memory.days):
                clock.moment = TODAY - timedelta(days=memory.days)
                saved = await core.save(
                    OWNER,
                    SaveInput(
                        content=memory.text,
                        importance=memory.importance,
                        confidence=memory.confidence,
                    ),
                )
                ids[saved.memory.id] = memory
            clock.moment = TODAY
            candidates, relevant = await _searched(core)
            scoring = retrieve_rules(core.settings).scoring
    accessed = replace(
        candidates, access_count=np.array([float(ids[name].accesses) for name in candidates.ids])
    )
    order = np.argsort(-relevant, kind="stable")
    scores = {
        recipe: _in_order(
            score(recipe, None, relevant, accessed, TODAY.timestamp(), scoring), order
        )
        for recipe in RECIPES
    }
    return [ids[candidates.ids[row]].text for row in order.tolist()], relevant[order], scores


async def _searched(core: MemoryCore) -> tuple[CandidateSet, Floats]:
    made, query = core._services.adapters, analyse_query(QUERY, TODAY)
    vector = (await made.embedder.embed([QUERY]))[0]
    where = Filter(frozenset({"active"}), now=TODAY)
    answer = await made.long_term.search(
        OWNER, Search(vector, query.terms, 50, where, await made.thesaurus.related(query.terms))
    )
    parameters = retrieve_rules(core.settings).relevance
    measures = Measures([QueryPart.whole(query)], answer.candidates, answer.statistics, parameters)
    return answer.candidates, measures.relevance().score[0]


def _in_order(scores: Scores, order: Any) -> Scores:
    names = ("score", "composite", "importance", "recency", "frequency", "confidence")
    ordered: dict[str, Any] = {
        name: None if (value := getattr(scores, name)) is None else value[order] for name in names
    }
    return Scores(**ordered)


def _contributions(recipe: Recipe, relevances: Floats, scores: Scores) -> dict[str, Floats]:
    """What each part adds to a recipe's score; of composite, whose parts multiply,
    what the boosts add to relevance.
    """
    weights = DEFAULT_WEIGHTS[recipe]
    values = {name: relevances if name == "relevance" else getattr(scores, name) for name in PARTS}
    if recipe == "composite":
        return {
            "relevance": relevances,
            **{name: weights[name] * values[name] * relevances for name in weights},
        }
    return {name: weights[name] * values[name] for name in PARTS if name in weights}


def _draw_places(
    texts: Sequence[str], relevances: Floats, scores: dict[Recipe, Scores], file: Path
) -> None:
    """A line for each memory through its places, by relevance alone and by each recipe."""
    import matplotlib.pyplot as plt

    columns: dict[str, Floats] = {
        "relevance\nalone": relevances,
        **{str(name): scored.score for name, scored in scores.items()},
    }
    places = np.array(
        [np.argsort(np.argsort(-values, kind="stable")) for values in columns.values()]
    )
    figure, axes = plt.subplots(figsize=(10.5, 4.4), layout="constrained")
    for row, text in enumerate(texts):
        axes.plot(places[:, row], color=COLOURS[row], linewidth=2.6, alpha=0.9, zorder=2)
        axes.scatter(range(len(columns)), places[:, row], s=330, color=COLOURS[row], zorder=3)
        for column, values in enumerate(columns.values()):
            mark = f"{values[row]:.2f}".removeprefix("0")
            axes.text(
                column,
                places[column, row],
                mark,
                color="white",
                ha="center",
                va="center",
                fontsize=7.5,
                zorder=4,
            )
        axes.text(
            -0.22, places[0, row], text, color=COLOURS[row], ha="right", va="center", fontsize=9.5
        )
    axes.set_xlim(-2.55, len(columns) - 0.7)
    axes.set_ylim(len(texts) - 0.5, -0.55)
    axes.set_xticks(range(len(columns)), columns, fontsize=10, color=INK)
    axes.xaxis.tick_top()
    axes.set_yticks([])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    _write(figure, file)


def _draw_parts(
    texts: Sequence[str], relevances: Floats, scores: dict[Recipe, Scores], file: Path
) -> None:
    """For each recipe a bar for each memory, best first, made of what each part adds."""
    import matplotlib.pyplot as plt
    from matplotlib.patches import Rectangle

    figure, grid = plt.subplots(2, 2, figsize=(10.5, 5.6), layout="constrained", sharex=True)
    for recipe, axes in zip(RECIPES, grid.flat, strict=True):
        order = np.argsort(-scores[recipe].score, kind="stable")
        left = np.zeros(len(texts))
        for name, added in _contributions(recipe, relevances, scores[recipe]).items():
            axes.barh(
                range(len(texts)),
                added[order],
                left=left,
                height=0.68,
                color=PART_COLOURS[PARTS.index(name)],
            )
            left += added[order]
        for place, total in enumerate(left):
            axes.text(total + 0.012, place, f"{total:.2f}", va="center", fontsize=8, color=SOFT)
        axes.set_title(recipe, loc="left", fontsize=11, fontweight="bold", color=INK)
        axes.set_yticks(range(len(texts)), [texts[row] for row in order], fontsize=8.5)
        axes.invert_yaxis()
        axes.spines[["top", "right", "bottom"]].set_visible(False)
        axes.spines["left"].set_color("#c9c9d2")
        axes.tick_params(length=0, colors=INK)
        axes.set_xticks([])
    handles = [Rectangle((0, 0), 1, 1, color=colour) for colour in PART_COLOURS]
    figure.legend(
        handles, PARTS, loc="outside lower center", ncols=len(PARTS), frameon=False, fontsize=9.5
    )
    _write(figure, file)


def _write(figure: Any, file: Path) -> None:
    import matplotlib.pyplot as plt

    figure.savefig(file, facecolor="white", metadata={"Date": None})
    plt.close(figure)
    # matplotlib ends lines with blanks
    file.write_text(
        "\n".join(line.rstrip() for line in file.read_text(encoding="utf-8").splitlines()) + "\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    raise SystemExit(main())
