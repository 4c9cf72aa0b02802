"""What a reviewer looks for first: no keys, no old TLS, doors that close with the switch, least rights, nothing side by side in Cosmos DB.

Said of Bicep and of Terraform each in their own words, since scanners can't follow a condition.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

GUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
M, T = "infra/modules/", "infra/terraform/"
HAS: tuple[tuple[str, str, int, str], ...] = (
    (M + "storage.bicep", "allowSharedKeyAccess: false", 2, "storage takes keys"),
    (M + "storage.bicep", "minimumTlsVersion: 'TLS1_2'", 2, "storage takes old TLS"),
    (M + "storage.bicep", "allowBlobPublicAccess: false", 2, "blobs may be public"),
    (M + "storage.bicep", "publicNetworkAccess: hostIsPublic ? 'Enabled' : 'Disabled'", 1, "the host's account does not close"),
    (M + "storage.bicep", "publicNetworkAccess: dataIsPublic ? 'Enabled' : 'Disabled'", 1, "the account with users' data does not close"),
    (M + "cosmos.bicep", "disableLocalAuth: true", 1, "Cosmos DB takes keys"),
    (M + "cosmos.bicep", "minimalTlsVersion: 'Tls12'", 1, "Cosmos DB takes old TLS"),
    (M + "cosmos.bicep", "publicNetworkAccess: isPublic ? 'Enabled' : 'Disabled'", 1, "Cosmos DB does not close"),
    (M + "cosmos.bicep", "@batchSize(1)", 2, "containers or roles are made side by side"),
    (M + "cosmos.bicep", "dependsOn: [containers]", 1, "roles are made beside containers"),
    (M + "cosmos.bicep", "scope: '${account.id}/dbs/${policy.database}'", 1, "a role on data is wider than the database"),
    (M + "openai.bicep", "disableLocalAuth: true", 1, "OpenAI takes keys"),
    (M + "openai.bicep", "publicNetworkAccess: isPublic ? 'Enabled' : 'Disabled'", 1, "OpenAI does not close"),
    (M + "openai.bicep", "restrictOutboundNetworkAccess: true", 1, "OpenAI may fetch from anywhere"),
    (M + "openai.bicep", "@batchSize(1)", 1, "deployments are made side by side"),
    (M + "redis.bicep", "accessKeysAuthentication: 'Disabled'", 1, "Redis takes keys"),
    (M + "redis.bicep", "clientProtocol: 'Encrypted'", 1, "Redis speaks without TLS"),
    (M + "redis.bicep", "publicNetworkAccess: isPublic ? 'Enabled' : 'Disabled'", 1, "Redis does not close"),
    (M + "keyvault.bicep", "enableRbacAuthorization: true", 1, "the vault has access policies"),
    (M + "keyvault.bicep", "enablePurgeProtection: true", 1, "the vault can be purged"),
    (M + "keyvault.bicep", "publicNetworkAccess: isPublic ? 'Enabled' : 'Disabled'", 1, "the vault does not close"),
    (M + "monitoring.bicep", "isableLocalAuth: true", 2, "logs take keys"),
    (M + "functionapp.bicep", "httpsOnly: true", 1, "the app answers without TLS"),
    (M + "functionapp.bicep", "properties: { allow: false }", 2, "the app takes passwords for publishing"),
    (M + "functionapp.bicep", "type: 'UserAssignedIdentity'", 1, "the package is read with a key"),
    (M + "alerts.bicep", "skipQueryValidation: true", 1, "an alert fails before its table is there"),
    (T + "storage.tf", "shared_access_key_enabled        = false", 2, "storage takes keys"),
    (T + "storage.tf", 'min_tls_version                  = "TLS1_2"', 2, "storage takes old TLS"),
    (T + "storage.tf", "allow_nested_items_to_be_public  = false", 2, "blobs may be public"),
    (T + "storage.tf", "public_network_access_enabled    = !var.vnet_enabled", 2, "storage does not close"),
    (T + "cosmos.tf", "local_authentication_enabled          = false", 1, "Cosmos DB takes keys"),
    (T + "cosmos.tf", "public_network_access_enabled         = !var.vnet_enabled", 1, "Cosmos DB does not close"),
    (T + "cosmos.tf", "/dbs/${azurerm_cosmosdb_sql_database.database.name}", 2, "a role on data is wider than the database"),
    (T + "cosmos.tf", "locks     = [azurerm_cosmosdb_account.cosmos.id]", 1, "containers are made side by side"),
    (T + "openai.tf", "local_auth_enabled            = false", 1, "OpenAI takes keys"),
    (T + "openai.tf", "outbound_network_access_restricted = true", 1, "OpenAI may fetch from anywhere"),
    (T + "openai.tf", "public_network_access_enabled = !var.vnet_enabled", 1, "OpenAI does not close"),
    (T + "redis.tf", "access_keys_authentication_enabled = false", 1, "Redis takes keys"),
    (T + "redis.tf", 'public_network_access     = var.vnet_enabled ? "Disabled" : "Enabled"', 1, "Redis does not close"),
    (T + "keyvault.tf", "rbac_authorization_enabled    = true", 1, "the vault has access policies"),
    (T + "keyvault.tf", "public_network_access_enabled = !var.vnet_enabled", 1, "the vault does not close"),
    (T + "monitoring.tf", "local_authentication_enabled = false", 2, "logs take keys"),
    (T + "functionapp.tf", "allow = false", 2, "the app takes passwords for publishing"),
    (T + "alerts.tf", "skip_query_validation   = true", 1, "an alert fails before its table is there"),
)
"""In this file this text stands so often; what it would mean if it did not."""
FORBIDDEN = (
    (re.compile(r"tierToArchive|tier_to_archive"), "a rule moves blobs to the tier Archive, from which reading takes hours"),
    (
        re.compile(r"listKeys|listSecrets|primary_(access_)?key\b|connection_string\s*=\s*azurerm_storage|storage_access_key"),
        "a key is read",
    ),
    (
        re.compile(
            r"ftpsState|alwaysOn|linuxFxVersion|functionAppScaleLimit|use32BitWorkerProcess|vnetRouteAllEnabled|netFrameworkVersion"
        ),
        "Flex Consumption refuses this property of an app",
    ),
    (re.compile(r"FUNCTIONS_WORKER_RUNTIME|FUNCTIONS_EXTENSION_VERSION|WEBSITE_|SCM_DO_BUILD"), "Flex Consumption has no such setting"),
    (re.compile(r"AccountKey=|SharedAccessSignature|StorageAccountConnectionString"), "a key is used"),
)


def findings(sources: Mapping[str, str]) -> list[str]:
    """Every rule that is broken, with its file."""
    found = [f"{path}: {said}" for path, text, times, said in HAS if sources.get(path, "").count(text) != times]
    for path, text in sources.items():
        if path.endswith((".bicep", ".tf", ".json")):
            found += [f"{path}: {said}" for pattern, said in FORBIDDEN if pattern.search(text)]
        if path.endswith((".bicep", ".tf")) and GUID.search(text):
            found.append(f"{path}: a role's id stands outside the policy")
    return found + list(_doors(sources))


def _doors(sources: Mapping[str, str]) -> Iterator[str]:
    """Whatever has a private endpoint closes its public door by the same switch; and each that closes has one."""
    main = sources["infra/main.bicep"]
    policy = json.loads(sources["infra/policy.json"])
    of = {one["of"] for one in policy["privateEndpoints"]}
    if of != {"hostStorage", "dataStorage", "cosmos", "redis", "openai", "keyVault"}:
        yield f"infra/policy.json: private endpoints lead to {sorted(of)} only"
    for name, times in (("isPublic: !vnetEnabled", 4), ("dataIsPublic: !vnetEnabled", 1)):
        if len(re.findall(rf"\b{re.escape(name)}", main)) != times:
            yield "infra/main.bicep: a public door does not follow vnetEnabled"
