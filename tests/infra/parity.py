"""Bicep, Terraform, azd's parameters, the policy and the app say the same. Each function names
what differs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.infra import bicep, terraform
from tests.infra.arm import OPAQUE, objects

MAIN = "infra/main.bicep"
ALSO_IN_TERRAFORM = {"subscription_id"}
"""Azure's own tools know the subscription; Terraform has to be told."""
COMPUTED = {"nameSuffix"}
"""Their defaults are computed, in each language by its own functions."""
ASKED_FOR = {"environmentName", "location"}
"""azd asks for them, as it should."""
TYPES = {"string": "string", "int": "number", "bool": "bool"}
"""What Terraform calls Bicep's types of parameters."""
TAKEN = {"PYTHON_VERSION", "LOCATION", "ENVIRONMENT", "LOG_LEVEL", "HOST", "PORT"}
"""Variables that images and shells set: PYTHON_VERSION in every image of Python."""
SAME = {
    "Microsoft.Authorization/roleAssignments": "azurerm_role_assignment",
    "Microsoft.Cache/redisEnterprise": "azurerm_managed_redis",
    "Microsoft.Cache/redisEnterprise/databases": "azurerm_managed_redis.default_database",
    "Microsoft.Cache/redisEnterprise/databases/accessPolicyAssignments": "azurerm_managed_redis_access_policy_assignment",  # noqa: E501
    "Microsoft.CognitiveServices/accounts": "azurerm_cognitive_account",
    "Microsoft.CognitiveServices/accounts/deployments": "azurerm_cognitive_deployment",
    "Microsoft.Consumption/budgets": "azurerm_consumption_budget_resource_group",
    "Microsoft.DocumentDB/databaseAccounts": "azurerm_cosmosdb_account",
    "Microsoft.DocumentDB/databaseAccounts/sqlDatabases": "azurerm_cosmosdb_sql_database",
    "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers": "azapi:Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers",  # noqa: E501
    "Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments": "azurerm_cosmosdb_sql_role_assignment",  # noqa: E501
    "Microsoft.Insights/actionGroups": "azurerm_monitor_action_group",
    "Microsoft.Insights/components": "azurerm_application_insights",
    "Microsoft.Insights/diagnosticSettings": "azurerm_monitor_diagnostic_setting",
    "Microsoft.Insights/scheduledQueryRules": "azurerm_monitor_scheduled_query_rules_alert_v2",
    "Microsoft.Insights/workbooks": "azurerm_application_insights_workbook",
    "Microsoft.KeyVault/vaults": "azurerm_key_vault",
    "Microsoft.KeyVault/vaults/secrets": "azapi:Microsoft.KeyVault/vaults/secrets",
    "Microsoft.ManagedIdentity/userAssignedIdentities": "azurerm_user_assigned_identity",
    "Microsoft.Network/natGateways": "azurerm_nat_gateway",
    "Microsoft.Network/networkSecurityGroups": "azurerm_network_security_group",
    "Microsoft.Network/privateDnsZones": "azurerm_private_dns_zone",
    "Microsoft.Network/privateDnsZones/virtualNetworkLinks": "azurerm_private_dns_zone_virtual_network_link",  # noqa: E501
    "Microsoft.Network/privateEndpoints": "azurerm_private_endpoint",
    "Microsoft.Network/privateEndpoints/privateDnsZoneGroups": "azurerm_private_endpoint.private_dns_zone_group",  # noqa: E501
    "Microsoft.Network/publicIPAddresses": "azurerm_public_ip",
    "Microsoft.Network/virtualNetworks": "azurerm_virtual_network",
    "Microsoft.OperationalInsights/workspaces": "azurerm_log_analytics_workspace",
    "Microsoft.Resources/resourceGroups": "azurerm_resource_group",
    "Microsoft.Storage/storageAccounts": "azurerm_storage_account",
    "Microsoft.Storage/storageAccounts/blobServices": "azurerm_storage_account.blob_properties",
    "Microsoft.Storage/storageAccounts/blobServices/containers": "azurerm_storage_container",
    "Microsoft.Storage/storageAccounts/managementPolicies": "azurerm_storage_management_policy",
    "Microsoft.Storage/storageAccounts/queueServices": None,
    "Microsoft.Storage/storageAccounts/queueServices/queues": "azurerm_storage_queue",
    "Microsoft.Web/serverfarms": "azurerm_service_plan",
    "Microsoft.Web/sites": "azapi:Microsoft.Web/sites",
    "Microsoft.Web/sites/basicPublishingCredentialsPolicies": "azapi:Microsoft.Web/sites/basicPublishingCredentialsPolicies",  # noqa: E501
}
"""Each type that Bicep makes, and the resource, or the block of one, that makes it in Terraform;
None: made with the account.
"""
OF_A_NETWORK = {
    "azurerm_subnet", "azurerm_subnet_network_security_group_association",
    "azurerm_subnet_nat_gateway_association", "azurerm_nat_gateway_public_ip_association",
}  # fmt: skip
"""What is inside the network in Bicep."""


