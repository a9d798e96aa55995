"""Nugget scores of answers, from plain facts and labels."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from nuggetstream.api.choices import choice
from nuggetstream.api.sources import in_python
from nuggetstream.domain.battle import Vote
from nuggetstream.domain.inputs import VALUES, Kind, check_kind, is_missing
from nuggetstream.domain.nugget import Importance, Nugget, Support
from nuggetstream.figures.drawn import Drawn
from nuggetstream.files.numerals import decisive_digits
from nuggetstream.files.table_data import Cell
from nuggetstream.files.tables import Named, Table, number, text
from nuggetstream.nuggets.scores import (
    TIE_THRESHOLD_WITH_URLS,
    NuggetScores,
    Unscorable,
    preference,
    score_answer,
)

Fact: TypeAlias = Nugget | tuple[str, str] | Mapping[str, str]
Labels: TypeAlias = Sequence[Support | str | None] | Mapping[str, Support | str | None]
_COLUMNS = (
    text("answer"),
    number("all_score", "all"),
    number("strict_all"),
    number("vital"),
    number("strict_vital"),
    number("weighted"),
    number("strict_weighted"),
)


@dataclass(frozen=True, slots=True, repr=False)
class Scores(Named[NuggetScores], Drawn):
    """The six nugget scores of every answer, and which of two answers they prefer.

    Attributes:
        answers: Scores by the name of the answer, in the order given.
        nuggets: Number of nuggets.
        vital: Number of vital nuggets among them.
        threshold: Difference of the All Scores up to which two answers are equally good.
    """

    answers: Mapping[str, NuggetScores]
    nuggets: int
    vital: int
    threshold: float

    def by_name(self) -> Mapping[str, NuggetScores]:
        """The scores of each answer."""
        return self.answers

    @property
    def margin(self) -> float | None:
        """All Score of the first answer less that of the second, in [-1, 1]; None unless there are two."""
        if len(self.answers) != 2:
            return None
        first, second = self.answers.values()
        return first.all_score - second.all_score

    @property
    def preference(self) -> Vote | None:
        """Which answer the All Scores prefer, A being the first; None unless there are two answers."""
        return None if self.margin is None else preference(self.margin, 0.0, self.threshold)

    def table(self) -> Table:
        """One row per answer; a vital score is missing where no nugget is vital."""
        rows: list[tuple[Cell, ...]] = []
        for name, scores in self.answers.items():
            values = asdict(scores)
            rows.append((name, *(values[column.names[0]] for column in _COLUMNS[1:])))
        title = f"Nugget scores ({self.nuggets} nuggets, {self.vital} vital)"
        return Table(title, _COLUMNS, tuple(rows), self._notes())

    def _notes(self) -> tuple[str, ...]:
        preferred = self.preference
        if preferred is None or self.margin is None:
            return ()
        digits = decisive_digits(self.margin, 0.0, self.threshold)
        size = f"The All Scores differ by {abs(self.margin):.{digits}f}"
        limit = f"the tie threshold of {self.threshold:.{digits}f}"
        if preferred is Vote.TIE:
            return (f"{size}, at most {limit}: a tie.",)
        name = list(self.answers)[preferred is Vote.B]
        return (f"{size}, more than {limit}: {name} is preferred.",)


@in_python
def score(
    nuggets: Iterable[Fact], labels: Mapping[str, Labels], *, threshold: float = TIE_THRESHOLD_WITH_URLS
) -> Scores:
    """The six nugget scores of every answer: how much of what a good answer needs does it state?

    With s = 1 for support, ½ for partial support (0 in the strict scores), 0 otherwise, also for a
    contradiction: all = mean of s over all nuggets; vital = mean over the vital ones;
    weighted = (Σ vital s + ½ Σ okay s) / (|vital| + ½ |okay|).

    Args:
        nuggets: At least one: a pair (text, "vital" or "okay"), a dictionary with `text` and `importance`,
            or a `Nugget`.
        labels: For every answer, by its name, one label per nugget: in the order of the nuggets, or a
            dictionary by the nugget's text (or id). A label is "support", "partial_support", "not_support" or
            "contradiction".
        threshold: Difference of the All Scores up to which two answers count as equal. The published values
            are 0.07 for answers with sources and 0.10 for answers without.

    Returns:
        Six scores per answer, each in [0, 1], higher is better; a vital score is None without a vital nugget.
        With two answers, also the preference.

    Raises:
        Unscorable: There is no nugget, or a label is missing: a missing label is not a zero.
        ValueError: Something is no importance or no label; the message names the answer and the nugget.
        NotAccepted: Nuggets or labels are a path, a frame or another thing that holds none; names its type.

    Source: Pradeep et al., "The Great Nugget Recall", 2025 (arXiv:2504.15068); Sharifymoghaddam et al.,
    "Search Arena Meets Nuggets", 2025 (arXiv:2504.20006).

    >>> facts = [("The Moon raises tides.", "vital"), ("The Sun raises tides, too.", "okay")]
    >>> scores = score(facts, {"atlas": ["support", "partial_support"], "birch": ["support", "not_support"]})
    >>> scores["atlas"].all_score, scores["birch"].all_score, scores.preference
    (0.75, 0.5, <Vote.A: 'a'>)
    """
    check_kind("nuggets", nuggets, (Kind.SEQUENCE, Kind.ITERATOR), "a list of pairs (text, importance)")
    check_kind("labels", labels, (Kind.MAPPING,), "the labels of each answer by its name, in a dictionary")
    facts = [_nugget(index, given) for index, given in enumerate(nuggets)]
    if not facts:
        raise Unscorable("no nuggets")
    if not labels:
        raise Unscorable("no answers")
    return Scores(
        answers={str(name): _scored(str(name), facts, given) for name, given in labels.items()},
        nuggets=len(facts),
        vital=sum(fact.importance is Importance.VITAL for fact in facts),
        threshold=threshold,
    )


def _nugget(index: int, given: Fact) -> Nugget:
    if isinstance(given, Nugget):
        return given
    where = f"nugget {index}"
    match given:
        case {"text": str(words), "importance": str(importance)}:
            pass
        case (str(words), str(importance)):
            pass
        case _:
            raise ValueError(f"{where}: is {given!r}; expected (text, importance)")
    return Nugget(
        id=f"{index}", text=words, importance=choice(f"{where}: importance", Importance, importance)
    )


def _scored(answer: str, facts: Sequence[Nugget], given: Labels) -> NuggetScores:
    by_id = {fact.id: _label(answer, fact, label) for fact, label in _paired(answer, facts, given)}
    missing = [fact.text for fact in facts if by_id.get(fact.id) is None]
    if missing:
        count = f"{len(missing)} of {len(facts)} nuggets have no label"
        raise Unscorable(f"answer {answer!r}: {count}, such as {missing[0]!r}")
    return score_answer(facts, {name: label for name, label in by_id.items() if label is not None})


def _paired(answer: str, facts: Sequence[Nugget], given: Labels) -> list[tuple[Nugget, Any]]:
    check_kind(f"answer {answer!r}: labels", given, VALUES | {Kind.MAPPING}, "one label per nugget")
    if isinstance(given, Mapping):
        facts_by_name = {name for fact in facts for name in (fact.id, fact.text)}
        if foreign := [name for name in given if name not in facts_by_name]:
            raise ValueError(f"answer {answer!r}: {foreign[0]!r} is no nugget")
        return [(fact, given.get(fact.text, given.get(fact.id))) for fact in facts]
    given = list(given)
    if len(given) != len(facts):
        raise ValueError(f"answer {answer!r}: {len(given)} labels for {len(facts)} nuggets")
    return list(zip(facts, given, strict=True))


def _label(answer: str, fact: Nugget, given: Support | str | None) -> Support | None:
    if is_missing(given):
        return None
    return choice(f"answer {answer!r}: {fact.text!r}", Support, str(given))
