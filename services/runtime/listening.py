"""Addresses that servers listen on: the error of one that cannot be bound, and which others can reach."""

import ipaddress


class CannotListen(OSError):
    """An address cannot be bound: its port is in use, or the machine does not have the address.

    Args:
        protocol: What was to be served there: "HTTP", "gRPC" or "metrics".
        address: The address as "host:port".
        reason: The operating system's error message.
    """

    def __init__(self, protocol: str, address: str, reason: str | None) -> None:
        super().__init__(f"cannot listen on {address} for {protocol}: {reason or 'no reason given'}")
        self.protocol = protocol


def is_loopback(host: str) -> bool:
    """Whether a host is this machine for programs on it.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("192.0.2.1"), is_loopback("a.example")
    (True, True, False, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
