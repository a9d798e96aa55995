"""The agent `http`: somebody's own system behind an OpenAI-compatible endpoint for chat completions.

    {model, messages: [the query]}  ->  choices[0].message.content, and sources where the reply has any

Sources are looked for in the reply and in its message, under the names that search APIs use. A source is a
URL or an id, or an object with one of them and perhaps its text.
"""

import asyncio
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nuggetstream.domain.failure import Reason
from nuggetstream.domain.identity import derived_id
from services.cli.tournament.agents import Answered, Asked
from services.runtime.errors import ModelOutage, Permanent
from services.runtime.llm.attempts import Failures
from services.runtime.llm.call_failed import CallFailed
from services.runtime.llm.exchange import Exchange
from services.runtime.llm.prices import Tokens
from services.runtime.llm.retries import RetryPolicy

_SOURCES = ("sources", "search_results", "references", "documents", "citations")
_NAMES = ("url", "docid", "doc_id", "id", "title")
_TEXTS = ("text", "content", "snippet")
_MOST = 100  # sources that a battle can have


@dataclass(slots=True)
class HttpAgent:
    """Asks a system.

    Attributes:
        exchange: The endpoint.
        model: Name of the model to ask for.
        retries: How often a call is repeated.
        patience_s: Seconds that a query waits while the system is away.
        at_once: Limits how many queries it is asked at once.
    """

    exchange: Exchange
    model: str
    retries: RetryPolicy
    patience_s: float
    at_once: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(32))
    _rng: random.Random = field(default_factory=random.Random)

    def key_of(self, query: str) -> str:  # noqa: ARG002 - the same for all queries
        """The system: its URL and model."""
        return derived_id("http", self.exchange.url, self.model)

    async def answer(self, asked: Asked) -> Answered:
        """Ask the system; see `Agent.answer`."""
        body = {"model": self.model, "messages": [{"role": "user", "content": asked.text}]}
        failures = Failures(self.retries, self._rng)
        while True:
            try:
                async with self.at_once:
                    response = await self.exchange.post("/chat/completions", body, Tokens)
                return _answered(response.json())
            except CallFailed as failed:
                wait = failures.wait(failed)
                if wait is None and failed.cause is None:
                    raise failed.error from failed
                if wait is None:
                    reason, detail, message = (
                        failed.error.reason,
                        failed.error.detail,
                        failed.error.admin_detail,
                    )
                    raise ModelOutage(
                        reason, detail, failed.retry_after, patience=self.patience_s, admin_detail=message
                    ) from failed
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                detail = "the reply of the system is no chat completion with a text"
                raise Permanent(Reason.REPLY_UNUSABLE, detail, admin_detail=repr(error)) from error
            await asyncio.sleep(wait)


def _answered(reply: Any) -> Answered:
    """The answer in a reply.

    Raises:
        ValueError, LookupError, TypeError, AttributeError: It has none.
    """
    message = reply["choices"][0]["message"]
    text = message["content"]
    if not text.strip():
        raise ValueError("an empty text")
    sources = sources_of(reply, message)
    usage = reply.get("usage") or {}
    asked, written = usage.get("prompt_tokens"), usage.get("completion_tokens")
    return Answered(
        text=text.strip(),
        references=tuple(sources),
        texts={name: said for name, said in sources.items() if said is not None},
        ranking=tuple(sources) or None,
        model=str(reply.get("model") or "") or None,
        tokens=(asked, written) if isinstance(asked, int) and isinstance(written, int) else None,
    )


def sources_of(*places: Mapping[str, Any]) -> dict[str, str | None]:
    """Sources by name with their texts, where they tell any, of the last place that has any."""
    return dict(list(_sources(*places))[:_MOST])


def _sources(*places: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Names and texts of the sources, from the first place and name that has any."""
    lists = (level.get(name) for name in _SOURCES for level in reversed(places))
    for source in next((candidate for candidate in lists if isinstance(candidate, list) and candidate), []):
        if isinstance(source, str):
            yield source, None
        elif isinstance(source, Mapping):
            named = next((source[name] for name in _NAMES if isinstance(source.get(name), str)), None)
            if named:
                yield (
                    named,
                    next((source[name] for name in _TEXTS if isinstance(source.get(name), str)), None),
                )
