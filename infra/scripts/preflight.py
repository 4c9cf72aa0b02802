"""Before anything is made: can it be made here, by whoever asks? And the secrets that a first deployment needs.

`azd` runs it before it provisions; for Terraform: `python3 infra/scripts/preflight.py terraform`, which reads TF_VAR_ variables and makes
no secrets. It registers providers, keeps three secrets in azd's environment, and changes nothing else. One would get wrong: a quota that is
there now may be gone in five minutes; this only saves the usual wait.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

PROVIDERS = (
    "Microsoft.App", "Microsoft.Cache", "Microsoft.CognitiveServices", "Microsoft.DocumentDB", "Microsoft.Insights", "Microsoft.KeyVault",
    "Microsoft.ManagedIdentity", "Microsoft.Network", "Microsoft.OperationalInsights", "Microsoft.Storage", "Microsoft.Web",
)  # fmt: skip
MAY_ASSIGN = {"Owner", "User Access Administrator", "Role Based Access Control Administrator"}
"""Roles with which one may give roles, which the deployment does."""


class Missing(Exception):
    """A program that is not there, or that nobody has signed in to; the text says what to do."""


def az(*arguments: str) -> Any:
    """What Azure's command line answers, as data; None where it says no."""
    try:
        done = subprocess.run(["az", *arguments, "--output", "json", "--only-show-errors"], capture_output=True, text=True)  # noqa: S603, S607
    except FileNotFoundError:
        raise Missing("Azure's command line is not there: https://aka.ms/install-azure-cli") from None
    return json.loads(done.stdout or "null") if done.returncode == 0 else None


def keep(name: str, value: str) -> None:
    """Keep a value in azd's environment. Raises Missing."""
    try:
        subprocess.run(["azd", "env", "set", name, value], check=True, capture_output=True)  # noqa: S603, S607
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        raise Missing(f"azd could not keep {name}: {error}") from None


def from_terraform(environ: Mapping[str, str]) -> dict[str, str]:
    """Terraform's variables by the names that azd has for them."""
    azds = {"LOCATION": "AZURE_LOCATION", "ENVIRONMENT_NAME": "AZURE_ENV_NAME", "SUBSCRIPTION_ID": "AZURE_SUBSCRIPTION_ID"}
    given = {name.removeprefix("TF_VAR_").upper(): value for name, value in environ.items() if name.startswith("TF_VAR_")}
    return {azds.get(name, name): value for name, value in given.items()}


def setting(given: Mapping[str, str], name: str, default: str) -> str:
    """A parameter as azd has it, or its default."""
    return given.get(name) or default


