"""Reading results: what is wrong is named by file, line and field."""

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import INDEPENDENT
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.results import read_results
from nuggetstream.report.build import write_report
from tests.evaluated import battle, file_of, judgment, nugget


def test_battles_come_back_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = file_of(tmp_path, [battle("second"), battle("first")])
    path.write_text("\n" + path.read_text() + "\n\n")
    results = read_results(path)
    assert [row.id for row in results.battles] == ["second", "first"]
    assert results.received == 2


def test_results_may_be_gzipped_or_start_with_a_byte_order_mark(tmp_path: Path) -> None:
    plain = file_of(tmp_path, [battle("b1")]).read_bytes()
    zipped, marked = tmp_path / "results.jsonl.gz", tmp_path / "marked.jsonl"
    zipped.write_bytes(gzip.compress(plain))
    marked.write_bytes(b"\xef\xbb\xbf" + plain)
    assert [read_results(path).battles[0].id for path in (zipped, marked)] == ["b1", "b1"]


def test_a_line_separator_inside_an_answer_does_not_end_the_line(tmp_path: Path) -> None:
    row = battle("b1")
    row["a"]["text"] = "one\u2028two\x0cthree"
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
    assert read_results(path).battles[0].a.text == "one\u2028two\x0cthree"


@pytest.mark.parametrize("is_zipped", [False, True])
def test_a_file_is_read_in_the_memory_of_its_battles(is_zipped: bool, tmp_path: Path) -> None:
    path = file_of(tmp_path, [battle(f"b{number}") | {"unread": "word " * 20_000} for number in range(40)])
    path.with_name("rejected.jsonl").write_text(
        json.dumps({"line": 1, "problems": ["?" * 100_000]}) + "\n" * 40
    )
    if is_zipped:
        path.write_bytes(gzip.compress(path.read_bytes()))
    tracemalloc.start()
    try:
        results = read_results(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert results.received == 41
    assert peak < 1_500_000  # the file has 4 MB


def test_a_vote_without_reference_is_the_one_dimension(tmp_path: Path) -> None:
    results = read_results(file_of(tmp_path, [battle("b1", human="b", reference={})]))
    assert results.battles[0].preferences == {"vote": Vote.B}
    assert results.dimensions == ("vote",)


def test_each_lens_has_its_vote_and_the_first_judge_speaks_for_all(tmp_path: Path) -> None:
    judged = battle("1", human="tie", scores=(0.1, 0.9), judgments=[judgment("a"), judgment("b")])
    unjudged = battle("2", human=None, judge=None, scores=None)
    first, second = read_results(file_of(tmp_path, [judged, unjudged])).battles
    assert [first.vote(lens) for lens in INDEPENDENT] == [Vote.TIE, Vote.B, Vote.A]
    assert [second.vote(lens) for lens in INDEPENDENT] == [None, None, None]
    assert (first.is_scored, second.is_scored) == (True, False)


def test_battles_are_told_apart_by_arena_in_the_order_of_the_file(tmp_path: Path) -> None:
    rows = [battle("1"), battle("2", arena="other"), battle("3")]
    arenas = read_results(file_of(tmp_path, rows)).by_arena()
    assert {name: [row.id for row in own] for name, own in arenas.items()} == {
        "tides": ["1", "3"],
        "other": ["2"],
    }


def test_the_overall_dimension_comes_first(tmp_path: Path) -> None:
    reference = {"coverage_broad": "a", "quality_overall": "tie", "accuracy": "b"}
    results = read_results(file_of(tmp_path, [battle("b1", reference=reference)]))
    assert results.dimensions == ("quality_overall", "coverage_broad", "accuracy")


def test_lines_rejected_by_the_evaluation_count_as_received(tmp_path: Path) -> None:
    path = file_of(tmp_path, [battle("b1")])
    path.with_name("rejected.jsonl").write_text('{"line": 2}\n{"line": 3}\n')
    assert read_results(path).received == 3


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"human_vote": "gpt-4"}, "human_vote: input should be 'a', 'b', 'tie' or 'both_bad'"),
        ({"reference": {"overall": "c"}}, "reference.overall: "),
        ({"nuggets": [nugget(), nugget(b="maybe")]}, "nuggets.1.b.support: "),
        (
            {"nugget_verdict": battle("x")["nugget_verdict"] | {"margin": float("nan")}},
            "nugget_verdict.margin: ",
        ),
        ({"a": {"system": "", "text": "", "sources": []}}, "a.system: "),
        ({"received_at": "2026-05-04T12:00:00"}, "received_at: "),
        ({"steps": [{"name": "judge", "seconds": float("nan")}]}, "steps.0.seconds: "),
        ({"steps": [{"name": "judge", "seconds": -1}]}, "steps.0.seconds: "),
        ({"cost": {"amount": float("nan"), "currency": "USD"}}, "cost.amount: "),
        ({"nuggets": [nugget() | {"entailment": 1.5}]}, "nuggets.0.entailment: "),
        ({"id": None, "query": 3}, "id: input should be a valid string (and 1 more field)"),
    ],
)
def test_a_wrong_field_is_named_with_file_and_line(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    path = file_of(tmp_path, [battle("b1"), battle("b2") | change])
    with pytest.raises(UnusableFile) as caught:
        read_results(path)
    assert str(caught.value).startswith(f"{path}:2: {said}")


def test_a_missing_field_is_named(tmp_path: Path) -> None:
    row = battle("b1")
    del row["nugget_verdict"]
    with pytest.raises(UnusableFile, match=r":1: nugget_verdict: field required"):
        read_results(file_of(tmp_path, [row]))


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"{", ":1: is not JSON"), (b"[]", ":1: is not a JSON object"), (b"{\xff\xfe", ":1: is not UTF-8")],
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "results.jsonl"
    path.write_bytes(content)
    with pytest.raises(UnusableFile, match=said):
        read_results(path)


def test_battles_that_are_not_evaluated_yet_are_refused_by_field(tmp_path: Path) -> None:
    submitted = {"id": "b1", "query": "q", "a": {"system": "x", "text": ""}, "b": {"system": "y", "text": ""}}
    with pytest.raises(
        UnusableFile, match=r":1: arena: field required \(and 6 more fields\); is this a results.jsonl of"
    ):
        read_results(file_of(tmp_path, [submitted]))


def test_a_table_is_no_file_of_results(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text("system_a,system_b,winner\nx,y,a\n")
    with pytest.raises(UnusableFile, match=r":1: is not JSON"):
        read_results(path)


def test_the_same_battle_twice_is_refused(tmp_path: Path) -> None:
    path = file_of(tmp_path, [battle("b1"), battle("b2"), battle("b1")])
    with pytest.raises(UnusableFile, match=r":3: id: 'b1' is on line 1 already"):
        read_results(path)


def test_a_file_that_is_not_there_and_an_empty_one_say_so(tmp_path: Path) -> None:
    with pytest.raises(UnusableFile, match="No such file"):
        read_results(tmp_path / "nothing.jsonl")
    with pytest.raises(UnusableFile, match="holds no evaluated battle"):
        write_report(file_of(tmp_path, []), tmp_path / "out")
    assert not (tmp_path / "out").exists()
