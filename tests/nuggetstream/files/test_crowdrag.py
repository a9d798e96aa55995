"""Reading CrowdRAG-25: what is read, what a retry left behind, and broken files."""

import gzip
import json
from pathlib import Path

import pytest

from nuggetstream.crowd.reliability import mean
from nuggetstream.fidelity.crowd import human_against_llm
from nuggetstream.files.crowdrag import (
    DIMENSIONS,
    read_experts,
    read_grades,
    read_questionnaires,
    read_verdicts,
)
from nuggetstream.files.opening import UnusableFile


def write(folder: Path, name: str, *rows: dict[str, object]) -> None:
    with gzip.open(folder / name, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def verdict(first: str, second: str, mode: str, label: str) -> dict[str, object]:
    sides = {"query_id": "q", "response_a": first, "response_b": second, "inference": mode}
    return sides | dict.fromkeys(DIMENSIONS, label)


def test_a_retry_is_not_a_second_opinion(tmp_path: Path) -> None:
    first, swapped = verdict("x", "y", "combined", "a"), verdict("y", "x", "combined", "b")
    again, other = verdict("x", "y", "combined", "n"), verdict("x", "y", "individual", "b")
    write(tmp_path, "llm_ratings.jsonl.gz", first, swapped, again, other, again)
    assert [record.fields for record in read_verdicts(tmp_path)] == [first, swapped, other]


def test_a_missing_column_or_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnusableFile, match="No such file"):
        read_verdicts(tmp_path)
    write(tmp_path, "llm_ratings.jsonl.gz", {"query_id": "q"})
    with pytest.raises(UnusableFile, match=r"llm_ratings\.jsonl\.gz:1: inference: is missing"):
        read_verdicts(tmp_path)


def test_a_broken_grade_is_named(tmp_path: Path) -> None:
    row = {"response": "x"} | dict.fromkeys(DIMENSIONS, 3)
    write(tmp_path, "grades.jsonl.gz", row, row | {"coverage_deep": "good"})
    with pytest.raises(UnusableFile, match=r"grades\.jsonl\.gz:2: .*'good'"):
        read_grades(tmp_path)
    write(tmp_path, "grades.jsonl.gz", {"response": "x"})
    with pytest.raises(UnusableFile, match="correctness_topical: is missing"):
        read_grades(tmp_path)
    (tmp_path / "grades.jsonl.gz").write_bytes(b"plain text")
    with pytest.raises(UnusableFile, match=r"grades\.jsonl\.gz:1: "):
        read_grades(tmp_path)


def test_a_mean_over_dimensions_with_a_missing_one_is_missing() -> None:
    assert mean({"x": 0.5, "y": None}) is None
    assert mean({}) is None


def test_answers_without_a_known_system_are_left_out() -> None:
    systems = {f"{kind}{i}": (f"t{i}", f"{kind}-essay") for kind in ("human", "llm") for i in range(8)}
    published = {name: dict.fromkeys(DIMENSIONS, 5 if name.startswith("llm") else 2) for name in systems}
    published["stranger"] = dict.fromkeys(DIMENSIONS, 6)
    found = human_against_llm(published, systems)
    essay = found["coverage_deep", "essay"]
    assert (essay.topics, essay.mean_difference, essay.p_value) == (8, -3, pytest.approx(2 / 2**8))
    assert essay.significant()
    assert ("coverage_deep", "news") not in found


def test_the_recorded_files_hold_what_is_published(recorded_data: Path) -> None:
    folder = recorded_data / "crowdrag25"
    questionnaires = read_questionnaires(folder)
    assert tuple(questionnaires) == DIMENSIONS
    assert {len(labels) for labels in questionnaires.values()} == {6_920}
    experts = read_experts(folder)
    assert len(experts) == 90
    assert len({(expert.needed("response_a"), expert.needed("response_b")) for expert in experts}) == 30
    verdicts = [
        tuple(map(record.needed, ("inference", "response_a", "response_b")))
        for record in read_verdicts(folder)
    ]
    assert len(set(verdicts)) == 2 * 2 * 377
    assert all((mode, second, first) in verdicts for mode, first, second in verdicts[:50])
