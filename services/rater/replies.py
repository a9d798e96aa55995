"""Results of the rating model as the contract has them; bounds that do not exist are absent."""

from collections.abc import Sequence

from arena.v1 import ratings_pb2

from nuggetstream.domain.lens import Lens
from nuggetstream.domain.note import Note
from nuggetstream.ratings.advice import Advice, Neighbours, NextBattle, Unranked
from nuggetstream.ratings.combined import Combined, CombinedStanding, Estimate, Rating
from nuggetstream.ratings.fragility import DroppedVotes, Fragility
from nuggetstream.ratings.lens_agreement import LensAgreement
from nuggetstream.ratings.model import Ratings
from nuggetstream.ratings.options import Options
from nuggetstream.ratings.pairwise import Pairing
from nuggetstream.ratings.standing import BoardState, Standing
from nuggetstream.ratings.timeline import Period
from services.rater.boards import LensBoard
from services.rater.options import Method, method, method_of
from services.store.slices import Slice
from services.wire.convert import to_message


def board_message(board: LensBoard) -> ratings_pb2.Board:
    """One board."""
    ratings = board.ratings
    method = method_of(ratings, board.slice)
    return ratings_pb2.Board(
        arena=board.arena,
        lens=lens_number(board.lens),
        standings=[_standing(standing) for standing in ratings.standings],
        scored=board.scored,
        received=board.received,
        tie_policy=method.tie_policy.value,
        resamples=method.resamples,
        level=method.level,
        state=ratings.state.value,
        note=_note(board),
        notes=[_note_message(note) for note in board.notes],
        outcomes=board.outcomes,
        evaluators=board.evaluators,
        probable=board.probable,
        flagged=board.flagged,
        fragility=_fragility(ratings.fragility) if ratings.fit else None,
        method=method_message(method),
    )


def combined_reply(combined: Combined, method: Method) -> ratings_pb2.GetCombinedResponse:
    """Three ratings side by side."""
    return ratings_pb2.GetCombinedResponse(
        state=combined.state.value,
        note=combined.note,
        standings=[_combined_standing(standing) for standing in combined.standings],
        human=_estimate(combined.human),
        automatic=_estimate(combined.automatic),
        combined=_estimate(combined.combined),
        tuning=combined.tuning,
        human_votes_unused=combined.human_votes_unused,
        method=method_message(method),
    )


def pairs_reply(ratings: Ratings, slice_: Slice) -> ratings_pb2.GetPairsResponse:
    """Every pair of systems."""
    return ratings_pb2.GetPairsResponse(
        state=ratings.state.value,
        note=_note(ratings),
        systems=[standing.system for standing in ratings.standings],
        pairs=[_pairing(pairing) for pairing in ratings.pairs],
        method=method_message(method_of(ratings, slice_)),
    )


def advice_reply(ratings: Ratings, advice: Advice, slice_: Slice) -> ratings_pb2.GetAdviceResponse:
    """What to ask next."""
    return ratings_pb2.GetAdviceResponse(
        state=ratings.state.value,
        note=" ".join(filter(None, [_note(ratings), _missing(ratings, advice)])),
        neighbours=[_neighbours(pair) for pair in advice.neighbours],
        next=[_next_battle(battle) for battle in advice.next],
        unranked=[_unranked(system) for system in advice.unranked],
        power=advice.power,
        method=method_message(method_of(ratings, slice_)),
    )


def timeline_reply(
    periods: Sequence[Period[Ratings]], options: Options, slice_: Slice
) -> ratings_pb2.GetTimelineResponse:
    """Ratings over time."""
    return ratings_pb2.GetTimelineResponse(
        periods=[_period(period) for period in periods], method=method_message(method(options, slice_))
    )


def _period(period: Period[Ratings]) -> ratings_pb2.Period:
    message = ratings_pb2.Period(
        votes=period.votes,
        state=BoardState.EMPTY.value if period.rating is None else period.rating.state.value,
        standings=[] if period.rating is None else map(_standing, period.rating.standings),
    )
    message.start.FromDatetime(period.start)
    message.end.FromDatetime(period.end)
    return message


def _fragility(fragility: Fragility) -> ratings_pb2.Fragility:
    return ratings_pb2.Fragility(
        drops=fragility.drops,
        votes=fragility.votes,
        share=fragility.share,
        leader=fragility.leader,
        successor=fragility.successor,
        kinds=[_dropped(kind) for kind in fragility.kinds],
        reason=fragility.reason.value if fragility.reason else None,
    )


