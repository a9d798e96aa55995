"""What the model's part of a battle costs: calls, tokens, money and seconds, beside nuggetizer.

    NUGGETSTREAM_DATA=... python -m benchmarks.llm [--battles 50] [--at-once 8] [--only live paper nuggetizer]

Battles of CrowdRAG-25, spread over its topics, with 50 passages each: those that the answers cite, and those
that resemble the query most.
The offline model answers in another process, takes 0.5 s for a call and 5 ms for a token of the reply, and
simulates a provider's prompt cache. nuggetizer reads the same documents with its own prompts, which the same
heuristics answer; it has no judge. "Ratio" is the money beside the first row, "recall" the share of the first
row's nuggets that the row's nuggets state, and "same" the share of battles for which the nuggets of both
prefer the same answer. nuggetizer is run twice: with lists as long as those of the paper profile, and as
those of the live profile. A second table has the battles of whole topics, with and without shared nugget
lists; both use the cache of replies.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.cpu import offline_model
from benchmarks.llm_at_once import AT_ONCE, report
from benchmarks.llm_battles import battles, whole_topics
from benchmarks.llm_nuggetizer import run_nuggetizer
from benchmarks.llm_variants import VARIANTS, WHOLE_TOPICS, Result, run
from nuggetstream.domain.event import BattleRetrieved
from services.offline.heuristics import Label, assign
from services.offline.heuristics.facts import ENOUGH
from services.runtime.llm.prices import Tokens

DELAYS = ("--latency", "0.5", "--latency-per-token", "0.005")
# With as many nuggets as the offline model lists in the paper profile, and in the live profile.
PEERS = {"nuggetizer": (), "nuggetizer, short lists": ("--nuggets", str(ENOUGH))}
# At most this part of nuggetizer's money, and at least so many times as fast as nuggetizer with equal lists.
MONEY_GOAL = 1 / 3
SPEED_GOALS = {"live": ("nuggetizer, short lists", 5.0), "paper": ("nuggetizer", 1.2)}


def recalled(query: str, facts: Sequence[str], others: Sequence[str]) -> float:
    """The share of one list's nuggets that another list states."""
    labels = assign(query, facts, "\n".join(others), embed=None)
    return statistics.fmean(label.label is Label.SUPPORT for label in labels)


def row_of(name: str, result: Result, first: Result, queries: Mapping[str, str]) -> str:
    """One line of the table: means per battle."""
    count, total = result.battles, result.tokens
    shared = sorted(result.nuggets.keys() & first.nuggets.keys())
    recall = statistics.fmean(
        recalled(queries[battle], first.nuggets[battle], result.nuggets[battle]) for battle in shared
    )
    same = sum(result.preferred[battle] is first.preferred[battle] for battle in shared)
    return (
        f"{name:<26}{len(result.calls) / count:6.1f}{total.input / count:9.0f}"
        f"{total.cached_input / count:8.0f}{total.output / count:7.0f}"
        f"{statistics.median(result.seconds):8.2f}{result.money:9.3f}"
        f"{result.money / first.money:7.2f}{recall:8.3f}{same / len(shared):8.2f}"
    )


def stages_of(result: Result) -> str:
    """Tokens of each stage per battle."""
    count, parts = result.battles, []
    for stage in sorted({stage for stage, _ in result.calls}):
        tokens = sum((tokens for name, tokens in result.calls if name == stage), Tokens())
        parts.append(
            f"{stage} {tokens.input / count:.0f} in, {tokens.cached_input / count:.0f} cached, "
            f"{tokens.output / count:.0f} out"
        )
    return "; ".join(parts)


def beside_peers(results: Mapping[str, Result]) -> list[str]:
    """Money and speed of the rows with a goal, beside nuggetizer's."""
    lines = []
    for name, (peer, goal) in SPEED_GOALS.items():
        if name in results and peer in results:
            ours, theirs = results[name], results[peer]
            faster = statistics.median(theirs.seconds) / statistics.median(ours.seconds)
            lines.append(
                f"{name}, judge included, beside {peer}: {ours.money / theirs.money:.2f} of the money (goal "
                f"{MONEY_GOAL:.2f}), {faster:.1f} times as fast (goal {goal:.1f})"
            )
    return lines


def measured(name: str, events: Sequence[BattleRetrieved], at_once: int) -> Result | None:
    """One row's result; None where nuggetizer cannot be run, which is printed."""
    if name not in PEERS:
        with offline_model(*DELAYS) as url:
            return asyncio.run(run((VARIANTS | WHOLE_TOPICS)[name], events, url, at_once))
    try:
        return run_nuggetizer(events, [*DELAYS, *PEERS[name]], at_once)
    except (subprocess.SubprocessError, OSError) as error:
        print(f"{name} cannot be run: {type(error).__name__}")
        return None


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    names = [*VARIANTS, *PEERS]
    options.add_argument("--battles", type=int, default=50, help="how many battles")
    options.add_argument("--at-once", type=int, default=8, help="battles at the same time")
    options.add_argument("--only", nargs="*", default=names, choices=names)
    chosen = options.parse_args()
    if "NUGGETSTREAM_DATA" not in os.environ:
        raise SystemExit("Set NUGGETSTREAM_DATA to the folder that holds crowdrag25/.")
    folder = Path(os.environ["NUGGETSTREAM_DATA"]) / "crowdrag25"
    results = table(battles(folder, chosen.battles), chosen.only, chosen.at_once)
    print(*beside_peers(results), sep="\n")
    if "live" in chosen.only:
        print(report(battles(folder, AT_ONCE), *DELAYS), flush=True)
    if "live" in chosen.only:
        print("\nWhole topics, in which the same answers meet several times:")
        table(whole_topics(folder, chosen.battles), list(WHOLE_TOPICS), chosen.at_once)


def table(events: Sequence[BattleRetrieved], names: Sequence[str], at_once: int) -> dict[str, Result]:
    """Measure the rows on the battles and print them."""
    queries = {event.battle.id: event.battle.query for event in events}
    print(f"{len(events)} battles, {statistics.fmean(len(e.evidence) for e in events):.1f} chunks each")
    print(
        f"{'per battle':<26}{'calls':>6}{'in':>9}{'cached':>8}{'out':>7}{'s':>8}{'money/1k':>9}{'ratio':>7}"
        f"{'recall':>8}{'same':>8}"
    )
    results: dict[str, Result] = {}
    for name in names:
        if (result := measured(name, events, at_once)) is not None:
            results[name] = result
            print(row_of(name, result, next(iter(results.values())), queries))
            print(f"    {stages_of(result)}", flush=True)
    return results


if __name__ == "__main__":
    main()
