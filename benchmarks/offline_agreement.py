"""How often does the offline model agree with people?

    NUGGETSTREAM_DATA=... python benchmarks/offline_agreement.py [--lexical] [--limit 100]
        [--characters 12000 3500]

Replays real battles with human gold labels through the heuristics as the pipeline does: facts from both
answers and the evidence they cite, labels per answer, All Score, preference with a tie threshold. With
`--characters`, the facts and the judge's verdict are read in excerpts of so many characters, and the same
battles are read with all evidence, too. Prints the agreement with the gold label of each dimension (gold ties
left out, predicted ties count half), its mean over topics, an interval from resampling topics, the same for
"the longer answer wins", and how far excerpts are from all evidence, battle by battle.
"""

import argparse
import gzip
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nuggetstream.domain.battle import Answer, Battle
from nuggetstream.domain.evidence import Evidence
from nuggetstream.nuggets.excerpts import excerpts
from services.indexer.loading import local_model
from services.nuggetizer.documents import WHOLE
from services.offline.heuristics import Document, Embed, Label, assign, create_facts, judge
from services.offline.heuristics.text import sentences
from services.runtime.packaged_model import PACKAGED_MODEL

LIMIT, CHUNKS, CHUNK_SENTENCES, TIE = 30, 50, 10, 0.07
JUDGED = 10  # chunks shown to the judge
CREDIT = {Label.SUPPORT: 1.0, Label.PARTIAL: 0.5, Label.NONE: 0.0, Label.CONTRADICTION: 0.0}
DIMENSIONS = (
    "quality_overall",
    "coverage_broad",
    "coverage_deep",
    "correctness_topical",
    "coherence_logical",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    topic: str
    gold: dict[str, str]
    scores: dict[str, float]  # scorer name -> score of a minus score of b
    ties: dict[str, float]  # scorer name -> |difference| that is still a tie
    votes: tuple[float, float]  # shares of facts both answers support, none supports


def load(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def chunks(battle: dict[str, Any], passages: dict[str, str]) -> list[str]:
    """The evidence of both answers in chunks of ten sentences, one copy each."""
    cited = dict.fromkeys(battle["a"]["citations"] + battle["b"]["citations"])
    found: dict[str, None] = {}
    for docid in cited:
        parts = sentences(passages[docid])
        for start in range(0, len(parts), CHUNK_SENTENCES):
            found[" ".join(parts[start : start + CHUNK_SENTENCES])] = None
    return list(found)[:CHUNKS]


def documents(battle: dict[str, Any], evidence: Sequence[str]) -> list[Document]:
    answers = [Document(side, "answer", battle[side]["text"]) for side in ("a", "b")]
    if hashlib.sha256(battle["battle_id"].encode()).digest()[0] % 2:
        answers.reverse()
    return answers + [Document(f"chunk-{i}", "chunk", text) for i, text in enumerate(evidence)]


def score(facts: Sequence[Any], labels: Sequence[Any], *, vital: bool, strict: bool) -> float:
    earned = [
        (CREDIT[j.label] if not strict else float(j.label is Label.SUPPORT))
        for f, j in zip(facts, labels, strict=True)
        if f.vital or not vital
    ]
    return float(np.mean(earned))


def excerpted(row: dict[str, Any], texts: Sequence[str], characters: int | None, times: int = 1) -> list[str]:
    """The texts as a prompt shows them; None shows them whole, and so does evidence of `times` the limit."""
    if characters is None:
        return list(texts)
    a, b = (Answer(row[side]["system"], row[side]["text"]) for side in ("a", "b"))
    battle = Battle(id=row["battle_id"], arena="agreement", query=row["query"], a=a, b=b)
    evidence = [
        Evidence(
            chunk_id=str(number),
            text=text,
            url=None,
            title=None,
            content_hash="",
            fetched_at=None,
            cited_by=(),
            score=0.0,
        )
        for number, text in enumerate(texts)
    ]
    return [item.text for item in excerpts(evidence, battle, characters, whole=times * characters)]


def replay(
    battle: dict[str, Any], passages: dict[str, str], embed: Embed | None, limits: Sequence[int | None]
) -> Outcome:
    query, a, b = battle["query"], battle["a"]["text"], battle["b"]["text"]
    found = chunks(battle, passages)
    evidence = excerpted(battle, found, limits[0], WHOLE)
    judged = excerpted(battle, found[:JUDGED], limits[1])
    facts = create_facts(query, documents(battle, evidence), limit=LIMIT, embed=embed)
    texts = [fact.text for fact in facts]
    of_a, of_b = assign(query, texts, a, embed=embed), assign(query, texts, b, embed=embed)
    scores = {
        name: score(facts, of_a, vital=vital, strict=strict) - score(facts, of_b, vital=vital, strict=strict)
        for name, vital, strict in (
            ("all", False, False),
            ("all strict", False, True),
            ("vital", True, False),
            ("vital strict", True, True),
        )
    }
    verdict = judge(query, a, b, judged, embed=embed)
    scores["judge"] = {"a": 1.0, "b": -1.0, "tie": 0.0}[verdict.winner]
    scores["longer"] = float(len(a) - len(b))
    ties = dict.fromkeys(scores, TIE) | {"judge": 0.0, "longer": 0.0}
    stated = [(x.label is Label.SUPPORT, y.label is Label.SUPPORT) for x, y in zip(of_a, of_b, strict=True)]
    shares = (
        float(np.mean([x and y for x, y in stated])),
        float(np.mean([not x and not y for x, y in stated])),
    )
    return Outcome(battle["topic"], battle["gold"], scores, ties, shares)


def agreement(outcomes: Sequence[Outcome], scorer: str, dimension: str) -> dict[str, list[float]]:
    """Per topic the agreement of each decided battle: 1, 0, or 1/2 for a predicted tie."""
    by_topic: dict[str, list[float]] = {}
    for outcome in outcomes:
        gold, difference = outcome.gold[dimension], outcome.scores[scorer]
        if gold == "n":
            continue
        tied = abs(difference) <= outcome.ties[scorer] + 1e-9
        hit = 0.5 if tied else float((difference > 0) == (gold == "a"))
        by_topic.setdefault(outcome.topic, []).append(hit)
    return by_topic


def interval(by_topic: dict[str, list[float]], resamples: int = 2000) -> tuple[float, float, float, float]:
    """Mean over battles, mean over topics, and the 95 % interval of the former over resampled topics."""
    sums = np.array([sum(hits) for hits in by_topic.values()])
    counts = np.array([len(hits) for hits in by_topic.values()])
    drawn = np.random.default_rng(0).integers(0, len(sums), (resamples, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(sums.sum() / counts.sum()), float((sums / counts).mean()), float(low), float(high)


def remembered(encode: Callable[[list[str]], NDArray[np.float32]]) -> Embed:
    """An embedder that encodes each text once."""
    known: dict[str, NDArray[np.float32]] = {}

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, encode(new), strict=True))
        return np.stack([known[text] for text in texts])

    return embed


def minilm() -> Embed:
    return remembered(local_model(PACKAGED_MODEL).encode)


def table(outcomes: Sequence[Outcome]) -> None:
    print(f"{'scorer':<14}{'dimension':<22}{'agree':>7}{'topics':>8}{'95 % interval':>17}{'ties':>7}")
    for scorer in outcomes[0].scores:
        for dimension in DIMENSIONS if scorer in {"all", "judge", "longer"} else DIMENSIONS[:1]:
            mean, topics, low, high = interval(agreement(outcomes, scorer, dimension))
            tied = np.mean([abs(o.scores[scorer]) <= o.ties[scorer] + 1e-9 for o in outcomes])
            print(
                f"{scorer:<14}{dimension:<22}{mean:>7.3f}{topics:>8.3f}   [{low:.3f}, {high:.3f}]{tied:>7.2f}"
            )
    both, none = np.mean([o.votes for o in outcomes], axis=0)
    print(f"facts supported by both answers {both:.2f}, by none {none:.2f}")


def differences(whole: Sequence[Outcome], shown: Sequence[Outcome]) -> None:
    """How much more often excerpts agree with people than all evidence does, on the same battles."""
    print("\nexcerpts, beside all evidence")
    for scorer in ("all", "judge"):
        for dimension in DIMENSIONS[:3]:
            before, after = (agreement(outcomes, scorer, dimension) for outcomes in (whole, shown))
            more = {
                topic: [y - x for x, y in zip(hits, after[topic], strict=True)]
                for topic, hits in before.items()
            }
            mean, topics, low, high = interval(more)
            print(f"{scorer:<14}{dimension:<22}{mean:>+7.3f}{topics:>+8.3f} [{low:+.3f}, {high:+.3f}]")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument(
        "--lexical", action="store_true", help="compare by shared terms only, without embeddings"
    )
    options.add_argument("--limit", type=int, help="only the first so many battles")
    options.add_argument("--characters", type=int, nargs=2, help="of evidence: for facts, for the judge")
    chosen = options.parse_args()
    if "NUGGETSTREAM_DATA" not in os.environ:
        raise SystemExit("Set NUGGETSTREAM_DATA to the folder that holds crowdrag25/.")
    folder = Path(os.environ["NUGGETSTREAM_DATA"]) / "crowdrag25"
    passages = {d["docid"]: d["text"] for d in load(folder / "documents.jsonl.gz")}
    battles = list(load(folder / "battles.jsonl.gz"))[: chosen.limit]
    embed = None if chosen.lexical else minilm()
    start = time.perf_counter()
    limits = chosen.characters or (None, None)
    outcomes = [replay(battle, passages, embed, limits) for battle in battles]
    seconds = time.perf_counter() - start
    print(f"{len(outcomes)} battles, {'lexical' if chosen.lexical else 'MiniLM'}, {seconds:.0f} s")
    table(outcomes)
    if chosen.characters:
        differences([replay(battle, passages, embed, (None, None)) for battle in battles], outcomes)


if __name__ == "__main__":
    main()
