"""The checked-in expectation: every function with its raw bindings, one binding a line,
so that a difference is easy to read.

The runtime indexes an app happily whose blueprint was never registered or whose schedule is
nonsense. So what it says is compared.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from memory_core.localhost.host_settings import resolved
from memory_core.localhost.timers import next_due

FILE = Path(__file__).with_name("functions.json")


def as_text(functions: Mapping[str, Mapping[str, Any]]) -> str:
    """Functions, as `Worker.functions` has them, as the text of the file: sorted by name,
    bindings in the runtime's order.
    """
    parts = []
    for name, function in sorted(functions.items()):
        bindings = ",\n".join(f"    {json.dumps(binding)}" for binding in function["bindings"])
        retry = f'"retry": {json.dumps(function["retry"])},\n   ' if function["retry"] else ""
        parts.append(f'  {json.dumps(name)}: {{{retry}"bindings": [\n{bindings}\n  ]}}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def bad_schedules(
    functions: Mapping[str, Mapping[str, Any]], settings: Mapping[str, str], now: datetime
) -> dict[str, str]:
    """Timer function → why its schedule would never fire; `settings` are the app's,
    for schedules such as `%HOURLY%`.
    """
    values = {}
    for name, function in functions.items():
        for binding in function["bindings"]:
            if binding["type"] != "timerTrigger":
                continue
            try:
                next_due(resolved(binding["schedule"], settings), now)
            except ValueError as error:
                values[name] = str(error)
    return values
