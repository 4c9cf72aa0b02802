"""The policy agrees with the app: settings, queues, triggers, embedders, host.json, log lines, and
what is indexed with what is asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_args

from memory_core.adapters.cosmos.container import VectorIndex
from memory_core.adapters.queue_rules import QUEUES
from memory_core.bootstrap.adapters import DEFAULT_LLM, DEFAULT_MODEL, MODEL_DIMENSIONS
from memory_core.config import ConfigError, Settings
from memory_core.setting_types import variable
from tests.infra import bicep
from tests.infra.sources import COSMOS, HOST, MODELS, PROFILES, ROOT

FUNCTIONS = "tests/official_runtime/functions.json"
HOST_SETTINGS = {
    "PYTHON_ENABLE_OPENTELEMETRY", "APPLICATIONINSIGHTS_CONNECTION_STRING",
    "APPLICATIONINSIGHTS_AUTHENTICATION_STRING", "TIKTOKEN_CACHE_DIR",
    "AzureWebJobsStorage__accountName", "AzureWebJobsStorage__credential",
    "AzureWebJobsStorage__clientId",
}  # fmt: skip
"""Settings that are the Functions host's or a library's, not ours."""
ROLES = {
    "Storage Blob Data Owner": "b7e6dc6d-f1e8-4753-8033-0f276bb0955b",
    "Storage Blob Data Contributor": "ba92f5b4-2d11-453d-a403-e96b0029c9fe",
    "Storage Queue Data Contributor": "974c5e8b-45b9-4653-ba55-5f855dd0fb88",
    "Cognitive Services OpenAI User": "5e0bd9bd-7b93-4f28-af87-19fc36ad61bd",
    "Key Vault Secrets User": "4633458b-17de-408a-b874-0445c86b69e6",
    "Monitoring Metrics Publisher": "3913510d-42f4-4e42-8a64-420c390055eb",
    "Log Analytics Reader": "73c42c96-874c-492b-b04d-ab87d138a893",
}
"""The ids that Azure's built-in roles have everywhere. Said a second time on purpose: a mistyped id
is found by nothing else offline.
"""
GIVEN = {
    ("app", "hostStorage", "Storage Blob Data Owner"),
    ("app", "dataStorage", "Storage Blob Data Contributor"),
    ("app", "dataStorage", "Storage Queue Data Contributor"),
    ("app", "openai", "Cognitive Services OpenAI User"),
    ("app", "keyVault", "Key Vault Secrets User"),
    ("app", "insights", "Monitoring Metrics Publisher"),
    ("person", "dataStorage", "Storage Blob Data Contributor"),
    ("person", "dataStorage", "Storage Queue Data Contributor"),
    ("person", "openai", "Cognitive Services OpenAI User"),
    ("person", "workspace", "Log Analytics Reader"),
}  # fmt: skip
"""Who has which role on what. One too few stops the app, one too many is a door;
so each is said here too.
"""
ZONES = {
    "blob": ["privatelink.blob.core.windows.net"], "queue": ["privatelink.queue.core.windows.net"],
    "Sql": ["privatelink.documents.azure.com"], "redisEnterprise": ["privatelink.redis.azure.net"],
    "account": [
        "privatelink.openai.azure.com", "privatelink.cognitiveservices.azure.com",
        "privatelink.services.ai.azure.com",
    ],
    "vault": ["privatelink.vaultcore.azure.net"],
}  # fmt: skip
"""Azure's zones for each group of a private endpoint; in another one the name leads to the public
address, whose door is closed.
"""
CONTAINER = {
    "partitionKey": {"paths": ["/owner"], "kind": "Hash", "version": 2},
    "defaultTtl": -1,
    "vectorEmbeddingPolicy": {
        "vectorEmbeddings": [
            {"path": "/embedding", "dataType": "float32", "distanceFunction": "cosine"}
        ]
    },
    "fullTextPolicy": {
        "defaultLanguage": "en-US",
        "fullTextPaths": [{"path": "/search_text", "language": "en-US"}],
    },
}
"""What can never be changed of the container, so that it is not changed by mistake."""
RETIRED_ON = {
    ("gpt-5.4-mini", "2026-03-17"): "2027-03-18", ("text-embedding-3-small", "1"): "2027-04-15",
    ("gpt-4.1-mini", "2025-04-14"): "2026-10-14",
}  # fmt: skip
"""The day on which Azure retires a version, by a copy of its schedule of July 2026. It says how
long another model lasts; whether the day is still ahead at a deployment, preflight.py asks the
region.
"""
COMPARED = "2026-11-26"
COSMOS_ROLES = {"Cosmos DB Built-in Data Contributor": "00000000-0000-0000-0000-000000000002"}
SAMPLES = {
    "cosmosEndpoint": "https://c.documents.azure.com:443/", "cosmosDatabase": "memory-core",
    "shortTerm": "redis", "sliceBudget": "320", "redisUrl": "rediss://r.redis.azure.net:10000/0",
    "queueEndpoint": "https://s.queue.core.windows.net/",
    "blobEndpoint": "https://s.blob.core.windows.net/", "archiveContainer": "archive",
    "openaiEndpoint": "https://o.openai.azure.com/", "telemetry": "azure",
    "telemetryContext": "true", "embeddingModel": "text-embedding-3-small",
    "embeddingDeployment": "vectors", "embeddingDimensions": "512", "llmProvider": "azure",
    "chatModel": "gpt-x-mini", "chatDeployment": "small-and-cheap", "dailyTokens": "1000000",
    "entraTenantId": "21111111-2222-3333-4444-555555555555", "entraAudience": "api://memory",
    "entraApp": "shop", "entraUser": "", "entraRights": "", "entraAuthority": "",
    "trustPrincipalHeader": "off", "apiKeys": "[]", "cursorSecret": "c" * 32,
    "webhookSecret": "w" * 32, "identityClientId": "11111111-2222-3333-4444-555555555555",
}  # fmt: skip
"""What a deployment would give, as it would look."""
NOT_INDEXED = {
    "id",
    "body",
    "_etag",
    "_ts",
    "embedding",
    "search_text",
    "epoch",
    "embedding_model",
    "lexical.turn",
    "last_accessed_at",
}
"""Fields in queries that need no ordinary index: the id has one, vectors and texts have others, the
rest is read; the epoch is asked for only where documents of another one were found, the model only
where vectors of two are stored. The place of a turn and the time of the last access are only read.
"""
LIMITS = {
    "hostStorage": 24,
    "dataStorage": 24,
    "keyVault": 24,
    "cosmos": 44,
    "app": 60,
    "openai": 64,
    "redis": 60,
}
SUFFIX = 13
EXPECTED = {
    "cosmos_endpoint": SAMPLES["cosmosEndpoint"], "cosmos_database": SAMPLES["cosmosDatabase"],
    "cosmos_consistency": "strong", "identity_client_id": SAMPLES["identityClientId"],
    "queue_account_url": SAMPLES["queueEndpoint"], "archive_account_url": SAMPLES["blobEndpoint"],
    "archive_container": SAMPLES["archiveContainer"],
    "embedding_base_url": SAMPLES["openaiEndpoint"], "embedding_model": SAMPLES["embeddingModel"],
    "embedding_dimensions": 512, "embedding_deployment": SAMPLES["embeddingDeployment"],
    "llm_base_url": SAMPLES["openaiEndpoint"], "llm_model": SAMPLES["chatModel"],
    "llm_deployment": SAMPLES["chatDeployment"], "secret": SAMPLES["cursorSecret"],
    "slice_budget_mb": 320, "llm_daily_tokens": 1_000_000,
    "webhook_secret": SAMPLES["webhookSecret"], "auth": "on", "telemetry": "azure",
    "entra_tenant_id": SAMPLES["entraTenantId"], "entra_app": "shop", "entra_user": "claim:oid",
    "trust_principal_header": "off",
}  # fmt: skip
"""What the app makes of a deployment's settings."""


