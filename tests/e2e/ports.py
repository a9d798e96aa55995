"""Free ports for processes that must be told theirs beforehand.

They lie below those that systems give to outgoing connections, so that none takes one meanwhile.
"""

import random
import socket
from contextlib import ExitStack, suppress

_PORTS = range(10_000, 32_000)


def free_ports(count: int) -> list[int]:
    """Ports that were free a moment ago, all different."""
    found: list[int] = []
    with ExitStack() as stack:
        for port in random.sample(_PORTS, len(_PORTS)):
            if len(found) == count:
                break
            tried = stack.enter_context(socket.socket())
            with suppress(OSError):
                tried.bind(("127.0.0.1", port))
                found.append(port)
    return found
