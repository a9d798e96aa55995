"""Which way of combining the aspects of an answer comes closest to what people accept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nuggetstream.aspects.baselines import Scores
from nuggetstream.aspects.errors import (
    SPLITS,
    AspectError,
    HeldOutScore,
    aspect_errors,
    held_out_scores,
)
from nuggetstream.aspects.ratings import HumanMeans, ModelRating
from nuggetstream.aspects.tree import TREE_DEPTH, AcceptabilityTree, acceptability_tree
from nuggetstream.aspects.weights import (
    EQUAL_WEIGHTS,
    PUBLISHED_WEIGHTS,
    DegenerateRatings,
    Refit,
    refit,
    weighted_score,
)
from nuggetstream.figures.drawn import Drawn
from nuggetstream.files import tables
from nuggetstream.files.numerals import many
from nuggetstream.files.tables import Table
from nuggetstream.statistics.ranks import pearson

DEFAULT_SEED = 20250504
_ASPECTS = ("factuality", "amount", "formality")


class NoAnswerInCommon(ValueError):
    """The judge and the people rated no answer in common."""


@dataclass(frozen=True, slots=True)
class ScoreCorrelation:
    """How closely one score follows the acceptability by people.

    Attributes:
        score: Name of the score.
        answers: Number of answers that both rated and that have this score.
        pearson: Pearson's r in [-1, 1] over these answers; None where one side never varies, or where there
            is no such score.
    """

    score: str
    answers: int
    pearson: float | None


@dataclass(frozen=True, slots=True, repr=False)
class AspectScores(Drawn):
    """Scores from aspects against the acceptability by people. As a table: one row per score.

    Attributes:
        judged: Number of answers that the judge rated.
        people: Number of answers that people rated.
        both: Number of answers that both rated.
        scores: Every way of combining the judge's aspects, and the judge's overall rating.
        fitted: Weights fitted to people's own aspects and acceptability; None when they are not determined.
        tree: Tree from the judge's aspects to people's acceptability; None with too few answers.
        missing: What could not be computed, and why.
        held_out: Weights and a tree from people's aspects, tested on answers that they were not fitted to.
        errors: How far the judge is from people in each aspect.
    """

    judged: int
    people: int
    both: int
    scores: tuple[ScoreCorrelation, ...]
    fitted: Refit | None
    tree: AcceptabilityTree | None
    missing: tuple[str, ...]
    held_out: tuple[HeldOutScore, ...]
    errors: tuple[AspectError, ...]

    def table(self) -> Table:
        """One row per score, and how closely it follows people."""
        columns = (
            tables.text("score"),
            tables.count("answers"),
            tables.number("pearson", "Pearson's r", digits=3),
        )
        rows = tuple((one.score, one.answers, one.pearson) for one in self.scores)
        basis = (
            f"{self.both:,} answers rated by both, {self.judged:,} by the judge, {self.people:,} by people"
        )
        return Table("Scores against acceptability", columns, rows, (basis, *self.missing))

    def weights_table(self) -> Table:
        """Published weights beside those fitted to people; without rows where these are not determined."""
        columns = (
            tables.text("aspect"),
            tables.number("published", digits=3),
            tables.number("fitted", digits=3),
            tables.number("error", "± standard error", digits=3),
        )
        fitted = self.fitted
        if fitted is None:
            return Table("Weights", columns, ())
        weights = (PUBLISHED_WEIGHTS, fitted.weights, fitted.errors)
        rows = tuple((name, *(getattr(fold, name) for fold in weights)) for name in _ASPECTS)
        note = (
            f"fitted by least squares to {many(fitted.answers, 'answer')} rated by people, R² "
            f"{fitted.r_squared:.3f}; the row “weights fitted to people” compares the fit with the same "
            "acceptability and does not tell how it does on new answers"
        )
        intercept = ("intercept", None, fitted.intercept, fitted.intercept_error)
        return Table("Weights", columns, (*rows, intercept), (note,))

    def held_out_table(self) -> Table:
        """How weights and a tree do on answers that they were not fitted to, beside the paper."""
        columns = (
            tables.text("score"),
            tables.number("published", digits=3),
            tables.number("pearson", "Pearson's r", digits=3),
            tables.interval("low", "high", "95% of splits", digits=3),
        )
        rows = tuple((one.score, one.published, one.pearson, (one.low, one.high)) for one in self.held_out)
        notes = (
            f"from people's own aspects: mean of {SPLITS} random splits, 80% fitted and 20% tested",
            "published: of one split of single ratings; means of raters follow acceptability more closely",
        )
        return Table("On held-out answers", columns, rows, notes)

    def errors_table(self) -> Table:
        """How far the judge is from people in each aspect."""
        columns = (
            tables.text("aspect"),
            tables.count("answers"),
            tables.number("error", "mean error", digits=3),
            tables.interval("low", "high", "95%", digits=3),
            tables.number("bias", digits=3),
        )
        rows = tuple(
            (one.aspect, one.answers, one.error, (one.low, one.high), one.bias) for one in self.errors
        )
        notes = (
            "error: |judge - people|, of amount and formality by their distance from right; bias: signed",
            "95%: percentile bootstrap over answers",
        )
        return Table("Error per aspect", columns, rows, notes)


def follow(
    judge: Mapping[str, ModelRating],
    people: Mapping[str, HumanMeans],
    seed: int = DEFAULT_SEED,
    others: Scores | None = None,
) -> AspectScores:
    """Pearson's r of every score with the mean acceptability by people.

    Args:
        judge: Answer id -> rating by the judge.
        people: Answer id -> means over human raters.
        seed: Seed of the folds that cross-validate the tree.
        others: Score -> answer id -> its value, of scores that need no judge; None for none.

    Raises:
        NoAnswerInCommon: The judge and the people rated no answer in common.
    """
    both = [answer for answer in judge if answer in people]
    if not both:
        raise NoAnswerInCommon(f"{len(judge)} and {len(people)} answers, and none in common")
    aspects = [judge[answer].aspects for answer in both]
    accepted = [people[answer].acceptability for answer in both]
    fitted, tree, missing = None, None, []
    try:
        fitted = refit(
            [means.aspects for means in people.values()], [means.acceptability for means in people.values()]
        )
    except DegenerateRatings as error:
        missing.append(f"no fitted weights: {error}")
    try:
        tree = acceptability_tree(aspects, accepted, seed)
    except ValueError as error:
        missing.append(f"no tree: {error}")
    scores: dict[str, Sequence[float] | None] = {
        "W-LLM, published weights": [weighted_score(rating, PUBLISHED_WEIGHTS) for rating in aspects],
        "equal weights": [weighted_score(rating, EQUAL_WEIGHTS) for rating in aspects],
        "weights fitted to people": (
            [weighted_score(rating, fitted.weights) for rating in aspects] if fitted else None
        ),
        f"tree of depth {TREE_DEPTH}, cross-validated": tree.predicted if tree else None,
        "the judge's overall rating": [judge[answer].overall for answer in both],
    }
    return AspectScores(
        judged=len(judge),
        people=len(people),
        both=len(both),
        scores=(
            *(_correlation(name, values, accepted) for name, values in scores.items()),
            *(_other(name, values, both, people) for name, values in (others or {}).items()),
        ),
        fitted=fitted,
        tree=tree,
        missing=tuple(missing),
        held_out=held_out_scores(list(people.values()), TREE_DEPTH, seed),
        errors=aspect_errors(judge, people, seed),
    )


def _other(
    name: str, values: Mapping[str, float], both: Sequence[str], people: Mapping[str, HumanMeans]
) -> ScoreCorrelation:
    rated = [answer for answer in both if answer in values]
    accepted = [people[answer].acceptability for answer in rated]
    return _correlation(name, [values[answer] for answer in rated], accepted)


def _correlation(name: str, values: Sequence[float] | None, accepted: Sequence[float]) -> ScoreCorrelation:
    correlation = None if values is None else pearson(values, accepted)
    answers = 0 if values is None else len(values)
    return ScoreCorrelation(name, answers, None if correlation is None else correlation.coefficient)
