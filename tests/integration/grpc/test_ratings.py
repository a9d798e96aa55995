"""Ratings over a real socket: what may be asked, what may not, and that nothing infinite travels."""

import math
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import grpc
import pytest
from arena.v1 import ratings_pb2
from arena.v1.ratings_pb2 import (
    Anchor,
    BoardOptions,
    GetAdviceRequest,
    GetAgreementRequest,
    GetCombinedRequest,
    GetLeaderboardRequest,
    GetPairsRequest,
    Slice,
)
from arena.v1.ratings_pb2_grpc import RatingsStub
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.ratings.ties import TiePolicy
from services.rater.boards import Boards
from services.rater.grpc_service import ratings_service
from services.runtime import rpc
from services.store.battles.battles import Battles
from services.store.database import Database
from services.store.outcomes.outcome import Outcome
from tests.samples import NOON, battle
from tests.stored import WrittenOutcomes

CIRCLE = [("x", "y", Vote.A), ("y", "z", Vote.A), ("z", "x", Vote.A), ("x", "y", Vote.A)]


@pytest.fixture
async def boards(record: Database) -> Boards:
    """Over the record, with the rater's own policy unlike the usual one."""
    return Boards(WrittenOutcomes(record), Battles(record), TiePolicy.DROP_BOTH_BAD)


@pytest.fixture
async def ratings(boards: Boards) -> AsyncIterator[RatingsStub]:
    server = rpc.serve("127.0.0.1:0", [ratings_service(boards)], grace=0)
    async with server as port, rpc.channel(f"127.0.0.1:{port}") as channel:
        yield RatingsStub(channel)


async def happen(record: Database, *fights: tuple[str, str, Vote], lens: Lens = Lens.HUMAN) -> None:
    """Battles received a minute apart, in English and German by turns, each with an outcome."""
    for number, (a, b, winner) in enumerate(fights):
        name, language = f"{a}-{b}-{number}", ("en", "de")[number % 2]
        sent = replace(battle(name), language=language, tags=(f"category:{language}",))
        at = NOON + timedelta(minutes=number)
        await Battles(record).accept(sent, b"", at)
        outcome = Outcome(name, lens.value, lens, "default", a, b, winner, None, at)
        await WrittenOutcomes(record).put(outcome)


async def refusal(call: Awaitable[Any]) -> str:
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await call
    assert raised.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    return raised.value.details() or ""


async def board(ratings: RatingsStub, **asked: Any) -> ratings_pb2.Board:
    request = GetLeaderboardRequest(arena="default", lenses=[ratings_pb2.LENS_HUMAN], **asked)
    (found,) = (await ratings.GetLeaderboard(request)).boards
    return found


async def test_who_asks_for_nothing_gets_the_raters_own_way(record: Database, ratings: RatingsStub) -> None:
    await happen(record, *CIRCLE)
    found = await board(ratings)
    made = found.method
    assert (made.tie_policy, made.bootstrap, made.intervals) == ("drop_both_bad", "", "sandwich")
    assert (made.level, made.resamples, made.unranked_resamples) == (0.95, 0, 0)
    assert not made.HasField("anchor")
    assert not made.HasField("tie_parameter")
    assert (found.state, found.outcomes, found.scored) == ("ranked", 4, 4)
    assert [note.state for note in found.notes] == ["provisional"]
    assert found.note == found.notes[0].text
    assert {standing.interval_state for standing in found.standings} == {"bounded"}


async def test_a_board_is_made_as_asked_and_says_so(record: Database, ratings: RatingsStub) -> None:
    await happen(record, *CIRCLE, ("x", "y", Vote.TIE), ("y", "z", Vote.BOTH_BAD))
    asked = BoardOptions(
        ties="davidson",
        level=0.8,
        resamples=150,
        anchor=Anchor(system="z", rating=1114),
        intervals="bootstrap",
    )
    found = await board(ratings, options=asked)
    made = found.method
    assert (made.tie_policy, made.level, made.resamples) == ("davidson", 0.8, 150)
    assert made.tie_parameter > 0
    assert (made.anchor.system, made.anchor.rating) == ("z", 1114)
    (z,) = (standing for standing in found.standings if standing.system == "z")
    assert (z.rating, z.low, z.high, z.interval_state) == (1114, 1114, 1114, "fixed")


