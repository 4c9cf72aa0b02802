"""The development host on the wire: heads, hosts and bodies as no good client sends them,
and pages of other origins.

No store has a part in it, so it is tried in the embedded profile only; with keys and without.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.host import memories, problem, running, save

ADMIN, BOUND = ("mc_shop_a1_0123456789abcdef", "mc_shop_b1_0123456789abcdef")
KEYS = [
    {
        "id": key.split("_")[2],
        "app": "shop",
        "sha256": hashlib.sha256(key.encode()).hexdigest(),
        "rights": ["admin"],
        **bound,
    }
    for key, bound in ((ADMIN, {}), (BOUND, {"user": "ana"}))
]
WAIT_S = 60
MANY = 12 * 2**20
"""Bytes of a body that is too large: more than the buffers between client and host hold, so that a
cut connection shows each time.
"""
HEAD = b"Host: localhost\r\nConnection: close\r\n"


@pytest.fixture(scope="module")
def keyless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with running(tmp_path_factory.mktemp("keyless"), MEMORY_DEADLINE_S="2") as client:
        for user in ("ana", "ben"):
            save(client, user, "Ana moved to Lisbon")
        yield client


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with running(
        tmp_path_factory.mktemp("locked"), MEMORY_API_KEYS=json.dumps(KEYS), MEMORY_DEADLINE_S="2"
    ) as client:
        client.headers["X-API-Key"] = ADMIN
        for user in ("ana", "ben"):
            save(client, user, "Ana moved to Lisbon")
        yield client


@pytest.fixture(params=["keyless", "locked"])
def host(request: pytest.FixtureRequest) -> httpx.Client:
    client: httpx.Client = request.getfixturevalue(request.param)
    return client


@contextmanager
def connected(host: httpx.Client) -> Iterator[socket.socket]:
    """A connection to the host, on which reading waits for WAIT_S at most."""
    address = urlsplit(str(host.base_url))
    with socket.create_connection((address.hostname, address.port), timeout=WAIT_S) as connection:
        yield connection


def answer(connection: socket.socket) -> tuple[int, dict[str, Any]]:
    """Status and JSON of an answer, after which the host closes the connection."""
    response = http.client.HTTPResponse(connection)
    response.begin()
    body = json.loads(response.read())
    assert connection.recv(1) == b""
    return response.status, body


def ask(host: httpx.Client, head: bytes) -> tuple[int, dict[str, Any]]:
    with connected(host) as connection:
        connection.sendall(head)
        return answer(connection)


def as_key(host: httpx.Client) -> bytes:
    return f"X-API-Key: {host.headers.get('x-api-key', 'none')}\r\n".encode()


@pytest.mark.parametrize(
    "name",
    [
        b"x?user_id=ana&limit=2#",
        b"x?user_id=ana&limit=2",
        b"x/api/v1/memories?user_id=ana&x=",
        b"127.0.0.1/?",
        b"ana@localhost",
        b"localhost:x",
        b"localhost:70000",
        b"[::::]",
        b"[1.2.3.4]",
        b"local host",
        b"",
        b"localhost\r\nHost: localhost",
    ],
)
def test_a_host_that_is_no_address_is_refused_and_never_a_query(
    host: httpx.Client, name: bytes
) -> None:
    """`Host: x?user_id=ana#` read ana's memories for a query that named another user."""
    head = (
        b"GET /api/v1/memories?user_id=nobody HTTP/1.1\r\nHost: "
        + name
        + b"\r\nConnection: close\r\n"
        + as_key(host)
        + b"\r\n"
    )
    status, body = ask(host, head)
    assert (status, [error["field"] for error in body["errors"]]) == (400, ["Host"])


def test_a_request_of_http_1_1_names_its_host(host: httpx.Client) -> None:
    assert ask(host, b"GET /health HTTP/1.1\r\nConnection: close\r\n\r\n")[0] == 400
    assert ask(host, b"GET /health HTTP/1.0\r\n\r\n")[0] == 200
    assert (
        ask(host, b"GET /health HTTP/1.1\r\nHost: [::1]:7071\r\nConnection: close\r\n\r\n")[0]
        == 200
    )


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/health",
        "/health/ready",
        "/openapi.json",
        "/metrics",
        "/zork",
        "/api/v1/memories?user_id=ana",
    ],
)
def test_without_keys_nothing_answers_a_foreign_name(keyless: httpx.Client, path: str) -> None:
    assert problem(keyless.get(path, headers={"Host": "evil.example"}), 403)
    assert problem(
        keyless.post("/admin/functions/timer_hourly", headers={"Host": "evil.example:7071"}), 403
    )


