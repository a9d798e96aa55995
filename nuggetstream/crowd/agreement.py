"""How far a crowd, experts and an LLM judge agree, dimension by dimension.

Every function returns dimension -> Krippendorff's alpha (ordinal over A, tie, B), None where alpha has no
answer. `mean` is the figure that papers print.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from nuggetstream.crowd.competence import SPAM_LIMIT, kept_votes
from nuggetstream.crowd.differentiability import Split, split_by_differentiability
from nuggetstream.domain.battle import Vote
from nuggetstream.files.crowdrag import DIMENSIONS, ORDINAL, Judged, Pair, RatedPair, in_order
from nuggetstream.statistics.krippendorff import alpha

ByDimension = dict[str, float | None]
Unit = Sequence[Vote]


def mean(by_dimension: Mapping[str, float | None]) -> float | None:
    """Plain mean over the dimensions; None as soon as one has no answer, or there is none."""
    known = [value for value in by_dimension.values() if value is not None]
    return sum(known) / len(known) if known and len(known) == len(by_dimension) else None


def crowd_alpha(pairs: Sequence[RatedPair], *, corrected: bool = False) -> ByDimension:
    """Agreement of the votes on each pair as it was shown.

    Args:
        pairs: at least one.
        corrected: leave out votes that are spam with a probability above 0.7.
    """
    return {name: _alpha(_units(pairs, name, corrected)) for name in DIMENSIONS}


def differentiable(pairs: Sequence[RatedPair]) -> Split[Pair]:
    """The pairs that people can tell apart, and the others, by pair as shown."""
    return split_by_differentiability({rated.pair: rated.votes for rated in pairs})


def judged_alpha(groups: Iterable[Sequence[Judged]], *, as_shown: bool = False) -> ByDimension:
    """Agreement within groups of judgments on one pair.

    Args:
        groups: the judgments that are units of one pair, such as the two orders of an LLM judge.
        as_shown: take labels as they were given. Only for groups that all saw one order; even there it is
            a choice, for alpha depends on how often each label is used, and turning pairs changes that.
    """
    groups = list(groups)
    return {
        name: _alpha([_labels(group, name, as_shown=as_shown) for group in groups]) for name in DIMENSIONS
    }


def judge_and_gold_alpha(groups: Iterable[Sequence[Judged]], pairs: Sequence[RatedPair]) -> ByDimension:
    """Agreement of a judge's verdicts with the gold labels of the same pair, both orders of both.

    Args:
        groups: the judge's verdicts per pair.
        pairs: with gold labels; only pairs that the judge saw count.
    """
    return judged_alpha([*group, *_gold_about(group, pairs_of(pairs))] for group in groups)


def pairs_of(pairs: Sequence[RatedPair]) -> dict[Pair, list[RatedPair]]:
    """Pair in alphabetical order -> the one or two ways round it was shown."""
    found = defaultdict(list)
    for rated in pairs:
        found[in_order(rated.pair)].append(rated)
    return dict(found)


def _alpha(units: Iterable[Unit]) -> float | None:
    return alpha(units, ORDINAL)


def _labels(group: Sequence[Judged], dimension: str, *, as_shown: bool) -> Unit:
    said = (one.labels.get(dimension) if as_shown else one.label(dimension) for one in group)
    return [label for label in said if label is not None]


def _units(pairs: Sequence[RatedPair], dimension: str, corrected: bool) -> list[Unit]:
    limit = SPAM_LIMIT if corrected else 1.0
    return [kept_votes(rated.votes[dimension], rated.spam[dimension], limit) for rated in pairs]


def _gold_about(group: Sequence[Judged], known: Mapping[Pair, Sequence[RatedPair]]) -> list[Judged]:
    rated = known.get(group[0].unordered, ()) if group else ()
    return [Judged(one.topic, one.pair, "gold", one.gold) for one in rated]