async def test_a_slice_counts_what_is_scored_and_received_in_it(
    record: Database, ratings: RatingsStub
) -> None:
    await happen(record, *CIRCLE)
    await Battles(record).accept(replace(battle("unscored"), language="en"), b"", NOON)
    until = Timestamp()
    until.FromDatetime(NOON + timedelta(minutes=2))
    found = await board(ratings, slice=Slice(language="en", until=until))
    assert (found.scored, found.received, found.outcomes) == (1, 2, 1)
    assert (found.method.slice.language, found.method.slice.until) == ("en", until)
    assert list(found.method.slice.tags) == []


async def test_sandwich_intervals_need_no_resamples(record: Database, ratings: RatingsStub) -> None:
    await happen(record, *CIRCLE)
    found = await board(ratings, options=BoardOptions(intervals="sandwich"))
    assert (found.method.intervals, found.method.bootstrap, found.method.resamples) == ("sandwich", "", 0)
    assert all(s.HasField("low") and not s.HasField("probability_first") for s in found.standings)


def numbers_in(message: Message) -> list[float]:
    """Every number of a message, however deep."""
    found: list[float] = []
    for field, content in message.ListFields():
        for each in content if field.is_repeated else [content]:
            if isinstance(each, Message):
                found += numbers_in(each)
            elif isinstance(each, float):
                found.append(each)
    return found


async def test_an_end_that_is_infinite_is_absent_and_said_to_be(
    record: Database, ratings: RatingsStub
) -> None:
    await happen(record, ("x", "y", Vote.A), ("y", "x", Vote.A), ("x", "y", Vote.A))
    found = await board(ratings, options=BoardOptions(bootstrap="multinomial"))
    assert found.method.unranked_resamples > 5
    for standing in found.standings:
        assert (standing.HasField("low"), standing.HasField("high")) == (False, False)
        assert (standing.HasField("rating"), standing.interval_state) == (True, "unbounded")
    assert "could not be ranked" in found.note
    request = GetPairsRequest(arena="default", options=BoardOptions(bootstrap="multinomial"))
    pairs = await ratings.GetPairs(request)
    assert (pairs.pairs[0].interval_state, pairs.pairs[0].HasField("gap_low")) == ("unbounded", False)
    assert all(math.isfinite(number) for number in numbers_in(found) + numbers_in(pairs))


async def test_pairs_advice_and_agreement_say_what_they_rest_on(
    record: Database, ratings: RatingsStub
) -> None:
    await happen(record, *CIRCLE)
    await happen(record, *CIRCLE, lens=Lens.JUDGE)
    pairs = await ratings.GetPairs(GetPairsRequest(arena="default"))
    assert (pairs.lens, pairs.scored, pairs.received, len(pairs.pairs)) == (ratings_pb2.LENS_HUMAN, 4, 4, 3)
    advice = await ratings.GetAdvice(GetAdviceRequest(arena="default", lens=ratings_pb2.LENS_JUDGE, count=2))
    assert (advice.power, len(advice.neighbours), len(advice.next), advice.scored) == (0.8, 2, 2, 4)
    assert (advice.method.intervals, advice.method.tie_policy) == ("sandwich", "drop_both_bad")
    agreement = await ratings.GetAgreement(GetAgreementRequest(arena="default"))
    first, both, last = agreement.pairs
    assert (both.first, both.second) == (ratings_pb2.LENS_HUMAN, ratings_pb2.LENS_JUDGE)
    assert (both.battles, both.agreed, both.inverted, both.tau_b) == (4, 4, 0, pytest.approx(1))
    for nothing in (first, last):
        assert (nothing.battles, nothing.HasField("kappa"), nothing.HasField("tau_b")) == (0, False, False)
        assert nothing.kappa_note
        assert nothing.order_note


