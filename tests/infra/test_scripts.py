"""What runs before and after a deployment, with programs named az and azd in the
place of Azure's.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from infra.scripts import deploy, preflight, provision, ready, settle
from memory_core.config import Settings
from memory_core.functions import callers
from tests.infra.sources import ROOT

STAND_IN = f"""#!{sys.executable} -ISE
import json, os, sys
folder = os.environ["STAND_IN"]
line = " ".join(sys.argv[1:])
with open(os.path.join(folder, os.path.basename(sys.argv[0]) + ".txt"), "a") as told:
    told.write(line + "\\n")
answers = json.load(open(os.path.join(folder, "answers.json")))
for start, answer in answers.items():
    if line.startswith(start):
        print(json.dumps(answer))
        sys.exit(0)
sys.exit(1)
"""
ACCOUNT = {"id": "sub-1", "name": "Test", "user": {"type": "user", "name": "ana@example.org"}}
MODELS = json.loads((ROOT / "memory_core/adapters/openai/models.json").read_text(encoding="utf-8"))
CHAT, EMBEDDING = MODELS["chat"], MODELS["embedding"]
NOW = datetime(2026, 11, 1, 12, 0, tzinfo=timezone.utc)


def model(
    name: str,
    version: str,
    status: str = "GenerallyAvailable",
    days: int = 300,
    able: str = "chatCompletion",
    **more: Any,
) -> Any:
    """A model as a region offers it, to be retired after so many days."""
    end = f"{datetime.now(timezone.utc) + timedelta(days=days):%Y-%m-%d}T00:00:00Z"
    skus = [
        {
            "name": "GlobalStandard",
            "deprecationDate": None,
            "usageName": f"OpenAI.GlobalStandard.{name}",
        }
    ]
    of = {
        "name": name,
        "version": version,
        "lifecycleStatus": status,
        "deprecation": {"inference": end},
        "skus": skus,
    }
    return {"model": of | {"capabilities": {able: "true"}} | more}


WELL: dict[str, Any] = {
    "account show": ACCOUNT,
    "role assignment list": [{"roleDefinitionName": "Owner"}],
    "provider list": [
        {"namespace": provider.lower(), "state": "Registered"} for provider in preflight.PROVIDERS
    ],
    "functionapp list-flexconsumption-locations": [
        {"name": "West Europe"},
        {"name": "swedencentral"},
    ],
    "cognitiveservices model list": [
        model(EMBEDDING["name"], EMBEDDING["version"], able="embeddings"),
        model(CHAT["name"], CHAT["version"]),
    ],
    "cognitiveservices account list --resource-group rg-dev": None,
    "cognitiveservices usage list": [
        {
            "name": {"value": f"OpenAI.GlobalStandard.{CHAT['name']}"},
            "limit": 200.0,
            "currentValue": 100.0,
        }
    ],
    "keyvault list-deleted": [],
    "cognitiveservices account list-deleted": [],
    "group show": {"name": "rg-dev"},
    "env set": None,
}
GIVEN = {"AZURE_ENV_NAME": "dev", "AZURE_LOCATION": "westeurope", "AZURE_SUBSCRIPTION_ID": "sub-1"}


class Azure:
    """A folder with programs that stand in for az and azd."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for name in ("az", "azd"):
            program = folder / name
            program.write_text(STAND_IN)
            program.chmod(0o755)

    def preflight(self, answers: dict[str, Any], **given: str) -> subprocess.CompletedProcess[str]:
        """Run it where these programs answer so."""
        return self.run(answers, "preflight.py", **GIVEN | given)

    def run(
        self, answers: dict[str, Any], script: str, *arguments: str, root: Path = ROOT, **given: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a script where these programs answer so. root: another copy of the project."""
        (self._folder / "answers.json").write_text(json.dumps(answers))
        environment = {
            "PATH": f"{self._folder}:{os.environ['PATH']}",
            "STAND_IN": str(self._folder),
            **given,
        }
        command = [sys.executable, str(root / "infra/scripts" / script), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)

    def told(self, program: str) -> str:
        """What a program was asked."""
        file = self._folder / f"{program}.txt"
        return file.read_text() if file.exists() else ""


@pytest.fixture
def azure(tmp_path: Path) -> Azure:
    return Azure(tmp_path)


def test_a_first_deployment_gets_secrets_that_the_app_takes_and_a_key_that_is_shown_once(
    azure: Azure,
) -> None:
    done = azure.preflight(WELL)
    assert (done.returncode, done.stderr) == (0, "")
    azd_values = dict(
        line.removeprefix("env set ").split(" ", 1) for line in azure.told("azd").splitlines()
    )
    assert azd_values.keys() == {"CURSOR_SECRET", "WEBHOOK_SECRET", "API_KEYS"}
    key = re.search(r"shown this once: (\S+)", done.stdout)
    assert key is not None
    assert key[1] not in azure.told("azd")
    names = {
        "MEMORY_API_KEYS": base64.b64decode(azd_values["API_KEYS"]).decode(),
        "MEMORY_SECRET": azd_values["CURSOR_SECRET"],
        "MEMORY_WEBHOOK_SECRET": azd_values["WEBHOOK_SECRET"],
    }
    settings = Settings.from_env(names)
    assert [api_key.sha256 for api_key in settings.api_keys] == [
        hashlib.sha256(key[1].encode()).hexdigest()
    ]
    first = callers.Keyring(settings.api_keys).caller(
        callers.PresentedKey.of({"x-api-key": key[1]})
    )
    assert (first.app_id, first.user_id, first.is_admin) == ("main", None, True), (
        "or nobody could make another key"
    )


def test_azd_can_put_what_is_kept_into_its_file_of_parameters_as_it_stands(azure: Azure) -> None:
    azure.preflight(WELL)
    settings = dict(
        line.removeprefix("env set ").split(" ", 1) for line in azure.told("azd").splitlines()
    )
    text = (ROOT / "infra/main.parameters.json").read_text(encoding="utf-8")
    for name, value in settings.items():
        text = re.sub(rf"\$\{{{name}=[^}}]*\}}", value.replace("\\", r"\\"), text)
    given = json.loads(text)["parameters"]
    assert [given[name]["value"] for name in ("cursorSecret", "webhookSecret", "apiKeys")] == [
        settings[name] for name in ("CURSOR_SECRET", "WEBHOOK_SECRET", "API_KEYS")
    ]


def test_what_the_scripts_print_stays_on_the_screen() -> None:
    hooks = (
        (ROOT / "azure.yaml")
        .read_text(encoding="utf-8")
        .split("\nhooks:\n")[1]
        .split("\nservices:")[0]
    )
    assert re.findall(r"^  (\w+):\n", hooks, re.MULTILINE) == [
        "preprovision",
        "predeploy",
        "postdeploy",
        "predown",
    ]
    assert hooks.count("run: ") == hooks.count("interactive: true") == 8


def test_windows_runs_what_linux_and_macos_do() -> None:
    text = (ROOT / "azure.yaml").read_text(encoding="utf-8")
    both = re.findall(
        r"posix:\n +shell: sh\n(?: +interactive: true\n)? +run: python3 (.+)\n +windows:\n +shell: pwsh\n(?: +.+\n)? +run: python (.+)\n",  # noqa: E501
        text,
    )
    assert len(both) == 5
    assert all(first == other for first, other in both)


def test_a_later_deployment_keeps_the_secrets_of_the_first(azure: Azure) -> None:
    had = {"CURSOR_SECRET": "c" * 64, "WEBHOOK_SECRET": "w" * 64, "API_KEYS": "W10="}
    assert azure.preflight(WELL, **had).returncode == 0
    assert azure.told("azd") == ""


TAGGED = {"tags": {"azd-env-name": "dev"}}
DELETED_ACCOUNT = {
    "name": "oai-x",
    "location": "westeurope",
    "id": "/subscriptions/s/resourceGroups/rg-dev/deletedAccounts/oai-x",
    **TAGGED,
}


DELETED_VAULT = {"name": "kv-x", "properties": {"location": "West Europe", **TAGGED}}


@pytest.mark.parametrize(
    ("changed", "given", "expected"),
    [
        ({"account show": {**ACCOUNT, "id": "sub-2"}}, {}, "az account set --subscription sub-1"),
        (
            {"role assignment list": [{"roleDefinitionName": "Contributor"}]},
            {},
            "may give nobody a role",
        ),
        ({}, {"AZURE_LOCATION": "moonbase"}, "moonbase has no Flex Consumption"),
        ({}, {"CHAT_CAPACITY": "150"}, f"100 thousand tokens a minute of {CHAT['name']} are left"),
        ({}, {"EMBEDDING_MODEL_VERSION": "2"}, "has no text-embedding-3-small 2"),
        ({}, {"MODEL_SKU": "Standard"}, "as Standard"),
        (
            {"keyvault list-deleted": [DELETED_VAULT]},
            {"PROFILE": "standard"},
            "could not be brought back: az keyvault recover --name kv-x",
        ),
        (
            {"cognitiveservices account list-deleted": [DELETED_ACCOUNT]},
            {},
            (
                "az cognitiveservices account recover --name oai-x --resource-group rg-dev "
                "--location westeurope"
            ),
        ),
    ],
)
def test_what_would_fail_later_is_said_before_and_no_secret_is_made(
    azure: Azure, changed: dict[str, Any], given: dict[str, str], expected: str
) -> None:
    done = azure.preflight(WELL | changed, **given)
    assert done.returncode == 1
    assert expected in done.stderr
    assert "API_KEYS" not in azure.told("azd")


DOWN = {
    "keyvault list-deleted": [DELETED_VAULT],
    "cognitiveservices account list-deleted": [DELETED_ACCOUNT],
}


def test_an_environment_that_was_taken_down_comes_back_under_its_names(azure: Azure) -> None:
    """`azd down` then `azd up`: the vault lies in its grave for a week, the OpenAI account for two
    days, and their group is gone.
    """
    gone = {name: answer for name, answer in WELL.items() if name != "group show"}
    done = azure.preflight(
        gone
        | DOWN
        | {"group create": {}, "keyvault recover": {}, "cognitiveservices account recover": {}},
        PROFILE="standard",
    )
    assert (done.returncode, done.stderr) == (0, "")
    asked = [line.partition(" --output")[0] for line in azure.told("az").splitlines()]
    assert asked[
        asked.index(
            "group create --name rg-dev --location West Europe --tags azd-env-name=dev "
            "application=memory-core"
        )
        + 1 :
    ] == [
        "keyvault recover --name kv-x",
        (
            "cognitiveservices account recover --name oai-x --resource-group rg-dev --location "
            "westeurope"
        ),
    ]
    assert "the vault kv-x was deleted and is brought back" in done.stdout


@pytest.mark.parametrize(
    ("deleted", "given"),
    [
        (
            [
                {
                    **DELETED_VAULT,
                    "properties": {"location": "westeurope", "tags": {"azd-env-name": "other"}},
                }
            ],
            {"PROFILE": "standard"},
        ),
        (
            [{**DELETED_VAULT, "properties": {"location": "swedencentral", **TAGGED}}],
            {"PROFILE": "standard"},
        ),
        ([DELETED_VAULT], {"PROFILE": "standard", "ENABLE_KEY_VAULT": "false"}),
        ([DELETED_VAULT], {}),
    ],
    ids=["another environment's", "another region's", "not wanted", "none in the profile"],
)
def test_a_deleted_vault_that_holds_no_name_of_this_deployment_stays_deleted(
    azure: Azure, deleted: list[Any], given: dict[str, str]
) -> None:
    assert azure.preflight(WELL | {"keyvault list-deleted": deleted}, **given).returncode == 0
    assert "recover" not in azure.told("az")


def test_nothing_is_brought_back_where_the_deployment_would_fail_all_the_same(azure: Azure) -> None:
    assert azure.preflight(WELL | DOWN, MODEL_SKU="Standard").returncode == 1
    assert "recover" not in azure.told("az")


def budget_start(azure: Azure, answers: dict[str, Any], **given: str) -> str | None:
    """What preflight keeps as the budget's first month."""
    assert (
        azure.preflight(
            WELL | answers,
            CURSOR_SECRET="c" * 64,
            WEBHOOK_SECRET="w" * 64,
            API_KEYS="W10=",
            **given,
        ).returncode
        == 0
    )
    months = [
        line.split(" ")[-1]
        for line in azure.told("azd").splitlines()
        if line.startswith("env set BUDGET_START")
    ]
    return months[-1] if months else None


THIS_MONTH = f"{datetime.now(timezone.utc):%Y-%m}-01"
BUDGET = {
    "rest --method get": {"properties": {"timePeriod": {"startDate": "2026-01-01T00:00:00Z"}}}
}


@pytest.mark.parametrize(
    ("answers", "given", "expected"),
    [
        ({}, {}, None),
        ({}, {"MONTHLY_BUDGET": "50"}, THIS_MONTH),
        (BUDGET, {"MONTHLY_BUDGET": "50"}, "2026-01-01"),
        (BUDGET, {"MONTHLY_BUDGET": "50", "BUDGET_START": "2026-01-01"}, None),
        ({}, {"MONTHLY_BUDGET": "50", "BUDGET_START": "2026-01-01"}, THIS_MONTH),
        ({}, {"MONTHLY_BUDGET": "50", "BUDGET_START": "2999-01-01"}, None),
    ],
    ids=[
        "no budget",
        "the first time",
        "two months later, in a pipeline",
        "two months later",
        "down, then up",
        "one that is chosen",
    ],
)
def test_a_budget_keeps_its_first_month_and_a_new_one_begins_now(
    azure: Azure, answers: dict[str, Any], given: dict[str, str], expected: str | None
) -> None:
    """Azure refuses another first month for a budget that there is, and a past one for a budget
    that there is not.
    """
    assert budget_start(azure, answers, **given) == expected


def is_well_two_months_later(azure: Azure, root: Path) -> bool:
    """A budget that there is keeps its first month, a new one takes none of the past."""
    later = azure.run(WELL | BUDGET, "preflight.py", root=root, **GIVEN, MONTHLY_BUDGET="50")
    kept_first = "env set BUDGET_START 2026-01-01" in azure.told("azd")
    anew = azure.run(
        WELL, "preflight.py", root=root, **GIVEN, MONTHLY_BUDGET="50", BUDGET_START="2026-01-01"
    )
    return (
        later.returncode == anew.returncode == 0
        and kept_first
        and f"env set BUDGET_START {THIS_MONTH}" in azure.told("azd")
    )


def is_well_after_down_then_up(azure: Azure, root: Path) -> bool:
    """What `azd down` left in its grave is brought back, into a group, and what is another
    environment's is not.
    """
    gone = {name: answer for name, answer in WELL.items() if name != "group show"}
    recovered = {
        "group create": {},
        "keyvault recover": {},
        "cognitiveservices account recover": {},
    }
    other = {
        **DELETED_VAULT,
        "name": "kv-y",
        "properties": {"location": "westeurope", "tags": {"azd-env-name": "other"}},
    }
    down = {**DOWN, "keyvault list-deleted": [DELETED_VAULT, other]}
    done = azure.run(
        gone | down | recovered, "preflight.py", root=root, **GIVEN, PROFILE="standard"
    )
    asked = azure.told("az")
    order = [
        asked.find("group create"),
        asked.find("keyvault recover --name kv-x"),
        asked.find("account recover --name oai-x"),
    ]
    return (
        done.returncode == 0
        and -1 < order[0] < order[1]
        and order[2] > order[0]
        and "kv-y" not in asked
    )


def is_well_with_a_retired_model(azure: Azure, root: Path) -> bool:
    """It is refused, whether its day or its status says so, and the newest small one is offered."""
    newer = [
        model("gpt-6.1-mini", "2027-02-01"),
        model("gpt-6.2-mini", "2027-05-01", "Preview"),
        model("gpt-7", "2027-06-01"),
    ]
    for gone in ({"days": 0}, {"status": "Deprecated"}, {"status": "Deprecating"}):
        done = azure.run(
            WELL | offered(model(CHAT["name"], CHAT["version"], **gone), *newer),
            "preflight.py",
            root=root,
            **GIVEN,
        )
        if done.returncode != 1 or "azd env set CHAT_MODEL gpt-6.1-mini" not in done.stderr:
            return False
    return "API_KEYS" not in azure.told("azd")


PLANTED = [
    (
        is_well_two_months_later,
        'there["properties"]["timePeriod"]["startDate"][:10]\n        if there',
        "this_month\n        if there",
    ),
    (
        is_well_two_months_later,
        'max(given.get("BUDGET_START") or this_month, this_month)',
        'given.get("BUDGET_START") or this_month',
    ),
    (is_well_two_months_later, 'keep("BUDGET_START", start)', "pass"),
    (
        is_well_after_down_then_up,
        "            problems = bring_back(given)",
        "            problems = []",
    ),
    (is_well_after_down_then_up, '        az("group", "create", *group)', "        pass"),
    (
        is_well_after_down_then_up,
        '.get("azd-env-name") == environment and decided',
        '.get("azd-env-name") and decided',
    ),
    (is_well_after_down_then_up, '("keyvault", "recover"', '("keyvault", "purge"'),
    (is_well_with_a_retired_model, "if status in RETIRED or (", "if ("),
    (
        is_well_with_a_retired_model,
        "(end is not None and end <= today)",
        "(end is not None and end < today)",
    ),
    (is_well_with_a_retired_model, 'if status == "Deprecating" and not had:', "if False:"),
    (is_well_with_a_retired_model, 'or model.get("lifecycleStatus") not in CURRENT', ""),
]
"""Mistakes for preflight.py: in which case each has to be seen, what is written there,
what would be written there instead.
"""


@pytest.mark.parametrize(
    "is_well", [is_well_two_months_later, is_well_after_down_then_up, is_well_with_a_retired_model]
)
def test_what_is_deployed_again_later_is_well(
    azure: Azure, is_well: Callable[[Azure, Path], bool]
) -> None:
    assert is_well(azure, ROOT)


@pytest.mark.parametrize(("is_well", "old", "new"), PLANTED)
def test_a_mistake_about_what_is_deployed_again_later_is_seen(
    azure: Azure, tmp_path: Path, is_well: Callable[[Azure, Path], bool], old: str, new: str
) -> None:
    root = tmp_path / "planted"
    for path in (
        "infra/scripts/preflight.py",
        "infra/profiles.json",
        "memory_core/adapters/openai/models.json",
    ):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text((ROOT / path).read_text(encoding="utf-8"))
    script = root / "infra/scripts/preflight.py"
    text = script.read_text(encoding="utf-8")
    assert old in text
    script.write_text(text.replace(old, new))
    assert not is_well(azure, root)


def offered(*models: Any) -> dict[str, Any]:
    """What a region offers beside the embedding model."""
    return {"cognitiveservices model list": [WELL["cognitiveservices model list"][0], *models]}


@pytest.mark.parametrize(
    "gone",
    [{"days": 0}, {"status": "Deprecated"}, {"status": "Deprecating"}],
    ids=["day", "retired", "closed"],
)
def test_a_model_that_nobody_may_deploy_any_more_is_refused_and_the_newest_small_one_offered(
    azure: Azure, gone: dict[str, Any]
) -> None:
    """The default of October 2026 would have failed ten minutes into the deployment."""
    newer = [
        model("gpt-6.1-mini", "2027-02-01"),
        model("gpt-6.1-nano", "2027-02-01"),
        model("gpt-6.2-mini", "2027-05-01", "Preview"),
        model("gpt-6.1", "2027-03-01"),
        model("gpt-6.3-mini", "2027-06-01", days=20),
        model("gpt-realtime-mini", "2027-07-01"),
    ]
    done = azure.preflight(WELL | offered(model(CHAT["name"], CHAT["version"], **gone), *newer))
    assert done.returncode == 1
    assert f"{CHAT['name']} {CHAT['version']} is " in done.stderr
    assert (
        "azd env set CHAT_MODEL gpt-6.1-mini && azd env set CHAT_MODEL_VERSION 2027-02-01"
        in done.stderr
    )
    assert (
        azure.preflight(
            WELL | offered(*newer), CHAT_MODEL="gpt-6.1-mini", CHAT_MODEL_VERSION="2027-02-01"
        ).returncode
        == 0
    )


def test_an_environment_that_has_a_model_may_keep_it_until_its_last_day(azure: Azure) -> None:
    there = {"cognitiveservices account list --resource-group rg-dev": [{"name": "oai-x"}]}
    done = azure.preflight(
        WELL | there | offered(model(CHAT["name"], CHAT["version"], "Deprecating", days=30))
    )
    assert done.returncode == 0
    assert f"{CHAT['name']} {CHAT['version']} is retired on " in done.stdout
    assert (
        azure.preflight(
            WELL | there | offered(model(CHAT["name"], CHAT["version"], "Deprecating", days=-1))
        ).returncode
        == 1
    )


def test_an_embedding_model_that_is_retired_is_refused_with_those_that_are_left(
    azure: Azure,
) -> None:
    changed = {
        "cognitiveservices model list": [
            model(EMBEDDING["name"], EMBEDDING["version"], "Deprecated", able="embeddings"),
            model("text-embedding-9", "1", able="embeddings"),
            model(CHAT["name"], CHAT["version"]),
        ]
    }
    done = azure.preflight(WELL | changed)
    assert (
        "choose EMBEDDING_MODEL and EMBEDDING_MODEL_VERSION of: text-embedding-9 1" in done.stderr
    )


def test_another_model_without_a_version_is_looked_for_as_azures_default(azure: Azure) -> None:
    models = offered(
        model("gpt-6.1-mini", "2027-01-01", isDefaultVersion=True),
        model("gpt-6.2-mini", "2027-01-01"),
    )
    assert azure.preflight(WELL | models, CHAT_MODEL="gpt-6.1-mini").returncode == 0
    assert (
        "has no gpt-6.2-mini as GlobalStandard"
        in azure.preflight(WELL | models, CHAT_MODEL="gpt-6.2-mini").stderr
    )


ACCOUNT_ID = (
    "/subscriptions/s/resourceGroups/rg-ai/providers/Microsoft.CognitiveServices/accounts/shared"
)


def deployed(**models: str) -> dict[str, Any]:
    """An account that exists already, and the model of each of its deployments."""
    listed = [
        {"name": name.replace("_", "-"), "properties": {"model": {"name": of}}}
        for name, of in models.items()
    ]
    return {
        "cognitiveservices account deployment list --subscription s --resource-group rg-ai --name shared": listed  # noqa: E501
    }


def test_an_account_that_exists_already_is_asked_for_its_deployments_and_not_for_models_or_quota(
    azure: Azure,
) -> None:
    has = deployed(vectors=EMBEDDING["name"], small_chat=CHAT["name"])
    given = {
        "EXISTING_OPENAI": ACCOUNT_ID,
        "CHAT_CAPACITY": "9999",
        "EMBEDDING_DEPLOYMENT": "vectors",
        "CHAT_DEPLOYMENT": "small-chat",
    }
    assert (
        azure.preflight(WELL | has | {"cognitiveservices model list": []}, **given).returncode == 0
    )
    assert "cognitiveservices model list" not in azure.told("az")


def test_a_deployment_that_an_account_lacks_or_has_of_another_model_is_said(azure: Azure) -> None:
    has = deployed(vectors="text-embedding-9", small_chat=CHAT["name"])
    done = azure.preflight(WELL | has, EXISTING_OPENAI=ACCOUNT_ID, EMBEDDING_DEPLOYMENT="vectors")
    assert "the deployment vectors is of text-embedding-9" in done.stderr
    assert (
        f"shared has no deployment {CHAT['name']}; CHAT_DEPLOYMENT may name one of: small-chat "
        f"({CHAT['name']}), vectors"
    ) in done.stderr
    assert (
        "is not the resource id of one of Microsoft.CognitiveServices/accounts"
        in azure.preflight(WELL, EXISTING_OPENAI="/subscriptions/x").stderr
    )


COSMOS_ID = (
    "/subscriptions/s/resourceGroups/rg-data/providers/Microsoft.DocumentDB/databaseAccounts/shared"
)
SUBNETS = "/subscriptions/s/resourceGroups/rg-net/providers/Microsoft.Network/virtualNetworks/hub/subnets/"  # noqa: E501
NETWORK = {
    "EXISTING_APP_SUBNET": f"{SUBNETS}app",
    "EXISTING_ENDPOINT_SUBNET": f"{SUBNETS}endpoints",
    "VNET_ENABLED": "true",
}


def account(*features: str, level: str = "Strong") -> dict[str, Any]:
    """A Cosmos DB account that exists already."""
    named = [{"name": name} for name in features]
    return {
        "cosmosdb show": {
            "name": "shared",
            "capabilities": named,
            "consistencyPolicy": {"defaultConsistencyLevel": level},
        }
    }


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            {"PROFILE": "large"},
            "there is no profile large; choose PROFILE of: small, standard, private",
        ),
        ({"COSMOS_FREE_TIER": "true"}, "COSMOS_FREE_TIER needs throughput that is reserved"),
        (
            {"PROFILE": "standard", "COSMOS_MODE": "serverless", "SECOND_LOCATION": "northeurope"},
            "SECOND_LOCATION needs",
        ),
        ({"EXISTING_COSMOS": "my-account"}, "EXISTING_COSMOS is not the resource id"),
        (
            {"EXISTING_DNS_ZONES": "rg-zones", "PROFILE": "private"},
            "EXISTING_DNS_ZONES is not the resource id of a resource group",
        ),
        (
            {"EXISTING_APP_SUBNET": f"{SUBNETS}app", "PROFILE": "private"},
            "without the other subnet",
        ),
        ({"ENTRA_TENANT_ID": "t", "ENTRA_APP": "shop"}, "would not start without ENTRA_AUDIENCE:"),
        ({"TRUST_PRINCIPAL_HEADER": "on"}, "would not start without ENTRA_TENANT_ID"),
        ({**NETWORK, "VNET_ENABLED": ""}, "a network is named, and the app is in none"),
    ],
)
def test_what_can_not_be_had_together_is_said_before_azure_is_asked(
    azure: Azure, given: dict[str, str], says: str
) -> None:
    done = azure.preflight(WELL, **given)
    assert (done.returncode, azure.told("az")) == (1, "")
    assert says in done.stderr


