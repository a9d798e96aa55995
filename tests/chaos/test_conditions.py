"""Each end condition fails for the outcome that it is there to find."""

from dataclasses import replace
from itertools import accumulate

import pytest

from nuggetstream.domain.progress import BattleState
from tests.chaos.conditions import CALLS_IN_FLIGHT, Call, Kill, Seen, paid_again, problems
from tests.chaos.driver import SCALES
from tests.chaos.strikes import Amount, Kind, plan
from tests.chaos.test_chaos import SEED

BOARDS = [{"lens": "human", "scored": 2, "standings": [{"system": "atlas", "rating": 1010.0}]}]
GOOD = Seen(
    receipts=["one", "two"],
    states={"one": BattleState.SCORED, "two": BattleState.FAILED},
    calls=[Call("judge-1", "p", 1.0), Call("judge-2", "q", 1.5)],
    kills=[],
    boards=BOARDS,
    wrong_counters={"pair_counters": 0},
)


def test_a_run_in_which_everything_ended_has_no_problem() -> None:
    assert problems(GOOD, BOARDS) == []


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (replace(GOOD, states={"one": BattleState.SCORED}), "two is lost"),
        (replace(GOOD, receipts=["one"]), "two is stored, and nobody has a receipt"),
        (replace(GOOD, states=GOOD.states | {"two": BattleState.RUNNING}), "two has not ended"),
        (replace(GOOD, calls=[*GOOD.calls, Call("judge-1", "p", 9.0)]), "prompt p was paid for again"),
        (replace(GOOD, boards=[]), "board human: lens is None"),
        (
            replace(GOOD, boards=[BOARDS[0] | {"standings": [{"system": "atlas", "rating": 1010.1}]}]),
            "board human: standings",
        ),
        (replace(GOOD, held=0), "no battle waited when the model came back"),
        (replace(GOOD, held=1, given_up=["two"]), "two failed because the model was away"),
        (replace(GOOD, missed=["stop of PostgreSQL: PostgreSQL"]), "PostgreSQL had no effect"),
        (replace(GOOD, wrong_counters={"pair_counters": 3}), "3 counters of pair_counters are wrong"),
    ],
)
def test_each_bad_outcome_is_one_problem(bad: Seen, problem: str) -> None:
    (found,) = problems(bad, BOARDS)
    assert problem in found


def test_a_kill_excuses_the_call_that_it_cut_off_and_no_other() -> None:
    first, second = Call("judge-1", "p", 1.0), Call("judge-2", "p", 9.0)
    assert paid_again([first, second], [Kill("judge-1", 2.0)]) == []
    for kill in (Kill("judge-2", 2.0), Kill("judge-1", -0.5), Kill("judge-1", 9.5)):
        assert len(paid_again([first, second], [kill])) == 1


def test_a_kill_does_not_excuse_a_call_whose_reply_must_have_been_stored_long_before() -> None:
    first, second = Call("judge-1", "p", 1.0), Call("judge-1", "p", 9.0)
    since = [Call("judge-1", f"other {n}", 1.5) for n in range(CALLS_IN_FLIGHT)]
    assert paid_again([first, *since[1:], second], [Kill("judge-1", 2.0)]) == []
    assert len(paid_again([first, *since, second], [Kill("judge-1", 2.0)])) == 1


def test_one_kill_excuses_one_repetition() -> None:
    calls = [Call("judge-1", "p", at) for at in (1.0, 4.0, 7.0)]
    assert len(paid_again(calls, [Kill("judge-1", 2.0)])) == 1


def test_a_seed_decides_everything_that_goes_wrong() -> None:
    amount = Amount(
        kills=4,
        brokers=1,
        databases=1,
        disks=1,
        model_seconds=(5.0,),
        pause=2.0,
        storages=1,
        stops=(3.0,),
    )
    services = ["judge-1", "rater-1", "recorder-1"]
    strikes = plan(3, amount, services, ["broker-1"])
    assert strikes == plan(3, amount, services, ["broker-1"])
    assert strikes != plan(4, amount, services, ["broker-1"])
    killed = [strike.target for strike in strikes if strike.kind is Kind.KILL]
    assert set(killed) == set(services)
    assert len(killed) == 4
    assert {strike.kind for strike in strikes} == set(Kind)


def test_most_strikes_of_the_tests_meet_battles_that_wait_for_the_model() -> None:
    amount = SCALES["small"].amount
    model, *others = plan(SEED, amount, ["judge-1", "rater-1", "recorder-1", "nuggetizer-1"], ["broker-1"])
    assert (model.kind, model.seconds) == (Kind.MODEL, amount.model_seconds[0])
    begins = list(accumulate((strike.pause for strike in others), initial=model.pause))[:-1]
    assert len([at for at in begins if at < model.seconds]) > len(others) / 2
    assert any(at > model.seconds for at in begins)
    # One broker alone would take the streams along with its storage.
    assert {strike.kind for strike in others} == set(Kind) - {Kind.MODEL, Kind.STORAGE}
