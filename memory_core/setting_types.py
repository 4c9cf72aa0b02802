"""The kinds of values that settings have, each checked by itself: numbers in a range, addresses, names of choices, a caller's key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

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


def _at_home(folder: Path) -> Path:
    try:
        return folder.expanduser()
    except RuntimeError:  # "~0", "~nobody"
        raise ValueError("should name the home of a user who has one") from None


Lower, Upper = BeforeValidator(_lower), BeforeValidator(_upper)
Fraction = Annotated[float, Field(ge=0, le=1)]
Cosine = Annotated[float, Field(ge=-1, le=1)]
Positive = Annotated[float, Field(gt=0)]
Price = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]
Folder = Annotated[Path, AfterValidator(_at_home)]
Url = Annotated[str, Field(pattern=r"^https?://\S+$")]
SecureUrl = Annotated[str, Field(pattern=r"^https://\S+$")]
LlmProvider = Annotated[Literal["openai", "azure", "offline"], Lower]
EmbeddingProvider = Annotated[Literal["openai", "azure", "minilm", "hash"], Lower]
