"""Signing in to Azure without a key: one place that says which identity."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from azure.identity.aio import DefaultAzureCredential


def credential(client_id: str | None) -> DefaultAzureCredential:
    """A credential, to be closed by who asked for it; no token is fetched yet.

    client_id: of a user-assigned managed identity; None = whatever is found: the app's own identity on Azure, a developer's sign-in
    elsewhere.
    """
    from azure.identity.aio import DefaultAzureCredential

    return DefaultAzureCredential(**({} if client_id is None else {"managed_identity_client_id": client_id}))
