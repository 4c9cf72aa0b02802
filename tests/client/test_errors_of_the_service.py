"""The client and the description of the API know each status that an error of the service has."""

from __future__ import annotations

from collections.abc import Iterator

from memory_core.domain.errors import MemoryCoreError
from memory_core.functions.openapi_parts import problem_responses
from memory_core_client.errors import BY_STATUS

OF_THE_SERVER = {405, 408, 431, 502}
"""Of what is refused before a call is known, and of a stopped host: no call describes them."""
PLAIN_IN_THE_CLIENT = {405, 408, 410, 414, 415, 431, 507}
"""Nothing that a program would catch by itself: the client's base class."""


def below(kind: type[MemoryCoreError]) -> Iterator[type[MemoryCoreError]]:
    for each in kind.__subclasses__():
        yield each
        yield from below(each)


def test_each_status_is_described_and_known_to_the_client() -> None:
    statuses = {kind.status for kind in below(MemoryCoreError)}
    described = {int(name.removeprefix("Problem")) for name in problem_responses()}
    assert statuses - OF_THE_SERVER <= described, "_PROBLEMS in functions/openapi_parts.py"
    assert statuses - PLAIN_IN_THE_CLIENT <= BY_STATUS.keys(), "BY_STATUS in the client's errors.py"
