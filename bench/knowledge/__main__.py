"""`python -m bench.knowledge`: what is learnt of what people tell, over HTTP.

It is measured without a model, or with `--model-folder` with one whose answers are on file.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.formation_calls import RemoteModel
from bench.host import ROOT
from bench.knowledge.measures import MEASURES, Item, Outcome
from bench.knowledge.recorded import RecordedModel
from bench.knowledge.service import Service, hosted
from tests.served import serving

FOLDER = Path(__file__).parent
OPEN_PARTS = ("dev", "more", "oblique", "talks", "aside", "passing", "fresh", "everyday")
KEPT_PARTS = ("judge", "held", "apart")
PARTS = (
    "more, oblique, talks, aside: further sets to tune by, oblique with changes told in passing, "
    "talks and aside with short everyday talks and requests to forget, passing with changes and "
    "contradictions in words of their own, fresh by four and everyday "
    "by eight authors who know nothing of the product; "
    "judge, held, apart (the other half of fresh): nobody tunes by these"
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
        _settings(options) as settings,
        tempfile.TemporaryDirectory() as folder,
        hosted(Path(folder), options.embedder, app=options.code, settings=settings) as client,
    ):
        for name in names:
            _measure(Service(client), name, options)
    return 0


@contextmanager
def _settings(options: argparse.Namespace) -> Iterator[Mapping[str, str]]:
    """The settings of the model while it is served; none without one."""
    if options.model_folder is None:
        yield {}
        return
    service = (
        RemoteModel(options.model_url, options.model_name, options.model_key)
        if options.model_url
        else None
    )
    model = RecordedModel(options.model_folder, service)
    with serving(model):
        yield model.settings
    print(f"model: {dict(model.counts)}")


def _file(name: str, options: argparse.Namespace) -> Path:
    folder: Path = options.folder
    return folder / f"{name}_{options.part}.json"


def _each(items: dict[str, list[Item]], every: int) -> dict[str, list[Item]]:
    """Every `every`th item of each kind and language."""
    if every == 1:
        return items
    chosen: dict[str, list[Item]] = {}
    for kind, listed in items.items():
        languages = dict.fromkeys(item["lang"] for item in listed)
        chosen[kind] = [
            item
            for language in languages
            for item in [each for each in listed if each["lang"] == language][::every]
        ]
    return chosen


def _measure(service: Service, name: str, options: argparse.Namespace) -> None:
    items = _each(json.loads(_file(name, options).read_text(encoding="utf-8")), options.every)
    outcomes: list[Outcome] = []
    for outcome in MEASURES[name](service, items):
        outcomes.append(outcome)
        if options.show and not outcome.good and options.part not in KEPT_PARTS:
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
    parser.add_argument("--part", choices=OPEN_PARTS + KEPT_PARTS, default="dev", help=PARTS)
    parser.add_argument(
        "--show", action="store_true", help="print what went wrong (not of the kept parts)"
    )
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument(
        "--code", type=Path, default=ROOT, help="the folder of another version of the code"
    )
    parser.add_argument(
        "--every", type=int, default=1, help="take every Nth item of each kind and language"
    )
    parser.add_argument(
        "--model-folder", type=Path, help="with a model, whose answers are kept in this folder"
    )
    parser.add_argument("--model-url", help="who answers what has no answer yet, up to /v1")
    parser.add_argument("--model-name", default="", help="the model's name there")
    parser.add_argument("--model-key", default="", help="the key there")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the sets are")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
