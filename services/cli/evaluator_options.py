"""The file NUGGETSTREAM_EVALUATOR_OPTIONS: the battles, budgets and panels of evaluators and judges."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click
import structlog

from nuggetstream.domain.judgment import Aggregation
from services.judge.graders import EVALUATORS
from services.judge.pairwise import kinds
from services.judge.selection import GraderOptions, JudgeOptions, PanelOptions, Selection, read_selections

if TYPE_CHECKING:
    from services.cli.wiring.parts import Parts

log = structlog.get_logger(__name__)

_SOURCE_CHARACTERS = 80  # of the column `source` of the outcomes
_OF_A_SOURCE = len("member:/")
_OF_SELECTION = frozenset(Selection.model_fields)
_OF_JUDGES = frozenset({"members", "aggregation", "tie_band"})


def evaluator_options(parts: "Parts") -> Mapping[str, Selection]:
    """The options of every evaluator and judge that the file names.

    Raises:
        click.ClickException: The file cannot be read or used.
    """
    file = parts.pipeline.evaluator_options
    if file is None:
        return {}
    try:
        own = {name: evaluator.options for name, evaluator in EVALUATORS.items()}
        tables = read_selections(file, own | dict.fromkeys(kinds(), JudgeOptions))
    except (OSError, ValueError) as error:
        raise click.ClickException(f"NUGGETSTREAM_EVALUATOR_OPTIONS: {file}: {error}") from error
    if unknown := sorted(set(tables) - {*EVALUATORS, *kinds()}):
        raise click.ClickException(f"{file}: there is no evaluator {', '.join(unknown)}")
    for name, table in tables.items():
        if problem := _problem(parts, name, table):
            raise click.ClickException(f"{file}: {name}: {problem}")
    return tables


def options_of_judge(tables: Mapping[str, Selection], name: str) -> JudgeOptions:
    """The options of a judge; the defaults where the file has none."""
    found = tables.get(name)
    return found if isinstance(found, JudgeOptions) else JudgeOptions()


def with_tie_band_of(
    parts: "Parts", name: str, options: JudgeOptions, setting: float | None = None
) -> JudgeOptions:
    """The options of a judge with its tie band: that of its table, or else that of the setting.

    Args:
        parts: Contains the profile; other profiles than `frugal` are warned that a band has no effect.
        name: Name of the judge.
        options: Its options.
        setting: NUGGETSTREAM_JUDGE_TIE_BAND, for the judge that battles wait for.

    Raises:
        click.ClickException: It is a panel that decides by majority, to which a band does not apply.
    """
    band = setting if options.tie_band is None else options.tie_band
    if band is None:
        return options
    if options.members and options.aggregation is Aggregation.MAJORITY:
        raise click.ClickException(
            f"{name}: this panel decides by majority, and a tie band applies to mean probabilities: set "
            'aggregation = "probabilities" in its table of NUGGETSTREAM_EVALUATOR_OPTIONS, or remove '
            "tie_band and NUGGETSTREAM_JUDGE_TIE_BAND"
        )
    if parts.pipeline.profile != "frugal":
        why = "judges give probabilities in the profile frugal alone"
        log.warning("the tie band of a judge has no effect", judge=name, why=why)
    return options.model_copy(update={"tie_band": band})


def options_of_grader(tables: Mapping[str, Selection], name: str) -> GraderOptions:
    """The options of an evaluator that grades; the defaults where the file has none."""
    found = tables.get(name)
    return found if isinstance(found, GraderOptions) else EVALUATORS[name].options()


def _problem(parts: "Parts", name: str, table: Selection) -> str | None:
    """Why a table cannot be used; None where it can."""
    restricting = sorted(_OF_SELECTION & table.model_fields_set)
    if name == parts.pipeline.judge_evaluator and restricting:
        return f"battles wait for this judge, so it has no {', '.join(restricting)}"
    prices, models = parts.llm.price_table(), [parts.llm.model_name]
    if isinstance(table, JudgeOptions):
        if unknown := sorted(table.model_fields_set - _OF_SELECTION - _OF_JUDGES - kinds()[name].options):
            return f"it has no {', '.join(unknown)}"
        longest = max((len(member.name) for member in table.members), default=0)
        if len(name) + longest + _OF_A_SOURCE > _SOURCE_CHARACTERS:
            return "its name and the name of a member are too long together"
    if isinstance(table, PanelOptions) and not parts.llm.offline:
        models += [member.model for member in table.members]
    unpriced = [model for model in models if prices.price_of(model) is None]
    if table.day_money is not None and unpriced:
        return f"day_money needs a price for {', '.join(unpriced)}: set NUGGETSTREAM_LLM_PRICES"
    return None
