"""Before anything is made: can it be made here, by whoever asks? And the secrets that a first
deployment needs.

`azd` runs it before it provisions; for Terraform: `python3 infra/scripts/preflight.py terraform`,
which reads TF_VAR_ variables and makes no secrets. It registers providers, brings back a deleted
vault and account of this environment, keeps three secrets and the budget's first month in azd's
environment, and changes nothing else. A quota that is there now may be gone in five minutes:
this only saves the usual wait.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

PROVIDERS = (
    "Microsoft.App", "Microsoft.Cache", "Microsoft.CognitiveServices", "Microsoft.DocumentDB",
    "Microsoft.Insights", "Microsoft.KeyVault", "Microsoft.ManagedIdentity", "Microsoft.Network",
    "Microsoft.OperationalInsights", "Microsoft.Storage", "Microsoft.Web",
)  # fmt: skip
MODELS = Path(__file__).parents[2] / "memory_core" / "adapters" / "openai" / "models.json"
"""Names and versions of models, where the app, Bicep and Terraform read them too."""
PROFILES = Path(__file__).parents[1] / "profiles.json"
"""What a profile means, where Bicep and Terraform read it too."""
LEFT_TO_PROFILE = {
    "ALWAYS_READY": "-1",
    "DAILY_TOKENS": "-1",
    "MAXIMUM_INSTANCES": "0",
    "LOG_DAILY_CAP_GB": "0",
}
"""What says that a number is the profile's; of texts it is the empty one."""
EXISTING = {
    "EXISTING_OPENAI": "Microsoft.CognitiveServices/accounts",
    "EXISTING_COSMOS": "Microsoft.DocumentDB/databaseAccounts",
    "EXISTING_WORKSPACE": "Microsoft.OperationalInsights/workspaces",
    "EXISTING_APP_SUBNET": "Microsoft.Network/virtualNetworks",
    "EXISTING_ENDPOINT_SUBNET": "Microsoft.Network/virtualNetworks",
}
ENTRA = ("ENTRA_TENANT_ID", "ENTRA_AUDIENCE", "ENTRA_APP")
FEATURES = {"EnableNoSQLVectorSearch", "EnableNoSQLFullTextSearch"}
ARM = "https://management.azure.com"
CURRENT = {"GenerallyAvailable", "Stable"}
RETIRED = {"Deprecated", "Retired"}
"""Azure's words for it: a model that is Deprecated answers 410."""
WARNED_DAYS = 90
MAY_ASSIGN = {"Owner", "User Access Administrator", "Role Based Access Control Administrator"}
"""Roles with which one may give roles, which the deployment does."""


class Missing(Exception):
    """A program that is not there, or that nobody has signed in to; the text says what to do."""


def az(*arguments: str) -> Any:
    """What Azure's command line answers, as data; None where it says no."""
    program = shutil.which("az")  # on Windows a file az.cmd, which only its whole path starts
    if program is None:
        raise Missing("Azure's command line is not there: https://aka.ms/install-azure-cli")
    done = subprocess.run(  # noqa: S603
        [program, *arguments, "--output", "json", "--only-show-errors"],
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout or "null") if done.returncode == 0 else None


def keep(name: str, value: str) -> None:
    """Keep a value in azd's environment. Raises Missing."""
    try:
        subprocess.run(["azd", "env", "set", name, value], check=True, capture_output=True)  # noqa: S603, S607
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        raise Missing(f"azd could not keep {name}: {error}") from None


def from_terraform(environ: Mapping[str, str]) -> dict[str, str]:
    """Terraform's variables by the names that azd has for them."""
    azds = {
        "LOCATION": "AZURE_LOCATION",
        "ENVIRONMENT_NAME": "AZURE_ENV_NAME",
        "SUBSCRIPTION_ID": "AZURE_SUBSCRIPTION_ID",
    }
    given = {
        name.removeprefix("TF_VAR_").upper(): value
        for name, value in environ.items()
        if name.startswith("TF_VAR_")
    }
    return {azds.get(name, name): value for name, value in given.items()}


def setting(given: Mapping[str, str], name: str, default: str) -> str:
    """A parameter as azd has it, or its default."""
    return given.get(name) or default


