"""The function app on a clock that is wrong by the seconds that stand in the file named by
`TEST_CLOCK_SHIFT`: one little-endian double, mapped, since a clock is read a dozen times a call.
"""

import os
from datetime import datetime, timedelta
from mmap import ACCESS_READ, mmap
from pathlib import Path
from struct import unpack

import azure.functions as func

from memory_core.adapters.system import SystemClock
from memory_core.functions.blueprints import BLUEPRINTS

with Path(os.environ["TEST_CLOCK_SHIFT"]).open("rb") as _file:
    _seconds = mmap(_file.fileno(), 8, access=ACCESS_READ)
_true = SystemClock.now


def _shifted(self: SystemClock) -> datetime:
    return _true(self) + timedelta(seconds=unpack("<d", _seconds[:])[0])


SystemClock.now = _shifted  # type: ignore[method-assign]
app = func.FunctionApp(http_auth_level=func.AuthLevel.ANONYMOUS)
for blueprint in BLUEPRINTS:
    app.register_functions(blueprint)