@pytest.mark.parametrize(
    ("answers", "given", "says"),
    [
        (
            account("EnableServerless"),
            {"EXISTING_COSMOS": COSMOS_ID},
            "lacks EnableNoSQLFullTextSearch, EnableNoSQLVectorSearch",
        ),
        (
            account(*preflight.FEATURES),
            {"EXISTING_COSMOS": COSMOS_ID},
            "azd env set COSMOS_MODE autoscale",
        ),
        (
            account(*preflight.FEATURES, "EnableServerless", level="Session"),
            {"EXISTING_COSMOS": COSMOS_ID},
            "has the consistency Session",
        ),
        (
            {"cosmosdb list": [{"name": "first", "resourceGroup": "rg-other"}]},
            {"COSMOS_FREE_TIER": "true", "COSMOS_MODE": "autoscale"},
            "the subscription's free account is first already",
        ),
        (
            {
                "network vnet subnet show": {"name": "app", "delegations": []},
                "network vnet show": {"name": "hub", "location": "northeurope"},
            },
            NETWORK,
            (
                "the subnet app is not delegated to Microsoft.App/environments\n  NO: the network "
                "hub is in northeurope"
            ),
        ),
    ],
)
def test_what_exists_already_and_does_not_fit_is_said(
    azure: Azure, answers: dict[str, Any], given: dict[str, str], says: str
) -> None:
    done = azure.preflight(WELL | answers, **given)
    assert done.returncode == 1
    assert says in done.stderr


