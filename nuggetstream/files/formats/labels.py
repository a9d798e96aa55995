"""Files that hold nuggets, documents, labels, rankings or grades, and no battles.

nuggetizer pool      {query: {qid, text}, candidates: [{docid, doc: {segment}}]}, also of umbrela
nuggetizer nuggets   {qid, query, nuggets: [{text, importance}]}
qrels                query 0 document label
run                  query Q0 document rank score tag
rubric               [query, [{paragraph_id, text, exam_grades}]]
rubric bank          {query_id, query_text, items: [{question_id, question_text}]}
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nuggetstream.domain.nugget import Grounding, Support
from nuggetstream.files.formats.format import FileFormat, Line, RowLine, Sample, Source, lines_of
from nuggetstream.files.formats.row_fields import WrongRow, id_in, number_in, object_in, text_in
from nuggetstream.files.formats.rows import Container, Row, shown

_IMPORTANCE = ("vital", "okay")
_OPTIONAL = ("assignment", "grounding", "contradicted", "set_by")
_PAIR = 2
_DOCUMENT = (("docid", "did"), ("text", "document"))


def _each(parse: Callable[[Any], Iterator[Mapping[str, Any]]]) -> Callable[[Source], Iterator[Line]]:
    """A reader that makes one or several rows of each row; one that is wrong is rejected as a whole."""

    def rows_of(row: Row) -> Iterator[Line]:
        return (RowLine(row.line, fields) for fields in parse(row.value))

    return lambda source: lines_of(source.rows(), rows_of)


def _query(fields: Any) -> tuple[str | None, str]:
    """Id and text of the query of nuggetizer, which is an object, or a text beside its id."""
    match object_in(fields).get("query", fields.get("text")):
        case {"text": str(text), **rest}:
            name = rest.get("qid")
        case str(text):
            name = fields.get("qid")
        case other:
            raise WrongRow(f"query: is {shown(other)}; expected a text, or an object with qid and text")
    return (None if name is None else id_in("qid", name)), text


def _pool(fields: Any) -> Iterator[Mapping[str, Any]]:
    name, query = _query(fields)
    candidates = fields.get("candidates")
    if not isinstance(candidates, list):
        raise WrongRow(f"candidates: is {shown(candidates)}; expected a list")
    documents: list[dict[str, Any]] = []
    for index, candidate in enumerate(candidates):
        match candidate:
            case str(text):
                documents.append({"docid": None, "text": text})
            case {"doc": {"segment": str(text)}, **rest} | {"text": str(text), **rest}:
                documents.append({"docid": rest.get("docid"), "text": text})
            case _:
                raise WrongRow(f"candidates.{index}: is {shown(candidate)}; expected a text or doc.segment")
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
        raise WrongRow(f"nuggets: is {shown(given)}; expected a list")
    nuggets = []
    for index, nugget in enumerate(given):
        match nugget:
            case {"text": str(text), "importance": str(importance), **rest} if importance in _IMPORTANCE:
                label = {name: rest[name] for name in _OPTIONAL if name in rest}
                if not _fits(label):
                    raise WrongRow(f"nuggets.{index}: grounding, contradicted or set_by is {shown(label)}")
                nuggets.append({"text": text, "importance": importance} | label)
            case _:
                raise WrongRow(f"nuggets.{index}: is {shown(nugget)}; expected text, and vital or okay")
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
        case [str(query), _, str(document), str(label)]:
            yield {"query": query, "document": document, "label": number_in("label", label, int)}
        case _:
            raise WrongRow(f"has {_columns(fields)}; expected query 0 document label")


def _run(fields: Any) -> Iterator[Mapping[str, Any]]:
    match fields:
        case [str(query), _, str(document), str(rank), str(score), str(tag)]:
            yield {
                "query": query,
                "document": document,
                "rank": number_in("rank", rank, int),
                "score": number_in("score", score, float),
                "run": tag,
            }
        case _:
            raise WrongRow(f"has {_columns(fields)}; expected query Q0 document rank score tag")


def _columns(fields: Any) -> str:
    is_line = isinstance(fields, list) and all(isinstance(field, str) for field in fields)
    return f"{len(fields)} columns" if is_line else "no columns"


def _graded(fields: Any) -> Iterator[Mapping[str, Any]]:
    if not (isinstance(fields, list) and len(fields) == _PAIR and isinstance(fields[1], list)):
        raise WrongRow("is no array of a query id and its passages")
    query = id_in("0", fields[0])
    for index, passage in enumerate(fields[1]):
        if not isinstance(passage, dict) or passage.get("paragraph_id") is None:
            raise WrongRow(f"1.{index}.paragraph_id: is missing")
        kept = ("paragraph_id", "text", "exam_grades", "paragraph_data")
        yield {"query": query} | {name: passage[name] for name in kept if name in passage}


def _bank(fields: Any) -> Iterator[Mapping[str, Any]]:
    query = id_in("query_id", object_in(fields).get("query_id"))
    items = next(
        (fields[name] for name in ("items", "questions") if isinstance(fields.get(name), list)), None
    )
    if items is None:
        raise WrongRow("items: is missing")
    for index, item in enumerate(items):
        kinds = ("question", "nugget") if isinstance(item, dict) else ()
        kind = next((kind for kind in kinds if f"{kind}_text" in item), None)
        if kind is None:
            raise WrongRow(f"items.{index}: has neither question_text nor nugget_text")
        text = text_in(f"items.{index}.{kind}_text", item[f"{kind}_text"])
        yield {"query": query, "id": item.get(f"{kind}_id"), "text": text, "kind": kind}


def _is_graded(sample: Sample) -> bool:
    return isinstance(sample.value, list) and sample.container is Container.JSONL


def _fields(sample: Sample) -> int:
    return len(sample.value) if sample.container is Container.COLUMNS and sample.value else 0


def _is_topic(sample: Sample) -> bool:
    names = set(sample.value) if isinstance(sample.value, dict) else set[str]()
    return names == {"qid", "query"} or (names == {"query"} and isinstance(sample.value["query"], dict))


def _document(fields: Any) -> Iterator[Mapping[str, Any]]:
    name, text = (object_in(fields).get(ours, fields.get(theirs)) for ours, theirs in _DOCUMENT)
    yield {"docid": id_in("docid", name), "text": text_in("text", text)}


def _topic(fields: Any) -> Iterator[Mapping[str, Any]]:
    name, text = _query(fields)
    yield {"qid": id_in("qid", name), "query": text}


FORMATS = [
    FileFormat(
        name="documents",
        title="documents",
        holds="texts of documents",
        recognises=lambda sample: (
            (sample.has("docid", "text") or sample.has("did", "document")) and not sample.has("nuggets")
        ),
        read=_each(_document),
        fields="id and text",
        lost="all else",
        used_by="--documents, or RAGElo's answers.csv beside it",
    ),
    FileFormat(
        name="queries",
        title="queries",
        holds="texts of queries",
        recognises=_is_topic,
        read=_each(_topic),
        fields="id and text, also as requests of nuggetizer's `agentic-create`",
        used_by="RAGElo's answers.csv beside it",
    ),
    FileFormat(
        name="nuggetizer-pool",
        title="nuggetizer pool, or requests of umbrela",
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
        recognises=lambda sample: (
            sample.has("nuggets") and sample.has_any("query", "text") and not sample.has("answer_text")
        ),
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
        recognises=lambda sample: _fields(sample) >= 6,
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
