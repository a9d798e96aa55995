"""An outcome: which answer of a battle one source prefers."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import Lens
from services.store.outcomes.probabilities import Probabilities


@dataclass(frozen=True, slots=True)
class Outcome:
    """The preference of one source about one battle.

    Attributes:
        battle_id: Id of the battle.
        source: Source of the preference: "human", "nugget", or a lens and the name of its judge, such as
            "judge:<evaluator>".
        lens: Lens that the source belongs to.
        arena: Arena of the battle.
        system_a: Name of the system that wrote answer A.
        system_b: Name of the system that wrote answer B.
        winner: The preference.
        margin: Difference of the nugget scores, A minus B; None where the lens has no margin.
        decided_at: When the source decided; its newest decision counts.
        probabilities: How probable each outcome is according to the source; None where it does not tell.
        list_version: Version of the nugget list that the preference rests on, of which the newest counts;
            None where it rests on no list.
        judge_model: Model of a judge, or of the labels that a preference by nuggets rests on, cut to 200
            characters. None for people, for grounded nuggets, whose labels are those of all nuggets, and for
            a panel, whose members have outcomes of their own.
        favoured: Of a judge asked in both orders, which answer its verdict favours by its position: 1 the one
            shown first, -1 the one shown second, 0 neither; None where it was asked in one order.
        longer: Of a judge, which answer is longer: 1 for A, -1 for B, 2 and -2 if at least twice as long, 0
            where both are equally long. None for other sources, and where `judge_model` is None.
    """

    battle_id: str
    source: str
    lens: Lens
    arena: str
    system_a: str
    system_b: str
    winner: Vote
    margin: float | None
    decided_at: datetime
    probabilities: Probabilities | None = None
    list_version: int | None = None
    judge_model: str | None = None
    favoured: int | None = None
    longer: int | None = None

    @property
    def rank(self) -> tuple[int, datetime]:
        """Of two outcomes of one source and battle, the one with the higher rank counts."""
        return self.list_version or 1, self.decided_at


_PLAIN = [name for name in Outcome.__slots__ if name != "probabilities"]


def outcome_of_row(row: Any) -> Outcome:
    """The outcome of a row of the outcomes table."""
    values = {name: getattr(row, name) for name in _PLAIN}
    probabilities = None if row.probability_a is None else Probabilities(row.probability_a, row.probability_b)
    return Outcome(
        **values | {"lens": Lens(row.lens), "winner": Vote(row.winner), "probabilities": probabilities}
    )


def row_of_outcome(outcome: Outcome) -> dict[str, Any]:
    """The row of an outcome."""
    row = {name: getattr(outcome, name) for name in _PLAIN}
    probabilities = outcome.probabilities
    shares = (None, None) if probabilities is None else (probabilities.a, probabilities.b)
    row |= {"probability_a": shares[0], "probability_b": shares[1]}
    return row | {"lens": outcome.lens.value, "winner": outcome.winner.value}
