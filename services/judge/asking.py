"""The calls of one model of an evaluator for one battle."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

from nuggetstream.domain.battle import Battle, Side
from services.runtime.errors import BudgetExceeded
from services.runtime.llm.conversation import in_context
from services.runtime.llm.decisions.reply import DecisionReply
from services.runtime.llm.model import ChatModel, Reply, joined
from services.runtime.llm.numbering import numbered
from services.runtime.llm.prompt import Prompt, R

Exhausted = Callable[[], Awaitable[str | None]]
"""Returns what an evaluator's budget has been used up by; None while there is some left."""


@dataclass(frozen=True, slots=True)
class Member:
    """A model of an evaluator: the only one, or one of a panel.

    Attributes:
        model: Chat model.
        decisions: Model that is asked for decisions where the question is one; None in profiles without.
        name: Its name in the panel; empty for the only one.
    """

    model: ChatModel
    decisions: ChatModel | None = None
    name: str = ""

    @property
    def asked(self) -> str:
        """Name of the model that is asked first."""
        return (self.model if self.decisions is None else self.decisions).name


@dataclass(slots=True)
class Asking:
    """Asks one model about one battle: the models that answered, and the versions of the prompts.

    Attributes:
        member: The model.
        battle: The battle.
        evaluator: Name of the evaluator.
        stage: Stage under which calls are booked.
        exhausted: Tells whether the budget is used up.
        first: Side whose answer is shown first in the order that a judge asks in; None without an order.
        models: Names of the models that answered.
        versions: Versions of the prompts that were answered.
    """

    member: Member
    battle: Battle
    evaluator: str
    stage: str
    exhausted: Exhausted | None
    first: Side | None = None
    models: list[str] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)

    @property
    def answered(self) -> str:
        """The models that answered; the one to ask where none has answered."""
        return joined(self.models) or self.member.model.name

    async def __call__(self, prompt: Prompt[R]) -> R:
        """The reply of the chat model to a prompt.

        Raises:
            BudgetExceeded: The evaluator's budget is used up.
        """
        return self._noted(await self.reply(prompt))

    async def decide(self, prompt: Prompt[DecisionReply]) -> DecisionReply | None:
        """The answers of the model for decisions; None where there is no such model.

        A model that declines every question has given no part of the result.
        """
        if (model := self.member.decisions) is None:
            return None
        await self._check_budget()
        shown = self._in_context(prompt)
        reply = await model.ask(shown, stage=self.stage, battle_id=self.battle.id)
        answered = any(answer.letter is not None for answer in reply.value.answers)
        return self._noted(reply) if answered else reply.value

    async def reply(self, prompt: Prompt[R]) -> Reply[R]:
        """The reply as it came; a bank of questions names its model and version, so they are not noted."""
        await self._check_budget()
        shown = self._in_context(prompt)
        return await self.member.model.ask(shown, stage=self.stage, battle_id=self.battle.id)

    def _in_context(self, prompt: Prompt[R]) -> Prompt[R]:
        """The prompt with earlier turns.

        A judge's answers are first and second. Another answer is known by its text, unless both are equal.
        """
        if self.first is not None:
            writers = {"first": self.first, "second": self.first.other}
        else:
            a, b = self.battle.a.text, self.battle.b.text
            sides = {} if a == b else {a: Side.A, numbered(a): Side.A, b: Side.B, numbered(b): Side.B}
            answers = [block for block in prompt.blocks if block.kind == "answer"]
            writers = {block.id: sides[block.text] for block in answers if block.text in sides}
        return in_context(prompt, self.battle.context, writers)

    async def _check_budget(self) -> None:
        if self.exhausted is not None and (over := await self.exhausted()) is not None:
            raise BudgetExceeded(f"the evaluator {self.evaluator} has used {over} today")

    def _noted(self, reply: Reply[R]) -> R:
        self.models.append(reply.model)
        if reply.prompt_version not in self.versions:
            self.versions.append(reply.prompt_version)
        return reply.value


def versions_of(askings: Iterable[Asking]) -> str:
    """The versions of the prompts of all models as one text."""
    versions = dict.fromkeys(version for asking in askings for version in asking.versions)
    return "+".join(versions) or "none"
