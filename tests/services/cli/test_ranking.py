"""`up`, `eval` and `demo` say by what evidence is ranked, and why without vectors."""

import pytest

from services.cli.wiring import settings
from services.cli.wiring.settings import NO_MODEL, PipelineSettings, ranking_of


def test_the_model_is_named() -> None:
    assert ranking_of(PipelineSettings(embedding_model="m")) == "BM25 and vectors by m"


@pytest.mark.parametrize(
    ("installed", "why"),
    [("m", "NUGGETSTREAM_EMBEDDING_MODEL is none"), (NO_MODEL, "no embedding model is installed")],
)
def test_a_model_that_was_not_wanted_is_told_from_one_that_is_not_installed(
    installed: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "embedded_model", lambda: installed)
    assert ranking_of(PipelineSettings(embedding_model=NO_MODEL)) == f"BM25 alone: {why}"
