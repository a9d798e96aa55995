"""The agent `recorded`: answers that are in a file."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from nuggetstream.files.dataset import BadLine
from nuggetstream.files.formats.pairing import DOCUMENT
from nuggetstream.files.formats.rows import Row, container_of, rows_in
from nuggetstream.files.formats.runs import run_answer
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.submission import InvalidSubmission
from services.cli.tournament.agents import Answered, RecordedAgent


def read_recorded(path: Path, queries: Mapping[str, str], texts: Mapping[str, str]) -> RecordedAgent:
    """The answers of a file to the queries of a plan; those to other queries are left out.

    Args:
        path: Answers of one system in the fields of TREC RAG or RAGDoll, of which the id of the query, the
            answer and the references are read.
        queries: The queries by id.
        texts: Texts of documents by id.

    Raises:
        UnusableFile: It cannot be read, or a row tells no query; names file, line and field.
    """
    answers: dict[str, Answered] = {}
    problems: dict[str, str] = {}
    for row in rows_in(path, container_of(path)):
        if isinstance(row, BadLine):
            raise UnusableFile(f"{path}:{row.line}: {row.problems[0]}")
        try:
            answer = run_answer(_completed(row), {})
        except InvalidSubmission as error:
            raise UnusableFile(f"{path}:{row.line}: {error.problems[0]}") from error
        if answer.topic not in queries:
            continue
        if answer.topic in answers or answer.topic in problems:
            raise UnusableFile(
                f"{path}:{row.line}: query {answer.topic!r} is answered twice; one file is one agent"
            )
        if not answer.text.strip():
            problems[answer.topic] = "the answer is empty"
            continue
        own = {source["url"].removeprefix(DOCUMENT): source.get("text") for source in answer.sources}
        with_texts = {name: text if text is not None else texts.get(name) for name, text in own.items()}
        answers[answer.topic] = Answered(
            text=answer.text,
            references=tuple(own),
            texts={name: text for name, text in with_texts.items() if text is not None},
            ranking=tuple(own) or None,
        )
    return RecordedAgent(answers, problems)


def _completed(row: Row) -> Row:
    """The row with fields that a plan makes unnecessary."""
    if not isinstance(row.value, dict):
        return row
    return replace(row, value={"run_id": "recorded", "query": "of the plan", **row.value})
