"""Secrets that sign cursors and webhooks.

A secret is configured, or it is made once and stored beside the data. Note: a stored secret belongs
to a single machine. Where several machines work, only a configured secret is the same on all.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from memory_core.config import ConfigError, Settings
from memory_core.domain.errors import Unavailable

MIN_SECRET_BYTES = 16


def cursor_secret(settings: Settings) -> bytes:
    """The secret that signs cursors.

    This is the configured secret. Without a configured secret it is made once and stored beside the
    data, readable by its owner only. Raises Unavailable if the data folder can't be used,
    ConfigError if the stored secret is too short to sign with.
    """
    if settings.secret is not None:
        return settings.secret.get_secret_value().encode()
    return _stored_secret(settings, "secret")


def webhook_secret(settings: Settings) -> bytes | None:
    """The secret that signs webhooks.

    This is the configured secret. Without a configured secret it is made and stored as that of
    cursors is, for receivers on this machine to read. None where several machines work, as each
    would make its own. Raises as `cursor_secret` does.
    """
    if settings.webhook_secret is not None:
        return settings.webhook_secret.get_secret_value().encode()
    return _stored_secret(settings, "webhook_secret") if settings.long_term == "sqlite" else None


def _stored_secret(settings: Settings, name: str) -> bytes:
    file = Path(settings.data) / name
    try:
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not file.exists():
            _make_secret(file)
        secret = file.read_bytes()
    except OSError as error:
        raise Unavailable(
            "long_term", f"the data folder {settings.data} can't be used: {error}"
        ) from error
    if len(secret) < MIN_SECRET_BYTES:
        raise ConfigError(
            f"{file} holds {len(secret)} bytes, too few to sign with: remove it, and a new one "
            "is made"
        )
    return secret


def _make_secret(place: Path) -> None:
    """Write a secret to a draft, then link it to its place.

    A process that reads the secret so reads all of it, even if the writer died.
    """
    draft = place.with_name(f"{place.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_hex(32).encode())
        with suppress(FileExistsError):
            os.link(draft, place)
    finally:
        draft.unlink(missing_ok=True)
