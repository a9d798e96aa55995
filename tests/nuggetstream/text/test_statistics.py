"""Statistics of answers and nuggets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.text.statistics import (
    NothingToMeasure,
    bleu,
    citation_use,
    jaccard,
    nugget_diversity,
    reading_ease,
    sentence_support,
    words,
)

TEXT = st.lists(
    st.sampled_from(["the", "river", "rose", "fell", "by", "7", "metres"]), min_size=1, max_size=12
)


def test_a_sentence_is_supported_as_well_as_by_its_closest_passage() -> None:
    found = sentence_support(["the river rose"], ["nothing alike", "the river then rose"])
    assert found == pytest.approx([2 * 3 / (3 + 4)])


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
    found = nugget_diversity(["red moon", "red sea sea", "moon red"])
    assert found is not None
    # Pairs: one term of three, and 1 / (√2 √5); the same terms; the first again.
    assert (found.jaccard, found.pairs) == (pytest.approx((1 / 3 + 1 + 1 / 3) / 3), 3)
    assert found.cosine == pytest.approx((2 / 10**0.5 + 1) / 3)


def test_diversity_knows_scripts_without_spaces_and_texts_without_terms() -> None:
    assert (found := nugget_diversity(["地方新闻", "地方新报"])) is not None
    assert (found.jaccard, found.cosine) == pytest.approx((2 / 4, 2 / 3))
    assert (found := nugget_diversity(["☾", "☉"])) is not None
    assert (found.jaccard, found.cosine) == (0.0, 0.0)


def test_one_nugget_has_no_diversity() -> None:
    assert nugget_diversity(["red moon"]) is None


def test_reading_ease_by_hand() -> None:
    # Ten words of one syllable in two sentences.
    text = "The cat sat on the mat. It did not move."
    assert reading_ease(text) == pytest.approx(206.835 - 1.015 * 10 / 2 - 84.6)


@pytest.mark.parametrize(
    ("text", "words_", "sentences", "syllables"),
    [
        ("The cat sat on the mat. It did not move.", 10, 2, 10),
        ("The river carries water. Water carries boats!", 7, 2, 12),
        ("The river rose. The town below it did not", 9, 2, 11),  # the last sentence counts without its stop
        ("The dam held 2.5 metres; none slept...", 6, 1, 7),  # a number is no word, its point no end
    ],
)
def test_reading_ease_is_the_formula_that_textstat_has_too(
    text: str, words_: int, sentences: int, syllables: int
) -> None:
    """Base, weight of words per sentence, weight of syllables per word, as textstat has them for English."""
    base, per_sentence, per_word = 206.835, 1.015, 84.6
    by_hand = base - per_sentence * words_ / sentences - per_word * syllables / words_
    assert reading_ease(text) == pytest.approx(by_hand)


def test_longer_words_and_sentences_read_harder() -> None:
    hard = "Multidimensional characteristics notwithstanding, institutional considerations predominate"
    assert reading_ease(hard) < 0 < reading_ease("The sun is up. We go out.")


def test_a_text_without_words_has_no_reading_ease() -> None:
    with pytest.raises(NothingToMeasure):
        reading_ease("123 ...")


def test_citations_are_counted_in_order_with_reuse_and_place() -> None:
    found = citation_use("One [1]. Two [3, 1]. Three [2-4].")
    assert (found.count, found.order) == (6, (1, 3, 2, 4))
    assert found.reuse == {1: 2, 3: 2, 2: 1, 4: 1}
    assert found.in_order is False
    assert found.positions[0] == pytest.approx(4 / 33)
    assert list(found.positions) == sorted(found.positions)


def test_an_answer_without_citations_has_none_and_no_order() -> None:
    found = citation_use("See [the page](https://example.org) or [1](https://example.org).")
    assert (found.count, found.order, found.in_order) == (0, (), None)
    assert citation_use("One [7].").in_order is None


def test_a_backward_or_endless_range_cites_nothing_between() -> None:
    assert citation_use("[4-2]").count == 0
