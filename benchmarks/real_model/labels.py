"""How well does a model label nuggets, asked in each way that the platform could ask?

    python -m benchmarks.real_model.labels [--model smol|0.5b|1.5b] [--threads 2] [--url URL]

Twelve short answers of our own and four nuggets for each, whose labels everybody would agree on. Prints for
each way the share of right labels with its 95 % interval by Wilson, seconds, and tokens. The thresholds of
questions with yes or no are chosen by the first six answers and judged by the last six.
"""

import argparse
import asyncio
import itertools
import os
import time
import tomllib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from scipy.stats import binomtest

from benchmarks.real_model.server import CACHE, llama_cpp
from benchmarks.real_model.weights import WEIGHTS, fetched
from services.assigner.decisions import assignment_decision
from services.runtime.llm.assignment import assignment
from services.runtime.llm.blocks import Block
from services.runtime.llm.build import build_chat_model
from services.runtime.llm.client import LLMClient
from services.runtime.llm.decisions.question import Choice, Question, lines_of
from services.runtime.llm.decisions.reply import DecisionReply
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.settings import LLMSettings

_NAMES = {"s": "support", "p": "partial_support", "c": "contradiction", "n": "not_support"}
_NOTHING = "I cannot say."


@dataclass(frozen=True, slots=True)
class Case:
    """An answer and nuggets with their labels: s, p, c or n."""

    query: str
    answer: str
    nuggets: Mapping[str, str]

    def blocks(self) -> list[Block]:
        """The nuggets as blocks n1, n2 and so on."""
        return [Block("nugget", f"n{i}", text) for i, text in enumerate(self.nuggets, start=1)]


def read() -> list[Case]:
    """The answers and nuggets of `labelled.toml`, in its order."""
    with Path(__file__).with_name("labelled.toml").open("rb") as file:
        cases = tomllib.load(file)["case"]
    return [Case(c["query"], c["answer"], {text: letter for letter, text in c["nuggets"]}) for c in cases]


CASES = read()
_HALF = len(CASES) // 2

YES_OR_NO = (
    Choice("y", "yes", "the answer says this, in any words"),
    Choice("n", "no", "the answer does not say this, or says something else"),
)


def one_by_one(case: Case, nugget: str, *choices: Choice) -> Prompt[DecisionReply]:
    """A decision about one nugget, which stands behind the answer: the server has read that already.

    Args:
        case: The answer.
        nugget: Text of the nugget.
        choices: The possible answers; by default the labels.
    """
    block = Block("nugget", "n1", nugget)
    prompt = assignment_decision(case.query, [block], case.answer, _NOTHING, list(case.nuggets))
    if choices:
        asked = (Question("n1", "Does the answer say what nugget n1 says?", choices),)
        prompt = replace(
            prompt, questions=asked, lines=lines_of(asked), check=lambda reply: reply.check(asked)
        )
    return prompt


def _checked(asked: Sequence[Question]) -> Callable[[DecisionReply], None]:
    return lambda reply: reply.check(asked)


async def in_lines(model: LLMClient, case: Case, battle: str) -> list[str]:
    """The labels of all nuggets in one reply of lines (profile live)."""
    prompt = assignment(case.query, case.blocks(), case.answer, _NOTHING)
    reply = await model.ask(prompt, stage="labels", battle_id=battle)
    return [label.label for label in sorted(reply.value.labels, key=lambda label: label.id)]


async def in_letters(model: LLMClient, case: Case, battle: str) -> list[str]:
    """The labels of all nuggets as letters of one reply (profile frugal)."""
    prompt = assignment_decision(case.query, case.blocks(), case.answer, _NOTHING)
    reply = await model.ask(prompt, stage="labels", battle_id=battle)
    return [_NAMES[str(a.letter)] for a in sorted(reply.value.answers, key=lambda a: a.name)]


async def letter_by_letter(model: LLMClient, case: Case, battle: str) -> list[str]:
    """A letter in a reply of its own for every nugget."""
    labels = []
    for nugget in case.nuggets:
        reply = await model.ask(one_by_one(case, nugget), stage="labels", battle_id=battle)
        labels.append(_NAMES[str(reply.value.answers[0].letter)])
    return labels


Ask = Callable[[LLMClient, Case, str], Awaitable[list[Any]]]


