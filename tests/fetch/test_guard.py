from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.errors import ConfigError
from lycosa.fetch.guard import Guard

REFUSED = {
    "0.0.0.0": "unspecified",
    "0.1.2.3": "unspecified",
    "10.0.0.1": "private",
    "10.255.255.255": "private",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "192.168.1.1": "private",
    "100.64.0.1": "carrier-grade NAT",
    "100.127.255.255": "carrier-grade NAT",
    "127.0.0.1": "loopback",
    "127.255.0.1": "loopback",
    "169.254.0.1": "link-local",
    "169.254.169.254": "metadata service",
    "169.254.170.2": "metadata service",
    "100.100.100.200": "metadata service",
    "168.63.129.16": "metadata service",
    "192.0.0.192": "metadata service",
    "192.0.0.8": "reserved",
    "192.0.2.1": "documentation",
    "198.51.100.7": "documentation",
    "203.0.113.7": "documentation",
    "198.19.0.1": "benchmarking",
    "192.88.99.1": "reserved",
    "224.0.0.1": "multicast",
    "239.255.255.255": "multicast",
    "240.0.0.1": "reserved",
    "255.255.255.255": "broadcast",
    "::": "unspecified",
    "::1": "loopback",
    "fe80::1": "link-local",
    "fe80::1%eth0": "link-local",
    "fc00::1": "private",
    "fdff::1": "private",
    "fec0::1": "private",
    "ff02::1": "multicast",
    "fd00:ec2::254": "metadata service",
    "fd20:ce::254": "metadata service",
    "2001:db8::1": "documentation",
    "3fff::1": "documentation",
    "2001:2::1": "benchmarking",
    "2001:10::1": "reserved",
    "100::1": "reserved",
    "4000::1": "reserved",
    # An IPv4 address inside
    "::ffff:127.0.0.1": "loopback",
    "::ffff:169.254.169.254": "metadata service",
    "::ffff:0:10.0.0.1": "private",
    "::127.0.0.1": "loopback",
    "::8.8.8.8": "reserved",
    "64:ff9b::7f00:1": "loopback",
    "64:ff9b::10.1.2.3": "private",
    "64:ff9b:1::7f00:1": "loopback",
    "64:ff9b:1:7f00:0:100::": "unspecified",  # the last bits, which some translators would read, are zero
    "64:ff9b:1:808:8:800:808:808": "private",
    "2002:7f00:1::1": "loopback",
    "2002:a9fe:a9fe::": "metadata service",
    "2001:0:808:808:0:0:80ff:fffe": "loopback",  # Teredo: client 127.0.0.1, bits turned over
    "2001:0:7f00:1:0:0:f7f7:f7f7": "loopback",  # Teredo: server
    # Not an address
    "": "malformed",
    "example.org": "malformed",
    "127.0.0.1:80": "malformed",
    "1.2.3": "malformed",
}

ALLOWED = (
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "223.255.255.255",
    "2606:4700::1111",
    "2a00:1450:4001::1",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",  # how an IPv6-only network reaches the rest of the web
    "2002:808:808::1",
    "2001:0:808:808:0:0:f7f7:f7f7",
)


@pytest.mark.parametrize(("address", "reason"), REFUSED.items())
def test_refuses(address: str, reason: str) -> None:
    assert Guard().refuses(address) == reason


@pytest.mark.parametrize("address", ALLOWED)
def test_lets_public_addresses_pass(address: str) -> None:
    assert Guard().refuses(address) == ""


@given(st.integers(0, 2**32 - 1))
def test_a_mapped_address_fares_like_the_one_inside(number: int) -> None:
    inner = str(IPv4Address(number))
    assert Guard().refuses(f"::ffff:{inner}") == Guard().refuses(inner)
    assert Guard().refuses(f"64:ff9b::{inner}") == Guard().refuses(inner)


@given(st.integers(0, 2**128 - 1))
def test_no_address_passes_that_python_holds_to_be_local(number: int) -> None:
    address = IPv6Address(number)
    if address.is_private or address.is_multicast or address.is_link_local or address.is_reserved:
        nat64 = number >> 32 == 0x64FF9B << 64
        assert Guard().refuses(str(address)) or address.ipv4_mapped or nat64


@given(st.integers(0, 2**32 - 1))
def test_no_ipv4_address_passes_that_python_holds_to_be_local(number: int) -> None:
    address = IPv4Address(number)
    if not address.is_global:
        assert Guard().refuses(str(address))


@pytest.mark.parametrize(
    ("allow", "address"),
    [
        ("127.0.0.0/8", "127.1.2.3"),
        ("127.0.0.1", "127.0.0.1"),
        (" 127.0.0.1 ", "127.0.0.1"),
        ("127.0.0.0/8", "::ffff:127.0.0.1"),
        ("127.0.0.0/8", "64:ff9b::7f00:1"),
        ("::1", "::1"),
        ("169.254.169.254/32", "169.254.169.254"),
        ("64:ff9b:1::/48", "64:ff9b:1::7f00:1"),
        ("::/0", "fe80::1"),
    ],
)
def test_the_allow_list_wins(allow: str, address: str) -> None:
    assert Guard().refuses(address)
    assert Guard([allow]).refuses(address) == ""


def test_the_allow_list_lets_nothing_else_in() -> None:
    guard = Guard(["10.1.0.0/16", "127.0.0.1"])
    assert guard.refuses("10.2.0.1") == "private"
    assert guard.refuses("127.0.0.2") == "loopback"
    assert guard.refuses("::1") == "loopback"


@pytest.mark.parametrize(
    ("network", "advice"),
    [
        ("10.1.2.3/16", r"did you mean '10\.1\.0\.0/16'"),
        ("localhost", "write it like"),
        ("10.0.0.0/33", "write it like"),
        ("", "write it like"),
    ],
)
def test_a_malformed_network_is_an_error_that_says_what_would_be_right(network: str, advice: str) -> None:
    with pytest.raises(ConfigError, match=advice) as error:
        Guard(["127.0.0.0/8", network])
    assert repr(network) in str(error.value)
