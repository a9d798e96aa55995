"""What a column of outcomes says: words, names of systems, and numbers, which several conventions use.

    0 to 1       the share of the point that the first system takes, so 1 is a win and 0 a loss
    1 and 2      the first and the second system; a number between them, as AlpacaEval has it, is a share
    1, 0 and -1  a win of the first system, a tie and a loss

How numbers are meant is decided for a whole column. Numbers that fit none of these are rejected.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.inputs import is_finite_number
from nuggetstream.domain.worker_label import shortest_form
from nuggetstream.files.numerals import integer, many
from nuggetstream.files.record import Record, as_number
from nuggetstream.files.spellings import spelt_vote

_REMEDY = "say what they mean with --outcome, such as --outcome 1=a --outcome 2=b"
_SHOWN = 6
_HALF = 0.5
_LOWEST, _HIGHEST = -1, 2  # of the numbers of all conventions


class Numbers(StrEnum):
    """How numbers in a column of outcomes are meant."""

    SHARE = "the share of the point that the first system takes"
    SIDES = "1 for the first system, 2 for the second"
    BETWEEN = "from 1 for the first system to 2 for the second"
    SIGNS = "1 for a win of the first system, -1 for a loss, 0 for a tie"


_READ: Mapping[Numbers, Mapping[float, Vote]] = {
    Numbers.SHARE: {1.0: Vote.A, 0.0: Vote.B},
    Numbers.SIDES: {1.0: Vote.A, 2.0: Vote.B},
    Numbers.BETWEEN: {1.0: Vote.A, 2.0: Vote.B, 1.5: Vote.TIE},
    Numbers.SIGNS: {1.0: Vote.A, -1.0: Vote.B, 0.0: Vote.TIE},
}


class UnknownOutcome(ValueError):
    """A value says no outcome, or two at once."""


@dataclass(frozen=True, slots=True)
class OutcomeWords:
    """How the values of a column of outcomes are read.

    Attributes:
        named: Vote by the word that a person said means it; words without case.
        numbers: How numbers are meant.
    """

    named: Mapping[str, Vote] = field(default_factory=lambda: MappingProxyType({}))
    numbers: Numbers = Numbers.SHARE

    def outcome(self, value: str, system_a: str, system_b: str) -> Vote | float:
        """The outcome that a value says: a vote, or the share of the point that A takes.

        Args:
            value: A word that a person named, a usual spelling, the name of the winner, or a number.
            system_a: The first system.
            system_b: The second system.

        Raises:
            UnknownOutcome: It says nothing of the kind, or two things at once.

        >>> OutcomeWords().outcome("tie (bothbad)", "x", "y"), OutcomeWords().outcome("0.8", "x", "y")
        (<Vote.BOTH_BAD: 'both_bad'>, 0.8)
        >>> OutcomeWords({"yes": Vote.A}, Numbers.SIDES).outcome("2", "x", "y")
        <Vote.B: 'b'>
        """
        if (meant := self.named.get(spelling(value))) is not None:
            return meant
        by_name = {system_a: Vote.A, system_b: Vote.B}.get(value)
        spelt = spelt_vote(value)
        if by_name is not None and spelt is not None and by_name is not spelt:
            raise UnknownOutcome(
                f"is {value!r}, the name of one system and the usual word for another outcome"
            )
        if by_name is not None or spelt is not None:
            return by_name or spelt or Vote.TIE
        return self._of_number(value)

    def is_known(self, value: str) -> bool:
        """Whether a value says an outcome by itself: a word that a person named, a usual one, or a number."""
        return spelling(value) in self.named or spelt_vote(value) is not None or is_finite_number(value)

    def _of_number(self, value: str) -> Vote | float:
        number = as_number(value)
        if (vote := _READ[self.numbers].get(number)) is not None:
            return vote
        share = 2 - number if self.numbers is Numbers.BETWEEN else number
        if self.numbers in (Numbers.SHARE, Numbers.BETWEEN) and 0 <= share <= 1:
            return share
        raise UnknownOutcome(
            f"is {value!r}; expected a, b, tie, both_bad, the name of the winner, or a number in [0, 1]; "
            f"other words mean what --outcome says, such as --outcome {value.replace(' ', '_')}=tie"
        )


def words_of(named: Mapping[str, str]) -> dict[str, Vote]:
    """Words and the outcomes that a person says they mean.

    Raises:
        UnknownOutcome: One of them is no outcome; names it.

    >>> words_of({"Win": "a", "1": "tie"})
    {'win': <Vote.A: 'a'>, '1': <Vote.TIE: 'tie'>}
    """
    votes = {}
    for word, outcome in named.items():
        vote = spelt_vote(str(outcome))
        if vote is None:
            raise UnknownOutcome(f"--outcome {word}: is {outcome!r}; expected a, b, tie or both_bad")
        votes[spelling(str(word))] = vote
    return votes


def numbers_in(values: Mapping[str, int], named: Collection[str] = ()) -> Counter[str]:
    """The numbers among the values of a column of outcomes, and how many votes each has.

    Args:
        values: Votes by value; values that name a system of their row are left out.
        named: Words, without case, of which a person said what they mean.
    """
    numbers = Counter[str]()
    for value, votes in values.items():
        if is_finite_number(value) and spelling(value) not in named:
            numbers[shortest_form(value)] += votes
    return numbers


def meaning_of(counts: Collection[str]) -> Numbers:
    """How the numbers of a column are meant.

    Raises:
        UnknownOutcome: They fit no convention. Numbers that are in none, such as 7, are left out here.

    >>> meaning_of({"1", "2"}).name, meaning_of({"0", "0.5"}).name, meaning_of({"-1", "1"}).name
    ('SIDES', 'SHARE', 'SIGNS')
    """
    numbers = {float(number) for number in counts if _LOWEST <= float(number) <= _HIGHEST}
    is_alone = len(numbers) == 1 and not any(number.is_integer() for number in numbers)
    if is_alone or all(0 <= number <= 1 for number in numbers):
        return Numbers.SHARE  # a single 1.5 is no convention, and is rejected where its row is read
    if numbers <= {1.0, 2.0}:
        return Numbers.SIDES
    if all(1 <= number <= 2 for number in numbers):
        return Numbers.BETWEEN
    if numbers <= {-1.0, 0.0, 1.0}:
        return Numbers.SIGNS
    shown = ", ".join(f"{number:g}" for number in sorted(numbers)[:_SHOWN])
    raise UnknownOutcome(f"holds the numbers {shown}, which may mean several things; {_REMEDY}")


def numbers_said(column: str, words: OutcomeWords, numbers: Mapping[str, int]) -> list[str]:
    """How numbers were read and how many fell to each side, as a sentence; none without a number.

    Args:
        column: Name of the column.
        words: How they were read.
        numbers: How many votes each number has.

    >>> [said] = numbers_said("winner", OutcomeWords(numbers=Numbers.SIDES), {"1": 3, "2": 2})
    >>> said.partition("; ")[2]
    '3 votes for the first, 2 for the second'
    """
    sides = Counter[float]()
    for number, votes in numbers.items():
        with suppress(UnknownOutcome):  # named with its line where the row is read
            outcome = words.outcome(number, "", "")
            points = outcome.points if isinstance(outcome, Vote) else outcome
            sides[(points > _HALF) - (points < _HALF)] += votes
    if not sides:
        return []
    said = (
        f"{column}: numbers are read as {words.numbers}; {many(sides[1], 'vote')} for the first, "
        f"{integer(sides[-1])} for the second"
    )
    if sides[0]:
        said += f", {integer(sides[0])} for neither"
    if {as_number(number) for number in numbers} <= {0.0, 1.0}:
        said += "; for the index of the winner, use --outcome 0=a --outcome 1=b"
    return [said]


def winner_text(record: Record, column: str) -> str | None:
    """The outcome of a row as text, also where a file says true or false; None where it is missing."""
    value = record.value(column)
    return str(value) if isinstance(value, bool) else record.text(column)


def spelling(word: str) -> str:
    """A word as meanings are looked up by: numbers in their shortest form, and no case."""
    return shortest_form(word.strip()).casefold()
