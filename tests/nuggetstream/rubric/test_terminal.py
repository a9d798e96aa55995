"""Results about rubrics on a terminal of 80 columns, in a pipe, and as rows for other programs."""

import io
from collections.abc import Callable, Sequence

import pytest
from rich.console import Console, RenderableType

from nuggetstream.domain.graded_passage import GradedPassage, Relevance
from nuggetstream.files.cells import group
from nuggetstream.files.printing import print_tables
from nuggetstream.files.result_tables import result_table
from nuggetstream.rubric.agreeing import agree
from nuggetstream.rubric.checking import check
from nuggetstream.rubric.correlating import compare
from nuggetstream.rubric.covering import cover
from nuggetstream.rubric.graded import Graded
from nuggetstream.rubric.label_agreement import LabelSet, label_agreement
from nuggetstream.rubric.labelling import label
from nuggetstream.rubric.measuring import measure_runs
from nuggetstream.rubric.scoring import Labels, Scoring
from nuggetstream.rubric.terminal import check_tables

SYSTEMS = [f"a-system-with-a-name-of-more-than-forty-letters-{number}" for number in range(3)]
ITEMS = [f"query/item-{number}-with-a-long-identifier-0123456789abcdef" for number in range(30)]


def passages() -> list[GradedPassage]:
    return [
        GradedPassage(
            query=query,
            passage=f"passage-{number}-with-a-long-identifier",
            grades={item: (number + index) % 6 for index, item in enumerate(ITEMS)},
            judgment=number % 4,
            ranks=dict.fromkeys(SYSTEMS, number + 1),
            text="A text of several words that is longer than the sixty letters that a table shows of it.",
            replies={ITEMS[0]: "3: because it says so"},
        )
        for query in ("query-one", "query-two")
        for number in range(4)
    ]


def labels() -> Labels:
    return Labels(tuple(Relevance(p.query, p.passage, p.judgment or 0) for p in passages()))


def rankings() -> dict[str, dict[str, Sequence[str]]]:
    by_system = {}
    for offset, system in enumerate(SYSTEMS):
        names = [p.passage for p in passages() if p.query == "query-one"]
        ranking = [*names[offset:], *names[:offset]]
        by_system[system] = {"query-one": ranking, "query-two": ranking}
    return by_system


def cover_result() -> RenderableType:
    return result_table(cover(Graded.of(passages()), k=2).table())


def label_result() -> RenderableType:
    return result_table(label(Graded.of(passages())).counts_table())


def check_result() -> RenderableType:
    return check_tables(check(Graded.of(passages())), ("spurious", "uncovered", "grid", "listing"), 20)


def agreement_result() -> RenderableType:
    return result_table(agree(Graded.of(passages()), labels()).table())


def comparison_result() -> RenderableType:
    ours = Scoring({system: float(number) for number, system in enumerate(SYSTEMS)})
    return result_table(compare(ours, labels(), rankings(), measure="RR@10").table())


def run_result() -> RenderableType:
    measures = ("nDCG@10", "RR@10", "AP", "P@1", "P@2", "R@2")
    return result_table(measure_runs(labels(), rankings(), measures, fuse=True).table())


def kappa_result() -> RenderableType:
    names = [f"label {number}" for number in range(12)]
    first = LabelSet({f"item {number}": name for number, name in enumerate(names)})
    agreement = label_agreement(first, first, names)
    return group(result_table(agreement.table()), result_table(agreement.counts_table()))


RESULTS = [
    cover_result,
    label_result,
    check_result,
    agreement_result,
    comparison_result,
    run_result,
    kappa_result,
]


def printed(tables: RenderableType, *, terminal: bool = False, plain: bool = False) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=terminal, color_system=None)
    print_tables(tables, plain=plain, console=console)
    return out.getvalue().splitlines()


@pytest.mark.parametrize("result", RESULTS)
def test_everything_fits_a_terminal_of_80_columns(result: Callable[[], RenderableType]) -> None:
    lines = printed(result(), terminal=True)
    assert max(map(len, lines)) <= 80
    assert not any(line.endswith("…") for line in lines)


@pytest.mark.parametrize("result", [cover_result, comparison_result, run_result])
def test_a_pipe_has_every_name_on_one_line_without_boxes(result: Callable[[], RenderableType]) -> None:
    lines = printed(result())
    for system in SYSTEMS:
        assert sum(line.startswith(system) for line in lines) == 1
    assert not any(0x2500 <= ord(letter) <= 0x257F for line in lines for letter in line)


def test_a_pipe_has_every_item_of_a_check_whole() -> None:
    lines = printed(check_result())
    for item in ITEMS:
        assert any(item in line for line in lines)


@pytest.mark.parametrize("result", RESULTS)
def test_plain_rows_have_as_many_cells_as_their_header(result: Callable[[], RenderableType]) -> None:
    tables: list[list[int]] = [[]]
    for line in printed(result(), plain=True):
        if line.startswith("#") or not line:
            tables.append([])
        else:
            tables[-1].append(line.count("\t"))
    widths = [set(counts) for counts in tables if counts]
    assert widths
    assert all(len(width) == 1 for width in widths)


def test_grades_of_yes_or_no_say_why_every_cover_is_0() -> None:
    yes = GradedPassage("q", "p", {"direct": 1}, ranks={"run": 1})
    coverage = cover(Graded.of([yes]))
    assert "every cover is 0: the highest grade of all passages is 1" in [n.text for n in coverage.notes]
    assert cover(Graded.of([yes]), minimum=1).systems[0].score.cover == 1.0
