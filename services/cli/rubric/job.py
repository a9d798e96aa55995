"""What `nuggetstream rubric grade` is to grade, and how."""

from dataclasses import dataclass

from services.cli.rubric.passages import Passages
from services.judge.asking import Member
from services.judge.options import Options
from services.judge.question_banks import QuestionBanks
from services.judge.registry import EVALUATORS
from services.judge.stage import Panel
from services.runtime.llm.client import LLMClient
from services.runtime.llm.settings import LLMSettings


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be graded, and how.

    Attributes:
        passages: The passages.
        evaluator: Name of the evaluator.
        options: Its options.
        llm: Settings of its model.
        batched: Whether its calls wait for batches.
    """

    passages: Passages
    evaluator: str
    options: Options
    llm: LLMSettings
    batched: bool

    def panel(self, model: LLMClient) -> Panel:
        """The evaluator with its model, as it is beside live battles."""
        evaluator, banks = EVALUATORS[self.evaluator], QuestionBanks(overrides=model.overrides)
        return Panel(evaluator=evaluator, members=[Member(model)], options=self.options, banks=banks)
