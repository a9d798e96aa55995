"""What the labels of a crowd tell: agreement, gold labels, competence, pairs that people can tell apart."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nuggetstream.crowd.dimension import ALPHA_KINDS, DimensionStudy, study_dimension
from nuggetstream.crowd.learning import CompetenceOptions
from nuggetstream.crowd.ordering import SessionPositions, session_positions
from nuggetstream.crowd.pair_split import PairSplit, split_pairs
from nuggetstream.crowd.reliability import Alpha, mean
from nuggetstream.crowd.remarks import notes_of
from nuggetstream.crowd.scale import ScaleOptions, UnusableLabels, scale_labels
from nuggetstream.domain.inputs import is_missing
from nuggetstream.domain.note import Note
from nuggetstream.domain.worker_label import WorkerLabel, repetition, shortest_form
from nuggetstream.figures.drawn import Drawn
from nuggetstream.files.numerals import many
from nuggetstream.files.numerals import number as number_text
from nuggetstream.files.tables import Table, count, flag, interval, number, text


@dataclass(frozen=True, slots=True)
class CrowdOptions:
    """How labels are studied.

    Attributes:
        scale: What is known about the labels beforehand.
        competence: How competence is learned.
        needed: Number of votes for one label that decide a dimension of a pair.
        decided: Number of decided dimensions that make a pair differentiable.
    """

    scale: ScaleOptions = field(default_factory=ScaleOptions)
    competence: CompetenceOptions = field(default_factory=CompetenceOptions)
    needed: int = 3
    decided: int = 5


@dataclass(frozen=True, slots=True, repr=False)
class CrowdStudy(Drawn):
    """What the labels of a crowd tell. As a table: agreement per dimension; items and workers have their own.

    Attributes:
        options: How the labels were studied.
        dimensions: One entry per dimension, in the order given.
        split: Pairs that people can tell apart, and the others.
        sessions: Positions of items in sessions; None where none is known.
        unlabelled: Number of cells where a label could be and none is.
        remarks: What a reader must know of how the rows were read, as sentences.
    """

    options: CrowdOptions
    dimensions: tuple[DimensionStudy, ...]
    split: PairSplit
    sessions: SessionPositions | None
    unlabelled: int = 0
    remarks: tuple[str, ...] = ()

    @property
    def votes(self) -> int:
        """Number of votes in all dimensions."""
        return sum(len(dimension.votes) for dimension in self.dimensions)

    @property
    def notes(self) -> tuple[Note, ...]:
        """States of the data that change how the numbers are read."""
        return tuple(
            notes_of(
                self.dimensions,
                self.split,
                self.unlabelled,
                positions=self.sessions is not None,
                remarks=self.remarks,
            )
        )

    def mean_alpha(self, kind: str) -> float | None:
        """Plain mean of one of `ALPHA_KINDS` over all dimensions; None when one of them is undefined."""
        alphas = {dimension.name: dimension.alpha(kind) for dimension in self.dimensions}
        return mean({name: alpha.value if alpha else None for name, alpha in alphas.items()})

    def table(self) -> Table:
        """Agreement per dimension, with the numbers of votes behind it."""
        rows = tuple(
            (
                *(
                    dimension.name,
                    dimension.scale.level.value,
                    dimension.items,
                    dimension.workers,
                    len(dimension.votes),
                ),
                dimension.agreement.value,
                _bounds(dimension.agreement),
                *(alpha.value if alpha else None for alpha in map(dimension.alpha, ALPHA_KINDS[1:])),
                *(alpha.votes if alpha else None for alpha in map(dimension.alpha, ALPHA_KINDS[1:])),
                ", ".join(f"{label} {votes:,}" for label, votes in dimension.counts.items()),
            )
            for dimension in self.dimensions
        )
        columns = (
            *(text("dimension"), text("level"), count("items"), count("workers"), count("votes")),
            number("alpha", digits=3),
            interval("alpha_low", "alpha_high", "95%", digits=3),
            number("alpha_without_spam", "without spam", digits=3),
            number("alpha_by_known_spam", "without known spam", digits=3),
            *(count("kept"), count("known_kept"), text("labels", "votes per label")),
        )
        return Table("Agreement (Krippendorff's alpha)", columns, rows, tuple(self._basis()))

    def _basis(self) -> Iterator[str]:
        options = self.options.competence
        if any(dimension.agreement.low is not None for dimension in self.dimensions):
            yield "95%: of alpha, items drawn again with all their votes"
        if len(self.dimensions) > 1:
            means = (f"{kind.replace('_', ' ')} {number_text(self.mean_alpha(kind))}" for kind in ALPHA_KINDS)
            yield f"mean over all dimensions: {', '.join(means)}"
        if any(dimension.learned.missing is None for dimension in self.dimensions):
            starts = f"{many(options.restarts, 'start')} of at most {many(options.iterations, 'iteration')}"
            yield f"kept: votes of workers with a spam probability up to {options.limit:g}"
            yield f"spam probability: MACE, {starts}, seed {options.seed}"
            yield "spam is learned from the same votes: leaving it out raises alpha also without spammers"
        if any(dimension.by_file for dimension in self.dimensions):
            yield f"known kept: votes with a known spam probability up to {options.limit:g}"
        yield from (f"note: {note.text}" for note in self.notes)

    def gold_table(self) -> Table:
        """One row per dimension and item: gold label, majority, and whether people can tell a pair apart."""
        groups = ((True, self.split.differentiable), (False, self.split.minimal))
        differentiable = {item: apart for apart, group in groups if group for item in group.items}
        columns = (
            text("dimension"),
            text("item"),
            text("gold"),
            number("probability", digits=3),
            text("dawid_skene", "Dawid–Skene"),
            text("majority"),
            text("without_spam", "kept majority"),
            count("votes"),
            count("kept"),
            flag("differentiable"),
            text("topic"),
            text("first"),
            text("second"),
        )
        rows = tuple(
            (
                dimension.name,
                *(getattr(item, column.names[0]) for column in columns[1:9]),
                differentiable.get(item.item),
                *(getattr(item.shown, column.names[0], None) for column in columns[10:]),
            )
            for dimension in self.dimensions
            for item in dimension.learned.items
        )
        return Table("Gold labels", columns, rows)

    def workers_table(self) -> Table:
        """One row per dimension and worker: competence, and whether the votes are kept."""
        columns = (
            text("dimension"),
            text("worker"),
            count("votes"),
            count("met"),
            number("spam", digits=3),
            number("competence", digits=3),
            flag("kept"),
        )
        rows = tuple(
            (dimension.name, *(getattr(worker, column.names[0]) for column in columns[1:]))
            for dimension in self.dimensions
            for worker in dimension.learned.workers
        )
        return Table("Workers", columns, rows)


def worker_labels(
    rows: Iterable[tuple[str, str, str | float | None]], dimension: str = "label"
) -> dict[str, tuple[WorkerLabel, ...]]:
    """Labels in memory as `study_labels` takes them.

    Args:
        rows: (item, worker, label) per label; a missing label is left out.
        dimension: Name of the dimension.

    >>> labels = worker_labels([("tide", "ann", 2), ("tide", "ben", None)])
    >>> [(label.worker, label.label) for label in labels["label"]]
    [('ann', '2')]
    """
    return {
        dimension: tuple(
            WorkerLabel(item=str(item), worker=str(worker), label=shortest_form(str(label)))
            for item, worker, label in rows
            if not is_missing(label)
        )
    }


def study_labels(
    labels: Mapping[str, Sequence[WorkerLabel]],
    options: CrowdOptions | None = None,
    *,
    unlabelled: int = 0,
    remarks: tuple[str, ...] = (),
) -> CrowdStudy:
    """Study the labels that workers gave to items.

    Args:
        labels: Dimension -> labels, at least one per dimension; `worker_labels` makes them from tuples.
        options: How the labels are studied; the defaults where None.
        unlabelled: Number of cells where a label could be and none is; reported, and not used otherwise.
        remarks: How the rows were read; reported, and not used otherwise.

    Raises:
        UnusableLabels: There is no label, a worker labels an item twice, or the options do not fit the
            labels.

    >>> votes = [("tide", "ann", 2), ("tide", "ben", 2), ("reef", "ann", 0), ("reef", "ben", 0)]
    >>> study_labels(worker_labels(votes)).mean_alpha("agreement")
    1.0
    """
    options = options or CrowdOptions()
    if not labels or not all(labels.values()):
        raise UnusableLabels("there must be a dimension, and every dimension must have a label")
    for name, given in labels.items():
        if (problem := repetition(name, given)) is not None:
            raise UnusableLabels(problem)
    scales, spelt = scale_labels(labels, options.scale)
    sessions = session_positions(label for given in spelt.values() for label in given)
    dimensions = tuple(
        study_dimension(name, scales[name], spelt[name], options.competence, sessions) for name in spelt
    )
    split = split_pairs(
        dimensions, needed=options.needed, decided=options.decided, limit=options.competence.limit
    )
    return CrowdStudy(
        options=options,
        dimensions=dimensions,
        split=split,
        sessions=sessions,
        unlabelled=unlabelled,
        remarks=remarks,
    )


def _bounds(alpha: Alpha) -> tuple[float, float] | None:
    return None if alpha.low is None or alpha.high is None else (alpha.low, alpha.high)
