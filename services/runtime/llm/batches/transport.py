"""The transport of calls that wait for a batch, and all queues of a run."""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from services.runtime.llm.batches.api import BatchAPI, Tell
from services.runtime.llm.batches.queue import BatchQueue
from services.runtime.llm.batches.records import Records
from services.runtime.llm.sdk import sdk_of
from services.runtime.llm.settings import LLMSettings
from services.runtime.masking import masked_url

_EXCHANGE_S = 600.0  # for an upload or a download


class Batches:
    """The queues of a run: one for each model of an endpoint.

    Args:
        folder: Folder for the records.
        tell: Is told what is uploaded and waited for.
        quiet_s: Seconds without a further call after which those that wait are uploaded.
        poll_s: Seconds between two looks at a batch.
    """

    def __init__(self, folder: Path, tell: Tell, quiet_s: float = 30.0, poll_s: float = 60.0) -> None:
        self._records, self._tell = Records(folder), tell
        self._quiet_s, self._poll_s = quiet_s, poll_s
        self._apis: dict[tuple[str, str | None], BatchAPI] = {}
        self._queues: dict[tuple[BatchAPI, str], BatchQueue] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._group: asyncio.TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Upload and poll for the duration of the block. What is in progress then goes on at the endpoint."""
        try:
            async with asyncio.TaskGroup() as self._group:
                try:
                    yield
                finally:
                    for task in self._tasks:
                        task.cancel()
        finally:
            for api in self._apis.values():
                await api.close()

    async def check(self, settings: LLMSettings) -> None:
        """Check that the endpoints of the settings have batches.

        Raises:
            NoBatches: One has none, or does not answer.
        """
        for stage_settings in (settings, *(settings.for_stage(name) for name in settings.stages)):
            await self._api(stage_settings).check()

    def http(self, settings: LLMSettings) -> httpx2.AsyncClient:
        """An HTTP client whose chat completions wait for a batch at the endpoint of the settings."""
        return httpx2.AsyncClient(transport=_Transport(self, self._api(settings)))

    async def answered(self, api: BatchAPI, body: bytes) -> httpx2.Response:
        """The response to a chat completion request."""
        model = str(json.loads(body)["model"])
        if (api, model) not in self._queues:
            self._queues[api, model] = BatchQueue(
                api, model, self._records, quiet_s=self._quiet_s, start=self._start, tell=self._tell
            )
        result = await self._queues[api, model].answer(body)
        headers = {"content-type": "application/json"}
        return httpx2.Response(result.status or 500, content=result.body, headers=headers)

    async def finish(self) -> None:
        """Delete the records, and the files at the endpoints: nothing waits for a batch any more."""
        apis = {api.url: api for api in self._apis.values()}
        for record in self._records.read():
            if record.batch is not None and record.endpoint in apis:
                await apis[record.endpoint].delete_files(record.batch)
            self._records.remove(record)

    def _api(self, settings: LLMSettings) -> BatchAPI:
        key = settings.api_key.get_secret_value() if settings.api_key else None
        if (settings.url, key) not in self._apis:
            client = sdk_of(settings, None, _EXCHANGE_S)
            self._apis[settings.url, key] = BatchAPI(client, self._poll_s, self._tell)
        return self._apis[settings.url, key]

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        if self._group is None:
            raise RuntimeError("batches are not running")
        task = self._group.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class _Transport(httpx2.AsyncBaseTransport):
    """Sends chat completions to a queue. There are no other paths, so decisions are asked by chat."""

    def __init__(self, batches: Batches, api: BatchAPI) -> None:
        self._batches, self._api = batches, api

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if not request.url.path.endswith("/chat/completions"):
            body = {"error": {"message": f"no batches at {masked_url(request.url.path)}", "code": None}}
            return httpx2.Response(404, json=body)
        return await self._batches.answered(self._api, await request.aread())
