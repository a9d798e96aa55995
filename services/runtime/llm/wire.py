"""What we read of a chat completion: the parts of the OpenAI API's response that decide something.

The SDK's own models have every field of the API and cost more than the rest of the call; these are compiled
once and ignore what they do not name.
"""

from typing import Annotated, Any

from pydantic import AliasPath, BaseModel, Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from services.runtime.llm.decisions.logprobs import Token


def or_none(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    """None for a part that has another form; it says less than the reply, which was paid for."""
    try:
        return handler(value)
    except ValidationError:
        return None


class Message(BaseModel):
    """What the model said."""

    content: str | None = None
    refusal: str | None = None


class Logprobs(BaseModel):
    """The tokens of a reply with their probabilities."""

    content: list[Token] | None = None


class Choice(BaseModel):
    """One reply."""

    message: Message
    finish_reason: str | None = None
    logprobs: Annotated[Logprobs | None, WrapValidator(or_none)] = None

    @property
    def tokens(self) -> list[Token]:
        """The tokens of the reply, if the server tells them."""
        return (self.logprobs.content or []) if self.logprobs is not None else []


class Usage(BaseModel):
    """Tokens as the server counted them."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: Annotated[int | None, WrapValidator(or_none)] = Field(
        None, validation_alias=AliasPath("prompt_tokens_details", "cached_tokens")
    )
    """Input tokens that the server had in its cache."""


class ChatCompletion(BaseModel):
    """A chat completion with at least one choice."""

    choices: Annotated[list[Choice], Field(min_length=1)]
    model: str | None = None
    usage: Annotated[Usage | None, WrapValidator(or_none)] = None
