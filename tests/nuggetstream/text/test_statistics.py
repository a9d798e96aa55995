"""Statistics of answers and nuggets."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from nuggetstream.text.errors import NothingToMeasure
from nuggetstream.text.statistics import (
    bleu,
    jaccard,
    nugget_diversity,
    sentence_support,
    words,
)

TEXT = st.lists(
    st.sampled_from(["the", "river", "rose", "fell", "by", "7", "metres"]), min_size=1, max_size=12
)


def test_a_sentence_is_supported_as_well_as_by_its_closest_passage() -> None:
    measured = sentence_support(["the river rose"], ["nothing alike", "the river then rose"])
    assert measured == pytest.approx([2 * 3 / (3 + 4)])


def test_without_evidence_or_words_support_is_unknown_and_not_0() -> None:
    assert sentence_support(["the river rose", "..."], []) == [None, None]
    assert sentence_support(["..."], ["the river"]) == [None]
    assert sentence_support(["the river"], ["a dam"]) == [0.0]


def test_support_reads_every_script() -> None:
    assert sentence_support(["река поднялась"], ["Река поднялась на семь метров"]) == pytest.approx([4 / 7])
    assert sentence_support(["川の水"], ["山の水"]) == pytest.approx([2 / 3])
    assert jaccard("川の水", "山の水") == 2 / 4


@given(TEXT, TEXT)
def test_rouge_score_agrees_on_english(one: list[str], other: list[str]) -> None:
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(["rougeL"])
    theirs = scorer.score(" ".join(other), " ".join(one))["rougeL"].fmeasure
    assert sentence_support([" ".join(one)], [" ".join(other)]) == pytest.approx([theirs])


def test_bleu_is_that_of_sacrebleu() -> None:
    rng = random.Random(13)
    marked = ["moon,", "2.5", "water-level.", "U.S.", "-3", "x—y", "don't", "10%", "(a)", "&amp;"]
    vocabulary = ["the", "pulls", "café", "中文", "wide", *marked]
    for _ in range(100):
        candidate, *references = (
            " ".join(rng.choices(vocabulary, k=rng.randint(1, 30))) for _ in range(rng.randint(2, 6))
        )
        streams = [[reference] for reference in references]
        published = BLEU(effective_order=True).corpus_score([candidate], streams).score
        assert bleu(candidate, references) == pytest.approx(published, abs=1e-9)


def test_bleu_of_the_reference_itself_is_100() -> None:
    assert bleu("the river rose by seven metres", ["the river rose by seven metres"]) == pytest.approx(100)
    assert bleu("the river rose by ten metres", ["the river rose by seven metres"]) < 60


@pytest.mark.parametrize(("candidate", "references"), [("", ["a b"]), ("a b", []), ("a b", [""])])
def test_bleu_of_nothing_is_an_error(candidate: str, references: list[str]) -> None:
    with pytest.raises(NothingToMeasure):
        bleu(candidate, references)


@given(TEXT, TEXT)
def test_jaccard_is_symmetric_and_1_for_the_same_words(one: list[str], other: list[str]) -> None:
    a, b = " ".join(one), " ".join(other)
    assert jaccard(a, b) == jaccard(b, a)
    assert jaccard(a, " ".join(reversed(one))) == 1
    assert (jaccard(a, b) == 0) == (not set(words(a)) & set(words(b)))


def test_vectors_and_texts_without_content_have_no_similarity() -> None:
    with pytest.raises(NothingToMeasure):
        jaccard("...", "!")


def test_diversity_is_the_mean_over_all_pairs() -> None:
    measured = nugget_diversity(["red moon", "red sea sea", "moon red"])
    assert measured is not None
    # Pairs: one term of three, and 1 / (√2 √5); the same terms; the first again.
    assert (measured.jaccard, measured.pairs) == (pytest.approx((1 / 3 + 1 + 1 / 3) / 3), 3)
    assert measured.cosine == pytest.approx((2 / 10**0.5 + 1) / 3)


def test_diversity_knows_scripts_without_spaces_and_texts_without_terms() -> None:
    assert (measured := nugget_diversity(["地方新闻", "地方新报"])) is not None
    assert (measured.jaccard, measured.cosine) == pytest.approx((2 / 4, 2 / 3))
    assert (measured := nugget_diversity(["☾", "☉"])) is not None
    assert (measured.jaccard, measured.cosine) == (0.0, 0.0)


def test_one_nugget_has_no_diversity() -> None:
    assert nugget_diversity(["red moon"]) is None
