"""Do preferences on grounded nuggets alone agree with people as often as those on all nuggets?

    NUGGETSTREAM_DATA=... python -m benchmarks.grounding [--lexical] [--limit 100] [--whole]

Replays the battles of CrowdRAG-25 through the offline model like `benchmarks/offline_agreement.py`, with
evidence cut to what prompts show by default (all of it with `--whole`). Prints how many nuggets are grounded,
answer-only and disputed; how often nuggets, the judge and the longer answer agree with the gold label of each
dimension; and how often grounded nuggets alone do, with the difference on the same battles and an interval
from resampling topics. A battle without a grounded nugget has no preference on grounded nuggets; it is left
out of both, or counted as undecided, which is said.
"""

import argparse
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.offline_agreement import (
    CREDIT,
    DIMENSIONS,
    JUDGED,
    LIMIT,
    TIE,
    agreement,
    chunks,
    excerpted,
    interval,
    load,
    minilm,
)
from nuggetstream.domain.battle import Answer, Battle, Side
from nuggetstream.domain.evidence import Evidence
from nuggetstream.domain.nugget import Grounding, Importance, Nugget, Provenance
from nuggetstream.nuggets.excerpts import excerpts
from nuggetstream.nuggets.grounding import with_grounds
from services.nuggetizer.documents import WHOLE
from services.offline.heuristics import Document, Embed, Fact, assign, create_facts, judge, with_chunks

CHARACTERS, JUDGE_CHARACTERS = 7_000, 3_500  # of evidence, as prompts show by default


@dataclass(frozen=True, slots=True)
class Compared:
    """One battle: its topic, gold labels, margins by either preference, and its nuggets by grounding."""

    topic: str
    gold: dict[str, str]
    scores: dict[str, float]
    ties: dict[str, float]
    groundings: Counter[str]
    nuggets: tuple[Nugget, ...]


def compared(
    row: dict[str, Any], passages: dict[str, str], embed: Embed | None, characters: int | None
) -> Compared:
    """The margins of one battle on all nuggets and on grounded ones; the latter is absent without any."""
    a, b = (Answer(row[side]["system"], row[side]["text"]) for side in ("a", "b"))
    battle = Battle(id=row["battle_id"], arena="agreement", query=row["query"], a=a, b=b)
    evidence = _evidence(chunks(row, passages))
    shown = evidence
    if characters is not None:
        shown = excerpts(evidence, battle, characters, whole=WHOLE * characters)
    documents = [Document(f"answer:{side.value}", "answer", battle.answer(side).text) for side in Side]
    documents += [Document(item.chunk_id, "chunk", item.text) for item in shown]
    facts = create_facts(row["query"], documents, limit=LIMIT, embed=embed)
    facts = with_chunks(row["query"], facts, documents, embed)
    nuggets = with_grounds(_nuggets(facts), evidence, battle)
    texts = [fact.text for fact in facts]
    labels = [assign(row["query"], texts, battle.answer(side).text, embed=embed) for side in Side]
    earned = [[CREDIT[label.label] for label in side] for side in labels]
    margins = [first - second for first, second in zip(*earned, strict=True)]
    grounded = [
        margin
        for nugget, margin in zip(nuggets, margins, strict=True)
        if nugget.grounding is Grounding.GROUNDED
    ]
    shown_to_judge = excerpted(row, chunks(row, passages)[:JUDGED], characters and JUDGE_CHARACTERS)
    verdict = judge(row["query"], a.text, b.text, shown_to_judge, embed=embed)
    scores = {
        "all": sum(margins) / len(margins),
        "judge": {"a": 1.0, "b": -1.0, "tie": 0.0}[verdict.winner],
        "longer": float(len(a.text) - len(b.text)),
    }
    if grounded:
        scores["grounded"] = sum(grounded) / len(grounded)
    groundings = Counter(str(nugget.grounding and nugget.grounding.value) for nugget in nuggets)
    return Compared(
        topic=row["topic"],
        gold=row["gold"],
        scores=scores,
        ties={"all": TIE, "grounded": TIE, "judge": 0.0, "longer": 0.0},
        groundings=groundings,
        nuggets=nuggets,
    )


def _evidence(found: Sequence[str]) -> list[Evidence]:
    return [
        Evidence(
            chunk_id=f"chunk-{number}",
            text=text,
            url=None,
            title=None,
            content_hash="",
            fetched_at=None,
            cited_by=(),
            score=0.0,
        )
        for number, text in enumerate(found)
    ]


def _nuggets(facts: Sequence[Fact]) -> list[Nugget]:
    return [
        Nugget(
            fact.text,
            fact.text,
            Importance.VITAL if fact.vital else Importance.OKAY,
            tuple(Provenance(source) for source in fact.sources),
        )
        for fact in facts
    ]


def show_each(battles: Sequence[Compared]) -> None:
    """Agreement of nuggets, judge and the longer answer."""
    for scorer in ("all", "judge", "longer"):
        for dimension in DIMENSIONS:
            mean, _, low, high = interval(agreement(battles, scorer, dimension))
            print(f"{scorer:<10}{dimension:<22}{mean:>7.3f}   [{low:.3f}, {high:.3f}]")


def show(battles: Sequence[Compared], title: str) -> None:
    """Agreement by either preference, and the difference battle by battle."""
    print(f"\n{title}: {len(battles)} battles")
    print(f"{'dimension':<22}{'all':>7}{'grounded':>10}{'difference':>12}  95% interval")
    for dimension in DIMENSIONS:
        both = [agreement(battles, scorer, dimension) for scorer in ("all", "grounded")]
        more = {
            topic: [y - x for x, y in zip(hits, both[1][topic], strict=True)]
            for topic, hits in both[0].items()
        }
        means = [interval(one)[0] for one in both]
        mean, _, low, high = interval(more)
        print(f"{dimension:<22}{means[0]:>7.3f}{means[1]:>10.3f}{mean:>+12.3f}  [{low:+.3f}, {high:+.3f}]")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--lexical", action="store_true", help="compare by shared terms only")
    options.add_argument("--limit", type=int, help="only the first so many battles")
    options.add_argument("--whole", action="store_true", help="show the offline model all evidence")
    chosen = options.parse_args()
    folder = Path(os.environ["NUGGETSTREAM_DATA"]) / "crowdrag25"
    passages = {d["docid"]: d["text"] for d in load(folder / "documents.jsonl.gz")}
    rows = list(load(folder / "battles.jsonl.gz"))[: chosen.limit]
    embed = None if chosen.lexical else minilm()
    characters = None if chosen.whole else CHARACTERS
    battles = [compared(row, passages, embed, characters) for row in rows]
    total = sum((battle.groundings for battle in battles), Counter[str]())
    counts = ", ".join(f"{count} {name} ({count / total.total():.0%})" for name, count in total.most_common())
    print(f"{len(battles)} battles, {total.total()} nuggets: {counts}")
    show_each(battles)
    decided = [battle for battle in battles if "grounded" in battle.scores]
    show(decided, "battles with a grounded nugget")
    for battle in battles:
        battle.scores.setdefault("grounded", 0.0)
    show(battles, "all battles, those without a grounded nugget as undecided")


if __name__ == "__main__":
    main()
