"""F23: the six nugget scores on cases worked by hand."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from nuggetstream.domain.nugget import Importance, Nugget, Support
from nuggetstream.fidelity.row import Basis, MakeRows, Row
from nuggetstream.nuggets.scores import NuggetScores, score_answer

_VITAL = Nugget(id="v", text="a vital fact", importance=Importance.VITAL)
_OKAY = Nugget(id="o", text="an okay fact", importance=Importance.OKAY)
_UNSCORABLE = "unscorable"

# One vital nugget supported, one okay nugget partially: W = (1 + ½·½) / (1 + ½), strict (1 + 0) / (1 + ½).
BY_HAND = {
    "strict vital": "1.000",
    "strict all": "0.500",
    "vital": "1.000",
    "all": "0.750",
    "weighted": "0.833",
    "strict weighted": "0.667",
}
# Only the okay nugget, partially supported: vital scores have nothing to divide by.
BY_HAND_WITHOUT_VITAL = {
    "strict vital": _UNSCORABLE,
    "vital": _UNSCORABLE,
    "all": "0.500",
    "weighted": "0.500",
}


def nugget_scores(data: Path) -> Iterator[Row]:  # noqa: ARG001 - these cases need no recorded data
    """F23: scores worked by hand."""
    both = score_answer([_VITAL, _OKAY], {"v": Support.SUPPORT, "o": Support.PARTIAL_SUPPORT})
    alone = score_answer([_OKAY], {"o": Support.PARTIAL_SUPPORT})
    yield from _compared("vital supported, okay partly", BY_HAND, both)
    yield from _compared("no vital nugget", BY_HAND_WITHOUT_VITAL, alone)


ROWS: Mapping[str, MakeRows] = {"F23": nugget_scores}


def _compared(case: str, by_hand: dict[str, str], scores: NuggetScores) -> Iterator[Row]:
    ours = _printed(scores)
    for name, expected in by_hand.items():
        yield Row(
            id="F23",
            basis=Basis.BY_HAND,
            what=f"{case}: {name}",
            reference=expected,
            ours=ours[name],
            tolerance="exact",
            passed=ours[name] == expected,
        )


def _printed(scores: NuggetScores) -> dict[str, str]:
    values = {
        "strict vital": scores.strict_vital,
        "strict all": scores.strict_all,
        "vital": scores.vital,
        "all": scores.all_score,
        "weighted": scores.weighted,
        "strict weighted": scores.strict_weighted,
    }
    return {name: _UNSCORABLE if value is None else f"{value:.3f}" for name, value in values.items()}
