"""Which addresses a crawler must not talk to.

A page can link to anything, and a name can resolve to anything: without a guard, a crawler is a way into the network in
which it runs. The guard checks addresses, not names, and the callback that opens the socket calls it
(`fetch.transfer`). The address it checks is the one that is connected to, so neither a name that changes its address
between two look-ups nor an unusual spelling of an address (`http://0x7f.1/`) gets past it.

An IPv6 address can contain an IPv4 address (mapped, NAT64, 6to4, Teredo). The inner address is checked as well, since
the packet may end up there.

The networks follow the IANA special-purpose registries for IPv4 and IPv6, preceded by the addresses at which cloud
providers serve credentials.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from lycosa.errors import ConfigError

MALFORMED = "malformed"
"""What is refused is no address at all."""
_V4 = tuple(
    (IPv4Network(network), reason)
    for network, reason in (
        ("169.254.169.254/32", "metadata service"),  # AWS, Azure, Google and most others
        ("169.254.170.2/32", "metadata service"),  # AWS containers
        ("169.254.170.23/32", "metadata service"),  # AWS Kubernetes pods
        ("168.63.129.16/32", "metadata service"),  # Azure; looks like a public address
        ("100.100.100.200/32", "metadata service"),  # Alibaba
        ("192.0.0.192/32", "metadata service"),  # Oracle
        ("0.0.0.0/8", "unspecified"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "carrier-grade NAT"),
        ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "reserved"),  # the withdrawn 6to4 relays
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "benchmarking"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("255.255.255.255/32", "broadcast"),
        ("240.0.0.0/4", "reserved"),
    )
)

_V6 = tuple(
    (IPv6Network(network), reason)
    for network, reason in (
        ("fd00:ec2::/32", "metadata service"),  # AWS
        ("fd20:ce::254/128", "metadata service"),  # Google
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("64:ff9b:1::/48", "private"),  # a site's own NAT64 prefixes
        ("2001:2::/48", "benchmarking"),
        ("2001:10::/28", "reserved"),  # ORCHID: identifiers of machines, not addresses
        ("2001:20::/28", "reserved"),
        ("2001:db8::/32", "documentation"),
        ("3fff::/20", "documentation"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "private"),
        ("ff00::/8", "multicast"),
    )
)

_V6_PUBLIC = (IPv6Network("2000::/3"), IPv6Network("64:ff9b::/96"), IPv6Network("::ffff:0:0/96"))
"""All other IPv6 space is unallocated."""

_V4_IN_LAST_BITS = tuple(
    IPv6Network(network)
    for network in (
        "::ffff:0:0/96",  # mapped
        "::ffff:0:0:0/96",  # translated (SIIT)
        "::/96",  # compatible, long withdrawn
        "64:ff9b::/96",  # NAT64
        "64:ff9b:1::/48",
    )
)
_NAT64_LOCAL = IPv6Network("64:ff9b:1::/48")
_TEREDO = IPv6Network("2001::/32")
_SIX_TO_FOUR = IPv6Network("2002::/16")


class Guard:
    """Decides whether an address may be contacted.

    `allow` lists networks (`"127.0.0.0/8"`, `"10.1.0.0/16"`, `"::1"`) that may be contacted although they are not
    public, for tests and intranets. It takes precedence over everything else.
    """

    def __init__(self, allow: Sequence[str] = ()) -> None:
        self._allow = tuple(_network(text) for text in allow)

    def refuses(self, address: str) -> str:
        """A fixed phrase that says why the address must not be contacted; empty if it may be."""
        try:
            parsed = ip_address(address.partition("%")[0])
        except ValueError:
            return MALFORMED
        return self._judge(parsed)

    def _judge(self, address: IPv4Address | IPv6Address) -> str:
        if any(address in network for network in self._allow):
            return ""
        if isinstance(address, IPv4Address):
            return next((reason for network, reason in _V4 if address in network), "")
        # ::1 and :: are addresses in their own right, not IPv4 addresses in disguise.
        if int(address) > 1:
            embedded = tuple(_embedded(address))
            for inner in embedded:
                if reason := self._judge(inner):
                    return reason
            # The mapped form of an allowed address is allowed, since it never leaves as IPv6.
            if embedded and address.ipv4_mapped is not None:
                return ""
        is_public = any(address in network for network in _V6_PUBLIC)
        return next((reason for network, reason in _V6 if address in network), "" if is_public else "reserved")


def _embedded(address: IPv6Address) -> Iterator[IPv4Address]:
    """The IPv4 addresses at which a packet to this address may end up."""
    bits = int(address)
    if any(address in network for network in _V4_IN_LAST_BITS):
        yield IPv4Address(bits & 0xFFFFFFFF)
    if address in _NAT64_LOCAL:
        # RFC 6052: after a prefix of 48 bits, the address skips bits 64 to 71.
        yield IPv4Address((bits >> 64 & 0xFFFF) << 16 | bits >> 40 & 0xFFFF)
    elif address in _SIX_TO_FOUR:
        yield IPv4Address(bits >> 80 & 0xFFFFFFFF)
    elif address in _TEREDO:
        yield IPv4Address(bits >> 64 & 0xFFFFFFFF)
        yield IPv4Address(~bits & 0xFFFFFFFF)


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text.strip())
    except ValueError as error:
        raise ConfigError(f"allowed networks: {text!r} is not a network; {_suggestion(text)}") from error


def _suggestion(text: str) -> str:
    try:
        return f"did you mean {str(ip_network(text.strip(), strict=False))!r}?"
    except ValueError:
        return "write it like '10.1.0.0/16', '127.0.0.1' or 'fd12:3456::/32'"
