"""Where webhooks may go: every form in which an address of ours could be written, and what the operator lets through."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_core.adapters.webhook.addresses import Allowed, is_public, literal, unwrapped
from memory_core.adapters.webhook.courier import WebCourier

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
    "private": ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd12:3456::1"],
    "link-local": ["169.254.0.1", "fe80::1", "febf::1", "fe80::1%eth0"],
    "metadata": ["169.254.169.254", "fd00:ec2::254", "100.100.100.200", "192.0.0.192", "168.63.129.16"],
    "shared": ["100.64.0.1", "100.127.255.255"],
    "multicast": ["224.0.0.1", "239.255.255.250", "ff02::1", "ff0e::1"],
    "reserved": ["240.0.0.1", "255.255.255.255", "198.18.0.1", "192.0.0.9", "192.88.99.1", "100::1", "5f00::1"],
    "documentation": ["192.0.2.1", "198.51.100.7", "203.0.113.9", "2001:db8::1", "3fff::1"],
    "IPv4 within IPv6": [
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::a00:1", "2002:7f00:1::",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2", "::ffff:0:127.0.0.1",
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


@pytest.mark.parametrize(("kind", "address"), [(kind, address) for kind, all_of in NOT_PUBLIC.items() for address in all_of])
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


@pytest.mark.parametrize("host", ["example.com", "face.dead", "0x.example", "10.0.0.1.example.com", "beef"])
def test_a_name_is_judged_when_it_is_called_and_not_before(host: str) -> None:
    assert literal(host) is None
    assert WebCourier().refusal(f"https://{host}/") is None


def test_the_operator_lets_networks_addresses_and_names_through() -> None:
    allowed = Allowed.of(["10.1.0.0/16", "192.168.7.7", "fd00::/8", "Hooks.internal.", "::1"])
    ours = ["10.1.2.3", "192.168.7.7", "fd00:1::1", "::ffff:10.1.2.3", "::1", "8.8.8.8"]
    assert [name for name in ours if not allowed.address(unwrapped(ipaddress.ip_address(name)))] == []
    assert [name for name in ("10.2.0.1", "192.168.7.8", "fc00::1", "127.0.0.1") if allowed.address(ipaddress.ip_address(name))] == []
    assert allowed.host("hooks.INTERNAL")
    assert not allowed.host("other.internal")
    assert not allowed.host("10.1.2.3")


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_within_ipv6_is_judged_as_what_it_is(address: ipaddress.IPv4Address) -> None:
    mapped = ipaddress.IPv6Address(f"::ffff:{address}")
    assert unwrapped(mapped) == address
    assert is_public(unwrapped(mapped)) == is_public(address)
    hidden = [ipaddress.IPv6Address((0x2002 << 112) | (int(address) << 80)), ipaddress.IPv6Address((0x64FF9B << 96) | int(address))]
    assert not any(is_public(one) for one in hidden)


@given(st.ip_addresses())
def test_what_python_knows_to_be_private_is_never_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    if address.is_private or address.is_loopback or address.is_link_local or address.is_multicast or address.is_unspecified:
        assert not is_public(unwrapped(address))
