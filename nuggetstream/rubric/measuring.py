"""How good the rankings of runs are by relevance labels, with what each mean rests on."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nuggetstream.domain.note import Note
from nuggetstream.figures.drawn import Drawn
from nuggetstream.files import tables
from nuggetstream.files.numerals import many
from nuggetstream.files.tables import Table
from nuggetstream.rubric.cover import standard_error
from nuggetstream.rubric.retrieval import Ranking
from nuggetstream.rubric.scoring import Labels, measure_rankings
from nuggetstream.statistics.fusion import reciprocal_rank_fusion

FUSED = "all runs fused"  # never the tag of a run, which holds no blank
USUAL_MEASURES = ("nDCG@10", "RR@10")


class NoQueryInCommon(ValueError):
    """A run ranks none of the queries with labels: its means would be zeros that mean nothing."""


@dataclass(frozen=True, slots=True)
class Mean:
    """One measure of one run over all queries with labels.

    Attributes:
        mean: Mean over the queries; a query for which the run ranks nothing counts 0.
        error: Standard error of the mean; None with fewer than two queries.
    """

    mean: float
    error: float | None


@dataclass(frozen=True, slots=True)
class RunScores:
    """The means of one run.

    Attributes:
        run: Tag of the run.
        means: Measure -> mean.
        received: Number of queries that the run ranks.
        scored: Number of those that have labels; the others are left out.
        unranked: Number of queries with labels for which the run ranks nothing; each counts 0.
    """

    run: str
    means: Mapping[str, Mean]
    received: int
    scored: int
    unranked: int


@dataclass(frozen=True, slots=True, repr=False)
class RunsMeasured(Drawn):
    """The means of all runs, ordered by the first measure.

    Attributes:
        source: Where the labels come from.
        labels: Number of labels.
        queries: Number of queries with labels.
        without_relevant: Number of those without a relevant document.
        measures: Names of the measures in ir_measures.
        runs: Best first.
        fused: The reciprocal rank fusion of all runs; None when it was not asked for.
        remarks: What a reader must know of how the labels were read, as sentences.
    """

    source: str
    labels: int
    queries: int
    without_relevant: int
    measures: tuple[str, ...]
    runs: tuple[RunScores, ...]
    fused: RunScores | None
    remarks: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[Note, ...]:
        """States of the data that change how the numbers are read."""
        return tuple(_notes(self))

    def table(self) -> Table:
        """One row per run, the best first, and the fusion of all runs last."""
        columns = (
            tables.text("run"),
            *(
                tables.number(name, title, digits=3)
                for measure in self.measures
                for name, title in ((measure, measure), (f"{measure}_error", "±"))
            ),
            tables.count("received", "queries ranked"),
            tables.count("scored", "of these scored"),
            tables.count("unranked", "not ranked"),
        )
        rows = tuple(
            (
                scores.run,
                *(value for mean in scores.means.values() for value in (mean.mean, mean.error)),
                scores.received,
                scores.scored,
                scores.unranked,
            )
            for scores in (*self.runs, *([self.fused] if self.fused else []))
        )
        labels, queries = many(self.labels, "label"), many(self.queries, "query", "queries")
        notes = (
            f"{labels} of {queries} in {self.source}; means over all of these, as trec_eval -c: a query "
            "that a run does not rank counts 0, and one without labels is left out; ±: standard error",
            *(note.text for note in self.notes),
        )
        return Table("Rankings by relevance labels", columns, rows, notes)


def measure_runs(
    labels: Labels,
    rankings: Mapping[str, Ranking],
    measures: Sequence[str] = USUAL_MEASURES,
    *,
    fuse: bool = False,
) -> RunsMeasured:
    """Score rankings by labels, over all queries with labels as `trec_eval -c` does.

    Args:
        labels: Relevance labels, at least one.
        rankings: Run -> query -> documents, best first.
        measures: Names in ir_measures; one that is named twice counts once.
        fuse: Also score the fusion of all runs.

    Raises:
        NoMeasure: A measure cannot be computed from these labels and rankings.
        NoQueryInCommon: A run ranks no query with labels.
    """
    for run, ranking in rankings.items():
        if labels.queries.isdisjoint(ranking):
            labelled = many(len(labels.queries), "query", "queries")
            raise NoQueryInCommon(
                f"the run {run!r} ranks none of the {labelled} with labels in {labels.source}"
            )
    if fuse:
        rankings = {**rankings, FUSED: fused(list(rankings.values()))}
    names = tuple(dict.fromkeys(measures))
    measured = {name: measure_rankings(rankings, labels.rows, name) for name in names}
    scores = {
        run: RunScores(
            run=run,
            means={name: _mean(list(measured[name][run].per_query.values())) for name in names},
            received=len(ranking),
            scored=len(labels.queries & ranking.keys()),
            unranked=len(labels.queries - ranking.keys()),
        )
        for run, ranking in rankings.items()
    }
    fusion = scores.pop(FUSED, None)
    return RunsMeasured(
        source=labels.source,
        labels=len(labels.rows),
        queries=len(labels.queries),
        without_relevant=len(labels.queries - {row.query for row in labels.rows if row.label > 0}),
        measures=names,
        runs=tuple(sorted(scores.values(), key=lambda run: (-run.means[names[0]].mean, run.run))),
        fused=fusion,
        remarks=labels.remarks,
    )


def fused(rankings: Sequence[Ranking]) -> Ranking:
    """The reciprocal rank fusion of rankings: each query is fused from the rankings that rank it.

    >>> fused([{"q": ["x", "y"]}, {"q": ["y", "z"], "r": ["x"]}])
    {'q': ['y', 'x', 'z'], 'r': ['x']}
    """
    queries = dict.fromkeys(query for ranking in rankings for query in ranking)
    return {
        query: [
            document
            for document, _ in reciprocal_rank_fusion(
                [ranking[query] for ranking in rankings if query in ranking]
            )
        ]
        for query in queries
    }


def _mean(values: Sequence[float]) -> Mean:
    return Mean(statistics.fmean(values), standard_error(values))


def _notes(measured: RunsMeasured) -> Iterator[Note]:
    yield from (Note("labels_read", remark) for remark in measured.remarks)
    if incomplete := sum(run.unranked > 0 for run in measured.runs):
        runs = many(incomplete, "run")
        yield Note("queries_missing", f"{runs} ranked nothing for some queries with labels, which count 0")
    if unlabelled := sum(run.scored < run.received for run in measured.runs):
        runs = many(unlabelled, "run")
        yield Note("queries_without_labels", f"{runs} ranked queries without labels, which are left out")
    if measured.without_relevant:
        queries = many(measured.without_relevant, "query", "queries")
        yield Note("nothing_relevant", f"{queries} with labels and no relevant document, 0 for every run")
    if measured.queries == 1:
        yield Note("one_query", "a single query has no standard error")
