"""`python -m bench.answers SET.json`: answers from contexts by the user's own model,
judged by it, beside plain BM25's contexts.

SET is a file of conversations in a form that `bench.locomo_data` reads. The model is that of the
product's settings (LLM_PROVIDER and the others). Each question is four calls: an answer from Memory
Core's context and one from BM25's, and a judgement of each. A run that was stopped, or that the
model was not there for, goes on where it stopped when it is started again.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from bench.answers.model import Model, configured, model_name
from bench.answers.plan import WAYS, Cost, Item, cost_of, fingerprint, items_of
from bench.answers.report import report, rows_of
from bench.answers.run import Run
from bench.answers.state import OtherRun, State
from bench.host import ROOT
from bench.knowledge.service import ANSWER_S, Service, hosted
from bench.locomo_data import Conversation, read
from bench.yardstick.ways import progress
from memory_core.config import ConfigError, Settings
from memory_core.domain.errors import Unavailable

FAILED, REFUSED, STOPPED = 1, 2, 130
FORMED_S = 900.0
"""How long a call's messages may take to be formed."""
FORMING = "LLM_"
"""The settings that the started host takes too, where the model is to form memories as well."""


def main(
    arguments: Sequence[str] | None = None,
    environ: Mapping[str, str] | None = None,
    confirm: Callable[[str], str] = input,
) -> int:
    """Measure and print.

    Args:
        arguments: of the command line.
        environ: where the model's settings are.
        confirm: asks a person, and gives what they typed.

    Returns:
        0; 1 where the model or the host could not be reached; 2 where something is wrong with what
        was given, or the price was not agreed to; 130 when it was stopped.

    """
    environ = os.environ if environ is None else environ
    options = _options(arguments)
    try:
        settings = configured(environ)
        whole = read(options.data)
        about = {
            "set": fingerprint(whole),
            "model": model_name(settings),
            "host": options.base or _forming(options),
        }
        state = State.open(options.state, **about)
    except (ConfigError, OtherRun) as error:
        return _say(str(error), REFUSED)
    except OSError as error:
        return _say(f"{error.filename}: {error.strerror}", REFUSED)
    conversations = whole[: options.limit]
    items = items_of(conversations, options.questions)
    cost = cost_of(items, options.ways, state.answers, state.verdicts)
    if cost.calls:
        _tell_cost(cost, options, settings)
        if not options.yes and not _agreed(confirm):
            return _say("Nothing was asked.", REFUSED)
    return _measured(options, settings, environ, state, conversations, items)


def _measured(
    options: argparse.Namespace,
    settings: Settings,
    environ: Mapping[str, str],
    state: State,
    conversations: Sequence[Conversation],
    items: Sequence[Item],
) -> int:
    code = 0
    try:
        if cost_of(items, options.ways, state.answers, state.verdicts).calls:
            failed = _run(options, settings, environ, state, conversations, items)
            for (question, way), why in failed.items():
                progress(f"{question}, {way}: no usable answer ({why}); the next run asks again")
    except KeyboardInterrupt:
        code = _say("Stopped; start it again to go on.", STOPPED)
    except Unavailable as error:
        code = _say(f"The model can't be asked ({error.detail}). Start it again to go on.", FAILED)
    except (httpx.HTTPError, RuntimeError, TimeoutError) as error:
        code = _say(
            f"The host can't be asked ({type(error).__name__}: {error}). Start it again to go on.",
            FAILED,
        )
    rows = rows_of(items, state, options.ways)
    if rows:
        report(
            f"{options.data.stem}: right answers by {model_name(settings)}, judged by itself",
            rows,
            options.ways,
        )
    print(
        f"\n{len(rows)} of {len(items)} questions are judged; {state.spent[0]:,} prompt and "
        f"{state.spent[1]:,} completion tokens so far."
    )
    return code


def _run(
    options: argparse.Namespace,
    settings: Settings,
    environ: Mapping[str, str],
    state: State,
    conversations: Sequence[Conversation],
    items: Sequence[Item],
) -> dict[tuple[str, str], str]:
    """Ask what is left; the questions and ways without a usable answer."""
    with _host(options, environ) as client:

        async def ask() -> dict[tuple[str, str], str]:
            model = Model(settings)
            run = Run(Service(client, wait_s=FORMED_S), model, state, options.ways)
            try:
                await run.ask(conversations, items)
            finally:
                await model.close()
            return run.failed

        return asyncio.run(ask())


