"""What ties and "both bad" say about two systems: the one place that decides it."""

from enum import StrEnum

from nuggetstream.domain.battle import Vote


class TiePolicy(StrEnum):
    """What a tie says about two systems. Stored with every board."""

    HALF = "half"  # half a win for each, "both bad" too
    DROP_BOTH_BAD = "drop_both_bad"  # ties half, "both bad" not counted
    DROP = "drop"  # decisive battles only
    DAVIDSON = "davidson"  # an outcome of its own, with one parameter for how common ties are
    RAO_KUPPER = "rao_kupper"  # an outcome of its own, with a parameter for the gap that voters do not notice

    @property
    def models_ties(self) -> bool:
        """Whether ties are an outcome of their own instead of half a win for each."""
        return self in (TiePolicy.DAVIDSON, TiePolicy.RAO_KUPPER)

    def counts(self, vote: Vote) -> bool:
        """Whether a vote counts.

        >>> [policy.value for policy in TiePolicy if not policy.counts(Vote.BOTH_BAD)]
        ['drop_both_bad', 'drop']
        """
        if vote is Vote.BOTH_BAD:
            return self not in (TiePolicy.DROP_BOTH_BAD, TiePolicy.DROP)
        return self is not TiePolicy.DROP or not vote.is_tie
