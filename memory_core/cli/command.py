"""How commands run: their common options, their service, and their errors."""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, NoReturn, get_type_hints

import typer

from memory_core.cli.output import Output
from memory_core.cli.service import CallFailed, MemoryService, open_service
from memory_core.cli.target import Target, target_of
from memory_core.domain.errors import MemoryCoreError, PlainError, described

FAILED, USAGE, NOT_FOUND, REFUSED, UNAVAILABLE, INTERRUPTED = 1, 2, 3, 4, 5, 130
_REFUSED_STATUSES, _OUTAGES = (401, 403), (429, 502, 503, 504)
EXIT_CODES = (
    {400: USAGE, 404: NOT_FOUND, 422: USAGE}
    | dict.fromkeys(_REFUSED_STATUSES, REFUSED)
    | dict.fromkeys(_OUTAGES, UNAVAILABLE)
)
"""Exit codes by HTTP status. Any other status is FAILED, and no answer is UNAVAILABLE."""
EPILOG = (
    "Exit codes: 0 done, 1 failed, 2 wrong usage or settings, 3 not found, 4 refused (key or "
    "right), 5 not available, 130 interrupted."
)
_WHERE = "Which memory"
UrlOption = Annotated[
    str | None,
    typer.Option(
        "--url",
        help="Address of a running service (MEMORY_CORE_URL): faster.",
        rich_help_panel=_WHERE,
    ),
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        "--key", help="API key for --url (better: MEMORY_CORE_KEY).", rich_help_panel=_WHERE
    ),
]
DataOption = Annotated[
    str | None,
    typer.Option(
        "--data",
        help=(
            "Data folder on this machine (MEMORY_DATA; default .memory where there is one, else a "
            "folder of the user's data)."
        ),
        rich_help_panel=_WHERE,
    ),
]
UserOption = Annotated[
    str | None,
    typer.Option(
        "--user", help="Whose memories (MEMORY_CORE_USER, default me).", rich_help_panel=_WHERE
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
COMMON = {
    "url": UrlOption,
    "key": KeyOption,
    "data": DataOption,
    "user": UserOption,
    "json": JsonOption,
}


@dataclass(frozen=True, slots=True)
class CommandRun:
    """The target and the output of a command.

    Attributes:
        named_user: The user of `--user`; None where it was not given.

    """

    target: Target
    output: Output
    named_user: str | None = None

    def service(self, *, works: bool = False) -> Any:
        """The service for as long as an `async with` lasts; see `open_service`."""
        return open_service(self.target, works=works)


class CommandFailed(Exception):
    """Ends a command with an exit code; `detail` has the reason."""

    def __init__(self, detail: str, code: int = FAILED) -> None:
        super().__init__(detail)
        self.detail, self.code = detail, code


Command = Callable[..., Awaitable[None]]


def command(app: typer.Typer, name: str | None = None) -> Callable[[Command], Command]:
    """Register an async function as a command.

    Its first parameter is the CommandRun; the rest are its own arguments and options.

    Args:
        app: The application that gets the command.
        name: The name of the command; None derives it from the function's name.

    """

    def register(function: Command) -> Command:
        hints = get_type_hints(function, include_extras=True)
        own = list(inspect.signature(function).parameters.values())[1:]
        parameters = [parameter.replace(annotation=hints[parameter.name]) for parameter in own]
        parameters += [
            inspect.Parameter(
                option,
                inspect.Parameter.KEYWORD_ONLY,
                default=False if option == "json" else None,
                annotation=annotation,
            )
            for option, annotation in COMMON.items()
        ]

        def run(**values: Any) -> None:
            common = {option: values.pop(option) for option in COMMON}
            output = Output(as_json=common.pop("json"))
            finish(output, lambda: asyncio.run(_run(function, common, output, values)))

        run.__name__, run.__doc__ = function.__name__, function.__doc__
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        app.command(name or function.__name__.replace("_", "-"), epilog=EPILOG)(run)
        return function

    return register


async def _run(
    function: Command, common: dict[str, Any], output: Output, values: dict[str, Any]
) -> None:
    target = target_of(**common, environ=os.environ)
    await function(CommandRun(target, output, common["user"]), **values)


def finish(output: Output, act: Callable[[], None]) -> None:
    """Run a command, and turn errors into a message and an exit code.

    Args:
        output: The output of the message.
        act: The command.

    Raises:
        typer.Exit: With the exit code, after an error.

    """
    try:
        act()
    except CommandFailed as error:
        _exit(output, error.detail, error.code)
    except CallFailed as error:
        code = UNAVAILABLE if error.status is None else EXIT_CODES.get(error.status, FAILED)
        _exit(output, error.detail, code, error)
    except KeyError as error:  # of an address where something else answers, or a much newer service
        _exit(output, f"the answer is not one that this version knows: it has no {error}", FAILED)
    except ModuleNotFoundError as error:
        _exit(
            output,
            f"{error.name} is not installed; a memory on this machine needs pip install '.[local]'",
            FAILED,
        )
    except ValueError as error:
        _exit(output, described(error), USAGE)
    except MemoryCoreError as error:
        _exit(output, described(error), EXIT_CODES.get(error.status, FAILED))
    except BrokenPipeError:
        # the reader has seen enough, as `head` has; what is left over would fail at the exit of
        # the interpreter
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise typer.Exit(0) from None
    except OSError as error:
        _exit(output, described(error), FAILED)
    except KeyboardInterrupt:
        _exit(output, "interrupted", INTERRUPTED)


def _exit(output: Output, detail: str, code: int, error: CallFailed | None = None) -> NoReturn:
    output.failure(detail, code, error)
    raise typer.Exit(code) from None


def confirm_for_good(run: CommandRun, act: str, question: str) -> None:
    """Ask for confirmation before an act that cannot be undone.

    Args:
        run: The run of the command.
        act: The act, as the subject of a message.
        question: The question to the user.

    Raises:
        PlainError: There is no terminal to ask on.
        typer.Abort: The user said no.

    """
    if run.output.as_json or not sys.stdin.isatty():
        raise PlainError(f"{act} can't be undone, and nobody can be asked here: say --yes")
    typer.confirm(question, abort=True, err=True)


async def finished(
    run: CommandRun, service: MemoryService, task_id: str, label: str
) -> dict[str, Any]:
    """Wait for a task, and show its progress meanwhile.

    Args:
        run: The run of the command.
        service: The service.
        task_id: The id of the task.
        label: The name of the work in the progress display.

    Returns:
        The task, which has succeeded.

    Raises:
        CommandFailed: The task ended otherwise.

    """
    with run.output.progress() as progress:
        bar = progress.add_task(label, total=1.0, detail="")
        task = await service.ended_task(
            task_id,
            lambda task: progress.update(
                bar, completed=task.get("progress") or 0.0, detail=task.get("step") or ""
            ),
        )
    if task["status"] != "succeeded":
        raise CommandFailed(
            f"the task {task_id} is {task['status']}: {task.get('error') or 'no reason is given'}"
        )
    return task
