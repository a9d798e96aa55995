"""The options of `nuggetstream rate`: how files are read, how ratings are made, what else is asked."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from nuggetstream.ratings.board import Method
from nuggetstream.ratings.bootstrap import Bootstrap
from nuggetstream.ratings.options import Intervals
from nuggetstream.ratings.tally import TiePolicy
from services.cli.showing import Number

F = TypeVar("F", bound=Callable[..., Any])
_USUAL = Method()


def with_options(options: Sequence[Callable[[Any], Any]]) -> Callable[[F], F]:
    """Add options to a command, in the order of the list."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


READING_OPTIONS = (
    click.option("--a", metavar="COLUMN", help="Column of the first system."),
    click.option("--b", metavar="COLUMN", help="Column of the second system."),
    click.option("--winner", metavar="COLUMN", help="Column of the outcome."),
    click.option(
        "--weight", metavar="COLUMN", help="Column of each vote's weight; `weight` if there is one."
    ),
    click.option(
        "--cluster",
        metavar="COLUMN",
        help="Votes with the same value here, such as a query or a user, are resampled together.",
    ),
    click.option(
        "--systems",
        multiple=True,
        metavar="NAMES|FILE",
        help="The systems there are: names with commas between, or a file of one per line. A vote for "
        "another one is an error.",
    ),
    click.option("--where", multiple=True, metavar="COLUMN=VALUE", help="Only rows with this value."),
    click.option(
        "--weigh",
        multiple=True,
        metavar="SOURCE=WEIGHT",
        help="Weight of each vote of a source: a file's name without its endings, or a lens of `eval` "
        "results (human, nugget, judge). Files weigh 1; of a lens only those named, or human.",
    ),
)


def _plays(given: dict[str, Any]) -> bool:
    return bool(given["elo"] or given["ragelo"])


def _has_people(given: dict[str, Any]) -> bool:
    return given["human"] is not None


def _resamples(given: dict[str, Any]) -> bool:
    return bool(given["intervals"] == Intervals.BOOTSTRAP.value)


_ONLY_WITH: tuple[tuple[tuple[str, ...], Callable[[dict[str, Any]], bool], str], ...] = (
    (("rounds", "k"), _plays, "--elo or --ragelo"),
    (("battle",), _has_people, "--human"),
    (("bootstrap", "resamples"), _resamples, "--intervals bootstrap"),
)


def refuse_unused(context: click.Context) -> None:
    """Refuse options of something that is not asked for: they would do nothing without a word.

    Raises:
        click.UsageError: naming the option and what it belongs to.
    """
    for names, is_asked, owner in _ONLY_WITH:
        for name in names:
            typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
            if typed and not is_asked(context.params):
                raise click.UsageError(f"--{name} does nothing without {owner}")


METHOD_OPTIONS = (
    click.option(
        "--ties",
        type=click.Choice([policy.value.replace("_", "-") for policy in TiePolicy]),
        default=_USUAL.policy.value,
        show_default=True,
        help="Half a win for each, left out, or an outcome of its own in a model of ties.",
    ),
    click.option(
        "--intervals",
        type=click.Choice([each.value for each in Intervals]),
        default=_USUAL.intervals.value,
        show_default=True,
        help="From resamples, or from the sandwich covariance (no P(best)).",
    ),
    click.option(
        "--bootstrap",
        type=click.Choice([each.value for each in Bootstrap]),
        default=_USUAL.bootstrap.value,
        show_default=True,
        help="Weigh every vote at random, or draw votes with replacement.",
    ),
    click.option(
        "--resamples", type=click.IntRange(min=100, max=100_000), default=_USUAL.resamples, show_default=True,
        help="Of the bootstrap.",
    ),
    click.option(
        "--seed", type=click.IntRange(min=0), default=_USUAL.seed, show_default=True,
        help="The same seed gives the same numbers.",
    ),
    click.option(
        "--level",
        type=Number(min=0, max=1, min_open=True, max_open=True),
        default=_USUAL.level,
        show_default=True,
        help="Of all intervals.",
    ),
    click.option("--anchor", metavar="NAME=RATING", help="Fix one system's rating; else the mean is 1000."),
)  # fmt: skip

SECTION_OPTIONS = (
    click.option(
        "--style", is_flag=True, help="Also at equal style: length, citations, markup of text_a, text_b."
    ),
    click.option(
        "--feature",
        multiple=True,
        metavar="NAME",
        help="Also at equal amounts of the columns NAME_a and NAME_b, instead of the texts.",
    ),
    click.option("--elo", is_flag=True, help="Also mean Elo ratings of many shuffled tournaments."),
    click.option("--ragelo", is_flag=True, help="The same with RAGElo's arithmetic: whole numbers only."),
    click.option("--rounds", type=click.IntRange(min=1), default=500, show_default=True, help="Tournaments."),
    click.option(
        "--k",
        type=Number(min=0, min_open=True),
        default=32.0,
        show_default=True,
        help="Largest change of a game.",
    ),
    click.option(
        "--advise", is_flag=True, help="Also battles still needed between neighbours, and which help most."
    ),
    click.option(
        "--human",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Human votes on some battles of FILE: prediction-powered win rates and ratings.",
    ),
    click.option(
        "--battle",
        metavar="COLUMN",
        help="With --human, the column that names a battle in both files; battle_id, battle, question_id "
        "or id by default.",
    ),
)
