"""What a reviewer looks for first: no keys, no old TLS, doors that close with the switch, least
rights, nothing side by side in Cosmos DB.

Said of Bicep and of Terraform each in their own words, since scanners can't follow a condition.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

GUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
M, T, MAIN = "infra/modules/", "infra/terraform/", "infra/main.bicep"
HAS: tuple[tuple[str, str, int, str], ...] = (
    (M + "storage.bicep", "allowSharedKeyAccess: false", 1, "storage takes keys"),
    (M + "storage-host.bicep", "allowSharedKeyAccess: false", 1, "storage takes keys"),
    (M + "storage.bicep", "minimumTlsVersion: 'TLS1_2'", 1, "storage takes old TLS"),
    (M + "storage-host.bicep", "minimumTlsVersion: 'TLS1_2'", 1, "storage takes old TLS"),
    (M + "storage.bicep", "allowBlobPublicAccess: false", 1, "blobs may be public"),
    (M + "storage-host.bicep", "allowBlobPublicAccess: false", 1, "blobs may be public"),
    (
        M + "storage-host.bicep",
        "publicNetworkAccess: hostIsPublic ? 'Enabled' : 'Disabled'",
        1,
        "the host's account does not close",
    ),
    (
        M + "storage.bicep",
        "publicNetworkAccess: dataIsPublic ? 'Enabled' : 'Disabled'",
        1,
        "the account with users' data does not close",
    ),
    (
        M + "storage-host.bicep",
        "defaultAction: hostIsPublic ? 'Allow' : 'Deny'",
        1,
        "the host's firewall does not close",
    ),
    (
        M + "storage.bicep",
        "defaultAction: dataIsPublic ? 'Allow' : 'Deny'",
        1,
        "the firewall before users' data does not close",
    ),
    (M + "storage.bicep", "for queue in policy.queues: {", 1, "queues are not made"),
    (
        M + "storage.bicep",
        "prefixMatch: ['${policy.archiveContainer}/']",
        1,
        "more than the archive changes its tier",
    ),
    (
        M + "storage.bicep",
        "output queueEndpoint string = data.properties.primaryEndpoints.queue",
        1,
        "queues are looked for elsewhere",
    ),
    (
        M + "storage.bicep",
        "output blobEndpoint string = data.properties.primaryEndpoints.blob",
        1,
        "the archive is looked for elsewhere",
    ),
    (M + "cosmos-account.bicep", "disableLocalAuth: true", 1, "Cosmos DB takes keys"),
    (M + "cosmos-account.bicep", "minimalTlsVersion: 'Tls12'", 1, "Cosmos DB takes old TLS"),
    (
        M + "cosmos-account.bicep",
        "publicNetworkAccess: isPublic ? 'Enabled' : 'Disabled'",
        1,
        "Cosmos DB does not close",
    ),
    (M + "cosmos.bicep", "@batchSize(1)", 2, "containers or roles are made side by side"),
    (M + "cosmos.bicep", "dependsOn: [containers]", 1, "roles are made beside containers"),
    (MAIN, "withPackage: decided.oneStorageAccount", 1, "nobody makes a place for the package"),
    (MAIN, "= if (!decided.oneStorageAccount) {", 1, "nobody makes a place for the package"),
    (
        MAIN,
        "dependsOn: [storageHost, keyVault]",
        1,
        "a role is given on an account that is not made yet",
    ),
    (MAIN, "dependsOn: [cosmosAccount]", 1, "containers are made beside their account"),
    (M + "openai.bicep", "kind: 'AIServices'", 1, "the account is none of Foundry's"),
    (
        M + "openai-access.bicep",
        "account.properties.customSubDomainName}.openai.azure.com/'",
        1,
        "models are looked for at an address without a private name",
    ),
    (
        T + "locals.tf",
        "https://${local.openai_name}.openai.azure.com/",
        1,
        "models are looked for at an address without a private name",
    ),
    (
        MAIN,
        "oneStorageAccount: !withNetwork && (",
        1,
        "users' data would be in the account that deployments reach from outside",
    ),
    (
        T + "locals.tf",
        "oneStorageAccount = !local.with_network && (",
        1,
        "users' data would be in the account that deployments reach from outside",
    ),
    (
        M + "alerts.bicep",
        "replace(alert.query, '{suffix}', nameSuffix)",
        1,
        "alerts count what others write into the workspace",
    ),
    (
        T + "alerts.tf",
        'replace(each.value.query, "{suffix}", local.suffix)',
        1,
        "alerts count what others write into the workspace",
    ),
    (
        M + "private-endpoint.bicep",
        "for zone in zones: {",
        1,
        "a name of the service leads to its public address",
    ),
    (
        T + "network.tf",
        "for zone in each.value.zones :",
        1,
        "a name of the service leads to its public address",
    ),
    (
        MAIN,
        "decided.dailyTokens == 0 ? '' : string(decided.dailyTokens)",
        1,
        "the cap on the model's tokens is another one",
    ),
    (
        T + "locals.tf",
        'local.decided.dailyTokens == 0 ? "" : tostring(local.decided.dailyTokens)',
        1,
        "the cap on the model's tokens is another one",
    ),
    (M + "functionapp.bicep", "zoneRedundant: zoneRedundant", 1, "the app is in one building"),
    (
        T + "functionapp.tf",
        "zone_balancing_enabled = var.zone_redundant_app",
        1,
        "the app is in one building",
    ),
    (
        M + "cosmos-account.bicep",
        "isZoneRedundant: zoneRedundant",
        2,
        "Cosmos DB is in one building",
    ),
    (M + "cosmos-account.bicep", "failoverPriority: 1,", 1, "there is no second region"),
    (T + "cosmos.tf", "for_each = var.second_location", 1, "there is no second region"),
    (
        M + "cosmos.bicep",
        "scope: '${account.id}/dbs/${policy.database}'",
        1,
        "a role on data is wider than the database",
    ),
    (M + "cosmos-account.bicep", "type: 'Continuous'", 1, "nothing can be restored to a second"),
    (
        M + "cosmos-account.bicep",
        "[{ name: 'EnableNoSQLVectorSearch' }, { name: 'EnableNoSQLFullTextSearch' }]",
        1,
        "the account can't search",
    ),
    (
        M + "cosmos.bicep",
        "union(path, { dimensions: embeddingDimensions })",
        1,
        "the length of vectors is another one",
    ),
    (
        M + "cosmos.bicep",
        "union(index, { type: vectorIndexType })",
        1,
        "the index of vectors is another one",
    ),
    (
        M + "openai.bicep",
        "networkAcls: { defaultAction: isPublic ? 'Allow' : 'Deny' }",
        1,
        "OpenAI's firewall does not close",
    ),
    (M + "openai.bicep", "disableLocalAuth: true", 1, "OpenAI takes keys"),
    (
        M + "openai.bicep",
        "publicNetworkAccess: isPublic ? 'Enabled' : 'Disabled'",
        1,
        "OpenAI does not close",
    ),
    (
        M + "openai.bicep",
        "restrictOutboundNetworkAccess: true",
        1,
        "OpenAI may fetch from anywhere",
    ),
    (M + "openai.bicep", "@batchSize(1)", 1, "deployments are made side by side"),
    (
        M + "openai.bicep",
        "versionUpgradeOption: model.upgrade",
        1,
        "how a model is upgraded is not what its file says",
    ),
    (
        M + "openai.bicep",
        "upgrade: models.embedding.upgrade",
        1,
        "how a model is upgraded is not what its file says",
    ),
    (
        M + "openai.bicep",
        "upgrade: models.chat.upgrade",
        1,
        "how a model is upgraded is not what its file says",
    ),
    (
        M + "openai.bicep",
        "name: model.deployment",
        1,
        "the app asks for a deployment of another name",
    ),
    (
        MAIN,
        "embeddingDeployment: embedding.deployment",
        1,
        "the app asks for a deployment of another name",
    ),
    (
        MAIN,
        "chatModel == 'none' ? '' : chat.deployment",
        1,
        "the app asks for a deployment of another name",
    ),
    (
        T + "openai.tf",
        "version_upgrade_option = local.models.embedding.upgrade",
        1,
        "how a model is upgraded is not what its file says",
    ),
    (
        T + "openai.tf",
        "version_upgrade_option = local.models.chat.upgrade",
        1,
        "how a model is upgraded is not what its file says",
    ),
    (
        T + "openai.tf",
        "name                   = local.embedding_deployment",
        1,
        "the app asks for a deployment of another name",
    ),
    (
        T + "openai.tf",
        "name                   = local.chat_deployment",
        1,
        "the app asks for a deployment of another name",
    ),
    (
        M + "openai-access.bicep",
        "one.scope == 'openai' && one.who == 'app'",
        1,
        "a role of the policy is not given",
    ),
    (
        M + "openai-access.bicep",
        "    scope: account\n",
        2,
        "a role is on another resource than the policy says",
    ),
    (M + "redis.bicep", "accessKeysAuthentication: 'Disabled'", 1, "Redis takes keys"),
    (M + "redis.bicep", "clientProtocol: 'Encrypted'", 1, "Redis speaks without TLS"),
    (M + "redis.bicep", "minimumTlsVersion: '1.2'", 1, "Redis takes old TLS"),
    (
        M + "redis.bicep",
        "  name: 'app'\n",
        1,
        "a name that Redis refuses: it takes letters and digits",
    ),
    (
        M + "redis.bicep",
        "publicNetworkAccess: isPublic ? 'Enabled' : 'Disabled'",
        1,
        "Redis does not close",
    ),
    (M + "keyvault.bicep", "enableRbacAuthorization: true", 1, "the vault has access policies"),
    (
        M + "keyvault.bicep",
        "enablePurgeProtection: purgeProtection ? true : null",
        1,
        "the vault can't be made, or not be protected",
    ),
    (
        MAIN,
        "apiKeys: decided.enableKeyVault ? keyVault!.outputs.apiKeysReference : keyList",
        1,
        "the first admin key is not read from the vault",
    ),
    (
        T + "locals.tf",
        (
            'apiKeys                  = local.decided.enableKeyVault ? local.references["apiKeys"] '
            ": local.key_list"
        ),
        1,
        "the first admin key is not read from the vault",
    ),
    (
        M + "keyvault.bicep",
        "softDeleteRetentionInDays: 7",
        1,
        "a deleted vault holds its name for longer than a week",
    ),
    (
        M + "network.bicep",
        "defaultOutboundAccess: ",
        2,
        "a newer API version would change what leaves a subnet",
    ),
    (
        M + "network.bicep",
        "natGateway: withNatGateway ? { id: gateway.id } : null",
        1,
        "the app has no address of its own",
    ),
    (
        M + "budget.bicep",
        "startDate: empty(start) ? thisMonth : start",
        1,
        "a deployment in a later month would be refused",
    ),
    (MAIN, "start: budgetStart", 1, "a deployment in a later month would be refused"),
    (
        T + "keyvault.tf",
        "soft_delete_retention_days    = 7",
        1,
        "a deleted vault holds its name for longer than a week",
    ),
    (
        T + "network.tf",
        "default_outbound_access_enabled ",
        2,
        "a newer API version would change what leaves a subnet",
    ),
    (
        M + "alerts.bicep",
        "var alerts = empty(email) ? [] : policy.alerts",
        1,
        "alerts cost that tell nobody",
    ),
    (
        M + "diagnostics.bicep",
        "'PartitionKeyRUConsumption', enabled: detailed }",
        1,
        "logs keep the ids of users after an erasure",
    ),
    (
        M + "diagnostics.bicep",
        "'RequestResponse', enabled: detailed }",
        1,
        "logs grow with each call of a model",
    ),
    (
        MAIN,
        "policy.sliceBudgets[string(instanceMemory)]",
        1,
        "an instance would hold more users than it has room for",
    ),
    (
        T + "alerts.tf",
        'one.name => one if var.alert_email != ""',
        1,
        "alerts cost that tell nobody",
    ),
    (
        T + "diagnostics.tf",
        'var.detailed_diagnostics ? ["PartitionKeyRUConsumption"] : []',
        1,
        "logs keep the ids of users after an erasure",
    ),
    (
        T + "diagnostics.tf",
        'var.detailed_diagnostics ? ["RequestResponse"] : []',
        1,
        "logs grow with each call of a model",
    ),
    (
        T + "locals.tf",
        "local.policy.sliceBudgets[tostring(var.instance_memory)]",
        1,
        "an instance would hold more users than it has room for",
    ),
    (
        T + "alerts.tf",
        "ignore_changes = [time_period]",
        1,
        "a deployment in a later month would be refused",
    ),
    (
        M + "keyvault.bicep",
        "publicNetworkAccess: isPublic ? 'Enabled' : 'Disabled'",
        1,
        "the vault does not close",
    ),
    (
        M + "keyvault.bicep",
        "defaultAction: isPublic ? 'Allow' : 'Deny'",
        1,
        "the vault's firewall does not close",
    ),
    (M + "monitoring.bicep", "isableLocalAuth: true", 2, "logs take keys"),
    (M + "functionapp.bicep", "httpsOnly: true", 1, "the app answers without TLS"),
    (
        M + "functionapp.bicep",
        "properties: { allow: false }",
        2,
        "the app takes passwords for publishing",
    ),
    (M + "functionapp.bicep", "type: 'UserAssignedIdentity'", 1, "the package is read with a key"),
    (M + "functionapp.bicep", "minTlsVersion: '1.2'", 1, "the app takes old TLS"),
    (
        M + "functionapp.bicep",
        "sku: { name: 'FC1', tier: 'FlexConsumption' }",
        1,
        "the plan is not Flex Consumption",
    ),
    (
        M + "functionapp.bicep",
        "keyVaultReferenceIdentity: identityId",
        1,
        "the vault is read by an identity without a role",
    ),
    (
        M + "functionapp.bicep",
        "[{ name: 'http', instanceCount: alwaysReady }]",
        1,
        "no instance waits for requests",
    ),
    (
        M + "functionapp.bicep",
        "runtime: { name: 'python', version: pythonVersion }",
        1,
        "the app runs as something else",
    ),
    (M + "functionapp.bicep", "type: 'blobContainer'", 1, "the package is looked for elsewhere"),
    (
        M + "network.bicep",
        "serviceName: 'Microsoft.App/environments'",
        1,
        "the subnet is not Flex Consumption's",
    ),
    (
        M + "rbac.bicep",
        "each => each.scope == 'hostStorage')",
        1,
        "a role of the policy is not given",
    ),
    (
        M + "rbac.bicep",
        "each => each.scope == 'dataStorage')",
        2,
        "a role of the policy is not given",
    ),
    (M + "rbac.bicep", "each => each.scope == 'insights')", 1, "a role of the policy is not given"),
    (
        M + "rbac.bicep",
        "each => each.scope == 'keyVault' && !empty(keyVaultName))",
        1,
        "a role of the policy is not given",
    ),
    (
        M + "rbac.bicep",
        "each => each.scope == 'workspace' && !empty(workspaceName))",
        1,
        "a role of the policy is not given",
    ),
    (
        M + "rbac.bicep",
        "    scope: hostStorage\n",
        1,
        "a role is on another resource than the policy says",
    ),
    (
        M + "rbac.bicep",
        "    scope: dataStorage\n",
        2,
        "a role is on another resource than the policy says",
    ),
    (
        M + "rbac.bicep",
        "    scope: insights\n",
        1,
        "a role is on another resource than the policy says",
    ),
    (
        M + "rbac.bicep",
        "    scope: keyVault\n",
        1,
        "a role is on another resource than the policy says",
    ),
    (
        M + "rbac.bicep",
        "    scope: workspace\n",
        1,
        "a role is on another resource than the policy says",
    ),
    (
        MAIN,
        "dependsOn: [rbac, privateEndpoints]",
        1,
        "the app is made before it may read its package",
    ),
    (MAIN, "queueEndpoint: storage.outputs.queueEndpoint", 1, "queues are looked for elsewhere"),
    (MAIN, "blobEndpoint: storage.outputs.blobEndpoint", 1, "the archive is looked for elsewhere"),
    (MAIN, "cosmosEndpoint: cosmos.outputs.endpoint", 1, "Cosmos DB is looked for elsewhere"),
    (MAIN, "union(tags, { 'azd-service-name': 'api' })", 1, "azd does not find the app"),
    (MAIN, "cosmosName: hasCosmos ? names.cosmos : ''", 1, "Cosmos DB tells the workspace nothing"),
    (
        M + "alerts.bicep",
        "skipQueryValidation: true",
        1,
        "an alert fails before its table is there",
    ),
    (T + "storage.tf", "shared_access_key_enabled        = false", 2, "storage takes keys"),
    (T + "storage.tf", 'min_tls_version                  = "TLS1_2"', 2, "storage takes old TLS"),
    (T + "storage.tf", "allow_nested_items_to_be_public  = false", 2, "blobs may be public"),
    (
        T + "storage.tf",
        "public_network_access_enabled    = !local.decided.vnetEnabled",
        2,
        "storage does not close",
    ),
    (
        T + "storage.tf",
        'default_action = local.decided.vnetEnabled ? "Deny" : "Allow"',
        1,
        "the firewall before users' data does not close",
    ),
    (
        T + "storage.tf",
        '!local.decided.vnetEnabled || var.deploy_from_public_network ? "Allow" : "Deny"',
        1,
        "the host's firewall does not close",
    ),
    (T + "storage.tf", "toset(local.policy.queues)", 1, "queues are not made"),
    (
        T + "storage.tf",
        'prefix_match = ["${azurerm_storage_container.archive.name}/"]',
        1,
        "more than the archive changes its tier",
    ),
    (
        T + "cosmos.tf",
        'minimal_tls_version                   = "Tls12"',
        1,
        "Cosmos DB takes old TLS",
    ),
    (T + "cosmos.tf", 'type = "Continuous"', 1, "nothing can be restored to a second"),
    (
        T + "cosmos.tf",
        '["EnableNoSQLVectorSearch", "EnableNoSQLFullTextSearch"]',
        1,
        "the account can't search",
    ),
    (
        T + "cosmos.tf",
        "merge(path, { dimensions = var.embedding_dimensions })",
        1,
        "the length of vectors is another one",
    ),
    (
        T + "cosmos.tf",
        "merge(index, { type = var.vector_index_type })",
        1,
        "the index of vectors is another one",
    ),
    (
        T + "cosmos.tf",
        "depends_on          = [azapi_resource.containers]",
        1,
        "roles are made beside containers",
    ),
    (
        T + "cosmos.tf",
        "depends_on          = [azurerm_cosmosdb_sql_role_assignment.app]",
        1,
        "roles are made side by side",
    ),
    (T + "cosmos.tf", "local_authentication_enabled          = false", 1, "Cosmos DB takes keys"),
    (
        T + "cosmos.tf",
        "public_network_access_enabled         = !local.decided.vnetEnabled",
        1,
        "Cosmos DB does not close",
    ),
    (
        T + "cosmos.tf",
        "/dbs/${azurerm_cosmosdb_sql_database.database.name}",
        2,
        "a role on data is wider than the database",
    ),
    (T + "cosmos.tf", "locks     = [local.cosmos_id]", 1, "containers are made side by side"),
    (T + "openai.tf", "local_auth_enabled            = false", 1, "OpenAI takes keys"),
    (
        T + "openai.tf",
        "outbound_network_access_restricted = true",
        1,
        "OpenAI may fetch from anywhere",
    ),
    (
        T + "openai.tf",
        "public_network_access_enabled = !local.decided.vnetEnabled",
        1,
        "OpenAI does not close",
    ),
    (
        T + "openai.tf",
        'default_action = local.decided.vnetEnabled ? "Deny" : "Allow"',
        1,
        "OpenAI's firewall does not close",
    ),
    (
        T + "openai.tf",
        "depends_on = [azurerm_cognitive_deployment.embedding]",
        1,
        "deployments are made side by side",
    ),
    (
        T + "redis.tf",
        'client_protocol                    = "Encrypted"',
        1,
        "Redis speaks without TLS",
    ),
    (T + "redis.tf", "access_keys_authentication_enabled = false", 1, "Redis takes keys"),
    (
        T + "redis.tf",
        'public_network_access     = local.decided.vnetEnabled ? "Disabled" : "Enabled"',
        1,
        "Redis does not close",
    ),
    (T + "keyvault.tf", "rbac_authorization_enabled    = true", 1, "the vault has access policies"),
    (
        T + "keyvault.tf",
        "public_network_access_enabled = !local.decided.vnetEnabled",
        1,
        "the vault does not close",
    ),
    (
        T + "keyvault.tf",
        'default_action = local.decided.vnetEnabled ? "Deny" : "Allow"',
        1,
        "the vault's firewall does not close",
    ),
    (T + "monitoring.tf", "local_authentication_enabled = false", 2, "logs take keys"),
    (T + "functionapp.tf", "allow = false", 2, "the app takes passwords for publishing"),
    (T + "functionapp.tf", 'sku_name            = "FC1"', 1, "the plan is not Flex Consumption"),
    (
        T + "functionapp.tf",
        "[azurerm_role_assignment.roles, azurerm_private",
        1,
        "the app is made before it may read its package",
    ),
    (
        T + "functionapp.tf",
        'resource "azapi_update_resource" "no_',
        2,
        "what Azure has made with the app can't be made once more",
    ),
    (T + "functionapp.tf", '{ "azd-service-name" = "api" }', 1, "azd does not find the app"),
    (
        T + "keyvault.tf",
        'resource "azapi_resource_action" "secrets"',
        1,
        "the management plane deletes no secret, and so no state with them",
    ),
    (
        T + "network.tf",
        "    azurerm_cosmosdb_sql_role_assignment.app,\n",
        1,
        "an endpoint is made beside containers",
    ),
    (
        T + "network.tf",
        "    azurerm_cognitive_deployment.chat,\n",
        1,
        "an endpoint is made beside deployments",
    ),
    (
        MAIN,
        "dependsOn: [network, storage, storageHost, cosmos, redis, openai, keyVault]",
        1,
        "an endpoint is made beside other changes",
    ),
    (
        T + "network.tf",
        'name = "Microsoft.App/environments"',
        1,
        "the subnet is not Flex Consumption's",
    ),
    (
        T + "rbac.tf",
        "local.policy.roles[each.value.role]",
        1,
        "a role is another than the policy says",
    ),
    (
        T + "rbac.tf",
        "local.principals[each.value.who].id",
        1,
        "a role is given to another than the policy says",
    ),
    (
        T + "rbac.tf",
        "local.scopes[each.value.scope]",
        1,
        "a role is on another resource than the policy says",
    ),
    (T + "rbac.tf", "    openai      = local.openai_id\n", 1, "a role of the policy is not given"),
    (
        T + "locals.tf",
        "= azurerm_storage_account.data.primary_queue_endpoint",
        1,
        "queues are looked for elsewhere",
    ),
    (
        T + "locals.tf",
        "= azurerm_storage_account.data.primary_blob_endpoint",
        1,
        "the archive is looked for elsewhere",
    ),
    (
        T + "alerts.tf",
        "skip_query_validation   = true",
        1,
        "an alert fails before its table is there",
    ),
)
"""In this file this text is there so often; what it would mean if it were not."""
VERSIONS = {
    "Microsoft.Authorization": {"2022-04-01"}, "Microsoft.Cache": {"2025-07-01"},
    "Microsoft.CognitiveServices": {"2025-06-01"},
    "Microsoft.Consumption": {"2024-08-01"}, "Microsoft.DocumentDB": {"2025-10-15"},
    "Microsoft.KeyVault": {"2024-11-01"},
    "Microsoft.Insights": {"2020-02-02", "2021-05-01-preview", "2022-06-01", "2023-06-01",
        "2023-12-01"},
    "Microsoft.ManagedIdentity": {"2023-01-31"}, "Microsoft.Network": {"2024-05-01", "2024-06-01"},
    "Microsoft.OperationalInsights": {"2023-09-01"}, "Microsoft.Resources": {"2024-03-01"},
    "Microsoft.Storage": {"2024-01-01"},
    "Microsoft.Web": {"2024-04-01"},
}  # fmt: skip
"""Versions that the types of Bicep and of azapi have, by which every resource was checked. A newer
one that they lack is checked by neither; an older one of Cosmos DB refuses full-text indexes.
"""
_TYPED = re.compile(r"['\"](Microsoft\.\w+)/[\w/]+@([\w-]+)['\"]")
FORBIDDEN = (
    (
        re.compile(r"tierToArchive|tier_to_archive"),
        "a rule moves blobs to the tier Archive, from which reading takes hours",
    ),
    (
        re.compile(
            r"listKeys|listSecrets|primary_(access_)?key\b|connection_string\s*=\s*azurerm_storage"
            r"|storage_access_key"
        ),
        "a key is read",
    ),
    (
        re.compile(
            r"ftpsState|alwaysOn|linuxFxVersion|functionAppScaleLimit|use32BitWorkerProcess"
            r"|vnetRouteAllEnabled|netFrameworkVersion"
        ),
        "Flex Consumption refuses this property of an app",
    ),
    (
        re.compile(r"FUNCTIONS_WORKER_RUNTIME|FUNCTIONS_EXTENSION_VERSION|WEBSITE_|SCM_DO_BUILD"),
        "Flex Consumption has no such setting",
    ),
    (
        re.compile(r"AccountKey=|SharedAccessSignature|StorageAccountConnectionString"),
        "a key is used",
    ),
)


def findings(sources: Mapping[str, str]) -> list[str]:
    """Every rule that is broken, with its file."""
    findings_so_far = [
        f"{path}: {complaint}"
        for path, text, times, complaint in HAS
        if sources.get(path, "").count(text) != times
    ]
    for path, text in sources.items():
        if path.endswith((".bicep", ".tf", ".json")):
            findings_so_far += [
                f"{path}: {complaint}" for pattern, complaint in FORBIDDEN if pattern.search(text)
            ]
        for provider, version in _TYPED.findall(text):
            if version not in VERSIONS.get(provider, ()):
                findings_so_far.append(
                    f"{path}: {provider} is not known to be right in its version {version}"
                )
        if path.endswith((".bicep", ".tf")) and GUID.search(text):
            findings_so_far.append(f"{path}: a role's id stands outside the policy")
    return findings_so_far + list(_doors(sources))


def _doors(sources: Mapping[str, str]) -> Iterator[str]:
    """Whatever has a private endpoint closes its public door by the same switch;
    and each that closes has one.
    """
    main = sources[MAIN]
    policy = json.loads(sources["infra/policy.json"])
    of = {endpoint["of"] for endpoint in policy["privateEndpoints"]}
    if of != {"hostStorage", "dataStorage", "cosmos", "redis", "openai", "keyVault"}:
        yield f"infra/policy.json: private endpoints lead to {sorted(of)} only"
    for name, times in (
        ("isPublic: !decided.vnetEnabled", 4),
        ("dataIsPublic: !decided.vnetEnabled", 1),
    ):
        if len(re.findall(rf"\b{re.escape(name)}", main)) != times:
            yield "infra/main.bicep: a public door does not follow vnetEnabled"
