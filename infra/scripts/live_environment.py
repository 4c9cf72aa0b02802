"""For the workflow `live`: what an environment needs that is made, asked everything and taken
down in one run.

`begin` gives it an API key that the run knows; `account` makes a Cosmos DB account that takes keys,
beside the deployment; `ask` runs `make test-live` on both. Values for later steps go to the file
that GITHUB_ENV names, masked in the log. In a terminal `begin` and `account` print nothing secret,
and the two keys have to be set by hand.
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
from pathlib import Path
from typing import Any

CAPABILITIES = ("EnableServerless", "EnableNoSQLVectorSearch", "EnableNoSQLFullTextSearch")


def run(*command: str) -> str:
    """What a program prints. Raises CalledProcessError."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603


def values() -> dict[str, str]:
    """What azd knows of the environment."""
    known: dict[str, str] = json.loads(run("azd", "env", "get-values", "--output", "json"))
    return known


def hand_on(environ: Mapping[str, str], name: str, value: str, *, secret: bool = False) -> None:
    """Give a value to later steps of the workflow."""
    if secret:
        print(f"::add-mask::{value}")
    with Path(environ["GITHUB_ENV"]).open("a", encoding="utf-8") as file:
        file.write(f"{name}={value}\n")


def begin(environ: Mapping[str, str]) -> None:
    """A key of the app `main`: its hash for azd, itself for the questions."""
    key = f"mc_main_live_{secrets.token_hex(24)}"
    entry = {
        "id": "live",
        "app": "main",
        "sha256": hashlib.sha256(key.encode()).hexdigest(),
        "rights": ["read", "write", "admin"],
    }
    hand_on(environ, "MEMORY_LIVE_API_KEY", key, secret=True)
    run("azd", "env", "set", "API_KEYS", base64.b64encode(json.dumps([entry]).encode()).decode())


def account(environ: Mapping[str, str]) -> None:
    """An account in the environment's resource group, so that `azd down` takes it along."""
    group, name = values()["AZURE_RESOURCE_GROUP"], f"cosmos-live-{secrets.token_hex(5)}"
    where = ("--name", name, "--resource-group", group)
    made: Any = json.loads(
        run(
            "az",
            "cosmosdb",
            "create",
            *where,
            "--default-consistency-level",
            "Strong",
            "--capabilities",
            *CAPABILITIES,
            "--output",
            "json",
        )
    )
    key = run(
        "az", "cosmosdb", "keys", "list", *where, "--query", "primaryMasterKey", "--output", "tsv"
    ).strip()
    hand_on(environ, "MEMORY_LIVE_COSMOS_ENDPOINT", made["documentEndpoint"])
    hand_on(environ, "MEMORY_LIVE_COSMOS_KEY", key, secret=True)


def ask(environ: Mapping[str, str]) -> int:
    """`make test-live` on the environment; what it returned."""
    known = values()
    named = {
        "MEMORY_LIVE_GROUP": known["AZURE_RESOURCE_GROUP"],
        "MEMORY_LIVE_APP": known["SERVICE_API_NAME"],
        "MEMORY_LIVE_APP_URL": known["SERVICE_API_URL"],
    }
    return subprocess.run(["make", "test-live"], env={**environ, **named}).returncode  # noqa: S607


def main(step: str, environ: Mapping[str, str]) -> int:
    """0 when the step is done."""
    if step == "ask":
        return ask(environ)
    {"begin": begin, "account": account}[step](environ)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], os.environ))
