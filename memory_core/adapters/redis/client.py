"""How to reach a Redis: a server by URL (TLS, password or Entra ID), or one inside this process.

Nothing is imported or connected until the returned function runs, which must be inside the event loop that will use it.
Azure Managed Redis: choose the Enterprise clustering policy (one address for the whole cluster), which this client speaks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from redis.asyncio import Redis
    from redis.credentials import CredentialProvider

Connect = Callable[[], "Redis"]

ENTRA_SCOPE = "https://redis.azure.com/.default"
TOKEN_TIMEOUT_MS = 5000
"""How long one request for a token may take; the library's own 100 ms is under what a cold managed identity needs."""


def server(url: str, *, password: str | None = None, entra: bool = False, identity_client_id: str | None = None) -> Connect:
    """A connector to a real server.

    url: `redis://` or `rediss://[user[:password]@]host[:port][/db]`. password: overrides the one in the URL, so that it can come
    from a secret store. entra: sign in with Entra ID instead of a password; identity_client_id: by this user-assigned managed
    identity, else by whatever `DefaultAzureCredential` finds. Needs the extra `entra`.
    """

    def connect() -> Redis:
        from redis.asyncio import Redis
        from redis.asyncio.connection import parse_url
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff

        options: dict[str, Any] = dict(parse_url(url))
        # The class, not the URL, tells the constructor about TLS; it can't be given both.
        if options.pop("connection_class", None) is not None and "path" not in options:
            options["ssl"] = True
        if "path" in options:
            options["unix_socket_path"] = options.pop("path")
        if entra:
            options.pop("username", None)
            options.pop("password", None)
            options["credential_provider"] = _entra_credentials(identity_client_id)
        elif password is not None:
            options["password"] = password
        # One retry and no pause: it covers a connection that the server closed while it was idle. The store's breaker does the rest.
        return Redis(retry=Retry(NoBackoff(), 1), **options)

    return connect


def in_process() -> Connect:
    """A connector to a fresh Redis of this process alone, gone with it. Needs the extra `local`."""

    def connect() -> Redis:
        from fakeredis import FakeServer
        from fakeredis.aioredis import FakeRedis

        # It answers at once: there is nothing to wait for, and a pool of connections would cost a tenth of each call.
        client: Redis = FakeRedis(server=FakeServer(), socket_timeout=None, single_connection_client=True)
        return client

    return connect


def _entra_credentials(identity_client_id: str | None) -> CredentialProvider:
    """A provider that fetches tokens, and renews them on open connections before they end."""
    from redis.auth.token_manager import RetryPolicy, TokenManagerConfig
    from redis_entraid import cred_provider, identity_provider

    renewal = TokenManagerConfig(
        cred_provider.DEFAULT_EXPIRATION_REFRESH_RATIO,
        cred_provider.DEFAULT_LOWER_REFRESH_BOUND_MILLIS,
        TOKEN_TIMEOUT_MS,
        RetryPolicy(cred_provider.DEFAULT_MAX_ATTEMPTS, cred_provider.DEFAULT_DELAY_IN_MS),
    )
    provider: CredentialProvider
    if identity_client_id is None:
        provider = cred_provider.create_from_default_azure_credential((ENTRA_SCOPE,), token_manager_config=renewal)
    else:
        provider = cred_provider.create_from_managed_identity(
            identity_type=identity_provider.ManagedIdentityType.USER_ASSIGNED,
            resource=ENTRA_SCOPE.removesuffix("/.default"),
            id_type=identity_provider.ManagedIdentityIdType.CLIENT_ID,
            id_value=identity_client_id,
            token_manager_config=renewal,
        )
    return provider
