"""Before `azd down`: stop it where it would delete what this deployment has not made.

azd deletes every resource group in which the deployment has made anything, as a whole. A database
in an account that existed already, or a role on one, is such a thing, so that the group of that
account would go, with all that others keep in it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

THEIRS = ("EXISTING_COSMOS", "EXISTING_OPENAI")
"""Parameters whose resource groups get something of ours."""


def foreign_groups(given: Mapping[str, str]) -> dict[str, str]:
    """The resource groups of what existed already, each with the parameter that names it;
    but for the environment's own.
    """
    ours = (given.get("AZURE_RESOURCE_GROUP") or f"rg-{given.get('AZURE_ENV_NAME', '')}").lower()
    named = {
        given[name].split("/")[4]: name for name in THEIRS if given.get(name, "").count("/") >= 8
    }
    return {group: name for group, name in named.items() if group.lower() != ours}


def advice(given: Mapping[str, str]) -> list[str]:
    """What takes down this deployment alone."""
    group = given.get("AZURE_RESOURCE_GROUP") or f"rg-{given.get('AZURE_ENV_NAME', '')}"
    lines = [f"az group delete --name {group}"]
    for name in THEIRS:
        parts = given.get(name, "").split("/")
        if len(parts) < 9:
            continue
        if name == "EXISTING_COSMOS":
            where = f"--account-name {parts[8]} --resource-group {parts[4]}"
            lines.append(
                f"az cosmosdb sql database delete {where} --name memory-core    # with all memories"
            )
        else:
            lines.append(
                f"az role assignment list --scope {given[name]}    # and delete those of an "
                "identity that is gone"
            )
    return lines


def main(given: Mapping[str, str]) -> int:
    """0 where `azd down` deletes this environment's own group only; else 1, with what
    to do instead.
    """
    groups = foreign_groups(given)
    if not groups:
        return 0
    for group, name in groups.items():
        print(
            f"azd down would delete the whole resource group {group} too, which {name} names and "
            "others may use",
            file=sys.stderr,
        )
    print("Instead:", *advice(given), sep="\n  ", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(os.environ))