def decided(given: Mapping[str, str], name: str) -> str:
    """A parameter that may be left to the profile: its own value, or the profile's."""
    value = given.get(name, "")
    if value in ("", LEFT_TO_PROFILE.get(name)):
        words = name.lower().split("_")
        value = json.dumps(
            _profile(given)[words[0] + "".join(word.title() for word in words[1:])]
        ).strip('"')
    return value


def _profile(given: Mapping[str, str]) -> dict[str, Any]:
    profiles: dict[str, dict[str, Any]] = json.loads(PROFILES.read_text(encoding="utf-8"))
    name = setting(given, "PROFILE", "small")
    if name not in profiles:
        raise Missing(f"there is no profile {name}; choose PROFILE of: {', '.join(profiles)}")
    return profiles[name]


def check_choices(given: Mapping[str, str]) -> list[str]:
    """What can't be had together, or is no resource id. Asks nobody. Raises Missing for a profile
    that is none.
    """
    problems = []
    serverless = decided(given, "COSMOS_MODE") == "serverless"
    for name in ("COSMOS_FREE_TIER", "SECOND_LOCATION"):
        if serverless and given.get(name, "false") not in ("", "false"):
            problems.append(
                f"{name} needs throughput that is reserved: azd env set COSMOS_MODE autoscale"
            )
    for name, kind in EXISTING.items():
        value = given.get(name, "")
        if value and not re.fullmatch(
            rf"/subscriptions/[^/]+/resourceGroups/[^/]+/providers/{kind}/[^/]+(/subnets/[^/]+)?",
            value,
            re.I,
        ):
            problems.append(
                f"{name} is not the resource id of one of {kind}: "
                f"/subscriptions/…/resourceGroups/…/providers/{kind}/…"
            )
    zones = given.get("EXISTING_DNS_ZONES", "")
    if zones and not re.fullmatch(r"/subscriptions/[^/]+/resourceGroups/[^/]+", zones, re.I):
        problems.append(
            "EXISTING_DNS_ZONES is not the resource id of a resource group: "
            "/subscriptions/…/resourceGroups/…"
        )
    subnets = [
        name for name in ("EXISTING_APP_SUBNET", "EXISTING_ENDPOINT_SUBNET") if given.get(name)
    ]
    if len(subnets) == 1:
        problems.append(f"{subnets[0]} is given without the other subnet: give both or none")
    if (subnets or zones) and decided(given, "VNET_ENABLED") != "true":
        problems.append("a network is named, and the app is in none: azd env set VNET_ENABLED true")
    missing = [name for name in ENTRA if not given.get(name)]
    if missing and (len(missing) < len(ENTRA) or given.get("TRUST_PRINCIPAL_HEADER") == "on"):
        problems.append(
            f"the app would not start without {' and '.join(missing)}: Entra ID needs all of "
            f"{', '.join(ENTRA)}"
        )
    return problems


def check_cosmos(given: Mapping[str, str]) -> list[str]:
    """Whether an account that exists already can hold memories; whether the subscription's free
    one is taken.
    """
    if given.get("COSMOS_FREE_TIER") == "true" and not given.get("EXISTING_COSMOS"):
        taken = az("cosmosdb", "list", "--query", "[?enableFreeTier]") or []
        ours = f"rg-{given.get('AZURE_ENV_NAME', '')}".lower()
        others = [one["name"] for one in taken if one.get("resourceGroup", "").lower() != ours]
        return (
            [
                (
                    f"the subscription's free account is {', '.join(others)} already: azd env set "
                    "COSMOS_FREE_TIER false"
                )
            ]
            if others
            else []
        )
    if not given.get("EXISTING_COSMOS"):
        return []
    account = az("cosmosdb", "show", "--ids", given["EXISTING_COSMOS"])
    if account is None:
        print("  the Cosmos DB account that exists already could not be asked for")
        return []
    problems, has = [], {one["name"] for one in account.get("capabilities") or []}
    if missing := sorted(FEATURES - has):
        switch = (
            f"az cosmosdb update --ids {given['EXISTING_COSMOS']} --capabilities "
            f"{' '.join(sorted(has | FEATURES))}"
        )
        problems.append(
            f"{account['name']} lacks {', '.join(missing)}, which can't be switched off "
            f"again: {switch}"
        )
    mode = "serverless" if "EnableServerless" in has else "autoscale"
    if mode != decided(given, "COSMOS_MODE"):
        problems.append(f"{account['name']} is paid for otherwise: azd env set COSMOS_MODE {mode}")
    level = account["consistencyPolicy"]["defaultConsistencyLevel"]
    if level not in ("Strong", "BoundedStaleness"):
        problems.append(
            f"{account['name']} has the consistency {level}, under which what was acknowledged may "
            "not be seen"
        )
    return problems


