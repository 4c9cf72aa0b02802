"""The target of a command: an address or a data folder, and a user."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from memory_core.domain.errors import PlainError
from memory_core.domain.scope import check_name

URL_VARIABLE, USER_VARIABLE, DATA_VARIABLE = "MEMORY_CORE_URL", "MEMORY_CORE_USER", "MEMORY_DATA"
KEY_VARIABLES = ("MEMORY_CORE_KEY", "MEMORYCORE_KEY")
"""Variables for a key, which is safer there than among the arguments.

Other processes can read the arguments. The second name is the older name.
"""
DEFAULT_USER = "me"
FOLDER_HERE = Path(".memory")
"""The data folder of a development host that was started in this folder."""


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a command.

    Attributes:
        url: The address of a service; None for the folder `data` of this machine.
        key: The key for the address, if any.
        data: The data folder.
        user: The user whose memories are meant.

    """

    url: str | None
    key: str | None
    data: Path
    user: str

    @property
    def name(self) -> str:
        """The address or the folder, for people and for the names of state files."""
        return self.url or str(self.data.resolve())

    @property
    def place(self) -> str:
        """The place of the memory, as part of a sentence."""
        return f"at {self.url}" if self.url else f"in the folder {self.data.resolve()}"


def target_of(
    url: str | None, key: str | None, data: str | None, user: str | None, environ: Mapping[str, str]
) -> Target:
    """The target of a command's options.

    An option has priority over a variable, and an address over a data folder.

    Args:
        url: The option --url.
        key: The option --key.
        data: The option --data.
        user: The option --user.
        environ: The environment variables.

    Raises:
        ValueError: Options do not fit together or are not usable.

    """
    if url is not None and data is not None:
        raise PlainError("give either --data or --url")
    address = (
        None if data is not None else url if url is not None else environ.get(URL_VARIABLE) or None
    )
    if key is not None and address is None:
        raise PlainError("--key is for --url: a memory on this machine has none")
    folder = (
        Path(data)
        if data
        else Path(environ[DATA_VARIABLE])
        if environ.get(DATA_VARIABLE)
        else default_data_folder(environ)
    )
    if data == "":
        raise PlainError("--data may not be empty")
    return Target(
        None if address is None else _base_url(address),
        key or key_of(environ),
        folder,
        _user(user, environ),
    )


def key_of(environ: Mapping[str, str]) -> str | None:
    """The key in the environment, if any."""
    return next((environ[name] for name in KEY_VARIABLES if environ.get(name)), None)


def default_data_folder(environ: Mapping[str, str]) -> Path:
    """The default data folder.

    It is `.memory` where that exists, as the development host makes it, else a folder among the
    user's data.
    """
    return FOLDER_HERE if FOLDER_HERE.is_dir() else _folder_of_user_data(environ)


def other_default_folder(target: Target, environ: Mapping[str, str]) -> Path | None:
    """A default data folder with data that the target does not use.

    Args:
        target: The target of the command.
        environ: The environment variables.

    Returns:
        None where there is no such folder, or where the target is a service.

    """
    if target.url is not None:
        return None
    others = [
        folder
        for folder in (FOLDER_HERE, _folder_of_user_data(environ))
        if folder.resolve() != target.data.resolve()
    ]
    return next((folder for folder in others if folder.is_dir() and any(folder.iterdir())), None)


def state_folder(environ: Mapping[str, str]) -> Path:
    """The folder in which commands store their progress."""
    return _user_folder(environ, "XDG_STATE_HOME", ".local/state")


def _folder_of_user_data(environ: Mapping[str, str]) -> Path:
    return _user_folder(environ, "XDG_DATA_HOME", ".local/share")


def _user_folder(environ: Mapping[str, str], variable: str, below_home: str) -> Path:
    if os.name == "nt":
        return (
            Path(environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "memory-core"
        )
    given = environ.get(variable, "")
    if Path(given).is_absolute():  # the specification has others ignored
        return Path(given) / "memory-core"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "memory-core"
    return Path.home() / below_home / "memory-core"


def _base_url(address: str) -> str:
    try:
        parts, _ = urlsplit(address), urlsplit(address).port
    except ValueError:
        parts = urlsplit("")
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or any(map(str.isspace, address))
    ):
        raise PlainError("--url should be an address such as https://your-app.azurewebsites.net")
    return parts._replace(path=parts.path.rstrip("/"), query="", fragment="").geturl()


def _user(given: str | None, environ: Mapping[str, str]) -> str:
    user = given if given is not None else environ.get(USER_VARIABLE) or DEFAULT_USER
    try:
        return check_name(user)
    except ValueError as error:
        raise PlainError(f"--user {error}") from None
