"""What an evaluator of single answers, documents, citations or queries is.

    a battle with its evidence, or with its labelled nuggets  ->  [evaluator]  ->  grades

An evaluator is one module: its prompt, the check of the reply, how the offline model answers, and an
`Evaluator` that names all of it.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from nuggetstream.domain.battle import Battle
from nuggetstream.domain.evidence import Evidence, Page
from nuggetstream.domain.grade import Criterion, Grade
from nuggetstream.domain.nugget import Assignment, Nugget
from nuggetstream.domain.question_bank import QuestionBank
from nuggetstream.text.languages import DetectedLanguage
from services.judge.graders.bank import BankPrompt
from services.judge.selection import GraderOptions, Selection
from services.offline.answers import Heuristic
from services.runtime.llm.decisions.reply import DecisionReply
from services.runtime.llm.prompt import Prompt, R
from services.wire.evaluators import GRADERS, Reads

_DEFAULTS = GraderOptions()


@dataclass(frozen=True, slots=True)
class Material:
    """What an evaluator can grade.

    Attributes:
        battle: The battle.
        evidence: The best chunks, best first; empty for an evaluator that reads `BattleAssigned`.
        retrieved: All retrieved chunks, of which `evidence` is the beginning.
        pages: One page per source; empty for an evaluator that reads `BattleAssigned`.
        stored: Texts of all chunks of each page, by its content hash; empty for an evaluator that does not
            search them.
        nuggets: The nuggets; empty for an evaluator that reads `BattleRetrieved`.
        labels: The labels of the nuggets for both answers; empty where there are no nuggets.
        passages: Texts of the chunks that the nuggets were read from, by id, as far as they are still stored;
            empty for an evaluator that does not read them.
        detected: Language of the query, where the battle declares none and the evaluator needs it; None where
            it is not known.
        options: The evaluator's own options.
        bank: The questions about the query; None for an evaluator that asks none, or where there is nothing
            to grade.
        contradictions: Whether the labels tell a contradiction from no support.
    """

    battle: Battle
    evidence: tuple[Evidence, ...] = ()
    retrieved: tuple[Evidence, ...] = ()
    pages: tuple[Page, ...] = ()
    stored: Mapping[str, Sequence[str]] = field(default_factory=dict)
    nuggets: tuple[Nugget, ...] = ()
    labels: tuple[Assignment, ...] = ()
    passages: Mapping[str, str] = field(default_factory=dict)
    detected: DetectedLanguage | None = None
    options: Selection = _DEFAULTS
    bank: QuestionBank | None = None
    contradictions: bool = True


class Ask(Protocol):
    """Asks the models; the evaluator's name, version and costs are recorded elsewhere."""

    async def __call__(self, prompt: Prompt[R]) -> R:
        """The reply of the chat model to a prompt, which passed the prompt's check."""

    async def decide(self, prompt: Prompt[DecisionReply]) -> DecisionReply | None:
        """The answers of the model for decisions; None where there is no such model."""


def _never(options: Selection) -> bool:  # noqa: ARG001 - as `reads_stored`
    return False


def _nothing(material: Material, given: Sequence[Grade]) -> Sequence[Grade]:  # noqa: ARG001 - as `computed`
    return ()


@dataclass(frozen=True, slots=True)
class Evaluator:
    """One evaluator.

    Attributes:
        name: Its name in settings, results and accounts: lower-case letters, digits and underscores.
        summary: What it grades, as one sentence.
        criteria: The criteria of its grades, each with its scale.
        source: Publication or project that the criteria come from.
        calls: Model calls per battle, in words.
        grade: Grades the material. What it cannot grade it leaves out.
        computed: Returns the grades that follow from grades of the same material without a model. Those of a
            panel follow from the panel's grades.
        better: Criteria of whole answers on which more is better and which a sentence without content cannot
            raise; canary battles compare them. Empty where there are none.
        reads_passages: Whether it needs the chunks that the nuggets were read from.
        reads_stored: Whether it searches all chunks of the battle's pages, with some options.
        reads_language: Whether it needs the language of the query.
        options: Type of its options.
        bank: Returns how the questions are made that it asks about the query of some material, or None where
            there is nothing to grade; None for an evaluator that asks none.
        offline: How the offline model answers its prompts, by task.
    """

    name: str
    summary: str
    criteria: tuple[Criterion, ...]
    source: str
    calls: str
    grade: Callable[[Ask, Material], Awaitable[Sequence[Grade]]]
    computed: Callable[[Material, Sequence[Grade]], Sequence[Grade]] = _nothing
    better: tuple[str, ...] = ()
    reads_passages: bool = False
    reads_stored: Callable[[Selection], bool] = _never
    reads_language: bool = False
    options: type[GraderOptions] = GraderOptions
    bank: Callable[[Material], BankPrompt | None] | None = None
    offline: Mapping[str, Heuristic] = field(default_factory=dict)

    @property
    def reads(self) -> Reads:
        """Type of event that it needs."""
        return GRADERS[self.name]

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks of its prompts, by which an operator overrides them."""
        return tuple(self.offline)
