"""What the rater computes, what travels and what is shown have the same fields."""

import dataclasses
from datetime import UTC, datetime
from typing import Any

import pytest
from arena.v1 import ratings_pb2
from pydantic import BaseModel

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.flag import Flagged
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.note import Note
from nuggetstream.domain.slice import Slice
from nuggetstream.ratings.combined_standing import CombinedStanding, Estimate, Rating
from nuggetstream.ratings.comparison import LensAgreement, Neighbours, NextBattle, Pairing, Unranked
from nuggetstream.ratings.method import Method
from nuggetstream.ratings.options import Anchor, Options
from nuggetstream.ratings.standing import DroppedVotes, Fragility, Standing
from nuggetstream.views import comparisons
from nuggetstream.views import ratings as views
from services.rater.boards import Leaderboard
from services.rater.counting import board_of_counts
from services.wire.convert import from_message, to_message
from services.wire.rating_queries import (
    AdviceQuery,
    AgreementQuery,
    BoardsQuery,
    CombinedQuery,
    PairsQuery,
    TimelineQuery,
    query_of,
)
from tests.nuggetstream.ratings.counts import CIRCLE

COMPUTED: list[type[Any]] = [
    Anchor,
    CombinedStanding,
    DroppedVotes,
    Estimate,
    Fragility,
    LensAgreement,
    Method,
    Neighbours,
    NextBattle,
    Note,
    Pairing,
    Rating,
    Slice,
    Standing,
    Unranked,
]
SHOWN: dict[type[BaseModel], str] = {
    comparisons.AdviceView: "GetAdviceResponse",
    comparisons.AgreementView: "GetAgreementResponse",
    views.BoardView: "Board",
    comparisons.CombinedView: "GetCombinedResponse",
    comparisons.PairsView: "GetPairsResponse",
    views.PeriodView: "Period",
    views.TimelineView: "GetTimelineResponse",
}
QUERIES: dict[type[Any], type[Any]] = {
    AdviceQuery: ratings_pb2.GetAdviceRequest,
    AgreementQuery: ratings_pb2.GetAgreementRequest,
    BoardsQuery: ratings_pb2.GetLeaderboardRequest,
    CombinedQuery: ratings_pb2.GetCombinedRequest,
    PairsQuery: ratings_pb2.GetPairsRequest,
    TimelineQuery: ratings_pb2.GetTimelineRequest,
}
GIVEN: dict[str, Any] = {
    "arena": "x",
    "language": "de",
    "tag": ["one", "two"],
    "since": datetime(2026, 1, 1, tzinfo=UTC),
    "until": datetime(2026, 2, 1, tzinfo=UTC),
    "evaluator": "pairwise",
    "flagged": "only",
    "expected": True,
    "ties": "drop",
    "bootstrap": "bayesian",
    "intervals": "bootstrap",
    "level": 0.9,
    "resamples": 200,
    "prior": 0.5,
    "provisional_below": 3,
    "anchor": "org/model:7b:1114",
    "every": "week",
    "cumulative": True,
    "automatic": "judge",
    "power": 0.9,
    "count": 4,
}

# What the gateway adds, because it is no rating: labels of second assigners.
ADDED: dict[type[BaseModel], set[str]] = {comparisons.AgreementView: {"labels"}}


def fields_of(message: str) -> set[str]:
    return set(ratings_pb2.DESCRIPTOR.message_types_by_name[message].fields_by_name)


@pytest.mark.parametrize("kind", [*COMPUTED, Leaderboard], ids=lambda kind: kind.__name__)
def test_what_is_computed_travels_whole(kind: type[Any]) -> None:
    message = "GetLeaderboardResponse" if kind is Leaderboard else kind.__name__
    assert {field.name for field in dataclasses.fields(kind)} == fields_of(message)


@pytest.mark.parametrize(("view", "message"), SHOWN.items(), ids=list(SHOWN.values()))
def test_what_travels_is_shown_whole(view: type[BaseModel], message: str) -> None:
    assert set(view.model_fields) - ADDED.get(view, set()) == fields_of(message)


def test_standings_and_their_fragility_arrive_as_they_were_computed() -> None:
    ratings = board_of_counts(CIRCLE, Options(resamples=50, provisional_below=0))
    for standing in ratings.standings:
        assert from_message(to_message(standing, ratings_pb2.Standing), Standing) == standing
    fragility = ratings.fragility
    assert fragility.kinds[0].winner in Vote
    assert from_message(to_message(fragility, ratings_pb2.Fragility), Fragility) == fragility


@pytest.mark.parametrize(("kind", "message"), QUERIES.items(), ids=lambda kind: kind.__name__)
def test_every_parameter_of_a_query_arrives(kind: type[Any], message: type[Any]) -> None:
    lens: Any = ["judge", "human"] if kind is BoardsQuery else "judge"
    given = {name: value for name, value in (GIVEN | {"lens": lens}).items() if name in kind.model_fields}
    assert given.keys() == kind.model_fields.keys()
    query = kind.model_validate(given)
    assert query_of(to_message(query, message), kind) == query
    least = kind(arena="x")
    assert query_of(to_message(least, message), kind) == least
    assert query_of(message(arena="x"), kind) == least


def test_who_says_nothing_of_flagged_battles_includes_them() -> None:
    query = query_of(ratings_pb2.GetPairsRequest(arena="x", lens=ratings_pb2.LENS_JUDGE), PairsQuery)
    assert (query.lens, query.flagged) == (Lens.JUDGE, None)
    assert query.selection().flagged is Flagged.INCLUDE
