"""What the rater computes, what travels and what is shown have the same fields."""

import dataclasses
import typing

import pytest
from arena.v1 import ratings_pb2
from pydantic import BaseModel

from nuggetstream.ratings.advice import NextBattle, Separation
from nuggetstream.ratings.estimate_state import EstimateState
from nuggetstream.ratings.interval import IntervalState
from nuggetstream.ratings.lens_agreement import LensAgreement
from nuggetstream.ratings.options import Anchor
from nuggetstream.ratings.standing import BoardState
from nuggetstream.views import comparisons
from nuggetstream.views import ratings as views
from services.rater.options import Method
from services.store.slices import Slice

COMPUTED: list[type[typing.Any]] = [Anchor, LensAgreement, Method, NextBattle, Slice]
SHOWN: dict[type[BaseModel], str] = {
    comparisons.AdviceView: "GetAdviceResponse",
    comparisons.AgreementView: "GetAgreementResponse",
    views.AnchorView: "Anchor",
    views.BoardView: "Board",
    comparisons.CombinedStandingView: "CombinedStanding",
    comparisons.CombinedView: "GetCombinedResponse",
    views.DroppedVotesView: "DroppedVotes",
    comparisons.EstimateView: "Estimate",
    views.FragilityView: "Fragility",
    comparisons.LensAgreementView: "LensAgreement",
    views.MethodView: "Method",
    comparisons.NeighboursView: "Neighbours",
    comparisons.NextBattleView: "NextBattle",
    views.NoteView: "Note",
    comparisons.PairingView: "Pairing",
    comparisons.PairsView: "GetPairsResponse",
    views.PeriodView: "Period",
    comparisons.RatingView: "Rating",
    views.SliceView: "Slice",
    views.StandingView: "Standing",
    views.TimelineView: "GetTimelineResponse",
    comparisons.UnrankedView: "Unranked",
}

# What the gateway adds, because it is no rating: labels of second assigners.
ADDED: dict[type[BaseModel], set[str]] = {comparisons.AgreementView: {"labels"}}


def fields_of(message: str) -> set[str]:
    return set(ratings_pb2.DESCRIPTOR.message_types_by_name[message].fields_by_name)


@pytest.mark.parametrize("kind", COMPUTED, ids=lambda kind: kind.__name__)
def test_what_is_computed_travels_whole(kind: type[typing.Any]) -> None:
    assert {field.name for field in dataclasses.fields(kind)} == fields_of(kind.__name__)


@pytest.mark.parametrize(("view", "message"), SHOWN.items(), ids=list(SHOWN.values()))
def test_what_travels_is_shown_whole(view: type[BaseModel], message: str) -> None:
    assert set(view.model_fields) - ADDED.get(view, set()) == fields_of(message)


@pytest.mark.parametrize(
    ("computed", "shown"),
    [
        (BoardState, views.BoardState),
        (IntervalState, views.IntervalState),
        (EstimateState, comparisons.EstimateState),
        (Separation, comparisons.Separation),
    ],
)
def test_every_state_has_a_word_for_it(computed: type[typing.Any], shown: object) -> None:
    assert {state.value for state in computed} == set(typing.get_args(shown))
