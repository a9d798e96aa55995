"""What the numbers of agreement and crowd votes rest on. The numbers: tests/e2e/test_fidelity.py."""

from pathlib import Path

from nuggetstream.fidelity.crowd import human_against_llm
from nuggetstream.files.crowdrag import read_grades
from nuggetstream.files.crowdrag_authors import read_authors


def test_effects_of_who_wrote_rest_on_the_topics_whose_authors_can_be_told(recorded_data: Path) -> None:
    folder = recorded_data / "crowdrag25"
    contrasts = human_against_llm(read_grades(folder), read_authors(folder))
    assert len(contrasts) == 21
    assert {contrast.topics for contrast in contrasts.values()} == {58}