def test_what_exists_already_and_fits_is_taken(azure: Azure) -> None:
    there = {
        **account(*preflight.FEATURES, "EnableServerless"),
        "network vnet subnet show": {
            "name": "app",
            "delegations": [{"serviceName": "Microsoft.App/environments"}],
        },
        "network vnet show": {"name": "hub", "location": "West Europe"},
    }
    done = azure.preflight(WELL | there, EXISTING_COSMOS=COSMOS_ID, **NETWORK)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({}, []),
        (
            {"EXISTING_COSMOS": COSMOS_ID},
            [
                "the whole resource group rg-data too",
                "--account-name shared --resource-group rg-data",
            ],
        ),
        (
            {"EXISTING_OPENAI": ACCOUNT_ID},
            ["the whole resource group rg-ai too", f"role assignment list --scope {ACCOUNT_ID}"],
        ),
        ({"EXISTING_COSMOS": COSMOS_ID.replace("rg-data", "RG-dev")}, []),
        ({"EXISTING_APP_SUBNET": f"{SUBNETS}app"}, []),
    ],
    ids=[
        "all of its own",
        "a database elsewhere",
        "a role elsewhere",
        "in the group itself",
        "nothing made in it",
    ],
)
def test_a_tear_down_that_would_take_others_along_is_stopped(
    azure: Azure, given: dict[str, str], refused: list[str]
) -> None:
    """azd deletes each group in which a deployment has made anything: Azure/azure-dev#2916."""
    done = azure.run({}, "guard_down.py", AZURE_ENV_NAME="dev", **given)
    assert done.returncode == (1 if refused else 0)
    assert all(
        text in done.stderr
        for text in [*refused, *(["az group delete --name rg-dev"] if refused else [])]
    )


