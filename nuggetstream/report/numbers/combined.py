"""A few human votes and many automatic ones together, and which votes to ask people for next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nuggetstream.domain.lens import Lens
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.results import Results
from nuggetstream.ratings.advice import Advice, advise, no_advice
from nuggetstream.ratings.combined import Combined as CombinedRatings
from nuggetstream.ratings.combined import combine
from nuggetstream.ratings.combined_standing import CombinedStanding, EstimateState
from nuggetstream.ratings.joint import JointVotes, points_of
from nuggetstream.report.lenses import AUTOMATIC, POLICY
from nuggetstream.report.numbers.human_ratings import human_ratings

WAYS = ("human", "automatic", "combined")
PEOPLE = "people's votes alone"
_PAIRS = 5  # pairs named as worth asking about


@dataclass(frozen=True, slots=True, kw_only=True)
class LensCombined:
    """Human votes corrected and extended by one automatic lens.

    Attributes:
        lens: Lens of the automatic votes.
        both: Battles with both votes.
        automatic_only: Further battles with an automatic vote only.
        tuning: λ in [0, 1], the weight of the automatic votes; None without a combined estimate.
        states: State of each of the three estimates.
        note: What the state of the combined estimate means.
        systems: Ranked systems by their best estimate; systems without a rating are left out.
    """

    lens: Lens
    both: int
    automatic_only: int
    tuning: float | None
    states: Mapping[str, EstimateState]
    note: str
    systems: tuple[CombinedStanding, ...]


@dataclass(frozen=True, slots=True)
class ArenaCombined:
    """One arena.

    Attributes:
        arena: Name of the arena.
        received: Battles received.
        lenses: An estimate per automatic lens.
        basis: The estimate that the advice follows from.
        next: What to ask people next.
    """

    arena: str
    received: int
    lenses: tuple[LensCombined, ...]
    basis: str
    next: Advice


def compute_combined(results: Results) -> tuple[ArenaCombined, ...]:
    """Estimates and advice of every arena."""
    return tuple(_arena(name, battles) for name, battles in results.by_arena().items())


def _arena(name: str, battles: Sequence[BattleRow]) -> ArenaCombined:
    joint = {lens: _joint(lens, battles) for lens in AUTOMATIC}
    combined = {lens: combine(votes) for lens, votes in joint.items()}
    lenses = tuple(_lens(lens, joint[lens], combined[lens]) for lens in AUTOMATIC)
    return ArenaCombined(name, len(battles), lenses, *_next(battles, combined))


def _joint(lens: Lens, battles: Sequence[BattleRow]) -> JointVotes:
    return JointVotes.of(
        (
            battle.a.system,
            battle.b.system,
            points_of(battle.human_vote, POLICY),
            points_of(battle.vote(lens), POLICY),
            1,
        )
        for battle in battles
        if battle.a.system != battle.b.system
    )


def _lens(lens: Lens, votes: JointVotes, combined: CombinedRatings) -> LensCombined:
    inside = votes.within(combined.systems)
    return LensCombined(
        lens=lens,
        both=inside.both,
        automatic_only=inside.automatics - inside.both,
        tuning=combined.tuning,
        states={way: getattr(combined, way).state for way in WAYS},
        note=combined.note,
        systems=tuple(
            standing
            for standing in combined.standings
            if standing.human or standing.automatic or standing.combined
        ),
    )


def _next(battles: Sequence[BattleRow], combined: Mapping[Lens, CombinedRatings]) -> tuple[str, Advice]:
    """From the combination that gives its automatic votes most weight, else from people's votes alone."""
    weights = {lens: estimate.tuning for lens, estimate in combined.items() if estimate.tuning}
    if weights:
        lens = max(weights, key=lambda lens: weights[lens])
        return f"people's votes with those of the {lens} lens", combined[lens].advice(count=_PAIRS)
    ratings = human_ratings(battles)
    if isinstance(ratings, str):
        return PEOPLE, no_advice(ratings)
    return PEOPLE, advise(ratings, count=_PAIRS)
