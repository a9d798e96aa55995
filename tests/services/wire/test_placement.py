"""A message is taken only on the subject of its schema, whoever may publish there."""

import pytest

from nuggetstream.domain.event import BattleFailed, BattleGraded, BattleJudged, BattleRetrieved, BattleScraped
from nuggetstream.domain.pipeline import PIPELINE
from services.wire.codec import REFERENCE_SCHEMA_SUFFIX, schema_of
from services.wire.permissions import ARENA, caused_by, permissions
from services.wire.placement import MisplacedMessage, require_place
from services.wire.subjects import SUBJECTS


def test_every_event_has_its_subject_and_no_other() -> None:
    for kind in SUBJECTS:
        for other, subject in SUBJECTS.items():
            for suffix in ("", REFERENCE_SCHEMA_SUFFIX):
                schema = schema_of(kind) + suffix
                if kind is other:
                    require_place(subject, schema)
                else:
                    with pytest.raises(MisplacedMessage, match=kind.__name__):
                        require_place(subject, schema)


def test_an_event_of_a_newer_build_has_a_subject_too() -> None:
    require_place("arena.v1.battle.praised", "arena.v1.BattlePraised")
    for schema in ("arena.v1.BattleJudged", "", "nonsense"):
        with pytest.raises(MisplacedMessage):
            require_place("arena.v1.battle.praised", schema)


def test_what_is_read_again_is_what_its_reader_reads() -> None:
    require_place("arena.v1.grading.judge", schema_of(BattleRetrieved))
    require_place("arena.v1.grading.answer_quality", schema_of(BattleRetrieved))
    for name, kind in (
        ("judge", BattleJudged),
        ("answer_quality", BattleJudged),
        ("nobody", BattleRetrieved),
    ):
        with pytest.raises(MisplacedMessage):
            require_place(f"arena.v1.grading.{name}", schema_of(kind))


def test_a_stage_can_cause_its_own_event_and_failures_and_no_other() -> None:
    causes = {name: set(caused_by(name)) for name in permissions()}
    assert causes["scraper"] == {BattleScraped, BattleFailed}
    assert causes["judge"] == {BattleJudged, BattleGraded, BattleFailed}
    assert causes[ARENA] == set()
    for stage, step in PIPELINE.items():
        own = {kind for kind, subject in SUBJECTS.items() if subject == f"arena.v1.battle.{step.publishes}"}
        assert own | {BattleFailed} == causes[stage.value] - {BattleGraded}
