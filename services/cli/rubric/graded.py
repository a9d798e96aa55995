"""Commands that read a graded file: `cover`, `qrels`, `verify` and `agree`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from nuggetstream.files.numerals import many
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.tables import SHOWN
from services.cli.commands.showing import (
    needing_extras,
    plain_option,
    refusing,
    show,
    show_written,
    with_options,
)
from services.cli.rubric.options import (
    AGREE_OPTIONS,
    COVER_OPTIONS,
    QRELS_OPTIONS,
    VERIFY_OPTIONS,
    graded_argument,
)


@click.command("cover", short_help="Compute Cover@k and n-EXAM of every system.")
@graded_argument
@with_options(COVER_OPTIONS)
@plain_option
@needing_extras
def cover_command(
    graded: Path, prompt_class: str | None, out: Path | None, *, plain: bool, **given: Any
) -> None:
    """Compute Cover@k and n-EXAM of every system that GRADED ranks, with standard errors.

    A query for which a system ranked nothing counts 0, also in --per-query and --pair.
    """
    from nuggetstream.files.result_tables import result_table
    from nuggetstream.rubric.cover import NothingToCover, Unanswerable
    from nuggetstream.rubric.covering import cover
    from nuggetstream.rubric.graded import load
    from nuggetstream.rubric.grading import UnknownSystem
    from nuggetstream.rubric.writing import write_cover

    with refusing(UnusableFile, NothingToCover, UnknownSystem):
        counted = Unanswerable(given["unanswerable"])
        coverage = cover(load(graded, prompt_class), given["k"], given["min_grade"], counted, given["alpha"])
        studies = {"pair": coverage.pair(*given["pair"]).table()} if given["pair"] else {}
        if given["without_each"]:
            studies["without_each"] = coverage.without_each().table()
        written = write_cover(coverage, out, studies) if out else []
    show(result_table(coverage.table()), plain=plain)
    if given["per_query"]:
        show(result_table(coverage.per_query()), plain=plain)
    for study in studies.values():
        show(result_table(study, None if plain else SHOWN), plain=plain)
    show_written(written, plain=plain)


@click.command("qrels", short_help="Write relevance labels made from grades.")
@graded_argument
@with_options(QRELS_OPTIONS)
@plain_option
@needing_extras
def qrels_command(graded: Path, prompt_class: str | None, out: Path, *, plain: bool, **given: Any) -> None:
    """Write relevance labels for trec_eval, made from grades. A passage without a grade gets no line."""
    from nuggetstream.files.result_tables import result_table
    from nuggetstream.rubric.graded import load
    from nuggetstream.rubric.labelling import By, NoLabel, NoMinimum, label

    with refusing(UnusableFile, NoMinimum, NoLabel):
        labelled = label(load(graded, prompt_class), By(given["by"]), given["min_grade"])
        written = labelled.to_qrels(out)
    lines, queries = many(len(labelled.labels), "line"), many(labelled.queries, "query", "queries")
    show(result_table(labelled.counts_table()), plain=plain)
    show_written([f"{written}: {lines} of {queries}"], plain=plain)


@click.command("verify", short_help="Show where grades, checks and assessors disagree.")
@graded_argument
@with_options(VERIFY_OPTIONS)
@plain_option
@needing_extras
def verify_command(
    graded: Path, prompt_class: str | None, out: Path | None, *, plain: bool, **given: Any
) -> None:
    """Oversee a rubric: where grades, checks and assessors contradict each other, and what to read.

    Spurious items are answered well by passages judged not relevant; uncovered passages were judged
    relevant and answer nothing well. Contradicted grades are good, and what was found is no answer by `grade
    --verify` or by an answer key. Alike are items that all passages answer well, or that none does. All four
    are shown unless sections are named.

    Without --prompt-class the grades are those of `nuggetstream rubric grade` where GRADED has them.
    """
    from nuggetstream.files.qrels import read_qrels
    from nuggetstream.files.rubric import read_bank
    from nuggetstream.rubric.checking import Limits, check
    from nuggetstream.rubric.graded import load_checked
    from nuggetstream.rubric.terminal import check_tables
    from nuggetstream.rubric.writing import write_check

    try:
        limits = Limits(given["min_grade"], given["relevant"], given["not_relevant"])
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    with refusing(UnusableFile):
        passages, checks = load_checked(graded, prompt_class, given["query"])
        bank = read_bank(given["bank"]) if given["bank"] else []
        labels = read_qrels(given["qrels"]) if given["qrels"] else None
        checked = check(passages, limits, bank, checks, labels)
        written = write_check(checked, out) if out else []
    show(check_tables(checked, given["sections"], given["limit"]), plain=plain)
    show_written(written, plain=plain)


@click.command("agree", short_help="Compare grades with labels: counts and kappa.")
@graded_argument
@with_options(AGREE_OPTIONS)
@plain_option
@needing_extras
def agree_command(
    graded: Path, prompt_class: str | None, labels: Path | None, *, form: str, plain: bool, **given: Any
) -> None:
    """Compare the best grade of each passage with its label: counts and Cohen's kappa.

    With --min-answers N it is the highest grade that N of its items reach, so that a passage is relevant when
    it answers N items well.

    With --format csv or latex the table alone goes to standard output; what it rests on goes to standard
    error.
    """
    from nuggetstream.files.result_tables import result_table
    from nuggetstream.files.table_writing import csv_of, latex_of
    from nuggetstream.rubric.agreeing import Grouping, NoGroups, NothingInCommon, agree, groups_of
    from nuggetstream.rubric.graded import load
    from nuggetstream.rubric.leaderboards import read_labels

    with refusing(UnusableFile, NothingInCommon, NoGroups):
        grouping = Grouping(
            grades=groups_of(given["grades"]) if given["grades"] else (),
            labels=groups_of(given["groups"]) if given["groups"] else (),
            minimum=given["min_grade"],
            relevant=given["relevant"],
            ungrouped=given["ungrouped"],
            answers=given["min_answers"],
        )
        agreement = agree(load(graded, prompt_class), read_labels(labels) if labels else None, grouping)
    table = agreement.table()
    if form == "console":
        show(result_table(table), plain=plain)
        return
    click.echo(csv_of(table) if form == "csv" else latex_of(replace(table, notes=())), nl=False)
    for line in table.notes:
        click.echo(line, err=True)