def findings(sources: Mapping[str, str]) -> list[str]:
    """Everything that does not agree."""
    policy, cosmos = json.loads(sources["infra/policy.json"]), json.loads(sources[COSMOS])
    main = bicep.parse(sources["infra/main.bicep"]).params
    return [
        *_settings(policy),
        *_queues(policy),
        *_roles(policy),
        *_models(policy, json.loads(sources[MODELS]), cosmos, main),
        *_named_once(json.loads(sources[MODELS]), sources),
        *_names(policy),
        *_profiles(json.loads(sources[PROFILES]), sources["infra/main.bicep"]),
        *_alerts(policy),
        *_host(policy, json.loads(sources[HOST])),
        *_containers(cosmos),
        *_endpoints(policy),
    ]


def deployed(policy: Mapping[str, Any], **changed: str) -> dict[str, str]:
    """The app settings of a deployment with these sources."""
    given = SAMPLES | changed
    return {
        **policy["settings"],
        **{name: given.get(source, "x") for name, source in policy["settingsFrom"].items()},
    }


def _settings(policy: Mapping[str, Any]) -> Iterator[str]:
    ours = {variable(name) for name in Settings.model_fields}
    trigger = policy["triggerConnection"]
    known = (
        ours
        | HOST_SETTINGS
        | {f"{trigger}__{part}" for part in ("queueServiceUri", "credential", "clientId")}
    )
    given = deployed(policy)
    yield from (f"{name} is no setting" for name in given.keys() - known)
    yield from (f"the setting {name} is missing" for name in sorted(known - ours - given.keys()))
    yield from (
        f"{name} is set twice" for name in policy["settings"].keys() & policy["settingsFrom"].keys()
    )
    for changed, adapters in (
        ({}, ("cosmos", "redis", "storage", "blob", "azure", "azure")),
        (
            {"shortTerm": "none", "redisUrl": "", "llmProvider": "offline", "dailyTokens": ""},
            ("cosmos", "none", "storage", "blob", "azure", "offline"),
        ),
    ):
        try:
            settings = Settings.from_env(deployed(policy, **changed))
        except ConfigError as error:
            yield f"the app would not start: {error}"
            continue
        chosen = (
            settings.long_term,
            settings.short_term,
            settings.queue,
            settings.archive,
            settings.embedding_provider,
        )
        if (*chosen, settings.llm_provider) != adapters:
            yield f"the app would start on {chosen}"
        wanted = EXPECTED | (
            {"short_term": "none", "llm_daily_tokens": None}
            if changed
            else {"redis_auth": "entra", "redis_url": SAMPLES["redisUrl"]}
        )
        for name, value in wanted.items():
            if _plain(getattr(settings, name)) != value:
                yield f"the app would have {getattr(settings, name)} as its {name}"
    secrets = {
        name for name, source in policy["settingsFrom"].items() if source in policy["secrets"]
    }
    if secrets != {"MEMORY_API_KEYS", "MEMORY_SECRET", "MEMORY_WEBHOOK_SECRET"}:
        yield f"the secrets are {sorted(secrets)}"
    for name in policy["settings"]:
        if re.search(r"KEY$|PASSWORD|_CONNECTION$", name):
            yield f"{name} is a key"


