"""What the verdicts of judges depend on beside the answers, as JSON."""

from nuggetstream.domain.lens import Lens
from nuggetstream.views.common import View


class ShareView(View):
    """A share of verdicts with its 95% Wilson interval; null without cases."""

    count: int
    of: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    few: bool
    """Whether there are fewer than 30 cases, too few to say much."""


class JudgeBiasView(View):
    """One judge and model in one arena."""

    evaluator: str
    lens: Lens
    model: str
    family: str | None = None
    """Family of the model by its name; null where it is not known."""
    verdicts: int
    """Verdicts of this model."""
    order_changed: ShareView
    """Verdicts that changed with the order of the answers, of those asked in both orders."""
    favours_first: ShareView
    """Of those, verdicts in favour of the answer shown first; the others favour the second."""
    longer_wins: ShareView
    """Verdicts for the longer answer, of those that prefer one of two unequal lengths."""
    twice_as_long_wins: ShareView
    """The same where it is at least twice as long."""
    people_longer_wins: ShareView
    """The longer answer wins by human votes, in the battles that this judge judged."""
    nuggets_longer_wins: ShareView
    """The longer answer wins by the nuggets, in the same battles."""
    own_family_wins: ShareView | None = None
    """Verdicts for the system of the judge's family, against systems that are not known to be; null where the
    family of the model is not known."""
    people_own_family_wins: ShareView | None = None
    nuggets_own_family_wins: ShareView | None = None