def test_with_keys_it_answers_under_any_name(locked: httpx.Client) -> None:
    for path in ("/health", "/openapi.json", "/api/v1/memories?user_id=ana"):
        assert locked.get(path, headers={"Host": "memory.example"}).status_code == 200


FOREIGN = [
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://localhost:3000"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site", "Origin": "http://localhost:3000"},
]
WRITES = [
    ("POST", "/api/v1/users/ana/export"),
    ("POST", "/api/v1/users/eve/import"),
    ("POST", "/admin/functions/timer_hourly"),
    ("DELETE", "/api/v1/users/ana"),
    ("POST", "/api/v1/memories/save"),
]


@pytest.mark.parametrize(
    "headers", FOREIGN, ids=[" ".join(headers.values()) for headers in FOREIGN]
)
@pytest.mark.parametrize(("method", "path"), WRITES)
def test_without_keys_a_page_of_another_origin_writes_nothing(
    keyless: httpx.Client, method: str, path: str, headers: dict[str, str]
) -> None:
    before = keyless.get("/api/v1/tasks", params={"user_id": "ana"}).json()
    assert problem(keyless.request(method, path, headers=headers), 403)
    assert keyless.get("/api/v1/tasks", params={"user_id": "ana"}).json() == before
    assert len(memories(keyless, "ana")) == 1


def test_without_keys_the_hosts_own_pages_and_what_is_no_browser_write(
    keyless: httpx.Client,
) -> None:
    own = str(keyless.base_url).rstrip("/")
    for headers in (
        {},
        {"Origin": own},
        {"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost:5173"},
        {"Sec-Fetch-Site": "none"},
    ):
        assert keyless.post("/api/v1/users/ben/export", headers=headers).status_code == 202
    assert keyless.get("/health", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200


def test_with_keys_the_key_decides_whatever_the_origin(locked: httpx.Client) -> None:
    assert (
        locked.post(
            "/api/v1/users/ben/export", headers={"Origin": "https://console.example"}
        ).status_code
        == 202
    )
    assert problem(
        locked.post(
            "/api/v1/users/ben/export",
            headers={"Origin": "https://console.example", "X-API-Key": "none"},
        ),
        401,
    )


def test_a_key_bound_to_one_user_fires_no_timer_even_as_admin(locked: httpx.Client) -> None:
    assert problem(locked.post("/admin/functions/timer_hourly", headers={"X-API-Key": BOUND}), 403)
    assert locked.post("/admin/functions/timer_hourly").status_code == 202


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /health?" + b"x" * 20_000 + b" HTTP/1.1\r\n" + HEAD + b"\r\n", 414),
        (b"GET /" + b"x" * 2_000_000, 414),
        (b"GET /health HTTP/1.1\r\n" + HEAD + b"X: " + b"x" * 70_000 + b"\r\n\r\n", 431),
        (b"GET /health HTTP/1.1\r\n" + HEAD + b"X: " + b"x" * 2_000_000, 431),
        (b"GET /health HTTP/1.1\r\n" + HEAD + b"X: y\r\n" * 200 + b"\r\n", 431),
        (b"GET /health HTTP/1.1\r\n" + HEAD + b"no header at all\r\n\r\n", 400),
        (b"\x00\x01\x02\r\n\r\n", 400),
    ],
    ids=[
        "address",
        "endless address",
        "head",
        "endless head",
        "many headers",
        "no header",
        "no request",
    ],
)
def test_a_head_that_is_too_large_or_none_is_a_problem_that_its_sender_reads(
    host: httpx.Client, head: bytes, status: int
) -> None:
    answered, body = ask(host, head)
    assert (answered, body["status"]) == (status, status)
    assert host.get("/health").status_code == 200


def test_a_head_as_large_as_allowed_is_answered(host: httpx.Client) -> None:
    fields = b"".join(b"X-%d: " % number + b"y" * 600 + b"\r\n" for number in range(90))
    assert (
        ask(host, b"GET /health?" + b"x" * 4_000 + b" HTTP/1.1\r\n" + HEAD + fields + b"\r\n")[0]
        == 200
    )


