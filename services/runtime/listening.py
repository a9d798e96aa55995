"""The error of a server that cannot start."""


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
