"""The nuggets themselves: how many, how vital, how often stated, how different from each other."""

from collections import Counter
from dataclasses import dataclass

from nuggetstream.domain.nugget import Importance, Support
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.results import Results
from nuggetstream.report.numbers.corrections import Corrections, corrections
from nuggetstream.report.numbers.grounding import Grounding, grounding
from nuggetstream.report.numbers.spread import Spread, spread
from nuggetstream.text.statistics import nugget_diversity

NO_LABEL = "no label"
LABELS = (*(label.value for label in Support), NO_LABEL)


@dataclass(frozen=True, slots=True)
class Nuggets:
    """Nuggets of all battles that have any.

    Attributes:
        received: All battles.
        battles: Battles with at least one nugget.
        total: Nuggets.
        count: Nuggets per battle.
        histogram: Nuggets per battle -> battles.
        vital: Share of vital nuggets per battle.
        diversity: Per battle, 1 minus the mean Jaccard similarity of the term sets of any two nuggets;
            1 means no term in common. Over battles with at least two nuggets.
        cosine: Per such battle, the mean cosine similarity of how often each term occurs in any two.
        labels: Importance -> label -> how often; two labels per nugget, one for each answer.
        corrected: The labels, of these, that people set.
        grounding: How close nuggets are to the passages they were read from.
    """

    received: int
    battles: int
    total: int
    count: Spread | None
    histogram: dict[int, int]
    vital: Spread | None
    diversity: Spread | None
    cosine: Spread | None
    labels: dict[str, dict[str, int]]
    corrected: Corrections
    grounding: Grounding


def compute_nuggets(results: Results) -> Nuggets:
    """Statistics over all nuggets."""
    battles = [battle for battle in results.battles if battle.nuggets]
    diversities = [
        diversity
        for battle in battles
        if (diversity := nugget_diversity([nugget.text for nugget in battle.nuggets]))
    ]
    labels = {importance.value: dict.fromkeys(LABELS, 0) for importance in Importance}
    for nugget in (nugget for battle in battles for nugget in battle.nuggets):
        for label in (nugget.a, nugget.b):
            labels[nugget.importance.value][label.support.value if label else NO_LABEL] += 1
    counts = [len(battle.nuggets) for battle in battles]
    return Nuggets(
        received=results.received,
        battles=len(battles),
        total=sum(counts),
        count=spread(counts),
        histogram=dict(sorted(Counter(counts).items())),
        vital=spread([_vital(battle) for battle in battles]),
        diversity=spread([1 - diversity.jaccard for diversity in diversities]),
        cosine=spread([diversity.cosine for diversity in diversities]),
        labels=labels,
        corrected=corrections(battles),
        grounding=grounding(battles),
    )


def _vital(battle: BattleRow) -> float:
    return sum(nugget.importance is Importance.VITAL for nugget in battle.nuggets) / len(battle.nuggets)
