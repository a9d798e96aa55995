"""F9, F12 and F13: passages of TREC DL 2019 graded on exam questions.

Sources: laura-dietz/flan-t5-exam-appendix and TREMA-UNH/rubric-evaluation.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from nuggetstream.domain.graded_passage import GradedPassage
from nuggetstream.fidelity.row import Basis, MakeRows, Row
from nuggetstream.files.qrels import qrels_text
from nuggetstream.files.rubric import read_graded
from nuggetstream.rubric.relevance import relevance_labels
from nuggetstream.rubric.self_rating import self_rating
from nuggetstream.rubric.verification import spurious_items, uncovered_passages

Entry = tuple[str | int | None, ...]

_SPURIOUS_LINE = re.compile(r"(\S+/\S+)\t *(\d+)(?:\t|$)")
_UNCOVERED_LINE = re.compile(r"(\S+)\t(\d+)\t(\d+)\t")
_SPURIOUS_PER_QUERY = 20
# The other 17 replies are a lone letter, recorded as 1.
_STRICT_RATINGS, _RATINGS = 92_583, 92_600


def qrels(data: Path) -> Iterator[Row]:
    """F9: the recorded qrels, line by line."""
    recorded = (data / "rubric" / "dl19-exam-3.qrels").read_text(encoding="utf-8")
    ours = qrels_text(relevance_labels(graded_passages(data)))
    recorded_lines, our_lines = recorded.splitlines(), ours.splitlines()
    same = sum(a == b for a, b in zip(recorded_lines, our_lines, strict=False))
    yield Row(
        id="F9",
        basis=Basis.RECORDED,
        what="qrels from the best grade",
        reference=f"{len(recorded_lines):,} lines",
        ours=f"{len(our_lines):,} lines, {same:,} identical",
        tolerance="identical",
        passed=ours == recorded,
    )


def contradictions(data: Path) -> Iterator[Row]:
    """F12: spurious questions and uncovered passages, as the original workbench prints them."""
    spurious = spurious_items(graded_passages(data), limit=_SPURIOUS_PER_QUERY)
    yield _same_entries(
        "spurious questions and their counts",
        _recorded_spurious(data),
        Counter((item.item, item.passages) for items in spurious.values() for item in items),
    )
    uncovered = uncovered_passages(graded_passages(data))
    yield _same_entries(
        "uncovered relevant passages",
        _recorded_uncovered(data),
        Counter((p.query, p.passage, p.judgment, p.best) for p in uncovered),
    )


def self_ratings(data: Path) -> Iterator[Row]:
    """F13: recorded self-ratings, read again from the replies."""
    recorded = [(p.replies[item], grade) for p in graded_passages(data) for item, grade in p.grades.items()]
    same = sum(self_rating(reply) == grade for reply, grade in recorded)
    yield Row(
        id="F13",
        basis=Basis.RECORDED,
        what="self-ratings read from replies, strictly",
        reference=f"{_STRICT_RATINGS:,} of {_RATINGS:,}",
        ours=f"{same:,} of {len(recorded):,}",
        tolerance="exact",
        passed=(same, len(recorded)) == (_STRICT_RATINGS, _RATINGS),
    )


ROWS: Mapping[str, MakeRows] = {"F9": qrels, "F12": contradictions, "F13": self_ratings}


@cache
def graded_passages(data: Path) -> Sequence[GradedPassage]:
    """The graded passages of TREC DL 2019."""
    return read_graded(data / "rubric" / "dl19-graded.jsonl.gz")


def _recorded_spurious(data: Path) -> Counter[Entry]:
    text = (data / "rubric" / "upstream" / "dl19_bad_question.txt").read_text(encoding="utf-8")
    lines = map(_SPURIOUS_LINE.match, text.splitlines())
    return Counter((line[1], int(line[2])) for line in lines if line)


def _recorded_uncovered(data: Path) -> Counter[Entry]:
    text = (data / "rubric" / "upstream" / "dl19_uncovered_passages.txt").read_text(encoding="utf-8")
    recorded: Counter[Entry] = Counter()
    query = ""
    for line in text.splitlines():
        if line.startswith("query_id:"):
            query = line.partition(":")[2].strip()
        elif entry := _UNCOVERED_LINE.match(line):
            recorded[query, entry[1], int(entry[2]), int(entry[3])] += 1
    return recorded


def _same_entries(what: str, recorded: Counter[Entry], ours: Counter[Entry]) -> Row:
    differing = (recorded - ours).total() + (ours - recorded).total()
    return Row(
        id="F12",
        basis=Basis.RECORDED,
        what=what,
        reference=f"{recorded.total():,} entries",
        ours=f"{ours.total():,} entries, {differing:,} differ",
        tolerance="same entries",
        passed=recorded == ours,
    )
