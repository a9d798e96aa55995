"""One evaluated battle as `nuggetstream eval` writes it: the JSON of `GET /v1/battles/{id}`, validated.

Fields that no reader needs are ignored.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import AwareDatetime, Field

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.conversation import Turn
from nuggetstream.domain.judgment import VoteProbabilities
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.nugget import Grounding, Importance
from nuggetstream.domain.offline import any_offline
from nuggetstream.files.dataset import VOTE
from nuggetstream.files.fields import OF_PROBABILITIES, Part
from nuggetstream.files.graded import GradingRow
from nuggetstream.files.grounded import GroundedVerdictRow
from nuggetstream.files.labelled import LabelRow
from nuggetstream.text.languages import DetectedLanguage


class SourceRow(Part):
    """A page behind an answer.

    Attributes:
        state: How far the platform got with the page.
        quality: The scraper's class of its text; None while the page is pending.
        chunks: Chunks of the page among the evidence.
        partly_read: Those of them of which the embedding model read only a part.
    """

    state: str
    quality: str | None = None
    chunks: int = Field(default=0, ge=0)
    partly_read: int = Field(default=0, ge=0)


class AnswerRow(Part):
    """What one system said, and the pages behind it."""

    system: str = Field(min_length=1)
    text: str
    sources: tuple[SourceRow, ...] = ()
    conversation: tuple[Turn, ...] = ()


class ProvenanceRow(Part):
    """Where a nugget was read: "answer:a", "answer:b" or the id of a chunk."""

    document: str


class NuggetRow(Part):
    """A nugget with its labels.

    Attributes:
        id: Its id, by which grades name it; None where a line has none.
        a: Label for answer A; None where none was given.
        b: Label for answer B; None where none was given.
        grounding: Whether a source states it; None where that is not known.
        entailment: Probability that the nugget's passages entail it; None where nothing measured it.
    """

    id: str | None = None
    text: str
    importance: Importance
    a: LabelRow | None = None
    b: LabelRow | None = None
    provenance: tuple[ProvenanceRow, ...] = ()
    grounding: Grounding | None = None
    entailment: float | None = Field(default=None, ge=0, le=1)

    @property
    def is_unconfirmed(self) -> bool:
        """Whether only an answer states it, or it is disputed."""
        return self.grounding in (Grounding.ANSWER_ONLY, Grounding.DISPUTED)


class ScoresRow(Part):
    """The score of one answer that the preference follows from."""

    all_score: float = Field(ge=0, le=1)


class VerdictRow(Part):
    """What the nuggets say.

    Attributes:
        a: Score of answer A.
        b: Score of answer B.
        margin: All Score of A minus that of B.
        tie_threshold: Largest margin that is still a tie.
        preference: The vote that follows.
    """

    a: ScoresRow
    b: ScoresRow
    margin: float = Field(ge=-1, le=1)
    tie_threshold: float = Field(ge=0, le=1)
    preference: Vote


class OrderedVerdictRow(Part):
    """The judge's verdict when `first` was shown first."""

    first: Side
    winner: Vote


class MemberRow(Part):
    """The verdict of one member of a panel; an abstention has no winner, and a reason."""

    name: str
    model: str | None = None
    winner: Vote | None
    flipped: bool | None = None
    abstention: str | None = None
    probabilities: Annotated[VoteProbabilities, OF_PROBABILITIES] | None = None


class JudgmentRow(Part):
    """One judge's verdict over all orders asked.

    Attributes:
        evaluator: Name of the judge.
        winner: Its verdict.
        flipped: Whether the verdict changed with the order; None when the judge was asked in one order only.
        verdicts: Its verdict in each order.
        model: Chat model of the judge.
        probabilities: Of the verdicts, over all orders asked; None where the judge did not tell.
        members: What the members of a panel said; empty for a single judge.
        additional: Whether the judge ran beside those that battles wait for.
    """

    evaluator: str
    winner: Vote
    flipped: bool | None
    verdicts: tuple[OrderedVerdictRow, ...] = ()
    model: str
    probabilities: Annotated[VoteProbabilities, OF_PROBABILITIES] | None = None
    members: tuple[MemberRow, ...] = ()
    additional: bool = False


class FailureRow(Part):
    """A stage that failed, and why; of an evaluator with its name."""

    stage: str
    reason: str
    evaluator: str | None = None


