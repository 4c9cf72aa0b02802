"""Terraform's files are right as far as syntax and data tell, and each kind of mistake is found."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from tests.infra.sources import ROOT, changed, sources
from tests.infra.terraform_checks import findings

T = "infra/terraform/"
MISTAKES = {
    "a brace is missing": (
        "main.tf",
        'data "azurerm_client_config" "current" {}',
        'data "azurerm_client_config" "current" {',
        "not HCL",
    ),
    "an argument that does not exist": (
        "cosmos.tf",
        "local_authentication_enabled ",
        "local_authentication_disabled ",
        "does not exist",
    ),
    "an argument of a provider": (
        "versions.tf",
        "data_plane_available",
        "data_plane_there",
        "does not exist",
    ),
    "an argument of azurerm 4": (
        "keyvault.tf",
        "rbac_authorization_enabled ",
        "enable_rbac_authorization ",
        "does not exist",
    ),
    "an argument in a block": (
        "redis.tf",
        "clustering_policy ",
        "cluster_policy ",
        "does not exist",
    ),
    "an argument in a dynamic block": (
        "alerts.tf",
        "email_address  ",
        "email_adress  ",
        "does not exist",
    ),
    "a block that does not exist": (
        "storage.tf",
        "  blob_properties {",
        "  blobs {",
        "does not exist",
    ),
    "an argument that has to be there": (
        "redis.tf",
        "  sku_name                  = var.redis_sku\n",
        "",
        "sku_name is missing",
    ),
    "a resource that does not exist": (
        "redis.tf",
        '"azurerm_managed_redis" "redis"',
        '"azurerm_redis_managed" "redis"',
        "no facts",
    ),
    "an attribute to read that does not exist": (
        "outputs.tf",
        "primary_queue_endpoint",
        "queue_endpoint",
        "has no attribute",
    ),
    "a variable that nobody declares": (
        "cosmos.tf",
        "var.cosmos_backup",
        "var.cosmos_backups",
        "not declared",
    ),
    "a local that nobody declares": (
        "functionapp.tf",
        "local.settings",
        "local.app_settings",
        "not declared",
    ),
    "a resource that nobody declares": (
        "rbac.tf",
        "azurerm_storage_account.data.id",
        "azurerm_storage_account.datas.id",
        "not declared",
    ),
    "a variable that nobody reads": ("functionapp.tf", "var.http_concurrency", "16", "not used"),
    "each without for_each": (
        "main.tf",
        'local.names["identity"]',
        "each.key",
        "nothing is repeated",
    ),
    "a property in a body of azapi": (
        "cosmos.tf",
        "fullTextPolicy = each",
        "fullTextPolicies = each",
        "does not exist",
    ),
    "a property deep in a body of azapi": (
        "functionapp.tf",
        "perInstanceConcurrency",
        "perInstanceConcurency",
        "does not exist",
    ),
    "an API version of azapi": (
        "cosmos.tf",
        "containers@2025-10-15",
        "containers@2025-04-16",
        "no API version",
    ),
    "another provider's version": ("versions.tf", "~> 5.10", "~> 4.20", "the facts are of"),
    "a secret in an output": (
        "outputs.tf",
        "local.cosmos_endpoint",
        "one(azurerm_cosmosdb_account.cosmos[*].primary_key)",
        "shows a secret",
    ),
    "a secret in an output, by way of locals": (
        "outputs.tf",
        "value = var.location",
        'value = local.sources["apiKeys"]',
        "shows a secret",
    ),
    "a secret's default": (
        "variables.tf",
        "  sensitive   = true\n",
        '  sensitive   = true\n  default     = "x"\n',
        "has a default",
    ),
    "a secret that is not marked": ("variables.tf", "  sensitive   = true\n", "", "not sensitive"),
}


def test_the_files_are_in_order() -> None:
    assert findings(sources()) == []


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_found(mistake: str) -> None:
    name, old, new, expected = MISTAKES[mistake]
    complaints = findings(changed(T + name, old, new))
    assert any(expected in complaint for complaint in complaints), complaints


@pytest.mark.skipif(
    shutil.which("terraform") is None, reason="there is no terraform; the workflow has one"
)
def test_the_files_are_written_as_terraform_writes_them() -> None:
    environment = {
        name: value for name, value in os.environ.items() if name != "TF_CLI_CONFIG_FILE"
    }
    command = ["terraform", "fmt", "-check", "-diff", "-recursive", str(ROOT / T)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 0, done.stdout