def _queues(policy: Mapping[str, Any]) -> Iterator[str]:
    if sorted(policy["queues"]) != sorted(QUEUES):
        yield f"the app's queues are {sorted(QUEUES)}, made are {sorted(policy['queues'])}"
    for name, function in _functions().items():
        for binding in function["bindings"]:
            if binding["type"] == "queueTrigger":
                if binding["connection"] != policy["triggerConnection"]:
                    yield (
                        f"{name} receives by {binding['connection']}, settings are made for "
                        f"{policy['triggerConnection']}"
                    )
                if binding["queueName"] not in policy["queues"]:
                    yield f"{name} receives from {binding['queueName']}, which nobody makes"


def _roles(policy: Mapping[str, Any]) -> Iterator[str]:
    for name, identity in policy["roles"].items():
        if ROLES.get(name) != identity:
            yield f"the role {name} has not the id {identity}"
    if COSMOS_ROLES.get(policy["cosmosRole"]["name"]) != policy["cosmosRole"]["id"]:
        yield "the role on Cosmos DB has another id than its name"
    given = {
        (assignment["who"], assignment["scope"], assignment["role"])
        for assignment in policy["assignments"]
    }
    yield from (
        f"{role} on {scope} is not given to the {principal}"
        for principal, scope, role in sorted(GIVEN - given)
    )
    yield from (
        f"{role} on {scope} is given to the {principal}, and nobody said why"
        for principal, scope, role in sorted(given - GIVEN)
    )
    used = {assignment["role"] for assignment in policy["assignments"]}
    yield from (
        f"the role {name} is not declared" for name in sorted(used - policy["roles"].keys())
    )
    yield from (
        f"the role {name} is given to nobody" for name in sorted(policy["roles"].keys() - used)
    )
    for assignment in policy["assignments"]:
        if len(assignment.get("why", "")) < 20:
            yield f"{assignment['role']} on {assignment['scope']} has no reason"


