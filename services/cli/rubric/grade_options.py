"""The options of `nuggetstream rubric grade`."""

import click

from nuggetstream.domain.question_bank import BankKind
from services.cli.commands.showing import NEW_FOLDER
from services.cli.rubric.options import FILE

GRADE_OPTIONS = (
    click.option(
        "--bank",
        metavar="FILE|make",
        help="File with the questions or nuggets of each query, as the autograding workbench writes it; with "
        "`make` the model makes them.",
    ),
    click.option(
        "--documents",
        type=FILE,
        required=True,
        help="JSONL file of {docid, text}, texts of the passages.",
    ),
    click.option(
        "--queries",
        type=FILE,
        help="File of queries: per line an id, a tab and the query, or an object with id and query. It is "
        "needed without a bank that has the queries.",
    ),
    click.option(
        "--out",
        type=NEW_FOLDER,
        help="Folder for the results, and for the state from which the same command continues.  [required]",
    ),
    click.option("--depth", type=click.IntRange(min=1), help="Grade the first DEPTH passages of each query."),
    click.option("--qrels", type=FILE, help="Judgments of assessors, to record beside the grades."),
    click.option(
        "--verify", is_flag=True, help="Ask also whether what was found answers the question: a second set."
    ),
    click.option("--each", "per_question", is_flag=True, help="Ask each question in a call of its own."),
    click.option(
        "--direct", is_flag=True, help="Grade whole passages by relevance, in four styles, without questions."
    ),
    click.option(
        "--items",
        type=click.Choice([kind.value for kind in BankKind]),
        default=BankKind.QUESTIONS.value,
        show_default=True,
        help="What `--bank make` makes.",
    ),
    click.option(
        "--number",
        type=click.IntRange(2, 30),
        default=10,
        show_default=True,
        help="How many of them it makes per query.",
    ),
    click.option("--batch", is_flag=True, help="Ask in batches of the endpoint: half the price."),
    click.option(
        "--dry-run",
        is_flag=True,
        help="Print the model calls, tokens and cost to expect, from a sample; write nothing.",
    ),
)
