"""What was computed, as the contract has it. Ends that are infinite stay out and are said to be missing."""

from arena.v1 import ratings_pb2

from nuggetstream.ratings.leaderboard import Standing
from services.rater.advice import Advised
from services.rater.agreement import LensAgreement
from services.rater.boards import LensBoard
from services.rater.combined import Combined, CombinedStanding, Estimate
from services.rater.options import Method, method_of
from services.rater.pairwise import Compared, Pairing
from services.rater.rating import IntervalState, finite, interval_state
from services.store.slices import Slice
from services.wire.convert import to_message


def board_message(lens_board: LensBoard) -> ratings_pb2.Board:
    """One board."""
    board = lens_board.board
    method = method_of(lens_board.options, board, lens_board.among)
    anchor = board.anchor.system if board.anchor else None
    return ratings_pb2.Board(
        arena=lens_board.arena,
        lens=ratings_pb2.Lens.Value(f"LENS_{lens_board.lens.name}"),
        standings=[_standing(standing, standing.system == anchor) for standing in board.standings],
        scored=lens_board.scored,
        received=lens_board.received,
        tie_policy=method.tie_policy.value,
        resamples=method.resamples,
        level=method.level,
        state=lens_board.state.value,
        note=lens_board.rated.note,
        outcomes=lens_board.outcomes,
        method=to_message(method, ratings_pb2.Method),
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
        trust=combined.trust,
        human_votes_unused=combined.human_votes_unused,
        method=to_message(method, ratings_pb2.Method),
    )


def pairs_reply(compared: Compared, method: Method) -> ratings_pb2.GetPairsResponse:
    """Every pair of systems."""
    return ratings_pb2.GetPairsResponse(
        state=compared.rated.state.value,
        note=compared.rated.note,
        systems=compared.systems,
        pairs=[_pairing(pairing) for pairing in compared.pairs],
        method=to_message(method, ratings_pb2.Method),
    )


def advice_reply(advised: Advised, method: Method) -> ratings_pb2.GetAdviceResponse:
    """What to ask next."""
    return ratings_pb2.GetAdviceResponse(
        state=advised.rated.state.value,
        note=advised.rated.note,
        neighbours=[to_message(each, ratings_pb2.Neighbours) for each in advised.neighbours],
        next=[to_message(each, ratings_pb2.NextBattle) for each in advised.next],
        unranked=[to_message(each, ratings_pb2.Unranked) for each in advised.unranked],
        method=to_message(method, ratings_pb2.Method),
    )


def agreement_message(agreement: LensAgreement) -> ratings_pb2.LensAgreement:
    """Two lenses."""
    return to_message(agreement, ratings_pb2.LensAgreement)


def slice_message(among: Slice) -> ratings_pb2.Slice:
    """Which battles counted."""
    return to_message(among, ratings_pb2.Slice)


def _standing(standing: Standing, fixed: bool) -> ratings_pb2.Standing:
    interval = IntervalState.FIXED if fixed else interval_state(standing.low, standing.high)
    return ratings_pb2.Standing(
        system=standing.system,
        rating=standing.rating,
        low=finite(standing.low),
        high=finite(standing.high),
        rank=standing.rank,
        probability_first=standing.probability_first,
        battles=standing.battles,
        wins=standing.wins,
        losses=standing.losses,
        ties=standing.ties,
        unrankable=standing.unrankable.value if standing.unrankable else "",
        interval="" if standing.rating is None else interval.value,
    )


def _combined_standing(standing: CombinedStanding) -> ratings_pb2.CombinedStanding:
    return to_message(standing, ratings_pb2.CombinedStanding)


def _estimate(estimate: Estimate) -> ratings_pb2.Estimate:
    return to_message(estimate, ratings_pb2.Estimate)


def _pairing(pairing: Pairing) -> ratings_pb2.Pairing:
    return to_message(pairing, ratings_pb2.Pairing)
