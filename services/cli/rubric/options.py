"""Arguments and options of the commands of `nuggetstream rubric`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from nuggetstream.rubric.cover import Unanswerable
from nuggetstream.rubric.verification import HIGH_GRADE, NOT_RELEVANT, RELEVANT
from services.cli.commands.reading_options import MISSING_OPTION
from services.cli.commands.showing import NEW_FOLDER, Number

F = TypeVar("F", bound=Callable[..., Any])

FILE = click.Path(path_type=Path, dir_okay=False)
GRADE = click.IntRange(min=1, max=5)


def graded_argument(command: F) -> F:
    """The argument and the option of every command that reads a graded file."""
    choose = click.option(
        "--prompt-class", metavar="NAME", help="Which grades to take, where passages carry several sets."
    )
    return click.argument("graded", type=FILE)(choose(command))


COVER_OPTIONS = (
    click.option(
        "--at", "k", type=click.IntRange(min=1), default=20, show_default=True, help="Depth of the top."
    ),
    click.option(
        "--min-grade",
        type=GRADE,
        default=3,
        show_default=True,
        help="Lowest grade at which an item counts as answered.",
    ),
    click.option(
        "--unanswerable",
        type=click.Choice([choice.value for choice in Unanswerable]),
        default=Unanswerable.LEFT_OUT.value,
        show_default=True,
        help="How n-EXAM counts a query in which no passage answers an item; the original autograding "
        "workbench counts it as zero.",
    ),
    click.option(
        "--alpha-ndcg",
        "alpha",
        type=Number(0, 1),
        metavar="[ALPHA]",
        is_flag=False,
        flag_value="0.5",
        help="Also compute alpha-nDCG of the top, with items as subtopics; alpha is 0.5 unless given.",
    ),
    click.option("--per-query", is_flag=True, help="Also print the values of every system for every query."),
    click.option(
        "--pair",
        nargs=2,
        metavar="FIRST SECOND",
        help="Also compare two systems query by query: paired t-test and Wilcoxon's signed-rank test.",
    ),
    click.option(
        "--without-each",
        is_flag=True,
        help="Also leave out each item alone: what changes in the order of systems and in their covers?",
    ),
    click.option(
        "--out",
        type=NEW_FOLDER,
        help="Folder for cover.json and CSV files, also per query; created when missing.",
    ),
)

QRELS_OPTIONS = (
    click.option("--out", type=FILE, required=True, help="The qrels file to write."),
    click.option(
        "--by",
        type=click.Choice(["max", "count"]),
        default="max",
        show_default=True,
        help="A passage's label is its best grade, or the number of items it answers.",
    ),
    click.option(
        "--min-grade",
        type=GRADE,
        help="Lowest grade at which an item is answered; a best grade below it becomes 0.",
    ),
)

VERIFY_OPTIONS = (
    click.option(
        "--spurious",
        "sections",
        flag_value="spurious",
        multiple=True,
        help="Show items that passages judged not relevant answer well.",
    ),
    click.option(
        "--uncovered",
        "sections",
        flag_value="uncovered",
        multiple=True,
        help="Show passages judged relevant that answer no item well.",
    ),
    click.option(
        "--contradicted",
        "sections",
        flag_value="contradicted",
        multiple=True,
        help="Show good grades that --verify or an answer key of `grade` contradicts.",
    ),
    click.option(
        "--alike",
        "sections",
        flag_value="alike",
        multiple=True,
        help="Show items that all passages answer well, or that none does.",
    ),
    click.option(
        "--grid",
        "sections",
        flag_value="grid",
        multiple=True,
        help="Show a table of passages and items with every grade.",
    ),
    click.option(
        "--listing",
        "sections",
        flag_value="listing",
        multiple=True,
        help="Show every graded answer, item by item.",
    ),
    click.option(
        "--min-grade",
        type=GRADE,
        default=HIGH_GRADE,
        show_default=True,
        help="Lowest grade at which an answer is good.",
    ),
    click.option(
        "--relevant",
        type=int,
        default=RELEVANT,
        show_default=True,
        help="Lowest judgment that means relevant.",
    ),
    click.option(
        "--not-relevant",
        type=int,
        default=NOT_RELEVANT,
        show_default=True,
        help="Highest judgment that means not relevant.",
    ),
    click.option("--query", metavar="ID", help="Check this query only."),
    click.option("--bank", type=FILE, help="Bank of questions or nuggets, to show their texts."),
    click.option(
        "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Rows shown per table."
    ),
    click.option(
        "--qrels", type=FILE, help="Judgments of assessors, in place of those that GRADED recorded."
    ),
    click.option(
        "--out",
        type=NEW_FOLDER,
        help="Folder for verify.json, the page verify.html and a CSV file per listing.",
    ),
)

AGREE_OPTIONS = (
    click.option(
        "--with", "labels", type=FILE, help="Qrels; without them, the judgments that GRADED recorded."
    ),
    click.option(
        "--format",
        "form",
        type=click.Choice(["console", "csv", "latex"]),
        default="console",
        show_default=True,
        help="Form of the table.",
    ),
    click.option(
        "--min-grade",
        type=GRADE,
        default=HIGH_GRADE,
        show_default=True,
        help="Lowest grade that counts as relevant.",
    ),
    click.option(
        "--min-answers",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        help="Number of items of a passage that have to reach a grade.",
    ),
    click.option(
        "--relevant", type=int, default=RELEVANT, show_default=True, help="Lowest label that means relevant."
    ),
    click.option("--grades", metavar="GROUPS", help="Groups of grades, the best first, such as 4+5,1+2+3,0."),
    click.option("--groups", metavar="GROUPS", help="Groups of labels, the best first, such as 2+3,1,0."),
    click.option(
        "--each", "ungrouped", is_flag=True, help="Count every grade against every label, without kappa."
    ),
)

KAPPA_OPTIONS = (
    click.option(
        "--item",
        "items",
        multiple=True,
        metavar="COLUMN",
        help="Column of what is labelled, in a table; several columns together name one item.",
    ),
    click.option("--label", metavar="COLUMN", help="Column of the labels, in a table."),
    MISSING_OPTION,
    click.option(
        "--labels",
        "order",
        metavar="LABELS",
        help="All labels in their order, such as low,middle,high; weighted kappa of labels that are not "
        "numbers needs it.",
    ),
    click.option(
        "--out", type=NEW_FOLDER, help="Folder for kappa.json and confusion.csv; created when missing."
    ),
)

MEASURE_OPTIONS = (
    click.option("--qrels", type=FILE, required=True, help="Relevance labels: `query 0 document label`."),
    click.option(
        "--runs",
        multiple=True,
        required=True,
        type=FILE,
        help="A TREC run file; repeat the option for every system.",
    ),
    click.option(
        "--measure",
        "measures",
        multiple=True,
        default=("nDCG@10", "RR@10"),
        show_default=True,
        help="Name of a measure in ir_measures; repeat the option for more.",
    ),
    click.option("--fuse", is_flag=True, help="Add a row for the reciprocal rank fusion of all runs."),
    click.option(
        "--out", type=NEW_FOLDER, help="Folder for measure.json and measure.csv; created when missing."
    ),
)

CORRELATE_OPTIONS = (
    click.option(
        "--runs", multiple=True, type=FILE, help="A TREC run file; repeat the option for every system."
    ),
    click.option(
        "--graded", type=FILE, help="Graded file whose recorded rankings are scored, instead of run files."
    ),
    click.option(
        "--measure", metavar="NAME", help="Measure of rankings by its name in ir_measures; default nDCG@10."
    ),
    click.option("--without", multiple=True, metavar="SYSTEM", help="Leave this system out of both sides."),
    click.option(
        "--break-ties",
        is_flag=True,
        help="Give the official side ranks without ties, as trec_eval prints them.",
    ),
    click.option("--system", metavar="COLUMN", help="Column of the system names in LEADERBOARD."),
    click.option("--score", metavar="COLUMN", help="Column of the scores in LEADERBOARD; higher is better."),
    click.option(
        "--rank", "--place", "rank", metavar="COLUMN", help="Column of the ranks in LEADERBOARD; 1 is best."
    ),
    click.option("--official-system", metavar="COLUMN", help="Column of the system names in OFFICIAL."),
    click.option("--official-score", metavar="COLUMN", help="Column of the scores in OFFICIAL."),
    click.option(
        "--official-rank",
        "--official-place",
        "official_rank",
        metavar="COLUMN",
        help="Column of the ranks in OFFICIAL.",
    ),
    click.option("--out", type=NEW_FOLDER, help="Folder for correlation.json and systems.csv."),
)
