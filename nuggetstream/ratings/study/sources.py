"""Which votes go into a rating, from how many sources, and what each of them weighs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nuggetstream.files.formats.vote_rows import with_votes
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.record import Record
from nuggetstream.files.records import read_records
from nuggetstream.files.votes import NoOutcome, ReadOptions, VoteSource, read_votes

HUMAN = "human"
_ENDINGS = (".gz", ".csv", ".tsv", ".jsonl", ".ndjson", ".json")


class UnknownSource(ValueError):
    """A weight for a source that no file holds."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A source and the weight of each of its votes."""

    source: VoteSource
    weight: float


def gather(paths: Sequence[Path], weights: Mapping[str, float], reading: ReadOptions) -> tuple[Weighed, ...]:
    """The sources of all files.

    A file of votes is one source, named after the file, of weight 1 unless said otherwise. Results of
    an evaluation are three, the lenses human, nugget and judge: those that have a weight are taken, and
    without any the human one. Lenses of several files carry the name of their file, too.

    Args:
        paths: at least one.
        weights: by name of the source.
        reading: how to read the files.

    Raises:
        UnusableFile: naming file, line and field.
        UnknownSource: a weight that is not for a source, or is not above 0.
    """
    for name, weight in weights.items():
        if not (math.isfinite(weight) and weight > 0):
            raise UnknownSource(f"source {name!r} has weight {weight:g}; expected above 0, or leave it out")
    weighed: list[Weighed] = []
    offered: list[str] = []
    files = [(path, name, read_records(path)) for path, name in zip(paths, _names(paths), strict=True)]
    evaluated = sum(_is_evaluated(records) for _, _, records in files)
    seen: dict[str, str] = {}
    for path, name, records in files:
        if not _is_evaluated(records):
            offered.append(name)
            source = read_votes(name, path, with_votes(records, reading.columns), reading)
            weighed.append(Weighed(source, weights.get(name, 1.0)))
            continue
        rows = _lens_rows(path, records, seen, reading)
        called = {lens: lens if evaluated == 1 else f"{name}/{lens}" for lens in rows}
        offered += [*called.values(), *called]
        weighed += _lenses(path, rows, called, weights, reading)
    offered = list(dict.fromkeys(offered))
    if unknown := sorted(set(weights) - set(offered)):
        raise UnknownSource(f"{unknown[0]!r} is no source; there is {', '.join(offered)}")
    names = [of_source.source.name for of_source in weighed]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UnknownSource(f"two sources are called {twice[0]!r}; rate them one by one")
    return tuple(weighed)


def remarks_of(sources: Sequence[Weighed]) -> tuple[str, ...]:
    """What a reader must know of how the votes were read; of several sources, by their names."""
    return tuple(
        remark if len(sources) == 1 else f"{weighed.source.name}: {remark}"
        for weighed in sources
        for remark in weighed.source.remarks
    )


def human_source(path: Path, reading: ReadOptions) -> VoteSource:
    """The human votes of a file: its votes, or the human lens of an evaluation's results.

    Raises:
        UnusableFile: naming file, line and field.
    """
    (weighed,) = gather([path], {}, reading)
    return weighed.source


def _is_evaluated(records: Sequence[Record]) -> bool:
    return "nugget_verdict" in records[0].fields


def _names(paths: Sequence[Path]) -> list[str]:
    """A short name per file, with as many of its folders as tell it from the others."""
    return [_name(path, [other for other in paths if other is not path]) for path in paths]


def _name(path: Path, others: Sequence[Path]) -> str:
    for folders in range(len(path.absolute().parts)):
        name = _last(path, folders)
        if all(_last(other, folders) != name for other in others):
            return name
    return path.name  # two formats of the same votes, or the same file twice


def _last(path: Path, folders: int) -> str:
    """The name without its endings, after so many of the folders above it."""
    parents = path.absolute().parts[:-1]
    return "/".join([*parents[len(parents) - folders :], _short(path)])


def _short(path: Path) -> str:
    name = path.name
    for ending in _ENDINGS:
        name = name.removesuffix(ending) or name
    return name


def _lens_rows(
    path: Path, records: Sequence[Record], seen: dict[str, str], reading: ReadOptions
) -> dict[str, list[Record]]:
    from nuggetstream.ratings.study.lenses import lens_records

    rows = lens_records(path, records, seen)
    arenas = sorted({str(row.fields["arena"]) for row in rows[HUMAN]})
    if len(arenas) > 1 and "arena" not in dict(reading.where):
        raise UnusableFile(
            f"{path}: arena: holds {', '.join(arenas)}, which have boards of their own; choose one with "
            f"--where arena={arenas[0]}"
        )
    return rows


def _lenses(
    path: Path,
    rows: Mapping[str, Sequence[Record]],
    names: Mapping[str, str],
    weights: Mapping[str, float],
    reading: ReadOptions,
) -> list[Weighed]:
    """The lenses asked for by their own name, or by that of all files."""
    asked = [lens for lens, name in names.items() if {lens, name} & weights.keys()] or [HUMAN]
    usual = replace(reading.columns, a=None, b=None, winner=None, weight=None, battle=None)
    taken = []
    for lens in asked:
        try:
            source = read_votes(names[lens], path, rows[lens], replace(reading, columns=usual))
        except NoOutcome as error:
            others = ", ".join(other for other in rows if other != lens)
            hint = f"the lens {lens!r} has no vote; choose {others} with --weigh, such as --weigh judge=1"
            raise NoOutcome(f"{path}: {hint}") from error
        taken.append(Weighed(source, weights.get(names[lens], weights.get(lens, 1.0))))
    return taken