class EvidenceRow(Part):
    """One retrieved chunk."""

    chunk_id: str | None = None
    text: str


class CostRow(Part):
    """An amount of money."""

    amount: float = Field(ge=0)
    currency: str = Field(min_length=1)


class SpendRow(Part):
    """What one stage spent on one model; the cost is None where a price is unknown."""

    stage: str
    model: str
    calls: int = Field(ge=0)
    input_tokens: int = Field(ge=0)
    output_tokens: int = Field(ge=0)
    cost: CostRow | None = None


class FlagRow(Part):
    """A passage of an answer that seems to be written for whoever evaluates it."""

    side: Side
    rule: str
    sentence: str


class StepRow(Part):
    """One step of the flow.

    Attributes:
        name: Name of the stage.
        recorded_at: When the step was recorded; None before it ended.
        seconds: How long it took; None where its start is not known.
    """

    name: str
    recorded_at: AwareDatetime | None = None
    seconds: float | None = Field(default=None, ge=0)


class BattleRow(Part):
    """One evaluated battle, with the fields that the report reads. None means "not known"."""

    id: str = Field(min_length=1)
    arena: str
    query: str
    conversation: tuple[Turn, ...] = ()
    language: str | None = None
    detected_language: Annotated[DetectedLanguage, OF_PROBABILITIES] | None = None
    tags: tuple[str, ...] = ()
    received_at: AwareDatetime | None = None
    ended_at: AwareDatetime | None = None
    a: AnswerRow
    b: AnswerRow
    nuggets: tuple[NuggetRow, ...]
    nugget_verdict: VerdictRow | None
    undecided: str | None = None
    label_model: str | None = None
    grounded_verdict: GroundedVerdictRow | None = None
    judgments: tuple[JudgmentRow, ...]
    guided: tuple[JudgmentRow, ...] = ()
    gradings: tuple[GradingRow, ...] = ()
    human_vote: Vote | None
    evidence: tuple[EvidenceRow, ...]
    failures: tuple[FailureRow, ...]
    flags: tuple[FlagRow, ...] = ()
    steps: tuple[StepRow, ...] = ()
    cost: CostRow | None = None
    spend: tuple[SpendRow, ...] = ()
    reference: dict[str, Vote] = Field(default_factory=dict)
    settings: dict[str, str] = Field(default_factory=dict)

    @property
    def counted(self) -> Sequence[NuggetRow]:
        """The nuggets that the verdict counts: all but disputed ones."""
        return [nugget for nugget in self.nuggets if nugget.grounding is not Grounding.DISPUTED]

    @property
    def preferences(self) -> Mapping[str, Vote]:
        """Human preference per dimension; without any, the human vote is the one dimension, "vote"."""
        if self.reference or self.human_vote is None:
            return self.reference
        return {VOTE: self.human_vote}

    @property
    def known_language(self) -> str | None:
        """The declared language, or else the detected one."""
        detected = self.detected_language
        return self.language if self.language or detected is None else detected.tag

    @property
    def is_offline(self) -> bool:
        """Whether its labels or verdicts are by the offline model."""
        return any_offline([self.label_model, *(judgment.model for judgment in self.judgments)])

    @property
    def is_scored(self) -> bool:
        """Whether both automatic lenses have a preference."""
        return self.nugget_verdict is not None and bool(self.judgments)

    @property
    def judgment(self) -> JudgmentRow | None:
        """The verdict that speaks for the lens of judges: the first by name, additional judges last."""
        return min(
            self.judgments, key=lambda judgment: (judgment.additional, judgment.evaluator), default=None
        )

    def answer(self, side: Side) -> AnswerRow:
        """The answer of one side."""
        return self.a if side is Side.A else self.b

    def vote(self, lens: Lens) -> Vote | None:
        """What one lens says about the battle; one judge speaks for all. None where it says nothing."""
        match lens:
            case Lens.HUMAN:
                return self.human_vote
            case Lens.NUGGET:
                return self.nugget_verdict.preference if self.nugget_verdict else None
            case Lens.GROUNDED:
                return self.grounded_verdict.preference if self.grounded_verdict else None
            case Lens.JUDGE:
                return self.judgment.winner if self.judgment else None
            case Lens.GUIDED:
                return self.guided[0].winner if self.guided else None
            case Lens.MEMBER:
                return None  # no member speaks for its panel
