"""The options that say which rows of a file are read, and what its values mean."""

from collections.abc import Iterable

import click

WHERE_OPTION = click.option(
    "--where", multiple=True, metavar="COLUMN=VALUE", help="Read only rows with this value."
)
MISSING_OPTION = click.option(
    "--missing",
    multiple=True,
    metavar="VALUE",
    help="A value that means that there is none. NA, N/A, NULL, None, - and their like do so where all other "
    "values of a column are numbers or known words.",
)
OUTCOME_OPTION = click.option(
    "--outcome",
    "outcomes",
    multiple=True,
    metavar="WORD=OUTCOME",
    help="What a word or a number in the column of the outcome means: a, b, tie or both_bad.",
)


def split(text: str, option: str, form: str) -> tuple[str, str]:
    """A name and a value with = between them.

    Raises:
        click.UsageError: One of them is empty.
    """
    name, equals, value = text.rpartition("=")
    if not (name and equals and value):
        raise click.UsageError(f"{option}: {text!r} is not of the form {form}")
    return name, value


def where_of(texts: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Columns and the values that rows must have in them."""
    return tuple(split(text, "--where", "COLUMN=VALUE") for text in texts)


def outcomes_of(texts: Iterable[str]) -> dict[str, str]:
    """Words and the outcomes that they mean."""
    return dict(split(text, "--outcome", "WORD=OUTCOME") for text in texts)