@contextmanager
def _host(options: argparse.Namespace, environ: Mapping[str, str]) -> Iterator[httpx.Client]:
    """A client of the host that was named, or of one that runs meanwhile on a folder
    beside the state.
    """
    if options.base:
        headers = {"X-API-Key": options.key} if options.key else {}
        with httpx.Client(base_url=options.base, timeout=ANSWER_S, headers=headers) as client:
            yield client
        return
    models = (
        {name: value for name, value in environ.items() if name.startswith(FORMING)}
        if options.form_with_model
        else {}
    )
    with hosted(options.state.with_suffix(".data"), options.embedder, settings=models) as client:
        yield client


def _tell_cost(cost: Cost, options: argparse.Namespace, settings: Settings) -> None:
    price_in = options.price_in if options.price_in is not None else settings.llm_prompt_price
    price_out = (
        options.price_out if options.price_out is not None else settings.llm_completion_price
    )
    tokens = f"about {cost.prompt:,} prompt tokens, about {cost.completion:,} completion tokens"
    print(f"{cost.calls:,} calls of {model_name(settings)}: {tokens}.")
    if price_in or price_out:
        print(
            f"Cost: about {cost.price(price_in, price_out):,.2f}, at {price_in:g} and "
            f"{price_out:g} for a million tokens."
        )
    else:
        print("Cost: unknown; --price-in and --price-out say what a million tokens cost.")
    if options.form_with_model:
        print(
            "Forming memories with the model comes on top: four calls or more for each topic of "
            "the conversations.",
            flush=True,
        )


def _agreed(confirm: Callable[[str], str]) -> bool:
    try:
        return confirm("Go on? [y/N] ").strip().casefold() in ("y", "yes")
    except EOFError:
        return False


def _say(text: str, code: int) -> int:
    print(text, file=sys.stderr, flush=True)
    return code


def _forming(options: argparse.Namespace) -> str:
    return f"{options.embedder}, formed by {'the model' if options.form_with_model else 'rules'}"


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.answers",
        description="Answers from contexts, by the configured model.",
    )
    parser.add_argument(
        "data", type=Path, help="conversations in a form that bench.locomo_data reads"
    )
    parser.add_argument(
        "--state",
        type=Path,
        required=True,
        help="the file that keeps what was paid for; outside this repository",
    )
    parser.add_argument(
        "--base",
        help=(
            "the address of a running host; without it one is started, with its data beside "
            "the state"
        ),
    )
    parser.add_argument("--key", help="the host's API key")
    parser.add_argument(
        "--embedder", default="minilm", help="of the host that is started (default minilm)"
    )
    parser.add_argument(
        "--form-with-model",
        action="store_true",
        help="the started host forms memories with the model too, not by rules",
    )
    parser.add_argument(
        "--ways", type=_ways, default=list(WAYS), help=f"of {', '.join(WAYS)} (default both)"
    )
    parser.add_argument("--limit", type=int, help="conversations, from the first")
    parser.add_argument(
        "--questions", type=int, help="questions of each conversation, from the first"
    )
    parser.add_argument(
        "--price-in",
        type=float,
        help="what a million prompt tokens cost (default LLM_PROMPT_PRICE)",
    )
    parser.add_argument(
        "--price-out",
        type=float,
        help="what a million completion tokens cost (default LLM_COMPLETION_PRICE)",
    )
    parser.add_argument("--yes", action="store_true", help="don't ask whether to go on")
    options = parser.parse_args(arguments)
    if options.state.resolve().is_relative_to(ROOT):
        parser.error("--state: what comes of a data set is not kept within this repository")
    return options


def _ways(text: str) -> list[str]:
    given = [name.strip() for name in text.split(",")]
    if unknown := set(given) - {*WAYS}:
        raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: there is no such way")
    return [way for way in WAYS if way in given]


if __name__ == "__main__":
    sys.exit(main())