def test_a_parameter_of_ones_own_stands_before_the_profiles() -> None:
    assert preflight.decided({}, "ENABLE_KEY_VAULT") == "false"
    assert preflight.decided({"PROFILE": "standard"}, "ENABLE_KEY_VAULT") == "true"
    assert (
        preflight.decided({"PROFILE": "standard", "ENABLE_KEY_VAULT": "false"}, "ENABLE_KEY_VAULT")
        == "false"
    )
    assert preflight.decided({"MAXIMUM_INSTANCES": "0"}, "MAXIMUM_INSTANCES") == "5"
    assert preflight.decided({"LOG_DAILY_CAP_GB": "-1"}, "LOG_DAILY_CAP_GB") == "-1"
    assert preflight.decided({"DAILY_TOKENS": "0"}, "DAILY_TOKENS") == "0"
    assert preflight.decided({"ALWAYS_READY": "-1", "PROFILE": "private"}, "ALWAYS_READY") == "1"


def test_a_quota_that_this_environment_has_used_up_itself_stops_no_later_deployment(
    azure: Azure,
) -> None:
    there = {"cognitiveservices account list --resource-group rg-dev": [{"name": "oai-x"}]}
    assert azure.preflight(WELL | there, CHAT_CAPACITY="150").returncode == 0


