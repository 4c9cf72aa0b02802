"""Write docs/openapi.json: `python -m deployment.openapi`. The types of the TypeScript client are
made of it by `npm run generate` in clients/typescript.
"""

from __future__ import annotations

from pathlib import Path

import orjson

from memory_core.functions.blueprints import BLUEPRINTS
from memory_core.functions.openapi import document

FILE = Path(__file__).parents[1] / "docs" / "openapi.json"


def written() -> bytes:
    """The document as it is kept, in lines that a change is seen in."""
    assert BLUEPRINTS, "their import registers the calls"
    return orjson.dumps(document(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


if __name__ == "__main__":
    FILE.write_bytes(written())
