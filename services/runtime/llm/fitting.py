"""Prompts that fit into the context of a model, as far as leaving out passages makes them.

A local server often has room for 4,096 tokens, which is less than the evidence of many battles. The passages
that are least useful are left out; the version of the prompt says how many were.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from nuggetstream.domain.failure import Reason
from services.runtime.errors import Permanent
from services.runtime.llm.model import Reply
from services.runtime.llm.prices import estimate_tokens
from services.runtime.llm.prompt import Prompt, R

_REPLY_SHARE = 0.25  # of the context that is kept for the reply, at most
_DENSER = 1.25  # factor by which estimates of tokens grow when a prompt did not fit


@dataclass(slots=True)
class Fitting:
    """What is known about the length of prompts for one model.

    Attributes:
        density: Tokens per estimated token; grows whenever a prompt that seemed to fit did not.
    """

    density: float = 1.0

    async def asked(
        self,
        prompt: Prompt[R],
        ask: Callable[[Prompt[R]], Awaitable[Reply[R]]],
        context: Callable[[], int | None],
    ) -> Reply[R]:
        """The reply to a prompt with as many of its spare blocks as the model has room for.

        Args:
            prompt: The prompt.
            ask: Asks the model.
            context: Tokens that a prompt and its reply may have together; None as long as that is unknown.

        Raises:
            Permanent: It is too long without all that is spare, or the length of the context is not known; or
                another error of `ask`.
        """
        shown = self.fitted(prompt, context())
        while True:
            try:
                return await ask(shown)
            except Permanent as error:
                if error.reason is not Reason.TOO_LARGE or context() is None:
                    raise
                before, shown = shown, self.fitted(prompt, context())
                if shown == before:  # it seemed to fit, so its tokens are shorter than estimated
                    self.density *= _DENSER
                    shown = self.fitted(prompt, context())
                if shown == before:
                    raise

    def fitted(self, prompt: Prompt[R], context: int | None) -> Prompt[R]:
        """The prompt with as many of its spare blocks as fit.

        Args:
            prompt: The prompt.
            context: Tokens that a prompt and its reply may have together; None where that is unknown.

        Returns:
            The same prompt where all fits, where nothing is spare, and where no context is known. It may
            still be too long without all that is spare.
        """
        if context is None:
            return prompt
        room = context - min(prompt.max_tokens, int(_REPLY_SHARE * context))
        shorter, left_out = prompt, 0
        while self._tokens(shorter) > room and left_out < len(prompt.spare):
            left_out += 1
            shorter = _without(prompt, left_out)
        return shorter

    def _tokens(self, prompt: Prompt[R]) -> float:
        return self.density * estimate_tokens("\n".join(message["content"] for message in prompt.messages()))


def _without(prompt: Prompt[R], left_out: int) -> Prompt[R]:
    """The prompt without the least useful of its blocks."""
    kept = len(prompt.spare) - left_out
    gone = frozenset(prompt.spare[kept:])
    return replace(
        prompt,
        version=f"{prompt.version}+without-{left_out}-passages",
        blocks=tuple(block for block in prompt.blocks if block.id not in gone),
        lines=None if prompt.lines is None else prompt.lines.without(gone),
        spare=prompt.spare[:kept],
    )
