"""Agreement of predictors with people, and the queries its interval rests on."""

from typing import Any

from nuggetstream.report.numbers.agreement import compute_agreement
from tests.evaluated import battle


def test_one_query_gives_no_interval(read: Any) -> None:
    found = compute_agreement(read(battle("b1", query="q"), battle("b2", query="q")))
    assert found[0].row.agreement.share == 1.0
    assert not any(each.has_interval for each in found)


def test_queries_are_those_of_the_battles_compared(read: Any) -> None:
    rows = [battle("b1"), battle("b2", human="tie"), battle("b3", scores=None), battle("b4", human=None)]
    found = {each.row.predictor: each for each in compute_agreement(read(*rows))}
    assert (found["nugget preference"].queries, found["nugget preference"].row.agreement.compared) == (1, 1)
    assert found["judge"].queries == 2
