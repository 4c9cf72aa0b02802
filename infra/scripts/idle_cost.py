"""What a month costs in which nobody asks anything: `python3 infra/scripts/idle_cost.py`,
for each profile.

With `here` for the parameters in the environment, by the names that azd has for them:
`azd env get-values` shows those of a deployment. Prices and what an idle app does are inputs, in
prices.json; `--prices` names another file. Models, logs and the data of users cost by use.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from infra.scripts.preflight import PROFILES, decided, setting

PRICES = Path(__file__).parents[1] / "prices.json"
POLICY = Path(__file__).parents[1] / "policy.json"
HOURS = 730
"""Hours of a month."""


def rows(
    given: Mapping[str, str], prices: Mapping[str, Any], policy: Mapping[str, Any]
) -> dict[str, float]:
    """Dollars a month, by what they are for. Raises KeyError for something that has no price."""
    price, assumed = prices["prices"], prices["assumed"]
    sku, with_vault = decided(given, "STORAGE_SKU"), decided(given, "ENABLE_KEY_VAULT") == "true"
    looks = assumed["looks_a_minute_and_queue"] * 60 * HOURS * len(policy["queues"])
    storage = looks / 1e4 * price["queue_10k_operations"]
    storage += assumed["stored_gb"] * price["storage_gb_month"][sku]
    storage += assumed["host_operations_an_hour"] * HOURS / 1e4 * price["blob_10k_operations"][sku]
    return {
        "Cosmos DB": _cosmos(given, prices),
        "Functions": _functions(given, prices),
        "storage": storage,
        "Key Vault": assumed["vault_reads_a_day"] * 30.4 / 1e4 * price["vault_10k_operations"]
        if with_vault
        else 0.0,
        "private network": _network(given, prices, policy),
        "Redis": _redis(given, prices),
        "alerts, with `alertEmail`": sum(
            price["alert_rule_month"][one["every"]] for one in policy["alerts"]
        ),
    }


def _cosmos(given: Mapping[str, str], prices: Mapping[str, Any]) -> float:
    if given.get("EXISTING_COSMOS"):
        return 0.0
    price = prices["prices"]
    if decided(given, "COSMOS_MODE") == "serverless":
        return float(
            HOURS * prices["assumed"]["timer_request_units"] / 1e6 * price["serverless_million_ru"]
        )
    least = float(setting(given, "COSMOS_MAX_THROUGHPUT", "4000")) / 10
    free = prices["free"]["autoscale_ru"] if given.get("COSMOS_FREE_TIER") == "true" else 0
    regions = 2 if given.get("SECOND_LOCATION") else 1
    return float(max(0.0, least - free) / 100 * HOURS * price["autoscale_100ru_hour"] * regions)


def _functions(given: Mapping[str, str], prices: Mapping[str, Any]) -> float:
    price, gb = prices["prices"], float(setting(given, "INSTANCE_MEMORY", "2048")) / 1024
    ready = float(decided(given, "ALWAYS_READY"))
    if given.get("ZONE_REDUNDANT_APP") == "true":
        ready = 2 * GROUPS
    ran = max(
        0.0,
        HOURS * prices["assumed"]["timer_seconds"] * gb - prices["free"]["on_demand_gb_seconds"],
    )
    return float(
        ready * gb * HOURS * 3600 * price["always_ready_gb_second"]
        + ran * price["on_demand_gb_second"]
    )


GROUPS = 8
"""Function groups: all of HTTP, three queues, their three poison queues, the timer."""


def _network(
    given: Mapping[str, str], prices: Mapping[str, Any], policy: Mapping[str, Any]
) -> float:
    if decided(given, "VNET_ENABLED") != "true":
        return 0.0
    there = {
        "redis": given.get("ENABLE_REDIS") == "true",
        "keyVault": decided(given, "ENABLE_KEY_VAULT") == "true",
        "openai": not given.get("EXISTING_OPENAI"),
        "cosmos": not given.get("EXISTING_COSMOS"),
    }
    endpoints = sum(there.get(one["of"], True) for one in policy["privateEndpoints"])
    zones = (
        0
        if given.get("EXISTING_DNS_ZONES")
        else sum(there.get(one["of"], True) for one in policy["privateZones"])
    )
    price = prices["prices"]
    gateway = HOURS * price["nat_gateway_hour"] if given.get("NAT_GATEWAY") == "true" else 0.0
    return float(
        endpoints * HOURS * price["private_endpoint_hour"]
        + zones * price["private_zone_month"]
        + gateway
    )


def _redis(given: Mapping[str, str], prices: Mapping[str, Any]) -> float:
    if given.get("ENABLE_REDIS") != "true":
        return 0.0
    nodes = 2 if given.get("REDIS_HIGH_AVAILABILITY") == "true" else 1
    return float(
        nodes * HOURS * prices["prices"]["redis_hour"][setting(given, "REDIS_SKU", "Balanced_B0")]
    )


def table(columns: Mapping[str, Mapping[str, float]]) -> str:
    """The rows of each column side by side, as Markdown, with what they come to;
    alerts are not in the sum.
    """
    heads = list(columns)
    lines = [f"|  | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}"]
    names = list(next(iter(columns.values())))
    lines += [
        f"| {name} | {' | '.join(f'{columns[head][name]:.2f}' for head in heads)} |"
        for name in names
    ]
    sums = [
        sum(value for name, value in columns[head].items() if not name.startswith("alerts"))
        for head in heads
    ]
    lines.append(f"| **without alerts** | {' | '.join(f'**{total:.2f}**' for total in sums)} |")
    return "\n".join(lines)


def profiles(prices: Mapping[str, Any], policy: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """The rows of each profile as it stands."""
    names = json.loads(PROFILES.read_text(encoding="utf-8"))
    return {name: rows({"PROFILE": name}, prices, policy) for name in names}


def main(arguments: list[str], environ: Mapping[str, str]) -> int:
    """Print the table; 0."""
    file = Path(arguments[arguments.index("--prices") + 1]) if "--prices" in arguments else PRICES
    prices = json.loads(file.read_text(encoding="utf-8"))
    policy = json.loads(POLICY.read_text(encoding="utf-8"))
    columns = (
        {"here": rows(environ, prices, policy)} if "here" in arguments else profiles(prices, policy)
    )
    print(
        f"Dollars a month while nobody asks anything. Prices of {prices['date']}: "
        f"{prices['statement']}\n\n{table(columns)}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
