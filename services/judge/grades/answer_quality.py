"""The evaluator `answer_quality`: each answer alone, on relevance, accuracy, completeness and precision."""

from nuggetstream.domain.grade import Criterion
from services.judge.evaluator import Evaluator, Grades
from services.judge.grades.each_answer import EachAnswer
from services.judge.grades.heuristics import line, reply_of, stated_share
from services.judge.grades.lines import GradesReply
from services.offline.answers import ParsedPrompt
from services.offline.heuristics import create_facts
from services.offline.heuristics.text import sentences

_FACTS = 14

RELEVANCE, ACCURACY, COMPLETENESS, PRECISION = CRITERIA = tuple(
    Criterion(name, "0-2", 0, 2) for name in ("relevance", "accuracy", "completeness", "precision")
)

_SYSTEM = (
    "You grade one answer to a query on behalf of the person who asked. You are impartial and literal: "
    "length and a confident tone earn nothing."
)

_INSTRUCTIONS = (
    "Grade the answer on each criterion with 0, 1 or 2:\n"
    "- relevance: 2 it answers what was asked; 1 it answers a part or a related question; 0 it does not;\n"
    "- accuracy: 2 nothing in it contradicts the passages or is wrong; 1 a minor error; 0 a serious error;\n"
    "- completeness: 2 it covers what a good answer needs; 1 something important is missing; "
    "0 most is missing;\n"
    "- precision: 2 it contains little that the person does not need; 1 some of it; 0 most of it is "
    "beside the point.\n"
    "Give exactly one grade for each of relevance, accuracy, completeness and precision."
)

ASKED = EachAnswer(
    task="answer_quality",
    version="answer-quality-1",
    system=_SYSTEM,
    instructions=_INSTRUCTIONS,
    criteria=CRITERIA,
)


def offline(prompt: ParsedPrompt) -> GradesReply:
    """The offline model's grades: shares of shared facts and sentences, without any knowledge of truth."""
    answer = prompt.the("answer").text
    passages = "\n".join(block.text for block in prompt.of("chunk"))
    facts = create_facts(prompt.query, prompt.documents(), limit=_FACTS, embed=prompt.embed)
    stated = sentences(answer)
    covered = stated_share(prompt, [fact.text for fact in facts], answer) or 0.0
    asked = stated_share(prompt, [prompt.query], answer) or 0.0
    borne_out = stated_share(prompt, stated, passages) if passages else None
    about = stated_share(prompt, stated, "\n".join([*(fact.text for fact in facts), passages])) or 0.0
    accuracy = "no passage to compare it with" if borne_out is None else f"{borne_out:.0%} found in passages"
    return reply_of(
        line(RELEVANCE, (1 + asked) / 2, f"its words match the query to {asked:.0%}"),
        line(ACCURACY, 0.5 if borne_out is None else borne_out, accuracy),
        line(COMPLETENESS, covered, f"states {covered:.0%} of {len(facts)} facts"),
        line(PRECISION, about, f"{about:.0%} of its sentences are about these facts"),
    )


EVALUATOR = Evaluator(
    name="answer_quality",
    summary="Relevance, accuracy, completeness and precision of each answer.",
    source="RAGElo, evaluators of single answers",
    calls="2, one per answer",
    yields=Grades(
        criteria=CRITERIA,
        grade=ASKED.grade,
        better=tuple(criterion.name for criterion in CRITERIA),
    ),
    offline={ASKED.task: offline},
)
