"""What a tournament says about its agents: ratings, Elo, who beat whom, retrieval, and what answers cost."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.qrels import read_qrels
from nuggetstream.files.table_writing import rows_of
from nuggetstream.files.tables import Table
from nuggetstream.ratings.comparison import Meeting
from nuggetstream.ratings.fitting.elo import Games, tournaments
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.pairwise import meetings
from nuggetstream.ratings.ties import TiePolicy
from services.cli.tournament.answering import stored_answers
from services.cli.tournament.plan import BuiltIn, Plan
from services.runtime.llm.accounting import SpendStore
from services.runtime.llm.prices import Price, Tokens

Json = dict[str, Any]
Amount = TypeVar("Amount", int, Decimal)
STANDINGS = "tournament.json"
MEASURES = {"MRR@5, label 1": "RR(rel=1)@5", "MRR@5, label 2": "RR(rel=2)@5", "nDCG@10": "nDCG@10"}
_READ = ("qid", "key", "input_tokens", "output_tokens", "ranking")  # of an answer; its texts are not kept
_FREE = Decimal(0)
_ROUNDS, _SEED = 500, 2024
_PLAYED = 2**26  # games of all rounds that are held at once, of which each takes 8 bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAnswers:
    """What an agent answered, and what that cost.

    Attributes:
        answers: Number of its answers.
        missing: Number of queries without one.
        input_tokens: Tokens of the prompts behind its answers, also where a reply was cached; None where an
            answer does not tell them.
        output_tokens: Tokens of the replies; None where an answer does not tell them.
        calls: Number of calls that were booked for it. A call that several agents need is made once. None for
            an agent that is not built in, whose calls are not booked here.
        cost: What these calls cost; None where a price is unknown, or the calls are.
        alone: What its tokens cost at the price of single calls, as if no other agent shared a call with it;
            None where a price is unknown, or the tokens are.
        rankings: Query -> ids of documents, best first; only queries for which the agent tells a ranking.
    """

    answers: int
    missing: int
    input_tokens: int | None
    output_tokens: int | None
    calls: int | None
    cost: Decimal | None
    alone: Decimal | None
    rankings: Mapping[str, Sequence[str]]


async def answers_of(
    out: Path, plan: Plan, queries: Mapping[str, str], spend: SpendStore, price: Price | None
) -> dict[str, AgentAnswers]:
    """The answers that are stored, by agent.

    Args:
        out: Folder of the tournament.
        plan: The plan.
        queries: The queries by id.
        spend: Where their calls were booked.
        price: Price of the model of built-in agents; None where it is unknown.

    Raises:
        Unavailable: The database does not answer.
    """
    by_agent = {}
    for name, agent in plan.agents.items():
        stored = (row.value for row in stored_answers(out, name))
        own = [{key: answer[key] for key in _READ} for answer in stored if answer["qid"] in queries]
        booked = isinstance(agent, BuiltIn)
        spent = [await spend.of_battle(answer["key"]) for answer in own] if booked else []
        by_agent[name] = AgentAnswers(
            answers=len(own),
            missing=len(queries) - len(own),
            input_tokens=_sum((answer["input_tokens"] for answer in own), 0),
            output_tokens=_sum((answer["output_tokens"] for answer in own), 0),
            calls=sum(cost.calls for cost in spent) if booked else None,
            cost=_sum((None if cost.unpriced else cost.amount for cost in spent), _FREE) if booked else None,
            alone=_sum((_alone(answer, price) for answer in own), _FREE) if booked else None,
            rankings={cost["qid"]: cost["ranking"] for cost in own if cost["ranking"] is not None},
        )
    return by_agent


def _alone(answer: Json, price: Price | None) -> Decimal | None:
    tokens = (answer["input_tokens"], answer["output_tokens"])
    return None if price is None or None in tokens else price.of(Tokens(*tokens))


def _sum(amounts: Iterable[Amount | None], nothing: Amount) -> Amount | None:
    """The sum of amounts; None where one is not known."""
    listed = list(amounts)
    return None if None in listed else sum(filter(None, listed), nothing)


@dataclass(frozen=True, slots=True)
class CastVote:
    """How one battle was decided by one lens."""

    battle: str
    query: str
    lens: str
    system_a: str
    system_b: str
    winner: str


def votes_of(results: Path, lenses: Sequence[Lens]) -> Iterator[CastVote]:
    """The preferences of lenses in evaluated battles; a battle that a lens does not decide has none."""
    with results.open(encoding="utf-8") as lines:
        for line in lines:
            battle = BattleRow.model_validate_json(line)
            for lens in lenses:
                if (vote := battle.vote(lens)) is not None:
                    yield CastVote(
                        battle=battle.id,
                        query=battle.query,
                        lens=lens.value,
                        system_a=battle.a.system,
                        system_b=battle.b.system,
                        winner=vote.value,
                    )


def tally_of(votes: Sequence[CastVote], lens: Lens) -> Tally:
    """The votes of a lens as counts."""
    own = (vote for vote in votes if vote.lens == lens.value)
    return Tally.count((vote.system_a, vote.system_b, Vote(vote.winner), 1) for vote in own)


def elo_of(tally: Tally) -> dict[str, float]:
    """Mean Elo ratings over many shuffled tournaments, by system; empty without a game.

    Source: Rackauckas, Câmara, Zavrel 2024, "Evaluating RAG-Fusion with RAGElo".
    """
    if not (tally.wins.any() or tally.ties.any() or tally.both_bad.any()):
        return {}
    games = Games.of(tally)
    rounds = max(1, min(_ROUNDS, _PLAYED // len(games.a)))
    elo = tournaments(games, np.random.default_rng(_SEED), rounds=rounds)
    return dict(zip(elo.systems, elo.rating.tolist(), strict=True))


def pairs_of(tally: Tally) -> list[Meeting]:
    """Every two systems that met, once."""
    return [meeting for meeting in meetings(tally, TiePolicy.HALF) if meeting.system < meeting.opponent]


def retrieval_of(qrels: Path, rankings: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[str, Json]:
    """How well each agent ranks documents, over the queries that have labels and that it answered.

    Args:
        qrels: File of relevance labels.
        rankings: Agent -> query -> ids of documents, best first.

    Returns:
        Agent -> its number of such queries and the mean of each measure; None where there is no such query.

    Raises:
        UnusableFile: A label cannot be used; names file, line and field.
        MissingExtra: ir_measures is not installed.
    """
    from nuggetstream.rubric.retrieval import evaluate_all

    labels, by_agent = read_qrels(qrels), dict[str, Json]()
    for name, own in rankings.items():
        relevant = [label for label in labels if label.query in own]
        row: Json = {"queries": len({label.query for label in relevant})}
        for title, measure in MEASURES.items():
            measured = evaluate_all({name: own}, relevant, measure) if relevant else {}
            row[title] = measured[name].mean if measured else None
        by_agent[name] = row
    return by_agent


@dataclass(frozen=True, slots=True, kw_only=True)
class Standings:
    """The results of a tournament.

    Attributes:
        agents: The answers by agent.
        boards: Lens -> agent -> its standing, as the API shows it.
        elo: Agent -> mean Elo rating by the judge.
        pairs: Lens -> every two agents that met.
        retrieval: Agent -> measures of its rankings; None without relevance labels.
        currency: Currency of the costs.
        experts: How evaluators agree with experts; None without grades of experts.
        expert_grades: A row for each grade of both; None without grades of experts.
    """

    agents: Mapping[str, AgentAnswers]
    boards: Mapping[str, Mapping[str, Json]]
    elo: Mapping[str, float]
    pairs: Mapping[str, Sequence[Meeting]]
    retrieval: Mapping[str, Json] | None
    currency: str
    experts: Table | None = None
    expert_grades: Sequence[Json] | None = None

    def as_json(self) -> Json:
        """The results as plain JSON values; what is missing is null."""
        agents = []
        for name, own in self.agents.items():
            answers = {key: value for key, value in asdict(own).items() if key != "rankings"}
            costs = {"cost": self._money(own.cost), "alone": self._money(own.alone)}
            ratings = {lens: board.get(name) for lens, board in self.boards.items()}
            retrieval = None if self.retrieval is None else self.retrieval[name]
            agents.append(
                {"agent": name, **answers, **costs, "ratings": ratings}
                | {"elo": self.elo.get(name), "retrieval": retrieval}
            )
        pairs = [{"lens": lens, **asdict(pair)} for lens, own in self.pairs.items() for pair in own]
        return {"agents": agents, "pairs": pairs} | (
            {}
            if self.experts is None
            else {"experts": rows_of(self.experts), "expert_grades": self.expert_grades}
            | {"expert_notes": list(self.experts.notes)}
        )

    def _money(self, amount: Decimal | None) -> Json | None:
        return None if amount is None else {"amount": str(amount), "currency": self.currency}


def paper_tables(standings: Standings) -> dict[str, tuple[list[str], list[Json]]]:
    """Tables 5 and 6 of the RAGElo paper in their form, by file: columns and rows.

    Table 5 has the percentage of battles that the agent of the row won against that of the column, by the
    judge; ties are won by neither. Table 6 has the mean Elo rating over shuffled tournaments, the best first.

    Source: Rackauckas, Câmara, Zavrel 2024, "Evaluating RAG-Fusion with RAGElo".
    """
    names, won = list(standings.agents), dict[tuple[str, str], float]()
    for pair in standings.pairs.get(Lens.JUDGE.value, ()):
        battles = pair.wins + pair.losses + pair.ties + pair.both_bad
        won[pair.system, pair.opponent] = round(100 * pair.wins / battles, 1)
        won[pair.opponent, pair.system] = round(100 * pair.losses / battles, 1)
    wins = [{"row_agent": row, **{name: won.get((row, name)) for name in names}} for row in names]
    best = sorted(standings.elo, key=lambda name: -standings.elo[name])
    elo = [{"agent": name, "elo_mean": round(standings.elo[name], 1)} for name in best]
    return {"win_percent.csv": (["row_agent", *names], wins), "elo.csv": (["agent", "elo_mean"], elo)}


def boards_of(
    boards: Sequence[Mapping[str, Any]], lenses: Sequence[Lens], arena: str
) -> dict[str, dict[str, Json]]:
    """The standings of lenses, by agent."""
    wanted = {board["lens"]: board for board in boards if board["arena"] == arena}
    return {
        lens.value: {row["system"]: row for row in wanted.get(lens.value, {"standings": []})["standings"]}
        for lens in lenses
    }


def run_text(agent: str, rankings: Mapping[str, Sequence[str]]) -> str:
    """Rankings as a run file of TREC; white space in ids of documents becomes "%20".

    >>> run_text("words", {"q1": ["d7", "d 2"]})
    'q1 Q0 d7 1 1.000000 words\\nq1 Q0 d%202 2 0.500000 words\\n'
    """
    return "".join(
        f"{query} Q0 {'%20'.join(name.split())} {rank} {1 / rank:.6f} {agent}\n"
        for query, names in rankings.items()
        for rank, name in enumerate(names, start=1)
    )