def snake(name: str) -> str:
    """A parameter's name as Terraform writes it."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.replace("OpenAI", "Openai")).lower()


def parameters(sources: Mapping[str, str]) -> Iterator[str]:
    """The parameters, their defaults, what is allowed, what is secret; in Bicep,
    in Terraform and for azd.
    """
    main = bicep.parse(sources[MAIN]).params
    variables = {
        block.labels[0]: block.body
        for block in terraform.blocks(sources)
        if block.kind == "variable"
    }
    for name in sorted(
        {snake(parameter) for parameter in main} ^ (variables.keys() - ALSO_IN_TERRAFORM)
    ):
        yield f"the parameter {name} is in one of Bicep and Terraform only"
    for name, declaration in main.items():
        body = variables.get(snake(name))
        if body is None:
            continue
        default, other = (
            bicep.value(declaration.value),
            terraform.value(body.get("default", OPAQUE)),
        )
        if name not in COMPUTED and default != other:
            yield f"{name}: Bicep's default is {default!r}, Terraform's {other!r}"
        if TYPES[declaration.type] != terraform.value(body.get("type")):
            yield f"{name} is a {declaration.type} in Bicep and a {body.get('type')} in Terraform"
        if declaration.secure != (body.get("sensitive") is True):
            yield f"{name} is a secret in one of Bicep and Terraform only"
        if _described(declaration) != terraform.value(body.get("description")):
            yield f"{name} is described in two ways"
        yield from (f"{name}: {finding}" for finding in _limits(declaration, body))
    yield from _azd(sources, main)


def _described(declaration: bicep.Declared) -> Any:
    return bicep.literal(declaration.decorators["description"].named_children[1].named_children[0])


def _limits(declaration: bicep.Declared, body: Mapping[str, Any]) -> Iterator[str]:
    conditions = " ".join(str(each.get("condition", "")) for each in body.get("validation", []))
    for decorator in ("allowed", "minValue", "maxValue", "minLength", "maxLength"):
        if decorator in declaration.decorators:
            limit = declaration.decorators[decorator].named_children[1].named_children[0]
            bound = bicep.value(limit)
            condition = json.dumps(bound) if isinstance(bound, list) else f"= {bound}"
            if condition not in conditions:
                yield f"Terraform does not hold {decorator} {bound}"
        elif decorator == "allowed" and "contains(" in conditions:
            yield "Terraform allows only some values and Bicep all"


def _azd(sources: Mapping[str, str], main: Mapping[str, bicep.Declared]) -> Iterator[str]:
    given = json.loads(sources["infra/main.parameters.json"])["parameters"]
    for name in sorted(given.keys() - main.keys()):
        yield f"azd gives {name}, which is no parameter"
    for name, declaration in main.items():
        if name not in given:
            if name not in COMPUTED:
                yield f"azd can not give {name}"
            continue
        matched = re.fullmatch(r"\$\{([A-Z_]+)(?:=(.*))?\}", given[name]["value"])
        default = bicep.value(declaration.value)
        text = str(default).lower() if isinstance(default, bool) else str(default)
        if matched is None or (default is not OPAQUE and matched[2] != text):
            yield f"{name}: azd gives {given[name]['value']}, Bicep's default is {text}"
        elif matched[1] in TAKEN:
            yield (
                f"{name}: {matched[1]} is often set for something else, and azd reads the shell's "
                "environment too"
            )
        elif default is OPAQUE and name not in ASKED_FOR:
            yield from _placeholder(name, matched[2] or "", declaration)


def _placeholder(name: str, given: str, declaration: bicep.Declared) -> Iterator[str]:
    """azd asks for what is empty and has no default before it runs `preflight.py`, which makes it;
    and Azure must refuse the placeholder.
    """
    least = declaration.decorators.get("minLength")
    if not given:
        yield f"azd would ask for {name} before preflight.py makes it"
    elif least is None or len(given) >= int(bicep.value(least.named_children[1].named_children[0])):
        yield f"{name} could be deployed as {given!r}"


def inventory(sources: Mapping[str, str]) -> Iterator[str]:
    """What is made: each type of Bicep's by Terraform too, and the other way round."""
    made = {
        resource.type.partition("@")[0]
        for path, text in sources.items()
        if path.endswith(".bicep")
        for resource in bicep.parse(text).resources.values()
        if not resource.existing
    }
    resources = [block for block in terraform.blocks(sources) if block.kind == "resource"]
    ours = {_name(resource) for resource in resources}
    ours |= {f"{resource.labels[0]}.{block}" for resource in resources for block in resource.body}
    for kind in sorted(made):
        if kind not in SAME:
            yield f"{kind} is made by Bicep, and nobody has said what makes it in Terraform"
        elif SAME[kind] is not None and SAME[kind] not in ours:
            yield f"{kind} is made by Bicep and not by Terraform"
    wanted = {same: kind for kind, same in SAME.items()}
    for resource_kind in sorted({_name(each) for each in resources} - OF_A_NETWORK):
        if wanted.get(resource_kind) not in made:
            yield f"{resource_kind} is made by Terraform and not by Bicep"