async def probabilities(model: LLMClient, case: Case, battle: str) -> list[float]:
    """The probability of yes for every nugget; 0 or 1 where the endpoint tells none."""
    shares = []
    for nugget in case.nuggets:
        reply = await model.ask(one_by_one(case, nugget, *YES_OR_NO), stage="labels", battle_id=battle)
        [answer] = reply.value.answers
        shares.append(answer.probabilities["y"] if answer.probabilities else float(answer.letter == "y"))
    return shares


WAYS: Mapping[str, tuple[str, Ask]] = {
    "lines": ("all labels in one reply of lines (live)", in_lines),
    "letters": ("all labels as letters of one reply (frugal)", in_letters),
    "letter": ("a letter in a reply of its own for each nugget (small)", letter_by_letter),
    "yes": ("the probability of yes for each nugget", probabilities),
}


def label(share: float, low: float, high: float) -> str:
    """The label by the probability that the answer states a nugget."""
    return "support" if share >= high else "not_support" if share < low else "partial_support"


def right(found: Sequence[Sequence[str]], cases: Sequence[Case], merge: Mapping[str, str]) -> list[bool]:
    """Whether each label is right, with some labels counted as others."""
    return [
        merge.get(one, one) == merge.get(_NAMES[letter], _NAMES[letter])
        for labels, case in zip(found, cases, strict=True)
        for one, letter in zip(labels, case.nuggets.values(), strict=True)
    ]


def share(which: Sequence[bool]) -> str:
    """A share with its interval."""
    interval = binomtest(sum(which), len(which)).proportion_ci(method="wilson")
    return f"{sum(which)} of {len(which)} [{interval.low:.2f}, {interval.high:.2f}]"


_STATED = {"contradiction": "not_support", "partial_support": "not_support"}  # stated as a whole or not
_NO_CONTRADICTION = {"contradiction": "not_support"}


def show(name: str, found: Sequence[Sequence[str]], cases: Sequence[Case]) -> None:
    """Print the shares of right labels: four, three and two of them told apart."""
    shares = [share(right(found, cases, merge)) for merge in ({}, _NO_CONTRADICTION, _STATED)]
    print(f"  {name:<11} four labels {shares[0]}, three {shares[1]}, stated or not {shares[2]}", flush=True)


async def measure(url: str, name: str, ways: Sequence[str]) -> None:
    """Ask in these ways and print what came of it."""
    model = build_chat_model(LLMSettings(base_url=url, api_key=SecretStr("none"), model=name))
    try:
        for way in ways:
            began = time.perf_counter()
            if way == "yes":
                shares = [await probabilities(model, case, way) for case in CASES]
                low, high = chosen(shares[:_HALF], CASES[:_HALF])
                found = [[label(one, low, high) for one in of_case] for of_case in shares]
                way_in_full = f"{WAYS[way][0]}, part of it from {low:.2f} and the whole from {high:.2f}"
            else:
                way_in_full, ask = WAYS[way]
                found = [await ask(model, case, way) for case in CASES]
            seconds, spent = time.perf_counter() - began, await model.ledger.for_battle(way)
            read, written = spent.tokens.input - spent.tokens.cached_input, spent.tokens.output
            print(
                f"{way_in_full}: {spent.calls} calls, {seconds:.0f} s, {read} tokens read, {written} written"
            )
            show("first half", found[:_HALF], CASES[:_HALF])
            show("second half", found[_HALF:], CASES[_HALF:])
    finally:
        await model.close()


def chosen(shares: Sequence[Sequence[float]], cases: Sequence[Case]) -> tuple[float, float]:
    """The thresholds with most right labels; of equal ones those nearest to one half."""
    grid = [step / 20 for step in range(1, 20)]

    def score(pair: tuple[float, float]) -> tuple[int, float]:
        labels = [[label(one, *pair) for one in of_case] for of_case in shares]
        return sum(right(labels, cases, _NO_CONTRADICTION)), -abs(pair[0] - 0.5) - abs(pair[1] - 0.5)

    return max(itertools.combinations_with_replacement(grid, 2), key=score)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--model", choices=WEIGHTS, default="0.5b")
    options.add_argument("--ways", choices=WAYS, nargs="+", default=list(WAYS))
    options.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="threads of llama.cpp")
    options.add_argument("--url", help="a server that serves the model already")
    asked = options.parse_args()
    if asked.url:
        asyncio.run(measure(asked.url, asked.model, asked.ways))
        return
    with llama_cpp(fetched(asked.model, CACHE), 4096, asked.threads) as url:
        asyncio.run(measure(url, asked.model, asked.ways))


if __name__ == "__main__":
    main()
