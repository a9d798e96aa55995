"""From answers to standings: which pairs battle, and numbers that can be checked by hand."""

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from itertools import combinations
from math import log2
from pathlib import Path

import pytest

from nuggetstream.domain.failure import Reason
from nuggetstream.domain.lens import Lens
from nuggetstream.files.dataset import BattleLine
from nuggetstream.files.opening import UnusableFile
from services.cli.tournament.agents import Answered, Asked
from services.cli.tournament.answering import AnswerRun, answers_file, stored_answers
from services.cli.tournament.documents import read_collection
from services.cli.tournament.pairs import battle_lines, drawn
from services.cli.tournament.plan import Plan
from services.cli.tournament.standings import (
    CastVote,
    answers_of,
    elo_of,
    pairs_of,
    retrieval_of,
    tally_of,
)
from services.runtime.errors import Permanent
from services.runtime.llm.accounting import Entry, MemorySpendStore
from services.runtime.llm.prices import Money, Price, Tokens
from services.scraper.settings import ScraperSettings

QUERIES = {f"q{number}": f"Why {number}?" for number in range(4)}
PLAN = Plan.model_validate(
    {"queries": "q", "agents": {name: {"kind": "recorded", "answers": "a"} for name in ("x", "y", "z")}}
)
BUILT_IN = Plan.model_validate(
    {"queries": "q", "documents": "d", "agents": {name: {"kind": "rag"} for name in ("x", "y", "z")}}
)

PRICE = Price(input=Decimal(100_000), output=Decimal(500_000))


@dataclass
class Told:
    """An agent that says the same to every query but some, and counts how often it is asked."""

    says: str
    fails: frozenset[str] = frozenset()
    key: str = "k"
    asked: Counter[str] = field(default_factory=Counter)
    tokens: tuple[int, int] | None = (10, 2)

    def key_of(self, query: str) -> str:
        return f"{self.key} {query}"

    async def answer(self, asked: Asked) -> Answered:
        self.asked[asked.id] += 1
        if asked.id in self.fails:
            raise Permanent(Reason.LLM_REFUSED, "it declined")
        text = f"{self.says} [1]."
        return Answered(
            text=text, references=("d",), texts={"d": "A text."}, ranking=("d", "e"), tokens=self.tokens
        )


async def answered(out: Path, agents: dict[str, Told]) -> AnswerRun:
    run = AnswerRun(agents, QUERIES, out, asyncio.Event(), window=3)
    assert await run.run()
    return run


async def test_every_answer_is_asked_for_once_and_missing_ones_again(tmp_path: Path) -> None:
    agents = {"x": Told("X"), "y": Told("Y", frozenset({"q2"}))}
    run = await answered(tmp_path, agents)
    assert [(each.agent, each.query, each.reason) for each in run.unanswered] == [("y", "q2", "llm_refused")]
    agents["y"].fails = frozenset()
    run = await answered(tmp_path, agents)
    assert run.unanswered == []
    assert agents["x"].asked == dict.fromkeys(QUERIES, 1)
    assert agents["y"].asked == {"q0": 1, "q1": 1, "q2": 2, "q3": 1}


async def test_a_line_that_was_cut_off_is_an_answer_that_is_missing(tmp_path: Path) -> None:
    agents = {"x": Told("X"), "y": Told("Y")}
    await answered(tmp_path, agents)
    path = answers_file(tmp_path, "x")
    path.write_bytes(path.read_bytes()[:-20])
    await answered(tmp_path, agents)
    assert sorted(row.value["qid"] for row in stored_answers(tmp_path, "x")) == sorted(QUERIES)
    assert sorted(agents["x"].asked.values()) == [1, 1, 1, 2]


async def test_answers_of_another_agent_of_the_name_are_not_mixed(tmp_path: Path) -> None:
    await answered(tmp_path, {"x": Told("X"), "y": Told("Y")})
    with pytest.raises(UnusableFile, match=r"x\.jsonl:1: is an answer .* choose another folder"):
        await answered(tmp_path, {"x": Told("X", key="other"), "y": Told("Y")})


async def test_a_stopped_run_asks_no_more(tmp_path: Path) -> None:
    stop = asyncio.Event()
    stop.set()
    agent = Told("X")
    assert not await AnswerRun({"x": agent}, QUERIES, tmp_path, stop).run()
    assert not agent.asked


async def test_only_two_answers_to_a_query_become_a_battle(tmp_path: Path) -> None:
    await answered(tmp_path, {"x": Told("X"), "y": Told("Y"), "z": Told("Z", frozenset({"q1", "q2"}))})
    lines = list(battle_lines(tmp_path, PLAN, QUERIES))
    assert all(isinstance(line, BattleLine) for line in lines)
    battles = [line.submission for line in lines if isinstance(line, BattleLine)]
    met = Counter((*sorted((battle.a.system, battle.b.system)), battle.tags[0]) for battle in battles)
    expected = {("x", "y", f"topic:{query}") for query in QUERIES}
    expected |= {(one, "z", f"topic:{query}") for one in "xy" for query in ("q0", "q3")}
    assert met == dict.fromkeys(expected, 1)
    [first, *_] = battles
    assert first.a.sources[0].url == "docid:d"
    assert first.a.sources[0].text == "A text."


