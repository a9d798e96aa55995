"""Decisions of the offline model, as an endpoint for decisions and as a chat model answer them."""

import json
import random
from collections.abc import Mapping, Sequence
from math import log
from typing import Any

from services.offline.faults import Faults
from services.offline.requests import DecisionQuestion, DecisionRequest
from services.runtime.llm.decisions.reply import LINE, Answer, DecisionReply
from services.runtime.llm.prices import OFFLINE_MODEL, estimate_tokens

_LEAST = 1e-9  # smallest probability of which a logarithm is given


def as_lines(reply: DecisionReply) -> str:
    """The reply as a chat model writes it."""
    return json.dumps({"answers": [f"{answer.name} {answer.letter}" for answer in reply.answers]})


def logprobs(text: str, reply: DecisionReply, confidence: float) -> dict[str, Any]:
    """The tokens of a reply with their alternatives; a letter is a token of its own."""
    answers = {answer.name: answer for answer in reply.answers}
    tokens, position = list[dict[str, Any]](), 0
    for line in LINE.finditer(text):
        start = line.start("letter")
        tokens += [_token(text[position:start]), _letter(answers[line["name"].lstrip("[\"',")], confidence)]
        position = start + 1
    return {"content": [*tokens, _token(text[position:])]}


def decision(
    asked: DecisionRequest, answers: Sequence[Answer], faults: Faults, cached: int
) -> dict[str, Any]:
    """The response of an endpoint for decisions.

    Args:
        asked: The request.
        answers: The answers of the heuristics.
        faults: The share of questions to decline, and the exponent of probabilities.
        cached: Tokens of the input that were in the prompt cache.

    Raises:
        ValueError: The questions are not those that the heuristics answered.
    """
    rng = random.Random(f"{faults.seed} {asked.text}")  # noqa: S311 - a simulation
    given = {answer.name: answer for answer in answers}
    if unknown := [question.name for question in asked.questions if question.name not in given]:
        raise ValueError(f"there is no material for question {unknown[0]!r}")
    tokens = estimate_tokens(asked.text) + estimate_tokens("".join(q.instructions for q in asked.questions))
    return {
        "model": OFFLINE_MODEL,
        "answers": [
            {"type": "refusal", "name": question.name}
            if rng.random() < faults.declined
            else _choice(
                question.name,
                sharpened(_of_choices(question, given[question.name]), faults.confidence),
                {choice.value[0]: choice.value for choice in question.choices},
            )
            for question in asked.questions
        ],
        "usage": {
            "input_tokens": tokens,
            "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
            "output_tokens": 0,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": tokens,
        },
    }


def _of_choices(question: DecisionQuestion, answer: Answer) -> Mapping[str, float]:
    """The probabilities of the choices that a question leaves."""
    letters = {choice.value[0] for choice in question.choices}
    return {letter: share for letter, share in (answer.probabilities or {}).items() if letter in letters}


def sharpened(probabilities: Mapping[str, float], exponent: float) -> dict[str, float]:
    """Probabilities raised to a power, and scaled so that they add up to 1.

    >>> sharpened({"s": 0.5, "n": 0.5}, 3.0)
    {'s': 0.5, 'n': 0.5}
    """
    powers = {name: share**exponent for name, share in probabilities.items()}
    total = sum(powers.values())
    return {name: power / total for name, power in powers.items()}


def _choice(name: str, shares: Mapping[str, float], values: Mapping[str, str]) -> dict[str, Any]:
    best = max(shares, key=lambda letter: shares[letter])
    return {
        "type": "choice",
        "name": name,
        "choice": values[best],
        "confidence": shares[best],
        "probabilities": [
            {"value": values[letter], "probability": share} for letter, share in shares.items()
        ],
    }


def _token(text: str) -> dict[str, Any]:
    return {"token": text, "logprob": 0.0, "top_logprobs": [{"token": text, "logprob": 0.0}]}


def _letter(answer: Answer, confidence: float) -> dict[str, Any]:
    shares = sharpened(answer.probabilities or {}, confidence)
    ranked = sorted(shares.items(), key=lambda item: -item[1])
    logprobs = [{"token": letter, "logprob": log(max(share, _LEAST))} for letter, share in ranked]
    return {**logprobs[0], "top_logprobs": logprobs}