def check_subnets(given: Mapping[str, str]) -> list[str]:
    """Whether a network that exists already is in the region and its subnet for the app
    is delegated.
    """
    if not given.get("EXISTING_APP_SUBNET"):
        return []
    subnet = az("network", "vnet", "subnet", "show", "--ids", given["EXISTING_APP_SUBNET"])
    network = az(
        "network", "vnet", "show", "--ids", given["EXISTING_APP_SUBNET"].partition("/subnets/")[0]
    )
    if subnet is None or network is None:
        print("  the network that exists already could not be asked for")
        return []
    problems = []
    if "microsoft.app/environments" not in {
        one["serviceName"].lower() for one in subnet.get("delegations") or []
    }:
        problems.append(
            f"the subnet {subnet['name']} is not delegated to Microsoft.App/environments"
        )
    if given.get("AZURE_LOCATION") and _plain(network["location"]) != _plain(
        given["AZURE_LOCATION"]
    ):
        problems.append(
            f"the network {network['name']} is in {network['location']}, the app would be in "
            f"{given['AZURE_LOCATION']}"
        )
    return problems


def check_account(given: Mapping[str, str]) -> list[str]:
    """Whoever is signed in, to which subscription, and whether they may give roles.
    Raises Missing when nobody is.
    """
    account = az("account", "show")
    if account is None:
        raise Missing("nobody is signed in: az login")
    wanted = given.get("AZURE_SUBSCRIPTION_ID")
    if wanted and account["id"] != wanted:
        return [
            (
                f"az is signed in to the subscription {account['id']}, not to {wanted}: az account "
                f"set --subscription {wanted}"
            )
        ]
    person = account["user"]["type"] == "user"
    who = given.get("AZURE_PRINCIPAL_ID") or account["user"]["name"]
    print(
        f"  {'user' if person else 'service principal'} {account['user']['name']} in the "
        f"subscription {account.get('name', account['id'])}"
    )
    held = az(
        "role",
        "assignment",
        "list",
        "--assignee",
        who,
        "--scope",
        f"/subscriptions/{account['id']}",
        "--include-inherited",
        "--include-groups",
    )
    names = {one["roleDefinitionName"] for one in held or []}
    if held is None or names & MAY_ASSIGN:
        return []
    said = (
        f"{account['user']['name']} may give nobody a role in this subscription; needed is one of "
        f"{', '.join(sorted(MAY_ASSIGN))}"
    )
    if person:
        return [said]
    # a pipeline may not look itself up in the directory, and one that only shows what would
    # change needs none
    print(f"  perhaps {said}")
    return []


def check_providers() -> list[str]:
    """Register what is not registered, which takes a minute or two."""
    problems = []
    listed = (
        az("provider", "list", "--query", "[].{namespace: namespace, state: registrationState}")
        or []
    )
    # Azure writes microsoft.insights
    states = {one["namespace"].lower(): one["state"] for one in listed}
    for provider in PROVIDERS:
        state = states.get(provider.lower(), "unknown")
        if state != "Registered":
            print(f"  {provider} is {state}: registering")
            if (
                az("provider", "register", "--namespace", provider, "--wait") is None
                and state != "Registering"
            ):
                problems.append(
                    f"{provider} can't be registered; ask an owner: az provider register "
                    f"--namespace {provider}"
                )
    return problems


def check_region(given: Mapping[str, str]) -> list[str]:
    """Whether the region has Flex Consumption."""
    location = given["AZURE_LOCATION"]
    regions = az("functionapp", "list-flexconsumption-locations")
    if regions is None:
        print("  regions with Flex Consumption could not be asked for")
        return []
    names = {one["name"].replace(" ", "").lower() for one in regions}
    if location.replace(" ", "").lower() in names:
        return []
    return [f"{location} has no Flex Consumption; these have: {', '.join(sorted(names))}"]