def test_a_pipeline_that_can_not_see_its_own_roles_is_told_and_goes_on(azure: Azure) -> None:
    pipeline = {
        "account show": {**ACCOUNT, "user": {"type": "servicePrincipal", "name": "11111111-2222"}},
        "role assignment list": [],
    }
    done = azure.preflight(
        WELL | pipeline, CURSOR_SECRET="c" * 64, WEBHOOK_SECRET="w" * 64, API_KEYS="W10="
    )
    assert (done.returncode, azure.told("azd")) == (0, "")
    assert "perhaps 11111111-2222 may give nobody a role" in done.stdout


def test_terraforms_variables_are_looked_at_alike_and_no_secret_is_made(azure: Azure) -> None:
    given = {
        "TF_VAR_environment_name": "dev",
        "TF_VAR_location": "westeurope",
        "TF_VAR_subscription_id": "sub-1",
    }
    done = azure.run(WELL, "preflight.py", "terraform", **given)
    assert (done.returncode, azure.told("azd")) == (0, "")
    done = azure.run(WELL, "preflight.py", "terraform", **given, TF_VAR_chat_capacity="150")
    assert f"100 thousand tokens a minute of {CHAT['name']} are left" in done.stderr
    done = azure.run(
        WELL, "preflight.py", "terraform", **{**given, "TF_VAR_subscription_id": "sub-2"}
    )
    assert "az account set --subscription sub-2" in done.stderr


