"""A stage that waits for the model, as the API shows it."""

from nuggetstream.views.battles import WaitingView
from services.wire.model_state import WaitingStage


def waiting_view(waiting: WaitingStage) -> WaitingView:
    """A stage that waits for the model, in words that everybody may read."""
    return WaitingView(
        stage=waiting.stage,
        cause=waiting.cause.value,
        reason=waiting.reason,
        since=waiting.since,
    )
