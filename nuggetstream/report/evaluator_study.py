"""Evaluators of one or several evaluations beside people: who agrees, what that costs, how to combine them.

evaluations of the same battles  ->  agreement with people and with each other,
                                     costs, calibration, combinations
"""

from collections.abc import Mapping, Sequence

from nuggetstream.domain.battle import Vote
from nuggetstream.files.results import Results
from nuggetstream.report.comparing import GROUPS
from nuggetstream.report.evaluator_agreement import labels_with_each_other, with_each_other, with_people
from nuggetstream.report.evaluator_biases import biases_of
from nuggetstream.report.evaluator_tables import EvaluatorStudy
from nuggetstream.report.evaluator_votes import Evaluator, Gathered, gather
from nuggetstream.report.numbers.calibration import compute_calibration, resampled_nuggets
from nuggetstream.statistics.combination import Combinations, Voter, combine

_ENOUGH = 0.5  # share of the decided battles that an evaluator needs to be combined


def study_evaluators(results: Mapping[str, Results], by: str | None = None) -> EvaluatorStudy:
    """Set the evaluators of evaluations beside people, and beside each other.

    Args:
        results: Name of an evaluation -> its results, at least one.
        by: Name of the grouping, a key of `GROUPS`; None for no groups.

    Raises:
        DifferentAnswers: Two evaluations have different answers under one id.
        ValueError: There is no such grouping.
    """
    if by is not None and by not in GROUPS:
        raise ValueError(f"by is {by!r}, and must be one of {', '.join(GROUPS)}")
    gathered = gather(results)
    dimensions = Results("all", tuple(gathered.battles.values())).dimensions
    combinations, left_out = _combined(gathered, dimensions[0]) if dimensions else (None, ())
    return EvaluatorStudy(
        battles=gathered.battles,
        people=list(with_people(gathered, dimensions, by)),
        pairs=list(with_each_other(gathered.evaluators, gathered)),
        labels=list(labels_with_each_other(gathered)),
        costs={evaluator.name: evaluator.cost for evaluator in gathered.evaluators},
        calibrations=[
            (name, scorer)
            for name, own in results.items()
            for scorer in (*compute_calibration(own), *resampled_nuggets(own))
            if scorer.calibration.cases
        ],
        biases=list(biases_of(results)),
        combinations=combinations,
        left_out=left_out,
        by=by,
    )


def _combined(gathered: Gathered, dimension: str) -> tuple[Combinations | None, Sequence[str]]:
    decided = {
        name: vote
        for name, battle in gathered.battles.items()
        if (vote := battle.preferences.get(dimension)) is not None and not vote.is_tie
    }
    models = [one for one in gathered.evaluators if not one.baseline]
    enough = [one for one in models if len(one.votes.keys() & decided.keys()) >= _ENOUGH * len(decided) > 0]
    shared = [name for name in decided if all(name in one.votes for one in enough)]
    left_out = [one.name for one in models if one not in enough]
    if not shared or not enough:
        return None, left_out
    people: list[Vote] = [decided[name] for name in shared]
    topics = [gathered.battles[name].query for name in shared]
    return combine([_voter(one, shared) for one in enough], people, topics), left_out


def _voter(evaluator: Evaluator, battles: Sequence[str]) -> Voter:
    of_battles = [evaluator.margins.get(name) for name in battles]
    margins = [margin for margin in of_battles if margin is not None]
    return Voter(
        name=evaluator.name,
        votes=[evaluator.votes[name] for name in battles],
        margins=margins if len(margins) == len(battles) else (),
        calls=evaluator.cost.calls,
    )