def _named_once(models: Mapping[str, Any], sources: Mapping[str, str]) -> Iterator[str]:
    """A name or a version that is written elsewhere too is forgotten there when it is retired."""
    for path, text in sources.items():
        if path.endswith((".bicep", ".tf", ".py", ".json")) and path != MODELS:
            for model in (models["chat"], models["embedding"]):
                if model["name"] in text or (
                    len(model["version"]) > 2 and model["version"] in text
                ):
                    yield f"{path} names the model {model['name']} or its version"


def _models(
    policy: Mapping[str, Any],
    models: Mapping[str, Any],
    cosmos: Mapping[str, Any],
    main: Mapping[str, bicep.Declared],
) -> Iterator[str]:
    def default(name: str) -> Any:
        return bicep.value(main[name].value)

    def allowed(name: str) -> Any:
        return bicep.value(main[name].decorators["allowed"].named_children[1].named_children[0])

    if (models["chat"]["name"], models["embedding"]["name"], models["dimensions"]) != (
        DEFAULT_LLM,
        DEFAULT_MODEL,
        MODEL_DIMENSIONS,
    ):
        yield f"the app knows the models {DEFAULT_LLM}, {DEFAULT_MODEL}, {MODEL_DIMENSIONS}"
    if default("embeddingDimensions") != models["dimensions"].get(models["embedding"]["name"]):
        yield f"the default model makes no vectors of {default('embeddingDimensions')}"
    if models["embedding"]["upgrade"] != "NoAutoUpgrade":
        yield "vectors could become another version's, which compare with none that are stored"
    if models["chat"]["upgrade"] != "OnceCurrentVersionExpired":
        yield "the chat model stops working on the day that its version is retired"
    for kind in ("chat", "embedding"):
        version = (models[kind]["name"], models[kind]["version"])
        if RETIRED_ON.get(version, "") <= COMPARED:
            yield (
                f"the model {' '.join(version)} is retired, or nobody has read until when it lasts"
            )
    if not re.fullmatch(r"gpt-[\d.]+-(" + "|".join(models["small"]) + ")", models["chat"]["name"]):
        yield "the default chat model is none of the small ones"
    if {str(size) for size in allowed("instanceMemory")} != policy["sliceBudgets"].keys():
        yield "a size of instances has no budget for the users that it holds"
    if any(int(budget) > int(size) / 3 for size, budget in policy["sliceBudgets"].items()):
        yield "an instance would hold more users than it has room for"
    if allowed("vectorIndexType") != cosmos["vectorIndexTypes"] or set(
        cosmos["vectorIndexTypes"]
    ) != set(get_args(VectorIndex)):
        yield "the kinds of vector index differ"
    if sorted(allowed("cosmosConsistency")) != sorted(cosmos["consistency"]["strong"]):
        yield "an allowed consistency is none that the app takes for strong"


def _names(policy: Mapping[str, Any]) -> Iterator[str]:
    for name, most in LIMITS.items():
        if len(policy["names"][name]) + SUFFIX > most:
            yield f"the name of {name} has more than {most} characters"
    for name in ("hostStorage", "dataStorage"):
        if not re.fullmatch(r"[a-z0-9]+", policy["names"][name]):
            yield f"the name of {name} may have letters and digits only"


