"""The files and batches of an OpenAI-compatible endpoint.

An endpoint that does not answer is asked again, with growing pauses and for as long as it takes: the calls
wait for hours anyway, and whoever watches is told why.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from typing import TypeVar

import openai
from openai.types import Batch

from services.runtime.llm.batches.lines import PATH, Result, read_results
from services.runtime.masking import KNOWN, masked_url

T = TypeVar("T")
Tell = Callable[[str], None]

ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_NAME = "nuggetstream"  # key of the metadata by which a batch is found
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 300.0
_NO_BATCHES = frozenset({400, 404, 405, 501})
_NOT_REPEATED = frozenset({400, 404, 409, 413, 422})
_NOT_FOUND = 404
_CLOCKS_DIFFER_S = 3600.0
_TELL_EVERY = 10  # polls without any change


class NoBatches(ValueError):
    """The endpoint has no batches, or rejects the key."""


class Rejected(Exception):
    """The endpoint does not accept what it was sent, or does not have what it was asked for."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class BatchAPI:
    """Creates batches and reads their results.

    Args:
        client: The SDK's client, with `max_retries=0`.
        poll_s: Seconds between two looks at a batch.
        tell: Is told what is waited for.

    Attributes:
        url: URL of the endpoint, without secrets.
    """

    def __init__(self, client: openai.AsyncOpenAI, poll_s: float, tell: Tell) -> None:
        self._client, self._poll_s, self._tell = client, poll_s, tell
        self.url = masked_url(str(client.base_url))

    async def check(self) -> None:
        """Check that the endpoint has batches.

        Raises:
            NoBatches: It has none, or does not answer.
        """
        try:
            await self._client.batches.list(limit=1)
        except openai.APIStatusError as error:
            if error.status_code in _NO_BATCHES:
                raise NoBatches(
                    f"{self.url} has no batches ({error.status_code}); run the command without --batch"
                ) from error
            raise NoBatches(f"{self.url} does not list its batches: {_said(error)}") from error
        except openai.APIError as error:
            raise NoBatches(f"{self.url} does not answer: {_said(error)}") from error

    async def create(self, name: str, created: float, content: bytes) -> str:
        """Upload requests as a batch with a name, and return its id.

        Raises:
            Rejected: The endpoint does not accept them.
        """
        sent = (_file_name(name), content, "application/jsonl")

        async def upload() -> str:
            if (batch := await self._uploaded(name, created)) is not None:  # an attempt whose reply was lost
                return batch
            return (await self._client.files.create(file=sent, purpose="batch")).id

        file_id = await self._repeated(upload, "uploading")
        return await self._repeated(lambda: self._begun(name, created, file_id), "creating a batch")

    async def find(self, name: str, created: float) -> str | None:
        """The id of the batch with a name, which begins now where only its requests had been uploaded.

        Args:
            name: The name.
            created: Unix time at which it was created, or later.

        Returns:
            None where the endpoint has neither batch nor requests, or does not take the requests.
        """

        async def find() -> str | None:
            file_id = await self._uploaded(name, created)
            if file_id is None:  # or the endpoint does not list files
                return await self._find(name, created)
            return await self._begun(name, created, file_id)

        try:
            return await self._repeated(find, "looking for a batch")
        except Rejected as rejected:
            self._tell(f"an earlier batch cannot be used, and its requests are uploaded again: {rejected}")
            return None

    async def ended(self, batch_id: str) -> Batch | None:
        """A batch once it has ended; None when the endpoint does not know it."""
        quiet, before = 0, (-1, "")
        while True:
            try:
                batch = await self._repeated(
                    lambda: self._client.batches.retrieve(batch_id), f"reading batch {batch_id}"
                )
            except Rejected as rejected:
                if rejected.status == _NOT_FOUND:
                    return None
                raise
            counts = batch.request_counts
            done = 0 if counts is None else counts.completed + counts.failed
            if batch.status in ENDED:
                self._tell(f"batch {batch_id} {batch.status} after {_age(batch)}: {_counted(batch)}")
                return batch
            quiet = 0 if before != (done, batch.status) else quiet + 1
            if quiet % _TELL_EVERY == 0:
                self._tell(f"batch {batch_id} {batch.status} for {_age(batch)}: {_counted(batch)}")
            before = done, batch.status
            await asyncio.sleep(self._poll_s)

    async def results(self, batch: Batch) -> dict[str, Result]:
        """The results of a batch that has ended, by name of the request."""
        results: dict[str, Result] = {}
        for file_id in filter(None, (batch.error_file_id, batch.output_file_id)):
            results |= dict(read_results(await self._content(file_id)))
        return results

    async def delete_files(self, batch_id: str) -> None:
        """Delete what was uploaded for a batch, and its results. What cannot be deleted is told."""
        try:
            batch = await self._client.batches.retrieve(batch_id)
            for file_id in filter(None, (batch.input_file_id, batch.output_file_id, batch.error_file_id)):
                with suppress(openai.NotFoundError):
                    await self._client.files.delete(file_id)
        except openai.APIError as error:
            self._tell(f"files of batch {batch_id} remain at the endpoint: {_said(error)}")

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _content(self, file_id: str) -> bytes:
        """The content of a file; empty where it was deleted, so that its requests have no result."""

        async def content() -> bytes:
            return (await self._client.files.content(file_id)).content

        try:
            return await self._repeated(content, "reading results")
        except Rejected as rejected:
            if rejected.status == _NOT_FOUND:
                return b""
            raise

    async def _begun(self, name: str, created: float, file_id: str) -> str:
        """The id of the batch of uploaded requests, which is created unless it exists."""
        if (existing := await self._find(name, created)) is not None:  # an attempt whose reply was lost
            return existing
        batch = await self._client.batches.create(
            input_file_id=file_id, endpoint=PATH, completion_window="24h", metadata={_NAME: name}
        )
        return batch.id

    async def _uploaded(self, name: str, created: float) -> str | None:
        """The id of the file with the requests of a batch; None where there is none, or no list of files."""
        try:
            async for file in self._client.files.list(purpose="batch", order="desc"):
                if file.filename == _file_name(name):
                    return file.id
                if file.created_at < created - _CLOCKS_DIFFER_S:
                    break
        except openai.APIStatusError as error:
            if error.status_code not in _NO_BATCHES:
                raise
        return None

    async def _find(self, name: str, created: float) -> str | None:
        async for batch in self._client.batches.list(limit=100):
            if (batch.metadata or {}).get(_NAME) == name:
                return batch.id
            if batch.created_at < created - _CLOCKS_DIFFER_S:  # the newest come first
                break
        return None

    async def _repeated(self, action: Callable[[], Awaitable[T]], what: str) -> T:
        pause = _FIRST_PAUSE_S
        while True:
            try:
                return await action()
            except openai.APIStatusError as error:
                if error.status_code in _NOT_REPEATED:
                    raise Rejected(error.status_code, _said(error)) from error
                problem = _said(error)
            except openai.APIError as error:
                problem = _said(error)
            self._tell(f"{what} failed and is repeated in {pause:g} s: {problem}")
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)


def _file_name(name: str) -> str:
    return f"{name}.jsonl"


def _said(error: openai.APIError) -> str:
    return KNOWN.redact(error.message)[:300]


def _age(batch: Batch) -> str:
    return str(timedelta(seconds=max(0, round(time.time() - batch.created_at))))


def _counted(batch: Batch) -> str:
    counts = batch.request_counts
    if counts is None:
        return "number of requests not told"
    return f"{counts.completed} of {counts.total} requests answered, {counts.failed} failed"
