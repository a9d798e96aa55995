"""What a compatible endpoint understands, learnt from its refusals.

"OpenAI-compatible" is a family: some servers have no structured outputs, reasoning models want
`max_completion_tokens` and allow no temperature. A 400 that names the parameter teaches us, once.
"""

import json
from dataclasses import dataclass, replace
from typing import Any

from services.runtime.llm.prompt import Message


@dataclass(frozen=True, slots=True)
class Question:
    """One request, before it is put in an endpoint's words."""

    messages: list[Message]
    task: str
    schema: dict[str, object]
    max_tokens: int
    temperature: float

    @property
    def text(self) -> str:
        """All words of it, for estimates."""
        return "\n".join(message["content"] for message in self.messages)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How to put a question to one endpoint.

    Attributes:
        structured: it takes a JSON schema and keeps to it.
        limit_name: what it calls the longest reply.
        temperature: it lets us choose one.
    """

    structured: bool = True
    limit_name: str = "max_tokens"
    temperature: bool = True

    def parameters(self, question: Question) -> dict[str, Any]:
        """The request's parameters besides the model."""
        found: dict[str, Any] = {"messages": question.messages, self.limit_name: question.max_tokens}
        if self.temperature:
            found["temperature"] = question.temperature
        if self.structured:
            schema = {"name": question.task, "schema": question.schema, "strict": True}
            found["response_format"] = {"type": "json_schema", "json_schema": schema}
        else:
            found["messages"] = _with_schema(question)
        return found

    def learn(self, refusal: str) -> "Dialect | None":
        """What to try after a 400 with this text. None when it is not about the way we speak.

        Every lesson is learnt once and none is unlearnt, so asking again comes to an end.
        """
        text = refusal.lower()
        if self.structured and any(
            word in text for word in ("response_format", "json_schema", "structured output")
        ):
            return replace(self, structured=False)
        if self.limit_name == "max_tokens" and "max_completion_tokens" in text:
            return replace(self, limit_name="max_completion_tokens")
        if self.temperature and "temperature" in text:
            return replace(self, temperature=False)
        return None


def _with_schema(question: Question) -> list[Message]:
    """Without structured outputs the schema has to be said in words, at the end of the system text."""
    system, *rest = question.messages
    said = f"{system['content']}\n\nThe JSON schema of the reply:\n{json.dumps(question.schema)}"
    return [{"role": "system", "content": said}, *rest]
