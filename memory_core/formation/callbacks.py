"""Callback addresses, looked at before anything is promised to them."""

from __future__ import annotations

from memory_core.domain.errors import FieldError, Invalid
from memory_core.ports import Courier

UNSIGNED = "callbacks are signed, and there is nothing to sign with: MEMORY_WEBHOOK_SECRET is not set"


class Callbacks:
    """Whether an address may be given. secret: what deliveries are signed with; without it none can be."""

    def __init__(self, courier: Courier, secret: bytes | None) -> None:
        self._courier, self._secret = courier, secret

    def check(self, url: str | None) -> None:
        """Raise Invalid for an address that will never be called, as far as it can be known without asking who has its name."""
        if url is None:
            return
        why = UNSIGNED if self._secret is None else self._courier.refusal(url)
        if why is not None:
            raise Invalid(f"callback_url: {why}", errors=(FieldError("callback_url", why),))
