"""The published numbers of preference, agreement and crowd votes."""

from pathlib import Path

import pytest

from nuggetstream.crowd.labels import human_against_llm
from nuggetstream.fidelity.agreement import rows
from nuggetstream.fidelity.row import Row
from nuggetstream.files.crowdrag import read_grades
from nuggetstream.files.crowdrag_authors import read_authors

PUBLISHED = ("F1", "F2", "F3", "F14", "F15", "F16", "F17", "F18", "F19", "F22")


@pytest.fixture(scope="module")
def computed(recorded_data: Path) -> list[Row]:
    return rows(recorded_data)


@pytest.mark.parametrize("id_", PUBLISHED)
def test_the_published_number_comes_out(computed: list[Row], id_: str) -> None:
    mine = [row for row in computed if row.id == id_]
    assert mine
    assert [(row.what, row.published, row.ours) for row in mine if not row.passed] == []


def test_every_row_of_this_family_is_there(computed: list[Row]) -> None:
    assert {row.id for row in computed} == set(PUBLISHED)


def test_effects_of_who_wrote_rest_on_the_topics_whose_authors_can_be_told(recorded_data: Path) -> None:
    folder = recorded_data / "crowdrag25"
    found = human_against_llm(read_grades(folder), read_authors(folder))
    assert len(found) == 21
    assert {contrast.topics for contrast in found.values()} == {58}
