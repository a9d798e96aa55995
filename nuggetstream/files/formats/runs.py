"""Answers of runs: one file per system or one for all, one answer to a topic per row.

    TREC RAG 2024    {run_id, topic_id, topic, references, answer: [{text, citations}]}
    TREC RAG 2025    {metadata: {run_id, narrative_id, narrative, ...}, references, answer: [...]}
    RAGDoll          the same with `segments` (text by id), or {run_id, qid, query, answer_text}
    nuggetizer       assignments: {run_id, qid, query, answer_text, nuggets: [{text, importance, assignment}]}

Citations count references from 0. They become marks that count from 1, such as [2], behind their sentence.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from nuggetstream.files.formats.format import BATTLES, FileFormat, Line, Sample, Source, lines_of, object_of
from nuggetstream.files.formats.pairing import Answers, RunAnswer, source_of, system_of
from nuggetstream.files.formats.rows import Row, shown
from nuggetstream.files.submission import InvalidSubmission

Fields = Mapping[str, Any]
NUGGETIZER_ARENA = "nuggetizer"


def run_answer(row: Row, documents: Mapping[str, str]) -> RunAnswer:
    """The answer in a row of any of these shapes.

    Args:
        row: The row.
        documents: Text of a document by its id. Where it is empty, references keep their id alone.

    Raises:
        InvalidSubmission: Names the fields that are missing or wrong.
    """
    fields = object_of(row)
    metadata = fields.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    topic = _first(fields, ("qid", "topic_id", "query_id")) or _first(metadata, ("narrative_id", "topic_id"))
    query = _first(fields, ("query", "topic")) or _first(metadata, ("narrative", "title"))
    system = _first(fields, ("run_id",)) or _first(metadata, ("run_id",))
    missing = [
        f"{name}: is missing"
        for name, value in (
            ("topic_id or metadata.narrative_id", topic),
            ("topic or metadata.narrative", query),
            ("run_id or metadata.run_id", system),
        )
        if value is None
    ]
    if topic is None or query is None or system is None:
        raise InvalidSubmission(missing)
    text, cited = _text(fields), _references(fields)
    name = system_of(system, "run_id")
    return RunAnswer(topic, query, name, text, _sources(fields, cited, documents))


def _first(fields: Fields, names: tuple[str, ...]) -> str | None:
    for name in names:
        value = fields.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return str(value)
    return None


def _text(fields: Fields) -> str:
    if isinstance(text := fields.get("answer_text"), str):
        return text
    name = "answer" if "answer" in fields else "responses"
    sentences = fields.get(name)
    if isinstance(sentences, str):
        return sentences
    if not isinstance(sentences, list):
        raise InvalidSubmission(
            [f"answer: is {shown(sentences)}; expected a list of sentences, or answer_text"]
        )
    return " ".join(_sentence(sentence, f"{name}.{index}") for index, sentence in enumerate(sentences))


def _sentence(sentence: Any, name: str) -> str:
    match sentence:
        case str(text):
            return text
        case {"text": str(text), **rest}:
            marks = rest.get("citations") or []
            if isinstance(marks, list) and all(isinstance(mark, int) for mark in marks):
                return f"{text} [{', '.join(str(mark + 1) for mark in marks)}]" if marks else text
            raise InvalidSubmission([f"{name}.citations: is {shown(marks)}; expected numbers of references"])
        case _:
            raise InvalidSubmission(
                [f"{name}: is {shown(sentence)}; expected an object with text and citations"]
            )


def _references(fields: Fields) -> list[str]:
    references = fields.get("references") or []
    if not isinstance(references, list) or not all(isinstance(name, str) for name in references):
        raise InvalidSubmission([f"references: is {shown(references)}; expected a list of document ids"])
    return references


def _sources(fields: Fields, cited: list[str], documents: Mapping[str, str]) -> tuple[dict[str, Any], ...]:
    segments = fields.get("segments")
    own = segments.items() if isinstance(segments, dict) else ()
    texts = {**documents, **{name: text for name, text in own if isinstance(text, str)}}
    lost = [name for name in cited if name not in texts]
    if texts and lost:
        problem = f"references: {len(lost)} of {len(cited)} documents are missing, such as {lost[0]!r}"
        raise InvalidSubmission([f"{problem}; name their file with --documents"])
    return tuple(source_of(name, texts.get(name)) for name in cited)


def _read(arena: str) -> Any:
    def read(source: Source) -> Iterator[Line]:
        answers = Answers(arena)

        def keep(row: Row) -> tuple[Line, ...]:
            answers.add(row.line, run_answer(row, source.documents))
            return ()

        yield from lines_of(source.rows(), keep)
        yield from answers.battles(source)

    return read


def _is_answer(sample: Sample) -> bool:
    metadata = sample.value.get("metadata") if isinstance(sample.value, dict) else None
    named = sample.has("run_id") or (isinstance(metadata, dict) and "run_id" in metadata)
    return named and sample.has_any("answer", "responses")


TREC_RAG = FileFormat(
    name="trec-rag",
    title="TREC RAG 2024 and 2025 answers",
    holds=BATTLES,
    recognises=lambda sample: _is_answer(sample) and not sample.has("segments"),
    read=_read("trec-rag"),
    fields="every two runs that answer a topic: sentences with marks of citations, references",
    lost="team, type of run, length; texts of references unless --documents has them",
)
RAGDOLL = FileFormat(
    name="ragdoll",
    title="RAGDoll answers",
    holds=BATTLES,
    recognises=lambda sample: (
        sample.has("run_id") and sample.has_any("segments", "answer_text") and not sample.has("nuggets")
    ),
    read=_read("ragdoll"),
    fields="every two runs that answer a query: answers, references with the texts of `segments`",
)
NUGGETIZER_ASSIGNMENTS = FileFormat(
    name="nuggetizer-assignments",
    title="nuggetizer assignments",
    holds=BATTLES,
    recognises=lambda sample: sample.has("answer_text", "nuggets", "run_id"),
    read=_read(NUGGETIZER_ARENA),
    fields="every two runs that answer a query; with `import --to results`, their nuggets and labels as well",
    lost="response length, trace; without `--to results`, nuggets and labels, which are made anew",
)
