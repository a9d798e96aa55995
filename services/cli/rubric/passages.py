"""The passages that `nuggetstream rubric grade` grades, with everything that is read about them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from nuggetstream.domain.question_bank import BankKind, BankQuestion, QuestionBank
from nuggetstream.files.dataset import read_documents
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.qrels import read_qrels
from nuggetstream.files.queries import read_queries
from nuggetstream.files.rubric import QueryBank, read_query_banks
from nuggetstream.rubric.pooling import PooledPassage, pool
from nuggetstream.rubric.run_files import read_rankings


@dataclass(frozen=True, slots=True)
class Ungraded:
    """A passage without grades.

    Attributes:
        query: Id of the query.
        passage: Id of the passage.
        reason: Why, as one word of a small set.
        detail: Why, as a sentence for a person.
    """

    query: str
    passage: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Passages:
    """The passages of runs.

    Attributes:
        pooled: The passages.
        queries: Query id -> text of the query.
        texts: Passage id -> text.
        banks: Query id -> the questions to grade on; None where a model makes them, or none are asked.
        judgments: Query id and passage id -> label of an assessor.
        keys: Query id -> id of a question -> right answers of a test, where the bank has any.
    """

    pooled: Sequence[PooledPassage]
    queries: Mapping[str, str]
    texts: Mapping[str, str]
    banks: Mapping[str, QuestionBank] | None
    judgments: Mapping[tuple[str, str], int]
    keys: Mapping[str, Mapping[str, Sequence[str]]]

    def gradable(self) -> tuple[list[PooledPassage], list[Ungraded]]:
        """The passages that can be graded, and why the others cannot."""
        problems = {id(passage): self._problem(passage) for passage in self.pooled}
        ungraded = [problem for problem in problems.values() if problem is not None]
        return [passage for passage in self.pooled if problems[id(passage)] is None], ungraded

    def _problem(self, of: PooledPassage) -> Ungraded | None:
        checks = (
            (
                "no_questions",
                self.banks is not None and of.query not in self.banks,
                "the bank lacks its query",
            ),
            ("no_query", of.query not in self.queries, "its query has no text: name a file with --queries"),
            ("no_text", not self.texts.get(of.id, "").strip(), "it has no text in the file of documents"),
        )
        problems = ((reason, detail) for reason, is_so, detail in checks if is_so)
        return next((Ungraded(of.query, of.id, reason, detail) for reason, detail in problems), None)


def read_passages(
    runs: Sequence[Path],
    documents: Path,
    bank: Path | None,
    *,
    queries: Path | None = None,
    qrels: Path | None = None,
    depth: int | None = None,
) -> Passages:
    """Read the files.

    Args:
        runs: Run files as TREC has them, one run each.
        documents: JSONL file of {docid, text}.
        bank: File with the questions or nuggets of each query; None for none.
        queries: File of queries; None takes the queries from the bank.
        qrels: Labels of assessors; None for none.
        depth: How many passages of a run are taken for a query; None takes all.

    Raises:
        UnusableFile: A file cannot be read, or the files have no passage or no query in common; names the
            files and what to do.
    """
    pooled = pool(read_rankings(runs), depth)
    banks = None if bank is None else read_query_banks(bank)
    of_banks = {query_bank.query: query_bank.text for query_bank in (banks or {}).values() if query_bank.text}
    passages = Passages(
        pooled=pooled,
        queries=of_banks | (read_queries(queries) if queries else {}),
        texts=read_documents(documents, {passage.id for passage in pooled}),
        banks=None
        if banks is None
        else {query: _bank(query_bank, bank) for query, query_bank in banks.items()},
        judgments={(label.query, label.passage): label.label for label in read_qrels(qrels)} if qrels else {},
        keys={
            query: {item.id: item.keys for item in query_bank.items if item.keys}
            for query, query_bank in (banks or {}).items()
        },
    )
    gradable, ungraded = passages.gradable()
    if not gradable:
        why = (
            f": {ungraded[0].detail} ({ungraded[0].passage} of query {ungraded[0].query})" if ungraded else ""
        )
        raise UnusableFile(f"{', '.join(map(str, runs))}: no passage can be graded{why}")
    return passages


def _bank(of: QueryBank, file: Path | None) -> QuestionBank:
    return bank_of(of.query, of.kind, str(file), ((item.id, item.text) for item in of.items))


def bank_of(query: str, kind: BankKind, model: str, questions: Iterable[tuple[str, str]]) -> QuestionBank:
    """A bank with the questions of a file, given as (id, text)."""
    return QuestionBank(
        query_id=query,
        version=1,
        kind=kind,
        model=model,
        prompt_version="",
        created_at=datetime.now(UTC),
        questions=tuple(BankQuestion(name, " ".join(text.split())) for name, text in questions),
    )
