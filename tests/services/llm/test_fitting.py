"""Passages are left out where a model has no room, and a question keeps what it is about."""

from services.nuggetizer.prompts import all_at_once
from services.runtime.llm.blocks import Block
from services.runtime.llm.fitting import Fitting

PASSAGES = [Block("chunk", f"c{number}", "The tower is tall. " * 100) for number in range(1, 5)]
ANSWER = Block("answer", "a1", "The tower is 330 metres tall.")


def test_the_last_passages_are_left_out_and_cannot_be_cited() -> None:
    shown = Fitting().fitted(all_at_once("How tall?", [ANSWER, *PASSAGES], 10), 2000)
    assert [block.id for block in shown.blocks] == ["q", "a1", "c1", "c2"]
    assert shown.lines is not None
    assert shown.lines.pattern == r'^[vo]( (a1|c1|c2)){1,20}: [^"\\\x00-\x1F]{1,300}$'
    assert shown.version.endswith("+without-2-passages")


def test_nuggets_of_passages_alone_keep_one_of_them() -> None:
    shown = Fitting().fitted(all_at_once("How tall?", PASSAGES, 10), 600)
    assert [block.id for block in shown.blocks] == ["q", "c1"]
    assert shown.lines is not None
    assert shown.lines.pattern == r'^[vo]( (c1)){1,20}: [^"\\\x00-\x1F]{1,300}$'


def test_all_is_shown_where_it_fits_or_nothing_is_known() -> None:
    prompt = all_at_once("How tall?", [ANSWER, *PASSAGES], 10)
    assert Fitting().fitted(prompt, None) is prompt
    assert Fitting().fitted(prompt, 100_000) is prompt