def test_any_command_can_be_tried_again_and_azds_own_is_the_usual_one(azure: Azure) -> None:
    assert (
        azure.run(
            {"functionapp deployment": {}},
            "deploy.py",
            "az",
            "functionapp",
            "deployment",
            "--src",
            "app.zip",
        ).returncode
        == 0
    )
    assert azure.told("az") == "functionapp deployment --src app.zip\n"
    assert azure.run({"deploy": {}}, "deploy.py").returncode == 0
    assert azure.told("azd") == "deploy --no-prompt\n"


def test_a_pipeline_provisions_with_the_parameters_that_its_variables_give(azure: Azure) -> None:
    variables = {
        "VNET_ENABLED": "true",
        "COSMOS_MODE": "autoscale",
        "AZURE_CLIENT_ID": "c",
        "ALERT_EMAIL": "",
    }
    assert provision.chosen(variables) == {"VNET_ENABLED": "true", "COSMOS_MODE": "autoscale"}
    done = azure.run(
        {"provision": {}}, "provision.py", "--preview", VARIABLES=json.dumps(variables)
    )
    assert (done.returncode, azure.told("azd")) == (0, "provision --no-prompt --preview\n")
    assert "Given: COSMOS_MODE, VNET_ENABLED;" in done.stdout


def test_a_pipeline_that_gives_no_variables_opens_nothing(azure: Azure) -> None:
    assert azure.run({"provision": {}}, "provision.py").returncode == 1
    assert azure.told("azd") == ""


