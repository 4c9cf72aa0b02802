"""Two apps with two users each, who do everything at once on one host: none sees a word or an
id of another.
"""

from __future__ import annotations

import hashlib
import json
import logging
from pathlib import Path

import httpx
import pytest

from tests.host import running
from tests.interleaved_tenants import Call, Driver, Tenant, Watch

LOG = logging.getLogger(__name__)
KEYS = {app: f"mc_{app}_{app}1_0123456789abcdefABCDEF" for app in ("shop", "rival")}
CONFIGURED = [
    {
        "id": f"{app}1",
        "app": app,
        "sha256": hashlib.sha256(key.encode()).hexdigest(),
        "rights": ["read", "write"],
    }
    for app, key in KEYS.items()
]
ENOUGH = 30
"""Kinds of calls of which one at least was answered well; there are about 60."""


def tenants(seed: int) -> list[Tenant]:
    """The users of both apps have the same names."""
    return [
        Tenant(app, f"{user}-{seed}", KEYS[app], f"{app}{user}{seed}quill")
        for app in KEYS
        for user in ("ana", "ben")
    ]


def test_the_watch_sees_words_ids_and_changes_that_are_anothers() -> None:
    ana, ben, *_ = everybody = tenants(0)
    watch = Watch(everybody)
    secret = "mem_" + "0" * 24
    listed = Call("list", "GET", "/api/v1/memories", {}, None, None)
    watch.look(ana, listed, 200, json.dumps({"id": secret, "content": f"a boat of {ana.word}"}))
    assert watch.leaks == []
    watch.look(ben, listed, 200, json.dumps({"id": secret}))
    watch.look(ben, listed, 200, json.dumps({"content": f"a boat of {ana.word}"}))
    watch.look(
        ben, Call("delete", "DELETE", f"/api/v1/memories/{secret}", {}, None, secret), 200, "{}"
    )
    assert len(watch.leaks) == 3


@pytest.mark.parametrize(
    ("seeds", "steps"),
    [(1, 300), pytest.param(20, 2_000, marks=pytest.mark.long)],
    ids=["short", "long"],
)
async def test_no_tenant_sees_anything_of_another(tmp_path: Path, seeds: int, steps: int) -> None:
    with running(tmp_path, MEMORY_API_KEYS=json.dumps(CONFIGURED)) as host:
        for seed in range(seeds):
            watch = Watch(tenants(seed))
            async with httpx.AsyncClient(base_url=host.base_url, timeout=60) as client:
                await Driver(watch, client, seed).run(steps)
            assert watch.leaks == [], f"seed {seed}"
            assert watch.counts["foreign targets"] > steps / 50, watch.counts
            figures = (seed, len(watch.owners), watch.counts["foreign targets"], len(watch.leaks))
            LOG.info("seed %s: %s ids, %s calls for what is another's, %s leaks", *figures)
            fulfilled = {
                name.rpartition(" ")[0]
                for name in watch.counts
                if name[-3:] in ("200", "201", "202", "207")
            }
            assert len(fulfilled) > ENOUGH, sorted(watch.counts)
