"""`nuggetstream rubric …`: what exam questions, nuggets and labels tell about systems and assessors."""

import click

from services.cli.rubric.aspects import aspects_command
from services.cli.rubric.bank import bank_group
from services.cli.rubric.exported import export_command
from services.cli.rubric.grade import grade_command
from services.cli.rubric.graded import agree_command, cover_command, qrels_command, verify_command
from services.cli.rubric.labels import kappa_command
from services.cli.rubric.rankings import correlate_command, measure_command


@click.group("rubric")
def command() -> None:
    """Evaluate systems, passages and assessors by the exam questions that passages answer.

    GRADED is a file of graded passages as the autograding workbench writes it, gzipped or not: one line
    per query, `[query id, [passage, …]]`. Instead of questions, nuggets can be graded, or whole passages.

    All commands exit 2 when a file cannot be used, naming file, line and field.
    """


for subcommand in (
    grade_command,
    bank_group,
    cover_command,
    qrels_command,
    verify_command,
    correlate_command,
    measure_command,
    agree_command,
    kappa_command,
    aspects_command,
    export_command,
):
    command.add_command(subcommand)