def test_a_budget_is_shared_by_all_pairs_of_agents_and_grows_by_adding() -> None:
    pairs = [(query, *two) for query in QUERIES for two in combinations("xyz", 2)]
    chosen = drawn(pairs, 7, seed=5)
    assert len(chosen) == 7
    assert sorted(Counter(pair[1:] for pair in chosen).values()) == [2, 2, 3]
    assert chosen < drawn(pairs, 9, seed=5)
    assert drawn(reversed(pairs), 7, seed=5) == chosen
    assert drawn(pairs, 7, seed=6) != chosen
    assert drawn(pairs, 99, seed=5) == frozenset(pairs)


def test_elo_and_pairs_are_those_of_one_game() -> None:
    vote = CastVote(battle="b", query="Why?", lens="judge", system_a="y", system_b="x", winner="b")
    tally = tally_of([vote], Lens.JUDGE)
    assert elo_of(tally) == {"x": 1016.0, "y": 984.0}
    [pair] = pairs_of(tally)
    assert (pair.system, pair.opponent, pair.wins, pair.ties, pair.losses) == ("x", "y", 1.0, 0.0, 0.0)
    assert elo_of(tally_of([vote], Lens.NUGGET)) == {}


def test_retrieval_is_measured_over_labelled_queries_that_were_answered(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q1 0 d1 2\nq1 0 d2 1\nq2 0 d1 1\nq9 0 d1 2\n", encoding="utf-8")
    found = retrieval_of(
        tmp_path / "qrels",
        {
            "x": {"q1": ["d3", "d2", "d1"]},
            "y": {"q1": ["d1", "d2"], "q2": ["d3"]},
            "z": {},
        },
    )
    gain = (1 / log2(3) + 2 / log2(4)) / (2 + 1 / log2(3))
    assert found["x"] == pytest.approx(
        {"queries": 1, "MRR@5, label 1": 1 / 2, "MRR@5, label 2": 1 / 3, "nDCG@10": gain}
    )
    assert found["y"]["MRR@5, label 1"] == pytest.approx(1 / 2)  # 1 and 0
    assert found["y"]["nDCG@10"] == pytest.approx(1 / 2)
    assert found["z"] == {"queries": 0, **dict.fromkeys(list(found["z"])[1:])}


async def test_costs_are_those_of_the_ledger_and_unknown_where_a_price_is(tmp_path: Path) -> None:
    run = await answered(tmp_path, {"x": Told("X"), "y": Told("Y", frozenset({"q1"})), "z": Told("Z")})
    spend = MemorySpendStore()
    for agent, query, cost in (("x", "q0", "0.25"), ("x", "q1", "0.5"), ("y", "q0", None)):
        money = None if cost is None else Money(Decimal(cost))
        await spend.add(entry(run.asked(agent, query).booked, money))
    found = await answers_of(tmp_path, BUILT_IN, QUERIES, spend, PRICE)
    assert (found["x"].answers, found["x"].missing, found["x"].calls, found["x"].cost) == (
        4,
        0,
        2,
        Decimal("0.75"),
    )
    assert (found["y"].answers, found["y"].missing, found["y"].calls, found["y"].cost) == (3, 1, 1, None)
    assert (found["z"].input_tokens, found["z"].output_tokens, found["z"].cost) == (40, 8, Decimal(0))
    assert [own.alone for own in found.values()] == [8, 6, 8]  # 10 · 0.1 + 2 · 0.5 per answer


async def test_what_an_agent_that_is_not_built_in_costs_is_unknown_and_not_zero(tmp_path: Path) -> None:
    await answered(tmp_path, {"x": Told("X"), "y": Told("Y", tokens=None)})
    found = await answers_of(tmp_path, PLAN, QUERIES, MemorySpendStore(), PRICE)
    assert (found["x"].calls, found["x"].cost, found["x"].input_tokens) == (None, None, 40)
    assert (found["y"].answers, found["y"].input_tokens, found["y"].output_tokens) == (4, None, None)


def entry(booked: str, cost: Money | None) -> Entry:
    return Entry(
        battle_id=booked,
        stage="agent",
        model="m",
        day=date(2026, 1, 1),
        tokens=Tokens(1, 1),
        cost=cost,
        source="usage",
    )


async def test_a_folder_of_documents_is_read_as_pages_are(tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    (pages / "en").mkdir(parents=True)
    (pages / "en" / "tea.md").write_text("# Tea\n\nGreen tea calms people.\n", encoding="utf-8")
    (pages / "moon.txt").write_text("The moon pulls the sea.\n", encoding="utf-8")
    (pages / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (pages / ".hidden.txt").write_text("Nobody reads this.", encoding="utf-8")
    (pages / "more.jsonl").write_text(json.dumps({"docid": "d1", "text": "More."}) + "\n", encoding="utf-8")
    found = await read_collection(pages, ScraperSettings())
    assert list(found.texts) == ["d1", "en/tea.md", "moon.txt"]
    assert "Green tea calms people." in found.texts["en/tea.md"]
    assert found.unread == {"picture.png": "is a PNG image"}


async def test_documents_without_a_text_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text(" \n", encoding="utf-8")
    with pytest.raises(UnusableFile, match="holds no document with a text"):
        await read_collection(tmp_path, ScraperSettings())
