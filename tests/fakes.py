"""Stand-ins with behaviour: a model that answers by a script, and vectors made of words."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
from pydantic import BaseModel

from nuggetstream.text.terms import terms
from services.runtime.embedding import Vectors
from services.runtime.llm.blocks import Block
from services.runtime.llm.model import Reply, Usage
from services.runtime.llm.prices import Money
from services.runtime.llm.prompt import Prompt, R

Answering = Callable[[Prompt[Any]], BaseModel]
_FREE = Usage(1, 1, cached=False, cost=Money(Decimal(0)))


@dataclass
class ScriptedModel:
    """A `ChatModel` that answers each task by a function of its prompt, as strictly as the real client.

    Attributes:
        script: task -> what to say to a prompt of it.
        name: the model asked for.
        reworded: as if an operator had put the prompts in other words.
        asked: the prompts so far, in order.
        battles: the battle each was asked for.
    """

    script: Mapping[str, Answering]
    name: str = "scripted"
    reworded: bool = False
    asked: list[Prompt[Any]] = field(default_factory=list)
    battles: list[str] = field(default_factory=list)

    async def ask(self, prompt: Prompt[R], *, stage: str, battle_id: str) -> Reply[R]:
        self.asked.append(prompt)
        self.battles.append(battle_id)
        prompt.messages()  # a prompt that cannot be rendered is no prompt
        await asyncio.sleep(0)  # a real model lets others run meanwhile
        value = prompt.reply.model_validate(self.script[prompt.task](prompt).model_dump())
        if prompt.check is not None:
            prompt.check(value)
        version = f"{prompt.version}+own" if self.reworded else prompt.version
        return Reply(value, f"{self.name}-2026", version, _FREE)

    def tasks(self) -> list[str]:
        return [prompt.task for prompt in self.asked]


def blocks(prompt: Prompt[Any], *kinds: str) -> list[Block]:
    """The blocks of some kinds, in order."""
    return [block for block in prompt.blocks if block.kind in kinds]


class WordVectors:
    """An `Embedder` in which texts are near when they share words; remembers what it was asked."""

    def __init__(self, model: str = "words", dimensions: int = 64) -> None:
        self.model = model
        self.calls: list[list[str]] = []
        self._dimensions = dimensions

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(list(texts))
        return self.encode(texts)

    def encode(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._one(text) for text in texts]).astype(np.float32)

    def _one(self, text: str) -> np.ndarray:
        row = np.full(self._dimensions, 1e-3)
        for term in terms(text):
            row[sum(term.encode()) % self._dimensions] += 1
        return row / np.linalg.norm(row)
