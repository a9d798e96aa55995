"""What evaluators prefer beside better answers: the position, the length, or the family of their model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nuggetstream.domain.lens import Lens
from nuggetstream.files.results import Results
from nuggetstream.files.table_data import Cell
from nuggetstream.files.tables import Table, count, interval, number, text
from nuggetstream.report.estimates import interval_cells
from nuggetstream.report.numbers.judge import SelfPreference, compute_judge, longer_wins, self_preference
from nuggetstream.report.summary import GROUNDED
from nuggetstream.statistics.share import Share

_NUGGETS = {"nugget preference": Lens.NUGGET, GROUNDED: Lens.GROUNDED}
_NOTES = (
    "first: of single verdicts that prefer an answer, those for the one shown first; nuggets have no order",
    "longer: of preferences between unequal lengths, those for the longer answer; people: in these battles",
    "own: the system of the model's family wins, where evaluator and people both prefer an answer; a dash: "
    "no system is of that family",
    "95%: Wilson's, which takes battles as independent",
)


@dataclass(frozen=True, slots=True)
class BiasRow:
    """One evaluator of one evaluation, with one model.

    Attributes:
        evaluator: Its name.
        model: The model behind it; None where that is unknown.
        first_shown: Single verdicts for the answer shown first; None for nuggets, which have no order.
        flipped: Verdicts that change with the order; None for nuggets.
        longer: Preferences for the longer answer.
        people_longer: The same of people, in the same battles.
        own: Preferences for systems of the model's family; None where no system is.
    """

    evaluator: str
    model: str | None
    first_shown: Share | None
    flipped: Share | None
    longer: Share
    people_longer: Share
    own: SelfPreference | None


def biases_of(results: Mapping[str, Results]) -> Iterator[BiasRow]:
    """The biases of nuggets and judges, by evaluation.

    Args:
        results: Name of an evaluation -> its results.
    """
    for evaluation, own in results.items():
        prefix = "" if len(results) == 1 else f"{evaluation}: "
        yield from _nuggets(prefix, own)
        audits = compute_judge(own)
        alone = len({audit.evaluator for audit in audits}) == 1
        for audit in audits:
            yield BiasRow(
                evaluator=f"{prefix}judge" if alone else f"{prefix}judge {audit.evaluator}",
                model=audit.model,
                first_shown=audit.first_shown,
                flipped=audit.flipped,
                longer=audit.longer,
                people_longer=audit.people_longer,
                own=audit.own,
            )


def _nuggets(prefix: str, results: Results) -> Iterator[BiasRow]:
    models = {battle.label_model for battle in results.battles}
    model = next(iter(models)) if len(models) == 1 else None
    for name, lens in _NUGGETS.items():
        votes = [(battle, vote) for battle in results.battles if (vote := battle.vote(lens)) is not None]
        if votes:
            yield BiasRow(
                evaluator=f"{prefix}{name}",
                model=model,
                first_shown=None,
                flipped=None,
                longer=longer_wins(votes),
                people_longer=longer_wins((battle, battle.human_vote) for battle, _ in votes),
                own=None if model is None else self_preference(model, votes),
            )


def biases_table(rows: Sequence[BiasRow]) -> Table:
    """Position, length and family: a row for each evaluator and model."""
    columns = (
        text("evaluator"),
        text("model"),
        number("first"),
        interval("first_low", "first_high", "95%"),
        number("changed", "changed by order"),
        number("longer"),
        interval("longer_low", "longer_high", "95%"),
        number("people_longer", "people, longer"),
        count("own_battles", "battles of own"),
        number("own"),
        interval("own_low", "own_high", "95%"),
        number("people_own", "people, own"),
    )
    return Table("Biases", columns, tuple(map(_cells, rows)), _NOTES)


def _cells(row: BiasRow) -> tuple[Cell, ...]:
    return (
        *(row.evaluator, row.model),
        *interval_cells(row.first_shown),
        None if row.flipped is None else row.flipped.value,
        *interval_cells(row.longer),
        row.people_longer.value,
        *(
            (None, None, (None, None), None)
            if row.own is None
            else (row.own.by_judge.of, *interval_cells(row.own.by_judge), row.own.by_people.value)
        ),
    )