@dataclass(frozen=True)
class Wanted:
    """A model to deploy. kind: how its parameters begin. version: empty = what Azure
    takes by default.
    """

    kind: str
    name: str
    version: str
    deployment: str
    capacity: int

    @property
    def shown(self) -> str:
        """Name and version."""
        return f"{self.name} {self.version}".strip()


def wanted_models(given: Mapping[str, str]) -> list[Wanted]:
    """The models that these parameters name; what they leave open stands in the app's
    file of models.
    """
    models = json.loads(MODELS.read_text(encoding="utf-8"))
    wanted = []
    for kind in ("EMBEDDING", "CHAT"):
        default = models[kind.lower()]
        name = setting(given, f"{kind}_MODEL", default["name"])
        version = setting(
            given, f"{kind}_MODEL_VERSION", "" if given.get(f"{kind}_MODEL") else default["version"]
        )
        if name != "none":
            deployment, capacity = (
                setting(given, f"{kind}_DEPLOYMENT", name),
                int(setting(given, f"{kind}_CAPACITY", "50")),
            )
            wanted.append(Wanted(kind, name, version, deployment, capacity))
    return wanted


def check_models(given: Mapping[str, str], today: date) -> list[str]:
    """Whether the region offers the models for long enough, and the subscription has so much
    of them left.
    """
    location, sku = given["AZURE_LOCATION"], setting(given, "MODEL_SKU", "GlobalStandard")
    offered = [
        one["model"]
        for one in az("cognitiveservices", "model", "list", "--location", location) or []
    ]
    usage = {
        one["name"]["value"]: one
        for one in az("cognitiveservices", "usage", "list", "--location", location) or []
    }
    # An earlier deployment of this environment has its share of the quota already, and may keep a
    # model that others do not get any more.
    had = bool(
        az(
            "cognitiveservices",
            "account",
            "list",
            "--resource-group",
            f"rg-{given.get('AZURE_ENV_NAME', '')}",
        )
    )
    if not offered:
        print("  models could not be asked for")
    problems = []
    for wanted in wanted_models(given):
        refused = _refused(wanted, offered, sku, location, today, had=had) if offered else None
        if refused is not None:
            problems.append(f"{refused}; {_instead(wanted, offered, sku, today)}")
            continue
        quota = None if had else usage.get(f"OpenAI.{sku}.{wanted.name}")
        if quota is not None and quota["limit"] - quota["currentValue"] < wanted.capacity:
            left = quota["limit"] - quota["currentValue"]
            problems.append(
                f"{left:g} thousand tokens a minute of {wanted.name} are left in {location}, "
                f"{wanted.capacity} are asked for"
            )
    return problems


def _refused(
    wanted: Wanted,
    offered: list[dict[str, Any]],
    sku: str,
    location: str,
    today: date,
    *,
    had: bool,
) -> str | None:
    """Why Azure would not deploy it; None when it would. had: whether this environment has
    models already.
    """
    same = [one for one in offered if one["name"] == wanted.name]
    kinds = [
        one
        for one in same
        if one["version"] == wanted.version or (not wanted.version and one.get("isDefaultVersion"))
    ]
    if not any(_has(one, sku) for one in kinds):
        return f"{location} has no {wanted.shown} as {sku}"
    model = next(one for one in kinds if _has(one, sku))
    status, end = model.get("lifecycleStatus"), _end(model, sku)
    if status in RETIRED or (end is not None and end <= today):
        return f"{wanted.shown} is retired" + (f" since {end}" if end else "")
    if status == "Deprecating" and not had:
        return f"{wanted.shown} is given to nobody any more who has not deployed it before" + (
            f", and is retired on {end}" if end else ""
        )
    if end is not None and (end - today).days < WARNED_DAYS:
        print(f"  {wanted.shown} is retired on {end}")
    return None


def _has(model: Mapping[str, Any], sku: str) -> bool:
    return any(one["name"] == sku for one in model.get("skus") or [])


def _end(model: Mapping[str, Any], sku: str) -> date | None:
    """The day from which the model answers nobody, as far as Azure has said."""
    days = [
        (model.get("deprecation") or {}).get("inference"),
        *(one.get("deprecationDate") for one in model["skus"] if one["name"] == sku),
    ]
    return min((date.fromisoformat(day[:10]) for day in days if day), default=None)


