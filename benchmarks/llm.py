"""What the model's part of a battle costs, and how often its nuggets agree with people, beside nuggetizer.

    NUGGETSTREAM_DATA=... python -m benchmarks.llm [--battles 50] [--at-once 8] [--only live paper nuggetizer]

Battles of CrowdRAG-25, spread over its topics, with 50 passages each: those that the answers cite, and those
that resemble the query most.
The offline model answers in another process, takes 0.5 s for a call and 5 ms for a token of the reply, and
simulates a provider's prompt cache. nuggetizer reads the same documents with its own prompts, which the same
heuristics answer; it has no judge. Schemas of replies count as tokens. "Ratio" is the money beside the first
row, "agree" how often the nuggets agree with the gold label of people (gold ties left out, predicted ties
count half; 95% intervals over topics), and "same" the share of battles for which the nuggets of both rows
prefer the same answer. nuggetizer is run twice: with lists as long as those of the paper profile, and as
those of the live profile. It is compared on equal evidence, and with the excerpts that live reads. The noise
floor is what changes when live reads the same evidence in another order. A second table has the battles of
whole topics, with and without shared nugget lists; both use the cache of replies.
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
from benchmarks.offline_agreement import interval, load
from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleRetrieved
from nuggetstream.statistics.proportion import wilson
from services.offline.heuristics.facts import ENOUGH
from services.runtime.llm.prices import Tokens

DELAYS = ("--latency", "0.5", "--latency-per-token", "0.005")
# With as many nuggets as the offline model lists in the paper profile, and in the live profile.
PEERS = {"nuggetizer": (), "nuggetizer, short lists": ("--nuggets", str(ENOUGH))}
# Rows that are compared: with lists of equal length, and what they read.
COMPARED = (
    ("live, all evidence", "nuggetizer, short lists", "equal evidence"),
    ("live", "nuggetizer, short lists", "excerpts beside all evidence"),
    ("paper", "nuggetizer", "equal evidence"),
    ("live", "live, all evidence", "excerpts beside all evidence"),
    ("live, another order", "live", "noise floor: the same evidence in another order"),
)
People = Mapping[str, tuple[str, str]]
"""Topic and gold label of a battle, "a" or "b", by its id."""


def people_of(folder: Path) -> People:
    """The battles that people decided."""
    rows = load(folder / "battles.jsonl.gz")
    labels = {row["battle_id"]: (row["topic"], row["gold"]["quality_overall"]) for row in rows}
    return {name: decided for name, decided in labels.items() if decided[1] != "n"}


def agreement(result: Result, people: People, less: Result | None = None) -> tuple[float, float, float]:
    """How often the nuggets agree with people, or how much more often than another row, and its bounds."""
    by_topic: dict[str, list[float]] = {}
    for battle in sorted(people.keys() & result.preferred.keys() & (less or result).preferred.keys()):
        topic, label = people[battle]
        hits = [
            0.5 if row.preferred[battle] is Vote.TIE else float(row.preferred[battle].value == label)
            for row in (result, less)
            if row is not None
        ]
        by_topic.setdefault(topic, []).append(hits[0] - sum(hits[1:]))
    mean, _, low, high = interval(by_topic)
    return mean, low, high


def same(result: Result, other: Result) -> tuple[int, int]:
    """Number of battles for which both prefer the same answer, and of all battles that both evaluated."""
    shared = result.preferred.keys() & other.preferred.keys()
    return sum(result.preferred[battle] is other.preferred[battle] for battle in shared), len(shared)


def row_of(name: str, result: Result, first: Result, people: People) -> str:
    """One line of the table: means per battle."""
    count, total = result.battles, result.tokens
    agree, low, high = agreement(result, people)
    equal, shared = same(result, first)
    return (
        f"{name:<26}{len(result.calls) / count:6.1f}{total.input / count:9.0f}"
        f"{total.cached_input / count:8.0f}{total.output / count:7.0f}"
        f"{statistics.median(result.seconds):8.2f}{result.money:9.3f}"
        f"{result.money / first.money:7.2f}{agree:8.3f} [{low:.2f}, {high:.2f}]{equal / shared:8.2f}"
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


def compared(results: Mapping[str, Result], people: People) -> list[str]:
    """Money, speed and agreement of rows beside those that read as much, and the noise floor."""
    lines = []
    for name, peer, what in COMPARED:
        if name in results and peer in results:
            ours, theirs = results[name], results[peer]
            faster = statistics.median(theirs.seconds) / statistics.median(ours.seconds)
            more, low, high = agreement(ours, people, theirs)
            equal, shared = same(ours, theirs)
            least, most = wilson(equal, shared)
            lines.append(
                f"{name} beside {peer} ({what}): {ours.money / theirs.money:.2f} of the money, {faster:.1f} "
                f"times as fast, agreement {more:+.3f} [{low:+.3f}, {high:+.3f}], same preference in "
                f"{equal / shared:.2f} [{least:.2f}, {most:.2f}]"
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
    people = people_of(folder)
    results = table(battles(folder, chosen.battles), chosen.only, chosen.at_once, people)
    print(*compared(results, people), sep="\n")
    if "live" in chosen.only:
        print(report(battles(folder, AT_ONCE), *DELAYS), flush=True)
    if "live" in chosen.only:
        print("\nWhole topics, in which the same answers meet several times:")
        table(whole_topics(folder, chosen.battles), list(WHOLE_TOPICS), chosen.at_once, people)


def table(
    events: Sequence[BattleRetrieved], names: Sequence[str], at_once: int, people: People
) -> dict[str, Result]:
    """Measure the rows on the battles and print them."""
    print(f"{len(events)} battles, {statistics.fmean(len(e.evidence) for e in events):.1f} chunks each")
    print(
        f"{'per battle':<26}{'calls':>6}{'in':>9}{'cached':>8}{'out':>7}{'s':>8}{'money/1k':>9}{'ratio':>7}"
        f"{'agree':>8}{'95 %':>13}{'same':>8}"
    )
    results: dict[str, Result] = {}
    for name in names:
        if (result := measured(name, events, at_once)) is not None:
            results[name] = result
            print(row_of(name, result, next(iter(results.values())), people))
            print(f"    {stages_of(result)}", flush=True)
    return results


if __name__ == "__main__":
    main()
