"""The note of a board that counts a battle once says whose verdicts, or preferences, it counts."""

from nuggetstream.domain.lens import Lens
from services.rater.notes import several_judges


def test_a_board_of_several_nuggetizers_does_not_speak_of_judges() -> None:
    assert several_judges(3).text.endswith("; 3 judges have verdicts here.")
    text = several_judges(2, Lens.OTHER_NUGGET).text
    assert text.endswith("; 2 nuggetizers have preferences here.")
    assert "judge" not in text
