"""A second assigner labels the same nuggets, and its labels are compared with the first's."""

from collections import Counter
from dataclasses import replace

from nuggetstream.domain.event import BattleAssigned, BattleGraded
from nuggetstream.domain.nugget import Support
from nuggetstream.nuggets.editing import with_label
from nuggetstream.nuggets.label_agreement import FIRST, ORDER, SECOND, agreement_of, pairs_of
from services.assigner.stage import Assigner
from services.judge.registry import EVALUATORS, heuristics
from services.offline.answers import ParsedPrompt, answer
from services.runtime.llm.prompt import Prompt
from tests import samples
from tests.fakes import ScriptedModel
from tests.panels import panel_of

_, NONE, PARTIAL, FULL = ORDER
EVALUATOR = EVALUATORS["second_assigner"]


def offline(prompt: Prompt) -> object:
    parsed = ParsedPrompt.read(prompt.messages()[1]["content"], None)
    return answer(prompt.task, parsed, heuristics)


async def graded(a: str, b: str, *texts: str) -> BattleGraded:
    """The grades of the second assigner for labels by the first, both answered by the offline model."""
    event = samples.nuggetized(len(texts), fought=samples.battle(a=a, b=b))
    nuggets = tuple(
        replace(nugget, text=text) for nugget, text in zip(event.nugget_list.nuggets, texts, strict=True)
    )
    event = replace(event, nugget_list=replace(event.nugget_list, nuggets=nuggets))
    (assigned,) = await Assigner(ScriptedModel({"assignment": offline}))(event)
    second = ScriptedModel({"second_assignment": offline})
    (found,) = await panel_of(EVALUATOR, second)(assigned)
    assert isinstance(found, BattleGraded)
    return found


async def test_every_label_stands_beside_the_one_that_it_is_compared_with() -> None:
    facts = ("Tea is made of dried leaves.", "Tea plants grow on high slopes in Assam.")
    found = await graded("Tea is made of dried leaves.", "", *facts)
    criteria = [grade.criterion for grade in found.grading.grades]
    assert criteria == [SECOND.name, FIRST.name] * 2  # the empty answer is not asked about
    assert pairs_of(found.grading.grades) == Counter({(FULL, FULL): 1, (NONE, NONE): 1})
    assert found.grading.grades[0].reason == "Tea is made of dried leaves."


async def test_a_label_that_a_person_corrected_is_compared_as_the_model_gave_it() -> None:
    event = samples.nuggetized(1, fought=samples.battle(a="Tea.", b=""))
    (assigned,) = await Assigner(ScriptedModel({"assignment": offline}))(event)
    assert isinstance(assigned, BattleAssigned)
    labels = assigned.assignment_set.assignments
    said, other = labels[0].support, FULL if labels[0].support is NONE else NONE
    corrected = (with_label(labels[0], other, "Ada", "It does not."), *labels[1:])
    assigned = replace(assigned, assignment_set=replace(assigned.assignment_set, assignments=corrected))
    (found,) = await panel_of(EVALUATOR, ScriptedModel({"second_assignment": offline}))(assigned)
    assert isinstance(found, BattleGraded)
    assert [grade.label for grade in found.grading.grades if grade.criterion == FIRST.name] == [said.value]


async def test_the_offline_model_is_stricter_the_second_time() -> None:
    facts = (
        "Honey bees dance on the comb to tell nest mates where flowers are.",
        "The angle of the straight run of the dance gives the direction.",
        "Bees dance to tell where flowers grow.",
    )
    text = "Honey bees dance to tell others where flowers are. The dance has a straight run."
    pairs = pairs_of((await graded(text, text, *facts)).grading.grades)
    assert sum(pairs.values()) == 2 * len(facts)
    assert all(ORDER.index(second) <= ORDER.index(first) for first, second in pairs)
    assert any(first is not second for first, second in pairs)


def test_kappa_weighs_a_far_disagreement_more_and_is_unknown_for_a_single_label() -> None:
    near = agreement_of({(FULL, FULL): 8, (NONE, NONE): 8, (PARTIAL, FULL): 4})
    far = agreement_of({(FULL, FULL): 8, (NONE, NONE): 8, (NONE, FULL): 4})
    assert near.agreed == far.agreed == 16
    assert near.kappa is not None
    assert far.kappa is not None
    assert near.kappa > far.kappa
    alike = agreement_of({(FULL, FULL): 5})
    assert (alike.labels, alike.kappa, alike.unweighted) == (5, None, None)


def test_grades_of_other_evaluators_are_no_pairs_of_labels() -> None:
    assert pairs_of(samples.graded().grading.grades) == Counter()
    assert Support.SUPPORT is FULL