def test_the_pipeline_runs_what_is_there_and_gives_its_variables() -> None:
    text = (ROOT / ".github/workflows/deploy.yml").read_text(encoding="utf-8")
    assert (
        text.count("VARIABLES: ${{ toJSON(vars) }}")
        == text.count("run: python3 infra/scripts/provision.py")
        == 2
    )
    assert all((ROOT / script).is_file() for script in re.findall(r"run: python3 (\S+)", text))


def test_a_provider_that_is_not_registered_is_registered(azure: Azure) -> None:
    done = azure.preflight(
        WELL
        | {
            "provider list": [{"namespace": "Microsoft.App", "state": "NotRegistered"}],
            "provider register": {},
        }
    )
    assert done.returncode == 0
    assert "provider register --namespace Microsoft.App --wait" in azure.told("az")


def test_a_region_that_is_not_chosen_yet_is_looked_at_by_nobody(azure: Azure) -> None:
    done = azure.preflight(WELL, AZURE_LOCATION="")
    assert done.returncode == 0
    assert "no region is chosen yet" in done.stdout
    assert "cognitiveservices usage list" not in azure.told("az")


def test_nobody_signed_in_is_said_in_one_line(azure: Azure) -> None:
    done = azure.preflight({})
    assert (done.returncode, done.stderr) == (1, "  NO: nobody is signed in: az login\n")


