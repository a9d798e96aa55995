"""Files of what people or judges say about sentences and arguments.

RAGDoll support   {statement, citation} is asked; judged, it has support_label: "FS", "PS", "NS" or null
                  {topic_id, run_id, sentences: [{text, citations: [{reference, support: "2" to "-1"}]}]}
ArgQuality        annotator, #id, argumentative: y or n, and per dimension "1 (Low)" to "3 (High)"
ArgQuality 20     Discussion ID A, Argument ID A, the same of B, and Comparison: A, B or Tie
"""

from collections.abc import Iterator, Mapping
from typing import Any

from nuggetstream.domain.nugget import Support
from nuggetstream.files.formats.format import FileFormat, Line, RowLine, Sample, lines_of
from nuggetstream.files.formats.row_fields import WrongRow, id_in, object_in, text_in
from nuggetstream.files.formats.rows import Row, shown

_SUPPORT = {"FS": Support.SUPPORT, "PS": Support.PARTIAL_SUPPORT, "NS": Support.NOT_SUPPORT}
_SUPPORT |= {"2": Support.SUPPORT, "1": Support.PARTIAL_SUPPORT, "0": Support.NOT_SUPPORT}
_UNJUDGED = (None, "-1")
_NO_DIMENSIONS = ("annotator", "#id", "argument", "issue", "stance")
_NO_GRADE = ("", "?", "Cannot judge")
_GRADES = ("1", "2", "3")
_COMPARED = {"A": "a", "B": "b", "Tie": "tie"}
_VOTED = ("Discussion ID A", "Argument ID A", "Discussion ID B", "Argument ID B", "Comparison")


def _support(row: Row) -> Iterator[Line]:
    fields = object_in(row.value)
    judged = _assigned(fields) if "sentences" in fields else [_judged(fields)]
    return (RowLine(row.line, one) for one in judged)


def _judged(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    source = fields.get("metadata")
    about = source if isinstance(source, dict) else {}
    return {
        "query": about.get("topic_id"),
        "run": about.get("run_id"),
        "sentence": about.get("sentence_index"),
        "statement": text_in("statement", fields.get("statement")),
        "document": about.get("docid"),
        "citation": text_in("citation", fields.get("citation")),
        "label": _label("support_label", fields.get("support_label")),
    }


def _assigned(fields: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    query = id_in("topic_id", fields.get("topic_id", fields.get("narrative_id")))
    run = id_in("run_id", fields.get("run_id"))
    for index, sentence in enumerate(_list_in("sentences", fields["sentences"])):
        location = f"sentences.{index}"
        statement = text_in(f"{location}.text", object_in(sentence).get("text"))
        for number, cited in enumerate(_list_in(f"{location}.citations", sentence.get("citations"))):
            where = f"{location}.citations.{number}"
            yield {
                "query": query,
                "run": run,
                "sentence": index,
                "statement": statement,
                "document": id_in(f"{where}.reference", object_in(cited).get("reference")),
                "citation": None,
                "label": _label(f"{where}.support", cited.get("support")),
            }


def _list_in(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise WrongRow(f"{name}: is {shown(value)}; expected a list")
    return value


def _label(name: str, label: Any) -> str | None:
    if label in _UNJUDGED:
        return None
    if not (isinstance(label, str) and label in _SUPPORT):
        raise WrongRow(f"{name}: is {shown(label)}; expected {', '.join(_SUPPORT)} or -1")
    return _SUPPORT[label].value


def _graded(row: Row) -> Iterator[Line]:
    fields = object_in(row.value)
    who = {"item": id_in("#id", fields.get("#id")), "worker": id_in("annotator", fields.get("annotator"))}
    for dimension in (name for name in fields if name not in _NO_DIMENSIONS):
        opinion = text_in(dimension, fields[dimension] or "").strip()
        grade = opinion if dimension == "argumentative" else opinion.split(" ", 1)[0]
        if opinion in _NO_GRADE:
            continue
        if dimension != "argumentative" and grade not in _GRADES:
            raise WrongRow(f"{dimension}: is {shown(opinion)}; expected 1 (Low), 2 (Average) or 3 (High)")
        yield RowLine(row.line, who | {"dimension": dimension, "label": grade})


def _compared(row: Row) -> list[Line]:
    return [RowLine(row.line, {"battle": str(row.line)} | _comparison(object_in(row.value)))]


def _comparison(fields: Mapping[str, Any]) -> dict[str, Any]:
    a, b = (
        "/".join(id_in(name, fields.get(name)) for name in (f"Discussion ID {side}", f"Argument ID {side}"))
        for side in "AB"
    )
    preferred = fields.get("Comparison")
    if not (isinstance(preferred, str) and preferred in _COMPARED):
        raise WrongRow(f"Comparison: is {shown(preferred)}; expected A, B or Tie")
    if a == b:
        raise WrongRow(f"Argument ID B: argument {a!r} is compared with itself")
    return {"system_a": a, "system_b": b, "winner": _COMPARED[preferred]}


def _is_support(sample: Sample) -> bool:
    return sample.has("statement", "citation") or sample.has("run_id", "sentences")


RAGDOLL_SUPPORT = FileFormat(
    name="ragdoll-support",
    title="RAGDoll support requests, judgments or assignments",
    holds="support of sentences",
    recognises=_is_support,
    read=lambda source: lines_of(source.rows(), _support),
    fields="query, run, sentence, cited document and text, label; a failed judgment has none",
    lost="prompt and reply of the judge",
    used_by="nuggetstream import",
)
ARGQUALITY = FileFormat(
    name="argquality",
    title="ArgQuality (Dagstuhl-15512)",
    holds="labels of workers",
    recognises=lambda sample: sample.has("annotator", "#id", "cogency"),
    read=lambda source: lines_of(source.rows(), _graded),
    fields="argument, annotator, a label per dimension; in UTF-8",
    lost="texts, issue, stance",
    used_by="nuggetstream import, whose rows `nuggetstream crowd` reads",
)
ARGQUALITY_PAIRS = FileFormat(
    name="argquality-20",
    title="Webis-ArgQuality-20, comparisons",
    holds="votes",
    recognises=lambda sample: sample.has(*_VOTED),
    read=lambda source: lines_of(source.rows(), _compared),
    vote_of=_comparison,
    fields="two arguments as systems, and the better one",
    used_by="nuggetstream rate",
)
