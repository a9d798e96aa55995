"""Results about graded passages, leaderboards and runs as tables and lines for a terminal."""

from collections.abc import Iterable

from rich.console import RenderableType

from nuggetstream.domain.note import Note
from nuggetstream.files.cells import group, named, table
from nuggetstream.files.numerals import MISSING, many, number, percent
from nuggetstream.rubric.agreeing import GradeAgreement
from nuggetstream.rubric.agreement_text import cells_of, headers_of
from nuggetstream.rubric.correlating import Comparison
from nuggetstream.rubric.cover import CoverScore, Unanswerable
from nuggetstream.rubric.cover_pair import title_of
from nuggetstream.rubric.covering import Coverage
from nuggetstream.rubric.graded import Basis
from nuggetstream.rubric.label_agreement import LabelAgreement
from nuggetstream.rubric.labelling import LabelledPassages
from nuggetstream.rubric.measuring import FUSED, RunScores, RunsMeasured


def cover_tables(coverage: Coverage) -> RenderableType:
    """The cover of every system, the best first, and what the numbers rest on."""
    means = [name for measure in coverage.measures for name in (title_of(measure, coverage.k), "±")]
    columns = ("system", *means, "queries ranked")
    title = f"Cover@{coverage.k}, answered from grade {coverage.minimum} on"
    grid = table(title, *columns, text=["system"])
    overall = coverage.overall
    for system in coverage.systems:
        ranked = f"{system.ranked:,} of {overall.queries:,}"
        grid.add_row(named(system.system), *_shares(coverage, system.score), ranked)
    grid.add_section()
    grid.add_row("all passages together", *_shares(coverage, overall), MISSING)
    over = f"the {overall.answerable:,} of them in which a passage answers anything"
    if coverage.unanswerable is Unanswerable.ZERO:
        over = "all of them, and one in which no passage answers anything counts 0"
    lines = [
        basis_line(coverage.graded.basis),
        f"cover: mean over {many(overall.queries, 'query', 'queries')}; n-EXAM: over {over}",
        "±: standard error",
    ]
    if coverage.alpha is not None:
        lines.append(f"α-nDCG: α = {coverage.alpha:g}, over the queries of n-EXAM")
    return group(grid, *lines, *note_lines(coverage.notes))


def label_tables(labelled: LabelledPassages) -> RenderableType:
    """How often each label was given."""
    grid = table("Relevance labels", "label", "passages")
    for label, count in labelled.counts.items():
        grid.add_row(str(label), f"{count:,}")
    lines = [basis_line(labelled.graded.basis)]
    if ungraded := labelled.graded.basis.ungraded:
        lines.append(f"note: {many(ungraded, 'passage')} without a grade: no line, which is not a 0")
    return group(grid, *lines)


def comparison_tables(comparison: Comparison) -> RenderableType:
    """Both scores of every common system in the official order, and the coefficients."""
    first, official = comparison.first, comparison.official
    grid = table("Two scorings", "system", "official", "first", text=["system"])
    common = [system for system in official.scores if system in first.scores]
    for system in sorted(common, key=lambda name: (-official.scores[name], name)):
        scores = (side.shown(system) for side in (official, first))
        grid.add_row(named(system), *(MISSING if score is None else f"{score:.4g}" for score in scores))
    correlation = comparison.correlation
    ties = "no ties, as trec_eval breaks them" if comparison.ties_broken else "tied ranks averaged"
    lines = [
        f"Spearman's rho {number(correlation.spearman)}, Kendall's tau-b {number(correlation.kendall)} "
        f"over {many(correlation.systems, 'system')}",
        f"official: {official.what} of {official.source}; {ties}",
        f"first: {first.what} of {first.source}",
    ]
    if comparison.queries:
        lines.append(f"over {many(comparison.queries.shared, 'query', 'queries')} with labels in both files")
    return group(grid, *lines, *note_lines(comparison.notes))


def run_tables(measured: RunsMeasured) -> RenderableType:
    """The means of every run with standard errors, and how each query counts."""
    scores = [column for measure in measured.measures for column in (measure, "±")]
    columns = ("run", *scores, "queries scored", "not ranked")
    grid = table(f"Rankings by the labels of {named(measured.source)}", *columns, text=["run"])
    for run in measured.runs:
        grid.add_row(named(run.run), *_run(run, measured.queries))
    if measured.fused:
        grid.add_section()
        grid.add_row(FUSED, *_run(measured.fused, measured.queries))
    labels, queries = many(measured.labels, "label"), many(measured.queries, "query", "queries")
    lines = [
        f"{labels} of {queries}; means over all of these, as trec_eval -c: a query that a run does not rank "
        "counts 0, and one without labels is left out",
        "queries scored: those with labels, of the ranked ones; ±: standard error",
    ]
    return group(grid, *lines, *note_lines(measured.notes))


def agreement_tables(agreement: GradeAgreement) -> RenderableType:
    """The table of grades against labels, and what it rests on."""
    grid = table(agreement.title, *headers_of(agreement.counts), text=["label"])
    for row in cells_of(agreement.counts):
        grid.add_row(*row)
    return group(grid, *agreement_lines(agreement))


def agreement_lines(agreement: GradeAgreement) -> list[str]:
    """What a table of grades against labels rests on, line by line."""
    pairs = f"{many(agreement.pairs, 'passage')} with a grade and a label; labels: {agreement.labels_of}"
    return [basis_line(agreement.graded.basis), pairs, *note_lines(agreement.notes)]


def kappa_tables(agreement: LabelAgreement) -> RenderableType:
    """Both labels of every item counted against each other, and kappa over all pairs."""
    grid = table("Labels of the first file by labels of the second", "first", text=["first"])
    for label in agreement.labels:
        grid.add_column(named(label), justify="right", no_wrap=True)
    for label, counts in zip(agreement.labels, agreement.counts, strict=True):
        grid.add_row(named(label), *(f"{count:,}" for count in counts))
    kappas = table("Cohen's kappa", "weights", "kappa", text=["weights"])
    kappas.add_row("none", number(agreement.unweighted))
    kappas.add_row("linear", number(agreement.linear))
    kappas.add_row("quadratic", number(agreement.quadratic))
    lines = [
        f"over {many(agreement.pairs, 'item')} with a label in both; "
        f"equal labels: {percent(agreement.observed)}",
        f"first: {many(len(agreement.first.labels), 'label')} of {agreement.first.source}",
        f"second: {many(len(agreement.second.labels), 'label')} of {agreement.second.source}",
    ]
    return group(kappas, "", grid, *lines, *note_lines(agreement.notes))


def basis_line(basis: Basis) -> str:
    """What graded passages hold, in one line."""
    return (
        f"from {basis.file or 'memory'}: {many(basis.grades, 'grade')} of {many(basis.items, 'item')} on "
        f"{many(basis.passages, 'passage')} of {many(basis.queries, 'query', 'queries')}; {basis.judged:,} "
        f"judged, {basis.ranked:,} ranked by {many(basis.systems, 'system')}"
    )


def note_lines(notes: Iterable[Note]) -> list[str]:
    """One line per note."""
    return [f"note: {note.text}" for note in notes]


def _shares(coverage: Coverage, score: CoverScore) -> tuple[str, ...]:
    return tuple(map(number, coverage.shares(score).values()))


def _run(scores: RunScores, queries: int) -> tuple[str, ...]:
    means = (number(value) for mean in scores.means.values() for value in (mean.mean, mean.error))
    return (*means, f"{scores.scored:,} of {scores.received:,}", f"{scores.unranked:,} of {queries:,}")
