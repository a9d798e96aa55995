"""Which IP addresses belong to the public web. Pure.

A URL that others give must never make a service connect to any other address: this host, private networks,
link-local addresses, cloud metadata, multicast or reserved blocks.

The list of the interpreter depends on its version, so IANA's registries of special-purpose addresses are in
`special_purpose.csv`, with their date and source. No website is in any of their blocks, also not in those
that are globally reachable, so all are forbidden; what the interpreter knows beyond them is forbidden too.
"""

import csv
import ipaddress
import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from importlib.resources import files
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

_GLOBAL_UNICAST = IPv6Network("2000::/3")  # all that IANA has allocated for hosts
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_V4_COMPATIBLE = ipaddress.IPv6Network("::/96")
# In the public ranges, but an endpoint of a platform: Azure's host agent.
_PLATFORM_ENDPOINTS = frozenset({IPv4Address("168.63.129.16")})


def why_forbidden(address: str) -> str | None:
    """Why an address must not be connected to, or None when it is public.

    For an IPv6 address that contains an IPv4 address (mapped, compatible, 6to4, NAT64), the IPv4 address
    is checked.

    Args:
        address: IPv4 or IPv6 address as text.

    >>> why_forbidden("93.184.216.34") is None
    True
    >>> why_forbidden("::ffff:127.0.0.1")
    '127.0.0.1 is a loopback address'
    """
    try:
        inner = _unwrapped(ipaddress.ip_address(address))
    except ValueError:
        return f"{address!r} is not an IP address"
    kind = _kind(inner)
    return None if kind is None else f"{inner} is {kind}"


@cache
def special_purpose() -> Mapping[IPv4Network | IPv6Network, str]:
    """The blocks of IANA's registries of special-purpose addresses, with their names.

    Raises:
        ValueError: A row of the file is not a block.
    """
    text = _registries()
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return {ipaddress.ip_network(row["block"]): row["name"] for row in rows}


def registries_of() -> date:
    """The date of the registries in `special_purpose.csv`."""
    return date.fromisoformat(re.findall(r"^# as of: (.+)$", _registries(), re.MULTILINE)[0])


def _registries() -> str:
    return files("services.runtime").joinpath("special_purpose.csv").read_text(encoding="utf-8")


def _unwrapped(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    if isinstance(address, IPv4Address):
        return address
    if (inner := address.ipv4_mapped or address.sixtofour) is not None:
        return inner
    compatible = address in _V4_COMPATIBLE and int(address) > 1  # :: and ::1 contain no IPv4 address
    if compatible or address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _kind(address: IPv4Address | IPv6Address) -> str | None:
    named = {
        "a loopback address": address.is_loopback,
        "a link-local address": address.is_link_local,
        "a multicast address": address.is_multicast,
        "an unspecified address": address.is_unspecified,
        "a site-local address": isinstance(address, IPv6Address) and address.is_site_local,
        "a private address": address.is_private,
        "a reserved address": address.is_reserved,
        "a cloud platform's endpoint": address in _PLATFORM_ENDPOINTS,
        "not a global address": not address.is_global,
        "not a global unicast address": isinstance(address, IPv6Address) and address not in _GLOBAL_UNICAST,
    }
    return next((kind for kind, holds in named.items() if holds), None) or _special(address)


def _special(address: IPv4Address | IPv6Address) -> str | None:
    """The most specific block that contains an address; None when it is in none."""
    blocks = [block for block in special_purpose() if address in block]
    if not blocks:
        return None
    block = max(blocks, key=lambda block: block.prefixlen)
    return f"in {block} ({special_purpose()[block]})"
