"""Keys of an app: made, listed, rotated and withdrawn by its admins."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from memory_core.access.audit import entry_document
from memory_core.access.lookup import KeyLookup, KeyTags, key_document, key_in
from memory_core.access.records import (
    AuditEntry,
    KeyPage,
    NewKey,
    StoredKey,
    key_digest,
    plain_correlation,
)
from memory_core.domain.access import Action, Right
from memory_core.domain.errors import Conflict, NotFound, Unavailable
from memory_core.domain.requests.access import KeyInput, KeysInput, RotateInput
from memory_core.domain.results import Call
from memory_core.domain.scope import Owner
from memory_core.ledger.cursors import Cursors
from memory_core.ledger.ids import derived
from memory_core.ports import Clock, Document, IdSource, KeyStore, Place

WITHDRAWN_SHOWN_FOR: Final = timedelta(days=90)
"""How long a withdrawn key is listed.

Then its document is deleted, and with it the id of the user that it was bound to.
"""
LEFT_FOR: Final = timedelta(days=1)
"""How long the remaining admin key has to be valid: time enough to make another."""
SECRET_BYTES = 32
PAGE = 100
MAX_PAGES = 10
"""The most pages that a call reads in search of keys of a status.

After that it answers with fewer keys, and a cursor.
"""
ROUNDS = 10
ATTEMPTS = 3
PAUSE_S = 0.05
log = logging.getLogger(__name__)
_MADE_BEFORE = (
    "this Idempotency-Key has made the key with the id {key_id}; its secret was in that answer "
    "only. If the answer was lost, withdraw that key and make another with a new Idempotency-Key"
)
_LAST_ADMIN = (
    "this is the last key of the app with the right `admin` (one that expires within a day is "
    "none), and without one nobody could make another: make an admin key first, or configure one "
    "in MEMORY_API_KEYS, and withdraw this one then"
)


class ApiKeys:
    """Makes, lists, rotates and withdraws the keys of any app."""

    def __init__(
        self,
        store: KeyStore,
        lookup: KeyLookup,
        tags: KeyTags,
        cursors: Cursors,
        clock: Clock,
        ids: IdSource,
    ) -> None:
        self._store, self._lookup, self._tags = store, lookup, tags
        self._cursors, self._clock, self._ids = cursors, clock, ids

    async def make(self, app_id: str, request: KeyInput, call: Call) -> NewKey:
        """Make a key.

        Args:
            app_id: The app of the key.
            request: The name, rights, user and end of the key.
            call: The call, with its actor and idempotency key.

        Raises:
            Conflict: This idempotency key has made a key before.
            Unavailable: The store is down.

        """
        made = self._new(
            app_id,
            self._new_id(app_id, call),
            name=request.name,
            rights=request.rights,
            user_id=request.user_id,
            expires_at=request.expires_at,
        )
        entry = self._entry("key_made", call, key_id=made.key.key_id)
        if not await self._write(app_id, [key_document(made.key), entry]):
            raise Conflict(_MADE_BEFORE.format(key_id=made.key.key_id))
        self._lookup.changed(made.key)
        return made

    async def page(self, app_id: str, query: KeysInput) -> KeyPage:
        """Return a page of keys, newest first.

        The page may be short, or empty, though more keys follow.

        Args:
            app_id: The app of the keys.
            query: The status, the limit and the cursor.

        Raises:
            Malformed: The cursor is void.
            Unavailable: The store is down.

        """
        bound = {"list": "keys", "status": query.status}
        given = self._cursors.read_for_app(app_id, bound, query.cursor)
        place, now = None if given is None else Place(*given), self._clock.now()
        keys: list[StoredKey] = []
        for _ in range(MAX_PAGES):
            documents = await self._store.page(app_id, "key", place, PAGE)
            for document in documents:
                key = key_in(document)
                if query.status in (None, key.status(now)):
                    if len(keys) == query.limit:
                        return KeyPage(tuple(keys), self._cursor(app_id, bound, place))
                    keys.append(key)
                place = Place(int(document.body["sequence"]), document.id)
            if len(documents) < PAGE:
                return KeyPage(tuple(keys), None)
        return KeyPage(tuple(keys), self._cursor(app_id, bound, place))

    async def withdraw(
        self, app_id: str, key_id: str, call: Call, *, has_setting_admin: bool
    ) -> None:
        """Withdraw a key, which is refused from now on.

        A key that is withdrawn already stays so.

        Args:
            app_id: Whose key it is.
            key_id: The id of the key.
            call: The call. A key that withdraws an admin key, itself or another, has to leave an
                admin key.
            has_setting_admin: Whether the settings have an admin key of this app.

        Raises:
            NotFound: The app has made no such key.
            Conflict: The actor is a key, and no other admin key would be left.
            Unavailable: The store is down.

        """
        await self._withdraw(app_id, key_id, call, has_setting_admin=has_setting_admin)

    async def _withdraw(
        self,
        app_id: str,
        key_id: str,
        call: Call,
        *,
        has_setting_admin: bool,
        keeps_name: bool = True,
    ) -> None:
        """As `withdraw`. keeps_name: whether the key goes on having its name."""
        for _ in range(ROUNDS):
            document = await self._read(app_id, key_id)
            key, now = key_in(document), self._clock.now()
            withdrawn = key.withdrawn(now, keeps_name=keeps_name)
            if withdrawn == key:
                return
            beside: list[Document] = []
            if (
                not has_setting_admin
                and key.is_admin(now)
                and await self._is_key(app_id, call.actor)
            ):
                # The document is replaced as it was read, so that two admins can't withdraw
                # themselves or each other at the same time.
                beside = [await self._other_admin(app_id, key_id)]
            entries = (
                [self._entry("key_withdrawn", call, key_id=key_id)]
                if key.withdrawn_at is None
                else []
            )
            gone = key_document(
                withdrawn, document, (key.withdrawn_at or now) + WITHDRAWN_SHOWN_FOR
            )
            if await self._write(app_id, [gone, *beside, *entries]):
                self._lookup.changed(withdrawn)
                return
        raise _busy()

    async def withdraw_bound(self, owner: Owner, call: Call) -> None:
        """Withdraw all keys of a user that is being erased, and remove their names.

        The names may name that person.

        Args:
            owner: The user.
            call: The call that asked for the erasure.

        Raises:
            Unavailable: The store is down.

        """
        call = replace(call, correlation_id=plain_correlation(call.correlation_id))
        place: Place | None = None
        while documents := await self._store.page(owner.app_id, "key", place, PAGE):
            for document in documents:
                key = key_in(document)
                if key.user_id == owner.user_id:
                    # A key of a user never manages an app's keys, so another admin is not needed.
                    await self._withdraw(
                        owner.app_id, key.key_id, call, has_setting_admin=True, keeps_name=False
                    )
            place = Place(int(documents[-1].body["sequence"]), documents[-1].id)

    async def rotate(self, app_id: str, key_id: str, request: RotateInput, call: Call) -> NewKey:
        """Make a key in the place of another, with its name, rights, user and end.

        The other key stays valid for the overlap.

        Args:
            app_id: Whose key it is.
            key_id: The id of the key to replace.
            request: The overlap in seconds.
            call: The call, with its actor and idempotency key.

        Raises:
            NotFound: The app has made no such key.
            Conflict: The key is not active, or was rotated before.
            Unavailable: The store is down.

        """
        for _ in range(ROUNDS):
            document = await self._read(app_id, key_id)
            key, now = key_in(document), self._clock.now()
            if (status := key.status(now)) != "active":
                raise Conflict(
                    f"this key is {status}; only an active one can be rotated. Make a new "
                    "one instead"
                )
            if key.replaced_by is not None:
                advice = await self._advice_after(app_id, key.replaced_by)
                raise Conflict(f"this key was rotated before, to {key.replaced_by}{advice}")
            made = self._new(
                app_id,
                self._new_id(app_id, call, key_id),
                name=key.name,
                rights=key.rights,
                user_id=key.user_id,
                expires_at=key.expires_at,
            )
            until = now + timedelta(seconds=request.overlap_seconds)
            until = until if key.expires_at is None else min(until, key.expires_at)
            replaced = key.rotated(made.key.key_id, until)
            entry = self._entry("key_rotated", call, key_id=key_id, replaced_by=made.key.key_id)
            if await self._write(
                app_id, [key_document(made.key), key_document(replaced, document), entry]
            ):
                self._lookup.changed(replaced)
                self._lookup.changed(made.key)
                return NewKey(made.key, made.text, replaces=key_id)
        raise _busy()

    async def _advice_after(self, app_id: str, key_id: str) -> str:
        """Return the advice for a key that was rotated to this key before."""
        document = await self._store.read(app_id, key_id)
        status = None if document is None else key_in(document).status(self._clock.now())
        if status == "active":
            return ": rotate that one"
        return f", which is {status or 'gone'}. Make a new one instead"

    async def _write(self, app_id: str, documents: Sequence[Document]) -> bool:
        """Write as `KeyStore.write` does, and repeat after a lost answer.

        A secret would be lost with its answer.
        """
        for attempt in range(1, ATTEMPTS):
            try:
                return await self._store.write(app_id, documents)
            except Unavailable as error:
                log.info("a change of a key is sent again: %s", error.detail)
                await self._clock.sleep(PAUSE_S * attempt)
        return await self._store.write(app_id, documents)

    async def _read(self, app_id: str, key_id: str) -> Document:
        document = await self._store.read(app_id, key_id)
        if document is None or document.kind != "key":
            raise NotFound(
                "this app has made no key of this id; keys of the setting MEMORY_API_KEYS are "
                "changed there"
            )
        return document

    async def _is_key(self, app_id: str, actor: str) -> bool:
        """Whether an actor is a key that was made here.

        It may also be a key of the settings or an Entra token.
        """
        document = await self._store.read(app_id, actor)
        return document is not None and document.kind == "key"

    async def _other_admin(self, app_id: str, key_id: str) -> Document:
        """Return another key that can manage the app's keys for a day at least.

        Raises Conflict if there is none.
        """
        place, later = None, self._clock.now() + LEFT_FOR
        while documents := await self._store.page(app_id, "key", place, PAGE):
            for document in documents:
                if document.id != key_id and key_in(document).is_admin(later):
                    return document
            place = Place(int(documents[-1].body["sequence"]), documents[-1].id)
        raise Conflict(_LAST_ADMIN)

    def _new(self, app_id: str, key_id: str, *, rights: Sequence[Right], **fields: Any) -> NewKey:
        salt = secrets.token_hex(16)
        text = f"mc_{app_id}_{key_id}_{secrets.token_hex(SECRET_BYTES)}"
        created_at, digest = self._clock.now(), key_digest(salt, text)
        key = StoredKey(
            key_id=key_id,
            app_id=app_id,
            rights=tuple(rights),
            created_at=created_at,
            salt=salt,
            digest=digest,
            **fields,
        )
        return NewKey(key, text)

    def _new_id(self, app_id: str, call: Call, *replaced: str) -> str:
        """Return the id of a new key, without an underscore, which would end it.

        It is derived from the call's idempotency key, if any, so that the same request finds the
        key that it has made.
        """
        if call.idempotency_key is None:
            key_id = self._ids.new("key")
        else:
            key_id = derived("key", app_id, call.route, call.idempotency_key, *replaced)
        return self._tags.tagged(app_id, key_id.replace("_", ""))

    def _entry(self, action: Action, call: Call, **target: str) -> Document:
        entry_id, at = self._ids.new("aud"), self._clock.now()
        entry = AuditEntry(
            id=entry_id,
            at=at,
            actor=call.actor,
            action=action,
            target=target,
            outcome="done",
            correlation_id=call.correlation_id,
        )
        return entry_document(entry)

    def _cursor(self, app_id: str, bound: dict[str, Any], place: Place | None) -> str | None:
        return (
            None
            if place is None
            else self._cursors.make_for_app(app_id, bound, (place.sequence, place.id))
        )


def _busy() -> Unavailable:
    return Unavailable("long_term", "others change this app's keys all the time; try again")
