"""Where the counts of what an app and its users take are kept: documents of bookkeeping."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

from memory_core.domain.scope import Owner
from memory_core.ports.long_term import LongTermStore
from memory_core.ports.records import Document

TOKENS_OF_DAY: Final = "mrk_tokens_of_the_day"
"""Of an app (`owner_of_app`) or of a user: the day (UTC), and the tokens of it that processes have
taken so far.
"""
STORED_BYTES: Final = "mrk_stored_bytes"
"""Of an app: the bytes that its users' memories take."""


def owner_of_app(app_id: str) -> Owner:
    """Whose documents the counts of an app are. No user is called so, since no user's name
    may have a `#`.
    """
    return Owner(app_id, "#app")


def owner_of_unknown(user: Owner) -> Owner:
    """Whose documents the counts of a user are of whom nothing is stored: by a hash, since such a
    user has no data from which an erasure would take them.
    """
    return Owner(user.app_id, f"#new-{blake2b(user.user_id.encode(), digest_size=16).hexdigest()}")


async def kept_of_app(store: LongTermStore, app_id: str, identity: str) -> Document | None:
    """One of an app's counts, as it is stored. Raises Unavailable."""
    return await kept_without_head(store, owner_of_app(app_id), identity)


async def kept_without_head(store: LongTermStore, owner: Owner, identity: str) -> Document | None:
    """A count of an owner who has no head, as it is stored. Raises Unavailable."""
    # By a page, since a snapshot reads nothing where there is no head.
    documents = await store.page(owner, "marker", None, None, 10)
    return next((document for document in documents if document.id == identity), None)
