"""The evaluator `citation_support`: do the cited sources state what the sentences that cite them say?

    sentence × cited source  ->  full (1), partial (0.5) or no support (0)
    weighted precision  =  mean support over the citations of an answer
    weighted recall     =  mean over its sentences of the best support that one citation gives; 0 without one

A citation of a source without retrieved text cannot be graded. It is left out of both numbers, and so are
sentences that have only such citations.

With the option `uncited`, a sentence that cites nothing is searched for in the answer's own sources: it is
graded on the source that shares most of its words. These grades change neither number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from nuggetstream.domain.battle import Answer, Side
from nuggetstream.domain.evidence import Evidence
from nuggetstream.domain.grade import Criterion, Grade, Subject, SubjectKind
from nuggetstream.text.citations import parse_citations, without_citations
from nuggetstream.text.sentences import spans
from nuggetstream.text.terms import terms
from services.judge.graders.choices import DECISION, Choosing, Chosen, Level, choose, offline_decisions
from services.judge.graders.evaluator import Ask, Evaluator, Material
from services.judge.graders.lines import GradeLine, GradesReply, on_scales
from services.judge.selection import Selection
from services.offline.answers import ParsedPrompt
from services.offline.heuristics import FactLabel, Label, assign
from services.runtime.llm.blocks import Block
from services.runtime.llm.prompt import Prompt

VERSION = "citation-support-2"
TASK = "citation_support"
_CITATIONS, _CHUNKS = 60, 4  # per answer and per source; what is beyond is not graded

_ASKED = Criterion("support", "0-2", 0, 2)
SUPPORT = Criterion("support", "none 0, partial 0.5, full 1", 0, 1)
UNCITED = Criterion("uncited_support", SUPPORT.scale, 0, 1)
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


class CitationOptions(Selection):
    """The battles that are graded, their budget, and what is graded.

    Attributes:
        uncited: Whether sentences that cite nothing are searched for in the answer's sources.
    """

    uncited: bool = False


@dataclass(frozen=True, slots=True)
class Citing:
    """A sentence that cites a source, or is searched for in it.

    Attributes:
        sentence: Number of the sentence, from 1.
        source: Position of the source among those of the answer, from 0.
        text: The sentence without marks.
    """

    sentence: int
    source: int
    text: str

    @property
    def id(self) -> str:
        """Its id in the prompt, such as "s2.5" for sentence 5 citing the second source."""
        return f"s{self.source + 1}.{self.sentence}"


def citing_sentences(answer: Answer) -> tuple[list[Citing], int]:
    """The sentences of an answer with each source that they cite, and the number of all its sentences.

    A mark after the end of a sentence belongs to that sentence.
    """
    text, parts = answer.text, _parts(answer.text)
    citations = parse_citations(text, len(answer.sources))
    found: dict[tuple[int, int], Citing] = {}
    for citation in citations.valid:
        number = _sentence_at(citation.position, parts, text)
        if number is not None:
            start, end = parts[number]
            source = citation.source - citations.first
            sentence = without_citations(text[start:end]).strip()
            found.setdefault((number, source), Citing(number + 1, source, sentence))
    return list(found.values()), len(parts)


def uncited_sentences(answer: Answer, citing: Sequence[Citing], texts: Mapping[int, str]) -> list[Citing]:
    """The sentences of an answer that cite nothing, each with the source that shares most of its terms.

    Args:
        answer: The answer.
        citing: Its sentences that cite a source.
        texts: Texts of its sources, by position; those without text are left out.
    """
    known = {source: set(terms(text)) for source, text in texts.items()}
    cited = {each.sentence for each in citing}
    found = list[Citing]()
    for number, (start, end) in enumerate(_parts(answer.text), start=1):
        if known and number not in cited:
            sentence = without_citations(answer.text[start:end]).strip()
            words = set(terms(sentence))
            best = max(sorted(known), key=lambda source: len(words & known[source]))
            found.append(Citing(number, best, sentence))
    return found


def _parts(text: str) -> list[tuple[int, int]]:
    """The positions of the sentences that have words."""
    return [(start, end) for start, end in spans(text) if _has_words(text[start:end])]


def _has_words(text: str) -> bool:
    return any(map(str.isalpha, without_citations(text)))


def _sentence_at(position: int, parts: Sequence[tuple[int, int]], text: str) -> int | None:
    """The sentence that a mark belongs to; None for a mark before the first sentence."""
    before = [number for number, (start, _) in enumerate(parts) if start <= position]
    if not before:
        return None
    number = before[-1]
    leads = not _has_words(text[parts[number][0] : position])
    return number - 1 if leads and number else number


def prompt(citing: Sequence[Citing], sources: Mapping[int, str]) -> Prompt[GradesReply]:
    """Asks for the support of the citations of one answer.

    Args:
        citing: Sentences with the source that each cites.
        sources: Texts of the sources, by position.
    """
    documents = [Block("source", f"s{number + 1}", text) for number, text in sorted(sources.items())]
    sentences = [Block("sentence", each.id, each.text) for each in citing]
    return Prompt(
        task=TASK,
        version=VERSION,
        system=_SYSTEM,
        instructions=_INSTRUCTIONS,
        blocks=(*documents, *sentences),
        reply=GradesReply,
        max_tokens=100 + 60 * len(sentences),
        check=on_scales({each.id: _ASKED for each in citing}),
    )


async def grade(ask: Ask, material: Material) -> Sequence[Grade]:
    """The support of each citation, and precision and recall of each answer that cites its sources."""
    grades = list[Grade]()
    for side in Side:
        answer = material.battle.answer(side)
        citing, sentences = citing_sentences(answer)
        texts = _texts(answer, material)
        gradable = [each for each in citing if each.source in texts][:_CITATIONS]
        uncited = uncited_sentences(answer, citing, texts) if _searches(material) else []
        uncited = uncited[: _CITATIONS - len(gradable)]
        chosen = await _chosen(ask, [*gradable, *uncited], texts) if gradable or uncited else {}
        grades += [_of_sentence(each, SUPPORT, side, answer, chosen[each]) for each in gradable]
        grades += [_of_sentence(each, UNCITED, side, answer, chosen[each]) for each in uncited]
        if gradable:
            support = {each: chosen[each].value / _ASKED_HIGH for each in gradable}
            grades += _of_answer(side, support, citing, sentences)
    return grades


def _searches(material: Material) -> bool:
    return isinstance(material.options, CitationOptions) and material.options.uncited


_ASKED_HIGH = 2.0


async def _chosen(ask: Ask, citing: Sequence[Citing], texts: Mapping[int, str]) -> dict[Citing, Chosen]:
    """The support of each citation on the scale that is asked for."""
    by_id = {each.id: each for each in citing}

    def lines(ids: Sequence[str]) -> Prompt[GradesReply]:
        asked = [by_id[name] for name in ids]
        return prompt(asked, {each.source: texts[each.source] for each in asked})

    def question(name: str) -> str:
        return f"Does source {name.partition('.')[0]} state what sentence {name} says?"

    chosen = await choose(ask, list(by_id), Choosing(LEVELS, _MATERIAL, question, lines))
    return {by_id[name]: value for name, value in chosen.items()}


def _texts(answer: Answer, material: Material) -> dict[int, str]:
    """What was retrieved of each source: its best chunks."""
    by_page: dict[str, list[Evidence]] = {}
    for chunk in material.retrieved:
        by_page.setdefault(chunk.content_hash, []).append(chunk)
    hashes = {page.url: page.content_hash for page in material.pages}
    hashes |= {chunk.url: chunk.content_hash for chunk in material.retrieved if chunk.url is not None}
    pages = enumerate(by_page.get(hashes.get(source.url) or "") for source in answer.sources)
    return {number: "\n".join(chunk.text for chunk in page[:_CHUNKS]) for number, page in pages if page}


def _of_sentence(citing: Citing, criterion: Criterion, side: Side, answer: Answer, chosen: Chosen) -> Grade:
    subject = Subject(SubjectKind.CITATION, (side,), answer.sources[citing.source].url, citing.sentence)
    label = next(level.name for level in LEVELS if level.value == chosen.value)
    return chosen.grade(subject, criterion.name, label, per_unit=_ASKED_HIGH)


def _of_answer(
    side: Side, support: Mapping[Citing, float], citing: Sequence[Citing], sentences: int
) -> list[Grade]:
    best: dict[int, float] = {}
    for each, value in support.items():
        best[each.sentence] = max(value, best.get(each.sentence, 0.0))
    ungraded = {each.sentence for each in citing} - set(best)
    counted = sentences - len(ungraded)
    left_out = len(citing) - len(support)
    said = f"{len(support)} citations graded, {left_out} not; {counted} of {sentences} sentences counted"
    values = {PRECISION: fmean(support.values()), RECALL: sum(best.values()) / counted}
    return [
        Grade(subject=Subject.answer(side), criterion=criterion.name, value=value, reason=said)
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
    (found,) = assign("", [sentence.text], source.text, embed=prompt.embed)
    return found


def _shares(prompt: ParsedPrompt, sentence: Block) -> tuple[float, float, float]:
    return _found(prompt, sentence).probabilities


EVALUATOR = Evaluator(
    name="citation_support",
    summary="Support of each citation by its source; precision and recall of each answer's citations.",
    criteria=(SUPPORT, PRECISION, RECALL, UNCITED),
    source="support evaluation of the TREC 2024 RAG track",
    calls="up to 2, one per answer with citations",
    grade=grade,
    options=CitationOptions,
    offline={TASK: offline, TASK + DECISION: offline_decisions(LEVELS, "sentence", _shares)},
)
