"""The Bicep files are right as far as syntax and data tell, and each kind of mistake is found."""

from __future__ import annotations

import pytest

from tests.infra.bicep_checks import findings
from tests.infra.sources import changed, sources

MAIN, MODULES = "infra/main.bicep", "infra/modules"
MISTAKES = {
    "a brace is missing": (
        f"{MODULES}/identity.bicep",
        "  tags: tags\n}",
        "  tags: tags\n",
        "not Bicep",
    ),
    "a property that does not exist": (
        f"{MODULES}/cosmos-account.bicep",
        "disableLocalAuth:",
        "disableLocalAuthentication:",
        "does not exist",
    ),
    "a property deep inside": (
        f"{MODULES}/functionapp.bicep",
        "perInstanceConcurrency:",
        "perInstanceConcurency:",
        "does not exist",
    ),
    "a property in a loop's body": (
        f"{MODULES}/cosmos.bicep",
        "fullTextPolicy: one",
        "fullTextPolicies: one",
        "does not exist",
    ),
    "a property beside the others": (
        f"{MODULES}/redis.bicep",
        "  sku: { name: sku }",
        "  skus: { name: sku }",
        "does not belong there",
    ),
    "a property that has to be there": (
        f"{MODULES}/storage.bicep",
        "  kind: 'StorageV2'\n",
        "",
        "kind is missing",
    ),
    "an API version": (
        f"{MODULES}/cosmos.bicep",
        "databaseAccounts@2025-10-15",
        "databaseAccounts@2025-10-16",
        "no API version",
    ),
    "a type": (
        f"{MODULES}/redis.bicep",
        "Microsoft.Cache/redisEnterprise@",
        "Microsoft.Cache/redisEnterprises@",
        "no facts",
    ),
    "a value that is none of those allowed": (
        f"{MODULES}/redis.bicep",
        "'EnterpriseCluster'",
        "'EnterpriseClusters'",
        "can not be",
    ),
    "a symbol that nobody declares": (
        f"{MODULES}/openai.bicep",
        "parent: account",
        "parent: acount",
        "not declared",
    ),
    "a name that is declared twice": (
        f"{MODULES}/rbac.bicep",
        "each => each.scope",
        "one => one.scope",
        "declared twice",
    ),
    "a parameter that nobody uses": (
        f"{MODULES}/identity.bicep",
        "param tags object",
        "param tags object\nparam more string",
        "not used",
    ),
    "a function": (
        f"{MODULES}/cosmos.bicep",
        "guid(account.id",
        "newguid(account.id",
        "no function",
    ),
    "a module's parameter that it lacks": (
        MAIN,
        "    redisName: enableRedis",
        "    redisNames: enableRedis",
        "has no parameter",
    ),
    "a module's parameter left out": (MAIN, "    email: alertEmail\n", "", "is missing"),
    "a module's output that it lacks": (
        MAIN,
        "storage.outputs.queueEndpoint",
        "storage.outputs.queueUrl",
        "has no output",
    ),
    "a module's file": (MAIN, "'modules/redis.bicep'", "'modules/cache.bicep'", "there is no"),
    "what a resource does not say": (
        f"{MODULES}/cosmos.bicep",
        "properties.documentEndpoint",
        "properties.endpointUri",
        "says nothing of",
    ),
    "a secret in an output": (
        f"{MODULES}/keyvault.bicep",
        "output cursorSecretReference string = '",
        "output cursorSecretReference string = '${cursorSecret}",
        "shows a secret",
    ),
    "a key in an output": (
        f"{MODULES}/storage.bicep",
        "output dataName string = data.name",
        "output dataName string = data.listKeys().keys[0].value",
        "shows a secret",
    ),
    "a secret's default": (
        MAIN,
        "param cursorSecret string",
        "param cursorSecret string = 'not-so-secret-now'",
        "has a default",
    ),
    "a secret that is not marked": (
        MAIN,
        "@secure()\n@minLength(16)\n@description('JSON list",
        "@description('JSON list",
        "not @secure()",
    ),
    "a secret by way of a variable": (
        MAIN,
        "output AZURE_LOCATION string = location",
        "output AZURE_LOCATION string = keyList",
        "shows a secret",
    ),
    "a variable with a secret for a module that shows it": (
        MAIN,
        "email: alertEmail",
        "email: keyList",
        "not @secure()",
    ),
    "a secret for a module that shows it": (
        f"{MODULES}/functionapp.bicep",
        "@secure()\n@description('What",
        "@description('What",
        "not @secure()",
    ),
    "a file that is loaded": (
        f"{MODULES}/alerts.bicep",
        "'../workbook.json'",
        "'../workbooks.json'",
        "is not there",
    ),
}


def test_the_files_are_in_order() -> None:
    assert findings(sources()) == []


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_found(mistake: str) -> None:
    path, old, new, expected = MISTAKES[mistake]
    complaints = findings(changed(path, old, new))
    assert any(expected in complaint for complaint in complaints), complaints
