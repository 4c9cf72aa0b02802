"""How to reach an OpenAI-compatible service: address, and key or identity.

The SDK takes about a second to import, so it is imported when a client is made, in a thread. Its own retries are off: ours
(`retries`) know a deadline.
"""

from __future__ import annotations

import asyncio
import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from openai import AsyncOpenAI

OPENAI_URL = "https://api.openai.com/v1"
AZURE_API_VERSION = "2024-10-21"
AZURE_SCOPE = "https://cognitiveservices.azure.com/.default"


@dataclass(frozen=True, slots=True)
class Service:
    """Where a service is and who we are to it.

    provider: `openai` is any compatible server at base_url (".../v1"); `azure` an Azure OpenAI resource, base_url being its endpoint
    ("https://name.openai.azure.com"). api_key: None on Azure means the app's identity, identity_client_id choosing a user-assigned
    one; None elsewhere means a server that asks for none.
    """

    provider: Literal["openai", "azure"] = "openai"
    base_url: str = OPENAI_URL
    api_key: str | None = None
    api_version: str = AZURE_API_VERSION
    identity_client_id: str | None = None


class Connection:
    """The client of one service, made when it is first asked for, and the credential that it borrows.

    timeout_s bounds each of its requests. After `close` the next call makes another.
    """

    def __init__(self, service: Service, timeout_s: float) -> None:
        self._service, self._timeout_s = service, timeout_s
        self._opening = asyncio.Lock()
        self._made: tuple[AsyncOpenAI, Any] | None = None

    async def client(self) -> AsyncOpenAI:
        """The client. Making it sends nothing yet."""
        async with self._opening:
            if self._made is None:
                self._made = await _made(self._service, self._timeout_s)
            return self._made[0]

    async def close(self) -> None:
        """Close the client's connections and the credential's."""
        made, self._made = self._made, None
        if made is None:
            return
        client, credential = made
        await client.close()
        if credential is not None:
            await credential.close()


async def _made(service: Service, timeout_s: float) -> tuple[AsyncOpenAI, Any]:
    """A client, and its credential where it signs in by identity."""
    openai = await asyncio.to_thread(importlib.import_module, "openai")
    if service.provider == "openai":
        # The SDK insists on a key even for servers that ask for none.
        key = service.api_key or "none"
        return openai.AsyncOpenAI(base_url=service.base_url, api_key=key, timeout=timeout_s, max_retries=0), None
    azure: dict[str, Any] = {
        "azure_endpoint": service.base_url,
        "api_version": service.api_version,
        "timeout": timeout_s,
        "max_retries": 0,
    }
    if service.api_key is not None:
        return openai.AsyncAzureOpenAI(api_key=service.api_key, **azure), None
    identity = await asyncio.to_thread(importlib.import_module, "azure.identity.aio")
    credential = identity.DefaultAzureCredential(managed_identity_client_id=service.identity_client_id)
    token = identity.get_bearer_token_provider(credential, AZURE_SCOPE)
    return openai.AsyncAzureOpenAI(azure_ad_token_provider=token, **azure), credential
