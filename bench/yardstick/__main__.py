"""`python -m bench.yardstick SET.json…`: what is found and what is in contexts, over HTTP,
beside plain search in the same run.

SET is a file of conversations in a form that `bench.locomo_data` reads. A host with the local
embedder and no language model is started for the run. Tables go to stdout, progress to stderr,
everything to the file of `--json`, which is written after each way.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, get_args

from bench.host import ROOT
from bench.locomo_data import read
from bench.yardstick import frames, timing, told, turns, units, unrelated
from bench.yardstick.peers import Embedder
from bench.yardstick.service import Users, running
from bench.yardstick.ways import Given, Measured, progress
from memory_core.domain.joint_answers import FormationCalls
from memory_core.localhost.workers import number_of

FRAMES = ROOT / "bench" / "frames.json"
UNITS = "units"
MODES: tuple[FormationCalls, ...] = get_args(FormationCalls)
WAYS: dict[str, Callable[[Given], Measured]] = {
    "turns": turns.measure,
    "told": told.measure,
    "frames": frames.measure_frames,
    "two": frames.measure_two,
    "unrelated": unrelated.measure,
    "after202": timing.measure_after_202,
    "latency": timing.measure_latency,
}
STOPPED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 130 when it was stopped."""
    options = _options(arguments)
    signal.signal(signal.SIGTERM, _stop)
    report: dict[str, Any] = {
        "arguments": sys.argv[1:],
        "python": platform.python_version(),
        "version": units.version(ROOT),
        "sets": {},
    }
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, load "
        f"{os.getloadavg()[0]:.1f}, profile {options.profile}",
        flush=True,
    )
    try:
        with ExitStack() as ending:
            _run(options, report, ending)
    except KeyboardInterrupt:
        progress("Stopped; nothing is left running.")
        return STOPPED
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.yardstick",
        description="Measures Memory Core over HTTP beside plain search.",
    )
    parser.add_argument(
        "data", type=Path, nargs="*", help="conversations in a form that bench.locomo_data reads"
    )
    parser.add_argument(
        "--profile",
        choices=("embedded", "azure"),
        default="embedded",
        help="what the host stands on (default embedded)",
    )
    parser.add_argument(
        "--ways",
        type=_ways,
        default=[*WAYS, UNITS],
        help=f"of {','.join((*WAYS, UNITS))} (default all)",
    )
    parser.add_argument(
        "--calls",
        type=_calls,
        default=["50"],
        help=(
            f"messages a call where sessions are told, or {', '.join(told.ALL_HISTORIES)}; several "
            "with commas (default 50)"
        ),
    )
    parser.add_argument("--limit", type=int, help="conversations of each set, from the first")
    parser.add_argument(
        "--frames", type=Path, action="append", default=[], help="a further file of [before, after]"
    )
    parser.add_argument(
        "--code",
        type=Path,
        action="append",
        default=[],
        help="the folder of another version, for units",
    )
    parser.add_argument(
        "--formation-calls",
        type=_modes,
        default=[None],
        metavar="MODES",
        help=f"in which calls a model is asked for units, of {','.join(MODES)} (default no model)",
    )
    parser.add_argument(
        "--json", type=Path, help="a file for all figures and what each question came to"
    )
    parser.add_argument(
        "--keep",
        type=Path,
        help="a folder for the host's data, which another run takes as they are",
    )
    parser.add_argument(
        "--workers",
        type=number_of,
        default=1,
        metavar="N",
        help="processes of the host; auto, as `make run` (default 1)",
    )
    options = parser.parse_args(arguments)
    if not options.data and set(options.ways) != {UNITS}:
        parser.error("all ways but units need a file of conversations")
    if len({file.stem for file in options.data}) < len(options.data):
        parser.error("two files have the same name")
    return options


def _ways(text: str) -> list[str]:
    given = text.split(",")
    if unknown := set(given) - {*WAYS, UNITS}:
        raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: there is no such way")
    return [way for way in (*WAYS, UNITS) if way in given]


def _modes(text: str) -> list[FormationCalls | None]:
    given = text.split(",")
    if unknown := set(given) - {*MODES}:
        raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: there is no such mode")
    return [mode for mode in MODES if mode in given]


def _calls(text: str) -> list[str]:
    given = text.split(",")
    for how in given:
        if how not in told.ALL_HISTORIES and not (
            how.isdecimal() and 1 <= int(how) <= told.MOST_MESSAGES
        ):
            raise argparse.ArgumentTypeError(
                f"{how}: neither a number up to {told.MOST_MESSAGES} nor a kind of history"
            )
    return given


def _run(options: argparse.Namespace, report: dict[str, Any], ending: ExitStack) -> None:
    over_http = [way for way in options.ways if way != UNITS]
    if over_http:
        temporary = ending.enter_context(
            tempfile.TemporaryDirectory(prefix="memory-core-bench-", ignore_cleanup_errors=True)
        )
        folder = (options.keep or Path(temporary)) / options.profile
        folder.mkdir(parents=True, exist_ok=True)
        service = ending.enter_context(running(options.profile, folder, workers=options.workers))
        embedder = ending.enter_context(Embedder())
        texts = {
            file.stem: [(before, after) for before, after in json.loads(file.read_text())]
            for file in (FRAMES, *options.frames)
        }
        for file in options.data:
            given = Given(
                name=file.stem,
                all=read(file),
                most=options.limit,
                profile=options.profile,
                service=service,
                users=Users(service, folder, file.stem),
                embedder=embedder,
                calls=options.calls,
                frames=texts,
                has_told="told" in options.ways,
                folder=Path(temporary) / "peers" / file.stem,
            )
            ending.callback(given.close)
            for way in over_http:
                _keep(options, report, file.stem, way, partial(WAYS[way], given))
    if UNITS in options.ways:
        codes = [ROOT, *(code.resolve() for code in options.code)]
        _keep(
            options,
            report,
            "",
            UNITS,
            lambda: units.measure(
                codes, options.limit or units.CONVERSATIONS, options.formation_calls
            ),
        )


def _keep(
    options: argparse.Namespace,
    report: dict[str, Any],
    name: str,
    way: str,
    measure: Callable[[], Measured],
) -> None:
    """Measure a way, and write down all that is known so far."""
    began = time.perf_counter()
    measured = measure()
    took = time.perf_counter() - began
    progress(f"{name or way}, {way}: took {took:.0f} s")
    rows = {key: [row.plain() for row in of_key] for key, of_key in measured.rows.items()}
    report["sets"].setdefault(name, {})[way] = {
        "seconds": round(took, 1),
        "figures": measured.figures,
        "rows": rows,
    }
    if options.json:
        options.json.write_text(json.dumps(_finite(report), indent=1))


def _finite(value: Any) -> Any:
    """The same without NaN, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _stop(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    raise SystemExit(main())