async def test_a_combined_rating_without_automatic_votes_says_so(
    record: Database, ratings: RatingsStub
) -> None:
    await happen(record, *CIRCLE)
    found = await ratings.GetCombined(GetCombinedRequest(arena="default"))
    assert (found.automatic_lens, found.state) == (ratings_pb2.LENS_NUGGET, "empty")
    assert (found.human_votes_unused, found.received, found.HasField("tuning")) == (4, 4, False)


def stamp(seconds: int) -> Timestamp:
    return Timestamp(seconds=seconds)


LENSES = "Input should be 'human', 'nugget', 'judge', 'guided', 'member' or 'grounded'"
Ask = Callable[[RatingsStub], Awaitable[Any]]
OPTIONS: list[tuple[BoardOptions, str]] = [
    (
        BoardOptions(ties="third"),
        "ties: Input should be 'half', 'drop_both_bad', 'drop', 'davidson' or 'rao_kupper'",
    ),
    (BoardOptions(bootstrap="jackknife"), "bootstrap: Input should be 'bayesian' or 'multinomial'"),
    (BoardOptions(intervals="wide"), "intervals: Input should be 'bootstrap' or 'sandwich'"),
    (
        BoardOptions(ties="davidson", intervals="sandwich"),
        "intervals: sandwich is for ties counted half or dropped, not for davidson",
    ),
    (
        BoardOptions(bootstrap="multinomial", intervals="sandwich"),
        "bootstrap: sandwich intervals draw no resamples; choose one of the two",
    ),
    (
        BoardOptions(resamples=500, intervals="sandwich"),
        "resamples: sandwich intervals draw no resamples; choose one of the two",
    ),
    (BoardOptions(level=1), "level: Input should be less than or equal to 0.999"),
    (BoardOptions(level=math.nan), "level: Input should be less than or equal to 0.999"),
    (BoardOptions(resamples=99), "resamples: Input should be greater than or equal to 100"),
    (BoardOptions(resamples=10_001), "resamples: Input should be less than or equal to 10000"),
    (BoardOptions(anchor=Anchor(rating=1)), "anchor: should be a system and its rating, such as NAME:1000"),
    (
        BoardOptions(anchor=Anchor(system="x", rating=math.inf)),
        "anchor: should be a system and its rating, such as NAME:1000",
    ),
    (
        BoardOptions(anchor=Anchor(system="ghost", rating=1)),
        "anchor: on the human board 'ghost' has no battle here; the ranked systems are x, y, z",
    ),
    (
        BoardOptions(anchor=Anchor(system="champion", rating=1)),
        "anchor: on the human board 'champion' is not ranked: never lost or tied: only a lower bound exists; "
        "the ranked systems are x, y, z",
    ),
]
SLICES = [
    (Slice(tags=["x"] * 11), "tags: List should have at most 10 items after validation, not 11"),
    (Slice(language="e\x00n"), "language: contains a NUL character"),
    (Slice(since=stamp(60), until=stamp(60)), "until: is not after since"),
    (Slice(since=stamp(-1)), "since: is out of range"),
    (
        Slice(until=stamp(10**15)),
        "until: should be a day such as 2026-05-04, or a moment such as 2026-05-04T12:00:00Z",
    ),
]
OTHERS: list[tuple[Ask, str]] = [
    (lambda r: r.GetPairs(GetPairsRequest(arena="x", lens=9)), f"lens: {LENSES}"),  # type: ignore[arg-type]
    (lambda r: r.GetPairs(GetPairsRequest()), "arena: String should have at least 1 character"),
    (lambda r: r.GetPairs(GetPairsRequest(arena="\x00")), "arena: contains a NUL character"),
    (
        lambda r: r.GetCombined(GetCombinedRequest(arena="x", automatic=ratings_pb2.LENS_HUMAN)),
        "automatic: Input should be 'nugget' or 'judge'",
    ),
    (
        lambda r: r.GetCombined(GetCombinedRequest(arena="x", level=0.1)),
        "level: Input should be greater than or equal to 0.5",
    ),
    (
        lambda r: r.GetAdvice(GetAdviceRequest(arena="x", ties="davidson")),
        "ties: Input should be 'half', 'drop' or 'drop_both_bad'",
    ),
    (
        lambda r: r.GetAdvice(GetAdviceRequest(arena="x", power=1)),
        "power: Input should be less than or equal to 0.99",
    ),
    (
        lambda r: r.GetAdvice(GetAdviceRequest(arena="x", count=0)),
        "count: Input should be greater than or equal to 1",
    ),
    (
        lambda r: r.GetAgreement(GetAgreementRequest(arena="x", ties="none")),
        "ties: Input should be 'half', 'drop_both_bad', 'drop', 'davidson' or 'rao_kupper'",
    ),
]


