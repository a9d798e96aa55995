"""F8 to F13: recorded verdicts, and TREC DL 2019 graded on exam questions."""

import csv
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.graded_passage import GradedPassage
from nuggetstream.fidelity.row import Row, near
from nuggetstream.files.qrels import qrels_text, read_qrels
from nuggetstream.files.rubric import read_graded
from nuggetstream.files.verdicts import parse_verdict
from nuggetstream.rubric.cover import CoverScore, cover_at, cover_overall
from nuggetstream.rubric.leaderboard_correlation import correlate, official_order, printed_scores
from nuggetstream.rubric.relevance import relevance_labels
from nuggetstream.rubric.retrieval import rankings_of
from nuggetstream.rubric.self_rating import self_rating
from nuggetstream.rubric.verification import spurious_items, uncovered_passages

Entry = tuple[str | int, ...]

# Leaderboard correlations (Spearman, Kendall) by prompt class: flan-t5-exam-appendix,
# dl19-autograde-qrels-leaderboard-analysis-graded.correlation.tsv, ndcg_cut.10.
PUBLISHED_CORRELATIONS = {
    "QuestionSelfRatedUnanswerablePromptWithChoices": (0.961, 0.848),
    "NuggetSelfRatedPrompt": (0.969, 0.856),
    "Thomas": (0.960, 0.833),
    "FagB": (0.968, 0.875),
    "FagB_few": (0.979, 0.885),
    "HELM": (0.962, 0.851),
    "Sun": (0.948, 0.828),
    "Sun_few": (0.979, 0.894),
}
# Ranked among the others but never submitted to TREC, so it has no official place.
_NOT_SUBMITTED = "UNH_exDL_bm25"
_PUBLISHED_VERDICTS = {Vote.A: 80, Vote.B: 94, Vote.TIE: 26}  # RAGElo repository, recorded evaluations
_LETTERS = {Vote.A: "A", Vote.B: "B", Vote.TIE: "C"}
_OVERALL = "_overall_"
_COVER_DEPTH, _COVER_MINIMUM, _COVER_TOLERANCE = 20, 3, 1e-6
_SPURIOUS_LINE = re.compile(r"(\S+/\S+)\t *(\d+)(?:\t|$)")
_UNCOVERED_LINE = re.compile(r"(\S+)\t(\d+)\t(\d+)\t")


def rows(data: Path) -> list[Row]:
    """F8 to F13 from the folders `ragelo` and `rubric`."""
    folder = data / "rubric"
    passages = read_graded(folder / "dl19-graded.jsonl.gz")
    return [
        _verdicts(data / "ragelo" / "pairwise_answers_evaluations.csv"),
        _export(folder, passages),
        *_correlations(folder, passages),
        _cover(folder, passages),
        _spurious(folder, passages),
        _uncovered(folder, passages),
        _ratings(passages),
    ]


def _verdicts(path: Path) -> Row:
    with path.open(encoding="utf-8", newline="") as file:
        recorded = [(parse_verdict(row["raw_answer"]), row["answer"]) for row in csv.DictReader(file)]
    counts = Counter(vote for vote, _ in recorded)
    differing = sum(_LETTERS[vote] != letter for vote, letter in recorded)
    passed = counts == Counter(_PUBLISHED_VERDICTS) and not differing
    ours = f"{_tally(counts)}; {differing} differ"
    published = f"{_tally(_PUBLISHED_VERDICTS)}; 0 differ"
    return Row("F8", "verdicts parsed, against the recorded column", published, ours, "exact", passed)


def _tally(counts: Counter[Vote] | dict[Vote, int]) -> str:
    return f"A {counts[Vote.A]}, B {counts[Vote.B]}, tie {counts[Vote.TIE]}"


def _export(folder: Path, passages: Sequence[GradedPassage]) -> Row:
    published = (folder / "dl19-exam-3.qrels").read_text(encoding="utf-8")
    ours = qrels_text(relevance_labels(passages))
    theirs, mine = published.splitlines(), ours.splitlines()
    same = sum(a == b for a, b in zip(theirs, mine, strict=False))
    shown = f"{len(mine)} lines, {same} identical"
    expected = f"{len(theirs)} lines"
    return Row("F9", "qrels from the best grade", expected, shown, "identical", ours == published)


