"""The policy agrees with the app, what is deployed is closed as said, and each way to break
that is found.
"""

from __future__ import annotations

import json

import pytest

from tests.infra import policy, rules
from tests.infra.sources import COSMOS, MODELS, PROFILES, changed, sources

P, M, T = "infra/policy.json", "infra/modules/", "infra/terraform/"
MISTAKES = {
    "a setting's name": (
        P,
        '"MEMORY_COSMOS_ENDPOINT"',
        '"MEMORY_COSMOS_URL"',
        "MEMORY_COSMOS_URL is no setting",
    ),
    "a setting that keeps the app from starting": (
        P,
        '"MEMORY_QUEUE": "storage"',
        '"MEMORY_QUEUE": "queues"',
        "would not start",
    ),
    "a setting that chooses another store": (
        P,
        '"MEMORY_LONG_TERM": "cosmos"',
        '"MEMORY_LONG_TERM": "sqlite"',
        "would start on",
    ),
    "a setting of the host": (
        P,
        '"AzureWebJobsStorage__clientId"',
        '"AzureWebJobsStorage__clientID"',
        "is no setting",
    ),
    "a queue": (P, '"webhooks-poison"]', '"webhook-poison"]', "made are"),
    "the triggers' connection": (
        P,
        '"triggerConnection": "QueueStorage"',
        '"triggerConnection": "AzureWebJobsStorage"',
        "receives by QueueStorage",
    ),
    "another account for triggers": (
        P,
        '"QueueStorage__queueServiceUri": "queueEndpoint"',
        '"QueueStorage__queueServiceUri": "blobEndpoint"',
        "another account",
    ),
    "a role's id": (
        P,
        "974c5e8b-45b9",
        "974c5e8b-45b8",
        "Storage Queue Data Contributor has not the id",
    ),
    "a role too many": (
        P,
        '"Log Analytics Reader": "',
        '"Owner": "8e3af657-a8ff-443c-a75c-2fe8c4bcb635",\n    "Log Analytics Reader": "',
        "the role Owner",
    ),
    "a role too few": (
        P,
        '"role": "Storage Queue Data Contributor",\n      "why": "Send',
        '"role": "Log Analytics Reader",\n      "why": "Send',
        "not given to the app",
    ),
    "a role on something else": (
        P,
        '"scope": "insights"',
        '"scope": "workspace"',
        "nobody said why",
    ),
    "a role without a reason": (
        P,
        '"why": "Read logs, alerts and the workbook."',
        '"why": ""',
        "has no reason",
    ),
    "the role on Cosmos DB": (
        P,
        "00000000-0000-0000-0000-000000000002",
        "00000000-0000-0000-0000-000000000001",
        "another id than its name",
    ),
    "a model's dimensions": (
        MODELS,
        '"text-embedding-3-large": 512',
        '"text-embedding-3-large": 1024',
        "the app knows the models",
    ),
    "a chat model that ends on a day": (
        MODELS,
        "OnceCurrentVersionExpired",
        "NoAutoUpgrade",
        "stops working on the day",
    ),
    "vectors that change by themselves": (
        MODELS,
        '"NoAutoUpgrade"',
        '"OnceNewDefaultVersionAvailable"',
        "compare with none",
    ),
    "an instance that holds too many users": (
        P,
        '"512": "0"',
        '"512": "320"',
        "more users than it has room for",
    ),
    "a size without a budget": (P, '"512": "0", ', "", "has no budget"),
    "a default model that is retired": (
        MODELS,
        '"gpt-5.4-mini", "version": "2026-03-17"',
        '"gpt-4.1-mini", "version": "2025-04-14"',
        "gpt-4.1-mini 2025-04-14 is retired",
    ),
    "a default version that nobody has looked up": (
        MODELS,
        '"2026-03-17"',
        '"2026-03-18"',
        "gpt-5.4-mini 2026-03-18 is retired, or nobody",
    ),
    "a default model that is large": (
        MODELS,
        '"gpt-5.4-mini"',
        '"gpt-5.4"',
        "none of the small ones",
    ),
    "a model that is named twice": (
        "infra/main.parameters.json",
        "${CHAT_MODEL_VERSION=}",
        "${CHAT_MODEL_VERSION=2026-03-17}",
        "names the model gpt-5.4-mini or its version",
    ),
    "a model's name for its deployment's": (
        P,
        '"LLM_DEPLOYMENT": "chatDeployment"',
        '"LLM_DEPLOYMENT": "chatModel"',
        "as its llm_deployment",
    ),
    "the default dimensions": (
        "infra/main.bicep",
        "embeddingDimensions int = 512",
        "embeddingDimensions int = 768",
        "makes no vectors of 768",
    ),
    "a kind of index": (
        COSMOS,
        '"quantizedFlat", "diskANN"',
        '"quantizedFlat", "flat"',
        "kinds of vector index",
    ),
    "a consistency": (
        "infra/main.bicep",
        "'Strong', 'BoundedStaleness'",
        "'Strong', 'Session'",
        "allowed consistency",
    ),
    "a field that is not indexed": (COSMOS, '{"path": "/next_id/?"},', "", "next_id is asked for"),
    "a field that is indexed in vain": (COSMOS, '"/next_id/?"', '"/colour/?"', "colour is indexed"),
    "an index of everything": (
        COSMOS,
        '"excludedPaths": [{"path": "/*"}]',
        '"excludedPaths": []',
        "not everything is excluded",
    ),
    "an alert's words": (P, "is poisoned'", "was poisoned'", "which nothing says"),
    "an alert's function": (
        P,
        "OperationName == 'timer_hourly'",
        "OperationName == 'timer_daily'",
        "timer_daily",
    ),
    "an alert on a table alone": (P, "isfuzzy=true ", "", "as long as a table is not there"),
    "how messages are written": ("host.json", '"base64"', '"none"', "does not expect messages"),
    "where telemetry goes": (
        "host.json",
        '"telemetryMode": "OpenTelemetry",',
        '"telemetryMode": "none",',
        "goes nowhere",
    ),
    "two limits for one instance": (
        "host.json",
        '"routePrefix": ""',
        '"maxConcurrentRequests": 8',
        "both say how many",
    ),
    "a name that is too long": (P, '"sthost"', '"storagehosthost"', "more than 24"),
    "a setting too few": (
        P,
        '    "MEMORY_IDENTITY_CLIENT_ID": "identityClientId",\n',
        "",
        "None as its identity_client_id",
    ),
    "a secret in another's place": (
        P,
        '"MEMORY_SECRET": "cursorSecret"',
        '"MEMORY_SECRET": "webhookSecret"',
        "as its secret",
    ),
    "how Redis is signed in to": (
        P,
        '    "MEMORY_REDIS_AUTH": "entra",\n',
        "",
        "as its redis_auth",
    ),
    "a weaker consistency": (
        P,
        '"MEMORY_COSMOS_CONSISTENCY": "strong"',
        '"MEMORY_COSMOS_CONSISTENCY": "session"',
        "session as its",
    ),
    "the key of the container": (
        COSMOS,
        '{"paths": ["/owner"]',
        '{"paths": ["/app_id"]',
        "partitionKey is another one",
    ),
    "the shard key of vectors": (
        COSMOS,
        ', "vectorIndexShardKey": ["/owner"]',
        "",
        "not divided by the partition key",
    ),
    "the time that documents live": (
        COSMOS,
        '"defaultTtl": -1',
        '"defaultTtl": 3600',
        "defaultTtl is another one",
    ),
    "how vectors are compared": (
        COSMOS,
        '"cosine"',
        '"euclidean"',
        "vectorEmbeddingPolicy is another one",
    ),
    "what full text is indexed": (
        COSMOS,
        '"fullTextIndexes": [{"path": "/search_text"}]',
        '"fullTextIndexes": []',
        "the fullTextIndexes are not",
    ),
    "what is sorted by together": (
        COSMOS,
        '{"path": "/sequence", "order": "ascending"}, {"path": "/id"',
        '{"path": "/id"',
        "sequence, id are sorted",
    ),
    "a profile that costs": (
        PROFILES,
        '"Standard_LRS"',
        '"Standard_ZRS"',
        "costs more by its storageSku",
    ),
    "a profile without a bound": (
        PROFILES,
        '"dailyTokens": 1000000',
        '"dailyTokens": 0',
        "has no bound",
    ),
    "a profile that lacks something": (
        PROFILES,
        '    "holdUsers": true,\n',
        "",
        "says nothing of holdUsers",
    ),
    "a profile that says too much": (
        PROFILES,
        '"holdUsers": true',
        '"holdUsers": true, "redisSku": "x"',
        "nobody leaves to it",
    ),
    "a profile of another type": (
        PROFILES,
        '"alwaysReady": 1',
        '"alwaysReady": "1"',
        "no alwaysReady that can be deployed",
    ),
    "a private profile that is open": (
        PROFILES,
        '"vnetEnabled": true',
        '"vnetEnabled": false',
        "that one is open",
    ),
    "another profile by default": (
        "infra/main.bicep",
        "param profile string = 'small'",
        "param profile string = 'standard'",
        "chooses nothing",
    ),
    "a profile that is not allowed": (
        "infra/main.bicep",
        "['small', 'standard', 'private']",
        "['small', 'standard']",
        "allowed are",
    ),
    "a container that nothing uses": (
        COSMOS,
        '"name": "memories"',
        '"name": "tenants"',
        "that nothing uses",
    ),
    "an alert about others": (
        P,
        " | where _ResourceId endswith '{suffix}' | where toint",
        " | where toint",
        "counts what others write",
    ),
    "a cap that the app does not know": (
        P,
        '"LLM_DAILY_TOKENS"',
        '"LLM_TOKENS_A_DAY"',
        "is no setting",
    ),
    "a name of Foundry that leads outside": (
        P,
        ', "privatelink.services.ai.azure.com"\n',
        "\n",
        "not looked for in",
    ),
    "a zone of another service": (
        P,
        "privatelink.redis.azure.net",
        "privatelink.redisenterprise.cache.azure.net",
        "not looked for in",
    ),
    "a zone that nobody makes": (
        P,
        '{"zone": "privatelink.documents.azure.com", "of": "cosmos"},',
        "",
        "is not made",
    ),
}
BROKEN = {
    "keys on storage": (
        M + "storage.bicep",
        "allowSharedKeyAccess: false",
        "allowSharedKeyAccess: true",
        "takes keys",
    ),
    "keys on Cosmos DB": (
        T + "cosmos.tf",
        "local_authentication_enabled          = false",
        "local_authentication_enabled          = true",
        "takes keys",
    ),
    "old TLS": (M + "storage.bicep", "'TLS1_2'", "'TLS1_0'", "old TLS"),
    "a budget that begins anew each month": (
        M + "budget.bicep",
        "empty(start) ? thisMonth : start",
        "thisMonth",
        "in a later month",
    ),
    "a budget whose month is not given": (
        "infra/main.bicep",
        "start: budgetStart",
        "start: ''",
        "in a later month",
    ),
    "a budget that Terraform begins anew": (
        T + "alerts.tf",
        "ignore_changes = [time_period]",
        "ignore_changes = []",
        "in a later month",
    ),
    "alerts that nobody reads": (
        M + "alerts.bicep",
        "empty(email) ? [] : policy.alerts",
        "policy.alerts",
        "tell nobody",
    ),
    "users in logs": (
        M + "diagnostics.bicep",
        "'PartitionKeyRUConsumption', enabled: detailed",
        "'PartitionKeyRUConsumption', enabled: true",
        "ids of users",
    ),
    "a vault that can't be made": (
        M + "keyvault.bicep",
        "purgeProtection ? true : null",
        "purgeProtection",
        "can't be made",
    ),
    "a vault in a long grave": (
        M + "keyvault.bicep",
        "InDays: 7",
        "InDays: 90",
        "longer than a week",
    ),
    "a subnet by whatever is default": (
        M + "network.bicep",
        "defaultOutboundAccess: false\n",
        "\n",
        "what leaves a subnet",
    ),
    "a door that stays open": (
        M + "keyvault.bicep",
        "isPublic ? 'Enabled' : 'Disabled'",
        "'Enabled'",
        "does not close",
    ),
    "a door that ignores the switch": (
        "infra/main.bicep",
        "    dataIsPublic: !decided.vnetEnabled",
        "    dataIsPublic: true",
        "follow vnetEnabled",
    ),
    "the Archive tier": (M + "storage.bicep", "tierToCold:", "tierToArchive:", "the tier Archive"),
    "the Archive tier in Terraform": (
        T + "storage.tf",
        "tier_to_cold_after",
        "tier_to_archive_after",
        "the tier Archive",
    ),
    "a role on the whole account": (
        M + "cosmos.bicep",
        "/dbs/${policy.database}'",
        "'",
        "wider than the database",
    ),
    "containers side by side": (
        M + "cosmos.bicep",
        "@batchSize(1)\nresource containers",
        "resource containers",
        "side by side",
    ),
    "a role's id in Bicep": (
        M + "rbac.bicep",
        "policy.roles[one.role])\n",
        "'ba92f5b4-2d11-453d-a403-e96b0029c9fe')\n",
        "outside the policy",
    ),
    "a key that is read": (
        T + "outputs.tf",
        "local.cosmos_endpoint",
        "one(azurerm_cosmosdb_account.cosmos[*].primary_key)",
        "a key is read",
    ),
    "a property that Flex Consumption refuses": (
        M + "functionapp.bicep",
        "minTlsVersion: '1.2'",
        "alwaysOn: true",
        "refuses this property",
    ),
    "a setting that Flex Consumption lacks": (
        P,
        '"LLM_PROVIDER"',
        '"WEBSITE_RUN_FROM_PACKAGE"',
        "no such setting",
    ),
    "a version that nothing knows": (
        M + "functionapp.bicep",
        "Web/sites@2024-04-01",
        "Web/sites@2025-05-01",
        "in its version 2025-05-01",
    ),
    "a version without full text": (
        T + "cosmos.tf",
        "containers@2025-10-15",
        "containers@2025-04-15",
        "in its version 2025-04-15",
    ),
    "a service without an endpoint": (
        P,
        '{"of": "redis",',
        '{"of": "cosmos",',
        "private endpoints lead to",
    ),
}


