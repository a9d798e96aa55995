"""The passages that `nuggetstream rubric grade` grades, with everything that is read about them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from nuggetstream.domain.question_bank import BankQuestion, QuestionBank
from nuggetstream.files.dataset import read_documents
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.qrels import read_qrels
from nuggetstream.files.rubric import QueryBank, read_query_banks
from nuggetstream.files.text import text_lines
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
    """

    pooled: Sequence[PooledPassage]
    queries: Mapping[str, str]
    texts: Mapping[str, str]
    banks: Mapping[str, QuestionBank] | None
    judgments: Mapping[tuple[str, str], int]

    def ungraded(self, passage: PooledPassage) -> Ungraded | None:
        """Why a passage cannot be graded; None where it can."""
        reason = detail = None
        if self.banks is not None and passage.query not in self.banks:
            reason, detail = "no_questions", "the bank has no questions for the query"
        elif passage.query not in self.queries:
            reason, detail = "no_query", "no file has the text of the query: name one with --queries"
        elif not self.texts.get(passage.id, "").strip():
            reason, detail = "no_text", "the file of documents has no text for the passage"
        return None if reason is None else Ungraded(passage.query, passage.id, reason, detail or "")


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
        queries: File of lines `query id, tab, query`; None takes the queries from the bank.
        qrels: Labels of assessors; None for none.
        depth: How many passages of a run are taken for a query; None takes all.

    Raises:
        UnusableFile: A file cannot be read, or the files have no passage or no query in common; names the
            files and what to do.
    """
    pooled = pool(read_rankings(runs), depth)
    banks = None if bank is None else read_query_banks(bank)
    known = {each.query: each.text for each in (banks or {}).values() if each.text}
    passages = Passages(
        pooled=pooled,
        queries=known | (dict(_queries(queries)) if queries else {}),
        texts=read_documents(documents, {passage.id for passage in pooled}),
        banks=None if banks is None else {query: _bank(each, bank) for query, each in banks.items()},
        judgments={(label.query, label.passage): label.label for label in read_qrels(qrels)} if qrels else {},
    )
    problems = [passages.ungraded(passage) for passage in pooled]
    if all(problems) and (first := next(filter(None, problems), None)) is not None:
        where = {"no_text": documents, "no_questions": bank, "no_query": queries or bank}[first.reason]
        about = f"passage {first.passage!r} of query {first.query!r} of {runs[0]}"
        raise UnusableFile(f"{where}: no passage can be graded: {first.detail} ({about})")
    return passages


def _queries(path: Path) -> Iterator[tuple[str, str]]:
    for number, line in text_lines(path):
        name, _, text = line.partition("\t")
        if not text.strip():
            raise UnusableFile(f"{path}:{number}: expected a query id, a tab and the query")
        yield name.strip(), text.strip()


def _bank(of: QueryBank, file: Path | None) -> QuestionBank:
    return QuestionBank(
        query_id=of.query,
        version=1,
        kind=of.kind,
        model=str(file),
        prompt_version="",
        created_at=datetime.now(UTC),
        questions=tuple(BankQuestion(item.id, " ".join(item.text.split())) for item in of.items),
    )
