"""Owners of memories: names of apps and users."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

APP_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_FORBIDDEN_IN_IDS = frozenset("/\\#?")


class Owner(NamedTuple):
    """A user of an app.

    An owner is the boundary that no read crosses, and a logical partition of the store.
    """

    app_id: str
    user_id: str


def check_app_id(value: str) -> str:
    """Return the id of an app if it is valid.

    Raises ValueError unless it is 1-64 letters, digits, `.`, `_` or `-`, and starts with a letter
    or a digit.
    """
    if not APP_ID.fullmatch(value):
        raise ValueError(
            "must be 1-64 characters of A-Z a-z 0-9 . _ - and start with a letter or a digit"
        )
    return value


def check_name(value: str) -> str:
    r"""Return the id of a user, session, agent or memory if it is valid.

    Raises ValueError unless it has 1-128 characters, begins and ends without white space, and has
    none of `/ \ # ?`, control characters, lone surrogates or separators of lines and paragraphs.
    Stores can't use such characters in keys.
    """
    if not 1 <= len(value) <= 128:
        raise ValueError("must be 1-128 characters long")
    if value != value.strip():
        raise ValueError("must not begin or end with white space")
    for character in value:
        if character in _FORBIDDEN_IN_IDS:
            raise ValueError("must not contain / \\ # or ?")
        if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp"):
            raise ValueError("must not contain control characters")
    return value


def checked(owner: Owner) -> Owner:
    """Return an owner whose ids are valid.

    Raises ValueError for ids that no store could keep apart. Callers of the library come through
    here; HTTP has checked the ids before.
    """
    check_app_id(owner.app_id)
    check_name(owner.user_id)
    return owner
