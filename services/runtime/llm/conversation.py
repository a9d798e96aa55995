"""Prompts with the earlier turns of a conversation.

    a prompt about a query, and the turns before it  ->  the same prompt with the turns, each fenced

Turns that all answers have in common stand before the query, the earlier answers of one system before its
answer. A prompt without the query is about a text alone and stays as it is, and so does every prompt of a
battle without earlier turns.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nuggetstream.domain.conversation import Context, NamedTurn
from services.runtime.llm.blocks import Block
from services.runtime.llm.model import ChatModel, Reply
from services.runtime.llm.prompt import Prompt, R

VERSION = "turns-1"
TURN = "turn"  # kind of the blocks
USER = ".user"  # after the name of a turn of the user

_COMMON = (
    "The query is the newest message of a conversation; the blocks turn hold the earlier ones, oldest first. "
    "They only tell what the query means. The task is about the query: what only an earlier turn states "
    "counts for no document and no answer."
)
_OWN = "A turn such as {name}.t1 is what the system whose newest answer is {name} answered to t1.user."
_LEFT_OUT = (
    "The conversation is longer: its first {count} messages of the user are left out, with their answers."
)

Writers = Mapping[str, str]
"""Id of the block of an answer -> the side whose answer it is."""


def in_context(prompt: Prompt[R], context: Context | None, writers: Writers) -> Prompt[R]:
    """The prompt with the earlier turns of the conversation that its query ends.

    Args:
        prompt: The prompt.
        context: The conversation; None without earlier turns.
        writers: Whose answers the prompt shows. Earlier answers of other sides are not shown.
    """
    if context is None or not any(block.kind == "query" for block in prompt.blocks):
        return prompt
    blocks = tuple(_with_turns(prompt.blocks, context, writers))
    own = next((block.id for block in prompt.blocks if _own(block, context, writers)), None)
    notes = (
        _COMMON,
        *([_OWN.format(name=own)] if own else []),
        *([_LEFT_OUT.format(count=context.left_out)] if context.left_out else []),
    )
    return replace(
        prompt,
        version=f"{prompt.version}+{VERSION}",
        blocks=blocks,
        notes=notes,
        family=None if prompt.family is None else (*prompt.family, *context.texts),
    )


def _with_turns(blocks: Sequence[Block], context: Context, writers: Writers) -> Iterator[Block]:
    for block in blocks:
        if block.kind == "query":
            yield from (Block(TURN, turn.name, turn.text) for turn in context.common)
        for turn in _own(block, context, writers):
            yield Block(TURN, f"{block.id}.{turn.name}", turn.text)
        yield block


def _own(block: Block, context: Context, writers: Writers) -> Sequence[NamedTurn]:
    """The earlier answers of the system whose answer a block is; none for a block of another kind."""
    return context.own.get(writers.get(block.id, ""), ()) if block.kind == "answer" else ()


@dataclass(frozen=True, slots=True)
class ModelInContext:
    """A chat model that is shown the earlier turns of one conversation with every prompt.

    Attributes:
        model: The model.
        context: The conversation; None without earlier turns.
        writers: See `in_context`.
    """

    model: ChatModel
    context: Context | None
    writers: Writers

    @property
    def name(self) -> str:
        """Name of the configured model."""
        return self.model.name

    async def ask(self, prompt: Prompt[R], *, stage: str, battle_id: str) -> Reply[R]:
        """Ask for one usable reply; the errors are those of `ChatModel.ask`."""
        shown = in_context(prompt, self.context, self.writers)
        return await self.model.ask(shown, stage=stage, battle_id=battle_id)
