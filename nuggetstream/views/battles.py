"""Battles as JSON; the web pages are rendered from the same shapes."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.conversation import Turn
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.nugget import BankVersion, Importance
from nuggetstream.domain.nugget_edit import RecordedEdit
from nuggetstream.domain.pipeline import Stage
from nuggetstream.domain.progress import BattleState, Branch
from nuggetstream.domain.snapshot import Retrieval
from nuggetstream.files.tables import Table, Tabular, text
from nuggetstream.nuggets.history import ListStep
from nuggetstream.nuggets.scores import NuggetScores
from nuggetstream.views.common import View
from nuggetstream.views.flags import FlagView
from nuggetstream.views.grades import GradingView
from nuggetstream.views.grounding import GroundedVerdictView, ProvenanceView, WithGrounding
from nuggetstream.views.judgments import JudgmentView
from nuggetstream.views.labels import LabelView
from nuggetstream.views.languages import WithLanguage
from nuggetstream.views.sources import SourceView
from nuggetstream.views.votes import HumanVoteView


class AnswerView(View):
    """The answer of one system."""

    system: str
    text: str
    sources: list[SourceView]
    conversation: list[Turn] = Field(default_factory=list)
    """Turns before the query as this system had them, where the systems answered them differently."""
    reasoning: str | None = None
    """What the system wrote for itself, which no nugget and no judge looks at; null where there is none."""


class NuggetView(WithGrounding):
    """A fact that a good answer states. Its labels are null until the assigner has finished."""

    id: str
    text: str
    importance: Importance
    a: LabelView | None = None
    b: LabelView | None = None
    provenance: list[ProvenanceView] = Field(default_factory=list)
    vital_probability: float | None = None
    """How probable it is, according to the model, that the nugget is vital; null where it is not known."""

    def label(self, side: Side) -> LabelView | None:
        """The label of one side."""
        return self.a if side == Side.A else self.b


class ExpectedScoresView(View):
    """The All Scores under the probabilities of the labels, each in [0, 1], and their difference."""

    a: float
    b: float
    margin: float


class NuggetVerdictView(View):
    """The nugget scores of both answers, their difference (A minus B) and the preference that follows."""

    a: NuggetScores
    b: NuggetScores
    margin: float
    tie_threshold: float
    preference: Vote
    expected: ExpectedScoresView | None = None
    """Null where a label has no probabilities."""


class FailureView(View):
    """A stage that gave up, and why."""

    battle_id: str
    arena: str
    stage: Stage
    evaluator: str | None = None
    """Name of the evaluator that gave up; null for the stages that battles wait for."""
    reason: Reason
    detail: str
    attempts: int
    failed_at: datetime


class EvidenceView(View):
    """A retrieved chunk; chunks are listed by rank."""

    chunk_id: str
    text: str
    url: str | None
    title: str | None
    cited_by: list[Side]
    score: float
    fetched_at: datetime | None
    quoted_by: list[Side] = Field(default_factory=list)
    """The sides whose cited passage it has, of those that came with the battle."""
    read_share: float | None = None
    """The share of the text that the embedding model read, below 1: the rest was searched by its words alone.
    Null where the model read all of it, or where that is not known."""


class StepView(View):
    """The progress of one stage."""

    name: str
    state: Branch
    recorded_at: datetime | None = None
    """When the event that completes the stage was first recorded; null until then."""
    seconds: float | None = None
    """Seconds from the recording of the previous stage to that of this one, time in the queue included. Null
    until then, and where the previous stage was not recorded before this one."""


class WaitingView(View):
    """A stage of a running battle that waits for the model, which is away, or that tries again."""

    stage: Stage
    cause: str
    """Such as "overloaded" or "deadline", for programs."""
    reason: str
    since: datetime
    """Since when the model has been away, or when the last attempt failed."""
    attempts: int | None = None
    """Number of attempts that failed; null while the stage waits for the model."""


class Preferences(View):
    """The preference of each lens; null where there is none yet."""

    human: Vote | None = None
    nugget: Vote | None = None
    """On all nuggets."""
    judge: Vote | None = None
    grounded: Vote | None = None
    """On grounded nuggets alone; null also where none is known to be grounded."""
    leading: Lens = Lens.NUGGET
    """Which preference by nuggets the platform shows and compares others with: "nugget" or "grounded"."""

    @property
    def by_nuggets(self) -> Vote | None:
        """The leading preference by nuggets."""
        return self.grounded if self.leading is Lens.GROUNDED else self.nugget


class WithIdentity(WithLanguage):
    """Which battle it is, and how far it has come."""

    id: str
    arena: str
    query: str
    tags: list[str]
    state: BattleState
    received_at: datetime
    ended_at: datetime | None


class BattleSummary(WithIdentity):
    """A battle in a list."""

    system_a: str
    system_b: str
    flagged: bool = False
    """Whether an answer seems to be written for whoever evaluates it."""
    preferences: Preferences
    offline: bool = False
    """Whether offline heuristics, and no language model, labelled its nuggets or judged it."""
    doubt: float | None = None
    """How unsure the machine is about a battle that waits for a vote, from 0 to 1; only in lists by doubt."""


class BattleView(Tabular, WithIdentity):
    """Everything known about one battle so far. As a table: its explanation, one row per nugget."""

    conversation: list[Turn] = Field(default_factory=list)
    """Turns before the query that both systems had, oldest first."""
    turns_left_out: int = 0
    """Number of the user's first messages that prompts leave out, with their answers, because the
    conversation is long."""
    event_count: int
    steps: list[StepView]
    waiting: list[WaitingView] = Field(default_factory=list)
    """The stages that wait for the model now, and those that try again after an attempt failed."""
    a: AnswerView
    b: AnswerView
    nuggets: list[NuggetView]
    nugget_bank: BankVersion | None = None
    """Null for a list of this battle alone."""
    nugget_version: int | None = None
    """Version of the list that nuggets, scores and preference belong to: 1 as it was created, and one more
    with each edit by a person. Null before there is a list."""
    label_model: str | None = None
    """Model that gave the labels; several separated by commas, null before there are any."""
    nugget_edits: list[RecordedEdit] = Field(default_factory=list)
    """Edits of the list by people, oldest first. The newest may still be without labels."""
    nugget_history: list[ListStep] = Field(default_factory=list)
    """What each step of the creation of the list changed, oldest first."""
    nugget_verdict: NuggetVerdictView | None
    undecided: str | None = None
    """Why there is no verdict by nuggets although every nugget has its labels."""
    grounded_verdict: GroundedVerdictView | None = None
    """On grounded nuggets alone; null before all have labels, and where none is known to be grounded."""
    leading: Lens = Lens.NUGGET
    """Preference with which the explanation compares judges and people: "nugget" or "grounded"."""
    judgments: list[JudgmentView]
    guided: list[JudgmentView] = Field(default_factory=list)
    """Verdicts of judges that were shown the nuggets, with which they are not compared therefore."""
    gradings: list[GradingView] = Field(default_factory=list)
    """What the evaluators graded; it may arrive after the battle has ended."""
    human_vote: Vote | None
    """What people prefer: the vote of more than half of the voters, else a tie; null without votes."""
    human_votes: list[HumanVoteView] = Field(default_factory=list)
    """The newest vote of each voter."""
    evidence: list[EvidenceView]
    retrieval: Retrieval | None = None
    """How the evidence was found; null until then."""
    failures: list[FailureView]
    flags: list[FlagView] = Field(default_factory=list)
    explanation: list[str]
    """What decided the battle, in plain sentences."""

    @property
    def preferences(self) -> Preferences:
        """The preference of each lens; of several judges the first by name counts."""
        return Preferences(
            human=self.human_vote,
            nugget=self.nugget_verdict and self.nugget_verdict.preference,
            judge=self.judgments[0].winner if self.judgments else None,
            grounded=self.grounded_verdict and self.grounded_verdict.preference,
            leading=self.leading,
        )

    def answer(self, side: Side) -> AnswerView:
        """The answer of one side."""
        return self.a if side == Side.A else self.b

    def table(self) -> Table:
        """One row per nugget with its labels, and what decided the battle."""
        answers = (text(side, f"{side.upper()}: {self.answer(side).system}") for side in Side)
        columns = (text("importance"), text("grounding"), *answers, text("nugget"))
        rows = []
        for one in self.nuggets:
            labels = (label.support if label else None for label in (one.a, one.b))
            rows.append((one.importance, one.grounding, *labels, one.text))
        return Table(f"{self.id}: {self.query}", columns, tuple(rows), tuple(self.explanation))


class Submitted(View):
    """A battle was accepted. `created` is false when the same battle had been accepted before."""

    battle_id: str
    created: bool
    rerun: bool = False
    """Whether the evaluation of the battle had failed, so that its failed stages run again."""
    voted: bool = False
    """Whether the battle was known and its vote was recorded as a new one."""
    vote: Vote | None = None
    """The newest vote of the voter, which counts; null where no vote came with the battle."""
    left_out: Literal["arena", "share"] | None = None
    """The setting by which the battle is neither stored nor evaluated; null for one that is."""


class LineResult(View):
    """The result of one line of a submission of many battles."""

    line: int
    status: int
    battle_id: str | None = None
    created: bool | None = None
    rerun: bool | None = None
    voted: bool | None = None
    vote: Vote | None = None
    left_out: str | None = None
    error: str | None = None
    problems: list[str] | None = None
