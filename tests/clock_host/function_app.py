"""The function app on a clock that a test sets: the moment in the file named by
`TEST_CLOCK`.
"""

import os
from datetime import datetime
from pathlib import Path

import azure.functions as func

from memory_core.adapters.system import SystemClock
from memory_core.functions.blueprints import BLUEPRINTS

_FILE = Path(os.environ["TEST_CLOCK"])


def _set_by_the_test(self: SystemClock) -> datetime:
    return datetime.fromisoformat(_FILE.read_text())


SystemClock.now = _set_by_the_test  # type: ignore[method-assign]
app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)
for blueprint in BLUEPRINTS:
    app.register_functions(blueprint)
