"""Which cases of a module run each time where all of them run elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import pytest


def leave_to_long(items: Sequence[pytest.Function], modules: Iterable[str], most: int) -> None:
    """Mark all but a few cases of each module as `long`.

    Kept are the first cases of its tests, and where these are fewer, second ones.

    Args:
        items: Tests in their order; those of other modules stay as they are.
        modules: Names of the modules.
        most: Cases of a module that are kept.

    """
    for module in modules:
        numbers: Counter[str] = Counter()
        numbered: list[tuple[int, pytest.Function]] = []
        for item in items:
            if item.path.stem == module:
                numbered.append((numbers[item.originalname], item))
                numbers[item.originalname] += 1
        for _, item in sorted(numbered, key=lambda pair: pair[0])[most:]:
            item.add_marker(pytest.mark.long)
