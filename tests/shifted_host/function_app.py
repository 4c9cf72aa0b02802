"""The function app on a clock that is wrong by the seconds that stand in the file named by
`TEST_CLOCK_SHIFT`.
"""

import os
from datetime import datetime, timedelta
from pathlib import Path

import azure.functions as func

from memory_core.adapters.system import SystemClock
from memory_core.functions.blueprints import BLUEPRINTS

_FILE = Path(os.environ["TEST_CLOCK_SHIFT"])
_true = SystemClock.now


def _shifted(self: SystemClock) -> datetime:
    return _true(self) + timedelta(seconds=float(_FILE.read_text() or 0))


SystemClock.now = _shifted  # type: ignore[method-assign]
app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)
for blueprint in BLUEPRINTS:
    app.register_functions(blueprint)
