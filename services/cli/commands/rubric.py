"""`nuggetstream rubric …`: what exam questions or nuggets say about systems, passages and assessors."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from nuggetstream.files.dataset import UnusableFile
from nuggetstream.rubric.verification import HIGH_GRADE, RELEVANT
from services.cli.rating_options import with_options
from services.cli.rubric_options import CORRELATE_OPTIONS, VERIFY_OPTIONS
from services.cli.showing import needing_analysis, refusing, show

F = TypeVar("F", bound=Callable[..., Any])

_FILE = click.Path(path_type=Path, dir_okay=False)
_FOLDER = click.Path(path_type=Path, file_okay=False)
_GRADE = click.IntRange(min=1, max=5)


def _graded(command: F) -> F:
    """The argument and the option of every command that reads a graded file."""
    choose = click.option(
        "--prompt-class", metavar="NAME", help="Whose grades to take, where passages carry several sets."
    )
    return click.argument("graded", type=_FILE)(choose(command))


@click.group("rubric")
def command() -> None:
    """Systems, passages and assessors by how well passages answer exam questions or nuggets.

    GRADED is a file of graded passages as the autograding workbench writes it, gzipped or not: one line
    per query, `[query id, [passage, …]]`.

    All exit 2 when a file cannot be used, naming file, line and field.
    """


@command.command("cover")
@_graded
@click.option(
    "--at", "k", type=click.IntRange(min=1), default=20, show_default=True, help="Depth of the top."
)
@click.option(
    "--min-grade", type=_GRADE, default=3, show_default=True, help="From which an item counts as answered."
)
@click.option("--out", type=_FOLDER, help="Folder for cover.json and cover.csv; created when missing.")
@needing_analysis
def cover_command(graded: Path, prompt_class: str | None, k: int, min_grade: int, out: Path | None) -> None:
    """Cover@k and n-EXAM of every system that GRADED ranks, with standard errors."""
    from nuggetstream.rubric.cover import NothingToCover
    from nuggetstream.rubric.covering import cover
    from nuggetstream.rubric.drawing import draw_cover
    from nuggetstream.rubric.graded import load
    from nuggetstream.rubric.writing import write_cover

    with refusing(UnusableFile, NothingToCover):
        found = cover(load(graded, prompt_class), k, min_grade)
        written = write_cover(found, out) if out else []
    show(draw_cover(found))
    _say(written)


@command.command("qrels")
@_graded
@click.option("--out", type=_FILE, required=True, help="The qrels file.")
@click.option(
    "--by",
    type=click.Choice(["max", "count"]),
    default="max",
    show_default=True,
    help="A passage's label is its best grade, or the number of items it answers.",
)
@click.option(
    "--min-grade", type=_GRADE, help="From which an item is answered; a best grade below it becomes 0."
)
@needing_analysis
def qrels_command(graded: Path, prompt_class: str | None, out: Path, by: str, min_grade: int | None) -> None:
    """Relevance labels for trec_eval. A passage without a grade gets no line."""
    from nuggetstream.rubric.drawing import draw_labels
    from nuggetstream.rubric.graded import load
    from nuggetstream.rubric.labelling import By, NoMinimum, label
    from nuggetstream.rubric.writing import write_labels

    with refusing(UnusableFile, NoMinimum):
        found = label(load(graded, prompt_class), By(by), min_grade)
        written = write_labels(found, out)
    show(draw_labels(found))
    click.echo(f"written: {written}: {len(found.labels):,} lines of {found.queries:,} queries")


@command.command("verify")
@_graded
@with_options(VERIFY_OPTIONS)
@click.option("--out", type=_FOLDER, help="Folder for verify.json and a CSV file per listing.")
@needing_analysis
def verify_command(graded: Path, prompt_class: str | None, out: Path | None, **given: Any) -> None:
    """Where rubric and assessors contradict each other, and what to read to check the grader.

    Spurious items are answered well by passages judged not relevant; uncovered passages were judged
    relevant and answer nothing well. Both are shown unless sections are named.
    """
    from nuggetstream.files.rubric import read_bank
    from nuggetstream.rubric.checking import Limits, check
    from nuggetstream.rubric.drawing import draw_check
    from nuggetstream.rubric.graded import load
    from nuggetstream.rubric.writing import write_check

    try:
        limits = Limits(given["min_grade"], given["relevant"], given["not_relevant"])
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    with refusing(UnusableFile):
        passages = load(graded, prompt_class, given["query"])
        bank = read_bank(given["bank"]) if given["bank"] else []
        found = check(passages, limits, bank)
        written = write_check(found, out) if out else []
    show(draw_check(found, given["sections"], given["limit"]))
    _say(written)


@command.command("measure")
@click.option("--qrels", type=_FILE, required=True, help="Relevance labels: `query 0 document label` a line.")
@click.option("--runs", multiple=True, required=True, type=_FILE, help="A run file of TREC; once per system.")
@click.option(
    "--measure",
    "measures",
    multiple=True,
    default=("nDCG@10", "RR@10"),
    show_default=True,
    help="By its name in ir_measures; once per measure.",
)
@click.option("--fuse", is_flag=True, help="One more row: the reciprocal rank fusion of all runs.")
@click.option("--out", type=_FOLDER, help="Folder for measure.json and measure.csv; created when missing.")
@needing_analysis
def measure_command(
    qrels: Path, runs: tuple[Path, ...], measures: tuple[str, ...], *, fuse: bool, out: Path | None
) -> None:
    """How good the rankings of runs are by relevance labels, with standard errors.

    Means are over all queries with labels, as trec_eval -c has them: a query that a run does not rank counts
    0, one that it ranks and nobody labelled counts for nothing. Both are counted.
    """
    from nuggetstream.rubric.drawing import draw_runs
    from nuggetstream.rubric.measuring import NoQueryInCommon, measure_runs
    from nuggetstream.rubric.scorings import NoMeasure
    from nuggetstream.rubric.writing import write_runs

    if fuse and len(runs) < 2:
        raise click.UsageError("--fuse needs two runs or more")
    with refusing(UnusableFile, NoMeasure, NoQueryInCommon):
        found = measure_runs(qrels, runs, measures, fuse=fuse)
        written = write_runs(found, out) if out else []
    show(draw_runs(found))
    _say(written)


@command.command("correlate")
@click.argument("leaderboard", type=_FILE)
@click.argument("official", type=_FILE)
@with_options(CORRELATE_OPTIONS)
@click.option("--out", type=_FOLDER, help="Folder for correlation.json and systems.csv.")
@needing_analysis
def correlate_command(leaderboard: Path, official: Path, out: Path | None, **given: Any) -> None:
    """Whether LEADERBOARD orders the systems as OFFICIAL does: Spearman's rho, Kendall's tau-b.

    Each is a leaderboard (CSV with a header, or JSONL) or a qrels file; qrels score the rankings of --runs
    or --graded.
    """
    from nuggetstream.rubric.correlating import DoesNothing, NothingToRank, Sought, compare
    from nuggetstream.rubric.drawing import draw_comparison
    from nuggetstream.rubric.leaderboard_correlation import NoCommonOrder
    from nuggetstream.rubric.scorings import Column, NoMeasure
    from nuggetstream.rubric.writing import write_comparison

    columns = tuple(
        Column(given[f"{side}system"], given[f"{side}score"], given[f"{side}place"])
        for side in ("", "official_")
    )
    sought = Sought(
        first=leaderboard,
        official=official,
        columns=(columns[0], columns[1]),
        runs=given["runs"],
        graded=given["graded"],
        measure=given["measure"],
        left_out=given["without"],
        break_ties=given["break_ties"],
    )
    with refusing(UnusableFile, NothingToRank, NoCommonOrder, NoMeasure, DoesNothing):
        found = compare(sought)
        written = write_comparison(found, out) if out else []
    show(draw_comparison(found))
    _say(written)


@command.command("agree")
@_graded
@click.option("--with", "labels", type=_FILE, help="Qrels; without them, the judgments that GRADED recorded.")
@click.option("--format", "form", type=click.Choice(["console", "csv", "latex"]), default="console")
@click.option(
    "--min-grade",
    type=_GRADE,
    default=HIGH_GRADE,
    show_default=True,
    help="From which a grade says relevant.",
)
@click.option("--relevant", type=int, default=RELEVANT, show_default=True, help="Lowest label meaning so.")
@click.option("--grades", metavar="GROUPS", help="Groups of grades instead, the best first: 4+5,1+2+3,0.")
@click.option("--groups", metavar="GROUPS", help="Groups of labels, the best first: 2+3,1,0.")
@click.option("--each", is_flag=True, help="Every grade against every label instead, without kappa.")
@needing_analysis
def agree_command(
    graded: Path, prompt_class: str | None, labels: Path | None, form: str, **given: Any
) -> None:
    """How the best grade of each passage meets its label: counts and Cohen's kappa.

    As csv or latex the table alone is standard output; what it rests on goes to standard error.
    """
    from nuggetstream.rubric.agreeing import Grouping, NobodyElse, NoGroups, agree, groups_of
    from nuggetstream.rubric.drawing import agreement_lines, draw_agreement
    from nuggetstream.rubric.graded import load
    from nuggetstream.statistics.inter_annotator import csv_text, latex_text

    with refusing(UnusableFile, NobodyElse, NoGroups):
        grouping = Grouping(
            grades=groups_of(given["grades"]) if given["grades"] else (),
            labels=groups_of(given["groups"]) if given["groups"] else (),
            minimum=given["min_grade"],
            relevant=given["relevant"],
            each=given["each"],
        )
        found = agree(load(graded, prompt_class), labels, grouping)
    if form == "console":
        show(draw_agreement(found))
        return
    text = csv_text(found.table) if form == "csv" else latex_text(found.table)
    click.echo(text, nl=False)
    for line in agreement_lines(found):
        click.echo(line, err=True)


@command.command("aspects")
@click.argument("judge", type=_FILE)
@click.argument("people", type=_FILE)
@click.option(
    "--seed", type=click.IntRange(min=0), default=20250504, show_default=True, help="Of the tree's folds."
)
@needing_analysis
def aspects_command(judge: Path, people: Path, seed: int) -> None:
    """How closely aspects rated by JUDGE follow what PEOPLE accept: W-LLM, other weights, a tree.

    Both are CSV with a header or JSONL: answer_id, factuality (0 to 3), amountInfo and formality (-1 to 1, 0
    is right); JUDGE with overall, one row per answer; PEOPLE with acceptability, one row per rater.
    """
    from nuggetstream.aspects.study import draw, follow

    with refusing(UnusableFile):
        found = follow(judge, people, seed)
    show(draw(found))


def _say(written: list[Path]) -> None:
    for path in written:
        click.echo(f"written: {path}")
