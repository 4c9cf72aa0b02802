"""The client of an OpenAI-compatible service: address, key or identity, retries.

The SDK takes about a second to import, so it is imported in a thread when a client is made. Its own
retries are off, since ours (`Retries`) know a deadline.
"""

from __future__ import annotations

import asyncio
import importlib
import math
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from memory_core.domain.errors import NOT_SHOWN, Unavailable, shown_name

if TYPE_CHECKING:
    from openai import AsyncOpenAI


OPENAI_URL = "https://api.openai.com/v1"
AZURE_PATH = "/openai/v1"
"""Path of Azure's API without a version, which knows every parameter of every model.

openai.com knows all of them too.
"""
AZURE_SCOPE = "https://cognitiveservices.azure.com/.default"
"""Scope of Azure's tokens.

Microsoft's pages show this scope and https://ai.azure.com/.default for the same address.
"""


@dataclass(frozen=True, slots=True)
class Service:
    """Address of a service, and the credential for it.

    Attributes:
        provider: `openai` is any compatible server; `azure` is an Azure OpenAI or Foundry resource.
        base_url: Of a compatible server its API (".../v1"), of Azure the endpoint
            ("https://name.openai.azure.com").
        api_key: None on Azure for the app's identity; None elsewhere for a server that asks for no
            key.
        identity_client_id: Chooses a user-assigned identity; None for the default credential.

    """

    provider: Literal["openai", "azure"] = "openai"
    base_url: str = OPENAI_URL
    api_key: str | None = None
    identity_client_id: str | None = None

    @property
    def address(self) -> str:
        """Address that comes before the paths of the API."""
        url = self.base_url.rstrip("/")
        return url if self.provider == "openai" or url.endswith(AZURE_PATH) else url + AZURE_PATH


class ModelConnection:
    """Client of a service, with the credential that it borrows.

    It is made at its first use.

    Args:
        dependency: The name of the dependency in errors.
        service: The service.
        timeout_s: The longest duration of each request in seconds.

    """

    def __init__(self, dependency: str, service: Service, timeout_s: float) -> None:
        self._dependency, self._service, self._timeout_s = dependency, service, timeout_s
        self._opening = asyncio.Lock()
        self._made: tuple[AsyncOpenAI, Any] | None = None
        self._is_closed = False

    async def open(self) -> None:
        """Make the client, also after `close`, without sending a request."""
        self._is_closed = False
        await self.client()

    async def client(self) -> AsyncOpenAI:
        """The client; making it sends no request. Raises Unavailable after `close`."""
        async with self._opening:
            if self._is_closed:
                raise Unavailable(self._dependency, "it is closed")
            if self._made is None:
                self._made = await _new_client(self._service, self._timeout_s)
            return self._made[0]

    async def close(self) -> None:
        """Close the connections of the client and of its credential.

        It also closes a client that another call is just making. A call that is under way and tried
        again afterwards makes no new client, which would stay open.
        """
        self._is_closed = True
        async with self._opening:
            made, self._made = self._made, None
        if made is None:
            return
        client, credential = made
        await client.close()
        if credential is not None:
            await credential.close()


async def _new_client(service: Service, timeout_s: float) -> tuple[AsyncOpenAI, Any]:
    """Make a client, with a credential if it signs in by identity.

    The SDK asks for a new token before each request.
    """
    openai = await asyncio.to_thread(importlib.import_module, "openai")
    # the SDK insists on a key even for servers that ask for none
    credential, key = None, service.api_key or "none"
    if service.provider == "azure" and service.api_key is None:
        identity = await asyncio.to_thread(importlib.import_module, "azure.identity.aio")
        credential = identity.DefaultAzureCredential(
            managed_identity_client_id=service.identity_client_id
        )
        key = identity.get_bearer_token_provider(credential, AZURE_SCOPE)
    return openai.AsyncOpenAI(
        base_url=service.address, api_key=key, timeout=timeout_s, max_retries=0
    ), credential


# Retry a request if that can help, within the caller's deadline.
#
# A pause that the service asks for (Retry-After) is kept. If it does not fit before the deadline,
# the caller gets it at once as the error's `retry_after_s`. Error texts of the service stay out of
# our errors, since they may quote a key or the input.


