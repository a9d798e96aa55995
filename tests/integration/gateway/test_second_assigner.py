"""Labels of a second assigner as clients and people see them."""

from collections.abc import AsyncIterator

import pytest

from nuggetstream.client import AsyncClient
from nuggetstream.domain.event import BattleGraded
from nuggetstream.domain.grade import Grade, Grading, Subject, SubjectKind
from nuggetstream.domain.nugget import Support
from nuggetstream.nuggets.label_agreement import FIRST, ORDER, SECOND
from tests.integration.gateway.world import Story, World, battle, submission


def compared(story: Story) -> BattleGraded:
    """The second assigner has another label for the first nugget of answer A, and the same elsewhere."""
    grades = []
    for number, label in enumerate(story.assigned().assignment_set.assignments):
        subject = Subject(SubjectKind.NUGGET, (label.side,), item=label.nugget_id)
        second = Support.PARTIAL_SUPPORT if number == 0 else label.support
        grades.append(Grade(subject, SECOND.name, float(ORDER.index(second)), second.value))
        grades.append(Grade(subject, FIRST.name, float(ORDER.index(label.support)), label.support.value))
    grading = Grading("second_assigner", "another-model", "1", (SECOND, FIRST), tuple(grades))
    return BattleGraded("compared", "tides", "demo", grading)


@pytest.fixture
async def client(world: World) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(str(world.http.base_url)) as client:
        yield client


async def test_the_page_names_the_labels_that_differ_and_agreement_has_kappa(
    world: World, client: AsyncClient
) -> None:
    await world.http.post("/v1/battles", json=submission())
    story = Story(battle())
    before = [*story.told()]
    await world.happens(*before)
    verdict = (await client.battle("tides")).nugget_verdict
    assert (await client.agreement(story.battle.arena)).labels == []

    await world.happens(compared(story))
    labels = story.assigned().assignment_set.assignments
    (found,) = (await client.agreement(story.battle.arena)).labels or ()
    assert (found.evaluator, found.model, found.battles) == ("second_assigner", "another-model", 1)
    assert (found.labels, found.agreed) == (len(labels), len(labels) - 1)
    assert found.counts[labels[0].support][Support.PARTIAL_SUPPORT] == 1
    assert found.kappa is not None
    assert found.kappa_unweighted is not None
    assert found.kappa > found.kappa_unweighted  # partial support is near to what it replaces
    assert (await client.agreement(story.battle.arena, language="de")).labels is None  # counted for arenas
    assert (await client.battle("tides")).nugget_verdict == verdict  # in no score

    page = (await world.http.get("/battles/tides")).text
    section = page[page.index('id="grades-second_assigner"') :]
    assert f"1 of {len(labels)} labels differ from the first assigner" in section
    first = labels[0].support.value.replace("_", " ")
    assert f"partial support; the first: {first}" in section
    assert section.count("; the first:") == 1
