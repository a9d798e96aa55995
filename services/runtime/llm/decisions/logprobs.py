"""Probabilities of a chat model's one-letter answers, from the alternatives of their tokens.

A provider reports the most probable alternatives of each token of the reply. Where the reply has the letter
of an answer, those alternatives that are another letter of the same question have its probability. The rest
(other tokens, and letters that are not among the reported ones) is left out, and the letters' shares add up
to 1.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from math import exp

from pydantic import BaseModel

from services.runtime.llm.decisions.question import Question
from services.runtime.llm.decisions.reply import LINE, Answer, DecisionReply

TOP = 5  # alternatives to ask for; the most that all providers give


class Alternative(BaseModel):
    """A token that the model could have written, and the natural logarithm of its probability."""

    token: str
    logprob: float


class Token(Alternative):
    """A token of the reply, with its most probable alternatives, itself included."""

    top_logprobs: list[Alternative] = []


def with_probabilities(
    reply: DecisionReply, text: str, tokens: Sequence[Token], questions: Sequence[Question]
) -> DecisionReply:
    """The reply with the probabilities of its letters, where the tokens tell them.

    Args:
        reply: The reply as it was read from the text.
        text: The reply as the model wrote it.
        tokens: Its tokens; unless they spell the text, no probability is known. Servers may leave out of the
            text the space before and behind it.
        questions: What was asked.

    Returns:
        The reply. Answers whose letter cannot be found among the tokens have no probabilities.
    """
    spelled = "".join(token.token for token in tokens)
    if spelled.strip() != text.strip():
        return reply
    ends = list(accumulate(len(token.token) for token in tokens))
    letters = {question.name: frozenset(question.letters.values()) for question in questions}
    probabilities = dict(_letters(spelled, tokens, ends, letters))
    answers = [
        a.model_copy(update={"probabilities": _of(probabilities.get(a.name), a)}) for a in reply.answers
    ]
    return DecisionReply(answers=answers)


def _letters(
    text: str, tokens: Sequence[Token], ends: Sequence[int], letters: Mapping[str, frozenset[str]]
) -> Iterator[tuple[str, dict[str, float]]]:
    """The probabilities at each place where the text answers a question."""
    for line in LINE.finditer(text):
        name = line["name"].lstrip("\"'[,")
        if name not in letters:
            continue
        index = bisect_right(ends, line.start("letter"))
        start = ends[index - 1] if index else 0
        before = tokens[index].token[: line.start("letter") - start]
        shares = dict.fromkeys(letters[name], 0.0)
        for alternative in tokens[index].top_logprobs:
            rest = alternative.token.removeprefix(before)
            letter = rest[:1].lower()
            if alternative.token.startswith(before) and letter in shares and not rest[1:2].isalpha():
                shares[letter] += exp(min(alternative.logprob, 0.0))
        if (total := sum(shares.values())) > 0:
            yield name, {letter: share / total for letter, share in shares.items()}


def _of(shares: dict[str, float] | None, answer: Answer) -> dict[str, float] | None:
    """The shares, unless they contradict the letter that the model wrote."""
    return shares if shares is not None and answer.letter is not None and shares.get(answer.letter) else None