T = TypeVar("T")
Sleep = Callable[[float], Awaitable[object]]

_TRANSIENT = frozenset({408, 409, 429, 500, 502, 503, 504})
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 8.0


@dataclass(frozen=True, slots=True)
class Retries:
    """Limits of the tries of a request.

    Attributes:
        tries: The most requests.
        deadline_s: Seconds for all of them, pauses included.
        sleep: Pauses; tests record instead.

    """

    tries: int = 4
    deadline_s: float = 30.0
    sleep: Sleep = asyncio.sleep

    async def run(
        self, dependency: str, request: Callable[[], Awaitable[T]], *, setting: str | None = None
    ) -> T:
        """Send a request, with retries, and return its answer.

        Args:
            dependency: Name that the error gives to the dependency.
            request: Sends the request.
            setting: Name of the deadline's setting, which the error of a timeout gives.

        Raises:
            Unavailable: The request is out of tries or time, or was refused permanently.

        """
        loop = asyncio.get_running_loop()
        ends = loop.time() + self.deadline_s
        attempt = 0
        while True:
            attempt += 1
            try:
                async with asyncio.timeout_at(ends):
                    return await request()
            except _foreseen() as error:
                failure = _read(error)
                if failure.is_late and setting is not None:
                    words = f"it did not answer within {self.deadline_s:g} s ({setting})"
                    failure = replace(failure, words=words)
                pause = _pause(attempt, failure.retry_after_s)
                if not failure.transient or attempt == self.tries or loop.time() + pause >= ends:
                    raise Unavailable(
                        dependency,
                        failure.words,
                        retry_after_s=max(1, math.ceil(failure.retry_after_s or 2)),
                    ) from error
            await self.sleep(pause)


def _foreseen() -> tuple[type[Exception], ...]:
    """Errors with which a request may fail.

    They are imported only after a failure, since the SDK takes a second. The SDK lets the errors of
    reading JSON through. ValueError comes of no text, no JSON and endless digits, and
    RecursionError of endless brackets.
    """
    from azure.core.exceptions import AzureError
    from openai import OpenAIError

    return (OpenAIError, AzureError, TimeoutError, ValueError, RecursionError)


@dataclass(frozen=True, slots=True)
class _Failure:
    words: str
    transient: bool
    retry_after_s: float | None = None
    is_late: bool = False


def _read(error: Exception) -> _Failure:
    """Describe a failure, without the service's own text."""
    import openai

    if isinstance(error, openai.APIStatusError):
        code = service_code(error.code or error.type)
        transient = error.status_code in _TRANSIENT and code != "insufficient_quota"
        return _Failure(
            f"it answered HTTP {error.status_code} ({code})",
            transient,
            _retry_after(error.response.headers),
        )
    if isinstance(error, (openai.APITimeoutError, TimeoutError)):
        return _Failure("it did not answer in time", transient=True, is_late=True)
    if isinstance(error, openai.APIConnectionError):
        return _Failure(
            f"it can't be reached ({type(error.__cause__ or error).__name__})", transient=True
        )
    if isinstance(error, (openai.OpenAIError, ValueError, RecursionError)):
        return _Failure(f"its answer can't be read ({type(error).__name__})", transient=True)
    return _Failure(f"signing in failed ({type(error).__name__})", transient=False)


def service_code(text: object) -> str:
    """The name that a service gives its error, or "no code".

    A text that is not a name is left out, since it may quote the request.
    """
    name = shown_name(text or "")
    return "no code" if name == NOT_SHOWN else name


def _pause(attempt: int, retry_after_s: float | None) -> float:
    """Seconds before the next try.

    This is the pause that the service asked for, else 0.5, 1, 2 … 8 s. Up to a quarter is added, so
    that clients don't try at the same time.
    """
    base = (
        retry_after_s
        if retry_after_s is not None
        else min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2 ** (attempt - 1))
    )
    return base * random.uniform(1.0, 1.25)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from the header `retry-after-ms` or `retry-after`.

    None if it is absent, or given as a date, which these services don't send.
    """
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            value = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if math.isfinite(value) and value >= 0:
            return value
    return None
