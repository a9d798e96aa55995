"""How well grounding tells what a source states, on labelled claims in five languages."""

from collections import Counter

import pytest

from tests.stated_facts import CLAIMS, CONTRADICTS, STATES, found, right

# Shares that are reached in each half; paraphrases in other words are not found without a model.
FLOORS = {
    "true": 0.9,
    "other number": 0.9,
    "other name": 1.0,
    "negated": 0.8,
    "part of a date": 0.9,
    "paraphrase": 0.6,
    "related": 0.9,
}


def test_there_are_at_least_two_hundred_claims_in_five_languages_and_every_kind() -> None:
    counts = Counter((claim.language, claim.kind) for claim in CLAIMS)
    assert len(CLAIMS) >= 200
    assert len({language for language, _ in counts}) == 5
    assert len(counts) == 5 * len(FLOORS)


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("named", [True, False])
def test_claims_are_told_apart_as_people_do(before: bool, named: bool) -> None:
    half = [claim for claim in CLAIMS if claim.before is before]
    total, well = Counter(claim.kind for claim in half), right(half, named=named)
    assert {kind for kind, floor in FLOORS.items() if well[kind] < floor * total[kind]} == set()
    assert well.total() >= 0.89 * len(half)


@pytest.mark.parametrize("named", [True, False])
def test_nothing_is_called_stated_or_contradicted_that_is_not(named: bool) -> None:
    said = [(claim, found(claim, named=named)) for claim in CLAIMS]
    for label in (STATES, CONTRADICTS):
        assert [str(claim) for claim, shown in said if shown == label != claim.label] == []
