"""Inversions: people prefer one answer, the machine the other. By language and by query category."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from nuggetstream.domain.battle import Vote
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.report.numbers.confusion import MACHINES
from nuggetstream.report.rows import Results
from nuggetstream.statistics.inversions import confusion_table, inversions
from nuggetstream.statistics.share import Share, share

CATEGORY = "category:"
_DECIDED = (Vote.A, Vote.B)


@dataclass(frozen=True, slots=True)
class Slice:
    """Inversions among some battles.

    Attributes:
        by: "all", "language" or "category".
        name: which of them; "not given" where a battle does not say.
        battles: how many are in the slice.
        inverted: per machine lens, of the battles in which both it and people prefer an answer.
        of_all: per machine lens, the same battles as a share of all on which both have said something,
            ties and "both bad" too: the rate that "Search Arena Meets Nuggets" prints.
    """

    by: str
    name: str
    battles: int
    inverted: dict[str, Share]
    of_all: dict[str, Share]


@dataclass(frozen=True, slots=True)
class Inversions:
    """All slices for one human dimension, larger ones first; no category slice without categories."""

    dimension: str | None
    labelled: int
    received: int
    has_categories: bool
    slices: tuple[Slice, ...]


def compute(results: Results) -> Inversions:
    """Inversions for the first human dimension, the overall preference where there is one."""
    if not results.dimensions:
        return Inversions(None, 0, results.received, False, ())
    dimension = results.dimensions[0]
    indices = [i for i, battle in enumerate(results.battles) if dimension in battle.reference]
    categories = any(_categories(results.rows[i]) != ("not given",) for i in indices)
    slices = [_slice(results, dimension, "all", "all battles", indices)]
    slices += _slices(results, dimension, "language", lambda row: (row.language or "not given",), indices)
    if categories:
        slices += _slices(results, dimension, "category", _categories, indices)
    return Inversions(dimension, len(indices), results.received, categories, tuple(slices))


def _categories(row: BattleRow) -> tuple[str, ...]:
    found = tuple(tag.removeprefix(CATEGORY) for tag in row.tags if tag.startswith(CATEGORY))
    return found or ("not given",)


def _slices(
    results: Results,
    dimension: str,
    by: str,
    names: Callable[[BattleRow], Iterable[str]],
    indices: Iterable[int],
) -> list[Slice]:
    members: dict[str, list[int]] = {}
    for index in indices:
        for name in names(results.rows[index]):
            members.setdefault(name, []).append(index)
    ordered = sorted(members.items(), key=lambda item: (-len(item[1]), item[0]))
    return [_slice(results, dimension, by, name, own) for name, own in ordered]


def _slice(results: Results, dimension: str, by: str, name: str, indices: list[int]) -> Slice:
    inverted, of_all = {}, {}
    for lens, says in MACHINES.items():
        votes = [(results.battles[i].reference[dimension], says(results.battles[i])) for i in indices]
        said = [(human, vote) for human, vote in votes if vote is not None]
        found = inversions(confusion_table([human for human, _ in said], [vote for _, vote in said]))
        decided = sum(human in _DECIDED and vote in _DECIDED for human, vote in said)
        inverted[lens] = share(int(found.inverted), decided)
        of_all[lens] = share(int(found.inverted), int(found.battles))
    return Slice(by, name, len(indices), inverted, of_all)
