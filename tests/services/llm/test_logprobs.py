"""Probabilities of letters from the tokens of a reply, which need not be spelled as the reply is."""

from math import log

import pytest

from services.runtime.llm.decisions.logprobs import Alternative, Token, with_probabilities
from services.runtime.llm.decisions.question import Choice, Question
from services.runtime.llm.decisions.reply import DecisionReply

QUESTION = Question("better", "Which is better?", (Choice("f", "first", "x"), Choice("s", "second", "y")))
TEXT = '{"answers": ["better f"]}'


def token(text: str, **letters: float) -> Token:
    told = [Alternative(token=f" {letter}", logprob=log(share)) for letter, share in letters.items()]
    return Token(token=text, logprob=-0.1, top_logprobs=told)


@pytest.mark.parametrize(
    ("before", "behind", "known"), [("", "", True), ("", "\n   ", True), ("\n", "", True), ("", "!", False)]
)
def test_space_around_a_reply_may_be_left_out_of_its_text(before: str, behind: str, known: bool) -> None:
    # llama.cpp leaves out the space that the 0.5B wrote behind the JSON, and reports its tokens.
    begin, end = before + '{"answers": ["b', '"]}' + behind
    tokens = [token(begin), token("etter"), token(" f", f=0.6, s=0.2), token(end)]
    reply = DecisionReply.model_validate_json(TEXT)
    [answer] = with_probabilities(reply, TEXT, tokens, [QUESTION]).answers
    assert answer.probabilities == (pytest.approx({"f": 0.75, "s": 0.25}) if known else None)
