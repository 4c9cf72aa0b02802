"""Where webhooks may go: every form in which an address of ours could be written,
and what the operator lets through.
"""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.adapters.webhook import (
    Allowed,
    WebCourier,
    is_public,
    literal,
    may_be_name,
    unwrapped,
)

PUBLIC = [
    "8.8.8.8",
    "1.1.1.1",
    "93.184.216.34",
    "172.15.255.255",
    "172.32.0.1",
    "2606:4700::1111",
    "2a00:1450:4001:81b::200e",
    "2001:4860:4860::8888",
]
NOT_PUBLIC = {
    "loopback": ["127.0.0.1", "127.255.255.254", "::1"],
    "unspecified": ["0.0.0.0", "0.1.2.3", "::"],
    "private": ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1",
        "fd12:3456::1"],
    "link-local": ["169.254.0.1", "fe80::1", "febf::1", "fe80::1%eth0"],
    "metadata": ["169.254.169.254", "fd00:ec2::254", "100.100.100.200", "192.0.0.192",
        "168.63.129.16"],
    "shared": ["100.64.0.1", "100.127.255.255"],
    "multicast": ["224.0.0.1", "239.255.255.250", "ff02::1", "ff0e::1"],
    "reserved": ["240.0.0.1", "255.255.255.255", "198.18.0.1", "192.0.0.9", "192.88.99.1", "100::1",
        "5f00::1"],
    "documentation": ["192.0.2.1", "198.51.100.7", "203.0.113.9", "2001:db8::1", "3fff::1"],
    "IPv4 within IPv6": [
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "::127.0.0.1", "64:ff9b::7f00:1",
        "64:ff9b:1::a00:1", "2002:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "::ffff:0:127.0.0.1",
    ],
}  # fmt: skip
NUMERIC = [
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "127.1",
    "127.0.1",
    "017700000001",
    "0177.0.0.1",
    "0177.0.0.01",
    "0xA9FEA9FE",
    "2852039166",
    "0",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_may_be_called(address: str) -> None:
    assert is_public(unwrapped(ipaddress.ip_address(address)))


@pytest.mark.parametrize(
    ("kind", "address"),
    [(kind, address) for kind, all_of in NOT_PUBLIC.items() for address in all_of],
)
def test_no_other_address_is_called_however_it_is_written(kind: str, address: str) -> None:
    assert not is_public(unwrapped(ipaddress.ip_address(address)))
    host = f"[{address}]" if ":" in address else address
    assert "no public address" in (WebCourier().refusal(f"http://{host}:8080/x") or "")


@pytest.mark.parametrize("host", NUMERIC)
def test_numbers_that_resolvers_take_for_addresses_are_read_as_such(host: str) -> None:
    address = literal(host)
    assert address is not None
    assert not is_public(address)
    assert WebCourier().refusal(f"http://{host}/") is not None


@pytest.mark.parametrize("host", ["localhost", "LocalHost", "localhost.", "a.localhost"])
def test_this_machine_has_a_name_too(host: str) -> None:
    assert WebCourier().refusal(f"https://{host}/") is not None
    assert WebCourier(["127.0.0.0/8"]).refusal(f"https://{host}/") is None


WRITTEN_OTHERWISE = [
    "127.0.0.1.", "127.0.0.1..", "127.1.", "0x7f.1.", "2130706433.", "１２７.0.0.1", "127。0。0。1",
    "127．0．0．1", "127｡0｡0｡1", "①②⑦.0.0.1", "⑯⑨.254.169.254", "0ｘ7f.1", "127.0.0.0x1", "00000",
    "ｌｏｃａｌｈｏｓｔ", "LOCALHOST..", "localhost。", "[fe80::1%25eth0]",
    "[::ffff:127.0.0.1%25lo]", "[::ffff:a00:1]", "[0:0:0:0:0:ffff:7f00:0001]",
    "[::FFFF:169.254.169.254]", "user:secret@127.0.0.1", "example.com@127.0.0.1", "127.0.0.1:443",
    "127.0.0.1\t",
]  # fmt: skip
NO_HOST = [
    "%3127.0.0.1", "%31%32%37.0.0.1", "127.0.0.1%2f", "127.0.0.1%00.example.com", "localhost%2e",
    "%6cocalhost", "loc\u00adalhost", "localhos\u200bt", "256.256.256.256", "127.0.0.08",
    "4294967296", "0o177.0.0.1", "1.2.3.4.5", "٠.0.0.1", "a..b", ".", "", "[127.0.0.1]",
    "127.0.0.1\\.example.com", "[::1", "x" * 64 + ".example", "example.com:0", "8.8.8.8:0",
    "example.com:x",
]  # fmt: skip


@pytest.mark.parametrize("host", WRITTEN_OTHERWISE)
def test_an_address_is_refused_at_once_however_a_client_could_be_made_to_read_it(host: str) -> None:
    assert "no public address" in (WebCourier().refusal(f"https://{host}/x") or "")


@pytest.mark.parametrize("host", NO_HOST)
def test_what_is_no_host_is_refused_at_once(host: str) -> None:
    assert WebCourier().refusal(f"https://{host}/x") is not None
    assert WebCourier(["0.0.0.0/0", "::/0"]).refusal(f"https://{host}/x") is not None


@pytest.mark.parametrize(
    "host",
    [
        "1.1.1.1.",
        "４.４.４.４",
        "[2606:4700::1111]",
        "bücher.example",
        "a-b.example.",
        "xn--bcher-kva.example",
        "x" * 63,
    ],
)
def test_public_hosts_may_be_written_otherwise_too(host: str) -> None:
    assert WebCourier().refusal(f"https://{host}:8443/x") is None


@given(st.ip_addresses(v=4), st.sampled_from(["", "."]), st.data())
def test_every_spelling_of_an_address_is_judged_as_the_address(
    address: ipaddress.IPv4Address, end: str, data: st.DataObject
) -> None:
    number, parts = int(address), address.packed
    spellings = [
        str(number), hex(number), f"0{number:o}", f"{parts[0]}.{number & 0xFFFFFF}",
        f"{parts[0]:#x}.{parts[1]}.{number & 0xFFFF}",
        ".".join(f"0{part:o}" for part in parts), ".".join(hex(part) for part in parts),
        str(address).translate(FULL_WIDTH),
    ]  # fmt: skip
    host = data.draw(st.sampled_from(spellings)) + end
    assert literal(host) == address
    assert (WebCourier().refusal(f"http://{host}/") is None) == is_public(address)
    assert not may_be_name(host)


FULL_WIDTH = {ord(str(digit)): chr(0xFF10 + digit) for digit in range(10)} | {ord("."): "．"}


@pytest.mark.parametrize(
    "host", ["example.com", "face.dead", "0x.example", "10.0.0.1.example.com", "beef"]
)
def test_a_name_is_judged_when_it_is_called_and_not_before(host: str) -> None:
    assert literal(host) is None
    assert WebCourier().refusal(f"https://{host}/") is None


def test_the_operator_lets_networks_addresses_and_names_through() -> None:
    allowed = Allowed.of(["10.1.0.0/16", "192.168.7.7", "fd00::/8", "Hooks.internal.", "::1"])
    ours = ["10.1.2.3", "192.168.7.7", "fd00:1::1", "::ffff:10.1.2.3", "::1", "8.8.8.8"]
    assert [
        name for name in ours if not allowed.address(unwrapped(ipaddress.ip_address(name)))
    ] == []
    assert [
        name
        for name in ("10.2.0.1", "192.168.7.8", "fc00::1", "127.0.0.1")
        if allowed.address(ipaddress.ip_address(name))
    ] == []
    assert allowed.host("hooks.INTERNAL")
    assert not allowed.host("other.internal")
    assert not allowed.host("10.1.2.3")


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_within_ipv6_is_judged_as_what_it_is(
    address: ipaddress.IPv4Address,
) -> None:
    mapped = ipaddress.IPv6Address(f"::ffff:{address}")
    assert unwrapped(mapped) == address
    assert is_public(unwrapped(mapped)) == is_public(address)
    hidden = [
        ipaddress.IPv6Address((0x2002 << 112) | (int(address) << 80)),
        ipaddress.IPv6Address((0x64FF9B << 96) | int(address)),
    ]
    assert not any(is_public(address) for address in hidden)


@given(st.ip_addresses())
def test_what_python_knows_to_be_private_is_never_public(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    if (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_unspecified
    ):
        assert not is_public(unwrapped(address))
