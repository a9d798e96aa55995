"""Coverage: how much of what was received could be scored, and why not the rest?"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nuggetstream.domain.battle import Side
from nuggetstream.files.evaluated import JudgmentRow
from nuggetstream.files.results import Results
from nuggetstream.report.reasons import failure_counts


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the report rests on.

    Attributes:
        file: Name of the file of results.
        received: Battles, those rejected at intake included.
        rejected: Lines rejected at intake.
        scored: Battles with nuggets, labels and a judge's verdict.
        with_vote: Battles with a human vote.
        with_nuggets: Battles with a nugget preference.
        with_verdict: Battles with a judge's verdict.
        reasons: "stage: reason" -> how often; one battle may have several.
        self_battles: Battles of a system with itself; no leaderboard counts them.
        queries: Distinct queries.
        conversations: Battles with turns before their query.
        systems: System -> battles.
        arenas: Arena -> battles.
        detected: Battles whose language was detected, because none was declared.
        languages: Language -> battles, declared or detected; "not given" where there is neither.
        judges: Model of a judge -> battles with a verdict of it.
        flagged: Id of a battle, rule and sentence of each passage of an answer that seems to be written for
            whoever evaluates it.
        first: When the first battle arrived, in ISO 8601; None where no battle says.
        last: When the last battle arrived; None where no battle says.
    """

    file: str
    received: int
    rejected: int
    scored: int
    with_vote: int
    with_nuggets: int
    with_verdict: int
    reasons: Mapping[str, int]
    self_battles: int
    queries: int
    conversations: int
    systems: Mapping[str, int]
    arenas: Mapping[str, int]
    detected: int
    languages: Mapping[str, int]
    judges: Mapping[str, int]
    flagged: tuple[tuple[str, str, str], ...]
    first: str | None
    last: str | None


def compute_coverage(results: Results) -> Coverage:
    """Count battles by what they have."""
    battles = results.battles
    moments = sorted(battle.received_at for battle in battles if battle.received_at)
    systems = Counter(
        name for battle in battles for name in dict.fromkeys(battle.answer(side).system for side in Side)
    )
    return Coverage(
        file=results.name,
        received=results.received,
        rejected=results.rejected,
        scored=results.scored,
        with_vote=sum(battle.human_vote is not None for battle in battles),
        with_nuggets=sum(battle.nugget_verdict is not None for battle in battles),
        with_verdict=sum(bool(battle.judgments) for battle in battles),
        reasons=failure_counts(battles, results.rejected),
        self_battles=sum(battle.a.system == battle.b.system for battle in battles),
        queries=len({battle.query for battle in battles}),
        conversations=sum(bool(battle.conversation or battle.a.conversation) for battle in battles),
        systems=dict(systems.most_common()),
        arenas=dict(Counter(battle.arena for battle in battles).most_common()),
        detected=sum(battle.language is None and battle.known_language is not None for battle in battles),
        languages=dict(Counter(battle.known_language or "not given" for battle in battles).most_common()),
        judges=dict(
            Counter(model for battle in battles for model in _models(battle.judgments)).most_common()
        ),
        flagged=tuple((battle.id, flag.rule, flag.sentence) for battle in battles for flag in battle.flags),
        first=moments[0].isoformat() if moments else None,
        last=moments[-1].isoformat() if moments else None,
    )


def _models(judgments: Iterable[JudgmentRow]) -> Iterable[str]:
    """The models of the judges of a battle, each once."""
    return dict.fromkeys(judgment.model for judgment in judgments)
