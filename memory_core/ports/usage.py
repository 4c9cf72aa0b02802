"""Places where the usage counts of apps and users are stored, as bookkeeping documents."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

from memory_core.domain.scope import Owner
from memory_core.ports.long_term import LongTermStore
from memory_core.ports.records import Document

TOKENS_OF_DAY: Final = "mrk_tokens_of_the_day"
"""The day (UTC) and the tokens that processes have taken on it so far.

The count belongs to an app (`owner_of_app`) or to a user.
"""
STORED_BYTES: Final = "mrk_stored_bytes"
"""Of an app: the bytes that its users' memories take."""


def owner_of_app(app_id: str) -> Owner:
    """Owner of the documents in which an app's counts are stored.

    No user can have this id, since a user id cannot contain `#`.
    """
    return Owner(app_id, "#app")


def owner_of_unknown(user: Owner) -> Owner:
    """Owner of the counts of a user without stored data.

    Its id is a hash of the user's id, since such a user has no data from which an erasure would
    take the counts.
    """
    return Owner(user.app_id, f"#new-{blake2b(user.user_id.encode(), digest_size=16).hexdigest()}")


async def kept_of_app(store: LongTermStore, app_id: str, identity: str) -> Document | None:
    """A count of an app, as it is stored.

    Args:
        store: The long-term store.
        app_id: The app.
        identity: The id of the count.

    Raises:
        Unavailable: The store is down.

    """
    return await kept_without_head(store, owner_of_app(app_id), identity)


async def kept_without_head(store: LongTermStore, owner: Owner, identity: str) -> Document | None:
    """A count of an owner without a head, as it is stored.

    Args:
        store: The long-term store.
        owner: The owner of the count.
        identity: The id of the count.

    Raises:
        Unavailable: The store is down.

    """
    # By a page, since a snapshot reads nothing where there is no head.
    documents = await store.page(owner, "marker", None, None, 10)
    return next((document for document in documents if document.id == identity), None)
