"""Webhooks over real sockets: what is sent, what receivers may do wrong, and where no
socket ever goes.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from memory_core.adapters.webhook import WebCourier
from memory_core.ports import Posted
from tests.certificates import self_signed
from tests.receiver import Receiver, receiving, status

BODY = b'{"task_id": "tsk_1"}'
SENT = {"Content-Type": "application/json", "X-Memory-Delivery": "dlv_1"}


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as started:
        yield started


@pytest.fixture
def courier() -> WebCourier:
    """One that may call this machine."""
    return WebCourier(["127.0.0.1"], timeout_s=5)


async def test_a_post_arrives_as_it_was_sent(receiver: Receiver, courier: WebCourier) -> None:
    assert await courier.post(receiver.url("/hook?a=b%20c"), BODY, SENT) == Posted(200)
    (request,) = receiver.requests
    assert request.line == "POST /hook?a=b%20c HTTP/1.1"
    assert request.body == BODY
    assert {name: request.headers[name] for name in ("content-type", "x-memory-delivery")} == {
        "content-type": "application/json",
        "x-memory-delivery": "dlv_1",
    }
    assert request.headers["user-agent"].startswith("memory-core/")
    assert not {"cookie", "authorization", "proxy-authorization"} & request.headers.keys()


@pytest.mark.parametrize("code", [200, 202, 204, 400, 410, 429, 500, 503])
async def test_the_status_is_told_whatever_it_is(
    receiver: Receiver, courier: WebCourier, code: int
) -> None:
    receiver.answers = [status(code)]
    assert await courier.post(receiver.url(), BODY, SENT) == Posted(code)


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(
    receiver: Receiver, courier: WebCourier, code: int
) -> None:
    receiver.answers = [status(code, f"Location: {receiver.url('/elsewhere')}")]
    assert await courier.post(receiver.url(), BODY, SENT) == Posted(code)
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("code", [301, 307, 308])
async def test_a_redirect_into_our_network_is_not_followed_either(
    receiver: Receiver, code: int
) -> None:
    """The one who is called is public, as far as the courier knows; where it points to is not."""
    async with receiving("127.0.0.2") as public:
        public.answers = [status(code, f"Location: {receiver.url('/admin')}")]
        assert await WebCourier(["127.0.0.2"], timeout_s=5).post(
            public.url(), BODY, SENT
        ) == Posted(code)
        assert (len(public.requests), receiver.connections) == (1, 0)


async def test_a_body_without_an_end_is_not_read(receiver: Receiver, courier: WebCourier) -> None:
    written = 0

    async def endless(writer: asyncio.StreamWriter) -> None:
        nonlocal written
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"10000\r\n" + b"x" * 65536 + b"\r\n")
            await writer.drain()
            written += 65536

    receiver.answers = [endless]
    assert await courier.post(receiver.url(), BODY, SENT) == Posted(200)
    assert written < 64 * 2**20


async def silent(writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def test_a_receiver_that_never_answers_is_not_waited_for(receiver: Receiver) -> None:
    receiver.answers = [silent]
    posted = await WebCourier(["127.0.0.1"], timeout_s=0.2).post(receiver.url(), BODY, SENT)
    assert posted == Posted(None, "there was no answer within 0.2 s")


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"what?\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
        b"\x00" * 1000,
    ],
    ids=["nothing", "no HTTP", "cut", "a long header", "zeros"],
)
async def test_an_answer_that_is_none_is_said_to_be_none(
    receiver: Receiver, courier: WebCourier, answer: bytes
) -> None:
    receiver.answers = [answer]
    posted = await courier.post(receiver.url(), BODY, SENT)
    assert (posted.status, posted.refused) == (None, False)
    assert posted.error
    assert "xxxx" not in posted.error, "what a receiver wrote is nobody's business"


async def test_a_port_where_nobody_listens_can_not_be_reached(
    receiver: Receiver, courier: WebCourier
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        posted = await courier.post(f"http://127.0.0.1:{taken.getsockname()[1]}/", BODY, SENT)
    assert posted == Posted(None, "it can't be reached, or cut the connection")


async def test_a_certificate_that_nobody_vouches_for_is_not_trusted(
    tmp_path: Path, courier: WebCourier
) -> None:
    async with receiving(tls=unknown_to_anybody(tmp_path)) as receiver:
        posted = await courier.post(receiver.url().replace("http:", "https:"), BODY, SENT)
        assert posted == Posted(None, "its certificate can't be trusted")
        assert receiver.requests == []


def unknown_to_anybody(folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(self_signed(folder / "both.pem"))
    return context


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "[::ffff:127.0.0.1]",
        "127.0.0.1.",
        "１２７.0.0.1",
        "127。0。0。1",
        "localhost.",
        "%3127.0.0.1",
    ],
)
async def test_nothing_is_sent_to_this_machine_under_any_of_its_names(
    receiver: Receiver, host: str
) -> None:
    posted = await WebCourier(timeout_s=5).post(receiver.url(host=host), BODY, SENT)
    assert (posted.status, posted.refused) == (None, True)
    assert receiver.connections == 0


class Names:
    """The name service: each lookup of any host is answered by the next list of addresses,
    the last one again and again.
    """

    def __init__(self, *answers: list[str]) -> None:
        self.answers, self.asked = list(answers), 0

    def __call__(self, host: Any, port: Any, *args: Any, **options: Any) -> list[Any]:
        self.asked += 1
        addresses = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (address, port, 0, 0))
            if ":" in address
            else (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
            for address in addresses
        ]


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["::ffff:127.0.0.1"], ["169.254.169.254"], ["10.0.0.1", "fd00:ec2::254"]],
)
async def test_a_name_that_leads_into_our_network_is_not_called(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, addresses: list[str]
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", Names(addresses))
    posted = await WebCourier(timeout_s=5).post(receiver.url(host="hooks.example"), BODY, SENT)
    assert posted == await of_an_unknown_name(monkeypatch), "as if nobody had that name"
    assert receiver.connections == 0


async def test_a_name_that_changes_its_address_between_two_looks_gains_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """127.0.0.2 stands for a public address here: it alone may be called. The name is looked up
    once a call, and that answer is judged.
    """
    async with receiving("127.0.0.2") as public, receiving() as inside:
        inside_port = inside.port
        names = Names(["127.0.0.2"], ["127.0.0.1"])
        monkeypatch.setattr(socket, "getaddrinfo", names)
        courier = WebCourier(["127.0.0.2"], timeout_s=5)
        assert await courier.post(public.url(host="hooks.example"), BODY, SENT) == Posted(200)
        posted = await courier.post(f"http://hooks.example:{inside_port}/", BODY, SENT)
        assert (posted.status, names.asked) == (None, 2)
        assert inside.connections == 0


async def test_of_a_name_with_several_addresses_only_those_are_called_that_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with receiving("127.0.0.2") as public:
        monkeypatch.setattr(socket, "getaddrinfo", Names(["127.0.0.1", "10.0.0.1", "127.0.0.2"]))
        assert await WebCourier(["127.0.0.2"], timeout_s=5).post(
            public.url(host="hooks.example"), BODY, SENT
        ) == Posted(200)


async def test_a_name_that_the_operator_allows_is_called_wherever_it_leads(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", Names(["127.0.0.1"]))
    courier = WebCourier(["Hooks.Internal"], timeout_s=5)
    assert await courier.post(receiver.url(host="hooks.internal"), BODY, SENT) == Posted(200)
    assert "no public address" in (
        (await courier.post(receiver.url(host="other.internal"), BODY, SENT)).error or ""
    )


async def of_an_unknown_name(monkeypatch: pytest.MonkeyPatch) -> Posted:
    """What comes of a call to a name that does not exist."""

    def unknown(*args: Any, **options: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    return await WebCourier().post("http://hooks.example/", BODY, SENT)


async def test_a_name_that_does_not_exist_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await of_an_unknown_name(monkeypatch) == Posted(
        None, "it has no public address, so it is not called", refused=False
    )


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "10.20.30.40",
        "169.254.169.254",
        "[fd00:ec2::254]",
        "localhost",
        "metadata.localhost",
    ],
)
async def test_all_refused_addresses_are_told_of_in_the_same_words(host: str) -> None:
    url = f"http://{host}/hook"
    assert WebCourier().refusal(url) == "it has no public address, so it is not called"
    assert await WebCourier().post(url, BODY, SENT) == Posted(
        None, "it has no public address, so it is not called", refused=True
    )


async def test_no_proxy_of_the_environment_sees_a_webhook(
    receiver: Receiver, courier: WebCourier, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with receiving() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url(""))
        monkeypatch.setenv("http_proxy", proxy.url(""))
        assert await courier.post(receiver.url(), BODY, SENT) == Posted(200)
        assert proxy.connections == 0


@pytest.mark.parametrize(
    "url",
    [
        "http://[::1",
        "http://",
        "ftp://hooks.example/",
        "http://hooks.example:99999/",
        "http://a b/",
        "http://\u2488/x",
    ],
)
async def test_an_address_that_is_none_is_no_error_of_ours(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", Names(["127.0.0.1"]))
    posted = await WebCourier(timeout_s=5).post(url, BODY, SENT)
    assert posted.status is None
    assert posted.error
