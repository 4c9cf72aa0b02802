"""What is sent to Azure: the app without what stays behind, its packages, the
tokenizer's vocabulary.
"""

import sys

LEAST_PYTHON = (3, 11)


def refuse_older(version: "tuple[int, int]") -> None:
    """Exit with one line if this Python is too old to make the package.

    It is called before anything is imported that an older one has not.
    """
    if version < LEAST_PYTHON:
        least, present = (".".join(map(str, each)) for each in (LEAST_PYTHON, version))
        raise SystemExit(
            f"the package is made by Python {least} or newer, and this is {present}: put a newer "
            "one first in the PATH, under the name by which azure.yaml starts it"
        )


refuse_older((sys.version_info[0], sys.version_info[1]))