def _correlations(folder: Path, passages: Sequence[GradedPassage]) -> list[Row]:
    rankings = {run: found for run, found in rankings_of(passages).items() if run != _NOT_SUBMITTED}
    official = official_order(printed_scores(rankings, read_qrels(folder / "nist-2019qrels-pass.txt"), 10))
    found = []
    for name, (rho, tau) in PUBLISHED_CORRELATIONS.items():
        labels = read_qrels(folder / "phase3-qrels-dl19" / f"{name}.qrel")
        ours = correlate(official, printed_scores(rankings, labels, 10))
        found += [
            near("F10", f"nDCG@10 order by {_short(name)}, Spearman", rho, ours.spearman, tolerance=0.003),
            near("F10", f"nDCG@10 order by {_short(name)}, Kendall", tau, ours.kendall, tolerance=0.003),
        ]
    return found


def _short(name: str) -> str:
    return name.partition("SelfRated")[0]


def _cover(folder: Path, passages: Sequence[GradedPassage]) -> Row:
    recorded = json.loads((folder / "upstream" / "dl19_exam_cover_upstream.json").read_text(encoding="utf-8"))
    published = recorded[str(_COVER_MINIMUM)]
    ours = cover_at(passages, _COVER_DEPTH, _COVER_MINIMUM)
    ours[_OVERALL] = cover_overall(passages, _COVER_MINIMUM)
    same_runs = ours.keys() == published.keys()
    pairs = [pair for run in published.keys() & ours.keys() for pair in _pairs(published[run], ours[run])]
    worst = max((_distance(theirs, mine) for theirs, mine in pairs), default=float("inf"))
    return Row(
        "F11",
        f"Cover@{_COVER_DEPTH} and n-EXAM with errors, grade ≥ {_COVER_MINIMUM}",
        f"{len(published)} runs × 4",
        f"{len(ours)} runs, largest difference {worst:.1e}",
        f"±{_COVER_TOLERANCE:g}",
        same_runs and worst <= _COVER_TOLERANCE,
    )


def _pairs(published: Sequence[float], ours: CoverScore) -> list[tuple[float, float | None]]:
    mine = (ours.cover, ours.cover_error, ours.n_exam, ours.n_exam_error)
    return list(zip(published, mine, strict=True))


def _distance(theirs: float, mine: float | None) -> float:
    return float("inf") if mine is None else abs(theirs - mine)


def _spurious(folder: Path, passages: Sequence[GradedPassage]) -> Row:
    text = (folder / "upstream" / "dl19_bad_question.txt").read_text(encoding="utf-8")
    lines = map(_SPURIOUS_LINE.match, text.splitlines())
    published: Counter[Entry] = Counter((line[1], int(line[2])) for line in lines if line)
    found = spurious_items(passages, limit=20)
    ours: Counter[Entry] = Counter((item.item, item.passages) for items in found.values() for item in items)
    return _same_entries("spurious questions and their counts", published, ours)


def _uncovered(folder: Path, passages: Sequence[GradedPassage]) -> Row:
    text = (folder / "upstream" / "dl19_uncovered_passages.txt").read_text(encoding="utf-8")
    published: Counter[Entry] = Counter()
    query = ""
    for line in text.splitlines():
        if line.startswith("query_id:"):
            query = line.partition(":")[2].strip()
        elif entry := _UNCOVERED_LINE.match(line):
            published[query, entry[1], int(entry[2]), int(entry[3])] += 1
    ours: Counter[Entry] = Counter(
        (p.query, p.passage, p.judgment, p.best) for p in uncovered_passages(passages)
    )
    return _same_entries("uncovered relevant passages", published, ours)


def _same_entries(what: str, published: Counter[Entry], ours: Counter[Entry]) -> Row:
    differing = (published - ours).total() + (ours - published).total()
    shown = f"{ours.total()} entries, {differing} differ"
    return Row("F12", what, f"{published.total()} entries", shown, "same entries", published == ours)


def _ratings(passages: Sequence[GradedPassage]) -> Row:
    recorded = [(p.replies[item], grade) for p in passages for item, grade in p.grades.items()]
    same = sum(self_rating(reply) == grade for reply, grade in recorded)
    return Row(
        "F13",
        "recorded self-ratings read again, strictly",
        "92,583 of 92,600",
        f"{same:,} of {len(recorded):,}",
        "exact",
        (same, len(recorded)) == (92_583, 92_600),
    )
