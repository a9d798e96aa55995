"""Why a server did not start."""


class CannotListen(OSError):
    """An address cannot be bound: its port is taken, or it is not one of this machine.

    Args:
        what: is served there: "HTTP", "gRPC" or "metrics".
        address: "host:port".
        why: in the words of the system.
    """

    def __init__(self, what: str, address: str, why: str | None) -> None:
        super().__init__(f"cannot listen on {address} for {what}: {why or 'no reason given'}")
        self.what = what