def _instead(wanted: Wanted, offered: list[dict[str, Any]], sku: str, today: date) -> str:
    """What to set instead."""
    found = newest_small(offered, sku, today) if wanted.kind == "CHAT" else None
    if found is None:
        able = "chatCompletion" if wanted.kind == "CHAT" else "embeddings"
        names = {
            f"{one['name']} {one['version']}"
            for one in offered
            if _is_able(one, able) and _lasts(one, sku, today)
        }
        return (
            f"choose {wanted.kind}_MODEL and {wanted.kind}_MODEL_VERSION of: "
            f"{', '.join(sorted(names)) or 'none'}"
        )
    name, version = found["name"], found["version"]
    return (
        f"the newest small one is {name} {version}: azd env set CHAT_MODEL {name} && azd env set "
        f"CHAT_MODEL_VERSION {version}"
    )


def newest_small(offered: list[dict[str, Any]], sku: str, today: date) -> dict[str, Any] | None:
    """The newest generally available model of those that cost little; None without any."""
    small = json.loads(MODELS.read_text(encoding="utf-8"))["small"]
    named = re.compile(rf"gpt-[\d.]+-({'|'.join(small)})")
    fits = [
        one
        for one in offered
        if named.fullmatch(one["name"])
        and _is_able(one, "chatCompletion")
        and _lasts(one, sku, today)
    ]
    return max(
        fits,
        key=lambda one: (one["version"], -small.index(one["name"].rpartition("-")[2])),
        default=None,
    )


def _is_able(model: Mapping[str, Any], what: str) -> bool:
    return str((model.get("capabilities") or {}).get(what)).lower() == "true"


def _lasts(model: Mapping[str, Any], sku: str, today: date) -> bool:
    if not _has(model, sku) or model.get("lifecycleStatus") not in CURRENT:
        return False
    end = _end(model, sku)
    return end is None or (end - today).days >= WARNED_DAYS


def check_deployments(given: Mapping[str, str]) -> list[str]:
    """Whether an account that exists already has the deployments that the app will ask for."""
    parts = given["EXISTING_OPENAI"].split("/")
    where = ("--subscription", parts[2], "--resource-group", parts[4], "--name", parts[8])
    listed = az("cognitiveservices", "account", "deployment", "list", *where)
    if listed is None:
        print(f"  the deployments of {parts[8]} could not be asked for")
        return []
    models = {one["name"]: one["properties"]["model"]["name"] for one in listed}
    problems = []
    for wanted in wanted_models(given):
        model = models.get(wanted.deployment)
        if model is None:
            names = ", ".join(f"{name} ({of})" for name, of in sorted(models.items())) or "none"
            problems.append(
                f"{parts[8]} has no deployment {wanted.deployment}; {wanted.kind}_DEPLOYMENT may "
                f"name one of: {names}"
            )
        elif model != wanted.name:
            problems.append(
                f"the deployment {wanted.deployment} is of {model}, not of {wanted.name}: azd env "
                f"set {wanted.kind}_MODEL {model}"
            )
    return problems


def bring_back(given: Mapping[str, str]) -> list[str]:
    """Deleted accounts and vaults of this environment, which hold its names, as they were;
    what could not be brought back.

    `azd down` deletes the group too, which they are brought back into. What is in them is
    deployed over them.
    """
    environment, location = given.get("AZURE_ENV_NAME", ""), given.get("AZURE_LOCATION", "")
    deleted = []
    for one in az("keyvault", "list-deleted") or []:
        if (one["properties"].get("tags") or {}).get("azd-env-name") == environment and decided(
            given, "ENABLE_KEY_VAULT"
        ) == "true":
            deleted.append(
                Deleted(
                    "vault",
                    one["name"],
                    one["properties"]["location"],
                    ("keyvault", "recover", "--name", one["name"]),
                )
            )
    for one in az("cognitiveservices", "account", "list-deleted") or []:
        if (one.get("tags") or {}).get("azd-env-name") == environment and not given.get(
            "EXISTING_OPENAI"
        ):
            group, where = one["id"].split("/")[-3], ("--location", one["location"])
            command = (
                "cognitiveservices",
                "account",
                "recover",
                "--name",
                one["name"],
                "--resource-group",
                group,
                *where,
            )
            deleted.append(Deleted("OpenAI account", one["name"], one["location"], command))
    # another region has other names
    here = [one for one in deleted if not location or _plain(one.location) == _plain(location)]
    if not here:
        return []
    group = (
        "--name",
        f"rg-{environment}",
        "--location",
        here[0].location,
        "--tags",
        f"azd-env-name={environment}",
        "application=memory-core",
    )
    if az("group", "show", "--name", f"rg-{environment}") is None:
        az("group", "create", *group)
    problems = []
    for one in here:
        if az(*one.command) is None:
            problems.append(
                f"the {one.kind} {one.name} is deleted, keeps its name and could not be brought "
                f"back: az {' '.join(one.command)}"
            )
        else:
            print(f"  the {one.kind} {one.name} was deleted and is brought back")
    return problems


