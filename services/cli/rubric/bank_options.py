"""The options of `nuggetstream rubric bank`."""

from collections.abc import Callable
from typing import Any

import click

from services.cli.rubric.options import FILE, GRADE

BANK = click.argument("bank", type=FILE)
WHO = (
    click.option("--by", required=True, metavar="NAME", help="Who does it; kept in the history."),
    click.option("--reason", required=True, help="Why; kept in the history."),
)
QUERIES = click.option("--queries", type=FILE, help="File of queries, for those that the bank lacks.")


def _named(flag: str, value: str, name: str, *, several: bool = True) -> Callable[[Any], Any]:
    metavar, help_text = value.rsplit("|", 1)
    return click.option(
        flag, name, multiple=True, nargs=2 if several else 1, metavar=metavar, help=help_text, default=()
    )


SCORE_OPTIONS = (
    click.option(
        "--graded",
        type=FILE,
        help="Graded file of `rubric grade`, whose grades follow the edit: new questions are graded on its "
        "passages, and the scores before and after are shown.",
    ),
    click.option("--each", "per_question", is_flag=True, help="Ask each new question in a call of its own."),
    click.option(
        "--at", "k", type=click.IntRange(min=1), default=20, show_default=True, help="Depth of the top."
    ),
    click.option(
        "--min-grade",
        type=GRADE,
        default=3,
        show_default=True,
        help="Lowest grade at which a question counts as answered.",
    ),
)
EDIT_OPTIONS = (
    _named("--add", "QUERY TEXT|Add a question to the query with this id.", "add"),
    _named("--change", "QUESTION TEXT|Word a question, named by its id or text, anew.", "change"),
    _named("--remove", "QUESTION|Remove a question.", "remove", several=False),
    _named("--key", "QUESTION ANSWER|Give a question a right answer; repeat it for more.", "key"),
    _named("--hold-back", "QUESTION|Keep a question out of what is published.", "hold_back", several=False),
    _named("--release", "QUESTION|Publish a question that was held back.", "release", several=False),
    QUERIES,
    *WHO,
    *SCORE_OPTIONS,
    click.option("--preview", is_flag=True, help="Show what changes, and keep nothing."),
    click.option("--yes", is_flag=True, help="Keep the edit without asking."),
)
PAGE_OPTIONS = (
    QUERIES,
    *SCORE_OPTIONS,
    click.option(
        "--port", type=int, default=0, show_default=True, help="Port of the page; 0 takes a free one."
    ),
)
