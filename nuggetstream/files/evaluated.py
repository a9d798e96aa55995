"""One evaluated battle as `nuggetstream eval` writes it: the JSON of `GET /v1/battles/{id}`, checked.

Fields that no reader needs are ignored; those that are read must be what they claim to be.
"""

from collections.abc import Mapping

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.nugget import Cause, Importance, Support
from nuggetstream.files.dataset import VOTE


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class SourceRow(_Part):
    """A page behind an answer; `quality` is the scraper's class, empty while pending."""

    state: str
    quality: str = ""
    chunks: int = Field(default=0, ge=0)


class AnswerRow(_Part):
    """One answer."""

    system: str = Field(min_length=1)
    text: str
    sources: tuple[SourceRow, ...] = ()


class LabelRow(_Part):
    """Whether an answer states a nugget; `cause` where a miss has a known one."""

    support: Support
    cause: Cause | None = None


class ProvenanceRow(_Part):
    """Where a nugget was read: "answer:a", "answer:b" or the id of a chunk."""

    document: str


class NuggetRow(_Part):
    """A nugget; a label is None where none was given, `entailment` where nothing measured it."""

    text: str
    importance: Importance
    a: LabelRow | None = None
    b: LabelRow | None = None
    provenance: tuple[ProvenanceRow, ...] = ()
    entailment: float | None = Field(default=None, ge=0, le=1)


class ScoresRow(_Part):
    """The score that preferences follow from."""

    all_score: float = Field(ge=0, le=1)


class VerdictRow(_Part):
    """What the nuggets say; `margin` is A minus B."""

    a: ScoresRow
    b: ScoresRow
    margin: float = Field(ge=-1, le=1)
    tie_threshold: float = Field(ge=0, le=1)
    preference: Vote


class OrderedVerdictRow(_Part):
    """The judge's verdict when `first` was shown first."""

    first: Side
    winner: Vote


class JudgmentRow(_Part):
    """One judge's verdict over all orders asked."""

    evaluator: str
    winner: Vote
    flipped: bool | None
    verdicts: tuple[OrderedVerdictRow, ...] = ()
    model: str


class FailureRow(_Part):
    """A stage that gave up."""

    stage: str
    reason: str


class EvidenceRow(_Part):
    """One retrieved chunk."""

    chunk_id: str = ""
    text: str


class CostRow(_Part):
    """What a battle cost."""

    amount: float = Field(ge=0)
    currency: str = Field(min_length=1)


class SpendRow(_Part):
    """What one stage spent on one model; no cost where a price is unknown."""

    stage: str
    model: str
    calls: int = Field(ge=0)
    input_tokens: int = Field(ge=0)
    output_tokens: int = Field(ge=0)
    cost: CostRow | None = None


class StepRow(_Part):
    """One step of the flow; no moment before it ended, no seconds where its start is not known."""

    name: str
    recorded_at: AwareDatetime | None = None
    seconds: float | None = Field(default=None, ge=0)


class BattleRow(_Part):
    """One evaluated battle as far as the report looks at it. None is "not known"."""

    id: str = Field(min_length=1)
    arena: str
    query: str
    language: str = ""
    tags: tuple[str, ...] = ()
    received_at: AwareDatetime | None = None
    ended_at: AwareDatetime | None = None
    a: AnswerRow
    b: AnswerRow
    nuggets: tuple[NuggetRow, ...]
    nugget_verdict: VerdictRow | None
    judgments: tuple[JudgmentRow, ...]
    human_vote: Vote | None
    evidence: tuple[EvidenceRow, ...]
    failures: tuple[FailureRow, ...]
    steps: tuple[StepRow, ...] = ()
    cost: CostRow | None = None
    spend: tuple[SpendRow, ...] = ()
    reference: dict[str, Vote] = {}

    @property
    def preferences(self) -> Mapping[str, Vote]:
        """Human preference per dimension; without any, the human vote is the one dimension, "vote"."""
        if self.reference or self.human_vote is None:
            return self.reference
        return {VOTE: self.human_vote}

    @property
    def is_scored(self) -> bool:
        """Whether both automatic lenses have a preference."""
        return self.nugget_verdict is not None and bool(self.judgments)

    def answer(self, side: Side) -> AnswerRow:
        """The answer of one side."""
        return self.a if side is Side.A else self.b

    def vote(self, lens: Lens) -> Vote | None:
        """What one lens says about the battle; the first judge speaks for all. None where it says nothing."""
        match lens:
            case Lens.HUMAN:
                return self.human_vote
            case Lens.NUGGET:
                return self.nugget_verdict.preference if self.nugget_verdict else None
            case Lens.JUDGE:
                return self.judgments[0].winner if self.judgments else None
