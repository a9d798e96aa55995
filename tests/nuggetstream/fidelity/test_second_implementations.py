"""References with basis S that no other file holds: each is computed here a second time, in another way."""

import csv
import math
import random
import statistics
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from nuggetstream.fidelity.crowd import ADJUSTED
from nuggetstream.fidelity.ragelo import DEVIATION
from nuggetstream.fidelity.ratings import SPREAD
from nuggetstream.files.crowdrag import read_grades
from nuggetstream.files.crowdrag_authors import read_authors

POINTS = {"left": 1.0, "right": 0.0, "tie": 0.5}


def lines(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def strengths(votes: Iterable[dict[str, str]], systems: Iterable[str]) -> list[float]:
    """Bradley-Terry by the fixed point of Zermelo, p = points / Σ games / (p + q), ties half a point each."""
    games: dict[tuple[str, str], float] = defaultdict(float)
    points: dict[str, float] = defaultdict(float)
    for vote in votes:
        left, right, share = vote["left"], vote["right"], POINTS[vote["winner"]]
        games[left, right] += 1
        games[right, left] += 1
        points[left] += share
        points[right] += 1 - share
    rivals = defaultdict(list)
    for (one, other), count in games.items():
        rivals[one].append((other, count))
    strength = dict.fromkeys(systems, 1.0)
    for _ in range(3000):
        strength = {
            name: points[name]
            / sum(count / (strength[name] + strength[rival]) for rival, count in rivals[name])
            for name in strength
        }
        scale = statistics.geometric_mean(strength.values())
        strength = {name: value / scale for name, value in strength.items()}
    return [math.log(value) for value in strength.values()]


@pytest.mark.slow
def test_the_spread_of_strengths_is_that_of_another_algorithm(recorded_data: Path) -> None:
    crowd = lines(recorded_data / "llmfao" / "crowd-comparisons.csv")
    gpt4 = lines(recorded_data / "llmfao" / "gpt4-crowd-comparisons.csv")
    systems = sorted({vote[side] for vote in crowd for side in ("left", "right")})
    for name, votes in (("crowd", crowd), ("GPT-4", gpt4)):
        assert statistics.pstdev(strengths(votes, systems)) == pytest.approx(SPREAD[name], abs=0.0006)
    without_ties = [vote for vote in crowd if vote["winner"] != "tie"]
    assert abs(statistics.pstdev(strengths(without_ties, systems)) - SPREAD["crowd"]) > 0.1


def replayed(games: list[tuple[str, str, float]], k: float, rng: random.Random) -> dict[str, float]:
    """One tournament, game after game."""
    rating: dict[str, float] = defaultdict(lambda: 1000.0)
    for one, other, share in rng.sample(games, len(games)):
        change = k * (share - 1 / (1 + 10 ** ((rating[other] - rating[one]) / 400)))
        rating[one] += change
        rating[other] -= change
    return rating


def deviation(games: list[tuple[str, str, float]], k: float, rounds: int) -> float:
    rng = random.Random(7)
    ratings = [replayed(games, k, rng) for _ in range(rounds)]
    return statistics.fmean(statistics.pstdev(one[name] for one in ratings) for name in ratings[0])


@pytest.mark.slow
def test_the_deviation_over_tournaments_is_that_of_a_plain_replay(recorded_data: Path) -> None:
    table = lines(recorded_data / "ragelo" / "paper_table5_win_percent.csv")
    names = [row["row_agent"] for row in table]
    wins = {(row["row_agent"], name): round(2 * float(row[name] or 0)) for row in table for name in names}
    games = []
    for place, one in enumerate(names):
        for other in names[place + 1 :]:
            won, lost = wins[one, other], wins[other, one]
            games += [(one, other, 1.0)] * won + [(one, other, 0.0)] * lost
            games += [(one, other, 0.5)] * (200 - won - lost)
    assert deviation(games, 32, 400) == pytest.approx(DEVIATION, abs=1.2)
    assert deviation(games, 16, 50) < DEVIATION - 8


def wilcoxon_p(differences: list[int]) -> float:
    """Two-sided p-value by the normal approximation with mean ranks and the correction for ties."""
    sizes = sorted(abs(difference) for difference in differences if difference)
    n = len(sizes)
    rank = {
        size: statistics.fmean(i for i, other in enumerate(sizes, 1) if other == size) for size in set(sizes)
    }
    positive = sum(rank[difference] for difference in differences if difference > 0)
    variance = n * (n + 1) * (2 * n + 1) / 24
    variance -= sum(sizes.count(size) ** 3 - sizes.count(size) for size in set(sizes)) / 48
    return math.erfc(abs(positive - n * (n + 1) / 4) / math.sqrt(2 * variance))


def test_an_adjusted_p_value_is_that_of_another_implementation(recorded_data: Path) -> None:
    folder = recorded_data / "crowdrag25"
    grades, authors = read_grades(folder), read_authors(folder)
    known = {authors[answer]: row for answer, row in grades.items() if answer in authors}
    p_values = {}
    for style in ("bullet", "essay", "news"):
        topics = [
            topic
            for topic, system in known
            if system == f"human-{style}" and (topic, f"llm-{style}") in known
        ]
        for dimension in next(iter(grades.values())):
            p_values[dimension, style] = wilcoxon_p(
                [
                    known[topic, f"human-{style}"][dimension] - known[topic, f"llm-{style}"][dimension]
                    for topic in topics
                ]
            )
    assert len(p_values) == 21
    for cell, reference in ADJUSTED.items():
        # The smallest p(j) m / j of the p-values that are at least as large: Benjamini and Hochberg, 1995.
        ordered = sorted(p_values.values())
        adjusted = min(p * 21 / rank for rank, p in enumerate(ordered, 1) if p >= p_values[cell])
        assert adjusted == pytest.approx(reference, abs=0.0002)
        assert p_values[cell] < reference - 0.01
