"""The reasoning of a model in its text: every mark that models write, and texts about such marks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.text.reasoning import parted

ANSWER = "Air scatters blue light."


@pytest.mark.parametrize(
    "text",
    [
        f"<think>\nSea? No.\n</think>\n{ANSWER}",
        f"  <THINK>Sea? No.</THINK> {ANSWER}",
        f"<thinking>Sea? No.</thinking>{ANSWER}",
        f"<thought>Sea? No.</thought>\n\n{ANSWER}",
        f"<reasoning effort='low'>Sea? No.</reasoning>\n{ANSWER}",
        f"<seed:think>Sea? No.</seed:think>{ANSWER}",
        f"<think>Sea? No.</thinking>{ANSWER}",
        f"[THINK]Sea? No.[/THINK]{ANSWER}",
        f"◁think▷Sea? No.◁/think▷{ANSWER}",
        f"<|begin_of_thought|>Sea? No.<|end_of_thought|>\n<|begin_of_solution|>{ANSWER}<|end_of_solution|>",
        f"<|START_THINKING|>Sea? No.<|END_THINKING|><|START_RESPONSE|>{ANSWER}<|END_RESPONSE|>",
        f'<details type="reasoning" done="true">Sea? No.</details>\n{ANSWER}',
        "<|channel|>analysis<|message|>Sea? No.<|end|><|start|>assistant<|channel|>final<|message|>"
        f"{ANSWER}<|return|>",
        f"Sea? No.\n</think>\n{ANSWER}",
        f"<think>Sea? No.</think>\n<answer>{ANSWER}</answer>",
    ],
)
def test_reasoning_is_no_part_of_the_answer(text: str) -> None:
    assert (parted(text).answer, parted(text).reasoning) == (ANSWER, "Sea? No.")
    assert parted(text).complete


def test_reasoning_between_parts_of_an_answer_is_left_out() -> None:
    text = "<think>One.</think>First.\n<think>\nTwo.\n</think>\nSecond."
    assert parted(text).answer == "First.\n\nSecond."
    assert parted(text).reasoning == "One.\n\nTwo."


def test_code_in_reasoning_does_not_hide_its_end() -> None:
    text = f"<think>Try:\n```python\nprint(1)\n</think>\n{ANSWER}"
    assert parted(text).answer == ANSWER


def test_an_answer_that_was_cut_off_while_reasoning_is_empty() -> None:
    parts = parted("<think>Sea? No. Perhaps")
    assert (parts.answer, parts.reasoning, parts.complete) == ("", "Sea? No. Perhaps", False)


@pytest.mark.parametrize(
    "text",
    [
        "Reasoning models write `<think>` and `</think>` around their thoughts.",
        "The template is:\n```xml\n<think>\nthoughts\n</think>\n```\nThat is all.",
        "Use the <thinking> element of the page.",
        "<details><summary>More</summary>Tides</details> I think so.",
        "The reason is scattering. Think of the sky.",
        "",
    ],
)
def test_an_answer_about_such_marks_stays_whole(text: str) -> None:
    assert (parted(text).answer, parted(text).reasoning) == (text, None)


PARTS = ["<think>", "</think>", "a", "\n", "`", " ", "[THINK]", "[/THINK]"]


@given(st.lists(st.sampled_from(PARTS), max_size=30).map("".join))
def test_nothing_is_lost_and_nothing_is_added(text: str) -> None:
    parts = parted(text)
    assert parts.answer.count("a") + (parts.reasoning or "").count("a") == text.count("a")
