"""Reading CrowdRAG-25: what is read, what is turned, what a retry left behind, and broken files."""

import gzip
import json
from pathlib import Path

import pytest

from nuggetstream.crowd.agreement import (
    crowd_alpha,
    judge_and_gold_alpha,
    judged_alpha,
    mean,
)
from nuggetstream.crowd.labels import human_against_llm, topic_grades
from nuggetstream.domain.battle import Vote
from nuggetstream.files.crowdrag import (
    DIMENSIONS,
    Judged,
    RatedPair,
    facing,
    read_experts,
    read_llm_ratings,
    read_questionnaires,
    read_ratings,
    without_retries,
)
from nuggetstream.files.opening import UnusableFile

A, TIE, B = Vote.A, Vote.TIE, Vote.B


def write(folder: Path, name: str, *rows: dict[str, object]) -> None:
    with gzip.open(folder / name, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def rated_row(**changes: object) -> dict[str, object]:
    row: dict[str, object] = {"query_id": "q", "response_a": "x", "response_b": "y", "worker": ["w1", "w2"]}
    for name in DIMENSIONS:
        row |= {f"{name}_vote": ["A", "n"], f"{name}_spam_probability": [0.1, 0.9], f"{name}_gold": "a"}
    return row | changes


def rated(pair: tuple[str, str], *votes: Vote, gold: Vote = A, topic: str = "q") -> RatedPair:
    everywhere = dict.fromkeys(DIMENSIONS, votes)
    spam = dict.fromkeys(DIMENSIONS, (0.1,) * len(votes))
    return RatedPair(topic, pair, ("w",) * len(votes), everywhere, spam, dict.fromkeys(DIMENSIONS, gold))


def judged(pair: tuple[str, str], label: Vote, by: str = "combined") -> Judged:
    return Judged("q", pair, by, dict.fromkeys(DIMENSIONS, label))


def test_labels_are_read_in_upper_and_lower_case(tmp_path: Path) -> None:
    write(tmp_path, "ratings.jsonl.gz", rated_row())
    (pair,) = read_ratings(tmp_path)
    assert pair.votes["coverage_deep"] == (A, TIE)
    assert pair.gold["quality_overall"] is A


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"coverage_deep_vote": ["A", "C"]}, "'C' is no label"),
        ({"coverage_deep_vote": ["A", None]}, "None is no label"),
        ({"coverage_deep_vote": ["A"]}, "not one vote"),
        ({"worker": None}, "NoneType"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, changes: dict[str, object], problem: str) -> None:
    write(tmp_path, "ratings.jsonl.gz", rated_row(), rated_row(**changes))
    with pytest.raises(UnusableFile, match=rf"ratings.jsonl.gz:2: .*{problem}"):
        read_ratings(tmp_path)


def test_a_missing_column_file_or_compression_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnusableFile, match="No such file"):
        read_ratings(tmp_path)
    write(tmp_path, "ratings.jsonl.gz", {"query_id": "q"})
    with pytest.raises(UnusableFile, match="worker: is missing"):
        read_ratings(tmp_path)
    (tmp_path / "ratings.jsonl.gz").write_bytes(b"plain text")
    with pytest.raises(UnusableFile, match=r"ratings\.jsonl\.gz:1: "):
        read_ratings(tmp_path)


def test_a_dimension_nobody_judged_is_missing_and_not_a_tie(tmp_path: Path) -> None:
    row = {"query_id": "q", "response_a": "x", "response_b": "y", "inference": "combined"}
    write(tmp_path, "llm_ratings.jsonl.gz", row | {"correctness_topical": "a", "coverage_deep": None})
    (verdict,) = read_llm_ratings(tmp_path)
    assert dict(verdict.labels) == {"correctness_topical": A}
    assert verdict.label("coverage_deep") is None


def test_a_retry_is_not_a_second_opinion() -> None:
    first, swapped, again = judged(("x", "y"), A), judged(("y", "x"), B), judged(("x", "y"), TIE)
    other = judged(("x", "y"), B, by="individual")
    assert without_retries([first, swapped, again, other, again]) == {
        ("combined", ("x", "y")): [first, swapped],
        ("individual", ("x", "y")): [other],
    }


def test_the_second_order_is_turned_before_it_is_compared() -> None:
    assert [facing(vote, ("y", "x")) for vote in (A, TIE, B, None)] == [B, TIE, A, None]
    groups = [[judged(("x", "y"), A), judged(("y", "x"), B)], [judged(("x", "z"), B), judged(("z", "x"), A)]]
    assert mean(judged_alpha(groups)) == 1
    assert (mean(judged_alpha(groups, as_shown=True)) or 0) < 0


def test_gold_labels_count_only_for_pairs_the_judge_saw() -> None:
    groups = [[judged(("x", "y"), A), judged(("y", "x"), B)], [judged(("x", "z"), B), judged(("z", "x"), A)]]
    gold = [rated(("y", "x"), gold=B), rated(("x", "z"), gold=B), rated(("v", "w"), gold=A)]
    assert mean(judge_and_gold_alpha(groups, gold)) == 1


def test_a_mean_over_dimensions_with_a_missing_one_is_missing() -> None:
    assert mean({"x": 0.5, "y": None}) is None
    assert mean({}) is None
    assert mean(crowd_alpha([rated(("x", "y"), A, A), rated(("x", "z"), B, B)])) == 1


def test_votes_are_dropped_for_spam_only_when_asked() -> None:
    (name, *_) = DIMENSIONS
    pairs = [rated(("x", "y"), A, A), rated(("x", "z"), B, B)]
    noisy = RatedPair("q", ("x", "v"), ("w",) * 3, dict.fromkeys(DIMENSIONS, (A, A, B)),
                      dict.fromkeys(DIMENSIONS, (0.1, 0.1, 0.71)), dict.fromkeys(DIMENSIONS, A))  # fmt: skip
    assert (crowd_alpha([*pairs, noisy])[name] or 0) < 1
    assert crowd_alpha([*pairs, noisy], corrected=True)[name] == 1


def test_grades_follow_the_gold_labels() -> None:
    pairs = [rated(("x", "y"), gold=A), rated(("y", "z"), gold=A), rated(("z", "x"), gold=B)]
    assert topic_grades(pairs, "coverage_deep")["q"].grade == {"z": 1, "y": 2, "x": 3}


def test_answers_without_a_known_system_are_left_out_and_an_empty_contrast_says_so() -> None:
    systems = {f"{kind}{i}": (f"t{i}", f"{kind}-essay") for kind in ("human", "llm") for i in range(8)}
    published = {name: dict.fromkeys(DIMENSIONS, 5 if name.startswith("llm") else 2) for name in systems}
    published["stranger"] = dict.fromkeys(DIMENSIONS, 6)
    found = human_against_llm(published, systems)
    essay, news = found["coverage_deep", "essay"], found["coverage_deep", "news"]
    assert (essay.topics, essay.mean_difference, essay.p_value) == (8, -3, pytest.approx(2 / 2**8))
    assert essay.significant()
    assert (news.topics, news.p_value, news.significant()) == (0, None, False)


def test_the_recorded_files_hold_what_is_published(recorded_data: Path) -> None:
    folder = recorded_data / "crowdrag25"
    assert len(read_questionnaires(folder)) == 6_920
    experts = read_experts(folder)
    assert len(experts) == 90
    assert len({expert.pair for expert in experts}) == 30
    verdicts = without_retries(read_llm_ratings(folder))
    assert len(verdicts) == 2 * 377
    assert all({first.pair, second.pair[::-1]} == {first.pair} for first, second in verdicts.values())
