"""The kinds of values that settings have, each checked by itself: numbers in a range, addresses, names of choices, a caller's key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

from memory_core.domain.scope import check_app_id, check_name


class ApiKey(BaseModel):
    """One caller's key: `sha256` is the hex SHA-256 of the whole key `mc_<app>_<id>_<secret>`; `user` binds it to one user_id."""

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
    """What a JSON text says. Raises ValueError for one that is none."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        raise ValueError('should be a JSON list like [{"id": …, "app": …, "sha256": …, "rights": ["read", "write"]}]') from None


def long_enough(value: SecretStr) -> SecretStr:
    """The secret itself. Raises ValueError for one that could be guessed."""
    if len(value.get_secret_value()) < 16:
        raise ValueError("should be at least 16 characters long")
    return value


def check_address(value: str) -> str:
    """The address itself. Raises ValueError for one whose host or port nothing could be reached by."""
    try:
        parts = urlsplit(value)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError(f"is not an address: {error}") from None
    if not host or port == 0:
        raise ValueError(f"is not an address: there is no {'port 0' if host else 'host in it'}")
    return value


def redis_address(value: SecretStr) -> SecretStr:
    """The address of a Redis. Raises ValueError, without any part of it, since a password may stand in it."""
    url = value.get_secret_value()
    if not url.startswith(("redis://", "rediss://", "unix://")):
        raise ValueError("should begin with redis://, rediss:// or unix://")
    try:
        parts = urlsplit(url)
        usable = bool(parts.path) if parts.scheme == "unix" else parts.port != 0 and (parts.path.strip("/") or "0").isdecimal()
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("should be like rediss://:password@host:6380/0 or unix:///path; what is special in a password is percent-encoded")
    return value


def connection_string(value: SecretStr) -> SecretStr:
    """The connection string of a storage account. Raises ValueError, without any part of it, since a key is in it."""
    parts = [part for part in value.get_secret_value().split(";") if part.strip()]
    if any("=" not in part for part in parts):
        raise ValueError("should be Name=Value pairs with semicolons between, as the account's page of access keys shows it")
    return value


def _at_home(folder: Path) -> Path:
    try:
        return folder.expanduser()
    except RuntimeError:  # "~0", "~nobody"
        raise ValueError("should name the home of a user who has one") from None


Lower, Upper = BeforeValidator(_lower), BeforeValidator(_upper)
Fraction = Annotated[float, Field(ge=0, le=1)]
Cosine = Annotated[float, Field(ge=-1, le=1)]
MOST = 1_000_000_000
"""No time and no number is larger: what can't be added to a clock or counted by a store would fail where it is used, not at the start."""
WEEK_S = 604_800
"""Queues hold a message back for seven days at most; so nothing that work waits for is longer."""
Positive = Annotated[float, Field(gt=0, le=MOST)]
Price = Annotated[float, Field(ge=0, le=MOST)]
Count = Annotated[int, Field(ge=1, le=MOST)]
Wait = Annotated[float, Field(gt=0, le=WEEK_S)]
Folder = Annotated[Path, AfterValidator(_at_home)]
Url = Annotated[str, Field(pattern=r"^https?://\S+$"), AfterValidator(check_address)]
SecureUrl = Annotated[str, Field(pattern=r"^https://\S+$"), AfterValidator(check_address)]
ConnectionString = Annotated[SecretStr, AfterValidator(connection_string)]
RedisUrl = Annotated[SecretStr, AfterValidator(redis_address)]
LlmProvider = Annotated[Literal["openai", "azure", "offline"], Lower]
EmbeddingProvider = Annotated[Literal["openai", "azure", "minilm", "hash"], Lower]
