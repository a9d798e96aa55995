"""Results about a crowd on a terminal of 80 columns, in a pipe, and as rows for other programs."""

import io
import re
from itertools import pairwise

import pytest
from rich.console import Console, Group

from nuggetstream.crowd.learning import CompetenceOptions
from nuggetstream.crowd.study import CrowdOptions, study_labels
from nuggetstream.crowd.terminal import crowd_tables, grade_tables
from nuggetstream.crowd.topic_grades import grade_topics
from nuggetstream.domain.battle import Vote
from nuggetstream.domain.pair_label import PairLabel
from nuggetstream.domain.worker_label import ShownPair, WorkerLabel
from nuggetstream.files.printing import aligned, print_tables, tab_separated

LONG = "an answer with a name that is longer than any column of a terminal can be"


def crowd() -> Group:
    pairs = [ShownPair(None, "x", LONG), ShownPair(None, LONG, "x")]
    dimensions = {
        name: tuple(
            WorkerLabel(
                item=f"{pair.first} | {pair.second}",
                worker=f"{worker} {LONG}",
                label="a" if worker < "w" else "b",
                spam=0.5,
                shown=pair,
                position=position,
            )
            for position, pair in enumerate(pairs)
            for worker in "uvwx"
        )
        for name in ("depth", "style", "breadth", "logic", "quality")
    }
    options = CrowdOptions(competence=CompetenceOptions(restarts=1, iterations=2))
    return crowd_tables(study_labels(dimensions, options), 10, file=f"/{LONG}.csv", rows=40)


def grades() -> Group:
    labels = [PairLabel(LONG, "x", Vote.A, "tides", name) for name in ("depth", "style")]
    return grade_tables(
        grade_topics([*labels, PairLabel("y", "z", Vote.TIE, "rivers")]), 10, file="f", rows=3
    )


@pytest.mark.parametrize("tables", [crowd(), grades()], ids=["agreement", "grades"])
def test_nothing_is_wider_than_a_terminal_and_no_column_is_lost(tables: Group) -> None:
    screen = io.StringIO()
    print_tables(tables, console=Console(file=screen, width=80, force_terminal=True, no_color=True))
    printed = re.sub(r"\x1b\[[\d;]*m", "", screen.getvalue())
    assert max(map(len, printed.split("\n"))) <= 80
    rows = list(tab_separated(tables))
    headers = [row for title, row in pairwise(rows) if title.startswith("# ") and "\t" in row]
    assert headers
    assert all(heading in printed for header in headers for heading in header.split("\t"))


def test_the_tables_of_a_crowd_are_all_there() -> None:
    titles = [line for line in aligned(crowd()) if not line.startswith(" ")]
    for title in (
        "Agreement (Krippendorff's alpha)",
        "Pairs shown in both orders (alpha)",
        "Agreement along the session (alpha)",
        "Workers, depth, the least competent first",
        "Gold labels, quality",
    ):
        assert title in titles
    assert "Pairs that people can tell apart" in titles


def test_rows_for_other_programs_have_one_number_per_cell() -> None:
    rows = [line.split("\t") for line in tab_separated(grades()) if "\t" in line]
    assert rows[0] == ["dimension", "topic", "item", "labels", "merit", "grade", "tied"]
    tied = {
        row[2]: (int(row[3]), float(row[4]), int(row[5]), row[6]) for row in rows[1:] if row[1] == "rivers"
    }
    assert tied == {"y": (1, 1.0, 2, "yes"), "z": (1, 1.0, 1, "yes")}
