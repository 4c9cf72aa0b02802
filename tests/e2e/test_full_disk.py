"""A disk without room: saves are refused, readiness says why, reads go on, and all is well again
once there is room.
"""

from __future__ import annotations

import resource
import signal
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.host import Host, memories, problem, save, until

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux changes the limits of another process"
)
LARGE = "tea " * 4_000


def limit_files(host: Host, size: int) -> None:
    """No file of the host may grow beyond this from now on, as on a disk that is full."""
    resource.prlimit(host.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def fill(client: httpx.Client) -> httpx.Response:
    """Save until that is refused."""
    for number in range(40):
        answer = client.post(
            "/api/v1/memories/save", json={"user_id": "ana", "content": f"{number} {LARGE}"}
        )
        if answer.status_code != 201:
            return answer
    raise AssertionError("the disk never gets full")


def long_term(client: httpx.Client) -> dict[str, Any]:
    dependency: dict[str, Any] = client.get("/health/ready").json()["dependencies"]["long_term"]
    return dependency


def state(client: httpx.Client) -> tuple[int, str, str]:
    ready = client.get("/health/ready")
    return (
        ready.status_code,
        ready.json()["status"],
        ready.json()["dependencies"]["long_term"]["status"],
    )


def filled(client: httpx.Client) -> tuple[int, str, str]:
    """The state after one more refusal: the first may have left room, where what was written ahead
    went into the file since.
    """
    assert problem(fill(client), 503)
    return state(client)


def test_readiness_goes_on_answering_when_the_folder_of_the_data_is_gone(tmp_path: Path) -> None:
    host = Host(tmp_path)
    try:
        with httpx.Client(base_url=host.url, timeout=60) as client:
            save(client, "ana", "I keep bees")
            (tmp_path / "data").rename(tmp_path / "elsewhere")
            until(
                lambda: (
                    "the folder of the data can't be looked at" in str(long_term(client)["detail"])
                ),
                True,
            )
    finally:
        host.stop(signal.SIGKILL)


def test_readiness_says_that_nothing_can_be_saved_and_ends_saying_so_by_itself(
    tmp_path: Path,
) -> None:
    host = Host(tmp_path)
    try:
        with httpx.Client(base_url=host.url, timeout=60) as client:
            memory = save(client, "ana", "I keep bees")
            assert client.get("/health/ready").status_code == 200
            limit_files(host, 256 * 1024)
            until(lambda: filled(client), (503, "unavailable", "unavailable"))
            until(lambda: state(client), (503, "unavailable", "unavailable"))
            assert "nothing can be saved: OperationalError: the disk" in long_term(client)["detail"]
            assert memory["id"] in {memory["id"] for memory in memories(client, "ana")}
            limit_files(host, resource.RLIM_INFINITY)
            until(lambda: state(client), (200, "ready", "ok"))
            save(client, "ana", "I keep wasps")
    finally:
        host.stop(signal.SIGKILL)
