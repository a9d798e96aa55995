"""Files that hold nuggets, documents, labels, rankings or grades, and no battles.

nuggetizer pool      {query: {qid, text}, candidates: [{docid, doc: {segment}}]}
nuggetizer nuggets   {qid, query, nuggets: [{text, importance}]}
qrels                query 0 document label
run                  query Q0 document rank score tag
rubric               [query, [{paragraph_id, text, exam_grades}]]
rubric bank          {query_id, query_text, items: [{question_id, question_text}]}
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nuggetstream.domain.nugget import Grounding, Support
from nuggetstream.files.dataset import BadLine
from nuggetstream.files.formats.format import FileFormat, Line, RowLine, Sample, Source
from nuggetstream.files.formats.rows import Container, Row, shown

_IMPORTANCE = ("vital", "okay")
_OPTIONAL = ("assignment", "grounding", "contradicted", "set_by")
_PAIR = 2
_DOCUMENT = (("docid", "did"), ("text", "document"))


class _Wrong(ValueError):
    """A row has other fields; says which."""


def _each(parse: Callable[[Any], Iterator[Mapping[str, Any]]]) -> Callable[[Source], Iterator[Line]]:
    """A reader that makes one or several rows of each row; one that is wrong is rejected as a whole."""

    def read(source: Source) -> Iterator[Line]:
        for row in source.rows():
            if isinstance(row, BadLine):
                yield row
            else:
                yield from _parsed(row, parse)

    return read


def _parsed(row: Row, parse: Callable[[Any], Iterator[Mapping[str, Any]]]) -> Iterator[Line]:
    try:
        found = list(parse(row.value))
    except _Wrong as error:
        yield BadLine(row.line, (str(error),))
        return
    for fields in found:
        yield RowLine(row.line, fields)


def _query(fields: Any) -> tuple[str | None, str]:
    """Id and text of the query of nuggetizer, which is an object, or a text beside its id."""
    if not isinstance(fields, dict):
        raise _Wrong("is not a JSON object")
    match fields.get("query"):
        case {"text": str(text), **rest}:
            name = rest.get("qid")
        case str(text):
            name = fields.get("qid")
        case other:
            raise _Wrong(f"query: is {shown(other)}; expected a text, or an object with qid and text")
    return (None if name is None else str(name)), text


def _pool(fields: Any) -> Iterator[Mapping[str, Any]]:
    name, query = _query(fields)
    candidates = fields.get("candidates")
    if not isinstance(candidates, list):
        raise _Wrong(f"candidates: is {shown(candidates)}; expected a list")
    documents: list[dict[str, Any]] = []
    for index, candidate in enumerate(candidates):
        match candidate:
            case str(text):
                documents.append({"docid": None, "text": text})
            case {"doc": {"segment": str(text)}, **rest}:
                documents.append({"docid": rest.get("docid"), "text": text})
            case _:
                raise _Wrong(f"candidates.{index}: is {shown(candidate)}; expected a text or doc.segment")
    yield {"qid": name, "query": query, "documents": documents}


def _nuggets(fields: Any) -> Iterator[Mapping[str, Any]]:
    name, query = _query(fields)
    yield {"qid": name, "query": query, "nuggets": nuggets_of(fields.get("nuggets"))}


def nuggets_of(given: Any) -> list[dict[str, Any]]:
    """The nuggets of nuggetizer, each with text, importance and, where there is one, its assignment.

    `grounding`, `contradicted` and `set_by` are our own: what our exports have beside nuggetizer's fields.

    Raises:
        ValueError: Names the nugget that is none.
    """
    if not isinstance(given, list):
        raise _Wrong(f"nuggets: is {shown(given)}; expected a list")
    nuggets = []
    for index, nugget in enumerate(given):
        match nugget:
            case {"text": str(text), "importance": str(importance), **rest} if importance in _IMPORTANCE:
                label = {name: rest[name] for name in _OPTIONAL if name in rest}
                if not _fits(label):
                    raise _Wrong(f"nuggets.{index}: grounding, contradicted or set_by is {shown(label)}")
                nuggets.append({"text": text, "importance": importance} | label)
            case _:
                raise _Wrong(f"nuggets.{index}: is {shown(nugget)}; expected text, and vital or okay")
    return nuggets


def _fits(label: Mapping[str, Any]) -> bool:
    """Whether the fields that are our own have values that we write."""
    grounding, contradicted = label.get("grounding"), label.get("contradicted", False)
    if not (isinstance(contradicted, bool) and (grounding is None or grounding in list(Grounding))):
        return False
    match label.get("set_by"):
        case None:
            return True
        case {"author": str(), "model": model}:
            return model in list(Support)
        case _:
            return False


def _qrel(fields: Any) -> Iterator[Mapping[str, Any]]:
    match fields:
        case [query, _, document, label]:
            yield {"query": query, "document": document, "label": _number("label", label, int)}
        case _:
            raise _Wrong(f"has {len(fields)} columns; expected query 0 document label")


def _run(fields: Any) -> Iterator[Mapping[str, Any]]:
    match fields:
        case [query, _, document, rank, score, tag]:
            yield {
                "query": query,
                "document": document,
                "rank": _number("rank", rank, int),
                "score": _number("score", score, float),
                "run": tag,
            }
        case _:
            raise _Wrong(f"has {len(fields)} columns; expected query Q0 document rank score tag")


def _number(name: str, text: str, kind: Callable[[str], float]) -> float:
    try:
        return kind(text)
    except ValueError:
        raise _Wrong(f"{name}: is {text!r}; expected a number") from None


def _graded(fields: Any) -> Iterator[Mapping[str, Any]]:
    if not (isinstance(fields, list) and len(fields) == _PAIR and isinstance(fields[1], list)):
        raise _Wrong("is no array of a query id and its passages")
    for index, passage in enumerate(fields[1]):
        if not isinstance(passage, dict) or "paragraph_id" not in passage:
            raise _Wrong(f"1.{index}.paragraph_id: is missing")
        kept = ("paragraph_id", "text", "exam_grades", "paragraph_data")
        yield {"query": str(fields[0])} | {name: passage[name] for name in kept if name in passage}


def _bank(fields: Any) -> Iterator[Mapping[str, Any]]:
    items = next(
        (fields[name] for name in ("items", "questions") if isinstance(fields.get(name), list)), None
    )
    if items is None:
        raise _Wrong("items: is missing")
    for index, item in enumerate(items):
        kind = next((kind for kind in ("question", "nugget") if f"{kind}_text" in item), None)
        if kind is None:
            raise _Wrong(f"items.{index}: has neither question_text nor nugget_text")
        text, name = item[f"{kind}_text"], item.get(f"{kind}_id")
        yield {"query": str(fields["query_id"]), "id": name, "text": text, "kind": kind}


def _is_graded(sample: Sample) -> bool:
    return isinstance(sample.value, list) and sample.container is Container.JSONL


def _fields(sample: Sample) -> int:
    return len(sample.value) if sample.container is Container.COLUMNS and sample.value else 0


def _document(fields: Any) -> Iterator[Mapping[str, Any]]:
    name, text = (fields.get(ours, fields.get(theirs)) for ours, theirs in _DOCUMENT)
    if not isinstance(text, str):
        raise _Wrong("text: is missing")
    yield {"docid": str(name), "text": text}


def _topic(fields: Any) -> Iterator[Mapping[str, Any]]:
    yield {"qid": str(fields["qid"]), "query": fields["query"]}


FORMATS = [
    FileFormat(
        name="documents",
        title="documents",
        holds="texts of documents",
        recognises=lambda sample: sample.has("docid", "text") or sample.has("did", "document"),
        read=_each(_document),
        fields="id and text",
        lost="all else",
        used_by="--documents, or RAGElo's answers.csv beside it",
    ),
    FileFormat(
        name="queries",
        title="queries",
        holds="texts of queries",
        recognises=lambda sample: isinstance(sample.value, dict) and set(sample.value) == {"qid", "query"},
        read=_each(_topic),
        fields="id and text",
        used_by="RAGElo's answers.csv beside it",
    ),
    FileFormat(
        name="nuggetizer-pool",
        title="nuggetizer pool",
        holds="documents of queries",
        recognises=lambda sample: sample.has("query", "candidates"),
        read=_each(_pool),
        fields="query and documents",
        lost="scores of documents",
        used_by="nuggetstream import",
    ),
    FileFormat(
        name="nuggetizer-nuggets",
        title="nuggetizer nuggets",
        holds="nuggets of queries",
        recognises=lambda sample: sample.has("query", "nuggets") and not sample.has("answer_text"),
        read=_each(_nuggets),
        fields="query, nuggets with importance, `grounding`, and labels where they are a document's",
        lost="trace",
        used_by="nuggetstream import",
    ),
    FileFormat(
        name="qrels",
        title="TREC qrels",
        holds="relevance labels",
        recognises=lambda sample: _fields(sample) == 4,
        read=_each(_qrel),
        fields="query, document, label",
        lost="the second column, which TREC ignores",
        used_by="nuggetstream rubric",
    ),
    FileFormat(
        name="run",
        title="TREC run",
        holds="rankings of documents",
        recognises=lambda sample: _fields(sample) == 6,
        read=_each(_run),
        fields="query, document, rank, score, tag",
        lost="the second column, which TREC ignores",
        used_by="nuggetstream rubric",
    ),
    FileFormat(
        name="rubric",
        title="Rubric-Grading Workbench, graded passages",
        holds="graded passages",
        recognises=_is_graded,
        read=_each(_graded),
        fields="query, passages, grades, judgments, ranks",
        lost="paragraph structure",
        used_by="nuggetstream rubric",
    ),
    FileFormat(
        name="rubric-bank",
        title="Rubric-Grading Workbench, questions or nuggets",
        holds="questions of queries",
        recognises=lambda sample: sample.has("query_id") and sample.has_any("items", "questions"),
        read=_each(_bank),
        fields="query, id and text of each question or nugget",
        lost="how the bank was made",
        used_by="nuggetstream rubric",
    ),
]
"""The formats of this module."""
