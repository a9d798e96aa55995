"""Why battles were not scored: counted by stage and reason, and in words."""

from collections import Counter
from collections.abc import Iterable, Mapping

from nuggetstream.domain.failure import Reason
from nuggetstream.files.evaluated import BattleRow

_INTAKE = "intake"


def failure_counts(battles: Iterable[BattleRow], rejected: int) -> dict[str, int]:
    """How often each "stage: reason" happened, most frequent first."""
    return most_frequent_first(
        Counter(reason for battle in battles for reason in reasons_of(battle)), rejected
    )


def in_words(reasons: Mapping[str, int]) -> dict[str, int]:
    """Reasons as a reader reads them; a stage is named where it failed, not for what the texts contain.

    Args:
        reasons: As `Summary.reasons`.

    >>> in_words({"judge: deadline": 2, "nuggetizer: no_vital_nugget": 1})
    {'judge: it took too long': 2, 'no nugget is vital': 1}
    """
    counts: Counter[str] = Counter()
    for key, count in reasons.items():
        stage, reason = _parsed(key)
        if reason is None:
            counts[key.removesuffix(".")] += count
        else:
            counts[reason.words if reason.is_finding else f"{stage}: {reason.words}"] += count
    return dict(counts.most_common())


def can_be_retried(reasons: Mapping[str, int]) -> bool:
    """Whether a stage failed on a battle, so that another attempt, or other settings, may score it.

    >>> can_be_retried({"nuggetizer: nothing_to_score": 1, "intake: invalid_input": 1})
    False
    >>> can_be_retried({"judge: deadline": 2})
    True
    """
    return any(
        stage != _INTAKE and reason is not None and not reason.is_finding
        for stage, reason in map(_parsed, reasons)
    )


def _parsed(key: str) -> tuple[str, Reason | None]:
    """Stage and reason of "stage: reason"; no reason where the key is a sentence or of a later version."""
    stage, _, value = key.partition(": ")
    return stage, Reason(value) if value in set(Reason) else None


def reasons_of(battle: BattleRow) -> list[str]:
    """Each "stage: reason" of a battle, and why its nuggets decide nothing."""
    reasons = [f"{failure.stage}: {failure.reason}" for failure in battle.failures]
    return [*reasons, battle.undecided] if battle.undecided else reasons


def most_frequent_first(reasons: Counter[str], rejected: int) -> dict[str, int]:
    """Reasons with how often each happened; lines that were rejected are one of them."""
    at_intake = Counter({f"{_INTAKE}: {Reason.INVALID_INPUT}": rejected} if rejected else {})
    return dict((reasons + at_intake).most_common())
