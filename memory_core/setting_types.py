"""Types of the values that settings have, and how they are read from the environment.

Each value is checked by itself: numbers in a range, addresses, names of choices, a caller's key.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, SecretStr
from pydantic_core import ErrorDetails

from memory_core.domain.deferred_model import DeferredModel
from memory_core.domain.rate_limits import Rate
from memory_core.domain.redaction.requests import KINDS
from memory_core.domain.scope import check_app_id, check_name


class ApiKey(DeferredModel):
    """Key of a caller, from the settings.

    Attributes:
        sha256: Hex SHA-256 of the whole key `mc_<app>_<id>_<secret>`.
        user: The only user_id that the key may name; None for any.

    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9]{1,64}$")]
    app: Annotated[str, AfterValidator(check_app_id)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{64}$")]
    rights: Annotated[frozenset[Literal["read", "write", "admin"]], Field(min_length=1)]
    user: Annotated[str, AfterValidator(check_name)] | None = None


def _lower(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def _upper(value: Any) -> Any:
    return value.strip().upper() if isinstance(value, str) else value


def from_json(value: Any) -> Any:
    """Parse a JSON text. Raises ValueError for a text that is not JSON."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        raise ValueError(
            'should be a JSON list like [{"id": …, "app": …, "sha256": …, "rights": ["read", '
            '"write"]}]'
        ) from None


def long_enough(value: SecretStr) -> SecretStr:
    """Check the length of a secret. Raises ValueError for a secret that could be guessed."""
    if len(value.get_secret_value()) < 16:
        raise ValueError("should be at least 16 characters long")
    return value


def check_address(value: str) -> str:
    """Check an address. Raises ValueError if its host or port can't be reached."""
    try:
        parts = urlsplit(value)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError(f"is not an address: {error}") from None
    if not host or port == 0:
        raise ValueError(f"is not an address: there is no {'port 0' if host else 'host in it'}")
    return value


def redis_address(value: SecretStr) -> SecretStr:
    """Check the address of a Redis.

    Raises ValueError without any part of the address, since it may contain a password.
    """
    url = value.get_secret_value()
    if not url.startswith(("redis://", "rediss://", "unix://")):
        raise ValueError("should begin with redis://, rediss:// or unix://")
    try:
        parts = urlsplit(url)
        usable = (
            bool(parts.path)
            if parts.scheme == "unix"
            else parts.port != 0 and (parts.path.strip("/") or "0").isdecimal()
        )
    except ValueError:
        usable = False
    if not usable:
        raise ValueError(
            "should be like rediss://:password@host:6380/0 or unix:///path; what is special in a "
            "password is percent-encoded"
        )
    return value


def connection_string(value: SecretStr) -> SecretStr:
    """Check the connection string of a storage account.

    Raises ValueError without any part of the string, since it contains a key.
    """
    parts = [part for part in value.get_secret_value().split(";") if part.strip()]
    if any("=" not in part for part in parts):
        raise ValueError(
            "should be Name=Value pairs with semicolons between, as the account's page of access "
            "keys shows it"
        )
    return value


def _at_home(folder: Path) -> Path:
    try:
        return folder.expanduser()
    except RuntimeError:  # "~0", "~a-stranger"
        raise ValueError("should name the home of a user who has one") from None


# Access tokens of Entra ID: who issues them, and what their claims mean.


_TENANT_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_CLAIM = re.compile(r"claim:[A-Za-z0-9_.:/-]{1,200}")
_GRANT = re.compile(r"([^\s=,]{1,120})=(read|write|admin)")


def check_tenant_id(value: str) -> str:
    """Return the id of a tenant in lower case.

    Raises ValueError for a name, and for `common`, which stands for all tenants.
    """
    if not _TENANT_ID.fullmatch(value.lower()):
        raise ValueError(
            "should be the id of one tenant, like 72f988bf-86f1-41af-91ab-2d7cd011db47; names and "
            "`common` are not taken"
        )
    return value.lower()


def check_authority(value: str) -> str:
    """Return the authority without a slash at its end.

    Raises ValueError for an authority that is asked over plain HTTP on another machine.
    """
    parts = urlsplit(value)
    if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "::1", "localhost"):
        raise ValueError("should begin with https://")
    return value.rstrip("/")


def check_claim(value: str) -> str:
    """Check a value of the form `claim:NAME`. Raises ValueError."""
    if not _CLAIM.fullmatch(value):
        raise ValueError("should be claim:NAME, like claim:oid")
    return value


def check_app_or_claim(value: str) -> str:
    """Check the name of an app or `claim:NAME`. Raises ValueError."""
    return check_claim(value) if value.startswith("claim:") else check_app_id(value)


def grants(text: str) -> dict[str, frozenset[Literal["read", "write", "admin"]]]:
    """Parse rights by the role or scope that grants them.

    The text looks like `Memory.Read=read,Memory.Write=write`. Raises ValueError.
    """
    rights: dict[str, frozenset[Any]] = {}
    for part in text.replace(",", " ").split():
        match = _GRANT.fullmatch(part)
        if match is None:
            raise ValueError(
                "should be like Memory.Read=read,Memory.Write=write: a role or scope, =, and read, "
                "write or admin"
            )
        rights[match[1]] = rights.get(match[1], frozenset()) | {match[2]}
    return rights


def check_grants(value: str) -> str:
    """Check a text of grants. Raises ValueError if it grants no rights."""
    if not grants(value):
        raise ValueError("should name a role or scope")
    return value


def redacted_kinds(value: str) -> str:
    """Parse kinds of secrets and personal data with commas between, or "off".

    Raises ValueError for an unknown kind.
    """
    names = tuple(dict.fromkeys(listed(value.lower())))
    if not names:
        raise ValueError("should name what is replaced, or be off")
    for name in names:
        if name not in (*KINDS, "off"):
            near = next(iter(difflib.get_close_matches(name, (*KINDS, "off"), n=1)), None)
            raise ValueError(
                f"{name} is no kind; {f'did you mean {near}? ' if near else ''}the kinds are "
                f"{', '.join(KINDS)}, or off alone"
            )
    if "off" in names and len(names) > 1:
        raise ValueError("off stands alone: with it nothing is replaced")
    return ",".join(names)


def check_rate(value: str) -> str:
    """Check a rate as it is written, or `off`. Raises ValueError."""
    if value != "off":
        Rate.read(value)
    return value


Lower, Upper = BeforeValidator(_lower), BeforeValidator(_upper)
Fraction = Annotated[float, Field(ge=0, le=1)]
Cosine = Annotated[float, Field(ge=-1, le=1)]
MOST = 1_000_000_000
"""Largest time and largest number of a setting.

A value that can't be added to a clock or counted by a store would fail where it is used, not at
the start.
"""
WEEK_S = 604_800
"""Longest wait for work in seconds; queues hold messages back for seven days at most."""
Positive = Annotated[float, Field(gt=0, le=MOST)]
Price = Annotated[float, Field(ge=0, le=MOST)]
Count = Annotated[int, Field(ge=1, le=MOST)]
StoredBytes = Annotated[int, Field(ge=100_000, le=10**15)]
Wait = Annotated[float, Field(gt=0, le=WEEK_S)]
Folder = Annotated[Path, AfterValidator(_at_home)]
RequestRate = Annotated[str, AfterValidator(check_rate)]
Redact = Annotated[str, AfterValidator(redacted_kinds)]
Url = Annotated[str, Field(pattern=r"^https?://\S+$"), AfterValidator(check_address)]
SecureUrl = Annotated[str, Field(pattern=r"^https://\S+$"), AfterValidator(check_address)]
ConnectionString = Annotated[SecretStr, AfterValidator(connection_string)]
RedisUrl = Annotated[SecretStr, AfterValidator(redis_address)]
LlmProvider = Annotated[Literal["openai", "azure", "offline"], Lower]
EmbeddingProvider = Annotated[Literal["openai", "azure", "minilm", "hash"], Lower]


# Settings in the environment: variables, error messages for wrong or misspelt settings, and masked
# secrets.
#
# This part is about names and texts; the settings themselves are in `config`.


SECRETS = frozenset({
    "llm_api_key", "embedding_api_key", "cosmos_key", "redis_url", "redis_password",
    "queue_connection", "archive_connection", "api_keys", "secret", "webhook_secret",
    "rerank_api_key",
})  # fmt: skip
"""Settings whose values are never shown, logged or put into an error."""

_OF_MODELS = ("LLM_", "EMBEDDING_")
PREFIXES = ("MEMORY_", *_OF_MODELS)
"""Prefixes of the variables of our settings; `LOG_LEVEL` has none."""

LIVE = "MEMORY_LIVE_"
"""Prefix of the variables of the tests against a live account.

They are set beside settings, and their names resemble those of some settings.
"""

COMMAND_LINE = frozenset({"MEMORY_CORE_URL", "MEMORY_CORE_KEY", "MEMORY_CORE_USER"})
"""Variables of the command line `memory-core`, which calls a service.

They are not settings of a service.
"""


_OMNIMEMORY = "OMNIMEMORY_"
FOREIGN_PREFIXES = (_OMNIMEMORY, "QDRANT_", "MEM0_", "ZEP_", "GRAPHITI_", "LETTA_", "COGNEE_")
"""Prefixes of the variables of other memory services and of their databases."""
_RENAMED = {"OMNIMEMORY_DEFAULT_MAX_MESSAGES": "BATCH_MESSAGES"}


def variable(name: str) -> str:
    """The environment variable of a setting."""
    has_own_prefix = name.upper().startswith(_OF_MODELS) or name == "log_level"
    return name.upper() if has_own_prefix else f"MEMORY_{name.upper()}"


def display_value(name: str, value: Any) -> str:
    """Format a value for the table of settings; the value of a secret is masked.

    Args:
        name: The setting.
        value: Its value or its default.

    """
    if value is None or value == ():
        return "-"
    return "********" if name in SECRETS else str(value)


def unknown(environ: Mapping[str, str], known: Mapping[str, str]) -> list[tuple[str, str | None]]:
    """List the variables with a prefix of ours that name no setting.

    Args:
        environ: The environment.
        known: Variables of all settings.

    Returns:
        For each variable the variable of the setting that it nearly names, or None.

    """
    strange = (name for name in environ if name.startswith(PREFIXES) and name not in known)
    names = sorted(
        name for name in strange if not name.startswith(LIVE) and name not in COMMAND_LINE
    )
    return [
        (name, next(iter(difflib.get_close_matches(name, known, n=1, cutoff=0.85)), None))
        for name in names
    ]


def foreign_variables(
    environ: Mapping[str, str], known: Mapping[str, str]
) -> list[tuple[str, str | None]]:
    """List the variables of other memory services, each with our equivalent setting.

    Only names of OmniMemory are compared with ours: the host of another service's database is not
    an address of this service.

    Args:
        environ: The environment.
        known: Variables of all settings.

    Returns:
        For each variable the variable of our setting with the same meaning, or None.

    """
    variables: list[tuple[str, str | None]] = []
    for name in sorted(name for name in environ if name.startswith(FOREIGN_PREFIXES)):
        setting = f"MEMORY_{_RENAMED.get(name) or name.removeprefix(_OMNIMEMORY)}"
        variables.append(
            (name, setting if name.startswith(_OMNIMEMORY) and setting in known else None)
        )
    return variables


def describe_error(problem: ErrorDetails, values: Mapping[str, str]) -> str:
    """Describe a validation error for the operator, without the value of a secret.

    Args:
        problem: An error of Pydantic.
        values: The texts of the environment by the names of settings.

    """
    message = problem["msg"].removeprefix("Value error, ").replace("Input should", "should")
    if not problem["loc"]:
        return str(message)
    name, *inside = (str(part) for part in problem["loc"])
    given = values[name]
    value = "" if name in SECRETS else f"={given if given.isprintable() else repr(given)}"
    return f"{variable(name)}{value}: {''.join(f'{part}: ' for part in inside)}{message}"


def listed(value: Any) -> Any:
    """Split a text at commas and spaces; return any other value unchanged."""
    return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value


def host_or_network(value: str) -> str:
    """Check a host name, an address or a network. Raises ValueError."""
    try:
        ip_network(value, strict=False)
    except ValueError:
        if not re.fullmatch(r"(?![0-9.]+$)[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", value):
            raise ValueError(
                f"{value!r} is neither a host name, an address nor a network"
            ) from None
    return value
