"""How much of what was received could be scored, and why not the rest."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from nuggetstream.domain.battle import Side
from nuggetstream.report.rows import Results


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the report rests on.

    Attributes:
        received: battles, those refused at the door included.
        scored: with nuggets assigned and a verdict.
        with_vote: with a human vote.
        with_nuggets: with a nugget preference.
        with_verdict: with a judge's verdict.
        reasons: "stage: reason" -> how often; one battle may have several.
        self_battles: of one system with itself; they count in no leaderboard.
        systems: system -> battles.
        languages: language -> battles; "not given" where there is none.
        judges: model of the judge -> battles.
    """

    file: str
    received: int
    refused: int
    scored: int
    with_vote: int
    with_nuggets: int
    with_verdict: int
    reasons: Mapping[str, int]
    self_battles: int
    queries: int
    systems: Mapping[str, int]
    arenas: Mapping[str, int]
    languages: Mapping[str, int]
    judges: Mapping[str, int]
    first: str | None
    last: str | None


def compute(results: Results) -> Coverage:
    """Count."""
    rows, summary = results.rows, results.summary
    moments = sorted(row.received_at for row in rows if row.received_at)
    systems = Counter(name for row in rows for name in {row.answer(side).system for side in Side})
    return Coverage(
        file=results.name,
        received=summary.received,
        refused=summary.refused,
        scored=summary.scored,
        with_vote=sum(row.human_vote is not None for row in rows),
        with_nuggets=sum(row.nugget_verdict is not None for row in rows),
        with_verdict=sum(bool(row.judgments) for row in rows),
        reasons=summary.reasons,
        self_battles=sum(row.a.system == row.b.system for row in rows),
        queries=len({row.query for row in rows}),
        systems=dict(systems.most_common()),
        arenas=dict(Counter(row.arena for row in rows).most_common()),
        languages=dict(Counter(row.language or "not given" for row in rows).most_common()),
        judges=dict(Counter(judgment.model for row in rows for judgment in row.judgments[:1]).most_common()),
        first=moments[0].isoformat() if moments else None,
        last=moments[-1].isoformat() if moments else None,
    )
