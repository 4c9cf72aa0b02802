"""Resource types of Azure, read out of the package `pulumi-azure-native` as data: it is generated
from Azure's own specifications.

Nothing of it is imported or run. For every type it describes one API version wholly and names the
others. Note: it lifts what Azure nests in `properties` up beside `location` and the like, so that
the place of a property can't be told, only that it is there.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import Any
from zipfile import ZipFile

PACKAGE = "pulumi-azure-native==3.29.0"
TYPES = {
    "Microsoft.Authorization/roleAssignments": "authorization.role_assignment",
    "Microsoft.Cache/redisEnterprise": "redisenterprise.redis_enterprise",
    "Microsoft.Cache/redisEnterprise/databases": "redisenterprise.database",
    "Microsoft.Cache/redisEnterprise/databases/accessPolicyAssignments": "redisenterprise.access_policy_assignment",  # noqa: E501
    "Microsoft.CognitiveServices/accounts": "cognitiveservices.account",
    "Microsoft.CognitiveServices/accounts/deployments": "cognitiveservices.deployment",
    "Microsoft.Consumption/budgets": "consumption.budget",
    "Microsoft.DocumentDB/databaseAccounts": "cosmosdb.database_account",
    "Microsoft.DocumentDB/databaseAccounts/sqlDatabases": "cosmosdb.sql_resource_sql_database",
    "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers": "cosmosdb.sql_resource_sql_container",  # noqa: E501
    "Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments": "cosmosdb.sql_resource_sql_role_assignment",  # noqa: E501
    "Microsoft.Insights/actionGroups": "monitor.action_group",
    "Microsoft.Insights/components": "applicationinsights.component",
    "Microsoft.Insights/diagnosticSettings": "monitor.diagnostic_setting",
    "Microsoft.Insights/scheduledQueryRules": "monitor.scheduled_query_rule",
    "Microsoft.Insights/workbooks": "applicationinsights.workbook",
    "Microsoft.KeyVault/vaults": "keyvault.vault",
    "Microsoft.KeyVault/vaults/secrets": "keyvault.secret",
    "Microsoft.ManagedIdentity/userAssignedIdentities": "managedidentity.user_assigned_identity",
    "Microsoft.Network/natGateways": "network.nat_gateway",
    "Microsoft.Network/networkSecurityGroups": "network.network_security_group",
    "Microsoft.Network/privateDnsZones": "privatedns.private_zone",
    "Microsoft.Network/privateDnsZones/virtualNetworkLinks": "privatedns.virtual_network_link",
    "Microsoft.Network/privateEndpoints": "network.private_endpoint",
    "Microsoft.Network/privateEndpoints/privateDnsZoneGroups": "network.private_dns_zone_group",
    "Microsoft.Network/publicIPAddresses": "network.public_ip_address",
    "Microsoft.Network/virtualNetworks": "network.virtual_network",
    "Microsoft.OperationalInsights/workspaces": "operationalinsights.workspace",
    "Microsoft.Resources/resourceGroups": "resources.resource_group",
    "Microsoft.Storage/storageAccounts": "storage.storage_account",
    "Microsoft.Storage/storageAccounts/blobServices": "storage.blob_service_properties",
    "Microsoft.Storage/storageAccounts/blobServices/containers": "storage.blob_container",
    "Microsoft.Storage/storageAccounts/managementPolicies": "storage.management_policy",
    "Microsoft.Storage/storageAccounts/queueServices": "storage.queue_service_properties",
    "Microsoft.Storage/storageAccounts/queueServices/queues": "storage.queue",
    "Microsoft.Web/serverfarms": "web.app_service_plan",
    "Microsoft.Web/sites": "web.web_app",
    "Microsoft.Web/sites/basicPublishingCredentialsPolicies": "web.web_app_scm_allowed",
}
"""Each type and the module of the package that describes it."""
NOT_IN_THE_BODY = {"resourceGroupName"}


class Package:
    """The package's modules, parsed as they are asked for."""

    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive
        self._classes = cache(self._read_classes)

    def source(self, module: str) -> str:
        """The text of one module, by its dotted name."""
        return self._archive.read(f"pulumi_azure_native/{module.replace('.', '/')}.py").decode()

    def classes(self, module: str) -> dict[str, ast.ClassDef]:
        """The classes of one module by name; none when there is no such module."""
        return self._classes(module)

    def _read_classes(self, module: str) -> dict[str, ast.ClassDef]:
        try:
            tree = ast.parse(self.source(module))
        except KeyError:
            return {}
        return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def facts(archive: ZipFile) -> dict[str, Any]:
    """`{"source", "types": {type: {"version", "others", "in", "out"}}, "objects": {name:
    {property: …}}}`.
    """
    package = Package(archive)
    objects: dict[str, Any] = {}
    types = {name: _type(package, module, objects) for name, module in TYPES.items()}
    return {"source": PACKAGE, "types": types, "objects": dict(sorted(objects.items()))}


