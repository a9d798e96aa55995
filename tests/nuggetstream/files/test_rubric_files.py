"""Rubric and TREC files: what is read is what is there, and anything else is refused."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from nuggetstream.domain.question_bank import BankKind
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.qrels import RunLine, qrels_text, read_qrels, read_run
from nuggetstream.files.rubric import BankItem, QueryBank, read_bank, read_graded, read_query_banks
from nuggetstream.rubric.cover import Unanswerable, cover_at
from nuggetstream.rubric.relevance import relevance_labels
from nuggetstream.rubric.self_rating import self_rating


def write(folder: Path, text: str) -> Path:
    path = folder / "file"
    path.write_text(text, encoding="utf-8")
    return path


def a_passage(**changes: Any) -> dict[str, Any]:
    grades = {
        "self_ratings": [{"question_id": "q/1", "self_rating": 4}],
        "answers": [["q/1", "4"]],
        "prompt_info": {"prompt_class": "mine"},
    }
    data = {"judgments": [{"relevance": 2}], "rankings": [{"method": "run", "rank": 0}]}
    base = {"paragraph_id": "p", "text": "t", "paragraph_data": data, "exam_grades": [grades]}
    return base | changes


def graded_file(folder: Path, *passages: dict[str, Any]) -> Path:
    return write(folder, json.dumps(["q", list(passages)]) + "\n")


def test_a_graded_passage_is_read_in_full(tmp_path: Path) -> None:
    [one] = read_graded(graded_file(tmp_path, a_passage()))
    assert (one.query, one.passage, one.text, one.judgment) == (
        "q",
        "p",
        "t",
        2,
    )
    assert (one.grades, one.ranks, one.replies) == (
        {"q/1": 4},
        {"run": 0},
        {"q/1": "4"},
    )


def test_nuggets_are_items_as_well(tmp_path: Path) -> None:
    grades = {"self_ratings": [{"nugget_id": "q/n", "question_id": None, "self_rating": 1}]}
    [one] = read_graded(graded_file(tmp_path, a_passage(exam_grades=[grades])))
    assert one.grades == {"q/n": 1}


def test_a_passage_nobody_judged_has_no_judgment(tmp_path: Path) -> None:
    [one] = read_graded(graded_file(tmp_path, a_passage(paragraph_data={})))
    assert one.judgment is None


def test_two_sets_of_grades_have_to_be_told_apart(tmp_path: Path) -> None:
    [one] = a_passage()["exam_grades"]
    other = {"self_ratings": [], "prompt_info": {"prompt_class": "other"}}
    path = graded_file(tmp_path, a_passage(exam_grades=[one, other]))
    with pytest.raises(UnusableFile, match="2 sets of grades where one is due: mine, other; see --prompt"):
        read_graded(path)
    assert read_graded(path, "mine")[0].grades == {"q/1": 4}
    with pytest.raises(UnusableFile, match="no passage has grades of 'third'; classes there: mine, other"):
        read_graded(path, "third")


def test_a_passage_that_was_not_graded_is_there_without_grades(tmp_path: Path) -> None:
    ungraded = a_passage(paragraph_id="later", exam_grades=None, grades=None)
    graded, later = read_graded(graded_file(tmp_path, a_passage(), ungraded), "mine")
    assert (graded.grades, later.grades, later.best) == ({"q/1": 4}, {}, None)


def direct(**changes: Any) -> dict[str, Any]:
    """One set of grades as direct grading records it."""
    base = {
        "correctAnswered": True,
        "answer": "2",
        "llm_response_error": None,
        "llm": "google/flan-t5-large",
        "llm_options": {},
        "prompt_info": {
            "prompt_class": "Thomas",
            "prompt_style": "Is the passage relevant?",
            "is_self_rated": True,
        },
        "self_ratings": 2,
        "prompt_type": "direct_grading",
        "relevance_label": 2,
    }
    return base | changes


def directly_graded(name: str = "p", *sets: dict[str, Any]) -> dict[str, Any]:
    return a_passage(paragraph_id=name, exam_grades=None, grades=list(sets))


def test_a_file_of_direct_grading_has_one_item_per_passage(tmp_path: Path) -> None:
    passages = [
        directly_graded("rated", direct()),
        directly_graded("yes", direct(self_ratings=None, answer="Yes")),
        directly_graded("no", direct(self_ratings=None, correctAnswered=False, answer="No")),
        directly_graded("unusable", direct(llm_response_error="no JSON", answer="", correctAnswered=False)),
    ]
    result = read_graded(graded_file(tmp_path, *passages))
    assert [passage.grades for passage in result] == [{"direct": 2}, {"direct": 1}, {"direct": 0}, {}]
    assert [passage.replies.get("direct") for passage in result] == ["2", "Yes", "No", ""]
    assert [row.label for row in relevance_labels(result)] == [2, 1, 0]
    assert cover_at(result, 5, 2)["run"].cover == 1.0


def test_direct_grades_and_exam_grades_of_one_passage_are_told_apart_by_prompt_class(tmp_path: Path) -> None:
    both = a_passage(grades=[direct(), direct(prompt_info={"prompt_class": "FagB"}, self_ratings=None)])
    path = graded_file(tmp_path, both)
    with pytest.raises(UnusableFile, match="3 sets of grades where one is due: mine, Thomas, FagB"):
        read_graded(path)
    assert [read_graded(path, name)[0].grades for name in ("mine", "Thomas", "FagB")] == [
        {"q/1": 4}, {"direct": 2}, {"direct": 1},
    ]  # fmt: skip


def test_an_exam_without_self_ratings_says_what_was_answered(tmp_path: Path) -> None:
    exam = {
        "correctAnswered": ["q/1"],
        "wrongAnswered": ["q/2"],
        "answers": [["q/1", "b"]],
        "self_ratings": None,
    }
    [one] = read_graded(graded_file(tmp_path, a_passage(exam_grades=[exam])))
    assert one.grades == {"q/1": 1, "q/2": 0}


@pytest.mark.parametrize("text", ["nonsense", '{"a": 1}', '["q", [{}]]', '["q", 3]', "[1]"])
def test_a_line_of_another_shape_is_refused_with_its_number(tmp_path: Path, text: str) -> None:
    with pytest.raises(UnusableFile, match=":2:"):
        read_graded(write(tmp_path, "\n" + text))


@pytest.mark.parametrize(
    ("grade", "problem"),
    [
        (7, "self_rating: is 7 for passage 'p'; expected 0 to 5"),
        (-1, "self_rating: is -1 for passage 'p'; expected 0 to 5"),
        (3.7, "self_rating: is 3.7 for passage 'p'; expected a whole number"),
        (float("nan"), "self_rating: is nan for passage 'p'; expected a whole number"),
        (float("inf"), "self_rating: is inf for passage 'p'; expected a whole number"),
        (None, "self_rating: is None for passage 'p'"),
        (True, "self_rating: is True for passage 'p'"),
        ("good", "self_rating: is 'good' for passage 'p'"),
    ],
)
def test_a_grade_that_is_none_is_refused_with_line_and_field(
    tmp_path: Path, grade: object, problem: str
) -> None:
    sets = [{"self_ratings": [{"question_id": "q/1", "self_rating": grade}]}]
    with pytest.raises(UnusableFile) as refused:
        read_graded(graded_file(tmp_path, a_passage(exam_grades=sets)))
    assert f"file:1: {problem}" in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"paragraph_data": {"rankings": [{"method": "r", "rank": -1}]}}, "rank: is -1"),
        ({"paragraph_data": {"rankings": [{"method": "r"}]}}, "rank: is missing"),
        (
            {"paragraph_data": {"rankings": [{"method": "r", "rank": 1}] * 2}},
            "rankings: passage 'p' has 'r' twice",
        ),
        ({"paragraph_data": {"judgments": [{"relevance": "high"}]}}, "relevance: is 'high'"),
        ({"exam_grades": [{}]}, "self_ratings: is missing"),
        ({"exam_grades": "good"}, "exam_grades: passage 'p' has no list of sets of grades"),
        ({"grades": [3]}, "grades: passage 'p' has no list of sets of grades"),
        ({"exam_grades": None, "grades": [{}]}, "correctAnswered: is missing"),
        (
            {"exam_grades": None, "grades": [{"correctAnswered": "yes"}]},
            "correctAnswered: is 'yes' for passage",
        ),
        (
            {"exam_grades": None, "grades": [{"self_ratings": 9}]},
            "self_ratings: is 9 for passage 'p'; expected 0",
        ),
        (
            {"exam_grades": [{"self_ratings": [], "answers": "abc"}]},
            "answers: passage 'p' has something else",
        ),
        ({"exam_grades": [{"self_ratings": [{"self_rating": 1}]}]}, "self_ratings: a grade names neither"),
        (
            {"exam_grades": [{"self_ratings": [{"nugget_id": "n", "self_rating": 1}] * 2}]},
            "self_ratings: passage 'p' has 'n' twice",
        ),
    ],
)
def test_what_is_wrong_in_a_passage_is_named(tmp_path: Path, changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(UnusableFile) as refused:
        read_graded(graded_file(tmp_path, a_passage(**changes)))
    assert f"file:1: {problem}" in str(refused.value)


def test_a_text_and_a_reply_that_are_null_are_missing(tmp_path: Path) -> None:
    sets = [{"self_ratings": [{"question_id": "x", "self_rating": 1}], "answers": [["x", None]]}]
    [one] = read_graded(graded_file(tmp_path, a_passage(text=None, exam_grades=sets)))
    assert (one.text, one.replies) == (None, {})


def test_a_passage_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    line = json.dumps(["q", [a_passage()]])
    with pytest.raises(UnusableFile, match=":2: paragraph_id: 'p' is there twice for query 'q'"):
        read_graded(write(tmp_path, f"{line}\n{line}\n"))


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "damaged.gz"
    content = bytearray(gzip.compress(b'["q", []]' * 100))
    content[12:20] = b"\xff" * 8
    path.write_bytes(content)
    for read in (read_graded, read_qrels, read_run):
        with pytest.raises(UnusableFile, match="damaged"):
            read(path)


def test_labels_and_runs_may_be_gzipped(tmp_path: Path) -> None:
    path = tmp_path / "labels.gz"
    path.write_bytes(gzip.compress(b"q 0 d 1\n"))
    assert [row.label for row in read_qrels(path)] == [1]


def test_a_cut_or_missing_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(b'["q", []]' * 100)[:-8])
    with pytest.raises(UnusableFile):
        read_graded(path)
    with pytest.raises(UnusableFile):
        read_graded(tmp_path / "nowhere")


def test_only_lone_letters_separate_the_strict_reading_from_the_recorded_ratings(recorded_data: Path) -> None:
    passages = read_graded(recorded_data / "rubric" / "dl19-graded.jsonl.gz")
    assert len(passages) == 9260
    recorded = [(p.replies[item], grade) for p in passages for item, grade in p.grades.items()]
    differing = [(reply, grade) for reply, grade in recorded if self_rating(reply) != grade]
    assert (len(recorded), len(differing)) == (92_600, 17)
    assert all(grade == 1 and len(reply.strip(".")) == 1 for reply, grade in differing)


@pytest.mark.parametrize(("minimum", "answerable"), [(3, 43), (4, 43), (5, 40)])
def test_cover_and_n_exam_are_those_of_the_workbench(
    recorded_data: Path, minimum: int, answerable: int
) -> None:
    folder = recorded_data / "rubric"
    path = folder / "upstream" / "dl19_exam_cover_upstream.json"
    published = json.loads(path.read_text(encoding="utf-8"))[str(minimum)]
    passages = read_graded(folder / "dl19-graded.jsonl.gz")
    compatible = cover_at(passages, 20, minimum, Unanswerable.ZERO)
    assert compatible.keys() == published.keys() - {"_overall_"}
    for run, score in compatible.items():
        ours = (score.cover, score.cover_error, score.n_exam, score.n_exam_error)
        assert ours == pytest.approx(published[run], abs=1e-6)
    for run, score in cover_at(passages, 20, minimum).items():
        # Without that option a query in which no passage answers an item is left out.
        assert score.answerable == answerable
        assert score.n_exam is not None
        assert score.n_exam * answerable / 43 == pytest.approx(published[run][2], abs=1e-6)


@pytest.mark.parametrize("name", ["dl19-questions", "dl19-genq", "dl19-nuggets"])
def test_recorded_banks_cover_every_query(recorded_data: Path, name: str) -> None:
    items = read_bank(recorded_data / "rubric" / f"{name}.jsonl.gz")
    assert len({item.query for item in items}) == 43
    assert all(item.id and item.text for item in items)
    banks = read_query_banks(recorded_data / "rubric" / f"{name}.jsonl.gz").values()
    assert [item for bank in banks for item in bank.items] == list(dict.fromkeys(items))


def test_a_bank_without_items_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnusableFile, match="no bank"):
        read_bank(write(tmp_path, '{"query_id": "q"}'))


def test_published_qrels_survive_being_written(recorded_data: Path, tmp_path: Path) -> None:
    path = recorded_data / "rubric" / "dl19-exam-3.qrels"
    labels = read_qrels(path)
    assert qrels_text(labels) == path.read_text(encoding="utf-8")
    assert labels == relevance_labels(read_graded(recorded_data / "rubric" / "dl19-graded.jsonl.gz"))


def test_a_run_is_read_in_full(tmp_path: Path) -> None:
    lines = read_run(write(tmp_path, "q Q0 d1 1 2.5 mine\n\nq Q0 d2 2 -1.0 mine\n"))
    assert lines == [RunLine("q", "d1", 1, 2.5, "mine"), RunLine("q", "d2", 2, -1.0, "mine")]


def test_a_bank_of_questions_or_nuggets_is_read_in_full(tmp_path: Path) -> None:
    questions = {"query_id": "q", "items": [{"question_id": "q/1", "question_text": "Why?"}]}
    nuggets = {"query_id": 7, "items": [{"nugget_id": "7/n", "nugget_text": "It is."}]}
    bank = read_bank(write(tmp_path, f"{json.dumps(questions)}\n{json.dumps(nuggets)}\n"))
    assert bank == [BankItem("q", "q/1", "Why?"), BankItem("7", "7/n", "It is.")]


@pytest.mark.parametrize("text", ["q 0 d", "q 0 d x", "q 0 d 1.5", "q 0 d 1\nq 0 d 2"])
def test_wrong_columns_numbers_and_double_labels_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UnusableFile):
        read_qrels(write(tmp_path, text))


@pytest.mark.parametrize("text", ["q Q0 d 1 0.5", "q Q0 d 1 high mine", "q Q0 d 1 1 m\nq Q0 d 2 1 m"])
def test_a_bad_run_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UnusableFile):
        read_run(write(tmp_path, text))


def bank_record(query: str, *items: dict[str, str], **more: str) -> str:
    return json.dumps({"query_id": query, "items": items, **more}) + "\n"


ITEM = {"question_id": "q/1", "question_text": "Why?"}


def test_the_bank_of_a_query_has_its_text_kind_and_items(tmp_path: Path) -> None:
    fact = {"nugget_id": "r/1", "nugget_text": "Because."}
    keyed: Any = {**ITEM, "gold_answers": ["so"]}
    text = bank_record("q", keyed, query_text="what is it") + bank_record("r", fact)
    assert read_query_banks(write(tmp_path, text)) == {
        "q": QueryBank("q", "what is it", BankKind.QUESTIONS, (BankItem("q", "q/1", "Why?", ("so",)),)),
        "r": QueryBank("r", None, BankKind.NUGGETS, (BankItem("r", "r/1", "Because."),)),
    }


@pytest.mark.parametrize(
    ("answers", "keys"), [(["a", "b c"], ("a", "b c")), ("a b", ("a b",)), (None, ()), ([], ())]
)
def test_right_answers_are_a_list_or_one_text(tmp_path: Path, answers: Any, keys: tuple[str, ...]) -> None:
    item: Any = {**ITEM, "gold_answers": answers}
    assert read_bank(write(tmp_path, bank_record("q", item)))[0].keys == keys


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (bank_record("q", ITEM) * 2, ":2: query_id: 'q' is there twice; keep one of its banks"),
        (bank_record("q"), ":1: items: expected questions or nuggets, not none and not both"),
        (bank_record("q", ITEM, {"nugget_id": "n", "nugget_text": "x"}), ":1: items: expected questions or"),
        (bank_record("q", ITEM, ITEM | {"question_text": "How?"}), ":1: items: 'q/1' is there twice"),
        (bank_record("q", ITEM | {"question_text": " "}), ":1: items: 'q/1' has no text"),
        ('{"query_id": "q"}', ":1: no bank of questions or nuggets"),
    ],
)
def test_a_bank_that_nobody_can_grade_on_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(UnusableFile, match=re.escape(problem)):
        read_query_banks(write(tmp_path, text))