SMALL = {
    "cosmosMode": "serverless", "storageSku": "Standard_LRS", "oneStorageAccount": True,
    "enableKeyVault": False, "vnetEnabled": False, "alwaysReady": 0, "holdUsers": False,
}  # fmt: skip
"""What keeps the smallest profile below a dollar a month while there are no calls."""


def _profiles(profiles: Mapping[str, Mapping[str, Any]], main: str) -> Iterator[str]:
    """Each profile says all that is left to it, in the right type; the smallest costs next to
    nothing, and only the last has a network.
    """
    params = bicep.parse(main).params
    listed = bicep.value(
        params["profile"].decorators["allowed"].named_children[1].named_children[0]
    )
    if listed != list(profiles):
        yield f"the profiles are {list(profiles)}, allowed are {listed}"
    if bicep.value(params["profile"].value) != "small":
        yield "whoever chooses nothing gets more than the smallest"
    left = {
        name
        for name, parameter in params.items()
        if (description := described(parameter)).endswith("the profile's.")
        or "the profile's. " in description
    }
    left |= {name for name, parameter in params.items() if "the profile's;" in described(parameter)}
    for name, values in profiles.items():
        yield from (
            f"the profile {name} says nothing of {setting}"
            for setting in sorted(left - values.keys())
        )
        yield from (
            f"the profile {name} says {setting}, which nobody leaves to it"
            for setting in sorted(values.keys() - left)
        )
        for setting, value in values.items():
            if type(value) is not type(profiles["small"].get(setting)) or value in ("", -1):
                yield f"the profile {name} has no {setting} that can be deployed"
    for setting, value in SMALL.items():
        if profiles["small"].get(setting) != value:
            yield f"the smallest profile costs more by its {setting}"
    if not 0 < profiles["small"]["maximumInstances"] <= 5 or profiles["small"]["dailyTokens"] <= 0:
        yield "the smallest profile has no bound on instances or on the model's tokens"
    if [name for name, values in profiles.items() if values["vnetEnabled"]] != ["private"]:
        yield "another profile than the private one is closed, or that one is open"


def described(declaration: bicep.Declared) -> str:
    """A parameter's description."""
    return str(
        bicep.literal(declaration.decorators["description"].named_children[1].named_children[0])
    )


def _alerts(policy: Mapping[str, Any]) -> Iterator[str]:
    functions, code = _functions(), _code()
    for alert in policy["alerts"]:
        query = alert["query"]
        for text in re.findall(r"Message has '([^']+)'", query):
            function = text.removeprefix("Functions.")
            if (function not in functions) if text.startswith("Functions.") else text not in code:
                yield f"the alert {alert['name']} waits for {text!r}, which nothing says"
        for name in re.findall(r"OperationName == '([^']+)'", query):
            if name not in functions:
                yield f"the alert {alert['name']} looks for the function {name}"
        if "| where _ResourceId endswith '{suffix}'" not in query:
            yield f"the alert {alert['name']} counts what others write into the workspace"
        if "isfuzzy=true" not in query or "datatable" not in query:
            yield f"the alert {alert['name']} fails as long as a table is not there"
        if not query.endswith("| summarize Value = count()"):
            yield f"the alert {alert['name']} gives no Value"


def _host(policy: Mapping[str, Any], host: Mapping[str, Any]) -> Iterator[str]:
    queues = host["extensions"]["queues"]
    if queues["messageEncoding"] != "base64":
        yield "the host does not expect messages as they are sent"
    if (
        host["telemetryMode"] != "OpenTelemetry"
        or "APPLICATIONINSIGHTS_CONNECTION_STRING" not in policy["settingsFrom"]
    ):
        yield "the host's telemetry goes nowhere"
    if "http" in host["extensions"] and "maxConcurrentRequests" in host["extensions"]["http"]:
        yield "host.json and httpConcurrency both say how many requests an instance serves"
    source = policy["settingsFrom"]
    if source["MEMORY_QUEUE_ACCOUNT_URL"] != source.get(
        f"{policy['triggerConnection']}__queueServiceUri"
    ):
        yield "the app sends to another account than the host receives from"