def _type(package: Package, module: str, objects: dict[str, Any]) -> dict[str, Any]:
    text = package.source(module)
    folder = module.split(".")[0]
    classes = package.classes(module)
    given = next(node for name, node in classes.items() if name.endswith("Args"))
    resource = classes[given.name.removesuffix("Args").removesuffix("Init")]
    version = re.search(r"Uses Azure REST API version ([\w-]+?)\.", text)
    others = re.search(r"Other available API versions: (.*?)\. These", text, re.DOTALL)
    return {
        "version": version[1] if version else "",
        "others": others[1].split(", ") if others else [],
        "in": _properties(package, folder, given, objects),
        "out": sorted(_wire_names(resource)),
    }


def _properties(
    package: Package, folder: str, node: ast.ClassDef, objects: dict[str, Any]
) -> dict[str, Any]:
    required = _required(node)
    fields = {}
    for wire, (name, annotation) in _wire_names(node).items():
        if wire not in NOT_IN_THE_BODY:
            fields[wire] = _of(package, folder, annotation, objects) | (
                {"required": True} if name in required else {}
            )
    return fields


def _of(package: Package, folder: str, annotation: str, objects: dict[str, Any]) -> dict[str, Any]:
    """What a property takes: an object of ours by name, one of an enumeration's values,
    or anything.
    """
    for name in re.findall(r"'(\w+)'", annotation):
        if (
            name.endswith("Args")
            and (node := package.classes(f"{folder}._inputs").get(name)) is not None
        ):
            known = f"{folder}.{name}"
            if known not in objects:
                objects[known] = {}
                objects[known].update(_properties(package, folder, node, objects))
            kind = (
                "list"
                if "Sequence[" in annotation
                else "map"
                if "Mapping[" in annotation
                else "object"
            )
            return {kind: known}
        if (node := package.classes(f"{folder}._enums").get(name)) is not None:
            return {"enum": sorted(_values(node))}
    return {}


def _wire_names(node: ast.ClassDef) -> dict[str, tuple[str, str]]:
    """Property on the wire: its name in Python and its annotation."""
    names = {}
    for member in node.body:
        if isinstance(member, ast.FunctionDef) and member.returns is not None:
            for decorator in member.decorator_list:
                if ast.unparse(decorator).startswith("pulumi.getter"):
                    named = decorator.keywords[0].value if isinstance(decorator, ast.Call) else None
                    wire = named.value if isinstance(named, ast.Constant) else member.name
                    names[str(wire)] = (member.name, ast.unparse(member.returns))
    return names


def _required(node: ast.ClassDef) -> set[str]:
    made = next(
        member
        for member in node.body
        if isinstance(member, ast.FunctionDef) and member.name == "__init__"
    )
    pairs = zip(made.args.kwonlyargs, made.args.kw_defaults, strict=True)
    return {argument.arg for argument, default in pairs if default is None}


def _values(node: ast.ClassDef) -> list[str]:
    return [
        str(statement.value.value)
        for statement in node.body
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)
    ]
