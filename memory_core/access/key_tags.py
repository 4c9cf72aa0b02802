"""Tags in the ids of keys, which reveal an invented id without a read."""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

TAG_CHARACTERS: Final = 12
"""Hexadecimal digits: 48 bits.

A guess passes once in 2^48 tries, and then costs a point read.
"""


class KeyTags:
    """Makes and checks tags.

    Note: a tag makes no key valid, and a missing tag makes none void. It decides only which
    look-ups are counted, so keys outlive a change of the secret.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def tagged(self, app_id: str, key_id: str) -> str:
        """Return the id with its tag at the end.

        Args:
            app_id: The app of the key.
            key_id: The id without a tag.

        """
        return key_id + self._tag(app_id, key_id)

    def is_tagged(self, app_id: str, key_id: str) -> bool:
        """Whether an id ends with the tag that it would get here.

        Args:
            app_id: The app of the key.
            key_id: The id with its tag.

        """
        tag = self._tag(app_id, key_id[:-TAG_CHARACTERS])
        return hmac.compare_digest(
            tag.encode(), key_id[-TAG_CHARACTERS:].encode("utf-8", "replace")
        )

    def _tag(self, app_id: str, key_id: str) -> str:
        text = f"memory-core key id\n{app_id}\n{key_id}"
        return hmac.new(self._secret, text.encode("utf-8", "replace"), hashlib.sha256).hexdigest()[
            :TAG_CHARACTERS
        ]
