"""Inversions: people prefer one answer, the machine the other. By language and by query category."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.results import Results
from nuggetstream.report.blocks import Block, Figure, Figures, State, Table
from nuggetstream.report.charts import (
    LENS_COLOURS,
    LENS_SYMBOLS,
    figure,
    marks_with_intervals,
    names_axis,
    offset,
    rows_height,
    share_axis,
)
from nuggetstream.report.lenses import AUTOMATIC
from nuggetstream.report.section import Content, Section
from nuggetstream.report.wording import FEW_NOTE, dimension_name, of, share_of, span, whole
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
    inverted: dict[Lens, Share]
    of_all: dict[Lens, Share]


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
    indices = [i for i, battle in enumerate(results.battles) if dimension in battle.preferences]
    categories = any(_categories(results.battles[i]) != ("not given",) for i in indices)
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
        for name in names(results.battles[index]):
            members.setdefault(name, []).append(index)
    ordered = sorted(members.items(), key=lambda item: (-len(item[1]), item[0]))
    return [_slice(results, dimension, by, name, own) for name, own in ordered]


def _slice(results: Results, dimension: str, by: str, name: str, indices: list[int]) -> Slice:
    inverted, of_all = {}, {}
    for lens in AUTOMATIC:
        votes = [(results.battles[i].preferences[dimension], results.battles[i].vote(lens)) for i in indices]
        said = [(human, vote) for human, vote in votes if vote is not None]
        found = inversions(confusion_table([human for human, _ in said], [vote for _, vote in said]))
        decided = sum(human in _DECIDED and vote in _DECIDED for human, vote in said)
        inverted[lens] = share(int(found.inverted), decided)
        of_all[lens] = share(int(found.inverted), int(found.battles))
    return Slice(by, name, len(indices), inverted, of_all)


_SHOWN = 25  # slices in the figure; the table and report.json have them all
_ROW = 44


def draw(found: Inversions) -> Content:
    """Rates with intervals, all slices in a table."""
    blocks: list[Block] = []
    shown = [each for each in found.slices if any(x.value is not None for x in each.inverted.values())]
    if shown:
        blocks.append(Figures("", {"": (_chart(shown[:_SHOWN]),)}))
    if found.slices:
        blocks.append(_table(found))
    else:
        blocks.append(State("No battle has a human preference: there is nothing to invert."))
    if found.slices and not found.has_categories:
        blocks.append(State("No battle carries a “category:” tag, so there are no slices by category."))
    return Content(
        finding=_finding(found),
        reading="An inversion is a battle in which people and machine both prefer an answer, and not "
        "the same. The rate is of those battles; ties are left out. Lines are 95% Wilson intervals. “Of "
        "all” counts ties and “both bad” among the battles, as published rates of inversions do. A slice "
        "whose interval lies apart from the others deserves a look at its battles.",
        basis=of(found.labelled, found.received),
        blocks=tuple(blocks),
    )


def _finding(found: Inversions) -> str:
    if not found.slices or found.dimension is None:
        return ""
    whole_file = found.slices[0].inverted
    parts = [
        f"the {lens} lens inverts {share_of(x)}" for lens, x in whole_file.items() if x.value is not None
    ]
    return f"On {dimension_name(found.dimension)}, {' and '.join(parts)}." if parts else ""


def _name(each: Slice) -> str:
    return each.name if each.by == "all" else f"{each.by}: {each.name}"


def _chart(shown: list[Slice]) -> Figure:
    traces = []
    for place, lens in enumerate(AUTOMATIC):
        own = [(i, x) for i, each in enumerate(shown) if (x := each.inverted[lens]).value is not None]
        traces.append(
            marks_with_intervals(
                lens,
                [x.value or 0.0 for _, x in own],
                [i + offset(place, len(AUTOMATIC), 0.3) for i, _ in own],
                [x.low or 0.0 for _, x in own],
                [x.high or 0.0 for _, x in own],
                marker={"color": LENS_COLOURS[lens], "symbol": LENS_SYMBOLS[lens], "size": 11},
                customdata=[(x.count, x.of) for _, x in own],
                hovertemplate="%{x:.1%} (%{customdata[0]} of %{customdata[1]})",
            )
        )
    alt = "; ".join(
        f"{_name(each)}: " + ", ".join(f"{lens} {share_of(x)}" for lens, x in each.inverted.items())
        for each in shown
    )
    most = max(x.high for each in shown for x in each.inverted.values() if x.high is not None)
    layout = {
        "yaxis": names_axis([_name(each) for each in shown]),
        "xaxis": share_axis("inverted, of battles decided by both", range=[-0.03 * most, 1.05 * most]),
    }
    return figure("Inversion rate", alt, traces, rows_height(len(shown), _ROW), layout)


def _table(found: Inversions) -> Table:
    rows = []
    for each in found.slices:
        cells: list[str] = []
        for lens, x in each.inverted.items():
            cells += (share_of(x), span(x.low, x.high), share_of(each.of_all[lens]))
        rows.append((_name(each), whole(each.battles), *cells))
    per_lens = [head for lens in AUTOMATIC for head in (f"{lens} inversions", "95%", "of all")]
    columns = ("slice", "battles", *per_lens)
    return Table("All slices", columns, rows, FEW_NOTE, folded=len(rows) > 12)


SECTION = Section(
    name="inversions",
    title="Inversions",
    question="Where does the machine prefer the very answer that people reject?",
    compute=compute,
    draw=draw,
)
