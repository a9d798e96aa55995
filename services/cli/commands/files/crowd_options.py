"""The options of `nuggetstream crowd`: how a file is read, and how competence and grades are computed."""

import click

from nuggetstream.crowd.grades import REGULARISATION, TIE
from nuggetstream.crowd.learning import CompetenceOptions
from nuggetstream.crowd.study import CrowdOptions
from services.cli.commands.reading_options import MISSING_OPTION, WHERE_OPTION
from services.cli.commands.showing import Number

_COMPETENCE = CompetenceOptions()
_CROWD = CrowdOptions()

COLUMN_OPTIONS = (
    click.option(
        "--item",
        multiple=True,
        metavar="COLUMN",
        help="Column of the labelled item; give it several times where several columns name the item.",
    ),
    click.option("--worker", metavar="COLUMN", help="Column of the worker."),
    click.option(
        "--label",
        multiple=True,
        metavar="COLUMN",
        help="Column of the label; give it several times for one dimension each.",
    ),
    click.option("--dimension", metavar="COLUMN", help="Column of the dimension that the label is about."),
    click.option(
        "--sides",
        nargs=2,
        metavar="FIRST SECOND",
        help="Columns of the two answers in the order shown; they name the item. Shows whether the order "
        "matters.",
    ),
    WHERE_OPTION,
    MISSING_OPTION,
)
LABEL_OPTIONS = (
    *COLUMN_OPTIONS,
    click.option(
        "--spam",
        metavar="COLUMN",
        help="Column of the probability, estimated elsewhere, that a vote is spam; its alpha is shown too.",
    ),
    click.option(
        "--position",
        "--place",
        metavar="COLUMN",
        help="Column of the item's position in its worker's session, a whole number. Shows whether early and "
        "late votes differ.",
    ),
    click.option(
        "--labels",
        multiple=True,
        metavar="[DIMENSION=]LABELS",
        help="Every label in ascending order, separated by commas.",
    ),
    click.option(
        "--level",
        type=click.Choice(["nominal", "ordinal", "interval", "ratio"]),
        help="Level of the labels; by default ordinal where their order is known, else nominal.",
    ),
)

COMPETENCE_OPTIONS = (
    click.option(
        "--spam-limit",
        type=Number(0, 1),
        default=_COMPETENCE.limit,
        show_default=True,
        help="Drop the votes of workers whose spam probability is above this.",
    ),
    click.option(
        "--restarts",
        type=click.IntRange(1, 1000),
        default=_COMPETENCE.restarts,
        show_default=True,
        help="Number of random starts of MACE.",
    ),
    click.option(
        "--iterations",
        type=click.IntRange(1, 10_000),
        default=_COMPETENCE.iterations,
        show_default=True,
        help="Maximum number of iterations per start.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(min=0),
        default=_COMPETENCE.seed,
        show_default=True,
        help="Seed of the random starts; the same seed gives the same numbers.",
    ),
    click.option(
        "--needed",
        type=click.IntRange(1),
        default=_CROWD.needed,
        show_default=True,
        help="Number of votes for one label that decide a dimension of a pair.",
    ),
    click.option(
        "--decided",
        type=click.IntRange(1),
        default=_CROWD.decided,
        show_default=True,
        help="Number of decided dimensions that make a pair differentiable.",
    ),
)

GRADE_OPTIONS = (
    click.option("--topic", metavar="COLUMN", help="Column of the topic; without one there is one topic."),
    click.option("--sides", nargs=2, metavar="FIRST SECOND", help="Columns of the two items compared."),
    click.option(
        "--label",
        multiple=True,
        metavar="COLUMN",
        help="Column of the label (a, n or tie, b); give it several times for one dimension each.",
    ),
    click.option("--dimension", metavar="COLUMN", help="Column of the dimension that the label is about."),
    WHERE_OPTION,
    MISSING_OPTION,
    click.option(
        "--regularisation",
        "--lambda",
        type=Number(0, min_open=True),
        default=REGULARISATION,
        show_default=True,
        help="λ: wins and losses of every item against a dummy item, which keep merits finite.",
    ),
    click.option(
        "--tie",
        "-t",
        type=Number(0, min_open=True),
        default=TIE,
        show_default=True,
        help="t: how close two merits must be for a tie.",
    ),
)
