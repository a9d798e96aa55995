"""Scores of answers that need no judge: length, overlap with references, and a given perplexity."""

import math
import re
from collections.abc import Iterable, Mapping

from nuggetstream.domain.inputs import is_mark
from nuggetstream.files.columns import with_columns
from nuggetstream.files.record import Record, as_number
from nuggetstream.files.texts import TEXT_COLUMNS
from nuggetstream.text.baselines import rouge_l
from nuggetstream.text.statistics import words
from nuggetstream.text.terms import terms

LENGTH, ROUGE, PERPLEXITY = "length in words", "ROUGE-L to references", "perplexity"
_REFERENCES = ("reference", "reference_snippet", *TEXT_COLUMNS)
_TAG = re.compile(r"<[^<>]*>")
Scores = Mapping[str, Mapping[str, float]]


def baselines_of(answers: Iterable[Record], references: Iterable[Record] = ()) -> Scores:
    """Score -> answer -> its value.

    Args:
        answers: Rows with answer_id, a text (`answer`, `text`, `response` or `output`), and perhaps a
            perplexity; one row per answer. With references also question_id.
        references: Rows with question_id and a text (`reference`, `reference_snippet` or as above); several
            of one question are one text, without tags of HTML, and empty ones are none.

    Returns:
        Length in words; ROUGE-L in [0, 1] with the references of the question, where it has any; and the
        perplexity, where an answer has one.

    Raises:
        UnusableFile: A row lacks a field, or has one that is no number; names its place.
    """
    texts: dict[str, list[str]] = {}
    for record in with_columns(references, ("question_id", *_REFERENCES)):
        if text := _text(record, _REFERENCES):
            texts.setdefault(record.needed_key("question_id"), []).append(_TAG.sub("", text))
    scores: dict[str, dict[str, float]] = {LENGTH: {}, ROUGE: {}, PERPLEXITY: {}}
    for record in with_columns(answers, ("answer_id", "question_id", PERPLEXITY, *TEXT_COLUMNS)):
        answer, text = record.needed_key("answer_id"), _text(record, TEXT_COLUMNS) or ""
        if answer in scores[LENGTH]:
            raise record.wrong("answer_id", f"answer {answer!r} is there twice")
        scores[LENGTH][answer] = len(words(text))
        if texts and (own := texts.get(record.needed_key("question_id"))):
            scores[ROUGE][answer] = rouge_l(terms(text), terms(" ".join(own)))
        if (given := record.text(PERPLEXITY)) and not is_mark(given):
            if not math.isfinite(value := as_number(given)):
                raise record.wrong(PERPLEXITY, f"is {given!r}; expected a number")
            scores[PERPLEXITY][answer] = value
    return {score: values for score, values in scores.items() if values}


def _text(record: Record, columns: tuple[str, ...]) -> str | None:
    """The text of a row; None where it is empty."""
    if not any(column in record.fields for column in columns):
        raise record.wrong(columns[0], "is missing")
    return next(filter(None, map(record.text, columns)), None)
