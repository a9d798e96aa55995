"""Bradley-Terry ratings and their resamples, side by side with other libraries.

    NUGGETSTREAM_DATA=... python -m benchmarks.ratings [--limit 100] [--cache FOLDER] [--only evalica ...]

Three cases: (a) a fit of 1.67 million arena votes over 129 models; (b) 1000 resamples of 24,000 votes over
13 models, simulated from a seed; (c) 1000 resamples of 8,931 crowd votes over 59 models. Every peer gets
the same votes in an environment of its own, made once under the cache folder, with linear algebra in one
thread. Its fit must agree with ours within 0.5 Elo; a peer that does not finish within the limit, or cannot
be installed, is reported so.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from benchmarks.peers import cache_folder, environment
from nuggetstream.fidelity.ratings import arena_votes, llmfao_votes
from nuggetstream.ratings.fitting.pairs import Pairs
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.ties import TiePolicy

REQUIREMENTS = {
    "ours": (),
    "evalica": ("evalica==0.4.2",),
    "arena-rank": ("arena-rank==0.1.1",),
    "choix": ("choix==0.4.1",),
    "scikit-learn": ("scikit-learn==1.9.1",),
}
SAME = 0.5  # Elo
GOAL_B, GOAL_TIMES, GOAL_C = 0.1, 20.0, 1.0
# Linear algebra in one thread, for everybody: on small matrices more threads mostly measure who else is busy.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Case:
    """Votes to be rated; resamples 0 for a fit alone."""

    name: str
    pairs: Pairs
    resamples: int


@dataclass(frozen=True)
class Outcome:
    """What a peer did in a case; `trouble` says why numbers are missing."""

    peer: str
    fit: float | None = None
    bootstrap: float | None = None
    width: float | None = None
    elo: Sequence[float] | None = None
    trouble: str = ""


def cases(data: Path) -> list[Case]:
    return [
        Case("(a) fit, 1,670,250 votes, 129 models", counted(arena_votes(data / "lmsys_2024_08")), 0),
        Case("(b) 1000 resamples, 24,000 votes, 13 models", simulated(24_000, 13), 1000),
        Case(
            "(c) 1000 resamples, 8,931 votes, 59 models",
            counted(llmfao_votes(data / "llmfao" / "crowd-comparisons.csv")),
            1000,
        ),
    ]


def counted(tally: Tally) -> Pairs:
    return Pairs.of(tally.wins, tally.drawn(TiePolicy.HALF))


def simulated(votes: int, systems: int) -> Pairs:
    """Votes of an arena: random pairs, a quarter ties, strengths with a spread of 100 Elo."""
    rng = np.random.default_rng(7)
    theta = rng.normal(0, 100 * np.log(10) / 400, systems)
    a = rng.integers(0, systems, votes)
    b = (a + rng.integers(1, systems, votes)) % systems
    tied, won = rng.random(votes) < 0.25, rng.random(votes) < expit(theta[a] - theta[b])
    wins, ties = np.zeros((2, systems, systems))
    np.add.at(wins, (np.where(won, a, b)[~tied], np.where(won, b, a)[~tied]), 1)
    np.add.at(ties, (a[tied], b[tied]), 1)
    return Pairs.of(wins, ties + ties.T)


def measure(peer: str, python: str, case: Case, limit: float) -> Outcome:
    """Run one peer on one case in its own process, and end it with its children after the limit."""
    with tempfile.TemporaryDirectory() as folder:
        votes, result = Path(folder) / "votes.npz", Path(folder) / "result.json"
        pairs = case.pairs
        np.savez(
            votes, size=pairs.size, first=pairs.first, second=pairs.second, won=pairs.won, lost=pairs.lost,
            drawn=pairs.drawn, resamples=case.resamples,
        )  # fmt: skip
        command = [python, str(HERE / "rating_peers.py"), peer, str(votes), str(result)]
        trouble = run(command, limit)
        found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8")) if result.exists() else {}
    return Outcome(peer, **found, trouble=trouble)


def run(command: Sequence[str], limit: float) -> str:
    """Run to the end or the limit; what went wrong, or nothing."""
    path = os.pathsep.join([str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        command, env=os.environ | ONE_THREAD | {"PYTHONPATH": path}, start_new_session=True, text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        _, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return f"not done after {limit:.0f} s"
    return "" if process.returncode == 0 else (errors.strip().splitlines() or ["failed"])[-1][:90]


def report(case: Case, outcomes: Sequence[Outcome]) -> list[str]:
    """Print one case; what did not come out as it should."""
    mine, wrong = outcomes[0], []
    print(f"\n{case.name}")
    print(f"  {'':<14}{'fit':>12}{'resamples':>13}{'times ours':>12}{'max gap':>10}{'interval':>10}")
    for outcome in outcomes:
        gap = np.nan if outcome.elo is None else np.abs(np.subtract(outcome.elo, mine.elo)).max()
        if gap > SAME:
            wrong.append(f"{outcome.peer} differs by {gap:.2f} Elo in {case.name}")
        slower = times(outcome, mine, case)
        numbers = (
            f"{shown(outcome.fit, 1000, ' ms'):>12}{shown(outcome.bootstrap, 1, ' s'):>13}"
            f"{shown(slower, 1, ' x'):>12}{shown(gap, 1, ''):>10}{shown(outcome.width, 1, ''):>10}"
        )
        print(f"  {outcome.peer:<14}{numbers}  {outcome.trouble}", flush=True)
    return wrong


def times(outcome: Outcome, mine: Outcome, case: Case) -> float | None:
    theirs, own = (o.bootstrap if case.resamples else o.fit for o in (outcome, mine))
    return theirs / own if theirs and own else None


def shown(value: float | None, scale: float, unit: str) -> str:
    return "-" if value is None or np.isnan(value) else f"{value * scale:.3g}{unit}"


def goals(results: dict[str, list[Outcome]]) -> list[str]:
    """What was promised and not kept."""
    b, c = (next(found for name, found in results.items() if name.startswith(key)) for key in ("(b)", "(c)"))
    missed = []
    own, peers = b[0].bootstrap, [o.bootstrap for o in b[1:] if o.bootstrap]
    if not own or own >= GOAL_B:
        missed.append(f"(b) took {shown(own, 1, ' s')}, the goal is {GOAL_B} s")
    if own and peers and min(peers) < GOAL_TIMES * own:
        missed.append(
            f"(b) is {min(peers) / own:.0f} times faster than the fastest peer, not {GOAL_TIMES:.0f}"
        )
    if not c[0].bootstrap or c[0].bootstrap >= GOAL_C:
        missed.append(f"(c) took {shown(c[0].bootstrap, 1, ' s')}, the goal is {GOAL_C} s")
    return missed


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--cache", type=Path, default=cache_folder("rating-peers"))
    options.add_argument("--limit", type=float, default=100, help="seconds for a peer in a case")
    options.add_argument("--only", nargs="*", choices=[p for p in REQUIREMENTS if p != "ours"])
    chosen = options.parse_args()
    if "NUGGETSTREAM_DATA" not in os.environ:
        raise SystemExit("Set NUGGETSTREAM_DATA to the folder that holds lmsys_2024_08/ and llmfao/.")
    peers = ["ours", *(p for p in REQUIREMENTS if p != "ours" and (chosen.only is None or p in chosen.only))]
    pythons, absent = {}, []
    for peer in peers:
        try:
            pythons[peer] = environment(peer, REQUIREMENTS[peer], chosen.cache)
        except (subprocess.SubprocessError, OSError) as error:
            absent.append(Outcome(peer, trouble=f"cannot be installed: {type(error).__name__}"))
    results, wrong = {}, []
    for case in cases(Path(os.environ["NUGGETSTREAM_DATA"])):
        found = [measure(peer, python, case, chosen.limit) for peer, python in pythons.items()]
        results[case.name] = found + absent
        wrong += report(case, results[case.name])
    wrong += goals(results)
    print("\n" + ("\n".join(f"MISSED: {line}" for line in wrong) if wrong else "all goals met"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
