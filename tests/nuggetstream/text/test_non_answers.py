"""Sentences that state nothing, because their author does not know or cannot help."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.text.non_answers import is_non_answer


@pytest.mark.parametrize(
    "sentence",
    [
        "I do not know who won",
        "I don’t know.",
        "Sorry, but I cannot answer that question.",
        "I'm sorry.",
        "Unfortunately, I am unable to find who won the 1998 World Cup.",
        "We have no information about this match.",
        "No idea!",
        "Ich weiß leider nicht, wer gewonnen hat.",
        "Je ne sais pas.",
        "No lo sé.",
        "Non so chi ha vinto.",
        "I'm afraid I don't know.",
        "As an AI language model, I cannot help with that.",
        "I don't have access to current results.",
        "Not sure who won.",
        "Não sei quem ganhou.",
        "Ik weet het niet.",
        "Я не знаю.",
        "我不知道谁赢了。",
        "わかりません。",
    ],
)
def test_who_does_not_know_states_nothing(sentence: str) -> None:
    assert is_non_answer(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "France won the 1998 World Cup.",
        "I do not know the score, but France won.",
        "I can't say for sure: it was probably France.",
        "Scientists do not know what dark matter is.",
        "Nobody knows who won.",
        "I know who won.",
        "I'm afraid France won.",
        "I don't have enough time, but France won.",
        "我不知道比分，但法国赢了。",
        "Я не знаю счёт, но Франция выиграла.",
        "No information is lost when the file is compressed.",
        "We cannot travel faster than light.",
        "Soil is made of minerals.",
        "Maize is a grass.",
    ],
)
def test_a_sentence_that_states_something_is_an_answer(sentence: str) -> None:
    assert not is_non_answer(sentence)


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    assert is_non_answer(text) in (True, False)
