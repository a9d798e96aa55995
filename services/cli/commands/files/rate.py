"""`nuggetstream rate FILE…`: every rating statistic of any file of votes."""

import math
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

import click

from nuggetstream.files.columns import NamedColumns
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.record import as_number
from nuggetstream.files.votes import ReadOptions
from nuggetstream.ratings.fitting.elo import Arithmetic
from nuggetstream.ratings.model import OneCluster, Unsettled
from nuggetstream.ratings.options import Anchor, Bootstrap, Every, Intervals, InvalidOption, Options
from nuggetstream.ratings.study.casting import TooManyVotes
from nuggetstream.ratings.study.results_files import write_study
from nuggetstream.ratings.study.run import Clash, StudyOptions, study
from nuggetstream.ratings.study.sources import UnknownSource
from nuggetstream.ratings.study.terminal import render
from nuggetstream.ratings.ties import TiePolicy
from services.cli.commands.files.rating_options import (
    METHOD_OPTIONS,
    READING_OPTIONS,
    SECTION_OPTIONS,
    reject_unused,
)
from services.cli.commands.reading_options import outcomes_of, split, where_of
from services.cli.commands.sections import Sectioned
from services.cli.commands.showing import (
    NEW_FOLDER,
    BadInput,
    needing_extras,
    plain_option,
    refusing,
    show,
    show_written,
    with_options,
)

_REJECTED = (UnusableFile, UnknownSource, Clash, OneCluster, TooManyVotes, InvalidOption, Unsettled)


@click.command(
    "rate",
    cls=Sectioned,
    sections={
        "a": "Columns and rows",
        "ties": "Ratings and intervals",
        "style": "Ratings at equal style",
        "elo": "Elo ratings",
        "advise": "Battles still needed",
        "human": "Votes of people on some battles",
        "over_time": "Ratings over time",
    },
)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--out",
    type=NEW_FOLDER,
    help="Folder for ratings.json, ratings.csv, differences.csv and wins.csv; created when missing.",
)
@plain_option
@with_options(READING_OPTIONS)
@with_options(METHOD_OPTIONS)
@with_options(SECTION_OPTIONS)
@needing_extras
def command(files: tuple[Path, ...], out: Path | None, plain: bool, **arguments: object) -> None:
    """Rate the systems of FILES by Bradley-Terry, with intervals.

    A file is CSV with a header, JSONL or Parquet, compressed or not: one vote per row, with the two systems
    (system_a and system_b, model_a and model_b, left and right, ...) and the winner (a, b, tie, both_bad, the
    usual spellings of arenas, the winner's name, or a number in [0, 1]: the share of the point that A takes).
    The columns `weight` and `count` are read if they exist. Results of `nuggetstream eval` work too, and so
    do battles and verdicts in the formats of `nuggetstream import --formats`.

    Exits with code 2 when a file cannot be used; the message names file, line and field.
    """
    reject_unused(click.get_current_context())
    with refusing(*_REJECTED):
        results = study(_study_options(files, SimpleNamespace(**arguments)))
        written = write_study(results, out) if out else []
    show(render(results), plain=plain)
    show_written(written, plain=plain)


def _study_options(files: tuple[Path, ...], arguments: SimpleNamespace) -> StudyOptions:
    asked = ((Arithmetic.FLOAT, arguments.elo), (Arithmetic.RAGELO, arguments.ragelo))
    return StudyOptions(
        files=files,
        weights=_weights(arguments.weigh),
        reading=_reading(arguments),
        rating=_rating(arguments),
        human=arguments.human,
        elo=tuple(arithmetic for arithmetic, wanted in asked if wanted),
        rounds=arguments.rounds,
        k=arguments.k,
        advise=arguments.advise,
        every=None if arguments.over_time is None else Every(arguments.over_time),
        cumulative=arguments.cumulative,
    )


def _reading(arguments: SimpleNamespace) -> ReadOptions:
    columns = NamedColumns(
        a=arguments.a,
        b=arguments.b,
        winner=arguments.winner,
        weight=arguments.weight,
        cluster=arguments.cluster,
        battle=arguments.battle,
        time=arguments.time,
        style=arguments.style or bool(arguments.feature),
        features=arguments.feature,
    )
    return ReadOptions(
        columns=columns,
        systems=_systems(arguments.systems),
        where=where_of(arguments.where),
        missing=frozenset(arguments.missing),
        outcomes=outcomes_of(arguments.outcomes),
    )


def _rating(arguments: SimpleNamespace) -> Options:
    try:
        return Options(
            policy=TiePolicy(arguments.ties.replace("-", "_")),
            intervals=Intervals(arguments.intervals) if arguments.intervals else None,
            bootstrap=Bootstrap(arguments.bootstrap) if arguments.bootstrap else None,
            resamples=arguments.resamples,
            seed=arguments.seed,
            level=arguments.level,
            anchor=_anchor(arguments.anchor),
            prior=arguments.prior,
            ridge=arguments.ridge,
            provisional_below=arguments.provisional_below,
        )
    except InvalidOption as error:
        raise click.UsageError(str(error)) from error


def _anchor(text: str | None) -> Anchor | None:
    if text is None:
        return None
    name, rating = split(text, "--anchor", "NAME=RATING")
    return Anchor(name, _number(rating, "--anchor"))


def _weights(texts: Iterable[str]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for pair in texts:
        name, weight = split(pair, "--weigh", "SOURCE=WEIGHT")
        if name in weights:
            raise click.UsageError(f"--weigh: {name!r} is weighed twice")
        weights[name] = _number(weight, "--weigh")
    return weights


def _number(text: str, option: str) -> float:
    value = as_number(text)
    if not math.isfinite(value):
        raise click.UsageError(f"{option}: {text!r} is not a number")
    return value


def _systems(words: Iterable[str]) -> frozenset[str] | None:
    """Names given one by one, several with commas between, or as a file with one name per line.

    A word that looks like a file but does not exist is an error; a comma after it makes it a name.
    """
    names: set[str] = set()
    for word in words:
        path = Path(word)
        if not path.is_file() and _looks_like_a_file(word):
            raise click.UsageError(f"--systems: there is no file {word!r}; if it is a name, write '{word},'")
        try:
            parts = path.read_text(encoding="utf-8").splitlines() if path.is_file() else word.split(",")
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"{path}: {error}") from error
        names.update(filter(None, map(str.strip, parts)))
    return frozenset(names) or None


def _looks_like_a_file(word: str) -> bool:
    """Whether it ends in letters after a dot, or starts with a folder; gpt-4.1 and maker/gpt do neither."""
    path = Path(word)
    ending = path.suffix.removeprefix(".")
    in_folder = path.is_absolute() or word.startswith(".") or (len(path.parts) > 1 and path.parent.is_dir())
    return "," not in word and (ending.isalpha() or in_folder)