SENT = {
    "nothing": b"",
    "half a head": b"GET /health HTTP/1.1\r\nHost: local",
    "an empty line": b"\r\n",
}
GOES_ON = "a request and half a head"


@pytest.fixture(scope="module")
def slow(keyless: httpx.Client) -> Iterator[dict[str, socket.socket]]:
    """Connections whose head does not arrive, by what came of it: they wait for the host's deadline
    all at once.
    """
    with ExitStack() as connections:
        waiting = {name: connections.enter_context(connected(keyless)) for name in (*SENT, GOES_ON)}
        for name, sent in SENT.items():
            waiting[name].sendall(sent)
        waiting[GOES_ON].sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        response = http.client.HTTPResponse(waiting[GOES_ON])
        response.begin()
        assert response.read()
        waiting[GOES_ON].sendall(b"GET /hea")
        yield waiting


@pytest.mark.parametrize("sent", SENT)
def test_a_connection_whose_head_does_not_arrive_is_cut(
    slow: dict[str, socket.socket], sent: str
) -> None:
    if SENT[sent]:
        assert answer(slow[sent])[0] == 408
    else:
        assert slow[sent].recv(1) == b""


def test_a_connection_that_goes_on_with_half_a_head_is_cut(slow: dict[str, socket.socket]) -> None:
    assert answer(slow[GOES_ON])[0] == 408


def test_a_body_that_does_not_arrive_within_the_deadline_is_cut(host: httpx.Client) -> None:
    fields = as_key(host) + b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n"
    status, body = ask(
        host, b"POST /api/v1/memories/save HTTP/1.1\r\nHost: localhost\r\n" + fields + b'{"user_id"'
    )
    assert (status, body["type"]) == (408, "urn:memory-core:problem:too_slow")


def test_two_requests_sent_at_once_are_answered_in_order(host: httpx.Client) -> None:
    with connected(host) as connection:
        first = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
        connection.sendall(first + b"GET / HTTP/1.1\r\n" + HEAD + b"\r\n")
        text = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert text.index(b'"status"') < text.index(b'"links"')


def test_a_body_too_large_is_refused_so_that_urllib_reads_why(host: httpx.Client) -> None:
    headers = {
        "Content-Type": "application/json",
        "X-API-Key": host.headers.get("x-api-key", "none"),
    }
    request = urllib.request.Request(
        f"{str(host.base_url).rstrip('/')}/api/v1/memories/save", data=b"x" * MANY, headers=headers
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=WAIT_S)
    assert refused.value.code == 413
    assert json.loads(refused.value.read())["type"] == "urn:memory-core:problem:too_large"
    refused.value.close()


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("close", [False, True])
def test_a_body_too_large_is_refused_so_that_a_plain_client_reads_why(
    host: httpx.Client, *, chunked: bool, close: bool
) -> None:
    headers = {
        "Content-Type": "application/json",
        "X-API-Key": host.headers.get("x-api-key", "none"),
    }
    headers |= {"Connection": "close"} if close else {}
    body: Any = iter([b"x" * 65_536] * (MANY // 65_536)) if chunked else b"x" * MANY
    address = urlsplit(str(host.base_url))
    client = http.client.HTTPConnection(address.hostname or "", address.port, timeout=WAIT_S)
    client.request(
        "POST", "/api/v1/memories/save", body=body, headers=headers, encode_chunked=chunked
    )
    response = client.getresponse()
    assert (response.status, json.loads(response.read())["status"]) == (413, 413)
    if not close:
        client.request("GET", "/health")
        assert client.getresponse().status == 200
    client.close()


def test_a_body_too_large_whose_sender_asks_first_is_refused_before_it_is_sent(
    host: httpx.Client,
) -> None:
    fields = (
        as_key(host)
        + b"Content-Type: application/json\r\nContent-Length: 3000000\r\nExpect: 100-continue\r\n\r\n"  # noqa: E501
    )
    assert (
        ask(host, b"POST /api/v1/memories/save HTTP/1.1\r\nHost: localhost\r\n" + fields)[0] == 413
    )


def test_readiness_says_when_it_was_seen(host: httpx.Client) -> None:
    ready = host.get("/health/ready").json()
    assert ready["status"] == "ready"
    assert ready["checked_at"].endswith("Z")
