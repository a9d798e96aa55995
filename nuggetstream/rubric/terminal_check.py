"""Findings about grades, checks and assessors, and listings of grades, as tables for a terminal."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import RenderableType

from nuggetstream.files.cells import group, named, table
from nuggetstream.files.numerals import MISSING, many
from nuggetstream.rubric.checking import Check
from nuggetstream.rubric.terminal import basis_line, note_lines
from nuggetstream.rubric.verification import Grid

_LONGEST_TEXT = 60
_SECTIONS = ("spurious", "uncovered", "contradicted", "alike", "grid", "listing")
_FINDINGS = _SECTIONS[:4]

Parts = Iterator[RenderableType | str]


def check_tables(checked: Check, sections: Sequence[str], most: int) -> RenderableType:
    """Counts of the grades and the sections asked for; without any, all findings that can be made.

    Args:
        checked: Findings and listings.
        sections: Any of "spurious", "uncovered", "contradicted", "alike", "grid", "listing".
        most: Rows per query.
    """
    counts = table("Grades given", "grade", "times")
    for grade, count in checked.counts.items():
        counts.add_row(str(grade), f"{count:,}")
    tables_of = {
        "spurious": _spurious,
        "uncovered": _uncovered,
        "contradicted": _contradicted,
        "alike": _alike,
        "grid": _grids,
        "listing": _listing,
    }
    lines = [basis_line(checked.graded.basis), *note_lines(checked.notes)]
    parts: list[RenderableType | str] = [counts, *lines]
    found = [each for each in _FINDINGS if each != "contradicted" or checked.contradicted is not None]
    for section in _SECTIONS:
        if section in (sections or found):
            parts += ["", *tables_of[section](checked, most)]
    return group(*parts)


def _spurious(checked: Check, most: int) -> Parts:
    title = f"Spurious: answered with {checked.limits.minimum} or better by passages judged not relevant"
    if checked.spurious is None:
        yield f"{title}: no answer, nothing was judged not relevant"
        return
    grid = table(title, "query", "item", "passages", "text", text=["query", "item", "text"])
    hidden = 0
    for query, items in checked.spurious.items():
        hidden += len(items[most:])
        for spurious in items[:most]:
            text = named(checked.texts.get(spurious.item, MISSING), _LONGEST_TEXT)
            grid.add_row(named(query), named(spurious.item), f"{spurious.passages:,}", text)
    yield grid
    entries = sum(map(len, checked.spurious.values()))
    yield f"{many(entries, 'item')}; {many(checked.not_relevant, 'passage')} judged not relevant"
    yield from _hidden(hidden)


def _uncovered(checked: Check, most: int) -> Parts:
    title = f"Uncovered: judged relevant, and no item answered with {checked.limits.minimum} or better"
    if checked.uncovered is None:
        yield f"{title}: no answer, no graded passage was judged relevant"
        return
    columns = ("query", "passage", "judgment", "best grade", "text")
    grid = table(title, *columns, text=["query", "passage", "text"])
    hidden = 0
    for _, members in groupby(checked.uncovered, key=lambda passage: passage.query):
        passages = list(members)
        hidden += len(passages[most:])
        for passage in passages[:most]:
            cells = (named(passage.query), named(passage.passage), str(passage.judgment), str(passage.best))
            grid.add_row(*cells, _text(passage.text))
    yield grid
    passages_uncovered = many(len(checked.uncovered), "passage")
    yield f"{passages_uncovered} of {checked.relevant:,} that were judged relevant and graded"
    yield from _hidden(hidden)


def _contradicted(checked: Check, most: int) -> Parts:
    title = f"Contradicted: graded {checked.limits.minimum} or better, and a check denies it"
    if checked.contradicted is None:
        yield f"{title}: no answer, no grade was checked"
        return
    columns = ("query", "item", "passage", "grade", "check", "reply")
    grid = table(title, *columns, text=["query", "item", "passage", "check", "reply"])
    for each in checked.contradicted[:most]:
        cells = (named(each.query), named(each.item), named(each.passage), str(each.grade), each.check)
        grid.add_row(*cells, _text(each.reply))
    yield grid
    yield many(len(checked.contradicted), "grade")
    yield from _hidden(len(checked.contradicted) - most)


def _alike(checked: Check, most: int) -> Parts:
    title = f"Alike: all passages answer the item with {checked.limits.minimum} or better, or none does"
    columns = ("query", "item", "answered by", "passages", "best grade", "text")
    grid = table(title, *columns, text=["query", "item", "answered by", "text"])
    for each in checked.alike[:most]:
        cells = (named(each.query), named(each.item), "all" if each.answered else "none")
        text = named(checked.texts.get(each.item, MISSING), _LONGEST_TEXT)
        grid.add_row(*cells, f"{each.passages:,}", str(each.best), text)
    yield grid
    everything = sum(each.answered > 0 for each in checked.alike)
    yield f"{many(everything, 'item')} answered by all, {len(checked.alike) - everything:,} by none"
    yield from _hidden(len(checked.alike) - most)


def _grids(checked: Check, most: int) -> Parts:
    for query, grades in checked.grids.items():
        yield from _grid(query, grades, most)


def _grid(query: str, grades: Grid, most: int) -> Parts:
    numbers = map(str, range(1, len(grades.items) + 1))
    grid = table(f"Grades of query {named(query)}", "passage", *numbers, text=["passage"])
    for passage, row in list(zip(grades.passages, grades.grades, strict=True))[:most]:
        grid.add_row(named(passage), *(MISSING if grade is None else str(grade) for grade in row))
    yield grid
    yield from _hidden(len(grades.passages) - most)
    yield from (f"{number}: {item}" for number, item in enumerate(grades.items, start=1))


def _listing(checked: Check, most: int) -> Parts:
    columns = ("query", "item", "grade", "passage", "reply", "text")
    texts = ["query", "item", "passage", "reply", "text"]
    grid = table("Answers with a grade above 0", *columns, text=texts)
    hidden = 0
    for _, members in groupby(checked.listing, key=lambda answer: answer.query):
        answers = list(members)
        hidden += len(answers[most:])
        for answer in answers[:most]:
            cells = (named(answer.query), named(answer.item), str(answer.grade), named(answer.passage))
            grid.add_row(*cells, _text(answer.reply), _text(answer.text))
    yield grid
    yield many(len(checked.listing), "answer")
    yield from _hidden(hidden)


def _text(text: str | None) -> str:
    return MISSING if text is None else named(text, _LONGEST_TEXT)


def _hidden(count: int) -> Parts:
    if count > 0:
        yield f"{many(count, 'more row')}; --limit shows more, --out writes all"
