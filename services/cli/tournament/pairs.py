"""The battles of a tournament: every two answers to a query, or as many as the budget has room for."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from nuggetstream.domain.grouping import grouped
from nuggetstream.domain.identity import derived_id
from nuggetstream.files.dataset import BadLine, BattleLine
from nuggetstream.files.formats.format import Source
from nuggetstream.files.formats.pairing import Answers, Pair, RunAnswer, source_of
from nuggetstream.files.formats.rows import Container
from services.cli.tournament.answering import FOLDER, stored_answers
from services.cli.tournament.plan import Plan
from services.cli.tournament.query_cuts import in_turn


def drawn(pairs: Iterable[Pair], budget: int, seed: int) -> frozenset[Pair]:
    """The pairs for a budget: of each two systems equally many, in an order that depends on the seed.

    A larger budget draws the same pairs and more.

    Args:
        pairs: All pairs.
        budget: Number of pairs to draw.
        seed: Any number.

    >>> pairs = [(query, *two) for query in ("q1", "q2") for two in (("x", "y"), ("x", "z"), ("y", "z"))]
    >>> sorted(pair[1:] for pair in drawn(pairs, 3, seed=1))
    [('x', 'y'), ('x', 'z'), ('y', 'z')]
    """
    order = in_turn(
        grouped((pair[1:], pair) for pair in pairs).values(), lambda pair: derived_id(seed, *pair)
    )
    return frozenset(order[:budget])


def read_answers(out: Path, plan: Plan, queries: Mapping[str, str]) -> Answers:
    """The answers that are stored.

    Args:
        out: Folder of the tournament.
        plan: The plan.
        queries: The queries by id.
    """
    answers = Answers(plan.arena)
    for name in plan.agents:
        for row in stored_answers(out, name):
            answer = row.value
            if answer["qid"] in queries:
                sources = (source_of(key, answer["segments"].get(key)) for key in answer["references"])
                told = RunAnswer(
                    answer["qid"], queries[answer["qid"]], name, answer["answer_text"], tuple(sources)
                )
                answers.add(row.line, told)
    return answers


def battle_lines(
    out: Path, plan: Plan, queries: Mapping[str, str], chosen: Collection[Pair] | None = None
) -> Iterator[BattleLine | BadLine]:
    """The battles of the answers that are stored.

    Args:
        out: Folder of the tournament.
        plan: The plan.
        queries: The queries by id.
        chosen: The pairs that battle; None for those of the plan's budget.

    Raises:
        UnusableFile: No query has two answers.
    """
    answers = read_answers(out, plan, queries)
    source = Source(path=out / FOLDER, files=(), container=Container.JSONL)
    only = chosen
    if chosen is None and plan.budget is not None:
        only = drawn(answers.pairs(), plan.budget, plan.seed)
    yield from answers.battles(source, only)