@dataclass(frozen=True)
class Deleted:
    """Something whose name is taken though it is deleted. command: what brings it back."""

    kind: str
    name: str
    location: str
    command: tuple[str, ...]


def _plain(location: str) -> str:
    return location.replace(" ", "").lower()


def keep_budget_start(given: Mapping[str, str], today: date) -> None:
    """The month in which the budget that there is began; for a new one this month,
    since Azure takes no past one.
    """
    if setting(given, "MONTHLY_BUDGET", "0") == "0":
        return
    group = f"/subscriptions/{given.get('AZURE_SUBSCRIPTION_ID', '')}/resourceGroups/rg-{given.get('AZURE_ENV_NAME', '')}"  # noqa: E501
    asked = f"{ARM}{group}/providers/Microsoft.Consumption/budgets/month?api-version=2024-08-01"
    there, this_month = az("rest", "--method", "get", "--url", asked), f"{today:%Y-%m}-01"
    start = (
        there["properties"]["timePeriod"]["startDate"][:10]
        if there
        else max(given.get("BUDGET_START") or this_month, this_month)
    )
    if start != given.get("BUDGET_START"):
        keep("BUDGET_START", start)


def make_secrets(given: Mapping[str, str]) -> None:
    """What signs cursors and webhooks, and one API key, made once. The key itself is printed here
    and kept nowhere.
    """
    for name in ("CURSOR_SECRET", "WEBHOOK_SECRET"):
        if not given.get(name):
            keep(name, secrets.token_hex(32))
    if not given.get("API_KEYS"):
        key = f"mc_main_1_{secrets.token_hex(24)}"
        hashed = hashlib.sha256(key.encode()).hexdigest()
        entries = json.dumps(
            [{"id": "1", "app": "main", "sha256": hashed, "rights": ["read", "write", "admin"]}]
        )
        # azd puts it into a JSON file as it stands
        keep("API_KEYS", base64.b64encode(entries.encode()).decode())
        print(f"  an API key of the app main, shown this once: {key}")


def ask_azure(given: Mapping[str, str], today: date) -> list[str]:
    """All that only Azure knows. Raises Missing when nobody is signed in."""
    problems = [
        *check_account(given),
        *check_providers(),
        *check_cosmos(given),
        *check_subnets(given),
    ]
    if not given.get("AZURE_LOCATION"):
        print("  no region is chosen yet, so neither it nor the models are looked at")
        return problems
    problems += check_region(given)
    return problems + (
        check_deployments(given) if given.get("EXISTING_OPENAI") else check_models(given, today)
    )


def main(given: Mapping[str, str], *, terraform: bool = False) -> int:
    """0 when all is well; 1 after a line for each thing that is not. Terraform keeps budgets and
    brings vaults back by itself.
    """
    print("Before the deployment:")
    today = datetime.now(timezone.utc).date()
    try:
        print(f"  the profile {setting(given, 'PROFILE', 'small')}")
        problems = check_choices(given) or ask_azure(given, today)
        if not terraform and not problems:
            problems = bring_back(given)
        if not terraform and not problems:
            keep_budget_start(given, today)
            make_secrets(given)
    except Missing as error:
        problems = [str(error)]
    for problem in problems:
        print(f"  NO: {problem}", file=sys.stderr)
    if not problems:
        print("  all is well")
    return 1 if problems else 0


if __name__ == "__main__":
    by_terraform = sys.argv[1:] == ["terraform"]
    sys.exit(
        main(from_terraform(os.environ) if by_terraform else os.environ, terraform=by_terraform)
    )
