"""What nuggets and judges say about a battle, as the API shows it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from nuggetstream.domain.battle import Side
from nuggetstream.domain.judgment import Judgment, MemberVerdict, OrderedVerdict, VoteProbabilities
from nuggetstream.domain.nugget import Assignment, Cause, Correction, Importance, Nugget
from nuggetstream.domain.snapshot import BattleSnapshot
from nuggetstream.nuggets.explanation import Explanation
from nuggetstream.views.battles import (
    ExpectedScoresView,
    NuggetVerdictView,
    NuggetView,
    ScoresView,
)
from nuggetstream.views.grounding import GroundedVerdictView, ProvenanceView, QuotationView
from nuggetstream.views.judgments import (
    DimensionVerdictView,
    JudgmentView,
    MemberVerdictView,
    OrderedVerdictView,
    VoteProbabilitiesView,
)
from nuggetstream.views.labels import LabelAuthorView, LabelView, SupportProbabilitiesView


def nugget_views(snapshot: BattleSnapshot, explanation: Explanation) -> list[NuggetView]:
    """The nuggets of a battle, vital ones first, with their labels and the causes of misses."""
    if snapshot.nugget_list is None:
        return []
    labels = {(label.nugget_id, label.side): label for label in snapshot.assignments or ()}
    causes = {(miss.nugget.id, miss.side): miss.cause for miss in explanation.misses}
    return [_nugget(nugget, labels, causes) for nugget in vital_first(snapshot.nugget_list.nuggets)]


def vital_first(nuggets: Iterable[Nugget]) -> list[Nugget]:
    """The nuggets in the order in which they are shown and numbered."""
    return sorted(nuggets, key=lambda nugget: nugget.importance is not Importance.VITAL)


def _nugget(
    nugget: Nugget,
    labels: Mapping[tuple[str, Side], Assignment],
    causes: Mapping[tuple[str, Side], Cause | None],
) -> NuggetView:
    def label(side: Side) -> LabelView | None:
        assignment = labels.get((nugget.id, side))
        if assignment is None:
            return None
        cause = causes.get((nugget.id, side))
        told, correction = assignment.probabilities, assignment.correction
        return LabelView(
            support=assignment.support,
            quote=assignment.quote,
            cause=cause,
            probabilities=None if told is None else SupportProbabilitiesView(**asdict(told)),
            set_by=None if correction is None else _author(correction),
        )

    return NuggetView(
        id=nugget.id,
        text=nugget.text,
        importance=nugget.importance,
        a=label(Side.A),
        b=label(Side.B),
        provenance=[
            ProvenanceView(document=source.document, url=source.url, fetched_at=source.fetched_at)
            for source in nugget.provenance
        ],
        grounding=nugget.grounding,
        quotation=_quotation(nugget),
        vital_probability=nugget.vital_probability,
    )


def _author(correction: Correction) -> LabelAuthorView:
    return LabelAuthorView(author=correction.author, reason=correction.reason, model=correction.model.support)


def _quotation(nugget: Nugget) -> QuotationView | None:
    if nugget.grounds is None or nugget.grounds.quotation is None:
        return None
    return QuotationView(**asdict(nugget.grounds.quotation))


def nugget_verdict_view(explanation: Explanation) -> NuggetVerdictView | None:
    """The scores of both answers; None before every nugget has its labels, and where they decide nothing."""
    if explanation.scores is None or explanation.margin is None or explanation.preference is None:
        return None
    return NuggetVerdictView(
        a=ScoresView(**asdict(explanation.scores[Side.A])),
        b=ScoresView(**asdict(explanation.scores[Side.B])),
        margin=explanation.margin,
        tie_threshold=explanation.threshold,
        preference=explanation.preference,
        expected=_expected(explanation),
    )


def grounded_verdict_view(explanation: Explanation) -> GroundedVerdictView | None:
    """The preference on grounded nuggets alone; None where there is none."""
    grounded = explanation.grounded
    if grounded is None:
        return None
    return GroundedVerdictView(
        a=grounded.scores[Side.A].all_score,
        b=grounded.scores[Side.B].all_score,
        margin=grounded.margin,
        preference=grounded.preference,
        nuggets=len(grounded.nuggets),
    )


def _expected(explanation: Explanation) -> ExpectedScoresView | None:
    if explanation.expected is None:
        return None
    a, b = (explanation.expected[side] for side in Side)
    return ExpectedScoresView(a=a, b=b, margin=a - b)


def judgment_views(judgments: Sequence[Judgment]) -> list[JudgmentView]:
    """The verdicts of some judges."""
    return [
        JudgmentView(
            evaluator=judgment.evaluator,
            winner=judgment.winner,
            flipped=judgment.flipped,
            verdicts=_ordered(judgment.verdicts),
            model=judgment.model,
            probabilities=_probabilities(judgment.probabilities),
            dimensions=[DimensionVerdictView(**asdict(part)) for part in judgment.dimensions],
            members=[_member(member) for member in judgment.members],
            aggregation=judgment.aggregation,
            abstentions=judgment.abstentions,
            tie_band=judgment.tie_band,
            additional=judgment.additional,
            nugget_version=judgment.list_version,
        )
        for judgment in judgments
    ]


def _member(member: MemberVerdict) -> MemberVerdictView:
    return MemberVerdictView(
        name=member.name,
        model=member.model,
        winner=member.winner,
        flipped=member.flipped,
        verdicts=_ordered(member.verdicts),
        abstention=member.abstention,
        probabilities=_probabilities(member.probabilities),
    )


def _ordered(verdicts: Sequence[OrderedVerdict]) -> list[OrderedVerdictView]:
    return [OrderedVerdictView(**asdict(verdict)) for verdict in verdicts]


def _probabilities(told: VoteProbabilities | None) -> VoteProbabilitiesView | None:
    return None if told is None else VoteProbabilitiesView(**asdict(told))
