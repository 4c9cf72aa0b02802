"""Bicep, Terraform and azd deploy the same, and each way to differ is found."""

from __future__ import annotations

import pytest

from tests.infra import parity, wiring
from tests.infra.sources import changed, sources

MAIN, T = "infra/main.bicep", "infra/terraform/"
MISTAKES = {
    "a default in Bicep": (
        MAIN,
        "param httpConcurrency int = 16",
        "param httpConcurrency int = 50",
        "Terraform's 16",
    ),
    "a default in Terraform": (
        T + "variables.tf",
        "default     = 512",
        "default     = 768",
        "Terraform's 768",
    ),
    "a default of azd": (
        "infra/main.parameters.json",
        "${HTTP_CONCURRENCY=16}",
        "${HTTP_CONCURRENCY=100}",
        "azd gives",
    ),
    "a secret that azd would ask for": (
        "infra/main.parameters.json",
        "${CURSOR_SECRET=unset}",
        "${CURSOR_SECRET}",
        "would ask for cursorSecret",
    ),
    "a secret that stays what stands in for it": (
        MAIN,
        "@secure()\n@minLength(16)\n@description('JSON",
        "@secure()\n@description('JSON",
        "deployed as",
    ),
    "a name that Python's own images set": (
        "infra/main.parameters.json",
        "APP_PYTHON_VERSION",
        "PYTHON_VERSION",
        "set for something else",
    ),
    "a parameter's type": (
        MAIN,
        "param alwaysReady int = -1",
        "param alwaysReady string = -1",
        "is a string in Bicep",
    ),
    "a model that its file lacks": (
        "infra/modules/openai.bicep",
        "models.chat.upgrade",
        "models.chats.upgrade",
        "not in its file",
    ),
    "a model that its file lacks, in Terraform": (
        T + "openai.tf",
        "local.models.chat.upgrade",
        "local.models.chats.upgrade",
        "not in its file",
    ),
    "a member that a policy lacks": (
        "infra/modules/storage.bicep",
        "name: policy.archiveContainer",
        "name: policy.coldContainer",
        "not in its file",
    ),
    "a member of a loop's variable": (
        "infra/modules/cosmos.bicep",
        "one.fullTextPolicy",
        "one.fullTextPolicies",
        "is in no policy",
    ),
    "a member that a policy lacks, in Terraform": (
        T + "storage.tf",
        "local.policy.archiveContainer",
        "local.policy.cold",
        "not in its file",
    ),
    "a member of each value": (
        T + "rbac.tf",
        "each.value.why",
        "each.value.reason",
        "is in no policy",
    ),
    "a member that the profiles lack": (
        MAIN,
        "preset.holdUsers",
        "preset.holdsUsers",
        "not in its file",
    ),
    "a member that the profiles lack, in Terraform": (
        T + "locals.tf",
        "local.preset.holdUsers",
        "local.preset.hold",
        "not in its file",
    ),
    "a property of the app that Terraform lacks": (
        T + "functionapp.tf",
        "      httpsOnly                 = true\n",
        "",
        "in one of Bicep",
    ),
    "a property of the app that Bicep lacks": (
        "infra/modules/functionapp.bicep",
        "    httpsOnly: true\n",
        "",
        "in one of Bicep",
    ),
    "a value of the app": (
        T + "functionapp.tf",
        'minTlsVersion = "1.2"',
        'minTlsVersion = "1.0"',
        "minTlsVersion is",
    ),
    "a parameter of Bicep's only": (
        MAIN,
        "param redisSku string",
        "param redisSize string",
        "one of Bicep and Terraform only",
    ),
    "a parameter that azd can't give": (
        "infra/main.parameters.json",
        '"alwaysReady"',
        '"alwaysreadies"',
        "azd can not give alwaysReady",
    ),
    "what is allowed": (
        T + "variables.tf",
        '"quantizedFlat", "diskANN"',
        '"quantizedFlat"',
        "does not hold allowed",
    ),
    "a limit": (
        T + "variables.tf",
        "var.embedding_dimensions <= 4096",
        "var.embedding_dimensions <= 9999",
        "does not hold maxValue",
    ),
    "a secret": (T + "variables.tf", "  sensitive   = true\n", "", "secret in one of"),
    "a description": (
        MAIN,
        "@description('Size of Redis.')",
        "@description('How large Redis is.')",
        "in two ways",
    ),
    "a resource of Terraform's only": (
        "infra/modules/storage.bicep",
        "storageAccounts/queueServices/queues@",
        "storageAccounts/queueServices@",
        "not by Bicep",
    ),
    "a resource of Bicep's only": (
        T + "functionapp.tf",
        "basicPublishingCredentialsPolicies@",
        "basicPublishingPolicies@",
        "not by Terraform",
    ),
    "a source that Bicep lacks": (
        MAIN,
        "      blobEndpoint:",
        "      blobsEndpoint:",
        "Bicep does not give blobEndpoint",
    ),
    "a source that Terraform lacks": (
        T + "locals.tf",
        "    blobEndpoint ",
        "    blobsEndpoint ",
        "Terraform does not give blobEndpoint",
    ),
    "a setting from nowhere": (
        "infra/policy.json",
        ': "cosmosEndpoint"',
        ': "cosmosUrl"',
        "does not give cosmosUrl",
    ),
    "an output": (T + "outputs.tf", '"service_api_url"', '"service_url"', "the output service_url"),
}


def findings(files: dict[str, str]) -> list[str]:
    return parity.findings(files) + wiring.findings(files)


def test_both_deploy_the_same() -> None:
    assert findings(sources()) == []


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_difference_is_found(mistake: str) -> None:
    path, old, new, expected = MISTAKES[mistake]
    complaints = findings(changed(path, old, new))
    assert any(expected in complaint for complaint in complaints), complaints
