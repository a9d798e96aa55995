"""How far evaluators agree with people and with each other, with intervals that resample whole queries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from nuggetstream.domain.battle import Vote
from nuggetstream.nuggets.label_agreement import ORDER, LabelPair
from nuggetstream.report.comparing import by_group, label_pairs_of
from nuggetstream.report.estimates import (
    Case,
    Estimate,
    equal_share,
    equal_votes,
    kappa_of,
    kappa_of_tables,
    rng,
)
from nuggetstream.report.evaluator_votes import Evaluator, Gathered
from nuggetstream.statistics.agreement import Agreement, agreement, confusion_of


@dataclass(frozen=True, slots=True)
class PeopleRow:
    """One evaluator beside people.

    Attributes:
        evaluator: Name of the evaluator.
        dimension: What people were asked for.
        group: Name of the group of battles; None for all.
        battles: Battles with a vote of both.
        right: Share of people's decisions that it agrees with; a predicted tie counts half.
        kappa: Quadratically weighted kappa over A, tie, B; None where it is undefined.
        confusion: (3, 3) counts over A, tie, B: rows for people, columns for the evaluator.
        inverted: Ids of battles in which it prefers A and people B, or the other way round.
    """

    evaluator: str
    dimension: str
    group: str | None
    battles: int
    right: Agreement
    kappa: Estimate | None
    confusion: Sequence[Sequence[int]]
    inverted: Sequence[str]


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two evaluators, or the labels of nuggets in two evaluations.

    Attributes:
        first: Name of the first.
        second: Name of the second.
        cases: Battles with a vote of both, or labels that both gave.
        equal: Share of these that are equal, in [0, 1].
        kappa: Quadratically weighted kappa over A, tie, B, or over the labels in their order; None where it
            is undefined.
    """

    first: str
    second: str
    cases: int
    equal: Estimate
    kappa: Estimate | None


def with_people(gathered: Gathered, dimensions: Sequence[str], by: str | None) -> Iterator[PeopleRow]:
    """Every evaluator beside people: all battles in each dimension, then groups in the first one."""
    for dimension in dimensions:
        for evaluator in gathered.evaluators:
            if cases := _cases(gathered, evaluator, dimension):
                yield _people(evaluator, dimension, None, cases)
    for evaluator in gathered.evaluators if dimensions else ():
        for group, cases in by_group(_cases(gathered, evaluator, dimensions[0]), by):
            yield _people(evaluator, dimensions[0], group, cases)


def with_each_other(evaluators: Sequence[Evaluator], gathered: Gathered) -> Iterator[PairRow]:
    """Every two evaluators that both have a vote on a battle; baselines are left out."""
    for first, second in combinations([one for one in evaluators if not one.baseline], 2):
        cases = [
            (gathered.battles[name], vote, second.votes[name])
            for name, vote in first.votes.items()
            if name in second.votes
        ]
        if cases:
            yield PairRow(
                first=first.name,
                second=second.name,
                cases=len(cases),
                equal=equal_votes(cases),
                kappa=kappa_of(cases),
            )


def labels_with_each_other(gathered: Gathered) -> Iterator[PairRow]:
    """The labels of nuggets with the same text in every two evaluations."""
    for (first, ours), (second, theirs) in combinations(gathered.results.items(), 2):
        other = {battle.id: battle for battle in theirs.battles}
        both = ((battle, other[battle.id]) for battle in ours.battles if battle.id in other)
        labels = list(label_pairs_of(both))
        if labels:
            yield PairRow(
                first=first,
                second=second,
                cases=len(labels),
                equal=equal_share([(query, x is y) for query, (x, y) in labels]),
                kappa=kappa_of_tables(_label_tables(labels)),
            )


def _cases(gathered: Gathered, evaluator: Evaluator, dimension: str) -> list[Case]:
    """The battles with a vote of people and of an evaluator, that of people first."""
    return [
        (battle, human, vote)
        for name, vote in evaluator.votes.items()
        if (human := (battle := gathered.battles[name]).preferences.get(dimension)) is not None
    ]


def _people(evaluator: Evaluator, dimension: str, group: str | None, cases: Sequence[Case]) -> PeopleRow:
    people, votes = [human for _, human, _ in cases], [vote for *_, vote in cases]
    return PeopleRow(
        evaluator=evaluator.name,
        dimension=dimension,
        group=group,
        battles=len(cases),
        right=agreement(votes, people, [battle.query for battle, *_ in cases], rng()),
        kappa=kappa_of(cases),
        confusion=confusion_of(people, votes).astype(int).tolist(),
        inverted=[battle.id for battle, human, vote in cases if {human, vote} == {Vote.A, Vote.B}],
    )


def _label_tables(labels: Sequence[tuple[str, LabelPair]]) -> NDArray[np.float64]:
    """(queries, 4, 4) counts of pairs of labels."""
    index_of = {query: index for index, query in enumerate(dict.fromkeys(query for query, _ in labels))}
    tables = np.zeros((len(index_of), len(ORDER), len(ORDER)))
    for query, (x, y) in labels:
        tables[index_of[query], ORDER.index(x), ORDER.index(y)] += 1
    return tables
