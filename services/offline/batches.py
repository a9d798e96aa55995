"""Files and batches, as the OpenAI API has them.

    POST /v1/files       GET /v1/files      GET /v1/files/ID/content    DELETE /v1/files/ID
    POST /v1/batches     GET /v1/batches    GET /v1/batches/ID

Everything is in memory. The lines of a batch are answered as single requests are, with their faults.
"""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from services.offline.errors import api_error
from services.offline.faults import Faults
from services.runtime.llm.prices import estimate_tokens

Answer = Callable[[bytes], Awaitable[Response]]
_Line = dict[str, Any]
_GIVEN = ("endpoint", "completion_window", "input_file_id", "metadata")
_LATE = "the window of the batch is over"


class BatchServer:
    """The handlers of files and batches.

    Args:
        faults: How long batches take, and how many fail.
        answer: Answers the body of one request.
    """

    def __init__(self, faults: Faults, answer: Answer) -> None:
        self._faults, self._answer = faults, answer
        self._files: dict[str, bytes] = {}
        self._listed: dict[str, dict[str, Any]] = {}  # what is told of each file
        self._batches: dict[str, dict[str, Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._enqueued: Counter[str] = Counter()  # tokens of the batches in progress

    def routes(self) -> list[Route]:
        """The paths."""
        return [
            Route("/v1/files", self.upload, methods=["POST"]),
            Route("/v1/files", self.list_files),
            Route("/v1/files/{id}", self.delete, methods=["DELETE"]),
            Route("/v1/files/{id}/content", self.content),
            Route("/v1/batches", self.create, methods=["POST"]),
            Route("/v1/batches", self.list),
            Route("/v1/batches/{id}", self.retrieve),
        ]

    async def upload(self, request: Request) -> Response:
        """Store a file."""
        head = f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode()
        message = BytesParser(policy=HTTP).parsebytes(head + await request.body())
        parts = {part.get_param("name", header="content-disposition"): part for part in message.iter_parts()}
        if "file" not in parts or parts["purpose"].get_payload() != "batch":
            return api_error(400, "a file with the purpose batch is required", param="purpose")
        content = parts["file"].get_payload(decode=True)
        return JSONResponse(self._file(bytes(content), "batch", parts["file"].get_filename()))

    async def list_files(self, request: Request) -> Response:
        """The files with a purpose, the newest first; all of them on one page."""
        purpose = request.query_params.get("purpose")
        rows = [row for row in reversed(self._listed.values()) if purpose in (None, row["purpose"])]
        return JSONResponse({"object": "list", "data": rows, "has_more": False})

    async def content(self, request: Request) -> Response:
        """The content of a file."""
        content = self._files.get(request.path_params["id"])
        return api_error(404, "no such file") if content is None else Response(content)

    async def delete(self, request: Request) -> Response:
        """Delete a file."""
        name = request.path_params["id"]
        if self._files.pop(name, None) is None:
            return api_error(404, "no such file")
        del self._listed[name]
        return JSONResponse({"id": name, "object": "file", "deleted": True})

    async def create(self, request: Request) -> Response:
        """Begin a batch."""
        asked = await request.json()
        if asked.get("input_file_id") not in self._files:
            return api_error(400, "no such input file", param="input_file_id")
        if asked.get("endpoint") != "/v1/chat/completions" or asked.get("completion_window") != "24h":
            return api_error(400, "there are batches of chat completions within 24h")
        number = len(self._batches)
        batch = {
            "id": f"batch_{number}",
            "object": "batch",
            "status": "validating",
            "created_at": int(time.time()),
            "request_counts": {"total": 0, "completed": 0, "failed": 0},
            **{name: asked.get(name) for name in _GIVEN},
        }
        self._batches[batch["id"]] = batch
        rng = random.Random(f"{self._faults.seed} batch {number}")  # noqa: S311 - a simulation
        task = asyncio.create_task(self._work(batch, rng))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return JSONResponse(batch)

    async def list(self, request: Request) -> Response:
        """The batches, the newest first; all of them on one page."""
        limit = int(request.query_params.get("limit", "100"))
        rows = list(reversed(self._batches.values()))[:limit]
        return JSONResponse({"object": "list", "data": rows, "has_more": False})

    async def retrieve(self, request: Request) -> Response:
        """One batch."""
        batch = self._batches.get(request.path_params["id"])
        return api_error(404, "no such batch") if batch is None else JSONResponse(batch)

    async def _work(self, batch: dict[str, Any], rng: random.Random) -> None:
        content = self._files[batch["input_file_id"]]
        lines = [json.loads(line) for line in content.splitlines()]
        batch["request_counts"]["total"] = len(lines)
        drawn, limit = rng.random(), self._faults.batch_tokens
        tokens = estimate_tokens(content.decode())
        if drawn < self._faults.batch_failed:
            self._fail(batch, "server_error", "the batch cannot be processed now")
        elif limit is not None and self._enqueued.total() + tokens > limit:
            self._fail(batch, "token_limit_exceeded", f"no more than {limit} tokens may be in progress")
        else:
            batch["status"], self._enqueued[batch["id"]] = "in_progress", tokens
            expires = drawn < self._faults.batch_failed + self._faults.batch_expired
            done = lines[: len(lines) // 2] if expires else lines
            paused = asyncio.sleep(self._faults.batch_s * rng.uniform(2 / 3, 4 / 3))
            results, _ = await asyncio.gather(self._answered(batch, done), paused)
            late = [_error_line(line, "batch_expired", _LATE) for line in lines[len(done) :]]
            self._end(batch, "expired" if expires else "completed", [*results, *late])
        del self._enqueued[batch["id"]]

    async def _answered(self, batch: dict[str, Any], lines: Sequence[_Line]) -> Sequence[_Line]:
        async def one(line: _Line) -> _Line:
            response = await self._answer(json.dumps(line["body"]).encode())
            batch["request_counts"]["completed" if response.status_code == 200 else "failed"] += 1
            if not isinstance(response, JSONResponse):  # a connection that breaks
                return _error_line(line, "server_error", "no response")
            body = json.loads(bytes(response.body))
            response_of_line = {
                "status_code": response.status_code,
                "request_id": line["custom_id"],
                "body": body,
            }
            return {
                "id": line["custom_id"],
                "custom_id": line["custom_id"],
                "response": response_of_line,
                "error": None,
            }

        return await asyncio.gather(*map(one, lines))

    def _fail(self, batch: dict[str, Any], code: str, message: str) -> None:
        error = {"code": code, "message": message, "line": None, "param": None}
        batch |= {"status": "failed", "errors": {"object": "list", "data": [error]}}

    def _end(self, batch: dict[str, Any], status: str, results: Sequence[_Line]) -> None:
        good = [row for row in results if row["response"] and row["response"]["status_code"] == 200]
        taken = set(map(id, good))
        bad = [row for row in results if id(row) not in taken]
        for name, rows in (("output_file_id", good), ("error_file_id", bad)):
            if rows:
                content = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
                batch[name] = self._file(content, "batch_output")["id"]
        batch["status"] = status

    def _file(self, content: bytes, purpose: str, filename: str | None = None) -> dict[str, Any]:
        name = f"file-{purpose}-{len(self._files)}-{time.monotonic_ns()}"
        self._files[name] = content
        self._listed[name] = {
            "id": name, "object": "file", "bytes": len(content), "created_at": int(time.time()),
            "filename": filename or f"{name}.jsonl", "purpose": purpose, "status": "processed",
        }  # fmt: skip
        return self._listed[name]


def _error_line(line: _Line, code: str, message: str) -> _Line:
    error = {"code": code, "message": message}
    return {"id": line["custom_id"], "custom_id": line["custom_id"], "response": None, "error": error}
