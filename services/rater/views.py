"""What is computed from counts, with the battles that it rests on: one value that travels and is shown."""

from collections.abc import Iterable, Sequence

from nuggetstream.domain.lens import Lens
from nuggetstream.domain.note import Note
from nuggetstream.domain.slice import Slice
from nuggetstream.ratings.advice import Advice
from nuggetstream.ratings.comparison import Pairing
from nuggetstream.ratings.method import Method, method_of
from nuggetstream.ratings.model import Ratings
from nuggetstream.ratings.notes import notes_of
from nuggetstream.ratings.standing import BoardState
from nuggetstream.ratings.timeline import Period
from nuggetstream.views.comparisons import AdviceView, PairsView
from nuggetstream.views.ratings import BoardView, PeriodView
from services.rater.counting import Counted
from services.rater.notes import detected_language, several_judges, without_verdict


def board_view(
    counted: Counted,
    ratings: Ratings,
    slice_: Slice,
    *,
    received: int,
    flagged: int,
    evaluators: Sequence[str],
    detected: int,
) -> BoardView:
    """One board.

    Args:
        counted: The counts that were rated.
        ratings: The ratings.
        slice_: Filter of the battles, as it was asked for.
        received: Battles that the arena sent.
        flagged: Battles received with a flagged answer, whether they count or not.
        evaluators: Judges with outcomes in the arena and lens; empty for a lens without judges.
        detected: With a filter by language, battles received whose language was detected.
    """
    notes, method = [*notes_of(ratings)], _method(ratings, slice_)
    if counted.lens in (Lens.NUGGET, Lens.GROUNDED) and counted.counts.outcomes < received:
        notes.append(without_verdict())
    if len(evaluators) > 1 and slice_.evaluator is None:
        notes.append(several_judges(len(evaluators)))
    if detected:
        notes.append(detected_language(detected, received))
    return BoardView(
        arena=counted.arena,
        lens=counted.lens,
        state=ratings.state,
        note=_sentences(notes),
        notes=notes,
        fragility=ratings.fragility if ratings.fit else None,
        standings=[*ratings.standings],
        scored=counted.counts.decided,
        received=received,
        outcomes=counted.counts.outcomes,
        evaluators=[*evaluators],
        probable=counted.counts.probable,
        flagged=flagged,
        tie_policy=method.tie_policy,
        resamples=method.resamples,
        level=method.level,
        method=method,
    )


def pairs_view(
    counted: Counted, ratings: Ratings, slice_: Slice, pairs: Sequence[Pairing], *, received: int
) -> PairsView:
    """Every pair of systems on one board."""
    return PairsView(
        arena=counted.arena,
        lens=counted.lens,
        state=ratings.state,
        note=_sentences(notes_of(ratings)),
        systems=[standing.system for standing in ratings.standings],
        pairs=[*pairs],
        scored=counted.counts.decided,
        received=received,
        method=_method(ratings, slice_),
    )


def advice_view(
    counted: Counted, ratings: Ratings, slice_: Slice, advice: Advice, *, received: int
) -> AdviceView:
    """What to ask next; the notes of a board that ranks nobody say already why there is no advice."""
    missing = [f"There is no advice: {advice.missing}."] if advice.missing and ratings.fit else []
    return AdviceView(
        arena=counted.arena,
        lens=counted.lens,
        state=ratings.state,
        note=" ".join([*(note.text for note in notes_of(ratings)), *missing]),
        neighbours=[*advice.neighbours],
        next=[*advice.next],
        unranked=[*advice.unranked],
        power=advice.power,
        scored=counted.counts.decided,
        received=received,
        method=_method(ratings, slice_),
    )


def period_view(period: Period[Ratings]) -> PeriodView:
    """The ratings from the battles of one period."""
    return PeriodView(
        start=period.start,
        end=period.end,
        votes=period.votes,
        state=BoardState.EMPTY if period.rating is None else period.rating.state,
        standings=[] if period.rating is None else [*period.rating.standings],
    )


def _method(ratings: Ratings, slice_: Slice) -> Method:
    parameter, unranked = ratings.tie_parameter, ratings.unranked_resamples
    return method_of(ratings.options, slice_, tie_parameter=parameter, unranked_resamples=unranked)


def _sentences(notes: Iterable[Note]) -> str | None:
    return " ".join(note.text for note in notes) or None
