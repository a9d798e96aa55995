"""Ratings, and what is known about the judges."""

from collections.abc import Mapping
from typing import Any, Unpack

from nuggetstream.client.calls import Call
from nuggetstream.client.options import (
    AdviceOptions,
    AgreementOptions,
    BoardOptions,
    CombinedOptions,
    PairsOptions,
    StyleOptions,
    TimelineOptions,
    params_of,
)
from nuggetstream.client.replies import reader
from nuggetstream.client.requests import T, request
from nuggetstream.views.biases import JudgeBiasView
from nuggetstream.views.canary import CanaryRunView
from nuggetstream.views.comparisons import AdviceView, AgreementView, CombinedView, PairsView
from nuggetstream.views.ratings import BoardView, TimelineView
from nuggetstream.views.style import StyleBoardView


class Ratings:
    """Requests about ratings and judges."""

    @request
    def leaderboard(self, arena: str = "default", **options: Unpack[BoardOptions]) -> Call[list[BoardView]]:
        """The leaderboards of an arena, one per lens.

        Args:
            arena: Whose battles.
            options: How to rate and which battles count, see `BoardOptions`.

        Raises:
            Invalid: An option is wrong, or the anchor is not ranked.
        """
        return _reading(list[BoardView], "/v1/leaderboard", arena, options)

    @request
    def combined(self, arena: str = "default", **options: Unpack[CombinedOptions]) -> Call[CombinedView]:
        """Votes of people and automatic ones in one rating, beside each kind alone."""
        return _reading(CombinedView, "/v1/leaderboard/combined", arena, options)

    @request
    def pairs(self, arena: str = "default", **options: Unpack[PairsOptions]) -> Call[PairsView]:
        """Every pair of systems: battles, wins, ties, and how far apart they are."""
        return _reading(PairsView, "/v1/leaderboard/pairs", arena, options)

    @request
    def advice(self, arena: str = "default", **options: Unpack[AdviceOptions]) -> Call[AdviceView]:
        """Battles still needed to tell neighbours apart, and those that narrow the intervals most."""
        return _reading(AdviceView, "/v1/leaderboard/advice", arena, options)

    @request
    def timeline(self, arena: str = "default", **options: Unpack[TimelineOptions]) -> Call[TimelineView]:
        """Ratings of one lens over time."""
        return _reading(TimelineView, "/v1/leaderboard/timeline", arena, options)

    @request
    def style(self, arena: str = "default", **options: Unpack[StyleOptions]) -> Call[StyleBoardView]:
        """Ratings of one lens with the style of the answers held equal, over the newest battles.

        They are at most ten minutes old; `computed_at` has their time.
        """
        return _reading(StyleBoardView, "/v1/leaderboard/style", arena, options)

    @request
    def agreement(self, arena: str = "default", **options: Unpack[AgreementOptions]) -> Call[AgreementView]:
        """How far the three lenses of an arena agree."""
        return _reading(AgreementView, "/v1/agreement", arena, options)

    @request
    def judge_biases(self, arena: str = "default") -> Call[list[JudgeBiasView]]:
        """What the verdicts of each judge and model depend on beside the answers."""
        return _reading(list[JudgeBiasView], "/v1/biases", arena, {})

    @request
    def canary(self) -> Call[list[CanaryRunView]]:
        """The latest canary battles of every judge and model."""
        return Call(method="GET", path="/v1/canary", read=reader(list[CanaryRunView]))


def _reading(kind: type[T], path: str, arena: str, options: Mapping[str, Any]) -> Call[T]:
    return Call(method="GET", path=path, read=reader(kind), params=params_of({"arena": arena, **options}))
