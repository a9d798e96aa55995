"""Evaluators of one or several evaluations beside people: who agrees, what that costs, how to combine them.

evaluations of the same battles  ->  agreement with people and with each other,
                                     costs, calibration, combinations
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from nuggetstream.domain.battle import Vote
from nuggetstream.figures.drawn import Drawn, DrawnTable
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.results import Results
from nuggetstream.files.tables import Table
from nuggetstream.report.battle_cost import BattleCost
from nuggetstream.report.comparing import GROUPS
from nuggetstream.report.evaluator_agreement import (
    PairRow,
    PeopleRow,
    labels_with_each_other,
    with_each_other,
    with_people,
)
from nuggetstream.report.evaluator_biases import BiasRow, biases_of, biases_table
from nuggetstream.report.evaluator_tables import (
    bins_table,
    calibration_table,
    combinations_table,
    confusion_table,
    costs_table,
    decided_table,
    inversions_table,
    pairs_table,
    people_table,
)
from nuggetstream.report.evaluator_votes import Evaluator, Gathered, gather
from nuggetstream.report.numbers.calibration import JudgeCalibration, compute_calibration, resampled_nuggets
from nuggetstream.statistics.combination import Combinations, Voter, combine

_ENOUGH = 0.5  # share of the decided battles that an evaluator needs to be combined


@dataclass(frozen=True, slots=True, repr=False)
class EvaluatorStudy(Drawn):
    """Evaluators beside people. Printed, it is the table of agreement with people.

    Attributes:
        battles: Battles by id, from the first evaluation that has them.
        people: Each evaluator beside people: in each dimension, then in each group.
        pairs: Each two evaluators.
        labels: Labels of nuggets with the same text in each two evaluations.
        costs: Evaluator -> what its model calls of a battle cost.
        calibrations: Evaluation and scorer with probabilities, as far as people voted.
        biases: Preferences of nuggets and judges for position, length and the family of their model.
        combinations: Evaluators combined, in the first dimension; None without a battle that all decide.
        left_out: Evaluators with too few votes to be combined.
        by: Name of the grouping; None without one.
    """

    battles: Mapping[str, BattleRow]
    people: Sequence[PeopleRow]
    pairs: Sequence[PairRow]
    labels: Sequence[PairRow]
    costs: Mapping[str, BattleCost]
    calibrations: Sequence[tuple[str, JudgeCalibration]]
    biases: Sequence[BiasRow]
    combinations: Combinations | None
    left_out: Sequence[str]
    by: str | None = None

    def table(self) -> Table:
        """Agreement with people: a row for each evaluator, dimension and group."""
        return people_table(self.people, self.by)

    def confusion_table(self) -> Table:
        """What each evaluator says where people say A, tie and B, in the first dimension."""
        return confusion_table(self._first())

    def decided_table(self) -> Table:
        """The same without ties of people and of the evaluator."""
        return decided_table(self._first())

    def inversions_table(self, most: int = 5) -> Table:
        """Battles in which an evaluator prefers the answer that people reject, in the first dimension.

        Args:
            most: How many battles are listed for each evaluator.
        """
        return inversions_table(self._first(), self.battles, most)

    def pairs_table(self) -> Table:
        """How often each two evaluators prefer the same answer."""
        return pairs_table(self.pairs, labels=False)

    def labels_table(self) -> Table:
        """How often the labels of two evaluations are equal, where nuggets have the same text."""
        return pairs_table(self.labels, labels=True)

    def costs_table(self) -> DrawnTable:
        """How often each evaluator is right, beside what its model calls cost; `plot()` draws it."""
        return costs_table([(row, self.costs[row.evaluator]) for row in self._first()])

    def calibration_table(self) -> Table:
        """How far the probabilities of each scorer fit what people said."""
        return calibration_table(self.calibrations)

    def bins_table(self) -> Table:
        """The share in which each scorer is right, by its confidence, in the first dimension."""
        first = [row.dimension for row in self._first()[:1]]
        return bins_table([(name, own) for name, own in self.calibrations if own.dimension in first])

    def biases_table(self) -> Table:
        """How often nuggets and judges prefer the answer shown first, the longer one, and their family's."""
        return biases_table(self.biases)

    def combinations_table(self) -> Table:
        """Panels and cascades, the best on the half of the queries that it is chosen on first."""
        return combinations_table(self.combinations, self.left_out)

    def numbers(self) -> dict[str, Any]:
        """All numbers as plain values, without the battles."""
        numbers = asdict(replace(self, battles={}))
        return {name: value for name, value in numbers.items() if name != "battles"}

    def _first(self) -> list[PeopleRow]:
        """The rows of the first dimension over all battles."""
        first = self.people[0].dimension if self.people else None
        return [row for row in self.people if row.dimension == first and row.group is None]


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
            (name, found)
            for name, own in results.items()
            for found in (*compute_calibration(own), *resampled_nuggets(own))
            if found.calibration.cases
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
    known = [evaluator.margins.get(name) for name in battles]
    margins = [margin for margin in known if margin is not None]
    return Voter(
        name=evaluator.name,
        votes=[evaluator.votes[name] for name in battles],
        margins=margins if len(margins) == len(battles) else (),
        calls=evaluator.cost.calls,
    )
