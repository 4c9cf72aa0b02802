"""Writing one document beside the log, in spite of an answer that gets lost.

Note: sending it again is right only because a store takes an equal document as ours. Two writers that must not both
win write different things, as a lease does by its holder's name.
"""

from __future__ import annotations

import asyncio
import random

from memory_core.domain.errors import Unavailable
from memory_core.domain.scope import Owner
from memory_core.ports import Document, LongTermStore

ATTEMPTS = 4
PAUSE_S = 0.02
"""Before the second attempt; doubled with each, times a random share."""


async def kept(store: LongTermStore, owner: Owner, document: Document) -> Document | None:
    """`LongTermStore.keep`, a few times while the store does not answer: the document with its tag, None when a rival was faster.

    Raises Unavailable when it stays down; then it may have been written.
    """
    for attempt in range(1, ATTEMPTS):
        try:
            return await store.keep(owner, document)
        except Unavailable:
            await asyncio.sleep(PAUSE_S * 2**attempt * random.uniform(0.5, 1.0))
    return await store.keep(owner, document)
