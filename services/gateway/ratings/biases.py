"""What the verdicts of each judge and model depend on beside the answers, from the counters of an arena.

counts per judge, model and pair of systems  ->  sums, and those of pairs with the judge's own family
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from nuggetstream.domain.lens import Lens, evaluator_of
from nuggetstream.domain.model_family import common_family, family_of
from nuggetstream.statistics.share import FEW, share
from nuggetstream.views.biases import JudgeBiasView, ShareView
from services.store.outcomes.judge_biases import JudgeCounts

_WHO = ("", "people_", "nugget_")


def biases_of(counts: Iterable[JudgeCounts]) -> list[JudgeBiasView]:
    """A view per judge and model.

    Args:
        counts: Counters of an arena.
    """
    judges: dict[tuple[str, str], list[JudgeCounts]] = defaultdict(list)
    for count in counts:
        judges[count.source, count.model].append(count)
    return [_view(source, model, pairs) for (source, model), pairs in judges.items()]


def _view(source: str, model: str, pairs: Sequence[JudgeCounts]) -> JudgeBiasView:
    total: Counter[str] = Counter()
    for pair in pairs:
        total.update(pair.numbers)
    family = common_family(model)
    own = [None] * len(_WHO) if family is None else _own_family(family, pairs)
    return JudgeBiasView(
        evaluator=evaluator_of(source) or source,
        lens=Lens(source.partition(":")[0]),
        model=model,
        family=family,
        verdicts=total["verdicts"],
        order_changed=_share(total["first"] + total["second"], total["ordered"]),
        favours_first=_share(total["first"], total["first"] + total["second"]),
        longer_wins=_share(total["longer_wins"], total["longer"]),
        twice_as_long_wins=_share(total["twice_wins"], total["twice"]),
        people_longer_wins=_share(total["people_longer_wins"], total["people_longer"]),
        nuggets_longer_wins=_share(total["nugget_longer_wins"], total["nugget_longer"]),
        own_family_wins=own[0],
        people_own_family_wins=own[1],
        nuggets_own_family_wins=own[2],
    )


def _own_family(family: str, pairs: Sequence[JudgeCounts]) -> list[ShareView | None]:
    """How often systems of a family win against others, by the judge, people and the nuggets."""
    wins, decided = Counter[str](), Counter[str]()
    for pair in pairs:
        a, b = (family_of(system) == family for system in (pair.system_a, pair.system_b))
        if a == b:
            continue
        for who in _WHO:
            wins[who] += pair.numbers[f"{who}a" if a else f"{who}b"]
            decided[who] += pair.numbers[f"{who}a"] + pair.numbers[f"{who}b"]
    return [_share(wins[who], decided[who]) for who in _WHO]


def _share(count: int, of: int) -> ShareView:
    return ShareView(**asdict(share(count, of)), few=of < FEW)