async def test_a_wrong_option_is_refused_by_its_name(record: Database, ratings: RatingsStub) -> None:
    await happen(record, *CIRCLE, ("champion", "x", Vote.A))
    for options, problem in OPTIONS:
        request = GetLeaderboardRequest(arena="default", options=options)
        assert await refusal(ratings.GetLeaderboard(request)) == problem


async def test_a_wrong_slice_is_refused_by_its_field(ratings: RatingsStub) -> None:
    for among, problem in SLICES:
        assert await refusal(ratings.GetLeaderboard(GetLeaderboardRequest(arena="x", slice=among))) == problem


async def test_what_cannot_be_asked_of_the_others_is_refused_as_well(ratings: RatingsStub) -> None:
    for ask, problem in OTHERS:
        assert await refusal(ask(ratings)) == problem


async def test_what_was_computed_is_kept_while_counts_and_options_are_the_same(
    record: Database, ratings: RatingsStub, boards: Boards
) -> None:
    await happen(record, *CIRCLE)
    for _ in range(2):
        await board(ratings)
    assert len(boards.memory) == 1
    await board(ratings, options=BoardOptions(level=0.9))
    assert len(boards.memory) == 2
    await happen(record, ("x", "y", Vote.B))
    await board(ratings)
    assert len(boards.memory) == 3


async def test_every_judge_has_a_board_and_two_judges_are_compared(
    record: Database, ratings: RatingsStub
) -> None:
    outcomes = WrittenOutcomes(record)
    for judge, reverse in (("same", False), ("contrary", True)):
        for number, (a, b, winner) in enumerate(CIRCLE):
            said = Vote.B if reverse else winner
            name = f"{a}-{b}-{number}"
            source = f"judge:{judge}"
            await outcomes.put(Outcome(name, source, Lens.JUDGE, "default", a, b, said, None, NOON))
    await happen(record, *CIRCLE)

    def asked(**slices: str) -> GetLeaderboardRequest:
        return GetLeaderboardRequest(arena="default", slice=Slice(**slices))

    human, _, judge = (await ratings.GetLeaderboard(asked(evaluator="contrary"))).boards
    assert (human.outcomes, judge.outcomes, judge.scored, judge.received) == (4, 4, 4, 4)
    assert (list(judge.evaluators), list(human.evaluators)) == (["contrary", "same"], [])
    assert {s.system: s.wins for s in judge.standings} == {"x": 1, "y": 2, "z": 1}
    english = (await ratings.GetLeaderboard(asked(evaluator="contrary", language="en"))).boards[2]
    assert (english.outcomes, english.scored) == (2, 2)
    unknown = (await ratings.GetLeaderboard(asked(evaluator="nobody"))).boards[2]
    assert (unknown.outcomes, unknown.state) == (0, "empty")
    together = (await ratings.GetLeaderboard(asked())).boards[2]
    assert (together.outcomes, together.scored) == (4, 4)
    assert {standing.wins for standing in together.standings} == {0}  # the two judges never agree
    assert [note.state for note in together.notes if note.text in together.note][-1] == "several_judges"

    *lenses, judges = (await ratings.GetAgreement(GetAgreementRequest(arena="default"))).pairs
    assert len(lenses) == 3
    assert (judges.first_evaluator, judges.second_evaluator) == ("contrary", "same")
    assert (judges.battles, judges.inverted) == (4, 4)
    of_one = GetAgreementRequest(arena="default", slice=Slice(evaluator="same"))
    pairs = (await ratings.GetAgreement(of_one)).pairs
    assert [(pair.battles, pair.agreed) for pair in pairs] == [(0, 0), (4, 4), (0, 0)]
