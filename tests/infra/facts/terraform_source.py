"""Arguments of Terraform's resources, read out of the `cdktn-provider-*` packages as data: they are
generated from the providers' schemas.

Nothing of them is imported or run. Note: the packages can't tell a block from an
argument that is an object, so `blocks` are what the providers document as nested; azurerm has
blocks only, azapi has arguments only.
"""

from __future__ import annotations

import ast
import re
from typing import Any
from zipfile import ZipFile

AZURERM = "cdktn-provider-azurerm==18.9.0"
AZAPI = "cdktn-provider-azapi==1.0.0"
RESOURCES = (
    "application_insights", "application_insights_workbook", "cognitive_account",
    "cognitive_deployment", "consumption_budget_resource_group", "cosmosdb_account",
    "cosmosdb_sql_database", "cosmosdb_sql_role_assignment", "function_app_flex_consumption",
    "key_vault", "log_analytics_workspace", "managed_redis",
    "managed_redis_access_policy_assignment", "monitor_action_group", "monitor_diagnostic_setting",
    "monitor_scheduled_query_rules_alert_v2", "nat_gateway", "nat_gateway_public_ip_association",
    "network_security_group", "private_dns_zone", "private_dns_zone_virtual_network_link",
    "private_endpoint", "public_ip", "resource_group", "role_assignment", "service_plan",
    "storage_account", "storage_container", "storage_management_policy", "storage_queue", "subnet",
    "subnet_nat_gateway_association", "subnet_network_security_group_association",
    "user_assigned_identity", "virtual_network",
)  # fmt: skip
DATA = ("client_config", "cognitive_account", "cosmosdb_account")
AZAPI_RESOURCES = ("resource", "resource_action", "update_resource")
NOT_ARGUMENTS = {"connection", "provisioners", "provider"}
META = {"count", "depends_on", "for_each", "lifecycle"}


def facts(
    archive: ZipFile,
    package: str,
    provider: str,
    resources: tuple[str, ...],
    data: tuple[str, ...] = (),
) -> dict[str, Any]:
    """`{"source", "version", "provider": {argument: …}, "resources": {"azurerm_…": {"in":
    {argument: …}, "out": […]}}, "data": …}`.
    """
    folder = package.split("==")[0].replace("-", "_")
    modules = {f"{provider}_{name}": name for name in resources}
    looked_up = {f"{provider}_{name}": f"data_{provider}_{name}" for name in data}
    text = archive.read(f"{folder}/{resources[0]}/__init__.py").decode()
    version = re.search(rf"providers/\w+/{provider}/([\d.]+)/docs", text)
    return {
        "source": package,
        "version": version[1] if version else "",
        "provider": _module(archive, folder, "provider")["in"],
        "resources": {name: _module(archive, folder, module) for name, module in modules.items()},
        "data": {name: _module(archive, folder, module) for name, module in looked_up.items()},
    }


def _module(archive: ZipFile, folder: str, module: str) -> dict[str, Any]:
    tree = ast.parse(archive.read(f"{folder}/{module}/__init__.py").decode())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    config = next(
        name
        for name in classes
        if name.endswith("Config") and name.removesuffix("Config") in classes
    )
    resource = classes[config.removesuffix("Config")]
    return {"in": _arguments(classes, classes[config]), "out": sorted(_outputs(resource))}


def _arguments(classes: dict[str, ast.ClassDef], node: ast.ClassDef) -> dict[str, Any]:
    made = next(
        member
        for member in node.body
        if isinstance(member, ast.FunctionDef) and member.name == "__init__"
    )
    arguments: dict[str, Any] = {}
    for argument, default in zip(made.args.kwonlyargs, made.args.kw_defaults, strict=True):
        if argument.arg in NOT_ARGUMENTS | META or argument.annotation is None:
            continue
        annotation = ast.unparse(argument.annotation)
        field: dict[str, Any] = {"required": True} if default is None else {}
        nested = next(
            (name for name in re.findall(r"'(\w+)'", annotation) if name in classes), None
        )
        if nested is not None:
            field["block"] = _arguments(classes, classes[nested])
        arguments[argument.arg.rstrip("_")] = field
    return arguments


def _outputs(node: ast.ClassDef) -> set[str]:
    """What can be referred to: the properties that stand for attributes, not those that repeat
    what was given.
    """
    names = set()
    for member in node.body:
        if isinstance(member, ast.FunctionDef) and not member.name.endswith("_input"):
            decorators = {
                ast.unparse(decorator).partition("(")[0] for decorator in member.decorator_list
            }
            if decorators >= {"builtins.property", "jsii.member"}:
                names.add(member.name)
    return names
