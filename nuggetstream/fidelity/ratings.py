"""Ratings that were published: two arenas' Bradley-Terry scores and RAGElo's tournament."""

import csv
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau, spearmanr

from nuggetstream.domain.battle import Vote
from nuggetstream.fidelity.row import Row, near
from nuggetstream.ratings.bradley_terry import ELO_PER_LOGIT, fit
from nuggetstream.ratings.elo import Arithmetic, Games, from_percentages, tournaments
from nuggetstream.ratings.tally import Tally, TiePolicy

_CHOICE = {"left": Vote.A, "right": Vote.B, "tie": Vote.TIE}
_ARENA_ANCHOR = ("mixtral-8x7b-instruct-v0.1", 1114.0)  # fixed by the arena's own scores
_RAGELO_GAMES = 200  # of every pair behind the percentages of its Table 5
_RAGELO_SEED = 2024


def rows(data: Path) -> list[Row]:
    """F4 to F7.

    Args:
        data: the folder of recorded data.
    """
    return [_f4(data / "lmsys_2024_08"), _f5(data / "llmfao"), *_f6(data / "llmfao"), _f7(data / "ragelo")]


def arena_votes(folder: Path) -> Tally:
    """1.67 million votes of Chatbot Arena, August 2024, over 129 models."""
    votes = json.loads((folder / "votes.json").read_text(encoding="utf-8"))
    return Tally.count(
        (votes["models"][x], votes["models"][y], vote, count)
        for (x, y), counts in zip(votes["X"], votes["Y"], strict=True)
        for vote, count in zip(Vote, counts, strict=True)  # [win, loss, tie, both bad]
    )


def llmfao_votes(path: Path) -> Tally:
    """Comparisons of LLMFAO, one per line: by the crowd, or by GPT-4."""
    counts = Counter((line["left"], line["right"], _CHOICE[line["winner"]]) for line in _lines(path))
    return Tally.count((*key, count) for key, count in counts.items())


def ragelo_table(folder: Path) -> Tally:
    """The games behind the win percentages of RAGElo's Table 5."""
    lines = list(_lines(folder / "paper_table5_win_percent.csv"))
    names = [line["row_agent"] for line in lines]
    percent = np.array([[float(line[name] or 0) for name in names] for line in lines])
    return from_percentages(names, percent, _RAGELO_GAMES)


def _f4(folder: Path) -> Row:
    tally = arena_votes(folder)
    name, rating = _ARENA_ANCHOR
    theta = fit(tally.points(TiePolicy.HALF))
    scores = dict(
        zip(tally.systems, rating + ELO_PER_LOGIT * (theta - theta[tally.systems.index(name)]), strict=True)
    )
    official = {line["model"]: float(line["arena_score"]) for line in _lines(folder / "official-scores.csv")}
    worst = max(abs(scores[model] - score) for model, score in official.items())
    return Row(
        "F4",
        f"Arena scores, {tally.points(TiePolicy.HALF).sum():,.0f} votes, {len(tally.systems)} models",
        f"{len(official)} scores",
        f"max |difference| {worst:.2f}",
        "≤ 2.0 Elo",
        worst <= 2.0 and len(official) == 105,
    )


def _f5(folder: Path) -> Row:
    tally = llmfao_votes(folder / "crowd-comparisons.csv")
    golden = {
        line["item"]: float(line["score"])
        for line in _lines(folder / "golden-ratings.csv")
        if line["algorithm"] == "bradley_terry"
    }
    published = np.array([golden[name] for name in tally.systems])
    ours = np.exp(fit(tally.points(TiePolicy.HALF)))
    ratio = (ours / ours.sum()) / (published / published.sum())
    worst = float(np.abs(ratio - 1).max())
    return Row(
        "F5",
        f"Bradley-Terry of {len(golden)} models, crowd",
        f"{len(golden)} strengths",
        f"max relative difference {worst:.1e}",
        "≤ 1e-6",
        worst <= 1e-6 and len(golden) == len(tally.systems),
    )


def _f6(folder: Path) -> Iterator[Row]:
    crowd = llmfao_votes(folder / "crowd-comparisons.csv")
    judge = llmfao_votes(folder / "gpt4-crowd-comparisons.csv").among(crowd.systems)
    human, gpt4 = (fit(tally.points(TiePolicy.HALF)) for tally in (crowd, judge))
    tau, rho = kendalltau(human, gpt4).statistic, spearmanr(human, gpt4).statistic
    yield near("F6", "Kendall tau, crowd and GPT-4 strengths", 0.537, float(tau), tolerance=0.005)
    yield near("F6", "Spearman rho, crowd and GPT-4 strengths", 0.731, float(rho), tolerance=0.005)


def _f7(folder: Path) -> Row:
    games = Games.of(ragelo_table(folder))
    elo = tournaments(games, np.random.default_rng(_RAGELO_SEED), rounds=500, arithmetic=Arithmetic.RAGELO)
    table = {
        line["agent"]: float(line["elo_mean_500_tournaments"])
        for line in _lines(folder / "paper_table6_elo.csv")
    }
    ours = dict(zip(elo.systems, elo.rating, strict=True))
    order = sorted(table, key=lambda name: -table[name])
    close = all(abs(ours[name] - table[name]) <= 8 for name in table)
    same = order == sorted(ours, key=lambda name: -ours[name])
    return Row(
        "F7",
        "RAGElo tournament: " + ", ".join(order),
        " ".join(f"{table[name]:.0f}" for name in order),
        " ".join(f"{ours[name]:.0f}" for name in order),
        "±8, same order",
        close and same,
    )


def _lines(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)
