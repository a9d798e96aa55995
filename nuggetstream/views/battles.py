"""Battles as JSON; the web pages are rendered from the same shapes."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.failure import Reason, Stage
from nuggetstream.domain.nugget import Cause, Importance, Support
from nuggetstream.domain.progress import BattleState, Branch
from nuggetstream.views.common import View


class SourceView(View):
    """A page a system searched or cited, and what became of it."""

    url: str
    title: str
    state: Literal["pending", "supplied", "fetched", "rejected"]
    quality: str = ""
    """The scraper's class, such as "ok", "cookie_wall" or "not_found"; empty while pending."""
    detail: str = ""
    final_url: str = ""
    content_hash: str = ""
    fetched_at: datetime | None = None
    chunks: int = 0
    """How many of its chunks were retrieved as evidence."""


class AnswerView(View):
    """What one system said."""

    system: str
    text: str
    sources: list[SourceView]


class ProvenanceView(View):
    """Where a nugget was read: "answer:a", "answer:b" or a chunk of a page."""

    document: str
    url: str = ""
    fetched_at: datetime | None = None


class LabelView(View):
    """Whether an answer states a nugget, with the sentence that does."""

    support: Support
    quote: str = ""
    cause: Cause | None = None
    """What is to blame for a miss, where that is known."""


class NuggetView(View):
    """One fact a good answer needs. Labels are null until the assigner has answered."""

    id: str
    text: str
    importance: Importance
    a: LabelView | None = None
    b: LabelView | None = None
    provenance: list[ProvenanceView] = Field(default_factory=list)

    def label(self, side: Side) -> LabelView | None:
        """The label of one side."""
        return self.a if side == Side.A else self.b


class ScoresView(View):
    """The six nugget scores of one answer, each in [0, 1]. Null where there is no vital nugget."""

    strict_vital: float | None
    strict_all: float
    vital: float | None
    all_score: float
    weighted: float
    strict_weighted: float


class NuggetVerdictView(View):
    """What the nuggets say: scores, their difference (A minus B) and the preference that follows."""

    a: ScoresView
    b: ScoresView
    margin: float
    tie_threshold: float
    preference: Vote


class OrderedVerdictView(View):
    """What the judge said when `first` was shown first."""

    first: Side
    winner: Vote
    reasoning: str


class JudgmentView(View):
    """One judge's verdict. `flipped` is null when only one order was asked."""

    evaluator: str
    winner: Vote
    flipped: bool | None
    verdicts: list[OrderedVerdictView]
    model: str


class FailureView(View):
    """A stage that gave up, and why."""

    battle_id: str
    arena: str
    stage: Stage
    reason: Reason
    detail: str
    attempts: int
    failed_at: datetime


class EvidenceView(View):
    """One retrieved chunk, in the order of its rank."""

    chunk_id: str
    text: str
    url: str
    title: str
    cited_by: list[Side]
    score: float
    fetched_at: datetime | None


class StepView(View):
    """How far one step of the flow has come."""

    name: str
    state: Branch
    recorded_at: datetime | None = None
    """When the event that completes the step was recorded, the first of several; null until then."""
    seconds: float | None = None
    """From when the step before was recorded to when this one was, waiting in line included. Null until
    then, and where the step before is not recorded, or not before this one."""


class Preferences(View):
    """Who prefers what about one battle; null where nobody has said yet."""

    human: Vote | None = None
    nugget: Vote | None = None
    judge: Vote | None = None


class BattleSummary(View):
    """One line about a battle."""

    id: str
    arena: str
    query: str
    language: str
    tags: list[str]
    system_a: str
    system_b: str
    state: BattleState
    received_at: datetime
    ended_at: datetime | None
    preferences: Preferences


class BattleView(View):
    """One battle as far as it has come."""

    id: str
    arena: str
    query: str
    language: str
    tags: list[str]
    state: BattleState
    received_at: datetime
    ended_at: datetime | None
    event_count: int
    steps: list[StepView]
    a: AnswerView
    b: AnswerView
    nuggets: list[NuggetView]
    nugget_verdict: NuggetVerdictView | None
    judgments: list[JudgmentView]
    human_vote: Vote | None
    evidence: list[EvidenceView]
    failures: list[FailureView]
    explanation: list[str]
    """What decided it, in plain sentences."""

    def answer(self, side: Side) -> AnswerView:
        """The answer of one side."""
        return self.a if side == Side.A else self.b


class Submitted(View):
    """A battle was accepted. `created` is false when this very battle had been received before."""

    battle_id: str
    created: bool


class VoteReceipt(View):
    """A vote was taken in."""

    battle_id: str
    vote: Vote


class LineResult(View):
    """What became of one line of a submission of many battles."""

    line: int
    status: int
    battle_id: str | None = None
    created: bool | None = None
    error: str | None = None
    problems: list[str] | None = None
