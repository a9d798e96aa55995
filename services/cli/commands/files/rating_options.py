"""The options of `nuggetstream rate`: how files are read, how ratings are made, what else is computed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from nuggetstream.ratings.options import Bootstrap, Every, Intervals, Options
from nuggetstream.ratings.ties import TiePolicy
from services.cli.commands.reading_options import MISSING_OPTION, OUTCOME_OPTION, WHERE_OPTION
from services.cli.commands.showing import Number

F = TypeVar("F", bound=Callable[..., Any])
_USUAL = Options()


READING_OPTIONS = (
    click.option("--a", metavar="COLUMN", help="Column of the first system."),
    click.option("--b", metavar="COLUMN", help="Column of the second system."),
    click.option("--winner", metavar="COLUMN", help="Column of the outcome."),
    click.option(
        "--weight",
        metavar="COLUMN",
        help="Column with the weight of each vote. Default: `weight`, if it exists.",
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
        help="Systems that may be voted on: names separated by commas, or a file with one name per line. "
        "A vote on any other system is an error.",
    ),
    WHERE_OPTION,
    MISSING_OPTION,
    OUTCOME_OPTION,
    click.option(
        "--weigh",
        multiple=True,
        metavar="SOURCE=WEIGHT",
        help="Weight of each vote of a source: the name of a file without its extensions, or a lens of "
        "`eval` results (human, nugget, judge). Files have weight 1; only lenses named here are read, "
        "or human if none is named.",
    ),
)


def _plays(parameters: dict[str, Any]) -> bool:
    return bool(parameters["elo"] or parameters["ragelo"])


def _has_people(parameters: dict[str, Any]) -> bool:
    return parameters["human"] is not None


def _over_time(parameters: dict[str, Any]) -> bool:
    return parameters["over_time"] is not None


def _resamples(parameters: dict[str, Any]) -> bool:
    return bool(parameters["intervals"] != Intervals.SANDWICH.value)


_ONLY_WITH: tuple[tuple[tuple[str, ...], Callable[[dict[str, Any]], bool], str], ...] = (
    (("rounds", "k"), _plays, "--elo or --ragelo"),
    (("battle",), _has_people, "--human"),
    (("cumulative", "time"), _over_time, "--over-time"),
    (("bootstrap", "resamples"), _resamples, "--intervals bootstrap"),
)


def reject_unused(context: click.Context) -> None:
    """Reject options that would have no effect.

    Raises:
        click.UsageError: Names the option and what it belongs to.
    """
    for names, is_asked, owner in _ONLY_WITH:
        for name in names:
            typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
            if typed and not is_asked(context.params):
                raise click.UsageError(f"--{name.replace('_', '-')} has no effect without {owner}")


METHOD_OPTIONS = (
    click.option(
        "--ties",
        type=click.Choice([policy.value.replace("_", "-") for policy in TiePolicy]),
        default=_USUAL.policy.value,
        show_default=True,
        help="Count a tie as half a win for each, drop it, or model it as an outcome of its own.",
    ),
    click.option(
        "--intervals",
        type=click.Choice([each.value for each in Intervals]),
        help="Intervals from robust standard errors, corrected for few votes (sandwich, the default), or "
        "from resamples (bootstrap, the default with --prior, --bootstrap, --resamples or a model of ties).",
    ),
    click.option(
        "--bootstrap",
        type=click.Choice([each.value for each in Bootstrap]),
        help=f"Weight every vote at random ({_USUAL.drawing}, the default), or draw votes with replacement.",
    ),
    click.option(
        "--resamples", type=click.IntRange(min=100, max=100_000),
        help=f"Number of resamples of the bootstrap, {_USUAL.draws:,} by default.",
    ),
    click.option(
        "--seed", type=click.IntRange(min=0), default=_USUAL.seed, show_default=True,
        help="Seed of all randomness; the same seed gives the same numbers.",
    ),
    click.option(
        "--level",
        type=Number(min=0, max=1, min_open=True, max_open=True),
        default=_USUAL.level,
        show_default=True,
        help="Confidence level of all intervals.",
    ),
    click.option(
        "--anchor", metavar="NAME=RATING", help="Fix the rating of one system. Default: the mean is 1000."
    ),
    click.option(
        "--prior", type=Number(min=0, min_open=True), metavar="BATTLES",
        help="Add a weak prior of so many pseudo-battles per system, so that undefeated systems have a "
        "finite rating. Default: no prior.",
    ),
    click.option(
        "--provisional-below", type=click.IntRange(min=0), default=_USUAL.provisional_below,
        show_default=True, help="Ratings from fewer battles than this are provisional and have no rank.",
    ),
)  # fmt: skip

SECTION_OPTIONS = (
    click.option(
        "--style",
        is_flag=True,
        help="Also rate at equal style: length, citations and markup of text_a and text_b.",
    ),
    click.option(
        "--feature",
        multiple=True,
        metavar="NAME",
        help="Also rate at equal amounts of the columns NAME_a and NAME_b, instead of the texts.",
    ),
    click.option(
        "--ridge",
        type=Number(min=0),
        default=_USUAL.ridge,
        show_default=True,
        help="Pull the coefficients of style towards zero; arena-rank does with 1.",
    ),
    click.option("--elo", is_flag=True, help="Also compute mean Elo ratings of many shuffled tournaments."),
    click.option(
        "--ragelo", is_flag=True, help="Also compute them with RAGElo's arithmetic, in whole numbers."
    ),
    click.option(
        "--rounds", type=click.IntRange(min=1), default=500, show_default=True, help="Number of tournaments."
    ),
    click.option(
        "--k",
        type=Number(min=0, min_open=True),
        default=32.0,
        show_default=True,
        help="Largest change of a rating in one game.",
    ),
    click.option(
        "--advise",
        is_flag=True,
        help="Also advise: battles still needed between neighbours, and which battles help most.",
    ),
    click.option(
        "--human",
        type=click.Path(path_type=Path, dir_okay=False),
        help="File of human votes on some battles of FILE, for prediction-powered win rates and ratings.",
    ),
    click.option(
        "--battle",
        metavar="COLUMN",
        help="With --human, the column that identifies a battle in both files. Default: battle_id, battle, "
        "question_id or id.",
    ),
    click.option(
        "--over-time",
        type=click.Choice([every.value for every in Every]),
        help="Also rate the votes of every day, week or month (in UTC).",
    ),
    click.option(
        "--cumulative", is_flag=True, help="With --over-time, count all votes up to the end of each period."
    ),
    click.option(
        "--time",
        metavar="COLUMN",
        help="With --over-time, the column with the time of a vote: ISO 8601 (UTC if it names no zone) or a "
        "Unix timestamp. Default: created_at, voted_at, received_at, timestamp, tstamp, time or date.",
    ),
)
