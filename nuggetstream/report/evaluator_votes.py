"""What each evaluator says about each battle, over one or several evaluations of the same battles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.pipeline import Stage
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.results import Results
from nuggetstream.report.battle_cost import BattleCost, mean_cost
from nuggetstream.report.comparing import BASELINES, check_answers
from nuggetstream.report.summary import GROUNDED, predict

_NUGGETS, _JUDGE = "nugget preference", "judge"
_NUGGET_STAGES = (Stage.NUGGETIZER.value, Stage.ASSIGNER.value)
FREE = BattleCost(battles=0, calls=0.0, input_tokens=0.0, output_tokens=0.0, amount=0.0, currency=None)


@dataclass(frozen=True, slots=True)
class Evaluator:
    """One evaluator of one evaluation; the baselines, which ask no model, are of none.

    Attributes:
        name: Its name; with several evaluations after that of its evaluation, as "live: judge".
        votes: Battle -> vote.
        margins: Battle -> how clear the vote is, in [0, 1]: the distance of the nugget scores, or of the
            probabilities of A and B. Battles for which it is not known are left out.
        cost: What its model calls of a battle cost, the shared search for evidence not included.
        baseline: Whether it is a baseline.
    """

    name: str
    votes: Mapping[str, Vote]
    margins: Mapping[str, float]
    cost: BattleCost
    baseline: bool = False


@dataclass(frozen=True, slots=True)
class Gathered:
    """Evaluations of the same battles.

    Attributes:
        evaluators: Those of each evaluation in turn, the baselines last.
        battles: Every battle by its id, from the first evaluation that has it.
        results: Name of an evaluation -> its results.
    """

    evaluators: tuple[Evaluator, ...]
    battles: Mapping[str, BattleRow]
    results: Mapping[str, Results]


def evaluation_names(paths: Sequence[Path]) -> list[str]:
    """A short name for each evaluation: of its folder or file, or the whole path where two are alike.

    >>> evaluation_names([Path("runs/live"), Path("paper.jsonl")])
    ['live', 'paper']
    >>> evaluation_names([Path("one/results.jsonl"), Path("two/results.jsonl")])
    ['one/results.jsonl', 'two/results.jsonl']
    """
    names = [path.name if path.is_dir() else path.name.partition(".")[0] or path.name for path in paths]
    return names if len(set(names)) == len(names) else [str(path) for path in paths]


def gather(results: Mapping[str, Results]) -> Gathered:
    """The votes of every evaluator that has one.

    Args:
        results: Name of an evaluation -> its results, at least one.

    Raises:
        DifferentAnswers: Two evaluations have different answers under one id.
    """
    battles: dict[str, tuple[BattleRow, str]] = {}
    evaluators: dict[str, Evaluator] = {}
    baselines: dict[str, Evaluator] = {}
    for evaluation, own in results.items():
        for battle in own.battles:
            earlier_battle, first = battles.setdefault(battle.id, (battle, own.name))
            check_answers(earlier_battle, battle, first, own.name)
        for predictor, votes in predict(own.battles).items():
            evaluator = _evaluator(predictor, own.battles, votes)
            if evaluator.votes and evaluator.baseline:
                earlier = baselines.get(predictor, evaluator)
                baselines[predictor] = replace(earlier, votes={**evaluator.votes, **earlier.votes})
            elif evaluator.votes:
                name = predictor if len(results) == 1 else f"{evaluation}: {predictor}"
                evaluators[name] = replace(evaluator, name=name)
    return Gathered(
        evaluators=(*evaluators.values(), *baselines.values()),
        battles={name: battle for name, (battle, _) in battles.items()},
        results=results,
    )


def _evaluator(predictor: str, battles: Sequence[BattleRow], votes: Sequence[Vote | None]) -> Evaluator:
    margins = {battle.id: _margin(battle, predictor) for battle in battles}
    return Evaluator(
        name=predictor,
        votes={battle.id: vote for battle, vote in zip(battles, votes, strict=True) if vote is not None},
        margins={name: margin for name, margin in margins.items() if margin is not None},
        cost=_cost(battles, predictor),
        baseline=predictor in BASELINES,
    )


def _margin(battle: BattleRow, predictor: str) -> float | None:
    if predictor in (_NUGGETS, GROUNDED):
        verdict = battle.nugget_verdict if predictor == _NUGGETS else battle.grounded_verdict
        return None if verdict is None else abs(verdict.margin)
    judge = battle.judgment
    if predictor != _JUDGE:
        named = (one for one in battle.judgments if predictor == f"{_JUDGE} {one.evaluator}")
        judge = next(named, None)
    shares = None if judge is None else judge.probabilities
    return None if shares is None else abs(shares.a - shares.b)


def _cost(battles: Sequence[BattleRow], predictor: str) -> BattleCost:
    """The cost of a predictor; that of one judge of several, which share a stage, is not known."""
    if predictor in BASELINES:
        return FREE
    if predictor in (_NUGGETS, GROUNDED):
        return mean_cost(battles, _NUGGET_STAGES)
    alone = predictor == _JUDGE and not any(battle.guided for battle in battles)
    return mean_cost(battles if alone else (), (Stage.JUDGE.value,))