def _dropped(kind: DroppedVotes) -> ratings_pb2.DroppedVotes:
    return ratings_pb2.DroppedVotes(
        system_a=kind.system_a, system_b=kind.system_b, winner=kind.winner.value, votes=kind.votes, of=kind.of
    )


def agreement_message(agreement: LensAgreement) -> ratings_pb2.LensAgreement:
    """Two lenses."""
    return to_message(agreement, ratings_pb2.LensAgreement)


def slice_message(slice_: Slice) -> ratings_pb2.Slice:
    """The filter that selects the battles."""
    return to_message(slice_, ratings_pb2.Slice)


def method_message(method: Method) -> ratings_pb2.Method:
    """How ratings were made."""
    return to_message(method, ratings_pb2.Method)


def lens_number(lens: Lens) -> ratings_pb2.Lens.ValueType:
    """A lens in the contract."""
    return ratings_pb2.Lens.Value(f"LENS_{lens.name}")


def _note(of: Ratings | LensBoard) -> str | None:
    return " ".join(note.text for note in of.notes) or None


def _missing(ratings: Ratings, advice: Advice) -> str | None:
    """Why there is no advice, unless the notes of a board that ranks nobody say so already."""
    if advice.missing is None or ratings.fit is None:
        return None
    return f"There is no advice: {advice.missing}."


def _note_message(note: Note) -> ratings_pb2.Note:
    return ratings_pb2.Note(state=note.state, text=note.text)


def _standing(standing: Standing) -> ratings_pb2.Standing:
    return ratings_pb2.Standing(
        system=standing.system,
        rating=standing.rating,
        low=standing.low,
        high=standing.high,
        rank=standing.rank,
        probability_first=standing.probability_first,
        battles=standing.battles,
        wins=standing.wins,
        losses=standing.losses,
        ties=standing.ties,
        unrankable=standing.unrankable.value if standing.unrankable else None,
        interval=standing.interval.state.value if standing.interval else None,
        group=standing.group,
        provisional=standing.provisional,
    )


def _combined_standing(standing: CombinedStanding) -> ratings_pb2.CombinedStanding:
    return ratings_pb2.CombinedStanding(
        system=standing.system,
        human=_rating(standing.human),
        automatic=_rating(standing.automatic),
        combined=_rating(standing.combined),
        human_battles=standing.human_battles,
        automatic_battles=standing.automatic_battles,
        unrankable=standing.unrankable.value if standing.unrankable else None,
    )


def _rating(rating: Rating | None) -> ratings_pb2.Rating | None:
    if rating is None:
        return None
    return ratings_pb2.Rating(
        rating=rating.rating,
        low=rating.interval.low,
        high=rating.interval.high,
        rank=rating.rank,
        interval=rating.interval.state.value,
    )


def _estimate(estimate: Estimate) -> ratings_pb2.Estimate:
    return ratings_pb2.Estimate(battles=estimate.battles, state=estimate.state.value)


def _pairing(pairing: Pairing) -> ratings_pb2.Pairing:
    gap = pairing.gap
    share_low, share_high = pairing.share_bounds or (None, None)
    return ratings_pb2.Pairing(
        a=pairing.a,
        b=pairing.b,
        battles=pairing.battles,
        wins_a=pairing.wins_a,
        wins_b=pairing.wins_b,
        ties=pairing.ties,
        share=pairing.share,
        share_low=share_low,
        share_high=share_high,
        gap=gap.gap if gap else None,
        gap_low=gap.interval.low if gap else None,
        gap_high=gap.interval.high if gap else None,
        above=gap.above if gap else None,
        below=gap.below if gap else None,
        interval=gap.interval.state.value if gap else None,
    )


def _neighbours(pair: Neighbours) -> ratings_pb2.Neighbours:
    return ratings_pb2.Neighbours(
        above=pair.above,
        below=pair.below,
        gap=pair.gap,
        gap_low=pair.interval.low,
        gap_high=pair.interval.high,
        battles=pair.battles,
        needed=pair.needed,
        state=pair.state.value,
        interval=pair.interval.state.value,
    )


def _next_battle(battle: NextBattle) -> ratings_pb2.NextBattle:
    return to_message(battle, ratings_pb2.NextBattle)


def _unranked(system: Unranked) -> ratings_pb2.Unranked:
    return ratings_pb2.Unranked(system=system.system, reason=system.reason.value)