def test_azd_is_told_to_run_what_is_there() -> None:
    text = (ROOT / "azure.yaml").read_text(encoding="utf-8")
    ran = re.findall(r"run: python3? (-m )?(\S+)", text)
    assert len(ran) == 10
    for module, name in ran:
        assert (ROOT / (f"{name.replace('.', '/')}.py" if module else name)).is_file()


@pytest.mark.parametrize(
    ("age_s", "waits_s"), [(0, 120), (30, 90), (119, 1), (120, 0), (9000, 0), (-50, 120)]
)
def test_the_deployment_waits_until_the_newest_role_is_two_minutes_old(
    age_s: int, waits_s: float
) -> None:
    assert settle.remaining(NOW - timedelta(seconds=age_s), NOW) == waits_s


def test_the_deployment_waits_the_whole_time_when_nothing_is_known() -> None:
    assert settle.remaining(None, NOW) == settle.AGE_S
    assert settle.latest([]) is None


def test_times_are_read_as_azure_writes_them() -> None:
    assert settle.latest(
        ["2026-11-01T11:59:00.1234567+00:00", "2026-11-01T11:58:00+00:00"]
    ) == NOW - timedelta(minutes=1)


DEGRADED = {
    "status": "degraded",
    "dependencies": {
        "long_term": {"adapter": "cosmos", "status": "ok", "detail": None},
        "short_term": {"adapter": "none", "status": "off", "detail": None},
        "agents": {
            "adapter": "azure",
            "status": "unavailable",
            "detail": "agents: it answered HTTP 404 (DeploymentNotFound)",
        },
    },
}


def test_readiness_is_asked_for_until_every_dependency_answers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answers = iter(
        [(0, "no route"), (503, "roles"), (200, json.dumps(DEGRADED)), (200, '{"status": "ready"}')]
    )
    pauses: list[float] = []
    assert ready.main("https://app", "", lambda *_: next(answers), lambda: 0.0, pauses.append) == 0
    assert pauses == [ready.PAUSE_S] * 3
    assert "Ready: https://app" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ((503, "Cosmos DB is away"), "it answered 503: Cosmos DB is away"),
        (
            (200, json.dumps(DEGRADED)),
            "agents (azure) is unavailable: agents: it answered HTTP 404 (DeploymentNotFound)",
        ),
        ((200, '{"status": "degraded"}'), 'it answered 200: {"status": "degraded"}'),
    ],
)
def test_an_app_that_never_gets_ready_is_shown_with_what_does_not_answer(
    capsys: pytest.CaptureFixture[str], answer: tuple[int, str], expected: str
) -> None:
    now = 0.0

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    assert ready.main("https://app", "", lambda *_: answer, lambda: now, sleep) == 1
    assert expected in capsys.readouterr().err
    assert ready.main("") == 1


def test_the_app_takes_the_signature_of_a_deployment_for_five_minutes() -> None:
    secret = b"s" * 32
    given = ready.signature(secret.decode(), 1_800_000_000)
    assert given == callers.readiness_signature(secret, 1_800_000_000)
    assert callers.is_readiness_signature(secret, given, 1_800_000_299)
    for wrong in (
        "",
        "x",
        "1800000000",
        f"{given}0",
        given.replace("1800000000", "1800000001"),
        "9" * 5000,
        "\ud800.1",
        "١٨٠٠٠٠٠٠٠٠.1",
    ):
        assert not callers.is_readiness_signature(secret, wrong, 1_800_000_000)
    assert not callers.is_readiness_signature(secret, given, 1_800_000_301)
    assert not callers.is_readiness_signature(b"t" * 32, given, 1_800_000_000)


@pytest.mark.parametrize(
    ("returned", "pauses", "last"),
    [([0], [], 0), ([1, 1, 0], [30.0, 60.0], 0), ([1] * 5, list(deploy.PAUSES_S), 1)],
)
def test_a_deployment_is_tried_again_with_growing_pauses(
    returned: list[int], pauses: list[float], last: int
) -> None:
    answers, slept = iter(returned), []
    assert deploy.main(lambda: next(answers), slept.append) == last
    assert slept == pauses
