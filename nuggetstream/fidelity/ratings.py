"""F4 to F6: Bradley-Terry and Elo of two arenas.

Sources: suquark/leaderbot and fboulnois/llm-leaderboard-csv (Chatbot Arena, August 2024); dustalov/llmfao and
dustalov/evalica (LLMFAO).
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nuggetstream.domain.battle import Vote
from nuggetstream.fidelity.row import Basis, MakeRows, Row, csv_rows, near
from nuggetstream.ratings.fitting.bradley_terry import fit
from nuggetstream.ratings.fitting.elo import Games, tournaments
from nuggetstream.ratings.fitting.intervals import ELO_PER_LOGIT
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.ties import TiePolicy
from nuggetstream.statistics.ranks import kendall, spearman

_CHOICE = {"left": Vote.A, "right": Vote.B, "tie": Vote.TIE}
_POINTS = {"left": 1.0, "right": 0.0, "tie": 0.5}
_ARENA_ANCHOR = ("mixtral-8x7b-instruct-v0.1", 1114.0)  # fixed by the arena's own scores
_OFFICIAL_MODELS = 105
_ELO_K = 4.0  # of the recorded Elo ratings
# Standard deviation of the strengths in logits. Kendall's tau alone hardly changes when ties are dropped.
SPREAD = {"crowd": 0.467, "GPT-4": 1.476}


class _GivenOrder(np.random.Generator):
    """A source of orders that keeps the order of what it is given."""

    def permuted(self, x: Any, *, axis: int | None = None, out: Any = None) -> Any:  # noqa: ARG002
        return x


def arena(data: Path) -> Iterator[Row]:
    """F4: the official scores of Chatbot Arena."""
    folder = data / "lmsys_2024_08"
    tally = arena_votes(folder)
    name, rating = _ARENA_ANCHOR
    theta = fit(tally.points(TiePolicy.HALF))
    scores = dict(
        zip(tally.systems, rating + ELO_PER_LOGIT * (theta - theta[tally.systems.index(name)]), strict=True)
    )
    official = {
        line["model"]: float(line["arena_score"]) for line in csv_rows(folder / "official-scores.csv")
    }
    worst = max(abs(scores[model] - score) for model, score in official.items())
    yield Row(
        id="F4",
        basis=Basis.RECORDED,
        what=f"Arena scores, {tally.points(TiePolicy.HALF).sum():,.0f} votes, {len(tally.systems)} models",
        reference=f"{len(official)} scores",
        ours=f"largest difference {worst:.2f}",
        tolerance="≤ 2.0 Elo",
        passed=worst <= 2.0 and len(official) == _OFFICIAL_MODELS,
    )


def bradley_terry(data: Path) -> Iterator[Row]:
    """F5: recorded Bradley-Terry strengths of LLMFAO."""
    tally = _crowd(data)
    recorded = _recorded(data, "bradley_terry")
    reference = np.array([recorded[name] for name in tally.systems])
    ours = np.exp(fit(tally.points(TiePolicy.HALF)))
    ratio = (ours / ours.sum()) / (reference / reference.sum())
    yield _relative("F5", "Bradley-Terry strengths, crowd", ratio)


def elo_in_order(data: Path) -> Iterator[Row]:
    """F5b: recorded Elo ratings of LLMFAO, one pass over the votes in their order."""
    lines = list(csv_rows(data / "llmfao" / "crowd-comparisons.csv"))
    systems = tuple(sorted({line[side] for line in lines for side in ("left", "right")}))
    index = {name: number for number, name in enumerate(systems)}
    games = Games(
        systems=systems,
        a=np.array([index[line["left"]] for line in lines]),
        b=np.array([index[line["right"]] for line in lines]),
        score=np.array([_POINTS[line["winner"]] for line in lines]),
    )
    elo = tournaments(games, _GivenOrder(np.random.PCG64(0)), rounds=1, k=_ELO_K)
    recorded = _recorded(data, "elo")
    ratio = elo.rating / np.array([recorded[name] for name in systems])
    yield _relative("F5b", f"Elo in the order of the votes, K {_ELO_K:g}, crowd", ratio)


def human_and_gpt4(data: Path) -> Iterator[Row]:
    """F6: rank correlation of crowd and GPT-4 strengths."""
    crowd, gpt4 = _strengths(data).values()
    for name, reference, correlation in (
        ("Kendall tau", 0.537, kendall(list(crowd), list(gpt4))),
        ("Spearman rho", 0.731, spearman(list(crowd), list(gpt4))),
    ):
        ours = correlation.coefficient if correlation else None
        what = f"{name}, crowd and GPT-4 strengths"
        yield near("F6", what, reference, ours, basis=Basis.SECOND, tolerance=0.005)


def spread_of_strengths(data: Path) -> Iterator[Row]:
    """F6b: standard deviation of the strengths, which ties pull together."""
    for name, strengths in _strengths(data).items():
        what = f"standard deviation of strengths (logits), {name}"
        yield near("F6b", what, SPREAD[name], float(strengths.std()), basis=Basis.SECOND, tolerance=0.005)


ROWS: Mapping[str, MakeRows] = {
    "F4": arena,
    "F5": bradley_terry,
    "F5b": elo_in_order,
    "F6": human_and_gpt4,
    "F6b": spread_of_strengths,
}


@cache
def arena_votes(folder: Path) -> Tally:
    """1.67 million votes of Chatbot Arena, August 2024, over 129 models."""
    votes = json.loads((folder / "votes.json").read_text(encoding="utf-8"))
    return Tally.count(
        (votes["models"][x], votes["models"][y], vote, count)
        for (x, y), counts in zip(votes["X"], votes["Y"], strict=True)
        for vote, count in zip(Vote, counts, strict=True)  # [win, loss, tie, both bad]
    )


@cache
def llmfao_votes(path: Path) -> Tally:
    """Comparisons of LLMFAO, one per line: by the crowd, or by GPT-4."""
    counts = Counter((line["left"], line["right"], _CHOICE[line["winner"]]) for line in csv_rows(path))
    return Tally.count((*key, count) for key, count in counts.items())


def _strengths(data: Path) -> dict[str, NDArray[np.float64]]:
    crowd = _crowd(data)
    gpt4 = llmfao_votes(data / "llmfao" / "gpt4-crowd-comparisons.csv").among(crowd.systems)
    return {"crowd": fit(crowd.points(TiePolicy.HALF)), "GPT-4": fit(gpt4.points(TiePolicy.HALF))}


def _crowd(data: Path) -> Tally:
    return llmfao_votes(data / "llmfao" / "crowd-comparisons.csv")


def _recorded(data: Path, algorithm: str) -> dict[str, float]:
    lines = csv_rows(data / "llmfao" / "golden-ratings.csv")
    return {line["item"]: float(line["score"]) for line in lines if line["algorithm"] == algorithm}


def _relative(id_: str, what: str, ratio: NDArray[np.float64]) -> Row:
    worst = float(np.abs(ratio - 1).max())
    return Row(
        id=id_,
        basis=Basis.RECORDED,
        what=what,
        reference=f"{len(ratio)} ratings",
        ours=f"largest relative difference {worst:.1e}",
        tolerance="≤ 1e-6",
        passed=worst <= 1e-6,
    )