def _containers(cosmos: Mapping[str, Any]) -> Iterator[str]:
    if [container["name"] for container in cosmos["containers"]] != ["memories"]:
        yield "a container is made that nothing uses, which costs under autoscale"
        return
    memories = cosmos["containers"][0]
    index = memories["indexingPolicy"]
    if index["excludedPaths"] != [{"path": "/*"}]:
        yield "not everything is excluded from the index that is not included"
    included = {
        path["path"]
        .removesuffix("/?")
        .removesuffix("/*")
        .removesuffix("/[]")
        .strip("/")
        .replace("/", ".")
        for path in index["includedPaths"]
    }
    for name, value in CONTAINER.items():
        if memories[name] != value:
            yield f"the container's {name} is another one"
    for indexes, paths in (
        ("vectorIndexes", ["/embedding"]),
        ("fullTextIndexes", ["/search_text"]),
    ):
        if [path["path"] for path in index[indexes]] != paths:
            yield f"the {indexes} are not on {paths}"
    if [index.get("vectorIndexShardKey") for index in index["vectorIndexes"]] != [
        memories["partitionKey"]["paths"]
    ]:
        yield "the vector index is not divided by the partition key"
    together = {
        tuple(path["path"].strip("/") for path in paths) for paths in index["compositeIndexes"]
    }
    yield from (
        f"{', '.join(fields)} are sorted by together and have no index"
        for fields in sorted(_sorted_together() - together)
    )
    for field in sorted(_asked() - included):
        yield f"{field} is asked for in a query and not indexed"
    for field in sorted(included - _asked()):
        yield f"{field} is indexed and no query asks for it"


def _endpoints(policy: Mapping[str, Any]) -> Iterator[str]:
    zones = {zone["zone"] for zone in policy["privateZones"]}
    for endpoint in policy["privateEndpoints"]:
        yield from (
            f"the zone {zone} is not made" for zone in endpoint["zones"] if zone not in zones
        )
        if ZONES.get(endpoint["group"]) != endpoint["zones"]:
            zones_of_group = ", ".join(endpoint["zones"])
            yield f"names of {endpoint['group']} are not looked for in {zones_of_group}"
        if endpoint["of"] not in policy["names"]:
            yield f"nothing is named {endpoint['of']}"


@cache
def _functions() -> dict[str, Any]:
    limits: dict[str, Any] = json.loads((ROOT / FUNCTIONS).read_text(encoding="utf-8"))
    return limits


@cache
def _code() -> str:
    return "\n".join(
        path.read_text(encoding="utf-8") for path in sorted((ROOT / "memory_core").rglob("*.py"))
    )


def _plain(value: Any) -> Any:
    """A setting as it was given."""
    return value.get_secret_value() if hasattr(value, "get_secret_value") else value


@cache
def _sorted_together() -> frozenset[tuple[str, ...]]:
    """The fields that the store's queries sort by, where they are two or more."""
    texts = [
        path.read_text(encoding="utf-8")
        for path in sorted((ROOT / "memory_core/adapters/cosmos").glob("*.py"))
    ]
    clauses = [
        column for text in texts for column in re.findall(r"ORDER BY (c\.\w+[^\"]*)\"", text)
    ]
    return frozenset(
        fields for clause in clauses if len(fields := tuple(re.findall(r"c\.(\w+)", clause))) > 1
    )


@cache
def _asked() -> frozenset[str]:
    """The fields that the store's queries filter or sort by."""
    texts = [
        path.read_text(encoding="utf-8")
        for path in sorted((ROOT / "memory_core/adapters/cosmos").glob("*.py"))
    ]
    named = {name for text in texts for name in re.findall(r"\bc\.([a-z_]+(?:\.[a-z_]+)*)\b", text)}
    # words of the language itself
    named |= {name for text in texts for name in re.findall(r'\bc\["([a-z_]+)"\]', text)}
    return frozenset(name for name in named if name not in NOT_INDEXED)
