"""Output that repeats itself, and output that only looks like it."""

import pytest

from services.runtime.llm.repetition import repetition

SENTENCE = "The Moon pulls the water of the oceans towards it, and that is a tide. "
# A small model listed the facts of an answer, then all of them again, until its limit.
FACTS = "".join(
    f'"v a1: {fact} {SENTENCE.strip()}", ' for fact in ("Rising.", "Falling.", "Twice a day.", "At night.")
)


@pytest.mark.parametrize(
    ("unit", "times"),
    [(" ", 400), ("\n", 400), ("n1 s 3, ", 60), (SENTENCE, 6), (SENTENCE + "x" * 200, 6), (FACTS, 3)],
)
@pytest.mark.parametrize("rest", ["", "The M"])
def test_what_repeats_itself_is_found_and_one_of_it_is_left(unit: str, times: int, rest: str) -> None:
    text = '{"nuggets": ["' + unit * times + unit[: len(rest)]
    repeated = repetition(text)
    assert repeated is not None
    assert text[:-repeated].rstrip() == ('{"nuggets": ["' + unit).rstrip()


@pytest.mark.parametrize(
    "text",
    [
        "",
        SENTENCE * 3,
        FACTS * 2,
        " " * 200,
        ", ".join(f'"n{number} s {number}"' for number in range(200)),
        "".join(f"{SENTENCE}{number}" for number in range(40)),
        SENTENCE * 20 + "That is all there is to say about the tides of the oceans of the Earth.",
    ],
)
def test_what_does_not_is_left_alone(text: str) -> None:
    assert repetition(text) is None
