"""RAGElo's CSV files: queries, documents and answers make battles; its verdicts are votes of a judge.

    queries.csv     qid, query
    documents.csv   did, document, and with the answers qid, agent
    answers.csv     qid, agent, answer
    verdicts        qid, agent_a, agent_b, answer (A, B or C) and the judge's text in raw_answer

The first three lie in one folder, which is named itself or by its file of answers.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from nuggetstream.domain.system_name import one_spelling
from nuggetstream.files.dataset import BadLine
from nuggetstream.files.formats.format import BATTLES, FileFormat, Line, Sample, Source, lines_of
from nuggetstream.files.formats.pairing import Answers, RunAnswer, source_of, system_of
from nuggetstream.files.formats.rows import Container, Row, rows_in
from nuggetstream.files.formats.votes import VOTES, verdict_row
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.submission import InvalidSubmission

ANSWERS, QUERIES, DOCUMENTS = "answers.csv", "queries.csv", "documents.csv"
_Documents: TypeAlias = dict[tuple[str, str | None], dict[str, dict[str, Any]]]
_VERDICTS = {"A": "a", "B": "b", "C": "tie"}


def _read(source: Source) -> Iterator[Line]:
    folder = source.path if source.path.is_dir() else source.path.parent
    queries = {row["qid"]: row["query"] for row in _table(folder / QUERIES, ("qid", "query"))}
    documents = _documents(folder / DOCUMENTS)
    answers = Answers("ragelo")
    file = folder / ANSWERS if source.path.is_dir() else source.path

    def keep(row: Row) -> tuple[Line, ...]:
        answers.add(row.line, _answer(row.value, queries, documents))
        return ()

    yield from lines_of(rows_in(file, Container.CSV), keep)
    yield from answers.battles(source)


def _answer(row: Mapping[str, str], queries: Mapping[str, str], documents: _Documents) -> RunAnswer:
    """The answer of a row, with its documents.

    Raises:
        InvalidSubmission: A field is missing, there is no such query, or its agent cannot be the name of a
            system.
    """
    if lost := [name for name in ("qid", "agent", "answer") if name not in row]:
        raise InvalidSubmission([f"{name}: is missing" for name in lost])
    topic, system = row["qid"], system_of(row["agent"], "agent")
    if topic not in queries:
        raise InvalidSubmission([f"qid: {topic!r} is not in {QUERIES}"])
    cited = tuple(documents.get((topic, system), documents.get((topic, None), {})).values())
    return RunAnswer(topic, queries[topic], system, row["answer"], cited)


def _documents(path: Path) -> _Documents:
    """The documents of each agent for each query; those without an agent belong to the query."""
    documents: _Documents = {}
    if not path.exists():
        return documents
    for row in _table(path, ("qid", "did", "document")):
        name, agent = row["did"], row.get("agent")
        owner = None if agent is None else one_spelling(agent)
        documents.setdefault((row["qid"], owner), {})[name] = source_of(name, row["document"])
    return documents


def _table(path: Path, columns: tuple[str, ...]) -> Iterator[Mapping[str, str]]:
    """The rows of a file beside the answers.

    Raises:
        UnusableFile: It is missing, or a row or column of it is: a query left out would change results.
    """
    if not path.exists():
        raise UnusableFile(f"{path}: is missing; the answers of RAGElo need it beside them")
    for row in rows_in(path, Container.CSV):
        if isinstance(row, BadLine):
            raise UnusableFile(f"{path}:{row.line}: {row.problems[0]}")
        if lost := [column for column in columns if column not in row.value]:
            raise UnusableFile(f"{path}: {lost[0]}: is no column; it has {', '.join(row.value)}")
        yield row.value


def _verdict(row: Row) -> list[Line]:
    vote = _vote(row.value if isinstance(row.value, dict) else {})
    return verdict_row(row, ("qid", "agent_a", "agent_b"), vote)


def _vote(fields: Mapping[str, Any]) -> dict[str, Any]:
    verdict = fields.get("answer")
    if not isinstance(verdict, str) or verdict.strip() not in _VERDICTS:
        raise InvalidSubmission([f"answer: is {verdict!r}; expected A, B or C"])
    return {"battle": fields.get("qid"), "winner": _VERDICTS[verdict.strip()]}


def _is_answers(sample: Sample) -> bool:
    return sample.container is Container.CSV and (
        sample.has("qid", "agent", "answer") or {ANSWERS, QUERIES} <= sample.folder
    )


RAGELO = FileFormat(
    name="ragelo",
    title="RAGElo answers",
    holds=BATTLES,
    recognises=_is_answers,
    read=_read,
    fields="answers.csv with queries.csv and documents.csv beside it: every two agents that answer a query",
)
RAGELO_VERDICTS = FileFormat(
    name="ragelo-verdicts",
    title="RAGElo verdicts",
    holds=VOTES,
    recognises=lambda sample: (
        sample.has("agent_a", "agent_b", "answer") and sample.container is Container.CSV
    ),
    read=lambda source: lines_of(source.rows(), _verdict),
    vote_of=_vote,
    fields="the verdict A, B or C of each pair of agents",
    lost="the judge's text",
    used_by="nuggetstream rate",
)
