"""What an evaluator is, and what it may read and ask.

    a battle with its evidence, or with its labelled nuggets  ->  [evaluator]  ->  a verdict, or grades

An evaluator is one module: its prompt, the check of the reply, how the offline model answers, and an
`Evaluator` that names all of it. Selection, budgets, panels, and both orders of the answers are the same for
all evaluators. A judge is an evaluator that yields a verdict; labels of nuggets are grades.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, TypeVar

from nuggetstream.domain.battle import Battle, Side
from nuggetstream.domain.evidence import Evidence, Page
from nuggetstream.domain.grade import Criterion, Grade
from nuggetstream.domain.judgment import OrderedVerdict
from nuggetstream.domain.nugget import Assignment, Nugget
from nuggetstream.domain.question_bank import QuestionBank
from nuggetstream.text.languages import DetectedLanguage
from services.judge.grades.bank import BankPrompt
from services.judge.options import GradeOptions, Options, VerdictOptions
from services.offline.answers import Heuristic
from services.runtime.llm.decisions.reply import DecisionReply
from services.runtime.llm.prompt import Prompt, R
from services.wire.evaluators import EVALUATORS, Registered

_DEFAULTS = Options()
Own = TypeVar("Own", bound=Options)


@dataclass(frozen=True, slots=True)
class Material:
    """What an evaluator can read.

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
    options: Options = _DEFAULTS
    bank: QuestionBank | None = None
    contradictions: bool = True

    def own(self, kind: type[Own]) -> Own:
        """The options of the evaluator, as options of this type; its defaults where none are configured."""
        return self.options if isinstance(self.options, kind) else kind()


class Ask(Protocol):
    """Asks the models; the evaluator's name, version and costs are recorded elsewhere."""

    async def __call__(self, prompt: Prompt[R]) -> R:
        """The reply of the chat model to a prompt, which passed the prompt's check."""

    async def decide(self, prompt: Prompt[DecisionReply]) -> DecisionReply | None:
        """The answers of the model for decisions; None where there is no such model."""


Order: TypeAlias = Callable[[Side], Awaitable[OrderedVerdict]]
"""Asks for a verdict with the answer of one side shown first."""


def _never(options: Options) -> bool:  # noqa: ARG001 - as `reads_stored`
    return False


def _nothing(material: Material, given: Sequence[Grade]) -> Sequence[Grade]:  # noqa: ARG001 - as `computed`
    return ()


@dataclass(frozen=True, slots=True)
class Verdicts:
    """That an evaluator yields a verdict: it is a judge.

    Attributes:
        compare: Prepares the comparison of a battle, and returns the function that asks in one order.
    """

    compare: Callable[[Ask, Material], Awaitable[Order]]


@dataclass(frozen=True, slots=True)
class Grades:
    """That an evaluator yields grades.

    Attributes:
        criteria: The criteria of its grades, each with its scale.
        grade: Grades the material. What it cannot grade it leaves out.
        computed: Returns the grades that follow from grades of the same material without a model. Those of a
            panel follow from the panel's grades.
        better: Criteria of whole answers on which more is better and which a sentence without content cannot
            raise; canary battles compare them. Empty where there are none.
        bank: Returns how the questions are made that it asks about the query of some material, or None where
            there is nothing to grade; None for an evaluator that asks none.
    """

    criteria: tuple[Criterion, ...]
    grade: Callable[[Ask, Material], Awaitable[Sequence[Grade]]]
    computed: Callable[[Material, Sequence[Grade]], Sequence[Grade]] = _nothing
    better: tuple[str, ...] = ()
    bank: Callable[[Material], BankPrompt | None] | None = None


@dataclass(frozen=True, slots=True)
class Evaluator:
    """One evaluator. What it reads is in `services.wire.evaluators`, where every process knows it.

    Attributes:
        name: Its name in settings, results and accounts: lower-case letters, digits and underscores.
        summary: What it asks, as one sentence.
        source: Publication or project that it comes from.
        calls: Model calls per battle, in words.
        yields: What it yields, and how it asks for it.
        options: Type of its options; None for those of every evaluator that yields the same.
        reads_passages: Whether it needs the chunks that the nuggets were read from.
        reads_stored: Whether it searches all chunks of the battle's pages, with some options.
        reads_language: Whether it needs the language of the query.
        offline: How the offline model answers its prompts, by task.
    """

    name: str
    summary: str
    source: str
    calls: str
    yields: Verdicts | Grades
    options: type[Options] | None = None
    reads_passages: bool = False
    reads_stored: Callable[[Options], bool] = _never
    reads_language: bool = False
    offline: Mapping[str, Heuristic] = field(default_factory=dict)

    @property
    def registered(self) -> Registered:
        """What every process knows of it."""
        return EVALUATORS[self.name]

    @property
    def option_type(self) -> type[Options]:
        """Type of its options."""
        return self.options or (VerdictOptions if isinstance(self.yields, Verdicts) else GradeOptions)

    def can_evaluate(self, material: Material) -> bool:
        """Whether there is anything to ask about: a judge compares no two empty answers."""
        if isinstance(self.yields, Grades):
            return True
        battle = material.battle
        return any(battle.answer(side).text.strip() for side in Side) and (
            bool(material.nuggets) or not self.registered.is_guided
        )
