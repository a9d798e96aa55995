"""POST through the address guard: one signed event to one receiver, within seconds, without redirects."""

import asyncio
from datetime import UTC, datetime
from urllib.parse import urlsplit

import httpcore2

from nuggetstream.client.replies import retry_after
from nuggetstream.views.signatures import signature
from services.runtime.address_guard import AddressBlocked, GuardedBackend, NameNotResolved
from services.runtime.guarded_pool import GuardedClient
from services.store.access.webhooks import Webhook

SECONDS = 10.0  # from the connection to the end of the reply
_READ = 64 * 1024  # bytes of a reply, which is not used
_RESOLVED_WITHIN = 2.0  # seconds, when a webhook is added
_GONE = 410
_MAY_PASS = frozenset({408, 409, 425, 429})  # of the statuses from 400 to 499 those that ask to try again


class NotAccepted(Exception):
    """A receiver has not accepted an event; the message says why, without anything that it said.

    Attributes:
        wait: Seconds after which it asks to be tried again; None where it does not say.
        gone: Whether it wants no more events.
        rejects: Whether it answers that this event is at fault, so that further attempts seldom help.
    """

    def __init__(
        self, why: str, wait: float | None = None, *, gone: bool = False, rejects: bool = False
    ) -> None:
        super().__init__(why)
        self.wait, self.gone, self.rejects = wait, gone, rejects


class Sender(GuardedClient):
    """Sends events.

    Args:
        backend: Makes connections, to allowed addresses only.
        seconds: Time limit of one attempt.
    """

    def __init__(self, backend: GuardedBackend, seconds: float = SECONDS) -> None:
        # Without a limit: a receiver that holds its connections must not use up those of others.
        super().__init__(backend, most=None, kept=100)
        self._seconds = seconds
        self._backend = backend

    async def blocked(self, url: str) -> str | None:
        """Why events cannot be sent to a URL; None where they can, or where its name does not resolve now."""
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            await self._backend.checked_addresses(parts.hostname or "", port, _RESOLVED_WITHIN)
        except AddressBlocked as error:
            return f"blocked by the address guard: {error}"
        except (NameNotResolved, httpcore2.ConnectTimeout):
            pass  # the receiver may not be there yet
        return None

    async def send(self, webhook: Webhook, message_id: str, body: bytes) -> int:
        """Send one event; returns the status, which is a success.

        Raises:
            NotAccepted: The receiver does not answer, or answers with an error.
        """
        try:
            async with asyncio.timeout(self._seconds):
                response = await self._post(webhook, message_id, body)
        except AddressBlocked as error:
            raise NotAccepted(f"blocked by the address guard: {error}") from error
        except NameNotResolved as error:
            raise NotAccepted(str(error)) from error
        except (httpcore2.TimeoutException, TimeoutError) as error:
            raise NotAccepted(f"the receiver did not answer within {self._seconds:g} seconds") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
            raise NotAccepted(f"no connection: {str(error) or type(error).__name__}") from error
        if 200 <= response.status < 300:
            return response.status
        header = {name.lower(): value for name, value in response.headers}.get(b"retry-after")
        raise NotAccepted(
            f"the receiver answers {response.status}",
            None if header is None else retry_after(header.decode("latin-1")),
            gone=response.status == _GONE,
            rejects=400 <= response.status < 500 and response.status not in _MAY_PASS,
        )

    async def _post(self, webhook: Webhook, message_id: str, body: bytes) -> httpcore2.Response:
        request = _request(webhook, message_id, body)
        try:
            response = await self._pool.handle_async_request(request)
        except (httpcore2.RemoteProtocolError, httpcore2.ReadError, httpcore2.WriteError):
            # The receiver may have closed an idle connection. What arrives twice has the same id.
            response = await self._pool.handle_async_request(request)
        try:
            read = 0
            async for part in response.aiter_stream():
                read += len(part)
                if read > _READ:
                    break
        finally:
            await response.aclose()
        return response


def _request(webhook: Webhook, message_id: str, body: bytes) -> httpcore2.Request:
    now = datetime.now(UTC)
    timestamp = int(now.timestamp())
    # After a rotation, a receiver that has either secret accepts the event.
    signatures = [signature(secret, message_id, timestamp, body) for secret in webhook.secrets_at(now)]
    return httpcore2.Request(
        "POST",
        webhook.url,
        headers=[
            ("Host", urlsplit(webhook.url).netloc),
            ("User-Agent", "nuggetstream-webhooks"),
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
            ("webhook-id", message_id),
            ("webhook-timestamp", str(timestamp)),
            ("webhook-signature", " ".join(signatures)),
        ],
        content=body,
    )
