"""Signed keyset cursors: places in lists.

A cursor is valid only for the owner (or the app), the epoch and the query that it was made for.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from memory_core.domain.errors import FieldError, Malformed
from memory_core.domain.memory import Head
from memory_core.domain.scope import Owner
from memory_core.ports import Place

_VOID = (
    "is not valid for this list: it is damaged, belongs to another query, or the user's memories "
    "were erased since"
)


_MARK_BYTES = 4
"""Bytes of a result's mark in a retrieval's cursor."""


class Cursors:
    """Makes and reads cursors.

    The secret must be the same in every process that serves the same data.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def make(
        self,
        owner: Owner,
        head: Head,
        query: Mapping[str, Any],
        place: Place,
        as_of: int | None = None,
    ) -> str:
        """The opaque text for "after this place of this query".

        Args:
            owner: Whose list it is.
            head: Whose epoch the cursor is bound to.
            query: Query that the cursor is bound to.
            place: The last of the page.
            as_of: The sequence at which the first page was settled; None if the list has none.

        """
        body = orjson.dumps([place.sequence, place.id, *(() if as_of is None else (as_of,))])
        return self._signed(owner, head.epoch, query, body)

    def read(
        self, owner: Owner, head: Head | None, query: Mapping[str, Any], cursor: str | None
    ) -> Place | None:
        """The place that a cursor names; None for no cursor.

        Args:
            owner: Whose list it is.
            head: Whose epoch the cursor is bound to; None refuses every cursor.
            query: Query that the cursor was made for.
            cursor: None for the first page.

        Raises:
            Malformed: The cursor is not valid for this list.

        """
        return None if cursor is None else self._read(owner, head, query, cursor)[0]

    def read_settled(
        self, owner: Owner, head: Head | None, query: Mapping[str, Any], cursor: str
    ) -> tuple[Place, int]:
        """The place and the sequence of a cursor that was made with a sequence.

        Args:
            owner: Whose list it is.
            head: Whose epoch the cursor is bound to; None refuses every cursor.
            query: Query that the cursor was made for.
            cursor: As `make` returned it.

        Raises:
            Malformed: The cursor is not valid for this list.

        """
        place, (as_of,) = self._read(owner, head, query, cursor)
        return place, as_of

    def make_for_app(
        self, app_id: str, query: Mapping[str, Any], place: Sequence[int | str]
    ) -> str:
        """The opaque text for "after this place" of a list over an app's users.

        Args:
            app_id: Id of the app.
            query: Query that the cursor is bound to.
            place: The last of the page.

        """
        return self._signed(_whole(app_id), "", query, orjson.dumps(list(place)))

    def read_for_app(
        self, app_id: str, query: Mapping[str, Any], cursor: str | None
    ) -> list[Any] | None:
        """The place that a cursor of `make_for_app` names; None for no cursor.

        Args:
            app_id: Id of the app.
            query: Query that the cursor was made for.
            cursor: None for the first page.

        Raises:
            Malformed: The cursor is not valid for this list.

        """
        return None if cursor is None else self._verified(_whole(app_id), "", query, cursor)

    def make_results(self, owner: Owner, query: Mapping[str, Any], marks: Sequence[str]) -> str:
        """The opaque text for "after these results of this query".

        Args:
            owner: Whose memories they are.
            query: Query that the cursor is bound to.
            marks: Hexadecimal marks of the results, 4 bytes each.

        """
        return self._signed(owner, "", query, b"".join(bytes.fromhex(mark) for mark in marks))

    def read_results(self, owner: Owner, query: Mapping[str, Any], cursor: str | None) -> list[str]:
        """The marks that a retrieval's cursor names; empty for no cursor.

        Args:
            owner: Whose memories they are.
            query: Query that the cursor was made for.
            cursor: None for the first page.

        Raises:
            Malformed: The cursor is not valid for this list.

        """
        if cursor is None:
            return []
        body = self._verified_bytes(owner, "", query, cursor)
        return [
            body[start : start + _MARK_BYTES].hex() for start in range(0, len(body), _MARK_BYTES)
        ]

    def _read(
        self, owner: Owner, head: Head | None, query: Mapping[str, Any], cursor: str
    ) -> tuple[Place, list[int]]:
        if head is None:
            raise _void()
        sequence, identity, *further = self._verified(owner, head.epoch, query, cursor)
        return Place(sequence, identity), further

    def _signed(self, owner: Owner, epoch: str, query: Mapping[str, Any], body: bytes) -> str:
        return _text_of(self._mac(owner, epoch, query, body) + body)

    def _verified(
        self, owner: Owner, epoch: str, query: Mapping[str, Any], cursor: str
    ) -> list[Any]:
        place: list[Any] = orjson.loads(self._verified_bytes(owner, epoch, query, cursor))
        return place

    def _verified_bytes(
        self, owner: Owner, epoch: str, query: Mapping[str, Any], cursor: str
    ) -> bytes:
        try:
            raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except ValueError:
            raise _void() from None
        mac, body = raw[:16], raw[16:]
        # The text has to be exactly the signed one: otherwise padding or unused bits would allow
        # many texts for a cursor.
        if _text_of(raw) != cursor or not hmac.compare_digest(
            mac, self._mac(owner, epoch, query, body)
        ):
            raise _void()
        return body

    def _mac(self, owner: Owner, epoch: str, query: Mapping[str, Any], body: bytes) -> bytes:
        bound = orjson.dumps([*owner, epoch, dict(query), body.hex()], option=orjson.OPT_SORT_KEYS)
        return hmac.digest(self._secret, bound, "sha256")[:16]


def _text_of(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _whole(app_id: str) -> Owner:
    """The owner of lists over a whole app.

    No user has it, since every user has a name and every epoch has a name.
    """
    return Owner(app_id, "")


def _void() -> Malformed:
    return Malformed(f"cursor: {_VOID}", errors=(FieldError("cursor", _VOID),))
