"""The note of a board that counts a battle once says whose verdicts it counts."""

from services.rater.notes import several_judges


def test_the_note_names_the_number_of_judges() -> None:
    assert several_judges(3).text.endswith("; 3 judges have verdicts here.")
