"""The only door to the network: connects to vetted public addresses, and to nothing else.

    httpcore2 pool -> connect_tcp(host, port) -> resolve once -> vet every address -> connect to one

The name is resolved here and the connection goes to the very address that was vetted, so an answer
that changes between check and use (DNS rebinding) gains nothing. TLS still verifies the certificate
against the name: httpcore2 takes that from the URL, not from the address. Redirects and robots.txt go
through the same door because they use the same pool.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Iterable, Sequence
from typing import Protocol

import httpcore2

from services.scraper.addresses import refusal

WEB_PORTS = frozenset({80, 443})
_MAX_ADDRESSES_TRIED = 3


class AddressRefused(Exception):
    """The connection was not made because it would leave the public web."""


class NameNotResolved(Exception):
    """The host name has no address."""


class Resolver(Protocol):
    """Names to addresses."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """All addresses of a host name, in order of preference.

        Raises:
            OSError: when the name cannot be resolved.
        """
        ...


class SystemResolver:
    """The operating system's resolver, asked on the event loop's thread pool."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """All addresses of a host name, in the system's order of preference."""
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """A network backend that vets each connection before the first packet.

    Args:
        resolver: asked once per connection.
        allowed_hosts: "host:port" pairs that may be anywhere, on any port.
        inner: what opens the socket; it is only ever given vetted addresses.
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
        """Connect to the first vetted address that answers.

        Raises:
            AddressRefused: the port or any of the addresses is out of bounds.
            NameNotResolved: there is no such host.
            httpcore2.ConnectError, httpcore2.ConnectTimeout: nobody answered.
        """
        addresses = await self._vetted(host, port, timeout)
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
        """Never: the web has no local sockets."""
        raise AddressRefused(f"local socket {path}")

    async def sleep(self, seconds: float) -> None:
        """Wait, for httpcore2's own retries."""
        await self._inner.sleep(seconds)

    async def _vetted(self, host: str, port: int, seconds: float | None) -> Sequence[str]:
        exempt = _authority(host, port) in self._allowed
        if not exempt and port not in WEB_PORTS:
            raise AddressRefused(f"port {port} is not a web port")
        addresses = await self._addresses(host, port, seconds)
        # One bad address condemns the name: mixing good and bad ones is how rebinding is done.
        for address in () if exempt else addresses:
            if (why := refusal(address)) is not None:
                raise AddressRefused(f"{host} leads to {why}" if host != address else why)
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
