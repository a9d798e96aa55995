"""Two evaluations of the same battles: how far they agree, and which one agrees with people more often.

battles that both files have  ->  per predictor: preferences of the two, and of each with people
                                  labels of nuggets with the same text, and what a battle costs in each
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.grouping import grouped
from nuggetstream.figures.drawn import Drawn
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.results import Results
from nuggetstream.files.tables import Table, count, interval, number, text
from nuggetstream.nuggets.label_agreement import LabelAgreement, LabelPair, agreement_of
from nuggetstream.report.battle_cost import BattleCost, mean_cost
from nuggetstream.report.estimates import Case, Estimate, equal_votes, interval_cells, kappa_of, rng
from nuggetstream.report.numbers.inversions import categories_of
from nuggetstream.report.summary import PREDICTORS, predict
from nuggetstream.statistics.agreement import (
    clustered_interval,
    confusion_of,
    credit,
)

_RESAMPLES = 2000
BASELINES = ("longer answer wins", "ROUGE-L to evidence")  # which no evaluator decides
_EVALUATED = {name: vote for name, vote in PREDICTORS.items() if name not in BASELINES}

GROUPS: dict[str, Callable[[BattleRow], Sequence[str]]] = {
    "arena": lambda battle: [battle.arena],
    "language": lambda battle: [battle.known_language or "unknown"],
    "category": categories_of,
    "tag": lambda battle: battle.tags,
}
"""What battles can be grouped by: the groups that a battle is in."""


class DifferentAnswers(ValueError):
    """Two files have different battles under one id."""


@dataclass(frozen=True, slots=True)
class PreferenceRow:
    """The preferences of one predictor in both evaluations.

    Attributes:
        predictor: Name of the predictor.
        battles: Battles for which both have a preference.
        only_first: Battles for which only the first has one.
        only_second: Battles for which only the second has one.
        equal: Share of the battles with the same preference, in [0, 1]; None without a battle.
        kappa: Quadratically weighted kappa over A, tie, B, with its interval; None where it is undefined.
        confusion: (3, 3) counts over A, tie, B: rows for the first, columns for the second.
        opposite: Ids of battles of which one prefers A and the other B.
        by: The share of equal preferences and the number of battles in each group.
    """

    predictor: str
    battles: int
    only_first: int
    only_second: int
    equal: Estimate | None
    kappa: Estimate | None
    confusion: Sequence[Sequence[int]]
    opposite: Sequence[str]
    by: Mapping[str, tuple[Estimate, int]]


@dataclass(frozen=True, slots=True)
class HumanRow:
    """Both evaluations beside people, over battles that both decided and people did not call a tie.

    Attributes:
        dimension: What people were asked for.
        predictor: Name of the predictor.
        battles: Number of these battles.
        first: Share in which the first agrees with people, in [0, 1]; a predicted tie counts half.
        second: The same of the second.
        difference: Second minus first.
    """

    dimension: str
    predictor: str
    battles: int
    first: float
    second: float
    difference: Estimate


@dataclass(frozen=True, slots=True, repr=False)
class Compared(Drawn):
    """Two evaluations of the same battles. Printed, it is the table of preferences.

    Attributes:
        battles: Number of battles in both.
        only_first: Battles that only the first has.
        only_second: Battles that only the second has.
        preferences: A row for each predictor that both have.
        people: A row for each human dimension and predictor.
        labels: Agreement on labels of nuggets with the same text, in counts of answers times nuggets.
        costs: What a battle costs in the first and in the second.
    """

    battles: int
    only_first: int
    only_second: int
    preferences: Sequence[PreferenceRow]
    people: Sequence[HumanRow]
    labels: LabelAgreement
    costs: tuple[BattleCost, BattleCost]

    def table(self) -> Table:
        """A row for each predictor that both have."""
        columns = (
            text("predictor"),
            count("battles"),
            number("equal", digits=3),
            interval("equal_low", "equal_high", "95%"),
            number("kappa"),
            interval("kappa_low", "kappa_high", "95%"),
            count("opposite"),
            count("only_first"),
            count("only_second"),
        )
        rows = [
            (
                row.predictor,
                row.battles,
                *interval_cells(row.equal),
                *interval_cells(row.kappa),
                len(row.opposite),
                row.only_first,
                row.only_second,
            )
            for row in self.preferences
        ]
        return Table("Preferences in both", columns, tuple(rows))


def compare(first: Results, second: Results, by: str | None = None) -> Compared:
    """Compare two evaluations, battle by battle.

    Intervals are bootstraps over queries: battles about the same query are not independent.

    Args:
        first: An evaluation.
        second: Another evaluation of the same battles, by other models, prompts or settings.
        by: Name of the grouping, a key of `GROUPS`; None for no groups.

    Raises:
        DifferentAnswers: A battle of one file has other answers than that of the other with the same id.
        ValueError: There is no such grouping.
    """
    if by is not None and by not in GROUPS:
        raise ValueError(f"by is {by!r}, and must be one of {', '.join(GROUPS)}")
    ours = {battle.id: battle for battle in first.battles}
    theirs = {battle.id: battle for battle in second.battles}
    ids = [name for name in ours if name in theirs]
    pairs = [(ours[name], theirs[name]) for name in ids]
    for x, y in pairs:
        check_answers(x, y, first.name, second.name)
    votes = [predict([pair[side] for pair in pairs], _EVALUATED) for side in (0, 1)]
    names = [name for name in votes[0] if name in votes[1]]
    battles = [pair[0] for pair in pairs]
    dimensions = dict.fromkeys(name for battle in battles for name in battle.preferences)
    rows = [_people(battles, votes, name, dimension) for dimension in dimensions for name in names]
    return Compared(
        battles=len(ids),
        only_first=len(ours) - len(ids),
        only_second=len(theirs) - len(ids),
        preferences=[_preferences(battles, votes, name, by) for name in names],
        people=[row for row in rows if row is not None],
        labels=agreement_of(Counter(pair for _, pair in label_pairs_of(pairs))),
        costs=(mean_cost(battles), mean_cost([pair[1] for pair in pairs])),
    )


def check_answers(first: BattleRow, second: BattleRow, first_name: str, second_name: str) -> None:
    """Check that two battles with one id have the same answers.

    Raises:
        DifferentAnswers: They have not; names both files.
    """
    if (first.a.text, first.b.text) != (second.a.text, second.b.text):
        raise DifferentAnswers(f"battle {first.id} has other answers in {second_name} than in {first_name}")


_Votes = Sequence[Mapping[str, Sequence[Vote | None]]]


def _preferences(battles: Sequence[BattleRow], votes: _Votes, name: str, by: str | None) -> PreferenceRow:
    rows = list(zip(battles, votes[0][name], votes[1][name], strict=True))
    both = [(battle, x, y) for battle, x, y in rows if x is not None and y is not None]
    confusion = confusion_of([x for _, x, _ in both], [y for _, _, y in both])
    return PreferenceRow(
        predictor=name,
        battles=len(both),
        only_first=sum(x is not None and y is None for _, x, y in rows),
        only_second=sum(x is None and y is not None for _, x, y in rows),
        equal=equal_votes(both) if both else None,
        kappa=kappa_of(both),
        confusion=confusion.astype(int).tolist(),
        opposite=[battle.id for battle, x, y in both if {x, y} == {Vote.A, Vote.B}],
        by={group: (equal_votes(own), len(own)) for group, own in by_group(both, by)},
    )


def by_group(cases: Sequence[Case], by: str | None) -> list[tuple[str, list[Case]]]:
    """The cases of each group by name; none without a grouping."""
    if by is None:
        return []
    return sorted(grouped((group, case) for case in cases for group in GROUPS[by](case[0])).items())


def _people(battles: Sequence[BattleRow], votes: _Votes, name: str, dimension: str) -> HumanRow | None:
    rows = [
        (battle.query, reference, x, y)
        for battle, x, y in zip(battles, votes[0][name], votes[1][name], strict=True)
        if (reference := battle.preferences.get(dimension)) is not None and not reference.is_tie
        if x is not None and y is not None
    ]
    if not rows:
        return None
    first = np.array([credit(x, reference) for _, reference, x, _ in rows])
    second = np.array([credit(y, reference) for _, reference, _, y in rows])
    low, high = clustered_interval(second - first, [query for query, *_ in rows], rng(), _RESAMPLES)
    mean = float((second - first).mean())
    difference = Estimate(mean, low, high) if low < high else Estimate(mean, None, None)
    return HumanRow(
        dimension=dimension,
        predictor=name,
        battles=len(rows),
        first=float(first.mean()),
        second=float(second.mean()),
        difference=difference,
    )


def label_pairs_of(pairs: Iterable[tuple[BattleRow, BattleRow]]) -> Iterator[tuple[str, LabelPair]]:
    """The query and both labels of every answer and nugget with the same text in two evaluations."""
    for first, second in pairs:
        by_text = {nugget.text: nugget for nugget in first.nuggets}
        for nugget in second.nuggets:
            if (same := by_text.get(nugget.text)) is None:
                continue
            for side in Side:
                x, y = getattr(same, side.value), getattr(nugget, side.value)
                if x is not None and y is not None:
                    yield first.query, (x.support, y.support)
