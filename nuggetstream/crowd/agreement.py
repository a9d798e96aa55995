"""How far a crowd, experts and an LLM judge agree in each dimension of CrowdRAG-25.

Every function returns dimension -> Krippendorff's alpha (ordinal over A, tie, B), or None where alpha is
undefined. Papers print the `mean` over the dimensions.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import fsum

from nuggetstream.crowd.competence import SPAM_LIMIT, kept_votes
from nuggetstream.crowd.differentiability import Split, split_by_differentiability
from nuggetstream.domain.battle import Vote
from nuggetstream.files.crowdrag import DIMENSIONS, ORDINAL, Judged, Pair, RatedPair, in_order
from nuggetstream.statistics.krippendorff import alpha

ByDimension = dict[str, float | None]
Unit = Sequence[Vote]


def mean(by_dimension: Mapping[str, float | None]) -> float | None:
    """Plain mean over the dimensions; None when one of them is undefined or there is no dimension.

    >>> mean({"depth": 0.2, "style": 0.4}), mean({"depth": 0.2, "style": None})
    (0.30000000000000004, None)
    """
    present = [value for value in by_dimension.values() if value is not None]
    return fsum(present) / len(present) if present and len(present) == len(by_dimension) else None


def crowd_alpha(pairs: Sequence[RatedPair], *, corrected: bool = False) -> ByDimension:
    """Alpha of the votes on each pair as it was shown.

    Args:
        pairs: Rated pairs, at least one.
        corrected: Whether to leave out votes whose published spam probability is above 0.7.
    """
    return {name: _alpha(_units(pairs, name, corrected)) for name in DIMENSIONS}


def differentiable(pairs: Sequence[RatedPair]) -> Split[Pair]:
    """Pairs, as shown, whose answers people can tell apart, and the other pairs."""
    return split_by_differentiability({rated.pair: rated.votes for rated in pairs})


def judged_alpha(groups: Iterable[Sequence[Judged]], *, as_shown: bool = False) -> ByDimension:
    """Alpha of judgments, each group of which is about one pair.

    Args:
        groups: Judgments of each pair, such as those of an LLM judge in both orders.
        as_shown: Whether to take labels as they were given instead of turning all pairs to alphabetical
            order. Only for groups that all saw one order. The results differ even then, because alpha
            depends on how often each label is used, and turning pairs changes that.
    """
    groups = list(groups)
    return {
        name: _alpha([_labels(group, name, as_shown=as_shown) for group in groups]) for name in DIMENSIONS
    }


def judge_and_gold_alpha(groups: Iterable[Sequence[Judged]], pairs: Sequence[RatedPair]) -> ByDimension:
    """Alpha of a judge's verdicts together with the gold labels of the same pairs, in both orders.

    Args:
        groups: Verdicts of the judge on each pair.
        pairs: Pairs with gold labels; only pairs that the judge saw count.
    """
    ratings_of = pairs_of(pairs)
    return judged_alpha([*group, *_gold_about(group, ratings_of)] for group in groups)


def pairs_of(pairs: Sequence[RatedPair]) -> dict[Pair, list[RatedPair]]:
    """Pair in alphabetical order -> its ratings in the one or two orders in which it was shown."""
    ratings_of = defaultdict(list)
    for rated in pairs:
        ratings_of[in_order(rated.pair)].append(rated)
    return dict(ratings_of)


def _alpha(units: Iterable[Unit]) -> float | None:
    return alpha(units, ORDINAL)


def _labels(group: Sequence[Judged], dimension: str, *, as_shown: bool) -> Unit:
    labels = (judged.labels.get(dimension) if as_shown else judged.label(dimension) for judged in group)
    return [label for label in labels if label is not None]


def _units(pairs: Sequence[RatedPair], dimension: str, corrected: bool) -> list[Unit]:
    limit = SPAM_LIMIT if corrected else 1.0
    return [kept_votes(rated.votes[dimension], rated.spam[dimension], limit) for rated in pairs]


def _gold_about(group: Sequence[Judged], ratings_of: Mapping[Pair, Sequence[RatedPair]]) -> list[Judged]:
    ratings = ratings_of.get(group[0].unordered, ()) if group else ()
    return [Judged(rated.topic, rated.pair, "gold", rated.gold) for rated in ratings]
