"""What people of Azure expect of a template: a pipeline, a container to develop in, emulators in
docker. None of it has run here.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from azure.cosmos import CosmosClient

from deployment import compose
from infra.scripts import live_environment
from memory_core.config import Settings
from memory_core.functions import callers
from tests.cosmos_server import KEY, running
from tests.infra.sources import ROOT

AZURE = yaml.safe_load((ROOT / "azure.yaml").read_text(encoding="utf-8"))
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
WORKFLOWS = ROOT / ".github" / "workflows"
PARAMETERS = re.findall(
    r"\$\{([A-Z_]+)", (ROOT / "infra/main.parameters.json").read_text(encoding="utf-8")
)
OF_AZD = {"AZURE_ENV_NAME", "AZURE_LOCATION", "AZURE_PRINCIPAL_ID", "AZURE_PRINCIPAL_TYPE"}
"""What azd gives a pipeline by itself, or finds out there."""


def test_a_pipeline_gets_every_parameter_and_each_secret_as_one() -> None:
    pipeline = AZURE["pipeline"]
    assert pipeline["secrets"] == ["API_KEYS", "CURSOR_SECRET", "WEBHOOK_SECRET"]
    assert sorted(pipeline["variables"]) == sorted({*PARAMETERS} - OF_AZD - {*pipeline["secrets"]})


@pytest.mark.parametrize("name", ["azure-dev.yml", "deploy.yml"])
def test_a_workflow_gives_azd_the_variables_and_secrets_of_the_pipeline(name: str) -> None:
    text = (WORKFLOWS / name).read_text(encoding="utf-8")
    provisions = text.count("infra/scripts/provision.py")
    assert provisions == text.count("VARIABLES: ${{ toJSON(vars) }}") == 2
    assert all(
        text.count(f"{secret}: ${{{{ secrets.{secret} }}}}") >= provisions
        for secret in AZURE["pipeline"]["secrets"]
    )
    assert (WORKFLOWS / "azure-dev.yml").is_file(), "azd pipeline config looks for this name"


def test_the_nightly_run_takes_down_what_it_made_whatever_happened() -> None:
    steps = yaml.safe_load((WORKFLOWS / "live.yml").read_text(encoding="utf-8"))["jobs"]["live"][
        "steps"
    ]
    assert steps[-1]["run"] == "azd down --force --purge --no-prompt"
    assert steps[-1]["if"] == "always()"
    ran = [
        part
        for step in steps
        for part in re.findall(r"live_environment\.py (\w+)", step.get("run", ""))
    ]
    assert ran == ["begin", "account", "ask"]


PROGRAM = f"""#!{sys.executable} -ISE
import json, os, sys
line = " ".join(sys.argv[1:])
open(os.environ["ASKED"], "a").write(line + "\\n")
if "get-values" in line: print(json.dumps({{"AZURE_RESOURCE_GROUP": "rg-x"}}))
elif "cosmosdb create" in line: print(json.dumps({{"documentEndpoint": "https://c"}}))
elif "keys list" in line: print("the-key")
"""


def test_a_run_makes_a_key_and_an_account_and_hands_both_on_masked(tmp_path: Path) -> None:
    for name in ("az", "azd"):
        (tmp_path / name).write_text(PROGRAM)
        (tmp_path / name).chmod(0o755)
    environ = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "GITHUB_ENV": str(tmp_path / "env"),
        "ASKED": str(tmp_path / "asked"),
    }
    script = str(ROOT / "infra/scripts/live_environment.py")
    outputs = [
        subprocess.run(
            [sys.executable, script, step], env=environ, capture_output=True, text=True, check=True
        ).stdout
        for step in ("begin", "account")
    ]
    given = dict(line.split("=", 1) for line in (tmp_path / "env").read_text().splitlines())
    assert outputs == [f"::add-mask::{given['MEMORY_LIVE_API_KEY']}\n", "::add-mask::the-key\n"]
    asked = (tmp_path / "asked").read_text().splitlines()
    entries = json.loads(base64.b64decode(asked[0].rpartition(" ")[2]))
    assert entries[0]["sha256"] == hashlib.sha256(given["MEMORY_LIVE_API_KEY"].encode()).hexdigest()
    assert callers._KEY.fullmatch(given["MEMORY_LIVE_API_KEY"])
    assert given["MEMORY_LIVE_COSMOS_ENDPOINT"] == "https://c"
    create = next(line for line in asked if line.startswith("cosmosdb create"))
    assert all(name in create for name in live_environment.CAPABILITIES)


def test_the_container_to_develop_in_has_what_the_hooks_start() -> None:
    made = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
    assert "python:3.13" in made["image"]
    assert {name.rpartition("/")[2].partition(":")[0] for name in made["features"]} >= {
        "azd",
        "azure-cli",
        "terraform",
    }


def environment() -> dict[str, Any]:
    """The host's settings in compose.yaml, as docker would pass them."""
    given = COMPOSE["services"]["memory-core"]["environment"]
    return {name: re.sub(r"\$\{\w+:-(.*)\}", r"\1", str(value)) for name, value in given.items()}


def test_the_app_takes_the_settings_of_compose_and_the_key_that_it_names() -> None:
    settings = Settings.from_env(environment())
    chosen = (settings.long_term, settings.short_term, settings.queue, settings.archive)
    assert chosen == ("cosmos", "redis", "storage", "blob")
    key = re.search(r"mc_main_[\w-]+", (ROOT / "compose.yaml").read_text(encoding="utf-8"))
    assert key is not None
    assert callers._KEY.fullmatch(key[0])
    assert settings.api_keys[0].sha256 == hashlib.sha256(key[0].encode()).hexdigest()
    hosts = {name for value in environment().values() for name in re.findall(r"://(\w+):\d", value)}
    assert hosts == COMPOSE["services"].keys() - {"memory-core"}
    assert COMPOSE["services"]["memory-core"]["ports"] == ["127.0.0.1:7071:7071"]


async def test_what_compose_runs_first_makes_the_container() -> None:
    with running() as cosmos:
        await compose.provision(
            {**environment(), "MEMORY_COSMOS_ENDPOINT": cosmos.endpoint, "MEMORY_COSMOS_KEY": KEY}
        )
        with CosmosClient(cosmos.endpoint, KEY) as client:
            made = client.get_database_client("memory-core").get_container_client("memories").read()
    assert made["vectorEmbeddingPolicy"]["vectorEmbeddings"][0]["dimensions"] == compose.MINILM