def _name(block: terraform.Block) -> str:
    if not block.labels[0].startswith("azapi_"):
        return block.labels[0]
    return f"azapi:{str(terraform.value(block.body['type'])).partition('@')[0]}"


def settings_sources(sources: Mapping[str, str]) -> Iterator[str]:
    """What app settings come from: named in the policy, given by Bicep, given by Terraform."""
    wanted = set(json.loads(sources["infra/policy.json"])["settingsFrom"].values())
    main = bicep.parse(sources[MAIN]).modules["functionApp"]
    params = bicep.value(main.value)["params"]
    in_bicep = {name for source in objects(params["sources"]) for name in source}
    in_terraform = {
        name
        for block in terraform.blocks(sources)
        if block.kind == "locals"
        for name in block.body.get("sources", {})
    }
    for where, given in (
        ("Bicep", in_bicep),
        ("Terraform", {name for name in in_terraform if not name.startswith("__")}),
    ):
        yield from (f"{where} does not give {name}" for name in sorted(wanted - given))
        yield from (
            f"{where} gives {name}, from which no setting comes" for name in sorted(given - wanted)
        )


def outputs(sources: Mapping[str, str]) -> Iterator[str]:
    """What a deployment tells."""
    bicep_outputs = {name.lower() for name in bicep.parse(sources[MAIN]).outputs}
    other = {block.labels[0] for block in terraform.blocks(sources) if block.kind == "output"}
    yield from (
        f"the output {name} is in one of Bicep and Terraform only"
        for name in sorted(bicep_outputs ^ other)
    )


def findings(sources: Mapping[str, str]) -> list[str]:
    """Everything that differs."""
    return [
        *parameters(sources),
        *inventory(sources),
        *settings_sources(sources),
        *outputs(sources),
    ]