def check_account(given: Mapping[str, str]) -> list[str]:
    """Whoever is signed in, to which subscription, and whether they may give roles. Raises Missing when nobody is."""
    account = az("account", "show")
    if account is None:
        raise Missing("nobody is signed in: az login")
    wanted = given.get("AZURE_SUBSCRIPTION_ID")
    if wanted and account["id"] != wanted:
        return [f"az is signed in to the subscription {account['id']}, not to {wanted}: az account set --subscription {wanted}"]
    person = account["user"]["type"] == "user"
    who = given.get("AZURE_PRINCIPAL_ID") or account["user"]["name"]
    print(
        f"  {'user' if person else 'service principal'} {account['user']['name']} in the subscription {account.get('name', account['id'])}"
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
    said = f"{account['user']['name']} may give nobody a role in this subscription; needed is one of {', '.join(sorted(MAY_ASSIGN))}"
    if person:
        return [said]
    print(f"  perhaps {said}")  # a pipeline may not look itself up in the directory, and one that only shows what would change needs none
    return []


def check_providers() -> list[str]:
    """Register what is not registered, which takes a minute or two."""
    problems = []
    listed = az("provider", "list", "--query", "[].{namespace: namespace, state: registrationState}") or []
    states = {one["namespace"].lower(): one["state"] for one in listed}  # Azure writes microsoft.insights
    for provider in PROVIDERS:
        state = states.get(provider.lower(), "unknown")
        if state != "Registered":
            print(f"  {provider} is {state}: registering")
            if az("provider", "register", "--namespace", provider, "--wait") is None and state != "Registering":
                problems.append(f"{provider} can't be registered; ask an owner: az provider register --namespace {provider}")
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


def check_models(given: Mapping[str, str]) -> list[str]:
    """Whether the region offers the models, and the subscription has so much of them left. Passed over for an account that exists."""
    if given.get("EXISTING_OPENAI"):
        return []
    location, sku = given["AZURE_LOCATION"], setting(given, "MODEL_SKU", "GlobalStandard")
    models = (("EMBEDDING", "text-embedding-3-small", "1"), ("CHAT", "gpt-4.1-mini", "2025-04-14"))
    wanted = [
        (
            setting(given, f"{one}_MODEL", name),
            setting(given, f"{one}_MODEL_VERSION", version),
            int(setting(given, f"{one}_CAPACITY", "50")),
        )
        for one, name, version in models
        if given.get(f"{one}_MODEL") != "none"
    ]
    offered = az("cognitiveservices", "model", "list", "--location", location) or []
    usage = {one["name"]["value"]: one for one in az("cognitiveservices", "usage", "list", "--location", location) or []}
    if az("cognitiveservices", "account", "list", "--resource-group", f"rg-{given.get('AZURE_ENV_NAME', '')}"):
        usage = {}  # an earlier deployment of this environment has its share already
    problems = []
    for name, version, capacity in wanted:
        kinds = [one["model"] for one in offered if one["model"]["name"] == name and one["model"]["version"] == version]
        if offered and not any(each["name"] == sku for one in kinds for each in one.get("skus", [])):
            problems.append(f"{location} has no {name} {version} as {sku}")
        quota = usage.get(f"OpenAI.{sku}.{name}")
        if quota is not None and quota["limit"] - quota["currentValue"] < capacity:
            left = quota["limit"] - quota["currentValue"]
            problems.append(f"{left:g} thousand tokens a minute of {name} are left in {location}, {capacity} are asked for")
    return problems


def check_deleted(given: Mapping[str, str]) -> list[str]:
    """Deleted accounts and vaults of this environment whose names are still taken."""
    environment = given.get("AZURE_ENV_NAME", "")
    problems = []
    where = f"into a group rg-{environment} that you have made anew; or take another name for the environment"
    for one in az("keyvault", "list-deleted") or []:
        if (one["properties"].get("tags") or {}).get("azd-env-name") == environment:
            problems.append(f"the vault {one['name']} is deleted and keeps its name: az keyvault recover --name {one['name']}, {where}")
    for one in az("cognitiveservices", "account", "list-deleted") or []:
        if (one.get("tags") or {}).get("azd-env-name") == environment:
            place = f"--name {one['name']} --location {one['location']} --resource-group {one['id'].split('/')[-3]}"
            problems.append(f"the OpenAI account {one['name']} is deleted and keeps its name: az cognitiveservices account purge {place}")
    return problems


def make_secrets(given: Mapping[str, str]) -> None:
    """What signs cursors and webhooks, and one API key, made once. The key itself is printed here and kept nowhere."""
    for name in ("CURSOR_SECRET", "WEBHOOK_SECRET"):
        if not given.get(name):
            keep(name, secrets.token_hex(32))
    if not given.get("API_KEYS"):
        key = f"mc_main_1_{secrets.token_hex(24)}"
        hashed = hashlib.sha256(key.encode()).hexdigest()
        entries = json.dumps([{"id": "1", "app": "main", "sha256": hashed, "rights": ["read", "write", "admin"]}])
        keep("API_KEYS", base64.b64encode(entries.encode()).decode())  # azd puts it into a JSON file as it stands
        print(f"  an API key of the app main, shown this once: {key}")


def main(given: Mapping[str, str], *, with_secrets: bool = True) -> int:
    """0 when all is well; 1 after a line for each thing that is not."""
    print("Before the deployment:")
    try:
        problems = check_account(given) + check_providers() + check_deleted(given)
        if given.get("AZURE_LOCATION"):
            problems += check_region(given) + check_models(given)
        else:
            print("  no region is chosen yet, so neither it nor the models are looked at")
        if with_secrets and not problems:
            make_secrets(given)
    except Missing as error:
        problems = [str(error)]
    for problem in problems:
        print(f"  NO: {problem}", file=sys.stderr)
    if not problems:
        print("  all is well")
    return 1 if problems else 0


if __name__ == "__main__":
    terraform = sys.argv[1:] == ["terraform"]
    sys.exit(main(from_terraform(os.environ) if terraform else os.environ, with_secrets=not terraform))
