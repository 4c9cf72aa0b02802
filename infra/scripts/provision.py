"""`azd provision` in a pipeline, with the parameters that the pipeline's variables give:
`python3 infra/scripts/provision.py --preview`.

A pipeline begins with an empty azd environment. One would get wrong: a parameter that it does not
give is then not what it was but its default, so that doors that were closed would be opened.
VARIABLES has all that are set, as a JSON object; others than parameters are left.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

PARAMETERS = Path(__file__).parents[1] / "main.parameters.json"


def chosen(variables: Mapping[str, str]) -> dict[str, str]:
    """Of these, those that azd reads a parameter from."""
    names = re.findall(r"\$\{([A-Z_]+)", PARAMETERS.read_text(encoding="utf-8"))
    return {name: variables[name] for name in names if variables.get(name)}


def main(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """What azd returned; 1 without VARIABLES."""
    if "VARIABLES" not in environ:
        print("VARIABLES is not set: the JSON object of the pipeline's variables", file=sys.stderr)
        return 1
    given = chosen(json.loads(environ["VARIABLES"]))
    print(
        f"Given: {', '.join(sorted(given)) or 'nothing'}; all else is as it is by default",
        flush=True,
    )
    return subprocess.run(  # noqa: S603
        ["azd", "provision", "--no-prompt", *arguments],  # noqa: S607
        env={**environ, **given},
    ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
