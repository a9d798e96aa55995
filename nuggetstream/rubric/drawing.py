"""What a rubric says, as tables and lines for a terminal."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.text import Text

from nuggetstream.domain.note import Note
from nuggetstream.files.cells import many, named, printable, table
from nuggetstream.files.numerals import MISSING, number
from nuggetstream.rubric.agreeing import Agreed
from nuggetstream.rubric.checking import Check
from nuggetstream.rubric.correlating import Compared
from nuggetstream.rubric.cover import CoverScore
from nuggetstream.rubric.covering import Coverage
from nuggetstream.rubric.graded import Basis
from nuggetstream.rubric.labelling import Labelled
from nuggetstream.rubric.measuring import FUSED, RunScores, RunsMeasured
from nuggetstream.rubric.verification import Grid
from nuggetstream.statistics.inter_annotator import console_table

_LONGEST_TEXT = 60
_SECTIONS = ("spurious", "uncovered", "grid", "listing")


def draw_cover(found: Coverage) -> RenderableType:
    """The systems, the best first, and what the numbers rest on."""
    columns = ("system", f"Cover@{found.k}", "±", "n-EXAM", "±", "queries ranked")
    shown = table(f"Cover@{found.k}, answered from grade {found.minimum} on", *columns, text=["system"])
    of = f" of {found.overall.queries:,}"
    for each in found.systems:
        shown.add_row(named(each.system), *_shares(each.score), f"{each.ranked:,}{of}")
    shown.add_section()
    shown.add_row("all passages together", *_shares(found.overall), MISSING)
    overall = found.overall
    lines = [
        _basis(found.graded.basis),
        f"cover: mean over {many(overall.queries, 'query', 'queries')}; n-EXAM: over the "
        f"{overall.answerable:,} of them in which a passage answers anything; ±: standard error",
    ]
    return _group(shown, *lines, *_lines(found.notes))


def draw_labels(found: Labelled) -> RenderableType:
    """How often each label was given."""
    shown = table("Relevance labels", "label", "passages")
    for label, count in found.counts.items():
        shown.add_row(str(label), f"{count:,}")
    lines = [_basis(found.graded.basis)]
    if ungraded := found.graded.basis.ungraded:
        lines.append(f"note: {many(ungraded, 'passage')} without a grade: no line, which is not a 0")
    return _group(shown, *lines)


def draw_check(found: Check, sections: Sequence[str], most: int) -> RenderableType:
    """Grades given, and the sections asked for; without any, spurious items and uncovered passages.

    Args:
        found: likewise.
        sections: of "spurious", "uncovered", "grid", "listing".
        most: rows per query.
    """
    counts = table("Grades given", "grade", "times")
    for grade, count in found.counts.items():
        counts.add_row(str(grade), f"{count:,}")
    drawn = {"spurious": _spurious, "uncovered": _uncovered, "grid": _grids, "listing": _listing}
    parts: list[RenderableType | str] = [counts, _basis(found.graded.basis), *_lines(found.notes)]
    for section in _SECTIONS:
        if section in (sections or _SECTIONS[:2]):
            parts += ["", *drawn[section](found, most)]
    return _group(*parts)


def draw_comparison(found: Compared) -> RenderableType:
    """Both scores of every common system in the official order, and the coefficients."""
    columns = ("system", "official", "first")
    shown = table("Two scorings", *columns, text=["system"])
    common = [system for system in found.official.scores if system in found.first.scores]
    for system in sorted(common, key=lambda name: (-found.official.scores[name], name)):
        scores = (side.shown(system) for side in (found.official, found.first))
        shown.add_row(named(system), *(MISSING if score is None else f"{score:.4g}" for score in scores))
    correlation = found.found
    ties = "no ties, as trec_eval breaks them" if found.sought.break_ties else "tied places averaged"
    lines = [
        f"Spearman's rho {number(correlation.spearman)}, Kendall's tau-b {number(correlation.kendall)} "
        f"over {many(correlation.systems, 'system')}",
        f"official: {found.official.what} of {found.official.file}; {ties}",
        f"first: {found.first.what} of {found.first.file}",
    ]
    if found.queries:
        lines.append(f"over {many(found.queries.shared, 'query', 'queries')} with labels in both files")
    return _group(shown, *lines, *_lines(found.notes))


def draw_runs(found: RunsMeasured) -> RenderableType:
    """The means of every run with standard errors, and how each query counts."""
    scores = [column for measure in found.measures for column in (measure, "±")]
    columns = ("run", *scores, "queries scored", "not ranked")
    shown = table(f"Rankings by the labels of {named(found.qrels)}", *columns, text=["run"])
    for each in found.runs:
        shown.add_row(named(each.run), *_run(each, found.queries))
    if found.fused:
        shown.add_section()
        shown.add_row(FUSED, *_run(found.fused, found.queries))
    labels, queries = many(found.labels, "label"), many(found.queries, "query", "queries")
    lines = [
        f"{labels} of {queries}; means over all of these, as trec_eval -c: a query that is not ranked "
        "counts 0, a ranked one without labels nothing",
        "queries scored: those with labels, of the ranked ones; ±: standard error",
    ]
    return _group(shown, *lines, *_lines(found.notes))


def draw_agreement(found: Agreed) -> RenderableType:
    """The table of grades against labels, and what it rests on."""
    shown = console_table(found.table, "Best grade against label")
    return _group(shown, *agreement_lines(found))


def agreement_lines(found: Agreed) -> list[str]:
    """What a table of grades against labels rests on, line by line."""
    pairs = f"{many(found.pairs, 'passage')} with a grade and a label; labels: {found.labels_of}"
    return [_basis(found.graded.basis), pairs, *_lines(found.notes)]


def _spurious(found: Check, most: int) -> Iterator[RenderableType | str]:
    title = f"Spurious: answered with {found.limits.minimum} or better by passages judged not relevant"
    if found.spurious is None:
        yield f"{title}: no answer, nothing was judged not relevant"
        return
    shown = table(title, "query", "item", "passages", "text", text=["query", "item", "text"])
    hidden = 0
    for query, items in found.spurious.items():
        hidden += len(items[most:])
        for each in items[:most]:
            text = named(found.texts.get(each.item, MISSING), _LONGEST_TEXT)
            shown.add_row(named(query), named(each.item), f"{each.passages:,}", text)
    yield shown
    entries = sum(map(len, found.spurious.values()))
    yield f"{many(entries, 'item')}; {many(found.not_relevant, 'passage')} judged not relevant"
    yield from _hidden(hidden)


def _uncovered(found: Check, most: int) -> Iterator[RenderableType | str]:
    title = f"Uncovered: judged relevant, and no item answered with {found.limits.minimum} or better"
    if found.uncovered is None:
        yield f"{title}: no answer, no graded passage was judged relevant"
        return
    columns = ("query", "passage", "judgment", "best grade", "text")
    shown = table(title, *columns, text=["query", "passage", "text"])
    hidden = 0
    for _, members in groupby(found.uncovered, key=lambda passage: passage.query):
        passages = list(members)
        hidden += len(passages[most:])
        for each in passages[:most]:
            cells = (named(each.query), named(each.passage), str(each.judgment), str(each.best))
            shown.add_row(*cells, named(each.text, _LONGEST_TEXT))
    yield shown
    count = many(len(found.uncovered), "passage")
    yield f"{count} of {found.relevant:,} that were judged relevant and graded"
    yield from _hidden(hidden)


def _grids(found: Check, most: int) -> Iterator[RenderableType | str]:
    for query, grid in found.grids.items():
        yield from _grid(query, grid, most)


def _grid(query: str, grid: Grid, most: int) -> Iterator[RenderableType | str]:
    shown = table(f"Grades of query {named(query)}", "passage", *map(str, range(1, len(grid.items) + 1)))
    for passage, grades in list(zip(grid.passages, grid.grades, strict=True))[:most]:
        shown.add_row(named(passage), *(MISSING if grade is None else str(grade) for grade in grades))
    yield shown
    yield from _hidden(len(grid.passages) - most)
    yield from (f"{place}: {item}" for place, item in enumerate(grid.items, start=1))


def _listing(found: Check, most: int) -> Iterator[RenderableType | str]:
    columns = ("query", "item", "grade", "passage", "reply", "text")
    shown = table(
        "Answers with a grade above 0", *columns, text=["query", "item", "passage", "reply", "text"]
    )
    hidden = 0
    for _, members in groupby(found.listing, key=lambda answer: answer.query):
        answers = list(members)
        hidden += len(answers[most:])
        for each in answers[:most]:
            cells = (named(each.query), named(each.item), str(each.grade), named(each.passage))
            shown.add_row(
                *cells, named(each.reply or MISSING, _LONGEST_TEXT), named(each.text, _LONGEST_TEXT)
            )
    yield shown
    yield many(len(found.listing), "answer")
    yield from _hidden(hidden)


def _hidden(count: int) -> Iterator[str]:
    if count > 0:
        yield f"{many(count, 'more row')}; --limit shows more, --out writes all"


def _shares(score: CoverScore) -> tuple[str, ...]:
    return tuple(map(number, (score.cover, score.cover_error, score.n_exam, score.n_exam_error)))


def _run(scores: RunScores, queries: int) -> tuple[str, ...]:
    means = (number(value) for each in scores.means.values() for value in (each.mean, each.error))
    return (*means, f"{scores.scored:,} of {scores.received:,}", f"{scores.unranked:,} of {queries:,}")


def _basis(basis: Basis) -> str:
    return (
        f"from {basis.file}: {many(basis.grades, 'grade')} of {many(basis.items, 'item')} on "
        f"{many(basis.passages, 'passage')} of {many(basis.queries, 'query', 'queries')}; {basis.judged:,} "
        f"judged, {basis.ranked:,} ranked by {many(basis.systems, 'system')}"
    )


def _lines(notes: Iterable[Note]) -> list[str]:
    return [f"note: {note.text}" for note in notes]


def _group(*parts: RenderableType | str) -> Group:
    return Group(*(Text(printable(part)) if isinstance(part, str) else part for part in parts))
