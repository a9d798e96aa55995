"""F7 and F8: RAGElo's tournament and its recorded verdicts.

Source: Rackauckas, Câmara, Zavrel, "Evaluating RAG-Fusion with RAGElo", 2024, and its repository.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from nuggetstream.domain.battle import Vote
from nuggetstream.fidelity.row import Basis, MakeRows, Row, csv_rows, near
from nuggetstream.files.verdicts import parse_verdict
from nuggetstream.ratings.fitting.elo import Arithmetic, Games, from_percentages, tournaments
from nuggetstream.ratings.fitting.tally import Tally

_GAMES = 200  # of every pair behind the percentages of Table 5
_SEED = 2024
_ROUNDS = 500
_TOLERANCE = 8.0  # Elo
# Mean over agents of the standard deviation over tournaments. The mean ratings hardly depend on K; this does.
DEVIATION = 42.2
_RECORDED_VERDICTS = {Vote.A: 80, Vote.B: 94, Vote.TIE: 26}
_LETTERS = {Vote.A: "A", Vote.B: "B", Vote.TIE: "C"}


def tournament(data: Path) -> Iterator[Row]:
    """F7: Table 6 from the percentages of Table 5."""
    folder = data / "ragelo"
    games = Games.of(ragelo_table(folder))
    rng = np.random.default_rng(_SEED)
    elo = tournaments(games, rng, rounds=_ROUNDS, arithmetic=Arithmetic.RAGELO)
    table = {
        line["agent"]: float(line["elo_mean_500_tournaments"])
        for line in csv_rows(folder / "paper_table6_elo.csv")
    }
    ours = dict(zip(elo.systems, elo.rating, strict=True))
    order = sorted(table, key=lambda name: -table[name])
    close = all(abs(ours[name] - table[name]) <= _TOLERANCE for name in table)
    same_order = order == sorted(ours, key=lambda name: -ours[name])
    yield Row(
        id="F7",
        basis=Basis.PRINTED,
        what=f"Elo ratings of Table 6, {len(table)} agents",
        reference=" ".join(f"{table[name]:.0f}" for name in order),
        ours=" ".join(f"{ours[name]:.0f}" for name in order),
        tolerance=f"±{_TOLERANCE:g}, same order",
        passed=close and same_order,
    )


def deviation_over_tournaments(data: Path) -> Iterator[Row]:
    """F7b: how far a rating depends on the order of the games, which grows with K."""
    games = Games.of(ragelo_table(data / "ragelo"))
    elo = tournaments(games, np.random.default_rng(_SEED), rounds=_ROUNDS)
    yield near(
        "F7b",
        "mean standard deviation over tournaments, Elo",
        DEVIATION,
        float(elo.deviation.mean()),
        basis=Basis.SECOND,
        tolerance=2.0,
        digits=1,
    )


def verdicts(data: Path) -> Iterator[Row]:
    """F8: recorded verdicts read again from the judge's replies."""
    evaluations = list(csv_rows(data / "ragelo" / "pairwise_answers_evaluations.csv"))
    recorded = [(parse_verdict(line["raw_answer"]), line["answer"]) for line in evaluations]
    counts = Counter(vote for vote, _ in recorded)
    differing = sum(_LETTERS[vote] != letter for vote, letter in recorded)
    yield Row(
        id="F8",
        basis=Basis.RECORDED,
        what="verdicts read from replies, against the recorded column",
        reference=f"{_counted(_RECORDED_VERDICTS)}; 0 differ",
        ours=f"{_counted(counts)}; {differing} differ",
        tolerance="exact",
        passed=counts == Counter(_RECORDED_VERDICTS) and not differing,
    )


ROWS: Mapping[str, MakeRows] = {"F7": tournament, "F7b": deviation_over_tournaments, "F8": verdicts}


def ragelo_table(folder: Path) -> Tally:
    """The games behind the win percentages of RAGElo's Table 5."""
    lines = list(csv_rows(folder / "paper_table5_win_percent.csv"))
    names = [line["row_agent"] for line in lines]
    percent = np.array([[float(line[name] or 0) for name in names] for line in lines])
    return from_percentages(names, percent, _GAMES)


def _counted(counts: Mapping[Vote, int]) -> str:
    return f"A {counts[Vote.A]}, B {counts[Vote.B]}, tie {counts[Vote.TIE]}"
