"""Sentences of an answer on its battle's page: which ones no source supports, and the closest passages."""

from typing import Any

from nuggetstream.domain.battle import Side
from nuggetstream.domain.grade import SubjectKind
from nuggetstream.domain.nugget import Support
from nuggetstream.views.battles import AnswerView, EvidenceView, SourceView
from nuggetstream.views.grades import GradeView, GradingView
from services.gateway.pages.markdown import rendered
from services.gateway.pages.quotes import pieces_of
from services.gateway.pages.sentences import sentences_of, with_unsupported
from tests.services.gateway.test_battle_page import nugget, view

SEA, SUN = "https://sea.example/", "https://sun.example/"
TEXT = "Two bulges rise [1]. The Sun is green. It is far [1, 2]. Some say so."


def grading(*graded: tuple[int, str, float], side: Side = Side.A) -> GradingView:
    grades = [
        GradeView(
            subject=SubjectKind.CITATION,
            sides=[side],
            document=document,
            sentence=number,
            criterion="support",
            scale="none 0, partial 0.5, full 1",
            value=value,
        )
        for number, document, value in graded
    ]
    return GradingView(evaluator="citation_support", model="m", prompt_version="1", grades=grades)


def chunk(number: int, url: str, text: str) -> EvidenceView:
    about: dict[str, Any] = {"title": None, "cited_by": [], "score": 1.0, "fetched_at": None}
    return EvidenceView(chunk_id=f"c{number}", text=text, url=url, **about)


def answered(*graded: tuple[int, str, float], **more: Any) -> Any:
    sources = [SourceView(url=url, title=None, state="fetched") for url in (SEA, SUN)]
    return view(
        a=AnswerView(system="atlas", text=TEXT, sources=sources),
        evidence=[chunk(1, SEA, "Boats."), chunk(2, SEA, "Two bulges."), chunk(3, SUN, "Green tea.")],
        gradings=[grading(*graded)],
        **more,
    )


def test_a_checked_sentence_leads_to_the_closest_passage_of_its_best_source() -> None:
    lines = sentences_of(answered((1, SEA, 1.0), (2, SUN, 0.0), (3, SEA, 0.0), (3, SUN, 0.5)), Side.A)
    found = [(line.checked.number, line.checked.support.value, line.text, line.chunk) for line in lines]
    assert found == [
        (1, "full", "Two bulges rise.", 2),
        (2, "none", "The Sun is green.", 3),
        (3, "partial", "It is far.", 3),
    ]


def test_a_sentence_with_a_citation_that_could_not_be_graded_is_not_called_unsupported() -> None:
    assert sentences_of(answered((3, SEA, 0.0)), Side.A) == []
    assert [line.checked.number for line in sentences_of(answered((3, SEA, 0.5)), Side.A)] == [3]


def test_the_grades_of_one_answer_say_nothing_about_the_other() -> None:
    of_a = answered((2, SUN, 0.0))
    assert [len(sentences_of(of_a, side)) for side in Side] == [1, 0]
    other = of_a.model_copy(update={"gradings": [grading((2, SUN, 0.0), side=Side.B)]})
    assert sentences_of(other, Side.A) == []


def test_only_sentences_without_support_are_marked_and_a_nugget_keeps_its_own_mark() -> None:
    shown = answered((1, SEA, 0.0), (2, SUN, 0.0), (3, SEA, 1.0))
    shown = shown.model_copy(update={"nuggets": [nugget(1, Support.SUPPORT)]})
    pieces = list(with_unsupported(pieces_of(shown, Side.A), sentences_of(shown, Side.A)))
    assert "".join(piece.text for piece in pieces) == TEXT
    marked = [(piece.text, piece.kind, piece.sentence) for piece in pieces if piece.is_marked]
    assert marked == [("Two bulges rise [1].", "unsupported", 1), ("The Sun is green.", "support", None)]


def test_a_sentence_that_a_nugget_cuts_in_two_has_one_place_and_one_link() -> None:
    text = "They say that two bulges rise every single day."
    shown = view(
        a=AnswerView(system="atlas", text=text, sources=[SourceView(url=SEA, title=None, state="fetched")]),
        evidence=[chunk(1, SEA, "Boats.")],
        gradings=[grading((1, SEA, 0.0))],
    )
    quoting = nugget(0, Support.SUPPORT)
    assert quoting.a is not None
    quoting = quoting.model_copy(update={"a": quoting.a.model_copy(update={"quote": "two bulges rise"})})
    shown = shown.model_copy(update={"nuggets": [quoting]})
    html = rendered(tuple(with_unsupported(pieces_of(shown, Side.A), sentences_of(shown, Side.A))), "a")
    assert html.count('class="unsupported sentence"') == 2
    assert html.count('id="a-s1"') == html.count('href="#chunk-1"') == 1
    assert html.count('<mark id="a-1" class="support"') == 1
