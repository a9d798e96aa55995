"""The evaluators of a judge process, with the models that its settings and the file of options name."""

from pathlib import Path
from typing import Any, cast

import pytest
import structlog

from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.panels import open_judge, open_panels
from services.cli.wiring.parts import Parts
from services.cli.wiring.settings import PipelineSettings, PlatformSettings
from services.runtime.llm.settings import LLMSettings
from services.store.database import Database


def parts(database: Database, folder: Path, text: str, **pipeline: Any) -> Any:
    (folder / "options.toml").write_text(text)
    return Parts(
        platform=PlatformSettings(evaluators=("utility", "rubric", "aspects")),
        pipeline=PipelineSettings(evaluator_options=folder / "options.toml", **pipeline),
        database=database,
        fetch=FetchSettings(),
        llm=LLMSettings(),
        bus=cast(Any, None),  # nothing is published
    )


async def test_a_single_model_is_a_panel_of_one_and_several_have_clients_of_their_own(
    record: Database, tmp_path: Path
) -> None:
    text = '[utility]\nmodels = ["m1", {name = "local", model = "m2"}]\n[rubric]\nmodels = ["m3"]\n'
    given = parts(record, tmp_path, text)
    async with open_judge(given) as (judge, clients), open_panels(given) as (utility, rubric, aspects):
        assert (judge.evaluator.name, judge.awaited, judge.stage) == ("pairwise", True, "judge")
        assert [member.model for member in judge.members] == clients
        assert [member.name for member in utility.members] == ["m1", "local"]
        assert len({member.model.name for member in utility.members}) == 2
        assert [member.name for member in rubric.members] == ["m3"]
        assert [member.name for member in aspects.members] == [""]
        assert aspects.stage == "grader-aspects"


@pytest.mark.parametrize(("profile", "warned"), [("frugal", []), ("live", ["pairwise", "utility"])])
async def test_a_tie_band_has_an_effect_only_where_judges_give_probabilities(
    record: Database, tmp_path: Path, profile: str, warned: list[str]
) -> None:
    given = parts(
        record, tmp_path, "[utility]\ntie_band = 0.2\n[pairwise]\ntie_band = 0.1\n", profile=profile
    )
    with structlog.testing.capture_logs() as logs:
        async with open_judge(given) as (judge, _), open_panels(given) as panels:
            decided = [member.decisions is not None for member in judge.members]
    assert decided == [profile == "frugal"]
    assert len(panels) == 3
    assert [log["judge"] for log in logs if "tie band" in log["event"]] == warned
