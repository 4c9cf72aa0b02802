"""Whose memory it is: the app and the user that every read and write carries."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

APP_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_FORBIDDEN_IN_IDS = frozenset("/\\#?")


class Owner(NamedTuple):
    """One user of one app: the boundary that no read crosses, and one logical partition of the store."""

    app_id: str
    user_id: str


class Scope(NamedTuple):
    """An owner, and optionally the session and the agent that group memories (they filter, they do not hide)."""

    app_id: str
    user_id: str
    session_id: str | None = None
    agent_id: str | None = None

    @property
    def owner(self) -> Owner:
        """The owner alone."""
        return Owner(self.app_id, self.user_id)


def check_app_id(value: str) -> str:
    """The value itself; ValueError unless it is 1-64 of letters, digits, `.`, `_`, `-`, starting with a letter or digit."""
    if not APP_ID.fullmatch(value):
        raise ValueError("must be 1-64 characters of A-Z a-z 0-9 . _ - and start with a letter or a digit")
    return value


def check_name(value: str) -> str:
    r"""The value itself, for a user, session, agent or memory id: 1-128 characters, none of `/ \ # ?` or control characters.

    Raises ValueError. Lone surrogates and unassigned control codes (category C) are refused: stores can't key by them.
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
    """The owner itself; ValueError for ids that no store could keep apart. The library's own door; HTTP has checked before."""
    check_app_id(owner.app_id)
    check_name(owner.user_id)
    return owner
