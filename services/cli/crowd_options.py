"""The options of `nuggetstream crowd`: how a file is read, and how competence is learned."""

import click

from nuggetstream.crowd.learning import Method
from services.cli.showing import Number

_USUAL = Method()

CROWD_OPTIONS = (
    click.option(
        "--item", multiple=True, metavar="COLUMN", help="What is labelled; several columns together."
    ),
    click.option("--worker", metavar="COLUMN", help="Who labels."),
    click.option(
        "--label", multiple=True, metavar="COLUMN", help="The label; given again, one per dimension."
    ),
    click.option("--dimension", metavar="COLUMN", help="What the label is about, where that is a column."),
    click.option(
        "--spam", metavar="COLUMN", help="Known probability that a vote is spam: shown beside ours."
    ),
    click.option(
        "--sides",
        nargs=2,
        metavar="FIRST SECOND",
        help="Columns of the two answers as they were shown, which name the item: does their order matter?",
    ),
    click.option(
        "--place",
        metavar="COLUMN",
        help="Place of the item in its worker's session, a whole number: do early and late votes differ?",
    ),
    click.option(
        "--labels",
        multiple=True,
        metavar="[DIMENSION=]LABELS",
        help="All labels there are, in their order, with commas between.",
    ),
    click.option(
        "--level",
        type=click.Choice(["nominal", "ordinal"]),
        help="Whether distances between labels count; ordinal where their order is known, else nominal.",
    ),
    click.option(
        "--spam-limit",
        type=Number(0, 1),
        default=_USUAL.limit,
        show_default=True,
        help="Votes of a worker likelier spam than this are dropped.",
    ),
    click.option(
        "--restarts",
        type=click.IntRange(1, 1000),
        default=_USUAL.restarts,
        show_default=True,
        help="Random starts of MACE.",
    ),
    click.option(
        "--iterations",
        type=click.IntRange(1, 10_000),
        default=_USUAL.iterations,
        show_default=True,
        help="At most, of each start.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(min=0),
        default=_USUAL.seed,
        show_default=True,
        help="The same seed gives the same numbers.",
    ),
    click.option(
        "--needed",
        type=click.IntRange(1),
        default=3,
        show_default=True,
        help="Votes for one label that decide a dimension.",
    ),
    click.option(
        "--decided",
        type=click.IntRange(1),
        default=5,
        show_default=True,
        help="Decided dimensions of a pair that people can tell apart.",
    ),
)
