"""Question banks: battles with the same query are graded on the same questions.

    made with these settings before? ──yes──> use it
                  └─no──> ask the model ──> store it as the next version, use it

What a version depends on is the model, the wording of the prompt, the number of questions, and the turns
before the query where there are any. A battle that is delivered again gets the version that it got first,
because the same settings always name the same one.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from nuggetstream.domain.battle import Battle
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.question_bank import BankQuestion, QuestionBank, query_id, question_id
from services.judge.grades.bank import BankPrompt, QuestionsReply
from services.runtime.llm.model import Reply
from services.runtime.llm.prompt import Prompt, PromptOverrides
from services.runtime.single_writer import SingleWriter
from services.store.content.question_banks import StoredQuestionBanks

AskBank = Callable[[Prompt[QuestionsReply]], Awaitable[Reply[QuestionsReply]]]


@dataclass(frozen=True, slots=True)
class QuestionBanks:
    """The question banks that battles share.

    Attributes:
        stored: Where they are stored; None makes one for every battle.
        overrides: The operator's prompts, which are part of what a version depends on.
        writer: Lets one battle make a version, while others wait for it.
        clock: The time now.
        given: The bank of every battle, for which no model is asked; None where models make them.
    """

    stored: StoredQuestionBanks | None = None
    overrides: PromptOverrides = field(default_factory=PromptOverrides)
    writer: SingleWriter = field(default_factory=SingleWriter)
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    given: QuestionBank | None = None

    async def of(self, battle: Battle, asked: BankPrompt, model: str, ask: AskBank) -> QuestionBank:
        """The bank for a battle, made where these settings have made none yet.

        Args:
            battle: The battle.
            asked: How the bank is made.
            model: Name of the model that makes it.
            ask: Asks that model.

        Raises:
            StageError: The model gave no bank. Nothing is stored then.
        """
        if self.given is not None:
            return self.given
        if self.stored is None:
            return await self._made(battle, asked, ask)
        of_query = query_id(battle.query)
        version = self.overrides.apply(asked.prompt).version
        turns = [] if battle.context is None else [[turn.text for turn in battle.context.common]]
        settings = derived_id(asked.kind, model, version, asked.prompt.parameters, *turns)
        turn = self.writer.turn(derived_id("question bank", of_query, settings))
        bank = await self.stored.get(of_query, settings, battle.id)
        if bank is None:
            async with turn.taken() as changed:
                if changed:
                    bank = await self.stored.get(of_query, settings, battle.id)
                if bank is None:
                    made = await self._made(battle, asked, ask)
                    bank = await self.stored.add(made, settings, battle.id)
        return bank

    async def _made(self, battle: Battle, asked: BankPrompt, ask: AskBank) -> QuestionBank:
        reply = await ask(asked.prompt)
        of_query = query_id(battle.query)
        return QuestionBank(
            query_id=of_query,
            version=1,
            kind=asked.kind,
            model=reply.model,
            prompt_version=reply.prompt_version,
            created_at=self.clock(),
            questions=tuple(BankQuestion(question_id(of_query, text), text) for text in reply.value.texts()),
        )
