"""Retrieval measures against their definitions written out."""

from math import log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggetstream.domain.graded_passage import Relevance
from nuggetstream.rubric.retrieval import evaluate_all

GRADED = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3), min_size=1)


@given(GRADED, st.permutations("abcdefgh"), st.integers(1, 8))
@settings(max_examples=50, deadline=None)
def test_ndcg_and_mrr_in_a_few_lines(labels: dict[str, int], ranking: list[str], k: int) -> None:
    rows = [Relevance("q", document, label) for document, label in labels.items()]
    gains = [labels.get(document, 0) for document in ranking]
    dcg, ideal = (
        sum(gain / log2(place + 2) for place, gain in enumerate(result[:k]))
        for result in (gains, sorted(labels.values(), reverse=True))
    )
    first = next((1 / (place + 1) for place, gain in enumerate(gains[:k]) if gain), 0)
    run = {"run": {"q": ranking}}
    ndcg, mrr = (evaluate_all(run, rows, f"{name}@{k}")["run"].mean for name in ("nDCG", "RR"))
    assert (ndcg, mrr) == pytest.approx((dcg / ideal if ideal else 0, first))
