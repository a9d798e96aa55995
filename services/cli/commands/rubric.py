"""`nuggetstream rubric …`: what exam questions, nuggets and labels tell about systems and assessors."""

import click

from services.cli.rubric.aspects import aspects_command
from services.cli.rubric.graded import agree_command, cover_command, qrels_command, verify_command
from services.cli.rubric.labels import kappa_command
from services.cli.rubric.rankings import correlate_command, measure_command


@click.group("rubric")
def command() -> None:
    """Systems, passages and assessors by how well passages answer exam questions or nuggets.

    GRADED is a file of graded passages as the autograding workbench writes it, gzipped or not: one line
    per query, `[query id, [passage, …]]`.

    All commands exit 2 when a file cannot be used, naming file, line and field.
    """


for subcommand in (
    cover_command,
    qrels_command,
    verify_command,
    correlate_command,
    measure_command,
    agree_command,
    kappa_command,
    aspects_command,
):
    command.add_command(subcommand)
