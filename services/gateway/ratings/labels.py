"""The agreement of second assigners as the API shows it."""

from nuggetstream.nuggets.label_agreement import ORDER, agreement_of
from nuggetstream.views.comparisons import LabelAgreementView
from services.store.outcomes.label_agreement import CountedLabels


def label_view(counted: CountedLabels) -> LabelAgreementView:
    """One second assigner of an arena."""
    agreement = agreement_of(counted.counts)
    return LabelAgreementView(
        evaluator=counted.evaluator,
        model=counted.model,
        battles=counted.battles,
        labels=agreement.labels,
        agreed=agreement.agreed,
        kappa=agreement.kappa,
        kappa_unweighted=agreement.unweighted,
        counts={first: {second: counted.counts[first, second] for second in ORDER} for first in ORDER},
    )
