"""How good the rankings of runs are by one file of relevance labels, with what each mean rests on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nuggetstream.domain.note import Note
from nuggetstream.files.cells import many
from nuggetstream.rubric.cover import standard_error
from nuggetstream.rubric.retrieval import Ranking
from nuggetstream.rubric.scorings import measured, read_labels, read_rankings
from nuggetstream.statistics.fusion import reciprocal_rank_fusion

FUSED = "all runs fused"  # no run is called so: the tag of a run holds no blank


class NoQueryInCommon(ValueError):
    """A run ranks none of the queries with labels: its means would be zeros that say nothing."""


@dataclass(frozen=True, slots=True)
class Mean:
    """One measure of one run over all queries with labels.

    Attributes:
        mean: a query for which the run ranks nothing counts 0.
        error: standard error of the mean; None with fewer than two queries.
    """

    mean: float
    error: float | None


@dataclass(frozen=True, slots=True)
class RunScores:
    """One run.

    Attributes:
        run: its tag.
        means: measure -> mean.
        received: queries that it ranks.
        scored: of them, those with labels; the others count for nothing.
        unranked: queries with labels for which it ranks nothing; each counts 0.
    """

    run: str
    means: Mapping[str, Mean]
    received: int
    scored: int
    unranked: int


@dataclass(frozen=True, slots=True)
class RunsMeasured:
    """All runs, ordered by the first measure.

    Attributes:
        qrels: file of the labels.
        labels: in it.
        queries: with labels.
        hopeless: of them, those without a relevant document.
        measures: by their names in ir_measures.
        runs: best first.
        fused: the reciprocal rank fusion of all runs; None when it was not asked for.
    """

    qrels: str
    labels: int
    queries: int
    hopeless: int
    measures: tuple[str, ...]
    runs: tuple[RunScores, ...]
    fused: RunScores | None

    @property
    def notes(self) -> tuple[Note, ...]:
        """What changes how the numbers are read."""
        return tuple(_notes(self))


def measure_runs(qrels: Path, runs: Sequence[Path], measures: Sequence[str], *, fuse: bool) -> RunsMeasured:
    """Score rankings by labels, over all queries with labels as `trec_eval -c` does.

    Args:
        qrels: file of labels.
        runs: files of one run each.
        measures: by their names in ir_measures; one that is named twice counts once.
        fuse: also score the fusion of all runs.

    Raises:
        UnusableFile: naming file, line and field.
        NoMeasure: one cannot be computed from these labels and rankings.
        NoQueryInCommon: a run ranks no query with labels.
    """
    labels, rankings = read_labels(qrels), read_rankings(runs, None)
    judged = {row.query for row in labels}
    for run, ranking in rankings.items():
        if judged.isdisjoint(ranking):
            has = many(len(judged), "query", "queries")
            raise NoQueryInCommon(f"the run {run!r} ranks none of the {has} with labels in {qrels}")
    if fuse:
        rankings[FUSED] = fused(list(rankings.values()))
    names = tuple(dict.fromkeys(measures))
    found = {name: measured(rankings, labels, name) for name in names}
    scores = {
        run: RunScores(
            run=run,
            means={name: _mean(list(found[name][run].per_query.values())) for name in names},
            received=len(ranking),
            scored=len(judged & ranking.keys()),
            unranked=len(judged - ranking.keys()),
        )
        for run, ranking in rankings.items()
    }
    together = scores.pop(FUSED, None)
    return RunsMeasured(
        qrels=str(qrels),
        labels=len(labels),
        queries=len(judged),
        hopeless=len(judged - {row.query for row in labels if row.label > 0}),
        measures=names,
        runs=tuple(sorted(scores.values(), key=lambda one: (-one.means[names[0]].mean, one.run))),
        fused=together,
    )


def fused(rankings: Sequence[Ranking]) -> Ranking:
    """The reciprocal rank fusion of rankings, query by query, from those that rank the query.

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
    return Mean(sum(values) / len(values), standard_error(values))


def _notes(found: RunsMeasured) -> Iterator[Note]:
    if lacking := sum(each.unranked > 0 for each in found.runs):
        runs = many(lacking, "run")
        yield Note(
            "queries_missing", f"{runs} with nothing for some of the queries with labels, which count 0"
        )
    if unjudged := sum(each.scored < each.received for each in found.runs):
        runs = many(unjudged, "run")
        yield Note(
            "queries_without_labels", f"{runs} with rankings for queries without labels, which are left out"
        )
    if found.hopeless:
        queries = many(found.hopeless, "query", "queries")
        yield Note("nothing_relevant", f"{queries} with labels and no document above 0: nobody can find one")
    if found.queries == 1:
        yield Note("one_query", "one query: a standard error has no answer")