def test_the_policy_agrees_with_the_app() -> None:
    assert policy.findings(sources()) == []


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_disagreement_is_found(mistake: str) -> None:
    path, old, new, expected = MISTAKES[mistake]
    complaints = policy.findings(changed(path, old, new))
    assert any(expected in complaint for complaint in complaints), complaints


def test_keys_and_audit_logs_are_read_by_the_index_of_the_container_that_is_made() -> None:
    """They are in the container of memories, whose partition key, clock and paths have to serve
    `CosmosKeyStore` too.
    """
    (container,) = json.loads(sources()[COSMOS])["containers"]
    indexed = {entry["path"] for entry in container["indexingPolicy"]["includedPaths"]}
    assert {
        f"/{name}/?" for name in ("owner", "kind", "sequence", "expires_at", "type", "key")
    } <= indexed
    order = [{"path": "/sequence", "order": "ascending"}, {"path": "/id", "order": "ascending"}]
    assert order in container["indexingPolicy"]["compositeIndexes"]
    assert (container["partitionKey"]["paths"], container["defaultTtl"]) == (["/owner"], -1)


def test_what_is_deployed_is_closed() -> None:
    assert rules.findings(sources()) == []


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_rule_is_found(broken: str) -> None:
    path, old, new, expected = BROKEN[broken]
    complaints = rules.findings(changed(path, old, new))
    assert any(expected in complaint for complaint in complaints), complaints


def test_every_line_that_has_to_stand_somewhere_is_missed_where_it_does_not() -> None:
    passed_over = [
        (path, text)
        for path, text, _, complaint in rules.HAS
        if f"{path}: {complaint}" not in rules.findings(changed(path, text, ""))
    ]
    assert passed_over == []
