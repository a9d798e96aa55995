"""What the offline model reads of the requests that it gets."""

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

_TASK_LINE = re.compile(r"^task: ([a-z_]+)$", re.MULTILINE)


class ChatMessage(BaseModel):
    """One message of the conversation."""

    role: str
    content: str


class _Conversation(BaseModel):
    messages: list[ChatMessage]

    def first_message(self, role: str) -> str:
        """The first message of a role. A repair request adds another one, without the material."""
        return next((message.content for message in self.messages if message.role == role), "")

    @property
    def task(self) -> str:
        """The task that the system text names."""
        task_line = _TASK_LINE.search(self.first_message("system"))
        return task_line[1] if task_line else ""

    @property
    def text(self) -> str:
        """The prompt as a provider's prompt cache compares it."""
        return "\n".join(f"{message.role}\n{message.content}" for message in self.messages)


class ChatRequest(_Conversation):
    """The fields of a chat completion request that are used; others are ignored."""

    response_format: dict[str, Any] | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    temperature: float | None = None
    reasoning_effort: str | None = None
    stream: bool = False
    stream_options: dict[str, Any] | None = None
    logprobs: bool = False

    @property
    def task(self) -> str:
        """The task: the name of the schema, else that of the system text."""
        schema = (self.response_format or {}).get("json_schema") or {}
        name = schema.get("name")
        return super().task if name is None else str(name)

    @property
    def counts_stream(self) -> bool:
        """Whether the last part of a streamed reply has the tokens."""
        return bool((self.stream_options or {}).get("include_usage"))

    @property
    def limit(self) -> int | None:
        """Maximum length of the reply in tokens."""
        return self.max_completion_tokens or self.max_tokens


class DecisionChoice(BaseModel):
    """One possible answer."""

    value: str
    description: str = ""


class DecisionQuestion(BaseModel):
    """One question about the input."""

    type: Literal["choice"]
    name: str
    instructions: str
    choices: list[DecisionChoice]


class DecisionRequest(_Conversation):
    """The fields of a decision request that are used."""

    messages: list[ChatMessage] = Field(alias="input")
    questions: Annotated[list[DecisionQuestion], Field(min_length=1, max_length=400)]


class EmbeddingRequest(BaseModel):
    """The fields of an embeddings request that are used."""

    input: str | list[str]
    encoding_format: Literal["float", "base64"] = "float"

    @property
    def texts(self) -> list[str]:
        """The texts to embed, in order."""
        return [self.input] if isinstance(self.input, str) else self.input
