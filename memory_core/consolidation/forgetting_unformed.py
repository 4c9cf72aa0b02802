"""Forgetting a whole session reaches what was told in it and has yet to be formed.

It is counted with the clears of the session, from which forming commits know that what was told before is not to come back.
Note: that is done when the call is acknowledged, not when its task is worked on, as what is told in between is to stay.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from typing import Any

from memory_core.domain.models import MemoryType
from memory_core.domain.scope import Owner
from memory_core.domain.upkeep_requests import ForgetInput
from memory_core.evolution.gathered import dropped
from memory_core.evolution.ruled import LookedElsewhere
from memory_core.ledger.batch import Changes
from memory_core.ledger.commit import Look
from memory_core.ledger.documents import buffer_id
from memory_core.ledger.ids import session_document_id
from memory_core.ledger.sessions import Session


def whole_session(asked: ForgetInput) -> str | None:
    """The session that is forgotten as a whole, or all of its memories of some types; None where a filter says more."""
    chosen = asked.chosen
    says = chosen.model_dump(exclude_none=True).keys()
    return chosen.session_id if says <= {"session_id", "types"} else None


def reads_of(owner: Owner, session_id: str) -> list[str]:
    """What a look has to show of a session for `cleared`, as far as its id tells."""
    return [session_document_id(owner, session_id), buffer_id(owner, session_id)]


def cleared(
    owner: Owner, session_id: str, forgetting: ForgetInput, look: Look, until: int, asked: Collection[str], now: datetime
) -> Changes[Any]:
    """What the call that forgets a session writes beside its task; of all types, it also throws away what the session has gathered.

    until: where the log stood when the memories were found that it forgets. Raises LookedElsewhere for what was not `asked` for, and where
    others were made since.
    """
    if look.head is None:
        return Changes(None)
    if look.head.sequence != until:
        raise LookedElsewhere
    session = Session(owner, session_id, look.documents.get(session_document_id(owner, session_id)))
    chosen = forgetting.chosen
    session.clear(chosen.types or MemoryType, keeps_history=forgetting.mode == "soft")
    gathered = None if chosen.types else dropped(owner, session_id, look, asked, now)
    made = gathered or Changes(None)
    return replace(made, puts=(*made.puts, session.document))
