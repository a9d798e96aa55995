"""The lines of batch files: what is uploaded, and how results are read."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import AliasPath, BaseModel, Field, ValidationError

PATH: Literal["/v1/chat/completions"] = "/v1/chat/completions"
FAILED = "batch_failed"  # code of the error for a call that no batch answered
_FAILED_STATUS = 424
_ANSWERS = frozenset({200, 400, 413, 422})  # statuses that a repetition would not change


@dataclass(frozen=True, slots=True)
class Result:
    """What a batch says about one request.

    Attributes:
        status: HTTP status of the response; None where there is none.
        body: The response, or what prevented it, as JSON.
    """

    status: int | None
    body: bytes

    @property
    def is_answer(self) -> bool:
        """Whether the request was answered, so that it is not repeated."""
        return self.status in _ANSWERS

    @property
    def problem(self) -> str:
        """What is wrong, for an operator."""
        text = self.body.decode("utf-8", "replace")[:300]
        return text if self.status is None else f"{self.status} {text}"


def failed(why: str) -> Result:
    """The result of a request that is not repeated any more."""
    error = {"message": why, "type": "batch_error", "param": None, "code": FAILED}
    return Result(_FAILED_STATUS, json.dumps({"error": error}).encode())


def digest_of(body: bytes) -> str:
    """What identifies a request: equal requests of any process have the same."""
    return hashlib.sha256(body).hexdigest()[:40]


def request_line(name: str, body: bytes) -> bytes:
    """The line of one request in an input file."""
    line = {"custom_id": name, "method": "POST", "url": PATH, "body": json.loads(body)}
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def read_results(content: bytes) -> Iterator[tuple[str, Result]]:
    """Names and results in an output or error file. A line that cannot be read says nothing."""
    for line in content.splitlines():
        try:
            read = _Line.model_validate_json(line)
        except ValidationError:
            continue
        said = read.error if read.status is None else read.body
        yield read.custom_id, Result(read.status, json.dumps(said).encode())


class _Line(BaseModel):
    custom_id: str
    status: int | None = Field(None, validation_alias=AliasPath("response", "status_code"))
    body: Any = Field(None, validation_alias=AliasPath("response", "body"))
    error: Any = None
