"""The address guard: a network backend that connects only to public addresses.

    httpcore2 pool -> connect_tcp(host, port) -> resolve once -> check every address -> connect to one

The name is resolved here and the connection goes to the address that was checked, so DNS rebinding (an
answer that changes between check and use) has no effect. TLS still verifies the certificate against the
name, which httpcore2 takes from the URL. Redirects and robots.txt are guarded too, because they use the same
connection pool.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Iterable, Sequence
from typing import Protocol

import httpcore2

from services.runtime.public_addresses import why_forbidden

WEB_PORTS = frozenset({80, 443})
_MAX_ADDRESSES_TRIED = 3


class AddressBlocked(Exception):
    """The connection was not made, because the address or port does not belong to the public web."""


class NameNotResolved(Exception):
    """The host name has no address."""


class Resolver(Protocol):
    """Resolves host names."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """All addresses of a host name, in order of preference.

        Raises:
            OSError: The name cannot be resolved.
        """
        ...


class SystemResolver:
    """The operating system's resolver, called in the event loop's thread pool."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """All addresses of a host name, in the system's order of preference."""
        loop = asyncio.get_running_loop()
        entries = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """A network backend that checks each connection before it is made.

    Args:
        resolver: Resolves host names; called once per connection.
        allowed_hosts: "host:port" pairs that are exempt from the checks of address and port.
        inner: Backend that opens the socket, to checked addresses only.
    """

    def __init__(
        self,
        resolver: Resolver,
        allowed_hosts: Iterable[str] = (),
        inner: httpcore2.AsyncNetworkBackend | None = None,
    ) -> None:
        self._resolver = resolver
        self._allowed = frozenset(entry.lower() for entry in allowed_hosts)
        self._inner = inner or httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is httpcore2's
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first address that answers.

        Raises:
            AddressBlocked: The port or any of the addresses is forbidden.
            NameNotResolved: There is no such host.
            httpcore2.ConnectError: No address accepted the connection.
            httpcore2.ConnectTimeout: No address answered in time.
        """
        addresses = await self.checked_addresses(host, port, timeout)
        share = None if timeout is None else timeout / len(addresses)
        failure: Exception = httpcore2.ConnectError(f"no address for {host}")
        for address in addresses:
            try:
                return await self._inner.connect_tcp(address, port, share, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ARG002, ASYNC109 - the signature is httpcore2's
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,  # noqa: ARG002
    ) -> httpcore2.AsyncNetworkStream:
        """Raise AddressBlocked: local sockets are not on the web."""
        raise AddressBlocked(f"local socket {path}")

    async def sleep(self, seconds: float) -> None:
        """Wait; httpcore2 calls this between its own retries."""
        await self._inner.sleep(seconds)

    async def checked_addresses(self, host: str, port: int, seconds: float | None) -> Sequence[str]:
        """The addresses of a host to which connections are made.

        Raises:
            AddressBlocked, NameNotResolved, httpcore2.ConnectTimeout: As `connect_tcp`.
        """
        exempt = _authority(host, port) in self._allowed
        if not exempt and port not in WEB_PORTS:
            raise AddressBlocked(f"port {port} is not a web port")
        addresses = await self._addresses(host, port, seconds)
        # One forbidden address is enough to block the name: rebinding attacks mix good and bad addresses.
        for address in () if exempt else addresses:
            if (why := why_forbidden(address)) is not None:
                raise AddressBlocked(f"{host} resolves to {why}" if host != address else why)
        return addresses[:_MAX_ADDRESSES_TRIED]

    async def _addresses(self, host: str, port: int, seconds: float | None) -> Sequence[str]:
        if _is_literal(host):
            return [host]
        try:
            async with asyncio.timeout(seconds):
                addresses = await self._resolver.resolve(host, port)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(f"resolving {host} took too long") from error
        except (OSError, UnicodeError) as error:
            raise NameNotResolved(f"{host} does not resolve: {error}") from error
        if not addresses:
            raise NameNotResolved(f"{host} has no address")
        return addresses


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
