"""Which sentence cites which source, and what the support of the citations makes of an answer."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from nuggetstream.domain.battle import Answer, Battle, Side, Source
from nuggetstream.domain.event import BattleGraded, BattleRetrieved
from nuggetstream.domain.evidence import Page
from nuggetstream.domain.grade import SubjectKind
from nuggetstream.text.cited_sentences import citing_sentences
from nuggetstream.text.sentence_support import checked_sentences
from services.judge.grades.citation_support import EVALUATOR, CitationOptions
from services.judge.grades.lines import GradeLine, GradesReply
from services.runtime.llm.prompt import Prompt
from tests import samples
from tests.fakes import ScriptedModel, blocks
from tests.panels import panel_of

URLS = [samples.evidence(place).url or "" for place in (1, 2, 3)]


def answer(text: str, sources: int = 2) -> Answer:
    return Answer("left", text, tuple(Source(url) for url in URLS[:sources]))


@pytest.mark.parametrize(
    ("text", "cited", "sentences"),
    [
        ("Tea is hot [1]. It is old [2].", [("s1.1", "Tea is hot."), ("s2.2", "It is old.")], 2),
        ("Tea is hot. [1] It is old. [2]", [("s1.1", "Tea is hot."), ("s2.2", "It is old.")], 2),
        ("Tea is hot [1, 2]. It is old.", [("s1.1", "Tea is hot."), ("s2.1", "Tea is hot.")], 2),
        ("Tea is hot [1][1].", [("s1.1", "Tea is hot.")], 1),
        ("Tea [0] is hot [1].", [("s1.1", "Tea is hot."), ("s2.1", "Tea is hot.")], 1),
        ("Tea is hot [7].", [], 1),
        ("[1] [2]", [], 0),
        ("", [], 0),
    ],
)
def test_a_mark_belongs_to_its_sentence(text: str, cited: list[tuple[str, str]], sentences: int) -> None:
    found, number = citing_sentences(text, sources=2)
    assert [(each.id, each.text) for each in found] == cited
    assert number == sentences


def model_that_supports(**values: int) -> ScriptedModel:
    def reply(prompt: Prompt[Any]) -> GradesReply:
        names = [block.id for block in blocks(prompt, "sentence")]
        return GradesReply(
            grades=[GradeLine(name=name, value=values[name.replace(".", "_")]) for name in names]
        )

    return ScriptedModel({"citation_support": reply})


async def graded(
    model: ScriptedModel,
    a: Answer,
    chunks: int = 2,
    options: CitationOptions | None = None,
    stored: Mapping[str, Sequence[str]] | None = None,
) -> BattleGraded:
    other = Answer("right", "No citation here.", () if options else a.sources)
    battle = Battle("b1", "default", "What is tea?", a, other)
    event = BattleRetrieved("k", battle, (), tuple(samples.evidence(n) for n in range(1, chunks + 1)), "bm25")

    async def stored_of(pages: Sequence[Page]) -> Mapping[str, Sequence[str]]:
        return stored or {}

    grader = panel_of(EVALUATOR, model, options=options or CitationOptions(), stored_of=stored_of)
    (found,) = await grader(event)
    assert isinstance(found, BattleGraded)
    return found


async def test_precision_is_over_citations_and_recall_over_sentences() -> None:
    model = model_that_supports(s1_1=2, s2_1=0, s2_2=1)
    found = await graded(model, answer("Tea is hot [1, 2]. It is old [2]. It is loved. Many drink it."))
    of_citations = [g for g in found.grading.grades if g.subject.kind is SubjectKind.CITATION]
    assert [(g.subject.sentence, g.subject.document, g.value, g.label) for g in of_citations] == [
        (1, URLS[0], 1.0, "full"),
        (1, URLS[1], 0.0, "none"),
        (2, URLS[1], 0.5, "partial"),
    ]
    of_answers = {g.criterion: g.value for g in found.grading.grades if g.subject.kind is SubjectKind.ANSWER}
    assert of_answers == {"citation_precision": 0.5, "citation_recall": 1.5 / 4}
    assert {g.subject.sides for g in found.grading.grades} == {(Side.A,)}
    (asked,) = model.asked
    assert [block.text for block in blocks(asked, "source")] == ["Passage number 1.", "Passage number 2."]


async def test_sentences_that_cite_nothing_are_searched_for_in_the_answers_sources() -> None:
    model = model_that_supports(s1_1=2, s2_2=1, s1_3=0)
    text = "Tea is hot [1]. The passage has number 2, they say. Nobody confirms this."
    found = await graded(model, answer(text), options=CitationOptions(uncited=True))
    of_citations = [g for g in found.grading.grades if g.subject.kind is SubjectKind.CITATION]
    assert [(g.criterion, g.subject.sentence, g.subject.document, g.label) for g in of_citations] == [
        ("support", 1, URLS[0], "full"),
        ("uncited_support", 2, URLS[1], "partial"),
        ("uncited_support", 3, URLS[0], "none"),
    ]
    of_answers = {g.criterion: g.value for g in found.grading.grades if g.subject.kind is SubjectKind.ANSWER}
    assert of_answers == {"citation_precision": 1.0, "citation_recall": 1 / 3}
    assert {g.subject.sides for g in found.grading.grades} == {(Side.A,)}


async def test_all_stored_chunks_are_searched_and_the_closest_is_shown() -> None:
    model = model_that_supports(s2_1=2, s1_2=0)
    stored = {
        "h1": ["Passage number 1.", "Boats sink."],
        "h2": ["Passage number 2.", "Camels cross deserts."],
    }
    answer_text = "Camels can cross wide deserts. Nobody knows."
    options = CitationOptions(uncited=True)
    found = await graded(model, answer(answer_text), options=options, stored=stored)
    assert [(g.subject.document, g.label) for g in found.grading.grades] == [
        (URLS[1], "full"),
        (URLS[0], "none"),
    ]
    (asked,) = model.asked
    assert [block.text for block in blocks(asked, "source")] == [
        "Passage number 1.",
        "Passage number 2.\nCamels cross deserts.",
    ]
    without = model_that_supports()
    assert (await graded(without, answer(answer_text), stored=stored)).grading.grades == ()


async def test_a_sentence_whose_citations_give_no_support_is_searched_for_elsewhere() -> None:
    model = model_that_supports(s1_1=0, s2_1=2, s1_2=0, s2_2=0, s1_3=0)
    text = "The passage has number 2 [1]. All is well [1, 2]. Few know this [1, 3]."
    found = await graded(model, answer(text, 3), options=CitationOptions(uncited=True))
    assert [
        (g.criterion, g.subject.sentence, g.subject.document, g.value)
        for g in found.grading.grades
        if g.subject.kind is SubjectKind.CITATION
    ] == [
        ("support", 1, URLS[0], 0.0),
        ("support", 2, URLS[0], 0.0),
        ("support", 2, URLS[1], 0.0),
        ("support", 3, URLS[0], 0.0),
        ("uncited_support", 1, URLS[1], 1.0),
    ]
    of_answers = {g.criterion: g.value for g in found.grading.grades if g.subject.kind is SubjectKind.ANSWER}
    assert of_answers == {"citation_precision": 0.0, "citation_recall": 0.0}
    grades = [(g.subject.sentence, g.subject.document, g.value) for g in found.grading.grades]
    checked = checked_sentences(text, 3, [each for each in grades if each[0] is not None])
    assert [(each.number, each.support.value) for each in checked] == [(1, "full"), (2, "none")]


async def test_only_the_sources_of_the_answer_itself_are_searched() -> None:
    model = model_that_supports(s1_1=0)
    found = await graded(model, answer("Passage number 2.", 1), options=CitationOptions(uncited=True))
    assert [(g.subject.document, g.label) for g in found.grading.grades] == [(URLS[0], "none")]
    model = model_that_supports()
    found = await graded(model, answer("Tea.", 0), options=CitationOptions(uncited=True))
    assert (found.grading.grades, model.asked) == ((), [])


async def test_a_source_without_text_is_missing_and_not_without_support() -> None:
    found = await graded(model_that_supports(s1_1=2), answer("Tea is hot [1]. It is old [3].", 3))
    values = {g.criterion: g.value for g in found.grading.grades}
    assert values == {"support": 1.0, "citation_precision": 1.0, "citation_recall": 1.0}
    assert "1 citations graded, 1 not; 1 of 2 sentences counted" in str(found.grading.grades[0].reason)


async def test_without_a_citation_that_can_be_graded_there_is_no_grade_and_no_call() -> None:
    model = model_that_supports()
    found = await graded(model, answer("Tea is hot [1].", 1), chunks=0)
    assert (found.grading.grades, model.asked) == ((), [])
