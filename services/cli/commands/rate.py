"""`nuggetstream rate FILE…`: every rating statistic of any file of votes."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from nuggetstream.files.columns import Named
from nuggetstream.files.dataset import UnusableFile
from nuggetstream.files.votes import Reading
from nuggetstream.ratings.board import Method, Unsettled
from nuggetstream.ratings.bootstrap import Bootstrap
from nuggetstream.ratings.casting import OneCluster, TooManyVotes
from nuggetstream.ratings.drawing import draw
from nuggetstream.ratings.elo import Arithmetic
from nuggetstream.ratings.leaderboard import Anchor, AnchorNotRanked
from nuggetstream.ratings.options import Intervals
from nuggetstream.ratings.sources import UnknownSource
from nuggetstream.ratings.study import Clash, Question, study
from nuggetstream.ratings.tally import TiePolicy
from nuggetstream.ratings.writing import write_study
from services.cli.rating_options import (
    METHOD_OPTIONS,
    READING_OPTIONS,
    SECTION_OPTIONS,
    refuse_unused,
    with_options,
)
from services.cli.showing import BadInput, needing_analysis, refusing, show

_REFUSED = (UnusableFile, UnknownSource, Clash, OneCluster, TooManyVotes, AnchorNotRanked, Unsettled)


@click.command("rate")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for ratings.json, ratings.csv, differences.csv and wins.csv; created when missing.",
)
@with_options(READING_OPTIONS)
@with_options(METHOD_OPTIONS)
@with_options(SECTION_OPTIONS)
@needing_analysis
def command(files: tuple[Path, ...], out: Path | None, **given: Any) -> None:
    """Rate the systems of FILES by Bradley-Terry, with honest intervals.

    A file is CSV with a header or JSONL, gzipped or not: one vote per row, with the two systems (system_a
    and system_b, model_a and model_b, left and right …) and the winner (a, b, tie, both_bad, the usual
    spellings of arenas, the winner's name, or a number in [0, 1]: the share of the point that A takes).
    Columns `weight` and `count` are read where there are any. Results of `nuggetstream eval` work too.

    Exits 2 when a file cannot be used, naming file, line and field.
    """
    refuse_unused(click.get_current_context())
    with refusing(*_REFUSED):
        found = study(_question(files, given))
        written = write_study(found, out) if out else []
    show(draw(found))
    for path in written:
        click.echo(f"written: {path}")


def _question(files: tuple[Path, ...], given: dict[str, Any]) -> Question:
    return Question(
        files=files,
        weights=_weights(given["weigh"]),
        reading=_reading(given),
        method=_method(given),
        human=given["human"],
        elo=tuple(
            arithmetic
            for arithmetic, asked in ((Arithmetic.FLOAT, given["elo"]), (Arithmetic.RAGELO, given["ragelo"]))
            if asked
        ),
        rounds=given["rounds"],
        k=given["k"],
        advise=given["advise"],
    )


def _reading(given: dict[str, Any]) -> Reading:
    named = Named(
        a=given["a"],
        b=given["b"],
        winner=given["winner"],
        weight=given["weight"],
        cluster=given["cluster"],
        battle=given["battle"],
        style=given["style"] or bool(given["feature"]),
        features=given["feature"],
    )
    return Reading(
        named=named,
        systems=_systems(given["systems"]),
        where=tuple(_split(pair, "--where", "COLUMN=VALUE") for pair in given["where"]),
    )


def _method(given: dict[str, Any]) -> Method:
    try:
        return Method(
            policy=TiePolicy(given["ties"].replace("-", "_")),
            intervals=Intervals(given["intervals"]),
            bootstrap=Bootstrap(given["bootstrap"]),
            resamples=given["resamples"],
            seed=given["seed"],
            level=given["level"],
            anchor=_anchor(given["anchor"]),
        )
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _anchor(said: str | None) -> Anchor | None:
    if said is None:
        return None
    name, rating = _split(said, "--anchor", "NAME=RATING")
    return Anchor(name, _number(rating, "--anchor"))


def _weights(said: Iterable[str]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for pair in said:
        name, weight = _split(pair, "--weigh", "SOURCE=WEIGHT")
        if name in weights:
            raise click.UsageError(f"--weigh: {name!r} is weighed twice")
        weights[name] = _number(weight, "--weigh")
    return weights


def _split(said: str, option: str, form: str) -> tuple[str, str]:
    name, equals, value = said.rpartition("=")
    if not (name and equals and value):
        raise click.UsageError(f"{option}: {said!r} is not of the form {form}")
    return name, value


def _number(said: str, option: str) -> float:
    try:
        value = float(said)
    except ValueError:
        value = float("nan")
    if not abs(value) < float("inf"):
        raise click.UsageError(f"{option}: {said!r} is no number")
    return value


def _systems(said: Iterable[str]) -> frozenset[str] | None:
    """Names given one by one, several with commas between, or as a file with one name per line.

    A word that looks like a file and is none is a slip, not a name; a comma behind it makes it a name.
    """
    names: set[str] = set()
    for each in said:
        path = Path(each)
        if not path.is_file() and _looks_like_a_file(each):
            raise click.UsageError(f"--systems: there is no file {each!r}; if it is a name, write '{each},'")
        try:
            parts = path.read_text(encoding="utf-8").splitlines() if path.is_file() else each.split(",")
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"{path}: {error}") from error
        names.update(filter(None, map(str.strip, parts)))
    return frozenset(names) or None


def _looks_like_a_file(said: str) -> bool:
    """Whether it ends in letters after a dot, or starts with a folder; gpt-4.1 and maker/gpt do neither."""
    path = Path(said)
    ending = path.suffix.removeprefix(".")
    in_folder = path.is_absolute() or said.startswith(".") or (len(path.parts) > 1 and path.parent.is_dir())
    return "," not in said and (ending.isalpha() or in_folder)
