"""The HTTP protocol of uvicorn with limits on heads and on slow clients.

That is: how large a head may be, and how long a client may take to send it or to read an answer.
Bodies are limited in `http`; a connection without a request is closed by uvicorn five
seconds after its last answer.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from memory_core.domain.errors import (
    AddressTooLong,
    HeadTooLarge,
    Malformed,
    MemoryCoreError,
    TooSlow,
)
from memory_core.functions.gate import correlation_id
from memory_core.functions.responses import problem_response

ADDRESS_BYTES = 16 * 1024
HEAD_BYTES = 64 * 1024
HEADERS = 100
HEAD_S = 10.0
"""Seconds that a head may take to arrive.

They begin with the connection, or with the first byte of a further request.
"""
MESSAGE_BYTES = 32 * 2**20
"""Bytes of a request as it comes over the wire.

Applications read far less, and the rest is ignored.
"""
UNREAD_S = 60.0
"""Seconds that a client may leave an answer unread that waits to be sent."""
LINGER_S = 2.0
"""Seconds for the client to read the refusal, before the connection is closed."""


class RequestRefused(Exception):
    """The parser is to stop here; the protocol's `_refusal` has the reason."""


class LimitedProtocol(HttpToolsProtocol):
    """A connection."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.url = b""
        self._awaits_head = True
        self._received = 0  # bytes since the last request was complete
        self._completed = False
        self._refusal: MemoryCoreError | None = None
        self._refused = False
        self._head_timer: asyncio.TimerHandle | None = None
        self._unread_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._head_timer = self.loop.call_later(HEAD_S, self._head_is_late)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all waiting."""
        self._stop_head_timer()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse data, within the limits."""
        self._received += len(data)
        if self._refused:
            if self._received > MESSAGE_BYTES:
                self.transport.abort()
            return
        self._completed = False
        super().data_received(data)
        if self._completed or self._refused:
            return
        if not self._awaits_head:
            if self._received > MESSAGE_BYTES:
                self.transport.abort()
        elif self._received > HEAD_BYTES:
            self._refuse(HeadTooLarge(f"The head is over {HEAD_BYTES} bytes"))
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_S, self._head_is_late)

    def on_url(self, url: bytes) -> None:
        """Handle a further part of the address."""
        super().on_url(url)
        if len(self.url) > ADDRESS_BYTES:
            self._refusal = AddressTooLong(f"The address is over {ADDRESS_BYTES} bytes")
            raise RequestRefused

    def on_headers_complete(self) -> None:
        """Handle a complete head; the application starts unless the head is too large."""
        if len(self.headers) > HEADERS:
            self._refusal = HeadTooLarge(f"There are more than {HEADERS} headers")
            raise RequestRefused
        # What came so far holds the head, so only where that is more has the head to be measured.
        if (
            self._received > HEAD_BYTES
            and len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
            > HEAD_BYTES
        ):
            self._refusal = HeadTooLarge(f"The head is over {HEAD_BYTES} bytes")
            raise RequestRefused
        self._awaits_head = False
        self._stop_head_timer()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Handle a complete request."""
        self._awaits_head, self._completed, self._received = True, True, 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer a request that could not be parsed, or was refused while it was parsed."""
        self._refuse(self._refusal or Malformed("This is no HTTP request"))

    def pause_writing(self) -> None:
        """Begin to wait for a client that reads too slowly."""
        super().pause_writing()
        if self._unread_timer is None:
            self._unread_timer = self.loop.call_later(UNREAD_S, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop waiting for a client, which has read now."""
        super().resume_writing()
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None

    def _head_is_late(self) -> None:
        self._head_timer = None
        if self.cycle is not None and not self.cycle.response_complete:
            return  # once it is, the connection is closed as an idle one
        if self._received:
            self._refuse(TooSlow(f"The head did not arrive within {HEAD_S:g} s"))
        else:
            self.transport.close()

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _refuse(self, error: MemoryCoreError) -> None:
        """Send the problem, then discard incoming data until the client closes.

        This takes LINGER_S at most. If the connection were closed at once with unread data, it
        would be reset, and the client might never see the answer.
        """
        self._refused = True
        self._stop_head_timer()
        if self.cycle is not None and not self.cycle.response_complete:
            if self._awaits_head or self.pipeline or self.cycle.response_started:
                # an earlier request is still to be answered: this is no answer to it
                self.transport.close()
                return
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        path = self.url.partition(b"?")[0].decode("latin-1")
        answer = problem_response(error, path[:ADDRESS_BYTES], correlation_id({}))
        body = answer.get_body()
        lines = [f"{name}: {value}\r\n" for name, value in answer.headers.items()]
        lines += [
            f"content-type: {answer.mimetype}\r\n",
            f"content-length: {len(body)}\r\n",
            "connection: close\r\n\r\n",
        ]
        self.transport.write(STATUS_LINE[error.status] + "".join(lines).encode("latin-1") + body)
        self.transport.write_eof()
        self.flow.resume_reading()
        self.loop.call_later(LINGER_S, self.transport.close)
