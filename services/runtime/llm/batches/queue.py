"""The calls of one model that wait for a batch.

    asked ──(quiet for a while, or as many as a batch takes)──> uploaded ──> answered
                                       expired, or a single line failed ──> asked again, in a later batch

Calls that come while a batch is in progress become the next batch; several may be in progress at once.
"""

import asyncio
import itertools
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from openai.types import Batch

from services.runtime.llm.batches.api import BatchAPI, Rejected, Tell
from services.runtime.llm.batches.lines import Result, digest_of, failed, request_line
from services.runtime.llm.batches.records import Record, Records
from services.runtime.masking import KNOWN

Start = Callable[[Coroutine[Any, Any, None]], object]

_LIMIT_BYTES = 150_000_000  # OpenAI accepts 200 MB
_LIMIT_REQUESTS = 50_000
_BATCHES = 3  # that a request may be part of without being answered
_LONGEST_WAIT = 10  # quiet times after which requests are uploaded although more are coming
_TOKEN_LIMIT = "token_limit_exceeded"  # noqa: S105 - no secret
_TURN_S = 1.0


@dataclass(slots=True)
class _Asked:
    """A call that waits for its result."""

    body: bytes
    result: asyncio.Future[Result]
    batches: int = 0


class BatchQueue:
    """Answers calls to one model by batches.

    Args:
        api: The endpoint.
        model: The model.
        records: Records of the batches on disk.
        quiet_s: Seconds without a further call after which those that wait are uploaded.
        start: Starts a task.
        tell: Is told what is uploaded.
    """

    def __init__(
        self, api: BatchAPI, model: str, records: Records, *, quiet_s: float, start: Start, tell: Tell
    ) -> None:
        self._api, self._model, self._records = api, model, records
        self._quiet_s, self._start, self._tell = quiet_s, start, tell
        own = [stored for stored in records.read() if (stored.endpoint, stored.model) == (api.url, model)]
        self._uploaded = {name: record for record in own for name in record.requests}
        self._asked: dict[str, _Asked] = {}
        self._answered: set[str] = set()
        self._queued: dict[str, None] = {}
        self._last_at = 0.0
        self._collects = False
        self._following: set[str] = set()
        self._most = _LIMIT_REQUESTS
        self._one_at_a_time = False

    async def answer(self, body: bytes) -> Result:
        """The response to a request, when its batch has ended.

        A request that an earlier process has uploaded is not uploaded again. Equal requests are told apart by
        a number, so that a repetition after a useless reply is a request of its own.
        """
        name = self._name_of(body)
        asked = self._asked[name] = _Asked(body, asyncio.get_running_loop().create_future())
        if (record := self._uploaded.get(name)) is not None:
            self._follow(record)
        else:
            self._enqueue(name)
        try:
            result = await asked.result
        finally:
            del self._asked[name]
        self._answered.add(name)
        return result

    def _name_of(self, body: bytes) -> str:
        digest = digest_of(body)
        names = (f"{digest}-{number}" for number in itertools.count())
        return next(name for name in names if name not in self._answered and name not in self._asked)

    def _enqueue(self, name: str) -> None:
        self._queued[name] = None
        self._last_at = asyncio.get_running_loop().time()
        if not self._collects:
            self._collects = True
            self._start(self._collect())

    async def _collect(self) -> None:
        """Upload what waits, batch after batch."""
        try:
            while self._queued:
                await self._until_quiet()
                while self._one_at_a_time and self._following:
                    await asyncio.sleep(min(_TURN_S, self._quiet_s))
                if names := self._next():
                    await self._upload(names)
        finally:
            self._collects = False

    async def _until_quiet(self) -> None:
        clock = asyncio.get_running_loop().time
        latest = clock() + _LONGEST_WAIT * self._quiet_s
        while len(self._queued) < self._most:
            until = min(self._last_at + self._quiet_s, latest)
            if clock() >= until:
                return
            await asyncio.sleep(until - clock())

    def _next(self) -> list[str]:
        """Take the requests of the next batch; those that nobody waits for any more are dropped."""
        names: list[str] = []
        size = 0
        for name in list(self._queued):
            if (asked := self._asked.get(name)) is not None:
                size += len(asked.body)
                if names and (len(names) >= self._most or size > _LIMIT_BYTES):
                    break
                names.append(name)
            del self._queued[name]
        return names

    async def _upload(self, names: Sequence[str]) -> None:
        record = Record(endpoint=self._api.url, model=self._model, requests=names)
        content = b"".join(request_line(name, self._asked[name].body) for name in names)
        self._records.save(record)
        self._uploaded |= dict.fromkeys(names, record)
        try:
            record.batch = await self._api.create(record.name, record.created, content)
        except Rejected as rejected:
            self._records.remove(record)
            self._settle(record, {}, f"the endpoint does not accept the batch: {rejected}")
            return
        self._records.save(record)
        self._tell(f"batch {record.batch}: {len(names)} requests to {self._model} uploaded")
        self._follow(record)

    def _follow(self, record: Record) -> None:
        if record.name not in self._following:
            self._following.add(record.name)
            self._start(self._followed(record))

    async def _followed(self, record: Record) -> None:
        """Wait for a batch and pass its results on."""
        if record.batch is None:  # the process was killed before it knew the id
            record.batch = await self._api.find(record.name, record.created)
            if record.batch is not None:
                self._records.save(record)
        batch = None if record.batch is None else await self._api.ended(record.batch)
        results = {} if batch is None else await self._api.results(batch)
        self._following.discard(record.name)
        if batch is None:
            self._records.remove(record)
            self._settle(record, results, "the batch does not exist", counts=False)
        elif _is_too_large(batch) and len(record.requests) > 1:
            self._most, self._one_at_a_time = len(record.requests) // 2, True
            self._tell(f"the endpoint takes smaller batches only: {self._most} requests, one after another")
            self._settle(record, results, "the batch was too large", counts=False)
        else:
            self._settle(record, results, _reason(batch))

    def _settle(self, record: Record, results: dict[str, Result], why: str, *, counts: bool = True) -> None:
        """Answer the calls of a batch; those without an answer go into a later one."""
        for name in record.requests:
            asked, result = self._asked.get(name), results.get(name)
            if result is not None and result.is_answer:
                if asked is not None and not asked.result.done():
                    asked.result.set_result(result)
                continue
            if self._uploaded.get(name) is record:
                del self._uploaded[name]
            if asked is None or asked.result.done():
                continue
            asked.batches += counts
            if asked.batches < _BATCHES:
                self._enqueue(name)
            else:
                problem = KNOWN.redact(why if result is None else result.problem)
                asked.result.set_result(failed(f"not answered in {_BATCHES} batches; the last: {problem}"))


def _is_too_large(batch: Batch) -> bool:
    data = batch.errors.data if batch.errors is not None else None
    return batch.status == "failed" and any(error.code == _TOKEN_LIMIT for error in data or ())


def _reason(batch: Batch) -> str:
    data = batch.errors.data if batch.errors is not None else None
    messages = "; ".join(f"{error.code}: {error.message}" for error in (data or ())[:3])
    return f"batch {batch.id} {batch.status}{f' ({messages})' if messages else ''}"
