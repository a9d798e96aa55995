"""F10 and F11: leaderboards of TREC DL 2019 by qrels and by cover.

Sources: laura-dietz/flan-t5-exam-appendix and TREMA-UNH/rubric-evaluation.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from nuggetstream.fidelity.row import Basis, MakeRows, Row, near
from nuggetstream.fidelity.rubric_passages import graded_passages
from nuggetstream.files.qrels import read_qrels
from nuggetstream.rubric.correlating import compare
from nuggetstream.rubric.cover import CoverScore, Unanswerable
from nuggetstream.rubric.covering import Coverage, cover
from nuggetstream.rubric.graded import Graded
from nuggetstream.rubric.leaderboard_correlation import correlate, official_order, printed_scores
from nuggetstream.rubric.leaderboards import Column, read_labels, read_side
from nuggetstream.rubric.retrieval import Ranking, rankings_of
from nuggetstream.rubric.writing import write_cover

# Leaderboard correlations (Spearman, Kendall) by prompt class, ndcg_cut.10:
# dl19-autograde-qrels-leaderboard-analysis-graded.correlation.tsv.
RECORDED_CORRELATIONS = {
    "QuestionSelfRatedUnanswerablePromptWithChoices": (0.961, 0.848),
    "NuggetSelfRatedPrompt": (0.969, 0.856),
    "Thomas": (0.960, 0.833),
    "FagB": (0.968, 0.875),
    "FagB_few": (0.979, 0.885),
    "HELM": (0.962, 0.851),
    "Sun": (0.948, 0.828),
    "Sun_few": (0.979, 0.894),
}
# Order by Cover@20 against the official order (Spearman, Kendall), by lowest grade of an answer.
_RECORDED_COVER_CORRELATIONS = {3: (0.719, 0.535), 5: (0.874, 0.676)}
# Ranked among the others but never submitted to TREC, so it has no official rank.
_NOT_SUBMITTED = "UNH_exDL_bm25"
_OFFICIAL_QRELS = "nist-2019qrels-pass.txt"
_OVERALL = "_overall_"
_MEASURE_DEPTH, _COVER_DEPTH = 10, 20
_MINIMA = (3, 4, 5)
_CORRELATION_TOLERANCE, _COVER_TOLERANCE = 0.003, 1e-6


def qrels_leaderboards(data: Path) -> Iterator[Row]:
    """F10: the order of systems by qrels of eight prompts against the official one."""
    folder = data / "rubric"
    rankings = _rankings(data)
    official = official_order(printed_scores(rankings, read_qrels(folder / _OFFICIAL_QRELS), _MEASURE_DEPTH))
    for name, reference in RECORDED_CORRELATIONS.items():
        labels = read_qrels(folder / "phase3-qrels-dl19" / f"{name}.qrel")
        ours = correlate(official, printed_scores(rankings, labels, _MEASURE_DEPTH))
        what = f"order by nDCG@{_MEASURE_DEPTH} of {name.partition('SelfRated')[0]}"
        yield from _correlations("F10", what, reference, (ours.spearman, ours.kendall))


def covers(data: Path) -> Iterator[Row]:
    """F11: Cover@20 and n-EXAM of every run with their standard errors."""
    path = data / "rubric" / "upstream" / "dl19_exam_cover_upstream.json"
    recorded = json.loads(path.read_text(encoding="utf-8"))
    for minimum in _MINIMA:
        coverage = _coverage(data, minimum, Unanswerable.ZERO)
        ours = {system.system: system.score for system in coverage.systems} | {_OVERALL: coverage.overall}
        reference = recorded[str(minimum)]
        pairs = [pair for run in reference.keys() & ours.keys() for pair in _pairs(reference[run], ours[run])]
        worst = max((_distance(theirs, mine) for theirs, mine in pairs), default=float("inf"))
        yield Row(
            id="F11",
            basis=Basis.RECORDED,
            what=f"Cover@{_COVER_DEPTH} and n-EXAM with errors, grade ≥ {minimum}",
            reference=f"{len(reference)} runs × 4",
            ours=f"{len(ours)} runs, largest difference {worst:.1e}",
            tolerance=f"±{_COVER_TOLERANCE:g}",
            passed=ours.keys() == reference.keys() and worst <= _COVER_TOLERANCE,
        )


def cover_leaderboards(data: Path) -> Iterator[Row]:
    """F11b: the order of systems by the file that `cover` writes, as `correlate` reads it."""
    for minimum, reference in _RECORDED_COVER_CORRELATIONS.items():
        with TemporaryDirectory() as folder:
            _, leaderboard, _ = write_cover(_coverage(data, minimum), Path(folder))
            comparison = compare(
                read_side(leaderboard, Column()),
                read_labels(data / "rubric" / _OFFICIAL_QRELS),
                _rankings(data),
                left_out=[_NOT_SUBMITTED],
                break_ties=True,
            )
        ours = (comparison.correlation.spearman, comparison.correlation.kendall)
        what = f"order by Cover@{_COVER_DEPTH}, grade ≥ {minimum}"
        yield from _correlations("F11b", what, reference, ours)


ROWS: Mapping[str, MakeRows] = {"F10": qrels_leaderboards, "F11": covers, "F11b": cover_leaderboards}


@cache
def _rankings(data: Path) -> dict[str, Ranking]:
    rankings = rankings_of(graded_passages(data))
    return {system: ranking for system, ranking in rankings.items() if system != _NOT_SUBMITTED}


def _coverage(data: Path, minimum: int, unanswerable: Unanswerable = Unanswerable.LEFT_OUT) -> Coverage:
    return cover(Graded.of(graded_passages(data)), _COVER_DEPTH, minimum, unanswerable)


def _correlations(
    id_: str, what: str, reference: tuple[float, float], ours: tuple[float, float]
) -> Iterator[Row]:
    for name, theirs, mine in zip(("Spearman", "Kendall"), reference, ours, strict=True):
        yield near(
            id_, f"{what}, {name}", theirs, mine, basis=Basis.RECORDED, tolerance=_CORRELATION_TOLERANCE
        )


def _pairs(reference: Sequence[float], ours: CoverScore) -> list[tuple[float, float | None]]:
    mine = (ours.cover, ours.cover_error, ours.n_exam, ours.n_exam_error)
    return list(zip(reference, mine, strict=True))


def _distance(reference: float, ours: float | None) -> float:
    return float("inf") if ours is None else abs(reference - ours)
