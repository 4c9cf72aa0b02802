"""checkov, started so that its parser of paths makes its tables once: it makes them again for each
path, in three quarters of its time.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import ply.yacc
from checkov.main import Checkov

_make = ply.yacc.yacc
_made: dict[tuple[type, str], Any] = {}


def made_once(*, module: Any, start: str, **options: Any) -> Any:
    """The parser of a grammar. Its tables depend on the class and the first symbol;
    its rules keep nothing between two paths.
    """
    key = (type(module), start)
    if key not in _made:
        _made[key] = _make(module=module, start=start, **options)
    return _made[key]


if __name__ == "__main__":
    warnings.simplefilter("ignore", category=SyntaxWarning)
    ply.yacc.yacc = made_once
    sys.exit(Checkov().run())
