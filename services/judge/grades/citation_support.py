"""The evaluator `citation_support`: do the cited sources state what the sentences that cite them say?

    sentence × cited source  ->  full (1), partial (0.5) or no support (0)
    weighted precision  =  mean support over the citations of an answer
    weighted recall     =  mean over its sentences of the best support that one citation gives; 0 without one

A citation of a source without retrieved text cannot be graded. It is left out of both numbers, and so are
sentences that have only such citations.

With the option `uncited`, a sentence that cites nothing is searched for in all that is stored of the answer's
own sources, and so is one whose citations give no support, in the sources that it does not cite. It is graded
on the source of the passage that is closest to it. These grades count in neither number.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean

from nuggetstream.domain.battle import Answer, Side
from nuggetstream.domain.grade import Criterion, Grade, Subject, SubjectKind
from nuggetstream.text import sentence_support
from nuggetstream.text.cited_sentences import Citing, citing_sentences, uncited_sentences
from services.judge.evaluator import Ask, Evaluator, Grades, Material
from services.judge.grades.choices import DECISION, Choosing, Chosen, Level, choose, offline_decisions
from services.judge.grades.lines import GradeLine, GradesReply, graded, on_scales
from services.judge.grades.source_texts import SourceTexts
from services.judge.options import GradeOptions, Options
from services.offline.answers import ParsedPrompt
from services.offline.heuristics import FactLabel, Label, assign
from services.runtime.llm.blocks import Block
from services.runtime.llm.prompt import Prompt

VERSION = "citation-support-2"
TASK = "citation_support"
_CITATIONS = 60  # per answer and call; what is beyond is not graded

_ASKED = Criterion("support", "0-2", 0, 2)
SUPPORT = Criterion(sentence_support.CITED, "none 0, partial 0.5, full 1", 0, 1)
UNCITED = Criterion(sentence_support.UNCITED, SUPPORT.scale, 0, 1)
PRECISION = Criterion("citation_precision", "0-1", 0, 1)
RECALL = Criterion("citation_recall", "0-1", 0, 1)
LEVELS = (
    Level(2, "full", "full support: the source states all that the sentence says"),
    Level(1, "partial", "partial support: it states a part of it"),
    Level(0, "none", "no support: it does not state it, or contradicts it"),
)

_SYSTEM = (
    "You check whether sources state what an answer says with reference to them. You are strict and literal."
)

_MATERIAL = (
    "Each sentence was taken from an answer. It is checked against the source whose ID stands before the dot "
    "in its own ID."
)
_INSTRUCTIONS = (
    f"{_MATERIAL} Grade every sentence:\n"
    + ";\n".join(f"- {level.value:g}, {level.description}" for level in LEVELS)
    + ".\nGive exactly one grade for each sentence ID."
)


class CitationOptions(GradeOptions):
    """The battles that are graded, their budget, the panel, and what is graded.

    Attributes:
        uncited: Whether sentences that cite nothing, or whose citations give no support, are searched for in
            the answer's sources.
    """

    uncited: bool = False


def prompt(citing: Sequence[Citing], sources: Mapping[int, str]) -> Prompt[GradesReply]:
    """Asks for the support of the citations of one answer.

    Args:
        citing: Sentences with the source that each cites.
        sources: Texts of the sources, by position.
    """
    documents = [Block("source", f"s{number + 1}", text) for number, text in sorted(sources.items())]
    sentences = [Block("sentence", sentence.id, sentence.text) for sentence in citing]
    return Prompt(
        task=TASK,
        version=VERSION,
        system=_SYSTEM,
        instructions=_INSTRUCTIONS,
        blocks=(*documents, *sentences),
        reply=GradesReply,
        max_tokens=100 + 60 * len(sentences),
        check=on_scales({sentence.id: _ASKED for sentence in citing}),
        lines=graded({sentence.id: _ASKED for sentence in citing}),
    )


async def grade(ask: Ask, material: Material) -> Sequence[Grade]:
    """The support of each citation, and of sentences without any where that is configured."""
    grades = list[Grade]()
    for side in Side:
        grades += await _of_side(ask, material, side)
    return grades


async def _of_side(ask: Ask, material: Material, side: Side) -> list[Grade]:
    answer, searches = material.battle.answer(side), _searches(material.options)
    citing, _ = citing_sentences(answer.text, len(answer.sources))
    sources = SourceTexts.of(answer, material)
    gradable = [sentence for sentence in citing if sentence.source in sources.retrieved][:_CITATIONS]
    room = _CITATIONS - len(gradable) if searches else 0
    uncited = sources.search(uncited_sentences(answer.text, citing)[:room])
    chosen = await _chosen(ask, [*gradable, *uncited], sources)
    if searches and (missed := _without_support(citing, chosen)):
        cited = {number: [sentence.source for sentence in missed[number]] for number in missed}
        again = sources.search([(number, missed[number][0].text) for number in missed], cited)
        chosen |= await _chosen(ask, again, sources)
        uncited += again
    given = [*((sentence, SUPPORT) for sentence in gradable), *((sentence, UNCITED) for sentence in uncited)]
    return [
        _of_sentence(sentence, criterion, side, answer, chosen[sentence]) for sentence, criterion in given
    ]


def _without_support(citing: Sequence[Citing], chosen: Mapping[Citing, Chosen]) -> dict[int, list[Citing]]:
    """The sentences of which all citations were graded, none with any support, by number."""
    by_sentence: dict[int, list[Citing]] = {}
    for sentence in citing:
        by_sentence.setdefault(sentence.sentence, []).append(sentence)
    return {
        number: those
        for number, those in by_sentence.items()
        if all(sentence in chosen and chosen[sentence].value == 0 for sentence in those)
    }


def computed(material: Material, grades: Sequence[Grade]) -> list[Grade]:
    """Precision and recall of each answer with graded citations."""
    grades_of_answers = list[Grade]()
    given = {sentence.subject: sentence.value for sentence in grades if sentence.criterion == SUPPORT.name}
    for side in Side:
        answer = material.battle.answer(side)
        citing, sentences = citing_sentences(answer.text, len(answer.sources))
        values = {sentence: given.get(_subject(sentence, side, answer)) for sentence in citing}
        support = {sentence: value for sentence, value in values.items() if value is not None}
        if support:
            grades_of_answers += _of_answer(side, support, citing, sentences)
    return grades_of_answers


def _searches(options: Options) -> bool:
    return isinstance(options, CitationOptions) and options.uncited


_ASKED_HIGH = 2.0


async def _chosen(ask: Ask, citing: Sequence[Citing], sources: SourceTexts) -> dict[Citing, Chosen]:
    """The support of each citation on the scale that is asked for; without any, nothing is asked."""
    if not citing:
        return {}
    by_id = {sentence.id: sentence for sentence in citing}

    def lines(ids: Sequence[str]) -> Prompt[GradesReply]:
        asked = [by_id[name] for name in ids]
        return prompt(asked, {sentence.source: sources.text(sentence.source) for sentence in asked})

    def question(name: str) -> str:
        return f"Does source {name.partition('.')[0]} state what sentence {name} says?"

    chosen = await choose(ask, list(by_id), Choosing(LEVELS, _MATERIAL, question, lines))
    return {by_id[name]: value for name, value in chosen.items()}


def _of_sentence(citing: Citing, criterion: Criterion, side: Side, answer: Answer, chosen: Chosen) -> Grade:
    label = next(level.name for level in LEVELS if level.value == chosen.value)
    return chosen.grade(_subject(citing, side, answer), criterion.name, label, per_unit=_ASKED_HIGH)


def _subject(citing: Citing, side: Side, answer: Answer) -> Subject:
    return Subject(SubjectKind.CITATION, (side,), answer.sources[citing.source].url, citing.sentence)


def _of_answer(
    side: Side, support: Mapping[Citing, float], citing: Sequence[Citing], sentences: int
) -> list[Grade]:
    best: dict[int, float] = {}
    for sentence, value in support.items():
        best[sentence.sentence] = max(value, best.get(sentence.sentence, 0.0))
    ungraded = {sentence.sentence for sentence in citing} - set(best)
    counted = sentences - len(ungraded)
    left_out = len(citing) - len(support)
    summary = f"{len(support)} citations graded, {left_out} not; {counted} of {sentences} sentences counted"
    values = {PRECISION: fmean(support.values()), RECALL: sum(best.values()) / counted}
    return [
        Grade(subject=Subject.answer(side), criterion=criterion.name, value=value, reason=summary)
        for criterion, value in values.items()
    ]


def offline(prompt: ParsedPrompt) -> GradesReply:
    """The offline model's grades: does a sentence of the source share the words or the meaning?"""
    credit = {Label.SUPPORT: 2, Label.PARTIAL: 1, Label.NONE: 0}
    return GradesReply(
        grades=[
            GradeLine(name=block.id, value=credit[_found(prompt, block).label], reason="words and meaning")
            for block in prompt.of("sentence")
        ]
    )


def _found(prompt: ParsedPrompt, sentence: Block) -> FactLabel:
    source = prompt.the("source", sentence.id.partition(".")[0])
    (label,) = assign("", [sentence.text], source.text, embed=prompt.embed)
    return label


EVALUATOR = Evaluator(
    name=sentence_support.EVALUATOR,
    summary="Support of each citation by its source; precision and recall of each answer's citations.",
    source="support evaluation of the TREC 2024 RAG track",
    calls="up to 2, one per answer with citations; up to 4 with the option `uncited`",
    yields=Grades(
        criteria=(SUPPORT, PRECISION, RECALL, UNCITED),
        grade=grade,
        computed=computed,
    ),
    options=CitationOptions,
    reads_stored=_searches,
    offline={
        TASK: offline,
        TASK + DECISION: offline_decisions(
            LEVELS, "sentence", lambda prompt, block: _found(prompt, block).probabilities
        ),
    },
)
