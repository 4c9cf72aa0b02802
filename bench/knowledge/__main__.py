"""`python -m bench.knowledge`: what is learnt of what people tell, over HTTP, without a model."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bench.host import ROOT
from bench.knowledge.measures import MEASURES, Outcome
from bench.knowledge.service import Service, hosted

FOLDER = Path(__file__).parent
PARTS = (
    "more, oblique, talks, aside: further sets to tune by, oblique with changes told in passing, "
    "talks and aside with short everyday talks and requests to forget, passing with changes and "
    "contradictions in words of their own; judge, held: nobody tunes by these"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the named sets and print shares by kind and language."""
    options = _options(arguments)
    names = (
        options.sets.split(",")
        if options.sets
        else [name for name in MEASURES if _file(name, options).exists()]
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        hosted(Path(folder), options.embedder, app=options.code) as client,
    ):
        for name in names:
            _measure(Service(client), name, options)
    return 0


def _file(name: str, options: argparse.Namespace) -> Path:
    folder: Path = options.folder
    return folder / f"{name}_{options.part}.json"


def _measure(service: Service, name: str, options: argparse.Namespace) -> None:
    items = json.loads(_file(name, options).read_text(encoding="utf-8"))
    outcomes: list[Outcome] = []
    for outcome in MEASURES[name](service, items):
        outcomes.append(outcome)
        if options.show and not outcome.good and options.part != "held":
            print(f"  {outcome.kind} {outcome.id} [{outcome.lang}] {outcome.seen}")
    print(f"{name} ({options.part})")
    for kind in dict.fromkeys(outcome.kind for outcome in outcomes):
        of_kind = [outcome for outcome in outcomes if outcome.kind == kind]
        by_language = Counter(outcome.lang for outcome in of_kind)
        good = Counter(outcome.lang for outcome in of_kind if outcome.good)
        languages = ", ".join(
            f"{lang} {good[lang]}/{count}" for lang, count in sorted(by_language.items())
        )
        print(
            f"  {kind:24} {sum(good.values()):4}/{len(of_kind):<4} "
            f"{sum(good.values()) / len(of_kind):6.1%}  ({languages})",
            flush=True,
        )


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.knowledge", description=__doc__)
    parser.add_argument("--sets", help="which of the sets (default: all that have the part)")
    parser.add_argument(
        "--part",
        choices=("dev", "more", "oblique", "talks", "aside", "passing", "judge", "held"),
        default="dev",
        help=PARTS,
    )
    parser.add_argument(
        "--show", action="store_true", help="print what went wrong (not of the held part)"
    )
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument(
        "--code", type=Path, default=ROOT, help="the folder of another version of the code"
    )
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the sets are")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
