"""Answers rated aspect by aspect: which way of adding the aspects up comes closest to what people accept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from nuggetstream.aspects.lfqa import (
    TREE_DEPTH,
    AcceptabilityTree,
    acceptability_tree,
    read_human_means,
    read_model_ratings,
)
from nuggetstream.aspects.weights import EQUAL_WEIGHTS, PUBLISHED_WEIGHTS, DegenerateRatings, Refit, refit
from nuggetstream.aspects.weights import weighted_score as score
from nuggetstream.files.cells import many, printable, table
from nuggetstream.files.dataset import UnusableFile
from nuggetstream.files.numerals import MISSING, fixed, number
from nuggetstream.statistics.ranks import pearson

_NAMES = ("factuality", "amount", "formality")


@dataclass(frozen=True, slots=True)
class Followed:
    """How closely one score follows people's acceptability.

    Attributes:
        score: its name.
        pearson: -1..1, over the answers that both rated; None where one side never varies, or there is no
            such score.
    """

    score: str
    pearson: float | None


@dataclass(frozen=True, slots=True)
class Rated:
    """What aspects say.

    Attributes:
        judged: answers that the judge rated.
        people: answers that people rated.
        both: answers that both rated.
        scores: every way of adding up the judge's aspects, and the judge's overall rating.
        fitted: weights fitted to people's own aspects and acceptability; None without an answer.
        tree: from the judge's aspects to people's acceptability; None with too few answers.
        missing: what has no answer, and why.
    """

    judged: int
    people: int
    both: int
    scores: tuple[Followed, ...]
    fitted: Refit | None
    tree: AcceptabilityTree | None
    missing: tuple[str, ...]


def follow(judge: Path, people: Path, seed: int) -> Rated:
    """Pearson's r of every score with the mean acceptability by people.

    Args:
        judge: one rating per answer.
        people: one or several per answer.
        seed: of the folds of the tree.

    Raises:
        UnusableFile: naming file, line and field; also when no answer is in both files.
    """
    rated, human = read_model_ratings(judge), read_human_means(people)
    both = [answer for answer in rated if answer in human]
    if not both:
        raise UnusableFile(f"{judge}: no answer here is in {people} under the same answer_id")
    aspects = [rated[answer].aspects for answer in both]
    accepted = [human[answer].acceptability for answer in both]
    fitted, tree, missing = None, None, []
    try:
        fitted = refit([one.aspects for one in human.values()], [one.acceptability for one in human.values()])
    except DegenerateRatings as error:
        missing.append(f"no fitted weights: {error}")
    try:
        tree = acceptability_tree(aspects, accepted, seed)
    except ValueError as error:
        missing.append(f"no tree: {error}")
    ways: dict[str, Sequence[float] | None] = {
        "W-LLM, published weights": [score(one, PUBLISHED_WEIGHTS) for one in aspects],
        "equal weights": [score(one, EQUAL_WEIGHTS) for one in aspects],
        "weights fitted to people": [score(one, fitted.weights) for one in aspects] if fitted else None,
        f"tree of depth {TREE_DEPTH}, cross-validated": tree.predicted if tree else None,
        "the judge's overall rating": [rated[answer].overall for answer in both],
    }
    scores = tuple(Followed(name, _pearson(values, accepted)) for name, values in ways.items())
    return Rated(len(rated), len(human), len(both), scores, fitted, tree, tuple(missing))


def draw(found: Rated) -> RenderableType:
    """Coefficients, weights with standard errors, and the tree."""
    shown = table("Scores against people's acceptability", "score", "Pearson's r", text=["score"])
    for each in found.scores:
        shown.add_row(each.score, number(each.pearson))
    return Group(shown, *(Text(printable(line)) for line in _lines(found)), *_fitted(found), *_tree(found))


def _pearson(values: Sequence[float] | None, accepted: Sequence[float]) -> float | None:
    found = None if values is None else pearson(values, accepted)
    return None if found is None else found.coefficient


def _lines(found: Rated) -> Iterator[str]:
    yield (
        f"over {many(found.both, 'answer')} that both rated, of {found.judged:,} by the judge and "
        f"{found.people:,} by people"
    )
    yield from (f"note: {why}" for why in found.missing)


def _fitted(found: Rated) -> Iterator[RenderableType]:
    if found.fitted is None:
        return
    shown = table("Weights", "aspect", "published", "fitted", "± standard error", text=["aspect"])
    for name in _NAMES:
        published, weight, error = (
            getattr(each, name) for each in (PUBLISHED_WEIGHTS, found.fitted.weights, found.fitted.errors)
        )
        shown.add_row(name, *(fixed(value, 3) for value in (published, weight, error)))
    shown.add_row(
        "intercept", MISSING, fixed(found.fitted.intercept, 3), fixed(found.fitted.intercept_error, 3)
    )
    yield Text()
    yield shown
    yield Text(
        f"least squares over {many(found.fitted.answers, 'answer')} by people alone, "
        f"R² {fixed(found.fitted.r_squared, 3)}; their own acceptability is fitted, so that the row "
        "“weights fitted to people” is no test on new answers"
    )


def _tree(found: Rated) -> Iterator[RenderableType]:
    if found.tree is not None:
        rules = found.tree.rules.rstrip()
        yield Text(f"\nTree of depth {TREE_DEPTH}, from the judge's aspects (each from 0 to 1)\n{rules}")
