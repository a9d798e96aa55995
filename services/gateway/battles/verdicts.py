"""What nuggets and judges say about a battle, as the API shows it."""

from collections.abc import Iterable, Mapping, Sequence

from nuggetstream.domain.battle import Side
from nuggetstream.domain.judgment import Judgment
from nuggetstream.domain.nugget import Assignment, Cause, Importance, Nugget
from nuggetstream.domain.snapshot import BattleSnapshot
from nuggetstream.nuggets.explanation import Explanation
from nuggetstream.views.battles import (
    ExpectedScoresView,
    NuggetVerdictView,
    NuggetView,
)
from nuggetstream.views.grounding import GroundedVerdictView
from nuggetstream.views.judgments import (
    JudgmentView,
)
from nuggetstream.views.labels import LabelAuthorView, LabelView


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
        correction = assignment.correction
        author = correction and LabelAuthorView.showing(correction, model=correction.model.support)
        return LabelView.showing(assignment, cause=causes.get((nugget.id, side)), set_by=author)

    quotation = None if nugget.grounds is None else nugget.grounds.quotation
    return NuggetView.showing(nugget, a=label(Side.A), b=label(Side.B), quotation=quotation)


def nugget_verdict_view(explanation: Explanation) -> NuggetVerdictView | None:
    """The scores of both answers; None before every nugget has its labels, and where they decide nothing."""
    if explanation.scores is None or explanation.margin is None or explanation.preference is None:
        return None
    return NuggetVerdictView(
        a=explanation.scores[Side.A],
        b=explanation.scores[Side.B],
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
    a, b = (grounded.scores[side].all_score for side in Side)
    return GroundedVerdictView.showing(grounded, a=a, b=b, nuggets=len(grounded.nuggets))


def _expected(explanation: Explanation) -> ExpectedScoresView | None:
    if explanation.expected is None:
        return None
    a, b = (explanation.expected[side] for side in Side)
    return ExpectedScoresView(a=a, b=b, margin=a - b)


def judgment_views(judgments: Sequence[Judgment]) -> list[JudgmentView]:
    """The verdicts of some judges."""
    return [JudgmentView.showing(judgment, nugget_version=judgment.list_version) for judgment in judgments]
